/* Control flow. analyze/control.c infers through the bodies; the rows here make the operators known. */
#include "ops/op.h"

/* Without their bodies the outputs are unknown. */
static int shape_unknown(struct oc_op_ctx *c)
{
    for (uint32_t i = 0; i < c->n_out; i++)
        oc_set_out_type(c, i, NULL);
    return 0;
}

#define CONTROL(d, n, v, sl)                                                                                 \
    {                                                                                                        \
        .domain = (d), .name = (n), .since = (v), .op_class = OC_OP_CONTROL, .flags = OC_F_CONTROL,          \
        .slots = (sl), .shape = shape_unknown                                                                \
    }

static const struct oc_op rows[] = {
    CONTROL("com.microsoft", "BeamSearch", 1, ".m"),
    CONTROL("com.microsoft", "GreedySearch", 1, ".m"),
    CONTROL("", "If", 1, "m"),
    CONTROL("", "Loop", 1, "mm."),
    CONTROL("com.microsoft", "Sampling", 1, ".m"),
    CONTROL("", "Scan", 8, NULL),
    CONTROL("", "SequenceMap", 17, NULL),
    CONTROL("com.microsoft", "WhisperBeamSearch", 1, ".m"),
};
extern const struct oc_op_family oc_ops_control;
const struct oc_op_family oc_ops_control = OC_FAMILY("control", rows);
