/* Shared by all rules of the join: assigns nodes to a record. */
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "join/expansion.h"
#include "join/join.h"

/* Tools change names: a kernel's suffix (_myl109_2), an event's suffix (_kernel_time), the index of a
 * shape profile, a domain prefix, and '.' or '/' replaced by '_'. */
enum { AMBIGUOUS = OC_NONE - 1 };

static size_t digits_back(const char *s, size_t n)
{
    size_t k = 0;
    while (k < n && s[n - 1 - k] >= '0' && s[n - 1 - k] <= '9')
        k++;
    return k;
}

/* Length without "_myl<digits>_<digits>". */
static size_t without_region(const char *s, size_t n)
{
    size_t a = digits_back(s, n);
    if (!a || a + 1 > n || s[n - a - 1] != '_')
        return n;
    size_t b = digits_back(s, n - a - 1), left = n - a - 1 - b;
    return b && left >= 4 && memcmp(s + left - 4, "_myl", 4) == 0 ? left - 4 : n;
}

static size_t without_ending(const char *s, size_t n)
{
    static const char event[] = "_kernel_time";
    if (n > sizeof(event) - 1 && memcmp(s + n - (sizeof(event) - 1), event, sizeof(event) - 1) == 0)
        n -= sizeof(event) - 1;
    const char *profile = n && s[n - 1] == ']' ? memmem(s, n, " [profile ", 10) : NULL;
    return without_region(s, profile ? (size_t)(profile - s) : n);
}

static void plain_form(struct oc_buf *out, const char *s, size_t n)
{
    oc_buf_clear(out);
    n = without_ending(s, n);
    const char *colon = memchr(s, ':', n);
    if (colon && colon > s && (size_t)(colon - s) + 1 < n && colon[1] != ':' && colon[1] != '/') {
        n -= (size_t)(colon + 1 - s);
        s = colon + 1;
    }
    for (size_t i = 0; i < n; i++) {
        char c = s[i];
        if (c == '.' || c == '/' || c == ':')
            c = '_';
        if (c != '_' || out->n)
            oc_buf_char(out, c);
    }
}

static void index_names(struct oc_matcher *x)
{
    struct oc_buf b = {0};
    x->plain.arena = x->arena;
    x->has_plain = true;
    for (uint32_t i = 0; i < x->m->n_node; i++) {
        uint32_t at = i;
        const char *name = x->m->node[i].name;
        plain_form(&b, name, strlen(name));
        if (b.n && !oc_map_add(&x->plain, b.data, b.n, &at, NULL))
            oc_map_set(&x->plain, b.data, b.n, AMBIGUOUS);
    }
    oc_buf_free(&b);
}

uint32_t oc_match_plain_name(struct oc_matcher *x, const char *name, size_t len)
{
    struct oc_buf b = {0};
    if (!x->has_plain)
        index_names(x);
    plain_form(&b, name, len);
    uint32_t node = b.n ? oc_map_get(&x->plain, b.data, b.n) : OC_NONE;
    oc_buf_free(&b);
    return node == AMBIGUOUS ? OC_NONE : node;
}

/* The rules in order of confidence. */

void oc_match_all(struct oc_matcher *x, const struct oc_model *optimized)
{
    const struct oc_profile *p = x->p;
    oc_index_make(&x->x, x->m, x->arena);
    x->match = OC_NEW_ARRAY(x->arena, (size_t)p->n_rec + 1, struct oc_match);
    x->owner = OC_NEW_ARRAY(x->arena, (size_t)x->m->n_node + 1, uint32_t);
    memset(x->owner, 0xff, x->m->n_node * sizeof(*x->owner));
    for (uint32_t i = 0; i < p->n_rec; i++)
        x->match[i].core = x->match[i].inner_of = OC_NONE;
    if (p->functions) { /* relu() is not a Relu node, whatever its name */
        for (uint32_t i = 0; i < p->n_rec; i++)
            x->match[i].bucket = p->rec[i].bucket ? NULL : "functions";
        return;
    }
    if (strcmp(p->format, "onnxruntime") == 0)
        oc_match_expand(x);
    if (optimized)
        oc_match_companion(x, optimized);
    oc_match_tensorrt(x);
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (!p->rec[i].bucket && !x->match[i].n_node && !x->match[i].bucket &&
            x->match[i].inner_of == OC_NONE)
            oc_match_by_name(x, i);
    oc_match_grow(x);
    if (strcmp(p->format, "onnxruntime") != 0) { /* names that are absent or not from the model */
        for (uint32_t i = 0; i < p->n_rec; i++)
            if (!p->rec[i].bucket && !x->match[i].n_node && !x->match[i].bucket)
                oc_match_by_parts(x, i);
        oc_match_order(x);
        oc_match_grow(x);
    }
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (!p->rec[i].bucket && !x->match[i].n_node && !x->match[i].bucket &&
            x->match[i].inner_of == OC_NONE)
            oc_match_overhead(x, i);
}

void oc_match_free(struct oc_matcher *x)
{
    oc_match_expand_free(x);
    oc_index_free(&x->x);
    oc_map_free(&x->plain);
}

void oc_match_add(struct oc_matcher *x, uint32_t rec, uint32_t node)
{
    struct oc_match *m = &x->match[rec];
    for (uint32_t i = 0; i < m->n_node; i++)
        if (m->node[i] == node)
            return;
    if (m->n_node == m->cap) {
        uint32_t cap = m->cap ? m->cap * 2 : 2;
        uint32_t *more = OC_NEW_ARRAY(x->arena, cap, uint32_t);
        if (m->n_node)
            memcpy(more, m->node, m->n_node * sizeof(*more));
        m->node = more;
        m->cap = cap;
    }
    m->node[m->n_node++] = node;
    if (x->owner[node] == OC_NONE)
        x->owner[node] = rec;
}

void oc_match_core(struct oc_matcher *x, uint32_t rec, uint32_t node, const char *rule, double confidence)
{
    struct oc_match *m = &x->match[rec];
    m->core = node;
    m->rule = rule;
    m->confidence = confidence;
    oc_match_add(x, rec, node);
}

bool oc_match_runs(const struct oc_matcher *x, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    if (x->a) {
        uint8_t state = x->a->cost[node].state;
        return state != OC_NODE_FOLDED && state != OC_NODE_NOT_TAKEN && state != OC_NODE_ABSORBED;
    }
    if (n->n_in == 0) /* without an analysis: constants, and nodes that read only initializers */
        return !oc_node_is_constant(n);
    for (uint32_t k = 0; k < n->n_in; k++)
        if (n->in[k] != OC_NONE && !x->m->value[n->in[k]].constant)
            return true;
    return false;
}

static bool is_number(const struct oc_matcher *x, uint32_t value, int number)
{
    const struct oc_tensor *t = value == OC_NONE || !x->a ? NULL : oc_analysis_constant(x->a, value);
    struct oc_elem e;
    if (!t || t->elements != 1 || t->storage == OC_STORE_EXTERNAL ||
        !oc_tensor_elems(x->m, t, 1, &e, x->arena))
        return false;
    return e.kind == OC_E_REAL ? fabs(e.r - number) == 0
                               : e.kind == OC_E_INT && oc_is_known(e.i) && e.i.v == number;
}

/* The sum with 0, the product with 1. */
static bool is_neutral(const struct oc_matcher *x, const struct oc_node *n)
{
    bool sum = oc_type_set_has(" Add Sub ", n->op_type), product = oc_type_set_has(" Mul Div ", n->op_type);
    bool ordered = oc_type_set_has(" Sub Div ", n->op_type);
    return (sum || product) && n->n_in == 2 &&
           (is_number(x, n->in[1], product) || (!ordered && is_number(x, n->in[0], product)));
}

bool oc_match_removed(const struct oc_matcher *x, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    return x->owner[node] == OC_NONE && oc_match_runs(x, node) && oc_equal(x->p->format, "onnxruntime") &&
           (strcmp(n->op_type, "Identity") == 0 || (strcmp(n->op_type, "Dropout") == 0 && n->n_in < 3) ||
            is_neutral(x, n));
}

const struct oc_type *oc_match_main_input(const struct oc_prof_rec *r)
{
    const struct oc_type *best = r->n_in ? &r->in[0] : NULL;
    for (uint32_t i = 1; i < r->n_in; i++)
        if (r->in[i].kind == OC_T_TENSOR && r->in[i].shape.ranked && r->in[i].shape.rank > best->shape.rank)
            best = &r->in[i];
    return best;
}

/* ---- recorded shapes -------------------------------------------------------------------------------- */

static bool same_dims(const struct oc_shape *a, const struct oc_shape *b)
{
    bool taken[OC_MAX_RANK] = {false};
    for (unsigned i = 0; i < a->rank; i++) {
        unsigned k = 0;
        while (k < b->rank && (taken[k] || b->dim[k].v != a->dim[i].v))
            k++;
        if (k == b->rank)
            return false;
        taken[k] = true;
    }
    return true;
}

/* Blocked layouts pad the channels. */
static bool is_padded(const struct oc_shape *recorded, const struct oc_shape *model)
{
    for (unsigned i = 0; i < model->rank; i++)
        if (i != 1 && recorded->dim[i].v != model->dim[i].v)
            return false;
    int64_t more = model->rank == 4 ? recorded->dim[1].v - model->dim[1].v : -1; /* images only */
    return more >= 0 && more < OC_MATCH_MAX_BLOCK && recorded->dim[1].v % 4 == 0;
}

static int64_t elements(const struct oc_shape *s)
{
    int64_t n = 1;
    for (unsigned i = 0; i < s->rank; i++)
        if (__builtin_mul_overflow(n, s->dim[i].v, &n))
            return -1;
    return n;
}

/* [N, C / block, H, W, block] as [N, C, H, W]. */
static struct oc_shape unblocked(const struct oc_shape *s, struct oc_dim *dim)
{
    struct oc_shape plain = {.dim = dim, .rank = 4, .ranked = true};
    memcpy(dim, s->dim, 4 * sizeof(*dim));
    if (__builtin_mul_overflow(dim[1].v, s->dim[4].v, &dim[1].v))
        dim[1].v = -1;
    return plain;
}

bool oc_match_same_shape(const struct oc_shape *recorded, const struct oc_shape *model)
{
    struct oc_dim dim[4];
    if (!oc_shape_known(recorded) || !oc_shape_known(model))
        return true;
    if (recorded->rank == model->rank)
        return same_dims(recorded, model) || is_padded(recorded, model);
    if (elements(recorded) == elements(model))
        return true;
    if (recorded->rank != 5 || model->rank != 4)
        return false;
    struct oc_shape plain = unblocked(recorded, dim);
    return is_padded(&plain, model);
}

const struct oc_shape *oc_match_output_shape(const struct oc_matcher *x, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    uint32_t v = n->n_out ? n->out[0] : OC_NONE;
    return x->a && v != OC_NONE && x->a->type[v].kind == OC_T_TENSOR ? &x->a->type[v].shape : NULL;
}

bool oc_match_output_fits(const struct oc_matcher *x, const struct oc_prof_rec *r, uint32_t node)
{
    const struct oc_shape *s = oc_match_output_shape(x, node);
    return !s || !r->n_out || oc_match_same_shape(&r->out[0].shape, s);
}
