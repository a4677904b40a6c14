/* Decoders from a config.json: parameters against published counts, cache against hand calculation, and
 * everything that is refused. The texts have the members that decide sizes, as the models' own files do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "estimate/bound.h"
#include "model/decoder.h"
#include "onnxcost.h"
#include "onnxcost/llm.h"
#include "support/run_model.h"

#define SIZES(width, mlp, layers, heads, kv_heads, words)                                                    \
    "\"hidden_size\":" #width ",\"intermediate_size\":" #mlp ",\"num_hidden_layers\":" #layers               \
    ",\"num_attention_heads\":" #heads ",\"num_key_value_heads\":" #kv_heads ",\"vocab_size\":" #words       \
    ",\"torch_dtype\":\"bfloat16\""
#define TYPE(type) "{\"model_type\":\"" type "\","

/* Parameters: the sum of the tensors in the safetensors files of the model's page, as their headers say (with
 * a tied output counted once). Cache: 2 tensors * key heads * elements * 2 bytes * layers. */
static const struct {
    const char *name, *text;
    uint64_t params, kv_bytes;
} published[] = {
    {"Llama 2 7B", TYPE("llama") SIZES(4096, 11008, 32, 32, 32, 32000) "}", 6738415616,
     2 * 32 * 128 * 2 * 32},
    {"Llama 2 70B", TYPE("llama") SIZES(8192, 28672, 80, 64, 8, 32000) "}", 68976648192,
     2 * 8 * 128 * 2 * 80},
    {"Llama 3.1 405B", TYPE("llama") SIZES(16384, 53248, 126, 128, 8, 128256) "}", 405853388800,
     2 * 8 * 128 * 2 * 126},
    {"Llama 3.2 1B", TYPE("llama") SIZES(2048, 8192, 16, 32, 8, 128256) ",\"tie_word_embeddings\":true}",
     1235814400, 2 * 8 * 64 * 2 * 16},
    {"Mistral 7B", TYPE("mistral") SIZES(4096, 14336, 32, 32, 8, 32000) ",\"sliding_window\":4096}",
     7241732096, 2 * 8 * 128 * 2 * 32},
    {"Mixtral 8x7B",
     TYPE("mixtral")
         SIZES(4096, 14336, 32, 32, 8, 32000) ",\"num_local_experts\":8,\"num_experts_per_tok\":2}",
     46702792704, 2 * 8 * 128 * 2 * 32},
    {"Qwen2 7B", TYPE("qwen2") SIZES(3584, 18944, 28, 28, 4, 152064) "}", 7615616512, 2 * 4 * 128 * 2 * 28},
    {"Qwen1.5-MoE-A2.7B",
     TYPE("qwen2_moe") SIZES(2048, 5632, 24, 16, 16, 151936) ",\"num_experts\":60,\"num_experts_per_tok\":4,"
                                                             "\"moe_intermediate_size\":1408,"
                                                             "\"shared_expert_intermediate_size\":5632}",
     14315784192, 2 * 16 * 128 * 2 * 24},
    {"Qwen3 8B", TYPE("qwen3") SIZES(4096, 12288, 36, 32, 8, 151936) ",\"head_dim\":128}", 8190735360,
     2 * 8 * 128 * 2 * 36},
    {"Qwen3 30B-A3B",
     TYPE("qwen3_moe") SIZES(2048, 6144, 48, 32, 4, 151936) ",\"head_dim\":128,\"num_experts\":128,"
                                                            "\"num_experts_per_tok\":8,"
                                                            "\"moe_intermediate_size\":768,"
                                                            "\"mlp_only_layers\":[]}",
     30532122624, 2 * 4 * 128 * 2 * 48},
    {"Gemma 7B", TYPE("gemma") SIZES(3072, 24576, 28, 16, 16, 256000) "}", 8537680896, 2 * 16 * 256 * 2 * 28},
    {"Gemma 2 9B", TYPE("gemma2") SIZES(3584, 14336, 42, 16, 8, 256000) ",\"sliding_window\":4096}",
     9241705984, 2 * 8 * 256 * 2 * 42},
    {"Gemma 3 1B", TYPE("gemma3_text") SIZES(1152, 6912, 26, 4, 1, 262144) ",\"sliding_window\":512}",
     999885952, 2 * 1 * 256 * 2 * 26},
    {"Phi-2", TYPE("phi") SIZES(2560, 10240, 32, 32, 32, 51200) ",\"partial_rotary_factor\":0.4}", 2779683840,
     2 * 32 * 80 * 2 * 32},
    {"Phi-3 mini", TYPE("phi3") SIZES(3072, 8192, 32, 32, 32, 32064) "}", 3821079552, 2 * 32 * 96 * 2 * 32},
    {"gpt-oss 20B",
     TYPE("gpt_oss") SIZES(2880, 2880, 24, 64, 8, 201088) ",\"attention_bias\":true,\"num_local_experts\":32,"
                                                          "\"num_experts_per_tok\":4,\"sliding_window\":128}",
     20914757184, 2 * 8 * 64 * 2 * 24},
    /* one latent of 512 + 64 elements a layer */
    {"DeepSeek-V3",
     TYPE("deepseek_v3")
         SIZES(7168, 18432, 61, 128, 128, 129280) ",\"q_lora_rank\":1536,\"kv_lora_rank\":512,"
                                                  "\"qk_nope_head_dim\":128,"
                                                  "\"qk_rope_head_dim\":64,\"v_head_dim\":128,"
                                                  "\"n_routed_experts\":256,"
                                                  "\"n_shared_experts\":1,"
                                                  "\"num_experts_per_tok\":8,"
                                                  "\"moe_intermediate_size\":2048,"
                                                  "\"first_k_dense_replace\":3}",
     671026419200, (512 + 64) * 2 * 61},
    {"DeepSeek-V2-Lite",
     TYPE("deepseek_v2") SIZES(2048, 10944, 27, 16, 16, 102400) ",\"q_lora_rank\":null,\"kv_lora_rank\":512,"
                                                                "\"qk_nope_head_dim\":128,"
                                                                "\"qk_rope_head_dim\":64,\"v_head_dim\":128,"
                                                                "\"n_routed_experts\":64,"
                                                                "\"n_shared_experts\":2,"
                                                                "\"num_experts_per_tok\":6,"
                                                                "\"moe_intermediate_size\":1408,"
                                                                "\"first_k_dense_replace\":1}",
     15706484224, (512 + 64) * 2 * 27},
    {"StarCoder2 3B", TYPE("starcoder2") SIZES(3072, 12288, 30, 24, 2, 49152) "}", 3030371328,
     2 * 2 * 128 * 2 * 30},
    {"Pythia 1.4B", TYPE("gpt_neox") SIZES(2048, 8192, 24, 16, 16, 50304) ",\"rotary_pct\":0.25}", 1414647808,
     2 * 16 * 128 * 2 * 24},
    {"SmolLM3 3B", TYPE("smollm3") SIZES(2048, 11008, 36, 16, 4, 128256) "}", 3075098624,
     2 * 4 * 128 * 2 * 36},
    {"Command R", TYPE("cohere") SIZES(8192, 22528, 40, 64, 64, 256000) "}", 34980831232,
     2 * 64 * 128 * 2 * 40},
    {"Falcon 7B",
     TYPE(
         "falcon") "\"hidden_size\":4544,\"num_hidden_layers\":32,\"num_attention_heads\":71,\"vocab_size\":"
                   "65024,"
                   "\"multi_query\":true,\"parallel_attn\":true,\"bias\":false,\"torch_dtype\":\"bfloat16\"}",
     6921720704, 2 * 1 * 64 * 2 * 32},
    {"Qwen 7B", TYPE("qwen") SIZES(4096, 22016, 32, 32, 32, 151936) "}", 7721324544, 2 * 32 * 128 * 2 * 32},
    {"Qwen2.5-VL 7B, language model",
     TYPE("qwen2_5_vl") SIZES(3584, 18944, 28, 28, 4, 152064) ",\"vision_config\":{\"hidden_size\":1280}}",
     7615616512, 2 * 4 * 128 * 2 * 28},
    {"OLMo 3 7B", TYPE("olmo3") SIZES(4096, 11008, 32, 32, 32, 100278) "}", 7298011136,
     2 * 32 * 128 * 2 * 32},
    {"OLMoE 1B-7B",
     TYPE("olmoe") SIZES(2048, 1024, 16, 16, 16, 50304) ",\"num_experts\":64,\"num_experts_per_tok\":8}",
     6919161856, 2 * 16 * 128 * 2 * 16},
    {"Granite 3.1 1B-A400M",
     TYPE("granitemoe") SIZES(1024, 512, 24, 16, 8, 49155) ",\"num_local_experts\":32,"
                                                           "\"num_experts_per_tok\":8,"
                                                           "\"tie_word_embeddings\":true}",
     1334628352, 2 * 8 * 64 * 2 * 24},
    {"DeepSeekMoE 16B",
     TYPE("deepseek") SIZES(2048, 10944, 28, 16, 16, 102400) ",\"n_routed_experts\":64,"
                                                             "\"n_shared_experts\":2,"
                                                             "\"num_experts_per_tok\":6,"
                                                             "\"moe_intermediate_size\":1408,"
                                                             "\"first_k_dense_replace\":1,"
                                                             "\"moe_layer_freq\":1}",
     16375728128, 2 * 16 * 128 * 2 * 28},
    {"InternLM2 7B", TYPE("internlm2") SIZES(4096, 14336, 32, 32, 8, 92544) ",\"bias\":false}", 7737708544,
     2 * 8 * 128 * 2 * 32},
    {"ERNIE 4.5 0.3B", TYPE("ernie4_5") SIZES(1024, 3072, 18, 16, 2, 103424) ",\"head_dim\":128}", 360748032,
     2 * 2 * 128 * 2 * 18},
    {"Seed-OSS 36B",
     TYPE("seed_oss") SIZES(5120, 27648, 64, 80, 8, 155136) ",\"head_dim\":128,\"attention_bias\":true,"
                                                            "\"attention_out_bias\":false}",
     36151104512, 2 * 8 * 128 * 2 * 64},
    {"GLM-4 9B",
     TYPE("glm")
         SIZES(4096, 13696, 40, 32, 2, 151552) ",\"attention_bias\":true,\"partial_rotary_factor\":0.5}",
     9399951360, 2 * 2 * 128 * 2 * 40},
    {"Phi-3.5-MoE",
     TYPE("phimoe") SIZES(4096, 6400, 32, 32, 8, 32064) ",\"num_local_experts\":16,\"num_experts_per_tok\":2,"
                                                        "\"attention_bias\":true,\"lm_head_bias\":true}",
     41873153344, 2 * 8 * 128 * 2 * 32},
    {"StableLM 3B 4E1T",
     TYPE("stablelm") SIZES(2560, 6912, 32, 32, 32, 50304) ",\"use_qkv_bias\":false,"
                                                           "\"partial_rotary_factor\":0.25}",
     2795443200, 2 * 32 * 80 * 2 * 32},
    {"StableLM 2 1.6B", TYPE("stablelm") SIZES(2048, 5632, 24, 32, 32, 100352) ",\"use_qkv_bias\":true}",
     1644515328, 2 * 32 * 64 * 2 * 24},
    {"GPT-J 6B",
     TYPE("gptj") "\"n_embd\":4096,\"n_layer\":28,\"n_head\":16,\"rotary_dim\":64,\"n_positions\":2048,"
                  "\"vocab_size\":50400,\"n_inner\":null,\"tie_word_embeddings\":false}",
     6050882784, 2 * 16 * 256 * 4 * 28},
    {"CodeGen 350M",
     TYPE("codegen") "\"n_embd\":1024,\"n_layer\":20,\"n_head\":16,\"rotary_dim\":32,\"vocab_size\":51200}",
     356712448, 2 * 16 * 64 * 4 * 20},
    {"StarCoderBase 1B",
     TYPE("gpt_bigcode") "\"n_embd\":2048,\"n_layer\":24,\"n_head\":16,\"n_positions\":8192,\"n_inner\":8192,"
                         "\"vocab_size\":49152,\"multi_query\":true}",
     1137207296, 2 * 1 * 128 * 4 * 24},
    {"Command R7B", TYPE("cohere2") SIZES(4096, 14336, 32, 32, 8, 256000) ",\"sliding_window\":4096}",
     8028033024, 2 * 8 * 128 * 2 * 32},
    {"GPT-2",
     TYPE("gpt2") "\"n_embd\":768,\"n_layer\":12,\"n_head\":12,\"n_positions\":1024,\"vocab_size\":50257}",
     124439808, 2 * 12 * 64 * 4 * 12},
};

static struct oc_model *load_config(const char *text)
{
    struct oc_model *m;
    struct oc_err err;
    if (oc_model_load_mem(text, strlen(text), NULL, &m, &err))
        fail_msg("%s\n%s", text, err.msg);
    return m;
}

static void parameters_and_cache_equal_published_figures(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(published); i++) {
        struct oc_model *m = load_config(published[i].text);
        struct oc_llm *l;
        struct oc_err err;
        if (oc_llm_make(m, NULL, &l, &err))
            fail_msg("%s: %s", published[i].name, err.msg);
        const struct oc_llm_facts *f = oc_llm_facts(l);
        if (f->params != published[i].params || !f->kv_bytes_known ||
            f->kv_bytes_per_token != published[i].kv_bytes)
            fail_msg("%s: %llu parameters, %llu bytes of cache a token", published[i].name,
                     (unsigned long long)f->params, (unsigned long long)f->kv_bytes_per_token);
        struct oc_llm_counts c;
        assert_true(oc_llm_run(l, OC_LLM_PART_FIRST, &c));
        assert_int_equal(c.quality, OC_EXACT);
        assert_int_equal(c.unknown_nodes, 0);
        oc_llm_free(l);
        oc_model_free(m);
    }
}

/* Products of one token: the layers' weights and the last layer; attention over one token in the cache:
 * 2 tokens * 2 * heads * elements. Llama 2 7B: 6,607,077,376 + 32 * 2 * 2 * 4096. */
static void decode_step_reads_every_weight_once(void **state)
{
    (void)state;
    struct oc_model *m = load_config(published[0].text);
    const struct oc_llm_opts o = {.size = sizeof(o), .prompt = 1, .generate = 2};
    struct oc_llm *l;
    struct oc_llm_counts c;
    assert_int_equal(oc_llm_make(m, &o, &l, NULL), 0);
    assert_true(oc_llm_run(l, OC_LLM_PART_FIRST, &c));
    assert_int_equal(c.macs, UINT64_C(6607077376) + 32 * 2 * 2 * 4096);
    oc_llm_free(l);
    oc_model_free(m);
}

static unsigned windowed(const char *text)
{
    struct oc_model *m = load_config(text);
    struct oc_llm *l;
    assert_int_equal(oc_llm_make(m, NULL, &l, NULL), 0);
    unsigned n = oc_llm_facts(l)->windowed_layers;
    oc_llm_free(l);
    oc_model_free(m);
    return n;
}

#define SMALL SIZES(64, 128, 12, 4, 2, 100)

static void layers_with_a_window_follow_the_family(void **state)
{
    (void)state;
    assert_int_equal(windowed(TYPE("mistral") SMALL ",\"sliding_window\":8}"), 12);
    assert_int_equal(windowed(TYPE("mistral") SMALL ",\"sliding_window\":null}"), 0);
    assert_int_equal(windowed(TYPE("llama") SMALL ",\"sliding_window\":8}"), 0);
    assert_int_equal(windowed(TYPE("gemma2") SMALL ",\"head_dim\":16,\"sliding_window\":8}"), 6);
    assert_int_equal(windowed(TYPE("gemma3_text") SMALL ",\"head_dim\":16,\"sliding_window\":8}"), 10);
    assert_int_equal(windowed(TYPE("gemma3_text") SMALL
                              ",\"head_dim\":16,\"sliding_window\":8,\"sliding_window_pattern\":3}"),
                     8);
    assert_int_equal(windowed(TYPE("qwen2") SMALL ",\"sliding_window\":8,\"use_sliding_window\":false}"), 0);
    assert_int_equal(windowed(TYPE("llama")
                                  SIZES(64, 128, 3, 4, 2, 100) ",\"sliding_window\":8,\"layer_types\":["
                                                               "\"sliding_attention\",\"full_attention\","
                                                               "\"sliding_attention\"]}"),
                     2);
}

static unsigned rotated(const char *text)
{
    struct oc_model *m = load_config(text);
    unsigned n = 0;
    for (uint32_t i = 0; i < m->n_node; i++)
        n += !strcmp(m->node[i].op_type, "GroupQueryAttention") && oc_node_int(&m->node[i], "do_rotary", 0);
    oc_model_free(m);
    return n;
}

static void layers_with_a_rotary_embedding_follow_the_family(void **state)
{
    (void)state;
    assert_int_equal(rotated(TYPE("llama") SMALL "}"), 12);
    assert_int_equal(rotated(TYPE("smollm3") SMALL "}"), 9);
    assert_int_equal(rotated(TYPE("smollm3") SMALL ",\"no_rope_layer_interval\":3}"), 8);
    assert_int_equal(rotated(TYPE("smollm3") SMALL ",\"no_rope_layers\":[0,0,1,1,1,1,1,1,1,1,1,0]}"), 9);
    assert_int_equal(rotated(TYPE("cohere2") SMALL ",\"sliding_window\":8}"), 9);
    assert_int_equal(rotated(TYPE("cohere2") SMALL ",\"sliding_window\":8,\"sliding_window_pattern\":2}"), 6);
}

/* The decoder of a model with images is in text_config, in any order. */
static void text_config_wins(void **state)
{
    (void)state;
    const char *inner = "\"text_config\":" TYPE("llama") SMALL "}";
    char first[2048], last[2048];
    snprintf(first, sizeof(first), "{%s,\"model_type\":\"pictures\",\"hidden_size\":7,\"vocab_size\":3}",
             inner);
    snprintf(last, sizeof(last), "{\"vocab_size\":3,\"model_type\":\"pictures\",%s}", inner);
    for (int i = 0; i < 2; i++) {
        struct oc_model *m = load_config(i ? last : first), *plain = load_config(TYPE("llama") SMALL "}");
        struct oc_analysis *a, *b;
        assert_int_equal(oc_analyze(m, NULL, &a, NULL), 0);
        assert_int_equal(oc_analyze(plain, NULL, &b, NULL), 0);
        assert_int_equal(a->total->params, b->total->params);
        assert_int_equal(a->total->macs, b->total->macs);
        oc_analysis_free(a);
        oc_analysis_free(b);
        oc_model_free(m);
        oc_model_free(plain);
    }
}

/* GPTQ with 4 bits: the same parameters in a quarter of the bytes, scales and zero points; the embeddings stay. */
static void packed_weights_are_counted_unpacked(void **state)
{
    (void)state;
    const char *packed = TYPE("llama") SMALL
        ",\"quantization_config\":{\"quant_method\":\"gptq\",\"bits\":4,\"group_size\":32}}";
    struct oc_model *m = load_config(packed), *plain = load_config(TYPE("llama") SMALL "}");
    struct oc_analysis *a, *b;
    assert_int_equal(oc_analyze(m, NULL, &a, NULL), 0);
    assert_int_equal(oc_analyze(plain, NULL, &b, NULL), 0);
    assert_int_equal(a->total->params, b->total->params);
    /* a layer: 64 * 64 * 2 + 64 * 32 * 2 + 3 * 64 * 128 = 36,864 weights, 2 bytes before; now half a byte and
     * 2.5 bytes a block of 32 */
    assert_int_equal(b->total->const_bytes - a->total->const_bytes,
                     12 * (36864 * 2 - 36864 / 2 - 36864 / 32 * 2 - 36864 / 32 / 2));
    oc_analysis_free(a);
    oc_analysis_free(b);
    oc_model_free(m);
    oc_model_free(plain);
    m = load_config(TYPE("llama") SMALL ",\"quantization_config\":{\"quant_method\":\"hqq\"}}");
    const struct oc_diag *diag;
    assert_int_equal(oc_model_diags(m, &diag), 1);
    assert_string_equal(diag[0].code, "W-quantization");
    oc_model_free(m);
}

/* Parameters of the encoder with its pooler, as transformers counts them (num_parameters); DistilBERT has
 * none. */
static void encoders_have_published_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t params;
    } of[] = {
        {TYPE("bert")
             SIZES(768, 3072, 12, 12, 12, 30522) ",\"max_position_embeddings\":512,\"type_vocab_size\":2}",
         109482240},
        {TYPE("bert")
             SIZES(1024, 4096, 24, 16, 16, 30522) ",\"max_position_embeddings\":512,\"type_vocab_size\":2}",
         335141888},
        {TYPE("roberta")
             SIZES(768, 3072, 12, 12, 12, 50265) ",\"max_position_embeddings\":514,\"type_vocab_size\":1}",
         124645632},
        {TYPE("distilbert") "\"dim\":768,\"hidden_dim\":3072,\"n_layers\":6,\"n_heads\":12,"
                            "\"max_position_embeddings\":512,\"vocab_size\":30522}",
         66362880},
    };
    for (size_t i = 0; i < OC_COUNT(of); i++) {
        struct oc_model *m = load_config(of[i].text);
        struct oc_analysis *a;
        assert_int_equal(oc_analyze(m, NULL, &a, NULL), 0);
        assert_int_equal(a->total->params, of[i].params);
        oc_analysis_free(a);
        oc_model_free(m);
    }
}

#define LINEAR                                                                                               \
    ",\"head_dim\":16,\"linear_num_key_heads\":2,\"linear_num_value_heads\":4,\"linear_key_head_dim\":8,"    \
    "\"linear_value_head_dim\":8,\"linear_conv_kernel_dim\":4"

/* Four layers, 64 wide, MLP of 128; the first three have linear attention: queries and keys of 2 * 8
 * elements, values of 4 * 8. Products for one token: 64 * (64 + 32 + 4 + 4) + 32 * 64, convolution 64 * 4,
 * state 3 * 4 * 8 * 8, MLP 3 * 64 * 128; the last layer: 64 * (2 * 64 + 2 * 32) + 64 * 64 and, over two
 * tokens, 2 * 2 * 64; 64 * 100 words. */
static void hybrid_layers_have_a_state_instead_of_a_cache(void **state)
{
    (void)state;
    struct oc_model *m = load_config(TYPE("qwen3_5_text") SIZES(64, 128, 4, 4, 2, 100) LINEAR "}");
    const struct oc_llm_opts o = {.size = sizeof(o), .prompt = 1, .generate = 2};
    struct oc_llm *l;
    struct oc_llm_counts c;
    assert_int_equal(oc_llm_make(m, &o, &l, NULL), 0);
    assert_true(oc_llm_run(l, OC_LLM_PART_FIRST, &c));
    assert_int_equal(c.macs, 3 * (64 * 104 + 32 * 64 + 64 * 4 + 3 * 4 * 64 + 3 * 64 * 128) +
                                 (64 * 192 + 64 * 64 + 2 * 2 * 64 + 3 * 64 * 128) + 6400);
    assert_int_equal(oc_llm_facts(l)->kv_bytes_per_token, 2 * 2 * 16 * 2 * 1);
    oc_llm_free(l);
    oc_model_free(m);
}

static uint64_t constant_bytes(const char *text)
{
    struct oc_model *m = load_config(text);
    struct oc_analysis *a;
    assert_int_equal(oc_analyze(m, NULL, &a, NULL), 0);
    uint64_t bytes = a->total->const_bytes;
    oc_analysis_free(a);
    oc_model_free(m);
    return bytes;
}

/* 8-bit weights with a scale of 4 bytes per 32 x 32; experts of gpt-oss with 17 bytes per 32 weights. */
static void quantized_types_have_their_bytes(void **state)
{
    (void)state;
    uint64_t plain = constant_bytes(TYPE("llama") SMALL "}"),
             fp8 = constant_bytes(TYPE("llama") SMALL ",\"quantization_config\":{\"quant_method\":\"fp8\","
                                                      "\"weight_block_size\":[32,32]}}");
    assert_int_equal(plain - fp8,
                     12 * (36864 - 36864 / 1024 * 4)); /* 36,864 weights of a layer, 2 bytes before */
    const char *experts = ",\"head_dim\":16,\"num_local_experts\":4,\"num_experts_per_tok\":2";
    char text[2][1024];
    snprintf(text[0], sizeof(text[0]), TYPE("gpt_oss") SMALL "%s}", experts);
    snprintf(text[1], sizeof(text[1]),
             TYPE("gpt_oss") SMALL "%s,\"quantization_config\":{\"quant_method\":\"mxfp4\","
                                   "\"modules_to_not_convert\":[\"model.layers.*.self_attn\"]}}",
             experts);
    uint64_t weights = UINT64_C(12) * 4 * 3 * 64 * 128;
    assert_int_equal(constant_bytes(text[0]) - constant_bytes(text[1]), weights * 2 - weights / 32 * 17);
}

static void expect_params_of_plain(const char *packed, const char *plain);

#define QUANT(text)    TYPE("llama") SMALL ",\"quantization_config\":{" text "}}"
#define GROUP(weights) "\"config_groups\":{\"group_0\":{\"targets\":[\"Linear\"],\"weights\":{" weights "}}}"

/* Bits of a weight and bytes of scales in a layer that has 7 matrices and 64 + 32 + 32 + 64 + 2 * 128 + 64 = 512
 * rows; 36,864 weights, 2 bytes before. Zero points of a row fill whole bytes, those of 3 bits have 4. */
static void quantizations_have_the_bytes_of_their_formats(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int bits, scales;
    } row[] = {
        {QUANT("\"quant_method\":\"gptq\",\"bits\":4,\"group_size\":-1,\"sym\":true"), 4, 512 * 2 + 512},
        {QUANT("\"quant_method\":\"gptq\",\"bits\":3,\"group_size\":32,\"sym\":true"), 3,
         1152 * 2 + 1152 / 2},
        {QUANT("\"quant_method\":\"gptq\",\"bits\":8,\"group_size\":64,\"sym\":true"), 8, 576 * 2 + 576},
        {QUANT("\"quant_method\":\"awq\",\"bits\":4,\"group_size\":32,\"zero_point\":true"), 4,
         1152 * 2 + 1152 / 2},
        {QUANT("\"quant_method\":\"fp8\",\"activation_scheme\":\"static\""), 8, 7 * 4},
        {QUANT("\"quant_method\":\"fbgemm_fp8\",\"modules_to_not_convert\":[\"lm_head\"]"), 8, 512 * 4},
        {QUANT("\"quant_method\":\"modelopt\",\"quant_algo\":\"FP8\""), 8, 7 * 4},
        {QUANT("\"quant_algo\":\"FP8\",\"producer\":{\"name\":\"modelopt\"}"), 8, 7 * 4},
        {QUANT("\"quant_method\":\"fp8\",\"modules_to_not_convert\":[\"lm_head\",\"model.layers.0.input_"
               "layernorm\","
               "\"model.layers.0.mlp.gate\",\"e_score_correction_bias\"]"),
         8, 7 * 4},
        {QUANT("\"quant_method\":\"modelopt\",\"quant_algo\":\"NVFP4\",\"group_size\":16"), 4, 36864 / 16},
        {QUANT("\"quant_method\":\"compressed-tensors\",\"format\":\"nvfp4-pack-quantized\"," GROUP(
             "\"num_bits\":4,\"type\":\"float\",\"strategy\":\"tensor_group\",\"group_size\":16")),
         4, 36864 / 16},
        {QUANT("\"quant_method\":\"compressed-tensors\",\"format\":\"pack-quantized\"," GROUP(
             "\"num_bits\":4,\"type\":\"int\",\"strategy\":\"group\",\"group_size\":32,\"symmetric\":true")),
         4, 1152 * 2},
        {QUANT("\"quant_method\":\"compressed-tensors\",\"format\":\"int-quantized\"," GROUP(
             "\"num_bits\":8,\"type\":\"int\",\"strategy\":\"channel\",\"symmetric\":true")),
         8, 512 * 2},
        {QUANT("\"quant_method\":\"compressed-tensors\",\"format\":\"float-quantized\",\"ignore\":[\"re:"
               ".*lm_head\"]," GROUP("\"num_bits\":8,\"type\":\"float\",\"strategy\":\"channel\"")),
         8, 512 * 2},
        {QUANT("\"quant_method\":\"bitsandbytes\",\"load_in_4bit\":true"), 4, 576 * 4},
        {QUANT("\"quant_method\":\"bitsandbytes\",\"load_in_4bit\":true,\"bnb_4bit_use_double_quant\":true"),
         4, 576},
        {QUANT("\"quant_method\":\"bitsandbytes\",\"load_in_8bit\":true"), 8, 512 * 4},
    };
    uint64_t plain = constant_bytes(TYPE("llama") SMALL "}");
    for (size_t i = 0; i < OC_COUNT(row); i++)
        if (plain - constant_bytes(row[i].text) !=
            12 * (uint64_t)(36864 * 2 - 36864 * row[i].bits / 8 - row[i].scales))
            fail_msg("%s: %llu", row[i].text, (unsigned long long)constant_bytes(row[i].text));
}

/* 12 layers, 2 tensors of 2 heads of 16 elements a token: 2 bytes each, or 1. */
static void a_quantized_cache_has_its_own_type(void **state)
{
    (void)state;
#define CACHE(text) QUANT("\"quant_method\":\"fp8\"," text)
    static const struct {
        const char *text;
        uint64_t bytes;
        int warnings;
    } row[] = {
        {CACHE("\"kv_cache_scheme\":null"), 1536, 0},
        {CACHE("\"kv_cache_quant_algo\":null"), 1536, 0},
        {CACHE("\"kv_cache_quant_algo\":\"FP8\""), 768, 0},
        {CACHE("\"kv_cache_scheme\":{\"dynamic\":false,\"num_bits\":8,\"type\":\"float\"}"), 768, 0},
        {CACHE("\"kv_cache_scheme\":{\"num_bits\":8,\"type\":\"int\"}"), 768, 0},
        {CACHE("\"kv_cache_quant_algo\":\"NVFP4\""), 432, 0}, /* 36 bytes for 64 */
        {CACHE("\"kv_cache_scheme\":{\"num_bits\":3,\"type\":\"int\"}"), 1536, 1},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_model *m = load_config(row[i].text);
        const struct oc_diag *diag;
        struct oc_llm *l;
        assert_int_equal(oc_model_diags(m, &diag), row[i].warnings);
        assert_int_equal(oc_llm_make(m, NULL, &l, NULL), 0);
        if (oc_llm_facts(l)->kv_bytes_per_token != row[i].bytes)
            fail_msg("%s: %llu", row[i].text, (unsigned long long)oc_llm_facts(l)->kv_bytes_per_token);
        oc_llm_free(l);
        oc_model_free(m);
    }
}

static uint64_t parameters(const char *text)
{
    struct oc_model *m = load_config(text);
    struct oc_analysis *a;
    assert_int_equal(oc_analyze(m, NULL, &a, NULL), 0);
    uint64_t n = a->total->params;
    oc_analysis_free(a);
    oc_model_free(m);
    return n;
}

#define EXPERTS SIZES(64, 128, 3, 4, 2, 100) ",\"head_dim\":16,\"num_experts\":4,\"num_experts_per_tok\":2"

/* The first of 3 layers has no experts; norms of 16 elements for queries and keys. */
static void layers_and_norms_follow_their_options(void **state)
{
    (void)state;
    assert_int_equal(
        parameters(TYPE("glm4_moe") EXPERTS ",\"first_k_dense_replace\":1}"),
        parameters(TYPE("glm4_moe") EXPERTS ",\"mlp_layer_types\":[\"dense\",\"sparse\",\"sparse\"]}"));
    assert_int_equal(parameters(TYPE("glm4_moe") EXPERTS ",\"use_qk_norm\":true}"),
                     parameters(TYPE("glm4_moe") EXPERTS "}") + 3 * 2 * 16);
    assert_int_equal(parameters(TYPE("minimax_m2") EXPERTS "}"),
                     parameters(TYPE("minimax_m2") EXPERTS ",\"use_qk_norm\":false}") + 3 * (64 + 32));
}

/* A projection of 64 * 128 weights of two layers stays as it is. */
static void modules_that_are_not_converted_keep_their_type(void **state)
{
    (void)state;
    uint64_t all = constant_bytes(QUANT("\"quant_method\":\"fp8\"")),
             but = constant_bytes(QUANT("\"quant_method\":\"fp8\",\"ignored_layers\":[\"lm_head\","
                                        "\"model.layers.0.mlp.up_proj\",\"model.layers.3.mlp.up_proj\"]"));
    assert_int_equal(but - all, 2 * (64 * 128 - 4));
    static const char *const name[] = {"language_model.model", "model.language_model"};
    for (int i = 0; i < 2; i++) { /* of files for images and text */
        char text[1024];
        snprintf(text, sizeof(text),
                 QUANT("\"quant_method\":\"fp8\",\"ignored_layers\":[\"%s.layers.0.mlp.up_proj\"]"), name[i]);
        assert_int_equal(constant_bytes(text) - all, 64 * 128 - 4);
    }
    /* two products of 64 columns and 4 rows in a layer with linear attention */
#define HYBRID(list)                                                                                         \
    TYPE("qwen3_5_text")                                                                                     \
    SIZES(64, 128, 4, 4, 2, 100) LINEAR ",\"quantization_config\":{\"quant_method\":\"fp8\"," list "}}"
    all = constant_bytes(HYBRID("\"ignored_layers\":[\"model.layers.0.linear_attn.conv1d\"]"));
    but = constant_bytes(HYBRID("\"ignored_layers\":[\"model.layers.0.linear_attn.in_proj_a\","
                                "\"model.layers.0.linear_attn.in_proj_b\"]"));
    assert_int_equal(but - all, 2 * (64 * 4 - 4));
}

/* 4 experts of 3 * 64 * 128 weights in 12 layers: half a byte, and a scale and a zero point of 2.5 bytes for 32. */
static void experts_are_packed_too(void **state)
{
    (void)state;
    static const char experts[] = TYPE("qwen3_moe") SMALL ",\"head_dim\":16,\"num_experts\":4,"
                                                          "\"num_experts_per_tok\":2,"
                                                          "\"moe_intermediate_size\":128%s}";
    char plain[1024], packed[1024];
    snprintf(plain, sizeof(plain), experts, "");
    snprintf(packed, sizeof(packed), experts,
             ",\"quantization_config\":{\"quant_method\":\"gptq\",\"bits\":4,\"group_size\":32}");
    uint64_t weights = 12 * (4 * 3 * 64 * 128 + 64 * 64 * 2 + 64 * 32 * 2);
    assert_int_equal(constant_bytes(plain) - constant_bytes(packed),
                     weights * 2 - weights / 2 - weights / 32 * 2 - weights / 32 / 2);
    expect_params_of_plain(packed, plain);
}

/* What is not known cannot be in a lower bound: less than the embedding table, which is. */
static void bounds_count_no_weights_of_unknown_types(void **state)
{
    (void)state;
    struct oc_model *m = load_config(QUANT("\"quant_method\":\"hqq\"")),
                    *plain = load_config(TYPE("llama") SMALL "}");
    struct oc_analysis *a, *b;
    assert_int_equal(oc_analyze(m, NULL, &a, NULL), 0);
    assert_int_equal(oc_analyze(plain, NULL, &b, NULL), 0);
    assert_int_equal(a->total->const_bytes, b->total->const_bytes);
    struct oc_arena arena = {0};
    struct oc_bound_load load[2];
    oc_bound_load_make(a, NULL, &arena, &load[0]);
    oc_bound_load_make(b, NULL, &arena, &load[1]);
    assert_true(load[0].all.weight_bytes == 0 && load[1].all.weight_bytes > 12 * 36864 * 2);
    for (uint32_t i = 0; i < load[0].n_part; i++)
        assert_int_equal(load[0].part[i].also, OC_ALSO_I8 | OC_ALSO_F8 | OC_ALSO_F4);
    oc_arena_free(&arena);
    oc_analysis_free(a);
    oc_analysis_free(b);
    oc_model_free(m);
    oc_model_free(plain);
}

static void expect_params_of_plain(const char *packed, const char *plain)
{
    struct oc_model *m[2] = {load_config(packed), load_config(plain)};
    struct oc_analysis *a[2];
    const struct oc_diag *diag;
    for (int i = 0; i < 2; i++)
        assert_int_equal(oc_analyze(m[i], NULL, &a[i], NULL), 0);
    assert_int_equal(oc_model_diags(m[0], &diag), 0);
    assert_int_equal(a[0]->total->params, a[1]->total->params);
    assert_int_equal(a[0]->total->macs, a[1]->total->macs);
    for (int i = 0; i < 2; i++) {
        oc_analysis_free(a[i]);
        oc_model_free(m[i]);
    }
}

/* MLX packs all matrices and tables: a layer has 36,864 weights, the embeddings and the last layer 64 * 100
 * each. Of 2 bytes before: half a byte, and 4 bytes (scale, bias) for each group of 32. */
static void mlx_packs_embeddings_and_the_last_layer(void **state)
{
    (void)state;
    const char *plain = TYPE("llama") SMALL "}",
               *packed = TYPE("llama") SMALL ",\"quantization\":{\"group_size\":32,\"bits\":4}}";
    uint64_t weights = 12 * 36864 + 2 * 6400;
    assert_int_equal(constant_bytes(plain) - constant_bytes(packed),
                     weights * 2 - weights / 2 - weights / 32 * 4);
    expect_params_of_plain(packed, plain);
    /* one table for both; 8 bits for it, and a projection of 64 * 128 that stays as it is */
    plain = TYPE("llama") SMALL ",\"tie_word_embeddings\":true}";
    packed = TYPE("llama") SMALL
        ",\"tie_word_embeddings\":true,\"quantization\":{\"group_size\":32,\"bits\":4,\"mode\":\"affine\","
        "\"model.embed_tokens\":{\"bits\":8},\"model.layers.1.mlp.up_proj\":false}}";
    weights = 12 * 36864 - 64 * 128;
    assert_int_equal(constant_bytes(plain) - constant_bytes(packed),
                     weights * 2 - weights / 2 - weights / 32 * 4 + 6400 * 2 - 6400 - 6400 / 32 * 4);
    expect_params_of_plain(packed, plain);
}

static void quantizations_that_are_not_modelled_are_reported(void **state)
{
    (void)state;
    static const char *const text[] = {
        TYPE("llama") SMALL ",\"quantization\":{\"group_size\":32,\"bits\":7}}",
        QUANT("\"quant_method\":\"hqq\",\"bits\":4,\"group_size\":64"),
        QUANT("\"quant_method\":\"gptq\",\"bits\":4,\"group_size\":32,\"dynamic\":{\"-:.*down.*\":{}}"),
        QUANT("\"quant_method\":\"modelopt\",\"quant_algo\":\"MIXED_PRECISION\""),
        QUANT("\"quant_method\":\"compressed-tensors\",\"sparsity_config\":{\"format\":\"sparse-24-bitmask\"}"
              "," GROUP("\"num_bits\":8,\"type\":\"int\",\"strategy\":\"channel\"")),
        QUANT("\"quant_method\":\"fp8\",\"modules_to_not_convert\":[\"re:(?!x).*down_proj\"]"),
        TYPE("llama") SMALL ",\"quantization\":{\"group_size\":32,\"bits\":4,\"mode\":\"mxfp4\"}}",
        TYPE("llama") SMALL
        ",\"quantization\":{\"group_size\":32,\"bits\":4,\"model.x.whale\":{\"bits\":8}}}",
        TYPE("llama") SMALL ",\"quantization_config\":{\"group_size\":32,\"bits\":4}}",
    };
    for (size_t i = 0; i < OC_COUNT(text); i++) {
        struct oc_model *m = load_config(text[i]);
        const struct oc_diag *diag;
        struct oc_llm *l;
        assert_int_equal(oc_model_diags(m, &diag), 1);
        assert_string_equal(diag[0].code, "W-quantization");
        assert_int_equal(oc_llm_make(m, NULL, &l, NULL), 0);
        assert_int_equal(oc_llm_diags(l, &diag), 1);
        assert_string_equal(diag[0].code, "W-quantization");
        oc_llm_free(l);
        oc_model_free(m);
    }
}

/* Of an unknown type the name of the architecture decides: Gemma has one embedding for both ends. */
static void the_architecture_names_the_family(void **state)
{
    (void)state;
    uint64_t gemma = constant_bytes(TYPE("gemma") SMALL "}"), other = constant_bytes(TYPE("mine") SMALL "}");
    assert_true(gemma != other);
    assert_int_equal(constant_bytes(TYPE("mine") SMALL ",\"architectures\":[\"GemmaForCausalLM\"]}"), gemma);
    assert_int_equal(constant_bytes(TYPE("mine") SMALL ",\"architectures\":[\"GemmatForCausalLM\"]}"), other);
    assert_int_equal(constant_bytes(TYPE("mine") SMALL ",\"architectures\":[\"GemForCausalLM\"]}"), other);
}

static void what_cannot_be_built_is_refused_with_the_member(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"{\"model_type\":\"whale\"}", "'num_hidden_layers'"},
        {"{\"model_type\":null}", "'num_hidden_layers'"},
        {"{\"model_type\":\"whale\",\"num_hidden_layers\":-1}",
         "num_hidden_layers must be from 1 to 400, not -1"},
        {"{\"model_type\":\"llama\"}", "'num_hidden_layers'"},
        {"{\"model_type\":\"llama\",\"num_hidden_layers\":2}", "'hidden_size'"},
        {"{\"model_type\":\"llama\",\"num_hidden_layers\":2,\"hidden_size\":0}",
         "hidden_size must be from 1"},
        {TYPE("llama") SIZES(64, 128, 2000000000, 4, 2, 100) "}", "num_hidden_layers must be from 1 to 400"},
        {TYPE("llama") SIZES(64, 128, 2, 4, 3, 100) "}", "cannot share"},
        {TYPE("llama") SIZES(64, 128, 2, 4, 8, 100) "}", "num_key_value_heads"},
        {TYPE("llama") SIZES(64, 99999999999999, 2, 4, 2, 100) "}", "intermediate_size"},
        {TYPE("llama") SMALL, "damaged"},
        {TYPE("llama") SMALL ",\"is_encoder_decoder\":true}", "encoder"},
        {TYPE("zamba") SMALL "}", "layers that share their weights are not built"},
        {TYPE("jetmoe") SMALL "}", "experts of attention heads are not built"},
        {"{\"ssm_cfg\":{\"layer\":\"Mamba2\"},\"d_model\":64,\"n_layer\":2,\"vocab_size\":100,\"attn_layer_"
         "idx\":[1]}",
         "attention between layers of mamba_ssm is not built"},
        {TYPE("opt") SMALL ",\"word_embed_proj_dim\":-1}", "word_embed_proj_dim must be from 0"},
        {TYPE("llama") SMALL ",\"layer_types\":[\"linear_attention\"]}", "layer_types names 1"},
        {TYPE("llama") SMALL ",\"layer_types\":[\"full_attention\"],\"sliding_window\":4}",
         "layer_types names 1"},
        {TYPE("qwen3_moe") SMALL ",\"num_experts\":4,\"num_experts_per_tok\":5}", "num_experts_per_tok"},
        {TYPE("deepseek_v3") SMALL "}", "kv_lora_rank"},
        {TYPE("deepseek_v3") SMALL ",\"q_lora_rank\":99999999999}", "q_lora_rank must be from 0 to 16777216"},
        {TYPE("qwen3_moe") SMALL ",\"num_experts\":4,\"num_experts_per_tok\":1,\"first_k_dense_replace\":13}",
         "first_k_dense_replace must be from 0 to"},
        {TYPE("bert") SMALL ",\"type_vocab_size\":99999999}", "type_vocab_size"},
        {TYPE("deepseek_v4") SMALL
         ",\"head_dim\":16,\"q_lora_rank\":16,\"qk_rope_head_dim\":8,\"o_lora_rank\":8,"
         "\"hc_mult\":2}",
         "o_groups"},
        {TYPE("qwen3_next") SMALL ",\"head_dim\":16}", "linear_num_key_heads"},
        {TYPE("qwen3_next") SMALL LINEAR ",\"full_attention_interval\":0}", "full_attention_interval"},
    };
    (void)state;
    for (size_t i = 0; i < OC_COUNT(bad); i++) {
        struct oc_model *m = NULL;
        struct oc_err err;
        assert_int_equal(oc_model_load_mem(bad[i].text, strlen(bad[i].text), NULL, &m, &err), -1);
        assert_null(m);
        if (!strstr(err.msg, bad[i].says))
            fail_msg("'%s' does not contain '%s'", err.msg, bad[i].says);
    }
}

/* Every family of the table can be analysed: no operator is unknown, every shape is known. */
static void every_family_is_analysed(void **state)
{
    (void)state;
    struct oc_arena arena = {0};
    const char *type;
    for (size_t i = 0; (type = oc_decoder_family(i, &arena)); i++) {
        char text[2048];
        snprintf(text, sizeof(text),
                 "{\"model_type\":\"%s\"," SMALL
                 ",\"head_dim\":16,\"kv_lora_rank\":16,\"qk_nope_head_dim\":8,"
                 "\"qk_rope_head_dim\":8,\"v_head_dim\":8,\"num_experts\":4,\"num_experts_per_tok\":2,"
                 "\"q_lora_rank\":16,\"o_groups\":2,\"o_lora_rank\":8,\"hc_mult\":2,\"ssm_state_size\":16,"
                 "\"linear_num_key_heads\":2,\"linear_num_value_heads\":4,\"linear_key_head_dim\":8,"
                 "\"linear_value_head_dim\":8,\"linear_conv_kernel_dim\":4}",
                 type);
        struct oc_model *m = load_config(text);
        struct oc_analysis *a;
        struct oc_err err;
        if (oc_analyze(m, NULL, &a, &err))
            fail_msg("%s: %s", type, err.msg);
        assert_int_equal(a->total->unknown_nodes, 0);
        assert_int_equal(a->total->quality, OC_EXACT);
        for (uint32_t v = 0; v < m->n_value; v++)
            if (!a->type[v].shape.ranked && m->value[v].name[0])
                fail_msg("%s: %s has no shape", type, m->value[v].name);
        oc_analysis_free(a);
        oc_model_free(m);
    }
    oc_arena_free(&arena);
}

/* Layers have 36,864 weights: 4,096 in q_proj and in o_proj, 2,048 in k_proj and in v_proj, 3 * 8,192 in the MLP. */
static void modules_are_quantized_by_their_names(void **state)
{
    (void)state;
#define NVFP4(n) ((n)*9 / 16)
    const uint64_t all = 12 * 36864, attention = 12 * 12288, mlp = 12 * 24576,
                   plain = constant_bytes(TYPE("llama") SMALL "}");
    static const char *const no_attention[] = {"re:.*self_attn.*", "*self_attn*", "model.layers.*.self_attn",
                                               "self_attn"};
    for (size_t i = 0; i < OC_COUNT(no_attention); i++) {
        char text[1024];
        snprintf(text, sizeof(text),
                 QUANT("\"quant_method\":\"modelopt\",\"quant_algo\":\"NVFP4\",\"exclude_modules\":[\"lm_"
                       "head\",\"%s\"]"),
                 no_attention[i]);
        assert_int_equal(plain - constant_bytes(text), 2 * mlp - NVFP4(mlp));
    }
    /* a type for each module; FP8 with a scale of 4 bytes for a matrix */
    assert_int_equal(plain - constant_bytes(QUANT("\"quant_algo\":\"MIXED_PRECISION\",\"quantized_layers\":{"
                                                  "\"model.layers.0.mlp.up_proj\":{\"quant_algo\":\"FP8\"},"
                                                  "\"model.language_model.layers.1.mlp.up_proj\":{\"quant_"
                                                  "algo\":\"W4A16_NVFP4\",\"group_size\":16}}")),
                     8192 - 4 + 2 * 8192 - NVFP4(8192));
    /* MXFP8: a byte of scale for 32 */
    assert_int_equal(plain - constant_bytes(QUANT("\"quant_method\":\"modelopt\",\"quant_algo\":\"MXFP8\"")),
                     all - all / 32);
    /* integers with zero points, in the attention only; group and targets in this order */
    assert_int_equal(plain -
                         constant_bytes(QUANT("\"quant_method\":\"compressed-tensors\",\"format\":\"pack-"
                                              "quantized\",\"config_groups\":{\"g\":{"
                                              "\"targets\":[\"re:.*self_attn.*\"],\"weights\":{\"num_bits\":"
                                              "4,\"type\":\"int\",\"group_size\":32,\"strategy\":\"group\","
                                              "\"symmetric\":false}}}")),
                     2 * attention - attention / 2 - attention / 32 * 2 - attention / 64);
}

static size_t warnings_of(const char *text, const char *code, const char *part)
{
    struct oc_model *m = load_config(text);
    const struct oc_diag *d;
    size_t n = oc_model_diags(m, &d), found = 0;
    for (size_t i = 0; i < n; i++)
        found += !strcmp(d[i].code, code) && strstr(d[i].text, part);
    oc_model_free(m);
    return found;
}

/* Whatever its model_type, a file is read by its fields. */
static void unknown_types_are_read_with_what_was_assumed(void **state)
{
    (void)state;
    assert_int_equal(parameters(TYPE("whale") SMALL "}"), parameters(TYPE("llama") SMALL "}"));
    assert_int_equal(warnings_of(TYPE("whale") SMALL ",\"fins\":2,\"rope_theta\":1e4}", "W-assumed",
                                 "not understood: fins"),
                     1);
    assert_int_equal(warnings_of(TYPE("llama") SMALL ",\"fins\":2}", "W-assumed", "not understood: fins"), 1);
    assert_int_equal(warnings_of(TYPE("llama") SMALL ",\"rope_theta\":1e4}", "W-assumed", ""), 0);
    assert_int_equal(parameters(TYPE("qwen3_whale") SMALL ",\"head_dim\":16}"),
                     parameters(TYPE("qwen3") SMALL ",\"head_dim\":16}"));
    assert_int_equal(warnings_of(TYPE("qwen3_whale") SMALL "}", "W-assumed", "as of 'qwen3'"), 1);
    /* synonyms, and the language model in another object */
    assert_int_equal(parameters("{\"model_type\":\"x\",\"llm_config\":{\"dim\":64,\"n_layers\":12,\"n_"
                                "heads\":4,\"n_kv_heads\":2,\"hidden_dim\":128,\"vocab_size\":100}}"),
                     parameters(TYPE("llama") SMALL "}"));
    assert_int_equal(
        warnings_of(TYPE("llama") SMALL ",\"vocab_size\":100}", "W-duplicate-key", "'vocab_size'"), 1);
}

/* A decode step after 99 tokens reads 100 keys, or as many as are selected, of a window or of a chunk. */
static void attention_counts_visible_pairs(void **state)
{
    (void)state;
#define LATENT                                                                                               \
    TYPE("deepseek_v3")                                                                                      \
    SIZES(64, 128, 1, 4, 4, 100)                                                                             \
    ",\"q_lora_rank\":16,\"kv_lora_rank\":16,\"qk_nope_head_dim\":8,"                                        \
    "\"qk_rope_head_dim\":8,\"v_head_dim\":8"
    static const char *const text[] = {
        LATENT "}", LATENT ",\"index_n_heads\":2,\"index_head_dim\":4,\"index_topk\":10}",
        TYPE("whale") SIZES(64, 128, 1, 4, 4, 100) ",\"v_head_dim\":8,\"sliding_window\":10}",
        TYPE("whale") SIZES(64, 128, 1, 4, 4,
                            100) ",\"layer_types\":[\"chunked_attention\"],\"attention_chunk_size\":64}"};
    uint64_t macs[OC_COUNT(text)];
    for (size_t i = 0; i < OC_COUNT(text); i++) {
        struct oc_model *m = load_config(text[i]);
        const struct oc_llm_opts o = {.size = sizeof(o), .prompt = 99, .generate = 2};
        struct oc_llm *l;
        struct oc_llm_counts c;
        assert_int_equal(oc_llm_make(m, &o, &l, NULL), 0);
        assert_true(oc_llm_run(l, OC_LLM_PART_FIRST, &c));
        macs[i] = c.macs;
        oc_llm_free(l);
        oc_model_free(m);
    }
    /* products of a token, then absorbed: 4 heads * (16 + 8 + 16) of each pair */
    const uint64_t mlp = 3 * 64 * 128 + 64 * 100,
                   products = 64 * 16 + 16 * 64 + 64 * 24 + 16 * 64 + 32 * 64 + mlp;
    assert_int_equal(macs[0], products + 100 * 4 * 40);
    assert_int_equal(macs[1], products + 10 * 4 * 40 + 16 * 8 + 64 * 4 + 64 * 2 + 100 * 2 * 4);
    assert_int_equal(macs[2], 64 * 64 * 2 + 64 * 32 * 2 + mlp + 10 * 4 * (16 + 8));
    assert_int_equal(macs[3], 64 * 64 * 4 + mlp + (99 - 64 + 1) * 4 * 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_are_quantized_by_their_names),
        cmocka_unit_test(unknown_types_are_read_with_what_was_assumed),
        cmocka_unit_test(attention_counts_visible_pairs),
        cmocka_unit_test(parameters_and_cache_equal_published_figures),
        cmocka_unit_test(decode_step_reads_every_weight_once),
        cmocka_unit_test(layers_with_a_window_follow_the_family),
        cmocka_unit_test(layers_with_a_rotary_embedding_follow_the_family),
        cmocka_unit_test(text_config_wins),
        cmocka_unit_test(packed_weights_are_counted_unpacked),
        cmocka_unit_test(encoders_have_published_parameters),
        cmocka_unit_test(hybrid_layers_have_a_state_instead_of_a_cache),
        cmocka_unit_test(quantized_types_have_their_bytes),
        cmocka_unit_test(mlx_packs_embeddings_and_the_last_layer),
        cmocka_unit_test(quantizations_have_the_bytes_of_their_formats),
        cmocka_unit_test(a_quantized_cache_has_its_own_type),
        cmocka_unit_test(layers_and_norms_follow_their_options),
        cmocka_unit_test(modules_that_are_not_converted_keep_their_type),
        cmocka_unit_test(experts_are_packed_too),
        cmocka_unit_test(bounds_count_no_weights_of_unknown_types),
        cmocka_unit_test(quantizations_that_are_not_modelled_are_reported),
        cmocka_unit_test(the_architecture_names_the_family),
        cmocka_unit_test(what_cannot_be_built_is_refused_with_the_member),
        cmocka_unit_test(every_family_is_analysed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
