/* Records of a timeline under construction: shared by timeline_records.c and timeline_groups.c. */
#ifndef OC_TIMELINE_PARTS_H
#define OC_TIMELINE_PARTS_H

#include "profile/core/run_sums.h"
#include "profile/core/timeline.h"
#include "onnxcost_types.h"

/* Events that are summed together. */
struct calls {
    uint32_t n;
    uint32_t end; /* their indices in `order` end here; OC_NONE: not collected */
};

/* Calls that share one record. */
struct group {
    uint32_t name, detail, parent, lane;
    struct calls calls;    /* time on the host */
    uint32_t first_kernel; /* index into kernels, OC_NONE */
    uint32_t rec;
    double start_ns; /* start of the first call, relative to its run */
    uint32_t run;
    uint32_t caller, position; /* position among the calls of that name; OC_NONE: positions are ignored */
    uint32_t next;             /* group of the next operator last time (prediction), OC_NONE */
};

struct kernel {
    uint32_t name, group, next;
    uint32_t likely; /* next kernel last time (prediction), OC_NONE */
    struct calls calls;
    uint16_t lane;
    uint8_t kind;
};

/* Calls of one name, for their positions. */
struct caller {
    uint32_t run, n;
};

enum bucket { B_FRAMEWORK, B_WITHOUT, B_COPIES, B_WARMUP, B_OUTSIDE, B_COUNT };

struct left { /* contents of a bucket */
    double host_ns, device_ns;
    uint64_t calls;
    bool host, device;
};

struct making {
    struct oc_timeline *t;
    enum oc_stat stat;
    bool positions, device; /* the file has device work */
    struct oc_arena scratch;
    struct oc_map group_of, caller_of, kernel_of;
    struct group *group;
    uint32_t n_group, cap_group, last_group; /* last_group: of the previous operator, OC_NONE */
    struct caller *caller;
    uint32_t n_caller, cap_caller;
    struct kernel *kernel;
    uint32_t n_kernel, cap_kernel, last_kernel;
    uint32_t *order; /* events of some groups and kernels, concatenated */
    size_t n_order, cap_order, max_order;
    struct left left[B_COUNT];
    double *sum[B_COUNT];         /* per run: buckets with statistics */
    struct oc_run_sums all, part; /* part: self times, or one of several kernels */
    double *value, *busy;
    double *run_reached, *lane_reached; /* time up to which busy and host_ns are summed */
    double host_ns;                     /* interval union of operators and runs per lane */
    bool host;
};

/* For every event with a record: stores its group in link, and for device work in parent (OC_NONE: in no
 * used run). Processes the events block by block. False: too many groups. */
void oc_timeline_begin_groups(struct making *m);
bool oc_timeline_make_groups(struct making *m, size_t from, size_t to);
void oc_timeline_forget_groups(struct making *m);

/* Collects the indices of the calls of groups list[from ...] and of their kernels in `order` until it is
 * full. Returns the group to continue with. link and parent hold the group or kernel of an event
 * (timeline_records.c). */
uint32_t oc_timeline_order_groups(struct making *m, const uint32_t *list, uint32_t from, uint32_t n);
/* The same for kernels from `from` on that are not part of a record. */
uint32_t oc_timeline_order_kernels(struct making *m, uint32_t from);

#endif
