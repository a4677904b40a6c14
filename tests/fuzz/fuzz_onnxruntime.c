#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"
#include "onnxcost/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

extern const struct oc_importer oc_importer_onnxruntime;

static void check(const struct oc_profile *p)
{
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const struct oc_prof_rec *r = &p->rec[i];
        if (!r->name || !r->op_type || !r->provider || (r->parent != OC_NONE && r->parent >= p->n_rec))
            abort();
        if (!r->bucket && !(r->min_ns <= r->median_ns && r->median_ns <= r->max_ns))
            abort();
        for (uint32_t k = 0; k < r->n_in; k++)
            if (r->in[k].shape.rank > OC_MAX_RANK)
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    for (int stat = OC_STAT_MEDIAN; stat <= OC_STAT_SUM; stat += 4) {
        struct oc_profile_opts opts = {.warmup = stat ? OC_WARMUP_NONE : 0, .stat = (enum oc_stat)stat};
        struct oc_profile p = {.path = "", .producer = "", .device = ""};
        struct oc_stream *s = oc_stream_mem(data, n);
        struct oc_bid bid = {0};
        struct oc_err err;
        p.names.arena = p.diags.arena = &p.arena;
        p.exprs = oc_exprs_new(&p.arena);
        oc_importer_onnxruntime.probe(&(struct oc_peek){.path = "", .data = (const char *)data, .n = n},
                                      &bid);
        if (oc_importer_onnxruntime.read(
                &(struct oc_source){.file = &(struct oc_source_file){.path = "", .s = s}, .n = 1}, &opts, &p,
                &err) == 0)
            check(&p);
        else if (!memchr(err.msg, '\0', sizeof(err.msg)) || !err.msg[0])
            abort();
        oc_stream_close(s);
        oc_diags_free(&p.diags);
        oc_map_free(&p.names);
        oc_exprs_free(p.exprs);
        oc_arena_free(&p.arena);
    }
    return 0;
}
