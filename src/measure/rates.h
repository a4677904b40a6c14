/* Best rate of a workload: repeats it for a while and takes the fastest time, since interference only makes
 * it slower. The other samples show whether the speed is sustained. */
#ifndef OC_RATES_H
#define OC_RATES_H

#include "measure/cpu_kernels.h"
#include "measure/team.h"

struct oc_rate {
    double best;   /* units of work per second */
    double median; /* of all samples */
    double late;   /* median of the last third: below the best if the machine slows down under load */
    unsigned samples;
};

struct oc_effort {   /* duration of sampling */
    double sample_s; /* minimum duration of one sample */
    double total_s;
    double more_s; /* extra time while most samples are far from the best: other programs are running */
};

/* Each of `active` threads runs `rounds` rounds of the work, `units` per round. */
struct oc_task {
    void (*work)(const struct oc_task *task, unsigned index, uint64_t rounds);
    const void *what; /* argument of `work` */
    double units;     /* per round of one thread */
};
struct oc_rate oc_rate_of(struct oc_team *team, unsigned active, const struct oc_task *task,
                          const struct oc_effort *effort);

struct oc_rate oc_rate_of_peak(struct oc_team *team, unsigned active, const struct oc_peak_kernel *kernel,
                               const struct oc_effort *effort);
struct oc_rate oc_rate_of_clock(struct oc_team *team, unsigned active, const struct oc_effort *effort);

/* Arrays of a stream: thread i uses block + i * stride, with consecutive arrays of `bytes`. */
struct oc_stream_place {
    char *block;
    size_t stride, bytes;
};
/* Bytes per second. */
struct oc_rate oc_rate_of_stream(struct oc_team *team, unsigned active, const struct oc_stream_kernel *kernel,
                                 const struct oc_stream_place *place, const struct oc_effort *effort);

/* Seconds of an empty parallel region, median of `n`. idle_s: pause between two regions. */
double oc_region_time(struct oc_team *team, unsigned n, double idle_s);

struct oc_timer {
    double step_s, read_s; /* clock resolution, time of one reading */
};
struct oc_timer oc_timer_of(void);

#endif
