/* Splits the boxes where no box spans from one step to the next, and tries orders on each part, the one with
 * the highest peak first: a part that stays below the size of another one needs no better plan. */
#include "memory/arena_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/diag.h"
#include "memory/arena_fit.h"

#define DEFAULT_WORK 60000000u
#define EXACT_PART   4 /* share of the work for branch and bound */

struct sortable {
    double key, tie;
    uint32_t i;
};

struct keyed { /* a box and its index in the caller's list */
    struct oc_box box;
    uint32_t i;
};

struct part { /* boxes [from, to) of the sorted list */
    uint32_t from, to;
    uint64_t live;
};

struct planner {
    struct oc_box *box; /* by first step, rounded; steps renumbered */
    uint32_t *input;    /* index in the caller's list */
    uint32_t n;
    struct part *part;
    uint32_t n_part;
    uint64_t work;
};

static int by_key(const void *a, const void *b)
{
    const struct sortable *x = a, *y = b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    if (x->tie != y->tie)
        return x->tie > y->tie ? -1 : 1;
    return x->i < y->i ? -1 : x->i > y->i;
}

/* ---- orders: largest key first, then the larger box ---------------------------------------------------- */

struct keys {
    const struct oc_fit *f;
    const uint64_t *busiest; /* by box: peak live bytes during its life */
};

static double key_size(const struct keys *k, uint32_t i)
{
    return (double)k->f->box[i].bytes;
}

static double key_life(const struct keys *k, uint32_t i)
{
    return (double)(k->f->box[i].last - k->f->box[i].first);
}

static double key_area(const struct keys *k, uint32_t i)
{
    return (double)k->f->box[i].bytes * (key_life(k, i) + 1);
}

static double key_time(const struct keys *k, uint32_t i)
{
    return -(double)k->f->box[i].first;
}

static double key_backwards(const struct keys *k, uint32_t i)
{
    return (double)k->f->box[i].last;
}

static double key_breadth(const struct keys *k, uint32_t i)
{
    return (double)k->busiest[i];
}

static double key_conflicts(const struct keys *k, uint32_t i)
{
    double earlier = k->f->start ? (double)(k->f->start[i + 1] - k->f->start[i]) : 0;
    return earlier + (double)(k->f->later[i] - i);
}

static const struct {
    const char *first_fit, *best_fit, *skyline;
    double (*key)(const struct keys *k, uint32_t i);
} orders[] = {
    {"size, first fit", "size, best fit", "size, skyline", key_size},
    {"breadth, first fit", "breadth, best fit", "breadth, skyline", key_breadth},
    {"size x life, first fit", "size x life, best fit", "size x life, skyline", key_area},
    {"time, first fit", "time, best fit", "time, skyline", key_time},
    {"life, first fit", "life, best fit", "life, skyline", key_life},
    {"reverse time, first fit", "reverse time, best fit", "reverse time, skyline", key_backwards},
    {"conflicts, first fit", "conflicts, best fit", "conflicts, skyline", key_conflicts},
};

static void set_order(struct oc_fit *f, const struct keys *k, double (*key)(const struct keys *, uint32_t))
{
    struct sortable *s = oc_xmalloc(f->n * sizeof(*s));
    for (uint32_t i = 0; i < f->n; i++)
        s[i] = (struct sortable){key(k, i), key_size(k, i), i};
    qsort(s, f->n, sizeof(*s), by_key);
    for (uint32_t i = 0; i < f->n; i++)
        f->order[i] = s[i].i;
    free(s);
    oc_fit_spend(f, (uint64_t)f->n * 8);
}

/* Peak live bytes over the life of each box: sparse table of range maxima over 2^level steps. */
static uint64_t *find_busiest(const struct oc_fit *f)
{
    uint64_t *most = oc_xmalloc(f->n_step * sizeof(*most)), *out = oc_xmalloc(f->n * sizeof(*out));
    memcpy(most, f->weight, f->n_step * sizeof(*most));
    for (uint32_t span = 1; span && span <= f->n_step; span *= 2) {
        for (uint32_t i = 0; i < f->n; i++) {
            uint32_t life = f->box[i].last - f->box[i].first + 1;
            if (life / 2 >= span || life < span)
                continue;
            uint64_t a = most[f->box[i].first], b = most[f->box[i].last + 1 - span];
            out[i] = a > b ? a : b;
        }
        for (uint32_t k = 0; k + span < f->n_step; k++)
            most[k] = most[k + span] > most[k] ? most[k + span] : most[k];
    }
    free(most);
    return out;
}

static void try_orders(struct oc_fit *f)
{
    uint64_t *busiest = find_busiest(f);
    struct keys k = {f, busiest};
    for (size_t o = 0; o < OC_COUNT(orders) && f->best > f->target && (f->work || !o); o++) {
        set_order(f, &k, orders[o].key);
        if (!f->start) {
            oc_fit_skyline(f, orders[o].skyline);
            continue;
        }
        oc_fit_order(f, false, f->best, orders[o].first_fit);
        if (f->best > f->target && f->work)
            oc_fit_order(f, true, f->best, orders[o].best_fit);
    }
    free(busiest);
    if (!f->start && f->best > f->target)
        oc_fit_time(f, true, "time, best fit");
    if (!f->start && f->best > f->target && f->work)
        oc_fit_time(f, false, "time, first fit");
}

static void solve(struct oc_fit *f)
{
    try_orders(f);
    uint64_t later = f->work - f->work / EXACT_PART;
    f->work /= EXACT_PART;
    if (f->best > f->target)
        oc_fit_exact(f);
    f->work += later;
    if (f->best > f->target && !f->exhaustive)
        oc_fit_search(f);
}

/* ---- parts ------------------------------------------------------------------------------------------------
 */

static int by_first(const void *a, const void *b)
{
    const struct oc_box *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

static int by_first_keyed(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    int order = by_first(&x->box, &y->box);
    return order ? order : (x->i < y->i ? -1 : x->i > y->i);
}

static uint64_t round_up(uint64_t bytes, uint64_t align)
{
    uint64_t over = align > 1 ? bytes % align : 0;
    return over ? bytes + (align - over) : bytes;
}

static int check(const struct oc_box *box, uint32_t n, uint64_t align, struct oc_err *err)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t room = 0;
        if (box[i].last < box[i].first)
            return oc_fail(err, OC_EARG, "buffer %u ends before it begins", i);
        if ((align > 1 && !oc_add_u64(box[i].bytes, align - 1, &room)) ||
            !oc_add_u64(sum, round_up(box[i].bytes, align), &sum) || sum > INT64_MAX)
            return oc_fail(err, OC_ELIMIT,
                           "cannot plan memory: the sizes of the buffers add up to more than 2^63 bytes");
    }
    return 0;
}

/* Only steps in which a box begins matter: every set of overlapping boxes shares such a step. */
static void number_steps(struct oc_box *box, uint32_t n)
{
    uint32_t *first = oc_xmalloc(((size_t)n + 1) * sizeof(*first)), kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!kept || first[kept - 1] != box[i].first)
            first[kept++] = box[i].first;
        box[i].first = kept - 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t lo = 0, hi = kept;
        while (lo < hi) {
            uint32_t mid = lo + (hi - lo) / 2;
            if (first[mid] <= box[i].last)
                lo = mid + 1;
            else
                hi = mid;
        }
        box[i].last = lo - 1;
    }
    free(first);
}

static void take_boxes(struct planner *p, const struct oc_box *box, uint32_t n, uint64_t align)
{
    struct keyed *sorted = oc_xmalloc(((size_t)n + 1) * sizeof(*sorted));
    for (uint32_t i = 0; i < n; i++)
        if (box[i].bytes) {
            sorted[p->n] = (struct keyed){box[i], i};
            sorted[p->n++].box.bytes = round_up(box[i].bytes, align);
        }
    qsort(sorted, p->n, sizeof(*sorted), by_first_keyed);
    p->box = oc_xmalloc(((size_t)p->n + 1) * sizeof(*p->box));
    p->input = oc_xmalloc(((size_t)p->n + 1) * sizeof(*p->input));
    for (uint32_t i = 0; i < p->n; i++) {
        p->box[i] = sorted[i].box;
        p->input[i] = sorted[i].i;
    }
    free(sorted);
    number_steps(p->box, p->n);
}

static int by_live(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->live != y->live)
        return x->live > y->live ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* Splits, renumbers the steps of each part from 0, sorts the parts. */
static void cut(struct planner *p)
{
    p->part = oc_xmalloc(((size_t)p->n + 1) * sizeof(*p->part));
    uint32_t end = 0, base = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        if (!i || p->box[i].first > end) {
            p->part[p->n_part++] = (struct part){i, i, 0};
            base = p->box[i].first;
        }
        end = p->box[i].last > end ? p->box[i].last : end;
        p->box[i].first -= base;
        p->box[i].last -= base;
        p->part[p->n_part - 1].to = i + 1;
    }
    for (uint32_t k = 0; k < p->n_part; k++)
        p->part[k].live = oc_boxes_live(p->box + p->part[k].from, p->part[k].to - p->part[k].from, 0);
    qsort(p->part, p->n_part, sizeof(*p->part), by_live);
}

uint64_t oc_boxes_live(const struct oc_box *box, uint32_t n, uint64_t align)
{
    struct oc_box *first = oc_xmalloc(((size_t)n + 1) * sizeof(*first)),
                  *last = oc_xmalloc(((size_t)n + 1) * sizeof(*last));
    for (uint32_t i = 0; i < n; i++) {
        first[i] = last[i] = box[i];
        last[i].first = box[i].last;
    }
    qsort(first, n, sizeof(*first), by_first);
    qsort(last, n, sizeof(*last), by_first);
    uint64_t live = 0, most = 0;
    for (uint32_t i = 0, gone = 0; i < n; i++) {
        for (; last[gone].first < first[i].first; gone++)
            live -= round_up(last[gone].bytes, align);
        live += round_up(first[i].bytes, align);
        most = live > most ? live : most;
    }
    free(first);
    free(last);
    return most;
}

static void plan_part(struct planner *p, const struct part *part, uint64_t *offset, struct oc_arena_plan *out)
{
    struct oc_fit f;
    oc_fit_open(&f, p->box + part->from, part->to - part->from, p->work);
    f.target = out->size > out->lower ? out->size : out->lower;
    solve(&f);
    p->work = f.work;
    for (uint32_t i = 0; i < f.n; i++)
        offset[p->input[part->from + i]] = f.best_offset[i];
    if (f.best > out->size) {
        out->size = f.best;
        out->method = f.method;
        out->optimal = f.best == out->lower || f.exhaustive;
    }
    oc_fit_close(&f);
}

int oc_arena_plan_make(const struct oc_box *box, uint32_t n, const struct oc_arena_opts *opts,
                       uint64_t *offset, struct oc_arena_plan *out, struct oc_err *err)
{
    uint64_t align = opts ? opts->align : 0;
    *out = (struct oc_arena_plan){.optimal = true, .method = "nothing to place"};
    if (check(box, n, align, err))
        return -1;
    struct planner p = {.work = opts && opts->work ? opts->work : DEFAULT_WORK};
    if (n)
        memset(offset, 0, n * sizeof(*offset));
    take_boxes(&p, box, n, align);
    cut(&p);
    out->lower = p.n_part ? p.part[0].live : 0;
    for (uint32_t k = 0; k < p.n_part; k++)
        plan_part(&p, &p.part[k], offset, out);
    free(p.box);
    free(p.input);
    free(p.part);
    return 0;
}
