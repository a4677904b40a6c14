/* Text, speech and text lines: parameters and multiply-accumulates from the layer sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "zoo.h"
#include "onnxcost.h"

static size_t count_nodes(const char *name, const char *op_type)
{
    struct zoo z;
    zoo_init(&z, 17);
    zoo_find(name)->build(&z);
    const Onnx__GraphProto *g = oc_b_model(z.b)->graph;
    size_t n = 0;
    for (size_t i = 0; i < g->n_node; i++)
        n += !strcmp(g->node[i]->op_type, op_type);
    zoo_free(&z);
    return n;
}

static uint64_t count_params(const char *name)
{
    struct zoo z;
    zoo_init(&z, 17);
    zoo_find(name)->build(&z);
    uint64_t n = zoo_param_elements(&z);
    zoo_free(&z);
    return n;
}

static uint64_t count_macs(const char *name)
{
    return zoo_find(name)->macs;
}

/* One step of a bidirectional recurrent layer: G gates of h rows on the input and on the state. */
static uint64_t step_macs(uint64_t gates, uint64_t in, uint64_t h)
{
    return 2 * gates * h * (in + h);
}

/* Its parameters: those weights, and a bias for each of both products. */
static uint64_t rnn_params(uint64_t gates, uint64_t in, uint64_t h)
{
    return step_macs(gates, in, h) + 2 * gates * h * 2;
}

/* transformers: 66,362,880 parameters without head. 6 layers of width d over s = 128 tokens: 4 linear layers
 * d d, two of d 4d; scores and weighted sum s s d each. */
static void distilbert_matches_published_counts(void **state)
{
    (void)state;
    const uint64_t d = 768, s = 128;
    uint64_t tables = (30522 + 512) * d + 2 * d, layer = 4 * (d * d + d) + 8 * d * d + 4 * d + d + 4 * d;
    assert_int_equal(tables + 6 * layer, 66362880);
    assert_int_equal(count_params("distilbert"), 66362880);
    assert_int_equal(count_macs("distilbert"), 6 * (s * 12 * d * d + 2 * s * s * d));
    assert_int_equal(count_nodes("distilbert", "MatMul"), 6 * 8);
    assert_int_equal(count_nodes("distilbert", "Where"), 6);
    assert_int_equal(count_nodes("distilbert", "LayerNormalization"), 1 + 6 * 2);
}

/* Published for the encoder: 8.2 million, of which 1500 x 384 are sinusoids. k_proj has no bias. */
static void whisper_matches_published_counts(void **state)
{
    (void)state;
    const uint64_t d = 384, s = 1500;
    uint64_t convs = 80 * d * 3 + d + d * d * 3 + d;
    uint64_t layer = 4 * d * d + 3 * d + 8 * d * d + 4 * d + d + 4 * d;
    assert_int_equal(convs + s * d + 4 * layer + 2 * d, 8208384);
    assert_int_equal(count_params("whisper_tiny_encoder"), 8208384);
    uint64_t conv_macs = 3000 * 80 * 3 * d + s * d * 3 * d;
    assert_int_equal(count_macs("whisper_tiny_encoder"), conv_macs + 4 * (s * 12 * d * d + 2 * s * s * d));
    assert_int_equal(count_nodes("whisper_tiny_encoder", "Erf"), 2 + 4);
}

/* transformers: 60,506,624 parameters with one word table for both halves; the decoder's file has a
 * transposed copy of it for the logits. s words are read, t written. */
static void t5_matches_published_counts(void **state)
{
    (void)state;
    const uint64_t d = 512, f = 2048, s = 128, t = 64, words = 32128 * d, buckets = 32 * 8;
    uint64_t encoder = 6 * (4 * d * d + 2 * d * f + 2 * d) + buckets + d;
    uint64_t decoder = 6 * (8 * d * d + 2 * d * f + 3 * d) + buckets + d;
    assert_int_equal(words + encoder + decoder, 60506624);
    assert_int_equal(count_params("t5_encoder"), words + encoder);
    assert_int_equal(count_params("t5_decoder"), 2 * words + decoder);
    assert_int_equal(count_macs("t5_encoder"), 6 * (s * (4 * d * d + 2 * d * f) + 2 * s * s * d));
    uint64_t own = t * 4 * d * d + 2 * t * t * d, cross = (t + s) * 2 * d * d + 2 * t * s * d;
    assert_int_equal(count_macs("t5_decoder"), 6 * (own + cross + t * 2 * d * f) + t * words);
    assert_int_equal(count_nodes("t5_encoder", "MatMul"), 6 * 8);
    assert_int_equal(count_nodes("t5_decoder", "MatMul"), 6 * 14 + 1);
    assert_int_equal(count_nodes("t5_decoder", "ReduceMean"), 6 * 3 + 1);
}

/* The paper says 8.3 million. Three batch norms of 256, 512 and 512 channels have a mean and a variance in
 * addition. 100 columns: 50 and 25 after two pools, 26 and 27 after those that pad and step by 1, 26 after
 * the last window of 2. */
static void crnn_matches_published_counts(void **state)
{
    (void)state;
    static const uint64_t c[] = {1, 64, 128, 256, 256, 512, 512, 512}, k[] = {9, 9, 9, 9, 9, 9, 4},
                          pixels[] = {32 * 100, 16 * 50, 8 * 25, 8 * 25, 4 * 26, 4 * 26, 26};
    uint64_t weights = 0, biases = 0, macs = 0;
    for (size_t i = 0; i < 7; i++) {
        weights += c[i] * c[i + 1] * k[i];
        biases += c[i + 1];
        macs += c[i] * c[i + 1] * k[i] * pixels[i];
    }
    uint64_t lstms = rnn_params(4, 512, 256) + rnn_params(4, 256, 256), linear = 512 * (256 + 37) + 256 + 37;
    uint64_t learned = weights + biases + 2 * 1280 + lstms + linear;
    assert_int_equal(learned, 8331301);
    assert_int_equal(count_params("crnn"), learned + 2 * 1280);
    macs += 26 * (step_macs(4, 512, 256) + step_macs(4, 256, 256) + 512 * (256 + 37));
    assert_int_equal(count_macs("crnn"), macs);
    assert_int_equal(count_nodes("crnn", "LSTM"), 2);
}

/* 161 bins and 200 frames: 81 x 100 and 41 x 100 after the convolutions; 32 x 41 = 1312 numbers per step.
 * Normalized: 2 x 32 channels, four layers and the end. */
static void check_deepspeech(const char *name, uint64_t gates, uint64_t h)
{
    uint64_t tall = 32 * 41 * 11, low = 32 * 32 * 21 * 11;
    uint64_t learned = tall + low + 64 + 2 * (64 + 5 * h) + h * 29 + rnn_params(gates, 1312, h) +
                       4 * rnn_params(gates, h, h);
    assert_int_equal(count_params(name), learned + 2 * (64 + 5 * h));
    uint64_t step = step_macs(gates, 1312, h) + 4 * step_macs(gates, h, h) + h * 29;
    assert_int_equal(count_macs(name), 81 * 100 * tall + 41 * 100 * low + 100 * step);
}

static void deepspeech_matches_layer_sizes(void **state)
{
    (void)state;
    check_deepspeech("deepspeech2_lstm", 4, 1024);
    check_deepspeech("deepspeech2_gru", 3, 800);
    assert_int_equal(count_nodes("deepspeech2_lstm", "LSTM"), 5);
    assert_int_equal(count_nodes("deepspeech2_gru", "GRU"), 5);
}

/* The paper says 229 thousand. 40 x 151 become 20 x 19 with 32 channels; 19 steps of 640 numbers. */
static void keyword_matches_published_counts(void **state)
{
    (void)state;
    uint64_t conv = 32 * 5 * 20, dense = 19 * 64 * 64, classes = 64 * 2;
    uint64_t learned = conv + 32 + rnn_params(3, 640, 32) + rnn_params(3, 64, 32) + dense + 64 + classes + 2;
    assert_int_equal(learned, 229474);
    assert_int_equal(count_params("keyword_gru"), learned);
    uint64_t steps = 19 * (step_macs(3, 640, 32) + step_macs(3, 64, 32));
    assert_int_equal(count_macs("keyword_gru"), 20 * 19 * conv + steps + dense + classes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distilbert_matches_published_counts),
        cmocka_unit_test(whisper_matches_published_counts),
        cmocka_unit_test(t5_matches_published_counts),
        cmocka_unit_test(crnn_matches_published_counts),
        cmocka_unit_test(deepspeech_matches_layer_sizes),
        cmocka_unit_test(keyword_matches_published_counts),
    };
    return cmocka_run_group_tests_name("models/zoo_sequences", tests, NULL, NULL);
}
