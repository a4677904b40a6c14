/* Matrix products: shared by MatMul, Gemm, and their quantized and fused forms. */
#ifndef OC_GEMM_H
#define OC_GEMM_H

#include "ops/op.h"

/* Result shape of numpy's matmul for two shapes, and the length of the contracted axis. Returns 0, or -1
 * after an error. An operand of unknown rank gives an unranked result. */
int oc_matmul_shape(struct oc_op_ctx *c, const struct oc_shape *a, const struct oc_shape *b,
                    struct oc_shape *out, struct oc_dim *depth);

/* Merges dims that must be equal: returns the known one. Returns 0, or -1 when both are known and differ. */
int oc_unify(struct oc_op_ctx *c, struct oc_dim a, struct oc_dim b, const char *what, struct oc_dim *out);

#endif
