/* The report about several profiles of one model: one row per set of nodes that no profile splits, one group
 * of columns per profile. */
#ifndef OC_OUT_COMPARE_H
#define OC_OUT_COMPARE_H

#include "join/compare.h"
#include "report/report.h"

/* A report under construction: `rows` are the selected ones, row.record is the index of the set in `c`. */
struct oc_comparing {
    struct oc_compare c;
    const struct oc_model *model;
    const struct oc_device *device;
    const struct oc_report_opts *o;
    struct oc_arena arena;
    struct oc_rows rows;
    bool combine; /* adds the shortest time of each row to the times of the sources */
};

/* The row with the time of one source, for its rates. */
struct oc_row oc_compare_timed(const struct oc_comparing *x, const struct oc_row *row, uint32_t source);

void oc_compare_table(struct oc_comparing *x, FILE *f,
                      bool csv); /* csv: full precision; otherwise rounded text */
void oc_compare_markdown(struct oc_comparing *x, FILE *f);
void oc_compare_json(struct oc_comparing *x, FILE *f);

/* Name of a source in titles and keys: "A", "B" ... "Z", "S27". Arena text. */
const char *oc_compare_letter(struct oc_arena *a, uint32_t source);

#endif
