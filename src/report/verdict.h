/* What a report says first: where the time of a run goes, in parts that sum to it, the largest gaps to the
 * roofline, and one sentence. It takes its figures from headline.h and row_roof.h. */
#ifndef OC_VERDICT_H
#define OC_VERDICT_H

#include "report/report.h"

enum oc_time_part_id {
    OC_PART_ROOFLINE,  /* of the rows with a bound: their roofline time; all of their time where they are
                        * faster
                        */
    OC_PART_ABOVE,     /* the rest of their time */
    OC_PART_UNBOUND,   /* other operators; without a device: all operators */
    OC_PART_ADDED,     /* runtime-inserted rows without a bound: layout, copies ... */
    OC_PART_UNMATCHED, /* records without a node of the model */
    OC_PART_OUTSIDE,   /* of the latency, in no row: framework, gaps between operators */
    OC_PART_COUNT
};
extern const char *const oc_time_part_id_text[OC_PART_COUNT]; /* "roofline_ns", as in JSON */

struct oc_time_part {
    const char *name; /* "above the roofline" */
    double ns;        /* 0: there is none */
    uint32_t rows;
};

enum { OC_LARGEST = 3 };
struct oc_largest { /* a row */
    const struct oc_row *row;
    const char *label;
    double time_ns, gap_ns; /* of a run; gap NAN: no bound is known */
};

struct oc_verdict {
    const char *text;                        /* "3.73 ms per run: ..."; NULL: nothing is known of a run */
    struct oc_time_part part[OC_PART_COUNT]; /* of measured times */
    double whole_ns;                         /* sum of the parts; NAN: no times */
    double run_ns;                           /* latency, less than whole_ns where operators overlap */
    struct oc_largest largest[OC_LARGEST];   /* by gap, where no row has one by time */
    uint32_t n_largest;
};

/* Texts are in the report's arena. */
void oc_verdict_of(struct oc_report *r, struct oc_verdict *out);

#endif
