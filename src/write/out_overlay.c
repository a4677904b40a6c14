/* What viewers of graphs show at nodes: files for Netron and for Model Explorer. */
#include "write/report_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hw/hwdb.h"
#include "join/join.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "report/columns.h"
#include "write/tables/json_keys.h"

/* ---- quantities ------------------------------------------------------------------------------------- */

/* One number per node. */
struct shown_quantity {
    const char *name, *key; /* names in --order-by, in the column */
    const char *label;      /* with the unit */
    bool sum;               /* the value of a body is the sum over its nodes */
    bool profile, hardware; /* what the quantity requires */
};

static const struct shown_quantity shown_quantities[] = {
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

/* The first name in --order-by; without that option latency if has_time, else FLOPs. NULL: no quantity has the name. */
static const struct shown_quantity *quantity_of(const char *order_by, bool has_time)
{
    if (!order_by)
        return &shown_quantities[has_time ? 0 : 1];
    const char *at = order_by + (*order_by == '+');
    size_t n = strcspn(at, ",");
    for (size_t i = 0; i < OC_COUNT(shown_quantities); i++) {
        const struct shown_quantity *q = &shown_quantities[i];
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
    const struct shown_quantity *q = quantity_of(o->order_by, false);
    if (q && ((q->profile && !in->profile) || (q->hardware && !in->device)))
        return oc_fail(err, OC_EARG, "%s needs a %s", q->name,
                       q->profile && !in->profile ? "profile" : "device: name it with --hw");
    if (q)
        return 0;
    struct oc_buf b = {0};
    for (size_t i = 0; i < OC_COUNT(shown_quantities); i++)
        oc_buf_printf(&b, "%s%s", i ? ", " : "", shown_quantities[i].name);
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

/* NAN is left out. */
static double overlay_sum(double a, double b)
{
    return isnan(b) ? a : isnan(a) ? b : a + b;
}

/* ---- quantities: values ----------------------------------------------------------------------------- */

/* The value of the node, or of the first node of a row: the sum over all nodes is preserved. Times in
 * 1 / time_unit seconds. */
static void values_of_rows(struct oc_report *r, const struct oc_column *c, double time_unit, double *value)
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
        double v = c->kind == OC_FIELD_TIME ? oc_ns_of(f.number) / (1e9 / time_unit) : f.number;
        if (isfinite(v))
            value[node] = overlay_sum(value[node], v);
    }
}

/* By node, without those of its bodies; NAN: unknown. Latencies in 1 / time_unit seconds. A row of several nodes
 * counts for its first one, so that the sum is that of all rows. Arena memory. */
static double *quantity_values(struct oc_report *r, const struct shown_quantity *q, double time_unit)
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

/* ---- Netron ----------------------------------------------------------------------------------------- */

/* An attachment for Netron 9, which shows the numbers of a node next to its attributes:
 *     {"signature": "netron:attachment",
 *      "metrics": [{"kind": "node", "target": NODE, "name": KEY, "value": number}]}
 * All quantities, in the units of the CSV file, of each node with a name that no other node has. */

/* Bodies are part of the node that runs them. Graphs follow the graph that contains them. */
static void values_of_bodies(const struct oc_model *m, double *value)
{
    for (uint32_t g = m->n_graph; g-- > 1;) {
        double sum = NAN;
        for (uint32_t i = 0; i < m->graph[g].n_node; i++)
            sum = overlay_sum(sum, value[m->graph[g].node[i]]);
        uint32_t owner = m->graph[g].parent_node;
        if (owner != OC_NONE)
            value[owner] = overlay_sum(value[owner], sum);
    }
}

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

void oc_out_netron(struct oc_report *r, FILE *f)
{
    const struct oc_model *m = r->in->model;
    struct oc_map names = {.arena = &r->arena};
    struct oc_json_out w = {.f = f, .pretty = true};
    count_all_names(m, &names);
    oc_jw_begin_object(&w);
    oc_key_text(&w, "signature", "netron:attachment");
    oc_key_array(&w, "metrics");
    for (size_t q = 0; q < OC_COUNT(shown_quantities); q++) {
        double *value = quantity_values(r, &shown_quantities[q], 1e9);
        if (shown_quantities[q].sum)
            values_of_bodies(m, value);
        for (uint32_t i = 0; i < m->n_node; i++)
            if (!isnan(value[i]) && is_target(&names, m->node[i].name))
                metric(&w, m->node[i].name, shown_quantities[q].key, value[i]);
    }
    oc_jw_end_array(&w);
    oc_json_end(&w);
    oc_map_free(&names);
}

/* ---- Model Explorer --------------------------------------------------------------------------------- */

/* Node data for Google's Model Explorer, which colours the nodes of a graph by a number, in the format of
 * its node_data_builder, one object per graph:
 *     {GRAPH: {"name": text, "results": {NODE: {"value": number}}, "gradient": [{"stop": 0..1, "bgColor": "#rrggbb"}]}}
 * GRAPH and NODE are the ids of its ONNX adapter (github.com/justinchuby/model-explorer-onnx, August 2026):
 * - a node is its name; one that occurred before in the same graph, or none ("node"), gets _1, _2 ... appended,
 *   counted in file order over the main graph or one function with all bodies below it;
 * - the main graph is its name or "<main>"; the bodies of an If are in the graph of the If, nodes IF/ATTRIBUTE/NODE;
 * - a body of Loop, Scan ... is a graph NODE/ATTRIBUTE if the node is in the main graph, otherwise it is not drawn;
 * - a function is a graph "[function]DOMAIN::NAME", with "::OVERLOAD" if it has one; its bodies are not drawn.
 * A value of a body that is not in the graph of its node is part of the node's value too. The values of a function
 * are sums over its calls. */

enum {
    MAX_PREFIX_BYTES = 1024
}; /* a body with a longer path is not drawn: nested long names would multiply */

struct drawn {
    const char *id; /* of its graph; NULL: it is not drawn */
    const char *prefix;
};

static const struct drawn not_drawn = {NULL, ""};

struct explorer {
    struct oc_report *r;
    const struct oc_model *m;
    struct drawn *drawn; /* by graph */
    const char **key;    /* by node */
    double *value;       /* by node */
};

/* ---- Model Explorer: ids ---------------------------------------------------------------------------- */

struct naming {
    struct explorer *x;
    struct oc_map counter; /* of names that were taken, of one function or the main graph */
    size_t call_bytes;     /* of the name of the call and '/' before each name of an expanded function */
};

static bool is_embedded(const struct oc_node *n)
{
    return !strcmp(n->op_type, "If") && !*n->domain;
}

static const char *free_name(struct naming *w, struct oc_map *used, const char *wanted)
{
    const char *name = wanted;
    uint32_t unused = 0;
    while (!oc_map_add(used, name, strlen(name), &unused, NULL)) {
        uint32_t count = 1;
        if (!oc_map_add(&w->counter, wanted, strlen(wanted), &count, NULL))
            oc_map_set(&w->counter, wanted, strlen(wanted), ++count);
        name = oc_printf(&w->x->r->arena, "%s_%u", wanted, count);
    }
    return name;
}

static struct drawn drawn_of(const struct explorer *x, const struct oc_node *n, uint32_t node,
                             const struct oc_attr *attr)
{
    const struct drawn up = x->drawn[n->graph];
    size_t bytes = strlen(x->key[node]) + strlen(attr->name) + 2;
    if (!up.id || bytes > MAX_PREFIX_BYTES || attr->type != OC_ATTR_GRAPH)
        return not_drawn;
    const char *path = oc_printf(&x->r->arena, "%s/%s", x->key[node], attr->name);
    if (is_embedded(n))
        return (struct drawn){up.id, oc_printf(&x->r->arena, "%s/", path)};
    return up.id == x->drawn[0].id ? (struct drawn){path, ""} : not_drawn;
}

struct in_file {
    uint32_t index, node;
};

static int by_file_index(const void *a, const void *b)
{
    uint32_t x = ((const struct in_file *)a)->index, y = ((const struct in_file *)b)->index;
    return x < y ? -1 : x > y;
}

/* The nodes of a graph in the order of the file. free() */
static struct in_file *in_file_order(const struct oc_model *m, uint32_t graph)
{
    const struct oc_graph *g = &m->graph[graph];
    struct in_file *node = oc_xmalloc(((size_t)g->n_node + 1) * sizeof(*node));
    for (uint32_t i = 0; i < g->n_node; i++)
        node[i] = (struct in_file){m->node[g->node[i]].file_index, g->node[i]};
    qsort(node, g->n_node, sizeof(*node), by_file_index);
    return node;
}

/* A graph and the bodies below it. */
static void name_nodes(struct naming *w, uint32_t graph)
{
    struct explorer *x = w->x;
    const char *prefix = x->drawn[graph].prefix;
    struct oc_map used = {.arena = &x->r->arena};
    struct in_file *list = in_file_order(x->m, graph);
    for (uint32_t i = 0; i < x->m->graph[graph].n_node; i++) {
        uint32_t id = list[i].node;
        const struct oc_node *n = &x->m->node[id];
        const char *name = free_name(w, &used, *n->name ? n->name + w->call_bytes : "node");
        x->key[id] = *prefix ? oc_printf(&x->r->arena, "%s%s", prefix, name) : name;
        for (uint32_t a = 0; a < n->n_attr; a++)
            for (uint32_t k = 0; n->attr[a].graph && k < n->attr[a].n; k++) {
                uint32_t body = n->attr[a].graph[k];
                x->drawn[body] = w->call_bytes ? not_drawn : drawn_of(x, n, id, &n->attr[a]);
                name_nodes(w, body);
            }
    }
    free(list);
    oc_map_free(&used);
}

static void name_root(struct explorer *x, uint32_t graph, const char *id, size_t call_bytes)
{
    struct naming w = {.x = x, .counter = {.arena = &x->r->arena}, .call_bytes = call_bytes};
    x->drawn[graph] = (struct drawn){id, ""};
    name_nodes(&w, graph);
    oc_map_free(&w.counter);
}

static void name_all(struct explorer *x)
{
    const struct oc_model *m = x->m;
    char label[256];
    name_root(x, 0, *m->graph[0].name ? m->graph[0].name : "<main>", 0);
    for (uint32_t g = 1; g < m->n_graph; g++) {
        uint32_t owner = m->graph[g].parent_node;
        const struct oc_node *n = owner == OC_NONE ? NULL : &m->node[owner];
        if (!n || n->kind != OC_NODE_CALL || n->body != g)
            continue;
        const char *id = oc_printf(&x->r->arena, "[function]%s::%s%s%s", n->domain, n->op_type,
                                   *n->overload ? "::" : "", n->overload);
        name_root(x, g, id, strlen(oc_node_label(m, n, label, sizeof(label))) + 1);
    }
}

/* ---- Model Explorer: values ------------------------------------------------------------------------- */

/* A graph whose nodes are in the graph of its owner, with its own values. */
static bool beside_owner(const struct explorer *x, uint32_t g)
{
    const char *id = x->drawn[g].id;
    return id && id == x->drawn[x->m->node[x->m->graph[g].parent_node].graph].id;
}

/* Adds values of bodies to their nodes. Graphs follow the graph that contains them. */
static void add_bodies(struct explorer *x)
{
    const struct oc_model *m = x->m;
    double *beside = oc_xmalloc(((size_t)m->n_graph + 1) * sizeof(*beside));
    for (uint32_t g = 0; g < m->n_graph; g++)
        beside[g] = NAN;
    for (uint32_t g = m->n_graph; g-- > 1;) {
        uint32_t owner = m->graph[g].parent_node;
        double sum = beside[g];
        for (uint32_t i = 0; i < m->graph[g].n_node; i++)
            sum = overlay_sum(sum, x->value[m->graph[g].node[i]]);
        if (owner == OC_NONE)
            continue;
        double *to = beside_owner(x, g) ? &beside[m->node[owner].graph] : &x->value[owner];
        *to = overlay_sum(*to, sum);
    }
    free(beside);
}

/* ---- Model Explorer: document ----------------------------------------------------------------------- */

struct result {
    const char *key;
    double value;
};

struct results {
    const char *id; /* of the graph */
    struct oc_map index;
    struct result *item;
    size_t n, cap;
};

/* Ratios do not add up: a node of a function has one only if one call has a value. */
static void take_values(const struct explorer *x, struct results *to, uint32_t graph, bool sum)
{
    const struct oc_graph *g = &x->m->graph[graph];
    for (uint32_t i = 0; i < g->n_node; i++) {
        uint32_t at = (uint32_t)to->n;
        const char *key = x->key[g->node[i]];
        double value = x->value[g->node[i]];
        if (isnan(value))
            continue;
        if (oc_map_add_kept(&to->index, key, strlen(key), &at)) {
            OC_GROW(to->item, to->n, to->cap);
            to->item[to->n++] = (struct result){key, value};
        } else {
            to->item[at].value = sum ? to->item[at].value + value : NAN;
        }
    }
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

static void write_graph(struct oc_json_out *w, const struct results *g, const char *name)
{
    oc_key_object(w, g->id);
    oc_key_text(w, "name", name);
    oc_key_object(w, "results");
    for (size_t i = 0; i < g->n; i++) {
        if (isnan(g->item[i].value))
            continue;
        oc_key_object(w, g->item[i].key);
        oc_key_count(w, "value", g->item[i].value);
        oc_jw_end_object(w);
    }
    oc_jw_end_object(w);
    gradient(w);
    oc_jw_end_object(w);
}

void oc_out_model_explorer(struct oc_report *r, FILE *f)
{
    const struct oc_model *m = r->in->model;
    const struct shown_quantity *q = quantity_of(r->o->order_by, r->has_time);
    struct explorer x = {.r = r,
                         .m = m,
                         .drawn = OC_NEW_ARRAY(&r->arena, (size_t)m->n_graph + 1, struct drawn),
                         .key = OC_NEW_ARRAY(&r->arena, (size_t)m->n_node + 1, const char *),
                         .value = quantity_values(r, q, 1e6)};
    struct oc_map index = {.arena = &r->arena};
    struct results *graph = oc_xmalloc(((size_t)m->n_graph + 1) * sizeof(*graph));
    struct oc_json_out w = {.f = f, .pretty = true};
    uint32_t n = 0;
    for (uint32_t g = 0; g < m->n_graph; g++)
        x.drawn[g] = not_drawn;
    name_all(&x);
    if (q->sum)
        add_bodies(&x);
    for (uint32_t g = 0; g < m->n_graph; g++) {
        const char *id = x.drawn[g].id;
        uint32_t at = n;
        if (id && oc_map_add_kept(&index, id, strlen(id), &at))
            graph[n++] = (struct results){.id = id, .index = {.arena = &r->arena}};
        if (id)
            take_values(&x, &graph[at], g, q->sum);
    }
    oc_jw_begin_object(&w);
    for (uint32_t i = 0; i < n; i++) {
        if (graph[i].n || !i)
            write_graph(&w, &graph[i], q->label);
        free(graph[i].item);
        oc_map_free(&graph[i].index);
    }
    oc_json_end(&w);
    free(graph);
    oc_map_free(&index);
}
