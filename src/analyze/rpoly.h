/* Polynomials in several variables with rational coefficients, found by interpolation. Everything is exact:
 * checked 128-bit integers inside, 64-bit coefficients over one denominator outside; overflow is a failure,
 * never a rounded number. */
#ifndef OC_RPOLY_H
#define OC_RPOLY_H

#include "base/buf.h"

#define OC_RPOLY_VARS   8
#define OC_RPOLY_DEGREE 6 /* of one variable */
#define OC_RPOLY_TERMS  2048

struct oc_pow { /* exponents, or steps along the axes */
    uint8_t of[OC_RPOLY_VARS];
};

struct oc_rpoly { /* sum of num * product of x^pow, divided by den */
    unsigned n_var;
    uint32_t n_term;
    int64_t den; /* > 0; 1 for integer coefficients */
    struct {
        int64_t num;
        struct oc_pow pow;
    } * term; /* heap; freed by oc_rpoly_free */
};
void oc_rpoly_free(struct oc_rpoly *p);

/* The points of an interpolation lie at start + i * step, 0 <= i <= degree, along each axis. */
struct oc_rpoly_axis {
    int64_t start, step;
    unsigned degree;
};

/* All i with i.of[k] <= axis[k].degree and a sum of at most `total`: as many points as monomials. Returns
 * their number; 0: more than OC_RPOLY_TERMS. */
size_t oc_rpoly_points(const struct oc_rpoly_axis *axis, unsigned n_var, unsigned total,
                       struct oc_pow out[OC_RPOLY_TERMS]);

/* The unique polynomial over these monomials with value[i] at point[i]. False: overflow. */
bool oc_rpoly_fit(const struct oc_rpoly_axis *axis, unsigned n_var, const struct oc_pow *point,
                  const uint64_t *value, size_t n, struct oc_rpoly *out);

/* Degree of the polynomial through equidistant values: the smallest whose next differences vanish, with a
 * minimum of `checks` of these. -1: none. */
int oc_rpoly_degree(const uint64_t *value, size_t n, unsigned checks);

/* False: not an integer from 0 to UINT64_MAX, or overflow. */
bool oc_rpoly_eval(const struct oc_rpoly *p, const int64_t *x, uint64_t *out);

/* Highest exponent of a variable. */
unsigned oc_rpoly_degree_in(const struct oc_rpoly *p, unsigned var);

/* Format: "batch*(12*sequence^2 + 5*sequence)", with "(...)/2" around fractions. */
void oc_rpoly_text(const struct oc_rpoly *p, const char *const *name, struct oc_buf *out);

#endif
