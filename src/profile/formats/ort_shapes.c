/* Runs with different shapes: which groups of events are one node, and which runs have the same shapes. */
#include <stdlib.h>
#include <string.h>

#include "profile/formats/ort_trace.h"

enum { MAX_SETS = 1024 }; /* of runs that are used: a model is analysed for each */

/* ---- groups of one node ----------------------------------------------------------------------------- */

static void link_groups(const struct ort_trace *t, const struct ort_groups *g, struct ort_shapes *s)
{
    struct oc_arena scratch = {0};
    struct oc_map nodes = {.arena = &scratch};
    uint32_t *last = oc_xmalloc((g->n + 1) * sizeof(*last));
    for (uint32_t i = 0; i < g->n; i++) {
        const struct ort_group *grp = &g->group[i];
        const struct ort_key *k = &t->key[grp->key];
        const uint64_t id[] = {(uintptr_t)k->name, (uintptr_t)k->op_type, (uintptr_t)k->provider,
                               (uint64_t)k->index, grp->parent == OC_NONE ? OC_NONE : s->head[grp->parent]};
        uint32_t head = i; /* parents precede their children */
        bool first = oc_map_add(&nodes, (const char *)id, sizeof(id), &head, NULL);
        s->head[i] = head;
        s->next[i] = OC_NONE;
        if (!first)
            s->next[last[head]] = i;
        last[head] = i;
    }
    free(last);
    oc_map_free(&nodes);
    oc_arena_free(&scratch);
}

/* ---- sets of shapes of runs ------------------------------------------------------------------------- */

struct digest {
    uint64_t sum, mix;
    bool bare; /* the shapes of a node are not kept */
};

static uint64_t scatter(uint64_t x) /* splitmix64 */
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/* Which of the groups of nodes with several occur in a run, in any order and number. */
static struct digest *digest_runs(const struct ort_trace *t, const struct ort_groups *g,
                                  const struct ort_shapes *s)
{
    struct digest *d = oc_xcalloc(t->n_run, sizeof(*d));
    uint32_t *seen = oc_xcalloc(t->n_run, sizeof(*seen));
    for (uint32_t i = 0; i < g->n; i++) {
        const struct ort_group *grp = &g->group[i];
        bool alone = s->head[i] == i && s->next[i] == OC_NONE;
        for (uint32_t k = 0; k < grp->n && !alone; k++) {
            uint32_t run = t->event[g->order[grp->first + k]].lane;
            if (run == OC_NONE || seen[run] == i + 1)
                continue;
            seen[run] = i + 1;
            d[run].sum += scatter(i);
            d[run].mix ^= scatter(~(uint64_t)i);
            d[run].bare |= t->key[grp->key].bare;
        }
    }
    free(seen);
    return d;
}

/* Numbers the sets in the order of their first used run. keep_all: also runs whose shapes are not all kept.
 */
static void number_sets(const struct ort_trace *t, const struct digest *d, bool keep_all,
                        struct ort_shapes *s)
{
    struct oc_arena scratch = {0};
    struct oc_map sets = {.arena = &scratch};
    bool complete = false;
    for (size_t i = 0; i < t->n_run; i++)
        complete |= t->run[i].used && !d[i].bare;
    for (size_t i = 0; i < t->n_run; i++) {
        const uint64_t id[] = {d[i].sum, d[i].mix};
        s->set[i] = OC_NONE;
        if (!t->run[i].used)
            continue;
        if (complete && d[i].bare && !keep_all) {
            s->without_shapes++;
            continue;
        }
        s->set[i] = s->n_set;
        s->n_set += oc_map_add(&sets, (const char *)id, sizeof(id), &s->set[i], NULL);
    }
    oc_map_free(&sets);
    oc_arena_free(&scratch);
}

/* Keeps evenly spaced sets. */
static void sample_sets(const struct ort_trace *t, struct ort_shapes *s)
{
    if (s->n_set <= MAX_SETS)
        return;
    for (size_t i = 0; i < t->n_run; i++) {
        if (s->set[i] == OC_NONE)
            continue;
        uint64_t here = (uint64_t)s->set[i] * MAX_SETS / s->n_set,
                 next = ((uint64_t)s->set[i] + 1) * MAX_SETS / s->n_set;
        s->set[i] = next > here ? (uint32_t)here : OC_NONE;
    }
    s->n_set = MAX_SETS;
}

static void choose_main(const struct ort_trace *t, struct ort_shapes *s)
{
    uint32_t *runs = oc_xcalloc(s->n_set, sizeof(*runs));
    int64_t *longest_us = oc_xcalloc(s->n_set, sizeof(*longest_us));
    for (size_t i = 0; i < t->n_run; i++) {
        uint32_t set = s->set[i];
        if (set == OC_NONE)
            continue;
        runs[set]++;
        longest_us[set] = t->run[i].dur_us > longest_us[set] ? t->run[i].dur_us : longest_us[set];
    }
    for (uint32_t i = 1; i < s->n_set; i++)
        if (runs[i] > runs[s->main] || (runs[i] == runs[s->main] && longest_us[i] > longest_us[s->main]))
            s->main = i;
    free(runs);
    free(longest_us);
}

/* The runs that are in no set are not used. */
static void drop_runs(struct ort_trace *t, struct ort_shapes *s)
{
    for (size_t i = 0; i < t->n_run; i++) {
        s->left_out += t->run[i].used && s->set[i] == OC_NONE;
        t->run[i].used &= s->set[i] != OC_NONE;
    }
}

void ort_shapes_find(struct ort_trace *t, const struct ort_groups *g, bool keep_all, struct ort_shapes *out)
{
    *out = (struct ort_shapes){.head = oc_xcalloc(g->n + 1, sizeof(uint32_t)),
                               .next = oc_xcalloc(g->n + 1, sizeof(uint32_t)),
                               .set = oc_xcalloc(t->n_run + 1, sizeof(uint32_t))};
    link_groups(t, g, out);
    struct digest *d = digest_runs(t, g, out);
    number_sets(t, d, keep_all, out);
    if (!keep_all) {
        sample_sets(t, out);
        drop_runs(t, out);
    }
    if (out->n_set)
        choose_main(t, out);
    free(d);
}

void ort_shapes_free(struct ort_shapes *s)
{
    free(s->head);
    free(s->next);
    free(s->set);
}

/* ---- what each record did --------------------------------------------------------------------------- */

struct parts { /* of all sets, by record */
    struct placed {
        uint32_t set;
        struct oc_prof_part part;
    } * item;
    size_t n, cap;
    size_t *of_set;     /* index + 1 of the current record's part of a set, 0: none */
    uint32_t *seen_run; /* number + 1 of the record counted last in a run */
};

static void add_event(const struct ort_trace *t, const struct ort_event *e, const struct ort_shapes *s,
                      uint32_t rec, struct parts *p)
{
    uint32_t run = e->lane, set = run == OC_NONE ? OC_NONE : s->set[run], types = e->key;
    if (set == OC_NONE || !t->run[run].used)
        return;
    if (!p->of_set[set]) {
        OC_GROW(p->item, p->n, p->cap);
        p->item[p->n++] = (struct placed){set, {.rec = rec, .types = types}};
        p->of_set[set] = p->n;
    }
    struct oc_prof_part *part = &p->item[p->of_set[set] - 1].part;
    part->total_ns += (double)e->self_us * NS_PER_US;
    part->calls++;
    part->types = part->types == types ? types : OC_NONE;
    part->runs += p->seen_run[run] != rec + 1;
    p->seen_run[run] = rec + 1;
}

static void ort_shapes_add_parts(const struct ort_trace *t, const struct ort_groups *g,
                                 const struct ort_shapes *s, const struct oc_first_call *rec, uint32_t n_rec,
                                 struct parts *p)
{
    for (uint32_t r = 0; r < n_rec; r++) {
        size_t from = p->n;
        for (uint32_t i = rec[r].group; i != OC_NONE; i = s->next[i])
            for (uint32_t k = 0; k < g->group[i].n; k++)
                add_event(t, &t->event[g->order[g->group[i].first + k]], s, r, p);
        for (size_t i = from; i < p->n; i++)
            p->of_set[p->item[i].set] = 0;
    }
}

static void runs_of_sets(const struct ort_trace *t, const struct ort_shapes *s, struct oc_prof_shapes *sets)
{
    double *run_ns = OC_NEW_ARRAY(&t->out->arena, t->n_run, double);
    uint32_t at = 0;
    for (size_t i = 0; i < t->n_run; i++)
        if (s->set[i] != OC_NONE)
            sets[s->set[i]].n_run++;
    for (uint32_t i = 0; i < s->n_set; i++) {
        sets[i].run_ns = run_ns + at;
        at += sets[i].n_run;
        sets[i].n_run = 0;
    }
    for (size_t i = 0; i < t->n_run; i++)
        if (s->set[i] != OC_NONE) {
            struct oc_prof_shapes *set = &sets[s->set[i]];
            run_ns[(set->run_ns - run_ns) + set->n_run++] = (double)t->run[i].dur_us * NS_PER_US;
        }
}

void ort_shapes_keep(const struct ort_trace *t, const struct ort_groups *g, const struct ort_shapes *s,
                     const struct oc_first_call *rec, uint32_t n_rec)
{
    struct oc_profile *out = t->out;
    struct parts p = {.of_set = oc_xcalloc(s->n_set, sizeof(size_t)),
                      .seen_run = oc_xcalloc(t->n_run, sizeof(uint32_t))};
    struct oc_prof_shapes *sets = OC_NEW_ARRAY(&out->arena, s->n_set, struct oc_prof_shapes);
    ort_shapes_add_parts(t, g, s, rec, n_rec, &p);
    runs_of_sets(t, s, sets);
    struct oc_prof_part *part = OC_NEW_ARRAY(&out->arena, p.n + 1, struct oc_prof_part);
    size_t *place = oc_xcalloc((size_t)s->n_set + 1, sizeof(*place)); /* counting sort */
    for (size_t i = 0; i < p.n; i++)
        place[p.item[i].set + 1]++;
    for (uint32_t i = 0; i < s->n_set; i++) {
        place[i + 1] += place[i];
        sets[i].part = part + place[i];
    }
    for (size_t i = 0; i < p.n; i++)
        part[place[p.item[i].set]++] = p.item[i].part;
    for (uint32_t i = 0; i < s->n_set; i++)
        sets[i].n_part = (uint32_t)(part + place[i] - sets[i].part);
    out->shapes = sets;
    out->n_shapes = s->n_set;
    out->main_shapes = s->main;
    free(place);
    free(p.item);
    free(p.of_set);
    free(p.seen_run);
}
