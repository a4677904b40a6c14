/* Expected tables are the output of tabulate 0.8.9. */
#include "write/tables/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static const char *const two[] = {"name", "v"};

static void print_texts(enum oc_grid_style style, const char *const *header, const char *const (*rows)[2],
                        size_t n, const char *expected)
{
    struct oc_arena a = {0};
    struct oc_buf out = {0};
    struct oc_grid g;
    oc_grid_init(&g, &a, 2, header);
    for (size_t i = 0; i < n; i++) {
        if (style == OC_GRID_FANCY)
            oc_grid_record(&g, rows[i]);
        else
            oc_grid_row(&g, (struct oc_cell[]){{.text = rows[i][0]}, {.text = rows[i][1]}});
    }
    oc_grid_print(&g, style, &out);
    assert_string_equal(out.data, expected);
    oc_buf_free(&out);
    oc_arena_free(&a);
}

static void records_have_no_inner_rule(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"a\nlonger", "x"}, {" b ", "卷积\ny\nz"}};
    print_texts(OC_GRID_FANCY, two, rows, 2,
                "╒════════╤═════╕\n"
                "│ name   │ v   │\n"
                "╞════════╪═════╡\n"
                "│ a      │ x   │\n"
                "│ longer │     │\n"
                "├────────┼─────┤\n"
                "│ b      │ 卷积  │\n"
                "│        │ y   │\n"
                "│        │ z   │\n"
                "╘════════╧═════╛\n");
    print_texts(OC_GRID_FANCY, two, rows, 0,
                "╒════════╤═════╕\n"
                "│ name   │ v   │\n"
                "╞════════╪═════╡\n"
                "╘════════╧═════╛\n");
}

static void numbers_are_aligned_at_the_decimal_point(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"1", "1.5"}, {"22", "2357350.5"}, {" 3", "nan"}, {"-4", "1e-5"}};
    print_texts(OC_GRID_ORG, two, rows, 4,
                "|   name |             v |\n"
                "|--------|---------------|\n"
                "|      1 |   1.5         |\n"
                "|     22 |   2.35735e+06 |\n"
                "|      3 | nan           |\n"
                "|     -4 |   1e-05       |\n");
}

static void one_text_makes_a_text_column(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"1.50", "True"}, {"N/A", "7"}, {" 1e5 ", "False"}};
    print_texts(OC_GRID_ORG, two, rows, 3,
                "| name   |     v |\n"
                "|--------|-------|\n"
                "| 1.50   |  True |\n"
                "| N/A    |     7 |\n"
                "| 1e5    | False |\n");
}

static void cells_with_several_lines(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"{1,2}\n -[2,1]", "a"}, {"", "b\r\nc"}};
    print_texts(OC_GRID_ORG, two, rows, 2,
                "| name    | v   |\n"
                "|---------|-----|\n"
                "| {1,2}   | a   |\n"
                "|  -[2,1] |     |\n"
                "|         | b   |\n"
                "|         | c   |\n");
}

static void floats_in_text_columns_are_unchanged(void **state)
{
    (void)state;
    struct oc_arena a = {0};
    struct oc_buf out = {0};
    struct oc_grid g;
    oc_grid_init(&g, &a, 2, NULL);
    oc_grid_row(
        &g, (struct oc_cell[]){{.text = "x"}, {OC_GRID_FLOAT, "0.01959297011404281", 0.01959297011404281}});
    oc_grid_row(&g, (struct oc_cell[]){{.text = "yy"}, {OC_GRID_FLOAT, "1.0", 1}});
    oc_grid_print(&g, OC_GRID_SIMPLE, &out);
    oc_grid_row(
        &g, (struct oc_cell[]){{.text = "x"}, {OC_GRID_FLOAT, "0.01959297011404281", 0.01959297011404281}});
    oc_grid_row(&g, (struct oc_cell[]){{.text = "yy"}, {.text = "N/A"}});
    oc_grid_print(&g, OC_GRID_SIMPLE, &out);
    assert_string_equal(out.data, "--  --------\n"
                                  "x   0.019593\n"
                                  "yy  1\n"
                                  "--  --------\n"
                                  "--  -------------------\n"
                                  "x   0.01959297011404281\n"
                                  "yy  N/A\n"
                                  "--  -------------------\n");
    oc_buf_free(&out);
    oc_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_have_no_inner_rule),
        cmocka_unit_test(numbers_are_aligned_at_the_decimal_point),
        cmocka_unit_test(one_text_makes_a_text_column),
        cmocka_unit_test(cells_with_several_lines),
        cmocka_unit_test(floats_in_text_columns_are_unchanged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
