/* Numbers, sums and regular expressions as Python has them. MegEngine's tool is a Python program and its tables
 * are compared byte for byte, so the details matter: when an exponent is used, which texts count as numbers, in
 * which order sums are rounded. Independent of the locale.
 *
 * The format functions write into buf (cap >= OC_PY_NUM) and return it. nan has no sign here. */
#ifndef OC_PYTHON_H
#define OC_PYTHON_H

#include <stdbool.h>
#include <stddef.h>

#include "onnxcost_types.h"

#define OC_PY_NUM 352 /* room for "{:.4f}" of the largest double */

const char *oc_py_general3(double v, char *buf);                 /* "{:.3}" */
const char *oc_py_fixed(double v, unsigned decimals, char *buf); /* "{:.2f}"; decimals <= 9 */
const char *oc_py_g(double v, char *buf);                        /* "{:g}" */
const char *oc_py_repr(double v, char *buf);                     /* "{}" */

/* v divided by the base until below it; *prefix becomes "", "K", ... "P". Non-finite values are unchanged. */
double oc_py_scaled(double v, double base, const char **prefix);

/* Whether int(text) or float(text) would succeed. nan and infinities are numbers only without other
 * characters. */
bool oc_py_is_int(const char *s, size_t n);
bool oc_py_is_number(const char *s, size_t n);
/* float(text); false if Python would raise. Overflow gives an infinity. */
bool oc_py_float(const char *s, size_t n, double *out);

/* numpy's sum, mean, max and min of n doubles (n >= 1 except for the sum), with identical rounding. */
double oc_np_sum(const double *v, size_t n);
double oc_np_mean(const double *v, size_t n);
double oc_np_max(const double *v, size_t n);
double oc_np_min(const double *v, size_t n);

/* ---- regular expressions ------------------------------------------------------------------------------ */

/* Name filters: regular expressions in Python's syntax, matched from the start of a name as re.match does
 * (the end is free). PCRE2 matches; syntax that differs is translated before. */

struct oc_name_pattern;

/* Freed by oc_pattern_free. Errors: OC_EARG with the position in the expression, OC_ELIBRARY without PCRE2. */
int oc_pattern_compile(const char *expression, struct oc_name_pattern **out, struct oc_err *err);
void oc_pattern_free(struct oc_name_pattern *p);

/* 1: matches, 0: does not, -1: failed (OC_ELIMIT: the expression backtracks too much). */
int oc_pattern_match(const struct oc_name_pattern *p, const char *text, struct oc_err *err);

/* Version of PCRE2, "10.42", and the file it was loaded from. */
int oc_pattern_version(char *version, size_t version_cap, char *file, size_t file_cap, struct oc_err *err);

#endif
