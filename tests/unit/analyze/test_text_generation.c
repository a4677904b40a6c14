/* Text generation: an encoder or first run once, the decoder for every new token. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/analysis.h"
#include "support/build.h"

struct result {
    struct oc_model *m;
    struct oc_analysis *a;
    uint8_t *bytes;
};

static struct result run(struct oc_builder *b, const struct oc_analyze_opts *o)
{
    struct result r;
    struct oc_err err = {0};
    size_t n;
    r.bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(r.bytes, n, NULL, &r.m, &err) || oc_analyze(r.m, o, &r.a, &err))
        fail_msg("%s", err.msg);
    for (size_t i = 0; i < r.a->diags.n; i++)
        if (r.a->diags.item[i].severity == OC_ERROR)
            fail_msg("%s", r.a->diags.item[i].text);
    return r;
}

static void drop(struct result *r)
{
    oc_analysis_free(r->a);
    oc_model_free(r->m);
    free(r->bytes);
}

static uint64_t macs(const struct result *r)
{
    struct oc_totals t;
    oc_analysis_total(r->a, &t);
    return t.macs;
}

static const char *type_of(struct result *r, const char *name)
{
    for (uint32_t i = 0; i < r->m->n_value; i++)
        if (strcmp(r->m->value[i].name, name) == 0)
            return oc_type_text(&r->a->arena, r->a->exprs, &r->a->type[i]);
    return "no such value";
}

/* Words to logits over a vocabulary of 100: 1,600 MACs a token. */
static void language_body(struct oc_builder *b, const char *attribute, const char *prefix)
{
    char words[32], states[32], logits[32];
    snprintf(words, sizeof(words), "%s_ids", prefix);
    snprintf(states, sizeof(states), "%s_state", prefix);
    snprintf(logits, sizeof(logits), "%s_logits", prefix);
    oc_b_open(b, attribute);
    oc_b_input(b, words, "int32[batch,seq]");
    oc_b_input(b, "past_0", "float[2,batch,4,past,8]");
    oc_b_node(b, "Gather", NULL, oc_printf(oc_b_arena(b), "table,%s", words), states, "");
    oc_b_node(b, "MatMul", NULL, oc_printf(oc_b_arena(b), "%s,w", states), logits, "");
    oc_b_output(b, logits, NULL);
    oc_b_close(b);
}

static struct oc_builder *begin(const char *ids)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "com.microsoft", 1);
    oc_b_input(b, "ids", ids);
    oc_b_init(b, "longest", "int32[1]{20}");
    oc_b_init(b, "beams", "int32[1]{3}");
    oc_b_init(b, "returned", "int32[1]{2}");
    oc_b_init(b, "table", "float[100,16]");
    oc_b_init(b, "w", "float[16,100]");
    return b;
}

/* 12 tokens behind a prompt of 8, for 2 sentences with 3 beams each; the body's symbols are its own. */
static void test_beams(void **state)
{
    (void)state;
    struct oc_builder *b = begin("int32[batch,seq]");
    oc_b_node(b, "com.microsoft::BeamSearch", "search", "ids,longest,,beams,returned", "y,scores",
              "eos_token_id=1");
    language_body(b, "decoder", "step");
    oc_b_output(b, "y", NULL);
    const struct oc_bind bind[] = {{"batch", 2}, {"seq", 8}};
    struct result r = run(b, &(struct oc_analyze_opts){.bind = bind, .n_bind = 2});
    assert_string_equal(type_of(&r, "y"), "int32[2,2,20]");
    assert_string_equal(type_of(&r, "scores"), "float[2,2]");
    assert_string_equal(type_of(&r, "step_logits"), "float[6,1,100]");
    assert_string_equal(type_of(&r, "ids"), "int32[2,8]");
    assert_int_equal(macs(&r), 12 * 6 * 1600);
    drop(&r);
}

/* The first run sees the prompt; 11 tokens are left to the decoder. */
static void test_first_run(void **state)
{
    (void)state;
    struct oc_builder *b = begin("int32[2,8]");
    oc_b_node(b, "com.microsoft::GreedySearch", "search", "ids,longest", "y", "eos_token_id=1");
    language_body(b, "decoder", "step");
    language_body(b, "init_decoder", "first");
    oc_b_output(b, "y", NULL);
    struct result r = run(b, NULL);
    assert_string_equal(type_of(&r, "y"), "int32[2,20]");
    assert_string_equal(type_of(&r, "first_logits"), "float[2,8,100]");
    assert_int_equal(macs(&r), 2 * 8 * 1600 + 11 * 2 * 1600);
    drop(&r);
}

/* Behind an encoder the sequence begins with one token: 19 are made. */
static void test_encoder(void **state)
{
    (void)state;
    struct oc_builder *b = begin("int32[2,8]");
    oc_b_node(b, "com.microsoft::Sampling", "search", "ids,longest", "y", "eos_token_id=1");
    language_body(b, "decoder", "step");
    language_body(b, "encoder", "enc");
    oc_b_output(b, "y", NULL);
    struct result r = run(b, NULL);
    assert_string_equal(type_of(&r, "enc_logits"), "float[2,8,100]");
    assert_int_equal(macs(&r), 2 * 8 * 1600 + 19 * 2 * 1600);
    drop(&r);
}

/* Audio to begin with: the encoder sees it, the decoder begins with one token for each of 2 * 3 beams. */
static void test_audio(void **state)
{
    (void)state;
    struct oc_builder *b = begin("int32[2,8,80]");
    oc_b_node(b, "com.microsoft::WhisperBeamSearch", "search", "ids,longest,,beams,returned", "y",
              "eos_token_id=1");
    language_body(b, "decoder", "step");
    oc_b_output(b, "y", NULL);
    struct result r = run(b, NULL);
    assert_string_equal(type_of(&r, "y"), "int32[2,2,20]");
    assert_string_equal(type_of(&r, "step_logits"), "float[6,1,100]");
    assert_int_equal(macs(&r), 19 * 6 * 1600);
    drop(&r);
}

/* An unknown length counts one token, and less than what is run; --trip says how many. */
static void test_unknown_length(void **state)
{
    (void)state;
    for (int given = 0; given < 2; given++) {
        struct oc_builder *b = begin("int32[2,8]");
        oc_b_input(b, "until", "int32[1]");
        oc_b_node(b, "com.microsoft::GreedySearch", "search", "ids,until", "y", "eos_token_id=1");
        language_body(b, "decoder", "step");
        oc_b_output(b, "y", NULL);
        const struct oc_bind trip = {"search", 7};
        struct result r = run(b, &(struct oc_analyze_opts){.trip = &trip, .n_trip = given ? 1 : 0});
        struct oc_totals t;
        oc_analysis_total(r.a, &t);
        assert_string_equal(type_of(&r, "y"), "int32[2,max_length]");
        assert_int_equal(macs(&r), (given ? 7 : 1) * 2 * 1600);
        assert_int_equal(t.quality, given ? OC_EST : OC_LOWER);
        drop(&r);
    }
}

static void test_missing_decoder(void **state)
{
    (void)state;
    struct oc_builder *b = begin("int32[2,8]");
    oc_b_node(b, "com.microsoft::GreedySearch", "search", "ids,longest", "y", "eos_token_id=1");
    oc_b_output(b, "y", NULL);
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_err err = {0};
    size_t n;
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    assert_int_equal(oc_model_load_mem(bytes, n, NULL, &m, &err), 0);
    assert_int_equal(oc_analyze(m, NULL, &a, &err), -1);
    assert_non_null(strstr(err.msg, "node 'search' (GreedySearch): the decoder is missing"));
    oc_model_free(m);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beams),          cmocka_unit_test(test_first_run),
        cmocka_unit_test(test_encoder),        cmocka_unit_test(test_audio),
        cmocka_unit_test(test_unknown_length), cmocka_unit_test(test_missing_decoder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
