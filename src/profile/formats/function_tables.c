/* Tables that programs print of CPU functions. */
#include "profile/formats/function_tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "profile/csv_rows.h"

struct table {
    struct oc_csv *c;
    oc_function_sink *sink;
    void *ctx;
    struct oc_function_facts *facts;
    struct oc_err *err;
    /* perf */
    char delimiter; /* '\0': columns are aligned with blanks */
    bool children;  /* two shares: with and without called functions */
    bool samples;
    size_t symbol, library, count;
    double event_count;
    double listed_ns; /* pstats */
};

static bool function_tables_number(struct oc_str s, double *out)
{
    return oc_csv_number(s, out, NULL) && *out >= 0 && *out < 1e15;
}

static int bad_row(struct table *t, const char *tool)
{
    return oc_csv_fail(t->c, t->err, "not a row of %s's flat profile", tool);
}

/* ---- gprof: "% cumulative-s self-s [calls self/call total/call] name", up to an empty line ---------- */

/* " time   seconds   seconds    calls  ms/call  ms/call  name" */
static bool is_gprof_header(struct oc_str line)
{
    static const char *const column[] = {"time", "seconds", "seconds", "calls"};
    for (size_t i = 0; i < OC_COUNT(column); i++)
        if (!oc_csv_same(oc_csv_word(&line), column[i]))
            return false;
    return line.n > 4 && memcmp(line.s + line.n - 4, "name", 4) == 0;
}

static int gprof_row(struct table *t, struct oc_str line)
{
    struct oc_function_row row = {.library = {"", 0}, .share = NAN};
    double v, self_s, calls;
    for (int i = 0; i < 3; i++)
        if (!function_tables_number(oc_csv_word(&line), i == 2 ? &self_s : &v))
            return bad_row(t, "gprof");
    struct oc_str rest = line, w[3];
    for (int i = 0; i < 3; i++)
        w[i] = oc_csv_word(&rest);
    if (rest.n && function_tables_number(w[0], &calls) && function_tables_number(w[1], &v) &&
        function_tables_number(w[2], &v)) {
        line = rest;
        row.calls = (uint64_t)calls;
    }
    row.name = line;
    row.self_ns = self_s * 1e9;
    return line.n ? t->sink(t->ctx, &row, t->err) : bad_row(t, "gprof");
}

static int read_gprof(struct table *t)
{
    struct oc_str line;
    bool rows = false;
    int rc = 0;
    t->facts->tool = "gprof";
    while (rc == 0 && oc_csv_line(t->c, &line)) {
        struct oc_str s = oc_csv_trim(line);
        double v;
        if (rows && !s.n)
            return 0;
        if (rows)
            rc = gprof_row(t, s);
        else if (oc_str_starts(s, "Each sample counts as")) {
            s = oc_str_skip(s, 21);
            if (function_tables_number(oc_csv_word(&s), &v))
                t->facts->resolution_ns = v * 1e9;
        } else
            rows = is_gprof_header(s) && oc_recording_begins(&t->facts->tables, t->c);
    }
    return rc;
}

/* ---- perf report ------------------------------------------------------------------------------------ */

static bool is_perf_header(struct oc_str line)
{
    return oc_str_starts(line, "#") &&
           (oc_str_has(line, "Overhead") || (oc_str_has(line, "Children") && oc_str_has(line, "Self"))) &&
           (oc_str_has(line, "Symbol") || oc_str_has(line, "Command"));
}

static size_t function_tables_column_of(struct oc_str line, char delimiter, const char *name)
{
    for (size_t i = 0; line.n; i++) {
        struct oc_str f = oc_csv_trim(oc_str_take(&line, delimiter));
        if (f.n && f.s[0] == '#')
            f = oc_csv_trim(oc_str_skip(f, 1));
        if (oc_csv_same(f, name))
            return i;
    }
    return OC_CSV_NONE;
}

static void perf_header(struct table *t, struct oc_str line)
{
    static const char delimiters[] = {',', ';', '|', '\t'};
    t->children = oc_str_has(line, "Children");
    t->samples = oc_str_has(line, "Samples");
    t->delimiter = '\0';
    for (size_t i = 0; i < sizeof(delimiters) && !t->delimiter; i++)
        if (memchr(line.s, delimiters[i], line.n))
            t->delimiter = delimiters[i];
    if (!t->delimiter)
        return;
    t->symbol = function_tables_column_of(line, t->delimiter, "Symbol");
    t->library = function_tables_column_of(line, t->delimiter, "Shared Object");
    t->count = function_tables_column_of(line, t->delimiter, "Samples");
}

/* Parses "# Samples: 7K of event 'cpu-clock:u'" (of a group: "of events 'anon group { cycles, instructions
 * }'", whose first column is the first event), "# Event count (approx.): 1866750000". */
static void perf_note(struct table *t, struct oc_str line)
{
    const char *of = oc_find(line.s, line.n, "of event", 8);
    const char *event = of ? memchr(of, '\'', (size_t)(line.s + line.n - of)) : NULL;
    if (event) {
        event++;
        const char *end = memchr(event, '\'', (size_t)(line.s + line.n - event));
        snprintf(t->facts->event, sizeof(t->facts->event), "%.*s",
                 end ? (int)(end - event < 60 ? end - event : 60) : 0, event);
    }
    const char *count = oc_find(line.s, line.n, "Event count (approx.):", 22);
    if (count && !function_tables_number(oc_str_from(line, count + 22), &t->event_count))
        t->event_count = NAN;
}

/* Parses a share "40.79%" at the start of the line, followed by a blank or the delimiter. */
static bool take_share(struct table *t, struct oc_str *line, double *share)
{
    struct oc_str s = oc_csv_trim(*line), number = oc_str_take(&s, '%');
    if (!number.n || number.n > 12 || !function_tables_number(number, share) || *share > 100)
        return false;
    if (!s.n || (s.s[0] != ' ' && s.s[0] != t->delimiter))
        return false;
    s = oc_csv_trim(s);
    if (t->delimiter && s.n && s.s[0] == t->delimiter)
        s = oc_str_skip(s, 1);
    *line = s;
    return true;
}

/* Parses "[.] symbol" and the word before it. */
static struct oc_str function_tables_symbol_of(struct oc_str s, struct oc_str *before)
{
    *before = (struct oc_str){"", 0};
    for (size_t i = 0; i + 3 < s.n; i++) {
        if (s.s[i] != '[' || s.s[i + 2] != ']' || s.s[i + 3] != ' ' || (i && s.s[i - 1] != ' '))
            continue;
        *before = oc_csv_trim((struct oc_str){s.s, i});
        return oc_csv_trim((struct oc_str){s.s + i + 4, s.n - i - 4});
    }
    return oc_csv_trim(s);
}

static void perf_fields(struct table *t, struct oc_str line, struct oc_function_row *row)
{
    struct oc_str before;
    double v;
    size_t first = t->children ? 2 : 1;
    for (size_t i = first; line.n; i++) {
        if (i == t->symbol) { /* last column: names may contain the delimiter */
            row->name = function_tables_symbol_of(line, &before);
            return;
        }
        struct oc_str f = oc_csv_trim(oc_str_take(&line, t->delimiter));
        if (i == t->library)
            row->library = f;
        if (i == t->count && function_tables_number(f, &v))
            row->calls = (uint64_t)v;
    }
}

static int perf_row(struct table *t, struct oc_str line)
{
    struct oc_function_row row = {.name = {"", 0}, .library = {"", 0}};
    struct oc_str before;
    double percent, v;
    if (!take_share(t, &line, &percent) || (t->children && !take_share(t, &line, &percent)))
        return 0; /* a line of a call graph */
    if (t->delimiter) {
        perf_fields(t, line, &row);
    } else {
        if (t->samples && function_tables_number(oc_csv_word(&line), &v))
            row.calls = (uint64_t)v;
        row.name = function_tables_symbol_of(line, &before);
        const char *blank = before.n ? memrchr(before.s, ' ', before.n) : NULL;
        row.library = blank ? oc_str_from(before, blank + 1) : before;
    }
    if (!row.name.n)
        return 0;
    row.share = percent / 100;
    row.self_ns = row.share * t->facts->all_ns;
    t->facts->listed += row.share;
    return t->sink(t->ctx, &row, t->err);
}

/* cpu-clock and task-clock count nanoseconds; shares of any other event are not shares of time. */
static int perf_event(struct table *t)
{
    char *event = t->facts->event;
    bool clock = strncmp(event, "cpu-clock", 9) == 0 || strncmp(event, "task-clock", 10) == 0;
    if (!*event || (clock && isnan(t->event_count)))
        return oc_fail(
            t->err, OC_EFORMAT,
            "the line '# %s' before the table is missing; write the table with perf report --stdio",
            *event ? "Event count (approx.):" : "Samples: ... of event");
    if (!clock)
        return 0;
    *event = '\0';
    t->facts->all_ns = t->event_count;
    t->facts->resolution_ns = t->event_count * 1e-4;
    return 0;
}

static int read_perf(struct table *t)
{
    struct oc_str line;
    bool rows = false;
    int rc = 0;
    t->facts->tool = "perf";
    t->facts->listed = 0;
    t->facts->all = 1;
    t->event_count = NAN;
    while (rc == 0 && oc_csv_line(t->c, &line)) {
        struct oc_str s = oc_csv_trim(line);
        if (is_perf_header(s)) {
            if (rows) { /* table of another event: adding it would count time twice */
                oc_csv_unread(t->c);
                break;
            }
            oc_recording_begins(&t->facts->tables, t->c);
            if (perf_event(t) != 0)
                return -1;
            perf_header(t, s);
            rows = true;
        } else if (oc_str_starts(s, "#")) {
            if (!rows) /* those after the rows are of the next table */
                perf_note(t, s);
        } else if (rows && s.n) {
            rc = perf_row(t, s);
        }
    }
    return rc;
}

/* ---- pstats: "ncalls tottime percall cumtime percall filename:lineno(function)" --------------------- */

static bool is_pstats_header(struct oc_str line)
{
    return oc_str_starts(line, "ncalls") && oc_str_has(line, "tottime") && oc_str_has(line, "cumtime");
}

static int pstats_row(struct table *t, struct oc_str line)
{
    struct oc_function_row row = {.library = {"", 0}, .share = NAN};
    struct oc_str calls = oc_csv_word(&line);
    double v, self_s = 0;
    if (!oc_csv_u64(oc_str_take(&calls, '/'), &row.calls)) /* all calls / non-recursive calls */
        return bad_row(t, "pstats");
    for (int i = 0; i < 4; i++)
        if (!function_tables_number(oc_csv_word(&line), i == 0 ? &self_s : &v))
            return bad_row(t, "pstats");
    row.name = line;
    row.self_ns = self_s * 1e9;
    t->listed_ns += row.self_ns;
    return line.n ? t->sink(t->ctx, &row, t->err) : bad_row(t, "pstats");
}

/* "69042091 function calls (59296560 primitive calls) in 4707.342 seconds", then perhaps "List reduced from
 * 4158 to 5 due to restriction <5>": the time of all functions is known, and not all are listed. */
static void pstats_note(struct table *t, struct oc_str line)
{
    struct oc_str rest = oc_str_after(line, " in ");
    double s;
    if (oc_str_has(line, " function calls ") && function_tables_number(oc_csv_word(&rest), &s))
        t->facts->all_ns = s * 1e9;
    if (oc_str_starts(line, "List reduced from ") && t->facts->all_ns > 0)
        t->facts->all = 1;
}

static int read_pstats(struct table *t)
{
    struct oc_str line;
    bool rows = false;
    int rc = 0;
    t->facts->tool = "Python's profiler";
    t->facts->resolution_ns = 1e6;
    while (rc == 0 && oc_csv_line(t->c, &line)) {
        struct oc_str s = oc_csv_trim(line);
        if (rows && !s.n)
            break;
        if (rows)
            rc = pstats_row(t, s);
        else if (!(rows = is_pstats_header(s) && oc_recording_begins(&t->facts->tables, t->c)))
            pstats_note(t, s);
    }
    if (!isnan(t->facts->all))
        t->facts->listed = t->listed_ns / t->facts->all_ns;
    return rc;
}

/* ---- VTune: aligned columns under a line of dashes, "4.850s" ---------------------------------------- */

enum { VTUNE_NAME, VTUNE_TIME, VTUNE_MODULE, VTUNE_COLUMNS };

/* The last n titles of the header line, which may follow other text; they are separated by two blanks. */
static bool vtune_columns(struct oc_str header, size_t n, size_t *at)
{
    static const char *const title[] = {"Function", "CPU Time", "Module"};
    for (size_t k = 0; k < VTUNE_COLUMNS; k++)
        at[k] = OC_CSV_NONE;
    for (size_t i = n; i-- > 0;) {
        size_t from = (header = oc_csv_trim(header)).n;
        while (from > 0 && !(from > 1 && header.s[from - 1] == ' ' && header.s[from - 2] == ' '))
            from--;
        struct oc_str field = {header.s + from, header.n - from};
        for (size_t k = 0; k < VTUNE_COLUMNS; k++)
            if (oc_csv_same(field, title[k]))
                at[k] = i;
        header.n = from;
    }
    return at[VTUNE_NAME] != OC_CSV_NONE && at[VTUNE_TIME] != OC_CSV_NONE;
}

static bool is_vtune_header(struct oc_str line, struct oc_str rule)
{
    struct oc_text_column span[OC_TEXT_COLUMNS];
    size_t n = oc_text_rule(rule, span), at[VTUNE_COLUMNS];
    return n && oc_str_has(line, "CPU Time") && vtune_columns(line, n, at);
}

static int vtune_row(struct table *t, struct oc_str line, const struct oc_text_column *span, size_t n,
                     const size_t *at)
{
    struct oc_str field[OC_TEXT_COLUMNS], unit;
    struct oc_function_row row = {.library = {"", 0}, .share = NAN};
    double scale = 1e9;
    oc_text_cut(line, span, n, field);
    row.name = field[at[VTUNE_NAME]];
    if (at[VTUNE_MODULE] != OC_CSV_NONE)
        row.library = field[at[VTUNE_MODULE]];
    if (!row.name.n || !oc_csv_number(field[at[VTUNE_TIME]], &row.self_ns, &unit) || !(row.self_ns >= 0) ||
        (unit.n && !oc_csv_time_unit(unit, &scale)))
        return 1;
    row.self_ns *= scale;
    return t->sink(t->ctx, &row, t->err);
}

static int read_vtune(struct table *t)
{
    struct oc_text_column span[OC_TEXT_COLUMNS], found[OC_TEXT_COLUMNS];
    struct oc_buf last = {0};
    struct oc_str line;
    size_t n = 0, at[VTUNE_COLUMNS];
    int rc = 0;
    t->facts->tool = "VTune";
    t->facts->resolution_ns = 1e6;
    while (rc == 0 && oc_csv_line(t->c, &line)) {
        size_t k = n ? 0 : oc_text_rule(line, found);
        if (n) {
            rc = vtune_row(t, line, span, n, at);
        } else if (k && vtune_columns((struct oc_str){last.n ? last.data : "", last.n}, k, at)) {
            memcpy(span, found, k * sizeof(*span));
            n = k;
        }
        oc_buf_clear(&last);
        oc_buf_add(&last, line.s, line.n);
    }
    oc_buf_free(&last);
    return rc < 0 ? rc : 0; /* 1: the line after the table */
}

/* ---- all -------------------------------------------------------------------------------------------- */

enum oc_function_table oc_function_table_kind(const char *data, size_t n)
{
    struct oc_str text = oc_str(data, n), last = {"", 0}, line;
    while (oc_str_line(&text, &line)) {
        struct oc_str s = oc_csv_trim(line);
        if (is_vtune_header(last, s))
            return OC_TABLE_VTUNE;
        last = s;
        if (is_perf_header(s))
            return OC_TABLE_PERF;
        if (is_pstats_header(s))
            return OC_TABLE_PSTATS;
        if (is_gprof_header(s))
            return OC_TABLE_GPROF;
    }
    return OC_TABLE_NONE;
}

/* Tables after the one that was read. */
static void count_tables(enum oc_function_table kind, struct table *t)
{
    static bool (*const is_header[])(struct oc_str) = {[OC_TABLE_GPROF] = is_gprof_header,
                                                       [OC_TABLE_PERF] = is_perf_header,
                                                       [OC_TABLE_PSTATS] = is_pstats_header};
    struct oc_str line;
    while (kind < OC_COUNT(is_header) && is_header[kind] && oc_csv_line(t->c, &line))
        if (is_header[kind](oc_csv_trim(line)))
            oc_recording_begins(&t->facts->tables, t->c);
}

int oc_function_table_read(enum oc_function_table kind, struct oc_csv *c, oc_function_sink *sink, void *ctx,
                           struct oc_function_facts *facts, struct oc_err *err)
{
    static int (*const read[])(struct table *) = {[OC_TABLE_GPROF] = read_gprof,
                                                  [OC_TABLE_PERF] = read_perf,
                                                  [OC_TABLE_PSTATS] = read_pstats,
                                                  [OC_TABLE_VTUNE] = read_vtune};
    struct table t = {.c = c, .sink = sink, .ctx = ctx, .facts = facts, .err = err};
    *facts = (struct oc_function_facts){
        .tool = "", .listed = NAN, .all = NAN, .all_ns = NAN, .resolution_ns = NAN};
    int rc = kind < OC_COUNT(read) && read[kind] ? read[kind](&t)
                                                 : oc_fail(err, OC_EFORMAT, "no table of functions");
    if (rc == 0)
        count_tables(kind, &t);
    return rc == 0 && oc_csv_failed(c) ? oc_csv_error(c, err) : rc;
}
