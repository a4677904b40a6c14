/* Data types and sizes for which the device is slow. */
#include <string.h>

#include "advice/advisor.h"
#include "estimate/predict.h"
#include "estimate/recast.h"
#include "hw/hwdb.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"

/* Minimum ratio of the f16 and f32 peaks for a suggestion. */
#define WORTH_A_CHANGE 4.0

static double advise_types_peak(const struct oc_device *d, unsigned unit, unsigned cls)
{
    bool fallback = false;
    const struct oc_hw_figure *f = oc_roof_peak(d, unit, cls, &fallback);
    return f && !fallback ? f->value : (double)NAN;
}

static double advise_types_larger(double a, double b)
{
    return isnan(a) || b > a ? b : a;
}

/* ---- f32 where f16 is much faster ------------------------------------------------------------------- */

/* Between DequantizeLinear and QuantizeLinear runtimes use integer kernels. */
static bool advise_types_is_quantized(const struct oc_advisor *x, uint32_t node)
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
        f32 += k->mac_class == OC_CLASS_F32 && !advise_types_is_quantized(x, p->node[i]) ? k->macs : 0;
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
    *now_s = p->row->roofline_s / x->r->runs;
    *then_s = roof.roof_s;
    return !roof.missing[0] && roof.roof_s < *now_s;
}

void oc_advise_fp32(struct oc_advisor *x)
{
    struct oc_advice_item *f = oc_advice_new(x, "fp32", "Matrix products in f32");
    double half = advise_types_peak(x->d, OC_HW_MATRIX, OC_CLASS_F16),
           single = advise_types_larger(advise_types_peak(x->d, OC_HW_MATRIX, OC_CLASS_F32),
                                        advise_types_peak(x->d, OC_HW_VECTOR, OC_CLASS_F32));
    double high = 0, roof = 0, time = 0;
    uint32_t n = 0;
    if (!(half >= WORTH_A_CHANGE * single))
        return;
    for (uint32_t i = 0; i < x->n_piece; i++) {
        struct oc_piece *p = &x->piece[i];
        double now_s, then_s;
        if (!is_fp32(x, p) || (x->p && !oc_piece_timed(p)) || !rooflines(x, p, &now_s, &then_s))
            continue;
        oc_advice_prove(x, f, p, p->time_ns,
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

static int64_t advise_types_dim_of(const struct oc_advisor *x, uint32_t value, int axis)
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
        *in = advise_types_dim_of(x, weight, 1);
        *out = advise_types_dim_of(x, weight, 0) / groups;
        if (is_input(x, n->in[0]))
            *in = 0;
        return *in >= 0 && *out > 0 && !(groups > 1 && *in == 1);
    }
    if (!oc_type_in(n->op_type, " MatMul Gemm "))
        return false;
    const struct oc_attr *trans = oc_node_attr(n, "transA");
    *in = advise_types_dim_of(x, n->in[0], trans && trans->i ? -2 : -1);
    *out = advise_types_dim_of(x, n->out[0], -1);
    return *in > 0 && *out > 0;
}

static int64_t advise_types_round_up(int64_t v, unsigned m)
{
    return (v + m - 1) / m * m;
}

static bool is_misaligned(const struct oc_advisor *x, uint32_t node, int64_t *in, int64_t *out,
                          unsigned *multiple)
{
    unsigned cls = x->a->cost[node].mac_class;
    *multiple = x->a->cost[node].macs ? multiple_for(cls) : 0;
    return *multiple && !isnan(advise_types_peak(x->d, OC_HW_MATRIX, cls)) && sizes_of(x, node, in, out) &&
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
    double grown = (in ? (double)advise_types_round_up(in, multiple) / (double)in : 1) *
                   (double)advise_types_round_up(out, multiple) / (double)out;
    double least = 2 * (double)k->macs * grown / advise_types_peak(x->d, OC_HW_MATRIX, k->mac_class) * 1e9;
    const char *first = in ? oc_printf(x->arena, "%lld to ", (long long)in) : "";
    oc_advice_prove(x, f, p, p->time_ns,
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

/* ---- subnormal weights ------------------------------------------------------------------------------ */

static bool on_cpu(const struct oc_advisor *x)
{
    return x->p ? !strcmp(x->p->device, "CPU") : x->d ? !strcmp(oc_device_info(x->d)->kind, "cpu") : true;
}

void oc_advise_subnormal(struct oc_advisor *x)
{
    struct oc_advice_item *f = oc_advice_new(x, "subnormal", "Subnormal weights");
    double time = 0;
    for (uint32_t i = 0; i < x->n_piece && on_cpu(x); i++) {
        struct oc_piece *p = &x->piece[i];
        double share =
            p->bucket || (x->p && !oc_piece_timed(p)) ? 0 : oc_subnormal_share(x->m, p->node, p->n_node);
        if (share < OC_SUBNORMAL_LEAST)
            continue;
        oc_advice_prove(x, f, p, p->time_ns,
                        oc_printf(x->arena, "%.1f %% of its f32 constants", 100 * share));
        time += x->p ? p->time_ns : 0;
    }
    f->low_ns = x->p ? 0 : (double)NAN;
    f->high_ns = x->p ? time * (1 - 1.0 / OC_SUBNORMAL_MOST) : (double)NAN;
    f->basis = x->p ? "at most the time x (1 - 1/40): the largest slowdown that was measured is 40" : NULL;
    f->found = oc_printf(x->arena,
                         "%u operator%s weights below 2^-126, with which x86 processors compute much more "
                         "slowly%s%s",
                         f->n_proof, f->n_proof == 1 ? " has" : "s have", x->p ? ": " : "",
                         x->p ? oc_advice_time(x, time) : "");
    f->todo = "flush them to zero (ONNX Runtime: session option session.set_denormal_as_zero = 1; PyTorch: "
              "torch.set_flush_denormal(True)), or set them to zero in the model";
    oc_advice_keep(x, f);
}
