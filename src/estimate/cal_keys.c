/* The tree of keys of a calibration: priors, folds, strength of the priors, models of the error. */
#include "estimate/cal_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "onnxcost/hardware.h"

#define MIN_SIGNATURES 8
#define MIN_DECADES    1.0
#define STEPS          12 /* iterations of a fit with a good start */
#define HELD_LOSS      1.05

/* ln-sd of a group around the shipped prior, of a class around its group, of a type around its class */
static const double level_sd[3][OC_CFIT_PARAMS] = {
    {1.0, OC_PRIOR_LN_SD, 1.5, OC_PRIOR_LN_SD, 1.5, 0.7},
    {0.7, 1.0, 1.0, OC_PRIOR_LN_SD, 1.0, 0.5},
    {0.3, 0.5, 0.7, 0.3, 0.7, 0.3},
};
#define GAIN_SD    0.3 /* for the bandwidth of a cache given in the device's file */
#define FAR        0.7 /* cap of errors when choices are compared: larger ones are equally bad */
#define LIGHT_SD   1.5 /* prior sd of Ec for classes that hardly compute, which the table does not list */
#define ASSUMED_SD 2.0 /* of an efficiency relative to a substitute peak */

static const double lambdas[] = {1, 0.1, 10};

static unsigned cal_keys_level_of(const struct oc_key_fit *k)
{
    return k->cls >= OC_KC_COUNT ? 0 : k->dtype == OC_CLASS_NONE ? 1 : 2;
}

/* ---- priors ----------------------------------------------------------------------------------------- */

static struct oc_cfit_theta shipped(enum oc_cal_device kind, unsigned cls)
{
    struct oc_cal_curve c = oc_curve_shipped(kind, cls, 1, 1);
    return (struct oc_cfit_theta){
        {log(c.t0_s), log(c.ec), log(c.w_half_flop), log(c.em), log(c.b_half_bytes), log(c.wc)}};
}

static struct oc_cfit_prior prior_of(const struct oc_key_tree *t, const struct oc_key_fit *k, uint32_t fold)
{
    struct oc_cfit_prior p = {.lambda = 1};
    unsigned level = cal_keys_level_of(k);
    p.mean = level ? t->key[k->parent].theta[fold]
                   : shipped(t->data->kind, oc_curve_reference(k->cls - (unsigned)OC_KC_COUNT));
    p.mean.x[OC_CFIT_EC] += k->ec_shift;
    p.mean.x[OC_CFIT_EM] += k->em_shift;
    memcpy(p.sd.x, level_sd[level], sizeof(p.sd.x));
    if (!level && k->row[0].datum->point.llc_gain > 0) {
        p.mean.x[OC_CFIT_WC] = log(fmin(8, fmax(1, k->row[0].datum->point.llc_gain)));
        p.sd.x[OC_CFIT_WC] = GAIN_SD;
    }
    for (size_t i = 0; i < k->n; i++) {
        const struct oc_cal_point *q = &k->row[i].datum->point;
        if (isnan(oc_curve_prior(t->data->kind, q->cls).ec) && level == 1)
            p.sd.x[OC_CFIT_EC] = LIGHT_SD;
        if (q->tc_assumed && !level)
            p.sd.x[OC_CFIT_EC] = ASSUMED_SD;
        if (q->tm_assumed && !level)
            p.sd.x[OC_CFIT_EM] = ASSUMED_SD;
    }
    return p;
}

/* ---- predictions of rows ---------------------------------------------------------------------------- */

struct oc_cal_curve oc_key_curve(const struct oc_key_fit *k, uint32_t fold, double dram)
{
    return oc_cfit_curve(&k->theta[fold], &k->choice, k->peak, dram);
}

double oc_key_ln_time(const struct oc_key_fit *k, uint32_t fold, size_t row)
{
    return oc_cfit_ln_time(&k->theta[fold], &k->choice, &k->row[row], NULL);
}

double oc_key_held_out(const struct oc_key_tree *t, size_t datum)
{
    const struct oc_leaf *l = &t->leaf[datum];
    return oc_key_ln_time(&t->key[l->key], t->data->item[datum].fold, l->row);
}

/* ---- folds ------------------------------------------------------------------------------------------ */

static bool has_fold(const struct oc_key_fit *k, uint32_t fold)
{
    for (size_t i = 0; i < k->n; i++)
        if (k->row[i].datum->fold == fold)
            return true;
    return false;
}

static struct oc_cfit_set rows_without_fold(const struct oc_key_fit *k, uint32_t fold,
                                            struct oc_cfit_row *copy)
{
    size_t n = 0;
    for (size_t i = 0; i < k->n; i++)
        if (k->row[i].datum->fold != fold)
            copy[n++] = k->row[i];
    return (struct oc_cfit_set){copy, n};
}

static double held_out_error(const struct oc_key_fit *k, const struct oc_cfit_theta *theta)
{
    double sum = 0, weight = 0;
    for (size_t i = 0; i < k->n; i++) {
        const struct oc_cal_datum *d = k->row[i].datum;
        double r = d->ln_t - oc_cfit_ln_time(&theta[d->fold], &k->choice, &k->row[i], NULL);
        sum += d->weight * fmin(FAR, fabs(r));
        weight += d->weight;
    }
    return weight > 0 ? sum / weight : 0;
}

struct held { /* parameters without data stay at their priors */
    bool param[OC_CFIT_PARAMS];
};

static void hold_parameters(const struct held *h, struct oc_cfit_prior *p, struct oc_cfit_theta *start)
{
    for (unsigned j = 0; j < OC_CFIT_PARAMS; j++)
        if (h->param[j]) {
            p->sd.x[j] = 0;
            start->x[j] = p->mean.x[j];
        }
}

static void fit_folds(const struct oc_key_tree *t, const struct oc_key_fit *k, const struct held *h,
                      double lambda, struct oc_cfit_theta *theta)
{
    uint32_t all = t->data->n_fold;
    struct oc_cfit_row *copy = oc_xmalloc((k->n + 1) * sizeof(*copy));
    for (uint32_t f = all + 1; f-- > 0;) {
        theta[f] = f == all ? k->theta[all] : theta[all];
        if (f < all && !has_fold(k, f))
            continue;
        struct oc_cfit_set set =
            f == all ? (struct oc_cfit_set){k->row, k->n} : rows_without_fold(k, f, copy);
        struct oc_cfit_prior p = prior_of(t, k, f);
        p.lambda = lambda;
        hold_parameters(h, &p, &theta[f]);
        oc_cfit_refine(&set, &k->choice, &p, STEPS, &theta[f]);
    }
    free(copy);
}

/* Selects the weight of the prior that predicts held-out models best. */
static void fit_lambda(const struct oc_key_tree *t, struct oc_key_fit *k, const struct held *h)
{
    size_t n = (size_t)t->data->n_fold + 1;
    struct oc_cfit_theta *theta = oc_xmalloc(n * sizeof(*theta)), *best = oc_xmalloc(n * sizeof(*theta));
    k->curve_error = INFINITY;
    /* a group is only the start of its classes: a coarse fit is enough */
    for (size_t i = 0; i < (cal_keys_level_of(k) ? OC_COUNT(lambdas) : 1); i++) {
        fit_folds(t, k, h, lambdas[i], theta);
        double error = held_out_error(k, theta);
        if (error < k->curve_error) {
            k->curve_error = error;
            k->lambda = lambdas[i];
            memcpy(best, theta, n * sizeof(*theta));
        }
    }
    memcpy(k->theta, best, n * sizeof(*theta));
    free(theta);
    free(best);
}

/* ---- one key ---------------------------------------------------------------------------------------- */

static double decades(const struct oc_key_fit *k)
{
    double flop[2] = {INFINITY, 0}, bytes[2] = {INFINITY, 0};
    for (size_t i = 0; i < k->n; i++) {
        const struct oc_cal_point *p = &k->row[i].datum->point;
        flop[0] = fmin(flop[0], p->flop > 0 ? p->flop : INFINITY);
        flop[1] = fmax(flop[1], p->flop);
        bytes[0] = fmin(bytes[0], p->bytes > 0 ? p->bytes : INFINITY);
        bytes[1] = fmax(bytes[1], p->bytes);
    }
    double f = flop[1] > 0 ? log10(flop[1] / flop[0]) : 0, b = bytes[1] > 0 ? log10(bytes[1] / bytes[0]) : 0;
    return fmax(f, b);
}

/* Kernels without a signature count as distinct. */
size_t oc_key_distinct(const struct oc_key_fit *k)
{
    uint64_t *s = oc_xmalloc((k->n + 1) * sizeof(*s));
    size_t n = 0;
    for (size_t i = 0; i < k->n; i++)
        s[i] = k->row[i].datum->signature;
    qsort(s, k->n, sizeof(*s), oc_by_u64);
    for (size_t i = 0; i < k->n; i++)
        n += s[i] == 0 || i == 0 || s[i] != s[i - 1];
    free(s);
    return n;
}

static void take_parent(const struct oc_key_tree *t, struct oc_key_fit *k)
{
    k->kind = OC_CAL_PARENT;
    k->lambda = NAN;
    if (k->parent >= 0)
        k->choice = t->key[k->parent].choice;
    else
        k->choice = (struct oc_cfit_choice){.p = 1, .alpha = t->alpha[0], .align = 1};
    for (uint32_t f = 0; f <= t->data->n_fold; f++)
        k->theta[f] = prior_of(t, k, f).mean;
    oc_cfit_align_rows(k->row, k->n, &k->choice);
    k->curve_error = held_out_error(k, k->theta);
}

/* Efficiencies without samples stay at the prior, unless the data contradict it. */
static struct held hold_unknown(const struct oc_key_tree *t, struct oc_key_fit *k)
{
    uint32_t all = t->data->n_fold;
    struct oc_cfit_set set = {k->row, k->n};
    struct held h = {{false}};
    oc_cfit_known(&set, &k->choice, &k->theta[all], &k->ec_known, &k->em_known);
    h.param[OC_CFIT_EC] = h.param[OC_CFIT_TW] = !k->ec_known;
    h.param[OC_CFIT_EM] = h.param[OC_CFIT_TB] = !k->em_known;
    struct oc_cfit_prior p = prior_of(t, k, all), held_prior = p;
    struct oc_cfit_theta free_theta = k->theta[all], theta = k->theta[all];
    hold_parameters(&h, &held_prior, &theta);
    double held_loss = oc_cfit_refine(&set, &k->choice, &held_prior, STEPS, &theta);
    double loss = oc_cfit_refine(&set, &k->choice, &p, 1, &free_theta);
    if (held_loss > HELD_LOSS * loss + 1e-6 * (double)k->n)
        return (struct held){{false}};
    k->theta[all] = theta;
    return h;
}

static void fit_key(const struct oc_key_tree *t, struct oc_key_fit *k)
{
    uint32_t all = t->data->n_fold;
    unsigned level = cal_keys_level_of(k);
    if (level && (oc_key_distinct(k) < MIN_SIGNATURES || decades(k) < MIN_DECADES)) {
        take_parent(t, k);
        return;
    }
    struct oc_cfit_space space = {.n_alpha = t->n_alpha};
    memcpy(space.alpha, t->alpha, sizeof(space.alpha));
    space.align = level && k->row[0].datum->point.k > 0;
    space.tiles = space.align && k->row[0].datum->point.units > 0;
    struct oc_cfit_prior prior = prior_of(t, k, all);
    oc_cfit_search(k->row, k->n, &space, &prior, &k->choice, &k->theta[all]);
    oc_cfit_align_rows(k->row, k->n, &k->choice);
    struct held h = hold_unknown(t, k);
    fit_lambda(t, k, &h);
    k->kind = OC_CAL_CURVE;
}

/* ---- the tree --------------------------------------------------------------------------------------- */

static bool belongs(const struct oc_cal_datum *d, unsigned cls, unsigned dtype)
{
    if (cls >= OC_KC_COUNT)
        return oc_kernel_class_group(d->point.cls) == cls - (unsigned)OC_KC_COUNT;
    return d->point.cls == cls && (dtype == OC_CLASS_NONE || d->point.dtype == dtype);
}

static double median_peak(const struct oc_key_fit *k)
{
    double *v = oc_xmalloc(k->n * sizeof(*v));
    for (size_t i = 0; i < k->n; i++)
        v[i] = k->row[i].datum->point.peak_flop_per_s;
    qsort(v, k->n, sizeof(*v), oc_by_double);
    double m = v[k->n / 2];
    free(v);
    return m;
}

static double ec_of(enum oc_cal_device kind, unsigned cls)
{
    return oc_curve_shipped(kind, cls, 1, 1).ec;
}

static double em_of(enum oc_cal_device kind, unsigned cls)
{
    return oc_curve_shipped(kind, cls, 1, 1).em;
}

static void set_offsets(const struct oc_key_tree *t, struct oc_key_fit *k)
{
    enum oc_cal_device kind = t->data->kind;
    unsigned ref = k->cls >= OC_KC_COUNT ? oc_curve_reference(k->cls - (unsigned)OC_KC_COUNT)
                                         : oc_curve_reference(oc_kernel_class_group(k->cls));
    if (cal_keys_level_of(k) == 1) {
        k->ec_shift = log(ec_of(kind, k->cls) / ec_of(kind, ref));
        k->em_shift = log(em_of(kind, k->cls) / em_of(kind, ref));
    }
    for (size_t i = 0; i < k->n; i++) {
        struct oc_cfit_row *r = &k->row[i];
        unsigned cls = r->datum->point.cls;
        bool group = cal_keys_level_of(k) == 0;
        r->ec_off = group ? ec_of(kind, cls) / ec_of(kind, ref) : 1;
        r->em_off = group ? em_of(kind, cls) / em_of(kind, ref) : 1;
        r->peak = group ? r->datum->point.peak_flop_per_s : k->peak;
        r->q = 1;
    }
}

/* NULL: the key has no data. */
static struct oc_key_fit *cal_keys_add_key(struct oc_key_tree *t, unsigned cls, unsigned dtype,
                                           int32_t parent)
{
    const struct oc_cal_data *d = t->data;
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++)
        n += belongs(&d->item[i], cls, dtype);
    if (!n)
        return NULL;
    struct oc_key_fit *k = &t->key[t->n_key++];
    *k = (struct oc_key_fit){.cls = (uint8_t)cls, .dtype = (uint8_t)dtype, .parent = parent, .same_as = -1};
    k->row = OC_NEW_ARRAY(t->arena, n, struct oc_cfit_row);
    k->theta = OC_NEW_ARRAY(t->arena, (size_t)d->n_fold + 1, struct oc_cfit_theta);
    for (size_t i = 0; i < d->n; i++)
        if (belongs(&d->item[i], cls, dtype))
            k->row[k->n++].datum = &d->item[i];
    k->peak = median_peak(k);
    set_offsets(t, k);
    return k;
}

static void set_leaves(struct oc_key_tree *t, const struct oc_key_fit *k)
{
    for (size_t i = 0; i < k->n; i++)
        t->leaf[k->row[i].datum - t->data->item] = (struct oc_leaf){(int32_t)(k - t->key), i};
}

static void add_types(struct oc_key_tree *t, int32_t parent)
{
    for (unsigned dtype = 0; dtype < OC_CLASS_COUNT; dtype++) {
        if (dtype == OC_CLASS_NONE)
            continue;
        struct oc_key_fit *k = cal_keys_add_key(t, t->key[parent].cls, dtype, parent);
        if (!k)
            continue;
        struct oc_key_fit whole = t->key[parent];
        if (k->n == whole.n) {
            whole.dtype = (uint8_t)dtype;
            whole.parent = parent;
            whole.same_as = parent;
            *k = whole;
        } else {
            fit_key(t, k);
        }
        set_leaves(t, k);
    }
}

static void set_alpha(struct oc_key_tree *t, const struct oc_device *d)
{
    const struct oc_hw_level *cache[2] = {NULL, NULL}; /* the last and the previous one */
    unsigned n = 0;
    for (size_t i = d->n_level > 1 ? d->n_level - 1 : 0; i-- > 0 && n < 2;)
        if (d->level[i].size && d->level[i].size->value > 0)
            cache[n++] = &d->level[i];
    t->alpha[t->n_alpha++] = OC_PRIOR_ALPHA;
    if (cache[1] && cache[1]->size->value < cache[0]->size->value)
        for (int part = 1; part <= 4; part *= 2) /* bisection */
            t->alpha[t->n_alpha++] = part * 0.5 * cache[1]->size->value / cache[0]->size->value;
}

void oc_key_tree_fit(struct oc_arena *a, const struct oc_cal_data *data, const struct oc_device *device,
                     struct oc_key_tree *out)
{
    *out = (struct oc_key_tree){.arena = a, .data = data};
    set_alpha(out, device);
    out->key = OC_NEW_ARRAY(a, OC_KG_COUNT + OC_KC_COUNT * (1 + OC_CLASS_COUNT), struct oc_key_fit);
    out->leaf = OC_NEW_ARRAY(a, data->n + 1, struct oc_leaf);
    for (unsigned g = 0; g < OC_KG_COUNT; g++) {
        struct oc_key_fit *group = cal_keys_add_key(out, OC_KC_COUNT + g, OC_CLASS_NONE, -1);
        if (!group)
            continue;
        fit_key(out, group);
        for (unsigned c = 0; c < OC_KC_COUNT; c++) {
            struct oc_key_fit *cls =
                oc_kernel_class_group(c) == (enum oc_kernel_group)g
                    ? cal_keys_add_key(out, c, OC_CLASS_NONE, (int32_t)(group - out->key))
                    : NULL;
            if (!cls)
                continue;
            fit_key(out, cls);
            set_leaves(out, cls);
            add_types(out, (int32_t)(cls - out->key));
        }
    }
}
