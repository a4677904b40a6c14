/* The check of a report: verdicts on limits. */
#include "gate/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "base/units.h"
#include "join/join.h"
#include "onnxcost.h"
#include "onnxcost/bounds.h"
#include "onnxcost/estimate.h"
#include "onnxcost/report.h"
#include "report/columns.h"

static int check_compare(enum oc_gate_metric m, struct oc_gate_number a, struct oc_gate_number b)
{
    if (oc_gate_is_whole(m))
        return (a.n > b.n) - (a.n < b.n);
    return (a.v > b.v) - (a.v < b.v);
}

static struct oc_gate_number check_distance(struct oc_gate_number a, struct oc_gate_number b)
{
    return (struct oc_gate_number){.n = a.n > b.n ? a.n - b.n : b.n - a.n,
                                   .v = a.v > b.v ? a.v - b.v : b.v - a.v};
}

/* A bound on one side of the limit decides; an interval that holds the limit is inconclusive. */
static bool compares_recordings(const struct oc_limit_verdict *v)
{
    return v->limit->recorded.latency_ns > 0 && v->span.recorded.latency_ns > 0;
}

/* A latency against that of a baseline, which was recorded at another time: only what the two recordings show. */
static void judge_recordings(struct oc_limit_verdict *v)
{
    static const uint8_t result[] = {OC_CHECK_FAILED, OC_CHECK_PASSED};
    const struct oc_limit *l = v->limit;
    oc_compare_recorded(&l->recorded, 1, &v->span.recorded, 1, OC_RECORDED_APART, &v->comparison);
    int within = oc_compared_within(&v->comparison, l->at.v / l->base.v - 1);
    v->result = within < 0 ? OC_CHECK_INCONCLUSIVE : result[within];
    if (within == 0)
        v->excess = check_distance(v->span.lo, l->at);
}

static void check_judge(struct oc_limit_verdict *v)
{
    if (compares_recordings(v)) {
        judge_recordings(v);
        return;
    }

    enum oc_gate_metric m = (enum oc_gate_metric)v->limit->metric;
    const struct oc_figure_span *s = &v->span;
    struct oc_gate_number at = v->limit->at;
    bool least = oc_gate_info[m].least;
    bool pass = least ? check_compare(m, s->lo, at) >= 0 : s->bounded && check_compare(m, s->hi, at) <= 0;
    bool fail = least ? s->bounded && check_compare(m, s->hi, at) < 0 : check_compare(m, s->lo, at) > 0;
    v->result = pass ? OC_CHECK_PASSED : fail ? OC_CHECK_FAILED : OC_CHECK_INCONCLUSIVE;
    if (fail)
        v->excess = check_distance(least ? s->hi : s->lo, at);
}

/* ---- words ------------------------------------------------------------------------------------------ */

static bool check_nothing_known(enum oc_gate_metric m, const struct oc_figure_span *s)
{
    return !s->bounded && (oc_gate_is_whole(m) ? s->lo.n == 0 : !(s->lo.v > 0));
}

static const char *value_text(struct oc_arena *a, enum oc_gate_metric m, const struct oc_figure_span *s)
{
    if (check_nothing_known(m, s))
        return "unknown";
    const char *lo = oc_gate_text(a, m, s->lo);
    if (s->exact)
        return lo;
    return s->bounded ? oc_printf(a, "%s to %s", lo, oc_gate_text(a, m, s->hi))
                      : oc_printf(a, "at least %s", lo);
}

/* The baseline and tolerance of a limit; "" for limits without a baseline. */
static const char *basis_text(struct oc_arena *a, const struct oc_limit *l)
{
    if (!l->tolerance)
        return "";
    if (strcmp(l->tolerance->text, "0") == 0)
        return " (baseline)";
    return oc_printf(a, " (baseline %s, tolerance %s)",
                     oc_gate_text(a, (enum oc_gate_metric)l->metric, l->base), l->tolerance->text);
}

static const char *limit_number(struct oc_arena *a, const struct oc_limit *l)
{
    return l->tolerance ? oc_gate_text(a, (enum oc_gate_metric)l->metric, l->at) : l->text;
}

static const char *bound_text(struct oc_arena *a, const struct oc_limit *l)
{
    return oc_printf(a, "%s %s%s", oc_gate_info[l->metric].least ? "at least" : "at most", limit_number(a, l),
                     basis_text(a, l));
}

/* "the limit of 4.1G", "the limit of 56.3 ms (baseline 51.2 ms, tolerance 10%)" */
static const char *check_limit_text(struct oc_arena *a, const struct oc_limit *l)
{
    return oc_printf(a, "the limit of %s%s", limit_number(a, l), basis_text(a, l));
}

/* The first few of them, with how many there are. */
static const char *names_of(struct oc_check *c, const struct oc_limit_verdict *v)
{
    enum { SHOWN = 5 };
    const struct oc_model *m = c->in->model;
    const char *text = "";
    char label[512];
    for (uint32_t i = 0; i < v->span.n_node && i < SHOWN; i++)
        text = oc_printf(&c->arena, "%s%s%s", text, i ? ", " : "",
                         oc_node_label(m, &m->node[v->span.node[i]], label, sizeof(label)));
    return v->span.all_node > SHOWN ? oc_printf(&c->arena, "%s and %u more", text, v->span.all_node - SHOWN)
                                    : text;
}

static bool lists_nodes(const struct oc_limit_verdict *v)
{
    return v->limit->metric == OC_GATE_UNKNOWN || v->limit->metric == OC_GATE_PRESENT;
}

/* How the node named with a figure relates to it. */
static const char *pointer_of(enum oc_gate_metric m)
{
    switch (m) {
    case OC_GATE_LATENCY:
        return "the longest:";
    case OC_GATE_EFFICIENCY:
        return "largest gap to the roofline:";
    case OC_GATE_PEAK:
    case OC_GATE_MEMORY:
        return "at";
    default:
        return "the largest:";
    }
}

static const char *failed_text(struct oc_check *c, const struct oc_limit_verdict *v)
{
    struct oc_arena *a = &c->arena;
    enum oc_gate_metric m = (enum oc_gate_metric)v->limit->metric;
    if (m == OC_GATE_PRESENT && !v->limit->at.n)
        return oc_printf(a, "%s is forbidden: %s", v->title, names_of(c, v));
    const char *text =
        oc_printf(a, "%s: %s %s %s by %s", v->title, v->value, oc_gate_info[m].least ? "is below" : "exceeds",
                  check_limit_text(a, v->limit), oc_gate_text(a, m, v->excess));
    if (v->span.at)
        return oc_printf(a, "%s at %s", text, v->span.at);
    if (lists_nodes(v) && v->span.n_node)
        return oc_printf(a, "%s: %s", text, names_of(c, v));
    return v->span.name ? oc_printf(a, "%s (%s %s)", text, pointer_of(m), v->span.name) : text;
}

static const char *reason_of(struct oc_check *c, const struct oc_limit_verdict *v)
{
    struct oc_arena *a = &c->arena;
    if (v->result == OC_CHECK_FAILED)
        return failed_text(c, v);
    if (v->result == OC_CHECK_PASSED)
        return oc_printf(a, "%s: %s is within %s%s", v->title, v->value, check_limit_text(a, v->limit),
                         v->span.at ? " at every size" : "");
    if (compares_recordings(v))
        return oc_printf(a, "%s: %s, baseline %s: no failure is shown: %s; %s", v->title, v->value,
                         oc_gate_text(a, (enum oc_gate_metric)v->limit->metric, v->limit->base),
                         oc_compared_text(&v->comparison, a), oc_compared_note(&v->comparison, a));
    return oc_printf(a, "%s: %s cannot be compared with %s: %s", v->title, v->value,
                     check_limit_text(a, v->limit), v->span.why ? v->span.why : "only a bound is known");
}

static bool is_onnx_type(const char *type)
{
    struct oc_op_info op = {0};
    for (size_t i = 0; i < oc_op_count(); i++) {
        oc_op_get(i, &op);
        if (!strcmp(op.name, type))
            return true;
    }
    return false;
}

/* As many parts of the name as the module has. */
static const char *module_like(struct oc_arena *a, const char *name, const char *module)
{
    size_t n = 0;
    name += *name == '/';
    for (const char *p = module + (*module == '/'); p && name[n]; p = strpbrk(p + 1, "/."))
        n += strcspn(name + n + (n > 0), "/.") + (n > 0);
    return oc_strndup(a, name, n);
}

/* A misspelled module or type would pass every limit: "0 is within the limit". Models need not have every operator of
 * ONNX, nor what a limit forbids. */
static int check_names(struct oc_figures *f, const struct oc_limit *l, struct oc_err *err)
{
    const struct oc_model *m = f->in->model;
    bool type = !l->module || oc_figures_has(f, NULL, l->module);
    if (type && (!l->type || l->metric == OC_GATE_PRESENT || strpbrk(l->type, "*:") ||
                 is_onnx_type(l->type) || oc_figures_has(f, l->type, NULL)))
        return 0;
    const char *given = type ? l->type : l->module, **name = oc_xcalloc((size_t)m->n_node + 1, sizeof(*name));
    for (uint32_t i = 0; i < m->n_node; i++)
        name[i] = type ? m->node[i].op_type : module_like(&f->report.arena, m->node[i].name, given);
    const char *near = oc_nearest_name(given, name, m->n_node);
    free(name);
    return oc_fail(err, OC_EARG, "%s:%u: no operator is %s '%.80s'%s%.160s%s", l->file ? l->file : "limit",
                   l->line, type ? "of type" : "in module", given, near ? "; the nearest is '" : "",
                   near ? near : "", near ? "'" : "");
}

static void check_fill(struct oc_check *c, const struct oc_limit *l, struct oc_limit_verdict *v)
{
    enum oc_gate_metric m = (enum oc_gate_metric)l->metric;
    v->limit = l;
    oc_figure(&c->figures, m, l->type, l->module, &v->span);
    check_judge(v);
    v->title = oc_limit_title(&c->arena, l);
    v->value = value_text(&c->arena, m, &v->span);
    v->bound = bound_text(&c->arena, l);
    v->reason = reason_of(c, v);
    c->counts.limits++;
    c->counts.failed += v->result == OC_CHECK_FAILED;
    bool unclear = v->result == OC_CHECK_INCONCLUSIVE;
    c->counts.unclear += unclear && !compares_recordings(v);
    c->counts.undecided += unclear && compares_recordings(v);
}

/* ---- public ----------------------------------------------------------------------------------------- */

int oc_check_make(const struct oc_report_in *in, const struct oc_estimate *estimate,
                  const struct oc_budget *budget, struct oc_check **out, struct oc_err *err)
{
    return oc_check_make_over(in, estimate, budget, NULL, out, err);
}

int oc_check_make_over(const struct oc_report_in *in, const struct oc_estimate *estimate,
                       const struct oc_budget *budget, const struct oc_bounds *bounds, struct oc_check **out,
                       struct oc_err *err)
{
    OC_ENTRY(err);
    if (!in->model || !in->analysis || (in->profile && !in->join))
        return oc_fail(err, OC_EARG, "a check needs a model, and a profile needs to be joined to it");
    if (!budget->n)
        return oc_fail(err, OC_EARG, "there is no limit to check");
    struct oc_check *c = oc_xmalloc(sizeof(*c));
    *c = (struct oc_check){0};
    struct oc_report_in *copy = OC_NEW(&c->arena, struct oc_report_in);
    *copy = *in;
    c->in = copy;
    c->n = budget->n;
    c->verdict = OC_NEW_ARRAY(&c->arena, c->n, struct oc_limit_verdict);
    oc_figures_make(&c->figures, c->in, estimate, false);
    c->figures.bounds = bounds;
    int rc = 0;
    for (size_t i = 0; i < c->n && !rc; i++)
        rc = check_names(&c->figures, &budget->limit[i], err);
    for (size_t i = 0; i < c->n && !rc; i++)
        check_fill(c, &budget->limit[i], &c->verdict[i]);
    if (rc)
        oc_check_free(c);
    *out = rc ? NULL : c;
    return rc;
}

void oc_check_free(struct oc_check *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n; i++)
        free(c->verdict[i].span.node);
    oc_figures_free(&c->figures);
    oc_arena_free(&c->arena);
    free(c);
}

const struct oc_check_counts *oc_check_counts(const struct oc_check *c)
{
    return &c->counts;
}

const char *oc_check_reason(const struct oc_check *c, size_t index, enum oc_check_result *result)
{
    if (index >= c->n)
        return NULL;
    *result = c->verdict[index].result;
    return c->verdict[index].reason;
}
