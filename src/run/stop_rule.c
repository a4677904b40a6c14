/* When a measurement has enough runs: by time and by spread, within a time budget. Depends on nothing but the times it is given. */
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "model/model.h"
#include "profile/core/run_spread.h"
#include "run/record_files.h"

/* Whether more runs would hardly move the median. Small errors cost the first run that has them a sort. */
static bool is_steady(struct oc_stop_state *s)
{
    struct oc_run_spread spread;
    if (s->n < s->next_check)
        return false;
    s->next_check = s->n + s->n / 4 + 1;
    double *copy = oc_xmalloc(s->n * sizeof(*copy));
    memcpy(copy, s->ns, s->n * sizeof(*copy));
    oc_run_spread_of(copy, s->n, &spread);
    free(copy);
    return oc_run_spread_error(&spread) * 100 <= OC_ERROR_PERCENT;
}

bool oc_stop_after(const struct oc_stop_rule *rule, struct oc_stop_state *s, double run_ns, double elapsed_ns)
{
    size_t least = rule->runs ? rule->runs : OC_LEAST_RUNS;
    OC_GROW(s->ns, s->n, s->cap);
    s->ns[s->n++] = run_ns;
    s->sum_ns += run_ns;
    if (rule->runs ? s->n >= rule->runs : rule->most && s->n >= rule->most)
        return true;
    /* the next run is expected to take as long as the mean one */
    if (rule->budget_ns > 0 && elapsed_ns + s->sum_ns / (double)s->n > rule->budget_ns) {
        s->over_budget = s->n < least;
        return true;
    }
    if (rule->enough_s > 0 && !rule->runs)
        return s->n >= least && s->sum_ns >= rule->enough_s * 1e9;
    return !rule->runs && s->n >= least && s->sum_ns >= OC_LEAST_TIME_S * 1e9 &&
           (s->sum_ns >= OC_MOST_TIME_S * 1e9 || is_steady(s));
}

enum {
    ENOUGH_EVENTS = 20000, /* of a profile of runs by the rule: about 10 MB */
    LEAST_EVENT_NS = 250,  /* time of an operator in the body of a loop; 320 in a Scan of 2,260 steps */
};

static bool has_loop(const struct oc_model *m)
{
    for (uint32_t i = 0; i < m->n_node; i++)
        if (!strcmp(m->node[i].op_type, "Loop") || !strcmp(m->node[i].op_type, "Scan"))
            return true;
    return false;
}

uint32_t oc_enough_runs(const struct oc_model *m, double run_ns, bool turns)
{
    double events = m->graph[0].n_node ? m->graph[0].n_node : 1, enough;
    if (has_loop(m) && run_ns / LEAST_EVENT_NS > events)
        events = run_ns / LEAST_EVENT_NS;
    enough = (turns ? 3 : 1) * ENOUGH_EVENTS / events;
    return enough > OC_LEAST_RUNS ? (uint32_t)enough : OC_LEAST_RUNS;
}
