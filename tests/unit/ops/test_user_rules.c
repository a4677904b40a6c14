/* Files of user rules: reading them and running them. test_rule_expr.c tests the expressions. */
#include "support/op_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/file.h"
#include "ops/op.h"
#include "ops/user_rules.h"
#include "onnxcost.h"

#define HEAD "<op-rules version=\"1\">\n"
#define TAIL "</op-rules>\n"

static struct oc_op_rules *read_rules(const char *text)
{
    struct oc_op_rules *rules;
    struct oc_err err = {0};
    if (oc_op_rules_read_mem("x.xml", text, strlen(text), &rules, &err))
        fail_msg("%s", err.msg);
    return rules;
}

static const struct oc_op *find(const struct oc_op_rules *rules, const char *domain, const char *name,
                                int opset)
{
    struct oc_user_rule_info info;
    return oc_op_rules_find(rules, domain, name, opset, &info) ? info.op : NULL;
}

/* Histogram as "MAC 12, ADD 3". */
static const char *hist(const struct op_case *t)
{
    static char text[400];
    size_t used = 0;
    text[0] = '\0';
    for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
        if (op_case_prim(t, p))
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %llu", used ? ", " : "",
                                     oc_prim_name(p), (unsigned long long)op_case_prim(t, p));
    return text;
}

static void run(struct op_case *t, const struct oc_op_rules *rules, const char *domain, const char *name,
                const char *attrs, const char *in, const char *out)
{
    const struct oc_op *op = find(rules, domain, name, 1);
    assert_non_null(op);
    op_case_init_row(t, op, 1, attrs, in, out);
    if (op_case_shape(t) == 0)
        op_case_cost(t);
}

/* A rule changes shapes and costs; what runtimes do with the operator of its name stays. */
static void rules_of_known_operators_keep_what_runtimes_do(void **state)
{
    (void)state;
    struct oc_op_rules *rules = read_rules(
        HEAD
        "<op domain=\"ai.onnx\" name=\"Tanh\" since=\"1\" override=\"yes\" class=\"elementwise\"><output "
        "shape=\"[in0[0]]\"/></op><op domain=\"x\" name=\"Tanh\" since=\"1\"><output "
        "shape=\"[in0[0]]\"/></op>" TAIL);
    const struct oc_op *own = find(rules, "", "Tanh", 1), *other = find(rules, "x", "Tanh", 1),
                       *built_in = oc_op_find("", "Tanh", 0);
    assert_true(own && other);
    assert_int_equal(own->kernel, built_in->kernel);
    assert_int_equal(own->in_place, built_in->in_place);
    assert_true(own->kernel && own->in_place);
    assert_false(other->kernel || other->in_place);
    oc_op_rules_free(rules);
}

/* ---- the examples ---- */

static struct oc_op_rules *examples(void)
{
    struct oc_op_rules *rules;
    struct oc_err err = {0};
    if (oc_op_rules_load("hwdb/op-rules/example.xml", &rules, &err))
        fail_msg("%s", err.msg);
    return rules;
}

/* The same convolution as ai.onnx:DeformConv (worked case 11 of the cost semantics): 64*64*784*9 = 28,901,376
 * MACs, S = 64*784*9 = 451,584 samples, L = 784*9 = 7056 positions: MUL 4*S + 4*L + S = 2,286,144; ADD 3*S +
 * 6*L = 1,397,088; RND 2*L = 14,112. Total: 57,802,752 + 3,697,344 = 61,500,096 FLOPs. */
static void deformable_convolution_example_matches_the_built_in_rule(void **state)
{
    (void)state;
    struct oc_op_rules *rules = examples();
    struct op_case t;
    run(&t, rules, "mmcv", "MMCVModulatedDeformConv2d",
        "stride=[1,1] padding=[1,1] dilation=[1,1] deform_groups=1",
        "float[1,64,28,28] float[1,18,28,28] float[1,9,28,28] float[64,64,3,3]!", "y");
    assert_string_equal(op_case_types(&t), "float[1,64,28,28]");
    assert_string_equal(hist(&t), "MAC 28901376, ADD 1397088, MUL 2286144, RND 14112");
    assert_int_equal(t.flops, 61500096);
    /* x 50,176, offset 14,112 and mask 7056 values of 4 bytes; weight 36,864; out 50,176 */
    assert_int_equal(t.rd_act, 285376);
    assert_int_equal(t.rd_const, 147456);
    assert_int_equal(t.wr, 200704);
    op_case_free(&t);
    /* (17 + 2*1 - (2*2 + 1))/2 + 1 = 8 rows and columns; bias: 6*8*8 adds */
    run(&t, rules, "mmcv", "MMCVModulatedDeformConv2d", "stride=[2,2] padding=[1,1] dilation=[2,2]",
        "float[1,4,17,17] float[1,18,8,8] float[1,9,8,8] float[6,4,3,3]! float[6]!", "y");
    assert_string_equal(op_case_types(&t), "float[1,6,8,8]");
    /* L = 64*9 = 576, S = 4*L = 2304: ADD 384 + 3*2304 + 6*576 */
    assert_string_equal(hist(&t), "MAC 13824, ADD 10752, MUL 13824, RND 1152");
    op_case_free(&t);
    oc_op_rules_free(rules);
}

/* 2 images, 100 boxes, 5 classes, at most 20 detections: 10 lists, 10*20*100 = 20,000 pairs;
 * CMP 10*100*(1 + 7) + 5*20,000 = 108,000. */
static void nms_example_counts_detections(void **state)
{
    (void)state;
    struct oc_op_rules *rules = examples();
    struct op_case t;
    run(&t, rules, "TRT", "EfficientNMS_TRT", "max_output_boxes=20", "float16[2,100,4] float16[2,100,5]",
        "yyyy");
    assert_string_equal(op_case_types(&t), "int32[2,1] float16[2,20,4] float16[2,20] int32[2,20]");
    assert_string_equal(hist(&t), "ADD 100000, MUL 40000, CMP 108000, DIV 20000");
    assert_true(t.ctx.upper);
    assert_false(t.ctx.unknown);
    op_case_free(&t);
    oc_op_rules_free(rules);
}

/* x[8,30], 15 units: 8*30*15 = 3600 MACs, 450 weights of half a byte: 225 of the 256 given bytes. */
static void packed_weights_example_counts_half_bytes(void **state)
{
    (void)state;
    struct oc_op_rules *rules = examples();
    struct op_case t;
    run(&t, rules, "acme", "PackedDense", "units=15", "float[8,30] uint8[256]! float[15]!", "y");
    assert_string_equal(op_case_types(&t), "float[8,15]");
    assert_string_equal(hist(&t), "MAC 3600, DEQ 450");
    assert_int_equal(t.rd_act, 8 * 30 * 4);
    assert_int_equal(t.rd_const, 225 + 15 * 4);
    assert_int_equal(t.wr, 8 * 15 * 4);
    op_case_free(&t);
    oc_op_rules_free(rules);
}

/* ---- unknown sizes ---- */

static const char halves[] = HEAD "<op domain=\"t\" name=\"Half\" since=\"1\">"
                                  "<output shape=\"[floor(in0[0]/2), 3]\"/>"
                                  "<count prim=\"ADD\" n=\"N(out0) - in0[0]\"/></op>" TAIL;

static void symbols_are_preserved(void **state)
{
    (void)state;
    struct oc_op_rules *rules = read_rules(halves);
    struct op_case t;
    run(&t, rules, "t", "Half", "", "float[N,8]", "y");
    assert_string_equal(op_case_types(&t), "float[floor(N/2),3]");
    assert_true(t.ctx.unknown); /* no bound: no number, and never 0 */
    op_case_free(&t);
    run(&t, rules, "t", "Half", "", "float[10,8]", "y");
    assert_string_equal(hist(&t), "ADD 5"); /* 5*3 - 10 */
    assert_false(t.ctx.unknown || t.ctx.upper);
    op_case_free(&t);
    run(&t, rules, "t", "Half", "", "float", "y");
    assert_string_equal(op_case_types(&t), "float[floor(in0[0]/2),3]");
    assert_true(t.ctx.unknown);
    op_case_free(&t);
    oc_op_rules_free(rules);
}

/* The bound of a difference is that of the whole expression: 3*floor(N/2) - N with N <= 7 is at most 9 - 0.
 */
static void bounds_are_upper_bounds(void **state)
{
    (void)state;
    struct oc_op_rules *rules = read_rules(halves);
    struct op_case t;
    op_case_init_row(&t, find(rules, "t", "Half", 1), 1, "", "float[8,8]", "y");
    struct oc_dim dim[] = {oc_dim_symbol(t.exprs, "N", 7), oc_known(8)};
    struct oc_type type = oc_tensor_type(OC_DT_FLOAT, oc_shape_of(&t.arena, 2, dim));
    t.in[0] = &type;
    assert_int_equal(op_case_shape(&t), 0);
    op_case_cost(&t);
    assert_string_equal(hist(&t), "ADD 9");
    assert_true(t.ctx.upper);
    op_case_free(&t);
    oc_op_rules_free(rules);
}

static void rejects_negative_amounts(void **state)
{
    (void)state;
    struct oc_op_rules *rules = read_rules(halves);
    struct op_case t;
    op_case_init_row(&t, find(rules, "t", "Half", 1), 1, "", "float[1,8]", "y");
    assert_int_equal(op_case_shape(&t), 0);
    assert_int_equal(op_case_cost(&t), -1); /* 0*3 - 1 */
    assert_string_equal(t.err.msg, "x.xml:2: count ADD: -1 is negative");
    op_case_free(&t);
    oc_op_rules_free(rules);
}

static void failures_name_the_line(void **state)
{
    (void)state;
    struct oc_op_rules *rules = read_rules(HEAD "<op domain=\"t\" name=\"A\" since=\"1\">\n"
                                                "<output/>\n"
                                                "<output shape=\"[in0[3]]\"/>\n"
                                                "<read index=\"0\" bytes=\"attr.n\"/></op>" TAIL);
    struct op_case t;
    run(&t, rules, "t", "A", "", "float[2]", "yy");
    assert_string_equal(t.err.msg, "x.xml:4: output 1: in0 has no axis 3: its rank is 1");
    op_case_free(&t);
    op_case_init_row(&t, find(rules, "t", "A", 1), 1, "", "float[2]", "y"); /* no second output: no failure */
    assert_int_equal(op_case_shape(&t), 0);
    assert_string_equal(op_case_types(&t), "float[...]");
    assert_int_equal(op_case_cost(&t), -1);
    assert_string_equal(t.err.msg, "x.xml:5: read 0: the node has no attribute 'n'");
    op_case_free(&t);
    oc_op_rules_free(rules);
}

/* ---- rows ---- */

static void row_is_selected_by_version(void **state)
{
    (void)state;
    struct oc_op_rules *rules =
        read_rules(HEAD "<op domain=\"t\" name=\"A\" since=\"2\" until=\"4\" class=\"view\"/>"
                        "<op domain=\"t\" name=\"A\" since=\"7\" fold=\"no\" class=\"conv\"/>"
                        "<op domain=\"ai.onnx\" name=\"B\" since=\"1\" override=\"yes\"/>" TAIL);
    struct oc_user_rule_info info;
    assert_int_equal(oc_op_rules_count(rules), 3);
    assert_null(find(rules, "t", "A", 1));
    assert_int_equal(find(rules, "t", "A", 2)->since, 2);
    assert_int_equal(find(rules, "t", "A", 4)->op_class, OC_OP_VIEW);
    assert_int_equal(find(rules, "t", "A", 4)->flags, OC_F_VIEW);
    assert_null(find(rules, "t", "A", 5));
    assert_int_equal(find(rules, "t", "A", 7)->flags, OC_F_NO_FOLD);
    assert_int_equal(find(rules, "t", "A", 0)->since, 7); /* domain not imported: the newest version */
    assert_null(find(rules, "", "A", 7));
    assert_true(oc_op_rules_find(rules, "", "B", 1, &info));
    assert_true(info.overrides);
    assert_string_equal(oc_user_op_place(info.op), "x.xml:2");
    assert_string_equal(oc_op_family_name(info.op), "x.xml:2");
    assert_non_null(find(rules, "ai.onnx", "B", 1));
    assert_true(oc_is_user_op(info.op));
    assert_false(oc_is_user_op(oc_op_find("", "Relu", 14)));
    oc_op_rules_free(rules);
}

static void formula_prints_with_numbers(void **state)
{
    (void)state;
    struct oc_op_rules *rules =
        read_rules(HEAD "<op domain=\"t\" name=\"A\" since=\"1\">"
                        "<let name=\"rows\" value=\"in0[:-1]\"/><let name=\"idle\" value=\"1/0\"/>"
                        "<output shape=\"in0\"/>"
                        "<count prim=\"MAC\" n=\"rows*in0[-1]*attr.k\"/>"
                        "<count prim=\"ADD\" n=\"in1[0]*2\"/></op>" TAIL);
    struct op_case t;
    struct oc_formula f;
    op_case_init_row(&t, find(rules, "t", "A", 1), 1, "k=5", "float[2,3,4] float[N]", "y");
    assert_int_equal(op_case_shape(&t), 0);
    assert_string_equal(oc_formula_text(t.ctx.op), "MAC = rows*in0[-1]*attr.k; ADD = in1[0]*2");
    assert_int_equal(oc_formula_read(&t.ctx, &f), 0);
    assert_int_equal(f.n_term, 2);
    assert_string_equal(f.term[0].expr, "rows*in0[-1]*attr.k");
    assert_string_equal(f.term[0].numbers, "6*4*5");
    assert_int_equal(f.term[0].value, 120);
    assert_true(f.term[0].known);
    assert_string_equal(f.term[1].numbers, "?*2");
    assert_false(f.term[1].known);
    assert_int_equal(f.n_name, 1); /* the other name is not used */
    assert_string_equal(f.name[0].name, "rows");
    assert_string_equal(f.name[0].expr, "in0[:-1]");
    assert_int_equal(f.name[0].value, 6);
    assert_false(t.ctx.unknown);
    op_case_free(&t);
    oc_op_rules_free(rules);
}

static void estimates_are_marked_with_their_reason(void **state)
{
    (void)state;
    struct oc_op_rules *rules = read_rules(
        HEAD
        "<op domain=\"t\" name=\"A\" since=\"1\" estimate=\"ten rounds are usual\"><output shape=\"in0\"/>"
        "<count prim=\"DIV\" n=\"10*N(in0)\"/></op>" TAIL);
    struct op_case t;
    run(&t, rules, "t", "A", "", "float[2,3]", "y");
    assert_string_equal(hist(&t), "DIV 60");
    assert_string_equal(t.ctx.assumption, "ten rounds are usual");
    op_case_free(&t);
    oc_op_rules_free(rules);
}

/* ---- broken files ---- */

static const struct {
    const char *inside, *message; /* inside: the text of line 2, inside the root element */
} broken[] = {
    {"<operator/>", "line 2: unknown element 'operator'"},
    {"<op domain=\"t\" name=\"A\"/>", "line 2: op 't:A': missing since"},
    {"<op domain=\"t\" since=\"1\"/>", "line 2: op 't': missing name"},
    {"<op domain=\"t\" name=\"A\" since=\"0\"/>", "since '0' is not a number from 1 to 32767"},
    {"<op domain=\"t\" name=\"A\" since=\"1x\"/>", "since '1x' is not a number from 1 to 32767"},
    {"<op domain=\"t\" name=\"A\" since=\"3\" until=\"2\"/>", "until 2 is lower than since 3"},
    {"<op domain=\"t\" name=\"A\" since=\"1\" class=\"big\"/>",
     "class 'big' is not a class of 'onnxcost ops'"},
    {"<op domain=\"t\" name=\"A\" since=\"1\" class=\"control\"/>", "class 'control' is not a class"},
    {"<op domain=\"t\" name=\"A\" since=\"1\" slots=\".x\"/>", "slots: 'x' is not one of . m q b n s e t"},
    {"<op domain=\"t\" name=\"A\" since=\"1\" override=\"true\"/>", "override 'true': expected yes or no"},
    {"<op domain=\"t\" name=\"A\" since=\"1\" cost=\"1\"/>", "unknown attribute 'cost'"},
    {"<op domain=\"ai.onnx\" name=\"Loop\" since=\"1\"/>",
     "op 'ai.onnx:Loop': control flow cannot have a rule of its own"},
    {"<op domain=\"t\" name=\"A\" since=\"1\" until=\"4\"/>\n<op domain=\"t\" name=\"A\" since=\"4\"/>",
     "line 3: op 't:A': its versions overlap those of the rule in line 2"},
    {"<op domain=\"t\" name=\"A\" since=\"1\">text</op>", "line 2: text outside of attributes"},
    {"<op domain=\"acme\" name=\"Magic\" since=\"1\">\n\n<count prim=\"MAC\" n=\"in0[0]*nix\"/></op>",
     "cannot read 'x.xml': line 4: op 'acme:Magic': count 'MAC': unknown name 'nix'"},
    {"<op domain=\"t\" name=\"A\" since=\"1\"><count prim=\"FMA\" n=\"1\"/></op>",
     "count 'FMA': unknown primitive"},
    {"<op domain=\"t\" name=\"A\" since=\"1\"><count prim=\"MAC\"/></op>", "count 'MAC': missing n"},
    {"<op domain=\"t\" name=\"A\" since=\"1\"><output dtype=\"real\"/></op>",
     "output: dtype: unknown element type 'real'"},
    {"<op domain=\"t\" name=\"A\" since=\"1\"><output shape=\"3\"/></op>", "output: shape: expected a shape"},
    {"<op domain=\"t\" name=\"A\" since=\"1\"><output shape=\"out0\"/></op>",
     "shape: out0 is not available yet"},
    {"<op domain=\"t\" name=\"A\" since=\"1\"><let name=\"n\" value=\"N(out0)\"/><output "
     "shape=\"[n]\"/></op>",
     "shape: 'n' uses out0, which is not available yet"},
    {"<op domain=\"t\" name=\"A\" since=\"1\"><let name=\"n\" value=\"N(out0)\"/><let name=\"m\" "
     "value=\"n\"/>"
     "<output shape=\"[m]\"/></op>",
     "shape: 'm' uses out0, which is not available yet"},
    {"<op domain=\"t\" name=\"A\" since=\"1\"><output index=\"1\"/><output index=\"0\"/></op>",
     "output '0': outputs must be in order"},
    {"<op domain=\"t\" name=\"A\" since=\"1\"><output index=\"4096\"/></op>",
     "index '4096' is not a number from 0"},
    {"<op domain=\"t\" name=\"A\" since=\"1\"><let name=\"n\" value=\"n\"/></op>",
     "let 'n': unknown name 'n'"},
    {"<op domain=\"t\" name=\"A\" since=\"1\"><let name=\"n\" value=\"1\"/><let name=\"n\" "
     "value=\"1\"/></op>",
     "let 'n': given twice"},
    {"<op domain=\"t\" name=\"A\" since=\"1\"><let name=\"in0\" value=\"1\"/></op>",
     "let 'in0': a name consists of letters, digits and _, and is not a tensor name"},
    {"<op domain=\"t\" name=\"A\" since=\"1\"><let name=\"9x\" value=\"1\"/></op>",
     "let '9x': a name consists"},
    {"<op domain=\"t\" name=\"A\" since=\"1\"><let name=\"a-b\" value=\"1\"/></op>",
     "let 'a-b': a name consists"},
    {"<op domain=\"t\" name=\"A\" since=\"1\"><read index=\"0\" bytes=\"1\"/><read index=\"0\" "
     "bytes=\"2\"/></op>",
     "read '0': given twice"},
    {"<op domain=\"t\" name=\"A\" since=\"1\"><write index=\"-1\" bytes=\"1\"/></op>",
     "index '-1' is not a number"},
    {"<op domain=\"t\" name=\"A\" since=\"1\"><op domain=\"t\" name=\"B\" since=\"1\"/></op>",
     "op 't:A': unknown element 'op'"},
    {"<op domain=\"t\" name=\"A\" since=\"1\">", "not well-formed"},
    {"<!DOCTYPE x>", "document types and entities are not allowed"},
    {"<op domain=\"&bomb;\" name=\"A\" since=\"1\"/>", "line 2: not well-formed"},
};

static void expect_read_error(const char *text, size_t n, const char *message)
{
    struct oc_op_rules *rules = (struct oc_op_rules *)&rules;
    struct oc_err err = {0};
    if (oc_op_rules_read_mem("x.xml", text, n, &rules, &err) == 0)
        fail_msg("accepted: %.200s", text);
    assert_null(rules);
    if (!strstr(err.msg, message) || strncmp(err.msg, "cannot read 'x.xml': ", 21) != 0)
        fail_msg("%.200s: wrong message: %s", text, err.msg);
}

static void each_mistake_has_its_own_message(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        char text[1000];
        snprintf(text, sizeof(text), HEAD "%s" TAIL, broken[i].inside);
        expect_read_error(text, strlen(text), broken[i].message);
    }
    expect_read_error("<op-rules version=\"2\"/>", 23, "version '2' is not supported");
    expect_read_error("<op-rules/>", 11, "missing version");
    expect_read_error("<hwdb version=\"1\"/>", 19, "unknown element 'hwdb'");
    expect_read_error("", 0, "the file is empty");
}

static void rejects_xml_entities(void **state)
{
    (void)state;
    static const char bomb[] =
        "<?xml version=\"1.0\"?>\n<!DOCTYPE op-rules [<!ENTITY a \"aaaaaaaaaa\">\n"
        "<!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">]>\n"
        "<op-rules version=\"1\"><op domain=\"&b;\" name=\"A\" since=\"1\"/></op-rules>";
    expect_read_error(bomb, strlen(bomb), "line 2: document types and entities are not allowed");
}

static void expect_read_error_of_many(const char *before, const char *piece, unsigned times,
                                      const char *after, const char *message)
{
    struct oc_buf text = {0};
    oc_buf_printf(&text, HEAD "%s", before);
    for (unsigned i = 0; i < times; i++)
        oc_buf_printf(&text, piece, i);
    oc_buf_str(&text, after);
    expect_read_error(text.data, text.n, message);
    oc_buf_free(&text);
}

static void rejects_files_beyond_the_limits(void **state)
{
    (void)state;
    static const char op[] = "<op domain=\"t\" name=\"A\" since=\"1\">";
    expect_read_error_of_many(op, "<output/>", 65, "", "more than 64 outputs");
    expect_read_error_of_many(op, "<count prim=\"ADD\" n=\"1\"/>", 129, "", "more than 128 counts");
    expect_read_error_of_many(op, "<let name=\"n%u\" value=\"1\"/>", 33, "", "more than 32 names");
    expect_read_error_of_many("", "<op domain=\"t\" name=\"A%u\" since=\"1\"/>", 10001, "",
                              "more than 10000 operators");
    expect_read_error_of_many("<op domain=\"t\" name=\"A\" since=\"1\" estimate=\"", "x%u", 500, "\"/>",
                              "longer than 1000 bytes");
    expect_read_error_of_many("<op domain=\"t\" since=\"1\" name=\"", "x%u", 120, "\"/>",
                              "have more than 254 bytes");
    struct oc_buf big = {0};
    oc_buf_pad(&big, ' ', OC_RULES_MAX_FILE_BYTES + 1);
    expect_read_error(big.data, big.n, "larger than 4 MiB");
    oc_buf_free(&big);
}

/* Names that refer to names, each a sum of 249 terms: too deep for the stack long before the 32nd. */
static void rejects_deeply_nested_names(void **state)
{
    (void)state;
    struct oc_buf text = {0};
    oc_buf_str(&text, HEAD "<op domain=\"t\" name=\"A\" since=\"1\"><let name=\"n0\" value=\"1\"/>");
    for (unsigned i = 1; i < 32; i++) {
        oc_buf_printf(&text, "<let name=\"n%u\" value=\"n%u", i, i - 1);
        for (unsigned k = 0; k < 249; k++)
            oc_buf_str(&text, "+1");
        oc_buf_str(&text, "\"/>");
    }
    oc_buf_str(&text, "</op>" TAIL);
    expect_read_error(text.data, text.n,
                      "let 'n4': nested too deeply, including the names it uses"); /* 4*250 > 1000 */
    oc_buf_free(&text);
}

/* Truncated anywhere, the file is an error with a line. */
static void truncated_files_are_errors_with_a_line(void **state)
{
    (void)state;
    struct oc_file file;
    assert_int_equal(oc_file_map("hwdb/op-rules/example.xml", 0, &file, NULL), 0);
    size_t n = (size_t)file.size_bytes;
    while (n && file.data[n - 1] != '>')
        n--;
    for (size_t i = 0; i < 64; i++) {
        size_t cut = n * i / 64;
        char *part = malloc(cut ? cut : 1); /* exact size: a sanitizer reports a read past it */
        assert_non_null(part);
        memcpy(part, file.data, cut);
        expect_read_error(part, cut, "line ");
        free(part);
    }
    oc_file_unmap(&file);
}

static void file_errors_name_the_file(void **state)
{
    (void)state;
    struct oc_op_rules *rules;
    struct oc_err err = {0};
    assert_int_equal(oc_op_rules_load("no/such/file.xml", &rules, &err), -1);
    assert_null(rules);
    assert_non_null(strstr(err.msg, "no/such/file.xml"));
    assert_int_equal(oc_op_rules_read_mem("x.xml", "<x/>", 4, &rules, NULL), -1);
    oc_op_rules_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_of_known_operators_keep_what_runtimes_do),
        cmocka_unit_test(deformable_convolution_example_matches_the_built_in_rule),
        cmocka_unit_test(nms_example_counts_detections),
        cmocka_unit_test(packed_weights_example_counts_half_bytes),
        cmocka_unit_test(symbols_are_preserved),
        cmocka_unit_test(bounds_are_upper_bounds),
        cmocka_unit_test(rejects_negative_amounts),
        cmocka_unit_test(failures_name_the_line),
        cmocka_unit_test(row_is_selected_by_version),
        cmocka_unit_test(formula_prints_with_numbers),
        cmocka_unit_test(estimates_are_marked_with_their_reason),
        cmocka_unit_test(each_mistake_has_its_own_message),
        cmocka_unit_test(rejects_xml_entities),
        cmocka_unit_test(rejects_files_beyond_the_limits),
        cmocka_unit_test(rejects_deeply_nested_names),
        cmocka_unit_test(truncated_files_are_errors_with_a_line),
        cmocka_unit_test(file_errors_name_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
