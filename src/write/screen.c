/* The report on a terminal: one table that fits the screen, of signatures or of the largest operators; with -v both. */
#include "write/screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "base/units.h"
#include "join/join.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "report/columns.h"
#include "report/headline.h"
#include "report/names.h"
#include "report/report.h"
#include "write/tables/table.h"

enum { MOST_GROUPS = 10 };

bool oc_screen_is_default(const struct oc_report_opts *o)
{
    return !o->style && !o->has_top && !o->order_by && !o->n_name_pattern && !o->n_type &&
           !o->n_input_dtype && !oc_report_grouped(o) && !o->top_end_key && !o->min_time && !o->max_time &&
           !o->print_only && !o->show_host && !o->confluence && !o->dump_only_opr && !o->roofline &&
           !oc_what_if_asked(o);
}

/* ---- what is measured ------------------------------------------------------------------------------- */

static double roofline_sum(const struct oc_report *r)
{
    double sum = 0;
    for (uint32_t i = 0; i < r->all.n && r->in->device; i++)
        sum += oc_screen_known(r->all.row[i].roofline_s);
    return sum;
}

/* What a row is. */
static const char *row_noun(const struct oc_report *r)
{
    return r->in->profile && r->in->profile->functions ? "function" : "operator";
}

bool oc_screen_by_roofline(const struct oc_report *r)
{
    return !r->has_time && roofline_sum(r) > 0;
}

static void choose_measure(struct screen *s)
{
    const struct oc_report *r = s->r;
    s->measure = r->has_time                ? MEASURE_TIME
                 : r->has_share             ? MEASURE_SHARE
                 : oc_screen_by_roofline(r) ? MEASURE_ROOFLINE
                                            : MEASURE_WORK;
    s->total = s->measure == MEASURE_TIME       ? r->total_s
               : s->measure == MEASURE_SHARE    ? 1
               : s->measure == MEASURE_ROOFLINE ? roofline_sum(r)
                                                : r->total_flo;
}

/* ---- columns ---------------------------------------------------------------------------------------- */

enum unit {
    UNIT_TEXT,
    UNIT_COUNT,
    UNIT_CALLS, /* printed if some operator has a value other than one */
    UNIT_TIME,
    UNIT_PERCENT,
    UNIT_SUM, /* columns between this one and the previous one */
    UNIT_FLOPS,
    UNIT_BYTES,
    UNIT_PLAIN
};

struct spec {
    const char *title; /* NULL: the title of the screen */
    uint8_t unit, drop, min_width;
    bool marked; /* with the quality of the row's counts */
    double (*number)(const struct screen *s, const struct oc_row *row);
    const char *(*text)(const struct screen *s, const struct oc_row *row);
};

#define NUMBER(name, value)                                                                                  \
    static double name(const struct screen *s, const struct oc_row *row)                                     \
    {                                                                                                        \
        (void)s;                                                                                             \
        return (value);                                                                                      \
    }
NUMBER(get_count, row->remainder ? (double)NAN : (double)row->count)
NUMBER(get_calls, row->calls)
NUMBER(get_time, row->time_s)
NUMBER(get_share, 100 * oc_screen_measured(s, row) / s->total)
NUMBER(get_flops, row->computation)
NUMBER(get_bytes, row->memory)
NUMBER(get_flop_rate, oc_row_flops(row) * 1e-9)
NUMBER(get_byte_rate, oc_row_bandwidth(row) * 1e-9)
NUMBER(get_intensity, row->memory > 0 ? row->computation / row->memory : (double)NAN)
NUMBER(get_roofline, row->roofline_s)
NUMBER(get_gap, row->wasted_s)

/* Time of one call on the host clock: comparable with the run time only on that clock. The column of times
 * has it where the statistic is the minimum. */
static double get_min(const struct screen *s, const struct oc_row *row)
{
    const struct oc_profile *p = s->r->in->profile;
    const struct oc_prof_rec *rec = p && row->record != OC_NONE ? &p->rec[row->record] : NULL;
    bool other = p && p->stat != OC_STAT_MIN;
    return rec && other && isnan(rec->kernel_ns) && row->calls == 1 ? row->min_s : (double)NAN;
}

/* Where the work differs between the runs. */
static double get_max(const struct screen *s, const struct oc_row *row)
{
    return oc_report_sizes(s->r) ? row->max_s : (double)NAN;
}

/* Of a row far beyond its class (oc_anomalies_of), or of a group with such rows. */
static double get_expected(const struct screen *s, const struct oc_row *row)
{
    const struct oc_anomaly *a;
    uint32_t n = oc_anomalies_of(s->r, &a);
    double lost = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct oc_row *one = a[i].row;
        bool in = s->groups ? one->group && !strcmp(one->group, row->group)
                            : one->record == row->record && one->node == row->node;
        lost += in ? one->time_s * a[i].lost_ns / a[i].time_ns : 0;
    }
    return lost > 0 ? row->time_s - lost : (double)NAN;
}

/* "{1,64,56,56}" to "1x64x56x56" */
static const char *plain_shapes(struct oc_arena *arena, const char *text)
{
    char *out = oc_strdup(arena, text), *to = out;
    bool inside = false;
    for (const char *p = text; *p; p++) {
        inside = *p == '{' ? true : *p == '}' ? false : inside;
        if (*p == '{' && p[1] == '}')
            to = stpcpy(to, "1"); /* a scalar: one element, as long as "{}" allows */
        if (*p != '{' && *p != '}')
            *to++ = (char)(inside && *p == ',' ? 'x' : *p);
    }
    *to = '\0';
    return out;
}

/* The type and the shapes of the first two inputs: bytes at the start of a signature. */
static size_t short_signature(const char *text)
{
    const char *end = strchr(text, '}'), *second = end && end[1] == ',' ? strchr(end + 1, '}') : NULL;
    end = second ? second : end;
    return end ? (size_t)(end + 1 - text) : strlen(text);
}

/* Groups with equal short signatures are distinguished by all of their shapes. */
static const char *get_group(const struct screen *s, const struct oc_row *row)
{
    const struct oc_rows *g = &s->r->shown;
    const char *text = row->group ? row->group : "?";
    size_t n = short_signature(text);
    for (uint32_t i = 0; i < g->n; i++)
        if (&g->row[i] != row && strncmp(g->row[i].group, text, n) == 0)
            n = strlen(text);
    return plain_shapes(&s->r->arena, oc_strndup(&s->r->arena, text, n));
}

static const char *get_name(const struct screen *s, const struct oc_row *row)
{
    return s->groups ? get_group(s, row) : row->name;
}

static const char *get_type(const struct screen *s, const struct oc_row *row)
{
    (void)s;
    return row->type;
}

static const char *get_place(const struct screen *s, const struct oc_row *row)
{
    return s->groups ? NULL : row->place;
}

/* Shapes of the first two inputs. */
static const char *get_inputs(const struct screen *s, const struct oc_row *row)
{
    const char *text = NULL;
    for (uint32_t i = 0; i < row->n_in && i < 2 && row->in_state == OC_SHAPES_KNOWN; i++)
        text = oc_printf(&s->r->arena, "%s%s%s", text ? text : "", i ? "," : "",
                         row->in[i].text ? row->in[i].text : "?");
    return text ? plain_shapes(&s->r->arena, text) : NULL;
}

static const char *get_bound(const struct screen *s, const struct oc_row *row)
{
    (void)s;
    return row->bound_by ? oc_bound_short(row->bound_by) : NULL;
}

/* With -v: the line of the program, without folders. */
static const char *get_source(const struct screen *s, const struct oc_row *row)
{
    struct oc_origin from = {NULL, NULL, NULL};
    uint32_t node = s->r->o->verbose && s->r->in->model ? oc_row_node(s->r, row) : OC_NONE;
    if (node != OC_NONE)
        oc_node_origin(s->r->in->model, node, &s->r->arena, &from);
    return from.source ? oc_base_name(from.source) : NULL;
}

enum { NAME_WIDTH = 26, TYPE_WIDTH = 8 };
static const struct spec timed[] = {
    {.unit = UNIT_TEXT, .min_width = NAME_WIDTH, .text = get_name},
    {.title = "device", .unit = UNIT_TEXT, .min_width = TYPE_WIDTH, .text = get_place},
    {.title = "type", .unit = UNIT_TEXT, .min_width = TYPE_WIDTH, .drop = 10, .text = get_type},
    {.title = "inputs", .unit = UNIT_TEXT, .min_width = TYPE_WIDTH, .drop = 10, .text = get_inputs},
    {.title = "ops", .unit = UNIT_COUNT, .drop = 1, .number = get_count},
    {.title = "calls", .unit = UNIT_CALLS, .drop = 6, .number = get_calls},
    {.title = "min", .unit = UNIT_TIME, .drop = 9, .number = get_min},
    {.title = "max", .unit = UNIT_TIME, .drop = 9, .number = get_max},
    {.unit = UNIT_TIME, .number = get_time},
    {.title = "expected", .unit = UNIT_TIME, .drop = 2, .number = get_expected},
    {.title = "%", .unit = UNIT_PERCENT, .number = get_share},
    {.title = "cum %", .unit = UNIT_SUM, .drop = 5, .number = get_share},
    {.title = "GFLOP/s", .unit = UNIT_PLAIN, .drop = 3, .marked = true, .number = get_flop_rate},
    {.title = "GB/s", .unit = UNIT_PLAIN, .drop = 4, .marked = true, .number = get_byte_rate},
    {.title = "bound by", .unit = UNIT_TEXT, .drop = 2, .text = get_bound},
    {.title = "gap", .unit = UNIT_TIME, .drop = 1, .number = get_gap},
    {.title = "source line", .unit = UNIT_TEXT, .min_width = TYPE_WIDTH, .drop = 11, .text = get_source},
};
static const struct spec sampled[] = {
    {.unit = UNIT_TEXT, .min_width = NAME_WIDTH, .text = get_name},
    {.title = "type", .unit = UNIT_TEXT, .min_width = TYPE_WIDTH, .drop = 3, .text = get_type},
    {.title = "ops", .unit = UNIT_COUNT, .drop = 1, .number = get_count},
    {.title = "%", .unit = UNIT_PERCENT, .number = get_share},
    {.title = "cum %", .unit = UNIT_SUM, .drop = 2, .number = get_share},
};
static const struct spec counted[] = {
    {.unit = UNIT_TEXT, .min_width = NAME_WIDTH, .text = get_name},
    {.title = "type", .unit = UNIT_TEXT, .min_width = TYPE_WIDTH, .drop = 5, .text = get_type},
    {.title = "inputs", .unit = UNIT_TEXT, .min_width = TYPE_WIDTH, .drop = 5, .text = get_inputs},
    {.title = "ops", .unit = UNIT_COUNT, .drop = 3, .number = get_count},
    {.title = "FLOPs", .unit = UNIT_FLOPS, .marked = true, .number = get_flops},
    {.title = "%", .unit = UNIT_PERCENT, .number = get_share},
    {.title = "cum %", .unit = UNIT_SUM, .drop = 4, .number = get_share},
    {.title = "B", .unit = UNIT_BYTES, .marked = true, .drop = 1, .number = get_bytes},
    {.title = "FLOP/B", .unit = UNIT_PLAIN, .marked = true, .drop = 2, .number = get_intensity},
    {.title = "source line", .unit = UNIT_TEXT, .min_width = TYPE_WIDTH, .drop = 11, .text = get_source},
};
static const struct spec limited[] = {
    {.unit = UNIT_TEXT, .min_width = NAME_WIDTH, .text = get_name},
    {.title = "type", .unit = UNIT_TEXT, .min_width = TYPE_WIDTH, .drop = 6, .text = get_type},
    {.title = "inputs", .unit = UNIT_TEXT, .min_width = TYPE_WIDTH, .drop = 6, .text = get_inputs},
    {.title = "ops", .unit = UNIT_COUNT, .drop = 3, .number = get_count},
    {.title = "roofline", .unit = UNIT_TIME, .number = get_roofline},
    {.title = "%", .unit = UNIT_PERCENT, .number = get_share},
    {.title = "cum %", .unit = UNIT_SUM, .drop = 5, .number = get_share},
    {.title = "bound by", .unit = UNIT_TEXT, .drop = 1, .text = get_bound},
    {.title = "FLOPs", .unit = UNIT_FLOPS, .drop = 2, .marked = true, .number = get_flops},
    {.title = "B", .unit = UNIT_BYTES, .drop = 3, .marked = true, .number = get_bytes},
    {.title = "FLOP/B", .unit = UNIT_PLAIN, .marked = true, .drop = 4, .number = get_intensity},
    {.title = "source line", .unit = UNIT_TEXT, .min_width = TYPE_WIDTH, .drop = 11, .text = get_source},
};
static const struct {
    const struct spec *column;
    size_t n;
    const char *what; /* it shows */
} tables[] = {
    [MEASURE_TIME] = {timed, OC_COUNT(timed), "Time"},
    [MEASURE_SHARE] = {sampled, OC_COUNT(sampled), "Samples"},
    [MEASURE_ROOFLINE] = {limited, OC_COUNT(limited), "Roofline time"},
    [MEASURE_WORK] = {counted, OC_COUNT(counted), "FLOPs"},
};

/* ---- cells ------------------------------------------------------------------------------------------ */

/* All numbers of a column have one unit and the same number of decimals. */
struct scale {
    double factor;
    const char *prefix;
    int decimals;
};

static struct scale screen_scale_of(unsigned unit, double most)
{
    static const struct {
        double above, factor;
        const char *prefix;
    } time[] = {{1, 1, "s"}, {1e-3, 1e3, "ms"}, {0, 1e6, "us"}},
      si[] = {{1e12, 1e-12, "T"}, {1e9, 1e-9, "G"}, {1e6, 1e-6, "M"}, {1e3, 1e-3, "k"}, {0, 1, ""}};
    struct scale s = {1, "", 0};
    for (size_t i = 0; unit == UNIT_TIME && i < OC_COUNT(time) && !*s.prefix; i++)
        if (most >= time[i].above)
            s = (struct scale){time[i].factor, time[i].prefix, 0};
    bool counted_unit = unit == UNIT_FLOPS || unit == UNIT_BYTES;
    for (size_t i = OC_COUNT(si); counted_unit && i-- > 0;)
        if (most >= si[i].above)
            s = (struct scale){si[i].factor, si[i].prefix, 0};
    most *= s.factor;
    s.decimals = unit == UNIT_COUNT || unit == UNIT_CALLS ? 0
                 : most >= 1000                           ? 0
                 : most >= 100                            ? 1
                 : most >= 10                             ? 2
                                                          : 3;
    if (unit == UNIT_PERCENT || unit == UNIT_SUM)
        s.decimals = 1;
    if ((unit == UNIT_FLOPS || unit == UNIT_BYTES) && s.factor == 1)
        s.decimals = 0;
    return s;
}

/* A non-zero number that rounds to 0 is printed as "<0.01". */
static const char *format_number(struct oc_arena *arena, double v, const struct scale *s, const char *mark)
{
    static const double steps[] = {1, 0.1, 0.01, 0.001}; /* pow is not exact in every C library */
    double step = steps[s->decimals];
    v *= s->factor;
    if (isnan(v) || (v == 0 && *mark == '>')) /* at least 0 */
        return "-";
    if (v > 0 && (v < step / 2 || (v == 0.5 && !s->decimals))) /* half a call rounds to 0 */
        return oc_printf(arena, "<%.*f", s->decimals, step);
    return oc_printf(arena, "%s%.*f", mark, s->decimals, v);
}

static bool has_numbers(const struct screen *s, const struct spec *c, double *most)
{
    const struct oc_rows *rows = &s->r->shown;
    bool any = false;
    *most = 0;
    for (uint32_t i = 0; i < rows->n; i++) {
        double v = c->number(s, &rows->row[i]);
        any |= c->unit == UNIT_CALLS ? fabs(v - (double)rows->row[i].count) > 1e-9 : !isnan(v);
        *most = fabs(v) > *most ? fabs(v) : *most;
    }
    return any;
}

static bool is_type_in_names(const struct screen *s)
{
    const struct oc_rows *rows = &s->r->shown;
    bool in_all = true;
    for (uint32_t i = 0; i < rows->n && in_all; i++)
        in_all = !rows->row[i].type || strstr(get_name(s, &rows->row[i]), rows->row[i].type);
    return in_all;
}

static bool has_equal_names(const struct screen *s)
{
    const struct oc_rows *rows = &s->r->shown;
    for (uint32_t i = 1; i < rows->n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(get_name(s, &rows->row[i]), get_name(s, &rows->row[k])) == 0)
                return true;
    return false;
}

static bool has_texts(const struct screen *s, const struct spec *c)
{
    if ((c->text == get_type && is_type_in_names(s)) || (c->text == get_inputs && !has_equal_names(s)))
        return false;
    for (uint32_t i = 0; i < s->r->shown.n; i++) {
        const char *text = c->text(s, &s->r->shown.row[i]);
        if (text && *text)
            return true;
    }
    return false;
}

/* Cells of the table of groups or of operators. */
static bool is_of_table(const struct screen *s, const struct spec *c)
{
    return s->groups ? c->text != get_type && c->text != get_inputs && c->text != get_source &&
                           c->number != get_min && c->number != get_max
                     : c->number != get_count;
}

static const char *number_cell(const struct screen *s, const struct spec *c, const struct scale *scale,
                               const struct oc_row *row, double *sum)
{
    double v = c->number(s, row);
    *sum += oc_screen_known(v);
    unsigned quality = c->number == get_intensity ? oc_row_ratio_quality(row) : row->quality;
    return format_number(&s->r->arena, c->unit == UNIT_SUM ? *sum : v, scale,
                         c->marked ? oc_quality_mark(quality) : "");
}

static const char *text_cell(const struct screen *s, const struct spec *c, const struct oc_row *row)
{
    const char *text = c->text(s, row);
    return text && *text ? text : "-";
}

static const char *screen_title_of(const struct screen *s, const struct spec *c, const struct scale *scale)
{
    const struct oc_profile *p = s->r->in->profile;
    const char *title = c->title                ? c->title
                        : c->text               ? s->key_name
                        : p && p->runs_used > 1 ? oc_stat_name(p->stat)
                                                : "time";
    if (c->unit == UNIT_TIME)
        return oc_printf(&s->r->arena, "%s %s", title, scale->prefix);
    return oc_work_words(s->r, oc_printf(&s->r->arena, "%s%s", scale->prefix, title));
}

/* ---- tables ----------------------------------------------------------------------------------------- */

static double longest_time(const struct screen *s)
{
    double longest = 0;
    for (uint32_t i = 0; i < s->r->shown.n; i++)
        longest = fmax(longest, oc_screen_known(oc_screen_measured(s, &s->r->shown.row[i])));
    return longest;
}

struct used_column {
    const struct spec *spec;
    struct scale scale;
    double sum; /* of the rows so far */
};

enum { MOST_USED = 17 };
_Static_assert(OC_COUNT(timed) <= MOST_USED, "room for every column of the largest table");

/* The columns with information. */
static size_t choose_columns(const struct screen *s, struct used_column *used)
{
    size_t n = 0;
    for (size_t i = 0; i < tables[s->measure].n; i++) {
        const struct spec *c = &tables[s->measure].column[i];
        double most = 0;
        if (!is_of_table(s, c) || !(c->text ? has_texts(s, c) : has_numbers(s, c, &most)))
            continue;
        most = c->unit == UNIT_TIME ? longest_time(s) : most; /* all times in one unit */
        used[n++] = (struct used_column){
            .spec = c, .scale = c->text ? (struct scale){1, "", 0} : screen_scale_of(c->unit, most)};
    }
    return n;
}

static void print_rows(struct screen *s)
{
    const struct oc_report *r = s->r;
    struct used_column used[MOST_USED];
    uint8_t drop[MOST_USED], min_width[MOST_USED];
    char kinds[MOST_USED + 1] = ""; /* no column: no kind */
    const char *cell[MOST_USED];
    size_t n = choose_columns(s, used);
    double *share = OC_NEW_ARRAY(&s->r->arena, r->shown.n, double);
    struct oc_table t = {.kinds = kinds,
                         .drop = drop,
                         .min_width = min_width,
                         .share = share,
                         .width_chars = r->o->width_chars,
                         .color = r->o->color,
                         .empty = "(no rows)\n"};
    for (size_t c = 0; c < n; c++) {
        cell[c] = screen_title_of(s, used[c].spec, &used[c].scale);
        kinds[c] = used[c].spec->text ? 't' : 'n';
        min_width[c] = used[c].spec->min_width;
        drop[c] = used[c].spec->drop;
    }
    oc_table_cells(&t, cell, n);
    for (uint32_t i = 0; i < r->shown.n; i++) {
        const struct oc_row *row = &r->shown.row[i];
        for (size_t c = 0; c < n; c++)
            cell[c] = used[c].spec->text ? text_cell(s, used[c].spec, row)
                                         : number_cell(s, used[c].spec, &used[c].scale, row, &used[c].sum);
        share[i] = oc_screen_known(get_share(s, row)) / 100;
        oc_table_row(&t, cell);
    }
    oc_table_print(&t, s->f);
}

/* ---- the two tables ---------------------------------------------------------------------------------- */

static void print_title(const struct screen *s, const char *text)
{
    bool color = s->r->o->color;
    fputs(color ? "\033[1m" : "", s->f);
    oc_plain_wrap(0, s->r->o->width_chars, text, s->f);
    fputs(color ? "\033[0m" : "", s->f);
}

/* Share of the time that is attributed to the model's operators. */
static const char *attributed(const struct screen *s)
{
    const struct oc_join *j = s->r->in->join;
    return s->measure != MEASURE_TIME || !j || isnan(j->time_matched_fraction)
               ? ""
               : oc_printf(&s->r->arena, ", %.1f %% attributed", 100 * j->time_matched_fraction);
}

/* "Conv 98.4 %, Gemm 1.1 %" */
static const char *types_text(const struct screen *s)
{
    const char *text = NULL;
    for (uint32_t i = 0; i < s->types.n && i < 5; i++) {
        double share = oc_screen_known(get_share(s, &s->types.row[i]));
        if (share >= 0.05)
            text = oc_printf(&s->r->arena, "%s%s%s %.1f %%", text ? text : "by type: ", text ? ", " : "",
                             s->types.row[i].group, share);
    }
    return text;
}

static void print_types(const struct screen *s)
{
    const char *text = s->types.n > 1 ? types_text(s) : NULL;
    if (text)
        oc_plain_say("", 0, s->r->o->width_chars, text, s->f);
}

/* most: rows, at least 2 */
static void print_groups(struct screen *s, uint32_t most)
{
    const char *what = s->measure == MEASURE_WORK && !(s->total > 0) ? "Number" : tables[s->measure].what;
    struct oc_rows groups = s->by_signature ? s->signatures : s->types, shown = s->r->shown;
    s->key_name = s->by_signature ? "signature" : "type";
    print_title(s, oc_printf(&s->r->arena, "%s by %s: %u %ss, %u %s%s", what,
                             s->by_signature ? "signature (type and shapes)"
                                             : oc_printf(&s->r->arena, "%s type", row_noun(s->r)),
                             s->r->all.n, row_noun(s->r), groups.n - s->r->all.n_rest,
                             s->by_signature ? "signatures" : "types", attributed(s)));
    if (s->by_signature)
        print_types(s);
    oc_screen_cut_groups(&groups, most);
    s->groups = true;
    s->r->shown = groups;
    print_rows(s);
    s->r->shown = shown;
    s->groups = false;
}

/* -v: the nodes of fused rows, and what the runtime calls them. */
static void print_members(const struct screen *s)
{
    bool first = true;
    for (uint32_t i = 0; i < s->r->shown.n; i++) {
        const struct oc_row *row = &s->r->shown.row[i];
        const char *text = oc_row_members(s->r, row);
        if (!text)
            continue;
        if (first) {
            fputc('\n', s->f);
            print_title(s, "Members of these rows");
        }
        first = false;
        fputs("  ", s->f);
        oc_plain_wrap(2, s->r->o->width_chars, text, s->f);
    }
}

static void print_operators(struct screen *s)
{
    struct oc_report *r = s->r;
    s->key_name = row_noun(r);
    print_title(s, r->shown.n < r->all.n
                       ? oc_printf(&r->arena, "The %u largest of %u %ss", r->shown.n, r->all.n, s->key_name)
                       : oc_printf(&r->arena, "All %ss: %u", s->key_name, r->all.n));
    if (!r->o->verbose)
        print_types(s);
    print_rows(s);
    const char *total = oc_total_text(r, &r->arena);
    if (total)
        oc_plain_wrap(0, r->o->width_chars, total, s->f);
}

/* Lines of a table other than its rows: title, types, names of the columns, columns that are not shown, the total. */
enum { LINES_BESIDE = 5 };

void oc_screen_print(struct oc_report *r, size_t lines, FILE *f)
{
    struct screen s = {.r = r, .f = f};
    uint32_t fit = (uint32_t)oc_rows_left(lines + LINES_BESIDE);
    choose_measure(&s);
    oc_screen_find_groups(&s);
    if (r->o->verbose) {
        if (s.by_signature || s.types.n > 1) {
            print_groups(&s, MOST_GROUPS + 1);
            fputc('\n', f);
        }
        print_operators(&s);
        print_members(&s);
    } else if (s.by_signature) {
        print_groups(&s, fit < MOST_GROUPS ? fit : MOST_GROUPS + 1);
    } else {
        r->shown.n = fit < r->shown.n ? fit : r->shown.n;
        print_operators(&s);
    }
}
