/* Files that change and system calls that are short or interrupted, for LD_PRELOAD:
 *   IO_SHORT=1                 read, pread and write transfer a few bytes, and are sometimes interrupted
 *   IO_SYNC=ERRNO              fsync fails with that number (interrupted: once)
 *   IO_TOUCH=OFFSET:FILE       when that byte of a mapped file is first accessed, or
 *   IO_READ=N                  at the N-th pread of a file,
 *   IO_DO=COMMAND              a shell runs this before the program continues ($PPID is the program) */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *file, *command;
static unsigned long offset;
static long reads_left;
static int few, done, sync_error;
static unsigned calls;
static char *guard; /* a page that is not readable yet */

static void act(void)
{
    int status;
    if (done++ || !command)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        unsetenv("LD_PRELOAD");
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
}

static void on_touch(int signal_number, siginfo_t *info, void *context)
{
    long page = sysconf(_SC_PAGESIZE);
    char *at = info->si_addr, *first = guard;
    (void)context;
    if (!first || at < first || at >= first + page) {
        signal(signal_number, SIG_DFL);
        return;
    }
    guard = NULL;
    mprotect(first, (size_t)page, PROT_READ);
    act();
}

__attribute__((constructor)) static void start(void)
{
    const char *touch = getenv("IO_TOUCH"), *reads = getenv("IO_READ");
    command = getenv("IO_DO");
    few = getenv("IO_SHORT") != NULL;
    sync_error = getenv("IO_SYNC") ? atoi(getenv("IO_SYNC")) : 0;
    reads_left = reads ? atol(reads) : -1;
    if (!touch || !strchr(touch, ':'))
        return;
    struct sigaction action = {.sa_sigaction = on_touch, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    offset = strtoul(touch, NULL, 10);
    file = strchr(touch, ':') + 1;
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t from)
{
    char link[64], path[PATH_MAX];
    char *p = (char *)syscall(SYS_mmap, at, n, protection, flags, fd, from);
    if (p == MAP_FAILED || fd < 0 || !file || done || n <= offset)
        return p;
    strcpy(link, "/proc/self/fd/");
    char digits[16];
    int k = 0;
    for (int v = fd; v || !k; v /= 10)
        digits[k++] = (char)('0' + v % 10);
    for (size_t i = strlen(link); k; link[i] = '\0')
        link[i++] = digits[--k];
    ssize_t len = readlink(link, path, sizeof(path) - 1);
    size_t want = strlen(file);
    if (len < (ssize_t)want || memcmp(path + len - want, file, want))
        return p;
    long page = sysconf(_SC_PAGESIZE);
    guard = p + offset / (unsigned long)page * (unsigned long)page;
    mprotect(guard, (size_t)page, PROT_NONE);
    return p;
}

/* How many bytes of n to move, -1: none, the call is interrupted. */
static ssize_t short_count(size_t n, size_t most)
{
    if (!few || n < 2)
        return (ssize_t)n;
    if (++calls % 5 == 0) {
        errno = EINTR;
        return -1;
    }
    size_t k = 1 + calls % most;
    return (ssize_t)(k < n ? k : n);
}

ssize_t read(int fd, void *data, size_t n)
{
    ssize_t k = short_count(n, 3);
    return k < 0 ? k : syscall(SYS_read, fd, data, (size_t)k);
}

ssize_t pread(int fd, void *data, size_t n, off_t from)
{
    ssize_t k = short_count(n, 300);
    if (reads_left > 0 && --reads_left == 0)
        act();
    return k < 0 ? k : syscall(SYS_pread64, fd, data, (size_t)k, from);
}

ssize_t pread64(int fd, void *data, size_t n, off64_t from)
{
    return pread(fd, data, n, from);
}

ssize_t write(int fd, const void *data, size_t n)
{
    ssize_t k = short_count(n, 3000);
    return k < 0 ? k : syscall(SYS_write, fd, data, (size_t)k);
}

int fsync(int fd)
{
    int error = sync_error;
    if (error == EINTR)
        sync_error = 0;
    errno = error;
    return error ? -1 : (int)syscall(SYS_fsync, fd);
}
