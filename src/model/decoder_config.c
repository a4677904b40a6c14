/* Reads a config.json of Hugging Face's transformers. Members, defaults and what they mean follow the
 * configuration_*.py and modeling_*.py of transformers. */
#include <stddef.h>
#include <string.h>

#include "base/json_read.h"
#include "model/decoder.h"
#include "shape/type.h"

enum { MAX_LAYERS = 400, MAX_EXPERTS = 65536, MAX_NESTED = 4 };
#define MAX_WIDTH INT64_C(16777216)

/* ---- families --------------------------------------------------------------------------------------- */

enum { LINEAR = 2 }; /* in members.windowed */

enum windows { NO_WINDOW, ALL_LAYERS, EVEN_LAYERS, THREE_OF_FOUR, FIVE_OF_SIX };

struct family {
    const char *type, *gguf; /* model_type; general.architecture of GGUF */
    unsigned traits;
    uint8_t windows;                           /* enum windows: without layer_types in the file */
    int64_t heads, kv_heads, head, vocabulary; /* what transformers takes where the file has none */
    int64_t mlp;                               /* times hidden_size; 0: the file says it */
    int64_t interval;                          /* every so many layers attention is not linear */
    int64_t unrotated;                         /* every so many layers there is no rotary embedding */
    bool window_rotates;                       /* rotary embedding in layers with a window only */
    bool plain_out;                            /* attention_bias is not of the output projection */
    bool halves;                               /* intermediate_size is the sum of both halves of the MLP */
    bool norm_option;                          /* queries and keys have norms only with use_qk_norm */
};

#define BIASES (OC_DEC_QKV_BIAS | OC_DEC_OUT_BIAS | OC_DEC_MLP_BIAS)
#define GEMMA  (OC_DEC_SCALED | OC_DEC_TIED)
#define ENCODER                                                                                              \
    (OC_DEC_ENCODER | OC_DEC_LAYER_NORM | BIASES | OC_DEC_PLAIN_MLP | OC_DEC_LEARNED | OC_DEC_TIED)
#define GPT_J  (OC_DEC_LAYER_NORM | OC_DEC_MLP_BIAS | OC_DEC_PLAIN_MLP | OC_DEC_PARALLEL | OC_DEC_HEAD_BIAS)
#define HYBRID (OC_DEC_HYBRID | OC_DEC_GATED | OC_DEC_QK_NORM | OC_DEC_SHARED_GATE)

static const struct family families[] = {
    {.type = "llama", .gguf = "llama"},
    {.type = "mistral", .gguf = "mistral3", .windows = ALL_LAYERS},
    {.type = "mixtral", .windows = ALL_LAYERS},
    {.type = "qwen2", .gguf = "qwen2", .traits = OC_DEC_QKV_BIAS | OC_DEC_WINDOW_OPTION},
    {.type = "qwen2_vl", .traits = OC_DEC_QKV_BIAS | OC_DEC_WINDOW_OPTION},
    {.type = "qwen2_vl_text", .traits = OC_DEC_QKV_BIAS | OC_DEC_WINDOW_OPTION},
    {.type = "qwen2_5_vl", .traits = OC_DEC_QKV_BIAS | OC_DEC_WINDOW_OPTION},
    {.type = "qwen2_5_vl_text", .traits = OC_DEC_QKV_BIAS | OC_DEC_WINDOW_OPTION},
    {.type = "qwen", .traits = OC_DEC_QKV_BIAS, .halves = true},
    {.type = "mimo", .traits = OC_DEC_QKV_BIAS | OC_DEC_WINDOW_OPTION, .plain_out = true},
    {.type = "qwen2_moe",
     .gguf = "qwen2moe",
     .traits = OC_DEC_QKV_BIAS | OC_DEC_WINDOW_OPTION | OC_DEC_SHARED_GATE},
    {.type = "qwen3", .gguf = "qwen3", .traits = OC_DEC_QK_NORM | OC_DEC_WINDOW_OPTION, .head = 128},
    {.type = "qwen3_vl_text", .traits = OC_DEC_QK_NORM | OC_DEC_WINDOW_OPTION, .head = 128},
    {.type = "qwen3_moe", .gguf = "qwen3moe", .traits = OC_DEC_QK_NORM | OC_DEC_WINDOW_OPTION},
    {.type = "qwen3_vl_moe_text", .traits = OC_DEC_QK_NORM},
    {.type = "gemma", .gguf = "gemma", .traits = GEMMA, .head = 256},
    {.type = "gemma2",
     .gguf = "gemma2",
     .traits = GEMMA | OC_DEC_POST_NORM,
     .windows = EVEN_LAYERS,
     .head = 256},
    {.type = "gemma3_text",
     .gguf = "gemma3",
     .traits = GEMMA | OC_DEC_POST_NORM | OC_DEC_QK_NORM,
     .windows = FIVE_OF_SIX,
     .heads = 8,
     .kv_heads = 4,
     .head = 256,
     .vocabulary = 262208},
    {.type = "phi",
     .gguf = "phi2",
     .traits = OC_DEC_LAYER_NORM | BIASES | OC_DEC_HEAD_BIAS | OC_DEC_PLAIN_MLP | OC_DEC_PARALLEL},
    {.type = "phi3", .gguf = "phi3", .windows = ALL_LAYERS},
    {.type = "gpt_oss",
     .gguf = "gpt-oss",
     .traits = OC_DEC_QKV_BIAS | OC_DEC_OUT_BIAS | OC_DEC_SINKS | OC_DEC_ROUTER_BIAS | OC_DEC_EXPERT_BIAS,
     .windows = EVEN_LAYERS,
     .head = 64},
    {.type = "deepseek_v2", .gguf = "deepseek2", .traits = OC_DEC_LATENT},
    {.type = "deepseek_v3", .gguf = "deepseek2", .traits = OC_DEC_LATENT | OC_DEC_CORRECTION},
    {.type = "kimi_k2", .traits = OC_DEC_LATENT | OC_DEC_CORRECTION},
    {.type = "glm4_moe_lite", .traits = OC_DEC_LATENT | OC_DEC_CORRECTION},
    {.type = "glm4_moe",
     .traits = OC_DEC_QK_NORM | OC_DEC_CORRECTION,
     .plain_out = true,
     .norm_option = true},
    {.type = "dots1", .traits = OC_DEC_QK_NORM | OC_DEC_CORRECTION},
    {.type = "ernie4_5_moe", .traits = OC_DEC_CORRECTION | OC_DEC_TIED},
    {.type = "minimax_m2", .traits = OC_DEC_QK_NORM_WIDE | OC_DEC_CORRECTION, .head = 128},
    {.type = "olmo2", .gguf = "olmo2", .traits = OC_DEC_POST_NORM | OC_DEC_NO_PRE_NORM | OC_DEC_QK_NORM_WIDE},
    {.type = "olmo3",
     .traits = OC_DEC_POST_NORM | OC_DEC_NO_PRE_NORM | OC_DEC_QK_NORM_WIDE,
     .windows = THREE_OF_FOUR},
    {.type = "olmoe", .traits = OC_DEC_QK_NORM_WIDE},
    {.type = "granite", .gguf = "granite"},
    {.type = "granitemoe"},
    {.type = "deepseek"},
    {.type = "internlm2"},
    {.type = "ernie4_5", .traits = OC_DEC_TIED},
    {.type = "seed_oss"},
    {.type = "glm", .plain_out = true},
    {.type = "glm4", .traits = OC_DEC_POST_NORM, .plain_out = true},
    {.type = "phimoe", .traits = OC_DEC_LAYER_NORM},
    {.type = "stablelm", .traits = OC_DEC_LAYER_NORM},
    {.type = "gptj", .traits = GPT_J, .mlp = 4},
    {.type = "codegen", .traits = GPT_J, .mlp = 4},
    {.type = "gpt_bigcode",
     .traits =
         OC_DEC_LAYER_NORM | BIASES | OC_DEC_PLAIN_MLP | OC_DEC_LEARNED | OC_DEC_TIED | OC_DEC_MULTI_QUERY,
     .mlp = 4},
    {.type = "smollm3", .gguf = "smollm3", .traits = OC_DEC_TIED | OC_DEC_WINDOW_OPTION, .unrotated = 4},
    {.type = "cohere", .gguf = "command-r", .traits = OC_DEC_NORM_NO_BIAS | OC_DEC_PARALLEL | OC_DEC_TIED},
    {.type = "cohere2",
     .traits = OC_DEC_NORM_NO_BIAS | OC_DEC_PARALLEL | OC_DEC_TIED,
     .windows = THREE_OF_FOUR,
     .window_rotates = true},
    {.type = "starcoder2",
     .gguf = "starcoder2",
     .traits = OC_DEC_LAYER_NORM | BIASES | OC_DEC_PLAIN_MLP | OC_DEC_TIED,
     .windows = ALL_LAYERS},
    {.type = "gpt_neox",
     .gguf = "gptneox",
     .traits = OC_DEC_LAYER_NORM | BIASES | OC_DEC_PLAIN_MLP | OC_DEC_PARALLEL | OC_DEC_TWO_NORMS},
    {.type = "gpt2",
     .gguf = "gpt2",
     .traits = OC_DEC_LAYER_NORM | BIASES | OC_DEC_PLAIN_MLP | OC_DEC_LEARNED | OC_DEC_TIED,
     .mlp = 4},
    {.type = "falcon",
     .gguf = "falcon",
     .traits = OC_DEC_LAYER_NORM | OC_DEC_PLAIN_MLP | OC_DEC_PARALLEL | OC_DEC_TIED | OC_DEC_MULTI_QUERY,
     .mlp = 4},
    {.type = "bert", .gguf = "bert", .traits = ENCODER | OC_DEC_POOLER},
    {.type = "roberta", .traits = ENCODER | OC_DEC_POOLER},
    {.type = "xlm-roberta", .traits = ENCODER | OC_DEC_POOLER},
    {.type = "camembert", .traits = ENCODER | OC_DEC_POOLER},
    {.type = "distilbert", .traits = ENCODER},
    {.type = "qwen3_next", .traits = HYBRID, .head = 256, .interval = 4},
    {.type = "qwen3_5_moe_text", .traits = HYBRID, .head = 256, .interval = 4},
    {.type = "qwen3_5_text", .traits = HYBRID, .head = 256, .interval = 4},
};

const char *oc_decoder_family(size_t index)
{
    return index < OC_COUNT(families) ? families[index].type : NULL;
}

const char *oc_decoder_of_gguf(const char *architecture, bool correction, bool *latent)
{
    for (size_t i = 0; i < OC_COUNT(families); i++) {
        const struct family *f = &families[i];
        *latent = f->traits & OC_DEC_LATENT;
        if (f->gguf && !strcmp(f->gguf, architecture) &&
            (!*latent || correction == !!(f->traits & OC_DEC_CORRECTION)))
            return f->type;
    }
    return NULL;
}

/* ---- members ---------------------------------------------------------------------------------------- */

/* What the file says; numbers -1: nothing. */
struct members {
    struct oc_arena *arena;
    const char *type, *inner_type, *dtype, *act;
    int64_t layers, width, heads, kv_heads, head, mlp, vocabulary, positions, window, window_step;
    int64_t experts, active, expert_mlp, shared, shared_mlp, dense, expert_step, last;
    int64_t q_rank, kv_rank, nope, rope, v_head;
    int64_t segments, interval, key_heads, value_heads, key_head, value_head, kernel;
    int64_t rotated, unrotated; /* elements of a head; every so many layers none */
    double rotary;
    int8_t alibi, multi_query, new_decoder, bias;
    int8_t tied, attention_bias, qkv_bias, out_bias, mlp_bias, head_bias, use_window, encoder, parallel,
        qk_norm;                 /* -1: nothing */
    uint8_t *windowed, *rotates; /* by layer */
    uint32_t n_windowed, n_rotates;
    struct oc_str text_config; /* the object, n 0: none */
    struct oc_quant quant;
    bool linear_layers; /* layer_types has some with linear attention */
    bool other_layers;  /* and some without attention */
    bool vision;        /* images are described too */
    bool only_mlp;      /* some layers are listed as having no experts */
    const char *listed; /* a number that is a list, one for each layer */
    bool modelopt; /* the file is ModelOpt's, next to config.json: its `quantization` is not that of MLX */
};

#define AT(field) offsetof(struct members, field)

static const struct oc_config_member table[] = {
    {"num_hidden_layers", OC_CONFIG_NUMBER, AT(layers)},
    {"n_layer", OC_CONFIG_NUMBER, AT(layers)},
    {"hidden_size", OC_CONFIG_NUMBER, AT(width)},
    {"n_embd", OC_CONFIG_NUMBER, AT(width)},
    {"num_attention_heads", OC_CONFIG_NUMBER, AT(heads)},
    {"n_head", OC_CONFIG_NUMBER, AT(heads)},
    {"num_key_value_heads", OC_CONFIG_NUMBER, AT(kv_heads)},
    {"head_dim", OC_CONFIG_NUMBER, AT(head)},
    {"intermediate_size", OC_CONFIG_NUMBER, AT(mlp)},
    {"n_inner", OC_CONFIG_NUMBER, AT(mlp)},
    {"vocab_size", OC_CONFIG_NUMBER, AT(vocabulary)},
    {"max_position_embeddings", OC_CONFIG_NUMBER, AT(positions)},
    {"n_positions", OC_CONFIG_NUMBER, AT(positions)},
    {"sliding_window", OC_CONFIG_NUMBER, AT(window)},
    {"sliding_window_pattern", OC_CONFIG_NUMBER, AT(window_step)},
    {"_sliding_window_pattern", OC_CONFIG_NUMBER, AT(window_step)},
    {"num_local_experts", OC_CONFIG_NUMBER, AT(experts)},
    {"num_experts", OC_CONFIG_NUMBER, AT(experts)},
    {"n_routed_experts", OC_CONFIG_NUMBER, AT(experts)},
    {"num_experts_per_tok", OC_CONFIG_NUMBER, AT(active)},
    {"moe_intermediate_size", OC_CONFIG_NUMBER, AT(expert_mlp)},
    {"n_shared_experts", OC_CONFIG_NUMBER, AT(shared)},
    {"shared_expert_intermediate_size", OC_CONFIG_NUMBER, AT(shared_mlp)},
    {"first_k_dense_replace", OC_CONFIG_NUMBER, AT(dense)},
    {"decoder_sparse_step", OC_CONFIG_NUMBER, AT(expert_step)},
    {"moe_layer_freq", OC_CONFIG_NUMBER, AT(expert_step)},
    {"moe_num_experts", OC_CONFIG_NUMBER, AT(experts)},
    {"moe_k", OC_CONFIG_NUMBER, AT(active)},
    {"moe_num_shared_experts", OC_CONFIG_NUMBER, AT(shared)},
    {"moe_layer_start_index", OC_CONFIG_NUMBER, AT(dense)},
    {"moe_layer_end_index", OC_CONFIG_NUMBER, AT(last)},
    {"moe_layer_interval", OC_CONFIG_NUMBER, AT(expert_step)},
    {"q_lora_rank", OC_CONFIG_NUMBER, AT(q_rank)},
    {"kv_lora_rank", OC_CONFIG_NUMBER, AT(kv_rank)},
    {"qk_nope_head_dim", OC_CONFIG_NUMBER, AT(nope)},
    {"qk_rope_head_dim", OC_CONFIG_NUMBER, AT(rope)},
    {"v_head_dim", OC_CONFIG_NUMBER, AT(v_head)},
    {"num_kv_heads", OC_CONFIG_NUMBER, AT(kv_heads)},
    {"type_vocab_size", OC_CONFIG_NUMBER, AT(segments)},
    {"dim", OC_CONFIG_NUMBER, AT(width)},
    {"n_layers", OC_CONFIG_NUMBER, AT(layers)},
    {"n_heads", OC_CONFIG_NUMBER, AT(heads)},
    {"hidden_dim", OC_CONFIG_NUMBER, AT(mlp)},
    {"n_head_kv", OC_CONFIG_NUMBER, AT(kv_heads)},
    {"ffn_hidden_size", OC_CONFIG_NUMBER, AT(mlp)},
    {"full_attention_interval", OC_CONFIG_NUMBER, AT(interval)},
    {"rotary_dim", OC_CONFIG_NUMBER, AT(rotated)},
    {"no_rope_layer_interval", OC_CONFIG_NUMBER, AT(unrotated)},
    {"linear_num_key_heads", OC_CONFIG_NUMBER, AT(key_heads)},
    {"linear_num_value_heads", OC_CONFIG_NUMBER, AT(value_heads)},
    {"linear_key_head_dim", OC_CONFIG_NUMBER, AT(key_head)},
    {"linear_value_head_dim", OC_CONFIG_NUMBER, AT(value_head)},
    {"linear_conv_kernel_dim", OC_CONFIG_NUMBER, AT(kernel)},
    {"tie_word_embeddings", OC_CONFIG_FLAG, AT(tied)},
    {"attention_bias", OC_CONFIG_FLAG, AT(attention_bias)},
    {"use_qkv_bias", OC_CONFIG_FLAG, AT(qkv_bias)},
    {"attention_out_bias", OC_CONFIG_FLAG, AT(out_bias)},
    {"mlp_bias", OC_CONFIG_FLAG, AT(mlp_bias)},
    {"lm_head_bias", OC_CONFIG_FLAG, AT(head_bias)},
    {"use_sliding_window", OC_CONFIG_FLAG, AT(use_window)},
    {"is_encoder_decoder", OC_CONFIG_FLAG, AT(encoder)},
    {"use_parallel_residual", OC_CONFIG_FLAG, AT(parallel)},
    {"qk_layernorm", OC_CONFIG_FLAG, AT(qk_norm)},
    {"use_qk_norm", OC_CONFIG_FLAG, AT(qk_norm)},
    {"alibi", OC_CONFIG_FLAG, AT(alibi)},
    {"multi_query", OC_CONFIG_FLAG, AT(multi_query)},
    {"bias", OC_CONFIG_FLAG, AT(bias)},
    {"new_decoder_architecture", OC_CONFIG_FLAG, AT(new_decoder)},
    {"parallel_attn", OC_CONFIG_FLAG, AT(parallel)},
    {"model_type", OC_CONFIG_TEXT, AT(type)},
    {"torch_dtype", OC_CONFIG_TEXT, AT(dtype)},
    {"dtype", OC_CONFIG_TEXT, AT(dtype)},
    {"hidden_act", OC_CONFIG_TEXT, AT(act)},
    {"hidden_activation", OC_CONFIG_TEXT, AT(act)},
    {"activation_function", OC_CONFIG_TEXT, AT(act)},
};

bool oc_config_read(const struct oc_config_member *member, size_t n, void *base, struct oc_arena *arena,
                    struct oc_json *j, struct oc_str key)
{
    size_t i = 0;
    while (i < n && !oc_str_eq(key, member[i].name))
        i++;
    if (i == n)
        return false;
    char *at = (char *)base + member[i].at;
    struct oc_str text;
    int64_t number;
    bool flag;
    if (member[i].kind == OC_CONFIG_NUMBER && oc_json_i64(j, &number)) /* null: nothing */
        *(int64_t *)(void *)at = number;
    else if (member[i].kind == OC_CONFIG_FLAG && oc_json_bool(j, &flag))
        *(int8_t *)at = flag ? 1 : 0;
    else if (member[i].kind == OC_CONFIG_TEXT && oc_json_peek(j) != OC_JSON_STRING)
        oc_json_skip(j);
    else if (member[i].kind == OC_CONFIG_TEXT && oc_json_string(j, &text))
        *(const char **)(void *)at = oc_strndup(arena, text.s, text.n);
    return true;
}

void oc_config_unset(const struct oc_config_member *member, size_t n, void *base)
{
    for (size_t i = 0; i < n; i++)
        if (member[i].kind == OC_CONFIG_NUMBER)
            *(int64_t *)(void *)((char *)base + member[i].at) = -1;
        else if (member[i].kind == OC_CONFIG_FLAG)
            *((int8_t *)base + member[i].at) = -1;
}

static void read_layer_types(struct members *m, struct oc_json *j)
{
    struct oc_str s;
    m->windowed = OC_NEW_ARRAY(m->arena, MAX_LAYERS, uint8_t);
    m->n_windowed = 0;
    for (oc_json_enter(j); oc_json_item(j);)
        if (oc_json_string(j, &s) && m->n_windowed < MAX_LAYERS) {
            bool linear = oc_str_eq(s, "linear_attention");
            m->windowed[m->n_windowed++] = linear ? LINEAR : oc_str_eq(s, "sliding_attention");
            m->linear_layers |= linear;
            m->other_layers |= !oc_str_has(s, "attention");
        }
}

/* no_rope_layers: 1 where there is a rotary embedding, despite its name. */
static void read_rotates(struct members *m, struct oc_json *j)
{
    m->rotates = OC_NEW_ARRAY(m->arena, MAX_LAYERS, uint8_t);
    m->n_rotates = 0;
    for (oc_json_enter(j); oc_json_item(j);) {
        int64_t v = 1;
        if (oc_json_i64(j, &v) && m->n_rotates < MAX_LAYERS)
            m->rotates[m->n_rotates++] = v != 0;
    }
}

static bool is_number(struct oc_str key)
{
    size_t i = 0;
    while (i < OC_COUNT(table) && !oc_str_eq(key, table[i].name))
        i++;
    return i < OC_COUNT(table) && table[i].kind == OC_CONFIG_NUMBER;
}

static void read_listed(struct members *m, struct oc_json *j, struct oc_str key)
{
    for (oc_json_enter(j); oc_json_item(j); oc_json_skip(j))
        m->listed = oc_strndup(m->arena, key.s, key.n);
}

/* Layers without experts are built at the start only. */
static void read_mlp_types(struct members *m, struct oc_json *j)
{
    struct oc_str s;
    int64_t n = 0, dense = 0;
    for (oc_json_enter(j); oc_json_item(j); n++)
        if (oc_json_string(j, &s) && oc_str_eq(s, "dense")) {
            m->only_mlp |= dense < n;
            dense++;
        }
    m->dense = dense;
}

/* A multimodal model has its decoder in text_config: kept, to be read last. */
static void keep_text_config(struct members *m, struct oc_json *j)
{
    struct oc_str text;
    if (oc_json_raw(j, &text))
        m->text_config = oc_str(OC_COPY_ARRAY(m->arena, text.s, text.n), text.n);
}

static void read_object(struct members *m, struct oc_json *j, unsigned depth)
{
    struct oc_str key;
    for (oc_json_enter(j); oc_json_member(j, &key);) {
        enum oc_json_type type = oc_json_peek(j);
        bool object = type == OC_JSON_OBJECT, array = type == OC_JSON_ARRAY,
             quantization = oc_str_eq(key, "quantization");
        m->vision |= object && oc_str_eq(key, "vision_config");
        if (m->modelopt && !quantization) {
            oc_json_skip(j);
            continue;
        }
        if (object && (quantization || oc_str_eq(key, "quantization_config")))
            oc_quant_read(&m->quant, j, quantization && !m->modelopt);
        else if (object && oc_str_eq(key, "rope_parameters") && depth < MAX_NESTED)
            read_object(m, j, depth + 1);
        else if (object && oc_str_eq(key, "text_config"))
            keep_text_config(m, j);
        else if (array && oc_str_eq(key, "layer_types"))
            read_layer_types(m, j);
        else if (array && oc_str_eq(key, "no_rope_layers"))
            read_rotates(m, j);
        else if (array && oc_str_eq(key, "mlp_layer_types"))
            read_mlp_types(m, j);
        else if (array && oc_str_eq(key, "mlp_only_layers"))
            for (oc_json_enter(j); oc_json_item(j); oc_json_skip(j))
                m->only_mlp = true;
        else if (array && is_number(key))
            read_listed(m, j, key);
        else if (oc_str_eq(key, "partial_rotary_factor") || oc_str_eq(key, "rotary_pct"))
            oc_json_double(j, &m->rotary);
        else if (!oc_config_read(table, OC_COUNT(table), m, m->arena, j, key))
            oc_json_skip(j);
    }
}

/* ---- from members to a decoder ---------------------------------------------------------------------- */

static int64_t given(int64_t v, int64_t otherwise)
{
    return v >= 0 ? v : otherwise;
}

static int need(const char *name, int64_t v, int64_t most, struct oc_err *err)
{
    if (v < 0)
        return oc_fail(err, OC_EFORMAT, "no '%s'; give the whole file of the model", name);
    if (v < 1 || v > most)
        return oc_fail(err, OC_EFORMAT, "%s must be from 1 to %lld, not %lld", name, (long long)most,
                       (long long)v);
    return 0;
}

static const struct family *family_of(const char *type, struct oc_err *err)
{
    struct oc_buf list = {0};
    for (size_t i = 0; i < OC_COUNT(families); i++) {
        if (type && strcmp(families[i].type, type) == 0) {
            oc_buf_free(&list);
            return &families[i];
        }
        oc_buf_printf(&list, "%s%s", i ? ", " : "", families[i].type);
    }
    oc_fail(err, OC_EUNSUPPORTED, "a '%.60s' model: only these families are built: %s; export others to ONNX",
            type ? type : "", list.data);
    oc_buf_free(&list);
    return NULL;
}

static int64_t kv_heads(const struct members *m, const struct family *f, int64_t heads)
{
    if ((f->traits & OC_DEC_MULTI_QUERY) && m->new_decoder != 1)
        return m->multi_query != 0 ? 1 : heads;
    return given(m->kv_heads, f->kv_heads ? f->kv_heads : heads);
}

static int sizes(const struct members *m, const struct family *f, struct oc_decoder *d, struct oc_err *err)
{
    d->layers = m->layers;
    d->width = m->width;
    d->heads = given(m->heads, f->heads ? f->heads : -1);
    d->vocabulary = given(m->vocabulary, f->vocabulary ? f->vocabulary : -1);
    if (need("num_hidden_layers", d->layers, MAX_LAYERS, err) ||
        need("hidden_size", d->width, MAX_WIDTH, err) ||
        need("num_attention_heads", d->heads, d->width, err) ||
        need("vocab_size", d->vocabulary, MAX_WIDTH, err))
        return -1;
    d->kv_heads = kv_heads(m, f, d->heads);
    d->head = given(m->head, f->head ? f->head : d->width / d->heads);
    d->mlp = given(m->mlp, f->mlp ? f->mlp * d->width : m->experts > 0 ? m->expert_mlp : -1);
    d->mlp = f->halves && d->mlp > 0 ? d->mlp / 2 : d->mlp;
    d->positions = given(m->positions, 2048);
    d->segments = given(m->segments, 0);
    double rotated = m->rotary >= 0 && m->rotary <= 1 ? m->rotary * (double)d->head : (double)d->head;
    d->rotary = m->rotated >= 0 && m->rotated <= d->head ? m->rotated : (int64_t)rotated;
    if (d->segments > MAX_EXPERTS)
        return oc_fail(err, OC_EFORMAT, "type_vocab_size is out of range");
    if (need("num_key_value_heads", d->kv_heads, d->heads, err) || need("head_dim", d->head, d->width, err) ||
        need("intermediate_size", d->mlp, MAX_WIDTH, err) ||
        need("max_position_embeddings", d->positions, INT64_C(1) << 40, err))
        return -1;
    if (d->heads % d->kv_heads)
        return oc_fail(err, OC_EFORMAT, "%lld heads cannot share %lld key and value heads",
                       (long long)d->heads, (long long)d->kv_heads);
    return 0;
}

static int experts(const struct members *m, struct oc_decoder *d, struct oc_err *err)
{
    d->experts = given(m->experts, 0);
    if (d->experts == 0)
        return 0;
    d->active = m->active;
    d->expert_mlp = given(m->expert_mlp, d->mlp);
    d->shared_mlp =
        m->shared > 0 && m->shared <= MAX_EXPERTS ? m->shared * d->expert_mlp : given(m->shared_mlp, 0);
    d->dense = given(m->dense, 0);
    d->expert_step = given(m->expert_step, 1);
    if (m->only_mlp || (m->last >= 0 && m->last < d->layers - 1))
        return oc_fail(err, OC_EUNSUPPORTED, "%s is not supported",
                       m->only_mlp ? "a layer without experts after one with them (mlp_only_layers)"
                                   : "moe_layer_end_index");
    if (d->dense > d->layers || d->shared_mlp > MAX_WIDTH)
        return oc_fail(err, OC_EFORMAT, "first_k_dense_replace or the shared experts are out of range");
    return need("the number of experts", d->experts, MAX_EXPERTS, err) ||
                   need("num_experts_per_tok", d->active, d->experts, err) ||
                   need("moe_intermediate_size", d->expert_mlp, MAX_WIDTH, err) ||
                   need("decoder_sparse_step", d->expert_step, MAX_LAYERS, err)
               ? -1
               : 0;
}

static int latent(const struct members *m, struct oc_decoder *d, struct oc_err *err)
{
    if (!(d->traits & OC_DEC_LATENT))
        return 0;
    d->q_rank = given(m->q_rank, 0);
    d->kv_rank = m->kv_rank;
    d->nope = m->nope;
    d->rope = m->rope;
    d->v_head = m->v_head;
    if (d->q_rank > MAX_WIDTH)
        return oc_fail(err, OC_EFORMAT, "q_lora_rank is out of range");
    return need("kv_lora_rank", d->kv_rank, MAX_WIDTH, err) ||
                   need("qk_nope_head_dim", d->nope, MAX_WIDTH, err) ||
                   need("qk_rope_head_dim", d->rope, MAX_WIDTH, err) ||
                   need("v_head_dim", d->v_head, MAX_WIDTH, err)
               ? -1
               : 0;
}

static int windows(const struct members *m, const struct family *f, struct oc_arena *arena,
                   struct oc_decoder *d, struct oc_err *err)
{
    static const int64_t steps[] = {
        [ALL_LAYERS] = 0, [EVEN_LAYERS] = 2, [THREE_OF_FOUR] = 4, [FIVE_OF_SIX] = 6};
    int64_t step = given(m->window_step, steps[f->windows]);
    bool off = (d->traits & OC_DEC_WINDOW_OPTION) && m->use_window != 1;
    d->window = off || m->window < 0 ? 0 : m->window;
    d->windowed = OC_NEW_ARRAY(arena, (size_t)d->layers, uint8_t);
    if (m->n_windowed && m->n_windowed != (uint64_t)d->layers)
        return oc_fail(err, OC_EFORMAT, "layer_types names %u layers of %lld", (unsigned)m->n_windowed,
                       (long long)d->layers);
    for (int64_t i = 0; d->window && i < d->layers; i++) {
        bool by_family = step > 0 ? (i + 1) % step != 0 : f->windows == ALL_LAYERS;
        d->windowed[i] = m->n_windowed ? m->windowed[i] == 1 : by_family;
    }
    return 0;
}

/* With the windows known. */
static void rotations(const struct members *m, const struct family *f, struct oc_arena *arena,
                      struct oc_decoder *d)
{
    int64_t every = f->unrotated ? given(m->unrotated, f->unrotated) : 0;
    d->unrotated = OC_NEW_ARRAY(arena, (size_t)d->layers, uint8_t);
    for (int64_t i = 0; i < d->layers; i++)
        d->unrotated[i] = f->window_rotates ? !d->windowed[i]
                          : m->n_rotates    ? i < m->n_rotates && !m->rotates[i]
                                            : every > 0 && (i + 1) % every == 0;
}

static int linear_layers(const struct members *m, const struct family *f, struct oc_arena *arena,
                         struct oc_decoder *d, struct oc_err *err)
{
    if (!(d->traits & OC_DEC_HYBRID))
        return 0;
    int64_t interval = given(m->interval, f->interval);
    d->key_heads = m->key_heads;
    d->value_heads = m->value_heads;
    d->key_head = m->key_head;
    d->value_head = m->value_head;
    d->kernel = m->kernel;
    if (need("full_attention_interval", interval, MAX_LAYERS, err) ||
        need("linear_num_key_heads", d->key_heads, d->width, err) ||
        need("linear_num_value_heads", d->value_heads, d->width, err) ||
        need("linear_key_head_dim", d->key_head, d->width, err) ||
        need("linear_value_head_dim", d->value_head, d->width, err) ||
        need("linear_conv_kernel_dim", d->kernel, d->width, err))
        return -1;
    d->linear = OC_NEW_ARRAY(arena, (size_t)d->layers, uint8_t);
    for (int64_t i = 0; i < d->layers; i++)
        d->linear[i] = m->n_windowed ? m->windowed[i] == LINEAR : (i + 1) % interval != 0;
    return 0;
}

static void traits(const struct members *m, const struct family *f, struct oc_decoder *d)
{
    bool tied = m->tied >= 0 ? m->tied : (d->traits & OC_DEC_TIED) != 0;
    d->traits = (d->traits & ~(unsigned)OC_DEC_TIED) | (tied ? OC_DEC_TIED : 0);
    if (m->attention_bias == 1 || m->qkv_bias == 1)
        d->traits |= OC_DEC_QKV_BIAS;
    if (m->attention_bias == 1 && m->out_bias != 0 && !f->plain_out)
        d->traits |= OC_DEC_OUT_BIAS;
    if (m->head_bias == 1)
        d->traits |= OC_DEC_HEAD_BIAS;
    if (m->parallel == 1)
        d->traits |= OC_DEC_PARALLEL;
    if (m->mlp_bias == 1)
        d->traits |= OC_DEC_MLP_BIAS;
    if (m->bias == 1 && d->traits & OC_DEC_MULTI_QUERY)
        d->traits |= BIASES;
    if (m->new_decoder == 1 && d->traits & OC_DEC_MULTI_QUERY)
        d->traits |= OC_DEC_TWO_NORMS;
    if (m->parallel == 0)
        d->traits &= ~(unsigned)(OC_DEC_PARALLEL | OC_DEC_TWO_NORMS);
    if (m->qk_norm == 0 || (f->norm_option && m->qk_norm < 0))
        d->traits &= ~(unsigned)(OC_DEC_QK_NORM | OC_DEC_QK_NORM_WIDE);
    d->relu = m->act && strstr(m->act, "relu");
    d->gelu = m->act && strstr(m->act, "gelu");
}

static int take(const struct members *m, struct oc_arena *arena, struct oc_decoder *d, struct oc_err *err)
{
    const struct family *f = family_of(m->type, err);
    if (!f)
        return -1;
    *d = (struct oc_decoder){.type = f->type, .traits = f->traits};
    if (m->encoder == 1 || m->other_layers || (m->linear_layers && !(d->traits & OC_DEC_HYBRID)))
        return oc_fail(err, OC_EUNSUPPORTED, "%s are not built; export the model to ONNX",
                       m->encoder == 1 ? "models with an encoder" : "layers other than attention");
    if (m->alibi == 1)
        return oc_fail(err, OC_EUNSUPPORTED, "ALiBi is not built; export the model to ONNX");
    if (m->qk_norm == 1 && !(d->traits & (OC_DEC_QK_NORM | OC_DEC_QK_NORM_WIDE)))
        return oc_fail(err, OC_EUNSUPPORTED, "norms of queries and keys are not built for '%s'", d->type);
    if (m->listed)
        return oc_fail(err, OC_EUNSUPPORTED, "'%.40s' is a list: layers with different sizes are not built",
                       m->listed);
    traits(m, f, d);
    d->dtype_known = m->dtype;
    d->dtype = m->dtype && !strcmp(m->dtype, "float16")    ? OC_DT_FLOAT16
               : m->dtype && !strcmp(m->dtype, "bfloat16") ? OC_DT_BFLOAT16
                                                           : OC_DT_FLOAT;
    if (sizes(m, f, d, err) || experts(m, d, err))
        return -1;
    oc_quant_apply(&m->quant, d);
    if (latent(m, d, err) || windows(m, f, arena, d, err))
        return -1;
    rotations(m, f, arena, d);
    return linear_layers(m, f, arena, d, err);
}

static int read_text_of(struct members *m, struct oc_str text, struct oc_err *err)
{
    struct oc_stream *s = oc_stream_mem(text.s, text.n);
    struct oc_json *j = oc_json_open(s);
    uint64_t at = 0;
    read_object(m, j, 0);
    const char *bad = oc_json_error(j, &at);
    if (!bad && oc_json_truncated(j))
        bad = "the text ends inside a value";
    if (bad)
        oc_fail(err, OC_EFORMAT, "damaged: %s (offset %llu)", bad, (unsigned long long)at);
    oc_json_close(j);
    oc_stream_close(s);
    return bad ? -1 : 0;
}

static int read_modelopt(struct members *m, struct oc_str text, struct oc_err *err)
{
    if (!text.n || m->quant.configured || m->quant.mlx)
        return 0;
    m->modelopt = true;
    if (read_text_of(m, text, err))
        return oc_err_prefix(err, OC_MODELOPT_CONFIG);
    m->quant.configured = m->quant.algo != NULL; /* null: only the cache */
    return 0;
}

int oc_decoder_read(const char *source, struct oc_str config, struct oc_str modelopt, struct oc_arena *arena,
                    struct oc_diags *diags, struct oc_decoder *out, struct oc_err *err)
{
    struct members m = {.arena = arena, .rotary = -1};
    oc_config_unset(table, OC_COUNT(table), &m);
    oc_quant_init(&m.quant, arena);
    if (read_text_of(&m, config, err) || (m.text_config.n && read_text_of(&m, m.text_config, err)) ||
        read_modelopt(&m, modelopt, err) || take(&m, arena, out, err))
        return oc_err_prefix(err, "%s", source);
    out->part = m.text_config.n > 0 || m.vision;
    if (out->part)
        oc_diag_add(diags, OC_WARNING, "W-text-only", source, "only the language model%s is built",
                    m.text_config.n > 0 ? " (text_config)" : "");
    return 0;
}
