/* Names that list nodes: TensorRT layers, metadata markers, NVTX ranges, names changed by tools. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "join/join.h"
#include "support/build.h"
#include "onnxcost.h"

/* conv -> relu -> a.b/c (Conv) -> "x + y" (Add) -> tail (Relu), and side (Sigmoid) parallel to a.b/c */
static struct oc_model *model(uint8_t **bytes)
{
    struct oc_builder *b = oc_b_new(13);
    struct oc_model *m;
    struct oc_err e;
    size_t n;
    oc_b_input(b, "x", "float[1,4,8,8]");
    oc_b_init(b, "w", "float[4,4,1,1]");
    oc_b_init(b, "layer.weight", "float[4,4,1,1]");
    oc_b_node(b, "Conv", "conv", "x,w", "t1", "");
    oc_b_node(b, "Relu", "relu", "t1", "t2", "");
    oc_b_node(b, "Conv", "/a.b/c", "t2,layer.weight", "t3", "");
    oc_b_node(b, "Sigmoid", NULL, "t2", "t4", "");
    oc_b_node(b, "Add", "x + y", "t3,t4", "t5", "");
    oc_b_node(b, "Relu", "tail", "t5", "y", "");
    oc_b_output(b, "y", NULL);
    *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(*bytes, n, NULL, &m, &e) != 0)
        fail_msg("%s", e.msg);
    return m;
}

static const struct {
    const char *name, *nodes, *rule, *bucket;
    double confidence;
} row[] = {
    {"conv + relu", "conv relu", "name parts", NULL, 0.95},
    {"conv + x + y + tail", "conv x + y tail", "name parts", NULL, 0.95}, /* the longest known name */
    {"relu || conv", "conv relu", "name parts", NULL, 0.95},
    {"PWN(relu, tail)", "relu tail", "name parts", NULL, 0.95},
    {"PWN(PWN(relu), PWN(conv + tail))", "conv relu tail", "name parts", NULL, 0.95},
    {"layer.weight + QuantizeLinear_8 + conv", "conv", "name parts", NULL,
     0.475}, /* a weight, one unknown name */
    {"node_of_t4", "Sigmoid_3", "name parts", NULL, 0.95},
    {"{ForeignNode[conv...x + y]}", "conv relu /a.b/c Sigmoid_3 x + y", "range", NULL, 0.9},
    {"{ForeignNode[/a.b/c...tail]}", "/a.b/c x + y tail", "range", NULL, 0.9}, /* not on the path */
    {"{ForeignNode[conv...absent]}", "", NULL, "unmatched", 0},
    {"{ForeignNode[conv", "", NULL, "unmatched", 0},
    {"/a_b/c_myl109_2", "/a.b/c", "plain name", NULL, 0.855},
    {"__myl_MulMaxSubExpSum_myl109_3", "", NULL, "generated kernels", 0},
    {"Reformatting CopyNode for Input Tensor 0 to conv + relu", "", NULL, "reformat", 0},
    {"t2 copy", "", NULL, "copies", 0},
    {"(Unnamed Layer* 360) [Shuffle]", "", NULL, "inserted", 0},
    {"reshape_after_conv", "", NULL, "inserted", 0},
    {"[trainStation1]", "", NULL, "framework", 0},
    {"Conv.0(conv)", "conv", "marker", NULL, 1},
    {"[ONNX Layer: conv]\x1e[ONNX Layer: relu]", "conv relu", "marker", NULL, 1},
    {"[ONNX Layer: conv]\x1f[ONNX Layer: lost]", "conv", "marker", NULL, 0.5},
    {"", "", NULL, "unmatched", 0},
    {" + ", "", NULL, "unmatched", 0},
    {"PWN()", "", NULL, "unmatched", 0},
    {"PWN(PWN(PWN(PWN(PWN(PWN(PWN(PWN(PWN(PWN(PWN(PWN(PWN(PWN(PWN(PWN(PWN(PWN(conv))))))))))))))))))", "conv",
     "name parts", NULL, 0.95},
};

static void listed_names_match_nodes(void **state)
{
    (void)state;
    uint8_t *bytes;
    struct oc_model *m = model(&bytes);
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_prof_rec rec = {.name = row[i].name,
                                  .op_type = "",
                                  .provider = "",
                                  .precision = "",
                                  .index = -1,
                                  .parent = OC_NONE,
                                  .calls_per_run = 1,
                                  .self_ns = 1,
                                  .kernel_ns = NAN};
        struct oc_profile p = {.format = "ranges", .rec = &rec, .n_rec = 1, .imported_ns = NAN};
        struct oc_join *j;
        struct oc_err e;
        char text[200] = "", label[100];
        assert_int_equal(oc_join_make(m, NULL, &p, NULL, &j, &e), 0);
        for (uint32_t k = 0; k < j->rec[0].n_node; k++)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", k ? " " : "",
                     oc_node_label(m, &m->node[j->rec[0].node[k]], label, sizeof(label)));
        print_message("%s\n", row[i].name);
        assert_string_equal(text, row[i].nodes);
        if (row[i].rule)
            assert_string_equal(j->rec[0].rule, row[i].rule);
        else
            assert_null(j->rec[0].rule);
        if (row[i].bucket)
            assert_string_equal(j->rec[0].bucket, row[i].bucket);
        else
            assert_null(j->rec[0].bucket);
        assert_true(fabs(j->rec[0].confidence - row[i].confidence) < 1e-9);
        oc_join_free(j);
    }
    oc_model_free(m);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(listed_names_match_nodes)};
    return cmocka_run_group_tests_name("join/match_parts", tests, NULL, NULL);
}
