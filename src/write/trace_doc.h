/* A document in the Trace Event Format (the object form), as chrome://tracing and Perfetto read it:
 * processes with lanes, slices of time on them, arrows between slices, counters. Enforces the rules of the
 * format: metadata first, events sorted by time, slices of a lane nested or disjoint. Slices that overlap
 * partially go to a copy of their lane. Independent of reports.
 *
 * Times are nanoseconds; they are rounded to integers and written as microseconds with all digits. Texts
 * are borrowed until the document is written. */
#ifndef OC_TRACE_DOC_H
#define OC_TRACE_DOC_H

#include "base/json_write.h"

struct oc_trace_slice {
    int64_t start_ns, end_ns;
    const char *name;
    const char *category; /* NULL: a counter, whose value is `tag` */
    uint64_t tag;         /* owned by the caller */
    uint32_t lane;        /* a counter: index of its process */
    uint32_t depth;
    uint32_t event; /* number of the slice for arrows to others, OC_NONE */
    uint32_t cause; /* event of the slice that an arrow comes from, OC_NONE */
    uint32_t order; /* private */
};

struct oc_trace_lane {
    const char *name;
    uint32_t process;
    uint32_t copy_of; /* the lane that this one is a copy of, or itself; next_copy: OC_NONE after the last */
    uint32_t next_copy;
    int64_t *open; /* private: stack of ends of the enclosing slices; on the heap */
    uint32_t n_open, cap_open;
};

struct oc_trace {
    const char **process; /* on the heap: names */
    uint32_t n_process, cap_process;
    struct oc_trace_lane *lane; /* heap */
    uint32_t n_lane, cap_lane;
    struct oc_trace_slice *slice; /* heap */
    size_t n_slice, cap_slice;
    size_t left_out; /* dropped slices: too many overlap */
};

uint32_t oc_trace_process(struct oc_trace *t, const char *name);
uint32_t oc_trace_lane(struct oc_trace *t, uint32_t process, const char *name);
/* Of slices with equal ends the one with the lower depth is the parent, otherwise the one added first. Returns the slice,
 * valid until the next call, without arrows; NULL: its times are too large. */
struct oc_trace_slice *oc_trace_add(struct oc_trace *t, uint32_t lane, double start_ns, double dur_ns,
                                    const char *name, const char *category, uint64_t tag, uint32_t depth);
void oc_trace_count(struct oc_trace *t, uint32_t process, double at_ns, const char *name, uint64_t value);

/* Arguments of a slice and document metadata, written between existing braces. `args` may be NULL. */
struct oc_trace_writer {
    void (*args)(void *ctx, struct oc_json_out *w, const struct oc_trace_slice *s); /* arguments of a slice */
    void (*about)(void *ctx, struct oc_json_out *w); /* members of "otherData": texts */
    void *ctx;
};
void oc_trace_write(struct oc_trace *t, const struct oc_trace_writer *how, FILE *f);
void oc_trace_free(struct oc_trace *t);

#endif
