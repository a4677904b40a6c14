/* Arithmetic on single elements of small values: known integers and reals, integer expressions, and real
 * multiples of them (OC_E_RATIO). Results that cannot be represented exactly are OC_E_UNKNOWN. Pure
 * functions, used by fold rules. */
#ifndef OC_ELEM_H
#define OC_ELEM_H

#include "ops/op.h"
#include "shape/type.h"

enum oc_elem_op {
    OC_EL_ADD,
    OC_EL_SUB,
    OC_EL_MUL,
    OC_EL_DIV, /* truncating for integers */
    OC_EL_MOD, /* has the sign of the divisor */
    OC_EL_FMOD,
    OC_EL_POW,
    OC_EL_MIN,
    OC_EL_MAX,
    OC_EL_EQ,
    OC_EL_LT,
    OC_EL_LE,
    OC_EL_GT,
    OC_EL_GE,
    OC_EL_AND,
    OC_EL_OR,
    OC_EL_XOR
};

enum oc_elem_fn {
    OC_EL_NEG,
    OC_EL_ABS,
    OC_EL_FLOOR,
    OC_EL_CEIL,
    OC_EL_ROUND,
    OC_EL_SQRT,
    OC_EL_RECIPROCAL,
    OC_EL_EXP,
    OC_EL_LOG,
    OC_EL_NOT
};

/* dtype: of the result (reals are rounded to it); for comparisons of the operands. */
struct oc_elem oc_elem_op(struct oc_exprs *x, unsigned op, unsigned dtype, const struct oc_elem *a,
                          const struct oc_elem *b);
struct oc_elem oc_elem_fn(struct oc_exprs *x, unsigned fn, unsigned dtype, const struct oc_elem *a);

bool oc_elem_same(const struct oc_elem *a, const struct oc_elem *b); /* provably the same value */

/* ---- fold rules --------------------------------------------------------------------------------------- */

/* Helpers of fold rules: element-wise operations on small values. */

/* Number of elements if the shape is known and not above OC_MAX_DATA. */
bool oc_fold_count(const struct oc_shape *s, uint32_t *n);

/* Computes one element of the result from one element of each input (n of them). */
typedef struct oc_elem oc_fold_fn(struct oc_op_ctx *c, const struct oc_elem *const *in, unsigned n);

/* Sets out 0 to fn over all inputs, broadcast to the shape of out 0. An input without a value gives
 * OC_E_UNKNOWN elements; does nothing when no input has a value. */
void oc_fold_broadcast(struct oc_op_ctx *c, oc_fold_fn *fn);

#endif
