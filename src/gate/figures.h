/* The figures of a report that limits are held against. A figure is a span: what it is at least, and at most
 * if that is known. Exact counts have both ends the same. */
#ifndef OC_FIGURES_H
#define OC_FIGURES_H

#include "gate/limits.h"
#include "report/report.h"

struct oc_estimate;

struct oc_figure_span {
    struct oc_gate_number lo, hi;
    bool bounded;     /* hi holds; else it may be anything above lo */
    bool exact;       /* lo is hi */
    const char *from; /* "measured", "estimated, 80 % interval" ...; NULL: counted */
    const char *why;  /* why it is not exact; NULL */
    uint32_t *node;   /* whom to look at: the largest one, or every offender; heap */
    uint32_t n_node, cap_node;
    uint32_t all_node; /* there are so many of them: more than OC_FIGURE_NODES are not listed */
    const char *name;  /* of the first, or of a record of the profile; NULL */
};
#define OC_FIGURE_NODES 1000

struct oc_figures {
    const struct oc_report_in *in;
    const struct oc_estimate *estimate; /* NULL: none */
    struct oc_report report;            /* its rows, for times */
    struct oc_report_opts opts;
};

/* in: with an analysis, and a join if there is a profile. All must outlive the figures, which must not move.
 * cache: rooflines as in struct oc_report_opts. */
void oc_figures_make(struct oc_figures *f, const struct oc_report_in *in, const struct oc_estimate *estimate,
                     bool cache);
void oc_figures_free(struct oc_figures *f);

/* One figure, of the operators that type and module name (NULL: all). Texts live in the arena of the report;
 * free(out->node). */
void oc_figure(struct oc_figures *f, enum oc_gate_metric m, const char *type, const char *module,
               struct oc_figure_span *out);

/* Does the node count in totals: in a graph that runs, in a branch that is taken? */
bool oc_node_counts(const struct oc_analysis *a, uint32_t node);

/* Whether it is executed, or has counts, or may have them: nothing of the kind is known of a folded node. */
bool oc_node_has_work(const struct oc_node_cost *k);

#endif
