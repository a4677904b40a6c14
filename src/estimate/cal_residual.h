/* What the curves leave over: a forest for each group of classes where that helps, and the final predictions
 * of every datum by fits that had not seen its network. */
#ifndef OC_CAL_RESIDUAL_H
#define OC_CAL_RESIDUAL_H

#include "estimate/cal_keys.h"

struct oc_residuals {
    const struct oc_forest *forest[OC_KG_COUNT]; /* of all data; NULL: the curves are better alone */
    double *ln_time;                             /* of each datum, held out; the forest and the guard in it */
    double *ln_curve;                            /* the same without the forest */
};

void oc_residuals_fit(const struct oc_key_tree *tree, bool no_forest, struct oc_residuals *out);

/* A curve's time with the forest's answer (ln) on it, not beyond what physics allows. */
double oc_residual_apply(double t_s, double answer, const struct oc_cal_point *point);

#endif
