/* provider/: What an execution provider of ONNX Runtime takes of a model: operator lists (data in
 * hwdb/providers), assignment, partitions, transfers. A condition that cannot be decided is reported as
 * such, not guessed. */

/* The assignment of nodes to providers, as ONNX Runtime makes it: each provider in order takes what it can of
 * what is left. Computed for two cases: every condition that is not decided holds, or none. */
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "provider/provider.h"

struct assigning {
    struct oc_assignment *x;
    const struct oc_model *m;
    struct oc_provider_verdict *verdict; /* of the current provider, by node */
    uint8_t *at;                         /* by node: the provider in this case */
    const struct oc_provider_row **row;  /* by node: its row in the list of that provider */
    bool *on_host;                       /* by value: in host memory */
    bool optimistic;
    uint32_t *use_first; /* uses of value v: use[use_first[v] .. use_first[v + 1]] */
    struct use *use;
};

struct use {
    uint32_t node, slot; /* of an input; OC_NONE: a body of the node reads the value */
};

static bool node_runs(const struct oc_assignment *x, uint32_t i)
{
    const struct oc_node *n = &x->analysis->model->node[i];
    return n->kind == OC_NODE_OP && !oc_node_is_constant(n) && x->file->cost[i].state != OC_NODE_FOLDED &&
           x->analysis->cost[i].state != OC_NODE_NOT_TAKEN;
}

/* ---- one provider ----------------------------------------------------------------------------------- */

static bool is_taken(const struct assigning *s, uint32_t node)
{
    unsigned takes = s->verdict[node].takes;
    return takes == OC_TAKES_YES || (takes == OC_TAKES_MAYBE && s->optimistic);
}

/* A constant of at most 100 elements, or an input of the graph: they do not keep a node from host memory. */
static bool is_small(const struct assigning *s, uint32_t graph, uint32_t value)
{
    enum { SMALL = 100 };
    uint64_t n;
    if (s->m->value[value].graph_input && s->m->value[value].graph == graph)
        return true;
    return s->x->file->is_const[value] && oc_type_elements(&s->x->analysis->type[value], &n) && n <= SMALL;
}

static bool reads_host(const struct assigning *s, uint32_t node)
{
    const struct oc_node *n = &s->m->node[node];
    for (uint32_t i = 0; i < n->n_in; i++)
        if (n->in[i] != OC_NONE && s->on_host[n->in[i]])
            return true;
    return false;
}

/* ONNX Runtime's GetCpuPreferredNodes: a node that reads only host memory, and whose kernel would need it on
 * the device, runs on the CPU. Half precision and absent inputs exclude it. */
static bool prefers_host(const struct assigning *s, uint32_t node)
{
    const struct oc_node *n = &s->m->node[node];
    const struct oc_provider_row *row = s->verdict[node].row;
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint32_t v = n->in[i];
        if (v == OC_NONE)
            return false;
        unsigned type = s->x->analysis->type[v].dtype;
        const struct oc_dtype_info *info = oc_dtype_info(type);
        if (info->kind == OC_KIND_FLOAT && info->bits < 32)
            return false;
        if (s->on_host[v]) {
            if (i < 32 && row && (row->host_in & 1u << i))
                return false;
        } else if (!is_small(s, n->graph, v)) {
            return false;
        }
    }
    return reads_host(s, node);
}

static void mark_host(struct assigning *s, uint32_t node, uint32_t outputs)
{
    const struct oc_node *n = &s->m->node[node];
    for (uint32_t i = 0; i < n->n_out && i < 32; i++)
        if (n->out[i] != OC_NONE && (outputs & 1u << i))
            s->on_host[n->out[i]] = true;
}

/* Takes nodes of a graph in topological order. */
static void take_graph(struct assigning *s, const struct oc_graph *g, unsigned p)
{
    const struct oc_provider *provider = s->x->providers->list[p];
    for (uint32_t k = 0; k < g->n_node; k++) {
        uint32_t i = g->node[k];
        if (!s->x->node[i].runs || s->at[i] != OC_NO_PROVIDER)
            continue;
        bool taken = is_taken(s, i);
        if (taken && provider->host && prefers_host(s, i)) {
            taken = false;
            s->verdict[i].takes = OC_TAKES_NO;
            s->verdict[i].reason = "reads only host memory: ONNX Runtime prefers the CPU";
        }
        if (!taken) {
            mark_host(s, i, provider->host && reads_host(s, i) ? UINT32_MAX : 0);
            continue;
        }
        s->at[i] = (uint8_t)p;
        s->row[i] = s->verdict[i].row;
        if (s->row[i])
            mark_host(s, i, s->row[i]->host_out);
    }
}

static void note_reason(struct assigning *s, unsigned p)
{
    for (uint32_t i = 0; i < s->m->n_node; i++) {
        struct oc_assigned *n = &s->x->node[i];
        if (!n->runs)
            continue;
        bool left = s->at[i] == OC_NO_PROVIDER || s->at[i] == p;
        if (left && n->first == OC_NO_PROVIDER && s->verdict[i].takes != OC_TAKES_YES) {
            n->first = (uint8_t)p;
            n->reason = s->verdict[i].reason;
        }
        if (s->optimistic && s->at[i] == p)
            n->casts = s->verdict[i].casts;
    }
}

/* A provider that compiles groups takes control flow with all nodes of its bodies, or not at all. Bodies have
 * higher numbers than the graph of their node. */
static void check_bodies(struct assigning *s)
{
    for (uint32_t g = s->m->n_graph; g-- > 1;) {
        uint32_t parent = s->m->graph[g].parent_node;
        struct oc_provider_verdict *v = parent == OC_NONE ? NULL : &s->verdict[parent];
        for (uint32_t k = 0; v && k < s->m->graph[g].n_node; k++) {
            uint32_t i = s->m->graph[g].node[k];
            if (!s->x->node[i].runs || s->verdict[i].takes >= v->takes)
                continue;
            v->takes = s->verdict[i].takes;
            v->reason = oc_printf(&s->x->arena, "its body has %.40s: %s", s->m->node[i].op_type,
                                  s->verdict[i].reason ? s->verdict[i].reason : "not supported");
        }
    }
}

static void take(struct assigning *s, unsigned p)
{
    const struct oc_provider *provider = s->x->providers->list[p];
    memset(s->on_host, 0, s->m->n_value * sizeof(*s->on_host));
    for (uint32_t i = 0; i < s->m->n_node; i++)
        s->verdict[i] = s->x->node[i].runs && s->at[i] == OC_NO_PROVIDER
                            ? oc_provider_takes(provider, s->x->analysis, s->x->file, i, &s->x->arena)
                            : (struct oc_provider_verdict){0};
    if (provider->groups)
        check_bodies(s);
    for (uint32_t g = 0; g < s->m->n_graph; g++)
        take_graph(s, &s->m->graph[g], p);
    note_reason(s, p);
}

/* ---- partitions ------------------------------------------------------------------------------------- */

/* ONNX Runtime's greedy partitions (CreateSupportedPartitionNodeGroups): a variant of Kahn's topological sort
 * that adds nodes of the provider to the current group and keeps others that read from it for the next wave.
 */
struct wave {
    struct assigning *s;
    uint32_t *degree;        /* by node: inputs from nodes that are not done */
    uint32_t *border;        /* by node: number of the group whose output it reads, 0: none */
    uint32_t *queue, *later; /* first in, first out; nodes for the next group */
    uint32_t head, n_queue, n_later, group;
    uint8_t provider;
    bool open; /* the group has nodes */
};

static bool in_graph(const struct wave *w, uint32_t node, uint32_t graph)
{
    return w->s->m->node[node].graph == graph && w->s->x->node[node].runs;
}

static uint32_t degree_of(const struct wave *w, uint32_t node)
{
    const struct oc_node *n = &w->s->m->node[node];
    uint32_t d = 0;
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint32_t from = n->in[i] == OC_NONE ? OC_NONE : w->s->m->value[n->in[i]].producer;
        d += from != OC_NONE && in_graph(w, from, n->graph);
    }
    const struct oc_capture *c = w->s->m->capture;
    for (uint32_t i = oc_first_capture(c, w->s->m->n_capture, node);
         i < w->s->m->n_capture && c[i].node == node; i++) {
        uint32_t from = w->s->m->value[c[i].value].producer;
        d += from != OC_NONE && in_graph(w, from, n->graph);
    }
    return d;
}

static void finish_node(struct wave *w, uint32_t node, bool taken)
{
    const struct oc_node *n = &w->s->m->node[node];
    for (uint32_t i = 0; i < n->n_out; i++) {
        uint32_t v = n->out[i];
        for (uint32_t k = v == OC_NONE ? 0 : w->s->use_first[v]; v != OC_NONE && k < w->s->use_first[v + 1];
             k++) {
            uint32_t to = w->s->use[k].node;
            if (!in_graph(w, to, n->graph))
                continue;
            if (taken)
                w->border[to] = w->group;
            if (--w->degree[to] == 0)
                w->queue[w->n_queue++] = to;
        }
    }
}

static void next_group(struct wave *w)
{
    w->group += w->open;
    w->open = false;
    memcpy(w->queue, w->later, w->n_later * sizeof(*w->queue));
    w->head = 0;
    w->n_queue = w->n_later;
    w->n_later = 0;
}

/* Returns the number of partitions in the graph. */
static uint32_t partition_graph(struct wave *w, const struct oc_graph *g)
{
    w->head = w->n_queue = w->n_later = 0;
    uint32_t first = w->group;
    for (uint32_t k = 0; k < g->n_node; k++) {
        uint32_t i = g->node[k];
        w->border[i] = 0;
        w->degree[i] = w->s->x->node[i].runs ? degree_of(w, i) : 0;
        if (w->s->x->node[i].runs && !w->degree[i])
            w->queue[w->n_queue++] = i;
    }
    while (w->head < w->n_queue || w->n_later) {
        if (w->head == w->n_queue) {
            next_group(w);
            continue;
        }
        uint32_t i = w->queue[w->head++];
        bool taken = w->s->at[i] == w->provider;
        if (!taken && w->border[i] == w->group && w->open) {
            w->later[w->n_later++] = i;
            continue;
        }
        if (taken) {
            w->open = true;
            if (w->s->optimistic)
                w->s->x->node[i].group = w->group;
        }
        finish_node(w, i, taken);
    }
    next_group(w);
    return w->group - first;
}

static void partition(struct assigning *s, struct oc_assignment_side *side)
{
    size_t n = s->m->n_node + 1;
    struct wave w = {.s = s,
                     .degree = oc_xcalloc(n, sizeof(uint32_t)),
                     .border = oc_xcalloc(n, sizeof(uint32_t)),
                     .queue = oc_xcalloc(n, sizeof(uint32_t)),
                     .later = oc_xcalloc(n, sizeof(uint32_t)),
                     .group = 1};
    for (unsigned p = 0; p < s->x->providers->n; p++) {
        w.provider = (uint8_t)p;
        for (uint32_t g = 0; g < s->m->n_graph; g++)
            side->partitions[p] += partition_graph(&w, &s->m->graph[g]);
    }
    free(w.degree);
    free(w.border);
    free(w.queue);
    free(w.later);
}

/* ---- transfers -------------------------------------------------------------------------------------- */

static const char *memory_of(const struct assigning *s, uint8_t provider)
{
    return provider == OC_NO_PROVIDER ? "" : s->x->providers->list[provider]->memory;
}

/* Where the output of a node is: "host" for outputs that its kernel leaves there. */
static bool slot_on_host(const struct assigning *s, uint32_t node, uint32_t slot, bool input)
{
    const struct oc_provider_row *row = s->x->providers->list[s->at[node]]->host ? s->row[node] : NULL;
    uint32_t bits = !row ? 0 : input ? row->host_in : row->host_out;
    return slot < 32 && (bits & 1u << slot);
}

static const char *place_of(const struct assigning *s, uint32_t node, uint32_t slot, bool input)
{
    return slot_on_host(s, node, slot, input) ? "host" : memory_of(s, s->at[node]);
}

static void add_transfer(const struct assigning *s, struct oc_assignment_side *side, uint8_t from, uint8_t to,
                         uint32_t value)
{
    uint32_t i = 0;
    uint64_t bytes;
    while (i < side->n_transfer && (side->transfer[i].from != from || side->transfer[i].to != to))
        i++;
    if (i == side->n_transfer)
        side->transfer[side->n_transfer++] = (struct oc_transfer){.from = from, .to = to};
    struct oc_transfer *t = &side->transfer[i];
    t->tensors++;
    if (!oc_type_bytes(&s->x->analysis->type[value], &bytes) || !oc_add_u64(t->bytes, bytes, &t->bytes))
        t->unknown++;
}

/* A tensor is copied once to each memory in which it is read. */
static void transfers_of(const struct assigning *s, struct oc_assignment_side *side, uint32_t node,
                         uint32_t slot)
{
    uint32_t v = s->m->node[node].out[slot];
    const char *here = place_of(s, node, slot, false), *there[OC_PROVIDER_MAX + 1];
    size_t n = 0;
    for (uint32_t k = s->use_first[v]; k < s->use_first[v + 1]; k++) {
        const struct use *use = &s->use[k];
        uint32_t to = use->node;
        if (use->slot == OC_NONE || !s->x->node[to].runs || s->at[to] == OC_NO_PROVIDER)
            continue;
        const char *place = place_of(s, to, use->slot, true);
        size_t known = 0;
        while (known < n && strcmp(there[known], place))
            known++;
        if (strcmp(place, here) == 0 || known < n || n > OC_PROVIDER_MAX)
            continue;
        there[n++] = place;
        add_transfer(s, side, s->at[node], s->at[to], v);
    }
}

/* ---- both cases ------------------------------------------------------------------------------------- */

static void sum_side(struct assigning *s, struct oc_assignment_side *side)
{
    const struct oc_analysis *a = s->x->analysis;
    for (uint32_t i = 0; i < s->m->n_node; i++) {
        if (!s->x->node[i].runs)
            continue;
        uint32_t p = s->at[i] == OC_NO_PROVIDER ? (uint32_t)s->x->providers->n : s->at[i];
        side->nodes[p]++;
        if (a->cost[i].quality == OC_UNKNOWN || !oc_add_u64(side->macs[p], a->cost[i].macs, &side->macs[p]))
            side->unknown[p]++;
        for (uint32_t k = 0; k < s->m->node[i].n_out && s->at[i] != OC_NO_PROVIDER; k++)
            if (s->m->node[i].out[k] != OC_NONE)
                transfers_of(s, side, i, k);
    }
    partition(s, side);
}

static void assign_case(struct assigning *s, struct oc_assignment_side *side)
{
    memset(s->at, OC_NO_PROVIDER, s->m->n_node);
    for (unsigned p = 0; p < s->x->providers->n; p++)
        take(s, p);
    for (uint32_t i = 0; i < s->m->n_node; i++)
        *(s->optimistic ? &s->x->node[i].best : &s->x->node[i].worst) = s->at[i];
    sum_side(s, side);
}

/* First counts, then enters the use of a value. */
static void index_use(struct assigning *s, uint32_t value, struct use use)
{
    if (value == OC_NONE)
        return;
    if (s->use)
        s->use[s->use_first[value + 1]++] = use;
    else
        s->use_first[value + 2]++;
}

static void index_all_uses(struct assigning *s)
{
    const struct oc_model *m = s->m;
    for (uint32_t i = 0; i < m->n_node; i++)
        for (uint32_t k = 0; k < m->node[i].n_in; k++)
            index_use(s, m->node[i].in[k], (struct use){i, k});
    for (uint32_t i = 0; i < m->n_capture; i++)
        index_use(s, m->capture[i].value, (struct use){m->capture[i].node, OC_NONE});
}

/* Readers of each value: nodes, and control flow whose bodies read it. */
static void index_uses(struct assigning *s)
{
    uint32_t n = s->m->n_value;
    s->use_first = oc_xcalloc((size_t)n + 2, sizeof(uint32_t));
    index_all_uses(s);
    for (uint32_t v = 2; v < n + 2; v++)
        s->use_first[v] += s->use_first[v - 1];
    s->use = oc_xcalloc((size_t)s->use_first[n + 1] + 1, sizeof(*s->use));
    index_all_uses(s);
}

/* An operator without a kernel that the standard defines by other operators runs if these have kernels. */
static void note_functions(struct oc_assignment *x)
{
    for (uint32_t i = 0; i < x->analysis->model->n_node; i++) {
        struct oc_assigned *n = &x->node[i];
        if (n->runs && n->best == OC_NO_PROVIDER && oc_op_is(x->analysis->op[i], OC_F_FUNCTION))
            n->reason = oc_printf(&x->arena, "%s; it may run through its definition", n->reason);
    }
}

void oc_assign(const struct oc_providers *providers, const struct oc_analysis *a,
               const struct oc_analysis *file, struct oc_assignment *out)
{
    const struct oc_model *m = a->model;
    *out = (struct oc_assignment){.providers = providers, .analysis = a, .file = file ? file : a};
    out->node = OC_NEW_ARRAY(&out->arena, m->n_node, struct oc_assigned);
    for (uint32_t i = 0; i < m->n_node; i++) {
        out->node[i] = (struct oc_assigned){.best = OC_NO_PROVIDER,
                                            .worst = OC_NO_PROVIDER,
                                            .first = OC_NO_PROVIDER,
                                            .runs = node_runs(out, i)};
        out->n_runs += out->node[i].runs;
        out->n_constant += oc_node_is_constant(&m->node[i]) || out->file->cost[i].state == OC_NODE_FOLDED;
    }
    struct assigning s = {.x = out,
                          .m = m,
                          .verdict = oc_xcalloc((size_t)m->n_node + 1, sizeof(struct oc_provider_verdict)),
                          .at = oc_xcalloc((size_t)m->n_node + 1, 1),
                          .row = oc_xcalloc((size_t)m->n_node + 1, sizeof(struct oc_provider_row *)),
                          .on_host = oc_xcalloc((size_t)m->n_value + 1, sizeof(bool))};
    index_uses(&s);
    assign_case(&s, &out->worst);
    s.optimistic = true;
    assign_case(&s, &out->best);
    note_functions(out);
    free(s.verdict);
    free(s.at);
    free(s.row);
    free(s.on_host);
    free(s.use_first);
    free(s.use);
}

void oc_assignment_free(struct oc_assignment *x)
{
    oc_arena_free(&x->arena);
}

/* ---- fallbacks -------------------------------------------------------------------------------------- */

static const char *const agreement_name[] = {
    [OC_AGREE_NOT_MEASURED] = "not measured",
    [OC_AGREES] = "agrees",
    [OC_AGREES_IF] = "not decided",
    [OC_DIFFERS] = "differs",
};

const char *oc_agreement_name(unsigned agreement)
{
    return agreement < OC_AGREE_COUNT ? agreement_name[agreement] : "";
}

/* ---- fallbacks by operator -------------------------------------------------------------------------- */

static void group_node(struct oc_fallbacks *f, struct oc_map *known, const struct oc_assignment *x,
                       uint32_t i)
{
    const struct oc_assigned *n = &x->node[i];
    const struct oc_node *node = &x->analysis->model->node[i];
    const struct oc_node_cost *cost = &x->analysis->cost[i];
    const char *key = oc_printf(known->arena, "%u %u %u %s:%s %s", n->first, n->best, n->worst, node->domain,
                                node->op_type, n->reason ? n->reason : "");
    uint32_t at = f->n;
    if (oc_map_add(known, key, strlen(key), &at, NULL)) {
        OC_GROW(f->item, f->n, f->cap);
        f->item[f->n++] = (struct oc_fallback){.from = n->first,
                                               .best = n->best,
                                               .worst = n->worst,
                                               .domain = node->domain,
                                               .op_type = node->op_type,
                                               .reason = n->reason};
    }
    struct oc_fallback *g = &f->item[at];
    g->nodes++;
    if (cost->quality == OC_UNKNOWN || !oc_add_u64(g->macs, cost->macs, &g->macs))
        g->unknown++;
}

static int compare_fallbacks(const void *a, const void *b)
{
    const struct oc_fallback *x = a, *y = b;
    if (x->macs != y->macs)
        return x->macs < y->macs ? 1 : -1;
    if (x->nodes != y->nodes)
        return x->nodes < y->nodes ? 1 : -1;
    int order = strcmp(x->op_type, y->op_type);
    return order ? order : strcmp(x->reason ? x->reason : "", y->reason ? y->reason : "");
}

/* ---- agreement with a profile ----------------------------------------------------------------------- */

static uint8_t agreement_of(const struct oc_assignment *x, uint32_t node, const char *measured)
{
    const struct oc_assigned *n = &x->node[node];
    bool best = n->best != OC_NO_PROVIDER && !strcmp(x->providers->list[n->best]->info.name, measured);
    bool worst = n->worst != OC_NO_PROVIDER && !strcmp(x->providers->list[n->worst]->info.name, measured);
    return best && worst ? OC_AGREES : best || worst ? OC_AGREES_IF : OC_DIFFERS;
}

static void compare_profile(struct oc_fallbacks *f, const struct oc_assignment *x, const struct oc_join *join)
{
    for (uint32_t r = 0; r < join->profile->n_rec; r++) {
        const char *measured = join->profile->rec[r].provider;
        for (uint32_t k = 0; *measured && k < join->rec[r].n_node; k++) {
            uint32_t i = join->rec[r].node[k];
            if (!x->node[i].runs || f->measured[i])
                continue;
            f->measured[i] = measured;
            f->agrees[i] = agreement_of(x, i, measured);
        }
    }
}

void oc_fallbacks_make(struct oc_assignment *x, const struct oc_join *join, struct oc_fallbacks *out)
{
    uint32_t n = x->analysis->model->n_node;
    struct oc_map known = {.arena = &x->arena};
    *out = (struct oc_fallbacks){.measured = OC_NEW_ARRAY(&x->arena, n, const char *),
                                 .agrees = OC_NEW_ARRAY(&x->arena, n, uint8_t)};
    for (uint32_t i = 0; i < n; i++)
        if (x->node[i].runs && x->node[i].first != OC_NO_PROVIDER)
            group_node(out, &known, x, i);
    if (out->n)
        qsort(out->item, out->n, sizeof(*out->item), compare_fallbacks);
    oc_map_free(&known);
    if (join)
        compare_profile(out, x, join);
    for (uint32_t i = 0; i < n; i++)
        out->count[out->agrees[i]] += x->node[i].runs;
}

void oc_fallbacks_free(struct oc_fallbacks *f)
{
    free(f->item);
}
