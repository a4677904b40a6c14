/* Work converted to another data type. */
#include "estimate/recast.h"

#include <string.h>

#include "base/ck.h"

#define SIXTEEN_STAYS                                                                                        \
    "tensors take 16 bits; normalisations, softmax, reductions and transcendental functions compute as "     \
    "before"
#define NARROW_STAYS                                                                                         \
    "convolutions, matrix products, copies, pooling and simple element-wise operators; the rest as before; " \
    "scales not counted"
#define WEIGHTS_STAY "weights of convolutions and matrix products; arithmetic as before; scales not counted"

static const struct oc_recast types[] = {
    {"fp16", OC_CLASS_F16, 16, false, SIXTEEN_STAYS},
    {"bf16", OC_CLASS_BF16, 16, false, SIXTEEN_STAYS},
    {"fp8", OC_CLASS_F8, 8, false, NARROW_STAYS},
    {"int8", OC_CLASS_I8, 8, false, NARROW_STAYS},
    {"int4", OC_CLASS_I4, 4, false, NARROW_STAYS},
    {"fp16-weights", OC_CLASS_F16, 16, true, WEIGHTS_STAY},
    {"int8-weights", OC_CLASS_I8, 8, true, WEIGHTS_STAY},
    {"int4-weights", OC_CLASS_I4, 4, true, WEIGHTS_STAY},
};

const struct oc_recast *oc_recast_by_name(const char *name)
{
    for (size_t i = 0; i < OC_COUNT(types); i++)
        if (!strcmp(types[i].name, name))
            return &types[i];
    return NULL;
}

const char *oc_recast_name(size_t i)
{
    return i < OC_COUNT(types) ? types[i].name : NULL;
}

int oc_recast_unknown(const char *name, struct oc_err *err)
{
    const char *names[32];
    size_t n = 0;
    for (; n < OC_COUNT(names) && (names[n] = oc_recast_name(n)); n++)
        continue;
    return oc_fail_unknown(
        err, OC_EARG,
        &(struct oc_unknown){
            .what = "data type", .where = "for --as", .given = name, .valid = names, .n = n});
}

/* ---- conversion rules ------------------------------------------------------------------------------- */

enum change { KEEPS, MOVES /* narrow tensors, arithmetic as before */, COMPUTES /* in the class too */ };

static bool contracts(const struct oc_node_cost *k)
{
    return k->op_class == OC_OP_GEMM || k->op_class == OC_OP_CONV;
}

static enum change change_of(const struct oc_recast *to, const struct oc_node_cost *k)
{
    static const bool moves[OC_OP_CLASS_COUNT] = {
        [OC_OP_VIEW] = true,   [OC_OP_COPY] = true,   [OC_OP_ELEMENTWISE] = true, [OC_OP_POOL] = true,
        [OC_OP_GATHER] = true, [OC_OP_RESIZE] = true, [OC_OP_LAYOUT] = true,
    };
    static const bool stays[OC_OP_CLASS_COUNT] = {
        [OC_OP_NORM] = true, [OC_OP_SOFTMAX] = true, [OC_OP_REDUCE] = true};
    if (to->weights_only)
        return contracts(k) ? MOVES : KEEPS;
    if (to->bits == 16)
        return stays[k->op_class] ? MOVES : COMPUTES;
    return contracts(k) ? COMPUTES : moves[k->op_class] && k->transcendentals == 0 ? MOVES : KEEPS;
}

bool oc_recast_changes(const struct oc_recast *to, const struct oc_node_cost *cost)
{
    bool any = cost->n_hist || cost->rd_act || cost->rd_wt || cost->wr;
    return any && change_of(to, cost) != KEEPS;
}

static bool recast_is_float(unsigned cls)
{
    return cls == OC_CLASS_F64 || cls == OC_CLASS_F32 || cls == OC_CLASS_TF32 || cls == OC_CLASS_F16 ||
           cls == OC_CLASS_BF16;
}

/* ---- bytes ------------------------------------------------------------------------------------------ */

static void recast_add(struct oc_recasting *s, uint64_t *sum, uint64_t v)
{
    if (!oc_add_u64(*sum, v, sum))
        s->work.unknown = true;
}

static void recast_add_tensor(struct oc_recasting *s, unsigned part, const struct oc_type *t, unsigned bits)
{
    uint64_t n, old, scaled;
    const struct oc_dtype_info *d = oc_dtype_info(t->dtype);
    if (!oc_type_elements(t, &n) || !oc_bytes_of(t->dtype, n, &old))
        return;
    uint64_t now = old;
    if (bits && recast_is_float(d->cls) && d->bits > bits && oc_mul_u64(n, bits, &scaled))
        now = scaled / 8 + (scaled % 8 != 0);
    recast_add(s, &s->before[part], old);
    recast_add(s, &s->after[part], now);
}

enum { ACT, WEIGHT, WRITTEN };

static void add_tensors(const struct oc_recast *to, const struct oc_analysis *a, uint32_t node,
                        enum change change, struct oc_recasting *s)
{
    const struct oc_node *n = &a->model->node[node];
    bool narrow = to->bits < 16 || to->weights_only;
    for (uint32_t i = 0; i < n->n_in; i++) {
        char slot = oc_op_slot(a->op[node], i);
        if (n->in[i] == OC_NONE || slot == 'm')
            continue;
        bool constant = a->is_const[n->in[i]], stays = narrow && slot == 'b';
        bool changes = change != KEEPS && !stays && (constant || !to->weights_only);
        recast_add_tensor(s, constant ? WEIGHT : ACT, &a->type[n->in[i]], changes ? to->bits : 0);
    }
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i] != OC_NONE)
            recast_add_tensor(s, WRITTEN, &a->type[n->out[i]],
                              change != KEEPS && !to->weights_only ? to->bits : 0);
}

/* ---- operations ------------------------------------------------------------------------------------- */

static void move_class(struct oc_recasting *s, uint64_t ops[OC_CLASS_COUNT], unsigned cls)
{
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++) {
        if (c == cls || !recast_is_float(c))
            continue;
        recast_add(s, &ops[cls], ops[c]);
        ops[c] = 0;
    }
}

static void recast_add_work(struct oc_recasting *s, const struct oc_work *w)
{
    s->work.unknown |= w->unknown;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++) {
        recast_add(s, &s->work.macs[c], w->macs[c]);
        recast_add(s, &s->work.flops[c], w->flops[c]);
        recast_add(s, &s->work.special[c], w->special[c]);
        recast_add(s, &s->work.special_flops[c], w->special_flops[c]);
    }
}

/* Of one launch: narrow if it contains a contraction, unchanged if a member is unchanged. */
static enum change change_of_tensors(const struct oc_recast *to, const struct oc_analysis *a,
                                     const uint32_t *node, uint32_t n)
{
    enum change least = COMPUTES;
    for (uint32_t i = 0; i < n; i++) {
        const struct oc_node_cost *k = &a->cost[node[i]];
        if (contracts(k))
            return MOVES;
        if (!k->alias && change_of(to, k) < least)
            least = change_of(to, k);
    }
    return least;
}

void oc_recast_add(const struct oc_recast *to, const struct oc_analysis *a, const uint32_t *node, uint32_t n,
                   struct oc_recasting *sum)
{
    enum change tensors = change_of_tensors(to, a, node, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct oc_node_cost *k = &a->cost[node[i]];
        struct oc_work w = {0};
        oc_work_add(&w, k);
        if (change_of(to, k) == COMPUTES) {
            move_class(sum, w.macs, to->cls);
            if (to->bits == 16)
                move_class(sum, w.flops, to->cls);
        }
        recast_add_work(sum, &w);
        if (!k->alias)
            add_tensors(to, a, node[i], to->weights_only ? change_of(to, k) : tensors, sum);
    }
}

/* bytes x after / before, exact if it fits 64 bits; before is at least after. */
static uint64_t recast_scale(uint64_t bytes, uint64_t before, uint64_t after)
{
    uint64_t product;
    if (before == 0 || before == after)
        return bytes;
    if (oc_mul_u64(bytes, after, &product))
        return product / before;
    return (uint64_t)((double)bytes * ((double)after / (double)before));
}

void oc_recast_finish(const struct oc_recasting *sum, struct oc_work *work)
{
    uint64_t told = work->weight_bytes + work->written, read = work->bytes > told ? work->bytes - told : 0;
    struct oc_work w = sum->work;
    w.launches = work->launches;
    w.unknown |= work->unknown;
    w.weight_bytes = recast_scale(work->weight_bytes, sum->before[WEIGHT], sum->after[WEIGHT]);
    w.written = recast_scale(work->written, sum->before[WRITTEN], sum->after[WRITTEN]);
    w.bytes = recast_scale(read, sum->before[ACT], sum->after[ACT]) + w.weight_bytes + w.written;
    *work = w;
}

void oc_recast_kernel(const struct oc_recast *to, const struct oc_analysis *a, const struct oc_kernel_use *u,
                      struct oc_work *work)
{
    struct oc_recasting sum = {0};
    oc_recast_add(to, a, u->node, u->n_node, &sum);
    if (u->n_node)
        oc_work_divide(&sum.work, a->cost[u->kernel.node].trips);
    oc_recast_finish(&sum, work);
}

void oc_recast_sum(const struct oc_recast *to, const struct oc_analysis *a, uint32_t node,
                   struct oc_work *sum)
{
    struct oc_work w = {0};
    struct oc_recasting one = {0}, all = {.work = *sum};
    oc_work_add(&w, &a->cost[node]);
    if (to) {
        oc_recast_add(to, a, &node, 1, &one);
        oc_recast_finish(&one, &w);
    }
    recast_add_work(&all, &w);
    recast_add(&all, &all.work.bytes, w.bytes);
    recast_add(&all, &all.work.weight_bytes, w.weight_bytes);
    recast_add(&all, &all.work.written, w.written);
    recast_add(&all, &all.work.launches, w.launches);
    *sum = all.work;
}
