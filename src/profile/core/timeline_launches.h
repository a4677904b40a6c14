/* Launches: device work whose source says itself what it is for, by a label (layer, node, NVTX range), instead of host
 * events that launched it. They are the only events of their timeline, 48 bytes each. Independent of formats.
 *
 *     struct oc_timeline *t = oc_timeline_new(out);
 *     x.lane = oc_timeline_stream(t, process, device, stream); x.label = oc_timeline_label(t, &label, variant);
 *     oc_timeline_launch(t, &x);                        in any order
 *     oc_timeline_launches_end(t, opts, n_run, ...);    fills the profile
 *     oc_timeline_free(t); */
#ifndef OC_TIMELINE_LAUNCHES_H
#define OC_TIMELINE_LAUNCHES_H

#include "onnxcost_types.h"
#include "profile/core/timeline.h"

/* What a launch works for: a layer, a node, an operator. Texts are interned in the profile. */
struct oc_label {
    const char *name, *op_type, *provider;
    int64_t index; /* -1: unknown */
    const struct oc_type *in;
    uint32_t n_in;
    bool has_in;
};

/* Sets name, type, provider, index and inputs of the record. */
void oc_label_describe(const struct oc_label *label, struct oc_prof_rec *rec);

struct oc_launch {
    double start_ns, dur_ns;                 /* on any clock */
    const char *name;                        /* interned */
    uint32_t label;                          /* from oc_timeline_label; OC_NONE: unknown */
    uint32_t run;                            /* index of the run; OC_NONE: in no run */
    uint32_t shape;                          /* equal for equal grids and blocks; 0: unknown */
    uint16_t lane;                           /* index of the lane in the profile */
    uint8_t kind;                            /* OC_EV_KERNEL, OC_EV_MEMCPY, OC_EV_MEMSET */
    double bytes, flop;                      /* measured; NAN: not measured */
    const struct oc_prof_counters *counters; /* NULL: none */
    uint64_t where;
};

/* The number of a label: equal for equal name, type, index and `variant` (NULL: none), a text that
 * separates labels that are otherwise equal. */
uint32_t oc_timeline_label(struct oc_timeline *t, const struct oc_label *label, const char *variant);

/* Adds host time under a label in a run. */
void oc_timeline_host_time(struct oc_timeline *t, uint32_t label, uint32_t run, double dur_ns);

/* False: the timeline is full. */
bool oc_timeline_launch(struct oc_timeline *t, const struct oc_launch *launch);

uint16_t oc_timeline_stream(struct oc_timeline *t, int64_t process, int64_t device, int64_t stream);

/* Fills rec, kernel, lane, runs and totals of the profile: one record per label. n_run: number of runs that the
 * source marks; 0: detect them by repetition of the same launches. The duration of a run is that of its device
 * work. kernels_are_records: a kernel without a label becomes a record under its own name, for sources that
 * report only kernels; otherwise it goes to the bucket "kernels without operator". */
void oc_timeline_launches_end(struct oc_timeline *t, const struct oc_profile_opts *opts, uint32_t n_run,
                              bool kernels_are_records);

#endif
