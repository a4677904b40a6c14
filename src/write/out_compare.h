/* The report about several profiles of one model: a row for each set of nodes that no profile cuts through, a
 * group of columns for each profile. */
#ifndef OC_OUT_COMPARE_H
#define OC_OUT_COMPARE_H

#include "join/compare.h"
#include "report/report.h"

/* A report in the making: `rows` are the chosen ones, row.record is the index of the set in `c`. */
struct oc_comparing {
    struct oc_compare c;
    const struct oc_model *model;
    const struct oc_device *device;
    const struct oc_report_opts *o;
    struct oc_arena arena;
    struct oc_rows rows;
    bool combine; /* one time for each row, the best there is, beside those of the sources */
};

void oc_compare_table(struct oc_comparing *x, FILE *f, bool csv); /* csv: full precision, else for people */
void oc_compare_markdown(struct oc_comparing *x, FILE *f);
void oc_compare_json(struct oc_comparing *x, FILE *f);

/* Name of a source in titles and keys: "A", "B" ... "Z", "S27". Arena text. */
const char *oc_compare_letter(struct oc_arena *a, uint32_t source);

#endif
