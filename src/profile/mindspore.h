/* Parts of the MindSpore importer (imp_mindspore.c). */
#ifndef OC_MINDSPORE_H
#define OC_MINDSPORE_H

#include "profile/rec_list.h"

/* framework_raw_<n>.csv: shapes of operators by their full name, from the JSON text of column op_info:
 *   {"input_0": {"format": "NC1HWC0", "data_type": "FLOAT16", "shape": [..] or "2,3,227,227"}, "output_0":
 * ..} Shapes are those of the device's own layout where the format says so. Sets in, out of the records with
 * that name; texts and types go to the profile's arena. Broken rows are found (diags), not fatal. */
int ms_read_shapes(struct oc_stream *s, struct oc_profile *p, struct oc_prof_rec *rec, size_t n,
                   struct oc_err *err);

bool ms_is_shapes_header(const struct oc_str *field, size_t n);

#endif
