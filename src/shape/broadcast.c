#include "shape/type.h"

/* One axis. Returns false when both sizes are known, differ, and neither is 1. */
static bool broadcast_merge(struct oc_exprs *x, struct oc_dim a, struct oc_dim b, struct oc_dim *out,
                            bool *assumed)
{
    if (oc_same_dim(a, b) || oc_is(b, 1)) {
        *out = a;
    } else if (oc_is(a, 1)) {
        *out = b;
    } else if (oc_is_known(a) || oc_is_known(b)) {
        if (oc_is_known(a) && oc_is_known(b))
            return false;
        *out = oc_is_known(a) ? a : b; /* the unknown size is 1 or equal to the other */
    } else {
        if (assumed)
            *assumed = true;
        if (oc_dim_min_value(x, a) > 1)
            *out = a;
        else
            *out = oc_dim_min_value(x, b) > 1 ? b : oc_dim_max(x, a, b);
    }
    return true;
}

int oc_broadcast(struct oc_arena *a, struct oc_exprs *x, const struct oc_shape *s, const struct oc_shape *t,
                 struct oc_shape *out, bool *assumed)
{
    if (!s->ranked || !t->ranked) {
        *out = oc_shape_unranked();
        return 0;
    }
    struct oc_dim dim[UINT8_MAX];
    unsigned rank = s->rank > t->rank ? s->rank : t->rank;
    bool is_s = s->rank == rank, is_t = t->rank == rank;
    for (unsigned i = 0; i < rank; i++) {
        struct oc_dim d = i + s->rank >= rank ? s->dim[i + s->rank - rank] : oc_known(1);
        struct oc_dim e = i + t->rank >= rank ? t->dim[i + t->rank - rank] : oc_known(1);
        if (!broadcast_merge(x, d, e, &dim[i], assumed))
            return -1;
        is_s = is_s && oc_same_dim(dim[i], d);
        is_t = is_t && oc_same_dim(dim[i], e);
    }
    *out = is_s ? *s : is_t ? *t : oc_shape_of(a, rank, dim);
    return 0;
}
