/* What could be faster, with the rows that prove it. A rule looks at the rows of a report, the graph and the
 * events of the profile, and tells what it finds: which rows, how much time or how many bytes it would save
 * at most and at least, by which formula, and what to do. It tells nothing without such rows.
 *
 * Savings of findings may overlap (a kernel can be both tiny and a layout change): they are never added up.
 * Times are nanoseconds of one run, NAN: not known. A rule is a row of the table in advice.c. */
#ifndef OC_ADVICE_H
#define OC_ADVICE_H

#include "report/report.h"

enum oc_advice_severity {
    OC_ADVICE_INFO, /* no saving is known, or a runtime will see to it */
    OC_ADVICE_LOW,
    OC_ADVICE_MEDIUM, /* 3 % of a run or more */
    OC_ADVICE_HIGH    /* 10 % */
};
const char *oc_advice_severity_name(unsigned severity);

struct oc_advice_proof {
    uint32_t node, record; /* OC_NONE: none, or several */
    const char *name, *type, *text;
    double time_ns;
    double bytes; /* NAN: not known */
};

struct oc_advice_item {
    const char *id, *title;
    unsigned severity;
    const char *found, *todo, *basis; /* basis: how the saving is computed; NULL: none is known */
    double low_ns, high_ns;           /* low known and high not: "at least" */
    double share;                     /* of a run: of high, else low; NAN */
    double saved_bytes;               /* NAN: not known */
    struct oc_advice_proof *proof;    /* the longest first */
    uint32_t n_proof, cap_proof;
};

struct oc_advice {
    const char *whole;            /* "of a run", or of what else */
    double run_ns;                /* what shares refer to, NAN without times */
    struct oc_advice_item **item; /* those that save the most first */
    uint32_t n, cap;
    uint32_t rules, all_rules; /* that could look (others lack a profile, a model or hardware); all */
};

/* The rows of the report and, with hardware, their limits must be there. Lives in the report's arena. */
struct oc_advice *oc_advice_make(struct oc_report *r);

#endif
