#include "support/fuzz_profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/timeline.h"

static void require(bool ok)
{
    if (!ok)
        abort();
}

static void check_rec(const struct oc_profile *p, const struct oc_prof_rec *r)
{
    require(r->name && r->op_type && r->provider && r->precision);
    require(r->parent == OC_NONE || r->parent < p->n_rec);
    require(r->bucket || !p->n_lane || r->lane < p->n_lane);
    require(r->runs <= p->runs_used);
    for (uint32_t k = 0; k < r->n_in; k++)
        require(r->in[k].shape.rank <= OC_MAX_RANK);
}

static double known(double v)
{
    return isnan(v) ? 0 : v;
}

/* Sums of many large numbers differ by their rounding. */
static bool close_to(double a, double b)
{
    return fabs(a - b) < 1 + 1e-9 * (fabs(a) + fabs(b));
}

static void check_timeline(const struct oc_profile *p)
{
    const struct oc_timeline *t = p->timeline;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        require(e->kind < OC_EV_COUNT && e->name < t->n_name && e->lane < p->n_lane);
        require(e->detail == OC_NONE || e->detail < t->n_detail);
        require(e->run == OC_NONE || e->run < t->n_run);
        require((e->parent == OC_NONE || e->parent < i) && (e->link == OC_NONE || e->link < t->n_event));
        require(!i || t->event[i - 1].start_ns <= e->start_ns);
        require(e->dur_ns >= 0 && e->self_ns <= e->dur_ns + 1e-6 * e->dur_ns + 1);
    }
}

static void check(const struct oc_profile *p)
{
    double host = 0, device = 0;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        check_rec(p, &p->rec[i]);
        host += known(p->rec[i].total_ns);
        device += known(p->rec[i].total_kernel_ns);
    }
    require(isnan(p->imported_ns) || close_to(host, p->imported_ns));
    require(isnan(p->imported_kernel_ns) || close_to(device, p->imported_kernel_ns));
    for (uint32_t i = 0; i < p->n_kernel; i++) {
        const struct oc_prof_kernel *k = &p->kernel[i];
        require(k->name && (k->rec == OC_NONE || k->rec < p->n_rec) && k->lane < p->n_lane);
    }
    if (p->timeline)
        check_timeline(p);
}

void fuzz_profile(const struct oc_importer *imp, const uint8_t *data, size_t n)
{
    static const struct oc_profile_opts opts[] = {{.warmup = -1, .keep_events = true},
                                                  {.warmup = 0, .stat = OC_STAT_MEAN}};
    struct oc_bid bid = {0};
    imp->probe(&(struct oc_peek){.path = "", .data = (const char *)data, .n = n, .whole = true}, &bid);
    for (size_t i = 0; i < OC_COUNT(opts); i++) {
        struct oc_profile *p = NULL;
        struct oc_err err = {0};
        if (oc_profile_from_mem(imp, data, n, &opts[i], &p, &err) == 0) {
            check(p);
            oc_profile_close(p);
        } else {
            require(memchr(err.msg, '\0', sizeof(err.msg)) && err.msg[0]);
        }
    }
}
