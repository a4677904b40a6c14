/* Hash map from strings to numbers, with open addressing; the interner of strings. */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

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
