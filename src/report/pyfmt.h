/* Numbers as text and back, the way Python writes and reads them. MegEngine's tool is a Python program and
 * its tables are compared byte for byte, so the details matter: which numbers take an exponent, what counts
 * as a number inside a text column, in which order sums are rounded. No locale.
 *
 * The format functions write into buf (cap >= OC_PY_NUM) and return it. nan has no sign here. */
#ifndef OC_PYFMT_H
#define OC_PYFMT_H

#include <stdbool.h>
#include <stddef.h>

#define OC_PY_NUM 352 /* "{:.4f}" of the largest double and then some */

const char *oc_py_general3(double v, char *buf);                 /* "{:.3}" */
const char *oc_py_fixed(double v, unsigned decimals, char *buf); /* "{:.2f}"; decimals <= 9 */
const char *oc_py_g(double v, char *buf);                        /* "{:g}" */
const char *oc_py_repr(double v, char *buf);                     /* "{}" */

/* v divided by the base until below it; *prefix becomes "", "K", ... "P". What is not finite stays. */
double oc_py_scaled(double v, double base, const char **prefix);

/* Would int(text) or float(text) work? nan and the infinities are numbers only when written bare. */
bool oc_py_is_int(const char *s, size_t n);
bool oc_py_is_number(const char *s, size_t n);
/* float(text); false if Python would raise. Overflow gives an infinity. */
bool oc_py_float(const char *s, size_t n, double *out);

/* numpy's sum, mean, max and min of n doubles (n >= 1 but for the sum), with their rounding. */
double oc_np_sum(const double *v, size_t n);
double oc_np_mean(const double *v, size_t n);
double oc_np_max(const double *v, size_t n);
double oc_np_min(const double *v, size_t n);

#endif
