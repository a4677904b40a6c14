#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "zoo.h"
#include "onnxcost.h"

static const Onnx__GraphProto *build_model(struct zoo *z, const char *name)
{
    const struct zoo_model *m = zoo_find(name);
    assert_non_null(m);
    zoo_init(z, 17);
    m->build(z);
    return oc_b_model(z->b)->graph;
}

static size_t count_nodes(const Onnx__GraphProto *g, const char *op_type)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_node; i++)
        n += !strcmp(g->node[i]->op_type, op_type);
    return n;
}

/* The table ends with {NULL, all nodes}. The numbers come from the layer tables of the papers. */
struct expect {
    const char *op_type;
    size_t n;
};

static void check_nodes(const char *name, const struct expect *e)
{
    struct zoo z;
    const Onnx__GraphProto *g = build_model(&z, name);
    for (; e->op_type; e++)
        if (count_nodes(g, e->op_type) != e->n)
            fail_msg("%s: %zu %s, expected %zu", name, count_nodes(g, e->op_type), e->op_type, e->n);
    if (e->n)
        assert_int_equal(g->n_node, e->n);
    zoo_free(&z);
}

static void node_counts_of_cnns_match_the_papers(void **state)
{
    (void)state;
    /* stem, 8 blocks of 2, 3 downsamples = 20 convolutions; a Relu after the stem and 2 in each block */
    check_nodes(
        "resnet18",
        (struct expect[]){{"Conv", 20}, {"BatchNormalization", 20}, {"Relu", 17}, {"Add", 8}, {NULL, 69}});
    /* stem, 16 blocks of 3, 4 downsamples = 53 */
    check_nodes(
        "resnet50",
        (struct expect[]){{"Conv", 53}, {"BatchNormalization", 53}, {"Relu", 49}, {"Add", 16}, {NULL, 175}});
    /* stem, head, one block of 2 and 16 blocks of 3 = 52; no activation after the 17 projections; 17 blocks
     * except the 7 that change width or size have a sum */
    check_nodes("mobilenetv2", (struct expect[]){{"Conv", 52},
                                                 {"BatchNormalization", 52},
                                                 {"Clip", 35},
                                                 {"Constant", 70},
                                                 {"Add", 10},
                                                 {NULL, 222}});
    check_nodes("vgg16",
                (struct expect[]){{"Conv", 13}, {"Relu", 15}, {"MaxPool", 5}, {"Gemm", 3}, {NULL, 38}});
}

static void node_counts_of_transformers_match_the_papers(void **state)
{
    (void)state;
    /* a layer: packed in-projection, scores, weighted sum, 2 of the MLP; out-projection is a Gemm */
    check_nodes("vit_b_16", (struct expect[]){{"Conv", 1},
                                              {"MatMul", 60},
                                              {"Gemm", 13},
                                              {"LayerNormalization", 25},
                                              {"Softmax", 12},
                                              {"Erf", 12},
                                              {NULL, 0}});
    /* a layer: q, k, v, scores, weighted sum, out, 2 of the MLP */
    check_nodes("bert_base", (struct expect[]){{"MatMul", 96},
                                               {"Gemm", 1},
                                               {"LayerNormalization", 25},
                                               {"Softmax", 12},
                                               {"Erf", 12},
                                               {"Tanh", 1},
                                               {NULL, 0}});
    /* a layer: scores and weighted sum are MatMul, the 4 linear ones Gemm; the output embedding is one more
     * MatMul */
    check_nodes("gpt2", (struct expect[]){{"MatMul", 25},
                                          {"Gemm", 48},
                                          {"LayerNormalization", 25},
                                          {"Softmax", 12},
                                          {"Tanh", 12},
                                          {"Where", 12},
                                          {"Range", 1},
                                          {NULL, 0}});
}

/* Published parameter counts of torchvision and transformers, plus the other numbers in the file: running
 * means and variances (2 x 4800, 2 x 26560, 2 x 17056 channels), the transposed copy of GPT-2's embedding
 * (50257 x 768). */
static void parameters_match_published_counts(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t published, more;
    } rows[] = {
        {"resnet18", 11689512, 9600},  {"resnet50", 25557032, 53120}, {"mobilenetv2", 3504872, 34112},
        {"vgg16", 138357544, 0},       {"vit_b_16", 86567656, 0},     {"bert_base", 109482240, 0},
        {"gpt2", 124439808, 38597376},
    };
    for (size_t i = 0; i < OC_COUNT(rows); i++) {
        struct zoo z;
        build_model(&z, rows[i].name);
        assert_int_equal(zoo_param_elements(&z), rows[i].published + rows[i].more);
        zoo_free(&z);
    }
}

/* ---- multiply-accumulates ---- */

static int64_t first_attribute(const Onnx__NodeProto *n, const char *name)
{
    for (size_t i = 0; i < n->n_attribute; i++)
        if (!strcmp(n->attribute[i]->name, name))
            return n->attribute[i]->ints[0];
    fail_msg("%s has no %s", n->name, name);
    return 0;
}

static const Onnx__TensorProto *find_weight(const Onnx__GraphProto *g, const char *name)
{
    for (size_t i = 0; i < g->n_initializer; i++)
        if (!strcmp(g->initializer[i]->name, name))
            return g->initializer[i];
    fail_msg("no initializer %s", name);
    return NULL;
}

static uint64_t elements(const Onnx__TensorProto *t)
{
    uint64_t n = 1;
    for (size_t i = 0; i < t->n_dims; i++)
        n *= (uint64_t)t->dims[i];
    return n;
}

/* Follows the side of the square image: out = floor((in + 2 pad - kernel) / stride) + 1; a convolution
 * multiplies every weight once per output pixel */
static uint64_t step(const Onnx__GraphProto *g, const Onnx__NodeProto *n, struct oc_map *side)
{
    if (!strcmp(n->op_type, "Constant"))
        return 0;
    uint32_t in = oc_map_get(side, n->input[0], strlen(n->input[0])), out = in;
    assert_int_not_equal(in, OC_NONE);
    static const char *const windows[] = {"Conv", "MaxPool", "AveragePool"};
    for (size_t i = 0; i < OC_COUNT(windows); i++)
        if (!strcmp(n->op_type, windows[i]))
            out = (uint32_t)((in + 2 * first_attribute(n, "pads") - first_attribute(n, "kernel_shape")) /
                                 first_attribute(n, "strides") +
                             1);
    oc_map_set(side, n->output[0], strlen(n->output[0]), out);
    if (!strcmp(n->op_type, "Conv"))
        return (uint64_t)out * out * elements(find_weight(g, n->input[1]));
    return strcmp(n->op_type, "Gemm") ? 0 : elements(find_weight(g, n->input[1]));
}

static uint64_t cnn_macs(const char *name)
{
    struct zoo z;
    const Onnx__GraphProto *g = build_model(&z, name);
    struct oc_map side = {.arena = oc_b_arena(z.b)};
    oc_map_set(&side, "input", 5, 224);
    uint64_t macs = 0;
    for (size_t i = 0; i < g->n_node; i++)
        macs += step(g, g->node[i], &side);
    oc_map_free(&side);
    zoo_free(&z);
    return macs;
}

static void macs_of_cnns_match_layer_sizes(void **state)
{
    (void)state;
    static const char *const names[] = {"resnet18", "resnet50", "mobilenetv2", "vgg16"};
    for (size_t i = 0; i < OC_COUNT(names); i++)
        assert_int_equal(cnn_macs(names[i]), zoo_find(names[i])->macs);
}

/* 12 layers of width d = 768 over s tokens: linear layers s (4 d d + 2 d 4d), attention 2 s s d. */
static uint64_t encoder_macs(uint64_t s)
{
    const uint64_t d = 768;
    return 12 * (s * (4 * d * d + 2 * d * 4 * d) + 2 * s * s * d);
}

static void macs_of_transformers_match_layer_sizes(void **state)
{
    (void)state;
    const uint64_t d = 768;
    /* 196 patches of 3 x 16 x 16 = 768 numbers; with the class token 197; 1000 classes */
    assert_int_equal(zoo_find("vit_b_16")->macs, 196 * d * d + encoder_macs(197) + d * 1000);
    assert_int_equal(zoo_find("bert_base")->macs, encoder_macs(128) + d * d);
    assert_int_equal(zoo_find("gpt2")->macs, encoder_macs(128) + 128 * d * 50257);
}

/* ---- graphs are valid ---- */

static void define(struct oc_map *known, const char *name)
{
    uint32_t one = 1;
    if (!oc_map_add(known, name, strlen(name), &one, NULL))
        fail_msg("%s is defined twice", name);
}

/* Nodes are in order, names are unique, nothing is undefined, all parameters are used. */
static void check_valid(const char *name)
{
    struct zoo z;
    const Onnx__GraphProto *g = build_model(&z, name);
    struct oc_arena arena = {0};
    struct oc_map known = {.arena = &arena}, nodes = {.arena = &arena}, used = {.arena = &arena};
    for (size_t i = 0; i < g->n_input; i++)
        define(&known, g->input[i]->name);
    for (size_t i = 0; i < g->n_initializer; i++)
        define(&known, g->initializer[i]->name);
    for (size_t i = 0; i < g->n_node; i++) {
        const Onnx__NodeProto *n = g->node[i];
        define(&nodes, n->name);
        for (size_t k = 0; k < n->n_input; k++) {
            if (!*n->input[k])
                continue;
            if (oc_map_get(&known, n->input[k], strlen(n->input[k])) == OC_NONE)
                fail_msg("%s: %s reads undefined %s", name, n->name, n->input[k]);
            oc_map_set(&used, n->input[k], strlen(n->input[k]), 1);
        }
        for (size_t k = 0; k < n->n_output; k++)
            define(&known, n->output[k]);
    }
    for (size_t i = 0; i < g->n_initializer; i++)
        assert_int_equal(oc_map_get(&used, g->initializer[i]->name, strlen(g->initializer[i]->name)), 1);
    for (size_t i = 0; i < g->n_output; i++)
        assert_int_not_equal(oc_map_get(&known, g->output[i]->name, strlen(g->output[i]->name)), OC_NONE);
    oc_map_free(&known);
    oc_map_free(&nodes);
    oc_map_free(&used);
    oc_arena_free(&arena);
    zoo_free(&z);
}

static void all_zoo_graphs_are_valid(void **state)
{
    (void)state;
    for (size_t i = 0; i < zoo_model_count; i++)
        check_valid(zoo_models[i].name);
}

static void node_names_follow_the_exporter(void **state)
{
    (void)state;
    struct zoo z;
    const Onnx__GraphProto *g = build_model(&z, "resnet18");
    assert_string_equal(g->node[0]->name, "/conv1/Conv");
    assert_string_equal(g->node[4]->name, "/layer1/layer1.0/conv1/Conv");
    assert_string_equal(g->node[4]->input[1], "layer1.0.conv1.weight");
    assert_string_equal(g->node[4]->output[0], "/layer1/layer1.0/conv1/Conv_output_0");
    zoo_free(&z);
    g = build_model(&z, "mobilenetv2");
    assert_string_equal(g->node[0]->name, "/features/features.0/features.0.0/Conv");
    assert_string_equal(g->node[5]->name, "/features/features.1/conv/conv.0/conv.0.0/Conv");
    zoo_free(&z);
}

/* ---- files ---- */

/* The file that zoo_write or zoo_write_nest wrote, to be freed. */
static uint8_t *read_file(FILE *f, size_t *n)
{
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    *n = (size_t)ftell(f);
    rewind(f);
    uint8_t *bytes = oc_xmalloc(*n);
    assert_int_equal(fread(bytes, 1, *n, f), *n);
    fclose(f);
    return bytes;
}

static uint8_t *write_model(const char *name, const char *external, uint64_t seed, size_t *n)
{
    struct zoo z;
    build_model(&z, name);
    FILE *f = tmpfile();
    assert_int_equal(zoo_write(&z, external, seed, f, NULL), 0);
    zoo_free(&z);
    return read_file(f, n);
}

static void written_file_has_seeded_data(void **state)
{
    (void)state;
    size_t n, n2, n3;
    uint8_t *a = write_model("mobilenetv2", NULL, 1, &n), *b = write_model("mobilenetv2", NULL, 1, &n2);
    uint8_t *c = write_model("mobilenetv2", NULL, 2, &n3);
    assert_int_equal(n, n2);
    assert_memory_equal(a, b, n);
    assert_int_equal(n, n3);
    assert_true(memcmp(a, c, n) != 0);
    Onnx__ModelProto *m = onnx__model_proto__unpack(NULL, n, a);
    assert_non_null(m);
    assert_int_equal(m->graph->n_node, 222);
    uint64_t bytes = 0;
    for (size_t i = 0; i < m->graph->n_initializer; i++) {
        assert_int_equal(m->graph->initializer[i]->raw_data.len, 4 * elements(m->graph->initializer[i]));
        bytes += m->graph->initializer[i]->raw_data.len;
    }
    assert_int_equal(bytes, 4 * (3504872 + 34112));
    onnx__model_proto__free_unpacked(m, NULL);
    free(a);
    free(b);
    free(c);
}

static void written_file_without_data_refers_to_external_data(void **state)
{
    (void)state;
    size_t n;
    uint8_t *bytes = write_model("resnet18", "r.data", 0, &n);
    Onnx__ModelProto *m = onnx__model_proto__unpack(NULL, n, bytes);
    assert_non_null(m);
    const Onnx__TensorProto *t = m->graph->initializer[1];
    assert_false(t->has_raw_data);
    assert_int_equal(t->data_location, ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL);
    assert_string_equal(t->external_data[0]->value, "r.data");
    assert_string_equal(t->external_data[1]->value, "37632"); /* after 64 x 3 x 7 x 7 floats */
    assert_string_equal(t->external_data[2]->value, "256");
    onnx__model_proto__free_unpacked(m, NULL);
    free(bytes);
}

static void strip_removes_weight_data(void **state)
{
    (void)state;
    char path[] = "/tmp/test_zoo_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *full = fdopen(fd, "wb"), *bare = tmpfile();
    struct zoo z;
    build_model(&z, "mobilenetv2");
    assert_int_equal(zoo_write(&z, NULL, 1, full, NULL), 0);
    zoo_free(&z);
    fclose(full);
    assert_int_equal(zoo_strip(path, "m.data", bare, NULL), 0);
    remove(path);
    size_t n;
    uint8_t *bytes = read_file(bare, &n);
    Onnx__ModelProto *m = onnx__model_proto__unpack(NULL, n, bytes);
    assert_non_null(m);
    assert_int_equal(m->graph->n_node, 222);
    const Onnx__TensorProto *t = m->graph->initializer[0], *small = m->graph->initializer[1];
    assert_false(t->has_raw_data); /* 32 x 3 x 3 x 3 floats */
    assert_string_equal(t->external_data[2]->value, "3456");
    assert_int_equal(small->raw_data.len, 128); /* 32 floats */
    assert_int_equal(small->n_external_data, 0);
    onnx__model_proto__free_unpacked(m, NULL);
    free(bytes);
}

static void strip_rejects_other_files(void **state)
{
    (void)state;
    struct oc_err err = {0};
    FILE *f = tmpfile();
    assert_int_equal(zoo_strip("Makefile", "m.data", f, &err), -1);
    assert_string_equal(err.msg, "cannot read 'Makefile': not an ONNX model");
    assert_int_equal(zoo_strip("no/such/file", "m.data", f, &err), -1);
    fclose(f);
}

static void benchmark_graphs_have_the_requested_size(void **state)
{
    (void)state;
    struct zoo z;
    zoo_init(&z, 17);
    zoo_chain(&z, 1000);
    const Onnx__GraphProto *g = oc_b_model(z.b)->graph;
    assert_int_equal(g->n_node, 1000);
    assert_string_equal(g->node[999]->output[0], g->output[0]->name);
    zoo_free(&z);
    zoo_init(&z, 17);
    zoo_bigfile(&z, 2000000000);
    assert_int_equal(4 * zoo_param_elements(&z), 2000000000 / 16384 * 16384);
    zoo_free(&z);
}

static void nested_graphs_have_the_requested_depth(void **state)
{
    (void)state;
    FILE *f = tmpfile();
    assert_int_equal(zoo_write_nest(3, f, NULL), 0);
    size_t n;
    uint8_t *bytes = read_file(f, &n);
    Onnx__ModelProto *m = onnx__model_proto__unpack(NULL, n, bytes);
    assert_non_null(m);
    assert_int_equal(m->opset_import[0]->version, 17);
    const Onnx__GraphProto *g = m->graph;
    for (int depth = 0; depth < 3; depth++) {
        assert_string_equal(g->node[0]->op_type, "If");
        assert_string_equal(g->node[0]->output[0], g->output[0]->name);
        assert_int_equal(g->node[0]->n_attribute, 2);
        size_t then = strcmp(g->node[0]->attribute[0]->name, "then_branch") ? 1 : 0;
        assert_string_equal(g->node[0]->attribute[!then]->g->node[0]->op_type, "Identity");
        g = g->node[0]->attribute[then]->g;
    }
    assert_string_equal(g->node[0]->op_type, "Identity");
    onnx__model_proto__free_unpacked(m, NULL);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(node_counts_of_cnns_match_the_papers),
        cmocka_unit_test(node_counts_of_transformers_match_the_papers),
        cmocka_unit_test(parameters_match_published_counts),
        cmocka_unit_test(macs_of_cnns_match_layer_sizes),
        cmocka_unit_test(macs_of_transformers_match_layer_sizes),
        cmocka_unit_test(all_zoo_graphs_are_valid),
        cmocka_unit_test(node_names_follow_the_exporter),
        cmocka_unit_test(written_file_has_seeded_data),
        cmocka_unit_test(written_file_without_data_refers_to_external_data),
        cmocka_unit_test(strip_removes_weight_data),
        cmocka_unit_test(strip_rejects_other_files),
        cmocka_unit_test(benchmark_graphs_have_the_requested_size),
        cmocka_unit_test(nested_graphs_have_the_requested_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
