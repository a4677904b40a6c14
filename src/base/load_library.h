/* Loads shared libraries on demand. */
#ifndef OC_LOAD_LIBRARY_H
#define OC_LOAD_LIBRARY_H

#include <stddef.h>

/* dlopen with RTLD_LAZY; the library stays loaded when the handle is closed. NULL: not found. Running out of
 * memory is distinguished and ends the program. */
void *oc_load_library(const char *soname);

struct oc_symbol {
    const char *name;
    size_t offset_bytes; /* offset of its pointer in the table */
};

/* Stores the addresses of the functions in the table. Returns NULL, or the name of the first missing one. */
const char *oc_load_symbols(void *handle, const struct oc_symbol *list, size_t n, void *table);

#endif
