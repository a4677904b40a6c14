/* Suggestions that are carried out: the model that is written has the values of the original, with their shapes, and is what
 * the suggestion says. That the numbers are the same is shown on ONNX Runtime by tests/check_apply.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "onnxcost.h"
#include "onnxcost/report.h"
#include "support/build.h"
#include "support/run_model.h"

struct applied {
    struct oc_run before, after;
    struct oc_applied out;
    struct oc_err err;
    int rc;
};

static struct applied apply(struct oc_builder *b, const char *id)
{
    struct applied r = {.before = oc_run_model(b, NULL)};
    const struct oc_report_in in = {.model = r.before.m, .analysis = r.before.a};
    char *data = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&data, &n);
    r.rc = oc_apply_write(&in, NULL, id, NULL, f, &r.out, &r.err);
    fclose(f);
    if (!r.rc) {
        r.after.bytes = (uint8_t *)data;
        if (oc_model_load_mem(data, n, NULL, &r.after.m, &r.err) ||
            oc_analyze(r.after.m, NULL, &r.after.a, &r.err))
            fail_msg("%s", r.err.msg);
    } else
        free(data);
    return r;
}

static void applied_free(struct applied *r)
{
    if (!r->rc)
        oc_run_free(&r->after);
    oc_run_free(&r->before);
}

static unsigned count_of(const struct oc_run *r, const char *type)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < r->m->n_node; i++)
        n += !strcmp(r->m->node[i].op_type, type);
    return n;
}

static void expect_ints(const struct oc_run *r, const char *node, const char *name, const char *want)
{
    const struct oc_node *n = &r->m->node[oc_run_node(r, node)];
    char text[80] = "";
    for (uint32_t i = 0; i < n->n_attr; i++)
        for (uint32_t k = 0; k < n->attr[i].n && !strcmp(n->attr[i].name, name); k++)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%lld", k ? "," : "",
                     (long long)(n->attr[i].type == OC_ATTR_INTS ? n->attr[i].ints[k] : n->attr[i].i));
    assert_string_equal(text, want);
}

/* Two convolutions with all that can be between them; `b` is read by an operator that cannot have the axis. */
static struct oc_builder *signal_network(int opset)
{
    struct oc_builder *b = oc_b_new(opset);
    oc_b_input(b, "x", "float[1,4,64]");
    oc_b_init(b, "w1", "float[8,4,5]");
    oc_b_init(b, "s", "float[8]");
    oc_b_init(b, "row", "float[32]");
    oc_b_init(b, "most", "float[]{6}");
    oc_b_init(b, "w2", "float[8,16,4]");
    oc_b_init(b, "w3", "float[16,6,3]");
    oc_b_node(b, "Conv", "conv", "x,w1", "a", "pads=1,3 strides=[2] dilations=[1]");
    oc_b_node(b, "BatchNormalization", "norm", "a,s,s,s,s", "b", "");
    oc_b_node(b, "Clip", "clip", "b,,most", "c", "");
    oc_b_node(b, "Add", "shift", "c,row", "d", "");
    oc_b_node(b, "Concat", "join", "d,b", "e", "axis=-2");
    oc_b_node(b, "MaxPool", "pool", "e", "f", "kernel_shape=[2] strides=[2]");
    oc_b_node(b, "Concat", "longer", "f,f", "g", "axis=2");
    oc_b_node(b, "Conv", "last", "g,w2", "h", "pads=0,3");
    oc_b_node(b, "ConvTranspose", "wider", "g,w3", "i", "strides=[2] output_padding=[1] pads=1,1");
    oc_b_node(b, "Transpose", "turn", "b", "j", "perm=0,2,1");
    oc_b_output(b, "h", "float[1,8,32]");
    oc_b_output(b, "i", "float[1,6,?]");
    oc_b_output(b, "j", "float[1,32,8]");
    return b;
}

static void values_of_one_axis_become_images(void **state)
{
    (void)state;
    static const int opset[] = {11, 13, 17};
    for (size_t k = 0; k < 3; k++) {
        struct applied r = apply(signal_network(opset[k]), "conv-not-2d");
        assert_int_equal(r.rc, 0);
        assert_int_equal(r.out.changed, 3);
        assert_int_equal(r.out.unchanged, 0);
        assert_int_equal(count_of(&r.after, "Unsqueeze"), 4); /* of x and the weights */
        assert_int_equal(count_of(&r.after, "Squeeze"), 3);   /* of h, i and b */
        assert_int_equal(count_of(&r.after, "Constant"), opset[k] >= 13);
        expect_ints(&r.after, "conv", "pads", "0,1,0,3");
        expect_ints(&r.after, "conv", "strides", "1,2");
        expect_ints(&r.after, "conv", "dilations", "1,1");
        expect_ints(&r.after, "join", "axis", "-3");
        expect_ints(&r.after, "longer", "axis", "3");
        expect_ints(&r.after, "pool", "kernel_shape", "1,2");
        expect_ints(&r.after, "wider", "output_padding", "0,1");
        expect_ints(&r.after, "turn", "perm", "0,2,1");
        static const char *const same[] = {"b", "h", "i", "j"};
        for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
            char want[60];
            snprintf(want, sizeof(want), "%s", oc_run_type(&r.before, same[i]));
            assert_string_equal(oc_run_type(&r.after, same[i]), want);
        }
        assert_string_equal(oc_run_type(&r.after, "d_image"), "float[1,8,1,32]");
        assert_int_equal(r.before.a->total->macs, r.after.a->total->macs);
        applied_free(&r);
    }
}

/* Its weights are computed: it stays, and so does what only it reaches. */
static void convolutions_with_computed_weights_stay(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,4,64]");
    oc_b_input(b, "v", "float[8,4,5]");
    oc_b_init(b, "w", "float[8,4,5]");
    oc_b_node(b, "Relu", "first", "x", "r", "");
    oc_b_node(b, "Conv", "stays", "r,v", "a", "");
    oc_b_node(b, "Conv", "moves", "x,w", "b", "");
    oc_b_output(b, "a", "float[1,8,60]");
    oc_b_output(b, "b", "float[1,8,60]");
    struct applied r = apply(b, "conv-not-2d");
    assert_int_equal(r.rc, 0);
    assert_int_equal(r.out.changed, 1);
    assert_int_equal(r.out.unchanged, 1);
    assert_non_null(strstr(r.out.text, "1 more stay: weights or sizes are not fixed"));
    assert_string_equal(oc_run_type(&r.after, "r"), "float[1,4,64]");
    assert_string_equal(oc_run_type(&r.after, "b_image"), "float[1,8,1,60]");
    assert_int_equal(count_of(&r.after, "Squeeze"), 1);
    applied_free(&r);
}

/* Integer weights that are dequantized are fused by runtimes: an operator between would prevent it. */
static void quantized_convolutions_stay(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "uint8[1,4,64]");
    oc_b_init(b, "q", "int8[8,4,5]");
    oc_b_init(b, "s", "float[]{0.5}");
    oc_b_init(b, "w", "float[8,4,5]");
    oc_b_node(b, "DequantizeLinear", "dx", "x,s", "a", "");
    oc_b_node(b, "DequantizeLinear", "dw", "q,s", "c", "");
    oc_b_node(b, "Conv", "both", "a,c", "y", "");
    oc_b_node(b, "Conv", "input", "a,w", "z", "");
    oc_b_output(b, "y", "float[1,8,60]");
    oc_b_output(b, "z", "float[1,8,60]");
    struct applied r = apply(b, "conv-not-2d");
    assert_int_equal(r.rc, -1);
    assert_int_equal(r.err.code, OC_EUNSUPPORTED);
    applied_free(&r);
}

static void open_sizes_become_those_of_the_analysis(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "other", "float[MN,2]");
    oc_b_input(b, "x", "float[N,6]");
    oc_b_input(b, "fixed", "float[2,3]");
    oc_b_init(b, "first", "int64[1]{0}");
    oc_b_init(b, "rest", "int64[1]{-1}");
    oc_b_node(b, "Shape", "shape", "x", "s", "");
    oc_b_node(b, "Gather", "gather", "s,first", "n", "");
    oc_b_node(b, "Concat", "concat", "n,rest", "target", "axis=0");
    oc_b_node(b, "Reshape", "flat", "x,target", "y", "");
    oc_b_node(b, "Relu", "relu", "fixed", "z", "");
    oc_b_value(b, "y", "float[N,6]");
    oc_b_output(b, "y", "float[N,6]");
    oc_b_output(b, "z", "float[2,3]");
    struct applied r = apply(b, "dynamic-shapes");
    assert_int_equal(r.rc, 0);
    assert_int_equal(r.out.changed, 3);
    assert_non_null(strstr(r.out.text, "for inputs of MN = 1, N = 1\n"));
    assert_int_equal(r.after.m->value[r.after.m->graph[0].input[1]].declared->shape.dim[0].v, 1);
    assert_int_equal(r.after.m->value[r.after.m->graph[0].input[2]].declared->shape.dim[1].v, 3);
    assert_string_equal(oc_run_type(&r.after, "y"), "float[1,6]");
    assert_int_equal(r.after.m->n_node, 5);
    applied_free(&r);
}

/* Names that a new value would have are taken. */
static void new_names_are_new(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,4,64]");
    oc_b_input(b, "x_image", "float[1]");
    oc_b_init(b, "w", "float[8,4,5]");
    oc_b_node(b, "Conv", "conv", "x,w", "y", "");
    oc_b_node(b, "Relu", "y_axis", "x_image", "z", "");
    oc_b_output(b, "y", "float[1,8,60]");
    oc_b_output(b, "z", "float[1]");
    struct applied r = apply(b, "conv-not-2d");
    assert_int_equal(r.rc, 0);
    assert_string_equal(oc_run_type(&r.after, "x_image"), "float[1]");
    assert_string_equal(oc_run_type(&r.after, "x_image_2"), "float[1,4,1,64]");
    assert_string_equal(oc_run_type(&r.after, "y"), "float[1,8,60]");
    applied_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_one_axis_become_images),
        cmocka_unit_test(convolutions_with_computed_weights_stay),
        cmocka_unit_test(quantized_convolutions_stay),
        cmocka_unit_test(open_sizes_become_those_of_the_analysis),
        cmocka_unit_test(new_names_are_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
