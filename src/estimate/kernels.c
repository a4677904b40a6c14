/* Kernels of nodes and of a recording: work, bytes, signature, subnormal weights. */
#include "estimate/kernels.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/wire.h"
#include "estimate/curve.h"
#include "estimate/predict.h"
#include "model/model.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"
#include "ops/op.h"

/* ---- signature -------------------------------------------------------------------------------------- */

/* FNV-1a, 64 bits. */
static void kernels_hash(uint64_t *h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++)
        *h = (*h ^ p[i]) * UINT64_C(0x100000001b3);
}

/* Byte by byte, so that the hash is independent of the machine's byte order. */
static void kernels_number(uint64_t *h, uint64_t v)
{
    unsigned char b[8];
    for (unsigned i = 0; i < 8; i++)
        b[i] = (unsigned char)(v >> (8 * i));
    kernels_hash(h, b, sizeof(b));
}

static void kernels_text(uint64_t *h, const char *s)
{
    kernels_hash(h, s, strlen(s) + 1);
}

static void kernels_size(uint64_t *h, double v)
{
    kernels_number(h, v > 0 && v < 1e18 ? (uint64_t)v : 0);
}

static bool is_contraction(const struct oc_kernel *k)
{
    return k->m > 0 && k->n > 0 && k->k > 0;
}

static void kernels_sizes(uint64_t *h, const struct oc_kernel *k)
{
    const double v[] = {k->m,        k->n,      k->k,        k->batch,  k->kernel_h,
                        k->kernel_w, k->stride, k->dilation, k->groups, k->channels_in};
    for (size_t i = 0; i < OC_COUNT(v); i++)
        kernels_size(h, v[i]);
}

/* A contraction with its fused operators: activations by name, a residual changes the bytes. */
static void kernels_fused(uint64_t *h, const struct oc_model *m, const struct oc_analysis *a,
                          const struct oc_kernel *k, const uint32_t *node, uint32_t n)
{
    static const char *const silent[] = {"Add", "Mul", "Sub", "Div", "Sum", "Cast", "Dropout"};
    for (uint32_t i = 0; i < n; i++) {
        const struct oc_node *nd = &m->node[node[i]];
        const struct oc_attr *at = oc_node_attr(nd, "activation");
        bool quiet = !a->op[node[i]] || a->op[node[i]]->op_class != OC_OP_ELEMENTWISE || node[i] == k->node;
        for (size_t s = 0; s < OC_COUNT(silent) && !quiet; s++)
            quiet = !strcmp(nd->op_type, silent[s]);
        if (!quiet)
            kernels_text(h, nd->op_type);
        if (at && at->type == OC_ATTR_STRING)
            kernels_text(h, at->s.s);
    }
}

static void shapes(uint64_t *h, const struct oc_analysis *a, const uint32_t *value, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct oc_type *t = value[i] == OC_NONE ? NULL : &a->type[value[i]];
        if (!t || t->kind != OC_T_TENSOR || !t->shape.ranked)
            continue;
        kernels_number(h, t->dtype);
        kernels_number(h, t->shape.rank);
        for (unsigned d = 0; d < t->shape.rank; d++)
            kernels_number(h, oc_is_known(t->shape.dim[d]) ? (uint64_t)t->shape.dim[d].v : UINT64_MAX);
    }
}

/* Attributes are unordered: their hashes are added. */
static void attributes(uint64_t *h, const struct oc_node *n)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n->n_attr; i++) {
        const struct oc_attr *at = &n->attr[i];
        uint64_t one = UINT64_C(0xcbf29ce484222325);
        kernels_text(&one, at->name);
        if (at->type == OC_ATTR_INT)
            kernels_number(&one, (uint64_t)at->i);
        else if (at->type == OC_ATTR_STRING)
            kernels_text(&one, at->s.s);
        else if (at->type != OC_ATTR_INTS)
            continue; /* factors and tensors change values, not work */
        for (uint32_t k = 0; at->type == OC_ATTR_INTS && k < at->n; k++)
            kernels_number(&one, (uint64_t)at->ints[k]);
        sum += one;
    }
    kernels_number(h, sum);
}

static uint64_t kernels_start(const struct oc_kernel *k)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    kernels_text(&h, oc_kernel_class_name(k->cls));
    kernels_text(&h, oc_class_name(k->dtype));
    kernels_number(&h, k->rd_act);
    kernels_number(&h, k->wr);
    return h;
}

/* All members of the kernel but `signature` and `label` are set. `type`: see oc_kernel_make. Never 0. */
static uint64_t kernel_signature(const struct oc_model *m, const struct oc_analysis *a,
                                 const struct oc_kernel *k, const uint32_t *node, uint32_t n_node,
                                 const char *type)
{
    const struct oc_node *core = &m->node[k->node];
    uint64_t h = kernels_start(k);
    kernels_sizes(&h, k);
    if (is_contraction(k)) {
        kernels_fused(&h, m, a, k, node, n_node);
        if (oc_class_is_int(k->dtype))
            kernels_number(&h, k->weight_sign);
    } else {
        kernels_text(&h, type ? type : core->op_type);
        kernels_number(&h, k->rd_wt);
        shapes(&h, a, core->in, core->n_in);
        attributes(&h, core);
    }
    return h ? h : 1;
}

/* 1 to 9973: small, so that it is exact in every format; few of the operator types collide. */
static uint16_t op_code(const char *type)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    kernels_text(&h, type);
    return (uint16_t)(1 + h % 9973);
}

void oc_kernel_sign_inserted(struct oc_kernel *k, const char *type)
{
    uint64_t h = kernels_start(k);
    kernels_text(&h, type);
    k->signature = h ? h : 1;
    k->op = op_code(type);
}

/* ---- kernels ---------------------------------------------------------------------------------------- */

void oc_kernel_maker_open(struct oc_kernel_maker *k, const struct oc_model *m, const struct oc_analysis *a,
                          struct oc_arena *arena)
{
    *k = (struct oc_kernel_maker){.m = m, .a = a, .arena = arena};
    oc_index_edges(&k->x, m, arena);
    oc_group_costs_init(&k->costs, m, a, &k->x, arena);
}

void oc_kernel_maker_close(struct oc_kernel_maker *k)
{
    oc_index_free(&k->x);
}

/* The row of an operator known only by name: that of ONNX, else of ONNX Runtime. */
static const struct oc_op *op_of_type(const char *type)
{
    static const char *const domain[] = {"", "com.microsoft", "com.microsoft.nchwc"};
    const struct oc_op *op = NULL;
    for (size_t i = 0; i < OC_COUNT(domain) && !op; i++)
        op = oc_op_find(domain[i], type, 0);
    return op;
}

/* The main node of a fused kernel: most MACs, else most other operations, else the first launched node. */
static uint32_t core_of(const struct oc_kernel_maker *k, const uint32_t *node, uint32_t n)
{
    uint32_t best = node[0];
    for (uint32_t i = 1; i < n; i++) {
        const struct oc_node_cost *c = &k->a->cost[node[i]], *b = &k->a->cost[best];
        uint64_t work = c->flops + c->ops, most = b->flops + b->ops;
        if (c->macs > b->macs || (c->macs == b->macs && work > most))
            best = node[i];
    }
    return best;
}

/* Quantized kernels execute what the model writes as float operators between dequantization and quantization.
 */
static bool is_integer_type(const char *type)
{
    static const char *const names[] = {"QGemm",       "QAttention",           "MatMulInteger",
                                        "ConvInteger", "MatMulIntegerToFloat", "DynamicQuantizeMatMul"};
    if (!strncmp(type, "QLinear", 7) || !strncmp(type, "QOrdered", 8))
        return true;
    for (size_t i = 0; i < OC_COUNT(names); i++)
        if (!strcmp(type, names[i]))
            return true;
    return false;
}

static void to_integers(struct oc_work *w)
{
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        if (!oc_class_is_int(c) && w->macs[c]) {
            w->macs[OC_CLASS_I8] += w->macs[c];
            w->macs[c] = 0;
        }
}

/* Integer products with 32-bit results: runtimes use other kernels than for quantized results. */
static bool leaves_sums(const char *type)
{
    return !strcmp(type, "ConvInteger") || !strcmp(type, "MatMulInteger");
}

static uint8_t data_class(const struct oc_kernel_maker *k, uint32_t node)
{
    const struct oc_node *n = &k->m->node[node];
    for (uint32_t i = 0; i < n->n_in + n->n_out; i++) {
        uint32_t v = i < n->n_in ? n->in[i] : n->out[i - n->n_in];
        unsigned cls = v == OC_NONE ? OC_CLASS_NONE : oc_dtype_info(k->a->type[v].dtype)->cls;
        if (cls != OC_CLASS_NONE)
            return (uint8_t)cls;
    }
    return OC_CLASS_NONE;
}

static uint8_t kernels_dtype_of(const struct oc_kernel_maker *k, const struct oc_kernel *kernel)
{
    unsigned best = OC_CLASS_NONE;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        if (kernel->work.macs[c] > kernel->work.macs[best])
            best = c;
    const struct oc_node_cost *c = &k->a->cost[kernel->node];
    if (best == OC_CLASS_NONE && c->n_hist && c->quality != OC_UNKNOWN)
        best = c->rest_class;
    return best == OC_CLASS_NONE ? data_class(k, kernel->node) : (uint8_t)best;
}

void oc_work_divide(struct oc_work *w, uint64_t by)
{
    if (by <= 1)
        return;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++) {
        w->macs[c] /= by;
        w->flops[c] /= by;
        w->special[c] /= by;
        w->special_flops[c] /= by;
    }
    w->weight_bytes /= by;
    w->written /= by;
}

/* Bodies of loops are counted for all trips; a kernel is one execution. */
static void kernels_divide(struct oc_kernel *k, uint64_t by)
{
    if (by <= 1)
        return;
    oc_work_divide(&k->work, by);
    k->rd_act /= by;
    k->rd_wt /= by;
    k->wr /= by;
}

static void kernels_set_bytes(struct oc_kernel_use *u, const struct oc_join_rec *r)
{
    struct oc_kernel *k = &u->kernel;
    k->rd_act = r->rd_act;
    k->rd_wt = r->rd_wt;
    k->wr = r->wr;
    u->known = r->bytes_known && r->quality != OC_UNKNOWN && !k->work.unknown;
    u->why = u->known ? NULL : r->note ? r->note : "its counts are unknown";
}

static uint64_t kernels_bytes_of(const struct oc_kernel_maker *k, uint32_t value)
{
    uint64_t bytes = 0;
    return value != OC_NONE && oc_type_bytes(&k->a->type[value], &bytes) ? bytes : 0;
}

/* What counts 0 but runs: a transposition that only moves dimensions of size 1 could be a view, runtimes that launch it
 * copy; a dequantization of weights that is not part of its consumer. */
static void kernels_set_moved(const struct oc_kernel_maker *m, struct oc_kernel *k)
{
    const struct oc_node *n = &m->m->node[k->node];
    bool weights = k->members == 1 && m->a->cost[k->node].state == OC_NODE_ABSORBED;
    if ((k->cls != OC_KC_TRANSPOSE && !weights) || k->rd_act || k->rd_wt || k->wr || !n->n_in || !n->n_out)
        return;
    for (uint32_t i = 0; i < (weights ? n->n_in : 1); i++)
        *(weights ? &k->rd_wt : &k->rd_act) += kernels_bytes_of(m, n->in[i]);
    k->wr = kernels_bytes_of(m, n->out[0]);
}

static unsigned kernels_class_of(const struct oc_kernel_maker *k, const char *type, uint32_t core)
{
    const struct oc_op *own = k->a->op[core], *named = type ? op_of_type(type) : NULL;
    unsigned of_node = oc_kernel_class_of_op(own), of_type = oc_kernel_class_of_op(named);
    return !named || of_type == OC_KC_OTHER ? of_node : of_type;
}

/* A kernel of this type moves integers as they are, without the arithmetic of DequantizeLinear and QuantizeLinear. */
static bool moves_integers(const char *type)
{
    unsigned cls = type ? oc_kernel_class_of_op(op_of_type(type)) : OC_KC_OTHER;
    return cls == OC_KC_COPY || cls == OC_KC_TRANSPOSE || cls == OC_KC_GATHER || cls == OC_KC_CONTROL ||
           (!is_integer_type(type ? type : "") && (cls == OC_KC_RESIZE || cls == OC_KC_POOL));
}

/* Of 8-bit integers: a table has the result of each. */
static bool is_looked_up(const char *type)
{
    return type && (!strcmp(type, "QLinearSigmoid") || !strcmp(type, "QLinearLeakyRelu"));
}

static void kernels_add_work(const struct oc_kernel_maker *m, const uint32_t *node, uint32_t n,
                             const char *type, struct oc_work *work)
{
    bool moves = n > 1 && moves_integers(type);
    for (uint32_t i = 0; i < n && !is_looked_up(type); i++) {
        const char *own = m->m->node[node[i]].op_type;
        if (!moves || (!oc_equal(own, "DequantizeLinear") && !oc_equal(own, "QuantizeLinear")))
            oc_work_add(work, &m->a->cost[node[i]]);
    }
    if (type && is_integer_type(type))
        to_integers(work);
}

void oc_kernel_make(struct oc_kernel_maker *m, const uint32_t *node, uint32_t n_node, const char *type,
                    struct oc_kernel_use *out)
{
    struct oc_join_rec r = {.node = node, .n_node = n_node};
    uint32_t core = core_of(m, node, n_node);
    *out = (struct oc_kernel_use){.node = node, .n_node = n_node, .record = OC_NONE};
    struct oc_kernel *k = &out->kernel;
    *k = (struct oc_kernel){.members = n_node, .node = core, .label = m->m->node[core].name};
    oc_group_cost(&m->costs, &r);
    kernels_add_work(m, node, n_node, type, &k->work);
    kernels_set_bytes(out, &r);
    uint64_t trips = m->a->cost[core].trips;
    out->calls = (double)trips;
    kernels_divide(k, trips);
    k->work.launches = 1;
    k->cls = (uint8_t)kernels_class_of(m, type, core);
    kernels_set_moved(m, k);
    k->work.bytes = k->rd_act + k->rd_wt + k->wr; /* across the border of the kernel */
    k->work.weight_bytes = k->rd_wt;
    k->work.written = k->wr;
    k->dtype = kernels_dtype_of(m, k);
    if (k->dtype == OC_CLASS_I8 && leaves_sums(type ? type : m->m->node[core].op_type))
        k->dtype = OC_CLASS_I32;
    oc_kernel_dims(m->m, m->a, core, k);
    k->op = op_code(type && is_integer_type(type) ? type : m->m->node[core].op_type);
    k->signature = kernel_signature(m->m, m->a, k, node, n_node, type);
}

/* ---- kernels of a join ------------------------------------------------------------------------------ */

static uint8_t inserted_class(const char *bucket)
{
    if (oc_equal(bucket, "layout") || oc_equal(bucket, "reformat"))
        return OC_KC_REORDER;
    return !strcmp(bucket, "casts") ? OC_KC_ELEMENTWISE : OC_KC_COPY;
}

/* A runtime-inserted kernel: its bytes are those of its recorded shapes; a view moves none. */
static void make_inserted(const struct oc_prof_rec *p, const struct oc_join_rec *r, struct oc_kernel_use *out)
{
    struct oc_kernel *k = &out->kernel;
    bool view = oc_op_is(oc_op_find("", p->op_type, 0), OC_F_VIEW);
    *out = (struct oc_kernel_use){.record = OC_NONE, .calls = 1, .known = r->bytes_known};
    out->why = out->known ? NULL : "its shapes are not recorded";
    *k = (struct oc_kernel){.cls = inserted_class(r->bucket),
                            .dtype = p->n_in ? oc_dtype_info(p->in[0].dtype)->cls : OC_CLASS_NONE,
                            .rd_act = view ? 0 : r->rd_act,
                            .wr = view ? 0 : r->wr,
                            .node = OC_NONE};
    k->work.bytes = k->rd_act + k->wr;
    k->work.launches = 1;
    if (out->known)
        oc_kernel_sign_inserted(k, p->op_type);
}

/* The provider has no float16 arithmetic and computes in float, with casts around: recorded types are float
 * only. */
static bool ran_in_float(const struct oc_prof_rec *p, const struct oc_kernel *k)
{
    bool seen = false;
    for (uint32_t i = 0; i < p->n_in + p->n_out; i++) {
        const struct oc_type *t = i < p->n_in ? &p->in[i] : &p->out[i - p->n_in];
        if (t->dtype == OC_DT_FLOAT16)
            return false;
        seen |= t->dtype == OC_DT_FLOAT;
    }
    return seen && k->dtype == OC_CLASS_F16 && k->cls != OC_KC_REORDER;
}

void oc_kernel_in_float(struct oc_kernel *k)
{
    struct oc_work *w = &k->work;
    uint64_t *const count[] = {w->macs, w->flops, w->special, w->special_flops};
    for (size_t i = 0; i < OC_COUNT(count); i++) {
        count[i][OC_CLASS_F32] += count[i][OC_CLASS_F16];
        count[i][OC_CLASS_F16] = 0;
    }
    k->rd_act *= 2;
    k->rd_wt *= 2;
    k->wr *= 2;
    k->reload_bytes *= 2;
    w->bytes = k->rd_act + k->rd_wt + k->wr;
    k->dtype = OC_CLASS_F32;
}

void oc_kernels_of_join(const struct oc_join *j, struct oc_arena *a, struct oc_kernel_list *out)
{
    struct oc_kernel_maker m;
    out->item = OC_NEW_ARRAY(a, j->profile->n_rec, struct oc_kernel_use);
    out->n = 0;
    oc_kernel_maker_open(&m, j->model, j->analysis, a);
    for (uint32_t i = 0; i < j->profile->n_rec; i++) {
        const struct oc_prof_rec *p = &j->profile->rec[i];
        const struct oc_join_rec *r = &j->rec[i];
        struct oc_kernel_use *u = &out->item[out->n];
        if (p->bucket)
            continue;
        if (r->n_node)
            oc_kernel_make(&m, r->node, r->n_node, p->op_type, u);
        else
            make_inserted(p, r, u);
        if (r->n_node && ran_in_float(p, &u->kernel))
            oc_kernel_in_float(&u->kernel);
        u->record = i;
        u->calls = p->calls_per_run;
        u->kernel.label = p->name;
        if (r->n_node && r->quality == OC_UNKNOWN) {
            u->known = false;
            u->why = r->note ? r->note : "its counts are unknown";
        }
        out->n++;
    }
    oc_kernel_maker_close(&m);
}

/* ---- subnormal weights --------------------------------------------------------------------------- */

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

/* ---- kernels with subnormal weights ----------------------------------------------------------------- */

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
    bool product = strcmp(n->op_type, "MatMul") == 0 ||
                   (strcmp(n->op_type, "Gemm") == 0 && !oc_node_int(n, "transB", 0));
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
    const struct oc_hw_figure *clock = oc_hw_figure_of(d, "clock", NULL);
    uint32_t threads = oc_device_threads(d);
    uint64_t lanes = lanes_of(d);
    if (!(k->assisted > 0) || !lanes)
        return (struct oc_assists){0, 0};
    double each = 1 / ((clock && clock->value > 0 ? clock->value : ASSUMED_HZ) * (threads ? threads : 1));
    double n = k->assisted * (double)k->work.macs[OC_CLASS_F32] / (double)lanes;
    double nonzero = !k->rectified ? 1 : k->assisted < MOSTLY ? NONZERO : FEW_NONZERO;
    /* AMD's processors were not measured */
    double usual_s = is_made_by(d, "Intel") ? n * CYCLES * each * nonzero : 0;
    return (struct oc_assists){usual_s, n * MOST_CYCLES * each};
}
