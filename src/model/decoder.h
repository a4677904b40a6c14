/* model/: A file as an immutable graph: ONNX, or a description of a decoder (config.json, safetensors,
 * GGUF). Weights are views into the file and are not read. Every length and nesting is checked before use:
 * the input is untrusted, and a new reader needs a fuzz target.
 * Private to the folder: decoder.h decoder_graph.h graph_writer.h loader.h stored.h. */

/* Language models without an ONNX file: the config.json of Hugging Face's transformers describes a decoder,
 * and its graph is built from that description, with a KV cache and with weights that have shapes but no
 * data. The bytes of that graph are loaded like those of a file. */
#ifndef OC_DECODER_H
#define OC_DECODER_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/json_read.h"
#include "model/stored.h"

enum oc_decoder_trait {
    OC_DEC_LAYER_NORM = 1 << 0,     /* LayerNormalization with bias, not RMS norm */
    OC_DEC_NORM_NO_BIAS = 1 << 1,   /* LayerNormalization without bias */
    OC_DEC_QKV_BIAS = 1 << 2,       /* query, key and value projections have a bias */
    OC_DEC_OUT_BIAS = 1 << 3,       /* so has the output projection */
    OC_DEC_MLP_BIAS = 1 << 4,       /* so have the layers of the MLP */
    OC_DEC_HEAD_BIAS = 1 << 5,      /* so has the last layer */
    OC_DEC_PLAIN_MLP = 1 << 6,      /* two layers, no gate */
    OC_DEC_PARALLEL = 1 << 7,       /* attention and MLP read the same norm */
    OC_DEC_TWO_NORMS = 1 << 8,      /* with PARALLEL: a norm for each */
    OC_DEC_QK_NORM = 1 << 9,        /* RMS norm of each query and key head */
    OC_DEC_QK_NORM_WIDE = 1 << 10,  /* RMS norm of all heads together */
    OC_DEC_POST_NORM = 1 << 11,     /* norms after attention and MLP */
    OC_DEC_NO_PRE_NORM = 1 << 12,   /* and none before them */
    OC_DEC_SCALED = 1 << 13,        /* embeddings are multiplied by a number */
    OC_DEC_LEARNED = 1 << 14,       /* a table of positions, no rotary embedding */
    OC_DEC_TIED = 1 << 15,          /* without tie_word_embeddings: the last layer is the embedding table */
    OC_DEC_SINKS = 1 << 16,         /* attention sinks: a number per head */
    OC_DEC_ROUTER_BIAS = 1 << 17,   /* bias of the layer that selects experts */
    OC_DEC_EXPERT_BIAS = 1 << 18,   /* biases of the experts' layers */
    OC_DEC_SHARED_GATE = 1 << 19,   /* the shared expert has a gate of its own */
    OC_DEC_LATENT = 1 << 20,        /* multi-head latent attention (DeepSeek) */
    OC_DEC_CORRECTION = 1 << 21,    /* a correction of the router's scores, one number per expert */
    OC_DEC_WINDOW_OPTION = 1 << 22, /* sliding_window counts only with use_sliding_window */
    OC_DEC_GATED = 1 << 23,         /* the output of attention is multiplied by a gate */
    OC_DEC_HYBRID = 1 << 24,        /* some layers have linear attention (gated delta rule), with a state */
    OC_DEC_ENCODER = 1 << 26,       /* no cache: BERT and its relatives */
    OC_DEC_POOLER = 1 << 27,        /* with a layer for the first token */
    OC_DEC_MULTI_QUERY = 1 << 25 /* one key head, or as many as num_kv_heads with new_decoder_architecture */
};

/* How the weights of a module are packed; bits 0: not. */
struct oc_packing {
    const char *module;
    int64_t bits, block;
    struct oc_packing *next;
};

enum oc_config_kind { OC_CONFIG_NUMBER /* int64_t */, OC_CONFIG_FLAG /* int8_t: 0, 1 */, OC_CONFIG_TEXT };
struct oc_config_member { /* of an object: where a struct has its value */
    const char *name;
    enum oc_config_kind kind;
    size_t at;
};
/* Reads the value of the member of that name into base + at; another type than its kind: nothing is set. False:
 * no such member, nothing is read. */
bool oc_config_read(const struct oc_config_member *member, size_t n, void *base, struct oc_arena *arena,
                    struct oc_json *j, struct oc_str key);
/* Sets the numbers and flags to -1. */
void oc_config_unset(const struct oc_config_member *member, size_t n, void *base);

/* What quantization_config, or the quantization of MLX, says; numbers -1: nothing. */
struct oc_quant {
    struct oc_arena *arena;
    const char *method, *algo, *format, *type, *strategy;
    int64_t bits, block, square, act_bits;
    int8_t symmetric, zeros, four, eight, twice, head;
    struct oc_packing *own; /* modules with a packing of their own; -1: as the others */
    uint32_t n_own, groups;
    bool mlx, configured; /* there is `quantization`, `quantization_config` */
    enum oc_cache_type { OC_CACHE_PLAIN, OC_CACHE_F8, OC_CACHE_OTHER } cache;
    bool unclear; /* something in it is not modelled */
    bool pattern; /* an exception that may be any of the layers */
};

struct oc_decoder {
    const char *type; /* model_type, as in the file */
    unsigned traits;  /* enum oc_decoder_trait */
    int64_t layers, width, heads, kv_heads, head, mlp, vocabulary, positions;
    int64_t rotary;   /* elements of a head that are rotated */
    int64_t segments; /* types of tokens, 0: none */
    /* Mixture of experts; experts 0: none. dense: layers without experts at the start; every expert_step-th
     * layer after them has experts. */
    int64_t experts, active, expert_mlp, shared_mlp, dense, expert_step;
    int64_t q_rank, kv_rank, nope, rope, v_head; /* latent attention; q_rank 0: a plain query projection */
    int64_t window;                              /* 0: none */
    uint8_t *windowed, *linear;                  /* by layer; linear NULL: none */
    uint8_t *unrotated;                          /* by layer: no rotary embedding (NoPE) */
    int64_t key_heads, value_heads, key_head, value_head, kernel; /* linear attention */
    int dtype;              /* of ONNX: 1 float, 10 float16, 16 bfloat16 */
    bool dtype_known;       /* the file says it */
    int cache_dtype;        /* of keys and values in the cache; 0: dtype */
    bool other_cache;       /* the file says another type, which is not modelled */
    int packed_dtype;       /* of the experts, and with packs_all of the other layers; 0: dtype */
    bool packs_all, scaled; /* scaled: with a scale for so many rows and columns (0: all) */
    int64_t scale_rows, scale_columns;
    bool part;                      /* the file describes other parts too (images, sound) */
    const char *other_quantization; /* one that is not modelled, NULL */
    int64_t bits, block;            /* integers in blocks of a row, block 0: the row; bits 0: not */
    int scale_dtype;                /* 0: dtype */
    bool zeros, int_products;       /* with zero points; activations are of 8 bits, too */
    bool mlx;                       /* with a bias for each block, also embeddings and the last layer */
    const struct oc_packing *own;   /* modules that are packed in another way; NULL: none */
    bool relu;                      /* activation of a plain MLP; otherwise GELU */
    bool gelu;                      /* activation of a gated MLP; otherwise SiLU */
};

void oc_quant_init(struct oc_quant *q, struct oc_arena *arena);
/* Reads an object; mlx: it is `quantization`. */
void oc_quant_read(struct oc_quant *q, struct oc_json *j, bool mlx);
/* With the sizes, experts and types of the decoder known. */
void oc_quant_apply(const struct oc_quant *q, struct oc_decoder *d);

#define OC_MODELOPT_CONFIG "hf_quant_config.json" /* says how ModelOpt quantized the weights next to it */

/* Reads and checks the text of a config.json; lists and texts are in the arena. modelopt: of OC_MODELOPT_CONFIG,
 * n 0: none; it counts if config has no quantization. OC_EUNSUPPORTED: another kind of model, or a part that is
 * not built. source: begins messages, "config.json". */
int oc_decoder_read(const char *source, struct oc_str config, struct oc_str modelopt, struct oc_arena *arena,
                    struct oc_diags *diags, struct oc_decoder *out, struct oc_err *err);

/* Warns of a quantization that is not modelled. stored: the types of the weights are known. */
void oc_decoder_note_quantization(const struct oc_decoder *d, bool stored, struct oc_diags *diags);

/* Appends an ONNX model: inputs input_ids, attention_mask and past_key_values.<layer>.key and .value, outputs
 * logits and present.*; batch_size, sequence_length, past_sequence_length and total_sequence_length stay
 * open. Types of weights are those of the stored tensors, if there are any. Returns the sum of the weights
 * without rotary tables. */
struct oc_stored_sum oc_decoder_build(const struct oc_decoder *d, const struct oc_stored_list *stored,
                                      struct oc_buf *out);

/* Families in the order of the table, NULL after the last one. */
const char *oc_decoder_family(size_t index);

/* The model_type of a GGUF file's general.architecture, NULL: none. correction: a correction of the router's
 * scores is among its tensors. */
const char *oc_decoder_of_gguf(const char *architecture, bool correction, bool *latent);

#endif
