/* Any bytes as a config.json: the decoder is built and analysed, or refused with a reason; a graph that was
 * built always loads. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "model/decoder.h"
#include "onnxcost.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A large number of layers is slow under sanitizers, and no other path. */
static bool is_small(const struct oc_decoder *d)
{
    return d->layers <= 40;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct oc_arena arena = {0};
    struct oc_diags diags = {.arena = &arena};
    struct oc_decoder d;
    struct oc_err err = {0};
    if (oc_described_by("", data, n) == OC_DESCRIBED_CONFIG) {
        struct oc_str text = oc_str((const char *)data, n);
        const struct oc_decoder_source source = {.name = "config.json", .config = text, .modelopt = text};
        if (oc_decoder_read(&source, &arena, &diags, &d, &err)) {
            if (!err.msg[0])
                abort();
        } else if (oc_quant_free(&d.quant), is_small(&d)) {
            struct oc_model *m;
            struct oc_analysis *a;
            if (oc_model_load_mem(data, n, NULL, &m, &err) == 0) {
                if (oc_analyze(m, NULL, &a, &err) == 0)
                    oc_analysis_free(a);
                oc_model_free(m);
            } else if (err.code != OC_ELIMIT) {
                abort();
            }
        }
    }
    oc_diags_free(&diags);
    oc_arena_free(&arena);
    return 0;
}
