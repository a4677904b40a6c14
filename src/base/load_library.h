/* Libraries that are loaded when they are needed. */
#ifndef OC_LOAD_LIBRARY_H
#define OC_LOAD_LIBRARY_H

#include <stddef.h>

/* dlopen with RTLD_LAZY; the library stays when the handle is closed. NULL: there is none of that name.
 * Running out of memory is told apart and ends the program. */
void *oc_load_library(const char *soname);

struct oc_symbol {
    const char *name;
    size_t offset_bytes; /* of its pointer in the table */
};

/* Puts the addresses of functions into the table. NULL: all are there, else the name of one that is not. */
const char *oc_load_symbols(void *handle, const struct oc_symbol *list, size_t n, void *table);

#endif
