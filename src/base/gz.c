/* CRC-32 by folding: V. Gopal et al., Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
 * Instruction, Intel 2009. A 16-byte block x is replaced by x_low * (x^(d + 32) mod P) + x_high * (x^(d - 32)
 * mod P), added to the block that follows it by d bits. Bits are reflected. */
#include "base/gz.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static uint32_t crc_of_zlib(uint32_t before, const unsigned char *p, size_t n)
{
    enum { PIECE = 1 << 30 };
    for (; n > PIECE; p += PIECE, n -= PIECE)
        before = (uint32_t)crc32(before, p, PIECE);
    return (uint32_t)crc32(before, p, (uInt)n);
}

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

#define TARGET __attribute__((target("pclmul,sse2")))

bool oc_crc_is_wide(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && c & bit_PCLMUL;
}

static inline __m128i gz_load(const unsigned char *p)
{
    return _mm_loadu_si128((const void *)p);
}

TARGET static inline __m128i fold(__m128i x, __m128i powers, __m128i behind)
{
    __m128i low = _mm_clmulepi64_si128(x, powers, 0x00), high = _mm_clmulepi64_si128(x, powers, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), behind);
}

/* For at least 64 bytes: folds all of them into one 16-byte block, whose CRC zlib computes. */
TARGET static uint32_t wide_crc(uint32_t before, const unsigned char *p, size_t n)
{
    const __m128i by_64 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4); /* x^480, x^544 mod P */
    const __m128i by_16 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0); /* x^96, x^160 mod P */
    unsigned char left[16];
    __m128i x[4];
    for (int i = 0; i < 4; i++)
        x[i] = gz_load(p + (ptrdiff_t)(16 * i));
    x[0] = _mm_xor_si128(x[0], _mm_cvtsi32_si128((int)~before));
    for (p += 64, n -= 64; n >= 64; p += 64, n -= 64)
        for (int i = 0; i < 4; i++)
            x[i] = fold(x[i], by_64, gz_load(p + (ptrdiff_t)(16 * i)));
    for (int i = 1; i < 4; i++)
        x[0] = fold(x[0], by_16, x[i]);
    _mm_storeu_si128((void *)left, x[0]);
    return crc_of_zlib(crc_of_zlib(UINT32_MAX, left, sizeof(left)), p, n); /* UINT32_MAX: start of a sum */
}

uint32_t oc_crc(bool wide, uint32_t before, const void *data, size_t n)
{
    return (wide && n >= 64 ? wide_crc : crc_of_zlib)(before, data, n);
}

#else

bool oc_crc_is_wide(void)
{
    return false;
}

uint32_t oc_crc(bool wide, uint32_t before, const void *data, size_t n)
{
    (void)wide;
    return crc_of_zlib(before, data, n);
}

#endif

/* ---- gz --------------------------------------------------------------------------------------------- */

/* A thread that waits is woken only after half of the blocks: the cost is in the wake-ups. */
enum { BLOCKS = 8, HALF = BLOCKS / 2 };

#define BLOCK_BYTES  ((size_t)3 << 16)
#define ROOM_BYTES   ((size_t)1 << 16) /* room before each block for the unread rest of the previous one */
#define INPUT_BYTES  ((size_t)1 << 18)
#define STACK_BYTES  ((size_t)1 << 18)
#define THREAD_BYTES ((size_t)1 << 21) /* inflated size from which a thread pays off */

struct block {
    char *mem;    /* ROOM_BYTES and BLOCK_BYTES */
    size_t n;     /* inflated bytes, from mem + ROOM_BYTES on */
    size_t taken; /* source bytes consumed up to its end */
    bool last;    /* the last block */
    bool no_memory;
    /* Bytes from `from` on still need their checksum: of one member, its first bytes if `begins`; if `ends`,
     * the block ends with the member, and the sum over the member must equal `crc`. */
    size_t from;
    bool begins, ends, summed; /* summed: `sum` is the sum of these bytes */
    uint32_t crc, sum;
    size_t end; /* offset of the member in the source */
};

/* In threaded mode, the thread owns z, src, error and the blocks after the first `full` ones (counted from
 * `first`); first, full and quit are protected by the lock. */
struct oc_gz {
    z_stream z;
    bool in_header, begun; /* begun: the member has bytes in earlier blocks */
    const char *src;
    size_t src_n;
    char error[160];
    struct block block[BLOCKS];
    unsigned first, full;
    bool threaded, tried, quit, wide; /* wide: see base/gz.h */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied;

    const char *win; /* owned by the reader */
    size_t win_n, taken;
    uint64_t dropped; /* offset of the window */
    uint32_t sum;     /* bytes of the current member so far */
    bool holds, ended;
    const char *why; /* the first error */
    char bad_sum[80];
    char *large; /* a window that has outgrown the room before its block */
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
    g->in_header = true;
    if (inflateInit2(&g->z, 15 + 16) != Z_OK)
        oc_out_of_memory(BLOCK_BYTES);
    return g;
}

/* ---- inflating -------------------------------------------------------------------------------------- */

static size_t gz_place(const struct oc_gz *g)
{
    return (size_t)((const char *)g->z.next_in - g->src);
}

/* Zero padding after the last member is common on tapes and is not an error. */
static bool next_member(struct oc_gz *g)
{
    size_t done = gz_place(g);
    while (done < g->src_n && g->src[done] == '\0')
        done++;
    if (g->src_n - done < 2 || memcmp(g->src + done, "\x1f\x8b", 2) != 0) {
        if (done < g->src_n)
            snprintf(g->error, sizeof(g->error), "bytes after the end of the gzip data (offset %zu)", done);
        return false;
    }
    g->z.next_in = (Bytef *)(uintptr_t)(g->src + done);
    g->z.avail_in = 0;
    g->in_header = true;
    inflateValidate(&g->z, 1);
    return inflateReset(&g->z) == Z_OK;
}

static uint32_t gz_number_at(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static uint32_t gz_sum_of(const struct oc_gz *g, uint32_t before, const struct block *b, size_t n)
{
    return oc_crc(g->wide, before, b->mem + ROOM_BYTES + b->from, n - b->from);
}

static void report_damaged(char *text, size_t cap, size_t offset)
{
    snprintf(text, cap, "gzip data damaged (compressed offset %zu)", offset);
}

/* The trailer (sum and length) follows the member. A member that began in this block is checked here; for one
 * that began earlier, only the reader has the sum. */
static void end_member(struct oc_gz *g, struct block *b)
{
    size_t end = b->end = gz_place(g), n = BLOCK_BYTES - g->z.avail_out;
    b->crc = gz_number_at(g->src + end - 8);
    if (b->begins && gz_sum_of(g, 0, b, n) != b->crc) {
        report_damaged(g->error, sizeof(g->error), end - 4);
        b->last = true;
    } else if (gz_number_at(g->src + end - 4) != (uint32_t)g->z.total_out) {
        report_damaged(g->error, sizeof(g->error), end);
        b->last = true;
    } else {
        b->last = !next_member(g);
    }
    b->ends = !b->begins;
    b->from = b->ends ? b->from : n;
    g->begun = false;
}

/* Inflates raw deflate data without zlib's checksum, which takes a third of the time: the reader computes it
 * faster, in parallel. zlib still checks the sum of a header. */
static int inflate_some(struct oc_gz *g)
{
    int rc = inflate(&g->z, g->in_header ? Z_BLOCK : Z_NO_FLUSH);
    if (g->in_header && rc == Z_OK && g->z.data_type & 128) { /* byte after it */
        g->in_header = false;
        inflateValidate(&g->z, 0);
    }
    return rc;
}

static void fill_block(struct oc_gz *g, struct block *b)
{
    g->z.next_out = (Bytef *)b->mem + ROOM_BYTES;
    g->z.avail_out = (uInt)BLOCK_BYTES;
    b->last = b->no_memory = b->ends = b->summed = false;
    b->from = 0;
    b->begins = !g->begun;
    while (!b->last && !b->ends && g->z.avail_out) {
        size_t left = g->src_n - gz_place(g);
        uInt room = g->z.avail_out;
        g->z.avail_in = (uInt)(left > INPUT_BYTES ? INPUT_BYTES : left);
        int rc = inflate_some(g);
        b->no_memory = rc == Z_MEM_ERROR; /* reported by the reader */
        if (rc == Z_STREAM_END) {
            end_member(g, b);
        } else if (rc != Z_OK || (left == 0 && g->z.avail_out == room)) {
            if (rc == Z_OK || rc == Z_BUF_ERROR)
                snprintf(g->error, sizeof(g->error), "gzip data cut off (compressed offset %zu)",
                         gz_place(g));
            else
                report_damaged(g->error, sizeof(g->error), gz_place(g));
            b->last = true;
        }
    }
    b->n = BLOCK_BYTES - g->z.avail_out;
    g->begun |= !b->ends && b->n > b->from;
    b->taken = gz_place(g);
}

/* ---- the thread ------------------------------------------------------------------------------------- */

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
        bool reader_is_behind = g->full > HALF;
        pthread_mutex_unlock(&g->lock);
        fill_block(g, b);
        if (reader_is_behind) {
            b->sum = gz_sum_of(g, 0, b, b->n);
            b->summed = true;
        }
        pthread_mutex_lock(&g->lock);
        last = b->last;
        g->full++;
        if (g->full > HALF || last)
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

/* Blocks all signals in this thread, so that the process receives them elsewhere. */
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

/* ---- reading ---------------------------------------------------------------------------------------- */

/* The block after the current one, if any. */
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
        if (g->full <= HALF)
            pthread_cond_signal(&g->emptied);
        pthread_mutex_unlock(&g->lock);
    }
}

/* Joins the rest of the window and the next block into one contiguous piece. */
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
        /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): allocated above or earlier */
        memmove(g->large, at == SIZE_MAX ? left : g->large + at, n_left);
        memcpy(g->large + n_left, block, b->n);
        g->win = g->large;
    }
    g->win_n = n_left + b->n;
}

/* Verifies the checksum of the block's part of its member, and length and sum if the member ends here. Data
 * after a failed member is not read. */
static void check_block(struct oc_gz *g, const struct block *b)
{
    uint32_t before = b->begins ? 0 : g->sum;
    g->sum = b->summed ? (uint32_t)crc32_combine(before, b->sum, (z_off_t)(b->n - b->from))
                       : gz_sum_of(g, before, b, b->n);
    g->ended = b->last;
    if (b->ends && g->sum != b->crc) {
        report_damaged(g->bad_sum, sizeof(g->bad_sum), b->end - 4);
        g->why = g->bad_sum;
        g->ended = true;
    } else if (b->last && g->error[0]) {
        g->why = g->error;
    }
}

static void gz_add_block(struct oc_gz *g)
{
    struct block *b = next_block(g);
    if (b->no_memory)
        oc_out_of_memory(BLOCK_BYTES);
    check_block(g, b);
    join_window(g, g->win, g->win_n, b);
    release_held(g);
    g->holds = true;
    g->taken = b->taken;
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
            g->wide = oc_crc_is_wide();
            start_thread(g);
        }
        do
            gz_add_block(g);
        while (g->win_n == had && !g->ended); /* a member may end in an empty block */
    }
    *data = g->win;
    *n = g->win_n;
    return g->win_n > had;
}

size_t oc_gz_taken(const struct oc_gz *g)
{
    return g->taken;
}

const char *oc_gz_error(const struct oc_gz *g)
{
    return g->why;
}

const char *oc_zlib_version(void)
{
    return zlibVersion();
}
