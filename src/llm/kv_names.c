#include "llm/kv_names.h"

#include <string.h>

#include "base/arena.h"

#define OPTIMUM "optimum, transformers.js, onnxruntime-genai"
#define ORT     "onnxruntime.transformers"

static const struct oc_kv_pattern patterns[] = {
    {"past_key_values.%d.key", "present.%d.key", OC_KV_KEY, false, OPTIMUM},
    {"past_key_values.%d.value", "present.%d.value", OC_KV_VALUE, false, OPTIMUM},
    {"past_key_values.%d.key", "present_key_values.%d.key", OC_KV_KEY, false, "optimum"},
    {"past_key_values.%d.value", "present_key_values.%d.value", OC_KV_VALUE, false, "optimum"},
    {"past_key_values.%d.key_value", "present.%d.key_value", OC_KV_BOTH, false,
     "optimum (one tensor per layer)"},
    {"past_key_values.%d", "present.%d", OC_KV_BOTH, false, "optimum (one tensor per layer)"},
    /* encoder and decoder */
    {"past_key_values.%d.decoder.key", "present.%d.decoder.key", OC_KV_KEY, false, OPTIMUM},
    {"past_key_values.%d.decoder.value", "present.%d.decoder.value", OC_KV_VALUE, false, OPTIMUM},
    {"past_key_values.%d.encoder.key", "present.%d.encoder.key", OC_KV_KEY, true, OPTIMUM},
    {"past_key_values.%d.encoder.value", "present.%d.encoder.value", OC_KV_VALUE, true, OPTIMUM},
    {"past_key_self_%d", "present_key_self_%d", OC_KV_KEY, false, ORT},
    {"past_value_self_%d", "present_value_self_%d", OC_KV_VALUE, false, ORT},
    {"past_key_cross_%d", "present_key_cross_%d", OC_KV_KEY, true, ORT},
    {"past_value_cross_%d", "present_value_cross_%d", OC_KV_VALUE, true, ORT},
    {"past_self_key_%d", "present_self_key_%d", OC_KV_KEY, false, ORT},
    {"past_self_value_%d", "present_self_value_%d", OC_KV_VALUE, false, ORT},
    {"past_cross_key_%d", "present_cross_key_%d", OC_KV_KEY, true, ORT},
    {"past_cross_value_%d", "present_cross_value_%d", OC_KV_VALUE, true, ORT},
    {"cross_past_key_values.%d.key", "cross_present.%d.key", OC_KV_KEY, true, "onnxruntime-genai"},
    {"cross_past_key_values.%d.value", "cross_present.%d.value", OC_KV_VALUE, true, "onnxruntime-genai"},
    {"past_key_values.%d.self.key", "present.%d.self.key", OC_KV_KEY, false, "onnxruntime-genai"},
    {"past_key_values.%d.self.value", "present.%d.self.value", OC_KV_VALUE, false, "onnxruntime-genai"},
    /* ONNX Runtime's own converters: keys and values in one tensor of 2 x batch x heads x length x size */
    {"past_%d", "present_%d", OC_KV_BOTH, false, ORT},
    {"past_key_%d", "present_key_%d", OC_KV_KEY, false, ORT},
    {"past_value_%d", "present_value_%d", OC_KV_VALUE, false, ORT},
    {"past.%d.key", "present.%d.key", OC_KV_KEY, false, "others"},
    {"past.%d.value", "present.%d.value", OC_KV_VALUE, false, "others"},
    {"past_k_%d", "present_k_%d", OC_KV_KEY, false, "others"},
    {"past_v_%d", "present_v_%d", OC_KV_VALUE, false, "others"},
    {"cache.%d.key", "cache.%d.key_out", OC_KV_KEY, false, "others"},
    {"cache.%d.value", "cache.%d.value_out", OC_KV_VALUE, false, "others"},
    {"k_cache_%d", "k_cache_out_%d", OC_KV_KEY, false, "others"},
    {"v_cache_%d", "v_cache_out_%d", OC_KV_VALUE, false, "others"},
    {"key_cache_%d", "key_cache_out_%d", OC_KV_KEY, false, "others"},
    {"value_cache_%d", "value_cache_out_%d", OC_KV_VALUE, false, "others"},
};

bool oc_kv_match(const char *pattern, const char *name, uint32_t *layer)
{
    const char *hole = strstr(pattern, "%d");
    size_t before = (size_t)(hole - pattern);
    if (strncmp(pattern, name, before))
        return false;
    uint32_t v = 0;
    const char *p = name + before, *first = p;
    for (; *p >= '0' && *p <= '9'; p++) {
        v = v * 10 + (uint32_t)(*p - '0');
        if (v >= OC_KV_MAX_LAYERS)
            return false;
    }
    if (p == first || (*first == '0' && p > first + 1) || strcmp(p, hole + 2))
        return false;
    *layer = v;
    return true;
}

const struct oc_kv_pattern *oc_kv_pattern_of(const char *past_name, size_t *from, uint32_t *layer)
{
    for (; *from < OC_COUNT(patterns); (*from)++)
        if (oc_kv_match(patterns[*from].past, past_name, layer))
            return &patterns[(*from)++];
    return NULL;
}
