/* Importers of device profiles: any bytes are read or rejected with a message, the result is consistent, and
 * time is conserved. */
#ifndef FUZZ_DEVICE_PROFILE_H
#define FUZZ_DEVICE_PROFILE_H

#include <stdlib.h>

#include "profile/profile.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

static void check_record(const struct oc_prof_rec *r)
{
    if (!r->name || !r->op_type || !r->provider || !r->precision || !r->unit)
        abort();
    for (uint32_t k = 0; k < r->n_in; k++)
        if (r->in[k].shape.rank > OC_MAX_RANK)
            abort();
    if (r->min_ns > r->median_ns || r->median_ns > r->max_ns)
        abort();
}

static void check_profile(const struct oc_profile *p)
{
    for (int device = 0; device < 2; device++) {
        struct oc_conserved c;
        oc_profile_conserved(p, device, &c);
        if (oc_time_is_lost(c.lost_ns, c.imported_ns))
            abort();
    }
    if (!p->runs_used)
        abort();
    for (uint32_t i = 0; i < p->n_rec; i++)
        check_record(&p->rec[i]);
    for (uint32_t i = 0; i < p->n_kernel; i++)
        if (!p->kernel[i].name || !p->kernel[i].library || p->kernel[i].rec >= p->n_rec)
            abort();
}

static void check_importer(const struct oc_importer *imp, const uint8_t *data, size_t n)
{
    struct oc_bid bid = {0};
    oc_importer_probe(imp, &(struct oc_peek){.path = "", .data = (const char *)data, .n = n}, &bid);
    for (int stat = OC_STAT_MEDIAN; stat <= OC_STAT_SUM; stat += 4) {
        struct oc_profile_opts opts = {
            .warmup = stat ? OC_WARMUP_NONE : 0, .stat = (enum oc_stat)stat, .keep_events = stat != 0};
        struct oc_profile *p;
        struct oc_err err = {0};
        if (oc_profile_from_mem(imp, data, n, &opts, &p, &err) == 0) {
            check_profile(p);
            oc_profile_close(p);
        } else if (!err.msg[0]) {
            abort();
        }
    }
}

#endif
