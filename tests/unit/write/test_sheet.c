#include "write/tables/plain_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const head[] = {"status", "+/- MACs", "operator"};
static const char *const rows[][3] = {{"added", "+1.00 M", "conv|<1>"}, {"same", "0", "a"}};

static struct oc_sheet make_sheet(void)
{
    struct oc_sheet s = {.kinds = "tnc", .head = head};
    for (size_t i = 0; i < OC_COUNT(rows); i++)
        oc_sheet_row(&s, rows[i]);
    return s;
}

static char *write_text(void (*write)(const struct oc_sheet *s, FILE *f))
{
    char *text = NULL;
    size_t n;
    struct oc_sheet s = make_sheet();
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    write(&s, f);
    fclose(f);
    oc_sheet_free(&s);
    return text;
}

static void plain(const struct oc_sheet *s, FILE *f)
{
    oc_sheet_plain(s, 0, false, f);
}

static void sheet_prints_as_text(void **state)
{
    (void)state;
    char *text = write_text(plain);
    assert_string_equal(text, "status  +/- MACs  operator\n"
                              "added    +1.00 M  conv|<1>\n"
                              "same           0  a\n");
    free(text);
}

static void sheet_prints_as_markdown(void **state)
{
    (void)state;
    char *text = write_text(oc_sheet_markdown);
    const char *want = "| status | +/- MACs | operator |\n| --- | ---: | --- |\n| added | +1.00 M | ";
    assert_memory_equal(text, want, strlen(want));
    assert_null(strstr(text, "conv|<")); /* not a separate cell */
    assert_non_null(strstr(text, "\n| same | 0 | `a` |\n\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sheet_prints_as_text),
        cmocka_unit_test(sheet_prints_as_markdown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
