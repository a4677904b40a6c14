#include <stdlib.h>
#include <string.h>

#include "profile/formats/ort_trace.h"
#include "profile/core/timeline.h"

/* The last lane is shared where there are more than a timeline has. */
static void ort_timeline_add(struct oc_timeline *t, unsigned kind, uint32_t lane, const char *name,
                             int64_t ts_us, int64_t dur_us, uint32_t detail)
{
    struct oc_event e = {.start_ns = oc_timeline_at(t, ts_us * NS_PER_US),
                         .dur_ns = (double)dur_us * NS_PER_US,
                         .name = oc_timeline_name(t, name, strlen(name)),
                         .detail = detail,
                         .lane = (uint16_t)(lane < t->n_lane ? lane : t->n_lane - 1),
                         .kind = (uint8_t)kind};
    oc_timeline_add(t, &e, 0, 0);
}

/* A kernel's node name, stored in its detail until it is linked. */
static uint32_t node_detail(struct oc_timeline *t, const char *node)
{
    bool new;
    uint32_t id = oc_timeline_detail(t, node, strlen(node), &new);
    if (new)
        t->detail[id].text = node;
    return id;
}

static void ort_timeline_fill(const struct ort_trace *from, struct oc_timeline *t)
{
    for (uint32_t l = 0; l < from->n_lane; l++) /* with the numbers that the records use */
        oc_timeline_lane(t, &from->lane[l]);
    if (!from->n_lane && from->n_session)
        oc_timeline_lane(t, &(struct oc_lane){.device_id = OC_NO_ID});
    for (size_t i = 0; i < from->n_run; i++)
        ort_timeline_add(t, OC_EV_STEP, from->run[i].lane, "model_run", from->run[i].start_us,
                         from->run[i].dur_us, OC_NONE);
    for (size_t i = 0; i < from->n_event; i++) {
        const struct ort_event *e = &from->event[i];
        const struct ort_key *k = &from->key[e->key];
        ort_timeline_add(t, k->kind == ORT_NODE ? OC_EV_OPERATOR : OC_EV_FRAMEWORK, e->lane, k->name,
                         e->ts_us, e->dur_us, OC_NONE);
    }
    for (size_t i = 0; i < from->n_session; i++)
        ort_timeline_add(t, OC_EV_FRAMEWORK, 0, from->session[i].name, from->session[i].ts_us,
                         from->session[i].dur_us, OC_NONE);
    if (!from->n_kernel)
        return;
    struct oc_lane device = {.device = true, .process = OC_NO_ID};
    uint16_t stream = oc_timeline_lane(t, &device);
    for (size_t i = 0; i < from->n_kernel; i++) {
        const struct ort_event *e = &from->kernel[i];
        const struct ort_key *k = &from->key[e->key];
        ort_timeline_add(t, OC_EV_KERNEL, stream, k->name, e->ts_us, e->dur_us, node_detail(t, k->op_type));
    }
}

/* A kernel belongs to the call of its node that began last before it. */
static void link_kernels(struct oc_timeline *t)
{
    struct oc_arena scratch = {0};
    struct oc_map last = {.arena = &scratch};
    for (size_t i = 0; i < t->n_event; i++) {
        struct oc_event *e = &t->event[i];
        const char *name = t->name[e->name];
        if (e->kind == OC_EV_OPERATOR)
            oc_map_set(&last, name, strlen(name), (uint32_t)i);
        if (e->kind != OC_EV_KERNEL || e->detail == OC_NONE)
            continue;
        const char *node = t->detail[e->detail].text;
        e->link = node && node[0] ? oc_map_get(&last, node, strlen(node)) : OC_NONE;
        if (e->link != OC_NONE)
            e->run = t->event[e->link].run;
    }
    oc_map_free(&last);
    oc_arena_free(&scratch);
}

void ort_keep_timeline(const struct ort_trace *from, const struct oc_profile_opts *opts)
{
    static const struct oc_timeline_rules rules = {.find_runs = false};
    struct oc_profile *p = from->out;
    struct oc_timeline *t = oc_timeline_new(p);
    size_t n_diag = p->diags.n;
    ort_timeline_fill(from, t);
    oc_timeline_finish(t, opts, &rules);
    link_kernels(t);
    p->diags.n = n_diag; /* already reported with the records */
    oc_timeline_keep(t, opts);
}
