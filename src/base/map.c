#include "base/map.h"

#include <stdlib.h>
#include <string.h>

struct oc_map_slot {
    const char *key; /* NULL: empty */
    uint32_t n, hash, value;
};

static uint64_t load8(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

static uint32_t hash_bytes(const char *s, size_t n)
{
    const unsigned char *p = (const unsigned char *)s;
    uint64_t h = 0x9e3779b97f4a7c15u ^ n;
    while (n >= 8) {
        h = (h ^ load8(p)) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
        p += 8;
        n -= 8;
    }
    uint64_t tail = 0;
    memcpy(&tail, p, n);
    h = (h ^ tail) * 0xc4ceb9fe1a85ec53u;
    h ^= h >> 29;
    return (uint32_t)(h ^ (h >> 32));
}

static struct oc_map_slot *find(const struct oc_map *m, const char *key, size_t n, uint32_t hash)
{
    uint32_t mask = m->cap - 1;
    for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
        struct oc_map_slot *s = &m->slot[i];
        if (!s->key || (s->hash == hash && s->n == n && memcmp(s->key, key, n) == 0))
            return s;
    }
}

static void grow(struct oc_map *m)
{
    uint32_t cap = m->cap ? m->cap * 2 : 64;
    struct oc_map bigger = {.arena = m->arena, .cap = cap, .n = m->n};
    bigger.slot = oc_xcalloc(cap, sizeof(*bigger.slot));
    for (uint32_t i = 0; i < m->cap; i++)
        if (m->slot[i].key)
            *find(&bigger, m->slot[i].key, m->slot[i].n, m->slot[i].hash) = m->slot[i];
    free(m->slot);
    *m = bigger;
}

uint32_t oc_map_get(const struct oc_map *m, const char *key, size_t n)
{
    if (!m->cap)
        return OC_NONE;
    const struct oc_map_slot *s = find(m, key, n, hash_bytes(key, n));
    return s->key ? s->value : OC_NONE;
}

static struct oc_map_slot *place(struct oc_map *m, const char *key, size_t n, bool *is_new)
{
    if (m->n + 1 > m->cap - m->cap / 4)
        grow(m);
    uint32_t hash = hash_bytes(key, n);
    struct oc_map_slot *s = find(m, key, n, hash);
    *is_new = !s->key;
    if (*is_new) {
        *s = (struct oc_map_slot){.key = oc_strndup(m->arena, key, n), .n = (uint32_t)n, .hash = hash};
        m->n++;
    }
    return s;
}

const char *oc_map_set(struct oc_map *m, const char *key, size_t n, uint32_t value)
{
    bool is_new;
    struct oc_map_slot *s = place(m, key, n, &is_new);
    s->value = value;
    return s->key;
}

bool oc_map_add(struct oc_map *m, const char *key, size_t n, uint32_t *value, const char **stored)
{
    bool is_new;
    struct oc_map_slot *s = place(m, key, n, &is_new);
    if (is_new)
        s->value = *value;
    *value = s->value;
    if (stored)
        *stored = s->key;
    return is_new;
}

const char *oc_intern(struct oc_map *m, const char *s, size_t n)
{
    bool is_new;
    return place(m, s, n, &is_new)->key;
}

void oc_map_free(struct oc_map *m)
{
    free(m->slot);
    *m = (struct oc_map){.arena = m->arena};
}
