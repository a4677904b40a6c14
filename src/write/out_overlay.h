/* Private to the writers: what --format model-explorer can be asked for. */
#ifndef OC_OUT_OVERLAY_H
#define OC_OUT_OVERLAY_H

#include "report/report.h"

/* OC_EARG: there is no model, or --order-by names nothing that is a number of a node. */
int oc_overlay_check(const struct oc_report_in *in, const struct oc_report_opts *o, struct oc_err *err);

#endif
