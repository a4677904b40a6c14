/* gate/: Verdicts: a report against limits and baselines (check), two reports against each other (diff).
 * Alignment and verdicts read the figures of a report and compute none. A metric is a row of limits.c and a
 * value of check.c. */

#include "gate/diff.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "gate/limits.h"
#include "join/join.h"

enum { MAX_CELLS = 1 << 18, ALL_CELLS = 1 << 22, MAX_DEPTH = 48 };

/* Longest increasing subsequence by patience sorting; each element links to the top of the previous pile. */
void oc_ascending(const uint32_t *value, uint32_t n, uint8_t *keep)
{
    uint32_t *top = oc_xmalloc(((size_t)n + 1) * sizeof(*top)),
             *before = oc_xmalloc(((size_t)n + 1) * sizeof(*before));
    uint32_t piles = 0;
    memset(keep, 0, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t lo = 0, hi = piles;
        while (lo < hi) {
            uint32_t mid = lo + (hi - lo) / 2;
            if (value[top[mid]] < value[i])
                lo = mid + 1;
            else
                hi = mid;
        }
        before[i] = lo ? top[lo - 1] : UINT32_MAX;
        top[lo] = i;
        piles += lo == piles;
    }
    for (uint32_t i = piles ? top[piles - 1] : UINT32_MAX; i != UINT32_MAX; i = before[i])
        keep[i] = 1;
    free(top);
    free(before);
}

/* ---- one range of both sequences -------------------------------------------------------------------- */

struct step_range {
    uint32_t a, a_end, b, b_end;
    unsigned depth;
};

struct lcs {
    const uint64_t *a, *b;
    oc_lcs_fn report;
    void *user;
    size_t cells; /* budget for exact tables */
    struct step_range *todo;
    size_t n, cap;
};

static void lcs_push(struct lcs *x, struct step_range r)
{
    OC_GROW(x->todo, x->n, x->cap);
    x->todo[x->n++] = r;
}

static void trim(struct lcs *x, struct step_range *r)
{
    while (r->a < r->a_end && r->b < r->b_end && x->a[r->a] == x->b[r->b])
        x->report(x->user, r->a++, r->b++);
    while (r->a < r->a_end && r->b < r->b_end && x->a[r->a_end - 1] == x->b[r->b_end - 1])
        x->report(x->user, --r->a_end, --r->b_end);
}

/* Dynamic programming from the ends with two rows of lengths and a byte of direction per cell. */
static void lcs_exact(struct lcs *x, const struct step_range *r)
{
    uint32_t n = r->a_end - r->a, m = r->b_end - r->b, i = 0, j = 0;
    uint32_t *below = oc_xmalloc(((size_t)m + 1) * sizeof(*below)),
             *row = oc_xmalloc(((size_t)m + 1) * sizeof(*row));
    uint8_t *step = oc_xmalloc((size_t)n * m);
    memset(below, 0, ((size_t)m + 1) * sizeof(*below));
    for (uint32_t k = n; k-- > 0;) {
        row[m] = 0;
        for (uint32_t l = m; l-- > 0;) {
            bool same = x->a[r->a + k] == x->b[r->b + l];
            row[l] = same ? below[l + 1] + 1 : below[l] >= row[l + 1] ? below[l] : row[l + 1];
            step[(size_t)k * m + l] = same ? 0 : below[l] >= row[l + 1] ? 1 : 2;
        }
        uint32_t *swap = below;
        below = row;
        row = swap;
    }
    while (i < n && j < m) {
        uint8_t s = step[(size_t)i * m + j];
        if (!s)
            x->report(x->user, r->a + i, r->b + j);
        i += s != 2;
        j += s != 1;
    }
    x->cells -= (size_t)n * m < x->cells ? (size_t)n * m : x->cells;
    free(below);
    free(row);
    free(step);
}

/* ---- long ranges: keys that occur equally often on both sides --------------------------------------- */

struct place {
    uint64_t key;
    uint32_t at;
    bool of_b;
};

static int lcs_by_key(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->of_b != y->of_b)
        return x->of_b - y->of_b;
    return (x->at > y->at) - (x->at < y->at);
}

static struct place *sorted_places(const struct lcs *x, const struct step_range *r, uint32_t *n)
{
    struct place *p = oc_xmalloc(((size_t)(r->a_end - r->a) + (r->b_end - r->b)) * sizeof(*p));
    *n = 0;
    for (uint32_t i = r->a; i < r->a_end; i++)
        p[(*n)++] = (struct place){x->a[i], i, false};
    for (uint32_t i = r->b; i < r->b_end; i++)
        p[(*n)++] = (struct place){x->b[i], i, true};
    qsort(p, *n, sizeof(*p), lcs_by_key);
    return p;
}

/* partner[i]: candidate position in b for a[i], UINT32_MAX: none. unique: only keys that occur once on
 * each side; otherwise the n-th occurrence on one side pairs with the n-th on the other. */
static uint32_t find_partners(const struct place *p, uint32_t n, uint32_t from, uint32_t *partner,
                              bool unique)
{
    uint32_t found = 0;
    for (uint32_t i = 0, end; i < n; i = end) {
        uint32_t split = i;
        for (end = i; end < n && p[end].key == p[i].key; end++)
            split += !p[end].of_b;
        uint32_t of_a = split - i, of_b = end - split;
        if (!of_a || !of_b || (unique && (of_a > 1 || of_b > 1)))
            continue;
        for (uint32_t k = 0; k < of_a && k < of_b; k++, found++)
            partner[p[i + k].at - from] = p[split + k].at;
    }
    return found;
}

/* Splits the range at the order-preserving pairs. False: there are none. */
static bool lcs_split(struct lcs *x, const struct step_range *r, const uint32_t *partner, uint32_t found)
{
    uint32_t n = r->a_end - r->a, k = 0;
    uint32_t *at = oc_xmalloc(((size_t)found + 1) * sizeof(*at)),
             *value = oc_xmalloc(((size_t)found + 1) * sizeof(*value));
    uint8_t *keep = oc_xmalloc((size_t)found + 1);
    for (uint32_t i = 0; i < n; i++)
        if (partner[i] != UINT32_MAX) {
            at[k] = r->a + i;
            value[k++] = partner[i];
        }
    oc_ascending(value, k, keep);
    struct step_range next = {r->a, r->a, r->b, r->b, r->depth + 1};
    for (uint32_t i = 0; i < k; i++) {
        if (!keep[i])
            continue;
        x->report(x->user, at[i], value[i]);
        next.a_end = at[i];
        next.b_end = value[i];
        lcs_push(x, next);
        next.a = at[i] + 1;
        next.b = value[i] + 1;
    }
    next.a_end = r->a_end;
    next.b_end = r->b_end;
    if (k)
        lcs_push(x, next);
    free(at);
    free(value);
    free(keep);
    return k > 0;
}

static bool lcs_divide(struct lcs *x, const struct step_range *r, bool unique)
{
    uint32_t n_place, n = r->a_end - r->a;
    uint32_t *partner = oc_xmalloc((size_t)n * sizeof(*partner));
    struct place *p = sorted_places(x, r, &n_place);
    memset(partner, 0xff, (size_t)n * sizeof(*partner));
    uint32_t found = find_partners(p, n_place, r->a, partner, unique);
    bool any = found && lcs_split(x, r, partner, found);
    free(p);
    free(partner);
    return any;
}

static void lcs_solve(struct lcs *x, struct step_range r)
{
    trim(x, &r);
    size_t cells = (size_t)(r.a_end - r.a) * (r.b_end - r.b);
    if (!cells)
        return;
    if (cells <= 4096 || (r.depth && cells <= MAX_CELLS && cells <= x->cells)) {
        lcs_exact(x, &r);
        return;
    }
    if (r.depth < MAX_DEPTH && lcs_divide(x, &r, true))
        return;
    if (cells <= MAX_CELLS && cells <= x->cells)
        lcs_exact(x, &r);
    else if (r.depth < MAX_DEPTH)
        lcs_divide(x, &r, false);
}

void oc_lcs(const uint64_t *a, uint32_t n, const uint64_t *b, uint32_t m, oc_lcs_fn report, void *user)
{
    struct lcs x = {.a = a, .b = b, .report = report, .user = user, .cells = ALL_CELLS};
    lcs_push(&x, (struct step_range){0, n, 0, m, 0});
    while (x.n)
        lcs_solve(&x, x.todo[--x.n]);
    free(x.todo);
}

struct side {
    const struct oc_analysis *a;
    const struct oc_model *m;
    struct oc_graph_index x;
    uint32_t *place;   /* by node: position in the order, OC_NONE */
    uint64_t *full;    /* by node: hash of type, attributes, shapes */
    uint64_t *outline; /* of type and attributes */
    uint64_t *type;    /* of the type alone */
    uint64_t *kin;     /* of the base type: FusedConv, QLinearConv and nchwc:Conv are all Conv */
};

struct aligning {
    struct side s[2];
    struct oc_alignment *out;
    struct oc_arena *arena;
};

const char *oc_align_rule_name(unsigned rule)
{
    static const char *const name[] = {"none",        "same",   "name",      "plain name",
                                       "output name", "weight", "structure", "neighbour",
                                       "type",        "kind",   "work"};
    return rule < OC_ALIGN_RULES ? name[rule] : "?";
}

/* ---- hashes ----------------------------------------------------------------------------------------- */

static uint64_t align_mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static uint64_t mix_bytes(uint64_t h, const void *data, size_t n)
{
    const uint8_t *p = data;
    uint64_t k = 1469598103934665603u; /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        k = (k ^ p[i]) * 1099511628211u;
    return align_mix(h, k);
}

static uint64_t mix_text(uint64_t h, const char *s)
{
    return mix_bytes(h, s, strlen(s));
}

static uint64_t mix_type(uint64_t h, const struct oc_type *t)
{
    h = align_mix(align_mix(h, t->kind), t->dtype);
    if (t->kind != OC_T_TENSOR || !t->shape.ranked)
        return h;
    h = align_mix(h, t->shape.rank);
    for (unsigned i = 0; i < t->shape.rank; i++)
        h = align_mix(h, oc_is_known(t->shape.dim[i]) ? (uint64_t)t->shape.dim[i].v : UINT64_MAX);
    return h;
}

static uint64_t mix_values(uint64_t h, const struct oc_analysis *a, const uint32_t *value, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        h = value[i] == OC_NONE ? align_mix(h, 7) : mix_type(h, &a->type[value[i]]);
    return h;
}

/* Tensor contents are excluded: weights may be gigabytes in another file. */
static uint64_t mix_tensors(uint64_t h, const struct oc_attr *t)
{
    const struct oc_tensor *one;
    for (uint32_t i = 0; (one = oc_attr_tensor_at(t, i)); i++)
        h = align_mix(align_mix(h, one->dtype), one->elements);
    return align_mix(h, t->n);
}

static uint64_t attr_hash(const struct oc_attr *t)
{
    uint64_t h = align_mix(mix_text(1, t->name), t->type);
    switch (t->type) {
    case OC_ATTR_INT:
        return align_mix(h, (uint64_t)t->i);
    case OC_ATTR_FLOAT:
        return mix_bytes(h, &t->f, sizeof(t->f));
    case OC_ATTR_STRING:
        return mix_bytes(h, t->s.s, t->s.n);
    case OC_ATTR_INTS:
        return mix_bytes(h, t->ints, t->n * sizeof(*t->ints));
    case OC_ATTR_FLOATS:
        return mix_bytes(h, t->floats, t->n * sizeof(*t->floats));
    case OC_ATTR_STRINGS:
        for (uint32_t i = 0; i < t->n; i++)
            h = mix_bytes(h, t->strings[i].s, t->strings[i].n);
        return h;
    default:
        return mix_tensors(h, t);
    }
}

/* 64-bit hashes stand for equality: a collision hides one changed attribute. */
bool oc_attr_same(const struct oc_attr *a, const struct oc_attr *b)
{
    return attr_hash(a) == attr_hash(b);
}

static uint64_t kin_hash(const char *type)
{
    static const char *const before[] = {"Nhwc",  "Fused", "QLinear", "Dynamic",
                                         "Quick", "Fast",  "Bias",    "Skip"};
    for (size_t i = 0; i < OC_COUNT(before); i++) {
        size_t n = strlen(before[i]);
        if (strncmp(type, before[i], n) == 0 && type[n] >= 'A' && type[n] <= 'Z')
            return kin_hash(type + n);
    }
    return mix_text(3, strcmp(type, "Gemm") == 0 || strncmp(type, "MatMul", 6) == 0 ? "MatMul" : type);
}

static void hash_node(struct side *s, uint32_t i)
{
    const struct oc_node *n = &s->m->node[i];
    uint64_t attrs = 0; /* independent of their order */
    for (uint32_t k = 0; k < n->n_attr; k++)
        attrs += oc_attr_is_default(s->a, n, &n->attr[k]) ? 0 : attr_hash(&n->attr[k]);
    s->type[i] = align_mix(mix_text(mix_text(2, n->op_type), n->domain), n->graph != 0);
    s->kin[i] = kin_hash(n->op_type);
    s->outline[i] = align_mix(align_mix(s->type[i], attrs), n->n_in);
    s->full[i] = mix_values(mix_values(s->outline[i], s->a, n->in, n->n_in), s->a, n->out, n->n_out);
}

/* ---- selection of nodes ----------------------------------------------------------------------------- */

static bool align_takes_part(const struct oc_analysis *a, uint32_t i)
{
    const struct oc_node *n = &a->model->node[i];
    bool constant = oc_node_is_constant(n);
    return oc_node_counts(a, i) && (!constant || oc_node_has_work(&a->cost[i]));
}

static void align_open_side(struct aligning *x, unsigned which, const struct oc_analysis *a)
{
    struct side *s = &x->s[which];
    const struct oc_model *m = a->model;
    size_t n = (size_t)m->n_node + 1;
    *s = (struct side){.a = a, .m = m};
    oc_index_make(&s->x, m, x->arena);
    s->place = OC_NEW_ARRAY(x->arena, n, uint32_t);
    s->full = OC_NEW_ARRAY(x->arena, n, uint64_t);
    s->outline = OC_NEW_ARRAY(x->arena, n, uint64_t);
    s->type = OC_NEW_ARRAY(x->arena, n, uint64_t);
    s->kin = OC_NEW_ARRAY(x->arena, n, uint64_t);
    x->out->order[which] = OC_NEW_ARRAY(x->arena, n, uint32_t);
    for (uint32_t i = 0; i < m->n_node; i++)
        s->place[i] = OC_NONE;
    for (uint32_t g = 0; g < m->n_graph; g++)
        for (uint32_t k = 0; k < m->graph[g].n_node; k++) {
            uint32_t i = m->graph[g].node[k];
            if (!align_takes_part(a, i))
                continue;
            hash_node(s, i);
            s->place[i] = x->out->n[which];
            x->out->order[which][x->out->n[which]++] = i;
        }
}

static void align_pair(struct aligning *x, uint32_t a, uint32_t b, enum oc_align_rule rule)
{
    x->out->b_of_a[a] = b;
    x->out->a_of_b[b] = a;
    x->out->rule[a] = (uint8_t)rule;
}

static bool align_is_free(const struct aligning *x, unsigned which, uint32_t node)
{
    return node != OC_NONE && x->s[which].place[node] != OC_NONE &&
           (which ? x->out->a_of_b : x->out->b_of_a)[node] == OC_NONE;
}

/* ---- names ------------------------------------------------------------------------------------------ */

static bool all_digits(const char *s)
{
    return !s[strspn(s, "0123456789")];
}

bool oc_name_is_made_up(const char *name, const char *op_type)
{
    size_t n = strlen(name), type = strlen(op_type);
    if (all_digits(name))
        return true;
    while (n && isdigit((unsigned char)name[n - 1]))
        n--;
    if (!name[n] || strchr(name, '/'))
        return false;
    while (n && strchr("_.-:", name[n - 1]))
        n--;
    return n >= type && oc_ncasecmp(name + n - type, op_type, type) == 0;
}

/* Writes the nth key of a node; returns its length, 0: no such key. */
typedef size_t (*key_fn)(const struct side *s, uint32_t node, uint32_t nth, char *key, size_t cap);

static size_t with_type(const struct oc_node *n, const char *text, char *key, size_t cap)
{
    int len = snprintf(key, cap, "%s:%s %s", n->domain, n->op_type, text);
    return len > 0 && (size_t)len < cap ? (size_t)len : 0;
}

static size_t name_key(const struct side *s, uint32_t node, uint32_t nth, char *key, size_t cap)
{
    const struct oc_node *n = &s->m->node[node];
    return nth || oc_name_is_made_up(n->name, n->op_type) ? 0 : with_type(n, n->name, key, cap);
}

static size_t plain_key(const struct side *s, uint32_t node, uint32_t nth, char *key, size_t cap)
{
    const struct oc_node *n = &s->m->node[node];
    size_t len = name_key(s, node, nth, key, cap), from = len ? len - strlen(n->name) : 0, out = from;
    for (size_t i = from; i < len; i++)
        if (oc_is_alnum((unsigned char)key[i]))
            key[out++] = (char)oc_lower((unsigned char)key[i]);
    return out > from ? out : 0;
}

static size_t output_key(const struct side *s, uint32_t node, uint32_t nth, char *key, size_t cap)
{
    const struct oc_node *n = &s->m->node[node];
    if (nth || !n->n_out || n->out[0] == OC_NONE)
        return 0;
    const char *name = s->m->value[n->out[0]].name;
    return oc_name_is_made_up(name, n->op_type) ? 0 : with_type(n, name, key, cap);
}

/* The nth input, if it is a constant with a name that is not generated. */
static size_t weight_key(const struct side *s, uint32_t node, uint32_t nth, char *key, size_t cap)
{
    const struct oc_node *n = &s->m->node[node];
    uint32_t v = nth < n->n_in ? n->in[nth] : OC_NONE;
    if (v == OC_NONE || !s->m->value[v].constant || s->m->value[v].n_use != 1 ||
        oc_name_is_made_up(s->m->value[v].name, n->op_type))
        return 0;
    return with_type(n, s->m->value[v].name, key, cap);
}

enum { TWICE = UINT32_MAX - 1, KEY = 2048 };

/* Maps keys to nodes of b; TWICE: several nodes have the key. */
static void index_keys(struct aligning *x, key_fn key_of, uint32_t slots, struct oc_map *map)
{
    char key[KEY];
    for (uint32_t i = 0; i < x->out->n[1]; i++) {
        uint32_t node = x->out->order[1][i];
        for (uint32_t k = 0; k < slots && align_is_free(x, 1, node); k++) {
            size_t len = key_of(&x->s[1], node, k, key, sizeof(key));
            uint32_t value = node;
            if (len && !oc_map_add(map, key, len, &value, NULL) && value != node)
                oc_map_set(map, key, len, TWICE);
        }
    }
}

/* Pairs nodes whose key is unique on both sides. */
static void align_by_key(struct aligning *x, key_fn key_of, uint32_t slots, enum oc_align_rule rule)
{
    struct oc_arena scratch = {0};
    struct oc_map of_b = {.arena = &scratch}, taken = {.arena = &scratch};
    char key[KEY];
    index_keys(x, key_of, slots, &of_b);
    for (unsigned round = 0; round < 2; round++)
        for (uint32_t i = 0; i < x->out->n[0]; i++) {
            uint32_t node = x->out->order[0][i];
            for (uint32_t k = 0; k < slots && align_is_free(x, 0, node); k++) {
                size_t len = key_of(&x->s[0], node, k, key, sizeof(key));
                uint32_t value = node, partner = len ? oc_map_get(&of_b, key, len) : OC_NONE;
                if (partner == OC_NONE || partner == TWICE)
                    continue;
                if (!round) { /* unique in a? */
                    if (!oc_map_add(&taken, key, len, &value, NULL) && value != node)
                        oc_map_set(&taken, key, len, TWICE);
                } else if (oc_map_get(&taken, key, len) == node && align_is_free(x, 1, partner)) {
                    align_pair(x, node, partner, rule);
                }
            }
        }
    oc_map_free(&of_b);
    oc_map_free(&taken);
    oc_arena_free(&scratch);
}

/* ---- neighbours ------------------------------------------------------------------------------------- */

struct walk {
    uint32_t *todo; /* nodes of a that have just been paired; heap */
    size_t n, cap;
};

static void align_step(struct aligning *x, struct walk *w, uint32_t p, uint32_t q, bool loose)
{
    if (!align_is_free(x, 0, p) || !align_is_free(x, 1, q) ||
        (loose ? x->s[0].type[p] != x->s[1].type[q] : x->s[0].full[p] != x->s[1].full[q]))
        return;
    align_pair(x, p, q, OC_ALIGN_NEIGHBOUR);
    OC_GROW(w->todo, w->n, w->cap);
    w->todo[w->n++] = p;
}

static uint32_t align_producer(const struct side *s, const struct oc_node *n, uint32_t slot)
{
    return n->in[slot] == OC_NONE ? OC_NONE : s->m->value[n->in[slot]].producer;
}

/* The only reader of the first output. */
static uint32_t align_reader(const struct side *s, const struct oc_node *n)
{
    uint32_t v = n->n_out ? n->out[0] : OC_NONE;
    if (v == OC_NONE || s->x.use_first[v + 1] - s->x.use_first[v] != 1)
        return OC_NONE;
    return s->x.use[s->x.use_first[v]];
}

static void propagate(struct aligning *x, bool loose)
{
    struct walk w = {0};
    for (uint32_t i = x->out->n[0]; i-- > 0;) /* a stack: the first node last */
        if (x->out->b_of_a[x->out->order[0][i]] != OC_NONE) {
            OC_GROW(w.todo, w.n, w.cap);
            w.todo[w.n++] = x->out->order[0][i];
        }
    while (w.n) {
        uint32_t a = w.todo[--w.n], b = x->out->b_of_a[a];
        const struct oc_node *p = &x->s[0].m->node[a], *q = &x->s[1].m->node[b];
        for (uint32_t k = 0; k < p->n_in && k < q->n_in; k++)
            align_step(x, &w, align_producer(&x->s[0], p, k), align_producer(&x->s[1], q, k), loose);
        align_step(x, &w, align_reader(&x->s[0], p), align_reader(&x->s[1], q), loose);
    }
    free(w.todo);
}

/* ---- order ------------------------------------------------------------------------------------------ */

/* Unpaired nodes between two consecutive anchors. */
struct gap {
    struct aligning *x;
    uint32_t *node[2];
    uint64_t *key[2];
    uint32_t n[2];
    enum oc_align_rule rule;
};

static void pair_in_gap(void *user, uint32_t i, uint32_t j)
{
    struct gap *g = user;
    align_pair(g->x, g->node[0][i], g->node[1][j], g->rule);
}

static void align_collect(struct gap *g, unsigned which, uint32_t from, uint32_t to, const uint64_t *key)
{
    g->n[which] = 0;
    for (uint32_t i = from; i < to; i++) {
        uint32_t node = g->x->out->order[which][i];
        if (!align_is_free(g->x, which, node))
            continue;
        g->node[which][g->n[which]] = node;
        g->key[which][g->n[which]++] = key[node];
    }
}

/* Anchors: pairs in ascending order on both sides (longest increasing subsequence). Returns their number;
 * at, to: their positions in a and b. */
static uint32_t anchors(struct aligning *x, uint32_t *at, uint32_t *to)
{
    uint32_t n = 0, kept = 0;
    for (uint32_t i = 0; i < x->out->n[0]; i++) {
        uint32_t b = x->out->b_of_a[x->out->order[0][i]];
        if (b == OC_NONE)
            continue;
        at[n] = i;
        to[n++] = x->s[1].place[b];
    }
    uint8_t *keep = oc_xmalloc((size_t)n + 1);
    oc_ascending(to, n, keep);
    for (uint32_t i = 0; i < n; i++)
        if (keep[i]) {
            at[kept] = at[i];
            to[kept++] = to[i];
        }
    free(keep);
    return kept;
}

static void align_in_order(struct aligning *x, const uint64_t *key_a, const uint64_t *key_b,
                           enum oc_align_rule rule)
{
    struct oc_arena scratch = {0};
    struct gap g = {.x = x, .rule = rule};
    size_t n = (size_t)x->out->n[0] + 1, m = (size_t)x->out->n[1] + 1;
    uint32_t *at = OC_NEW_ARRAY(&scratch, n, uint32_t), *to = OC_NEW_ARRAY(&scratch, n, uint32_t);
    uint32_t n_anchor = anchors(x, at, to), from_a = 0, from_b = 0;
    g.node[0] = OC_NEW_ARRAY(&scratch, n, uint32_t);
    g.node[1] = OC_NEW_ARRAY(&scratch, m, uint32_t);
    g.key[0] = OC_NEW_ARRAY(&scratch, n, uint64_t);
    g.key[1] = OC_NEW_ARRAY(&scratch, m, uint64_t);
    for (uint32_t i = 0; i <= n_anchor; i++) {
        align_collect(&g, 0, from_a, i < n_anchor ? at[i] : x->out->n[0], key_a);
        align_collect(&g, 1, from_b, i < n_anchor ? to[i] : x->out->n[1], key_b);
        if (g.n[0] && g.n[1])
            oc_lcs(g.key[0], g.n[0], g.key[1], g.n[1], pair_in_gap, &g);
        from_a = i < n_anchor ? at[i] + 1 : 0;
        from_b = i < n_anchor ? to[i] + 1 : 0;
    }
    oc_arena_free(&scratch);
}

/* ---- remaining nodes: equal names with different types ---------------------------------------------- */

static void by_name_alone(struct aligning *x)
{
    for (uint32_t i = 0; i < x->out->n[0]; i++) {
        uint32_t a = x->out->order[0][i];
        const struct oc_node *n = &x->s[0].m->node[a];
        if (!align_is_free(x, 0, a) || oc_name_is_made_up(n->name, n->op_type))
            continue;
        uint32_t b = oc_map_get(&x->s[1].x.nodes, n->name, strlen(n->name));
        if (align_is_free(x, 1, b) && x->s[1].x.next_node[b] == OC_NONE &&
            !oc_name_is_made_up(n->name, x->s[1].m->node[b].op_type))
            align_pair(x, a, b, OC_ALIGN_NAME);
    }
}

/* ---- public ----------------------------------------------------------------------------------------- */

static uint32_t most_inputs(const struct oc_model *m)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < m->n_node; i++)
        most = m->node[i].n_in > most ? m->node[i].n_in : most;
    return most < 8 ? most : 8;
}

void oc_align(const struct oc_analysis *a, const struct oc_analysis *b, struct oc_arena *arena,
              struct oc_alignment *out)
{
    struct aligning x = {.out = out, .arena = arena};
    *out = (struct oc_alignment){.b_of_a = OC_NEW_ARRAY(arena, (size_t)a->model->n_node + 1, uint32_t),
                                 .a_of_b = OC_NEW_ARRAY(arena, (size_t)b->model->n_node + 1, uint32_t),
                                 .rule = OC_NEW_ARRAY(arena, (size_t)a->model->n_node + 1, uint8_t)};
    memset(out->b_of_a, 0xff, ((size_t)a->model->n_node + 1) * sizeof(uint32_t));
    memset(out->a_of_b, 0xff, ((size_t)b->model->n_node + 1) * sizeof(uint32_t));
    align_open_side(&x, 0, a);
    align_open_side(&x, 1, b);
    if (a->model == b->model)
        for (uint32_t i = 0; i < out->n[0]; i++)
            if (align_is_free(&x, 1, out->order[0][i]))
                align_pair(&x, out->order[0][i], out->order[0][i], OC_ALIGN_SAME);
    align_by_key(&x, name_key, 1, OC_ALIGN_NAME);
    align_by_key(&x, plain_key, 1, OC_ALIGN_PLAIN);
    align_by_key(&x, output_key, 1, OC_ALIGN_OUTPUT);
    align_by_key(&x, weight_key, most_inputs(a->model), OC_ALIGN_WEIGHT);
    propagate(&x, false);
    align_in_order(&x, x.s[0].full, x.s[1].full, OC_ALIGN_STRUCTURE);
    align_in_order(&x, x.s[0].outline, x.s[1].outline, OC_ALIGN_STRUCTURE);
    by_name_alone(&x);
    propagate(&x, true);
    align_in_order(&x, x.s[0].type, x.s[1].type, OC_ALIGN_TYPE);
    align_in_order(&x, x.s[0].kin, x.s[1].kin, OC_ALIGN_KIN);
    oc_index_free(&x.s[0].x);
    oc_index_free(&x.s[1].x);
}
