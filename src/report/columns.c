/* report/: Rows of a report: selection, grouping, sorting, columns, verdict. The one place where figures of
 * rows and totals are computed; every output reads them. A column is a row of columns.c, a key of
 * --group-by one of groups.c. */

#include "report/columns.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/ck.h"
#include "base/units.h"
#include "join/join.h"
#include "onnxcost.h"

static bool with_time(const struct oc_report *r)
{
    return r->has_time;
}

static bool with_shares(const struct oc_report *r)
{
    return r->has_time || r->has_share;
}

static bool without_time(const struct oc_report *r)
{
    return !with_shares(r);
}

static bool with_hardware(const struct oc_report *r)
{
    return r->in->device != NULL;
}

static bool with_hardware_and_time(const struct oc_report *r)
{
    return r->in->device != NULL && r->has_time;
}

static bool with_analysis(const struct oc_report *r)
{
    return r->in->analysis != NULL;
}

static bool without_groups(const struct oc_report *r)
{
    return !oc_report_grouped(r->o);
}

static bool with_places(const struct oc_report *r)
{
    return r->has_places && without_groups(r);
}

static bool with_macs(const struct oc_report *r)
{
    for (uint32_t i = 0; !r->in->analysis && i < r->all.n; i++)
        if (!isnan(r->all.row[i].macs))
            return true;
    return r->in->analysis != NULL;
}

static bool with_costs(const struct oc_report *r)
{
    for (uint32_t i = 0; !r->in->analysis && i < r->all.n; i++)
        if (!isnan(r->all.row[i].computation) || !isnan(r->all.row[i].memory))
            return true;
    return r->in->analysis != NULL;
}

static bool with_rates(const struct oc_report *r)
{
    return r->has_time && with_costs(r);
}

static bool with_energy(const struct oc_report *r)
{
    return r->has_energy;
}

static bool with_energy_and_costs(const struct oc_report *r)
{
    return r->has_energy && with_costs(r);
}

static bool with_join(const struct oc_report *r)
{
    return r->in->join != NULL;
}

static bool with_groups(const struct oc_report *r)
{
    return oc_report_grouped(r->o);
}

/* Exact counts of one row: of its node, or of the nodes covered by its record. */
struct counts {
    uint64_t flops, ops, rd_act, rd_wt, wr, macs, params;
    bool ops_known, bytes_known;
};

static struct counts counts_of_one_run(const struct oc_line *l)
{
    const struct oc_analysis *a = l->r->in->analysis;
    const struct oc_row *row = l->row;
    if (!a || row->count != 1)
        return (struct counts){0};
    if (l->r->in->join && row->record != OC_NONE) {
        const struct oc_join_rec *j = &l->r->in->join->rec[row->record];
        return (struct counts){j->flops,      j->ops,  j->rd_act, j->rd_wt,
                               j->wr,         j->macs, j->params, j->quality != OC_UNKNOWN,
                               j->bytes_known};
    }
    if (row->node == OC_NONE)
        return (struct counts){0};
    const struct oc_node_cost *k = &a->cost[row->node];
    bool known = k->quality != OC_UNKNOWN;
    return (struct counts){k->flops, k->ops, k->rd_act, k->rd_wt, k->wr, k->macs, k->params, known, known};
}

/* Scales to all the runs in the row's time. */
static struct counts columns_counts_of(const struct oc_line *l)
{
    struct counts k = counts_of_one_run(l);
    uint64_t runs = isnan(l->row->time_s) ? 1 : (uint64_t)l->r->m.runs;
    k.ops_known = k.ops_known && oc_mul_u64(k.flops, runs, &k.flops) && oc_mul_u64(k.ops, runs, &k.ops) &&
                  oc_mul_u64(k.macs, runs, &k.macs);
    k.bytes_known = k.bytes_known && oc_mul_u64(k.rd_act, runs, &k.rd_act) &&
                    oc_mul_u64(k.rd_wt, runs, &k.rd_wt) && oc_mul_u64(k.wr, runs, &k.wr);
    return k;
}

static const char *first_shape(const struct oc_row_shape *s, uint32_t n)
{
    return n ? s[0].text : NULL;
}

#define TEXT_CELL(name, value)                                                                               \
    static void name(const struct oc_line *l, struct oc_field *c)                                            \
    {                                                                                                        \
        c->text = (value);                                                                                   \
    }
#define NUMBER_CELL(name, value)                                                                             \
    static void name(const struct oc_line *l, struct oc_field *c)                                            \
    {                                                                                                        \
        c->number = (value);                                                                                 \
    }
/* A figure of the row, with the exact value when it is of one run of one row. */
#define EXACT_CELL(name, value, field)                                                                       \
    static void name(const struct oc_line *l, struct oc_field *c)                                            \
    {                                                                                                        \
        struct counts k = columns_counts_of(l);                                                              \
        c->number = (value);                                                                                 \
        c->whole = (double)(field) == c->number ? (field) : 0;                                               \
    }
#define COUNT_CELL(name, field, known)                                                                       \
    static void name(const struct oc_line *l, struct oc_field *c)                                            \
    {                                                                                                        \
        struct counts k = columns_counts_of(l);                                                              \
        c->whole = k.known ? (field) : 0;                                                                    \
        c->number = k.known ? (double)c->whole : NAN;                                                        \
    }

/* Shares of the counted event where there are no times. */
static double columns_part_of(const struct oc_line *l, double time_s, double share)
{
    return l->r->has_share ? share : time_s / l->r->total_s;
}

NUMBER_CELL(get_rank, l->rank + 1)
NUMBER_CELL(get_time, l->row->time_s)
NUMBER_CELL(get_host_time, l->row->host_time_s)
NUMBER_CELL(get_share, columns_part_of(l, l->row->time_s, l->row->share))
NUMBER_CELL(get_cumulative, columns_part_of(l, l->cumulative_s, l->cumulative_share))
NUMBER_CELL(get_flo_share, l->r->total_flo > 0 ? l->row->computation / l->r->total_flo : NAN)
EXACT_CELL(get_flo, l->row->computation, k.flops + k.ops)
NUMBER_CELL(get_flops, oc_row_flops(l->row))
EXACT_CELL(get_bytes, l->row->memory, k.rd_act + k.rd_wt + k.wr)
NUMBER_CELL(get_bandwidth, oc_row_bandwidth(l->row))
NUMBER_CELL(get_energy, l->row->energy_j)
NUMBER_CELL(get_flop_per_j, oc_row_flop_per_j(l->row))
EXACT_CELL(get_macs, l->row->macs, k.macs)
EXACT_CELL(get_params, l->row->params, k.params)
NUMBER_CELL(get_intensity, l->row->memory > 0 ? l->row->computation / l->row->memory : NAN)
NUMBER_CELL(get_roofline, l->row->roofline_s)
NUMBER_CELL(get_efficiency, l->row->efficiency)
NUMBER_CELL(get_wasted, l->row->wasted_s)
NUMBER_CELL(get_calls, l->row->calls)
NUMBER_CELL(get_min, l->row->min_s)
NUMBER_CELL(get_max, l->row->max_s)
NUMBER_CELL(get_count, (double)l->row->count)
COUNT_CELL(get_float_ops, k.flops, ops_known)
COUNT_CELL(get_int_ops, k.ops, ops_known)
COUNT_CELL(get_read_act, k.rd_act, bytes_known)
COUNT_CELL(get_read_weight, k.rd_wt, bytes_known)
COUNT_CELL(get_written, k.wr, bytes_known)
NUMBER_CELL(get_trips, l->row->node == OC_NONE || l->row->count != 1 || !l->r->in->analysis
                           ? NAN
                           : (double)l->r->in->analysis->cost[l->row->node].trips)
TEXT_CELL(get_name, l->row->name)
TEXT_CELL(get_type, l->row->type)
TEXT_CELL(get_runtime_name, l->row->runtime_name)
TEXT_CELL(get_id, l->row->id)
TEXT_CELL(get_above, l->row->above_roof)
TEXT_CELL(get_bound, l->row->bound_by)
TEXT_CELL(get_rule, l->row->rule)
TEXT_CELL(get_scope, l->row->scope)
TEXT_CELL(get_provider, l->row->provider)
TEXT_CELL(get_place, l->row->place)
TEXT_CELL(get_out, first_shape(l->row->out, l->row->n_out))

TEXT_CELL(get_quality, oc_quality_name(l->row->quality))

/* "{1,3,224,224}" to "1x3x224x224"; shapes with expressions are unchanged. */
static const char *plain_shape(struct oc_arena *arena, const char *text)
{
    size_t n = strlen(text);
    if (n < 2 || text[0] != '{' || strspn(text + 1, "0123456789,") != n - 2)
        return text;
    char *out = oc_strndup(arena, text + 1, n - 2);
    for (char *p = out; *p; p++)
        if (*p == ',')
            *p = 'x';
    return *out ? out : "scalar";
}

/* All shapes of one side, "1x3x224x224;64x3x7x7". */
static const char *columns_all_shapes(const struct oc_line *l, const struct oc_row_shape *s, uint32_t n)
{
    struct oc_buf b = {0};
    for (uint32_t i = 0; i < n; i++) {
        oc_buf_str(&b, i ? ";" : "");
        oc_buf_str(&b, s[i].text ? plain_shape(l->arena, s[i].text) : "?");
    }
    const char *text = b.n ? oc_strndup(l->arena, b.data, b.n) : NULL;
    oc_buf_free(&b);
    return text;
}

/* Names of the nodes covered by the row. */
static const char *all_nodes(const struct oc_line *l)
{
    if (!l->r->in->join || l->row->record == OC_NONE || l->row->count != 1)
        return NULL;
    const struct oc_join_rec *j = &l->r->in->join->rec[l->row->record];
    const struct oc_model *m = l->r->in->model;
    struct oc_buf b = {0};
    for (uint32_t i = 0; i < j->n_node; i++) {
        char label[512];
        oc_buf_str(&b, i ? ";" : "");
        oc_buf_str(&b, oc_node_label(m, &m->node[j->node[i]], label, sizeof(label)));
    }
    const char *text = b.n ? oc_strndup(l->arena, b.data, b.n) : NULL;
    oc_buf_free(&b);
    return text;
}

TEXT_CELL(get_nodes, all_nodes(l))
TEXT_CELL(get_all_in, columns_all_shapes(l, l->row->in, l->row->n_in))
TEXT_CELL(get_all_out, columns_all_shapes(l, l->row->out, l->row->n_out))

enum { BOTH = OC_COL_COMPACT | OC_COL_CSV };

static bool with_runtime_names(const struct oc_report *r)
{
    return with_join(r) && without_groups(r);
}

static bool with_bounds(const struct oc_report *r)
{
    return with_hardware(r) && without_groups(r);
}

/* Where the first node of the row comes from. */
static struct oc_origin origin_of(const struct oc_line *l)
{
    struct oc_origin from = {NULL, NULL, NULL};
    uint32_t node = oc_row_node(l->r, l->row);
    if (node != OC_NONE)
        oc_node_origin(l->r->in->model, node, l->arena, &from);
    return from;
}

TEXT_CELL(get_module, origin_of(l).module)
TEXT_CELL(get_source, origin_of(l).source)

static bool with_origins(const struct oc_report *r)
{
    return r->in->model && r->in->model->has_origins && without_groups(r);
}

/* One row per column. */
/* clang-format off */
const struct oc_column oc_columns[] = {
    {.key = "rank", .title = "#", .kind = OC_FIELD_COUNT, .use = BOTH, .get = get_rank},
    {.key = "time_ns", .title = "time", .kind = OC_FIELD_TIME, .use = BOTH, .available = with_time, .get = get_time},
    {.key = "time_fraction", .title = "%", .kind = OC_FIELD_FRACTION, .use = BOTH, .available = with_shares,
     .get = get_share},
    {.key = "cumulative_fraction", .title = "cum %", .kind = OC_FIELD_FRACTION, .use = BOTH, .drop = 9,
     .available = with_shares, .get = get_cumulative},
    {.key = "name", .title = "operator", .kind = OC_FIELD_TEXT, .use = BOTH, .left = true, .min_width = 20,
     .available = without_groups, .get = get_name, .finished = true},
    {.key = "place", .title = "device", .kind = OC_FIELD_TEXT, .use = BOTH, .left = true, .available = with_places,
     .get = get_place},
    {.key = "type", .title = "type", .kind = OC_FIELD_TEXT, .use = BOTH, .left = true, .min_width = 10,
     .drop = 2, .available = without_groups, .get = get_type},
    {.key = "type", .title = "type", .kind = OC_FIELD_TEXT, .use = BOTH, .left = true, .min_width = 40,
     .available = with_groups, .get = get_type}, /* common values of the group */
    {.key = "count", .title = "count", .kind = OC_FIELD_COUNT, .use = BOTH, .available = with_groups,
     .get = get_count},
    {.key = "flo", .title = "FLOPs", .kind = OC_FIELD_SI, .use = BOTH, .quality = true, .available = with_costs,
     .drop = 3, .get = get_flo},
    {.key = "flo_fraction", .title = "%", .kind = OC_FIELD_FRACTION, .use = BOTH, .available = without_time,
     .get = get_flo_share},
    {.key = "flop_per_s", .title = "GFLOP/s", .kind = OC_FIELD_GIGA, .use = BOTH, .quality = true, .available = with_rates,
     .drop = 4, .get = get_flops},
    {.key = "bytes", .title = "moved", .kind = OC_FIELD_BYTES, .use = BOTH, .quality = true,
     .available = with_costs, .drop = 6, .get = get_bytes},
    {.key = "bytes_per_s", .title = "GB/s", .kind = OC_FIELD_GIGA, .use = BOTH, .quality = true, .available = with_rates,
     .drop = 7, .get = get_bandwidth},
    {.key = "energy_j", .title = "energy", .kind = OC_FIELD_ENERGY, .use = BOTH, .available = with_energy,
     .get = get_energy},
    {.key = "flop_per_j", .title = "GFLOP/J", .kind = OC_FIELD_GIGA, .use = BOTH, .quality = true, .drop = 8,
     .available = with_energy_and_costs, .get = get_flop_per_j},
    {.key = "macs", .title = "MACs", .kind = OC_FIELD_COUNT, .use = OC_COL_CSV, .available = with_macs,
     .get = get_macs},
    {.key = "float_ops", .kind = OC_FIELD_COUNT, .use = OC_COL_CSV, .available = with_analysis,
     .get = get_float_ops},
    {.key = "int_ops", .kind = OC_FIELD_COUNT, .use = OC_COL_CSV, .available = with_analysis, .get = get_int_ops},
    {.key = "bytes_read_act", .kind = OC_FIELD_COUNT, .use = OC_COL_CSV, .available = with_analysis,
     .get = get_read_act},
    {.key = "bytes_read_weight", .kind = OC_FIELD_COUNT, .use = OC_COL_CSV, .available = with_analysis,
     .get = get_read_weight},
    {.key = "bytes_written", .kind = OC_FIELD_COUNT, .use = OC_COL_CSV, .available = with_analysis,
     .get = get_written},
    {.key = "params", .title = "params", .kind = OC_FIELD_SI, .use = BOTH, .drop = 10, .available = without_time,
     .get = get_params},
    {.key = "flop_per_byte", .title = "FLOP/B", .kind = OC_FIELD_RATIO, .use = BOTH, .quality = true, .drop = 11,
     .available = with_costs, .get = get_intensity},
    {.key = "bound_by", .title = "bound by", .kind = OC_FIELD_TEXT, .use = BOTH, .left = true,
     .available = with_bounds, .drop = 5, .get = get_bound},
    {.key = "roofline_ns", .title = "roofline", .kind = OC_FIELD_TIME, .use = BOTH, .drop = 8,
     .available = with_hardware, .get = get_roofline},
    {.key = "roofline_efficiency", .title = "eff %", .kind = OC_FIELD_FRACTION, .use = BOTH,
     .available = with_hardware_and_time, .drop = 1, .get = get_efficiency},
    {.key = "wasted_ns", .title = "gap", .kind = OC_FIELD_TIME, .use = BOTH,
     .available = with_hardware_and_time, .drop = 13, .get = get_wasted},
    {.key = "above_roofline", .kind = OC_FIELD_TEXT, .use = OC_COL_CSV, .available = with_hardware_and_time,
     .get = get_above},
    {.key = "output", .title = "output", .kind = OC_FIELD_TEXT, .use = OC_COL_COMPACT, .left = true, .min_width = 8,
     .drop = 12, .available = without_groups, .get = get_out, .finished = true},
    {.key = "calls", .kind = OC_FIELD_RATIO, .use = OC_COL_CSV, .available = with_time, .get = get_calls},
    {.key = "time_min_ns", .kind = OC_FIELD_TIME, .use = OC_COL_CSV, .available = with_time, .get = get_min},
    {.key = "time_max_ns", .kind = OC_FIELD_TIME, .use = OC_COL_CSV, .available = with_time, .get = get_max},
    {.key = "host_time_ns", .kind = OC_FIELD_TIME, .use = OC_COL_CSV, .available = with_time, .get = get_host_time},
    {.key = "matched_by", .title = "joined", .kind = OC_FIELD_TEXT, .use = OC_COL_CSV, .left = true,
     .available = with_join, .get = get_rule},
    {.key = "nodes", .kind = OC_FIELD_TEXT, .use = OC_COL_CSV, .available = with_join, .get = get_nodes},
    {.key = "runtime_name", .kind = OC_FIELD_TEXT, .use = OC_COL_CSV, .available = with_runtime_names,
     .get = get_runtime_name},
    {.key = "provider", .kind = OC_FIELD_TEXT, .use = OC_COL_CSV, .available = with_time, .get = get_provider},
    {.key = "scope", .kind = OC_FIELD_TEXT, .use = OC_COL_CSV, .available = with_analysis, .get = get_scope},
    {.key = "trips", .kind = OC_FIELD_COUNT, .use = OC_COL_CSV, .available = with_analysis, .get = get_trips},
    {.key = "quality", .kind = OC_FIELD_TEXT, .use = OC_COL_CSV, .available = with_costs, .get = get_quality},
    {.key = "id", .kind = OC_FIELD_TEXT, .use = OC_COL_CSV, .get = get_id, .finished = true},
    {.key = "inputs", .kind = OC_FIELD_TEXT, .use = OC_COL_CSV, .get = get_all_in, .finished = true},
    {.key = "outputs", .kind = OC_FIELD_TEXT, .use = OC_COL_CSV, .get = get_all_out, .finished = true},
    {.key = "module", .kind = OC_FIELD_TEXT, .use = OC_COL_CSV, .available = with_origins, .get = get_module},
    {.key = "source_line", .kind = OC_FIELD_TEXT, .use = OC_COL_CSV, .available = with_origins, .get = get_source},
};
/* clang-format on */
const size_t oc_n_columns = OC_COUNT(oc_columns);
_Static_assert(OC_COUNT(oc_columns) <= OC_MAX_COLUMNS, "room for every column");

size_t oc_columns_for(const struct oc_report *r, unsigned use, const struct oc_column *out[OC_MAX_COLUMNS])
{
    size_t n = 0;
    for (size_t i = 0; i < oc_n_columns; i++)
        if ((oc_columns[i].use & use) && (!oc_columns[i].available || oc_columns[i].available(r)))
            out[n++] = &oc_columns[i];
    for (size_t i = 0; i < r->n_extra && n < OC_MAX_COLUMNS; i++)
        if (r->extra[i].use & use)
            out[n++] = &r->extra[i];
    return n;
}

bool oc_line_next(struct oc_line *l)
{
    l->rank = l->row ? l->rank + 1 : 0;
    if (l->rank >= l->r->shown.n)
        return false;
    l->row = oc_row_at(l->r, &l->r->shown, l->rank, l->room);
    if (l->row == l->room && (!l->column || l->column->finished))
        oc_row_finish(l->r, l->room, l->arena);
    if (!isnan(l->row->time_s))
        l->cumulative_s += l->row->time_s;
    if (!isnan(l->row->share))
        l->cumulative_share += l->row->share;
    return true;
}

static const char *human_number(struct oc_arena *arena, const struct oc_column *col, double v)
{
    switch (col->kind) {
    case OC_FIELD_COUNT:
        return oc_printf(arena, "%.0f", v);
    case OC_FIELD_SI:
        return oc_si_text(arena, v, "");
    case OC_FIELD_BYTES:
        return oc_si_text(arena, v, "B");
    case OC_FIELD_TIME:
        return oc_seconds_text(arena, v, "unknown");
    case OC_FIELD_ENERGY:
        return oc_joule_text(arena, v);
    case OC_FIELD_FRACTION:
        return oc_printf(arena, "%.1f", v * 100);
    case OC_FIELD_GIGA:
        v *= 1e-9; /* falls through */
    default:
        return oc_printf(arena, v < 10 ? "%.2f" : v < 1000 ? "%.1f" : "%.0f", v);
    }
}

struct oc_field oc_field_of(const struct oc_column *col, const struct oc_line *l)
{
    struct oc_field c = {.number = NAN};
    struct oc_line at = *l;
    at.column = col;
    col->get(&at, &c);
    return c;
}

const char *oc_field_human(const struct oc_column *col, const struct oc_line *l)
{
    struct oc_field c = oc_field_of(col, l);
    if (col->kind == OC_FIELD_TEXT)
        return c.text && *c.text ? plain_shape(l->arena, c.text) : "-";
    if (isnan(c.number))
        return "-";
    if (isinf(c.number))
        return "inf";
    const char *text = human_number(l->arena, col, c.number);
    const char *mark =
        oc_quality_mark(col->kind == OC_FIELD_RATIO ? oc_row_ratio_quality(l->row) : l->row->quality);
    return col->quality && *mark ? oc_printf(l->arena, "%s%s", mark, text) : text;
}

void oc_csv_text(struct oc_buf *out, const char *s)
{
    if (!strpbrk(s, ",\"\r\n")) {
        oc_buf_str(out, s);
        return;
    }
    oc_buf_char(out, '"');
    for (; *s; s++) {
        if (*s == '"')
            oc_buf_char(out, '"');
        oc_buf_char(out, *s);
    }
    oc_buf_char(out, '"');
}

void oc_field_exact(const struct oc_column *col, const struct oc_line *l, struct oc_buf *out)
{
    struct oc_field c = oc_field_of(col, l);
    if (col->kind == OC_FIELD_TEXT) {
        oc_csv_text(out, c.text ? c.text : "");
        return;
    }
    if (c.whole) {
        oc_buf_printf(out, "%" PRIu64, c.whole);
        return;
    }
    double v = col->kind == OC_FIELD_TIME ? oc_ns_of(c.number) : c.number;
    if (!isfinite(v))
        return;
    char buf[64];
    if (v == floor(v) && fabs(v) < 9e15)
        snprintf(buf, sizeof(buf), "%" PRId64, (int64_t)v);
    else
        oc_format_repr(v, buf, sizeof(buf));
    oc_buf_str(out, buf);
}
