/* Closed forms: runs analyses at many sizes of the open dimensions and fits them with fit.c. */
#include "analyze/closed_form.h"

#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/units.h"
#include "onnxcost.h"

enum { MAX_ANALYSES = 8000, MAX_NODES = 20000000, MAX_OPEN = 64 };

/* ---- one analysis as outputs ------------------------------------------------------------------------ */

struct probe {
    const struct oc_model *model;
    struct oc_analyze_opts opts; /* bindings: the user's, then one for each open dimension */
    struct oc_bind *bind;        /* the open dimensions */
    unsigned n_symbol;
    struct oc_trust trust; /* at the base point */
};

struct oc_trust oc_trust_of(const struct oc_analysis *a)
{
    struct oc_trust t = {.unknown_nodes = a->total->unknown_nodes, .peak = a->peak.quality};
    for (uint32_t i = 0; i < a->n_by_type; i++)
        t.quality |= 1u << a->by_type[i].quality;
    for (size_t i = 0; i < a->diags.n; i++)
        t.findings += a->diags.item[i].severity != OC_INFO;
    return t;
}

enum oc_quality oc_trust_quality(const struct oc_trust *t, enum oc_metric m)
{
    bool up = t->quality & 1u << OC_UPPER, down = t->quality & (1u << OC_LOWER | 1u << OC_UNKNOWN);
    if (m == OC_METRIC_PARAMS)
        return OC_EXACT;
    if (m == OC_METRIC_PEAK)
        return (enum oc_quality)t->peak;
    if (t->quality & 1u << OC_EST)
        return OC_EST;
    return down ? OC_LOWER : up ? OC_UPPER : OC_EXACT;
}

bool oc_trust_equal(const struct oc_trust *a, const struct oc_trust *b)
{
    return a->unknown_nodes == b->unknown_nodes && a->findings == b->findings && a->quality == b->quality &&
           a->peak == b->peak;
}

/* A point with more unknowns or contradictions than the base point has no value: its totals cover fewer
 * nodes. */
static bool evaluate(void *ctx, const int64_t *x, uint64_t *value)
{
    struct probe *p = ctx;
    struct oc_analysis *a;
    struct oc_err err;
    for (unsigned k = 0; k < p->n_symbol; k++)
        p->bind[k].value = x[k];
    if (oc_analyze(p->model, &p->opts, &a, &err))
        return false;
    struct oc_trust trust = oc_trust_of(a);
    bool ok = oc_trust_equal(&trust, &p->trust);
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++)
        value[m] = oc_metric_of(a, (enum oc_metric)m);
    oc_analysis_free(a);
    return ok;
}

/* ---- open dimensions -------------------------------------------------------------------------------- */

/* Dimensions that the analysis had to assume are the open ones. */
static void take_symbols(struct oc_closed_form *f, const struct oc_analysis *a)
{
    f->symbol = OC_NEW_ARRAY(&f->arena, a->n_assumption, const char *);
    f->base = OC_NEW_ARRAY(&f->arena, a->n_assumption, int64_t);
    for (uint32_t i = 0; i < a->n_assumption; i++) {
        const struct oc_assumption *s = &a->assumption[i];
        if (strcmp(s->what, "dim") || !oc_parse_i64(s->value, strlen(s->value), &f->base[f->n_symbol]))
            continue;
        f->symbol[f->n_symbol++] = oc_strdup(&f->arena, s->name);
    }
}

static void bind_symbols(const struct oc_closed_form *f, const struct oc_analyze_opts *opts, struct probe *p,
                         struct oc_bind *bind)
{
    if (opts->n_bind)
        memcpy(bind, opts->bind, opts->n_bind * sizeof(*bind));
    p->opts = *opts;
    p->opts.bind = bind;
    p->opts.n_bind = opts->n_bind + f->n_symbol;
    p->bind = bind + opts->n_bind;
    p->n_symbol = f->n_symbol;
    for (unsigned k = 0; k < f->n_symbol; k++)
        p->bind[k] = (struct oc_bind){.symbol = f->symbol[k], .value = f->base[k]};
}

/* ---- formulas --------------------------------------------------------------------------------------- */

static void name_slots(struct oc_closed_form *f)
{
    const struct oc_fit_var *var = oc_fit_vars(f->fit);
    f->n_slot = oc_fit_slots(f->fit);
    f->slot_name = OC_NEW_ARRAY(&f->arena, f->n_slot, const char *);
    for (unsigned k = 0; k < f->n_symbol; k++)
        if (var[k].role == OC_FIT_FREE)
            f->slot_name[var[k].slot] = f->symbol[k];
}

static void find_formulas(struct oc_closed_form *f)
{
    struct oc_buf b = {0};
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++) {
        oc_fit_output(f->fit, m, &f->result[m]);
        if (f->result[m].state != OC_FIT_FOUND ||
            oc_trust_quality(&f->trust, (enum oc_metric)m) == OC_UNKNOWN)
            continue;
        oc_buf_clear(&b);
        oc_rpoly_text(&f->result[m].poly, f->slot_name, &b);
        f->text[m] = oc_strdup(&f->arena, b.data);
    }
    oc_buf_free(&b);
}

static uint32_t budget(const struct oc_model *m)
{
    uint32_t n = m->n_node ? MAX_NODES / m->n_node : MAX_ANALYSES;
    return n > MAX_ANALYSES ? MAX_ANALYSES : n < 100 ? 100 : n;
}

static int closed_form_open(struct oc_closed_form *f, const struct oc_analyze_opts *opts, struct oc_err *err)
{
    struct oc_analysis *a;
    struct probe *p = OC_NEW_ARRAY(&f->arena, 1, struct probe);
    p->model = f->model;
    if (oc_analyze(f->model, opts, &a, err))
        return -1;
    take_symbols(f, a);
    f->trust = oc_trust_of(a);
    oc_analysis_free(a);
    if (f->n_symbol >
        MAX_OPEN) /* each dimension is probed on its own: the time grows with the square of their number */
        return oc_fail(err, OC_ELIMIT,
                       "%u open dimensions are too many for formulas (at most %d): fix some with --dim",
                       f->n_symbol, MAX_OPEN);
    struct oc_bind *bind = OC_NEW_ARRAY(&f->arena, opts->n_bind + f->n_symbol, struct oc_bind);
    bind_symbols(f, opts, p, bind);
    p->trust = f->trust;
    const struct oc_fit_in in = {.eval = evaluate,
                                 .ctx = p,
                                 .n_var = f->n_symbol,
                                 .n_out = OC_METRIC_COUNT,
                                 .base = f->base,
                                 .max_evals = budget(f->model)};
    f->fit = oc_fit_new(&in);
    if (!f->fit)
        return oc_fail(err, OC_EUNSUPPORTED, "the default sizes of open dimensions cannot be set one by one");
    name_slots(f);
    return 0;
}

int oc_closed_form_open(const struct oc_model *model, const struct oc_analyze_opts *given,
                        struct oc_closed_form **out, struct oc_err *err)
{
    OC_C_LOCALE;
    *out = NULL;
    struct oc_analyze_opts full, *const opts = &full;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    struct oc_closed_form *f = oc_xmalloc(sizeof(*f));
    *f = (struct oc_closed_form){.model = model};
    if (opts->no_defaults) {
        oc_closed_form_free(f);
        return oc_fail(err, OC_EARG, "formulas need start sizes: open dimensions cannot be unknown");
    }
    if (closed_form_open(f, opts, err)) {
        oc_closed_form_free(f);
        return -1;
    }
    *out = f;
    return 0;
}

int oc_closed_form_make(const struct oc_model *model, const struct oc_analyze_opts *opts,
                        struct oc_closed_form **out, struct oc_err *err)
{
    OC_C_LOCALE;
    if (oc_closed_form_open(model, opts, out, err) || !*out)
        return -1;
    find_formulas(*out);
    (*out)->analyses = oc_fit_evals((*out)->fit);
    return 0;
}

void oc_closed_form_free(struct oc_closed_form *f)
{
    if (!f)
        return;
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++)
        oc_rpoly_free(&f->result[m].poly);
    oc_fit_free(f->fit);
    oc_arena_free(&f->arena);
    free(f);
}

size_t oc_closed_form_symbols(const struct oc_closed_form *f)
{
    return f->n_slot;
}

const char *oc_closed_form_symbol(const struct oc_closed_form *f, size_t index)
{
    return f->slot_name[index];
}

const char *oc_closed_form_text(const struct oc_closed_form *f, enum oc_metric m)
{
    return f->text[m];
}

bool oc_closed_form_at(const struct oc_closed_form *f, enum oc_metric m, const int64_t *at, uint64_t *out)
{
    return f->text[m] && oc_fit_covers(&f->result[m], f->n_slot, at) &&
           oc_rpoly_eval(&f->result[m].poly, at, out);
}

static bool limited(const struct oc_closed_form *f, const struct oc_fit_result *r)
{
    for (unsigned k = 0; k < f->n_slot; k++)
        if (r->axis[k].held || r->axis[k].piece || r->axis[k].step != 1)
            return true;
    return r->state != OC_FIT_FOUND;
}

size_t oc_closed_form_findings(const struct oc_closed_form *f)
{
    size_t n = 0;
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++)
        n += limited(f, &f->result[m]) || oc_trust_quality(&f->trust, (enum oc_metric)m) != OC_EXACT;
    return n;
}
