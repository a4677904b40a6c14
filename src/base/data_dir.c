#include "base/file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"

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
    char path[PATH_MAX];
    return oc_os_program_path(path, sizeof(path)) ? oc_strdup(a, path) : NULL;
}

/* The file that this code was loaded from, without symbolic links. NULL: unknown, or the loader has only a
 * relative name. */
static char *library_path(struct oc_arena *a)
{
    static const char here = 0;
    char file[PATH_MAX], path[PATH_MAX];
    oc_os_library_file(&here, file, sizeof(file));
    if (file[0] != '/' || !realpath(file, path))
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
