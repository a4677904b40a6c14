#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/http.h"
#include "base/input_limits.h"
#include "base/os.h"
#include "base/text_filter.h"

#define PIECE_BYTES ((size_t)1 << 20) /* bytes of a plain file between two checks of the stop flag */
/* each munmap or madvise interrupts the processors of other threads */
#define FORGET_BYTES ((size_t)1 << 20)
#define RATIO_FROM_BYTES                                                                                     \
    ((uint64_t)64 << 20) /* smaller outputs are not treated as a decompression bomb, whatever the ratio */

struct oc_stream {
    const char *path;
    struct oc_file file; /* the mapping; unused for memory */
    const char *src;     /* stored bytes */
    size_t src_n;
    struct oc_gz *gz;            /* NULL: plain */
    struct oc_text_filter *text; /* NULL: the bytes are passed on unchanged */
    struct oc_input_limits limits;
    bool looked; /* at the first inflated bytes */
    bool over;   /* a limit was exceeded: which one, and the number found */
    enum oc_input_limit which;
    uint64_t found;
    size_t n;              /* size of the inflated window */
    uint64_t offset_bytes; /* used part of it */
    size_t used, shown;    /* the plain window: from start to end */
    size_t forgotten;      /* bytes of the mapping before this one have been released from memory */
    const volatile int *stop;
    bool stopped;
};

static void (*_Atomic map_watch)(const char *path, const void *data, size_t size_bytes);

void oc_set_map_watch(void (*watch)(const char *path, const void *data, size_t size_bytes))
{
    atomic_store(&map_watch, watch);
}

static void notify_watch(const char *path, const void *data, uint64_t size_bytes)
{
    void (*watch)(const char *, const void *, size_t) = atomic_load(&map_watch);
    if (watch)
        watch(path, data, (size_t)size_bytes);
}

static int cannot_read(struct oc_err *err, const char *path, enum oc_code code, const char *why)
{
    oc_fail(err, code, "cannot read '%s': %s", path, why);
    return oc_err_at(err, path, 0, 0);
}

struct size_limit {
    uint64_t bytes;                       /* 0: none */
    const struct oc_input_limits *limits; /* origin of the time limit, NULL: none */
};

static int check_kind(const char *path, const struct stat *st, struct size_limit max, struct oc_err *err)
{
    uint64_t size = (uint64_t)st->st_size;
    if (S_ISDIR(st->st_mode))
        return cannot_read(err, path, OC_EIO,
                           "is a directory: give a file (onnxcost scan reads all models of a directory)");
    if (!S_ISREG(st->st_mode))
        return cannot_read(err, path, OC_EIO, "is not a regular file");
    if (!max.bytes || size <= max.bytes)
        return 0;
    if (max.limits)
        oc_input_limit_fail(max.limits, OC_LIMIT_FILE_BYTES, size, err);
    else
        oc_fail(err, OC_ELIMIT, "%llu bytes: more than %llu", (unsigned long long)size,
                (unsigned long long)max.bytes);
    oc_err_prefix(err, "cannot read '%s'", path);
    return oc_err_at(err, path, 0, 0);
}

struct part {
    uint64_t offset_bytes, size_bytes; /* UINT64_MAX: to the end */
};

static int map_fd(int fd, const char *path, struct size_limit max, struct part part, struct oc_file *out,
                  struct oc_err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return cannot_read(err, path, OC_EIO, strerror(errno));
    if (check_kind(path, &st, max, err) != 0)
        return -1;
    uint64_t size = (uint64_t)st.st_size, left = size < part.offset_bytes ? 0 : size - part.offset_bytes;
    uint64_t n = left < part.size_bytes ? left : part.size_bytes;
    if (n == 0)
        return 0;
    void *p = oc_os_map(fd, path, part.offset_bytes, n);
    if (!p && errno == ENOMEM)
        oc_out_of_memory((size_t)n);
    if (!p)
        return cannot_read(err, path, OC_EIO, strerror(errno));
    *out = (struct oc_file){.data = p, .size_bytes = n, .mapped = true};
    notify_watch(path, p, n);
    return 0;
}

static const struct part whole = {0, UINT64_MAX};

static bool is_url(const char *path)
{
    size_t n = strspn(path, "abcdefghijklmnopqrstuvwxyz0123456789");
    return n > 1 && strncmp(path + n, "://", 3) == 0;
}

static int cannot_open(struct oc_err *err, const char *path, int error)
{
    if (error == ENOENT && is_url(path))
        return cannot_read(err, path, OC_EIO, "this is a URL, and only files are read: download it first");
    return cannot_read(err, path, OC_EIO, strerror(error));
}

/* "-" is standard input, which must be a regular file: it is read more than once. */
static int map_input(struct size_limit max, struct oc_file *out, struct oc_err *err)
{
    struct stat st;
    if (fstat(STDIN_FILENO, &st) == 0 && !S_ISREG(st.st_mode))
        return cannot_read(err, "-", OC_EIO, "standard input is not a regular file");
    return map_fd(STDIN_FILENO, "-", max, whole, out, err);
}

static int map_file(const char *path, struct size_limit max, struct oc_file *out, struct oc_err *err)
{
    *out = (struct oc_file){0};
    if (!strcmp(path, "-"))
        return map_input(max, out, err);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* do not block on a pipe without a writer */
    if (fd < 0)
        oc_check_memory(errno);
    if (fd < 0)
        return cannot_open(err, path, errno);
    int rc = map_fd(fd, path, max, whole, out, err);
    close(fd);
    return rc;
}

int oc_file_map(const char *path, uint64_t max_bytes, struct oc_file *out, struct oc_err *err)
{
    return map_file(path, (struct size_limit){.bytes = max_bytes}, out, err);
}

static struct size_limit input_limit(const struct oc_input_limits *limits)
{
    static const struct oc_input_limits defaults = {.external_anywhere = false};
    return (struct size_limit){oc_input_limit(limits, OC_LIMIT_FILE_BYTES), limits ? limits : &defaults};
}

int oc_file_map_capped(const char *path, const struct oc_input_limits *limits, struct oc_file *out,
                       struct oc_err *err)
{
    return map_file(path, input_limit(limits), out, err);
}

int oc_file_map_part(int fd, const char *path, const struct oc_input_limits *limits, uint64_t offset_bytes,
                     uint64_t size_bytes, struct oc_file *out, struct oc_err *err)
{
    *out = (struct oc_file){0};
    return map_fd(fd, path, input_limit(limits), (struct part){offset_bytes, size_bytes}, out, err);
}

void oc_file_unmap(struct oc_file *f)
{
    if (f->mapped) {
        notify_watch(NULL, f->data, f->size_bytes);
        oc_os_unmap(f->data, f->size_bytes);
    }
    if (f->remote)
        oc_remote_unmap(f);
    *f = (struct oc_file){0};
}

void oc_file_forget(const struct oc_file *f, uint64_t offset, size_t n)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE); /* only whole pages inside the range */
    uint64_t from = (offset + page - 1) / page * page, end = (offset + n) / page * page;
    if (f->mapped && end > from && end <= f->size_bytes)
        oc_os_advise(f->data + from, (size_t)(end - from), OC_OS_FORGET);
}

static struct oc_stream *new_stream(const void *data, size_t n)
{
    oc_os_need(data, n < PIECE_BYTES ? n : PIECE_BYTES); /* its type is looked at */
    struct oc_stream *s = oc_xmalloc(sizeof(*s));
    *s = (struct oc_stream){.path = "", .src = data, .src_n = n};
    if (oc_is_gz(data, n))
        s->gz = oc_gz_open(data, n);
    else if (oc_text_encoding(data, n) != OC_TEXT_BYTES)
        s->text = oc_text_filter_open(data, n, oc_text_encoding(data, n), NULL);
    return s;
}

void oc_stream_unwrap(struct oc_stream *s, const struct oc_log_prefix *prefix)
{
    if (s->gz)
        return;
    oc_text_filter_close(s->text);
    s->text = oc_text_filter_open(s->src, s->src_n, oc_text_encoding(s->src, s->src_n), prefix);
}

void oc_stream_skip(struct oc_stream *s, size_t bytes)
{
    if (!s->gz && !s->text && bytes < s->src_n)
        s->shown = s->used = bytes;
}

struct oc_stream *oc_stream_mem(const void *data, size_t n)
{
    return new_stream(data, n);
}

int oc_stream_open(const char *path, const struct oc_input_limits *limits, struct oc_stream **out,
                   struct oc_err *err)
{
    struct oc_file f;
    *out = NULL;
    if (oc_file_map_capped(path, limits, &f, err) != 0)
        return -1;
    if (f.data)
        oc_os_advise(f.data, (size_t)f.size_bytes, OC_OS_SEQUENTIAL);
    struct oc_stream *s = new_stream(f.data, (size_t)f.size_bytes);
    s->file = f;
    oc_stream_set_limits(s, limits);
    size_t n = strlen(path) + 1;
    char *copy = oc_xmalloc(n);
    memcpy(copy, path, n);
    s->path = copy;
    *out = s;
    return 0;
}

void oc_stream_close(struct oc_stream *s)
{
    if (!s)
        return;
    oc_gz_close(s->gz);
    oc_text_filter_close(s->text);
    oc_file_unmap(&s->file);
    if (s->path[0])
        free((char *)(uintptr_t)s->path);
    free(s);
}

const char *oc_stream_path(const struct oc_stream *s)
{
    return s->path;
}

const char *oc_stream_error(const struct oc_stream *s)
{
    return s->gz ? oc_gz_error(s->gz) : NULL;
}

void oc_stream_set_limits(struct oc_stream *s, const struct oc_input_limits *limits)
{
    s->limits = limits ? *limits : (struct oc_input_limits){.external_anywhere = false};
}

uint64_t oc_stream_limit(const struct oc_stream *s, enum oc_input_limit which)
{
    return oc_input_limit(&s->limits, which);
}

int oc_stream_limit_fail(const struct oc_stream *s, enum oc_input_limit which, uint64_t found,
                         struct oc_err *err)
{
    return oc_input_limit_fail(&s->limits, which, found, err);
}

void oc_stream_over(struct oc_stream *s, enum oc_input_limit which, uint64_t found)
{
    if (s->over)
        return;
    s->over = true;
    s->which = which;
    s->found = found;
}

int oc_stream_check(const struct oc_stream *s, struct oc_err *err)
{
    return s->over ? oc_input_limit_fail(&s->limits, s->which, s->found, err) : 0;
}

void oc_stream_stop_on(struct oc_stream *s, const volatile int *stop)
{
    s->stop = stop;
}

static size_t taken(const struct oc_stream *s)
{
    return s->gz ? oc_gz_taken(s->gz) : s->text ? oc_text_filter_taken(s->text) : s->shown;
}

bool oc_stream_stopped(const struct oc_stream *s, uint64_t *read_bytes, uint64_t *all_bytes)
{
    *read_bytes = taken(s);
    *all_bytes = s->src_n;
    return s->stopped;
}

/* Called when there is more data to return. */
static bool file_is_stopped(struct oc_stream *s)
{
    s->stopped |= s->stop && __atomic_load_n(s->stop, __ATOMIC_RELAXED);
    return s->stopped;
}

/* Releases the pages already read. */
static void forget_before(struct oc_stream *s, size_t place)
{
    size_t passed = place / FORGET_BYTES * FORGET_BYTES;
    if (s->file.mapped && passed > s->forgotten) {
        oc_file_forget(&s->file, s->forgotten, passed - s->forgotten);
        s->forgotten = passed;
    }
}

static bool fill_plain(struct oc_stream *s, size_t used, const char **data, size_t *n, uint64_t *offset_bytes)
{
    s->used += used < s->shown - s->used ? used : s->shown - s->used;
    size_t left = s->src_n - s->shown;
    bool added = left > 0 && !s->over && !file_is_stopped(s);
    if (added)
        forget_before(s, s->used);
    if (added)
        s->shown += (s->stop || s->file.mapped) && left > PIECE_BYTES ? PIECE_BYTES : left;
    *data = s->src_n ? s->src + s->used : "";
    *n = s->shown - s->used;
    oc_os_need(*data, *n);
    *offset_bytes = s->used;
    return added;
}

/* Checks the expansion ratio; counts the bytes of all gzip members. */
static bool is_bomb(struct oc_stream *s)
{
    uint64_t out = s->offset_bytes + s->n, in = oc_gz_taken(s->gz);
    if (out > oc_input_limit(&s->limits, OC_LIMIT_GZ_BYTES))
        oc_stream_over(s, OC_LIMIT_GZ_BYTES, 0);
    else if (out > RATIO_FROM_BYTES && out / oc_input_limit(&s->limits, OC_LIMIT_GZ_RATIO) > in)
        oc_stream_over(s, OC_LIMIT_GZ_RATIO, 0);
    return s->over;
}

static bool fill_gzip(struct oc_stream *s, size_t used, const char **data, size_t *n, uint64_t *offset_bytes)
{
    used = used < s->n ? used : s->n;
    s->offset_bytes += used;
    if (s->n - used > oc_input_limit(&s->limits, OC_LIMIT_GZ_VALUE_BYTES))
        oc_stream_over(s, OC_LIMIT_GZ_VALUE_BYTES, 0);
    bool added = oc_gz_more(s->gz, used, !s->over && !file_is_stopped(s), data, n);
    s->n = *n;
    *offset_bytes = s->offset_bytes;
    forget_before(s, oc_gz_taken(s->gz));
    return added && !is_bomb(s);
}

static bool fill_text(struct oc_stream *s, size_t used, const char **data, size_t *n, uint64_t *offset_bytes)
{
    s->offset_bytes += used < s->n ? used : s->n;
    bool added = oc_text_filter_more(s->text, used, !s->over && !file_is_stopped(s), data, n);
    s->n = *n;
    *offset_bytes = s->offset_bytes;
    if (!s->gz)
        forget_before(s, oc_text_filter_taken(s->text));
    return added;
}

/* The first window of a .gz. UTF-16 in it is inflated whole, within OC_LIMIT_GZ_VALUE_BYTES, and converted. */
static bool fill_first(struct oc_stream *s, size_t used, const char **data, size_t *n, uint64_t *offset_bytes)
{
    s->looked = true;
    bool added = fill_gzip(s, used, data, n, offset_bytes);
    enum oc_text_encoding encoding = added ? oc_text_encoding(*data, *n) : OC_TEXT_BYTES;
    if (encoding == OC_TEXT_BYTES)
        return added;
    while (fill_gzip(s, 0, data, n, offset_bytes))
        continue;
    s->text = oc_text_filter_open(*data, *n, encoding, NULL);
    s->n = 0;
    return fill_text(s, 0, data, n, offset_bytes);
}

bool oc_stream_fill(struct oc_stream *s, size_t used, const char **data, size_t *n, uint64_t *offset_bytes)
{
    return (s->text               ? fill_text
            : s->gz && !s->looked ? fill_first
            : s->gz               ? fill_gzip
                                  : fill_plain)(s, used, data, n, offset_bytes);
}

int oc_file_peek(const char *path, size_t max, struct oc_arena *a, const char **data, size_t *n,
                 struct oc_err *err)
{
    struct oc_stream *s;
    *data = "";
    *n = 0;
    static const struct oc_input_limits any = {.most = {[OC_LIMIT_FILE_BYTES] = INT64_MAX}};
    if (oc_stream_open(path, &any, &s, err) != 0)
        return -1;
    const char *p = "";
    size_t got = 0;
    uint64_t offset;
    while (got < max && oc_stream_fill(s, 0, &p, &got, &offset))
        continue;
    *n = got < max ? got : max;
    *data = oc_strndup(a, p, *n);
    oc_stream_close(s);
    return 0;
}

/* ---- inside ----------------------------------------------------------------------------------------- */

struct place {
    char folder[PATH_MAX], path[PATH_MAX]; /* resolved: no links */
    const char *rest;                      /* length of the path after the folder */
};

static int file_find(const char *folder, const char *path, struct place *out)
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
    return file_find(folder, path, &p);
}

int oc_open_inside(const char *folder, const char *path)
{
    struct place p;
    int error = file_find(folder, path, &p);
    if (error) {
        errno = error;
        return -1;
    }
    /* a link that was placed on the path since the check is not followed */
    return oc_os_open_beneath(p.folder, p.rest, p.path);
}
