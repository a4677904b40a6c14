/* Writes Apache Parquet: one table of typed cells, row by row, in row groups of bounded size. An unknown cell
 * is null. Texts are dictionary-encoded where they repeat; the codec is GZIP, with the zlib that is linked
 * anyway. Every column chunk has its null count, minimum and maximum. */
#ifndef OC_PARQUET_H
#define OC_PARQUET_H

#include "base/row_cells.h"

struct oc_err;
struct oc_parquet;

/* The metadata of the file contain the name and version of the table, and units and meaning of its columns.
 * The stream need not be seekable; check ferror at the end. */
struct oc_parquet *oc_parquet_open(const struct oc_cell_table *t, FILE *f);
void oc_parquet_row(struct oc_parquet *p, const struct oc_datum *cell);
void oc_parquet_close(struct oc_parquet *p, const char *mark); /* mark: see below; NULL: none */

/* Whether the file is a complete Parquet file of this writer that was closed with this mark. A file that does
 * not exist is not complete; OC_EIO: it cannot be read. */
int oc_parquet_has_mark(const char *path, const char *mark, bool *has, struct oc_err *err);

#endif
