/* The quantities that viewers of graphs show at nodes (--format model-explorer, netron). */
#include <math.h>
#include <string.h>

#include "hw/hwdb.h"
#include "join/join.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "report/columns.h"
#include "write/report_write.h"

const struct oc_shown_quantity oc_quantities[OC_QUANTITIES] = {
    {"time", "time_ns", "Latency (us)", true, true, false},
    {"computation", "flo", "FLOPs", true, false, false},
    {"memory", "bytes", "Bytes", true, false, false},
    {"macs", "macs", "MACs", true, false, false},
    {"params", "params", "Parameters", true, false, false},
    {"roofline", "roofline_ns", "Roofline latency (us)", true, false, true},
    {"wasted", "wasted_ns", "Latency above the roofline (us)", true, true, true},
    {"flops", "flop_per_s", "Throughput (FLOP/s)", false, true, false},
    {"bandwidth", "bytes_per_s", "Bandwidth (bytes/s)", false, true, false},
    {"intensity", "flop_per_byte", "Arithmetic intensity (FLOP/byte)", false, false, false},
    {"efficiency", "roofline_efficiency", "Roofline efficiency (0 to 1)", false, true, true},
};

const struct oc_shown_quantity *oc_quantity_of(const char *order_by, bool has_time)
{
    if (!order_by)
        return &oc_quantities[has_time ? 0 : 1];
    const char *at = order_by + (*order_by == '+');
    size_t n = strcspn(at, ",");
    for (size_t i = 0; i < OC_QUANTITIES; i++) {
        const struct oc_shown_quantity *q = &oc_quantities[i];
        if ((strlen(q->name) == n && !strncmp(q->name, at, n)) ||
            (strlen(q->key) == n && !strncmp(q->key, at, n)))
            return q;
    }
    return NULL;
}

int oc_attachment_check(const struct oc_report_in *in, const struct oc_report_opts *o, struct oc_err *err)
{
    return in->analysis ? 0 : oc_fail(err, OC_EARG, "%s needs a model", o->format);
}

int oc_overlay_check(const struct oc_report_in *in, const struct oc_report_opts *o, struct oc_err *err)
{
    if (!in->analysis)
        return oc_fail(err, OC_EARG, "%s needs a model", o->format);
    const struct oc_shown_quantity *q = oc_quantity_of(o->order_by, false);
    if (q && ((q->profile && !in->profile) || (q->hardware && !in->device)))
        return oc_fail(err, OC_EARG, "%s needs a %s", q->name,
                       q->profile && !in->profile ? "profile" : "device: name it with --hw");
    if (q)
        return 0;
    struct oc_buf b = {0};
    for (size_t i = 0; i < OC_QUANTITIES; i++)
        oc_buf_printf(&b, "%s%s", i ? ", " : "", oc_quantities[i].name);
    oc_fail(err, OC_EARG, "%s has one of these for each node, by --order-by: %s", o->format, b.data);
    oc_buf_free(&b);
    return -1;
}

static const struct oc_column *overlay_column_of(const struct oc_report *r, const char *key)
{
    const struct oc_column *column[OC_MAX_COLUMNS];
    size_t n = oc_columns_for(r, OC_COL_CSV | OC_COL_COMPACT, column);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(column[i]->key, key))
            return column[i];
    return NULL;
}

double oc_overlay_sum(double a, double b)
{
    return isnan(b) ? a : isnan(a) ? b : a + b;
}

/* ---- values ----------------------------------------------------------------------------------------- */

/* The value of the node, or of the first node of a row: the sum over all nodes is preserved. Times in
 * 1 / time_unit seconds. */
static void values_of_rows(const struct oc_report *r, const struct oc_column *c, double time_unit,
                           double *value)
{
    struct oc_line l = {.r = r, .arena = r->shown.arena};
    const struct oc_join *j = r->in->join;
    while (oc_line_next(&l)) {
        struct oc_field f = {.number = NAN};
        bool many = j && l.row->record != OC_NONE && j->rec[l.row->record].n_node;
        uint32_t node = many ? j->rec[l.row->record].node[0] : l.row->node;
        if (node == OC_NONE)
            continue;
        l.column = c;
        c->get(&l, &f);
        double v = c->kind == OC_FIELD_TIME ? f.number * time_unit : f.number;
        if (isfinite(v))
            value[node] = oc_overlay_sum(value[node], v);
    }
}

double *oc_quantity_values(struct oc_report *r, const struct oc_shown_quantity *q, double time_unit)
{
    const struct oc_model *m = r->in->model;
    const struct oc_column *c = overlay_column_of(r, q->key);
    double *value = OC_NEW_ARRAY(&r->arena, (size_t)m->n_node + 1, double);
    for (uint32_t i = 0; i < m->n_node; i++)
        value[i] = NAN;
    if (c)
        values_of_rows(r, c, time_unit, value);
    return value;
}
