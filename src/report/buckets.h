/* Time of a profile that stands on no node, summed by kind: the profile's own buckets (framework, load, ...)
 * and, beside a model, what the join put aside (layout, copies, unmatched, ...). With the rows that have no
 * bucket they make up all the time that was read. */
#ifndef OC_BUCKETS_H
#define OC_BUCKETS_H

#include "report/report.h"

struct oc_bucket_sum {
    const char *name;
    double time_ns, kernel_ns; /* own time on the host, time on the device; NAN: no record has such a time */
    double total_ns, total_kernel_ns; /* likewise, of all calls that were read */
    uint32_t records;
    bool of_profile; /* the profile says so itself; else the join */
};

/* In order of appearance, in the report's arena. Returns how many. */
uint32_t oc_report_buckets(struct oc_report *r, const struct oc_bucket_sum **out);

#endif
