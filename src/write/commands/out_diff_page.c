/* A diff as a page, with a roofline plot of the operators whose time differs most. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "estimate/predict.h"
#include "estimate/roofline.h"
#include "hw/hwdb.h"
#include "onnxcost/hardware.h"
#include "write/commands/page_views.h"
#include "write/tables/html_page.h"

/* ---- roofline plot ---------------------------------------------------------------------------------- */

/* The roofline plot of a diff: an arrow from A to B for each of the operators whose time differs most. SVG
 * without scripts; a title per arrow, the table of operators has the numbers. */

enum { WIDTH = 900, HEIGHT = 420, LEFT = 62, RIGHT = 12, TOP = 16, BOTTOM = 36, ARROWS = 60, SIDES = 2 };

struct arrow {
    const struct oc_diff_row *row;
    bool has[SIDES];
    double x[SIDES], y[SIDES], ns; /* FLOP/B, FLOP/s; the longer of both times */
    double change_ns;
};
struct limits {
    const char *device; /* NULL: none */
    double peak, rate;  /* FLOP/s; B/s of DRAM; NAN: unknown */
};
struct plot {
    struct oc_html *h;
    struct limits limits[SIDES];
    struct arrow *arrow; /* largest change first */
    uint32_t n;
    double most_ns;        /* of the arrows */
    double x0, x1, y0, y1; /* shown */
};

/* ---- plot: points ----------------------------------------------------------------------------------- */

static double side_time(const struct oc_diff_row *r, unsigned side, bool measured)
{
    return measured ? r->side[side].time_ns : r->side[side].roof_ns;
}

static bool take_point(struct arrow *a, unsigned side, bool measured)
{
    const struct oc_diff_cell *c = &a->row->side[side];
    double flops = (double)c->count[OC_DIFF_FLOPS], bytes = (double)c->count[OC_DIFF_BYTES];
    double ns = side_time(a->row, side, measured);
    if (!c->n_node || c->n_unknown || !(flops > 0 && bytes > 0 && ns > 0))
        return false;
    a->x[side] = flops / bytes;
    a->y[side] = flops / ns * 1e9;
    a->ns = fmax(a->ns, ns);
    return a->has[side] = true;
}

static int by_change(const void *pa, const void *pb)
{
    const struct arrow *a = pa, *b = pb;
    return a->change_ns < b->change_ns   ? 1
           : a->change_ns > b->change_ns ? -1
           : a->row < b->row             ? -1
                                         : a->row > b->row;
}

static void take_arrows(struct plot *p, const struct oc_diff *d, bool measured)
{
    p->arrow = OC_NEW_ARRAY(&p->h->arena, (size_t)d->n_operator + 1, struct arrow);
    p->n = 0;
    for (uint32_t i = 0; i < d->n_operator; i++) {
        struct arrow *a = &p->arrow[p->n];
        *a = (struct arrow){.row = &d->row[i]};
        bool any = take_point(a, 0, measured);
        any |= take_point(a, 1, measured);
        a->change_ns = a->has[0] && a->has[1]
                           ? fabs(side_time(a->row, 1, measured) - side_time(a->row, 0, measured))
                           : a->ns;
        p->n += any;
    }
    if (p->n > 1)
        qsort(p->arrow, p->n, sizeof(*p->arrow), by_change);
    p->n = p->n < ARROWS ? p->n : ARROWS;
    for (uint32_t i = 0; i < p->n; i++)
        p->most_ns = fmax(p->most_ns, p->arrow[i].ns);
}

static void widen(double *low, double *high, double v)
{
    *low = fmin(*low, v);
    *high = fmax(*high, v);
}

static void find_range(struct plot *p)
{
    p->x0 = p->y0 = INFINITY;
    p->x1 = p->y1 = 0;
    for (uint32_t i = 0; i < p->n; i++)
        for (unsigned s = 0; s < SIDES; s++)
            if (p->arrow[i].has[s]) {
                widen(&p->x0, &p->x1, p->arrow[i].x[s]);
                widen(&p->y0, &p->y1, p->arrow[i].y[s]);
            }
    p->x0 /= 2;
    p->x1 *= 2;
    p->y0 /= 2;
    p->y1 *= 2;
}

static double on_log(double v, double low, double high, double from, double to)
{
    return from + log(v / low) / log(high / low) * (to - from);
}
static double plot_x(const struct plot *p, double v)
{
    return on_log(v, p->x0, p->x1, LEFT, WIDTH - RIGHT);
}
static double plot_y(const struct plot *p, double v)
{
    return on_log(v, p->y0, p->y1, HEIGHT - BOTTOM, TOP);
}

/* ---- plot: peaks ------------------------------------------------------------------------------------ */

struct used_peak {
    double operations[OC_HW_MATRIX + 1][OC_CLASS_COUNT];
};

static void add_used_peak(void *user, unsigned unit, unsigned cls, double operations)
{
    struct used_peak *u = user;
    if (unit <= OC_HW_MATRIX)
        u->operations[unit][cls] += operations;
}

/* The peak of the unit and class with the most operations. NULL: not in the device's file. */
static const struct oc_hw_figure *most_used_peak(const struct oc_report_in *in)
{
    struct used_peak u = {{{0}}};
    double most = 0;
    bool unused = false;
    const struct oc_hw_figure *peak = NULL;
    for (uint32_t i = 0; i < in->model->n_node; i++) {
        struct oc_work w = {0};
        oc_work_add(&w, &in->analysis->cost[i]);
        if (!w.unknown)
            oc_unit_work(in->device, &w, add_used_peak, &u);
    }
    for (unsigned unit = 0; unit <= OC_HW_MATRIX; unit++)
        for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
            if (u.operations[unit][c] > most) {
                most = u.operations[unit][c];
                peak = oc_roof_peak(in->device, unit, c, &unused);
            }
    return peak;
}

static double memory_rate(const struct oc_device *d)
{
    unsigned n = oc_roof_levels(d);
    const struct oc_hw_level *l = n ? oc_roof_level(d, n - 1) : NULL;
    return l && l->bandwidth ? l->bandwidth->value : NAN;
}

static void take_limits(struct plot *p, const struct oc_diff *d)
{
    for (unsigned s = 0; s < SIDES; s++) {
        const struct oc_report_in *in = &d->in[s];
        if (!in->device)
            continue;
        const struct oc_hw_figure *peak = most_used_peak(in);
        p->limits[s] =
            (struct limits){in->device->info->id, peak ? peak->value : NAN, memory_rate(in->device)};
        if (peak)
            widen(&p->y0, &p->y1, peak->value * 1.5);
        if (p->limits[s].peak / p->limits[s].rate > 0) /* the ridge */
            widen(&p->x0, &p->x1, p->limits[s].peak / p->limits[s].rate / 2);
    }
}

static void plot_line(struct plot *p, const char *cls, double x0, double y0, double x1, double y1)
{
    oc_buf_printf(&p->h->b, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", cls, plot_x(p, x0),
                  plot_y(p, y0), plot_x(p, x1), plot_y(p, y1));
}

static void plot_text(struct plot *p, const char *anchor, double x, double y, const char *text)
{
    oc_buf_printf(&p->h->b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    oc_html_escaped(p->h, text);
    oc_buf_str(&p->h->b, "</text>\n");
}

static bool same_limits(const struct limits *a, const struct limits *b)
{
    return a->device && !strcmp(a->device, b->device) && a->peak >= b->peak && a->peak <= b->peak &&
           a->rate >= b->rate && a->rate <= b->rate;
}

/* Both lines of a device, as far as they are in the plot. */
static void plot_limits(struct plot *p, const struct limits *r)
{
    struct oc_arena *a = &p->h->arena;
    double ridge = r->peak / r->rate, x0 = fmax(p->x0, p->y0 / r->rate),
           x1 = fmin(fmin(p->x1, p->y1 / r->rate), ridge);
    if (x1 > x0) {
        plot_line(p, "limit", x0, x0 * r->rate, x1, x1 * r->rate);
        plot_text(p, "end", plot_x(p, sqrt(x0 * x1)) - 8, plot_y(p, sqrt(x0 * x1) * r->rate),
                  oc_printf(a, "%s, %s", r->device, oc_si_text(a, r->rate, "B/s")));
    }
    x0 = fmax(p->x0, ridge);
    if (r->peak <= p->y1 && x0 < p->x1) {
        plot_line(p, "limit", x0, r->peak, p->x1, r->peak);
        plot_text(p, "end", WIDTH - RIGHT - 4, plot_y(p, r->peak) - 4,
                  oc_printf(a, "%s, %s", r->device, oc_si_text(a, r->peak, "FLOP/s")));
    }
}

/* ---- plot: drawing ---------------------------------------------------------------------------------- */

/* "100 G" for 1e11: ticks have one digit. */
static const char *tick_text(struct oc_arena *a, double v)
{
    static const char prefix[] = " kMGTPE";
    int e = v >= 1000 ? (int)floor(log10(v) / 3 + 1e-9) : 0;
    return e > 6 ? oc_printf(a, "%g", v) : oc_printf(a, e ? "%g %c" : "%g", v / pow(1000, e), prefix[e]);
}

/* The ticks are powers of ten, and 2 and 5 times them where there are few. */
static void plot_axis(struct plot *p, bool across, double low, double high)
{
    static const double part[] = {1, 2, 5};
    size_t parts = high / low < 1000 ? 3 : 1;
    for (int e = (int)floor(log10(low)); pow(10, e) <= high; e++)
        for (size_t i = 0; i < parts; i++) {
            double v = pow(10, e) * part[i];
            if (v < low || v > high)
                continue;
            if (across)
                plot_line(p, "hair", v, p->y0, v, p->y1);
            else
                plot_line(p, "hair", p->x0, v, p->x1, v);
            plot_text(p, across ? "middle" : "end", across ? plot_x(p, v) : LEFT - 6,
                      across ? HEIGHT - BOTTOM + 15 : plot_y(p, v) + 4, tick_text(&p->h->arena, v));
        }
}

static void plot_axes(struct plot *p)
{
    plot_axis(p, true, p->x0, p->x1);
    plot_axis(p, false, p->y0, p->y1);
    plot_text(p, "end", WIDTH - RIGHT, HEIGHT - 6, "FLOP/B");
    plot_text(p, "start", 4, TOP - 2, "FLOP/s");
}

/* A line with a head at its end. */
static void arrow_path(struct plot *p, double from_x, double from_y, double x, double y)
{
    enum { LONG = 6, HALF = 3 };
    double length = hypot(x - from_x, y - from_y), dx = (x - from_x) / length, dy = (y - from_y) / length;
    oc_buf_printf(&p->h->b, "<path d=\"M%.1f %.1fL%.1f %.1f", from_x, from_y, x, y);
    if (length >= LONG)
        oc_buf_printf(&p->h->b, "M%.1f %.1fL%.1f %.1fL%.1f %.1f", x - LONG * dx - HALF * dy,
                      y - LONG * dy + HALF * dx, x, y, x - LONG * dx + HALF * dy, y - LONG * dy - HALF * dx);
    oc_buf_str(&p->h->b, "\"/>");
}

static void plot_arrow(struct plot *p, const struct arrow *a, bool measured)
{
    struct oc_arena *arena = &p->h->arena;
    const struct oc_diff_row *r = a->row;
    bool both = a->has[0] && a->has[1];
    unsigned end = a->has[1];
    double x = plot_x(p, a->x[end]), y = plot_y(p, a->y[end]), radius = 2 + 5 * sqrt(a->ns / p->most_ns);
    oc_buf_printf(&p->h->b, "<g class=\"%s\"><title>",
                  !both                ? (end ? "added" : "removed")
                  : a->y[1] >= a->y[0] ? "faster"
                                       : "slower");
    oc_html_escaped(p->h, *r->name ? r->name : r->name_b);
    oc_buf_printf(&p->h->b, " (%s): %s to %s, %s to %s</title>\n", *r->type ? r->type : r->type_b,
                  oc_time_text(arena, side_time(r, 0, measured), "-"),
                  oc_time_text(arena, side_time(r, 1, measured), "-"),
                  a->has[0] ? oc_si_text(arena, a->y[0], "FLOP/s") : "-",
                  a->has[1] ? oc_si_text(arena, a->y[1], "FLOP/s") : "-");
    if (both)
        arrow_path(p, plot_x(p, a->x[0]), plot_y(p, a->y[0]), x, y);
    oc_buf_printf(&p->h->b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/></g>\n",
                  plot_x(p, a->x[a->has[0] ? 0 : 1]), plot_y(p, a->y[a->has[0] ? 0 : 1]), radius);
}

/* a section of it; none without times */
static void diff_roofline(struct oc_html *h, const struct oc_diff *d)
{
    struct plot p = {.h = h};
    bool measured = d->total[OC_DIFF_TIME].known[0] && d->total[OC_DIFF_TIME].known[1];
    take_arrows(&p, d, measured);
    if (!p.n || !d->in[0].analysis || !d->in[1].analysis)
        return;
    find_range(&p);
    take_limits(&p, d);
    oc_html_begin(h, "roofline", "Roofline, from A to B");
    oc_buf_printf(
        &h->b,
        "<div class=\"chart arrows\"><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"FLOP/s over "
        "arithmetic intensity; an arrow from A to B for each of %u operators\">\n",
        WIDTH, HEIGHT, p.n);
    plot_axes(&p);
    for (unsigned s = 0; s < SIDES; s++)
        if (p.limits[s].device && !(s && same_limits(&p.limits[0], &p.limits[1])))
            plot_limits(&p, &p.limits[s]);
    for (uint32_t i = p.n; i-- > 0;)
        plot_arrow(&p, &p.arrow[i], measured);
    oc_buf_str(&h->b, "</svg></div>\n");
    oc_html_note(h,
                 oc_printf(&h->arena,
                           "The %u operators whose %s differs most; circles: A, arrows end at B; green: more "
                           "FLOP/s, red: fewer; hollow: only in A or only in B.",
                           p.n, measured ? "measured time" : "roofline time (nothing was measured)"));
    oc_html_end(h);
}

/* ---- page ------------------------------------------------------------------------------------------- */

/* A diff as a page: totals, paired bars by operator type, operators with differences that sort. */

enum { MOST = 40 };

struct diff_columns {
    struct oc_html_column item[MOST];
    size_t n;
};

static enum oc_html_kind metric_kind(unsigned m)
{
    const struct oc_metric_name *name = &oc_diff_metric_names[m];
    return name->time ? OC_HTML_NS : name->bytes ? OC_HTML_BYTES : OC_HTML_SI;
}

/* "time_a_ns", "macs_a" */
static const char *metric_field(struct oc_diff_view *v, unsigned m, const char *side)
{
    const struct oc_metric_name *name = &oc_diff_metric_names[m];
    return oc_printf(&v->arena, "%s_%s%s", name->key, side, name->time ? "_ns" : "");
}

/* Of each metric that differs: the difference; of times, and with `sides` of the first metric, also bars and
 * numbers of both sides. */
static void metric_columns(struct oc_diff_view *v, struct diff_columns *c, bool sides)
{
    for (unsigned m = 0; m <= OC_DIFF_ROOFLINE; m++) {
        const char *title = oc_diff_metric_names[m].title, *a = metric_field(v, m, "a"),
                   *b = metric_field(v, m, "b");
        enum oc_html_kind kind = metric_kind(m);
        if (!v->column[m] || c->n + 4 > MOST)
            continue;
        if (sides || oc_diff_metric_names[m].time) {
            c->item[c->n++] = (struct oc_html_column){.field = a, .title = title, .kind = kind, .pair = b};
            c->item[c->n++] = (struct oc_html_column){
                .field = a, .title = oc_printf(&v->arena, "A %s", title), .kind = kind};
            c->item[c->n++] = (struct oc_html_column){
                .field = b, .title = oc_printf(&v->arena, "B %s", title), .kind = kind};
        }
        c->item[c->n++] = (struct oc_html_column){.field = metric_field(v, m, "delta"),
                                                  .title = oc_printf(&v->arena, "+/- %s", title),
                                                  .kind = kind,
                                                  .delta = true};
        sides = false;
    }
}

static void add_columns(struct diff_columns *c, const struct oc_html_column *from, size_t n)
{
    for (size_t i = 0; i < n && c->n < MOST; i++)
        c->item[c->n++] = from[i];
}

/* ---- page: parts ------------------------------------------------------------------------------------ */

static void diff_sheet(struct oc_html *h, struct oc_diff_view *v, const char *id, const char *title,
                       void (*make)(struct oc_diff_view *, struct oc_table *))
{
    struct oc_table t;
    make(v, &t);
    oc_html_texts(h, id, title, &t);
}

/* The figure of B, below it that of A and the difference: the texts of the table of totals. */
static void diff_facts(struct oc_html *h, struct oc_diff_view *v)
{
    struct oc_table texts;
    size_t row = 1;
    oc_diff_totals(v, &texts);
    oc_html_facts_begin(h);
    for (unsigned m = 0; m < OC_DIFF_METRICS; m++) {
        const struct oc_diff_total *t = &v->d->total[m];
        if (!v->has[m])
            continue;
        const char **cell = texts.cell + texts.n_col * row++;
        const char *note = oc_printf(&h->arena, "A %s; %s%s%s%s", cell[1], cell[3], *cell[4] ? " (" : "",
                                     cell[4], *cell[4] ? ")" : "");
        const char *title = oc_printf(&h->arena, "B: %s", oc_diff_metric_names[m].title);
        const char *key = oc_printf(&h->arena, "totals.%s.b", oc_diff_metric_names[m].key);
        if (t->is_time)
            oc_html_fact_double(h, title, key, OC_HTML_NS, t->known[1] ? t->v[1] : NAN, note);
        else if (t->known[1])
            oc_html_fact_u64(h, title, key, metric_kind(m), t->n[1], NULL, note);
    }
    oc_html_facts_end(h);
    oc_table_free(&texts);
}

/* The types that differ. */
struct shown_types {
    const struct oc_diff *d;
    uint32_t *at; /* arena */
    size_t n;
};

static void type_fields(struct oc_fields *o, const void *of, size_t i)
{
    const struct shown_types *t = of;
    oc_diff_type_fields(o, t->d, t->at[i]);
}

static void diff_types(struct oc_html *h, struct oc_diff_view *v)
{
    static const struct oc_html_column first[] = {
        {.field = "op_type", .title = "Type", .kind = OC_HTML_CODE},
        {.field = "bucket", .title = "Outside operators"},
        {.field = "nodes_a", .title = "A nodes", .kind = OC_HTML_COUNT},
        {.field = "nodes_b", .title = "B nodes", .kind = OC_HTML_COUNT},
    };
    struct diff_columns c = {0};
    struct shown_types types = {.d = v->d, .at = OC_NEW_ARRAY(&h->arena, v->d->n_type + 1, uint32_t)};
    add_columns(&c, first, OC_COUNT(first));
    metric_columns(v, &c, false);
    for (uint32_t i = 0; i < v->d->n_type; i++)
        if (oc_diff_type_differs(v, &v->d->type[i]))
            types.at[types.n++] = i;
    const struct oc_html_table t = {.id = "types",
                                    .title = "By operator type",
                                    .json = "types",
                                    .at = types.at,
                                    .column = c.item,
                                    .n_column = c.n};
    oc_html_list(h, &t, &OC_ROWS(types.n, &types, type_fields));
}

static void diff_operators(struct oc_html *h, struct oc_diff_view *v)
{
    static const struct oc_html_column first[] = {
        {.field = "status", .title = "Status"},
        {.field = "op_type_a", .title = "A type", .kind = OC_HTML_CODE},
        {.field = "op_type_b", .title = "B type", .kind = OC_HTML_CODE, .unlike = "op_type_a"},
        {.field = "name_a", .title = "A operator", .kind = OC_HTML_CODE},
        {.field = "name_b", .title = "B operator", .kind = OC_HTML_CODE, .unlike = "name_a"},
    };
    static const struct oc_html_column last[] = {
        {.field = "what", .title = "What changed", .kind = OC_HTML_CODE},
        {.field = "aligned_by", .title = "Matched by"},
    };
    struct diff_columns c = {0};
    add_columns(&c, first, OC_COUNT(first));
    metric_columns(v, &c, true);
    if (v->d->has_verdicts)
        c.item[c.n++] = (struct oc_html_column){.field = "verdict", .title = "Verdict"};
    add_columns(&c, last, OC_COUNT(last));
    const struct oc_html_table t = {.id = "operators",
                                    .title = "Operators",
                                    .json = "rows",
                                    .at = v->row,
                                    .status = "status",
                                    .column = c.item,
                                    .n_column = c.n};
    oc_html_list(h, &t, &OC_ROWS(v->n_row, v, oc_diff_row_fields));
}

void oc_diff_page(struct oc_diff_view *v, FILE *f)
{
    struct oc_html h = {.fragment = oc_is_fragment(v->o->format)};
    const char *gaps = oc_diff_gaps(v);
    const char *verdict = oc_diff_statement(v);
    if (verdict)
        oc_html_sentence(&h, oc_printf(&h.arena, "%s.", verdict));
    oc_html_sentence(&h, oc_printf(&h.arena, "%s.", oc_diff_sentence(v)));
    if (v->n_unshown)
        oc_html_note(&h, oc_diff_unshown(v));
    if (gaps)
        oc_html_note(&h, gaps);
    diff_sheet(&h, v, "sides", "Sides", oc_diff_sides);
    diff_facts(&h, v);
    oc_buf_str(
        &h.b,
        "<div class=\"legend\"><span><i class=\"side0\"></i>A</span><span><i class=\"side1\"></i>B</span>"
        "</div>\n");
    diff_types(&h, v);
    diff_roofline(&h, v->d);
    diff_sheet(&h, v, "fusions", "Fused operators", oc_diff_fusions);
    diff_operators(&h, v);
    if (v->n_row < v->n_wanted)
        oc_html_note(
            &h, oc_printf(&h.arena, "%u of %u rows that differ; --top 0 shows all", v->n_row, v->n_wanted));
    diff_sheet(&h, v, "outside", "Outside the runs", oc_diff_beside);
    oc_html_write(&h, NULL, "difference of A and B", v->o->made, f);
}
