/* The sizes of runs that differ in them: one line for each set of sizes. */
#ifndef OC_OUT_SIZES_H
#define OC_OUT_SIZES_H

#include "base/json_write.h"
#include "join/run_sizes.h"
#include "report/report.h"

/* The sizes of the report; NULL: all runs have the same. */
const struct oc_sizes *oc_report_sizes(const struct oc_report *r);

/* "5 sizes"; "48 to 320" for an open dimension of an input, NULL: it does not vary. */
const char *oc_sizes_range(const struct oc_sizes *s, uint32_t input, unsigned axis, struct oc_arena *a);

/* The sets with the most time, the others as one line. A title before the table. */
void oc_out_sizes(struct oc_report *r, bool markdown, FILE *f);

/* The value of the member "sizes". */
void oc_json_sizes(struct oc_json_out *w, const struct oc_sizes *s);
/* The value of the member "sizes" of a row. */
void oc_json_row_sizes(struct oc_json_out *w, const struct oc_join *j, uint32_t record);

#endif
