/* Makes the rows of a report: of an analysis, of a join, of a profile alone; all, or only the few that a
 * report shows. */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "join/join.h"
#include "join/record_cost.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "report/names.h"
#include "report/select.h"

const struct oc_row_limits oc_no_limits = {
    NAN, NAN, {NAN, NAN, NAN}, {NAN, NAN, NAN, NAN, NAN, NAN}, {NAN, NAN, NAN, NAN, NAN, NAN}};

struct oc_row oc_row_blank(void)
{
    return (struct oc_row){
        .id_number = NAN,
        .time_s = NAN,
        .host_time_s = NAN,
        .kern_time_s = NAN,
        .host_kern_time_s = NAN,
        .computation = NAN,
        .memory = NAN,
        .count = 1,
        .macs = NAN,
        .energy_j = NAN,
        .params = NAN,
        .intensity = NAN,
        .roofline_s = NAN,
        .efficiency = NAN,
        .calls = NAN,
        .min_s = NAN,
        .max_s = NAN,
        .self_s = NAN,
        .share = NAN,
        .wasted_s = NAN,
        .overhead_s = NAN,
        .what_if_s = NAN,
        .limits = &oc_no_limits,
        .node = OC_NONE,
        .record = OC_NONE,
    };
}

/* ---- rows of a join -------------------------------------------------------------------------------------- */

/* Rows of a join: one for each operator record of the profile, with the cost of the nodes it covers. Time
 * outside of operators has rows of its own (measurement.c). */
static void set_cost(struct oc_row *row, const struct oc_join_rec *j)
{
    row->quality = j->quality;
    row->rule = j->n_node ? j->rule : j->bucket;
    if (j->quality != OC_UNKNOWN) {
        row->computation = (double)j->flops + (double)j->ops;
        row->int_ops = (double)j->ops;
        row->macs = (double)j->macs;
        row->params = (double)j->params;
    }
    if (j->bytes_known)
        row->memory = (double)j->rd_act + (double)j->rd_wt + (double)j->wr;
    row->intensity = row->memory > 0 ? row->computation / row->memory : NAN;
}

/* Runs of different sizes: the mean work of a run, not rounded. */
static void set_mean_cost(struct oc_row *row, const struct oc_join_rec *j, const struct oc_sizes *sizes,
                          uint32_t i)
{
    const struct oc_size_rec *s = &sizes->rec[i];
    double runs = sizes->runs;
    if (j->quality != OC_UNKNOWN) {
        row->computation = ((double)s->flops + (double)s->ops) / runs;
        row->int_ops = (double)s->ops / runs;
        row->macs = (double)s->macs / runs;
    }
    if (j->bytes_known)
        row->memory = ((double)s->rd_act + (double)s->rd_wt + (double)s->wr) / runs;
    row->intensity = row->memory > 0 ? row->computation / row->memory : NAN;
}

static struct oc_row *report_record_row(struct oc_report *r, uint32_t i);

static void join_row(struct oc_report *r, uint32_t i)
{
    const struct oc_prof_rec *rec = &r->in->profile->rec[i];
    const struct oc_join_rec *j = &r->in->join->rec[i];
    struct oc_row *row = report_record_row(r, i);
    set_cost(row, j);
    if (r->in->join->sizes)
        set_mean_cost(row, j, r->in->join->sizes, i);
    if (!j->n_node)
        return;
    if (j->n_node == 1)
        row->node = j->node[0];
    row->scope = r->in->model->graph[r->in->model->node[j->node[0]].graph].scope;
    if (!rec->has_in && !rec->has_out && r->in->analysis)
        oc_report_node_shapes(r, row, &r->in->model->node[j->node[j->n_node - 1]]);
}

static void rows_build_add_time(double *sum, double s)
{
    if (!isnan(s))
        *sum = isnan(*sum) ? s : *sum + s;
}

/* Time of the records nested in a record belongs to its row: device time if any of them has it. */
static void rows_build_add_parts(struct oc_report *r, const uint32_t *row_of)
{
    const struct oc_profile *p = r->in->profile;
    double *own = OC_NEW_ARRAY(&r->arena, p->n_rec, double),
           *kernel = OC_NEW_ARRAY(&r->arena, p->n_rec, double);
    for (uint32_t i = 0; i < p->n_rec; i++)
        own[i] = kernel[i] = NAN;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        uint32_t whole = r->in->join->rec[i].part_of;
        if (whole == OC_NONE || row_of[whole] == OC_NONE)
            continue;
        rows_build_add_time(&own[whole], p->rec[i].self_ns * 1e-9);
        rows_build_add_time(&kernel[whole], p->rec[i].kernel_ns * 1e-9);
        if (p->rec[i].is_launch)
            r->all.row[row_of[whole]].rates = OC_RATES_LAUNCH;
    }
    for (uint32_t i = 0; i < p->n_rec; i++) {
        if (row_of[i] == OC_NONE || (isnan(own[i]) && isnan(kernel[i])))
            continue;
        struct oc_row *row = &r->all.row[row_of[i]];
        rows_build_add_time(&kernel[i], p->rec[i].kernel_ns * 1e-9);
        rows_build_add_time(&row->self_s, own[i]);
        row->time_s = isnan(kernel[i]) ? row->self_s : kernel[i];
        row->host_time_s = isnan(kernel[i]) ? row->host_time_s : row->self_s;
        row->rates = isnan(kernel[i]) ? row->rates : OC_RATES_TIMED;
    }
}

static void report_rows_of_join(struct oc_report *r)
{
    const struct oc_profile *p = r->in->profile;
    r->all.row = OC_NEW_ARRAY(&r->arena, p->n_rec + oc_remainder_most(p), struct oc_row);
    uint32_t *row_of = OC_NEW_ARRAY(&r->arena, p->n_rec, uint32_t);
    bool parts = false;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        bool part = r->in->join->rec[i].part_of != OC_NONE;
        row_of[i] = p->rec[i].bucket || part ? OC_NONE : r->all.n;
        parts |= part;
        if (row_of[i] != OC_NONE)
            join_row(r, i);
    }
    if (parts)
        rows_build_add_parts(r, row_of);
}

/* ---- rows of an analysis ------------------------------------------------------------------------------------- */

static struct oc_row *rows_build_new_row(struct oc_report *r)
{
    struct oc_row *row = &r->all.row[r->all.n++];
    *row = oc_row_blank();
    return row;
}

uint32_t oc_row_node(const struct oc_report *r, const struct oc_row *row)
{
    const struct oc_join *j = r->in->join;
    if (row->count != 1)
        return OC_NONE;
    if (j && row->record != OC_NONE && j->rec[row->record].n_node)
        return j->rec[row->record].node[0];
    return row->node;
}

static const char *rows_build_shape_text(struct oc_report *r, struct oc_exprs *x, const struct oc_type *t)
{
    if (!t || t->kind == OC_T_NONE)
        return "?";
    if (t->kind != OC_T_TENSOR)
        return oc_type_text(&r->arena, x, t);
    return oc_shape_braced_text(&r->arena, x, &t->shape);
}

static struct oc_row_shape row_shape(struct oc_report *r, struct oc_exprs *x, const struct oc_type *t)
{
    struct oc_row_shape s = {.text = rows_build_shape_text(r, x, t)};
    if (t->kind != OC_T_TENSOR || !oc_shape_known(&t->shape))
        return s;
    int64_t *dim = OC_NEW_ARRAY(&r->arena, t->shape.rank, int64_t);
    for (unsigned i = 0; i < t->shape.rank; i++)
        dim[i] = t->shape.dim[i].v;
    s.dim = dim;
    s.rank = t->shape.rank;
    return s;
}

/* "{1,48,24..80}": sizes that differ between the runs. */
static const char *rows_build_range_text(struct oc_report *r, const struct oc_shape *low,
                                         const struct oc_shape *high)
{
    const char *text = "{";
    for (unsigned i = 0; i < low->rank; i++) {
        long long from = low->dim[i].v, to = high->dim[i].v;
        const char *sep = i ? "," : "";
        text = from == to ? oc_printf(&r->arena, "%s%s%lld", text, sep, from)
                          : oc_printf(&r->arena, "%s%s%lld..%lld", text, sep, from, to);
    }
    return oc_printf(&r->arena, "%s}", text);
}

static const struct oc_row_shape *shapes_of_ranges(struct oc_report *r, const struct oc_type *low,
                                                   const struct oc_type *high, uint32_t n)
{
    struct oc_row_shape *s = OC_NEW_ARRAY(&r->arena, n, struct oc_row_shape);
    for (uint32_t i = 0; i < n; i++) {
        s[i] = row_shape(r, r->in->profile->exprs, &high[i]);
        if (s[i].dim)
            s[i].text = rows_build_range_text(r, &low[i].shape, &high[i].shape);
    }
    return s;
}

/* Values whose shapes have been made: rows of the same shapes share them. A direct-mapped cache: models repeat few
 * lists of shapes, and the others are made again. */
enum { SHAPE_SLOTS = 1024 };
struct oc_known_shapes {
    const uint32_t *value;
    const struct oc_row_shape *shape;
    uint32_t n, n_shape;
};

static bool has_type(const uint32_t *value, uint32_t i)
{
    return value[i] != OC_NONE;
}

static uint64_t hash_of_shapes(const struct oc_analysis *a, const uint32_t *value, uint32_t n)
{
    uint64_t h = n;
    for (uint32_t i = 0; i < n; i++) {
        const struct oc_shape *s = has_type(value, i) ? &a->type[value[i]].shape : NULL;
        h = oc_hash_scatter(h + (s ? s->rank : UINT8_MAX));
        for (unsigned k = 0; s && k < s->rank; k++)
            h = oc_hash_scatter(h + (uint64_t)s->dim[k].v) + s->dim[k].expr;
    }
    return h;
}

static bool have_same_shapes(const struct oc_analysis *a, const uint32_t *x, const uint32_t *y, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (x[i] == y[i])
            continue;
        if (!has_type(x, i) || !has_type(y, i))
            return false;
        const struct oc_type *t = &a->type[x[i]], *u = &a->type[y[i]];
        if (t->kind != OC_T_TENSOR || u->kind != OC_T_TENSOR || !oc_shape_equal(&t->shape, &u->shape))
            return false;
    }
    return true;
}

static const struct oc_row_shape *shapes_of_values(struct oc_report *r, const uint32_t *value, uint32_t n,
                                                   uint32_t *n_out)
{
    const struct oc_analysis *a = r->in->analysis;
    if (!r->known_shapes)
        r->known_shapes = OC_NEW_ARRAY(&r->arena, SHAPE_SLOTS, struct oc_known_shapes);
    struct oc_known_shapes *known = &r->known_shapes[hash_of_shapes(a, value, n) % SHAPE_SLOTS];
    if (!known->shape || known->n != n || !have_same_shapes(a, known->value, value, n)) {
        struct oc_row_shape *s = OC_NEW_ARRAY(&r->arena, n, struct oc_row_shape);
        uint32_t n_shape = 0, unused;
        for (uint32_t i = 0; i < n; i++)
            if (has_type(value, i))
                s[n_shape++] = n == 1 ? row_shape(r, a->exprs, &a->type[value[i]])
                                      : *shapes_of_values(r, &value[i], 1, &unused);
        *known = (struct oc_known_shapes){value, s, n, n_shape};
    }
    *n_out = known->n_shape;
    return known->shape;
}

static const char *rows_build_dtype_name(const struct oc_type *t)
{
    return t->kind == OC_T_NONE ? "undefined" : oc_dtype_info(t->dtype)->name;
}

static void set_node_dtypes(struct oc_report *r, struct oc_row *row, const struct oc_node *n)
{
    const char **dtype = OC_NEW_ARRAY(&r->arena, n->n_in, const char *);
    for (uint32_t i = 0; i < n->n_in; i++)
        if (n->in[i] != OC_NONE)
            dtype[row->n_in_dtype++] = rows_build_dtype_name(&r->in->analysis->type[n->in[i]]);
    row->in_dtype = dtype;
}

void oc_report_node_shapes(struct oc_report *r, struct oc_row *row, const struct oc_node *n)
{
    row->in = shapes_of_values(r, n->in, n->n_in, &row->n_in);
    row->out = shapes_of_values(r, n->out, n->n_out, &row->n_out);
    row->in_state = row->out_state = OC_SHAPES_KNOWN;
}

double oc_report_node_flo(const struct oc_node_cost *k)
{
    return (double)k->flops + (double)k->ops;
}

static void set_node_cost(struct oc_row *row, const struct oc_node_cost *k)
{
    row->quality = k->quality;
    if (k->quality == OC_UNKNOWN) {
        row->computation = row->memory = row->macs = row->params = row->intensity = NAN;
        return;
    }
    row->computation = oc_report_node_flo(k);
    row->memory = (double)k->rd_act + (double)k->rd_wt + (double)k->wr;
    row->macs = (double)k->macs;
    row->params = (double)k->params;
    row->intensity = row->memory > 0 ? row->computation / row->memory : NAN;
}

/* Nodes that do work when the model runs: not folded, absorbed or in a branch not taken. */
static bool report_node_executes(const struct oc_node_cost *k)
{
    return k->state == OC_NODE_NORMAL || k->state == OC_NODE_UNKNOWN_OP || k->state == OC_NODE_NO_SHAPE;
}

/* Sets the figures of a node in a blank row or in one for another node, and its name if it has one. */
static void report_node_row(const struct oc_report *r, uint32_t node, struct oc_row *row)
{
    const struct oc_model *m = r->in->model;
    const struct oc_node *n = &m->node[node];
    row->name = *n->name ? n->name : NULL;
    row->type = n->op_type;
    row->id_number = node;
    row->scope = m->graph[n->graph].scope;
    row->node = node;
    set_node_cost(row, &r->in->analysis->cost[node]);
    oc_row_drop_empty_bounds(row);
}

/* The name of a row whose node has none. */
static void set_label(const struct oc_report *r, struct oc_row *row, struct oc_arena *arena)
{
    char label[512];
    if (!row->name)
        row->name = oc_strdup(
            arena, oc_node_label(r->in->model, &r->in->model->node[row->node], label, sizeof(label)));
}

/* Further inputs of row selection: a label for a node without a name, types and shapes. Once per row. */
static void report_node_texts(struct oc_report *r, struct oc_row *row)
{
    const struct oc_node *n = &r->in->model->node[row->node];
    set_label(r, row, &r->arena);
    if (r->o->n_input_dtype)
        set_node_dtypes(r, row, n);
    if (r->o->order_by && strstr(r->o->order_by, "shapes"))
        oc_report_node_shapes(r, row, n);
}

static void rows_of_analysis(struct oc_report *r)
{
    const struct oc_model *m = r->in->model;
    r->all.row = OC_NEW_ARRAY(&r->arena, m->n_node, struct oc_row);
    for (uint32_t i = 0; i < m->n_node; i++) {
        if (!report_node_executes(&r->in->analysis->cost[i]))
            continue;
        struct oc_row *row = &r->all.row[r->all.n++];
        *row = oc_row_blank();
        report_node_row(r, i, row);
        report_node_texts(r, row);
    }
}

/* ---- a profile alone -------------------------------------------------------------------------------- */

static const struct oc_row_shape *shapes_of_types(struct oc_report *r, const struct oc_type *t, uint32_t n)
{
    struct oc_row_shape *s = OC_NEW_ARRAY(&r->arena, n, struct oc_row_shape);
    for (uint32_t i = 0; i < n; i++)
        s[i] = row_shape(r, r->in->profile->exprs, &t[i]);
    return s;
}

static void set_record_dtypes(struct oc_report *r, struct oc_row *row, const struct oc_prof_rec *rec)
{
    const char **dtype = OC_NEW_ARRAY(&r->arena, rec->n_in, const char *);
    for (uint32_t i = 0; i < rec->n_in; i++)
        dtype[i] = rows_build_dtype_name(&rec->in[i]);
    row->in_dtype = dtype;
    row->n_in_dtype = rec->n_in;
}

/* The shapes of all runs of a record; NULL: one run, or all of the same size. */
static const struct oc_size_rec *sizes_of(const struct oc_report *r, uint32_t record)
{
    return r->in->join && r->in->join->sizes ? &r->in->join->sizes->rec[record] : NULL;
}

/* The id and the shapes of a record as texts. */
static void set_record_texts(struct oc_report *r, struct oc_row *row)
{
    const struct oc_prof_rec *rec = &r->in->profile->rec[row->record];
    const struct oc_size_rec *s = sizes_of(r, row->record);
    if (rec->index >= 0)
        row->id = oc_printf(&r->arena, "%lld", (long long)rec->index);
    if (row->in || row->out) /* those of its node */
        return;
    row->in =
        s ? shapes_of_ranges(r, s->low.in, s->high.in, s->low.n_in) : shapes_of_types(r, rec->in, rec->n_in);
    row->out = s ? shapes_of_ranges(r, s->low.out, s->high.out, s->low.n_out)
                 : shapes_of_types(r, rec->out, rec->n_out);
    row->n_in = s ? s->low.n_in : rec->n_in;
    row->n_out = s ? s->low.n_out : rec->n_out;
}

/* The time shown in the table: of the device if the source has it, else the record's own host time. */
static void set_record_times(struct oc_row *row, const struct oc_prof_rec *rec)
{
    bool device = !isnan(rec->kernel_ns);
    row->time_s = (device ? rec->kernel_ns : rec->self_ns) * 1e-9;
    row->host_time_s = rec->host_ns * 1e-9;
    row->kern_time_s = rec->wait_ns * 1e-9;
    row->self_s = rec->self_ns * 1e-9;
    row->min_s = rec->min_ns * 1e-9;
    row->max_s = rec->max_ns * 1e-9;
    row->calls = rec->calls_per_run;
    row->energy_j = rec->energy_j;
}

static struct oc_row *report_record_row(struct oc_report *r, uint32_t i)
{
    const struct oc_prof_rec *rec = &r->in->profile->rec[i];
    struct oc_row *row = rows_build_new_row(r);
    row->type = rec->bucket ? rec->bucket : rec->op_type;
    row->source_type = rec->source_type;
    row->provider = rec->provider;
    row->place = rec->place;
    row->record = i;
    oc_row_set_name(r, row);
    if (rec->index >= 0)
        row->id_number = (double)rec->index;
    set_record_times(row, rec);
    row->rates = rec->is_launch ? OC_RATES_LAUNCH : OC_RATES_TIMED;
    row->share = r->in->profile->event ? rec->share : NAN;
    const struct oc_size_rec *s = sizes_of(r, i);
    row->in_state = (s ? s->low.has_in : rec->has_in) ? OC_SHAPES_KNOWN : OC_SHAPES_NA;
    row->out_state = (s ? s->low.has_out : rec->has_out) ? OC_SHAPES_KNOWN : OC_SHAPES_NA;
    set_record_dtypes(r, row, rec);
    if (!r->texts_of_shown)
        set_record_texts(r, row);
    row->computation = rec->flop;
    row->int_ops = oc_record_is_integer(rec) && !isnan(rec->flop) ? rec->flop : 0;
    row->memory = rec->bytes;
    row->macs = rec->has_macs ? (double)rec->macs : (double)NAN;
    row->quality = isnan(rec->flop) && isnan(rec->bytes) ? OC_UNKNOWN : rec->quality;
    row->intensity = row->memory > 0 ? row->computation / row->memory : NAN;
    return row;
}

/* Figures derived from the recorded shapes, where the source has none. */
static void set_recorded_cost(struct oc_report *r, struct oc_row *row, const struct oc_prof_rec *rec)
{
    struct oc_record_cost k;
    if (!isnan(rec->flop) || !isnan(rec->bytes) || (!rec->has_in && !rec->has_out))
        return;
    oc_record_cost(r->in->profile, rec, &r->arena, r->formulas, &k);
    double calls = rec->calls_per_run; /* the time covers all calls in a run */
    row->quality = k.quality;
    if (k.quality != OC_UNKNOWN) {
        row->computation = calls * ((double)k.flops + (double)k.ops);
        row->int_ops = calls * (double)k.ops;
        row->macs = calls * (double)k.macs;
    }
    if (k.bytes_known)
        row->memory = calls * ((double)k.rd + (double)k.wr);
    row->intensity = row->memory > 0 ? row->computation / row->memory : NAN;
}

static void rows_of_profile(struct oc_report *r)
{
    const struct oc_profile *p = r->in->profile;
    r->all.row = OC_NEW_ARRAY(&r->arena, p->n_rec + oc_remainder_most(p), struct oc_row);
    r->formulas = OC_NEW(&r->arena, struct oc_formula_cache);
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (!p->rec[i].bucket)
            set_recorded_cost(r, report_record_row(r, i), &p->rec[i]);
}

/* ---- after selecting --------------------------------------------------------------------------------- */

void oc_row_finish(struct oc_report *r, struct oc_row *row, struct oc_arena *arena)
{
    set_label(r, row, arena);
    row->id = oc_printf(arena, "%u", row->node);
    oc_report_node_shapes(r, row, &r->in->model->node[row->node]);
}

void oc_report_finish(struct oc_report *r)
{
    for (uint32_t i = 0; r->shown.row && i < r->shown.n; i++) {
        struct oc_row *row = &r->shown.row[i];
        if (r->texts_of_shown && row->record != OC_NONE && !row->remainder)
            set_record_texts(r, row);
        if (!row->id && row->node != OC_NONE)
            oc_row_finish(r, row, &r->arena);
    }
}

/* ---- totals ----------------------------------------------------------------------------------------- */

static void rows_build_set_totals(struct oc_report *r)
{
    oc_measure(r);
    for (uint32_t i = 0; i < OC_ALL_ROWS(r); i++) {
        struct oc_row *row = &r->all.row[i];
        oc_row_drop_empty_bounds(row);
        r->has_time |= !isnan(row->time_s);
        r->has_share |= !isnan(row->share);
        r->has_energy |= !isnan(row->energy_j);
        r->has_places |= row->place != NULL;
        if (!isnan(row->computation))
            r->total_flo += row->computation;
    }
    const struct oc_profile *p = r->in->profile;
    r->total_s = r->has_time ? r->m.total_ns * 1e-9 : NAN;
    for (uint32_t i = 0; i < r->all.n && r->in->join && p && !oc_profile_runs_known(p); i++)
        if (r->all.row[i].rates != OC_RATES_LAUNCH)
            r->all.row[i].rates = OC_RATES_UNKNOWN;
}

/* r->all, empty */
static void report_no_rows(struct oc_report *r)
{
    static const char *const info_key[] = {"name", "type", "id"};
    r->all = (struct oc_rows){.arena = &r->arena, .info_key = info_key};
}

void oc_report_rows(struct oc_report *r)
{
    report_no_rows(r);
    if (r->in->join)
        report_rows_of_join(r);
    else if (r->in->profile)
        rows_of_profile(r);
    else
        rows_of_analysis(r);
    rows_build_set_totals(r);
}

void oc_report_count_runs(struct oc_report *r)
{
    for (uint32_t i = 0; i < r->all.n && r->m.runs > 1; i++) {
        struct oc_row *row = &r->all.row[i];
        if (isnan(row->time_s))
            continue;
        row->computation *= r->m.runs;
        row->int_ops *= r->m.runs;
        row->memory *= r->m.runs;
        row->macs *= r->m.runs;
    }
    r->total_flo *= r->m.runs;
}

/* ---- rows made one at a time ---------------------------------------------------------------------------- */

/* Whether every executed node has a row, with its cost and nothing else. */
static bool rows_are_nodes(const struct oc_report *r)
{
    const struct oc_report_opts *o = r->o;
    return r->in->analysis && !r->in->profile && !r->in->device && !o->top_end_key && !o->n_name_pattern &&
           !o->n_type && !o->n_input_dtype && !oc_report_grouped(o) && !oc_what_if_asked(o);
}

static void sum_rows(struct oc_report *r)
{
    const struct oc_analysis *a = r->in->analysis;
    for (uint32_t i = 0; i < a->model->n_node; i++) {
        if (!report_node_executes(&a->cost[i]))
            continue;
        r->all.n++;
        if (a->cost[i].quality != OC_UNKNOWN)
            r->total_flo += oc_report_node_flo(&a->cost[i]);
    }
    r->total_s = NAN;
}

bool oc_rows_on_demand(const struct oc_report *r)
{
    const struct oc_report_opts *o = r->o;
    return rows_are_nodes(r) && !o->has_top && !o->order_by && !o->min_time && !o->max_time;
}

void oc_report_list_rows(struct oc_report *r)
{
    const struct oc_model *m = r->in->model;
    report_no_rows(r);
    oc_measure(r);
    sum_rows(r);
    uint32_t *node = OC_NEW_ARRAY(&r->arena, r->all.n, uint32_t), n = 0;
    for (uint32_t i = 0; i < m->n_node; i++)
        if (report_node_executes(&r->in->analysis->cost[i]))
            node[n++] = i;
    r->all.node = node;
}

const struct oc_row *oc_row_at(const struct oc_report *r, const struct oc_rows *rows, uint32_t i,
                               struct oc_row *room)
{
    if (rows->row)
        return &rows->row[i];
    *room = oc_row_blank();
    report_node_row(r, rows->node[i], room);
    return room;
}

/* ---- few rows ----------------------------------------------------------------------------------------- */

/* The rows so far. The first `n_first` are known to precede all others seen. */
struct best {
    const struct oc_select *s;
    struct oc_row *row, *spare; /* allocated for `cap`, for `top` */
    const struct oc_row **order;
    uint32_t top, cap, n, n_first, n_unordered;
};

enum { MOST_ROWS = 4096, MORE_ROWS = 64 };

bool oc_few_rows_do(const struct oc_report *r)
{
    const struct oc_report_opts *o = r->o;
    return rows_are_nodes(r) && !o->advise && (!o->has_top || (o->top > 0 && o->top <= MOST_ROWS));
}

/* Sorts the kept rows and drops those after the last requested one. */
static void select_best(struct best *b)
{
    for (uint32_t i = 0; i < b->n; i++)
        b->order[i] = &b->row[i];
    uint32_t n = oc_select_first(b->s, b->order, b->n);
    for (uint32_t i = 0; i < n; i++)
        b->spare[i] = *b->order[i];
    if (n)
        memcpy(b->row, b->spare, n * sizeof(*b->row));
    b->n = b->n_first = n;
}

/* Whether a row comes after all requested ones: the last of them precedes it, or is equal and came earlier.
 */
static bool too_late(const struct best *b, const struct oc_row *row)
{
    return b->n_first == b->top && oc_select_before(b->s, &b->row[b->top - 1], row);
}

static void choose_few(struct oc_report *r, struct best *b)
{
    b->row[0] = oc_row_blank();
    for (uint32_t i = 0; i < r->in->model->n_node; i++) {
        struct oc_row *row = &b->row[b->n];
        if (!report_node_executes(&r->in->analysis->cost[i]))
            continue;
        report_node_row(r, i, row);
        if (too_late(b, row))
            continue;
        report_node_texts(r, row);
        b->n_unordered += b->s->order_given && !oc_select_has_key(b->s, row);
        if (++b->n == b->cap)
            select_best(b);
        b->row[b->n] = oc_row_blank();
    }
    select_best(b);
}

void oc_few_rows_choose(struct oc_report *r, const struct oc_select *s)
{
    struct best b = {.s = s, .top = (uint32_t)s->top};
    b.cap = 2 * b.top + MORE_ROWS;
    b.row = oc_xmalloc(b.cap * sizeof(*b.row));
    b.spare = OC_NEW_ARRAY(&r->arena, b.top, struct oc_row);
    b.order = oc_xmalloc(b.cap * sizeof(struct oc_row *));
    report_no_rows(r);
    oc_measure(r);
    sum_rows(r);
    choose_few(r, &b);
    r->shown = (struct oc_rows){.arena = &r->arena,
                                .row = b.spare,
                                .n = b.n,
                                .info_key = r->all.info_key,
                                .n_unordered = b.n_unordered};
    free(b.row);
    free(b.order);
}
