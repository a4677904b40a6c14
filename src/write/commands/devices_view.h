/* Private to the writers of the comparison of devices. */
#ifndef OC_DEVICES_VIEW_H
#define OC_DEVICES_VIEW_H

#include "estimate/rank_devices.h"
#include "write/tables/json_keys.h"
#include "onnxcost/estimate.h"

/* A row of CSV and of the page: device i in total (op_class OC_OP_CLASS_COUNT) or for one class of operators.
 */
void oc_devices_fields(struct oc_fields *o, const struct oc_rank *r, const struct oc_rank_table *t, size_t i,
                       unsigned op_class);
/* Part of the device's memory that is needed; NAN: unknown. */
double oc_devices_memory_share(const struct oc_rank_row *row);
void oc_devices_page(const struct oc_rank *r, const struct oc_rank_write_opts *o, FILE *f);
void oc_devices_table(const struct oc_rank *r, const struct oc_rank_write_opts *o, FILE *f);

#endif
