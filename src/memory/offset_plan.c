/* Arena planner: orders of the boxes by several rules, then branch and bound or local search for a better one. */
#include "memory/memory_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/diag.h"
#include "base/map.h"

#define MANY_PAIRS 1000000u /* more: the orders that need no pairs are tried first */
#define MAX_PAIRS  16000000u

/* ---- branch and bound ------------------------------------------------------------------------------- */

/* Branch and bound over the boxes by rising offset. In an optimal plan with the smallest sum of offsets,
 * every box is at offset 0 or directly above another one; in order of (offset, index), each box lies on the
 * skyline of the previous ones. Pruned are states in which a step cannot hold the remaining bytes, and
 * choices that leave a gap in which another box would fit. The pruning rules are those of M. D. Moffitt,
 * "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine Learning", ASPLOS 2023. */

#define MAX_BOXES 400

struct choice {
    uint64_t at;
    uint32_t box;
};

struct tree {
    struct oc_plan_fit *f;
    uint64_t *height, *rest; /* by step: bytes placed; bytes remaining */
    uint64_t *saved;         /* heights by depth */
    struct choice *choice;   /* by depth */
    bool *placed;
    uint32_t *path; /* placed boxes, by depth */
};

static uint64_t height_at(const struct tree *t, uint32_t i)
{
    uint64_t h = 0;
    for (uint32_t k = t->f->box[i].first; k <= t->f->box[i].last; k++)
        h = t->height[k] > h ? t->height[k] : h;
    return h;
}

static bool is_pruned(const struct tree *t, uint64_t floor)
{
    for (uint32_t k = 0; k < t->f->n_step; k++) {
        uint64_t h = t->rest[k] && floor > t->height[k] ? floor : t->height[k];
        if (h + t->rest[k] >= t->f->best)
            return true;
    }
    return false;
}

OC_BY_TWO(offset_plan_by_place, struct choice, at, box)

/* Candidates for the next box. */
static uint32_t choices(struct tree *t, struct choice last, struct choice *out)
{
    uint64_t lowest_end = UINT64_MAX, work = 0;
    uint32_t n = 0, kept = 0;
    for (uint32_t i = 0; i < t->f->n; i++) {
        if (t->placed[i])
            continue;
        uint64_t at = height_at(t, i), end = at + t->f->box[i].bytes;
        work += t->f->box[i].last - t->f->box[i].first + 1;
        lowest_end = end < lowest_end ? end : lowest_end;
        out[n++] = (struct choice){at, i};
    }
    for (uint32_t k = 0; k < n; k++)
        if (out[k].at < lowest_end &&
            (out[k].at > last.at || (out[k].at == last.at && out[k].box > last.box)))
            out[kept++] = out[k];
    oc_fit_spend(t->f, work + t->f->n_step);
    qsort(out, kept, sizeof(*out), offset_plan_by_place);
    return kept;
}

static void offset_plan_put(struct tree *t, uint32_t i, uint64_t at, bool on)
{
    const struct oc_plan_box *b = &t->f->box[i];
    t->placed[i] = on;
    t->f->offset[i] = at;
    for (uint32_t k = b->first; k <= b->last; k++) {
        if (on) {
            t->height[k] = at + b->bytes;
            t->rest[k] -= b->bytes;
        } else {
            t->rest[k] += b->bytes;
        }
    }
}

static void descend(struct tree *t, uint32_t depth, struct choice last)
{
    struct oc_plan_fit *f = t->f;
    if (depth == f->n) {
        uint64_t size = 0;
        for (uint32_t k = 0; k < f->n_step; k++)
            size = t->height[k] > size ? t->height[k] : size;
        memcpy(f->order, t->path, f->n * sizeof(*f->order));
        oc_fit_keep(f, size, "exact");
        return;
    }
    struct choice *c = t->choice + (size_t)depth * f->n;
    uint64_t *saved = t->saved + (size_t)depth * f->n_step;
    uint32_t n = is_pruned(t, last.at) ? 0 : choices(t, last, c);
    memcpy(saved, t->height, f->n_step * sizeof(*saved));
    for (uint32_t k = 0; k < n && f->work && f->best > f->target; k++) {
        offset_plan_put(t, c[k].box, c[k].at, true);
        t->path[depth] = c[k].box;
        descend(t, depth + 1, c[k]);
        offset_plan_put(t, c[k].box, c[k].at, false);
        memcpy(t->height, saved, f->n_step * sizeof(*saved));
    }
}

/* For few boxes. */
static void fit_exact(struct oc_plan_fit *f)
{
    if (f->n > MAX_BOXES || f->best <= f->target)
        return;
    struct tree t = {.f = f,
                     .height = oc_xmalloc(f->n_step * sizeof(*t.height)),
                     .rest = oc_xmalloc(f->n_step * sizeof(*t.rest)),
                     .saved = oc_xmalloc((size_t)f->n * f->n_step * sizeof(*t.saved)),
                     .choice = oc_xmalloc((size_t)f->n * f->n * sizeof(*t.choice)),
                     .placed = oc_xmalloc(f->n),
                     .path = oc_xmalloc(f->n * sizeof(*t.path))};
    memset(t.height, 0, f->n_step * sizeof(*t.height));
    memcpy(t.rest, f->weight, f->n_step * sizeof(*t.rest));
    memset(t.placed, 0, f->n);
    /* start: offset 0, below any index */
    for (uint32_t i = 0; i < f->n && f->work && f->best > f->target; i++) {
        offset_plan_put(&t, i, 0, true);
        t.path[0] = i;
        descend(&t, 1, (struct choice){0, i});
        offset_plan_put(&t, i, 0, false);
        memset(t.height, 0, f->n_step * sizeof(*t.height));
    }
    f->exhaustive = f->work && f->best > f->target;
    free(t.height);
    free(t.rest);
    free(t.saved);
    free(t.choice);
    free(t.placed);
    free(t.path);
}

/* ---- local search ----------------------------------------------------------------------------------- */

/* Local search for better orders: boxes that reach the top are placed earlier. */

#define PATIENCE 200 /* moves without improvement before a perturbation */

struct search {
    struct oc_plan_fit *f;
    uint32_t *order; /* the current order and its placement */
    uint64_t *offset;
    uint64_t size;
    uint64_t random;
};

static uint32_t random_below(struct search *s, uint32_t n)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (uint32_t)(s->random >> 33) % n;
}

/* Position in the order of a random box that reaches the top. */
static uint32_t pick_top(struct search *s)
{
    uint32_t seen = 0, found = 0;
    for (uint32_t k = 0; k < s->f->n; k++) {
        uint32_t i = s->order[k];
        if (s->offset[i] + s->f->box[i].bytes == s->size && random_below(s, ++seen) == 0)
            found = k;
    }
    return found;
}

static void move_earlier(uint32_t *order, uint32_t from, uint32_t to)
{
    uint32_t i = order[from];
    memmove(order + to + 1, order + to, (from - to) * sizeof(*order));
    order[to] = i;
}

static void perturb_order(struct search *s)
{
    struct oc_plan_fit *f = s->f;
    memcpy(s->order, f->best_order, f->n * sizeof(*s->order));
    for (uint32_t k = 0; k < 3; k++) {
        uint32_t a = random_below(s, f->n), b = random_below(s, f->n);
        move_earlier(s->order, a > b ? a : b, a > b ? b : a);
    }
    memcpy(f->order, s->order, f->n * sizeof(*s->order));
    s->size = oc_fit_order(f, false, UINT64_MAX, "search");
    memcpy(s->offset, f->offset, f->n * sizeof(*s->offset));
}

/* One move; true if the size decreased. */
static bool offset_plan_change(struct search *s)
{
    struct oc_plan_fit *f = s->f;
    uint32_t from = pick_top(s), to = from ? random_below(s, from) : 0;
    memcpy(f->order, s->order, f->n * sizeof(*s->order));
    move_earlier(f->order, from, to);
    uint64_t size = oc_fit_order(f, false, s->size, "search");
    if (size > s->size)
        return false;
    bool less = size < s->size;
    s->size = size;
    memcpy(s->order, f->order, f->n * sizeof(*s->order));
    memcpy(s->offset, f->offset, f->n * sizeof(*s->offset));
    return less;
}

/* Until the work is used up. */
static void fit_search(struct oc_plan_fit *f)
{
    if (!f->start || f->n < 2)
        return;
    struct search s = {.f = f,
                       .order = oc_xmalloc(f->n * sizeof(*s.order)),
                       .offset = oc_xmalloc(f->n * sizeof(*s.offset)),
                       .random = 88172645463325252u};
    memcpy(f->order, f->best_order, f->n * sizeof(*f->order));
    memcpy(s.order, f->best_order, f->n * sizeof(*f->order));
    s.size = oc_fit_order(f, false, UINT64_MAX, "search");
    memcpy(s.offset, f->offset, f->n * sizeof(*f->offset));
    for (uint32_t idle = 0; f->work && f->best > f->target; idle++) {
        if (offset_plan_change(&s))
            idle = 0;
        if (idle == PATIENCE) {
            perturb_order(&s);
            idle = 0;
        }
        oc_fit_spend(f, f->n);
    }
    free(s.order);
    free(s.offset);
}

/* ---- the plan ------------------------------------------------------------------------------------- */

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
    uint64_t pairs = oc_fit_count_pairs(f);
    if (pairs > MANY_PAIRS)
        oc_fit_time(f, true, "time, best fit");
    if (pairs > MANY_PAIRS && f->best > f->target)
        oc_fit_time(f, false, "time, first fit");
    if (pairs <= MAX_PAIRS && f->best > f->target)
        oc_fit_store_pairs(f, pairs);
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
}

static void offset_plan_solve(struct oc_plan_fit *f)
{
    try_orders(f);
    uint64_t later = f->work - f->work / EXACT_PART;
    f->work /= EXACT_PART;
    if (f->best > f->target)
        fit_exact(f);
    f->work += later;
    if (f->best > f->target && !f->exhaustive)
        fit_search(f);
}

/* ---- parts ------------------------------------------------------------------------------------------ */

OC_BY(by_first, struct oc_plan_box, first)

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

OC_BY_LARGEST(by_live, struct part, live, from)

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
    oc_fit_open(&f, p->box + part->from, part->to - part->from, p->work);
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
    oc_fit_close(&f);
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