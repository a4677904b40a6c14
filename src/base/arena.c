/* base/: What everything else is built on: arena, buffers, errors, files, maps, JSON, XML, numbers with
 * units. Nothing here depends on models or profiles. A change here rebuilds most files and needs a test in
 * tests/unit/base; what differs between platforms is in os.h alone.
 * Private to the folder: os_libc.h. */
#include "base/arena.h"
#include "base/c_locale.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/os.h"
#include "base/str.h"
#include "base/units.h"

#ifdef __has_feature
#define CLANG_ASAN __has_feature(address_sanitizer)
#else
#define CLANG_ASAN 0
#endif
#if defined(__SANITIZE_ADDRESS__) || CLANG_ASAN
#include <sanitizer/asan_interface.h>
#define GAP_BYTES 16 /* after every object: the sanitizer reports an access */
#else
#define GAP_BYTES                           0
#define ASAN_POISON_MEMORY_REGION(p, bytes) ((void)0)
#endif

#define FIRST_BLOCK_BYTES  ((size_t)16 << 10)
#define MAX_BLOCK_BYTES    ((size_t)8 << 20)
#define LARGE_OBJECT_BYTES ((size_t)512 << 10)
#define LARGE_PAGE_BYTES   ((size_t)2 << 20)
#define READY_BYTES        ((size_t)32 << 10) /* pages requested together */

struct oc_arena_block {
    struct oc_arena_block *next;
    size_t used, ready, cap; /* zeroed bytes on pages already faulted in */
    _Alignas(16) unsigned char mem[];
};

/* bytes in use by the process, counted like the memory limit */
static void (*_Atomic oom_handler)(size_t bytes);

void oc_set_oom_handler(void (*handler)(size_t bytes))
{
    atomic_store(&oom_handler, handler);
}

void oc_out_of_memory(size_t bytes)
{
    void (*handler)(size_t bytes) = atomic_load(&oom_handler);
    if (handler)
        handler(bytes);
    oc_entry_leave();
    abort();
}

void oc_check_memory(int error)
{
    if (error == ENOMEM)
        oc_out_of_memory(0);
}

/* Requests huge pages where they pay off: page faults of 4 KiB each dominate the load time of large models.
 * The advice covers the whole object: for a part of it the kernel would split the mapping, and realloc would
 * have to copy instead of move. */
static void *in_large_pages(void *p, size_t bytes)
{
    if (bytes < 2 * LARGE_PAGE_BYTES)
        return p;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = (uintptr_t)p / page * page, to = ((uintptr_t)p + bytes + page - 1) / page * page;
    oc_os_advise((void *)from, to - from, OC_OS_LARGE_PAGES);
    return p;
}

void *oc_xmalloc(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p)
        oc_out_of_memory(bytes);
    return in_large_pages(p, bytes);
}

void *oc_xcalloc(size_t n, size_t bytes)
{
    void *p = calloc(n ? n : 1, bytes ? bytes : 1);
    if (!p)
        oc_out_of_memory(bytes && n > SIZE_MAX / bytes ? SIZE_MAX : n * bytes);
    return in_large_pages(p, n * bytes);
}

void *oc_xrealloc(void *old, size_t bytes)
{
    void *p = realloc(old, bytes ? bytes : 1);
    if (!p)
        oc_out_of_memory(bytes);
    return in_large_pages(p, bytes);
}

/* Zeroes the next pages, faulted in together: separate faults cost more than twice as much. Optional: where
 * the system does not support it, pages are faulted in one by one. */
static void make_ready(struct oc_arena_block *b, size_t need)
{
    size_t to = b->used + need > b->ready + READY_BYTES ? b->used + need : b->ready + READY_BYTES;
    to = to < b->cap ? to : b->cap;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)b->mem + b->ready + page - 1) / page * page, end = (uintptr_t)b->mem + to;
    if (end > from)
        oc_os_advise((void *)from, end - from, OC_OS_POPULATE);
    memset(b->mem + b->ready, 0, to - b->ready);
    b->ready = to;
}

static struct oc_arena_block *arena_add_block(struct oc_arena *a, size_t need)
{
    size_t cap = a->head ? a->head->cap * 2 : FIRST_BLOCK_BYTES;
    if (cap > MAX_BLOCK_BYTES)
        cap = MAX_BLOCK_BYTES;
    if (cap < need)
        cap = need;
    bool large = sizeof(struct oc_arena_block) + cap >= 2 * LARGE_PAGE_BYTES;
    struct oc_arena_block *b = large ? oc_xcalloc(1, sizeof(*b) + cap) : oc_xmalloc(sizeof(*b) + cap);
    *b = (struct oc_arena_block){.cap = cap, .ready = large ? cap : 0};
    if (a->head && need > LARGE_OBJECT_BYTES) { /* do not waste the open block on a large object */
        b->next = a->head->next;
        a->head->next = b;
    } else {
        b->next = a->head;
        a->head = b;
    }
    return b;
}

void *oc_alloc(struct oc_arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        oc_out_of_memory(bytes);
    size_t need = (bytes + 15) & ~(size_t)15;
    if (need == 0)
        need = 16;
    a->used_bytes += need;
    need += GAP_BYTES;
    struct oc_arena_block *b = a->head;
    if (!b || b->cap - b->used < need)
        b = arena_add_block(a, need);
    if (b->ready - b->used < need)
        make_ready(b, need);
    unsigned char *p = b->mem + b->used;
    b->used += need;
    if (GAP_BYTES)
        ASAN_POISON_MEMORY_REGION(p + bytes, need - bytes);
    return p;
}

void *oc_alloc_array(struct oc_arena *a, size_t n, size_t elem_bytes)
{
    if (elem_bytes && n > SIZE_MAX / elem_bytes)
        oc_out_of_memory(SIZE_MAX);
    return oc_alloc(a, n * elem_bytes);
}

void *oc_copy_array(struct oc_arena *a, const void *v, size_t n, size_t elem_bytes)
{
    void *copy = oc_alloc_array(a, n, elem_bytes);
    if (n)
        memcpy(copy, v, n * elem_bytes);
    return copy;
}

char *oc_strndup(struct oc_arena *a, const char *s, size_t n)
{
    char *p = oc_alloc(a, n + 1);
    memcpy(p, s, n);
    return p;
}

char *oc_strdup(struct oc_arena *a, const char *s)
{
    return oc_strndup(a, s, strlen(s));
}

char *oc_printf(struct oc_arena *a, const char *fmt, ...)
{
    char text[256]; /* most texts are short: format once */
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    size_t used = n < 0 ? 0 : (size_t)n;
    char *p = oc_alloc(a, used + 1);
    if (used < sizeof(text))
        memcpy(p, text, used);
    else
        vsnprintf(p, used + 1, fmt, again);
    va_end(again);
    return p;
}

void oc_arena_free(struct oc_arena *a)
{
    for (struct oc_arena_block *b = a->head; b;) {
        struct oc_arena_block *next = b->next;
        free(b);
        b = next;
    }
    *a = (struct oc_arena){0};
}

/* ---- growable buffers --------------------------------------------------------------------------------- */

static bool buf_reserve(struct oc_buf *b, size_t more)
{
    if (b->max && more > b->max - (b->n < b->max ? b->n : b->max)) {
        b->overflowed = true;
        return false;
    }
    size_t need = b->n + more + 1;
    if (need > b->cap) {
        size_t cap = b->cap ? b->cap : 256;
        while (cap < need)
            cap *= 2;
        b->data = oc_xrealloc(b->data, cap);
        b->cap = cap;
    }
    return true;
}

static ssize_t add_some(void *buf, const char *data, size_t n)
{
    oc_buf_add(buf, data, n);
    return (ssize_t)n;
}

FILE *oc_buf_stream(struct oc_buf *b)
{
    FILE *f = fopencookie(b, "w", (cookie_io_functions_t){.write = add_some});
    if (!f)
        oc_out_of_memory(0);
    return f;
}

void oc_buf_add(struct oc_buf *b, const void *data, size_t n)
{
    if (!buf_reserve(b, n))
        return;
    if (n)
        memcpy(b->data + b->n, data, n);
    b->n += n;
    b->data[b->n] = '\0';
}

void oc_buf_str(struct oc_buf *b, const char *s)
{
    oc_buf_add(b, s, strlen(s));
}

void oc_buf_char(struct oc_buf *b, char c)
{
    if (!buf_reserve(b, 1))
        return;
    b->data[b->n++] = c;
    b->data[b->n] = '\0';
}

void oc_buf_json(struct oc_buf *b, const char *s, size_t n)
{
    oc_buf_char(b, '"');
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '"' || s[i] == '\\')
            oc_buf_char(b, '\\');
        if ((unsigned char)s[i] < ' ')
            oc_buf_printf(b, "\\u%04x", (unsigned)(unsigned char)s[i]);
        else
            oc_buf_char(b, s[i]);
    }
    oc_buf_char(b, '"');
}

void oc_buf_pad(struct oc_buf *b, char c, size_t n)
{
    if (!buf_reserve(b, n))
        return;
    memset(b->data + b->n, c, n);
    b->n += n;
    b->data[b->n] = '\0';
}

void oc_buf_int(struct oc_buf *b, int64_t v)
{
    char text[24], *end = text + sizeof(text);
    char *p = oc_put_digits(end, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
    if (v < 0)
        *--p = '-';
    oc_buf_add(b, p, (size_t)(end - p));
}

static void buf_vprintf(struct oc_buf *b, const char *fmt, va_list ap)
{
    char text[256]; /* most texts are short: format once */
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(text, sizeof(text), fmt, ap);
    if (n > 0 && (size_t)n < sizeof(text)) {
        oc_buf_add(b, text, (size_t)n);
    } else if (n > 0 && buf_reserve(b, (size_t)n)) {
        vsnprintf(b->data + b->n, (size_t)n + 1, fmt, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

void oc_buf_printf(struct oc_buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(b, fmt, ap);
    va_end(ap);
}

void oc_buf_clear(struct oc_buf *b)
{
    b->n = 0;
    b->overflowed = false;
    if (b->data)
        b->data[0] = '\0';
}

void oc_buf_free(struct oc_buf *b)
{
    free(b->data);
    *b = (struct oc_buf){.max = b->max};
}

void oc_print_line(FILE *f, const char *fmt, ...)
{
    struct oc_buf b = {0};
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    fprintf(f, "%s\n", b.data ? oc_make_visible(b.data) : "");
    oc_buf_free(&b);
}

/* ---- hash map ----------------------------------------------------------------------------------------- */

/* Slots are small, so that those of many names stay in the cache; keys are stored in order of insertion. */
struct oc_map_slot {
    uint32_t hash, at; /* at: index of the entry + 1, 0: empty */
};

struct oc_map_entry {
    const char *key;
    uint32_t n, value;
};

/* The slot of the key, or the empty slot for it. */
static struct oc_map_slot *map_find(const struct oc_map *m, const char *key, size_t n, uint32_t hash)
{
    uint32_t mask = m->cap - 1;
    for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
        struct oc_map_slot *s = &m->slot[i];
        if (!s->at)
            return s;
        if (s->hash != hash)
            continue;
        const struct oc_map_entry *e = &m->entry[s->at - 1];
        if (e->n == n && memcmp(e->key, key, n) == 0)
            return s;
    }
}

static void grow_to(struct oc_map *m, uint32_t cap)
{
    struct oc_map_slot *slot = oc_xcalloc(cap, sizeof(*slot));
    uint32_t mask = cap - 1;
    if (!m->cap)
        m->secret = oc_hash_secret(slot);
    for (uint32_t i = 0; i < m->cap; i++) {
        if (!m->slot[i].at)
            continue;
        uint32_t to = m->slot[i].hash & mask;
        while (slot[to].at)
            to = (to + 1) & mask;
        slot[to] = m->slot[i];
    }
    free(m->slot);
    m->slot = slot;
    m->cap = cap;
    m->entry = oc_xrealloc(m->entry, (size_t)(cap - cap / 4) * sizeof(*m->entry));
}

void oc_map_reserve(struct oc_map *m, uint32_t n)
{
    uint64_t cap = 64;
    while (cap - cap / 4 < (uint64_t)m->n + n)
        cap *= 2;
    if (cap > m->cap && cap <= UINT32_MAX)
        grow_to(m, (uint32_t)cap);
}

void oc_map_expect(const struct oc_map *m, const char *key, size_t n)
{
    if (m->cap)
        __builtin_prefetch(&m->slot[oc_hash(&m->secret, key, n) & (m->cap - 1)], 1);
}

/* Index of the key's entry, or OC_NONE. */
static uint32_t entry_of(const struct oc_map *m, const char *key, size_t n)
{
    return m->cap ? map_find(m, key, n, oc_hash(&m->secret, key, n))->at - 1 : OC_NONE;
}

uint32_t oc_map_get(const struct oc_map *m, const char *key, size_t n)
{
    uint32_t at = entry_of(m, key, n);
    return at == OC_NONE ? OC_NONE : m->entry[at].value;
}

uint32_t oc_map_get_near(const struct oc_map *m, const char *key, size_t n, uint32_t *hint)
{
    enum { NEAR = 3 };
    for (uint32_t i = *hint; i < m->n && i - *hint < NEAR; i++) {
        const struct oc_map_entry *e = &m->entry[i];
        if (e->n == n && memcmp(e->key, key, n) == 0) {
            *hint = i;
            return e->value;
        }
    }
    uint32_t at = entry_of(m, key, n);
    if (at == OC_NONE)
        return OC_NONE;
    *hint = at;
    return m->entry[at].value;
}

/* Finds or inserts the entry of the key; a new key is copied or, if allowed, kept. */
static struct oc_map_entry *map_place(struct oc_map *m, const char *key, size_t n, bool keep, uint32_t value,
                                      bool *is_new)
{
    if (m->n + 1 > m->cap - m->cap / 4)
        grow_to(m, m->cap ? m->cap * 2 : 64);
    uint32_t hash = oc_hash(&m->secret, key, n);
    struct oc_map_slot *s = map_find(m, key, n, hash);
    *is_new = !s->at;
    if (*is_new) {
        m->entry[m->n] = (struct oc_map_entry){keep ? key : oc_strndup(m->arena, key, n), (uint32_t)n, value};
        *s = (struct oc_map_slot){hash, ++m->n};
    }
    return &m->entry[s->at - 1];
}

const char *oc_map_set(struct oc_map *m, const char *key, size_t n, uint32_t value)
{
    bool is_new;
    struct oc_map_entry *e = map_place(m, key, n, false, value, &is_new);
    e->value = value;
    return e->key;
}

bool oc_map_add(struct oc_map *m, const char *key, size_t n, uint32_t *value, const char **stored)
{
    bool is_new;
    struct oc_map_entry *e = map_place(m, key, n, false, *value, &is_new);
    *value = e->value;
    if (stored)
        *stored = e->key;
    return is_new;
}

bool oc_map_add_kept(struct oc_map *m, const char *key, size_t n, uint32_t *value)
{
    bool is_new;
    *value = map_place(m, key, n, true, *value, &is_new)->value;
    return is_new;
}

const char *oc_intern(struct oc_map *m, const char *s, size_t n)
{
    bool is_new;
    return map_place(m, s, n, false, 0, &is_new)->key;
}

void oc_map_free(struct oc_map *m)
{
    free(m->slot);
    free(m->entry);
    *m = (struct oc_map){.arena = m->arena};
}
