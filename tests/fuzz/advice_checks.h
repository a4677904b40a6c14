/* Invariants of all advice: every warning refers to existing rows; what is known to save time comes before what saves at
 * most a time, and both are sorted. */
#ifndef OC_FUZZ_ADVICE_CHECKS_H
#define OC_FUZZ_ADVICE_CHECKS_H

#include <math.h>
#include <stdlib.h>

#include "advice/advice.h"
#include "hw/hwdb.h"
#include "onnxcost.h"
#include "onnxcost/report.h"

static inline void fuzz_advice(const struct oc_report_in *in)
{
    const struct oc_report_opts o = {.advise = true};
    struct oc_report r = {.in = in, .o = &o};
    oc_report_rows(&r);
    oc_report_roofs(&r);
    const struct oc_advice *a = oc_advice_make(&r);
    double last = INFINITY;
    bool known = true;
    for (uint32_t i = 0; i < a->n; i++) {
        const struct oc_advice_item *f = a->item[i];
        double saving = isnan(f->high_ns) ? f->low_ns : f->high_ns;
        if (known && !(f->low_ns > 0)) {
            known = false;
            last = INFINITY;
        }
        if (known != (f->low_ns > 0) || !f->n_proof || !f->id || !f->title || !f->found || !f->todo ||
            f->low_ns > f->high_ns || saving > last)
            abort();
        last = saving > 0 ? saving : 0;
        for (uint32_t k = 0; k < f->n_proof; k++) {
            const struct oc_advice_proof *p = &f->proof[k];
            if (!p->name || !p->type || !p->text || (p->node != OC_NONE && p->node >= in->model->n_node) ||
                (p->record != OC_NONE && p->record >= in->profile->n_rec))
                abort();
        }
    }
    oc_arena_free(&r.arena);
}

#endif
