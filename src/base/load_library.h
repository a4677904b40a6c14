/* Shared libraries that are loaded on demand: linking them would slow down start-up. A library has one table
 * of its functions, from which the struct of pointers and the names are made. The pointers have the types of
 * the library's header.
 *
 *   #define FUNCTIONS(X) X(open, sqlite3_open_v2) X(step, sqlite3_step)
 *   struct library {
 *       void *handle;
 *       FUNCTIONS(OC_LIBRARY_MEMBER)
 *   };
 *   static const struct oc_library_symbol symbols[] = {FUNCTIONS(OC_LIBRARY_SYMBOL)}; */
#ifndef OC_LOAD_LIBRARY_H
#define OC_LOAD_LIBRARY_H

#include <stddef.h>

#include "onnxcost_types.h"

#define OC_LIBRARY_TEXT_OF(function)        #function
#define OC_LIBRARY_TEXT(function)           OC_LIBRARY_TEXT_OF(function)
#define OC_LIBRARY_MEMBER(member, function) __typeof__(function) *(member);
#ifdef OC_LINKED_LIBRARIES /* a platform without shared libraries: the table has the addresses */
#define OC_LIBRARY_ADDRESS(function) , (void *)(function)
#else
#define OC_LIBRARY_ADDRESS(function)
#endif
#define OC_LIBRARY_SYMBOL(member, function)                                                                  \
    {OC_LIBRARY_TEXT(function), offsetof(struct library, member) OC_LIBRARY_ADDRESS(function)},

struct oc_library_symbol {
    const char *name;
    size_t offset_bytes; /* offset of its pointer in the table */
#ifdef OC_LINKED_LIBRARIES
    void *address;
#endif
};

struct oc_library_table {
    const char *name, *use; /* for messages: "libxml2", "XML files" */
    const char *package;    /* Debian's; tests/check_layers.sh looks for it in src/deb/control */
    const char *soname[2];  /* the first that is found */
    const struct oc_library_symbol *symbol;
    size_t n_symbol;
};

/* Fills *library, a struct that begins with `void *handle`. OC_ELIBRARY: the library is missing or lacks a
 * function. It stays loaded when it is closed, so opening it again is cheap. Running out of memory is
 * distinguished and ends the program. */
int oc_library_open(const struct oc_library_table *table, void *library, struct oc_err *err);
void oc_library_close(void *library);

/* Address of a function or variable, NULL: none; and the file that contains it, "" if unknown. */
void *oc_library_symbol(const void *library, const char *name);
void oc_library_file(const void *symbol, char *file, size_t cap);

#endif
