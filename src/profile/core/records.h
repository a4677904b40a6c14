/* Records under construction, for importers of tables, whose rows are already sums or averages, and of events:
 * a growing list, sums of rows, types as profilers write them. */
#ifndef OC_RECORDS_H
#define OC_RECORDS_H

#include "base/arena.h"
#include "base/json_read.h"
#include "base/map.h"
#include "onnxcost_types.h"
#include "profile/core/timeline.h"
#include "profile/csv_rows.h"
#include "profile/profile.h"
#include "shape/type.h"

struct oc_rec_list {
    struct oc_prof_rec *rec; /* heap */
    size_t n, cap;
};

/* Appends a record with all members unknown: texts "", numbers NAN or their "absent" value, no time, no
 * call. The pointer is valid until the next append. */
struct oc_prof_rec *oc_rec_add(struct oc_rec_list *l);

/* Appends a record with that name; bucket NULL: an operator. */
struct oc_prof_rec *oc_rec_add_named(struct oc_rec_list *l, const char *bucket, const char *name);

/* For sources with one figure per record: sets time_ns = self_ns = min = max = median. */
void oc_rec_time(struct oc_prof_rec *rec, double ns);

/* Calls with one record: records of events are in the order of their first calls. */
struct oc_first_call {
    uint32_t group, run; /* run: of the first call */
    double start;        /* of that call in its run */
};
/* by_run: those of the first run before all others. */
void oc_sort_first_calls(struct oc_first_call *c, size_t n, bool by_run);

/* Moves the records to the profile and frees the list. */
void oc_rec_list_end(struct oc_rec_list *l, struct oc_profile *p);

/* For sources of sums: sets the runs of the profile (0: unknown) and its statistic, which is the mean of a run unless
 * the user wants sums, or runs are unknown. Returns what sums are divided by. */
double oc_prof_divide(struct oc_profile *p, uint64_t runs, enum oc_stat wanted);

/* Interns the text in the profile. */
const char *oc_prof_text(struct oc_profile *p, struct oc_str s);

/* Adds the warning that the table is truncated, and marks the profile. */
void oc_prof_cut(struct oc_profile *p, const struct oc_csv *c);
/* The same of JSON, if its reading met an error or the end of the file. */
void oc_prof_cut_json(struct oc_profile *p, const struct oc_json *j);

/* Adds a lane; returns its index. */
uint32_t oc_prof_lane(struct oc_profile *p, struct oc_lane lane);

/* ---- columns of tables ------------------------------------------------------------------------------ */

enum { OC_MAX_COLUMNS = 16 };

/* The columns of a table by their meaning, a number below n. */
struct oc_columns {
    const struct oc_csv *c;
    const char *const *title; /* NULL: the table has no such column */
    unsigned n, first_time, last_time;
    size_t at[OC_MAX_COLUMNS];      /* OC_CSV_NONE: not in the header */
    double unit_ns[OC_MAX_COLUMNS]; /* of times */
};

/* Finds the columns in the header, and the units of times, by default unit_ns (0: none). Returns a time without
 * unit, or with an unknown one; n: none. */
unsigned oc_columns_find(struct oc_columns *t, const struct oc_str *field, size_t n_field, double unit_ns);

static inline struct oc_str oc_columns_cell(const struct oc_columns *t, const struct oc_str *field,
                                            size_t n_field, unsigned k)
{
    return oc_csv_at(field, n_field, t->at[k]);
}

/* NAN: no such column. */
int oc_columns_time(const struct oc_columns *t, const struct oc_str *field, size_t n_field, unsigned k,
                    double *ns, struct oc_err *err);

/* ---- rows of operators ------------------------------------------------------------------------------ */

/* Rows of tables and logs of operators, summed into records: rows with equal name, type and shapes are one
 * record. Such sources have no run events: times are sums of the whole recording unless the file says how
 * many runs it has. */

struct oc_op_row {
    struct oc_str name, type, provider;
    uint8_t kind;                    /* OC_EV_OPERATOR, OC_EV_KERNEL, OC_EV_MEMCPY, OC_EV_MEMSET */
    bool device;                     /* the time is device time */
    const char *overhead;            /* as in struct oc_prof_rec, static */
    double total_ns, min_ns, max_ns; /* of all calls; of one call, NAN: unknown */
    uint64_t calls;                  /* 0: unknown */
    struct oc_str shapes;            /* text of the shapes: separates records */
    struct oc_str device_name;       /* its number or name, n 0: unknown: separates records, too */
    bool has_flop;                   /* flop, of all calls, is the source's estimate; NAN: unknown */
    double flop;
    uint64_t where;
    /* Sets the members below for the first row of a record; types are in the arena. NULL: none. */
    void (*types)(struct oc_arena *a, const void *ctx, struct oc_op_row *row);
    const void *ctx;
    const struct oc_type *in, *out; /* NULL: not recorded */
    uint32_t n_in, n_out;
};

struct oc_op_rows {
    struct oc_profile *p;
    const struct oc_profile_opts *opts;
    struct oc_rec_list list;
    struct oc_map of;
    struct oc_arena scratch;
    struct oc_buf key;
    uint8_t *kind; /* of each record */
    size_t kind_cap;
    uint64_t runs; /* that the file reports; 0: unknown */
    double run_ns; /* duration of a run that the file reports, NAN: unknown */
    bool means;    /* the rows are means of a run: with `runs` they become sums */
    bool device;
    const char *event; /* the rows count this instead of time: records get shares; NULL: time */
};

/* Device work as nsys and nvprof name it: "[CUDA memcpy HtoD]". */
uint8_t oc_cuda_kind(struct oc_str name);

/* The kind of a task of an Ascend device, by its type (AI_CORE, MEMCPY_ASYNC, EVENT_WAIT). OC_EV_COUNT: it does no
 * work, as waits, records and envelopes of whole models. */
uint8_t oc_ascend_kind(struct oc_str task);

void oc_op_rows_init(struct oc_op_rows *t, struct oc_profile *p, const struct oc_profile_opts *opts);
void oc_op_rows_add(struct oc_op_rows *t, const struct oc_op_row *row);
/* Moves records and kernels to the profile and sets its totals and runs. */
void oc_op_rows_finish(struct oc_op_rows *t);
void oc_op_rows_free(struct oc_op_rows *t);

/* ---- sum rows --------------------------------------------------------------------------------------- */

/* Device time that the source has already summed: rows of (label, kernel) with total and calls, converted
 * to records and kernels. Such tables have no times of single runs: the number of runs is given, or
 * unknown, and times are means. */

struct oc_sum_row {
    const char *name;                /* name of the kernel or copy, interned; NULL: all work of the label */
    struct oc_label label;           /* name NULL: none */
    const char *variant;             /* see oc_nvtx_label */
    uint8_t kind;                    /* OC_EV_KERNEL, OC_EV_MEMCPY, OC_EV_MEMSET */
    double total_ns, min_ns, max_ns; /* total over calls; NAN: unknown */
    uint64_t calls, instances;       /* number of instances of the label's range, 0: unknown */
    uint64_t where;
};

struct oc_sum_rows {
    struct oc_sum_row *row; /* on the heap, freed by the owner */
    size_t n, cap;
    uint64_t runs;        /* 0: unknown */
    double unlabelled_ns; /* time of kernels that are in no row, for a bucket; 0: none */
    bool host;            /* the times are host times */
};

void oc_sum_rows_finish(const struct oc_sum_rows *rows, struct oc_profile *out,
                        const struct oc_profile_opts *opts);

/* ---- types as profilers write them ------------------------------------------------------------------ */

/* "1,3,224,224" or "1x3x224x224": dims with any separator but a digit. False: not a shape. */
bool oc_recorded_shape(struct oc_arena *a, struct oc_str text, unsigned dtype, struct oc_type *out);
/* Names of types of oneDNN, Ascend, MindSpore and ONNX Runtime Web: "f32", "DT_FLOAT16", "NUMBER_TYPE_UINT8", "float32",
 * "s8" ... */
unsigned oc_recorded_dtype(struct oc_str name);

/* A list of dimensions; *out is unranked if one of them is unknown. False: not a list. */
bool oc_recorded_dims(struct oc_json *j, struct oc_arena *a, struct oc_shape *out);

/* PyTorch: "[[1, 3, 224, 224], [64], []]", one tensor of unknown type per list. NULL: not such a text. */
const struct oc_type *oc_recorded_sizes(struct oc_arena *a, struct oc_str text, uint32_t *n);

#endif
