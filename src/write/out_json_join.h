/* Private to the writers of JSON: limits of the hardware. Only reports with hardware have these members. */
#ifndef OC_OUT_JSON_JOIN_H
#define OC_OUT_JSON_JOIN_H

#include "write/json_keys.h"

/* The member "limits" of a node, a row or a group; row NULL: null. */
void oc_json_limits(struct oc_json_out *w, const struct oc_report *r, const struct oc_row *row);
/* The member "roofline" of the hardware: sums over all rows. */
void oc_json_roofline(struct oc_json_out *w, struct oc_report *r);

#endif
