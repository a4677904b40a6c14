/* The memory report: live set at the peak, ONNX Runtime's run, fit, largest batch; and the memory of every
 * node, as a file for ONNX Runtime. */
#include "memory/memory_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/closed_form.h"
#include "base/arena.h"
#include "base/c_locale.h"
#include "base/ck.h"
#include "base/map.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"

/* Liveness as ONNX Runtime's CPU provider runs the model without optimizations. */
static struct oc_liveness_opts memory_runtime_opts(const struct oc_analysis *a)
{
    return (struct oc_liveness_opts){.all = true,
                                     .without_inputs = true,
                                     .order = OC_ORDER_ORT,
                                     .kv_share = (uint8_t)a->counting->kv_share};
}

/* Subgraphs that run at the peak, from the outermost to the innermost. */
static void find_bodies(struct oc_memory *m)
{
    const struct oc_liveness *l = m->liveness;
    struct oc_liveness_maker *bodies = NULL;
    while (l && l->n_step && l->inner[l->peak_step]) {
        bodies = bodies ? bodies : oc_liveness_maker_new(m->a, &m->liveness->opts);
        struct oc_liveness *body = oc_liveness_of_largest(bodies, l->step[l->peak_step]);
        if (body)
            OC_PUSH(m->body, m->n_body, m->cap_body) = body;
        l = body;
    }
    if (bodies)
        oc_liveness_maker_free(bodies);
}

static bool liveness_at_peak(const struct oc_liveness *l, const struct oc_life *x)
{
    return l->n_step && x->bytes && x->first <= l->peak_step && x->last >= l->peak_step;
}

static uint32_t add_live(const struct oc_liveness *l, struct oc_memory_row *row)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->n_life; i++) {
        if (!liveness_at_peak(l, &l->life[i]))
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
    uint32_t n = add_live(m->liveness, NULL);
    for (uint32_t i = 0; i < m->n_body; i++)
        n += add_live(m->body[i], NULL);
    struct oc_memory_row *row = OC_NEW_ARRAY(&m->arena, n, struct oc_memory_row);
    m->row = row;
    m->n_row = n;
    row += add_live(m->liveness, row);
    for (uint32_t i = 0; i < m->n_body; i++)
        row += add_live(m->body[i], row);
    if (n)
        qsort(row - n, n, sizeof(*row), memory_report_larger);
}

struct full {
    uint64_t live;
    uint32_t step;
};

OC_BY_LARGEST(fuller, struct full, live, step)

static void order_steps(struct oc_memory *m)
{
    uint32_t n = m->liveness->n_step, *step = OC_NEW_ARRAY(&m->arena, n, uint32_t);
    struct full *full = oc_xmalloc(((size_t)n + 1) * sizeof(*full));
    for (uint32_t i = 0; i < n; i++)
        full[i] = (struct full){m->liveness->live[i], i};
    if (n)
        qsort(full, n, sizeof(*full), fuller);
    for (uint32_t i = 0; i < n; i++)
        step[i] = full[i].step;
    free(full);
    m->step = step;
}

/* The same model before sizes are bound: shapes that the runtime's planner has. NULL: unknown. */
static struct oc_analysis *memory_open_shapes(const struct oc_analysis *bound)
{
    return oc_ort_analyze(bound->model, bound->counting->rules);
}

static struct oc_ort_run first_run(const struct oc_memory *m, const struct oc_liveness *l)
{
    struct oc_analysis *open = memory_open_shapes(m->ort);
    struct oc_ort_run run = oc_ort_first_run(l, open);
    oc_analysis_free(open);
    if (!run.estimate && m->graph && !m->own)
        run.estimate = "the runtime copies DequantizeLinear nodes with several readers";
    return run;
}

/* The graph that ONNX Runtime runs, analyzed with the options of the model's analysis; without them, the model. */
static int analyze_runtime(struct oc_memory *m, struct oc_err *err)
{
    const struct oc_profile *p = m->o.profile;
    m->ort = m->a;
    if (!m->o.as_onnxruntime && !(p && p->memory.known))
        return 0;
    struct oc_liveness_opts o = memory_runtime_opts(m->a);
    struct oc_liveness *l = oc_liveness_make(m->a, 0, &o);
    m->graph = oc_ort_graph_make(m->a->model, l->step, l->n_step);
    oc_liveness_free(l);
    if (!m->graph || !m->o.analyze)
        return 0;
    if (oc_analyze(&m->graph->model, m->o.analyze, &m->own, err))
        return -1;
    m->ort = m->own;
    return 0;
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

/* By node: its place in the recorded run. Names that several nodes or records have give none. */
static uint32_t *recorded_places(const struct oc_model *m, const struct oc_prof_memory *p)
{
    uint32_t *place = oc_xmalloc(((size_t)m->n_node + 1) * sizeof(*place));
    struct oc_arena scratch = {0};
    struct oc_map names = {.arena = &scratch};
    memset(place, 0xff, ((size_t)m->n_node + 1) * sizeof(*place));
    for (uint32_t i = 0; i < m->n_node; i++) {
        uint32_t node = i;
        if (!oc_map_add_kept(&names, m->node[i].name, strlen(m->node[i].name), &node))
            oc_map_set(&names, m->node[i].name, strlen(m->node[i].name), OC_NONE);
    }
    for (uint32_t k = 0; k < p->n_ran; k++) {
        uint32_t node = oc_map_get(&names, p->ran[k].name, strlen(p->ran[k].name));
        if (node != OC_NONE && place[node] == OC_NONE)
            place[node] = k;
    }
    oc_map_free(&names);
    oc_arena_free(&scratch);
    return place;
}

/* Strings and sequences are not compared. */
static bool has_recorded_size(const struct oc_analysis *a, const struct oc_node *n, uint64_t recorded)
{
    uint64_t sum = 0, bytes;
    for (uint32_t k = 0; k < n->n_out; k++) {
        const struct oc_type *t = n->out[k] == OC_NONE ? NULL : &a->type[n->out[k]];
        if (t && (t->kind != OC_T_TENSOR || t->dtype == OC_DT_STRING || !oc_type_bytes(t, &bytes) ||
                  !oc_add_u64(sum, bytes, &sum)))
            return true;
    }
    return recorded == UINT64_MAX || recorded == sum;
}

/* Why the recorded run is not that of these steps, by names, types and sizes; NULL: it is. */
static const char *other_run(const struct oc_liveness *l, const struct oc_prof_memory *p)
{
    bool same = p->n_ran == l->n_step, sizes = true;
    for (uint32_t i = 0; i < l->n_step && same; i++) {
        const struct oc_node *n = &l->a->model->node[l->step[i]];
        same =
            strcmp(n->op_type, p->ran[i].op_type) == 0 && (!*n->name || strcmp(n->name, p->ran[i].name) == 0);
        sizes &= has_recorded_size(l->a, n, p->ran[i].out_bytes);
    }
    if (!same)
        return "the recorded nodes are not those of the model, or in another order";
    return sizes ? NULL : "recorded tensors have other sizes than those of the model";
}

static void memory_report_compare(struct oc_memory *m)
{
    const struct oc_profile *p = m->o.profile;
    if (!p || !p->memory.known)
        return;
    struct oc_liveness_opts o = memory_runtime_opts(m->ort);
    uint32_t *place = recorded_places(m->ort->model, &p->memory);
    o.place = place;
    struct oc_liveness *l = oc_liveness_make(m->ort, 0, &o);
    struct oc_memory_measured *c = &m->measured;
    *c = (struct oc_memory_measured){.seen = &p->memory,
                                     .ours = first_run(m, l),
                                     .quality = l->quality,
                                     .other_graph = is_other_graph(m->ort->model, &p->memory)};
    if (c->other_graph)
        c->ours.estimate = "the runtime optimized the graph";
    else if (!c->ours.estimate)
        c->ours.estimate = other_run(l, &p->memory);
    oc_liveness_free(l);
    free(place);
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

/* ---- whether the model fits, and the largest batch that does ---------------------------------------- */

#define MOST_BATCH ((int64_t)1 << 40)

struct search {
    struct oc_memory *m;
    struct oc_batch_opts batch;
    uint64_t needs; /* need of the largest size that fits */
};

/* Sizes that the model rejects do not fit. */
static bool memory_fits_at(struct search *s, int64_t batch)
{
    struct oc_analysis *a = NULL;
    struct oc_err err;
    uint64_t needs;
    oc_batch_opts_set(&s->batch, batch);
    s->m->fit.analyses++;
    if (oc_analyze(s->m->a->model, &s->batch.opts, &a, &err))
        return false;
    struct oc_liveness_opts o = s->m->liveness->opts;
    struct oc_liveness *l = oc_liveness_make(a, 0, &o);
    bool fits = oc_add_u64(a->total->const_bytes, l->peak, &needs) &&
                oc_fits_in(needs, l->quality, s->m->fit.capacity) == OC_FITS_YES;
    if (fits)
        s->needs = needs;
    oc_liveness_free(l);
    oc_analysis_free(a);
    return fits;
}

/* Batch at which the line through the needs at 1 and 2 reaches the capacity; 0: never. */
static int64_t memory_guess(const struct search *s, uint64_t one, uint64_t two)
{
    uint64_t left = s->m->fit.capacity - one;
    if (two <= one || left / (two - one) >= (uint64_t)MOST_BATCH)
        return 0;
    return 1 + (int64_t)(left / (two - one));
}

/* Finds the largest batch that fits: memory grows nearly linearly with the batch; extrapolates to a first
 * size that does not fit, then bisects. */
static void memory_largest(struct search *s)
{
    struct oc_memory_fit *f = &s->m->fit;
    int64_t low = 0, high = 1, step = 1;
    uint64_t one = 0;
    while (high <= MOST_BATCH && memory_fits_at(s, high)) {
        int64_t line = high == 2 ? memory_guess(s, one, s->needs) : 0;
        one = high == 1 ? s->needs : one;
        low = high;
        high = line > 2 ? line : low + step;
        step *= low > 2 ? 2 : 1;
    }
    f->bounded = high > MOST_BATCH;
    while (!f->bounded && high - low > 1) {
        int64_t mid = low + (high - low) / 2;
        *(memory_fits_at(s, mid) ? &low : &high) = mid;
    }
    f->largest = low;
    f->largest_needs = s->needs;
}

static void find_largest(struct oc_memory *m)
{
    const char *name = m->o.analyze ? oc_batch_symbol(m->a->model) : NULL;
    if (!name || m->quality == OC_UNKNOWN)
        return;
    struct search s = {.m = m};
    oc_batch_opts_init(&s.batch, &m->arena, m->a->model, m->o.analyze, name);
    m->fit.batch = name;
    m->fit.now = oc_batch_now(m->a, name);
    memory_largest(&s);
}

static int find_fit(struct oc_memory *m, struct oc_err *err)
{
    const struct oc_device *d = m->o.device;
    const struct oc_hw_level *dram = d ? oc_device_dram(d) : NULL;
    if (!d)
        return 0;
    if (!dram || !dram->size)
        return oc_fail(err, OC_EUNSUPPORTED, "the hardware file has no memory size for '%s'", d->info->id);
    m->fit = (struct oc_memory_fit){.device = d, .size = dram->size, .capacity = (uint64_t)dram->size->value};
    m->fit.fits = oc_fits_in(m->footprint, m->quality, m->fit.capacity);
    find_largest(m);
    return 0;
}

/* ---- the report ------------------------------------------------------------------------------------- */

static struct oc_memory_info memory_info_of(const struct oc_memory *m)
{
    const struct oc_liveness *l = m->liveness;
    const char *name = l->n_step ? m->a->model->node[l->step[l->peak_step]].name : "";
    return (struct oc_memory_info){.const_bytes = m->a->total->const_bytes,
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

int oc_memory_make(const struct oc_analysis *analysis, const struct oc_memory_opts *given,
                   struct oc_memory **out, struct oc_err *err)
{
    OC_ENTRY(err);
    *out = NULL;
    struct oc_memory_opts full, *const opts = &full;
    struct oc_analyze_opts analyze;
    if (OC_OPTIONS(&full, given, err) || OC_OPTIONS(&analyze, full.analyze, err))
        return -1;
    full.analyze = full.analyze ? &analyze : NULL;
    struct oc_memory *m = oc_xmalloc(sizeof(*m));
    *m = (struct oc_memory){.a = analysis, .o = full};
    if (analyze_runtime(m, err)) {
        oc_memory_free(m);
        return -1;
    }
    m->a = opts->as_onnxruntime ? m->ort : analysis;
    struct oc_liveness_opts o = opts->as_onnxruntime ? memory_runtime_opts(m->a) : oc_liveness_opts_of(m->a);
    m->liveness = oc_liveness_make(m->a, 0, &o);
    m->quality = m->liveness->quality;
    if (!oc_add_u64(analysis->total->const_bytes, m->liveness->peak, &m->footprint))
        m->quality = OC_UNKNOWN;
    find_bodies(m);
    live_rows(m);
    order_steps(m);
    if (opts->as_onnxruntime)
        m->run = first_run(m, m->liveness);
    if (check_profile(m, err) || find_fit(m, err)) {
        oc_memory_free(m);
        return -1;
    }
    memory_report_compare(m);
    m->o.analyze = NULL; /* the copy is gone */
    m->info = memory_info_of(m);
    *out = m;
    return 0;
}

void oc_memory_free(struct oc_memory *m)
{
    if (!m)
        return;
    oc_liveness_free(m->liveness);
    for (uint32_t i = 0; i < m->n_body; i++)
        oc_liveness_free(m->body[i]);
    free(m->body);
    oc_analysis_free(m->own);
    oc_ort_graph_free(m->graph);
    oc_arena_free(&m->arena);
    free(m);
}

const struct oc_memory_info *oc_memory_info(const struct oc_memory *m)
{
    return &m->info;
}

static const char *memory_report_label(const struct oc_memory_row *r, uint32_t step, struct oc_arena *arena)
{
    return oc_printf(arena, "%u %s", step + 1, r->liveness->a->model->node[r->liveness->step[step]].op_type);
}

const char *oc_memory_born(const struct oc_memory_row *r, struct oc_arena *arena)
{
    return r->life->input || !r->liveness->n_step ? "start" : memory_report_label(r, r->life->first, arena);
}

const char *oc_memory_dies(const struct oc_memory_row *r, struct oc_arena *arena)
{
    return r->life->output || !r->liveness->n_step ? "end" : memory_report_label(r, r->life->last, arena);
}

/* ---- statistics of nodes ------------------------------------------------------------------------- */

/* Memory of every node for ONNX Runtime's capacity-aware partitioner, as NodeStatsRecorder of
 * core/framework/resource_accountant.cc writes it: a tensor counts once in a run, by its name. */

enum { ARENA_UNIT = 256 }; /* bytes to which the arena of ONNX Runtime rounds up */

struct node_stats {
    const struct oc_analysis *a;
    struct oc_liveness *liveness;
    struct oc_ort_shapes shapes;
    uint32_t *into; /* by buffer: the one whose memory it reuses (memory_report.h) */
    struct oc_map counted;
    struct oc_arena arena;
    struct oc_buf rows;
    struct oc_err *err;
};

/* ---- statistics of nodes: names ------------------------------------------------------------------ */

static uint32_t rotate(uint32_t x, unsigned by)
{
    return x << by | x >> (32 - by);
}

static uint32_t finalize(uint32_t h)
{
    h ^= h >> 16;
    h *= 0x85ebca6b;
    h ^= h >> 13;
    h *= 0xc2b2ae35;
    return h ^ h >> 16;
}

static const uint32_t hash_factor[4] = {0x239b961b, 0xab0e9789, 0x38b34ae5, 0xa1e38b93};

/* Mixes one of the four words of a block into the state. */
static uint32_t mix_word(uint32_t word, unsigned i)
{
    return rotate(word * hash_factor[i], 15 + i) * hash_factor[(i + 1) % 4];
}

static uint32_t little_word(const unsigned char *p, size_t n)
{
    uint32_t word = 0;
    for (size_t i = 0; i < n && i < 4; i++)
        word |= (uint32_t)p[i] << (8 * i);
    return word;
}

static void spread(uint32_t h[4])
{
    h[0] += h[1] + h[2] + h[3];
    for (unsigned i = 1; i < 4; i++)
        h[i] += h[0];
}

/* MurmurHash3_x86_128 (Austin Appleby, public domain), seeded with the first word of the last result. */
static void hash_name(uint32_t h[4], const char *name)
{
    static const uint32_t add[4] = {0x561ccd1b, 0x0bcaa747, 0x96cd1c35, 0x32ac3b17};
    static const unsigned turn[4] = {19, 17, 15, 13};
    const unsigned char *p = (const unsigned char *)name;
    size_t n = strlen(name), blocks = n / 16;
    h[1] = h[2] = h[3] = h[0];
    for (size_t b = 0; b < blocks; b++, p += 16)
        for (size_t i = 0; i < 4; i++) {
            h[i] ^= mix_word(little_word(p + 4 * i, 4), (unsigned)i);
            h[i] = (rotate(h[i], turn[i]) + h[(i + 1) % 4]) * 5 + add[i];
        }
    for (size_t i = 0; 4 * i < n % 16; i++)
        h[i] ^= mix_word(little_word(p + 4 * i, n % 16 - 4 * i), (unsigned)i);
    for (unsigned i = 0; i < 4; i++)
        h[i] ^= (uint32_t)n;
    spread(h);
    for (unsigned i = 0; i < 4; i++)
        h[i] = finalize(h[i]);
    spread(h);
}

static const char *value_name(const struct oc_model *m, uint32_t value)
{
    return value == OC_NONE ? "" : m->value[value].name;
}

/* MakeUniqueNodeName: the node's name, else its type, and a hash of the names of its tensors. */
static int print_name(struct node_stats *s, const struct oc_node *n)
{
    const struct oc_model *m = s->a->model;
    const char *name = *n->name ? n->name : n->op_type;
    uint32_t h[4] = {0};
    if (strpbrk(name, ",\r\n"))
        return oc_fail(s->err, OC_EARG,
                       "node '%.60s' has a comma or a line break in its name: ONNX Runtime cannot "
                       "read it: rename the node",
                       name);
    for (uint32_t i = 0; i < n->n_in; i++)
        hash_name(h, value_name(m, n->in[i]));
    for (uint32_t i = 0; i < n->n_out; i++)
        hash_name(h, value_name(m, n->out[i]));
    oc_buf_printf(&s->rows, "%s_%" PRIu64, name, h[0] | (uint64_t)h[1] << 32);
    return 0;
}

/* ---- statistics of nodes: bytes ------------------------------------------------------------------ */

/* Counts a tensor, in units of `unit` bytes, unless its name was counted before. */
static int count_value(struct node_stats *s, uint32_t value, uint64_t unit, uint64_t *sum)
{
    const char *name = s->a->model->value[value].name;
    const struct oc_type *t = &s->a->type[value];
    uint32_t one = 1;
    uint64_t bytes;
    if (t->kind != OC_T_TENSOR || !oc_map_add(&s->counted, name, strlen(name), &one, NULL))
        return 0;
    if (!oc_type_bytes(t, &bytes) || !oc_add_u64(bytes, unit - 1, &bytes) ||
        !oc_add_u64(*sum, bytes / unit * unit, sum))
        return oc_fail(s->err, OC_EARG, "the size of '%.60s' is unknown: give sizes with --dim or --shape",
                       name);
    return 0;
}

/* Whether the node allocates the output, and does not write it over another tensor. */
static bool allocates(const struct node_stats *s, uint32_t value)
{
    uint32_t i = oc_life_of(s->liveness, value);
    return i < s->liveness->n_life && s->into[i] == i && s->liveness->life[i].value == value;
}

static int node_row(struct node_stats *s, uint32_t node)
{
    const struct oc_node *n = &s->a->model->node[node];
    uint64_t inputs = 0, constants = 0, made = 0;
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint32_t v = n->in[i];
        if (v != OC_NONE && count_value(s, v, 1, s->a->is_const[v] ? &constants : &inputs))
            return -1;
    }
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i] != OC_NONE && allocates(s, n->out[i]) && count_value(s, n->out[i], ARENA_UNIT, &made))
            return -1;
    if (print_name(s, n))
        return -1;
    oc_buf_printf(&s->rows, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",0\n", inputs, constants, made);
    return 0;
}

int oc_node_stats_write(const struct oc_analysis *analysis, FILE *out, struct oc_err *err)
{
    OC_ENTRY(err);
    if (!analysis)
        return oc_fail(err, OC_EARG, "node statistics need an analysis");
    struct oc_liveness_opts o = memory_runtime_opts(analysis);
    struct oc_analysis *open = memory_open_shapes(analysis);
    struct node_stats s = {.a = analysis, .liveness = oc_liveness_make(analysis, 0, &o), .err = err};
    s.counted.arena = &s.arena;
    s.into = oc_xcalloc((size_t)s.liveness->n_life + 1, sizeof(*s.into));
    for (uint32_t i = 0; i < s.liveness->n_life; i++)
        s.into[i] = i;
    if (open) {
        oc_ort_shapes_init(&s.shapes, open);
        oc_ort_reuse(s.liveness, &s.shapes, s.into);
        oc_ort_shapes_free(&s.shapes);
    }
    oc_buf_str(&s.rows, "#name,input_sizes,initializers_sizes,total_dynamic_sizes,total_temp_allocations\n");
    int rc = 0;
    for (uint32_t i = 0; i < s.liveness->n_step && !rc; i++)
        rc = node_row(&s, s.liveness->step[i]);
    if (!rc)
        fwrite(s.rows.data, 1, s.rows.n, out);
    oc_buf_free(&s.rows);
    oc_map_free(&s.counted);
    oc_arena_free(&s.arena);
    free(s.into);
    oc_liveness_free(s.liveness);
    oc_analysis_free(open);
    return rc;
}
