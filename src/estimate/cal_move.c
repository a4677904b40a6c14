/* A calibration moved to another machine or number of threads by a few recordings there. Few parameters change: what the profiler
 * adds to each kernel, one factor for launches, and one for the rest of the time for each curve, which is drawn to that of its
 * parent where recordings are few. The shapes of the curves stay, and so do the intervals: they are those of kernels about their
 * curve. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/c_locale.h"
#include "estimate/cal_fit.h"
#include "estimate/predict.h"
#include "onnxcost/estimate.h"
#include "profile/profile.h"

#define ROUNDS    4
#define PULL      3.0  /* the parent's factor counts as that many kernels */
#define MAIN_PART 0.5  /* of a time: kernels with less of a part say nothing about its factor */
#define LEAST     0.1  /* of the time of a kernel, for what is left after its other parts */
#define SHORT_S   1e-6 /* shorter launches are lost in what the profiler adds */
#define MANY_RUNS 4    /* recordings with the time of a run without a profiler, for what the profiler adds */

/* A kernel: its time here without the profiler's part, and the parts of the time that the other calibration predicts. */
struct move_row {
    double t_s, launch_s, rest_s;
    int32_t key;
};

struct move {
    struct oc_calibration *cal; /* a copy of the other one without its kernels */
    struct oc_cal_data data;
    struct move_row *row;
    size_t n;
    double added_there_s, added_here_s; /* by the profiler to each kernel */
    double launch;                      /* factor */
    double *factor;                     /* of each key */
    double peak;                        /* peak here over that of the other machine */
};

/* The launch of a kernel without what the profiler adds. */
static double net_launch(const struct move *m, double t0_s)
{
    return fmax(t0_s - m->added_there_s, LEAST * t0_s);
}

static void add_row(struct move *m, const struct oc_cal_datum *d, const struct oc_device *device,
                    double *peak)
{
    struct oc_prediction p;
    const struct oc_predict_opts opts = {.const_bytes = m->data.model[d->model].model->const_bytes};
    oc_predict_kernel(m->cal, device, d->kernel, &opts, &p);
    if (p.key < 0 || !(p.t_s > p.assists_s))
        return;
    double t = p.t_s - p.assists_s, t0 = fmin(p.t0_s, t);
    if (!(d->t_s > 0))
        return;
    peak[m->n] = log(d->point.peak_flop_per_s / m->cal->key[p.key].peak_flop_per_s);
    m->row[m->n++] =
        (struct move_row){fmax(d->t_s - m->added_here_s, LEAST * d->t_s), net_launch(m, t0), t - t0, p.key};
}

static bool is_below(const struct move *m, int32_t key, size_t top)
{
    for (; key >= 0; key = m->cal->key[key].parent)
        if ((size_t)key == top)
            return true;
    return false;
}

/* The median of n logarithms, drawn to `parent` (a logarithm too). Sorts them. */
static double drawn(double *ln, size_t n, double parent)
{
    double median = n ? oc_stat_of(OC_STAT_MEDIAN, ln, n) : 0;
    return (PULL * parent + (double)n * median) / (PULL + (double)n);
}

static double launch_factor(const struct move *m, double *ln)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++) {
        const struct move_row *r = &m->row[i];
        if (r->launch_s < SHORT_S || r->launch_s < MAIN_PART * (r->launch_s + r->rest_s))
            continue;
        double t = fmax(r->t_s - m->factor[r->key] * r->rest_s, LEAST * r->t_s);
        ln[n++] = log(t / r->launch_s);
    }
    return exp(drawn(ln, n, 0));
}

/* top SIZE_MAX: of all kernels. */
static double rest_factor(const struct move *m, size_t top, double parent, double *ln)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++) {
        const struct move_row *r = &m->row[i];
        if (r->rest_s < MAIN_PART * (r->launch_s + r->rest_s) ||
            (top != SIZE_MAX && !is_below(m, r->key, top)))
            continue;
        double t = fmax(r->t_s - m->launch * r->launch_s, LEAST * r->t_s);
        ln[n++] = log(t / r->rest_s);
    }
    return exp(drawn(ln, n, log(parent)));
}

/* A key's parent may come after it: the paths to the roots end (cal_read.c). */
static double key_factor(const struct move *m, int32_t key, double all, double *ln)
{
    return key < 0 ? all : rest_factor(m, (size_t)key, key_factor(m, m->cal->key[key].parent, all, ln), ln);
}

static void fit(struct move *m)
{
    double *ln = oc_xmalloc((m->n + 1) * sizeof(*ln));
    m->launch = 1;
    for (int round = 0; round < ROUNDS; round++) {
        double all = rest_factor(m, SIZE_MAX, 1, ln);
        for (size_t k = 0; k < m->cal->n_key; k++)
            m->factor[k] = key_factor(m, (int32_t)k, all, ln);
        m->launch = launch_factor(m, ln);
    }
    free(ln);
}

static void move_curves(struct move *m, double dram_bytes_per_s)
{
    double dram = m->cal->dram_bytes_per_s > 0 ? dram_bytes_per_s / m->cal->dram_bytes_per_s : 1;
    for (size_t i = 0; i < m->cal->n_key; i++) {
        struct oc_cal_key *k = &m->cal->key[i];
        k->curve.t0_s = m->added_here_s + m->launch * net_launch(m, k->curve.t0_s);
        k->curve.ec /= m->factor[i];
        k->curve.em /= m->factor[i];
        k->curve.w_half_flop *= m->peak;
        k->curve.b_half_bytes *= dram;
        k->peak_flop_per_s *= m->peak;
        for (unsigned b = 0; b + 1 < OC_CAL_BINS; b++)
            k->errors.bound_s[b] *= m->factor[i];
    }
    m->cal->dram_bytes_per_s = dram_bytes_per_s;
}

static struct oc_calibration *copy_without_kernels(const struct oc_calibration *base)
{
    struct oc_calibration *c = oc_xmalloc(sizeof(*c));
    *c = *base;
    c->arena = (struct oc_arena){0};
    c->signature = NULL;
    c->n_signature = 0;
    c->key = OC_NEW_ARRAY(&c->arena, base->n_key, struct oc_cal_key);
    for (size_t i = 0; i < base->n_key; i++) {
        c->key[i] = base->key[i];
        uint16_t *op = OC_NEW_ARRAY(&c->arena, base->key[i].n_op, uint16_t);
        for (uint32_t k = 0; k < base->key[i].n_op; k++)
            op[k] = base->key[i].op[k];
        c->key[i].op = op;
    }
    return c;
}

/* What the profiler adds there and here: from times of runs without it, else taken to be the same. */
static void fit_profiler(struct move *m)
{
    double *gap = oc_xmalloc((m->data.n_model + 1) * sizeof(*gap));
    size_t n = 0;
    m->added_there_s = m->added_here_s = fmax(-m->cal->gap_s, 0);
    for (size_t i = 0; i < m->data.n_model; i++) {
        const struct oc_sample_model *x = m->data.model[i].model;
        if (x->plain_s > 0 && x->kernels_s > 0 && x->gap_sum > 0)
            gap[n++] = (x->plain_s - m->cal->t_fix_s - x->kernels_s) / x->gap_sum;
    }
    if (n >= MANY_RUNS) {
        m->cal->gap_s = oc_stat_of(OC_STAT_MEDIAN, gap, n);
        m->added_here_s = fmax(-m->cal->gap_s, 0);
    }
    free(gap);
}

static int move_make(struct move *m, const struct oc_samples *s, struct oc_arena *scratch, struct oc_err *err)
{
    struct oc_calibration *c = m->cal;
    oc_cal_data_make(scratch, &s->set, s->device, 1, &m->data);
    m->row = OC_NEW_ARRAY(scratch, m->data.n, struct move_row);
    m->factor = OC_NEW_ARRAY(scratch, c->n_key, double);
    double *peak = OC_NEW_ARRAY(scratch, m->data.n, double);
    for (size_t k = 0; k < c->n_key; k++)
        m->factor[k] = 1;
    fit_profiler(m);
    for (size_t i = 0; i < m->data.n; i++)
        add_row(m, &m->data.item[i], s->device, peak);
    if (!m->n)
        return oc_fail(err, OC_EARG, "no kernel of the recordings has a curve in the calibration");
    m->peak = exp(oc_stat_of(OC_STAT_MEDIAN, peak, m->n));
    fit(m);
    move_curves(m, m->data.item[0].point.dram_bytes_per_s);
    struct oc_cal_errors again = c->again;
    oc_cal_fit_signatures(&m->data, c);
    c->again = again;
    c->checksum = m->data.checksum;
    c->n_sample = (uint32_t)m->data.n;
    c->n_model = (uint32_t)m->data.n_model;
    c->n_rejected = m->data.n_rejected;
    return 0;
}

int oc_calibration_move(const struct oc_calibration *base, const struct oc_samples *s,
                        const struct oc_calibration_opts *given, struct oc_calibration **out,
                        struct oc_err *err)
{
    OC_ENTRY(err);
    *out = NULL;
    struct oc_calibration_opts opts;
    struct oc_arena scratch = {0};
    if (OC_OPTIONS(&opts, given, err) || oc_samples_need_device(s, err))
        return -1;
    if (strcmp(s->set.runtime, base->runtime) != 0)
        return oc_fail(err, OC_EARG, "the calibration is of %s, the recordings are of %s", base->runtime,
                       s->set.runtime);
    struct move m = {.cal = copy_without_kernels(base)};
    int rc = move_make(&m, s, &scratch, err);
    oc_arena_free(&scratch);
    if (rc) {
        oc_calibration_free(m.cal);
        return -1;
    }
    m.cal->from = !base->threads ? oc_strdup(&m.cal->arena, base->device)
                                 : oc_printf(&m.cal->arena, "%s, %" PRIu32 " thread%s", base->device,
                                             base->threads, base->threads == 1 ? "" : "s");
    oc_cal_set_origin(m.cal, &s->set, s->device, opts.created);
    *out = m.cal;
    return 0;
}
