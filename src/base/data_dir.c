#include "base/data_dir.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#define LEVELS 6 /* build/<mode>/unit/<folder>/test is five below the checkout */

/* The folder of the name above `path`, which is cut on the way. NULL: there is none. */
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

/* The file that this code was loaded from. NULL: not known, or a relative name, as a program's may be. */
static char *library_path(struct oc_arena *a)
{
    static const char here = 0;
    Dl_info info;
    if (!dladdr(&here, &info) || !info.dli_fname || info.dli_fname[0] != '/')
        return NULL;
    return oc_strdup(a, info.dli_fname);
}

size_t oc_data_dirs(struct oc_arena *a, const char *name, const char *out[OC_DATA_DIRS])
{
    char *place[] = {program_path(a), library_path(a)};
    size_t n = 0;
    for (size_t i = 0; i < OC_COUNT(place); i++) {
        const char *dir = place[i] ? above(a, place[i], name) : NULL;
        if (dir)
            out[n++] = dir;
    }
    const char *installed = oc_printf(a, OC_DATADIR "/%s", name);
    if (access(installed, R_OK) == 0)
        out[n++] = installed;
    return n;
}
