/* Records of a TensorRT profile, and the cost of its layers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/str.h"
#include "base/units.h"
#include "onnxcost/profile.h"
#include "profile/core/stated.h"
#include "profile/core/kernel_names.h"
#include "profile/formats/trt_reading.h"

#define NS_PER_MS 1e6
#define MAX_LANES 64

/* ---- bytes ------------------------------------------------------------------------------------------ */

static bool weight_bytes(const char *type, int64_t count, uint64_t *sum)
{
    static const struct {
        const char *type;
        unsigned dtype;
    } row[] = {
        {"Float", OC_DT_FLOAT},      {"Half", OC_DT_FLOAT16},      {"Int8", OC_DT_INT8},
        {"Int32", OC_DT_INT32},      {"BFloat16", OC_DT_BFLOAT16}, {"BF16", OC_DT_BFLOAT16},
        {"FP8", OC_DT_FLOAT8E4M3FN}, {"Int4", OC_DT_INT4},         {"FP4", OC_DT_FLOAT4E2M1},
    };
    uint64_t bytes;
    if (count <= 0)
        return true;
    for (size_t i = 0; i < OC_COUNT(row); i++)
        if (oc_equal(type, row[i].type))
            return oc_bytes_of(row[i].dtype, (uint64_t)count, &bytes) && oc_add_u64(*sum, bytes, sum);
    return false;
}

static bool tensor_bytes(const struct oc_type *t, uint32_t n, uint64_t *sum)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t count, bytes;
        if (!t[i].dtype || !oc_shape_elements(&t[i].shape, &count) ||
            !oc_bytes_of(t[i].dtype, count, &bytes) || !oc_add_u64(*sum, bytes, sum))
            return false;
    }
    return true;
}

/* A slice reads less than its input; an elided layer moves nothing; weights of a region are not listed. */
static double bytes_of(const struct trt_layer *l, uint64_t params)
{
    uint64_t sum = params;
    if (oc_equal(l->type, "NoOp"))
        return 0;
    if (params == UINT64_MAX || oc_equal(l->type, "Myelin") || strncmp(l->name, "{ForeignNode[", 13) == 0 ||
        oc_equal(l->param_type, "Slice") || !l->n_out || !tensor_bytes(l->in, l->n_in, &sum) ||
        !tensor_bytes(l->out, l->n_out, &sum))
        return NAN;
    return (double)sum;
}

/* ---- windows ---------------------------------------------------------------------------------------- */

static bool product(const struct trt_ints *v, uint64_t *out)
{
    *out = 1;
    if (v->n == 0 || v->n > TRT_MAX_AXES)
        return false;
    for (unsigned i = 0; i < v->n; i++)
        if (v->v[i] < 0 || !oc_mul_u64(*out, (uint64_t)v->v[i], out))
            return false;
    return true;
}

static bool planes(const struct oc_shape *s, uint64_t *out)
{
    *out = 1;
    for (unsigned i = 2; i < s->rank; i++)
        if (!oc_mul_u64(*out, (uint64_t)s->dim[i].v, out))
            return false;
    return true;
}

/* Output positions of a convolution that the layer does not report, because a pool follows in the same
 * layer. */
static bool inner_planes(const struct trt_layer *l, const struct oc_shape *in, uint64_t *out)
{
    *out = 1;
    if (l->stride.n != l->kernel.n || l->pre_pad.n != l->kernel.n || l->post_pad.n != l->kernel.n ||
        l->dilation.n != l->kernel.n)
        return false;
    for (unsigned i = 0; i < l->kernel.n; i++) {
        int64_t reach, size;
        if (l->kernel.v[i] < 1 || l->stride.v[i] < 1 || l->dilation.v[i] < 1 ||
            !oc_mul_i64(l->kernel.v[i] - 1, l->dilation.v[i], &reach) ||
            !oc_add_i64(in->dim[i + 2].v, l->pre_pad.v[i], &size) ||
            !oc_add_i64(size, l->post_pad.v[i], &size) || !oc_sub_i64(size, reach, &size) || size < 1 ||
            !oc_mul_u64(*out, (uint64_t)((size - 1) / l->stride.v[i] + 1), out))
            return false;
    }
    return true;
}

/* Weights per output position: as reported, otherwise from kernel, channels and groups. If they contradict
 * each other, the result is not exact. */
static bool weights_of(const struct trt_layer *l, const struct oc_shape *in, uint64_t *out, uint8_t *quality)
{
    uint64_t taps, n = 0;
    bool counted = product(&l->kernel, &taps) && l->out_maps > 0 && l->groups > 0 &&
                   oc_mul_u64(taps, (uint64_t)in->dim[1].v / (uint64_t)l->groups, &n) &&
                   oc_mul_u64(n, (uint64_t)l->out_maps, &n);
    if (counted && l->weights > 0 && n != (uint64_t)l->weights)
        *quality = OC_EST;
    *out = counted ? n : (uint64_t)l->weights;
    return counted || l->weights > 0;
}

/* ---- counts ----------------------------------------------------------------------------------------- */

/* Bias, residual sum and activation of n results. */
static void add_rest(const struct trt_layer *l, uint64_t n, struct trt_cost *out)
{
    static const struct {
        const char *name;
        double per; /* basic operations per result; Clip compares twice */
    } row[] = {{"", 0}, {"NONE", 0}, {"RELU", 1}, {"CLIPPED_RELU", 2}, {"CLIP", 2}};
    size_t i = 0;
    while (i < OC_COUNT(row) && !oc_equal(l->activation, row[i].name))
        i++;
    if (i < OC_COUNT(row))
        out->flop += row[i].per * (double)n;
    else
        out->quality = OC_LOWER;
    out->flop += l->bias > 0 ? (double)n : 0;
    for (uint32_t k = 1; k < l->n_in && l->n_out; k++)
        out->flop += oc_shape_equal(&l->in[k].shape, &l->out[0].shape) ? (double)n : 0;
    bool requantized = l->n_out && l->out[0].dtype == OC_DT_INT8;
    if (requantized && out->quality == OC_EXACT)
        out->quality = OC_LOWER; /* scales are not in the layer information */
}

static void take_macs(struct trt_cost *out, uint64_t macs)
{
    out->known = true;
    out->macs = macs;
    out->flop = 2 * (double)macs;
}

static void count_conv(const struct trt_layer *l, bool pooled, struct trt_cost *out)
{
    uint64_t n, batch, weights, macs, results;
    if (!l->n_in || !l->n_out || !oc_shape_known(&l->in[0].shape) || !oc_shape_known(&l->out[0].shape))
        return;
    const struct oc_shape *in = &l->in[0].shape, *o = &l->out[0].shape;
    if (in->rank != 2U + l->kernel.n || o->rank != in->rank || !weights_of(l, in, &weights, &out->quality))
        return;
    batch = (uint64_t)o->dim[0].v;
    if (!(pooled ? inner_planes(l, in, &n) : planes(o, &n)) || !oc_mul_u64(n, batch, &n) ||
        !oc_mul_u64(n, weights, &macs))
        return;
    take_macs(out, macs);
    if (oc_mul_u64(n, (uint64_t)(l->out_maps > 0 ? l->out_maps : o->dim[1].v), &results))
        add_rest(l, results, out);
}

/* Every input position is multiplied with every weight of its group. */
static void count_deconv(const struct trt_layer *l, struct trt_cost *out)
{
    uint64_t n, macs, results, weights, taps;
    if (!l->n_in || !l->n_out || !oc_shape_known(&l->in[0].shape) ||
        !oc_shape_elements(&l->out[0].shape, &results))
        return;
    const struct oc_shape *in = &l->in[0].shape;
    if (in->rank < 3 || !planes(in, &n) || !oc_mul_u64(n, (uint64_t)in->dim[0].v, &n))
        return;
    bool counted = product(&l->kernel, &taps) && l->out_maps > 0 && l->groups > 0 &&
                   oc_mul_u64(taps, (uint64_t)in->dim[1].v, &weights) &&
                   oc_mul_u64(weights, (uint64_t)l->out_maps / (uint64_t)l->groups, &weights);
    if (!counted)
        weights = l->weights > 0 ? (uint64_t)l->weights : 0;
    if (!weights || !oc_mul_u64(n, weights, &macs))
        return;
    take_macs(out, macs);
    add_rest(l, results, out);
}

/* Results / channels rows, each multiplied with all weights. */
static void count_dense(const struct trt_layer *l, struct trt_cost *out)
{
    uint64_t n, macs;
    if (!l->n_out || !oc_shape_elements(&l->out[0].shape, &n) || l->out_maps < 1 || l->weights < 1 ||
        n % (uint64_t)l->out_maps || !oc_mul_u64(n / (uint64_t)l->out_maps, (uint64_t)l->weights, &macs))
        return;
    take_macs(out, macs);
    add_rest(l, n, out);
}

/* A is M x K or K x M, B is K x N or N x K: both must give the same K. */
static void count_matmul(const struct trt_layer *l, struct trt_cost *out)
{
    uint64_t n, macs;
    if (l->n_in < 2 || !l->n_out || !oc_shape_elements(&l->out[0].shape, &n) ||
        !oc_shape_known(&l->in[0].shape) || !oc_shape_known(&l->in[1].shape))
        return;
    const struct oc_shape *a = &l->in[0].shape, *b = &l->in[1].shape, *o = &l->out[0].shape;
    if (a->rank < 2 || b->rank < 2 || o->rank < 2)
        return;
    const struct oc_dim *x = a->dim + a->rank - 2, *y = b->dim + b->rank - 2, *z = o->dim + o->rank - 2;
    int64_t m = z[0].v, width = z[1].v, k = x[0].v == m ? x[1].v : x[0].v;
    bool a_fits = (x[0].v == m && x[1].v == k) || (x[1].v == m && x[0].v == k);
    bool b_fits = (y[0].v == k && y[1].v == width) || (y[1].v == k && y[0].v == width);
    if (a_fits && b_fits && k >= 0 && oc_mul_u64(n, (uint64_t)k, &macs))
        take_macs(out, macs);
}

/* One operation per tap, padding included, as for models; an average also divides. False: the window is
 * unknown. */
static bool add_pool(const struct trt_layer *l, struct trt_cost *out)
{
    uint64_t n, taps;
    if (!l->n_out || !oc_shape_elements(&l->out[0].shape, &n) || !product(&l->window, &taps) ||
        !oc_mul_u64(n, taps, &taps))
        return false;
    out->flop += (double)taps + (oc_equal(l->pooling, "AVERAGE") ? (double)n : 0);
    return true;
}

static void count_pool(const struct trt_layer *l, struct trt_cost *out)
{
    out->flop = 0;
    out->known = add_pool(l, out);
}

static void count_conv_pool(const struct trt_layer *l, struct trt_cost *out)
{
    count_conv(l, true, out);
    if (out->known && !add_pool(l, out))
        out->quality = OC_LOWER;
}

static void cost_of(const struct trt_layer *l, struct trt_cost *out)
{
    uint64_t params = 0;
    *out = (struct trt_cost){.flop = NAN, .bytes = NAN, .param_bytes = UINT64_MAX, .quality = OC_EXACT};
    if (!l->detailed) {
        out->quality = OC_UNKNOWN;
        return;
    }
    if (weight_bytes(l->weights_type, l->weights, &params) && weight_bytes(l->bias_type, l->bias, &params))
        out->param_bytes = params;
    out->bytes = bytes_of(l, out->param_bytes);
    if (oc_equal(l->param_type, "Convolution"))
        count_conv(l, false, out);
    else if (oc_equal(l->param_type, "ConvActPool"))
        count_conv_pool(l, out);
    else if (oc_equal(l->param_type, "Deconvolution"))
        count_deconv(l, out);
    else if (oc_equal(l->param_type, "FullyConnected"))
        count_dense(l, out);
    else if (oc_equal(l->param_type, "MatrixMultiply") || oc_equal(l->type, "MatrixMultiply") ||
             oc_equal(l->type, "gemm"))
        count_matmul(l, out);
    else if (oc_equal(l->param_type, "Pooling"))
        count_pool(l, out);
    else if ((oc_equal(l->param_type, "Reformat") && !oc_equal(l->origin, "QDQ")) ||
             oc_equal(l->param_type, "Shuffle") || oc_equal(l->type, "NoOp")) {
        out->known = true; /* moves data */
        out->flop = 0;
    }
    if (!out->known)
        out->quality = OC_UNKNOWN;
}

/* ---- the profile under construction ----------------------------------------------------------------- */

struct builder {
    const struct trt_reading *r;
    const struct oc_profile_opts *opts;
    struct oc_profile *p;
    struct oc_map by_name; /* index of the record */
    struct oc_map layers;  /* name to the first unused layer with that name ... */
    uint32_t *next;        /* ... and to the next one */
    double sum_ms;         /* of all layers */
};

/* ---- layers ----------------------------------------------------------------------------------------- */

static void index_layers(struct builder *b)
{
    const struct trt_engine *e = &b->r->engine;
    b->next = oc_xmalloc((e->n + 1) * sizeof(*b->next));
    for (size_t i = e->n; i-- > 0;) {
        const char *name = e->layer[i].name;
        b->next[i] = oc_map_get(&b->layers, name, strlen(name));
        oc_map_set(&b->layers, name, strlen(name), (uint32_t)i);
    }
}

/* The k-th entry with a name in the profile is the k-th layer with that name. */
static const struct trt_layer *take_layer(struct builder *b, const char *name)
{
    uint32_t i = oc_map_get(&b->layers, name, strlen(name));
    if (i == OC_NONE)
        return NULL;
    oc_map_set(&b->layers, name, strlen(name), b->next[i]);
    return &b->r->engine.layer[i];
}

/* Precision and unit: from the kernel's name, otherwise the type that the layer computes in. */
static void set_precision(struct builder *b, struct oc_prof_rec *rec, const struct trt_layer *l)
{
    struct oc_kernel_facts facts;
    oc_kernel_facts(b->opts->kernel_names, l->tactic, &facts);
    rec->unit = facts.unit;
    rec->precision = facts.precision;
    if (!*rec->precision && l->n_in && l->in[0].dtype)
        rec->precision = oc_class_name(oc_dtype_info(l->in[0].dtype)->cls);
}

/* Streams by number; the last lane stands for all further ones. */
static uint32_t trt_records_lane_of(struct builder *b, int64_t stream)
{
    uint32_t i = 0;
    while (i < b->p->n_lane && b->p->lane[i].id != stream)
        i++;
    if (i == MAX_LANES)
        return MAX_LANES - 1;
    if (i == b->p->n_lane)
        b->p->lane[b->p->n_lane++] = oc_lane_of_stream(OC_NO_ID, OC_NO_ID, stream);
    return i;
}

static void trt_records_add_cost(struct oc_prof_rec *rec, const struct trt_cost *k, bool first)
{
    rec->has_macs = k->known && (first || rec->has_macs);
    rec->macs = rec->has_macs ? rec->macs + k->macs : 0;
    rec->flop = k->known ? (first ? k->flop : rec->flop + k->flop) : (double)NAN;
    rec->bytes = first ? k->bytes : rec->bytes + k->bytes;
    rec->param_bytes = k->param_bytes;
    if (k->quality > rec->quality)
        rec->quality = k->quality;
}

/* l: NULL without layer information. */
static void trt_records_set_type(struct builder *b, struct oc_prof_rec *rec, const struct trt_layer *l)
{
    struct trt_typed t = {.name = rec->name, .type = "", .param_type = "", .pooling = ""};
    if (l)
        t = (struct trt_typed){rec->name, l->type, l->param_type, l->pooling, l->marker, l->n_marker};
    struct oc_str type = oc_trt_layer_type(&t);
    rec->op_type = oc_intern(&b->p->names, type.s, type.n);
    rec->source_type = *t.type && !oc_equal(t.type, rec->op_type) ? t.type : NULL;
}

static void trt_records_describe(struct builder *b, struct oc_prof_rec *rec, const struct trt_layer *l,
                                 bool first)
{
    struct trt_cost k;
    cost_of(l, &k);
    trt_records_add_cost(rec, &k, first);
    if (!first)
        return;
    trt_records_set_type(b, rec, l);
    rec->in = l->in;
    rec->out = l->out;
    rec->n_in = l->n_in;
    rec->n_out = l->n_out;
    rec->has_in = rec->has_out = l->detailed;
    rec->lane = trt_records_lane_of(b, l->stream);
    rec->node_name = l->marker;
    rec->n_node_name = l->n_marker;
    if (l->detailed)
        set_precision(b, rec, l);
    if (oc_equal(l->origin, "REFORMAT") || (oc_equal(l->type, "Reformat") && !*l->origin))
        rec->overhead = "reformat";
    else if (oc_equal(l->type, "NoOp"))
        rec->overhead = "no-op";
}

/* ---- records ---------------------------------------------------------------------------------------- */

static struct oc_prof_rec *new_record(struct builder *b, const char *name, bool *first)
{
    uint32_t at = b->p->n_rec;
    *first = oc_map_add(&b->by_name, name, strlen(name), &at, NULL);
    struct oc_prof_rec *rec = &b->p->rec[at];
    if (!*first)
        return rec;
    *rec = oc_prof_rec_new(name);
    rec->calls_per_run = 0; /* of its occurrences */
    rec->overhead = oc_trt_overhead(name, oc_trt_stem(name, strlen(name)));
    trt_records_set_type(b, rec, NULL);
    b->p->n_rec++;
    return rec;
}

static void add_ns(double *sum, double ms, bool first)
{
    double ns = ms * NS_PER_MS;
    if (first || isnan(*sum))
        *sum = ns;
    else if (!isnan(ns))
        *sum += ns;
}

static double statistic(const struct builder *b, const struct trt_time *t)
{
    if (b->p->stat == OC_STAT_SUM)
        return t->total_ms;
    return !isnan(t->average_ms) ? t->average_ms
           : b->p->runs_total    ? t->total_ms / b->p->runs_total
                                 : (double)NAN;
}

static void trt_records_add_times(struct builder *b, struct oc_prof_rec *rec, const struct trt_time *t,
                                  bool first)
{
    double ns = statistic(b, t);
    add_ns(&rec->time_ns, ns, first);
    add_ns(&rec->median_ns, t->median_ms, first);
    add_ns(&rec->total_ns, t->total_ms, first);
    rec->self_ns = rec->kernel_ns = rec->time_ns;
    rec->total_kernel_ns = rec->total_ns;
    rec->calls_per_run += 1;
    rec->calls += b->p->runs_used;
    rec->runs = b->p->runs_used;
    rec->where = first ? t->where : rec->where;
}

/* Elided layers are in the profile with zero time: they get no row. */
static bool is_elided(const struct builder *b, const struct oc_prof_rec *rec)
{
    return b->sum_ms > 0 && rec->total_ns == 0 && !(rec->has_macs && rec->macs);
}

static void layer_records(struct builder *b)
{
    const struct trt_reading *r = b->r;
    double imported_ms = 0;
    for (size_t i = 0; i < r->n_time; i++)
        b->sum_ms += isnan(r->time[i].total_ms) ? 0 : r->time[i].total_ms;
    for (size_t i = 0; i < r->n_time; i++) {
        const struct trt_layer *l = take_layer(b, r->time[i].name);
        bool first;
        struct oc_prof_rec *rec = new_record(b, r->time[i].name, &first);
        trt_records_add_times(b, rec, &r->time[i], first);
        if (l)
            trt_records_describe(b, rec, l, first);
        imported_ms += isnan(r->time[i].total_ms) ? 0 : r->time[i].total_ms;
    }
    for (uint32_t i = 0; i < b->p->n_rec; i++)
        if (is_elided(b, &b->p->rec[i]))
            b->p->rec[i].bucket = "no-op";
    b->p->imported_ns = imported_ms * NS_PER_MS;
}

/* Engines with several optimization profiles repeat their layers; uses one set. */
static bool is_repeated(const char *name)
{
    size_t n = strlen(name);
    return n && name[n - 1] == ']' && strstr(name, " [profile ") != NULL;
}

static void untimed_records(struct builder *b)
{
    const struct trt_engine *e = &b->r->engine;
    for (size_t i = 0; i < e->n; i++) {
        bool first;
        if (is_repeated(e->layer[i].name))
            continue;
        struct oc_prof_rec *rec = new_record(b, e->layer[i].name, &first);
        trt_records_describe(b, rec, &e->layer[i], first);
        rec->calls_per_run += 1;
    }
}

/* ---- times of whole iterations ---------------------------------------------------------------------- */

/* Known values of one kind, in nanoseconds; returns their number. */
static size_t take_runs(const struct trt_reading *r, enum trt_times which, double *v, double *sum_ns)
{
    size_t n = 0;
    *sum_ns = 0;
    for (size_t i = 0; i < r->n_run; i++) {
        double ms = r->run[i].ms[which];
        if (isnan(ms))
            continue;
        v[n++] = ms * NS_PER_MS;
        *sum_ns += ms * NS_PER_MS;
    }
    return n;
}

static double summary_ns(enum oc_stat stat, const struct trt_summary *s)
{
    double ms = stat == OC_STAT_MEAN  ? s->mean_ms
                : stat == OC_STAT_MIN ? s->min_ms
                : stat == OC_STAT_MAX ? s->max_ms
                                      : s->median_ms;
    return NS_PER_MS * (isnan(ms) ? s->mean_ms : ms);
}

/* From the times of all iterations, otherwise from their summary. */
static bool trt_records_times_of(const struct builder *b, enum trt_times which, double *v,
                                 struct oc_prof_rec *out)
{
    const struct trt_summary *s = &b->r->summary[which];
    double sum_ns;
    size_t n = take_runs(b->r, which, v, &sum_ns);
    if (n) {
        out->time_ns = oc_stat_of(b->p->stat, v, n);
        out->median_ns = oc_stat_of(OC_STAT_MEDIAN, v, n);
        out->min_ns = v[0];
        out->max_ns = v[n - 1];
        out->p10_ns = oc_percentile_of(v, n, 0.1);
        out->p90_ns = oc_percentile_of(v, n, 0.9);
    } else {
        n = b->p->runs_used ? b->p->runs_used : 1;
        sum_ns = s->mean_ms * NS_PER_MS * (double)n;
        out->time_ns = b->p->stat == OC_STAT_SUM ? sum_ns : summary_ns(b->p->stat, s);
        out->median_ns = s->median_ms * NS_PER_MS;
        out->min_ns = s->min_ms * NS_PER_MS;
        out->max_ns = s->max_ms * NS_PER_MS;
    }
    out->total_ns = out->total_kernel_ns = sum_ns;
    out->calls = n;
    return sum_ns > 0 || (which == TRT_COMPUTE && b->r->n_run);
}

static void bucket_of_runs(struct builder *b, enum trt_times which, const char *name, const char *bucket,
                           double *v)
{
    struct oc_prof_rec times = oc_prof_rec_new(name);
    bool first;
    if (!trt_records_times_of(b, which, v, &times))
        return;
    struct oc_prof_rec *rec = new_record(b, name, &first);
    *rec = times;
    rec->op_type = "";
    rec->bucket = bucket;
    rec->self_ns = rec->kernel_ns = rec->time_ns;
    rec->calls_per_run = 1;
    rec->runs = (uint32_t)rec->calls;
    b->p->imported_ns = (isnan(b->p->imported_ns) ? 0 : b->p->imported_ns) + rec->total_ns;
}

/* Times without a profile: the time of the whole engine and the copies before and after. */
static void run_records(struct builder *b, double *v)
{
    struct oc_prof_rec enqueue = oc_prof_rec_new("");
    bucket_of_runs(b, TRT_COMPUTE, "(GPU compute)", "whole engine", v);
    bucket_of_runs(b, TRT_COPY_IN, "(copies to the device)", "copies outside the engine", v);
    bucket_of_runs(b, TRT_COPY_OUT, "(copies to the host)", "copies outside the engine", v);
    if (b->p->n_rec && trt_records_times_of(b, TRT_ENQUEUE, v, &enqueue))
        b->p->rec[0].host_ns = enqueue.time_ns;
}

/* Compares with the real time of an iteration: layers are timed one by one but may run concurrently. */
static void set_run_time(struct builder *b, double *v)
{
    double sum_ns;
    size_t n = take_runs(b->r, TRT_COMPUTE, v, &sum_ns);
    struct oc_profile *p = b->p;
    enum oc_stat stat = b->opts->stat == OC_STAT_SUM ? OC_STAT_MEAN : b->opts->stat;
    double ns = n ? oc_stat_of(stat, v, n) : summary_ns(stat, &b->r->summary[TRT_COMPUTE]);
    p->run_ns = p->stat == OC_STAT_SUM && p->runs_used ? ns * p->runs_used : ns;
    double layers_ns = 0;
    for (uint32_t i = 0; i < p->n_rec; i++)
        layers_ns += p->rec[i].bucket || isnan(p->rec[i].time_ns) ? 0 : p->rec[i].time_ns;
    if (!b->r->has_times || !(layers_ns > 0) || !p->runs_used || isnan(ns))
        return;
    char time[32];
    oc_format_time_ns(layers_ns / (p->stat == OC_STAT_SUM ? p->runs_used : 1), time, sizeof(time));
    p->beside = oc_printf(&p->arena, "the layers, timed one by one in %u other iterations, add up to %s",
                          p->runs_used, time);
    oc_diag_add(&p->diags, OC_INFO, "N-layer-sum", "", "%s; the engine as a whole takes %.6g ms (%s)",
                p->beside, ns / NS_PER_MS, n ? "its times" : "its summary");
}

/* ---- the profile ------------------------------------------------------------------------------------ */

/* The times of the layers are sums and means over the profiled iterations: only these add up to a total. */
static void trt_records_choose_stat(struct builder *b, double *v)
{
    struct oc_profile *p = b->p;
    enum oc_stat wanted = b->opts->stat;
    double sum_ns;
    oc_run_spread_of(v, take_runs(b->r, TRT_COMPUTE, v, &sum_ns), &p->spread);
    p->stat = oc_run_spread_stat(&p->spread, wanted, &p->diags);
    if (!b->r->has_times || wanted == OC_STAT_SUM)
        return;
    p->stat = OC_STAT_MEAN;
    if (wanted != OC_STAT_TYPICAL && wanted != OC_STAT_MEAN)
        oc_diag_add(&p->diags, OC_WARNING, "W-no-statistic", "",
                    "the profile does not contain the %s of layer times: the mean is shown",
                    oc_stat_name(wanted));
}

static void warn_dla(struct builder *b)
{
    double ns = 0;
    for (uint32_t i = 0; i < b->p->n_rec; i++) {
        const struct oc_prof_rec *r = &b->p->rec[i];
        ns += r->overhead && oc_equal(r->overhead, "DLA transfers") && !isnan(r->total_ns) ? r->total_ns : 0;
    }
    if (ns > 0)
        oc_diag_add(&b->p->diags, OC_WARNING, "W-dla", "",
                    "%.1f %% of the time is in transfers to and from the DLA, which include the wait for it: "
                    "TensorRT does not time layers on the DLA",
                    100 * ns / b->p->imported_ns);
}

static void check_layers(struct builder *b)
{
    const struct trt_engine *e = &b->r->engine;
    uint32_t found = 0;
    for (uint32_t i = 0; i < b->p->n_rec; i++)
        found += b->p->rec[i].has_in;
    bool names_only = e->n && !e->layer[0].detailed;
    if (names_only)
        oc_diag_add(&b->p->diags, OC_INFO, "N-names-only", "",
                    "the layer information has names only: build the engine with "
                    "--profilingVerbosity=detailed for shapes "
                    "and costs");
    else if (e->n && b->r->n_time && !found)
        oc_diag_add(&b->p->diags, OC_WARNING, "W-other-engine", "",
                    "no layer of the profile is in the layer information: it belongs to another engine");
}

/* The total of the table of a log, and the shares of its layers or of the file of a profile. */
static void check_stated(const struct trt_reading *r, struct oc_profile *p)
{
    struct oc_stated_row *row = OC_NEW_ARRAY(&p->arena, r->n_time + 1, struct oc_stated_row);
    uint32_t line;
    for (size_t i = 0; i < r->n_time; i++)
        row[i] = (struct oc_stated_row){
            .name = r->time[i].name, .ns = r->time[i].total_ms * 1e6, .share = r->time[i].share};
    double have = oc_stated_sum(row, r->n_time), want = r->stated_ms * 1e6;
    bool less = have < want;
    const char *text = oc_stated_total(&p->arena, have, want, 1);
    text = text ? text : oc_stated_hundred(&p->arena, row, r->n_time, 100, 2, &less);
    text = text ? text : oc_stated_agree(&p->arena, row, r->n_time, 2, &line);
    if (text && !p->truncated)
        oc_stated_warn(p, text, less, "the table was changed, or cut, after trtexec wrote it");
}

void oc_trt_fill(const struct trt_reading *r, const struct oc_profile_opts *opts, struct oc_profile *p)
{
    struct oc_arena scratch = {0};
    struct builder b = {.r = r, .opts = opts, .p = p, .by_name.arena = &scratch, .layers.arena = &scratch};
    double *v = oc_xmalloc((r->n_run + 1) * sizeof(*v));
    uint64_t runs = r->has_times || r->has_count ? (uint64_t)r->count
                    : r->n_run                   ? r->n_run
                                                 : (uint64_t)r->n_query;
    p->rec = OC_NEW_ARRAY(&p->arena, r->n_time + r->engine.n + 3, struct oc_prof_rec);
    p->lane = OC_NEW_ARRAY(&p->arena, MAX_LANES, struct oc_lane);
    trt_records_lane_of(&b, 0);
    p->producer = "TensorRT";
    p->device = *r->device ? r->device : "CUDA";
    p->time_kind = "device time";
    p->runs_total = p->runs_used = runs < UINT32_MAX ? (uint32_t)runs : UINT32_MAX;
    p->runs_from = runs ? OC_RUNS_MARKED : trt_has_summary(r) ? OC_RUNS_MEAN : OC_RUNS_UNKNOWN;
    trt_records_choose_stat(&b, v);
    index_layers(&b);
    if (r->has_times || r->has_count)
        layer_records(&b);
    else if (r->engine.n)
        untimed_records(&b);
    else
        run_records(&b, v);
    set_run_time(&b, v);
    oc_trt_set_inputs(r, p);
    warn_dla(&b);
    check_layers(&b);
    check_stated(r, p);
    free(v);
    free(b.next);
    oc_map_free(&b.by_name);
    oc_map_free(&b.layers);
    oc_arena_free(&scratch);
}
