/* Bytes of a buffer. */
#include "analyze/liveness.h"
#include "base/ck.h"

static uint64_t unknown_bytes(uint8_t *quality)
{
    *quality = OC_UNKNOWN;
    return 0;
}

static uint64_t liveness_bytes_tensor_bytes(const struct oc_analysis *a, const struct oc_type *t,
                                            uint8_t *quality)
{
    uint64_t bytes = 0, count = 1;
    if (!t->shape.ranked || t->dtype == OC_DT_UNDEFINED)
        return unknown_bytes(quality);
    for (unsigned i = 0; i < t->shape.rank; i++) {
        int64_t d = oc_dim_max_value(a->exprs, t->shape.dim[i]);
        if (d < 0 || !oc_mul_u64(count, (uint64_t)d, &count))
            return unknown_bytes(quality);
        if (!oc_is_known(t->shape.dim[i]))
            *quality = oc_worse_quality(*quality, OC_UPPER);
    }
    if (t->dtype == OC_DT_STRING && count)
        *quality = oc_worse_quality(*quality, OC_LOWER);
    return oc_bytes_of(t->dtype, count, &bytes) ? bytes : unknown_bytes(quality);
}

static uint64_t liveness_bytes_type_bytes(const struct oc_analysis *a, const struct oc_type *t,
                                          uint8_t *quality);

static uint64_t sequence_bytes(const struct oc_analysis *a, const struct oc_type *t, uint8_t *quality)
{
    uint64_t bytes = 0;
    int64_t n = t->shape.ranked && t->shape.rank == 1 ? oc_dim_max_value(a->exprs, t->shape.dim[0]) : -1;
    if (n < 0 || (n > 0 && !t->elem))
        return unknown_bytes(quality);
    if (!oc_is_known(t->shape.dim[0]))
        *quality = oc_worse_quality(*quality, OC_UPPER);
    for (int64_t i = 0; t->item && i < n; i++)
        if (!oc_add_u64(bytes, liveness_bytes_type_bytes(a, &t->item[i], quality), &bytes))
            return unknown_bytes(quality);
    if (!t->item && n > 0 && !oc_mul_u64((uint64_t)n, liveness_bytes_type_bytes(a, t->elem, quality), &bytes))
        return unknown_bytes(quality);
    return bytes;
}

static uint64_t liveness_bytes_type_bytes(const struct oc_analysis *a, const struct oc_type *t,
                                          uint8_t *quality)
{
    switch (t->kind) {
    case OC_T_TENSOR:
        return liveness_bytes_tensor_bytes(a, t, quality);
    case OC_T_SEQUENCE:
        return sequence_bytes(a, t, quality);
    case OC_T_OPTIONAL:
        return t->elem ? liveness_bytes_type_bytes(a, t->elem, quality) : unknown_bytes(quality);
    case OC_T_MAP: /* strings count as 0, with quality OC_LOWER */
        *quality = oc_worse_quality(*quality, OC_LOWER);
        return 0;
    default:
        return unknown_bytes(quality);
    }
}

uint64_t oc_live_bytes(const struct oc_live_builder *b, uint32_t value, uint8_t *quality)
{
    const struct oc_type *t = &b->a->type[value];
    const struct oc_value *v = &b->m->value[value];
    uint64_t bytes, rest;
    *quality = OC_EXACT;
    if (t->kind == OC_T_NONE && !v->n_use && !v->graph_output) /* an output without readers */
        return 0;
    bytes = liveness_bytes_type_bytes(b->a, t, quality);
    rest = b->o.align > 1 ? bytes % b->o.align : 0;
    return rest && !oc_add_u64(bytes, b->o.align - rest, &bytes) ? unknown_bytes(quality) : bytes;
}
