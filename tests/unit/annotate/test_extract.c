/* A row of a report as a model: what it has as nodes, constants, weights, inputs and outputs, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "onnxcost.h"
#include "onnxcost/report.h"
#include "support/build.h"

struct made {
    Onnx__ModelProto *model; /* NULL: refused */
    struct oc_extracted out;
    struct oc_err err;
};

static struct made extract_of(const struct oc_model *m, const char *row, const char *path)
{
    struct made r = {0};
    struct oc_analysis *a = NULL;
    const struct oc_analyze_opts opts = {.if_mode = OC_IF_MAX};
    assert_int_equal(oc_analyze(m, &opts, &a, &r.err), 0);
    const struct oc_report_in in = {.model = m, .analysis = a};
    const struct oc_report_opts o = {0};
    char *data = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&data, &n);
    int rc = oc_extract_write(&in, &o, row, path, f, &r.out, &r.err);
    fclose(f);
    if (!rc) {
        r.model = onnx__model_proto__unpack(NULL, n, (const uint8_t *)data);
        assert_non_null(r.model);
    }
    free(data);
    oc_analysis_free(a);
    return r;
}

static struct made extract(struct oc_builder *b, const char *row)
{
    size_t n;
    uint8_t *bytes = oc_b_pack(b, &n);
    struct oc_model *m = NULL;
    struct oc_err err;
    if (oc_model_load_mem(bytes, n, NULL, &m, &err))
        fail_msg("%s", err.msg);
    struct made r = extract_of(m, row, NULL);
    oc_model_free(m);
    free(bytes);
    oc_b_free(b);
    return r;
}

static void made_free(struct made *r)
{
    onnx__model_proto__free_unpacked(r->model, NULL);
}

static void expect_dims(const Onnx__ValueInfoProto *v, const char *name, int dtype, size_t n,
                        const int64_t *dim)
{
    assert_string_equal(v->name, name);
    const Onnx__TypeProto__Tensor *t = v->type->tensor_type;
    assert_int_equal(t->elem_type, dtype);
    assert_int_equal(t->shape->n_dim, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(t->shape->dim[i]->dim_value, dim[i]);
}
#define DIMS(...)                                                                                            \
    sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[])                                    \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }

/* x 2x6 -> Shape -> Gather -> Concat with -1: the target of the Reshape is computed from 2x6 and known. */
static void known_target_of_a_reshape_is_a_constant(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,6]");
    oc_b_init(b, "first", "int64[1]{0}");
    oc_b_init(b, "rest", "int64[1]{-1}");
    oc_b_node(b, "Relu", "relu", "x", "y", "");
    oc_b_node(b, "Shape", "shape", "x", "s", "");
    oc_b_node(b, "Gather", "gather", "s,first", "n", "");
    oc_b_node(b, "Concat", "concat", "n,rest", "target", "axis=0");
    oc_b_node(b, "Reshape", "flat", "y,target", "z", "");
    oc_b_output(b, "z", "float[2,?]");
    struct made r = extract(b, "flat");
    assert_non_null(r.model);
    const Onnx__GraphProto *g = r.model->graph;
    assert_int_equal(g->n_node, 1);
    assert_int_equal(g->n_input, 1);
    expect_dims(g->input[0], "y", 1, DIMS(2, 6));
    assert_int_equal(g->n_initializer, 1);
    assert_string_equal(g->initializer[0]->name, "target");
    assert_int_equal(g->initializer[0]->raw_data.len, 16);
    assert_memory_equal(g->initializer[0]->raw_data.data, "\2\0\0\0\0\0\0\0\377\377\377\377\377\377\377\377",
                        16);
    assert_int_equal(g->n_output, 1);
    expect_dims(g->output[0], "z", 1, DIMS(2, 6));
    assert_int_equal(r.model->opset_import[0]->version, 17);
    made_free(&r);
}

/* Constants that other nodes compute from weights are computed in the new file, too. */
static void nodes_that_compute_constants_come_along(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[3,4]");
    oc_b_init(b, "w8", "int8[4,5]{*3}");
    oc_b_init(b, "scale", "float[]{0.5}");
    oc_b_node(b, "DequantizeLinear", "dq", "w8,scale", "w", "");
    oc_b_node(b, "MatMul", "product", "x,w", "y", "");
    oc_b_node(b, "Relu", "relu", "y", "z", "");
    oc_b_output(b, "z", "float[3,5]");
    struct made r = extract(b, "product");
    assert_non_null(r.model);
    const Onnx__GraphProto *g = r.model->graph;
    assert_int_equal(g->n_node, 2);
    assert_string_equal(g->node[0]->name, "dq");
    assert_string_equal(g->node[1]->name, "product");
    assert_int_equal(g->n_initializer, 2);
    assert_int_equal(r.out.nodes, 1);
    assert_int_equal(r.out.constant_nodes, 1);
    assert_int_equal(r.out.weight_bytes, 24); /* 20 of int8, 4 of the scale */
    assert_int_equal(g->n_input, 1);
    assert_string_equal(g->output[0]->name, "y");
    made_free(&r);
}

static void weights_without_data_are_inputs(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,3,8,8]");
    oc_b_init(b, "w", "float[4,3,3,3]");
    oc_b_node(b, "Conv", "conv", "x,w", "y", "");
    oc_b_output(b, "y", "float[1,4,6,6]");
    struct made r = extract(b, "conv");
    assert_non_null(r.model);
    assert_int_equal(r.out.absent_weights, 1);
    assert_int_equal(r.model->graph->n_initializer, 0);
    assert_int_equal(r.model->graph->n_input, 2);
    expect_dims(r.model->graph->input[1], "w", 1, DIMS(4, 3, 3, 3));
    made_free(&r);
}

static void texts_and_typed_fields_are_copied(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2]");
    oc_b_init_fields(b, "w", "float[2]{1,2}");
    oc_b_node(b, "Add", "add", "x,w", "y", "");
    oc_b_output(b, "y", "float[2]");
    struct made r = extract(b, "add");
    assert_non_null(r.model);
    const Onnx__TensorProto *t = r.model->graph->initializer[0];
    assert_string_equal(t->name, "w");
    assert_int_equal(t->n_float_data, 2);
    assert_true(t->float_data[1] == 2.0F);
    made_free(&r);
}

static struct oc_builder *calls_of_a_function(const char *alpha)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "f", 1);
    oc_b_function(b, "f", "F", "a", "c", "alpha=0.5");
    oc_b_opset(b, "", 13);
    oc_b_node(b, "LeakyRelu", "leaky", "a", "t", alpha);
    oc_b_node(b, "Relu", "relu", "t", "c", "");
    oc_b_close(b);
    oc_b_input(b, "x", "float[7]");
    oc_b_node(b, "f::F", "one", "x", "y", "");
    oc_b_node(b, "f::F", "two", "y", "z", "");
    oc_b_output(b, "z", "float[7]");
    return b;
}

static void node_of_a_function_has_the_version_of_the_function(void **state)
{
    (void)state;
    struct made r = extract(calls_of_a_function("alpha=0.1"), "two/leaky");
    assert_non_null(r.model);
    assert_string_equal(r.model->graph->node[0]->name, "two/leaky");
    expect_dims(r.model->graph->input[0], "y", 1, DIMS(7));
    for (size_t i = 0; i < r.model->n_opset_import; i++)
        if (!r.model->opset_import[i]->domain[0])
            assert_int_equal(r.model->opset_import[i]->version, 13);
    made_free(&r);
}

static void parameter_of_a_function_is_refused(void **state)
{
    (void)state;
    struct made r = extract(calls_of_a_function("alpha:float=@alpha"), "one/leaky");
    assert_null(r.model);
    assert_int_equal(r.err.code, OC_EUNSUPPORTED);
    assert_non_null(strstr(r.err.msg, "parameter of its function"));
}

static struct oc_builder *two_operators(const char *input)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", input);
    oc_b_node(b, "Relu", "a", "x", "y", "");
    oc_b_node(b, "Relu", "b", "y", "z", "");
    oc_b_output(b, "z", NULL);
    return b;
}

static void refuses_what_is_not_one_row(void **state)
{
    (void)state;
    static const struct {
        const char *row, *input, *message;
        enum oc_code code;
    } cases[] = {
        {"Relu", "float[2]", "selects 2 rows", OC_EARG},
        {"none", "float[2]", "unknown operator 'none'", OC_EARG},
        {"#3", "float[2]", "the table has 2 rows", OC_EARG},
        {"a", "float", "input 'x' is unknown", OC_EUNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct made r = extract(two_operators(cases[i].input), cases[i].row);
        assert_null(r.model);
        assert_int_equal(r.err.code, cases[i].code);
        if (!strstr(r.err.msg, cases[i].message))
            fail_msg("'%s' is not in: %s", cases[i].message, r.err.msg);
    }
}

/* Of 4 bytes: copied. Of 300 MiB: a reference, and only in the folder of the weights. */
static void large_external_weights_stay_where_they_are(void **state)
{
    enum { LARGE = 300 << 20 };
    (void)state;
    char folder[] = "/tmp/onnxcost-extract-XXXXXX", data[64], path[64], other[64];
    assert_non_null(mkdtemp(folder));
    snprintf(data, sizeof(data), "%s/w.bin", folder);
    snprintf(path, sizeof(path), "%s/m.onnx", folder);
    snprintf(other, sizeof(other), "%s/row.onnx", folder);
    FILE *f = fopen(data, "wb");
    assert_non_null(f);
    assert_int_equal(ftruncate(fileno(f), LARGE + 4), 0);
    fclose(f);
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1]");
    oc_b_init_external(b, "small", "float[1]", "w.bin", LARGE, 4);
    oc_b_init_external(b, "large", "float[78643200]", "w.bin", 0, LARGE);
    oc_b_node(b, "Sum", "sum", "x,small,large", "y", "");
    oc_b_output(b, "y", "float[78643200]");
    assert_int_equal(oc_b_save(b, path), 0);
    oc_b_free(b);
    struct oc_model *m = NULL;
    struct oc_err err;
    assert_int_equal(oc_model_load(path, NULL, &m, &err), 0);
    struct made r = extract_of(m, "sum", other);
    assert_non_null(r.model);
    assert_int_equal(r.out.weights, 2);
    assert_int_equal(r.out.external_weights, 1);
    assert_int_equal(r.model->graph->initializer[0]->raw_data.len, 4);
    const Onnx__TensorProto *t = r.model->graph->initializer[1];
    assert_int_equal(t->data_location, 1);
    assert_string_equal(t->external_data[0]->value, "w.bin");
    made_free(&r);
    r = extract_of(m, "sum", "/row.onnx");
    assert_null(r.model);
    assert_non_null(strstr(r.err.msg, "must be next to the model"));
    r = extract_of(m, "sum", data);
    assert_null(r.model);
    assert_non_null(strstr(r.err.msg, "contains the weights"));
    oc_model_free(m);
    unlink(data);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_target_of_a_reshape_is_a_constant),
        cmocka_unit_test(nodes_that_compute_constants_come_along),
        cmocka_unit_test(weights_without_data_are_inputs),
        cmocka_unit_test(texts_and_typed_fields_are_copied),
        cmocka_unit_test(node_of_a_function_has_the_version_of_the_function),
        cmocka_unit_test(parameter_of_a_function_is_refused),
        cmocka_unit_test(refuses_what_is_not_one_row),
        cmocka_unit_test(large_external_weights_stay_where_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
