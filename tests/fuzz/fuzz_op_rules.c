/* Files of user rules: any bytes are read or rejected with a location, and the result can be run on nodes
 * with known, unknown and absurd sizes. The bytes are used as a file, and as choices that generate a
 * well-formed file from elements of the language, which passes the XML parser. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "ops/op.h"
#include "ops/user_rules.h"
#include "onnxcost.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { N_IN = 6, N_OUT = 3 };

/* A node with inputs of every kind; the last one is absent. */
struct bench {
    struct oc_arena arena;
    struct oc_type type[N_IN], out[N_OUT];
    const struct oc_type *in[N_IN];
    struct oc_elem elem[3];
    struct oc_data value;
    const struct oc_data *in_data[N_IN], *out_data[N_OUT];
    bool in_const[N_IN], out_used[N_OUT];
    uint32_t in_id[N_IN], out_id[N_OUT];
    uint64_t rd[N_IN], wr[N_OUT];
    struct oc_attr attr[3];
    struct oc_node node;
    struct oc_op_ctx c;
    struct oc_err err;
};

static const int64_t pads[] = {1, 2, -3};
static const float scales[] = {1.0f, 2.5f};

static void set_types(struct bench *b)
{
    struct oc_exprs *x = b->c.exprs;
    struct oc_dim some[] = {oc_known(2), oc_dim_symbol(x, "N", -1), oc_dim_symbol(x, "M", 7), oc_known(0)};
    struct oc_dim huge[] = {oc_known(INT64_MAX), oc_known(1), oc_known((int64_t)1 << 40)};
    struct oc_dim list[] = {oc_known(3)};
    b->type[0] = oc_tensor_type(OC_DT_FLOAT, oc_shape_of(&b->arena, 4, some));
    b->type[1] = oc_tensor_type(OC_DT_INT4, oc_shape_of(&b->arena, 3, huge));
    b->type[2] = oc_tensor_type(OC_DT_INT64, oc_shape_of(&b->arena, 1, list));
    b->type[3] = oc_tensor_type(OC_DT_UNDEFINED, oc_shape_unranked());
    b->type[4] = (struct oc_type){.kind = OC_T_SEQUENCE};
    b->elem[0] = oc_elem_dim(some[1]);
    b->elem[1] = oc_elem_real(-1e300);
    b->value = (struct oc_data){.n = 3, .e = b->elem};
    b->in_data[2] = &b->value;
}

static void bench_init(struct bench *b, const struct oc_op *op)
{
    memset(b, 0, sizeof(*b));
    b->attr[0] = (struct oc_attr){.name = "k", .type = OC_ATTR_INT, .n = 1, .i = INT64_MIN};
    b->attr[1] = (struct oc_attr){.name = "pads", .type = OC_ATTR_INTS, .n = 3, .ints = pads};
    b->attr[2] = (struct oc_attr){.name = "scales", .type = OC_ATTR_FLOATS, .n = 2, .floats = scales};
    b->node = (struct oc_node){.name = "n",
                               .op_type = op->name,
                               .domain = op->domain,
                               .overload = "",
                               .in = b->in_id,
                               .out = b->out_id,
                               .attr = b->attr,
                               .n_in = N_IN,
                               .n_out = N_OUT,
                               .n_attr = 3};
    b->c = (struct oc_op_ctx){.node = &b->node,
                              .op = op,
                              .opset = 1,
                              .arena = &b->arena,
                              .exprs = oc_exprs_new(&b->arena),
                              .in = b->in,
                              .in_data = b->in_data,
                              .in_const = b->in_const,
                              .n_in = N_IN,
                              .n_out = N_OUT,
                              .out = b->out,
                              .out_data = b->out_data,
                              .out_used = b->out_used,
                              .err = &b->err};
    set_types(b);
    for (unsigned i = 0; i < N_IN; i++)
        b->in[i] = i + 1 < N_IN ? &b->type[i] : NULL;
}

static void run_rule(const struct oc_op *op)
{
    struct bench *b = malloc(sizeof(*b));
    struct oc_formula f;
    if (!b)
        abort();
    bench_init(b, op);
    int rc = oc_op_infer(&b->c);
    if ((rc != 0) != (b->err.msg[0] != '\0'))
        abort(); /* a failure without a message */
    struct oc_cost k = {.rd = b->rd, .wr = b->wr, .n_in = N_IN, .n_out = N_OUT, .rest_class = OC_CLASS_F32};
    if (rc == 0 && op->cost(&b->c, &k) && !b->err.msg[0])
        abort();
    if (oc_formula_read(&b->c, &f))
        abort();
    oc_exprs_free(b->c.exprs);
    oc_arena_free(&b->arena);
    free(b);
}

static void read_as_file(const void *data, size_t n)
{
    static const char *const names[] = {"A", "B", "MMCVModulatedDeformConv2d", "PackedDense",
                                        "EfficientNMS_TRT"};
    static const char *const domains[] = {"t", "mmcv", "acme", "TRT", ""};
    struct oc_op_rules *rules;
    struct oc_err err = {0};
    int rc = oc_op_rules_read_mem("fuzz.xml", data, n, &rules, &err);
    if ((rc != 0) != (err.msg[0] != '\0') || (rc != 0) != (rules == NULL))
        abort();
    for (size_t i = 0; rules && i < OC_COUNT(names) * OC_COUNT(domains); i++) {
        struct oc_user_rule_info info;
        if (oc_op_rules_find(rules, domains[i / OC_COUNT(names)], names[i % OC_COUNT(names)], 1, &info))
            run_rule(info.op);
    }
    oc_op_rules_free(rules);
}

/* ---- a file generated from choices ---- */

struct choices {
    const uint8_t *data;
    size_t n, at;
};

static size_t choose(struct choices *c, size_t n)
{
    return c->at < c->n && n ? c->data[c->at++] % n : 0;
}

static const char *const pieces[] = {
    "1",         "in0[1]",      "in0",        "out0",   "in1",       "in2",        "in3",
    "in4",       "in5",         "in0[2:]",    "in1[0]", "N(in0)",    "N(in1)",     "rank(in0)",
    "+",         "-",           "*",          "/",      "(",         ")",          ",",
    "[",         "]",           ":",          "==",     "!=",        "&lt;",       ">=",
    "min(",      "max(",        "mod(",       "clog2(", "ceil(",     "floor(",     "if(",
    "has(",      "value(in2",   "value(",     "attr.k", "attr.none", "|",          "'a'",
    "attr.pads", "len(",        "broadcast(", "bytes(", "n",         "m",          "9223372036854775807",
    "0",         "attr.scales", "out1",       "0.5",    " ",         "4294967296", "float",
};

static void expression(struct oc_buf *out, struct choices *c)
{
    for (size_t k = 1 + choose(c, 12); k; k--)
        oc_buf_str(out, pieces[choose(c, OC_COUNT(pieces))]);
}

/* Valid texts mixed with random ones. */
static void valid_or_random(struct oc_buf *out, struct choices *c, const char *const *good, size_t n)
{
    size_t which = choose(c, n + 1);
    if (which == n)
        expression(out, c);
    else
        oc_buf_str(out, good[which]);
}

static void element(struct oc_buf *out, struct choices *c)
{
    static const char *const number[] = {"in0[1]*in0[2] - 4",
                                         "N(out0)/2",
                                         "if(in0[1] > 3, in0[2], value(in2, 0))",
                                         "in1[0]*in1[2]",
                                         "ceil(in0[2]/attr.none|2)",
                                         "attr.pads[1]*rank(in3)",
                                         "clog2(N(in0))",
                                         "bytes(in1) + bytes(in3)",
                                         "mod(in0[1], 3)"};
    static const char *const shape[] = {
        "in0",     "in0[1:] + [in0[1], 3]",       "value(in2)", "broadcast(in0, in3)",
        "in1[1:]", "[in0[1]*in0[1], in0[2] - 9]", "in3"};
    static const char *const dtype[] = {"in0", "int4", "attr.k|float", "attr.none|float"};
    switch (choose(c, 5)) {
    case 0:
        oc_buf_printf(out, "<let name=\"%s\" value=\"", choose(c, 2) ? "n" : "m");
        valid_or_random(out, c, number, OC_COUNT(number));
        break;
    case 1:
        oc_buf_str(out, "<output dtype=\"");
        valid_or_random(out, c, dtype, OC_COUNT(dtype));
        oc_buf_str(out, "\" shape=\"");
        valid_or_random(out, c, shape, OC_COUNT(shape));
        break;
    case 2:
        oc_buf_printf(out, "<read index=\"%u\" bytes=\"", (unsigned)choose(c, 8));
        valid_or_random(out, c, number, OC_COUNT(number));
        break;
    default:
        oc_buf_printf(out, "<count prim=\"%s\" n=\"", oc_prim_name((unsigned)choose(c, OC_PRIM_COUNT)));
        valid_or_random(out, c, number, OC_COUNT(number));
    }
    oc_buf_str(out, "\"/>\n");
}

static void make_file(struct oc_buf *out, struct choices *c)
{
    oc_buf_str(out, "<op-rules version=\"1\">");
    for (unsigned i = 0; i < 2; i++) {
        oc_buf_printf(out, "<op domain=\"t\" name=\"%c\" since=\"1\">", "AB"[i]);
        for (size_t k = choose(c, 6); k; k--)
            element(out, c);
        oc_buf_str(out, "</op>\n");
    }
    oc_buf_str(out, "</op-rules>");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct oc_buf made = {.max = 1 << 20};
    struct choices c = {.data = data, .n = n};
    read_as_file(data, n);
    make_file(&made, &c);
    read_as_file(made.data, made.n);
    oc_buf_free(&made);
    return 0;
}
