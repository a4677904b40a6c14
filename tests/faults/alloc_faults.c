/* An allocator that fails at a chosen call, for LD_PRELOAD: malloc, its relatives and mmap, called by the
 * program or by any library. */
#include "alloc_faults.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t alignment, size_t n);

enum { MAX_DEPTH = 32 };

static struct alloc_faults *state;
static int show;
static __thread int inside;

__attribute__((constructor)) static void start(void)
{
    const char *path = getenv("ALLOC_FAULTS");
    void *first[1];
    backtrace(first, 1); /* loads the symbols it needs */
    show = getenv("ALLOC_FAULTS_SHOW") != NULL;
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *p = (void *)syscall(SYS_mmap, NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (p != MAP_FAILED)
        state = p;
}

static uint64_t site(void)
{
    void *at[MAX_DEPTH];
    uint64_t h = 1469598103934665603u;
    int n = backtrace(at, MAX_DEPTH);
    for (int i = 3; i < n && i < 3 + (int)state->depth; i++) /* not the functions of this file */
        h = (h ^ (uint64_t)(uintptr_t)at[i]) * 1099511628211u;
    return h;
}

static int should_fail(void)
{
    if (!state || inside)
        return 0;
    inside = 1;
    uint64_t call = __atomic_add_fetch(&state->calls, 1, __ATOMIC_RELAXED);
    if (state->depth && call <= MAX_SITES)
        state->site[call - 1] = site();
    int yes = state->fail_at && (call == state->fail_at || (state->fail_on && call > state->fail_at));
    if (yes && show) {
        void *at[40];
        backtrace_symbols_fd(at, backtrace(at, 40), 2);
    }
    if (yes) {
        __atomic_add_fetch(&state->failed, 1, __ATOMIC_RELAXED);
        errno = ENOMEM;
    }
    inside = 0;
    return yes;
}

void *malloc(size_t n)
{
    return should_fail() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return should_fail() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return should_fail() ? NULL : __libc_realloc(p, n);
}

void *reallocarray(void *p, size_t n, size_t size)
{
    size_t all;
    if (__builtin_mul_overflow(n, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return should_fail() ? NULL : __libc_realloc(p, all);
}

void *memalign(size_t alignment, size_t n)
{
    return should_fail() ? NULL : __libc_memalign(alignment, n);
}

void *aligned_alloc(size_t alignment, size_t n)
{
    return should_fail() ? NULL : __libc_memalign(alignment, n);
}

int posix_memalign(void **out, size_t alignment, size_t n)
{
    if (should_fail())
        return ENOMEM;
    *out = __libc_memalign(alignment, n);
    return *out ? 0 : ENOMEM;
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    return should_fail() ? MAP_FAILED : (void *)syscall(SYS_mmap, at, n, protection, flags, fd, offset);
}
