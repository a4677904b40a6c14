/* Places boxes in a given order. Pairs of boxes that share steps are computed once: later ones are contiguous
 * in the list, earlier ones are stored. */
#include "memory/arena_fit.h"

#include <stdlib.h>
#include <string.h>

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

static uint32_t first_after(const struct oc_box *box, uint32_t n, uint32_t step)
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

/* Stores the pairs unless there are too many. */
static void find_pairs(struct oc_fit *f)
{
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        f->later[i] = first_after(f->box, f->n, f->box[i].last);
        pairs += f->later[i] - i - 1;
    }
    if (pairs > MAX_PAIRS)
        return;
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

static void sum_live_bytes(struct oc_fit *f)
{
    memset(f->weight, 0, ((size_t)f->n_step + 1) * sizeof(*f->weight));
    for (uint32_t i = 0; i < f->n; i++) {
        f->weight[f->box[i].first] += f->box[i].bytes;
        f->weight[f->box[i].last + 1] -= f->box[i].bytes; /* modulo 2^64 */
    }
    for (uint32_t i = 1; i < f->n_step; i++)
        f->weight[i] += f->weight[i - 1];
}

void oc_fit_open(struct oc_fit *f, const struct oc_box *box, uint32_t n, uint64_t work)
{
    *f = (struct oc_fit){.box = box, .n = n, .work = work, .best = UINT64_MAX};
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
    find_pairs(f);
}

void oc_fit_close(struct oc_fit *f)
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

void oc_fit_spend(struct oc_fit *f, uint64_t work)
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
static uint32_t gather(struct oc_fit *f, struct scratch *s, uint32_t i)
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
static uint32_t gather_sorted(struct oc_fit *f, struct scratch *s, uint32_t i)
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

static void insert_sorted(struct oc_fit *f, struct scratch *s, uint32_t i)
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

void oc_fit_keep(struct oc_fit *f, uint64_t size, const char *method)
{
    if (size >= f->best)
        return;
    f->best = size;
    f->method = method;
    memcpy(f->best_offset, f->offset, (size_t)f->n * sizeof(*f->offset));
    memcpy(f->best_order, f->order, (size_t)f->n * sizeof(*f->order));
}

uint64_t oc_fit_order(struct oc_fit *f, bool smallest_gap, uint64_t limit, const char *method)
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

/* Removes boxes that ended before the step. */
static uint32_t still_live(const struct oc_fit *f, uint32_t *live, uint32_t n, uint32_t step)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < n; k++)
        if (f->box[live[k]].last >= step)
            live[kept++] = live[k];
    return kept;
}

uint64_t oc_fit_time(struct oc_fit *f, bool smallest_gap, const char *method)
{
    struct scratch *s = f->scratch;
    uint64_t size = 0;
    s->n_sorted = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        f->order[i] = i;
        s->n_sorted = still_live(f, s->sorted, s->n_sorted, f->box[i].first);
        for (uint32_t k = 0; k < s->n_sorted; k++) {
            uint32_t o = s->sorted[k];
            s->span[k] = (struct span){f->offset[o], f->offset[o] + f->box[o].bytes};
        }
        f->offset[i] = find_gap(s->span, s->n_sorted, f->box[i].bytes, smallest_gap);
        size = f->offset[i] + f->box[i].bytes > size ? f->offset[i] + f->box[i].bytes : size;
        insert_sorted(f, s, i);
        oc_fit_spend(f, s->n_sorted / 8); /* passes over lists are cheap */
        if (!f->work)
            return UINT64_MAX;
    }
    oc_fit_keep(f, size, method);
    return size;
}

/* ---- skyline: heights by step in a segment tree ------------------------------------------------------- */

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

uint64_t oc_fit_skyline(struct oc_fit *f, const char *method)
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
