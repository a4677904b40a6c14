/* What platforms do differently: os_posix.c, os_wasm.c for WebAssembly (browser, node), or os_win*.c. The
 * Makefile compiles one of them. */
#ifndef OC_OS_H
#define OC_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "onnxcost_types.h"

/* ---- files and memory ------------------------------------------------------------------------------- */

/* A part of an open file, read-only; the path is that of the descriptor. NULL with errno: failed. Where the
 * platform has no page faults, the bytes of large files are read by oc_os_need. */
void *oc_os_map(int fd, const char *path, uint64_t offset_bytes, uint64_t size_bytes);
void oc_os_unmap(const void *data, uint64_t size_bytes);

extern unsigned
    oc_os_n_lazy; /* mapped files that are read on demand: in WebAssembly, and those of a web server */
void oc_os_load(const void *data, size_t bytes);

/* Call before bytes of a mapped file are accessed. They remain readable until the file is unmapped. */
static inline void oc_os_need(const void *data, size_t bytes)
{
    if (__builtin_expect(oc_os_n_lazy != 0, 0))
        oc_os_load(data, bytes);
}

enum oc_os_advice { OC_OS_LARGE_PAGES, OC_OS_POPULATE, OC_OS_SEQUENTIAL, OC_OS_RANDOM, OC_OS_FORGET };
void oc_os_advise(const void *data, size_t bytes, enum oc_os_advice advice); /* a hint */

/* Opens folder/rest for reading; path is the same file. Does not follow links below the folder. A descriptor,
 * or -1 with errno. */
int oc_os_open_beneath(const char *folder, const char *rest, const char *path);

/* Between the folders of an environment variable. */
#ifdef _WIN32
#define OC_OS_PATH_SEPARATOR ";"
#else
#define OC_OS_PATH_SEPARATOR ":"
#endif

/* ---- programs and libraries -------------------------------------------------------------------------- */

/* Path of the program, false: unknown. */
bool oc_os_program_path(char *path, size_t cap);

/* NULL: not found (or not possible on this platform). */
void *oc_os_library_open(const char *soname);
void oc_os_library_close(void *handle);
void *oc_os_library_symbol(void *handle, const char *name);
/* File that contains a function or variable, "": unknown. */
void oc_os_library_file(const void *symbol, char *file, size_t cap);

/* Processors that this process may use, at least 1. */
unsigned oc_os_processors(void);
/* Fails where the platform has no processes and threads. what: "scan". */
int oc_os_check_processes(const char *what, struct oc_err *err);

/* ---- libraries loaded on demand ----------------------------------------------------------------------- */

/* Shared libraries that are loaded on demand: linking them would slow down start-up. A library has one table
 * of its functions, from which the struct of pointers and the names are made. The pointers have the types of
 * the library's header.
 *
 *   #define FUNCTIONS(X) X(open, sqlite3_open_v2) X(step, sqlite3_step)
 *   OC_LIBRARY(sqlite, FUNCTIONS, .name = "libsqlite3", ...);      struct library; table of the library */

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
#define OC_LIBRARY(table, FUNCTIONS, ...)                                                                    \
    struct library {                                                                                         \
        void *handle;                                                                                        \
        FUNCTIONS(OC_LIBRARY_MEMBER)                                                                         \
    };                                                                                                       \
    static const struct oc_library_symbol symbols_of_library[] = {FUNCTIONS(OC_LIBRARY_SYMBOL)};             \
    static const struct oc_library_table table = {                                                           \
        .symbol = symbols_of_library, .n_symbol = OC_COUNT(symbols_of_library), __VA_ARGS__}

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
