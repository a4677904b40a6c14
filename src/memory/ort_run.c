#include "memory/ort_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "memory/ort_arena.h"
#include "memory/ort_reuse.h"

#define MOST_LOOKS 1000000000u

struct run {
    struct oc_ort_arena arena;
    uint64_t kept_requested, kept_in_use; /* allocated at the start */
    uint64_t looked;                      /* by value, for the bodies */
    struct oc_ort_run seen;
    struct oc_ort_shapes *shapes; /* NULL: no reuse */
};

struct by_step { /* buffers by the step that allocates them, and by their last step */
    uint32_t *made_at, *made, *last_at, *last;
};

static uint32_t *zeros(size_t n)
{
    uint32_t *p = calloc(n + 1, sizeof(*p));
    if (!p)
        oc_out_of_memory(n);
    return p;
}

/* Merges the live ranges of buffers that share memory. */
static struct oc_life *as_planned(struct run *r, const struct oc_lives *l)
{
    struct oc_life *life = oc_xmalloc(((size_t)l->n_life + 1) * sizeof(*life));
    uint32_t *into = zeros(l->n_life);
    if (l->n_life)
        memcpy(life, l->life, l->n_life * sizeof(*life));
    if (r->shapes)
        oc_ort_reuse(l, r->shapes, into);
    for (uint32_t i = 0; i < l->n_life && r->shapes; i++) {
        if (into[i] == i)
            continue;
        struct oc_life *owner = &life[into[i]];
        owner->last = life[i].last > owner->last ? life[i].last : owner->last;
        life[i].bytes = 0;
    }
    free(into);
    return life;
}

/* Counting sort; `at` has room for n_step + 1 after zeros(). */
static void sort_lives(const struct oc_lives *l, const struct oc_life *life, bool by_last, uint32_t *at,
                       uint32_t *list)
{
    for (uint32_t i = 0; i < l->n_life; i++)
        at[(by_last ? life[i].last : life[i].first) + 1]++;
    for (uint32_t s = 0; s < l->n_step; s++)
        at[s + 1] += at[s];
    uint32_t *next = zeros(l->n_step);
    memcpy(next, at, l->n_step * sizeof(*next));
    for (uint32_t i = 0; i < l->n_life; i++)
        list[next[by_last ? life[i].last : life[i].first]++] = i;
    free(next);
}

static void update_peak(struct run *r, uint32_t node)
{
    uint64_t requested = r->arena.requested - r->kept_requested, in_use = r->arena.in_use - r->kept_in_use;
    if (requested > r->seen.max_requested || r->seen.requested_at == OC_NONE) {
        r->seen.max_requested = requested;
        r->seen.requested_at = node;
    }
    if (in_use > r->seen.max_in_use || r->seen.in_use_at == OC_NONE) {
        r->seen.max_in_use = in_use;
        r->seen.in_use_at = node;
    }
}

/* ConvTranspose<float>::PrePack: unless a matrix of one row or column stays as it is. */
static void keep_filter(struct run *r, const struct oc_analysis *a, const struct oc_node *n)
{
    uint32_t w = n->n_in > 1 ? n->in[1] : OC_NONE;
    if (strcmp(n->op_type, "ConvTranspose") != 0 || *n->domain || w == OC_NONE || !a->is_const[w] ||
        a->type[w].dtype != OC_DT_FLOAT || !oc_shape_known(&a->type[w].shape) || a->type[w].shape.rank < 2)
        return;
    const struct oc_attr *group = oc_node_attr(n, "group");
    int64_t groups = group && group->i > 0 ? group->i : 1, channels = a->type[w].shape.dim[0].v, rest = 1;
    for (unsigned i = 1; i < a->type[w].shape.rank; i++)
        if (!oc_mul_i64(rest, a->type[w].shape.dim[i].v, &rest))
            return;
    uint64_t count;
    if (channels / groups > 1 && rest > 1 && oc_mul_u64((uint64_t)channels, (uint64_t)rest, &count) &&
        oc_mul_u64(count, 4, &count))
        oc_ort_arena_take(&r->arena, count);
}

static void keep_filters(struct run *r, const struct oc_lives *l)
{
    for (uint32_t i = 0; i < l->n_step; i++)
        keep_filter(r, l->a, &l->a->model->node[l->step[i]]);
    r->kept_requested = r->arena.requested;
    r->kept_in_use = r->arena.in_use;
}

/* MlasConvPrepare for float, one thread: a matrix of the patches, a part of it, or none where the input is
 * that matrix. 0: none, or unknown. */
static uint64_t conv_workspace(const struct oc_analysis *a, const struct oc_node *n)
{
    uint32_t w = n->n_in > 1 ? n->in[1] : OC_NONE, y = n->n_out ? n->out[0] : OC_NONE;
    if (strcmp(n->op_type, "Conv") != 0 || *n->domain || w == OC_NONE || y == OC_NONE ||
        a->type[w].dtype != OC_DT_FLOAT || !oc_shape_known(&a->type[w].shape) ||
        !oc_shape_known(&a->type[y].shape) || a->type[w].shape.rank < 3 || a->type[y].shape.rank < 3)
        return 0;
    const struct oc_attr *group = oc_node_attr(n, "group"), *pads = oc_node_attr(n, "pads"),
                         *strides = oc_node_attr(n, "strides");
    int64_t filters = a->type[w].shape.dim[0].v / (group && group->i > 0 ? group->i : 1);
    int64_t k = 1, out = 1, taps = 1;
    bool plain = true;
    for (unsigned i = 1; i < a->type[w].shape.rank; i++)
        if (!oc_mul_i64(k, a->type[w].shape.dim[i].v, &k) ||
            (i > 1 && !oc_mul_i64(taps, a->type[w].shape.dim[i].v, &taps)))
            return 0;
    for (unsigned i = 2; i < a->type[y].shape.rank; i++)
        if (!oc_mul_i64(out, a->type[y].shape.dim[i].v, &out))
            return 0;
    for (uint32_t i = 0; pads && i < pads->n; i++)
        plain &= pads->ints && pads->ints[i] == 0;
    for (uint32_t i = 0; strides && i < strides->n; i++)
        plain &= strides->ints && strides->ints[i] == 1;
    if (plain && taps == 1)
        return 0;
    uint64_t patches;
    if (filters <= out)
        return 65536; /* MLAS_CONV_WORKING_BUFFER_SIZE_PER_THREAD, floats */
    return oc_mul_u64((uint64_t)out, (uint64_t)k, &patches) && oc_mul_u64(patches, 4, &patches) ? patches : 0;
}

static void run_graph(struct run *r, const struct oc_lives *l);

/* The body with the largest need; in very large bodies the later buffers are merged into one request. */
static void run_body(struct run *r, const struct oc_lives *l, uint32_t step)
{
    uint32_t node = l->step[step], body = OC_NONE, all = OC_NONE;
    if (!l->inner[step])
        return;
    r->looked += 3ull * l->a->model->n_value;
    if (r->looked < MOST_LOOKS)
        body = oc_lives_body(l, node);
    else
        all = oc_ort_arena_take(&r->arena, l->inner[step]);
    if (body != OC_NONE) {
        struct oc_lives *inner = oc_lives_make(l->a, body, &l->opts);
        run_graph(r, inner);
        oc_lives_free(inner);
    }
    if (all != OC_NONE) {
        update_peak(r, node);
        oc_ort_arena_give(&r->arena, all);
    }
}

static void run_graph(struct run *r, const struct oc_lives *l)
{
    const struct oc_model *m = l->a->model;
    struct by_step b = {zeros(l->n_step + 1u), zeros(l->n_life), zeros(l->n_step + 1u), zeros(l->n_life)};
    uint32_t *chunk = zeros(l->n_life);
    struct oc_life *life = as_planned(r, l);
    sort_lives(l, life, false, b.made_at, b.made);
    sort_lives(l, life, true, b.last_at, b.last);
    for (uint32_t s = 0; s < l->n_step; s++) {
        for (uint32_t i = b.made_at[s]; i < b.made_at[s + 1]; i++)
            chunk[b.made[i]] = oc_ort_arena_take(&r->arena, life[b.made[i]].bytes);
        oc_ort_arena_give(&r->arena,
                          oc_ort_arena_take(&r->arena, conv_workspace(l->a, &m->node[l->step[s]])));
        run_body(r, l, s);
        update_peak(r, l->step[s]);
        for (uint32_t i = b.last_at[s]; i < b.last_at[s + 1]; i++)
            oc_ort_arena_give(&r->arena, chunk[b.last[i]]);
    }
    free(life);
    free(b.made_at);
    free(b.made);
    free(b.last_at);
    free(b.last);
    free(chunk);
}

struct oc_ort_run oc_ort_first_run(const struct oc_lives *lives, const struct oc_analysis *open)
{
    struct run r = {.seen = {.requested_at = OC_NONE, .in_use_at = OC_NONE}};
    oc_ort_arena_init(&r.arena);
    struct oc_ort_shapes shapes;
    if (open) {
        oc_ort_shapes_init(&shapes, open);
        r.shapes = &shapes;
    }
    keep_filters(&r, lives);
    run_graph(&r, lives);
    if (open)
        oc_ort_shapes_free(&shapes);
    r.seen.held = r.arena.held;
    oc_ort_arena_free(&r.arena);
    return r.seen;
}
