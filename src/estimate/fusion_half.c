/* Half precision on x86: ONNX Runtime's CPU provider has no kernels that compute in it. They compute in
 * float, with a Cast where a tensor comes from, or goes to, an operator that only moves data. */
#include "estimate/fusion_plan.h"

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
