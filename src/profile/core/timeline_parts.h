/* Records of a timeline under construction: shared by timeline_records.c and timeline_groups.c. */
#ifndef OC_TIMELINE_PARTS_H
#define OC_TIMELINE_PARTS_H

#include "onnxcost_types.h"
#include "profile/core/places.h"
#include "profile/core/run_spread.h"
#include "profile/core/timeline.h"

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
    uint32_t work;             /* of launches: the first work */
    uint16_t place;            /* OC_NO_PLACE */
    bool rest;                 /* a kernel without an operator */
};

struct kernel {
    uint32_t name, group, next;
    uint32_t likely; /* next kernel last time (prediction), OC_NONE */
    uint32_t work;   /* of launches */
    struct calls calls;
    uint16_t lane;
    uint8_t kind;
};

/* Calls of one name, for their positions. */
struct caller {
    uint32_t run, n;
};

enum bucket { B_FRAMEWORK, B_COPIES, B_WARMUP, B_INCOMPLETE, B_OUTSIDE, B_COUNT };

struct left { /* contents of a bucket */
    double host_ns, device_ns;
    uint64_t calls;
    bool host, device;
};

struct making {
    struct oc_timeline *t;
    struct oc_run_choice choice; /* the runs that times are means of */
    bool positions, device;      /* the file has device work */
    struct oc_places *places;    /* NULL: one */
    struct oc_arena scratch;
    struct oc_map group_of, caller_of, kernel_of;
    struct group *group;
    uint32_t n_group, cap_group, last_group; /* last_group: of the previous operator, OC_NONE */
    uint32_t *list, n_list;                  /* groups with a record, in its order */
    struct caller *caller;
    uint32_t n_caller, cap_caller;
    struct kernel *kernel;
    uint32_t n_kernel, cap_kernel, last_kernel;
    uint32_t *order; /* events of some groups and kernels, concatenated */
    size_t n_order, cap_order, max_order;
    struct left left[B_COUNT];
    double *sum[B_COUNT];         /* per run: buckets with statistics */
    struct oc_run_sums all, part; /* part: self times, or one of several kernels */
    double *busy, *device_busy;   /* per run */
    double *run_reached, *device_reached,
        *lane_reached; /* time up to which busy, device_busy, host_ns are summed */
    double host_ns;    /* interval union of operators and runs per lane */
    bool host;
    bool host_records; /* operators ran on the host; otherwise a step's time outside them is unknown */
};

/* For every event with a record: stores its group in link, and for device work in parent (OC_NONE: in no
 * used run). Processes the events block by block. False: too many groups. */
void oc_timeline_begin_groups(struct making *m);
bool oc_timeline_make_groups(struct making *m, size_t from, size_t to);
void oc_timeline_forget_groups(struct making *m);

/* Collects the indices of the calls of groups m->list[from ...] and of their kernels in `order` until it is
 * full. Returns the group to continue with. link and parent hold the group or kernel of an event
 * (timeline_records.c). */
uint32_t oc_timeline_order_groups(struct making *m, uint32_t from);
/* The same for kernels from `from` on that are not part of a record. */
uint32_t oc_timeline_order_kernels(struct making *m, uint32_t from);

/* ---- launches --------------------------------------------------------------------------------------- */

struct mean { /* of the known values */
    double sum;
    uint64_t n;
};

struct work { /* launches with the same name, kind and label: a kernel of the profile */
    uint32_t name, label, group;
    uint32_t next;       /* of the group, OC_NONE */
    uint32_t kernel;     /* if it has calls */
    uint32_t calls;      /* in used runs */
    uint16_t lane, home; /* home: number of the pair of process and device */
    uint8_t kind;
    uint64_t where;
    struct mean bytes, flop, *counter; /* counter: [OC_CTR_COUNT], NULL: none */
};

struct oc_launches {
    struct oc_arena scratch;
    struct work *work;
    struct labelled {
        struct oc_label label;
        uint32_t group; /* OC_NONE: it launched nothing */
        uint32_t host;  /* its last host time, OC_NONE */
    } * label;
    struct host_time {
        double dur_ns;
        uint32_t run, next; /* next: of the label, OC_NONE */
    } * host;
    uint32_t n_work, cap_work, n_label, cap_label, n_host, cap_host;
    struct oc_map work_of, label_of, home_of;
    uint16_t *home; /* by lane, on the heap */
    uint32_t n_home;
    struct memo {
        const char *name;
        uint32_t label, work;
    } memo[1024];
    uint32_t n_run; /* marked by the source; 0: none are */
    bool kernels_are_records;
};

/* A run lasts from the start of its first launch to the end of its launches; NAN: it has none. */
void oc_launches_measure_runs(struct oc_timeline *t);

/* One group per label and per other destination of launches; then, for the groups of m->list, kernels in the order
 * of records. */
void oc_launches_make_groups(struct making *m);
void oc_launches_make_kernels(struct making *m);
/* Sets all but times: of the record, and of its kernels, which have their calls. */
void oc_launches_describe(struct making *m, const struct group *g, struct oc_prof_rec *rec);
/* Adds host times to records, and records of labels that launched nothing. */
void oc_launches_set_host_times(struct making *m);

#endif
