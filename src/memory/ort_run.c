/* microsoft/onnxruntime, core/framework/bfc_arena.cc and bfc_arena.h. */
#include "memory/memory_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/ck.h"

#define MIN_BYTES  256u
#define FIRST      (1024ull * 1024)        /* kDefaultInitialChunkSizeBytes */
#define DEAD_BYTES (128ull * 1024 * 1024)  /* max_dead_bytes_per_chunk */
#define MOST       (1024ull * 1024 * 1024) /* kDefaultMaxPowerOfTwoExtendBytes */
#define LIMIT      (1ull << 62)

void oc_bfc_arena_init(struct oc_bfc_arena *a)
{
    *a = (struct oc_bfc_arena){.next_region = FIRST};
}

void oc_bfc_arena_free(struct oc_bfc_arena *a)
{
    free(a->chunk);
    free(a->dead);
    free(a->spare);
}

static uint32_t new_chunk(struct oc_bfc_arena *a, struct oc_ort_chunk c)
{
    uint32_t i;
    if (a->n_dead) {
        i = a->dead[--a->n_dead];
    } else {
        OC_GROW(a->chunk, a->n, a->cap);
        i = a->n++;
    }
    a->chunk[i] = c;
    return i;
}

static void kill(struct oc_bfc_arena *a, uint32_t i)
{
    a->chunk[i].size = 0;
    OC_GROW(a->dead, a->n_dead, a->cap_dead);
    a->dead[a->n_dead++] = i;
}

static void put_spare(struct oc_bfc_arena *a, uint32_t i)
{
    OC_GROW(a->spare, a->n_spare, a->cap_spare);
    a->chunk[i].used = false;
    a->chunk[i].place = a->n_spare;
    a->spare[a->n_spare++] = i;
}

static void take_spare(struct oc_bfc_arena *a, uint32_t i)
{
    uint32_t last = a->spare[--a->n_spare];
    a->spare[a->chunk[i].place] = last;
    a->chunk[last].place = a->chunk[i].place;
    a->chunk[i].used = true;
}

/* Bins hold sizes of one power of two, each sorted by size and address: the first match is the best fit. */
static uint32_t best(const struct oc_bfc_arena *a, uint64_t bytes)
{
    uint32_t found = OC_NONE;
    for (uint32_t k = 0; k < a->n_spare; k++) {
        const struct oc_ort_chunk *c = &a->chunk[a->spare[k]],
                                  *f = found == OC_NONE ? NULL : &a->chunk[found];
        if (c->size >= bytes && (!f || c->size < f->size || (c->size == f->size && c->at < f->at)))
            found = a->spare[k];
    }
    return found;
}

/* kNextPowerOfTwo */
static void ort_run_extend(struct oc_bfc_arena *a, uint64_t bytes)
{
    bool grown = false;
    while (bytes > a->next_region) {
        a->next_region *= 2;
        grown = true;
    }
    put_spare(a,
              new_chunk(a, (struct oc_ort_chunk){
                               .size = a->next_region, .at = a->top, .before = OC_NONE, .after = OC_NONE}));
    a->held += a->next_region;
    a->top += a->next_region;
    if (!grown)
        a->next_region = a->next_region * 2 < MOST ? a->next_region * 2 : MOST;
}

static void ort_run_split(struct oc_bfc_arena *a, uint32_t i, uint64_t bytes)
{
    struct oc_ort_chunk rest = a->chunk[i];
    rest.size -= bytes;
    rest.at += bytes;
    rest.before = i;
    uint32_t r = new_chunk(a, rest);
    if (rest.after != OC_NONE)
        a->chunk[rest.after].before = r;
    a->chunk[i].size = bytes;
    a->chunk[i].after = r;
    put_spare(a, r);
}

uint32_t oc_bfc_arena_take(struct oc_bfc_arena *a, uint64_t bytes)
{
    if (!bytes || bytes > LIMIT || a->held > LIMIT)
        return OC_NONE;
    uint64_t rounded = (bytes + MIN_BYTES - 1) / MIN_BYTES * MIN_BYTES;
    uint32_t i = best(a, rounded);
    if (i == OC_NONE) {
        ort_run_extend(a, rounded);
        i = best(a, rounded);
    }
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): ort_run_extend() adds a chunk */
    if (a->chunk[i].size >= rounded * 2 || a->chunk[i].size - rounded >= DEAD_BYTES)
        ort_run_split(a, i, rounded);
    struct oc_ort_chunk *c = &a->chunk[i];
    take_spare(a, i);
    c->requested = bytes;
    a->requested += bytes;
    a->in_use += c->size;
    a->max_requested = a->requested > a->max_requested ? a->requested : a->max_requested;
    a->max_in_use = a->in_use > a->max_in_use ? a->in_use : a->max_in_use;
    return i;
}

/* Merges a free chunk with the next one. */
static void ort_run_join(struct oc_bfc_arena *a, uint32_t i, uint32_t behind)
{
    struct oc_ort_chunk *c = &a->chunk[i];
    c->size += a->chunk[behind].size;
    c->after = a->chunk[behind].after;
    if (c->after != OC_NONE)
        a->chunk[c->after].before = i;
    take_spare(a, behind);
    kill(a, behind);
}

void oc_bfc_arena_give(struct oc_bfc_arena *a, uint32_t i)
{
    if (i == OC_NONE)
        return;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): an index comes from oc_bfc_arena_take() */
    a->in_use -= a->chunk[i].size;
    a->requested -= a->chunk[i].requested;
    put_spare(a, i);
    uint32_t after = a->chunk[i].after, before = a->chunk[i].before;
    if (after != OC_NONE && !a->chunk[after].used)
        ort_run_join(a, i, after);
    if (before != OC_NONE && !a->chunk[before].used)
        ort_run_join(a, before, i);
}

/* ---- the plan --------------------------------------------------------------------------------------- */

#define MOST_LOOKS 4096 /* number of dead buffers of other shapes examined; real graphs have fewer */

struct reuse {
    const struct oc_liveness *l;
    const struct oc_model *m;
    const struct oc_ort_shapes *s;
    uint32_t *into;
    uint32_t *uses;          /* by buffer with its own memory: remaining reads, plus one for graph outputs */
    uint32_t *freed, n, cap; /* stack of dead buffers, the last one on top */
};

static uint32_t buffer_of(const struct reuse *r, uint32_t value)
{
    uint32_t i = oc_life_of(r->l, value);
    return i < OC_LIFE_CALLER ? r->into[i] : OC_LIFE_NONE;
}

static void ort_run_count(struct reuse *r, uint32_t value)
{
    uint32_t i = buffer_of(r, value);
    if (i != OC_LIFE_NONE)
        r->uses[i]++;
}

/* Calls `use` for each read of the step, including those of bodies. */
static void each_read(struct reuse *r, uint32_t step, void (*use)(struct reuse *, uint32_t))
{
    const struct oc_node *n = &r->m->node[r->l->step[step]];
    for (uint32_t k = 0; k < n->n_in; k++)
        use(r, n->in[k]);
    uint32_t c = oc_first_capture(r->m->capture, r->m->n_capture, r->l->step[step]);
    for (; c < r->m->n_capture && r->m->capture[c].node == r->l->step[step]; c++)
        use(r, r->m->capture[c].value);
}

static void put_free(struct reuse *r, uint32_t i)
{
    if (!oc_ort_has_sizes(r->s, r->l->life[i].value))
        return; /* matches no other buffer */
    OC_GROW(r->freed, r->n, r->cap);
    r->freed[r->n++] = i;
}

static void done_with(struct reuse *r, uint32_t value)
{
    uint32_t i = buffer_of(r, value);
    if (i != OC_LIFE_NONE && r->uses[i] && --r->uses[i] == 0 && !r->l->life[i].output)
        put_free(r, i);
}

/* A kernel may write over an input of the same size. */
static uint32_t input_to_overwrite(const struct reuse *r, uint32_t node, uint32_t value)
{
    const struct oc_node *n = &r->m->node[node];
    const struct oc_op *op = r->s->open->op[node];
    unsigned overwrites = op ? op->in_place : 0;
    for (unsigned k = 0; k < n->n_in && k < 4; k++) {
        uint32_t i = buffer_of(r, n->in[k]);
        if (i != OC_LIFE_NONE && (overwrites >> k & 1) && r->uses[i] == 1 && !r->l->life[i].output &&
            !r->l->life[i].input && oc_ort_same_size(r->s, n->in[k], value))
            return i;
    }
    return OC_LIFE_NONE;
}

static uint32_t dead_one(struct reuse *r, uint32_t value)
{
    if (r->s->open->type[value].shape.rank == 0)
        return OC_LIFE_NONE;
    for (uint32_t k = r->n; k-- > 0 && r->n - k <= MOST_LOOKS;) {
        uint32_t i = r->freed[k];
        if (!oc_ort_same_size(r->s, r->l->life[i].value, value))
            continue;
        memmove(r->freed + k, r->freed + k + 1, (r->n - k - 1) * sizeof(*r->freed));
        r->n--;
        return i;
    }
    return OC_LIFE_NONE;
}

static void ort_run_place(struct reuse *r, uint32_t step, uint32_t value)
{
    uint32_t i = oc_life_of(r->l, value);
    if (i >= OC_LIFE_CALLER || r->l->life[i].value != value || r->l->life[i].first != step ||
        r->l->life[i].output)
        return;
    uint32_t other = input_to_overwrite(r, r->l->step[step], value);
    if (other == OC_LIFE_NONE && oc_ort_has_sizes(r->s, value))
        other = dead_one(r, value);
    if (other != OC_LIFE_NONE) {
        r->into[i] = other;
        r->uses[other] += r->uses[i];
    }
}

static void plan_step(struct reuse *r, uint32_t step)
{
    const struct oc_node *n = &r->m->node[r->l->step[step]];
    for (uint32_t k = 0; k < n->n_out; k++)
        ort_run_place(r, step, n->out[k]);
    each_read(r, step, done_with);
    for (uint32_t k = 0; k < n->n_out; k++) {
        uint32_t i = buffer_of(r, n->out[k]);
        if (i != OC_LIFE_NONE && r->uses[i] == 0 && !r->l->life[i].output && r->l->life[i].first == step)
            put_free(r, i);
    }
}

void oc_ort_reuse(const struct oc_liveness *l, const struct oc_ort_shapes *s, uint32_t *into)
{
    struct reuse r = {.l = l, .m = l->a->model, .s = s, .into = into};
    r.uses = calloc((size_t)l->n_life + 1, sizeof(*r.uses));
    if (!r.uses)
        oc_out_of_memory(l->n_life);
    for (uint32_t i = 0; i < l->n_life; i++)
        into[i] = i;
    for (uint32_t i = 0; i < l->n_step; i++)
        each_read(&r, i, ort_run_count);
    for (uint32_t i = 0; i < l->n_step; i++)
        plan_step(&r, i);
    free(r.uses);
    free(r.freed);
}

/* ---- ort run ---------------------------------------------------------------------------------------- */

struct run {
    struct oc_bfc_arena arena;
    uint64_t kept_requested, kept_in_use; /* allocated at the start */
    struct oc_liveness_maker *bodies;     /* NULL: none was needed yet */
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

/* Only a reader releases a tensor: an output without one stays to the end, unless its memory is reused. */
static void keep_unread(const struct oc_liveness *l, const uint32_t *into, struct oc_life *life)
{
    for (uint32_t i = 0; i < l->n_life; i++) {
        const struct oc_value *v = &l->a->model->value[life[i].value];
        if (into[i] == i && !v->n_use && life[i].last == life[i].first && l->n_step)
            life[i].last = l->n_step - 1;
    }
}

/* Merges the live ranges of buffers that share memory. */
static struct oc_life *as_planned(struct run *r, const struct oc_liveness *l)
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
    keep_unread(l, into, life);
    free(into);
    return life;
}

/* Counting sort; `at` has room for n_step + 1 after zeros(). */
static void sort_liveness(const struct oc_liveness *l, const struct oc_life *life, bool by_last, uint32_t *at,
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

static int64_t groups_of(const struct oc_node *n)
{
    int64_t groups = oc_node_int(n, "group", 1);
    return groups > 0 ? groups : 1;
}

/* ConvTranspose<float>::PrePack: unless a matrix of one row or column stays as it is. */
static void keep_filter(struct run *r, const struct oc_analysis *a, const struct oc_node *n)
{
    uint32_t w = n->n_in > 1 ? n->in[1] : OC_NONE;
    if (strcmp(n->op_type, "ConvTranspose") != 0 || *n->domain || w == OC_NONE || !a->is_const[w] ||
        a->type[w].dtype != OC_DT_FLOAT || !oc_shape_known(&a->type[w].shape) || a->type[w].shape.rank < 2)
        return;
    int64_t channels = a->type[w].shape.dim[0].v, rest = 1;
    for (unsigned i = 1; i < a->type[w].shape.rank; i++)
        if (!oc_mul_i64(rest, a->type[w].shape.dim[i].v, &rest))
            return;
    uint64_t count;
    if (channels / groups_of(n) > 1 && rest > 1 && oc_mul_u64((uint64_t)channels, (uint64_t)rest, &count) &&
        oc_mul_u64(count, 4, &count))
        oc_bfc_arena_take(&r->arena, count);
}

static void keep_filters(struct run *r, const struct oc_liveness *l)
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
    const struct oc_attr *pads = oc_node_attr(n, "pads"), *strides = oc_node_attr(n, "strides");
    int64_t filters = a->type[w].shape.dim[0].v / groups_of(n);
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
        return 65536; /* MLAS_CONV_WORKING_BUFFER_SIZE_PER_THREAD: 16,384 floats */
    return oc_mul_u64((uint64_t)out, (uint64_t)k, &patches) && oc_mul_u64(patches, 4, &patches) ? patches : 0;
}

/* ---- what is not modelled --------------------------------------------------------------------------- */

/* Functions of the standard without a kernel in the CPU provider: it runs their bodies. */
static bool is_inlined(const struct oc_node *n)
{
    static const char *const names[] = {"AffineGrid",
                                        "CastLike",
                                        "CenterCropPad",
                                        "GroupNormalization",
                                        "HardSwish",
                                        "Mish",
                                        "NegativeLogLikelihoodLoss",
                                        "SoftmaxCrossEntropyLoss",
                                        "Swish"};
    bool found = false;
    for (size_t i = 0; i < OC_COUNT(names) && !*n->domain; i++)
        found |= strcmp(n->op_type, names[i]) == 0;
    return found;
}

static const char *estimate_of_node(const struct oc_analysis *a, uint32_t node)
{
    const struct oc_node *n = &a->model->node[node];
    if (!a->op[node])
        return "operators without a rule";
    if (a->op[node]->body != OC_BODY_NONE)
        return "bodies of control-flow operators have allocation plans of their own";
    if (is_inlined(n) || *a->model->graph[n->graph].scope)
        return "the order of nodes of inlined functions is unknown";
    for (uint32_t k = 0; k < n->n_out; k++) {
        uint32_t v = n->out[k];
        if (v == OC_NONE)
            continue;
        if (a->type[v].kind == OC_T_SEQUENCE || a->type[v].kind == OC_T_OPTIONAL)
            return "kernels copy the elements of sequences";
        if (a->type[v].dtype == OC_DT_FLOAT16 || a->type[v].dtype == OC_DT_BFLOAT16)
            return "the runtime inserts Cast nodes around operators without a float16 kernel";
    }
    return NULL;
}

static const char *find_estimate(const struct run *r, const struct oc_liveness *l)
{
    const char *found = r->shapes ? NULL : "the shapes without sizes are unknown";
    for (uint32_t i = 0; i < l->n_step && !found; i++)
        found = estimate_of_node(l->a, l->step[i]);
    return found;
}

static void run_graph(struct run *r, const struct oc_liveness *l);

/* The body with the largest need. */
static void ort_run_body(struct run *r, const struct oc_liveness *l, uint32_t step)
{
    if (!l->inner[step])
        return;
    if (!r->bodies)
        r->bodies = oc_liveness_maker_new(l->a, &l->opts);
    struct oc_liveness *inner = oc_liveness_of_largest(r->bodies, l->step[step]);
    if (inner)
        run_graph(r, inner);
    oc_liveness_free(inner);
}

static void run_graph(struct run *r, const struct oc_liveness *l)
{
    const struct oc_model *m = l->a->model;
    struct by_step b = {zeros(l->n_step + 1u), zeros(l->n_life), zeros(l->n_step + 1u), zeros(l->n_life)};
    uint32_t *chunk = zeros(l->n_life);
    struct oc_life *life = as_planned(r, l);
    sort_liveness(l, life, false, b.made_at, b.made);
    sort_liveness(l, life, true, b.last_at, b.last);
    for (uint32_t s = 0; s < l->n_step; s++) {
        for (uint32_t i = b.made_at[s]; i < b.made_at[s + 1]; i++)
            chunk[b.made[i]] = oc_bfc_arena_take(&r->arena, life[b.made[i]].bytes);
        oc_bfc_arena_give(&r->arena,
                          oc_bfc_arena_take(&r->arena, conv_workspace(l->a, &m->node[l->step[s]])));
        ort_run_body(r, l, s);
        update_peak(r, l->step[s]);
        for (uint32_t i = b.last_at[s]; i < b.last_at[s + 1]; i++)
            oc_bfc_arena_give(&r->arena, chunk[b.last[i]]);
    }
    free(life);
    free(b.made_at);
    free(b.made);
    free(b.last_at);
    free(b.last);
    free(chunk);
}

struct oc_ort_run oc_ort_first_run(const struct oc_liveness *liveness, const struct oc_analysis *open)
{
    struct run r = {.seen = {.requested_at = OC_NONE, .in_use_at = OC_NONE}};
    oc_bfc_arena_init(&r.arena);
    struct oc_ort_shapes shapes;
    if (open) {
        oc_ort_shapes_init(&shapes, open);
        r.shapes = &shapes;
    }
    keep_filters(&r, liveness);
    run_graph(&r, liveness);
    r.seen.estimate = find_estimate(&r, liveness);
    if (open)
        oc_ort_shapes_free(&shapes);
    if (r.bodies)
        oc_liveness_maker_free(r.bodies);
    r.seen.held = r.arena.held;
    oc_bfc_arena_free(&r.arena);
    return r.seen;
}
