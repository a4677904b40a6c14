#include "report/row_label.h"

#include <string.h>

#include "join/join.h"
#include "report/rows_build.h"

static uint32_t main_node(const struct oc_analysis *a, const struct oc_join_rec *j)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < j->n_node; i++)
        if (oc_report_node_flo(&a->cost[j->node[i]]) > oc_report_node_flo(&a->cost[j->node[best]]))
            best = i;
    return j->node[best];
}

static const struct oc_join_rec *join_of(const struct oc_report *r, const struct oc_row *row)
{
    const struct oc_join_rec *j =
        r->in->join && row->record != OC_NONE ? &r->in->join->rec[row->record] : NULL;
    return j && j->n_node ? j : NULL;
}

const char *oc_row_type(const struct oc_report *r, const struct oc_row *row)
{
    const struct oc_join_rec *j = join_of(r, row);
    if (row->type && *row->type)
        return row->type;
    return j ? r->in->model->node[main_node(r->in->analysis, j)].op_type : "(unknown)";
}

const char *oc_row_label(struct oc_report *r, const struct oc_row *row)
{
    const struct oc_join_rec *j = join_of(r, row);
    char label[512];
    if (!j)
        return row->name && *row->name ? row->name : row->type ? row->type : "-";
    const struct oc_node *n = &r->in->model->node[main_node(r->in->analysis, j)];
    const char *name = oc_node_label(r->in->model, n, label, sizeof(label));
    return j->n_node > 1 ? oc_printf(&r->arena, "%s +%u", name, j->n_node - 1) : oc_strdup(&r->arena, name);
}

const char *oc_row_members(struct oc_report *r, const struct oc_row *row)
{
    const struct oc_join_rec *j = join_of(r, row);
    if (!j || (j->n_node < 2 && row->name && !strcmp(row->name, oc_row_label(r, row))))
        return NULL;
    struct oc_buf b = {0};
    char label[512];
    for (uint32_t i = 0; i < j->n_node; i++) {
        const struct oc_node *n = &r->in->model->node[j->node[i]];
        oc_buf_printf(&b, "%s%s %s", i ? ", " : "", n->op_type,
                      oc_node_label(r->in->model, n, label, sizeof(label)));
    }
    const char *text =
        oc_printf(&r->arena, "%s; runtime name: %s", b.data, row->name && *row->name ? row->name : "none");
    oc_buf_free(&b);
    return text;
}
