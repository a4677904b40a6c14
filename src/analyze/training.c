/* A training step: which values have gradients, what the backward pass of each node costs, which activations it
 * keeps, and the memory of the step, with and without recomputation. */
#include "analyze/handles.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/receipt.h"
#include "base/c_locale.h"
#include "base/ck.h"
#include "base/units.h"
#include "onnxcost.h"
#include "ops/op.h"

/* ---- backward pass ------------------------------------------------------------------------------------ */

/* Reverse-mode differentiation over the steps of liveness analysis. A value depends on a parameter if it
 * changes with one; it has a gradient if it also decides a real output of the model. Inputs of the model have
 * none: the first layer has no dX. */
struct backward {
    struct oc_training *t;
    const struct oc_analysis *a;
    const struct oc_model *m;
    struct oc_recount *recount;
    bool *depends, *has_grad; /* by value */
    bool *wants;              /* by slot of one node */
};

void oc_training_sum(struct oc_training *t, uint64_t *sum, uint64_t v)
{
    if (!oc_add_u64(*sum, v, sum))
        t->overflow = true;
}

static void sum_product(struct oc_training *t, uint64_t *sum, uint64_t a, uint64_t b)
{
    uint64_t n = 0;
    if (!oc_mul_u64(a, b, &n))
        t->overflow = true;
    oc_training_sum(t, sum, n);
}

/* ---- what depends on parameters --------------------------------------------------------------------- */

static bool is_trainable(const struct backward *b, uint32_t v)
{
    static const bool trained[OC_PC_COUNT] = {
        [OC_PC_NORM] = true, [OC_PC_EMBED] = true, [OC_PC_BIAS] = true, [OC_PC_WEIGHT] = true};
    const struct oc_type *t = &b->a->type[v];
    uint32_t producer = b->m->value[v].producer;
    bool stored =
        b->m->value[v].constant || (producer != OC_NONE && oc_node_is_constant(&b->m->node[producer]));
    return stored && t->kind == OC_T_TENSOR && oc_dtype_info(t->dtype)->kind == OC_KIND_FLOAT &&
           trained[b->a->param_class[v]];
}

static bool lets_pass(const struct backward *b, const struct oc_node *n, uint32_t node, uint32_t slot)
{
    const struct oc_type *out = n->n_out && n->out[0] != OC_NONE ? &b->a->type[n->out[0]] : NULL;
    return n->in[slot] != OC_NONE && oc_gradient_passes(b->a->op[node], slot, &b->a->type[n->in[slot]], out);
}

/* Outer values that the bodies of a control-flow node read, or the inputs of the node. */
static bool reads_dependent(const struct backward *b, uint32_t node)
{
    const struct oc_node *n = &b->m->node[node];
    for (uint32_t i = 0; i < n->n_in; i++)
        if (lets_pass(b, n, node, i) && b->depends[n->in[i]])
            return true;
    uint32_t c = oc_first_capture(b->m->capture, b->m->n_capture, node);
    for (; c < b->m->n_capture && b->m->capture[c].node == node; c++)
        if (b->depends[b->m->capture[c].value])
            return true;
    return false;
}

static void spread_dependence(struct backward *b, uint32_t node)
{
    const struct oc_node *n = &b->m->node[node];
    if (!reads_dependent(b, node))
        return;
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i] != OC_NONE)
            b->depends[n->out[i]] = true;
}

static bool is_folded(const struct backward *b, uint32_t node)
{
    return b->a->cost[node].state == OC_NODE_FOLDED;
}

static void find_dependence(struct backward *b)
{
    for (uint32_t v = 0; v < b->m->n_value; v++)
        b->depends[v] = is_trainable(b, v);
    for (int round = 0; round < 2; round++) /* constants of a function may come after their readers */
        for (uint32_t i = 0; i < b->m->n_node; i++)
            if (is_folded(b, i))
                spread_dependence(b, i);
    for (uint32_t s = 0; s < b->t->liveness->n_step; s++)
        spread_dependence(b, b->t->liveness->step[s]);
}

/* ---- one node --------------------------------------------------------------------------------------- */

static uint64_t training_bytes(const struct backward *b, uint32_t v)
{
    uint64_t bytes;
    return oc_type_bytes(&b->a->type[v], &bytes) ? bytes : 0;
}

static uint64_t weigh(struct backward *b, const uint64_t *hist)
{
    uint64_t sum = 0;
    for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
        sum_product(b->t, &sum, hist[p], b->a->weights.w[p]);
    return sum;
}

static uint32_t buffer_of(const struct backward *b, uint32_t v)
{
    uint32_t life = oc_life_of(b->t->liveness, v);
    return life < b->t->liveness->n_life && !b->a->is_const[v] ? life : OC_NONE;
}

/* The gradient of the step reads the value: it is saved until then. */
static void need(struct backward *b, uint32_t step, uint32_t v, struct oc_training_node *x)
{
    uint32_t life = v == OC_NONE ? OC_NONE : buffer_of(b, v);
    if (v != OC_NONE)
        oc_training_sum(b->t, &x->bytes_read, training_bytes(b, v));
    if (life != OC_NONE)
        b->t->needed[life] = step; /* steps come in descending order */
}

static void need_slots(struct backward *b, uint32_t step, const struct oc_node *n,
                       const struct oc_gradient *g, struct oc_training_node *x)
{
    for (uint32_t i = 0; i < n->n_in && i < 32; i++)
        if (g->save_in >> i & 1)
            need(b, step, n->in[i], x);
    for (uint32_t i = 0; i < n->n_out && i < 32; i++)
        if (g->save_out >> i & 1)
            need(b, step, n->out[i], x);
    b->t->extra[step] = g->extra_bytes;
    oc_training_sum(b->t, &x->bytes_read, g->extra_bytes);
}

/* Writes the gradient of an input; one that other readers of the value have begun is added to. */
static void give_gradient(struct backward *b, uint32_t step, uint32_t v, bool view,
                          struct oc_training_node *x)
{
    uint64_t bytes = view ? 0 : training_bytes(b, v), elements;
    uint32_t life = buffer_of(b, v);
    if (b->has_grad[v]) {
        uint64_t add = oc_type_elements(&b->a->type[v], &elements) ? elements : 0;
        sum_product(b->t, &x->backward_flops, add, b->a->weights.w[OC_ADD]);
        sum_product(b->t, &x->bytes_read, 2, training_bytes(b, v));
        bytes = training_bytes(b, v);
    }
    oc_training_sum(b->t, &x->bytes_written, bytes);
    b->has_grad[v] = true;
    if (life != OC_NONE && b->t->grad_last[life] == OC_NONE)
        b->t->grad_last[life] = step;
}

/* The rule of the operator. False: it has none, or a size is unknown. */
static bool apply_rule(struct backward *b, uint32_t step, uint32_t node, struct oc_training_node *x,
                       bool *view)
{
    const struct oc_node *n = &b->m->node[node];
    struct oc_op_ctx c;
    struct oc_cost k;
    struct oc_gradient g;
    if (!oc_recount_rule(b->recount, node, &c, &k)) {
        x->note = oc_node_reason(&b->a->cost[node]);
        x->note = x->note ? x->note : "a size is unknown";
        return false;
    }
    if (!oc_gradient_of(&c, &k, b->wants, &g)) {
        x->note = "no gradient rule for this operator";
        return false;
    }
    if (c.unknown || c.overflow) {
        b->t->overflow |= c.overflow;
        x->note = "a size is unknown";
        return false;
    }
    *view = k.alias;
    x->backward_macs = g.hist[OC_MAC];
    x->backward_flops = weigh(b, g.hist);
    oc_training_sum(b->t, &x->forward_flops, weigh(b, g.forward));
    need_slots(b, step, n, &g, x);
    if (g.assumption) {
        x->quality = oc_worse_quality((uint8_t)x->quality, OC_EST);
        x->note = g.assumption;
    } else if (c.upper) {
        x->quality = oc_worse_quality((uint8_t)x->quality, OC_UPPER);
        x->note = "counted at the upper bound of a size";
    }
    return true;
}

/* Gradients of the outputs that the step reads; false: none has any. */
static bool reads_gradients(struct backward *b, const struct oc_node *n, struct oc_training_node *x)
{
    bool any = false;
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i] != OC_NONE && b->has_grad[n->out[i]]) {
            oc_training_sum(b->t, &x->bytes_read, training_bytes(b, n->out[i]));
            any = true;
        }
    return any;
}

static bool find_wanted(struct backward *b, uint32_t node)
{
    const struct oc_node *n = &b->m->node[node];
    bool any = false;
    for (uint32_t i = 0; i < n->n_in; i++) {
        b->wants[i] = lets_pass(b, n, node, i) && b->depends[n->in[i]];
        any |= b->wants[i];
    }
    return any;
}

static void give_to_captures(struct backward *b, uint32_t step, uint32_t node, struct oc_training_node *x)
{
    uint32_t c = oc_first_capture(b->m->capture, b->m->n_capture, node);
    for (; c < b->m->n_capture && b->m->capture[c].node == node; c++)
        if (b->depends[b->m->capture[c].value])
            give_gradient(b, step, b->m->capture[c].value, true, x);
}

static void backward_step(struct backward *b, uint32_t step)
{
    uint32_t node = b->t->liveness->step[step];
    const struct oc_node *n = &b->m->node[node];
    struct oc_training_node *x = &b->t->node[step];
    bool view = false, known;
    *x = (struct oc_training_node){.node = node,
                                   .quality = (enum oc_quality)b->a->cost[node].quality,
                                   .note = b->a->cost[node].note,
                                   .forward_flops = b->a->cost[node].flops};
    bool wanted = find_wanted(b, node), control = b->a->cost[node].state == OC_NODE_CONTAINER;
    if (!reads_gradients(b, n, x) || (!wanted && !(control && reads_dependent(b, node)))) {
        x->bytes_read = 0;
        return;
    }
    x->gradient = true;
    b->t->info.gradient_nodes++;
    known = !control && apply_rule(b, step, node, x, &view);
    if (view)
        x->bytes_read = x->bytes_written = 0;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (b->wants[i])
            give_gradient(b, step, n->in[i], view, x);
    give_to_captures(b, step, node, x);
    if (!known) {
        x->quality = OC_UNKNOWN;
        x->backward_macs = x->backward_flops = x->bytes_read = x->bytes_written = 0;
        x->note = control ? "control flow: its gradient is not derived" : x->note;
        b->t->info.unknown_nodes++;
    }
}

/* ---- totals ----------------------------------------------------------------------------------------- */

static void seed_outputs(struct backward *b)
{
    const struct oc_graph *g = &b->m->graph[0];
    for (uint32_t i = 0; i < g->n_output; i++) {
        uint32_t v = g->output[i];
        const struct oc_type *t = v == OC_NONE ? NULL : &b->a->type[v];
        if (t && t->kind == OC_T_TENSOR && oc_dtype_info(t->dtype)->kind == OC_KIND_FLOAT && b->depends[v]) {
            b->has_grad[v] = true;
            if (buffer_of(b, v) != OC_NONE)
                b->t->grad_last[buffer_of(b, v)] = b->t->liveness->n_step;
        }
    }
}

/* Through the nodes of constants, back to the stored parameters. */
static void reach_parameters(struct backward *b)
{
    for (int round = 0; round < 2; round++)
        for (uint32_t node = b->m->n_node; node-- > 0;) {
            const struct oc_node *n = &b->m->node[node];
            for (uint32_t o = 0; is_folded(b, node) && o < n->n_out; o++)
                for (uint32_t i = 0; n->out[o] != OC_NONE && b->has_grad[n->out[o]] && i < n->n_in; i++)
                    if (lets_pass(b, n, node, i) && b->depends[n->in[i]])
                        b->has_grad[n->in[i]] = true;
        }
}

static void count_parameters(struct backward *b, unsigned n_state)
{
    struct oc_training_info *x = &b->t->info;
    for (uint32_t v = 0; v < b->m->n_value; v++) {
        uint64_t n, bytes = training_bytes(b, v);
        if (!is_trainable(b, v) || !b->has_grad[v] || !oc_type_elements(&b->a->type[v], &n))
            continue;
        oc_training_sum(b->t, &x->params, n);
        oc_training_sum(b->t, &x->param_bytes, bytes);
        if (bytes < 4 * n)
            sum_product(b->t, &x->master_bytes, 4, n);
    }
    uint64_t all = b->a->total->const_bytes;
    x->frozen_bytes = all > x->param_bytes ? all - x->param_bytes : 0;
    x->gradient_bytes = x->param_bytes;
    sum_product(b->t, &x->state_bytes, UINT64_C(4) * n_state, x->params);
}

/* Reads gradient, state and parameter (or its f32 copy); writes state, parameter and copy. */
static void count_optimizer(struct backward *b, const struct oc_prims *work)
{
    struct oc_training_info *x = &b->t->info;
    for (; work->n; work++)
        sum_product(b->t, &x->optimizer_flops, x->params, (uint64_t)work->n * b->a->weights.w[work->prim]);
    oc_training_sum(b->t, &x->optimizer_bytes, x->gradient_bytes);
    sum_product(b->t, &x->optimizer_bytes, 2, x->state_bytes);
    sum_product(b->t, &x->optimizer_bytes, 2, x->param_bytes);
    sum_product(b->t, &x->optimizer_bytes, 2, x->master_bytes);
}

static void sum_nodes(struct oc_training *t)
{
    struct oc_training_info *x = &t->info;
    const struct oc_totals *total = t->a->total;
    x->nodes = t->liveness->n_step;
    x->forward_macs = total->macs;
    x->forward_bytes = total->bytes_read_act + total->bytes_read_weight + total->bytes_written;
    x->quality = total->quality;
    uint64_t inner = total->flops;
    for (uint32_t s = 0; s < t->liveness->n_step; s++) {
        const struct oc_training_node *n = &t->node[s];
        uint64_t own = t->a->cost[n->node].flops;
        oc_training_sum(t, &inner, n->forward_flops - own); /* what training adds */
        oc_training_sum(t, &x->backward_macs, n->backward_macs);
        oc_training_sum(t, &x->backward_flops, n->backward_flops);
        oc_training_sum(t, &x->backward_bytes, n->bytes_read);
        oc_training_sum(t, &x->backward_bytes, n->bytes_written);
        if (n->gradient)
            x->quality = (enum oc_quality)oc_quality_add(x->quality, n->quality);
    }
    x->forward_flops = inner;
}

/* ---- memory of a step --------------------------------------------------------------------------------- */

enum { CUTTINGS = 64 };

/* Cuts into segments of consecutive steps. Stored: inputs of the model, and the buffers that are live across
 * a cut. When the backward pass reaches a segment, its forward pass runs again and keeps what the gradients
 * need; the last segment runs once. Without cuts there is one segment. */
struct segments {
    struct oc_training *t;
    uint32_t n;             /* steps */
    uint64_t *saved;        /* by step: bytes saved up to and including it, without inputs */
    uint64_t *across;       /* by step: live across a cut after it */
    uint32_t *cut;          /* by step: the first cut at or after it; n: none */
    uint64_t *again, *back; /* by step: time of its last forward execution, and of its backward one */
    uint64_t *born, *dead;  /* by time: bytes that become live, that died before */
    uint64_t *own;          /* by step: scratch */
    uint64_t n_time;
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- the peak --------------------------------------------------------------------------------------- */

/* Time: the forward pass, the loss at n, then each segment from the last one: its second forward pass, if
 * any, and its backward pass. */
static void schedule(struct segments *x)
{
    uint64_t time = (uint64_t)x->n + 1;
    for (uint32_t to = x->n; to-- > 0;) {
        uint32_t from = to;
        while (from > 0 && x->cut[from - 1] != from - 1)
            from--;
        bool repeats = to + 1 < x->n;
        for (uint32_t s = from; s <= to; s++)
            x->again[s] = repeats ? time++ : s;
        for (uint32_t s = to + 1; s-- > from;)
            x->back[s] = time++;
        to = from;
    }
    x->n_time = time;
}

static void training_live(struct segments *x, uint64_t from, uint64_t to, uint64_t bytes)
{
    oc_training_sum(x->t, &x->born[from], bytes);
    oc_training_sum(x->t, &x->dead[to + 1], bytes);
}

static bool crosses(const struct segments *x, const struct oc_life *l)
{
    return x->cut[l->first] < x->n && x->cut[l->first] < l->last;
}

static void place_buffer(struct segments *x, uint32_t life)
{
    const struct oc_life *l = &x->t->liveness->life[life];
    uint32_t needed = x->t->needed[life], grad = x->t->grad_last[life];
    uint64_t end = l->output ? x->n : l->last, from = l->first;
    if (!l->input && !crosses(x, l) && x->again[from] != from) { /* made twice */
        training_live(x, from, end, l->bytes);
        from = end = x->again[from];
    }
    if (needed != OC_NONE || x->again[l->first] != l->first || crosses(x, l))
        end = later(end, x->again[l->last]);
    training_live(x, from, needed == OC_NONE ? end : later(end, x->back[needed]), l->bytes);
    if (grad != OC_NONE)
        training_live(x, grad == x->n ? x->n : x->back[grad], x->back[l->first], l->bytes);
}

static uint64_t peak_of(struct segments *x)
{
    uint64_t live = 0, peak = 0;
    schedule(x);
    memset(x->born, 0, (x->n_time + 1) * sizeof(*x->born));
    memset(x->dead, 0, (x->n_time + 1) * sizeof(*x->dead));
    for (uint32_t i = 0; i < x->t->liveness->n_life; i++)
        place_buffer(x, i);
    for (uint32_t s = 0; s < x->n; s++)
        training_live(x, x->again[s], x->back[s], x->t->extra[s]);
    for (uint64_t i = 0; i < x->n_time && !x->t->overflow; i++) {
        oc_training_sum(x->t, &live, x->born[i]);
        live -= x->dead[i];
        peak = later(peak, live);
    }
    return peak;
}

static void count_saved(struct oc_training *t)
{
    for (uint32_t i = 0; i < t->liveness->n_life; i++) {
        const struct oc_life *l = &t->liveness->life[i];
        if (t->needed[i] == OC_NONE)
            continue;
        oc_training_sum(t, &t->info.saved_bytes, l->bytes);
        if (!l->input)
            oc_training_sum(t, &t->node[l->first].saved_bytes, l->bytes);
    }
    for (uint32_t s = 0; s < t->liveness->n_step; s++) {
        oc_training_sum(t, &t->info.saved_bytes, t->extra[s]);
        oc_training_sum(t, &t->node[s].saved_bytes, t->extra[s]);
    }
}

/* ---- recomputation ---------------------------------------------------------------------------------- */

static void prepare_segments(struct segments *x)
{
    const struct oc_liveness *l = x->t->liveness;
    for (uint32_t i = 0; i < l->n_life; i++) {
        if (l->life[i].input)
            continue;
        if (x->t->needed[i] != OC_NONE)
            x->saved[l->life[i].first] += l->life[i].bytes;
        x->across[l->life[i].first] += l->life[i].bytes;
        x->own[l->life[i].last] += l->life[i].bytes;
    }
    for (uint32_t s = 0; s < x->n; s++) {
        x->saved[s] += x->t->extra[s] + (s ? x->saved[s - 1] : 0);
        x->across[s] += (s ? x->across[s - 1] : 0) - x->own[s];
    }
}

static uint64_t saved_before(const struct segments *x, uint32_t step)
{
    return step ? x->saved[step - 1] : 0;
}

/* Cuts so that segments keep at most `most` bytes, each where the fewest bytes are live in the second half of
 * what fits. Returns the last cut, n: none. */
static uint32_t cut_segments(struct segments *x, uint64_t most)
{
    uint32_t from = 0, last = x->n;
    memset(x->cut, 0, x->n * sizeof(*x->cut));
    while (from < x->n) {
        uint32_t to = from, best;
        while (to + 1 < x->n && x->saved[to + 1] - saved_before(x, from) <= most)
            to++;
        if (to + 1 >= x->n)
            break;
        best = to;
        for (uint32_t s = to; s > from + (to - from) / 2; s--)
            if (x->across[s] < x->across[best])
                best = s;
        x->cut[best] = 1;
        last = best;
        from = best + 1;
    }
    uint32_t next = x->n;
    for (uint32_t s = x->n; s-- > 0;) {
        next = x->cut[s] ? s : next;
        x->cut[s] = next;
    }
    return last;
}

static uint64_t count_segments(const struct segments *x)
{
    uint64_t n = 1;
    for (uint32_t s = 0; s < x->n; s++)
        n += x->cut[s] == s;
    return n;
}

/* What the cutting stores and keeps. */
static void weigh_cutting(struct segments *x, uint32_t last, struct oc_training_info *out)
{
    const struct oc_liveness *l = x->t->liveness;
    uint64_t stored = 0, most = 0, sum = 0;
    memcpy(x->own, x->t->extra, x->n * sizeof(*x->own));
    for (uint32_t i = 0; i < l->n_life; i++) {
        const struct oc_life *b = &l->life[i];
        if ((!b->input && crosses(x, b)) || (b->input && x->t->needed[i] != OC_NONE))
            stored += b->bytes;
        else if (x->t->needed[i] != OC_NONE)
            x->own[b->first] += b->bytes;
    }
    out->recompute.flops = 0;
    for (uint32_t s = 0; s < x->n; s++) {
        sum += x->own[s];
        most = later(most, sum);
        sum = x->cut[s] == s ? 0 : sum;
        if (last < x->n && s <= last)
            oc_training_sum(x->t, &out->recompute.flops, x->t->node[s].forward_flops);
    }
    out->recompute.checkpoint_bytes = stored;
    out->recompute.segment_bytes = most;
    out->recompute.saved_bytes = stored + most;
    out->recompute.segments = count_segments(x);
}

/* The cutting with the lowest peak of those that let a segment keep everything, 7/8 of it, and so on. */
static void find_segments(struct oc_training *t)
{
    struct segments x = {.t = t, .n = t->liveness->n_step};
    size_t n = (size_t)x.n + 2;
    uint64_t **const by_step[] = {&x.saved, &x.across, &x.again, &x.back, &x.own},
                     **const by_time[] = {&x.born, &x.dead};
    for (size_t i = 0; i < OC_COUNT(by_step); i++)
        *by_step[i] = oc_xcalloc(n, sizeof(uint64_t));
    for (size_t i = 0; i < OC_COUNT(by_time); i++)
        *by_time[i] = oc_xcalloc(3 * n, sizeof(uint64_t));
    x.cut = oc_xcalloc(n, sizeof(*x.cut));
    prepare_segments(&x);
    uint64_t most = saved_before(&x, x.n);
    for (int i = 0; i < CUTTINGS && !t->overflow; i++, most -= most / 8) {
        struct oc_training_info one = t->info;
        weigh_cutting(&x, cut_segments(&x, most), &one);
        one.recompute.peak_bytes = peak_of(&x);
        if (i == 0)
            one.peak_bytes = one.recompute.peak_bytes;
        if (i == 0 || one.recompute.peak_bytes < t->info.recompute.peak_bytes)
            t->info = one;
    }
    for (size_t i = 0; i < OC_COUNT(by_step); i++)
        free(*by_step[i]);
    for (size_t i = 0; i < OC_COUNT(by_time); i++)
        free(*by_time[i]);
    free(x.cut);
}

/* peak_bytes, saved_bytes, `recompute` and the quality of the info; saved_bytes of the nodes. */
static void training_memory(struct oc_training *t)
{
    struct oc_training_info *i = &t->info;
    count_saved(t);
    if (!t->overflow) /* of the sums that follow are parts */
        find_segments(t);
    i->memory_quality = (enum oc_quality)(i->unknown_nodes ? oc_worse_quality(t->liveness->quality, OC_LOWER)
                                                           : t->liveness->quality);
    uint64_t fixed = 0;
    oc_training_sum(t, &fixed, i->param_bytes);
    oc_training_sum(t, &fixed, i->frozen_bytes);
    oc_training_sum(t, &fixed, i->gradient_bytes);
    oc_training_sum(t, &fixed, i->state_bytes);
    oc_training_sum(t, &fixed, i->master_bytes);
    i->total_bytes = i->recompute.total_bytes = fixed;
    oc_training_sum(t, &i->total_bytes, i->peak_bytes);
    oc_training_sum(t, &i->recompute.total_bytes, i->recompute.peak_bytes);
}

/* ---- the step --------------------------------------------------------------------------------------- */

static void training_arrays(struct oc_training *t)
{
    struct oc_liveness_opts o = oc_liveness_opts_of(t->a);
    o.inplace = false; /* a buffer may be saved */
    t->liveness = oc_liveness_make(t->a, 0, &o);
    t->node = OC_NEW_ARRAY(&t->arena, t->liveness->n_step, struct oc_training_node);
    t->extra = OC_NEW_ARRAY(&t->arena, t->liveness->n_step, uint64_t);
    t->needed = OC_NEW_ARRAY(&t->arena, t->liveness->n_life, uint32_t);
    t->grad_last = OC_NEW_ARRAY(&t->arena, t->liveness->n_life, uint32_t);
    for (uint32_t i = 0; i < t->liveness->n_life; i++)
        t->needed[i] = t->grad_last[i] = OC_NONE;
}

static void train(struct oc_training *t, const struct oc_prims *step, unsigned n_state)
{
    const struct oc_model *m = t->a->model;
    struct backward b = {.t = t, .a = t->a, .m = m, .recount = oc_recount_new(t->a)};
    training_arrays(t);
    b.depends = oc_xcalloc((size_t)m->n_value + 1, sizeof(*b.depends));
    b.has_grad = oc_xcalloc((size_t)m->n_value + 1, sizeof(*b.has_grad));
    b.wants = oc_xcalloc((size_t)m->most_in + 1, sizeof(*b.wants));
    find_dependence(&b);
    seed_outputs(&b);
    for (uint32_t s = t->liveness->n_step; s-- > 0;)
        backward_step(&b, s);
    reach_parameters(&b);
    count_parameters(&b, n_state);
    count_optimizer(&b, step);
    sum_nodes(t);
    oc_recount_free(b.recount);
    free(b.depends);
    free(b.has_grad);
    free(b.wants);
    training_memory(t);
}

int oc_training_make(const struct oc_analysis *a, const struct oc_training_opts *given,
                     struct oc_training **out, struct oc_err *err)
{
    OC_ENTRY(err);
    static const char *const names[] = {"adam", "momentum", "sgd"};
    struct oc_training_opts o;
    unsigned n_state = 0;
    *out = NULL;
    if (OC_OPTIONS(&o, given, err))
        return -1;
    const char *name = o.optimizer ? o.optimizer : names[0];
    const struct oc_prims *step = oc_optimizer_step(name, &n_state);
    if (!step)
        return oc_fail_unknown(
            err, OC_EARG,
            &(struct oc_unknown){.what = "optimizer", .given = name, .valid = names, .n = OC_COUNT(names)});
    if (a->counting->convention && strcmp(a->counting->convention, "onnxcost") != 0)
        return oc_fail(err, OC_EARG, "a training step is not counted by the convention of another tool");
    struct oc_training *t = oc_xmalloc(sizeof(*t));
    *t = (struct oc_training){.a = a, .top = o.top, .width_chars = o.width_chars};
    t->info.optimizer = oc_strdup(&t->arena, name);
    train(t, step, n_state);
    if (t->overflow) {
        oc_training_free(t);
        return oc_fail(err, OC_ELIMIT, "the counts of the training step overflow 64 bits");
    }
    *out = t;
    return 0;
}

void oc_training_free(struct oc_training *t)
{
    if (!t)
        return;
    oc_liveness_free(t->liveness);
    oc_arena_free(&t->arena);
    free(t);
}

const struct oc_training_info *oc_training_info(const struct oc_training *t)
{
    return &t->info;
}

size_t oc_training_nodes(const struct oc_training *t, const struct oc_training_node **out)
{
    *out = t->node;
    return t->liveness->n_step;
}
