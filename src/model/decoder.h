/* model/: A file as an immutable graph: ONNX, or a description of a decoder (config.json, safetensors,
 * GGUF). Weights are views into the file and are not read. Every length and nesting is checked before use:
 * the input is untrusted, and a new reader needs a fuzz target.
 * Private to the folder: decoder.h decoder_graph.h loader.h stored.h. */

/* Language models without an ONNX file: a config.json describes a decoder by fields whose names and meanings
 * are in decoders.xml. The graph is built from them, with a KV cache and with weights that have shapes but no
 * data. The bytes of that graph are loaded like those of a file. */
#ifndef OC_DECODER_H
#define OC_DECODER_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/json_read.h"
#include "base/map.h"
#include "decoders.h"
#include "model/stored.h"

/* ---- fields (decoder_fields.c) ------------------------------------------------------------------------ */

/* decoders.xml names fields and words. Fields from rotary_share on are numbers with a fraction, in millionths. */
#define OC_FIELD_NAME(f) OC_F_##f,
#define OC_WORD_NAME(w)  OC_W_##w,
enum oc_dec_field_id { OC_EACH_FIELD(OC_FIELD_NAME) OC_FIELDS, OC_FIRST_MILLIONTHS = OC_F_rotary_share };
enum oc_dec_word { OC_WORDS_FROM = 1000, OC_EACH_WORD(OC_WORD_NAME) OC_WORDS_END };

struct oc_dec_fields {
    struct {
        int64_t v;     /* INT64_MIN: the file does not say it */
        int64_t *list; /* one by one, such as by layer; NULL: none */
        uint32_t n;
    } of[OC_FIELDS];
};
/* A value, and that of a layer. */
int64_t oc_dec_field(const struct oc_dec_fields *f, enum oc_dec_field_id field, int64_t otherwise);
int64_t oc_dec_field_at(const struct oc_dec_fields *f, enum oc_dec_field_id field, int64_t layer,
                        int64_t otherwise);
bool oc_dec_field_is(const struct oc_dec_fields *f, enum oc_dec_field_id field); /* given, and not 0 */
bool oc_dec_field_lists(const struct oc_dec_fields *f, enum oc_dec_field_id field,
                        int64_t v);                          /* v is in its list */
struct oc_str oc_dec_field_name(enum oc_dec_field_id field); /* its first one in config.json */

/* ---- quantization (decoder_quant.c) -------------------------------------------------------------------- */

/* How the weights of a module are stored. */
struct oc_packing {
    enum {
        OC_PACK_NOT,    /* in the type of the model */
        OC_PACK_TYPE,   /* in a type with its scales: dtype */
        OC_PACK_SCALED, /* in dtype, with a scale for so many rows and columns (0: all) */
        OC_PACK_BLOCKS  /* integers of `bits` in blocks of a row (0: the row) with a scale, and zero points */
    } kind;
    int dtype, scale_dtype; /* scale_dtype 0: that of the model */
    int64_t bits, block, rows, columns;
    bool zeros;        /* blocks have a zero point */
    bool biases;       /* blocks have a bias: MLX, which also packs embeddings */
    bool int_products; /* activations are of 8 bits, too */
};

struct oc_quant_rule { /* of modules that a file names; the first one that matches decides */
    const char *name;
    struct oc_packing as;
};

struct oc_quant {
    struct oc_packing all; /* of products that no rule names, but not routers and the last layer */
    struct oc_quant_rule *rule;
    uint32_t n_rule, n_pattern;
    uint32_t *pattern;     /* rules whose names are patterns, in order */
    struct oc_map literal; /* the others, by name from the layers on */
    const char *method;    /* NULL: not quantized */
    bool unknown;          /* it is not modelled: all is as without it */
    int cache;             /* type of keys and values in the cache; 0: that of the model */
    bool other_cache;      /* the file says another one, which is not modelled */
};

struct oc_quant_reader;
struct oc_quant_reader *oc_quant_open(struct oc_arena *arena);
/* Reads an object; mlx: it is `quantization`. */
void oc_quant_read(struct oc_quant_reader *r, struct oc_json *j, bool mlx);
bool oc_quant_given(const struct oc_quant_reader *r);
/* expert_type: of experts, as the model's own fields say; 0: nothing. */
struct oc_quant oc_quant_close(struct oc_quant_reader *r, int expert_type);
void oc_quant_free(struct oc_quant *q);

/* How a module of the graph is stored: "model.layers.3.mlp.gate_proj". linear: `all` applies to it. */
struct oc_packing oc_packing_of(const struct oc_quant *q, const char *module, bool linear);

/* ---- the decoder (decoder_config.c) -------------------------------------------------------------------- */

enum oc_mixer { /* of tokens; a layer has none, one or several */
                OC_MIX_GROUPED = 1 << 0,
                OC_MIX_LATENT = 1 << 1,     /* multi-head latent attention (DeepSeek-V2) */
                OC_MIX_COMPRESSED = 1 << 2, /* shared keys that are values, compressed (DeepSeek-V4) */
                OC_MIX_DELTA = 1 << 3,      /* gated delta rule (Qwen3-Next) */
                OC_MIX_KDA = 1 << 4,        /* the same with a decay for each channel (Kimi Linear) */
                OC_MIX_MAMBA = 1 << 5,
                OC_MIX_CONV = 1 << 6,    /* short convolution (LFM2) */
                OC_MIX_LINEAR = 1 << 7,  /* linear attention with a decay for each head (MiniMax-01) */
                OC_MIX_PRODUCT = 1 << 8, /* a matrix */
                OC_MIX_ATTENTION = OC_MIX_GROUPED | OC_MIX_LATENT | OC_MIX_COMPRESSED
};
enum oc_ffn { OC_FFN_DENSE = 1, OC_FFN_EXPERTS = 2, OC_FFN_PRODUCT = 4 };

struct oc_dec_layer {
    uint16_t mixers; /* set of enum oc_mixer */
    uint8_t ffn;     /* set of enum oc_ffn */
    bool rotary, sinks, correction;
    bool own_index;                                 /* has an indexer of its own */
    bool no_value;                                  /* keys are values, too */
    bool shared_kv;                                 /* keys and values are those of a layer before */
    int64_t heads, kv_heads, head, v_head, rotated; /* rotated: elements of a head */
    int64_t window, chunk, selected, ratio;         /* 0: none */
    int64_t mlp;
};

struct oc_decoder {
    const char *type; /* model_type, as in the file */
    struct oc_dec_fields f;
    int64_t layers, width, embedding, vocabulary, positions, segments; /* embedding: width of the table */
    int64_t experts, active, expert_mlp, shared_mlp, expert_width;
    int64_t q_rank, kv_rank, nope, rope, v_head; /* latent attention; q_rank 0: a plain query projection */
    int64_t key_heads, value_heads, key_head, value_head, kernel; /* linear attention */
    int64_t ssm_heads, ssm_head, ssm_groups, ssm_state, ssm_kernel, ssm_width, ssm_rank;
    struct oc_dec_layer *layer;
    int dtype;       /* of ONNX: 1 float, 10 float16, 16 bfloat16 */
    bool tied, part; /* part: the file describes other parts too (images, sound) */
    struct oc_quant quant;
};
/* Whether a field is set in the file or by its family. */
static inline bool oc_dec_is(const struct oc_decoder *d, enum oc_dec_field_id field)
{
    return oc_dec_field_is(&d->f, field);
}

#define OC_MODELOPT_CONFIG "hf_quant_config.json" /* says how ModelOpt quantized the weights next to it */

/* What is read: the text of a config.json, and of OC_MODELOPT_CONFIG (n 0: none; it counts if config has no
 * quantization). own: a file with families and fields that come first; NULL: none. */
struct oc_decoder_source {
    const char *name; /* begins messages, "config.json" */
    struct oc_str config, modelopt;
    const char *own;
    const char *const *tensor; /* names of those in the files */
    uint32_t n_tensor;
};

/* Lists and texts are in the arena. Fails when width, depth or vocabulary are not known, or a size is not
 * possible. What was assumed for a model_type without a family, and fields that were not understood, are
 * warnings. */
int oc_decoder_read(const struct oc_decoder_source *s, struct oc_arena *arena, struct oc_diags *diags,
                    struct oc_decoder *out, struct oc_err *err);
/* Fields of the source: config.json, the family of its model_type below it. */
struct oc_dec_fields_read {
    struct oc_dec_fields f;
    const char *type;   /* model_type of the language model; "" none */
    const char *family; /* whose fields are set; NULL: none. Not that of the type: `assumed` */
    bool assumed, part;
    const char *left_out; /* sizes that an inner object leaves out; NULL: none */
    const char *unread;   /* names of fields that were not understood, NULL: none */
    struct oc_quant_reader *quant;
};
int oc_dec_fields_read(const struct oc_decoder_source *s, struct oc_arena *arena, struct oc_diags *diags,
                       struct oc_dec_fields_read *out, struct oc_err *err);

/* Warns of a quantization that is not modelled. stored: the types of the weights are known. */
void oc_decoder_note_quantization(const struct oc_decoder *d, bool stored, struct oc_diags *diags);

/* Appends an ONNX model: inputs input_ids, attention_mask and past_key_values.<layer>.key and .value, outputs
 * logits and present.*; batch_size, sequence_length, past_sequence_length and total_sequence_length stay
 * open. Types of weights are those of the stored tensors, if there are any. Returns the sum of the weights. */
struct oc_stored_sum oc_decoder_build(const struct oc_decoder *d, const struct oc_stored_list *stored,
                                      struct oc_buf *out);

/* Names of families in the order of the table, NULL after the last one. */
const char *oc_decoder_family(size_t index, struct oc_arena *arena);

/* The model_type of a GGUF file's general.architecture, which is the architecture if no family names it.
 * correction: a correction of the router's scores is among its tensors. */
void oc_decoder_of_gguf(const char *architecture, bool correction, bool *latent, char type[64]);

#endif
