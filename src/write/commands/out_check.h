/* Formats of a check: table, CSV, JSON, Markdown, JUnit XML, SARIF, annotations of GitHub Actions. */
#ifndef OC_OUT_CHECK_H
#define OC_OUT_CHECK_H

#include "gate/limits.h"

const char *oc_check_result_name(enum oc_check_result r); /* "passed", "failed", "inconclusive" */
/* Machine-readable name of the limit: "max-macs", "min-efficiency", "forbid". Arena text. */
const char *oc_check_rule(struct oc_arena *a, const struct oc_limit *l);
/* "3 of 4 limits passed, 1 failed" */
const char *oc_check_summary(struct oc_arena *a, const struct oc_check *c);

/* An assumption of the figures: "dim batch = 1: default"; NULL past the end. Arena text. */
const char *oc_check_assumption(struct oc_arena *a, const struct oc_check *c, uint32_t i);

void oc_check_junit(const struct oc_check *c, FILE *f);
void oc_check_sarif(const struct oc_check *c, FILE *f);
void oc_check_github(const struct oc_check *c, FILE *f);

#endif
