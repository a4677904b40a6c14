/* analyze/: One pass over the graph in topological order: symbols, shapes, small constant values, costs,
 * liveness, totals; and what follows from several passes: closed forms, bounds, training, energy. A rule of
 * one operator belongs in ops/. Results are immutable when oc_analyze returns.
 * Private to the folder: convention.h. */

#include "analyze/analysis.h"
#include "onnxcost.h"

#include <stdlib.h>
#include <string.h>

void oc_analysis_free(struct oc_analysis *a)
{
    if (!a)
        return;
    oc_exprs_free(a->exprs);
    oc_diags_free(&a->diags);
    free(a->by_type);
    oc_arena_free(&a->arena);
    free(a);
}

const char *oc_quality_word(unsigned quality)
{
    static const char *const word[] = {[OC_EXACT] = "",
                                       [OC_UPPER] = "at most ",
                                       [OC_LOWER] = "at least ",
                                       [OC_EST] = "about ",
                                       [OC_UNKNOWN] = "at least "};
    return quality < OC_COUNT(word) ? word[quality] : "";
}

const struct oc_tensor *oc_analysis_constant(const struct oc_analysis *a, uint32_t value)
{
    const struct oc_value *v = &a->model->value[value];
    if (v->constant || v->producer == OC_NONE)
        return v->constant;
    return oc_node_constant(&a->model->node[v->producer]);
}

void oc_analysis_total(const struct oc_analysis *a, struct oc_totals *out)
{
    *out = *a->total;
}

size_t oc_analysis_nodes(const struct oc_analysis *a)
{
    return a->model->n_node;
}

int oc_analysis_node(const struct oc_analysis *a, size_t index, struct oc_node_info *out)
{
    if (index >= a->model->n_node)
        return -1;
    const struct oc_node *n = &a->model->node[index];
    const struct oc_node_cost *k = &a->cost[index];
    *out = (struct oc_node_info){.name = n->name[0] ? n->name : NULL,
                                 .op_type = n->op_type,
                                 .domain = n->domain,
                                 .scope = a->model->graph[n->graph].scope,
                                 .trips = k->trips,
                                 .macs = k->macs,
                                 .flops = k->flops,
                                 .ops = k->ops,
                                 .bytes_read_act = k->rd_act,
                                 .bytes_read_weight = k->rd_wt,
                                 .bytes_written = k->wr,
                                 .params = k->params,
                                 .quality = (enum oc_quality)k->quality,
                                 .in = n->in,
                                 .out = n->out,
                                 .n_in = n->n_in,
                                 .n_out = n->n_out,
                                 .folded = k->state == OC_NODE_FOLDED || k->state == OC_NODE_ABSORBED,
                                 .alias = k->alias};
    return 0;
}

size_t oc_analysis_values(const struct oc_analysis *a)
{
    return a->model->n_value;
}

static enum oc_value_kind value_kind(const struct oc_value *v)
{
    if (v->constant)
        return OC_VALUE_INITIALIZER;
    if (v->graph_input)
        return OC_VALUE_INPUT;
    return v->graph_output ? OC_VALUE_OUTPUT : OC_VALUE_INTERMEDIATE;
}

int oc_analysis_value(const struct oc_analysis *a, size_t index, struct oc_value_info *out)
{
    if (index >= a->model->n_value)
        return -1;
    const struct oc_value *v = &a->model->value[index];
    const struct oc_type *t = &a->type[index];
    bool tensor = t->kind == OC_T_TENSOR || t->kind == OC_T_SPARSE;
    *out = (struct oc_value_info){.name = v->name,
                                  .scope = a->model->graph[v->graph].scope,
                                  .kind = value_kind(v),
                                  .producer = v->producer,
                                  .constant = a->is_const[index],
                                  .tensor = tensor,
                                  .ranked = tensor && t->shape.ranked};
    if (tensor && t->dtype != OC_DT_UNDEFINED)
        out->dtype = oc_dtype_info(t->dtype)->name;
    out->rank = out->ranked ? t->shape.rank : 0;
    for (uint32_t i = 0; i < out->rank; i++) {
        bool known = oc_is_known(t->shape.dim[i]);
        out->dim[i] = known ? t->shape.dim[i].v : -1;
        out->origin[i] = known ? NULL : oc_dim_text(a->exprs, t->shape.dim[i]);
    }
    return 0;
}

_Static_assert(OC_NO_INDEX == OC_NONE && OC_MAX_DIMS == OC_MAX_RANK, "constants of the public header");

/* Place among the inputs of the main graph of the one that has no initializer; OC_NONE: past the end. */
static uint32_t input_place(const struct oc_model *m, size_t index)
{
    const struct oc_graph *g = &m->graph[0];
    for (uint32_t i = 0; i < g->n_input; i++)
        if (!m->value[g->input[i]].constant && index-- == 0)
            return i;
    return OC_NONE;
}

bool oc_analysis_input(const struct oc_analysis *a, size_t index, int64_t dim[64], struct oc_input_info *out)
{
    uint32_t place = input_place(a->model, index);
    if (place == OC_NONE)
        return false;
    uint32_t value = a->model->graph[0].input[place];
    const struct oc_value *v = &a->model->value[value];
    const struct oc_type *t = &a->type[value];
    *out = (struct oc_input_info){.name = v->name,
                                  .dtype = oc_dtype_info(t->dtype)->name,
                                  .tensor = t->kind == OC_T_TENSOR,
                                  .known = oc_shape_known(&t->shape),
                                  .rank = t->shape.ranked ? t->shape.rank : 0,
                                  .dim = dim,
                                  .assumed = a->input_assumed[place]};
    for (uint32_t i = 0; i < out->rank; i++)
        dim[i] = oc_is_known(t->shape.dim[i]) ? t->shape.dim[i].v : -1;
    return true;
}

size_t oc_analysis_assumptions(const struct oc_analysis *a)
{
    return a->n_assumption;
}

size_t oc_analysis_diags(const struct oc_analysis *a, const struct oc_diag **out)
{
    *out = a->diags.item;
    return a->diags.n;
}
