/* Private to out_closed_form.c and out_closed_form.c: a report of formulas under construction. */
#ifndef OC_OUT_CLOSED_FORM_H
#define OC_OUT_CLOSED_FORM_H

#include "analyze/closed_form.h"
#include "onnxcost.h"

struct closed_form_out {
    const struct oc_closed_form *f;
    unsigned width_chars;
    struct oc_buf b; /* scratch */
};

#endif
