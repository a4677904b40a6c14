/* Places boxes in a given order. Pairs of boxes that share steps are computed once: later ones are contiguous
 * in the list, earlier ones are stored. */
#include "memory/offset_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/diag.h"
#include "base/map.h"

#define MANY_PAIRS 1000000u /* more: the orders that need no pairs are tried first */
#define MAX_PAIRS  16000000u
#define SORTED_MAX 20000u /* boxes: up to here the list of all placed ones is kept sorted */
#define UNPLACED   UINT64_MAX

struct span {
    uint64_t from, to;
};

struct scratch {
    struct span *span;
    uint32_t *sorted; /* placed boxes sorted by offset */
    uint32_t *stamp, now;
    uint32_t n_sorted;
    uint64_t *tree, *assigned; /* skyline: by node of a segment tree */
};

static uint32_t first_after(const struct oc_plan_box *box, uint32_t n, uint32_t step)
{
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (box[mid].first <= step)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static uint64_t count_pairs(struct oc_plan_fit *f)
{
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        f->later[i] = first_after(f->box, f->n, f->box[i].last);
        pairs += f->later[i] - i - 1;
    }
    return pairs;
}

static void store_pairs(struct oc_plan_fit *f, uint64_t pairs)
{
    f->start = oc_xmalloc(((size_t)f->n + 2) * sizeof(*f->start));
    f->earlier = oc_xmalloc(((size_t)pairs + 1) * sizeof(*f->earlier));
    memset(f->start, 0, ((size_t)f->n + 2) * sizeof(*f->start));
    for (uint32_t i = 0; i < f->n; i++)
        for (uint32_t k = i + 1; k < f->later[i]; k++)
            f->start[k + 2]++;
    for (uint32_t i = 2; i < f->n + 2; i++)
        f->start[i] += f->start[i - 1];
    for (uint32_t i = 0; i < f->n; i++)
        for (uint32_t k = i + 1; k < f->later[i]; k++)
            f->earlier[f->start[k + 1]++] = i;
}

static void sum_live_bytes(struct oc_plan_fit *f)
{
    memset(f->weight, 0, ((size_t)f->n_step + 1) * sizeof(*f->weight));
    for (uint32_t i = 0; i < f->n; i++) {
        f->weight[f->box[i].first] += f->box[i].bytes;
        f->weight[f->box[i].last + 1] -= f->box[i].bytes; /* modulo 2^64 */
    }
    for (uint32_t i = 1; i < f->n_step; i++)
        f->weight[i] += f->weight[i - 1];
}

static void fit_open(struct oc_plan_fit *f, const struct oc_plan_box *box, uint32_t n, uint64_t work)
{
    *f = (struct oc_plan_fit){.box = box, .n = n, .work = work, .best = UINT64_MAX};
    for (uint32_t i = 0; i < n; i++)
        f->n_step = box[i].last >= f->n_step ? box[i].last + 1 : f->n_step;
    f->later = oc_xmalloc((size_t)n * sizeof(*f->later));
    f->weight = oc_xmalloc(((size_t)f->n_step + 1) * sizeof(*f->weight));
    f->offset = oc_xmalloc((size_t)n * sizeof(*f->offset));
    f->best_offset = oc_xmalloc((size_t)n * sizeof(*f->best_offset));
    f->order = oc_xmalloc((size_t)n * sizeof(*f->order));
    f->best_order = oc_xmalloc((size_t)n * sizeof(*f->best_order));
    struct scratch *s = oc_xmalloc(sizeof(*s));
    *s = (struct scratch){.span = oc_xmalloc((size_t)n * sizeof(*s->span)),
                          .sorted = oc_xmalloc((size_t)n * sizeof(*s->sorted)),
                          .stamp = oc_xmalloc((size_t)n * sizeof(*s->stamp))};
    memset(s->stamp, 0, (size_t)n * sizeof(*s->stamp));
    f->scratch = s;
    sum_live_bytes(f);
}

/* The arrays of boxes stay owned by the caller. */
static void fit_close(struct oc_plan_fit *f)
{
    struct scratch *s = f->scratch;
    free(s->span);
    free(s->sorted);
    free(s->stamp);
    free(s->tree);
    free(s->assigned);
    free(s);
    free(f->later);
    free(f->start);
    free(f->earlier);
    free(f->weight);
    free(f->offset);
    free(f->best_offset);
    free(f->order);
    free(f->best_order);
}

void oc_fit_spend(struct oc_plan_fit *f, uint64_t work)
{
    f->work -= work < f->work ? work : f->work;
}

static int by_from(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

static void sort_spans(struct span *s, uint32_t n)
{
    if (n > 48) {
        qsort(s, n, sizeof(*s), by_from);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        struct span key = s[i];
        uint32_t k = i;
        for (; k && s[k - 1].from > key.from; k--)
            s[k] = s[k - 1];
        s[k] = key;
    }
}

/* Collects the placed boxes that share steps with box i, by offset. */
static uint32_t gather(struct oc_plan_fit *f, struct scratch *s, uint32_t i)
{
    uint32_t n = 0;
    for (uint64_t k = f->start[i]; k < f->start[i + 1]; k++) {
        uint32_t o = f->earlier[k];
        if (f->offset[o] != UNPLACED)
            s->span[n++] = (struct span){f->offset[o], f->offset[o] + f->box[o].bytes};
    }
    for (uint32_t o = i + 1; o < f->later[i]; o++)
        if (f->offset[o] != UNPLACED)
            s->span[n++] = (struct span){f->offset[o], f->offset[o] + f->box[o].bytes};
    sort_spans(s->span, n);
    oc_fit_spend(f, f->start[i + 1] - f->start[i] + (f->later[i] - i) + (uint64_t)n * 3);
    return n;
}

/* The same by a walk over all placed boxes, which are already sorted: better for many neighbours. */
static uint32_t gather_sorted(struct oc_plan_fit *f, struct scratch *s, uint32_t i)
{
    s->now++;
    for (uint64_t k = f->start[i]; k < f->start[i + 1]; k++)
        s->stamp[f->earlier[k]] = s->now;
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->n_sorted; k++) {
        uint32_t o = s->sorted[k];
        if (s->stamp[o] == s->now || (o > i && o < f->later[i]))
            s->span[n++] = (struct span){f->offset[o], f->offset[o] + f->box[o].bytes};
    }
    oc_fit_spend(f, f->start[i + 1] - f->start[i] + s->n_sorted);
    return n;
}

static void insert_sorted(struct oc_plan_fit *f, struct scratch *s, uint32_t i)
{
    uint32_t lo = 0, hi = s->n_sorted;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (f->offset[s->sorted[mid]] <= f->offset[i])
            lo = mid + 1;
        else
            hi = mid;
    }
    memmove(s->sorted + lo + 1, s->sorted + lo, (s->n_sorted - lo) * sizeof(*s->sorted));
    s->sorted[lo] = i;
    s->n_sorted++;
}

static uint64_t find_gap(const struct span *s, uint32_t n, uint64_t bytes, bool smallest)
{
    uint64_t end = 0, found = UNPLACED, found_gap = UINT64_MAX;
    for (uint32_t k = 0; k < n; k++) {
        uint64_t gap = s[k].from > end ? s[k].from - end : 0;
        if (gap >= bytes && gap < found_gap) {
            found = end;
            found_gap = gap;
            if (!smallest)
                return found;
        }
        end = s[k].to > end ? s[k].to : end;
    }
    return found == UNPLACED ? end : found;
}

void oc_fit_keep(struct oc_plan_fit *f, uint64_t size, const char *method)
{
    if (size >= f->best)
        return;
    f->best = size;
    f->method = method;
    memcpy(f->best_offset, f->offset, (size_t)f->n * sizeof(*f->offset));
    memcpy(f->best_order, f->order, (size_t)f->n * sizeof(*f->order));
}

uint64_t oc_fit_order(struct oc_plan_fit *f, bool smallest_gap, uint64_t limit, const char *method)
{
    struct scratch *s = f->scratch;
    uint64_t size = 0;
    bool keep_sorted = f->n <= SORTED_MAX && f->start[f->n] / f->n > 64;
    s->n_sorted = 0;
    memset(f->offset, 0xff, (size_t)f->n * sizeof(*f->offset));
    for (uint32_t k = 0; k < f->n; k++) {
        uint32_t i = f->order[k];
        uint64_t beside = f->start[i + 1] - f->start[i] + f->later[i] - i;
        uint32_t n = keep_sorted && beside * 8 > s->n_sorted ? gather_sorted(f, s, i) : gather(f, s, i);
        f->offset[i] = find_gap(s->span, n, f->box[i].bytes, smallest_gap);
        uint64_t end = f->offset[i] + f->box[i].bytes;
        size = end > size ? end : size;
        if (size > limit)
            return UINT64_MAX;
        if (keep_sorted)
            insert_sorted(f, s, i);
    }
    oc_fit_keep(f, size, method);
    return size;
}

/* In order of time: needs no pairs. */
static void fit_time(struct oc_plan_fit *f, bool smallest_gap, const char *method)
{
    uint32_t *ended = oc_xmalloc(((size_t)f->n_step + f->n) * sizeof(*ended)), *next = ended + f->n_step,
             step = 0;
    struct oc_blocks *blocks = oc_blocks_open(f->n, smallest_gap);
    memset(ended, 0xff, f->n_step * sizeof(*ended));
    uint64_t size = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        f->order[i] = i;
        for (; step < f->box[i].first; step++)
            for (uint32_t o = ended[step]; o != OC_NONE; o = next[o])
                oc_blocks_give(blocks, o);
        next[i] = ended[f->box[i].last];
        ended[f->box[i].last] = i;
        f->offset[i] = oc_blocks_take(blocks, i, f->box[i].bytes);
        size = f->offset[i] + f->box[i].bytes > size ? f->offset[i] + f->box[i].bytes : size;
    }
    oc_blocks_close(blocks);
    free(ended);
    oc_fit_spend(f, (uint64_t)f->n * 8);
    oc_fit_keep(f, size, method);
}

/* ---- skyline: heights by step in a segment tree ----------------------------------------------------- */

struct sky {
    uint64_t *top, *all; /* maximum below the node; pending assignment to the whole node (lazy propagation) */
    uint32_t from, to;
    uint64_t set;
};

static uint64_t sky_max(const struct sky *s, size_t node, uint32_t lo, uint32_t hi)
{
    if (s->to < lo || hi < s->from)
        return 0;
    if (s->from <= lo && hi <= s->to)
        return s->top[node];
    if (s->all[node] != UNPLACED)
        return s->all[node];
    uint32_t mid = lo + (hi - lo) / 2;
    uint64_t a = sky_max(s, 2 * node, lo, mid), b = sky_max(s, 2 * node + 1, mid + 1, hi);
    return a > b ? a : b;
}

static void sky_set(struct sky *s, size_t node, uint32_t lo, uint32_t hi)
{
    if (s->to < lo || hi < s->from)
        return;
    if (s->from <= lo && hi <= s->to) {
        s->top[node] = s->all[node] = s->set;
        return;
    }
    if (s->all[node] != UNPLACED) {
        for (size_t k = 2 * node; k < 2 * node + 2; k++)
            s->top[k] = s->all[k] = s->all[node];
        s->all[node] = UNPLACED;
    }
    uint32_t mid = lo + (hi - lo) / 2;
    sky_set(s, 2 * node, lo, mid);
    sky_set(s, 2 * node + 1, mid + 1, hi);
    uint64_t a = s->top[2 * node], b = s->top[2 * node + 1];
    s->top[node] = a > b ? a : b;
}

/* Places each box above everything placed in its steps: fast, leaves gaps. */
static uint64_t fit_skyline(struct oc_plan_fit *f, const char *method)
{
    struct scratch *s = f->scratch;
    size_t nodes = 4 * (size_t)f->n_step;
    s->tree = s->tree ? s->tree : oc_xmalloc(nodes * sizeof(*s->tree));
    s->assigned = s->assigned ? s->assigned : oc_xmalloc(nodes * sizeof(*s->assigned));
    memset(s->tree, 0, nodes * sizeof(*s->tree));
    memset(s->assigned, 0xff, nodes * sizeof(*s->assigned));
    uint64_t size = 0;
    for (uint32_t k = 0; k < f->n; k++) {
        uint32_t i = f->order[k];
        struct sky sky = {s->tree, s->assigned, f->box[i].first, f->box[i].last, 0};
        f->offset[i] = sky_max(&sky, 1, 0, f->n_step - 1);
        sky.set = f->offset[i] + f->box[i].bytes;
        sky_set(&sky, 1, 0, f->n_step - 1);
        size = sky.set > size ? sky.set : size;
    }
    oc_fit_spend(f, (uint64_t)f->n * 8);
    oc_fit_keep(f, size, method);
    return size;
}

/* ---- arena plan ------------------------------------------------------------------------------------- */

/* Splits the boxes where no box spans from one step to the next, and tries orders on each part, the one with
 * the highest peak first: a part that stays below the size of another one needs no better plan. */

#define DEFAULT_WORK 60000000u
#define EXACT_PART   4 /* share of the work for branch and bound */

struct sortable {
    double key, tie;
    uint32_t i;
};

struct keyed { /* a box and its index in the caller's list */
    struct oc_plan_box box;
    uint32_t i;
};

struct part { /* boxes [from, to) of the sorted list */
    uint32_t from, to;
    uint64_t live;
};

struct planner {
    struct oc_plan_box *box; /* by first step, rounded; steps renumbered */
    uint32_t *input;         /* index in the caller's list */
    uint32_t n;
    struct part *part;
    uint32_t n_part;
    uint64_t work;
};

static int offset_plan_by_key(const void *a, const void *b)
{
    const struct sortable *x = a, *y = b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    if (x->tie != y->tie)
        return x->tie > y->tie ? -1 : 1;
    return x->i < y->i ? -1 : x->i > y->i;
}

/* ---- orders: largest key first, then the larger box ------------------------------------------------- */

struct keys {
    const struct oc_plan_fit *f;
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

static void set_order(struct oc_plan_fit *f, const struct keys *k,
                      double (*key)(const struct keys *, uint32_t))
{
    struct sortable *s = oc_xmalloc(f->n * sizeof(*s));
    for (uint32_t i = 0; i < f->n; i++)
        s[i] = (struct sortable){key(k, i), key_size(k, i), i};
    qsort(s, f->n, sizeof(*s), offset_plan_by_key);
    for (uint32_t i = 0; i < f->n; i++)
        f->order[i] = s[i].i;
    free(s);
    oc_fit_spend(f, (uint64_t)f->n * 8);
}

/* Peak live bytes over the life of each box: sparse table of range maxima over 2^level steps. */
static uint64_t *find_busiest(const struct oc_plan_fit *f)
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

static void try_orders(struct oc_plan_fit *f)
{
    uint64_t pairs = count_pairs(f);
    if (pairs > MANY_PAIRS)
        fit_time(f, true, "time, best fit");
    if (pairs > MANY_PAIRS && f->best > f->target)
        fit_time(f, false, "time, first fit");
    if (pairs <= MAX_PAIRS && f->best > f->target)
        store_pairs(f, pairs);
    uint64_t *busiest = find_busiest(f);
    struct keys k = {f, busiest};
    for (size_t o = 0; o < OC_COUNT(orders) && f->best > f->target && (f->work || !o); o++) {
        set_order(f, &k, orders[o].key);
        if (!f->start) {
            fit_skyline(f, orders[o].skyline);
            continue;
        }
        oc_fit_order(f, false, f->best, orders[o].first_fit);
        if (f->best > f->target && f->work)
            oc_fit_order(f, true, f->best, orders[o].best_fit);
    }
    free(busiest);
}

static void offset_plan_solve(struct oc_plan_fit *f)
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

/* ---- parts ------------------------------------------------------------------------------------------ */

static int by_first(const void *a, const void *b)
{
    const struct oc_plan_box *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

static int by_first_keyed(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    int order = by_first(&x->box, &y->box);
    return order ? order : (x->i < y->i ? -1 : x->i > y->i);
}

static uint64_t offset_plan_round_up(uint64_t bytes, uint64_t align)
{
    uint64_t over = align > 1 ? bytes % align : 0;
    return over ? bytes + (align - over) : bytes;
}

static int offset_plan_check(const struct oc_plan_box *box, uint32_t n, uint64_t align, struct oc_err *err)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t room = 0;
        if (box[i].last < box[i].first)
            return oc_fail(err, OC_EARG, "buffer %u ends before it begins", i);
        if ((align > 1 && !oc_add_u64(box[i].bytes, align - 1, &room)) ||
            !oc_add_u64(sum, offset_plan_round_up(box[i].bytes, align), &sum) || sum > INT64_MAX)
            return oc_fail(err, OC_ELIMIT,
                           "cannot plan memory: the sizes of the buffers add up to more than 2^63 bytes");
    }
    return 0;
}

/* Only steps in which a box begins matter: every set of overlapping boxes shares such a step. */
static void number_steps(struct oc_plan_box *box, uint32_t n)
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

static void take_boxes(struct planner *p, const struct oc_plan_box *box, uint32_t n, uint64_t align)
{
    struct keyed *sorted = oc_xmalloc(((size_t)n + 1) * sizeof(*sorted));
    for (uint32_t i = 0; i < n; i++)
        if (box[i].bytes) {
            sorted[p->n] = (struct keyed){box[i], i};
            sorted[p->n++].box.bytes = offset_plan_round_up(box[i].bytes, align);
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
static void offset_plan_cut(struct planner *p)
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

uint64_t oc_boxes_live(const struct oc_plan_box *box, uint32_t n, uint64_t align)
{
    struct oc_plan_box *first = oc_xmalloc(((size_t)n + 1) * sizeof(*first)),
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
            live -= offset_plan_round_up(last[gone].bytes, align);
        live += offset_plan_round_up(first[i].bytes, align);
        most = live > most ? live : most;
    }
    free(first);
    free(last);
    return most;
}

static void plan_part(struct planner *p, const struct part *part, uint64_t *offset,
                      struct oc_offset_plan *out)
{
    struct oc_plan_fit f;
    fit_open(&f, p->box + part->from, part->to - part->from, p->work);
    f.target = out->size > out->lower ? out->size : out->lower;
    offset_plan_solve(&f);
    p->work = f.work;
    for (uint32_t i = 0; i < f.n; i++)
        offset[p->input[part->from + i]] = f.best_offset[i];
    if (f.best > out->size) {
        out->size = f.best;
        out->method = f.method;
        out->optimal = f.best == out->lower || f.exhaustive;
    }
    fit_close(&f);
}

int oc_offset_plan_make(const struct oc_plan_box *box, uint32_t n, const struct oc_offset_opts *opts,
                        uint64_t *offset, struct oc_offset_plan *out, struct oc_err *err)
{
    uint64_t align = opts ? opts->align : 0;
    *out = (struct oc_offset_plan){.optimal = true, .method = "nothing to place"};
    if (offset_plan_check(box, n, align, err))
        return -1;
    struct planner p = {.work = opts && opts->work ? opts->work : DEFAULT_WORK};
    if (n)
        memset(offset, 0, n * sizeof(*offset));
    take_boxes(&p, box, n, align);
    offset_plan_cut(&p);
    out->lower = p.n_part ? p.part[0].live : 0;
    for (uint32_t k = 0; k < p.n_part; k++)
        plan_part(&p, &p.part[k], offset, out);
    free(p.box);
    free(p.input);
    free(p.part);
    return 0;
}
