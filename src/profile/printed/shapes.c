/* Notations of shapes, by the name that a description gives. */
#include "profile/printed/shapes.h"

#include <string.h>

static struct oc_str text_of(const struct oc_printed_row *row, int role)
{
    return oc_str(row->text[role], strlen(row->text[role]));
}

static struct oc_str without(struct oc_str s, const char *open, const char *close)
{
    while (s.n && strchr(open, s.s[0]))
        s = oc_str_skip(s, 1);
    while (s.n && strchr(close, s.s[s.n - 1]))
        s.n--;
    return s;
}

/* "\"1,3,224,224;64,3,7,7;64\"" and "FLOAT16;FLOAT16;FLOAT" (Ascend). */
static const struct oc_type *list_types(struct oc_arena *a, struct oc_str shapes, struct oc_str names, uint32_t *n)
{
    enum { MAX_TYPES = 64 };
    struct oc_type type[MAX_TYPES];
    *n = 0;
    shapes = without(shapes, "\"[", "\"]");
    names = without(names, "\"", "\"");
    if (!shapes.n || oc_str_eq(shapes, "N/A"))
        return NULL;
    for (bool more = true; more && *n < MAX_TYPES;) {
        struct oc_str name = without(oc_str_take(&names, ';'), "", "\"");
        more = oc_str_chr(shapes, ';') != NULL;
        if (!oc_recorded_shape(a, oc_str_take(&shapes, ';'), oc_recorded_dtype(name), &type[(*n)++])) {
            *n = 0;
            return NULL;
        }
    }
    return OC_COPY_ARRAY(a, type, *n);
}

static void of_lists(struct oc_arena *a, const struct oc_printed_row *x, struct oc_op_row *row)
{
    row->in = list_types(a, text_of(x, OC_ROLE_SHAPES), text_of(x, OC_ROLE_DTYPES), &row->n_in);
    row->out = list_types(a, text_of(x, OC_ROLE_OUT_SHAPES), text_of(x, OC_ROLE_OUT_DTYPES), &row->n_out);
}

/* Only the type of the first input: shapes of fused layers are not those of the nodes of a model (RKNN). */
static void of_dtype(struct oc_arena *a, const struct oc_printed_row *x, struct oc_op_row *row)
{
    struct oc_type in = oc_tensor_type(oc_recorded_dtype(text_of(x, OC_ROLE_DTYPES)), oc_shape_unranked());
    if (!oc_printed_has(x, OC_ROLE_DTYPES))
        return;
    row->in = OC_COPY_ARRAY(a, &in, 1);
    row->n_in = 1;
}

static const struct {
    const char *name;
    void (*types)(struct oc_arena *a, const struct oc_printed_row *x, struct oc_op_row *row);
} notations[] = {{"list", of_lists}, {"dtype", of_dtype}};

void oc_printed_types(struct oc_arena *a, const void *ctx, struct oc_op_row *row)
{
    const struct oc_printed_shapes *x = ctx;
    for (size_t i = 0; i < OC_COUNT(notations); i++)
        if (strcmp(notations[i].name, x->format->shapes) == 0)
            notations[i].types(a, x->row, row);
}
