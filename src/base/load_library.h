/* Libraries that are loaded when they are needed. */
#ifndef OC_LOAD_LIBRARY_H
#define OC_LOAD_LIBRARY_H

/* dlopen with RTLD_LAZY; the library stays when the handle is closed. NULL: there is none of that name.
 * Running out of memory is told apart and ends the program. */
void *oc_load_library(const char *soname);

#endif
