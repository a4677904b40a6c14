/* Private to the writers of the comparison of devices. */
#ifndef OC_DEVICES_VIEW_H
#define OC_DEVICES_VIEW_H

#include "estimate/rank_devices.h"
#include "onnxcost/estimate.h"

void oc_devices_table(const struct oc_rank *r, const struct oc_rank_write_opts *o, FILE *f);

#endif
