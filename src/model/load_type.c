/* ValueInfoProto: 1 name, 2 type
 * TypeProto: 1 tensor {1 elem_type, 2 shape}, 4 sequence {1 elem_type}, 5 map {1 key_type, 2 value_type},
 *   8 sparse tensor, 9 optional {1 elem_type}.  Shape: 1 dim {1 dim_value, 2 dim_param} */
#include <string.h>

#include "model/loader.h"

#define MAX_TYPE_DEPTH 16

static int load_dim(struct oc_loader *l, struct oc_view v, struct oc_dim *out)
{
    *out = oc_known(-1);
    struct oc_wire w = oc_wire_of(v.data, v.n);
    struct oc_field f;
    while (oc_wire_next(&w, &f)) {
        if (f.num == 1 && f.type == OC_WIRE_VARINT) {
            *out = oc_known((int64_t)f.v);
        } else if (f.num == 2 && f.type == OC_WIRE_LEN && f.n) {
            uint32_t id = l->m->n_symbol;
            const char *name;
            if (oc_map_add(&l->symbols, (const char *)f.data, f.n, &id, &name)) {
                OC_GROW(l->m->symbol, l->m->n_symbol, l->cap_symbol);
                l->m->symbol[l->m->n_symbol++] = name;
            }
            *out = (struct oc_dim){.v = -1, .expr = id + 1};
        }
    }
    if (out->expr == 0 && out->v < 0)
        out->v = -1; /* exporters write -1 for "unknown" */
    return oc_load_end(l, &w, "dimension");
}

static int load_shape(struct oc_loader *l, struct oc_view v, struct oc_shape *out)
{
    struct oc_dim dim[OC_MAX_RANK];
    unsigned n = 0;
    struct oc_wire w = oc_wire_of(v.data, v.n);
    struct oc_field f;
    for (const uint8_t *at = w.p; oc_wire_next(&w, &f); at = w.p) {
        if (f.num != 1 || f.type != OC_WIRE_LEN)
            continue;
        if (n == OC_MAX_RANK)
            return oc_load_fail(l, OC_ELIMIT, at, "shape: more than %d dimensions", OC_MAX_RANK);
        if (load_dim(l, (struct oc_view){f.data, f.n}, &dim[n++]))
            return -1;
    }
    *out = oc_shape_of(&l->m->arena, n, dim);
    return oc_load_end(l, &w, "shape");
}

static int load_tensor_type(struct oc_loader *l, struct oc_view v, struct oc_type *out)
{
    struct oc_wire w = oc_wire_of(v.data, v.n);
    struct oc_field f;
    while (oc_wire_next(&w, &f)) {
        if (f.num == 1 && f.type == OC_WIRE_VARINT)
            out->dtype = f.v < OC_DT_COUNT ? (uint8_t)f.v : OC_DT_UNDEFINED;
        else if (f.num == 2 && f.type == OC_WIRE_LEN &&
                 load_shape(l, (struct oc_view){f.data, f.n}, &out->shape))
            return -1;
    }
    return oc_load_end(l, &w, "tensor type");
}

static int load_type(struct oc_loader *l, struct oc_view v, struct oc_type *out, unsigned depth);

/* The message inside TypeProto that contains an element type: sequence, optional (field 1), map (field 2). */
static int load_element(struct oc_loader *l, struct oc_view v, uint32_t field, struct oc_type *out,
                        unsigned depth)
{
    struct oc_type *elem = OC_NEW(&l->m->arena, struct oc_type);
    struct oc_wire w = oc_wire_of(v.data, v.n);
    struct oc_field f;
    while (oc_wire_next(&w, &f)) {
        if (f.num == field && f.type == OC_WIRE_LEN) {
            if (load_type(l, (struct oc_view){f.data, f.n}, elem, depth + 1))
                return -1;
        } else if (f.num == 1 && f.type == OC_WIRE_VARINT) {
            out->dtype = f.v < OC_DT_COUNT ? (uint8_t)f.v : OC_DT_UNDEFINED; /* key type of a map */
        }
    }
    out->elem = elem;
    return oc_load_end(l, &w, "type");
}

static int load_type(struct oc_loader *l, struct oc_view v, struct oc_type *out, unsigned depth)
{
    *out = (struct oc_type){.kind = OC_T_NONE};
    if (depth > MAX_TYPE_DEPTH)
        return oc_load_fail(l, OC_ELIMIT, v.data, "type: nested deeper than %d", MAX_TYPE_DEPTH);
    struct oc_wire w = oc_wire_of(v.data, v.n);
    struct oc_field f;
    while (oc_wire_next(&w, &f)) {
        if (f.type != OC_WIRE_LEN)
            continue;
        struct oc_view part = {f.data, f.n};
        int rc = 0;
        switch (f.num) {
        case 1:
            out->kind = OC_T_TENSOR;
            rc = load_tensor_type(l, part, out);
            break;
        case 8:
            out->kind = OC_T_SPARSE;
            rc = load_tensor_type(l, part, out);
            break;
        case 4:
            out->kind = OC_T_SEQUENCE;
            rc = load_element(l, part, 1, out, depth);
            break;
        case 9:
            out->kind = OC_T_OPTIONAL;
            rc = load_element(l, part, 1, out, depth);
            break;
        case 5:
            out->kind = OC_T_MAP;
            rc = load_element(l, part, 2, out, depth);
            break;
        default:
            break;
        }
        if (rc)
            return -1;
    }
    return oc_load_end(l, &w, "type");
}

int oc_load_value_info(struct oc_loader *l, struct oc_view v, struct oc_view *name, struct oc_type *type)
{
    *name = (struct oc_view){(const uint8_t *)"", 0};
    *type = (struct oc_type){.kind = OC_T_NONE};
    struct oc_wire w = oc_wire_of(v.data, v.n);
    struct oc_field f;
    while (oc_wire_next(&w, &f)) {
        if (f.num == 1 && f.type == OC_WIRE_LEN)
            *name = oc_load_string(l, &f);
        else if (f.num == 2 && f.type == OC_WIRE_LEN && load_type(l, (struct oc_view){f.data, f.n}, type, 0))
            return -1;
    }
    return oc_load_end(l, &w, "value info");
}
