/* Limits of the command line, and the handle of all limits. */
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "gate/limits.h"

int oc_budget_make(struct oc_budget **out, struct oc_err *err)
{
    OC_C_LOCALE;
    (void)err;
    *out = oc_xmalloc(sizeof(**out));
    **out = (struct oc_budget){0};
    return 0;
}

void oc_budget_free(struct oc_budget *b)
{
    if (!b)
        return;
    free(b->limit);
    oc_arena_free(&b->arena);
    free(b);
}

size_t oc_budget_limits(const struct oc_budget *b)
{
    return b->n;
}

bool oc_budget_has(const struct oc_budget *b, const char *metric)
{
    enum oc_gate_metric m = oc_gate_metric_of(metric, strlen(metric));
    for (size_t i = 0; i < b->n; i++)
        if (b->limit[i].metric == m)
            return true;
    return false;
}

int oc_budget_limit(struct oc_budget *b, const char *metric, const char *limit, const char *type,
                    const char *module, struct oc_err *err)
{
    OC_C_LOCALE;
    enum oc_gate_metric m = oc_gate_metric_of(metric, strlen(metric));
    struct oc_limit l = {.metric = (uint8_t)m};
    if (m == OC_GATE_METRICS)
        return oc_gate_metric_fail(err, metric, strlen(metric), false);
    if ((type || module) && !oc_gate_info[m].parts)
        return oc_fail(err, OC_EARG, "%s is a figure of the whole model, not of a type or module", metric);
    if (m == OC_GATE_PRESENT && (!type || !*type))
        return oc_fail(err, OC_EARG, "forbid needs an operator type");
    if (!oc_gate_parse(m, limit, &l.at))
        return oc_fail(err, OC_EARG, "'%s' is not a limit for %s (such as %s)", limit, metric,
                       oc_gate_example(m));
    l.text = oc_strdup(&b->arena, limit);
    l.type = type ? oc_strdup(&b->arena, type) : NULL;
    l.module = module ? oc_strdup(&b->arena, module) : NULL;
    oc_budget_add(b, &l);
    return 0;
}
