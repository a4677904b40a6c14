/* Names of KV cache inputs and outputs by exporter: a table of patterns, "%d" is the layer. */
#ifndef OC_KV_CACHE_H
#define OC_KV_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum oc_kv_part {
    OC_KV_KEY,
    OC_KV_VALUE,
    OC_KV_BOTH,  /* keys and values in one tensor */
    OC_KV_LATENT /* a tensor from which both are computed */
};

struct oc_kv_pattern {
    const char *past, *present; /* both contain one "%d" */
    uint8_t part;               /* enum oc_kv_part */
    bool cross;                 /* of the encoder's output: constant length */
    const char *writer;         /* exporter that uses these names */
};

#define OC_KV_MAX_LAYERS 65536

/* Whether `name` matches the pattern with a layer below OC_KV_MAX_LAYERS for "%d". */
bool oc_kv_match(const char *pattern, const char *name, uint32_t *layer);

#endif
