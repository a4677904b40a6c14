/* Tensors as the headers of weight files (safetensors, GGUF) describe them; no weight is read. */
#ifndef OC_STORED_H
#define OC_STORED_H

#include "base/input_limits.h"
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

/* Sums over the tensors that belong to a model of so many layers: without layers after the last one, parts of
 * other modalities, tables of positions, scales, and, with tied embeddings, the last layer. */
struct oc_stored_sum {
    uint64_t elements, bytes;
};
struct oc_stored_sum oc_stored_decoder(const struct oc_stored_list *l, int64_t layers, bool tied);

#endif
