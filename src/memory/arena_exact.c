/* Branch and bound over the boxes by rising offset. In an optimal plan with the smallest sum of offsets,
 * every box is at offset 0 or directly above another one; in order of (offset, index), each box lies on the
 * skyline of the previous ones. Pruned are states in which a step cannot hold the remaining bytes, and
 * choices that leave a gap in which another box would fit. The pruning rules are those of M. D. Moffitt,
 * "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine Learning", ASPLOS 2023. */
#include <stdlib.h>
#include <string.h>

#include "memory/arena_fit.h"

#define MAX_BOXES 400

struct choice {
    uint64_t at;
    uint32_t box;
};

struct tree {
    struct oc_fit *f;
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

static int by_place(const void *a, const void *b)
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
    qsort(out, kept, sizeof(*out), by_place);
    return kept;
}

static void put(struct tree *t, uint32_t i, uint64_t at, bool on)
{
    const struct oc_box *b = &t->f->box[i];
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
    struct oc_fit *f = t->f;
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
        put(t, c[k].box, c[k].at, true);
        t->path[depth] = c[k].box;
        descend(t, depth + 1, c[k]);
        put(t, c[k].box, c[k].at, false);
        memcpy(t->height, saved, f->n_step * sizeof(*saved));
    }
}

void oc_fit_exact(struct oc_fit *f)
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
        put(&t, i, 0, true);
        t.path[0] = i;
        descend(&t, 1, (struct choice){0, i});
        put(&t, i, 0, false);
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
