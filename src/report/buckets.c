#include "report/buckets.h"

#include <stdlib.h>
#include <string.h>

#include "join/join.h"

static const char *bucket_of(const struct oc_report_in *in, uint32_t record)
{
    const struct oc_prof_rec *r = &in->profile->rec[record];
    return in->join ? in->join->rec[record].bucket : r->bucket ? r->bucket : r->overhead;
}

static void add(double *sum, double ns)
{
    if (!isnan(ns))
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): as below */
        *sum = isnan(*sum) ? ns : *sum + ns;
}

uint32_t oc_report_buckets(struct oc_report *r, const struct oc_bucket_sum **out)
{
    const struct oc_profile *p = r->in->profile;
    struct oc_map seen = {.arena = &r->arena};
    struct oc_bucket_sum *sum = NULL;
    uint32_t n = 0, cap = 0;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const char *name = bucket_of(r->in, i);
        uint32_t at = n;
        if (!name)
            continue;
        if (oc_map_add(&seen, name, strlen(name), &at, NULL)) {
            OC_GROW(sum, n, cap);
            sum[n++] = (struct oc_bucket_sum){
                .name = name, .time_ns = NAN, .kernel_ns = NAN, .total_ns = NAN, .total_kernel_ns = NAN};
            sum[at].of_profile = p->rec[i].bucket != NULL;
        }
        /* NOLINTBEGIN(clang-analyzer-core.NullDereference): a known name has its index in sum[] */
        add(&sum[at].time_ns, p->rec[i].self_ns);
        add(&sum[at].kernel_ns, p->rec[i].kernel_ns);
        add(&sum[at].total_ns, p->rec[i].total_ns);
        add(&sum[at].total_kernel_ns, p->rec[i].total_kernel_ns);
        sum[at].records++;
        /* NOLINTEND(clang-analyzer-core.NullDereference) */
    }
    struct oc_bucket_sum *kept = OC_NEW_ARRAY(&r->arena, n, struct oc_bucket_sum);
    if (n)
        memcpy(kept, sum, n * sizeof(*sum));
    free(sum);
    oc_map_free(&seen);
    *out = kept;
    return n;
}
