#include "base/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct place {
    char folder[PATH_MAX], path[PATH_MAX]; /* resolved: no links */
    const char *rest;                      /* length of the path after the folder */
};

static int find(const char *folder, const char *path, struct place *out)
{
    char joined[PATH_MAX];
    size_t n = strlen(folder);
    const char *slash = !n || folder[n - 1] == '/' ? "" : "/";
    int len = path[0] == '/' ? snprintf(joined, sizeof(joined), "%s", path)
                             : snprintf(joined, sizeof(joined), "%s%s%s", folder, slash, path);
    if (len < 0 || (size_t)len >= sizeof(joined))
        return ENAMETOOLONG;
    if (!realpath(n ? folder : ".", out->folder) || !realpath(joined, out->path))
        return errno;
    n = strlen(out->folder);
    n -= out->folder[n - 1] == '/'; /* the root folder */
    if (strncmp(out->folder, out->path, n) != 0 || out->path[n] != '/')
        return EXDEV;
    out->rest = out->path + n + 1;
    return 0;
}

int oc_look_inside(const char *folder, const char *path)
{
    struct place p;
    return find(folder, path, &p);
}

/* Does not follow a link that was placed on the path since the check. */
static int open_found(const struct place *p)
{
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
    struct open_how how = {.flags = (unsigned)flags, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    int dir = open(p->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return -1;
    int fd = (int)syscall(SYS_openat2, dir, p->rest, &how, sizeof(how));
    if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* an old kernel, or a sandbox without openat2 */
        fd = open(p->path, flags | O_NOFOLLOW);
    int error = errno;
    close(dir);
    errno = error;
    return fd;
}

int oc_open_inside(const char *folder, const char *path)
{
    struct place p;
    int error = find(folder, path, &p);
    if (error) {
        errno = error;
        return -1;
    }
    return open_found(&p);
}
