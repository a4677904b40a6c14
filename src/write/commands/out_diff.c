/* The tables of a diff. */

#include <math.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "base/unicode.h"
#include "base/units.h"
#include "write/commands/page_views.h"
#include "write/tables/table.h"

/* ---- texts of numbers ------------------------------------------------------------------------------- */

static const char *diff_amount(struct oc_diff_view *v, unsigned m, double n)
{
    char buf[48];
    const struct oc_metric_name *name = &oc_diff_metric_names[m];
    if (isnan(n))
        return "-";
    if (name->time)
        oc_format_time_ns(n, buf, sizeof(buf));
    else if (name->bytes)
        oc_format_bytes(n, buf, sizeof(buf));
    else
        oc_format_si(n, "", buf, sizeof(buf));
    size_t len = strlen(buf);
    while (len && buf[len - 1] == ' ')
        buf[--len] = '\0';
    return oc_strdup(&v->arena, buf);
}

static const char *delta(struct oc_diff_view *v, unsigned m, double n)
{
    if (isnan(n) || n == 0)
        return isnan(n) ? "?" : "0";
    return oc_printf(&v->arena, "%s%s", n > 0 ? "+" : "-", diff_amount(v, m, fabs(n)));
}

static const char *diff_percent(struct oc_diff_view *v, double a, double b)
{
    if (isnan(a) || isnan(b) || !(a > 0))
        return "";
    if (a == b)
        return "0 %";
    double p = 100 * (b - a) / a;
    if (fabs(p) >= 1000)
        return oc_printf(&v->arena, "%.1f x", b / a);
    return fabs(p) < 0.05 ? oc_printf(&v->arena, "%s0.1 %%", p > 0 ? "< +" : "> -")
                          : oc_printf(&v->arena, "%+.1f %%", p);
}

static const char *exact_delta(struct oc_diff_view *v, uint64_t a, uint64_t b)
{
    return a == b ? "0"
                  : oc_printf(&v->arena, "%s%s", b > a ? "+" : "-",
                              oc_count_text(&v->arena, b > a ? b - a : a - b));
}

/* ---- the two sides ---------------------------------------------------------------------------------- */

static const char *runs_text(struct oc_diff_view *v, const struct oc_profile *p)
{
    if (v->d->by_name && !oc_profile_runs_known(p))
        return "sum of an unknown number of runs";
    if (v->d->by_name && !p->runs_used)
        return "means of an unknown number of runs";
    return oc_printf(&v->arena, "%s of %u runs", oc_stat_name(p->stat), p->runs_used);
}

static const char *side_text(struct oc_diff_view *v, unsigned s)
{
    const struct oc_report_in *in = &v->d->in[s];
    const char *text = !in->model ? "" : *in->model->path ? in->model->path : "(in memory)";
    size_t more = v->d->n_of[s] - 1;
    if (in->profile)
        text = oc_printf(&v->arena, "%s%s%s (%s)", text, *text ? ", " : "", in->profile->path,
                         runs_text(v, in->profile));
    if (more)
        text = oc_printf(&v->arena, "%s and %zu more recording%s", text, more, more > 1 ? "s" : "");
    return in->device ? oc_printf(&v->arena, "%s, %s", text, oc_device_info(in->device)->name) : text;
}

static const char *input_text(struct oc_diff_view *v, unsigned s, uint32_t i)
{
    const struct oc_analysis *a = v->d->in[s].analysis;
    uint32_t value = a->model->graph[0].input[i];
    return a->model->value[value].constant ? NULL
                                           : oc_printf(&v->arena, "%s %s", a->model->value[value].name,
                                                       oc_type_text(&v->arena, a->exprs, &a->type[value]));
}

/* Inputs that the other side does not have with this type, "" if there is none. */
static const char *shapes_text(struct oc_diff_view *v, unsigned s)
{
    enum { MOST = 3 };
    const struct oc_graph *own = v->d->in[s].analysis->model->graph,
                          *other = v->d->in[1 - s].analysis->model->graph;
    struct oc_map others = {.arena = &v->arena};
    const char *list = "", *text;
    uint32_t n = 0;
    for (uint32_t i = 0, at = 0; i < other->n_input; i++)
        if ((text = input_text(v, 1 - s, i)))
            oc_map_add(&others, text, strlen(text), &at, NULL);
    for (uint32_t i = 0; i < own->n_input; i++)
        if ((text = input_text(v, s, i)) && oc_map_get(&others, text, strlen(text)) == OC_NONE && n++ < MOST)
            list = oc_printf(&v->arena, "%s%s%s", list, n > 1 ? ", " : "", text);
    oc_map_free(&others);
    return n > MOST ? oc_printf(&v->arena, "%s, %u more", list, n - MOST) : list;
}

void oc_diff_sides(struct oc_diff_view *v, struct oc_table *t)
{
    *t = (struct oc_table){.kinds = "tc"};
    OC_ROW(t, "", "what");
    for (unsigned k = 0; k < 2; k++) {
        const char *inputs = v->d->by_name ? "" : shapes_text(v, k);
        OC_ROW(t, k ? "B" : "A", side_text(v, k));
        if (*inputs)
            OC_ROW(t, k ? "B inputs" : "A inputs", inputs);
    }
}

/* ---- totals ----------------------------------------------------------------------------------------- */

static const char *total_text(struct oc_diff_view *v, unsigned m, unsigned s)
{
    const struct oc_diff_total *t = &v->d->total[m];
    bool partly = v->d->by_name ? t->unknown_rows : v->d->in[s].analysis->total->unknown_nodes;
    const char *mark = partly && m < OC_DIFF_PARAMS ? ">= " : "";
    if (!t->known[s])
        return "-";
    return t->is_time ? diff_amount(v, m, t->v[s])
                      : oc_printf(&v->arena, "%s%s", mark, oc_count_text(&v->arena, t->n[s]));
}

/* "(layout)", "(outside operators)" */
static const char *bucket_text(struct oc_diff_view *v, const char *name)
{
    return *name == '(' ? name : oc_printf(&v->arena, "(%s)", name);
}

static void total_row(struct oc_diff_view *v, struct oc_table *table, unsigned m)
{
    const struct oc_diff_total *t = &v->d->total[m];
    bool both = t->known[0] && t->known[1], partly = both && t->unknown_rows;
    double a = t->is_time ? t->v[0] : (double)t->n[0], b = t->is_time ? t->v[1] : (double)t->n[1];
    const char *difference = !both        ? "-"
                             : partly     ? "?"
                             : t->is_time ? delta(v, m, b - a)
                                          : exact_delta(v, t->n[0], t->n[1]);
    OC_ROW(table, oc_diff_metric_names[m].title, total_text(v, m, 0), total_text(v, m, 1), difference,
           both && !partly ? diff_percent(v, a, b) : "");
}

/* On the default screen, the line of a side has the total whose parts are shown. */
static bool is_beside_name(const struct oc_diff_view *v, unsigned m)
{
    return v->screen && v->d->parts.n && !v->d->parts.missing && m == v->d->parts.of;
}

static bool has_no_row(const struct oc_diff_view *v, unsigned m)
{
    const struct oc_diff_total *t = &v->d->total[m];
    bool equal = t->known[0] && t->known[1] && !t->unknown_rows && !t->is_time && t->n[0] == t->n[1];
    return !v->has[m] || (v->screen && equal) || is_beside_name(v, m);
}

void oc_diff_totals(struct oc_diff_view *v, struct oc_table *t)
{
    *t = (struct oc_table){.kinds = "tnnnn"};
    OC_ROW(t, "", "A", "B", "B - A", "");
    for (unsigned m = 0; m < OC_DIFF_METRICS; m++)
        if (!has_no_row(v, m))
            total_row(v, t, m);
}

const char *oc_diff_sentence(struct oc_diff_view *v)
{
    const struct oc_diff_info *i = &v->d->info;
    uint32_t other = 0; /* equal operators that take another time */
    for (uint32_t k = 0; k < v->d->n_row; k++)
        other += v->d->row[k].status == OC_DIFF_SAME && oc_diff_is_news(&v->d->row[k]);
    const struct {
        size_t n;
        const char *name;
    } part[] = {{i->changed, "changed"},
                {i->added, "added"},
                {i->removed, "removed"},
                {i->renamed, "renamed"},
                {i->same, "equal"}};
    const char *text = oc_printf(&v->arena, "%u row%s", v->d->n_operator, oc_plural(v->d->n_operator)),
               *sep = ": ";
    for (size_t k = 0; k < OC_COUNT(part); k++)
        if (part[k].n) {
            text = oc_printf(&v->arena, "%s%s%zu %s", text, sep, part[k].n, part[k].name);
            sep = ", ";
        }
    return other ? oc_printf(&v->arena, "%s, %u of these with other times", text, other) : text;
}

const char *oc_diff_statement(struct oc_diff_view *v)
{
    const struct oc_diff *d = v->d;
    bool shown = d->latency.verdict == OC_COMPARED_SLOWER || d->latency.verdict == OC_COMPARED_FASTER;
    if (!d->verdict && d->by_name)
        return "not compared: a recording has no latency, its number of runs is not known (--iterations N)";
    return d->verdict ? oc_printf(&v->arena, "%s%s. %s", shown ? "B is " : "", d->verdict, d->note) : NULL;
}

/* ---- parts of the change ------------------------------------------------------------------------------ */

static const char *share_of_a(struct oc_diff_view *v, double delta_ns)
{
    double a = v->d->total[v->d->parts.of].v[0];
    return diff_percent(v, a, a + delta_ns);
}

static const char *part_text(struct oc_diff_view *v, const struct oc_diff_part *p)
{
    const char *name = oc_diff_cause_name(p->cause);
    return p->place ? oc_printf(&v->arena, "%s, %s", name, p->place) : name;
}

void oc_diff_parts(struct oc_diff_view *v, struct oc_table *t)
{
    const struct oc_decomposition *parts = &v->d->parts;
    *t = (struct oc_table){.kinds = "tnnn"};
    OC_ROW(t, oc_printf(&v->arena, "change of the %s", oc_diff_metric_names[parts->of].title), "B - A",
           "of A", "rows");
    for (uint32_t i = 0; i < parts->n && !parts->missing; i++) {
        const struct oc_diff_part *p = &parts->part[i];
        OC_ROW(t, part_text(v, p), delta(v, OC_DIFF_TIME, p->delta_ns), share_of_a(v, p->delta_ns),
               p->rows ? oc_printf(&v->arena, "%u", p->rows) : "");
    }
    if (parts->n && !parts->missing)
        OC_ROW(t, "total", delta(v, OC_DIFF_TIME, parts->delta_ns), share_of_a(v, parts->delta_ns), "");
}

const char *oc_diff_parts_text(struct oc_diff_view *v)
{
    const struct oc_decomposition *parts = &v->d->parts;
    const char *text = NULL;
    for (uint32_t i = 0; i < parts->n && !parts->missing; i++)
        text = oc_printf(&v->arena, "%s%s%s %s", text ? text : "", text ? ", " : "",
                         part_text(v, &parts->part[i]), delta(v, OC_DIFF_TIME, parts->part[i].delta_ns));
    return text;
}

const char *oc_diff_unshown(struct oc_diff_view *v)
{
    return oc_printf(&v->arena, "%u row%s without a shown difference", v->n_unshown, oc_plural(v->n_unshown));
}

const char *oc_diff_gaps(struct oc_diff_view *v)
{
    const char *text = NULL;
    for (unsigned m = 0; m <= OC_DIFF_ROOFLINE; m++) {
        const struct oc_diff_total *t = &v->d->total[m];
        if (!t->unknown_rows || !v->has[m] || (v->d->by_name && !t->is_time))
            continue; /* without a model, many rows have no counts: the totals say ">=" */
        double rows = t->is_time         ? t->rows_delta_v
                      : t->rows_negative ? -(double)t->rows_delta
                                         : (double)t->rows_delta;
        text =
            oc_printf(&v->arena, "%s%s (%u row%s; the others differ by %s)",
                      text ? oc_printf(&v->arena, "%s, ", text) : "unknown: ", oc_diff_metric_names[m].title,
                      t->unknown_rows, oc_plural(t->unknown_rows), delta(v, m, rows));
    }
    return text;
}

/* ---- columns of differences ------------------------------------------------------------------------- */

enum { MOST = 24, TYPE_WIDTH = 28, NAME_WIDTH = 36, WHAT_WIDTH = 60 };

struct columns {
    const char *head[MOST];
    char kinds[MOST + 1];
    size_t n;
};

static void diff_column(struct columns *c, const char *head, char kind)
{
    c->kinds[c->n] = kind;
    c->head[c->n++] = head;
}

static const char *sign_head(struct oc_diff_view *v, const char *title)
{
    return oc_printf(&v->arena, "+/- %s", title);
}

/* Metrics as columns: counts, then times; without a model the times come first, and the counts last. */
struct range {
    unsigned from, to;
};
static const struct range no_metric = {0, 0}, all_metrics = {0, OC_DIFF_ROOFLINE + 1},
                          counts = {0, OC_DIFF_TIME}, times = {OC_DIFF_TIME, OC_DIFF_ROOFLINE + 1};

/* Times have a column per side, counts only the difference. */
static void metric_columns(struct oc_diff_view *v, struct range metric, struct columns *c)
{
    for (unsigned m = metric.from; m < metric.to; m++) {
        if (!v->column[m])
            continue;
        if (oc_diff_metric_names[m].time) {
            diff_column(c, oc_printf(&v->arena, "A %s", oc_diff_metric_names[m].title), 'n');
            diff_column(c, oc_printf(&v->arena, "B %s", oc_diff_metric_names[m].title), 'n');
        }
        diff_column(c, sign_head(v, oc_diff_metric_names[m].title), 'n');
    }
}

static void set_columns(struct oc_diff_view *v, const struct columns *c, struct oc_table *t)
{
    *t = (struct oc_table){.kinds = oc_strndup(&v->arena, c->kinds, c->n)};
    oc_table_row(t, c->head);
}

/* ---- by operator type ------------------------------------------------------------------------------- */

double oc_diff_type_delta(const struct oc_diff_type *t, unsigned m)
{
    if (m == OC_DIFF_TIME)
        return t->time_ns[1] - t->time_ns[0];
    if (m == OC_DIFF_ROOFLINE)
        return t->roof_ns[1] - t->roof_ns[0];
    if (t->unknown[0][m] || t->unknown[1][m])
        return NAN;
    uint64_t a = t->count[0][m], b = t->count[1][m];
    return a > b ? -(double)(a - b) : (double)(b - a);
}

bool oc_diff_type_differs(const struct oc_diff_view *v, const struct oc_diff_type *t)
{
    bool differs = t->nodes[0] != t->nodes[1] && strcmp(t->name, "Constant") != 0;
    for (unsigned m = 0; m < OC_DIFF_COUNTS && !v->d->by_name; m++)
        differs |= t->unknown[0][m] || t->unknown[1][m];
    for (unsigned m = 0; m <= OC_DIFF_ROOFLINE; m++)
        differs |= v->column[m] && fabs(oc_diff_type_delta(t, m)) > 0;
    return differs;
}

static size_t type_metric_cells(struct oc_diff_view *v, struct range metric, const struct oc_diff_type *t,
                                const char **cell)
{
    size_t n = 0;
    for (unsigned m = metric.from; m < metric.to; m++) {
        if (!v->column[m])
            continue;
        const double *side = m == OC_DIFF_TIME ? t->time_ns : t->roof_ns;
        for (unsigned k = 0; k < 2 && oc_diff_metric_names[m].time; k++)
            cell[n++] = diff_amount(v, m, side[k]);
        cell[n++] = delta(v, m, oc_diff_type_delta(t, m));
    }
    return n;
}

/* by operator type; without a model there may be many, of which as many are shown as rows */
static void diff_kinds(struct oc_diff_view *v, struct oc_table *table)
{
    struct columns c = {0};
    bool by_name = v->d->by_name;
    uint32_t left = by_name ? v->n_row : UINT32_MAX;
    diff_column(&c, "type", 'c');
    diff_column(&c, by_name ? "A rows" : "A nodes", 'n');
    diff_column(&c, by_name ? "B rows" : "B nodes", 'n');
    metric_columns(v, by_name ? times : all_metrics, &c);
    metric_columns(v, by_name ? counts : no_metric, &c);
    set_columns(v, &c, table);
    for (uint32_t i = 0; i < v->d->n_type && left; i++) {
        const struct oc_diff_type *t = &v->d->type[i];
        const char *cell[MOST];
        size_t n = 0;
        if (!oc_diff_type_differs(v, t))
            continue;
        left--;
        cell[n++] = t->bucket ? bucket_text(v, t->name) : t->name;
        cell[n++] = t->bucket ? "" : oc_count_text(&v->arena, t->nodes[0]);
        cell[n++] = t->bucket ? "" : oc_count_text(&v->arena, t->nodes[1]);
        n += type_metric_cells(v, by_name ? times : all_metrics, t, cell + n);
        type_metric_cells(v, by_name ? counts : no_metric, t, cell + n);
        oc_table_row(table, cell);
    }
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static const char *join_sides(struct oc_diff_view *v, const char *a, const char *b, const char *arrow)
{
    if (!*a || !*b || strcmp(a, b) == 0)
        return *a ? a : b;
    return oc_printf(&v->arena, "%s%s%s", a, arrow, b);
}

/* In tables with a width limit, shortens names at the start and other texts at the end. */
static const char *diff_shortened(struct oc_diff_view *v, const char *text, size_t most, bool keep_end)
{
    size_t n = strlen(text), columns = oc_utf8_count(text, n), at = 0;
    const char *p = text, *end = text + n;
    if (!v->o->width_chars || (v->o->format && strcmp(v->o->format, "table")) || columns <= most)
        return text;
    for (size_t skip = keep_end ? columns - most + 3 : most - 3; at < skip && p < end; at++)
        oc_utf8_next(&p, end);
    return keep_end ? oc_printf(&v->arena, "...%s", p)
                    : oc_printf(&v->arena, "%.*s...", (int)(p - text), text);
}

static const char *change_text(struct oc_diff_view *v, const struct oc_diff_row *r)
{
    if (r->rule < OC_ALIGN_PLAIN || !(r->change & OC_DIFF_NAME))
        return r->what;
    return oc_printf(&v->arena, "%s%smatched by %s", r->what, *r->what ? "; " : "",
                     oc_align_rule_name(r->rule));
}

/* The names of both sides, and where other rows have the name, too, the recorded shapes. */
static const char *operator_text(struct oc_diff_view *v, const struct oc_diff_row *r)
{
    const char *name = join_sides(v, r->name, r->name_b, " -> ");
    const char *shapes = *r->name ? r->side[0].shapes : r->side[1].shapes;
    return r->has_namesakes && *shapes ? oc_printf(&v->arena, "%s %s", name, shapes) : name;
}

static size_t row_metric_cells(struct oc_diff_view *v, struct range metric, const struct oc_diff_row *r,
                               const char **cell)
{
    size_t n = 0;
    for (unsigned m = metric.from; m < metric.to; m++) {
        if (!v->column[m])
            continue;
        for (unsigned k = 0; k < 2 && oc_diff_metric_names[m].time; k++)
            cell[n++] = diff_amount(v, m, m == OC_DIFF_TIME ? r->side[k].time_ns : r->side[k].roof_ns);
        cell[n++] = delta(v, m, oc_diff_delta(r, m));
    }
    return n;
}

static const char *type_cell(struct oc_diff_view *v, const struct oc_diff_row *r)
{
    bool bucket = r->status == OC_DIFF_BUCKET;
    return bucket ? "" : diff_shortened(v, join_sides(v, r->type, r->type_b, " -> "), TYPE_WIDTH, false);
}

static void diff_row_cells(struct oc_diff_view *v, const struct oc_diff_row *r, struct oc_table *t)
{
    const char *cell[MOST];
    size_t n = 0;
    bool by_name = v->d->by_name, bucket = r->status == OC_DIFF_BUCKET;
    cell[n++] = bucket ? "time" : oc_diff_status_name(r->status);
    n += row_metric_cells(v, by_name ? times : all_metrics, r, cell + n);
    if (!by_name)
        cell[n++] = type_cell(v, r);
    cell[n++] = bucket ? bucket_text(v, r->name) : diff_shortened(v, operator_text(v, r), NAME_WIDTH, true);
    if (v->d->has_places)
        cell[n++] = r->place ? r->place : "";
    if (v->d->has_verdicts)
        cell[n++] = oc_compared_row_text(r->ratio, r->verdict, &v->arena);
    cell[n++] = diff_shortened(v, change_text(v, r), WHAT_WIDTH, false);
    if (by_name)
        cell[n++] = type_cell(v, r);
    row_metric_cells(v, by_name ? counts : no_metric, r, cell + n);
    oc_table_row(t, cell);
}

/* the rows */
static void diff_list(struct oc_diff_view *v, struct oc_table *t)
{
    struct columns c = {0};
    bool by_name = v->d->by_name;
    diff_column(&c, "status", 't');
    metric_columns(v, by_name ? times : all_metrics, &c);
    if (!by_name)
        diff_column(&c, "type", 'c');
    diff_column(&c, "operator", 'c');
    if (v->d->has_places)
        diff_column(&c, "device", 't');
    if (v->d->has_verdicts)
        diff_column(&c, "verdict", 'c');
    diff_column(&c, "what changed", 'c');
    if (by_name)
        diff_column(&c, "type", 'c');
    metric_columns(v, by_name ? counts : no_metric, &c);
    set_columns(v, &c, t);
    for (uint32_t i = 0; i < v->n_row; i++)
        diff_row_cells(v, &v->d->row[v->row[i]], t);
}

void oc_diff_beside(struct oc_diff_view *v, struct oc_table *t)
{
    *t = (struct oc_table){.kinds = "tnnn"};
    OC_ROW(t, "outside the runs", "A", "B", "B - A");
    for (uint32_t i = 0; i < v->d->n_beside; i++) {
        const struct oc_diff_row *r = &v->d->beside[i];
        OC_ROW(t, r->name, r->side[0].records ? diff_amount(v, OC_DIFF_TIME, r->side[0].time_ns) : "-",
               r->side[1].records ? diff_amount(v, OC_DIFF_TIME, r->side[1].time_ns) : "-",
               r->side[0].records && r->side[1].records
                   ? delta(v, OC_DIFF_TIME, oc_diff_delta(r, OC_DIFF_TIME))
                   : "-");
    }
}

/* ---- out diff --------------------------------------------------------------------------------------- */

typedef void (*table_maker)(struct oc_diff_view *v, struct oc_table *t);

/* Nothing without rows; on a terminal below an empty line. */
static void put_table(struct oc_diff_view *v, table_maker make, bool markdown, FILE *f)
{
    struct oc_table t;
    make(v, &t);
    t.width_chars = v->o->width_chars;
    t.color = v->o->color;
    t.changes = true;
    if (t.n_row > 1 && markdown) {
        oc_table_markdown(&t, f);
    } else if (t.n_row > 1) {
        fputc('\n', f);
        oc_table_print(&t, f);
    }
    oc_table_free(&t);
}

static void sides(struct oc_diff_view *v, FILE *f)
{
    struct oc_table t;
    unsigned of = v->d->parts.of;
    oc_diff_sides(v, &t);
    for (size_t i = 1; i < t.n_row; i++) {
        const char *label = t.cell[2 * i], *text = t.cell[2 * i + 1];
        if (is_beside_name(v, of) && !label[1])
            text = oc_printf(&v->arena, "%s: %s", total_text(v, of, *label == 'B'), text);
        oc_plain_say(label, 12, v->o->width_chars, text, f);
    }
    oc_table_free(&t);
}

/* text NULL: nothing. */
static void put_line(struct oc_diff_view *v, const char *text, bool markdown, FILE *f)
{
    if (text && markdown) {
        oc_print_line(f, "%s", text);
        fputc('\n', f);
    } else if (text) {
        oc_plain_say("", 0, v->o->width_chars, text, f);
    }
}

/* The creation of the session and its first run, where the recordings have them. */
static void write_starts(struct oc_diff_view *v, bool markdown, FILE *f)
{
    static const char *const label[] = {[OC_DIFF_SESSION] = "session", [OC_DIFF_FIRST_RUN] = "first run"};
    for (unsigned i = 0; i < OC_DIFF_STARTS; i++) {
        const char *text = v->d->start[i].text;
        if (text && markdown)
            put_line(v, oc_printf(&v->arena, "%s: %s", label[i], text), true, f);
        else if (text)
            oc_plain_say(label[i], 12, v->o->width_chars, text, f);
    }
}

/* What is above the tables of rows. */
static void write_first(struct oc_diff_view *v, bool markdown, FILE *f)
{
    const char *verdict = oc_diff_statement(v);
    if (markdown) {
        put_line(v, "### onnxcost diff", true, f);
        put_line(v, verdict, true, f);
        write_starts(v, true, f);
        put_table(v, oc_diff_parts, true, f);
        put_table(v, oc_diff_sides, true, f);
    } else {
        if (verdict)
            oc_plain_say("latency", 12, v->o->width_chars, verdict, f);
        write_starts(v, false, f);
        put_table(v, oc_diff_parts, false, f);
        if (v->d->parts.n)
            fputc('\n', f);
        sides(v, f);
    }
    put_table(v, oc_diff_totals, markdown, f);
    if (!markdown)
        fputc('\n', f);
    put_line(v, oc_diff_sentence(v), markdown, f);
    put_line(v, oc_diff_gaps(v), markdown, f);
}

static void write_rows(struct oc_diff_view *v, bool markdown, FILE *f)
{
    const char *cut = v->n_row < v->n_wanted ? oc_printf(&v->arena, "%u of %u rows that differ%s", v->n_row,
                                                         v->n_wanted, markdown ? "" : "; --top 0 shows all")
                                             : NULL;
    put_table(v, diff_list, markdown, f);
    put_line(v, cut, markdown, f);
    put_line(v, v->n_unshown ? oc_diff_unshown(v) : NULL, markdown, f);
}

static void write_whole(struct oc_diff_view *v, bool markdown, FILE *f)
{
    write_first(v, markdown, f);
    put_table(v, diff_kinds, markdown, f);
    put_table(v, oc_diff_fusions, markdown, f);
    write_rows(v, markdown, f);
    put_table(v, oc_diff_beside, markdown, f);
}

static void diff_write_markdown(struct oc_diff_view *v, FILE *f)
{
    write_whole(v, true, f);
}

/* ---- the default screen ----------------------------------------------------------------------------- */

static void write_first_on_screen(void *of, FILE *f)
{
    write_first(of, false, f);
}

static bool has_table(struct oc_diff_view *v, table_maker make)
{
    struct oc_table t;
    make(v, &t);
    bool any = t.n_row > 1;
    oc_table_free(&t);
    return any;
}

static void name_other_tables(struct oc_diff_view *v, FILE *f)
{
    static const struct {
        table_maker make;
        const char *name;
    } others[] = {
        {diff_kinds, "by type"}, {oc_diff_fusions, "fusions"}, {oc_diff_beside, "outside the runs"}};
    const char *text = NULL;
    for (size_t i = 0; i < OC_COUNT(others); i++)
        if (has_table(v, others[i].make))
            text = oc_printf(&v->arena, "%s%s%s", text ? text : "", text ? ", " : "", others[i].name);
    if (text)
        put_line(v, oc_printf(&v->arena, "(other tables: %s; --top 20)", text), false, f);
}

static void diff_write_table(struct oc_diff_view *v, FILE *f)
{
    enum { BESIDE = 6 }; /* blank, names of the columns, those not shown, rows not shown, other tables */
    v->screen = !v->o->has_top;
    if (!v->screen) {
        write_whole(v, false, f);
        return;
    }
    size_t rows = oc_rows_left(oc_print_counted(write_first_on_screen, v, f) + BESIDE);
    v->n_row = rows < v->n_row ? (uint32_t)rows : v->n_row;
    write_rows(v, false, f);
    name_other_tables(v, f);
}

int oc_diff_write(const struct oc_diff *d, const struct oc_diff_write_opts *given, FILE *f,
                  struct oc_err *err)
{
    OC_ENTRY(err);
    struct oc_diff_write_opts full, *const opts = &full;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    static const struct {
        const char *name;
        void (*write)(struct oc_diff_view *v, FILE *f);
        bool whole;
    } forms[] = {{"table", diff_write_table, false}, {"csv", oc_diff_csv, true},
                 {"json", oc_diff_json, true},       {"markdown", diff_write_markdown, false},
                 {"md", diff_write_markdown, false}, {"html", oc_diff_page, false},
                 {"fragment", oc_diff_page, false},  {"github", oc_diff_github, false}};
    for (size_t i = 0; i < OC_COUNT(forms); i++) {
        struct oc_diff_view v;
        if (opts->format && strcmp(forms[i].name, opts->format) != 0)
            continue;
        if (oc_diff_view_make(&v, d, opts, forms[i].whole, err))
            return -1;
        forms[i].write(&v, f);
        oc_diff_view_free(&v);
        return 0;
    }
    return oc_fail(err, OC_EARG, "diff has no format '%s'", opts->format);
}
