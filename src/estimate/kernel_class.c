/* Class and sizes of a kernel, from its main node: the class that the operator tables name, refined by the
 * sizes; the contraction, the window, the sign of integer weights. */
#include "estimate/kernels.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    enum oc_kernel_group group;
} classes[] = {
    [OC_KC_GEMM] = {"gemm", OC_KG_COMPUTE},
    [OC_KC_GEMV] = {"gemv", OC_KG_MEMORY},
    [OC_KC_BATCHED_GEMM] = {"batched_gemm", OC_KG_COMPUTE},
    [OC_KC_CONV_1X1] = {"conv_1x1", OC_KG_COMPUTE},
    [OC_KC_CONV_KXK] = {"conv_kxk", OC_KG_COMPUTE},
    [OC_KC_CONV_DEPTHWISE] = {"conv_depthwise", OC_KG_COMPUTE},
    [OC_KC_CONV_GROUPED] = {"conv_grouped", OC_KG_COMPUTE},
    [OC_KC_CONV_PLAIN] = {"conv_plain", OC_KG_COMPUTE},
    [OC_KC_CONV_TRANSPOSED] = {"conv_transposed", OC_KG_COMPUTE},
    [OC_KC_ATTENTION_PREFILL] = {"attention_prefill", OC_KG_COMPUTE},
    [OC_KC_ATTENTION_DECODE] = {"attention_decode", OC_KG_MEMORY},
    [OC_KC_RNN] = {"rnn", OC_KG_COMPUTE},
    [OC_KC_ELEMENTWISE] = {"elementwise", OC_KG_MEMORY},
    [OC_KC_ACTIVATION] = {"activation", OC_KG_MEMORY},
    [OC_KC_SOFTMAX] = {"softmax", OC_KG_MEMORY},
    [OC_KC_NORM] = {"norm", OC_KG_MEMORY},
    [OC_KC_REDUCE] = {"reduce", OC_KG_MEMORY},
    [OC_KC_POOL] = {"pool", OC_KG_MEMORY},
    [OC_KC_RESIZE] = {"resize", OC_KG_MEMORY},
    [OC_KC_TRANSPOSE] = {"transpose", OC_KG_MEMORY},
    [OC_KC_COPY] = {"copy", OC_KG_MEMORY},
    [OC_KC_GATHER] = {"gather", OC_KG_IRREGULAR},
    [OC_KC_SORT] = {"sort", OC_KG_IRREGULAR},
    [OC_KC_CONTROL] = {"control", OC_KG_IRREGULAR},
    [OC_KC_REORDER] = {"reorder", OC_KG_MEMORY},
    [OC_KC_OTHER] = {"other", OC_KG_IRREGULAR},
};
_Static_assert(OC_COUNT(classes) == OC_KC_COUNT, "a row for each class");

const char *oc_kernel_class_name(unsigned cls)
{
    return cls < OC_KC_COUNT ? classes[cls].name : "none";
}

unsigned oc_kernel_class_by_name(const char *name)
{
    unsigned i = 0;
    while (i < OC_KC_COUNT && strcmp(classes[i].name, name) != 0)
        i++;
    return i;
}

enum oc_kernel_group oc_kernel_class_group(unsigned cls)
{
    return cls < OC_KC_COUNT ? classes[cls].group : OC_KG_IRREGULAR;
}

const char *oc_kernel_group_name(unsigned group)
{
    static const char *const name[OC_KG_COUNT] = {"compute", "memory", "irregular"};
    return group < OC_KG_COUNT ? name[group] : "none";
}

/* The kernel class of rows that name none; sizes and attributes refine contractions. */
static const uint8_t of_op_class[OC_OP_CLASS_COUNT] = {
    [OC_OP_NONE] = OC_KC_OTHER,
    [OC_OP_OTHER] = OC_KC_OTHER,
    [OC_OP_VIEW] = OC_KC_CONTROL, /* no bytes move: only launch overhead */
    [OC_OP_COPY] = OC_KC_COPY,
    [OC_OP_ELEMENTWISE] = OC_KC_ELEMENTWISE,
    [OC_OP_REDUCE] = OC_KC_REDUCE,
    [OC_OP_GEMM] = OC_KC_GEMM,
    [OC_OP_CONV] = OC_KC_CONV_KXK,
    [OC_OP_POOL] = OC_KC_POOL,
    [OC_OP_NORM] = OC_KC_NORM,
    [OC_OP_SOFTMAX] = OC_KC_SOFTMAX,
    [OC_OP_ATTENTION] = OC_KC_ATTENTION_PREFILL,
    [OC_OP_RNN] = OC_KC_RNN,
    [OC_OP_GATHER] = OC_KC_GATHER,
    [OC_OP_RESIZE] = OC_KC_RESIZE,
    [OC_OP_QUANTIZE] = OC_KC_ELEMENTWISE,
    [OC_OP_GENERATE] = OC_KC_COPY,
    [OC_OP_SORT] = OC_KC_SORT,
    [OC_OP_CONTROL] = OC_KC_CONTROL,
    [OC_OP_LAYOUT] = OC_KC_TRANSPOSE,
};

unsigned oc_kernel_class_of_op(const struct oc_op *op)
{
    if (!op || op->op_class >= OC_OP_CLASS_COUNT)
        return OC_KC_OTHER;
    return op->kernel ? op->kernel : of_op_class[op->op_class];
}

/* ---- sizes of a node -------------------------------------------------------------------------------- */

/* A node with its known tensor sizes. */
struct kernel_view {
    const struct oc_node *node;
    const struct oc_analysis *a;
    double macs; /* of one execution; 0: none, or unknown */
};

/* NULL: no tensor, or some size is unknown. */
static const struct oc_shape *view_shape(const struct kernel_view *v, uint32_t value)
{
    const struct oc_type *t = value == OC_NONE ? NULL : &v->a->type[value];
    return t && t->kind == OC_T_TENSOR && oc_shape_known(&t->shape) ? &t->shape : NULL;
}

static const struct oc_shape *view_input(const struct kernel_view *v, uint32_t slot)
{
    return slot < v->node->n_in ? view_shape(v, v->node->in[slot]) : NULL;
}

static const struct oc_shape *view_output(const struct kernel_view *v)
{
    return v->node->n_out ? view_shape(v, v->node->out[0]) : NULL;
}

/* Elements of the dimensions from `from` to before `to`. */
static double view_product(const struct oc_shape *s, unsigned from, unsigned to)
{
    double n = 1;
    for (unsigned i = from; i < to && i < s->rank; i++)
        n *= (double)s->dim[i].v;
    return n;
}

/* ---- sizes of a kernel --------------------------------------------------------------------------- */

#define GEMV_MAX 4 /* rows or columns */

static double dim_from_end(const struct oc_shape *s, unsigned back)
{
    return s->rank > back ? (double)s->dim[s->rank - 1 - back].v : 1;
}

/* The i-th number of a list; i = 1: the product of all after the first. */
static double attr_ints(const struct kernel_view *v, const char *name, unsigned i, double otherwise)
{
    const struct oc_attr *at = oc_node_attr(v->node, name);
    if (!at || at->type != OC_ATTR_INTS || !at->n)
        return otherwise;
    double n = i ? 1 : (double)at->ints[0];
    for (uint32_t k = 1; i && k < at->n; k++)
        n *= (double)at->ints[k];
    return n;
}

static uint32_t weight_slot(const struct kernel_view *v)
{
    return oc_op_weight_slot(v->a->op[v->node - v->a->model->node]);
}

/* ---- windows ---------------------------------------------------------------------------------------- */

static void kernel_class_window(const struct kernel_view *v, const struct oc_shape *w, struct oc_kernel *k)
{
    bool shaped = w && w->rank > 2;
    k->kernel_h = attr_ints(v, "kernel_shape", 0, shaped ? (double)w->dim[2].v : 0);
    k->kernel_w = attr_ints(v, "kernel_shape", 1, shaped ? view_product(w, 3, w->rank) : 0);
    k->stride = attr_ints(v, "strides", 0, 1);
    k->dilation = attr_ints(v, "dilations", 0, 1);
    k->groups = (double)oc_node_int(v->node, "group", 1);
}

enum {
    BLOCK = 16,
    ALIGN = 4
}; /* channels; ONNX Runtime 1.30 fills up blocks of convolutions with multiples of 4 */

/* Float convolutions of images whose channels fill vectors have blocked kernels. The others are matrix
 * products of an unfolded input, which is slower by its copy. `each`: input channels of a group. */
static bool fills_blocks(const struct oc_kernel *k, const struct oc_shape *w)
{
    int64_t out = w->dim[0].v, each = w->dim[1].v, groups = (int64_t)k->groups;
    if (k->dtype != OC_CLASS_F32)
        return true;
    if (w->rank != 4)
        return false;
    if (groups == 1)
        return each < BLOCK || each % ALIGN == 0;
    if (each == 1 && out == groups)
        return out % ALIGN == 0;
    return each % BLOCK == 0 && out / groups % BLOCK == 0;
}

static uint8_t conv_class(const struct oc_kernel *k, const struct oc_shape *w, bool filled)
{
    if (k->groups > 1)
        return w->dim[1].v == 1 && filled ? OC_KC_CONV_DEPTHWISE : OC_KC_CONV_GROUPED;
    return !filled ? OC_KC_CONV_PLAIN : k->kernel_h * k->kernel_w == 1 ? OC_KC_CONV_1X1 : OC_KC_CONV_KXK;
}

/* Weights that a caller may replace, or that are computed in the run, also from integers, are not rearranged: no blocks.
 * Up to IR version 3 every initializer is also an input, and none is replaced. */
static bool has_variable_weight(const struct kernel_view *v)
{
    uint32_t slot = weight_slot(v), w = slot < v->node->n_in ? v->node->in[slot] : OC_NONE;
    if (w == OC_NONE)
        return false;
    const struct oc_value *value = &v->a->model->value[w];
    uint8_t state = value->producer == OC_NONE ? OC_NODE_NORMAL : v->a->cost[value->producer].state;
    if (value->producer != OC_NONE)
        return (state == OC_NODE_NORMAL || state == OC_NODE_ABSORBED) &&
               !oc_node_is_constant(&v->a->model->node[value->producer]);
    return value->graph_input && (!value->constant || v->a->model->ir_version > 3);
}

static void kernel_class_conv(const struct kernel_view *v, struct oc_kernel *k)
{
    const struct oc_shape *w = view_input(v, weight_slot(v)), *o = view_output(v);
    if (!w || !o || w->rank < 3 || o->rank < 3)
        return;
    kernel_class_window(v, w, k);
    if (!(k->groups >= 1))
        return;
    double taps = k->kernel_h * k->kernel_w, outputs = view_product(o, 0, o->rank);
    k->m = (double)w->dim[0].v / k->groups;
    k->k = (double)w->dim[1].v * taps;
    k->batch = k->groups;
    k->n = w->dim[0].v ? outputs / (double)w->dim[0].v : 0;
    k->channels_in = (double)w->dim[1].v * k->groups;
    k->steps = (double)o->dim[0].v;
    k->cls = conv_class(k, w, fills_blocks(k, w) && (k->dtype != OC_CLASS_F32 || !has_variable_weight(v)));
}

/* C[M/g * taps, inputs] = W[.., C/g] X: summed into the output afterwards. */
static void conv_transposed(const struct kernel_view *v, struct oc_kernel *k)
{
    const struct oc_shape *w = view_input(v, weight_slot(v)), *x = view_input(v, 0);
    if (!w || !x || w->rank < 3 || x->rank < 3 || !w->dim[0].v)
        return;
    kernel_class_window(v, w, k);
    if (!(k->groups >= 1))
        return;
    k->m = (double)w->dim[1].v * k->kernel_h * k->kernel_w;
    k->k = (double)w->dim[0].v / k->groups;
    k->batch = k->groups;
    k->n = view_product(x, 0, x->rank) / (double)w->dim[0].v;
    k->channels_in = (double)w->dim[0].v;
}

static void pool(const struct kernel_view *v, struct oc_kernel *k)
{
    const struct oc_shape *x = view_input(v, 0), *o = view_output(v);
    kernel_class_window(v, NULL, k);
    if (x && x->rank > 2 && k->kernel_h == 0 && o && o->rank == x->rank && view_product(o, 2, o->rank) == 1) {
        k->kernel_h = (double)x->dim[2].v; /* global */
        k->kernel_w = view_product(x, 3, x->rank);
    }
    k->channels_in = x && x->rank > 1 ? (double)x->dim[1].v : 0;
}

/* ---- matrices --------------------------------------------------------------------------------------- */

static bool kernel_class_is_plain(double x)
{
    return x >= 1 && x == floor(x);
}

static void gemm(const struct kernel_view *v, struct oc_kernel *k)
{
    const struct oc_shape *o = view_output(v), *b = view_input(v, weight_slot(v));
    double outputs = o ? view_product(o, 0, o->rank) : 0;
    if (!o || !kernel_class_is_plain(v->macs / outputs))
        return;
    bool batched = o->rank > 2 && (!b || b->rank > 2) && strcmp(v->node->op_type, "MatMulNBits") != 0;
    k->k = v->macs / outputs;
    k->n = dim_from_end(o, 0);
    k->m = batched ? dim_from_end(o, 1) : outputs / k->n;
    k->batch = outputs / (k->m * k->n);
    k->cls = fmin(k->m, k->n) <= GEMV_MAX ? OC_KC_GEMV : k->batch > 1 ? OC_KC_BATCHED_GEMM : OC_KC_GEMM;
}

/* Queries M and keys N with K elements, for each head of each sequence. */
static void attention(const struct kernel_view *v, struct oc_kernel *k)
{
    const struct oc_shape *q = view_input(v, 0), *o = view_output(v);
    if (!q || !o || q->rank < 3 || q->rank > 4)
        return;
    double heads = (double)oc_node_int(v->node, "num_heads", oc_node_int(v->node, "q_num_heads", 0));
    bool split = q->rank == 4; /* batch, heads, length, size */
    heads = split ? (double)q->dim[1].v : heads;
    if (!(heads >= 1))
        return;
    k->m = (double)q->dim[split ? 2 : 1].v;
    k->k = split ? dim_from_end(q, 0) : dim_from_end(o, 0) / heads;
    k->batch = (double)q->dim[0].v * heads;
    bool projects = !strcmp(v->node->op_type, "Attention") && !strcmp(v->node->domain, "com.microsoft");
    double keys = v->macs / (2 * k->k * k->m * k->batch);
    k->n = projects ? k->m : kernel_class_is_plain(ceil(keys)) ? ceil(keys) : 0;
    if (k->m <= 1)
        k->cls = OC_KC_ATTENTION_DECODE;
}

/* Sequential steps: each M sequences by N gates with K inputs and states. */
static void rnn(const struct kernel_view *v, struct oc_kernel *k)
{
    const struct oc_shape *x = view_input(v, 0), *w = view_input(v, 1), *r = view_input(v, 2);
    if (!x || !w || !r || x->rank != 3 || w->rank != 3 || r->rank != 3)
        return;
    bool batch_first = oc_node_int(v->node, "layout", 0) != 0;
    double gates = fmax((double)w->dim[1].v, (double)w->dim[2].v); /* quantized weights are transposed */
    double hidden = (double)oc_node_int(v->node, "hidden_size", 0);
    k->m = (double)x->dim[batch_first ? 0 : 1].v;
    k->n = hidden > 0 && fmod((double)w->dim[2].v, hidden) == 0 && fmod((double)w->dim[1].v, hidden) != 0
               ? (double)w->dim[2].v
           : hidden > 0 ? (double)w->dim[1].v
                        : gates;
    k->k = (double)x->dim[2].v + (hidden > 0 ? hidden : dim_from_end(r, 0));
    k->batch = (double)x->dim[batch_first ? 1 : 0].v * (double)w->dim[0].v;
    k->steps = k->batch;
    double states = view_product(r, 0, r->rank); /* of all directions, read in every step */
    uint32_t slot = v->node->in[2];
    double bytes = states * oc_dtype_info(v->a->type[slot].dtype)->bits / 8;
    double steps = (double)x->dim[batch_first ? 1 : 0].v;
    k->reload_bytes = steps > 1 && bytes * steps < 1e18 ? (uint64_t)(bytes * (steps - 1)) : 0;
}

/* ---- kernels unlike their class ------------------------------------------------------------------------ */

/* ONNX Runtime 1.30, one thread of a Xeon, 700 kernels. Softmax: a row costs as much as 48 of its elements (37 ns with 16
 * elements, 0.6 ns an element in long rows), and rows across the last axis are transposed before and after (12 to 20 ns
 * an element). Interpolation: 2 GFLOP/s with 2x2 neighbours, 0.2 with 4x4, 0.6 at the points of GridSample. */
#define SOFTMAX_ROW    48
#define SOFTMAX_ACROSS 4
#define CUBIC          12
#define AT_POINTS      3.5

static void softmax(const struct kernel_view *v, struct oc_kernel *k)
{
    const struct oc_shape *o = view_output(v);
    bool flat = v->node->opset < 13; /* the dimensions from the axis on are one row */
    int64_t axis = oc_node_int(v->node, "axis", flat ? 1 : -1);
    bool rows = !strcmp(v->node->op_type, "Softmax") || !strcmp(v->node->op_type, "LogSoftmax");
    if (!o || !rows || v->node->domain[0])
        return;
    axis += axis < 0 ? (int64_t)o->rank : 0;
    if (axis < 0 || axis >= (int64_t)o->rank)
        return;
    unsigned after = (unsigned)axis + 1;
    double row = view_product(o, (unsigned)axis, flat ? o->rank : after);
    k->scalar = row > 0 ? 1 + SOFTMAX_ROW / row : 1;
    k->scalar *= !flat && view_product(o, after, o->rank) > 1 ? SOFTMAX_ACROSS : 1;
}

static void resize(const struct kernel_view *v, struct oc_kernel *k)
{
    const struct oc_attr *mode = oc_node_attr(v->node, "mode");
    bool cubic = mode && mode->s.s && strstr(mode->s.s, "cubic"); /* or "bicubic" */
    k->scalar = cubic ? CUBIC : !strcmp(v->node->op_type, "GridSample") ? AT_POINTS : 1;
}

/* Operations of a histogram by their primitive. */
static double counted(const struct oc_node_cost *c, uint8_t prim)
{
    double n = 0;
    for (unsigned i = 0; i < c->n_hist; i++)
        n += c->hist[i].prim == prim ? (double)c->hist[i].n : 0;
    return n;
}

/* The count of NonMaxSuppression is the most that it can need: all pairs of boxes, each with as many additions as
 * comparisons. It always looks at all scores and sorts them, which are the other comparisons. */
static void sort(const struct kernel_view *v, struct oc_kernel *k)
{
    const struct oc_node_cost *c = &v->a->cost[v->node - v->a->model->node];
    if (!strcmp(v->node->op_type, "NonMaxSuppression") && c->flops)
        k->scalar = (counted(c, OC_CMP) - counted(c, OC_ADD)) / (double)c->flops;
}

/* ---- readers of sizes -------------------------------------------------------------------------------------- */

static const struct {
    uint8_t cls;
    void (*read)(const struct kernel_view *v, struct oc_kernel *k);
} readers[] = {
    {OC_KC_GEMM, gemm},
    {OC_KC_CONV_KXK, kernel_class_conv},
    {OC_KC_CONV_TRANSPOSED, conv_transposed},
    {OC_KC_ATTENTION_PREFILL, attention},
    {OC_KC_ATTENTION_DECODE, attention},
    {OC_KC_RNN, rnn},
    {OC_KC_POOL, pool},
    {OC_KC_SOFTMAX, softmax},
    {OC_KC_RESIZE, resize},
    {OC_KC_SORT, sort},
};

/* ---- signs of weights ---------------------------------------------------------------------------------- */

/* 0: not integers. */
static uint8_t weight_sign(const struct kernel_view *v)
{
    uint32_t slot = oc_op_weight_slot(v->a->op[v->node - v->a->model->node]);
    uint32_t w = slot < v->node->n_in ? v->node->in[slot] : OC_NONE;
    unsigned dtype = w == OC_NONE ? 0 : v->a->type[w].dtype;
    return dtype == OC_DT_UINT8 ? OC_WEIGHTS_UNSIGNED : dtype == OC_DT_INT8 ? OC_WEIGHTS_SIGNED : 0;
}

void oc_kernel_dims(const struct oc_model *m, const struct oc_analysis *a, uint32_t node, struct oc_kernel *k)
{
    const struct oc_node_cost *c = &a->cost[node];
    double trips = c->trips ? (double)c->trips : 1;
    struct kernel_view v = {
        .node = &m->node[node], .a = a, .macs = c->quality == OC_UNKNOWN ? 0 : (double)c->macs / trips};
    for (size_t i = 0; i < OC_COUNT(readers); i++)
        if (readers[i].cls == k->cls) {
            readers[i].read(&v, k);
            break;
        }
    if (oc_class_is_int(k->dtype))
        k->weight_sign = weight_sign(&v);
}
