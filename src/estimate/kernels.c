#include "estimate/kernels.h"

#include <math.h>
#include <string.h>

#include "ops/op.h"

/* Elements of the dimensions from `from` on. */
static double from_axis(const struct oc_shape *s, unsigned from)
{
    return oc_view_product(s, from, s->rank);
}

static unsigned kernels_axis_of(const struct oc_kernel_view *v, const struct oc_shape *s, int64_t otherwise)
{
    const struct oc_attr *at = oc_node_attr(v->node, "axis");
    int64_t axis = at && at->type == OC_ATTR_INT ? at->i : otherwise;
    axis += axis < 0 ? s->rank : 0;
    return axis < 0 ? 0 : axis > s->rank ? s->rank : (unsigned)axis;
}

/* Trailing dimensions that keep their position are contiguous. */
static double transpose(const struct oc_kernel_view *v)
{
    const struct oc_shape *x = oc_view_input(v, 0);
    const struct oc_attr *perm = oc_node_attr(v->node, "perm");
    if (!x || !x->rank)
        return 0;
    if (!perm || perm->type != OC_ATTR_INTS || perm->n != x->rank)
        return 1;
    unsigned kept = x->rank;
    while (kept > 0 && perm->ints[kept - 1] == kept - 1)
        kept--;
    return from_axis(x, kept);
}

/* Concat, Split, Slice, Pad, Tile: the last dimensions that stay whole, and what is copied of the next one.
 */
static double copied_run(const struct oc_kernel_view *v)
{
    const struct oc_shape *in = oc_view_input(v, 0), *out = oc_view_output(v);
    double n = 1;
    if (!in || !out || in->rank != out->rank || !in->rank)
        return 0;
    for (unsigned i = in->rank; i-- > 0;) {
        int64_t a = in->dim[i].v, b = out->dim[i].v;
        n *= (double)(a < b ? a : b);
        if (a != b)
            break;
    }
    return n;
}

/* Gather: the dimensions after the axis. */
static double gathered_run(const struct oc_kernel_view *v)
{
    const struct oc_shape *x = oc_view_input(v, 0);
    unsigned axis = x ? kernels_axis_of(v, x, 0) : 0;
    return x && axis < x->rank ? from_axis(x, axis + 1) : 0;
}

/* A row of the last axis is contiguous; other axes are not. */
static double kernels_row(const struct oc_kernel_view *v)
{
    const struct oc_shape *x = oc_view_input(v, 0);
    if (!x || !x->rank)
        return 0;
    unsigned axis = kernels_axis_of(v, x, -1);
    return axis + 1 >= x->rank ? (double)x->dim[x->rank - 1].v : 1;
}

/* Reductions: rows of the last axes; of other axes, the elements after them are processed together. */
static double reduced(const struct oc_kernel_view *v)
{
    const struct oc_shape *x = oc_view_input(v, 0), *o = oc_view_output(v);
    if (!x || !o || !x->rank)
        return 0;
    double out = from_axis(o, 0);
    return out > 0 ? from_axis(x, 0) / out : 0;
}

/* The longest tail over which each operand has either all elements or one. */
static double kernels_broadcast(const struct oc_kernel_view *v)
{
    const struct oc_shape *o = oc_view_output(v);
    double least = 0;
    if (!o)
        return 0;
    for (uint32_t i = 0; i < v->node->n_in; i++) {
        const struct oc_shape *x = oc_view_input(v, i);
        if (!x || x->rank > o->rank || from_axis(x, 0) == 1 || from_axis(x, 0) == from_axis(o, 0))
            continue;
        unsigned pad = o->rank - x->rank, at = o->rank, kind = 0; /* 1: all elements, 2: one element */
        double n = 1;
        for (; at > 0; at--) {
            int64_t whole = o->dim[at - 1].v, has = at > pad ? x->dim[at - 1 - pad].v : 1;
            unsigned is = whole == 1 ? kind : has == whole ? 1 : 2;
            if (kind && is != kind)
                break;
            kind = is;
            n *= (double)whole;
        }
        least = least > 0 ? fmin(least, n) : n;
    }
    return least;
}

/* ---- variants --------------------------------------------------------------------------------------- */

/* Whether the axes without the i-th are in ascending order. */
static bool sorted_without(const int64_t *axis, unsigned n, unsigned i)
{
    for (unsigned k = 0, last = n; k < n; k++) {
        if (k == i)
            continue;
        if (last < n && axis[k] < axis[last])
            return false;
        last = k;
    }
    return true;
}

/* 1: one axis moves inwards, 2: outwards, 3: any other order, 0: none moves; axes of size 1 do not count. */
static uint8_t transpose_variant(const struct oc_kernel_view *v)
{
    const struct oc_shape *x = oc_view_input(v, 0);
    const struct oc_attr *perm = oc_node_attr(v->node, "perm");
    int64_t axis[OC_MAX_RANK];
    unsigned n = 0;
    if (!x || !perm || perm->type != OC_ATTR_INTS || perm->n != x->rank)
        return 0;
    for (unsigned i = 0; i < x->rank; i++)
        if (perm->ints[i] >= 0 && perm->ints[i] < x->rank && x->dim[perm->ints[i]].v != 1)
            axis[n++] = perm->ints[i];
    if (sorted_without(axis, n, n))
        return 0;
    for (unsigned i = 0; i < n; i++)
        if (sorted_without(axis, n, i))
            return i && axis[i] < axis[i - 1] ? 1 : 2;
    return 3;
}

static uint8_t resize_variant(const struct oc_kernel_view *v)
{
    const struct oc_attr *mode = oc_node_attr(v->node, "mode");
    if (!mode || mode->type != OC_ATTR_STRING || !strcmp(mode->s.s, "nearest"))
        return 0;
    return !strcmp(mode->s.s, "cubic") ? 2 : 1;
}

/* 1: the last axes, 2: the first axes, 3: others; 0: unknown. */
static uint8_t reduce_variant(const struct oc_kernel_view *v)
{
    const struct oc_shape *x = oc_view_input(v, 0);
    const struct oc_attr *axes = oc_node_attr(v->node, "axes");
    uint64_t mask = 0;
    if (!x || !x->rank || !axes || axes->type != OC_ATTR_INTS)
        return 0;
    for (uint32_t i = 0; i < axes->n; i++) {
        int64_t axis = axes->ints[i] + (axes->ints[i] < 0 ? x->rank : 0);
        mask |= axis >= 0 && axis < x->rank ? UINT64_C(1) << axis : 0;
    }
    unsigned changes = 0;
    for (unsigned i = 1; i < x->rank; i++)
        changes += (mask >> i & 1) != (mask >> (i - 1) & 1);
    return changes > 1 ? 3 : mask & 1 ? 2 : 1;
}

/* Spatial dimensions. */
static uint8_t conv_variant(const struct oc_kernel_view *v)
{
    const struct oc_shape *x = oc_view_input(v, 0);
    return x && x->rank > 2 ? (uint8_t)(x->rank - 2) : 0;
}

/* 0: not integers. */
static uint8_t weight_sign(const struct oc_kernel_view *v)
{
    uint32_t slot = oc_op_weight_slot(v->a->op[v->node - v->a->model->node]);
    uint32_t w = slot < v->node->n_in ? v->node->in[slot] : OC_NONE;
    unsigned dtype = w == OC_NONE ? 0 : v->a->type[w].dtype;
    return dtype == OC_DT_UINT8 ? OC_VARIANT_UNSIGNED : dtype == OC_DT_INT8 ? OC_VARIANT_SIGNED : 0;
}

static const struct {
    uint8_t cls;
    double (*run)(const struct oc_kernel_view *v);
    uint8_t (*variant)(const struct oc_kernel_view *v);
} walks[] = {
    {OC_KC_TRANSPOSE, transpose, transpose_variant},
    {OC_KC_COPY, copied_run, NULL},
    {OC_KC_GATHER, gathered_run, NULL},
    {OC_KC_SOFTMAX, kernels_row, NULL},
    {OC_KC_REDUCE, reduced, reduce_variant},
    {OC_KC_ELEMENTWISE, kernels_broadcast, NULL},
    {OC_KC_ACTIVATION, kernels_broadcast, NULL},
    {OC_KC_SORT, kernels_row, NULL},
    {OC_KC_RESIZE, NULL, resize_variant},
    {OC_KC_CONV_PLAIN, NULL, conv_variant},
    {OC_KC_CONV_GROUPED, NULL, conv_variant},
};

static uint8_t main_function(const struct oc_node_cost *c)
{
    uint64_t most = 0;
    uint8_t found = 0;
    if (c->quality == OC_UNKNOWN)
        return 0;
    for (unsigned i = 0; i < c->n_hist; i++) {
        unsigned p = c->hist[i].prim;
        bool counts = p == OC_DIV || (p >= OC_SQRT && p <= OC_POW);
        if (counts && !c->hist[i].is_int && c->hist[i].n > most) {
            most = c->hist[i].n;
            found = (uint8_t)p;
        }
    }
    return found;
}

/* Sets run, variant and function of the kernel from its main node. */
static void kernel_walk(const struct oc_model *m, const struct oc_analysis *a, uint32_t node,
                        struct oc_kernel *k)
{
    struct oc_kernel_view v = {.node = &m->node[node], .a = a};
    k->function = main_function(&a->cost[node]);
    for (size_t i = 0; i < OC_COUNT(walks); i++)
        if (walks[i].cls == k->cls) {
            k->run = walks[i].run ? walks[i].run(&v) : 0;
            k->variant = walks[i].variant ? walks[i].variant(&v) : 0;
            break;
        }
    if (!k->variant && oc_class_is_int(k->dtype))
        k->variant = weight_sign(&v);
}

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
            kernels_number(&h, k->variant);
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
    oc_index_make(&k->x, m, arena);
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
    kernel_walk(m->m, m->a, core, k);
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
