/* Where the files are that come along with the program and the library. */
#ifndef OC_DATA_DIR_H
#define OC_DATA_DIR_H

#include "base/arena.h"

enum { OC_DATA_DIRS = 3 };

/* Folders NAME that have a file NAME.rng: above the program and above the shared library (NAME of a checkout,
 * share/onnxcost/NAME of an installation, which may have been moved as a whole), then the one that was
 * compiled in. Returns how many; some may be the same. Paths are in the arena. */
size_t oc_data_dirs(struct oc_arena *a, const char *name, const char *out[OC_DATA_DIRS]);

#endif
