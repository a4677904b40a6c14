/* A diff as a page: totals, paired bars by operator type, operators with differences that sort. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "write/commands/page_views.h"
#include "write/tables/html_page.h"

enum { MOST = 40 };

struct diff_columns {
    struct oc_html_column item[MOST];
    size_t n;
};

static enum oc_html_kind metric_kind(unsigned m)
{
    const struct oc_metric_name *name = &oc_diff_metric_names[m];
    if (name->time)
        return OC_HTML_NS;
    return m == OC_DIFF_BYTES ? OC_HTML_TRAFFIC : name->bytes ? OC_HTML_BYTES : OC_HTML_SI;
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
    static const struct oc_html_column shapes[] = {
        {.field = "shapes_a", .title = "A shapes", .kind = OC_HTML_CODE},
        {.field = "shapes_b", .title = "B shapes", .kind = OC_HTML_CODE, .unlike = "shapes_a"},
    };
    static const struct oc_html_column last[] = {
        {.field = "what", .title = "What changed", .kind = OC_HTML_CODE},
        {.field = "aligned_by", .title = "Matched by"},
    };
    struct diff_columns c = {0};
    add_columns(&c, first, OC_COUNT(first));
    if (v->d->by_name)
        add_columns(&c, shapes, OC_COUNT(shapes));
    metric_columns(v, &c, true);
    if (v->d->has_places)
        c.item[c.n++] = (struct oc_html_column){.field = "place", .title = "Device"};
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
    for (unsigned i = 0; i < OC_DIFF_STARTS; i++)
        if (v->d->start[i].text)
            oc_html_sentence(&h, oc_printf(&h.arena, "%s %s.",
                                           i == OC_DIFF_SESSION ? "Creation of the session" : "First run",
                                           v->d->start[i].text));
    oc_html_sentence(&h, oc_printf(&h.arena, "%s.", oc_diff_sentence(v)));
    if (v->n_unshown)
        oc_html_note(&h, oc_diff_unshown(v));
    if (gaps)
        oc_html_note(&h, gaps);
    if (v->d->parts.n)
        diff_sheet(&h, v, "decomposition", "What the change consists of", oc_diff_parts);
    diff_sheet(&h, v, "sides", "Sides", oc_diff_sides);
    diff_facts(&h, v);
    oc_buf_str(
        &h.b,
        "<div class=\"legend\"><span><i class=\"side0\"></i>A</span><span><i class=\"side1\"></i>B</span>"
        "</div>\n");
    diff_types(&h, v);
    diff_sheet(&h, v, "fusions", "Fused operators", oc_diff_fusions);
    diff_operators(&h, v);
    if (v->n_row < v->n_wanted)
        oc_html_note(
            &h, oc_printf(&h.arena, "%u of %u rows that differ; --top 0 shows all", v->n_row, v->n_wanted));
    diff_sheet(&h, v, "outside", "Outside the runs", oc_diff_beside);
    oc_html_write(&h, NULL, "difference of A and B", v->o->made, f);
}
