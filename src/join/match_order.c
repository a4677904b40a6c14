/* Matching by type and order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "join/expansion.h"
#include "join/join.h"
#include "join/record_cost.h"

/* Matching by type and order, for runtimes that do not record node names. Records and nodes are sequences
 * in execution order; a weighted longest-common-subsequence alignment pairs equivalent types, maximises
 * the number of pairs, then the number of equal shapes. Products of one size are matched before it, if there
 * are as many records as nodes: compilers change the order of independent products of different sizes.
 *
 * score(i, j) = max(score(i - 1, j), score(i, j - 1), score(i - 1, j - 1) + pair(i, j)), computed by
 * dynamic programming in a diagonal strip as wide as MAX_CELLS allows, with two bits per cell for the
 * traceback. */
#define MAX_CELLS   ((size_t)1 << 26) /* 16 MiB of traceback bits: a third of 10,000 x 10,000 */
#define MAX_SEVERAL 4096              /* nodes of one record */
#define MAX_TRIES   ((size_t)1 << 28) /* limit on (records with several calls) x (nodes) */
#define PAIR        ((uint64_t)1 << 32)

enum way { STOP, UP, LEFT, DIAGONAL };

struct item {          /* a record or a node */
    uint32_t id, kind; /* of a record: index of its type set; of a node: index of its type */
    uint32_t in, out;  /* ids of its first shapes, OC_NONE unknown */
    uint64_t macs;     /* of a convolution or matrix product; 0: it is none, or not known exactly */
    uint32_t node;     /* of a record: matched before the alignment, OC_NONE */
};

struct sequence {
    struct item *item;
    size_t n, cap;
};

struct aligning {
    struct oc_matcher *x;
    struct oc_source_type *source; /* indexed by record; core NULL: not in the table */
    struct sequence rec, node;
    const char **set, **type; /* distinct sets */
    size_t n_set, set_cap, n_type, type_cap;
    struct oc_map sets, types, shapes;
    uint32_t n_shape;
    bool *fits;      /* matrix set x type */
    bool same_sizes; /* most products of the profile have the size of one of the model */
};

/* ---- ids of sets, types and shapes ------------------------------------------------------------------ */

static uint32_t number_of(struct oc_map *map, const char *text, const char ***list, size_t *n, size_t *cap)
{
    uint32_t at = (uint32_t)*n;
    if (oc_map_add(map, text, strlen(text), &at, NULL)) {
        OC_GROW(*list, *n, *cap);
        (*list)[(*n)++] = text;
    }
    return at;
}

static uint32_t shape_number(struct aligning *g, const struct oc_type *t)
{
    int64_t dim[OC_MAX_RANK + 1];
    if (!t || t->kind != OC_T_TENSOR || !oc_shape_known(&t->shape))
        return OC_NONE;
    dim[0] = t->shape.rank;
    for (unsigned i = 0; i < t->shape.rank; i++)
        dim[i + 1] = t->shape.dim[i].v;
    uint32_t at = g->n_shape;
    g->n_shape += oc_map_add(&g->shapes, (const char *)dim, (t->shape.rank + 1) * sizeof(*dim), &at, NULL);
    return at;
}

static uint32_t value_shape(struct aligning *g, const uint32_t *value, uint32_t n)
{
    return g->x->a && n && value[0] != OC_NONE ? shape_number(g, &g->x->a->type[value[0]]) : OC_NONE;
}

/* Score of two shapes: 2 equal, 1 unknown, 0 different. */
static unsigned agree(uint32_t a, uint32_t b)
{
    return a == OC_NONE || b == OC_NONE ? 1 : a == b ? 2 : 0;
}

static unsigned shapes_agree(const struct item *r, const struct item *n)
{
    return agree(r->out, n->out) + agree(r->in, n->in);
}

static bool may_pair(const struct aligning *g, const struct item *r, const struct item *n)
{
    return g->fits[r->kind * g->n_type + n->kind];
}

/* ---- sizes of products ------------------------------------------------------------------------------ */

static uint64_t macs_of_record(const struct aligning *g, uint32_t rec)
{
    struct oc_record_cost k;
    const struct oc_prof_rec *r = &g->x->p->rec[rec];
    if (!oc_type_set_has_product(g->source[rec].core) || round(r->calls_per_run) > 1)
        return 0;
    oc_record_cost(g->x->p, r, g->x->arena, NULL, &k);
    return k.quality == OC_EXACT ? k.macs : 0;
}

static uint64_t macs_of_node(const struct aligning *g, uint32_t node)
{
    const struct oc_node_cost *k = g->x->a ? &g->x->a->cost[node] : NULL;
    return k && k->quality == OC_EXACT && k->trips ? k->macs / k->trips : 0; /* of one execution */
}

static int by_macs(const void *a, const void *b, void *items)
{
    const uint32_t *x = a, *y = b;
    const struct item *item = items;
    if (item[*x].macs != item[*y].macs)
        return item[*x].macs < item[*y].macs ? -1 : 1;
    return (*x > *y) - (*x < *y);
}

/* Indices of the items with MACs, by MACs, then by order. */
static uint32_t *sorted_by_macs(const struct aligning *g, const struct sequence *s, size_t *n)
{
    uint32_t *index = OC_NEW_ARRAY(g->x->arena, s->n + 1, uint32_t);
    *n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->item[i].macs)
            index[(*n)++] = i;
    if (*n)
        qsort_r(index, *n, sizeof(*index), by_macs, s->item);
    return index;
}

static size_t end_of_class(const struct sequence *s, const uint32_t *index, size_t n, size_t from)
{
    size_t end = from;
    while (end < n && s->item[index[end]].macs == s->item[index[from]].macs)
        end++;
    return end;
}

/* A record of a product whose size is not the node's, in a profile with the sizes of the model. */
static bool contradicts(const struct aligning *g, const struct item *r, const struct item *n)
{
    return g->same_sizes && r->macs && n->macs && r->macs != n->macs;
}

/* ---- the two sequences ------------------------------------------------------------------------------ */

/* Part of what another record did as a unit: aten::conv2d calls aten::convolution. */
static bool has_outer(const struct aligning *g, uint32_t rec)
{
    const struct oc_profile *p = g->x->p;
    unsigned depth = 0;
    for (uint32_t at = p->rec[rec].parent; at != OC_NONE && depth < 64; at = p->rec[at].parent, depth++)
        if (g->source[at].core || g->x->match[at].n_node)
            return true;
    return false;
}

static void add_item(struct sequence *s, struct item item)
{
    OC_GROW(s->item, s->n, s->cap);
    s->item[s->n++] = item;
}

static int by_start(const void *a, const void *b, void *profile)
{
    const struct oc_profile *p = profile;
    const struct item *x = a, *y = b;
    double s = p->rec[x->id].start_ns, t = p->rec[y->id].start_ns;
    if (isnan(s) || isnan(t) || s == t)
        return (x->id > y->id) - (x->id < y->id);
    return s < t ? -1 : 1;
}

static void collect(struct aligning *g)
{
    struct oc_matcher *x = g->x;
    for (uint32_t i = 0; i < x->p->n_rec; i++) {
        const struct oc_prof_rec *r = &x->p->rec[i];
        if (r->bucket || x->match[i].n_node || x->match[i].bucket || x->match[i].inner_of != OC_NONE ||
            !oc_source_type(r->type_by_name ? "" : r->op_type, r->name, x->arena, &g->source[i]))
            continue;
    }
    for (uint32_t i = 0; i < x->p->n_rec; i++) {
        const struct oc_prof_rec *r = &x->p->rec[i];
        if (!g->source[i].core || has_outer(g, i))
            continue;
        uint32_t set = number_of(&g->sets, g->source[i].core, &g->set, &g->n_set, &g->set_cap);
        add_item(&g->rec,
                 (struct item){i, set, shape_number(g, oc_match_main_input(r)),
                               shape_number(g, r->n_out ? &r->out[0] : NULL), macs_of_record(g, i), OC_NONE});
    }
    for (uint32_t i = 0; i < x->m->n_node; i++) {
        const struct oc_node *n = &x->m->node[i];
        if (x->owner[i] != OC_NONE || !oc_match_runs(x, i))
            continue;
        uint32_t type = number_of(&g->types, n->op_type, &g->type, &g->n_type, &g->type_cap);
        add_item(&g->node, (struct item){i, type, value_shape(g, n->in, n->n_in),
                                         value_shape(g, n->out, n->n_out), macs_of_node(g, i), OC_NONE});
    }
    if (g->rec.n)
        qsort_r(g->rec.item, g->rec.n, sizeof(struct item), by_start, (void *)(uintptr_t)x->p);
    g->fits = OC_NEW_ARRAY(x->arena, g->n_set * g->n_type + 1, bool);
    for (size_t s = 0; s < g->n_set; s++)
        for (size_t t = 0; t < g->n_type; t++)
            g->fits[s * g->n_type + t] = oc_type_set_has(g->set[s], g->type[t]);
}

/* ---- records of several calls ----------------------------------------------------------------------- */

static void assign_nodes(struct aligning *g, const struct item *r, uint32_t node, const char *rule,
                         double confidence)
{
    struct oc_match *m = &g->x->match[r->id];
    if (m->n_node)
        oc_match_add(g->x, r->id, node);
    else
        oc_match_core(g->x, r->id, node, rule, confidence);
    m->as = g->source[r->id].as;
    m->member = g->source[r->id].member;
}

static bool is_free(const struct aligning *g, const struct item *n)
{
    return g->x->owner[n->id] == OC_NONE;
}

/* Unmatched nodes that the record may refer to: those with equal shapes, or all. */
static size_t candidates(const struct aligning *g, const struct item *r, bool same_shape)
{
    size_t n = 0;
    for (size_t k = 0; k < g->node.n; k++)
        n += is_free(g, &g->node.item[k]) && may_pair(g, r, &g->node.item[k]) &&
             (!same_shape || shapes_agree(r, &g->node.item[k]) > 2);
    return n;
}

/* A record of many calls is matched to as many nodes as it has calls, the first ones in order. A multiple
 * of the number of nodes means several executions of the model. */
static void take_several(struct aligning *g, const struct item *r)
{
    double calls = round(g->x->p->rec[r->id].calls_per_run);
    bool by_shape = candidates(g, r, true) > 0;
    size_t n = candidates(g, r, by_shape), want = calls < (double)n ? (size_t)calls : n;
    if (want > MAX_SEVERAL)
        return;
    bool all = (double)n == calls;
    double confidence = all ? (by_shape ? 0.8 : 0.6) : 0.3;
    for (size_t k = 0; k < g->node.n && want; k++) {
        const struct item *node = &g->node.item[k];
        if (!is_free(g, node) || !may_pair(g, r, node) || (by_shape && shapes_agree(r, node) <= 2))
            continue;
        assign_nodes(g, r, node->id, by_shape ? "by type and shape" : "by type", confidence);
        g->x->match[r->id].calls++;
        want--;
    }
    if (n && calls > (double)n && calls < 1e9 && fmod(calls, (double)n) == 0)
        g->x->match[r->id].repeats = (uint32_t)(calls / (double)n);
}

/* ---- products of one size --------------------------------------------------------------------------- */

static void find_same_sizes(struct aligning *g, const uint32_t *rec, size_t n_rec, const uint32_t *node,
                            size_t n_node)
{
    size_t found = 0;
    for (size_t i = 0, k = 0; i < n_rec; i++) {
        while (k < n_node && g->node.item[node[k]].macs < g->rec.item[rec[i]].macs)
            k++;
        found += k < n_node && g->node.item[node[k]].macs == g->rec.item[rec[i]].macs;
    }
    g->same_sizes = 2 * found > n_rec;
}

/* As many records as nodes of one size, and all of them of equivalent types: in order. */
static void take_class(struct aligning *g, const uint32_t *rec, const uint32_t *node, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!may_pair(g, &g->rec.item[rec[i]], &g->node.item[node[i]]) || !is_free(g, &g->node.item[node[i]]))
            return;
    for (size_t i = 0; i < n; i++) {
        struct item *r = &g->rec.item[rec[i]];
        r->node = g->node.item[node[i]].id;
        assign_nodes(g, r, r->node, "by size", 0.8);
    }
}

static void take_products(struct aligning *g)
{
    size_t n_rec, n_node;
    const uint32_t *rec = sorted_by_macs(g, &g->rec, &n_rec), *node = sorted_by_macs(g, &g->node, &n_node);
    find_same_sizes(g, rec, n_rec, node, n_node);
    for (size_t i = 0, k = 0, i_end, k_end; i < n_rec && k < n_node; i = i_end, k = k_end) {
        uint64_t a = g->rec.item[rec[i]].macs, b = g->node.item[node[k]].macs;
        i_end = a <= b ? end_of_class(&g->rec, rec, n_rec, i) : i;
        k_end = b <= a ? end_of_class(&g->node, node, n_node, k) : k;
        if (a == b && i_end - i == k_end - k)
            take_class(g, rec + i, node + k, k_end - k);
    }
}

/* ---- the alignment ---------------------------------------------------------------------------------- */

struct band {
    size_t n, m, width;
    uint8_t *way; /* two bits per cell, rows of `width` */
};

static size_t first_of(const struct band *b, size_t i)
{
    size_t middle = b->n ? (size_t)((double)i * (double)b->m / (double)b->n) : 0, half = b->width / 2;
    size_t first = middle > half ? middle - half : 0;
    return first + b->width > b->m + 1 ? b->m + 1 - b->width : first;
}

static enum way traceback_at(const struct band *b, size_t cell)
{
    return (enum way)(b->way[cell / 4] >> 2 * (cell % 4) & 3);
}

static void fill_row(const struct aligning *g, struct band *b, size_t i, const uint64_t *before,
                     uint64_t *now)
{
    size_t lo = first_of(b, i), old = i ? first_of(b, i - 1) : 0;
    for (size_t j = lo; j < lo + b->width; j++) {
        size_t cell = i * b->width + (j - lo);
        uint64_t best = 0, v;
        enum way way = STOP;
        if (i && j && j - 1 >= old && j - 1 < old + b->width) {
            const struct item *r = &g->rec.item[i - 1], *n = &g->node.item[j - 1];
            bool open = r->node == OC_NONE && may_pair(g, r, n) && is_free(g, n) && !contradicts(g, r, n);
            if (open || r->node == n->id) {
                best = before[j - 1 - old] + PAIR + shapes_agree(r, n);
                way = DIAGONAL;
            }
        }
        if (i && j >= old && j < old + b->width && (v = before[j - old], v > best || way == STOP)) {
            best = v;
            way = UP;
        }
        if (j > lo && (v = now[j - 1 - lo], v > best || way == STOP)) {
            best = v;
            way = LEFT;
        }
        now[j - lo] = best;
        b->way[cell / 4] |= (uint8_t)(way << 2 * (cell % 4));
    }
}

/* Confidence of a pair: whether the shapes support it, and whether both sides have the same number of the
 * type. */
static double confidence(const struct item *r, const struct item *n, bool as_many)
{
    unsigned shapes = shapes_agree(r, n);
    bool against = shapes < 2;
    return against ? 0.2 : (shapes > 2 ? 0.7 : 0.4) + (as_many ? 0.2 : 0);
}

/* Per set: whether there are as many records as nodes. */
static bool *same_numbers(const struct aligning *g)
{
    size_t *records = OC_NEW_ARRAY(g->x->arena, g->n_set + 1, size_t),
           *nodes = OC_NEW_ARRAY(g->x->arena, g->n_type + 1, size_t);
    bool *same = OC_NEW_ARRAY(g->x->arena, g->n_set + 1, bool);
    for (size_t i = 0; i < g->rec.n; i++)
        records[g->rec.item[i].kind]++;
    for (size_t k = 0; k < g->node.n; k++)
        nodes[g->node.item[k].kind]++;
    for (size_t s = 0; s < g->n_set; s++) {
        size_t fit = 0;
        for (size_t t = 0; t < g->n_type; t++)
            fit += g->fits[s * g->n_type + t] ? nodes[t] : 0;
        same[s] = fit == records[s];
    }
    return same;
}

static void walk_back(struct aligning *g, const struct band *b)
{
    const bool *as_many = same_numbers(g);
    for (size_t i = b->n, j = b->m;;) {
        enum way way = traceback_at(b, i * b->width + (j - first_of(b, i)));
        if (way == STOP)
            return;
        if (way == DIAGONAL) {
            const struct item *r = &g->rec.item[i - 1], *n = &g->node.item[j - 1];
            if (r->node == OC_NONE)
                assign_nodes(g, r, n->id, "by order", confidence(r, n, as_many[r->kind]));
        }
        i -= way != LEFT;
        j -= way != UP;
    }
}

static void align(struct aligning *g)
{
    struct band b = {.n = g->rec.n, .m = g->node.n};
    if (!b.n || !b.m || b.n > MAX_CELLS / 16)
        return;
    b.width = MAX_CELLS / (b.n + 1) < b.m + 1 ? MAX_CELLS / (b.n + 1) : b.m + 1;
    b.way = oc_xmalloc((b.n + 1) * b.width / 4 + 1);
    memset(b.way, 0, (b.n + 1) * b.width / 4 + 1);
    uint64_t *row[2] = {oc_xmalloc(b.width * sizeof(uint64_t)), oc_xmalloc(b.width * sizeof(uint64_t))};
    for (size_t i = 0; i <= b.n; i++)
        fill_row(g, &b, i, row[(i + 1) % 2], row[i % 2]);
    walk_back(g, &b);
    free(row[0]);
    free(row[1]);
    free(b.way);
}

/* ---- records inside a record ------------------------------------------------------------------------ */

static void give_to_inner(struct oc_matcher *x)
{
    for (uint32_t i = 0; i < x->p->n_rec; i++) {
        uint32_t at = x->p->rec[i].parent;
        if (x->p->rec[i].bucket || x->match[i].n_node || x->match[i].bucket)
            continue;
        for (unsigned depth = 0; at != OC_NONE && !x->match[at].n_node && depth < 64; depth++)
            at = x->p->rec[at].parent;
        if (at == OC_NONE || !x->match[at].n_node)
            continue;
        x->match[i].inner_of = at;
        x->match[i].rule = "part of";
        x->match[i].confidence = x->match[at].confidence;
    }
}

OC_BY(by_place, struct item, id)

/* Records of many calls: those whose number of calls equals the number of nodes with their shapes are
 * matched before the alignment and removed from the sequence; the others follow after it. */
static void take_groups(struct aligning *g, bool first)
{
    for (size_t i = 0; i < g->rec.n && i * g->node.n < MAX_TRIES; i++) {
        const struct item *r = &g->rec.item[i];
        double calls = round(g->x->p->rec[r->id].calls_per_run);
        if (calls > 1 && !g->x->match[r->id].n_node && (!first || (double)candidates(g, r, true) == calls))
            take_several(g, r);
    }
}

static struct sequence single_calls(const struct aligning *g)
{
    struct sequence one = {0};
    for (size_t i = 0; i < g->rec.n; i++)
        if (!(round(g->x->p->rec[g->rec.item[i].id].calls_per_run) > 1))
            add_item(&one, g->rec.item[i]);
    return one;
}

void oc_match_order(struct oc_matcher *x)
{
    struct aligning g = {.x = x,
                         .source = OC_NEW_ARRAY(x->arena, (size_t)x->p->n_rec + 1, struct oc_source_type)};
    g.sets.arena = g.types.arena = g.shapes.arena = x->arena;
    collect(&g);
    if (g.node.n)
        qsort(g.node.item, g.node.n, sizeof(struct item), by_place);
    take_groups(&g, true);
    struct sequence all = g.rec;
    g.rec = single_calls(&g);
    take_products(&g);
    align(&g);
    free(g.rec.item);
    g.rec = all;
    take_groups(&g, false);
    give_to_inner(x);
    free(g.rec.item);
    free(g.node.item);
    free(g.set);
    free(g.type);
    oc_map_free(&g.sets);
    oc_map_free(&g.types);
    oc_map_free(&g.shapes);
}
