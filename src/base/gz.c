#include "base/gz.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { BLOCKS = 4 };

#define BLOCK_BYTES  ((size_t)1 << 18)
#define ROOM_BYTES   ((size_t)1 << 16) /* before each block: for what is left of the one before */
#define INPUT_BYTES  ((size_t)1 << 18)
#define STACK_BYTES  ((size_t)1 << 18)
#define THREAD_BYTES ((size_t)1 << 21) /* inflated before a thread is worth it */

struct block {
    char *mem;    /* ROOM_BYTES and BLOCK_BYTES */
    size_t n;     /* inflated bytes, from mem + ROOM_BYTES on */
    size_t taken; /* bytes of the source before its end */
    bool last;    /* nothing comes behind it */
    bool no_memory;
};

/* With a thread: that owns z, src, error and the blocks behind the first `full` ones from `first` on; first,
 * full and quit are under the lock. */
struct oc_gz {
    z_stream z;
    const char *src;
    size_t src_n;
    char error[160];
    struct block block[BLOCKS];
    unsigned first, full;
    bool threaded, tried, quit;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied;

    const char *win; /* the reader's */
    size_t win_n, taken;
    uint64_t dropped; /* bytes before the window */
    bool holds, ended;
    char *large; /* a window that has outgrown the room before a block */
    size_t large_cap;
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
    g->win = "";
    g->z.next_in = (Bytef *)(uintptr_t)src;
    if (inflateInit2(&g->z, 15 + 16) != Z_OK)
        oc_out_of_memory(BLOCK_BYTES);
    return g;
}

/* ---- inflating ------------------------------------------------------------------------------------------
 */

static size_t place(const struct oc_gz *g)
{
    return (size_t)((const char *)g->z.next_in - g->src);
}

/* Zero padding after the last member is common on tapes and is not an error. */
static bool next_member(struct oc_gz *g)
{
    size_t done = place(g);
    while (done < g->src_n && g->src[done] == '\0')
        done++;
    if (g->src_n - done < 2 || memcmp(g->src + done, "\x1f\x8b", 2) != 0) {
        if (done < g->src_n)
            snprintf(g->error, sizeof(g->error), "bytes after the end of the gzip data (offset %zu)", done);
        return false;
    }
    g->z.next_in = (Bytef *)(uintptr_t)(g->src + done);
    g->z.avail_in = 0;
    return inflateReset(&g->z) == Z_OK;
}

static void fill_block(struct oc_gz *g, struct block *b)
{
    g->z.next_out = (Bytef *)b->mem + ROOM_BYTES;
    g->z.avail_out = (uInt)BLOCK_BYTES;
    b->last = b->no_memory = false;
    while (!b->last && g->z.avail_out) {
        size_t left = g->src_n - place(g);
        uInt room = g->z.avail_out;
        g->z.avail_in = (uInt)(left > INPUT_BYTES ? INPUT_BYTES : left);
        int rc = inflate(&g->z, Z_NO_FLUSH);
        b->no_memory = rc == Z_MEM_ERROR; /* told by the reader */
        if (rc == Z_STREAM_END) {
            b->last = !next_member(g);
        } else if (rc != Z_OK || (left == 0 && g->z.avail_out == room)) {
            snprintf(g->error, sizeof(g->error), "gzip data %s (compressed offset %zu)",
                     rc == Z_OK || rc == Z_BUF_ERROR ? "cut off" : "damaged", place(g));
            b->last = true;
        }
    }
    b->n = BLOCK_BYTES - g->z.avail_out;
    b->taken = place(g);
}

/* ---- the thread -----------------------------------------------------------------------------------------
 */

static void *run_ahead(void *arg)
{
    struct oc_gz *g = arg;
    bool last = false;
    pthread_mutex_lock(&g->lock);
    while (!last && !g->quit) {
        if (g->full == BLOCKS) {
            pthread_cond_wait(&g->emptied, &g->lock);
            continue;
        }
        struct block *b = &g->block[(g->first + g->full) % BLOCKS];
        pthread_mutex_unlock(&g->lock);
        fill_block(g, b);
        pthread_mutex_lock(&g->lock);
        last = b->last;
        g->full++;
        pthread_cond_signal(&g->filled);
    }
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

static bool second_processor(void)
{
    cpu_set_t set;
    return (sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN)) >
           1;
}

/* Signals that are sent to the process are not for this thread. */
static void start_thread(struct oc_gz *g)
{
    sigset_t all, old;
    pthread_attr_t small;
    if (!second_processor() || pthread_mutex_init(&g->lock, NULL) != 0 || pthread_attr_init(&small) != 0)
        return;
    pthread_attr_setstacksize(&small, STACK_BYTES);
    pthread_cond_init(&g->filled, NULL);
    pthread_cond_init(&g->emptied, NULL);
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGSEGV);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    g->threaded = pthread_create(&g->thread, &small, run_ahead, g) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&small);
}

void oc_gz_close(struct oc_gz *g)
{
    if (!g)
        return;
    if (g->threaded) {
        pthread_mutex_lock(&g->lock);
        g->quit = true;
        pthread_cond_signal(&g->emptied);
        pthread_mutex_unlock(&g->lock);
        pthread_join(g->thread, NULL);
        pthread_mutex_destroy(&g->lock);
        pthread_cond_destroy(&g->filled);
        pthread_cond_destroy(&g->emptied);
    }
    inflateEnd(&g->z);
    for (unsigned i = 0; i < BLOCKS; i++)
        free(g->block[i].mem);
    free(g->large);
    free(g);
}

/* ---- reading --------------------------------------------------------------------------------------------
 */

/* The block behind the one that is held, if one is. */
static struct block *next_block(struct oc_gz *g)
{
    struct block *b = &g->block[(g->first + g->holds) % BLOCKS];
    if (!g->threaded) {
        if (!b->mem)
            b->mem = oc_xmalloc(ROOM_BYTES + BLOCK_BYTES);
        fill_block(g, b);
        g->full++;
        return b;
    }
    pthread_mutex_lock(&g->lock);
    while (g->full <= (unsigned)g->holds)
        pthread_cond_wait(&g->filled, &g->lock);
    pthread_mutex_unlock(&g->lock);
    return b;
}

static void release_held(struct oc_gz *g)
{
    if (!g->holds)
        return;
    if (g->threaded)
        pthread_mutex_lock(&g->lock);
    g->first = (g->first + 1) % BLOCKS;
    g->full--;
    if (g->threaded) {
        pthread_cond_signal(&g->emptied);
        pthread_mutex_unlock(&g->lock);
    }
}

/* What is left of the window and the block behind it, in one piece. */
static void join_window(struct oc_gz *g, const char *left, size_t n_left, const struct block *b)
{
    char *block = b->mem + ROOM_BYTES;
    if (n_left <= ROOM_BYTES) {
        g->win = memcpy(block - n_left, left, n_left);
    } else {
        size_t n = n_left + b->n, at = g->large && left >= g->large && left < g->large + g->large_cap
                                           ? (size_t)(left - g->large)
                                           : SIZE_MAX;
        if (n > g->large_cap) {
            g->large_cap = 2 * n;
            g->large = oc_xrealloc(g->large, g->large_cap);
        }
        /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): it was made above or before */
        memmove(g->large, at == SIZE_MAX ? left : g->large + at, n_left);
        memcpy(g->large + n_left, block, b->n);
        g->win = g->large;
    }
    g->win_n = n_left + b->n;
}

bool oc_gz_more(struct oc_gz *g, size_t used, bool add, const char **data, size_t *n)
{
    used = used < g->win_n ? used : g->win_n;
    g->win += used;
    g->win_n -= used;
    g->dropped += used;
    size_t had = g->win_n;
    if (add && !g->ended) {
        if (!g->tried && g->dropped + had >= THREAD_BYTES) {
            for (unsigned i = 0; i < BLOCKS; i++)
                if (!g->block[i].mem)
                    g->block[i].mem = oc_xmalloc(ROOM_BYTES + BLOCK_BYTES);
            g->tried = true;
            start_thread(g);
        }
        struct block *b = next_block(g);
        if (b->no_memory)
            oc_out_of_memory(BLOCK_BYTES);
        join_window(g, g->win, g->win_n, b);
        release_held(g);
        g->holds = true;
        g->taken = b->taken;
        g->ended = b->last;
    }
    *data = g->win;
    *n = g->win_n;
    return g->win_n > had;
}

size_t oc_gz_taken(const struct oc_gz *g)
{
    return g->taken;
}

/* Written before the last block is handed over. */
const char *oc_gz_error(const struct oc_gz *g)
{
    return g->ended && g->error[0] ? g->error : NULL;
}

const char *oc_zlib_version(void)
{
    return zlibVersion();
}
