/* Counts of the rules in the tables of conventions. */
#include "analyze/convention.h"

#include <string.h>

#include "ops/shared_rules.h"

/* ---- sizes ------------------------------------------------------------------------------------------ */

static const struct oc_shape *out_shape(const struct oc_op_ctx *c)
{
    static const struct oc_shape unranked = {0};
    const struct oc_type *o = oc_out(c, 0);
    return o && o->kind == OC_T_TENSOR ? &o->shape : &unranked;
}

/* The dimension at an axis; 0 beyond the rank. */
static uint64_t dim_at(struct oc_op_ctx *c, const struct oc_shape *s, unsigned axis)
{
    return s->ranked && axis < s->rank ? oc_c_dim(c, s->dim[axis]) : 0;
}

static uint64_t last_dim(struct oc_op_ctx *c, unsigned slot)
{
    const struct oc_shape *s = oc_in_shape(c, slot);
    return s->ranked && s->rank ? dim_at(c, s, s->rank - 1U) : 0;
}

/* a * x + b * y; a negative b subtracts, down to 0. */
static uint64_t convention_rules_combine(struct oc_op_ctx *c, int a, uint64_t x, int b, uint64_t y)
{
    uint64_t n = oc_c_mul(c, (uint64_t)a, x), m = oc_c_mul(c, (uint64_t)(b < 0 ? -b : b), y);
    return b >= 0 ? oc_c_add(c, n, m) : n > m ? n - m : 0;
}

static uint64_t present_inputs(const struct oc_op_ctx *c)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < c->n_in; i++)
        n += oc_in(c, i) != NULL;
    return n;
}

static uint64_t bias_of(struct oc_op_ctx *c)
{
    const struct oc_op *op = c->op;
    const char *b = op->slots ? strchr(op->slots, 'b') : NULL;
    return b ? oc_c_in(c, (unsigned)(b - op->slots)) : 0;
}

static uint64_t out_bias(struct oc_op_ctx *c)
{
    return bias_of(c) ? oc_c_out(c, 0) : 0;
}

/* Normalised rows: product of the dimensions before the axis, or all dimensions but that of the axis. */
static uint64_t convention_rules_rows(struct oc_op_ctx *c, bool all)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    unsigned axis;
    if (!x->ranked || !oc_axis(oc_attr_i(c, "axis", -1), x->rank, &axis))
        return 0;
    uint64_t before = oc_c_range(c, x, 0, axis);
    return all ? oc_c_mul(c, before, oc_c_range(c, x, axis + 1U, x->rank)) : before;
}

/* ---- rules without MACs ----------------------------------------------------------------------------- */

/* Every primitive once, except divisions. */
static uint64_t without_div(struct oc_op_ctx *c, const struct oc_cost *k)
{
    uint64_t sum = 0;
    for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
        if (p != OC_DIV)
            sum = oc_c_add(c, sum, oc_c_add(c, k->hist_f[p], k->hist_i[p]));
    return sum;
}

enum mode { NEAREST, LINEAR, CUBIC };

static enum mode resize_mode(const struct oc_op_ctx *c)
{
    const char *mode = oc_attr_s(c, "mode", "nearest");
    return strcmp(mode, "nearest") == 0 ? NEAREST : strcmp(mode, "cubic") == 0 ? CUBIC : LINEAR;
}

static unsigned upsample_unit(const struct oc_op_ctx *c, unsigned nearest)
{
    static const unsigned linear[] = {[3] = 5, [4] = 11}; /* by rank */
    unsigned rank = oc_in_shape(c, 0)->rank;
    enum mode mode = resize_mode(c);
    return mode == NEAREST ? nearest : mode == CUBIC ? 259 : rank < OC_COUNT(linear) ? linear[rank] : 0;
}

/* torch.nn.functional.interpolate: with sizes, their product; with scales, N(x) * scale^power. */
static uint64_t scaled(struct oc_op_ctx *c, uint64_t power)
{
    const struct oc_shape *x = oc_in_shape(c, 0), *o = out_shape(c);
    uint64_t n = oc_c_in(c, 0), in = dim_at(c, x, 2);
    if (oc_in(c, 3))
        return o->rank > 2 ? oc_c_range(c, o, 2, o->rank) : 0;
    uint64_t scale = in ? dim_at(c, o, 2) / in : 1;
    for (uint64_t i = 0; i < power && scale > 1 && n && !c->overflow; i++)
        n = oc_c_mul(c, n, scale);
    return n;
}

static uint64_t first_two_of_window(struct oc_op_ctx *c)
{
    uint32_t n;
    const int64_t *k = oc_attr_ints(c, "kernel_shape", &n);
    if (!k || !n || k[0] < 0 || (n == 2 && k[1] < 0))
        return 0;
    return oc_c_mul(c, (uint64_t)k[0], n == 2 ? (uint64_t)k[1] : 1);
}

static uint64_t constant_params(struct oc_op_ctx *c, unsigned from, unsigned to)
{
    uint64_t n = 0;
    for (unsigned i = from; i <= to; i++)
        n = oc_c_add(c, n, oc_in_is_const(c, i) ? oc_c_in(c, i) : 0);
    return n;
}

static uint64_t lrn_size(const struct oc_op_ctx *c)
{
    int64_t size = oc_attr_i(c, "size", 0);
    return size > 0 ? (uint64_t)size : 0;
}

static uint64_t without_macs(const struct oc_rule *r, struct oc_op_ctx *c, const struct oc_cost *k)
{
    uint64_t inputs = present_inputs(c), n = oc_c_out(c, 0), most = (uint64_t)r->a;
    switch (r->kind) {
    case OC_R_PER_OUT:
        return oc_c_mul(c, n, (uint64_t)r->a);
    case OC_R_PER_IN:
        return oc_c_mul(c, oc_c_in(c, 0), (uint64_t)r->a);
    case OC_R_IN_OUT:
        return convention_rules_combine(c, r->a, oc_c_in(c, 0), r->b, n);
    case OC_R_ROWS:
    case OC_R_AXIS_ROWS:
        return convention_rules_combine(c, r->a, oc_c_in(c, 0), r->b,
                                        convention_rules_rows(c, r->kind == OC_R_AXIS_ROWS));
    case OC_R_INPUTS:
        return oc_c_mul(c, n, (inputs > most ? inputs : most) - 1);
    case OC_R_WINDOW:
        return oc_c_mul(c, n, first_two_of_window(c));
    case OC_R_LRN:
        return convention_rules_combine(c, r->a, n, 1, oc_c_mul(c, n, lrn_size(c)));
    case OC_R_RESIZE:
        return oc_c_mul(c, n, (uint64_t)(const int16_t[]){r->a, r->b, r->d}[resize_mode(c)]);
    case OC_R_UPSAMPLE:
        return oc_c_mul(c, n, upsample_unit(c, (unsigned)r->a));
    case OC_R_SCALED:
        return scaled(c, oc_c_mul(c, (uint64_t)r->a, dim_at(c, oc_in_shape(c, 0), 0)));
    case OC_R_NO_DIV:
        return without_div(c, k);
    case OC_R_PARAMS:
        return oc_c_mul(c, dim_at(c, out_shape(c), 0), constant_params(c, (unsigned)r->a, (unsigned)r->b));
    default:
        return 0;
    }
}

/* ---- rules with MACs -------------------------------------------------------------------------------- */

/* Steps * batch of a recurrent operator, and hidden elements of all directions. */
static uint64_t convention_rules_steps(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    return x->ranked && x->rank >= 2 ? oc_c_range(c, x, 0, 2) : 0;
}

static uint64_t hidden(struct oc_op_ctx *c, bool directions)
{
    const struct oc_shape *w = oc_in_shape(c, 1); /* {directions, gates * hidden, inputs} */
    uint64_t gates = strcmp(c->op->name, "LSTM") == 0 ? 4 : strcmp(c->op->name, "GRU") == 0 ? 3 : 1;
    uint64_t one = dim_at(c, w, 1) / gates;
    return directions ? oc_c_mul(c, dim_at(c, w, 0), one) : one;
}

/* Channels of one group of the window: M/g of a transposed convolution's weights {C, M/g, k...}. */
static uint64_t convention_rules_window(struct oc_op_ctx *c)
{
    const struct oc_shape *w = oc_in_shape(c, 1);
    return w->ranked && w->rank > 2 ? oc_c_range(c, w, 2, w->rank) : 0;
}

static uint64_t convention_rules_group(const struct oc_op_ctx *c)
{
    int64_t g = oc_attr_i(c, "group", 1);
    return g > 0 ? (uint64_t)g : 1;
}

/* Positions of a plain convolution of the input with the attributes of the transposed one. */
static uint64_t plain_positions(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0), *w = oc_in_shape(c, 1);
    struct oc_windows win;
    if (!x->ranked || !w->ranked || x->rank < 3 || oc_windows_read(c, x->rank - 2U, w->dim + 2, &win))
        return 0;
    uint64_t n = dim_at(c, x, 0);
    for (unsigned i = 0; i < win.n; i++) {
        struct oc_dim out = oc_window_out(c->exprs, x->dim[2 + i], &win.axis[i]);
        n = oc_c_mul(c, n, oc_is_known(out) && out.v < 0 ? 0 : oc_c_dim(c, out));
    }
    return n;
}

/* MACs of a transposed convolution as the rule sees them. */
static uint64_t convention_rules_transposed(const struct oc_rule *r, struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0), *w = oc_in_shape(c, 1), *o = out_shape(c);
    if (!x->ranked || !w->ranked || !o->ranked || x->rank < 2 || o->rank < 2)
        return 0;
    uint64_t channels = dim_at(c, x, 1), per_group = dim_at(c, w, 1), out = oc_c_out(c, 0);
    switch (r->kind) {
    case OC_R_POSITIONS:
        return oc_c_mul(c, out, oc_c_mul(c, per_group, convention_rules_window(c)));
    case OC_R_POSITIONS_IN:
        return oc_c_mul(c, out,
                        oc_c_mul(c, channels / convention_rules_group(c), convention_rules_window(c)));
    case OC_R_POSITIONS_W:
        return oc_c_mul(c, oc_c_mul(c, dim_at(c, o, 0), oc_c_range(c, o, 2, o->rank)), oc_c_in(c, 1));
    default:
        return oc_c_mul(c, oc_c_in(c, 0),
                        oc_c_mul(c, per_group / convention_rules_group(c), convention_rules_window(c)));
    }
}

static bool has_constant_weight(const struct oc_op_ctx *c)
{
    for (unsigned i = 1; i < c->n_in; i++)
        if (oc_in_is_const(c, i) && oc_in_shape(c, i)->rank >= 2)
            return true;
    return false;
}

/* The MACs that the rule counts; `macs` is their real number. */
static uint64_t seen_macs(const struct oc_rule *r, struct oc_op_ctx *c, uint64_t macs)
{
    switch (r->kind) {
    case OC_R_FLAT:
        return out_shape(c)->rank > 2 ? 0 : macs;
    case OC_R_WEIGHTED:
        return has_constant_weight(c) ? macs : 0;
    case OC_R_LEFT:
        return oc_c_mul(c, oc_c_in(c, 0), last_dim(c, (unsigned)r->b));
    case OC_R_POSITIONS:
    case OC_R_POSITIONS_IN:
    case OC_R_POSITIONS_W:
    case OC_R_TRANSPOSED:
        return convention_rules_transposed(r, c);
    default:
        return macs;
    }
}

/* What the rule adds to the MACs. */
static uint64_t added_to_macs(const struct oc_rule *r, struct oc_op_ctx *c, const struct oc_cost *k)
{
    switch (r->kind) {
    case OC_R_MAC_BIAS:
        return out_bias(c);
    case OC_R_MAC_VECTOR:
        return bias_of(c);
    case OC_R_MAC_INPUTS:
        return present_inputs(c) == (uint64_t)r->b ? out_bias(c) : 0;
    case OC_R_MAC_LISTED:
    case OC_R_POSITIONS:
        return c->n_in == (uint32_t)r->b ? oc_c_out(c, 0) : 0;
    case OC_R_WEIGHTED:
        return r->b && has_constant_weight(c) ? out_bias(c) : 0;
    case OC_R_ATTENTION:
        return convention_rules_combine(c, r->b, oc_c_add(c, k->hist_f[OC_EXP], k->hist_i[OC_EXP]), r->d,
                                        oc_c_in(c, 0));
    case OC_R_STEPS:
        return oc_c_mul(c, convention_rules_steps(c),
                        convention_rules_combine(c, 1, oc_c_in(c, 3), r->b, hidden(c, false)));
    case OC_R_POSITIONS_W:
        return out_bias(c);
    case OC_R_TRANSPOSED:
        return bias_of(c) ? oc_c_mul(c, plain_positions(c), dim_at(c, oc_in_shape(c, 1), 1)) : 0;
    default:
        return 0;
    }
}

static int gate_unit(const struct oc_rule *r, struct oc_op_ctx *c)
{
    return r->b + (oc_c_in(c, 3) ? r->d : 0);
}

/* GATES may take more than it adds: 2K - 1 for a product of K terms. */
static void count_gates(const struct oc_rule *r, struct oc_op_ctx *c, struct oc_count_parts *p)
{
    uint64_t elements = oc_c_mul(c, convention_rules_steps(c), hidden(c, true));
    int unit = gate_unit(r, c);
    if (unit < 0)
        p->mac_part = convention_rules_combine(c, 1, p->mac_part, unit, elements);
    else
        p->rest = oc_c_mul(c, (uint64_t)unit, elements);
}

void oc_rule_count(const struct oc_rule *r, struct oc_op_ctx *c, const struct oc_cost *k,
                   struct oc_count_parts *p)
{
    if (k->alias || r->kind == OC_R_NOTHING)
        return;
    if (r->kind < OC_R_MAC) {
        p->rest = without_macs(r, c, k);
        return;
    }
    p->unit = (uint64_t)r->a;
    p->mac_part = oc_c_mul(c, p->unit, seen_macs(r, c, p->macs));
    if (r->kind == OC_R_GATES)
        count_gates(r, c, p);
    else
        p->rest = added_to_macs(r, c, k);
}

/* ---- texts ------------------------------------------------------------------------------------------ */

static const char *signed_text(struct oc_op_ctx *c, int a, int b, const char *unit)
{
    return oc_printf(c->arena, "%d per element %s %d per %s", a, b < 0 ? "minus" : "and", b < 0 ? -b : b,
                     unit);
}

const char *oc_rule_text(const struct oc_rule *r, struct oc_op_ctx *c)
{
    static const char *const text[] = {
        [OC_R_NOTHING] = "nothing",
        [OC_R_INPUTS] = "inputs - 1 per output element",
        [OC_R_WINDOW] = "the first two sizes of the window per output element",
        [OC_R_UPSAMPLE] = "by mode and rank per output element",
        [OC_R_SCALED] = "the sizes, or the scaled input elements",
        [OC_R_NO_DIV] = "every primitive except divisions",
        [OC_R_PARAMS] = "the parameters, per image of the batch",
        [OC_R_MAC_BIAS] = "the bias at every output element",
        [OC_R_MAC_VECTOR] = "the elements of the bias",
        [OC_R_MAC_INPUTS] = "the bias, by the number of inputs",
        [OC_R_MAC_LISTED] = "the bias, by the number of inputs",
        [OC_R_STEPS] = "the bias and the gates, per step",
        [OC_R_GATES] = "the gates, per step and hidden element",
        [OC_R_ATTENTION] = "scale and softmax",
        [OC_R_POSITIONS] = "the bias at every output element",
        [OC_R_POSITIONS_W] = "the bias at every output element",
        [OC_R_TRANSPOSED] = "the bias at the positions of a convolution of the input",
    };
    switch (r->kind) {
    case OC_R_PER_OUT:
        return oc_printf(c->arena, "%d per output element", r->a);
    case OC_R_PER_IN:
        return oc_printf(c->arena, "%d per input element", r->a);
    case OC_R_IN_OUT:
        return oc_printf(c->arena, "%d per input and %d per output element", r->a, r->b);
    case OC_R_ROWS:
    case OC_R_AXIS_ROWS:
        return signed_text(c, r->a, r->b, "row");
    case OC_R_LRN:
        return oc_printf(c->arena, "%d + size per output element", r->a);
    case OC_R_RESIZE:
        return oc_printf(c->arena, "%d (nearest), %d (linear) or %d (cubic) per output element", r->a, r->b,
                         r->d);
    case OC_R_WEIGHTED:
        return r->b ? "the bias at every output element" : "nothing";
    default:
        return text[r->kind] ? text[r->kind] : "nothing";
    }
}

const char *oc_rule_mac_text(const struct oc_rule *r)
{
    switch (r->kind) {
    case OC_R_FLAT:
        return "products of more than two dimensions are not counted";
    case OC_R_WEIGHTED:
        return "products of two activations are not counted";
    case OC_R_LEFT:
        return "the batch of the first operand counts";
    case OC_R_GATES:
        return "a product of K terms counts 2K - 1";
    case OC_R_TRANSPOSED:
        return "the channels are divided by the group twice";
    case OC_R_POSITIONS_IN:
        return "every output element uses a whole window of the input channels";
    default:
        return "every output element uses a whole window";
    }
}
