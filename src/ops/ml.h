/* Shared by the models of ai.onnx.ml. */
#ifndef OC_ML_H
#define OC_ML_H

#include "ops/op.h"

/* Rows and features of X: [N,F], or [F] for one row. Unknown without a rank; fails for other ranks. */
int oc_ml_rows(struct oc_op_ctx *c, struct oc_dim *rows, struct oc_dim *features);

/* Number of class labels, and their type. */
uint32_t oc_ml_labels(struct oc_op_ctx *c, unsigned *dtype);

uint32_t oc_ml_count(const struct oc_op_ctx *c,
                     const char *attr); /* elements of a list attribute or tensor */

/* The work is floating point, whatever the type of X. */
void oc_ml_float(struct oc_op_ctx *c, struct oc_cost *k);

/* A transformation of n scores: "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT". */
/* Primitives of the transformation, per element. */
#define OC_ML_POST_FORMULA                                                                                   \
    "CMP = soft + probit; ADD = 2*soft + 6*probit; EXP = soft; DIV = soft; SIG = logistic; MUL = 7*probit; " \
    "LOG = probit; SQRT = 2*probit; soft := 0; logistic := 0; probit := 0"
void oc_ml_post_transform(struct oc_op_ctx *c, struct oc_cost *k, const char *name, uint64_t n);

#endif
