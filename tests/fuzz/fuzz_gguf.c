/* Any bytes as a GGUF file: listed, and loaded as the decoder of its metadata or as weights alone, or refused
 * with a reason. The metadata always become whole JSON. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/decoder.h"
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

/* A large number of layers is slow under sanitizers, and no other path. */
static bool is_small(const struct oc_buf *config, struct oc_arena *arena)
{
    struct oc_diags diags = {.arena = arena};
    struct oc_decoder d;
    struct oc_err err = {0};
    const struct oc_decoder_source source = {.name = "GGUF", .config = oc_str(config->data, config->n)};
    bool fine = oc_decoder_read(&source, arena, &diags, &d, &err) == 0;
    if (fine)
        oc_quant_free(&d.quant);
    oc_diags_free(&diags);
    if (!fine && strstr(err.msg, "damaged"))
        abort();
    return !fine || d.layers <= 40;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct oc_arena arena = {0};
    struct oc_diags diags = {.arena = &arena};
    struct oc_stored_list list = {.arena = &arena};
    struct oc_buf config = {0};
    struct oc_gguf gguf;
    struct oc_err err = {0};
    int rc = n < 9 || memcmp(data, "GGUF", 4) != 0;
    if (rc == 0)
        rc = oc_gguf_read("", data, n, &list, &gguf, &diags, &err);
    if (rc == 0 && (!oc_gguf_config(&gguf, &list, &config) || is_small(&config, &arena)))
        load(data, n);
    oc_buf_free(&config);
    oc_stored_free(&list);
    oc_diags_free(&diags);
    oc_arena_free(&arena);
    return 0;
}
