#include "profile/launch_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/run_fold.h"
#include "profile/timeline.h"

/* ---- order and runs --------------------------------------------------------------------------------- */

static int launch_runs_by_start(const void *a, const void *b)
{
    const struct launch_entry *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

/* Launches of the lane with the most of them. */
struct symbols {
    uint32_t *index; /* of the entries */
    uint32_t *symbol, *name;
    uint8_t *flags;
    double *start_ns, *end_ns;
    size_t n;
};

static uint32_t busiest_lane(const struct oc_launches *l, size_t *n)
{
    uint32_t lanes = 1, best = 0;
    for (size_t i = 0; i < l->n; i++)
        lanes = l->entry[i].lane >= lanes ? l->entry[i].lane + 1 : lanes;
    size_t *count = oc_xcalloc(lanes, sizeof(*count));
    for (size_t i = 0; i < l->n; i++)
        count[l->entry[i].lane]++;
    for (uint32_t k = 0; k < lanes; k++)
        best = count[k] > count[best] ? k : best;
    *n = count[best];
    free(count);
    return best;
}

static uint8_t flag_of(const struct launch_group *g)
{
    if (g->kind == OC_EV_MEMCPY)
        return oc_fold_flag_of_copy(g->name);
    return strncmp(g->name, "CUDA graph ", 11) == 0 ? OC_FOLD_GRAPH : 0;
}

/* The same name in two groups (of two labels) is the same work. */
static void launch_runs_make_symbols(struct oc_launches *l, struct symbols *x)
{
    struct oc_map of = {.arena = &l->scratch}, names = {.arena = &l->scratch};
    uint32_t lane = busiest_lane(l, &x->n), known = 0, named = 0;
    size_t n = x->n ? x->n : 1, at = 0;
    x->index = oc_xmalloc(n * sizeof(*x->index));
    x->symbol = oc_xmalloc(n * sizeof(*x->symbol));
    x->name = oc_xmalloc(n * sizeof(*x->name));
    x->flags = oc_xmalloc(n);
    x->start_ns = oc_xmalloc(n * sizeof(*x->start_ns));
    x->end_ns = oc_xmalloc(n * sizeof(*x->end_ns));
    for (size_t i = 0; i < l->n; i++) {
        const struct launch_entry *e = &l->entry[i];
        const struct launch_group *g = &l->group[e->group];
        if (e->lane != lane)
            continue;
        uint32_t name = named, symbol = known;
        named += oc_map_add(&names, (const char *)&g->name, sizeof(g->name), &name, NULL);
        uint32_t key[2] = {name, e->shape};
        known += oc_map_add(&of, (const char *)key, sizeof(key), &symbol, NULL);
        x->index[at] = (uint32_t)i;
        x->symbol[at] = symbol;
        x->name[at] = name;
        x->flags[at] = flag_of(g);
        x->start_ns[at] = e->start_ns;
        x->end_ns[at++] = e->start_ns + e->dur_ns;
    }
    oc_map_free(&of);
    oc_map_free(&names);
}

/* Launches of other lanes belong to the run in which they start. */
static void launch_runs_assign_runs(struct oc_launches *l, const struct symbols *x, const struct oc_fold *f)
{
    size_t last = f->start[f->n_run];
    double end_ns = last < x->n ? x->start_ns[last] : (double)INFINITY;
    double cut_ns = f->cut == x->n ? (double)INFINITY : x->start_ns[f->cut];
    uint32_t run = 0;
    for (size_t i = 0; i < l->n; i++) {
        struct launch_entry *e = &l->entry[i];
        while (run < f->n_run && e->start_ns >= x->start_ns[f->start[run]])
            run++;
        e->run = !run                   ? OC_NONE
                 : e->start_ns < end_ns ? run - 1
                 : e->start_ns < cut_ns ? LAUNCH_CUT
                                        : OC_NONE;
    }
    for (uint32_t k = 0; k < f->n_run; k++) /* launches that start at the same time */
        for (size_t i = f->start[k]; i < f->start[k + 1]; i++)
            l->entry[x->index[i]].run = k;
}

static uint32_t launch_runs_find_runs(struct oc_launches *l)
{
    struct symbols x = {0};
    struct oc_fold f;
    launch_runs_make_symbols(l, &x);
    struct oc_fold_in in = {x.symbol, x.name, x.flags, x.start_ns, x.end_ns, x.n, l->opts->iterations};
    bool found = oc_fold_find(&in, &f);
    for (size_t i = 0; i < l->n && !found; i++)
        l->entry[i].run = 0;
    if (found) {
        launch_runs_assign_runs(l, &x, &f);
        oc_fold_report(&f, &in, "launches", l->out);
    }
    uint32_t n_run = found ? f.n_run : 1;
    free(f.start);
    free(x.index);
    free(x.symbol);
    free(x.name);
    free(x.flags);
    free(x.start_ns);
    free(x.end_ns);
    return n_run;
}

static void launch_runs_choose_runs(struct oc_launches *l, bool known)
{
    struct oc_profile *p = l->out;
    l->drop = oc_prof_use_runs(p, l->n_run, l->opts->warmup);
    p->runs_total = known ? l->n_run : 0;
    if (p->runs_from == OC_RUNS_UNKNOWN && known) /* not found by repetition */
        p->runs_from = OC_RUNS_MARKED;
}

/* Busy time: the interval union of the launches of a run, over all streams. */
static void launch_runs_measure_runs(struct oc_launches *l)
{
    l->run = oc_xmalloc(l->n_run * sizeof(*l->run));
    for (uint32_t i = 0; i < l->n_run; i++)
        l->run[i] = (struct launch_run){.first_ns = NAN, .end_ns = NAN};
    for (size_t i = 0; i < l->n; i++) {
        const struct launch_entry *e = &l->entry[i];
        if (e->run >= l->n_run)
            continue;
        struct launch_run *r = &l->run[e->run];
        double from_ns = e->start_ns, end_ns = e->start_ns + e->dur_ns;
        if (isnan(r->first_ns))
            r->first_ns = from_ns;
        else if (from_ns < r->end_ns)
            from_ns = r->end_ns;
        r->busy_ns += end_ns > from_ns ? end_ns - from_ns : 0;
        r->end_ns = r->end_ns >= end_ns ? r->end_ns : end_ns;
    }
}

static void set_run_times(struct oc_launches *l, bool known)
{
    struct oc_profile *p = l->out;
    struct oc_run_sums *s = &l->sums;
    for (uint32_t i = l->drop; i < l->n_run; i++)
        if (!isnan(l->run[i].first_ns))
            oc_run_sums_add(s, i, l->run[i].end_ns - l->run[i].first_ns);
    if (known) {
        oc_run_sums_spread(s, &p->spread);
        p->stat = oc_run_spread_stat(&p->spread, l->opts->stat, &p->diags);
    }
    p->run_ns = known ? oc_run_sums_stat(s, p->stat, p->runs_used) : (double)NAN;
    oc_run_sums_clear(s);
    for (uint32_t i = l->drop; i < l->n_run; i++)
        oc_run_sums_add(s, i, l->run[i].busy_ns);
    p->busy_ns = oc_run_sums_stat(s, p->stat, p->runs_used);
    oc_run_sums_clear(s);
}

bool launch_find_runs(struct oc_launches *l, uint32_t n_run)
{
    bool known = n_run > 0;
    if (l->unsorted)
        qsort(l->entry, l->n, sizeof(*l->entry), launch_runs_by_start);
    l->n_run = known ? n_run : launch_runs_find_runs(l);
    known |= l->n_run > 1;
    launch_runs_choose_runs(l, known);
    if (!known && l->n > 1)
        oc_diag_add(&l->out->diags, OC_WARNING, "W-no-run", "",
                    "the file marks no runs and no repetition shows them: times are those of the whole "
                    "recording (--iterations N divides them)");
    oc_run_sums_init(&l->sums, l->n_run);
    oc_run_sums_init(&l->group_sums, l->n_run);
    launch_runs_measure_runs(l);
    set_run_times(l, known);
    return known;
}
