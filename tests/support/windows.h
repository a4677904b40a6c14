/* Included first in the unit tests of a build for Windows: what its C library lacks. */
#ifndef SUPPORT_WINDOWS_H
#define SUPPORT_WINDOWS_H

#include <direct.h>
#include <string.h>

#include "base/os_libc.h"

#define program_invocation_short_name "tests"

static inline char *mkdtemp(char *path)
{
    return _mktemp(path) && !_mkdir(path) ? path : NULL;
}

/* The tests skip what needs them. */
static inline int mkfifo(const char *path, unsigned mode)
{
    (void)path;
    (void)mode;
    return -1;
}

static inline int symlink(const char *target, const char *path)
{
    (void)target;
    (void)path;
    return -1;
}

/* Finds nothing. */
typedef struct {
    size_t gl_pathc;
    char **gl_pathv;
} glob_t;
#define GLOB_APPEND                         1
#define glob(pattern, flags, on_error, out) (void)(pattern)
#define globfree(found)                     (void)(found)

#endif
