/* The lists of the hw commands: devices, the figures of one, a comparison of two, problems in hardware files.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "base/units.h"
#include "hw/hwdb.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"
#include "write/tables/json_keys.h"
#include "write/tables/table.h"

enum { MAX_COLUMNS = 20 };

struct hw_cell {
    const char *text; /* NULL: empty */
    double value;     /* valid if number: in base units, for CSV and JSON */
    bool number;
};

struct hw_column {
    const char *key, *title; /* key: in CSV and JSON; title NULL: not in tables */
    bool right;
};

struct hw_table {
    const char *schema;
    const struct hw_column *column;
    size_t n_column;
    unsigned width_chars;               /* the last columns are left out where they do not fit; 0: no limit */
    struct hw_cell (*row)[MAX_COLUMNS]; /* heap */
    size_t n_row, cap_row;
    struct oc_arena arena;
};

static struct hw_cell text_cell(const char *s)
{
    return (struct hw_cell){.text = s};
}

static struct hw_cell figure_cell(const struct oc_hw_figure *f)
{
    return f ? (struct hw_cell){f->text, f->value, true} : (struct hw_cell){0};
}

/* 1.5e12 as "1.5 T" and so on; empty if not above 0 */
static struct hw_cell number_cell(struct hw_table *t, double value, const char *unit)
{
    static const struct {
        double scale;
        const char *prefix;
    } steps[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"},  {1e6, "M"},
                 {1e3, "k"},  {1, ""},     {1e-3, "m"}, {1e-6, "u"}};
    if (!(value > 0))
        return (struct hw_cell){0};
    size_t i = 0;
    while (*unit && i + 1 < OC_COUNT(steps) && value < steps[i].scale)
        i++;
    const char *text = *unit
                           ? oc_printf(&t->arena, "%.4g %s%s", value / steps[i].scale, steps[i].prefix, unit)
                           : oc_printf(&t->arena, "%.6g", value);
    return (struct hw_cell){text, value, true};
}

/* Appends a row of empty cells. */
static struct hw_cell *add_row(struct hw_table *t)
{
    OC_GROW(t->row, t->n_row, t->cap_row);
    memset(t->row[t->n_row], 0, sizeof(*t->row));
    return t->row[t->n_row++];
}

/* ---- formats ---------------------------------------------------------------------------------------- */

/* Below the table: the columns that do not fit. */
static void print_not_shown(const char *const *title, size_t first, size_t n, FILE *f)
{
    for (size_t c = first; c < n; c++)
        fprintf(f, "%s%s%s", c == first ? "(not shown: " : ", ", title[c],
                c + 1 < n ? "" : "; use --width or -f csv)\n");
}

static void print_text(void *of, FILE *f)
{
    const struct hw_table *t = of;
    const char *cell[MAX_COLUMNS], *title[MAX_COLUMNS] = {NULL};
    char kinds[MAX_COLUMNS + 1] = "";
    size_t index[MAX_COLUMNS], n = 0;
    for (size_t c = 0; c < t->n_column; c++) {
        if (!t->column[c].title)
            continue;
        kinds[n] = t->column[c].right ? 'n' : 't';
        index[n] = c;
        title[n++] = t->column[c].title;
    }
    struct oc_table p = {.kinds = kinds, .width_chars = t->width_chars, .headless = true};
    oc_table_row(&p, title);
    for (size_t i = 0; i < t->n_row; i++) {
        for (size_t c = 0; c < n; c++)
            cell[c] = t->row[i][index[c]].text ? t->row[i][index[c]].text : "-";
        oc_table_row(&p, cell);
    }
    print_not_shown(title, oc_table_print(&p, f), n, f);
}

static void row_fields(struct oc_fields *o, const void *of, size_t i)
{
    static const struct hw_cell none[MAX_COLUMNS] = {{0}};
    const struct hw_table *t = of;
    const struct hw_cell *cell = i < t->n_row ? t->row[i] : none;
    for (size_t c = 0; c < t->n_column; c++) {
        const char *key = t->column[c].key;
        if (!cell[c].number)
            oc_field_text(o, key, cell[c].text);
        else if (cell[c].value < 9e15 && cell[c].value == floor(cell[c].value))
            oc_field_u64(o, key, (uint64_t)cell[c].value);
        else
            oc_field_double(o, key, cell[c].value);
    }
}

static bool is_data(const char *format)
{
    return format && (strcmp(format, "csv") == 0 || strcmp(format, "json") == 0);
}

static int hw_write(struct hw_table *t, const char *format, FILE *f, struct oc_err *err)
{
    const struct oc_output out = {.what = "hw",
                                  .of = t,
                                  .text = print_text,
                                  .rows = OC_HEADED_ROWS(t->n_row, t, row_fields),
                                  .key = "rows",
                                  .schema = t->schema};
    int rc = oc_output_write(&out, is_data(format) ? format : NULL, f, err);
    free(t->row);
    oc_arena_free(&t->arena);
    return !rc && ferror(f) ? oc_fail(err, OC_EOUTPUT, "cannot write the devices") : rc;
}

/* ---- the list --------------------------------------------------------------------------------------- */

static const struct hw_column list_columns[] = {
    {"id", "id", false},
    {"kind", "kind", false},
    {"vendor", "vendor", false},
    {"f32_flop_per_s", "f32", true},
    {"f16_flop_per_s", "f16", true},
    {"i8_op_per_s", "i8", true},
    {"memory_bytes", "memory", true},
    {"memory_bytes_per_s", "bandwidth", true},
    {"tdp_w", "TDP", true},
    {"name", "name", false},
    {"sku", NULL, false},
    {"base", NULL, false},
    {"also", NULL, false},
    {"figures", NULL, false},
    {"file", NULL, false},
};

/* The highest dense peak of a class, or of the alternative class. */
static double best_peak(const struct oc_device *d, unsigned cls, unsigned other)
{
    double best = 0;
    for (unsigned u = OC_HW_VECTOR; u <= OC_HW_MATRIX; u++)
        for (unsigned k = 0; k < 2; k++) {
            const struct oc_hw_figure *f = d->peak[u][k ? other : cls];
            best = f && f->value > best ? f->value : best;
        }
    return best;
}

static const char *aliases(struct oc_arena *a, const struct oc_device_info *d)
{
    const char *text = NULL;
    for (size_t i = 0; i < d->n_alias; i++)
        text = text ? oc_printf(a, "%s; %s", text, d->alias[i]) : d->alias[i];
    return text;
}

static void list_row(struct hw_table *t, const struct oc_device *d)
{
    const struct oc_hw_level *dram = oc_device_dram(d);
    const struct hw_cell cell[] = {
        text_cell(d->info->id),
        text_cell(d->info->kind),
        text_cell(d->info->vendor),
        number_cell(t, best_peak(d, OC_CLASS_F32, OC_CLASS_F32), "FLOP/s"),
        number_cell(t, best_peak(d, OC_CLASS_F16, OC_CLASS_BF16), "FLOP/s"),
        number_cell(t, best_peak(d, OC_CLASS_I8, OC_CLASS_I8), "OP/s"),
        number_cell(t, dram && dram->size ? dram->size->value : 0, "B"),
        number_cell(t, dram && dram->bandwidth ? dram->bandwidth->value : 0, "B/s"),
        figure_cell(d->power),
        text_cell(d->info->name),
        text_cell(d->info->sku),
        text_cell(d->info->base),
        text_cell(aliases(&t->arena, d->info)),
        number_cell(t, (double)d->n_figure, ""),
        text_cell(d->info->file),
    };
    memcpy(add_row(t), cell, sizeof(cell));
}

int oc_hwdb_write_list(struct oc_hwdb *db, const char *format, unsigned width_chars, FILE *out,
                       struct oc_err *err)
{
    const struct oc_device *const *device;
    size_t n;
    struct hw_table t = {.schema = "onnxcost.hw.list",
                         .column = list_columns,
                         .n_column = OC_COUNT(list_columns),
                         .width_chars = width_chars};
    if (oc_hwdb_list(db, &device, &n, err))
        return -1;
    for (size_t i = 0; i < n; i++)
        list_row(&t, device[i]);
    return hw_write(&t, format, out, err);
}

/* ---- one device ------------------------------------------------------------------------------------- */

static const struct hw_column figure_columns[] = {
    {"group", "group", false},   {"what", "what", false},           {"accumulate", "into", false},
    {"value", "value", true},    {"unit", "unit", false},           {"dense", "dense", false},
    {"clock", "clock", false},   {"basis", "basis", false},         {"formula", "formula", false},
    {"source", "source", false}, {"section", "section", false},     {"url", "url", false},
    {"note", "note", false},     {"inherited_from", "from", false}, {"line", "line", true},
    {"isa", "isa", false},       {"mode", "mode", false},           {"cores", "cores", true},
};

static void figure_row(struct hw_table *t, const struct oc_hw_figure *f)
{
    const struct oc_hw_source *s = f->source[0];
    const char *title = s ? s->title : NULL;
    for (size_t i = 1; i < OC_HW_SOURCES && f->source[i]; i++)
        title = oc_printf(&t->arena, "%s; %s", title, f->source[i]->title);
    const struct hw_cell cell[] = {
        text_cell(f->group),
        text_cell(f->what),
        text_cell(f->accumulate),
        figure_cell(f),
        text_cell(f->unit),
        text_cell(!f->clock   ? NULL
                  : f->sparse ? "no"
                              : "yes"),
        text_cell(f->clock),
        text_cell(oc_basis_name(f->basis)),
        text_cell(f->formula),
        text_cell(title),
        text_cell(f->section ? f->section
                  : s        ? s->section
                             : NULL),
        text_cell(s ? s->url : NULL),
        text_cell(f->note),
        text_cell(f->base),
        number_cell(t, f->line, ""),
        text_cell(f->isa),
        text_cell(f->mode),
        text_cell(f->cores),
    };
    memcpy(add_row(t), cell, sizeof(cell));
}

int oc_device_write(const struct oc_device *d, const char *format, unsigned width_chars, FILE *out,
                    struct oc_err *err)
{
    OC_ENTRY(err);
    struct hw_table t = {
        .schema = "onnxcost.hw.show", .column = figure_columns, .n_column = OC_COUNT(figure_columns)};
    if (!is_data(format))
        return oc_device_describe(d, width_chars, out, err);
    for (size_t i = 0; i < d->n_figure; i++)
        figure_row(&t, &d->figure[i]);
    return hw_write(&t, format, out, err);
}

/* ---- two devices ------------------------------------------------------------------------------------ */

static const struct hw_column diff_columns[] = {
    {"figure", "figure", false}, {"a", "first", true},        {"b", "second", true}, {"ratio", "ratio", true},
    {"a_basis", "basis", false}, {"b_basis", "basis", false}, {"unit", NULL, false},
};

static const char *ratio_text(struct oc_arena *a, double ratio)
{
    return ratio >= 100 ? oc_printf(a, "%.0fx", ratio) : oc_printf(a, "%.3gx", ratio);
}

static void diff_row(struct hw_table *t, const char *name, const struct oc_hw_figure *a,
                     const struct oc_hw_figure *b)
{
    const struct oc_hw_figure *any = a ? a : b;
    if (!any)
        return;
    const char *unit = any->unit;
    struct hw_cell *cell = add_row(t);
    cell[0] = text_cell(name);
    cell[1] = figure_cell(a);
    cell[2] = figure_cell(b);
    if (a && b)
        cell[3] = (struct hw_cell){ratio_text(&t->arena, b->value / a->value), b->value / a->value, true};
    cell[4] = text_cell(a ? oc_basis_name(a->basis) : NULL);
    cell[5] = text_cell(b ? oc_basis_name(b->basis) : NULL);
    cell[6] = text_cell(*unit ? unit : NULL);
}

static void diff_group(struct hw_table *t, const char *group, const struct oc_device *a,
                       const struct oc_device *b)
{
    for (int second = 0; second < 2; second++) {
        const struct oc_device *d = second ? b : a;
        for (size_t i = 0; i < d->n_figure; i++) {
            const char *what = d->figure[i].what;
            if (strcmp(d->figure[i].group, group) == 0 && !(second && oc_hw_figure_of(a, group, what)))
                diff_row(t, oc_printf(&t->arena, "%s %s", group, what), oc_hw_figure_of(a, group, what),
                         oc_hw_figure_of(b, group, what));
        }
    }
}

/* Effective peaks: the dense one of each unit and class. */
static void diff_peaks(struct hw_table *t, const struct oc_device *a, const struct oc_device *b)
{
    for (unsigned u = 0; u < OC_HW_UNIT_COUNT; u++)
        for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
            diff_row(t, oc_printf(&t->arena, "%s %s", oc_hw_unit_name(u), oc_class_name(c)), a->peak[u][c],
                     b->peak[u][c]);
}

static const struct oc_hw_level *find_level(const struct oc_device *d, const char *name)
{
    for (size_t i = 0; i < d->n_level; i++)
        if (strcmp(d->level[i].name, name) == 0)
            return &d->level[i];
    return NULL;
}

static void diff_levels(struct hw_table *t, const struct oc_device *a, const struct oc_device *b)
{
    static const struct oc_hw_level none = {0};
    for (int second = 0; second < 2; second++) {
        const struct oc_device *d = second ? b : a;
        for (size_t i = 0; i < d->n_level; i++) {
            const char *name = d->level[i].name;
            const struct oc_hw_level *x = find_level(a, name), *y = find_level(b, name);
            if (second && x)
                continue;
            x = x ? x : &none;
            y = y ? y : &none;
            diff_row(t, oc_printf(&t->arena, "%s size", name), x->size, y->size);
            diff_row(t, oc_printf(&t->arena, "%s bandwidth", name), x->bandwidth, y->bandwidth);
        }
    }
}

int oc_device_write_diff(const struct oc_device *a, const struct oc_device *b, const char *format,
                         unsigned width_chars, FILE *out, struct oc_err *err)
{
    struct hw_table t = {.schema = "onnxcost.hw.diff",
                         .column = diff_columns,
                         .n_column = OC_COUNT(diff_columns),
                         .width_chars = width_chars};
    if (!is_data(format)) {
        oc_plain_say("first", 8, width_chars, oc_printf(&t.arena, "%s: %s", a->info->id, a->info->name), out);
        oc_plain_say("second", 8, width_chars, oc_printf(&t.arena, "%s: %s", b->info->id, b->info->name),
                     out);
        fputs("ratio   second / first\n\n", out);
    }
    diff_peaks(&t, a, b);
    diff_levels(&t, a, b);
    diff_group(&t, "count", a, b);
    diff_group(&t, "clock", a, b);
    diff_group(&t, "power", a, b);
    diff_group(&t, "overhead", a, b);
    diff_group(&t, "latency", a, b);
    return hw_write(&t, format, out, err);
}

/* ---- problems --------------------------------------------------------------------------------------- */

static const struct hw_column problem_columns[] = {
    {"file", "file", false}, {"line", "line", true}, {"text", "text", false}};

int oc_hw_lint_write(const struct oc_hw_lint *l, const char *format, FILE *out, struct oc_err *err)
{
    OC_ENTRY(err);
    struct hw_table t = {
        .schema = "onnxcost.hw.lint", .column = problem_columns, .n_column = OC_COUNT(problem_columns)};
    const struct oc_hw_finding *f;
    size_t n = oc_hw_lint_findings(l, &f);
    for (size_t i = 0; i < n && is_data(format); i++) {
        struct hw_cell *cell = add_row(&t);
        cell[0] = text_cell(f[i].file);
        cell[1] = number_cell(&t, f[i].line, "");
        cell[2] = text_cell(f[i].text);
    }
    if (is_data(format))
        return hw_write(&t, format, out, err);
    for (size_t i = 0; i < n; i++)
        oc_print_line(out, "%s:%u: %s", f[i].file, f[i].line, f[i].text);
    fprintf(
        out,
        "%zu device%s with %zu figure%s in %zu file%s, %zu recomputed from their formulas: %zu problem%s\n",
        l->list.n, oc_plural(l->list.n), l->n_figure, oc_plural(l->n_figure), l->n_file, oc_plural(l->n_file),
        l->n_recomputed, n, oc_plural(n));
    return ferror(out) ? oc_fail(err, OC_EOUTPUT, "cannot write the problems") : 0;
}
