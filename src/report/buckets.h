/* Unattributed time of a profile, summed by kind: the profile's own buckets (framework, load, ...) and, with
 * a model, the rest of the join (layout, copies, unmatched, ...). Together with the rows outside of buckets
 * they add up to all the time read. */
#ifndef OC_BUCKETS_H
#define OC_BUCKETS_H

#include "report/report.h"

struct oc_bucket_sum {
    const char *name;
    double time_ns, kernel_ns;        /* own time on the host, time on the device; NAN: no record has it */
    double total_ns, total_kernel_ns; /* the same, of all calls read */
    uint32_t records;
    bool of_profile; /* defined by the profile; else by the join */
};

/* In order of appearance, in the report's arena. Returns their number. */
uint32_t oc_report_buckets(struct oc_report *r, const struct oc_bucket_sum **out);

#endif
