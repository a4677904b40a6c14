/* What a person calls a row. */
#ifndef OC_ROW_LABEL_H
#define OC_ROW_LABEL_H

#include "report/report.h"

/* The model's name of the row's operator; of several fused ones that with the most operations, and how many
 * others: "/layer1/conv2/Conv +2". Rows that cover no node keep the runtime's name. Arena text. */
const char *oc_row_label(struct oc_report *r, const struct oc_row *row);

/* "Conv /conv1/Conv, Relu /relu/Relu; runtime name: Conv_fused_1": the nodes of the row, where they are
 * several or the runtime calls the row otherwise; else NULL. Arena text. */
const char *oc_row_members(struct oc_report *r, const struct oc_row *row);

/* The row's type; without one, that of the same operator of the model, else "(unknown)". */
const char *oc_row_type(const struct oc_report *r, const struct oc_row *row);

#endif
