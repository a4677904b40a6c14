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

/* Whether a file is the config.json of a language model: a JSON object with "model_type". `data`: its first
 * bytes. */
bool oc_is_decoder_config(const void *data, size_t n);

/* At most one byte in a hundred is a control character. */
bool oc_is_text(const void *data, size_t n);

#endif
