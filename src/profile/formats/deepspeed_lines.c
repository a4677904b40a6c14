/* The module tree of DeepSpeed's flops profiler (detailed=True), where every class has its figures before its
 * own text:
 *
 *   BertModel(
 *     109.48 M, 100.00% Params, 44.7 GMACs, 100.00% MACs, 135.52 ms, 100.00% latency, 660.07 GFLOPS,
 *     (pooler): BertPooler(
 *       590.59 k, 0.54% Params, 2.36 MMACs, 0.01% MACs, 173.57 us, 0.13% latency, 27.19 GFLOPS,
 *       (dense): Linear(590.59 k, .., 93.94 us, 0.07% latency, 50.23 GFLOPS, in_features=768)
 *     )
 *     (0-1): 2 x Dropout(..)
 *
 * From 0.9.3 on " = " is between a figure and its share. A latency contains those of the submodules. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/op_logs.h"
#include "profile/core/timeline.h"

#define MAX_DEPTH 128

struct oc_module {
    struct oc_str type;
    size_t path;                 /* length of the path that ends with it */
    double ns, flop;             /* of one of them */
    double inner_ns, inner_flop; /* of its submodules */
    bool is_list;                /* no time of its own, as ModuleList */
    uint64_t copies;             /* in all */
    uint64_t where;
};

struct oc_module_tree {
    struct oc_module open[MAX_DEPTH];
    size_t depth, skipped; /* skipped: open modules below those */
    struct oc_str head;    /* "(pooler): BertPooler" of the last line; n 0: none */
    bool first;            /* of the first report in the file */
};

static struct oc_str before(struct oc_str s, const char *end)
{
    return oc_csv_trim(oc_str_before(s, end));
}

static struct oc_str after(struct oc_str s, const char *at, size_t skip)
{
    return oc_csv_trim(oc_str_from(s, at + skip));
}

/* "660.07 GFLOPS" */
static double read_rate(struct oc_str s)
{
    static const char prefix[] = "kMGTPE";
    struct oc_str number = oc_csv_word(&s);
    double v, factor = 1;
    if (!oc_csv_number(number, &v, NULL) || !(v >= 0 && v < 1e18))
        return NAN;
    for (const char *p = prefix; *p && s.n; p++) {
        factor *= 1e3;
        if (oc_csv_trim(s).s[0] == *p)
            return v * factor;
    }
    return v;
}

/* ".., 135.52 ms, 100.00% latency, 660.07 GFLOPS, ..": false: not such figures. */
static bool read_figures(struct oc_str s, double *ns, double *flop)
{
    const char *share = oc_str_find(s, "% latency");
    if (!share)
        return false;
    struct oc_str head = before(s, share), tail = after(s, share, strlen("% latency"));
    while (head.n &&
           ((head.s[head.n - 1] >= '0' && head.s[head.n - 1] <= '9') || strchr(".e-+", head.s[head.n - 1])))
        head.n--;
    head = oc_csv_trim(head);
    if (!head.n || (head.s[head.n - 1] != ',' && head.s[head.n - 1] != '='))
        return false;
    head.n--;
    const char *comma = head.n ? memrchr(head.s, ',', head.n) : NULL;
    if (!comma)
        return false;
    if (!oc_csv_time(after(head, comma, 1), ns)) /* "1.77 Gs": a module that was not timed */
        *ns = NAN;
    if (tail.n && tail.s[0] == ',')
        tail = after(tail, tail.s, 1);
    const char *end = oc_str_chr(tail, ',');
    *flop = read_rate(end ? before(tail, end) : tail) * *ns / 1e9;
    return true;
}

/* "(0-11): 12 x BertLayer": appends the name to the path of the module that contains it. */
static void describe(struct oc_op_log *log, struct oc_str head, struct oc_module *m)
{
    struct oc_module_tree *t = log->modules;
    const struct oc_module *outer = t->depth ? &t->open[t->depth - 1] : NULL;
    const char *colon = head.n && head.s[0] == '(' ? oc_str_find(head, "): ") : NULL;
    struct oc_str name = colon ? before(after(head, head.s, 1), colon) : (struct oc_str){"", 0};
    uint64_t n;
    m->copies = outer ? outer->copies : 1;
    m->type = colon ? after(head, colon, 3) : head;
    const char *times = oc_str_find(m->type, " x ");
    if (times && oc_csv_u64(before(m->type, times), &n) && n > 0 && n < 1000000 && m->copies < 1000000) {
        m->type = after(m->type, times, 3);
        m->copies *= n;
    }
    const char *type = oc_strndup(&log->p->arena, m->type.s, m->type.n);
    m->type = (struct oc_str){type, m->type.n};
    log->text.n = outer ? outer->path : 0;
    if (log->text.n && name.n)
        oc_buf_char(&log->text, '.');
    if (name.n)
        oc_buf_add(&log->text, name.s, name.n);
    m->path = log->text.n;
}

/* A row has the time outside of submodules. The figures have 3 digits or more. */
static void close_module(struct oc_op_log *log, struct oc_module *m)
{
    struct oc_module_tree *t = log->modules;
    m->ns = m->is_list ? m->inner_ns : m->ns;
    m->flop = m->is_list ? m->inner_flop : m->flop;
    double copies = (double)m->copies, flop = m->flop - m->inner_flop;
    struct oc_op_row row = {.kind = OC_EV_OPERATOR,
                            .calls = m->copies,
                            .name = m->path ? (struct oc_str){log->text.data, m->path} : m->type,
                            .type = m->type,
                            .min_ns = NAN,
                            .max_ns = NAN,
                            .where = m->where,
                            .has_flop = true};
    if (t->depth) {
        struct oc_module *outer = &t->open[t->depth - 1];
        double n = copies / (double)outer->copies;
        outer->inner_ns += fmax(m->ns, m->inner_ns) * n; /* submodules may run outside of its forward() */
        outer->inner_flop += fmax(m->flop, m->inner_flop) * n;
    } else if (t->first) {
        log->rows.runs = 1;
        log->rows.run_ns = m->ns;
    }
    row.total_ns = fmax(m->ns - m->inner_ns, 0) * copies;
    row.flop = flop > 0.02 * m->flop ? flop * copies : (double)NAN; /* 0: not counted */
    if (t->first && !m->is_list)
        oc_op_rows_add(&log->rows, &row);
}

static void open_module(struct oc_op_log *log, struct oc_str head, struct oc_module m, bool leaf)
{
    struct oc_module_tree *t = log->modules;
    m.where = oc_csv_offset(log->c);
    if (!t->depth)
        t->first = oc_recording_begins(&log->recordings, log->c);
    describe(log, head, &m);
    if (leaf)
        close_module(log, &m);
    else if (t->depth < MAX_DEPTH)
        t->open[t->depth++] = m;
    else
        t->skipped++;
}

bool oc_deepspeed_is_line(struct oc_str line)
{
    return oc_str_find(line, "% latency, ") && oc_str_find(line, "MACs") && oc_str_find(line, "% Params");
}

int oc_deepspeed_take(struct oc_op_log *log, struct oc_str line)
{
    struct oc_module_tree *t = log->modules;
    struct oc_str s = oc_csv_trim(line);
    double ns = NAN, flop = NAN;
    if (!t)
        t = log->modules = OC_NEW(&log->p->arena, struct oc_module_tree);
    struct oc_str head = t->head;
    t->head.n = 0;
    bool figures = read_figures(s, &ns, &flop), opens = s.n > 1 && s.s[s.n - 1] == '(';
    const char *text = figures ? oc_str_find(s, "% latency") : s.s;
    const char *name_end = s.n && s.s[0] == '(' ? oc_str_find(s, "): ") : s.s;
    const char *open =
        figures && name_end && name_end < text ? memchr(name_end, '(', (size_t)(text - name_end)) : NULL;
    if (head.n && t->depth && (opens || open))
        open_module(log, head, (struct oc_module){.is_list = true}, false);
    bool timed = !isnan(ns);
    struct oc_module m = {.ns = timed ? ns : 0, .flop = timed ? flop : 0, .is_list = !timed};
    if (open && (timed || t->depth))
        open_module(log, before(s, open), m, true);
    else if (figures && head.n)
        open_module(log, head, m, false);
    else if (opens)
        t->head = oc_str(oc_strndup(&log->rows.scratch, s.s, s.n - 1), s.n - 1);
    else if (s.n && s.s[0] == ')' && t->skipped)
        t->skipped--;
    else if (s.n && s.s[0] == ')' && t->depth)
        close_module(log, &t->open[--t->depth]);
    return figures && !timed ? -1 : 0;
}
