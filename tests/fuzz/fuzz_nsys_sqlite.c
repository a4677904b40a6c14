/* SQLite files of Nsight Systems: any bytes are read or refused, and no time is lost. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

extern const struct oc_importer oc_importer_nsys_sqlite;

static void check(const struct oc_profile *p)
{
    struct oc_conserved c;
    oc_profile_conserved(p, true, &c);
    if (oc_time_is_lost(c.lost_ns, c.imported_ns) || !p->runs_used)
        abort();
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const struct oc_prof_rec *r = &p->rec[i];
        if (!r->name || !r->op_type || !r->provider || !r->precision || r->lane > p->n_lane)
            abort();
        if (!r->bucket && !(r->min_ns <= r->median_ns && r->median_ns <= r->max_ns))
            abort();
    }
    for (uint32_t i = 0; i < p->n_kernel; i++)
        if (!p->kernel[i].name || p->kernel[i].rec >= p->n_rec || !p->kernel[i].calls)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    for (int stat = OC_STAT_MEDIAN; stat <= OC_STAT_SUM; stat += 4) {
        struct oc_profile_opts opts = {.warmup = stat ? 0 : -1, .stat = (enum oc_stat)stat};
        struct oc_profile *p;
        struct oc_err err = {0};
        if (oc_profile_from_mem(&oc_importer_nsys_sqlite, data, n, &opts, &p, &err) == 0) {
            check(p);
            oc_profile_close(p);
        } else if (!err.msg[0]) {
            abort();
        }
    }
    return 0;
}
