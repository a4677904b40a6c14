/* The largest contributors of time against the rates that the same device reached elsewhere in the run, or
 * that its device file allows. Rates count 2 operations for a multiply-add in every data type
 * (report/report.h), so that GOP/s of integer kernels and GFLOP/s of float kernels compare directly. Then data
 * types and sizes for which the device is slow. */
#include <stdlib.h>
#include <string.h>

#include "advice/advisor.h"
#include "base/units.h"
#include "estimate/kernels.h"
#include "estimate/predict.h"
#include "estimate/recast.h"
#include "hw/hwdb.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"

/* Shares of a run, and ratios, below which a difference is not worth a suggestion. */
#define GROUP_SHARE   0.03 /* time of a group of kernels */
#define HOTSPOT_SHARE 0.1  /* time of a group that is compared with the roofline */
#define FASTER        1.2  /* a reference rate is this much higher */
#define FAR_BELOW     0.5  /* of the rate of kernels of comparable size */
#define LOW_SHARE     0.3  /* of the roofline */
#define SIMILAR       8.0  /* ratio of multiply-adds of kernels of comparable size */
enum { PEERS = 3, MIN_RUNS = 2, MIN_SIDE = 16, MIN_DEPTH = 32 };

enum family { NO_FAMILY, CONVOLUTION, DEPTHWISE, PRODUCT };

struct rated { /* a timed kernel with multiply-adds */
    const struct oc_piece *piece;
    double ops; /* of a run */
    double macs;
    double best_ns; /* shortest of the runs; the time of the piece where that is unknown */
    double roof_ns; /* of a run; NAN: unknown */
    uint8_t dtype;  /* enum oc_class */
    bool regular;   /* large enough in all sizes for a full rate */
    uint32_t group;
};

struct group { /* kernels of one type, family and data type */
    const char *type;
    enum family family;
    uint8_t dtype;
    double ops, time_ns;
    uint32_t n;
};

struct rates {
    struct oc_advisor *x;
    struct rated *kernel;
    struct group *group;
    uint32_t n_kernel, n_group;
};

/* ---- kernels and groups ----------------------------------------------------------------------------- */

static enum family family_of(unsigned cls)
{
    switch (cls) {
    case OC_KC_CONV_1X1:
    case OC_KC_CONV_KXK:
        return CONVOLUTION;
    case OC_KC_CONV_DEPTHWISE:
        return DEPTHWISE;
    case OC_KC_GEMM:
    case OC_KC_BATCHED_GEMM:
        return PRODUCT;
    default:
        return NO_FAMILY;
    }
}

static double advise_rates_macs_of(const struct oc_kernel *k)
{
    double sum = 0;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        sum += (double)k->work.macs[c];
    return sum;
}

static uint32_t advise_rates_group_of(struct rates *r, const char *type, enum family family, uint8_t dtype)
{
    uint32_t i = 0;
    while (i < r->n_group && (strcmp(r->group[i].type, type) != 0 || r->group[i].family != family ||
                              r->group[i].dtype != dtype))
        i++;
    if (i == r->n_group)
        r->group[r->n_group++] = (struct group){.type = type, .family = family, .dtype = dtype};
    return i;
}

static double roofline_ns(const struct oc_advisor *x, const struct oc_work *work)
{
    struct oc_roof roof;
    if (!x->d || work->unknown)
        return NAN;
    oc_roofline_of(x->d, work, &x->r->roof, NAN, &roof);
    return roof.missing[0] ? NAN : roof.roof_s * 1e9;
}

static void advise_rates_add_kernel(struct rates *r, const struct oc_piece *p, const struct oc_kernel_use *u)
{
    const struct oc_kernel *k = &u->kernel;
    enum family family = family_of(k->cls);
    double macs = advise_rates_macs_of(k), calls = u->calls > 1 ? u->calls : 1;
    if (!oc_piece_timed(p) || p->bucket || !u->known || family == NO_FAMILY || !(macs > 0))
        return;
    uint8_t dtype = oc_class_is_int(k->dtype) ? (uint8_t)OC_CLASS_I8 : k->dtype;
    struct rated *n = &r->kernel[r->n_kernel++];
    *n = (struct rated){.piece = p, .ops = 2 * macs * calls, .macs = macs, .dtype = dtype};
    n->regular = k->m >= MIN_SIDE && k->n >= MIN_SIDE && k->k >= MIN_DEPTH &&
                 (family == PRODUCT || k->channels_in >= MIN_SIDE);
    n->best_ns = p->rec->min_ns > 0 ? p->rec->min_ns : p->time_ns; /* both of a whole run */
    n->roof_ns = roofline_ns(r->x, &k->work) * calls;
    n->group = advise_rates_group_of(r, p->type, family, dtype);
    struct group *g = &r->group[n->group];
    g->ops += n->ops;
    g->time_ns += p->time_ns;
    g->n++;
}

static void advise_rates_find_kernels(struct oc_advisor *x, struct rates *r)
{
    struct oc_kernel_list list;
    uint32_t *of_record = OC_NEW_ARRAY(&x->scratch, (size_t)x->p->n_rec + 1, uint32_t);
    oc_kernels_of_join(x->j, &x->scratch, &list);
    *r = (struct rates){.x = x,
                        .kernel = OC_NEW_ARRAY(&x->scratch, list.n + 1, struct rated),
                        .group = OC_NEW_ARRAY(&x->scratch, list.n + 1, struct group)};
    for (uint32_t i = 0; i < x->n_piece; i++)
        if (x->piece[i].row->record != OC_NONE)
            of_record[x->piece[i].row->record] = i + 1;
    for (size_t i = 0; i < list.n; i++) {
        uint32_t piece = list.item[i].record == OC_NONE ? 0 : of_record[list.item[i].record];
        if (piece)
            advise_rates_add_kernel(r, &x->piece[piece - 1], &list.item[i]);
    }
}

static double advise_rates_rate(double ops, double time_ns)
{
    return ops / (time_ns * 1e-9);
}

static double group_rate(const struct group *g)
{
    return advise_rates_rate(g->ops, g->time_ns);
}

/* "54.3 GOP/s", "82.0 GFLOP/s" */
static const char *rate_text(struct oc_advisor *x, double per_s, unsigned dtype)
{
    char text[40];
    oc_format_si(per_s, oc_class_is_int(dtype) ? "OP/s" : "FLOP/s", text, sizeof(text));
    return oc_strdup(x->arena, text);
}

static bool has_share(const struct rates *r, const struct group *g, double share)
{
    return g->time_ns >= share * r->x->out->run_ns;
}

/* ---- quantized kernels ------------------------------------------------------------------------------ */

/* Of the same family, float or of another integer operator, and faster; NULL: none. */
static const struct group *faster_group(const struct rates *r, const struct group *g)
{
    const struct group *best = NULL;
    for (uint32_t i = 0; i < r->n_group; i++) {
        const struct group *h = &r->group[i];
        if (h == g || h->family != g->family || (h->n < PEERS && !has_share(r, h, GROUP_SHARE)) ||
            group_rate(h) < FASTER * group_rate(g))
            continue;
        if (!best || group_rate(h) > group_rate(best))
            best = h;
    }
    return best;
}

/* Time of the operators that dynamic quantization puts around the products: DynamicQuantizeLinear before,
 * Cast and Mul by the scale after. */
static double overhead_ns(struct oc_advisor *x)
{
    bool *around = OC_NEW_ARRAY(&x->scratch, (size_t)x->n_piece + 1, bool);
    double sum = 0;
    for (uint32_t i = 0; i < x->m->n_node; i++) {
        const struct oc_node *n = &x->m->node[i];
        if (!oc_advisor_is(x, i, " ConvInteger MatMulInteger ") || !n->n_out || n->out[0] == OC_NONE)
            continue;
        uint32_t before = oc_advisor_producer(x, n->in[0]), cast = x->user[n->out[0]];
        bool casts = oc_advisor_is(x, cast, " Cast ") && x->m->node[cast].out[0] != OC_NONE;
        uint32_t mul = casts ? x->user[x->m->node[cast].out[0]] : OC_NONE;
        const uint32_t node[] = {oc_advisor_is(x, before, " DynamicQuantizeLinear ") ? before : OC_NONE,
                                 casts ? cast : OC_NONE, oc_advisor_is(x, mul, " Mul ") ? mul : OC_NONE};
        for (size_t k = 0; k < OC_COUNT(node); k++)
            if (node[k] != OC_NONE && x->piece_of[node[k]] != OC_NONE)
                around[x->piece_of[node[k]]] = true;
    }
    for (uint32_t i = 0; i < x->n_piece; i++)
        sum += around[i] && oc_piece_timed(&x->piece[i]) ? x->piece[i].time_ns : 0;
    return sum;
}

static bool advise_rates_is_dynamic(const struct group *g)
{
    return oc_type_in(g->type, " ConvInteger MatMulInteger ");
}

/* ", f32 peak 217 GFLOP/s, i8 peak 868 GOP/s of DEVICE"; "" without a device. */
static const char *peaks_text(struct oc_advisor *x)
{
    static const uint8_t classes[] = {OC_CLASS_F32, OC_CLASS_I8};
    const char *text = "";
    for (size_t i = 0; x->d && i < OC_COUNT(classes); i++) {
        double best = 0;
        for (unsigned unit = OC_HW_VECTOR; unit <= OC_HW_MATRIX; unit++) {
            bool fallback = false;
            const struct oc_hw_figure *f = oc_roof_peak(x->d, unit, classes[i], &fallback);
            best = f && !fallback && f->value > best ? f->value : best;
        }
        if (best > 0)
            text = oc_printf(x->arena, "%s; %s peak of the device %s", text, i ? "i8" : "f32",
                             rate_text(x, best, classes[i]));
    }
    return text;
}

static const char *quantized_todo(const struct group *g)
{
    if (g->family == CONVOLUTION || g->family == DEPTHWISE)
        return "compare with the float model, and quantize convolutions statically "
               "(onnxruntime.quantization.quantize_static, format QDQ): QLinearConv has scales at build time "
               "and fused kernels, ConvInteger has neither. ONNX Runtime recommends dynamic quantization for "
               "recurrent networks and transformers only";
    return "compare with the float model; leave these operators in float (nodes_to_exclude of "
           "onnxruntime.quantization), or quantize them statically";
}

/* reference: operations per second, NAN: none */
static void prove_group(struct rates *r, struct oc_advice_item *f, uint32_t group, double reference,
                        unsigned dtype)
{
    struct oc_advisor *x = r->x;
    for (uint32_t i = 0; i < r->n_kernel; i++) {
        const struct rated *k = &r->kernel[i];
        const char *own =
            k->group == group ? rate_text(x, advise_rates_rate(k->ops, k->piece->time_ns), k->dtype) : NULL;
        if (!own)
            continue;
        double then_ns = k->ops / reference * 1e9;
        oc_advice_prove(f, k->piece, k->piece->time_ns,
                        then_ns < k->piece->time_ns
                            ? oc_printf(x->arena, "%s; %s at %s", own, oc_advice_duration(x, then_ns),
                                        rate_text(x, reference, dtype))
                            : own);
    }
}

/* A faster kernel of this run is the reference. */
static void slower_than(struct rates *r, uint32_t group, const struct group *h, double overhead)
{
    struct oc_advisor *x = r->x;
    const struct group *g = &r->group[group];
    bool is_float = !oc_class_is_int(h->dtype);
    struct oc_advice_item *f =
        oc_advice_new(x, "quantized-slow",
                      is_float ? "Quantized kernels slower than float kernels"
                               : "Quantized kernels slower than other quantized kernels");
    double then_ns = g->ops / group_rate(h) * 1e9;
    prove_group(r, f, group, group_rate(h), h->dtype);
    f->low_ns = 0;
    f->high_ns = g->time_ns - then_ns + overhead;
    f->basis = oc_printf(x->arena, "at most time - operations / rate of %s%s", h->type,
                         overhead > 0 ? ", and the time of DynamicQuantizeLinear, Cast and Mul" : "");
    f->found =
        oc_printf(x->arena, "%u %s take %s at %s; %s (%s) reaches %s in this run, where they would take %s%s",
                  g->n, g->type, oc_advice_time(x, g->time_ns), rate_text(x, group_rate(g), g->dtype),
                  h->type, oc_class_name(h->dtype), rate_text(x, group_rate(h), h->dtype),
                  oc_advice_duration(x, then_ns), peaks_text(x));
    f->todo = quantized_todo(g);
    oc_advice_keep(x, f);
}

static double group_roofline_ns(const struct rates *r, uint32_t group)
{
    double sum = 0;
    for (uint32_t i = 0; i < r->n_kernel; i++)
        sum += r->kernel[i].group == group ? r->kernel[i].roof_ns : 0;
    return sum;
}

/* Dynamically quantized convolutions, and nothing in the run to compare with. */
static void dynamic_convolutions(struct rates *r, uint32_t group, double overhead)
{
    struct oc_advisor *x = r->x;
    const struct group *g = &r->group[group];
    struct oc_advice_item *f =
        oc_advice_new(x, "dynamic-convolution", "Convolutions with dynamic quantization");
    prove_group(r, f, group, NAN, g->dtype);
    f->low_ns = overhead;
    f->high_ns = g->time_ns - group_roofline_ns(r, group) + overhead;
    f->basis = isnan(f->high_ns)
                   ? "at least the time of DynamicQuantizeLinear, Cast and Mul, which static quantization "
                     "and float do not need; faster convolutions come on top"
                   : "from the time of DynamicQuantizeLinear, Cast and Mul, which static quantization and "
                     "float do not need, to that and time - roofline time of the convolutions";
    f->found =
        oc_printf(x->arena,
                  "%u %s take %s at %s, and DynamicQuantizeLinear, Cast and Mul around them %s; no other "
                  "convolution of this run to compare with. At twice this rate they would take %s less%s",
                  g->n, g->type, oc_advice_time(x, g->time_ns), rate_text(x, group_rate(g), g->dtype),
                  oc_advice_time(x, overhead), oc_advice_duration(x, g->time_ns / 2), peaks_text(x));
    f->todo = quantized_todo(g);
    oc_advice_keep(x, f);
}

/* True: reported. */
static bool check_quantized(struct rates *r, uint32_t group)
{
    const struct group *g = &r->group[group];
    if (!oc_class_is_int(g->dtype) || !has_share(r, g, GROUP_SHARE))
        return false;
    const struct group *h = faster_group(r, g);
    double overhead = advise_rates_is_dynamic(g) ? overhead_ns(r->x) : 0;
    if (h)
        slower_than(r, group, h, overhead);
    else if (advise_rates_is_dynamic(g) && g->family == CONVOLUTION && overhead > 0)
        dynamic_convolutions(r, group, overhead);
    else
        return false;
    return true;
}

/* ---- kernels of comparable size --------------------------------------------------------------------- */

/* Rate of the other kernels of the group with a comparable number of multiply-adds; NAN: too few. The
 * kernel is compared by its fastest run, the others by their times: noise makes no kernel slow. */
static double peer_rate(const struct rates *r, const struct rated *k)
{
    double ops = 0, time_ns = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n_kernel; i++) {
        const struct rated *o = &r->kernel[i];
        if (o == k || o->group != k->group || !o->regular || o->macs > SIMILAR * k->macs ||
            k->macs > SIMILAR * o->macs)
            continue;
        ops += o->ops;
        time_ns += o->piece->time_ns;
        n++;
    }
    return n < PEERS ? (double)NAN : advise_rates_rate(ops, time_ns);
}

static void check_peers(struct rates *r)
{
    struct oc_advisor *x = r->x;
    struct oc_advice_item *f =
        oc_advice_new(x, "below-peers", "Kernels far below the rate of others of their size");
    double sum = 0, time = 0;
    for (uint32_t i = 0; i < r->n_kernel && x->p->runs_used >= MIN_RUNS; i++) {
        const struct rated *k = &r->kernel[i];
        double own = advise_rates_rate(k->ops, k->best_ns),
               peers = k->regular ? peer_rate(r, k) : (double)NAN;
        if (!(own < FAR_BELOW * peers))
            continue;
        double then_ns = k->ops / peers * 1e9;
        oc_advice_prove(f, k->piece, k->piece->time_ns,
                        oc_printf(x->arena, "%s; others of its size %s: %s", rate_text(x, own, k->dtype),
                                  rate_text(x, peers, k->dtype), oc_advice_duration(x, then_ns)));
        sum += k->piece->time_ns - then_ns;
        time += k->piece->time_ns;
    }
    if (sum < GROUP_SHARE * x->out->run_ns)
        return;
    f->low_ns = 0;
    f->high_ns = sum;
    f->basis = "at most time - operations / rate of kernels of the same type, data type and size";
    f->found = oc_printf(x->arena,
                         "%u kernel%s take%s %s at less than half of the rate that the same operator with a "
                         "comparable number of multiply-adds reaches in this run",
                         f->n_proof, f->n_proof == 1 ? "" : "s", f->n_proof == 1 ? "s" : "",
                         oc_advice_time(x, time));
    f->todo = "compare strides, dilations, padding and channel counts with those of the fast kernels: an "
              "unusual one often selects a slower implementation. If the times of the runs differ, record "
              "again on an idle machine";
    oc_advice_keep(x, f);
}

/* ---- roofline --------------------------------------------------------------------------------------- */

static void check_roofline(struct rates *r, uint32_t group)
{
    struct oc_advisor *x = r->x;
    const struct group *g = &r->group[group];
    double roof_ns = group_roofline_ns(r, group);
    if (!(roof_ns < LOW_SHARE * g->time_ns) || !has_share(r, g, HOTSPOT_SHARE))
        return;
    struct oc_advice_item *f =
        oc_advice_new(x, "below-roofline", "Largest contributor far below the roofline");
    for (uint32_t i = 0; i < r->n_kernel; i++) {
        const struct rated *k = &r->kernel[i];
        if (k->group != group)
            continue;
        oc_advice_prove(f, k->piece, k->piece->time_ns,
                        oc_printf(x->arena, "%s; roofline time %s",
                                  rate_text(x, advise_rates_rate(k->ops, k->piece->time_ns), k->dtype),
                                  oc_advice_duration(x, k->roof_ns)));
    }
    f->low_ns = 0;
    f->high_ns = g->time_ns - roof_ns;
    f->basis = "at most time - roofline time";
    f->found = oc_printf(x->arena,
                         "%u %s take %s at %s, %.0f %% of the roofline; at half of it they would take %s%s",
                         g->n, g->type, oc_advice_time(x, g->time_ns), rate_text(x, group_rate(g), g->dtype),
                         roof_ns / g->time_ns * 100, oc_advice_duration(x, 2 * roof_ns), peaks_text(x));
    f->todo =
        "check that the device file describes what the run used (threads, instruction sets, clock), then a "
        "larger batch, a runtime with kernels for this data type, and shapes that fill its vectors";
    oc_advice_keep(x, f);
}

void oc_advise_rates(struct oc_advisor *x)
{
    struct rates r;
    if (!x->j || !(x->out->run_ns > 0))
        return;
    advise_rates_find_kernels(x, &r);
    for (uint32_t i = 0; i < r.n_group; i++)
        if (!check_quantized(&r, i))
            check_roofline(&r, i);
    check_peers(&r);
}

/* ---- data types and sizes ------------------------------------------------------------------------ */

/* Minimum ratio of the f16 and f32 peaks for a suggestion. */
#define WORTH_A_CHANGE 4.0

static double peak_of(const struct oc_device *d, unsigned unit, unsigned cls)
{
    bool fallback = false;
    const struct oc_hw_figure *f = oc_roof_peak(d, unit, cls, &fallback);
    return f && !fallback ? f->value : (double)NAN;
}

static double larger_of(double a, double b)
{
    return isnan(a) || b > a ? b : a;
}

/* ---- f32 where f16 is much faster ------------------------------------------------------------------- */

/* Between DequantizeLinear and QuantizeLinear runtimes use integer kernels. */
static bool is_quantized(const struct oc_advisor *x, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    for (uint32_t i = 0; i < n->n_in && i < 2; i++)
        if (n->in[i] != OC_NONE && oc_advisor_is(x, x->m->value[n->in[i]].producer, " DequantizeLinear "))
            return true;
    return false;
}

/* Products in f32; the precision of the profile (tf32, f16 ...) takes precedence. */
static bool is_fp32(const struct oc_advisor *x, const struct oc_piece *p)
{
    uint64_t f32 = 0, all = 0;
    if (p->bucket || (p->rec && *p->rec->precision && strcmp(p->rec->precision, "f32")))
        return false;
    for (uint32_t i = 0; i < p->n_node; i++) {
        const struct oc_node_cost *k = &x->a->cost[p->node[i]];
        all += k->macs;
        f32 += k->mac_class == OC_CLASS_F32 && !is_quantized(x, p->node[i]) ? k->macs : 0;
    }
    return f32 && f32 == all;
}

/* Roofline time as it is and in f16, in seconds; false: unknown. */
static bool rooflines(const struct oc_advisor *x, const struct oc_piece *p, double *now_s, double *then_s)
{
    struct oc_recasting sum = {0};
    struct oc_roof roof;
    if (!p->row->work || p->row->work->unknown || p->row->roof_partial || isnan(p->row->roofline_s))
        return false;
    struct oc_work work = *p->row->work;
    oc_recast_add(oc_recast_by_name("fp16"), x->a, p->node, p->n_node, &sum);
    oc_recast_finish(&sum, &work);
    oc_roofline_of(x->d, &work, &x->r->roof, NAN, &roof);
    *now_s = oc_of_one_run(&x->r->m, p->row->roofline_s);
    *then_s = roof.roof_s;
    return !roof.missing[0] && roof.roof_s < *now_s;
}

void oc_advise_fp32(struct oc_advisor *x)
{
    struct oc_advice_item *f = oc_advice_new(x, "fp32", "Matrix products in f32");
    double half = peak_of(x->d, OC_HW_MATRIX, OC_CLASS_F16),
           single = larger_of(peak_of(x->d, OC_HW_MATRIX, OC_CLASS_F32),
                              peak_of(x->d, OC_HW_VECTOR, OC_CLASS_F32));
    double high = 0, roof = 0, time = 0;
    uint32_t n = 0;
    if (!(half >= WORTH_A_CHANGE * single))
        return;
    for (uint32_t i = 0; i < x->n_piece; i++) {
        struct oc_piece *p = &x->piece[i];
        double now_s, then_s;
        if (!is_fp32(x, p) || (x->p && !oc_piece_timed(p)) || !rooflines(x, p, &now_s, &then_s))
            continue;
        oc_advice_prove(f, p, p->time_ns,
                        oc_printf(x->arena, "roofline time %.1fx shorter in f16", now_s / then_s));
        if (x->p) {
            time += p->time_ns;
            high += p->time_ns * (1 - then_s / now_s);
        }
        roof += (now_s - then_s) * 1e9;
        n++;
    }
    f->high_ns = x->p ? high : roof;
    f->low_ns = x->p ? 0 : (double)NAN;
    f->basis = x->p ? "at most time x (1 - roofline time in f16 / in f32) of each, at the same efficiency"
                    : "the difference of the roofline times; the efficiency of the runtime is unknown";
    f->found = oc_printf(
        x->arena,
        "%u operator%s multiply in f32; the f16 peak of %s is %.3gx the f32 peak (%.4g and %.4g TFLOP/s)%s%s",
        n, n == 1 ? "" : "s", oc_device_info(x->d)->name, half / single, single / 1e12, half / 1e12,
        x->p ? ": " : "", x->p ? oc_advice_time(x, time) : "");
    f->todo =
        "run them in f16 (trtexec --fp16, onnxconverter_common.float16, torch.autocast), and check the "
        "accuracy; on NVIDIA devices since Ampere TF32 is a smaller step that needs no change of the model";
    oc_advice_keep(x, f);
}

/* ---- channels that do not fill the matrix unit ------------------------------------------------------ */

/* NVIDIA, "Matrix Multiplication Background User's Guide", section "Requirements to use Tensor Cores", and
 * "Convolutional Layers User's Guide", section "Channels In And Out": dimensions in multiples of 16 bytes. */
static unsigned multiple_for(unsigned cls)
{
    return cls == OC_CLASS_F16 || cls == OC_CLASS_BF16 ? 8
           : cls == OC_CLASS_I8 || cls == OC_CLASS_F8  ? 16
                                                       : 0;
}

static int64_t dim_of(const struct oc_advisor *x, uint32_t value, int axis)
{
    const struct oc_shape *s = value == OC_NONE ? NULL : &x->a->type[value].shape;
    int at = s && s->ranked ? (axis < 0 ? s->rank + axis : axis) : -1;
    return at < 0 || at >= s->rank || !oc_is_known(s->dim[at]) ? -1 : s->dim[at].v;
}

static bool is_input(const struct oc_advisor *x, uint32_t value)
{
    uint32_t node = oc_advisor_producer(x, value);
    while (node != OC_NONE && oc_advisor_is(x, node, " QuantizeLinear DequantizeLinear Cast ") &&
           x->m->node[node].n_in)
        node = oc_advisor_producer(x, x->m->node[node].in[0]);
    return node == OC_NONE;
}

/* The two sizes that should be multiples; false: not such an operator. Excluded: the first convolution of a
 * network, whose channels are those of its input, and depthwise ones, which do not use the unit. */
static bool sizes_of(const struct oc_advisor *x, uint32_t node, int64_t *in, int64_t *out)
{
    const struct oc_node *n = &x->m->node[node];
    if (n->n_in < 2 || !n->n_out || n->out[0] == OC_NONE)
        return false;
    if (oc_type_in(n->op_type, " Conv QLinearConv ConvInteger ")) {
        uint32_t slot = oc_op_weight_slot(x->a->op[node]), weight = slot < n->n_in ? n->in[slot] : OC_NONE;
        const struct oc_attr *group = oc_node_attr(n, "group");
        int64_t groups = group && group->type == OC_ATTR_INT && group->i > 0 ? group->i : 1;
        *in = dim_of(x, weight, 1);
        *out = dim_of(x, weight, 0) / groups;
        if (is_input(x, n->in[0]))
            *in = 0;
        return *in >= 0 && *out > 0 && !(groups > 1 && *in == 1);
    }
    if (!oc_type_in(n->op_type, " MatMul Gemm "))
        return false;
    const struct oc_attr *trans = oc_node_attr(n, "transA");
    *in = dim_of(x, n->in[0], trans && trans->i ? -2 : -1);
    *out = dim_of(x, n->out[0], -1);
    return *in > 0 && *out > 0;
}

static int64_t round_up(int64_t v, unsigned m)
{
    return (v + m - 1) / m * m;
}

static bool is_misaligned(const struct oc_advisor *x, uint32_t node, int64_t *in, int64_t *out,
                          unsigned *multiple)
{
    unsigned cls = x->a->cost[node].mac_class;
    *multiple = x->a->cost[node].macs ? multiple_for(cls) : 0;
    return *multiple && !isnan(peak_of(x->d, OC_HW_MATRIX, cls)) && sizes_of(x, node, in, out) &&
           (*in % *multiple || *out % *multiple);
}

static void prove_misaligned(struct oc_advisor *x, struct oc_advice_item *f, const struct oc_piece *p,
                             uint32_t node, double *high)
{
    int64_t in, out;
    unsigned multiple;
    if (!is_misaligned(x, node, &in, &out, &multiple))
        return;
    const struct oc_node_cost *k = &x->a->cost[node];
    double grown = (in ? (double)round_up(in, multiple) / (double)in : 1) * (double)round_up(out, multiple) /
                   (double)out;
    double least = 2 * (double)k->macs * grown / peak_of(x->d, OC_HW_MATRIX, k->mac_class) * 1e9;
    const char *first = in ? oc_printf(x->arena, "%lld to ", (long long)in) : "";
    oc_advice_prove(f, p, p->time_ns,
                    oc_printf(x->arena, "%s%lld channels, not multiples of %u; %.3gx the work if padded",
                              first, (long long)out, multiple, grown));
    if (p->time_ns > least)
        *high += p->time_ns - least;
}

void oc_advise_alignment(struct oc_advisor *x)
{
    struct oc_advice_item *f = oc_advice_new(x, "alignment", "Channels that do not fill the matrix unit");
    double high = 0;
    if (strcmp(oc_device_info(x->d)->vendor, "NVIDIA"))
        return;
    for (uint32_t i = 0; i < x->n_piece; i++) {
        struct oc_piece *p = &x->piece[i];
        for (uint32_t k = 0; k < p->n_node && !p->bucket && (!x->p || oc_piece_timed(p)); k++)
            prove_misaligned(x, f, p, p->node[k], &high);
    }
    f->low_ns = x->p ? 0 : (double)NAN;
    f->high_ns = x->p ? high : (double)NAN;
    f->basis = x->p ? "at most time - padded operations / peak of the matrix unit, of each" : NULL;
    f->found = oc_printf(x->arena,
                         "%u product%s %s sizes that are not multiples of 16 bytes: Tensor Cores are used in "
                         "part, or not at all",
                         f->n_proof, f->n_proof == 1 ? "" : "s", f->n_proof == 1 ? "has" : "have");
    f->todo = "choose channels, hidden sizes and vocabularies that are multiples of 8 (f16, bf16) or 16 "
              "(int8); padding weights with zeros does not change results";
    oc_advice_keep(x, f);
}
