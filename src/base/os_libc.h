/* Included first in every file of a build for Windows or WebAssembly: functions of POSIX and glibc that its C
 * library lacks. In Windows also those that have file names in the code page of the user instead of UTF-8; the
 * Makefile makes empty headers for those that are missing (poll.h, sys/mman.h ...). */
#ifndef OC_OS_LIBC_H
#define OC_OS_LIBC_H

#ifdef __EMSCRIPTEN__
#include <stddef.h>

void qsort_r(void *base, size_t n, size_t width, int (*compare)(const void *, const void *, void *),
             void *arg);

#else

#define _FILE_OFFSET_BITS 64

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <limits.h>
#include <locale.h>
#include <process.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* Arguments in UTF-8; streams without conversion of line ends; a console that understands UTF-8 and escape
 * sequences. The first statement of main. */
void oc_win_start(int *argc, char ***argv);

/* ---- files ------------------------------------------------------------------------------------------- */

#undef PATH_MAX
#define PATH_MAX      4096
#define O_CLOEXEC     _O_NOINHERIT
#define O_NONBLOCK    0
#define O_NOFOLLOW    0
#define O_NOCTTY      0
#define F_GETFD       1
#define MFD_CLOEXEC   0
#define S_ISLNK(mode) 0
#define dev_t         uint64_t
#define ino_t         uint64_t

struct oc_win_stat {
    dev_t st_dev; /* of the volume */
    ino_t st_ino; /* index of the file */
    unsigned st_mode;
    int64_t st_size;
    struct timespec st_mtim;
};
#undef stat
#undef fstat
#define stat                                   oc_win_stat
#define fstat                                  oc_win_fstat
#define lstat                                  oc_win_stat
#define open                                   oc_win_open
#define fopen                                  oc_win_fopen
#define access                                 oc_win_access
#define rename                                 oc_win_rename
#define unlink                                 oc_win_unlink
#define isatty                                 oc_win_isatty
#define umask                                  oc_win_umask
#define read                                   oc_win_read
#define write                                  oc_win_write
static inline ssize_t read(int fd, void *to, size_t n)
{
    return _read(fd, to, n > INT_MAX ? INT_MAX : (unsigned)n);
}
static inline ssize_t write(int fd, const void *data, size_t n)
{
    return _write(fd, data, n > INT_MAX ? INT_MAX : (unsigned)n);
}
int stat(const char *path, struct stat *st);
int fstat(int fd, struct stat *st);
int open(const char *path, int flags, ...);
FILE *fopen(const char *path, const char *mode);
int access(const char *path, int mode);
int rename(const char *from, const char *to);
int unlink(const char *path);
int isatty(int fd);
mode_t umask(mode_t mask);
int fchmod(int fd, mode_t mode);
int fcntl(int fd, int command, ...);
int fsync(int fd);
int mkostemp(char *path, int flags);
int memfd_create(const char *name, unsigned flags);
ssize_t readlink(const char *path, char *to, size_t cap); /* fails */
char *realpath(const char *path, char *resolved);

typedef struct oc_win_dir DIR;
struct dirent {
    char d_name[4 * 260];
};
DIR *opendir(const char *path);
struct dirent *readdir(DIR *d);
int closedir(DIR *d);

/* ---- streams with callbacks -------------------------------------------------------------------------- */

/* The text goes to a temporary file, and to the callback when the stream is flushed or closed. */
typedef struct {
    void *read;
    ssize_t (*write)(void *cookie, const char *text, size_t n);
    void *seek;
    int (*close)(void *cookie);
} cookie_io_functions_t;
FILE *fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions);
FILE *open_memstream(char **text, size_t *n);
#define fclose                                 oc_win_fclose
#define fflush                                 oc_win_fflush
int fclose(FILE *f);
int fflush(FILE *f);

/* ---- terminal, signals, processes -------------------------------------------------------------------- */

struct winsize {
    unsigned short ws_col;
};
#define TIOCGWINSZ                             1
int ioctl(int fd, int request, struct winsize *size);

struct pollfd {
    int fd;
    short events, revents;
};
#define POLLOUT                                4
int poll(struct pollfd *p, unsigned n, int timeout_ms); /* fails: descriptors always block */

#define SIGHUP                                 1
#define SIGBUS                                 7
#define SIGPIPE                                13
#define SIGXFSZ                                25
#define SA_SIGINFO                             4
#define SA_RESETHAND                           0 /* always so */
typedef struct {
    void *si_addr;
} siginfo_t;
struct sigaction {
    void (*sa_handler)(int);
    void (*sa_sigaction)(int, siginfo_t *, void *);
    int sa_flags;
};
int sigaction(int number, const struct sigaction *action, struct sigaction *old);
const char *strsignal(int number);

pid_t fork(void); /* fails */
pid_t waitpid(pid_t pid, int *status, int options);
#define WIFEXITED(status)                      1
#define WEXITSTATUS(status)                    (status)

#define _SC_PAGESIZE                           1
#define _SC_NPROCESSORS_ONLN                   2
long sysconf(int name);

/* With deadlines of CLOCK_MONOTONIC. */
#define pthread_condattr_setclock(attr, clock) (void)(attr)
#define pthread_cond_timedwait                 oc_win_cond_timedwait
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *deadline);

/* ---- text and sorting -------------------------------------------------------------------------------- */

char *strndup(const char *s, size_t n);
char *stpcpy(char *to, const char *from);
char *strchrnul(const char *s, int c);
char *strcasestr(const char *s, const char *sought);
char *strsep(char **rest, const char *separators);
void *memmem(const void *data, size_t n, const void *sought, size_t sought_n);
void *memrchr(const void *data, int c, size_t n);
void qsort_r(void *base, size_t n, size_t width, int (*compare)(const void *, const void *, void *),
             void *arg);
struct tm *gmtime_r(const time_t *t, struct tm *out);

/* No part of the program changes the locale "C". */
typedef void *locale_t;
#define LC_ALL_MASK                            0
#define RADIXCHAR                              0
#define nl_langinfo(item)                      localeconv()->decimal_point
#define newlocale(mask, name, base)            ((void *)1)
#define uselocale(locale)                      (locale)
#define freelocale(locale)                     ((void)(locale))
#define strtod_l(text, end, any_locale)        strtod(text, end)

#endif
#endif
