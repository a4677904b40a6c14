/* Collectives of ONNX Runtime: com.microsoft (collective_defs.cc, 1.16 and newer) and those of its training
 * graphs (training_op_defs.cc). Sizes and counts are those of one device. */
#include "ops/op.h"

#include <string.h>

static int shape_each(struct oc_op_ctx *c)
{
    for (uint32_t i = 0; i < c->n_out; i++)
        oc_set_out_type(c, i, oc_in(c, i));
    return 0;
}

/* The axis is group_size times as long. */
static int shape_all_gather(struct oc_op_ctx *c)
{
    int64_t group = oc_attr_i(c, "group_size", 1);
    if (group < 1)
        return oc_op_fail(c, "group_size is %lld", (long long)group);
    for (uint32_t i = 0; i < c->n_out; i++) {
        const struct oc_shape *x = oc_in_shape(c, i);
        struct oc_dim dim[OC_MAX_RANK];
        unsigned axis;
        if (!x->ranked) {
            oc_set_out(c, i, oc_in_dtype(c, i), *x);
            continue;
        }
        if (!oc_axis(oc_attr_i(c, "axis", 0), x->rank, &axis))
            return oc_op_fail(c, "axis is out of range for rank %u", (unsigned)x->rank);
        memcpy(dim, x->dim, x->rank * sizeof(*dim));
        dim[axis] = oc_dim_mul(c->exprs, dim[axis], oc_known(group));
        oc_set_out(c, i, oc_in_dtype(c, i), oc_shape_of(c->arena, x->rank, dim));
    }
    return 0;
}

/* In a ring of p devices, each adds (p - 1)/p of the elements: an upper bound is one addition per element. */
static int collective_cost_reduce(struct oc_op_ctx *c, struct oc_cost *k)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < c->n_in; i++)
        n = oc_c_add(c, n, oc_c_in(c, i));
    oc_tell(c, "n", n);
    oc_add(c, k, OC_ADD, n);
    c->upper = true;
    return 0;
}
static const char collective_cost_reduce_formula[] = "ADD = n; n := 0";

/* output, and a scalar: whether it is ready */
static int shape_horovod(struct oc_op_ctx *c)
{
    oc_set_out_type(c, 0, oc_in(c, 0));
    oc_set_out(c, 1, OC_DT_BOOL, oc_shape_scalar());
    return 0;
}

/* A signal; received tensors keep their declared types. */
static int shape_signal(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, OC_DT_BOOL, oc_shape_scalar());
    return 0;
}

#define MS "com.microsoft"
#define REDUCE(d, n, sh)                                                                                     \
    {                                                                                                        \
        .domain = (d), .name = (n), .since = 1, .op_class = OC_OP_REDUCE, .flags = OC_F_NO_FOLD,             \
        .shape = (sh), OC_COST(collective_cost_reduce)                                                       \
    }
#define MOVE(d, n, sh, f)                                                                                    \
    {                                                                                                        \
        .domain = (d), .name = (n), .since = 1, .op_class = OC_OP_COPY, .flags = OC_F_NO_FOLD | (f),         \
        .shape = (sh)                                                                                        \
    }

static const struct oc_op rows[] = {
    REDUCE(MS, "AdasumAllReduce", shape_each),
    MOVE(MS, "AllGather", shape_all_gather, 0),
    REDUCE(MS, "AllReduce", shape_each),
    MOVE(MS, "AllToAll", shape_each, 0),
    MOVE(MS, "Group", shape_signal, 0),
    REDUCE("", "HorovodAllReduce", shape_horovod),
    MOVE("", "HorovodBarrier", shape_horovod, 0),
    MOVE(MS, "NcclAllGather", shape_each, 0),
    REDUCE(MS, "NcclAllReduce", shape_each),
    REDUCE(MS, "NcclReduceScatter", shape_each),
    MOVE(MS, "PassThrough", shape_each, 0),
    MOVE(MS, "Recv", shape_signal, OC_F_LOW_CONFIDENCE),
    MOVE(MS, "Send", shape_signal, 0),
};
extern const struct oc_op_family oc_ops_collective;
const struct oc_op_family oc_ops_collective = OC_FAMILY("collective", rows);
