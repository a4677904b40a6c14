/* Any bytes as a model, analyzed as a language model, with and without extreme sizes. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "llm/llm.h"
#include "wire_mutator.h"
#include "onnxcost.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_WIRE_TARGET

static void write_all(const struct oc_llm *l)
{
    static const char *const format[] = {"table", "csv", "json"};
    struct oc_err err;
    FILE *f = fopen("/dev/null", "w");
    for (size_t i = 0; f && i < OC_COUNT(format); i++)
        oc_llm_write(l, format[i], f, &err);
    if (f)
        fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct oc_llm_opts ways[] = {
        {.batch = 2, .prompt = 7, .generate = 5},
        {.batch = 1000000000, .prompt = 1000000, .generate = 1},
    };
    const struct oc_input_limits limits = {.most = {[OC_LIMIT_NODES] = 5000}};
    struct oc_model *m = NULL;
    struct oc_err err;
    if (oc_model_load_mem(data, n, &limits, &m, &err))
        return 0;
    for (size_t i = 0; i < OC_COUNT(ways); i++) {
        struct oc_llm *l = NULL;
        if (oc_llm_make(m, &ways[i], &l, &err) == 0) {
            write_all(l);
            oc_llm_free(l);
        }
    }
    oc_model_free(m);
    return 0;
}
