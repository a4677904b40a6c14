/* The work of the lower bound as closed forms of sizes, for the page and for ranks of devices. */
#include "estimate/bound.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/closed_form.h"
#include "estimate/curve.h"
#include "onnxcost.h"

bool oc_bound_keeps_tensors(const struct oc_device *device)
{
    const struct oc_hw_level *dram = oc_device_dram(device);
    for (size_t i = 0; i < device->n_level; i++)
        if (&device->level[i] != dram && device->level[i].size)
            return oc_cal_device_kind(device) == OC_CAL_NPU;
    return true;
}

struct runner {
    const struct oc_law_source *source;
    struct oc_bound_law *law;
    struct oc_trust trust; /* at the start */
    uint64_t *start;       /* heap: the values there */
};

/* ---- indices of outputs ----------------------------------------------------------------------------- */

size_t oc_bound_law_constant(const struct oc_bound_law *law, unsigned type, unsigned constant)
{
    return law->end[type] + constant; /* the group before that of the type */
}

size_t oc_bound_law_field(const struct oc_bound_law *law, unsigned type, uint32_t part, unsigned field)
{
    size_t fields = OC_LAW_FIELDS + (size_t)OC_LAW_KINDS * law->n_cls;
    return oc_bound_law_constant(law, type, OC_LAW_CONSTANTS) + part * fields + field;
}

size_t oc_bound_law_ops(const struct oc_bound_law *law, unsigned type, uint32_t part, unsigned kind,
                        unsigned cls_index)
{
    return oc_bound_law_field(law, type, part, OC_LAW_FIELDS) + (size_t)kind * law->n_cls + cls_index;
}

size_t oc_bound_law_fewer(const struct oc_bound_law *law, unsigned type, uint32_t i)
{
    return oc_bound_law_field(law, type, law->n_part + 1, 0) + i;
}

static unsigned law_class(const struct oc_bound_law *law, unsigned cls)
{
    unsigned i = 0;
    while (i < law->n_cls && law->cls[i] != cls)
        i++;
    return i;
}

/* ---- one analysis as outputs ------------------------------------------------------------------------ */

static void put_totals(const struct oc_totals *t, uint64_t *v)
{
    v[OC_LAW_MACS] = t->macs;
    v[OC_LAW_FLOPS] = t->flops;
    v[OC_LAW_OPS] = t->ops;
    v[OC_LAW_READ_ACT] = t->bytes_read_act;
    v[OC_LAW_READ_WEIGHT] = t->bytes_read_weight;
    v[OC_LAW_WRITTEN] = t->bytes_written;
}

static bool works_in(const struct oc_work *w, unsigned c)
{
    return w->macs[c] || w->flops[c] || w->special[c] || w->special_flops[c];
}

/* False: in a class in which there was no work at the start. */
static bool put_work(const struct oc_bound_law *law, unsigned type, uint32_t part,
                     const struct oc_roof_traffic *bytes, const struct oc_class_work *ops, unsigned n_ops,
                     uint64_t *v)
{
    uint64_t *field = v + oc_bound_law_field(law, type, part, 0), *of = field + OC_LAW_FIELDS;
    field[OC_LAW_BYTES] = bytes->bytes;
    field[OC_LAW_WEIGHT_BYTES] = bytes->weight_bytes;
    field[OC_LAW_BYTES_WRITTEN] = bytes->written;
    field[OC_LAW_LAUNCHES] = bytes->launches;
    memset(of, 0, (size_t)OC_LAW_KINDS * law->n_cls * sizeof(*of));
    for (unsigned i = 0; i < n_ops; i++) {
        unsigned at = law_class(law, ops[i].cls);
        if (at == law->n_cls)
            return false;
        of[(size_t)OC_LAW_CLASS_MACS * law->n_cls + at] = ops[i].macs;
        of[(size_t)OC_LAW_CLASS_FLOPS * law->n_cls + at] = ops[i].flops;
        of[(size_t)OC_LAW_SPECIAL * law->n_cls + at] = ops[i].special;
        of[(size_t)OC_LAW_SPECIAL_FLOPS * law->n_cls + at] = ops[i].special_flops;
    }
    return true;
}

static bool put_all(const struct oc_bound_law *law, unsigned type, const struct oc_bound_load *load,
                    uint64_t *v)
{
    const struct oc_work *w = &load->all;
    struct oc_class_work ops[OC_CLASS_COUNT];
    const struct oc_roof_traffic bytes = {w->bytes - load->const_bytes, w->weight_bytes - load->const_bytes,
                                          w->written, w->launches};
    return put_work(law, type, law->n_part, &bytes, ops, oc_class_works(w, ops), v);
}

/* Their multiplications move from the parts to outputs of their own. */
static bool put_fewer(const struct oc_bound_law *law, unsigned type, const struct oc_bound_load *load,
                      uint64_t *v)
{
    for (uint32_t i = 0; i < load->n_fewer; i++) {
        const struct oc_bound_fewer *f = &load->fewer[i], *known = &law->fewer[type][i];
        if (f->part != known->part || f->cls != known->cls || f->by > known->by || f->by < known->by)
            return false;
        uint64_t left = oc_bound_fewer_macs(f->macs, f->by);
        unsigned c = law_class(law, f->cls);
        v[oc_bound_law_fewer(law, type, i)] = f->macs;
        v[oc_bound_law_ops(law, type, law->n_part, OC_LAW_CLASS_MACS, c)] -= left;
        if (f->part != OC_NONE)
            v[oc_bound_law_ops(law, type, f->part, OC_LAW_CLASS_MACS, c)] -= left;
    }
    return true;
}

/* A sum that reached its limit is not exact. */
static bool is_saturated(const struct oc_bound_load *load)
{
    bool any = load->all.bytes == UINT64_MAX;
    for (uint32_t i = 0; i < load->n_part; i++)
        any |= load->part[i].bytes.bytes == UINT64_MAX;
    return any;
}

static bool put_load(const struct oc_bound_law *law, unsigned type, const struct oc_bound_load *load,
                     uint64_t *v)
{
    if (load->n_part != law->n_part || load->n_fewer != law->n_fewer[type] || is_saturated(load))
        return false;
    v[oc_bound_law_constant(law, type, OC_LAW_STORED)] = load->weights_stored;
    v[oc_bound_law_constant(law, type, OC_LAW_BEFORE)] = load->weights_before;
    v[oc_bound_law_constant(law, type, OC_LAW_AFTER)] = load->weights_after;
    for (uint32_t i = 0; i < load->n_part; i++)
        if (load->part[i].also != law->also[i] ||
            !put_work(law, type, i, &load->part[i].bytes, load->part[i].ops, load->part[i].n_ops, v))
            return false;
    return put_all(law, type, load, v) && put_fewer(law, type, load, v);
}

static void note_peak(struct oc_bound_law *law, const struct oc_law_source *s, const int64_t *x,
                      const struct oc_analysis *a)
{
    OC_GROW(law->peak, law->n_peak, law->cap_peak);
    law->peak[law->n_peak++] = (struct oc_law_peak){a ? a->peak.bytes : 0, a && a->peak.quality == OC_EXACT};
    oc_map_set(&law->peak_at, (const char *)x, s->n_var * sizeof(*x), law->n_peak - 1);
}

static struct oc_analysis *law_analyze(struct oc_bound_law *law, const struct oc_law_source *s,
                                       const int64_t *x)
{
    struct oc_analysis *a;
    if (s->analyze(s->ctx, x, &a))
        a = NULL;
    note_peak(law, s, x, a);
    return a;
}

static bool put_values(const struct oc_bound_law *law, const struct oc_totals *t,
                       const struct oc_bound_load *load, uint64_t *v)
{
    bool ok = true;
    put_totals(t, v);
    for (unsigned type = 0; type < law->n_type && ok; type++)
        ok = put_load(law, type, &load[type], v);
    return ok;
}

static bool take_start(struct runner *r, const int64_t *x, uint64_t *v)
{
    for (unsigned k = 0; k < r->source->n_var; k++)
        if (x[k] != r->source->var[k].start)
            return false;
    memcpy(v, r->start, r->law->end[r->law->n_type] * sizeof(*v));
    return true;
}

static bool law_value(void *ctx, const int64_t *x, uint64_t *v)
{
    struct runner *r = ctx;
    struct oc_arena arena = {0};
    struct oc_bound_load load[OC_LAW_TYPES];
    if (take_start(r, x, v))
        return true;
    struct oc_analysis *a = law_analyze(r->law, r->source, x);
    if (!a)
        return false;
    struct oc_trust trust = oc_trust_of(a);
    bool ok = oc_trust_equal(&trust, &r->trust);
    if (ok) {
        oc_bound_loads_make(a, r->law->as, r->law->n_type, &arena, load);
        ok = put_values(r->law, a->total, load, v);
    }
    oc_arena_free(&arena);
    oc_analysis_free(a);
    return ok;
}

/* ---- public functions ------------------------------------------------------------------------------- */

enum { LAW_NODES = 4000000 /* analysed for one law */, LAW_EVALS = 1000 };

uint32_t oc_law_evals(const struct oc_model *m)
{
    uint32_t n = m->n_node ? LAW_NODES / m->n_node : LAW_EVALS;
    return n > LAW_EVALS ? LAW_EVALS : n;
}

static void take_classes(struct oc_bound_law *law, const struct oc_bound_load *load)
{
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++) {
        bool any = false;
        for (unsigned t = 0; t < law->n_type; t++)
            any |= works_in(&load[t].all, c); /* has all operations of the parts */
        if (any)
            law->cls[law->n_cls++] = (uint8_t)c;
    }
}

static void take_shape(struct oc_bound_law *law, const struct oc_bound_load *load)
{
    take_classes(law, load);
    law->n_part = load->n_part;
    law->also = OC_NEW_ARRAY(&law->arena, (size_t)load->n_part + 1, uint8_t);
    for (uint32_t i = 0; i < load->n_part; i++)
        law->also[i] = load->part[i].also;
    law->end[0] = OC_LAW_TOTALS;
    for (unsigned t = 0; t < law->n_type; t++) {
        law->n_fewer[t] = load[t].n_fewer;
        law->fewer[t] = OC_NEW_ARRAY(&law->arena, (size_t)load[t].n_fewer + 1, struct oc_bound_fewer);
        if (load[t].n_fewer)
            memcpy(law->fewer[t], load[t].fewer, load[t].n_fewer * sizeof(*law->fewer[t]));
        law->end[t + 1] = oc_bound_law_fewer(law, t, load[t].n_fewer);
    }
}

/* What the law is made of at the start. False: no figures, or no exact ones. */
static bool open_law(struct runner *r)
{
    const struct oc_law_source *source = r->source;
    struct oc_bound_law *law = r->law;
    struct oc_arena arena = {0};
    struct oc_bound_load load[OC_LAW_TYPES];
    int64_t x[OC_RPOLY_VARS] = {0};
    for (unsigned k = 0; k < source->n_var; k++)
        x[k] = source->var[k].start;
    struct oc_analysis *own = source->start ? NULL : law_analyze(law, source, x);
    const struct oc_analysis *a = source->start ? source->start : own;
    if (!a)
        return false;
    if (!own)
        note_peak(law, source, x, a);
    r->trust = oc_trust_of(a);
    oc_bound_loads_make(a, law->as, law->n_type, &arena, load);
    take_shape(law, load);
    r->start = oc_xcalloc(law->end[law->n_type] + 1, sizeof(*r->start));
    bool ok = put_values(law, a->total, load, r->start);
    oc_arena_free(&arena);
    oc_analysis_free(own);
    return ok;
}

bool oc_bound_law_make(const struct oc_law_source *source, struct oc_bound_law *out)
{
    struct runner r = {.source = source, .law = out};
    *out = (struct oc_bound_law){.n_type = 1};
    out->as[0] = source->own_type ? source->as : NULL;
    out->peak_at.arena = &out->arena;
    for (size_t i = 0; !source->own_type && oc_recast_name(i) && out->n_type < OC_LAW_TYPES; i++)
        out->as[out->n_type++] = oc_recast_by_name(oc_recast_name(i));
    struct oc_boxes_in in = {.eval = law_value,
                             .ctx = &r,
                             .n_var = source->n_var,
                             .var = source->var,
                             .step_groups = source->keep_steps ? 0 : 2,
                             .group_end = out->end,
                             .max_evals = source->max_evals};
    bool ok = open_law(&r);
    in.n_out = out->end[out->n_type];
    in.n_group = out->n_type + 1;
    ok = ok && oc_boxes_make(&in, &out->boxes);
    free(r.start);
    if (!ok)
        oc_bound_law_free(out);
    return ok;
}

void oc_bound_law_free(struct oc_bound_law *law)
{
    oc_boxes_free(&law->boxes);
    oc_map_free(&law->peak_at);
    free(law->peak);
    oc_arena_free(&law->arena);
}

static bool peak_value(void *ctx, const int64_t *x, uint64_t *v)
{
    struct runner *r = ctx;
    uint32_t id = oc_map_get(&r->law->peak_at, (const char *)x, r->source->n_var * sizeof(*x));
    if (id == OC_NONE) {
        oc_analysis_free(law_analyze(r->law, r->source, x));
        id = r->law->n_peak - 1;
    }
    *v = r->law->peak[id].bytes;
    return r->law->peak[id].exact;
}

bool oc_peak_law_make(const struct oc_law_source *source, struct oc_bound_law *law, struct oc_boxes *out)
{
    static const size_t one = 1;
    struct runner r = {.source = source, .law = law};
    const struct oc_boxes_in in = {.eval = peak_value,
                                   .ctx = &r,
                                   .n_var = source->n_var,
                                   .var = source->var,
                                   .n_out = 1,
                                   .n_group = 1,
                                   .group_end = &one,
                                   .max_evals = source->max_evals};
    return oc_boxes_make(&in, out);
}
