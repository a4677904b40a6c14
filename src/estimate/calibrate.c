#include "estimate/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/api_options.h"
#include "base/c_locale.h"
#include "base/diag.h"
#include "estimate/cal_file.h"
#include "estimate/cal_fit.h"
#include "estimate/cal_keys.h"
#include "estimate/conformal.h"
#include "estimate/samples.h"
#include "estimate/validate.h"
#include "onnxcost.h"
#include "onnxcost/estimate.h"
#include "onnxcost/hardware.h"

#define MAX_FOLDS 40
#define UNSURE    0.6 /* ln-sd where no held-out data exist */

struct making {
    struct oc_calibration *cal;
    struct oc_cal_data data;
    struct oc_key_tree tree;
    struct oc_residuals residual;
};

static const struct oc_cal_datum *datum_of(const struct oc_key_fit *k, size_t row)
{
    return k->row[row].datum;
}

/* ---- keys ------------------------------------------------------------------------------------------- */

static void set_extent(double v, double *min, double *max)
{
    if (v > 0) {
        *min = *min > 0 ? fmin(*min, v) : v;
        *max = fmax(*max, v);
    }
}

static void count_key(const struct making *m, const struct oc_key_fit *k, struct oc_cal_key *out)
{
    uint32_t last = UINT32_MAX;
    for (size_t i = 0; i < k->n; i++) {
        const struct oc_cal_datum *d = datum_of(k, i);
        set_extent(d->point.flop, &out->flop_min, &out->flop_max);
        set_extent(d->point.bytes, &out->bytes_min, &out->bytes_max);
        out->n_model += d->model != last; /* rows are sorted by model */
        last = d->model;
    }
    (void)m;
    out->n = (uint32_t)oc_key_distinct(k);
}

static int calibrate_by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double calibrate_median_of(double *v, size_t n)
{
    qsort(v, n, sizeof(*v), calibrate_by_double);
    return n ? (v[(n - 1) / 2] + v[n / 2]) / 2 : NAN;
}

/* Errors of held-out rows: for groups with the group's curve, for others as predicted. */
static void set_errors(const struct making *m, const struct oc_key_fit *k, struct oc_cal_key *out)
{
    const struct oc_cal_errors *parent = k->parent >= 0 ? &m->cal->key[k->parent].errors : NULL;
    if (m->data.n_fold < 2) {
        oc_conformal_assume(UNSURE, &out->errors);
        out->lomo_error = NAN;
        return;
    }
    double *r = oc_xmalloc(k->n * sizeof(*r)), *t = oc_xmalloc(k->n * sizeof(*t));
    for (size_t i = 0; i < k->n; i++) {
        const struct oc_cal_datum *d = datum_of(k, i);
        double ln =
            k->cls >= OC_KC_COUNT ? oc_key_ln_time(k, d->fold, i) : m->residual.ln_time[d - m->data.item];
        r[i] = d->ln_t - ln;
        t[i] = exp(ln);
    }
    oc_conformal_make(r, t, k->n, parent, &out->errors);
    for (size_t i = 0; i < k->n; i++)
        r[i] = fabs(r[i]);
    out->lomo_error = calibrate_median_of(r, k->n);
    free(r);
    free(t);
}

static int32_t forest_of(const struct making *m, const struct oc_key_fit *k)
{
    int32_t index = 0;
    if (k->cls >= OC_KC_COUNT)
        return -1;
    unsigned group = oc_kernel_class_group(k->cls);
    for (unsigned g = 0; g < group; g++)
        index += m->residual.forest[g] != NULL;
    return m->residual.forest[group] ? index : -1;
}

static void set_key(const struct making *m, const struct oc_key_fit *k, struct oc_cal_key *out)
{
    uint32_t all = m->data.n_fold;
    *out = (struct oc_cal_key){
        .cls = k->cls,
        .dtype = k->dtype,
        .kind = k->kind,
        .parent = k->parent,
        .curve = oc_key_curve(k, all, m->cal->dram_bytes_per_s),
        .peak_flop_per_s = k->peak,
        .ec_known = k->ec_known,
        .em_known = k->em_known,
        .lambda = k->lambda,
        .residual = forest_of(m, k),
    };
    count_key(m, k, out);
    set_errors(m, k, out);
    if (k->same_as >= 0)
        out->errors = m->cal->key[k->same_as].errors;
}

static void set_keys(struct making *m)
{
    struct oc_calibration *cal = m->cal;
    cal->key = OC_NEW_ARRAY(&cal->arena, m->tree.n_key + 1, struct oc_cal_key);
    for (size_t i = 0; i < m->tree.n_key; i++, cal->n_key++)
        set_key(m, &m->tree.key[i], &cal->key[i]);
}

static void set_forests(struct making *m)
{
    struct oc_calibration *cal = m->cal;
    const struct oc_forest **f = OC_NEW_ARRAY(&cal->arena, OC_KG_COUNT, const struct oc_forest *);
    for (unsigned g = 0; g < OC_KG_COUNT; g++)
        if (m->residual.forest[g])
            f[cal->n_forest++] = m->residual.forest[g];
    cal->forest = f;
}

/* ---- models ----------------------------------------------------------------------------------------- */

/* as predict.c does for a predicted time */
static double kernel_sd(const struct making *m, size_t datum)
{
    const struct oc_cal_errors *e = &m->cal->key[m->tree.leaf[datum].key].errors;
    return oc_conformal_sd(e, exp(m->residual.ln_time[datum]));
}

static struct oc_model_error model_error(const struct making *m, size_t first, size_t end)
{
    double measured = 0, predicted = 0, v = 0;
    for (size_t i = first; i < end; i++) {
        measured += m->data.item[i].t_s * m->data.item[i].repeats;
        predicted += exp(m->residual.ln_time[i]) * m->data.item[i].repeats;
    }
    for (size_t i = first; i < end; i++) {
        double n = m->data.item[i].repeats, share = exp(m->residual.ln_time[i]) * n / predicted;
        v += oc_conformal_variance(share, kernel_sd(m, i), n, OC_CONFORMAL_RHO);
    }
    return (struct oc_model_error){log(measured / predicted), v};
}

static void calibrate_set_models(struct making *m)
{
    struct oc_model_error *e = oc_xmalloc((m->data.n_model + 1) * sizeof(*e));
    size_t n = 0;
    for (size_t i = 0, end; i < m->data.n; i = end) {
        for (end = i; end < m->data.n && m->data.item[end].model == m->data.item[i].model;)
            end++;
        e[n++] = model_error(m, i, end);
    }
    oc_conformal_models(e, m->data.n_fold > 1 ? n : 0, m->cal);
    m->cal->n_model = (uint32_t)n;
    free(e);
}

/* ---- public functions ------------------------------------------------------------------------------- */

static const char *copy_text(struct oc_calibration *cal, const char *s)
{
    return oc_strdup(&cal->arena, s ? s : "");
}

static void set_origin(struct oc_calibration *cal, const struct oc_sample_set *set,
                       const struct oc_device *device, const struct oc_calibrate_opts *opts)
{
    cal->device = copy_text(cal, device->info->id ? device->info->id : set->device);
    cal->runtime = copy_text(cal, set->runtime);
    cal->runtime_version = copy_text(cal, set->runtime_version);
    cal->tool_version = copy_text(cal, opts->tool_version);
    cal->created = copy_text(cal, opts->created);
    cal->threads = set->threads;
    for (size_t i = 0; i + 1 < device->n_level; i++)
        if (device->level[i].size)
            cal->llc_bytes = device->level[i].size->value;
}

static void calibrate_make(struct making *m, const struct oc_device *device,
                           const struct oc_calibrate_opts *opts)
{
    struct oc_arena scratch = {0};
    struct oc_calibration *cal = m->cal;
    oc_key_tree_fit(&scratch, &m->data, device, &m->tree);
    /* keeps the forests, frees the other residual data */
    m->tree.arena = &cal->arena;
    oc_residuals_fit(&m->tree, opts->no_forest, &m->residual);
    cal->dram_bytes_per_s = m->data.item[0].point.dram_bytes_per_s;
    cal->checksum = m->data.checksum;
    cal->n_sample = (uint32_t)m->data.n;
    cal->n_rejected = m->data.n_rejected;
    set_keys(m);
    set_forests(m);
    calibrate_set_models(m);
    oc_cal_fit_wall(&m->data, cal);
    oc_cal_fit_signatures(&m->data, cal);
    oc_arena_free(&scratch);
}

int oc_calibrate(const struct oc_sample_set *set, const struct oc_device *device,
                 const struct oc_calibrate_opts *opts, struct oc_calibration **out, struct oc_err *err)
{
    static const struct oc_calibrate_opts usual = {0};
    struct oc_arena scratch = {0};
    struct making m = {0};
    opts = opts ? opts : &usual;
    *out = NULL;
    oc_cal_data_make(&scratch, set, device, opts->folds ? opts->folds : MAX_FOLDS, opts->by_family, &m.data);
    if (!m.data.n) {
        oc_arena_free(&scratch);
        return oc_fail(err, OC_EARG, "cannot calibrate: no kernel has both a measured time and known counts");
    }
    m.cal = oc_xmalloc(sizeof(*m.cal));
    *m.cal = (struct oc_calibration){0};
    set_origin(m.cal, set, device, opts);
    calibrate_make(&m, device, opts);
    oc_arena_free(&scratch);
    *out = m.cal;
    return 0;
}

void oc_calibration_free(struct oc_calibration *cal)
{
    if (!cal)
        return;
    oc_arena_free(&cal->arena);
    free(cal);
}

const struct oc_cal_key *oc_cal_find_key(const struct oc_calibration *cal, unsigned cls, unsigned dtype)
{
    for (size_t i = 0; i < cal->n_key; i++)
        if (cal->key[i].cls == cls && cal->key[i].dtype == dtype)
            return &cal->key[i];
    return NULL;
}

static int calibrate_by_signature(const void *key, const void *item)
{
    uint64_t a = *(const uint64_t *)key, b = ((const struct oc_cal_signature *)item)->signature;
    return (a > b) - (a < b);
}

const struct oc_cal_signature *oc_cal_find_signature(const struct oc_calibration *cal, uint64_t signature)
{
    if (!signature || !cal->n_signature)
        return NULL;
    return bsearch(&signature, cal->signature, cal->n_signature, sizeof(*cal->signature),
                   calibrate_by_signature);
}

/* ---- calibration make ------------------------------------------------------------------------------- */

/* The public functions for calibrations and their validation, on samples already read. */

static int need_device(const struct oc_samples *s, struct oc_err *err)
{
    if (!s->device)
        return oc_fail(err, OC_EARG, "the measured device is unknown");
    if (!oc_cal_text_ok(s->set.device) || !oc_cal_text_ok(s->set.runtime) ||
        !oc_cal_text_ok(s->set.runtime_version))
        return oc_fail(err, OC_EARG,
                       "the names of device, runtime and version must be short texts of one line");
    return s->set.n ? 0 : oc_fail(err, OC_EARG, "no kernel of the recordings is usable");
}

static uint32_t rejected(const struct oc_samples *s)
{
    uint32_t n = 0;
    for (unsigned i = 0; i < OC_REJECT_COUNT; i++)
        n += s->reject[i].n;
    return n;
}

int oc_calibration_make(const struct oc_samples *samples, const struct oc_calibration_opts *given,
                        struct oc_calibration **out, struct oc_err *err)
{
    OC_C_LOCALE;
    *out = NULL;
    struct oc_calibration_opts full, *const opts = &full;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    struct oc_calibrate_opts o = {.by_family = opts->by_family,
                                  .no_forest = opts->no_forest,
                                  .tool_version = "onnxcost " ONNXCOST_VERSION,
                                  .created = opts->created};
    if (opts->created && !oc_cal_text_ok(opts->created))
        return oc_fail(err, OC_EARG, "the date of the calibration must be a short text");
    if (need_device(samples, err) || oc_calibrate(&samples->set, samples->device, &o, out, err) || !*out)
        return -1;
    (*out)->n_rejected += rejected(samples);
    return 0;
}

int oc_validation_make(const struct oc_samples *samples, const struct oc_validation_opts *given,
                       struct oc_validation_result **out, struct oc_err *err)
{
    OC_C_LOCALE;
    *out = NULL;
    struct oc_validation_opts full, *const opts = &full;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    const struct oc_validate_opts o = {.by_family = opts->by_family, .no_forest = opts->no_forest};
    struct oc_validation_result *r = oc_xmalloc(sizeof(*r));
    *r = (struct oc_validation_result){.samples = samples};
    if (need_device(samples, err) || oc_validate(&samples->set, samples->device, &o, &r->v, err)) {
        free(r);
        return -1;
    }
    *out = r;
    return 0;
}

void oc_validation_result_free(struct oc_validation_result *r)
{
    if (!r)
        return;
    oc_validation_free(r->v);
    free(r);
}
