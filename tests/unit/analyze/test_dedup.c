/* Constants with equal bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/analysis.h"
#include "support/run_model.h"
#include "onnxcost.h"

static const struct oc_analyze_opts merged = {.dedup_content = true};

/* An embedding table exported a second time as a weight of the same shape; one in typed fields; a transposed,
 * a different and a shorter one. */
static struct oc_builder *tied(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "i", "int64[5]");
    oc_b_init(b, "table", "float[3,2]{1,2,3,4,5,6}");
    oc_b_init(b, "tied", "float[3,2]{1,2,3,4,5,6}");
    oc_b_init_fields(b, "fields", "float[3,2]{1,2,3,4,5,6}");
    oc_b_init(b, "turned", "float[2,3]{1,2,3,4,5,6}");
    oc_b_init(b, "other", "float[3,2]{1,2,3,4,5,7}");
    oc_b_init(b, "bits", "int32[3,2]{1,2,3,4,5,6}");
    oc_b_node(b, "Gather", "embed", "table,i", "e", "");
    oc_b_node(b, "MatMul", "m1", "e,turned", "a", "");
    oc_b_node(b, "MatMul", "m2", "a,tied", "c", "");
    oc_b_node(b, "Gemm", "m3", "c,fields", "d", "transB=1");
    oc_b_node(b, "MatMul", "m4", "d,other", "f", "");
    oc_b_node(b, "Constant", "made", "", "k", "value=float[3,2]{1,2,3,4,5,6}");
    oc_b_node(b, "MatMul", "m5", "f,turned", "g", "");
    oc_b_node(b, "MatMul", "m6", "g,k", "h", "");
    oc_b_node(b, "Cast", "cast", "bits", "n", "to=6");
    oc_b_output(b, "h", NULL);
    oc_b_output(b, "n", NULL);
    return b;
}

static void equal_constants_count_once(void **state)
{
    (void)state;
    struct oc_run r = oc_run_model(tied(), NULL);
    assert_int_equal(r.a->total->params, 6 * 6); /* all except the integers */
    assert_int_equal(r.a->total->const_bytes, 7 * 24);
    oc_run_free(&r);
    r = oc_run_model(tied(), &merged);
    assert_int_equal(r.a->total->params, 3 * 6); /* table, transposed, other */
    assert_int_equal(r.a->total->const_bytes, 4 * 24);
    assert_int_equal(r.a->class_elems[OC_PC_EMBED], 6); /* an embedding takes precedence over a weight */
    assert_int_equal(r.a->class_elems[OC_PC_WEIGHT], 12);
    assert_int_equal(r.a->cost[oc_run_node(&r, "embed")].params, 6); /* assigned to its first reader */
    assert_int_equal(r.a->cost[oc_run_node(&r, "m2")].params, 0);
    assert_int_equal(r.a->cost[oc_run_node(&r, "m2")].rd_wt, 24); /* it is still read */
    assert_int_equal(oc_run_diags(&r, "W-dedup-unread"), 0);
    oc_run_free(&r);
}

/* Absent data is not compared and not assumed equal; where no two constants have the same type and size
 * nothing is read. */
static void absent_data_is_not_equal(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[4,3]");
    oc_b_init(b, "v", "float[3,3]");
    oc_b_init(b, "w", "float[3,3]");
    oc_b_init(b, "alone", "float[3,7]");
    oc_b_node(b, "MatMul", "m1", "x,v", "a", "");
    oc_b_node(b, "MatMul", "m2", "a,w", "c", "");
    oc_b_node(b, "MatMul", "m3", "c,alone", "y", "");
    oc_b_output(b, "y", NULL);
    struct oc_run r = oc_run_model(b, &merged);
    assert_int_equal(r.a->total->params, 9 + 9 + 21);
    assert_int_equal(oc_run_diags(&r, "W-dedup-unread"), 1);
    assert_int_equal(strncmp(r.a->diags.item[0].text, "2 constants ", 12), 0);
    oc_run_free(&r);
}

static void write_file(const char *path, const void *data, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0)
        abort();
}

/* Two tensors in one file next to the model, and one whose file is missing. */
static void equal_external_data_counts_once(void **state)
{
    (void)state;
    char dir[] = "/tmp/oc_dedup_XXXXXX", model[64], data[64];
    static const float number[] = {1, 2, 3, 4, 1, 2, 3, 4};
    if (!mkdtemp(dir))
        abort();
    snprintf(model, sizeof(model), "%s/m.onnx", dir);
    snprintf(data, sizeof(data), "%s/w.bin", dir);
    write_file(data, number, sizeof(number));
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[4,2]");
    oc_b_init_external(b, "v", "float[2,2]", "w.bin", 0, 16);
    oc_b_init_external(b, "w", "float[2,2]", "w.bin", 16, 16);
    oc_b_init_external(b, "u", "float[2,2]", "gone.bin", 0, 16);
    oc_b_init_external(b, "t", "float[2,2]", "w.bin", 24, 16); /* extends past the end of the file */
    oc_b_node(b, "MatMul", "m1", "x,v", "a", "");
    oc_b_node(b, "MatMul", "m2", "a,w", "c", "");
    oc_b_node(b, "MatMul", "m3", "c,u", "d", "");
    oc_b_node(b, "MatMul", "m4", "d,t", "y", "");
    oc_b_output(b, "y", NULL);
    assert_int_equal(oc_b_save(b, model), 0);
    oc_b_free(b);
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_err err;
    assert_int_equal(oc_model_load(model, NULL, &m, &err), 0);
    assert_int_equal(oc_analyze(m, &merged, &a, &err), 0);
    assert_int_equal(a->total->params, 3 * 4);
    bool told = false;
    for (size_t i = 0; i < a->diags.n; i++)
        told |= strcmp(a->diags.item[i].code, "W-dedup-unread") == 0 && a->diags.item[i].text[0] == '2';
    assert_true(told);
    oc_analysis_free(a);
    oc_model_free(m);
    unlink(model);
    unlink(data);
    rmdir(dir);
}

/* A Constant node of a function that is called twice stays one constant; so does its copy in the main graph.
 */
static void constants_of_inlined_functions_count_once(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_function(b, "local", "Scale", "X", "Y", "");
    oc_b_opset(b, "", 17);
    oc_b_node(b, "Constant", NULL, "", "K", "value=float[2,2]{1,2,3,4}");
    oc_b_node(b, "MatMul", NULL, "X,K", "Y", "");
    oc_b_close(b);
    oc_b_opset(b, "local", 1);
    oc_b_input(b, "x", "float[2,2]");
    oc_b_init(b, "w", "float[2,2]{1,2,3,4}");
    oc_b_node(b, "local::Scale", "c1", "x", "a", "");
    oc_b_node(b, "local::Scale", "c2", "a", "c", "");
    oc_b_node(b, "MatMul", "m", "c,w", "y", "");
    oc_b_output(b, "y", NULL);
    struct oc_run r = oc_run_model(b, &merged);
    assert_int_equal(r.a->total->params, 4);
    oc_run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equal_constants_count_once),
                                       cmocka_unit_test(absent_data_is_not_equal),
                                       cmocka_unit_test(equal_external_data_counts_once),
                                       cmocka_unit_test(constants_of_inlined_functions_count_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
