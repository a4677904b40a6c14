#include "base/c_locale.h"
#include "estimate/predict.h"
#include "write/out_compare.h"
#include "report/select.h"
#include "report/what_if.h"

#include <math.h>
#include <string.h>

/* ---- one row ------------------------------------------------------------------------------------------- */

/* The node that names a set: the first one with the most work. */
static uint32_t main_node(const struct oc_analysis *a, const struct oc_join_rec *r)
{
    uint32_t best = r->node[0];
    for (uint32_t i = 1; i < r->n_node; i++) {
        const struct oc_node_cost *c = &a->cost[r->node[i]], *b = &a->cost[best];
        if (c->quality != OC_UNKNOWN && (b->quality == OC_UNKNOWN || c->flops + c->ops > b->flops + b->ops))
            best = r->node[i];
    }
    return best;
}

static void set_roof(struct oc_comparing *x, const struct oc_analysis *a, struct oc_row *row,
                     const struct oc_join_rec *r)
{
    struct oc_work work = {0};
    struct oc_roof roof;
    if (!x->device)
        return;
    for (uint32_t i = 0; i < r->n_node; i++)
        oc_work_add(&work, &a->cost[r->node[i]]);
    work.bytes = r->rd_act + r->rd_wt + r->wr;
    work.weight_bytes = r->rd_wt;
    work.written = r->wr;
    work.launches = 1;
    work.unknown = work.unknown || !r->bytes_known || r->quality == OC_UNKNOWN;
    struct oc_roof_opts opts = oc_report_roof_opts(x->o, a);
    oc_roofline_of(x->device, &work, &opts, row->time_s, &roof);
    row->roofline_s = roof.roof_s;
    row->bound_by = roof.bound_name;
    row->efficiency = oc_row_rate(row, row->roofline_s);
    row->wasted_s = row->time_s - row->roofline_s;
}

struct oc_row oc_compare_timed(const struct oc_comparing *x, const struct oc_row *row, uint32_t source)
{
    struct oc_row timed = *row;
    timed.time_s = x->c.row[row->record].cell[source].time_ns * 1e-9;
    timed.rates = oc_profile_runs_known(x->c.source[source].profile) ? OC_RATES_TIMED : OC_RATES_UNKNOWN;
    timed.efficiency = oc_row_rate(&timed, row->roofline_s);
    return timed;
}

/* Rows are filtered and sorted by the chosen time, or the longest of all sources. */
static double time_of(const struct oc_comparing *x, const struct oc_compare_row *r)
{
    double best = x->combine && r->chosen != OC_NONE ? r->cell[r->chosen].time_ns : NAN;
    for (uint32_t s = 0; s < x->c.n_source && !x->combine; s++)
        if (!(best >= r->cell[s].time_ns))
            best = isnan(r->cell[s].time_ns) ? best : r->cell[s].time_ns;
    return best * 1e-9;
}

static void make_row(struct oc_comparing *x, const struct oc_analysis *a, uint32_t i, struct oc_row *row)
{
    const struct oc_compare_row *r = &x->c.row[i];
    uint32_t node = main_node(a, &r->cost);
    char label[512];
    *row = oc_row_blank();
    row->name = oc_strdup(&x->arena, oc_node_label(x->model, &x->model->node[node], label, sizeof(label)));
    row->type = x->model->node[node].op_type;
    row->record = i;
    row->id_number = r->cost.node[0];
    row->count = r->cost.n_node;
    row->quality = r->cost.quality;
    row->time_s = time_of(x, r);
    for (uint32_t s = 0; s < x->c.n_source; s++)
        if ((!x->combine || s == r->chosen) && !oc_profile_runs_known(x->c.source[s].profile))
            row->rates = OC_RATES_UNKNOWN;
    if (r->cost.quality != OC_UNKNOWN) {
        row->computation = (double)r->cost.flops + (double)r->cost.ops;
        row->macs = (double)r->cost.macs;
        row->params = (double)r->cost.params;
    }
    if (r->cost.bytes_known)
        row->memory = (double)r->cost.rd_act + (double)r->cost.rd_wt + (double)r->cost.wr;
    row->intensity = row->memory > 0 ? row->computation / row->memory : NAN;
    set_roof(x, a, row, &r->cost);
}

/* ---- the report ---------------------------------------------------------------------------------------- */

static bool is_format(const struct oc_report_opts *o, const char *name)
{
    return o->format && strcmp(o->format, name) == 0;
}

static int check(const struct oc_compare_source *source, size_t n, const struct oc_report_opts *o,
                 struct oc_err *err)
{
    static const char *const formats[] = {"table", "csv", "json", "markdown", "md"};
    size_t i = 0;
    if (n < 1 || n > 256)
        return oc_fail(err, OC_EARG, "a comparison takes 1 to 256 profiles, not %zu", n);
    for (size_t k = 0; k < n; k++)
        if (!source[k].profile || !source[k].join)
            return oc_fail(err, OC_EARG, "a comparison of profiles needs their model");
    while (o->format && i < OC_COUNT(formats) && strcmp(formats[i], o->format) != 0)
        i++;
    if (i == OC_COUNT(formats))
        return oc_fail(err, OC_EARG,
                       "several profiles have no format '%s'; valid: table, csv, json, markdown", o->format);
    if (o->aggregate || o->group_by || o->aggregate_by)
        return oc_fail(err, OC_EARG, "grouping needs a single profile");
    if (oc_what_if_asked(o))
        return oc_fail(err, OC_EARG, "--what-if, --as and --fuse need a single profile");
    if (o->n_why || o->n_explain_match)
        return oc_fail(err, OC_EARG, "--why and --explain-match need a single profile");
    return 0;
}

static int choose_rows(struct oc_comparing *x, const struct oc_rows *all, struct oc_err *err)
{
    struct oc_select s;
    bool whole = is_format(x->o, "csv") || is_format(x->o, "json");
    int rc = oc_select_init(&s, x->o, NULL, whole ? 0 : 20, whole && !x->o->has_top ? NULL : "time", err);
    if (rc == 0)
        rc = oc_select_rows(&s, all, OC_TIME_DEVICE, &x->rows, err);
    oc_select_free(&s);
    return rc;
}

int oc_compare_write(const struct oc_model *model, const struct oc_analysis *a,
                     const struct oc_device *device, const struct oc_compare_source *source, size_t n,
                     bool combine, const struct oc_report_opts *o, FILE *f, struct oc_err *err)
{
    OC_C_LOCALE;
    if (check(source, n, o, err) != 0)
        return -1;
    struct oc_comparing x = {.model = model, .device = device, .o = o, .combine = combine};
    oc_compare_make(model, a, source, (uint32_t)n, &x.c);
    struct oc_rows all = {.arena = &x.arena, .row = OC_NEW_ARRAY(&x.arena, (size_t)x.c.n + 1, struct oc_row)};
    for (; all.n < x.c.n; all.n++)
        make_row(&x, a, all.n, &all.row[all.n]);
    x.rows.arena = &x.arena;
    int rc = choose_rows(&x, &all, err);
    if (rc == 0 && is_format(o, "json"))
        oc_compare_json(&x, f);
    else if (rc == 0 && (is_format(o, "markdown") || is_format(o, "md")))
        oc_compare_markdown(&x, f);
    else if (rc == 0)
        oc_compare_table(&x, f, is_format(o, "csv"));
    oc_compare_free(&x.c);
    oc_arena_free(&x.arena);
    return rc;
}
