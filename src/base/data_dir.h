/* Finds the data files that are installed with the program and the library. */
#ifndef OC_DATA_DIR_H
#define OC_DATA_DIR_H

#include "base/arena.h"

/* The folder NAME that contains NAME.rng. Searched in this order, and only the first match counts, so that a
 * build tree never mixes its data with an installed copy: above the shared library, above the program (NAME
 * in a checkout, share/onnxcost/NAME in an installation that may have been moved as a whole), the folder set
 * at build time. NULL: none exists. The path is in the arena. */
const char *oc_data_dir(struct oc_arena *a, const char *name);

#endif
