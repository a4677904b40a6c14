/* Lines of oneDNN verbose, from DNNL 0.x to oneDNN 3.x:
 *
 *   [m]kldnn_verbose,exec,PRIMITIVE,IMPL,PROP,MEMORY,AUX,PROBLEM,MS
 *   dnnl_verbose,exec,ENGINE,PRIMITIVE,IMPL,PROP,MEMORY,ATTRIBUTES,AUX,PROBLEM,MS
 *   onednn_verbose[,v1][,TIMESTAMP][,primitive],exec,ENGINE,..
 *
 * PROBLEM is benchdnn's description: "mb1_ic3oc64_ih224oh112kh7sh2dh0ph3_iw224ow112kw7sw2dw0pw3",
 * "mb1ic4096oc4096", "128x3584:3584x37888", "1x3x224x224". */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "profile/formats/op_logs.h"
#include "profile/recorded_types.h"
#include "profile/core/timeline.h"

enum { MAX_FIELDS = 32, MAX_IN = 3 };

struct line {
    struct oc_str primitive, impl, prop, memory, aux, problem;
    struct oc_str src, weights, bias, dst; /* element types, "" if none */
};

bool oc_onednn_is_line(struct oc_str line)
{
    const char *exec = oc_str_find(line, "_verbose,");
    return exec && exec > line.s + 2 && oc_str_find(line, "nn") && oc_str_find(line, ",exec,");
}

static size_t onednn_lines_split(struct oc_str s, struct oc_str *field)
{
    size_t n = 0;
    while (n < MAX_FIELDS) {
        const char *comma = oc_str_chr(s, ',');
        size_t k = comma ? (size_t)(comma - s.s) : s.n;
        field[n++] = oc_csv_trim((struct oc_str){s.s, k});
        if (!comma)
            break;
        s = oc_str_skip(s, k + 1);
    }
    return n;
}

/* "src_f32::blocked:ab:f0 wei:bf16:a:blocked:ab::f0": the element type of the argument. */
static struct oc_str onednn_lines_dtype_of(struct oc_str memory, const char *arg)
{
    struct oc_str s = memory;
    size_t n = strlen(arg);
    for (struct oc_str w = oc_csv_word(&s); w.n; w = oc_csv_word(&s)) {
        if (!oc_str_starts(w, arg))
            continue;
        struct oc_str rest = {w.s + n, w.n - n};
        while (rest.n && rest.s[0] >= '0' && rest.s[0] <= '9')
            rest = oc_str_skip(rest, 1);
        if (!rest.n || (rest.s[0] != '_' && rest.s[0] != ':'))
            continue;
        const char *colon = memchr(rest.s + 1, ':', rest.n - 1);
        struct oc_str type = {rest.s + 1, colon ? (size_t)(colon - rest.s - 1) : rest.n - 1};
        return oc_csv_same(type, "undef") ? (struct oc_str){"", 0} : type;
    }
    return (struct oc_str){"", 0};
}

/* The number after a key of letters: "ic" in "mb2_g2ic4oc6"; 0: no such key. */
static int64_t onednn_lines_number_of(struct oc_str problem, const char *key)
{
    size_t n = strlen(key);
    for (size_t i = 0; i < problem.n;) {
        size_t from = i, digits;
        while (i < problem.n && (problem.s[i] < '0' || problem.s[i] > '9'))
            i++;
        for (digits = i; i < problem.n && problem.s[i] >= '0' && problem.s[i] <= '9';)
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

static struct oc_type onednn_lines_tensor(struct oc_arena *a, struct oc_str dtype, const int64_t *v,
                                          unsigned n)
{
    struct oc_dim dim[8];
    unsigned rank = 0;
    for (unsigned i = 0; i < n; i++)
        if (v[i] > 0)
            dim[rank++] = oc_known(v[i]);
    return oc_tensor_type(oc_recorded_dtype(dtype), oc_shape_of(a, rank, dim));
}

/* Channels are those of all groups; a dimension that is not printed does not exist. */
static void convolution(struct oc_arena *a, const void *line, struct oc_op_row *row)
{
    const struct line *l = line;
    struct oc_str p = l->problem;
    int64_t g = onednn_lines_number_of(p, "g"), ic = onednn_lines_number_of(p, "ic"),
            oc = onednn_lines_number_of(p, "oc"), mb = onednn_lines_number_of(p, "mb");
    struct oc_type in[MAX_IN];
    g = g ? g : 1;
    if (mb < 1 || ic < 1 || oc < 1 || ic % g || onednn_lines_number_of(p, "ow") < 1)
        return;
    in[0] = onednn_lines_tensor(a, l->src,
                                (int64_t[]){mb, ic, onednn_lines_number_of(p, "id"),
                                            onednn_lines_number_of(p, "ih"), onednn_lines_number_of(p, "iw")},
                                5);
    in[1] = onednn_lines_tensor(a, l->weights,
                                (int64_t[]){oc, ic / g, onednn_lines_number_of(p, "kd"),
                                            onednn_lines_number_of(p, "kh"), onednn_lines_number_of(p, "kw")},
                                5);
    in[2] = onednn_lines_tensor(a, l->bias, (int64_t[]){oc}, 1);
    struct oc_type out =
        onednn_lines_tensor(a, l->dst,
                            (int64_t[]){mb, oc, onednn_lines_number_of(p, "od"),
                                        onednn_lines_number_of(p, "oh"), onednn_lines_number_of(p, "ow")},
                            5);
    row->n_in = l->bias.n ? 3 : 2;
    row->in = OC_COPY_ARRAY(a, in, row->n_in);
    row->out = OC_COPY_ARRAY(a, &out, 1);
    row->n_out = 1;
}

static void inner_product(struct oc_arena *a, const void *line, struct oc_op_row *row)
{
    const struct line *l = line;
    static const char *const spatial[] = {"id", "ih", "iw"};
    int64_t mb = onednn_lines_number_of(l->problem, "mb"), oc = onednn_lines_number_of(l->problem, "oc"),
            k = onednn_lines_number_of(l->problem, "ic");
    for (size_t i = 0; i < OC_COUNT(spatial); i++) {
        int64_t v = onednn_lines_number_of(l->problem, spatial[i]);
        if (v > 0 && __builtin_mul_overflow(k, v, &k))
            return;
    }
    if (mb < 1 || oc < 1 || k < 1)
        return;
    struct oc_type in[MAX_IN] = {onednn_lines_tensor(a, l->src, (int64_t[]){mb, k}, 2),
                                 onednn_lines_tensor(a, l->weights, (int64_t[]){k, oc}, 2),
                                 onednn_lines_tensor(a, l->bias, (int64_t[]){oc}, 1)},
                   out = onednn_lines_tensor(a, l->dst, (int64_t[]){mb, oc}, 2);
    row->n_in = l->bias.n ? 3 : 2;
    row->in = OC_COPY_ARRAY(a, in, row->n_in);
    row->out = OC_COPY_ARRAY(a, &out, 1);
    row->n_out = 1;
}

/* The n-th of shapes separated by ':'. */
static bool onednn_lines_shape_at(struct oc_arena *a, struct oc_str s, unsigned n, struct oc_str dtype,
                                  struct oc_type *out)
{
    for (unsigned i = 0;; i++) {
        const char *colon = oc_str_chr(s, ':');
        struct oc_str part = {s.s, colon ? (size_t)(colon - s.s) : s.n};
        while (part.n && (part.s[part.n - 1] < '0' || part.s[part.n - 1] > '9')) /* "8x16n\"name\"" */
            part.n--;
        if (i == n)
            return part.n && oc_recorded_shape(a, part, oc_recorded_dtype(dtype), out);
        if (!colon)
            return false;
        s = oc_str_from(s, colon + 1);
    }
}

static void matmul(struct oc_arena *a, const void *line, struct oc_op_row *row)
{
    const struct line *l = line;
    struct oc_type in[2], out;
    struct oc_dim dim[OC_MAX_RANK];
    if (!onednn_lines_shape_at(a, l->problem, 0, l->src, &in[0]) ||
        !onednn_lines_shape_at(a, l->problem, 1, l->weights, &in[1]))
        return;
    unsigned rank = in[0].shape.rank;
    if (rank < 2 || in[1].shape.rank != rank)
        return;
    for (unsigned i = 0; i < rank; i++) {
        int64_t x = in[0].shape.dim[i].v, y = in[1].shape.dim[i].v;
        dim[i] = oc_known(i + 2 == rank ? x : i + 1 == rank ? y : x > y ? x : y);
    }
    out = oc_tensor_type(oc_recorded_dtype(l->dst), oc_shape_of(a, rank, dim));
    row->in = OC_COPY_ARRAY(a, in, 2);
    row->out = OC_COPY_ARRAY(a, &out, 1);
    row->n_in = 2;
    row->n_out = 1;
}

static void one_to_one(struct oc_arena *a, const void *line, struct oc_op_row *row)
{
    const struct line *l = line;
    struct oc_type x, y;
    if (!onednn_lines_shape_at(a, l->problem, 0, l->src, &x))
        return;
    y = x;
    row->in = OC_COPY_ARRAY(a, &x, 1);
    row->out = OC_COPY_ARRAY(a, &y, 1);
    row->n_in = row->n_out = 1;
}

static void onednn_lines_binary(struct oc_arena *a, const void *line, struct oc_op_row *row)
{
    const struct line *l = line;
    struct oc_type in[2], out;
    struct oc_exprs *x = oc_exprs_new(a);
    if (onednn_lines_shape_at(a, l->problem, 0, l->src, &in[0]) &&
        onednn_lines_shape_at(a, l->problem, 1, l->src, &in[1]) &&
        oc_broadcast(a, x, &in[0].shape, &in[1].shape, &out.shape, NULL) == 0) {
        out = oc_tensor_type(oc_recorded_dtype(l->dst), out.shape);
        row->in = OC_COPY_ARRAY(a, in, 2);
        row->out = OC_COPY_ARRAY(a, &out, 1);
        row->n_in = 2;
        row->n_out = 1;
    }
    oc_exprs_free(x);
}

static const struct {
    const char *primitive, *alg; /* alg "": any */
    const char *type;            /* of ONNX */
    const char *overhead;
    void (*shapes)(struct oc_arena *a, const void *line, struct oc_op_row *row);
} primitives[] = {
    {"convolution", "", "Conv", NULL, convolution},
    {"deconvolution", "", "ConvTranspose", NULL, NULL},
    {"inner_product", "", "Gemm", NULL, inner_product},
    {"matmul", "", "MatMul", NULL, matmul},
    {"reorder", "", "Reorder", "layout", NULL},
    {"eltwise", "eltwise_relu", "Relu", NULL, one_to_one},
    {"eltwise", "eltwise_logistic", "Sigmoid", NULL, one_to_one},
    {"eltwise", "eltwise_tanh", "Tanh", NULL, one_to_one},
    {"eltwise", "eltwise_gelu", "Gelu", NULL, one_to_one},
    {"eltwise", "eltwise_exp", "Exp", NULL, one_to_one},
    {"eltwise", "eltwise_abs", "Abs", NULL, one_to_one},
    {"eltwise", "eltwise_sqrt", "Sqrt", NULL, one_to_one},
    {"eltwise", "eltwise_elu", "Elu", NULL, one_to_one},
    {"eltwise", "eltwise_clip", "Clip", NULL, NULL},
    {"eltwise", "eltwise_hardswish", "HardSwish", NULL, one_to_one},
    {"binary", "binary_add", "Add", NULL, onednn_lines_binary},
    {"binary", "binary_sub", "Sub", NULL, onednn_lines_binary},
    {"binary", "binary_mul", "Mul", NULL, onednn_lines_binary},
    {"binary", "binary_div", "Div", NULL, onednn_lines_binary},
    {"binary", "binary_max", "Max", NULL, onednn_lines_binary},
    {"binary", "binary_min", "Min", NULL, onednn_lines_binary},
    {"softmax", "", "Softmax", NULL, one_to_one},
    {"softmax_v2", "", "Softmax", NULL, one_to_one},
    {"pooling", "pooling_max", "MaxPool", NULL, NULL},
    {"pooling", "pooling_avg", "AveragePool", NULL, NULL},
    {"pooling_v2", "pooling_max", "MaxPool", NULL, NULL},
    {"pooling_v2", "pooling_avg", "AveragePool", NULL, NULL},
    {"batch_normalization", "", "BatchNormalization", NULL, NULL},
    {"layer_normalization", "", "LayerNormalization", NULL, NULL},
    {"concat", "", "Concat", NULL, NULL},
    {"sum", "", "Sum", NULL, NULL},
    {"resampling", "", "Resize", NULL, NULL},
    {"lrn", "", "LRN", NULL, NULL},
    {"prelu", "", "PRelu", NULL, NULL},
};

/* A backward pass is another operator than the forward pass, with other operations. */
static void onednn_lines_set_type(const struct line *l, struct oc_op_row *row)
{
    row->type = l->primitive;
    if (oc_str_starts(l->prop, "backward")) {
        row->type = l->prop;
        return;
    }
    for (size_t i = 0; i < OC_COUNT(primitives); i++) {
        if (!oc_csv_same(l->primitive, primitives[i].primitive) ||
            (*primitives[i].alg && !oc_str_find(l->aux, primitives[i].alg)))
            continue;
        row->type = (struct oc_str){primitives[i].type, strlen(primitives[i].type)};
        row->overhead = primitives[i].overhead;
        row->types = primitives[i].shapes;
        row->ctx = l;
        return;
    }
}

static void onednn_lines_read_types(struct line *l)
{
    l->src = onednn_lines_dtype_of(l->memory, "src");
    if (!l->src.n)
        l->src = onednn_lines_dtype_of(l->memory, "data");
    l->weights = onednn_lines_dtype_of(l->memory, "wei");
    l->bias = onednn_lines_dtype_of(l->memory, "bia");
    l->dst = onednn_lines_dtype_of(l->memory, "dst");
    if (!l->dst.n)
        l->dst = l->src;
}

static void take_info(struct oc_op_log *log, struct oc_str line)
{
    if (oc_str_find(line, "_verbose,") && oc_str_find(line, ",info,") &&
        (oc_str_find(line, "(commit ") || oc_str_find(line, "(Git Hash ")))
        log->wanted = true; /* another process begins */
    const char *name = oc_str_find(line, ",info,oneDNN v");
    if (!name || log->recordings.n)
        return;
    struct oc_str rest = {name + 14, (size_t)(line.s + line.n - name - 14)};
    struct oc_str version = oc_csv_word(&rest);
    log->p->producer =
        oc_printf(&log->p->arena, "oneDNN %.*s", (int)(version.n < 20 ? version.n : 20), version.s);
}

static bool is_engine(struct oc_str s)
{
    return oc_str_starts(s, "cpu") || oc_str_starts(s, "gpu");
}

int oc_onednn_take(struct oc_op_log *log, struct oc_str line)
{
    struct oc_str field[MAX_FIELDS];
    struct oc_op_row row = {.kind = OC_EV_OPERATOR, .calls = 1, .where = oc_csv_offset(log->c)};
    if (!oc_onednn_is_line(line)) {
        take_info(log, line);
        return 0;
    }
    const char *from = oc_str_find(line, "_verbose,");
    size_t n = onednn_lines_split(oc_str_from(line, from), field), at = 1;
    while (at < n && at < 6 && !oc_csv_same(field[at], "exec"))
        at++;
    for (size_t i = 1; i < at; i++)
        if (oc_csv_same(field[i], "graph") || oc_csv_same(field[i], "ukernel"))
            return 0; /* a partition: its primitives have lines of their own */
    bool engine = at + 1 < n && is_engine(field[at + 1]);
    size_t first = at + 1 + engine;
    if (n < first + (engine ? 8 : 7)) /* earlier versions of some builds print no time */
        return -1;
    struct line l = {.primitive = field[first],
                     .impl = field[first + 1],
                     .prop = field[first + 2],
                     .memory = field[first + 3],
                     .aux = field[n - 3],
                     .problem = field[n - 2]};
    if (!oc_csv_number(field[n - 1], &row.total_ns, NULL) || !(row.total_ns >= 0 && row.total_ns < 1e12))
        return -1;
    if (!log->recordings.n || log->wanted)
        oc_recording_begins(&log->recordings, log->c);
    log->wanted = false;
    if (log->recordings.n > 1)
        return 0;
    row.total_ns *= 1e6;
    row.min_ns = row.max_ns = row.total_ns;
    row.device = engine && oc_str_starts(field[at + 1], "gpu");
    onednn_lines_read_types(&l);
    onednn_lines_set_type(&l, &row);
    oc_buf_clear(&log->text);
    oc_buf_printf(&log->text, "%.*s %.*s", (int)l.primitive.n, l.primitive.s, (int)l.problem.n, l.problem.s);
    row.name = (struct oc_str){log->text.data, log->text.n};
    row.shapes = l.memory;
    row.provider = l.impl;
    oc_op_rows_add(&log->rows, &row);
    return 0;
}
