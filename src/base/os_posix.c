/* What base/os.h declares, on POSIX systems. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/os.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14: not in the headers of musl 1.2 and of glibc before 2.35 */
#endif

/* ---- files and memory ------------------------------------------------------------------------------- */

/* A mapping begins with a whole page. */
void *oc_os_map(int fd, const char *path, uint64_t offset_bytes, uint64_t size_bytes)
{
    (void)path;
    uint64_t before = offset_bytes % (uint64_t)sysconf(_SC_PAGESIZE);
    uint8_t *p =
        mmap(NULL, (size_t)(before + size_bytes), PROT_READ, MAP_PRIVATE, fd, (off_t)(offset_bytes - before));
    return p == MAP_FAILED ? NULL : p + before;
}

void oc_os_unmap(const void *data, uint64_t size_bytes)
{
    uintptr_t before = (uintptr_t)data % (uintptr_t)sysconf(_SC_PAGESIZE);
    munmap((void *)((uintptr_t)data - before), (size_t)(before + size_bytes));
}

void oc_os_advise(const void *data, size_t bytes, enum oc_os_advice advice)
{
    static const int posix[] = {[OC_OS_LARGE_PAGES] = MADV_HUGEPAGE,
                                [OC_OS_POPULATE] = MADV_POPULATE_WRITE,
                                [OC_OS_SEQUENTIAL] = MADV_SEQUENTIAL,
                                [OC_OS_RANDOM] = MADV_RANDOM,
                                [OC_OS_FORGET] = MADV_DONTNEED};
    madvise((void *)(uintptr_t)data, bytes, posix[advice]);
}

int oc_os_open_beneath(const char *folder, const char *rest, const char *path)
{
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
    struct open_how how = {.flags = (unsigned)flags, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return -1;
    int fd = (int)syscall(SYS_openat2, dir, rest, &how, sizeof(how));
    if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* an old kernel, or a sandbox without openat2 */
        fd = open(path, flags | O_NOFOLLOW);
    int error = errno;
    close(dir);
    errno = error;
    return fd;
}

/* ---- programs and libraries -------------------------------------------------------------------------- */

bool oc_os_program_path(char *path, size_t cap)
{
    ssize_t n = readlink("/proc/self/exe", path, cap - 1);
    path[n > 0 ? n : 0] = '\0';
    return n > 0;
}

#ifndef OC_LINKED_LIBRARIES /* else in load_library.c */
void *oc_os_library_open(const char *soname)
{
    errno = 0;
    void *handle = dlopen(soname, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    const char *why = handle ? NULL : dlerror();
    if (why &&
        strstr(why, "memory")) /* the dynamic linker's messages: "out of memory", "Cannot allocate memory" */
        oc_out_of_memory(0);
    if (!handle)
        oc_check_memory(errno);
    return handle;
}

void oc_os_library_close(void *handle)
{
    dlclose(handle);
}

void *oc_os_library_symbol(void *handle, const char *name)
{
    return dlsym(handle, name);
}

void oc_os_library_file(const void *symbol, char *file, size_t cap)
{
    Dl_info where;
    file[0] = '\0';
    if (dladdr(symbol, &where) && where.dli_fname)
        snprintf(file, cap, "%s", where.dli_fname);
}
#endif

int oc_os_check_processes(const char *what, struct oc_err *err)
{
    (void)what;
    (void)err;
    return 0;
}

unsigned oc_os_processors(void)
{
    cpu_set_t set;
    long n = sched_getaffinity(0, sizeof(set), &set) ? sysconf(_SC_NPROCESSORS_ONLN) : CPU_COUNT(&set);
    return n < 1 ? 1 : (unsigned)n;
}
