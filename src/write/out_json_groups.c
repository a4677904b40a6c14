#include <string.h>

#include "write/json_keys.h"
#include "write/json_limits.h"

static void group(struct oc_json_out *w, const struct oc_report *r, const struct oc_row *row)
{
    oc_jw_begin_object(w);
    const char *by = r->o->group_by ? r->o->group_by : r->o->aggregate_by;
    oc_key_text(w, "op_type", by && !strcmp(by, "type") ? row->type : NULL);
    oc_key_text(w, "group_by", by);
    oc_key_text(w, "group", row->type);
    oc_key_u64(w, "count", row->count);
    oc_key_text(w, "aggregate", r->o->aggregate ? r->o->aggregate : "sum");
    oc_key_quality(w, row->quality);
    oc_key_double(w, "time_ns", oc_ns_of(row->time_s));
    oc_key_double(w, "time_min_ns", oc_ns_of(row->min_s));
    oc_key_double(w, "time_max_ns", oc_ns_of(row->max_s));
    oc_key_count(w, "calls_per_run", row->calls);
    oc_key_count(w, "operations", row->computation); /* floating-point and integer operations */
    oc_key_count(w, "macs", row->macs);
    oc_key_count(w, "params", row->params);
    oc_key_count(w, "bytes", row->memory);
    oc_key_double(w, "achieved_flops_per_s", oc_row_flops(row));
    oc_key_double(w, "achieved_bytes_per_s", oc_row_bandwidth(row));
    oc_key_double(w, "roofline_time_ns", oc_ns_of(row->roofline_s));
    oc_key_double(w, "roofline_efficiency", row->efficiency);
    oc_key_double(w, "wasted_ns", oc_ns_of(row->wasted_s));
    oc_json_limits(w, r, row);
    if (r->what_if)
        oc_key_double(w, "what_if_time_ns", oc_ns_of(row->what_if_s));
    oc_jw_end_object(w);
}

void oc_json_groups(struct oc_json_out *w, const struct oc_report *r)
{
    oc_jw_key(w, "groups");
    if (!oc_report_grouped(r->o)) {
        oc_jw_null(w);
        return;
    }
    oc_jw_begin_array(w);
    for (uint32_t i = 0; i < r->groups.n; i++)
        group(w, r, &r->groups.row[i]);
    oc_jw_end_array(w);
}
