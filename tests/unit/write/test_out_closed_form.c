/* What --formula says about sizes that it could not vary alone, and about nodes without a cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/run_model.h"
#include "onnxcost.h"
#include "onnxcost/sweep.h"

/* The table of the formulas; free() it. */
static char *formulas(struct oc_builder *b)
{
    struct oc_run r = oc_run_model(b, NULL);
    struct oc_closed_form *f;
    struct oc_err err;
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    if (oc_closed_form_make(r.m, NULL, &f, &err) || oc_closed_form_write(f, NULL, 100, out, &err))
        fail_msg("%s", err.msg);
    fclose(out);
    oc_closed_form_free(f);
    oc_run_free(&r);
    return text;
}

static void sizes_that_depend_on_others_have_a_line_each(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "my", 1);
    oc_b_input(b, "x", "float[A,8]");
    oc_b_input(b, "y", "float[B,8]");
    oc_b_input(b, "z", "float[C,8]");
    oc_b_input(b, "w", "float[D,4]");
    oc_b_node(b, "Add", "n1", "x,y", "s", "");
    oc_b_node(b, "Add", "n2", "s,z", "t", "");
    oc_b_input(b, "v", "float[2,E]"); /* 1, as the constant has one row */
    oc_b_init(b, "k", "float[1,5]");
    oc_b_node(b, "my::Unknown", "n3", "w", "u", "");
    oc_b_node(b, "MatMul", "n4", "v,k", "p", "");
    oc_b_output(b, "p", NULL);
    oc_b_output(b, "t", NULL);
    oc_b_output(b, "u", NULL);
    char *text = formulas(b);
    const char *const start = "variables   A, D\n"
                              "assumed     B = A: other sizes are inconsistent\n"
                              "assumed     C = A: other sizes are inconsistent\n"
                              "assumed     E = 1: other sizes give inconsistent shapes or unknown costs\n"
                              "excluded    1 nodes of unknown cost\n"
                              "\n"
                              "for A 1 to ";
    if (strncmp(text, start, strlen(start)) != 0)
        fail_msg("%s", text);
    assert_non_null(strstr(text, "  MACs             >= 10\n"));        /* 2*1*5 */
    assert_non_null(strstr(text, "  FLOPs            >= 16*A + 20\n")); /* two sums of 8*A */
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_that_depend_on_others_have_a_line_each)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
