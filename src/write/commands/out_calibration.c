/* Calibrations, and the errors of predictions of networks that were left out, as text, CSV and JSON. */
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
           oc_cal_kind_names[k->kind]);
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
    if (c->from && *c->from)
        oc_print_line(f, "moved from  %s", c->from);
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
          "it);\nerr: median error of kernels of networks that were left out\n",
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

/* ---- check ------------------------------------------------------------------------------------------ */

/* How wrong the predictions of groups of networks are that a calibration has not seen. The last row has all. */
struct check_out {
    const struct oc_samples *samples;
    const struct oc_validation *v;
};

static uint32_t group_at(const struct oc_validation *v, size_t row)
{
    return row < v->n_group ? (uint32_t)row : OC_ALL_GROUPS;
}

/* "resnet18 and 5 more"; "all" */
static const char *group_name(const struct check_out *o, uint32_t group, struct oc_arena *a)
{
    const char *first = NULL;
    size_t more = 0;
    if (group == OC_ALL_GROUPS)
        return "all";
    for (size_t m = 0; m < o->v->n_model; m++)
        if (o->v->model[m].group == group && !first)
            first = o->samples->set.model[m].name;
        else if (o->v->model[m].group == group)
            more++;
    return more ? oc_printf(a, "%s and %zu more", first, more) : first;
}

static const char *check_percent(struct oc_arena *a, double share)
{
    return isfinite(share) ? oc_printf(a, "%.1f", 100 * share) : "-";
}

static void check_text(void *of, FILE *f)
{
    const struct check_out *o = of;
    const struct oc_run_errors all = oc_validation_errors(o->v, OC_ALL_GROUPS);
    struct oc_table t = {.kinds = "nnnnc"};
    struct oc_arena a = {0};
    fprintf(f, "median error %s %%, 80 %% interval holds %s %%: runs of networks that were left out\n",
            check_percent(&a, all.median), check_percent(&a, all.inside));
    oc_print_line(f, "device   %s", o->samples->set.device);
    oc_print_line(f, "runtime  %s %s", o->samples->set.runtime, o->samples->set.runtime_version);
    fprintf(f, "groups   %" PRIu32 " of related networks, each predicted from the others\n\n", o->v->n_group);
    OC_ROW(&t, "runs", "median error %", "90 % error %", "in interval %", "left out");
    for (size_t i = 0; i <= o->v->n_group; i++) {
        const struct oc_run_errors e = oc_validation_errors(o->v, group_at(o->v, i));
        OC_ROW(&t, oc_printf(&a, "%zu", e.n), check_percent(&a, e.median), check_percent(&a, e.most90),
               check_percent(&a, e.inside), group_name(o, group_at(o->v, i), &a));
    }
    oc_table_print(&t, f);
    oc_arena_free(&a);
}

static void check_fields(struct oc_fields *f, const void *of, size_t i)
{
    const struct check_out *o = of;
    const struct oc_run_errors e = oc_validation_errors(o->v, group_at(o->v, i));
    oc_field_text(f, "left_out", group_name(o, group_at(o->v, i), &f->arena));
    oc_field_u64(f, "runs", e.n);
    oc_field_double(f, "median_error", e.median);
    oc_field_double(f, "error_90", e.most90);
    oc_field_double(f, "in_interval80", e.inside);
}

static void check_members(void *of, struct oc_json_out *w)
{
    const struct check_out *o = of;
    oc_key_text(w, "device", o->samples->set.device);
    oc_key_text(w, "runtime", o->samples->set.runtime);
}

int oc_calibration_check(const struct oc_samples *samples, const char *format, FILE *f, struct oc_err *err)
{
    struct oc_validation *v;
    if (oc_samples_need_device(samples, err) || oc_validate(&samples->set, samples->device, &v, err))
        return -1;
    struct check_out o = {samples, v};
    const struct oc_output out = {.what = "a check of a calibration",
                                  .of = &o,
                                  .text = check_text,
                                  .rows = OC_ROWS((size_t)v->n_group + 1, &o, check_fields),
                                  .key = "groups",
                                  .schema = "onnxcost.calibration.check",
                                  .members = check_members};
    int rc = oc_output_write(&out, format, f, err);
    oc_validation_free(v);
    return rc;
}
