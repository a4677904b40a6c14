/* A diff as a page: totals, paired bars by operator type, operators with differences that sort. */
#include <math.h>
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

/* ---- parts ------------------------------------------------------------------------------------------ */

static void diff_sheet(struct oc_html *h, struct oc_diff_view *v, const char *id, const char *title,
                       void (*make)(struct oc_diff_view *, struct oc_sheet *))
{
    struct oc_sheet s;
    make(v, &s);
    if (s.n_row)
        oc_html_sheet(h, id, title, &s);
    oc_sheet_free(&s);
}

/* The figure of B, below it that of A and the difference: the texts of the table of totals. */
static void diff_facts(struct oc_html *h, struct oc_diff_view *v)
{
    struct oc_sheet s;
    size_t row = 0;
    oc_diff_totals(v, &s);
    oc_html_facts_begin(h);
    for (unsigned m = 0; m < OC_DIFF_METRICS; m++) {
        const struct oc_diff_total *t = &v->d->total[m];
        if (!v->has[m])
            continue;
        const char **cell = s.cell + 5 * row++;
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
    oc_sheet_free(&s);
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
    struct oc_fields o = {0};
    uint32_t *at = OC_NEW_ARRAY(&h->arena, v->d->n_type + 1, uint32_t), n = 0;
    add_columns(&c, first, OC_COUNT(first));
    metric_columns(v, &c, false);
    for (uint32_t i = 0; i < v->d->n_type; i++) {
        if (!oc_diff_type_differs(v, &v->d->type[i]))
            continue;
        at[n++] = i;
        oc_diff_type_fields(&o, &v->d->type[i]);
    }
    oc_html_table(h,
                  &(struct oc_html_table){.id = "types",
                                          .title = "By operator type",
                                          .json = "types",
                                          .at = at,
                                          .column = c.item,
                                          .n_column = c.n},
                  &o);
    oc_fields_free(&o);
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
    struct oc_fields o = {0};
    add_columns(&c, first, OC_COUNT(first));
    metric_columns(v, &c, true);
    add_columns(&c, last, OC_COUNT(last));
    for (uint32_t i = 0; i < v->n_row; i++)
        oc_diff_row_fields(&o, &v->d->row[v->row[i]]);
    oc_html_table(h,
                  &(struct oc_html_table){.id = "operators",
                                          .title = "Operators",
                                          .json = "rows",
                                          .at = v->row,
                                          .status = "status",
                                          .column = c.item,
                                          .n_column = c.n},
                  &o);
    oc_fields_free(&o);
}

void oc_diff_page(struct oc_diff_view *v, FILE *f)
{
    struct oc_html h = {.fragment = oc_is_fragment(v->o->format)};
    const char *gaps = oc_diff_gaps(v);
    oc_html_sentence(&h, oc_printf(&h.arena, "%s.", oc_diff_sentence(v)));
    if (gaps)
        oc_html_note(&h, gaps);
    diff_sheet(&h, v, "sides", "Sides", oc_diff_sides);
    diff_facts(&h, v);
    oc_buf_str(
        &h.b,
        "<div class=\"legend\"><span><i class=\"side0\"></i>A</span><span><i class=\"side1\"></i>B</span>"
        "</div>\n");
    diff_types(&h, v);
    oc_diff_roofline(&h, v->d);
    diff_sheet(&h, v, "fusions", "Fused operators", oc_diff_fusions);
    diff_operators(&h, v);
    if (v->n_row < v->n_wanted)
        oc_html_note(
            &h, oc_printf(&h.arena, "%u of %u rows that differ; --top 0 shows all", v->n_row, v->n_wanted));
    diff_sheet(&h, v, "outside", "Outside the runs", oc_diff_beside);
    oc_html_write(&h, NULL, "difference of A and B", v->o->made, f);
}
