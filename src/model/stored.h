/* Tensors as the headers of weight files (safetensors, GGUF) describe them; no weight is read. */
#ifndef OC_STORED_H
#define OC_STORED_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/str.h"

struct oc_stored {
    const char *name;
    const int64_t *dim;
    uint64_t elements, bytes;
    uint8_t dtype, rank;
};

struct oc_stored_list { /* zero before use, but for the arena and the limits */
    struct oc_arena *arena;
    const struct oc_input_limits *limits; /* NULL: the defaults */
    struct oc_map by_name, by_role; /* of items; a role is "3.self_attn.q_proj.weight" or "norm.weight" */
    struct oc_stored *item;         /* heap */
    uint32_t n, cap;
    uint64_t elements, bytes;
};

/* Appends a tensor. Fails when the name is taken, or the shape is too large. */
int oc_stored_add(struct oc_stored_list *l, struct oc_str name, unsigned dtype, const int64_t *dim,
                  size_t rank, struct oc_err *err);
/* Whether a name has this part. */
bool oc_stored_any(const struct oc_stored_list *l, const char *part);
const struct oc_stored *oc_stored_find(const struct oc_stored_list *l, const char *name);
void oc_stored_free(struct oc_stored_list *l);

/* "12 tensors: bfloat16 15, int64 2", in the arena: elements of each type. */
const char *oc_stored_text(const struct oc_stored_list *l);

/* Type of the weight of a graph (named as in transformers' Llama) in the files of any family; `otherwise` if
 * no tensor holds it as floating-point numbers. */
unsigned oc_stored_dtype(const struct oc_stored_list *l, const char *weight, unsigned otherwise);

/* The i-th list of names by which files name a module of a layer, "mlp.gate"; ends with a space or the text.
 * NULL: no more. */
const char *oc_stored_alias(const char *module, size_t i);
/* Whether a module of the graph has this last part. */
bool oc_stored_is_module(const char *last);

/* Sums over the tensors that belong to a model of so many layers: without layers after the last one, parts of
 * other modalities, tables of positions, scales, and, with tied embeddings, the last layer. */
struct oc_stored_sum {
    uint64_t elements, bytes;
};
struct oc_file_sum;
bool oc_stored_is_mask(const char *name);           /* a mask of attention: a buffer */
enum oc_file_part oc_stored_part(const char *name); /* what a tensor belongs to, by its name */
/* All tensors, by what they belong to: towers of other modalities, layers after the last one (0: unknown). */
void oc_stored_parts(const struct oc_stored_list *l, int64_t layers, struct oc_file_sum *out);
struct oc_stored_sum oc_stored_decoder(const struct oc_stored_list *l, int64_t layers, bool tied);

/* ---- gguf ---------------------------------------------------------------------------------------------- */

/* Headers of GGUF files (llama.cpp), versions 2 and 3: metadata, then the name, shape and quantization type
 * of each tensor. */

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

/* ---- safetensors --------------------------------------------------------------------------------------- */

/* Headers of safetensors files: 8 bytes of length, then JSON with the type, shape and place of each tensor.
 */

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
