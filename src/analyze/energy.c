#include "analyze/energy.h"

#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/suggest.h"
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

static bool is_integer(unsigned class)
{
    return class >= OC_CLASS_I64 && class <= OC_CLASS_I2;
}

static bool is_addition(unsigned prim)
{
    return prim == OC_ADD || prim == OC_CMP || prim == OC_RND || prim == OC_BIT || prim == OC_CVT ||
           prim == OC_RNG;
}

/* Type of a primitive: a node has one for its products and one for the rest. Where neither is of its kind, the one with
 * the lowest figures. */
static unsigned class_of(const struct oc_node_cost *k, const struct oc_prim_count *h)
{
    if (h->prim == OC_MAC)
        return k->mac_class;
    bool rest = is_integer(k->rest_class) == h->is_int || k->rest_class == OC_CLASS_B1;
    return rest                                    ? k->rest_class
           : is_integer(k->mac_class) == h->is_int ? k->mac_class
           : h->is_int                             ? OC_CLASS_I8
                                                   : OC_CLASS_F16;
}

/* Of n primitives; *known becomes false where the type has no figure. */
static double energy_of(const struct process *p, unsigned prim, unsigned class, double n, bool *known)
{
    struct pj e = pj_of(p, class), sum = pj_of(p, is_integer(class) ? OC_CLASS_I32 : class);
    *known &= e.mul > 0;
    return n * (prim == OC_MAC ? e.mul + sum.add : is_addition(prim) ? e.add : e.mul);
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
    struct oc_energy_row row = {.node = node, .known = k->quality != OC_UNKNOWN, .note = k->note};
    for (unsigned i = 0; i < k->n_hist && row.known; i++) {
        unsigned class = class_of(k, &k->hist[i]);
        row.compute_pj += energy_of(p, k->hist[i].prim, class, (double)k->hist[i].n, &row.known);
        if (!row.known)
            row.note = oc_printf(&e->arena, "no published energy for %s", oc_class_name(class));
    }
    if (k->quality != OC_UNKNOWN)
        row.moved_bytes = k->rd_act + k->rd_wt + k->wr;
    e->info.operators++;
    e->info.unknown_operators += !row.known;
    e->info.compute_pj += row.known ? row.compute_pj : 0;
    e->info.moved_bytes += row.moved_bytes;
    OC_GROW(e->row, e->n_row, e->cap_row);
    e->row[e->n_row++] = row;
}

/* ---- the graph -------------------------------------------------------------------------------------------- */

static uint64_t known_bytes(const struct oc_analysis *a, const uint32_t *value, uint32_t n, bool inputs)
{
    uint64_t sum = 0, bytes;
    for (uint32_t i = 0; i < n; i++) {
        const struct oc_value *v = value[i] == OC_NONE ? NULL : &a->model->value[value[i]];
        bool moves = v && !(inputs && (v->constant || !v->n_use));
        if (moves && oc_type_bytes(&a->type[value[i]], &bytes))
            sum += bytes;
    }
    return sum;
}

static uint64_t graph_bytes_of(const struct oc_analysis *a)
{
    const struct oc_graph *g = &a->model->graph[0];
    uint64_t sum = known_bytes(a, g->input, g->n_input, true) + known_bytes(a, g->output, g->n_output, false);
    for (unsigned c = 0; c < OC_PC_COUNT; c++)
        sum += c == OC_PC_UNUSED || c == OC_PC_META ? 0 : a->class_bytes[c];
    return sum;
}

/* ---- public ----------------------------------------------------------------------------------------------- */

static int fail_unknown(const char *what, const char *given, size_t n, const char *const *valid,
                        size_t n_valid, struct oc_err *err)
{
    oc_fail_unknown(
        err, OC_EARG,
        &(struct oc_unknown){.what = what, .given = given, .given_n = n, .valid = valid, .n = n_valid});
    return -1;
}

static int find_process(const char *what, const struct process **out, size_t *memory, struct oc_err *err)
{
    size_t n = strcspn(what, ","), n_memory = 0;
    const char *name[OC_COUNT(processes)], *memories[MAX_MEMORIES];
    *out = NULL;
    for (size_t i = 0; i < OC_COUNT(processes); i++) {
        name[i] = processes[i].name;
        if (strlen(name[i]) == n && memcmp(name[i], what, n) == 0)
            *out = &processes[i];
    }
    if (!*out)
        return fail_unknown("process", what, n, name, OC_COUNT(name), err);
    *memory = 0;
    if (!what[n])
        return 0;
    for (; n_memory < MAX_MEMORIES && (*out)->memory[n_memory].name; n_memory++) {
        memories[n_memory] = (*out)->memory[n_memory].name;
        if (strcmp(memories[n_memory], what + n + 1) == 0) {
            *memory = n_memory;
            return 0;
        }
    }
    return fail_unknown("memory", what + n + 1, strlen(what + n + 1), memories, n_memory, err);
}

int oc_energy_make(const struct oc_analysis *a, const char *what, struct oc_energy **out, struct oc_err *err)
{
    OC_C_LOCALE;
    const struct process *p;
    size_t memory;
    *out = NULL;
    if (a->counting->convention && strcmp(a->counting->convention, "onnxcost") != 0)
        return oc_fail(err, OC_EARG, "energy is not counted by the convention of another tool");
    if (find_process(what, &p, &memory, err))
        return -1;
    struct oc_energy *e = oc_xmalloc(sizeof(*e));
    *e = (struct oc_energy){.a = a,
                            .info = {.process = p->name,
                                     .source = p->source,
                                     .memory = p->memory[memory].name,
                                     .memory_lo_pj = p->memory[memory].lo,
                                     .memory_hi_pj = p->memory[memory].hi,
                                     .graph_bytes = graph_bytes_of(a),
                                     .quality = a->total->quality}};
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
