/* Costs of runs of the graph: the analysis with the given sizes and its counts; the counts as polynomials of the
 * sizes, and sums over decode steps. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/receipt.h"
#include "base/ck.h"
#include "llm/llm.h"
#include "onnxcost.h"

static int64_t value_of(const struct oc_llm_at *at, unsigned role)
{
    return role == OC_LLM_BATCH  ? at->batch
           : role == OC_LLM_NEW  ? at->fresh
           : role == OC_LLM_PAST ? at->past
                                 : at->past + at->fresh;
}

/* ---- the analysis ----------------------------------------------------------------------------------- */

struct bound { /* options including those of the roles */
    struct oc_analyze_opts opts;
    struct oc_bind *bind;
    struct oc_shape_bind *shape;
    struct oc_control_bind *control;
    struct oc_value_bind *value;
    char (*text)[24]; /* of the values */
    int64_t mask[2];
};

static void bind_sizes(struct bound *b, const struct oc_llm *l, const struct oc_llm_at *at)
{
    const struct oc_analyze_opts *own = l->opts.analyze;
    b->bind = oc_xmalloc((own->n_bind + l->sizes.n_size + 1) * sizeof(*b->bind));
    b->opts.bind = b->bind;
    for (size_t i = 0; i < own->n_bind; i++)
        b->bind[i] = own->bind[i];
    for (uint32_t i = 0; i < l->sizes.n_size; i++)
        b->bind[b->opts.n_bind++] =
            (struct oc_bind){l->sizes.size[i].symbol, value_of(at, l->sizes.size[i].role)};
}

/* "past_sequence_length + 1" is right for one new token only: the mask is given its full shape. */
static void bind_mask(struct bound *b, const struct oc_llm *l, const struct oc_llm_at *at)
{
    const struct oc_analyze_opts *own = l->opts.analyze;
    if (l->sizes.mask == OC_NONE)
        return;
    b->shape = oc_xmalloc((own->n_shape + 1) * sizeof(*b->shape));
    for (size_t i = 0; i < own->n_shape; i++)
        b->shape[i + 1] = own->shape[i]; /* the last option for an input takes precedence */
    b->mask[0] = at->batch;
    b->mask[1] = at->past + at->fresh;
    b->shape[0] =
        (struct oc_shape_bind){.input = l->model->value[l->sizes.mask].name, .rank = 2, .dim = b->mask};
    b->opts.shape = b->shape;
    b->opts.n_shape = own->n_shape + 1;
}

static void bind_branches(struct bound *b, const struct oc_llm *l, const struct oc_llm_at *at)
{
    const struct oc_analyze_opts *own = l->opts.analyze;
    if (!l->sizes.n_branch)
        return;
    b->control = oc_xmalloc((own->n_control + l->sizes.n_branch) * sizeof(*b->control));
    for (size_t i = 0; i < own->n_control; i++)
        b->control[i] = own->control[i];
    for (uint32_t i = 0; i < l->sizes.n_branch; i++)
        b->control[own->n_control + i] =
            (struct oc_control_bind){.node = l->sizes.branch[i], .value = at->past > 0};
    b->opts.control = b->control;
    b->opts.n_control = own->n_control + l->sizes.n_branch;
}

static void bind_scalars(struct bound *b, const struct oc_llm *l, const struct oc_llm_at *at)
{
    const struct oc_analyze_opts *own = l->opts.analyze;
    if (!l->sizes.n_scalar)
        return;
    b->value = oc_xmalloc((own->n_value + l->sizes.n_scalar) * sizeof(*b->value));
    b->text = oc_xmalloc(l->sizes.n_scalar * sizeof(*b->text));
    for (uint32_t i = 0; i < l->sizes.n_scalar; i++) {
        snprintf(b->text[i], sizeof(b->text[i]), "%" PRId64, value_of(at, l->sizes.scalar[i].role));
        b->value[i] = (struct oc_value_bind){l->sizes.scalar[i].symbol, b->text[i]};
    }
    for (size_t i = 0; i < own->n_value; i++) /* requested options come last and take precedence */
        b->value[l->sizes.n_scalar + i] = own->value[i];
    b->opts.value = b->value;
    b->opts.n_value = own->n_value + l->sizes.n_scalar;
}

int oc_llm_analyze(const struct oc_llm *l, struct oc_llm_at at, struct oc_analysis **out, struct oc_err *err)
{
    struct bound b = {.opts = *l->opts.analyze};
    bind_sizes(&b, l, &at);
    bind_mask(&b, l, &at);
    bind_branches(&b, l, &at);
    bind_scalars(&b, l, &at);
    int rc = oc_analyze(l->model, &b.opts, out, err);
    free(b.bind);
    free(b.shape);
    free(b.control);
    free(b.value);
    free(b.text);
    return rc;
}

int oc_llm_analyze_prefill(void *llm, const int64_t *x, struct oc_analysis **out)
{
    struct oc_err unused;
    return oc_llm_analyze(llm, (struct oc_llm_at){x[0], x[1], 0}, out, &unused);
}

int oc_llm_analyze_decode(void *llm, const int64_t *x, struct oc_analysis **out)
{
    struct oc_err unused;
    return oc_llm_analyze(llm, (struct oc_llm_at){x[0], 1, x[1]}, out, &unused);
}

/* ---- counts ----------------------------------------------------------------------------------------- */

static bool llm_cost_whole_bytes(const struct oc_analysis *a, uint32_t value, uint64_t *out)
{
    const struct oc_type *t = &a->type[value];
    struct oc_dim n = oc_shape_count(a->exprs, &t->shape);
    return t->shape.ranked && oc_is_known(n) && n.v >= 0 && oc_bytes_of(t->dtype, (uint64_t)n.v, out);
}

/* Bytes of the pair as counted by the nodes at both ends; those of the tensors if the nodes have no counts. */
static bool pair_bytes(struct oc_recount *r, const struct oc_analysis *a, const struct oc_kv_pair *p,
                       uint64_t *read, uint64_t *written)
{
    *read = *written = 0;
    if (p->reader != OC_NONE && !oc_recount_bytes(r, p->reader, false, p->past_slot, read) &&
        !llm_cost_whole_bytes(a, p->past, read))
        return false;
    return p->present == OC_NONE || p->writer == OC_NONE ||
           oc_recount_bytes(r, p->writer, true, p->present_slot, written) ||
           llm_cost_whole_bytes(a, p->present, written);
}

static void llm_cost_add(struct oc_llm_cost *c, unsigned n, uint64_t v)
{
    if (!oc_add_u64(c->v[n], v, &c->v[n]))
        c->quality = OC_UNKNOWN;
}

static void take_cache(const struct oc_llm *l, const struct oc_analysis *a, struct oc_llm_cost *c)
{
    struct oc_recount *r = oc_recount_new(a);
    for (uint32_t i = 0; i < l->kv.n_pair; i++) {
        uint64_t read, written;
        if (!pair_bytes(r, a, &l->kv.pair[i], &read, &written))
            continue;
        llm_cost_add(c, OC_LN_KV_READ, read);
        llm_cost_add(c, OC_LN_KV_WRITTEN, written);
    }
    oc_recount_free(r);
}

/* Operations by class; in another type (--as), also the bytes of that type. */
static void take_classes(const struct oc_llm *l, const struct oc_analysis *a, struct oc_llm_cost *c)
{
    struct oc_work w = {0}, experts = {0};
    for (uint32_t i = 0; i < a->model->n_node; i++) {
        if (a->cost[i].quality == OC_UNKNOWN)
            continue;
        oc_recast_sum(l->as, a, i, &w);
        if (oc_op_is(a->op[i], OC_F_EXPERTS))
            oc_recast_sum(l->as, a, i, &experts);
    }
    c->v[OC_LN_READ_EXPERT] = experts.weight_bytes;
    if (l->as) {
        c->v[OC_LN_READ_WEIGHT] = w.weight_bytes;
        c->v[OC_LN_WRITTEN] = w.written;
        c->v[OC_LN_READ_ACT] = w.bytes - w.weight_bytes - w.written;
    }
    for (unsigned k = 0; k < OC_CLASS_COUNT; k++) {
        c->v[OC_LN_CLASS_MACS + k] = w.macs[k];
        c->v[OC_LN_CLASS_REST + k] = w.flops[k];
        c->v[OC_LN_CLASS_SPECIAL + k] = w.special[k];
    }
    c->v[OC_LN_LAUNCHES] = w.launches;
    if (w.unknown)
        c->quality = OC_UNKNOWN;
}

static void llm_cost_take(const struct oc_llm *l, const struct oc_analysis *a, struct oc_llm_cost *c)
{
    c->quality = (uint8_t)a->total->quality;
    c->unknown_nodes = a->total->unknown_nodes;
    c->peak_quality = a->peak.quality;
    c->v[OC_LN_MACS] = a->total->macs;
    c->v[OC_LN_FLOPS] = a->total->flops;
    c->v[OC_LN_OPS] = a->total->ops;
    c->v[OC_LN_READ_ACT] = a->total->bytes_read_act;
    c->v[OC_LN_READ_WEIGHT] = a->total->bytes_read_weight;
    c->v[OC_LN_WRITTEN] = a->total->bytes_written;
    c->v[OC_LN_PEAK] = a->peak.bytes;
    take_classes(l, a, c);
    take_cache(l, a, c);
}

/* ---- the meter -------------------------------------------------------------------------------------- */

static const struct oc_llm_known *known_at(const struct oc_llm_meter *m, struct oc_llm_at at)
{
    for (uint32_t i = 0; i < m->n_known; i++) {
        const struct oc_llm_at *k = &m->known[i].at;
        if (k->batch == at.batch && k->fresh == at.fresh && k->past == at.past)
            return &m->known[i];
    }
    return NULL;
}

const struct oc_llm_cost *oc_llm_cost_at(struct oc_llm_meter *m, struct oc_llm_at at)
{
    const struct oc_llm_known *k = known_at(m, at);
    if (k)
        return k->cost;
    struct oc_analysis *a = NULL;
    struct oc_llm_cost *c = NULL;
    if (oc_llm_analyze(m->llm, at, &a, &m->err) == 0) {
        c = OC_NEW(&m->arena, struct oc_llm_cost);
        llm_cost_take(m->llm, a, c);
        oc_analysis_free(a);
    }
    OC_GROW(m->known, m->n_known, m->cap_known);
    m->known[m->n_known++] = (struct oc_llm_known){at, c};
    return c;
}

void oc_llm_meter_free(struct oc_llm_meter *m)
{
    free(m->known);
    oc_arena_free(&m->arena);
}

/* ---- laws: counts as polynomials of the sizes ------------------------------------------------------- */

/* Counts as polynomials of the sizes, and exact sums over decode steps. Unless a window or another bound
 * applies, the counts of a graph are polynomials of low degree: they are fitted to a few runs and verified at
 * further ones. */

enum {
    TOKEN_DEGREE = 2,
    MAX_STEP_RUNS = 600 /* analyses per search for the pieces */
};

/* ---- laws in two sizes --------------------------------------------------------------------------- */

static struct oc_llm_at run_of(enum oc_llm_phase phase, int64_t batch, int64_t tokens)
{
    return phase == OC_LLM_PREFILL ? (struct oc_llm_at){batch, tokens, 0}
                                   : (struct oc_llm_at){batch, 1, tokens};
}

/* 512 sequences can activate all experts: a token activates a fiftieth of them or more. */
static void check_law(struct oc_llm_meter *m, enum oc_llm_phase phase, struct oc_llm_law *law)
{
    int64_t n = law->to - law->from;
    const int64_t point[][2] = {{1, law->to}, {3, law->from + n / 3}, {7, law->from + 1}, {512, law->to - 1}};
    for (size_t i = 0; i < OC_COUNT(point); i++) {
        const struct oc_llm_cost *c = oc_llm_cost_at(m, run_of(phase, point[i][0], point[i][1]));
        law->checked += c != NULL;
        for (unsigned k = 0; k < OC_LN_COUNT; k++) {
            uint64_t v;
            law->found[k] = law->found[k] && c && oc_rpoly_eval(&law->poly[k], point[i], &v) && v == c->v[k];
        }
    }
}

void oc_llm_find_law(struct oc_llm_meter *m, enum oc_llm_phase phase, int64_t from, int64_t to,
                     struct oc_llm_law *out)
{
    *out = (struct oc_llm_law){.from = from, .to = to};
    int64_t step = (to - from) / (TOKEN_DEGREE + 2);
    if (m->llm->sizes.fixed[OC_LLM_BATCH] >= 0 || step < 1)
        return;
    const struct oc_rpoly_axis axis[2] = {{1, 1, 1}, {from, step, TOKEN_DEGREE}};
    struct oc_pow point[OC_RPOLY_TERMS];
    const struct oc_llm_cost *cost[2 * (TOKEN_DEGREE + 1)];
    size_t n = oc_rpoly_points(axis, 2, 1 + TOKEN_DEGREE, point);
    for (size_t i = 0; i < n; i++) {
        cost[i] = oc_llm_cost_at(m, run_of(phase, 1 + point[i].of[0], from + step * point[i].of[1]));
        if (!cost[i])
            return;
    }
    for (unsigned k = 0; k < OC_LN_COUNT; k++) {
        uint64_t value[2 * (TOKEN_DEGREE + 1)];
        for (size_t i = 0; i < n; i++)
            value[i] = cost[i]->v[k];
        out->found[k] = oc_rpoly_fit(axis, 2, point, value, n, &out->poly[k]);
    }
    check_law(m, phase, out);
}

void oc_llm_law_free(struct oc_llm_law *law)
{
    for (unsigned k = 0; k < OC_LN_COUNT; k++)
        oc_rpoly_free(&law->poly[k]);
}

bool oc_llm_law_at(const struct oc_llm_law *law, enum oc_llm_num n, int64_t batch, int64_t tokens,
                   uint64_t *out)
{
    const int64_t at[2] = {batch, tokens};
    return law->found[n] && oc_rpoly_eval(&law->poly[n], at, out);
}

/* ---- along the steps of an answer ------------------------------------------------------------------- */

struct search {
    struct oc_llm_meter *meter;
    int64_t batch;
    struct oc_llm_steps *out;
    uint32_t most; /* maximum number of runs stored in the meter */
};

static const struct oc_llm_cost *step_cost(const struct search *s, int64_t past)
{
    return oc_llm_cost_at(s->meter, (struct oc_llm_at){s->batch, 1, past});
}

static void free_piece(struct oc_llm_piece *p)
{
    for (unsigned k = 0; k < OC_LN_COUNT; k++)
        oc_rpoly_free(&p->poly[k]);
}

/* The polynomials through `degree` + 1 steps of the piece. */
static bool fit_piece(const struct search *s, struct oc_llm_piece *p, unsigned degree)
{
    int64_t step = degree ? (p->to - p->from) / (int64_t)degree : 1;
    const struct oc_rpoly_axis axis = {p->from, step, degree};
    struct oc_pow point[OC_RPOLY_TERMS];
    const struct oc_llm_cost *cost[TOKEN_DEGREE + 1];
    size_t n = oc_rpoly_points(&axis, 1, degree, point);
    for (size_t i = 0; i < n; i++) {
        cost[i] = step_cost(s, p->from + step * point[i].of[0]);
        if (!cost[i])
            return false;
    }
    for (unsigned k = 0; k < OC_LN_COUNT; k++) {
        uint64_t value[TOKEN_DEGREE + 1];
        for (size_t i = 0; i < n; i++)
            value[i] = cost[i]->v[k];
        if (!oc_rpoly_fit(&axis, 1, point, value, n, &p->poly[k]))
            return false;
    }
    return true;
}

/* The peak is not additive and may follow other polynomials: it is not fitted. */
static bool holds_at(const struct search *s, const struct oc_llm_piece *p, int64_t past)
{
    const struct oc_llm_cost *c = step_cost(s, past);
    for (unsigned k = 0; c && k < OC_LN_COUNT; k++) {
        uint64_t v;
        if (k != OC_LN_PEAK && (!oc_rpoly_eval(&p->poly[k], &past, &v) || v != c->v[k]))
            return false;
    }
    return c != NULL;
}

static bool piece_holds(const struct search *s, const struct oc_llm_piece *p)
{
    int64_t n = p->to - p->from;
    if (n < 8) {
        for (int64_t x = p->from; x <= p->to; x++)
            if (!holds_at(s, p, x))
                return false;
        return true;
    }
    return holds_at(s, p, p->to) && holds_at(s, p, p->from + 1) && holds_at(s, p, p->to - 1) &&
           holds_at(s, p, p->from + n / 4) && holds_at(s, p, p->from + n / 4 * 3 + 1);
}

static void append_piece(struct search *s, const struct oc_llm_piece *p)
{
    OC_GROW(s->out->piece, s->out->n_piece, s->out->cap_piece);
    s->out->piece[s->out->n_piece++] = *p;
}

/* Bisects ranges without a polynomial. depth: recursion depth. */
static int cover(struct search *s, int64_t from, int64_t to)
{
    struct oc_llm_piece *p = oc_xmalloc(sizeof(*p));
    *p = (struct oc_llm_piece){.from = from, .to = to};
    unsigned degree = to - from < TOKEN_DEGREE ? (unsigned)(to - from) : TOKEN_DEGREE;
    int rc = 0;
    if (fit_piece(s, p, degree) && piece_holds(s, p)) {
        append_piece(s, p);
    } else {
        free_piece(p);
        int64_t middle = from + (to - from) / 2;
        rc = from == to || s->meter->n_known > s->most || cover(s, from, middle) || cover(s, middle + 1, to)
                 ? -1
                 : 0;
    }
    free(p);
    return rc;
}

int oc_llm_find_steps(struct oc_llm_meter *m, int64_t batch, int64_t from, int64_t to,
                      struct oc_llm_steps *out)
{
    struct search s = {m, batch, out, m->n_known + MAX_STEP_RUNS};
    *out = (struct oc_llm_steps){0};
    return from > to ? 0 : cover(&s, from, to);
}

void oc_llm_steps_free(struct oc_llm_steps *s)
{
    for (uint32_t i = 0; i < s->n_piece; i++)
        free_piece(&s->piece[i]);
    free(s->piece);
    *s = (struct oc_llm_steps){0};
}

bool oc_llm_steps_at(const struct oc_llm_steps *s, enum oc_llm_num n, int64_t past, uint64_t *out)
{
    for (uint32_t i = 0; i < s->n_piece; i++)
        if (past >= s->piece[i].from && past <= s->piece[i].to)
            return oc_rpoly_eval(&s->piece[i].poly[n], &past, out);
    return false;
}

/* ---- sums of steps ------------------------------------------------------------------------------- */

typedef __int128 wide;

/* 0^k + 1^k + ... + n^k for k <= 2; n >= -1 */
static bool power_sum(int64_t n, unsigned k, wide *out)
{
    wide a = n, b = (wide)n + 1, c = 2 * (wide)n + 1;
    if (k == 0)
        *out = b;
    else if (k == 1)
        *out = a * b / 2;
    else
        return !__builtin_mul_overflow(a * b, c, out) && (*out /= 6, true);
    return true;
}

/* The sum of num * x^k over the piece, times the common denominator. */
static bool term_sum(const struct oc_llm_piece *p, int64_t num, unsigned k, wide *out)
{
    wide high, low, product;
    if (k > TOKEN_DEGREE || !power_sum(p->to, k, &high) || !power_sum(p->from - 1, k, &low))
        return false;
    if (__builtin_mul_overflow(high - low, (wide)num, &product))
        return false;
    return !__builtin_add_overflow(*out, product, out);
}

bool oc_llm_steps_sum(const struct oc_llm_steps *s, enum oc_llm_num n, uint64_t *out)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < s->n_piece; i++) {
        const struct oc_rpoly *poly = &s->piece[i].poly[n];
        wide sum = 0;
        for (uint32_t t = 0; t < poly->n_term; t++)
            if (!term_sum(&s->piece[i], poly->term[t].num, poly->term[t].pow.of[0], &sum))
                return false;
        sum /= poly->den;
        if (sum < 0 || sum > (wide)UINT64_MAX || !oc_add_u64(total, (uint64_t)sum, &total))
            return false;
    }
    *out = total;
    return true;
}
