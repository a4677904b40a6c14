/* Typed cells and rows of them as bytes. The header also declares the writer of Parquet (parquet.c). */
#include "base/row_cells.h"

#include <math.h>
#include <string.h>

struct oc_datum oc_datum_number(double v)
{
    return (struct oc_datum){.known = isfinite(v), .as.number = v};
}

double oc_rounded_ns(double ns)
{
    return fabs(ns) < 9e12 ? round(ns * 1e3) / 1e3 : ns;
}

/* A row: of every cell a byte, whether it is known, then its eight bytes, or its text with the final null
 * character. */
void oc_cells_pack(const struct oc_cell_table *t, const struct oc_datum *cell, struct oc_buf *out)
{
    for (size_t i = 0; i < t->n; i++) {
        oc_buf_char(out, cell[i].known ? 1 : 0);
        if (!cell[i].known)
            continue;
        if (t->column[i].kind == OC_DATUM_TEXT)
            oc_buf_add(out, cell[i].as.text, strlen(cell[i].as.text) + 1);
        else
            oc_buf_add(out, &cell[i].as.u64, sizeof(cell[i].as.u64));
    }
}

static bool unpack_one(bool text, const char **at, const char *end, struct oc_datum *cell)
{
    *cell = (struct oc_datum){.known = false};
    if (*at == end)
        return false;
    cell->known = *(*at)++ != 0;
    if (!cell->known)
        return true;
    size_t left = (size_t)(end - *at), n = sizeof(cell->as.u64);
    if (text) {
        const char *stop = memchr(*at, '\0', left);
        if (!stop)
            return false;
        cell->as.text = *at;
        n = (size_t)(stop - *at) + 1;
    } else {
        if (left < n)
            return false;
        memcpy(&cell->as.u64, *at, n);
    }
    *at += n;
    return true;
}

bool oc_cells_unpack(const struct oc_cell_table *t, const char **at, const char *end, struct oc_datum *cell)
{
    for (size_t i = 0; i < t->n; i++)
        if (!unpack_one(t->column[i].kind == OC_DATUM_TEXT, at, end, &cell[i]))
            return false;
    return t->n > 0;
}
