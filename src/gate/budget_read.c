/* Reader of budget files and baselines. The layouts are in hwdb/budget/budget.rng; everything else is an
 * error. */
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/xml_read.h"
#include "gate/tolerances.h"

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

static int start_root(void *user, const struct oc_xml_elem *e)
{
    const struct reader *r = user;
    const char *version = oc_xml_get(e, "version");
    return strcmp(version, "1") == 0
               ? 0
               : oc_xml_fail(r->xml, "version '%.20s' is unknown (this program reads version 1)", version);
}

static int add(struct reader *r, const struct oc_xml_elem *e, struct oc_limit *l)
{
    l->file = r->path;
    l->line = e->line;
    if (r->b->n >= MAX_LIMITS)
        return oc_xml_fail(r->xml, "more than %d limits", MAX_LIMITS);
    oc_budget_add(r->b, l);
    return 0;
}

static int find_metric(const struct reader *r, const struct oc_xml_elem *e, enum oc_gate_metric *out)
{
    const char *name = oc_xml_get(e, "metric");
    *out = oc_gate_metric_of(name, strlen(name));
    if (*out != OC_GATE_METRICS && *out != OC_GATE_PRESENT)
        return 0;
    struct oc_err unknown;
    oc_gate_metric_fail(&unknown, name, strlen(name), false);
    return oc_xml_fail(r->xml, "%s", unknown.msg);
}

/* ---- budgets ------------------------------------------------------------------------------------------- */

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
                           least ? "min" : "max", oc_gate_example(m));
    if (!oc_gate_parse(m, l.text, &l.at))
        return oc_xml_fail(r->xml, "'%.40s' is not a limit for %s (such as %s)", l.text, oc_gate_info[m].name,
                           oc_gate_example(m));
    return get_part(r, e, &l) ? -1 : add(r, e, &l);
}

static int start_forbid(void *user, const struct oc_xml_elem *e)
{
    struct reader *r = user;
    struct oc_limit l = {.metric = OC_GATE_PRESENT, .text = "0"};
    return get_part(r, e, &l) ? -1 : add(r, e, &l);
}

static const struct oc_xml_spec budget_specs[E_BUDGET_KINDS] = {
    [E_BUDGET] =
        {.name = "budget", .parent = OC_XML_ROOT, .required = "version", .optional = "", .start = start_root},
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
    .spec = budget_specs, .n_spec = E_BUDGET_KINDS, .max_bytes = MAX_BYTES};

/* ---- baselines ----------------------------------------------------------------------------------------- */

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
    const char *tolerance = oc_tolerance_of(&r->tolerance, m, oc_xml_get(e, "tolerance"));
    if (!oc_gate_parse(m, is, &l.base))
        return oc_xml_fail(r->xml, "'%.40s' is not a figure of %s (such as %s)", is, oc_gate_info[m].name,
                           oc_gate_example(m));
    if (!oc_tolerance_parse(m, tolerance, t))
        return oc_xml_fail(r->xml, "'%.40s' is not a tolerance (such as 5%%, or %s)", tolerance,
                           oc_gate_example(m));
    t->text = oc_strdup(&r->b->arena, tolerance);
    l.tolerance = t;
    l.at = oc_tolerance_limit(m, l.base, t);
    return add(r, e, &l);
}

static const struct oc_xml_spec baseline_specs[E_BASELINE_KINDS] = {
    [E_BASELINE] = {.name = "baseline",
                    .parent = OC_XML_ROOT,
                    .required = "version",
                    .optional = "model tool",
                    .start = start_root},
    [E_VALUE] = {.name = "value",
                 .parent = E_BASELINE,
                 .label = "metric",
                 .required = "metric is",
                 .optional = "tolerance from",
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
    .spec = baseline_specs, .n_spec = E_BASELINE_KINDS, .max_bytes = MAX_BYTES};

/* ---- public -------------------------------------------------------------------------------------------- */

static int read_mem(struct oc_budget *b, const struct oc_xml_format *format, const char *name,
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
    return read_mem(b, &budget_format, name, data, n, &none, err);
}

int oc_baseline_read_mem(struct oc_budget *b, const char *name, const void *data, size_t n,
                         const char *const *tolerance, size_t n_tolerance, struct oc_err *err)
{
    struct oc_tolerances given;
    if (oc_tolerances_parse(&b->arena, tolerance, n_tolerance, &given, err))
        return -1;
    return read_mem(b, &baseline_format, name, data, n, &given, err);
}

static int from_file(struct oc_budget *b, const char *path, bool baseline, const char *const *tolerance,
                     size_t n_tolerance, struct oc_err *err)
{
    struct oc_file file;
    if (oc_file_map(path, MAX_BYTES, &file, err))
        return -1;
    const void *data = file.data ? (const void *)file.data : "";
    size_t n = (size_t)file.size_bytes;
    int rc = baseline ? oc_baseline_read_mem(b, path, data, n, tolerance, n_tolerance, err)
                      : oc_budget_read_mem(b, path, data, n, err);
    oc_file_unmap(&file);
    return rc;
}

int oc_budget_read(struct oc_budget *b, const char *path, struct oc_err *err)
{
    return from_file(b, path, false, NULL, 0, err);
}

int oc_baseline_read(struct oc_budget *b, const char *path, const char *const *tolerance, size_t n_tolerance,
                     struct oc_err *err)
{
    OC_C_LOCALE;
    return from_file(b, path, true, tolerance, n_tolerance, err);
}
