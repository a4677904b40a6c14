#include "profile/launch_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/repeat.h"

/* ---- sums per run -------------------------------------------------------------------------------------- */

void launch_sums_init(struct launch_sums *s, size_t n)
{
    s->sum = oc_xmalloc(n * sizeof(*s->sum));
    s->value = oc_xmalloc(n * sizeof(*s->value));
    s->touched = oc_xmalloc(n * sizeof(*s->touched));
    s->seen = oc_xmalloc(n);
    memset(s->seen, 0, n);
}

void launch_sums_add(struct launch_sums *s, uint32_t run, double ns)
{
    if (!s->seen[run]) {
        s->seen[run] = 1;
        s->sum[run] = 0;
        s->touched[s->n_touched++] = run;
    }
    s->sum[run] += ns;
}

void launch_sums_clear(struct launch_sums *s)
{
    for (uint32_t i = 0; i < s->n_touched; i++)
        s->seen[s->touched[i]] = 0;
    s->n_touched = 0;
}

/* As oc_run_sums_stat. */
double launch_sums_stat(const struct oc_launches *l, struct launch_sums *s, enum oc_stat stat)
{
    for (uint32_t i = 0; i < s->n_touched; i++)
        s->value[i] = s->sum[s->touched[i]];
    if (!s->n_touched)
        return (double)NAN;
    if (stat == OC_STAT_MEAN)
        return oc_stat_of(OC_STAT_SUM, s->value, s->n_touched) / (double)l->out->runs_used;
    double share = stat == OC_STAT_MEDIAN ? (double)s->n_touched / l->out->runs_used : 1;
    return oc_stat_of(stat, s->value, s->n_touched) * share;
}

void launch_sums_free(struct launch_sums *s)
{
    free(s->sum);
    free(s->value);
    free(s->touched);
    free(s->seen);
}

/* ---- order and runs ------------------------------------------------------------------------------------ */

static int by_start(const void *a, const void *b)
{
    const struct launch_entry *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

static void warn_repeat(struct oc_launches *l, const struct oc_repeat *r)
{
    oc_diag_add(&l->out->diags, OC_INFO, "I-runs-by-repetition", "",
                "the file marks no runs: %zu repetitions of the same %zu launches count as runs", r->count,
                r->period);
}

static uint32_t find_runs(struct oc_launches *l)
{
    struct oc_repeat r = {0};
    uint32_t *v = oc_xmalloc((l->n ? l->n : 1) * sizeof(*v));
    for (size_t i = 0; i < l->n; i++)
        v[i] = l->entry[i].group;
    bool found = oc_find_repeat(v, l->n, &r);
    free(v);
    for (size_t i = 0; i < l->n; i++) {
        size_t at = i - r.first; /* infinite before the first */
        l->entry[i].run = !found                             ? 0
                          : i < r.first                      ? OC_NONE
                          : at < r.count * r.period          ? (uint32_t)(at / r.period)
                          : at < r.count * r.period + r.rest ? LAUNCH_CUT
                                                             : OC_NONE;
    }
    if (found)
        warn_repeat(l, &r);
    return found ? (uint32_t)r.count : 1;
}

static void choose_runs(struct oc_launches *l, bool known)
{
    struct oc_profile *p = l->out;
    l->drop = l->opts->warmup < 0 ? l->n_run > 1 : (uint32_t)l->opts->warmup;
    if (l->drop >= l->n_run) {
        oc_diag_add(&p->diags, OC_WARNING, "W-warmup", "",
                    "%u warm-up runs requested, but the file has %u: only the last one is used", l->drop,
                    l->n_run);
        l->drop = l->n_run - 1;
    }
    p->runs_total = known ? l->n_run : 0;
    p->runs_used = l->n_run - l->drop;
    p->runs_from = known ? OC_RUNS_MARKED : OC_RUNS_UNKNOWN;
}

/* Busy time: the interval union of the launches of a run, over all streams. */
static void measure_runs(struct oc_launches *l)
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
    struct launch_sums *s = &l->sums;
    launch_sums_clear(s);
    for (uint32_t i = l->drop; i < l->n_run; i++) {
        if (!isnan(l->run[i].first_ns))
            launch_sums_add(s, i, l->run[i].end_ns - l->run[i].first_ns);
    }
    if (known) {
        launch_sums_stat(l, s, OC_STAT_MEDIAN); /* s->value */
        oc_run_spread_of(s->value, s->n_touched, &p->spread);
        p->stat = oc_run_spread_stat(&p->spread, l->opts->stat, &p->diags);
    }
    p->run_ns = known ? launch_sums_stat(l, s, p->stat) : (double)NAN;
    launch_sums_clear(s);
    for (uint32_t i = l->drop; i < l->n_run; i++)
        launch_sums_add(s, i, l->run[i].busy_ns);
    p->busy_ns = launch_sums_stat(l, s, p->stat);
    launch_sums_clear(s);
}

bool launch_find_runs(struct oc_launches *l, uint32_t n_run)
{
    bool known = n_run > 0;
    if (l->unsorted)
        qsort(l->entry, l->n, sizeof(*l->entry), by_start);
    l->n_run = known ? n_run : find_runs(l);
    known |= l->n_run > 1;
    choose_runs(l, known);
    if (!known && l->n > 1)
        oc_diag_add(&l->out->diags, OC_WARNING, "W-no-run", "",
                    "the file marks no runs and no sequence repeats: times are those of the whole recording");
    launch_sums_init(&l->sums, l->n_run);
    launch_sums_init(&l->group_sums, l->n_run);
    measure_runs(l);
    set_run_times(l, known);
    return known;
}
