#include <math.h>

#include "profile/profile.h"

void oc_profile_conserved(const struct oc_profile *p, bool device, struct oc_conserved *out)
{
    long double sum[2] = {0, 0}, size = 0;
    bool any = false;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        double ns = device ? p->rec[i].total_kernel_ns : p->rec[i].total_ns;
        if (isnan(ns))
            continue;
        any = true;
        sum[p->rec[i].bucket || p->rec[i].overhead] += (long double)ns;
        size += fabsl((long double)ns);
    }
    double imported_ns = device ? p->imported_kernel_ns : p->imported_ns;
    long double lost = (long double)imported_ns - sum[0] - sum[1];
    if (fabsl(lost) <= 1e-12L * size) /* parts that cancel, each rounded: no time is lost */
        lost = 0;
    *out = (struct oc_conserved){.imported_ns = imported_ns,
                                 .operators_ns = any ? (double)sum[0] : (double)NAN,
                                 .buckets_ns = any ? (double)sum[1] : (double)NAN,
                                 .lost_ns = (double)lost};
}

bool oc_time_is_lost(double lost_ns, double imported_ns)
{
    return fabs(lost_ns) >= 1 && fabs(lost_ns) > 1e-12 * fabs(imported_ns);
}
