/* The tree of keys (group, class, class and type) and their fits: one on all data, and one per fold without
 * the fold's data. */
#ifndef OC_CAL_KEYS_H
#define OC_CAL_KEYS_H

#include "estimate/cal_fit.h"
#include "estimate/forest.h"

struct oc_key_fit {
    uint8_t cls, dtype, kind; /* as in struct oc_cal_key */
    int32_t parent;
    double ec_shift, em_shift; /* ln, offset from the parent's parameters */
    double peak;
    struct oc_cfit_row *row;
    size_t n;
    struct oc_cfit_choice choice;
    struct oc_cfit_theta *theta; /* [n_fold + 1]: the last one is fitted to all data */
    double lambda;
    bool ec_known, em_known;
    double curve_error; /* weighted mean |ln ratio| of held-out rows */
    int32_t same_as;    /* its only type has all data of the class: copied from there; -1 */
};

struct oc_key_tree {
    struct oc_arena *arena;
    const struct oc_cal_data *data;
    double alpha[OC_CFIT_ALPHAS];
    unsigned n_alpha;
    struct oc_key_fit *key;
    size_t n_key;
    struct oc_leaf { /* key of each datum */
        int32_t key;
        size_t row;
    } * leaf;
};

void oc_key_tree_fit(struct oc_arena *a, const struct oc_cal_data *data, const struct oc_device *device,
                     struct oc_key_tree *out);

/* ln of the predictions, by the fits without a fold (n_fold: all data), for a row of the key. */
double oc_key_ln_time(const struct oc_key_fit *key, uint32_t fold, size_t row);
size_t
oc_key_distinct(const struct oc_key_fit *key); /* number of signatures; kernels without one count each */
struct oc_cal_curve oc_key_curve(const struct oc_key_fit *key, uint32_t fold, double dram_bytes_per_s);

/* ---- cal residual ----------------------------------------------------------------------------------- */

/* Residuals of the curves: a random forest for each group of classes where it reduces the error, and the
 * final predictions of every datum by fits trained without its network. */

struct oc_residuals {
    const struct oc_forest *forest[OC_KG_COUNT]; /* trained on all data; NULL: the curves alone are better */
    double *ln_time;  /* held-out prediction of each datum, including forest and guard */
    double *ln_curve; /* the same without the forest */
};

void oc_residuals_fit(const struct oc_key_tree *tree, bool no_forest, struct oc_residuals *out);

#endif
