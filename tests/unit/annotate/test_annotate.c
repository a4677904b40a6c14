/* An annotated model is the same model: without the entries it is the same message again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "onnxcost.h"
#include "support/build.h"
#include "onnxcost/report.h"

struct text {
    char *data;
    size_t n;
};

static struct text annotate_to(const struct oc_model *m, const char *path, struct oc_err *err)
{
    struct text t = {0};
    struct oc_analysis *a = NULL;
    const struct oc_analyze_opts opts = {.if_mode = OC_IF_MAX};
    if (oc_analyze(m, &opts, &a, err) != 0)
        fail_msg("%s", err->msg);
    const struct oc_report_in in = {.model = m, .analysis = a};
    const struct oc_report_opts o = {0};
    FILE *f = open_memstream(&t.data, &t.n);
    int rc = oc_annotate_write(&in, &o, path, f, err);
    fclose(f);
    oc_analysis_free(a);
    if (rc == 0)
        return t;
    free(t.data);
    return (struct text){0};
}

static struct text annotate(const void *bytes, size_t n)
{
    struct oc_model *m = NULL;
    struct oc_err err;
    if (oc_model_load_mem(bytes, n, NULL, &m, &err) != 0)
        fail_msg("%s", err.msg);
    struct text t = annotate_to(m, NULL, &err);
    assert_non_null(t.data);
    oc_model_free(m);
    return t;
}

static Onnx__ModelProto *unpack(const void *bytes, size_t n)
{
    Onnx__ModelProto *m = onnx__model_proto__unpack(NULL, n, bytes);
    assert_non_null(m);
    return m;
}

/* ---- removing the entries ---- */

static size_t strip(Onnx__StringStringEntryProto **props, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (strncmp(props[i]->key, "onnxcost.", 9) != 0)
            props[kept++] = props[i];
        else
            onnx__string_string_entry_proto__free_unpacked(props[i], NULL);
    }
    return kept;
}

static void strip_nodes(Onnx__NodeProto **node, size_t n);

static void strip_attribute(Onnx__AttributeProto *a)
{
    if (a->g)
        strip_nodes(a->g->node, a->g->n_node);
    for (size_t i = 0; i < a->n_graphs; i++)
        strip_nodes(a->graphs[i]->node, a->graphs[i]->n_node);
}

static void strip_nodes(Onnx__NodeProto **node, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        node[i]->n_metadata_props = strip(node[i]->metadata_props, node[i]->n_metadata_props);
        for (size_t k = 0; k < node[i]->n_attribute; k++)
            strip_attribute(node[i]->attribute[k]);
    }
}

/* The message without entries, packed. */
static struct text bare(const void *bytes, size_t n)
{
    Onnx__ModelProto *m = unpack(bytes, n);
    struct text t;
    m->n_metadata_props = strip(m->metadata_props, m->n_metadata_props);
    strip_nodes(m->graph->node, m->graph->n_node);
    for (size_t i = 0; i < m->n_functions; i++)
        strip_nodes(m->functions[i]->node, m->functions[i]->n_node);
    t.n = onnx__model_proto__get_packed_size(m);
    t.data = malloc(t.n + 1);
    assert_non_null(t.data);
    onnx__model_proto__pack(m, (uint8_t *)t.data);
    onnx__model_proto__free_unpacked(m, NULL);
    return t;
}

static const char *value_of(Onnx__StringStringEntryProto *const *props, size_t n, const char *key)
{
    const char *found = NULL;
    for (size_t i = 0; i < n; i++)
        if (strncmp(props[i]->key, "onnxcost.", 9) == 0 && strcmp(props[i]->key + 9, key) == 0) {
            assert_null(found); /* every key exists once */
            found = props[i]->value;
        }
    return found;
}

static const char *find_value(const Onnx__NodeProto *n, const char *key)
{
    return value_of(n->metadata_props, n->n_metadata_props, key);
}

static void check_equal(struct text a, struct text b)
{
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.data, b.data, a.n);
}

/* ---- tests ---- */

/* MatMul 2x3 by 3x4: 24 MACs; the body of the If has one more; the function is called twice. */
static uint8_t *model(size_t *n)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "my.domain", 1);
    oc_b_input(b, "x", "float[2,3]");
    oc_b_input(b, "c", "bool[]");
    oc_b_init(b, "w", "float[3,4]{1,2,3,4,5,6,7,8,9,10,11,12}");
    oc_b_init(b, "s", "int64[2]{2,4}");
    Onnx__NodeProto *first = oc_b_node(b, "MatMul", "m", "x,w", "y", "");
    first->doc_string = (char *)(uintptr_t) "kept";
    oc_b_node(b, "If", "choice", "c", "z", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, "MatMul", "inner", "x,w", "t", "");
    oc_b_output(b, "t", "float[2,4]");
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_node(b, "Identity", "", "y", "e", "");
    oc_b_output(b, "e", "float[2,4]");
    oc_b_close(b);
    oc_b_node(b, "my.domain::Twice", "f1", "z", "u", "");
    oc_b_node(b, "my.domain::Twice", "f2", "u", "v", "");
    oc_b_node(b, "Reshape", "r", "v,s", "q", "");
    oc_b_node(b, "my.domain::Mystery", "unknown", "q", "end", "");
    oc_b_output(b, "end", "float");
    oc_b_function(b, "my.domain", "Twice", "a", "b", "");
    oc_b_opset(b, "", 17);
    oc_b_node(b, "Add", "sum", "a,a", "b", "");
    oc_b_close(b);
    uint8_t *bytes = oc_b_pack(b, n);
    oc_b_free(b);
    return bytes;
}

static void only_entries_are_added(void **state)
{
    (void)state;
    size_t n;
    uint8_t *bytes = model(&n);
    struct text out = annotate(bytes, n), before = bare(bytes, n), after = bare(out.data, out.n);
    assert_true(out.n > n);
    check_equal(before, after);
    free(bytes);
    free(out.data);
    free(before.data);
    free(after.data);
}

static void entries_contain_the_exact_counts(void **state)
{
    (void)state;
    size_t n;
    uint8_t *bytes = model(&n);
    struct text out = annotate(bytes, n);
    Onnx__ModelProto *m = unpack(out.data, out.n);
    Onnx__NodeProto **node = m->graph->node;
    assert_string_equal(find_value(node[0], "macs"), "24");
    assert_string_equal(find_value(node[0], "flops"), "48");
    assert_string_equal(find_value(node[0], "params"), "12");
    assert_string_equal(find_value(node[0], "bytes_read_act"), "24");    /* 2*3 floats */
    assert_string_equal(find_value(node[0], "bytes_read_weight"), "48"); /* 3*4 */
    assert_string_equal(find_value(node[0], "bytes_written"), "32");     /* 2*4 */
    assert_string_equal(find_value(node[0], "quality"), "exact");
    /* the If itself costs nothing: its body does */
    assert_string_equal(find_value(node[1], "state"), "its body");
    assert_null(find_value(node[1], "macs"));
    const Onnx__NodeProto *inner = node[1]->attribute[0]->g->node[0];
    assert_string_equal(find_value(inner, "macs"), "24");
    /* Add of 2*4 elements, called twice: 16 operations */
    const Onnx__NodeProto *sum = m->functions[0]->node[0];
    assert_string_equal(find_value(sum, "flops"), "16");
    assert_string_equal(find_value(sum, "executions"), "2");
    /* unknown is not 0 */
    assert_string_equal(find_value(node[5], "quality"), "unknown");
    assert_null(find_value(node[5], "macs"));
    assert_null(find_value(node[5], "flops"));
    /* the If is an upper bound and one node is unknown: what is sure is the first node's */
    assert_string_equal(value_of(m->metadata_props, m->n_metadata_props, "macs"), "24");
    assert_string_equal(value_of(m->metadata_props, m->n_metadata_props, "quality"), "unknown");
    assert_string_equal(value_of(m->metadata_props, m->n_metadata_props, "unknown_nodes"), "1");
    assert_int_equal(m->ir_version, 8); /* unchanged */
    onnx__model_proto__free_unpacked(m, NULL);
    free(out.data);
    free(bytes);
}

/* Entries of other tools stay, our own are replaced: annotating again gives the same file. */
static void annotating_again_replaces_own_entries(void **state)
{
    (void)state;
    size_t n;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2]");
    oc_b_node(b, "Relu", "r", "x", "y", "");
    oc_b_output(b, "y", "float[2]");
    Onnx__StringStringEntryProto theirs = ONNX__STRING_STRING_ENTRY_PROTO__INIT, old = theirs;
    Onnx__StringStringEntryProto *props[] = {&theirs, &old};
    theirs.key = (char *)(uintptr_t) "pkg.onnxcost.author";
    theirs.value = (char *)(uintptr_t) "somebody";
    old.key = (char *)(uintptr_t) "onnxcost.gone";
    old.value = (char *)(uintptr_t) "1";
    oc_b_model(b)->metadata_props = props;
    oc_b_model(b)->n_metadata_props = 2;
    oc_b_model(b)->graph->node[0]->metadata_props = props;
    oc_b_model(b)->graph->node[0]->n_metadata_props = 2;
    uint8_t *bytes = oc_b_pack(b, &n);
    struct text once = annotate(bytes, n), twice = annotate(once.data, once.n);
    check_equal(once, twice);
    Onnx__ModelProto *m = unpack(once.data, once.n);
    assert_string_equal(m->metadata_props[0]->value, "somebody");
    assert_string_equal(m->graph->node[0]->metadata_props[0]->value, "somebody");
    assert_null(value_of(m->metadata_props, m->n_metadata_props, "gone"));
    assert_null(find_value(m->graph->node[0], "gone"));
    assert_string_equal(find_value(m->graph->node[0], "flops"), "2");
    onnx__model_proto__free_unpacked(m, NULL);
    oc_b_model(b)->n_metadata_props = oc_b_model(b)->graph->node[0]->n_metadata_props = 0;
    oc_b_model(b)->metadata_props = oc_b_model(b)->graph->node[0]->metadata_props = NULL;
    oc_b_free(b);
    free(bytes);
    free(once.data);
    free(twice.data);
}

struct place {
    char dir[64], model[96], beside[96], inside[96], weights[96];
};

/* A model with its weights in w.bin, and a folder below it. */
static struct oc_model *load_in_folder(struct place *p)
{
    struct oc_model *m = NULL;
    struct oc_err err;
    snprintf(p->dir, sizeof(p->dir), "/tmp/onnxcost.annotate.XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    snprintf(p->model, sizeof(p->model), "%s/m.onnx", p->dir);
    snprintf(p->beside, sizeof(p->beside), "%s/out.onnx", p->dir);
    snprintf(p->weights, sizeof(p->weights), "%s/w.bin", p->dir);
    snprintf(p->inside, sizeof(p->inside), "%s/..//out.onnx", p->dir);
    FILE *f = fopen(p->weights, "w");
    assert_non_null(f);
    fputs("12345678", f);
    fclose(f);
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2]");
    oc_b_init_external(b, "w", "float[2]", "w.bin", 0, 8);
    oc_b_node(b, "Add", "a", "x,w", "y", "");
    oc_b_output(b, "y", "float[2]");
    assert_int_equal(oc_b_save(b, p->model), 0);
    oc_b_free(b);
    assert_int_equal(oc_model_load(p->model, NULL, &m, &err), 0);
    return m;
}

static void output_may_not_overwrite_the_model_or_its_weights(void **state)
{
    (void)state;
    struct place p;
    struct oc_err err;
    struct oc_model *m = load_in_folder(&p);
    struct text t = annotate_to(m, p.beside, &err);
    assert_non_null(t.data);
    free(t.data);
    assert_null(annotate_to(m, p.model, &err).data);
    assert_non_null(strstr(err.msg, "it is the input model"));
    assert_null(annotate_to(m, p.weights, &err).data);
    assert_non_null(strstr(err.msg, "this file contains the weights of the model"));
    assert_null(annotate_to(m, p.inside, &err).data);
    assert_non_null(strstr(err.msg, "must be next to the model"));
    oc_model_free(m);
    unlink(p.weights);
    unlink(p.model);
    rmdir(p.dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_entries_are_added),
        cmocka_unit_test(entries_contain_the_exact_counts),
        cmocka_unit_test(annotating_again_replaces_own_entries),
        cmocka_unit_test(output_may_not_overwrite_the_model_or_its_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
