/* Private to the writers: options of --format model-explorer. */
#ifndef OC_OUT_OVERLAY_H
#define OC_OUT_OVERLAY_H

#include "report/report.h"

/* OC_EARG: there is no model, or --order-by is not a numeric quantity of nodes. */
int oc_overlay_check(const struct oc_report_in *in, const struct oc_report_opts *o, struct oc_err *err);

#endif
