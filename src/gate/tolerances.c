/* The values of --tolerance: "2%", "macs=1%,latency=10%". */
#include "gate/tolerances.h"

#include <string.h>

#include "base/diag.h"

static int bad_value(struct oc_err *err, const char *value, enum oc_gate_metric m)
{
    return oc_fail(err, OC_EARG,
                   "'%.40s' is not a tolerance of %s: give a share such as 5%% or an amount such as %s",
                   value, oc_gate_info[m].name, oc_gate_example(m));
}

static int add_named(struct oc_tolerances *t, const char *name, size_t n, const char *value,
                     struct oc_err *err)
{
    struct oc_tolerance parsed;
    enum oc_gate_metric m = oc_gate_metric_of(name, n);
    if (m == OC_GATE_METRICS || !oc_gate_info[m].baseline)
        return oc_gate_metric_fail(err, name, n, true);
    if (!oc_tolerance_parse(m, value, &parsed))
        return bad_value(err, value, m);
    t->of[m] = value;
    return 0;
}

/* A share, for every metric. */
static int add_all(struct oc_tolerances *t, const char *value, struct oc_err *err)
{
    struct oc_tolerance parsed;
    size_t letters = strspn(value, "abcdefghijklmnopqrstuvwxyz-");
    if (letters && !value[letters])
        return oc_gate_metric_of(value, letters) == OC_GATE_METRICS
                   ? oc_gate_metric_fail(err, value, letters, true)
                   : oc_fail(err, OC_EARG, "'%.40s' has no tolerance: write %.40s=5%%", value, value);
    if (!oc_tolerance_parse(OC_GATE_MACS, value, &parsed) || (!parsed.share && strcmp(value, "0") != 0))
        return oc_fail(
            err, OC_EARG,
            "'%.40s' is not a tolerance for all metrics: give a share such as 2%%, or METRIC=VALUE "
            "such as macs=1000,latency=5%%",
            value);
    t->all = value;
    return 0;
}

int oc_tolerances_parse(struct oc_arena *arena, const char *const *text, size_t n, struct oc_tolerances *out,
                        struct oc_err *err)
{
    *out = (struct oc_tolerances){0};
    for (size_t i = 0; i < n; i++) {
        char *rest = oc_strdup(arena, text[i]);
        for (char *one; (one = strsep(&rest, ",")) != NULL;) {
            const char *eq = strchr(one, '=');
            if (eq ? add_named(out, one, (size_t)(eq - one), eq + 1, err) : add_all(out, one, err))
                return -1;
        }
    }
    return 0;
}

const char *oc_tolerance_of(const struct oc_tolerances *t, enum oc_gate_metric m, const char *in_file)
{
    return t->of[m] ? t->of[m] : t->all ? t->all : in_file ? in_file : oc_gate_info[m].tolerance;
}
