/* Lines that programs print per operator, which imp_op_logs.c passes on: DeepSpeed, oneDNN, RKNN. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "profile/core/records.h"
#include "profile/core/timeline.h"
#include "profile/formats/function_tables.h"

/* ---- DeepSpeed -------------------------------------------------------------------------------------- */

/* The module tree of DeepSpeed's flops profiler (detailed=True), where every class has its figures before its
 * own text:
 *
 *   BertModel(
 *     109.48 M, 100.00% Params, 44.7 GMACs, 100.00% MACs, 135.52 ms, 100.00% latency, 660.07 GFLOPS,
 *     (pooler): BertPooler(
 *       590.59 k, 0.54% Params, 2.36 MMACs, 0.01% MACs, 173.57 us, 0.13% latency, 27.19 GFLOPS,
 *       (dense): Linear(590.59 k, .., 93.94 us, 0.07% latency, 50.23 GFLOPS, in_features=768)
 *     )
 *     (0-1): 2 x Dropout(..)
 *
 * From 0.9.3 on " = " is between a figure and its share. A latency contains those of the submodules. */

#define MAX_DEPTH 128

struct oc_module {
    struct oc_str type;
    size_t path;                 /* length of the path that ends with it */
    double ns, flop;             /* of one of them */
    double inner_ns, inner_flop; /* of its submodules */
    bool is_list;                /* no time of its own, as ModuleList */
    uint64_t copies;             /* in all */
    uint64_t where;
};

struct oc_module_tree {
    struct oc_module open[MAX_DEPTH];
    size_t depth, skipped; /* skipped: open modules below those */
    struct oc_str head;    /* "(pooler): BertPooler" of the last line; n 0: none */
    bool first;            /* of the first report in the file */
    double stated_ns;      /* "fwd latency" of the report; 0: not stated */
};

static struct oc_str before(struct oc_str s, const char *end)
{
    return oc_csv_trim(oc_str_before(s, end));
}

static struct oc_str after(struct oc_str s, const char *at, size_t skip)
{
    return oc_csv_trim(oc_str_from(s, at + skip));
}

/* "660.07 GFLOPS" */
static double read_rate(struct oc_str s)
{
    static const char prefix[] = "kMGTPE";
    struct oc_str number = oc_csv_word(&s);
    double v, factor = 1;
    if (!oc_csv_number(number, &v, NULL) || !(v >= 0 && v < 1e18))
        return NAN;
    for (const char *p = prefix; *p && s.n; p++) {
        factor *= 1e3;
        if (oc_csv_trim(s).s[0] == *p)
            return v * factor;
    }
    return v;
}

/* "1.77 Gs": time since 1970, of a module whose start DeepSpeed did not record. */
static bool is_unstarted(struct oc_str s)
{
    struct oc_str unit;
    double v;
    return oc_csv_number(s, &v, &unit) && v >= 0 && oc_csv_same(unit, "Gs");
}

/* ".., 135.52 ms, 100.00% latency, 660.07 GFLOPS, ..": false: not such figures. *ns: NAN: damaged, INFINITY: not
 * timed. */
static bool read_figures(struct oc_str s, double *ns, double *flop)
{
    const char *share = oc_str_find(s, "% latency");
    if (!share)
        return false;
    struct oc_str head = before(s, share), tail = after(s, share, strlen("% latency"));
    while (head.n && (oc_is_digit(head.s[head.n - 1]) || strchr(".e-+", head.s[head.n - 1])))
        head.n--;
    head = oc_csv_trim(head);
    if (!head.n || (head.s[head.n - 1] != ',' && head.s[head.n - 1] != '='))
        return false;
    head.n--;
    const char *comma = head.n ? memrchr(head.s, ',', head.n) : NULL;
    if (!comma)
        return false;
    if (!oc_csv_time(after(head, comma, 1), ns))
        *ns = is_unstarted(after(head, comma, 1)) ? INFINITY : NAN;
    if (tail.n && tail.s[0] == ',')
        tail = after(tail, tail.s, 1);
    *flop = read_rate(oc_csv_trim(oc_str_take(&tail, ','))) * *ns / 1e9;
    return true;
}

/* "(0-11): 12 x BertLayer": appends the name to the path of the module that contains it. */
static void describe(struct oc_op_log *log, struct oc_str head, struct oc_module *m)
{
    struct oc_module_tree *t = log->modules;
    const struct oc_module *outer = t->depth ? &t->open[t->depth - 1] : NULL;
    const char *colon = head.n && head.s[0] == '(' ? oc_str_find(head, "): ") : NULL;
    struct oc_str name = colon ? before(after(head, head.s, 1), colon) : (struct oc_str){"", 0};
    uint64_t n;
    m->copies = outer ? outer->copies : 1;
    m->type = colon ? after(head, colon, 3) : head;
    const char *times = oc_str_find(m->type, " x ");
    if (times && oc_csv_u64(before(m->type, times), &n) && n > 0 && n < 1000000 && m->copies < 1000000) {
        m->type = after(m->type, times, 3);
        m->copies *= n;
    }
    const char *type = oc_strndup(&log->p->arena, m->type.s, m->type.n);
    m->type = (struct oc_str){type, m->type.n};
    log->text.n = outer ? outer->path : 0;
    if (log->text.n && name.n)
        oc_buf_char(&log->text, '.');
    if (name.n)
        oc_buf_add(&log->text, name.s, name.n);
    m->path = log->text.n;
}

/* A row has the time outside of submodules. The figures have 3 digits or more. */
static void close_module(struct oc_op_log *log, struct oc_module *m)
{
    struct oc_module_tree *t = log->modules;
    m->ns = m->is_list ? m->inner_ns : m->ns;
    m->flop = m->is_list ? m->inner_flop : m->flop;
    double copies = (double)m->copies, flop = m->flop - m->inner_flop;
    struct oc_op_row row = {.kind = OC_EV_OPERATOR,
                            .calls = m->copies,
                            .name = m->path ? (struct oc_str){log->text.data, m->path} : m->type,
                            .type = m->type,
                            .min_ns = NAN,
                            .max_ns = NAN,
                            .where = m->where,
                            .has_flop = true};
    if (t->depth) {
        struct oc_module *outer = &t->open[t->depth - 1];
        double n = copies / (double)outer->copies;
        outer->inner_ns += fmax(m->ns, m->inner_ns) * n; /* submodules may run outside of its forward() */
        outer->inner_flop += fmax(m->flop, m->inner_flop) * n;
    } else if (t->first) {
        log->rows.runs = 1;
        log->rows.run_ns = m->is_list && t->stated_ns > 0 ? t->stated_ns : m->ns;
    }
    row.total_ns = fmax(m->ns - m->inner_ns, 0) * copies;
    row.flop = flop > 0.02 * m->flop ? flop * copies : (double)NAN; /* 0: not counted */
    if (t->first && !m->is_list)
        oc_op_rows_add(&log->rows, &row);
}

static void open_module(struct oc_op_log *log, struct oc_str head, struct oc_module m, bool leaf)
{
    struct oc_module_tree *t = log->modules;
    m.where = oc_csv_offset(log->c);
    if (!t->depth)
        t->first = oc_recording_begins(&log->recordings, log->c);
    describe(log, head, &m);
    if (leaf)
        close_module(log, &m);
    else if (t->depth < MAX_DEPTH)
        t->open[t->depth++] = m;
    else
        t->skipped++;
}

bool oc_deepspeed_is_line(struct oc_str line)
{
    return oc_str_find(line, "% latency, ") && oc_str_find(line, "MACs") && oc_str_find(line, "% Params");
}

int oc_deepspeed_take(struct oc_op_log *log, struct oc_str line)
{
    struct oc_module_tree *t = log->modules;
    struct oc_str s = oc_csv_trim(line);
    double ns = NAN, flop = NAN;
    if (!t)
        t = log->modules = OC_NEW(&log->p->arena, struct oc_module_tree);
    if (!log->recordings.n && oc_str_starts(s, "fwd latency:") &&
        !oc_csv_time(oc_str_after(s, ":"), &t->stated_ns))
        t->stated_ns = 0;
    struct oc_str head = t->head;
    t->head.n = 0;
    bool figures = read_figures(s, &ns, &flop), opens = s.n > 1 && s.s[s.n - 1] == '(';
    const char *text = figures ? oc_str_find(s, "% latency") : s.s;
    const char *name_end = s.n && s.s[0] == '(' ? oc_str_find(s, "): ") : s.s;
    const char *open =
        figures && name_end && name_end < text ? memchr(name_end, '(', (size_t)(text - name_end)) : NULL;
    if (head.n && t->depth && (opens || open))
        open_module(log, head, (struct oc_module){.is_list = true}, false);
    bool timed = isfinite(ns);
    struct oc_module m = {.ns = timed ? ns : 0, .flop = timed ? flop : 0, .is_list = !timed};
    if (open && (timed || t->depth))
        open_module(log, before(s, open), m, true);
    else if (figures && head.n)
        open_module(log, head, m, false);
    else if (opens)
        t->head = oc_str(oc_strndup(&log->rows.scratch, s.s, s.n - 1), s.n - 1);
    else if (s.n && s.s[0] == ')' && t->skipped)
        t->skipped--;
    else if (s.n && s.s[0] == ')' && t->depth)
        close_module(log, &t->open[--t->depth]);
    return figures && isnan(ns) ? -1 : 0;
}

/* ---- oneDNN ----------------------------------------------------------------------------------------- */

/* Lines of oneDNN verbose, from DNNL 0.x to oneDNN 3.x:
 *
 *   [m]kldnn_verbose,exec,PRIMITIVE,IMPL,PROP,MEMORY,AUX,PROBLEM,MS
 *   dnnl_verbose,exec,ENGINE,PRIMITIVE,IMPL,PROP,MEMORY,ATTRIBUTES,AUX,PROBLEM,MS
 *   onednn_verbose[,v1][,TIMESTAMP][,primitive],exec,ENGINE,..
 *   .._verbose,exec,cpu,gemm_api,,undef,MEMORY,ATTRIBUTES,PROBLEM,MS
 *
 * PROBLEM is benchdnn's description: "mb1_ic3oc64_ih224oh112kh7sh2dh0ph3_iw224ow112kw7sw2dw0pw3",
 * "mb1ic4096oc4096", "128x3584:3584x37888", "1x3x224x224". */

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

static size_t onednn_split(struct oc_str s, struct oc_str *field)
{
    size_t n = 0;
    for (bool more = true; more && n < MAX_FIELDS;) {
        more = oc_str_chr(s, ',') != NULL;
        field[n++] = oc_csv_trim(oc_str_take(&s, ','));
    }
    return n;
}

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
    {"gemm_api", "", "MatMul", NULL, matmul}, /* dnnl_sgemm() and others, which programs call */
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
    {"binary", "binary_add", "Add", NULL, onednn_binary},
    {"binary", "binary_sub", "Sub", NULL, onednn_binary},
    {"binary", "binary_mul", "Mul", NULL, onednn_binary},
    {"binary", "binary_div", "Div", NULL, onednn_binary},
    {"binary", "binary_max", "Max", NULL, onednn_binary},
    {"binary", "binary_min", "Min", NULL, onednn_binary},
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
static void onednn_set_type(const struct line *l, struct oc_op_row *row)
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
    struct oc_op_row row = {.kind = OC_EV_OPERATOR, .calls = 1};
    if (!oc_onednn_is_line(line)) {
        take_info(log, line);
        return 0;
    }
    const char *from = oc_str_find(line, "_verbose,");
    size_t n = onednn_split(oc_str_from(line, from), field), at = 1;
    while (at < n && at < 6 && !oc_csv_same(field[at], "exec"))
        at++;
    for (size_t i = 1; i < at; i++)
        if (oc_csv_same(field[i], "graph") || oc_csv_same(field[i], "ukernel"))
            return 0; /* a partition: its primitives have lines of their own */
    bool engine = at + 1 < n && is_engine(field[at + 1]);
    size_t first = at + 1 + engine;
    bool aux = engine && first < n && !oc_csv_same(field[first], "gemm_api");
    if (n < first + (aux ? 8 : 7)) /* earlier versions of some builds print no time */
        return -1;
    struct line l = {.primitive = field[first],
                     .impl = field[first + 1],
                     .prop = field[first + 2],
                     .memory = field[first + 3],
                     .aux = field[n - 3],
                     .problem = field[n - 2]};
    if (!oc_log_time(field[n - 1], 1e6, &row.total_ns))
        return -1;
    bool own = oc_log_is_first(log, log->wanted);
    log->wanted = false;
    if (!own)
        return 0;
    row.min_ns = row.max_ns = row.total_ns;
    row.device = engine && oc_str_starts(field[at + 1], "gpu");
    onednn_read_types(&l);
    onednn_set_type(&l, &row);
    oc_buf_clear(&log->text);
    oc_buf_printf(&log->text, "%.*s %.*s", (int)l.primitive.n, l.primitive.s, (int)l.problem.n, l.problem.s);
    row.name = (struct oc_str){log->text.data, log->text.n};
    row.shapes = l.memory;
    row.provider = l.impl;
    oc_log_add(log, &row);
    return 0;
}

/* ---- RKNN ------------------------------------------------------------------------------------------- */

/* A row per layer and frame; up to the time, a cell has no blanks:
 *
 *   ID OpType DataType Target InputShape OutputShape Cycles(DDR/NPU/Total) Time(us) .. FullName
 *   2  ConvExSwish INT8 NPU (1,3,640,640),(32,3,6,6),(32) (1,32,320,320) 1/2/2 4041 .. Conv:/conv/Conv
 *
 * Earlier "DDR Cycles NPU Cycles Total Cycles" are three cells. Tables of the conversion have no times, or 0. */
static bool is_rknn_layers(struct oc_str line)
{
    return oc_str_find(line, "OpType") && oc_str_find(line, "Target") && oc_str_find(line, "Time(us)") &&
           oc_str_find(line, "FullName");
}

bool oc_rknn_is_header(struct oc_str line)
{
    return is_rknn_layers(line) || oc_rknn_is_table(line);
}

static void rknn_header(struct oc_op_log *log, struct oc_str line)
{
    size_t words = 0, cycles = 0, id = 0;
    for (struct oc_str w = oc_csv_word(&line); w.n && !oc_csv_same(w, "Time(us)"); w = oc_csv_word(&line)) {
        cycles += oc_csv_same(w, "Cycles");
        id = oc_csv_same(w, "OpType") ? words : id;
        words++;
    }
    log->at[0] = id;             /* of OpType, after ID and the prefix of a log */
    log->width = words - cycles; /* of Time(us) */
    log->in_table = id > 0;
    log->wanted = true; /* its first row with a time begins a recording */
    log->table = NULL;
    log->section = 1; /* a table of types repeats its times */
}

/* Only the type: fused and rewritten layers have other shapes than the nodes of the model. */
static void rknn_types(struct oc_arena *a, const void *ctx, struct oc_op_row *row)
{
    const struct oc_str *dtype = ctx;
    struct oc_type in = oc_tensor_type(oc_recorded_dtype(*dtype), oc_shape_unranked());
    row->in = OC_COPY_ARRAY(a, &in, 1);
    row->n_in = 1;
}

static int rknn_row(struct oc_op_log *log, struct oc_str line)
{
    enum { TYPE, DATA, TARGET, CELLS };
    struct oc_op_row row = {.kind = OC_EV_OPERATOR, .calls = 1, .min_ns = NAN, .max_ns = NAN};
    struct oc_str s = line, cell[CELLS] = {{"", 0}}, time = {"", 0}, last = {"", 0};
    uint64_t id;
    size_t n = 0;
    for (struct oc_str w = oc_csv_word(&s); w.n; w = oc_csv_word(&s), n++) {
        if (n + 1 == log->at[0] && !oc_csv_u64(w, &id)) {
            log->in_table = false;
            return 0;
        }
        if (n >= log->at[0] && n < log->at[0] + CELLS)
            cell[n - log->at[0]] = w;
        time = n == log->width ? w : time;
        last = w;
    }
    if (n <= log->width + 1 || !oc_log_time(time, 1e3, &row.total_ns))
        return -1;
    const char *colon = oc_str_chr(last, ':');
    row.name = colon ? oc_str_from(last, colon + 1) : last;
    row.type = colon ? oc_str_before(last, colon) : cell[TYPE];
    row.overhead = oc_str_has(row.type, "putOperator") ? "copies" : NULL; /* InputOperator, OutputOperator */
    row.provider = cell[TARGET];
    row.shapes = cell[DATA];
    row.types = rknn_types;
    row.ctx = &cell[DATA];
    row.device = !oc_csv_same(cell[TARGET], "CPU");
    if (row.total_ns > 0 && oc_log_is_first(log, log->wanted))
        oc_log_add(log, &row);
    log->wanted &= !(row.total_ns > 0);
    return 0;
}

int oc_rknn_take(struct oc_op_log *log, struct oc_str line)
{
    struct oc_str s = oc_csv_trim(line);
    if (is_rknn_layers(line)) {
        oc_op_table_end(log);
        rknn_header(log, line);
        return 0;
    }
    if (log->table || oc_rknn_is_table(line))
        return oc_rknn_take_table(log, line);
    if (oc_str_find(s, "-----"))
        return 0;
    const char *total = oc_str_find(s, "Total Operator Elapsed");
    log->in_table = log->in_table && s.n && !total;
    if (log->in_table)
        return rknn_row(log, line);
    if (total && log->recordings.n == 1 && !log->rows.runs) {
        struct oc_str after_colon = oc_str_after(oc_str_from(s, total), ":");
        log->rows.runs = 1;
        if (!oc_csv_number(oc_csv_word(&after_colon), &log->rows.run_ns, NULL))
            log->rows.run_ns = NAN;
        log->rows.run_ns *= 1e3;
    }
    return 0;
}
