#include "report/columns.h"

/* RFC 4180 (CRLF line ends). The last column is the layout version: columns may be added; the version is
 * raised when the meaning of a column changes. */
#define CSV_VERSION "1"

static void put(struct oc_buf *b, FILE *f)
{
    fwrite(b->data, 1, b->n, f);
    oc_buf_clear(b);
}

void oc_out_csv(struct oc_report *r, FILE *f)
{
    const struct oc_column *column[OC_MAX_COLUMNS];
    size_t n = oc_columns_for(r, OC_COL_CSV, column);
    struct oc_buf b = {0};
    for (size_t i = 0; i < n; i++)
        oc_buf_printf(&b, "%s,", column[i]->key);
    oc_buf_str(&b, "csv_version\r\n");
    put(&b, f);

    struct oc_arena scratch = {0};
    struct oc_line l = {.r = r, .arena = &scratch};
    while (oc_line_next(&l)) {
        for (size_t i = 0; i < n; i++) {
            oc_field_exact(column[i], &l, &b);
            oc_buf_char(&b, ',');
        }
        oc_buf_str(&b, CSV_VERSION "\r\n");
        put(&b, f);
        oc_arena_free(&scratch);
    }
    oc_buf_free(&b);
}
