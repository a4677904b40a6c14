/* Headers of weight files: safetensors, their index, and GGUF, alone and as decoders; sizes against published
 * ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/analysis.h"
#include "base/arena.h"
#include "model/model.h"
#include "onnxcost.h"
#include "onnxcost/llm.h"

/* ---- files ------------------------------------------------------------------------------------------ */

static void add_number(struct oc_buf *b, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        oc_buf_char(b, (char)(v >> (8 * i)));
}

static struct oc_buf safetensors(const char *json)
{
    struct oc_buf b = {0};
    add_number(&b, strlen(json), 8);
    oc_buf_str(&b, json);
    return b;
}

struct gguf {
    struct oc_buf pairs, tensors;
    uint64_t n_pair, n_tensor, offset;
};

enum { F32 = 0, F16 = 1, Q4_0 = 2, Q4_K = 12, Q5_K = 13, Q6_K = 14 }; /* numbers of GGUF */

static void add_text(struct oc_buf *b, const char *s)
{
    add_number(b, strlen(s), 8);
    oc_buf_str(b, s);
}

static void pair_number(struct gguf *g, const char *key, uint64_t v)
{
    add_text(&g->pairs, key);
    add_number(&g->pairs, 4, 4);
    add_number(&g->pairs, v, 4);
    g->n_pair++;
}

/* An array of two numbers. */
static void pair_numbers(struct gguf *g, const char *key, uint64_t first, uint64_t second)
{
    add_text(&g->pairs, key);
    add_number(&g->pairs, 9, 4);
    add_number(&g->pairs, 4, 4);
    add_number(&g->pairs, 2, 8);
    add_number(&g->pairs, first, 4);
    add_number(&g->pairs, second, 4);
    g->n_pair++;
}

static void pair_text(struct gguf *g, const char *key, const char *v)
{
    add_text(&g->pairs, key);
    add_number(&g->pairs, 8, 4);
    add_text(&g->pairs, v);
    g->n_pair++;
}

/* rows 0: a vector. Bytes by the table of the format's documentation. */
static void tensor(struct gguf *g, const char *name, uint64_t columns, uint64_t rows, unsigned type)
{
    static const struct {
        unsigned elements, bytes;
    } block[] = {[F32] = {1, 4},      [F16] = {1, 2},      [Q4_0] = {32, 18},
                 [Q4_K] = {256, 144}, [Q5_K] = {256, 176}, [Q6_K] = {256, 210}};
    add_text(&g->tensors, name);
    add_number(&g->tensors, rows ? 2 : 1, 4);
    add_number(&g->tensors, columns, 8);
    if (rows)
        add_number(&g->tensors, rows, 8);
    add_number(&g->tensors, type, 4);
    add_number(&g->tensors, g->offset, 8);
    g->offset += columns * (rows ? rows : 1) / block[type].elements * block[type].bytes;
    g->offset = (g->offset + 31) / 32 * 32;
    g->n_tensor++;
}

static void layer_tensor(struct gguf *g, unsigned layer, const char *name, uint64_t columns, uint64_t rows,
                         unsigned type)
{
    char full[64];
    snprintf(full, sizeof(full), "blk.%u.%s", layer, name);
    tensor(g, full, columns, rows, type);
}

static struct oc_buf gguf_file(struct gguf *g)
{
    struct oc_buf b = {0};
    oc_buf_str(&b, "GGUF");
    add_number(&b, 3, 4);
    add_number(&b, g->n_tensor, 8);
    add_number(&b, g->n_pair, 8);
    oc_buf_add(&b, g->pairs.data, g->pairs.n);
    oc_buf_add(&b, g->tensors.data, g->tensors.n);
    oc_buf_free(&g->pairs);
    oc_buf_free(&g->tensors);
    return b;
}

/* ---- loading ---------------------------------------------------------------------------------------- */

struct loaded {
    struct oc_model *m;
    struct oc_analysis *a;
};

static struct loaded analyze(struct oc_model *m)
{
    struct loaded l = {.m = m};
    struct oc_err err;
    if (oc_analyze(m, NULL, &l.a, &err))
        fail_msg("%s", err.msg);
    return l;
}

static struct loaded load(struct oc_buf b)
{
    struct oc_model *m;
    struct oc_err err;
    if (oc_model_load_mem(b.data, b.n, NULL, &m, &err))
        fail_msg("%s", err.msg);
    struct loaded l = analyze(m);
    oc_buf_free(&b);
    return l;
}

static void unload(struct loaded *l)
{
    oc_analysis_free(l->a);
    oc_model_free(l->m);
}

static unsigned warnings(const struct oc_model *m, const char *code)
{
    const struct oc_diag *d;
    unsigned n = 0;
    size_t all = oc_model_diags(m, &d);
    for (size_t i = 0; i < all; i++)
        n += strcmp(d[i].code, code) == 0;
    return n;
}

/* ---- types ------------------------------------------------------------------------------------------ */

/* Bits per weight as llama.cpp and Hugging Face state them. */
static void blocks_have_their_documented_bits(void **state)
{
    (void)state;
    static const struct {
        unsigned dtype;
        double bits;
    } type[] = {
        {OC_DT_Q4_0, 4.5},       {OC_DT_Q4_1, 5},       {OC_DT_Q5_0, 5.5},       {OC_DT_Q5_1, 6},
        {OC_DT_Q8_0, 8.5},       {OC_DT_Q2_K, 2.625},   {OC_DT_Q3_K, 3.4375},    {OC_DT_Q4_K, 4.5},
        {OC_DT_Q5_K, 5.5},       {OC_DT_Q6_K, 6.5625},  {OC_DT_IQ2_XXS, 2.0625}, {OC_DT_IQ2_XS, 2.3125},
        {OC_DT_IQ3_XXS, 3.0625}, {OC_DT_IQ1_S, 1.5625}, {OC_DT_IQ4_NL, 4.5},     {OC_DT_IQ3_S, 3.4375},
        {OC_DT_IQ2_S, 2.5625},   {OC_DT_IQ4_XS, 4.25},  {OC_DT_IQ1_M, 1.75},     {OC_DT_TQ1_0, 1.6875},
        {OC_DT_TQ2_0, 2.0625},   {OC_DT_MXFP4, 4.25},   {OC_DT_NVFP4, 4.5},
    };
    for (size_t i = 0; i < OC_COUNT(type); i++) {
        uint64_t bytes;
        assert_true(oc_bytes_of(type[i].dtype, 256, &bytes));
        if ((double)bytes * 8 / 256 != type[i].bits)
            fail_msg("%s: %llu bytes", oc_dtype_info(type[i].dtype)->name, (unsigned long long)bytes);
        assert_true(oc_bytes_of(type[i].dtype, 1, &bytes)); /* a part of a block is stored whole */
        assert_int_equal((double)bytes * 8, type[i].bits * (double)oc_dtype_block(type[i].dtype));
    }
}

/* ---- GGUF ------------------------------------------------------------------------------------------- */

/* Pythia 1.4B as llama.cpp's own tests quantize it; "type f32: 194 tensors, q4_0: 97, q6_K: 1" and "file size
 * = 786.31 MiB (4.66 BPW)" in their log (ggml-org/ci, gg_run_pythia_1_4b). */
static struct oc_buf pythia(void)
{
    struct gguf g = {.n_pair = 0};
    const unsigned width = 2048, mlp = 8192;
    pair_text(&g, "general.architecture", "gptneox");
    pair_number(&g, "gptneox.block_count", 24);
    pair_number(&g, "gptneox.embedding_length", width);
    pair_number(&g, "gptneox.feed_forward_length", mlp);
    pair_number(&g, "gptneox.attention.head_count", 16);
    pair_number(&g, "gptneox.rope.dimension_count", 32);
    pair_number(&g, "gptneox.context_length", 2048);
    for (unsigned i = 0; i < 24; i++) {
        layer_tensor(&g, i, "attn_norm.weight", width, 0, F32);
        layer_tensor(&g, i, "attn_norm.bias", width, 0, F32);
        layer_tensor(&g, i, "ffn_norm.weight", width, 0, F32);
        layer_tensor(&g, i, "ffn_norm.bias", width, 0, F32);
        layer_tensor(&g, i, "attn_qkv.weight", width, (uint64_t)3 * width, Q4_0);
        layer_tensor(&g, i, "attn_qkv.bias", (uint64_t)3 * width, 0, F32);
        layer_tensor(&g, i, "attn_output.weight", width, width, Q4_0);
        layer_tensor(&g, i, "attn_output.bias", width, 0, F32);
        layer_tensor(&g, i, "ffn_up.weight", width, mlp, Q4_0);
        layer_tensor(&g, i, "ffn_up.bias", mlp, 0, F32);
        layer_tensor(&g, i, "ffn_down.weight", mlp, width, Q4_0);
        layer_tensor(&g, i, "ffn_down.bias", width, 0, F32);
    }
    tensor(&g, "token_embd.weight", width, 50304, Q4_0);
    tensor(&g, "output_norm.weight", width, 0, F32);
    tensor(&g, "output_norm.bias", width, 0, F32);
    tensor(&g, "output.weight", width, 50304, Q6_K);
    assert_int_equal(g.n_tensor, 194 + 97 + 1);
    return gguf_file(&g);
}

/* Layers whose values and last product have 6 bits in the _M mixtures of llama.cpp. */
static bool more_bits(unsigned layer, unsigned layers)
{
    return layer < layers / 8 || layer >= 7 * layers / 8 || (layer - layers / 8) % 3 == 2;
}

/* Qwen2 1.5B, Q5_K_M: "f32: 141 tensors, q5_K: 169, q6_K: 29", "file size = 1.19 GiB (5.76 BPW)". */
static struct oc_buf qwen2(void)
{
    struct gguf g = {.n_pair = 0};
    const unsigned width = 1536, mlp = 8960, kv = 256, layers = 28;
    pair_text(&g, "general.architecture", "qwen2");
    pair_number(&g, "qwen2.block_count", layers);
    pair_number(&g, "qwen2.embedding_length", width);
    pair_number(&g, "qwen2.feed_forward_length", mlp);
    pair_number(&g, "qwen2.attention.head_count", 12);
    pair_number(&g, "qwen2.attention.head_count_kv", 2);
    tensor(&g, "token_embd.weight", width, 151936, Q5_K);
    for (unsigned i = 0; i < layers; i++) {
        bool more = more_bits(i, layers);
        layer_tensor(&g, i, "attn_norm.weight", width, 0, F32);
        layer_tensor(&g, i, "attn_q.weight", width, width, Q5_K);
        layer_tensor(&g, i, "attn_q.bias", width, 0, F32);
        layer_tensor(&g, i, "attn_k.weight", width, kv, Q5_K);
        layer_tensor(&g, i, "attn_k.bias", kv, 0, F32);
        layer_tensor(&g, i, "attn_v.weight", width, kv, more ? Q6_K : Q5_K);
        layer_tensor(&g, i, "attn_v.bias", kv, 0, F32);
        layer_tensor(&g, i, "attn_output.weight", width, width, Q5_K);
        layer_tensor(&g, i, "ffn_norm.weight", width, 0, F32);
        layer_tensor(&g, i, "ffn_gate.weight", width, mlp, Q5_K);
        layer_tensor(&g, i, "ffn_up.weight", width, mlp, Q5_K);
        layer_tensor(&g, i, "ffn_down.weight", mlp, width, more ? Q6_K : Q5_K);
    }
    tensor(&g, "output_norm.weight", width, 0, F32);
    tensor(&g, "output.weight", width, 151936, Q6_K);
    assert_int_equal(g.n_tensor, 141 + 169 + 29);
    return gguf_file(&g);
}

/* Llama 2 7B, Q4_K_M: "f32: 65 tensors, q4_K: 193, q6_K: 33", "file size = 3.80 GiB (4.84 BPW)". */
static struct oc_buf llama(void)
{
    struct gguf g = {.n_pair = 0};
    const unsigned width = 4096, mlp = 11008, layers = 32;
    pair_text(&g, "general.architecture", "llama");
    pair_number(&g, "llama.block_count", layers);
    pair_number(&g, "llama.embedding_length", width);
    pair_number(&g, "llama.feed_forward_length", mlp);
    pair_number(&g, "llama.attention.head_count", 32);
    tensor(&g, "token_embd.weight", width, 32000, Q4_K);
    for (unsigned i = 0; i < layers; i++) {
        unsigned more = more_bits(i, layers) ? Q6_K : Q4_K;
        layer_tensor(&g, i, "attn_norm.weight", width, 0, F32);
        layer_tensor(&g, i, "attn_q.weight", width, width, Q4_K);
        layer_tensor(&g, i, "attn_k.weight", width, width, Q4_K);
        layer_tensor(&g, i, "attn_v.weight", width, width, more);
        layer_tensor(&g, i, "attn_output.weight", width, width, Q4_K);
        layer_tensor(&g, i, "ffn_norm.weight", width, 0, F32);
        layer_tensor(&g, i, "ffn_gate.weight", width, mlp, Q4_K);
        layer_tensor(&g, i, "ffn_up.weight", width, mlp, Q4_K);
        layer_tensor(&g, i, "ffn_down.weight", mlp, width, more);
    }
    tensor(&g, "output_norm.weight", width, 0, F32);
    tensor(&g, "output.weight", width, 32000, Q6_K);
    assert_int_equal(g.n_tensor, 65 + 193 + 33);
    return gguf_file(&g);
}

static void gguf_bytes_equal_published_file_sizes(void **state)
{
    (void)state;
    static const struct {
        struct oc_buf (*make)(void);
        uint64_t params;
        double bytes, within, bits; /* of a file and of a weight, as llama.cpp prints them */
    } model[] = {
        {pythia, 1414647808, 786.31 * 1048576, 0.005 * 1048576, 4.66},
        {llama, 6738415616, 3.80 * 1073741824, 0.005 * 1073741824, 4.84},
        {qwen2, 1777088000, 1.19 * 1073741824, 0.005 * 1073741824, 5.76},
    };
    for (size_t i = 0; i < OC_COUNT(model); i++) {
        struct loaded l = load(model[i].make());
        struct oc_llm *llm;
        assert_int_equal(l.a->total->params, model[i].params);
        double table = 0, bytes;
        for (uint32_t v = 0; v < l.m->n_value; v++) /* rotary tables are not in the file */
            if (!strncmp(l.m->value[v].name, "cos_cache", 9) || !strncmp(l.m->value[v].name, "sin_cache", 9))
                table += (double)l.m->value[v].constant->size_bytes;
        bytes = (double)l.m->init_bytes - table;
        if (bytes < model[i].bytes - model[i].within || bytes > model[i].bytes + model[i].within)
            fail_msg("model %zu: %.0f bytes", i, bytes);
        double bits = bytes * 8 / (double)model[i].params;
        assert_true(bits > model[i].bits - 0.005 && bits < model[i].bits + 0.005);
        assert_int_equal(warnings(l.m, "W-weights-differ"), 0);
        assert_int_equal(warnings(l.m, "W-weights-cut"), 1);
        assert_int_equal(oc_llm_make(l.m, NULL, &llm, NULL), 0);
        oc_llm_free(llm);
        unload(&l);
    }
}

/* The types of the file are those of the graph, also where the file has one tensor for three. */
static void graph_has_the_types_of_the_file(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned dtype;
    } of[] = {
        {"model.layers.0.self_attn.k_proj.weight", OC_DT_Q4_0},
        {"model.layers.23.self_attn.v_proj.bias", OC_DT_FLOAT},
        {"model.layers.7.input_layernorm.weight", OC_DT_FLOAT},
        {"model.layers.7.mlp.fc2.weight", OC_DT_Q4_0},
        {"model.norm.bias", OC_DT_FLOAT},
        {"model.embed_tokens.weight", OC_DT_Q4_0},
        {"lm_head.weight", OC_DT_Q6_K},
    };
    struct loaded l = load(pythia());
    for (size_t i = 0; i < OC_COUNT(of); i++) {
        uint32_t v = 0;
        while (v < l.m->n_value && strcmp(l.m->value[v].name, of[i].name) != 0)
            v++;
        if (v == l.m->n_value || l.m->value[v].constant->dtype != of[i].dtype)
            fail_msg("%s", of[i].name);
    }
    unload(&l);
}

static void gguf_without_tensors_is_built_from_its_metadata(void **state)
{
    (void)state;
    struct gguf g = {.n_pair = 0};
    pair_text(&g, "general.architecture", "llama");
    pair_number(&g, "llama.block_count", 32);
    pair_number(&g, "llama.embedding_length", 4096);
    pair_number(&g, "llama.feed_forward_length", 11008);
    pair_number(&g, "llama.attention.head_count", 32);
    pair_number(&g, "llama.vocab_size", 32000);
    struct loaded l = load(gguf_file(&g));
    assert_int_equal(l.a->total->params, 6738415616);
    assert_int_equal(warnings(l.m, "W-no-weights"), 1);
    unload(&l);
}

/* An architecture that is not in the table, one whose metadata are not there, and one with layers of different
 * sizes. */
static void what_is_not_built_is_weights_without_a_graph(void **state)
{
    (void)state;
    static const char *const unbuilt[] = {"rwkv7", "llama", "openelm"};
    for (size_t i = 0; i < OC_COUNT(unbuilt); i++) {
        struct gguf g = {.n_pair = 0};
        pair_text(&g, "general.architecture", unbuilt[i]);
        if (!strcmp(unbuilt[i], "openelm"))
            pair_numbers(&g, "openelm.feed_forward_length", 768, 1024);
        tensor(&g, "a.weight", 512, 3, Q6_K);
        tensor(&g, "b.weight", 7, 0, F32);
        struct loaded l = load(gguf_file(&g));
        assert_int_equal(l.a->total->params, 512 * 3 + 7);
        assert_int_equal(l.a->total->const_bytes, 6 * 210 + 7 * 4);
        assert_int_equal(warnings(l.m, "W-no-graph"), 1);
        unload(&l);
    }
}

static void expect_refused(const void *data, size_t n, const char *says)
{
    struct oc_model *m = NULL;
    struct oc_err err;
    assert_int_equal(oc_model_load_mem(data, n, NULL, &m, &err), -1);
    assert_null(m);
    if (!strstr(err.msg, says))
        fail_msg("'%s' does not contain '%s'", err.msg, says);
}

static void missing_part_of_a_gguf_is_an_error(void **state)
{
    (void)state;
    struct gguf g = {.n_pair = 0};
    pair_text(&g, "general.architecture", "llama");
    pair_number(&g, "split.count", 3);
    struct oc_buf b = gguf_file(&g);
    expect_refused(b.data, b.n, "part 2 of 3 is not here: give the first part");
    oc_buf_free(&b);
}

static void damaged_gguf_is_refused(void **state)
{
    (void)state;
    struct gguf g = {.n_pair = 0};
    pair_text(&g, "general.architecture", "llama");
    tensor(&g, "a.weight", 64, 2, Q4_0);
    tensor(&g, "b.weight", 64, 2, F32);
    struct oc_buf good = gguf_file(&g);
    for (size_t n = 9; n < good.n; n++)
        expect_refused(good.data, n, "damaged");
    static const struct {
        size_t at; /* from the end if negative */
        int64_t value;
        size_t bytes;
        const char *says;
    } bad[] = {
        {4, 1, 4, "version 1"},
        {4, 3 << 24, 4, "big-endian"},
        {8, -1, 8, "damaged"},  /* tensors */
        {16, -1, 8, "damaged"}, /* pairs */
        {24, -1, 8, "longer than the file"},
        {52, 99, 4, "unknown type"},
    };
    for (size_t i = 0; i < OC_COUNT(bad); i++) {
        struct oc_buf b = {0}, value = {0};
        oc_buf_add(&b, good.data, good.n);
        add_number(&value, (uint64_t)bad[i].value, bad[i].bytes);
        memcpy(b.data + bad[i].at, value.data, bad[i].bytes);
        expect_refused(b.data, b.n, bad[i].says);
        oc_buf_free(&b);
        oc_buf_free(&value);
    }
    size_t last = good.n - 8; /* offset of the last tensor; before it its type and size */
    good.data[last]++;
    expect_refused(good.data, good.n, "ends at");
    good.data[last]--;
    good.data[last - 4] = 4;
    expect_refused(good.data, good.n, "unknown type 4");
    good.data[last - 4] = Q6_K;
    expect_refused(good.data, good.n, "whole blocks");
    memset(good.data + last - 20, 0xff, 8);
    expect_refused(good.data, good.n, "overflow");
    oc_buf_free(&good);
}

/* ---- safetensors ------------------------------------------------------------------------------------ */

#define TENSOR(name, dtype, shape, from, to)                                                                 \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" #from "," #to "]}"

static void weights_alone_are_counted(void **state)
{
    (void)state;
    struct loaded l = load(
        safetensors("{\"__metadata__\":{\"format\":\"pt\"}," TENSOR("w", "BF16", "[3,5]", 0, 30) "," TENSOR(
            "b", "F8_E4M3", "[7]", 30, 37) "," TENSOR("i", "I64", "[2]", 37, 53) "," TENSOR("s", "F32", "[]",
                                                                                            53, 57) "}   "));
    assert_int_equal(l.a->total->params, 15 + 7 + 1);
    assert_int_equal(l.a->total->const_bytes, 57);
    const struct oc_diag *d;
    size_t last = oc_model_diags(l.m, &d) - 1;
    assert_non_null(strstr(d[last].text, "4 tensors: float 1, int64 2, bfloat16 15, float8e4m3fn 7"));
    assert_int_equal(warnings(l.m, "W-no-graph"), 1);
    unload(&l);
}

static void damaged_safetensors_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *json, *says;
    } bad[] = {
        {"{" TENSOR("w", "BF16", "[3,5]", 0, 31) "}", "takes 30 bytes"},
        {"{" TENSOR("w", "BF16", "[3,5]", -30, 0) "}", "takes 30 bytes"},
        {"{" TENSOR("w", "BF16", "[3,5]", 30, 0) "}", "takes 30 bytes"},
        {"{" TENSOR("w", "BF16", "[-3,5]", 0, 30) "}", "overflow"},
        {"{" TENSOR("w", "BF16", "[9223372036854775807,9223372036854775807]", 0, 30) "}", "overflow"},
        {"{" TENSOR("w", "U8", "[9223372036854775807]", 0, 9223372036854775807) "," TENSOR("v", "U8", "[1]",
                                                                                           0, 1) "}",
         "2^63"},
        {"{" TENSOR("w", "F7", "[1]", 0, 1) "}", "unknown dtype 'F7'"},
        {"{" TENSOR("w", "U8", "[1]", 0, 1) "," TENSOR("w", "U8", "[1]", 1, 2) "}", "two tensors"},
        {"{" TENSOR("w", "U8", "[4]", 0, 4) "," TENSOR("v", "U8", "[4]", 2, 6) "}", "overlap or leave holes"},
        {"{" TENSOR("w", "U8", "[4]", 0, 4) "," TENSOR("v", "U8", "[4]", 8, 12) "}",
         "overlap or leave holes"},
        {"{\"w\":{\"dtype\":\"U8\",\"shape\":[1]}}", "needs dtype"},
        {"{\"w\":{\"dtype\":1,\"shape\":7,\"data_offsets\":\"a\"}}", "needs dtype"},
        {"{\"w\":[]}", "needs dtype"},
        {"{\"__metadata__\":{}}", "no tensors"},
        {"{\"w\":{\"dtype\":\"U8\"", "damaged"},
    };
    for (size_t i = 0; i < OC_COUNT(bad); i++) {
        struct oc_buf b = safetensors(bad[i].json);
        expect_refused(b.data, b.n, bad[i].says);
        oc_buf_free(&b);
    }
    struct oc_buf b = safetensors("{" TENSOR("w", "U8", "[1]", 0, 1) "}");
    for (size_t n = 10; n < b.n; n++)
        expect_refused(b.data, n, "inside its header");
    b.data[3] = 0x7f; /* 2 GB */
    expect_refused(b.data, b.n, "are possible");
    oc_buf_free(&b);
}

static void tensors_beyond_the_limit_are_refused(void **state)
{
    (void)state;
    const struct oc_input_limits limits = {.size = sizeof(limits), .most = {[OC_LIMIT_NODES] = 1}};
    struct oc_buf b = safetensors("{" TENSOR("w", "U8", "[1]", 0, 1) "," TENSOR("v", "U8", "[1]", 1, 2) "}");
    struct oc_model *m = NULL;
    struct oc_err err;
    assert_int_equal(oc_model_load_mem(b.data, b.n, &limits, &m, &err), -1);
    assert_int_equal(err.code, OC_ELIMIT);
    oc_buf_free(&b);
}

/* ---- folders ---------------------------------------------------------------------------------------- */

struct folder {
    char path[64], file[128];
};

static struct folder make_folder(void)
{
    struct folder f = {.path = "/tmp/onnxcost.stored.XXXXXX"};
    assert_non_null(mkdtemp(f.path));
    return f;
}

static const char *in_folder(struct folder *f, const char *name)
{
    snprintf(f->file, sizeof(f->file), "%s/%s", f->path, name);
    return f->file;
}

static void write_file(struct folder *f, const char *name, const void *data, size_t n)
{
    FILE *out = fopen(in_folder(f, name), "w");
    assert_non_null(out);
    assert_int_equal(fwrite(data, 1, n, out), n);
    assert_int_equal(fclose(out), 0);
}

static void write_text(struct folder *f, const char *name, const char *text)
{
    write_file(f, name, text, strlen(text));
}

static void remove_folder(struct folder *f)
{
    static const char *const names[] = {
        "config.json",   "hf_quant_config.json", "model.safetensors.index.json", "a.safetensors",
        "b.safetensors", "model.safetensors",    "x-00001-of-00002.gguf",        "x-00002-of-00002.gguf"};
    for (size_t i = 0; i < OC_COUNT(names); i++)
        unlink(in_folder(f, names[i]));
    assert_int_equal(rmdir(f->path), 0);
}

/* A Llama of one layer: 8 wide, 2 heads, MLP of 16, 10 words; norms in float32. */
#define SMALL_CONFIG                                                                                         \
    "{\"model_type\":\"llama\",\"hidden_size\":8,\"intermediate_size\":16,\"num_hidden_layers\":1,"          \
    "\"num_attention_heads\":2,\"vocab_size\":10,\"torch_dtype\":\"bfloat16\"}"
#define FIRST_FILE                                                                                           \
    "{" TENSOR("model.embed_tokens.weight", "BF16", "[10,8]", 0, 160) "," TENSOR(                            \
        "model.layers.0.input_layernorm.weight", "F32", "[8]", 160,                                          \
        192) "," TENSOR("model.layers.0.self_attn.q_proj.weight", "BF16", "[8,8]", 192,                      \
                        320) "," TENSOR("model.layers.0.self_attn.k_proj.weight", "BF16", "[8,8]", 320,      \
                                        448) "," TENSOR("model.layers.0.self_attn.v_proj.weight", "BF16",    \
                                                        "[8,8]", 448, 576) "," TENSOR("model.layers.0.self_" \
                                                                                      "attn.o_proj.weight",  \
                                                                                      "F8_E4M3", "[8,8]",    \
                                                                                      576, 640) "}"
#define SECOND_FILE                                                                                          \
    "{" TENSOR("model.layers.0.post_attention_layernorm.weight", "F32", "[8]", 0, 32) "," TENSOR(            \
        "model.layers.0.mlp.gate_proj.weight", "BF16", "[16,8]", 32,                                         \
        288) "," TENSOR("model.layers.0.mlp.up_proj.weight", "BF16", "[16,8]", 288,                          \
                        544) "," TENSOR("model.layers.0.mlp.down_proj.weight", "BF16", "[8,16]", 544,        \
                                        800) "," TENSOR("model.layers.0.self_attn.rotary_emb.inv_freq",      \
                                                        "F32", "[2]", 800,                                   \
                                                        808) "," TENSOR("model.norm.weight", "F32", "[8]",   \
                                                                        808,                                 \
                                                                        840) "," TENSOR("lm_head.weight",    \
                                                                                        "BF16", "[10,8]",    \
                                                                                        840, 1000) "}"
#define INDEX(total)                                                                                         \
    "{\"metadata\":{\"total_size\":" #total "},\"weight_map\":{\"model.embed_tokens.weight\":"               \
    "\"a.safetensors\",\"lm_head.weight\":\"b.safetensors\"}}"

static struct folder sharded_model(const char *index)
{
    struct folder f = make_folder();
    struct oc_buf a = safetensors(FIRST_FILE), b = safetensors(SECOND_FILE);
    write_text(&f, "config.json", SMALL_CONFIG);
    write_text(&f, "model.safetensors.index.json", index);
    write_file(&f, "a.safetensors", a.data, a.n);
    write_file(&f, "b.safetensors", b.data, b.n);
    oc_buf_free(&a);
    oc_buf_free(&b);
    return f;
}

static struct loaded load_path(const char *path)
{
    struct oc_model *m;
    struct oc_err err;
    if (oc_model_load(path, NULL, &m, &err))
        fail_msg("%s", err.msg);
    return analyze(m);
}

static void parts_of_a_gguf_are_one_model(void **state)
{
    (void)state;
    struct folder f = make_folder();
    struct gguf first = {.n_pair = 0}, second = {.n_pair = 0};
    pair_text(&first, "general.architecture", "rwkv7");
    pair_number(&first, "split.count", 2);
    tensor(&first, "a.weight", 512, 3, Q6_K);
    tensor(&second, "b.weight", 7, 0, F32);
    struct oc_buf a = gguf_file(&first), b = gguf_file(&second);
    write_file(&f, "x-00001-of-00002.gguf", a.data, a.n);
    write_file(&f, "x-00002-of-00002.gguf", b.data, b.n);
    struct loaded l = load_path(in_folder(&f, "x-00001-of-00002.gguf"));
    assert_int_equal(l.a->total->params, 512 * 3 + 7);
    unload(&l);
    struct oc_model *m = NULL;
    struct oc_err err;
    write_file(&f, "x-00002-of-00002.gguf", b.data, b.n - 1);
    assert_int_equal(oc_model_load(in_folder(&f, "x-00001-of-00002.gguf"), NULL, &m, &err), -1);
    assert_non_null(strstr(err.msg, "x-00002-of-00002.gguf: "));
    oc_buf_free(&a);
    oc_buf_free(&b);
    remove_folder(&f);
}

/* 80 + 8 + 4 * 64 + 8 + 3 * 128 + 8 + 80 parameters; o_proj has a byte each, norms have 4 */
static void folder_has_the_graph_of_its_config_and_the_types_of_its_files(void **state)
{
    (void)state;
    struct folder f = sharded_model(INDEX(1640));
    struct loaded l = load_path(f.path);
    assert_int_equal(l.a->total->params, 824);
    assert_int_equal(warnings(l.m, "W-weights-differ"), 0);
    assert_int_equal(warnings(l.m, "W-weights-cut"), 2); /* headers alone */
    uint64_t bytes = 0;
    for (uint32_t v = 0; v < l.m->n_value; v++)
        if (l.m->value[v].constant && strstr(l.m->value[v].name, "."))
            bytes += l.m->value[v].constant->size_bytes;
    assert_int_equal(bytes, 1640 - 8); /* of the files without inv_freq */
    unload(&l);
    l = load_path(in_folder(&f, "a.safetensors"));
    assert_int_equal(warnings(l.m, "W-weights-differ"), 1); /* some of the files */
    unload(&l);
    remove_folder(&f);
}

/* The o_proj in 8 bits has the file's type; without the files all weights have that of the configuration. */
static void warning_of_a_quantization_says_how_weights_are_counted(void **state)
{
    (void)state;
    static const char config[] = SMALL_CONFIG;
    static const char *const text[] = {"weights are counted as bfloat16; bounds count no bytes",
                                       "weights that the file stores as integers are counted as bfloat16"};
    struct folder f = sharded_model(INDEX(1640));
    char quantized[400];
    snprintf(quantized, sizeof(quantized), "%.*s,\"quantization_config\":{\"quant_method\":\"torchao\"}}",
             (int)sizeof(config) - 2, config);
    write_text(&f, "config.json", quantized);
    for (int files = 0; files < 2; files++) {
        struct loaded l = load_path(files ? f.path : in_folder(&f, "config.json"));
        const struct oc_diag *d;
        size_t n = oc_model_diags(l.m, &d), found = 0;
        for (size_t i = 0; i < n; i++)
            found += !strcmp(d[i].code, "W-quantization") && strstr(d[i].text, text[files]);
        assert_int_equal(found, 1);
        assert_int_equal(l.m->unknown_weights, !files); /* all of the files are floats */
        unload(&l);
    }
    remove_folder(&f);
}

/* Of ModelOpt: the quantization is in a file next to a config.json that does not say it. */
static void quantization_of_modelopt_is_read_next_to_config(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int warnings;
        bool known, smaller;
    } row[] = {
        {"{\"producer\":{},\"quantization\":{\"quant_algo\":null}}", 0, true, false},
        {"{\"quantization\":{\"quant_algo\":\"FP8\",\"exclude_modules\":[\"lm_head\"]}}", 0, true, true},
        {"{\"quantization\":{\"quant_algo\":\"W4A8_AWQ\"},\"hidden_size\":2}", 1, false, false},
    };
    struct folder f = make_folder();
    write_text(&f, "config.json", SMALL_CONFIG);
    struct loaded plain = load_path(in_folder(&f, "config.json"));
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        write_text(&f, "hf_quant_config.json", row[i].text);
        struct loaded l = load_path(in_folder(&f, "config.json"));
        assert_int_equal(warnings(l.m, "W-quantization"), row[i].warnings);
        assert_int_equal(l.m->unknown_weights, !row[i].known);
        assert_int_equal(l.a->total->params, plain.a->total->params);
        assert_int_equal(l.a->total->const_bytes < plain.a->total->const_bytes, row[i].smaller);
        unload(&l);
    }
    unload(&plain);
    struct oc_model *m = NULL;
    struct oc_err err;
    write_text(&f, "hf_quant_config.json", "{\"quantization\":{");
    assert_int_equal(oc_model_load(in_folder(&f, "config.json"), NULL, &m, &err), -1);
    assert_non_null(strstr(err.msg, "hf_quant_config.json"));
    remove_folder(&f);
}

static void index_is_compared_with_its_files(void **state)
{
    (void)state;
    struct oc_model *m = NULL;
    struct oc_err err;
    struct folder f = sharded_model(INDEX(1641));
    struct loaded l = load_path(in_folder(&f, "model.safetensors.index.json"));
    assert_int_equal(warnings(l.m, "W-weights-differ"), 1);
    unload(&l);
    write_text(&f, "model.safetensors.index.json", "{\"weight_map\":{\"other.weight\":\"a.safetensors\"}}");
    assert_int_equal(oc_model_load(f.path, NULL, &m, &err), -1);
    assert_non_null(strstr(err.msg, "tensor 'other.weight' of the index is in none of its files"));
    write_text(&f, "model.safetensors.index.json", INDEX(1641));
    unlink(in_folder(&f, "b.safetensors"));
    assert_int_equal(oc_model_load(f.path, NULL, &m, &err), -1);
    assert_non_null(strstr(err.msg, "'b.safetensors' is not here"));
    unlink(in_folder(&f, "a.safetensors"));
    l = load_path(f.path); /* config.json alone */
    assert_int_equal(l.a->total->params, 824);
    assert_int_equal(warnings(l.m, "W-no-weights"), 1);
    assert_int_equal(warnings(l.m, "W-weights-differ"), 1);
    unload(&l);
    /* layers that predict further tokens are not in the graph */
    write_text(&f, "model.safetensors.index.json",
               "{\"metadata\":{\"total_size\":9999},\"weight_map\":{\"lm_head.weight\":\"a.safetensors\","
               "\"model.mtp_layers.0.input_proj.weight\":\"a.safetensors\"}}");
    l = load_path(f.path);
    assert_int_equal(warnings(l.m, "W-weights-differ"), 0);
    unload(&l);
    unlink(in_folder(&f, "config.json"));
    assert_int_equal(oc_model_load(f.path, NULL, &m, &err), -1);
    assert_non_null(strstr(err.msg, "no config.json"));
    remove_folder(&f);
}

static void index_cannot_name_files_elsewhere(void **state)
{
    (void)state;
    static const struct {
        const char *json, *says;
    } bad[] = {
        {"{\"weight_map\":{\"w\":\"../../etc/passwd\"}}", "no weight file"},
        {"{\"weight_map\":{\"w\":\"/etc/passwd\"}}", "no weight file"},
        {"{\"weight_map\":{}}", "names no file"},
        {"{\"weight_map\":[1,2]}", "names no file"},
        {"{\"weight_map\":{\"w\":7}}", "names no file"},
        {"{\"weight_map\":{\"w\":\"a\"", "damaged"},
    };
    struct folder f = make_folder();
    for (size_t i = 0; i < OC_COUNT(bad); i++) {
        struct oc_model *m = NULL;
        struct oc_err err;
        write_text(&f, "model.safetensors.index.json", bad[i].json);
        assert_int_equal(oc_model_load(f.path, NULL, &m, &err), -1);
        if (!strstr(err.msg, bad[i].says))
            fail_msg("'%s' does not contain '%s'", err.msg, bad[i].says);
    }
    remove_folder(&f);
}

static void config_of_another_kind_leaves_the_weights(void **state)
{
    (void)state;
    struct folder f = make_folder();
    struct oc_buf b = safetensors("{" TENSOR("w", "F16", "[3,5]", 0, 30) "}");
    write_text(&f, "config.json", "{\"model_type\":\"whale\"}");
    write_file(&f, "model.safetensors", b.data, b.n);
    struct loaded l = load_path(f.path);
    assert_int_equal(l.a->total->params, 15);
    assert_int_equal(warnings(l.m, "W-no-graph"), 1);
    unload(&l);
    oc_buf_free(&b);
    remove_folder(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_have_their_documented_bits),
        cmocka_unit_test(gguf_bytes_equal_published_file_sizes),
        cmocka_unit_test(graph_has_the_types_of_the_file),
        cmocka_unit_test(gguf_without_tensors_is_built_from_its_metadata),
        cmocka_unit_test(what_is_not_built_is_weights_without_a_graph),
        cmocka_unit_test(missing_part_of_a_gguf_is_an_error),
        cmocka_unit_test(parts_of_a_gguf_are_one_model),
        cmocka_unit_test(damaged_gguf_is_refused),
        cmocka_unit_test(weights_alone_are_counted),
        cmocka_unit_test(damaged_safetensors_are_refused),
        cmocka_unit_test(tensors_beyond_the_limit_are_refused),
        cmocka_unit_test(folder_has_the_graph_of_its_config_and_the_types_of_its_files),
        cmocka_unit_test(warning_of_a_quantization_says_how_weights_are_counted),
        cmocka_unit_test(quantization_of_modelopt_is_read_next_to_config),
        cmocka_unit_test(index_is_compared_with_its_files),
        cmocka_unit_test(index_cannot_name_files_elsewhere),
        cmocka_unit_test(config_of_another_kind_leaves_the_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
