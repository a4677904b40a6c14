#include "hw/hw_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"

struct oc_hw_cell oc_hw_text(const char *s)
{
    return (struct oc_hw_cell){.text = s};
}

struct oc_hw_cell oc_hw_number(struct oc_arena *a, double value, const char *unit)
{
    static const struct {
        double scale;
        const char *prefix;
    } steps[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"},  {1e6, "M"},
                 {1e3, "k"},  {1, ""},     {1e-3, "m"}, {1e-6, "u"}};
    if (!(value > 0))
        return (struct oc_hw_cell){0};
    size_t i = 0;
    while (*unit && i + 1 < OC_COUNT(steps) && value < steps[i].scale)
        i++;
    const char *text = *unit ? oc_printf(a, "%.4g %s%s", value / steps[i].scale, steps[i].prefix, unit)
                             : oc_printf(a, "%.6g", value);
    return (struct oc_hw_cell){text, value, true};
}

struct oc_hw_cell *oc_hw_row(struct oc_hw_table *t)
{
    OC_GROW(t->row, t->n_row, t->cap_row);
    memset(t->row[t->n_row], 0, sizeof(*t->row));
    return t->row[t->n_row++];
}

void oc_hw_table_free(struct oc_hw_table *t)
{
    free(t->row);
    t->row = NULL;
    t->n_row = t->cap_row = 0;
}

/* ---- forms ------------------------------------------------------------------------------------------ */

static size_t hw_table_width_of(const struct oc_hw_table *t, size_t column)
{
    size_t width = strlen(t->column[column].title);
    for (size_t i = 0; i < t->n_row; i++) {
        size_t n = t->row[i][column].text ? strlen(t->row[i][column].text) : 1;
        width = n > width ? n : width;
    }
    return width;
}

static void print_cell(FILE *f, const char *text, bool right, size_t width, bool last)
{
    if (last && !right)
        fprintf(f, "%s\n", text);
    else
        fprintf(f, right ? "%*s%s" : "%-*s%s", (int)width, text, last ? "\n" : "  ");
}

/* How many columns fit, their widths, and the last one that is text. */
static size_t hw_table_fitting(const struct oc_hw_table *t, size_t *width, size_t *last)
{
    size_t all = 0;
    for (size_t c = 0; c < t->n_column; c++) {
        if (!t->column[c].title)
            continue;
        width[c] = hw_table_width_of(t, c);
        all += (c ? 2 : 0) + width[c];
        if (c && t->width_chars && all > t->width_chars)
            return c;
        *last = c;
    }
    return t->n_column;
}

/* Below the table: the columns that do not fit. */
static void hw_table_print_not_shown(const struct oc_hw_table *t, size_t n, FILE *f)
{
    const char *before = "(not shown: ";
    bool any = false;
    for (size_t c = n; c < t->n_column; c++) {
        if (!t->column[c].title)
            continue;
        fprintf(f, "%s%s", before, t->column[c].title);
        before = ", ";
        any = true;
    }
    if (any)
        fputs("; use --width or -f csv)\n", f);
}

static void hw_table_print_text(const struct oc_hw_table *t, FILE *f)
{
    size_t width[OC_HW_MAX_COLUMNS] = {0}, last = 0;
    for (size_t i = 0; i < t->n_row; i++)
        for (size_t c = 0; c < t->n_column; c++)
            if (t->row[i][c].text)
                t->row[i][c].text = oc_make_visible(oc_strdup(t->arena, t->row[i][c].text));
    size_t n = hw_table_fitting(t, width, &last);
    for (size_t i = 0; i < t->n_row + 1; i++)
        for (size_t c = 0; c < n; c++) {
            const char *text = i ? t->row[i - 1][c].text : t->column[c].title;
            if (t->column[c].title)
                print_cell(f, text ? text : "-", t->column[c].right, width[c], c == last);
        }
    hw_table_print_not_shown(t, n, f);
}

/* Quoted if it contains a comma, a quote or a line end. */
static void print_field(FILE *f, const char *s)
{
    bool quote = strpbrk(s, ",\"\r\n") != NULL;
    if (quote)
        fputc('"', f);
    for (; *s; s++) {
        if (*s == '"')
            fputc('"', f);
        fputc(*s, f);
    }
    if (quote)
        fputc('"', f);
}

static void print_csv(const struct oc_hw_table *t, FILE *f)
{
    for (size_t c = 0; c < t->n_column; c++)
        fprintf(f, "%s%s", c ? "," : "", t->column[c].key);
    fputs("\r\n", f);
    for (size_t i = 0; i < t->n_row; i++) {
        for (size_t c = 0; c < t->n_column; c++) {
            const struct oc_hw_cell *x = &t->row[i][c];
            if (c)
                fputc(',', f);
            if (x->number)
                fprintf(f, "%.10g", x->value);
            else if (x->text)
                print_field(f, x->text);
        }
        fputs("\r\n", f);
    }
}

static void print_json(const struct oc_hw_table *t, FILE *f)
{
    struct oc_json_out w = {.f = f, .pretty = true};
    oc_jw_begin_array(&w);
    for (size_t i = 0; i < t->n_row; i++) {
        oc_jw_begin_object(&w);
        for (size_t c = 0; c < t->n_column; c++) {
            const struct oc_hw_cell *x = &t->row[i][c];
            oc_jw_key(&w, t->column[c].key);
            if (x->number && x->value < 9e15 && x->value == floor(x->value))
                oc_jw_u64(&w, (uint64_t)x->value);
            else if (x->number)
                oc_jw_double(&w, x->value);
            else
                oc_jw_string(&w, x->text);
        }
        oc_jw_end_object(&w);
    }
    oc_jw_end_array(&w);
    fputc('\n', f);
}

void oc_hw_table_print(const struct oc_hw_table *t, const char *format, FILE *f)
{
    if (format && strcmp(format, "csv") == 0)
        print_csv(t, f);
    else if (format && strcmp(format, "json") == 0)
        print_json(t, f);
    else
        hw_table_print_text(t, f);
}
