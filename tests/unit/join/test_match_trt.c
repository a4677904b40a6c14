/* Layers of TensorRT engines matched with nodes. No engine of the recordings has its model here: names are
 * built from the zoo's nodes in the style of the recordings. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "join/join.h"
#include "support/profiles.h"
#include "zoo.h"
#include "onnxcost.h"

struct joined {
    uint8_t *bytes;
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_profile *p;
    struct oc_join *j;
};

static void load(struct joined *x, struct oc_builder *b)
{
    size_t n;
    struct oc_err e;
    x->bytes = oc_b_pack(b, &n);
    if (oc_model_load_mem(x->bytes, n, NULL, &x->m, &e) != 0)
        fail_msg("%s", e.msg);
}

static void load_zoo(struct joined *x, const char *name)
{
    struct zoo z;
    zoo_init(&z, 17);
    zoo_find(name)->build(&z);
    load(x, z.b);
    zoo_free(&z);
}

static void join(struct joined *x, const char *profile)
{
    struct oc_analyze_opts opts = {0}; /* batch 1, sequence 128 */
    struct oc_err e;
    x->p = t_profile_text(profile, NULL, &e);
    if (!x->p)
        fail_msg("%s", e.msg);
    assert_string_equal(x->p->format, "tensorrt");
    if (oc_analyze(x->m, &opts, &x->a, &e) != 0 || oc_join_make(x->m, x->a, x->p, NULL, &x->j, &e) != 0)
        fail_msg("%s", e.msg);
}

static void joined_free(struct joined *x)
{
    oc_join_free(x->j);
    oc_analysis_free(x->a);
    oc_profile_close(x->p);
    oc_model_free(x->m);
    free(x->bytes);
}

/* ---- profiles ------------------------------------------------------------------------------------------ */

static void begin_layers(struct oc_buf *b)
{
    oc_buf_str(b, "[\n  { \"count\" : 10 }\n");
}

static void add_layer(struct oc_buf *b, const char *name, double us)
{
    oc_buf_printf(b,
                  ", { \"name\" : \"%s\", \"timeMs\" : %g, \"averageMs\" : %g, \"medianMs\" : %g, "
                  "\"percentage\" : 1 }\n",
                  name, us * 10 / 1000, us / 1000, us / 1000);
}

/* The only reader of the node's first output, OC_NONE: none or several. */
static uint32_t next_of(const struct oc_model *m, uint32_t node)
{
    uint32_t v = m->node[node].out[0], found = OC_NONE;
    for (uint32_t i = 0; i < m->n_node; i++)
        for (uint32_t k = 0; k < m->node[i].n_in; k++) {
            if (m->node[i].in[k] != v)
                continue;
            if (found != OC_NONE)
                return OC_NONE;
            found = i;
        }
    return found;
}

static bool has_type(const struct oc_model *m, uint32_t node, const char *type)
{
    return node != OC_NONE && strcmp(m->node[node].op_type, type) == 0;
}

static bool has_conv_between(const struct oc_model *m, uint32_t first, uint32_t end)
{
    for (uint32_t i = first + 1; i < end; i++)
        if (has_type(m, i, "Conv"))
            return true;
    return false;
}

/* "Conv + Add + Relu", "Conv + PWN(Clip)": the normalization was folded into the weights and has no name; a
 * sum belongs to the later of the convolutions that it adds. */
static void add_convolution(struct oc_buf *b, const struct oc_model *m, uint32_t node)
{
    struct oc_buf name = {0};
    oc_buf_str(&name, m->node[node].name);
    uint32_t at = next_of(m, node);
    if (has_type(m, at, "BatchNormalization"))
        at = next_of(m, at);
    if (has_type(m, at, "Add") && has_conv_between(m, node, at)) {
        at = OC_NONE;
    } else if (has_type(m, at, "Add")) {
        oc_buf_printf(&name, " + %s", m->node[at].name);
        at = next_of(m, at);
    }
    if (has_type(m, at, "Relu"))
        oc_buf_printf(&name, " + %s", m->node[at].name);
    else if (has_type(m, at, "Clip"))
        oc_buf_printf(&name, " + PWN(%s)", m->node[at].name);
    add_layer(b, name.data, 40);
    oc_buf_free(&name);
}

/* Layer names of a convolutional network in the style of TensorRT 8, after the ResNet-18 recordings. */
static char *make_network_profile(const struct oc_model *m)
{
    struct oc_buf b = {0};
    char name[200];
    begin_layers(&b);
    add_layer(&b, "Reformatting CopyNode for Input Tensor 0 to /conv1/Conv", 5);
    for (uint32_t i = 0; i < m->n_node; i++) {
        if (has_type(m, i, "Conv"))
            add_convolution(&b, m, i);
        else if (has_type(m, i, "MaxPool") || has_type(m, i, "GlobalAveragePool") || has_type(m, i, "Gemm"))
            add_layer(&b, m->node[i].name, 7);
        if (has_type(m, i, "Gemm")) {
            snprintf(name, sizeof(name), "reshape_after_%s", m->node[i].name);
            add_layer(&b, name, 0);
        }
    }
    oc_buf_str(&b, "]\n");
    return b.data;
}

/* ---- coverage ---- */

static uint64_t macs_on_records(const struct oc_join *j)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < j->profile->n_rec; i++)
        sum += j->rec[i].quality == OC_UNKNOWN ? 0 : j->rec[i].macs;
    return sum;
}

static void check_complete(const struct joined *x, uint64_t macs, double overhead_ns)
{
    const struct oc_join *j = x->j;
    for (uint32_t i = 0; i < j->n_unmatched; i++)
        print_message("unattributed: %s\n", x->p->rec[j->unmatched[i]].name);
    assert_int_equal(j->n_unmatched, 0);
    for (uint32_t i = 0; i < x->m->n_node; i++)
        if (x->a->cost[i].state == OC_NODE_NORMAL && x->a->cost[i].flops && j->node_rec[i] == OC_NONE)
            fail_msg("no time: %s", x->m->node[i].name);
    assert_int_equal(j->nodes_without_time, 0);
    assert_true(j->flops_matched_fraction == 1);
    assert_int_equal(x->a->total->macs, macs);
    assert_int_equal(macs_on_records(j), macs);
    assert_true(fabs(j->overhead_ns - overhead_ns) < 1e-3);
    assert_true(fabs(j->mapped_ns + j->overhead_ns - t_self_ns(x->p, NULL)) < 1e-3);
    assert_true(fabs(j->host.lost_ns) < 1e-3);
}

/* MACs from models/zoo_list.c; 5 us of reformatting. */
static void networks_of_convolutions_are_covered(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t macs;
    } row[] = {{"resnet18", 1814073344}, {"resnet50", 4089184256}, {"mobilenetv2", 300774272}};
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct joined x;
        load_zoo(&x, row[i].name);
        char *text = make_network_profile(x.m);
        join(&x, text);
        check_complete(&x, row[i].macs, 5000);
        free(text);
        joined_free(&x);
    }
}

static const struct oc_join_rec *find_record(const struct joined *x, const char *name)
{
    const struct oc_prof_rec *r = t_rec(x->p, name);
    assert_non_null(r);
    return &x->j->rec[r - x->p->rec];
}

static void assert_nodes(const struct joined *x, const char *name, const char *want, const char *rule)
{
    const struct oc_join_rec *r = find_record(x, name);
    struct oc_buf text = {0};
    char label[200];
    oc_buf_str(&text, "");
    for (uint32_t i = 0; i < r->n_node; i++)
        oc_buf_printf(&text, "%s%s", i ? " " : "",
                      oc_node_label(x->m, &x->m->node[r->node[i]], label, sizeof(label)));
    assert_string_equal(text.data, want);
    assert_string_equal(r->rule, rule);
    assert_null(r->bucket);
    oc_buf_free(&text);
}

static void folded_normalization_belongs_to_its_convolution(void **state)
{
    (void)state;
    struct joined x;
    load_zoo(&x, "resnet18");
    char *text = make_network_profile(x.m);
    join(&x, text);
    assert_nodes(&x, "/conv1/Conv + /relu/Relu", "/conv1/Conv /bn1/BatchNormalization /relu/Relu",
                 "name parts");
    assert_nodes(&x, "/maxpool/MaxPool", "/maxpool/MaxPool", "name");
    const struct oc_join_rec *r = find_record(&x, "Reformatting CopyNode for Input Tensor 0 to /conv1/Conv");
    assert_string_equal(r->bucket, "reformat");
    assert_string_equal(find_record(&x, "reshape_after_/fc/Gemm")->bucket, "no-op");
    free(text);
    joined_free(&x);
}

/* BERT as one region; then as regions of its own blocks with two products named outside of them. MACs of 12
 * encoder layers at 128 tokens, and the pooler: 11,174,215,680. */
static void regions_contain_the_unnamed_nodes(void **state)
{
    (void)state;
    static const char *const whole[] = {
        "{ForeignNode[/embeddings/word_embeddings/Gather.../pooler/activation/Tanh]}"};
    static const char *const parts[] = {
        "[trainStation1]",
        "{ForeignNode[/embeddings/word_embeddings/Gather.../embeddings/LayerNorm/LayerNormalization]}",
        "/encoder/layer.0/attention/self/query/MatMul",
        "/encoder/layer.0/intermediate/dense/MatMul + /encoder/layer.0/intermediate/dense/Add",
        "{ForeignNode[/encoder/layer.0/attention/self/query/Add.../pooler/activation/Tanh]}",
        "[trainStation2]",
    };
    static const struct {
        const char *const *name;
        size_t n;
        double overhead_ns;
    } row[] = {{whole, 1, 0}, {parts, 6, 4000}};
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct joined x;
        struct oc_buf b = {0};
        load_zoo(&x, "bert_base");
        begin_layers(&b);
        for (size_t k = 0; k < row[i].n; k++)
            add_layer(&b, row[i].name[k], row[i].name[k][0] == '[' ? 2 : 100);
        oc_buf_str(&b, "]\n");
        join(&x, b.data);
        check_complete(&x, 11174215680, row[i].overhead_ns);
        oc_buf_free(&b);
        joined_free(&x);
    }
}

/* ---- rules --------------------------------------------------------------------------------------------- */

/* conv -> bn -> relu -> "a + b" (Conv) -> sum with relu -> y; weights w, v */
static struct oc_builder *make_model(void)
{
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[N,4,8,8]");
    oc_b_init(b, "w", "float[4,4,3,3]");
    oc_b_init(b, "v", "float[4,4,1,1]");
    oc_b_init(b, "s", "float[4]");
    oc_b_node(b, "Conv", "/m.0/conv", "x,w", "c", "pads=1,1,1,1");
    oc_b_node(b, "BatchNormalization", "/m.0/bn", "c,s,s,s,s", "n", "");
    oc_b_node(b, "Relu", NULL, "n", "r", "");
    oc_b_node(b, "Conv", "a + b", "r,v", "d", "");
    oc_b_node(b, "Add", "sum", "d,r", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

static void join_layers(struct joined *x, const char *const *name, size_t n)
{
    struct oc_buf b = {0};
    struct oc_builder *model = make_model();
    load(x, model);
    oc_b_free(model);
    begin_layers(&b);
    for (size_t i = 0; i < n; i++)
        add_layer(&b, name[i], 10);
    oc_buf_str(&b, "]\n");
    join(x, b.data);
    oc_buf_free(&b);
}

/* Parts of a name without a node, and a range with an unknown end, lower the confidence. */
static void unknown_parts_lower_the_confidence(void **state)
{
    (void)state;
#define ALL "/m.0/conv /m.0/bn Relu_2 a + b sum" /* the only region: what no other layer names too */
    static const struct {
        const char *name, *nodes;
        double confidence;
    } row[] = {
        {"{ForeignNode[/m.0/conv...sum]}", ALL, 0.9},
        {"{ForeignNode[/m.0/conv.../m.0/bn]}", ALL, 0.9},
        {"{ForeignNode[/m.0/conv.../m.0/bn]} + {ForeignNode[a + b...absent]}", ALL, 0.9 / 2},
        {"{ForeignNode[/m.0/conv.../m.0/bn]} + {ForeignNode[absent...sum]}", ALL, 0.9 / 2},
        {"sum + absent", "sum", 0.95 / 2},
        {"sum + absent + nothing", "sum", 0.95 / 3},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct joined x;
        join_layers(&x, &row[i].name, 1);
        const struct oc_join_rec *r = find_record(&x, row[i].name);
        assert_nodes(&x, row[i].name, row[i].nodes, row[i].name[0] == '{' ? "range" : "name parts");
        if (fabs(r->confidence - row[i].confidence) > 1e-9)
            fail_msg("%s: confidence %g", row[i].name, r->confidence);
        joined_free(&x);
    }
}

static void names_match_nodes(void **state)
{
    (void)state;
    static const char *const name[] = {
        "w + QuantizeLinear_3 + /m.0/conv + PWN(node_of_r) [profile 1]",
        "a + b + sum",
        "t_clone_1",
        "PWN((Unnamed Layer* 1) [ElementWise], (Unnamed Layer* 2) [Unary])",
        "v + (Unnamed Layer* 3) [Shuffle]",
        "__myl_MulAdd_myl3_1",
        "r copy",
        "nobody",
    };
    static const char *const bucket[] = {"inserted",          "inserted", "inserted",
                                         "generated kernels", "copies",   "unmatched"};
    struct joined x;
    join_layers(&x, name, OC_COUNT(name));
    assert_nodes(&x, name[0], "/m.0/conv /m.0/bn Relu_2", "name parts");
    assert_true(fabs(find_record(&x, name[0])->confidence - 0.95 * 2 / 3) <
                1e-9); /* QuantizeLinear_3 is not a node */
    assert_nodes(&x, name[1], "a + b sum", "name parts");
    assert_true(find_record(&x, name[1])->confidence == 0.95);
    for (size_t i = 2; i < OC_COUNT(name); i++)
        assert_string_equal(find_record(&x, name[i])->bucket, bucket[i - 2]);
    joined_free(&x);
}

static void changed_names_match_nodes(void **state)
{
    (void)state;
    static const char *const name[] = {"/m_0/conv_myl7_2", "d"};
    struct joined x;
    join_layers(&x, name, OC_COUNT(name));
    assert_nodes(&x, name[0], "/m.0/conv /m.0/bn Relu_2", "plain name");
    assert_nodes(&x, name[1], "a + b sum", "tensor name");
    joined_free(&x);
}

/* Two layers list the same node: the longer one has its cost, the other is a part of it. A node named by one
 * layer is not assigned to a region. */
static void markers_take_precedence(void **state)
{
    (void)state;
    static const char layers[] =
        "{\"Layers\": [{\"Name\": \"k1\", \"LayerType\": \"kgen\", \"Metadata\": \"[ONNX Layer: "
        "/m.0/conv]\\u001e"
        "[ONNX Layer: /m.0/bn]\"}, {\"Name\": \"k2\", \"LayerType\": \"kgen\", \"Metadata\": "
        "\"[ONNX Layer: /m.0/conv]\"}, {\"Name\": \"sum\", \"LayerType\": \"kgen\", \"Metadata\": \"[ONNX "
        "Layer: a + "
        "b]\\u001f[ONNX Layer: gone]\"}], \"Bindings\": [\"x\"]}";
    struct joined x = {0};
    struct oc_builder *model = make_model();
    struct oc_err e;
    load(&x, model);
    oc_b_free(model);
    x.p = t_profile_text(layers, NULL, &e);
    assert_non_null(x.p);
    x.p->rec[0].self_ns = x.p->rec[0].kernel_ns = 5; /* a profile would decide */
    x.p->rec[1].self_ns = x.p->rec[1].kernel_ns = 9;
    x.p->rec[2].self_ns = x.p->rec[2].kernel_ns = 1;
    struct oc_analyze_opts opts = {0};
    if (oc_analyze(x.m, &opts, &x.a, &e) != 0 || oc_join_make(x.m, x.a, x.p, NULL, &x.j, &e) != 0)
        fail_msg("%s", e.msg);
    assert_nodes(&x, "k2", "/m.0/conv", "marker");
    assert_nodes(&x, "k1", "/m.0/bn Relu_2", "marker");
    assert_nodes(&x, "sum", "a + b sum", "marker");
    assert_true(find_record(&x, "sum")->confidence == 0.5);
    joined_free(&x);
}

static bool has_mismatch(const struct joined *x)
{
    for (size_t i = 0; i < x->j->diags.n; i++)
        if (strcmp(x->j->diags.item[i].code, OC_DIAG_OTHER_MODEL) == 0)
            return true;
    return false;
}

/* An engine for 32 images with an analysis for one: its times go with its own operations and bytes. */
static void counts_are_those_of_the_engine(void **state)
{
    (void)state;
    static const char layers[] =
        "{\"Layers\": [{\"Name\": \"/m.0/conv\", \"LayerType\": \"CaskConvolution\", \"ParameterType\": "
        "\"Convolution\", \"Kernel\": [3,3], \"OutMaps\": 4, \"Groups\": 1, \"Inputs\": [{\"Name\": \"q\", "
        "\"Dimensions\": [32,4,8,8], \"Format/Datatype\": \"Half\"}], \"Outputs\": [{\"Name\": \"c\", "
        "\"Dimensions\": [32,4,8,8], \"Format/Datatype\": \"Half\"}]}], \"Bindings\": [\"x\"]}";
    struct joined x = {0};
    struct oc_builder *model = make_model();
    struct oc_err e;
    load(&x, model);
    oc_b_free(model);
    x.p = t_profile_text(layers, NULL, &e);
    assert_non_null(x.p);
    assert_int_equal(x.p->rec[0].macs, 32 * 4 * 64 * 36); /* 294,912 */
    struct oc_analyze_opts opts = {0};
    if (oc_analyze(x.m, &opts, &x.a, &e) != 0 || oc_join_make(x.m, x.a, x.p, NULL, &x.j, &e) != 0)
        fail_msg("%s", e.msg);
    const struct oc_join_rec *r = &x.j->rec[0];
    assert_true(r->from_profile);
    assert_int_equal(r->macs, 294912);
    assert_int_equal(r->rd_act + r->rd_wt + r->wr,
                     2 * 32 * 4 * 64 * 2); /* half: 2 bytes; no weights are listed */
    assert_int_equal(r->wr, 32 * 4 * 64 * 2);
    assert_int_equal(x.j->analysis->cost[r->node[0]].macs * 32, r->macs);
    joined_free(&x);
}

/* A layer of an engine for a chain of convolutions. */
struct conv_layer {
    const char *name;
    int channels_in, channels_out, kernel;
};

static void add_conv(struct oc_buf *b, const struct conv_layer *l, int batch, int size, bool first)
{
    oc_buf_printf(
        b,
        "%s{\"Name\": \"%s\", \"LayerType\": \"CaskConvolution\", \"ParameterType\": \"Convolution\", "
        "\"Kernel\": [%d,%d], \"OutMaps\": %d, \"Groups\": 1, "
        "\"Inputs\": [{\"Name\": \"i\", \"Dimensions\": [%d,%d,%d,%d], \"Format/Datatype\": \"Half\"}], "
        "\"Outputs\": [{\"Name\": \"o\", \"Dimensions\": [%d,%d,%d,%d], \"Format/Datatype\": \"Half\"}]}",
        first ? "" : ",", l->name, l->kernel, l->kernel, l->channels_out, batch, l->channels_in, size, size,
        batch, l->channels_out, size, size);
}

/* c0: 3 to 8, c1 and c2: 8 to 8, c3: 1x1, 8 to 8, c4: 3x3, 8 to 8; each with a Relu. */
static struct oc_builder *make_chain(void)
{
    struct oc_builder *b = oc_b_new(17);
    char text[80], in[8] = "x", out[8], conv[8];
    oc_b_input(b, "x", "float[1,3,16,16]");
    for (int i = 0; i < 5; i++) {
        int k = i == 3 ? 1 : 3;
        snprintf(text, sizeof(text), "float[8,%d,%d,%d]", i ? 8 : 3, k, k);
        snprintf(conv, sizeof(conv), "c%d", i);
        snprintf(out, sizeof(out), "w%d", i);
        oc_b_init(b, out, text);
        snprintf(text, sizeof(text), "%s,w%d", in, i);
        snprintf(out, sizeof(out), "t%d", i);
        oc_b_node(b, "Conv", conv, text, out, k == 3 ? "pads=1,1,1,1" : "");
        snprintf(in, sizeof(in), "r%d", i);
        oc_b_node(b, "Relu", NULL, out, in, "");
    }
    oc_b_output(b, in, NULL);
    return b;
}

static void join_engine(struct joined *x, const struct conv_layer *l, size_t n, int batch, int size)
{
    struct oc_buf b = {0};
    struct oc_analyze_opts opts = {0};
    struct oc_err e;
    struct oc_builder *model = make_chain();
    load(x, model);
    oc_b_free(model);
    oc_buf_str(&b, "{\"Layers\": [");
    for (size_t i = 0; i < n; i++)
        add_conv(&b, &l[i], batch, size, i == 0);
    oc_buf_str(&b, "], \"Bindings\": [\"x\"]}");
    x->p = t_profile_text(b.data, NULL, &e);
    assert_non_null(x->p);
    for (uint32_t i = 0; i < x->p->n_rec; i++)
        x->p->rec[i].self_ns = x->p->rec[i].kernel_ns = 10;
    if (oc_analyze(x->m, &opts, &x->a, &e) != 0 || oc_join_make(x->m, x->a, x->p, NULL, &x->j, &e) != 0)
        fail_msg("%s", e.msg);
    oc_buf_free(&b);
}

static void layers_with_other_names_are_matched_by_type_and_shape(void **state)
{
    static const struct conv_layer layers[] = {
        {"stem", 3, 8, 3}, {"a", 8, 8, 3}, {"b", 8, 8, 3}, {"pointwise", 8, 8, 1}, {"head", 8, 8, 3}};
    static const char *const node[] = {"c0", "c1", "c2", "c3", "c4"};
    struct joined x = {0};
    (void)state;
    join_engine(&x, layers, 5, 4, 16);
    for (uint32_t i = 0; i < 5; i++) {
        assert_string_equal(x.m->node[x.j->rec[i].node[0]].name, node[i]);
        assert_string_equal(x.j->rec[i].rule, "type and shape");
        assert_int_equal(x.j->rec[i].n_node, 2); /* with its Relu */
    }
    assert_true(has_mismatch(&x)); /* batch 4 and 1 */
    assert_non_null(strstr(x.j->diags.item[0].text, "batch 4"));
    joined_free(&x);
}

static void layers_in_other_order_are_matched_by_their_work(void **state)
{
    static const struct conv_layer layers[] = {
        {"pointwise", 8, 8, 1}, {"stem", 3, 8, 3}, {"a", 8, 8, 3}, {"b", 8, 8, 3}, {"head", 8, 8, 3}};
    struct joined x = {0};
    (void)state;
    join_engine(&x, layers, 5, 1, 16);
    assert_string_equal(x.m->node[x.j->rec[0].node[0]].name, "c3");
    assert_string_equal(x.m->node[x.j->rec[1].node[0]].name, "c0");
    assert_false(has_mismatch(&x));
    joined_free(&x);
}

/* One of three equal layers is missing: only those between matched neighbours are certain. */
static void ambiguous_layers_are_not_matched(void **state)
{
    static const struct conv_layer layers[] = {
        {"stem", 3, 8, 3}, {"a", 8, 8, 3}, {"pointwise", 8, 8, 1}, {"head", 8, 8, 3}};
    struct joined x = {0};
    (void)state;
    join_engine(&x, layers, 4, 1, 16);
    assert_int_equal(x.j->rec[1].n_node, 0); /* c1 or c2 */
    assert_string_equal(x.m->node[x.j->rec[3].node[0]].name, "c4");
    joined_free(&x);
}

/* Quantizers of an engine with other names than the model. */
static void quantizers_are_matched_by_shape_or_are_reformats(void **state)
{
    static const char one[] = "{\"Name\": \"%s\", \"LayerType\": \"%s\", \"ParameterType\": \"%s\", "
                              "\"Origin\": \"QDQ\", \"Kernel\": [1,1], \"OutMaps\": 4, \"Groups\": 1, "
                              "\"Inputs\": [{\"Name\": \"i\", \"Dimensions\": [1,4,%d,8], "
                              "\"Format/Datatype\": \"Half\"}], \"Outputs\": [{\"Name\": \"o\", "
                              "\"Dimensions\": [1,4,%d,8], \"Format/Datatype\": \"Int8\"}]}%s";
    (void)state;
    for (int quantized = 0; quantized < 2; quantized++) {
        struct joined x = {0};
        struct oc_buf b = {0};
        struct oc_err e;
        struct oc_analyze_opts opts = {0};
        struct oc_builder *model = oc_b_new(17);
        oc_b_input(model, "x", "float[1,4,8,8]");
        oc_b_init(model, "s", "float[]");
        oc_b_init(model, "z", "int8[]");
        oc_b_init(model, "w", "float[4,4,1,1]");
        if (quantized) {
            oc_b_node(model, "QuantizeLinear", "q", "x,s,z", "a", "");
            oc_b_node(model, "DequantizeLinear", "d", "a,s,z", "b", "");
        }
        oc_b_node(model, "Conv", "c", quantized ? "b,w" : "x,w", "y", "");
        oc_b_output(model, "y", NULL);
        load(&x, model);
        oc_b_free(model);
        oc_buf_str(&b, "{\"Layers\": [");
        oc_buf_printf(&b, one, "QuantizeLinear_7", "Reformat", "Reformat", 8, 8, ",");
        oc_buf_printf(&b, one, "QuantizeLinear_9", "Reformat", "Reformat", 4, 4, ",");
        oc_buf_printf(&b, one, "Conv_8", "CaskConvolution", "Convolution", 8, 8, "]}");
        x.p = t_profile_text(b.data, NULL, &e);
        if (!x.p || oc_analyze(x.m, &opts, &x.a, &e) != 0 || oc_join_make(x.m, x.a, x.p, NULL, &x.j, &e) != 0)
            fail_msg("%s", e.msg);
        if (quantized)
            assert_nodes(&x, "QuantizeLinear_7", "q d", "type and shape");
        else
            assert_string_equal(find_record(&x, "QuantizeLinear_7")->bucket, "reformat");
        assert_string_equal(find_record(&x, "QuantizeLinear_9")->bucket, "reformat");
        assert_nodes(&x, "Conv_8", "c", "type and shape");
        oc_buf_free(&b);
        joined_free(&x);
    }
}

/* An engine with dynamic shapes lists -1: the counts are the model's. */
static void engine_with_dynamic_shapes_has_the_counts_of_the_model(void **state)
{
    static const struct conv_layer layers[] = {{"c0", 3, 8, 3}, {"c1", 8, 8, 3}};
    struct joined x = {0};
    (void)state;
    join_engine(&x, layers, 2, -1, -1);
    for (uint32_t i = 0; i < 2; i++) {
        const struct oc_join_rec *r = &x.j->rec[i];
        assert_string_equal(x.m->node[r->node[0]].name, layers[i].name);
        assert_false(r->from_profile);
        assert_int_equal(r->macs, x.a->cost[r->node[0]].macs);
        assert_true(r->bytes_known);
    }
    assert_false(has_mismatch(&x));
    joined_free(&x);
}

static void engine_of_another_resolution_is_not_matched(void **state)
{
    static const struct conv_layer layers[] = {
        {"stem", 3, 8, 3}, {"a", 8, 8, 3}, {"b", 8, 8, 3}, {"pointwise", 8, 8, 1}, {"head", 8, 8, 3}};
    struct joined x = {0};
    (void)state;
    join_engine(&x, layers, 5, 1, 32);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(x.j->rec[i].n_node, 0);
        assert_int_equal(x.j->rec[i].quality, OC_EXACT); /* no poorer than without a model */
    }
    assert_true(has_mismatch(&x));
    joined_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_of_convolutions_are_covered),
        cmocka_unit_test(folded_normalization_belongs_to_its_convolution),
        cmocka_unit_test(regions_contain_the_unnamed_nodes),
        cmocka_unit_test(names_match_nodes),
        cmocka_unit_test(unknown_parts_lower_the_confidence),
        cmocka_unit_test(changed_names_match_nodes),
        cmocka_unit_test(markers_take_precedence),
        cmocka_unit_test(counts_are_those_of_the_engine),
        cmocka_unit_test(layers_with_other_names_are_matched_by_type_and_shape),
        cmocka_unit_test(layers_in_other_order_are_matched_by_their_work),
        cmocka_unit_test(ambiguous_layers_are_not_matched),
        cmocka_unit_test(quantizers_are_matched_by_shape_or_are_reformats),
        cmocka_unit_test(engine_of_another_resolution_is_not_matched),
        cmocka_unit_test(engine_with_dynamic_shapes_has_the_counts_of_the_model),
    };
    return cmocka_run_group_tests_name("join/match_trt", tests, NULL, NULL);
}
