/* Which execution provider of ONNX Runtime takes which node, by the operator lists that providers publish.
 * Conventions: onnxcost.h. */
#ifndef ONNXCOST_PROVIDERS_H
#define ONNXCOST_PROVIDERS_H

#include "onnxcost_types.h"

OC_API_BEGIN

struct oc_providers; /* lists in order of priority */

struct oc_provider_info {
    const char *id, *name;    /* "cuda", "CUDAExecutionProvider" */
    const char *variant;      /* "MLProgram"; "" */
    const char *release;      /* version of the runtime that the list describes */
    const char *source, *url; /* of the list */
    const char *note;         /* what the list does not say; "" */
    uint32_t operators;
};

/* Opens lists by id, by the name in ONNX Runtime, or by path. OC_EARG: an unknown or repeated name. */
int oc_providers_open(const char *const *name, size_t n, struct oc_providers **out, struct oc_err *err);
void oc_providers_free(struct oc_providers *p);

/* The lists that there are. format: "table" (NULL), "csv" or "json". */
int oc_providers_write_lists(const char *format, unsigned width_chars, FILE *out, struct oc_err *err);

struct oc_providers_in {
    const struct oc_providers *providers;
    const struct oc_model *model;
    const struct oc_analysis *analysis;
    const struct oc_analysis *file; /* of the same model without given or assumed sizes: what a runtime folds
                                       when it loads the model is constant there; NULL: analysis */
    const struct oc_profile *profile; /* a profile that names providers, for comparison; NULL: none */
    const struct oc_join *join;       /* of the profile; NULL: none */
    const struct oc_device *device;   /* for roofline times; NULL: none */
};

/* Assigns every node to the first provider whose list has it, and writes partitions, transfers, and what
 * falls back, with reasons. A condition that cannot be decided gives two cases: it holds, it does not.
 * format: "table" (NULL), "csv" (one row per node) or "json". */
int oc_providers_write(const struct oc_providers_in *in, const char *format, unsigned width_chars, FILE *out,
                       struct oc_err *err);

OC_API_END

#endif
