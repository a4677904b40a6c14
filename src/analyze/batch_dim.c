#include "analyze/closed_form.h"
#include "onnxcost/memory.h"

#include <string.h>

/* The dimension is a plain symbol. */
static const char *batch_dim_symbol_of(const struct oc_model *m, struct oc_dim d)
{
    return oc_is_known(d) || !d.expr || d.expr > m->n_symbol ? NULL : m->symbol[d.expr - 1];
}

const char *oc_batch_symbol(const struct oc_model *m)
{
    for (uint32_t i = 0; i < m->graph[0].n_input; i++) {
        const struct oc_value *v = &m->value[m->graph[0].input[i]];
        const struct oc_shape *s = &v->declared->shape;
        if (!v->constant && s->ranked && s->rank)
            return batch_dim_symbol_of(m, s->dim[0]);
    }
    return NULL;
}

struct place { /* a dimension of an input */
    uint32_t value;
    unsigned axis;
};

static bool batch_dim_find(const struct oc_model *m, const char *symbol, struct place *out)
{
    for (uint32_t i = 0; i < m->graph[0].n_input; i++) {
        const struct oc_value *v = &m->value[m->graph[0].input[i]];
        const struct oc_shape *s = &v->declared->shape;
        for (unsigned x = 0; !v->constant && s->ranked && x < s->rank; x++) {
            const char *name = batch_dim_symbol_of(m, s->dim[x]);
            if (name && strcmp(name, symbol) == 0) {
                *out = (struct place){m->graph[0].input[i], x};
                return true;
            }
        }
    }
    return false;
}

bool oc_batch_has_symbol(const struct oc_model *m, const char *symbol)
{
    struct place p;
    return batch_dim_find(m, symbol, &p);
}

int64_t oc_batch_now(const struct oc_analysis *a, const char *symbol)
{
    struct place p;
    if (!batch_dim_find(a->model, symbol, &p))
        return -1;
    const struct oc_shape *s = &a->type[p.value].shape;
    return s->ranked && p.axis < s->rank && oc_is_known(s->dim[p.axis]) ? s->dim[p.axis].v : -1;
}

static void copy_shapes(struct oc_batch_opts *b, struct oc_arena *arena, const struct oc_analyze_opts *o)
{
    struct oc_shape_bind *shape = OC_NEW_ARRAY(arena, o->n_shape, struct oc_shape_bind);
    b->dim = OC_NEW_ARRAY(arena, o->n_shape, int64_t *);
    for (size_t i = 0; i < o->n_shape; i++) {
        shape[i] = o->shape[i];
        shape[i].dim = b->dim[i] = OC_NEW_ARRAY(arena, o->shape[i].rank, int64_t);
        if (o->shape[i].rank)
            memcpy(b->dim[i], o->shape[i].dim, o->shape[i].rank * sizeof(*b->dim[i]));
    }
    b->opts.shape = shape;
}

void oc_batch_opts_init(struct oc_batch_opts *b, struct oc_arena *arena, const struct oc_model *m,
                        const struct oc_analyze_opts *o, const char *symbol)
{
    *b = (struct oc_batch_opts){.opts = *o, .model = m};
    b->bind = OC_NEW_ARRAY(arena, o->n_bind + 1, struct oc_bind);
    b->bind[0].symbol = symbol;
    b->opts.n_bind = 1;
    for (size_t i = 0; i < o->n_bind; i++)
        if (strcmp(o->bind[i].symbol, symbol) != 0)
            b->bind[b->opts.n_bind++] = o->bind[i];
    b->opts.bind = b->bind;
    copy_shapes(b, arena, o);
}

/* Replaces the batch dimension in a given shape. */
static void batch_dim_set_shape(struct oc_batch_opts *b, size_t index, const struct oc_value *v,
                                int64_t batch)
{
    const struct oc_shape *d = &v->declared->shape;
    for (unsigned x = 0; d->ranked && x < d->rank && x < b->opts.shape[index].rank; x++)
        if (d->dim[x].expr && strcmp(b->model->symbol[d->dim[x].expr - 1], b->bind[0].symbol) == 0)
            b->dim[index][x] = batch;
}

void oc_batch_opts_set(struct oc_batch_opts *b, int64_t batch)
{
    const struct oc_graph *g = &b->model->graph[0];
    b->bind[0].value = batch;
    for (size_t i = 0; i < b->opts.n_shape; i++)
        for (uint32_t k = 0; k < g->n_input; k++) {
            const struct oc_value *v = &b->model->value[g->input[k]];
            if (strcmp(v->name, b->opts.shape[i].input) == 0)
                batch_dim_set_shape(b, i, v, batch);
        }
}

enum oc_fits oc_fits_in(uint64_t needs, uint8_t quality, uint64_t capacity)
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
