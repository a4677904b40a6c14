/* Notations of shapes, by the name that a description gives. */
#include "profile/printed/shapes.h"

#include <string.h>

static struct oc_str without(struct oc_str s, const char *open, const char *close)
{
    while (s.n && strchr(open, s.s[0]))
        s = oc_str_skip(s, 1);
    while (s.n && strchr(close, s.s[s.n - 1]))
        s.n--;
    return s;
}

/* "\"1,3,224,224;64,3,7,7;64\"" and "FLOAT16;FLOAT16;FLOAT" (Ascend). */
static const struct oc_type *list_types(struct oc_arena *a, struct oc_str shapes, struct oc_str names,
                                        uint32_t *n)
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
    row->in =
        list_types(a, oc_printed_text(x, OC_ROLE_SHAPES), oc_printed_text(x, OC_ROLE_DTYPES), &row->n_in);
    row->out = list_types(a, oc_printed_text(x, OC_ROLE_OUT_SHAPES), oc_printed_text(x, OC_ROLE_OUT_DTYPES),
                          &row->n_out);
}

/* "[[1, 3, 224, 224], [64, 3, 7, 7], []]"; a list that the writer cut with "..." has none. */
static void of_torch(struct oc_arena *a, const struct oc_printed_row *x, struct oc_op_row *row)
{
    row->in = oc_recorded_sizes(a, oc_printed_text(x, OC_ROLE_SHAPES), &row->n_in);
}

/* Only the type of the first input: shapes of fused layers are not those of the nodes of a model (RKNN). */
static void of_dtype(struct oc_arena *a, const struct oc_printed_row *x, struct oc_op_row *row)
{
    struct oc_type in =
        oc_tensor_type(oc_recorded_dtype(oc_printed_text(x, OC_ROLE_DTYPES)), oc_shape_unranked());
    if (!oc_printed_has(x, OC_ROLE_DTYPES))
        return;
    row->in = OC_COPY_ARRAY(a, &in, 1);
    row->n_in = 1;
}

static const struct oc_type *web_types(struct oc_arena *a, struct oc_str s, const char *what, uint32_t *n)
{
    enum { MAX_TYPES = 32 };
    struct oc_type type[MAX_TYPES];
    *n = 0;
    const char *p, *end = s.s + s.n;
    while (*n < MAX_TYPES && (p = oc_str_find(s, what))) {
        const char *open = oc_find(p, (size_t)(end - p), ": [", 3);
        const char *close = open ? memchr(open, ']', (size_t)(end - open)) : NULL;
        const char *bar = close ? oc_find(close, (size_t)(end - close), " | ", 3) : NULL;
        const char *stop = bar ? memchr(bar, ',', (size_t)(end - bar)) : NULL;
        if (!stop || !oc_recorded_shape(a, (struct oc_str){open + 3, (size_t)(close - open - 3)},
                                        oc_recorded_dtype(oc_csv_between(bar + 3, stop)), &type[*n]))
            break;
        ++*n;
        s = (struct oc_str){stop, (size_t)(end - stop)};
    }
    return *n ? OC_COPY_ARRAY(a, type, *n) : NULL;
}

/* A kernel may run several programs: the shapes of a helper (a transposition) are not those of the node. */
static bool is_main_program(struct oc_str type, struct oc_str program)
{
    char text[64];
    if (!program.n || !type.n || type.n >= sizeof(text))
        return true;
    memcpy(text, type.s, type.n);
    text[type.n] = '\0';
    bool product = oc_csv_same(type, "Conv") || oc_csv_same(type, "Gemm") || oc_csv_same(type, "MatMul");
    return oc_str_find(program, text) || (product && oc_str_find(program, "MatMul"));
}

static void of_web(struct oc_arena *a, const struct oc_printed_row *x, struct oc_op_row *row)
{
    if (!is_main_program(row->type, row->provider))
        return;
    row->in = web_types(a, oc_printed_text(x, OC_ROLE_SHAPES), "input[", &row->n_in);
    row->out = web_types(a, oc_printed_text(x, OC_ROLE_SHAPES), "output[", &row->n_out);
}

static const struct {
    const char *name;
    void (*types)(struct oc_arena *a, const struct oc_printed_row *x, struct oc_op_row *row);
} notations[] = {{"list", of_lists},
                 {"torch", of_torch},
                 {"dtype", of_dtype},
                 {"web", of_web},
                 {"onednn", oc_printed_onednn_types}};

void oc_printed_types(struct oc_arena *a, const void *ctx, struct oc_op_row *row)
{
    const struct oc_printed_shapes *x = ctx;
    for (size_t i = 0; i < OC_COUNT(notations); i++)
        if (strcmp(notations[i].name, x->format->shapes) == 0)
            notations[i].types(a, x->row, row);
}

struct oc_str oc_printed_shape_key(const struct oc_printed_row *row, const char *notation)
{
    struct oc_str program = oc_printed_text(row, OC_ROLE_PROVIDER);
    bool helper = notation && strcmp(notation, "web") == 0 &&
                  !is_main_program(oc_printed_text(row, OC_ROLE_TYPE), program);
    return helper ? program : oc_printed_text(row, OC_ROLE_SHAPES);
}
