/* Hash map from byte strings to 32-bit numbers, and the string interner built on it.
 * Keys are copied into the arena once, or kept where they are; the table itself is on the heap. */
#ifndef OC_MAP_H
#define OC_MAP_H

#include "base/arena.h"

struct oc_map_slot;
struct oc_map_entry;
struct oc_map {
    struct oc_arena *arena; /* owns the keys; set before use */
    struct oc_map_slot *slot;
    struct oc_map_entry *entry;
    uint32_t n, cap;
};
#define OC_NONE UINT32_MAX

/* Makes room for n more keys at once. */
void oc_map_reserve(struct oc_map *m, uint32_t n);

/* Has the place of a key that will be asked for soon fetched into the cache; pays for tables of many keys. */
void oc_map_expect(const struct oc_map *m, const char *key, size_t n);

/* Value of the key, or OC_NONE. */
uint32_t oc_map_get(const struct oc_map *m, const char *key, size_t n);

/* The same, looking first at the keys that came at and just after the last one found with the same `hint`
 * (start with 0): for keys that are asked for in about the order in which they came. */
uint32_t oc_map_get_near(const struct oc_map *m, const char *key, size_t n, uint32_t *hint);

/* Inserts or replaces; returns the stored key (NUL-terminated, arena memory). */
const char *oc_map_set(struct oc_map *m, const char *key, size_t n, uint32_t value);

/* Inserts if absent. *value is the old value or the new one; returns true if it was new. */
bool oc_map_add(struct oc_map *m, const char *key, size_t n, uint32_t *value, const char **stored);

/* The same for a key that lives as long as the map: it is not copied. */
bool oc_map_add_kept(struct oc_map *m, const char *key, size_t n, uint32_t *value);

/* The one stored copy of the string. */
const char *oc_intern(struct oc_map *m, const char *s, size_t n);

void oc_map_free(struct oc_map *m); /* the keys stay in the arena */

#endif
