/* Control flow. analyze/control.c infers through the bodies; the rows here make the operators known. */
#include "ops/op.h"

/* Without their bodies the outputs are unknown. */
static int shape_unknown(struct oc_op_ctx *c)
{
    for (uint32_t i = 0; i < c->n_out; i++)
        oc_set_out_type(c, i, NULL);
    return 0;
}

#define CONTROL(d, n, v, fl, b, sl)                                                                          \
    {                                                                                                        \
        .domain = (d), .name = (n), .since = (v), .op_class = OC_OP_CONTROL, .flags = OC_F_CONTROL | (fl),   \
        .body = OC_BODY_##b, .slots = (sl), .shape = shape_unknown                                           \
    }

static const struct oc_op control_rows[] = {
    CONTROL("com.microsoft", "BeamSearch", 1, 0, GENERATION, ".m"),
    CONTROL("com.microsoft", "GreedySearch", 1, 0, GENERATION, ".m"),
    CONTROL("", "If", 1, 0, IF, "m"),
    CONTROL("", "Loop", 1, 0, LOOP, "mm."),
    CONTROL("com.microsoft", "Sampling", 1, 0, GENERATION, ".m"),
    CONTROL("", "Scan", 8, 0, SCAN, NULL),
    CONTROL("", "SequenceMap", 17, OC_F_FUNCTION, MAP, NULL),
    CONTROL("com.microsoft", "WhisperBeamSearch", 1, 0, GENERATION, ".m"),
};
OC_FAMILY(control, control_rows);

/* ---- work that a model does not define ---------------------------------------------------------------- */

/* Operators whose work is not defined in the model (cost-semantics 4.17), and copies between devices. Their
 * output types are those declared in the file. */

static int shape_declared(struct oc_op_ctx *c)
{
    (void)c; /* outputs without a type get the declared one */
    return 0;
}

static int cost_opaque(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    c->unknown = true;
    c->assumption = "the model does not define what the operator computes";
    return 0;
}
static const char cost_opaque_formula[] = "";

/* tokens, suffix_match_idx */
static int shape_bifurcation(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_1d(c->arena, oc_op_fresh_dim(c, "tokens", -1)));
    oc_set_out(c, 1, oc_in_dtype(c, 0), oc_shape_scalar());
    return 0;
}

#define OPAQUE(d, n, sh)                                                                                     \
    {                                                                                                        \
        .domain = (d), .name = (n), .since = 1, .op_class = OC_OP_OTHER,                                     \
        .flags = OC_F_NO_FOLD | OC_F_LOW_CONFIDENCE, .shape = (sh), OC_COST(cost_opaque)                     \
    }
#define MEMCPY(n)                                                                                            \
    {                                                                                                        \
        .domain = "com.microsoft", .name = (n), .since = 1, .op_class = OC_OP_COPY, .shape = oc_shape_same,  \
        .fold = oc_fold_same                                                                                 \
    }

static const struct oc_op opaque_rows[] = {
    OPAQUE("", "ATen", shape_declared),
    OPAQUE("com.microsoft", "BifurcationDetector", shape_bifurcation),
    OPAQUE("com.microsoft", "EPContext", shape_declared),
    OPAQUE("", "GRUUnit", shape_declared),
    MEMCPY("MemcpyFromHost"),
    MEMCPY("MemcpyToHost"),
    OPAQUE("com.microsoft", "SampleOp", oc_shape_same),
    OPAQUE("com.microsoft", "Snpe", shape_declared),
};
OC_FAMILY(opaque, opaque_rows);
