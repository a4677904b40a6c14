/* AttributeProto: 1 name, 2 f, 3 i, 4 s, 5 t, 6 g, 7 floats, 8 ints, 9 strings, 10 tensors, 11 graphs, 20
 * type, 21 ref_attr_name, 22 sparse_tensor, 23 sparse_tensors. Lists may be packed or not. */
#include <string.h>

#include "base/little_endian.h"
#include "model/loader.h"

struct counts {
    uint64_t floats, ints, strings, tensors, graphs, sparse;
    uint32_t type; /* given, or derived from the last field seen (IR 1 and 2 had no type) */
    const char *ref;
};

static int load_attr_count_fields(struct oc_loader *l, struct oc_view v, struct counts *k,
                                  struct oc_attr *out)
{
    static const uint8_t type_of[24] = {[2] = OC_ATTR_FLOAT,          [3] = OC_ATTR_INT,
                                        [4] = OC_ATTR_STRING,         [5] = OC_ATTR_TENSOR,
                                        [6] = OC_ATTR_GRAPH,          [7] = OC_ATTR_FLOATS,
                                        [8] = OC_ATTR_INTS,           [9] = OC_ATTR_STRINGS,
                                        [10] = OC_ATTR_TENSORS,       [11] = OC_ATTR_GRAPHS,
                                        [14] = OC_ATTR_TYPE_PROTO,    [15] = OC_ATTR_TYPE_PROTOS,
                                        [22] = OC_ATTR_SPARSE_TENSOR, [23] = OC_ATTR_SPARSE_TENSORS};
    uint32_t given = 0;
    struct oc_wire w = oc_wire_of(v.data, v.n);
    struct oc_field f;
    for (const uint8_t *at = w.p; oc_wire_next(&w, &f); at = w.p) {
        size_t n = 1;
        if (f.num == 7)
            k->floats += n = oc_wire_count(&f, 4);
        else if (f.num == 8)
            k->ints += n = oc_wire_count(&f, 0);
        if (n == SIZE_MAX)
            return oc_load_fail(l, OC_EFORMAT, at, "attribute '%s': a list is truncated", out->name);
        k->strings += f.num == 9;
        k->tensors += f.num == 5 || f.num == 10;
        k->graphs += f.num == 6 || f.num == 11;
        k->sparse += f.num == 22 || f.num == 23;
        if (f.num == 1)
            out->name = oc_load_text(l, &f);
        else if (f.num == 20)
            given = (uint32_t)f.v;
        else if (f.num == 21 && f.n)
            k->ref = oc_load_text(l, &f);
        else if (f.num < 24 && type_of[f.num])
            k->type = type_of[f.num];
    }
    if (given)
        k->type = given;
    uint64_t numbers = k->floats + k->ints, others = k->strings + k->tensors + k->sparse + k->graphs;
    uint64_t longest = numbers > others ? numbers : others;
    if (longest > oc_cap(l->caps, OC_CAP_LIST_ELEMENTS)) {
        oc_load_over(l, OC_CAP_LIST_ELEMENTS, longest, v.data);
        return oc_err_prefix(l->err, "attribute '%.60s'", out->name);
    }
    return oc_load_end(l, &w, "attribute");
}

struct filler { /* output arrays, sized by the counts; NULL for empty lists */
    int64_t *ints;
    float *floats;
    struct oc_bytes *strings;
    struct oc_tensor *tensors;
    uint32_t *graphs;
    uint32_t n_ints, n_floats, n_strings, n_tensors, n_graphs;
};

static struct oc_bytes load_attr_bytes_of(struct oc_loader *l, const struct oc_field *f)
{
    const char *s = oc_strndup(&l->m->arena, f->n ? (const char *)f->data : "", f->n);
    return (struct oc_bytes){.s = s, .n = f->n};
}

static void load_attr_fill_numbers(struct filler *a, const struct oc_field *f)
{
    size_t n = oc_wire_count(f, f->num == 8 ? 0 : 4);
    if (f->num == 8 && n) {
        oc_wire_numbers(f, 0, (uint64_t *)(a->ints + a->n_ints));
        a->n_ints += (uint32_t)n;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = f->type == OC_WIRE_LEN ? 0 : (uint32_t)f->v;
        if (f->type == OC_WIRE_LEN)
            bits = (uint32_t)oc_load_le(f->data + 4 * i, 4);
        /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): counted above */
        memcpy(&a->floats[a->n_floats++], &bits, 4);
    }
}

static int fill_message(struct oc_loader *l, const struct oc_scope *sc, uint32_t owner,
                        const struct oc_field *f, struct filler *a)
{
    struct oc_view part = {f->data, f->n};
    if (f->type != OC_WIRE_LEN)
        return oc_load_fail(l, OC_EFORMAT, NULL, "an attribute's field %u is not a message", f->num);
    if (f->num == 5 || f->num == 10)
        return oc_load_tensor(l, part, &a->tensors[a->n_tensors++]);
    if (f->num == 22 || f->num == 23)
        return oc_load_sparse(l, part, &a->tensors[a->n_tensors++]);
    if (sc->depth + 1 > oc_cap(l->caps, OC_CAP_DEPTH))
        return oc_load_over(l, OC_CAP_DEPTH, 0, f->data);
    uint32_t g = oc_load_new_graph(l);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): counted above */
    a->graphs[a->n_graphs++] = g;
    OC_GROW(l->body, l->n_body, l->cap_body);
    l->body[l->n_body++] = (struct oc_body){.view = part, .graph = g, .owner = owner};
    return 0;
}

static int fill_fields(struct oc_loader *l, const struct oc_scope *sc, uint32_t owner, struct oc_view v,
                       struct filler *a, struct oc_attr *out)
{
    struct oc_wire w = oc_wire_of(v.data, v.n);
    struct oc_field f;
    while (oc_wire_next(&w, &f)) {
        int rc = 0;
        switch (f.num) {
        case 2: {
            uint32_t bits = (uint32_t)f.v;
            memcpy(&out->f, &bits, 4);
            break;
        }
        case 3:
            out->i = (int64_t)f.v;
            break;
        case 4:
            out->s = load_attr_bytes_of(l, &f);
            break;
        case 7:
        case 8:
            load_attr_fill_numbers(a, &f);
            break;
        case 9:
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): counted above */
            a->strings[a->n_strings++] = load_attr_bytes_of(l, &f);
            break;
        case 5:
        case 6:
        case 10:
        case 11:
        case 22:
        case 23:
            rc = fill_message(l, sc, owner, &f, a);
            break;
        default:
            break;
        }
        if (rc)
            return -1;
    }
    return 0;
}

/* Inside a function body: resolves a reference to the call's attribute, or to the function's default. */
static int resolve_reference(struct oc_loader *l, const struct oc_scope *sc, uint32_t owner, const char *ref,
                             struct oc_attr *out, bool *dropped)
{
    const struct oc_call *call = sc->call;
    const struct oc_attr *given = oc_node_attr(&l->m->node[call->node], ref);
    const char *name = out->name;
    if (given) {
        *out = *given;
        out->name = name;
        return 0;
    }
    struct oc_wire w = oc_wire_of(call->fn->view.data, call->fn->view.n);
    struct oc_field f;
    while (oc_wire_next(&w, &f)) {
        if (f.num != 11 || f.type != OC_WIRE_LEN) /* attribute_proto: defaults */
            continue;
        struct oc_attr probe = {.name = ""};
        struct counts k = {0};
        if (load_attr_count_fields(l, (struct oc_view){f.data, f.n}, &k, &probe))
            return -1;
        if (strcmp(probe.name, ref) == 0 && !k.ref) {
            int rc = oc_load_attr(l, sc, owner, (struct oc_view){f.data, f.n}, out, dropped);
            out->name = name;
            return rc;
        }
    }
    *dropped = true;
    return 0;
}

/* Most attributes have no list. */
static void *load_attr_list_of(struct oc_arena *arena, uint64_t n, size_t size)
{
    return n ? oc_alloc_array(arena, n, size) : NULL;
}

int oc_load_attr(struct oc_loader *l, const struct oc_scope *sc, uint32_t owner, struct oc_view v,
                 struct oc_attr *out, bool *dropped)
{
    static const struct oc_attr empty = {.name = "", .s = {.s = ""}, .n = 1};
    static const int64_t no_ints[1];
    static const float no_floats[1];
    static const struct oc_bytes no_strings[1];
    *out = empty;
    *dropped = false;
    struct counts k = {0};
    if (load_attr_count_fields(l, v, &k, out))
        return -1;
    if (k.ref && sc->call)
        return resolve_reference(l, sc, owner, k.ref, out, dropped);
    struct oc_arena *arena = &l->m->arena;
    struct filler a = {.ints = load_attr_list_of(arena, k.ints, sizeof(int64_t)),
                       .floats = load_attr_list_of(arena, k.floats, sizeof(float)),
                       .strings = load_attr_list_of(arena, k.strings, sizeof(struct oc_bytes)),
                       .tensors = load_attr_list_of(arena, k.tensors + k.sparse, sizeof(struct oc_tensor)),
                       .graphs = load_attr_list_of(arena, k.graphs, sizeof(uint32_t))};
    if (fill_fields(l, sc, owner, v, &a, out))
        return -1;
    out->type = k.type <= OC_ATTR_TYPE_PROTOS ? (uint8_t)k.type : OC_ATTR_NONE;
    out->ints = a.ints ? a.ints : no_ints;
    out->floats = a.floats ? a.floats : no_floats;
    out->strings = a.strings ? a.strings : no_strings;
    bool tensors = out->type == OC_ATTR_TENSOR || out->type == OC_ATTR_TENSORS ||
                   out->type == OC_ATTR_SPARSE_TENSOR || out->type == OC_ATTR_SPARSE_TENSORS;
    bool graphs = out->type == OC_ATTR_GRAPH || out->type == OC_ATTR_GRAPHS;
    out->tensors_or_null = tensors && a.n_tensors ? a.tensors : NULL;
    out->graph = graphs && a.n_graphs ? a.graphs : NULL;
    const uint32_t lists[] = {[OC_ATTR_FLOATS] = a.n_floats,         [OC_ATTR_INTS] = a.n_ints,
                              [OC_ATTR_STRINGS] = a.n_strings,       [OC_ATTR_TENSORS] = a.n_tensors,
                              [OC_ATTR_GRAPHS] = a.n_graphs,         [OC_ATTR_TENSOR] = a.n_tensors,
                              [OC_ATTR_SPARSE_TENSOR] = a.n_tensors, [OC_ATTR_SPARSE_TENSORS] = a.n_tensors,
                              [OC_ATTR_GRAPH] = a.n_graphs};
    if (out->type >= OC_ATTR_TENSOR && out->type < OC_COUNT(lists))
        out->n = lists[out->type];
    return 0;
}
