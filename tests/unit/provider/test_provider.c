/* Lists of execution providers: what they take, where nodes run, partitions and transfers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "provider/provider.h"
#include "support/build.h"
#include "onnxcost.h"

#define HEAD(attributes)                                                                                     \
    "<provider version=\"1\" id=\"a\" name=\"AExecutionProvider\" release=\"1\" opset=\"1-20\" "             \
    "source=\"s\" url=\"https://example.com\" " attributes ">"                                               \
    "<types id=\"f\" list=\"float\"/><types id=\"fi\" list=\"float int64\"/>"
#define TAIL "</provider>"
static const char everything[] =
    "<provider version=\"1\" id=\"cpu\" name=\"CPUExecutionProvider\" release=\"1\" opset=\"1-\" "
    "bodies=\"yes\" memory=\"host\" cast=\"float16 float\" source=\"s\" url=\"https://example.com\">"
    "<types id=\"f\" list=\"float int64 bool\"/>"
    "<op name=\"Relu\" in=\"f\"/><op name=\"Add\" in=\"f\"/><op name=\"Shape\"/><op name=\"Gather\"/>"
    "<op name=\"Unsqueeze\"/><op name=\"Concat\"/><op name=\"Reshape\"/><op name=\"Abs\"/></provider>";

struct setting {
    uint8_t *bytes;
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_providers p;
    struct oc_assignment x;
};

static void read_list(struct setting *s, const char *text)
{
    struct oc_err err = {0};
    if (oc_provider_read_mem("list.xml", text, strlen(text), &s->p.arena, &s->p.list[s->p.n], &err))
        fail_msg("%s", err.msg);
    s->p.n++;
}

/* Assigns a model to one or two lists; the second may be NULL. */
static struct setting assign(struct oc_builder *b, const char *first, const char *second)
{
    struct setting s = {.bytes = NULL};
    const struct oc_analyze_opts o = {.no_defaults = true};
    struct oc_err err = {0};
    size_t n;
    s.bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(s.bytes, n, NULL, &s.m, &err) || oc_analyze(s.m, &o, &s.a, &err))
        fail_msg("%s", err.msg);
    read_list(&s, first);
    if (second)
        read_list(&s, second);
    oc_assign(&s.p, s.a, NULL, &s.x);
    return s;
}

static void finish(struct setting *s)
{
    oc_assignment_free(&s->x);
    for (size_t i = 0; i < s->p.n; i++)
        oc_provider_free(s->p.list[i]);
    oc_arena_free(&s->p.arena);
    oc_analysis_free(s->a);
    oc_model_free(s->m);
    free(s->bytes);
}

static const struct oc_assigned *node(const struct setting *s, const char *name)
{
    for (uint32_t i = 0; i < s->m->n_node; i++)
        if (strcmp(s->m->node[i].name, name) == 0)
            return &s->x.node[i];
    fail_msg("no node '%s'", name);
    return NULL;
}

enum { TAKEN = 0, LEFT = OC_NO_PROVIDER };

/* A node of one list that runs, does not, or may run. */
static void expect(const struct oc_assigned *n, unsigned best, unsigned worst, const char *reason)
{
    assert_int_equal(n->best, best);
    assert_int_equal(n->worst, worst);
    if (reason && !(n->reason && strstr(n->reason, reason)))
        fail_msg("'%s' does not contain '%s'", n->reason ? n->reason : "", reason);
    if (!reason)
        assert_null(n->reason);
}

/* One node "n" of inputs x (and w, a constant), assigned to a list with these rows. */
static struct setting one(int opset, const char *type, const char *x, const char *attributes,
                          const char *list)
{
    struct oc_builder *b = oc_b_new(opset);
    oc_b_input(b, "x", x);
    oc_b_init(b, "w", "int64[2]{0,3}");
    oc_b_node(b, type, "n", strcmp(type, "Reshape") ? "x" : "x,w", "y", attributes);
    oc_b_output(b, "y", NULL);
    return assign(b, list, NULL);
}

static void expect_one(int opset, const char *type, const char *x, const char *attributes, const char *list,
                       unsigned best, unsigned worst, const char *reason)
{
    struct setting s = one(opset, type, x, attributes, list);
    expect(node(&s, "n"), best, worst, reason);
    finish(&s);
}

static void names_opsets_and_types_decide(void **state)
{
    const char *list = HEAD("") "<op name=\"Relu\" opset=\"7-12\" in=\"f\"/>"
                                "<op name=\"Relu\" opset=\"14-\" in=\"fi\" out=\"fi\"/>" TAIL;
    (void)state;
    expect_one(12, "Relu", "float[2]", "", list, TAKEN, TAKEN, NULL);
    expect_one(13, "Relu", "float[2]", "", list, LEFT, LEFT, "no kernel for opset 13");
    expect_one(14, "Relu", "float16[2]", "", list, LEFT, LEFT,
               "input 0 is float16; the list has float, int64");
    expect_one(14, "Abs", "float[2]", "", list, LEFT, LEFT, "not in the list");
    expect_one(21, "Relu", "float[2]", "", list, TAKEN, LEFT, "does not cover opset 21");
    expect_one(21, "Abs", "float[2]", "", list, LEFT, LEFT, "not in the list");
}

static void conditions_on_attributes_decide(void **state)
{
    const char *list = HEAD("") "<op name=\"A\" domain=\"t\"><needs attr=\"mode\" default=\"a\" "
                                "value=\"b c\"/><needs attr=\"pads\" symmetric=\"yes\"/>"
                                "<needs attr=\"clip\" absent=\"yes\"/><needs attr=\"to\" not=\"8\"/></op>"
                                "<op name=\"B\" domain=\"t\"><needs attr=\"act\" absent=\"yes\" "
                                "unknown=\"they must be equal\"/></op>"
                                "<op name=\"C\" domain=\"t\"><needs unknown=\"not too large\"/></op>" TAIL;
    static const struct {
        const char *type, *attributes;
        unsigned best, worst;
        const char *reason;
    } cases[] = {
        {"A", "mode='b'", TAKEN, TAKEN, NULL},
        {"A", "", LEFT, LEFT, "mode is a; the list has b c"},
        {"A", "mode='d'", LEFT, LEFT, "mode is d"},
        {"A", "mode='c' pads=1,2,1,2", TAKEN, TAKEN, NULL},
        {"A", "mode='c' pads=1,2,1,1", LEFT, LEFT, "pads is not symmetric"},
        {"A", "mode='c' clip=1.5", LEFT, LEFT, "attribute clip is given"},
        {"A", "mode='c' to=8", LEFT, LEFT, "to is 8"},
        {"A", "mode='c' to=18", TAKEN, TAKEN, NULL},
        {"B", "", TAKEN, TAKEN, NULL},
        {"B", "act='x'", TAKEN, LEFT, "not decided: they must be equal"},
        {"C", "", TAKEN, LEFT, "not decided: not too large"},
    };
    (void)state;
    for (size_t i = 0; i < OC_COUNT(cases); i++) {
        char type[16];
        struct oc_builder *b = oc_b_new(14);
        snprintf(type, sizeof(type), "t::%s", cases[i].type);
        oc_b_opset(b, "t", 1);
        oc_b_input(b, "x", "float[2]");
        oc_b_node(b, type, "n", "x", "y", cases[i].attributes);
        oc_b_output(b, "y", "float[2]");
        struct setting s = assign(b, list, NULL);
        expect(node(&s, "n"), cases[i].best, cases[i].worst, cases[i].reason);
        finish(&s);
    }
}

static void conditions_on_inputs_decide(void **state)
{
    static const struct {
        const char *needs, *reason;
        unsigned best, worst;
    } cases[] = {
        {"input=\"0\" rank=\"3 4\"", "input 0 has rank 2; the list has 3 4", LEFT, LEFT},
        {"input=\"0\" rank=\"2\"", NULL, TAKEN, TAKEN},
        {"input=\"0\" constant=\"yes\"", "input 0 is not constant", LEFT, LEFT},
        {"input=\"1\" constant=\"yes\"", NULL, TAKEN, TAKEN},
        {"input=\"2\" constant=\"yes\"", NULL, TAKEN, TAKEN},
        {"input=\"1\" absent=\"yes\"", "input 1 is given", LEFT, LEFT},
        {"input=\"1\" without=\"0\"", "input 1 has the value 0", LEFT, LEFT},
        {"input=\"1\" only=\"0\"", "input 1 has the value 3", LEFT, LEFT},
        {"input=\"1\" min=\"0\" max=\"3\"", NULL, TAKEN, TAKEN},
        {"input=\"1\" max=\"2\"", "input 1 has the value 3", LEFT, LEFT},
        {"input=\"0\" min=\"0\"", "the value of input 0 is unknown", TAKEN, LEFT},
        {"input=\"0\" types=\"int64\"", "input 0 is float", LEFT, LEFT},
        {"outputs=\"1\"", NULL, TAKEN, TAKEN},
    };
    (void)state;
    for (size_t i = 0; i < OC_COUNT(cases); i++) {
        char list[1000];
        snprintf(list, sizeof(list), HEAD("") "<op name=\"Reshape\"><needs %s/></op>" TAIL, cases[i].needs);
        expect_one(14, "Reshape", "float[2,3]", "", list, cases[i].best, cases[i].worst, cases[i].reason);
    }
}

static void static_shapes_and_quantization_decide(void **state)
{
    const char *fixed = HEAD("shapes=\"static\"") "<op name=\"Relu\"/>" TAIL;
    const char *quantized = HEAD("quantized=\"no types\"") "<op name=\"Relu\"/>" TAIL;
    (void)state;
    expect_one(14, "Relu", "float[2]", "", fixed, TAKEN, TAKEN, NULL);
    expect_one(14, "Relu", "float[N]", "", fixed, LEFT, LEFT, "open size");
    expect_one(14, "Relu", "float[2]", "", quantized, TAKEN, LEFT, "no types");
    expect_one(14, "Relu", "int32[2]", "", quantized, TAKEN, TAKEN, NULL);
    struct oc_builder *b = oc_b_new(14);
    oc_b_input(b, "x", "uint8[2]");
    oc_b_init(b, "s", "float[]{1}");
    oc_b_node(b, "DequantizeLinear", "d", "x,s", "f", "");
    oc_b_node(b, "Relu", "n", "f", "y", "");
    oc_b_output(b, "y", NULL);
    struct setting s = assign(b, quantized, NULL);
    expect(node(&s, "n"), TAKEN, TAKEN, NULL);
    finish(&s);
}

static void half_precision_runs_between_casts(void **state)
{
    (void)state;
    struct setting s = one(14, "Relu", "float16[2]", "", everything);
    assert_int_equal(node(&s, "n")->best, TAKEN);
    assert_true(node(&s, "n")->casts);
    finish(&s);
    s = one(14, "Relu", "double[2]", "", everything);
    assert_int_equal(node(&s, "n")->best, LEFT);
    finish(&s);
}

/* x -> Relu r1 -> Abs a -> Relu r2, and x -> Relu r3: r1 and r3 in the first group, r2, after Abs, in the
 * second. */
static void partitions_follow_the_waves_of_kahns_sort(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(14);
    oc_b_input(b, "x", "float[4]");
    oc_b_node(b, "Relu", "r1", "x", "p", "");
    oc_b_node(b, "Abs", "a", "p", "q", "");
    oc_b_node(b, "Relu", "r2", "q", "y", "");
    oc_b_node(b, "Relu", "r3", "x", "z", "");
    oc_b_output(b, "y", NULL);
    oc_b_output(b, "z", NULL);
    struct setting s = assign(b, HEAD("groups=\"yes\"") "<op name=\"Relu\"/>" TAIL, everything);
    assert_int_equal(s.x.best.partitions[0], 2);
    assert_int_equal(s.x.best.partitions[1], 1);
    assert_int_equal(node(&s, "r1")->group, node(&s, "r3")->group);
    assert_int_not_equal(node(&s, "r1")->group, node(&s, "r2")->group);
    /* p to the CPU, q back: 4 floats each */
    assert_int_equal(s.x.best.n_transfer, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(s.x.best.transfer[i].tensors, 1);
        assert_int_equal(s.x.best.transfer[i].bytes, 16);
    }
    finish(&s);
}

/* Two nodes of the CPU read the same tensor: one copy. */
static void a_tensor_is_copied_once_to_each_memory(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(14);
    oc_b_input(b, "x", "float[N]");
    oc_b_node(b, "Relu", "r", "x", "p", "");
    oc_b_node(b, "Abs", "a1", "p", "y", "");
    oc_b_node(b, "Abs", "a2", "p", "z", "");
    oc_b_output(b, "y", NULL);
    oc_b_output(b, "z", NULL);
    struct setting s = assign(b, HEAD("") "<op name=\"Relu\"/>" TAIL, everything);
    assert_int_equal(s.x.best.n_transfer, 1);
    assert_int_equal(s.x.best.transfer[0].tensors, 1);
    assert_int_equal(s.x.best.transfer[0].unknown, 1);
    finish(&s);
}

/* The shape of an activation is computed on the CPU, and the kernel of Reshape reads it there: no copy. */
static void computations_on_host_memory_go_to_the_cpu(void **state)
{
    const char *cuda = HEAD("host=\"yes\"") "<op name=\"Relu\"/><op name=\"Shape\" host-out=\"0\"/>"
                                            "<op name=\"Gather\"/><op name=\"Unsqueeze\" host-in=\"1\"/>"
                                            "<op name=\"Concat\"/><op name=\"Reshape\" host-in=\"1\"/>" TAIL;
    (void)state;
    struct oc_builder *b = oc_b_new(14);
    oc_b_input(b, "x", "float[N,4]");
    oc_b_init(b, "zero", "int64[]{0}");
    oc_b_init(b, "axes", "int64[1]{0}");
    oc_b_init(b, "rest", "int64[2]{2,2}");
    oc_b_node(b, "Relu", "relu", "x", "r", "");
    oc_b_node(b, "Shape", "shape", "r", "s", "");
    oc_b_node(b, "Gather", "gather", "s,zero", "g", "");
    oc_b_node(b, "Unsqueeze", "unsqueeze", "g,axes", "u", "");
    oc_b_node(b, "Concat", "concat", "u,rest", "c", "axis=0");
    oc_b_node(b, "Reshape", "reshape", "r,c", "y", "");
    oc_b_output(b, "y", NULL);
    struct setting s = assign(b, cuda, everything);
    const struct {
        const char *name;
        unsigned provider;
    } wanted[] = {{"relu", 0}, {"shape", 0}, {"gather", 1}, {"unsqueeze", 1}, {"concat", 1}, {"reshape", 0}};
    for (size_t i = 0; i < OC_COUNT(wanted); i++)
        assert_int_equal(node(&s, wanted[i].name)->best, wanted[i].provider);
    assert_non_null(strstr(node(&s, "gather")->reason, "host memory"));
    assert_int_equal(s.x.best.n_transfer, 0);
    finish(&s);
}

static struct oc_builder *with_loop(const char *inner)
{
    struct oc_builder *b = oc_b_new(14);
    oc_b_input(b, "x", "float[2]");
    oc_b_input(b, "c", "bool[]");
    oc_b_node(b, "If", "if", "c", "y", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, inner, "inner", "x", "t", "");
    oc_b_output(b, "t", "float[2]");
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_node(b, "Relu", "other", "x", "e", "");
    oc_b_output(b, "e", "float[2]");
    oc_b_close(b);
    oc_b_output(b, "y", "float[2]");
    return b;
}

static void bodies_decide_about_their_node(void **state)
{
    const char *with = HEAD("groups=\"yes\" bodies=\"yes\"") "<op name=\"Relu\"/><op name=\"If\"/>" TAIL;
    const char *without = HEAD("groups=\"yes\"") "<op name=\"Relu\"/><op name=\"If\"/>" TAIL;
    (void)state;
    struct setting s = assign(with_loop("Relu"), with, everything);
    assert_int_equal(node(&s, "inner")->best, 0);
    assert_int_equal(node(&s, "if")->best, 0);
    finish(&s);
    s = assign(with_loop("Abs"), with, everything);
    assert_int_equal(node(&s, "inner")->best, 1);
    assert_int_equal(node(&s, "if")->best, LEFT);
    assert_non_null(strstr(node(&s, "if")->reason, "its body has Abs: not in the list"));
    finish(&s);
    s = assign(with_loop("Relu"), without, everything);
    assert_int_equal(node(&s, "inner")->best, 1);
    assert_non_null(strstr(node(&s, "inner")->reason, "body of control flow"));
    finish(&s);
}

static void errors_name_the_place(void **state)
{
    static const struct {
        const char *row, *text;
    } cases[] = {
        {"<op name=\"A\" in=\"g\"/>", "no types 'g'"},
        {"<op name=\"A\" opset=\"9-8\"/>", "opset '9-8'"},
        {"<op name=\"A\" opset=\"x-\"/>", "opset 'x-'"},
        {"<op name=\"A\" host-in=\"32\"/>", "not a slot"},
        {"<types id=\"f\" list=\"float\"/>", "given twice"},
        {"<types id=\"g\" list=\"floot\"/>", "unknown type 'floot'"},
        {"<op name=\"A\"><needs input=\"99999\"/></op>", "no such slot"},
        {"<op name=\"A\"><needs min=\"1e3\"/></op>", "'1e3' is not an integer"},
    };
    (void)state;
    for (size_t i = 0; i < OC_COUNT(cases); i++) {
        struct oc_arena a = {0};
        struct oc_err err = {0};
        struct oc_provider *p;
        char text[1000];
        int n = snprintf(text, sizeof(text), HEAD("") "%s" TAIL, cases[i].row);
        assert_int_equal(oc_provider_read_mem("list.xml", text, (size_t)n, &a, &p, &err), -1);
        assert_null(p);
        if (!strstr(err.msg, cases[i].text))
            fail_msg("'%s' does not contain '%s'", err.msg, cases[i].text);
        oc_arena_free(&a);
    }
}

/* One more than fits of slots, conditions and rows. */
static void lists_are_limited(void **state)
{
    (void)state;
    static const struct {
        const char *before, *item, *after, *text;
        unsigned most;
    } cases[] = {
        {"<op name=\"A\" in=\"", "f ", "\"/>", "more than 32 slots", 32},
        {"<op name=\"A\">", "<needs input=\"0\"/>", "</op>", "more than 32 conditions", 32},
        {"", "<op name=\"A\"/>", "", "more than 4000 rows", 4000},
    };
    for (size_t i = 0; i < OC_COUNT(cases); i++)
        for (unsigned n = cases[i].most; n <= cases[i].most + 1; n++) {
            struct oc_arena a = {0};
            struct oc_buf text = {0};
            struct oc_err err = {0};
            struct oc_provider *p;
            oc_buf_printf(&text, "%s%s", HEAD(""), cases[i].before);
            for (unsigned k = 0; k < n; k++)
                oc_buf_str(&text, cases[i].item);
            oc_buf_printf(&text, "%s%s", cases[i].after, TAIL);
            int rc = oc_provider_read_mem("list.xml", text.data, text.n, &a, &p, &err);
            if (n == cases[i].most) {
                assert_int_equal(rc, 0);
                oc_provider_free(p);
            } else {
                assert_int_equal(rc, -1);
                assert_non_null(strstr(err.msg, cases[i].text));
            }
            oc_buf_free(&text);
            oc_arena_free(&a);
        }
}

static void providers_open_at_once_are_limited(void **state)
{
    (void)state;
    char folder[] = "/tmp/onnxcost-test-XXXXXX", path[OC_PROVIDER_MAX + 1][64];
    const char *name[OC_PROVIDER_MAX + 1];
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < OC_COUNT(name); i++) {
        snprintf(path[i], sizeof(path[i]), "%s/%zu.xml", folder, i);
        name[i] = path[i];
        FILE *f = fopen(path[i], "w");
        assert_non_null(f);
        fprintf(f,
                "<provider version=\"1\" id=\"p%zu\" name=\"AExecutionProvider\" release=\"1\" "
                "opset=\"1-20\" source=\"s\" url=\"https://example.com\"/>",
                i);
        fclose(f);
    }
    struct oc_providers *x;
    struct oc_err err = {0};
    if (oc_providers_open(name, OC_PROVIDER_MAX, &x, &err))
        fail_msg("%s", err.msg);
    oc_providers_free(x);
    assert_int_equal(oc_providers_open(name, OC_COUNT(name), &x, &err), -1);
    assert_string_equal(err.msg, "more than 32 providers");
    for (size_t i = 0; i < OC_COUNT(name); i++)
        unlink(path[i]);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_opsets_and_types_decide),
        cmocka_unit_test(conditions_on_attributes_decide),
        cmocka_unit_test(conditions_on_inputs_decide),
        cmocka_unit_test(static_shapes_and_quantization_decide),
        cmocka_unit_test(half_precision_runs_between_casts),
        cmocka_unit_test(partitions_follow_the_waves_of_kahns_sort),
        cmocka_unit_test(a_tensor_is_copied_once_to_each_memory),
        cmocka_unit_test(computations_on_host_memory_go_to_the_cpu),
        cmocka_unit_test(bodies_decide_about_their_node),
        cmocka_unit_test(errors_name_the_place),
        cmocka_unit_test(lists_are_limited),
        cmocka_unit_test(providers_open_at_once_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
