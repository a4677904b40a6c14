/* What-if analysis: the time of a report's rows after hypothetical changes, applied in sequence. All results
 * are estimates: a measured time scales with the roofline of its row. Times that are not measured are
 * roofline times plus launch overhead.
 *
 *   --fuse elementwise   first: element-wise rows go into the rows that produce their input
 *   --as TYPE            then: see estimate/recast.h
 *   KEY=80%              rows take their roofline time / 0.8; those that are faster, and overhead-bound ones,
 *                        keep their measured time
 *   KEY=2x               rows take half of their time
 *   hw=NAME              rows scale by roofline(NAME) / roofline(current), overhead-bound ones by the ratio
 *                        of overheads
 *
 * A row whose limit is unknown before or after a step loses its time, and so does the sum: a missing peak is
 * never replaced by another class's. */
#ifndef OC_WHAT_IF_H
#define OC_WHAT_IF_H

#include "estimate/recast.h"
#include "report/report.h"

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
    double before_s, after_s; /* sum over the rows with a known time */
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
    double beside_s;        /* of a run, outside of the rows: unchanged; NAN: unknown */
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
