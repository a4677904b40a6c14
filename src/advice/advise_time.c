/* Idle time of the device or of the run: gaps, and data loading. */
#include <string.h>

#include "advice/advisor.h"
#include "profile/time_summary.h"

/* Shares of a run below which idle time is normal. */
#define IDLE_SHARE   0.1
#define READER_SHARE 0.05

static struct oc_time_summary *advise_time_summary_of(const struct oc_advisor *x)
{
    static const struct oc_sum_table_opts opts = {0};
    return x->p->timeline ? oc_time_summary_make(x->p, &opts) : NULL;
}

static void prove_text(struct oc_advisor *x, struct oc_advice_item *f, const char *name, double ns,
                       const char *text)
{
    const struct oc_piece what = {
        .row = &(struct oc_row){.record = OC_NONE}, .name = name, .type = "", .bytes = NAN};
    oc_advice_prove(x, f, &what, ns, text);
}

struct gap {
    double ns;
    uint32_t before, after; /* names */
};

enum { GAPS = 20 };

static void add_gap(struct gap *longest, uint32_t *n, struct gap g)
{
    uint32_t at = *n < GAPS ? (*n)++ : GAPS;
    while (at > 0 && longest[at - 1].ns < g.ns) {
        if (at < GAPS)
            longest[at] = longest[at - 1];
        at--;
    }
    if (at < GAPS)
        longest[at] = g;
}

/* The longest gaps of a run, with the events before and after. */
static void prove_gaps(struct oc_advisor *x, struct oc_advice_item *f, int64_t device_id)
{
    const struct oc_timeline *t = x->p->timeline;
    struct gap longest[GAPS];
    double end = NAN;
    uint32_t n = 0, run = OC_NONE, before = 0;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        if (e->kind < OC_EV_KERNEL || e->kind > OC_EV_MEMSET || x->p->lane[e->lane].device_id != device_id)
            continue;
        if (!t->runs_implicit && (e->run == OC_NONE || e->run < t->first_used_run))
            continue;
        bool first = e->run != run && !t->runs_implicit;
        double from = first ? t->run[e->run].start_ns : end;
        if ((first || e->run == run) && e->start_ns > from)
            add_gap(longest, &n, (struct gap){e->start_ns - from, first ? OC_NONE : before, e->name});
        if (e->run != run || !(e->start_ns + e->dur_ns < end)) {
            end = e->start_ns + e->dur_ns;
            before = e->name;
        }
        run = e->run;
    }
    for (uint32_t i = 0; i < n; i++)
        prove_text(x, f, oc_printf(x->arena, "before %s", t->name[longest[i].after]), longest[i].ns,
                   longest[i].before == OC_NONE
                       ? "from the start of the run"
                       : oc_printf(x->arena, "after %s", t->name[longest[i].before]));
}

/* Idle time of a device. */
static void idle_device(struct oc_advisor *x, const struct oc_time_summary *s, const struct oc_sum_lane *l)
{
    struct oc_advice_item *f = oc_advice_new(x, "idle", "The device is idle");
    bool by_run = x->p->runs_used && s->run.n && !x->p->timeline->runs_implicit; /* as in set_whole */
    double runs = by_run ? s->run.n : 1, span = l->busy_ns + l->idle_ns;
    if (!(span > 0) || l->idle_ns < IDLE_SHARE * span)
        return;
    prove_text(x, f, oc_printf(x->arena, "device %lld", (long long)l->device_id), l->idle_ns / runs,
               oc_printf(x->arena, "busy %.1f %% of the time", l->busy_ns / span * 100));
    prove_gaps(x, f, l->device_id);
    f->low_ns = 0;
    f->high_ns = l->idle_ns / runs;
    if (x->out->run_ns > 0) /* the recording may be longer than its runs: work continues after them */
        f->high_ns = fmin(f->high_ns, l->idle_ns / span * x->out->run_ns);
    f->basis = "at most the idle time of the device";
    f->found = oc_printf(x->arena, "the device is idle for %.1f %% of the time", l->idle_ns / span * 100);
    f->todo = "give it more work at once (a larger batch, several requests), launch less often (CUDA graphs, "
              "torch.compile, fused operators), and do not synchronize in between (item(), cpu(), "
              "cudaDeviceSynchronize)";
    oc_advice_keep(x, f);
}

/* Time of a sequential run outside its operators. */
static void between_operators(struct oc_advisor *x)
{
    struct oc_advice_item *f = oc_advice_new(x, "idle", "Time between operators");
    double run = x->p->run_ns / x->r->runs, busy = x->p->busy_ns / x->r->runs, idle = run - busy;
    if (!(idle > IDLE_SHARE * run))
        return;
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n_piece; i++)
        n += oc_piece_timed(&x->piece[i]);
    prove_text(x, f, "run", run, oc_printf(x->arena, "operator time %s", oc_advice_time(x, busy)));
    f->proof[0].time_ns = idle;
    f->low_ns = 0;
    f->high_ns = idle;
    f->basis = "at most run time - operator time; profiling overhead is part of it";
    f->found = oc_printf(x->arena, "%s are outside the %u operators: kernel selection, allocation, profiling",
                         oc_advice_time(x, idle), n);
    f->todo = "compare with a run without profiling first; then fewer and larger operators (optimization "
              "level all, a larger batch) and shapes that do not change";
    oc_advice_keep(x, f);
}

void oc_advise_idle(struct oc_advisor *x)
{
    struct oc_time_summary *s = advise_time_summary_of(x);
    bool device = false;
    for (uint32_t i = 0; s && i < s->n_lane; i++) {
        const struct oc_sum_lane *l = &s->lane[i];
        if (!l->device || l->lane != OC_NONE)
            continue;
        device = true;
        idle_device(x, s, l);
    }
    oc_time_summary_free(s);
    for (uint32_t i = 0; i < x->p->n_lane; i++)
        device = device || x->p->lane[i].device;
    if (!device)
        between_operators(x);
}

/* Paddle's profiler reports reader_cost and batch_cost; their ratio should be close to 0. */
void oc_advise_dataloader(struct oc_advisor *x)
{
    struct oc_time_summary *s = advise_time_summary_of(x);
    struct oc_advice_item *f = oc_advice_new(x, "dataloader", "Steps wait for data");
    if (s && s->reader_cost.n && s->batch_cost.mean > 0 &&
        s->reader_cost.mean >= READER_SHARE * s->batch_cost.mean) {
        double share = s->reader_cost.mean / s->batch_cost.mean;
        prove_text(x, f, "reader_cost", s->reader_cost.mean,
                   oc_printf(x->arena, "mean of %u steps; from %s to %s", s->reader_cost.n,
                             oc_advice_time(x, s->reader_cost.min), oc_advice_time(x, s->reader_cost.max)));
        prove_text(x, f, "batch_cost", s->batch_cost.mean, "the whole step");
        f->low_ns = 0;
        f->high_ns = s->reader_cost.mean;
        f->basis = "at most the mean time that a step waits for its data";
        f->found = oc_printf(x->arena, "%.1f %% of a step waits for data", share * 100);
        f->todo =
            "load data in more processes and ahead of time (DataLoader(num_workers=4, prefetch_factor=4, "
            "use_shared_memory=True)), and move decoding and augmentation there or on the device";
        oc_advice_keep(x, f);
    }
    oc_time_summary_free(s);
}
