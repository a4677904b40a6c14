/* A calibration as text, CSV and JSON. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "base/units.h"
#include "estimate/cal_file.h"
#include "estimate/samples.h"
#include "write/tables/json_keys.h"
#include "write/tables/plain_table.h"
#include "onnxcost/estimate.h"

enum { VERSION = 1 };

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

/* ---- for people ------------------------------------------------------------------------------------- */

static const char *calibration_si(struct oc_arena *a, double v, const char *unit)
{
    char buf[48];
    return isfinite(v) && v > 0 ? oc_strdup(a, oc_format_si(v, unit, buf, sizeof(buf))) : "-";
}

static const char *calibration_percent(struct oc_arena *a, double ln)
{
    return isfinite(ln) ? oc_printf(a, "%.1f", 100 * (exp(ln) - 1)) : "-";
}

static void key_row(struct oc_plain_table *t, struct oc_arena *a, const struct oc_cal_key *k)
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

static void calibration_write_table(const struct oc_calibration *c, const struct oc_samples *s, FILE *f)
{
    struct oc_plain_table t = {0};
    struct oc_arena a = {0};
    calibration_write_head(c, s, f);
    for (size_t i = 0; i < c->n_key; i++)
        key_row(&t, &a, &c->key[i]);
    fputc('\n', f);
    oc_plain_print(&t, 3, f);
    fputs("\nEc, Em: efficiency relative to peak rate and bandwidth (?: assumed, no sample is bound by "
          "it);\nerr: median error in leave-one-network-out validation\n",
          f);
    oc_plain_free(&t);
    oc_arena_free(&a);
}

/* ---- for machines ----------------------------------------------------------------------------------- */

static void key_fields(struct oc_fields *f, const struct oc_cal_key *k)
{
    const struct oc_cal_curve *c = &k->curve;
    oc_fields_begin(f);
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
    oc_fields_end(f);
}

static void keys(struct oc_fields *f, const struct oc_calibration *c)
{
    for (size_t i = 0; i < c->n_key; i++)
        key_fields(f, &c->key[i]);
}

static void calibration_write_json(struct oc_fields *f, const struct oc_calibration *c, FILE *out)
{
    struct oc_json_out w;
    f->json = &w;
    oc_json_begin(&w, out, "onnxcost.calibration", VERSION, NULL);
    oc_key_text(&w, "device", c->device);
    oc_key_text(&w, "runtime", c->runtime);
    oc_key_text(&w, "runtime_version", *c->runtime_version ? c->runtime_version : NULL);
    oc_key_u64_if(&w, "threads", c->threads, c->threads);
    oc_key_u64(&w, "samples", c->n_sample);
    oc_key_u64(&w, "recordings", c->n_model);
    oc_key_u64(&w, "left_out", c->n_rejected);
    oc_key_u64(&w, "signatures", c->n_signature);
    oc_key_double(&w, "fix_s", c->t_fix_s);
    oc_key_double(&w, "gap_s", c->gap_s);
    oc_key_double(&w, "tau", c->tau);
    oc_key_double(&w, "rho", c->rho);
    oc_key_array(&w, "curves");
    keys(f, c);
    oc_jw_end_array(&w);
    oc_json_end(&w);
    f->json = NULL;
}

int oc_calibration_report(const struct oc_calibration *c, const struct oc_samples *samples,
                          const char *format, FILE *out, struct oc_err *err)
{
    OC_C_LOCALE;
    struct oc_fields f = {0};
    if (!format || !strcmp(format, "table")) {
        calibration_write_table(c, samples, out);
    } else if (!strcmp(format, "json")) {
        calibration_write_json(&f, c, out);
    } else if (!strcmp(format, "csv")) {
        keys(&f, c);
        oc_fields_csv(&f, "1", out);
    } else {
        return oc_fail(err, OC_EARG, "unknown format '%s'; valid: table, csv, json", format);
    }
    oc_fields_free(&f);
    return 0;
}
