/* hw measure: all measurements of this machine, and doubts about them. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/c_locale.h"
#include "base/os.h"
#include "hw/hwdb.h"
#include "measure/measure.h"
#include "onnxcost/hardware.h"

/* A drop of the last samples of a peak below its best by this much: the machine does not sustain it. */
#define HOLDS 0.9
/* A median this much below the best: other programs were running. */
#define QUIET 0.8

unsigned oc_measured_noisy(const struct oc_measured *m)
{
    unsigned n = 0;
    for (unsigned i = 0; i < m->n_peak; i++)
        n += m->peak[i].all.median < QUIET * m->peak[i].all.best;
    return n;
}

/* ---- peaks that cannot be right --------------------------------------------------------------------- */

#define ABOVE    1.5 /* of the limit of the instruction set: the clock changes between measurements */
#define FASTER   1.05
#define TOGETHER 1.2 /* all cores / one core */

static bool above_limit(const struct oc_measured *m, const struct oc_peak_rate *p)
{
    double limit = oc_isa_ops_per_cycle(p->kernel->isa, p->kernel->cls);
    return limit > 0 && p->all.best > ABOVE * limit * m->clock[0].best * m->threads;
}

/* Another kernel of the same operations, with an older instruction set, that was clearly faster. */
static bool overtaken(const struct oc_measured *m, unsigned peak)
{
    const struct oc_peak_kernel *k = m->peak[peak].kernel;
    double limit = oc_isa_ops_per_cycle(k->isa, k->cls);
    for (unsigned i = 0; i < m->n_peak; i++) {
        const struct oc_peak_kernel *o = m->peak[i].kernel;
        if (o->unit == k->unit && o->cls == k->cls && o->accumulate == k->accumulate &&
            oc_isa_ops_per_cycle(o->isa, o->cls) < limit &&
            m->peak[i].all.best > FASTER * m->peak[peak].all.best)
            return true;
    }
    return false;
}

const char *oc_measured_doubt(const struct oc_measured *m, unsigned peak)
{
    const struct oc_peak_rate *p = &m->peak[peak];
    return above_limit(m, p) ? "more operations per cycle than the instruction set has"
           : m->threads > 1 && p->all.best < TOGETHER * p->one.best
               ? "all cores together are not faster than one"
           : overtaken(m, peak)                  ? "slower than an older instruction set"
           : p->all.median < QUIET * p->all.best ? "most samples are far below the best"
                                                 : NULL;
}

static void take_rate(struct oc_rate *r, const struct oc_rate *again, bool lower)
{
    if (lower ? again->best < r->best : again->best > r->best)
        *r = *again;
}

void oc_measured_again(struct oc_measured *m, unsigned peak, const struct oc_peak_rate *again)
{
    struct oc_peak_rate *p = &m->peak[peak];
    bool lower = above_limit(m, p);
    take_rate(&p->one, &again->one, lower);
    take_rate(&p->all, &again->all, lower);
}

static void judge_peaks(const struct oc_measured *m, struct oc_diags *out)
{
    for (unsigned i = 0; i < m->n_peak; i++)
        if (above_limit(m, &m->peak[i]))
            oc_diag_add(out, OC_WARNING, "W-hw-impossible", m->peak[i].kernel->isa,
                        "%s %s: %.4g operations per second are more than the instruction set allows at the "
                        "measured clock; measure again on an idle machine",
                        oc_hw_unit_name(m->peak[i].kernel->unit), oc_class_name(m->peak[i].kernel->cls),
                        m->peak[i].all.best);
    unsigned slow = 0, noisy = oc_measured_noisy(m);
    for (unsigned i = 0; i < m->n_peak; i++)
        slow += m->peak[i].all.late < HOLDS * m->peak[i].all.best;
    if (noisy)
        oc_diag_add(out, OC_WARNING, "W-hw-busy", "peaks",
                    "%u of %u peaks: most samples are far below the best; other programs were running, or "
                    "the machine has fewer processors than it reports",
                    noisy, m->n_peak);
    else if (slow)
        oc_diag_add(out, OC_WARNING, "W-hw-slows-down", "peaks",
                    "%u of %u peaks dropped by more than %.0f %% during the measurement: the machine slows "
                    "down under load; the figures are its best",
                    slow, m->n_peak, 100 * (1 - HOLDS));
}

static void judge_busy_memory(const struct oc_measured *m, struct oc_diags *out)
{
    unsigned noisy = 0, all = 0;
    for (unsigned i = 0; i < m->levels.n; i++)
        for (unsigned k = 0; k < 2 * OC_LEVEL_MODES; k++) {
            const struct oc_rate *r = &m->levels.level[i].rate[k / OC_LEVEL_MODES][k % OC_LEVEL_MODES];
            all += r->best > 0;
            noisy += r->median < QUIET * r->best;
        }
    if (noisy)
        oc_diag_add(out, OC_WARNING, "W-hw-busy", "memory",
                    "%u of %u bandwidths: most samples are far below the best; other programs were running",
                    noisy, all);
}

static void judge_levels(const struct oc_measured *m, struct oc_diags *out)
{
    judge_busy_memory(m, out);
    for (unsigned i = 0; i + 1 < m->levels.n; i++) {
        const struct oc_level_rates *l = &m->levels.level[i];
        if (l->border_bytes && !l->agrees)
            oc_diag_add(out, OC_WARNING, "W-hw-cache-size", l->name,
                        "the system reports %.6g KiB, the read bandwidth of one core drops at %.4g KiB",
                        (double)l->claim.bytes / 1024, (double)l->border_bytes / 1024);
        else if (!l->border_bytes)
            oc_diag_add(out, OC_WARNING, "W-hw-cache-unseen", l->name,
                        "the system reports %.6g KiB, the read bandwidth of one core does not show it",
                        (double)l->claim.bytes / 1024);
    }
    if (m->levels.n == 1)
        oc_diag_add(out, OC_WARNING, "W-hw-no-caches", "caches",
                    "the system does not report its caches: none was measured");
    if (m->levels.flatness < 0.95)
        oc_diag_add(
            out, OC_WARNING, "W-hw-small-memory", "DRAM",
            "working set of %zu MiB, but half of it was still faster on one core: caches affect the figures",
            m->levels.block_bytes >> 20);
}

void oc_measured_judge(const struct oc_measured *m, struct oc_diags *out)
{
    if (m->quick)
        oc_diag_add(out, OC_WARNING, "W-hw-quick", "all",
                    "quick trial: the samples are too few and too short, and memory was measured in caches");
    if (m->features & OC_CPU_AMX_REFUSED)
        oc_diag_add(
            out, OC_WARNING, "W-hw-amx", "matrix",
            "the processor has matrix tiles (AMX), but the system does not enable them for this process");
    judge_peaks(m, out);
    if (!m->quick)
        judge_levels(m, out);
}

/* ---- hw measure ------------------------------------------------------------------------------------- */

/* The measurement: its parts in order, their time limits, and the public functions. */

struct oc_hw_measurement {
    struct oc_arena arena;
    struct oc_measured m;
    struct oc_buf xml;
    struct oc_diags diags;
    struct oc_device_list list;
};

struct plan { /* seconds */
    struct oc_effort warm, peak, clock;
    struct oc_level_effort level;
    unsigned regions;
};

#define MIB ((size_t)1 << 20)

static const struct plan plan_full = {
    .warm = {0.01, 0.3, 0},
    .peak = {0.0015, 0.08, 0.1},
    .clock = {0.002, 0.05, 0.1},
    .level = {.touch_s = 6, .sweep = {0.0005, 0.012, 0}, .cache = {0.002, 0.06, 0.06}, .dram = {0, 0.3, 0}},
    .regions = 2000,
};
static const struct plan plan_quick = {
    .warm = {0.001, 0.01, 0},
    .peak = {0.0005, 0.002, 0},
    .clock = {0.0005, 0.002, 0},
    .level = {.most_bytes = 48 * MIB,
              .least_bytes = 48 * MIB,
              .sweep = {0.00005, 0.0005, 0},
              .cache = {0.0002, 0.001, 0},
              .dram = {0, 0.001, 0}},
    .regions = 50,
};

/* Six times the total size of the last-level caches, so that a stream finds nothing of its previous pass in
 * them: three arrays of twice their size; half of it for one core. At most a third of the free memory. */
static void size_blocks(const struct oc_machine *m, struct oc_level_effort *e)
{
    uint64_t last = 0, available = m->available_bytes ? m->available_bytes : 1024 * MIB;
    for (unsigned i = 0; i < OC_CACHE_LEVELS; i++)
        last = m->cache[i].bytes ? m->cache[i].bytes * m->cache[i].instances : last;
    uint64_t most = 6 * last > 768 * MIB ? 6 * last : 768 * MIB;
    most = most < available / 3 ? most : available / 3;
    e->most_bytes = (size_t)most;
    e->least_bytes = most < 768 * MIB ? (size_t)most : 768 * MIB;
}

static void report_progress(const struct oc_hw_measure_opts *o, const char *what)
{
    if (o->progress)
        o->progress(o->user, what);
}

static void measure_peak(struct oc_team *team, const struct plan *plan, unsigned threads,
                         struct oc_peak_rate *p)
{
    p->one = oc_rate_of_peak(team, 1, p->kernel, &plan->peak);
    p->all = threads > 1 ? oc_rate_of_peak(team, threads, p->kernel, &plan->peak) : p->one;
}

/* Doubtful peaks are measured again, at most twice. */
static void measure_doubtful(struct oc_team *team, const struct plan *plan, struct oc_measured *m)
{
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < m->n_peak; i++)
            if (oc_measured_doubt(m, i)) {
                struct oc_peak_rate again = m->peak[i];
                measure_peak(team, plan, m->threads, &again);
                oc_measured_again(m, i, &again);
            }
}

static void measure_peaks(struct oc_team *team, const struct oc_hw_measure_opts *o, const struct plan *plan,
                          struct oc_measured *m)
{
    const struct oc_peak_kernel *k;
    for (size_t i = 0; (k = oc_peak_kernel(i)) && m->n_peak < OC_MAX_PEAKS; i++) {
        char text[80];
        if ((k->needs & m->features) != k->needs)
            continue;
        struct oc_peak_rate *p = &m->peak[m->n_peak++];
        snprintf(text, sizeof(text), "%s %s, %s", oc_hw_unit_name(k->unit), oc_class_name(k->cls), k->isa);
        report_progress(o, text);
        p->kernel = k;
        measure_peak(team, plan, m->threads, p);
    }
    if (!o->quick)
        measure_doubtful(team, plan, m);
    for (unsigned i = 0; i < m->n_peak; i++)
        if (m->peak[i].all.best < m->peak[i].one.best) /* the machine was shared: it reaches at least that */
            m->peak[i].all = m->peak[i].one;
}

static void measure_regions(struct oc_team *team, const struct plan *plan, struct oc_measured *m)
{
    if (m->threads == 1)
        return;
    oc_team_awake(team, true);
    m->region_awake_s = oc_region_time(team, plan->regions, 0);
    oc_team_awake(team, false);
    m->region_asleep_s = oc_region_time(team, plan->regions / 10, 0.0002);
}

static int measure_all(struct oc_team *team, const struct oc_hw_measure_opts *o, struct plan *plan,
                       struct oc_measured *m, struct oc_err *err)
{
    if (!o->quick)
        size_blocks(&m->machine, &plan->level);
    report_progress(o, "clock");
    m->clock[0] = oc_rate_of_clock(team, 1, &plan->warm);
    m->clock[0] = oc_rate_of_clock(team, 1, &plan->clock);
    m->clock[1] = m->threads > 1 ? oc_rate_of_clock(team, m->threads, &plan->clock) : m->clock[0];
    m->timer = oc_timer_of();
    measure_regions(team, plan, m);
    measure_peaks(team, o, plan, m);
    return oc_levels_measure(team, m->threads, &m->machine, m->features, &plan->level, o->progress, o->user,
                             &m->levels, err);
}

static void set_date(struct oc_measured *m)
{
    time_t now = time(NULL);
    struct tm tm;
    if (!gmtime_r(&now, &tm) || !strftime(m->when, sizeof(m->when), "%Y-%m-%d %H:%M UTC", &tm))
        m->when[0] = '\0';
}

int oc_hw_measure(const struct oc_hw_measure_opts *given, struct oc_hw_measurement **out, struct oc_err *err)
{
    OC_ENTRY(err);
    *out = NULL;
    struct oc_hw_measure_opts full, *const opts = &full;
    if (oc_os_check_processes("hw measure", err) || OC_OPTIONS(&full, given, err))
        return -1;
    struct plan plan = opts->quick ? plan_quick : plan_full;
    struct oc_team *team;
    unsigned most = oc_os_processors(), threads = opts->threads ? opts->threads : most;
    if (threads > most)
        return oc_fail(err, OC_EARG, "%u threads requested, but this process may use only %u processors",
                       threads, most);
    struct oc_hw_measurement *h = oc_xmalloc(sizeof(*h));
    *h = (struct oc_hw_measurement){.m = {.threads = threads, .quick = opts->quick}};
    h->diags.arena = &h->arena;
    oc_machine_ask(&h->arena, threads, &h->m.machine);
    h->m.features = oc_cpu_features();
    set_date(&h->m);
    int rc = oc_team_make(threads, &team, err);
    if (!rc)
        rc = measure_all(team, opts, &plan, &h->m, err);
    oc_team_free(team);
    if (!rc) {
        oc_measured_write_xml(&h->m, &h->xml);
        oc_measured_judge(&h->m, &h->diags);
        rc = oc_hw_read_mem("measured", h->xml.data, h->xml.n, &h->arena, &h->list, err);
    }
    if (!rc)
        *out = h;
    else
        oc_hw_measurement_free(h);
    return rc;
}

void oc_hw_measurement_free(struct oc_hw_measurement *h)
{
    if (!h)
        return;
    oc_buf_free(&h->xml);
    oc_diags_free(&h->diags);
    free(h->list.item);
    oc_arena_free(&h->arena);
    free(h);
}

const struct oc_device *oc_hw_measurement_device(const struct oc_hw_measurement *h)
{
    return h->list.item[0];
}

size_t oc_hw_measurement_diags(const struct oc_hw_measurement *h, const struct oc_diag **out)
{
    *out = h->diags.item;
    return h->diags.n;
}

int oc_hw_measurement_write(const struct oc_hw_measurement *h, const char *format, unsigned width_chars,
                            FILE *out, struct oc_err *err)
{
    OC_ENTRY(err);
    if (!format || strcmp(format, "xml") != 0)
        return oc_device_write(h->list.item[0], format, width_chars, out, err);
    fwrite(h->xml.data, 1, h->xml.n, out);
    return ferror(out) ? oc_fail(err, OC_EOUTPUT, "cannot write the device file") : 0;
}
