/* Cross-validation of calibrations: groups of networks are left out, and their runs predicted. */
#include "estimate/validate.h"

#include <math.h>
#include <stdlib.h>

#include "base/ck.h"
#include "base/diag.h"
#include "estimate/cal_fit.h"
#include "estimate/calibrate.h"
#include "onnxcost/estimate.h"

#define INNER_FOLDS 5

/* Groups are left out in at most this many parts, each of several groups: a fit for each of 240 groups takes ten
 * times as long, and the parts leave 4 % less data in each. */
#define MOST_PARTS 24

struct run {
    const struct oc_sample_set *set;
    const struct oc_device *device;
    struct oc_validation *v;
    bool *usable;                 /* of each sample */
    struct oc_model_error *error; /* of the models with a measured and a predicted run */
    size_t n_error;
};

static uint32_t part_of(const struct run *r, uint32_t model)
{
    uint32_t group = r->v->model[model].group,
             parts = r->v->n_group < MOST_PARTS ? r->v->n_group : MOST_PARTS;
    return group == OC_NO_GROUP ? OC_NO_GROUP : group % parts;
}

/* Samples outside of the part, and the models that have one. */
static struct oc_sample_set rest_of(const struct run *r, uint32_t part, struct oc_arena *a)
{
    struct oc_sample_set rest = *r->set;
    uint32_t *number = OC_NEW_ARRAY(a, r->set->n_model + 1, uint32_t);
    rest.item = OC_NEW_ARRAY(a, r->set->n + 1, struct oc_sample);
    rest.model = OC_NEW_ARRAY(a, r->set->n_model + 1, struct oc_sample_model);
    rest.n = rest.n_model = 0;
    for (size_t i = 0; i < r->set->n; i++) { /* grouped by model */
        uint32_t model = r->set->item[i].model;
        if (!r->usable[i] || part_of(r, model) == part)
            continue;
        if (!number[model]) {
            rest.model[rest.n_model++] = r->set->model[model];
            number[model] = (uint32_t)rest.n_model;
        }
        rest.item[rest.n] = r->set->item[i];
        rest.item[rest.n++].model = number[model] - 1;
    }
    return rest;
}

static void predict_run(const struct run *r, const struct oc_calibration *cal, uint32_t model)
{
    struct oc_arena a = {0};
    const struct oc_sample_model *m = &r->set->model[model];
    const struct oc_predict_opts opts = {.const_bytes = m->const_bytes};
    struct oc_prediction *prediction = OC_NEW_ARRAY(&a, m->n_plan + 1, struct oc_prediction);
    struct oc_model_part *part = OC_NEW_ARRAY(&a, m->n_plan + 1, struct oc_model_part);
    for (size_t i = 0; i < m->n_plan; i++) {
        struct oc_kernel k = m->plan[i].kernel;
        k.work.unknown |= !m->plan[i].known;
        oc_predict_kernel(cal, r->device, &k, &opts, &prediction[i]);
        part[i] = (struct oc_model_part){&prediction[i], m->plan[i].calls > 0 ? m->plan[i].calls : 1};
    }
    oc_predict_model(cal, part, m->n_plan, false, &r->v->model[model].run);
    oc_arena_free(&a);
}

static int leave_part_out(const struct run *r, uint32_t part, struct oc_err *err)
{
    struct oc_arena a = {0};
    struct oc_calibration *cal;
    struct oc_sample_set rest = rest_of(r, part, &a);
    int rc = oc_calibrate(&rest, r->device, &(struct oc_calibrate_opts){.folds = INNER_FOLDS}, &cal, err);
    for (uint32_t m = 0; !rc && m < r->v->n_model; m++)
        if (part_of(r, m) == part)
            predict_run(r, cal, m);
    if (!rc)
        oc_calibration_free(cal);
    oc_arena_free(&a);
    return rc;
}

/* Groups with a usable kernel of a network are left out, and numbered in order. */
static void number_groups(struct run *r)
{
    struct oc_arena a = {0};
    size_t n = r->set->n_model + 1;
    uint32_t *group = OC_NEW_ARRAY(&a, n, uint32_t), *number = OC_NEW_ARRAY(&a, n, uint32_t);
    bool *used = OC_NEW_ARRAY(&a, n, bool);
    uint32_t groups = oc_cal_groups(r->set, group);
    for (size_t i = 0; i < r->set->n; i++)
        if (r->usable[i] && !oc_sample_is_micro(&r->set->model[r->set->item[i].model]))
            used[group[r->set->item[i].model]] = true;
    for (uint32_t g = 0; g < groups; g++)
        number[g] = used[g] ? r->v->n_group++ : OC_NO_GROUP;
    for (size_t m = 0; m < r->v->n_model; m++)
        r->v->model[m].group = number[group[m]];
    oc_arena_free(&a);
}

static void set_models(struct run *r)
{
    const struct oc_sample_set *set = r->set;
    struct oc_cal_point point;
    r->v->n_model = set->n_model;
    r->v->model = OC_NEW_ARRAY(&r->v->arena, set->n_model + 1, struct oc_held_out);
    for (size_t m = 0; m < set->n_model; m++) {
        const struct oc_sample_model *x = &set->model[m];
        double measured = x->plain_s > 0 ? x->plain_s : x->run_s > 0 ? x->run_s : NAN;
        r->v->model[m] = (struct oc_held_out){.run.t_s = NAN, .measured_s = measured};
    }
    r->usable = OC_NEW_ARRAY(&r->v->arena, set->n + 1, bool);
    for (size_t i = 0; i < set->n; i++) {
        const struct oc_sample *s = &set->item[i];
        if (!oc_cal_usable(s, set))
            continue;
        oc_cal_point_make(r->device, &s->kernel, set->model[s->model].const_bytes, &point);
        r->usable[i] = !oc_cal_too_fast(s, &point);
    }
}

static bool has_error(const struct oc_held_out *x)
{
    return x->group != OC_NO_GROUP && x->measured_s > 0 && x->run.t_s > 0;
}

static void set_errors(struct run *r)
{
    r->error = OC_NEW_ARRAY(&r->v->arena, r->v->n_model + 1, struct oc_model_error);
    for (size_t m = 0; m < r->v->n_model; m++) {
        const struct oc_held_out *x = &r->v->model[m];
        if (has_error(x))
            r->error[r->n_error++] = (struct oc_model_error){.u = log(x->measured_s / x->run.t_s),
                                                             .v = x->run.variance,
                                                             .exact = x->run.share[OC_EVIDENCE_EXACT],
                                                             .group = x->group};
    }
}

/* Predicts every group from the others. */
static int leave_out(struct run *r, struct oc_err *err)
{
    int rc = 0;
    r->v = oc_xmalloc(sizeof(*r->v));
    *r->v = (struct oc_validation){0};
    set_models(r);
    number_groups(r);
    if (r->v->n_group < 2)
        rc = oc_fail(err, OC_EARG,
                     "cannot check a calibration: this needs measured kernels of at least two networks that "
                     "are not related");
    for (uint32_t part = 0; !rc && part < MOST_PARTS && part < r->v->n_group; part++)
        rc = leave_part_out(r, part, err);
    if (rc)
        oc_validation_free(r->v);
    else
        set_errors(r);
    return rc;
}

/* ---- functions of the header ------------------------------------------------------------------------ */

int oc_validate(const struct oc_sample_set *set, const struct oc_device *device, struct oc_validation **out,
                struct oc_err *err)
{
    struct run r = {.set = set, .device = device};
    *out = NULL;
    if (leave_out(&r, err))
        return -1;
    for (uint32_t g = 0; g < r.v->n_group; g++) {
        struct oc_calibration others = {0};
        oc_conformal_models(r.error, r.n_error, g, &others);
        for (size_t m = 0; m < r.v->n_model; m++)
            if (r.v->model[m].group == g && r.v->model[m].run.t_s > 0)
                oc_predict_interval(others.tau, others.z80, others.z95, &r.v->model[m].run);
    }
    *out = r.v;
    return 0;
}

void oc_validation_model_errors(const struct oc_sample_set *set, const struct oc_device *device,
                                struct oc_calibration *cal)
{
    struct run r = {.set = set, .device = device};
    struct oc_err unused;
    if (leave_out(&r, &unused))
        return;
    oc_conformal_models(r.error, r.n_error, OC_CONFORMAL_ALL, cal);
    oc_validation_free(r.v);
}

struct oc_run_errors oc_validation_errors(const struct oc_validation *v, uint32_t group)
{
    struct oc_run_errors e = {.median = NAN, .most90 = NAN, .inside = NAN};
    double *error = oc_xmalloc((v->n_model + 1) * sizeof(*error));
    size_t inside = 0;
    for (size_t m = 0; m < v->n_model; m++) {
        const struct oc_held_out *x = &v->model[m];
        if (!has_error(x) || (group != OC_ALL_GROUPS && x->group != group))
            continue;
        error[e.n++] = fabs(x->run.t_s / x->measured_s - 1);
        inside += x->measured_s >= x->run.lo80_s && x->measured_s <= x->run.hi80_s;
    }
    if (e.n) {
        qsort(error, e.n, sizeof(*error), oc_by_double);
        e.median = oc_percentile_of(error, e.n, 0.5);
        e.most90 = oc_percentile_of(error, e.n, 0.9);
        e.inside = (double)inside / (double)e.n;
    }
    free(error);
    return e;
}

void oc_validation_free(struct oc_validation *v)
{
    if (!v)
        return;
    oc_arena_free(&v->arena);
    free(v);
}
