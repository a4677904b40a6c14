/* Functions of POSIX and glibc that Windows' C library lacks. */
#include <windows.h>

#include "base/diag.h"

/* ---- streams with callbacks -------------------------------------------------------------------------- */

#undef fclose
#undef fflush

struct cookie_stream {
    FILE *f; /* a temporary file */
    void *cookie;
    cookie_io_functions_t call;
    struct cookie_stream *next;
};

static struct cookie_stream *streams;
static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;

FILE *fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions)
{
    struct cookie_stream *s = calloc(1, sizeof(*s));
    int fd = s ? memfd_create(mode, 0) : -1;
    FILE *f = fd >= 0 ? _fdopen(fd, "w+b") : NULL;
    if (!f) {
        free(s);
        return NULL;
    }
    *s = (struct cookie_stream){f, cookie, functions, NULL};
    pthread_mutex_lock(&streams_lock);
    s->next = streams;
    streams = s;
    pthread_mutex_unlock(&streams_lock);
    return f;
}

/* remove: it is in the list no longer. NULL: an ordinary stream. */
static struct cookie_stream *find_stream(FILE *f, bool remove)
{
    pthread_mutex_lock(&streams_lock);
    struct cookie_stream **at = &streams;
    while (*at && (*at)->f != f)
        at = &(*at)->next;
    struct cookie_stream *s = *at;
    if (s && remove)
        *at = s->next;
    pthread_mutex_unlock(&streams_lock);
    return s;
}

/* Everything written so far, after which the file is empty again. */
static int deliver(struct cookie_stream *s)
{
    char piece[1 << 14];
    size_t n;
    int fd = _fileno(s->f), rc = fflush(s->f);
    if (rc || _lseeki64(fd, 0, SEEK_SET) < 0)
        return EOF;
    for (int got; (got = _read(fd, piece, sizeof(piece))) > 0;)
        for (n = 0; !rc && n < (size_t)got;) {
            ssize_t done = s->call.write(s->cookie, piece + n, (size_t)got - n);
            rc = done > 0 ? 0 : EOF;
            n += done > 0 ? (size_t)done : 0;
        }
    rewind(s->f);
    return _chsize(fd, 0) ? EOF : rc;
}

int oc_win_fflush(FILE *f)
{
    struct cookie_stream *s = f ? find_stream(f, false) : NULL;
    return s ? deliver(s) : fflush(f);
}

int oc_win_fclose(FILE *f)
{
    struct cookie_stream *s = find_stream(f, true);
    int rc = s ? deliver(s) : 0;
    rc = fclose(f) ? EOF : rc;
    if (s && s->call.close && s->call.close(s->cookie))
        rc = EOF;
    free(s);
    return rc;
}

struct memory_stream {
    char **text;
    size_t *n;
};

static ssize_t add_to_memory(void *cookie, const char *text, size_t n)
{
    struct memory_stream *m = cookie;
    char *more = realloc(*m->text, *m->n + n + 1);
    if (!more)
        return 0;
    memcpy(more + *m->n, text, n);
    *m->text = more;
    *m->n += n;
    more[*m->n] = '\0';
    return (ssize_t)n;
}

static int close_memory(void *cookie)
{
    free(cookie);
    return 0;
}

FILE *open_memstream(char **text, size_t *n)
{
    struct memory_stream *m = malloc(sizeof(*m));
    *text = calloc(1, 1);
    *n = 0;
    if (!m || !*text) {
        free(m);
        return NULL;
    }
    *m = (struct memory_stream){text, n};
    return fopencookie(m, "w", (cookie_io_functions_t){.write = add_to_memory, .close = close_memory});
}

/* ---- terminal, signals, processes -------------------------------------------------------------------- */

int isatty(int fd)
{
    DWORD mode;
    return GetConsoleMode((HANDLE)_get_osfhandle(fd), &mode) != 0;
}

int ioctl(int fd, int request, struct winsize *size)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    (void)request;
    if (!GetConsoleScreenBufferInfo((HANDLE)_get_osfhandle(fd), &info))
        return -1;
    size->ws_col = (unsigned short)(info.srWindow.Right - info.srWindow.Left + 1);
    return 0;
}

int poll(struct pollfd *p, unsigned n, int timeout_ms)
{
    (void)p;
    (void)n;
    (void)timeout_ms;
    errno = EIO;
    return -1;
}

int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    if (old)
        *old = (struct sigaction){.sa_handler = SIG_DFL};
    if (number != SIGINT && number != SIGTERM && number != SIGABRT)
        return -1;
    return action && signal(number, action->sa_handler) == SIG_ERR ? -1 : 0;
}

const char *strsignal(int number)
{
    (void)number;
    return "unknown";
}

pid_t fork(void)
{
    errno = ENOSYS;
    return -1;
}

ssize_t readlink(const char *path, char *to, size_t cap)
{
    (void)path;
    (void)to;
    (void)cap;
    errno = ENOSYS;
    return -1;
}

pid_t waitpid(pid_t pid, int *status, int options)
{
    (void)pid;
    (void)status;
    (void)options;
    return -1;
}

long sysconf(int name)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return name == _SC_PAGESIZE ? (long)info.dwPageSize : (long)info.dwNumberOfProcessors;
}

#undef pthread_cond_timedwait
int oc_win_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *deadline)
{
    struct timespec now, until;
    clock_gettime(CLOCK_MONOTONIC, &now);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += deadline->tv_sec - now.tv_sec;
    until.tv_nsec += deadline->tv_nsec - now.tv_nsec;
    if (until.tv_nsec < 0 || until.tv_nsec >= 1000000000) {
        long carry = until.tv_nsec < 0 ? -1 : 1;
        until.tv_sec += carry;
        until.tv_nsec -= carry * 1000000000;
    }
    return pthread_cond_timedwait(cond, mutex, &until);
}

/* ---- text -------------------------------------------------------------------------------------------- */

char *strndup(const char *s, size_t n)
{
    n = strnlen(s, n);
    char *copy = malloc(n + 1);
    if (copy) {
        memcpy(copy, s, n);
        copy[n] = '\0';
    }
    return copy;
}

char *stpcpy(char *to, const char *from)
{
    size_t n = strlen(from);
    memcpy(to, from, n + 1);
    return to + n;
}

char *strchrnul(const char *s, int c)
{
    while (*s && *s != (char)c)
        s++;
    return (char *)(uintptr_t)s;
}

char *strcasestr(const char *s, const char *sought)
{
    for (size_t n; *s || !*sought; s++) {
        for (n = 0; sought[n] && oc_fold_char(s[n]) == oc_fold_char(sought[n]);)
            n++;
        if (!sought[n])
            return (char *)(uintptr_t)s;
    }
    return NULL;
}

char *strsep(char **rest, const char *separators)
{
    char *word = *rest, *end = word ? strpbrk(word, separators) : NULL;
    if (end)
        *end = '\0';
    *rest = end ? end + 1 : NULL;
    return word;
}

void *memmem(const void *data, size_t n, const void *sought, size_t sought_n)
{
    const char *at = data, *end = at + n, *first = sought;
    if (!sought_n)
        return (void *)(uintptr_t)data;
    while ((size_t)(end - at) >= sought_n && (at = memchr(at, *first, (size_t)(end - at) - sought_n + 1))) {
        if (!memcmp(at, sought, sought_n))
            return (void *)(uintptr_t)at;
        at++;
    }
    return NULL;
}

void *memrchr(const void *data, int c, size_t n)
{
    const unsigned char *p = data;
    while (n--)
        if (p[n] == (unsigned char)c)
            return (void *)(uintptr_t)(p + n);
    return NULL;
}

struct tm *gmtime_r(const time_t *t, struct tm *out)
{
    return _gmtime64_s(out, t) ? NULL : out;
}
