/* A loop of multiply-adds on registers that is timed between the runs of a recording. Other machines of the host, or its
 * limits of power, can halve the rate of the vector units for seconds while the system counts no steal time; the runs'
 * own times do not show that, because they are slow together. The loop touches no memory, so that it leaves the caches of
 * the model alone. */
#include "measure/vector_probe.h"

#include <math.h>
#include <time.h>

#include "measure/measure.h"
#include "shape/type.h"

/* Of one probe: the resolution of the clock and a call are far below 1 % of it. */
static const double LEAST_NS = 100e3;
enum {
    CALIBRATIONS = 5,
    LEAST_PROBES = 8, /* of a session: fewer say nothing about its runs */
};

static double probe_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The widest multiply-adds of f32 that this processor has; NULL: none is known. */
static const struct oc_peak_kernel *widest_kernel(void)
{
    uint32_t features = oc_cpu_features();
    const struct oc_peak_kernel *k;
    for (size_t i = 0; (k = oc_peak_kernel(i)); i++)
        if (k->unit == OC_HW_VECTOR && k->cls == OC_CLASS_F32 && !k->adds &&
            (k->needs & features) == k->needs)
            return k;
    return NULL;
}

static double time_probe(const struct oc_probe *p)
{
    double from = probe_now_ns();
    volatile double sum = p->kernel->run(p->rounds, 1, 1, 0);
    (void)sum;
    return (probe_now_ns() - from) / (double)p->rounds;
}

void oc_probe_begin(struct oc_probe *p)
{
    *p = (struct oc_probe){.kernel = widest_kernel(), .rounds = 64, .fastest_ns = INFINITY};
    while (p->kernel && time_probe(p) * (double)p->rounds < LEAST_NS)
        p->rounds *= 2;
    for (int i = 0; p->kernel && i < CALIBRATIONS; i++)
        oc_probe_run(p);
    p->sum_ns = 0;
    p->n = 0;
}

void oc_probe_run(struct oc_probe *p)
{
    if (!p->kernel)
        return;
    double ns = time_probe(p);
    p->sum_ns += ns;
    p->n++;
    p->fastest_ns = ns < p->fastest_ns ? ns : p->fastest_ns;
}

double oc_probe_mean_ns(const struct oc_probe *p)
{
    return p->n >= LEAST_PROBES ? p->sum_ns / (double)p->n : 0;
}
