/* Private to the writers of the HTML report: parts of the page's data. The page (src/write/page/) is built
 * in; the data is one JSON document in it with columns as arrays. Unknown is null; integers above 2^53,
 * which JavaScript would round, are strings of digits; times are nanoseconds. */
#ifndef OC_OUT_HTML_H
#define OC_OUT_HTML_H

#include "report/headline.h"
#include "report/report.h"
#include "write/tables/json_keys.h"

/* An integer, as a string if JavaScript would round it. */
void oc_page_u64(struct oc_json_out *w, uint64_t v);
void oc_page_key_u64(struct oc_json_out *w, const char *key, bool known, uint64_t v);
/* A column of n texts as an object: "dict" and "index" if texts repeat, otherwise "values"; "same" for one value. */
void oc_page_key_texts(struct oc_json_out *w, const char *key, const char *const *text, uint32_t n,
                       struct oc_arena *arena);
/* The same for numbers, with 10 significant digits; not finite: null. */
void oc_page_numbers(struct oc_json_out *w, const double *v, size_t n);
/* Differences of integers, for slowly increasing numbers; v is overwritten. */
void oc_page_steps(struct oc_json_out *w, const char *key, int64_t *v, size_t n);

/* Text of an element or an attribute. */
void oc_html_text(const char *s, FILE *f);
/* The first section of the page: report/headline.h. */
void oc_html_verdict(struct oc_report *r, FILE *f);

/* Members of the document. */
void oc_page_rows(struct oc_json_out *w, struct oc_report *r);     /* "rows", "columns", "nodes" */
void oc_page_edges(struct oc_json_out *w, struct oc_report *r);    /* "edges" */
void oc_page_memory(struct oc_json_out *w, struct oc_report *r);   /* "memory" */
void oc_page_kernels(struct oc_json_out *w, struct oc_report *r);  /* "kernels" */
void oc_page_timeline(struct oc_json_out *w, struct oc_report *r); /* "timeline" */
void oc_page_live(struct oc_json_out *w, struct oc_report *r);     /* "live" */
/* Another document: cost breakdowns by node. */
void oc_page_receipts(struct oc_json_out *w, struct oc_report *r);

#endif
