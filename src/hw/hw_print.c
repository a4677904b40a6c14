/* Tables of devices: the list, the figures of one, and a comparison of two. */
#include <math.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/wrap.h"
#include "hw/hw_table.h"
#include "hw/hwdb.h"

static int hw_print_write_table(struct oc_hw_table *t, const char *format, FILE *out, struct oc_err *err)
{
    oc_hw_table_print(t, format, out);
    oc_hw_table_free(t);
    oc_arena_free(t->arena);
    return ferror(out) ? oc_fail(err, OC_EOUTPUT, "cannot write the devices") : 0;
}

/* ---- the list --------------------------------------------------------------------------------------- */

static const struct oc_hw_column list_columns[] = {
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

static void list_row(struct oc_hw_table *t, const struct oc_device *d)
{
    const struct oc_hw_level *dram = oc_device_dram(d);
    const struct oc_hw_cell cell[] = {
        oc_hw_text(d->info.id),
        oc_hw_text(d->info.kind),
        oc_hw_text(d->info.vendor),
        oc_hw_number(t->arena, best_peak(d, OC_CLASS_F32, OC_CLASS_F32), "FLOP/s"),
        oc_hw_number(t->arena, best_peak(d, OC_CLASS_F16, OC_CLASS_BF16), "FLOP/s"),
        oc_hw_number(t->arena, best_peak(d, OC_CLASS_I8, OC_CLASS_I8), "OP/s"),
        oc_hw_number(t->arena, dram && dram->size ? dram->size->value : 0, "B"),
        oc_hw_number(t->arena, dram && dram->bandwidth ? dram->bandwidth->value : 0, "B/s"),
        d->power ? (struct oc_hw_cell){d->power->text, d->power->value, true} : oc_hw_text(NULL),
        oc_hw_text(d->info.name),
        oc_hw_text(d->info.sku),
        oc_hw_text(d->info.base),
        oc_hw_text(aliases(t->arena, &d->info)),
        oc_hw_number(t->arena, (double)d->n_figure, ""),
        oc_hw_text(d->info.file),
    };
    memcpy(oc_hw_row(t), cell, sizeof(cell));
}

int oc_hwdb_write_list(struct oc_hwdb *db, const char *format, unsigned width_chars, FILE *out,
                       struct oc_err *err)
{
    const struct oc_device *const *device;
    size_t n;
    struct oc_arena arena = {0};
    struct oc_hw_table t = {.arena = &arena,
                            .column = list_columns,
                            .n_column = OC_COUNT(list_columns),
                            .width_chars = width_chars};
    if (oc_hwdb_list(db, &device, &n, err))
        return -1;
    for (size_t i = 0; i < n; i++)
        list_row(&t, device[i]);
    return hw_print_write_table(&t, format, out, err);
}

/* ---- one device ------------------------------------------------------------------------------------- */

static const struct oc_hw_column figure_columns[] = {
    {"group", "group", false},   {"what", "what", false},           {"accumulate", "into", false},
    {"value", "value", true},    {"unit", "unit", false},           {"dense", "dense", false},
    {"clock", "clock", false},   {"basis", "basis", false},         {"formula", "formula", false},
    {"source", "source", false}, {"section", "section", false},     {"url", "url", false},
    {"note", "note", false},     {"inherited_from", "from", false}, {"line", "line", true},
    {"isa", "isa", false},       {"mode", "mode", false},           {"cores", "cores", true},
};

static void figure_row(struct oc_hw_table *t, const struct oc_hw_figure *f)
{
    const struct oc_hw_source *s = f->source[0];
    const char *title = s ? s->title : NULL;
    for (size_t i = 1; i < OC_HW_SOURCES && f->source[i]; i++)
        title = oc_printf(t->arena, "%s; %s", title, f->source[i]->title);
    const struct oc_hw_cell cell[] = {
        oc_hw_text(f->group),
        oc_hw_text(f->what),
        oc_hw_text(f->accumulate),
        {f->text, f->value, true},
        oc_hw_text(f->unit),
        oc_hw_text(!f->clock   ? NULL
                   : f->sparse ? "no"
                               : "yes"),
        oc_hw_text(f->clock),
        oc_hw_text(oc_basis_name(f->basis)),
        oc_hw_text(f->formula),
        oc_hw_text(title),
        oc_hw_text(f->section ? f->section
                   : s        ? s->section
                              : NULL),
        oc_hw_text(s ? s->url : NULL),
        oc_hw_text(f->note),
        oc_hw_text(f->base),
        oc_hw_number(t->arena, f->line, ""),
        oc_hw_text(f->isa),
        oc_hw_text(f->mode),
        oc_hw_text(f->cores),
    };
    memcpy(oc_hw_row(t), cell, sizeof(cell));
}

int oc_device_write(const struct oc_device *d, const char *format, unsigned width_chars, FILE *out,
                    struct oc_err *err)
{
    OC_C_LOCALE;
    struct oc_arena arena = {0};
    struct oc_hw_table t = {.arena = &arena, .column = figure_columns, .n_column = OC_COUNT(figure_columns)};
    if (!format || (strcmp(format, "csv") != 0 && strcmp(format, "json") != 0))
        return oc_device_describe(d, width_chars, out, err);
    for (size_t i = 0; i < d->n_figure; i++)
        figure_row(&t, &d->figure[i]);
    return hw_print_write_table(&t, format, out, err);
}

/* ---- two devices ------------------------------------------------------------------------------------ */

static const struct oc_hw_column diff_columns[] = {
    {"figure", "figure", false}, {"a", "first", true},        {"b", "second", true}, {"ratio", "ratio", true},
    {"a_basis", "basis", false}, {"b_basis", "basis", false}, {"unit", NULL, false},
};

static const char *ratio_text(struct oc_arena *a, double ratio)
{
    return ratio >= 100 ? oc_printf(a, "%.0fx", ratio) : oc_printf(a, "%.3gx", ratio);
}

static void diff_row(struct oc_hw_table *t, const char *name, const struct oc_hw_figure *a,
                     const struct oc_hw_figure *b)
{
    const struct oc_hw_figure *any = a ? a : b;
    if (!any)
        return;
    const char *unit = any->unit;
    struct oc_hw_cell *cell = oc_hw_row(t);
    cell[0] = oc_hw_text(name);
    if (a)
        cell[1] = (struct oc_hw_cell){a->text, a->value, true};
    if (b)
        cell[2] = (struct oc_hw_cell){b->text, b->value, true};
    if (a && b)
        cell[3] = (struct oc_hw_cell){ratio_text(t->arena, b->value / a->value), b->value / a->value, true};
    cell[4] = oc_hw_text(a ? oc_basis_name(a->basis) : NULL);
    cell[5] = oc_hw_text(b ? oc_basis_name(b->basis) : NULL);
    cell[6] = oc_hw_text(*unit ? unit : NULL);
}

static const struct oc_hw_figure *find_figure(const struct oc_device *d, const char *group, const char *what)
{
    for (size_t i = 0; i < d->n_figure; i++)
        if (strcmp(d->figure[i].group, group) == 0 && strcmp(d->figure[i].what, what) == 0)
            return &d->figure[i];
    return NULL;
}

static void diff_group(struct oc_hw_table *t, const char *group, const struct oc_device *a,
                       const struct oc_device *b)
{
    for (int second = 0; second < 2; second++) {
        const struct oc_device *d = second ? b : a;
        for (size_t i = 0; i < d->n_figure; i++) {
            const char *what = d->figure[i].what;
            if (strcmp(d->figure[i].group, group) == 0 && !(second && find_figure(a, group, what)))
                diff_row(t, oc_printf(t->arena, "%s %s", group, what), find_figure(a, group, what),
                         find_figure(b, group, what));
        }
    }
}

/* Effective peaks: the dense one of each unit and class. */
static void diff_peaks(struct oc_hw_table *t, const struct oc_device *a, const struct oc_device *b)
{
    for (unsigned u = 0; u < OC_HW_UNIT_COUNT; u++)
        for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
            diff_row(t, oc_printf(t->arena, "%s %s", oc_hw_unit_name(u), oc_class_name(c)), a->peak[u][c],
                     b->peak[u][c]);
}

static const struct oc_hw_level *hw_print_find_level(const struct oc_device *d, const char *name)
{
    for (size_t i = 0; i < d->n_level; i++)
        if (strcmp(d->level[i].name, name) == 0)
            return &d->level[i];
    return NULL;
}

static void diff_levels(struct oc_hw_table *t, const struct oc_device *a, const struct oc_device *b)
{
    static const struct oc_hw_level none = {0};
    for (int second = 0; second < 2; second++) {
        const struct oc_device *d = second ? b : a;
        for (size_t i = 0; i < d->n_level; i++) {
            const char *name = d->level[i].name;
            const struct oc_hw_level *x = hw_print_find_level(a, name), *y = hw_print_find_level(b, name);
            if (second && x)
                continue;
            x = x ? x : &none;
            y = y ? y : &none;
            diff_row(t, oc_printf(t->arena, "%s size", name), x->size, y->size);
            diff_row(t, oc_printf(t->arena, "%s bandwidth", name), x->bandwidth, y->bandwidth);
        }
    }
}

int oc_device_write_diff(const struct oc_device *a, const struct oc_device *b, const char *format,
                         unsigned width_chars, FILE *out, struct oc_err *err)
{
    struct oc_arena arena = {0};
    struct oc_hw_table t = {.arena = &arena,
                            .column = diff_columns,
                            .n_column = OC_COUNT(diff_columns),
                            .width_chars = width_chars};
    bool text = !format || (strcmp(format, "csv") != 0 && strcmp(format, "json") != 0);
    if (text) {
        oc_plain_say("first", 8, width_chars, oc_printf(&arena, "%s: %s", a->info.id, a->info.name), out);
        oc_plain_say("second", 8, width_chars, oc_printf(&arena, "%s: %s", b->info.id, b->info.name), out);
        fputs("ratio   second / first\n\n", out);
    }
    diff_peaks(&t, a, b);
    diff_levels(&t, a, b);
    diff_group(&t, "count", a, b);
    diff_group(&t, "clock", a, b);
    diff_group(&t, "power", a, b);
    diff_group(&t, "overhead", a, b);
    diff_group(&t, "latency", a, b);
    return hw_print_write_table(&t, format, out, err);
}
