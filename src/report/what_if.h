/* What the rows of a report would take under other circumstances: steps one after the other, each on top of
 * those before. All of it is estimated: a measured time moves as the roofline of its row does. Times that are
 * not measured are those of the roofline with the overhead of the launches.
 *
 *   --fuse elementwise   first: see oc_fuse_rows
 *   --as TYPE            then: see estimate/recast.h
 *   KEY=80%              rows take their roofline / 0.8; those that are faster, and those that the overhead
 *                        of a launch bounds, keep their measured time
 *   KEY=2x               rows take half of their time
 *   hw=NAME              rows move by roofline(NAME) / roofline(here), those that overhead bounds by the
 * ratio of overheads
 *
 * A row whose limit is not known before or after a step has no time from then on, and neither has the sum:
 * a missing peak is never another class's. */
#ifndef OC_WHAT_IF_H
#define OC_WHAT_IF_H

#include "estimate/recast.h"
#include "report/report.h"

struct oc_what_if_row { /* of the report's row of the same index */
    struct oc_work work;
    bool counted;  /* takes part: has a time */
    bool limited;  /* `work` is known */
    bool overhead; /* the overhead of a launch bounds it */
    uint32_t into; /* row that it was fused into; its own index: none */
    double time_s; /* NAN: not known any more; 0 when fused */
    double roof_s, overhead_s;
    char missing[32];
};

struct oc_what_if_step {
    const char *title;            /* "Conv at 80 % of the roofline" */
    const char *note;             /* what is assumed */
    double before_s, after_s;     /* of the rows whose time is known */
    uint32_t rows, kept, unknown; /* rows it is about; of these with their old time; whose time is lost */
    const char *missing;          /* why, of the first: "vector f8 peak" */
};

struct oc_what_if {
    struct oc_report *r;
    const struct oc_device *device; /* where the rows are now; NULL */
    struct oc_roof_opts roof;
    struct oc_what_if_row *row;
    struct oc_what_if_step *step;
    size_t n_step;
    double now_s;           /* of all rows, before any step */
    double beside_s;        /* of a run, outside of the rows: stays; NAN: not known */
    uint32_t rows, unknown; /* with a time in now_s, and without one after all steps */
    uint32_t left_out;      /* never had one */
};

bool oc_what_if_asked(const struct oc_report_opts *o);

/* Makes r->what_if and the rows' what_if_s, if it is asked for. Errors: OC_EARG naming the option. */
int oc_what_if_make(struct oc_report *r, struct oc_err *err);

void oc_what_if_text(const struct oc_what_if *x, struct oc_arena *arena, FILE *f);

struct oc_json_out;
void oc_what_if_json(const struct oc_what_if *x, struct oc_json_out *w); /* the value of "what_if" */

/* ---- private: fuse_rows.c -------------------------------------------------------------------------------
 */

/* Puts element-wise rows into the rows that make what they read. Returns how many. */
uint32_t oc_fuse_rows(struct oc_what_if *x);

/* Root of a row: itself, or the row that it was fused into. */
uint32_t oc_what_if_root(const struct oc_what_if *x, uint32_t row);
/* Nodes of a row of the report; the list is in the join, or *one. */
const uint32_t *oc_what_if_nodes(const struct oc_report *r, uint32_t row, uint32_t *one, uint32_t *n);
/* Time that is not measured, of a row whose limits were those of `was`: its overhead apart, it moves with the
 * roofline. */
double oc_what_if_moved(double time_s, const struct oc_what_if_row *was, const struct oc_what_if_row *row);
/* roof_s, overhead_s and missing from the work on the device. */
void oc_what_if_limit(struct oc_what_if *x, struct oc_what_if_row *row);

#endif
