/* The summary of a profile in the words and columns of Paddle's Profiler.summary(), of any source. Rows, order and figures
 * are those of the other formats. What the source does not have is '-'; a table without rows is left out. What is
 * written here is read again as `paddle_summary`. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "write/commands/page_views.h"

enum { MAX_COLUMNS = 4, NAME_WIDTH = 52, CALLS_WIDTH = 6, TIMES_WIDTH = 46, WIDE = 25 };

struct paddle {
    const struct oc_time_summary *s;
    const struct oc_summary_opts *o;
    FILE *f;
    double unit_ns;
    struct oc_arena arena;
    int width[MAX_COLUMNS]; /* 0: no such column */
};

static int line_width(const struct paddle *p)
{
    int sum = 0;
    for (unsigned i = 0; i < MAX_COLUMNS && p->width[i]; i++)
        sum += p->width[i] + 2;
    return sum;
}

static void dashes(FILE *f, int n)
{
    for (int i = 0; i < n; i++)
        fputc('-', f);
}

/* "-------Kernel Summary-------" */
static void in_dashes(const struct paddle *p, const char *text)
{
    int left = (line_width(p) - (int)strlen(text)) / 2;
    left = left > 4 ? left : 4;
    dashes(p->f, left);
    fputs(text, p->f);
    dashes(p->f, left);
    fputc('\n', p->f);
}

static void rule(const struct paddle *p)
{
    for (unsigned i = 0; i < MAX_COLUMNS && p->width[i]; i++) {
        dashes(p->f, p->width[i]);
        fputs("  ", p->f);
    }
    fputc('\n', p->f);
}

static void cells(const struct paddle *p, const char *const text[MAX_COLUMNS])
{
    for (unsigned i = 0; i < MAX_COLUMNS && p->width[i]; i++)
        fprintf(p->f, "%-*s  ", p->width[i], text[i]);
    fputc('\n', p->f);
}

static void header(const struct paddle *p, const char *const text[MAX_COLUMNS])
{
    rule(p);
    cells(p, text);
    rule(p);
}

static void begin(const struct paddle *p, const char *title, bool times)
{
    in_dashes(p, title);
    if (times)
        fprintf(p->f, "Time unit: %s\n", p->o->time_unit ? p->o->time_unit : "ms");
}

static void end(const struct paddle *p)
{
    rule(p);
    fputs("\n\n", p->f);
}

static const char *number(struct paddle *p, double v)
{
    return isnan(v) || isinf(v) ? "-" : oc_printf(&p->arena, "%.2f", v);
}

static const char *time_of(struct paddle *p, double ns)
{
    return number(p, ns / p->unit_ns);
}

static void devices(struct paddle *p)
{
    const struct oc_time_summary *s = p->s;
    const struct oc_timeline *t = s->has_events ? s->profile->timeline : NULL;
    memcpy(p->width, (int[MAX_COLUMNS]){30, 20}, sizeof(p->width));
    const struct oc_prof_table_row *row = s->profile->table_row;
    bool any = t || s->n_lane;
    for (size_t i = 0; i < s->profile->n_table_row; i++)
        any |= strcmp(row[i].table, "device") == 0;
    if (!any)
        return;
    begin(p, "Device Summary", false);
    header(p, (const char *[MAX_COLUMNS]){"Device", "Utilization (%)"});
    if (t && !isnan(t->cpu_process_share))
        cells(p, (const char *[MAX_COLUMNS]){"CPU(Process)", number(p, 100 * t->cpu_process_share)});
    if (t && !isnan(t->cpu_system_share))
        cells(p, (const char *[MAX_COLUMNS]){"CPU(System)", number(p, 100 * t->cpu_system_share)});
    for (size_t i = 0; i < s->profile->n_table_row; i++)
        if (strcmp(row[i].table, "device") == 0)
            cells(p, (const char *[MAX_COLUMNS]){row[i].name, number(p, row[i].host.total_ns)});
    for (uint32_t i = 0; i < s->n_lane; i++)
        if (s->lane[i].lane == OC_NONE)
            cells(p,
                  (const char *[MAX_COLUMNS]){s->lane[i].device_id == OC_NO_ID
                                                  ? "GPU"
                                                  : oc_printf(&p->arena, "GPU%" PRId64, s->lane[i].device_id),
                                              number(p, 100 * oc_summary_part(s, s->lane[i].kernel_ns))});
    end(p);
}

static void kind_row(struct paddle *p, const struct oc_sum_kind *k, const char *indent)
{
    cells(p, (const char *[MAX_COLUMNS]){oc_printf(&p->arena, "%s%s", indent, oc_summary_kind_word(k->kind)),
                                         oc_printf(&p->arena, "%" PRIu64, k->calls), time_of(p, k->union_ns),
                                         number(p, 100 * oc_summary_part(p->s, k->union_ns))});
}

static void overview(struct paddle *p)
{
    const struct oc_time_summary *s = p->s;
    memcpy(p->width, (int[MAX_COLUMNS]){WIDE, WIDE, WIDE, WIDE}, sizeof(p->width));
    if (!s->n_host && !s->n_device)
        return;
    begin(p, "Overview Summary", true);
    header(p, (const char *[MAX_COLUMNS]){"Event Type", "Calls", "CPU Time", "Ratio (%)"});
    for (unsigned steps = 2; steps-- > 0;) /* steps first: the others are inside of them */
        for (uint32_t i = 0; i < s->n_host; i++)
            if ((s->host[i].kind == OC_EV_STEP) == steps)
                kind_row(p, &s->host[i], steps ? "" : "  ");
    if (s->n_device)
        header(p, (const char *[MAX_COLUMNS]){"", "Calls", "GPU Time", "Ratio (%)"});
    for (uint32_t i = 0; i < s->n_device; i++)
        kind_row(p, &s->device[i], "  ");
    end(p);
}

static void distribution(struct paddle *p)
{
    const struct oc_time_summary *s = p->s;
    const struct {
        const char *name;
        double ns;
    } row[] = {{"ProfileStep", s->total_ns},
               {"  Communication", s->communication_ns},
               {"  Computation", s->computation_ns},
               {"  Overlap", s->overlap_ns}};
    memcpy(p->width, (int[MAX_COLUMNS]){WIDE, WIDE, WIDE}, sizeof(p->width));
    if (isnan(s->communication_ns))
        return;
    begin(p, "Distribution Summary", true);
    header(p, (const char *[MAX_COLUMNS]){"Name", "Total Time", "Ratio (%)"});
    for (size_t i = 0; i < OC_COUNT(row); i++)
        cells(p, (const char *[MAX_COLUMNS]){row[i].name, time_of(p, row[i].ns),
                                             number(p, 100 * oc_summary_part(s, row[i].ns))});
    end(p);
}

/* "Total / Avg / Max / Min / Ratio(%)" */
static const char *five(struct paddle *p, const struct oc_times *t, double whole)
{
    return !t->known ? "- / - / - / - / -"
                     : oc_printf(&p->arena, "%s / %s / %s / %s / %s", time_of(p, t->total_ns),
                                 time_of(p, oc_times_avg(t)), time_of(p, t->max_ns), time_of(p, t->min_ns),
                                 number(p, 100 * t->total_ns / whole));
}

static int name_width(const struct oc_sum_list *list)
{
    size_t most = NAME_WIDTH;
    for (uint32_t i = 0; i < list->n; i++) {
        size_t n = strlen(list->item[i].name) + 2 * (size_t)list->item[i].depth;
        most = n > most ? n : most;
    }
    return (int)most;
}

static void items(struct paddle *p, const char *title, enum oc_view view)
{
    static const char host[] = "CPU Total / Avg / Max / Min / Ratio(%)",
                      device[] = "GPU Total / Avg / Max / Min / Ratio(%)";
    const struct oc_sum_list *list = oc_view_list(p->s, view);
    bool kernels = view == OC_VIEW_KERNEL, any = kernels;
    struct oc_view_base base;
    if (!list->n)
        return;
    for (uint32_t i = 0; i < list->n; i++)
        any |= list->item[i].device.known;
    memcpy(p->width,
           (int[MAX_COLUMNS]){name_width(list), CALLS_WIDTH, TIMES_WIDTH, kernels || !any ? 0 : TIMES_WIDTH},
           sizeof(p->width));
    begin(p, title, true);
    header(p, (const char *[MAX_COLUMNS]){"Name", "Calls", kernels ? device : host, device});
    if (view == OC_VIEW_OPERATOR)
        in_dashes(p, "Thread: All threads merged");
    oc_view_base_init(&base, p->s, view, list);
    for (uint32_t i = 0, n = oc_view_cut(p->o, view, list); i < n; i++) {
        const struct oc_sum_item *item = &list->item[i];
        double of_host = oc_view_base_next(&base, item, false),
               of_device = oc_view_base_next(&base, item, true);
        uint64_t calls = item->host.known ? oc_times_calls(&item->host) : oc_times_calls(&item->device);
        bool phase = view == OC_VIEW_MODEL && p->s->has_events && item->kind < OC_EV_COUNT;
        const char *first = five(p, kernels ? &item->device : &item->host, kernels ? of_device : of_host);
        cells(p, (const char *[MAX_COLUMNS]){oc_printf(&p->arena, "%*s%s", 2 * item->depth, "",
                                                       phase ? oc_summary_kind_word(item->kind) : item->name),
                                             calls ? oc_printf(&p->arena, "%" PRIu64, calls) : "-", first,
                                             five(p, &item->device, of_device)});
    }
    end(p);
}

void oc_summary_paddle(const struct oc_time_summary *const *s, size_t n, const struct oc_summary_opts *o,
                       FILE *f)
{
    static const struct {
        const char *title;
        enum oc_view view;
        void (*write)(struct paddle *p);
    } table[] = {{"Device Summary", OC_VIEW_DEVICE, devices},
                 {"Overview Summary", OC_VIEW_OVERVIEW, overview},
                 {"Model Summary", OC_VIEW_MODEL, NULL},
                 {"Distribution Summary", OC_VIEW_DISTRIBUTION, distribution},
                 {"Operator Summary", OC_VIEW_OPERATOR, NULL},
                 {"Kernel Summary", OC_VIEW_KERNEL, NULL},
                 {"Memory Manipulation Summary", OC_VIEW_MEMORY, NULL},
                 {"UserDefined Summary", OC_VIEW_USER, NULL}};
    for (size_t i = 0; i < n; i++) {
        struct paddle p = {.s = s[i], .o = o, .f = f, .unit_ns = oc_summary_unit_ns(o->time_unit)};
        for (size_t k = 0; k < OC_COUNT(table); k++)
            if (oc_view_wanted(o, table[k].view) && table[k].write)
                table[k].write(&p);
            else if (oc_view_wanted(o, table[k].view))
                items(&p, table[k].title, table[k].view);
        oc_arena_free(&p.arena);
    }
}
