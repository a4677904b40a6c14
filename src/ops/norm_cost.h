/* Histograms of normalisations (cost-semantics 4.3, 4.4), for the standard and the fused operators.
 * n: elements, rows: groups that are normalised separately. */
#ifndef OC_NORM_COST_H
#define OC_NORM_COST_H

#include "ops/op.h"

/* Formulas of the next two functions. n: elements, R: rows, b: 1 with a bias */
#define OC_LAYER_NORM_FORMULA "ADD = (3 + b)*n + R; MUL = 3*n; DIV = 3*R; SQRT = R"
#define OC_RMS_NORM_FORMULA   "MUL = 3*n; ADD = n + R; DIV = 2*R; SQRT = R"
void oc_add_layer_norm(struct oc_op_ctx *c, struct oc_cost *k, uint64_t n, uint64_t rows, bool bias);
void oc_add_rms_norm(struct oc_op_ctx *c, struct oc_cost *k, uint64_t n, uint64_t rows);
void oc_add_softmax(struct oc_op_ctx *c, struct oc_cost *k, uint64_t n);

/* Shape with the axes from `axis` on set to 1. */
struct oc_shape oc_row_shape(struct oc_op_ctx *c, const struct oc_shape *x, unsigned axis);

#endif
