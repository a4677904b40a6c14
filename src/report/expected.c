/* Rows that take far longer than their class reaches elsewhere in the same recording. The time of a row is divided by its
 * bound: the roofline time with a device, else the operations of a contraction or the bytes of any other operator. Its
 * class has a median of these quotients, and a spread: the median absolute deviation of the logarithms at or below it, which
 * slow rows cannot move. What must hold: without enough rows of comparable size that agree with each other a row has no
 * expected time, and is not an anomaly. Noise is not one either: fastest runs are compared, of two runs or more, and rows
 * of a class with at least as much work must be faster in absolute terms, because a small kernel takes a time of its own.
 *
 * Rows of equal work (class, operations, bytes) are looked at together, such as a layer that a network has twenty times: what
 * they lose in sum decides. Four or more of them are compared with their own fast quarter first. Then classes are tried from
 * narrow to wide: the kernel class (estimate/kernels.h) or the runtime's operator type, and the operators of the model that
 * move memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/str.h"
#include "base/units.h"
#include "estimate/kernels.h"
#include "hw/hwdb.h"
#include "onnxcost.h"
#include "report/columns.h"
#include "report/headline.h"
#include "report/names.h"

enum { LEAST_PEERS = 8, CLASSES = 2, LEAST_LARGER = 3, LEAST_RUNS = 2, LEAST_EQUAL = 4, LEAST_CHANNELS = 16 };
/* Peers have a bound within this factor of the row's own: kernels of a few microseconds are slow for other reasons. */
#define COMPARABLE 32.0
/* Without a device operations are the bound of contractions, also of those whose bytes take longer, such as the first
 * convolution of a network: peers have an intensity within this factor. */
#define LIKE_INTENSITY 4.0
/* A row is far beyond its class from this many deviations on, and from this factor on. For a normal distribution a
 * deviation is 1.4826 median absolute deviations; three of them leave one row in 700. The factor is for classes whose rows
 * agree by chance: eight equal rows have no deviation at all. */
#define FAR_DEVIATIONS 3.0
#define FAR_FACTOR     3.0
#define DEVIATION      1.4826
/* And it takes longer than rows with more work do, by this factor: of 124 slow kernels on GPUs that were found by hand a
 * factor of 3 hides one and a factor of 1 adds 37 false ones. */
#define FAR_FROM_LARGER 2.0
/* A class whose own rows differ by more than this factor (one deviation) has no expected time. */
#define MOST_SPREAD 2.0
#define LEAST_SHARE 0.005 /* of a run: a smaller loss is not reported */

struct timed { /* a row with a time and a bound */
    const struct oc_row *row;
    double intensity;                        /* NAN with a device, whose roofline says it */
    const char *key[CLASSES];                /* NULL: it is in no such class */
    double bound[CLASSES], log_gap[CLASSES]; /* of the time of its fastest run over the bound */
};

/* Products of matrices by the names of runtimes and frameworks, for rows without a node. */
static bool is_product(const char *type)
{
    static const char *const part[] = {"conv", "matmul", "gemm", "linear", "mm"};
    for (size_t i = 0; i < OC_COUNT(part); i++)
        if (oc_has_nocase(type, part[i]))
            return true;
    return false;
}

/* ---- classes ---------------------------------------------------------------------------------------- */

/* NULL: none, such as of a first convolution, whose few channels do not fill the units that others of its class use. */
static const char *narrow_class(struct oc_report *r, const struct oc_row *row, unsigned *cls)
{
    uint32_t node = r->in->analysis ? oc_row_node(r, row) : OC_NONE;
    *cls = OC_KC_OTHER;
    if (node == OC_NONE)
        return oc_row_type(r, row);
    struct oc_kernel k = {.cls = (uint8_t)oc_kernel_class_of_op(r->in->analysis->op[node])};
    oc_kernel_dims(r->in->model, r->in->analysis, node, &k);
    *cls = k.cls;
    if (k.channels_in > 0 && k.channels_in < LEAST_CHANNELS)
        return NULL;
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
    bool device = r->in->device != NULL, moves = cls != OC_KC_OTHER && group == OC_KG_MEMORY,
         product = group == OC_KG_COMPUTE || (cls == OC_KC_OTHER && is_product(narrow ? narrow : ""));
    double s = oc_row_rate_time_s(row), fastest = row->min_s > 0 && row->min_s < s ? row->min_s : s,
           roof = row->roof_partial ? (double)NAN : row->roofline_s;
    *t = (struct timed){.row = row, .intensity = device ? (double)NAN : row->computation / row->memory};
    if (!(fastest > 0))
        return false;
    bool any = set_class(t, 0, narrow, device ? roof : product ? row->computation : row->memory, fastest);
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
    uint32_t low = 0;
    for (uint32_t i = 0; i < l.n; i++)
        if (v[i] <= l.median)
            v[low++] = l.median - v[i];
    l.deviation = DEVIATION * oc_sort_median(v, low);
    return l;
}

/* ---- rows of equal work -------------------------------------------------------------------------------- */

struct group { /* rows of equal work, and what is looked for in them */
    const struct timed *row;
    uint32_t n;
    double of_run;            /* runs of a row's time */
    struct oc_anomaly *found; /* heap: of the groups before it, too */
    uint32_t n_found, cap_found;
    double lost_ns; /* in this group */
};

static void add_found(struct group *g, const struct timed *t, unsigned k, double expected_ns, double low_ns,
                      double high_ns, uint32_t peers)
{
    double time_ns = oc_ns_of(t->row->time_s) / g->of_run;
    OC_PUSH(g->found, g->n_found, g->cap_found) =
        (struct oc_anomaly){.row = t->row,
                            .class_name = t->key[k],
                            .time_ns = time_ns,
                            .expected_ns = expected_ns / g->of_run,
                            .low_ns = low_ns / g->of_run,
                            .high_ns = high_ns / g->of_run,
                            .lost_ns = time_ns - expected_ns / g->of_run,
                            .peers = peers,
                            .gain_low_ns = (double)NAN,
                            .gain_high_ns = (double)NAN};
    g->lost_ns += g->found[g->n_found - 1].lost_ns;
}

/* The time of all runs at the quotient of that logarithm. */
static double time_at(const struct timed *t, unsigned k, double log_gap)
{
    return oc_ns_of(t->row->time_s) * exp(log_gap - t->log_gap[k]);
}

static void check_class(struct group *g, unsigned k, const struct level *l)
{
    for (uint32_t i = 0; i < g->n; i++) {
        const struct timed *t = &g->row[i];
        double over = t->log_gap[k] - l->median;
        bool slower = !(t->log_gap[k] + log(t->bound[k]) < l->larger + log(FAR_FROM_LARGER));
        if (slower && l->deviation < log(MOST_SPREAD) && over > log(FAR_FACTOR) &&
            over > FAR_DEVIATIONS * l->deviation)
            add_found(g, t, k, time_at(t, k, l->median), time_at(t, k, l->median - 2 * l->deviation),
                      time_at(t, k, l->median + 2 * l->deviation), l->n);
    }
}

/* The fast quarter of rows that do the same says what is possible, where these agree. */
static void check_equal(struct group *g, double *v)
{
    if (g->n < LEAST_EQUAL || !g->row->key[0])
        return;
    for (uint32_t i = 0; i < g->n; i++)
        v[i] = g->row[i].log_gap[0];
    oc_sort_median(v, g->n); /* sorts */
    double fast = v[g->n / 4];
    for (uint32_t i = 0; i < g->n && fast - v[0] < log(MOST_SPREAD); i++) {
        const struct timed *t = &g->row[i];
        if (t->log_gap[0] - fast > log(FAR_FACTOR))
            add_found(g, t, 0, time_at(t, 0, fast), time_at(t, 0, v[0]), time_at(t, 0, fast), g->n - 1);
    }
}

/* The narrowest class that has enough rows decides; the slowest row of the group stands for it. */
static void check_group(struct group *g, const struct timed *all, uint32_t n, double *v)
{
    const struct timed *slow = g->row;
    const uint32_t before = g->n_found;
    for (uint32_t i = 1; i < g->n; i++)
        slow = g->row[i].log_gap[0] > slow->log_gap[0] ? &g->row[i] : slow;
    check_equal(g, v);
    for (unsigned k = 0; k < CLASSES && g->n_found == before; k++) {
        struct level l = level_of(all, n, slow, k, v);
        if (!l.n)
            continue;
        check_class(g, k, &l);
        return;
    }
}

/* Unknown numbers come first. */
static int by_known(double a, double b)
{
    a = isnan(a) ? -1 : a;
    b = isnan(b) ? -1 : b;
    return (a > b) - (a < b);
}

static int by_work(const void *a, const void *b)
{
    const struct timed *p = a, *q = b;
    const char *x = p->key[0] ? p->key[0] : "", *y = q->key[0] ? q->key[0] : "";
    int c = strcmp(x, y);
    if (c)
        return c;
    c = by_known(p->row->computation, q->row->computation);
    c = c ? c : by_known(p->row->memory, q->row->memory);
    return c ? c : (p->row > q->row) - (p->row < q->row);
}

static int by_loss(const void *a, const void *b)
{
    const struct oc_anomaly *p = a, *q = b;
    return p->lost_ns != q->lost_ns ? (p->lost_ns < q->lost_ns) - (p->lost_ns > q->lost_ns)
                                    : (p->row > q->row) - (p->row < q->row);
}

static bool is_equal_work(const struct timed *a, const struct timed *b)
{
    return a->key[0] && b->key[0] && !strcmp(a->key[0], b->key[0]) &&
           a->row->computation == b->row->computation && a->row->memory == b->row->memory;
}

/* Of `all` from the first one on: the rows of equal work, and their time. */
static uint32_t group_at(const struct timed *all, uint32_t from, uint32_t n, double *sum_s)
{
    uint32_t to = from;
    for (*sum_s = 0; to == from || (to < n && is_equal_work(&all[from], &all[to])); to++)
        *sum_s += all[to].row->time_s;
    return to;
}

/* At most 1 / LEAST_SHARE groups are compared with all rows. */
static void check_groups(struct group *g, const struct timed *all, uint32_t n, double least_s, double *v)
{
    double group_s;
    for (uint32_t i = 0, to; i < n; i = to) {
        uint32_t before = g->n_found;
        to = group_at(all, i, n, &group_s);
        g->row = &all[i];
        g->n = to - i;
        g->lost_ns = 0;
        if (group_s > least_s)
            check_group(g, all, n, v);
        if (!(g->lost_ns > oc_ns_of(least_s) / g->of_run))
            g->n_found = before;
    }
}

static void find_anomalies(struct oc_report *r)
{
    struct timed *all = OC_NEW_ARRAY(&r->arena, (size_t)r->all.n + 1, struct timed);
    double *v = OC_NEW_ARRAY(&r->arena, (size_t)r->all.n + 1, double), sum_s = 0;
    struct group g = {.of_run = r->m.runs > 0 ? r->m.runs : 1};
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->all.n && r->in->profile->runs_used >= LEAST_RUNS; i++) {
        sum_s += r->all.row[i].time_s > 0 ? r->all.row[i].time_s : 0;
        n += set_timed(r, &r->all.row[i], &all[n]);
    }
    qsort(all, n, sizeof(*all), by_work);
    check_groups(&g, all, n, LEAST_SHARE * sum_s, v);
    r->anomaly = OC_NEW_ARRAY(&r->arena, (size_t)g.n_found + 1, struct oc_anomaly);
    r->n_anomaly = g.n_found;
    if (g.n_found)
        memcpy(r->anomaly, g.found, g.n_found * sizeof(*g.found));
    qsort(r->anomaly, g.n_found, sizeof(*g.found), by_loss);
    free(g.found);
}

uint32_t oc_anomalies_of(struct oc_report *r, const struct oc_anomaly **out)
{
    if (!r->anomaly)
        find_anomalies(r);
    *out = r->anomaly;
    return r->n_anomaly;
}
