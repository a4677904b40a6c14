/* Invariants of every profile with events, in addition to profile_checks.h. */
#ifndef FUZZ_TIMELINE_CHECKS_H
#define FUZZ_TIMELINE_CHECKS_H

#include <string.h>

#include "profile/core/timeline.h"
#include "profile_checks.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"
#include "onnxcost/report.h"

static inline void fuzz_require(bool ok)
{
    if (!ok)
        abort();
}

static inline void fuzz_check_timeline(const struct oc_profile *p)
{
    const struct oc_timeline *t = p->timeline;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        fuzz_require(e->kind < OC_EV_COUNT && e->name < t->n_name && e->lane < p->n_lane);
        fuzz_require(e->detail == OC_NONE || e->detail < t->n_detail);
        fuzz_require(e->run == OC_NONE || e->run < t->n_run);
        fuzz_require((e->parent == OC_NONE || e->parent < i) && (e->link == OC_NONE || e->link < t->n_event));
        fuzz_require(!i || t->event[i - 1].start_ns <= e->start_ns);
        fuzz_require(e->dur_ns >= 0 && e->self_ns <= e->dur_ns + 1e-6 * e->dur_ns + 1);
    }
}

/* The output of --format trace is again a trace. */
static inline void fuzz_write_trace(const struct oc_profile *p)
{
    extern const struct oc_importer oc_importer_chrome;
    const struct oc_report_in in = {.profile = p};
    const struct oc_report_opts o = {.format = "trace"};
    const struct oc_profile_opts opts = {0};
    struct oc_profile *again;
    struct oc_err err;
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        return;
    int rc = oc_report_write(&in, &o, f, &err);
    fclose(f);
    fuzz_require(rc == 0);
    if (strstr(text, "\"ph\":\"X\"")) { /* a trace whose events all take 0 ns is rejected */
        int read = oc_profile_from_mem(&oc_importer_chrome, text, n, &opts, &again, &err);
        fuzz_require(read == 0 || strstr(err.msg, "contains no time"));
        if (read == 0)
            oc_profile_close(again);
    }
    free(text);
}

/* With and without events. */
static inline void fuzz_trace(const struct oc_importer *imp, const uint8_t *data, size_t n)
{
    struct oc_profile_opts keep = {.keep_events = true}, drop = {.stat = OC_STAT_MEAN};
    struct oc_profile *p;
    struct oc_err err;
    if (oc_profile_from_mem(imp, data, n, &keep, &p, &err) == 0) {
        fuzz_check_profile(p);
        if (p->timeline)
            fuzz_check_timeline(p);
        fuzz_write_trace(p);
        oc_profile_close(p);
    }
    fuzz_importer(imp, data, n, &drop);
}

#endif
