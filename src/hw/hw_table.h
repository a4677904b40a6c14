/* Rows of cells as aligned text, CSV (RFC 4180) or JSON: for the lists that the hw commands print. A cell is
 * a text, a number (in base units, with a text for tables), or empty. */
#ifndef OC_HW_TABLE_H
#define OC_HW_TABLE_H

#include <stdio.h>

#include "base/arena.h"

#define OC_HW_MAX_COLUMNS 20

struct oc_hw_cell {
    const char *text; /* NULL: empty */
    double value;     /* valid if number */
    bool number;
};

struct oc_hw_column {
    const char *key, *title; /* key: in CSV and JSON; title NULL: not in tables */
    bool right;
};

struct oc_hw_table {
    struct oc_arena *arena;
    const struct oc_hw_column *column;
    size_t n_column;
    struct oc_hw_cell (*row)[OC_HW_MAX_COLUMNS]; /* heap */
    size_t n_row, cap_row;
    unsigned width_chars; /* of text: the last columns are left out where they do not fit; 0: no limit */
};

struct oc_hw_cell oc_hw_text(const char *s);
/* 1.5e12 as "1.5 T" and so on; "" if not above 0 */
struct oc_hw_cell oc_hw_number(struct oc_arena *a, double value, const char *unit);

struct oc_hw_cell *oc_hw_row(struct oc_hw_table *t); /* appends a row of empty cells */
/* format: table, csv or json; JSON is the array only */
void oc_hw_table_print(const struct oc_hw_table *t, const char *format, FILE *f);
void oc_hw_table_free(struct oc_hw_table *t);

#endif
