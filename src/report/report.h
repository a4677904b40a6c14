/* One report in the making: what it is about, the rows, and what the writers need to know of all of them.
 * rows_build.c fills it, the writers (out_term, out_csv, out_json) read it. Public side: oc_report_write. */
#ifndef OC_REPORT_H
#define OC_REPORT_H

#include "analyze/analysis.h"
#include "base/buf.h"
#include "estimate/roofline.h"
#include "profile/profile.h"
#include "report/rows.h"

struct oc_column;
struct oc_what_if;
struct oc_advice;

struct oc_report {
    uint32_t *why; /* nodes whose receipts are wanted: o->n_why */
    struct oc_arena arena;
    const struct oc_report_in *in;
    const struct oc_report_opts *o;
    struct oc_rows all;               /* every row that the source has; only counted: see few_rows.h */
    struct oc_rows shown;             /* filtered, aggregated, ordered, cut */
    struct oc_rows groups;            /* JSON with --aggregate: the groups; `shown` then has their members */
    uint32_t *place;                  /* JSON: by record, its place among the rows that are written */
    double runs;                      /* runs that a time stands for: 1, or all used ones with --stat sum */
    double total_s;                   /* what shares of time refer to; NAN without times */
    double total_flo;                 /* known operations of all rows */
    bool has_time;                    /* some row has a time */
    uint32_t n_too_fast;              /* rows that took less than the hardware allows */
    const struct oc_what_if *what_if; /* NULL: not asked for */
    const struct oc_advice *advice;   /* likewise */
    struct oc_column *extra;          /* columns of the hardware (limit_columns.h) */
    size_t n_extra;
    struct oc_roof_opts roof; /* how rows are held against the hardware */
};

/* Seconds to nanoseconds, without the dust of the conversion (a thousandth of a nanosecond is kept). */
static inline double oc_ns_of(double s)
{
    return fabs(s) < 9e3 ? round(s * 1e12) / 1e3 : s * 1e9;
}

static inline bool oc_report_grouped(const struct oc_report_opts *o)
{
    return o->aggregate || o->group_by;
}

/* Rows of the analysis, of the join, or of the profile alone, whichever the report is about. */
void oc_report_rows(struct oc_report *r);
/* What only shown rows need: ids, info cells, shapes. */
void oc_report_finish(struct oc_report *r);

/* Limits of the hardware for every row, when the report has a device. */
void oc_report_roofs(struct oc_report *r);
/* How the options want work to be held against a device; a may be NULL. */
struct oc_roof_opts oc_report_roof_opts(const struct oc_report_opts *o, const struct oc_analysis *a);

/* The block above the table: short lines "label  text", in the arena. */
struct oc_summary_line {
    const char *label, *text;
    bool detail; /* not one of the main lines */
};
struct oc_summary {
    struct oc_summary_line *line;
    uint32_t n, cap;
};
/* Class (OC_CLASS_F16 ...) that did most of the time of the profile if it tells, else most MACs of the model.
 */
unsigned oc_report_class(const struct oc_report *r);

void oc_report_summary(struct oc_report *r, struct oc_summary *s); /* free(s->line) */

void oc_out_term(struct oc_report *r, FILE *f);
void oc_out_csv(struct oc_report *r, FILE *f);
void oc_out_json(struct oc_report *r, FILE *f);
void oc_out_markdown(struct oc_report *r, FILE *f);
void oc_out_trace(struct oc_report *r, FILE *f);
void oc_out_overlay(struct oc_report *r, FILE *f);
void oc_out_html(struct oc_report *r, FILE *f);

#endif
