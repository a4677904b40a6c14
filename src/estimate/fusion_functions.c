/* Operators for which ONNX Runtime's CPU provider has no kernel: it runs the nodes of their definition in
 * ONNX. Which nodes: tests/data/fusions.tsv. */
#include <string.h>

#include "estimate/fusion_plan.h"

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
