/* Hash map from byte strings to 32-bit numbers, and the string interner built on it. Keys are copied into the
 * arena, or referenced; the table itself is on the heap. Keys of hostile files cannot collide on purpose. */
#ifndef OC_MAP_H
#define OC_MAP_H

#include "base/arena.h"
#include "base/hash.h"

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
