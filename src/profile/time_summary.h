/* Summaries over the events of a profile, with one set of definitions for every source (those of Paddle's
 * Profiler.summary()):
 *   total     length of the interval union of the used runs; without runs, first start to last end
 *   overview  per kind of event, length of the interval union over all threads and streams: kinds overlap
 *   model     outermost phases (data loading, forward, backward, optimization); others = total - their sum
 *   operator  a call's host time is its duration; its device time that of the work it owns: the outermost operator
 *             with a name of its own (aten::conv2d) owns all that was launched inside it, and those inside have none.
 *             With the rows of what no operator owns, device times add up to that of the device.
 *   kernel    device work by name
 * If a source has no single events, the tables are filled from records where possible. Times in
 * nanoseconds. */
#ifndef OC_TIME_SUMMARY_H
#define OC_TIME_SUMMARY_H

#include <math.h>

#include "profile/core/places.h"
#include "profile/core/timeline.h"

struct oc_times { /* per call */
    uint64_t calls;
    double total_ns, min_ns, max_ns; /* min, max: NAN if the source reports sums only */
    bool known;                      /* false: no time, all other members are 0 */
    bool uncounted;                  /* the source has no number of calls for some of the time */
};

/* 0: unknown */
static inline uint64_t oc_times_calls(const struct oc_times *t)
{
    return t->uncounted ? 0 : t->calls;
}

/* NAN: unknown */
static inline double oc_times_avg(const struct oc_times *t)
{
    return t->known && oc_times_calls(t) ? t->total_ns / (double)t->calls : (double)NAN;
}

struct oc_sum_item {
    const char *name;
    const char *type;      /* operator type, or kind of device work; "" if unknown */
    const char *precision; /* of kernels, "" if unknown */
    const char *place; /* process or device, where there are several; NULL: the only one, or all of them */
    uint32_t lane;     /* thread, OC_NONE: all of them */
    uint8_t depth;     /* 0; 1: part of the previous item with depth 0; 2: kernel of a part */
    uint8_t kind;      /* enum oc_event_kind */
    struct oc_times host, device;
    struct oc_times both; /* sum of host and device time per call, as Paddle Inference reports it */
    uint64_t bytes;       /* copies, UINT64_MAX: unknown */
};

struct oc_sum_list {
    struct oc_sum_item *item;
    uint32_t n, cap;
};

struct oc_sum_kind { /* one row of the overview */
    uint8_t kind;
    uint64_t calls;
    double union_ns;
};

struct oc_sum_lane { /* a thread, a stream, or a whole device (lane OC_NONE) */
    uint32_t lane;
    bool device;
    const char *place; /* of a device, where there are several; NULL */
    int64_t device_id;
    uint64_t events;
    double busy_ns;   /* interval union of its outermost work; a thread: without steps, phases and
                       * annotations */
    double idle_ns;   /* time within the runs, or from its first start to its last end */
    double kernel_ns; /* interval union of kernels, like busy_ns in the runs if there are any; devices only */
    double recording_kernel_ns; /* the same with kernels between the runs, as in the overview */
    double longest_gap_ns;
};

struct oc_spread { /* over runs */
    uint32_t n;
    double min, max, mean, median, stddev, p90, p99; /* NAN without runs */
};

struct oc_sum_table_opts {
    bool per_thread, op_detail;
    const char *sort;        /* sort key of the operator tables, see oc_summary_sort_check; NULL: CPUTotal */
    const char *search;      /* only names that contain this text, ignoring case; NULL: all */
    double samples_per_step; /* 0: unknown */
    const struct oc_kernel_names *kernel_names; /* given by the user, NULL: none */
};

struct oc_time_summary {
    struct oc_arena arena;
    const struct oc_profile *profile;
    bool has_events, has_device;
    double total_ns;
    const char *total_is;                                      /* how total_ns was computed */
    struct oc_sum_kind host[OC_EV_COUNT], device[OC_EV_COUNT]; /* sorted by time, longest first */
    uint32_t n_host, n_device;
    struct oc_sum_lane *lane; /* devices, then streams and threads; arena */
    uint32_t n_lane;
    struct oc_sum_list model;                            /* phases; the last one is "Others" */
    double communication_ns, computation_ns, overlap_ns; /* NAN: no communication */
    struct oc_sum_list operators, types, kernels, memory, user, copies;
    struct oc_spread run, device_run; /* duration of a run; device time in it */
    uint32_t slowest_run, runs_dropped;
    struct oc_spread reader_cost, batch_cost; /* waiting for data in a step; the whole step */
    struct oc_spread ips;                     /* samples per second */
};

/* Part of the total time; NAN: unknown. */
static inline double oc_summary_part(const struct oc_time_summary *s, double ns)
{
    return s->total_ns > 0 ? ns / s->total_ns : (double)NAN;
}

/* The profile must have been opened with keep_events for full tables. It must outlive the summary. */
struct oc_time_summary *oc_time_summary_make(const struct oc_profile *p,
                                             const struct oc_sum_table_opts *opts);
void oc_time_summary_free(struct oc_time_summary *s);

/* Keys: CPUTotal, CPUAvg, CPUMax, CPUMin, GPUTotal, GPUAvg, GPUMax, GPUMin; case is ignored. The Min keys
 * sort ascending. "time" is the order without a key. */
int oc_summary_sort_check(const char *key, struct oc_err *err); /* OC_EARG: no such key */

/* ---- private to time_summary.c and time_items.c ----------------------------------------------------- */

void oc_summary_times(struct oc_times *t, double ns);
struct oc_cover { /* length of the union of intervals sorted by start */
    double end_ns, sum_ns, longest_gap_ns;
    uint64_t n;
};
/* Items of operators, kernels, copies and annotations (time_items.c). device_ns: of each event with those inside it;
 * own_ns: of the work that it owns; places: NULL: one. */
void oc_summary_event_items(struct oc_time_summary *s, const struct oc_sum_table_opts *opts,
                            const double *device_ns, const double *own_ns, const struct oc_places *places);
void oc_summary_record_items(struct oc_time_summary *s, const struct oc_sum_table_opts *opts);
/* "ProfileStep": the word of Paddle for a kind of event. */
const char *oc_summary_kind_word(unsigned kind);
bool oc_summary_used(const struct oc_timeline *t, const struct oc_event *e);

#endif
