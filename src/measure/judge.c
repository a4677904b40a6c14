#include "measure/measure.h"

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

static void judge_peaks(const struct oc_measured *m, struct oc_diags *out)
{
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

static void judge_levels(const struct oc_measured *m, struct oc_diags *out)
{
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
