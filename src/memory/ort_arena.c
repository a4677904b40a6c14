/* microsoft/onnxruntime, core/framework/bfc_arena.cc and bfc_arena.h. */
#include "memory/ort_arena.h"

#include <stdlib.h>

#include "base/arena.h"

#define MIN_BYTES  256u
#define FIRST      (1024ull * 1024)        /* kDefaultInitialChunkSizeBytes */
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
    free(a->spare);
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

static void put_spare(struct oc_ort_arena *a, uint32_t i)
{
    OC_GROW(a->spare, a->n_spare, a->cap_spare);
    a->chunk[i].used = false;
    a->chunk[i].place = a->n_spare;
    a->spare[a->n_spare++] = i;
}

static void take_spare(struct oc_ort_arena *a, uint32_t i)
{
    uint32_t last = a->spare[--a->n_spare];
    a->spare[a->chunk[i].place] = last;
    a->chunk[last].place = a->chunk[i].place;
    a->chunk[i].used = true;
}

/* Bins hold sizes of one power of two, each sorted by size and address: the first match is the best fit. */
static uint32_t best(const struct oc_ort_arena *a, uint64_t bytes)
{
    uint32_t found = OC_NONE;
    for (uint32_t k = 0; k < a->n_spare; k++) {
        const struct oc_ort_chunk *c = &a->chunk[a->spare[k]],
                                  *f = found == OC_NONE ? NULL : &a->chunk[found];
        if (c->size >= bytes && (!f || c->size < f->size || (c->size == f->size && c->at < f->at)))
            found = a->spare[k];
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
    put_spare(a,
              new_chunk(a, (struct oc_ort_chunk){
                               .size = a->next_region, .at = a->top, .before = OC_NONE, .after = OC_NONE}));
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
    put_spare(a, r);
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
    take_spare(a, i);
    c->requested = bytes;
    a->requested += bytes;
    a->in_use += c->size;
    a->max_requested = a->requested > a->max_requested ? a->requested : a->max_requested;
    a->max_in_use = a->in_use > a->max_in_use ? a->in_use : a->max_in_use;
    return i;
}

/* Merges a free chunk with the next one. */
static void join(struct oc_ort_arena *a, uint32_t i, uint32_t behind)
{
    struct oc_ort_chunk *c = &a->chunk[i];
    c->size += a->chunk[behind].size;
    c->after = a->chunk[behind].after;
    if (c->after != OC_NONE)
        a->chunk[c->after].before = i;
    take_spare(a, behind);
    kill(a, behind);
}

void oc_ort_arena_give(struct oc_ort_arena *a, uint32_t i)
{
    if (i == OC_NONE)
        return;
    a->in_use -= a->chunk[i].size;
    a->requested -= a->chunk[i].requested;
    put_spare(a, i);
    uint32_t after = a->chunk[i].after, before = a->chunk[i].before;
    if (after != OC_NONE && !a->chunk[after].used)
        join(a, i, after);
    if (before != OC_NONE && !a->chunk[before].used)
        join(a, before, i);
}
