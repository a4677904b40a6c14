/* write/commands/: Output of the other commands, a file each: texts, and one list of fields for JSON and
 * CSV. Figures come from the folder of the command.
 * Private to the folder: out_check.h. */

/* Private to out_compare*.c: several profiles of one model, joined. */
#ifndef OC_COMPARE_VIEW_H
#define OC_COMPARE_VIEW_H

#include <stdio.h>

#include "join/compare.h"
#include "onnxcost/report.h"
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

/* Name of a source in titles and keys: "A", "B" ... "Z", "S27". Arena text. */
const char *oc_compare_letter(struct oc_arena *a, uint32_t source);
/* "median": of one run. */
const char *oc_compare_stat(const struct oc_profile *p);
/* The row with the time of one source, for its rates. */
struct oc_row oc_compare_timed(const struct oc_comparing *x, const struct oc_row *row,
                               const struct oc_compare_cell *cell, uint32_t source);

enum { OC_COMPARE_PAGE_SOURCES = 10 };
void oc_compare_page(struct oc_comparing *x, FILE *f); /* at most so many sources */

#endif
