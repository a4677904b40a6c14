#include "estimate/cal_residual.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_ROWS 40
#define DEPTH    10
#define MIN_LEAF 4
#define BETTER   0.97 /* curves and forest together must reach this fraction of the curves' error */
#define NEAREST  0.95
#define FAR      0.7

double oc_residual_apply(double t_s, double answer, const struct oc_cal_point *p)
{
    return fmax(t_s * exp(answer), NEAREST * p->roof_s);
}

/* The data of a group as columns. */
struct table {
    const struct oc_key_tree *tree;
    size_t *datum;
    size_t n;
    double *x, *y, *weight; /* y: residuals of the current fit */
};

static double ln_base(const struct oc_key_tree *t, size_t i, uint32_t fold)
{
    const struct oc_leaf *l = &t->leaf[i];
    return oc_key_ln_time(&t->key[l->key], fold, l->row);
}

static void make_table(const struct oc_key_tree *t, unsigned group, struct table *out)
{
    const struct oc_cal_data *d = t->data;
    *out = (struct table){.tree = t};
    out->datum = oc_xmalloc((d->n + 1) * sizeof(*out->datum));
    out->x = oc_xmalloc((d->n + 1) * OC_FOREST_FEATURES * sizeof(*out->x));
    out->y = oc_xmalloc((d->n + 1) * sizeof(*out->y));
    out->weight = oc_xmalloc((d->n + 1) * sizeof(*out->weight));
    for (size_t i = 0; i < d->n; i++)
        if (oc_kernel_class_group(d->item[i].point.cls) == group) {
            oc_forest_features(d->item[i].kernel, &d->item[i].point, out->x + out->n * OC_FOREST_FEATURES);
            out->datum[out->n++] = i;
        }
}

static void free_table(struct table *t)
{
    free(t->datum);
    free(t->x);
    free(t->y);
    free(t->weight);
}

/* A forest trained on the rows outside of the fold (n_fold: on all rows). */
static const struct oc_forest *forest_without(const struct table *t, uint32_t fold, struct oc_arena *a)
{
    const struct oc_cal_data *d = t->tree->data;
    double *x = oc_xmalloc((t->n + 1) * OC_FOREST_FEATURES * sizeof(*x));
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct oc_cal_datum *item = &d->item[t->datum[i]];
        if (item->fold == fold)
            continue;
        memcpy(x + n * OC_FOREST_FEATURES, t->x + i * OC_FOREST_FEATURES, OC_FOREST_FEATURES * sizeof(*x));
        t->y[n] = fmax(-FAR, fmin(FAR, item->ln_t - ln_base(t->tree, t->datum[i], fold)));
        t->weight[n++] = item->weight;
    }
    const struct oc_forest *f = oc_forest_fit(a, x, t->y, t->weight, n,
                                              &(struct oc_forest_opts){.depth = DEPTH, .min_leaf = MIN_LEAF});
    free(x);
    return f;
}

/* ln times of the fold's rows, predicted by the forest trained without them */
static void answer_fold(const struct table *t, uint32_t fold, double *ln_time)
{
    struct oc_arena a = {0};
    const struct oc_cal_data *d = t->tree->data;
    const struct oc_forest *f = forest_without(t, fold, &a);
    for (size_t i = 0; i < t->n; i++) {
        const struct oc_cal_datum *item = &d->item[t->datum[i]];
        if (item->fold != fold)
            continue;
        double answer = f ? oc_forest_answer(f, t->x + i * OC_FOREST_FEATURES) : 0;
        double base = exp(ln_base(t->tree, t->datum[i], fold));
        ln_time[t->datum[i]] = log(oc_residual_apply(base, answer, &item->point));
    }
    oc_arena_free(&a);
}

static double error_of(const struct table *t, const double *ln_time)
{
    const struct oc_cal_data *d = t->tree->data;
    double sum = 0, weight = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct oc_cal_datum *item = &d->item[t->datum[i]];
        sum += item->weight * fmin(FAR, fabs(item->ln_t - ln_time[t->datum[i]]));
        weight += item->weight;
    }
    return weight > 0 ? sum / weight : 0;
}

static void fit_group(const struct oc_key_tree *tree, unsigned group, struct oc_residuals *out)
{
    const struct oc_cal_data *d = tree->data;
    struct table t;
    make_table(tree, group, &t);
    if (t.n >= MIN_ROWS && d->n_fold > 1) {
        double *ln_time = oc_xmalloc(d->n * sizeof(*ln_time));
        for (uint32_t f = 0; f < d->n_fold; f++)
            answer_fold(&t, f, ln_time);
        if (error_of(&t, ln_time) <= BETTER * error_of(&t, out->ln_curve)) {
            out->forest[group] = forest_without(&t, d->n_fold, tree->arena);
            for (size_t i = 0; i < t.n; i++)
                out->ln_time[t.datum[i]] = ln_time[t.datum[i]];
        }
        free(ln_time);
    }
    free_table(&t);
}

void oc_residuals_fit(const struct oc_key_tree *tree, bool no_forest, struct oc_residuals *out)
{
    const struct oc_cal_data *d = tree->data;
    *out = (struct oc_residuals){.forest = {NULL}};
    out->ln_time = OC_NEW_ARRAY(tree->arena, d->n + 1, double);
    out->ln_curve = OC_NEW_ARRAY(tree->arena, d->n + 1, double);
    for (size_t i = 0; i < d->n; i++)
        out->ln_time[i] = out->ln_curve[i] = ln_base(tree, i, d->item[i].fold);
    for (unsigned g = 0; g < OC_KG_COUNT && !no_forest; g++)
        fit_group(tree, g, out);
}
