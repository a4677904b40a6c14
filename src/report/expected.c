/* Rows that take far longer than their class reaches elsewhere in the same recording. The time of a row is divided by its
 * bound: the roofline time with a device, else the operations of a contraction or the bytes of any other operator. Its
 * class has a median of these quotients, and a spread: the median absolute deviation of their logarithms, which a few
 * slow rows cannot move. What must hold: without enough rows of comparable size that agree with each other a row has no
 * expected time, and is not an anomaly. Noise is not one either: fastest runs are compared, of two runs or more, and rows
 * of a class with at least as much work must be faster in absolute terms, because a small kernel takes a time of its own.
 *
 * Classes are tried from narrow to wide: the kernel class (estimate/kernels.h) or the runtime's operator type, and
 * the operators of the model that move memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/units.h"
#include "estimate/kernels.h"
#include "hw/hwdb.h"
#include "onnxcost.h"
#include "report/columns.h"
#include "report/headline.h"
#include "report/names.h"

enum { LEAST_PEERS = 8, CLASSES = 2, LEAST_LARGER = 3, LEAST_RUNS = 2 };
/* Peers have a bound within this factor of the row's own: kernels of a few microseconds are slow for other reasons. */
#define COMPARABLE 32.0
/* Without a device operations are the bound of contractions, also of those whose bytes take longer, such as the first
 * convolution of a network: peers have an intensity within this factor. */
#define LIKE_INTENSITY 4.0
/* A row is far beyond its class from this many deviations on, and from this factor on. For a normal distribution a
 * deviation is 1.4826 median absolute deviations; six of them leave one row in 10^9. The factor is for classes whose rows
 * agree by chance: eight equal rows have no deviation at all. */
#define FAR_DEVIATIONS 6.0
#define FAR_FACTOR     3.0
#define DEVIATION      1.4826
/* A class whose own rows differ by more than this factor (one deviation) has no expected time. */
#define MOST_SPREAD 2.0
#define LEAST_SHARE 0.005 /* of a run: a smaller loss is not reported */

struct timed { /* a row with a time and a bound */
    const struct oc_row *row;
    double intensity;                        /* NAN with a device, whose roofline says it */
    const char *key[CLASSES];                /* NULL: it is in no such class */
    double bound[CLASSES], log_gap[CLASSES]; /* of the time of its fastest run over the bound */
};

/* ---- classes ---------------------------------------------------------------------------------------- */

static const char *narrow_class(struct oc_report *r, const struct oc_row *row, unsigned *cls)
{
    uint32_t node = r->in->analysis ? oc_row_node(r, row) : OC_NONE;
    *cls = OC_KC_OTHER;
    if (node == OC_NONE)
        return oc_row_type(r, row);
    struct oc_kernel k = {.cls = (uint8_t)oc_kernel_class_of_op(r->in->analysis->op[node])};
    oc_kernel_dims(r->in->model, r->in->analysis, node, &k);
    *cls = k.cls;
    return k.cls == OC_KC_OTHER ? oc_row_type(r, row) : oc_kernel_class_name(k.cls);
}

static bool set_class(struct timed *t, unsigned k, const char *key, double bound, double fastest)
{
    bool known = key && bound > 0 && isfinite(bound);
    t->key[k] = known ? key : NULL;
    t->bound[k] = known ? bound : 0;
    t->log_gap[k] = known ? log(fastest / bound) : 0;
    return known;
}

/* Operators that move memory are compared by their bytes with a device too: whether a cache serves them is the difference
 * between their rooflines, not between their times. */
static bool set_timed(struct oc_report *r, const struct oc_row *row, struct timed *t)
{
    unsigned cls;
    const char *narrow = narrow_class(r, row, &cls);
    enum oc_kernel_group group = oc_kernel_class_group(cls);
    bool device = r->in->device != NULL, moves = cls != OC_KC_OTHER && group == OC_KG_MEMORY;
    double s = oc_row_rate_time_s(row), fastest = row->min_s > 0 && row->min_s < s ? row->min_s : s,
           roof = row->roof_partial ? (double)NAN : row->roofline_s;
    *t = (struct timed){.row = row, .intensity = device ? (double)NAN : row->computation / row->memory};
    if (!(fastest > 0))
        return false;
    bool any = set_class(t, 0, narrow,
                         device                   ? roof
                         : group == OC_KG_COMPUTE ? row->computation
                                                  : row->memory,
                         fastest);
    any |= set_class(t, 1, moves ? "operators that move memory" : NULL, row->memory, fastest);
    return any;
}

/* ---- the class of a row ------------------------------------------------------------------------------- */

struct level {                /* of a class */
    double median, deviation; /* of logarithms of time over bound */
    double larger; /* median logarithm of time of peers with at least the row's bound; NAN: too few */
    uint32_t n;
};

static bool within(double a, double b, double factor)
{
    return !(a > b * factor) && !(b > a * factor); /* unknown: yes */
}

static bool is_peer(const struct timed *t, const struct timed *o, unsigned k)
{
    return o != t && o->key[k] && !strcmp(o->key[k], t->key[k]) &&
           within(o->bound[k], t->bound[k], COMPARABLE) &&
           within(o->intensity, t->intensity, k ? INFINITY : LIKE_INTENSITY);
}

/* Of the other rows of class k of a comparable size. Rows of equal shapes are several rows. */
static struct level level_of(const struct timed *all, uint32_t n, const struct timed *t, unsigned k,
                             double *v)
{
    struct level l = {.larger = NAN};
    uint32_t larger = 0;
    for (uint32_t i = 0; i < n && t->key[k]; i++)
        if (is_peer(t, &all[i], k) && all[i].bound[k] >= t->bound[k])
            v[larger++] = all[i].log_gap[k] + log(all[i].bound[k]);
    if (larger >= LEAST_LARGER)
        l.larger = oc_sort_median(v, larger);
    for (uint32_t i = 0; i < n && t->key[k]; i++)
        if (is_peer(t, &all[i], k))
            v[l.n++] = all[i].log_gap[k];
    if (l.n < LEAST_PEERS)
        return (struct level){.n = 0};
    l.median = oc_sort_median(v, l.n);
    for (uint32_t i = 0; i < l.n; i++)
        v[i] = fabs(v[i] - l.median);
    l.deviation = DEVIATION * oc_sort_median(v, l.n);
    return l;
}

/* What the class says of the row; false: it is not far beyond it. */
static bool is_far(const struct timed *t, unsigned k, const struct level *l, double run_ns, double of_run,
                   struct oc_anomaly *a)
{
    double over = t->log_gap[k] - l->median, time = oc_ns_of(t->row->time_s);
    double scale = time / exp(t->log_gap[k]); /* the time at a quotient of 1 */
    a->expected_ns = scale * exp(l->median) / of_run;
    a->low_ns = scale * exp(l->median - 2 * l->deviation) / of_run;
    a->high_ns = scale * exp(l->median + 2 * l->deviation) / of_run;
    a->time_ns = time / of_run;
    a->lost_ns = a->time_ns - a->expected_ns;
    a->peers = l->n;
    bool faster = !(t->log_gap[k] + log(t->bound[k]) < l->larger + log(FAR_FACTOR));
    return faster && l->deviation < log(MOST_SPREAD) && over > log(FAR_FACTOR) &&
           over > FAR_DEVIATIONS * l->deviation && a->lost_ns > LEAST_SHARE * run_ns;
}

/* The narrowest class that has enough rows decides. */
static bool check_row(struct oc_report *r, const struct timed *all, uint32_t n, uint32_t at, double *v,
                      struct oc_anomaly *a)
{
    const struct timed *t = &all[at];
    double of_run = r->m.runs > 0 ? r->m.runs : 1;
    double run_ns = oc_ns_of(r->total_s) / of_run;
    for (unsigned k = 0; k < CLASSES; k++) {
        struct level l = level_of(all, n, t, k, v);
        if (!l.n)
            continue;
        *a = (struct oc_anomaly){
            .row = t->row, .class_name = t->key[k], .gain_low_ns = (double)NAN, .gain_high_ns = (double)NAN};
        return is_far(t, k, &l, run_ns, of_run, a);
    }
    return false;
}

static int by_loss(const void *a, const void *b)
{
    const struct oc_anomaly *p = a, *q = b;
    return p->lost_ns != q->lost_ns ? (p->lost_ns < q->lost_ns) - (p->lost_ns > q->lost_ns)
                                    : (p->row > q->row) - (p->row < q->row);
}

static void find_anomalies(struct oc_report *r)
{
    struct timed *all = OC_NEW_ARRAY(&r->arena, (size_t)r->all.n + 1, struct timed);
    double *v = OC_NEW_ARRAY(&r->arena, (size_t)r->all.n + 1, double);
    struct oc_anomaly *found = NULL, one, *kept;
    uint32_t n = 0, n_found = 0, cap = 0;
    for (uint32_t i = 0; i < r->all.n && r->in->profile->runs_used >= LEAST_RUNS; i++)
        n += set_timed(r, &r->all.row[i], &all[n]);
    for (uint32_t i = 0; i < n; i++) /* at most 1 / LEAST_SHARE rows are compared with all others */
        if (oc_ns_of(all[i].row->time_s) > LEAST_SHARE * oc_ns_of(r->total_s) &&
            check_row(r, all, n, i, v, &one))
            OC_PUSH(found, n_found, cap) = one;
    kept = OC_NEW_ARRAY(&r->arena, (size_t)n_found + 1, struct oc_anomaly);
    if (n_found)
        memcpy(kept, found, n_found * sizeof(*kept));
    qsort(kept, n_found, sizeof(*kept), by_loss);
    free(found);
    r->anomaly = kept;
    r->n_anomaly = n_found;
}

uint32_t oc_anomalies_of(struct oc_report *r, const struct oc_anomaly **out)
{
    if (!r->anomaly)
        find_anomalies(r);
    *out = r->anomaly;
    return r->n_anomaly;
}
