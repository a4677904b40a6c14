/* Hash map from byte strings to 32-bit numbers, and the string interner built on it. Keys are copied into the
 * arena, or referenced; the table itself is on the heap. Keys of hostile files cannot collide on purpose. */
#ifndef OC_MAP_H
#define OC_MAP_H

#include <time.h>

#include "base/arena.h"
#include "base/str.h"

/* ---- hash --------------------------------------------------------------------------------------------- */

/* Hash of bytes with secret numbers: the author of a file cannot choose names that collide (hash flooding),
 * which would make every lookup linear. The construction of wyhash: 128-bit products, folded. */

struct oc_hash_secret {
    uint64_t n[2];
};

__extension__ typedef unsigned __int128 oc_hash_product;

static inline uint64_t oc_hash_fold(uint64_t a, uint64_t b)
{
    oc_hash_product p = (oc_hash_product)a * b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static inline uint32_t oc_hash(const struct oc_hash_secret *secret, const char *s, size_t n)
{
    const char *p = s, *end = s + n;
    uint64_t h = secret->n[0] ^ n, a = 0, b = 0;
    for (; end - p > 16; p += 16)
        h = oc_hash_fold(oc_load8(p) ^ secret->n[1], oc_load8(p + 8) ^ h);
    if (end - p >= 8) {
        a = oc_load8(p);
        b = oc_load8(end - 8);
    } else if (p < end) {
        memcpy(&a, p, (size_t)(end - p));
    }
    h = oc_hash_fold(a ^ secret->n[1], b ^ h);
    return (uint32_t)oc_hash_fold(h ^ secret->n[0], secret->n[1]);
}

static inline uint64_t oc_hash_scatter(uint64_t x) /* splitmix64 */
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline uint64_t oc_random(uint64_t *state) /* a reproducible sequence */
{
    return oc_hash_scatter(*state += 0x9e3779b97f4a7c15u);
}

/* From what no file can predict: where the program's memory is (ASLR), and the time. Results must not depend
 * on it. */
static inline struct oc_hash_secret oc_hash_secret(const void *memory)
{
    struct oc_hash_secret secret;
    struct timespec t = {0};
    clock_gettime(CLOCK_REALTIME, &t);
    uint64_t seed =
        (uint64_t)t.tv_sec * 1000000007u ^ (uint64_t)t.tv_nsec << 30 ^ (uint64_t)(uintptr_t)memory;
    for (size_t i = 0; i < OC_COUNT(secret.n); i++)
        secret.n[i] = oc_random(&seed) | 1; /* an even number would lose bits */
    return secret;
}

/* ---- map ---------------------------------------------------------------------------------------------- */

struct oc_map_slot;
struct oc_map_entry;
struct oc_map {
    struct oc_arena *arena; /* owns the keys; set before use */
    struct oc_map_slot *slot;
    struct oc_map_entry *entry;
    uint32_t n, cap;
    struct oc_hash_secret secret; /* chosen with the first key */
};
#define OC_NONE UINT32_MAX

/* Reserves room for n more keys. */
void oc_map_reserve(struct oc_map *m, uint32_t n);

/* Prefetches the slot of a key that is looked up soon; pays off for tables of many keys. */
void oc_map_expect(const struct oc_map *m, const char *key, size_t n);

/* Value of the key, or OC_NONE. */
uint32_t oc_map_get(const struct oc_map *m, const char *key, size_t n);

/* The same, but first compares the keys at and just after the last match for this `hint` (start with 0): for
 * keys looked up roughly in insertion order. */
uint32_t oc_map_get_near(const struct oc_map *m, const char *key, size_t n, uint32_t *hint);

/* Inserts or replaces; returns the stored key (NUL-terminated, arena memory). */
const char *oc_map_set(struct oc_map *m, const char *key, size_t n, uint32_t value);

/* Inserts if absent. *value is the old value or the new one; returns true if it was new. */
bool oc_map_add(struct oc_map *m, const char *key, size_t n, uint32_t *value, const char **stored);

/* The same for a key that outlives the map: it is not copied. */
bool oc_map_add_kept(struct oc_map *m, const char *key, size_t n, uint32_t *value);

/* The unique stored copy of the string. */
const char *oc_intern(struct oc_map *m, const char *s, size_t n);

void oc_map_free(struct oc_map *m); /* the keys remain in the arena */

#endif
