/* Whether profile and model belong together, by the evidence that a source gives: names (ONNX Runtime, layers
 * of TensorRT), recorded shapes (any source), the number of convolutions. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "join/expansion.h"
#include "join/join.h"

enum {
    FEW_RECORDS = 4, /* a profile with fewer operators may be one compiled subgraph: no verdict */
    BLOCK = 16,      /* channels; blocked layouts pad to whole blocks */
    PER_CENT = 100
};
#define ALMOST_NONE 0.01 /* of the operator time: names that models share, such as /Flatten */
#define HALF        0.5
#define ROUNDING    1e-9

static bool is_blocked(const char *name)
{
    size_t n = strlen(name);
    return n > 6 && strcmp(name + n - 6, "_nchwc") == 0;
}

static double padded(const struct oc_dim *d)
{
    return d->v > 0 ? ceil((double)d->v / BLOCK) * BLOCK / (double)d->v : 1;
}

/* The most that padding of the output and input channels adds to a convolution in blocks. */
static double most_padding(const struct oc_join *j, uint32_t rec)
{
    const struct oc_join_rec *r = &j->rec[rec];
    if (!is_blocked(j->profile->rec[rec].name))
        return 1;
    for (uint32_t i = 0; i < r->n_node; i++) {
        const struct oc_node *n = &j->model->node[r->node[i]];
        bool weights = strcmp(n->op_type, "Conv") == 0 && n->n_in > 1 && n->in[1] != OC_NONE && j->analysis;
        const struct oc_shape *w = weights ? &j->analysis->type[n->in[1]].shape : NULL;
        if (w && oc_shape_known(w) && w->rank > 1)
            return padded(&w->dim[0]) * (w->dim[1].v > 1 ? padded(&w->dim[1]) : 1);
    }
    return BLOCK;
}

/* The recorded shapes give other MACs than the nodes have. Padding adds some; trips of a loop do not
 * depend on shapes. */
static bool contradicts(const struct oc_join *j, uint32_t rec)
{
    const struct oc_join_rec *r = &j->rec[rec];
    if (!r->executed_known || r->quality == OC_UNKNOWN || !r->macs || r->part_of != OC_NONE ||
        j->model->node[r->node[0]].graph)
        return false;
    if (r->executed_macs < r->macs)
        return r->quality != OC_UPPER; /* sizes that depend on data have an upper bound */
    if (r->quality == OC_LOWER)
        return false;
    double padding = most_padding(j, rec);
    return padding > 1 ? (double)r->executed_macs > padding * (double)r->macs * (1 + ROUNDING)
                       : r->executed_macs > r->macs;
}

void oc_join_set_other_shapes(struct oc_join_rec *r)
{
    r->quality = OC_UNKNOWN;
    r->bytes_known = false;
    r->other_shapes = true;
    r->note = "the profile was recorded with different shapes";
}

struct evidence {
    uint32_t ops, mapped, other_shapes; /* records */
    double all_ns, mapped_ns, other_ns;
    uint32_t first;                /* record with other shapes, OC_NONE */
    uint32_t compared, same_batch; /* records with shapes that can be compared */
    uint32_t other_batch;          /* those whose batch is batch[0] in the profile, batch[1] in the model */
    int64_t batch[2];
    const char *batch_first; /* name of the record or input */
};

/* ---- evidence --------------------------------------------------------------------------------------- */

static const struct oc_type *model_type(const struct oc_join *j, const uint32_t *value, uint32_t n)
{
    return n && value[0] != OC_NONE && j->analysis ? &j->analysis->type[value[0]] : NULL;
}

/* Compares the first input of the first node, or else the output of the last one. */
static void compare_batch(const struct oc_join *j, uint32_t rec, struct evidence *e)
{
    const struct oc_prof_rec *p = &j->profile->rec[rec];
    const struct oc_join_rec *r = &j->rec[rec];
    const struct oc_node *first = &j->model->node[r->node[0]],
                         *last = &j->model->node[r->node[r->n_node - 1]];
    const struct oc_type *in = model_type(j, first->in, first->n_in),
                         *out = model_type(j, last->out, last->n_out);
    int64_t batch[2];
    bool by_in = p->n_in && in && in->kind == OC_T_TENSOR && oc_shape_known(&in->shape) &&
                 oc_shape_known(&p->in[0].shape) && in->shape.rank == p->in[0].shape.rank && in->shape.rank;
    const struct oc_type *model = by_in ? in : out, *recorded = by_in      ? &p->in[0]
                                                                : p->n_out ? &p->out[0]
                                                                           : NULL;
    if (!model || !recorded)
        return;
    if (oc_other_batch(recorded, model, batch)) {
        e->compared++;
        if (!e->other_batch) {
            e->batch[0] = batch[0];
            e->batch[1] = batch[1];
            e->batch_first = p->name;
        }
        e->other_batch += batch[0] == e->batch[0] && batch[1] == e->batch[1];
    } else if (recorded->kind == OC_T_TENSOR && model->kind == OC_T_TENSOR && oc_shape_known(&model->shape) &&
               oc_shape_known(&recorded->shape)) {
        e->compared++;
        e->same_batch += oc_shape_equal(&recorded->shape, &model->shape);
    }
}

/* Rates of rows with other shapes would be those of other work. */
static void collect(struct oc_join *j, struct evidence *e)
{
    bool runtime = strcmp(j->profile->format, "onnxruntime") == 0;
    for (uint32_t i = 0; i < j->profile->n_rec; i++) {
        const struct oc_prof_rec *p = &j->profile->rec[i];
        struct oc_join_rec *r = &j->rec[i];
        if (p->bucket)
            continue;
        e->ops++;
        e->all_ns += oc_prof_own_ns(p);
        if (!r->n_node)
            continue;
        e->mapped++;
        e->mapped_ns += oc_prof_own_ns(p);
        compare_batch(j, i, e);
        bool differs = runtime && contradicts(j, i);
        if (differs)
            oc_join_set_other_shapes(r);
        if (!r->other_shapes)
            continue;
        e->first = e->first == OC_NONE && differs ? i : e->first;
        e->other_shapes++;
        e->other_ns += oc_prof_own_ns(p);
    }
}

static bool is_conv(const struct oc_prof_rec *p, struct oc_arena *a)
{
    struct oc_source_type t;
    if (strcmp(p->op_type, "Conv") == 0)
        return true;
    return !p->type_by_name && oc_source_type(p->op_type, "", a, &t) && t.core && strstr(t.core, " Conv ");
}

static bool is_inside_conv(const struct oc_profile *p, uint32_t rec, struct oc_arena *a)
{
    uint32_t at = p->rec[rec].parent;
    for (unsigned depth = 0; at != OC_NONE && depth < 16; depth++, at = p->rec[at].parent)
        if (is_conv(&p->rec[at], a))
            return true;
    return false;
}

/* Convolutions are neither split nor fused with each other, except by TensorRT. Whole multiples are several
 * executions. False: numbers agree, or cannot be compared. */
static bool count_convs(const struct oc_join *j, double *profile, uint64_t *model)
{
    const struct oc_profile *p = j->profile;
    struct oc_arena scratch = {0};
    *profile = 0;
    *model = 0;
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (!p->rec[i].bucket && is_conv(&p->rec[i], &scratch) && !is_inside_conv(p, i, &scratch))
            *profile += p->rec[i].calls_per_run;
    for (uint32_t i = 0; i < j->model->n_node && j->analysis; i++)
        if (strcmp(j->model->node[i].op_type, "Conv") == 0 && j->analysis->cost[i].state == OC_NODE_NORMAL)
            *model += j->analysis->cost[i].trips;
    oc_arena_free(&scratch);
    return *profile > 0 && *model > 0 && (*profile < (double)*model || fmod(*profile, (double)*model) != 0);
}

/* ---- verdict ---------------------------------------------------------------------------------------- */

static const char *first_contradiction(struct oc_join *j, const struct evidence *e)
{
    for (size_t i = 0; e->first == OC_NONE && i < j->diags.n; i++)
        if (strcmp(j->diags.item[i].code, "W-shape-differs") == 0)
            return oc_printf(&j->arena, "; first: %s: %s", j->diags.item[i].where, j->diags.item[i].text);
    if (e->first == OC_NONE)
        return "";
    return oc_printf(&j->arena,
                     "; first: %.80s: the recorded shapes give %" PRIu64 " MACs, the model %" PRIu64,
                     j->profile->rec[e->first].name, j->rec[e->first].executed_macs, j->rec[e->first].macs);
}

/* The option that sets the batch of the model's first input. */
static const char *batch_option(struct oc_join *j, int64_t batch)
{
    const struct oc_model *m = j->model;
    for (uint32_t i = 0; i < m->graph[0].n_input; i++) {
        const struct oc_value *v = &m->value[m->graph[0].input[i]];
        const struct oc_type *t = v->declared;
        if (v->constant || !t || t->kind != OC_T_TENSOR || !t->shape.ranked || !t->shape.rank)
            continue;
        struct oc_dim d = t->shape.dim[0];
        if (d.expr && d.expr <= m->n_symbol)
            return oc_printf(&j->arena, "give --dim %s=%" PRId64, m->symbol[d.expr - 1], batch);
        const char *shape = oc_printf(&j->arena, "give --shape %s=%" PRId64, v->name, batch);
        for (unsigned k = 1; k < t->shape.rank; k++)
            shape = t->shape.dim[k].expr || t->shape.dim[k].v < 0
                        ? oc_printf(&j->arena, "%sx?", shape)
                        : oc_printf(&j->arena, "%sx%" PRId64, shape, t->shape.dim[k].v);
        return shape;
    }
    return "give --dim or --shape";
}

/* Rows keep only figures of the recorded shapes. */
static void use_recorded_costs(struct oc_join *j)
{
    for (uint32_t i = 0; i < j->profile->n_rec; i++) {
        struct oc_join_rec *r = &j->rec[i];
        if (!r->n_node || r->from_profile || r->part_of != OC_NONE)
            continue;
        oc_join_set_other_shapes(r);
        oc_join_recorded_cost(j, i);
    }
}

static bool check_batch(struct oc_join *j, const struct evidence *e)
{
    if (!e->other_batch || 2 * e->other_batch <= e->compared)
        return false;
    oc_diag_add(&j->diags, OC_WARNING, OC_DIAG_OTHER_MODEL, "",
                "profile and model differ: recorded with batch %" PRId64
                ", the model is analysed with batch %" PRId64
                " (%.80s); FLOPs and bytes of the table are those of the recorded shapes or unknown: %s",
                e->batch[0], e->batch[1], e->batch_first, batch_option(j, e->batch[0]));
    use_recorded_costs(j);
    return true;
}

/* An input that the profile recorded by name, with other dimensions in the analysis: outweighs the records.
 */
static bool check_inputs(struct oc_join *j, struct evidence *e)
{
    const struct oc_graph *g = &j->model->graph[0];
    for (uint32_t i = 0; i < g->n_input && j->analysis; i++) {
        uint32_t v = g->input[i];
        const struct oc_prof_input *input = oc_join_input(j->model, j->profile, v);
        const struct oc_type *model = &j->analysis->type[v];
        if (j->model->value[v].constant || !input || model->kind != OC_T_TENSOR ||
            !oc_shape_known(&model->shape) || oc_shape_equal(&input->type.shape, &model->shape))
            continue;
        if (oc_other_batch(&input->type, model, e->batch)) {
            e->compared = e->other_batch = 1;
            e->batch_first = input->name;
            return check_batch(j, e);
        }
        const char *recorded = oc_shape_text(&j->arena, j->profile->exprs, &input->type.shape, "x");
        oc_diag_add(
            &j->diags, OC_WARNING, OC_DIAG_OTHER_MODEL, "",
            "profile and model differ: input %.80s is %s in the profile, %s in the analysis; FLOPs and "
            "bytes of the table are those of the recorded shapes or unknown: give --shape %.80s=%s",
            input->name, recorded, oc_shape_text(&j->arena, j->analysis->exprs, &model->shape, "x"),
            j->model->value[v].name, recorded);
        use_recorded_costs(j);
        return true;
    }
    return false;
}

static void check_names(struct oc_join *j, const struct evidence *e)
{
    bool runtime = strcmp(j->profile->format, "onnxruntime") == 0;
    double good = (e->mapped_ns - e->other_ns) / e->all_ns;
    if (!e->mapped)
        oc_diag_add(&j->diags, runtime ? OC_ERROR : OC_WARNING,
                    runtime ? OC_DIAG_WRONG_MODEL : OC_DIAG_OTHER_MODEL, "",
                    "no operator of this profile is in this model: wrong model or profile?");
    else if (runtime && good < ALMOST_NONE)
        oc_diag_add(&j->diags, OC_ERROR, OC_DIAG_WRONG_MODEL, "",
                    "almost no operator of this profile is in this model (%u of %u): wrong model or profile?",
                    e->mapped - e->other_shapes, e->ops);
    else if (e->other_shapes || e->mapped_ns < HALF * e->all_ns)
        oc_diag_add(&j->diags, OC_WARNING, OC_DIAG_OTHER_MODEL, "",
                    "profile and model differ: %.1f %% of the operator time is on operators of this model, "
                    "%.1f %% with other shapes%s: wrong model, profile or --dim, --shape?",
                    PER_CENT * e->mapped_ns / e->all_ns, PER_CENT * e->other_ns / e->all_ns,
                    first_contradiction(j, e));
}

/* The names of a source are those of the model: ONNX Runtime's, and TensorRT's in detailed layer information.
 */
static bool has_model_names(const struct oc_profile *p)
{
    if (strcmp(p->format, "onnxruntime") == 0)
        return true;
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (oc_engine_has_layers(p, &p->rec[i]) && p->rec[i].has_macs && p->rec[i].macs)
            return true;
    return false;
}

void oc_join_check_model(struct oc_join *j)
{
    struct evidence e = {.first = OC_NONE, .batch_first = ""};
    double convs;
    uint64_t in_model;
    if (j->profile->functions)
        return;
    collect(j, &e);
    if (check_inputs(j, &e) || e.ops < FEW_RECORDS || !(e.all_ns > 0) || check_batch(j, &e))
        return;
    if (has_model_names(j->profile) || e.other_shapes)
        check_names(j, &e);
    else if (strcmp(j->profile->format, "tensorrt") != 0 && count_convs(j, &convs, &in_model))
        oc_diag_add(&j->diags, OC_WARNING, OC_DIAG_OTHER_MODEL, "",
                    "profile and model differ: the profile has %.6g Conv calls per run, the model %" PRIu64
                    ": wrong model or profile, or several models in one recording?",
                    convs, in_model);
}
