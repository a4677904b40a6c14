#include <string.h>

#include "estimate/fusion_plan.h"

/* ---- fusion functions --------------------------------------------------------------------------------- */

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

/* ---- fusion half -------------------------------------------------------------------------------------- */

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
