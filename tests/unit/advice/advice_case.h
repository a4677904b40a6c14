/* A model built in the test, a profile as a table, hardware: and what is advised. */
#ifndef TEST_ADVICE_CASE_H
#define TEST_ADVICE_CASE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "advice/advice.h"
#include "hw/hwdb.h"
#include "join/join.h"
#include "support/build.h"
#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"
#include "onnxcost/report.h"

struct advised {
    uint8_t *bytes;
    struct oc_model *model;
    struct oc_analysis *analysis;
    struct oc_profile *profile;
    struct oc_join *join;
    struct oc_report_in in;
    struct oc_report_opts o;
    struct oc_report r;
    struct oc_advice *advice;
};

static inline void advised_report(struct advised *x)
{
    oc_arena_free(&x->r.arena);
    x->r = (struct oc_report){.in = &x->in, .o = &x->o};
    oc_report_rows(&x->r);
    oc_report_roofs(&x->r);
    x->advice = oc_advice_make(&x->r);
}

/* Frees the builder (NULL: no model). table: lines "name,type,provider,us", NULL: no profile. */
static inline void advise_case(struct advised *x, struct oc_builder *b, const char *table,
                               const struct oc_device *device)
{
    struct oc_err err;
    size_t n;
    *x = (struct advised){.bytes = NULL};
    if (b) {
        x->bytes = oc_b_pack(b, &n);
        oc_b_free(b);
        if (oc_model_load_mem(x->bytes, n, NULL, &x->model, &err) ||
            oc_analyze(x->model, &(struct oc_analyze_opts){0}, &x->analysis, &err))
            fail_msg("%s", err.msg);
    }
    if (table) {
        char text[8192];
        snprintf(text, sizeof(text), "name,type,provider,time\n%s", table);
        struct oc_profile_opts po = {.map = "name=name,type=type,provider=provider,time=time:us"};
        x->profile = t_profile_text(text, &po, &err);
        if (!x->profile || (b && oc_join_make(x->model, x->analysis, x->profile, NULL, &x->join, &err)))
            fail_msg("%s", err.msg);
    }
    x->in = (struct oc_report_in){x->model, x->analysis, x->profile, x->join, device};
    advised_report(x);
}

static inline void advised_free(struct advised *x)
{
    oc_arena_free(&x->r.arena);
    oc_join_free(x->join);
    oc_profile_close(x->profile);
    oc_analysis_free(x->analysis);
    oc_model_free(x->model);
    free(x->bytes);
}

/* NULL: there is no such suggestion. */
static inline const struct oc_advice_item *finding(const struct advised *x, const char *id)
{
    for (uint32_t i = 0; i < x->advice->n; i++)
        if (!strcmp(x->advice->item[i]->id, id))
            return x->advice->item[i];
    return NULL;
}

/* Expects the suggestion with so many rows and times, then frees everything. NAN: unknown. */
static inline void expect_finding(struct advised *x, const char *id, uint32_t n_proof, double low_ns,
                                  double high_ns)
{
    const struct oc_advice_item *f = finding(x, id);
    if (!f)
        fail_msg("no suggestion '%s'", id);
    if (f->n_proof != n_proof)
        fail_msg("%s: %u rows, not %u: %s", id, f->n_proof, n_proof, f->found);
    if (isnan(f->low_ns) != isnan(low_ns) || fabs(f->low_ns - low_ns) > 1e-3)
        fail_msg("%s: at least %.4f, not %.4f", id, f->low_ns, low_ns);
    if (isnan(f->high_ns) != isnan(high_ns) || fabs(f->high_ns - high_ns) > 1e-3)
        fail_msg("%s: at most %.4f, not %.4f", id, f->high_ns, high_ns);
    assert_true(*f->found && *f->todo && *f->title);
    advised_free(x);
}

static inline void expect_none(struct advised *x, const char *id)
{
    const struct oc_advice_item *f = finding(x, id);
    if (f)
        fail_msg("a suggestion '%s': %s (%s)", id, f->found, f->proof[0].text);
    advised_free(x);
}

#endif
