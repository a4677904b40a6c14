#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"

/* Inflating takes a twentieth of the time of reading a trace (0.1 s of 1.8 s for 300 MB): threads would not
 * pay. */
#define STEP_BYTES  ((size_t)3 << 16) /* inflated in one step */
#define INPUT_BYTES ((size_t)1 << 18)

struct oc_gz {
    z_stream z;
    const char *src;
    size_t src_n;
    char *buf; /* the window is n bytes from buf + at */
    size_t cap, at, n;
    bool ended;
    char error[96];
};

bool oc_is_gz(const void *src, size_t n)
{
    return src && n >= 3 && memcmp(src, "\x1f\x8b\x08", 3) == 0;
}

struct oc_gz *oc_gz_open(const void *src, size_t n)
{
    struct oc_gz *g = oc_xcalloc(1, sizeof(*g));
    g->src = src;
    g->src_n = n;
    g->cap = 2 * STEP_BYTES;
    g->buf = oc_xmalloc(g->cap);
    g->z.next_in = (Bytef *)(uintptr_t)src;
    if (inflateInit2(&g->z, 15 + 16) != Z_OK)
        oc_out_of_memory(STEP_BYTES);
    return g;
}

void oc_gz_close(struct oc_gz *g)
{
    if (!g)
        return;
    inflateEnd(&g->z);
    free(g->buf);
    free(g);
}

size_t oc_gz_taken(const struct oc_gz *g)
{
    return (size_t)((const char *)g->z.next_in - g->src);
}

/* Zero padding after the last member is common on tapes and is not an error. */
static bool next_member(struct oc_gz *g)
{
    size_t done = oc_gz_taken(g);
    oc_os_need(g->src + done, g->src_n - done < INPUT_BYTES ? g->src_n - done : INPUT_BYTES);
    while (done < g->src_n && g->src[done] == '\0')
        done++;
    if (g->src_n - done < 2 || memcmp(g->src + done, "\x1f\x8b", 2) != 0) {
        if (done < g->src_n)
            snprintf(g->error, sizeof(g->error), "bytes after the end of the gzip data (offset %zu)", done);
        return false;
    }
    g->z.next_in = (Bytef *)(uintptr_t)(g->src + done);
    return inflateReset(&g->z) == Z_OK;
}

/* Inflates into the free part of the buffer until it is full or the data ends. */
static void inflate_step(struct oc_gz *g, size_t room)
{
    g->z.next_out = (Bytef *)g->buf + g->at + g->n;
    g->z.avail_out = (uInt)room;
    while (!g->ended && g->z.avail_out) {
        size_t left = g->src_n - oc_gz_taken(g);
        uInt before = g->z.avail_out;
        g->z.avail_in = (uInt)(left > INPUT_BYTES ? INPUT_BYTES : left);
        oc_os_need(g->z.next_in, g->z.avail_in);
        int rc = inflate(&g->z, Z_NO_FLUSH);
        if (rc == Z_MEM_ERROR)
            oc_out_of_memory(STEP_BYTES);
        if (rc == Z_STREAM_END) {
            g->ended = !next_member(g);
        } else if (rc == Z_BUF_ERROR || (rc == Z_OK && left == 0 && g->z.avail_out == before)) {
            snprintf(g->error, sizeof(g->error), "gzip data cut off (compressed offset %zu)", oc_gz_taken(g));
            g->ended = true;
        } else if (rc != Z_OK) {
            snprintf(g->error, sizeof(g->error), "gzip data damaged (compressed offset %zu)", oc_gz_taken(g));
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
