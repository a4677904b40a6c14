#include "analyze/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/os.h"

struct candidate {
    const struct oc_tensor *t;
    uint32_t value;
    uint64_t hash; /* hash of the bytes, 0 until they are read */
};

static int by_kind(const struct candidate *x, const struct candidate *y)
{
    if (x->t->dtype != y->t->dtype)
        return x->t->dtype < y->t->dtype ? -1 : 1;
    if (x->t->rank != y->t->rank)
        return x->t->rank < y->t->rank ? -1 : 1;
    for (unsigned i = 0; i < x->t->rank; i++)
        if (x->t->dim[i] != y->t->dim[i])
            return x->t->dim[i] < y->t->dim[i] ? -1 : 1;
    return 0;
}

static int by_content(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    int order = by_kind(x, y);
    if (order)
        return order;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static uint64_t dedup_hash_bytes(const uint8_t *p, uint64_t n)
{
    uint64_t h = n, word;
    for (; n >= sizeof(word); p += sizeof(word), n -= sizeof(word)) {
        memcpy(&word, p, sizeof(word));
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    for (; n; p++, n--)
        h = (h ^ *p) * UINT64_C(0x9e3779b97f4a7c15);
    return h ? h : 1;
}

/* Candidates for deduplication: initializers and the tensors of Constant nodes. */
static struct candidate *dedup_collect(struct oc_engine *e, uint32_t *n)
{
    struct candidate *list = NULL;
    uint32_t cap = 0;
    *n = 0;
    for (uint32_t v = 0; v < e->m->n_value; v++) {
        const struct oc_tensor *t = oc_analysis_constant(e->a, v);
        bool plain = t && e->a->is_const[v] && t->elements && t->storage != OC_STORE_SPARSE &&
                     t->dtype != OC_DT_STRING;
        if (!plain || e->graph_use[e->m->value[v].graph] == OC_G_NOT_RUN)
            continue;
        OC_GROW(list, *n, cap);
        list[(*n)++] = (struct candidate){.t = t, .value = v};
    }
    return list;
}

/* Hashes the bytes of a run of same-kind constants; those that cannot be read keep hash 0. */
static uint32_t hash_run(struct oc_engine *e, struct candidate *c, uint32_t n)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct oc_tensor_bytes b;
        if (!oc_tensor_bytes_open(e->m, c[i].t, &b)) {
            missing++;
            continue;
        }
        oc_os_need(b.data, (size_t)b.size_bytes);
        c[i].hash = dedup_hash_bytes(b.data, b.size_bytes);
        oc_tensor_bytes_close(&b);
    }
    return missing;
}

static bool dedup_equal(struct oc_engine *e, const struct oc_tensor *x, const struct oc_tensor *y)
{
    struct oc_tensor_bytes a, b;
    bool same = false;
    if (x == y)
        return true;
    if (!oc_tensor_bytes_open(e->m, x, &a))
        return false;
    if (oc_tensor_bytes_open(e->m, y, &b)) {
        oc_os_need(a.data, (size_t)a.size_bytes);
        oc_os_need(b.data, (size_t)b.size_bytes);
        same = a.size_bytes == b.size_bytes && memcmp(a.data, b.data, a.size_bytes) == 0;
        oc_tensor_bytes_close(&b);
    }
    oc_tensor_bytes_close(&a);
    return same;
}

/* In a run sorted by hash: merges constants whose bits equal those of the first one with the hash. (Different
 * bits with the same hash need a deliberate collision: they are not merged.) */
static void merge_run(struct oc_engine *e, const struct candidate *c, uint32_t n, uint32_t *same)
{
    for (uint32_t i = 1, first = 0; i < n; i++) {
        if (c[i].hash != c[first].hash)
            first = i;
        else if (c[i].hash && dedup_equal(e, c[first].t, c[i].t))
            same[c[i].value] = c[first].value;
    }
}

void oc_find_same(struct oc_engine *e, uint32_t *same)
{
    uint32_t n, missing = 0;
    struct candidate *list = dedup_collect(e, &n);
    for (uint32_t v = 0; v < e->m->n_value; v++)
        same[v] = v;
    if (n)
        qsort(list, n, sizeof(*list), by_content);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && by_kind(&list[i], &list[end]) == 0;)
            end++;
        if (end - i < 2)
            continue;
        missing += hash_run(e, list + i, end - i);
        qsort(list + i, end - i, sizeof(*list), by_content);
        merge_run(e, list + i, end - i, same);
    }
    if (missing)
        oc_diag_add(&e->a->diags, OC_WARNING, "W-dedup-unread", "",
                    "%u constants could not be compared: their data is missing or unreadable", missing);
    free(list);
}
