/* Parts of the MindSpore importer (imp_mindspore.c). */
#ifndef OC_MINDSPORE_H
#define OC_MINDSPORE_H

#include "profile/rec_list.h"

/* framework_raw_<n>.csv: operator shapes by full operator name, from the JSON text in column op_info:
 *
 *   {"input_0": {"format": "NC1HWC0", "data_type": "FLOAT16", "shape": [..] or "2,3,227,227"}, "output_0":
 * ..}
 *
 * Shapes are in the device's own layout where the format says so. Sets in and out of the records with that
 * name; texts and types are allocated in the profile's arena. A broken row is a warning, not an error. */
int ms_read_shapes(struct oc_stream *s, struct oc_profile *p, struct oc_prof_rec *rec, size_t n,
                   struct oc_err *err);

bool ms_is_shapes_header(const struct oc_str *field, size_t n);

#endif
