/* A model built in a test, analyzed: for tests of whole analyses. */
#ifndef OC_RUN_MODEL_H
#define OC_RUN_MODEL_H

#include "analyze/analysis.h"
#include "support/build.h"

struct oc_run {
    uint8_t *bytes;
    struct oc_model *m;
    struct oc_analysis *a; /* NULL if the analysis failed; err has the reason */
    struct oc_err err;
};

/* Packs, loads (a failure fails the test) and analyzes; frees the builder. opts may be NULL. */
struct oc_run oc_run_model(struct oc_builder *b, const struct oc_analyze_opts *opts);
void oc_run_free(struct oc_run *r);

/* "float[2,3]" of the value with that name. The test fails if the value or the analysis does not exist. */
const char *oc_run_type(struct oc_run *r, const char *value);
uint32_t oc_run_node(const struct oc_run *r, const char *name);  /* index of the node with that name */
unsigned oc_run_diags(const struct oc_run *r, const char *code); /* number of warnings with that code */

#endif
