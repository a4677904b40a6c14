#include "base/data_dir.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEVELS 6 /* build/<mode>/unit/<folder>/test is five levels below the checkout */

/* The nearest folder `name` in a parent folder of `path`; modifies `path`. NULL: none exists. */
static const char *above(struct oc_arena *a, char *path, const char *name)
{
    static const char *const below[] = {"", "share/onnxcost/"};
    for (int level = 0; level < LEVELS; level++) {
        char *slash = strrchr(path, '/');
        if (!slash)
            return NULL;
        *slash = '\0';
        for (size_t i = 0; i < OC_COUNT(below); i++) {
            const char *dir = oc_printf(a, "%s/%s%s", path, below[i], name);
            if (access(oc_printf(a, "%s/%s.rng", dir, name), R_OK) == 0)
                return dir;
        }
    }
    return NULL;
}

static char *program_path(struct oc_arena *a)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    return n > 0 ? oc_strndup(a, path, (size_t)n) : NULL;
}

/* The file that this code was loaded from, without symbolic links. NULL: unknown, or the loader has only a
 * relative name. */
static char *library_path(struct oc_arena *a)
{
    static const char here = 0;
    char path[PATH_MAX];
    Dl_info info;
    if (!dladdr(&here, &info) || !info.dli_fname || info.dli_fname[0] != '/' ||
        !realpath(info.dli_fname, path))
        return NULL;
    return oc_strdup(a, path);
}

const char *oc_data_dir(struct oc_arena *a, const char *name)
{
    /* the library first: the program may be an interpreter next to another installation's data */
    char *place[] = {library_path(a), program_path(a)};
    for (size_t i = 0; i < OC_COUNT(place); i++) {
        const char *dir = place[i] ? above(a, place[i], name) : NULL;
        if (dir)
            return dir;
    }
    const char *installed = oc_printf(a, OC_DATADIR "/%s", name);
    return access(installed, R_OK) == 0 ? installed : NULL;
}
