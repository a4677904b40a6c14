/* The values of a report that limits are compared with. A value is an interval: a lower bound, and an
 * upper bound if known. Both are equal for exact values. */
#ifndef OC_FIGURES_H
#define OC_FIGURES_H

#include "gate/limits.h"
#include "onnxcost/gate.h"
#include "onnxcost/report.h"
#include "report/report.h"

struct oc_bounds;
struct oc_estimate;

struct oc_figure_span {
    struct oc_gate_number lo, hi;
    bool bounded;     /* hi is valid; otherwise there is no upper bound */
    bool exact;       /* lo == hi */
    const char *from; /* "measured", "estimated, 80 % interval" ...; NULL: counted */
    const char *why;  /* reason if not exact; NULL */
    uint32_t *node;   /* nodes to report: the largest one, or every violation; on the heap */
    uint32_t n_node, cap_node;
    uint32_t all_node; /* number of nodes: at most OC_FIGURE_NODES are listed */
    const char *at;    /* over ranges: the sizes with the largest figure; NULL */
    const char *name;  /* name of the first node, or of a profile record; NULL */
};
#define OC_FIGURE_NODES 1000

struct oc_figures {
    const struct oc_report_in *in;
    const struct oc_estimate *estimate; /* NULL: none */
    const struct oc_bounds *bounds;     /* over ranges of dimensions; NULL: single sizes */
    struct oc_report report;            /* rows of the report, for times */
    struct oc_report_opts opts;
};

/* in: with an analysis, and a join if there is a profile. All must outlive the figures, which must stay at
 * one address. cache: rooflines as in struct oc_report_opts. */
void oc_figures_make(struct oc_figures *f, const struct oc_report_in *in, const struct oc_estimate *estimate,
                     bool cache);
void oc_figures_free(struct oc_figures *f);

/* Computes one value over the operators selected by type and module name (NULL: all). Texts are allocated
 * in the report's arena; the caller frees out->node. */
void oc_figure(struct oc_figures *f, enum oc_gate_metric m, const char *type, const char *module,
               struct oc_figure_span *out);

/* Whether the node counts in totals: its graph runs and its branch is taken. */
bool oc_node_counts(const struct oc_analysis *a, uint32_t node);

/* Whether the node is executed, has a cost, may have a cost; undefined for folded nodes. */
bool oc_node_has_work(const struct oc_node_cost *k);

/* ---- check --------------------------------------------------------------------------------------------- */

/* The check of a report: the value and verdict of every limit, with a one-line reason. */

struct oc_limit_verdict {
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
    struct oc_limit_verdict *verdict;
    size_t n;
    struct oc_check_counts counts;
};

/* oc_check_make, oc_check_free: see onnxcost/gate.h. */

#endif
