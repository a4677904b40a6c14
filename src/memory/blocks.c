/* memory/: Memory over time: report and peak, offsets of buffers, node orders with a lower peak, ONNX
 * Runtime's planner and allocator. Every plan is checked by code in memory_plan.c that shares none with the
 * planners; leave it so.
 * Private to the folder: offset_plan.h order_graph.h ort_run.h. */

/* Pieces and gaps in a list by offset, so that neighbouring gaps merge (boundary tags); gaps also in a treap
 * by size or by offset, with the largest gap of each subtree. The block ends with a piece: a last gap is
 * dropped. */
#include "memory/offset_plan.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"

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
static uint32_t find_gap(const struct oc_blocks *b, uint64_t bytes)
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
    uint32_t gap = find_gap(b, bytes);
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
