/* Shapes in the lines of oneDNN verbose: benchdnn's descriptions of problems, "mb1_ic3oc64_ih224oh112kh7sh2dh0ph3_iw224ow112kw7",
 * "mb1ic4096oc4096", "128x3584:3584x37888", and element types of its arguments. */
#include <string.h>

#include "base/units.h"
#include "profile/printed/shapes.h"

enum { MAX_IN = 3 };

struct line {
    struct oc_str memory, problem;
    struct oc_str src, weights, bias, dst; /* element types, "" if none */
};

/* "src_f32::blocked:ab:f0 wei:bf16:a:blocked:ab::f0": the element type of the argument. */
static struct oc_str onednn_dtype_of(struct oc_str memory, const char *arg)
{
    struct oc_str s = memory;
    size_t n = strlen(arg);
    for (struct oc_str w = oc_csv_word(&s); w.n; w = oc_csv_word(&s)) {
        if (!oc_str_starts(w, arg))
            continue;
        struct oc_str rest = {w.s + n, w.n - n};
        while (rest.n && oc_is_digit(rest.s[0]))
            rest = oc_str_skip(rest, 1);
        if (!rest.n || (rest.s[0] != '_' && rest.s[0] != ':'))
            continue;
        rest = oc_str_skip(rest, 1);
        struct oc_str type = oc_str_take(&rest, ':');
        return oc_csv_same(type, "undef") ? (struct oc_str){"", 0} : type;
    }
    return (struct oc_str){"", 0};
}

/* The number after a key of letters: "ic" in "mb2_g2ic4oc6"; 0: no such key. */
static int64_t onednn_number_of(struct oc_str problem, const char *key)
{
    size_t n = strlen(key);
    for (size_t i = 0; i < problem.n;) {
        size_t from = i, digits;
        while (i < problem.n && !oc_is_digit(problem.s[i]))
            i++;
        for (digits = i; i < problem.n && oc_is_digit(problem.s[i]);)
            i++;
        while (from < digits && problem.s[from] == '_')
            from++;
        int64_t v;
        if (digits - from == n && memcmp(problem.s + from, key, n) == 0 &&
            oc_parse_i64(problem.s + digits, i - digits, &v))
            return v;
    }
    return 0;
}

static struct oc_type onednn_tensor(struct oc_arena *a, struct oc_str dtype, const int64_t *v, unsigned n)
{
    struct oc_dim dim[8];
    unsigned rank = 0;
    for (unsigned i = 0; i < n; i++)
        if (v[i] > 0)
            dim[rank++] = oc_known(v[i]);
    return oc_tensor_type(oc_recorded_dtype(dtype), oc_shape_of(a, rank, dim));
}

static void set_types(struct oc_arena *a, struct oc_op_row *row, const struct oc_type *in, uint32_t n_in,
                      struct oc_type out)
{
    row->in = OC_COPY_ARRAY(a, in, n_in);
    row->n_in = n_in;
    row->out = OC_COPY_ARRAY(a, &out, 1);
    row->n_out = 1;
}

/* Channels are those of all groups; a dimension that is not printed does not exist. */
static void convolution(struct oc_arena *a, const void *line, struct oc_op_row *row)
{
    const struct line *l = line;
    struct oc_str p = l->problem;
    int64_t g = onednn_number_of(p, "g"), ic = onednn_number_of(p, "ic"), oc = onednn_number_of(p, "oc"),
            mb = onednn_number_of(p, "mb");
    struct oc_type in[MAX_IN];
    g = g ? g : 1;
    if (mb < 1 || ic < 1 || oc < 1 || ic % g || onednn_number_of(p, "ow") < 1)
        return;
    in[0] = onednn_tensor(
        a, l->src,
        (int64_t[]){mb, ic, onednn_number_of(p, "id"), onednn_number_of(p, "ih"), onednn_number_of(p, "iw")},
        5);
    in[1] = onednn_tensor(a, l->weights,
                          (int64_t[]){oc, ic / g, onednn_number_of(p, "kd"), onednn_number_of(p, "kh"),
                                      onednn_number_of(p, "kw")},
                          5);
    in[2] = onednn_tensor(a, l->bias, (int64_t[]){oc}, 1);
    struct oc_type out = onednn_tensor(
        a, l->dst,
        (int64_t[]){mb, oc, onednn_number_of(p, "od"), onednn_number_of(p, "oh"), onednn_number_of(p, "ow")},
        5);
    set_types(a, row, in, l->bias.n ? 3 : 2, out);
}

static void inner_product(struct oc_arena *a, const void *line, struct oc_op_row *row)
{
    const struct line *l = line;
    static const char *const spatial[] = {"id", "ih", "iw"};
    int64_t mb = onednn_number_of(l->problem, "mb"), oc = onednn_number_of(l->problem, "oc"),
            k = onednn_number_of(l->problem, "ic");
    for (size_t i = 0; i < OC_COUNT(spatial); i++) {
        int64_t v = onednn_number_of(l->problem, spatial[i]);
        if (v > 0 && __builtin_mul_overflow(k, v, &k))
            return;
    }
    if (mb < 1 || oc < 1 || k < 1)
        return;
    struct oc_type in[MAX_IN] = {onednn_tensor(a, l->src, (int64_t[]){mb, k}, 2),
                                 onednn_tensor(a, l->weights, (int64_t[]){k, oc}, 2),
                                 onednn_tensor(a, l->bias, (int64_t[]){oc}, 1)},
                   out = onednn_tensor(a, l->dst, (int64_t[]){mb, oc}, 2);
    set_types(a, row, in, l->bias.n ? 3 : 2, out);
}

/* The n-th of shapes separated by ':'. */
static bool onednn_shape_at(struct oc_arena *a, struct oc_str s, unsigned n, struct oc_str dtype,
                            struct oc_type *out)
{
    for (unsigned i = 0; s.n; i++) {
        struct oc_str part = oc_str_take(&s, ':');
        while (part.n && !oc_is_digit(part.s[part.n - 1])) /* "8x16n\"name\"" */
            part.n--;
        if (i == n)
            return part.n && oc_recorded_shape(a, part, oc_recorded_dtype(dtype), out);
    }
    return false;
}

static void matmul(struct oc_arena *a, const void *line, struct oc_op_row *row)
{
    const struct line *l = line;
    struct oc_type in[2];
    struct oc_dim dim[OC_MAX_RANK];
    if (!onednn_shape_at(a, l->problem, 0, l->src, &in[0]) ||
        !onednn_shape_at(a, l->problem, 1, l->weights, &in[1]))
        return;
    unsigned rank = in[0].shape.rank;
    if (rank < 2 || in[1].shape.rank != rank)
        return;
    for (unsigned i = 0; i < rank; i++) {
        int64_t x = in[0].shape.dim[i].v, y = in[1].shape.dim[i].v;
        dim[i] = oc_known(i + 2 == rank ? x : i + 1 == rank ? y : x > y ? x : y);
    }
    set_types(a, row, in, 2, oc_tensor_type(oc_recorded_dtype(l->dst), oc_shape_of(a, rank, dim)));
}

static void one_to_one(struct oc_arena *a, const void *line, struct oc_op_row *row)
{
    const struct line *l = line;
    struct oc_type x;
    if (onednn_shape_at(a, l->problem, 0, l->src, &x))
        set_types(a, row, &x, 1, x);
}

static void onednn_binary(struct oc_arena *a, const void *line, struct oc_op_row *row)
{
    const struct line *l = line;
    struct oc_type in[2], out;
    struct oc_exprs *x = oc_exprs_new(a);
    if (onednn_shape_at(a, l->problem, 0, l->src, &in[0]) &&
        onednn_shape_at(a, l->problem, 1, l->src, &in[1]) &&
        oc_broadcast(a, x, &in[0].shape, &in[1].shape, &out.shape, NULL) == 0)
        set_types(a, row, in, 2, oc_tensor_type(oc_recorded_dtype(l->dst), out.shape));
    oc_exprs_free(x);
}

static void onednn_read_types(struct line *l)
{
    l->src = onednn_dtype_of(l->memory, "src");
    if (!l->src.n)
        l->src = onednn_dtype_of(l->memory, "data");
    l->weights = onednn_dtype_of(l->memory, "wei");
    l->bias = onednn_dtype_of(l->memory, "bia");
    l->dst = onednn_dtype_of(l->memory, "dst");
    if (!l->dst.n)
        l->dst = l->src;
}

static const struct {
    const char *primitive;
    void (*types)(struct oc_arena *a, const void *line, struct oc_op_row *row);
} primitives[] = {{"convolution", convolution}, {"inner_product", inner_product}, {"matmul", matmul},
                  {"gemm_api", matmul},         {"eltwise", one_to_one},          {"softmax", one_to_one},
                  {"binary", onednn_binary}};

void oc_printed_onednn_types(struct oc_arena *a, const struct oc_printed_row *x, struct oc_op_row *row)
{
    struct line l = {.memory = row->shapes, .problem = oc_printed_text(x, OC_ROLE_DTYPES)};
    struct oc_str primitive = oc_printed_text(x, OC_ROLE_OUT_DTYPES);
    onednn_read_types(&l);
    for (size_t i = 0; i < OC_COUNT(primitives); i++)
        if (oc_str_eq(primitive, primitives[i].primitive))
            primitives[i].types(a, &l, row);
}
