/* Runtime profiles: what a runtime said about one execution, in one normal form. Importers fill it; they
 * never see a model (join/ decides what a record means). Times are double nanoseconds.
 *
 * An importer is const data: name, title, probe, read. profile.c lists them, probes a bounded prefix of the
 * file, picks the best bid (a tie is an error naming both) and lets the winner read. */
#ifndef OC_PROFILE_H
#define OC_PROFILE_H

#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "profile/run_spread.h"
#include "shape/type.h"

struct oc_timeline;

/* One event group: what the runtime reports under one name (and one shape signature). Statistics are over the
 * used runs; a value of one run is the sum of the group's calls in that run. NAN: the source does not say. */
struct oc_prof_rec {
    const char *name; /* as the runtime's node/layer/operator name, decoration of events (suffix) removed */
    const char *op_type;              /* "" if unknown */
    const char *provider, *precision; /* "" if unknown */
    const char
        *unit; /* what computes it, from the names of its kernels (kernel_names.h); NULL or "" if unknown */
    const char *bucket;   /* NULL: an operator. Else the named bucket of time that belongs to no operator:
                             "framework", "load", "warm-up runs", "incomplete run", ... */
    const char *overhead; /* NULL: none. Else what an operator record is that the runtime inserted itself
                             ("layout", "copies", "no-op" ...): it has a row, and no operations */
    const char *const *node_name; /* nodes that the source itself says it covers */
    uint32_t n_node_name;
    int64_t index;    /* runtime's node index, -1 if none */
    uint32_t lane;    /* index into lanes; without lanes only a number that tells threads or streams apart */
    uint32_t parent;  /* record that contains this one's calls (control flow), OC_NONE */
    double time_ns;   /* chosen statistic of the per-run sums */
    double self_ns;   /* the same without nested records; the statistic of per-run self sums */
    double kernel_ns; /* device time, NAN when the source has only host time */
    double host_ns;   /* the host's own time when it stands beside kernel_ns, NAN when unknown */
    double wait_ns;   /* NAN when unknown */
    double min_ns, max_ns, median_ns; /* of the per-run sums */
    double p10_ns, p90_ns;            /* likewise: the tenth and the ninetieth percentile */
    double start_ns;                  /* first used call, relative to the start of its run; execution order */
    double calls_per_run;
    uint64_t calls;                 /* in all used runs */
    uint32_t runs;                  /* used runs it appears in */
    const struct oc_type *in, *out; /* as recorded; positions need not be input slots */
    uint32_t n_in, n_out;
    bool has_in, has_out;
    double total_ns;        /* own time (self) of all its calls in all used runs; a bucket: all it holds */
    double total_kernel_ns; /* device time likewise, NAN when the source has none */
    double flop, bytes;     /* the source's own figures (counters, footprints), NAN if none */
    uint64_t macs;          /* likewise, with has_macs; part of flop */
    bool has_macs;
    uint8_t quality;                            /* enum oc_quality of the own figures */
    uint64_t param_bytes, act_bytes, out_bytes; /* ONNX Runtime's sizes; UINT64_MAX: not given */
    uint64_t where;                             /* offset of the first event in the file */
};

/* What the runtime's allocator said in the first run, where memory is taken buffer by buffer (later runs of
 * ONNX Runtime use one planned block). Bytes; "requested" is what was asked for, "in use" what the chunks
 * given for it hold. The most is that after a node, before its inputs are given back. */
struct oc_prof_memory {
    bool known;
    uint64_t before_requested, before_in_use; /* when the first node started: weights and what else is kept */
    uint64_t max_requested, max_in_use;
    const char *requested_at, *in_use_at; /* names of the records where */
    double first_us;                      /* start of the first node in the file's own time */
};

/* What hardware counters said, as means over the calls that have them; NAN: not counted. */
enum oc_counter {
    OC_CTR_DRAM_BYTES,
    OC_CTR_L2_BYTES,
    OC_CTR_FLOP_F16, /* on the CUDA cores: adds and multiplies are 1, fused ones 2 ... */
    OC_CTR_FLOP_F32, /* ... instructions as counted: packed halves are one */
    OC_CTR_FLOP_F64,
    OC_CTR_FLOP_TENSOR,
    OC_CTR_TENSOR_ACTIVE, /* share of the time, 1 is all of it ... */
    OC_CTR_SM_ACTIVE,     /* ... of the peak throughput */
    OC_CTR_DRAM_ACTIVE,
    OC_CTR_COUNT
};
struct oc_prof_counters {
    double v[OC_CTR_COUNT];
};

/* A record of that name of which nothing else is known. */
struct oc_prof_rec oc_prof_rec_new(const char *name);

/* Device work under one name for one record: a kernel, a copy, a memset. Times as in struct oc_prof_rec. */
struct oc_prof_kernel {
    const char *name;
    const char *precision, *unit, *library;  /* from its name (kernel_names.h); "" if unknown */
    uint8_t kind;                            /* OC_EV_KERNEL, OC_EV_MEMCPY, OC_EV_MEMSET */
    uint32_t rec;                            /* record it worked for, OC_NONE: none */
    uint32_t lane;                           /* of its first call */
    double time_ns;                          /* chosen statistic of the per-run sums */
    double min_ns, max_ns, total_ns;         /* of single calls; sum of all used runs */
    uint64_t calls;                          /* in all used runs */
    double flop, bytes;                      /* measured per call, NAN if not; a copy: its bytes */
    const struct oc_prof_counters *counters; /* NULL: none */
};

/* Where events ran: a thread of the host, or a stream of a device. */
struct oc_lane {
    const char *name; /* "" if unnamed */
    bool device;
    int64_t process;       /* host process id; OC_NO_ID: unknown */
    int64_t device_id, id; /* of the device; of the thread or stream */
};
#define OC_NO_ID INT64_MIN

/* Everything that one source said. */
struct oc_profile {
    struct oc_arena arena;
    struct oc_map names;       /* interner */
    const char *path, *format; /* importer name */
    const char *producer;      /* "ONNX Runtime 1.14 or later", "" if unknown */
    const char *device;        /* "CPU", "CUDA", ... "" if unknown */
    enum oc_stat stat;         /* never OC_STAT_AUTO */
    uint32_t runs_total, runs_used;
    struct oc_run_spread spread; /* of the times of the used runs */
    double run_ns;               /* chosen statistic of the duration of a run, NAN if unknown */
    double busy_ns;              /* union of top-level operator time in a run, NAN if unknown */
    const char *time_kind;       /* "host time" or "device time": what time_ns means */
    struct oc_prof_rec *rec;
    uint32_t n_rec;
    struct oc_prof_kernel *kernel; /* arena */
    uint32_t n_kernel;
    struct oc_lane *lane; /* arena */
    uint32_t n_lane;
    /* All time in the file, summed while reading and before anything is sorted into records: the sum of
     * total_ns (total_kernel_ns) over the records must be this to the nanosecond. NAN: not summed. */
    double imported_ns, imported_kernel_ns;
    struct oc_timeline *timeline; /* NULL unless oc_profile_opts.keep_events and the source has events */
    struct oc_prof_memory memory;
    bool functions; /* records are functions of a program, op_type their class: never put to nodes */
    bool truncated; /* the file ends in the middle, or its reading was stopped */
    bool stopped;   /* by oc_profile_opts.stop, where the importer does not read the stream itself ... */
    uint64_t stopped_rows; /* ... after so many rows */
    struct oc_caps caps;   /* limits of what is read */
    bool over;             /* one of them was met (oc_prof_over) */
    enum oc_cap which;
    struct oc_exprs *exprs;
    struct oc_diags diags;
    const void *native; /* an importer's own form, for a report of its own (MegEngine); arena memory */
};

struct oc_peek {
    const char *path; /* file name; evidence, never proof */
    const char *data; /* the first bytes, inflated, BOM and white space skipped */
    size_t n;
    bool whole; /* data is the whole file */
};

struct oc_bid {
    int score; /* 0: not mine .. 100: certain */
    const char *reason;
    unsigned part; /* index into the importer's parts */
};

/* A measurement may lie in several files (TensorRT: profile, layer information, times). */
struct oc_part {
    const char *name;   /* "profile" */
    const char *suffix; /* of file names, ".profile.json": a file beside the given one with the same stem and
                           the suffix of another part is read too; NULL: never looked for */
};

/* The files of one measurement, each at most once a part; file[0] was named first. */
struct oc_source_file {
    const char *path;
    struct oc_stream *s;
    unsigned part;
};
struct oc_source {
    const struct oc_source_file *file;
    size_t n;
};

struct oc_importer {
    const char *name, *title;
    const struct oc_part *part; /* NULL: one file is all */
    size_t n_part;
    void (*probe)(const struct oc_peek *peek, struct oc_bid *bid);
    int (*read)(const struct oc_source *src, const struct oc_profile_opts *opts, struct oc_profile *out,
                struct oc_err *err);
};

const struct oc_importer *const *oc_importers(size_t *n);

/* The file has more than it may: opening it will fail, whatever the importer has made of it so far. */
void oc_prof_over(struct oc_profile *p, enum oc_cap which);

/* The importer (named `format`, or the best bidder if NULL) for the file, and which of its parts it is. */
int oc_profile_probe(const char *path, const char *format, const struct oc_importer **out, unsigned *part,
                     struct oc_err *err);

/* One file's bytes as the importer reads them; `data` must live until the profile is closed. */
int oc_profile_from_mem(const struct oc_importer *imp, const void *data, size_t n,
                        const struct oc_profile_opts *opts, struct oc_profile **out, struct oc_err *err);

/* oc_profile_open, oc_profile_close, struct oc_profile_opts and enum oc_stat: see onnxcost.h. */

/* What was read against what the records hold (total_ns, total_kernel_ns): on the host or, where the source
 * tells only one time, in all; and on the device. NAN: the source has no such time. */
struct oc_conserved {
    double imported_ns, operators_ns, buckets_ns;
    double lost_ns; /* imported less held; NAN: nothing to compare with */
};
void oc_profile_conserved(const struct oc_profile *p, bool device, struct oc_conserved *out);
/* Is time lost, or made up? A nanosecond, or what rounding can do to sums that large, is none. */
bool oc_time_is_lost(double lost_ns, double imported_ns);

/* The statistic of n values (n >= 1); sorts `v`. */
double oc_stat_of(enum oc_stat stat, double *v, size_t n);
/* The value that the share 0..1 of n >= 1 sorted values lies below, between neighbours in proportion. */
double oc_percentile_of(const double *sorted, size_t n, double share);
const char *oc_stat_name(enum oc_stat stat);

#endif
