/* The module and the source line of nodes that PyTorch's exporter wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "support/build.h"
#include "onnxcost.h"

#define SCOPES  "pkg.torch.onnx.name_scopes"
#define CLASSES "pkg.torch.onnx.class_hierarchy"
#define TRACE   "pkg.torch.onnx.stack_trace"

/* The origin of one node with up to two entries of metadata. */
static void origin_is(const char *key, const char *value, const char *key2, const char *value2,
                      struct oc_origin want)
{
    struct oc_builder *b = oc_b_new(18);
    struct oc_arena a = {0};
    struct oc_model *m = NULL;
    struct oc_err err = {0};
    struct oc_origin got;
    size_t n;
    oc_b_input(b, "x", "float[2]");
    Onnx__NodeProto *node = oc_b_node(b, "Relu", "node_relu", "x", "y", "");
    oc_b_metadata(b, node, "pkg.torch.onnx.fx_node", "%relu : call_function");
    oc_b_metadata(b, node, key, value);
    if (key2)
        oc_b_metadata(b, node, key2, value2);
    oc_b_output(b, "y", "float[2]");
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    assert_int_equal(oc_model_load_mem(bytes, n, NULL, &m, &err), 0);
    oc_node_origin(m, 0, &a, &got);
    const char *pair[3][2] = {
        {got.module, want.module}, {got.module_class, want.module_class}, {got.source, want.source}};
    for (size_t i = 0; i < 3; i++)
        if (pair[i][1])
            assert_string_equal(pair[i][0] ? pair[i][0] : "(none)", pair[i][1]);
        else
            assert_null(pair[i][0]);
    oc_arena_free(&a);
    oc_model_free(m);
    free(bytes);
}

static void name_scopes_give_the_module_that_contains_the_call(void **state)
{
    (void)state;
    origin_is(SCOPES, "['', 'blocks.2', 'blocks.2.mlp', 'blocks.2.mlp.fc1', 'linear_8']", CLASSES,
              "['my.ViT', 'my.Block', 'my.Mlp', 'torch.nn.modules.linear.Linear', 'aten.linear.default']",
              (struct oc_origin){"blocks.2.mlp.fc1", "torch.nn.modules.linear.Linear", NULL});
    origin_is(SCOPES, "['', 'relu']", CLASSES, "['my.Model', 'aten.relu.default']",
              (struct oc_origin){"", "my.Model", NULL});
    origin_is(SCOPES, "[\"it's\", 'relu']", NULL, NULL, (struct oc_origin){"it's", NULL, NULL});
}

static void namespace_gives_module_and_class(void **state)
{
    (void)state;
    origin_is("namespace",
              ": __main__.Net/net: torch.nn.modules.container.Sequential/net.0: "
              "torch.nn.modules.linear.Linear/linear: aten.linear.default",
              NULL, NULL, (struct oc_origin){"net.0", "torch.nn.modules.linear.Linear", NULL});
    origin_is("namespace", ": __main__.Net/relu: aten.relu.default", NULL, NULL,
              (struct oc_origin){"", "__main__.Net", NULL});
    origin_is("namespace", "relu: aten.relu.default", NULL, NULL, (struct oc_origin){NULL, NULL, NULL});
}

static void source_line_is_the_innermost_outside_of_torch(void **state)
{
    (void)state;
    static const char trace[] =
        "File \"/home/me/train.py\", line 12, in <module>\n    main()\n"
        "  File \"/home/me/net.py\", line 96, in forward\n    return self.net(x)\n"
        "  File \"/usr/lib/python3/site-packages/torch/nn/modules/linear.py\", line 134, in "
        "forward\n    return F.linear(input, self.weight)\n";
    origin_is(TRACE, trace, NULL, NULL, (struct oc_origin){NULL, NULL, "/home/me/net.py:96"});
    origin_is(TRACE,
              "File \"C:\\Users\\me\\net.py\", line 7, in forward\n  File \"C:\\py\\torch\\nn\\a.py\", line "
              "1, in f",
              NULL, NULL, (struct oc_origin){NULL, NULL, "C:\\Users\\me\\net.py:7"});
    origin_is(TRACE, "File \"/opt/torch/nn/functional.py\", line 5, in relu", NULL, NULL,
              (struct oc_origin){NULL, NULL, "/opt/torch/nn/functional.py:5"});
}

static void damaged_metadata_give_nothing(void **state)
{
    (void)state;
    static const char *const scopes[] = {"", "[", "['", "['a", "['only one']", "['a\\", "[None, 1]"};
    static const char *const traces[] = {
        "", "File \"", "File \"a.py", "File \"a.py\", line ", "File \"a.py\", line x", "Traceback"};
    for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++)
        origin_is(SCOPES, scopes[i], CLASSES, scopes[i], (struct oc_origin){NULL, NULL, NULL});
    for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++)
        origin_is(TRACE, traces[i], "namespace", "/", (struct oc_origin){NULL, NULL, NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(name_scopes_give_the_module_that_contains_the_call),
        cmocka_unit_test(namespace_gives_module_and_class),
        cmocka_unit_test(source_line_is_the_innermost_outside_of_torch),
        cmocka_unit_test(damaged_metadata_give_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
