/* The events of a profile in time: what summaries, gaps and drawings need. Importers of traces add events in
 * any order; oc_timeline_finish sorts them, nests those of one lane, finds runs and links device work to the
 * call that launched it. Times are double nanoseconds from the first event. A kept event takes 48 bytes at
 * most: names and details stand in tables of their own. Knows nothing of formats. */
#ifndef OC_TIMELINE_H
#define OC_TIMELINE_H

#include "profile/profile.h"

enum oc_event_kind {
    /* host */
    OC_EV_OPERATOR,
    OC_EV_INNER, /* a part of an operator: infer_shape, compute */
    OC_EV_STEP,  /* one run: a step of training, a call of inference */
    OC_EV_DATALOADER,
    OC_EV_FORWARD,
    OC_EV_BACKWARD,
    OC_EV_OPTIMIZATION,
    OC_EV_COMMUNICATION,
    OC_EV_API,  /* a call of the device runtime or driver */
    OC_EV_SYNC, /* such a call that waits */
    OC_EV_USER, /* an annotation: NVTX, record_function, RecordEvent */
    OC_EV_PYTHON,
    OC_EV_FRAMEWORK, /* other work of the runtime: loading, initialising */
    /* device */
    OC_EV_KERNEL,
    OC_EV_MEMCPY,
    OC_EV_MEMSET,
    OC_EV_DEVICE_RANGE, /* an annotation as seen by the device */
    OC_EV_COUNT
};
const char *oc_event_kind_name(unsigned kind);
static inline bool oc_event_on_device(unsigned kind)
{
    return kind >= OC_EV_KERNEL;
}

struct oc_event {
    double start_ns, dur_ns;
    uint32_t name;   /* index into names */
    uint32_t parent; /* innermost event of the same lane that contains it, OC_NONE */
    uint32_t link;   /* device work: the event that launched it; OC_NONE: unknown */
    uint32_t detail; /* index into details, OC_NONE */
    uint32_t run;    /* index into runs, OC_NONE: in none */
    uint16_t lane;   /* index into the profile's lanes */
    uint8_t kind;    /* enum oc_event_kind */
};

struct oc_event_detail { /* shared by events with the same */
    const struct oc_type *in;
    uint32_t n_in;
    uint32_t device_index; /* launch geometry etc. are not kept; see oc_prof_kernel */
    uint64_t bytes;        /* of a copy, UINT64_MAX: unknown */
    const char *text;      /* call stack, copy kind ...; NULL */
};

struct oc_interval {
    double start_ns, end_ns;
};

struct oc_timeline {
    struct oc_event *event; /* heap; by start, longer ones first, after oc_timeline_finish */
    size_t n_event, cap_event;
    const char **name; /* heap array of interned texts */
    uint32_t n_name, cap_name;
    struct oc_event_detail *detail; /* heap */
    uint32_t n_detail, cap_detail;
    struct oc_interval *run; /* heap; the runs of the file in order, warm-up included */
    uint32_t n_run, cap_run, first_used_run;
    double cpu_process_share, cpu_system_share; /* utilisation as the source says, NAN */
};

#endif
