/* More of devices: figures with their sources, changes by the user, lists, checks of hardware files,
 * measurements. Conventions: onnxcost.h. */
#ifndef ONNXCOST_HARDWARE_H
#define ONNXCOST_HARDWARE_H

#include "onnxcost_types.h"

OC_API_BEGIN

enum oc_basis { OC_BASIS_VENDOR, OC_BASIS_DERIVED, OC_BASIS_MEASURED, OC_BASIS_ASSUMED };
const char *oc_basis_name(enum oc_basis basis); /* "vendor" */

struct oc_hw_source { /* a document; section and url may be NULL */
    const char *title, *section, *url;
};
#define OC_HW_SOURCES 3

/* One figure of a device with its source. Texts are NULL where they do not apply. */
struct oc_hw_figure {
    /* "count", "clock", "power", "vector", "matrix", "special", "overhead", "latency", or a memory level */
    const char *group;
    const char *what; /* class of a peak ("f16"), kind of a clock, "size", "bandwidth", runtime ... */
    double value;     /* in `unit` */
    const char *unit; /* FLOP/s, OP/s, B, B/s, Hz, s, W; "" for a count */
    const char *text; /* as written: "312 TFLOP/s" */
    enum oc_basis basis;
    const struct oc_hw_source *source[OC_HW_SOURCES]; /* NULL after the last; none for assumed figures */
    const char *section;    /* section in the first source, if different from the source's own */
    const char *formula;    /* formula of a derived figure */
    const char *clock;      /* clock at which a peak applies: base, boost ... */
    const char *accumulate; /* class of the accumulator of a matrix peak */
    const char *isa;        /* instruction set of a peak: "avx2" */
    const char *mode;       /* access pattern of a bandwidth: "triad" */
    const char *cores;      /* "1": of so many cores, NULL: of the device; with it, or a mode, the figure is
                               informative only */
    const char *note;
    const char *base; /* id of the device that it is inherited from */
    bool sparse;      /* applies to structured sparsity only: never used as a peak */
    uint32_t line;
    const char *unit_name; /* of a peak: "AVX2, two 256-bit multiply-add units" */
};

/* One change by the user: "dram.bandwidth", "400 GB/s", the value in the file ("1555 GB/s"; NULL: none). */
struct oc_hw_set {
    const char *key, *value, *before;
};

/* A copy of the device with other figures (the option --hw-set): "KEY=VALUE", where KEY is
 *   vector.CLASS matrix.CLASS special.CLASS   a peak; replaces all peaks of that class and unit
 *   MEMORY.size MEMORY.bandwidth              of a level of the device: "dram.bandwidth=400 GB/s"
 *   clock.KIND                                scales the peaks at that clock
 *   overhead, overhead.RUNTIME, power.TDP
 * and VALUE has a unit of hardware files, or is "none": the figure is removed, if there is one. Errors are
 * OC_EARG. The new device is valid as long as the database; its info lists the changes, and the figures have
 * basis "assumed". */
int oc_device_override(struct oc_hwdb *db, const struct oc_device *device, const char *const *set, size_t n,
                       const struct oc_device **out, struct oc_err *err);

/* Selects devices: "all", or "kind=gpu", "vendor=NVIDIA", joined with '+' to combine conditions,
 * case-insensitive. As in oc_hwdb_list. OC_EARG: invalid filter; OC_ENOTFOUND: no device matches. */
int oc_hwdb_select(struct oc_hwdb *db, const char *filter, const struct oc_device *const **out, size_t *n,
                   struct oc_err *err);
bool oc_hwdb_is_filter(
    const char *name); /* whether the text is a filter for oc_hwdb_select, not a name for oc_hwdb_get */

/* Every device, ordered by vendor and id. The list is valid until the next call on the database. */
int oc_hwdb_list(struct oc_hwdb *db, const struct oc_device *const **out, size_t *n, struct oc_err *err);

size_t oc_device_figures(const struct oc_device *device, const struct oc_hw_figure **out);

/* What `onnxcost hw` prints. format: table (NULL), csv or json; numbers of CSV and JSON are in base units.
 * The list has one line per device, one device one line per figure; two devices are shown with the ratio
 * second / first of the peaks as they are used (the dense one of each unit and class), memories, counts,
 * clocks, power, overhead. */
int oc_hwdb_write_list(struct oc_hwdb *db, const char *format, unsigned width_chars, FILE *out,
                       struct oc_err *err);
int oc_device_write(const struct oc_device *device, const char *format, unsigned width_chars, FILE *out,
                    struct oc_err *err);
int oc_device_write_diff(const struct oc_device *a, const struct oc_device *b, const char *format,
                         unsigned width_chars, FILE *out, struct oc_err *err);

/* Checks hardware files: reports every error of the reader, and whether formulas use the device's own counts
 * and clocks, whether a sparse rate is declared dense, ranges, and names across files. path: files to check,
 * whose bases may be in the database; n 0: all files of the database. An unreadable file is a problem, too.
 * -1 only if there is no file at all. */
struct oc_hw_lint;
struct oc_hw_finding {
    const char *file, *text; /* text names the device: "device 'a100': matrix f16: ..." */
    uint32_t line;           /* 0: the file as a whole */
};
int oc_hwdb_lint(struct oc_hwdb *db, const char *const *path, size_t n, struct oc_hw_lint **out,
                 struct oc_err *err);
size_t oc_hw_lint_findings(const struct oc_hw_lint *lint,
                           const struct oc_hw_finding **out); /* sorted by file and line */
int oc_hw_lint_write(const struct oc_hw_lint *lint, const char *format, FILE *out, struct oc_err *err);
void oc_hw_lint_free(struct oc_hw_lint *lint);

/* All about a device as text: one line per figure with value, basis and source. */
int oc_device_describe(const struct oc_device *device, unsigned width_chars, FILE *out, struct oc_err *err);

/* Measures this machine: peaks of every class and instruction set, clocks, bandwidths of caches and memory,
 * on one core and on all, the time of a parallel region and of a clock reading. Rates are the best of many
 * samples. Takes about 20 s and at most a third of the free memory; quick: under a second, for trials only,
 * its memory figures are those of a cache. Each thread is pinned to one processor. */
struct oc_hw_measure_opts {
    size_t size;      /* sizeof(struct oc_hw_measure_opts) */
    uint32_t threads; /* 0: one per available processor; more than those is OC_EARG */
    bool quick;
    void (*progress)(void *user, const char *what); /* progress: the current part; may be NULL */
    void *user;
};
struct oc_hw_measurement;
int oc_hw_measure(const struct oc_hw_measure_opts *opts, struct oc_hw_measurement **out, struct oc_err *err);
void oc_hw_measurement_free(struct oc_hw_measurement *m);
const struct oc_device *oc_hw_measurement_device(const struct oc_hw_measurement *m);
size_t oc_hw_measurement_diags(const struct oc_hw_measurement *m,
                               const struct oc_diag **out); /* warnings about the figures */
/* format "xml": the device file (hwdb/hwdb.rng) that --hw reads; else as oc_device_write. */
int oc_hw_measurement_write(const struct oc_hw_measurement *m, const char *format, unsigned width_chars,
                            FILE *out, struct oc_err *err);

OC_API_END

#endif
