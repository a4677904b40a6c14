/* Invariants of every profile returned by an importer, for any input. */
#ifndef FUZZ_PROFILE_CHECKS_H
#define FUZZ_PROFILE_CHECKS_H

#include <math.h>
#include <stdlib.h>

#include "profile/profile.h"
#include "onnxcost.h"

static inline void fuzz_check_profile(const struct oc_profile *p)
{
    struct oc_conserved c;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const struct oc_prof_rec *r = &p->rec[i];
        if (!r->name || !r->op_type || !r->provider || !r->precision ||
            (r->parent != OC_NONE && r->parent >= p->n_rec))
            abort();
        if (p->n_lane && r->lane >= p->n_lane)
            abort();
        for (uint32_t k = 0; k < r->n_in; k++)
            if (r->in[k].shape.rank > OC_MAX_RANK)
                abort();
    }
    for (uint32_t i = 0; i < p->n_kernel; i++)
        if (!p->kernel[i].name || (p->kernel[i].rec != OC_NONE && p->kernel[i].rec >= p->n_rec))
            abort();
    for (int device = 0; device < 2; device++) {
        oc_profile_conserved(p, device, &c);
        if (oc_time_is_lost(c.lost_ns, c.imported_ns))
            abort();
    }
}

static inline void fuzz_importer(const struct oc_importer *imp, const uint8_t *data, size_t n,
                                 const struct oc_profile_opts *opts)
{
    struct oc_profile *p;
    struct oc_bid bid = {0};
    struct oc_err err = {0};
    oc_importer_probe(imp, &(struct oc_peek){.path = "", .data = (const char *)data, .n = n}, &bid);
    if (bid.score < 0 || bid.score > 100 || (bid.score && !bid.reason))
        abort();
    if (oc_profile_from_mem(imp, data, n, opts, &p, &err) == 0) {
        fuzz_check_profile(p);
        oc_profile_close(p);
    } else if (!err.msg[0]) {
        abort();
    }
}

#endif
