/* The check of a report: the value and verdict of every limit, with a one-line reason. */
#ifndef OC_CHECK_H
#define OC_CHECK_H

#include "gate/figures.h"
#include "gate/limits.h"
#include "onnxcost/gate.h"

struct oc_verdict {
    const struct oc_limit *limit;
    struct oc_figure_span span;
    enum oc_check_result result;
    struct oc_gate_number excess; /* OC_CHECK_FAILED: excess over the limit */
    const char *title;            /* "macs of type Conv" */
    const char *value, *bound;    /* of the value; "at most 4.1G" */
    const char *reason;           /* one line, set for every result */
};

struct oc_check {
    struct oc_arena arena;
    struct oc_figures figures;
    const struct oc_report_in *in; /* copy of the caller's */
    struct oc_verdict *verdict;
    size_t n;
    struct oc_check_counts counts;
};

/* oc_check_make, oc_check_free: see onnxcost/gate.h. */

#endif
