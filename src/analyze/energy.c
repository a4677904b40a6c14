/* Energy of a model (--energy): arithmetic and memory accesses times published energies. */
#include "analyze/handles.h"

#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/ck.h"
#include "base/str.h"
#include "base/units.h"
#include "onnxcost.h"

enum { MAX_MEMORIES = 3 };

struct pj { /* picojoules of one operation; 0: not published */
    double mul, add;
};

static const struct process {
    const char *name, *source;
    struct pj of[OC_CLASS_COUNT];
    struct {
        const char *name;
        double lo, hi; /* of 64 bits */
    } memory[MAX_MEMORIES];
} processes[] = {
    {"45nm",
     "Horowitz, ISSCC 2014",
     {[OC_CLASS_I8] = {0.2, 0.03},
      [OC_CLASS_I32] = {3.1, 0.1},
      [OC_CLASS_F16] = {1.1, 0.4},
      [OC_CLASS_F32] = {3.7, 0.9}},
     {{"dram", 1300, 2600}}},
    {"7nm",
     "Jouppi et al., ISCA 2021, table 2",
     {[OC_CLASS_I8] = {0.07, 0.007},
      [OC_CLASS_I32] = {1.48, 0.03},
      [OC_CLASS_BF16] = {0.21, 0.11},
      [OC_CLASS_F16] = {0.34, 0.16},
      [OC_CLASS_F32] = {1.31, 0.38}},
     {{"ddr4", 1300, 1300}, {"hbm2", 250, 450}, {"gddr6", 350, 480}}},
};

/* Types without a figure of their own take at least as much as these. */
static const uint8_t narrower[OC_CLASS_COUNT] = {[OC_CLASS_F64] = OC_CLASS_F32,
                                                 [OC_CLASS_TF32] = OC_CLASS_F16,
                                                 [OC_CLASS_I64] = OC_CLASS_I32,
                                                 [OC_CLASS_I16] = OC_CLASS_I8};

/* ---- one operator ----------------------------------------------------------------------------------------- */

static struct pj pj_of(const struct process *p, unsigned class)
{
    const struct pj *own = &p->of[class];
    return own->mul > 0 ? *own : p->of[narrower[class]]; /* of OC_CLASS_NONE: zeros */
}

static bool is_whole(unsigned class) /* integers and booleans */
{
    return class >= OC_CLASS_I64 && class <= OC_CLASS_B1;
}

/* Without a published figure, and perhaps less than an addition: left out of the lower bound. */
static bool is_left_out(unsigned prim)
{
    return prim == OC_RND || prim == OC_BIT || prim == OC_CVT || prim == OC_RNG;
}

/* Type of a primitive: a node has one for its products and one for the rest; OC_CLASS_NONE: neither is of its kind. */
static unsigned class_of(const struct oc_node_cost *k, const struct oc_prim_count *h)
{
    if (h->prim == OC_MAC)
        return k->mac_class;
    bool whole = h->is_int, rest = is_whole(k->rest_class) == whole;
    return rest ? k->rest_class : is_whole(k->mac_class) == whole ? k->mac_class : OC_CLASS_NONE;
}

/* Of n primitives; *known becomes false where the type has no figure. */
static double energy_of(const struct process *p, unsigned prim, unsigned class, double n, bool *known)
{
    struct pj e = pj_of(p, class), sum = pj_of(p, is_whole(class) ? OC_CLASS_I32 : class);
    if (is_left_out(prim))
        return 0;
    *known &= e.mul > 0;
    return n * (prim == OC_MAC ? e.mul + sum.add : prim == OC_ADD || prim == OC_CMP ? e.add : e.mul);
}

static bool runs(const struct oc_analysis *a, uint32_t node)
{
    unsigned state = a->cost[node].state;
    return a->graph_use[a->model->node[node].graph] == OC_G_RUN &&
           (state == OC_NODE_NORMAL || state == OC_NODE_UNKNOWN_OP || state == OC_NODE_NO_SHAPE);
}

static void add_operator(struct oc_energy *e, const struct process *p, uint32_t node)
{
    const struct oc_node_cost *k = &e->a->cost[node];
    bool counted = k->quality != OC_UNKNOWN;
    struct oc_energy_row row = {.node = node, .known = counted, .counted = counted, .note = k->note};
    for (unsigned i = 0; i < k->n_hist && row.known; i++) {
        unsigned class = class_of(k, &k->hist[i]);
        row.compute_pj += energy_of(p, k->hist[i].prim, class, (double)k->hist[i].n, &row.known);
        if (!row.known)
            row.note = oc_printf(&e->arena, "no published energy for %s", oc_class_name(class));
    }
    if (counted)
        row.moved_bytes = k->rd_act + k->rd_wt + k->wr;
    e->info.operators++;
    e->info.unknown_operators += !row.known;
    e->info.uncounted_operators += !counted;
    e->info.compute_pj += row.known ? row.compute_pj : 0;
    e->info.moved_bytes += row.moved_bytes;
    e->info.quality = oc_quality_add((enum oc_quality)e->info.quality, (enum oc_quality)k->quality);
    OC_GROW(e->row, e->n_row, e->cap_row);
    e->row[e->n_row++] = row;
}

/* ---- public ----------------------------------------------------------------------------------------------- */

/* NULL: *err says which names there are. */
static const struct process *find_process(const char *what, size_t *memory, struct oc_err *err)
{
    const struct process *p = NULL;
    struct oc_unknown unknown = {.what = "process", .given = what, .given_n = strcspn(what, ",")};
    const char *name[OC_COUNT(processes) + MAX_MEMORIES];
    for (size_t i = 0; i < OC_COUNT(processes) && !p; i++) {
        name[unknown.n++] = processes[i].name;
        if (strlen(processes[i].name) == unknown.given_n &&
            memcmp(processes[i].name, what, unknown.given_n) == 0)
            p = &processes[i];
    }
    *memory = 0;
    if (p && !what[unknown.given_n])
        return p;
    if (p) {
        const char *given = what + unknown.given_n + 1;
        unknown = (struct oc_unknown){.what = "memory", .given = given, .given_n = strlen(given)};
        for (size_t i = 0; i < MAX_MEMORIES && p->memory[i].name; i++) {
            *memory = i;
            name[unknown.n++] = p->memory[i].name;
            if (strcmp(p->memory[i].name, given) == 0)
                return p;
        }
    }
    unknown.valid = name;
    oc_fail_unknown(err, OC_EARG, &unknown);
    return NULL;
}

int oc_energy_make(const struct oc_analysis *a, const char *what, struct oc_energy **out, struct oc_err *err)
{
    OC_ENTRY(err);
    size_t memory;
    struct oc_graph_bytes graph;
    uint8_t quality = OC_EXACT;
    *out = NULL;
    if (a->counting->convention && strcmp(a->counting->convention, "onnxcost") != 0)
        return oc_fail(err, OC_EARG, "energy is not counted by the convention of another tool");
    const struct process *p = find_process(what, &memory, err);
    if (!p)
        return -1;
    if (!oc_graph_bytes(a, &graph, &quality) ||
        !oc_add_u64(graph.inputs, graph.constants, &graph.constants) ||
        !oc_add_u64(graph.constants, graph.outputs, &graph.outputs))
        return oc_fail(err, OC_ELIMIT, "the totals overflow 64 bits");
    struct oc_energy *e = oc_xmalloc(sizeof(*e));
    *e = (struct oc_energy){.a = a,
                            .info = {.process = p->name,
                                     .source = p->source,
                                     .memory = p->memory[memory].name,
                                     .memory_lo_pj = p->memory[memory].lo,
                                     .memory_hi_pj = p->memory[memory].hi,
                                     .graph_bytes = graph.outputs,
                                     .graph_quality = (enum oc_quality)quality,
                                     .quality = OC_EXACT}};
    for (uint32_t i = 0; i < a->model->n_node; i++)
        if (runs(a, i))
            add_operator(e, p, i);
    *out = e;
    return 0;
}

void oc_energy_free(struct oc_energy *e)
{
    if (!e)
        return;
    free(e->row);
    oc_arena_free(&e->arena);
    free(e);
}

const struct oc_energy_info *oc_energy_info(const struct oc_energy *e)
{
    return &e->info;
}

size_t oc_energy_rows(const struct oc_energy *e, const struct oc_energy_row **out)
{
    *out = e->row;
    return e->n_row;
}
