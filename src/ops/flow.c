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

static const struct oc_op rows[] = {
    CONTROL("com.microsoft", "BeamSearch", 1, 0, GENERATION, ".m"),
    CONTROL("com.microsoft", "GreedySearch", 1, 0, GENERATION, ".m"),
    CONTROL("", "If", 1, 0, IF, "m"),
    CONTROL("", "Loop", 1, 0, LOOP, "mm."),
    CONTROL("com.microsoft", "Sampling", 1, 0, GENERATION, ".m"),
    CONTROL("", "Scan", 8, 0, SCAN, NULL),
    CONTROL("", "SequenceMap", 17, OC_F_FUNCTION, MAP, NULL),
    CONTROL("com.microsoft", "WhisperBeamSearch", 1, 0, GENERATION, ".m"),
};
extern const struct oc_op_family oc_ops_control;
const struct oc_op_family oc_ops_control = OC_FAMILY("control", rows);
