#include "estimate/predict.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/wire.h"
#include "estimate/curve.h"
#include "model/model.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"
#include "ops/op.h"

/* ---- weights ---------------------------------------------------------------------------------------- */

/* A tensor of outer x width x inner elements; kernels load `lanes` neighbours along its width at once. */
struct vectors {
    uint64_t outer, width, inner, lanes;
    float below;         /* what counts as subnormal */
    const float *factor; /* of each element of the width, by which the runtime multiplies them; NULL: 1 */
};

enum { WHOLE = 16384, RUNS = 16 };

static float element(const uint8_t *data, uint64_t at)
{
    float x;
    oc_os_need(data + 4 * at, sizeof(x));
    uint32_t bits = (uint32_t)oc_load_le(data + 4 * at, sizeof(x));
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static bool is_below(float x, float below)
{
    return x != 0 && fabsf(x) < below;
}

static bool has_subnormal(const uint8_t *data, const struct vectors *v, uint64_t vector)
{
    if (v->lanes == 1 && !v->factor)
        return is_below(element(data, vector), v->below);
    uint64_t rows = (v->width + v->lanes - 1) / v->lanes, row = vector / v->inner % rows;
    uint64_t end = (row + 1) * v->lanes < v->width ? (row + 1) * v->lanes : v->width;
    bool found = false;
    for (uint64_t lane = row * v->lanes; lane < end && !found; lane++) {
        uint64_t at = (vector / v->inner / rows * v->width + lane) * v->inner + vector % v->inner;
        found = is_below(element(data, at) * (v->factor ? v->factor[lane] : 1), v->below);
    }
    return found;
}

/* Share of the vectors with a subnormal number, of a sample; adds the elements of the tensor to *all. */
static double vectors_share(const struct oc_model *m, const struct oc_tensor *t, const struct vectors *v,
                            double *all)
{
    struct oc_tensor_bytes b;
    bool copied = t->storage == OC_STORE_FIELDS && t->elements > 1 << 22;
    if (t->dtype != OC_DT_FLOAT || copied || !t->elements || !oc_tensor_bytes_open(m, t, &b))
        return 0;
    uint64_t n = v->outer * ((v->width + v->lanes - 1) / v->lanes) * v->inner, most = WHOLE / v->lanes;
    uint64_t places = v->inner > 1 ? RUNS / 2 : RUNS; /* rows apart are on pages apart */
    uint64_t runs = n > most ? places : 1, run = n > most ? most / places : n, found = 0;
    for (uint64_t r = 0; r < runs; r++) {
        uint64_t from = runs > 1 ? (n - run) / (runs - 1) * r : 0;
        for (uint64_t i = from; i < from + run; i++)
            found += has_subnormal(b.data, v, i);
    }
    oc_tensor_bytes_close(&b);
    *all += (double)t->elements;
    return (double)found / (double)(runs * run);
}

static const struct oc_tensor *weights_of(const struct oc_model *m, const struct oc_node *n, uint32_t slot)
{
    const struct oc_value *v = slot < n->n_in && n->in[slot] != OC_NONE ? &m->value[n->in[slot]] : NULL;
    if (!v || v->constant)
        return v ? v->constant : NULL;
    return v->producer != OC_NONE ? oc_node_constant(&m->node[v->producer]) : NULL;
}

double oc_subnormal_share(const struct oc_model *m, const uint32_t *node, uint32_t n_node)
{
    double all = 0, subnormal = 0;
    for (uint32_t k = 0; k < n_node; k++)
        for (uint32_t i = 0; i < m->node[node[k]].n_in; i++) {
            const struct oc_tensor *t = weights_of(m, &m->node[node[k]], i);
            double before = all;
            if (!t)
                continue;
            double share = vectors_share(m, t, &(struct vectors){1, t->elements, 1, 1, FLT_MIN, NULL}, &all);
            subnormal += share * (all - before);
        }
    return all > 0 ? subnormal / all : 0;
}

/* ---- kernels ---------------------------------------------------------------------------------------- */

#define CYCLES      150 /* of a vector multiply-add with a subnormal operand */
#define MOST_CYCLES 200
#define NONZERO     0.4 /* share of inputs after Relu that are not zero, */
#define FEW_NONZERO 0.2 /* where most vectors have subnormal weights: those of channels that are zero decay */
#define MOSTLY      0.5
/* Weights of a channel that training has switched off decay in the layer before, too: a depthwise convolution multiplies
 * its weights by values of that size. */
#define SQUARED    0x1p-63f
#define ASSUMED_HZ 3e9
#define MOST_MOVES 8

static const struct oc_hw_figure *figure_of(const struct oc_device *d, const char *group, const char *what)
{
    for (size_t i = 0; i < d->n_figure; i++)
        if (strcmp(d->figure[i].group, group) == 0 && (!what || strcmp(d->figure[i].what, what) == 0))
            return &d->figure[i];
    return NULL;
}

/* Whether many elements of the value are zero: it comes from Relu, through operators that move elements. */
static bool comes_from_relu(const struct oc_model *m, uint32_t value)
{
    for (unsigned i = 0; i < MOST_MOVES && value != OC_NONE; i++) {
        const struct oc_node *n =
            m->value[value].producer == OC_NONE ? NULL : &m->node[m->value[value].producer];
        const struct oc_op *op = n ? oc_op_find(n->domain, n->op_type, 0) : NULL;
        if (!op || !n->n_in || oc_op_is(op, OC_F_RECTIFIES))
            return op && n->n_in;
        if (!oc_op_selects(op) && !oc_op_is(op, OC_F_NO_EFFECT) && op->op_class != OC_OP_POOL)
            return false;
        value = n->in[0];
    }
    return false;
}

/* How a kernel of the class loads the weights t of the node: neighbours in a vector are output channels. Unblocked and
 * transposed convolutions multiply one weight with a vector of positions. */
static bool vectors_of(unsigned cls, const struct oc_node *n, const struct oc_tensor *t, uint64_t lanes,
                       struct vectors *out)
{
    const struct oc_attr *transposed = oc_node_attr(n, "transB");
    bool product = strcmp(n->op_type, "MatMul") == 0 ||
                   (strcmp(n->op_type, "Gemm") == 0 && !(transposed && transposed->i));
    unsigned axis = product ? t->rank - 1 : cls == OC_KC_RNN ? 1 : 0;
    if (axis >= t->rank || !t->elements)
        return false;
    *out = (struct vectors){
        1, (uint64_t)t->dim[axis], 1, lanes, cls == OC_KC_CONV_DEPTHWISE ? SQUARED : FLT_MIN, NULL};
    for (unsigned i = 0; i < axis; i++)
        out->outer *= (uint64_t)t->dim[i];
    for (unsigned i = axis + 1; i < t->rank; i++)
        out->inner *= (uint64_t)t->dim[i];
    if (cls == OC_KC_CONV_PLAIN || cls == OC_KC_CONV_TRANSPOSED)
        out->lanes = 1;
    return true;
}

static bool is_made_by(const struct oc_device *d, const char *vendor)
{
    const char *maker = oc_cal_device_kind(d) == OC_CAL_CPU ? oc_device_info(d)->vendor : NULL;
    return maker && strcmp(maker, vendor) == 0;
}

/* The lanes of a vector of f32; 0: not x86, where subnormal numbers are as fast as others, as far as known. */
static uint64_t lanes_of(const struct oc_device *d)
{
    if (!is_made_by(d, "Intel") && !is_made_by(d, "AMD"))
        return 0;
    return oc_fusion_rules_of("onnxruntime", d) == OC_FUSE_ORT_AVX2 ? 8 : 16;
}

/* scale / sqrt(variance + epsilon) of the BatchNormalization that the runtime folds into the weights of `n`; heap. NULL:
 * none. */
static float *folded_factors(const struct oc_model *m, const struct oc_kernel_use *u, const struct oc_node *n,
                             uint64_t width)
{
    const struct oc_node *norm = NULL;
    for (uint32_t i = 0; i < u->n_node; i++) {
        const struct oc_node *x = &m->node[u->node[i]];
        norm =
            strcmp(x->op_type, "BatchNormalization") == 0 && x->n_in > 4 && x->in[0] == n->out[0] ? x : norm;
    }
    const struct oc_tensor *scale = norm ? weights_of(m, norm, 1) : NULL,
                           *variance = norm ? weights_of(m, norm, 4) : NULL;
    if (!scale || !variance || scale->elements != width || variance->elements != width ||
        scale->dtype != OC_DT_FLOAT || variance->dtype != OC_DT_FLOAT)
        return NULL;
    const struct oc_attr *epsilon = oc_node_attr(norm, "epsilon");
    struct oc_tensor_bytes a, b;
    float *factor = NULL;
    if (!oc_tensor_bytes_open(m, scale, &a))
        return NULL;
    if (oc_tensor_bytes_open(m, variance, &b)) {
        factor = oc_xmalloc((size_t)width * sizeof(*factor));
        for (uint64_t i = 0; i < width; i++)
            factor[i] = element(a.data, i) / sqrtf(element(b.data, i) + (epsilon ? epsilon->f : 1e-5f));
        oc_tensor_bytes_close(&b);
    }
    oc_tensor_bytes_close(&a);
    return factor;
}

static double assisted_share(const struct oc_model *m, uint64_t lanes, const struct oc_kernel_use *u,
                             const struct oc_node *n, const struct oc_tensor *t)
{
    struct vectors v;
    double all = 0;
    if (!t || !vectors_of(u->kernel.cls, n, t, lanes, &v))
        return 0;
    bool convolution = strcmp(n->op_type, "Conv") == 0;
    float *factor = convolution ? folded_factors(m, u, n, v.width) : NULL;
    v.factor = factor;
    double share = vectors_share(m, t, &v, &all);
    free(factor);
    return share;
}

static void mark_kernel(const struct oc_model *m, uint64_t lanes, struct oc_kernel_use *u)
{
    struct oc_kernel *k = &u->kernel;
    if (k->node == OC_NONE)
        return;
    const struct oc_node *n = &m->node[k->node];
    uint32_t last = k->cls == OC_KC_RNN ? 2 : 1;
    for (uint32_t slot = 1; n->n_out && slot <= last && k->work.macs[OC_CLASS_F32]; slot++)
        k->assisted = fmax(k->assisted, assisted_share(m, lanes, u, n, weights_of(m, n, slot)));
    k->assisted = k->assisted < OC_SUBNORMAL_LEAST ? 0 : k->assisted;
    k->rectified = k->assisted > 0 && comes_from_relu(m, n->in[0]);
}

void oc_subnormal_mark(const struct oc_model *m, const struct oc_device *d, struct oc_kernel_list *list)
{
    uint64_t lanes = lanes_of(d);
    for (size_t i = 0; i < list->n && lanes; i++)
        mark_kernel(m, lanes, &list->item[i]);
}

struct oc_assists oc_subnormal_assists(const struct oc_kernel *k, const struct oc_device *d)
{
    const struct oc_hw_figure *clock = figure_of(d, "clock", NULL), *threads = figure_of(d, "count", "core");
    threads = threads ? threads : figure_of(d, "count", "thread");
    uint64_t lanes = lanes_of(d);
    if (!(k->assisted > 0) || !lanes)
        return (struct oc_assists){0, 0};
    double each = 1 / ((clock && clock->value > 0 ? clock->value : ASSUMED_HZ) *
                       (threads && threads->value > 0 ? threads->value : 1));
    double n = k->assisted * (double)k->work.macs[OC_CLASS_F32] / (double)lanes;
    double nonzero = !k->rectified ? 1 : k->assisted < MOSTLY ? NONZERO : FEW_NONZERO;
    /* AMD's processors were not measured */
    double usual_s = is_made_by(d, "Intel") ? n * CYCLES * each * nonzero : 0;
    return (struct oc_assists){usual_s, n * MOST_CYCLES * each};
}
