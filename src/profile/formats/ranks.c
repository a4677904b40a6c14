/* Kernels of several ranks in one trace. */
#include "profile/formats/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/map.h"

#define NUMBER_MASK ((UINT64_C(1) << OC_RANK_SHIFT) - 1)

uint32_t oc_ranks_host(struct oc_ranks *r, int64_t process)
{
    if (r->n && r->rank[r->now].process == process)
        return r->now;
    uint32_t at = 0;
    while (at < r->n && r->rank[at].process != process)
        at++;
    if (at == OC_MAX_RANKS)
        return r->now;
    if (at == r->n)
        OC_PUSH(r->rank, r->n, r->cap) = (struct oc_rank_process){.process = process};
    r->turns += at != r->now;
    return r->now = at;
}

uint64_t oc_ranks_launch(struct oc_ranks *r, uint32_t rank, uint64_t number, bool device)
{
    if (rank < r->n)
        *(device ? &r->rank[rank].kernels : &r->rank[rank].launches) += number != 0;
    return number && number <= NUMBER_MASK ? number | (uint64_t)rank << OC_RANK_SHIFT : number;
}

uint32_t oc_ranks_owner(uint32_t rank, uint32_t number)
{
    uint32_t owner = number ^ rank * 2654435761u;
    return number ? owner ? owner : 1 : 0;
}

/* ---- processes that alternate ----------------------------------------------------------------------- */

enum { SEVERAL = OC_NONE - 1 };

struct settling {
    struct oc_ranks *r;
    struct oc_timeline *t;
    struct oc_arena scratch;
    struct oc_map launch, device; /* number to rank; device to the rank of all its kernels with a known one */
    uint64_t unknown;
};

static uint64_t number_of(const struct oc_event *e)
{
    uint64_t v; /* as in timeline.c: until it is linked, an event has its number there */
    memcpy(&v, &e->self_ns, sizeof(v));
    return v;
}

/* Stores the rank, or that there are several. */
static void note_rank(struct oc_map *map, uint64_t key, uint32_t rank)
{
    uint32_t old = rank;
    if (!oc_map_add(map, (const char *)&key, sizeof(key), &old, NULL) && old != rank)
        oc_map_set(map, (const char *)&key, sizeof(key), SEVERAL);
}

static uint32_t rank_in(const struct oc_map *map, uint64_t key)
{
    return oc_map_get(map, (const char *)&key, sizeof(key));
}

static bool is_known(uint32_t rank)
{
    return rank < SEVERAL;
}

static void give_rank(struct settling *s, struct oc_event *e)
{
    struct oc_lane lane = s->t->lane[e->lane];
    uint64_t number = number_of(e) & NUMBER_MASK;
    uint32_t rank = rank_in(&s->launch, number);
    if (!is_known(rank))
        rank = rank_in(&s->device, (uint64_t)lane.device_id);
    bool known = is_known(rank);
    s->unknown += !known && number;
    lane.process = known ? s->r->rank[rank].process : OC_NO_ID;
    number = known && number ? number | (uint64_t)rank << OC_RANK_SHIFT : 0;
    memcpy(&e->self_ns, &number, sizeof(number));
    e->link = 0; /* the number of an operator, which is not unique either */
    e->lane = oc_timeline_lane(s->t, &lane);
}

static void settle_alternating(struct settling *s)
{
    struct oc_timeline *t = s->t;
    s->launch.arena = s->device.arena = &s->scratch;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        uint64_t number = number_of(e);
        if ((e->kind == OC_EV_API || e->kind == OC_EV_SYNC) && number)
            note_rank(&s->launch, number & NUMBER_MASK, (uint32_t)(number >> OC_RANK_SHIFT));
    }
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        uint32_t rank = t->lane[e->lane].device ? rank_in(&s->launch, number_of(e) & NUMBER_MASK) : OC_NONE;
        if (is_known(rank))
            note_rank(&s->device, (uint64_t)t->lane[e->lane].device_id, rank);
    }
    for (size_t i = 0; i < t->n_event; i++)
        if (t->lane[t->event[i].lane].device)
            give_rank(s, &t->event[i]);
    if (s->unknown)
        oc_diag_add(
            &t->profile->diags, OC_WARNING, "W-rank-unknown", "",
            "%llu kernels and copies have the number of launches of several processes (ranks): they are in "
            "no operator (put the files together without mixing their events, or give one rank)",
            (unsigned long long)s->unknown);
    oc_map_free(&s->launch);
    oc_map_free(&s->device);
    oc_arena_free(&s->scratch);
}

/* Whether every process that launched has work of the device around its events. */
static bool follow_each_other(const struct oc_ranks *r)
{
    bool each = r->turns < r->n;
    for (uint32_t i = 0; i < r->n; i++)
        each &= !r->rank[i].launches == !r->rank[i].kernels;
    return each;
}

void oc_ranks_settle(struct oc_ranks *r, struct oc_timeline *t)
{
    struct settling s = {.r = r, .t = t};
    uint32_t n_lane = t->n_lane, working = 0;
    for (uint32_t i = 0; i < r->n; i++)
        working += r->rank[i].launches > 0;
    bool alternate = working > 1 && !follow_each_other(r);
    if (alternate)
        settle_alternating(&s);
    for (uint32_t i = 0; i < n_lane && !alternate; i++)
        if (t->lane[i].device)
            t->lane[i].process = working > 1 ? r->rank[t->lane[i].process].process : OC_NO_ID;
    free(r->rank);
}
