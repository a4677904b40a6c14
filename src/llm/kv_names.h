/* How exporters call the inputs and outputs of a key-value cache: a table of patterns, "%d" is the layer.
 * Knows nothing of graphs. */
#ifndef OC_KV_NAMES_H
#define OC_KV_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum oc_kv_part { OC_KV_KEY, OC_KV_VALUE, OC_KV_BOTH /* keys and values in one tensor */ };

struct oc_kv_pattern {
    const char *past, *present; /* both with one "%d" */
    uint8_t part;               /* enum oc_kv_part */
    bool cross;                 /* of the encoder's output: does not grow */
    const char *writer;         /* who writes such names */
};

#define OC_KV_MAX_LAYERS 65536

/* Whether `name` is the pattern with a layer below OC_KV_MAX_LAYERS for "%d". */
bool oc_kv_match(const char *pattern, const char *name, uint32_t *layer);

/* The patterns whose `past` may fit an input's name, from *from on; NULL: no more. *from and *layer are set.
 */
const struct oc_kv_pattern *oc_kv_pattern_of(const char *past_name, size_t *from, uint32_t *layer);

#endif
