/* The rules in order of confidence. */
#include <string.h>

#include "join/join.h"

void oc_match_all(struct oc_matcher *x, const struct oc_model *optimized)
{
    const struct oc_profile *p = x->p;
    oc_index_make(&x->x, x->m, x->arena);
    x->match = OC_NEW_ARRAY(x->arena, (size_t)p->n_rec + 1, struct oc_match);
    x->owner = OC_NEW_ARRAY(x->arena, (size_t)x->m->n_node + 1, uint32_t);
    memset(x->owner, 0xff, x->m->n_node * sizeof(*x->owner));
    for (uint32_t i = 0; i < p->n_rec; i++)
        x->match[i].core = x->match[i].inner_of = OC_NONE;
    if (p->functions) { /* relu() is not a Relu node, whatever its name */
        for (uint32_t i = 0; i < p->n_rec; i++)
            x->match[i].bucket = p->rec[i].bucket ? NULL : "functions";
        return;
    }
    if (strcmp(p->format, "onnxruntime") == 0)
        oc_match_expand(x);
    if (optimized)
        oc_match_companion(x, optimized);
    oc_match_tensorrt(x);
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (!p->rec[i].bucket && !x->match[i].n_node && !x->match[i].bucket &&
            x->match[i].inner_of == OC_NONE)
            oc_match_by_name(x, i);
    oc_match_grow(x);
    if (strcmp(p->format, "onnxruntime") != 0) { /* names that are absent or not from the model */
        for (uint32_t i = 0; i < p->n_rec; i++)
            if (!p->rec[i].bucket && !x->match[i].n_node && !x->match[i].bucket)
                oc_match_by_parts(x, i);
        oc_match_order(x);
        oc_match_grow(x);
    }
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (!p->rec[i].bucket && !x->match[i].n_node && !x->match[i].bucket &&
            x->match[i].inner_of == OC_NONE)
            oc_match_overhead(x, i);
}

void oc_match_free(struct oc_matcher *x)
{
    oc_match_expand_free(x);
    oc_index_free(&x->x);
    oc_map_free(&x->plain);
}
