#include "estimate/predict.h"

#include <math.h>
#include <stdlib.h>

#include "estimate/conformal.h"

#define Z80           1.2815515655446004
#define Z95           1.9599639845400545
#define TAU_UNKNOWN   0.3  /* sd for a model without any measurement */
#define ISSUE_ASSUMED 5e-6 /* launch time per kernel on the host */
#define SYNC_ASSUMED  1e-5

/* The geometric mean of an interval, so that sums include all kernels. */
static double time_of(const struct oc_prediction *p)
{
    if (p->t_s > 0)
        return p->t_s;
    return p->lo80_s > 0 && p->hi80_s > 0 ? sqrt(p->lo80_s * p->hi80_s) : 0;
}

struct like { /* kernels of one signature */
    uint64_t signature;
    size_t order;
    double t_s, sd, repeats;
};

static int by_signature(const void *a, const void *b)
{
    const struct like *x = a, *y = b;
    if (x->signature != y->signature)
        return x->signature < y->signature ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Sum over signatures of their contribution to Var(ln T). */
static double variance(const struct oc_model_part *part, size_t n, double kernels_s, double rho)
{
    struct like *v = oc_xmalloc((n + 1) * sizeof(*v));
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const struct oc_prediction *p = part[i].prediction;
        v[i] = (struct like){p->signature, i, time_of(p) * part[i].repeats, isfinite(p->sd) ? p->sd : 0,
                             part[i].repeats};
    }
    qsort(v, n, sizeof(*v), by_signature);
    for (size_t i = 0, end; i < n; i = end) {
        struct like all = {.signature = v[i].signature};
        for (end = i; end < n && (end == i || (v[i].signature && v[end].signature == v[i].signature));
             end++) {
            all.t_s += v[end].t_s;
            all.repeats += v[end].repeats;
            all.sd = fmax(all.sd, v[end].sd);
        }
        sum += oc_conformal_variance(all.t_s / kernels_s, all.sd, all.repeats, rho);
    }
    free(v);
    return sum;
}

static void add_part(struct oc_model_prediction *m, const struct oc_model_part *part)
{
    const struct oc_prediction *p = part->prediction;
    double t = time_of(p) * part->repeats, parts = p->t0_s + p->tc_s + p->tm_s;
    if (!(t > 0)) {
        m->n_unknown += !(time_of(p) > 0);
        return;
    }
    m->kernels_s += t;
    m->share[p->evidence] += t;
    m->extrapolated += p->extrapolated ? t : 0;
    if (parts > 0) {
        m->t0_s += t * p->t0_s / parts;
        m->compute_s += t * p->tc_s / parts;
        m->memory_s += t * p->tm_s / parts;
    }
}

/* Two clocks in order: c += issue; g = max(c, g) + T. Closed form for `repeats` equal kernels: the device
 * waits for the first, for the last, or never. */
static double replay(const struct oc_model_part *part, size_t n, double issue_s, double sync_s)
{
    double c = 0, g = 0;
    for (size_t i = 0; i < n; i++) {
        double t = time_of(part[i].prediction), r = part[i].repeats;
        if (!(t > 0 && r > 0))
            continue;
        g = fmax(fmax(g, c + issue_s) + r * t, c + r * issue_s + t);
        c += r * issue_s;
    }
    return fmax(c, g) + sync_s;
}

static double launches(const struct oc_model_part *part, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += time_of(part[i].prediction) > 0 ? part[i].repeats : 0;
    return sum;
}

static void set_total(const struct oc_calibration *cal, const struct oc_model_part *part, size_t n,
                      const struct oc_replay *how, struct oc_model_prediction *m)
{
    double fix = cal ? cal->t_fix_s : 0, gap = cal ? cal->gap_s : 0;
    if (how && how->on) {
        double issue = !isnan(how->issue_s) ? how->issue_s : gap > 0 ? gap : ISSUE_ASSUMED;
        double sync = !isnan(how->sync_s) ? how->sync_s : fix > 0 ? fix : SYNC_ASSUMED;
        m->t_s = replay(part, n, issue, sync);
        m->fix_s = sync;
        m->gaps_s = fmax(0, m->t_s - sync - m->kernels_s);
        return;
    }
    m->fix_s = fix;
    m->gaps_s = fmax(gap * launches(part, n), -0.5 * m->kernels_s);
    m->t_s = m->kernels_s + m->gaps_s + fix;
}

static void set_interval(const struct oc_calibration *cal, const struct oc_model_part *part, size_t n,
                         struct oc_model_prediction *m)
{
    m->tau = cal ? cal->tau : TAU_UNKNOWN;
    m->z80 = cal && cal->z80 > 0 ? cal->z80 : Z80;
    m->z95 = cal && cal->z95 > 0 ? cal->z95 : Z95;
    /* measured kernels do not share the common error of the curves */
    double tau = m->tau * (1 - m->share[OC_EVIDENCE_EXACT]);
    m->sd =
        sqrt(tau * tau + variance(part, n, m->kernels_s, cal && cal->rho > 0 ? cal->rho : OC_CONFORMAL_RHO));
    m->lo80_s = m->t_s * exp(-m->z80 * m->sd);
    m->hi80_s = m->t_s * exp(m->z80 * m->sd);
    m->lo95_s = m->t_s * exp(-m->z95 * m->sd);
    m->hi95_s = m->t_s * exp(m->z95 * m->sd);
}

void oc_predict_model(const struct oc_calibration *cal, const struct oc_model_part *part, size_t n,
                      const struct oc_replay *how, struct oc_model_prediction *out)
{
    *out = (struct oc_model_prediction){
        .t_s = NAN, .lo80_s = NAN, .hi80_s = NAN, .lo95_s = NAN, .hi95_s = NAN, .sd = NAN};
    for (size_t i = 0; i < n; i++)
        add_part(out, &part[i]);
    if (!(out->kernels_s > 0))
        return;
    for (unsigned e = 0; e < OC_EVIDENCE_COUNT; e++)
        out->share[e] /= out->kernels_s;
    out->extrapolated /= out->kernels_s;
    set_total(cal, part, n, how, out);
    set_interval(cal, part, n, out);
}
