/* Accuracy of predictions in leave-one-out validation, per recording and in total, with baseline predictors.
 */
#include <math.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "base/units.h"
#include "estimate/validate.h"
#include "write/tables/json_keys.h"
#include "write/tables/plain_table.h"
#include "onnxcost/estimate.h"

enum { VERSION = 1 };

static const char *validation_percent(struct oc_arena *a, double share, bool sign)
{
    return isfinite(share) ? oc_printf(a, sign ? "%+.1f" : "%.1f", 100 * share) : "-";
}

static double validation_error_of(double predicted, double measured)
{
    return measured > 0 && isfinite(predicted) ? predicted / measured - 1 : (double)NAN;
}

/* ---- for people ------------------------------------------------------------------------------------- */

static void model_rows(const struct oc_validation_result *r, struct oc_arena *a, FILE *f)
{
    struct oc_plain_table t = {0};
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
    oc_plain_print(&t, 1, f);
}

static void run_line(const char *what, const struct oc_model_scores *s, FILE *f)
{
    if (s->n)
        fprintf(
            f, "%-11s %zu: error %.1f %% (median), %.1f %% (90th percentile); 80 %% interval holds %.0f %%\n",
            what, s->n, 100 * s->ape_median, 100 * s->ape_p90, 100 * s->cover80);
}

static void predictor_row(struct oc_plain_table *t, struct oc_arena *a, const char *name,
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
    struct oc_plain_table t = {0};
    OC_ROW(&t, "k.err %", "k.median %", "k.bias %", "k.80 %", "m.median %", "m.p90 %", "in 10 %", "in 20 %",
           "rank", "m.80 %", "predictor");
    for (unsigned p = 0; p < OC_PREDICTOR_COUNT; p++) {
        const struct oc_predictor_scores *s = &v->score[p];
        predictor_row(&t, a, oc_predictor_name(p), unseen ? &s->unseen : &s->all,
                      unseen ? &s->models_unseen : &s->models);
    }
    oc_plain_print(&t, 1, f);
}

static void class_rows(const struct oc_validation *v, struct oc_arena *a, FILE *f)
{
    struct oc_plain_table t = {0};
    OC_ROW(&t, "kernels", "time %", "unseen", "k.err %", "k.median %", "k.bias %", "class");
    for (size_t i = 0; i < v->n_cls; i++) {
        const struct oc_validated_class *c = &v->cls[i];
        OC_ROW(&t, oc_printf(a, "%zu", c->n), validation_percent(a, c->time_share, false),
               oc_printf(a, "%zu", c->unseen.n), validation_percent(a, c->unseen.wmape, false),
               validation_percent(a, exp(c->unseen.median_abs_ln) - 1, false),
               validation_percent(a, exp(c->unseen.bias) - 1, true), oc_kernel_class_name(c->cls));
    }
    oc_plain_print(&t, 1, f);
}

static void validation_write_table(const struct oc_validation_result *r, FILE *f)
{
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

/* ---- for machines ----------------------------------------------------------------------------------- */

static const char *key(struct oc_fields *f, const char *what, unsigned predictor)
{
    char name[64];
    snprintf(name, sizeof(name), "%s", oc_predictor_name(predictor));
    for (char *p = name; *p; p++)
        if (*p == ' ' || *p == '-')
            *p = '_';
    return oc_printf(&f->arena, "%s_%s_s", what, name);
}

static void model_fields(struct oc_fields *f, const struct oc_validation_result *r,
                         const struct oc_validated_model *m)
{
    const struct oc_sample_model *info = &r->samples->set.model[m->model];
    oc_fields_begin(f);
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
    oc_fields_end(f);
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

static void validation_write_json(struct oc_fields *f, const struct oc_validation_result *r, FILE *out)
{
    struct oc_json_out w;
    f->json = &w;
    oc_json_begin(&w, out, "onnxcost.validation", VERSION, NULL);
    oc_key_text(&w, "device", r->samples->set.device);
    oc_key_text(&w, "runtime", r->samples->set.runtime);
    oc_key_text(&w, "left_out", "group");
    oc_key_u64(&w, "folds", r->v->n_fold);
    predictors_json(&w, r->v);
    classes_json(&w, r->v);
    oc_key_array(&w, "recordings");
    for (size_t i = 0; i < r->v->n_model; i++)
        if (r->v->model[i].kernels)
            model_fields(f, r, &r->v->model[i]);
    oc_jw_end_array(&w);
    oc_json_end(&w);
    f->json = NULL;
}

int oc_validation_write(const struct oc_validation_result *r, const char *format, FILE *out,
                        struct oc_err *err)
{
    OC_C_LOCALE;
    struct oc_fields f = {0};
    if (!format || !strcmp(format, "table")) {
        validation_write_table(r, out);
    } else if (!strcmp(format, "json")) {
        validation_write_json(&f, r, out);
    } else if (!strcmp(format, "csv")) {
        for (size_t i = 0; i < r->v->n_model; i++)
            if (r->v->model[i].kernels)
                model_fields(&f, r, &r->v->model[i]);
        oc_fields_csv(&f, "1", out);
    } else {
        return oc_fail(err, OC_EARG, "unknown format '%s'; valid: table, csv, json", format);
    }
    oc_fields_free(&f);
    return 0;
}
