/* Whether a model fits the memory of a device, and the largest batch that fits. */
#include "analyze/batch_dim.h"
#include "base/ck.h"
#include "write/memory_report.h"

#define MOST_BATCH ((int64_t)1 << 40)

struct search {
    struct oc_memory *m;
    struct oc_batch_opts batch;
    uint64_t needs; /* need of the largest size that fits */
};

/* Sizes that the model rejects do not fit. */
static bool fits_at(struct search *s, int64_t batch)
{
    struct oc_analysis *a = NULL;
    struct oc_err err;
    uint64_t needs;
    oc_batch_opts_set(&s->batch, batch);
    s->m->fit.analyses++;
    if (oc_analyze(s->m->a->model, &s->batch.opts, &a, &err))
        return false;
    struct oc_lives_opts o = s->m->lives->opts;
    struct oc_lives *l = oc_lives_make(a, 0, &o);
    bool fits = oc_add_u64(a->total.const_bytes, l->peak, &needs) &&
                oc_fits_in(needs, l->quality, s->m->fit.capacity) == OC_FITS_YES;
    if (fits)
        s->needs = needs;
    oc_lives_free(l);
    oc_analysis_free(a);
    return fits;
}

/* Batch at which the line through the needs at 1 and 2 reaches the capacity; 0: never. */
static int64_t guess(const struct search *s, uint64_t one, uint64_t two)
{
    uint64_t left = s->m->fit.capacity - one;
    if (two <= one || left / (two - one) >= (uint64_t)MOST_BATCH)
        return 0;
    return 1 + (int64_t)(left / (two - one));
}

/* Finds the largest batch that fits: memory grows nearly linearly with the batch; extrapolates to a first
 * size that does not fit, then bisects. */
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

static void find_largest(struct oc_memory *m)
{
    const char *name = m->o.analyze ? oc_batch_symbol(m->a->model) : NULL;
    if (!name || m->quality == OC_UNKNOWN)
        return;
    struct search s = {.m = m};
    oc_batch_opts_init(&s.batch, &m->arena, m->a->model, m->o.analyze, name);
    m->fit.batch = name;
    m->fit.now = oc_batch_now(m->a, name);
    largest(&s);
}

int oc_memory_find_fit(struct oc_memory *m, struct oc_err *err)
{
    const struct oc_device *d = m->o.device;
    const struct oc_hw_level *dram = d ? oc_device_dram(d) : NULL;
    if (!d)
        return 0;
    if (!dram || !dram->size)
        return oc_fail(err, OC_EUNSUPPORTED, "the hardware file has no memory size for '%s'", d->info.id);
    m->fit = (struct oc_memory_fit){.device = d, .size = dram->size, .capacity = (uint64_t)dram->size->value};
    m->fit.fits = oc_fits_in(m->footprint, m->quality, m->fit.capacity);
    find_largest(m);
    return 0;
}
