/* Private to the launch engine: launches.c collects launches, launch_runs.c detects runs and sums per run,
 * launch_records.c creates the records. */
#ifndef OC_LAUNCH_PARTS_H
#define OC_LAUNCH_PARTS_H

#include "profile/launches.h"
#include "profile/rec_list.h"
#include "profile/run_sums.h"

#define LAUNCH_MEMO 1024

enum { LAUNCH_CUT = OC_NONE - 1 }; /* the last, incomplete repetition of a run */

struct launch_entry { /* 32 bytes: a trace may hold 10^8 of them */
    double start_ns, dur_ns;
    uint32_t group, run;
    uint32_t lane, shape;
};

struct launch_group { /* launches with the same name and label */
    const char *name;
    uint32_t label, lane, rec;
    uint8_t kind;
    uint64_t first, n; /* index range in the sorted order */
    uint64_t where;
    double bytes, flop; /* sums over launches with a known value */
    uint64_t n_bytes, n_flop;
    struct launch_counters *counters; /* scratch, NULL: none */
};

struct launch_counters {
    double sum[OC_CTR_COUNT];
    uint64_t n[OC_CTR_COUNT];
};

struct launch_host_time {
    uint32_t label, run;
    double dur_ns;
};

struct launch_run {
    double busy_ns, first_ns, end_ns; /* first launch and end of its launches */
};

struct oc_launches {
    struct oc_profile *out;
    const struct oc_profile_opts *opts;
    struct oc_arena scratch;
    struct launch_entry *entry;
    size_t n, cap;
    struct launch_group *group;
    size_t n_group, group_cap;
    struct oc_map groups, labels, lanes; /* keys: raw bytes of small structs */
    struct oc_label *label;
    size_t n_label, label_cap;
    struct launch_host_time *host;
    size_t n_host, host_cap;
    struct oc_lane *lane;
    size_t n_lane, lane_cap;
    struct {
        const char *name;
        uint32_t label, group;
    } memo[LAUNCH_MEMO];
    bool unsorted;
    double total_ns; /* totals over all launches, summed on arrival */
    /* used only while finishing */
    struct launch_run *run;
    uint32_t n_run, drop;
    uint32_t *order;
    struct oc_run_sums sums, group_sums;
    struct oc_rec_list recs;
};

static inline bool launch_is_used(const struct oc_launches *l, const struct launch_entry *e)
{
    return e->run >= l->drop && e->run < l->n_run;
}

/* Sorts the launches, detects the runs (n_run 0: by repetition) and computes their durations. Returns
 * whether runs are known. */
bool launch_find_runs(struct oc_launches *l, uint32_t n_run);

#endif
