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

/* Fails where the platform has no processes and threads. what: "scan". */
int oc_os_check_processes(const char *what, struct oc_err *err);

#endif
