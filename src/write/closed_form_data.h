/* Private to out_closed_form.c and closed_form_data.c: a report of formulas under construction. */
#ifndef OC_CLOSED_FORM_DATA_H
#define OC_CLOSED_FORM_DATA_H

#include "analyze/closed_form.h"
#include "onnxcost.h"

struct closed_form_out {
    const struct oc_closed_form *f;
    unsigned width_chars;
    struct oc_buf b; /* scratch */
};

const char *oc_closed_form_sign(const struct oc_closed_form *f, enum oc_metric m); /* "=", "<=", ">=", "~" */
/* "batch 1 to 4096, height 32, 64 ... 4096" */
void oc_closed_form_sizes(struct oc_buf *b, const struct oc_closed_form *f, const struct oc_fit_result *r);
const char *oc_closed_form_missing(const struct oc_closed_form *f,
                                   enum oc_metric m); /* reason if there is none */

void oc_closed_form_csv(struct closed_form_out *o, FILE *f);
void oc_closed_form_json(struct closed_form_out *o, FILE *f);

#endif
