#include "ops/move.h"

#include "ops/fold.h"

static struct oc_list from_attr(struct oc_op_ctx *c, const int64_t *v, uint32_t n)
{
    struct oc_elem *e = oc_new_elems(c, n);
    for (uint32_t i = 0; i < n; i++)
        e[i] = oc_elem_int(v[i]);
    return (struct oc_list){.e = e, .n = n, .present = true, .sized = true};
}

/* Old operators give sizes in the type of their data: integral reals are treated as integers. */
static struct oc_list from_data(struct oc_op_ctx *c, const struct oc_data *d)
{
    struct oc_list l = {.e = d->e, .n = d->n, .present = true, .sized = true};
    if (d->n == 0 || d->e[0].kind != OC_E_REAL)
        return l;
    struct oc_elem *e = oc_new_elems(c, d->n);
    for (uint32_t i = 0; i < d->n; i++) {
        double r;
        if (oc_elem_known_real(&d->e[i], &r) && r > -1e15 && r < 1e15 && r == (double)(int64_t)r)
            e[i] = oc_elem_int((int64_t)r);
    }
    l.e = e;
    return l;
}

struct oc_list oc_list_of(struct oc_op_ctx *c, const char *attr, unsigned slot)
{
    uint32_t n = 0;
    const int64_t *v = attr ? oc_attr_ints(c, attr, &n) : NULL;
    if (v)
        return from_attr(c, v, n);
    if (!oc_in(c, slot))
        return (struct oc_list){0};
    const struct oc_data *d = oc_in_value(c, slot);
    if (d)
        return from_data(c, d);
    if (!oc_fold_count(oc_in_shape(c, slot), &n))
        return (struct oc_list){.present = true};
    return (struct oc_list){.e = oc_new_elems(c, n), .n = n, .present = true, .sized = true};
}

bool oc_list_known(const struct oc_list *l)
{
    int64_t v;
    for (uint32_t i = 0; i < l->n; i++)
        if (!oc_elem_known_int(&l->e[i], &v))
            return false;
    return l->sized;
}

int oc_list_axes(struct oc_op_ctx *c, const struct oc_list *l, unsigned rank, unsigned *axis)
{
    bool seen[OC_MAX_RANK] = {false};
    if (rank > OC_MAX_RANK || l->n > OC_MAX_RANK)
        return oc_op_fail(c, "%u axes for rank %u", (unsigned)l->n, rank);
    for (uint32_t i = 0; i < l->n; i++) {
        int64_t v = 0;
        if (!oc_elem_known_int(&l->e[i], &v) || !oc_axis(v, rank, &axis[i]))
            return oc_op_fail(c, "axis %lld is out of range for rank %u", (long long)v, rank);
        if (seen[axis[i]])
            return oc_op_fail(c, "axis %lld is listed twice", (long long)v);
        seen[axis[i]] = true;
    }
    return 0;
}

int oc_attr_axis(struct oc_op_ctx *c, int64_t otherwise, unsigned rank, unsigned *axis)
{
    int64_t v = oc_attr_i(c, "axis", otherwise);
    if (oc_axis(v, rank, axis))
        return 0;
    return oc_op_fail(c, "axis %lld is out of range for rank %u", (long long)v, rank);
}

struct oc_dim oc_fresh_axis(struct oc_op_ctx *c, unsigned axis, int64_t max)
{
    return oc_op_fresh_dim(c, oc_printf(c->arena, "%u", axis), max);
}

struct oc_shape oc_fresh_shape(struct oc_op_ctx *c, unsigned rank)
{
    struct oc_dim d[OC_MAX_RANK];
    if (rank > OC_MAX_RANK)
        return oc_shape_unranked();
    for (unsigned i = 0; i < rank; i++)
        d[i] = oc_fresh_axis(c, i, -1);
    return oc_shape_of(c->arena, rank, d);
}

struct oc_dim oc_elem_to_dim(struct oc_op_ctx *c, const struct oc_elem *e, unsigned axis, int64_t max)
{
    return e->kind == OC_E_INT ? e->i : oc_fresh_axis(c, axis, max);
}

int64_t oc_bound(struct oc_op_ctx *c, struct oc_dim d)
{
    return oc_is_known(d) && d.v < 0 ? -1 : oc_dim_max_value(c->exprs, d);
}

bool oc_walk_of(const struct oc_shape *s, struct oc_walk *w)
{
    uint32_t n;
    if (!oc_fold_count(s, &n) || s->rank > OC_MAX_RANK)
        return false;
    int64_t stride = 1;
    w->rank = s->rank;
    for (unsigned i = s->rank; i-- > 0;) {
        w->size[i] = s->dim[i].v;
        w->start[i] = 0;
        w->step[i] = 1;
        w->wrap[i] = s->dim[i].v > 0 ? s->dim[i].v : 1;
        w->stride[i] = stride;
        stride *= w->wrap[i];
    }
    return true;
}

static bool walk_count(const struct oc_walk *w, uint32_t *n)
{
    uint64_t count = 1;
    for (unsigned i = 0; i < w->rank; i++) {
        if (w->size[i] < 0 || w->size[i] > OC_MAX_DATA || count > OC_MAX_DATA)
            return false;
        count *= (uint64_t)w->size[i];
    }
    *n = (uint32_t)count;
    return count <= OC_MAX_DATA;
}

void oc_walk_data(struct oc_op_ctx *c, unsigned out_slot, const struct oc_data *d, const struct oc_walk *w)
{
    uint32_t n;
    if (!d || !walk_count(w, &n))
        return;
    struct oc_elem *e = oc_new_elems(c, n);
    for (uint32_t at = 0; at < n; at++) {
        int64_t from = 0;
        uint32_t rest = at;
        for (unsigned i = w->rank; i-- > 0;) {
            int64_t k = rest % (uint32_t)w->size[i];
            rest /= (uint32_t)w->size[i];
            from += (w->start[i] + k * w->step[i]) % w->wrap[i] * w->stride[i];
        }
        if (from < 0 || from >= (int64_t)d->n)
            return;
        e[at] = d->e[from];
    }
    oc_set_data(c, out_slot, e, n);
}

uint64_t oc_c_part(struct oc_op_ctx *c, unsigned slot, uint64_t elements)
{
    return oc_c_bytes(c, oc_in_dtype(c, slot), elements);
}

unsigned oc_clog2(uint64_t n)
{
    unsigned k = 0;
    while (k < 63 && (UINT64_C(1) << k) < n)
        k++;
    return k;
}

const char *oc_text_of(struct oc_op_ctx *c, const struct oc_shape *s)
{
    return oc_shape_text(c->arena, c->exprs, s, ",");
}
