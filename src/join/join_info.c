/* Public interface to the results of a join. */
#include "join/join.h"
#include "onnxcost.h"

void oc_join_totals(const struct oc_join *join, struct oc_join_totals *out)
{
    *out = (struct oc_join_totals){
        .nodes_ns = join->mapped_ns,
        .added_ns = join->overhead_ns,
        .unmatched_ns = join->unmatched_ns,
        .time_share = join->time_matched_fraction,
        .flops_share = join->flops_matched_fraction,
    };
}

size_t oc_join_records(const struct oc_join *join)
{
    return join->profile->n_rec;
}

int oc_join_record(const struct oc_join *join, size_t index, struct oc_join_record *out)
{
    if (index >= join->profile->n_rec)
        return -1;
    const struct oc_join_rec *r = &join->rec[index];
    const struct oc_prof_rec *p = &join->profile->rec[index];
    *out = (struct oc_join_record){
        .name = p->name,
        .op_type = p->op_type,
        .node = r->node,
        .n_node = r->n_node,
        .rule = r->rule,
        .confidence = r->confidence,
        .bucket = r->bucket,
        .time_ns = p->self_ns,
        .macs = r->macs,
        .flops = r->flops,
        .ops = r->ops,
        .quality = r->quality,
    };
    return 0;
}

int oc_join_node(const struct oc_join *join, size_t node, struct oc_join_record *out)
{
    if (node >= join->model->n_node || join->node_rec[node] == OC_NONE)
        return -1;
    return oc_join_record(join, join->node_rec[node], out);
}
