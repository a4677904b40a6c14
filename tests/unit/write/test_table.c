#include "write/tables/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct oc_table make_table(void)
{
    struct oc_table t = {.kinds = "tnc"};
    OC_ROW(&t, "status", "+/- MACs", "operator");
    OC_ROW(&t, "added", "+1.00 M", "conv|<1>");
    OC_ROW(&t, "s\xc3\xa4me", "0", "a\n"); /* two bytes of one character; a control character */
    return t;
}

static char *print(struct oc_table t)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    oc_table_print(&t, f);
    fclose(f);
    assert_null(t.cell);
    return text;
}

static void table_is_aligned_by_characters(void **state)
{
    (void)state;
    char *text = print(make_table());
    assert_string_equal(text, "status  +/- MACs  operator\n"
                              "added    +1.00 M  conv|<1>\n"
                              "s\xc3\xa4me           0  a?\n");
    free(text);
}

static void table_too_wide_drops_columns_by_priority(void **state)
{
    (void)state;
    struct oc_table t = make_table();
    static const uint8_t drop[] = {0, 2, 1};
    t.width_chars = 20;
    t.drop = drop;
    char *text = print(t);
    const char *want = "status  operator\n"
                       "added   conv|<1>\n"
                       "s\xc3\xa4me    a?\n"
                       "(not shown at 20\n";
    assert_memory_equal(text, want, strlen(want));
    assert_non_null(strstr(text, "+/- MACs"));
    free(text);
}

static void table_colours_differences(void **state)
{
    (void)state;
    struct oc_table t = make_table();
    t.color = t.changes = true;
    char *text = print(t);
    assert_memory_equal(text, "\033[1mstatus", 10);
    assert_non_null(strstr(text, "operator\033[0m\n"));
    assert_non_null(strstr(text, "\033[31m+1.00 M\033[39m"));
    free(text);
}

static void empty_table_has_its_titles(void **state)
{
    (void)state;
    struct oc_table t = {.kinds = "t", .empty = "(no rows)\n"};
    OC_ROW(&t, "name");
    char *text = print(t);
    assert_string_equal(text, "name\n(no rows)\n");
    free(text);
}

static void table_prints_as_markdown(void **state)
{
    (void)state;
    char *text = NULL;
    size_t n;
    struct oc_table t = make_table();
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    oc_table_markdown(&t, f);
    fclose(f);
    const char *want = "| status | +/- MACs | operator |\n| --- | ---: | --- |\n| added | +1.00 M | ";
    assert_memory_equal(text, want, strlen(want));
    assert_null(strstr(text, "conv|<")); /* not a separate cell */
    assert_non_null(strstr(text, " | 0 | `a?` |\n\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_aligned_by_characters),
        cmocka_unit_test(table_too_wide_drops_columns_by_priority),
        cmocka_unit_test(table_colours_differences),
        cmocka_unit_test(empty_table_has_its_titles),
        cmocka_unit_test(table_prints_as_markdown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
