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
#include "shape/type.h"

/* One event group: what the runtime reports under one name (and one shape signature). Statistics are over the
 * used runs; a value of one run is the sum of the group's calls in that run. NAN: the source does not say. */
struct oc_prof_rec {
    const char *name; /* as the runtime's node/layer/operator name, decoration of events (suffix) removed */
    const char *op_type;              /* "" if unknown */
    const char *provider, *precision; /* "" if unknown */
    const char *bucket; /* NULL: an operator. Else the named bucket of time that belongs to no operator:
                           "framework", "load", "warm-up runs", "incomplete run", ... */
    int64_t index;      /* runtime's node index, -1 if none */
    uint32_t lane;      /* index into lanes */
    uint32_t parent;    /* record that contains this one's calls (control flow), OC_NONE */
    double time_ns;     /* chosen statistic of the per-run sums */
    double self_ns;     /* the same without nested records; the statistic of per-run self sums */
    double kernel_ns;   /* device time, NAN when the source has only host time */
    double host_ns;     /* the host's own time when it stands beside kernel_ns, NAN when unknown */
    double wait_ns;     /* NAN when unknown */
    double min_ns, max_ns, median_ns; /* of the per-run sums */
    double start_ns;                  /* first used call, relative to the start of its run; execution order */
    double calls_per_run;
    uint64_t calls;                 /* in all used runs */
    uint32_t runs;                  /* used runs it appears in */
    const struct oc_type *in, *out; /* as recorded; positions need not be input slots */
    uint32_t n_in, n_out;
    bool has_in, has_out;
    double flop, bytes;                         /* the source's own figures, NAN if none */
    uint64_t param_bytes, act_bytes, out_bytes; /* ONNX Runtime's sizes; UINT64_MAX: not given */
    uint64_t where;                             /* offset of the first event in the file */
};

/* Everything that one source said. */
struct oc_profile {
    struct oc_arena arena;
    struct oc_map names;       /* interner */
    const char *path, *format; /* importer name */
    const char *producer;      /* "ONNX Runtime 1.14 or later", "" if unknown */
    const char *device;        /* "CPU", "CUDA", ... "" if unknown */
    enum oc_stat stat;
    uint32_t runs_total, runs_used;
    double run_ns;         /* chosen statistic of the duration of a run, NAN if unknown */
    double busy_ns;        /* union of top-level operator time in a run, NAN if unknown */
    const char *time_kind; /* "host time" or "device time": what time_ns means */
    struct oc_prof_rec *rec;
    uint32_t n_rec;
    bool truncated;
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
};

struct oc_importer {
    const char *name, *title;
    void (*probe)(const struct oc_peek *peek, struct oc_bid *bid);
    int (*read)(struct oc_stream *s, const struct oc_profile_opts *opts, struct oc_profile *out,
                struct oc_err *err);
};

const struct oc_importer *const *oc_importers(size_t *n);

/* oc_profile_open, oc_profile_close, struct oc_profile_opts and enum oc_stat: see onnxcost.h. */

/* The statistic of n values (n >= 1); sorts `v`. */
double oc_stat_of(enum oc_stat stat, double *v, size_t n);
const char *oc_stat_name(enum oc_stat stat);

#endif
