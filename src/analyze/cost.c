/* The cost pass (cost-semantics.md): default bytes, the operator's cost rule, weights of primitives, trips.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/convention.h"
#include "analyze/engine.h"
#include "base/ck.h"
#include "onnxcost.h"

/* ---- weights of primitives ---------------------------------------------------------------------------- */

#define MAX_FILE_BYTES (1U << 20)
#define MAX_WEIGHT     1000000U

static const struct {
    const char *name;
    struct oc_weights set;
} sets[] = {
    {"unit",
     {{[OC_MAC] = 2,
       [OC_ADD] = 1,
       [OC_MUL] = 1,
       [OC_CMP] = 1,
       [OC_DIV] = 1,
       [OC_RND] = 1,
       [OC_SQRT] = 1,
       [OC_EXP] = 1,
       [OC_LOG] = 1,
       [OC_SIN] = 1,
       [OC_TAN] = 1,
       [OC_TANH] = 1,
       [OC_SIG] = 1,
       [OC_ERF] = 1,
       [OC_POW] = 1,
       [OC_RNG] = 1,
       [OC_BIT] = 1,
       [OC_CVT] = 0,
       [OC_DEQ] = 0}}},
    {"hw",
     {{[OC_MAC] = 2,
       [OC_ADD] = 1,
       [OC_MUL] = 1,
       [OC_CMP] = 1,
       [OC_DIV] = 8,
       [OC_RND] = 1,
       [OC_SQRT] = 8,
       [OC_EXP] = 16,
       [OC_LOG] = 20,
       [OC_SIN] = 20,
       [OC_TAN] = 28,
       [OC_TANH] = 26,
       [OC_SIG] = 26,
       [OC_ERF] = 24,
       [OC_POW] = 37,
       [OC_RNG] = 10,
       [OC_BIT] = 1,
       [OC_CVT] = 1,
       [OC_DEQ] = 2}}},
    {"mac", {{[OC_MAC] = 1}}},
};

struct word {
    const char *s;
    size_t n;
};

/* The next word of a line; n is 0 at the end or at a comment. */
static struct word next_word(const char **p, const char *end)
{
    while (*p < end && (**p == ' ' || **p == '\t' || **p == '\r'))
        ++*p;
    const char *s = *p;
    while (*p < end && !strchr(" \t\r#", **p))
        ++*p;
    return (struct word){s, (size_t)(*p - s)};
}

static unsigned prim_of(struct word w)
{
    unsigned p = 0;
    while (p < OC_PRIM_COUNT && (strlen(oc_prim_name(p)) != w.n || memcmp(oc_prim_name(p), w.s, w.n) != 0))
        p++;
    return p;
}

static bool parse_weight(struct word w, uint32_t *out)
{
    uint32_t v = 0;
    for (size_t i = 0; i < w.n; i++) {
        if (w.s[i] < '0' || w.s[i] > '9' || v > MAX_WEIGHT)
            return false;
        v = v * 10 + (uint32_t)(w.s[i] - '0');
    }
    *out = v;
    return w.n && v <= MAX_WEIGHT;
}

/* Maximum length shown in messages. */
static int shown_length(struct word w)
{
    return w.n < 40 ? (int)w.n : 40;
}

static int read_weight_line(const char *p, const char *end, struct oc_weights *out, bool *given,
                            struct oc_err *err)
{
    struct word key = next_word(&p, end), value = next_word(&p, end), more = next_word(&p, end);
    unsigned prim = prim_of(key);
    if (!key.n)
        return 0;
    if (prim == OC_PRIM_COUNT)
        return oc_fail(err, OC_EFORMAT,
                       "unknown primitive '%.*s'; primitives: MAC ADD MUL CMP DIV RND SQRT EXP LOG "
                       "SIN TAN TANH SIG ERF POW RNG BIT CVT DEQ",
                       shown_length(key), key.s);
    if (given[prim])
        return oc_fail(err, OC_EFORMAT, "duplicate weight for %s", oc_prim_name(prim));
    if (!parse_weight(value, &out->w[prim]) || more.n)
        return oc_fail(err, OC_EFORMAT, "%s needs an integer from 0 to %u, not '%.*s'", oc_prim_name(prim),
                       MAX_WEIGHT,
                       more.n ? shown_length((struct word){value.s, (size_t)(more.s + more.n - value.s)})
                              : shown_length(value),
                       value.s);
    given[prim] = true;
    return 0;
}

int oc_weights_read(const char *data, size_t n, const char *file, struct oc_weights *out, struct oc_err *err)
{
    bool given[OC_PRIM_COUNT] = {false};
    uint32_t line = 1;
    *out = sets[0].set;
    if (!n) /* data may be NULL */
        return 0;
    for (const char *p = data, *end = data + n; p < end; line++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        stop = stop ? stop : end;
        if (read_weight_line(p, stop, out, given, err)) {
            oc_err_prefix(err, "cannot read '%s': line %u", file, line);
            return oc_err_at(err, file, line, 0);
        }
        p = stop < end ? stop + 1 : end;
    }
    return 0;
}

int oc_weights_get(const char *name_or_file, struct oc_weights *out, struct oc_err *err)
{
    struct oc_file f;
    for (size_t i = 0; i < OC_COUNT(sets); i++)
        if (!name_or_file || strcmp(name_or_file, sets[i].name) == 0) {
            *out = sets[i].set;
            return 0;
        }
    if (oc_file_map(name_or_file, MAX_FILE_BYTES, &f, err))
        return oc_err_prefix(err, "--count weights takes unit, hw, mac or a file");
    int rc = oc_weights_read((const char *)f.data, (size_t)f.size_bytes, name_or_file, out, err);
    oc_file_unmap(&f);
    return rc;
}

/* ---- nodes -------------------------------------------------------------------------------------------- */

static bool transcendental(unsigned prim)
{
    return prim == OC_SQRT || (prim >= OC_EXP && prim <= OC_POW);
}

uint32_t oc_weight_dequantizer(const struct oc_analysis *a, uint32_t value)
{
    const struct oc_model *m = a->model;
    for (int steps = 0; value != OC_NONE && steps < 8; steps++) {
        uint32_t from = m->value[value].producer;
        if (from == OC_NONE || a->cost[from].state == OC_NODE_ABSORBED)
            return from;
        if (a->cost[from].state != OC_NODE_FOLDED || !m->node[from].n_in)
            return OC_NONE;
        value = m->node[from].in[0];
    }
    return OC_NONE;
}

static uint64_t cost_type_bytes(struct oc_op_ctx *c, const struct oc_type *t)
{
    if (!t || t->kind == OC_T_SEQUENCE || t->kind == OC_T_OPTIONAL || t->kind == OC_T_MAP)
        return 0;
    if (t->kind == OC_T_TENSOR && t->dtype == OC_DT_STRING)
        return 0; /* any number of inputs */
    if (t->kind == OC_T_NONE || t->dtype == OC_DT_UNDEFINED || !t->shape.ranked) {
        c->unknown = true;
        return 0;
    }
    return oc_c_bytes(c, t->dtype, oc_c_elems(c, t));
}

/* Whether an earlier input of the node is the same value. */
static bool repeated(struct oc_engine *e, const struct oc_node *n, const struct oc_op *op, uint32_t input)
{
    uint32_t value = n->in[input];
    if (n->n_in > OC_FEW_INPUTS) {
        bool again = e->seen[value];
        e->seen[value] = true;
        return again;
    }
    for (uint32_t i = 0; i < input; i++)
        if (n->in[i] == value && oc_op_slot(op, i) != 'm')
            return true;
    return false;
}

static void forget_seen(struct oc_engine *e, const struct oc_node *n)
{
    for (uint32_t i = 0; n->n_in > OC_FEW_INPUTS && i < n->n_in; i++)
        if (n->in[i] != OC_NONE)
            e->seen[n->in[i]] = false;
}

/* A constant read by a dequantizer is read in its stored form; each element costs one DEQ. */
static uint64_t dequantized_bytes(struct oc_engine *e, struct oc_op_ctx *c, struct oc_cost *k, uint32_t value,
                                  uint32_t dq)
{
    const struct oc_node *n = &e->m->node[dq];
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (n->in[i] != OC_NONE)
            bytes = oc_c_add(c, bytes, cost_type_bytes(c, &e->a->type[n->in[i]]));
    oc_add_float(c, k, OC_DEQ, oc_c_elems(c, &e->a->type[value]));
    return bytes;
}

static void default_bytes(struct oc_engine *e, const struct oc_node *n, const struct oc_op *op,
                          struct oc_op_ctx *c, struct oc_cost *k)
{
    for (uint32_t i = 0; i < n->n_in; i++) {
        k->rd[i] = 0;
        bool skip = n->in[i] == OC_NONE || oc_op_slot(op, i) == 'm' || repeated(e, n, op, i);
        if (n->in[i] == OC_NONE || (skip && !e->o->naive_bytes))
            continue;
        uint32_t dq = oc_weight_dequantizer(e->a, n->in[i]);
        k->rd[i] = dq != OC_NONE && !e->o->naive_bytes ? dequantized_bytes(e, c, k, n->in[i], dq)
                                                       : cost_type_bytes(c, c->in[i]);
    }
    forget_seen(e, n);
    for (uint32_t i = 0; i < n->n_out; i++)
        k->wr[i] = n->out[i] != OC_NONE && (e->out_used[i] || e->o->naive_bytes)
                       ? cost_type_bytes(c, &c->out[i])
                       : 0;
}

static void default_classes(struct oc_op_ctx *c, const struct oc_op *op, struct oc_cost *k)
{
    k->mac_class = oc_dtype_info(oc_in_dtype(c, 0))->cls;
    k->rest_class = c->n_out ? oc_dtype_info(c->out[0].dtype)->cls : OC_CLASS_NONE;
    for (uint32_t i = 0; i < c->n_in; i++)
        if (oc_op_slot(op, i) != 'm' && oc_dtype_is_float(oc_in_dtype(c, i))) {
            k->rest_class = oc_dtype_info(oc_in_dtype(c, i))->cls;
            return;
        }
}

static bool add_checked(uint64_t *sum, uint64_t v)
{
    return oc_add_u64(*sum, v, sum);
}

/* Weighted sums of one side of the histogram, and its list of non-zero primitives. */
static bool sum_weighted(const uint64_t *hist, const uint32_t *w, uint64_t trips, bool is_int, uint64_t *sum,
                         struct oc_node_cost *out, struct oc_prim_count *list)
{
    uint64_t any = 0;
    for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
        any |= hist[p];
    for (unsigned p = 0; any && p < OC_PRIM_COUNT; p++) {
        uint64_t n, weighted;
        if (!hist[p])
            continue;
        if (!oc_mul_u64(hist[p], trips, &n) || !oc_mul_u64(n, w[p], &weighted) || !add_checked(sum, weighted))
            return false;
        list[out->n_hist++] = (struct oc_prim_count){.n = n, .prim = (uint8_t)p, .is_int = is_int};
        if (p == OC_MAC && !add_checked(&out->macs, n))
            return false;
        if (transcendental(p) && !add_checked(&out->transcendentals, n))
            return false;
    }
    return true;
}

static bool cost_sum_bytes(struct oc_engine *e, const struct oc_node *n, const struct oc_cost *k,
                           uint64_t trips, struct oc_node_cost *out)
{
    if (out->alias && !e->o->alias_off && !e->o->naive_bytes)
        return true;
    bool ok = true;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (n->in[i] != OC_NONE)
            ok &= add_checked(e->a->is_const[n->in[i]] ? &out->rd_wt : &out->rd_act, k->rd[i]);
    for (uint32_t i = 0; i < n->n_out; i++)
        ok &= add_checked(&out->wr, k->wr[i]);
    uint64_t reads = trips ? trips / e->cached_trips : 0; /* inputs that are constants */
    return ok && oc_mul_u64(out->rd_act, trips, &out->rd_act) && oc_mul_u64(out->rd_wt, reads, &out->rd_wt) &&
           oc_mul_u64(out->wr, trips, &out->wr);
}

/* Replaces the weighted sums by the count of another tool. */
static bool recount(struct oc_engine *e, struct oc_op_ctx *c, const struct oc_cost *k, uint64_t trips,
                    struct oc_node_cost *out)
{
    uint64_t n = oc_convention_count(e->convention, c, k);
    bool is_int = oc_class_is_int(out->macs ? k->mac_class : k->rest_class);
    out->flops = out->ops = 0;
    return !c->overflow && oc_mul_u64(n, trips, is_int ? &out->ops : &out->flops);
}

/* Many nodes of a model have identical lists: store them once. */
static const struct oc_prim_count *keep_hist(struct oc_engine *e, const struct oc_prim_count *list, uint8_t n)
{
    struct oc_hist_memory *last = &e->hist[n ? (list[0].n * 31 + list[0].prim + n) % OC_COUNT(e->hist) : 0];
    bool same = n == last->n;
    for (uint8_t i = 0; same && i < n; i++)
        same = list[i].n == last->list[i].n && list[i].prim == last->list[i].prim &&
               list[i].is_int == last->list[i].is_int;
    if (!same || !last->list) {
        struct oc_prim_count *kept = OC_NEW_ARRAY(&e->a->arena, n, struct oc_prim_count);
        memcpy(kept, list, n * sizeof(*kept));
        *last = (struct oc_hist_memory){.list = kept, .n = n};
    }
    return last->list;
}

static bool cost_store(struct oc_engine *e, struct oc_op_ctx *c, const struct oc_cost *k, uint64_t trips,
                       struct oc_node_cost *out)
{
    const struct oc_node *n = c->node;
    const uint32_t *w = e->a->weights.w;
    struct oc_prim_count list[2 * OC_PRIM_COUNT];
    out->n_hist = 0;
    if (!sum_weighted(k->hist_f, w, trips, false, &out->flops, out, list) ||
        !sum_weighted(k->hist_i, w, trips, true, &out->ops, out, list) ||
        !cost_sum_bytes(e, n, k, trips, out))
        return false;
    out->hist = keep_hist(e, list, out->n_hist);
    out->mac_class = out->macs ? k->mac_class : OC_CLASS_NONE;
    out->rest_class = k->rest_class;
    return !e->convention || recount(e, c, k, trips, out);
}

/* A warning with the option that helps. */
static void warn_about_input(struct oc_engine *e, uint32_t input, const char *text, const char *option)
{
    oc_diag_add(&e->a->diags, OC_WARNING, "W-unknown-input", e->m->value[input].name, "%s; give it with %s",
                text, option);
}

static const char *find_input_reason(struct oc_engine *e, uint32_t input)
{
    const struct oc_type *type = &e->a->type[input];
    const char *name = e->m->value[input].name;
    uint64_t elements;
    if (!type->shape.ranked) {
        warn_about_input(e, input, "a cost depends on its shape, which the model does not say",
                         oc_printf(&e->a->arena, "--shape %s=2x3 or --shape %s=scalar", name, name));
        return oc_printf(&e->a->arena, "the shape of '%s' is unknown", name);
    }
    if (e->a->data[input] || type->dtype == OC_DT_BOOL || type->shape.rank > 1 ||
        !oc_type_elements(type, &elements) || elements > OC_MAX_DATA)
        return NULL;
    warn_about_input(e, input, "a size depends on its value",
                     oc_printf(&e->a->arena, "--value %s=...", name));
    return oc_printf(&e->a->arena, "a size depends on the value of '%s'", name);
}

/* The input of the model on which a size depends: by its value (lists and single numbers: sizes, scales, axes),
 * or by its shape if that is unknown. Many nodes may depend on one: each is looked at once. */
static const char *reason_by_input(struct oc_engine *e, uint32_t cause)
{
    const struct oc_value *v = cause == OC_NONE ? NULL : &e->m->value[cause];
    if (!v || !v->graph_input || v->graph || v->constant || e->a->type[cause].kind != OC_T_TENSOR)
        return NULL;
    if (!e->input_reason)
        e->input_reason = OC_NEW_ARRAY(&e->a->arena, e->m->n_value, const char *);
    if (!e->input_reason[cause])
        e->input_reason[cause] = find_input_reason(e, cause);
    return e->input_reason[cause];
}

static const char *reason_by_values(struct oc_engine *e, const uint32_t *value, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = value[i], cause = v == OC_NONE ? OC_NONE : e->a->root_cause[v];
        if (v != OC_NONE && cause == OC_NONE && !e->a->type[v].shape.ranked)
            cause = v;
        const char *text = reason_by_input(e, cause);
        if (text)
            return text;
    }
    return NULL;
}

static const char *unknown_reason(struct oc_engine *e, const struct oc_node *n, const struct oc_op_ctx *c)
{
    if (c->err->msg[0])
        return oc_strdup(&e->a->arena, c->err->msg);
    if (c->assumption)
        return c->assumption;
    const char *text = reason_by_values(e, n->in, n->n_in);
    text = text ? text : reason_by_values(e, n->out, n->n_out);
    if (text)
        return text;
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint32_t v = n->in[i];
        if (v == OC_NONE || e->a->value_state[v] == OC_V_STATIC || e->a->root_cause[v] == OC_NONE)
            continue;
        return oc_cause_text(e, v);
    }
    return "a size is unknown";
}

static void set_quality(struct oc_engine *e, const struct oc_node *n, const struct oc_op_ctx *c,
                        struct oc_node_cost *out)
{
    if (c->unknown) {
        *out = (struct oc_node_cost){.state = OC_NODE_NO_SHAPE,
                                     .op_class = out->op_class,
                                     .trips = out->trips,
                                     .params = out->params,
                                     .quality = OC_UNKNOWN,
                                     .note = unknown_reason(e, n, c)};
    } else if (c->assumption) {
        out->quality = OC_EST;
        out->note = c->assumption;
    } else if (c->upper) {
        out->quality = OC_UPPER;
        out->note = "counted at the upper bound of a size";
    }
}

static int cost_overflow(struct oc_engine *e, const struct oc_node *n)
{
    char buf[256];
    return oc_fail(e->err, OC_ELIMIT, "node '%s' (%s): its counts overflow 64 bits",
                   oc_node_label(e->m, n, buf, sizeof(buf)), n->op_type);
}

void oc_cost_rule(struct oc_engine *e, uint32_t node, const struct oc_op *op, struct oc_op_ctx *c,
                  struct oc_cost *k)
{
    const struct oc_node *n = &e->m->node[node];
    struct oc_err *why = c->err;
    oc_fill_ctx(e, n, op, c);
    c->err = why;
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i] != OC_NONE)
            e->out[i] = e->a->type[n->out[i]];
    if (e->convention)
        oc_convention_options(e->convention, c);
    *k = (struct oc_cost){.rd = e->rd, .wr = e->wr, .n_in = n->n_in, .n_out = n->n_out};
    k->alias = op->flags & OC_F_VIEW;
    default_classes(c, op, k);
    default_bytes(e, n, op, c, k);
    if (op->cost && op->cost(c, k))
        c->unknown = true;
    if (e->o->naive_bytes) /* default values; the operator's rule overrides them */
        default_bytes(e, n, op, c, k);
}

/* Takes the cost of a twin; its parameters are its own. */
static void cost_as_twin(struct oc_analysis *a, uint32_t node, uint32_t twin)
{
    uint64_t params = a->cost[node].params;
    a->twin[node] = a->twin[twin];
    a->cost[node] = a->cost[twin];
    a->cost[node].params = params;
}

static int cost_rules(struct oc_engine *e, uint32_t node, const struct oc_op *op, uint64_t trips)
{
    uint32_t *place = oc_twin_place(e, node);
    if (place && *place && oc_is_twin(e, node, *place - 1)) {
        cost_as_twin(e->a, node, *place - 1);
        return 0;
    }
    const struct oc_node *n = &e->m->node[node];
    struct oc_node_cost *out = &e->a->cost[node];
    uint64_t loaded = e->n_loaded;
    struct oc_op_ctx c = {.err = oc_rule_error(e)};
    struct oc_cost k;
    oc_cost_rule(e, node, op, &c, &k);
    if (c.overflow || oc_exprs_overflowed(e->a->exprs))
        return cost_overflow(e, n);
    out->alias = k.alias;
    out->view = k.alias || k.view;
    if (!c.unknown && !cost_store(e, &c, &k, trips, out))
        return cost_overflow(e, n);
    out->params += k.attr_params;
    e->a->class_elems[OC_PC_WEIGHT] += k.attr_params;
    set_quality(e, n, &c, out);
    if (place && out->quality == OC_EXACT && !out->note && !k.attr_params && loaded == e->n_loaded)
        *place = node + 1;
    return 0;
}

/* The count of a tool that does not fold: FLOPs and OPs alone, the node does not run. */
static int cost_folded(struct oc_engine *e, uint32_t node, const struct oc_op *op, uint64_t trips)
{
    struct oc_op_ctx c = {.err = oc_rule_error(e)};
    struct oc_cost k;
    oc_cost_rule(e, node, op, &c, &k);
    if (!c.unknown && (c.overflow || !recount(e, &c, &k, trips, &e->a->cost[node])))
        return cost_overflow(e, &e->m->node[node]);
    return 0;
}

/* A node that never runs costs exactly nothing. */
static void cost_never_runs(struct oc_node_cost *k)
{
    k->quality = OC_EXACT;
    k->note = NULL;
    if (k->state == OC_NODE_NO_SHAPE)
        k->state = OC_NODE_NORMAL;
}

static int cost_node(struct oc_engine *e, uint32_t node, uint64_t trips)
{
    const struct oc_node *n = &e->m->node[node];
    struct oc_node_cost *k = &e->a->cost[node];
    k->trips = trips;
    switch (k->state) {
    case OC_NODE_NORMAL:
        return cost_rules(e, node, e->a->op[node], trips);
    case OC_NODE_CONTAINER:
        if (n->kind == OC_NODE_CALL && n->body != OC_NONE && e->graph_use[n->body] == OC_G_RUN)
            return oc_cost_graph(e, n->body, trips);
        return oc_cost_control(e, node, trips) < 0 ? -1 : 0;
    case OC_NODE_FOLDED:
    case OC_NODE_ABSORBED:
        return oc_convention_counts_folded(e->convention) ? cost_folded(e, node, e->a->op[node], trips) : 0;
    case OC_NODE_UNKNOWN_OP:
    case OC_NODE_NO_SHAPE:
        k->quality = OC_UNKNOWN;
        return 0;
    default:
        return 0;
    }
}

int oc_cost_graph(struct oc_engine *e, uint32_t graph, uint64_t trips)
{
    const struct oc_graph *g = &e->m->graph[graph];
    for (uint32_t i = 0; i < g->n_node; i++) {
        if (cost_node(e, g->node[i], trips))
            return -1;
        if (trips == 0)
            cost_never_runs(&e->a->cost[g->node[i]]);
    }
    return 0;
}
