/* Private to the writers of the HTML report: parts of the data that its page shows. The page
 * (src/write/page/) is built in; the data is one JSON document inside it, columns as arrays. Unknown is null;
 * whole numbers beyond 2^53, which scripts would round, are strings of digits; times are nanoseconds. */
#ifndef OC_OUT_HTML_H
#define OC_OUT_HTML_H

#include "report/report.h"
#include "write/json_keys.h"

/* The built-in page, with marks where title, data and licences go. */
extern const unsigned char oc_page[];
extern const size_t oc_page_bytes;

/* A whole number, as a string where a script would round it. */
void oc_page_u64(struct oc_json_out *w, uint64_t v);
void oc_page_key_u64(struct oc_json_out *w, const char *key, bool known, uint64_t v);
/* With at most `digits` significant ones, whole numbers without a point; not finite: null. */
void oc_page_number(struct oc_json_out *w, double v, int digits);
/* Members of a column of n texts: "dict" and "index" where they repeat, else "values"; one value: "same". */
void oc_page_texts(struct oc_json_out *w, const char *const *text, uint32_t n, struct oc_arena *arena);
/* Likewise of numbers, with 10 significant digits. */
void oc_page_numbers(struct oc_json_out *w, const double *v, size_t n);
/* Numbers that rise slowly, as differences: the first one, then each less the one before. */
void oc_page_steps(struct oc_json_out *w, const char *key, const int64_t *v, size_t n);

/* Members of the document. */
void oc_page_rows(struct oc_json_out *w, struct oc_report *r);     /* "rows", "columns", "nodes" */
void oc_page_totals(struct oc_json_out *w, struct oc_report *r);   /* "totals", "profile" */
void oc_page_hardware(struct oc_json_out *w, struct oc_report *r); /* "hardware" */
void oc_page_coverage(struct oc_json_out *w, struct oc_report *r); /* "coverage", "assumptions", "findings" */
void oc_page_memory(struct oc_json_out *w, struct oc_report *r);   /* "memory" */
void oc_page_kernels(struct oc_json_out *w, struct oc_report *r);  /* "kernels" */
void oc_page_timeline(struct oc_json_out *w, struct oc_report *r); /* "timeline" */

#endif
