/* Costs for viewers of graphs.
 *
 * Node data for Google's Model Explorer, which colours the nodes of a graph by a number, in the format of
 * its node_data_builder:
 *     {GRAPH: {"results": {NODE: {"value": number}}, "gradient": [{"stop": 0..1, "bgColor": "#rrggbb"}]}}
 * One quantity per file; the program shows the file name. NODE is the id used by its ONNX adapter: the
 * node's name, or an output tensor if the name is missing or not unique. GRAPH is the name of the main
 * graph. Subgraphs and functions are part of the node that runs them.
 *
 * An attachment for Netron 9, which shows the numbers of a node next to its attributes:
 *     {"signature": "netron:attachment",
 *      "metrics": [{"kind": "node", "target": NODE, "name": KEY, "value": number}]}
 * All quantities, in the units of the CSV file, of each node with a name that no other node has. */
#include <math.h>
#include <string.h>

#include "hw/hwdb.h"
#include "join/join.h"
#include "report/columns.h"
#include "write/tables/json_keys.h"
#include "write/report_write.h"
#include "onnxcost/report.h"
#include "onnxcost.h"

static const struct quantity {
    const char *name, *key; /* names in --order-by, in the column */
    bool sum;               /* the value of a subgraph is the sum over its nodes */
    bool profile, hardware; /* what the quantity requires */
} quantities[] = {
    {"time", "time_ns", true, true, false},
    {"computation", "flo", true, false, false},
    {"memory", "bytes", true, false, false},
    {"macs", "macs", true, false, false},
    {"params", "params", true, false, false},
    {"roofline", "roofline_ns", true, false, true},
    {"wasted", "wasted_ns", true, true, true},
    {"flops", "flop_per_s", false, true, false},
    {"bandwidth", "bytes_per_s", false, true, false},
    {"intensity", "flop_per_byte", false, false, false},
    {"efficiency", "roofline_efficiency", false, true, true},
};

/* The first name in --order-by. */
static const struct quantity *quantity_of(const char *order_by)
{
    const char *at = order_by + (*order_by == '+');
    size_t n = strcspn(at, ",");
    for (size_t i = 0; i < OC_COUNT(quantities); i++)
        if ((strlen(quantities[i].name) == n && !strncmp(quantities[i].name, at, n)) ||
            (strlen(quantities[i].key) == n && !strncmp(quantities[i].key, at, n)))
            return &quantities[i];
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
    const struct quantity *q = o->order_by ? quantity_of(o->order_by) : &quantities[1];
    if (q && ((q->profile && !in->profile) || (q->hardware && !in->device)))
        return oc_fail(err, OC_EARG, "%s needs a %s", q->name,
                       q->profile && !in->profile ? "profile" : "device: name it with --hw");
    if (q)
        return 0;
    struct oc_buf b = {0};
    for (size_t i = 0; i < OC_COUNT(quantities); i++)
        oc_buf_printf(&b, "%s%s", i ? ", " : "", quantities[i].name);
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
            value[node] = isnan(value[node]) ? v : value[node] + v;
    }
}

/* Subgraphs follow the graph that contains them. */
static void values_of_bodies(const struct oc_model *m, double *value)
{
    for (uint32_t g = m->n_graph; g-- > 1;) {
        double sum = NAN;
        for (uint32_t i = 0; i < m->graph[g].n_node; i++) {
            double v = value[m->graph[g].node[i]];
            sum = isnan(v) ? sum : isnan(sum) ? v : sum + v;
        }
        uint32_t owner = m->graph[g].parent_node;
        if (!isnan(sum) && owner != OC_NONE)
            value[owner] = isnan(value[owner]) ? sum : value[owner] + sum;
    }
}

/* By node; NAN: unknown. Arena memory. */
static double *quantity_values(struct oc_report *r, const struct quantity *q, double time_unit)
{
    const struct oc_model *m = r->in->model;
    const struct oc_column *c = overlay_column_of(r, q->key);
    double *value = OC_NEW_ARRAY(&r->arena, (size_t)m->n_node + 1, double);
    for (uint32_t i = 0; i < m->n_node; i++)
        value[i] = NAN;
    if (c)
        values_of_rows(r, c, time_unit, value);
    if (q->sum)
        values_of_bodies(m, value);
    return value;
}

/* ---- the document ----------------------------------------------------------------------------------- */

/* Names shared by several nodes. */
static void overlay_count_names(const struct oc_model *m, struct oc_map *names)
{
    for (uint32_t i = 0; i < m->graph[0].n_node; i++) {
        const char *name = m->node[m->graph[0].node[i]].name;
        uint32_t times = 1;
        if (!oc_map_add(names, name, strlen(name), &times, NULL))
            oc_map_set(names, name, strlen(name), times + 1);
    }
}

static const char *overlay_key_of(const struct oc_model *m, const struct oc_map *names,
                                  const struct oc_node *n)
{
    if (*n->name && oc_map_get(names, n->name, strlen(n->name)) == 1)
        return n->name;
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i] != OC_NONE && *m->value[n->out[i]].name)
            return m->value[n->out[i]].name;
    return NULL;
}

static void results(struct oc_json_out *w, struct oc_report *r, const double *value)
{
    const struct oc_model *m = r->in->model;
    struct oc_map names = {.arena = &r->arena}, told = {.arena = &r->arena};
    overlay_count_names(m, &names);
    oc_key_object(w, "results");
    for (uint32_t i = 0; i < m->graph[0].n_node; i++) {
        uint32_t node = m->graph[0].node[i], unused = 0;
        const char *key = isnan(value[node]) ? NULL : overlay_key_of(m, &names, &m->node[node]);
        if (!key || !oc_map_add(&told, key, strlen(key), &unused, NULL))
            continue;
        oc_key_object(w, key);
        oc_key_count(w, "value", value[node]);
        oc_jw_end_object(w);
    }
    oc_jw_end_object(w);
    oc_map_free(&names);
    oc_map_free(&told);
}

static void gradient(struct oc_json_out *w)
{
    static const struct {
        double stop;
        const char *color;
    } stops[] = {{0, "#ffffff"}, {0.5, "#ffd54f"}, {1, "#d32f2f"}};
    oc_key_array(w, "gradient");
    for (size_t i = 0; i < OC_COUNT(stops); i++) {
        oc_jw_begin_object(w);
        oc_key_double(w, "stop", stops[i].stop);
        oc_key_text(w, "bgColor", stops[i].color);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

void oc_out_overlay(struct oc_report *r, FILE *f)
{
    const struct oc_model *m = r->in->model;
    const struct quantity *q =
        r->o->order_by ? quantity_of(r->o->order_by) : &quantities[r->has_time ? 0 : 1];
    double *value = quantity_values(r, q, 1e6);
    struct oc_json_out w = {.f = f, .pretty = true};
    oc_jw_begin_object(&w);
    oc_key_object(&w, m->graph[0].name);
    results(&w, r, value);
    gradient(&w);
    oc_jw_end_object(&w);
    oc_json_end(&w);
}

/* ---- Netron ----------------------------------------------------------------------------------------- */

static void count_all_names(const struct oc_model *m, struct oc_map *names)
{
    for (uint32_t i = 0; i < m->n_node; i++) {
        uint32_t times = 1;
        const char *name = m->node[i].name;
        if (!oc_map_add(names, name, strlen(name), &times, NULL))
            oc_map_set(names, name, strlen(name), times + 1);
    }
}

/* Netron reads a name up to its first line break. */
static bool is_target(const struct oc_map *names, const char *name)
{
    return *name && !strchr(name, '\n') && oc_map_get(names, name, strlen(name)) == 1;
}

static void metric(struct oc_json_out *w, const char *target, const char *name, double value)
{
    oc_jw_begin_object(w);
    oc_key_text(w, "kind", "node");
    oc_key_text(w, "target", target);
    oc_key_text(w, "name", name);
    oc_key_count(w, "value", value);
    oc_jw_end_object(w);
}

void oc_out_attachment(struct oc_report *r, FILE *f)
{
    const struct oc_model *m = r->in->model;
    struct oc_map names = {.arena = &r->arena};
    struct oc_json_out w = {.f = f, .pretty = true};
    count_all_names(m, &names);
    oc_jw_begin_object(&w);
    oc_key_text(&w, "signature", "netron:attachment");
    oc_key_array(&w, "metrics");
    for (size_t q = 0; q < OC_COUNT(quantities); q++) {
        const double *value = quantity_values(r, &quantities[q], 1e9);
        for (uint32_t i = 0; i < m->n_node; i++)
            if (!isnan(value[i]) && is_target(&names, m->node[i].name))
                metric(&w, m->node[i].name, quantities[q].key, value[i]);
    }
    oc_jw_end_array(&w);
    oc_json_end(&w);
    oc_map_free(&names);
}
