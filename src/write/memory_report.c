#include "write/memory_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/ck.h"

static struct oc_lives_opts runtime_opts(const struct oc_analysis *a)
{
    return (struct oc_lives_opts){
        .all = true, .without_inputs = true, .order = OC_ORDER_ORT, .kv_share = a->counting.kv_share};
}

/* Subgraphs that run at the peak, from the outermost to the innermost. */
static void find_bodies(struct oc_memory *m)
{
    const struct oc_lives *l = m->lives;
    while (l->n_step && l->inner[l->peak_step]) {
        uint32_t body = oc_lives_body(l, l->step[l->peak_step]);
        if (body == OC_NONE)
            return;
        OC_GROW(m->body, m->n_body, m->cap_body);
        l = m->body[m->n_body++] = oc_lives_make(m->a, body, &m->lives->opts);
    }
}

static bool lives_at_peak(const struct oc_lives *l, const struct oc_life *x)
{
    return l->n_step && x->bytes && x->first <= l->peak_step && x->last >= l->peak_step;
}

static uint32_t add_live(const struct oc_lives *l, struct oc_memory_row *row)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->n_life; i++) {
        if (!lives_at_peak(l, &l->life[i]))
            continue;
        if (row)
            row[n] = (struct oc_memory_row){l, &l->life[i]};
        n++;
    }
    return n;
}

static int memory_report_larger(const void *a, const void *b)
{
    const struct oc_memory_row *x = a, *y = b;
    if (x->life->bytes != y->life->bytes)
        return x->life->bytes < y->life->bytes ? 1 : -1;
    if (x->life->first != y->life->first)
        return x->life->first < y->life->first ? -1 : 1;
    return (x->life->value > y->life->value) - (x->life->value < y->life->value);
}

static void live_rows(struct oc_memory *m)
{
    uint32_t n = add_live(m->lives, NULL);
    for (uint32_t i = 0; i < m->n_body; i++)
        n += add_live(m->body[i], NULL);
    struct oc_memory_row *row = OC_NEW_ARRAY(&m->arena, n, struct oc_memory_row);
    m->row = row;
    m->n_row = n;
    row += add_live(m->lives, row);
    for (uint32_t i = 0; i < m->n_body; i++)
        row += add_live(m->body[i], row);
    if (n)
        qsort(row - n, n, sizeof(*row), memory_report_larger);
}

struct full {
    uint64_t live;
    uint32_t step;
};

static int fuller(const void *a, const void *b)
{
    const struct full *x = a, *y = b;
    if (x->live != y->live)
        return x->live < y->live ? 1 : -1;
    return (x->step > y->step) - (x->step < y->step);
}

static void order_steps(struct oc_memory *m)
{
    uint32_t n = m->lives->n_step, *step = OC_NEW_ARRAY(&m->arena, n, uint32_t);
    struct full *full = oc_xmalloc(((size_t)n + 1) * sizeof(*full));
    for (uint32_t i = 0; i < n; i++)
        full[i] = (struct full){m->lives->live[i], i};
    if (n)
        qsort(full, n, sizeof(*full), fuller);
    for (uint32_t i = 0; i < n; i++)
        step[i] = full[i].step;
    free(full);
    m->step = step;
}

/* Need before sizes are bound. NULL: unknown. */
static struct oc_analysis *open_shapes(const struct oc_memory *m)
{
    const struct oc_analyze_opts o = {.no_defaults = true, .no_fold = true, .rules = m->a->counting.rules};
    struct oc_analysis *a = NULL;
    struct oc_err err;
    return oc_analyze(m->a->model, &o, &a, &err) ? NULL : a;
}

static struct oc_ort_run first_run(const struct oc_memory *m, const struct oc_lives *l)
{
    struct oc_analysis *open = open_shapes(m);
    struct oc_ort_run run = oc_ort_first_run(l, open);
    oc_analysis_free(open);
    return run;
}

/* Models without node names give no information. */
static bool is_other_graph(const struct oc_model *m, const struct oc_prof_memory *p)
{
    bool requested = false, in_use = false;
    for (uint32_t i = 0; i < m->n_node; i++) {
        const char *name = m->node[i].name;
        if (!*name)
            return false;
        requested |= strcmp(name, p->requested_at) == 0;
        in_use |= strcmp(name, p->in_use_at) == 0;
    }
    return !requested || !in_use;
}

static void memory_report_compare(struct oc_memory *m)
{
    const struct oc_profile *p = m->o.profile;
    if (!p || !p->memory.known)
        return;
    struct oc_lives_opts o = runtime_opts(m->a);
    struct oc_lives *l = oc_lives_make(m->a, 0, &o);
    m->measured = (struct oc_memory_measured){.seen = &p->memory,
                                              .ours = first_run(m, l),
                                              .quality = l->quality,
                                              .other_graph = is_other_graph(m->a->model, &p->memory)};
    oc_lives_free(l);
}

static int check_profile(const struct oc_memory *m, struct oc_err *err)
{
    const struct oc_profile *p = m->o.profile;
    if (p && !p->memory.known)
        return oc_fail(err, OC_EUNSUPPORTED,
                       "the profile '%s' has no memory statistics (ONNX Runtime 1.28 or later records them)",
                       p->path);
    return 0;
}

int oc_memory_make(const struct oc_analysis *analysis, const struct oc_memory_opts *opts,
                   struct oc_memory **out, struct oc_err *err)
{
    OC_C_LOCALE;
    struct oc_memory *m = oc_xmalloc(sizeof(*m));
    *m = (struct oc_memory){.a = analysis, .o = *opts};
    struct oc_lives_opts o = opts->as_onnxruntime ? runtime_opts(analysis) : oc_lives_opts_of(analysis);
    m->lives = oc_lives_make(analysis, 0, &o);
    m->quality = m->lives->quality;
    if (!oc_add_u64(analysis->total.const_bytes, m->lives->peak, &m->footprint))
        m->quality = OC_UNKNOWN;
    find_bodies(m);
    live_rows(m);
    order_steps(m);
    if (opts->as_onnxruntime)
        m->run = first_run(m, m->lives);
    if (check_profile(m, err) || oc_memory_find_fit(m, err)) {
        oc_memory_free(m);
        return -1;
    }
    memory_report_compare(m);
    *out = m;
    return 0;
}

void oc_memory_free(struct oc_memory *m)
{
    if (!m)
        return;
    oc_lives_free(m->lives);
    for (uint32_t i = 0; i < m->n_body; i++)
        oc_lives_free(m->body[i]);
    free(m->body);
    oc_arena_free(&m->arena);
    free(m);
}

struct oc_memory_info oc_memory_info(const struct oc_memory *m)
{
    const struct oc_lives *l = m->lives;
    const char *name = l->n_step ? m->a->model->node[l->step[l->peak_step]].name : "";
    return (struct oc_memory_info){.const_bytes = m->a->total.const_bytes,
                                   .peak_bytes = l->peak,
                                   .lower_bytes = l->lower,
                                   .peak_node = *name ? name : NULL,
                                   .footprint_bytes = m->footprint,
                                   .quality = (enum oc_quality)m->quality,
                                   .fits = m->fit.fits,
                                   .capacity_bytes = m->fit.capacity,
                                   .batch = m->fit.batch,
                                   .largest_batch = m->fit.largest,
                                   .batch_bounded = m->fit.bounded};
}

static const char *memory_report_label(const struct oc_memory_row *r, uint32_t step, struct oc_arena *arena)
{
    return oc_printf(arena, "%u %s", step + 1, r->lives->a->model->node[r->lives->step[step]].op_type);
}

const char *oc_memory_born(const struct oc_memory_row *r, struct oc_arena *arena)
{
    return r->life->input || !r->lives->n_step ? "start" : memory_report_label(r, r->life->first, arena);
}

const char *oc_memory_dies(const struct oc_memory_row *r, struct oc_arena *arena)
{
    return r->life->output || !r->lives->n_step ? "end" : memory_report_label(r, r->life->last, arena);
}
