/* Columns of the tables of a scan, and the cells of nodes and profiles. */
#include "fleet/scan.h"

#include <math.h>
#include <string.h>

#include "analyze/analysis.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/units.h"
#include "hw/hwdb.h"
#include "join/join.h"
#include "onnxcost/report.h"
#include "profile/profile.h"
#include "report/columns.h"
#include "report/headline.h"
#include "report/report.h"

/* One line per column. ROW: a member of struct oc_scan_row. CELL: packed. */
/* clang-format off */
#define MODELS(ROW, CELL) \
    ROW(TEXT, path, true, "", "as named, or below the named folder") \
    ROW(U64, size_bytes, false, "B", "size of the file, without external weights") \
    ROW(I64, mtime_ns, false, "ns", "time of its last change, since 1970") \
    ROW(TEXT, hash, false, "", "XXH64 of the file, 16 hexadecimal digits; see --hash") \
    ROW(TEXT, duplicate_of, false, "", "the first path in this scan whose file is identical") \
    ROW(I64, ir_version, false, "", "version of the format") \
    ROW(I64, opset, false, "", "operator set of the default domain") \
    ROW(TEXT, domains, false, "", "other domains with their versions") \
    ROW(TEXT, producer, false, "", "name and version of the program that wrote the model") \
    ROW(U64, nodes, false, "nodes", "nodes that run") \
    ROW(U64, unknown_nodes, false, "nodes", "those of them without a known cost") \
    ROW(U64, params, false, "elements", "parameters") \
    ROW(U64, const_bytes, false, "B", "constants") \
    ROW(U64, macs, false, "MAC", "multiply-accumulates of contractions") \
    ROW(U64, flops, false, "FLOP", "floating-point operations; a MAC is two") \
    ROW(U64, ops, false, "op", "operations on integers") \
    ROW(U64, bytes, false, "B", "bytes read and written by all nodes") \
    ROW(U64, peak_activation_bytes, false, "B", "peak activation memory") \
    ROW(TEXT, quality, false, "", "of the counts: exact, upper, lower, est, unknown") \
    ROW(TEXT, peak_quality, false, "", "of the peak") \
    ROW(U64, assumptions, false, "", "number of assumptions about shapes and values") \
    ROW(DOUBLE, seconds, false, "s", "time of the analysis") \
    ROW(TEXT, settings, false, "", "fingerprint of version and options") \
    ERROR_TEXT(ROW) \
    ROW(TEXT, error_file, false, "", "file of the error, such as one with external weights") \
    ROW(U64, error_line, false, "", "line of the error in a text file") \
    ROW(U64, error_offset, false, "B", "offset of the error in a binary file")

#define ERROR_TEXT(ROW) \
    ROW(TEXT, error, false, "", "why the file could not be read; other columns are then null") \
    ROW(TEXT, error_code, false, "", "io, format, limit, unsupported, argument, memory, crash")

#define NODES(ROW, CELL) \
    ROW(TEXT, path, true, "", "the file that was scanned: model or profile") \
    CELL(TEXT, model, false, "", "path of the model; null: of this profile none is known") \
    CELL(TEXT, device, false, "", "device of the roofline (--hw)") \
    CELL(U64, node, false, "", "index of the node in the model; of several the first") \
    CELL(TEXT, id, false, "", "identifier of the node or of the record, as in reports") \
    CELL(TEXT, name, false, "", "name of the node; of a record without a node that of the runtime") \
    CELL(TEXT, type, false, "", "operator type") \
    CELL(DOUBLE, time_ns, false, "ns", "measured time per run, in the statistic of the profile") \
    CELL(DOUBLE, time_fraction, false, "1", "of the time of all rows of this file") \
    CELL(DOUBLE, time_min_ns, false, "ns", "fastest run") \
    CELL(DOUBLE, time_max_ns, false, "ns", "slowest run") \
    CELL(DOUBLE, host_time_ns, false, "ns", "time on the host, where time_ns is that of a device") \
    CELL(DOUBLE, calls, false, "", "calls per run") \
    CELL(U64, macs, false, "MAC", "multiply-accumulates") \
    CELL(U64, float_ops, false, "FLOP", "floating-point operations; a MAC is two") \
    CELL(U64, int_ops, false, "op", "operations on integers") \
    CELL(DOUBLE, flo, false, "FLOP", "both; also where only the profile states them") \
    CELL(U64, bytes_read_act, false, "B", "activations read") \
    CELL(U64, bytes_read_weight, false, "B", "weights read") \
    CELL(U64, bytes_written, false, "B", "bytes written") \
    CELL(DOUBLE, bytes, false, "B", "all three; also where only the profile states them") \
    CELL(U64, params, false, "elements", "parameters of the node") \
    CELL(TEXT, quality, false, "", "of the counts: exact, upper, lower, est, unknown") \
    CELL(TEXT, bound_by, false, "", "what limits the node on the device: DRAM, compute:vector ...") \
    CELL(DOUBLE, roofline_ns, false, "ns", "roofline time on the device") \
    CELL(DOUBLE, roofline_efficiency, false, "1", "roofline_ns / time_ns") \
    CELL(DOUBLE, gap_ns, false, "ns", "time_ns - roofline_ns; negative: faster than the roofline") \
    CELL(TEXT, above_roofline, false, "", "likely reason of an efficiency above 1") \
    CELL(TEXT, matched_by, false, "", "rule that joined the record to nodes") \
    CELL(TEXT, nodes, false, "", "names of the nodes of a record, separated by semicolons") \
    CELL(TEXT, provider, false, "", "execution provider") \
    CELL(TEXT, scope, false, "", "body of control flow or function that contains the node") \
    CELL(U64, trips, false, "", "executions of the node in a run") \
    CELL(TEXT, inputs, false, "", "input shapes, separated by semicolons") \
    CELL(TEXT, outputs, false, "", "output shapes, separated by semicolons") \
    ERROR_TEXT(ROW)

#define PROFILES(ROW, CELL) \
    ROW(TEXT, path, true, "", "as named, or below the named folder") \
    ROW(U64, size_bytes, false, "B", "size of the file") \
    ROW(I64, mtime_ns, false, "ns", "time of its last change, since 1970") \
    ROW(TEXT, hash, false, "", "XXH64 of the file, 16 hexadecimal digits; see --hash") \
    ROW(TEXT, duplicate_of, false, "", "the first path in this scan whose file is identical") \
    CELL(TEXT, format, false, "", "format of the profile (onnxcost help formats)") \
    ROW(TEXT, producer, false, "", "runtime, with its version if the profile states it") \
    CELL(TEXT, device_name, false, "", "device that the profile states") \
    CELL(TEXT, event, false, "", "what was counted instead of time (\"cycles\")") \
    CELL(U64, runs, false, "runs", "runs used") \
    CELL(U64, runs_total, false, "runs", "runs in the file, with warm-up; null: unknown") \
    CELL(TEXT, stat, false, "", "statistic over runs: median, min, mean, sum ...") \
    CELL(TEXT, time_kind, false, "", "host time or device time") \
    CELL(DOUBLE, latency_ns, false, "ns", "time of a run; null where the number of runs is unknown") \
    CELL(DOUBLE, run_min_ns, false, "ns", "fastest run") \
    CELL(DOUBLE, run_p25_ns, false, "ns", "quartile of the runs") \
    CELL(DOUBLE, run_median_ns, false, "ns", "median of the runs") \
    CELL(DOUBLE, run_p75_ns, false, "ns", "quartile of the runs") \
    CELL(DOUBLE, run_max_ns, false, "ns", "slowest run") \
    CELL(DOUBLE, total_ns, false, "ns", "of a run; where the number of runs is unknown, of the recording") \
    CELL(DOUBLE, busy_ns, false, "ns", "of a run: while at least one operator runs") \
    CELL(U64, operators, false, "", "rows of the profile: operators and groups") \
    CELL(TEXT, top_type_1, false, "", "operator type with the most time") \
    CELL(DOUBLE, top_fraction_1, false, "1", "its part of the time of all rows") \
    CELL(TEXT, top_type_2, false, "", "the second one") \
    CELL(DOUBLE, top_fraction_2, false, "1", "its part") \
    CELL(TEXT, top_type_3, false, "", "the third one") \
    CELL(DOUBLE, top_fraction_3, false, "1", "its part") \
    CELL(TEXT, model, false, "", "path of the model (--join); null: none was found") \
    CELL(DOUBLE, attributed_fraction, false, "1", "of the operators' time: attributed to nodes of the model") \
    CELL(TEXT, mismatch, false, "", "why profile and model do not belong together") \
    CELL(U64, macs, false, "MAC", "of the model in a run") \
    CELL(U64, flops, false, "FLOP", "of the model in a run; a MAC is two") \
    CELL(U64, ops, false, "op", "of the model in a run, on integers") \
    CELL(TEXT, quality, false, "", "of these counts: exact, upper, lower, est, unknown") \
    CELL(TEXT, device, false, "", "device of the roofline (--hw)") \
    CELL(DOUBLE, roofline_ns, false, "ns", "roofline time of the rows that have one") \
    CELL(DOUBLE, roofline_efficiency, false, "1", "roofline_ns over the time of the same rows") \
    CELL(DOUBLE, gap_ns, false, "ns", "time of these rows - roofline_ns") \
    CELL(DOUBLE, at_least_ns, false, "ns", "lower bound of a run for any runtime on the device") \
    CELL(U64, warnings, false, "", "warnings of profile, model and join") \
    ROW(DOUBLE, seconds, false, "s", "time of reading and analysis") \
    ROW(TEXT, settings, false, "", "fingerprint of version and options") \
    ERROR_TEXT(ROW) \
    ROW(TEXT, error_file, false, "", "file of the error: profile or model") \
    ROW(U64, error_line, false, "", "line of the error in a text file") \
    ROW(U64, error_offset, false, "B", "offset of the error in a binary file")
/* clang-format on */

#define COLUMN(kind, name, required, unit, what) {#name, OC_DATUM_##kind, required, unit, what},
#define NO_COLUMN(kind, name, required, unit, what)
#define OFFSET(kind, name, required, unit, what)        offsetof(struct oc_scan_row, name),
#define PACKED_OFFSET(kind, name, required, unit, what) OC_SCAN_PACKED,

#define TABLE(title, LIST)                                                                                   \
    static const struct oc_cell_column title##_column[] = {LIST(COLUMN, COLUMN)};                            \
    static const struct oc_cell_column title##_packed[] = {LIST(NO_COLUMN, COLUMN){.name = NULL}};           \
    static const size_t title##_offset[] = {LIST(OFFSET, PACKED_OFFSET)};                                    \
    _Static_assert(OC_COUNT(title##_column) <= OC_SCAN_COLUMNS, "room for every cell");                      \
    const struct oc_scan_table oc_scan_##title = {                                                           \
        .cells = {#title, 1, title##_column, OC_COUNT(title##_column)},                                      \
        .offset = title##_offset,                                                                            \
        .packed = {#title, 1, title##_packed, OC_COUNT(title##_packed) - 1}};

TABLE(models, MODELS)
TABLE(nodes, NODES)
TABLE(profiles, PROFILES)

const struct oc_scan_table *oc_scan_table_of(const char *rows, bool profiles)
{
    const struct oc_scan_table *whole = profiles ? &oc_scan_profiles : &oc_scan_models;
    if (!rows || !strcmp(rows, whole->cells.name))
        return whole;
    return strcmp(rows, oc_scan_nodes.cells.name) ? NULL : &oc_scan_nodes;
}

/* ---- cells ------------------------------------------------------------------------------------------ */

static struct oc_datum member_cell(unsigned kind, const void *at)
{
    struct oc_datum c = {.known = true};
    switch (kind) {
    case OC_DATUM_TEXT:
        memcpy(&c.as.text, at, sizeof(c.as.text));
        c.known = c.as.text != NULL;
        return c;
    case OC_DATUM_U64:
        memcpy(&c.as.u64, at, sizeof(c.as.u64));
        c.known = c.as.u64 != OC_SCAN_UNKNOWN;
        return c;
    case OC_DATUM_I64:
        memcpy(&c.as.i64, at, sizeof(c.as.i64));
        c.known = c.as.i64 != INT64_MIN;
        return c;
    default:
        memcpy(&c.as.number, at, sizeof(c.as.number));
        return oc_datum_number(c.as.number);
    }
}

void oc_scan_row_cells(const struct oc_scan_table *t, const struct oc_scan_row *row, struct oc_datum *cell)
{
    for (size_t i = 0; i < t->cells.n; i++)
        if (t->offset[i] != OC_SCAN_PACKED)
            cell[i] = member_cell(t->cells.column[i].kind, (const char *)row + t->offset[i]);
}

bool oc_scan_next_cells(const struct oc_scan_table *t, const struct oc_scan_row *row,
                        struct oc_scan_cursor *cursor, struct oc_datum *cell)
{
    struct oc_datum packed[OC_SCAN_COLUMNS];
    bool alone = !t->packed.n || row->error, first = !cursor->begun;
    if (first)
        *cursor = (struct oc_scan_cursor){.at = row->cells, .begun = true};
    if (alone ? !first
              : !row->cells ||
                    !oc_cells_unpack(&t->packed, &cursor->at, row->cells + row->n_cells_bytes, packed))
        return false;
    for (size_t i = 0, k = 0; i < t->cells.n; i++)
        if (t->offset[i] == OC_SCAN_PACKED && !alone)
            cell[i] = packed[k++];
        else if (t->offset[i] == OC_SCAN_PACKED)
            cell[i] = (struct oc_datum){.known = false};
    oc_scan_row_cells(t, row, cell);
    return true;
}

/* ---- packed cells -------------------------------------------------------------------------------- */

/* A row: of every cell a byte, whether it is known, then its eight bytes, or its text with the final null
 * character. */
void oc_cells_pack(const struct oc_cell_table *t, const struct oc_datum *cell, struct oc_buf *out)
{
    for (size_t i = 0; i < t->n; i++) {
        oc_buf_char(out, cell[i].known ? 1 : 0);
        if (!cell[i].known)
            continue;
        if (t->column[i].kind == OC_DATUM_TEXT)
            oc_buf_add(out, cell[i].as.text, strlen(cell[i].as.text) + 1);
        else
            oc_buf_add(out, &cell[i].as.u64, sizeof(cell[i].as.u64));
    }
}

static bool unpack_one(bool text, const char **at, const char *end, struct oc_datum *cell)
{
    *cell = (struct oc_datum){.known = false};
    if (*at == end)
        return false;
    cell->known = *(*at)++ != 0;
    if (!cell->known)
        return true;
    size_t left = (size_t)(end - *at), n = sizeof(cell->as.u64);
    if (text) {
        const char *stop = memchr(*at, '\0', left);
        if (!stop)
            return false;
        cell->as.text = *at;
        n = (size_t)(stop - *at) + 1;
    } else {
        if (left < n)
            return false;
        memcpy(&cell->as.u64, *at, n);
    }
    *at += n;
    return true;
}

bool oc_cells_unpack(const struct oc_cell_table *t, const char **at, const char *end, struct oc_datum *cell)
{
    for (size_t i = 0; i < t->n; i++)
        if (!unpack_one(t->column[i].kind == OC_DATUM_TEXT, at, end, &cell[i]))
            return false;
    return t->n > 0;
}

static void make_report(const struct oc_report_in *in, const struct oc_report_opts *opts, struct oc_report *r)
{
    *r = (struct oc_report){.in = in, .o = opts};
    oc_report_rows(r);
    oc_report_roofs(r);
    oc_report_count_runs(r);
    r->shown = r->all;
    oc_report_finish(r);
}

static const char *device_name(const struct oc_report_in *in)
{
    return in->device ? oc_device_info(in->device)->id : NULL;
}

static const char *text_or_null(const char *s)
{
    return s && *s ? s : NULL;
}

/* Names a cell of a packed row and sets it. */
struct row_cells {
    const struct oc_cell_table *table;
    struct oc_datum cell[OC_SCAN_COLUMNS];
};

static void set(struct row_cells *c, const char *name, struct oc_datum value)
{
    for (size_t i = 0; i < c->table->n; i++)
        if (!strcmp(c->table->column[i].name, name))
            c->cell[i] = value;
}

static void set_text(struct row_cells *c, const char *name, const char *s)
{
    set(c, name, oc_datum_text(text_or_null(s)));
}

static void set_number(struct row_cells *c, const char *name, double v)
{
    set(c, name, oc_datum_number(v));
}

static void set_ns(struct row_cells *c, const char *name, double ns)
{
    set(c, name, oc_datum_number(oc_rounded_ns(ns)));
}

static void set_u64(struct row_cells *c, const char *name, uint64_t v)
{
    set(c, name, oc_datum_u64(v));
}

/* ---- packed cells of operators ------------------------------------------------------------------- */

/* The column of reports for each packed cell; NULL: none. */
static void find_columns(const struct oc_cell_table *t, const struct oc_column **column)
{
    for (size_t i = 0; i < t->n; i++) {
        const char *key = strcmp(t->column[i].name, "gap_ns") ? t->column[i].name : "wasted_ns";
        column[i] = NULL;
        for (size_t k = 0; k < oc_n_columns && !column[i]; k++)
            if ((oc_columns[k].use & OC_COL_CSV) && !strcmp(oc_columns[k].key, key))
                column[i] = &oc_columns[k];
    }
}

/* A count that is not whole, such as a mean over runs of different sizes, is unknown as an integer. */
static struct oc_datum cell_of(unsigned kind, const struct oc_column *column, const struct oc_line *line)
{
    struct oc_field f = oc_field_of(column, line);
    if (kind == OC_DATUM_TEXT)
        return oc_datum_text(text_or_null(f.text));
    double v = column->kind == OC_FIELD_TIME ? oc_ns_of(f.number) : f.number;
    if (kind == OC_DATUM_DOUBLE)
        return oc_datum_number(f.whole ? (double)f.whole : v);
    if (f.whole)
        return oc_datum_u64(f.whole);
    bool whole = v >= 0 && v < 0x1p53 && v == floor(v);
    return whole ? oc_datum_u64((uint64_t)v) : (struct oc_datum){.known = false};
}

void oc_scan_pack_nodes(const struct oc_scan_source *source, struct oc_buf *out)
{
    const struct oc_report_opts opts = {.cache = true};
    const struct oc_column *column[OC_SCAN_COLUMNS] = {NULL};
    struct row_cells c = {.table = &oc_scan_nodes.packed};
    struct oc_report r;
    struct oc_arena scratch = {0};
    make_report(&source->in, &opts, &r);
    find_columns(c.table, column);
    set_text(&c, "model", source->model);
    set_text(&c, "device", device_name(&source->in));
    for (struct oc_line l = {.r = &r, .arena = &scratch}; oc_line_next(&l);) {
        uint32_t node = oc_row_node(&r, l.row);
        for (size_t i = 0; i < c.table->n; i++)
            if (column[i])
                c.cell[i] = cell_of(c.table->column[i].kind, column[i], &l);
        set(&c, "node", (struct oc_datum){.known = node != OC_NONE, .as.u64 = node});
        oc_cells_pack(c.table, c.cell, out);
        oc_arena_free(&scratch);
    }
    oc_arena_free(&r.arena);
}

/* ---- packed cells of profiles -------------------------------------------------------------------- */

enum { TOP_TYPES = 3 };

struct type_times {
    struct oc_arena arena;
    struct oc_map of;
    struct type_time {
        const char *type;
        double part; /* of the time, or of the samples, of all rows */
    } * item;
};

static void add_types(const struct oc_report *r, struct type_times *t)
{
    t->of.arena = &t->arena;
    t->item = OC_NEW_ARRAY(&t->arena, r->all.n + 1, struct type_time);
    for (uint32_t i = 0; i < r->all.n; i++) {
        const struct oc_row *row = &r->all.row[i];
        double part = r->has_share ? row->share : row->time_s / r->total_s;
        uint32_t id = t->of.n;
        if (isnan(part) || !row->type || !*row->type)
            continue;
        if (oc_map_add(&t->of, row->type, strlen(row->type), &id, NULL))
            t->item[id] = (struct type_time){.type = row->type};
        t->item[id].part += part;
    }
}

static void set_top_types(struct row_cells *c, const struct oc_report *r)
{
    struct type_times t = {.item = NULL};
    char name[32];
    add_types(r, &t);
    for (unsigned rank = 1; rank <= TOP_TYPES; rank++) {
        struct type_time *best = NULL;
        for (uint32_t i = 0; i < t.of.n; i++)
            if (t.item[i].part > 0 && (!best || t.item[i].part > best->part))
                best = &t.item[i];
        if (!best)
            break;
        snprintf(name, sizeof(name), "top_type_%u", rank);
        set_text(c, name, best->type);
        snprintf(name, sizeof(name), "top_fraction_%u", rank);
        set_number(c, name, best->part);
        best->part = 0;
    }
    oc_map_free(&t.of);
    oc_arena_free(&t.arena);
}

static void set_runs(struct row_cells *c, const struct oc_profile *p)
{
    const struct oc_run_spread *s = &p->spread;
    set_text(c, "format", p->format);
    set_text(c, "device_name", p->device);
    set_text(c, "event", p->event);
    set_u64(c, "runs", p->runs_used);
    if (p->runs_total)
        set_u64(c, "runs_total", p->runs_total);
    set_text(c, "stat", oc_stat_name(p->stat));
    set_text(c, "time_kind", p->time_kind);
    if (!s->n)
        return;
    set_ns(c, "run_min_ns", s->min_ns);
    set_ns(c, "run_p25_ns", s->p25_ns);
    set_ns(c, "run_median_ns", s->median_ns);
    set_ns(c, "run_p75_ns", s->p75_ns);
    set_ns(c, "run_max_ns", s->max_ns);
}

static void set_model(struct row_cells *c, const struct oc_report_in *in)
{
    const char *text[OC_MAX_MISMATCHES];
    if (oc_mismatches(in, text))
        set_text(c, "mismatch", text[0]);
    if (!in->join)
        return;
    const struct oc_totals *t = in->analysis->total;
    set_number(c, "attributed_fraction", in->join->time_matched_fraction);
    set_text(c, "quality", oc_quality_name(t->quality));
    if (t->nodes && t->unknown_nodes == t->nodes)
        return;
    set_u64(c, "macs", t->macs);
    set_u64(c, "flops", t->flops);
    set_u64(c, "ops", t->ops);
}

static void set_roofline(struct row_cells *c, struct oc_report *r)
{
    struct oc_row_bounds b;
    if (!r->in->device)
        return;
    oc_bounds_of(r, &b);
    set_text(c, "device", device_name(r->in));
    set_ns(c, "roofline_ns", oc_ns_of(b.roof_s));
    set_number(c, "roofline_efficiency", b.roof_s / b.time_s);
    set_ns(c, "gap_ns", oc_ns_of(b.wasted_s));
    set_ns(c, "at_least_ns", oc_ns_of(r->bound_s));
}

static uint64_t count_warnings(const struct oc_report_in *in)
{
    uint64_t n = 0;
    for (unsigned source = 0; source < OC_FINDING_SOURCES; source++) {
        const struct oc_diag *d = NULL;
        size_t count = oc_findings_of(in, source, &d);
        for (size_t i = 0; i < count; i++)
            n += d[i].severity != OC_INFO;
    }
    return n;
}

void oc_scan_pack_profile(const struct oc_scan_source *source, struct oc_buf *out)
{
    const struct oc_report_opts opts = {.cache = true};
    struct row_cells c = {.table = &oc_scan_profiles.packed};
    struct oc_headline h;
    struct oc_report r;
    make_report(&source->in, &opts, &r);
    oc_headline_of(&r, &h);
    set_runs(&c, source->in.profile);
    set_ns(&c, "latency_ns", h.run_ns);
    set_ns(&c, "total_ns", h.total_ns);
    set_ns(&c, "busy_ns", h.busy_ns);
    set_u64(&c, "operators", r.all.n);
    set_top_types(&c, &r);
    set_text(&c, "model", source->model);
    set_model(&c, &source->in);
    set_roofline(&c, &r);
    set_u64(&c, "warnings", count_warnings(&source->in));
    oc_cells_pack(c.table, c.cell, out);
    oc_arena_free(&r.arena);
}
