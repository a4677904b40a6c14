/* Files that are neither an ONNX model nor a profile, recognized by their first bytes or the end of their
 * name. */
#ifndef OC_FILE_TYPE_H
#define OC_FILE_TYPE_H

#include <stdbool.h>
#include <stddef.h>

struct oc_signature {
    const char *what; /* "a GGUF model" */
    const char *todo; /* what the user does about it, in the imperative */
};

/* NULL: not recognized. `data`: the first `n` bytes, not inflated for a model, inflated for a profile. */
const struct oc_signature *oc_recognize(const char *path, const void *data, size_t n);

/* Models without an ONNX file. `data`: the first bytes; OC_DESCRIBED_BYTES are enough. */
#define OC_DESCRIBED_BYTES ((size_t)1 << 16)
enum oc_described {
    OC_DESCRIBED_NOT,         /* ONNX, or anything else */
    OC_DESCRIBED_CONFIG,      /* config.json of a language model: a JSON object with "model_type" */
    OC_DESCRIBED_INDEX,       /* index of safetensors files: a JSON object with "weight_map" */
    OC_DESCRIBED_SAFETENSORS, /* weights */
    OC_DESCRIBED_GGUF         /* weights and metadata */
};
enum oc_described oc_described_by(const void *data, size_t n);

/* The file that describes the model of a folder, in the arena: an index of safetensors files, a safetensors
 * file, or config.json. NULL: not a folder, or it has none. */
struct oc_arena;
const char *oc_model_of_folder(const char *path, struct oc_arena *arena);

/* At most one byte in a hundred is a control character. */
bool oc_is_text(const void *data, size_t n);

#endif
