/* Any bytes as a model whose memory is planned, with several liveness rules. A plan that the library finds
 * invalid itself, or that is smaller than the live bytes, is a crash. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "memory/memory_report.h"
#include "wire_mutator.h"
#include "onnxcost.h"
#include "onnxcost/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_WIRE_TARGET

static void plan(const struct oc_analysis *a, const struct oc_plan_opts *opts)
{
    struct oc_memory_plan *p = NULL;
    struct oc_err err;
    if (oc_memory_plan_make(a, opts, &p, &err)) {
        if (strncmp(err.msg, "cannot plan memory: ", 20))
            abort();
        return;
    }
    if (p->size < p->liveness->peak)
        abort();
    oc_memory_plan_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const struct oc_input_limits limits = {.most = {[OC_LIMIT_NODES] = 2000}};
    struct oc_model *m = NULL;
    if (oc_model_load_mem(data, n, &limits, &m, NULL))
        return 0;
    static const struct oc_analyze_opts ways[] = {{.default_dim = 3},
                                                  {.inplace = true, .align_bytes = 64},
                                                  {.keep_inputs = true, .kv_share = OC_KV_ON}};
    for (size_t i = 0; i < OC_COUNT(ways); i++) {
        struct oc_analysis *a = NULL;
        if (oc_analyze(m, &ways[i], &a, NULL) == 0) {
            plan(a, NULL);
            plan(a, &(struct oc_plan_opts){.all = true, .without_inputs = true});
        }
        oc_analysis_free(a);
    }
    oc_model_free(m);
    return 0;
}
