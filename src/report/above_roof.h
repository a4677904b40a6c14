/* Rows that took less time than their roofline allows: the likely reason. */
#ifndef OC_ABOVE_ROOF_H
#define OC_ABOVE_ROOF_H

#include "estimate/roofline.h"
#include "report/report.h"

/* Static text; the first that holds of: too short for the clock, measured on another kind of device, a fast
 * convolution algorithm, bytes that fit a cache, another device or clock than the file's. */
const char *oc_above_roof_reason(const struct oc_report *r, const struct oc_row *row,
                                 const struct oc_work *work, const struct oc_roof *roof);

#endif
