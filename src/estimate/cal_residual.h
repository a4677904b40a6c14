/* Residuals of the curves: a random forest for each group of classes where it reduces the error, and the
 * final predictions of every datum by fits trained without its network. */
#ifndef OC_CAL_RESIDUAL_H
#define OC_CAL_RESIDUAL_H

#include "estimate/cal_keys.h"

struct oc_residuals {
    const struct oc_forest *forest[OC_KG_COUNT]; /* trained on all data; NULL: the curves alone are better */
    double *ln_time;  /* held-out prediction of each datum, including forest and guard */
    double *ln_curve; /* the same without the forest */
};

void oc_residuals_fit(const struct oc_key_tree *tree, bool no_forest, struct oc_residuals *out);

/* A curve's time corrected by the forest (ln), limited to what is physically possible. */
double oc_residual_apply(double t_s, double answer, const struct oc_cal_point *point);

#endif
