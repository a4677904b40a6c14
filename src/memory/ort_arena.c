/* microsoft/onnxruntime, core/framework/bfc_arena.cc and bfc_arena.h. */
#include "memory/ort_arena.h"

#include <stdlib.h>
#include <string.h>

#include "base/ck.h"

#define MIN_BYTES  256u
#define FIRST      (1024u * 1024)          /* kDefaultInitialChunkSizeBytes */
#define DEAD_BYTES (128ull * 1024 * 1024)  /* max_dead_bytes_per_chunk */
#define MOST       (1024ull * 1024 * 1024) /* kDefaultMaxPowerOfTwoExtendBytes */
#define LIMIT      (1ull << 62)

void oc_ort_arena_init(struct oc_ort_arena *a)
{
    *a = (struct oc_ort_arena){.next_region = FIRST};
}

void oc_ort_arena_free(struct oc_ort_arena *a)
{
    free(a->chunk);
    free(a->dead);
}

static uint32_t new_chunk(struct oc_ort_arena *a, struct oc_ort_chunk c)
{
    uint32_t i;
    if (a->n_dead) {
        i = a->dead[--a->n_dead];
    } else {
        OC_GROW(a->chunk, a->n, a->cap);
        i = a->n++;
    }
    a->chunk[i] = c;
    return i;
}

static void kill(struct oc_ort_arena *a, uint32_t i)
{
    a->chunk[i].size = 0;
    OC_GROW(a->dead, a->n_dead, a->cap_dead);
    a->dead[a->n_dead++] = i;
}

/* Bins hold sizes of one power of two, each in the order of size and place: together the smallest that fits.
 */
static uint32_t best(const struct oc_ort_arena *a, uint64_t bytes)
{
    uint32_t found = OC_NONE;
    for (uint32_t i = 0; i < a->n; i++) {
        const struct oc_ort_chunk *c = &a->chunk[i], *f = found == OC_NONE ? NULL : &a->chunk[found];
        if (!c->used && c->size >= bytes &&
            (!f || c->size < f->size || (c->size == f->size && c->at < f->at)))
            found = i;
    }
    return found;
}

/* kNextPowerOfTwo */
static void extend(struct oc_ort_arena *a, uint64_t bytes)
{
    bool grown = false;
    while (bytes > a->next_region) {
        a->next_region *= 2;
        grown = true;
    }
    new_chunk(
        a, (struct oc_ort_chunk){.size = a->next_region, .at = a->top, .before = OC_NONE, .after = OC_NONE});
    a->held += a->next_region;
    a->top += a->next_region;
    if (!grown)
        a->next_region = a->next_region * 2 < MOST ? a->next_region * 2 : MOST;
}

static void split(struct oc_ort_arena *a, uint32_t i, uint64_t bytes)
{
    struct oc_ort_chunk rest = a->chunk[i];
    rest.size -= bytes;
    rest.at += bytes;
    rest.before = i;
    uint32_t r = new_chunk(a, rest);
    if (rest.after != OC_NONE)
        a->chunk[rest.after].before = r;
    a->chunk[i].size = bytes;
    a->chunk[i].after = r;
}

uint32_t oc_ort_arena_take(struct oc_ort_arena *a, uint64_t bytes)
{
    if (!bytes || bytes > LIMIT || a->held > LIMIT)
        return OC_NONE;
    uint64_t rounded = (bytes + MIN_BYTES - 1) / MIN_BYTES * MIN_BYTES;
    uint32_t i = best(a, rounded);
    if (i == OC_NONE) {
        extend(a, rounded);
        i = best(a, rounded);
    }
    if (a->chunk[i].size >= rounded * 2 || a->chunk[i].size - rounded >= DEAD_BYTES)
        split(a, i, rounded);
    struct oc_ort_chunk *c = &a->chunk[i];
    c->used = true;
    c->requested = bytes;
    a->requested += bytes;
    a->in_use += c->size;
    a->max_requested = a->requested > a->max_requested ? a->requested : a->max_requested;
    a->max_in_use = a->in_use > a->max_in_use ? a->in_use : a->max_in_use;
    return i;
}

/* Joins a chunk with the one behind it. */
static void join(struct oc_ort_arena *a, uint32_t i, uint32_t behind)
{
    struct oc_ort_chunk *c = &a->chunk[i];
    c->size += a->chunk[behind].size;
    c->after = a->chunk[behind].after;
    if (c->after != OC_NONE)
        a->chunk[c->after].before = i;
    kill(a, behind);
}

void oc_ort_arena_give(struct oc_ort_arena *a, uint32_t i)
{
    if (i == OC_NONE)
        return;
    a->in_use -= a->chunk[i].size;
    a->requested -= a->chunk[i].requested;
    a->chunk[i].used = false;
    uint32_t after = a->chunk[i].after, before = a->chunk[i].before;
    if (after != OC_NONE && !a->chunk[after].used)
        join(a, i, after);
    if (before != OC_NONE && !a->chunk[before].used)
        join(a, before, i);
}

/* ---- a run ------------------------------------------------------------------------------------------------
 */

struct run {
    struct oc_ort_arena arena;
    uint64_t kept_requested, kept_in_use; /* from the start */
    struct oc_ort_run seen;
};

struct by_step { /* buffers by the step that makes them, and that uses them last */
    uint32_t *made_at, *made, *last_at, *last;
};

static uint32_t *zeros(size_t n)
{
    uint32_t *p = calloc(n + 1, sizeof(*p));
    if (!p)
        oc_out_of_memory(n);
    return p;
}

/* Counting sort; `at` has room for n_step + 1 after zeros(). */
static void sort_lives(const struct oc_lives *l, bool by_last, uint32_t *at, uint32_t *list)
{
    for (uint32_t i = 0; i < l->n_life; i++)
        at[(by_last ? l->life[i].last : l->life[i].first) + 1]++;
    for (uint32_t s = 0; s < l->n_step; s++)
        at[s + 1] += at[s];
    uint32_t *next = zeros(l->n_step);
    memcpy(next, at, l->n_step * sizeof(*next));
    for (uint32_t i = 0; i < l->n_life; i++)
        list[next[by_last ? l->life[i].last : l->life[i].first]++] = i;
    free(next);
}

static void look(struct run *r, uint32_t node)
{
    uint64_t requested = r->arena.requested - r->kept_requested, in_use = r->arena.in_use - r->kept_in_use;
    if (requested > r->seen.max_requested || r->seen.requested_at == OC_NONE) {
        r->seen.max_requested = requested;
        r->seen.requested_at = node;
    }
    if (in_use > r->seen.max_in_use || r->seen.in_use_at == OC_NONE) {
        r->seen.max_in_use = in_use;
        r->seen.in_use_at = node;
    }
}

/* ConvTranspose<float>::PrePack: unless a matrix of one row or column stays as it is. */
static void keep_filter(struct run *r, const struct oc_analysis *a, const struct oc_node *n)
{
    uint32_t w = n->n_in > 1 ? n->in[1] : OC_NONE;
    if (strcmp(n->op_type, "ConvTranspose") != 0 || *n->domain || w == OC_NONE || !a->is_const[w] ||
        a->type[w].dtype != OC_DT_FLOAT || !oc_shape_known(&a->type[w].shape) || a->type[w].shape.rank < 2)
        return;
    const struct oc_attr *group = oc_node_attr(n, "group");
    int64_t groups = group && group->i > 0 ? group->i : 1, channels = a->type[w].shape.dim[0].v, rest = 1;
    for (unsigned i = 1; i < a->type[w].shape.rank; i++)
        if (!oc_mul_i64(rest, a->type[w].shape.dim[i].v, &rest))
            return;
    uint64_t count;
    if (channels / groups > 1 && rest > 1 && oc_mul_u64((uint64_t)channels, (uint64_t)rest, &count) &&
        oc_mul_u64(count, 4, &count))
        oc_ort_arena_take(&r->arena, count);
}

static void keep_filters(struct run *r, const struct oc_lives *l)
{
    for (uint32_t i = 0; i < l->n_step; i++)
        keep_filter(r, l->a, &l->a->model->node[l->step[i]]);
    r->kept_requested = r->arena.requested;
    r->kept_in_use = r->arena.in_use;
}

static void run_graph(struct run *r, const struct oc_lives *l)
{
    struct by_step b = {zeros(l->n_step + 1u), zeros(l->n_life), zeros(l->n_step + 1u), zeros(l->n_life)};
    uint32_t *chunk = zeros(l->n_life);
    sort_lives(l, false, b.made_at, b.made);
    sort_lives(l, true, b.last_at, b.last);
    for (uint32_t s = 0; s < l->n_step; s++) {
        for (uint32_t i = b.made_at[s]; i < b.made_at[s + 1]; i++)
            chunk[b.made[i]] = oc_ort_arena_take(&r->arena, l->life[b.made[i]].bytes);
        uint32_t body = l->inner[s] ? oc_lives_body(l, l->step[s]) : OC_NONE;
        if (body != OC_NONE) {
            struct oc_lives *inner = oc_lives_make(l->a, body, &l->opts);
            run_graph(r, inner);
            oc_lives_free(inner);
        }
        look(r, l->step[s]);
        for (uint32_t i = b.last_at[s]; i < b.last_at[s + 1]; i++)
            oc_ort_arena_give(&r->arena, chunk[b.last[i]]);
    }
    free(b.made_at);
    free(b.made);
    free(b.last_at);
    free(b.last);
    free(chunk);
}

struct oc_ort_run oc_ort_first_run(const struct oc_lives *lives)
{
    struct run r = {.seen = {.requested_at = OC_NONE, .in_use_at = OC_NONE}};
    oc_ort_arena_init(&r.arena);
    keep_filters(&r, lives);
    run_graph(&r, lives);
    r.seen.held = r.arena.held;
    oc_ort_arena_free(&r.arena);
    return r.seen;
}
