/* TypeProto to struct oc_type. */
#include <string.h>

#include "model/loader.h"

static struct oc_dim load_dim(struct oc_loader *l, const Oc__Shape__Dimension *d)
{
    const struct oc_dim unknown = {.v = -1};
    switch (d->value_case) {
    case OC__SHAPE__DIMENSION__VALUE_DIM_VALUE:
        return d->dim_value < 0 ? unknown : oc_known(d->dim_value); /* exporters write -1 for "unknown" */
    case OC__SHAPE__DIMENSION__VALUE_DIM_PARAM: {
        uint32_t id = l->m->n_symbol;
        const char *name;
        if (!d->dim_param[0])
            return unknown;
        if (oc_map_add(&l->symbols, d->dim_param, strlen(d->dim_param), &id, &name)) {
            OC_GROW(l->m->symbol, l->m->n_symbol, l->cap_symbol);
            l->m->symbol[l->m->n_symbol++] = name;
        }
        return (struct oc_dim){.v = -1, .expr = id + 1};
    }
    default:
        return unknown;
    }
}

static uint8_t dtype_of(int32_t number)
{
    return number >= 0 && number < OC_DT_COUNT ? (uint8_t)number : OC_DT_UNDEFINED;
}

static int load_tensor_type(struct oc_loader *l, const Oc__Type__Tensor *t, const uint8_t *at,
                            struct oc_type *out)
{
    out->dtype = dtype_of(t->elem_type);
    if (!t->shape)
        return 0;
    struct oc_dim dim[OC_MAX_RANK];
    size_t n = t->shape->n_dim;
    if (n > OC_MAX_RANK)
        return oc_load_fail(l, OC_ELIMIT, at, "shape: more than %d dimensions", OC_MAX_RANK);
    for (size_t i = 0; i < n; i++)
        dim[i] = load_dim(l, t->shape->dim[i]);
    out->shape = oc_shape_of(&l->m->arena, (unsigned)n, dim);
    return 0;
}

static int load_element(struct oc_loader *l, const Oc__Type *t, const uint8_t *at, struct oc_type *out)
{
    struct oc_type *elem = OC_NEW(&l->m->arena, struct oc_type);
    out->elem = elem;
    return oc_load_type(l, t, at, elem);
}

int oc_load_type(struct oc_loader *l, const Oc__Type *t, const uint8_t *at, struct oc_type *out)
{
    *out = (struct oc_type){.kind = OC_T_NONE};
    switch (t ? t->value_case : OC__TYPE__VALUE__NOT_SET) {
    case OC__TYPE__VALUE_TENSOR_TYPE:
        out->kind = OC_T_TENSOR;
        return load_tensor_type(l, t->tensor_type, at, out);
    case OC__TYPE__VALUE_SPARSE_TENSOR_TYPE:
        out->kind = OC_T_SPARSE;
        return load_tensor_type(l, t->sparse_tensor_type, at, out);
    case OC__TYPE__VALUE_SEQUENCE_TYPE:
        out->kind = OC_T_SEQUENCE;
        return load_element(l, t->sequence_type->elem_type, at, out);
    case OC__TYPE__VALUE_OPTIONAL_TYPE:
        out->kind = OC_T_OPTIONAL;
        return load_element(l, t->optional_type->elem_type, at, out);
    case OC__TYPE__VALUE_MAP_TYPE:
        out->kind = OC_T_MAP;
        out->dtype = dtype_of(t->map_type->key_type);
        return load_element(l, t->map_type->value_type, at, out);
    default:
        return 0;
    }
}
