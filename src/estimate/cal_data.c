#include "estimate/cal_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define P10_TO_P90_SD 2.5631031310892007 /* of a normal distribution */
#define TOO_FAST      0.5

static const char *cal_data_text(const char *s)
{
    return s ? s : "";
}

const char *oc_cal_fold_name(const struct oc_sample_model *m, bool by_family)
{
    const char *s = by_family ? m->family_id : m->model_id;
    if (s && *s)
        return s;
    return m->model_id && *m->model_id ? m->model_id : cal_data_text(m->name);
}

static int cal_data_by_double(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

static int by_model(const void *a, const void *b)
{
    const struct oc_sample_model *x = ((const struct oc_cal_model *)a)->model,
                                 *y = ((const struct oc_cal_model *)b)->model;
    int c = strcmp(cal_data_text(x->model_id), cal_data_text(y->model_id));
    c = c ? c : strcmp(cal_data_text(x->name), cal_data_text(y->name));
    c = c ? c : strcmp(cal_data_text(x->family_id), cal_data_text(y->family_id));
    c = c ? c : cal_data_by_double(x->kernels_s, y->kernels_s);
    c = c ? c : cal_data_by_double(x->run_s, y->run_s);
    return c ? c : cal_data_by_double(x->plain_s, y->plain_s);
}

/* Compares all properties, so that equal samples are interchangeable. */
static int by_datum(const void *a, const void *b)
{
    const struct oc_cal_datum *x = a, *y = b;
    if (x->model != y->model)
        return x->model < y->model ? -1 : 1;
    if (x->signature != y->signature)
        return x->signature < y->signature ? -1 : 1;
    int c = (x->point.cls > y->point.cls) - (x->point.cls < y->point.cls);
    c = c ? c : (x->point.dtype > y->point.dtype) - (x->point.dtype < y->point.dtype);
    const double p[] = {x->t_s,     x->point.tc_s, x->point.act_s, x->point.wt_s,       x->point.m,
                        x->point.n, x->point.k,    x->point.batch, x->kernel->kernel_h, x->kernel->stride,
                        x->repeats, x->runs,       x->spread,      x->kernel->groups};
    const double q[] = {y->t_s,     y->point.tc_s, y->point.act_s, y->point.wt_s,       y->point.m,
                        y->point.n, y->point.k,    y->point.batch, y->kernel->kernel_h, y->kernel->stride,
                        y->repeats, y->runs,       y->spread,      y->kernel->groups};
    for (size_t i = 0; !c && i < OC_COUNT(p); i++)
        c = cal_data_by_double(p[i], q[i]);
    return c;
}

static int cal_data_by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The i-th name in order is assigned to fold i mod n: recordings of one name stay together. */
static void assign_folds(struct oc_arena *a, struct oc_cal_data *d, uint32_t folds, bool by_family)
{
    const char **name = OC_NEW_ARRAY(a, d->n_model + 1, const char *);
    for (size_t i = 0; i < d->n_model; i++)
        name[i] = oc_cal_fold_name(d->model[i].model, by_family);
    qsort(name, d->n_model, sizeof(*name), cal_data_by_name);
    size_t n = 0;
    for (size_t i = 0; i < d->n_model; i++)
        if (n == 0 || strcmp(name[n - 1], name[i]))
            name[n++] = name[i];
    d->n_fold = (uint32_t)(folds && folds < n ? folds : n);
    for (size_t i = 0; i < d->n_model; i++) {
        const char *key = oc_cal_fold_name(d->model[i].model, by_family);
        const char **at = bsearch(&key, name, n, sizeof(*name), cal_data_by_name);
        d->model[i].fold = (uint32_t)((size_t)(at - name) % d->n_fold);
    }
}

static double cal_data_spread_of(const struct oc_sample *s)
{
    return s->p10_s > 0 && s->p90_s >= s->p10_s ? log(s->p90_s / s->p10_s) / P10_TO_P90_SD : NAN;
}

bool oc_cal_usable(const struct oc_sample *s, const struct oc_sample_set *set)
{
    return s->model < set->n_model && s->t_s > 0 && isfinite(s->t_s) && !s->kernel.work.unknown &&
           s->kernel.cls < OC_KC_COUNT && s->kernel.dtype < OC_CLASS_COUNT;
}

bool oc_cal_too_fast(const struct oc_sample *s, const struct oc_cal_point *p)
{
    return s->t_s < TOO_FAST * p->roof_s;
}

/* Equal signatures of one recording: the median of their times, repeats and runs summed. */
static void cal_data_merge(struct oc_cal_data *d)
{
    size_t out = 0;
    for (size_t i = 0, end; i < d->n; i = end) {
        struct oc_cal_datum *first = &d->item[i];
        uint32_t repeats = 0, runs = 0;
        for (end = i; end < d->n && (end == i || (first->signature && d->item[end].model == first->model &&
                                                  d->item[end].signature == first->signature));
             end++) {
            repeats += d->item[end].repeats;
            runs += d->item[end].runs;
        }
        struct oc_cal_datum kept = d->item[i + (end - i - 1) / 2]; /* sorted by time */
        double high = d->item[i + (end - i) / 2].t_s;
        kept.t_s += (high - kept.t_s) / 2;
        kept.ln_t = log(kept.t_s);
        kept.repeats = repeats;
        kept.runs = runs;
        d->item[out++] = kept;
    }
    d->n = out;
}

static void cal_data_set_weights(struct oc_cal_data *d)
{
    for (size_t i = 0, end; i < d->n; i = end) {
        struct oc_cal_model *m = &d->model[d->item[i].model];
        double roots = 0;
        for (end = i; end < d->n && d->item[end].model == d->item[i].model; end++) {
            double t = d->item[end].t_s * d->item[end].repeats;
            m->kernels_s += t;
            m->kernels += d->item[end].repeats;
            roots += sqrt(t);
        }
        for (size_t j = i; j < end; j++)
            d->item[j].weight = sqrt(d->item[j].t_s * d->item[j].repeats) / roots;
    }
}

static uint64_t cal_data_mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0xff51afd7ed558ccdu;
    return h ^ (h >> 32);
}

static uint64_t bits(double v)
{
    uint64_t u;
    memcpy(&u, &v, sizeof(u));
    return u;
}

static uint64_t checksum(const struct oc_cal_data *d)
{
    uint64_t h = d->n;
    for (size_t i = 0; i < d->n; i++) {
        h = cal_data_mix(cal_data_mix(h, d->item[i].signature), bits(d->item[i].t_s));
        h = cal_data_mix(cal_data_mix(h, d->item[i].repeats), d->item[i].model);
    }
    return h;
}

static void copy_items(const struct oc_sample_set *set, const struct oc_device *device, const uint32_t *rank,
                       struct oc_cal_data *d)
{
    for (size_t i = 0; i < set->n; i++) {
        const struct oc_sample *s = &set->item[i];
        if (!oc_cal_usable(s, set)) {
            d->n_rejected++;
            continue;
        }
        struct oc_cal_datum *x = &d->item[d->n];
        *x = (struct oc_cal_datum){.kernel = &s->kernel,
                                   .signature = s->kernel.signature,
                                   .model = rank[s->model],
                                   .runs = s->runs,
                                   .repeats = s->repeats ? s->repeats : 1,
                                   .t_s = s->t_s,
                                   .ln_t = log(s->t_s),
                                   .spread = cal_data_spread_of(s)};
        oc_cal_point_make(device, &s->kernel, set->model[s->model].const_bytes, &x->point);
        if (oc_cal_too_fast(s, &x->point))
            d->n_rejected++;
        else
            d->n++;
    }
}

void oc_cal_data_make(struct oc_arena *a, const struct oc_sample_set *set, const struct oc_device *device,
                      uint32_t folds, bool by_family, struct oc_cal_data *out)
{
    *out = (struct oc_cal_data){.n_model = set->n_model, .kind = oc_cal_device_kind(device)};
    out->model = OC_NEW_ARRAY(a, set->n_model + 1, struct oc_cal_model);
    out->item = OC_NEW_ARRAY(a, set->n + 1, struct oc_cal_datum);
    uint32_t *rank = OC_NEW_ARRAY(a, set->n_model + 1, uint32_t);
    for (size_t i = 0; i < set->n_model; i++)
        out->model[i] = (struct oc_cal_model){.model = &set->model[i], .index = (uint32_t)i};
    qsort(out->model, out->n_model, sizeof(*out->model), by_model);
    for (size_t i = 0; i < set->n_model; i++)
        rank[out->model[i].index] = (uint32_t)i;
    assign_folds(a, out, folds, by_family);
    copy_items(set, device, rank, out);
    qsort(out->item, out->n, sizeof(*out->item), by_datum);
    cal_data_merge(out);
    cal_data_set_weights(out);
    for (size_t i = 0; i < out->n; i++)
        out->item[i].fold = out->model[out->item[i].model].fold;
    out->checksum = checksum(out);
}
