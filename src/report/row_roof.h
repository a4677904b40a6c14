/* Roofline of the whole report: sums over the rows with a limit, and how the time is distributed over what
 * bounds it. Seconds; NAN: unknown. */
#ifndef OC_ROW_ROOF_H
#define OC_ROW_ROOF_H

#include "estimate/roofline.h"
#include "report/columns.h"
#include "report/report.h"

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

/* Its share of all rows with a limit: of the measured time, or without times of the roofline time. */
double oc_bound_fraction(const struct oc_row_bounds *b, const struct oc_bound_share *s);

/* Sets the roofline time of a row and what follows from it: a lower bound of it (`partial`) has no
 * efficiency. */
void oc_row_set_roof(struct oc_row *row, double roof_s, bool partial);

/* ---- limit columns ---------------------------------------------------------------------------------- */

/* Roofline columns: a time for each unit with work and each memory level of the device, named after it
 * ("vector_ns", "l2_ns"), their shares of the measured time, and the time after all steps of what_if.h. */

/* Fills r->extra, in the report's arena; none without hardware. */
void oc_limit_columns(struct oc_report *r);

#endif
