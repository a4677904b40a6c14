/* An attachment for Netron 9, which shows the numbers of a node next to its attributes:
 *     {"signature": "netron:attachment",
 *      "metrics": [{"kind": "node", "target": NODE, "name": KEY, "value": number}]}
 * All quantities, in the units of the CSV file, of each node with a name that no other node has. */
#include <math.h>
#include <string.h>

#include "onnxcost.h"
#include "write/report_write.h"
#include "write/tables/json_keys.h"

/* Bodies are part of the node that runs them. Graphs follow the graph that contains them. */
static void values_of_bodies(const struct oc_model *m, double *value)
{
    for (uint32_t g = m->n_graph; g-- > 1;) {
        double sum = NAN;
        for (uint32_t i = 0; i < m->graph[g].n_node; i++)
            sum = oc_overlay_sum(sum, value[m->graph[g].node[i]]);
        uint32_t owner = m->graph[g].parent_node;
        if (owner != OC_NONE)
            value[owner] = oc_overlay_sum(value[owner], sum);
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
    for (size_t q = 0; q < OC_QUANTITIES; q++) {
        double *value = oc_quantity_values(r, &oc_quantities[q], 1e9);
        if (oc_quantities[q].sum)
            values_of_bodies(m, value);
        for (uint32_t i = 0; i < m->n_node; i++)
            if (!isnan(value[i]) && is_target(&names, m->node[i].name))
                metric(&w, m->node[i].name, oc_quantities[q].key, value[i]);
    }
    oc_jw_end_array(&w);
    oc_json_end(&w);
    oc_map_free(&names);
}
