/* Calibration: from samples to curves, overheads and signatures. */
#include "estimate/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/ck.h"
#include "base/diag.h"
#include "estimate/cal_fit.h"
#include "estimate/samples.h"
#include "estimate/validate.h"
#include "onnxcost.h"
#include "onnxcost/estimate.h"
#include "onnxcost/hardware.h"

#define MAX_FOLDS 16
#define UNSURE    0.6 /* ln-sd where no held-out data exist */

struct making {
    struct oc_calibration *cal;
    struct oc_cal_data data;
    struct oc_key_tree tree;
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

#define MAX_OPS 150 /* the list must fit into an attribute of the file */

static int by_op(const void *a, const void *b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

static void set_ops(const struct making *m, const struct oc_key_fit *k, struct oc_cal_key *out)
{
    uint16_t *op = OC_NEW_ARRAY(&m->cal->arena, k->n + 1, uint16_t);
    size_t n = 0;
    for (size_t i = 0; i < k->n; i++)
        if (datum_of(k, i)->kernel->op)
            op[n++] = datum_of(k, i)->kernel->op;
    qsort(op, n, sizeof(*op), by_op);
    for (size_t i = 0; i < n && out->n_op < MAX_OPS; i++)
        if (!out->n_op || op[out->n_op - 1] != op[i])
            op[out->n_op++] = op[i];
    out->op = op;
}

static void count_key(const struct oc_key_fit *k, struct oc_cal_key *out)
{
    uint32_t last = UINT32_MAX;
    for (size_t i = 0; i < k->n; i++) {
        const struct oc_cal_datum *d = datum_of(k, i);
        set_extent(d->point.flop, &out->flop_min, &out->flop_max);
        set_extent(d->point.bytes, &out->bytes_min, &out->bytes_max);
        out->n_model += d->model != last; /* rows are sorted by model */
        last = d->model;
    }
    out->n = (uint32_t)oc_key_distinct(k);
}

static bool is_micro(const struct making *m, const struct oc_cal_datum *d)
{
    return oc_sample_is_micro(m->data.model[d->model].model);
}

/* Errors of held-out rows: for groups with the group's curve, for others as predicted. Those of networks, if
 * there are enough: sizes of single operators are drawn from a wider range. */
static void set_errors(const struct making *m, const struct oc_key_fit *k, struct oc_cal_key *out)
{
    const struct oc_cal_errors *parent = k->parent >= 0 ? &m->cal->key[k->parent].errors : NULL;
    if (m->data.n_fold < 2) {
        oc_conformal_assume(UNSURE, &out->errors);
        out->lomo_error = NAN;
        return;
    }
    double *r = oc_xmalloc(k->n * sizeof(*r)), *t = oc_xmalloc(k->n * sizeof(*t));
    size_t n = 0, of_networks = 0;
    for (size_t i = 0; i < k->n; i++)
        of_networks += !is_micro(m, datum_of(k, i));
    for (size_t i = 0; i < k->n; i++) {
        const struct oc_cal_datum *d = datum_of(k, i);
        if (of_networks >= OC_CONFORMAL_MIN && is_micro(m, d))
            continue;
        double ln = k->cls >= OC_KC_COUNT ? oc_key_ln_time(k, d->fold, i)
                                          : oc_key_held_out(&m->tree, (size_t)(d - m->data.item));
        r[n] = d->ln_t - ln;
        t[n++] = exp(ln);
    }
    oc_conformal_make(r, t, n, parent, &out->errors);
    for (size_t i = 0; i < n; i++)
        r[i] = fabs(r[i]);
    out->lomo_error = n ? oc_stat_of(OC_STAT_MEDIAN, r, n) : (double)NAN;
    free(r);
    free(t);
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
    };
    count_key(k, out);
    if (k->cls < OC_KC_COUNT)
        set_ops(m, k, out);
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

/* ---- public functions ------------------------------------------------------------------------------- */

static const char *copy_text(struct oc_calibration *cal, const char *s)
{
    return oc_strdup(&cal->arena, s ? s : "");
}

double oc_cal_llc_bytes(const struct oc_device *device)
{
    double bytes = 0;
    for (size_t i = 0; i + 1 < device->n_level; i++)
        if (device->level[i].size)
            bytes = device->level[i].size->value;
    return bytes;
}

void oc_cal_set_origin(struct oc_calibration *cal, const struct oc_sample_set *set,
                       const struct oc_device *device, const char *created)
{
    cal->device = copy_text(cal, device->info->id ? device->info->id : set->device);
    cal->runtime = copy_text(cal, set->runtime);
    cal->runtime_version = copy_text(cal, set->runtime_version);
    cal->tool_version = "onnxcost " ONNXCOST_VERSION;
    cal->created = copy_text(cal, created);
    cal->threads = set->threads;
    cal->llc_bytes = oc_cal_llc_bytes(device);
}

static void calibrate_make(struct making *m, const struct oc_device *device)
{
    struct oc_arena scratch = {0};
    struct oc_calibration *cal = m->cal;
    oc_key_tree_fit(&scratch, &m->data, device, &m->tree);
    cal->dram_bytes_per_s = m->data.item[0].point.dram_bytes_per_s;
    cal->checksum = m->data.checksum;
    cal->n_sample = (uint32_t)m->data.n;
    cal->n_rejected = m->data.n_rejected;
    set_keys(m);
    cal->n_model = (uint32_t)m->data.n_model;
    oc_conformal_models(NULL, 0, OC_CONFORMAL_ALL, cal);
    cal->tau = UNSURE;
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
    oc_cal_data_make(&scratch, set, device, opts->folds ? opts->folds : MAX_FOLDS, &m.data);
    if (!m.data.n) {
        oc_arena_free(&scratch);
        return oc_fail(err, OC_EARG, "cannot calibrate: no kernel has both a measured time and known counts");
    }
    m.cal = oc_xmalloc(sizeof(*m.cal));
    *m.cal = (struct oc_calibration){0};
    oc_cal_set_origin(m.cal, set, device, opts->created);
    calibrate_make(&m, device);
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

#define GAP_LEAST (-0.9) /* of a kernel: the maximum profiling overhead */

double oc_cal_gap(const struct oc_calibration *cal, double kernel_s)
{
    return fmax(cal->gap_s * oc_cal_gap_part(kernel_s), GAP_LEAST * kernel_s);
}

/* What the device file says of the vector unit decides; without a known word in it: AVX-512. */
static enum oc_fusion_rules rules_of_cpu(const struct oc_device *device)
{
    static const struct {
        const char *word;
        enum oc_fusion_rules rules;
    } words[] = {{"avx512", OC_FUSE_ORT_CPU}, {"avx-512", OC_FUSE_ORT_CPU}, {"avx", OC_FUSE_ORT_AVX2},
                 {"sse", OC_FUSE_ORT_AVX2},   {"neon", OC_FUSE_ORT_NEON},   {"asimd", OC_FUSE_ORT_NEON},
                 {"sve", OC_FUSE_ORT_NEON}};
    for (size_t w = 0; w < OC_COUNT(words); w++)
        for (size_t i = 0; i < device->n_figure; i++) {
            const struct oc_hw_figure *f = &device->figure[i];
            const char *text = f->isa ? f->isa : f->unit_name;
            if (text && !strcmp(f->group, "vector") && strcasestr(text, words[w].word))
                return words[w].rules;
        }
    return OC_FUSE_ORT_CPU;
}

enum oc_fusion_rules oc_fusion_rules_of(const char *runtime, const struct oc_device *device)
{
    bool ort = !runtime || !strcmp(runtime, "onnxruntime");
    return ort && oc_cal_device_kind(device) == OC_CAL_CPU ? rules_of_cpu(device) : OC_FUSE_GENERIC;
}

int oc_fusion_choose(const char *runtime, const struct oc_device *device, const char *name, const char *simd,
                     enum oc_fusion_rules *out, struct oc_err *err)
{
    unsigned of_ort = oc_fusion_rules_of("onnxruntime", device);
    unsigned given = name ? oc_fusion_rules_by_name(name) : (unsigned)oc_fusion_rules_of(runtime, device);
    if (given == OC_FUSE_COUNT)
        return oc_fail(err, OC_EARG,
                       "unknown fusion rules '%s'; available: onnxruntime, generic, none, onnxruntime-basic, "
                       "onnxruntime-extended",
                       name);
    if (simd && !oc_fusion_simd(given))
        return oc_fail(
            err, OC_EARG,
            "the instruction set '%s' is for the fusion rules 'onnxruntime' with all optimizations, "
            "not for '%s'",
            simd, oc_fusion_rules_name(given));
    if (simd && oc_fusion_rules_by_simd(simd) == OC_FUSE_COUNT)
        return oc_fail(err, OC_EARG, "unknown instruction set '%s'; available: avx512, avx2, neon", simd);
    if (simd)
        given = oc_fusion_rules_by_simd(simd);
    else if (oc_fusion_simd(given) && oc_fusion_simd(of_ort))
        given = of_ort;
    *out = (enum oc_fusion_rules)given;
    return 0;
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

int oc_samples_need_device(const struct oc_samples *s, struct oc_err *err)
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
    OC_ENTRY(err);
    *out = NULL;
    struct oc_calibration_opts full, *const opts = &full;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    struct oc_calibrate_opts o = {.created = opts->created};
    if (opts->created && !oc_cal_text_ok(opts->created))
        return oc_fail(err, OC_EARG, "the date of the calibration must be a short text");
    if (oc_samples_need_device(samples, err) || oc_calibrate(&samples->set, samples->device, &o, out, err) ||
        !*out)
        return -1;
    (*out)->n_rejected += rejected(samples);
    oc_validation_model_errors(&samples->set, samples->device, *out);
    return 0;
}

/* ---- cal wall --------------------------------------------------------------------------------------- */

#define ROUNDS       10
#define HUBER_WALL   0.05 /* share of the wall time */
#define SPREAD_LEAST 0.01
#define SPREAD_USUAL 0.05

/* ---- wall = kernels + t_fix + gap * gap_sum --------------------------------------------------------- */

struct wall {
    double gaps, rest, scale, weight; /* gap_sum, wall time minus kernel time, wall time */
};

static size_t collect_walls(const struct oc_cal_data *d, struct wall *out)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n_model; i++) {
        const struct oc_cal_model *m = &d->model[i];
        double wall = m->model->plain_s > 0 ? m->model->plain_s : m->model->run_s;
        double sum = m->model->kernels_s > 0 ? m->model->kernels_s : m->kernels_s;
        double gaps = m->model->kernels ? m->model->gap_sum : m->gap_sum;
        if (wall > 0 && isfinite(wall) && sum > 0 && gaps > 0)
            out[n++] = (struct wall){gaps, wall - sum, wall, 1};
    }
    return n;
}

/* Weighted least squares of rest / scale; t_fix >= 0. */
static void cal_fit_solve(const struct wall *w, size_t n, double *fix, double *gap)
{
    double s11 = 0, s12 = 0, s22 = 0, b1 = 0, b2 = 0;
    for (size_t i = 0; i < n; i++) {
        double q = w[i].weight / (w[i].scale * w[i].scale);
        s11 += q;
        s12 += q * w[i].gaps;
        s22 += q * w[i].gaps * w[i].gaps;
        b1 += q * w[i].rest;
        b2 += q * w[i].rest * w[i].gaps;
    }
    double det = s11 * s22 - s12 * s12;
    *fix = fmax(det > 1e-9 * s11 * s22 ? (b1 * s22 - b2 * s12) / det : 0, 0);
    *gap = (b2 - *fix * s12) / s22;
}

void oc_cal_fit_wall(const struct oc_cal_data *d, struct oc_calibration *out)
{
    struct wall *w = oc_xmalloc((d->n_model + 1) * sizeof(*w));
    size_t n = collect_walls(d, w);
    out->t_fix_s = out->gap_s = 0;
    for (int round = 0; n && round < ROUNDS; round++) {
        cal_fit_solve(w, n, &out->t_fix_s, &out->gap_s);
        for (size_t i = 0; i < n; i++) {
            double r = fabs(w[i].rest - out->t_fix_s - out->gap_s * w[i].gaps) / w[i].scale;
            w[i].weight = r > HUBER_WALL ? HUBER_WALL / r : 1;
        }
    }
    free(w);
}

/* ---- signatures ------------------------------------------------------------------------------------- */

struct seen {
    uint64_t signature;
    double ln_t, spread;
    uint32_t fold, runs;
};

static int cal_fit_by_signature(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    if (x->signature != y->signature)
        return x->signature < y->signature ? -1 : 1;
    if (x->ln_t != y->ln_t)
        return x->ln_t < y->ln_t ? -1 : 1;
    if (x->fold != y->fold)
        return x->fold < y->fold ? -1 : 1;
    return oc_by_double(&x->spread, &y->spread);
}

static double median_ln(const struct seen *s, size_t n)
{
    return (s[(n - 1) / 2].ln_t + s[n / 2].ln_t) / 2;
}

/* Compares each recording of the signature with the median of those of other networks. */
static size_t held_against(const struct seen *s, size_t n, struct seen *others, double *r, double *t)
{
    size_t out = 0;
    for (size_t i = 0; i < n; i++) {
        size_t m = 0;
        for (size_t j = 0; j < n; j++)
            if (s[j].fold != s[i].fold)
                others[m++] = s[j];
        if (!m)
            continue;
        double known = median_ln(others, m);
        r[out] = s[i].ln_t - known;
        t[out++] = exp(known);
    }
    return out;
}

static double cal_fit_spread_of(const struct seen *s, size_t n, double between)
{
    double sum = 0;
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(s[i].spread)) {
            sum += s[i].spread * s[i].spread;
            k++;
        }
    double within = k ? sqrt(sum / (double)k) : SPREAD_USUAL;
    return fmax(SPREAD_LEAST, between > 0 ? between : within);
}

static size_t next_signature(const struct seen *s, size_t i, size_t n)
{
    size_t end = i;
    while (end < n && s[end].signature == s[i].signature)
        end++;
    return end;
}

static void cal_fit_fill(const struct seen *s, size_t n, struct oc_calibration *out)
{
    double between = out->again.n >= OC_CONFORMAL_MIN ? out->again.sd : 0;
    for (size_t i = 0, end; i < n; i = end) {
        end = next_signature(s, i, n);
        uint32_t runs = 0;
        for (size_t j = i; j < end; j++)
            runs += s[j].runs;
        out->signature[out->n_signature++] = (struct oc_cal_signature){
            s[i].signature, exp(median_ln(s + i, end - i)), cal_fit_spread_of(s + i, end - i, between), runs};
    }
}

void oc_cal_fit_signatures(const struct oc_cal_data *d, struct oc_calibration *out)
{
    struct seen *s = oc_xmalloc((d->n + 1) * sizeof(*s)), *others = oc_xmalloc((d->n + 1) * sizeof(*s));
    double *r = oc_xmalloc((d->n + 1) * sizeof(*r)), *t = oc_xmalloc((d->n + 1) * sizeof(*t));
    size_t n = 0, k = 0;
    for (size_t i = 0; i < d->n; i++)
        if (d->item[i].signature && !oc_sample_is_micro(d->model[d->item[i].model].model))
            s[n++] = (struct seen){d->item[i].signature, d->item[i].ln_t, d->item[i].spread, d->item[i].fold,
                                   d->item[i].runs};
    qsort(s, n, sizeof(*s), cal_fit_by_signature);
    for (size_t i = 0, end; i < n; i = end) {
        end = next_signature(s, i, n);
        k += held_against(s + i, end - i, others, r + k, t + k);
    }
    oc_conformal_make(r, t, k, NULL, &out->again);
    out->signature = OC_NEW_ARRAY(&out->arena, n + 1, struct oc_cal_signature);
    cal_fit_fill(s, n, out);
    free(s);
    free(others);
    free(r);
    free(t);
}
