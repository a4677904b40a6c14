/* Branch and bound over the boxes by rising offset. In an optimal plan with the smallest sum of offsets,
 * every box is at offset 0 or directly above another one; in order of (offset, index), each box lies on the
 * skyline of the previous ones. Pruned are states in which a step cannot hold the remaining bytes, and
 * choices that leave a gap in which another box would fit. The pruning rules are those of M. D. Moffitt,
 * "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine Learning", ASPLOS 2023. */
#include <stdlib.h>
#include <string.h>

#include "memory/offset_plan.h"

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

static int offset_search_by_place(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;
    return x->at != y->at ? (x->at < y->at ? -1 : 1) : (x->box < y->box ? -1 : x->box > y->box);
}

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
    qsort(out, kept, sizeof(*out), offset_search_by_place);
    return kept;
}

static void offset_search_put(struct tree *t, uint32_t i, uint64_t at, bool on)
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
        offset_search_put(t, c[k].box, c[k].at, true);
        t->path[depth] = c[k].box;
        descend(t, depth + 1, c[k]);
        offset_search_put(t, c[k].box, c[k].at, false);
        memcpy(t->height, saved, f->n_step * sizeof(*saved));
    }
}

void oc_fit_exact(struct oc_plan_fit *f)
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
        offset_search_put(&t, i, 0, true);
        t.path[0] = i;
        descend(&t, 1, (struct choice){0, i});
        offset_search_put(&t, i, 0, false);
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

/* ---- arena search ----------------------------------------------------------------------------------- */

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
static bool offset_search_change(struct search *s)
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

void oc_fit_search(struct oc_plan_fit *f)
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
        if (offset_search_change(&s))
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
