/* A training step: gradients by operator, published formulas for whole networks, memory. The multiplications
 * of random graphs by definition: tests/check_training.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/handles.h"
#include "onnxcost.h"
#include "onnxcost/training.h"
#include "support/build.h"
#include "zoo.h"

struct step {
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_training *t;
    const struct oc_training_info *i;
};

static struct step step_of(uint8_t *bytes, size_t n, const char *optimizer)
{
    struct step s = {0};
    struct oc_err err = {0};
    const struct oc_training_opts o = {.optimizer = optimizer};
    if (oc_model_load_mem(bytes, n, NULL, &s.m, &err) || oc_analyze(s.m, NULL, &s.a, &err) ||
        oc_training_make(s.a, &o, &s.t, &err))
        fail_msg("%s", err.msg);
    free(bytes);
    s.i = oc_training_info(s.t);
    return s;
}

static struct step step_of_builder(struct oc_builder *b, const char *optimizer)
{
    size_t n;
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    return step_of(bytes, n, optimizer);
}

static struct step step_of_zoo(const char *name, const char *optimizer)
{
    struct zoo z;
    size_t n;
    zoo_init(&z, 17);
    zoo_find(name)->build(&z);
    uint8_t *bytes = oc_b_pack(z.b, &n);
    zoo_free(&z);
    return step_of(bytes, n, optimizer);
}

static void end(struct step *s)
{
    oc_training_free(s->t);
    oc_analysis_free(s->a);
    oc_model_free(s->m);
}

/* ---- operators -------------------------------------------------------------------------------------- */

/* x = input + p with p of the same shape, which has no work of its own, then the operator. */
static struct step step_of_op(const char *type, const char *attributes, const char *x,
                              const char *const *init)
{
    struct oc_builder *b = oc_b_new(20);
    char inputs[64] = "x";
    oc_b_input(b, "i", x);
    oc_b_init(b, "p", x);
    oc_b_node(b, "Add", "first", "i,p", "x", "");
    for (size_t i = 0; init && init[i]; i++) {
        char name[24];
        snprintf(name, sizeof(name), "w%zu", i);
        oc_b_init(b, name, init[i]);
        snprintf(inputs + strlen(inputs), sizeof(inputs) - strlen(inputs), ",%s", name);
    }
    oc_b_node(b, type, "n", inputs, "y", attributes);
    oc_b_output(b, "y", NULL);
    return step_of_builder(b, "sgd");
}

#define INIT(...) ((const char *const[]){__VA_ARGS__, NULL})

static void gradients_of_operators_have_the_work_of_their_derivative(void **state)
{
    const struct {
        const char *type, *attributes, *x;
        const char *const *init;
        uint64_t macs, flops, saved; /* saved: bytes of activations, masks and statistics */
    } row[] = {
        /* dX and dW: 3*16*8 MACs each; X is saved */
        {"MatMul", "", "float[3,16]", INIT("float[16,8]"), 768, 1536, 192},
        /* and dB: 24 additions */
        {"Gemm", "", "float[3,16]", INIT("float[16,8]", "float[8]"), 768, 1560, 192},
        /* alpha scales dY, beta dC: 24 + 8 */
        {"Gemm", "alpha=0.5 beta=2.0", "float[3,16]", INIT("float[16,8]", "float[8]"), 768, 1592, 192},
        /* 2*8*100*36 = 57,600 MACs twice, 1600 additions for dB */
        {"Conv", "pads=1,1,1,1", "float[2,4,10,10]", INIT("float[8,4,3,3]", "float[8]"), 115200, 232000,
         3200},
        {"Conv", "pads=1,1,1,1 group=4", "float[1,4,6,6]", INIT("float[4,1,3,3]"), 2592, 5184, 576},
        {"ConvTranspose", "strides=2,2", "float[1,8,5,5]", INIT("float[8,2,3,3]"), 7200, 14400, 800},
        {"Relu", "", "float[10]", NULL, 0, 10, 40},
        {"Sigmoid", "", "float[10]", NULL, 0, 30, 40},
        {"Exp", "", "float[10]", NULL, 0, 10, 40},
        {"Gelu", "", "float[10]", NULL, 0, 110, 40},
        {"Gelu", "approximate='tanh'", "float[10]", NULL, 0, 180, 40},
        /* a scale of one row for 4: dX 40; d scale 40 products and 40 additions; x is saved */
        {"Mul", "", "float[4,10]", INIT("float[10]"), 0, 120, 160},
        {"Add", "", "float[4,10]", INIT("float[10]"), 0, 40, 0},
        {"Softmax", "", "float[4,10]", NULL, 0, 160, 160},
        /* n 64, 4 rows: x^ 2n, dX 8n + 2 rows, d scale 2n, d bias n; x and 8 bytes a row are saved */
        {"LayerNormalization", "", "float[4,16]", INIT("float[16]", "float[16]"), 0, 13 * 64 + 8, 256 + 32},
        /* n 32, 2 channels; statistics of the channels */
        {"BatchNormalization", "", "float[1,2,4,4]", INIT("float[2]", "float[2]", "float[2]", "float[2]"), 0,
         13 * 32 + 4, 128 + 16},
        /* 16 outputs; a byte each for the place of the maximum */
        {"MaxPool", "kernel_shape=2,2 strides=2,2", "float[1,4,4,4]", NULL, 0, 16, 16},
        {"AveragePool", "kernel_shape=2,2 strides=2,2", "float[1,4,4,4]", NULL, 0, 64 + 16, 0},
        {"GlobalAveragePool", "", "float[1,4,4,4]", NULL, 0, 4, 0},
        {"ReduceMean", "keepdims=1", "float[4,8]", INIT("int64[1]{1}"), 0, 4, 0},
        {"ReduceMax", "", "float[4,8]", INIT("int64[1]{1}"), 0, 32, 128 + 16},
        {"Expand", "", "float[1,8]", INIT("int64[2]{4,8}"), 0, 32, 0},
        {"Transpose", "perm=1,0", "float[4,8]", NULL, 0, 0, 0},
        {"Reshape", "", "float[4,8]", INIT("int64[1]{-1}"), 0, 0, 0},
        /* T 5, B 2, I 3, H 4: input product 10*48 MACs for dX and dW, state product 10*64 for dH and dR; 40
           gates of 16 MUL, 7 ADD, 1 TANH; d bias 10*32; X and 5 numbers a gate are saved */
        {"LSTM", "hidden_size=4", "float[5,2,3]", INIT("float[1,16,3]", "float[1,16,4]", "float[1,32]"), 2240,
         4480 + 40 * 24 + 320, 120 + 800},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct step s = step_of_op(row[i].type, row[i].attributes, row[i].x, row[i].init);
        if (s.i->backward_macs != row[i].macs || s.i->backward_flops != row[i].flops ||
            s.i->saved_bytes != row[i].saved || s.i->unknown_nodes)
            fail_msg("%s %s: %llu MACs, %llu FLOPs, %llu bytes saved", row[i].type, row[i].attributes,
                     (unsigned long long)s.i->backward_macs, (unsigned long long)s.i->backward_flops,
                     (unsigned long long)s.i->saved_bytes);
        end(&s);
    }
}

/* y = x x: x has two gradients, which are added. */
static void gradients_of_several_readers_are_added(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "i", "float[10]");
    oc_b_init(b, "p", "float[10]");
    oc_b_node(b, "Add", "first", "i,p", "x", "");
    oc_b_node(b, "Mul", "n", "x,x", "y", "");
    oc_b_output(b, "y", NULL);
    struct step s = step_of_builder(b, "sgd");
    assert_int_equal(s.i->backward_flops, 30);
    assert_int_equal(s.i->saved_bytes, 40);
    end(&s);
}

/* Nothing flows through an index, a comparison or a rounded number: exactly no work. */
static void gradient_stops_at_steps_and_integers(void **state)
{
    static const char *const type[] = {"Floor", "ArgMax", "Sign"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct step s = step_of_op(type[i], "", "float[4,8]", NULL);
        assert_int_equal(s.i->gradient_nodes, 0);
        assert_int_equal(s.i->params, 0);
        assert_int_equal(s.i->quality, OC_EXACT);
        end(&s);
    }
}

/* Operators without a rule, and what the rules do not cover: a trained exponent, a bias of Gelu, peepholes. */
static void operators_without_a_rule_are_unknown(void **state)
{
    (void)state;
    const struct {
        const char *type, *attributes, *x;
        const char *const *init;
    } row[] = {
        {"Mish", "", "float[10]", NULL},
        {"Pow", "", "float[10]", INIT("float[10]")},
        {"com.microsoft::FastGelu", "", "float[2,5]", INIT("float[5]")},
        {"LSTM", "hidden_size=5", "float[2,1,5]",
         INIT("float[1,20,5]", "float[1,20,5]", "float[1,40]", "int32[1]{2}", "float[1,1,5]", "float[1,1,5]",
              "float[1,15]")},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct step s = step_of_op(row[i].type, row[i].attributes, row[i].x, row[i].init);
        const struct oc_training_node *n;
        assert_int_equal(oc_training_nodes(s.t, &n), 2);
        assert_int_equal(s.i->unknown_nodes, 1);
        assert_int_equal(n[1].quality, OC_UNKNOWN);
        assert_string_equal(n[1].note, "no gradient rule for this operator");
        assert_int_equal(s.i->quality, OC_LOWER);
        assert_true(s.i->params >= 10); /* its input has a gradient all the same */
        end(&s);
    }
}

static void control_flow_is_unknown(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "i", "float[10]");
    oc_b_init(b, "p", "float[10]");
    oc_b_init(b, "trips", "int64[]{3}");
    oc_b_init(b, "go", "bool[]{1}");
    oc_b_node(b, "Add", "first", "i,p", "x", "");
    oc_b_node(b, "Loop", "l", "trips,go,x", "y", "");
    oc_b_open(b, "body");
    oc_b_input(b, "n", "int64[]");
    oc_b_input(b, "c", "bool[]");
    oc_b_input(b, "s", "float[10]");
    oc_b_node(b, "Identity", "same", "c", "c2", "");
    oc_b_node(b, "Relu", "relu", "s", "s2", "");
    oc_b_output(b, "c2", "bool[]");
    oc_b_output(b, "s2", "float[10]");
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    struct step s = step_of_builder(b, "sgd");
    assert_int_equal(s.i->unknown_nodes, 1);
    assert_int_equal(s.i->params, 10);
    end(&s);
}

/* ---- whole networks --------------------------------------------------------------------------------- */

/* Twice the forward MACs, less dX of the first convolution: 112*112*64*147 = 118,013,952. */
static void resnet50_takes_three_times_its_forward_macs_less_the_first_gradient(void **state)
{
    (void)state;
    struct step s = step_of_zoo("resnet50", "adam");
    assert_int_equal(s.i->backward_macs, 2 * 4089184256ULL - 118013952);
    assert_int_equal(s.i->params, 25557032);
    assert_int_equal(s.i->state_bytes, 8 * 25557032ULL);
    assert_int_equal(s.i->optimizer_flops, 14 * 25557032ULL);
    assert_int_equal(s.i->unknown_nodes, 0);
    end(&s);
}

/* PaLM (Chowdhery et al. 2022), appendix B: 6N + 12 L H Q T matrix FLOPs per token, N without embeddings.
 * GPT-2: N = 12 layers * 12 * 768^2 + 768 * 50257 = 123,532,032, H Q = 768, T = 128. BERT-base: 12 * 12 *
 * 768^2 and a pooler of 768^2 for one token. */
static void transformers_take_6n_and_their_attention_per_token(void **state)
{
    (void)state;
    struct step s = step_of_zoo("gpt2", "adam");
    assert_int_equal(2 * (s.i->forward_macs + s.i->backward_macs),
                     128 * (6 * 123532032ULL + 12ULL * 12 * 768 * 128));
    end(&s);
    s = step_of_zoo("bert_base", "adam");
    assert_int_equal(2 * (s.i->forward_macs + s.i->backward_macs),
                     128 * (6 * 84934656ULL + 12ULL * 12 * 768 * 128) + 6 * 768 * 768);
    end(&s);
}

/* ---- memory ----------------------------------------------------------------------------------------- */

enum { SEQ = 16, BATCH = 2, HIDDEN = 32, HEADS = 4 };

static void add_dropout(struct oc_builder *b, const char *x, const char *y)
{
    char inputs[64];
    snprintf(inputs, sizeof(inputs), "%s,ratio,train", x);
    oc_b_node(b, "Dropout", y, inputs, y, "");
}

static void add_projection(struct oc_builder *b, int layer, const char *name, const char *x, const char *y,
                           const char *shape)
{
    char w[32], inputs[64], product[40];
    snprintf(w, sizeof(w), "%s_w%d", name, layer);
    snprintf(inputs, sizeof(inputs), "%s,%s", x, w);
    snprintf(product, sizeof(product), "%s_%s", y, "product");
    oc_b_init(b, w, shape);
    oc_b_node(b, "MatMul", product, inputs, product, "");
    snprintf(w, sizeof(w), "%s_b%d", name, layer);
    snprintf(inputs, sizeof(inputs), "%s,%s", product, w);
    oc_b_init(b, w, strstr(shape, ",128") ? "float16[128]" : "float16[32]");
    oc_b_node(b, "Add", y, inputs, y, "");
}

static void add_heads(struct oc_builder *b, const char *x, const char *y, const char *perm)
{
    char inputs[40], parts[40];
    snprintf(inputs, sizeof(inputs), "%s,split", x);
    snprintf(parts, sizeof(parts), "%s_parts", y);
    oc_b_node(b, "Reshape", parts, inputs, parts, "");
    oc_b_node(b, "Transpose", y, parts, y, perm);
}

/* A layer as figure 2 of Korthikanti et al. has it. */
static void add_layer(struct oc_builder *b, int layer, const char *x, const char *y)
{
    char norm[40], inputs[64];
    for (int i = 0; i < 2; i++) {
        snprintf(norm, sizeof(norm), "scale%d_%d", layer, i);
        oc_b_init(b, norm, "float16[32]");
        snprintf(norm, sizeof(norm), "shift%d_%d", layer, i);
        oc_b_init(b, norm, "float16[32]");
    }
#define N(text) (snprintf(norm, sizeof(norm), "%s%d", text, layer), norm)
#define NODE(type, out, attributes, ...)                                                                     \
    (snprintf(inputs, sizeof(inputs), __VA_ARGS__), oc_b_node(b, type, N(out), inputs, N(out), attributes))
    char t[8][24];
    NODE("LayerNormalization", "ln", "", "%s,scale%d_0,shift%d_0", x, layer, layer);
    snprintf(t[0], sizeof(t[0]), "ln%d", layer);
    for (int i = 0; i < 3; i++) {
        static const char *const name[] = {"q", "k", "v"};
        static const char *const perm[] = {"perm=0,2,1,3", "perm=0,2,3,1", "perm=0,2,1,3"};
        snprintf(t[1], sizeof(t[1]), "%s%d", name[i], layer);
        snprintf(t[2], sizeof(t[2]), "%s_heads%d", name[i], layer);
        add_projection(b, layer, name[i], t[0], t[1], "float16[32,32]");
        add_heads(b, t[1], t[2], perm[i]);
    }
    NODE("MatMul", "scores", "", "q_heads%d,k_heads%d", layer, layer);
    NODE("Mul", "scaled", "", "scores%d,scale", layer);
    NODE("Softmax", "weights", "axis=-1", "scaled%d", layer);
    snprintf(t[1], sizeof(t[1]), "weights%d", layer);
    snprintf(t[2], sizeof(t[2]), "dropped%d", layer);
    add_dropout(b, t[1], t[2]);
    NODE("MatMul", "context", "", "dropped%d,v_heads%d", layer, layer);
    NODE("Transpose", "back", "perm=0,2,1,3", "context%d", layer);
    NODE("Reshape", "joined", "", "back%d,join", layer);
    snprintf(t[1], sizeof(t[1]), "joined%d", layer);
    snprintf(t[2], sizeof(t[2]), "projected%d", layer);
    add_projection(b, layer, "o", t[1], t[2], "float16[32,32]");
    snprintf(t[3], sizeof(t[3]), "out1_%d", layer);
    add_dropout(b, t[2], t[3]);
    NODE("Add", "inner", "", "%s,%s", x, t[3]);
    NODE("LayerNormalization", "ln2_", "", "inner%d,scale%d_1,shift%d_1", layer, layer, layer);
    snprintf(t[1], sizeof(t[1]), "ln2_%d", layer);
    snprintf(t[2], sizeof(t[2]), "wide%d", layer);
    add_projection(b, layer, "up", t[1], t[2], "float16[32,128]");
    NODE("Gelu", "active", "", "wide%d", layer);
    snprintf(t[1], sizeof(t[1]), "active%d", layer);
    snprintf(t[2], sizeof(t[2]), "narrow%d", layer);
    add_projection(b, layer, "down", t[1], t[2], "float16[128,32]");
    snprintf(t[3], sizeof(t[3]), "out2_%d", layer);
    add_dropout(b, t[2], t[3]);
    snprintf(inputs, sizeof(inputs), "inner%d,%s", layer, t[3]);
    oc_b_node(b, "Add", y, inputs, y, "");
#undef NODE
#undef N
}

static struct step step_of_layers(int layers)
{
    struct oc_builder *b = oc_b_new(20);
    oc_b_input(b, "h0", "float16[2,16,32]");
    oc_b_init(b, "split", "int64[4]{2,16,4,8}");
    oc_b_init(b, "join", "int64[3]{2,16,32}");
    oc_b_init(b, "scale", "float16[]");
    oc_b_init(b, "ratio", "float[]{0.1}");
    oc_b_init(b, "train", "bool[]{1}");
    for (int i = 0; i < layers; i++) {
        char x[8], y[8];
        snprintf(x, sizeof(x), "h%d", i);
        snprintf(y, sizeof(y), "h%d", i + 1);
        add_layer(b, i, x, y);
    }
    char out[8];
    snprintf(out, sizeof(out), "h%d", layers);
    oc_b_output(b, out, NULL);
    return step_of_builder(b, "adam");
}

/* Korthikanti et al. 2022, equation 1: s b h (34 + 5 a s/h) bytes of activations per layer, here with mean
 * and deviation of the rows of two normalisations in f32. With full recomputation 2 s b h per layer, and one
 * layer at a time. */
static void transformer_layers_save_the_published_activations(void **state)
{
    (void)state;
    const uint64_t sbh = SEQ * BATCH * HIDDEN, layer = 34 * sbh + 5 * HEADS * SEQ * SEQ * BATCH,
                   statistics = 2 * 8 * SEQ * BATCH;
    for (int layers = 1; layers <= 8; layers += 7) {
        struct step s = step_of_layers(layers);
        assert_int_equal(s.i->unknown_nodes, 0);
        assert_int_equal(s.i->saved_bytes, (uint64_t)layers * (layer + statistics));
        assert_true(s.i->peak_bytes >= s.i->saved_bytes);
        assert_true(s.i->recompute.saved_bytes <= 2 * sbh * (uint64_t)layers + layer + statistics);
        assert_true(s.i->recompute.peak_bytes <= s.i->peak_bytes);
        /* 12 h^2 + 13 h parameters; ZeRO (Rajbhandari et al. 2020): 2 + 2 + 12 bytes each with Adam */
        assert_int_equal(s.i->params, layers * (12 * HIDDEN * HIDDEN + 13 * HIDDEN));
        assert_int_equal(s.i->param_bytes + s.i->gradient_bytes + s.i->state_bytes + s.i->master_bytes,
                         16 * s.i->params);
        end(&s);
    }
}

/* x 40 B, then four additions of parameters and a ReLU: nothing of the additions is saved. Backward: at the
 * peak two buffers of 40 B (an input and an output, or two gradients) are live, and the output of the ReLU
 * until its gradient. */
static void activations_that_no_gradient_reads_are_freed(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "t0", "float[10]");
    for (int i = 0; i < 4; i++) {
        char w[8], in[16], out[8];
        snprintf(w, sizeof(w), "w%d", i);
        snprintf(in, sizeof(in), "t%d,w%d", i, i);
        snprintf(out, sizeof(out), "t%d", i + 1);
        oc_b_init(b, w, "float[10]");
        oc_b_node(b, "Add", out, in, out, "");
    }
    oc_b_node(b, "Relu", "r", "t4", "y", "");
    oc_b_output(b, "y", NULL);
    struct step s = step_of_builder(b, "sgd");
    assert_int_equal(s.i->saved_bytes, 40);
    assert_int_equal(s.i->peak_bytes, 120); /* the ReLU's gradient: y, dY, dX */
    assert_int_equal(s.i->params, 40);
    assert_int_equal(s.i->state_bytes, 0);
    assert_int_equal(s.i->recompute.segments, 1);
    end(&s);
}

static void rejects_unknown_optimizer_and_conventions(void **state)
{
    (void)state;
    struct step s = step_of_op("Relu", "", "float[10]", NULL);
    struct oc_training *t;
    struct oc_analysis *a;
    struct oc_err err;
    assert_int_equal(oc_training_make(s.a, &(struct oc_training_opts){.optimizer = "adan"}, &t, &err), -1);
    assert_string_equal(err.msg, "unknown optimizer 'adan'; did you mean 'adam'? Valid: adam, momentum, sgd");
    assert_int_equal(oc_analyze(s.m, &(struct oc_analyze_opts){.convention = "fvcore"}, &a, &err), 0);
    assert_int_equal(oc_training_make(a, NULL, &t, &err), -1);
    assert_int_equal(err.code, OC_EARG);
    oc_analysis_free(a);
    end(&s);
}

static void sums_beyond_64_bits_are_noticed(void **state)
{
    (void)state;
    struct oc_training t = {0};
    uint64_t sum = UINT64_MAX - 1;
    oc_training_sum(&t, &sum, 1);
    assert_true(sum == UINT64_MAX && !t.overflow);
    oc_training_sum(&t, &sum, 1);
    assert_true(t.overflow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_of_operators_have_the_work_of_their_derivative),
        cmocka_unit_test(gradients_of_several_readers_are_added),
        cmocka_unit_test(gradient_stops_at_steps_and_integers),
        cmocka_unit_test(operators_without_a_rule_are_unknown),
        cmocka_unit_test(control_flow_is_unknown),
        cmocka_unit_test(resnet50_takes_three_times_its_forward_macs_less_the_first_gradient),
        cmocka_unit_test(transformers_take_6n_and_their_attention_per_token),
        cmocka_unit_test(transformer_layers_save_the_published_activations),
        cmocka_unit_test(activations_that_no_gradient_reads_are_freed),
        cmocka_unit_test(rejects_unknown_optimizer_and_conventions),
        cmocka_unit_test(sums_beyond_64_bits_are_noticed),
    };
    return cmocka_run_group_tests_name("analyze/training", tests, NULL, NULL);
}
