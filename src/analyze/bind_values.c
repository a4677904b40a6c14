/* Values that the user gives for graph inputs (--value): numbers, or a file with a TensorProto. */
#include <string.h>

#include "analyze/engine.h"
#include "base/str.h"
#include "base/units.h"
#include "onnxcost.h"

static void set_data(struct oc_engine *e, uint32_t value, const struct oc_elem *elem, uint32_t n)
{
    struct oc_data *d = OC_NEW(&e->a->arena, struct oc_data);
    *d = (struct oc_data){.n = n, .e = elem};
    e->a->data[value] = d;
    e->tried[value] = true;
}

static bool parse_elem(unsigned dtype, const char *s, size_t n, struct oc_elem *out)
{
    int64_t i;
    double r;
    unsigned kind = oc_dtype_info(dtype)->kind;
    if (kind == OC_KIND_FLOAT && oc_parse_double(s, n, &r)) {
        *out = oc_elem_real(r);
        return true;
    }
    if (kind == OC_KIND_BOOL && (n == 4 || n == 5) && (!strncmp(s, "true", 4) || !strncmp(s, "false", 5))) {
        *out = oc_elem_int(n == 4);
        return true;
    }
    if ((kind == OC_KIND_INT || kind == OC_KIND_BOOL) && oc_parse_i64(s, n, &i)) {
        *out = oc_elem_int(i);
        return true;
    }
    return false;
}

/* One number for all elements; those of large inputs are not kept. */
static void fill_data(struct oc_engine *e, uint32_t value, struct oc_elem one, uint64_t n)
{
    if (n > OC_MAX_DATA)
        return;
    struct oc_elem *elem = OC_NEW_ARRAY(&e->a->arena, n + 1, struct oc_elem);
    for (uint64_t i = 0; i < n; i++)
        elem[i] = one;
    set_data(e, value, elem, (uint32_t)n);
}

static int value_from_text(struct oc_engine *e, uint32_t value, const char *text)
{
    const struct oc_value *v = &e->m->value[value];
    uint32_t n = 1, k = 0;
    for (const char *p = text; *p; p++)
        n += *p == ',';
    if (n > OC_MAX_DATA)
        return oc_fail(e->err, OC_EARG, "--value %s: more than %d elements", v->name, OC_MAX_DATA);
    struct oc_elem *elem = OC_NEW_ARRAY(&e->a->arena, n, struct oc_elem);
    for (const char *p = text; k < n; k++) {
        size_t len = strcspn(p, ",");
        if (!parse_elem(e->a->type[value].dtype, p, len, &elem[k]))
            return oc_fail(e->err, OC_EARG, "--value %s: '%.*s' is not a %s", v->name, (int)len, p,
                           oc_dtype_info(e->a->type[value].dtype)->name);
        p += len + (p[len] == ',');
    }
    struct oc_type t = e->a->type[value];
    struct oc_dim count = oc_shape_count(e->a->exprs, &t.shape);
    if (n == 1 && t.shape.ranked && t.shape.rank && oc_is_known(count)) {
        fill_data(e, value, elem[0], (uint64_t)count.v);
        return 0;
    }
    if (t.shape.ranked && t.shape.rank == 1) /* the list determines the length */
        t.shape = oc_shape_1d(&e->a->arena, oc_known(n));
    count = oc_shape_count(e->a->exprs, &t.shape);
    if (t.shape.ranked && !oc_is(count, n))
        return oc_fail(e->err, OC_EARG, "--value %s: %u elements for %s", v->name, n,
                       oc_type_text(&e->a->arena, e->a->exprs, &t));
    oc_set_value(e, value, &t);
    set_data(e, value, elem, n);
    return 0;
}

static int value_from_file(struct oc_engine *e, uint32_t value, const char *path)
{
    struct oc_model *holder;
    struct oc_tensor t;
    if (oc_tensor_load(path, &holder, &t, e->err))
        return -1;
    if (t.dtype == OC_DT_UINT16 && e->a->type[value].dtype == OC_DT_BFLOAT16)
        t.dtype = OC_DT_BFLOAT16; /* numpy has no such type: tools store the bits as integers */
    struct oc_dim dim[OC_MAX_RANK];
    for (unsigned i = 0; i < t.rank; i++)
        dim[i] = oc_known(t.dim[i]);
    struct oc_type type = oc_tensor_type(t.dtype, oc_shape_of(&e->a->arena, t.rank, dim));
    oc_set_value(e, value, &type);
    if (t.elements <= OC_MAX_DATA) {
        struct oc_elem *elem = OC_NEW_ARRAY(&e->a->arena, t.elements, struct oc_elem);
        if (oc_tensor_elems(holder, &t, (uint32_t)t.elements, elem, &e->a->arena))
            set_data(e, value, elem, (uint32_t)t.elements);
    }
    oc_model_free(holder);
    return 0;
}

int oc_bind_values(struct oc_engine *e)
{
    for (size_t i = 0; i < e->o->n_value; i++) {
        const struct oc_value_bind *b = &e->o->value[i];
        uint32_t value = oc_find_input(e, b->input);
        if (value == OC_NONE && e->o->skip_unused)
            continue;
        if (value == OC_NONE)
            return oc_fail(e->err, OC_EARG, "no graph input is named '%s'", b->input);
        if (b->text[0] == '@' ? value_from_file(e, value, b->text + 1) : value_from_text(e, value, b->text))
            return -1;
        e->varies[value] = e->m->value[value].constant ? 0 : OC_VARIES_INPUT;
        e->any_varies = true;
    }
    return 0;
}
