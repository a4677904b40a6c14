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

struct oc_llm_at oc_llm_last(const struct oc_llm *l, int64_t batch)
{
    return (struct oc_llm_at){batch, 1, l->opts.prompt + (l->steps_n > 0 ? l->steps_n - 1 : 0)};
}

/* ---- the analysis ----------------------------------------------------------------------------------- */

/* A list of the caller's options in the arena, with room for more of them before and after it. */
static void *widened(struct oc_arena *arena, const void *own, size_t n, size_t before, size_t after,
                     size_t item_bytes)
{
    char *list = oc_alloc_array(arena, before + n + after, item_bytes);
    if (n)
        memcpy(list + before * item_bytes, own, n * item_bytes);
    return list;
}

/* The caller's options and the sizes of the roles. The last option for an input takes precedence, and the first one
 * for a branch: the caller's. */
static struct oc_analyze_opts options_at(const struct oc_llm *l, struct oc_llm_at at, struct oc_arena *arena)
{
    const struct oc_llm_sizes *s = &l->sizes;
    struct oc_analyze_opts o = *l->opts.analyze;
    struct oc_bind *bind = widened(arena, o.bind, o.n_bind, s->n_size, 0, sizeof(*bind));
    struct oc_value_bind *value = widened(arena, o.value, o.n_value, s->n_scalar, 0, sizeof(*value));
    struct oc_control_bind *control =
        widened(arena, o.control, o.n_control, 0, s->n_branch, sizeof(*control));
    struct oc_shape_bind *shape = widened(arena, o.shape, o.n_shape, s->mask != OC_NONE, 0, sizeof(*shape));
    for (uint32_t i = 0; i < s->n_size; i++)
        bind[i] = (struct oc_bind){s->size[i].symbol, value_of(&at, s->size[i].role)};
    for (uint32_t i = 0; i < s->n_scalar; i++)
        value[i] = (struct oc_value_bind){s->scalar[i].symbol,
                                          oc_printf(arena, "%" PRId64, value_of(&at, s->scalar[i].role))};
    for (uint32_t i = 0; i < s->n_branch; i++)
        control[o.n_control + i] = (struct oc_control_bind){.node = s->branch[i], .value = at.past > 0};
    /* "past_sequence_length + 1" is right for one new token only: the mask is given its full shape */
    if (s->mask != OC_NONE) {
        const int64_t dim[] = {at.batch, at.past + at.fresh};
        shape[0] = (struct oc_shape_bind){
            .input = l->model->value[s->mask].name, .rank = 2, .dim = OC_COPY_ARRAY(arena, dim, 2)};
        o.n_shape++;
    }
    o.bind = bind;
    o.n_bind += s->n_size;
    o.value = value;
    o.n_value += s->n_scalar;
    o.control = control;
    o.n_control += s->n_branch;
    o.shape = shape;
    return o;
}

int oc_llm_analyze(const struct oc_llm *l, struct oc_llm_at at, struct oc_analysis **out, struct oc_err *err)
{
    struct oc_arena arena = {0};
    struct oc_analyze_opts o = options_at(l, at, &arena);
    int rc = oc_analyze(l->model, &o, out, err);
    oc_arena_free(&arena);
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

/* Bytes of the pair as counted by the nodes at both ends; those of the tensors if the nodes have no counts. */
static bool pair_bytes(struct oc_recount *r, const struct oc_analysis *a, const struct oc_kv_pair *p,
                       uint64_t *read, uint64_t *written)
{
    *read = *written = 0;
    if (p->reader != OC_NONE && !oc_recount_bytes(r, p->reader, false, p->past_slot, read) &&
        !oc_type_bytes(&a->type[p->past], read))
        return false;
    return p->present == OC_NONE || p->writer == OC_NONE ||
           oc_recount_bytes(r, p->writer, true, p->present_slot, written) ||
           oc_type_bytes(&a->type[p->present], written);
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

/* ---- each run once ----------------------------------------------------------------------------------- */

static struct oc_llm_known *known_at(struct oc_llm *l, struct oc_llm_at at)
{
    for (struct oc_llm_known *k = l->known; k; k = k->next)
        if (!memcmp(&k->at, &at, sizeof(at)))
            return k;
    struct oc_llm_known *k = OC_NEW(&l->arena, struct oc_llm_known);
    *k = (struct oc_llm_known){.at = at, .next = l->known};
    l->n_known++;
    return l->known = k;
}

const struct oc_llm_cost *oc_llm_cost_at(struct oc_llm *l, struct oc_llm_at at)
{
    struct oc_llm_known *k = known_at(l, at);
    struct oc_analysis *a = NULL;
    if (!k->counted && oc_llm_analyze(l, at, &a, &l->run_err) == 0) {
        k->cost = OC_NEW(&l->arena, struct oc_llm_cost);
        llm_cost_take(l, a, k->cost);
        oc_analysis_free(a);
    }
    k->counted = true;
    return k->cost;
}

const struct oc_bound_load *oc_llm_load_at(struct oc_llm *l, struct oc_llm_at at)
{
    struct oc_llm_known *k = known_at(l, at);
    struct oc_analysis *a = NULL;
    struct oc_err unused;
    if (!k->load)
        k->load = OC_NEW(&l->arena, struct oc_bound_load);
    else
        return k->load;
    if (oc_llm_analyze(l, at, &a, &unused) == 0) {
        oc_bound_load_make(a, l->as, &l->arena, k->load);
        oc_analysis_free(a);
    }
    return k->load;
}

/* ---- laws: counts as polynomials of the sizes ------------------------------------------------------- */

/* Unless a window or another bound applies, the counts of a graph are polynomials of low degree: they are fitted to a
 * few runs and verified at further ones. */

enum {
    TOKEN_DEGREE = 2,
    MAX_STEP_RUNS = 600 /* runs that are analysed for the laws of the decode steps */
};

static struct oc_llm_at run_of(enum oc_llm_phase phase, int64_t batch, int64_t tokens)
{
    return phase == OC_LLM_PREFILL ? (struct oc_llm_at){batch, tokens, 0}
                                   : (struct oc_llm_at){batch, 1, tokens};
}

/* The polynomials through the runs along the axes of sequences and tokens. False: a run has no costs. */
static bool fit_law(struct oc_llm *l, enum oc_llm_phase phase, const struct oc_rpoly_axis axis[2],
                    struct oc_llm_law *law)
{
    struct oc_pow point[OC_RPOLY_TERMS];
    const struct oc_llm_cost *cost[2 * (TOKEN_DEGREE + 1)];
    uint64_t value[OC_COUNT(cost)];
    size_t n = oc_rpoly_points(axis, 2, axis[0].degree + axis[1].degree, point);
    for (size_t i = 0; i < n; i++) {
        cost[i] = oc_llm_cost_at(l, run_of(phase, axis[0].start + axis[0].step * point[i].of[0],
                                           axis[1].start + axis[1].step * point[i].of[1]));
        if (!cost[i])
            return false;
    }
    for (unsigned k = 0; k < OC_LN_COUNT; k++) {
        for (size_t i = 0; i < n; i++)
            value[i] = cost[i]->v[k];
        law->found[k] = oc_rpoly_fit(axis, 2, point, value, n, &law->poly[k]);
    }
    return true;
}

/* Keeps the polynomials that hold for a further run. False: one does not. The peak does not count, it is not additive
 * and may follow other polynomials. */
static bool check_law(struct oc_llm *l, enum oc_llm_phase phase, int64_t batch, int64_t tokens,
                      struct oc_llm_law *law)
{
    const struct oc_llm_cost *c = oc_llm_cost_at(l, run_of(phase, batch, tokens));
    bool all = true;
    law->checked += c != NULL;
    for (unsigned k = 0; k < OC_LN_COUNT; k++) {
        uint64_t v;
        law->found[k] = c && oc_llm_law_at(law, (enum oc_llm_num)k, batch, tokens, &v) && v == c->v[k];
        all = all && (law->found[k] || k == OC_LN_PEAK);
    }
    return all;
}

/* 512 sequences can activate all experts: a token activates a fiftieth of them or more. */
void oc_llm_find_law(struct oc_llm *l, enum oc_llm_phase phase, int64_t from, int64_t to,
                     struct oc_llm_law *out)
{
    int64_t n = to - from, step = n / (TOKEN_DEGREE + 2);
    const struct oc_rpoly_axis axis[2] = {{1, 1, 1}, {from, step, TOKEN_DEGREE}};
    *out = (struct oc_llm_law){.from = from, .to = to};
    if (l->sizes.fixed[OC_LLM_BATCH] >= 0 || step < 1 || !fit_law(l, phase, axis, out))
        return;
    check_law(l, phase, 1, to, out);
    check_law(l, phase, 3, from + n / 3, out);
    check_law(l, phase, 7, from + 1, out);
    check_law(l, phase, 512, to - 1, out);
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

/* ---- decode steps ------------------------------------------------------------------------------------ */

/* A law of the steps of one batch with from `law->from` to `law->to` tokens in the cache. */
static bool fit_steps(struct oc_llm *l, struct oc_llm_law *law)
{
    const int64_t n = law->to - law->from, batch = l->opts.batch;
    const unsigned degree = n < TOKEN_DEGREE ? (unsigned)n : TOKEN_DEGREE;
    const struct oc_rpoly_axis axis[2] = {{batch, 1, 0}, {law->from, degree ? n / degree : 1, degree}};
    const int64_t further[] = {n, 1, n - 1, n / 4, n / 4 * 3 + 1};
    bool holds = fit_law(l, OC_LLM_DECODE, axis, law);
    for (int64_t i = 0; holds && i < (n < 8 ? n + 1 : (int64_t)OC_COUNT(further)); i++)
        holds = check_law(l, OC_LLM_DECODE, batch, law->from + (n < 8 ? i : further[i]), law);
    return holds;
}

/* Laws of all steps; ranges without one are bisected. */
static bool cover(struct oc_llm *l, int64_t from, int64_t to, uint32_t most)
{
    struct oc_llm_law *law = OC_NEW(&l->arena, struct oc_llm_law);
    int64_t middle = from + (to - from) / 2;
    *law = (struct oc_llm_law){.from = from, .to = to, .next = l->steps};
    if (fit_steps(l, law)) {
        l->steps = law;
        return true;
    }
    oc_llm_law_free(law);
    return from < to && l->n_known <= most && cover(l, from, middle, most) && cover(l, middle + 1, to, most);
}

bool oc_llm_step_at(const struct oc_llm *l, enum oc_llm_num n, int64_t past, uint64_t *out)
{
    for (const struct oc_llm_law *law = l->steps; law; law = law->next)
        if (past >= law->from && past <= law->to)
            return oc_llm_law_at(law, n, l->opts.batch, past, out);
    return false;
}

bool oc_llm_sum_steps(struct oc_llm *l)
{
    const int64_t first = l->opts.prompt;
    if (l->steps_n && !cover(l, first, first + l->steps_n - 1, l->n_known + MAX_STEP_RUNS))
        return false;
    for (unsigned k = 0; k < OC_LN_COUNT; k++)
        for (int64_t i = 0; i < l->steps_n && k != OC_LN_PEAK; i++) {
            uint64_t v;
            if (!oc_llm_step_at(l, (enum oc_llm_num)k, first + i, &v) ||
                !oc_add_u64(l->sum[k], v, &l->sum[k]))
                return false;
        }
    return true;
}
