/* Text generation: an encoder or first run once, the decoder for every new token. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/analysis.h"
#include "support/build.h"
#include "onnxcost.h"

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

static void result_free(struct result *r)
{
    oc_analysis_free(r->a);
    oc_model_free(r->m);
    free(r->bytes);
}

static uint64_t total_macs(const struct result *r)
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

/* Words to logits over a vocabulary of 100: 1,600 MACs per token. */
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

static struct oc_builder *begin_model(const char *ids)
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

/* 12 tokens after a prompt of 8, for 2 sentences with 3 beams each; the body has its own symbols. */
static void beam_search_runs_the_decoder_per_token_and_beam(void **state)
{
    (void)state;
    struct oc_builder *b = begin_model("int32[batch,seq]");
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
    assert_int_equal(total_macs(&r), 12 * 6 * 1600);
    result_free(&r);
}

/* The first run processes the prompt; the decoder generates the other 11 tokens. */
static void first_run_processes_the_prompt(void **state)
{
    (void)state;
    struct oc_builder *b = begin_model("int32[2,8]");
    oc_b_node(b, "com.microsoft::GreedySearch", "search", "ids,longest", "y", "eos_token_id=1");
    language_body(b, "decoder", "step");
    language_body(b, "init_decoder", "first");
    oc_b_output(b, "y", NULL);
    struct result r = run(b, NULL);
    assert_string_equal(type_of(&r, "y"), "int32[2,20]");
    assert_string_equal(type_of(&r, "first_logits"), "float[2,8,100]");
    assert_int_equal(total_macs(&r), 2 * 8 * 1600 + 11 * 2 * 1600);
    result_free(&r);
}

/* After an encoder the sequence starts with one token: 19 are generated. */
static void decoder_after_an_encoder_starts_with_one_token(void **state)
{
    (void)state;
    struct oc_builder *b = begin_model("int32[2,8]");
    oc_b_node(b, "com.microsoft::Sampling", "search", "ids,longest", "y", "eos_token_id=1");
    language_body(b, "decoder", "step");
    language_body(b, "encoder", "enc");
    oc_b_output(b, "y", NULL);
    struct result r = run(b, NULL);
    assert_string_equal(type_of(&r, "enc_logits"), "float[2,8,100]");
    assert_int_equal(total_macs(&r), 2 * 8 * 1600 + 19 * 2 * 1600);
    result_free(&r);
}

/* Audio input: the encoder processes it, the decoder starts with one token for each of 2 * 3 beams. */
static void whisper_beam_search_encodes_audio_once(void **state)
{
    (void)state;
    struct oc_builder *b = begin_model("int32[2,8,80]");
    oc_b_node(b, "com.microsoft::WhisperBeamSearch", "search", "ids,longest,,beams,returned", "y",
              "eos_token_id=1");
    language_body(b, "decoder", "step");
    oc_b_output(b, "y", NULL);
    struct result r = run(b, NULL);
    assert_string_equal(type_of(&r, "y"), "int32[2,2,20]");
    assert_string_equal(type_of(&r, "step_logits"), "float[6,1,100]");
    assert_int_equal(total_macs(&r), 19 * 6 * 1600);
    result_free(&r);
}

/* An unknown length counts one token as a lower bound; --trip sets the number. */
static void unknown_length_counts_one_token_as_a_lower_bound(void **state)
{
    (void)state;
    for (int given = 0; given < 2; given++) {
        struct oc_builder *b = begin_model("int32[2,8]");
        oc_b_input(b, "until", "int32[1]");
        oc_b_node(b, "com.microsoft::GreedySearch", "search", "ids,until", "y", "eos_token_id=1");
        language_body(b, "decoder", "step");
        oc_b_output(b, "y", NULL);
        const struct oc_bind trip = {"search", 7};
        struct result r = run(b, &(struct oc_analyze_opts){.trip = &trip, .n_trip = given ? 1 : 0});
        struct oc_totals t;
        oc_analysis_total(r.a, &t);
        assert_string_equal(type_of(&r, "y"), "int32[2,max_length]");
        assert_int_equal(total_macs(&r), (given ? 7 : 1) * 2 * 1600);
        assert_int_equal(t.quality, given ? OC_EST : OC_LOWER);
        result_free(&r);
    }
}

static void missing_decoder_is_an_error(void **state)
{
    (void)state;
    struct oc_builder *b = begin_model("int32[2,8]");
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
        cmocka_unit_test(beam_search_runs_the_decoder_per_token_and_beam),
        cmocka_unit_test(first_run_processes_the_prompt),
        cmocka_unit_test(decoder_after_an_encoder_starts_with_one_token),
        cmocka_unit_test(whisper_beam_search_encodes_audio_once),
        cmocka_unit_test(unknown_length_counts_one_token_as_a_lower_bound),
        cmocka_unit_test(missing_decoder_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
