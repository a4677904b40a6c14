#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/diag.h"
#include "base/row_cells.h"

static const struct oc_cell_column columns[] = {{"text", OC_DATUM_TEXT, true, "", "a text"},
                                                {"count", OC_DATUM_U64, false, "B", "a count"},
                                                {"sign", OC_DATUM_I64, false, "", "a number"},
                                                {"ratio", OC_DATUM_DOUBLE, false, "1", "a ratio"}};
static const struct oc_cell_table table = {"test", 1, columns, 4};

static char name[] = "/tmp/onnxcost-parquet-XXXXXX";

static void write_rows(size_t n, const char *mark)
{
    FILE *f = fopen(name, "w");
    struct oc_parquet *p = oc_parquet_open(&table, f);
    for (size_t i = 0; i < n; i++) {
        const struct oc_datum row[] = {oc_datum_text(i % 2 ? "odd" : "even"),
                                       oc_datum_u64(i),
                                       {.known = false},
                                       oc_datum_number((double)i / 2)};
        oc_parquet_row(p, row);
    }
    oc_parquet_close(p, mark);
    fclose(f);
}

static bool has_mark(const char *path, const char *mark)
{
    bool has = true;
    assert_int_equal(oc_parquet_has_mark(path, mark, &has, NULL), 0);
    return has;
}

static void mark_is_found_in_complete_files_only(void **state)
{
    (void)state;
    close(mkstemp(name));
    assert_false(has_mark(name, "one"));
    write_rows(1000, "one");
    assert_true(has_mark(name, "one"));
    assert_false(has_mark(name, "on"));
    assert_false(has_mark(name, "two"));
    FILE *f = fopen(name, "r");
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    fclose(f);
    for (long cut = size - 1; cut >= 0; cut -= 1 + cut / 9) {
        assert_int_equal(truncate(name, cut), 0);
        assert_false(has_mark(name, "one"));
    }
    write_rows(0, NULL);
    assert_false(has_mark(name, "one"));
    write_rows(0, "one");
    assert_true(has_mark(name, "one"));
    unlink(name);
    assert_false(has_mark(name, "one"));
    struct oc_err err;
    bool has;
    assert_int_equal(oc_parquet_has_mark("/dev/null/x", "one", &has, &err), -1);
    assert_int_equal(err.code, OC_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(mark_is_found_in_complete_files_only)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
