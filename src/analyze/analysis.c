/* analyze/: One pass over the graph in topological order: symbols, shapes, small constant values, costs,
 * liveness, totals; and what follows from several passes: closed forms, bounds, training. A rule of
 * one operator belongs in ops/. Results are immutable when oc_analyze returns.
 * Private to the folder: convention.h. */

/* Results of an analysis, and its passes. */
#include "analyze/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/convention.h"
#include "analyze/engine.h"
#include "base/c_locale.h"
#include "base/file.h"
#include "base/diag.h"
#include "base/units.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "ops/user_rules.h"

/* ---- results ------------------------------------------------------------------------------------------ */

const struct oc_assumption *oc_assumptions_copy(const struct oc_analysis *a, struct oc_arena *to)
{
    struct oc_assumption *list = OC_NEW_ARRAY(to, a->n_assumption, struct oc_assumption);
    for (uint32_t i = 0; i < a->n_assumption; i++) {
        const struct oc_assumption *x = &a->assumption[i];
        list[i] = (struct oc_assumption){oc_strdup(to, x->what), oc_strdup(to, x->name),
                                         oc_strdup(to, x->value), oc_strdup(to, x->reason)};
    }
    return list;
}

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

/* ---- passes ------------------------------------------------------------------------------------------- */

/* Bind inputs, infer, classify constants, cost, sum; again with other defaults where shapes do not work out. */

#define SPATIAL_DEFAULT    224
#define SPATIAL_SECOND_TRY 640

static struct oc_analysis *new_analysis(const struct oc_model *m)
{
    struct oc_analysis *a = oc_xmalloc(sizeof(*a));
    *a = (struct oc_analysis){.model = m};
    a->diags.arena = &a->arena;
    a->exprs = oc_exprs_new(&a->arena);
    a->total = OC_NEW(&a->arena, struct oc_totals);
    a->counting = OC_NEW(&a->arena, struct oc_analyze_opts);
    a->op = OC_NEW_ARRAY(&a->arena, m->n_node, const struct oc_op *);
    a->cost = OC_NEW_ARRAY(&a->arena, m->n_node, struct oc_node_cost);
    a->twin = OC_NEW_ARRAY(&a->arena, m->n_node, uint32_t);
    for (uint32_t i = 0; i < m->n_node; i++)
        a->twin[i] = i;
    a->type = OC_NEW_ARRAY(&a->arena, m->n_value, struct oc_type);
    a->data = OC_NEW_ARRAY(&a->arena, m->n_value, const struct oc_data *);
    a->is_const = OC_NEW_ARRAY(&a->arena, m->n_value, bool);
    a->value_state = OC_NEW_ARRAY(&a->arena, m->n_value, uint8_t);
    a->param_class = OC_NEW_ARRAY(&a->arena, m->n_value, uint8_t);
    a->root_cause = OC_NEW_ARRAY(&a->arena, m->n_value, uint32_t);
    memset(a->root_cause, 0xff, m->n_value * sizeof(*a->root_cause));
    return a;
}

void oc_engine_scratch(struct oc_engine *e)
{
    uint32_t n_in = e->m->most_in, n_out = e->m->most_out;
    struct oc_arena *a = &e->a->arena;
    e->in = OC_NEW_ARRAY(a, n_in, const struct oc_type *);
    e->in_data = OC_NEW_ARRAY(a, n_in, const struct oc_data *);
    e->in_const = OC_NEW_ARRAY(a, n_in, bool);
    e->out = OC_NEW_ARRAY(a, n_out, struct oc_type);
    e->out_data = OC_NEW_ARRAY(a, n_out, const struct oc_data *);
    e->out_used = OC_NEW_ARRAY(a, n_out, bool);
    e->rd = OC_NEW_ARRAY(a, n_in > OC_RULE_SLOTS ? n_in : OC_RULE_SLOTS, uint64_t);
    e->wr = OC_NEW_ARRAY(a, n_out > OC_RULE_SLOTS ? n_out : OC_RULE_SLOTS, uint64_t);
    e->seen = n_in > OC_FEW_INPUTS ? OC_NEW_ARRAY(a, e->m->n_value, bool) : NULL;
    e->graph_use = OC_NEW_ARRAY(a, e->m->n_graph, uint8_t);
    e->skip = OC_NEW_ARRAY(a, e->m->n_graph, bool);
    e->loop_trips = OC_NEW_ARRAY(a, e->m->n_graph, uint64_t);
    e->loop_quality = OC_NEW_ARRAY(a, e->m->n_graph, uint8_t);
    e->each_trip = OC_NEW_ARRAY(a, e->m->n_graph, bool);
    e->mean_trips = OC_NEW_ARRAY(a, e->m->n_graph, bool);
    e->first_trip = OC_NEW_ARRAY(a, e->m->n_graph, bool);
    e->varies = OC_NEW_ARRAY(a, e->m->n_value, uint8_t);
    e->most_repeats = oc_input_limit(&e->m->limits, OC_LIMIT_REPEATS);
    e->most_folded_bytes = oc_input_limit(&e->m->limits, OC_LIMIT_FOLDED_BYTES);
    e->most_bytes = oc_input_limit(&e->m->limits, OC_LIMIT_ANALYSIS_MEMORY);
    e->spare = e->most_repeats / 8;
    e->trip_used = OC_NEW_ARRAY(a, e->o->n_trip, bool);
    e->tried = OC_NEW_ARRAY(a, e->m->n_value, bool);
    e->rule_seen = OC_NEW_ARRAY(a, e->o->rules ? oc_op_rules_count(e->o->rules) : 0, bool);
    e->symbol = OC_NEW_ARRAY(a, e->m->n_symbol, struct oc_symbol);
    e->bind_used = OC_NEW_ARRAY(a, e->o->n_bind, bool);
    e->shape_used = OC_NEW_ARRAY(a, e->o->n_shape, bool);
    e->symbol_ids.arena = a;
    for (uint32_t i = 0; i < e->m->n_symbol; i++)
        oc_map_set(&e->symbol_ids, e->m->symbol[i], strlen(e->m->symbol[i]), i);
    oc_blank_ctx(e);
}

/* Stores the counting convention, for rules that are evaluated again later. */
static void keep_options(struct oc_engine *e)
{
    struct oc_analysis *a = e->a;
    *a->counting = *e->o;
    a->counting->bind = a->counting->trip = NULL;
    a->counting->shape = NULL;
    a->counting->control = NULL;
    a->counting->value = NULL;
    a->counting->range = NULL;
    a->counting->n_range = 0;
    a->counting->n_bind = a->counting->n_shape = a->counting->n_control = a->counting->n_value =
        a->counting->n_trip = 0;
    a->counting->weights = e->o->weights ? oc_strdup(&a->arena, e->o->weights) : NULL;
    a->counting->convention = e->convention ? oc_strdup(&a->arena, e->o->convention) : NULL;
    a->symbol_from = OC_NEW_ARRAY(&a->arena, e->m->n_symbol, const char *);
    a->given_input = OC_NEW_ARRAY(&a->arena, e->m->graph[0].n_input, struct oc_given_input);
    a->input_assumed = OC_NEW_ARRAY(&a->arena, e->m->graph[0].n_input, const char *);
}

static void check_opsets(struct oc_engine *e)
{
    for (uint32_t i = 0; i < e->m->n_opset; i++)
        if (e->m->opset[i].domain[0] == '\0' && e->m->opset[i].version > OC_NEWEST_OPSET)
            oc_diag_add(&e->a->diags, OC_WARNING, "W-opset", "",
                        "the model imports opset %lld; rules exist up to opset %d",
                        (long long)e->m->opset[i].version, OC_NEWEST_OPSET);
}

static int unknown_convention(struct oc_engine *e)
{
    const char *names[32];
    size_t n = 0;
    for (; n < OC_COUNT(names) && (names[n] = oc_convention_name(n)); n++)
        continue;
    return oc_fail_unknown(
        e->err, OC_EARG,
        &(struct oc_unknown){.what = "convention", .given = e->o->convention, .valid = names, .n = n});
}

/* Assumptions about dimensions, by name. */
static void map_dims(const struct oc_engine *e, struct oc_map *out)
{
    for (uint32_t i = e->n_assumption; i-- > 0;)
        if (!strcmp(e->assumption[i].what, "dim"))
            oc_map_set(out, e->assumption[i].name, strlen(e->assumption[i].name), i);
}

static const struct oc_assumption *assumed_dim(const struct oc_engine *e, const struct oc_map *dims,
                                               const struct oc_value *v, unsigned axis)
{
    uint32_t symbol = v->declared->shape.dim[axis].expr;
    char unnamed[256];
    snprintf(unnamed, sizeof(unnamed), "%s.%u", v->name, axis);
    const char *name = symbol ? e->m->symbol[symbol - 1] : unnamed;
    uint32_t i = oc_map_get(dims, name, strlen(name));
    return i == OC_NONE ? NULL : &e->assumption[i];
}

/* Which of their dimensions have defaults. */
static void list_assumed_inputs(struct oc_engine *e)
{
    const struct oc_graph *g = &e->m->graph[0];
    struct oc_arena scratch = {0};
    struct oc_map dims = {.arena = &scratch};
    map_dims(e, &dims);
    for (uint32_t i = 0; i < g->n_input && e->n_assumption; i++) {
        const struct oc_value *v = &e->m->value[g->input[i]];
        const char *text = NULL;
        for (unsigned axis = 0; v->declared->shape.ranked && axis < v->declared->shape.rank; axis++) {
            const struct oc_assumption *q = assumed_dim(e, &dims, v, axis);
            if (q)
                text = oc_printf(&e->a->arena, "%s%s%s = %s (%s)", text ? text : "", text ? ", " : "",
                                 q->name, q->value, q->reason);
        }
        e->a->input_assumed[i] = text;
    }
    oc_map_free(&dims);
    oc_arena_free(&scratch);
}

static int analyze_run(struct oc_engine *e)
{
    oc_engine_scratch(e);
    check_opsets(e);
    if (oc_convention_set(e->o->convention, &e->convention))
        return unknown_convention(e);
    keep_options(e);
    if (oc_bind_inputs(e))
        return -1;
    list_assumed_inputs(e);
    if (oc_bind_values(e) || oc_infer_graph(e, 0))
        return -1;
    for (size_t i = 0; i < e->o->n_trip && !e->o->skip_unused; i++)
        if (!e->trip_used[i])
            return oc_fail(e->err, OC_EARG,
                           oc_bind_repeated(e->o->trip, e->o->n_trip, i)
                               ? "--trip: '%s' is given more than once"
                               : "--trip: no loop is named '%s'",
                           e->o->trip[i].symbol);
    oc_count_params(e);
    oc_exprs_set_least(e->a->exprs, e->o->least);
    if (oc_cost_graph(e, 0, 1) || oc_sum_totals(e))
        return -1;
    oc_find_peak(e->a);
    struct oc_assumption *kept = OC_NEW_ARRAY(&e->a->arena, e->n_assumption, struct oc_assumption);
    if (e->n_assumption)
        memcpy(kept, e->assumption, e->n_assumption * sizeof(*kept));
    e->a->assumption = kept;
    e->a->n_assumption = e->n_assumption;
    return 0;
}

struct setup { /* of every pass */
    struct oc_weights weights;
    oc_see_outputs *see;
    void *see_ctx;
};

/* Sizes that the model leaves open and that a pass assumes. */
struct defaults {
    int64_t spatial, length;    /* heights and widths; sequences and other dimensions, 0: 128 and 1 */
    const struct oc_bind *size; /* of single dimensions */
    size_t n_size;
};

static const struct defaults first_defaults = {SPATIAL_DEFAULT, 0, NULL, 0};

/* What a pass found: nodes whose shapes did not work out, and which defaults it used. */
struct outcome {
    struct oc_analysis *analysis;
    uint32_t failed;
    uint64_t looked; /* nodes inferred, those of bodies again and again; also set when the pass fails */
    bool used_spatial, used_length;
};

static int attempt(const struct oc_model *m, const struct oc_analyze_opts *o, const struct setup *setup,
                   struct defaults d, struct outcome *out, struct oc_err *err)
{
    struct oc_engine e = {.m = m,
                          .o = o,
                          .err = err,
                          .spatial_default = d.spatial,
                          .length_default = d.length,
                          .fitted = d.size,
                          .n_fitted = d.n_size,
                          .cached_trips = 1,
                          .see = setup->see,
                          .see_ctx = setup->see_ctx,
                          .a = new_analysis(m)};
    e.a->weights = setup->weights;
    int rc = analyze_run(&e);
    free(e.assumption);
    oc_map_free(&e.symbol_ids);
    *out = (struct outcome){.looked = e.n_looked};
    if (rc) {
        oc_analysis_free(e.a);
        return -1;
    }
    *out = (struct outcome){.analysis = e.a,
                            .failed = e.n_failed,
                            .looked = e.n_looked,
                            .used_spatial = e.used_spatial_default,
                            .used_length = e.used_length_default};
    return 0;
}

enum { MAX_FITTED = 8, MAX_SIZES = 32, MAX_TRIED_NODES = 400000 };

/* Whether other sizes may still be tried, by the nodes that were inferred: those of bodies count each time.
 */
static bool may_try(const struct oc_model *m, uint64_t looked)
{
    return looked < MAX_TRIED_NODES || looked / 8 < m->n_node;
}

static size_t list_sizes(const struct oc_analysis *a, struct oc_arena *arena, struct oc_bind *size)
{
    size_t n = 0;
    for (uint32_t i = 0; i < a->n_assumption && n < MAX_FITTED; i++) {
        const struct oc_assumption *q = &a->assumption[i];
        if (!strcmp(q->what, "dim") && oc_parse_i64(q->value, strlen(q->value), &size[n].value))
            size[n++].symbol = oc_strdup(arena, q->name);
    }
    return n;
}

static size_t add_try(int64_t *list, size_t n, int64_t v)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == v)
            return n;
    if (v >= 1 && n < MAX_SIZES)
        list[n++] = v;
    return n;
}

/* Sizes to try for a dimension: those at the nodes that failed (77 positions), then multiples (patches that
 * are merged by 4) and parts. */
static size_t list_tries(const struct oc_analysis *a, int64_t start, int64_t *list)
{
    static const int64_t scale[] = {2, 4, 8, 16, 64, 256};
    const struct oc_model *m = a->model;
    size_t n = add_try(list, 0, start);
    for (uint32_t i = 0; i < m->n_node && n < MAX_SIZES / 2; i++)
        for (uint32_t k = 0; a->cost[i].state == OC_NODE_NO_SHAPE && k < m->node[i].n_in; k++) {
            const struct oc_type *t = m->node[i].in[k] == OC_NONE ? NULL : &a->type[m->node[i].in[k]];
            for (unsigned d = 0; t && t->kind == OC_T_TENSOR && d < t->shape.rank && n < MAX_SIZES / 2; d++)
                if (oc_is_known(t->shape.dim[d]) && t->shape.dim[d].v > 1)
                    n = add_try(list, n, t->shape.dim[d].v);
        }
    for (size_t i = 0; i < OC_COUNT(scale); i++)
        n = start < INT32_MAX ? add_try(list, n, start * scale[i]) : n;
    for (size_t i = 0; i < 4; i++)
        n = start % scale[i] == 0 ? add_try(list, n, start / scale[i]) : n;
    return n;
}

/* Tries other sizes for one assumed dimension after the other while nodes fail. Returns the nodes inferred so
 * far. */
static uint64_t fit_sizes(const struct oc_model *m, const struct oc_analyze_opts *o,
                          const struct setup *setup, struct defaults d, struct outcome *best, uint64_t looked)
{
    struct oc_arena arena = {0};
    struct oc_bind size[MAX_FITTED];
    int64_t start[MAX_FITTED], list[MAX_SIZES];
    d.size = size;
    d.n_size = list_sizes(best->analysis, &arena, size);
    for (size_t k = 0; k < d.n_size; k++)
        start[k] = size[k].value;
    for (size_t k = d.n_size; k-- > 0 && best->failed;) { /* the batch comes first in most models */
        size_t n = list_tries(best->analysis, start[k], list);
        int64_t kept = start[k];
        for (size_t i = 1; i < n && best->failed && may_try(m, looked); i++) {
            struct outcome next;
            struct oc_err unused;
            size[k].value = list[i];
            int rc = attempt(m, o, setup, d, &next, &unused);
            looked += next.looked;
            if (rc)
                continue;
            bool better = next.failed < best->failed;
            oc_analysis_free(better ? best->analysis : next.analysis);
            kept = better ? list[i] : kept;
            *best = better ? next : *best;
        }
        size[k].value = kept;
    }
    for (size_t k = 0; k < d.n_size; k++)
        if (size[k].value != start[k])
            oc_diag_add(&best->analysis->diags, OC_INFO, "I-default-revised", "",
                        "the default of %s did not fit the model: %lld is used", size[k].symbol,
                        (long long)size[k].value);
    oc_arena_free(&arena);
    return looked;
}

/* Other defaults where shapes did not work out: the first with the fewest failures. */
static void revise(const struct oc_model *m, const struct oc_analyze_opts *o, const struct setup *setup,
                   struct outcome *best)
{
    static const struct defaults tries[] = {
        {SPATIAL_SECOND_TRY, 0, NULL, 0}, {SPATIAL_DEFAULT, 512, NULL, 0},
        {SPATIAL_DEFAULT, 256, NULL, 0},  {SPATIAL_DEFAULT, 1024, NULL, 0},
        {SPATIAL_DEFAULT, 4096, NULL, 0}, {SPATIAL_DEFAULT, 16000, NULL, 0}};
    const struct defaults *used = NULL;
    uint64_t looked = best->looked;
    for (size_t i = 0; i < OC_COUNT(tries) && best->failed && may_try(m, looked); i++) {
        struct outcome next;
        struct oc_err unused;
        if (!(tries[i].length ? best->used_length : best->used_spatial))
            continue;
        int rc = attempt(m, o, setup, tries[i], &next, &unused);
        looked += next.looked;
        if (rc)
            continue;
        bool better = next.failed < best->failed;
        oc_analysis_free(better ? best->analysis : next.analysis);
        if (better) {
            *best = next;
            used = &tries[i];
        }
    }
    if (used)
        oc_diag_add(&best->analysis->diags, OC_INFO, "I-default-revised", "",
                    "the defaults of open dimensions did not fit the model: %lld is used for %s",
                    (long long)(used->length ? used->length : used->spatial),
                    used->length ? "lengths" : "heights and widths");
    if (best->failed && !o->no_defaults && o->default_dim <= 0)
        looked = fit_sizes(m, o, setup, used ? *used : first_defaults, best, looked);
    best->analysis->looked = looked;
}

/* Every analysis begins here, those of other functions too. */
static int check_options(const struct oc_analyze_opts *o, struct oc_err *err)
{
    const uint64_t most_align = INT64_MAX;
    const struct oc_option_range range[] = {
        {"default_dim", o->default_dim, 0, INT64_MAX},
        {"kv_share", (int64_t)o->kv_share, OC_KV_AUTO, OC_KV_OFF},
        {"if_mode", (int64_t)o->if_mode, OC_IF_MAX, OC_IF_AVG},
        {"align_bytes", o->align_bytes > most_align ? -1 : (int64_t)o->align_bytes, 0, INT64_MAX}};
    if (oc_options_check(range, OC_COUNT(range), err))
        return -1;
    for (size_t i = 0; i < o->n_trip; i++)
        if (o->trip[i].value < 0)
            return oc_fail(err, OC_EARG, "loop '%.60s' cannot have %lld iterations", o->trip[i].symbol,
                           (long long)o->trip[i].value);
    for (size_t i = 0; i < o->n_shape; i++)
        for (uint32_t k = 0; k < o->shape[i].rank && !o->shape[i].from_profile; k++)
            if (o->shape[i].dim[k] < 0)
                return oc_fail(err, OC_EARG, "dimension %u of input '%.60s' cannot be %lld", (unsigned)k,
                               o->shape[i].input, (long long)o->shape[i].dim[k]);
    return 0;
}

int oc_analyze_seen(const struct oc_model *m, const struct oc_analyze_opts *given, oc_see_outputs *see,
                    void *ctx, struct oc_analysis **out, struct oc_err *err)
{
    OC_ENTRY(err);
    *out = NULL;
    struct oc_analyze_opts full, *const opts = &full;
    if (OC_OPTIONS(&full, given, err) || check_options(opts, err))
        return -1;
    struct outcome best;
    struct setup setup = {.see = see, .see_ctx = ctx};
    struct oc_err unused = {0}, *why = err ? err : &unused;
    if (oc_weights_get(opts->weights, &setup.weights, why))
        return -1;
    if (attempt(m, opts, &setup, first_defaults, &best, why)) {
        oc_err_prefix(why, "cannot analyze '%s'", m->path[0] ? m->path : "(memory)");
        return oc_err_at(why, m->path, 0, 0);
    }
    revise(m, opts, &setup, &best);
    if (oc_remote_check(&m->file, why)) {
        oc_analysis_free(best.analysis);
        return -1;
    }
    *out = best.analysis;
    return 0;
}

int oc_analyze(const struct oc_model *m, const struct oc_analyze_opts *given, struct oc_analysis **out,
               struct oc_err *err)
{
    return oc_analyze_seen(m, given, NULL, NULL, out, err);
}
