/* Whether a model fits the memory of a device, and up to which batch. */
#include <string.h>

#include "base/ck.h"
#include "report/memory_report.h"

#define MOST_BATCH ((int64_t)1 << 40)

static enum oc_fits answer(uint64_t needs, uint8_t quality, uint64_t capacity)
{
    bool inside = needs <= capacity;
    if (quality == OC_UNKNOWN || quality == OC_EST)
        return OC_FITS_UNKNOWN;
    if (quality == OC_UPPER && !inside)
        return OC_FITS_UNKNOWN;
    if (quality == OC_LOWER && inside)
        return OC_FITS_UNKNOWN;
    return inside ? OC_FITS_YES : OC_FITS_NO;
}

/* The symbol of the first dimension of the first input that has one; OC_NONE. */
static const char *batch_of(const struct oc_model *m, int64_t *now, const struct oc_analysis *a)
{
    for (uint32_t i = 0; i < m->graph[0].n_input; i++) {
        uint32_t v = m->graph[0].input[i];
        const struct oc_shape *declared = &m->value[v].declared.shape, *s = &a->type[v].shape;
        if (m->value[v].constant || !declared->ranked || !declared->rank)
            continue;
        struct oc_dim d = declared->dim[0];
        if (oc_is_known(d) || !d.expr || d.expr > m->n_symbol)
            return NULL;
        *now = s->ranked && s->rank && oc_is_known(s->dim[0]) ? s->dim[0].v : -1;
        return m->symbol[d.expr - 1];
    }
    return NULL;
}

struct search {
    struct oc_memory *m;
    struct oc_analyze_opts opts;
    struct oc_bind *bind;        /* the first is that of the batch */
    struct oc_shape_bind *shape; /* copies */
    int64_t **dim;               /* of their sizes */
    uint64_t needs;              /* of the last size that fits */
};

/* Shapes that were given: their batch is the one looked at. */
static void put_batch(struct search *s, const char *name, int64_t batch)
{
    const struct oc_model *m = s->m->a->model;
    for (size_t i = 0; i < s->opts.n_shape; i++)
        for (uint32_t k = 0; k < m->graph[0].n_input; k++) {
            const struct oc_value *v = &m->value[m->graph[0].input[k]];
            const struct oc_shape *d = &v->declared.shape;
            if (strcmp(v->name, s->shape[i].input) != 0 || !d->ranked)
                continue;
            for (unsigned x = 0; x < d->rank && x < s->shape[i].rank; x++)
                if (d->dim[x].expr && strcmp(m->symbol[d->dim[x].expr - 1], name) == 0)
                    s->dim[i][x] = batch;
        }
}

/* Sizes that the model refuses do not fit. */
static bool fits_at(struct search *s, int64_t batch)
{
    struct oc_analysis *a = NULL;
    struct oc_err err;
    uint64_t needs;
    s->bind[0].value = batch;
    put_batch(s, s->bind[0].symbol, batch);
    s->m->fit.analyses++;
    if (oc_analyze(s->m->a->model, &s->opts, &a, &err))
        return false;
    struct oc_lives_opts o = s->m->lives->opts;
    struct oc_lives *l = oc_lives_make(a, 0, &o);
    bool fits = oc_add_u64(a->total.const_bytes, l->peak, &needs) &&
                answer(needs, l->quality, s->m->fit.capacity) == OC_FITS_YES;
    if (fits)
        s->needs = needs;
    oc_lives_free(l);
    oc_analysis_free(a);
    return fits;
}

/* Where a straight line through the needs of 1 and 2 reaches the capacity; 0: nowhere. */
static int64_t guess(const struct search *s, uint64_t one, uint64_t two)
{
    uint64_t left = s->m->fit.capacity - one;
    if (two <= one || left / (two - one) >= (uint64_t)MOST_BATCH)
        return 0;
    return 1 + (int64_t)(left / (two - one));
}

/* What needs more memory with every larger batch, mostly by a straight line: from the first size that does
 * not fit the gap is halved. */
static void largest(struct search *s)
{
    struct oc_memory_fit *f = &s->m->fit;
    int64_t low = 0, high = 1, step = 1;
    uint64_t one = 0;
    while (high <= MOST_BATCH && fits_at(s, high)) {
        int64_t line = high == 2 ? guess(s, one, s->needs) : 0;
        one = high == 1 ? s->needs : one;
        low = high;
        high = line > 2 ? line : low + step;
        step *= low > 2 ? 2 : 1;
    }
    f->bounded = high > MOST_BATCH;
    while (!f->bounded && high - low > 1) {
        int64_t mid = low + (high - low) / 2;
        *(fits_at(s, mid) ? &low : &high) = mid;
    }
    f->largest = low;
    f->largest_needs = s->needs;
}

static void copy_shapes(struct search *s, const struct oc_analyze_opts *o)
{
    struct oc_arena *arena = &s->m->arena;
    s->shape = OC_NEW_ARRAY(arena, o->n_shape, struct oc_shape_bind);
    s->dim = OC_NEW_ARRAY(arena, o->n_shape, int64_t *);
    for (size_t i = 0; i < o->n_shape; i++) {
        s->shape[i] = o->shape[i];
        s->shape[i].dim = s->dim[i] = OC_NEW_ARRAY(arena, o->shape[i].rank, int64_t);
        if (o->shape[i].rank)
            memcpy(s->dim[i], o->shape[i].dim, o->shape[i].rank * sizeof(*s->dim[i]));
    }
    s->opts.shape = s->shape;
}

static void find_largest(struct oc_memory *m)
{
    const struct oc_analyze_opts *o = m->o.analyze;
    int64_t now = -1;
    const char *name = o ? batch_of(m->a->model, &now, m->a) : NULL;
    if (!name || m->quality == OC_UNKNOWN)
        return;
    struct search s = {.m = m, .opts = *o};
    s.bind = OC_NEW_ARRAY(&m->arena, o->n_bind + 1, struct oc_bind);
    s.bind[0].symbol = name;
    s.opts.n_bind = 1;
    for (size_t i = 0; i < o->n_bind; i++)
        if (strcmp(o->bind[i].symbol, name) != 0)
            s.bind[s.opts.n_bind++] = o->bind[i];
    s.opts.bind = s.bind;
    copy_shapes(&s, o);
    m->fit.batch = name;
    m->fit.now = now;
    largest(&s);
}

int oc_memory_find_fit(struct oc_memory *m, struct oc_err *err)
{
    const struct oc_device *d = m->o.device;
    const struct oc_hw_level *dram = d ? oc_device_dram(d) : NULL;
    if (!d)
        return 0;
    if (!dram || !dram->size)
        return oc_fail(err, OC_EUNSUPPORTED, "the hardware file does not tell how much memory '%s' has",
                       d->info.id);
    m->fit = (struct oc_memory_fit){.device = d, .size = dram->size, .capacity = (uint64_t)dram->size->value};
    m->fit.fits = answer(m->footprint, m->quality, m->fit.capacity);
    find_largest(m);
    return 0;
}
