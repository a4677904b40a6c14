/* KV caches as exporters name and build them, and graphs that only resemble them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "llm/llm.h"
#include "zoo.h"
#include "onnxcost.h"

struct case_ {
    uint8_t *bytes;
    struct oc_model *m;
    struct oc_llm *l; /* NULL: err has the reason */
    struct oc_err err;
};

static struct case_ analyze_case(struct oc_builder *b, const struct oc_llm_opts *o)
{
    struct case_ c = {.l = NULL};
    size_t n;
    c.bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(c.bytes, n, NULL, &c.m, &c.err))
        fail_msg("%s", c.err.msg);
    if (oc_llm_make(c.m, o, &c.l, &c.err))
        c.l = NULL;
    return c;
}

static void case_free(struct case_ *c)
{
    oc_llm_free(c->l);
    oc_model_free(c->m);
    free(c->bytes);
}

static struct case_ expect_ok(struct oc_builder *b, const struct oc_llm_opts *o)
{
    struct case_ c = analyze_case(b, o);
    if (!c.l)
        fail_msg("%s", c.err.msg);
    return c;
}

static void expect_error(struct oc_builder *b, enum oc_code code, const char *text)
{
    const struct oc_llm_opts o = {.batch = 1, .prompt = 4, .generate = 3};
    struct case_ c = analyze_case(b, &o);
    assert_null(c.l);
    assert_int_equal(c.err.code, code);
    if (!strstr(c.err.msg, text))
        fail_msg("'%s' does not contain '%s'", c.err.msg, text);
    case_free(&c);
}

static const struct oc_llm_opts plain = {.batch = 2, .prompt = 4, .generate = 3};

static struct oc_llm_counts count_part(const struct case_ *c, enum oc_llm_part part)
{
    struct oc_llm_counts k;
    assert_true(oc_llm_run(c->l, part, &k));
    return k;
}

/* ---- names ---- */

static void cache_name_patterns_match_layers(void **state)
{
    (void)state;
    uint32_t layer = 7;
    assert_true(oc_kv_match("past_key_values.%d.key", "past_key_values.0.key", &layer) && layer == 0);
    assert_true(oc_kv_match("past_%d", "past_31", &layer) && layer == 31);
    assert_true(oc_kv_match("past_%d", "past_65535", &layer) && layer == 65535);
    static const char *const not [] = {
        "past_key_values.key",       "past_key_values..key",
        "past_key_values.01.key",    "past_key_values.-1.key",
        "past_key_values.0.keys",    "past_key_values.0.value",
        "past_key_values.65536.key", "past_key_values.99999999999999999999999.key",
        "past_key_values.1e3.key",   "",
    };
    for (size_t i = 0; i < OC_COUNT(not ); i++)
        assert_false(oc_kv_match("past_key_values.%d.key", not [i], &layer));
}

/* Input, new part and output of one cache, joined by Concat along `axis`; the new part is computed from `x`.
 */
static void add_cache(struct oc_builder *b, const char *past, const char *present, const char *type,
                      const char *fresh, int axis)
{
    char in[128], at[32];
    oc_b_input(b, past, type);
    oc_b_output(b, present, NULL);
    snprintf(in, sizeof(in), "%s,%s", past, fresh);
    snprintf(at, sizeof(at), "axis=%d", axis);
    oc_b_node(b, "Concat", NULL, in, present, at);
}

/* input_ids to h[batch, 4, new, 8], four heads of 8, and logits of 10 words */
static struct oc_builder *begin_model(const char *ids)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "input_ids", ids);
    oc_b_output(b, "logits", NULL);
    oc_b_init(b, "table", "float[10,32]");
    oc_b_init(b, "out", "float[32,10]");
    oc_b_init(b, "split", "int64[4]{0,0,4,8}");
    oc_b_node(b, "Gather", NULL, "table,input_ids", "e", "");
    oc_b_node(b, "Reshape", NULL, "e,split", "r", "");
    oc_b_node(b, "Transpose", NULL, "r", "h", "perm=0,2,1,3");
    oc_b_node(b, "MatMul", NULL, "e,out", "logits", "");
    return b;
}

/* The four naming schemes of a pair; keys and values of one layer. 2 * 4 * 8 * 4 = 256 bytes per token. */
static void finds_caches_by_all_naming_schemes(void **state)
{
    (void)state;
    static const char *const names[][4] = {
        {"past_key_values.0.key", "present.0.key", "past_key_values.0.value", "present.0.value"},
        {"past_key_values.3.decoder.key", "present.3.decoder.key", "past_key_values.3.decoder.value",
         "present.3.decoder.value"},
        {"past_key_self_0", "present_key_self_0", "past_value_self_0", "present_value_self_0"},
        {"past_key_0", "present_key_0", "past_value_0", "present_value_0"},
    };
    for (size_t i = 0; i < OC_COUNT(names); i++) {
        struct oc_builder *b = begin_model("int64[batch,sequence]");
        for (int k = 0; k < 4; k += 2)
            add_cache(b, names[i][k], names[i][k + 1], "float[batch,4,past,8]", "h", 2);
        struct case_ c = expect_ok(b, &plain);
        const struct oc_llm_facts *f = oc_llm_facts(c.l);
        assert_int_equal(f->layers, 1);
        assert_int_equal(f->kv_pairs, 2);
        assert_int_equal(f->kv_heads, 4);
        assert_int_equal(f->head_size, 8);
        assert_int_equal(f->vocabulary, 10);
        assert_int_equal(f->kv_bytes_per_token, 256);
        assert_int_equal(oc_llm_diags(c.l, &(const struct oc_diag *){NULL}), 0);
        /* of 2 sequences: 5 tokens in, 6 out */
        assert_int_equal(count_part(&c, OC_LLM_PART_LAST).kv_read, 2 * 5 * 256);
        assert_int_equal(count_part(&c, OC_LLM_PART_LAST).kv_written, 2 * 6 * 256);
        case_free(&c);
    }
}

/* Names that say nothing: keys are read before the Softmax, values after it; an extended input that no
 * product reads is not a cache. */
static void finds_caches_by_structure_without_names(void **state)
{
    (void)state;
    struct oc_builder *b = begin_model("int64[batch,sequence]");
    add_cache(b, "b0", "o1", "float[batch,4,past,8]", "h", 2);
    add_cache(b, "a7", "o0", "float[batch,4,past,8]", "h", 2);
    add_cache(b, "other", "o2", "float[batch,4,past,8]", "h", 2);
    oc_b_node(b, "Transpose", NULL, "o1", "kt", "perm=0,1,3,2");
    oc_b_node(b, "MatMul", NULL, "h,kt", "scores", "");
    oc_b_node(b, "Softmax", NULL, "scores", "weights", "axis=-1");
    oc_b_node(b, "MatMul", NULL, "weights,o0", "context", "");
    oc_b_output(b, "context", NULL);
    struct case_ c = expect_ok(b, &plain);
    const struct oc_llm_facts *f = oc_llm_facts(c.l);
    assert_int_equal(f->layers, 1);
    assert_int_equal(f->kv_pairs, 2);
    assert_int_equal(f->kv_heads, 4);
    assert_int_equal(f->kv_bytes_per_token, 256);
    assert_int_equal(count_part(&c, OC_LLM_PART_LAST).kv_read, 2 * 5 * 256);
    case_free(&c);
}

/* Keys and values in one tensor of 2 x batch x heads x length x size. */
static void finds_one_tensor_per_layer(void **state)
{
    (void)state;
    struct oc_builder *b = begin_model("int64[batch,sequence]");
    oc_b_init(b, "axis0", "int64[1]{0}");
    oc_b_node(b, "Unsqueeze", NULL, "h,axis0", "k", "");
    oc_b_node(b, "Concat", NULL, "k,k", "kv", "axis=0");
    add_cache(b, "past_0", "present_0", "float[2,batch,4,past,8]", "kv", 3);
    struct case_ c = expect_ok(b, &plain);
    const struct oc_llm_facts *f = oc_llm_facts(c.l);
    assert_int_equal(f->kv_pairs, 1);
    assert_int_equal(f->kv_heads, 4);
    assert_int_equal(f->head_size, 8);
    assert_int_equal(f->kv_bytes_per_token, 256);
    assert_int_equal(count_part(&c, OC_LLM_PART_FIRST).kv_written, 2 * 5 * 256);
    case_free(&c);
}

/* Transposed keys, as in some decoders. */
static void finds_transposed_keys(void **state)
{
    (void)state;
    struct oc_builder *b = begin_model("int64[batch,sequence]");
    oc_b_node(b, "Transpose", NULL, "h", "t", "perm=0,1,3,2");
    add_cache(b, "past_key_values.0.key", "present.0.key", "float[batch,4,8,past]", "t", 3);
    add_cache(b, "past_key_values.0.value", "present.0.value", "float[batch,4,past,8]", "h", 2);
    struct case_ c = expect_ok(b, &plain);
    assert_int_equal(oc_llm_facts(c.l)->kv_heads, 4);
    assert_int_equal(oc_llm_facts(c.l)->head_size, 8);
    assert_int_equal(oc_llm_facts(c.l)->kv_bytes_per_token, 256);
    assert_false(oc_llm_facts(c.l)->uneven);
    case_free(&c);
}

/* One key and value for all heads, concatenated: batch x length x 2 sizes. */
static void finds_multi_query_cache(void **state)
{
    (void)state;
    struct oc_builder *b = begin_model("int64[batch,sequence]");
    add_cache(b, "past_key_values.0.key_value", "present.0.key_value", "float[batch,past,32]", "e", 1);
    struct case_ c = expect_ok(b, &plain);
    assert_int_equal(oc_llm_facts(c.l)->kv_heads, 1);
    assert_int_equal(oc_llm_facts(c.l)->head_size, 16);
    assert_int_equal(oc_llm_facts(c.l)->kv_bytes_per_token, 32 * 4);
    case_free(&c);
}

/* The length used by GroupQueryAttention may be a number given as an input: 2 sequences, 4 heads of 8, two
 * products: 2 * 4 * (past + 1) * 16 MACs and 2 * 32 * 10 for the logits. */
static void cache_length_may_be_a_numeric_input(void **state)
{
    (void)state;
    struct oc_builder *b = begin_model("int64[batch,sequence]");
    oc_b_opset(b, "com.microsoft", 1);
    oc_b_input(b, "total_sequence_length", "int32[]");
    oc_b_input(b, "seqlens_k", "int32[batch]");
    oc_b_input(b, "past_key_values.0.key", "float[batch,4,past,8]");
    oc_b_input(b, "past_key_values.0.value", "float[batch,4,past,8]");
    oc_b_output(b, "present.0.key", NULL);
    oc_b_output(b, "present.0.value", NULL);
    oc_b_output(b, "y", NULL);
    oc_b_node(b, "com.microsoft::GroupQueryAttention", NULL,
              "e,e,e,past_key_values.0.key,past_key_values.0.value,seqlens_k,total_sequence_length",
              "y,present.0.key,present.0.value", "num_heads=4 kv_num_heads=4");
    struct case_ c = expect_ok(b, &plain);
    assert_int_equal(c.l->sizes.n_scalar, 1);
    assert_int_equal(oc_llm_facts(c.l)->heads, 4);
    struct oc_llm_counts k = count_part(&c, OC_LLM_PART_LAST);
    assert_int_equal(k.quality, OC_EXACT);
    assert_int_equal(k.macs, 2 * 4 * 6 * 16 + 2 * 32 * 10);
    assert_int_equal(k.kv_read, 2 * 5 * 256);
    assert_int_equal(k.kv_written, 2 * 256); /* past and present are one buffer */
    case_free(&c);
}

/* MoE reads the number of experts from input 2: absent, or a scalar, it says nothing. */
static void experts_need_weights(void **state)
{
    (void)state;
    for (int scalar = 0; scalar < 2; scalar++) {
        struct oc_builder *b = begin_model("int64[batch,sequence]");
        oc_b_opset(b, "com.microsoft", 1);
        oc_b_input(b, "total_sequence_length", "int32[]");
        oc_b_input(b, "seqlens_k", "int32[batch]");
        oc_b_input(b, "router", "float[8,4]");
        oc_b_input(b, "past_key_values.0.key", "float[batch,4,past,8]");
        oc_b_input(b, "past_key_values.0.value", "float[batch,4,past,8]");
        oc_b_init(b, "one", "float[]{1}");
        oc_b_output(b, "present.0.key", NULL);
        oc_b_output(b, "present.0.value", NULL);
        oc_b_output(b, "y", NULL);
        oc_b_node(b, "com.microsoft::GroupQueryAttention", NULL,
                  "e,e,e,past_key_values.0.key,past_key_values.0.value,seqlens_k,total_sequence_length",
                  "a,present.0.key,present.0.value", "num_heads=4 kv_num_heads=4");
        oc_b_node(b, "com.microsoft::MoE", NULL, scalar ? "a,router,one" : "a,router,", "y", "k=1");
        struct case_ c = expect_ok(b, &plain);
        assert_true(c.l->experts.n < 0);
        case_free(&c);
    }
}

/* ---- encoder and decoder ---- */

/* Decoder of a T5: its own cache grows, the cache of the encoder is only read. With 9 encoder positions both
 * sequences read 2 * 9 * 2 * 4 * 8 * 4 = 4,608 bytes of it in one MatMul each. */
static struct oc_builder *t5(bool with_present)
{
    struct oc_builder *b = begin_model("int64[batch,sequence]");
    add_cache(b, "past_key_values.0.decoder.key", "present.0.decoder.key",
              "float[batch,4,past_decoder_sequence_length,8]", "h", 2);
    add_cache(b, "past_key_values.0.decoder.value", "present.0.decoder.value",
              "float[batch,4,past_decoder_sequence_length,8]", "h", 2);
    for (int k = 0; k < 2; k++) {
        const char *past = k ? "past_key_values.0.encoder.value" : "past_key_values.0.encoder.key";
        const char *present = k ? "present.0.encoder.value" : "present.0.encoder.key";
        oc_b_input(b, past, "float[batch,4,encoder_sequence_length,8]");
        oc_b_node(b, "ReduceSum", NULL, past, k ? "s1" : "s0", "keepdims=0");
        if (!with_present)
            continue;
        oc_b_node(b, "Identity", NULL, past, present, "");
        oc_b_output(b, present, NULL);
    }
    oc_b_node(b, "Add", NULL, "s0,s1", "s", "");
    oc_b_output(b, "s", NULL);
    return b;
}

static void encoder_cache_is_read_and_does_not_grow(void **state)
{
    (void)state;
    const struct oc_bind bind = {"encoder_sequence_length", 9};
    const struct oc_analyze_opts analyze = {.bind = &bind, .n_bind = 1};
    struct oc_llm_opts o = plain;
    o.analyze = &analyze;
    for (int with_present = 0; with_present < 2; with_present++) {
        struct case_ c = expect_ok(t5(with_present), &o);
        const struct oc_llm_facts *f = oc_llm_facts(c.l);
        assert_int_equal(f->layers, 1);
        assert_int_equal(f->kv_pairs, 2);
        assert_int_equal(f->cross_pairs, 2);
        assert_int_equal(f->kv_bytes_per_token, 256);
        assert_int_equal(f->cross_bytes_per_token, 256);
        struct oc_llm_counts first = count_part(&c, OC_LLM_PART_FIRST),
                             last = count_part(&c, OC_LLM_PART_LAST);
        assert_int_equal(last.kv_read - first.kv_read,
                         2 * 256); /* one token more; the encoder cache has the same size */
        case_free(&c);
    }
}

/* ---- merged decoders: a branch with and one without the cache ---- */

/* then: Concat of past and new; else: only the new keys, of a first run. */
static struct oc_builder *merged(void)
{
    struct oc_builder *b = begin_model("int64[batch,sequence]");
    oc_b_input(b, "use_cache_branch", "bool[1]");
    oc_b_input(b, "past_key_values.0.key", "float[batch,4,past,8]");
    oc_b_output(b, "present.0.key", NULL);
    oc_b_node(b, "If", "merged", "use_cache_branch", "present.0.key", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, "Concat", NULL, "past_key_values.0.key,h", "with", "axis=2");
    oc_b_output(b, "with", NULL);
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_node(b, "Mul", NULL, "h,h", "without", "");
    oc_b_output(b, "without", NULL);
    oc_b_close(b);
    return b;
}

static void merged_decoder_uses_the_branch_of_each_phase(void **state)
{
    (void)state;
    struct case_ c = expect_ok(merged(), &plain);
    assert_int_equal(c.l->sizes.n_branch, 1);
    /* prefill: Mul of 2*4*4*8 elements; decode step: Concat computes nothing */
    struct oc_llm_counts prompt = count_part(&c, OC_LLM_PART_PREFILL),
                         token = count_part(&c, OC_LLM_PART_FIRST);
    assert_int_equal(prompt.flops, 2 * prompt.macs + 2 * 4 * 4 * 8);
    assert_int_equal(token.flops, 2 * token.macs);
    assert_int_equal(token.kv_read, 2 * 4 * 128);
    case_free(&c);
}

/* ---- sizes ---- */

static void mask_of_one_token_gives_the_length(void **state)
{
    (void)state;
    struct oc_builder *b = begin_model("int64[batch_size,sequence_length]");
    add_cache(b, "past_key_values.0.key", "present.0.key", "float[batch_size,4,past_sequence_length,8]", "h",
              2);
    oc_b_input(b, "attention_mask", "int64[batch_size,past_sequence_length + 1]");
    oc_b_node(b, "Cast", NULL, "attention_mask", "mask", "to=1");
    oc_b_output(b, "mask", NULL);
    struct case_ c = expect_ok(b, &plain);
    struct oc_analysis *a;
    struct oc_err err;
    assert_int_equal(oc_llm_analyze(c.l, (struct oc_llm_at){2, 4, 0}, &a, &err), 0);
    for (uint32_t v = 0; v < c.m->n_value; v++)
        if (!strcmp(c.m->value[v].name, "mask"))
            assert_string_equal(oc_type_text(&a->arena, a->exprs, &a->type[v]), "float[2,4]");
    oc_analysis_free(a);
    case_free(&c);
}

/* One token at a time: no prefill, only decode steps. */
static void model_of_one_token_has_no_prefill(void **state)
{
    (void)state;
    struct oc_builder *b = begin_model("int64[batch,1]");
    add_cache(b, "past_key_values.0.key", "present.0.key", "float[batch,4,past,8]", "h", 2);
    struct case_ c = expect_ok(b, &plain);
    struct oc_llm_counts k;
    assert_false(oc_llm_run(c.l, OC_LLM_PART_PREFILL, &k));
    assert_non_null(strstr(c.l->failure[OC_LLM_PREFILL], "1 new token per run, not 4"));
    assert_int_equal(count_part(&c, OC_LLM_PART_FIRST).kv_read, 2 * 4 * 128);
    assert_false(oc_llm_run(c.l, OC_LLM_PART_WHOLE, &k));
    case_free(&c);
}

/* A cache of fixed length, written in place: each token costs the same. */
static void fixed_length_cache_has_constant_step_cost(void **state)
{
    (void)state;
    struct oc_builder *b = begin_model("int64[1,1]");
    oc_b_input(b, "past_key_values.0.key", "float[1,4,64,8]");
    oc_b_input(b, "at", "int64[1,4,1,8]");
    oc_b_node(b, "ScatterElements", NULL, "past_key_values.0.key,at,h", "present.0.key", "axis=2");
    oc_b_output(b, "present.0.key", NULL);
    const struct oc_llm_opts o = {.batch = 1, .prompt = 10, .generate = 5};
    struct case_ c = expect_ok(b, &o);
    assert_int_equal(c.l->sizes.fixed[OC_LLM_PAST], 64);
    assert_int_equal(count_part(&c, OC_LLM_PART_FIRST).bytes_written,
                     count_part(&c, OC_LLM_PART_LAST).bytes_written);
    case_free(&c);
    b = begin_model("int64[1,1]");
    add_cache(b, "past_key_values.0.key", "present.0.key", "float[1,4,past,8]", "h", 2);
    c = analyze_case(b, &plain); /* of 2 sequences */
    assert_null(c.l);
    assert_non_null(strstr(c.err.msg, "has a fixed batch of 1, not 2"));
    case_free(&c);
}

/* ---- windows ---- */

/* The test model with GroupQueryAttention over a window of `keys` keys. */
static struct oc_builder *windowed(int64_t keys)
{
    struct zoo z;
    zoo_init(&z, 17);
    zoo_llama(&z, "toy", ZOO_LLAMA_GENAI, 16);
    Onnx__GraphProto *g = oc_b_model(z.b)->graph;
    for (size_t i = 0; i < g->n_node; i++)
        for (size_t k = 0; k < g->node[i]->n_attribute; k++)
            if (!strcmp(g->node[i]->attribute[k]->name, "local_window_size"))
                g->node[i]->attribute[k]->i = keys;
    struct oc_builder *b = z.b;
    z.b = oc_b_new(17);
    zoo_free(&z);
    return b;
}

/* Each operator sees 8 keys: 7 of the cache and its own. The counts stop growing there, and the sum over the
 * steps still equals that of single runs. */
static void sliding_window_bounds_the_step_cost(void **state)
{
    (void)state;
    const struct oc_llm_opts o = {.batch = 1, .prompt = 2, .generate = 40};
    struct case_ c = expect_ok(windowed(8), &o);
    assert_int_equal(oc_llm_facts(c.l)->window, 8);
    assert_int_equal(oc_llm_facts(c.l)->windowed_layers, 2);
    uint64_t macs = 0, read = 0;
    for (int64_t past = 2; past <= 40; past++) {
        const struct oc_llm_cost *k = oc_llm_cost_at(c.l, (struct oc_llm_at){1, 1, past});
        macs += k->v[OC_LN_MACS];
        read += k->v[OC_LN_KV_READ];
        /* 2 layers, keys and values, 2 heads of 16 float16: 128 bytes of each */
        assert_int_equal(k->v[OC_LN_KV_READ], 2 * 128 * (past < 7 ? past : 7));
    }
    assert_int_equal(count_part(&c, OC_LLM_PART_STEPS).macs, macs);
    assert_int_equal(count_part(&c, OC_LLM_PART_STEPS).kv_read, read);
    assert_true(c.l->steps && c.l->steps->next);
    case_free(&c);
}

/* Closed forms for the side of the window that the generation is on: below it a token reads the whole cache,
 * above it 63 tokens. */
static void closed_forms_respect_the_window(void **state)
{
    (void)state;
    for (int behind = 0; behind < 2; behind++) {
        const struct oc_llm_opts o = {.batch = 1, .prompt = behind ? 100 : 10, .generate = 5};
        struct case_ c = expect_ok(windowed(64), &o);
        const struct oc_llm_law *law = &c.l->decode_law;
        uint64_t read;
        assert_int_equal(law->from, behind ? 64 : 1);
        assert_int_equal(law->to, behind ? 32768 : 63);
        assert_true(oc_llm_law_at(law, OC_LN_KV_READ, 3, behind ? 5000 : 20, &read));
        assert_int_equal(read, 3 * 2 * 128 * (behind ? 63 : 20));
        assert_true(c.l->prefill_law.found[OC_LN_MACS]);
        case_free(&c);
    }
}

/* A cost that depends on the last bit of the length has no closed form: the sum over many steps is unknown,
 * and that is detected early. */
static void cost_without_a_closed_form_is_unknown(void **state)
{
    (void)state;
    const struct oc_llm_opts o = {.batch = 1, .prompt = 1, .generate = 100000};
    struct oc_builder *b = begin_model("int64[batch,sequence]");
    add_cache(b, "past_key_values.0.key", "present.0.key", "float[batch,4,past,8]", "h", 2);
    oc_b_node(b, "MaxPool", NULL, "present.0.key", "pool", "kernel_shape=1,1 strides=2,1");
    oc_b_node(b, "Relu", NULL, "pool", "last", "");
    oc_b_output(b, "last", NULL);
    struct case_ c = expect_ok(b, &o);
    struct oc_llm_counts k;
    assert_true(oc_llm_run(c.l, OC_LLM_PART_LAST, &k));
    assert_false(oc_llm_run(c.l, OC_LLM_PART_STEPS, &k));
    assert_true(c.l->n_known < 2000);
    case_free(&c);
}

/* ---- graphs without a cache ---- */

static void graphs_without_a_cache_are_rejected(void **state)
{
    (void)state;
    expect_error(begin_model("int64[batch,sequence]"), OC_EUNSUPPORTED, "no KV cache");
    /* a past without present */
    struct oc_builder *b = begin_model("int64[batch,sequence]");
    oc_b_input(b, "past_key_values.0.key", "float[batch,4,past,8]");
    expect_error(b, OC_EUNSUPPORTED, "no present output matches this past");
    /* a present computed from something else */
    b = begin_model("int64[batch,sequence]");
    oc_b_input(b, "past_key_values.0.key", "float[batch,4,past,8]");
    oc_b_node(b, "Concat", NULL, "h,h", "present.0.key", "axis=2");
    oc_b_output(b, "present.0.key", NULL);
    expect_error(b, OC_EUNSUPPORTED, "not computed from it");
    /* no shape of keys */
    b = begin_model("int64[batch,sequence]");
    add_cache(b, "past_key_values.0.key", "present.0.key", "float[batch]", "h", 0);
    expect_error(b, OC_EUNSUPPORTED, "does not match keys or values");
    b = begin_model("int64[batch,sequence]");
    add_cache(b, "past_key_values.0.key", "present.0.key", "float", "h", 0);
    expect_error(b, OC_EUNSUPPORTED, "does not match keys or values");
}

/* One rejected pair leaves the others valid. */
static void one_rejected_pair_does_not_affect_the_others(void **state)
{
    (void)state;
    struct oc_builder *b = begin_model("int64[batch,sequence]");
    add_cache(b, "past_key_values.0.key", "present.0.key", "float[batch,4,past,8]", "h", 2);
    oc_b_input(b, "past_key_values.1.key", "float[batch,4,past,8]");
    struct case_ c = expect_ok(b, &plain);
    const struct oc_diag *d;
    assert_int_equal(oc_llm_facts(c.l)->kv_pairs, 1);
    assert_int_equal(oc_llm_diags(c.l, &d), 1);
    assert_string_equal(d[0].code, "W-kv-left-out");
    assert_string_equal(d[0].where, "past_key_values.1.key");
    case_free(&c);
}

static void contradicting_symbol_roles_are_rejected(void **state)
{
    (void)state;
    struct oc_builder *b = begin_model("int64[batch,n]");
    add_cache(b, "past_key_values.0.key", "present.0.key", "float[batch,4,n,8]", "h", 2);
    expect_error(b, OC_EUNSUPPORTED, "'n' has two roles: tokens in the cache and new tokens");
    b = oc_b_new(17);
    oc_b_input(b, "y", "float[batch,4,1,8]");
    add_cache(b, "past_key_values.0.key", "present.0.key", "float[batch,4,past,8]", "y", 2);
    expect_error(b, OC_EUNSUPPORTED, "no input for the new tokens");
}

/* ---- malformed input ---- */

/* Contradicting shapes, sizes near the ends of 64 bits, pairs that share one node or one past: the result is
 * an answer or an error. */
static void malformed_caches_give_an_answer_or_an_error(void **state)
{
    (void)state;
    static const char *const type[] = {
        "float[batch,4,past,9223372036854775807]",
        "float[9223372036854775807,4,past,8]",
        "float[batch,0,past,8]",
        "float[batch,4,past,0]",
        "float[a,b,c,d]",
        "float[?,?,?,?]",
        "string[batch,4,past,8]",
        "float[7,7,7,7]",
        "float[past,4,batch,8]",
    };
    const struct oc_llm_opts o = {.batch = 1000000000, .prompt = 1000000, .generate = 1000000};
    for (size_t i = 0; i < OC_COUNT(type); i++)
        for (int big = 0; big < 2; big++) {
            struct oc_builder *b = begin_model("int64[batch,sequence]");
            add_cache(b, "past_key_values.0.key", "present.0.key", type[i], "h", 2);
            add_cache(b, "past_key_values.65535.value", "present.65535.value", type[i],
                      "past_key_values.0.key", 2);
            struct case_ c = analyze_case(b, big ? &o : &plain);
            if (c.l) {
                FILE *f = tmpfile();
                assert_int_equal(oc_llm_write(c.l, NULL, f, &c.err), 0);
                assert_int_equal(oc_llm_write(c.l, "json", f, &c.err), 0);
                assert_int_equal(oc_llm_write(c.l, "csv", f, &c.err), 0);
                assert_int_equal(oc_llm_write(c.l, "xml", f, &c.err), -1);
                fclose(f);
            }
            case_free(&c);
        }
}

/* Thousands of pasts that one node reads. */
static void thousands_of_pairs_are_analyzed(void **state)
{
    (void)state;
    enum { N = 3000 };
    struct oc_builder *b = begin_model("int64[batch,sequence]");
    char *all = malloc(N * 40 + 1), name[64];
    size_t n = 0;
    for (int i = 0; i < N; i++) {
        n += (size_t)snprintf(all + n, 40, "%spast_key_values.%d.key", i ? "," : "", i);
        snprintf(name, sizeof(name), "past_key_values.%d.key", i);
        oc_b_input(b, name, "float[batch,4,past,8]");
        snprintf(name, sizeof(name), "present.%d.key", i);
        oc_b_output(b, name, NULL);
        oc_b_node(b, "Identity", NULL, "joined", name, "");
    }
    oc_b_node(b, "Concat", NULL, all, "joined", "axis=2");
    free(all);
    struct case_ c = analyze_case(b, &(const struct oc_llm_opts){.batch = 1, .prompt = 1, .generate = 1});
    case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cache_name_patterns_match_layers),
        cmocka_unit_test(finds_caches_by_all_naming_schemes),
        cmocka_unit_test(finds_caches_by_structure_without_names),
        cmocka_unit_test(finds_one_tensor_per_layer),
        cmocka_unit_test(finds_transposed_keys),
        cmocka_unit_test(finds_multi_query_cache),
        cmocka_unit_test(cache_length_may_be_a_numeric_input),
        cmocka_unit_test(experts_need_weights),
        cmocka_unit_test(encoder_cache_is_read_and_does_not_grow),
        cmocka_unit_test(merged_decoder_uses_the_branch_of_each_phase),
        cmocka_unit_test(mask_of_one_token_gives_the_length),
        cmocka_unit_test(model_of_one_token_has_no_prefill),
        cmocka_unit_test(fixed_length_cache_has_constant_step_cost),
        cmocka_unit_test(sliding_window_bounds_the_step_cost),
        cmocka_unit_test(closed_forms_respect_the_window),
        cmocka_unit_test(cost_without_a_closed_form_is_unknown),
        cmocka_unit_test(graphs_without_a_cache_are_rejected),
        cmocka_unit_test(one_rejected_pair_does_not_affect_the_others),
        cmocka_unit_test(contradicting_symbol_roles_are_rejected),
        cmocka_unit_test(malformed_caches_give_an_answer_or_an_error),
        cmocka_unit_test(thousands_of_pairs_are_analyzed),
    };
    return cmocka_run_group_tests_name("kv_cache", tests, NULL, NULL);
}
