/* The module tree of DeepSpeed's flops profiler. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "profile/core/records.h"
#include "profile/core/timeline.h"

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
 * From 0.9.3 on " = " is between a figure and its share. A latency contains those of the submodules. The flops-profiler
 * that DeepSpeed's comes from has "module = {'param': '590.59 k', .., 'duration': '173.57 us', 'FLOPS': '27.19 GFLOPS', ..}"
 * in place of the figures. */

#define MAX_DEPTH 128
#define DURATION  "'duration': '"

struct module {
    struct oc_str type;
    size_t path;                 /* length of the path that ends with it */
    double ns, flop;             /* of one of them */
    double inner_ns, inner_flop; /* of its submodules */
    bool is_list;                /* no time of its own, as ModuleList */
    uint64_t copies;             /* in all */
    uint64_t where;
};

struct module_tree {
    struct module open[MAX_DEPTH];
    size_t depth, skipped; /* skipped: open modules below those */
    struct oc_str head;    /* "(pooler): BertPooler" of the last line; n 0: none */
    bool first;            /* of the first report in the file */
    double stated_ns;      /* "fwd latency" of the report; 0: not stated */
};

struct reading {
    struct oc_csv *c;
    struct oc_profile *p;
    struct oc_op_rows rows;
    struct oc_buf text;
    struct oc_recording_count recordings;
    struct module_tree modules;
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

/* "1.77 Gs": time since 1970, of a module whose start DeepSpeed did not record. */
static bool is_unstarted(struct oc_str s)
{
    struct oc_str unit;
    double v;
    return oc_csv_number(s, &v, &unit) && v >= 0 && oc_csv_same(unit, "Gs");
}

/* "'duration': '173.57 us'": the text of a key; empty without the key. */
static struct oc_str value_of(struct oc_str s, const char *key)
{
    const char *at = oc_str_find(s, key);
    struct oc_str text = at ? oc_str_from(s, at + strlen(key)) : (struct oc_str){"", 0};
    return oc_str_take(&text, '\'');
}

/* ".., 135.52 ms, 100.00% latency, 660.07 GFLOPS, ..": false: not such figures. *ns: NAN: damaged, INFINITY: not
 * timed. */
static bool read_figures(struct oc_str s, double *ns, double *flop)
{
    const char *share = oc_str_find(s, "% latency");
    struct oc_str time = share ? (struct oc_str){"", 0} : value_of(s, DURATION);
    if (time.n) {
        *ns = oc_csv_time(time, ns) ? *ns : (double)NAN;
        *flop = read_rate(value_of(s, "'FLOPS': '")) * *ns / 1e9;
    }
    if (!share)
        return time.n > 0;
    struct oc_str head = before(s, share), tail = after(s, share, strlen("% latency"));
    while (head.n && (oc_is_digit(head.s[head.n - 1]) || strchr(".e-+", head.s[head.n - 1])))
        head.n--;
    head = oc_csv_trim(head);
    if (!head.n || (head.s[head.n - 1] != ',' && head.s[head.n - 1] != '='))
        return false;
    head.n--;
    const char *comma = head.n ? memrchr(head.s, ',', head.n) : NULL;
    if (!comma)
        return false;
    if (!oc_csv_time(after(head, comma, 1), ns))
        *ns = is_unstarted(after(head, comma, 1)) ? INFINITY : NAN;
    if (tail.n && tail.s[0] == ',')
        tail = after(tail, tail.s, 1);
    *flop = read_rate(oc_csv_trim(oc_str_take(&tail, ','))) * *ns / 1e9;
    return true;
}

/* "(0-11): 12 x BertLayer": appends the name to the path of the module that contains it. */
static void describe(struct reading *log, struct oc_str head, struct module *m)
{
    struct module_tree *t = &log->modules;
    const struct module *outer = t->depth ? &t->open[t->depth - 1] : NULL;
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
static void close_module(struct reading *log, struct module *m)
{
    struct module_tree *t = &log->modules;
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
        struct module *outer = &t->open[t->depth - 1];
        double n = copies / (double)outer->copies;
        outer->inner_ns += fmax(m->ns, m->inner_ns) * n; /* submodules may run outside of its forward() */
        outer->inner_flop += fmax(m->flop, m->inner_flop) * n;
    } else if (t->first) {
        log->rows.runs = 1;
        log->rows.run_ns = m->is_list && t->stated_ns > 0 ? t->stated_ns : m->ns;
    }
    row.total_ns = fmax(m->ns - m->inner_ns, 0) * copies;
    row.flop = flop > 0.02 * m->flop ? flop * copies : (double)NAN; /* 0: not counted */
    if (t->first && !m->is_list)
        oc_op_rows_add(&log->rows, &row);
}

static void open_module(struct reading *log, struct oc_str head, struct module m, bool leaf)
{
    struct module_tree *t = &log->modules;
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

static bool is_deepspeed_line(struct oc_str line)
{
    return oc_str_find(line, "% latency, ") ? oc_str_find(line, "MACs") && oc_str_find(line, "% Params")
                                            : oc_str_find(line, DURATION) && oc_str_find(line, "'FLOPS': '");
}

static int take_line(struct reading *log, struct oc_str line)
{
    struct module_tree *t = &log->modules;
    struct oc_str s = oc_csv_trim(line);
    double ns = NAN, flop = NAN;
    if (!log->recordings.n && oc_str_starts(s, "fwd latency:") &&
        !oc_csv_time(oc_str_after(s, ":"), &t->stated_ns))
        t->stated_ns = 0;
    struct oc_str head = t->head;
    t->head.n = 0;
    bool figures = read_figures(s, &ns, &flop), opens = s.n > 1 && s.s[s.n - 1] == '(';
    const char *share = oc_str_find(s, "% latency"), *text = share ? share : oc_str_find(s, DURATION);
    const char *name_end = s.n && s.s[0] == '(' ? oc_str_find(s, "): ") : s.s;
    const char *open =
        figures && name_end && name_end < text ? memchr(name_end, '(', (size_t)(text - name_end)) : NULL;
    if (head.n && t->depth && (opens || open))
        open_module(log, head, (struct module){.is_list = true}, false);
    bool timed = isfinite(ns);
    struct module m = {.ns = timed ? ns : 0, .flop = timed ? flop : 0, .is_list = !timed};
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
    return figures && isnan(ns) ? -1 : 0;
}

/* ---- reading ---------------------------------------------------------------------------------------- */

static int read_lines(struct reading *log, struct oc_err *err)
{
    struct oc_str line;
    size_t bad = 0, lines = 0;
    while (oc_csv_line(log->c, &line)) {
        if (++lines > oc_csv_max_rows(log->c))
            return oc_csv_too_many(log->c, err);
        if (take_line(log, line) == 0)
            continue;
        if (oc_csv_cut(log->c))
            oc_prof_cut(log->p, log->c);
        else
            bad++;
    }
    oc_recordings_warn(&log->recordings, "recordings", log->p);
    if (bad)
        oc_diag_add(&log->p->diags, OC_WARNING, "W-row", "",
                    "%zu lines are damaged, for example by other output between them: their time is missing",
                    bad);
    return oc_csv_failed(log->c) ? oc_csv_error(log->c, err) : 0;
}

static int read_deepspeed(const struct oc_source *src, const struct oc_profile_opts *opts,
                          struct oc_profile *out, struct oc_err *err)
{
    struct reading log = {.c = oc_csv_open(src->file[0].s), .p = out};
    oc_op_rows_init(&log.rows, out, opts);
    out->producer = "DeepSpeed flops profiler";
    int rc = read_lines(&log, err);
    if (rc == 0)
        oc_op_rows_finish(&log.rows);
    oc_op_rows_free(&log.rows);
    oc_buf_free(&log.text);
    oc_csv_close(log.c);
    return rc;
}

static void probe_deepspeed(const struct oc_peek *peek, struct oc_bid *bid)
{
    if (oc_peek_has_line(peek, is_deepspeed_line))
        *bid = (struct oc_bid){.score = 86, .reason = "figures of DeepSpeed's flops profiler"};
}

const struct oc_importer oc_importer_deepspeed = {
    .name = "deepspeed",
    .title = "DeepSpeed flops profiler: module tree as printed (detailed=True)",
    .seen = "0.3 to 0.14 from READMEs and its source",
    .lost = "backward pass; submodules that a page shortened with (...)",
    .probe = probe_deepspeed,
    .read = read_deepspeed,
    .in_output = true,
};
