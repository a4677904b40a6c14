/* Random forest for what the curves leave, and conformal intervals. */
#include "estimate/curve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/map.h"
#include "estimate/calibrate.h"

#define MIN_GROUPS 10

double oc_conformal_quantile(double *v, size_t n, double level)
{
    if (!n)
        return NAN;
    qsort(v, n, sizeof(*v), oc_by_double);
    double rank = ceil(((double)n + 1) * level - 1e-9);
    size_t i = rank < 1 ? 0 : (size_t)rank - 1;
    return v[i < n ? i : n - 1];
}

unsigned oc_conformal_bin(const struct oc_cal_errors *e, double t_s)
{
    unsigned bin = 0;
    while (bin < OC_CAL_BINS - 1 && t_s > e->bound_s[bin])
        bin++;
    return bin;
}

static void set_moments(const double *r, size_t n, struct oc_cal_errors *out)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += r[i];
    out->bias = n ? sum / (double)n : 0;
    for (size_t i = 0; i < n; i++)
        squares += r[i] * r[i];
    out->sd = n ? sqrt(squares / (double)n) : 0; /* centred at 0: predictions are not corrected for bias */
}

static void conformal_set_bounds(const double *t_s, size_t n, double *copy, struct oc_cal_errors *out)
{
    memcpy(copy, t_s, n * sizeof(*copy));
    qsort(copy, n, sizeof(*copy), oc_by_double);
    for (size_t b = 0; b + 1 < OC_CAL_BINS; b++)
        out->bound_s[b] =
            n < (size_t)OC_CAL_BINS * OC_CONFORMAL_MIN ? INFINITY : copy[(b + 1) * n / OC_CAL_BINS - 1];
}

static void set_quantiles(const double *r, const double *t_s, size_t n, double *copy,
                          struct oc_cal_errors *out)
{
    for (unsigned b = 0; b < OC_CAL_BINS; b++) {
        size_t in = 0;
        for (size_t i = 0; i < n; i++)
            if (oc_conformal_bin(out, t_s[i]) == b)
                copy[in++] = fabs(r[i]);
        if (in) {
            out->d80[b] = oc_conformal_quantile(copy, in, 0.80);
            out->d95[b] = oc_conformal_quantile(copy, in, 0.95);
        } else {
            out->d80[b] = b ? out->d80[b - 1] : 0;
            out->d95[b] = b ? out->d95[b - 1] : 0;
        }
    }
}

static void inflate(struct oc_cal_errors *e, double by)
{
    for (unsigned b = 0; b < OC_CAL_BINS; b++) {
        e->d80[b] *= by;
        e->d95[b] *= by;
    }
    e->sd *= by;
}

void oc_conformal_assume(double sd, struct oc_cal_errors *out)
{
    *out = (struct oc_cal_errors){.sd = sd, .bound_s = {INFINITY, INFINITY}};
    for (unsigned b = 0; b < OC_CAL_BINS; b++) {
        out->d80[b] = OC_Z80 * sd;
        out->d95[b] = OC_Z95 * sd;
    }
}

void oc_conformal_make(const double *r, const double *t_s, size_t n, const struct oc_cal_errors *parent,
                       struct oc_cal_errors *out)
{
    if (n < OC_CONFORMAL_MIN && parent) {
        *out = *parent;
        inflate(out, OC_CONFORMAL_INFLATE);
        out->n = (uint32_t)n;
        out->bias = 0;
        return;
    }
    double *copy = oc_xmalloc((n ? n : 1) * sizeof(*copy));
    *out = (struct oc_cal_errors){.n = (uint32_t)n};
    set_moments(r, n, out);
    conformal_set_bounds(t_s, n, copy, out);
    set_quantiles(r, t_s, n, copy, out);
    if (n < OC_CONFORMAL_MIN)
        inflate(out, OC_CONFORMAL_INFLATE);
    free(copy);
}

double oc_conformal_variance(double share, double sd, double repeats, double rho)
{
    /* `repeats` equal kernels, each with share / repeats of the time */
    double each = repeats > 0 ? share / repeats : 0;
    return repeats * each * each * sd * sd * (1 + (fmax(repeats, 1) - 1) * rho);
}

double oc_conformal_model_sd(double tau, double exact, double variance)
{
    double common = tau * fmax(1 - exact, OC_CONFORMAL_EXACT);
    return sqrt(common * common + variance);
}

struct weighted_error {
    double z, weight;
    const struct oc_model_error *e;
};

OC_BY_TWO(conformal_by_z, struct weighted_error, z, weight)

OC_BY_TWO(conformal_by_group, struct weighted_error, e->group, e->u)

/* Errors outside of the group, with weights that sum to 1 in each group; returns the number of groups. */
static size_t weigh_groups(const struct oc_model_error *e, size_t n, uint32_t skip, struct weighted_error *w,
                           size_t *n_used)
{
    size_t used = 0, groups = 0;
    for (size_t i = 0; i < n; i++)
        if (e[i].group != skip)
            w[used++].e = &e[i];
    qsort(w, used, sizeof(*w), conformal_by_group);
    for (size_t i = 0, end; i < used; i = end, groups++) {
        for (end = i; end < used && w[end].e->group == w[i].e->group;)
            end++;
        for (size_t k = i; k < end; k++)
            w[k].weight = 1 / (double)(end - i);
    }
    *n_used = used;
    return groups;
}

/* Variance of a model's random effect (mean 0): its second moment minus the variance explained by its
 * kernels. */
static double common_sd(const struct weighted_error *w, size_t n)
{
    double sum = 0, share = 0;
    for (size_t i = 0; i < n; i++) {
        double part = fmax(1 - w[i].e->exact, OC_CONFORMAL_EXACT);
        sum += w[i].weight * (w[i].e->u * w[i].e->u - w[i].e->v);
        share += w[i].weight * part * part;
    }
    return share > 1e-9 ? sqrt(fmax(0, sum / share)) : 0;
}

/* The smallest z with at least the level of all weight below it, of `groups` groups and one more. */
static double quantile_of_groups(const struct weighted_error *w, size_t n, size_t groups, double level)
{
    double need = ((double)groups + 1) * level - 1e-9, sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += w[i].weight;
        if (sum >= need)
            return w[i].z;
    }
    return n ? w[n - 1].z : NAN;
}

void oc_conformal_models(const struct oc_model_error *e, size_t n, uint32_t skip, struct oc_calibration *out)
{
    struct weighted_error *w = oc_xmalloc((n + 1) * sizeof(*w));
    size_t used = 0, groups = weigh_groups(e, n, skip, w, &used);
    out->tau = common_sd(w, used);
    out->rho = OC_CONFORMAL_RHO;
    out->z80 = OC_Z80;
    out->z95 = OC_Z95;
    if (groups >= MIN_GROUPS) {
        for (size_t i = 0; i < used; i++) {
            double sd = oc_conformal_model_sd(out->tau, w[i].e->exact, w[i].e->v);
            w[i].z = sd > 0 ? fabs(w[i].e->u) / sd : 0;
        }
        qsort(w, used, sizeof(*w), conformal_by_z);
        out->z80 = quantile_of_groups(w, used, groups, 0.80);
        out->z95 = quantile_of_groups(w, used, groups, 0.95);
    }
    free(w);
}

#define TREES     32
#define DEPTH     6
#define MAX_DEPTH 12
#define MIN_LEAF  8
#define BINS      64
#define TRY       9 /* features tried per split */
#define SEED      0x9e3779b97f4a7c15u

static double log2_of(double v)
{
    return v > 0 ? log2(v) : -1;
}

static double forest_fullness(double d, double a)
{
    return d > 0 ? d / (a * ceil(d / a)) : 1;
}

void oc_forest_features(const struct oc_kernel *k, const struct oc_cal_point *p, double *x)
{
    double bytes = fmax(p->bytes, 1), mem_s = p->act_s + p->wt_s, special = 0, written = (double)k->wr;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        special += (double)k->work.special_flops[c];
    const double v[OC_FOREST_FEATURES] = {
        log2_of(p->m),
        log2_of(k->groups > 0 && k->steps > 1 ? p->n / k->steps : p->n), /* of an image */
        log2_of(p->k),
        log2_of(p->batch),
        log2_of(p->flop),
        log2_of(p->bytes),
        log2_of(mem_s > 0 ? p->tc_s / mem_s : 0),
        forest_fullness(p->m, 16),
        forest_fullness(p->n, 16),
        forest_fullness(p->k, 16),
        k->kernel_h * k->kernel_w,
        k->stride,
        log2_of(k->groups),
        log2_of(k->channels_in),
        (double)k->rd_wt / bytes,
        (double)k->wr / bytes,
        k->cls,
        k->dtype,
        log2_of((double)k->rd_wt),
        written > 0 ? (double)k->rd_act / written : -1,
        p->flop > 0 ? special / p->flop : 0,
        written > 0 ? p->flop / written : -1,
        log2_of(k->run),
        k->function,
        log2_of(k->steps),
        k->op,
        k->variant,
        0, /* OC_FOREST_MICRO */
    };
    memcpy(x, v, sizeof(v));
}

/* ---- the data, binned: at most BINS bins of equal population per feature ---------------------------- */

struct grove {
    size_t n;
    const double *y, *weight;
    uint8_t *bin; /* [feature][row] */
    double edge[OC_FOREST_FEATURES][BINS];
    unsigned bins[OC_FOREST_FEATURES];
    struct oc_forest_opts opts;
    uint64_t random;
    uint32_t *row; /* rows of the current tree (bootstrap sample); nodes are ranges of it */
};

/* Four significant digits keep calibration files small. */
static float round_digits(double v)
{
    char text[32];
    snprintf(text, sizeof(text), "%.4g", v);
    return strtof(text, NULL);
}

/* Values up to edge[b] are in bin b; edges are midpoints between neighbouring values. */
static void set_edges(struct grove *g, unsigned f, double *sorted)
{
    size_t n = g->n;
    qsort(sorted, n, sizeof(*sorted), oc_by_double);
    unsigned bins = 0;
    for (unsigned b = 1; b < BINS; b++) {
        size_t i = b * n / BINS;
        while (i < n && i > 0 && sorted[i] <= sorted[i - 1])
            i++;
        if (i == 0 || i >= n)
            continue;
        double edge = sorted[i - 1] + (sorted[i] - sorted[i - 1]) / 2;
        edge = (double)round_digits(edge); /* as stored in the tree */
        if ((bins == 0 || edge > g->edge[f][bins - 1]) && edge < sorted[n - 1])
            g->edge[f][bins++] = edge;
    }
    g->bins[f] = bins + 1;
}

static uint8_t bin_of(const struct grove *g, unsigned f, double v)
{
    unsigned lo = 0, hi = g->bins[f] - 1;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        if (v <= g->edge[f][mid])
            hi = mid;
        else
            lo = mid + 1;
    }
    return (uint8_t)lo;
}

static void set_bins(struct grove *g, const double *x)
{
    double *column = oc_xmalloc(g->n * sizeof(*column));
    for (unsigned f = 0; f < OC_FOREST_FEATURES; f++) {
        for (size_t i = 0; i < g->n; i++)
            column[i] = x[i * OC_FOREST_FEATURES + f];
        set_edges(g, f, column);
        for (size_t i = 0; i < g->n; i++)
            g->bin[f * g->n + i] = bin_of(g, f, x[i * OC_FOREST_FEATURES + f]);
    }
    free(column);
}

/* ---- a tree ----------------------------------------------------------------------------------------- */

struct sums {
    double w, wy;
    uint32_t n;
};

struct split {
    double gain;
    unsigned feature, bin; /* rows with bins up to it go left */
};

static void forest_add_row(struct sums *s, double w, double y)
{
    s->w += w;
    s->wy += w * y;
    s->n++;
}

static double forest_score(const struct sums *s)
{
    return s->w > 0 ? s->wy * s->wy / s->w : 0;
}

static void best_of_feature(const struct grove *g, unsigned f, const uint32_t *row, size_t n,
                            const struct sums *all, struct split *best)
{
    struct sums hist[BINS] = {{0}}, left = {0};
    const uint8_t *bin = g->bin + f * g->n;
    for (size_t i = 0; i < n; i++)
        forest_add_row(&hist[bin[row[i]]], g->weight[row[i]], g->y[row[i]]);
    for (unsigned b = 0; b + 1 < g->bins[f]; b++) {
        left.w += hist[b].w;
        left.wy += hist[b].wy;
        left.n += hist[b].n;
        struct sums right = {all->w - left.w, all->wy - left.wy, all->n - left.n};
        if (left.n < g->opts.min_leaf || right.n < g->opts.min_leaf)
            continue;
        double gain = forest_score(&left) + forest_score(&right) - forest_score(all);
        if (gain > best->gain)
            *best = (struct split){gain, f, b};
    }
}

static struct split find_split(struct grove *g, const uint32_t *row, size_t n, const struct sums *all)
{
    unsigned order[OC_FOREST_FEATURES];
    struct split best = {.gain = 1e-12};
    for (unsigned f = 0; f < OC_FOREST_FEATURES; f++)
        order[f] = f;
    for (unsigned i = 0; i < TRY; i++) {
        unsigned j = i + (unsigned)(oc_random(&g->random) % (OC_FOREST_FEATURES - i)), f = order[j];
        order[j] = order[i];
        order[i] = f;
        if (g->bins[f] > 1)
            best_of_feature(g, f, row, n, all, &best);
    }
    return best;
}

static size_t partition(const struct grove *g, uint32_t *row, size_t n, const struct split *s)
{
    const uint8_t *bin = g->bin + s->feature * g->n;
    size_t left = 0;
    for (size_t i = 0; i < n; i++)
        if (bin[row[i]] <= s->bin) {
            uint32_t r = row[i];
            row[i] = row[left];
            row[left++] = r;
        }
    return left;
}

struct pending {
    size_t first, n;
    uint32_t depth;
};

/* Nodes in creation order, children in pairs; returns their number. */
static uint32_t grow(struct grove *g, struct oc_forest_node *node, struct pending *todo)
{
    uint32_t n_node = 1;
    todo[0] = (struct pending){0, g->n, 0};
    for (uint32_t i = 0; i < n_node; i++) {
        struct pending p = todo[i];
        uint32_t *row = g->row + p.first;
        struct sums all = {0};
        for (size_t r = 0; r < p.n; r++)
            forest_add_row(&all, g->weight[row[r]], g->y[row[r]]);
        node[i] = (struct oc_forest_node){-1, 0, all.w > 0 ? round_digits(all.wy / all.w) : 0};
        if (p.depth >= g->opts.depth || p.n < 2 * (size_t)g->opts.min_leaf)
            continue;
        struct split s = find_split(g, row, p.n, &all);
        if (s.gain <= 1e-12)
            continue;
        size_t left = partition(g, row, p.n, &s);
        node[i] =
            (struct oc_forest_node){(int16_t)s.feature, (uint16_t)n_node, (float)g->edge[s.feature][s.bin]};
        todo[n_node++] = (struct pending){p.first, left, p.depth + 1};
        todo[n_node++] = (struct pending){p.first + left, p.n - left, p.depth + 1};
    }
    return n_node;
}

static void draw_sample(struct grove *g)
{
    for (size_t i = 0; i < g->n; i++)
        g->row[i] = (uint32_t)(oc_random(&g->random) % g->n);
}

static void forest_set_limits(struct oc_forest *f, const double *y, size_t n)
{
    f->lo = f->hi = 0;
    for (size_t i = 0; i < n; i++) {
        f->lo = fmin(f->lo, y[i]);
        f->hi = fmax(f->hi, y[i]);
    }
    f->lo = fmax(f->lo, -OC_FOREST_CLIP);
    f->hi = fmin(f->hi, OC_FOREST_CLIP);
}

static struct oc_forest_opts forest_complete(const struct oc_forest_opts *opts)
{
    struct oc_forest_opts o = opts ? *opts : (struct oc_forest_opts){0};
    o.trees = o.trees ? o.trees : TREES;
    o.depth = o.depth ? o.depth < MAX_DEPTH ? o.depth : MAX_DEPTH : DEPTH;
    o.min_leaf = o.min_leaf ? o.min_leaf : MIN_LEAF;
    o.seed = o.seed ? o.seed : SEED;
    return o;
}

static void grow_forest(struct oc_arena *a, struct grove *g, struct oc_forest *f)
{
    size_t most = ((size_t)2 << g->opts.depth);
    struct pending *todo = oc_xmalloc(most * sizeof(*todo));
    struct oc_forest_node *node = oc_xmalloc(most * g->opts.trees * sizeof(*node));
    for (uint32_t t = 0; t < f->n_tree; t++) {
        f->root[t] = f->n_node;
        draw_sample(g);
        f->n_node += grow(g, node + f->n_node, todo);
    }
    f->root[f->n_tree] = f->n_node;
    f->node = OC_NEW_ARRAY(a, f->n_node, struct oc_forest_node);
    memcpy(f->node, node, f->n_node * sizeof(*node));
    free(node);
    free(todo);
}

const struct oc_forest *oc_forest_fit(struct oc_arena *a, const double *x, const double *y,
                                      const double *weight, size_t n, const struct oc_forest_opts *opts)
{
    struct grove g = {.n = n, .y = y, .weight = weight, .opts = forest_complete(opts)};
    if (n < 2 * (size_t)g.opts.min_leaf || n > UINT32_MAX)
        return NULL;
    g.random = g.opts.seed;
    g.bin = oc_xmalloc(n * OC_FOREST_FEATURES);
    g.row = oc_xmalloc(n * sizeof(*g.row));
    set_bins(&g, x);
    struct oc_forest *f = OC_NEW(a, struct oc_forest);
    f->n_tree = g.opts.trees;
    f->root = OC_NEW_ARRAY(a, (size_t)f->n_tree + 1, uint32_t);
    forest_set_limits(f, y, n);
    grow_forest(a, &g, f);
    free(g.bin);
    free(g.row);
    return f;
}

double oc_forest_answer(const struct oc_forest *f, const double *x)
{
    double sum = 0;
    for (uint32_t t = 0; t < f->n_tree; t++) {
        const struct oc_forest_node *tree = f->node + f->root[t], *n = tree;
        while (n->feature >= 0)
            n = tree + n->left + (x[n->feature] <= (double)n->value ? 0 : 1);
        sum += (double)n->value;
    }
    double answer = f->n_tree ? sum / f->n_tree : 0;
    return fmax(f->lo, fmin(f->hi, answer));
}
