/* Name filters: regular expressions in Python's syntax, matched from the start of a name as re.match does
 * (the end is free). PCRE2 matches; syntax that differs is translated before. */
#ifndef OC_PATTERN_H
#define OC_PATTERN_H

#include "onnxcost_types.h"

struct oc_name_pattern;

/* Freed by oc_pattern_free. Errors: OC_EARG with the position in the expression, OC_ELIBRARY without PCRE2.
 */
int oc_pattern_compile(const char *expression, struct oc_name_pattern **out, struct oc_err *err);
void oc_pattern_free(struct oc_name_pattern *p);

/* 1: matches, 0: does not, -1: failed (OC_ELIMIT: the expression backtracks too much). */
int oc_pattern_match(const struct oc_name_pattern *p, const char *text, struct oc_err *err);

/* oc_pattern_count: see onnxcost/report.h. */

/* Version of PCRE2, "10.42", and the file it was loaded from. */
int oc_pattern_version(char *version, size_t version_cap, char *file, size_t file_cap, struct oc_err *err);

#endif
