/* Weights in files of their own: which file it is, and whether it may be opened. It has to lie in the folder
 * of the model, unless the caps of the model say otherwise. */
#ifndef OC_EXTERNAL_H
#define OC_EXTERNAL_H

#include "model/model.h"

enum oc_external_state { OC_EXTERNAL_FOUND, OC_EXTERNAL_MISSING, OC_EXTERNAL_OUTSIDE };

/* Where the file of this location (as the model has it) lies. Opens nothing. */
enum oc_external_state oc_external_look(const struct oc_model *m, const char *location);

/* Maps the file of a tensor. False: it is outside, missing, or no regular file. */
bool oc_external_map(const struct oc_model *m, const struct oc_tensor *t, struct oc_file *out);

#endif
