#include "join/executed.h"

#include <math.h>
#include <string.h>

#include "base/ck.h"
#include "join/record_cost.h"

/* A BatchNormalization that runs as a convolution has MACs. */
static bool is_blocked(const struct oc_prof_rec *r)
{
    size_t n = strlen(r->name), stem;
    return n > 6 && !oc_match_as_product(r->name, &stem) && strcmp(r->name + n - 6, "_nchwc") == 0;
}

/* Executed MACs per run, over all its calls. False: the recorded shapes do not determine them. */
static bool recorded_macs(const struct oc_profile *p, const struct oc_prof_rec *r, struct oc_arena *a,
                          uint64_t *macs)
{
    struct oc_record_cost k;
    double calls = r->calls_per_run;
    if (!r->has_in && !r->has_out)
        return false;
    oc_record_cost(p, r, a, &k);
    return k.quality != OC_UNKNOWN && calls >= 1 && calls == floor(calls) && calls < 1e15 &&
           oc_mul_u64(k.macs, (uint64_t)calls, macs);
}

void oc_join_executed(struct oc_join *j)
{
    const struct oc_profile *p = j->profile;
    struct oc_join_executed *e = &j->executed;
    struct oc_arena scratch = {0};
    bool fits = true;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        struct oc_join_rec *r = &j->rec[i];
        if (p->rec[i].bucket || !r->n_node)
            continue;
        r->executed_known = recorded_macs(p, &p->rec[i], &scratch, &r->executed_macs);
        e->recorded += r->executed_known;
        bool counted = r->quality != OC_UNKNOWN;
        if (!r->executed_known && counted && r->macs) { /* assumed equal to the model */
            e->from_model++;
            fits &= oc_add_u64(e->macs, r->macs, &e->macs);
        } else if (r->executed_known) {
            fits &= oc_add_u64(e->macs, r->executed_macs, &e->macs);
        }
        if (!r->executed_known || !counted || r->executed_macs <= r->macs)
            continue;
        bool padded = is_blocked(&p->rec[i]);
        *(padded ? &e->padded : &e->more) += 1;
        fits &= !padded || oc_add_u64(e->padding_macs, r->executed_macs - r->macs, &e->padding_macs);
        r->note =
            padded ? "executed MACs include padded channels" : "more MACs were executed than the model has";
    }
    e->known = fits && e->recorded;
    oc_arena_free(&scratch);
}
