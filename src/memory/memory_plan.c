/* memory/: Memory over time: report and peak, offsets of buffers, ONNX Runtime's planner and allocator. Every plan is checked by code in memory_plan.c that shares none with the
 * planners; leave it so.
 * Private to the folder: memory_plan.h. */

#include "memory/memory_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/c_locale.h"
#include "base/ck.h"
#include "base/diag.h"
#include "onnxcost/memory.h"

/* Live boxes are kept in a treap by offset. A new box can only overlap its predecessor or successor by
 * offset, as long as the boxes in the treap do not overlap. */

struct event { /* events of a box: its end (a step later) sorts before a beginning at the same step */
    uint64_t step;
    uint32_t box;
    bool begins;
};

struct treap {
    const struct oc_plan_box *box;
    const uint64_t *offset;
    uint32_t *left, *right, *priority;
    uint32_t root;
};

static int by_step(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->begins != y->begins)
        return x->begins ? 1 : -1;
    return x->box < y->box ? -1 : x->box > y->box;
}

/* Nearest live box at or below the offset, and the nearest above it. */
static void find_neighbours(const struct treap *t, uint64_t at, uint32_t *below, uint32_t *above)
{
    *below = *above = OC_NONE;
    for (uint32_t i = t->root; i != OC_NONE;) {
        if (t->offset[i] <= at) {
            *below = i;
            i = t->right[i];
        } else {
            *above = i;
            i = t->left[i];
        }
    }
}

/* Splits: offsets up to `at` go left, the rest right. */
static void treap_split(struct treap *t, uint32_t node, uint64_t at, uint32_t *left, uint32_t *right)
{
    while (node != OC_NONE) {
        if (t->offset[node] <= at) {
            *left = node;
            left = &t->right[node];
            node = *left;
        } else {
            *right = node;
            right = &t->left[node];
            node = *right;
        }
    }
    *left = *right = OC_NONE;
}

static uint32_t treap_merge(struct treap *t, uint32_t a, uint32_t b)
{
    uint32_t root = OC_NONE, *link = &root;
    while (a != OC_NONE && b != OC_NONE) {
        if (t->priority[a] > t->priority[b]) {
            *link = a;
            link = &t->right[a];
            a = *link;
        } else {
            *link = b;
            link = &t->left[b];
            b = *link;
        }
    }
    *link = a != OC_NONE ? a : b;
    return root;
}

static void treap_insert(struct treap *t, uint32_t i)
{
    uint32_t *link = &t->root;
    while (*link != OC_NONE && t->priority[*link] >= t->priority[i])
        link = t->offset[*link] <= t->offset[i] ? &t->right[*link] : &t->left[*link];
    uint32_t rest = *link;
    *link = i;
    treap_split(t, rest, t->offset[i], &t->left[i], &t->right[i]);
}

/* Offsets of live boxes are distinct, as none is empty and none overlap. */
static void treap_drop(struct treap *t, uint32_t i)
{
    uint32_t *link = &t->root;
    while (*link != i)
        link = t->offset[*link] <= t->offset[i] ? &t->right[*link] : &t->left[*link];
    *link = treap_merge(t, t->left[i], t->right[i]);
}

static int clash(const struct treap *t, uint32_t a, uint32_t b, struct oc_err *err)
{
    uint32_t step = t->box[a].first > t->box[b].first ? t->box[a].first : t->box[b].first;
    return oc_fail(err, OC_EFORMAT, "buffers %u and %u overlap in step %u", a < b ? a : b, a < b ? b : a,
                   step);
}

static int begin_box(struct treap *t, uint32_t i, struct oc_err *err)
{
    uint32_t below, above;
    find_neighbours(t, t->offset[i], &below, &above);
    if (below != OC_NONE && t->offset[below] + t->box[below].bytes > t->offset[i])
        return clash(t, below, i, err);
    if (above != OC_NONE && t->offset[i] + t->box[i].bytes > t->offset[above])
        return clash(t, above, i, err);
    treap_insert(t, i);
    return 0;
}

static int check_place(const struct oc_plan_box *b, uint64_t at, uint32_t i, uint64_t align, uint64_t size,
                       struct oc_err *err)
{
    if (b->last < b->first)
        return oc_fail(err, OC_EFORMAT, "buffer %u ends before it begins", i);
    if (align > 1 && at % align)
        return oc_fail(err, OC_EFORMAT, "buffer %u is not aligned to %llu bytes", i,
                       (unsigned long long)align);
    if (at > size || b->bytes > size - at)
        return oc_fail(err, OC_EFORMAT, "buffer %u is outside the block", i);
    return 0;
}

static int sweep_events(struct treap *t, const struct event *e, size_t n, struct oc_err *err)
{
    for (size_t k = 0; k < n; k++) {
        if (!e[k].begins)
            treap_drop(t, e[k].box);
        else if (begin_box(t, e[k].box, err))
            return -1;
    }
    return 0;
}

int oc_plan_check(const struct oc_plan_box *box, const uint64_t *offset, uint32_t n, uint64_t align,
                  uint64_t size, struct oc_err *err)
{
    struct event *event = oc_xmalloc((2 * (size_t)n + 1) * sizeof(*event));
    uint32_t *links = oc_xmalloc((3 * (size_t)n + 1) * sizeof(*links));
    struct treap t = {box, offset, links, links + n, links + 2 * (size_t)n, OC_NONE};
    size_t n_event = 0;
    int rc = 0;
    for (uint32_t i = 0; i < n && !rc; i++) {
        rc = check_place(&box[i], offset[i], i, align, size, err);
        t.priority[i] = (i + 1) * 2654435769u; /* randomised priority keeps the tree shallow */
        t.priority[i] ^= t.priority[i] >> 15;
        if (!box[i].bytes)
            continue;
        event[n_event++] = (struct event){box[i].first, i, true};
        event[n_event++] = (struct event){(uint64_t)box[i].last + 1, i, false};
    }
    if (!rc) {
        qsort(event, n_event, sizeof(*event), by_step);
        rc = sweep_events(&t, event, n_event, err);
    }
    free(event);
    free(links);
    return rc;
}

/* ---- memory plan ------------------------------------------------------------------------------------ */

struct builder {
    const struct oc_analysis *a;
    struct oc_liveness_opts opts;
    struct oc_planned_buffer *v;
    uint32_t n, cap;
    struct oc_liveness_maker *bodies; /* NULL: none was needed yet */
    uint8_t quality;
    struct oc_err *err;
};

struct level { /* one graph while its boxes are collected */
    struct builder *b;
    uint32_t graph;
    const struct oc_liveness *l;
    uint32_t from; /* index of its first buffer in the list; blocks of bodies follow the values */
    struct oc_plan_box *box;
    uint32_t *inside; /* by block of bodies: index of its first buffer in the list, and the end */
    uint32_t n_box, cap_box, n_block, cap_inside;
    struct oc_offset_plan placed;
};

static int plan_graph(struct builder *b, uint32_t graph, const struct oc_liveness *l,
                      struct oc_offset_plan *out);

static const char *memory_plan_value_name(const struct oc_model *m, uint32_t value)
{
    return *m->value[value].name ? m->value[value].name : "(unnamed)";
}

static int refuse_unknown(const struct builder *b, const struct oc_life *x)
{
    const char *name = memory_plan_value_name(b->a->model, x->value);
    if (x->quality == OC_LOWER)
        return oc_fail(b->err, OC_EUNSUPPORTED, "cannot plan memory: the string lengths of '%s' are unknown",
                       name);
    return oc_fail(b->err, OC_EUNSUPPORTED,
                   "cannot plan memory: the size of '%s' is unknown (set it with --dim or --shape)", name);
}

static uint32_t node_at(const struct level *v, uint32_t step)
{
    return step < v->l->n_step ? v->l->step[step] : OC_NONE;
}

static void memory_plan_add(struct level *v, const struct oc_planned_buffer *p)
{
    struct builder *b = v->b;
    OC_GROW(b->v, b->n, b->cap);
    b->v[b->n] = *p;
    b->v[b->n].graph = v->graph;
    b->v[b->n].first_node = node_at(v, p->first);
    b->v[b->n].last_node = node_at(v, p->last);
    b->n++;
    OC_GROW(v->box, v->n_box, v->cap_box);
    v->box[v->n_box++] = (struct oc_plan_box){p->bytes, p->first, p->last};
}

static int memory_plan_add_values(struct level *v)
{
    int rc = 0;
    for (uint32_t i = 0; i < v->l->n_life && !rc; i++) {
        const struct oc_life *x = &v->l->life[i];
        if (x->quality == OC_UNKNOWN || x->quality == OC_LOWER)
            rc = refuse_unknown(v->b, x);
        if (x->quality != OC_EXACT)
            v->b->quality = x->quality;
        if (x->bytes && !rc)
            memory_plan_add(v, &(struct oc_planned_buffer){.value = x->value,
                                                           .first = x->first,
                                                           .last = x->last,
                                                           .bytes = x->bytes,
                                                           .quality = x->quality,
                                                           .input = x->input,
                                                           .output = x->output});
    }
    return rc;
}

/* ---- bodies ----------------------------------------------------------------------------------------- */

static int plan_body(struct builder *b, uint32_t body, uint64_t *size)
{
    if (!b->bodies)
        b->bodies = oc_liveness_maker_new(b->a, &b->opts);
    struct oc_liveness *l = oc_liveness_of_body(b->bodies, body);
    struct oc_offset_plan placed;
    int rc = plan_graph(b, body, l, &placed);
    oc_liveness_free(l);
    if (!rc && placed.size > *size)
        *size = placed.size;
    return rc;
}

/* The largest block among the node's bodies; their contents are appended to the list. */
static int plan_bodies(struct builder *b, uint32_t node, uint64_t *size)
{
    const struct oc_node *n = &b->a->model->node[node];
    for (uint32_t a = 0; a < n->n_attr; a++)
        for (uint32_t i = 0; n->attr[a].graph && i < n->attr[a].n; i++) {
            uint32_t body = n->attr[a].graph[i];
            if (b->a->graph_use[body] == OC_G_RUN && plan_body(b, body, size))
                return -1;
        }
    return 0;
}

/* A block comes in the list before its contents; its size is set afterwards. */
static int add_blocks(struct level *v)
{
    struct builder *b = v->b;
    uint32_t *at = NULL, n_at = 0, cap_at = 0;
    for (uint32_t i = 0; i < v->l->n_step; i++)
        if (v->l->inner[i]) {
            OC_GROW(at, n_at, cap_at);
            at[n_at++] = i;
            memory_plan_add(v, &(struct oc_planned_buffer){.value = OC_NONE, .first = i, .last = i});
        }
    int rc = 0;
    v->n_block = n_at;
    v->inside = oc_xmalloc((2 * (size_t)n_at + 1) * sizeof(*v->inside));
    for (uint32_t k = 0; k < n_at && !rc; k++) {
        uint64_t size = 0;
        v->inside[(size_t)2 * k] = b->n;
        rc = plan_bodies(b, node_at(v, at[k]), &size);
        v->inside[2 * k + 1] = b->n;
        uint32_t x = v->n_box - n_at + k;
        b->v[v->from + x].bytes = v->box[x].bytes = size;
    }
    free(at);
    return rc;
}

/* ---- a graph ---------------------------------------------------------------------------------------- */

static int memory_plan_place(struct level *v)
{
    struct builder *b = v->b;
    uint64_t *offset = oc_xmalloc(((size_t)v->n_box + 1) * sizeof(*offset));
    struct oc_offset_opts o = {.align = b->opts.align};
    struct oc_err why;
    int rc = oc_offset_plan_make(v->box, v->n_box, &o, offset, &v->placed, b->err);
    if (!rc && oc_plan_check(v->box, offset, v->n_box, b->opts.align, v->placed.size, &why))
        rc = oc_fail(b->err, OC_EUNSUPPORTED, "internal error: a plan of memory is wrong: %s", why.msg);
    for (uint32_t i = 0; i < v->n_box && !rc; i++)
        b->v[v->from + i].offset = offset[i];
    for (uint32_t k = 0; k < v->n_block && !rc; k++)
        for (uint32_t i = v->inside[(size_t)2 * k]; i < v->inside[2 * k + 1]; i++)
            b->v[i].offset += offset[v->n_box - v->n_block + k];
    free(offset);
    return rc;
}

static int plan_graph(struct builder *b, uint32_t graph, const struct oc_liveness *l,
                      struct oc_offset_plan *out)
{
    struct level v = {.b = b, .graph = graph, .l = l, .from = b->n};
    int rc = memory_plan_add_values(&v);
    if (!rc)
        rc = add_blocks(&v);
    if (!rc)
        rc = memory_plan_place(&v);
    *out = v.placed;
    out->optimal &= !v.n_block; /* bodies were planned before, perhaps not optimally */
    free(v.box);
    free(v.inside);
    return rc;
}

/* ---- public functions ------------------------------------------------------------------------------- */

static struct oc_liveness_opts liveness_opts(const struct oc_analysis *a, const struct oc_plan_opts *o)
{
    struct oc_liveness_opts l = oc_liveness_opts_of(a);
    l.without_inputs = o && o->without_inputs;
    l.all = o && o->all;
    return l;
}

/* All sizes are known, and their sums are below 2^63. */
static int memory_plan_check_sizes(const struct oc_memory_plan *p, struct oc_err *err)
{
    const struct builder b = {.a = p->a, .err = err};
    const struct oc_liveness *l = p->liveness;
    uint64_t sum = 0, inner = 0;
    bool fits = true;
    for (uint32_t i = 0; i < l->n_life; i++) {
        if (l->life[i].quality == OC_UNKNOWN || l->life[i].quality == OC_LOWER)
            return refuse_unknown(&b, &l->life[i]);
        fits &= oc_add_u64(sum, l->life[i].bytes, &sum);
    }
    for (uint32_t i = 0; i < l->n_step; i++)
        inner = l->inner[i] > inner ? l->inner[i] : inner;
    if (!fits || !oc_add_u64(sum, inner, &sum) || sum > INT64_MAX)
        return oc_fail(err, OC_ELIMIT,
                       "cannot plan memory: the sizes of the buffers add up to more than 2^63 bytes");
    return 0;
}

int oc_memory_plan_make(const struct oc_analysis *a, const struct oc_plan_opts *given,
                        struct oc_memory_plan **out, struct oc_err *err)
{
    OC_ENTRY(err);
    *out = NULL;
    struct oc_plan_opts full, *const opts = &full;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    struct oc_memory_plan *p = oc_xmalloc(sizeof(*p));
    struct builder b = {.a = a, .opts = liveness_opts(a, opts), .quality = OC_EXACT, .err = err};
    *p = (struct oc_memory_plan){.a = a, .align = b.opts.align};
    p->liveness = oc_liveness_make(a, 0, &b.opts);
    struct oc_offset_plan placed;
    int rc = memory_plan_check_sizes(p, err);
    if (!rc)
        rc = plan_graph(&b, 0, p->liveness, &placed);
    if (b.bodies)
        oc_liveness_maker_free(b.bodies);
    if (rc) {
        free(b.v);
        oc_memory_plan_free(p);
        return -1;
    }
    p->buffer = b.v;
    p->n_buffer = b.n;
    p->size = placed.size;
    p->method = placed.method;
    p->optimal = placed.optimal || p->size == p->liveness->peak;
    p->quality = b.quality;
    *out = p;
    return 0;
}

void oc_memory_plan_free(struct oc_memory_plan *p)
{
    if (!p)
        return;
    free(p->buffer);
    oc_liveness_free(p->liveness);
    free(p);
}

void oc_memory_plan_info(const struct oc_memory_plan *p, struct oc_plan_info *out)
{
    *out = (struct oc_plan_info){.size = p->size,
                                 .live = p->liveness->peak,
                                 .buffers = p->n_buffer,
                                 .optimal = p->optimal,
                                 .method = p->method,
                                 .quality = p->quality};
}
