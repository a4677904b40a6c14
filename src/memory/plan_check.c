/* Live boxes are kept in a treap by offset. A new box can only overlap its predecessor or successor by
 * offset, as long as the boxes in the treap do not overlap. */
#include "memory/plan_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"

struct event { /* events of a box: its end (a step later) sorts before a beginning at the same step */
    uint64_t step;
    uint32_t box;
    bool begins;
};

struct treap {
    const struct oc_box *box;
    const uint64_t *offset;
    uint32_t *left, *right, *priority;
    uint32_t root;
};

static int plan_check_by_step(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->begins != y->begins)
        return x->begins ? 1 : -1;
    return x->box < y->box ? -1 : x->box > y->box;
}

/* Nearest live box at or below the offset, and the nearest above it. */
static void plan_check_neighbours(const struct treap *t, uint64_t at, uint32_t *below, uint32_t *above)
{
    *below = *above = OC_NONE;
    for (uint32_t i = t->root; i != OC_NONE;) {
        if (t->offset[i] <= at) {
            *below = i;
            i = t->right[i];
        } else {
            *above = i;
            i = t->left[i];
        }
    }
}

/* Splits: offsets up to `at` go left, the rest right. */
static void plan_check_split(struct treap *t, uint32_t node, uint64_t at, uint32_t *left, uint32_t *right)
{
    while (node != OC_NONE) {
        if (t->offset[node] <= at) {
            *left = node;
            left = &t->right[node];
            node = *left;
        } else {
            *right = node;
            right = &t->left[node];
            node = *right;
        }
    }
    *left = *right = OC_NONE;
}

static uint32_t plan_check_merge(struct treap *t, uint32_t a, uint32_t b)
{
    uint32_t root = OC_NONE, *link = &root;
    while (a != OC_NONE && b != OC_NONE) {
        if (t->priority[a] > t->priority[b]) {
            *link = a;
            link = &t->right[a];
            a = *link;
        } else {
            *link = b;
            link = &t->left[b];
            b = *link;
        }
    }
    *link = a != OC_NONE ? a : b;
    return root;
}

static void plan_check_insert(struct treap *t, uint32_t i)
{
    uint32_t *link = &t->root;
    while (*link != OC_NONE && t->priority[*link] >= t->priority[i])
        link = t->offset[*link] <= t->offset[i] ? &t->right[*link] : &t->left[*link];
    uint32_t rest = *link;
    *link = i;
    plan_check_split(t, rest, t->offset[i], &t->left[i], &t->right[i]);
}

/* Offsets of live boxes are distinct, as none is empty and none overlap. */
static void plan_check_drop(struct treap *t, uint32_t i)
{
    uint32_t *link = &t->root;
    while (*link != i)
        link = t->offset[*link] <= t->offset[i] ? &t->right[*link] : &t->left[*link];
    *link = plan_check_merge(t, t->left[i], t->right[i]);
}

static int clash(const struct treap *t, uint32_t a, uint32_t b, struct oc_err *err)
{
    uint32_t step = t->box[a].first > t->box[b].first ? t->box[a].first : t->box[b].first;
    return oc_fail(err, OC_EFORMAT, "buffers %u and %u overlap in step %u", a < b ? a : b, a < b ? b : a,
                   step);
}

static int plan_check_begin(struct treap *t, uint32_t i, struct oc_err *err)
{
    uint32_t below, above;
    plan_check_neighbours(t, t->offset[i], &below, &above);
    if (below != OC_NONE && t->offset[below] + t->box[below].bytes > t->offset[i])
        return clash(t, below, i, err);
    if (above != OC_NONE && t->offset[i] + t->box[i].bytes > t->offset[above])
        return clash(t, above, i, err);
    plan_check_insert(t, i);
    return 0;
}

static int plan_check_place(const struct oc_box *b, uint64_t at, uint32_t i, uint64_t align, uint64_t size,
                            struct oc_err *err)
{
    if (b->last < b->first)
        return oc_fail(err, OC_EFORMAT, "buffer %u ends before it begins", i);
    if (align > 1 && at % align)
        return oc_fail(err, OC_EFORMAT, "buffer %u is not aligned to %llu bytes", i,
                       (unsigned long long)align);
    if (at > size || b->bytes > size - at)
        return oc_fail(err, OC_EFORMAT, "buffer %u is outside the block", i);
    return 0;
}

static int plan_check_sweep(struct treap *t, const struct event *e, size_t n, struct oc_err *err)
{
    for (size_t k = 0; k < n; k++) {
        if (!e[k].begins)
            plan_check_drop(t, e[k].box);
        else if (plan_check_begin(t, e[k].box, err))
            return -1;
    }
    return 0;
}

int oc_plan_check(const struct oc_box *box, const uint64_t *offset, uint32_t n, uint64_t align, uint64_t size,
                  struct oc_err *err)
{
    struct event *event = oc_xmalloc((2 * (size_t)n + 1) * sizeof(*event));
    uint32_t *links = oc_xmalloc((3 * (size_t)n + 1) * sizeof(*links));
    struct treap t = {box, offset, links, links + n, links + 2 * (size_t)n, OC_NONE};
    size_t n_event = 0;
    int rc = 0;
    for (uint32_t i = 0; i < n && !rc; i++) {
        rc = plan_check_place(&box[i], offset[i], i, align, size, err);
        t.priority[i] = (i + 1) * 2654435769u; /* randomised priority keeps the tree shallow */
        t.priority[i] ^= t.priority[i] >> 15;
        if (!box[i].bytes)
            continue;
        event[n_event++] = (struct event){box[i].first, i, true};
        event[n_event++] = (struct event){(uint64_t)box[i].last + 1, i, false};
    }
    if (!rc) {
        qsort(event, n_event, sizeof(*event), plan_check_by_step);
        rc = plan_check_sweep(&t, event, n_event, err);
    }
    free(event);
    free(links);
    return rc;
}
