/* How fast something goes at best: it is done again and again for a while, and the fastest time counts, since
 * whatever else happens on a machine only makes it slower. The others tell whether the speed lasts. */
#ifndef OC_RATES_H
#define OC_RATES_H

#include "measure/cpu_kernels.h"
#include "measure/team.h"

struct oc_rate {
    double best;   /* units of work per second */
    double median; /* of all samples */
    double late;   /* median of the last third: below the best where the machine slows down under load */
    unsigned samples;
};

struct oc_effort {   /* how long to look */
    double sample_s; /* of one sample, at least */
    double total_s;
    double more_s; /* added while most samples are far from the best: others are at work */
};

/* Every one of `active` threads does `rounds` rounds of the work, `units` each. */
struct oc_task {
    void (*work)(const struct oc_task *task, unsigned index, uint64_t rounds);
    const void *what; /* for `work` */
    double units;     /* of a round of one thread */
};
struct oc_rate oc_rate_of(struct oc_team *team, unsigned active, const struct oc_task *task,
                          const struct oc_effort *effort);

struct oc_rate oc_rate_of_peak(struct oc_team *team, unsigned active, const struct oc_peak_kernel *kernel,
                               const struct oc_effort *effort);
struct oc_rate oc_rate_of_clock(struct oc_team *team, unsigned active, const struct oc_effort *effort);

/* Arrays of a stream: thread i works in block + i * stride, with arrays of `bytes`, one behind the other. */
struct oc_stream_place {
    char *block;
    size_t stride, bytes;
};
/* Bytes per second. */
struct oc_rate oc_rate_of_stream(struct oc_team *team, unsigned active, const struct oc_stream_kernel *kernel,
                                 const struct oc_stream_place *place, const struct oc_effort *effort);

/* Seconds that an empty parallel region takes, the median of `n`. idle_s: between two of them. */
double oc_region_time(struct oc_team *team, unsigned n, double idle_s);

struct oc_timer {
    double step_s, read_s; /* smallest step that is seen, time that a reading takes */
};
struct oc_timer oc_timer_of(void);

#endif
