/* hw/: Hardware files: reading, inheritance, checks. The data is in hwdb/: a device needs no code here. An
 * unknown figure stays unknown.
 * Private to the folder: hw_reader.h. */

#include "hw/hwdb.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/c_locale.h"
#include "base/diag.h"
#include "base/unicode.h"
#include "base/units.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"

struct unit {
    const char *name;
    double scale;
};

static const struct unit flop_units[] = {{"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}, {0}};
static const struct unit op_units[] = {{"GOP/s", 1e9}, {"TOP/s", 1e12}, {"POP/s", 1e15}, {0}};
static const struct unit byte_units[] = {
    {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {0},
};
static const struct unit rate_units[] = {{"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}, {0}};
static const struct unit hz_units[] = {{"MHz", 1e6}, {"GHz", 1e9}, {0}};
static const struct unit watt_units[] = {{"W", 1.0}, {0}};
static const struct unit time_units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {0}};

static const struct {
    const char *base, *choices;
    const struct unit *unit;
} quantities[OC_Q_QUANTITIES] = {
    [OC_Q_COUNT] = {"", "no unit", NULL},
    [OC_Q_FLOP_PER_S] = {"FLOP/s", "GFLOP/s, TFLOP/s or PFLOP/s", flop_units},
    [OC_Q_OP_PER_S] = {"OP/s", "GOP/s, TOP/s or POP/s", op_units},
    [OC_Q_BYTES] = {"B", "KiB, MiB, GiB, kB, MB or GB", byte_units},
    [OC_Q_BYTES_PER_S] = {"B/s", "MB/s, GB/s or TB/s", rate_units},
    [OC_Q_HZ] = {"Hz", "MHz or GHz", hz_units},
    [OC_Q_SECONDS] = {"s", "ns, us or ms", time_units},
    [OC_Q_WATTS] = {"W", "W", watt_units},
};

static const struct unit formula_words[] = {
    {"kHz", 1e3},          {"MHz", 1e6},     {"GHz", 1e9},      {"MT/s", 1e6},   {"GT/s", 1e9},
    {"Mbit/s", 1e6},       {"Gbit/s", 1e9},  {"MB/s", 1e6},     {"GB/s", 1e9},   {"TB/s", 1e12},
    {"kB", 1e3},           {"MB", 1e6},      {"GB", 1e9},       {"KiB", 1024.0}, {"MiB", 1048576.0},
    {"GiB", 1073741824.0}, {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"GOP/s", 1e9},  {"TOP/s", 1e12},
    {"PFLOP/s", 1e15},     {"POP/s", 1e15},  {"us", 1e-6},
};

const char *oc_quantity_unit(enum oc_quantity q)
{
    return quantities[q].base;
}

const char *oc_quantity_choices(enum oc_quantity q)
{
    return quantities[q].choices;
}

static size_t number_length(const char *s)
{
    return strspn(s, "0123456789.");
}

/* Digits with at most one point; no sign, exponent, nan, inf or hexadecimal. */
static bool device_plain_number(const char *s, size_t n, double *out)
{
    return n > 0 && n <= 32 && s[0] != '.' && s[n - 1] != '.' && oc_parse_double(s, n, out) &&
           isfinite(*out) && *out > 0;
}

bool oc_figure_value(const char *number, double *out)
{
    size_t n = strlen(number);
    return n == number_length(number) && device_plain_number(number, n, out);
}

bool oc_figure_scale(enum oc_quantity q, const char *unit, double *scale)
{
    if (q == OC_Q_COUNT) {
        *scale = 1;
        return unit[0] == '\0';
    }
    for (const struct unit *u = quantities[q].unit; u->name; u++)
        if (strcmp(u->name, unit) == 0) {
            *scale = u->scale;
            return true;
        }
    return false;
}

static double word_scale(const char *s, size_t n)
{
    for (size_t i = 0; i < OC_COUNT(formula_words); i++)
        if (strlen(formula_words[i].name) == n && memcmp(formula_words[i].name, s, n) == 0)
            return formula_words[i].scale;
    return 1;
}

static bool device_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Parses one factor at *s: a number and the words after it, up to an operator or the end. */
static bool read_factor(const char **s, double *out)
{
    const char *p = *s + strspn(*s, " ");
    size_t n = number_length(p);
    *s = p;
    if (!device_plain_number(p, n, out))
        return false;
    p += n;
    while (*p == ' ' && device_is_letter(p[1])) {
        size_t len = strcspn(++p, " ");
        *out *= word_scale(p, len);
        p += len;
    }
    *s = p + strspn(p, " ");
    return true;
}

/* Terms of factors; '*' and '/' have higher precedence than '+'. */
bool oc_formula_value(const char *formula, double *out, const char **bad)
{
    const char *s = formula;
    double sum = 0, product = 1, factor;
    char op = '*';
    while (read_factor(&s, &factor)) {
        product = op == '/' ? product / factor : product * factor;
        op = *s;
        if (op == '\0' || op == '+') {
            sum += product;
            product = 1;
        }
        if (op == '\0') {
            *out = sum;
            return isfinite(sum);
        }
        if (op != '*' && op != '/' && op != '+')
            break;
        s++;
    }
    *bad = s;
    return false;
}

size_t oc_formula_words(const char *formula, struct oc_formula_word *out, size_t n)
{
    size_t count = 0;
    const char *s = formula;
    while (count < n && *s) {
        s += strspn(s, " */+");
        size_t len = number_length(s);
        if (!device_plain_number(s, len, &out[count].number))
            break;
        s += len;
        size_t word = *s == ' ' && device_is_letter(s[1]) ? strcspn(s + 1, " ") : 0;
        snprintf(out[count++].word, sizeof(out->word), "%.*s", (int)word, s + 1);
        s += strcspn(s, "*/+");
        while (*s == '/' && s[1] != ' ') /* part of a unit: FLOP/cycle */
            s += 1 + strcspn(s + 1, "*/+");
    }
    return count;
}

/* ---- device ----------------------------------------------------------------------------------------- */

const struct oc_device_info *oc_device_info(const struct oc_device *device)
{
    return device->info;
}

size_t oc_device_figures(const struct oc_device *device, const struct oc_hw_figure **out)
{
    *out = device->figure;
    return device->n_figure;
}

const struct oc_hw_figure *oc_hw_figure_of(const struct oc_device *d, const char *group, const char *what)
{
    for (size_t i = 0; i < d->n_figure; i++)
        if (strcmp(d->figure[i].group, group) == 0 && (!what || strcmp(d->figure[i].what, what) == 0))
            return &d->figure[i];
    return NULL;
}

uint32_t oc_device_threads(const struct oc_device *d)
{
    const struct oc_hw_figure *n = oc_hw_figure_of(d, "count", "thread");
    n = n ? n : oc_hw_figure_of(d, "count", "core");
    return n && n->value >= 1 && n->value < UINT32_MAX ? (uint32_t)n->value : 0;
}

const struct oc_hw_level *oc_device_dram(const struct oc_device *d)
{
    return d->n_level ? &d->level[d->n_level - 1] : NULL;
}

/* ---- as text ---------------------------------------------------------------------------------------- */

enum { COL_FIGURE, COL_VALUE, COL_BASIS, COL_CLOCK, COL_SOURCE, COL_COUNT };

struct text {
    const char *(*line)[COL_COUNT]; /* a heading and one line per figure */
    size_t n_line, width[COL_COUNT];
    unsigned width_chars;
    const struct oc_hw_source **source; /* in the order of first use: [1], [2] ... */
    size_t n_source;
};

static size_t source_number(struct text *t, const struct oc_hw_source *s)
{
    size_t i = 0;
    while (i < t->n_source && t->source[i] != s)
        i++;
    if (i == t->n_source)
        t->source[t->n_source++] = s;
    return i + 1;
}

static const char *source_cell(struct text *t, struct oc_arena *a, const struct oc_hw_figure *f)
{
    const char *cell = "";
    for (size_t i = 0; i < OC_HW_SOURCES && f->source[i]; i++)
        cell = oc_printf(a, "%s[%zu]", cell, source_number(t, f->source[i]));
    return f->section ? oc_printf(a, "%s %s", cell, f->section) : *cell ? cell : "-";
}

static void device_add_line(struct text *t, const char *const cell[COL_COUNT])
{
    for (size_t c = 0; c < COL_COUNT; c++) {
        size_t n = strlen(cell[c]);
        t->line[t->n_line][c] = cell[c];
        t->width[c] = n > t->width[c] ? n : t->width[c];
    }
    t->n_line++;
}

/* "vector f32, avx2, 1 core" */
static const char *figure_name(struct oc_arena *a, const struct oc_hw_figure *f)
{
    return oc_printf(a, "%s %s%s%s%s%s%s%s%s%s%s%s", f->group, f->what, f->accumulate ? " into " : "",
                     f->accumulate ? f->accumulate : "", f->sparse ? " (sparse)" : "", f->isa ? ", " : "",
                     f->isa ? f->isa : "", f->mode ? ", " : "", f->mode ? f->mode : "", f->cores ? ", " : "",
                     f->cores ? f->cores : "",
                     !f->cores                    ? ""
                     : strcmp(f->cores, "1") == 0 ? " core"
                                                  : " cores");
}

static void layout(struct text *t, struct oc_arena *a, const struct oc_device *d)
{
    static const char *const heading[COL_COUNT] = {"figure", "value", "basis", "clock", "source"};
    t->line = oc_alloc_array(a, d->n_figure + 1, sizeof(*t->line));
    t->source = OC_NEW_ARRAY(a, d->n_figure * OC_HW_SOURCES + 1, const struct oc_hw_source *);
    device_add_line(t, heading);
    for (size_t i = 0; i < d->n_figure; i++) {
        const struct oc_hw_figure *f = &d->figure[i];
        const char *const cell[COL_COUNT] = {
            [COL_FIGURE] = figure_name(a, f),      [COL_VALUE] = f->text,
            [COL_BASIS] = oc_basis_name(f->basis), [COL_CLOCK] = f->clock ? f->clock : "-",
            [COL_SOURCE] = source_cell(t, a, f),
        };
        device_add_line(t, cell);
    }
}

static void device_print_line(FILE *out, const struct text *t, size_t i)
{
    struct oc_buf b = {0};
    size_t indent = 0;
    for (size_t c = 0; c + 1 < COL_COUNT; c++) {
        oc_buf_printf(&b, "%-*s  ", (int)t->width[c], t->line[i][c]);
        indent += t->width[c] + 2;
    }
    oc_plain_say(oc_make_visible(b.data), indent, t->width_chars, t->line[i][COL_COUNT - 1], out);
    oc_buf_free(&b);
}

static void print_figures(const struct oc_device *d, unsigned width_chars, FILE *out, struct oc_arena *a)
{
    struct text t = {.width_chars = width_chars};
    layout(&t, a, d);
    device_print_line(out, &t, 0);
    for (size_t i = 0; i < d->n_figure; i++) {
        device_print_line(out, &t, i + 1);
        if (d->figure[i].formula)
            oc_plain_say("    =", 6, width_chars, d->figure[i].formula, out);
        if (d->figure[i].note)
            oc_plain_say("", 4, width_chars, d->figure[i].note, out);
    }
    if (d->f16_fallback)
        oc_plain_say("", 0, width_chars, "f16 work runs on the vector unit at its f32 peak", out);
    fprintf(out, "%s", t.n_source ? "\n" : "");
    for (size_t i = 0; i < t.n_source; i++) {
        const struct oc_hw_source *s = t.source[i];
        oc_plain_say(oc_printf(a, "[%zu]", i + 1), 4, width_chars,
                     oc_printf(a, "%s%s%s", s->title, s->section ? ", " : "", s->section ? s->section : ""),
                     out);
        if (s->url)
            oc_plain_say("", 4, width_chars, s->url, out);
    }
}

int oc_device_describe(const struct oc_device *device, unsigned width_chars, FILE *out, struct oc_err *err)
{
    OC_ENTRY(err);
    const struct oc_device_info *info = device->info;
    struct oc_arena scratch = {0};
    const char *also = "";
    for (size_t i = 0; i < info->n_alias; i++)
        also = oc_printf(&scratch, "%s%s%s", also, i ? ", " : "", info->alias[i]);
    const struct {
        const char *label, *text;
    } line[] = {
        {"", oc_printf(&scratch, "%s: %s (%s, %s)", info->id, info->name, info->vendor, info->kind)},
        {"also: ", *also ? also : NULL},
        {"sku: ", info->sku},
        {"base: ", info->base},
        {"file: ", info->file},
    };
    for (size_t i = 0; i < OC_COUNT(line); i++)
        if (line[i].text)
            oc_plain_say(line[i].label, strlen(line[i].label), width_chars, line[i].text, out);
    for (size_t i = 0; i < info->n_set; i++)
        oc_plain_say("set: ", 5, width_chars,
                     oc_printf(&scratch, "%s = %s (in the file: %s)", info->set[i].key, info->set[i].value,
                               info->set[i].before ? info->set[i].before : "nothing"),
                     out);
    fprintf(out, "\n");
    print_figures(device, width_chars, out, &scratch);
    oc_arena_free(&scratch);
    return ferror(out) ? oc_fail(err, OC_EOUTPUT, "cannot write the device '%s'", info->id) : 0;
}
