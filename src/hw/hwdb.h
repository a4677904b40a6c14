/* Hardware files: peak figures of devices, each number with unit, basis and source. This module reads and
 * looks up devices. The XML format is hwdb/hwdb.rng; the public functions are in onnxcost.h and
 * onnxcost/hardware.h. Values are in base units: FLOP/s, OP/s, bytes, bytes/s, Hz, seconds. */
#ifndef OC_HWDB_H
#define OC_HWDB_H

#include "base/arena.h"
#include "base/map.h"
#include "onnxcost_types.h"
#include "shape/type.h"

struct oc_device_info;
struct oc_hw_set;
struct oc_hw_figure;

/* Compute units of a device, each with peaks by arithmetic class. */
enum oc_hw_unit { OC_HW_VECTOR, OC_HW_MATRIX, OC_HW_SPECIAL, OC_HW_UNIT_COUNT };
const char *oc_hw_unit_name(unsigned unit); /* "vector" */

struct oc_hw_level {
    const char *name;                /* "L2"; the last level is "DRAM" */
    const char *type;                /* "HBM2e", NULL */
    const struct oc_hw_figure *size; /* of the whole device; NULL: unknown */
    const struct oc_hw_figure *bandwidth;
};

struct oc_device {
    struct oc_device_info *info;
    uint32_t line;
    const struct oc_hw_figure *figure; /* in file order */
    size_t n_figure;
    /* The dense peak used for the roofline, NULL if unknown. If a file has several for one class, the first
     * that accumulates in f32 (floats) or i32 (integers), else the first: files list the highest clock first,
     * so that a peak is an upper bound. */
    const struct oc_hw_figure *peak[OC_HW_UNIT_COUNT][OC_CLASS_COUNT];
    bool f16_fallback;               /* f16 work runs on the vector unit at its f32 peak */
    const struct oc_hw_level *level; /* nearest first */
    size_t n_level;
    const struct oc_hw_figure *overhead; /* per launched operator; NULL: unknown */
    const struct oc_hw_figure *power;    /* design power, W; NULL: unknown */
    const struct oc_hw_figure *link; /* to the other devices of a server, in one direction; NULL: unknown */
    struct oc_hw_draft *draft;       /* the parsed elements: for derived devices and overrides */
};

/* The most operations of a class in one cycle of one core with the instruction set of a peak ("avx2"), a
 * multiply-add as two; 0: unknown. Vectors: two multiply-adds on x86, four on Arm; AMX: tiles of 16 rows of
 * 64 bytes in 16 cycles (Intel, "Optimization Reference Manual", chapter 20). */
double oc_isa_ops_per_cycle(const char *isa, unsigned cls);

/* The first figure of that group and name (NULL: of any); NULL: not in the file. */
const struct oc_hw_figure *oc_hw_figure_of(const struct oc_device *d, const char *group, const char *what);
/* Threads that the file describes: those that were measured, or all cores; 0: unknown. */
uint32_t oc_device_threads(const struct oc_device *d);
const struct oc_hw_level *oc_device_dram(const struct oc_device *d); /* NULL: not in the file */

#define OC_HW_MAX_FILE_BYTES (16u << 20)
#define OC_HW_MAX_DEVICES    10000u

/* A growable list of devices from one or several files. */
struct oc_device_list {
    struct oc_device **item; /* heap; the devices are in the arena of the reader */
    size_t n, cap;
};

/* Problems in files, for lint: the reader continues after each. */
struct oc_hw_findings {
    struct oc_arena *arena;
    struct oc_hw_finding *item; /* heap */
    size_t n, cap;
};

/* Problems in hardware files, and what was checked. */
struct oc_hw_lint {
    struct oc_arena arena;
    struct oc_hw_findings findings;
    struct oc_device_list list;
    struct oc_map names;
    size_t n_file, n_figure, n_recomputed;
};

#define OC_HW_MAX_FINDINGS 1000
void oc_hw_note(struct oc_hw_findings *f, const char *file, uint32_t line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

struct oc_hw_reading {
    struct oc_arena *arena;
    struct oc_device_list *list;
    /* finds a base that is not in the file; NULL: no other files */
    const struct oc_device *(*find)(void *user, const char *id);
    void *user;
    struct oc_hw_findings *findings; /* NULL: the first wrong figure ends the reading */
};
int oc_hw_read_text(const struct oc_hw_reading *how, const char *name, const void *data, size_t n,
                    struct oc_err *err);
int oc_hw_read_path(const struct oc_hw_reading *how, const char *path, struct oc_err *err);

/* Reads one file, or the text of one (name: for messages), and appends its devices. On an error nothing is
 * appended. Ids and aliases must be unique within the file. */
int oc_hw_read_file(const char *path, struct oc_arena *arena, struct oc_device_list *list,
                    struct oc_err *err);
int oc_hw_read_mem(const char *name, const void *data, size_t n, struct oc_arena *arena,
                   struct oc_device_list *list, struct oc_err *err);

const char *oc_hwdb_file(const struct oc_hwdb *db,
                         size_t i); /* i-th file of the search, NULL after the last */

/* oc_device_override, in caller-owned memory. */
int oc_device_change(struct oc_arena *a, const struct oc_device *device, const char *const *set, size_t n,
                     const struct oc_device **out, struct oc_err *err);
/* "hw dram.bandwidth = 400 GB/s: set by --hw-set (hardware file: 1555 GB/s)"; what: "hw", or the device */
const char *oc_hw_set_text(struct oc_arena *a, const char *what, const struct oc_hw_set *set);

/* The one spelling of a name (oc_fold_char). */
char *oc_hw_name_fold(struct oc_arena *arena, const char *name);

/* ---- device ------------------------------------------------------------------------------------------- */

/* One number of a hardware file: "312" with unit "TFLOP/s", and formulas such as "108 SM * 64 FMA * 2 FLOP
 * * 1.41 GHz" that verify a derived number. */

/* Quantity of a number; each has its list of allowed units. */
enum oc_quantity {
    OC_Q_COUNT, /* no unit */
    OC_Q_FLOP_PER_S,
    OC_Q_OP_PER_S,
    OC_Q_BYTES,
    OC_Q_BYTES_PER_S,
    OC_Q_HZ,
    OC_Q_SECONDS,
    OC_Q_WATTS,
    OC_Q_QUANTITIES
};

const char *oc_quantity_unit(enum oc_quantity q);    /* base unit: "FLOP/s"; "" for a count */
const char *oc_quantity_choices(enum oc_quantity q); /* for messages: "GFLOP/s, TFLOP/s or PFLOP/s" */

/* Converts the number to the base unit. False: not a plain decimal number > 0, or the unit is not in the
 * list. */
bool oc_figure_value(const char *number, double *out);
bool oc_figure_scale(enum oc_quantity q, const char *unit, double *scale);

/* Sums of products and quotients of numbers with optional unit words: "8 core * 5.4 GHz + 16 core * 4.3 GHz".
 * Words that scale: kHz MHz GHz MT/s GT/s Mbit/s Gbit/s MB/s GB/s TB/s kB MB GB KiB MiB GiB GFLOP/s TFLOP/s
 * GOP/s TOP/s us; others name what is counted. False with *bad at the position of the syntax error. */
bool oc_formula_value(const char *formula, double *out, const char **bad);

/* The factors of a valid formula: "8 core" is 8 and "core". Returns their number, at most n. */
struct oc_formula_word {
    double number;
    char word[32]; /* the first word after the number, "" without */
};
size_t oc_formula_words(const char *formula, struct oc_formula_word *out, size_t n);

#endif
