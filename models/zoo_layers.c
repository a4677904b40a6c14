#include "zoo.h"

/* ---- activations --------------------------------------------------------------------------------------- */

static const char *silu(struct zoo *z, const char *x)
{
    return zoo_op2(z, "Mul", x, zoo_op(z, "Sigmoid", x, ""), "");
}

const char *zoo_act(struct zoo *z, const char *x, enum zoo_act act)
{
    static const struct {
        const char *op_type, *attributes;
    } single[] = {
        [ZOO_RELU] = {"Relu", ""},
        [ZOO_SIGMOID] = {"Sigmoid", ""},
        [ZOO_HARD_SWISH] = {"HardSwish", ""},
        [ZOO_HARD_SIGMOID] = {"HardSigmoid", "alpha=0.1666666716337204"},
    };
    if (act == ZOO_LINEAR)
        return x;
    if (act == ZOO_SILU)
        return silu(z, x);
    return act == ZOO_GELU ? zoo_gelu_erf(z, x) : zoo_op(z, single[act].op_type, x, single[act].attributes);
}

/* ---- in a module --------------------------------------------------------------------------------------- */

const char *zoo_op_in(struct zoo *z, const char *module, const char *op_type, const char *x,
                      const char *attributes)
{
    struct zoo_place p = zoo_enter(z, module);
    x = zoo_op(z, op_type, x, attributes);
    zoo_leave(z, p);
    return x;
}

const char *zoo_act_in(struct zoo *z, const char *module, const char *x, enum zoo_act act)
{
    struct zoo_place p = zoo_enter(z, module);
    x = zoo_act(z, x, act);
    zoo_leave(z, p);
    return x;
}

const char *zoo_conv_in(struct zoo *z, const char *module, const char *x, const struct zoo_conv *c)
{
    struct zoo_place p = zoo_enter(z, module);
    x = zoo_conv(z, x, c);
    zoo_leave(z, p);
    return x;
}

const char *zoo_norm_in(struct zoo *z, const char *module, const char *x, int channels)
{
    struct zoo_place p = zoo_enter(z, module);
    x = zoo_batch_norm(z, x, channels);
    zoo_leave(z, p);
    return x;
}

/* ---- children of a Sequential -------------------------------------------------------------------------- */

const char *zoo_act_at(struct zoo *z, int index, const char *x, enum zoo_act act)
{
    struct zoo_place p = zoo_child(z, index);
    x = zoo_act(z, x, act);
    zoo_leave(z, p);
    return x;
}

const char *zoo_conv_at(struct zoo *z, int index, const char *x, const struct zoo_conv *c)
{
    struct zoo_place p = zoo_child(z, index);
    x = zoo_conv(z, x, c);
    zoo_leave(z, p);
    return x;
}

const char *zoo_norm_at(struct zoo *z, int index, const char *x, int channels)
{
    struct zoo_place p = zoo_child(z, index);
    x = zoo_batch_norm(z, x, channels);
    zoo_leave(z, p);
    return x;
}

const char *zoo_conv_norm_act(struct zoo *z, int first, const char *x, const struct zoo_conv *c,
                              enum zoo_act act)
{
    x = zoo_norm_at(z, first + 1, zoo_conv_at(z, first, x, c), c->out);
    return act == ZOO_LINEAR ? x : zoo_act_at(z, first + 2, x, act);
}

/* ---- blocks shared by several models ---- */

const char *zoo_squeeze_excite(struct zoo *z, const char *x, int channels, int squeezed, enum zoo_act act,
                               enum zoo_act gate)
{
    const char *s = zoo_op_in(z, "avgpool", "GlobalAveragePool", x, "");
    s = zoo_conv_in(z, "fc1", s, &(struct zoo_conv){channels, squeezed, 1, 1, 0, 1, true});
    s = zoo_act_in(z, "activation", s, act);
    s = zoo_conv_in(z, "fc2", s, &(struct zoo_conv){squeezed, channels, 1, 1, 0, 1, true});
    return zoo_op2(z, "Mul", zoo_act_in(z, "scale_activation", s, gate), x, "");
}

const char *zoo_layer_norm_2d(struct zoo *z, const char *x, int channels, const char *epsilon)
{
    x = zoo_layer_norm(z, zoo_transpose(z, x, "0,2,3,1"), channels, epsilon);
    return zoo_transpose(z, x, "0,3,1,2");
}
