/* Memory of a training step, with and without recomputation. */
#include <stdlib.h>
#include <string.h>

#include "analyze/training.h"

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

void oc_training_memory(struct oc_training *t)
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
