/* Least squares for a few parameters: Levenberg-Marquardt with a robust loss and Gaussian priors.
 * Deterministic; allocates no persistent memory. */
#ifndef OC_LM_H
#define OC_LM_H

#include <stddef.h>

#define OC_LM_MAX 8

/* Fills r[n] for the parameters x; non-finite values count as a very bad fit. jac, if not NULL: d r_i / d x_j at
 * jac[j * n + i], for each of the k parameters. */
typedef void (*oc_lm_residuals)(void *user, const double *x, double *r, double *jac);

struct oc_lm_problem {
    size_t n;   /* residuals; may be 0: the result is the prior */
    unsigned k; /* parameters, 1 .. OC_LM_MAX */
    oc_lm_residuals residuals;
    void *user;
    const double *weight;     /* [n]; NULL: 1 */
    double huber;             /* residuals beyond it count linearly; 0: squares only */
    const double *prior, *sd; /* [k]; NULL: none. sd 0: the parameter is fixed at its start */
    double lambda;            /* weight of the priors */
    const double *lo, *hi;    /* [k]; NULL: no bounds */
    unsigned max_iterations;  /* 0: 50 */
};

/* x: start and result. work: (k + 1) * n doubles. Returns the loss, which is never above that of the start.
 */
double oc_lm_fit(const struct oc_lm_problem *p, double *x, double *work);

/* Starts from `prior` and from points +- 1 sd around it, in a fixed pattern of `starts` (1 .. 8); returns the
 * best. */
double oc_lm_fit_multi(const struct oc_lm_problem *p, const double *start, unsigned starts, double *x,
                       double *work);

#endif
