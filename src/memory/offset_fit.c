/* Placements of boxes in one block: in a given order by first fit or best fit, in order of time, above a
 * skyline. */
#include "memory/memory_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/ck.h"
#include "base/map.h"

/* ---- a block that grows at its end ------------------------------------------------------------------ */

/* Pieces and gaps in a list by offset, so that neighbouring gaps merge (boundary tags); gaps also in a treap
 * by size or by offset, with the largest gap of each subtree. The block ends with a piece: a last gap is
 * dropped. */

enum { NIL = 0 };

struct piece {
    uint64_t at, bytes, most; /* most: largest gap of the subtree */
    uint32_t before, after, left, right, rank;
    bool gap;
};

struct oc_blocks {
    struct piece *piece; /* 0: none; i + 1: piece i; then gaps */
    uint32_t n, last, root;
    bool best_fit;
    struct oc_hash_secret secret;
};

struct oc_blocks *oc_blocks_open(uint32_t n, bool best_fit)
{
    struct oc_blocks *b = oc_xmalloc(sizeof(*b));
    *b = (struct oc_blocks){
        oc_xcalloc(2 * (size_t)n + 1, sizeof(*b->piece)), n + 1, NIL, NIL, best_fit, oc_hash_secret(b)};
    return b;
}

void oc_blocks_close(struct oc_blocks *b)
{
    free(b->piece);
    free(b);
}

/* ---- treap of the gaps ------------------------------------------------------------------------------ */

static bool is_before(const struct oc_blocks *b, uint32_t x, uint32_t y)
{
    const struct piece *p = &b->piece[x], *q = &b->piece[y];
    return b->best_fit && p->bytes != q->bytes ? p->bytes < q->bytes : p->at < q->at;
}

static void update(struct oc_blocks *b, uint32_t i)
{
    struct piece *p = &b->piece[i];
    uint64_t left = b->piece[p->left].most, right = b->piece[p->right].most;
    p->most = left > right ? left : right;
    p->most = p->bytes > p->most ? p->bytes : p->most;
}

/* Splits a subtree into the gaps before and those from `key` on. */
static void split(struct oc_blocks *b, uint32_t tree, uint32_t key, uint32_t *before, uint32_t *from)
{
    if (tree == NIL) {
        *before = *from = NIL;
        return;
    }
    struct piece *p = &b->piece[tree];
    if (is_before(b, tree, key)) {
        *before = tree;
        split(b, p->right, key, &p->right, from);
    } else {
        *from = tree;
        split(b, p->left, key, before, &p->left);
    }
    update(b, tree);
}

static uint32_t join(struct oc_blocks *b, uint32_t x, uint32_t y)
{
    if (x == NIL || y == NIL)
        return x == NIL ? y : x;
    if (b->piece[x].rank > b->piece[y].rank) {
        b->piece[x].right = join(b, b->piece[x].right, y);
        update(b, x);
        return x;
    }
    b->piece[y].left = join(b, x, b->piece[y].left);
    update(b, y);
    return y;
}

static void add_gap(struct oc_blocks *b, uint32_t i)
{
    struct piece *p = &b->piece[i];
    uint32_t before, from;
    p->gap = true;
    p->left = p->right = NIL;
    p->rank =
        (uint32_t)oc_hash_scatter(b->secret.n[0] + i); /* decides the depth alone, not which gap is found */
    update(b, i);
    split(b, b->root, i, &before, &from);
    b->root = join(b, join(b, before, i), from);
}

static uint32_t without(struct oc_blocks *b, uint32_t tree, uint32_t i)
{
    struct piece *p = &b->piece[tree];
    if (tree == i)
        return join(b, p->left, p->right);
    uint32_t *child = is_before(b, i, tree) ? &p->left : &p->right;
    *child = without(b, *child, i);
    update(b, tree);
    return tree;
}

static void remove_gap(struct oc_blocks *b, uint32_t i)
{
    b->root = without(b, b->root, i);
    b->piece[i].gap = false;
}

/* The first gap, in the order of the treap, that is large enough. */
static uint32_t find_treap_gap(const struct oc_blocks *b, uint64_t bytes)
{
    uint32_t i = b->root;
    while (b->piece[i].most >= bytes) {
        const struct piece *p = &b->piece[i];
        if (b->piece[p->left].most >= bytes)
            i = p->left;
        else if (p->bytes >= bytes)
            return i;
        else
            i = p->right;
    }
    return NIL;
}

/* ---- list by offset --------------------------------------------------------------------------------- */

static void link_pieces(struct oc_blocks *b, uint32_t before, uint32_t after)
{
    if (before != NIL)
        b->piece[before].after = after;
    if (after != NIL)
        b->piece[after].before = before;
    else
        b->last = before;
}

/* Puts piece i where a gap begins; the rest stays a gap. */
static void fill_gap(struct oc_blocks *b, uint32_t gap, uint32_t i, uint64_t bytes)
{
    struct piece *g = &b->piece[gap], *p = &b->piece[i];
    uint32_t before = g->before, after = g->after;
    remove_gap(b, gap);
    *p = (struct piece){.at = g->at, .bytes = bytes};
    link_pieces(b, before, i);
    if (g->bytes == bytes) {
        link_pieces(b, i, after);
        return;
    }
    g->at += bytes;
    g->bytes -= bytes;
    link_pieces(b, i, gap);
    link_pieces(b, gap, after);
    add_gap(b, gap);
}

uint64_t oc_blocks_take(struct oc_blocks *b, uint32_t i, uint64_t bytes)
{
    uint32_t gap = find_treap_gap(b, bytes);
    i++;
    if (gap != NIL) {
        fill_gap(b, gap, i, bytes);
        return b->piece[i].at;
    }
    const struct piece *last = &b->piece[b->last];
    b->piece[i] = (struct piece){.at = last->at + last->bytes, .bytes = bytes};
    link_pieces(b, b->last, i);
    link_pieces(b, i, NIL);
    return b->piece[i].at;
}

void oc_blocks_give(struct oc_blocks *b, uint32_t i)
{
    const struct piece *p = &b->piece[++i];
    uint32_t before = p->before, after = p->after, gap = b->n++;
    uint64_t at = p->at, end = p->at + p->bytes;
    if (before != NIL && b->piece[before].gap) {
        remove_gap(b, before);
        at = b->piece[before].at;
        before = b->piece[before].before;
    }
    if (after == NIL) {
        link_pieces(b, before, NIL);
        return;
    }
    if (b->piece[after].gap) {
        remove_gap(b, after);
        end = b->piece[after].at + b->piece[after].bytes;
        after = b->piece[after].after;
    }
    b->piece[gap] = (struct piece){.at = at, .bytes = end - at};
    link_pieces(b, before, gap);
    link_pieces(b, gap, after);
    add_gap(b, gap);
}

/* ---- placement in a given order --------------------------------------------------------------------- */

/* Pairs of boxes that share steps are computed once: later ones are contiguous in the list, earlier ones are
 * stored. */

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

uint64_t oc_fit_count_pairs(struct oc_plan_fit *f)
{
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        f->later[i] = first_after(f->box, f->n, f->box[i].last);
        pairs += f->later[i] - i - 1;
    }
    return pairs;
}

void oc_fit_store_pairs(struct oc_plan_fit *f, uint64_t pairs)
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

void oc_fit_open(struct oc_plan_fit *f, const struct oc_plan_box *box, uint32_t n, uint64_t work)
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

void oc_fit_close(struct oc_plan_fit *f)
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

OC_BY(by_from, struct span, from)

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

void oc_fit_time(struct oc_plan_fit *f, bool smallest_gap, const char *method)
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

uint64_t oc_fit_skyline(struct oc_plan_fit *f, const char *method)
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
