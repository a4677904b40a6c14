/* Closed forms: runs analyses at many sizes of the open dimensions and fits them with fit.c. Sweeps over given
 * sizes, and the batch dimension.
 *
 * The polynomials are interpolated, although costs are texts that can be evaluated over symbolic dimensions. A trial
 * evaluated the texts of all nodes so (oc_expr_dim) and summed them, for 47 networks of onnxzoo at 20 sizes each: every
 * shape is an expression in the open dimensions, and the MACs are right in 41 networks, but the FLOPs in 8. Nearly
 * every network has nodes whose text uses numbers that a function reports (oc_op.values: elements of a statistic, taps,
 * steps of a recurrence), and those functions count with numbers, as do the bytes (views, broadcasts, what is read
 * once) and the peak, a maximum over all nodes. They would need a second version over dimensions. The sums have
 * quotients such as floor((height - 1)/2), 17 terms for a ResNet, and become one polynomial only for multiples of a
 * step, which the search finds; where a rule counts differently (batch = 1) or shapes contradict each other has to be
 * looked for with analyses in any case. What the text could replace is the fit itself (fit_all, 60 lines): the
 * polynomials of the page and of llm (fit_boxes.c, rpoly.c) are of bounds and steps, not of nodes. */
#include "analyze/closed_form.h"

#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/ck.h"
#include "base/units.h"
#include "onnxcost.h"
#include "onnxcost/memory.h"

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
    OC_ENTRY(err);
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
    OC_ENTRY(err);
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

/* ---- metrics ------------------------------------------------------------------------------------------ */

/* The totals and their names. */

#define TOTAL(field) offsetof(struct oc_totals, field)

static const struct {
    struct oc_metric_info info;
    size_t offset; /* in struct oc_totals */
} metrics[OC_METRIC_COUNT] = {
    [OC_METRIC_MACS] = {{"macs", "MACs", "MAC"}, TOTAL(macs)},
    [OC_METRIC_FLOPS] = {{"flops", "FLOPs", "FLOP"}, TOTAL(flops)},
    [OC_METRIC_OPS] = {{"ops", "OPs", "OP"}, TOTAL(ops)},
    [OC_METRIC_BYTES_READ_ACT] = {{"bytes_read_act", "activations read", "B"}, TOTAL(bytes_read_act)},
    [OC_METRIC_BYTES_READ_WEIGHT] = {{"bytes_read_weight", "weights read", "B"}, TOTAL(bytes_read_weight)},
    [OC_METRIC_BYTES_WRITTEN] = {{"bytes_written", "written", "B"}, TOTAL(bytes_written)},
    [OC_METRIC_PEAK] = {{"peak_activation_bytes", "peak activations", "B"}, 0}, /* not in the totals */
    [OC_METRIC_PARAMS] = {{"params", "parameters", ""}, TOTAL(params)},
};

const struct oc_metric_info *oc_metric_info(enum oc_metric m)
{
    return &metrics[m].info;
}

uint64_t oc_metric_of(const struct oc_analysis *a, enum oc_metric m)
{
    uint64_t v;
    if (m == OC_METRIC_PEAK)
        return a->peak.bytes;
    memcpy(&v, (const char *)a->total + metrics[m].offset, sizeof(v));
    return v;
}

/* ---- axes of a sweep ---------------------------------------------------------------------------------- */

static bool is_bound(const struct oc_analyze_opts *o, const char *symbol)
{
    for (size_t i = 0; i < o->n_bind; i++)
        if (!strcmp(o->bind[i].symbol, symbol))
            return true;
    return false;
}

static int take_axes(struct oc_sweep *s, const struct oc_analyze_opts *o, const struct oc_sweep_axis *axis,
                     size_t n_axis, struct oc_err *err)
{
    uint64_t n = 1;
    s->axis = OC_NEW_ARRAY(&s->arena, n_axis, struct oc_sweep_axis);
    for (size_t i = 0; i < n_axis; i++) {
        if (!axis[i].n)
            return oc_fail(err, OC_EARG, "dimension '%s' has no sizes", axis[i].symbol);
        for (size_t k = 0; k < i; k++)
            if (!strcmp(axis[k].symbol, axis[i].symbol))
                return oc_fail(err, OC_EARG, "dimension '%s' cannot be swept twice", axis[i].symbol);
        if (is_bound(o, axis[i].symbol))
            return oc_fail(err, OC_EARG, "dimension '%s' cannot be both bound and swept", axis[i].symbol);
        if (!oc_mul_u64(n, axis[i].n, &n) || n > OC_SWEEP_MAX_ROWS)
            return oc_fail(err, OC_ELIMIT, "more than %d combinations of sizes", OC_SWEEP_MAX_ROWS);
        int64_t *value = OC_NEW_ARRAY(&s->arena, axis[i].n, int64_t);
        memcpy(value, axis[i].value, axis[i].n * sizeof(*value));
        s->axis[i] = (struct oc_sweep_axis){
            .symbol = oc_strdup(&s->arena, axis[i].symbol), .value = value, .n = axis[i].n};
    }
    s->n_axis = n_axis;
    s->n_row = n;
    return 0;
}

/* ---- rows of a sweep ---------------------------------------------------------------------------------- */

static void sweep_set_row(struct oc_sweep *s, size_t index, struct oc_bind *bind)
{
    int64_t *at = OC_NEW_ARRAY(&s->arena, s->n_axis, int64_t);
    s->row[index].at = at;
    for (size_t i = s->n_axis; i-- > 0;) {
        const struct oc_sweep_axis *a = &s->axis[i];
        at[i] = a->value[index % a->n];
        index /= a->n;
        bind[i] = (struct oc_bind){.symbol = a->symbol, .value = at[i]};
    }
}

static void sweep_fill_row(struct oc_sweep_row *row, const struct oc_analysis *a)
{
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++)
        row->value[m] = oc_metric_of(a, (enum oc_metric)m);
    row->nodes = a->total->nodes;
    row->unknown_nodes = a->total->unknown_nodes;
    row->quality = a->total->quality;
    row->peak_quality = (enum oc_quality)a->peak.quality;
}

static int sweep_run(struct oc_sweep *s, const struct oc_analyze_opts *opts, struct oc_err *err)
{
    struct oc_analyze_opts o = *opts;
    struct oc_bind *bind = OC_NEW_ARRAY(&s->arena, o.n_bind + s->n_axis, struct oc_bind);
    bool any = false;
    if (o.n_bind)
        memcpy(bind, o.bind, o.n_bind * sizeof(*bind));
    o.bind = bind;
    o.n_bind += s->n_axis;
    for (size_t i = 0; i < s->n_row; i++) {
        struct oc_analysis *a;
        struct oc_err failure;
        sweep_set_row(s, i, bind + opts->n_bind);
        if (oc_analyze(s->model, &o, &a, &failure)) {
            s->row[i].failure = oc_strdup(&s->arena, failure.msg);
            if (!any)
                *err = failure;
            continue;
        }
        any = true;
        sweep_fill_row(&s->row[i], a);
        oc_analysis_free(a);
    }
    return any ? 0 : -1;
}

int oc_sweep_make(const struct oc_model *model, const struct oc_analyze_opts *given,
                  const struct oc_sweep_axis *axis, size_t n_axis, struct oc_sweep **out, struct oc_err *err)
{
    OC_ENTRY(err);
    *out = NULL;
    struct oc_analyze_opts full, *const opts = &full;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    struct oc_sweep *s = oc_xmalloc(sizeof(*s));
    struct oc_err unused = {0}, *why = err ? err : &unused;
    *s = (struct oc_sweep){.model = model};
    int rc = take_axes(s, opts, axis, n_axis, why);
    if (!rc) {
        s->row = OC_NEW_ARRAY(&s->arena, s->n_row, struct oc_sweep_row);
        rc = sweep_run(s, opts, why);
    }
    if (rc) {
        oc_sweep_free(s);
        return -1;
    }
    *out = s;
    return 0;
}

void oc_sweep_free(struct oc_sweep *s)
{
    if (!s)
        return;
    oc_arena_free(&s->arena);
    free(s);
}

size_t oc_sweep_rows(const struct oc_sweep *s, const struct oc_sweep_row **out)
{
    *out = s->row;
    return s->n_row;
}

size_t oc_sweep_findings(const struct oc_sweep *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_row; i++)
        n += s->row[i].failure || s->row[i].quality != OC_EXACT || s->row[i].peak_quality != OC_EXACT;
    return n;
}

/* ---- batch dimension ---------------------------------------------------------------------------------- */

/* The dimension is a plain symbol. */
static const char *plain_symbol(const struct oc_model *m, struct oc_dim d)
{
    return oc_is_known(d) || !d.expr || d.expr > m->n_symbol ? NULL : m->symbol[d.expr - 1];
}

const char *oc_batch_symbol(const struct oc_model *m)
{
    for (uint32_t i = 0; i < m->graph[0].n_input; i++) {
        const struct oc_value *v = &m->value[m->graph[0].input[i]];
        const struct oc_shape *s = &v->declared->shape;
        if (!v->constant && s->ranked && s->rank)
            return plain_symbol(m, s->dim[0]);
    }
    return NULL;
}

struct place { /* a dimension of an input */
    uint32_t value;
    unsigned axis;
};

static bool find_batch(const struct oc_model *m, const char *symbol, struct place *out)
{
    for (uint32_t i = 0; i < m->graph[0].n_input; i++) {
        const struct oc_value *v = &m->value[m->graph[0].input[i]];
        const struct oc_shape *s = &v->declared->shape;
        for (unsigned x = 0; !v->constant && s->ranked && x < s->rank; x++) {
            const char *name = plain_symbol(m, s->dim[x]);
            if (name && strcmp(name, symbol) == 0) {
                *out = (struct place){m->graph[0].input[i], x};
                return true;
            }
        }
    }
    return false;
}

bool oc_batch_has_symbol(const struct oc_model *m, const char *symbol)
{
    struct place p;
    return find_batch(m, symbol, &p);
}

int64_t oc_batch_now(const struct oc_analysis *a, const char *symbol)
{
    struct place p;
    if (!find_batch(a->model, symbol, &p))
        return -1;
    const struct oc_shape *s = &a->type[p.value].shape;
    return s->ranked && p.axis < s->rank && oc_is_known(s->dim[p.axis]) ? s->dim[p.axis].v : -1;
}

static void copy_shapes(struct oc_batch_opts *b, struct oc_arena *arena, const struct oc_analyze_opts *o)
{
    struct oc_shape_bind *shape = OC_NEW_ARRAY(arena, o->n_shape, struct oc_shape_bind);
    b->dim = OC_NEW_ARRAY(arena, o->n_shape, int64_t *);
    for (size_t i = 0; i < o->n_shape; i++) {
        shape[i] = o->shape[i];
        shape[i].dim = b->dim[i] = OC_NEW_ARRAY(arena, o->shape[i].rank, int64_t);
        if (o->shape[i].rank)
            memcpy(b->dim[i], o->shape[i].dim, o->shape[i].rank * sizeof(*b->dim[i]));
    }
    b->opts.shape = shape;
}

void oc_batch_opts_init(struct oc_batch_opts *b, struct oc_arena *arena, const struct oc_model *m,
                        const struct oc_analyze_opts *o, const char *symbol)
{
    *b = (struct oc_batch_opts){.opts = *o, .model = m};
    b->bind = OC_NEW_ARRAY(arena, o->n_bind + 1, struct oc_bind);
    b->bind[0].symbol = symbol;
    b->opts.n_bind = 1;
    for (size_t i = 0; i < o->n_bind; i++)
        if (strcmp(o->bind[i].symbol, symbol) != 0)
            b->bind[b->opts.n_bind++] = o->bind[i];
    b->opts.bind = b->bind;
    copy_shapes(b, arena, o);
}

/* Replaces the batch dimension in a given shape. */
static void set_batch(struct oc_batch_opts *b, size_t index, const struct oc_value *v, int64_t batch)
{
    const struct oc_shape *d = &v->declared->shape;
    for (unsigned x = 0; d->ranked && x < d->rank && x < b->opts.shape[index].rank; x++)
        if (d->dim[x].expr && strcmp(b->model->symbol[d->dim[x].expr - 1], b->bind[0].symbol) == 0)
            b->dim[index][x] = batch;
}

void oc_batch_opts_set(struct oc_batch_opts *b, int64_t batch)
{
    const struct oc_graph *g = &b->model->graph[0];
    b->bind[0].value = batch;
    for (size_t i = 0; i < b->opts.n_shape; i++)
        for (uint32_t k = 0; k < g->n_input; k++) {
            const struct oc_value *v = &b->model->value[g->input[k]];
            if (strcmp(v->name, b->opts.shape[i].input) == 0)
                set_batch(b, i, v, batch);
        }
}

enum oc_fits oc_fits_in(uint64_t needs, uint8_t quality, uint64_t capacity)
{
    bool inside = needs <= capacity;
    if (quality == OC_UNKNOWN || quality == OC_EST)
        return OC_FITS_UNKNOWN;
    if (quality == OC_UPPER && !inside)
        return OC_FITS_UNKNOWN;
    if (quality == OC_LOWER && inside)
        return OC_FITS_UNKNOWN;
    return inside ? OC_FITS_YES : OC_FITS_NO;
}
