/* Records of a timeline while they are made: shared by timeline_records.c and timeline_groups.c. */
#ifndef OC_TIMELINE_PARTS_H
#define OC_TIMELINE_PARTS_H

#include "profile/run_sums.h"
#include "profile/timeline.h"

/* Events that are summed together. */
struct calls {
    uint32_t n;
    uint32_t end; /* their indices stand in `order` up to here; OC_NONE: not now */
};

/* Calls that have one record. */
struct group {
    uint32_t name, detail, parent, lane;
    struct calls calls;    /* on the host */
    uint32_t first_kernel; /* index into kernels, OC_NONE */
    uint32_t rec;
    double start_ns; /* of the first call, in its run */
    uint32_t run;
    uint32_t caller, position; /* OC_NONE: positions do not count */
    uint32_t next;             /* group of the operator that followed last time, OC_NONE */
};

struct kernel {
    uint32_t name, group, next;
    uint32_t likely; /* kernel that followed last time, OC_NONE */
    struct calls calls;
    uint16_t lane;
    uint8_t kind;
};

/* Calls of one name, for their positions. */
struct caller {
    uint32_t run, n;
};

enum bucket { B_FRAMEWORK, B_WITHOUT, B_COPIES, B_WARMUP, B_OUTSIDE, B_COUNT };

struct left { /* what a bucket holds */
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
    uint32_t n_group, cap_group, last_group; /* last_group: of the operator before, OC_NONE */
    struct caller *caller;
    uint32_t n_caller, cap_caller;
    struct kernel *kernel;
    uint32_t n_kernel, cap_kernel, last_kernel;
    uint32_t *order; /* events of some groups and kernels, one after the other */
    size_t n_order, cap_order, max_order;
    struct left left[B_COUNT];
    double *sum[B_COUNT];         /* by run: buckets with statistics */
    struct oc_run_sums all, part; /* part: self times, or one of several kernels */
    double *value, *busy;
    double *run_reached, *lane_reached; /* time up to which busy, and host_ns, are summed */
    double host_ns;                     /* union of operators and runs by lane */
    bool host;
};

/* Every event with a record: its group into link, of device work into parent (OC_NONE: in no used run). Goes
 * through all events in turns. False: too many groups. */
void oc_timeline_begin_groups(struct making *m);
bool oc_timeline_make_groups(struct making *m, size_t from, size_t to);
void oc_timeline_forget_groups(struct making *m);

/* Indices of the calls of groups list[from ...] into order, kernels of these included, until it is full.
 * Returns the group to go on with. Events tell their group or kernel in link and parent (timeline_records.c).
 */
uint32_t oc_timeline_order_groups(struct making *m, const uint32_t *list, uint32_t from, uint32_t n);
/* Likewise kernels from `from` on that no record has summed. */
uint32_t oc_timeline_order_kernels(struct making *m, uint32_t from);

#endif
