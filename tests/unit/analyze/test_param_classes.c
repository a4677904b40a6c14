/* Classes of constants: which count as parameters (cost-semantics section 6). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "analyze/analysis.h"
#include "onnxcost.h"
#include "support/run_model.h"

static uint64_t params_of(struct oc_builder *b)
{
    struct oc_run r = oc_run_model(b, NULL);
    uint64_t params = r.a->total->params;
    oc_run_free(&r);
    return params;
}

/* A policy returns 7 learned numbers, one of them after Exp; a list of integers that it returns is none. */
static void learned_numbers_that_are_returned_are_parameters(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,4]");
    oc_b_init(b, "log_std", "float[6]");
    oc_b_init(b, "log_scale", "float{1}");
    oc_b_init(b, "names", "int64[3]{1,2,3}");
    oc_b_node(b, "Identity", "", "log_std", "std", "");
    oc_b_node(b, "Exp", "", "log_scale", "scale", "");
    oc_b_node(b, "Relu", "", "x", "y", "");
    oc_b_output(b, "y", NULL);
    oc_b_output(b, "std", NULL);
    oc_b_output(b, "scale", NULL);
    oc_b_output(b, "names", NULL);
    assert_int_equal(params_of(b), 7);
}

/* 8 x 32 numbers of 4 bits, read in the body of a local function, directly and within another call. */
static void packed_weights_of_local_functions_count_their_elements(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(21);
    oc_b_opset(b, "com.microsoft", 1);
    oc_b_function(b, "f", "Inner", "X,W,S", "Y", "");
    oc_b_opset(b, "com.microsoft", 1);
    oc_b_node(b, "com.microsoft::MatMulNBits", NULL, "X,W,S", "Y", "K=32 N=8 bits=4 block_size=32");
    oc_b_close(b);
    oc_b_function(b, "f", "Outer", "X,W,S", "Y", "");
    oc_b_opset(b, "f", 1);
    oc_b_node(b, "f::Inner", NULL, "X,W,S", "Y", "");
    oc_b_close(b);
    oc_b_opset(b, "f", 1);
    oc_b_input(b, "x", "float[1,32]");
    oc_b_init(b, "w", "uint8[8,1,16]");
    oc_b_init(b, "s", "float[8]");
    oc_b_init(b, "w2", "uint8[8,1,16]");
    oc_b_node(b, "f::Inner", "inner", "x,w,s", "y", "");
    oc_b_node(b, "f::Outer", "outer", "x,w2,s", "z", "");
    oc_b_output(b, "y", NULL);
    oc_b_output(b, "z", NULL);
    assert_int_equal(params_of(b), 2 * 8 * 32);
}

/* Scale and zero point of 8-bit data, of 4-bit data, and a table of 10 x 64 quantized numbers. */
static struct oc_builder *with_scales(void)
{
    struct oc_builder *b = oc_b_new(21);
    oc_b_opset(b, "com.microsoft", 1);
    oc_b_init(b, "s", "float{1}");
    oc_b_init(b, "z", "uint8{0}");
    oc_b_init(b, "z8", "int8{0}");
    oc_b_init(b, "s4", "float[10,4]");
    return b;
}

/* D*4H*(I + H) = 2*4*3*(2 + 3) = 120, as of the LSTM that it replaces; scales and the length of the sequence
 * are none. */
static void quantized_recurrent_weights_are_parameters(void **state)
{
    (void)state;
    struct oc_builder *b = with_scales();
    oc_b_input(b, "x", "float[4,1,2]");
    oc_b_init(b, "w", "int8[2,2,12]");
    oc_b_init(b, "r", "int8[2,3,12]");
    oc_b_init(b, "len", "int32[1]{4}");
    oc_b_init(b, "ws", "float[2]{1,1}");
    oc_b_init(b, "wz", "int8[2]{0,0}");
    oc_b_node(b, "com.microsoft::DynamicQuantizeLSTM", "", "x,w,r,,len,,,,ws,wz,ws,wz", "y",
              "hidden_size=3 direction=bidirectional");
    oc_b_output(b, "y", NULL);
    assert_int_equal(params_of(b), 120);
}

/* Tables of 10 rows of 64 numbers, in a byte each or two in a byte; constant indices are none. */
static void quantized_tables_are_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *table, *attrs;
    } row[] = {{"int4[10,64]", ""},
               {"uint4[10,64]", ""},
               {"uint8[10,32]", "bits=4 "},
               {"uint8[10,32]", ""},
               {"uint8[10,64]", "bits=8 "}};
    for (size_t i = 0; i < OC_COUNT(row); i++)
        for (int constant = 0; constant < 2; constant++) {
            struct oc_builder *b = with_scales();
            char attrs[96];
            snprintf(attrs, sizeof(attrs), "%sblock_size=16 gather_axis=0 quantize_axis=1", row[i].attrs);
            oc_b_init(b, "t", row[i].table);
            if (constant)
                oc_b_init(b, "i", "int64[3]{1,2,3}");
            else
                oc_b_input(b, "i", "int64[3]");
            oc_b_node(b, "com.microsoft::GatherBlockQuantized", "", "t,i,s4", "y", attrs);
            oc_b_output(b, "y", NULL);
            assert_int_equal(params_of(b), 640);
        }
}

/* 100 words and 16 positions of 8 numbers, scale and bias of 8; constant segments and masks are none. */
static void quantized_embeddings_are_parameters(void **state)
{
    (void)state;
    struct oc_builder *b = with_scales();
    oc_b_input(b, "i", "int32[1,3]");
    oc_b_init(b, "segments", "int32[1,3]");
    oc_b_init(b, "mask", "int32[1,3]");
    oc_b_init(b, "words", "uint8[100,8]");
    oc_b_init(b, "places", "uint8[16,8]");
    oc_b_init(b, "gamma", "uint8[8]");
    oc_b_init(b, "beta", "uint8[8]");
    oc_b_node(b, "com.microsoft::QEmbedLayerNormalization", "",
              "i,segments,words,places,,gamma,beta,mask,s,s,,s,s,z,z,,z,z", "y,m", "");
    oc_b_output(b, "y", NULL);
    assert_int_equal(params_of(b), 944);
}

/* Rows are selected, in several steps, before they become floats. Integers that are not dequantized are none,
 * nor are wide ones. */
static void tables_dequantized_after_the_selection_are_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *table, *then;
        uint64_t params;
    } row[] = {{"int8[10,64]", "DequantizeLinear", 640},
               {"int8[10,64]", "Identity", 0},
               {"int32[10,64]", "DequantizeLinear", 0}};
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_builder *b = with_scales();
        oc_b_input(b, "i", "int64[3]");
        oc_b_init(b, "t", row[i].table);
        oc_b_node(b, "Gather", "", "t,i", "g", "");
        oc_b_node(b, "Transpose", "", "g", "u", "");
        oc_b_node(b, row[i].then, "", row[i].then[0] == 'D' ? "u,s" : "u", "y", "");
        oc_b_output(b, "y", NULL);
        assert_int_equal(params_of(b), row[i].params);
    }
}

static void quantized_operands_are_parameters(void **state)
{
    (void)state;
    struct oc_builder *b = with_scales();
    oc_b_input(b, "x", "uint8[3,8]");
    oc_b_init(b, "w", "uint8[8]");
    oc_b_node(b, "com.microsoft::QLinearAdd", "", "x,s,z,w,s,z,s,z", "y", "");
    oc_b_output(b, "y", NULL);
    assert_int_equal(params_of(b), 8);
}

/* 8 x 24 weights and 24 biases; the lengths of the sequences are none. */
static void masks_of_attention_are_not_parameters(void **state)
{
    (void)state;
    struct oc_builder *b = with_scales();
    oc_b_input(b, "x", "uint8[1,3,8]");
    oc_b_init(b, "w", "int8[8,24]");
    oc_b_init(b, "bias", "float[24]");
    oc_b_init(b, "mask", "int32[1]");
    oc_b_node(b, "com.microsoft::QAttention", "", "x,w,bias,s,s,mask,z,z8", "y", "num_heads=2");
    oc_b_output(b, "y", NULL);
    assert_int_equal(params_of(b), 216);
}

/* A fresh model of PyTorch has ones as weight and as variance: one tensor, which is a parameter, as the means
 * that are the biases. */
static void statistics_that_are_also_weights_are_parameters(void **state)
{
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        struct oc_builder *b = oc_b_new(16);
        oc_b_input(b, "x", "float[1,20,4]");
        oc_b_init(b, "weight", "float[20]");
        oc_b_init(b, "bias", "float[20]");
        oc_b_init(b, "mean", "float[20]");
        oc_b_init(b, "var", "float[20]");
        oc_b_node(b, "Identity", "", "weight", "same", "");
        oc_b_node(b, "BatchNormalization", "", shared ? "x,weight,bias,bias,same" : "x,weight,bias,mean,var",
                  "y", "");
        oc_b_output(b, "y", NULL);
        struct oc_run r = oc_run_model(b, NULL);
        assert_int_equal(r.a->total->params, 40);
        assert_int_equal(r.a->total->params_all, shared ? 40 : 80);
        oc_run_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learned_numbers_that_are_returned_are_parameters),
        cmocka_unit_test(packed_weights_of_local_functions_count_their_elements),
        cmocka_unit_test(quantized_recurrent_weights_are_parameters),
        cmocka_unit_test(quantized_tables_are_parameters),
        cmocka_unit_test(quantized_embeddings_are_parameters),
        cmocka_unit_test(tables_dequantized_after_the_selection_are_parameters),
        cmocka_unit_test(quantized_operands_are_parameters),
        cmocka_unit_test(masks_of_attention_are_not_parameters),
        cmocka_unit_test(statistics_that_are_also_weights_are_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
