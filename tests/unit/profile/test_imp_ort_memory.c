#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/profiles.h"
#include "onnxcost.h"

/* The hash after the last '_' is removed, digits of the name itself are kept. */
static void reads_bytes_per_node(void **state)
{
    (void)state;
    struct oc_profile *p;
    struct oc_err err = {0};
    assert_int_equal(oc_profile_open("tests/data/onnxruntime/node_memory.csv", NULL, &p, &err), 0);
    assert_string_equal(oc_profile_importer(p), "onnxruntime_memory");
    assert_int_equal(p->n_rec, 3);
    const struct oc_prof_rec *conv = t_rec(p, "conv1"), *relu = t_rec(p, "relu_17");
    assert_true(conv && relu && t_rec(p, "x,y"));
    assert_true(conv->param_bytes == 37632 && conv->act_bytes == 602112 && conv->out_bytes == 0);
    assert_true(relu->out_bytes == 401408 && isnan(relu->time_ns) && isnan(relu->total_ns));
    assert_true(isnan(p->imported_ns));
    oc_profile_close(p);
}

static void errors_name_the_line_and_column(void **state)
{
    (void)state;
    struct oc_err err = {0};
    static const char head[] =
        "#name,input_sizes,initializers_sizes,total_dynamic_sizes,total_temp_allocations\na_1,1,2,3,4\n";
    char text[256];
    snprintf(text, sizeof(text), "%sb_1,1,-2,3,4\n", head);
    assert_null(t_profile_text(text, NULL, &err));
    assert_non_null(strstr(err.msg, "line 3: column 'initializers_sizes': '-2' is not a number of bytes"));
    snprintf(text, sizeof(text), "%sb_1,1", head);
    struct oc_profile *p = t_profile_text(text, NULL, &err);
    assert_true(p && p->truncated && p->n_rec == 1);
    oc_profile_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_bytes_per_node),
        cmocka_unit_test(errors_name_the_line_and_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
