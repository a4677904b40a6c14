#include "write/report_write.h"

#include <setjmp.h>
#include <string.h>
#include <stdarg.h>

#include <cmocka.h>

static const char *bound_cell(struct oc_arena *a, const struct oc_row *row)
{
    return row->bound_by ? oc_printf(a, "%s\nbound", row->bound_by) : "N/A";
}

/* Rows of a static analysis: no times, one additional column. */
static void rows_without_times_have_no_time_columns(void **state)
{
    (void)state;
    static const char *const info[] = {"conv1", "Conv"};
    static const char *const keys[] = {"name", "type"};
    static const struct oc_details_column extra = {"limit", bound_cell};
    struct oc_arena a = {0};
    struct oc_buf out = {0};
    struct oc_row row = oc_row_blank();
    const struct oc_rows rows = {.arena = &a, .row = &row, .n = 1, .info_key = keys};
    const struct oc_details d = {.extra = &extra, .n_extra = 1};
    row.info = info;
    row.n_info = 2;
    row.computation = 236027904;
    row.bound_by = "memory";
    oc_details_grid(&rows, &d, &out);
    assert_string_equal(out.data, "╒═════╤═════════════════╤═══════════════╤═════════╤══════════╤════════════"
                                  "═╤═════════════╤══════════════╤═════════╕\n"
                                  "│ #   │ operator info   │ computation   │ FLOPS   │ memory   │ bandwidth  "
                                  " │ in_shapes   │ out_shapes   │ limit   │\n"
                                  "╞═════╪═════════════════╪═══════════════╪═════════╪══════════╪════════════"
                                  "═╪═════════════╪══════════════╪═════════╡\n"
                                  "│ #0  │ conv1           │ 236.03        │ N/A     │ N/A      │ N/A        "
                                  " │ N/A         │ N/A          │ memory  │\n"
                                  "│     │ Conv            │ MFLO          │ FLOPS   │ byte     │ byte/s     "
                                  " │             │              │ bound   │\n"
                                  "╘═════╧═════════════════╧═══════════════╧═════════╧══════════╧════════════"
                                  "═╧═════════════╧══════════════╧═════════╛\n");
    oc_buf_clear(&out);
    oc_details_wiki(&rows, &d, &out);
    assert_string_equal(
        out.data,
        "|   # | opr name   | opr type   |   computation (MFLO) | MFLOPS   | MFLOPS-bar   | memory (MB)   | "
        "bandwidth (MiB/s)   | bandwidth bar   | in_shapes   | out_shapes   | limit   |\n"
        "|-----|------------|------------|----------------------|----------|--------------|---------------|--"
        "-------------------|-----------------|-------------|--------------|---------|\n"
        "|   0 | conv1      | Conv       |                  236 | N/A      |              | N/A           | "
        "N/A                 |                 | N/A         | N/A          | memory  |\n"
        "|     |            |            |                      |          |              |               |  "
        "                   |                 |             |              | bound   |\n");
    oc_buf_free(&out);
    oc_arena_free(&a);
}

/* One cell determines the width of its column in every row: lists of shapes can be truncated. */
static void long_shape_lists_are_truncated(void **state)
{
    (void)state;
    static const char *const info[] = {"n", "Sum"};
    static const char *const keys[] = {"name", "type"};
    static const struct oc_row_shape shapes[] = {{.text = "{1}"}, {.text = "{2}"}, {.text = "{3}"}};
    struct oc_arena a = {0};
    struct oc_buf out = {0};
    struct oc_row row = oc_row_blank();
    const struct oc_rows rows = {.arena = &a, .row = &row, .n = 1, .info_key = keys};
    row.info = info;
    row.n_info = 2;
    row.in = shapes;
    row.n_in = 3;
    row.in_state = OC_SHAPES_KNOWN;
    oc_details_wiki(&rows, &(struct oc_details){.max_shapes = 2}, &out);
    assert_non_null(strstr(out.data, "| {1}, {2}, ... (3 shapes) |"));
    oc_buf_clear(&out);
    oc_details_wiki(&rows, &(struct oc_details){.max_shapes = 3}, &out);
    assert_non_null(strstr(out.data, "| {1}, {2}, {3} |"));
    oc_buf_clear(&out);
    oc_details_wiki(&rows, &(struct oc_details){0}, &out);
    assert_non_null(strstr(out.data, "| {1}, {2}, {3} |"));
    oc_buf_free(&out);
    oc_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_without_times_have_no_time_columns),
        cmocka_unit_test(long_shape_lists_are_truncated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
