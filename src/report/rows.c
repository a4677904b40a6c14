#include "report/rows.h"

#include "base/map.h"

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
