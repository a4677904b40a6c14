#include "measure/measure.h"

/* The last samples of a peak are this much below its best: the machine does not hold it. */
#define HOLDS 0.9
/* The median of the samples is this much below the best: others were at work. */
#define QUIET 0.8

unsigned oc_measured_noisy(const struct oc_measured *m)
{
    unsigned n = 0;
    for (unsigned i = 0; i < m->n_peak; i++)
        n += m->peak[i].all.median < QUIET * m->peak[i].all.best;
    return n;
}

static void judge_peaks(const struct oc_measured *m, struct oc_diags *out)
{
    unsigned slow = 0, noisy = oc_measured_noisy(m);
    for (unsigned i = 0; i < m->n_peak; i++)
        slow += m->peak[i].all.late < HOLDS * m->peak[i].all.best;
    if (noisy)
        oc_diag_add(
            out, OC_WARNING, "W-hw-busy", "peaks",
            "%u of %u peaks: most samples are far below the best; other programs were at work, or the "
            "machine has fewer processors than it says",
            noisy, m->n_peak);
    else if (slow)
        oc_diag_add(
            out, OC_WARNING, "W-hw-slows-down", "peaks",
            "%u of %u peaks fell more than %.0f %% while they were measured: the machine slows down under "
            "load; the figures are its best",
            slow, m->n_peak, 100 * (1 - HOLDS));
}

static void judge_levels(const struct oc_measured *m, struct oc_diags *out)
{
    for (unsigned i = 0; i + 1 < m->levels.n; i++) {
        const struct oc_level_rates *l = &m->levels.level[i];
        if (l->border_bytes && !l->agrees)
            oc_diag_add(out, OC_WARNING, "W-hw-cache-size", l->name,
                        "the system claims %.6g KiB, one core's reading rate falls at %.4g KiB",
                        (double)l->claim.bytes / 1024, (double)l->border_bytes / 1024);
        else if (!l->border_bytes)
            oc_diag_add(out, OC_WARNING, "W-hw-cache-unseen", l->name,
                        "the system claims %.6g KiB, one core's reading rate does not show it",
                        (double)l->claim.bytes / 1024);
    }
    if (m->levels.n == 1)
        oc_diag_add(out, OC_WARNING, "W-hw-no-caches", "caches",
                    "the system does not say what caches there are: none was measured");
    if (m->levels.flatness < 0.95)
        oc_diag_add(
            out, OC_WARNING, "W-hw-small-memory", "DRAM",
            "%zu MiB were worked with, and half of it was still faster for one core: caches help the figures",
            m->levels.block_bytes >> 20);
}

void oc_measured_judge(const struct oc_measured *m, struct oc_diags *out)
{
    if (m->quick)
        oc_diag_add(out, OC_WARNING, "W-hw-quick", "all",
                    "a quick trial: the samples are too few and too short, memory was measured in caches");
    if (m->features & OC_CPU_AMX_REFUSED)
        oc_diag_add(out, OC_WARNING, "W-hw-amx", "matrix",
                    "the processor has matrix tiles (AMX), the system does not let this process use them");
    judge_peaks(m, out);
    if (!m->quick)
        judge_levels(m, out);
}
