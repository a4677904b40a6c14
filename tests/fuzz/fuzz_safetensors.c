/* Any bytes as a safetensors file and as an index of such files: listed and loaded, or refused with a reason.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "model/stored.h"
#include "onnxcost.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void load(const uint8_t *data, size_t n)
{
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_err err = {0};
    if (oc_model_load_mem(data, n, NULL, &m, &err)) {
        if (!err.msg[0])
            abort();
        return;
    }
    if (oc_analyze(m, NULL, &a, &err) == 0)
        oc_analysis_free(a);
    oc_model_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct oc_arena arena = {0};
    struct oc_weight_index index;
    struct oc_err err = {0};
    enum oc_described what = oc_described_by("", data, n);
    if (what == OC_DESCRIBED_SAFETENSORS)
        load(data, n);
    if (what == OC_DESCRIBED_INDEX) {
        if (oc_weight_index_read(data, n, &arena, &index, &err) == 0 && (!index.n_file || !index.n_tensor))
            abort();
        oc_weight_index_free(&index);
    }
    oc_arena_free(&arena);
    return 0;
}
