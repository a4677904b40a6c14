/* A summary without options: what fits a screen of the tables of out_summary.c. */
#include "write/commands/summary_text.h"

#include "base/unicode.h"
#include "write/tables/table.h"

/* The two lists that say most, the more general one first; returns their number. */
static unsigned choose_lists(const struct oc_time_summary *s, enum oc_view chosen[2])
{
    static const enum oc_view order[] = {OC_VIEW_TYPE, OC_VIEW_KERNEL, OC_VIEW_OPERATOR, OC_VIEW_MODEL,
                                         OC_VIEW_USER, OC_VIEW_COPIES, OC_VIEW_MEMORY};
    unsigned n = 0;
    for (size_t i = 0; i < OC_COUNT(order) && n < 2; i++)
        if (oc_view_list(s, order[i])->n)
            chosen[n++] = order[i];
    return n;
}

/* Whether there is something to print. */
static bool has_view(const struct summary_printer *p, enum oc_view v)
{
    struct oc_buf text = {0};
    struct summary_printer q = {.s = p->s, .o = p->o, .unit_ns = p->unit_ns, .unit = p->unit, .most = 1};
    q.f = oc_buf_stream(&text);
    oc_summary_print_view(&q, v);
    fclose(q.f);
    bool any = text.n > 0;
    oc_buf_free(&text);
    oc_arena_free(&q.arena);
    return any;
}

static void print_other_views(struct summary_printer *p, const enum oc_view *shown, unsigned n)
{
    const char *others = NULL;
    for (unsigned v = 0; v < OC_VIEW_COUNT; v++) {
        bool is_shown = v == OC_VIEW_RUNS;
        for (unsigned i = 0; i < n; i++)
            is_shown = is_shown || v == shown[i];
        if (!is_shown && oc_view_wanted(p->o, v) && has_view(p, v))
            others =
                oc_printf(&p->arena, "%s%s%s", others ? others : "", others ? ", " : "", oc_views[v].name);
    }
    if (others)
        oc_plain_say("", 0, p->o->width_chars,
                     oc_printf(&p->arena, "(other views: %s; --view NAME, or --view all)", others), p->f);
}

static void print_first_views(void *of, FILE *f)
{
    struct summary_printer *p = of;
    FILE *out = p->f;
    p->f = f;
    oc_summary_print_head(p);
    oc_summary_print_runs(p);
    p->f = out;
}

void oc_summary_print_screen(struct summary_printer *p)
{
    /* Lines of a list other than its rows: blank, title, names of the columns, those not shown, rows not shown. */
    enum { AROUND = 5, LAST = 2 };
    enum oc_view list[2] = {OC_VIEW_TYPE, OC_VIEW_OPERATOR};
    unsigned n = choose_lists(p->s, list);
    size_t lines = oc_print_counted(print_first_views, p, p->f);
    uint32_t left = (uint32_t)oc_rows_left(lines + (size_t)n * AROUND + LAST);
    for (unsigned i = 0; i < n; i++) {
        const struct oc_sum_list *rows = oc_view_list(p->s, list[i]);
        uint32_t half = i + 1 < n ? left / 2 : left;
        p->most = half > OC_LEAST_ROWS ? half : OC_LEAST_ROWS;
        oc_summary_print_list(p, list[i], rows);
        left -= oc_least_u32(oc_least_u32(p->most, rows->n), left);
    }
    print_other_views(p, list, n);
}
