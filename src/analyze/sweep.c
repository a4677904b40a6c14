/* Totals for lists of sizes, and the names of the totals. */
#include <stdlib.h>
#include <string.h>

#include "analyze/closed_form.h"
#include "base/c_locale.h"
#include "base/ck.h"
#include "onnxcost.h"

#define TOTAL(field) offsetof(struct oc_totals, field)

static const struct {
    struct oc_metric_info info;
    size_t offset; /* in struct oc_totals */
} metrics[OC_METRIC_COUNT] = {
    [OC_METRIC_MACS] = {{"macs", "MACs", "MAC"}, TOTAL(macs)},
    [OC_METRIC_FLOPS] = {{"flops", "FLOPs", "FLOP"}, TOTAL(flops)},
    [OC_METRIC_OPS] = {{"ops", "OPs", "OP"}, TOTAL(ops)},
    [OC_METRIC_BYTES_READ_ACT] = {{"bytes_read_act", "activations read", "B"}, TOTAL(bytes_read_act)},
    [OC_METRIC_BYTES_READ_WEIGHT] = {{"bytes_read_weight", "weights read", "B"}, TOTAL(bytes_read_weight)},
    [OC_METRIC_BYTES_WRITTEN] = {{"bytes_written", "written", "B"}, TOTAL(bytes_written)},
    [OC_METRIC_PEAK] = {{"peak_activation_bytes", "peak activations", "B"}, 0}, /* not in the totals */
    [OC_METRIC_PARAMS] = {{"params", "parameters", ""}, TOTAL(params)},
};

const struct oc_metric_info *oc_metric_info(enum oc_metric m)
{
    return &metrics[m].info;
}

uint64_t oc_metric_of(const struct oc_analysis *a, enum oc_metric m)
{
    uint64_t v;
    if (m == OC_METRIC_PEAK)
        return a->peak.bytes;
    memcpy(&v, (const char *)a->total + metrics[m].offset, sizeof(v));
    return v;
}

/* ---- axes ------------------------------------------------------------------------------------------- */

static bool is_bound(const struct oc_analyze_opts *o, const char *symbol)
{
    for (size_t i = 0; i < o->n_bind; i++)
        if (!strcmp(o->bind[i].symbol, symbol))
            return true;
    return false;
}

static int take_axes(struct oc_sweep *s, const struct oc_analyze_opts *o, const struct oc_sweep_axis *axis,
                     size_t n_axis, struct oc_err *err)
{
    uint64_t n = 1;
    s->axis = OC_NEW_ARRAY(&s->arena, n_axis, struct oc_sweep_axis);
    for (size_t i = 0; i < n_axis; i++) {
        if (!axis[i].n)
            return oc_fail(err, OC_EARG, "dimension '%s' has no sizes", axis[i].symbol);
        for (size_t k = 0; k < i; k++)
            if (!strcmp(axis[k].symbol, axis[i].symbol))
                return oc_fail(err, OC_EARG, "dimension '%s' cannot be swept twice", axis[i].symbol);
        if (is_bound(o, axis[i].symbol))
            return oc_fail(err, OC_EARG, "dimension '%s' cannot be both bound and swept", axis[i].symbol);
        if (!oc_mul_u64(n, axis[i].n, &n) || n > OC_SWEEP_MAX_ROWS)
            return oc_fail(err, OC_ELIMIT, "more than %d combinations of sizes", OC_SWEEP_MAX_ROWS);
        int64_t *value = OC_NEW_ARRAY(&s->arena, axis[i].n, int64_t);
        memcpy(value, axis[i].value, axis[i].n * sizeof(*value));
        s->axis[i] = (struct oc_sweep_axis){
            .symbol = oc_strdup(&s->arena, axis[i].symbol), .value = value, .n = axis[i].n};
    }
    s->n_axis = n_axis;
    s->n_row = n;
    return 0;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static void sweep_set_row(struct oc_sweep *s, size_t index, struct oc_bind *bind)
{
    int64_t *at = OC_NEW_ARRAY(&s->arena, s->n_axis, int64_t);
    s->row[index].at = at;
    for (size_t i = s->n_axis; i-- > 0;) {
        const struct oc_sweep_axis *a = &s->axis[i];
        at[i] = a->value[index % a->n];
        index /= a->n;
        bind[i] = (struct oc_bind){.symbol = a->symbol, .value = at[i]};
    }
}

static void sweep_fill_row(struct oc_sweep_row *row, const struct oc_analysis *a)
{
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++)
        row->value[m] = oc_metric_of(a, (enum oc_metric)m);
    row->nodes = a->total->nodes;
    row->unknown_nodes = a->total->unknown_nodes;
    row->quality = a->total->quality;
    row->peak_quality = (enum oc_quality)a->peak.quality;
}

static int sweep_run(struct oc_sweep *s, const struct oc_analyze_opts *opts, struct oc_err *err)
{
    struct oc_analyze_opts o = *opts;
    struct oc_bind *bind = OC_NEW_ARRAY(&s->arena, o.n_bind + s->n_axis, struct oc_bind);
    bool any = false;
    if (o.n_bind)
        memcpy(bind, o.bind, o.n_bind * sizeof(*bind));
    o.bind = bind;
    o.n_bind += s->n_axis;
    for (size_t i = 0; i < s->n_row; i++) {
        struct oc_analysis *a;
        struct oc_err failure;
        sweep_set_row(s, i, bind + opts->n_bind);
        if (oc_analyze(s->model, &o, &a, &failure)) {
            s->row[i].failure = oc_strdup(&s->arena, failure.msg);
            if (!any)
                *err = failure;
            continue;
        }
        any = true;
        sweep_fill_row(&s->row[i], a);
        oc_analysis_free(a);
    }
    return any ? 0 : -1;
}

int oc_sweep_make(const struct oc_model *model, const struct oc_analyze_opts *given,
                  const struct oc_sweep_axis *axis, size_t n_axis, struct oc_sweep **out, struct oc_err *err)
{
    OC_C_LOCALE;
    *out = NULL;
    struct oc_analyze_opts full, *const opts = &full;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    struct oc_sweep *s = oc_xmalloc(sizeof(*s));
    struct oc_err unused = {0};
    *s = (struct oc_sweep){.model = model};
    err = err ? err : &unused;
    int rc = take_axes(s, opts, axis, n_axis, err);
    if (!rc) {
        s->row = OC_NEW_ARRAY(&s->arena, s->n_row, struct oc_sweep_row);
        rc = sweep_run(s, opts, err);
    }
    if (rc) {
        oc_sweep_free(s);
        return -1;
    }
    *out = s;
    return 0;
}

void oc_sweep_free(struct oc_sweep *s)
{
    if (!s)
        return;
    oc_arena_free(&s->arena);
    free(s);
}

size_t oc_sweep_rows(const struct oc_sweep *s, const struct oc_sweep_row **out)
{
    *out = s->row;
    return s->n_row;
}

size_t oc_sweep_findings(const struct oc_sweep *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_row; i++)
        n += s->row[i].failure || s->row[i].quality != OC_EXACT || s->row[i].peak_quality != OC_EXACT;
    return n;
}
