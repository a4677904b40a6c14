#include "estimate/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "estimate/curve.h"

/* ---- kernels ------------------------------------------------------------------------------------------ */

static int choose_rules(struct oc_estimate *e, const char *name, struct oc_err *err)
{
    bool ort = e->cal ? !strcmp(e->cal->runtime, "onnxruntime") : oc_cal_device_kind(e->device) == OC_CAL_CPU;
    e->rules = ort && oc_cal_device_kind(e->device) == OC_CAL_CPU ? OC_FUSE_ORT_CPU : OC_FUSE_GENERIC;
    unsigned given = name ? oc_fusion_rules_by_name(name) : e->rules;
    if (given == OC_FUSE_COUNT)
        return oc_fail(err, OC_EARG, "unknown fusion rules '%s'; available: onnxruntime, generic, none",
                       name);
    e->rules = (enum oc_fusion_rules)given;
    return 0;
}

static double own_s(const struct oc_prof_rec *p, double calls)
{
    double ns = isnan(p->kernel_ns) ? p->self_ns : p->kernel_ns;
    return ns * 1e-9 / (calls >= 1 ? calls : 1);
}

static void take_recorded(struct oc_estimate *e)
{
    const struct oc_profile *p = e->join->profile;
    struct oc_kernel_list plan;
    oc_kernels_of_join(e->join, &e->arena, &e->list);
    e->measured_s = OC_NEW_ARRAY(&e->arena, e->list.n + 1, double);
    double *run_s = OC_NEW_ARRAY(&e->arena, e->list.n + 1, double);
    e->measured_kernels_s = 0;
    for (size_t i = 0; i < e->list.n; i++) {
        double calls = e->list.item[i].calls;
        e->measured_s[i] = own_s(&p->rec[e->list.item[i].record], calls);
        run_s[i] = e->measured_s[i] * (calls >= 1 ? calls : 1);
        e->measured_kernels_s += run_s[i] > 0 ? run_s[i] : 0;
    }
    e->measured_run_s = p->run_ns * 1e-9;
    oc_fusion_plan(e->analysis->model, e->analysis, e->rules, &e->arena, &plan);
    oc_fusion_compare(e->analysis->model, e->analysis, &plan, &e->list, run_s, &e->match);
}

/* ---- predictions -------------------------------------------------------------------------------------- */

/* No operations and no bytes: takes only the launch overhead. */
static void band_of_launch(const struct oc_estimate *e, const struct oc_kernel *k, struct oc_prediction *p)
{
    p->lo80_s = p->lo95_s = 0;
    p->hi80_s = p->hi95_s = oc_curve_prior(oc_cal_device_kind(e->device), k->cls).t0_s;
    p->t0_s = p->hi80_s;
    p->evidence = OC_EVIDENCE_BAND;
    p->bound = OC_BOUND_OVERHEAD;
}

static bool is_empty(const struct oc_kernel *k)
{
    uint64_t work = k->work.bytes;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        work |= k->work.macs[c] | k->work.flops[c] | k->work.special[c];
    return !work && !k->work.unknown;
}

static void predict_one(struct oc_estimate *e, const struct oc_kernel_use *u,
                        const struct oc_predict_opts *opts, struct oc_prediction *out)
{
    struct oc_kernel unknown = u->kernel;
    unknown.work.unknown = true;
    oc_predict_kernel(e->cal, e->device, u->known ? &u->kernel : &unknown, opts, out);
    if (out->evidence == OC_EVIDENCE_NONE && u->known && is_empty(&u->kernel))
        band_of_launch(e, &u->kernel, out);
    e->n_unknown += out->evidence == OC_EVIDENCE_NONE;
}

static double runs_of(const struct oc_kernel_use *u)
{
    return u->calls > 0 ? u->calls : 1;
}

static void predict_all(struct oc_estimate *e)
{
    struct oc_totals total;
    oc_analysis_total(e->analysis, &total);
    const struct oc_predict_opts opts = {.const_bytes = total.const_bytes, .band_only = !e->cal};
    struct oc_model_part *part = OC_NEW_ARRAY(&e->arena, e->list.n + 1, struct oc_model_part);
    e->prediction = OC_NEW_ARRAY(&e->arena, e->list.n + 1, struct oc_prediction);
    for (size_t i = 0; i < e->list.n; i++) {
        const struct oc_kernel_use *u = &e->list.item[i];
        struct oc_prediction *p = &e->prediction[i];
        predict_one(e, u, &opts, p);
        part[i] = (struct oc_model_part){p, runs_of(u)};
        if (p->lo80_s >= 0 && p->hi80_s >= 0) {
            e->band_lo_s += p->lo80_s * runs_of(u);
            e->band_hi_s += p->hi80_s * runs_of(u);
        }
    }
    const struct oc_replay replay = {
        .on = e->asynchronous != NULL, .issue_s = (double)NAN, .sync_s = (double)NAN};
    oc_predict_model(e->cal, part, e->list.n, &replay, &e->total);
}

double oc_estimate_kernel_s(const struct oc_estimate *e, size_t i)
{
    const struct oc_prediction *p = &e->prediction[i];
    double t = p->t_s > 0 ? p->t_s : (p->lo80_s + p->hi80_s) / 2;
    return t * runs_of(&e->list.item[i]);
}

/* ---- public ----------------------------------------------------------------------------------------------
 */

static int make(struct oc_estimate *e, const struct oc_estimate_opts *o, struct oc_err *err)
{
    e->width_chars = o->width_chars;
    if (choose_rules(e, o->fusion, err))
        return -1;
    if (e->join)
        take_recorded(e);
    else
        oc_fusion_plan(e->analysis->model, e->analysis, e->rules, &e->arena, &e->list);
    if (!e->list.n)
        return oc_fail(err, OC_EARG, "the model has no operators that run");
    predict_all(e);
    return 0;
}

int oc_estimate_make(const struct oc_analysis *analysis, const struct oc_device *device,
                     const struct oc_estimate_opts *opts, struct oc_estimate **out, struct oc_err *err)
{
    OC_C_LOCALE;
    struct oc_estimate *e = oc_xmalloc(sizeof(*e));
    *e = (struct oc_estimate){.analysis = analysis,
                              .device = device,
                              .cal = opts->calibration,
                              .join = opts->join,
                              .measured_kernels_s = (double)NAN,
                              .measured_run_s = (double)NAN};
    if (oc_cal_device_kind(device) == OC_CAL_GPU)
        e->asynchronous = "the host launches kernels asynchronously";
    if (make(e, opts, err)) {
        oc_estimate_free(e);
        *out = NULL;
        return -1;
    }
    *out = e;
    return 0;
}

void oc_estimate_free(struct oc_estimate *e)
{
    if (!e)
        return;
    oc_arena_free(&e->arena);
    free(e);
}

struct oc_estimate_info oc_estimate_info(const struct oc_estimate *e)
{
    const struct oc_model_prediction *t = &e->total;
    bool point = e->cal && t->t_s > 0;
    return (struct oc_estimate_info){.kernels = e->list.n,
                                     .unknown_kernels = e->n_unknown,
                                     .time_ns = point ? t->t_s * 1e9 : (double)NAN,
                                     .low_ns = (point ? t->lo80_s : e->band_lo_s) * 1e9,
                                     .high_ns = (point ? t->hi80_s : e->band_hi_s) * 1e9,
                                     .planned_equal = e->match.equal,
                                     .recorded = e->match.recorded,
                                     .planned_equal_time = e->match.equal_time};
}
