/* Cost breakdowns: how the counts of single nodes are computed. */
#ifndef OC_RECEIPTS_H
#define OC_RECEIPTS_H

#include "base/json_write.h"
#include "report/report.h"

/* The nodes named by opts->why. Returns 0, or -1 with *err filled. */
int oc_receipt_nodes(const struct oc_report_in *in, const struct oc_report_opts *opts, struct oc_arena *arena,
                     uint32_t **node, struct oc_err *err);

void oc_receipts_text(const struct oc_report_in *in, const uint32_t *node, size_t n, struct oc_arena *arena,
                      FILE *f);
/* The same as text, one per node, in the arena. */
const char **oc_receipt_texts(const struct oc_report_in *in, const uint32_t *node, size_t n,
                              struct oc_arena *arena);
/* The value of the member "receipts". */
void oc_receipts_json(const struct oc_report_in *in, const uint32_t *node, size_t n, struct oc_arena *arena,
                      struct oc_json_out *w);

/* Attributes as text: "3,3", "'SAME_UPPER'", "float[2,2]". */
const char *oc_attr_text(struct oc_arena *arena, const struct oc_attr *a);

#endif
