#include "write/diff_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

enum { TOP = 20 };

const struct oc_metric_name oc_diff_metric_names[OC_DIFF_METRICS] = {
    [OC_DIFF_MACS] = {"macs", "MACs", false, false},
    [OC_DIFF_FLOPS] = {"flops", "FLOPs", false, false},
    [OC_DIFF_OPS] = {"ops", "int OPs", false, false},
    [OC_DIFF_BYTES] = {"bytes", "bytes", true, false},
    [OC_DIFF_PARAMS] = {"params", "parameters", false, false},
    [OC_DIFF_TIME] = {"time", "time", false, true},
    [OC_DIFF_ROOFLINE] = {"roofline", "roofline", false, true},
    [OC_DIFF_PEAK] = {"peak_activation_bytes", "peak memory, B", true, false},
    [OC_DIFF_WEIGHT_BYTES] = {"const_bytes", "weights, B", true, false},
    [OC_DIFF_LATENCY] = {"latency", "latency", false, true},
};

/* ---- selection of metrics ---------------------------------------------------------------------------- */

static bool differs(const struct oc_diff *d, unsigned m)
{
    const struct oc_diff_total *t = &d->total[m];
    return t->known[0] && t->known[1] &&
           (t->is_time ? t->v[0] != t->v[1] : t->n[0] != t->n[1] || t->rows_delta);
}

static bool somewhere(const struct oc_diff *d, unsigned m)
{
    const struct oc_diff_total *t = &d->total[m];
    if (t->is_time)
        return t->known[0] || t->known[1];
    /* integer operations are rare: unknown counts are visible in the other metrics */
    return t->n[0] || t->n[1] || !t->known[0] || (t->unknown_rows && m != OC_DIFF_OPS);
}

static bool has_rows(const struct oc_diff *d, unsigned m)
{
    bool any = false;
    for (uint32_t i = 0; i < d->n_row && !any; i++)
        any = oc_diff_delta(&d->row[i], m) != 0; /* or unknown */
    return any;
}

/* ---- order --------------------------------------------------------------------------------------------- */

struct placed {
    double size;
    uint32_t i;
};

static int largest_first(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return (x->i > y->i) - (x->i < y->i);
}

/* Unknown differences sort before known ones. */
static double size_of(const struct oc_diff_row *r, unsigned metric)
{
    double delta = oc_diff_delta(r, metric);
    bool asked = metric < OC_DIFF_COUNTS || !isnan(r->side[0].time_ns) || !isnan(r->side[0].roof_ns);
    return isnan(delta) ? (asked ? INFINITY : 0) : fabs(delta);
}

static void sort_rows(struct oc_diff_view *v, unsigned metric)
{
    struct placed *p = oc_xmalloc(((size_t)v->n_row + 1) * sizeof(*p));
    for (uint32_t i = 0; i < v->n_row; i++)
        p[i] = (struct placed){size_of(&v->d->row[v->row[i]], metric), v->row[i]};
    qsort(p, v->n_row, sizeof(*p), largest_first);
    for (uint32_t i = 0; i < v->n_row; i++)
        v->row[i] = p[i].i;
    free(p);
}

static int unknown_order(const char *sort, struct oc_err *err)
{
    const char *names[OC_DIFF_ROOFLINE + 2];
    for (unsigned m = 0; m <= OC_DIFF_ROOFLINE; m++)
        names[m] = oc_diff_metric_names[m].key;
    names[OC_DIFF_ROOFLINE + 1] = "order";
    return oc_fail_unknown(
        err, OC_EARG,
        &(struct oc_unknown){
            .what = "key", .where = "for --sort", .given = sort, .valid = names, .n = OC_COUNT(names)});
}

static int find_order(const struct oc_diff_view *v, bool whole, unsigned *metric, struct oc_err *err)
{
    static const unsigned usual[] = {OC_DIFF_TIME,  OC_DIFF_ROOFLINE, OC_DIFF_MACS,
                                     OC_DIFF_BYTES, OC_DIFF_FLOPS,    OC_DIFF_PARAMS};
    const char *sort = v->o->sort;
    *metric = OC_DIFF_METRICS;
    if (sort) {
        for (unsigned m = 0; m <= OC_DIFF_ROOFLINE; m++)
            if (strcmp(oc_diff_metric_names[m].key, sort) == 0)
                *metric = m;
        return *metric < OC_DIFF_METRICS || strcmp(sort, "order") == 0 ? 0 : unknown_order(sort, err);
    }
    for (size_t i = OC_COUNT(usual); i-- > 0 && !whole;)
        if (differs(v->d, usual[i]))
            *metric = usual[i];
    return 0;
}

/* ---- selection of rows ------------------------------------------------------------------------------- */

static bool is_news(const struct oc_diff_row *r)
{
    for (unsigned m = 0; m <= OC_DIFF_ROOFLINE; m++) {
        double delta = oc_diff_delta(r, m);
        if (!isnan(delta) && delta != 0)
            return true;
    }
    return r->status != OC_DIFF_SAME && r->status != OC_DIFF_BUCKET;
}

static uint32_t top_of(const struct oc_diff_view *v, bool whole)
{
    int64_t top = v->o->has_top ? v->o->top : whole ? 0 : TOP;
    uint32_t n = v->n_wanted;
    if (top == 0)
        return n;
    if (top < 0)
        return (uint64_t)-top < n ? n - (uint32_t)-top : 0;
    return (uint64_t)top < n ? (uint32_t)top : n;
}

int oc_diff_view_make(struct oc_diff_view *v, const struct oc_diff *d, const struct oc_diff_write_opts *o,
                      bool whole, struct oc_err *err)
{
    unsigned metric;
    *v = (struct oc_diff_view){.d = d, .o = o};
    if (find_order(v, whole, &metric, err))
        return -1;
    for (unsigned m = 0; m < OC_DIFF_METRICS; m++)
        v->has[m] = somewhere(d, m);
    for (unsigned m = 0; m <= OC_DIFF_ROOFLINE; m++)
        v->column[m] = v->has[m] && has_rows(d, m);
    v->row = OC_NEW_ARRAY(&v->arena, (size_t)d->n_row + 1, uint32_t);
    for (uint32_t i = 0; i < d->n_row; i++)
        if (whole || is_news(&d->row[i]))
            v->row[v->n_row++] = i;
    v->n_wanted = v->n_row;
    if (metric < OC_DIFF_METRICS)
        sort_rows(v, metric);
    v->n_row = top_of(v, whole);
    return 0;
}

void oc_diff_view_free(struct oc_diff_view *v)
{
    oc_arena_free(&v->arena);
}
