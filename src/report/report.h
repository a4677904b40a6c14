/* The data of one report: its sources, the rows, and the totals for the writers. rows_build.c fills it, the
 * writers (out_term, out_csv, out_json) read it. Public interface: oc_report_write. */
#ifndef OC_REPORT_H
#define OC_REPORT_H

#include "analyze/analysis.h"
#include "base/buf.h"
#include "estimate/roofline.h"
#include "onnxcost_types.h"
#include "profile/profile.h"
#include "report/rows.h"

struct oc_column;
struct oc_what_if;
struct oc_advice;

struct oc_report {
    uint32_t *why; /* nodes with a requested cost breakdown: o->n_why */
    struct oc_arena arena;
    const struct oc_report_in *in;
    const struct oc_report_opts *o;
    struct oc_rows all;    /* every row of the source; only counted: see few_rows.h */
    struct oc_rows shown;  /* filtered, aggregated, sorted, truncated */
    struct oc_rows groups; /* JSON with --aggregate: the groups; `shown` then contains their members */
    uint32_t *place;       /* JSON: by record, its index among the written rows */
    double runs;           /* number of runs in a time: 1, or all used ones with --stat sum */
    double total_s;        /* the 100 % of time shares; NAN without times */
    double total_flo;      /* known operations of all rows */
    bool has_time;         /* at least one row has a time */
    bool has_share;        /* rows have shares of an event instead */
    bool has_energy;       /* rows have measured energies */
    uint32_t n_too_fast;   /* rows faster than their roofline time */
    const struct oc_what_if *what_if; /* NULL: not requested */
    const struct oc_advice *advice;   /* NULL: not requested */
    struct oc_column *extra;          /* columns of the hardware (row_roof.h) */
    size_t n_extra;
    struct oc_roof_opts roof; /* roofline options of the rows */
    double bound_s; /* lower bound of a run on the device for any runtime (estimate/bound.h); NAN: unknown */
};

/* Seconds to nanoseconds, rounded to a thousandth to remove the conversion error. */
static inline double oc_ns_of(double s)
{
    return fabs(s) < 9e3 ? round(s * 1e12) / 1e3 : s * 1e9;
}

/* The node of a row, of several the first; OC_NONE: none. */
uint32_t oc_row_node(const struct oc_report *r, const struct oc_row *row);

bool oc_report_grouped(const struct oc_report_opts *o);

/* Rows of the analysis, of the join, or of the profile alone, depending on the sources. */
void oc_report_rows(struct oc_report *r);
/* Scales work to the measured time: with --stat sum it is the work of all runs. After the rooflines. */
void oc_report_count_runs(struct oc_report *r);
/* Data for shown rows only: ids, info cells, shapes. */
void oc_report_finish(struct oc_report *r);

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

/* ---- rows build --------------------------------------------------------------------------------------- */

/* Private to rows_build.c and the files that read its rows. */

void oc_report_node_shapes(struct oc_report *r, struct oc_row *row, const struct oc_node *n);

/* Nodes that do work when the model runs: not folded, absorbed or in a branch not taken. */
bool oc_report_node_executes(const struct oc_node_cost *k);
double oc_report_node_flo(const struct oc_node_cost *k);

/* Sets the figures of a node in a blank row or in one for another node, and its name if it has one. */
void oc_report_node_row(const struct oc_report *r, uint32_t node, struct oc_row *row);
/* Further inputs of row selection: a label for a node without a name, types and shapes. Once per row. */
void oc_report_node_texts(struct oc_report *r, struct oc_row *row);

void oc_report_no_rows(struct oc_report *r); /* r->all, empty */

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

#endif
