/* Converts a sequence of device launches from a GPU trace into records (one per label, the layer or
 * operator that launched the work), kernels and runs. Importers set the label and the run where the source
 * reports them; the remaining launches go to named buckets. Independent of formats.
 *
 * A launch takes 32 bytes until oc_launches_finish, and 4 more during it. Times are nanoseconds as double. */
#ifndef OC_LAUNCHES_H
#define OC_LAUNCHES_H

#include "onnxcost_types.h"
#include "profile/profile.h"

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
    double start_ns, dur_ns;
    const char *name;                        /* interned */
    uint32_t label;                          /* from oc_launches_label; OC_NONE: unknown */
    uint32_t run;                            /* index of the run; OC_NONE: in no run */
    uint32_t lane;                           /* index of the lane in the profile */
    uint32_t shape;                          /* equal for equal grids and blocks; 0: unknown */
    uint8_t kind;                            /* OC_EV_KERNEL, OC_EV_MEMCPY, OC_EV_MEMSET */
    double bytes, flop;                      /* measured; NAN: not measured */
    const struct oc_prof_counters *counters; /* NULL: none */
    uint64_t where;
};

struct oc_launches;

/* Fills out->rec, kernel, runs and totals in oc_launches_finish. opts and out must stay valid until then. */
struct oc_launches *oc_launches_new(struct oc_profile *out, const struct oc_profile_opts *opts);
void oc_launches_free(struct oc_launches *l);

/* The number of a label: equal for equal name, type, index and `variant` (NULL: none), a text that
 * separates labels that are otherwise equal. */
uint32_t oc_launches_label(struct oc_launches *l, const struct oc_label *label, const char *variant);

/* Adds host time under a label in a run. */
void oc_launches_host(struct oc_launches *l, uint32_t label, uint32_t run, double dur_ns);

/* false: too many launches */
bool oc_launches_add(struct oc_launches *l, const struct oc_launch *launch);
size_t oc_launches_count(const struct oc_launches *l);

/* Index of the lane in out->lane; adds it if new. */
uint32_t oc_launches_lane(struct oc_launches *l, int64_t process, int64_t device, int64_t stream);

/* n_run: number of runs that the source marks; 0: detect them by repetition of the same launches. The
 * duration of a run is that of its device work. kernels_are_records: a kernel without a label becomes a
 * record under its own name, for sources that report only kernels; otherwise it goes to the bucket
 * "kernels without operator". */
void oc_launches_finish(struct oc_launches *l, uint32_t n_run, bool kernels_are_records);

#endif
