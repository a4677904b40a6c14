/* What base/os.h declares, as WebAssembly in a browser or in node. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"

/* ---- files and memory ------------------------------------------------------------------------------- */

/* A larger file is read on demand: its address range is allocated, and memory that is not written takes no
 * space in a WebAssembly memory either. The file system reads from the user's disk (a slice of a Blob). */
#define WHOLE_BYTES ((uint64_t)16 << 20)
#define MAX_BYTES   ((uint64_t)7 << 29) /* of the 4 GiB that pointers can address */
#define PIECE_BYTES ((size_t)1 << 16)
enum { MAX_LAZY = 16, MAX_PIECES = 128 /* in one read */ };

struct lazy {
    uint8_t *data; /* NULL: free */
    uint64_t size_bytes, offset_bytes;
    uint8_t *loaded; /* for each piece */
    int fd;
};

static struct lazy lazy[MAX_LAZY];
unsigned oc_os_n_lazy;

static int read_at(int fd, uint8_t *to, uint64_t bytes, uint64_t offset_bytes)
{
    if (lseek(fd, (off_t)offset_bytes, SEEK_SET) < 0) /* emscripten's pread has offsets of 32 bits */
        return -1;
    for (uint64_t done = 0; done < bytes;) {
        ssize_t n = read(fd, to + done, (size_t)(bytes - done));
        if (n == 0)
            errno = EIO; /* the file became shorter */
        if (n <= 0)
            return -1;
        done += (uint64_t)n;
    }
    return 0;
}

/* False: all places are taken, or the file cannot be opened again. */
static bool add_lazy(uint8_t *data, const char *path, uint64_t offset_bytes, uint64_t size_bytes)
{
    size_t i = 0;
    while (i < MAX_LAZY && lazy[i].data)
        i++;
    int fd = i < MAX_LAZY ? open(path, O_RDONLY) : -1;
    if (fd < 0)
        return false;
    struct lazy *m = &lazy[i];
    m->loaded = calloc((size_t)(size_bytes / PIECE_BYTES) + 1, 1);
    m->data = data;
    m->size_bytes = size_bytes;
    m->offset_bytes = offset_bytes;
    m->fd = fd;
    oc_os_n_lazy++;
    return true;
}

void *oc_os_map(int fd, const char *path, uint64_t offset_bytes, uint64_t size_bytes)
{
    uint8_t *data = size_bytes <= MAX_BYTES ? malloc((size_t)size_bytes) : NULL;
    if (!data) {
        errno = EFBIG;
        return NULL;
    }
    if (size_bytes > WHOLE_BYTES && add_lazy(data, path, offset_bytes, size_bytes))
        return data;
    if (read_at(fd, data, size_bytes, offset_bytes) == 0)
        return data;
    free(data);
    return NULL;
}

void oc_os_unmap(const void *data, uint64_t size_bytes)
{
    (void)size_bytes;
    for (size_t i = 0; i < MAX_LAZY; i++)
        if (lazy[i].data == data) {
            close(lazy[i].fd);
            free(lazy[i].loaded);
            lazy[i] = (struct lazy){.fd = -1};
            oc_os_n_lazy--;
            break;
        }
    free((void *)(uintptr_t)data);
}

/* A page fault would end the program too (cli/message.c, on_bus_error). */
static void load_pieces(const struct lazy *m, size_t first, size_t n)
{
    uint64_t at = (uint64_t)first * PIECE_BYTES, want = (uint64_t)n * PIECE_BYTES, left = m->size_bytes - at;
    if (read_at(m->fd, m->data + at, left < want ? left : want, m->offset_bytes + at) != 0)
        abort();
    memset(m->loaded + first, 1, n);
}

void oc_os_load(const void *data, size_t bytes)
{
    for (size_t i = 0; bytes && i < MAX_LAZY; i++) {
        const struct lazy *m = &lazy[i];
        uint64_t at = (uint64_t)((uintptr_t)data - (uintptr_t)m->data);
        if (!m->data || (uintptr_t)data < (uintptr_t)m->data || at >= m->size_bytes)
            continue;
        uint64_t end = bytes < m->size_bytes - at ? at + bytes : m->size_bytes;
        size_t piece = (size_t)(at / PIECE_BYTES), last = (size_t)((end - 1) / PIECE_BYTES);
        for (size_t n; piece <= last; piece += n ? n : 1) {
            for (n = 0; piece + n <= last && n < MAX_PIECES && !m->loaded[piece + n];)
                n++;
            if (n)
                load_pieces(m, piece, n);
        }
        return;
    }
}

void oc_os_advise(const void *data, size_t bytes, enum oc_os_advice advice)
{
    (void)data;
    (void)bytes;
    (void)advice;
}

/* In the browser the only files are those that the user gave. */
int oc_os_open_beneath(const char *folder, const char *rest, const char *path)
{
    (void)folder;
    (void)rest;
    return open(path, O_RDONLY | O_NOFOLLOW);
}

/* ---- programs and libraries -------------------------------------------------------------------------- */

/* The page and the node package set thisProgram, which emscripten passes on as this variable. */
bool oc_os_program_path(char *path, size_t cap)
{
    const char *program = getenv("_");
    return program && (size_t)snprintf(path, cap, "%s", program) < cap;
}

int oc_os_check_processes(const char *what, struct oc_err *err)
{
    return oc_fail(
        err, OC_ELIBRARY,
        "%s needs processes of the operating system, which WebAssembly does not have: use the native "
        "program",
        what);
}

/* ---- what the C library lacks ------------------------------------------------------------------------ */

int memfd_create(const char *name, unsigned flags)
{
    char path[] = "/tmp/onnxcostXXXXXX";
    int fd = mkstemp(path);
    (void)name;
    (void)flags;
    if (fd >= 0)
        unlink(path);
    return fd;
}

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
    (void)pid;
    (void)bytes;
    (void)set;
    errno = ENOSYS;
    return -1;
}

int __sched_cpucount(size_t bytes, const cpu_set_t *set)
{
    (void)bytes;
    (void)set;
    return 1;
}

int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t *set)
{
    (void)thread;
    (void)bytes;
    (void)set;
    return ENOSYS;
}

unsigned oc_os_processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (unsigned)n;
}
