/* Suggestions with their evidence. A rule reads the rows of a report, the graph and the events of the
 * profile and reports rows, a lower and an upper bound of the time or bytes saved, their formula, and what
 * to do. Without rows there is no suggestion.
 *
 * Savings overlap (a kernel can be both tiny and a layout conversion) and are not additive. Times are
 * nanoseconds per run, NAN: unknown. A rule is a row of the table in advice.c. */
#ifndef OC_ADVICE_H
#define OC_ADVICE_H

#include "report/report.h"

enum oc_advice_severity {
    OC_ADVICE_INFO, /* no known saving, or the runtime already does it */
    OC_ADVICE_LOW,
    OC_ADVICE_MEDIUM, /* saves at least 3 % of a run */
    OC_ADVICE_HIGH    /* saves at least 10 % */
};
const char *oc_advice_severity_name(unsigned severity);

struct oc_advice_proof {
    uint32_t node, record; /* OC_NONE: none, or several */
    const char *name, *type, *text;
    double time_ns;
    double bytes; /* NAN: unknown */
};

struct oc_advice_item {
    const char *id, *title;
    unsigned severity;
    const char *found, *todo, *basis; /* basis: formula of the saving; NULL: unknown */
    double low_ns, high_ns;           /* low known, high unknown: "at least" */
    double share;                     /* share of a run: of high, otherwise of low; NAN */
    double saved_bytes;               /* NAN: unknown */
    struct oc_advice_proof *proof;    /* sorted by time, longest first */
    uint32_t n_proof, cap_proof;
    struct oc_advice_item *before; /* private to advice/: the item made before this one */
};

struct oc_advice {
    const char *whole;            /* "of a run", or of another basis */
    double run_ns;                /* basis of shares, NAN without times */
    struct oc_advice_item **item; /* largest saving first */
    uint32_t n, cap;
    uint32_t rules, all_rules; /* rules with all inputs (others lack a profile, a model or a device); all
                                * rules */
};

/* Needs the rows of the report and, with a device, their limits. Allocated in the report's arena. */
struct oc_advice *oc_advice_make(struct oc_report *r);
/* Sets the causes of the report's anomalies (report/headline.h), which its verdict names: to be called before the verdict is
 * written. */
void oc_advice_explain_anomalies(struct oc_report *r);

#endif
