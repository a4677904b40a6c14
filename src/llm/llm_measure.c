/* One run of the graph: analyses it with the given sizes and extracts the counts. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/receipt.h"
#include "base/ck.h"
#include "llm/llm.h"
#include "onnxcost.h"

static int64_t value_of(const struct oc_llm_at *at, unsigned role)
{
    return role == OC_LLM_BATCH  ? at->batch
           : role == OC_LLM_NEW  ? at->fresh
           : role == OC_LLM_PAST ? at->past
                                 : at->past + at->fresh;
}

/* ---- the analysis ----------------------------------------------------------------------------------- */

struct bound { /* options including those of the roles */
    struct oc_analyze_opts opts;
    struct oc_bind *bind;
    struct oc_shape_bind *shape;
    struct oc_control_bind *control;
    struct oc_value_bind *value;
    char (*text)[24]; /* of the values */
    int64_t mask[2];
};

static void bind_sizes(struct bound *b, const struct oc_llm *l, const struct oc_llm_at *at)
{
    const struct oc_analyze_opts *own = l->opts.analyze;
    b->bind = oc_xmalloc((own->n_bind + l->sizes.n_size + 1) * sizeof(*b->bind));
    b->opts.bind = b->bind;
    for (size_t i = 0; i < own->n_bind; i++)
        b->bind[i] = own->bind[i];
    for (uint32_t i = 0; i < l->sizes.n_size; i++)
        b->bind[b->opts.n_bind++] =
            (struct oc_bind){l->sizes.size[i].symbol, value_of(at, l->sizes.size[i].role)};
}

/* "past_sequence_length + 1" is right for one new token only: the mask is given its full shape. */
static void bind_mask(struct bound *b, const struct oc_llm *l, const struct oc_llm_at *at)
{
    const struct oc_analyze_opts *own = l->opts.analyze;
    if (l->sizes.mask == OC_NONE)
        return;
    b->shape = oc_xmalloc((own->n_shape + 1) * sizeof(*b->shape));
    for (size_t i = 0; i < own->n_shape; i++)
        b->shape[i + 1] = own->shape[i]; /* the last option for an input takes precedence */
    b->mask[0] = at->batch;
    b->mask[1] = at->past + at->fresh;
    b->shape[0] =
        (struct oc_shape_bind){.input = l->model->value[l->sizes.mask].name, .rank = 2, .dim = b->mask};
    b->opts.shape = b->shape;
    b->opts.n_shape = own->n_shape + 1;
}

static void bind_branches(struct bound *b, const struct oc_llm *l, const struct oc_llm_at *at)
{
    const struct oc_analyze_opts *own = l->opts.analyze;
    if (!l->sizes.n_branch)
        return;
    b->control = oc_xmalloc((own->n_control + l->sizes.n_branch) * sizeof(*b->control));
    for (size_t i = 0; i < own->n_control; i++)
        b->control[i] = own->control[i];
    for (uint32_t i = 0; i < l->sizes.n_branch; i++)
        b->control[own->n_control + i] =
            (struct oc_control_bind){.node = l->sizes.branch[i], .value = at->past > 0};
    b->opts.control = b->control;
    b->opts.n_control = own->n_control + l->sizes.n_branch;
}

static void bind_scalars(struct bound *b, const struct oc_llm *l, const struct oc_llm_at *at)
{
    const struct oc_analyze_opts *own = l->opts.analyze;
    if (!l->sizes.n_scalar)
        return;
    b->value = oc_xmalloc((own->n_value + l->sizes.n_scalar) * sizeof(*b->value));
    b->text = oc_xmalloc(l->sizes.n_scalar * sizeof(*b->text));
    for (uint32_t i = 0; i < l->sizes.n_scalar; i++) {
        snprintf(b->text[i], sizeof(b->text[i]), "%" PRId64, value_of(at, l->sizes.scalar[i].role));
        b->value[i] = (struct oc_value_bind){l->sizes.scalar[i].symbol, b->text[i]};
    }
    for (size_t i = 0; i < own->n_value; i++) /* requested options come last and take precedence */
        b->value[l->sizes.n_scalar + i] = own->value[i];
    b->opts.value = b->value;
    b->opts.n_value = own->n_value + l->sizes.n_scalar;
}

int oc_llm_analyze(const struct oc_llm *l, struct oc_llm_at at, struct oc_analysis **out, struct oc_err *err)
{
    struct bound b = {.opts = *l->opts.analyze};
    bind_sizes(&b, l, &at);
    bind_mask(&b, l, &at);
    bind_branches(&b, l, &at);
    bind_scalars(&b, l, &at);
    int rc = oc_analyze(l->model, &b.opts, out, err);
    free(b.bind);
    free(b.shape);
    free(b.control);
    free(b.value);
    free(b.text);
    return rc;
}

/* ---- counts ----------------------------------------------------------------------------------------- */

static bool llm_measure_whole_bytes(const struct oc_analysis *a, uint32_t value, uint64_t *out)
{
    const struct oc_type *t = &a->type[value];
    struct oc_dim n = oc_shape_count(a->exprs, &t->shape);
    return t->shape.ranked && oc_is_known(n) && n.v >= 0 && oc_bytes_of(t->dtype, (uint64_t)n.v, out);
}

/* Bytes of the pair as counted by the nodes at both ends; those of the tensors if the nodes have no counts.
 */
static bool pair_bytes(struct oc_recount *r, const struct oc_analysis *a, const struct oc_kv_pair *p,
                       uint64_t *read, uint64_t *written)
{
    struct oc_receipt receipt;
    *read = *written = 0;
    if (p->reader != OC_NONE) {
        if (oc_recount_node(r, p->reader, true, &receipt) && receipt.in)
            *read = receipt.in[p->past_slot].moved;
        else if (!llm_measure_whole_bytes(a, p->past, read))
            return false;
    }
    if (p->present == OC_NONE || p->writer == OC_NONE)
        return true;
    if (oc_recount_node(r, p->writer, true, &receipt) && receipt.out) {
        *written = receipt.out[p->present_slot].moved;
        return true;
    }
    return llm_measure_whole_bytes(a, p->present, written);
}

static void llm_measure_add(struct oc_llm_cost *c, unsigned n, uint64_t v)
{
    if (!oc_add_u64(c->v[n], v, &c->v[n]))
        c->quality = OC_UNKNOWN;
}

static void take_cache(const struct oc_llm *l, const struct oc_analysis *a, struct oc_llm_cost *c)
{
    struct oc_recount *r = oc_recount_new(a);
    for (uint32_t i = 0; i < l->kv.n_pair; i++) {
        uint64_t read, written;
        if (!pair_bytes(r, a, &l->kv.pair[i], &read, &written))
            continue;
        llm_measure_add(c, OC_LN_KV_READ, read);
        llm_measure_add(c, OC_LN_KV_WRITTEN, written);
    }
    oc_recount_free(r);
}

/* Operations by class; in another type (--as), also the bytes of that type. */
static void take_classes(const struct oc_llm *l, const struct oc_analysis *a, struct oc_llm_cost *c)
{
    struct oc_work w = {0};
    for (uint32_t i = 0; i < a->model->n_node; i++)
        if (a->cost[i].quality != OC_UNKNOWN)
            oc_recast_sum(l->as, a, i, &w);
    if (l->as) {
        c->v[OC_LN_READ_WEIGHT] = w.weight_bytes;
        c->v[OC_LN_WRITTEN] = w.written;
        c->v[OC_LN_READ_ACT] = w.bytes - w.weight_bytes - w.written;
    }
    for (unsigned k = 0; k < OC_CLASS_COUNT; k++) {
        c->v[OC_LN_CLASS_MACS + k] = w.macs[k];
        c->v[OC_LN_CLASS_REST + k] = w.flops[k];
        c->v[OC_LN_CLASS_SPECIAL + k] = w.special[k];
    }
    c->v[OC_LN_LAUNCHES] = w.launches;
    if (w.unknown)
        c->quality = OC_UNKNOWN;
}

static void llm_measure_take(const struct oc_llm *l, const struct oc_analysis *a, struct oc_llm_cost *c)
{
    c->quality = (uint8_t)a->total->quality;
    c->unknown_nodes = a->total->unknown_nodes;
    c->peak_quality = a->peak.quality;
    c->v[OC_LN_MACS] = a->total->macs;
    c->v[OC_LN_FLOPS] = a->total->flops;
    c->v[OC_LN_OPS] = a->total->ops;
    c->v[OC_LN_READ_ACT] = a->total->bytes_read_act;
    c->v[OC_LN_READ_WEIGHT] = a->total->bytes_read_weight;
    c->v[OC_LN_WRITTEN] = a->total->bytes_written;
    c->v[OC_LN_PEAK] = a->peak.bytes;
    take_classes(l, a, c);
    take_cache(l, a, c);
}

/* ---- the meter -------------------------------------------------------------------------------------- */

static const struct oc_llm_known *known_at(const struct oc_llm_meter *m, struct oc_llm_at at)
{
    for (uint32_t i = 0; i < m->n_known; i++) {
        const struct oc_llm_at *k = &m->known[i].at;
        if (k->batch == at.batch && k->fresh == at.fresh && k->past == at.past)
            return &m->known[i];
    }
    return NULL;
}

const struct oc_llm_cost *oc_llm_cost_at(struct oc_llm_meter *m, struct oc_llm_at at)
{
    const struct oc_llm_known *k = known_at(m, at);
    if (k)
        return k->cost;
    struct oc_analysis *a = NULL;
    struct oc_llm_cost *c = NULL;
    if (oc_llm_analyze(m->llm, at, &a, &m->err) == 0) {
        c = OC_NEW(&m->arena, struct oc_llm_cost);
        llm_measure_take(m->llm, a, c);
        oc_analysis_free(a);
    }
    OC_GROW(m->known, m->n_known, m->cap_known);
    m->known[m->n_known++] = (struct oc_llm_known){at, c};
    return c;
}

void oc_llm_meter_free(struct oc_llm_meter *m)
{
    free(m->known);
    oc_arena_free(&m->arena);
}
