/* Calibrations, the samples that they are fitted to, and the errors of estimates of networks that were
 * left out, as text, CSV and JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/units.h"
#include "estimate/calibrate.h"
#include "estimate/samples.h"
#include "estimate/validate.h"
#include "onnxcost/estimate.h"
#include "write/tables/json_keys.h"
#include "write/tables/table.h"

static const char *calibration_class_of(const struct oc_cal_key *k, struct oc_arena *a)
{
    if (k->cls < OC_KC_COUNT)
        return oc_kernel_class_name(k->cls);
    return oc_printf(a, "(%s)", oc_kernel_group_name(k->cls - (unsigned)OC_KC_COUNT));
}

static const char *calibration_dtype_of(const struct oc_cal_key *k)
{
    return k->dtype == OC_CLASS_NONE ? "any" : oc_class_name(k->dtype);
}

/* ---- calibration: text ------------------------------------------------------------------------------ */

static const char *calibration_si(struct oc_arena *a, double v, const char *unit)
{
    char buf[48];
    return isfinite(v) && v > 0 ? oc_strdup(a, oc_format_si(v, unit, buf, sizeof(buf))) : "-";
}

static const char *calibration_percent(struct oc_arena *a, double ln)
{
    return isfinite(ln) ? oc_printf(a, "%.1f", 100 * (exp(ln) - 1)) : "-";
}

static void key_row(struct oc_table *t, struct oc_arena *a, const struct oc_cal_key *k)
{
    const struct oc_cal_curve *c = &k->curve;
    if (!t->n_row)
        OC_ROW(t, "kernels", "models", "t0", "Ec", "Em", "W half", "B half", "p", "align", "err %", "80 % +-",
               "class", "type", "from");
    OC_ROW(t, oc_printf(a, "%" PRIu32, k->n), oc_printf(a, "%" PRIu32, k->n_model),
           oc_seconds_text(a, c->t0_s, "-"), oc_printf(a, "%.3f%s", c->ec, k->ec_known ? "" : "?"),
           oc_printf(a, "%.3f%s", c->em, k->em_known ? "" : "?"), calibration_si(a, c->w_half_flop, "FLOP"),
           calibration_si(a, c->b_half_bytes, "B"), isinf(c->p) ? "inf" : oc_printf(a, "%g", c->p),
           c->align > 1 ? oc_printf(a, "%" PRIu32, c->align) : "-", calibration_percent(a, k->lomo_error),
           calibration_percent(a, k->errors.d80[1]), calibration_class_of(k, a), calibration_dtype_of(k),
           oc_printf(a, "%s%s", oc_cal_kind_names[k->kind], k->residual >= 0 ? "+forest" : ""));
}

static void write_left_out(const struct oc_samples *s, FILE *f)
{
    for (unsigned i = 0; s && i < OC_REJECT_COUNT; i++)
        if (s->reject[i].n)
            fprintf(f, "excluded    %" PRIu32 " kernels, %.2f %% of the time: %s\n", s->reject[i].n,
                    100 * s->reject[i].time_s / s->kernels_s, oc_reject_reason_name(i));
}

static void calibration_write_head(const struct oc_calibration *c, const struct oc_samples *s, FILE *f)
{
    char fix[40], gap[40];
    oc_print_line(f, "device      %s", c->device);
    char threads[40] = "";
    if (c->threads)
        snprintf(threads, sizeof(threads), ", %" PRIu32 " thread%s", c->threads, c->threads == 1 ? "" : "s");
    oc_print_line(f, "runtime     %s%s%s%s", c->runtime, *c->runtime_version ? " " : "", c->runtime_version,
                  threads);
    fprintf(f, "samples     %" PRIu32 " kernels from %" PRIu32 " recordings, %zu distinct\n", c->n_sample,
            c->n_model, c->n_signature);
    write_left_out(s, f);
    fprintf(f, "whole runs  %s outside kernels, %s gap after a long kernel; common error per model %.1f %%\n",
            oc_format_time_ns(c->t_fix_s * 1e9, fix, sizeof(fix)),
            oc_format_time_ns(c->gap_s * 1e9, gap, sizeof(gap)), 100 * (exp(c->tau) - 1));
}

/* A calibration and the samples that it was fitted to. */
struct calibration_out {
    const struct oc_calibration *c;
    const struct oc_samples *samples;
};

static void calibration_text(void *of, FILE *f)
{
    const struct calibration_out *o = of;
    const struct oc_calibration *c = o->c;
    struct oc_table t = {.kinds = "nnnnnnnnnnnttt"};
    struct oc_arena a = {0};
    calibration_write_head(c, o->samples, f);
    for (size_t i = 0; i < c->n_key; i++)
        key_row(&t, &a, &c->key[i]);
    fputc('\n', f);
    oc_table_print(&t, f);
    fputs("\nEc, Em: efficiency relative to peak rate and bandwidth (?: assumed, no sample is bound by "
          "it);\nerr: median error in leave-one-network-out validation\n",
          f);
    oc_arena_free(&a);
}

/* ---- calibration: CSV and JSON ---------------------------------------------------------------------- */

static void key_fields(struct oc_fields *f, const void *of, size_t i)
{
    const struct oc_cal_key *k = &((const struct oc_calibration *)of)->key[i];
    const struct oc_cal_curve *c = &k->curve;
    oc_field_text(f, "class", k->cls < OC_KC_COUNT ? oc_kernel_class_name(k->cls) : NULL);
    oc_field_text(f, "group",
                  oc_kernel_group_name(k->cls < OC_KC_COUNT ? oc_kernel_class_group(k->cls)
                                                            : k->cls - (unsigned)OC_KC_COUNT));
    oc_field_text(f, "dtype", k->dtype == OC_CLASS_NONE ? NULL : oc_class_name(k->dtype));
    oc_field_text(f, "kind", oc_cal_kind_names[k->kind]);
    oc_field_u64(f, "kernels", k->n);
    oc_field_u64(f, "models", k->n_model);
    oc_field_double(f, "t0_s", c->t0_s);
    oc_field_double(f, "ec", c->ec);
    oc_field_text(f, "ec_from", k->ec_known ? "measured" : "assumed");
    oc_field_double(f, "w_half_flop", c->w_half_flop);
    oc_field_double(f, "em", c->em);
    oc_field_text(f, "em_from", k->em_known ? "measured" : "assumed");
    oc_field_double(f, "b_half_bytes", c->b_half_bytes);
    oc_field_text(f, "p", isinf(c->p) ? "inf" : oc_printf(&f->arena, "%g", c->p));
    oc_field_double(f, "cache_gain", c->wc);
    oc_field_double(f, "cache_share", c->alpha);
    oc_field_u64(f, "tile_m", c->tile_m);
    oc_field_u64(f, "tile_n", c->tile_n);
    oc_field_u64(f, "align", c->align);
    oc_field_double(f, "flop_min", k->flop_min);
    oc_field_double(f, "flop_max", k->flop_max);
    oc_field_double(f, "bytes_min", k->bytes_min);
    oc_field_double(f, "bytes_max", k->bytes_max);
    oc_field_double(f, "held_out_error_ln", k->lomo_error);
    oc_field_double(f, "half_width80_small_ln", k->errors.d80[0]);
    oc_field_double(f, "half_width80_middle_ln", k->errors.d80[1]);
    oc_field_double(f, "half_width80_large_ln", k->errors.d80[2]);
    oc_field_text(f, "forest", k->residual >= 0 ? "yes" : "no");
}

static void calibration_members(void *of, struct oc_json_out *w)
{
    const struct oc_calibration *c = ((const struct calibration_out *)of)->c;
    oc_key_text(w, "device", c->device);
    oc_key_text(w, "runtime", c->runtime);
    oc_key_text(w, "runtime_version", *c->runtime_version ? c->runtime_version : NULL);
    oc_key_u64_if(w, "threads", c->threads, c->threads);
    oc_key_u64(w, "samples", c->n_sample);
    oc_key_u64(w, "recordings", c->n_model);
    oc_key_u64(w, "left_out", c->n_rejected);
    oc_key_u64(w, "signatures", c->n_signature);
    oc_key_double(w, "fix_s", c->t_fix_s);
    oc_key_double(w, "gap_s", c->gap_s);
    oc_key_double(w, "tau", c->tau);
    oc_key_double(w, "rho", c->rho);
}

int oc_calibration_report(const struct oc_calibration *c, const struct oc_samples *samples,
                          const char *format, FILE *f, struct oc_err *err)
{
    struct calibration_out o = {.c = c, .samples = samples};
    const struct oc_output out = {.what = "a calibration",
                                  .of = &o,
                                  .text = calibration_text,
                                  .rows = OC_ROWS(c->n_key, c, key_fields),
                                  .key = "curves",
                                  .schema = "onnxcost.calibration",
                                  .members = calibration_members};
    return oc_output_write(&out, format, f, err);
}

/* ---- samples ---------------------------------------------------------------------------------------- */

/* Measured kernels as CSV, one row each, or JSON with the recordings and the excluded kernels. */

static void sample_fields(struct oc_fields *f, const void *of, size_t i)
{
    const struct oc_samples *s = of;
    const struct oc_sample *x = &s->set.item[i];
    const struct oc_sample_model *m = &s->set.model[x->model];
    oc_field_text(f, "recording", m->name);
    oc_field_text(f, "model", m->model_id);
    oc_field_text(f, "family", m->family_id);
    oc_field_text(f, "label", x->kernel.label);
    oc_field_double(f, "time_s", x->t_s);
    oc_field_double(f, "p10_s", x->p10_s);
    oc_field_double(f, "p90_s", x->p90_s);
    oc_field_u64(f, "runs", x->runs);
    oc_field_u64(f, "repeats", x->repeats);
    oc_kernel_fields(f, &x->kernel, s->device);
}

static void recording_fields(struct oc_fields *f, const void *of, size_t i)
{
    const struct oc_sample_model *m = &((const struct oc_samples *)of)->set.model[i];
    oc_field_text(f, "name", m->name);
    oc_field_text(f, "model", m->model_id);
    oc_field_text(f, "family", m->family_id);
    oc_field_double(f, "run_s", m->run_s);
    oc_field_double(f, "plain_s", m->plain_s);
    oc_field_double(f, "kernels_s", m->kernels_s);
    oc_field_u64(f, "const_bytes", m->const_bytes);
}

static void rejects_json(struct oc_json_out *w, const struct oc_samples *s)
{
    oc_key_array(w, "left_out");
    for (unsigned i = 0; i < OC_REJECT_COUNT; i++) {
        if (!s->reject[i].n)
            continue;
        oc_jw_begin_object(w);
        oc_key_text(w, "reason", oc_reject_reason_name(i));
        oc_key_u64(w, "kernels", s->reject[i].n);
        oc_key_double(w, "time_s", s->reject[i].time_s);
        oc_key_double(w, "time_fraction", s->reject[i].time_s / s->kernels_s);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void samples_json(const struct oc_samples *s, FILE *f)
{
    struct oc_json_out w;
    oc_json_begin(&w, f, "onnxcost.samples", 1, NULL);
    oc_key_text(&w, "device", *s->set.device ? s->set.device : NULL);
    oc_key_text(&w, "runtime", s->set.runtime);
    oc_key_text(&w, "runtime_version", *s->set.runtime_version ? s->set.runtime_version : NULL);
    oc_key_u64_if(&w, "threads", s->set.threads, s->set.threads);
    oc_key_u64(&w, "kernels", s->n_kernel);
    oc_key_double(&w, "kernels_s", s->kernels_s);
    oc_row_list_json(&OC_ROWS(s->set.n_model, s, recording_fields), "recordings", &w);
    rejects_json(&w, s);
    oc_row_list_json(&OC_ROWS(s->set.n, s, sample_fields), "samples", &w);
    oc_json_end(&w);
}

int oc_samples_write(const struct oc_samples *s, const char *format, FILE *f, struct oc_err *err)
{
    int form = oc_format_of("a list of samples", format, "csv, json", err);
    if (form == 0)
        oc_row_list_csv(&OC_ROWS(s->set.n, s, sample_fields), f);
    else if (form == 1)
        samples_json(s, f);
    return form < 0 ? -1 : 0;
}

/* ---- validation ------------------------------------------------------------------------------------- */

/* Accuracy of predictions in leave-one-out validation, per recording and in total, with baseline predictors.
 */

struct validation_out {
    const struct oc_validation_result *r;
    const struct oc_validated_model **model; /* heap: those with kernels */
    size_t n_model;
};

static const char *validation_percent(struct oc_arena *a, double share, bool sign)
{
    return isfinite(share) ? oc_printf(a, sign ? "%+.1f" : "%.1f", 100 * share) : "-";
}

static double validation_error_of(double predicted, double measured)
{
    return measured > 0 && isfinite(predicted) ? predicted / measured - 1 : (double)NAN;
}

/* ---- validation: text ------------------------------------------------------------------------------- */

static void model_rows(const struct oc_validation_result *r, struct oc_arena *a, FILE *f)
{
    struct oc_table t = {.kinds = "nnnnnnnnnnnt"};
    OC_ROW(&t, "run", "predicted", "err %", "80 % from", "to", "inside", "group", "kernels", "predicted",
           "err %", "unseen %", "recording");
    for (size_t i = 0; i < r->v->n_model; i++) {
        const struct oc_validated_model *m = &r->v->model[i];
        double p = m->predicted_s[OC_PREDICTOR_FULL], x = m->measured_s, run = m->run_measured_s;
        if (!m->kernels)
            continue;
        bool inside = run >= m->run.lo80_s && run <= m->run.hi80_s;
        double unseen = isnan(m->measured_unseen_s) ? 0 : m->measured_unseen_s / x;
        OC_ROW(&t, oc_seconds_text(a, run, "-"), oc_seconds_text(a, m->run.t_s, "-"),
               validation_percent(a, validation_error_of(m->run.t_s, run), true),
               oc_seconds_text(a, m->run.lo80_s, "-"), oc_seconds_text(a, m->run.hi80_s, "-"),
               inside ? "yes" : "no", oc_printf(a, "%u", m->fold + 1), oc_seconds_text(a, x, "-"),
               oc_seconds_text(a, p, "-"), validation_percent(a, validation_error_of(p, x), true),
               validation_percent(a, unseen, false), r->samples->set.model[m->model].name);
    }
    oc_table_print(&t, f);
}

static void run_line(const char *what, const struct oc_model_scores *s, FILE *f)
{
    if (s->n)
        fprintf(
            f, "%-11s %zu: error %.1f %% (median), %.1f %% (90th percentile); 80 %% interval holds %.0f %%\n",
            what, s->n, 100 * s->ape_median, 100 * s->ape_p90, 100 * s->cover80);
}

static void predictor_row(struct oc_table *t, struct oc_arena *a, const char *name,
                          const struct oc_kernel_scores *k, const struct oc_model_scores *m)
{
    OC_ROW(t, validation_percent(a, k->wmape, false), validation_percent(a, exp(k->median_abs_ln) - 1, false),
           validation_percent(a, exp(k->bias) - 1, true), validation_percent(a, k->cover80, false),
           validation_percent(a, m->ape_median, false), validation_percent(a, m->ape_p90, false),
           validation_percent(a, m->within10, false), validation_percent(a, m->within20, false),
           isfinite(m->spearman) ? oc_printf(a, "%.3f", m->spearman) : "-",
           validation_percent(a, m->cover80, false), name);
}

static void score_rows(const struct oc_validation *v, bool unseen, struct oc_arena *a, FILE *f)
{
    struct oc_table t = {.kinds = "nnnnnnnnnnt"};
    OC_ROW(&t, "k.err %", "k.median %", "k.bias %", "k.80 %", "m.median %", "m.p90 %", "in 10 %", "in 20 %",
           "rank", "m.80 %", "predictor");
    for (unsigned p = 0; p < OC_PREDICTOR_COUNT; p++) {
        const struct oc_predictor_scores *s = &v->score[p];
        predictor_row(&t, a, oc_predictor_name(p), unseen ? &s->unseen : &s->all,
                      unseen ? &s->models_unseen : &s->models);
    }
    oc_table_print(&t, f);
}

static void class_rows(const struct oc_validation *v, struct oc_arena *a, FILE *f)
{
    struct oc_table t = {.kinds = "nnnnnnt"};
    OC_ROW(&t, "kernels", "time %", "unseen", "k.err %", "k.median %", "k.bias %", "class");
    for (size_t i = 0; i < v->n_cls; i++) {
        const struct oc_validated_class *c = &v->cls[i];
        OC_ROW(&t, oc_printf(a, "%zu", c->n), validation_percent(a, c->time_share, false),
               oc_printf(a, "%zu", c->unseen.n), validation_percent(a, c->unseen.wmape, false),
               validation_percent(a, exp(c->unseen.median_abs_ln) - 1, false),
               validation_percent(a, exp(c->unseen.bias) - 1, true), oc_kernel_class_name(c->cls));
    }
    oc_table_print(&t, f);
}

static void validation_text(void *of, FILE *f)
{
    const struct oc_validation_result *r = ((const struct validation_out *)of)->r;
    const struct oc_validation *v = r->v;
    struct oc_arena a = {0};
    fprintf(f, "validation  %zu recordings, %zu kernels; %zu groups of related networks, left out in turn\n",
            v->n_model, r->samples->set.n, v->n_fold);
    oc_print_line(f, "device      %s", r->samples->set.device);
    oc_print_line(f, "runtime     %s", r->samples->set.runtime);
    run_line("runs", &v->score[OC_PREDICTOR_FULL].runs, f);
    run_line("of >= 1 ms", &v->score[OC_PREDICTOR_FULL].long_runs, f);
    fputc('\n', f);
    model_rows(r, &a, f);
    fputs("\nall kernels\n", f);
    score_rows(v, false, &a, f);
    fputs("\nkernels that occur in no other group\n", f);
    score_rows(v, true, &a, f);
    fputs("\n", f);
    class_rows(v, &a, f);
    fputs("\nk: kernels, m: sums of kernels per recording; err: time-weighted mean; 80: share inside the 80 "
          "% interval;\nrank: Spearman correlation; unseen: in no network of the training set\n",
          f);
    oc_arena_free(&a);
}

/* ---- validation: CSV and JSON ----------------------------------------------------------------------- */

static const char *key(struct oc_fields *f, const char *what, unsigned predictor)
{
    char name[64];
    snprintf(name, sizeof(name), "%s", oc_predictor_name(predictor));
    for (char *p = name; *p; p++)
        if (*p == ' ' || *p == '-')
            *p = '_';
    return oc_printf(&f->arena, "%s_%s_s", what, name);
}

static void model_fields(struct oc_fields *f, const void *of, size_t i)
{
    const struct validation_out *o = of;
    const struct oc_validated_model *m = o->model[i];
    const struct oc_sample_model *info = &o->r->samples->set.model[m->model];
    oc_field_text(f, "recording", info->name);
    oc_field_text(f, "model", info->model_id);
    oc_field_text(f, "family", info->family_id);
    oc_field_u64(f, "kernels", m->kernels);
    oc_field_u64(f, "unseen", m->unseen);
    oc_field_double(f, "measured_s", m->measured_s);
    oc_field_double(f, "measured_unseen_s", m->measured_unseen_s);
    for (unsigned p = 0; p < OC_PREDICTOR_COUNT; p++)
        oc_field_double(f, key(f, "predicted", p), m->predicted_s[p]);
    for (unsigned p = 0; p < OC_PREDICTOR_COUNT; p++)
        oc_field_double(f, key(f, "unseen", p), m->predicted_unseen_s[p]);
    oc_field_double(f, "low80_s", m->run.lo80_s);
    oc_field_double(f, "high80_s", m->run.hi80_s);
    oc_field_double(f, "low95_s", m->run.lo95_s);
    oc_field_double(f, "high95_s", m->run.hi95_s);
    oc_field_double(f, "run_measured_s", m->run_measured_s);
    oc_field_double(f, "run_predicted_s", m->run.t_s);
    oc_field_u64(f, "group", m->fold);
}

static void kernel_scores(struct oc_json_out *w, const char *name, const struct oc_kernel_scores *s)
{
    oc_key_object(w, name);
    oc_key_u64(w, "n", s->n);
    oc_key_double(w, "wmape", s->wmape);
    oc_key_double(w, "median_abs_ln", s->median_abs_ln);
    oc_key_double(w, "bias_ln", s->bias);
    oc_key_double(w, "spearman", s->spearman);
    oc_key_double(w, "cover80", s->cover80);
    oc_key_double(w, "cover95", s->cover95);
    oc_jw_end_object(w);
}

static void model_scores(struct oc_json_out *w, const char *name, const struct oc_model_scores *s)
{
    oc_key_object(w, name);
    oc_key_u64(w, "n", s->n);
    oc_key_double(w, "ape_mean", s->ape_mean);
    oc_key_double(w, "ape_median", s->ape_median);
    oc_key_double(w, "ape_p90", s->ape_p90);
    oc_key_double(w, "within10", s->within10);
    oc_key_double(w, "within20", s->within20);
    oc_key_double(w, "spearman", s->spearman);
    oc_key_double(w, "bias_ln", s->bias);
    oc_key_double(w, "cover80", s->cover80);
    oc_key_double(w, "cover95", s->cover95);
    oc_jw_end_object(w);
}

static void predictors_json(struct oc_json_out *w, const struct oc_validation *v)
{
    oc_key_array(w, "predictors");
    for (unsigned p = 0; p < OC_PREDICTOR_COUNT; p++) {
        const struct oc_predictor_scores *s = &v->score[p];
        oc_jw_begin_object(w);
        oc_key_text(w, "name", oc_predictor_name(p));
        kernel_scores(w, "kernels", &s->all);
        kernel_scores(w, "kernels_seen", &s->seen);
        kernel_scores(w, "kernels_unseen", &s->unseen);
        model_scores(w, "models", &s->models);
        model_scores(w, "models_unseen", &s->models_unseen);
        model_scores(w, "runs", &s->runs);
        model_scores(w, "long_runs", &s->long_runs);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void classes_json(struct oc_json_out *w, const struct oc_validation *v)
{
    oc_key_array(w, "classes");
    for (size_t i = 0; i < v->n_cls; i++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "class", oc_kernel_class_name(v->cls[i].cls));
        oc_key_u64(w, "kernels", v->cls[i].n);
        oc_key_double(w, "time_fraction", v->cls[i].time_share);
        kernel_scores(w, "unseen", &v->cls[i].unseen);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void validation_members(void *of, struct oc_json_out *w)
{
    const struct oc_validation_result *r = ((const struct validation_out *)of)->r;
    oc_key_text(w, "device", r->samples->set.device);
    oc_key_text(w, "runtime", r->samples->set.runtime);
    oc_key_text(w, "left_out", "group");
    oc_key_u64(w, "folds", r->v->n_fold);
    predictors_json(w, r->v);
    classes_json(w, r->v);
}

int oc_validation_write(const struct oc_validation_result *r, const char *format, FILE *f, struct oc_err *err)
{
    struct validation_out o = {
        .r = r, .model = oc_xmalloc((r->v->n_model + 1) * sizeof(const struct oc_validated_model *))};
    for (size_t i = 0; i < r->v->n_model; i++)
        if (r->v->model[i].kernels)
            o.model[o.n_model++] = &r->v->model[i];
    const struct oc_output out = {.what = "a validation",
                                  .of = &o,
                                  .text = validation_text,
                                  .rows = OC_ROWS(o.n_model, &o, model_fields),
                                  .key = "recordings",
                                  .schema = "onnxcost.validation",
                                  .members = validation_members};
    int rc = oc_output_write(&out, format, f, err);
    free(o.model);
    return rc;
}
