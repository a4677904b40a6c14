#include "estimate/validate.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "estimate/baselines.h"
#include "estimate/cal_data.h"
#include "estimate/calibrate.h"
#include "onnxcost/estimate.h"

struct ranked {
    double v;
    size_t i;
};

static int validate_by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->v != y->v)
        return x->v < y->v ? -1 : 1;
    return (x->i > y->i) - (x->i < y->i);
}

static void ranks(const double *v, size_t n, double *out)
{
    struct ranked *r = oc_xmalloc((n + 1) * sizeof(*r));
    for (size_t i = 0; i < n; i++)
        r[i] = (struct ranked){v[i], i};
    qsort(r, n, sizeof(*r), validate_by_rank);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && r[end].v == r[i].v;)
            end++;
        for (size_t j = i; j < end; j++)
            out[r[j].i] = (double)(i + end - 1) / 2;
    }
    free(r);
}

double oc_spearman(const double *a, const double *b, size_t n)
{
    if (n < 2)
        return NAN;
    double *x = oc_xmalloc(2 * n * sizeof(*x)), *y = x + n, mean = (double)(n - 1) / 2;
    double xy = 0, xx = 0, yy = 0;
    ranks(a, n, x);
    ranks(b, n, y);
    for (size_t i = 0; i < n; i++) {
        xy += (x[i] - mean) * (y[i] - mean);
        xx += (x[i] - mean) * (x[i] - mean);
        yy += (y[i] - mean) * (y[i] - mean);
    }
    free(x);
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

static int validate_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Quantile with linear interpolation between the two nearest values. */
static double quantile(double *v, size_t n, double q)
{
    if (!n)
        return NAN;
    qsort(v, n, sizeof(*v), validate_by_value);
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    return i + 1 < n ? v[i] + (at - (double)i) * (v[i + 1] - v[i]) : v[n - 1];
}

static bool validate_counts(const struct oc_score_item *x)
{
    return x->predicted > 0 && x->measured > 0;
}

struct coverage {
    size_t n, in80, in95;
};

static void add_coverage(struct coverage *c, const struct oc_score_item *x)
{
    if (isnan(x->lo80) || isnan(x->lo95))
        return;
    c->n++;
    c->in80 += x->measured >= x->lo80 && x->measured <= x->hi80;
    c->in95 += x->measured >= x->lo95 && x->measured <= x->hi95;
}

static double validate_part(size_t k, size_t n)
{
    return n ? (double)k / (double)n : NAN;
}

struct columns {
    double *measured, *predicted, *work; /* number of items that count */
    size_t n;
};

static struct columns columns_of(const struct oc_score_item *item, size_t n)
{
    struct columns c = {.measured = oc_xmalloc((3 * n + 1) * sizeof(double))};
    c.predicted = c.measured + n;
    c.work = c.predicted + n;
    for (size_t i = 0; i < n; i++)
        if (validate_counts(&item[i])) {
            c.measured[c.n] = item[i].measured;
            c.predicted[c.n++] = item[i].predicted;
        }
    return c;
}

static double mean_ln(const struct columns *c)
{
    double sum = 0;
    for (size_t i = 0; i < c->n; i++)
        sum += log(c->predicted[i] / c->measured[i]);
    return c->n ? sum / (double)c->n : NAN;
}

void oc_score_kernels(const struct oc_score_item *item, const double *repeats, size_t n,
                      struct oc_kernel_scores *out)
{
    struct columns c = columns_of(item, n);
    struct coverage cover = {0};
    double off = 0, total = 0;
    for (size_t i = 0; i < n; i++)
        if (validate_counts(&item[i])) {
            off += repeats[i] * fabs(item[i].predicted - item[i].measured);
            total += repeats[i] * item[i].measured;
            add_coverage(&cover, &item[i]);
        }
    for (size_t i = 0; i < c.n; i++)
        c.work[i] = fabs(log(c.predicted[i] / c.measured[i]));
    *out = (struct oc_kernel_scores){
        .n = c.n,
        .wmape = total > 0 ? off / total : NAN,
        .median_abs_ln = quantile(c.work, c.n, 0.5),
        .bias = mean_ln(&c),
        .spearman = oc_spearman(c.measured, c.predicted, c.n),
        .cover80 = validate_part(cover.in80, cover.n),
        .cover95 = validate_part(cover.in95, cover.n),
    };
    free(c.measured);
}

void oc_score_models(const struct oc_score_item *item, size_t n, struct oc_model_scores *out)
{
    struct columns c = columns_of(item, n);
    struct coverage cover = {0};
    size_t in10 = 0, in20 = 0;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        if (validate_counts(&item[i]))
            add_coverage(&cover, &item[i]);
    for (size_t i = 0; i < c.n; i++) {
        c.work[i] = fabs(c.predicted[i] / c.measured[i] - 1);
        sum += c.work[i];
        in10 += c.work[i] <= 0.10;
        in20 += c.work[i] <= 0.20;
    }
    *out = (struct oc_model_scores){
        .n = c.n,
        .ape_mean = c.n ? sum / (double)c.n : NAN,
        .ape_median = quantile(c.work, c.n, 0.5),
        .ape_p90 = quantile(c.work, c.n, 0.9),
        .within10 = validate_part(in10, c.n),
        .within20 = validate_part(in20, c.n),
        .spearman = oc_spearman(c.measured, c.predicted, c.n),
        .bias = mean_ln(&c),
        .cover80 = validate_part(cover.in80, cover.n),
        .cover95 = validate_part(cover.in95, cover.n),
    };
    free(c.measured);
}

/* ---- validate --------------------------------------------------------------------------------------- */

#define INNER_FOLDS 8
#define COVERED     0.9
#define WORKERS     2

static const char *const predictor_names[OC_PREDICTOR_COUNT] = {
    [OC_PREDICTOR_CURVES] = "curves",
    [OC_PREDICTOR_FULL] = "full",
    [OC_PREDICTOR_ROOFLINE] = "roofline",
    [OC_PREDICTOR_GLOBAL] = "roofline x factor",
    [OC_PREDICTOR_CLASS] = "roofline x class factor",
    [OC_PREDICTOR_NEAREST] = "nearest kernel",
};

const char *oc_predictor_name(unsigned predictor)
{
    return predictor < OC_PREDICTOR_COUNT ? predictor_names[predictor] : "";
}

/* A sample with its held-out prediction. */
struct item {
    struct oc_baseline_row row;
    bool usable, unseen;
    uint32_t fold; /* index of the fold that leaves it out */
    double t[OC_PREDICTOR_COUNT];
    struct oc_prediction prediction[2]; /* OC_PREDICTOR_CURVES, OC_PREDICTOR_FULL */
};

struct run {
    const struct oc_sample_set *set;
    const struct oc_device *device;
    const struct oc_validate_opts *opts;
    struct oc_validation *v;
    struct item *item;
    const char **fold; /* names */
    size_t n_fold;
};

/* ---- one fold --------------------------------------------------------------------------------------- */

static bool is_held_out(const struct run *r, size_t i, uint32_t fold)
{
    return r->item[i].usable && r->item[i].fold == fold;
}

static bool validate_is_training(const struct run *r, size_t i, uint32_t fold)
{
    return r->item[i].usable && r->item[i].fold != fold;
}

/* Samples outside of the fold; models stay, so that indices are valid. */
static struct oc_sample_set validate_rest_of(const struct run *r, uint32_t fold, struct oc_arena *a)
{
    struct oc_sample_set rest = *r->set;
    rest.item = OC_NEW_ARRAY(a, r->set->n + 1, struct oc_sample);
    rest.model = OC_NEW_ARRAY(a, r->set->n_model + 1, struct oc_sample_model);
    uint32_t *number = OC_NEW_ARRAY(a, r->set->n_model + 1, uint32_t);
    bool *used = OC_NEW_ARRAY(a, r->set->n_model + 1, bool);
    rest.n = rest.n_model = 0;
    for (size_t i = 0; i < r->set->n; i++)
        if (validate_is_training(r, i, fold))
            used[r->set->item[i].model] = true;
    for (size_t m = 0; m < r->set->n_model; m++)
        if (used[m]) {
            number[m] = (uint32_t)rest.n_model;
            rest.model[rest.n_model++] = r->set->model[m];
        }
    for (size_t i = 0; i < r->set->n; i++)
        if (validate_is_training(r, i, fold)) {
            rest.item[rest.n] = r->set->item[i];
            rest.item[rest.n++].model = number[r->set->item[i].model];
        }
    return rest;
}

static void predict_held(struct run *r, uint32_t fold, const struct oc_calibration *cal,
                         const struct oc_baseline_row **train, size_t n)
{
    struct oc_baselines simple;
    oc_baselines_fit(train, n, &simple);
    for (size_t i = 0; i < r->set->n; i++) {
        struct item *x = &r->item[i];
        if (!is_held_out(r, i, fold))
            continue;
        const struct oc_kernel *k = &r->set->item[i].kernel;
        struct oc_predict_opts opts = {.const_bytes = r->set->model[r->set->item[i].model].const_bytes};
        x->unseen = !oc_cal_find_signature(cal, k->signature);
        oc_predict_kernel(cal, r->device, k, &opts, &x->prediction[OC_PREDICTOR_FULL]);
        opts.no_exact = true;
        oc_predict_kernel(cal, r->device, k, &opts, &x->prediction[OC_PREDICTOR_CURVES]);
        x->t[OC_PREDICTOR_CURVES] = x->prediction[OC_PREDICTOR_CURVES].t_s;
        x->t[OC_PREDICTOR_FULL] = x->prediction[OC_PREDICTOR_FULL].t_s;
        for (unsigned p = OC_PREDICTOR_ROOFLINE; p < OC_PREDICTOR_COUNT; p++)
            x->t[p] = oc_baseline_time(&simple, train, n, p, &x->row.point);
    }
}

/* parts of a held-out model: all kernels, or those without a measured signature */
static size_t parts_of(const struct run *r, uint32_t fold, uint32_t model, bool unseen_only,
                       struct oc_model_part *part)
{
    unsigned predictor = unseen_only ? OC_PREDICTOR_CURVES : OC_PREDICTOR_FULL;
    size_t n = 0;
    for (size_t i = 0; i < r->set->n; i++) {
        const struct item *x = &r->item[i];
        if (is_held_out(r, i, fold) && r->set->item[i].model == model && (!unseen_only || x->unseen))
            part[n++] = (struct oc_model_part){&x->prediction[predictor],
                                               r->set->item[i].repeats ? r->set->item[i].repeats : 1};
    }
    return n;
}

/* Of the sum of the kernels alone, without the other time of a run. */
static void of_kernels(struct oc_model_prediction *m)
{
    double scale = m->t_s > 0 ? m->kernels_s / m->t_s : 1;
    m->t_s *= scale;
    m->lo80_s *= scale;
    m->hi80_s *= scale;
    m->lo95_s *= scale;
    m->hi95_s *= scale;
    m->fix_s = m->gaps_s = 0;
}

static double wall_of(const struct oc_sample_model *m)
{
    return m->plain_s > 0 ? m->plain_s : m->run_s > 0 ? m->run_s : NAN;
}

/* Whether its samples cover nearly all of its run; otherwise their sum does not describe the run. */
static bool covered(const struct run *r, uint32_t model)
{
    double sum = 0, all = r->set->model[model].kernels_s;
    for (size_t i = 0; i < r->set->n; i++)
        if (r->item[i].usable && r->set->item[i].model == model)
            sum += r->item[i].row.t_s * (r->set->item[i].repeats ? r->set->item[i].repeats : 1);
    return !(all > 0) || sum >= COVERED * all;
}

static void predict_models(struct run *r, const struct oc_calibration *cal, uint32_t fold)
{
    struct oc_model_part *part = oc_xmalloc((r->set->n + 1) * sizeof(*part));
    for (size_t m = 0; m < r->set->n_model; m++) {
        struct oc_validated_model *out = &r->v->model[m];
        size_t n = parts_of(r, fold, (uint32_t)m, false, part);
        if (!n)
            continue;
        out->fold = fold;
        oc_predict_model(cal, part, n, NULL, &out->full);
        out->run_measured_s = covered(r, (uint32_t)m) ? wall_of(&r->set->model[m]) : NAN;
        out->run_predicted_s = out->full.t_s;
        of_kernels(&out->full);
        n = parts_of(r, fold, (uint32_t)m, true, part);
        oc_predict_model(cal, part, n, NULL, &out->unseen_only);
        of_kernels(&out->unseen_only);
    }
    free(part);
}

static int run_fold(struct run *r, uint32_t fold, struct oc_err *err)
{
    struct oc_arena a = {0};
    struct oc_calibration *cal;
    struct oc_sample_set rest = validate_rest_of(r, fold, &a);
    struct oc_calibrate_opts opts = {.folds = r->opts->inner_folds ? r->opts->inner_folds : INNER_FOLDS,
                                     .by_family = r->opts->by_family,
                                     .no_forest = r->opts->no_forest};
    int rc = oc_calibrate(&rest, r->device, &opts, &cal, err);
    if (!rc) {
        const struct oc_baseline_row **train =
            OC_NEW_ARRAY(&a, r->set->n + 1, const struct oc_baseline_row *);
        size_t n = 0;
        for (size_t i = 0; i < r->set->n; i++)
            if (validate_is_training(r, i, fold))
                train[n++] = &r->item[i].row;
        predict_held(r, fold, cal, train, n);
        predict_models(r, cal, fold);
        oc_calibration_free(cal);
    }
    oc_arena_free(&a);
    return rc;
}

/* Two threads process alternate folds; a fold writes only results of the networks it leaves out. */
struct worker {
    struct run *run;
    uint32_t first;
    int rc;
    struct oc_err err;
};

static void *validate_work(void *arg)
{
    struct worker *w = arg;
    for (uint32_t f = w->first; !w->rc && f < w->run->n_fold; f += WORKERS)
        w->rc = run_fold(w->run, f, &w->err);
    return NULL;
}

static int run_folds(struct run *r, struct oc_err *err)
{
    struct worker w[WORKERS] = {{.run = r, .first = 0}, {.run = r, .first = 1}};
    pthread_t other;
    bool two = pthread_create(&other, NULL, validate_work, &w[1]) == 0;
    validate_work(&w[0]);
    if (two)
        pthread_join(other, NULL);
    else
        validate_work(&w[1]);
    const struct worker *failed = w[0].rc ? &w[0] : w[1].rc ? &w[1] : NULL;
    if (failed && err)
        *err = failed->err;
    return failed ? -1 : 0;
}

/* ---- scores ----------------------------------------------------------------------------------------- */

static double repeats_of(const struct run *r, size_t i)
{
    return r->set->item[i].repeats ? r->set->item[i].repeats : 1;
}

static void sum_models(struct run *r)
{
    for (size_t i = 0; i < r->set->n; i++) {
        const struct item *x = &r->item[i];
        if (!x->usable)
            continue;
        struct oc_validated_model *m = &r->v->model[r->set->item[i].model];
        double n = repeats_of(r, i);
        m->kernels++;
        m->measured_s += n * x->row.t_s;
        m->unseen += x->unseen;
        m->measured_unseen_s += x->unseen ? n * x->row.t_s : 0;
        for (unsigned p = 0; p < OC_PREDICTOR_COUNT; p++) {
            double t = isnan(x->t[p]) ? 0 : n * x->t[p];
            m->predicted_s[p] += t;
            m->predicted_unseen_s[p] += x->unseen ? t : 0;
        }
    }
    for (size_t m = 0; m < r->v->n_model; m++)
        if (!r->v->model[m].unseen) {
            r->v->model[m].measured_unseen_s = NAN;
            for (unsigned p = 0; p < OC_PREDICTOR_COUNT; p++)
                r->v->model[m].predicted_unseen_s[p] = NAN;
        }
}

enum chosen { ALL, SEEN, UNSEEN };

static void score_kernels(const struct run *r, unsigned predictor, enum chosen which, unsigned cls,
                          struct oc_kernel_scores *out)
{
    struct oc_score_item *s = oc_xmalloc((r->set->n + 1) * sizeof(*s));
    double *repeats = oc_xmalloc((r->set->n + 1) * sizeof(*repeats));
    size_t n = 0;
    for (size_t i = 0; i < r->set->n; i++) {
        const struct item *x = &r->item[i];
        if (!x->usable || (which != ALL && x->unseen != (which == UNSEEN)) ||
            (cls != OC_KC_COUNT && x->row.point.cls != cls))
            continue;
        s[n] = (struct oc_score_item){x->row.t_s, x->t[predictor], NAN, NAN, NAN, NAN};
        if (predictor <= OC_PREDICTOR_FULL) {
            const struct oc_prediction *p = &x->prediction[predictor];
            s[n].lo80 = p->lo80_s;
            s[n].hi80 = p->hi80_s;
            s[n].lo95 = p->lo95_s;
            s[n].hi95 = p->hi95_s;
        }
        repeats[n++] = repeats_of(r, i);
    }
    oc_score_kernels(s, repeats, n, out);
    free(s);
    free(repeats);
}

static struct oc_score_item with_interval(double measured, double predicted,
                                          const struct oc_model_prediction *m)
{
    struct oc_score_item s = {measured, predicted, NAN, NAN, NAN, NAN};
    if (m && m->t_s > 0) {
        s.lo80 = m->lo80_s;
        s.hi80 = m->hi80_s;
        s.lo95 = m->lo95_s;
        s.hi95 = m->hi95_s;
    }
    return s;
}

static void score_models(const struct run *r, unsigned p, struct oc_predictor_scores *out)
{
    size_t n = r->v->n_model;
    struct oc_score_item *all = oc_xmalloc((3 * n + 1) * sizeof(*all)), *unseen = all + n, *runs = unseen + n;
    for (size_t i = 0; i < n; i++) {
        const struct oc_validated_model *m = &r->v->model[i];
        bool full = p == OC_PREDICTOR_FULL, curves = p == OC_PREDICTOR_CURVES;
        all[i] = with_interval(m->measured_s, m->predicted_s[p], full ? &m->full : NULL);
        unseen[i] =
            with_interval(m->measured_unseen_s, m->predicted_unseen_s[p], curves ? &m->unseen_only : NULL);
        runs[i] = with_interval(m->run_measured_s, full ? m->run_predicted_s : NAN, NULL);
    }
    oc_score_models(all, n, &out->models);
    oc_score_models(unseen, n, &out->models_unseen);
    oc_score_models(runs, n, &out->runs);
    free(all);
}

static void score_classes(struct run *r)
{
    double total = 0, of[OC_KC_COUNT] = {0};
    size_t n[OC_KC_COUNT] = {0};
    for (size_t i = 0; i < r->set->n; i++)
        if (r->item[i].usable) {
            double t = r->item[i].row.t_s * repeats_of(r, i);
            total += t;
            of[r->item[i].row.point.cls] += t;
            n[r->item[i].row.point.cls]++;
        }
    r->v->cls = OC_NEW_ARRAY(&r->v->arena, OC_KC_COUNT, struct oc_validated_class);
    for (unsigned c = 0; c < OC_KC_COUNT; c++)
        if (n[c]) {
            struct oc_validated_class *out = &r->v->cls[r->v->n_cls++];
            *out = (struct oc_validated_class){.cls = (uint8_t)c, .n = n[c], .time_share = of[c] / total};
            score_kernels(r, OC_PREDICTOR_CURVES, UNSEEN, c, &out->unseen);
        }
}

static void validate_score(struct run *r)
{
    sum_models(r);
    for (unsigned p = 0; p < OC_PREDICTOR_COUNT; p++) {
        struct oc_predictor_scores *s = &r->v->score[p];
        score_kernels(r, p, ALL, OC_KC_COUNT, &s->all);
        score_kernels(r, p, SEEN, OC_KC_COUNT, &s->seen);
        score_kernels(r, p, UNSEEN, OC_KC_COUNT, &s->unseen);
        score_models(r, p, s);
    }
    score_classes(r);
}

/* ---- public functions ------------------------------------------------------------------------------- */

static int validate_by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void set_folds(struct run *r)
{
    struct oc_arena *a = &r->v->arena;
    r->fold = OC_NEW_ARRAY(a, r->set->n_model + 1, const char *);
    bool *used = OC_NEW_ARRAY(a, r->set->n_model + 1, bool);
    size_t n = 0;
    for (size_t i = 0; i < r->set->n; i++)
        if (r->item[i].usable)
            used[r->set->item[i].model] = true;
    for (size_t m = 0; m < r->set->n_model; m++)
        if (used[m])
            r->fold[n++] = oc_cal_fold_name(&r->set->model[m], r->opts->by_family);
    qsort(r->fold, n, sizeof(*r->fold), validate_by_name);
    for (size_t i = 0; i < n; i++)
        if (r->n_fold == 0 || strcmp(r->fold[r->n_fold - 1], r->fold[i]))
            r->fold[r->n_fold++] = r->fold[i];
    r->v->n_fold = r->n_fold;
    for (size_t i = 0; i < r->set->n; i++)
        if (r->item[i].usable) {
            const char *key = oc_cal_fold_name(&r->set->model[r->set->item[i].model], r->opts->by_family);
            const char **at = bsearch(&key, r->fold, r->n_fold, sizeof(*r->fold), validate_by_name);
            r->item[i].fold = (uint32_t)(at - r->fold);
        }
}

static void set_items(struct run *r)
{
    r->item = OC_NEW_ARRAY(&r->v->arena, r->set->n + 1, struct item);
    for (size_t i = 0; i < r->set->n; i++) {
        const struct oc_sample *s = &r->set->item[i];
        r->item[i].usable = oc_cal_usable(s, r->set);
        if (!r->item[i].usable)
            continue;
        oc_cal_point_make(r->device, &s->kernel, r->set->model[s->model].const_bytes, &r->item[i].row.point);
        r->item[i].usable = !oc_cal_too_fast(s, &r->item[i].row.point);
        r->item[i].row.t_s = s->t_s;
        r->item[i].row.weight = sqrt(s->t_s * (s->repeats ? s->repeats : 1));
    }
}

static void validate_set_models(struct run *r)
{
    r->v->n_model = r->set->n_model;
    r->v->model = OC_NEW_ARRAY(&r->v->arena, r->set->n_model + 1, struct oc_validated_model);
    for (size_t m = 0; m < r->set->n_model; m++)
        r->v->model[m] = (struct oc_validated_model){.model = (uint32_t)m,
                                                     .run_measured_s = NAN,
                                                     .run_predicted_s = NAN,
                                                     .full.t_s = NAN,
                                                     .unseen_only.t_s = NAN};
}

int oc_validate(const struct oc_sample_set *set, const struct oc_device *device,
                const struct oc_validate_opts *opts, struct oc_validation **out, struct oc_err *err)
{
    static const struct oc_validate_opts usual = {0};
    struct run r = {.set = set, .device = device, .opts = opts ? opts : &usual};
    *out = NULL;
    r.v = oc_xmalloc(sizeof(*r.v));
    *r.v = (struct oc_validation){.by_family = r.opts->by_family};
    set_items(&r);
    validate_set_models(&r);
    set_folds(&r);
    int rc = r.n_fold < 2
                 ? oc_fail(err, OC_EARG, "cannot validate: needs measured kernels of at least two %s",
                           r.opts->by_family ? "families" : "networks")
                 : 0;
    if (!rc)
        rc = run_folds(&r, err);
    if (rc) {
        oc_validation_free(r.v);
        return -1;
    }
    validate_score(&r);
    *out = r.v;
    return 0;
}

void oc_validation_free(struct oc_validation *v)
{
    if (!v)
        return;
    oc_arena_free(&v->arena);
    free(v);
}
