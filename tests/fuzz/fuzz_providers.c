/* Operator lists of execution providers: any bytes are read or rejected with a location; a list that is read
 * is applied to a model with control flow, shapes computed at run time, and quantization. */
#include <stdlib.h>
#include <string.h>

#include "provider/provider.h"
#include "support/build.h"
#include "onnxcost.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Made once, and kept to the end of the process. */
static const struct oc_analysis *the_analysis(void)
{
    static struct oc_analysis *analysis;
    if (analysis)
        return analysis;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[N,3,8,8]");
    oc_b_init(b, "w", "float[4,3,3,3]");
    oc_b_init(b, "zero", "int64[]{0}");
    oc_b_init(b, "rest", "int64[1]{-1}");
    oc_b_node(b, "Conv", "conv", "x,w", "c", "pads=1,1,1,1");
    oc_b_node(b, "MaxPool", "pool", "c", "p", "kernel_shape=2,2 strides=2,2");
    oc_b_node(b, "Shape", "shape", "p", "s", "");
    oc_b_node(b, "Gather", "gather", "s,zero", "g", "");
    oc_b_node(b, "Unsqueeze", "unsqueeze", "g,zero", "u", "");
    oc_b_node(b, "Concat", "concat", "u,rest", "t", "axis=0");
    oc_b_node(b, "Reshape", "reshape", "p,t", "r", "");
    oc_b_node(b, "Gelu", "gelu", "r", "y", "");
    oc_b_output(b, "y", NULL);
    struct oc_err err;
    struct oc_model *m;
    size_t size;
    uint8_t *bytes = oc_b_pack(b, &size);
    oc_b_free(b);
    if (oc_model_load_mem(bytes, size, NULL, &m, &err) ||
        oc_analyze(m, &(struct oc_analyze_opts){.no_defaults = true}, &analysis, &err))
        abort();
    return analysis;
}

static void check_assignment(const struct oc_assignment *x)
{
    uint32_t nodes = 0;
    for (size_t p = 0; p <= x->providers->n; p++)
        nodes += x->best.nodes[p];
    if (nodes != x->n_runs)
        abort();
    /* a producer on a device with host memory can be what makes ONNX Runtime prefer the CPU for a reader */
    for (uint32_t i = 0; i < x->analysis->model->n_node && !x->providers->list[0]->host; i++)
        if (x->node[i].runs && x->node[i].worst != OC_NO_PROVIDER && x->node[i].best == OC_NO_PROVIDER)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct oc_providers list = {.n = 1};
    struct oc_assignment x;
    struct oc_fallbacks f;
    struct oc_err err = {0};
    int rc = oc_provider_read_mem("fuzz.xml", data, n, &list.arena, &list.list[0], &err);
    if ((rc != 0) != (err.msg[0] != '\0') || (rc != 0) != (list.list[0] == NULL))
        abort();
    if (!rc) {
        oc_assign(&list, the_analysis(), NULL, &x);
        check_assignment(&x);
        oc_fallbacks_make(&x, NULL, &f);
        oc_fallbacks_free(&f);
        oc_assignment_free(&x);
        oc_provider_free(list.list[0]);
    }
    oc_arena_free(&list.arena);
    return 0;
}
