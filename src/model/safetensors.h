/* Headers of safetensors files: 8 bytes of length, then JSON with the type, shape and place of each tensor.
 */
#ifndef OC_SAFETENSORS_H
#define OC_SAFETENSORS_H

#include "model/stored.h"

/* Appends the tensors of a file of n bytes. Only the header is read; weights that are not in the file (cut
 * off) are a warning. */
int oc_safetensors_read(const char *path, const void *data, size_t n, struct oc_stored_list *out,
                        struct oc_diags *diags, struct oc_err *err);

struct oc_weight_index { /* model.safetensors.index.json */
    const char **file;   /* heap; each once */
    uint32_t n_file, cap_file;
    const char **tensor; /* heap */
    uint32_t n_tensor, cap_tensor;
    int64_t total_bytes; /* as metadata.total_size says; -1: it does not */
};
int oc_weight_index_read(const void *data, size_t n, struct oc_arena *arena, struct oc_weight_index *out,
                         struct oc_err *err);
void oc_weight_index_free(struct oc_weight_index *index);

#endif
