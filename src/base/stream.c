/* Byte streams in windows: plain files, gzip (zlib, or ISA-L where it is installed), and text through text_filter.c. */
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifndef __cppcheck__ /* it lacks __has_include */
#if __has_include(<isa-l/igzip_lib.h>)
#include <isa-l/igzip_lib.h>
#define HAVE_ISAL 1
#endif
#endif

#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"

/* ---- gzip --------------------------------------------------------------------------------------------- */

/* A thread that inflated ahead made traces of PyTorch (34 to 63 MB) 5 to 15 % faster on two processors and took
 * 15 % more of their time: it does not pay. */
#define STEP_BYTES  ((size_t)3 << 16) /* inflated in one step */
#define INPUT_BYTES ((size_t)1 << 18)

struct oc_gz {
    z_stream z;
    struct isal *isal; /* NULL: zlib inflates */
    const char *src;
    size_t src_n;
    char *buf; /* the window is n bytes from buf + at */
    size_t cap, at, n;
    bool ended;
    char error[96];
};

static bool is_gz(const void *src, size_t n)
{
    return src && n >= 3 && memcmp(src, "\x1f\x8b\x08", 3) == 0;
}

/* ---- ISA-L: inflates about twice as fast as zlib -------------------------------------------------------- */

#define ISAL_FROM_BYTES ((size_t)1 << 18) /* smaller ones take zlib a few ms */

#ifdef HAVE_ISAL
#define FUNCTIONS(X)                                                                                         \
    X(init, isal_inflate_init)                                                                               \
    X(reset, isal_inflate_reset)                                                                             \
    X(inflate, isal_inflate)

OC_LIBRARY(isal, FUNCTIONS, .name = "ISA-L", .use = "large gzip files", .package = "libisal2",
           .soname = {"libisal.so.2"});

struct isal {
    struct library lib;
    struct inflate_state state;
};

/* NULL: not installed, or not worth it. */
static struct isal *isal_open(size_t n)
{
    struct library lib;
    if (n < ISAL_FROM_BYTES || oc_library_open(&isal, &lib, NULL))
        return NULL;
    oc_library_close(&lib); /* it stays loaded */
    struct isal *x = oc_xmalloc(sizeof(*x));
    x->lib = lib;
    lib.init(&x->state);
    x->state.crc_flag = ISAL_GZIP;
    return x;
}

/* As inflate() of zlib, but begins another member by itself. */
static int isal_step(struct isal *x, z_stream *z)
{
    struct inflate_state *s = &x->state;
    if (s->block_state == ISAL_BLOCK_FINISH)
        x->lib.reset(s);
    s->next_in = (uint8_t *)(uintptr_t)z->next_in;
    s->avail_in = z->avail_in;
    s->next_out = z->next_out;
    s->avail_out = z->avail_out;
    int rc = x->lib.inflate(s);
    z->next_in = s->next_in;
    z->avail_in = s->avail_in;
    z->next_out = s->next_out;
    z->avail_out = s->avail_out;
    return rc != ISAL_DECOMP_OK ? Z_DATA_ERROR : s->block_state == ISAL_BLOCK_FINISH ? Z_STREAM_END : Z_OK;
}
#else
static struct isal *isal_open(size_t n)
{
    (void)n;
    return NULL;
}

static int isal_step(struct isal *x, z_stream *z)
{
    (void)x;
    return inflate(z, Z_NO_FLUSH);
}
#endif

/* ---- inflating ------------------------------------------------------------------------------------------ */

struct oc_gz *oc_gz_open(const void *src, size_t n)
{
    struct oc_gz *g = oc_xcalloc(1, sizeof(*g));
    g->src = src;
    g->src_n = n;
    g->cap = 2 * STEP_BYTES;
    g->buf = oc_xmalloc(g->cap);
    g->z.next_in = (Bytef *)(uintptr_t)src;
    g->isal = isal_open(n);
    if (!g->isal && inflateInit2(&g->z, 15 + 16) != Z_OK)
        oc_out_of_memory(STEP_BYTES);
    return g;
}

void oc_gz_close(struct oc_gz *g)
{
    if (!g)
        return;
    if (!g->isal)
        inflateEnd(&g->z);
    free(g->isal);
    free(g->buf);
    free(g);
}

/* Source bytes consumed for the windows so far. */
static size_t gz_taken(const struct oc_gz *g)
{
    return (size_t)((const char *)g->z.next_in - g->src);
}

/* Zero padding after the last member is common on tapes and is not an error. */
static bool next_member(struct oc_gz *g)
{
    size_t done = gz_taken(g);
    oc_os_need(g->src + done, g->src_n - done < INPUT_BYTES ? g->src_n - done : INPUT_BYTES);
    while (done < g->src_n && g->src[done] == '\0')
        done++;
    if (g->src_n - done < 2 || memcmp(g->src + done, "\x1f\x8b", 2) != 0) {
        if (done < g->src_n)
            snprintf(g->error, sizeof(g->error), "bytes after the end of the gzip data (offset %zu)", done);
        return false;
    }
    g->z.next_in = (Bytef *)(uintptr_t)(g->src + done);
    return g->isal || inflateReset(&g->z) == Z_OK;
}

/* Inflates into the free part of the buffer until it is full or the data ends. */
static void inflate_step(struct oc_gz *g, size_t room)
{
    g->z.next_out = (Bytef *)g->buf + g->at + g->n;
    g->z.avail_out = (uInt)room;
    while (!g->ended && g->z.avail_out) {
        size_t left = g->src_n - gz_taken(g);
        uInt before = g->z.avail_out;
        g->z.avail_in = (uInt)(left > INPUT_BYTES ? INPUT_BYTES : left);
        oc_os_need(g->z.next_in, g->z.avail_in);
        int rc = g->isal ? isal_step(g->isal, &g->z) : inflate(&g->z, Z_NO_FLUSH);
        if (rc == Z_MEM_ERROR)
            oc_out_of_memory(STEP_BYTES);
        if (rc == Z_STREAM_END) {
            g->ended = !next_member(g);
        } else if (rc == Z_BUF_ERROR || (rc == Z_OK && left == 0 && g->z.avail_out == before)) {
            snprintf(g->error, sizeof(g->error), "gzip data cut off (compressed offset %zu)", gz_taken(g));
            g->ended = true;
        } else if (rc != Z_OK) {
            snprintf(g->error, sizeof(g->error), "gzip data damaged (compressed offset %zu)", gz_taken(g));
            g->ended = true;
        }
    }
    g->n += room - g->z.avail_out;
}

/* Room for a step after the window: moves the window to the front if that frees more than half, else grows.
 */
static void make_room(struct oc_gz *g)
{
    if (g->cap - g->at - g->n >= STEP_BYTES)
        return;
    if (g->at > g->n) {
        memcpy(g->buf, g->buf + g->at, g->n);
        g->at = 0;
    }
    if (g->cap - g->at - g->n < STEP_BYTES) {
        g->cap = 2 * (g->at + g->n + STEP_BYTES);
        g->buf = oc_xrealloc(g->buf, g->cap);
    }
}

bool oc_gz_more(struct oc_gz *g, size_t used, bool add, const char **data, size_t *n)
{
    used = used < g->n ? used : g->n;
    g->at += used;
    g->n -= used;
    size_t had = g->n;
    if (add && !g->ended) {
        make_room(g);
        inflate_step(g, STEP_BYTES);
    }
    *data = g->buf + g->at;
    *n = g->n;
    return g->n > had;
}

const char *oc_gz_error(const struct oc_gz *g)
{
    return g->error[0] ? g->error : NULL;
}

const char *oc_zlib_version(void)
{
    return zlibVersion();
}

bool oc_gz_pack(const void *src, size_t n, struct oc_buf *out)
{
    enum { GZIP = 15 + 16, MEMORY = 9, STATE_BYTES = 400000, SYSTEM_AT = 9, UNIX = 3 };
    z_stream z = {.next_in = (Bytef *)(uintptr_t)src, .avail_in = (uInt)n};
    if (n > UINT32_MAX / 2)
        return false;
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        oc_out_of_memory(STATE_BYTES);
    size_t most = deflateBound(&z, (uLong)n);
    char *packed = oc_xmalloc(most);
    z.next_out = (Bytef *)packed;
    z.avail_out = (uInt)most;
    bool done = deflate(&z, Z_FINISH) == Z_STREAM_END;
    if (done) {
        packed[SYSTEM_AT] = UNIX; /* the same bytes on every system */
        oc_buf_add(out, packed, z.total_out);
    }
    deflateEnd(&z);
    free(packed);
    return done;
}

/* ---- streams ------------------------------------------------------------------------------------------ */

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
    struct oc_gz *outer;         /* gzip around it, inflated whole; NULL: none */
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
    struct oc_reading *reading;
    bool stopped;
};

static struct oc_stream *new_stream(const void *data, size_t n)
{
    oc_os_need(data, n < PIECE_BYTES ? n : PIECE_BYTES); /* its type is looked at */
    struct oc_stream *s = oc_xmalloc(sizeof(*s));
    *s = (struct oc_stream){.path = "", .src = data, .src_n = n};
    if (is_gz(data, n))
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
    oc_gz_close(s->outer);
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
    const char *error = s->gz ? oc_gz_error(s->gz) : NULL;
    return error || !s->outer ? error : oc_gz_error(s->outer);
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

void oc_stream_watch(struct oc_stream *s, const volatile int *stop, struct oc_reading *reading)
{
    s->stop = stop;
    s->reading = reading;
    if (!reading)
        return;
    double now = oc_now_s();
    __atomic_store_n(&reading->all_bytes, 0, __ATOMIC_RELAXED);
    __atomic_store(&reading->from_s, &now, __ATOMIC_RELAXED);
}

static size_t taken(const struct oc_stream *s)
{
    return s->outer  ? gz_taken(s->outer)
           : s->gz   ? gz_taken(s->gz)
           : s->text ? oc_text_filter_taken(s->text)
                     : s->shown;
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
        s->shown += (s->stop || s->reading || s->file.mapped) && left > PIECE_BYTES ? PIECE_BYTES : left;
    *data = s->src_n ? s->src + s->used : "";
    *n = s->shown - s->used;
    oc_os_need(*data, *n);
    *offset_bytes = s->used;
    return added;
}

/* Checks the expansion ratio; counts the bytes of all gzip members. */
static bool is_bomb(struct oc_stream *s)
{
    uint64_t out = s->offset_bytes + s->n, in = gz_taken(s->gz);
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
    if (!s->outer)
        forget_before(s, gz_taken(s->gz));
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

/* The first window of a .gz. UTF-16 in it is inflated whole, within OC_LIMIT_GZ_VALUE_BYTES, and converted; so is
 * gzip in it, of a server that compressed a .gz again, once. */
static bool fill_first(struct oc_stream *s, size_t used, const char **data, size_t *n, uint64_t *offset_bytes)
{
    s->looked = s->outer != NULL;
    bool added = fill_gzip(s, used, data, n, offset_bytes), twice = added && !s->outer && is_gz(*data, *n);
    enum oc_text_encoding encoding = added && !twice ? oc_text_encoding(*data, *n) : OC_TEXT_BYTES;
    s->looked |= !twice;
    if (encoding == OC_TEXT_BYTES && !twice)
        return added;
    while (fill_gzip(s, 0, data, n, offset_bytes))
        continue;
    if (twice) {
        s->outer = s->gz;
        s->gz = oc_gz_open(*data, *n);
        s->n = 0;
        return fill_first(s, 0, data, n, offset_bytes);
    }
    s->text = oc_text_filter_open(*data, *n, encoding, NULL);
    s->n = 0;
    return fill_text(s, 0, data, n, offset_bytes);
}

bool oc_stream_fill(struct oc_stream *s, size_t used, const char **data, size_t *n, uint64_t *offset_bytes)
{
    bool added = (s->text               ? fill_text
                  : s->gz && !s->looked ? fill_first
                  : s->gz               ? fill_gzip
                                        : fill_plain)(s, used, data, n, offset_bytes);
    if (s->reading) {
        __atomic_store_n(&s->reading->read_bytes, taken(s), __ATOMIC_RELAXED);
        __atomic_store_n(&s->reading->all_bytes, s->src_n, __ATOMIC_RELEASE);
    }
    return added;
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
