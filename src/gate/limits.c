/* Limits: metrics, numbers, tolerances, scopes; budgets and their files, baselines. */
#include "gate/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/units.h"
#include "base/xml_read.h"
#include "onnxcost/gate.h"

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

/* Fails with the valid names of baselines or of limits. Returns -1. */
static int fail_metric_name(struct oc_err *err, const char *name, size_t n, bool of_baselines)
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

/* "4.1G" */
static const char *example_value(enum oc_gate_metric m)
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

/* Adds a limit; texts must be allocated in the budget's arena. */
static void append_limit(struct oc_budget *b, const struct oc_limit *limit)
{
    OC_GROW(b->limit, b->n, b->cap);
    b->limit[b->n++] = *limit;
}

/* ---- values of --tolerance ----------------------------------------------------------------------- */

/* "2%", "macs=1%,latency=10%". */

struct oc_tolerances {
    const char *all;                 /* share for every metric, NULL */
    const char *of[OC_GATE_METRICS]; /* for one metric, NULL */
};

static int bad_value(struct oc_err *err, const char *value, enum oc_gate_metric m)
{
    return oc_fail(err, OC_EARG,
                   "'%.40s' is not a tolerance of %s: give a share such as 5%% or an amount such as %s",
                   value, oc_gate_info[m].name, example_value(m));
}

static int add_named(struct oc_tolerances *t, const char *name, size_t n, const char *value,
                     struct oc_err *err)
{
    struct oc_tolerance parsed;
    enum oc_gate_metric m = oc_gate_metric_of(name, n);
    if (m == OC_GATE_METRICS || !oc_gate_info[m].baseline)
        return fail_metric_name(err, name, n, true);
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
                   ? fail_metric_name(err, value, letters, true)
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

/* Each text is a comma-separated list of "SHARE" (all metrics) and "METRIC=SHARE|AMOUNT". The last entry
 * of a metric wins. Texts are allocated in the arena. */
static int parse_tolerances(struct oc_arena *arena, const char *const *text, size_t n,
                            struct oc_tolerances *out, struct oc_err *err)
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

/* The tolerance in force: that of the metric, that of all metrics, that of the file (NULL: none), the
 * default. */
static const char *tolerance_of(const struct oc_tolerances *t, enum oc_gate_metric m, const char *in_file)
{
    return t->of[m] ? t->of[m] : t->all ? t->all : in_file ? in_file : oc_gate_info[m].tolerance;
}

/* ---- budget ----------------------------------------------------------------------------------------- */

/* Limits of the command line, and the handle of all limits. */

int oc_budget_make(struct oc_budget **out, struct oc_err *err)
{
    OC_ENTRY(err);
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
    OC_ENTRY(err);
    enum oc_gate_metric m = oc_gate_metric_of(metric, strlen(metric));
    struct oc_limit l = {.metric = (uint8_t)m};
    if (m == OC_GATE_METRICS)
        return fail_metric_name(err, metric, strlen(metric), false);
    if ((type || module) && !oc_gate_info[m].parts)
        return oc_fail(err, OC_EARG, "%s is a figure of the whole model, not of a type or module", metric);
    if (m == OC_GATE_PRESENT && (!type || !*type))
        return oc_fail(err, OC_EARG, "forbid needs an operator type");
    if (!oc_gate_parse(m, limit, &l.at))
        return oc_fail(err, OC_EARG, "'%s' is not a limit for %s (such as %s)", limit, metric,
                       example_value(m));
    l.text = oc_strdup(&b->arena, limit);
    l.type = type ? oc_strdup(&b->arena, type) : NULL;
    l.module = module ? oc_strdup(&b->arena, module) : NULL;
    append_limit(b, &l);
    return 0;
}

/* ---- files ------------------------------------------------------------------------------------ */

/* Reader of budget files and baselines. The layouts are in hwdb/budget/budget.rng; everything else is an
 * error. */

#define MAX_BYTES  (1u << 20)
#define MAX_LIMITS 10000

enum { E_BUDGET, E_LIMIT, E_FORBID, E_BUDGET_KINDS };
enum { E_BASELINE, E_VALUE, E_BASELINE_LIMIT, E_BASELINE_FORBID, E_BASELINE_KINDS };

struct reader {
    const struct oc_xml *xml;
    struct oc_budget *b;
    const char *path;
    struct oc_tolerances tolerance; /* of the command line */
    bool seen[OC_GATE_METRICS];
};

static int add_limit(struct reader *r, const struct oc_xml_elem *e, struct oc_limit *l)
{
    l->file = r->path;
    l->line = e->line;
    if (r->b->n >= MAX_LIMITS)
        return oc_xml_fail(r->xml, "more than %d limits", MAX_LIMITS);
    append_limit(r->b, l);
    return 0;
}

static int find_metric(const struct reader *r, const struct oc_xml_elem *e, enum oc_gate_metric *out)
{
    const char *name = oc_xml_get(e, "metric");
    *out = oc_gate_metric_of(name, strlen(name));
    if (*out != OC_GATE_METRICS && *out != OC_GATE_PRESENT)
        return 0;
    struct oc_err unknown;
    fail_metric_name(&unknown, name, strlen(name), false);
    return oc_xml_fail(r->xml, "%s", unknown.msg);
}

/* ---- files of budgets ---------------------------------------------------------------------------- */

static int get_part(const struct reader *r, const struct oc_xml_elem *e, struct oc_limit *l)
{
    l->type = oc_xml_get(e, "type");
    l->module = oc_xml_get(e, "module");
    if ((l->type || l->module) && !oc_gate_info[l->metric].parts)
        return oc_xml_fail(r->xml, "%s is a figure of the whole model, not of a type or module",
                           oc_gate_info[l->metric].name);
    return 0;
}

static int start_limit(void *user, const struct oc_xml_elem *e)
{
    struct reader *r = user;
    const char *max = oc_xml_get(e, "max"), *min = oc_xml_get(e, "min");
    enum oc_gate_metric m;
    if (find_metric(r, e, &m))
        return -1;
    struct oc_limit l = {.metric = (uint8_t)m};
    bool least = oc_gate_info[m].least;
    l.text = least ? min : max;
    if (!l.text || (least ? max : min))
        return oc_xml_fail(r->xml, "the limit of %s is given by %s=\"%s\"", oc_gate_info[m].name,
                           least ? "min" : "max", example_value(m));
    if (!oc_gate_parse(m, l.text, &l.at))
        return oc_xml_fail(r->xml, "'%.40s' is not a limit for %s (such as %s)", l.text, oc_gate_info[m].name,
                           example_value(m));
    return get_part(r, e, &l) ? -1 : add_limit(r, e, &l);
}

static int start_forbid(void *user, const struct oc_xml_elem *e)
{
    struct reader *r = user;
    struct oc_limit l = {.metric = OC_GATE_PRESENT, .text = "0"};
    return get_part(r, e, &l) ? -1 : add_limit(r, e, &l);
}

static const struct oc_xml_spec budget_specs[E_BUDGET_KINDS] = {
    [E_BUDGET] = {.name = "budget", .parent = OC_XML_ROOT, .required = "version", .optional = ""},
    [E_LIMIT] = {.name = "limit",
                 .parent = E_BUDGET,
                 .label = "metric",
                 .required = "metric",
                 .optional = "max min type module",
                 .start = start_limit},
    [E_FORBID] = {.name = "forbid",
                  .parent = E_BUDGET,
                  .label = "type",
                  .required = "type",
                  .optional = "module",
                  .start = start_forbid},
};
static const struct oc_xml_format budget_format = {
    .spec = budget_specs, .n_spec = E_BUDGET_KINDS, .version = "1", .max_bytes = MAX_BYTES};

/* ---- files of baselines -------------------------------------------------------------------------- */

/* How a baseline's latency was recorded. Baselines of older versions do not say. */
static int take_recorded(struct reader *r, const struct oc_xml_elem *e, struct oc_limit *l)
{
    const char *spread = oc_xml_get(e, "spread"), *runs = oc_xml_get(e, "runs");
    uint64_t n = 0;
    struct oc_recorded *rec = &l->recorded;
    *rec = (struct oc_recorded){.latency_ns = l->base.v, .spread = OC_ASSUMED_SPREAD};
    if (spread && (!oc_parse_double(spread, strlen(spread), &rec->spread) || !(rec->spread >= 0)))
        return oc_xml_fail(r->xml, "'%.40s' is not a spread (such as 0.02)", spread);
    if (runs && (!oc_parse_u64(runs, strlen(runs), &n) || n > UINT32_MAX))
        return oc_xml_fail(r->xml, "'%.40s' is not a number of runs", runs);
    rec->runs = (uint32_t)n;
    return 0;
}

static int start_value(void *user, const struct oc_xml_elem *e)
{
    struct reader *r = user;
    const char *is = oc_xml_get(e, "is");
    enum oc_gate_metric m;
    if (find_metric(r, e, &m))
        return -1;
    if (!oc_gate_info[m].baseline)
        return oc_xml_fail(r->xml, "a baseline has no value for %s; write a limit", oc_gate_info[m].name);
    if (r->seen[m])
        return oc_xml_fail(r->xml, "a second value for %s", oc_gate_info[m].name);
    r->seen[m] = true;
    struct oc_limit l = {.metric = (uint8_t)m, .text = is};
    struct oc_tolerance *t = OC_NEW(&r->b->arena, struct oc_tolerance);
    const char *tolerance = tolerance_of(&r->tolerance, m, oc_xml_get(e, "tolerance"));
    if (!oc_gate_parse(m, is, &l.base))
        return oc_xml_fail(r->xml, "'%.40s' is not a figure of %s (such as %s)", is, oc_gate_info[m].name,
                           example_value(m));
    if (!oc_tolerance_parse(m, tolerance, t))
        return oc_xml_fail(r->xml, "'%.40s' is not a tolerance (such as 5%%, or %s)", tolerance,
                           example_value(m));
    t->text = oc_strdup(&r->b->arena, tolerance);
    l.tolerance = t;
    l.at = oc_tolerance_limit(m, l.base, t);
    if (m == OC_GATE_LATENCY && take_recorded(r, e, &l))
        return -1;
    return add_limit(r, e, &l);
}

static const struct oc_xml_spec baseline_specs[E_BASELINE_KINDS] = {
    [E_BASELINE] = {.name = "baseline",
                    .parent = OC_XML_ROOT,
                    .required = "version",
                    .optional = "model tool"},
    [E_VALUE] = {.name = "value",
                 .parent = E_BASELINE,
                 .label = "metric",
                 .required = "metric is",
                 .optional = "tolerance from spread runs",
                 .start = start_value},
    [E_BASELINE_LIMIT] = {.name = "limit",
                          .parent = E_BASELINE,
                          .label = "metric",
                          .required = "metric",
                          .optional = "max min type module",
                          .start = start_limit},
    [E_BASELINE_FORBID] = {.name = "forbid",
                           .parent = E_BASELINE,
                           .label = "type",
                           .required = "type",
                           .optional = "module",
                           .start = start_forbid},
};
static const struct oc_xml_format baseline_format = {
    .spec = baseline_specs, .n_spec = E_BASELINE_KINDS, .version = "1", .max_bytes = MAX_BYTES};

/* ---- public ----------------------------------------------------------------------------------------- */

static int read_budget(struct oc_budget *b, const struct oc_xml_format *format, const char *name,
                       const void *data, size_t n, const struct oc_tolerances *tolerance, struct oc_err *err)
{
    struct reader r = {.b = b, .path = oc_strdup(&b->arena, name), .tolerance = *tolerance};
    size_t before = b->n;
    int rc = oc_xml_read(format, name, data, n, &b->arena, &r, &r.xml, err);
    if (rc)
        b->n = before;
    return rc;
}

int oc_budget_read_mem(struct oc_budget *b, const char *name, const void *data, size_t n, struct oc_err *err)
{
    static const struct oc_tolerances none = {0};
    return read_budget(b, &budget_format, name, data, n, &none, err);
}

int oc_baseline_read_mem(struct oc_budget *b, const char *name, const void *data, size_t n,
                         const char *const *tolerance, size_t n_tolerance, struct oc_err *err)
{
    struct oc_tolerances given;
    if (parse_tolerances(&b->arena, tolerance, n_tolerance, &given, err))
        return -1;
    return read_budget(b, &baseline_format, name, data, n, &given, err);
}

static int budget_of_file(struct oc_budget *b, const char *path, bool baseline, const char *const *tolerance,
                          size_t n_tolerance, struct oc_err *err)
{
    struct oc_file file;
    if (oc_file_map(path, MAX_BYTES, &file, err))
        return -1;
    const void *data = file.data;
    size_t n = (size_t)file.size_bytes;
    int rc = baseline ? oc_baseline_read_mem(b, path, data, n, tolerance, n_tolerance, err)
                      : oc_budget_read_mem(b, path, data, n, err);
    oc_file_unmap(&file);
    return rc;
}

int oc_budget_read(struct oc_budget *b, const char *path, struct oc_err *err)
{
    return budget_of_file(b, path, false, NULL, 0, err);
}

int oc_baseline_read(struct oc_budget *b, const char *path, const char *const *tolerance, size_t n_tolerance,
                     struct oc_err *err)
{
    OC_ENTRY(err);
    return budget_of_file(b, path, true, tolerance, n_tolerance, err);
}
