/* Names of the nodes of a model for the readers of profiles (profile/core/timeline.h). */
#include "profile/core/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "model/model.h"
#include "onnxcost/profile.h"

/* Nodes of the main graph, each of which runs once per run. Constants do not run. */
struct oc_operator_names *oc_operator_names_make(const struct oc_model *m)
{
    const struct oc_graph *g = &m->graph[0];
    struct oc_operator_names *x = oc_xcalloc(1, sizeof(*x));
    x->of.arena = &x->arena;
    x->type = OC_NEW_ARRAY(&x->arena, (size_t)g->n_node + 1, const char *);
    oc_map_reserve(&x->of, g->n_node);
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *n = &m->node[g->node[i]];
        size_t length = strlen(n->name);
        uint32_t at = i;
        x->n_product += oc_set_has(OC_PRODUCT_TYPES, n->op_type, strlen(n->op_type));
        if (!length || oc_node_is_constant(n))
            continue;
        x->type[i] = n->op_type;
        if (!oc_map_add_kept(&x->of, n->name, length, &at))
            x->type[at] = NULL;
    }
    return x;
}

void oc_operator_names_free(struct oc_operator_names *x)
{
    if (!x)
        return;
    oc_map_free(&x->of);
    oc_arena_free(&x->arena);
    free(x);
}
