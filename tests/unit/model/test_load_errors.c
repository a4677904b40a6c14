/* Errors of the loader that test_load.c does not cover: lists with a wrong length, and sizes beyond the
 * limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "model/loader.h"
#include "support/build.h"
#include "onnxcost.h"

static void expect_load_error(const void *data, size_t n, const struct oc_input_limits *limits,
                              const char *says)
{
    struct oc_model *m = NULL;
    struct oc_err err = {0};
    assert_int_equal(oc_model_load_mem(data, n, limits, &m, &err), -1);
    assert_null(m);
    if (!strstr(err.msg, says))
        fail_msg("'%s' does not contain '%s'", err.msg, says);
    assert_null(strchr(err.msg, '\n'));
}

static void expect_builder_error(struct oc_builder *b, const struct oc_input_limits *limits, const char *says)
{
    size_t n;
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    expect_load_error(bytes, n, limits, says);
    free(bytes);
}

/* ---- malformed bytes ----------------------------------------------------------------------------------- */

/* A length-delimited field: its number, a length of up to 2^28, its content. */
static struct oc_buf field(unsigned number, const void *data, size_t n)
{
    struct oc_buf b = {0};
    oc_buf_char(&b, (char)(number << 3 | 2));
    for (size_t left = n;; left >>= 7) {
        oc_buf_char(&b, (char)((left & 0x7f) | (left > 0x7f ? 0x80 : 0)));
        if (left <= 0x7f)
            break;
    }
    oc_buf_add(&b, data, n);
    return b;
}

/* A model with one node that has one attribute "a" whose field has these bytes. */
static void expect_attribute_error(unsigned number, const void *data, size_t n, const char *says)
{
    struct oc_buf list = field(number, data, n), attribute = {0};
    oc_buf_add(&attribute,
               "\x0a\x01"
               "a",
               3);
    oc_buf_add(&attribute, list.data, list.n);
    struct oc_buf in_node = field(5, attribute.data, attribute.n);
    struct oc_buf node = field(1, in_node.data, in_node.n), graph = field(7, node.data, node.n);
    expect_load_error(graph.data, graph.n, NULL, says);
    oc_buf_free(&list);
    oc_buf_free(&attribute);
    oc_buf_free(&in_node);
    oc_buf_free(&node);
    oc_buf_free(&graph);
}

static void rejects_truncated_attribute_lists(void **state)
{
    (void)state;
    expect_attribute_error(7, "\0\0\0", 3, "attribute 'a': a list is truncated"); /* a float has four bytes */
    expect_attribute_error(8, "\x80", 1,
                           "attribute 'a': a list is truncated"); /* a varint that continues past the end */
    expect_attribute_error(8, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11,
                           "attribute 'a': a field is damaged"); /* a varint of 11 bytes */
}

/* ---- graphs beyond the limits -------------------------------------------------------------------------- */

static struct oc_builder *relus(unsigned n)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x0", "float[1]");
    for (unsigned i = 0; i < n; i++) {
        char from[16], to[16];
        snprintf(from, sizeof(from), "x%u", i);
        snprintf(to, sizeof(to), "x%u", i + 1);
        oc_b_node(b, "Relu", to, from, to, "");
    }
    return b;
}

static void rejects_lists_beyond_the_limit(void **state)
{
    (void)state;
    struct oc_builder *b = relus(1);
    oc_b_node(b, "Relu", "n", "x0", "y", "a=[1,2,3]");
    expect_builder_error(b, &(struct oc_input_limits){.most = {[OC_LIMIT_LIST_ELEMENTS] = 2}},
                         "attribute 'a': 3 elements: more than 2 (--limit list-elements=N)");
}

static void rejects_node_counts_beyond_the_limit(void **state)
{
    (void)state;
    expect_builder_error(relus(4), &(struct oc_input_limits){.most = {[OC_LIMIT_NODES] = 3}},
                         "4 nodes: more than 3 (--limit nodes=N)");
}

/* Strings of 30 bytes where the limit is 20, each in another place. */
static void rejects_strings_beyond_the_limit(void **state)
{
    (void)state;
#define LONG "a_text_that_has_thirty_bytes_x"
    static const struct {
        const char *op_type, *name, *output, *attribute;
    } node[] = {{LONG, "n", "y", ""},
                {"Relu", LONG, "y", ""},
                {"Relu", "n", LONG, ""},
                {"Relu", "n", "y", LONG "=1"}};
    const struct oc_input_limits limits = {.most = {[OC_LIMIT_STRING_BYTES] = 20}};
    for (size_t i = 0; i < OC_COUNT(node); i++) {
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "x", "float[1]");
        oc_b_node(b, node[i].op_type, node[i].name, "x", node[i].output, node[i].attribute);
        expect_builder_error(b, &limits, "30 bytes in one string: more than 20 (--limit string-bytes=N)");
    }
#undef LONG
}

/* Before the nodes, and for the nodes' attributes: 20,000 numbers take 160,000 bytes. */
static void rejects_models_beyond_the_memory_limit(void **state)
{
    (void)state;
    static const char says[] = "bytes of memory for a model (--limit model-memory=N)";
    expect_builder_error(relus(4), &(struct oc_input_limits){.most = {[OC_LIMIT_MODEL_MEMORY] = 1}}, says);
    struct oc_buf text = {0};
    struct oc_builder *b = relus(1);
    oc_buf_str(&text, "a=1");
    for (int i = 1; i < 20000; i++)
        oc_buf_str(&text, ",1");
    oc_b_node(b, "Relu", "n", "x0", "y", text.data);
    expect_builder_error(b, &(struct oc_input_limits){.most = {[OC_LIMIT_MODEL_MEMORY] = 100000}}, says);
    oc_buf_free(&text);
}

/* Every limit below the memory of a model rejects it, wherever the loader is then. */
static void expect_memory_limits(struct oc_builder *b)
{
    const unsigned most = 1 << 16;
    struct oc_model *m = NULL;
    size_t n;
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    unsigned limit = 1;
    for (; limit < most; limit++) {
        const struct oc_input_limits limits = {.most = {[OC_LIMIT_MODEL_MEMORY] = limit}};
        struct oc_err err = {0};
        if (oc_model_load_mem(bytes, n, &limits, &m, &err) == 0)
            break;
        assert_int_equal(err.code, OC_ELIMIT);
        assert_non_null(strstr(err.msg, "bytes of memory for a model (--limit model-memory=N)"));
    }
    assert_true(limit > 500 && limit < most);
    oc_model_free(m);
    free(bytes);
}

static void every_lower_memory_limit_rejects_a_model(void **state)
{
    (void)state;
    expect_memory_limits(relus(40));
    struct oc_builder *calls = oc_b_new(17);
    oc_b_opset(calls, "my", 1);
    oc_b_function(calls, "my", "F", "a", "a", ""); /* its calls are expanded after all nodes are read */
    oc_b_opset(calls, "", 17);
    oc_b_close(calls);
    oc_b_input(calls, "x", "float[1]");
    for (unsigned i = 0; i < 16; i++) {
        char name[16];
        snprintf(name, sizeof(name), "y%u", i);
        oc_b_node(calls, "my::F", name, "x", name, "");
    }
    expect_memory_limits(calls);
    struct oc_builder *b = relus(3);
    oc_b_input(b, "c", "bool[]");
    oc_b_node(b, "If", "branch", "c", "y", "");
    oc_b_open(b, "then_branch");
    for (unsigned i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof(name), "y%u", i);
        oc_b_node(b, "Relu", name, "x0", name, "");
    }
    oc_b_output(b, "y0", NULL);
    oc_b_close(b);
    expect_memory_limits(b);
}

/* "float[1,1,1...]" of n axes */
static const char *type_of_rank(struct oc_buf *text, unsigned n, const char *end)
{
    oc_buf_clear(text);
    oc_buf_str(text, "float[");
    for (unsigned i = 0; i < n; i++)
        oc_buf_str(text, i ? ",1" : "1");
    oc_buf_str(text, end);
    return text->data;
}

static void rejects_too_many_dimensions(void **state)
{
    (void)state;
    struct oc_buf text = {0};
    struct oc_builder *b = relus(1);
    oc_b_init(b, "w", type_of_rank(&text, OC_MAX_RANK + 1, "]{1}"));
    expect_builder_error(b, NULL, "tensor 'w': more than 64 dimensions");
    b = relus(1);
    oc_b_input(b, "y", type_of_rank(&text, OC_MAX_RANK + 1, "]"));
    expect_builder_error(b, NULL, "shape: more than 64 dimensions");
    oc_buf_free(&text);
}

static void rejects_deeply_nested_types(void **state)
{
    (void)state;
    struct oc_buf text = {0};
    struct oc_builder *b = relus(1);
    for (unsigned i = 0; i < 20; i++)
        oc_buf_str(&text, "seq(");
    oc_buf_str(&text, "float[1]");
    for (unsigned i = 0; i < 20; i++)
        oc_buf_char(&text, ')');
    oc_b_input(b, "s", text.data);
    expect_builder_error(b, NULL, "type: nested deeper than 16");
    oc_buf_free(&text);
}

/* Each function calls the one before it. */
static void rejects_deeply_nested_functions(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "my", 1);
    for (int i = 0; i < 70; i++) {
        char name[16], call[24];
        snprintf(name, sizeof(name), "F%d", i);
        snprintf(call, sizeof(call), i ? "my::F%d" : "Relu", i - 1);
        oc_b_function(b, "my", name, "a", "r", "");
        oc_b_opset(b, "", 17);
        oc_b_opset(b, "my", 1);
        oc_b_node(b, call, "p", "a", "r", "");
        oc_b_close(b);
    }
    oc_b_input(b, "x", "float[1]");
    oc_b_node(b, "my::F69", "call", "x", "y", "");
    expect_builder_error(b, NULL, "more than 64 levels");
}

/* The call omits the second input, and a node inside the function writes it. */
static void rejects_function_that_writes_an_omitted_input(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "my", 1);
    oc_b_function(b, "my", "F", "a,b", "r", "");
    oc_b_opset(b, "", 17);
    oc_b_node(b, "Relu", "p", "a", "b", "");
    oc_b_node(b, "Relu", "q", "b", "r", "");
    oc_b_close(b);
    oc_b_input(b, "x", "float[1]");
    oc_b_node(b, "my::F", "call", "x", "y", "");
    expect_builder_error(b, NULL, "a node overwrites an input of its function");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rejects_truncated_attribute_lists),
        cmocka_unit_test(rejects_lists_beyond_the_limit),
        cmocka_unit_test(rejects_node_counts_beyond_the_limit),
        cmocka_unit_test(rejects_strings_beyond_the_limit),
        cmocka_unit_test(rejects_models_beyond_the_memory_limit),
        cmocka_unit_test(every_lower_memory_limit_rejects_a_model),
        cmocka_unit_test(rejects_too_many_dimensions),
        cmocka_unit_test(rejects_deeply_nested_types),
        cmocka_unit_test(rejects_deeply_nested_functions),
        cmocka_unit_test(rejects_function_that_writes_an_omitted_input),
    };
    return cmocka_run_group_tests_name("model/load_errors", tests, NULL, NULL);
}
