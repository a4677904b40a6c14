/* Zeros in stored weights, their pattern, and the MACs without them (--sparsity). */
#include "analyze/handles.h"

#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/os.h"
#include "base/wire.h"
#include "onnxcost.h"

enum {
    MAX_STEPS = 8,   /* nodes between a stored weight and its reader */
    DENSE_BITS = 30, /* a sparse tensor of up to 2^DENSE_BITS elements is checked for the pattern */
    GROUP = 4,
    MOST = 2 /* the 2:4 pattern */
};

/* Operators whose MACs are products of each weight element with the same number of activations. */
struct product {
    const char *name;
    uint8_t weight, zero_point; /* slots; zero_point 0: none */
    int8_t axis;                /* of the weight, along which products are summed; negative: from the end */
};

static const struct product products[] = {
    {"MatMul", 1, 0, -2},       {"Gemm", 1, 0, 0},           {"FusedMatMul", 1, 0, -2},
    {"FusedGemm", 1, 0, 0},     {"Conv", 1, 0, 1},           {"FusedConv", 1, 0, 1},
    {"ConvTranspose", 1, 0, 0}, {"MatMulInteger", 1, 3, -2}, {"ConvInteger", 1, 3, 1},
    {"QLinearConv", 3, 5, 1},   {"QLinearMatMul", 3, 5, -2},
};

/* A stored weight, as an operator reads it. */
struct weight {
    const struct oc_tensor *t;
    uint32_t value;      /* of the stored tensor */
    uint32_t zero_point; /* value, OC_NONE: none */
    bool transposed, reshaped;
};

/* Places of zeros, for the pattern: of dense elements, or of a sparse tensor as bits. */
struct elements {
    const uint8_t *data;
    uint64_t n, zero; /* bits of a zero */
    unsigned width;   /* bytes */
    uint64_t mask;    /* bits that matter: not the sign of a float */
    uint8_t *bits;    /* heap: 1 for stored elements of a sparse tensor; NULL: dense */
};

/* ---- stored weights --------------------------------------------------------------------------------- */

static bool sparsity_is(const struct oc_node *n, const char *type)
{
    return strcmp(n->op_type, type) == 0;
}

static bool swaps_two_axes(const struct oc_node *n)
{
    const struct oc_attr *perm = oc_node_attr(n, "perm");
    return !perm || (perm->n == 2 && perm->ints[0] == 1);
}

/* Back through the nodes of constants that keep every element. */
static bool find_weight(const struct oc_analysis *a, uint32_t v, struct weight *w)
{
    *w = (struct weight){.zero_point = OC_NONE};
    for (int i = 0; i < MAX_STEPS && v != OC_NONE && a->is_const[v]; i++) {
        uint32_t p = a->model->value[v].producer;
        const struct oc_node *n = p == OC_NONE ? NULL : &a->model->node[p];
        w->t = oc_analysis_constant(a, v);
        w->value = v;
        if (w->t)
            return true;
        if (!n || !n->n_in)
            return false;
        if (sparsity_is(n, "Transpose")) {
            w->reshaped |= !swaps_two_axes(n);
            w->transposed ^= true;
        } else if (sparsity_is(n, "DequantizeLinear")) {
            w->zero_point = n->n_in > 2 ? n->in[2] : OC_NONE;
        } else if (oc_op_is(a->op[p], OC_F_VIEW)) {
            w->reshaped = true;
        } else if (!sparsity_is(n, "Identity") && !sparsity_is(n, "Cast")) {
            return false;
        }
        v = n->in[0];
    }
    return false;
}

static const struct product *product_of(const struct oc_node *n)
{
    for (size_t i = 0; i < OC_COUNT(products); i++)
        if (sparsity_is(n, products[i].name) && n->n_in > products[i].weight)
            return &products[i];
    return NULL;
}

/* ---- reading zeros ---------------------------------------------------------------------------------- */

static uint64_t element_at(const struct elements *e, uint64_t i)
{
    return oc_load_le(e->data + i * e->width, e->width);
}

static bool is_zero(const struct elements *e, uint64_t i)
{
    if (e->bits)
        return !(e->bits[i / 8] >> i % 8 & 1);
    return (element_at(e, i) & e->mask) == e->zero;
}

static uint64_t count_zeros(const struct elements *e)
{
    uint64_t zeros = 0;
    for (uint64_t i = 0; i < e->n; i++)
        zeros += (element_at(e, i) & e->mask) == e->zero;
    return zeros;
}

/* False: a type whose elements are not whole bytes, or no numbers. */
static bool describe(const struct oc_tensor *t, struct elements *e)
{
    const struct oc_dtype_info *d = oc_dtype_info(t->dtype);
    uint64_t bytes;
    if ((d->kind != OC_KIND_FLOAT && d->kind != OC_KIND_INT) || !oc_bytes_of(t->dtype, 8, &bytes))
        return false;
    e->width = (unsigned)bytes / 8;
    e->n = t->elements;
    e->mask = e->width == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * e->width) - 1;
    if (d->kind == OC_KIND_FLOAT)
        e->mask >>= 1; /* -0 is zero */
    return bytes % 8 == 0 && e->width <= 8 && (e->width & (e->width - 1)) == 0 && e->width > 0;
}

/* The bits of the zero point, where it is one number for all elements. */
static const char *read_zero_point(const struct oc_analysis *a, uint32_t value, struct elements *e)
{
    const struct oc_tensor *t = value == OC_NONE ? NULL : oc_analysis_constant(a, value);
    struct elements z = {0};
    struct oc_tensor_bytes b;
    if (value == OC_NONE)
        return NULL;
    if (!t || !t->elements || !describe(t, &z) || z.width != e->width ||
        !oc_tensor_bytes_open(a->model, t, &b))
        return "its zero point is not a constant";
    oc_os_need(b.data, (size_t)b.size_bytes);
    z.data = b.data;
    bool same = b.size_bytes / z.width >= z.n;
    for (uint64_t i = 1; same && i < z.n; i++)
        same = element_at(&z, i) == element_at(&z, 0);
    e->zero = same ? element_at(&z, 0) : 0;
    oc_tensor_bytes_close(&b);
    return same ? NULL : "its channels have different zero points";
}

/* ---- the pattern ------------------------------------------------------------------------------------ */

static bool group_fits(const struct elements *e, uint64_t first, uint64_t stride)
{
    unsigned used = 0;
    for (unsigned k = 0; k < GROUP; k++)
        used += !is_zero(e, first + k * stride);
    return used <= MOST;
}

static enum oc_pattern pattern_along(const struct oc_tensor *t, unsigned axis, const struct elements *e)
{
    uint64_t inner = 1, length = (uint64_t)t->dim[axis];
    for (unsigned i = axis + 1; i < t->rank; i++)
        inner *= (uint64_t)t->dim[i];
    if (!e->n || length % GROUP)
        return OC_PATTERN_NONE;
    for (uint64_t block = 0; block < e->n; block += GROUP * inner)
        for (uint64_t j = 0; j < inner; j++)
            if (!group_fits(e, block + j, inner))
                return OC_PATTERN_NONE;
    return OC_PATTERN_2_4;
}

/* Axis of the sum in the stored tensor; false: the tensor was reshaped. */
static bool sum_axis(const struct product *p, const struct oc_node *n, const struct weight *w, unsigned *axis)
{
    int at = p->axis < 0 ? p->axis + w->t->rank : p->axis;
    bool other = (oc_node_int(n, "transB", 0) != 0) ^ w->transposed;
    if (w->reshaped || w->t->rank < 2 || (other && w->t->rank != 2))
        return false;
    *axis = (unsigned)(other ? 1 - at : at);
    return at >= 0 && *axis < w->t->rank;
}

/* ---- sparse tensors --------------------------------------------------------------------------------- */

static int64_t index_at(const uint8_t *indices, uint64_t i)
{
    return (int64_t)oc_load_le(indices + 8 * i, 8);
}

/* The linear index of a stored element; false: outside of the tensor. */
static bool linear_index(const struct oc_tensor *t, const uint8_t *indices, uint64_t i, uint64_t *out)
{
    *out = 0;
    if (t->indices->rank != 2) {
        *out = (uint64_t)index_at(indices, i); /* a negative one is larger than every tensor */
        return *out < t->elements;
    }
    for (unsigned k = 0; k < t->rank; k++) {
        int64_t at = index_at(indices, i * t->rank + k);
        if (at < 0 || at >= t->dim[k])
            return false;
        *out = *out * (uint64_t)t->dim[k] + (uint64_t)at;
    }
    return true;
}

/* Marks the stored elements that are not 0. */
static bool mark_stored(const struct oc_analysis *a, const struct oc_tensor *t, const struct elements *values,
                        uint8_t *bits)
{
    struct oc_tensor_bytes b;
    uint64_t per = t->indices->rank == 2 ? t->rank : 1, at;
    bool ok = t->indices->dtype == OC_DT_INT64 && t->indices->elements == values->n * per &&
              oc_tensor_bytes_open(a->model, t->indices, &b);
    if (!ok)
        return false;
    oc_os_need(b.data, (size_t)b.size_bytes);
    ok = b.size_bytes / 8 >= t->indices->elements;
    for (uint64_t i = 0; ok && i < values->n; i++) {
        ok = linear_index(t, b.data, i, &at);
        if (ok && !is_zero(values, i))
            bits[at / 8] |= (uint8_t)(1U << at % 8);
    }
    oc_tensor_bytes_close(&b);
    return ok;
}

/* ---- one weight ------------------------------------------------------------------------------------- */

struct measured {
    const struct oc_analysis *a;
    const struct product *p;
    const struct oc_node *n;
    const struct weight *w;
    struct oc_sparsity_row *row;
};

static void find_pattern(const struct measured *m, const struct elements *e)
{
    unsigned axis;
    if (sum_axis(m->p, m->n, m->w, &axis))
        m->row->pattern = pattern_along(m->w->t, axis, e);
}

static void measure_sparse(const struct measured *m, const struct elements *values, uint64_t zeros)
{
    const struct oc_tensor *t = m->w->t;
    struct elements all = {.n = t->elements};
    m->row->sparse = true;
    m->row->zeros = t->elements - (values->n - zeros);
    if (t->elements >> DENSE_BITS)
        return;
    all.bits = oc_xcalloc((size_t)(t->elements / 8 + 1), 1);
    if (mark_stored(m->a, t, values, all.bits)) {
        find_pattern(m, &all);
    } else {
        m->row->known = false;
        m->row->note = "its indices are not those of the tensor";
    }
    free(all.bits);
}

static void measure(const struct measured *m)
{
    const struct oc_tensor *t = m->w->t, *data = t->storage == OC_STORE_SPARSE ? t->values : t;
    struct oc_sparsity_row *r = m->row;
    struct elements e = {0};
    struct oc_tensor_bytes b;
    uint32_t slot = m->p->zero_point && m->n->n_in > m->p->zero_point ? m->n->in[m->p->zero_point] : OC_NONE;
    if (!describe(data, &e)) {
        r->note = "elements of this type are not read";
        return;
    }
    r->note = read_zero_point(m->a, m->w->zero_point != OC_NONE ? m->w->zero_point : slot, &e);
    if (r->note)
        return;
    if (data->elements > t->elements || !oc_tensor_bytes_open(m->a->model, data, &b)) {
        r->note = "its data is missing or unreadable";
        return;
    }
    r->known = b.size_bytes / e.width >= e.n;
    if (r->known) {
        oc_os_need(b.data, (size_t)b.size_bytes);
        e.data = b.data;
        r->zeros = count_zeros(&e);
        if (data != t)
            measure_sparse(m, &e, r->zeros);
        else
            find_pattern(m, &e);
    }
    oc_tensor_bytes_close(&b);
}

/* Each element of the weight takes part in the same number of MACs. */
static void count_macs(const struct measured *m, bool taps_valid)
{
    struct oc_sparsity_row *r = m->row;
    bool even = r->elements && r->macs % r->elements == 0;
    bool partial = taps_valid && strstr(m->n->op_type, "Conv") != NULL;
    r->counted = r->known && even && !partial;
    if (r->counted)
        r->nonzero_macs = r->macs / r->elements * (r->elements - r->zeros);
    else if (r->known)
        r->note = "its elements take part in different numbers of MACs";
}

/* ---- the model -------------------------------------------------------------------------------------- */

static void sparsity_sum(struct oc_sparsity_info *i, const struct oc_sparsity_row *r, bool first)
{
    i->operators++;
    i->unknown_operators += !r->counted;
    i->macs += r->counted ? r->macs : 0;
    i->nonzero_macs += r->nonzero_macs;
    if (!first)
        return;
    i->weights++;
    i->unread += !r->known;
    i->sparse_stored += r->sparse;
    i->pattern += r->pattern == OC_PATTERN_2_4;
    if (r->known) {
        i->elements += r->elements;
        i->zeros += r->zeros;
        i->stored_bytes += r->stored_bytes;
    }
}

static void add_operator(struct oc_sparsity *s, uint32_t node, bool *seen)
{
    const struct oc_analysis *a = s->a;
    const struct oc_node *n = &a->model->node[node];
    const struct oc_node_cost *k = &a->cost[node];
    struct measured m = {.a = a, .p = product_of(n), .n = n};
    struct weight w;
    if (!m.p || k->state != OC_NODE_NORMAL || a->graph_use[n->graph] != OC_G_RUN ||
        !find_weight(a, n->in[m.p->weight], &w))
        return;
    struct oc_sparsity_row row = {.node = node,
                                  .weight = a->model->value[w.value].name,
                                  .elements = w.t->elements,
                                  .stored_bytes = w.t->size_bytes,
                                  .macs = k->macs};
    m.w = &w;
    m.row = &row;
    measure(&m);
    if (k->quality == OC_EXACT)
        count_macs(&m, a->counting->taps_valid);
    else
        row.note = row.note ? row.note : "its MACs are not exact";
    sparsity_sum(&s->info, &row, !seen[w.value]);
    seen[w.value] = true;
    OC_GROW(s->row, s->n_row, s->cap_row);
    s->row[s->n_row++] = row;
}

int oc_sparsity_make(const struct oc_analysis *a, struct oc_sparsity **out, struct oc_err *err)
{
    OC_ENTRY(err);
    *out = NULL;
    if (a->counting->convention && strcmp(a->counting->convention, "onnxcost") != 0)
        return oc_fail(err, OC_EARG, "zeros are not counted by the convention of another tool");
    struct oc_sparsity *s = oc_xmalloc(sizeof(*s));
    bool *seen = oc_xcalloc((size_t)a->model->n_value + 1, sizeof(*seen));
    *s = (struct oc_sparsity){.a = a};
    for (uint32_t i = 0; i < a->model->n_node; i++)
        add_operator(s, i, seen);
    free(seen);
    *out = s;
    return 0;
}

void oc_sparsity_free(struct oc_sparsity *s)
{
    if (!s)
        return;
    free(s->row);
    oc_arena_free(&s->arena);
    free(s);
}

const struct oc_sparsity_info *oc_sparsity_info(const struct oc_sparsity *s)
{
    return &s->info;
}

size_t oc_sparsity_rows(const struct oc_sparsity *s, const struct oc_sparsity_row **out)
{
    *out = s->row;
    return s->n_row;
}
