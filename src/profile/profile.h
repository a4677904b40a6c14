/* Runtime profiles: the measurements of one execution in a common form. Importers fill it and never see a
 * model (join/ matches records to nodes). Times are nanoseconds as double.
 *
 * An importer is const data: name, title, probe, read. profile.c lists them, probes a bounded prefix of
 * the file and selects the importer with the highest score (a tie is an error that names both). */
#ifndef OC_PROFILE_H
#define OC_PROFILE_H

#include <math.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/log_prefix.h"
#include "base/map.h"
#include "base/str.h"
#include "profile/core/run_spread.h"
#include "shape/type.h"
#include "onnxcost_types.h"

struct oc_timeline;

/* One event group: what the runtime reports under one name (and one shape signature). Statistics are over
 * the used runs; the value of one run is the sum of the group's calls in that run. NAN: not reported. */
struct oc_prof_rec {
    const char *name;        /* the runtime's node/layer/operator name without the event suffix */
    const char *op_type;     /* "" if unknown */
    bool type_by_name;       /* op_type is derived from the names of its kernels or of its range */
    bool is_launch;          /* ran on a device, but its device time is unknown: the host time is that
                              * of the launch and says nothing about the work */
    const char *source_type; /* the source's own type if op_type is another one; NULL otherwise */
    const char *provider, *precision; /* "" if unknown */
    const char *unit; /* compute precision and unit from the names of its kernels (kernel_names.h); NULL or ""
                       * if unknown */
    const char *bucket;   /* NULL: an operator. Otherwise the name of a bucket of time without an operator:
                           *                              "framework", "load", "warm-up runs", "incomplete run", ... */
    const char *overhead; /* NULL: none. Otherwise the kind of an operator inserted by the runtime
                           * ("layout", "reformat", "copies", "no-op" ...): it has a row and no operations */
    const char *
        rest; /* NULL: an operator. Otherwise the kind of work of the device that no operator of the source owns
                       * (places.h), which is op_type, too: it has a row, unknown operations, and matches no node */
    const char *place; /* process or device, where there are several (places.h); NULL: the only one */
    const char *const *node_name; /* nodes that the source itself reports as covered */
    uint32_t n_node_name;
    int64_t index;    /* runtime's node index, -1 if none */
    uint32_t lane;    /* index into lanes; without lanes only a number that separates threads or streams */
    uint32_t parent;  /* record that contains this one's calls (control flow), OC_NONE */
    double time_ns;   /* chosen statistic of the per-run sums; mean and median: per used run, so that records
                       * in some of the runs count in proportion and times of records add up */
    double self_ns;   /* the same without nested records: the statistic of per-run self times */
    double kernel_ns; /* device time, NAN when the source has only host time */
    double host_ns;   /* host time reported in addition to kernel_ns, NAN when unknown */
    double wait_ns;   /* NAN when unknown */
    double waits;     /* part of its time in which its first thread waits for the others; NAN: not recorded */
    double min_ns, max_ns, median_ns; /* of the per-run sums of kernel_ns if that is known, else of self_ns */
    double p10_ns, p90_ns;            /* likewise: the 10th and 90th percentile */
    double error_ns; /* standard error of time_ns: of a mean over the selected runs; 0: not known */
    double share;    /* part of all samples, in a source that counts other events than time; otherwise NAN */
    double start_ns; /* start of the first used call, relative to the start of its run;
                      * gives execution order */
    double calls_per_run;
    uint64_t calls;                 /* number of calls in all used runs */
    uint32_t runs;                  /* number of used runs it appears in */
    const struct oc_type *in, *out; /* as recorded; positions may differ from input slots */
    uint32_t n_in, n_out;
    bool has_in, has_out;
    const char *values;     /* recorded values of the inputs that are not tensors, as a JSON array of texts
                             * (PyTorch);     NULL: not recorded */
    double total_ns;        /* self time of all its calls in all used runs; a bucket: its whole time */
    double total_kernel_ns; /* device time likewise, NAN when the source has none */
    double flop, bytes;     /* the source's own figures (counters, footprints), NAN if none */
    uint64_t macs;          /* likewise, valid with has_macs; part of flop */
    bool has_macs;
    uint8_t quality;                            /* enum oc_quality of the source's figures */
    double energy_j;                            /* measured, in the time of time_ns; NAN: not measured */
    uint64_t param_bytes, act_bytes, out_bytes; /* ONNX Runtime's sizes; UINT64_MAX: absent */
    uint64_t where;                             /* byte offset of the first event in the file */
};

/* Recorded types of one call. */
struct oc_prof_types {
    const struct oc_type *in, *out;
    uint32_t n_in, n_out;
    bool has_in, has_out;
};

/* Used runs in which every operator has the same recorded shapes, and their operators. */
struct oc_prof_shapes {
    const struct oc_prof_part {
        double total_ns; /* self time in these runs */
        uint32_t rec, runs, calls;
        uint32_t types; /* index into oc_profile.types; OC_NONE: several in one run */
    } * part;           /* sorted by record */
    const double *run_ns;
    uint32_t n_part, n_run;
};

/* Allocator statistics of the first run, in which memory is allocated buffer by buffer (later runs of ONNX
 * Runtime use one planned block). Bytes; "requested" is the requested size, "in use" the size of the
 * allocated chunks. The peak is sampled after a node, before its inputs are released. */
struct oc_prof_memory {
    bool known;
    uint64_t before_requested, before_in_use; /* when the first node started: weights and other persistent
                                               * buffers */
    uint64_t max_requested, max_in_use;
    const char *requested_at, *in_use_at; /* names of the records at the peak */
    const struct oc_prof_ran {
        const char *name, *op_type;
        uint64_t out_bytes; /* of its outputs, UINT64_MAX: unknown */
    } * ran;                /* nodes of the first run, in the order of their ends; arena */
    uint32_t n_ran;
    double first_us; /* start of the first node on the file's clock */
};

/* Hardware counters, as means over the calls that have them; NAN: not collected. */
enum oc_counter {
    OC_CTR_DRAM_BYTES,
    OC_CTR_L2_BYTES,
    OC_CTR_FLOP_F16, /* on the CUDA cores: an add or multiply is 1, a fused multiply-add 2 ... */
    OC_CTR_FLOP_F32, /* ... instructions as counted: packed half2 counts once */
    OC_CTR_FLOP_F64,
    OC_CTR_FLOP_TENSOR,
    OC_CTR_TENSOR_ACTIVE, /* fraction of the time, 1 is 100 % ... */
    OC_CTR_SM_ACTIVE,     /* ... fraction of the peak throughput */
    OC_CTR_DRAM_ACTIVE,
    OC_CTR_COUNT
};
struct oc_prof_counters {
    double v[OC_CTR_COUNT];
};

/* Self time on the device if known, otherwise on the host; 0: neither is. */
static inline double oc_prof_own_ns(const struct oc_prof_rec *r)
{
    double ns = isnan(r->kernel_ns) ? r->self_ns : r->kernel_ns;
    return isnan(ns) ? 0 : ns;
}

/* Whether its operations are on integers: those of its first input. */
bool oc_record_is_integer(const struct oc_prof_rec *rec);
/* A record with that name and all other members unknown. */
struct oc_prof_rec oc_prof_rec_new(const char *name);

static inline void oc_prof_set_types(struct oc_prof_rec *r, const struct oc_prof_types *t)
{
    r->in = t->in;
    r->out = t->out;
    r->n_in = t->n_in;
    r->n_out = t->n_out;
    r->has_in = t->has_in;
    r->has_out = t->has_out;
}

/* Device work with one name for one record: a kernel, a copy, a memset. Times as in struct oc_prof_rec. */
struct oc_prof_kernel {
    const char *name;
    const char *precision, *unit, *library;  /* from its name (kernel_names.h); "" if unknown */
    uint8_t kind;                            /* OC_EV_KERNEL, OC_EV_MEMCPY, OC_EV_MEMSET */
    uint32_t rec;                            /* record it belongs to, OC_NONE: none */
    uint32_t lane;                           /* start of its first call */
    double time_ns;                          /* chosen statistic of the per-run sums */
    double min_ns, max_ns, total_ns;         /* per call; sum over all used runs */
    uint64_t calls;                          /* number of calls in all used runs */
    double flop, bytes;                      /* measured per call, NAN if not measured; a copy: its size in
                                              * bytes */
    const struct oc_prof_counters *counters; /* NULL: none */
};

/* A kernel with that name (interned), of no record, and all other members unknown. */
struct oc_prof_kernel oc_prof_kernel_new(const char *name, unsigned kind);

/* Where events ran: a thread of the host, or a stream of a device. */
struct oc_lane {
    const char *name; /* "" if unnamed */
    bool device;
    int64_t process;       /* host process id; OC_NO_ID: unknown */
    int64_t device_id, id; /* id of the device; id of the thread or stream */
};
#define OC_NO_ID INT64_MIN

static inline struct oc_lane oc_lane_of_thread(int64_t process, int64_t thread)
{
    return (struct oc_lane){.name = "", .process = process, .device_id = OC_NO_ID, .id = thread};
}

static inline struct oc_lane oc_lane_of_stream(int64_t process, int64_t device, int64_t stream)
{
    return (struct oc_lane){
        .name = "", .device = true, .process = process, .device_id = device, .id = stream};
}

/* How the number of runs is known. Only then does the profile have a latency and rates. */
enum oc_runs_from {
    OC_RUNS_UNKNOWN, /* runs_total 0, run_ns NAN; times are those of the whole recording */
    OC_RUNS_MARKED,  /* run events, steps, or a count in the file */
    OC_RUNS_MEAN,    /* the file has means over runs, but not their number: runs_total 0 */
    OC_RUNS_REPEAT,  /* repetition of the same work, with a confidence */
    OC_RUNS_GIVEN    /* by the user: oc_profile_opts.iterations */
};

/* An input of the model as the recorded runs had it. */
struct oc_prof_input {
    const char *name;
    struct oc_type type; /* dtype OC_DT_UNDEFINED: not recorded; all dimensions are known */
};

/* The machine while a recording was made, where the file has it (onnxcost record writes it). 0: not known. */
enum { OC_MOST_TURNS = 1000 };
struct oc_prof_machine {
    double started_s;      /* since 1970 */
    double turns_id;       /* oc_record_info.turns_id; 0: its process ran alone */
    const double *turn_ns; /* arena: oc_record_info.turn_ns */
    uint32_t n_turn;
    double processors, threads; /* processors: those that the process kept to */
    double others;              /* processors that other processes used */
    /* a round of multiply-adds on registers between the runs: the mean, and the fastest that is known; 0: not known */
    double probe_ns, probe_fastest_ns;
    /* creation of the first session of the process, and its first run; 0: not known */
    double session_ns, first_run_ns;
    /* written by a recording, not read from one: */
    double stolen;         /* of `others`: processors that a hypervisor gave to other machines */
    double throttled;      /* how often the clock was reduced meanwhile because of heat */
    char limits[96];       /* what limits the clock: "governor powersave"; "": nothing that is known */
    const char *providers; /* execution providers, as given; NULL: none */
};
/* Whether other processes used processors that the recording needed. */
bool oc_machine_is_loaded(const struct oc_prof_machine *m);

/* A row of a summary that its tool printed, in the order of the file. Times are those of all calls and of the longest and
 * the shortest one; NAN: none. */
struct oc_prof_table_row {
    const char *
        table; /* "device" (percent instead of times), "overview", "model", "distribution", "operators", "kernels", "memory", "user" */
    const char *name;
    uint64_t calls;
    struct {
        double total_ns, min_ns, max_ns;
    } host, device;
};

/* All data from one source. */
struct oc_profile {
    struct oc_arena arena;
    struct oc_map names;       /* interner */
    const char *path, *format; /* importer name */
    const char *producer;      /* "ONNX Runtime 1.14 or later", "" if unknown */
    const char *device;        /* "CPU", "CUDA", ... "" if unknown */
    enum oc_stat stat;
    uint32_t runs_total, runs_used;
    uint32_t runs_selected; /* of the used runs: those that times are means of; 0: all */
    enum oc_runs_from runs_from;
    const char *runs_confidence; /* of OC_RUNS_REPEAT: "high" or "medium", otherwise NULL */
    struct oc_run_spread spread; /* of the times of the used runs */
    struct oc_prof_machine machine;
    /* Sets of shapes of the used runs. Only with oc_profile_opts.by_node and more than one: each record is
     * then a node with all its shapes, of which it has those of shapes[main_shapes]. */
    const struct oc_prof_shapes *shapes;
    const struct oc_prof_types *types;
    uint32_t n_shapes, main_shapes;
    double run_ns;     /* time of a run: mean over the selected runs, NAN if unknown */
    double runs_per_s; /* throughput that the source measured, or of runs with time between them; 0: none */
    /* NULL, or a sentence: operators and runs are of two measurements, whose times do not add up (TensorRT's profiled and
     * timed iterations); runs_total counts the first, spread the second */
    const char *beside;
    double busy_ns;        /* interval union of top-level operator time in a run, NAN if unknown */
    bool busy_on_device;   /* those operators ran on the device: busy_ns is not host time */
    double device_busy_ns; /* interval union of all device work in a run, NAN if unknown */
    const char *time_kind; /* "host time" or "device time": what time_ns measures */
    struct oc_prof_rec *rec;
    uint32_t n_rec;
    struct oc_prof_kernel *kernel; /* arena */
    uint32_t n_kernel;
    const struct oc_prof_table_row *table_row; /* arena: of a file that has summaries of its own (Paddle) */
    size_t n_table_row;
    struct oc_lane *lane; /* arena */
    uint32_t n_lane;
    uint32_t n_device;                 /* devices whose kernels or operators the times sum; 0: not counted */
    const struct oc_prof_input *input; /* arena; empty where the source does not record them by name */
    uint32_t n_input;
    /* All time in the file, summed while reading, before events are grouped into records: the sum of
     * total_ns (total_kernel_ns) over the records must equal it to the nanosecond. NAN: not summed. */
    double imported_ns, imported_kernel_ns;
    struct oc_timeline *timeline; /* NULL unless oc_profile_opts.keep_events is set and the source has
                                   * events */
    struct oc_prof_memory memory;
    const char
        *event;     /* what the source counted instead of time ("cycles"): records have shares; NULL: time */
    bool training;  /* a run is a step of training, not an inference */
    bool functions; /* records are functions of a program and op_type is their class: never matched to
                     * nodes */
    bool truncated; /* the file is truncated, or reading was stopped */
    bool stopped;   /* stopped by oc_profile_opts.stop, for importers that do not read the stream
                     * themselves ... */
    uint64_t stopped_rows;         /* ... after this many rows */
    struct oc_input_limits limits; /* resource limits for reading */
    bool over;                     /* one of the limits was exceeded (oc_prof_over) */
    enum oc_input_limit which;
    struct oc_exprs *exprs;
    struct oc_diags diags;
    const void *native; /* the importer's own data, for its own report (MegEngine); arena memory */
};

struct oc_peek {
    const char *path; /* file name: weak evidence only */
    const char *data; /* the first bytes, decompressed, BOM and white space skipped */
    size_t n;
    const char *raw; /* the same without skipping */
    size_t n_raw;
    bool whole; /* data is the whole file */
};

static inline bool oc_peek_has(const struct oc_peek *p, const char *text)
{
    return oc_str_has(oc_str(p->data, p->n), text);
}

/* Also after the first bytes: reads the file up to the text, to its end if it is not there. Only for a file
 * that its first bytes show to be of the importer's tool. */
bool oc_peek_has_later(const struct oc_peek *p, const char *text);

/* Whether is_line accepts a line that is not empty. */
bool oc_peek_has_line(const struct oc_peek *p, bool (*is_line)(struct oc_str line));

struct oc_bid {
    int score;     /* score from 0 (no match) to 100 (certain) */
    unsigned fine; /* between equal scores: characters of titles and fixed text that matched */
    const char *reason;
    unsigned part; /* index into the importer's parts */
};

/* A measurement may lie in several files (TensorRT: profile, layer information, times). */
struct oc_part {
    const char *name;   /* "profile" */
    const char *suffix; /* of file names, ".profile.json": a file with the same stem and the suffix of
                         * another part in the same folder is read too; NULL: never searched */
    bool of_others;     /* has no times: it belongs to files of other parts */
};

/* The files of one measurement, at most one per part; file[0] is the first file named. */
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
    const char *seen;           /* versions of the writer that real files were read of */
    const char *lost;           /* what the file or the reader leaves out */
    const struct oc_part *part; /* NULL: the measurement is one file */
    size_t n_part;
    void (*probe)(const struct oc_peek *peek, struct oc_bid *bid);
    int (*read)(const struct oc_source *src, const struct oc_profile_opts *opts, struct oc_profile *out,
                struct oc_err *err);
    const struct oc_printed_format
        *printed;       /* NULL, or the description of a printed format, which has no functions */
    bool in_output;     /* its lines may be anywhere in the output of a program */
    bool may_lack_time; /* a file without any time is valid: its report has other figures */
};

const struct oc_importer *const *oc_importers(size_t *n);

const struct oc_importer *oc_importer_named(const char *name); /* NULL: there is none */
void oc_importer_probe(const struct oc_importer *imp, const struct oc_peek *peek, struct oc_bid *bid);
int oc_importer_read(const struct oc_importer *imp, const struct oc_source *src,
                     const struct oc_profile_opts *opts, struct oc_profile *out, struct oc_err *err);

/* Appends a device to the list of them. False: it has no name, or is in the list. */
bool oc_prof_add_device(struct oc_profile *p, const char *name);

/* Sets the number of runs and how many of them are used. Returns how many at the start are not: `warmup`
 * (OC_WARMUP_NONE: none), by default (0) one of several; at least one is used. */
uint32_t oc_prof_use_runs(struct oc_profile *p, uint32_t n_run, int32_t warmup);

/* A limit was exceeded: opening the file fails, whatever the importer has read so far. */
void oc_prof_over(struct oc_profile *p, enum oc_input_limit which);

/* Whether the times are those of a run, so that latency and rates follow from them. */
static inline bool oc_profile_runs_known(const struct oc_profile *p)
{
    return p->runs_from != OC_RUNS_UNKNOWN && !p->functions;
}

/* "marked", "mean", "repetition", "given"; NULL: unknown. */
const char *oc_runs_from_name(enum oc_runs_from from);

/* How to read a file. */
struct oc_probed {
    const struct oc_importer *imp;
    unsigned part;               /* which of its parts the file is */
    struct oc_log_prefix prefix; /* of every line, to be removed */
    bool other_labels;           /* lines with other labels than that of the prefix are a profile too */
    size_t skip;                 /* bytes of other text before the profile */
};

/* The importer named `format`, or the one with the highest score if NULL. If no importer accepts the text, it
 * may be wrapped in a log: its lines are tried without their prefixes, and from the first line that begins a
 * JSON text. */
int oc_profile_probe(const char *path, const char *format, struct oc_probed *out, struct oc_err *err);

/* The bytes of one file as the importer reads them; `data` must stay valid until the profile is closed. */
int oc_profile_from_mem(const struct oc_importer *imp, const void *data, size_t n,
                        const struct oc_profile_opts *opts, struct oc_profile **out, struct oc_err *err);

bool oc_is_folder(const char *path);
/* The files of the one measurement in a folder that a profiler wrote. Paths are in the arena. */
int oc_profile_folder(const char *path, struct oc_arena *a, const char ***file, size_t *n,
                      struct oc_err *err);

/* oc_profile_open, oc_profile_close: see onnxcost.h; struct oc_profile_opts: onnxcost/profile.h. */

/* Time read from the file compared with time in the records (total_ns, total_kernel_ns): host, or the only
 * time the source reports; and device. NAN: the source has no such time. */
struct oc_conserved {
    double imported_ns, operators_ns, buckets_ns;
    double lost_ns; /* imported minus recorded; NAN: not available */
};
void oc_profile_conserved(const struct oc_profile *p, bool device, struct oc_conserved *out);
/* Whether time is lost or counted twice. A difference within 1 ns or the rounding error of the sums does
 * not count. */
bool oc_time_is_lost(double lost_ns, double imported_ns);

/* The statistic of n values (n >= 1); sorts `v`. */
double oc_stat_of(enum oc_stat stat, double *v, size_t n);
/* The percentile (share 0..1) of n >= 1 sorted values, with linear interpolation. */
double oc_percentile_of(const double *sorted, size_t n, double share);
const char *oc_stat_name(enum oc_stat stat);

#endif
