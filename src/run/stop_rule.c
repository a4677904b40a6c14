#include "run/stop_rule.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "profile/core/run_spread.h"

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
    return !rule->runs && s->n >= least && s->sum_ns >= OC_LEAST_TIME_S * 1e9 &&
           (s->sum_ns >= OC_MOST_TIME_S * 1e9 || is_steady(s));
}
