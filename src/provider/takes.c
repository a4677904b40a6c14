/* Whether a provider takes a node by its list: name, opset, types, shapes, conditions. */
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "provider/provider.h"

struct asking {
    const struct oc_provider *p;
    const struct oc_analysis *a, *file;
    const struct oc_node *node;
    struct oc_arena *arena;
    bool casting; /* types as after ONNX Runtime's casts */
};

static struct oc_provider_verdict yes(void)
{
    return (struct oc_provider_verdict){.takes = OC_TAKES_YES};
}

static struct oc_provider_verdict no(const char *reason)
{
    return (struct oc_provider_verdict){.takes = OC_TAKES_NO, .reason = reason};
}

static struct oc_provider_verdict maybe(const char *reason)
{
    return (struct oc_provider_verdict){.takes = OC_TAKES_MAYBE, .reason = reason};
}

/* ---- types ------------------------------------------------------------------------------------------ */

static unsigned asked_dtype(const struct asking *q, const struct oc_type *t)
{
    return q->casting && t->dtype == q->p->cast_from ? q->p->cast_to : t->dtype;
}

static oc_type_set set_of(const struct asking *q, const struct oc_type *t)
{
    bool sequence = t->kind == OC_T_SEQUENCE;
    const struct oc_type *tensor = sequence ? t->elem : t;
    if (t->kind == OC_T_NONE || (sequence && !tensor) || !tensor->dtype)
        return 0;
    unsigned type = asked_dtype(q, tensor);
    if ((t->kind != OC_T_TENSOR && !sequence) || tensor->kind != OC_T_TENSOR || type >= OC_DT_COUNT)
        return OC_OTHER_TYPE;
    return (oc_type_set)1 << (sequence ? type + 32 : type);
}

/* "float, float16" */
static const char *set_text(const struct asking *q, oc_type_set set)
{
    const char *text = "";
    for (unsigned t = 1; t < OC_DT_COUNT; t++)
        if (set & (oc_type_set)1 << t)
            text = oc_printf(q->arena, "%s%s%s", text, *text ? ", " : "", oc_dtype_info(t)->name);
    return *text ? text : "other types";
}

static struct oc_provider_verdict take_slot(const struct asking *q, bool input, uint32_t slot, uint32_t value,
                                            oc_type_set listed)
{
    const struct oc_type *t = &q->a->type[value];
    const char *side = input ? "input" : "output";
    oc_type_set type = set_of(q, t);
    if (listed == OC_ANY_TYPE || (type & listed))
        return yes();
    if (!type)
        return maybe(oc_printf(q->arena, "the type of %s %u is unknown", side, slot));
    const char *name = t->kind == OC_T_TENSOR ? oc_dtype_info(t->dtype)->name : "not a tensor";
    if (type & q->p->maybe)
        return maybe(oc_printf(q->arena, "%s %u is %s, which is supported in part", side, slot, name));
    return no(oc_printf(q->arena, "%s %u is %s; the list has %s", side, slot, name, set_text(q, listed)));
}

static struct oc_provider_verdict worse(struct oc_provider_verdict a, struct oc_provider_verdict b)
{
    return b.takes < a.takes ? b : a;
}

static struct oc_provider_verdict take_side(const struct asking *q, bool input, const uint32_t *value,
                                            uint32_t n, const oc_type_set *listed, uint32_t n_listed)
{
    struct oc_provider_verdict v = yes();
    for (uint32_t i = 0; i < n && n_listed && v.takes; i++)
        if (value[i] != OC_NONE)
            v = worse(v, take_slot(q, input, i, value[i], listed[i < n_listed ? i : n_listed - 1]));
    return v;
}

static struct oc_provider_verdict take_types(const struct asking *q, const struct oc_provider_row *row)
{
    struct oc_provider_verdict v = take_side(q, true, q->node->in, q->node->n_in, row->in, row->n_in);
    return v.takes ? worse(v, take_side(q, false, q->node->out, q->node->n_out, row->out, row->n_out)) : v;
}

/* ---- conditions ------------------------------------------------------------------------------------- */

static bool list_has(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at++)
        if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ' '))
            return true;
    return false;
}

static bool word_fits(const struct oc_provider_need *n, const char *word)
{
    return (!n->value || list_has(n->value, word)) && (!n->except || !list_has(n->except, word));
}

/* A value as the list writes it. */
static const char *integer_text(struct oc_arena *a, int64_t v)
{
    return oc_printf(a, "%" PRId64, v);
}

/* The first value of the attribute that the condition excludes; NULL: none. */
static const char *bad_value(const struct asking *q, const struct oc_provider_need *n,
                             const struct oc_attr *at)
{
    const char *word = NULL;
    uint32_t count = at->type == OC_ATTR_INTS || at->type == OC_ATTR_STRINGS ? at->n : 1;
    for (uint32_t i = 0; i < count; i++) {
        if (at->type == OC_ATTR_INT || at->type == OC_ATTR_INTS)
            word = integer_text(q->arena, at->type == OC_ATTR_INT ? at->i : at->ints[i]);
        else if (at->type == OC_ATTR_STRING || at->type == OC_ATTR_STRINGS)
            word = at->type == OC_ATTR_STRING ? at->s.s : at->strings[i].s;
        else
            return NULL;
        if (!word_fits(n, word))
            return word;
    }
    return NULL;
}

static bool has_two_equal_halves(const struct oc_attr *at)
{
    for (uint32_t i = 0; at->type == OC_ATTR_INTS && i < at->n / 2; i++)
        if (at->ints[i] != at->ints[at->n / 2 + i])
            return false;
    return true;
}

/* Texts of a file in a sentence: not longer than a line. */
static struct oc_provider_verdict need_attr(const struct asking *q, const struct oc_provider_need *n)
{
    const struct oc_attr *at = oc_node_attr(q->node, n->attr);
    if (n->absent)
        return at ? no(oc_printf(q->arena, "attribute %s is given", n->attr)) : yes();
    if (n->symmetric)
        return !at || has_two_equal_halves(at) ? yes()
                                               : no(oc_printf(q->arena, "%s is not symmetric", n->attr));
    const char *bad = at                                          ? bad_value(q, n, at)
                      : n->fallback && !word_fits(n, n->fallback) ? n->fallback
                                                                  : NULL;
    if (!bad)
        return yes();
    return no(n->value ? oc_printf(q->arena, "%s is %.40s; the list has %s", n->attr, bad, n->value)
                       : oc_printf(q->arena, "%s is %.40s", n->attr, bad));
}

/* Elements of a constant input within the limits of the condition. */
static struct oc_provider_verdict need_elements(const struct asking *q, const struct oc_provider_need *n,
                                                uint32_t value)
{
    const struct oc_data *d = q->a->data[value];
    if (!n->has_min && !n->has_max && !n->has_without && !n->has_only)
        return yes();
    for (uint32_t i = 0; d && i < d->n; i++) {
        const struct oc_elem *e = &d->e[i];
        if (e->kind != OC_E_INT || !oc_is_known(e->i))
            return maybe(oc_printf(q->arena, "the value of input %d is unknown", n->input));
        int64_t v = e->i.v;
        if ((n->has_min && v < n->min) || (n->has_max && v > n->max) || (n->has_without && v == n->without) ||
            (n->has_only && v != n->only))
            return no(oc_printf(q->arena, "input %d has the value %" PRId64, n->input, v));
    }
    return d ? yes() : maybe(oc_printf(q->arena, "the value of input %d is unknown", n->input));
}

static struct oc_provider_verdict need_input(const struct asking *q, const struct oc_provider_need *n)
{
    uint32_t slot = (uint32_t)n->input;
    uint32_t value = slot < q->node->n_in ? q->node->in[slot] : OC_NONE;
    if (value == OC_NONE)
        return yes();
    const struct oc_type *t = &q->a->type[value];
    if (n->absent)
        return no(oc_printf(q->arena, "input %u is given", slot));
    if (n->constant && !q->file->is_const[value])
        return no(oc_printf(q->arena, "input %u is not constant", slot));
    if (n->rank && !(t->kind == OC_T_TENSOR && t->shape.ranked))
        return maybe(oc_printf(q->arena, "the rank of input %u is unknown", slot));
    if (n->rank && !list_has(n->rank, integer_text(q->arena, t->shape.rank)))
        return no(oc_printf(q->arena, "input %u has rank %u; the list has %s", slot, t->shape.rank, n->rank));
    if (n->types) {
        struct oc_provider_verdict v = take_slot(q, true, slot, value, n->types);
        if (v.takes != OC_TAKES_YES)
            return v;
    }
    return need_elements(q, n, value);
}

static struct oc_provider_verdict need_one(const struct asking *q, const struct oc_provider_need *n)
{
    struct oc_provider_verdict v = yes();
    if (n->attr)
        v = need_attr(q, n);
    if (n->input >= 0)
        v = worse(v, need_input(q, n));
    for (uint32_t i = n->outputs; n->outputs && i < q->node->n_out; i++)
        if (q->node->out[i] != OC_NONE)
            v = worse(v, no(oc_printf(q->arena, "output %u is used", i)));
    bool states = n->attr || n->input >= 0 || n->outputs;
    if (n->unknown && (!states || v.takes != OC_TAKES_YES))
        return maybe(oc_printf(q->arena, "not decided: %s", n->unknown));
    return v;
}

/* ---- the whole node --------------------------------------------------------------------------------- */

static bool has_open_shape(const struct asking *q)
{
    for (uint32_t side = 0; side < 2; side++) {
        const uint32_t *value = side ? q->node->out : q->node->in;
        for (uint32_t i = 0; i < (side ? q->node->n_out : q->node->n_in); i++)
            if (value[i] != OC_NONE && !oc_shape_known(&q->a->type[value[i]].shape))
                return true;
    }
    return false;
}

static bool is_type(const struct oc_node *n, const char *type)
{
    return strcmp(n->op_type, type) == 0;
}

/* Inputs come from DequantizeLinear, or the node is one end of a quantized group itself. */
static bool is_quantized(const struct asking *q)
{
    const struct oc_model *m = q->a->model;
    if (is_type(q->node, "QuantizeLinear") || is_type(q->node, "DequantizeLinear"))
        return true;
    if (!q->node->n_in || q->node->in[0] == OC_NONE)
        return true;
    const struct oc_type *t = &q->a->type[q->node->in[0]];
    uint32_t producer = m->value[q->node->in[0]].producer;
    if (oc_dtype_info(t->dtype)->kind != OC_KIND_FLOAT)
        return true;
    return producer != OC_NONE && is_type(&m->node[producer], "DequantizeLinear");
}

/* Whether the graph is in a body of control flow, also through calls of functions. */
static bool in_body(const struct oc_model *m, uint32_t graph)
{
    for (uint32_t parent; (parent = m->graph[graph].parent_node) != OC_NONE; graph = m->node[parent].graph)
        if (m->node[parent].kind != OC_NODE_CALL)
            return true;
    return false;
}

static bool covers(int32_t since, int32_t until, int32_t opset)
{
    return opset >= since && (!until || opset <= until);
}

static struct oc_provider_verdict take_row(const struct asking *q, const struct oc_provider_row *row)
{
    struct oc_provider_verdict v = take_types(q, row);
    for (uint32_t i = 0; i < row->n_need && v.takes; i++)
        v = worse(v, need_one(q, &row->need[i]));
    if (v.takes && q->p->fixed_shapes && has_open_shape(q))
        v = no("a shape has an open size: give it with --dim");
    if (v.takes && q->p->quantized && !is_quantized(q))
        v = worse(v, maybe(oc_printf(q->arena, "not decided: %s", q->p->quantized)));
    v.row = row;
    return v;
}

static struct oc_provider_verdict take_rows(const struct asking *q, uint32_t first)
{
    struct oc_provider_verdict best = no(NULL);
    int32_t opset = q->node->opset;
    for (uint32_t i = first; i != OC_NONE && best.takes != OC_TAKES_YES; i = q->p->row[i].next) {
        const struct oc_provider_row *row = &q->p->row[i];
        if (opset && !covers(row->since, row->until, opset))
            continue;
        struct oc_provider_verdict v = take_row(q, row);
        if (!best.row || v.takes > best.takes)
            best = v;
    }
    if (!best.row)
        best.reason = oc_printf(q->arena, "no kernel for opset %d in the list", opset);
    return best;
}

struct oc_provider_verdict oc_provider_takes(const struct oc_provider *p, const struct oc_analysis *a,
                                             const struct oc_analysis *file, uint32_t node,
                                             struct oc_arena *arena)
{
    const struct oc_node *n = &a->model->node[node];
    struct asking q = {.p = p, .a = a, .file = file, .node = n, .arena = arena};
    const char *key = oc_printf(arena, "%s:%s", n->domain, n->op_type);
    uint32_t first = oc_map_get(&p->by_name, key, strlen(key));
    if (!p->bodies && in_body(a->model, n->graph))
        return no("in a body of control flow");
    if (!*n->domain && n->opset && !covers(p->since, p->until, n->opset))
        return first == OC_NONE
                   ? no("not in the list")
                   : maybe(oc_printf(arena, "not decided: the list does not cover opset %d", n->opset));
    if (first == OC_NONE)
        return no("not in the list");
    struct oc_provider_verdict v = take_rows(&q, first);
    if (v.takes || !p->cast_from)
        return v;
    q.casting = true;
    struct oc_provider_verdict cast = take_rows(&q, first);
    if (cast.takes != OC_TAKES_YES)
        return v;
    cast.casts = true;
    return cast;
}
