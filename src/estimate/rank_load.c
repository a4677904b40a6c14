/* The load of a model as a function of the batch: few analyses, and straight lines between them. */
#include "estimate/rank_devices.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define MOST_PARTS    20000000u /* total number of counts stored */
#define LAW_ANALYSES  48        /* share used for straight lines */
#define MOST_ANALYSES 600
#define MOST_NODES    10000000u /* nodes analysed, in total */
#define MANY_LOOKED   300000u   /* nodes inferred for one analysis */
#define MOST_ITEMS    200000u   /* items stored in all loads */

/* The counts of struct oc_work as an array. */
enum { WORDS = offsetof(struct oc_work, unknown) / sizeof(uint64_t) };

struct part {
    uint64_t slot, v;
};

struct snap { /* one analysis: the non-zero counts of each node */
    int64_t batch;
    struct part *part;
    uint32_t n_part, cap_part;
    uint32_t *first;   /* by node, plus the end */
    uint8_t *op_class; /* by node; OC_OP_CLASS_COUNT: not launched or unknown */
    struct oc_rank_load total;
};

struct line { /* interpolated counts between two analysed batches */
    const struct snap *lo, *hi;
};

struct oc_rank_loads {
    const struct oc_model *m;
    const struct oc_recast *as;   /* NULL: not requested */
    struct oc_analysis *analysis; /* the first one */
    struct oc_analysis *latest;   /* last requested; NULL */
    int64_t latest_batch;
    struct oc_arena arena;
    struct oc_batch_opts batch;
    const char *symbol;
    int64_t base; /* batch of the first analysis */
    struct snap **snap;
    uint32_t n_snap, cap_snap;
    struct line *line;
    uint32_t n_line, cap_line;
    struct oc_rank_load **load; /* requested batches */
    uint32_t n_load, cap_load;
    uint64_t n_item;
    unsigned analyses;
};

/* ---- one analysis ----------------------------------------------------------------------------------- */

static void take_work(struct snap *s, const struct oc_work *w)
{
    uint64_t word[WORDS];
    memcpy(word, w, sizeof(word));
    for (uint64_t i = 0; i < WORDS; i++) {
        if (!word[i])
            continue;
        OC_GROW(s->part, s->n_part, s->cap_part);
        s->part[s->n_part++] = (struct part){i, word[i]};
    }
}

/* Converts to another type, if requested. */
static struct oc_work rank_load_work_of(const struct oc_analysis *a, uint32_t node,
                                        const struct oc_recast *as)
{
    struct oc_work w = {0};
    oc_work_add(&w, &a->cost[node]);
    if (!as || w.unknown)
        return w;
    struct oc_recasting sum = {0};
    oc_recast_add(as, a, &node, 1, &sum);
    oc_recast_finish(&sum, &w);
    return w;
}

static void rank_load_take_node(struct snap *s, uint32_t node, const struct oc_analysis *a,
                                const struct oc_recast *as)
{
    struct oc_work w = rank_load_work_of(a, node, as);
    s->first[node] = s->n_part;
    s->op_class[node] = OC_OP_CLASS_COUNT;
    if (w.unknown) {
        s->total.unknown_nodes++;
        return;
    }
    uint32_t before = s->n_part;
    take_work(s, &w);
    if (s->n_part > before)
        s->op_class[node] = a->cost[node].op_class;
}

static void snap_free(struct snap *s)
{
    if (!s)
        return;
    free(s->part);
    free(s->first);
    free(s->op_class);
    free(s);
}

static struct snap *snap_of(const struct oc_analysis *a, int64_t batch, const struct oc_recast *as)
{
    uint32_t n = a->model->n_node;
    struct snap *s = oc_xmalloc(sizeof(*s));
    *s = (struct snap){
        .batch = batch, .first = oc_xmalloc((n + 1) * sizeof(uint32_t)), .op_class = oc_xmalloc(n + 1)};
    for (uint32_t i = 0; i < n; i++)
        rank_load_take_node(s, i, a, as);
    s->first[n] = s->n_part;
    s->total.batch = batch;
    s->total.estimated_nodes = a->total->estimated_nodes;
    s->total.const_bytes = a->total->const_bytes;
    s->total.peak_bytes = a->peak.bytes;
    s->total.quality = (uint8_t)a->total->quality;
    s->total.peak_quality = a->peak.quality;
    return s;
}

/* Fewer for large models, and for those whose loops and open dimensions take many tries. */
static unsigned most_analyses(const struct oc_rank_loads *l)
{
    uint32_t n = MOST_NODES / (l->m->n_node + 1);
    uint64_t few = (uint64_t)MANY_LOOKED * 5 / (l->analysis->looked + 1);
    if (l->analysis->looked > MANY_LOOKED && l->analysis->looked / 8 > l->m->n_node)
        return few < 3 ? 3 : (unsigned)few;
    return n > MOST_ANALYSES ? MOST_ANALYSES : n < LAW_ANALYSES / 2 ? LAW_ANALYSES / 2 : n;
}

static struct oc_analysis *analyse(struct oc_rank_loads *l, int64_t batch, struct oc_err *err)
{
    struct oc_analysis *a;
    unsigned most = most_analyses(l);
    if (l->analyses >= most) {
        oc_fail(err, OC_ELIMIT, "more than %u analyses: the counts are not linear in the batch", most);
        return NULL;
    }
    oc_batch_opts_set(&l->batch, batch);
    l->analyses++;
    return oc_analyze(l->m, &l->batch.opts, &a, err) ? NULL : a;
}

static struct snap *snap_at(struct oc_rank_loads *l, int64_t batch, struct oc_err *err)
{
    struct oc_analysis *a = analyse(l, batch, err);
    struct snap *s = a ? snap_of(a, batch, l->as) : NULL;
    oc_analysis_free(a);
    return s;
}

const struct oc_analysis *oc_rank_analysis_at(struct oc_rank_loads *l, int64_t batch, struct oc_err *err)
{
    if (batch == l->base)
        return l->analysis;
    if (l->latest && l->latest_batch == batch)
        return l->latest;
    oc_analysis_free(l->latest);
    l->latest = analyse(l, batch, err);
    l->latest_batch = batch;
    return l->latest;
}

static const struct snap *store_snap(struct oc_rank_loads *l, struct snap *s)
{
    if (!s)
        return NULL;
    OC_GROW(l->snap, l->n_snap, l->cap_snap);
    l->snap[l->n_snap++] = s;
    return s;
}

static const struct snap *known_snap(const struct oc_rank_loads *l, int64_t batch)
{
    for (uint32_t i = 0; i < l->n_snap; i++)
        if (l->snap[i]->batch == batch)
            return l->snap[i];
    return NULL;
}

static const struct snap *get_snap(struct oc_rank_loads *l, int64_t batch)
{
    struct oc_err unused;
    const struct snap *s = known_snap(l, batch);
    return s ? s : store_snap(l, snap_at(l, batch, &unused));
}

/* ---- straight lines --------------------------------------------------------------------------------- */

/* The value at n of the line through (x0, a) and (x1, b); false: not an integer, or decreasing. */
static bool on_line(uint64_t a, uint64_t b, int64_t x0, int64_t x1, int64_t n, uint64_t *out)
{
    uint64_t run = (uint64_t)(x1 - x0);
    if (b < a || (b - a) % run)
        return false;
    *out = a + (b - a) / run * (uint64_t)(n - x0);
    return true;
}

static bool totals_on_line(const struct oc_rank_load *a, const struct oc_rank_load *m,
                           const struct oc_rank_load *b)
{
    uint64_t v;
    return a->unknown_nodes == b->unknown_nodes && a->unknown_nodes == m->unknown_nodes &&
           a->const_bytes == b->const_bytes && a->const_bytes == m->const_bytes && a->quality == b->quality &&
           a->quality == m->quality && a->peak_quality == b->peak_quality &&
           a->peak_quality == m->peak_quality &&
           on_line(a->peak_bytes, b->peak_bytes, a->batch, b->batch, m->batch, &v) && v == m->peak_bytes;
}

/* Whether the three analyses have the same nodes and counts, and each count of the second one is on the line
 * between the others. */
static bool is_line(const struct oc_rank_loads *l, const struct snap *a, const struct snap *m,
                    const struct snap *b)
{
    uint32_t n = l->m->n_node;
    uint64_t v;
    if (!totals_on_line(&a->total, &m->total, &b->total) ||
        memcmp(a->first, b->first, (n + 1) * sizeof(*a->first)) != 0 ||
        memcmp(a->first, m->first, (n + 1) * sizeof(*a->first)) != 0 ||
        memcmp(a->op_class, b->op_class, n) != 0 || memcmp(a->op_class, m->op_class, n) != 0)
        return false;
    for (uint32_t i = 0; i < a->n_part; i++)
        if (a->part[i].slot != b->part[i].slot || a->part[i].slot != m->part[i].slot ||
            !on_line(a->part[i].v, b->part[i].v, a->batch, b->batch, m->batch, &v) || v != m->part[i].v)
            return false;
    return true;
}

static bool may_look_on(const struct oc_rank_loads *l)
{
    uint64_t parts = 0;
    for (uint32_t i = 0; i < l->n_snap; i++)
        parts += l->snap[i]->n_part + l->m->n_node;
    return l->analyses < LAW_ANALYSES && parts < MOST_PARTS;
}

/* Bisects ranges that are not linear, on a logarithmic scale. */
static void rank_load_find_lines(struct oc_rank_loads *l, const struct snap *lo, const struct snap *hi)
{
    int64_t middle = (int64_t)sqrt((double)lo->batch * (double)hi->batch);
    middle = middle <= lo->batch ? lo->batch + 1 : middle;
    if (middle >= hi->batch || !may_look_on(l))
        return;
    const struct snap *m = get_snap(l, middle);
    if (!m)
        return;
    if (is_line(l, lo, m, hi)) {
        OC_GROW(l->line, l->n_line, l->cap_line);
        l->line[l->n_line++] = (struct line){lo, hi};
        return;
    }
    rank_load_find_lines(l, lo, m);
    rank_load_find_lines(l, m, hi);
}

/* At most as many unknowns as at the first batch. */
static const struct snap *get_known(struct oc_rank_loads *l, int64_t batch)
{
    const struct snap *s = get_snap(l, batch);
    return s && s->total.unknown_nodes <= l->snap[0]->total.unknown_nodes ? s : NULL;
}

int64_t oc_rank_loads_span(struct oc_rank_loads *l, int64_t most)
{
    const struct snap *lo = l->symbol ? get_known(l, 1) : NULL, *hi = NULL;
    if (!lo)
        return 0;
    for (; most > 1 && !hi; most /= 2)
        hi = get_known(l, most);
    if (hi)
        rank_load_find_lines(l, lo, hi);
    return hi ? hi->batch : 1;
}

/* ---- loads ------------------------------------------------------------------------------------------ */

/* Counts of a batch between lo and hi; of lo itself without hi. */
static void part_at(const struct snap *lo, const struct snap *hi, int64_t batch, uint32_t i, struct part *out)
{
    *out = lo->part[i];
    if (hi)
        on_line(lo->part[i].v, hi->part[i].v, lo->batch, hi->batch, batch, &out->v);
}

struct merge { /* equal nodes are merged to one item */
    struct oc_arena arena;
    struct oc_map seen;
    struct oc_rank_item *item;
    uint32_t n, cap;
};

struct merge_key {
    uint64_t op_class;
    struct part part[WORDS];
};

static void merge_node(struct merge *g, const struct merge_key *key, uint32_t n_part)
{
    uint32_t at = g->n;
    size_t bytes = offsetof(struct merge_key, part) + n_part * sizeof(struct part);
    if (oc_map_add(&g->seen, (const char *)key, bytes, &at, NULL)) {
        uint64_t word[WORDS] = {0};
        for (uint32_t i = 0; i < n_part; i++)
            word[key->part[i].slot] = key->part[i].v;
        OC_GROW(g->item, g->n, g->cap);
        g->item[g->n] = (struct oc_rank_item){.op_class = (uint8_t)key->op_class};
        memcpy(&g->item[g->n++].work, word, sizeof(word));
    }
    g->item[at].count++;
}

static void sum_up(struct oc_rank_load *load)
{
    double weights = 0;
    for (uint32_t i = 0; i < load->n_item; i++) {
        const struct oc_rank_item *k = &load->item[i];
        double ops = oc_work_operations(&k->work) * (double)k->count;
        load->operations += ops;
        load->class_operations[k->op_class] += ops;
        load->class_nodes[k->op_class] += k->work.launches ? k->count : 0;
        weights += (double)k->work.weight_bytes * (double)k->count;
    }
    bool all = weights >= (double)load->const_bytes; /* some may be read several times */
    load->read_constants = all ? load->const_bytes : (uint64_t)weights;
}

static struct oc_rank_load *load_of(const struct oc_rank_loads *l, const struct snap *lo,
                                    const struct snap *hi, int64_t batch)
{
    struct merge g = {.seen.arena = &g.arena};
    for (uint32_t i = 0; i < l->m->n_node; i++) {
        uint32_t first = lo->first[i], n = lo->first[i + 1] - first;
        struct merge_key key = {.op_class = lo->op_class[i]};
        if (lo->op_class[i] == OC_OP_CLASS_COUNT)
            continue;
        for (uint32_t k = 0; k < n; k++)
            part_at(lo, hi, batch, first + k, &key.part[k]);
        merge_node(&g, &key, n);
    }
    oc_map_free(&g.seen);
    oc_arena_free(&g.arena);
    struct oc_rank_load *load = oc_xmalloc(sizeof(*load));
    *load = lo->total;
    load->batch = batch;
    load->item = g.item;
    load->n_item = g.n;
    if (hi)
        on_line(lo->total.peak_bytes, hi->total.peak_bytes, lo->batch, hi->batch, batch, &load->peak_bytes);
    sum_up(load);
    return load;
}

static void forget_loads(struct oc_rank_loads *l)
{
    for (uint32_t i = 0; i < l->n_load; i++) {
        free((struct oc_rank_item *)l->load[i]->item);
        free(l->load[i]);
    }
    l->n_load = 0;
    l->n_item = 0;
}

static const struct oc_rank_load *store_load(struct oc_rank_loads *l, struct oc_rank_load *load)
{
    if (l->n_item + load->n_item > MOST_ITEMS)
        forget_loads(l);
    OC_GROW(l->load, l->n_load, l->cap_load);
    l->load[l->n_load++] = load;
    l->n_item += load->n_item;
    return load;
}

static const struct line *rank_load_line_at(const struct oc_rank_loads *l, int64_t batch)
{
    for (uint32_t i = 0; i < l->n_line; i++)
        if (l->line[i].lo->batch <= batch && batch <= l->line[i].hi->batch)
            return &l->line[i];
    return NULL;
}

const struct oc_rank_load *oc_rank_load_at(struct oc_rank_loads *l, int64_t batch, struct oc_err *err)
{
    for (uint32_t i = l->n_load; i-- > 0;)
        if (l->load[i]->batch == batch)
            return l->load[i];
    const struct snap *s = known_snap(l, batch);
    const struct line *line = s ? NULL : rank_load_line_at(l, batch);
    if (s)
        return store_load(l, load_of(l, s, NULL, batch));
    if (line)
        return store_load(l, load_of(l, line->lo, line->hi, batch));
    struct snap *own = snap_at(l, batch, err);
    if (!own)
        return NULL;
    struct oc_rank_load *load = load_of(l, own, NULL, batch);
    snap_free(own);
    return store_load(l, load);
}

/* ---- public functions ------------------------------------------------------------------------------- */

int oc_rank_loads_make(const struct oc_model *m, const struct oc_analyze_opts *opts,
                       const struct oc_recast *as, const char *symbol, struct oc_rank_loads **out,
                       struct oc_err *err)
{
    struct oc_analysis *a;
    *out = NULL;
    if (oc_analyze(m, opts, &a, err))
        return -1;
    struct oc_rank_loads *l = oc_xmalloc(sizeof(*l));
    *l = (struct oc_rank_loads){.m = m, .as = as, .symbol = symbol, .base = 1, .analyses = 1};
    if (symbol) {
        int64_t now = oc_batch_now(a, symbol);
        oc_batch_opts_init(&l->batch, &l->arena, m, opts, symbol);
        l->base = now;
    }
    store_snap(l, snap_of(a, l->base, as));
    l->analysis = a;
    *out = l;
    return 0;
}

void oc_rank_loads_free(struct oc_rank_loads *l)
{
    if (!l)
        return;
    forget_loads(l);
    oc_analysis_free(l->analysis);
    oc_analysis_free(l->latest);
    for (uint32_t i = 0; i < l->n_snap; i++)
        snap_free(l->snap[i]);
    free(l->load);
    free(l->snap);
    free(l->line);
    oc_arena_free(&l->arena);
    free(l);
}

const struct oc_analysis *oc_rank_loads_first(const struct oc_rank_loads *l)
{
    return l->analysis;
}

int64_t oc_rank_loads_batch(const struct oc_rank_loads *l)
{
    return l->base;
}

unsigned oc_rank_loads_analyses(const struct oc_rank_loads *l)
{
    return l->analyses;
}
