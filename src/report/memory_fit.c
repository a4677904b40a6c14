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
    struct oc_bind *bind; /* the first is that of the batch */
    uint64_t needs;       /* of the last size that fits */
};

/* Sizes that the model refuses do not fit. */
static bool fits_at(struct search *s, int64_t batch)
{
    struct oc_analysis *a = NULL;
    struct oc_err err;
    uint64_t needs;
    s->bind[0].value = batch;
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

/* What needs more memory with every larger batch: doubling, then halving the gap. */
static void largest(struct search *s)
{
    struct oc_memory_fit *f = &s->m->fit;
    int64_t low = 0, high = 1;
    while (high <= MOST_BATCH && fits_at(s, high)) {
        low = high;
        high *= 2;
    }
    f->bounded = high > MOST_BATCH;
    while (!f->bounded && high - low > 1) {
        int64_t mid = low + (high - low) / 2;
        *(fits_at(s, mid) ? &low : &high) = mid;
    }
    f->largest = low;
    f->largest_needs = s->needs;
}

/* Shapes of inputs that name the batch by a number do not bind the search. */
static void find_largest(struct oc_memory *m)
{
    const struct oc_analyze_opts *o = m->o.analyze;
    int64_t now = -1;
    const char *name = o ? batch_of(m->a->model, &now, m->a) : NULL;
    if (!name || m->quality == OC_UNKNOWN || o->n_shape)
        return;
    struct search s = {.m = m, .opts = *o};
    s.bind = OC_NEW_ARRAY(&m->arena, o->n_bind + 1, struct oc_bind);
    s.bind[0].symbol = name;
    s.opts.n_bind = 1;
    for (size_t i = 0; i < o->n_bind; i++)
        if (strcmp(o->bind[i].symbol, name) != 0)
            s.bind[s.opts.n_bind++] = o->bind[i];
    s.opts.bind = s.bind;
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
