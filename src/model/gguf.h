/* Headers of GGUF files (llama.cpp), versions 2 and 3: metadata, then the name, shape and quantization type
 * of each tensor. */
#ifndef OC_GGUF_H
#define OC_GGUF_H

#include "base/buf.h"
#include "model/stored.h"

enum { OC_GGUF_MEMBERS = 16 };

struct oc_gguf {                 /* metadata; numbers -1: nothing */
    const char *architecture;    /* "" none */
    int64_t of[OC_GGUF_MEMBERS]; /* as members of a config.json, by a table of gguf.c */
    int64_t head, value, head_latent, value_latent, rope, tokens, segments, alignment;
    int64_t parts; /* files of the model */
    bool mixed;    /* a number that differs between layers */
};

/* Appends the tensors. Only the header is read; weights that are not in the file (cut off) are a warning. */
int oc_gguf_read(const char *path, const void *data, size_t n, struct oc_stored_list *out,
                 struct oc_gguf *gguf, struct oc_diags *diags, struct oc_err *err);

/* Appends what the metadata and tensors of all parts say of the decoder, as a config.json. False: its
 * architecture is not one that is built. */
bool oc_gguf_config(const struct oc_gguf *gguf, const struct oc_stored_list *list, struct oc_buf *out);

#endif
