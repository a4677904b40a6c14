/* Any bytes as a model: load, and if that works, analyze, both with bounds kept and unbound. */
#include <stddef.h>
#include <stdint.h>

#include "onnxcost.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const struct oc_limits limits = {.max_nodes = 20000};
    struct oc_model *m = NULL;
    if (oc_model_load_mem(data, n, &limits, &m, NULL))
        return 0;
    for (int unbound = 0; unbound < 2; unbound++) {
        const struct oc_analyze_opts opts = {.no_defaults = unbound};
        struct oc_analysis *a = NULL;
        oc_analyze(m, &opts, &a, NULL);
        oc_analysis_free(a);
    }
    oc_model_free(m);
    return 0;
}
