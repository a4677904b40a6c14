/* Cross-validation of calibrations: networks are left out, their errors scored. */
#include "estimate/validate.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/diag.h"
#include "estimate/cal_fit.h"
#include "estimate/calibrate.h"
#include "onnxcost/estimate.h"

struct ranked {
    double v;
    size_t i;
};

OC_BY_TWO(validate_by_rank, struct ranked, v, i)

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

/* Quantile with linear interpolation between the two nearest values. */
static double quantile(double *v, size_t n, double q)
{
    if (!n)
        return NAN;
    qsort(v, n, sizeof(*v), oc_by_double);
    return oc_percentile_of(v, n, q);
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

#define INNER_FOLDS 5
#define COVERED     0.9
#define WORKERS     2
#define LONG_RUN_S  1e-3

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
    uint32_t fold; /* group of its network */
    double t[OC_PREDICTOR_COUNT];
    struct oc_prediction prediction[2]; /* OC_PREDICTOR_CURVES, OC_PREDICTOR_FULL */
};

struct run {
    const struct oc_sample_set *set;
    const struct oc_device *device;
    const struct oc_validate_opts *opts;
    struct oc_validation *v;
    struct item *item;
    uint32_t *group;              /* of each model; NO_FOLD: never left out */
    struct oc_model_error *error; /* of the runs of models that have one */
    size_t n_error;
};
#define NO_FOLD UINT32_MAX

/* Groups are left out in at most MOST_PARTS parts, each of several groups: training 24 times instead of 163
 * takes 4 instead of 25 minutes, with 4 % less data in each. */
#define MOST_PARTS 24

static uint32_t parts_of(const struct run *r)
{
    return r->v->n_fold < MOST_PARTS ? (uint32_t)r->v->n_fold : MOST_PARTS;
}

static uint32_t part_of(const struct run *r, uint32_t group)
{
    return group == NO_FOLD ? NO_FOLD : group % parts_of(r);
}

static bool is_scored(const struct run *r, size_t i)
{
    return r->item[i].usable && r->item[i].fold != NO_FOLD;
}

/* ---- one fold --------------------------------------------------------------------------------------- */

static bool is_held_out(const struct run *r, size_t i, uint32_t part)
{
    return r->item[i].usable && part_of(r, r->item[i].fold) == part;
}

static bool validate_is_training(const struct run *r, size_t i, uint32_t part)
{
    return r->item[i].usable && part_of(r, r->item[i].fold) != part;
}

/* Samples outside of the part; models stay, so that indices are valid. */
static struct oc_sample_set validate_rest_of(const struct run *r, uint32_t part, struct oc_arena *a)
{
    struct oc_sample_set rest = *r->set;
    rest.item = OC_NEW_ARRAY(a, r->set->n + 1, struct oc_sample);
    rest.model = OC_NEW_ARRAY(a, r->set->n_model + 1, struct oc_sample_model);
    uint32_t *number = OC_NEW_ARRAY(a, r->set->n_model + 1, uint32_t);
    bool *used = OC_NEW_ARRAY(a, r->set->n_model + 1, bool);
    rest.n = rest.n_model = 0;
    for (size_t i = 0; i < r->set->n; i++)
        if (validate_is_training(r, i, part))
            used[r->set->item[i].model] = true;
    for (size_t m = 0; m < r->set->n_model; m++)
        if (used[m]) {
            number[m] = (uint32_t)rest.n_model;
            rest.model[rest.n_model++] = r->set->model[m];
        }
    for (size_t i = 0; i < r->set->n; i++)
        if (validate_is_training(r, i, part)) {
            rest.item[rest.n] = r->set->item[i];
            rest.item[rest.n++].model = number[r->set->item[i].model];
        }
    return rest;
}

static void predict_held(struct run *r, uint32_t part, const struct oc_calibration *cal,
                         const struct oc_baseline_row **train, size_t n)
{
    struct oc_baselines simple;
    oc_baselines_fit(train, n, &simple);
    for (size_t i = 0; i < r->set->n; i++) {
        struct item *x = &r->item[i];
        if (!is_held_out(r, i, part))
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

/* Parts of a held-out model: its measured kernels. */
static size_t measured_parts(const struct run *r, uint32_t model, struct oc_model_part *part)
{
    size_t n = 0;
    for (size_t i = 0; i < r->set->n; i++)
        if (r->item[i].usable && r->set->item[i].model == model)
            part[n++] = (struct oc_model_part){&r->item[i].prediction[OC_PREDICTOR_FULL],
                                               r->set->item[i].repeats ? r->set->item[i].repeats : 1};
    return n;
}

/* Its planned kernels. */
static size_t planned_parts(const struct run *r, uint32_t model, const struct oc_calibration *cal,
                            struct oc_prediction *prediction, struct oc_model_part *part)
{
    const struct oc_sample_model *m = &r->set->model[model];
    const struct oc_predict_opts opts = {.const_bytes = m->const_bytes};
    for (size_t i = 0; i < m->n_plan; i++) {
        struct oc_kernel k = m->plan[i].kernel;
        k.work.unknown |= !m->plan[i].known;
        oc_predict_kernel(cal, r->device, &k, &opts, &prediction[i]);
        part[i] = (struct oc_model_part){&prediction[i], m->plan[i].calls > 0 ? m->plan[i].calls : 1};
    }
    return m->n_plan;
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
    for (size_t m = 0; m < r->set->n_model; m++) {
        struct oc_validated_model *out = &r->v->model[m];
        size_t most = r->set->n + r->set->model[m].n_plan + 1;
        if (part_of(r, r->group[m]) != fold)
            continue;
        struct oc_model_part *part = oc_xmalloc(most * sizeof(*part));
        struct oc_prediction *prediction = oc_xmalloc(most * sizeof(*prediction));
        bool planned = r->set->model[m].plan != NULL;
        size_t n = planned ? planned_parts(r, (uint32_t)m, cal, prediction, part)
                           : measured_parts(r, (uint32_t)m, part);
        out->fold = r->group[m];
        oc_predict_model(cal, part, n, false, &out->run);
        out->run_measured_s = planned || covered(r, (uint32_t)m) ? wall_of(&r->set->model[m]) : NAN;
        free(part);
        free(prediction);
    }
}

static int run_fold(struct run *r, uint32_t part, struct oc_err *err)
{
    struct oc_arena a = {0};
    struct oc_calibration *cal;
    struct oc_sample_set rest = validate_rest_of(r, part, &a);
    struct oc_calibrate_opts opts = {.folds = r->opts->inner_folds ? r->opts->inner_folds : INNER_FOLDS,
                                     .no_forest = r->opts->no_forest};
    int rc = oc_calibrate(&rest, r->device, &opts, &cal, err);
    if (!rc) {
        const struct oc_baseline_row **train =
            OC_NEW_ARRAY(&a, r->set->n + 1, const struct oc_baseline_row *);
        size_t n = 0;
        for (size_t i = 0; i < r->set->n; i++)
            if (validate_is_training(r, i, part) && is_scored(r, i)) /* factors of networks */
                train[n++] = &r->item[i].row;
        predict_held(r, part, cal, train, n);
        predict_models(r, cal, part);
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
    for (uint32_t f = w->first; !w->rc && f < parts_of(w->run); f += WORKERS)
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
        if (!is_scored(r, i))
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
        if (!is_scored(r, i) || (which != ALL && x->unseen != (which == UNSEEN)) ||
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

static struct oc_score_item score_of_run(const struct oc_validated_model *m)
{
    const struct oc_model_prediction *p = &m->run;
    return (struct oc_score_item){m->run_measured_s, p->t_s, p->lo80_s, p->hi80_s, p->lo95_s, p->hi95_s};
}

static void score_models(const struct run *r, unsigned p, struct oc_predictor_scores *out)
{
    size_t n = r->v->n_model, runs = 0, longs = 0;
    struct oc_score_item *all = oc_xmalloc((4 * n + 1) * sizeof(*all)), *unseen = all + n, *run = unseen + n,
                         *long_run = run + n;
    for (size_t i = 0; i < n; i++) {
        const struct oc_validated_model *m = &r->v->model[i];
        all[i] = (struct oc_score_item){m->measured_s, m->predicted_s[p], NAN, NAN, NAN, NAN};
        unseen[i] =
            (struct oc_score_item){m->measured_unseen_s, m->predicted_unseen_s[p], NAN, NAN, NAN, NAN};
        if (p != OC_PREDICTOR_FULL || !(m->run_measured_s > 0))
            continue;
        run[runs++] = score_of_run(m);
        if (m->run_measured_s >= LONG_RUN_S)
            long_run[longs++] = score_of_run(m);
    }
    oc_score_models(all, n, &out->models);
    oc_score_models(unseen, n, &out->models_unseen);
    oc_score_models(run, runs, &out->runs);
    oc_score_models(long_run, longs, &out->long_runs);
    free(all);
}

static void score_classes(struct run *r)
{
    double total = 0, of[OC_KC_COUNT] = {0};
    size_t n[OC_KC_COUNT] = {0};
    for (size_t i = 0; i < r->set->n; i++)
        if (is_scored(r, i)) {
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

/* Groups with a usable kernel of a network are folds. */
static void set_folds(struct run *r)
{
    struct oc_arena *a = &r->v->arena;
    uint32_t *number = OC_NEW_ARRAY(a, r->set->n_model + 1, uint32_t);
    r->group = OC_NEW_ARRAY(a, r->set->n_model + 1, uint32_t);
    uint32_t groups = oc_cal_groups(r->set, r->group);
    bool *used = OC_NEW_ARRAY(a, groups + 1, bool);
    for (size_t i = 0; i < r->set->n; i++)
        if (r->item[i].usable && !oc_sample_is_micro(&r->set->model[r->set->item[i].model]))
            used[r->group[r->set->item[i].model]] = true;
    for (uint32_t g = 0; g < groups; g++)
        number[g] = used[g] ? (uint32_t)r->v->n_fold++ : NO_FOLD;
    for (size_t m = 0; m < r->set->n_model; m++)
        r->group[m] = number[r->group[m]];
    for (size_t i = 0; i < r->set->n; i++)
        if (r->item[i].usable)
            r->item[i].fold = r->group[r->set->item[i].model];
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
        r->v->model[m] =
            (struct oc_validated_model){.model = (uint32_t)m, .run_measured_s = NAN, .run.t_s = NAN};
}

/* ---- errors of whole models ------------------------------------------------------------------------- */

static void set_errors(struct run *r)
{
    r->error = OC_NEW_ARRAY(&r->v->arena, r->v->n_model + 1, struct oc_model_error);
    for (size_t m = 0; m < r->v->n_model; m++) {
        const struct oc_validated_model *x = &r->v->model[m];
        if (x->run_measured_s > 0 && x->run.t_s > 0)
            r->error[r->n_error++] = (struct oc_model_error){.u = log(x->run_measured_s / x->run.t_s),
                                                             .v = x->run.variance,
                                                             .exact = x->run.share[OC_EVIDENCE_EXACT],
                                                             .group = x->fold};
    }
}

/* The interval of a model from the errors of the other groups. */
static void set_intervals(struct run *r)
{
    for (uint32_t g = 0; g < r->v->n_fold; g++) {
        struct oc_calibration others = {0};
        oc_conformal_models(r->error, r->n_error, g, &others);
        for (size_t m = 0; m < r->v->n_model; m++)
            if (r->group[m] == g && r->v->model[m].run.t_s > 0)
                oc_predict_interval(others.tau, others.z80, others.z95, &r->v->model[m].run);
    }
}

/* Predicts every group from the others; the errors of the runs are those of the calibration of the set, too.
 */
static int leave_out(struct run *r, struct oc_err *err)
{
    r->v = oc_xmalloc(sizeof(*r->v));
    *r->v = (struct oc_validation){0};
    set_items(r);
    validate_set_models(r);
    set_folds(r);
    int rc = r->v->n_fold < 2
                 ? oc_fail(err, OC_EARG,
                           "cannot validate: needs measured kernels of at least two networks that "
                           "are not related")
                 : run_folds(r, err);
    if (rc) {
        oc_validation_free(r->v);
        return -1;
    }
    set_errors(r);
    return 0;
}

int oc_validate(const struct oc_sample_set *set, const struct oc_device *device,
                const struct oc_validate_opts *opts, struct oc_validation **out, struct oc_err *err)
{
    static const struct oc_validate_opts usual = {0};
    struct run r = {.set = set, .device = device, .opts = opts ? opts : &usual};
    *out = NULL;
    if (leave_out(&r, err))
        return -1;
    set_intervals(&r);
    validate_score(&r);
    *out = r.v;
    return 0;
}

void oc_validation_model_errors(const struct oc_sample_set *set, const struct oc_device *device,
                                bool no_forest, struct oc_calibration *cal)
{
    const struct oc_validate_opts opts = {.no_forest = no_forest};
    struct run r = {.set = set, .device = device, .opts = &opts};
    struct oc_err err;
    if (leave_out(&r, &err))
        return;
    oc_conformal_models(r.error, r.n_error, OC_CONFORMAL_ALL, cal);
    oc_validation_free(r.v);
}

void oc_validation_free(struct oc_validation *v)
{
    if (!v)
        return;
    oc_arena_free(&v->arena);
    free(v);
}
