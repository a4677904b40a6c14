/* The plain numbers of calibration files: one table for reading and writing. */
#include "estimate/calibrate.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "estimate/curve.h"
#include "onnxcost/estimate.h"

#define BIG 1e30

#define RUN(n, f, lo, hi)                                                                                    \
    {                                                                                                        \
        n, OC_CAL_A_DOUBLE, offsetof(struct oc_calibration, f), lo, hi, false                                \
    }
#define KEY(n, f, lo, hi)                                                                                    \
    {                                                                                                        \
        n, OC_CAL_A_DOUBLE, offsetof(struct oc_cal_key, f), lo, hi, false                                    \
    }
#define CURVE(n, f, lo, hi)                                                                                  \
    {                                                                                                        \
        n, OC_CAL_A_DOUBLE, offsetof(struct oc_cal_curve, f), lo, hi, false                                  \
    }
#define U32(n, s, f)                                                                                         \
    {                                                                                                        \
        n, OC_CAL_A_U32, offsetof(struct s, f), 0, UINT32_MAX, false                                         \
    }
#define FLAG(n, s, f)                                                                                        \
    {                                                                                                        \
        n, OC_CAL_A_FLAG, offsetof(struct s, f), 0, 1, false                                                 \
    }

static const struct oc_cal_attr run[] = {
    RUN("dram", dram_bytes_per_s, 0, BIG),
    RUN("llc", llc_bytes, 0, BIG),
    RUN("fix", t_fix_s, -BIG, BIG),
    RUN("gap", gap_s, -BIG, BIG),
    RUN("tau", tau, 0, 100),
    RUN("rho", rho, -1, 1),
    RUN("z80", z80, 0, 1e6),
    RUN("z95", z95, 0, 1e6),
};
const struct oc_cal_attrs oc_cal_run_attrs = {run, OC_COUNT(run)};

static const struct oc_cal_attr key[] = {
    U32("n", oc_cal_key, n),
    U32("models", oc_cal_key, n_model),
    KEY("flop-min", flop_min, 0, BIG),
    KEY("flop-max", flop_max, 0, BIG),
    KEY("bytes-min", bytes_min, 0, BIG),
    KEY("bytes-max", bytes_max, 0, BIG),
    FLAG("ec-known", oc_cal_key, ec_known),
    FLAG("em-known", oc_cal_key, em_known),
    {"lomo-error", OC_CAL_A_DOUBLE, offsetof(struct oc_cal_key, lomo_error), 0, BIG, true},
    {"lambda", OC_CAL_A_DOUBLE, offsetof(struct oc_cal_key, lambda), 0, BIG, true},
    KEY("peak", peak_flop_per_s, 0, BIG),
};
const struct oc_cal_attrs oc_cal_key_attrs = {key, OC_COUNT(key)};

static const struct oc_cal_attr curve[] = {
    CURVE("t0", t0_s, 0, BIG),
    CURVE("ec", ec, 1e-12, 1e12),
    CURVE("w-half", w_half_flop, 0, BIG),
    CURVE("em", em, 1e-12, 1e12),
    CURVE("b-half", b_half_bytes, 0, BIG),
    CURVE("p", p, 0.25, INFINITY),
    CURVE("wc", wc, 1e-6, 1e6),
    CURVE("alpha", alpha, 0, 1e6),
    U32("tile-m", oc_cal_curve, tile_m),
    U32("tile-n", oc_cal_curve, tile_n),
    U32("align", oc_cal_curve, align),
};
const struct oc_cal_attrs oc_cal_curve_attrs = {curve, OC_COUNT(curve)};

const struct oc_cal_error_list oc_cal_error_lists[3] = {
    {"bounds", offsetof(struct oc_cal_errors, bound_s), OC_CAL_BINS - 1},
    {"d80", offsetof(struct oc_cal_errors, d80), OC_CAL_BINS},
    {"d95", offsetof(struct oc_cal_errors, d95), OC_CAL_BINS},
};

const char *const oc_cal_kind_names[OC_CAL_KIND_COUNT] = {
    [OC_CAL_CURVE] = "curve",
    [OC_CAL_PARENT] = "parent",
    [OC_CAL_PRIOR] = "prior",
};

/* ---- writing ---------------------------------------------------------------------------------------- */

/* Writer of calibration files (calibrate.h). */

static void cal_file_attr_text(FILE *f, const char *name, const char *s)
{
    fprintf(f, " %s=\"", name);
    for (; *s; s++)
        switch (*s) {
        case '&':
            fputs("&amp;", f);
            break;
        case '<':
            fputs("&lt;", f);
            break;
        case '"':
            fputs("&quot;", f);
            break;
        default:
            fputc(*s, f);
        }
    fputc('"', f);
}

static void cal_file_number(FILE *f, double v)
{
    char buf[40];
    oc_format_repr(v, buf, sizeof(buf));
    fputs(buf, f);
}

static void attr_double(FILE *f, const char *name, double v)
{
    fprintf(f, " %s=\"", name);
    cal_file_number(f, v);
    fputc('"', f);
}

static void attr_u64(FILE *f, const char *name, uint64_t v)
{
    fprintf(f, " %s=\"%" PRIu64 "\"", name, v);
}

static void attrs(FILE *f, const struct oc_cal_attrs *list, const void *object)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct oc_cal_attr *a = &list->attr[i];
        const void *field = (const char *)object + a->offset;
        if (a->kind == OC_CAL_A_DOUBLE)
            attr_double(f, a->name, *(const double *)field);
        else if (a->kind == OC_CAL_A_U32)
            attr_u64(f, a->name, *(const uint32_t *)field);
        else
            cal_file_attr_text(f, a->name, *(const bool *)field ? "yes" : "no");
    }
}

static void errors(FILE *f, const char *indent, const char *element, const struct oc_cal_errors *e)
{
    fprintf(f, "%s<%s", indent, element);
    attr_u64(f, "n", e->n);
    attr_double(f, "sd", e->sd);
    attr_double(f, "bias", e->bias);
    for (size_t i = 0; i < OC_COUNT(oc_cal_error_lists); i++) {
        const struct oc_cal_error_list *l = &oc_cal_error_lists[i];
        const double *v = (const void *)((const char *)e + l->offset);
        fprintf(f, " %s=\"", l->name);
        for (size_t k = 0; k < l->n; k++) {
            fputs(k ? " " : "", f);
            cal_file_number(f, v[k]);
        }
        fputc('"', f);
    }
    fputs("/>\n", f);
}

static void write_key(FILE *f, const struct oc_cal_key *k)
{
    fputs("  <key", f);
    if (k->cls >= OC_KC_COUNT)
        fprintf(f, " class=\"group:%s\"", oc_kernel_group_name(k->cls - (unsigned)OC_KC_COUNT));
    else
        cal_file_attr_text(f, "class", oc_kernel_class_name(k->cls));
    if (k->dtype != OC_CLASS_NONE)
        cal_file_attr_text(f, "dtype", oc_class_name(k->dtype));
    cal_file_attr_text(f, "kind", oc_cal_kind_names[k->kind]);
    if (k->parent >= 0)
        attr_u64(f, "parent", (uint64_t)k->parent);
    attrs(f, &oc_cal_key_attrs, k);
    for (uint32_t i = 0; i < k->n_op; i++)
        fprintf(f, i ? " %u" : " ops=\"%u", k->op[i]);
    fputs(k->n_op ? "\"" : "", f);
    fputs(">\n    <curve", f);
    attrs(f, &oc_cal_curve_attrs, &k->curve);
    fputs("/>\n", f);
    errors(f, "    ", "errors", &k->errors);
    fputs("  </key>\n", f);
}

static void cal_file_write_head(FILE *f, const struct oc_calibration *c)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<calibration version=\"5\"", f);
    cal_file_attr_text(f, "device", c->device);
    cal_file_attr_text(f, "runtime", c->runtime);
    if (*c->runtime_version)
        cal_file_attr_text(f, "runtime-version", c->runtime_version);
    if (c->threads)
        attr_u64(f, "threads", c->threads);
    if (*c->tool_version)
        cal_file_attr_text(f, "tool", c->tool_version);
    if (*c->created)
        cal_file_attr_text(f, "created", c->created);
    if (c->from && *c->from)
        cal_file_attr_text(f, "from", c->from);
    fprintf(f, " checksum=\"%016" PRIx64 "\"", c->checksum);
    attr_u64(f, "samples", c->n_sample);
    attr_u64(f, "models", c->n_model);
    attr_u64(f, "rejected", c->n_rejected);
    fputs(">\n  <run", f);
    attrs(f, &oc_cal_run_attrs, c);
    fputs("/>\n", f);
}

void oc_calibration_write(const struct oc_calibration *c, FILE *f)
{
    cal_file_write_head(f, c);
    errors(f, "  ", "again", &c->again);
    for (size_t i = 0; i < c->n_key; i++)
        write_key(f, &c->key[i]);
    for (size_t i = 0; i < c->n_signature; i++) {
        const struct oc_cal_signature *s = &c->signature[i];
        fprintf(f, "  <kernel id=\"%016" PRIx64 "\"", s->signature);
        attr_double(f, "t", s->t_s);
        attr_double(f, "sd", s->sd);
        attr_u64(f, "n", s->n);
        fputs("/>\n", f);
    }
    fputs("</calibration>\n", f);
}
