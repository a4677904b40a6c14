#include "gate/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/units.h"

const struct oc_gate_info oc_gate_info[OC_GATE_METRICS] = {
    [OC_GATE_MACS] = {.name = "macs", .unit = "MACs", .parts = true, .baseline = true, .tolerance = "0"},
    [OC_GATE_FLOPS] = {.name = "flops", .unit = "FLOPs", .parts = true, .baseline = true, .tolerance = "0"},
    [OC_GATE_OPS] = {.name = "ops", .unit = "OPs", .parts = true, .baseline = true, .tolerance = "0"},
    [OC_GATE_PARAMS] = {.name = "params", .parts = true, .baseline = true, .tolerance = "0"},
    [OC_GATE_WEIGHT_BYTES] =
        {.name = "weight-bytes", .unit = "B", .kind = OC_GATE_SIZE, .baseline = true, .tolerance = "0"},
    [OC_GATE_BYTES] = {.name = "bytes",
                       .unit = "B",
                       .kind = OC_GATE_SIZE,
                       .parts = true,
                       .baseline = true,
                       .tolerance = "0"},
    [OC_GATE_PEAK] =
        {.name = "peak-memory", .unit = "B", .kind = OC_GATE_SIZE, .baseline = true, .tolerance = "0"},
    [OC_GATE_MEMORY] = {.name = "memory", .unit = "B", .kind = OC_GATE_SIZE, .tolerance = "0"},
    [OC_GATE_NODES] = {.name = "nodes", .parts = true, .tolerance = "0"},
    [OC_GATE_UNKNOWN] = {.name = "unknown", .parts = true, .baseline = true, .tolerance = "0"},
    [OC_GATE_PRESENT] = {.name = "forbid", .parts = true, .tolerance = "0"},
    [OC_GATE_OPSET] = {.name = "opset", .tolerance = "0"},
    [OC_GATE_LATENCY] = {.name = "latency",
                         .unit = "s",
                         .kind = OC_GATE_TIME,
                         .parts = true,
                         .baseline = true,
                         .tolerance = "10%"},
    [OC_GATE_EFFICIENCY] = {.name = "efficiency",
                            .kind = OC_GATE_SHARE,
                            .parts = true,
                            .least = true,
                            .baseline = true,
                            .tolerance = "10%"},
};

enum oc_gate_metric oc_gate_metric_of(const char *name, size_t n)
{
    for (unsigned i = 0; i < OC_GATE_METRICS; i++)
        if (strlen(oc_gate_info[i].name) == n && memcmp(oc_gate_info[i].name, name, n) == 0)
            return (enum oc_gate_metric)i;
    return OC_GATE_METRICS;
}

int oc_gate_metric_fail(struct oc_err *err, const char *name, size_t n, bool of_baselines)
{
    const char *names[OC_GATE_METRICS];
    size_t count = 0;
    for (unsigned i = 0; i < OC_GATE_METRICS; i++)
        if (of_baselines ? oc_gate_info[i].baseline : i != OC_GATE_PRESENT)
            names[count++] = oc_gate_info[i].name;
    return oc_fail_unknown(
        err, OC_EARG,
        &(struct oc_unknown){.what = "metric", .given = name, .given_n = n, .valid = names, .n = count});
}

/* ---- numbers ---------------------------------------------------------------------------------------- */

/* "30%" and "30 %": false without the sign. */
static bool per_cent(const char *text, double *out)
{
    size_t n = strlen(text);
    if (!n || text[n - 1] != '%')
        return false;
    for (n--; n && text[n - 1] == ' ';)
        n--;
    return oc_parse_double(text, n, out) && *out >= 0 && *out <= 1e6;
}

static bool parse_share(const char *text, double *out)
{
    if (per_cent(text, out)) {
        *out /= 100;
        return true;
    }
    return oc_parse_double(text, strlen(text), out) && *out >= 0 && *out <= 1e4;
}

/* A time needs its unit. */
static bool limits_parse_time(const char *text, double *ns)
{
    size_t n = strlen(text);
    if (!n || text[n - 1] != 's' || !oc_parse_scaled(text, "s", ns) || *ns < 0 || *ns > 1e9)
        return false;
    *ns = round(*ns * 1e12) / 1e3; /* removes the rounding error of the conversion */
    return true;
}

bool oc_gate_parse(enum oc_gate_metric m, const char *text, struct oc_gate_number *out)
{
    *out = (struct oc_gate_number){0};
    switch (oc_gate_info[m].kind) {
    case OC_GATE_TIME:
        return limits_parse_time(text, &out->v);
    case OC_GATE_SHARE:
        return parse_share(text, &out->v);
    default:
        return oc_parse_count(text, oc_gate_info[m].unit, &out->n);
    }
}

const char *oc_gate_example(enum oc_gate_metric m)
{
    static const char *const example[] = {
        [OC_GATE_COUNT] = "4.1G", [OC_GATE_SIZE] = "80MiB", [OC_GATE_TIME] = "12ms", [OC_GATE_SHARE] = "30%"};
    return example[oc_gate_info[m].kind];
}

/* Rounded to 1/parts, in any locale; whole numbers without a point. */
static const char *rounded(struct oc_arena *a, double v, double parts, const char *unit)
{
    char text[40];
    size_t n = oc_format_repr(round(v * parts) / parts, text, sizeof(text));
    if (n > 2 && strcmp(text + n - 2, ".0") == 0)
        text[n - 2] = '\0';
    return oc_printf(a, "%s %s", text, unit);
}

static const char *limits_time_text(struct oc_arena *a, double ns)
{
    return ns < 1e3   ? rounded(a, ns, 1e3, "ns")
           : ns < 1e6 ? rounded(a, ns * 1e-3, 1e3, "us")
           : ns < 1e9 ? rounded(a, ns * 1e-6, 1e4, "ms")
                      : rounded(a, ns * 1e-9, 1e6, "s");
}

const char *oc_gate_text(struct oc_arena *a, enum oc_gate_metric m, struct oc_gate_number n)
{
    char count[40], human[40];
    switch (oc_gate_info[m].kind) {
    case OC_GATE_TIME:
        return limits_time_text(a, n.v);
    case OC_GATE_SHARE:
        return rounded(a, 100 * n.v, 1e2, "%");
    case OC_GATE_SIZE:
        oc_format_count(n.n, count, sizeof(count));
        if (n.n < 1024)
            return oc_printf(a, "%s B", count);
        return oc_printf(a, "%s B (%s)", count, oc_format_bytes((double)n.n, human, sizeof(human)));
    default:
        return oc_strdup(a, oc_format_count(n.n, count, sizeof(count)));
    }
}

/* ---- tolerances ------------------------------------------------------------------------------------- */

bool oc_tolerance_parse(enum oc_gate_metric m, const char *text, struct oc_tolerance *out)
{
    double percent;
    *out = (struct oc_tolerance){.text = text};
    if (per_cent(text, &percent)) {
        out->share = true;
        out->ppb = (uint64_t)llround(percent * 1e7);
        return true;
    }
    if (strcmp(text, "0") == 0)
        return true;
    return oc_gate_parse(m, text, &out->amount);
}

struct oc_gate_number oc_tolerance_limit(enum oc_gate_metric m, struct oc_gate_number base,
                                         const struct oc_tolerance *t)
{
    double share = (double)t->ppb * 1e-9, v = t->share ? base.v * share : t->amount.v;
    unsigned __int128 more =
        t->share ? (unsigned __int128)base.n * t->ppb / 1000000000u : (unsigned __int128)t->amount.n;
    unsigned __int128 sum = more + base.n;
    if (oc_gate_info[m].least)
        return (struct oc_gate_number){.n = more < base.n ? base.n - (uint64_t)more : 0,
                                       .v = v < base.v ? base.v - v : 0};
    return (struct oc_gate_number){.n = sum > UINT64_MAX ? UINT64_MAX : (uint64_t)sum, .v = base.v + v};
}

/* ---- scope of a limit ------------------------------------------------------------------------------- */

static bool glob(const char *pattern, const char *pattern_end, const char *text)
{
    const char *star = NULL, *again = NULL;
    while (*text) {
        if (pattern < pattern_end && *pattern == '*') {
            star = pattern++;
            again = text;
        } else if (pattern < pattern_end && *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++again;
        } else {
            return false;
        }
    }
    while (pattern < pattern_end && *pattern == '*')
        pattern++;
    return pattern == pattern_end;
}

bool oc_type_matches(const char *pattern, const char *domain, const char *op_type)
{
    const char *end = pattern + strlen(pattern), *colon = strrchr(pattern, ':');
    if (!colon)
        return glob(pattern, end, op_type);
    return glob(pattern, colon, *domain ? domain : "ai.onnx") && glob(colon + 1, end, op_type);
}

bool oc_module_has(const char *module, const char *name)
{
    size_t n;
    module += *module == '/';
    name += *name == '/';
    n = strlen(module);
    while (n && (module[n - 1] == '/' || module[n - 1] == '.'))
        n--;
    return strncmp(module, name, n) == 0 && (!n || !name[n] || name[n] == '/' || name[n] == '.');
}

const char *oc_limit_title(struct oc_arena *a, const struct oc_limit *l)
{
    if (l->metric == OC_GATE_PRESENT && !l->module)
        return oc_printf(a, "type %s", l->type);
    return oc_printf(a, "%s%s%s%s%s", oc_gate_info[l->metric].name, l->type ? " of type " : "",
                     l->type ? l->type : "", l->module ? " in " : "", l->module ? l->module : "");
}

void oc_budget_add(struct oc_budget *b, const struct oc_limit *limit)
{
    OC_GROW(b->limit, b->n, b->cap);
    b->limit[b->n++] = *limit;
}
