/* Weights in external files: finds the file and decides whether it may be opened. It must be inside the
 * model's folder unless the model's caps permit otherwise. */
#ifndef OC_EXTERNAL_H
#define OC_EXTERNAL_H

#include "model/model.h"

enum oc_external_state { OC_EXTERNAL_FOUND, OC_EXTERNAL_MISSING, OC_EXTERNAL_OUTSIDE };

/* Path of the file for this location, as written in the model. Opens nothing. */
enum oc_external_state oc_external_look(const struct oc_model *m, const char *location);

/* Maps the file of a tensor. False: outside the folder, missing, or not a regular file. */
bool oc_external_map(const struct oc_model *m, const struct oc_tensor *t, struct oc_file *out);

#endif
