/* Weights in external files: finds the file and decides whether it may be opened. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/http.h"
#include "model/model.h"

static bool external_folder_of(const struct oc_model *m, char folder[PATH_MAX])
{
    const char *slash = strrchr(m->path, '/');
    size_t n = slash ? (size_t)(slash - m->path) + 1 : 0;
    if (!m->path[0] || n >= PATH_MAX)
        return false;
    memcpy(folder, m->path, n);
    folder[n] = '\0';
    return true;
}

/* The folder that links may not leave. In the cache of the Hugging Face Hub the files of a model are links,
 * models--ORG--NAME/snapshots/REVISION/FILE to models--ORG--NAME/blobs: there it is the model's folder, and
 * the location is relative to it. */
static bool split_at_border(const char *folder, const char *location, char border[PATH_MAX],
                            char rest[PATH_MAX])
{
    static const char hub[] = "models--", links[] = "/snapshots/";
    const char *at = strstr(folder, links), *name = at;
    while (name && name > folder && name[-1] != '/')
        name--;
    size_t n = name && !strncmp(name, hub, strlen(hub)) ? (size_t)(at - folder) + 1 : strlen(folder);
    int len = snprintf(rest, PATH_MAX, "%s%s", folder + n, location);
    snprintf(border, PATH_MAX, "%.*s", (int)n, folder);
    return len > 0 && len < PATH_MAX;
}

/* Contains "..", or is absolute, whether or not it resolves to a path inside the folder. */
static bool names_outside(const char *location)
{
    if (location[0] == '/')
        return true;
    for (const char *p = location; *p;) {
        size_t n = strcspn(p, "/\\");
        if (n == 2 && p[0] == '.' && p[1] == '.')
            return true;
        p += n + (p[n] != '\0');
    }
    return false;
}

static bool external_join(const char *folder, const char *location, char path[PATH_MAX])
{
    int n = snprintf(path, PATH_MAX, "%s%s", location[0] == '/' ? "" : folder, location);
    return n > 0 && n < PATH_MAX;
}

enum oc_external_state oc_external_look(const struct oc_model *m, const char *location)
{
    char folder[PATH_MAX], path[PATH_MAX];
    if (m->built.n)
        return OC_EXTERNAL_FOUND; /* its weights are nowhere */
    if (!m->limits.external_anywhere && names_outside(location))
        return OC_EXTERNAL_OUTSIDE;
    if (m->file.remote)
        return OC_EXTERNAL_MISSING; /* never fetched */
    if (!external_folder_of(m, folder))
        return m->path[0] ? OC_EXTERNAL_MISSING
                          : OC_EXTERNAL_FOUND; /* a model in memory: no folder is known */
    if (m->limits.external_anywhere)
        return external_join(folder, location, path) && access(path, R_OK) == 0 ? OC_EXTERNAL_FOUND
                                                                                : OC_EXTERNAL_MISSING;
    char border[PATH_MAX];
    int error = split_at_border(folder, location, border, path) ? oc_look_inside(border, path) : ENAMETOOLONG;
    return !error ? OC_EXTERNAL_FOUND : error == EXDEV ? OC_EXTERNAL_OUTSIDE : OC_EXTERNAL_MISSING;
}

static int open_inside(const char *folder, const char *location)
{
    char border[PATH_MAX], rest[PATH_MAX];
    return names_outside(location) || !split_at_border(folder, location, border, rest)
               ? -1
               : oc_open_inside(border, rest);
}

static bool map_part(const struct oc_model *m, const char *location, uint64_t offset_bytes,
                     uint64_t size_bytes, struct oc_file *out)
{
    char folder[PATH_MAX], path[PATH_MAX];
    if (!external_folder_of(m, folder) || !external_join(folder, location, path))
        return false;
    int fd = m->limits.external_anywhere ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                                         : open_inside(folder, location);
    if (fd < 0)
        return false;
    int rc = oc_file_map_part(fd, path, &m->limits, offset_bytes, size_bytes, out, NULL);
    close(fd);
    return rc == 0;
}

bool oc_external_map(const struct oc_model *m, const struct oc_tensor *t, uint64_t size_bytes,
                     struct oc_file *out)
{
    if (m->built.n || m->file.remote || !t->external_path ||
        !map_part(m, t->external_path, t->external_offset_bytes, size_bytes, out))
        return false;
    if (out->size_bytes == size_bytes)
        return true;
    oc_file_unmap(out);
    return false;
}

bool oc_beside_map(const struct oc_model *m, const char *location, struct oc_file *out)
{
    char url[4096];
    if (!oc_http_is_url(m->path))
        return map_part(m, location, 0, UINT64_MAX, out);
    return !names_outside(location) && oc_http_beside(m->path, location, url, sizeof(url)) &&
           oc_remote_map(url, &m->limits, out, NULL, NULL) == 0;
}
