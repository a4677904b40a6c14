#include "join/join.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "support/build.h"
#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

/* A model, a profile and their join. */
struct joined {
    uint8_t *bytes, *optimized_bytes;
    struct oc_model *m, *o;
    struct oc_analysis *a;
    struct oc_profile *p;
    struct oc_join *j;
};

static struct oc_model *load(struct oc_builder *b, uint8_t **bytes)
{
    size_t n;
    struct oc_model *m;
    struct oc_err e;
    *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(*bytes, n, NULL, &m, &e) != 0)
        fail_msg("%s", e.msg);
    return m;
}

/* Events in sequence in one run: "name|OpType|index|inputs|outputs" each; shapes may be omitted. */
static struct oc_profile *trace(const char *const *event, size_t n)
{
    struct oc_buf b = {0};
    oc_buf_printf(&b,
                  "[\n{\"cat\" : \"Session\",\"pid\" :1,\"tid\" :1,\"dur\" :%zu,\"ts\" :0,\"ph\" : \"X\","
                  "\"name\" :\"model_run\",\"args\" : {}}",
                  100 * n + 100);
    for (size_t i = 0; i < n; i++) {
        char text[500], *part[5] = {0}, *save = NULL;
        snprintf(text, sizeof(text), "%s", event[i]);
        size_t k = 0;
        for (char *at = strtok_r(text, "|", &save); at && k < 5; at = strtok_r(NULL, "|", &save))
            part[k++] = at;
        oc_buf_printf(&b,
                      ",\n{\"cat\" : \"Node\",\"pid\" :1,\"tid\" :1,\"dur\" :10,\"ts\" :%zu,\"ph\" : \"X\","
                      "\"name\" :\"%s_kernel_time\",\"args\" : {\"op_name\" : \"%s\",\"node_index\" : \"%s\"",
                      100 * i + 10, part[0], part[1], part[2]);
        if (part[3])
            oc_buf_printf(&b, ",\"input_type_shape\" : [%s]", part[3]);
        if (part[4])
            oc_buf_printf(&b, ",\"output_type_shape\" : [%s]", part[4]);
        oc_buf_str(&b, "}}");
    }
    oc_buf_str(&b, "\n]\n");
    struct oc_err e;
    struct oc_profile *p = t_profile_mem(b.data, b.n, NULL, &e);
    if (!p)
        fail_msg("%s", e.msg);
    oc_buf_free(&b);
    return p;
}

static void join(struct joined *x)
{
    struct oc_err e;
    struct oc_shape_bind *shape;
    struct oc_control_bind *control;
    struct oc_analyze_opts opts = {.n_shape = oc_profile_input_shapes(x->m, x->p, &shape)};
    opts.shape = shape;
    opts.n_control = oc_profile_control(x->m, x->p, &control);
    opts.control = control;
    if (oc_analyze(x->m, &opts, &x->a, &e) != 0 || oc_join_make(x->m, x->a, x->p, x->o, &x->j, &e) != 0)
        fail_msg("%s", e.msg);
    oc_profile_input_shapes_free(shape, opts.n_shape);
    free(control);
}

static void joined_free(struct joined *x)
{
    oc_join_free(x->j);
    oc_analysis_free(x->a);
    oc_profile_close(x->p);
    oc_model_free(x->m);
    oc_model_free(x->o);
    free(x->bytes);
    free(x->optimized_bytes);
}

static const struct oc_join_rec *find_record(const struct joined *x, const char *name)
{
    const struct oc_prof_rec *r = t_rec(x->p, name);
    assert_non_null(r);
    return &x->j->rec[r - x->p->rec];
}

static double rec_time(const struct joined *x, const char *name)
{
    return t_rec(x->p, name)->self_ns;
}

/* "conv1 bn1 relu1" */
static void assert_nodes(const struct joined *x, const char *name, const char *want, const char *rule)
{
    const struct oc_join_rec *r = find_record(x, name);
    char text[500] = "", label[100];
    for (uint32_t i = 0; i < r->n_node; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
                 oc_node_label(x->m, &x->m->node[r->node[i]], label, sizeof(label)));
    assert_string_equal(text, want);
    assert_string_equal(r->rule, rule);
    assert_null(r->bucket);
}

/* x -> Conv -> BN -> Relu -> Conv -> Add(residual) -> Relu -> MatMul -> Add */
static struct oc_builder *residual(bool named)
{
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[N,4,8,8]");
    oc_b_init(b, "w1", "float[4,4,3,3]");
    oc_b_init(b, "w2", "float[4,4,1,1]");
    oc_b_init(b, "s", "float[4]");
    oc_b_init(b, "m", "float[8,5]");
    oc_b_init(b, "v", "float[5]");
    oc_b_node(b, "Conv", named ? "conv1" : NULL, "x,w1", "c1", "pads=1,1,1,1");
    oc_b_node(b, "BatchNormalization", named ? "bn1" : NULL, "c1,s,s,s,s", "b1", "");
    oc_b_node(b, "Relu", named ? "relu1" : NULL, "b1", "r1", "");
    oc_b_node(b, "Constant", named ? "k" : NULL, "", "k1", "value=float[]{1}");
    oc_b_node(b, "Conv", named ? "conv2" : NULL, "r1,w2", "c2", "");
    oc_b_node(b, "Add", named ? "add2" : NULL, "c2,r1", "a2", "");
    oc_b_node(b, "Relu", named ? "relu2" : NULL, "a2", "r2", "");
    oc_b_node(b, "MatMul", named ? "mm" : NULL, "r2,m", "p", "");
    oc_b_node(b, "Add", named ? "bias" : NULL, "p,v", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

#define F(d) "{\"float\":[" d "]}"

static void nodes_match_by_exact_name(void **state)
{
    (void)state;
    static const char *const event[] = {
        "conv1|Conv|0|" F("2,4,8,8") "," F("4,4,3,3") "|" F("2,4,8,8"),
        "bn1|BatchNormalization|1",
        "relu1|Relu|2",
        "conv2|Conv|3",
        "add2|Add|4",
        "relu2|Relu|5",
        "mm|MatMul|6",
        "bias|Add|7",
    };
    struct joined x = {.p = trace(event, OC_COUNT(event))};
    x.m = load(residual(true), &x.bytes);
    join(&x);
    assert_nodes(&x, "conv1", "conv1", "name");
    assert_nodes(&x, "bias", "bias", "name");
    assert_true(find_record(&x, "conv1")->confidence == 1);
    assert_int_equal(find_record(&x, "conv1")->macs,
                     2 * 4 * 64 * 36); /* batch 2 from the profile: N*M*OH*OW * C*9 */
    assert_true(x.j->time_matched_fraction == 1 && x.j->flops_matched_fraction == 1);
    assert_int_equal(x.j->nodes_without_time, 0);
    assert_int_equal(x.j->n_unmatched, 0);
    assert_int_equal(x.j->executed.recorded, 1);
    assert_int_equal(x.j->executed.from_model, 2); /* conv2 and mm, without shapes */
    assert_int_equal(x.j->executed.macs, x.a->total->macs);
    joined_free(&x);
}

/* The same through the public interface. */
static void public_interface_returns_the_same_records(void **state)
{
    (void)state;
    static const char *const event[] = {"conv1|FusedConv|0|" F("2,4,8,8") "," F("4,4,3,3") "|" F("2,4,8,8"),
                                        "reorder|ReorderOutput|1"};
    struct joined x = {.p = trace(event, OC_COUNT(event))};
    x.m = load(residual(true), &x.bytes);
    join(&x);
    struct oc_join_record r;
    assert_int_equal(oc_join_node(x.j, 0, &r), 0);
    assert_string_equal(r.name, "conv1");
    assert_string_equal(r.op_type, "FusedConv");
    assert_string_equal(r.rule, "name");
    assert_true(r.n_node == 3 && r.node[0] == 0 && r.node[2] == 2 && !r.bucket); /* Conv, norm and Relu */
    assert_true(r.confidence == find_record(&x, "conv1")->confidence && r.confidence > 0.5);
    assert_int_equal(r.macs, 2 * 4 * 64 * 36);
    assert_int_equal(r.quality, OC_EXACT);
    assert_true(r.time_ns == rec_time(&x, "conv1"));
    assert_int_equal(oc_join_node(x.j, 1, &r), 0);
    assert_string_equal(r.name, "conv1");
    assert_int_equal(oc_join_node(x.j, 4, &r), -1); /* no record contains the second convolution */
    assert_int_equal(oc_join_node(x.j, 1000, &r), -1);

    size_t operators = 0, n = oc_join_records(x.j);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(oc_join_record(x.j, i, &r), 0);
        assert_int_equal(r.n_node == 0, r.bucket != NULL);
        operators += r.n_node > 0;
    }
    assert_int_equal(operators, 1);
    assert_int_equal(oc_join_record(x.j, n, &r), -1);
    struct oc_join_totals t;
    oc_join_totals(x.j, &t);
    assert_true(t.nodes_ns == rec_time(&x, "conv1") && t.added_ns == rec_time(&x, "reorder"));
    assert_true(t.unmatched_ns == 0 && t.flops_share > 0 && t.flops_share < 1);
    assert_true(fabs(t.time_share - t.nodes_ns / (t.nodes_ns + t.added_ns)) < 1e-12);
    joined_free(&x);
}

/* extended: FusedConv keeps the Conv's name, MatMul+Add becomes Gemm with the MatMul's name. */
static void fused_records_match_their_group(void **state)
{
    (void)state;
    static const char *const event[] = {"conv1|FusedConv|0", "conv2|FusedConv|3",
                                        "mm/MatMulAddFusion|Gemm|6"};
    struct joined x = {.p = trace(event, OC_COUNT(event))};
    x.m = load(residual(true), &x.bytes);
    join(&x);
    assert_nodes(&x, "conv1", "conv1 bn1 relu1", "name");
    assert_nodes(&x, "conv2", "conv2 add2 relu2", "name");
    assert_nodes(&x, "mm/MatMulAddFusion", "mm bias", "fused name");
    const struct oc_join_rec *r = find_record(&x, "conv2");
    /* group border, batch 1: r1 once although Conv and Add read it, w2 in; r2 out. 4*8*8 floats are 1024
     * bytes */
    assert_true(r->bytes_known);
    assert_int_equal(r->rd_act, 1024);
    assert_int_equal(r->rd_wt, 4 * 4 * 4);
    assert_int_equal(r->wr, 1024);
    assert_int_equal(r->macs, 256 * 4);
    assert_int_equal(r->flops, 2 * 256 * 4 + 256 + 256); /* the products, Add and Relu */
    assert_true(x.j->flops_matched_fraction == 1);
    joined_free(&x);
}

/* all: blocked convolutions are named after their output; layout conversions are separate records. 1.10:
 * "fused x" */
static void blocked_convolutions_match_by_their_output_name(void **state)
{
    (void)state;
    static const char *const event[] = {
        "r1_nchwc|Conv|20|" F("3,4,8,8") "," F("16,4,3,3") "|" F("3,16,8,8"),
        "fused conv2|FusedConv|21",
        "ReorderOutput_token_7|ReorderOutput|22|" F("3,16,8,8") "|" F("3,4,8,8"),
        "Reshape|Reshape|23",
        "Reshape_token_9|Reshape|24",
        "gemm|Gemm|25",
        "InsertedCast_y|Cast|26",
        "Memcpy_token_1|MemcpyToHost|27",
        "unknown|Foo|28",
        "Reshape_token_34|Reshape|29|" F("3,32,8,8") "|" F("3,2,8,8,16"), /* into blocks of 16 channels */
        "Reshape_token_35|Reshape|30|" F("3,2,8,8,16") "|" F("3,32,8,8"), /* and back */
        "Reshape_token_36|Reshape|31|" F("3,32,8,8") "|" F("3,32,4,2,8"), /* takes the height apart */
    };
    struct joined x = {.p = trace(event, OC_COUNT(event))};
    x.m = load(residual(true), &x.bytes);
    join(&x);
    assert_nodes(&x, "r1_nchwc", "conv1 bn1 relu1", "output tensor");
    assert_int_equal(find_record(&x, "r1_nchwc")->macs,
                     3 * 4 * 64 * 36); /* batch 3 from the blocked convolution */
    assert_nodes(&x, "fused conv2", "conv2 add2 relu2", "fused name");
    assert_nodes(&x, "gemm", "mm bias", "order");
    assert_string_equal(find_record(&x, "ReorderOutput_token_7")->bucket, "layout");
    assert_int_equal(find_record(&x, "ReorderOutput_token_7")->rd_act, 3 * 16 * 64 * 4);
    assert_int_equal(find_record(&x, "ReorderOutput_token_7")->wr, 3 * 4 * 64 * 4);
    assert_int_equal(find_record(&x, "ReorderOutput_token_7")->flops, 0);
    assert_string_equal(find_record(&x, "Reshape")->bucket, "inserted");
    assert_string_equal(find_record(&x, "Reshape_token_9")->bucket, "inserted");
    assert_string_equal(find_record(&x, "Reshape_token_34")->bucket, "layout");
    assert_string_equal(find_record(&x, "Reshape_token_35")->bucket, "layout");
    assert_string_equal(find_record(&x, "Reshape_token_36")->bucket, "inserted");
    assert_string_equal(find_record(&x, "InsertedCast_y")->bucket, "casts");
    assert_string_equal(find_record(&x, "Memcpy_token_1")->bucket, "copies");
    assert_string_equal(find_record(&x, "unknown")->bucket, "unmatched");
    assert_int_equal(find_record(&x, "unknown")->quality, OC_UNKNOWN);
    assert_int_equal(x.j->n_unmatched, 1);
    assert_true(x.j->mapped_ns == 30e3 && x.j->overhead_ns == 80e3 && x.j->unmatched_ns == 10e3);
    joined_free(&x);
}

static void notes_say_why_a_record_has_no_cost(void **state)
{
    (void)state;
    static const char *const event[] = {"foo|Foo|0", "after|Relu|1", "then_relu|Relu|2", "plain|Neg|3"};
    struct joined x = {.p = trace(event, OC_COUNT(event))};
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "my", 1);
    oc_b_input(b, "x", "float[2,3]");
    oc_b_init(b, "no", "bool[]{0}");
    oc_b_node(b, "my::Foo", "foo", "x", "a", "");
    oc_b_node(b, "Relu", "after", "a", "c", "");
    oc_b_node(b, "Neg", "plain", "x", "d", "");
    oc_b_node(b, "If", "if", "no", "e", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, "Relu", "then_relu", "x", "t", "");
    oc_b_output(b, "t", NULL);
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_node(b, "Abs", "else_abs", "x", "f", "");
    oc_b_output(b, "f", NULL);
    oc_b_close(b);
    oc_b_output(b, "c", NULL);
    oc_b_output(b, "d", NULL);
    oc_b_output(b, "e", NULL);
    x.m = load(b, &x.bytes);
    join(&x);
    assert_int_equal(find_record(&x, "foo")->quality, OC_UNKNOWN);
    assert_string_equal(find_record(&x, "foo")->note, "no rule for this operator");
    assert_int_equal(find_record(&x, "after")->quality, OC_UNKNOWN);
    assert_non_null(find_record(&x, "after")->note);
    assert_int_equal(find_record(&x, "then_relu")->quality, OC_UNKNOWN);
    assert_string_equal(find_record(&x, "then_relu")->note, "the analysis took the other branch");
    assert_int_equal(find_record(&x, "plain")->quality, OC_EXACT);
    assert_int_equal(find_record(&x, "plain")->flops, 6);
    assert_null(find_record(&x, "plain")->note);
    joined_free(&x);
}

/* The residual is the first operand of the sum: it has several readers; the second is that of the convolution. */
static void output_names_lead_back_through_either_operand(void **state)
{
    (void)state;
    static const char *const operands[] = {"c,r", "r,c"};
    for (size_t i = 0; i < OC_COUNT(operands); i++) {
        static const char *const event[] = {"before|Relu|0", "y_nchwc|FusedConv|1"};
        struct joined x = {.p = trace(event, OC_COUNT(event))};
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "x", "float[1,4,8,8]");
        oc_b_init(b, "w", "float[4,4,1,1]");
        oc_b_node(b, "Relu", "before", "x", "r", "");
        oc_b_node(b, "Conv", "conv", "r,w", "c", "");
        oc_b_node(b, "Add", "add", operands[i], "s", "");
        oc_b_node(b, "Relu", "after", "s", "y", "");
        oc_b_output(b, "y", NULL);
        x.m = load(b, &x.bytes);
        join(&x);
        assert_nodes(&x, "before", "before", "name");
        assert_nodes(&x, "y_nchwc", "conv add after", "output tensor");
        joined_free(&x);
    }
}

/* A runtime's own operator may have another output than the node whose name it has. */
static void shapes_of_replaced_operators_are_not_compared(void **state)
{
    (void)state;
    static const struct {
        const char *event;
        bool differs;
    } row[] = {
        {"n|Relu|0|" F("2,3") "|" F("2,3"), false},
        {"n|Relu|0|" F("2,3") "|" F("5,3"), true},
        {"n|FusedRelu|0|" F("2,3") "|" F("5,3"), false},
        {"n|Relu|0|" F("5,3"), false}, /* no output is recorded */
        {"n|FusedRelu|0|" F("5,3"), false},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct joined x = {.p = trace(&row[i].event, 1)};
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "x", "float[2,3]");
        oc_b_node(b, "Relu", "n", "x", "y", "");
        oc_b_output(b, "y", NULL);
        x.m = load(b, &x.bytes);
        join(&x);
        const struct oc_join_rec *r = find_record(&x, "n");
        assert_int_equal(r->quality, row[i].differs ? OC_UNKNOWN : OC_EXACT);
        assert_int_equal(r->note != NULL, row[i].differs);
        joined_free(&x);
    }
}

/* Unnamed nodes are counted without Constants; nodes created later have indices past the end. */
static void unnamed_nodes_match_by_index(void **state)
{
    (void)state;
    static const char *const event[] = {"Conv_0|Conv|0",     "BatchNormalization_1|BatchNormalization|1",
                                        "Relu_2|Relu|2",     "FusedConv_55|FusedConv|55",
                                        "MatMul_6|MatMul|6", "Add_7|Add|7"};
    struct joined x = {.p = trace(event, OC_COUNT(event))};
    x.m = load(residual(false), &x.bytes);
    join(&x);
    assert_nodes(&x, "Conv_0", "Conv_0", "index");
    assert_nodes(&x, "FusedConv_55", "Conv_4 Add_5 Relu_6", "order"); /* labels count the Constant */
    assert_nodes(&x, "MatMul_6", "MatMul_7", "index");
    assert_nodes(&x, "Add_7", "Add_8", "index");
    joined_free(&x);
}

static void records_match_through_the_optimized_model(void **state)
{
    (void)state;
    static const char *const event[] = {"a|Conv|0", "strange_nchwc|Conv|1", "ReorderOutput|ReorderOutput|2",
                                        "Gemm_3|Gemm|3"};
    struct joined x = {.p = trace(event, OC_COUNT(event))};
    x.m = load(residual(true), &x.bytes);
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[N,4,8,8]");
    oc_b_init(b, "W", "float[16,4,3,3]");
    oc_b_node(b, "com.microsoft.nchwc::Conv", "a", "x,W", "r1", "");
    oc_b_node(b, "com.microsoft.nchwc::Conv", "strange_nchwc", "r1,W,,r1", "reorder", "");
    oc_b_node(b, "com.microsoft.nchwc::ReorderOutput", "ReorderOutput", "reorder", "r2", "");
    oc_b_node(b, "Gemm", NULL, "r2,W", "y", "");
    oc_b_output(b, "y", NULL);
    x.o = load(b, &x.optimized_bytes);
    join(&x);
    assert_nodes(&x, "a", "conv1 bn1 relu1", "optimized model");
    assert_nodes(&x, "strange_nchwc", "conv2 add2 relu2", "optimized model");
    assert_nodes(&x, "Gemm_3", "mm bias", "order");
    assert_string_equal(find_record(&x, "ReorderOutput")->bucket, "layout");
    assert_true(x.j->flops_matched_fraction == 1);
    joined_free(&x);
}

static struct oc_builder *two_branches(void)
{
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[2,3]");
    oc_b_input(b, "z", "float[2,3]");
    oc_b_node(b, "Relu", NULL, "x", "a", "");
    oc_b_node(b, "Tanh", NULL, "a", "y", "");
    oc_b_node(b, "Tanh", NULL, "z", "c", "");
    oc_b_node(b, "Relu", NULL, "c", "d", "");
    oc_b_output(b, "y", NULL);
    oc_b_output(b, "d", NULL);
    return b;
}

/* ONNX Runtime runs the second branch first, and saves a graph that it did not change as it was. */
static void saved_nodes_are_in_the_order_of_indexes_or_of_execution(void **state)
{
    (void)state;
    static const char *const event[] = {
        "Tanh_2|Tanh|2|" F("2,3") "|" F("2,3"), "Relu_3|Relu|3|" F("2,3") "|" F("2,3"),
        "Relu_0|Relu|0|" F("2,3") "|" F("2,3"), "Tanh_1|Tanh|1|" F("2,3") "|" F("2,3")};
    struct joined x = {.p = trace(event, OC_COUNT(event))};
    x.m = load(two_branches(), &x.bytes);
    x.o = load(two_branches(), &x.optimized_bytes);
    join(&x);
    assert_nodes(&x, "Relu_0", "Relu_0", "optimized model");
    assert_nodes(&x, "Tanh_1", "Tanh_1", "optimized model");
    assert_nodes(&x, "Tanh_2", "Tanh_2", "optimized model");
    assert_nodes(&x, "Relu_3", "Relu_3", "optimized model");
    joined_free(&x);
}

/* An order that explains neither names nor types is not used: indexes and names of tensors are. */
static void saved_nodes_in_an_unknown_order_match_by_their_tensors(void **state)
{
    (void)state;
    static const char *const event[] = {
        "Tanh_2|Tanh|2|" F("2,3") "|" F("2,3"), "Relu_0|Relu|0|" F("2,3") "|" F("2,3"),
        "Relu_3|Relu|3|" F("2,3") "|" F("2,3"), "Tanh_1|Tanh|1|" F("2,3") "|" F("2,3")};
    struct joined x = {.p = trace(event, OC_COUNT(event))};
    x.m = load(two_branches(), &x.bytes);
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[2,3]");
    oc_b_input(b, "z", "float[2,3]");
    oc_b_node(b, "Tanh", NULL, "z", "c", "");
    oc_b_node(b, "Relu", NULL, "x", "a", "");
    oc_b_node(b, "Tanh", NULL, "a", "y", "");
    oc_b_node(b, "Relu", NULL, "c", "d", "");
    oc_b_output(b, "y", NULL);
    oc_b_output(b, "d", NULL);
    x.o = load(b, &x.optimized_bytes);
    join(&x);
    assert_nodes(&x, "Relu_0", "Relu_0", "optimized model");
    assert_nodes(&x, "Tanh_2", "Tanh_2", "optimized model");
    joined_free(&x);
}

static struct oc_builder *two_convolutions(bool fused)
{
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[1,4,8,8]");
    oc_b_input(b, "z", "float[1,4,8,8]");
    oc_b_init(b, "w", "float[4,4,1,1]");
    if (fused) {
        oc_b_node(b, "com.microsoft::FusedConv", NULL, "z,w", "d", "activation=Relu");
        oc_b_node(b, "com.microsoft::FusedConv", NULL, "x,w", "y", "activation=Relu");
    } else {
        oc_b_node(b, "Conv", NULL, "x,w", "a", "");
        oc_b_node(b, "Relu", NULL, "a", "y", "");
        oc_b_node(b, "Conv", NULL, "z,w", "c", "");
        oc_b_node(b, "Relu", NULL, "c", "d", "");
    }
    oc_b_output(b, "y", NULL);
    oc_b_output(b, "d", NULL);
    return b;
}

/* Equal branches, saved in the other order: the indexes decide, and the activations are free again. */
static void nodes_paired_in_the_wrong_order_are_free_for_their_records(void **state)
{
    (void)state;
    static const char *const event[] = {"FusedConv_0|FusedConv|0", "FusedConv_2|FusedConv|2"};
    struct joined x = {.p = trace(event, OC_COUNT(event))};
    x.m = load(two_convolutions(false), &x.bytes);
    x.o = load(two_convolutions(true), &x.optimized_bytes);
    join(&x);
    assert_nodes(&x, "FusedConv_0", "Conv_0 Relu_1", "index");
    assert_nodes(&x, "FusedConv_2", "Conv_2 Relu_3", "index");
    joined_free(&x);
}

/* The same names in both branches; the executed branch decides, and the analysis follows. */
static void names_in_both_branches_match_the_executed_one(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[N,16]");
    oc_b_input(b, "c", "bool[]");
    oc_b_init(b, "w", "float[16,16]");
    oc_b_node(b, "If", "if", "c", "y", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, "MatMul", "work", "x,w", "t", "");
    oc_b_output(b, "t", NULL);
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_node(b, "Relu", "work", "x", "e", "");
    oc_b_output(b, "e", NULL);
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    struct joined x = {0};
    x.m = load(b, &x.bytes);
    struct oc_err e;
    x.p = t_profile_text(
        "[\n{\"cat\" : \"Session\",\"tid\" :1,\"dur\" :100,\"ts\" :0,\"name\" :\"model_run\",\"args\" : "
        "{}},\n"
        "{\"cat\" : \"Node\",\"tid\" :1,\"dur\" :5,\"ts\" :20,\"name\" :\"work_kernel_time\",\"args\" : {"
        "\"op_name\" : \"Relu\",\"node_index\" : \"0\",\"input_type_shape\" : [{\"float\":[3,16]}]}},\n"
        "{\"cat\" : \"Node\",\"tid\" :1,\"dur\" :50,\"ts\" :10,\"name\" :\"if_kernel_time\",\"args\" : {"
        "\"op_name\" : \"If\",\"node_index\" : \"0\"}}\n]",
        NULL, &e);
    assert_non_null(x.p);
    join(&x);
    const struct oc_join_rec *r = find_record(&x, "work");
    assert_int_equal(r->n_node, 1);
    assert_string_equal(x.m->node[r->node[0]].op_type, "Relu");
    assert_int_equal(r->flops, 48); /* 3 x 16, with the input shape of the profile */
    assert_int_equal(x.a->total->macs, 0);
    assert_true(x.j->flops_matched_fraction == 1);
    joined_free(&x);
}

/* An If whose branches have nodes of one name and an output of the If's name. */
static struct oc_builder *branches_of_one_name(void)
{
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[N,16]");
    oc_b_input(b, "c", "bool[]");
    oc_b_node(b, "If", "if", "c", "y", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, "Exp", "last", "x", "y", "");
    oc_b_output(b, "y", NULL);
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_node(b, "Relu", "first", "x", "e", "");
    oc_b_node(b, "Exp", "last", "e", "y", "");
    oc_b_output(b, "y", NULL);
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    return b;
}

static void saved_names_in_both_branches_are_those_of_the_executed_one(void **state)
{
    (void)state;
    static const char *const event[] = {"if|If|0", "first|Relu|0|" F("3,16"), "last|Exp|1|" F("3,16")};
    struct joined x = {.p = trace(event, OC_COUNT(event))};
    x.m = load(branches_of_one_name(), &x.bytes);
    x.o = load(branches_of_one_name(), &x.optimized_bytes);
    join(&x);
    assert_nodes(&x, "last", "last", "optimized model");
    uint32_t graph = x.m->node[find_record(&x, "last")->node[0]].graph;
    assert_string_equal(x.m->graph[graph].scope, "if/else_branch");
    joined_free(&x);
}

/* ONNX Runtime gives integers another type and name: those after the node's QuantizeLinear. */
static void integers_of_a_kept_node_are_after_its_quantizer(void **state)
{
    (void)state;
    static const char *const event[] = {"q|QuantizeLinear|0", "turn|Transpose|1", "gemm|QGemm|2",
                                        "d3|DequantizeLinear|3"};
    struct joined x = {.p = trace(event, OC_COUNT(event))};
    struct oc_builder *b = oc_b_new(13);
    for (int saved = 0; saved < 2; saved++, b = oc_b_new(13)) {
        oc_b_input(b, "x", "float[2,16]");
        oc_b_init(b, "w", "int8[16,16]");
        oc_b_init(b, "s", "float[]{0.1}");
        oc_b_init(b, "z", "int8[]{0}");
        oc_b_node(b, "QuantizeLinear", "q", "x,s,z", "a", "");
        if (!saved) {
            oc_b_node(b, "DequantizeLinear", "d1", "a,s,z", "b", "");
            oc_b_node(b, "Transpose", "turn", "b", "c", "");
            oc_b_node(b, "QuantizeLinear", "q2", "c,s,z", "d", "");
            oc_b_node(b, "DequantizeLinear", "d2", "d,s,z", "e", "");
            oc_b_node(b, "Gemm", "gemm", "e,w", "f", "");
            oc_b_node(b, "QuantizeLinear", "q3", "f,s,z", "g", "");
        } else {
            oc_b_node(b, "Transpose", "turn", "a", "u8_1", "");
            oc_b_node(b, "com.microsoft::QGemm", "gemm", "u8_1,s,z,w,s,z,,s,z", "u8_2", "");
        }
        oc_b_node(b, "DequantizeLinear", "d3", saved ? "u8_2,s,z" : "g,s,z", "y", "");
        oc_b_output(b, "y", NULL);
        if (saved)
            x.o = load(b, &x.optimized_bytes);
        else
            x.m = load(b, &x.bytes);
    }
    oc_b_free(b);
    join(&x);
    assert_nodes(&x, "turn", "turn", "name");
    assert_nodes(&x, "gemm", "d2 gemm q3", "name");
    joined_free(&x);
}

/* Slices that became one Split: its outputs have other names, before a Squeeze, and end the groups. */
static void a_split_has_all_nodes_that_took_parts(void **state)
{
    (void)state;
    static const char *const event[] = {"b/GatherSliceToSplitFusion|Split|0", "Squeeze_token_1|Squeeze|1",
                                        "Squeeze_token_2|Squeeze|2", "last|Add|3"};
    struct joined x = {.p = trace(event, OC_COUNT(event))};
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[2,16]");
    oc_b_node(b, "Gather", "a", "x,zero", "p", "");
    oc_b_node(b, "Gather", "b", "x,one", "q", "");
    oc_b_node(b, "Add", "last", "p,q", "y", "");
    oc_b_init(b, "zero", "int64[]{0}");
    oc_b_init(b, "one", "int64[]{1}");
    oc_b_output(b, "y", NULL);
    x.m = load(b, &x.bytes);
    b = oc_b_new(13);
    oc_b_input(b, "x", "float[2,16]");
    oc_b_init(b, "axes", "int64[1]{0}");
    oc_b_node(b, "Split", "b/GatherSliceToSplitFusion", "x", "s1,s2", "axis=0");
    oc_b_node(b, "Squeeze", "Squeeze_token_1", "s1,axes", "t1", "");
    oc_b_node(b, "Squeeze", "Squeeze_token_2", "s2,axes", "t2", "");
    oc_b_node(b, "Add", "last", "t1,t2", "y", "");
    oc_b_output(b, "y", NULL);
    x.o = load(b, &x.optimized_bytes);
    join(&x);
    assert_nodes(&x, "b/GatherSliceToSplitFusion", "a b", "fused name");
    assert_nodes(&x, "last", "last", "name"); /* what its inputs were in the model is not known */
    assert_string_equal(find_record(&x, "Squeeze_token_1")->bucket, "inserted");
    joined_free(&x);
}

static void records_with_other_shapes_have_no_costs(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[2,8]");
    oc_b_node(b, "Relu", "r", "x", "y", "");
    oc_b_output(b, "y", NULL);
    static const char *const event[] = {"r|Relu|0|" F("4,8") "|" F("4,8")};
    struct joined x = {.p = trace(event, 1)};
    x.m = load(b, &x.bytes);
    join(&x);
    assert_nodes(&x, "r", "r", "name");
    assert_int_equal(find_record(&x, "r")->quality, OC_UNKNOWN);
    assert_int_equal(x.j->diags.n, 1);
    assert_string_equal(x.j->diags.item[0].code, "W-shape-differs");
    joined_free(&x);
}

/* Four Relus r0 to r3 in a row. */
static struct joined join_chain(const char *const *event, size_t n)
{
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[2,8]");
    oc_b_node(b, "Relu", "r0", "x", "a", "");
    oc_b_node(b, "Relu", "r1", "a", "b", "");
    oc_b_node(b, "Relu", "r2", "b", "c", "");
    oc_b_node(b, "Relu", "r3", "c", "y", "");
    oc_b_output(b, "y", NULL);
    struct joined x = {.p = trace(event, n)};
    x.m = load(b, &x.bytes);
    join(&x);
    return x;
}

static const struct oc_diag *find_finding(const struct joined *x, const char *code)
{
    for (size_t i = 0; i < x->j->diags.n; i++)
        if (strcmp(x->j->diags.item[i].code, code) == 0)
            return &x->j->diags.item[i];
    return NULL;
}

#define RELU(name, index) name "|Relu|" index "|" F("2,8") "|" F("2,8")

static void profile_of_another_model_is_reported(void **state)
{
    (void)state;
    static const char *const other[] = {"/q/MatMul|MatMul|0", "/k/MatMul|MatMul|1", "/v/MatMul|MatMul|2",
                                        "/s/Softmax|Softmax|3"};
    static const char *const own[] = {RELU("r0", "0"), RELU("r1", "1"), RELU("r2", "2"), RELU("r3", "3")};
    struct joined x = join_chain(other, 4);
    const struct oc_diag *d = find_finding(&x, OC_DIAG_WRONG_MODEL);
    assert_non_null(d);
    assert_int_equal(d->severity, OC_ERROR);
    assert_string_equal(d->text, "no operator of this profile is in this model: wrong model or profile?");
    joined_free(&x);
    x = join_chain(other, 3); /* may be subgraphs that the runtime compiled: no verdict */
    assert_null(find_finding(&x, OC_DIAG_WRONG_MODEL));
    joined_free(&x);
    x = join_chain(own, 4);
    assert_null(find_finding(&x, OC_DIAG_WRONG_MODEL));
    assert_null(find_finding(&x, OC_DIAG_OTHER_MODEL));
    joined_free(&x);
}

static void profile_that_fits_in_part_is_a_warning_with_shares(void **state)
{
    (void)state;
    static const char *const event[] = {RELU("r0", "0"), "r1|Relu|1|" F("4,8") "|" F("4,8"),
                                        "/k/MatMul|MatMul|2", "/s/Softmax|Softmax|3"};
    struct joined x = join_chain(event, 4);
    const struct oc_diag *d = find_finding(&x, OC_DIAG_OTHER_MODEL);
    assert_non_null(d);
    assert_int_equal(d->severity, OC_WARNING);
    assert_non_null(strstr(d->text,
                           "50.0 % of the operator time is on operators of this model, 25.0 % with other "
                           "shapes; first: r1: "));
    assert_int_equal(find_record(&x, "r0")->quality, OC_EXACT);
    assert_int_equal(find_record(&x, "r1")->quality, OC_UNKNOWN);
    joined_free(&x);
}

static void layer_norm_and_gelu_groups(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[2,8]");
    oc_b_init(b, "two", "float[]{2}");
    oc_b_init(b, "g", "float[8]");
    oc_b_node(b, "ReduceMean", "mean", "x", "m", "axes=[-1]");
    oc_b_node(b, "Sub", "sub", "x,m", "d", "");
    oc_b_node(b, "Pow", "pow", "d,two", "q", "");
    oc_b_node(b, "ReduceMean", "var", "q", "v", "axes=[-1]");
    oc_b_node(b, "Sqrt", "sqrt", "v", "s", "");
    oc_b_node(b, "Div", "div", "d,s", "n", "");
    oc_b_node(b, "Mul", "scale", "n,g", "l", "");
    oc_b_node(b, "Sigmoid", "sig", "l", "k", "");
    oc_b_node(b, "Mul", "swish", "l,k", "y", "");
    oc_b_output(b, "y", NULL);
    static const char *const event[] = {"sub/LayerNormFusion/|LayerNormalization|0",
                                        "sig/QuickGeluFusion|QuickGelu|1"};
    struct joined x = {.p = trace(event, OC_COUNT(event))};
    x.m = load(b, &x.bytes);
    join(&x);
    assert_nodes(&x, "sub/LayerNormFusion/", "mean sub pow var sqrt div scale", "fused name");
    assert_nodes(&x, "sig/QuickGeluFusion", "sig swish", "fused name");
    assert_int_equal(find_record(&x, "sub/LayerNormFusion/")->rd_act, 2 * 8 * 4);
    assert_int_equal(find_record(&x, "sub/LayerNormFusion/")->wr, 2 * 8 * 4);
    joined_free(&x);
}

/* Consecutive Gelu groups with meaningless names: each grows from its Erf. A sum before it that is in no
 * other record is the bias. */
static void gelu_without_a_name(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[2,8]");
    oc_b_init(b, "c", "float[]{2}");
    oc_b_init(b, "v", "float[8]");
    oc_b_init(b, "w", "float[8,8]");
    for (int i = 0; i < 2; i++) {
        char from[8], name[8][16], at[8][16], in[64];
        static const char *const type[] = {"MatMul", "Add", "Div", "Erf", "Add", "Mul", "Mul"};
        static const char *const other[] = {"w", "v", "c", "", "c", "", "c"};
        static const int reads[] = {-1, 0, 1, 2, 3, 1, 5};
        snprintf(from, sizeof(from), "%s", i ? "y0" : "x");
        for (int k = 0; k < 7; k++) {
            snprintf(name[k], sizeof(name[k]), "%s%d_%d", type[k], i, k);
            snprintf(at[k], sizeof(at[k]), k == 6 ? "y%d" : "t%d_%d", i, k);
            const char *first = reads[k] < 0 ? from : at[reads[k]];
            snprintf(in, sizeof(in), "%s%s%s", first, k == 3 ? "" : ",", k == 5 ? at[4] : other[k]);
            oc_b_node(b, type[k], name[k], in, at[k], "");
        }
    }
    oc_b_output(b, "y1", NULL);
    static const char *const event[] = {"MatMul0_0|MatMul|0", "BiasGelu|BiasGelu|40", "MatMul1_0|MatMul|7",
                                        "Add1_1|Add|8", "Gelu_token_3|Gelu|41"};
    struct joined x = {.p = trace(event, OC_COUNT(event))};
    x.m = load(b, &x.bytes);
    join(&x);
    assert_nodes(&x, "BiasGelu", "Add0_1 Div0_2 Erf0_3 Add0_4 Mul0_5 Mul0_6", "order");
    assert_nodes(&x, "Gelu_token_3", "Div1_2 Erf1_3 Add1_4 Mul1_5 Mul1_6", "order");
    assert_true(x.j->time_matched_fraction == 1 && x.j->flops_matched_fraction == 1);
    joined_free(&x);
}

/* Names written by ONNX Runtime 1.30 for a quantized model at level all: the convolution was created again in
 * NHWC, each operator has its dequantizers before it and its quantizer after it. */
static void quantized_operators_contain_their_dequantizers(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "uint8[1,4,8,8]");
    oc_b_init(b, "s", "float[]{0.5}");
    oc_b_init(b, "z", "uint8[]{128}");
    oc_b_init(b, "w", "float[4,4,1,1]");
    oc_b_node(b, "DequantizeLinear", "dq1", "x,s,z", "a", "");
    oc_b_node(b, "Conv", "conv2", "a,w", "c", "");
    oc_b_node(b, "QuantizeLinear", "q2", "c,s,z", "cq", "");
    oc_b_node(b, "DequantizeLinear", "dq2", "cq,s,z", "cd", "");
    oc_b_node(b, "Add", "add", "cd,a", "d", ""); /* also reads dq1, which belongs to the first reader */
    oc_b_node(b, "QuantizeLinear", "q3", "d,s,z", "dq", "");
    oc_b_node(b, "DequantizeLinear", "dq3", "dq,s,z", "dd", "");
    oc_b_node(b, "GlobalAveragePool", "pool", "dd", "p", "");
    oc_b_node(b, "QuantizeLinear", "q4", "p,s,z", "y", "");
    oc_b_output(b, "y", NULL);
    static const char *const event[] = {"Transpose|Transpose|20", "conv2_token_1|QLinearConv|21",
                                        "Transpose_token_0|Transpose|22", "add|QLinearAdd|23",
                                        "pool|QLinearGlobalAveragePool|24"};
    struct joined x = {.p = trace(event, OC_COUNT(event))};
    x.m = load(b, &x.bytes);
    join(&x);
    assert_nodes(&x, "conv2_token_1", "dq1 conv2 q2", "fused name");
    assert_nodes(&x, "add", "dq2 add q3", "name");
    assert_nodes(&x, "pool", "dq3 pool q4", "name");
    assert_string_equal(find_record(&x, "Transpose")->bucket, "layout");
    assert_string_equal(find_record(&x, "Transpose_token_0")->bucket, "layout");
    assert_int_equal(x.j->n_unmatched, 0);
    joined_free(&x);
}

/* Names written by ONNX Runtime 1.30 at level extended: the sum of two branches belongs to the normalization,
 * not to the product before it; reshapes around the product are inserted. */
static void skip_layer_normalization_contains_the_sum(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(14);
    oc_b_input(b, "x", "float[1,8,16]");
    oc_b_init(b, "w", "float[16,16]");
    oc_b_init(b, "v", "float[16]");
    oc_b_init(b, "two", "float[]{2}");
    oc_b_node(b, "MatMul", "mm", "x,w", "d", "");
    oc_b_node(b, "Add", "bias", "v,d", "e", "");
    oc_b_node(b, "Add", "skip", "e,x", "h", "");
    oc_b_node(b, "ReduceMean", "mean", "h", "m", "axes=[-1]");
    oc_b_node(b, "Sub", "sub", "h,m", "c", "");
    oc_b_node(b, "Pow", "pow", "c,two", "q", "");
    oc_b_node(b, "ReduceMean", "var", "q", "r", "axes=[-1]");
    oc_b_node(b, "Add", "eps", "r,two", "t", "");
    oc_b_node(b, "Sqrt", "sqrt", "t", "u", "");
    oc_b_node(b, "Div", "div", "c,u", "n", "");
    oc_b_node(b, "Mul", "scale", "n,v", "o", "");
    oc_b_node(b, "Add", "shift", "o,v", "y", "");
    oc_b_output(b, "y", NULL);
    static const char *const event[] = {
        "gemm_input_reshape|Reshape|20", "mm/MatMulAddFusion|Gemm|21|" F("8,16") "," F("16") "|" F("8,16"),
        "gemm_output_reshape|Reshape|22",
        "SkipLayerNormalization|SkipLayerNormalization|23|" F("1,8,16") "," F("1,8,16") "|" F("1,8,16")};
    struct joined x = {.p = trace(event, OC_COUNT(event))};
    x.m = load(b, &x.bytes);
    join(&x);
    assert_nodes(&x, "mm/MatMulAddFusion", "mm bias", "fused name");
    assert_nodes(&x, "SkipLayerNormalization", "skip mean sub pow var eps sqrt div scale shift", "order");
    assert_string_equal(find_record(&x, "gemm_input_reshape")->bucket, "inserted");
    assert_string_equal(find_record(&x, "gemm_output_reshape")->bucket, "inserted");
    assert_true(x.j->flops_matched_fraction == 1);
    joined_free(&x);
}

/* Three Gathers of one tensor became one Split. */
static void split_replaces_gathers(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[3,8]");
    oc_b_init(b, "i", "int64[]{1}");
    oc_b_node(b, "Gather", "q", "x,i", "a", "");
    oc_b_node(b, "Gather", "k", "x,i", "b", "");
    oc_b_node(b, "Gather", "other", "x,i", "c", "");
    oc_b_node(b, "Add", "sum", "a,b", "d", "");
    oc_b_node(b, "Add", "more", "c,d", "y", "");
    oc_b_output(b, "y", NULL);
    static const char *const event[] = {"q/GatherSliceToSplitFusion/|Split|9", "other|Gather|2", "sum|Add|3",
                                        "more|Add|4"};
    struct joined x = {.p = trace(event, OC_COUNT(event))};
    x.m = load(b, &x.bytes);
    join(&x);
    assert_nodes(&x, "q/GatherSliceToSplitFusion/", "q k", "fused name");
    joined_free(&x);
}

static void inlined_branches_match_by_name(void **state)
{
    (void)state;
    static const char *const event[] = {"If_3_then_branch__Inline_0__conv1|FusedConv|0",
                                        "If_3_else_branch__Inline_12__r2_nchwc|Conv|1"};
    struct joined x = {.p = trace(event, OC_COUNT(event))};
    x.m = load(residual(true), &x.bytes);
    join(&x);
    assert_nodes(&x, "If_3_then_branch__Inline_0__conv1", "conv1 bn1 relu1", "inlined name");
    assert_nodes(&x, "If_3_else_branch__Inline_12__r2_nchwc", "conv2 add2 relu2", "output tensor");
    joined_free(&x);
}

/* A float16 model where the provider computes in float: names of tensors, and of nodes after them, get a
 * prefix. */
static void float16_model_computed_in_float(void **state)
{
    (void)state;
    static const char *const event[] = {"InsertedPrecisionFreeCast_r1_nchwc|Conv|0",
                                        "InsertedPrecisionFreeCast_r1|Cast|1",
                                        "InsertedPrecisionFreeCast_r2_nchwc|Conv|2"};
    struct joined x = {.p = trace(event, OC_COUNT(event))};
    x.m = load(residual(true), &x.bytes);
    join(&x);
    assert_nodes(&x, "InsertedPrecisionFreeCast_r1_nchwc", "conv1 bn1 relu1", "output tensor");
    assert_nodes(&x, "InsertedPrecisionFreeCast_r2_nchwc", "conv2 add2 relu2", "output tensor");
    assert_string_equal(find_record(&x, "InsertedPrecisionFreeCast_r1")->bucket, "casts");
    joined_free(&x);
}

static void float16_model_computed_in_float_with_the_optimized_model(void **state)
{
    (void)state;
    static const char *const event[] = {"InsertedPrecisionFreeCast_r1_nchwc|Conv|0",
                                        "InsertedPrecisionFreeCast_r1|Cast|1",
                                        "InsertedPrecisionFreeCast_r2_nchwc|Conv|2"};
    struct joined x = {.p = trace(event, OC_COUNT(event))};
    x.m = load(residual(true), &x.bytes);
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[N,4,8,8]");
    oc_b_init(b, "W", "float[16,4,3,3]");
    oc_b_node(b, "com.microsoft.nchwc::Conv", "InsertedPrecisionFreeCast_r1_nchwc", "x,W", "t1", "");
    oc_b_node(b, "Cast", "InsertedPrecisionFreeCast_r1", "t1", "t2", "to=1");
    oc_b_node(b, "com.microsoft.nchwc::Conv", "InsertedPrecisionFreeCast_r2_nchwc", "t2,W,,t2", "y", "");
    oc_b_output(b, "y", NULL);
    x.o = load(b, &x.optimized_bytes);
    join(&x);
    assert_nodes(&x, "InsertedPrecisionFreeCast_r1_nchwc", "conv1 bn1 relu1", "output tensor");
    joined_free(&x);
}

/* ---- recorded files ------------------------------------------------------------------------------------ */

static const struct {
    const char *model, *profile, *optimized;
    uint64_t macs,
        executed;    /* of the model; from the recorded shapes: blocks of 16 channels pad at level all */
    double at_least; /* of the time on nodes or in named overhead rows */
    double flops;
} sample[] = {
    {"ppocr_cls", "ppocr_cls.ort1.30.disabled.2runs.json", NULL, 16315376, 16315376, 1, 1},
    {"ppocr_cls", "ppocr_cls.ort1.30.basic.2runs.json", NULL, 16315376, 16315376, 1, 1},
    {"ppocr_cls", "ppocr_cls.ort1.30.extended.2runs.json", NULL, 16315376, 16315376, 1, 1},
    {"ppocr_cls", "ppocr_cls.ort1.30.all.2runs.json", NULL, 16315376, 18415904, 0.99, 1},
    {"ppocr_cls", "ppocr_cls.ort1.12.1.all.2runs.json", NULL, 16315376, 18415904, 0.99, 1},
    {"ppocr_cls", "ppocr_cls.ort1.14.0.all.2runs.json", NULL, 16315376, 18415904, 0.99, 1},
    {"ppocr_cls", "ppocr_cls.ort1.14.0.all.truncated.json", NULL, 16315376, 18415904, 0.99, 1},
    {"ppocr_cls", "ppocr_cls.ort1.18.0.all.2runs.json", NULL, 16315376, 18415904, 0.99, 1},
    {"ppocr_cls", "ppocr_cls.ort1.22.0.all.1run.json", NULL, 16315376, 18415904, 0.99, 1},
    {"ppocr_cls", "ppocr_cls.ort1.10.0.all.2runs.json", NULL, 0, 0, 0.99, 1}, /* no shapes recorded */
    {"ppocr_cls", "ppocr_cls.ort1.30.all.2runs.json", "ppocr_cls.ort1.30.all.optimized.onnx", 16315376,
     18415904, 1, 1},
    {"ppocr_cls", "ppocr_cls.ort1.30.basic.2runs.json", "ppocr_cls.ort1.30.basic.optimized.onnx", 16315376,
     16315376, 1, 1},
    {"ppocr_cls", "ppocr_cls.ort1.30.extended.2runs.json", "ppocr_cls.ort1.30.extended.optimized.onnx",
     16315376, 16315376, 1, 1},
    {"ppocr_cls_unnamed", "ppocr_cls_unnamed.ort1.30.disabled.1run.json", NULL, 16315376, 16315376, 1, 1},
    {"ppocr_cls_unnamed", "ppocr_cls_unnamed.ort1.30.all.1run.json", NULL, 16315376, 18415904, 0.99, 1},
    {"silero_vad_legacy", "silero_legacy.ort1.30.disabled.2runs.json", NULL, 0, 0, 1, 1},
    {"silero_vad_legacy", "silero_legacy.ort1.30.all.2runs.json", NULL, 0, 0, 1, 1},
    {"silero_vad_legacy", "silero_legacy.ort1.11.0.all.2runs.json", NULL, 0, 0, 1, 1},
    {"silero_vad_legacy", "silero_legacy.ort1.30.all.parallel.1run.json", NULL, 0, 0, 1, 1},
};

static const char *sample_path(const char *name, const char *suffix)
{
    char path[200];
    snprintf(path, sizeof(path), "onnxruntime/%s%s", name, suffix);
    const char *full = t_sample(path);
    if (!full)
        skip();
    return full;
}

static void open_sample(struct joined *x, size_t i)
{
    struct oc_err e;
    *x = (struct joined){0};
    if (oc_model_load(sample_path(sample[i].model, ".onnx"), NULL, &x->m, &e) != 0 ||
        (sample[i].optimized && oc_model_load(sample_path(sample[i].optimized, ""), NULL, &x->o, &e) != 0) ||
        oc_profile_open(sample_path(sample[i].profile, ""), NULL, &x->p, &e) != 0)
        fail_msg("%s", e.msg);
    join(x);
}

/* No node is counted in two records that ran in the same scope, and the costs of the groups add up to those
 * of the model. */
static void check_groups_are_disjoint(const struct joined *x)
{
    uint8_t *seen = calloc(x->m->n_node, 1);
    for (uint32_t i = 0; i < x->p->n_rec; i++)
        for (uint32_t k = 0; k < x->j->rec[i].n_node; k++)
            assert_int_equal(seen[x->j->rec[i].node[k]]++, 0);
    free(seen);
}

static void recorded_profiles_are_matched(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(sample); i++) {
        struct joined x;
        open_sample(&x, i);
        double all = x.j->mapped_ns + x.j->overhead_ns + x.j->unmatched_ns;
        if (sample[i].macs)
            assert_int_equal(x.a->total->macs, sample[i].macs);
        assert_true((x.j->mapped_ns + x.j->overhead_ns) / all >= sample[i].at_least);
        assert_true(x.j->flops_matched_fraction >= sample[i].flops);
        assert_true(fabs(all - t_self_ns(x.p, NULL)) < 0.5);
        check_groups_are_disjoint(&x);
        const struct oc_join_time *t = &x.j->host;
        assert_true(fabs(t->imported_ns - t->nodes_ns - t->groups_ns - t->buckets_ns) < 1);
        assert_true(t->imported_ns == x.p->imported_ns && fabs(t->lost_ns) < 1);
        double in_buckets = 0;
        for (uint32_t k = 0; k < x.j->n_bucket; k++)
            in_buckets += x.j->bucket[k].total_ns;
        assert_true(fabs(in_buckets - t->buckets_ns) < 1);
        if (sample[i].executed)
            assert_int_equal(x.j->executed.macs, sample[i].executed);
        assert_int_equal(x.j->executed.known, sample[i].profile[0] != 'p' || sample[i].executed != 0);
        assert_int_equal(x.j->executed.padding_macs,
                         sample[i].executed ? sample[i].executed - sample[i].macs : 0);
        for (size_t k = 0; k < x.j->diags.n; k++) /* every event is a node of the optimized model */
            assert_string_not_equal(x.j->diags.item[k].code, "W-optimized-model");
        uint64_t macs = 0;
        for (uint32_t k = 0; k < x.p->n_rec; k++)
            macs += x.j->rec[k].macs;
        assert_int_equal(macs, x.a->total->macs);
        joined_free(&x);
    }
}

/* The exact join and the join by names agree on all groups. */
static void name_rules_agree_with_the_optimized_model(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(sample); i++) {
        struct joined exact, named;
        if (!sample[i].optimized)
            continue;
        open_sample(&exact, i);
        size_t k = 0;
        while (sample[k].optimized || strcmp(sample[k].profile, sample[i].profile) != 0)
            k++;
        open_sample(&named, k);
        size_t differ = 0;
        for (uint32_t r = 0; r < exact.p->n_rec; r++) {
            const struct oc_join_rec *a = &exact.j->rec[r], *b = &named.j->rec[r];
            bool same = a->n_node == b->n_node;
            for (uint32_t n = 0; same && n < a->n_node; n++)
                same = a->node[n] == b->node[n];
            if (!same)
                print_message("%s: %s\n", sample[i].profile, exact.p->rec[r].name);
            differ += !same;
        }
        assert_int_equal(differ, 0);
        joined_free(&exact);
        joined_free(&named);
    }
}

/* ids -> embedding -> LayerNormalization -> keys, appended to a past of another length */
static struct oc_builder *make_decoder(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "ids", "int64[B,S]");
    oc_b_input(b, "past", "float[B,P,8]");
    oc_b_init(b, "words", "float[1000,32]");
    oc_b_init(b, "scale", "float[32]");
    oc_b_init(b, "wk", "float[32,8]");
    oc_b_node(b, "Gather", "embed", "words,ids", "e", "");
    oc_b_node(b, "LayerNormalization", "norm", "e,scale,scale", "h", "");
    oc_b_node(b, "MatMul", "keys", "h,wk", "k", "");
    oc_b_node(b, "Concat", "append", "past,k", "present", "axis=1");
    oc_b_output(b, "present", "float[B,T,8]");
    return b;
}

static const char *shape_reason(const struct joined *x, const char *input)
{
    for (uint32_t i = 0; i < x->a->n_assumption; i++)
        if (!strcmp(x->a->assumption[i].name, input))
            return x->a->assumption[i].reason;
    return NULL;
}

static void join_decoder(struct joined *x, const char *const *event, size_t n)
{
    *x = (struct joined){0};
    x->m = load(make_decoder(), &x->bytes);
    x->p = trace(event, n);
    join(x);
}

/* The readers of the inputs are in kernels that match no node. */
static void sizes_follow_from_recorded_shapes_of_later_nodes(void **state)
{
    (void)state;
    static const char *const event[] = {
        "EmbedLayerNormalization_0|EmbedLayerNormalization|0|{\"int32\":[2,8]}|{\"float\":[2,8,32]}",
        "keys|MatMul|1|{\"float\":[2,8,32]}|{\"float\":[2,8,8]}", "append|Concat|2| |{\"float\":[2,24,8]}"};
    struct joined x;
    join_decoder(&x, event, OC_COUNT(event));
    const struct oc_shape *ids = &x.a->type[x.m->graph[0].input[0]].shape,
                          *past = &x.a->type[x.m->graph[0].input[1]].shape;
    assert_true(oc_is(ids->dim[0], 2) && oc_is(ids->dim[1], 8));
    assert_true(oc_is(past->dim[0], 2) && oc_is(past->dim[1], 16));
    assert_string_equal(shape_reason(&x, "past"), "follows from the recorded shapes");
    assert_int_equal(x.a->total->macs, 2 * 8 * 32 * 8);
    joined_free(&x);
}

static void sizes_that_contradict_a_recorded_shape_are_not_taken(void **state)
{
    (void)state;
    static const char *const event[] = {"norm|LayerNormalization|0|{\"float\":[2,9,32]}|{\"float\":[2,9,32]}",
                                        "keys|MatMul|1|{\"float\":[2,8,32]}|{\"float\":[2,8,8]}"};
    struct joined x;
    join_decoder(&x, event, OC_COUNT(event));
    const struct oc_shape *ids = &x.a->type[x.m->graph[0].input[0]].shape;
    assert_true(oc_is(ids->dim[0], 1) && oc_is(ids->dim[1], 1));
    assert_string_equal(shape_reason(&x, "B"), "default for a batch");
    joined_free(&x);
}

static void part_of_a_shape_follows_and_the_rest_is_a_default(void **state)
{
    (void)state;
    static const char *const event[] = {"keys|MatMul|1|{\"float\":[2,8,32]}|{\"float\":[2,8,8]}"};
    struct joined x;
    join_decoder(&x, event, OC_COUNT(event));
    const struct oc_shape *past = &x.a->type[x.m->graph[0].input[1]].shape;
    assert_true(oc_is(past->dim[0], 2) && oc_is(past->dim[1], 1));
    assert_non_null(shape_reason(&x, "P"));
    assert_string_equal(shape_reason(&x, "past"), "follows from the recorded shapes");
    joined_free(&x);
}

/* The product counts weights of one byte; the runtime made floats of them: 32 + 4 bytes read, 128 written, and the
 * product's own record is not changed. */
static void dequantizations_that_ran_have_their_recorded_bytes(void **state)
{
    (void)state;
    static const char *const event[] = {
        "dq|DequantizeLinear|0|{\"int8\":[8,4]},{\"float\":[]}|{\"float\":[8,4]}",
        "product|MatMul|1|{\"float\":[2,8]},{\"float\":[8,4]}|{\"float\":[2,4]}",
    };
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[2,8]");
    oc_b_init(b, "w", "int8[8,4]");
    oc_b_init(b, "s", "float[]{0.5}");
    oc_b_node(b, "DequantizeLinear", "dq", "w,s", "f", "");
    oc_b_node(b, "MatMul", "product", "x,f", "y", "");
    oc_b_output(b, "y", NULL);
    struct joined x = {.p = trace(event, OC_COUNT(event))};
    x.m = load(b, &x.bytes);
    join(&x);
    const struct oc_join_rec *dq = find_record(&x, "dq"), *product = find_record(&x, "product");
    assert_true(dq->n_node == 1 && dq->bytes_known && dq->from_profile);
    assert_int_equal(dq->rd_act + dq->rd_wt, 36);
    assert_int_equal(dq->wr, 128);
    assert_int_equal(product->rd_act, 64);
    assert_false(product->from_profile);
    assert_int_equal(product->macs, 64);
    joined_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_match_by_exact_name),
        cmocka_unit_test(public_interface_returns_the_same_records),
        cmocka_unit_test(fused_records_match_their_group),
        cmocka_unit_test(blocked_convolutions_match_by_their_output_name),
        cmocka_unit_test(notes_say_why_a_record_has_no_cost),
        cmocka_unit_test(output_names_lead_back_through_either_operand),
        cmocka_unit_test(shapes_of_replaced_operators_are_not_compared),
        cmocka_unit_test(unnamed_nodes_match_by_index),
        cmocka_unit_test(records_match_through_the_optimized_model),
        cmocka_unit_test(saved_nodes_are_in_the_order_of_indexes_or_of_execution),
        cmocka_unit_test(saved_nodes_in_an_unknown_order_match_by_their_tensors),
        cmocka_unit_test(nodes_paired_in_the_wrong_order_are_free_for_their_records),
        cmocka_unit_test(names_in_both_branches_match_the_executed_one),
        cmocka_unit_test(saved_names_in_both_branches_are_those_of_the_executed_one),
        cmocka_unit_test(integers_of_a_kept_node_are_after_its_quantizer),
        cmocka_unit_test(a_split_has_all_nodes_that_took_parts),
        cmocka_unit_test(records_with_other_shapes_have_no_costs),
        cmocka_unit_test(profile_of_another_model_is_reported),
        cmocka_unit_test(profile_that_fits_in_part_is_a_warning_with_shares),
        cmocka_unit_test(layer_norm_and_gelu_groups),
        cmocka_unit_test(gelu_without_a_name),
        cmocka_unit_test(quantized_operators_contain_their_dequantizers),
        cmocka_unit_test(skip_layer_normalization_contains_the_sum),
        cmocka_unit_test(split_replaces_gathers),
        cmocka_unit_test(inlined_branches_match_by_name),
        cmocka_unit_test(float16_model_computed_in_float),
        cmocka_unit_test(float16_model_computed_in_float_with_the_optimized_model),
        cmocka_unit_test(sizes_follow_from_recorded_shapes_of_later_nodes),
        cmocka_unit_test(sizes_that_contradict_a_recorded_shape_are_not_taken),
        cmocka_unit_test(part_of_a_shape_follows_and_the_rest_is_a_default),
        cmocka_unit_test(recorded_profiles_are_matched),
        cmocka_unit_test(name_rules_agree_with_the_optimized_model),
        cmocka_unit_test(dequantizations_that_ran_have_their_recorded_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
