/* Rows of typed cells as bytes. */
#include "fleet/scan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct oc_cell_column columns[] = {{"text", OC_DATUM_TEXT, true, "", "a text"},
                                                {"count", OC_DATUM_U64, false, "B", "a count"},
                                                {"sign", OC_DATUM_I64, false, "", "a number"},
                                                {"ratio", OC_DATUM_DOUBLE, false, "1", "a ratio"}};
static const struct oc_cell_table table = {"test", 1, columns, 4};

static void expect_equal(const struct oc_datum *a, const struct oc_datum *b)
{
    for (size_t i = 0; i < table.n; i++) {
        assert_int_equal(a[i].known, b[i].known);
        if (a[i].known && columns[i].kind == OC_DATUM_TEXT)
            assert_string_equal(a[i].as.text, b[i].as.text);
        else if (a[i].known)
            assert_true(a[i].as.u64 == b[i].as.u64);
    }
}

static void unpacked_rows_equal_packed_ones(void **state)
{
    const struct oc_datum row[][4] = {
        {oc_datum_text("a"), oc_datum_u64(UINT64_MAX), oc_datum_i64(INT64_MIN), oc_datum_number(-0.5)},
        {oc_datum_text(""), oc_datum_u64(0), {.known = false}, oc_datum_number(NAN)},
        {oc_datum_text(NULL), {.known = false}, oc_datum_i64(0), oc_datum_number(0)}};
    struct oc_buf b = {0};
    struct oc_datum got[4];
    (void)state;
    for (size_t i = 0; i < 3; i++)
        oc_cells_pack(&table, row[i], &b);
    const char *at = b.data;
    for (size_t i = 0; i < 3; i++) {
        assert_true(oc_cells_unpack(&table, &at, b.data + b.n, got));
        expect_equal(got, row[i]);
    }
    assert_false(oc_cells_unpack(&table, &at, b.data + b.n, got));
    for (size_t cut = 0; cut < b.n; cut++) { /* never beyond the end */
        char *part = malloc(cut + !cut);
        memcpy(part, b.data, cut);
        at = part;
        size_t n = 0;
        while (oc_cells_unpack(&table, &at, part + cut, got))
            n++;
        assert_true(n < 3);
        free(part);
    }
    oc_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(unpacked_rows_equal_packed_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
