/* Error measures of predictions. */
#ifndef OC_SCORES_H
#define OC_SCORES_H

#include "estimate/validate.h"

struct oc_score_item {
    double measured, predicted;    /* items without a positive prediction are skipped */
    double lo80, hi80, lo95, hi95; /* NAN: the predictor has no intervals */
};
void oc_score_kernels(const struct oc_score_item *item, const double *repeats, size_t n,
                      struct oc_kernel_scores *out);
void oc_score_models(const struct oc_score_item *item, size_t n, struct oc_model_scores *out);

/* Spearman rank correlation, ties at their mean rank; NAN for fewer than 2. */
double oc_spearman(const double *a, const double *b, size_t n);

#endif
