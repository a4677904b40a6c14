/* Likely reason why a row took less than its roofline time. */
#ifndef OC_ABOVE_ROOF_H
#define OC_ABOVE_ROOF_H

#include "estimate/roofline.h"
#include "report/report.h"

/* Static text; the first that applies of: shorter than the clock resolution, measured on another kind of
 * device, a fast convolution algorithm, bytes that fit a cache, device or clock different from the file. */
const char *oc_above_roof_reason(const struct oc_report *r, const struct oc_row *row,
                                 const struct oc_work *work, const struct oc_roof *roof);

#endif
