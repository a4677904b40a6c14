/* The data of one report: its sources, the rows, and the totals for the writers. rows_build.c fills it, the
 * writers (out_term, out_csv, out_json) read it. Public interface: oc_report_write. */
#ifndef OC_REPORT_H
#define OC_REPORT_H

#include <math.h>
#include <string.h>

#include "analyze/analysis.h"
#include "base/arena.h"
#include "estimate/recast.h"
#include "estimate/roofline.h"
#include "onnxcost_types.h"
#include "profile/profile.h"

/* ---- rows --------------------------------------------------------------------------------------------- */

/* The rows of every output: an operator, measured or not, with its costs. Filled from a static analysis, a
 * join, or a profile with its own figures (MegEngine); select.c filters, aggregates, sorts and truncates
 * them; the writers print them. NAN marks an unknown figure: it prints as N/A (or null), never 0. A nan
 * reported by a source is distinguished by its sign (oc_num_measured) and prints as nan.
 */

struct oc_row_shape {
    const char *text;    /* "{1,3,224,224}" */
    const char *strides; /* "-[3,2,1]" or NULL */
    const int64_t *dim;  /* for --order-by in_shapes; NULL: not sortable */
    uint32_t rank;
};

enum oc_row_shapes_state { OC_SHAPES_NA, OC_SHAPES_NONE /* aggregated */, OC_SHAPES_KNOWN };

enum { OC_ROW_UNITS = 3, OC_ROW_LEVELS = 6 };

/* The roofline of a row with its inputs; NAN: unknown. */
struct oc_row_limits {
    double comp_s, mem_s;
    double unit_s[OC_ROW_UNITS];                               /* enum oc_hw_unit */
    double level_s[OC_ROW_LEVELS], level_bytes[OC_ROW_LEVELS]; /* memory levels, nearest first */
};

struct oc_work;

enum oc_row_rates {
    OC_RATES_TIMED,   /* work over time; unknown where the clock counted no time */
    OC_RATES_UNKNOWN, /* the work is that of one run, the time that of an unknown number of runs */
    OC_RATES_LAUNCH,  /* the work was done on a device, the time is that of its launch on the host */
    OC_RATES_NATIVE   /* as MegEngine's tool: infinite where the clock counted no time */
};

#define OC_OUTSIDE_OPERATORS "(outside operators)" /* name of a remainder row on the host */

struct oc_row {
    const char *const
        *info; /* values of the "operator info" cell: type, count, id of a group; else name, type, id,
                                from before the table is printed, NULL until then */
    uint32_t n_info;
    const char *name, *type, *id; /* name: see names.h; id as text */
    const char *runtime_name;     /* what the runtime calls the row if it is another name; NULL otherwise */
    const char *source_type;      /* the profile's own type if it is another one; NULL otherwise */
    double id_number;             /* for --order-by opr_id, NAN if none */
    const char *const *in_dtype;  /* for --input-dtype */
    uint32_t n_in_dtype;
    double time_s, host_time_s;           /* device (or the source's own) and host; NAN: not recorded */
    double kern_time_s, host_kern_time_s; /* wait time until the kernel, NAN if unknown */
    double computation, memory;           /* FLOPs and bytes, NAN unknown */
    double int_ops;                       /* part of computation: operations on integers */
    uint8_t quality;                      /* enum oc_quality of the first two */
    uint8_t rates;                        /* enum oc_row_rates */
    uint8_t in_state, out_state;          /* enum oc_row_shapes_state */
    const struct oc_row_shape *in, *out;
    uint32_t n_in, n_out;
    uint64_t count; /* members, 1 unless aggregated */
    /* columns beyond those of MegEngine's tool; NAN or NULL when unknown */
    double macs, params, intensity, roofline_s, efficiency, calls, min_s, max_s, self_s;
    double energy_j;        /* measured, of the time; NAN: not measured */
    double share;           /* part of all samples, where the profile counts other events than time */
    double wasted_s;        /* time minus roofline time; negative: faster than the roofline */
    const char *above_roof; /* likely reason why it took less than its roofline time; NULL: it did not */
    bool roof_partial; /* the device file lacks a figure: roofline_s is only a lower bound of its roofline */
    const struct oc_row_limits *limits; /* never NULL: oc_no_limits when unknown */
    const struct oc_work *work;         /* work used for the roofline; NULL: no hardware, or a group */
    double overhead_s;                  /* of its launches */
    double what_if_s;                   /* estimate after all steps of --what-if */
    const char *group;                  /* key of its group, NULL: no groups */
    const char *bound_by, *rule, *scope, *provider; /* rule: of the join */
    bool remainder; /* time that belongs to no operator: OC_OUTSIDE_OPERATORS; it has no type and no work */
    const char *place;     /* process or device, where there are several; NULL */
    uint32_t node, record; /* index into the analysis' nodes and the profile's records, OC_NONE */
};

struct oc_rows {
    struct oc_arena *arena;
    struct oc_row *row;   /* NULL: rows are made one at a time, by oc_row_at */
    const uint32_t *node; /* of the rows that are made one at a time; NULL */
    uint32_t n;
    uint32_t n_rest;             /* remainder rows, after row[n - 1]; only in the list of all rows */
    const char *const *info_key; /* column names of `info`: "name", "type", "id" */
    uint32_t n_unordered;        /* of the rows before the cut: those without a value of --order-by */
};

extern const struct oc_row_limits oc_no_limits;

/* A row with all figures unknown. */
struct oc_row oc_row_blank(void);

static inline bool oc_num_known(double v)
{
    return !isnan(v) || signbit(v);
}
static inline double oc_num_measured(double v)
{
    return isnan(v) ? copysign(v, -1.0) : v;
}

/* A quotient of known numbers is known, even if it is nan or infinite. */
static inline double oc_num_ratio(double a, double b)
{
    return oc_num_known(a) && oc_num_known(b) ? oc_num_measured(a / b) : (double)NAN;
}
/* "At least 0" says nothing: the work is unknown. */
static inline void oc_row_drop_empty_bounds(struct oc_row *r)
{
    if (r->quality != OC_LOWER)
        return;
    r->computation = r->computation > 0 ? r->computation : (double)NAN;
    r->memory = r->memory > 0 ? r->memory : (double)NAN;
    r->intensity = r->computation > 0 && r->memory > 0 ? r->intensity : (double)NAN;
}
/* The quality of FLOPs per byte: where both are bounds, their quotient is none. */
static inline unsigned oc_row_ratio_quality(const struct oc_row *r)
{
    return r->quality == OC_LOWER || r->quality == OC_UPPER ? OC_EST : r->quality;
}
/* The time that work is compared with, for rates and efficiency. NAN: not known. */
static inline double oc_row_rate_time_s(const struct oc_row *r)
{
    return r->rates == OC_RATES_UNKNOWN || r->rates == OC_RATES_LAUNCH ? (double)NAN : r->time_s;
}

/* Every rate and efficiency of a row, in every output: an amount per second of oc_row_rate_time_s(). */
static inline double oc_row_rate(const struct oc_row *r, double amount)
{
    double s = oc_row_rate_time_s(r);
    return r->rates == OC_RATES_NATIVE || s > 0 ? oc_num_ratio(amount, s) : (double)NAN;
}
static inline double oc_row_flops(const struct oc_row *r)
{
    return oc_row_rate(r, r->computation);
}
/* FLOPs and integer operations per joule, both of the row's time */
static inline double oc_row_flop_per_j(const struct oc_row *r)
{
    return r->energy_j > 0 && r->rates != OC_RATES_UNKNOWN ? oc_num_ratio(r->computation, r->energy_j)
                                                           : (double)NAN;
}
static inline double oc_row_bandwidth(const struct oc_row *r)
{
    return oc_row_rate(r, r->memory);
}

/* ---- measurement ---------------------------------------------------------------------------------------- */

/* What a recording says about its runs: the one place where a time is divided by a number of runs, and where the
 * time outside of operators gets its rows. Rows + remainder rows = total = latency (measurement.c). */
struct oc_measurement {
    double runs;       /* runs that a time stands for: 1, or with OC_STAT_SUM all used ones */
    double latency_ns; /* of the selected runs, with OC_STAT_SUM of all; NAN: not known */
    double total_ns;   /* the sum of all rows; NAN: no times */
    double overlap_ns; /* of total_ns: what rows that ran side by side share. latency = total - overlap */
    double busy_ns;    /* of the latency: while at least one operator runs; NAN: not known */
};

struct oc_report;

/* Adds the remainder rows to the operators in r->all and fills r->m; r->all has room for oc_remainder_most rows more. */
void oc_measure(struct oc_report *r);
uint32_t oc_remainder_most(const struct oc_profile *p);
/* Whether the profile's own bucket has no row: loading and excluded runs, which are part of no run, and the buckets
 * whose time the balance of a run shows (framework, whole engine). */
bool oc_bucket_is_excluded(const char *bucket);

/* Rows of r->all with those of the remainder. */
#define OC_ALL_ROWS(r) ((r)->all.n + (r)->all.n_rest)
/* Rounding of a mean over runs whose times are whole microseconds, in each row and in the run: less has no row. */
#define OC_ROUNDING_NS 1e-3

/* The line that ends a table of rows: what is not shown, and what its 100 % are. NULL: there are no times. */
const char *oc_total_text(struct oc_report *r, struct oc_arena *a);

/* A time of the measurement, of one run. */
static inline double oc_of_one_run(const struct oc_measurement *m, double time)
{
    return time / m->runs;
}

/* ---- report ------------------------------------------------------------------------------------------- */

struct oc_column;
struct oc_what_if;
struct oc_advice;

struct oc_report {
    uint32_t *why;                      /* nodes with a requested cost breakdown */
    const struct oc_row **unattributed; /* rows that --why names and that cover no node */
    size_t n_why, n_unattributed;
    bool *explained;                     /* by record: selected by --explain-match; NULL: not requested */
    const struct oc_row *explained_rest; /* a selected row without a record; NULL: none */
    struct oc_arena arena;
    const struct oc_report_in *in;
    const struct oc_report_opts *o;
    struct oc_rows all;    /* every row of the source; not stored: oc_few_rows_do, oc_rows_on_demand */
    struct oc_rows shown;  /* filtered, aggregated, sorted, truncated */
    struct oc_rows groups; /* JSON with --aggregate: the groups; `shown` then contains their members */
    struct oc_known_shapes *known_shapes; /* private to rows_build.c */
    struct oc_formula_cache *formulas;    /* of costs from recorded shapes; NULL */
    uint32_t *place;                      /* JSON: by record, its index among the written rows */
    struct oc_measurement m;              /* of the profile */
    double total_s;      /* the 100 % of time shares: the sum of all rows; NAN without times */
    double total_flo;    /* known operations of all rows */
    bool has_time;       /* at least one row has a time */
    bool has_share;      /* rows have shares of an event instead */
    bool has_places;     /* rows name their process or device */
    bool has_energy;     /* rows have measured energies */
    bool texts_of_shown; /* rows of records get their ids and shapes in oc_report_finish, if they are shown */
    uint32_t n_too_fast; /* rows faster than their roofline time */
    const struct oc_what_if *what_if; /* NULL: not requested */
    const struct oc_advice *advice;   /* NULL: not requested */
    struct oc_anomaly *anomaly;       /* NULL: not looked for (oc_anomalies_of) */
    uint32_t n_anomaly;
    struct oc_column *extra; /* columns of the hardware (oc_limit_columns) */
    size_t n_extra;
    struct oc_roof_opts roof; /* roofline options of the rows */
    double bound_s; /* lower bound of a run on the device for any runtime (estimate/bound.h); NAN: unknown */
};

/* Seconds to nanoseconds, rounded to a thousandth to remove the conversion error. */
static inline double oc_ns_of(double s)
{
    return fabs(s) < 9e3 ? round(s * 1e12) / 1e3 : s * 1e9;
}

/* A title or a sentence in which FLOP stands for the unit of the counts, in the words of the tool whose convention counted
 * them: "GFLOP/s" is "GMAC/s" for onnx-tool. The text itself, or a copy in the arena of the report. */
const char *oc_work_words(struct oc_report *r, const char *text);

/* The node of a row, of several the first; OC_NONE: none. */
uint32_t oc_row_node(const struct oc_report *r, const struct oc_row *row);

bool oc_report_grouped(const struct oc_report_opts *o);

/* Rows of the analysis, of the join, or of the profile alone, depending on the sources. */
void oc_report_rows(struct oc_report *r);
/* Scales work to the measured time: with --stat sum it is the work of all runs. After the rooflines. */
void oc_report_count_runs(struct oc_report *r);
/* Data for shown rows only: ids, info cells, shapes. */
void oc_report_finish(struct oc_report *r);

/* Of a model alone a row is the cost of a node: a report of a million nodes stores none (384 bytes each). Whether the
 * options allow it: rows are neither selected nor sorted. */
bool oc_rows_on_demand(const struct oc_report *r);
/* Instead of oc_report_rows: r->all has the nodes of the rows, and none is stored. */
void oc_report_list_rows(struct oc_report *r);
/* Row i; one that is not stored is made in `room`, without what oc_row_finish sets. */
const struct oc_row *oc_row_at(const struct oc_report *r, const struct oc_rows *rows, uint32_t i,
                               struct oc_row *room);
/* The label of a node without a name, the id and the shapes. Texts are in the arena. */
void oc_row_finish(struct oc_report *r, struct oc_row *row, struct oc_arena *arena);

/* Roofline of every row, when the report has a device. */
void oc_report_roofs(struct oc_report *r);
/* Roofline options from the report options; a may be NULL. */
struct oc_roof_opts oc_report_roof_opts(const struct oc_report_opts *o, const struct oc_analysis *a);

/* The summary above the table: short lines "label text", in the arena. */
struct oc_summary_line {
    const char *label, *text;
    bool detail; /* shown only with -v */
};
struct oc_summary {
    struct oc_summary_line *line;
    uint32_t n, cap;
};
/* Class (OC_CLASS_F16 ...) of most of the profile's time if recorded, else of most MACs of the model. */
unsigned oc_report_class(const struct oc_report *r);

void oc_report_summary(struct oc_report *r, struct oc_summary *s); /* free with free(s->line) */

void oc_out_term(struct oc_report *r, FILE *f);
void oc_out_json(struct oc_report *r, FILE *f);
void oc_out_markdown(struct oc_report *r, FILE *f);
void oc_out_trace(struct oc_report *r, FILE *f);
void oc_out_model_explorer(struct oc_report *r, FILE *f);
void oc_out_netron(struct oc_report *r, FILE *f);
void oc_out_html(struct oc_report *r, FILE *f);
void oc_out_fragment(struct oc_report *r, FILE *f);

/* ---- nodes -------------------------------------------------------------------------------------------- */

void oc_report_node_shapes(struct oc_report *r, struct oc_row *row, const struct oc_node *n);

double oc_report_node_flo(const struct oc_node_cost *k);

/* ---- buckets ---------------------------------------------------------------------------------------- */

/* Unattributed time of a profile, summed by kind: the profile's own buckets (framework, load, ...) and, with
 * a model, the rest of the join (layout, copies, unmatched, ...). Together with the rows outside of buckets
 * they add up to all the time read. */

struct oc_bucket_sum {
    const char *name;
    double time_ns, kernel_ns;        /* own time on the host, time on the device; NAN: no record has it */
    double total_ns, total_kernel_ns; /* the same, of all calls read */
    uint32_t records;
    bool of_profile; /* defined by the profile; else by the join */
};

/* In order of appearance, in the report's arena. Returns their number. */
uint32_t oc_report_buckets(struct oc_report *r, const struct oc_bucket_sum **out);

/* ---- rooflines of rows -------------------------------------------------------------------------------- */

/* Roofline of the whole report: sums over the rows with a limit, and how the time is distributed over what
 * bounds it. Seconds; NAN: unknown. */

struct oc_bound_share {
    const char *name; /* "DRAM", "compute:vector" ... */
    double time_s;    /* measured; NAN without times */
    double roof_s;
    uint32_t rows;
};

struct oc_row_bounds {
    double roof_s;                /* sum of the rows' roofline times; NAN: unknown */
    double time_s;                /* measured time of the same rows; NAN without times */
    double wasted_s;              /* time minus roofline time */
    uint32_t rows, missing;       /* rows with and without a limit */
    uint32_t partial;             /* of `rows`: those with a lower bound of their limit only */
    struct oc_row_limits limits;  /* sums of the rows with a limit */
    struct oc_bound_share *share; /* longest first; in the report's arena */
    uint32_t n_share;
};

void oc_bounds_of(struct oc_report *r, struct oc_row_bounds *out);

/* "vector" of "compute:vector". */
static inline const char *oc_bound_short(const char *name)
{
    const char *colon = strchr(name, ':');
    return colon ? colon + 1 : name;
}

/* Its share of all rows with a limit: of the measured time, or without times of the roofline time. */
double oc_bound_fraction(const struct oc_row_bounds *b, const struct oc_bound_share *s);

/* ---- limit columns ---------------------------------------------------------------------------------- */

/* Roofline columns: a time for each unit with work and each memory level of the device, named after it
 * ("vector_ns", "l2_ns"), their shares of the measured time, and the time after all steps of --what-if. */

/* Fills r->extra, in the report's arena; none without hardware. */
void oc_limit_columns(struct oc_report *r);

/* ---- what if ------------------------------------------------------------------------------------------ */

/* What-if analysis: the time of a report's rows after hypothetical changes, applied in sequence. All results
 * are estimates: a measured time scales with the roofline of its row. Times that are not measured are
 * roofline times plus launch overhead.
 *
 *   fuse=elementwise     first: element-wise rows go into the rows that produce their input
 *   --as TYPE            then: see estimate/recast.h
 *   KEY=80%              rows take their roofline time / 0.8; those that are faster, and overhead-bound ones,
 *                        keep their measured time
 *   KEY=2x               rows take half of their time
 *   hw=NAME              rows scale by roofline(NAME) / roofline(current), overhead-bound ones by the ratio
 *                        of overheads
 *
 * A row whose limit is unknown before or after a step loses its time, and so does the sum: a missing peak is
 * never replaced by another class's. */

struct oc_what_if_row { /* of the report's row of the same index */
    struct oc_work work;
    bool counted;  /* included: has a time */
    bool limited;  /* `work` is known */
    bool overhead; /* bound by launch overhead */
    uint32_t into; /* row that it was fused into; its own index: none */
    double time_s; /* NAN: no longer known; 0 when fused */
    double roof_s, overhead_s;
    char missing[32];
};

struct oc_what_if_step {
    const char *title;        /* "Conv at 80 % of the roofline" */
    const char *note;         /* assumptions of the step */
    double before_s, after_s; /* sum over the rows with a known time, those of no operator included */
    uint32_t rows, kept,
        unknown; /* rows selected; of these, rows that keep their time; rows whose time became unknown */
    const char *missing; /* reason for the first of them: "vector f8 peak" */
};

struct oc_what_if {
    struct oc_report *r;
    const struct oc_device *device; /* device after the step; NULL */
    struct oc_roof_opts roof;
    struct oc_what_if_row *row;
    struct oc_what_if_step *step;
    size_t n_step;
    double now_s;           /* of all rows, before any step */
    double bound_s;         /* lower bound of a run after all steps (estimate/bound.h); NAN: unknown */
    double *rest, rest_s;   /* time of each remainder row now, and their sum, which is in now_s too */
    uint32_t rows, unknown; /* rows with a time in now_s, and rows that lost it */
    uint32_t left_out;      /* rows that never had one */
};

bool oc_what_if_asked(const struct oc_report_opts *o);

/* Computes r->what_if and the rows' what_if_s if requested. Errors: OC_EARG naming the option. */
int oc_what_if_make(struct oc_report *r, struct oc_err *err);

void oc_what_if_text(const struct oc_what_if *x, struct oc_arena *arena, FILE *f);

struct oc_json_out;
void oc_what_if_json(const struct oc_what_if *x, struct oc_json_out *w); /* the value of "what_if" */

#endif
