/* Matrix products: what MatMul, Gemm, their quantized and fused forms share. */
#ifndef OC_GEMM_H
#define OC_GEMM_H

#include "ops/op.h"

/* Shape of numpy's matmul of two shapes, and the length of the contracted axis. Returns 0, or -1 (error
 * told). An operand of unknown rank gives an unranked result. */
int oc_matmul_shape(struct oc_op_ctx *c, const struct oc_shape *a, const struct oc_shape *b,
                    struct oc_shape *out, struct oc_dim *depth);

/* Dims that must be equal: the known one of the two. Returns 0, or -1 when both are known and differ. */
int oc_unify(struct oc_op_ctx *c, struct oc_dim a, struct oc_dim b, const char *what, struct oc_dim *out);

#endif
