#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/csv_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static bool is_header(void *ctx, const struct oc_str *f, size_t n)
{
    (void)ctx;
    return n >= 2 && oc_csv_column(f, n, "name") != OC_CSV_NONE;
}

static size_t sum_of(const struct oc_str *f, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        double v = 0;
        struct oc_str unit;
        for (size_t k = 0; k < f[i].n; k++)
            sum += (unsigned char)f[i].s[k];
        if (oc_csv_number(f[i], &v, &unit) && unit.n > f[i].n)
            abort();
        (void)oc_csv_split_unit(f[i], &unit);
    }
    return sum;
}

/* Every row has fields: the cursor advances or reading ends. */
static void read_all(const uint8_t *data, size_t n, char delimiter)
{
    struct oc_stream *s = oc_stream_mem(data, n);
    struct oc_csv *c = oc_csv_open(s);
    const struct oc_str *f;
    size_t n_field, rows = 0;
    if (delimiter)
        oc_csv_delimiter(c, delimiter);
    else if (!oc_csv_find(c, is_header, NULL, &f, &n_field))
        n_field = 0;
    uint32_t line = 0;
    while (oc_csv_row(c, &f, &n_field)) {
        if (n_field > 8192 || oc_csv_line_number(c) <= line)
            abort();
        line = oc_csv_line_number(c);
        size_t sum = sum_of(f, n_field);
        if (rows++ % 7 == 3) {
            oc_csv_unread(c);
            if (!oc_csv_row(c, &f, &n_field) || sum_of(f, n_field) != sum)
                abort();
        }
    }
    struct oc_err err;
    if (oc_csv_failed(c) && (oc_csv_error(c, &err), !err.msg[0]))
        abort();
    oc_csv_close(c);
    oc_stream_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    read_all(data, n, '\0');
    read_all(data, n, ',');
    read_all(data, n, ';');
    return 0;
}
