/* The Llama-style decoders: parameters, multiply-accumulates and cache, with the calculation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/run_model.h"
#include "zoo.h"
#include "onnxcost.h"

static struct oc_run run_llama(const char *size, enum zoo_llama_layout layout, int bits, int64_t seq,
                               int64_t past)
{
    const struct oc_bind bind[] = {{"batch_size", 1},
                                   {"sequence_length", seq},
                                   {"past_sequence_length", past},
                                   {"total_sequence_length", seq + past}};
    const struct oc_analyze_opts o = {.bind = bind, .n_bind = layout == ZOO_LLAMA_GENAI ? 4 : 3};
    struct zoo z;
    zoo_init(&z, 17);
    assert_int_equal(zoo_llama(&z, size, layout, bits), 0);
    struct oc_run r = {.a = NULL};
    size_t n;
    r.bytes = oc_b_pack(z.b, &n);
    zoo_free(&z);
    if (oc_model_load_mem(r.bytes, n, NULL, &r.m, &r.err) || oc_analyze(r.m, &o, &r.a, &r.err))
        fail_msg("%s: %s", size, r.err.msg);
    assert_int_equal(r.a->total->quality, OC_EXACT);
    return r;
}

/* Llama 2 7B: width 4096, 32 layers, 32 heads of 128, MLP 11008, 32000 words, own output matrix.
 *   a layer     4 * 4096^2 + 3 * 4096 * 11008                     =   202,375,168 weights
 *   32 layers                                                      = 6,476,005,376
 *   output      4096 * 32000                                       =   131,072,000
 *   in products                                                    = 6,607,077,376
 *   input       32000 * 4096                                       =   131,072,000
 *   norms       (2 * 32 + 1) * 4096                                =       266,240
 *   parameters                                                       6,738,415,616
 * 128 tokens, all positions, nothing in the cache:
 *   products    6,607,077,376 * 128                                = 845,705,904,128
 *   attention   32 layers * 32 heads * 128 queries * 128 keys * (128 + 128) = 4,294,967,296, all pairs
 *   MACs                                                             850,000,871,424 */
static void llama_2_7b_matches_hand_calculation(void **state)
{
    (void)state;
    struct oc_run r = run_llama("7b", ZOO_LLAMA_OPTIMUM, 16, 128, 0);
    assert_int_equal(r.a->total->macs, 850000871424);
    assert_int_equal(r.a->total->params, 6738415616);
    oc_run_free(&r);
}

/* GroupQueryAttention is causal: 128 * 129 / 2 = 8,256 of the 16,384 pairs, so 32 * 32 * 8256 * 256 =
 * 2,164,260,864 MACs, with the products 847,870,164,992. Each weight counts once however it is stored. */
static void causal_attention_counts_visible_pairs(void **state)
{
    (void)state;
    for (int bits = 4; bits <= 16; bits += 12) {
        struct oc_run r = run_llama("7b", ZOO_LLAMA_GENAI, bits, 128, 0);
        assert_int_equal(r.a->total->macs, 847870164992);
        assert_int_equal(r.a->total->params, 6738415616);
        oc_run_free(&r);
    }
}

/* Published: 68,976,648,192 and 1,100,048,384 parameters. 70B, one token after 1000: products (80 * (2 *
 * 8192^2 + 2 * 8192 * 1024 + 3 * 8192 * 28672) + 8192 * 32000) = 68,713,185,280 and attention 80 * 64 * 1001
 * * 256 = 1,312,030,720 MACs. */
static void other_llama_sizes_match_published_counts(void **state)
{
    (void)state;
    for (int genai = 0; genai < 2; genai++) {
        struct oc_run r = run_llama("70b", genai ? ZOO_LLAMA_GENAI : ZOO_LLAMA_OPTIMUM, 16, 1, 1000);
        assert_int_equal(r.a->total->params, 68976648192);
        assert_int_equal(r.a->total->macs, 68713185280 + 1312030720);
        oc_run_free(&r);
        r = run_llama("1b", genai ? ZOO_LLAMA_GENAI : ZOO_LLAMA_OPTIMUM, genai ? 4 : 16, 1, 0);
        assert_int_equal(r.a->total->params, 1100048384);
        oc_run_free(&r);
    }
}

/* A four-bit weight of 4096 x 4096 takes 8,388,608 bytes and, in blocks of 32, 524,288 scales of 2 bytes: 4.5
 * bits per weight. The weights of the products then take 6,607,077,376 * 4.5 / 8 = 3,716,481,024 bytes; the
 * rest stays float16: input 262,144,000, norms 532,480, tables 2 * 4096 * 64 * 2 = 1,048,576; and three
 * constants of eight bytes. */
static void four_bit_weights_count_stored_bytes(void **state)
{
    (void)state;
    struct oc_run r = run_llama("7b", ZOO_LLAMA_GENAI, 4, 1, 0);
    assert_int_equal(r.a->total->const_bytes, 3716481024 + 262144000 + 532480 + 1048576 + 3 * 8);
    oc_run_free(&r);
}

static void llama_inputs_have_optimum_names_and_lengths(void **state)
{
    (void)state;
    struct oc_run r = run_llama("toy", ZOO_LLAMA_OPTIMUM, 4, 3, 5);
    assert_string_equal(oc_run_type(&r, "past_key_values.1.value"), "float16[1,2,5,16]");
    assert_string_equal(oc_run_type(&r, "present.1.value"), "float16[1,2,8,16]");
    assert_string_equal(oc_run_type(&r, "logits"), "float16[1,3,256]");
    oc_run_free(&r);
    struct zoo z;
    zoo_init(&z, 17);
    assert_int_equal(zoo_llama(&z, "13b", ZOO_LLAMA_GENAI, 16), -1);
    assert_int_equal(zoo_llama(&z, "7b", ZOO_LLAMA_GENAI, 5), -1);
    zoo_free(&z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llama_2_7b_matches_hand_calculation),
        cmocka_unit_test(causal_attention_counts_visible_pairs),
        cmocka_unit_test(other_llama_sizes_match_published_counts),
        cmocka_unit_test(four_bit_weights_count_stored_bytes),
        cmocka_unit_test(llama_inputs_have_optimum_names_and_lengths),
    };
    return cmocka_run_group_tests_name("llama", tests, NULL, NULL);
}
