/* Kernels by data type: operators that ONNX Runtime's CPU provider has no kernel for, half precision that it
 * computes in float, integer kernels of quantized models. */
#include <math.h>
#include <string.h>

#include "estimate/fusion_plan.h"

/* ---- operators without a kernel ------------------------------------------------------------------ */

/* Operators for which ONNX Runtime's CPU provider has no kernel: it runs the nodes of their definition in
 * ONNX. Which nodes: tests/data/fusions.tsv. */

/* Kernels of an operator by their names, in the order of its definition. "-Shape": works on sizes or on one
 * number for each group, not on the tensor. */
static const struct {
    const char *type, *kernels;
    bool half; /* only of half precision */
} functions[] = {
    {"HardSwish", "HardSigmoid Mul", false},
    {"Mish", "Softplus Tanh Mul", false},
    {"Softmax", "-ReduceMax Sub Exp -ReduceSum Div", true},
    {"Gelu", "-Sqrt Div Erf Sum Mul Mul", true},
    {"GroupNormalization",
     "Cast -Shape -Shape -Shape -Shape -Div -Concat Reshape Reshape ReduceMean Mul "
     "ReduceMean -Mul -Sub -Add -Sqrt Sub "
     "Div Reshape Cast -Cast -Cast -Cast -Reshape -Reshape -Reshape Mul Add Reshape",
     false},
};

static const char *kernels_of(const struct oc_fuse *f, const struct oc_fuse_group *g)
{
    bool ort = f->rules != OC_FUSE_GENERIC;
    for (size_t i = 0; i < OC_COUNT(functions) && ort && g->n_node == 1; i++)
        if (!strcmp(g->type, functions[i].type) &&
            (!functions[i].half || (oc_fuse_in_float(f, f->owner[g->core]) && !*f->m->node[g->core].domain)))
            return functions[i].kernels;
    return NULL;
}

size_t oc_fuse_function_size(const struct oc_fuse *f, const struct oc_fuse_group *g)
{
    const char *list = kernels_of(f, g);
    size_t n = 1;
    for (; list && *list; list++)
        n += *list == ' ';
    return n;
}

bool oc_fuse_function(struct oc_fuse *f, const struct oc_fuse_group *g, struct oc_kernel_list *out)
{
    const char *list = kernels_of(f, g);
    while (list && *list) {
        size_t n = strcspn(list, " ");
        bool small = *list == '-';
        struct oc_kernel_use *u = &out->item[out->n++];
        const char *type = oc_strndup(f->arena, list + small, n - small);
        oc_kernel_make(&f->maker, g->node, g->n_node, type, u);
        if (small) {
            u->kernel.work = (struct oc_work){.launches = 1};
            u->kernel.rd_act = u->kernel.rd_wt = u->kernel.wr = 0;
        }
        u->rule = "function";
        u->type = type;
        list += n + (list[n] == ' ');
    }
    return oc_fuse_function_size(f, g) > 1;
}

/* ---- half precision ------------------------------------------------------------------------------ */

/* Half precision on x86: ONNX Runtime's CPU provider has no kernels that compute in it. They compute in
 * float, with a Cast where a tensor comes from, or goes to, an operator that only moves data. */

static bool is_half(const struct oc_fuse *f, uint32_t value)
{
    return value != OC_NONE && f->a->type[value].kind == OC_T_TENSOR &&
           f->a->type[value].dtype == OC_DT_FLOAT16;
}

/* The rules are those of x86; without a blocked layout that is assumed. */
static bool computes_in_float(const struct oc_fuse *f)
{
    return f->rules != OC_FUSE_GENERIC && f->rules != OC_FUSE_ORT_NEON;
}

#define NORMS                                                                                                \
    " LayerNormalization SkipLayerNormalization SkipSimplifiedLayerNormalization "                           \
    "SimplifiedLayerNormalization "
#define TAKE_HALF                                                                                            \
    NORMS "Cast Clip Concat DepthToSpace Expand Flatten Gather GroupQueryAttention Identity Max Min "        \
          "Reshape Shape Size Slice SpaceToDepth Split Squeeze Transpose Unsqueeze "

static bool has_half_kernel(const struct oc_fuse *f, uint32_t group)
{
    return oc_fuse_is(f, f->group[group].core, TAKE_HALF);
}

/* By all optimizations, a norm between operators that compute in float does so too. */
static bool is_between_floats(const struct oc_fuse *f, uint32_t group)
{
    const struct oc_graph_index *x = &f->maker.x;
    uint32_t in = oc_fuse_input(f, f->group[group].core, 0), out = f->group[group].out;
    uint32_t from = in == OC_NONE ? OC_NONE : f->m->value[in].producer;
    from = from == OC_NONE ? OC_NONE : f->owner[from];
    if (oc_fusion_block(f->rules) == 1 || !oc_fuse_is(f, f->group[group].core, NORMS) || from == OC_NONE ||
        has_half_kernel(f, from) || out == OC_NONE || f->m->value[out].graph_output)
        return false;
    for (uint32_t i = x->use_first[out]; i < x->use_first[out + 1]; i++)
        if (f->owner[x->use[i]] == OC_NONE || has_half_kernel(f, f->owner[x->use[i]]))
            return false;
    return true;
}

static bool takes_half(const struct oc_fuse *f, uint32_t group)
{
    return has_half_kernel(f, group) && !is_between_floats(f, group);
}

bool oc_fuse_is_float(const struct oc_fuse *f, uint32_t value)
{
    return value != OC_NONE &&
           (f->a->type[value].dtype == OC_DT_FLOAT || (is_half(f, value) && computes_in_float(f)));
}

bool oc_fuse_in_float(const struct oc_fuse *f, uint32_t group)
{
    return computes_in_float(f) && is_half(f, f->group[group].out) && !takes_half(f, group);
}

/* Whether the value has to be cast for a reader. Constants are cast when the model is loaded, by all
 * optimizations. */
static bool needs_cast(const struct oc_fuse *f, uint32_t v)
{
    const struct oc_graph_index *x = &f->maker.x;
    uint32_t node = f->m->value[v].producer, owner = node == OC_NONE ? OC_NONE : f->owner[node];
    bool half = owner == OC_NONE || takes_half(f, owner), other = f->m->value[v].graph_output && !half;
    if (!is_half(f, v) || oc_fuse_source(f, v) != v || (oc_fuse_const(f, v) && oc_fusion_block(f->rules) > 1))
        return false;
    for (uint32_t i = x->use_first[v]; i < x->use_first[v + 1] && !other; i++) {
        uint32_t reader = f->owner[x->use[i]];
        other = reader != OC_NONE && reader != owner && takes_half(f, reader) != half;
    }
    return other;
}

void oc_fuse_casts(const struct oc_fuse *f, struct oc_kernel_list *out)
{
    for (uint32_t v = 0; v < f->m->n_value && computes_in_float(f); v++) {
        double n = oc_fuse_elements(f, v);
        if (needs_cast(f, v))
            oc_fuse_insert(f, "Cast", v, n * 2, n * 4, out);
    }
}

/* ---- quantized operators ------------------------------------------------------------------------- */

/* Quantized models in QDQ form: ONNX Runtime turns an operator between DequantizeLinear and QuantizeLinear
 * into one integer kernel (its QDQ selectors and actions, level "extended"). A DequantizeLinear with several
 * readers is copied: it belongs to the kernel of each of them. */

/* How an operator is replaced. inputs: slots that must come from a DequantizeLinear, 0: all. */
struct replacement {
    const char *types;  /* " Conv " */
    unsigned inputs;    /* data inputs */
    bool bias;          /* slot 2 may be quantized too, or absent */
    const char *result; /* with a QuantizeLinear after it; NULL: the operator itself, on the same integers */
    const char *floats; /* without one; NULL: not replaced */
    bool weights;       /* slot 1 may be of another type; on x86, slot 0 has no sign */
};

static const struct replacement replacements[] = {
    {" Conv ", 2, true, "QLinearConv", NULL, true},
    {" MatMul ", 2, false, "QLinearMatMul", "MatMulIntegerToFloat", true},
    {" Gemm ", 2, true, "QGemm", "QGemm", true},
    {" Add ", 2, false, "QLinearAdd", NULL, false},
    {" Mul ", 2, false, "QLinearMul", NULL, false},
    {" AveragePool ", 1, false, "QLinearAveragePool", NULL, false},
    {" GlobalAveragePool ", 1, false, "QLinearGlobalAveragePool", NULL, false},
    {" LeakyRelu ", 1, false, "QLinearLeakyRelu", NULL, false},
    {" Sigmoid ", 1, false, "QLinearSigmoid", NULL, false},
    {" Softmax ", 1, false, "QLinearSoftmax", NULL, false},
    {" Concat ", 0, false, "QLinearConcat", NULL, false},
    {" MaxPool Reshape Flatten Transpose Squeeze Unsqueeze Gather Resize Slice Split Expand DepthToSpace "
     "SpaceToDepth Identity ",
     1, false, NULL, NULL, false},
};

static const struct replacement *replacement_of(const struct oc_fuse *f, uint32_t node)
{
    for (size_t i = 0; i < OC_COUNT(replacements); i++)
        if (oc_fuse_is(f, node, replacements[i].types))
            return &replacements[i];
    return NULL;
}

/* The DequantizeLinear that makes the value, also of constants; OC_NONE: another operator. */
static uint32_t dequantizer(const struct oc_fuse *f, uint32_t value)
{
    uint32_t node = value == OC_NONE ? OC_NONE : f->m->value[value].producer;
    return node != OC_NONE && oc_fuse_is(f, node, " DequantizeLinear ") ? node : OC_NONE;
}

/* The same, of integers that the kernels for activations and weights take: not of a bias of 32 bits. */
static uint32_t narrow_dequantizer(const struct oc_fuse *f, uint32_t value)
{
    uint32_t node = dequantizer(f, value), x = node == OC_NONE ? OC_NONE : f->m->node[node].in[0];
    return x != OC_NONE && oc_dtype_info(f->a->type[x].dtype)->bits <= 16 ? node : OC_NONE;
}

/* On x86 the runtime makes signed integers unsigned that one DequantizeLinear with one reader dequantizes. */
static bool is_signed(const struct oc_fuse *f, uint32_t value)
{
    const struct oc_graph_index *x = &f->maker.x;
    uint32_t dq = x->use_first[value + 1] - x->use_first[value] == 1 ? x->use[x->use_first[value]] : OC_NONE;
    uint32_t v = dq == OC_NONE || !oc_fuse_is(f, dq, " DequantizeLinear ") || !f->m->node[dq].n_out
                     ? OC_NONE
                     : f->m->node[dq].out[0];
    return f->a->type[value].dtype == OC_DT_INT8 &&
           (f->rules == OC_FUSE_ORT_NEON || oc_fuse_const(f, value) || v == OC_NONE ||
            x->use_first[v + 1] - x->use_first[v] + f->m->value[v].graph_output > 1);
}

/* The integers of a slot, OC_NONE: other numbers. */
static uint32_t integers_of(const struct oc_fuse *f, uint32_t node, uint32_t slot)
{
    uint32_t dq = narrow_dequantizer(f, oc_fuse_input(f, node, slot));
    return dq == OC_NONE ? OC_NONE : f->m->node[dq].in[0];
}

/* The zero point is the smallest integer: clipping at 0 is part of the quantization. */
static bool clips_at_zero(const struct oc_fuse *f, uint32_t quantize)
{
    uint32_t zero = oc_fuse_input(f, quantize, 2);
    double v;
    if (zero == OC_NONE)
        return true;
    unsigned bits = oc_dtype_info(f->a->type[zero].dtype)->bits;
    bool is_signed = f->a->type[zero].dtype == OC_DT_INT8 || f->a->type[zero].dtype == OC_DT_INT16;
    return oc_fuse_number(f, zero, &v) && v == (is_signed ? -ldexp(1, (int)bits - 1) : 0);
}

/* The QuantizeLinear after an output, if it is the only reader. A Relu or Clip between them is left to the
 * range of the integers: *between. */
static uint32_t quantizer(const struct oc_fuse *f, uint32_t value, uint32_t *between)
{
    *between = OC_NONE;
    uint32_t user = oc_fuse_user(f, value);
    if (user != OC_NONE && oc_fuse_is(f, user, " Relu Clip ")) {
        *between = user;
        user = oc_fuse_user(f, f->m->node[user].out[0]);
        if (user != OC_NONE && !clips_at_zero(f, user))
            return OC_NONE;
    }
    return user != OC_NONE && oc_fuse_is(f, user, " QuantizeLinear ") && f->m->node[user].n_out &&
                   f->m->node[user].out[0] != OC_NONE
               ? user
               : OC_NONE;
}

/* The runtime quantizes constant weights (slot 1) and biases (slot 2) between a DequantizeLinear and a
 * QuantizeLinear. */
static bool makes_integers(const struct oc_fuse *f, uint32_t node, uint32_t slot)
{
    const struct oc_node *n = &f->m->node[node];
    uint32_t between, v = slot < n->n_in ? oc_fuse_input(f, node, slot) : OC_NONE;
    return v != OC_NONE && f->rules != OC_FUSE_NONE && oc_fuse_is(f, node, " Conv ConvTranspose Gemm ") &&
           oc_fuse_const(f, v) && f->a->type[v].dtype == OC_DT_FLOAT && integers_of(f, node, 0) != OC_NONE &&
           quantizer(f, n->out[0], &between) != OC_NONE &&
           (slot == 1 || integers_of(f, node, 1) != OC_NONE || makes_integers(f, node, 1));
}

static bool inputs_quantized(const struct oc_fuse *f, uint32_t node, const struct replacement *r)
{
    const struct oc_node *n = &f->m->node[node];
    unsigned count = r->inputs ? r->inputs : n->n_in;
    if (n->n_in < count || !count)
        return false;
    for (unsigned i = 0; i < count; i++) {
        uint32_t v = integers_of(f, node, i), first = integers_of(f, node, 0);
        if (v == OC_NONE && i == 1 && makes_integers(f, node, i))
            continue;
        if (v == OC_NONE || (r->weights && !i && is_signed(f, v) && f->rules != OC_FUSE_ORT_NEON) ||
            (!r->weights && is_signed(f, v) != is_signed(f, first)))
            return false;
    }
    uint32_t bias = r->bias ? oc_fuse_input(f, node, 2) : OC_NONE;
    return bias == OC_NONE || dequantizer(f, bias) != OC_NONE || makes_integers(f, node, 2);
}

/* The DequantizeLinear of constants that the runtime quantizes. */
static void insert_dequantizers(const struct oc_fuse *f, uint32_t node)
{
    for (uint32_t slot = 1; slot < 3 && f->m->node[node].n_out; slot++) {
        if (!makes_integers(f, node, slot))
            continue;
        uint32_t v = oc_fuse_input(f, node, slot), dq = dequantizer(f, oc_fuse_input(f, node, 1));
        double n = oc_fuse_elements(f, v), scales = dq == OC_NONE || f->m->node[dq].n_in < 2
                                                        ? 1
                                                        : oc_fuse_elements(f, f->m->node[dq].in[1]);
        oc_fuse_insert(f, "DequantizeLinear", v, slot == 1 ? n + 5 : 4 * n + 4 * scales, 4 * n, f->inserted);
    }
}

static bool same_number(const struct oc_fuse *f, uint32_t a, uint32_t b)
{
    double x, y;
    return a == b || (oc_fuse_number(f, a, &x) && oc_fuse_number(f, b, &y) && x == y);
}

/* The QuantizeLinear's type is that of the inputs; of an operator that moves integers, its scale too. */
static bool keeps_integers(const struct oc_fuse *f, uint32_t node, const struct replacement *r, uint32_t q)
{
    uint32_t dq = dequantizer(f, oc_fuse_input(f, node, 0));
    const struct oc_attr *mode = oc_node_attr(&f->m->node[node], "mode");
    if (is_signed(f, f->m->node[q].out[0]) != is_signed(f, f->m->node[dq].in[0]))
        return false;
    return r->result || (same_number(f, oc_fuse_input(f, dq, 1), oc_fuse_input(f, q, 1)) &&
                         same_number(f, oc_fuse_input(f, dq, 2), oc_fuse_input(f, q, 2)) &&
                         !(oc_fuse_is(f, node, " Resize ") && mode && mode->type == OC_ATTR_STRING &&
                           strcmp(mode->s.s, "nearest") != 0));
}

static void take_dequantizers(struct oc_fuse *f, uint32_t node, const struct replacement *r)
{
    const struct oc_node *n = &f->m->node[node];
    struct oc_fuse_group *g = &f->group[f->owner[node]];
    unsigned count = r->inputs ? r->inputs + r->bias : n->n_in;
    for (unsigned i = 0; i < count && i < n->n_in; i++) {
        uint32_t dq = dequantizer(f, oc_fuse_input(f, node, i));
        bool twice = dq == OC_NONE || f->owner[dq] == OC_NONE;
        for (uint32_t k = 0; k < g->n_node && !twice; k++)
            twice = g->node[k] == dq;
        if (!twice && g->n_node < OC_FUSE_MAX)
            oc_fuse_add_node(f, g, dq);
    }
}

/* Of a Split: the other outputs too. */
static bool others_quantized(const struct oc_fuse *f, uint32_t node, const struct replacement *r)
{
    uint32_t between;
    for (uint32_t k = 1; k < f->m->node[node].n_out && oc_fuse_is(f, node, " Split "); k++) {
        uint32_t q = quantizer(f, f->m->node[node].out[k], &between);
        if (q == OC_NONE || between != OC_NONE || !keeps_integers(f, node, r, q))
            return false;
    }
    return true;
}

/* Makes the integer kernel of a node. */
static void replace(struct oc_fuse *f, uint32_t node)
{
    const struct replacement *r = replacement_of(f, node);
    uint32_t between, group = f->owner[node];
    if (!r || group == OC_NONE || !f->m->node[node].n_out || !inputs_quantized(f, node, r))
        return;
    uint32_t q = quantizer(f, f->m->node[node].out[0], &between);
    q = q == OC_NONE || keeps_integers(f, node, r, q) ? q : OC_NONE;
    if ((q == OC_NONE && !r->floats) || !others_quantized(f, node, r))
        return;
    take_dequantizers(f, node, r);
    f->group[group].rule = "qdq";
    f->group[group].integers = true;
    f->group[group].activated = true;
    if (q == OC_NONE) {
        f->group[group].type = r->floats;
        return;
    }
    uint32_t out = f->m->node[q].out[0];
    if (between != OC_NONE)
        oc_fuse_merge(f, group, f->owner[between], out, "qdq", NULL);
    oc_fuse_merge(f, group, f->owner[q], out, "qdq", r->result);
    for (uint32_t k = 1; k < f->m->node[node].n_out && oc_fuse_is(f, node, " Split "); k++)
        oc_fuse_merge(f, group, f->owner[quantizer(f, f->m->node[node].out[k], &between)], out, "qdq", NULL);
    f->group[group].activated = true;
}

static bool has_node(const struct oc_fuse_group *g, uint32_t node)
{
    for (uint32_t i = 0; i < g->n_node; i++)
        if (g->node[i] == node)
            return true;
    return false;
}

/* A DequantizeLinear whose readers are all integer kernels does not run. */
static void drop_dequantizer(struct oc_fuse *f, uint32_t dq)
{
    const struct oc_graph_index *x = &f->maker.x;
    uint32_t v = f->m->node[dq].out[0];
    if (v == OC_NONE || f->m->value[v].graph_output || x->use_first[v] == x->use_first[v + 1])
        return;
    for (uint32_t i = x->use_first[v]; i < x->use_first[v + 1]; i++) {
        uint32_t owner = f->owner[x->use[i]];
        if (owner == OC_NONE || owner == f->owner[dq] || !has_node(&f->group[owner], dq))
            return;
    }
    f->group[f->owner[dq]].gone = true;
    f->group[f->owner[dq]].n_node = 0;
}

/* Each reader of a DequantizeLinear has its own copy: it is found in the integer kernel, or runs. */
static void copy_dequantizer(struct oc_fuse *f, uint32_t dq)
{
    const struct oc_graph_index *x = &f->maker.x;
    uint32_t v = f->m->node[dq].out[0], in = f->m->node[dq].in[0], n = 0;
    if (v == OC_NONE || in == OC_NONE)
        return;
    for (uint32_t i = x->use_first[v]; i < x->use_first[v + 1]; i++) {
        uint32_t owner = f->owner[x->use[i]];
        n += owner != OC_NONE && !has_node(&f->group[owner], dq);
    }
    double read = 0;
    for (uint32_t i = 0; i < f->m->node[dq].n_in; i++) {
        uint32_t part = f->m->node[dq].in[i];
        if (part != OC_NONE)
            read += oc_fuse_elements(f, part) * oc_dtype_info(f->a->type[part].dtype)->bits / 8;
    }
    for (; n > 1; n--)
        oc_fuse_insert(f, "DequantizeLinear", in, read, oc_fuse_elements(f, v) * 4, f->inserted);
}

/* ---- channels last ---------------------------------------------------------------------------------- */

/* Integer convolutions compute with channels last: Transposes are inserted where a value enters or leaves the
 * operators that keep this layout. */

#define NHWC " QLinearConv "
#define KEEP_NHWC                                                                                            \
    " MaxPool QLinearAdd QLinearMul QLinearAveragePool QLinearGlobalAveragePool QLinearLeakyRelu "           \
    "QLinearSigmoid QLinearConcat "

/* The tensor that slot `slot` of the kernel reads: the integers, if it has taken their DequantizeLinear. */
static uint32_t operand(const struct oc_fuse *f, uint32_t core, uint32_t slot)
{
    uint32_t v = oc_fuse_input(f, core, slot), dq = dequantizer(f, v);
    return dq == OC_NONE ? v : oc_fuse_input(f, dq, 0);
}

static bool keeps_layout(const struct oc_fuse *f, const struct oc_fuse_group *g, const bool *last)
{
    if (g->gone || !g->n_node || !oc_fuse_group_is(g, NHWC KEEP_NHWC))
        return false;
    if (oc_fuse_group_is(g, NHWC))
        return true;
    for (uint32_t i = 0; i < f->m->node[g->core].n_in; i++) {
        uint32_t from = oc_fuse_group_of(f, operand(f, g->core, i));
        if (from != OC_NONE && last[from])
            return true;
    }
    return false;
}

void oc_fuse_qdq_layout(struct oc_fuse *f, struct oc_kernel_list *out)
{
    bool *last = OC_NEW_ARRAY(f->arena, (size_t)f->n_group + 1, bool);
    bool *moved = OC_NEW_ARRAY(f->arena, (size_t)f->m->n_value + 1, bool);
    for (uint32_t i = 0; i < f->n_group; i++)
        last[i] = keeps_layout(f, &f->group[i], last);
    for (uint32_t i = 0; i < f->n_group; i++) {
        struct oc_fuse_group *g = &f->group[i];
        if (g->gone || !g->n_node)
            continue;
        if (last[i] && oc_fuse_group_is(g, " MaxPool "))
            g->type = "NhwcMaxPool";
        for (uint32_t k = 0; k < f->m->node[g->core].n_in; k++) {
            uint32_t v = operand(f, g->core, k);
            const struct oc_shape *s = oc_fuse_shape(f, v);
            uint32_t from = oc_fuse_group_of(f, v);
            bool was = from != OC_NONE && last[from];
            if (was == last[i] || oc_fuse_const(f, v) || !s || s->rank < 3 || moved[v])
                continue;
            moved[v] = true;
            oc_fuse_insert(f, "Transpose", v, oc_fuse_elements(f, v), oc_fuse_elements(f, v), out);
        }
    }
}

/* ---- dynamic quantization ------------------------------------------------------------------------ */

static uint32_t only_user(const struct oc_fuse *f, uint32_t node, const char *types)
{
    uint32_t user = node == OC_NONE ? OC_NONE : oc_fuse_user(f, f->m->node[node].out[0]);
    return user != OC_NONE && f->owner[user] != OC_NONE && oc_fuse_is(f, user, types) ? user : OC_NONE;
}

/* MatMulInteger, Cast, Mul with the scales' product, and a bias: a kernel of floats; with the
 * DynamicQuantizeLinear before it, if nothing else reads that. */
static void dynamic_product(struct oc_fuse *f, uint32_t product)
{
    uint32_t cast = only_user(f, product, " Cast "), scaled = only_user(f, cast, " Mul ");
    uint32_t x = oc_fuse_input(f, product, 0), into = f->owner[product];
    uint32_t quantize = x == OC_NONE ? OC_NONE : f->m->value[x].producer;
    if (scaled == OC_NONE || quantize == OC_NONE || !oc_fuse_is(f, quantize, " DynamicQuantizeLinear ") ||
        f->owner[quantize] == OC_NONE || f->m->node[quantize].n_out < 3)
        return;
    uint32_t a = oc_fuse_input(f, scaled, 0), b = oc_fuse_input(f, scaled, 1);
    uint32_t scale = a == f->m->node[cast].out[0] ? b : a;
    uint32_t scales = scale == OC_NONE ? OC_NONE : f->m->value[scale].producer;
    if (scales == OC_NONE || !oc_fuse_is(f, scales, " Mul ") || f->owner[scales] == OC_NONE)
        return;
    uint32_t out = f->m->node[scaled].out[0], bias = only_user(f, scaled, " Add ");
    bool alone = oc_fuse_users(f, f->m->node[quantize].out[0]) == 1;
    oc_fuse_merge(f, into, f->owner[scales], out, "dynamic quantization", NULL);
    oc_fuse_merge(f, into, f->owner[cast], out, "dynamic quantization", NULL);
    oc_fuse_merge(f, into, f->owner[scaled], out, "dynamic quantization", "MatMulIntegerToFloat");
    uint32_t p = bias == OC_NONE ? OC_NONE : oc_fuse_input(f, bias, 0),
             q = bias == OC_NONE ? OC_NONE : oc_fuse_input(f, bias, 1);
    const struct oc_shape *s = bias == OC_NONE ? NULL : oc_fuse_shape(f, oc_fuse_const(f, p) ? p : q);
    if (s && oc_fuse_const(f, p) != oc_fuse_const(f, q) && s->rank == 1 && s->dim[0].v > 1)
        oc_fuse_merge(f, into, f->owner[bias], f->m->node[bias].out[0], "dynamic quantization", NULL);
    if (alone)
        oc_fuse_merge(f, into, f->owner[quantize], f->group[into].out, "dynamic quantization",
                      "DynamicQuantizeMatMul");
    f->group[into].activated = true;
}

void oc_fuse_qdq(struct oc_fuse *f)
{
    bool any = false, replaces = f->rules != OC_FUSE_ORT_BASIC && f->rules != OC_FUSE_NONE;
    for (uint32_t i = 0; i < f->m->n_node && replaces; i++)
        if (f->owner[i] != OC_NONE && oc_fuse_is(f, i, " MatMulInteger "))
            dynamic_product(f, i);
    for (uint32_t i = 0; i < f->m->n_node && !any; i++)
        any = f->owner[i] != OC_NONE && oc_fuse_is(f, i, " DequantizeLinear ");
    if (!any)
        return;
    for (uint32_t i = 0; i < f->m->n_node && replaces; i++)
        if (f->owner[i] != OC_NONE && !f->group[f->owner[i]].rule)
            replace(f, i);
    for (uint32_t i = 0; i < f->m->n_node; i++)
        if (f->owner[i] != OC_NONE && !f->group[f->owner[i]].integers)
            insert_dequantizers(f, i);
    for (uint32_t i = 0; i < f->m->n_node; i++)
        if (f->owner[i] != OC_NONE && !f->group[f->owner[i]].gone && oc_fuse_is(f, i, " DequantizeLinear ")) {
            copy_dequantizer(f, i);
            drop_dequantizer(f, i);
        }
}
