/* Constants of a model: equal ones by content, and the class of each. */
#include <stdlib.h>
#include <string.h>

#include "analyze/engine.h"
#include "base/ck.h"
#include "base/os.h"
#include "base/str.h"
#include "base/wire.h"
#include "onnxcost.h"
#include "ops/op.h"

/* ---- equal constants ---------------------------------------------------------------------------------- */

/* --count dedup=content */

struct candidate {
    const struct oc_tensor *t;
    uint32_t value;
    uint64_t hash; /* hash of the bytes, 0 until they are read */
};

static int by_kind(const struct candidate *x, const struct candidate *y)
{
    if (x->t->dtype != y->t->dtype)
        return x->t->dtype < y->t->dtype ? -1 : 1;
    if (x->t->rank != y->t->rank)
        return x->t->rank < y->t->rank ? -1 : 1;
    for (unsigned i = 0; i < x->t->rank; i++)
        if (x->t->dim[i] != y->t->dim[i])
            return x->t->dim[i] < y->t->dim[i] ? -1 : 1;
    return 0;
}

static int by_content(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    int order = by_kind(x, y);
    if (order)
        return order;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static uint64_t hash_bytes(const uint8_t *p, uint64_t n)
{
    uint64_t h = n, word;
    for (; n >= sizeof(word); p += sizeof(word), n -= sizeof(word)) {
        memcpy(&word, p, sizeof(word));
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    for (; n; p++, n--)
        h = (h ^ *p) * UINT64_C(0x9e3779b97f4a7c15);
    return h ? h : 1;
}

/* Candidates for deduplication: initializers and the tensors of Constant nodes. */
static struct candidate *collect_candidates(struct oc_engine *e, uint32_t *n)
{
    struct candidate *list = NULL;
    uint32_t cap = 0;
    *n = 0;
    for (uint32_t v = 0; v < e->m->n_value; v++) {
        const struct oc_tensor *t = oc_analysis_constant(e->a, v);
        bool plain = t && e->a->is_const[v] && t->elements && t->storage != OC_STORE_SPARSE &&
                     t->dtype != OC_DT_STRING;
        if (!plain || e->graph_use[e->m->value[v].graph] == OC_G_NOT_RUN)
            continue;
        OC_GROW(list, *n, cap);
        list[(*n)++] = (struct candidate){.t = t, .value = v};
    }
    return list;
}

/* Hashes the bytes of a run of same-kind constants; those that cannot be read keep hash 0. */
static uint32_t hash_run(struct oc_engine *e, struct candidate *c, uint32_t n)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct oc_tensor_bytes b;
        if (!oc_tensor_bytes_open(e->m, c[i].t, &b)) {
            missing++;
            continue;
        }
        oc_os_need(b.data, (size_t)b.size_bytes);
        c[i].hash = hash_bytes(b.data, b.size_bytes);
        oc_tensor_bytes_close(&b);
    }
    return missing;
}

static bool equal_tensors(struct oc_engine *e, const struct oc_tensor *x, const struct oc_tensor *y)
{
    struct oc_tensor_bytes a, b;
    bool same = false;
    if (x == y)
        return true;
    if (!oc_tensor_bytes_open(e->m, x, &a))
        return false;
    if (oc_tensor_bytes_open(e->m, y, &b)) {
        oc_os_need(a.data, (size_t)a.size_bytes);
        oc_os_need(b.data, (size_t)b.size_bytes);
        same = a.size_bytes == b.size_bytes && memcmp(a.data, b.data, a.size_bytes) == 0;
        oc_tensor_bytes_close(&b);
    }
    oc_tensor_bytes_close(&a);
    return same;
}

/* In a run sorted by hash: merges constants whose bits equal those of the first one with the hash. (Different
 * bits with the same hash need a deliberate collision: they are not merged.) */
static void merge_run(struct oc_engine *e, const struct candidate *c, uint32_t n, uint32_t *same)
{
    for (uint32_t i = 1, first = 0; i < n; i++) {
        if (c[i].hash != c[first].hash)
            first = i;
        else if (c[i].hash && equal_tensors(e, c[first].t, c[i].t))
            same[c[i].value] = c[first].value;
    }
}

/* By value: the constant that represents it; itself when unique or not a constant. Reads the bytes of
 * constants of the same type and shape; unreadable ones are not merged, with a warning. */
static void find_same_constants(struct oc_engine *e, uint32_t *same)
{
    uint32_t n, missing = 0;
    struct candidate *list = collect_candidates(e, &n);
    for (uint32_t v = 0; v < e->m->n_value; v++)
        same[v] = v;
    if (n)
        qsort(list, n, sizeof(*list), by_content);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && by_kind(&list[i], &list[end]) == 0;)
            end++;
        if (end - i < 2)
            continue;
        missing += hash_run(e, list + i, end - i);
        qsort(list + i, end - i, sizeof(*list), by_content);
        merge_run(e, list + i, end - i, same);
    }
    if (missing)
        oc_diag_add(&e->a->diags, OC_WARNING, "W-dedup-unread", "",
                    "%u constants could not be compared: their data is missing or unreadable", missing);
    free(list);
}

/* ---- classes ------------------------------------------------------------------------------------------ */

/* Classifies constants (cost-semantics section 6): each is counted once, in the class of its uses. */

const char *oc_param_class_name(unsigned c)
{
    static const char *const name[OC_PC_COUNT] = {"unused", "meta", "quant", "const", "table",
                                                  "stat",   "norm", "embed", "bias",  "weight"};
    return c < OC_PC_COUNT ? name[c] : "?";
}

/* Uses of a value, as bits. */
enum use {
    U_META = 1,
    U_QUANT = 2,
    U_BIAS = 4,
    U_NORM = 8,
    U_STAT = 16,
    U_EMBED = 32,
    U_TABLE = 64,
    U_DATA = 128,      /* a data slot */
    U_QDATA = 256,     /* a data slot that accepts quantized weights */
    U_SCALAR_OK = 512, /* arithmetic in which a one-element float is a plain constant */
    U_NOT_SCALAR = 1024,
    U_ADDED = 2048 /* added to the output of a contraction */
};

static uint16_t slot_use(char slot)
{
    switch (slot) {
    case 'm':
        return U_META;
    case 'q':
        return U_QUANT;
    case 'b':
        return U_BIAS;
    case 'n':
        return U_NORM;
    case 's':
        return U_STAT;
    case 'e':
        return U_EMBED;
    case 't':
        return U_TABLE;
    default:
        return U_DATA;
    }
}

static bool is_integer(unsigned dtype)
{
    unsigned kind = oc_dtype_info(dtype)->kind;
    return kind == OC_KIND_INT || kind == OC_KIND_BOOL || kind == OC_KIND_STRING;
}

/* Integers wider than 16 bits are indices, lengths, masks or sums, not quantized numbers. */
static bool is_narrow_integer(unsigned dtype)
{
    const struct oc_dtype_info *info = oc_dtype_info(dtype);
    return info->kind == OC_KIND_INT && info->bits <= 16;
}

static bool has_scales(const struct oc_op *op)
{
    return op->slots && strchr(op->slots, 'q');
}

/* Whether the data slots of the operator accept quantized weights of the type. Products and DequantizeLinear
 * accept any integers: those with biases of 32 bits too. */
static bool takes_quantized(const struct oc_op *op, unsigned dtype)
{
    if (op->op_class == OC_OP_GEMM || op->op_class == OC_OP_CONV || op->op_class == OC_OP_QUANTIZE)
        return true;
    return (op->op_class == OC_OP_ATTENTION || has_scales(op)) &&
           (!is_integer(dtype) || is_narrow_integer(dtype));
}

static bool added_to_contraction(const struct oc_engine *e, const struct oc_node *n, uint32_t slot)
{
    if (n->n_in != 2 || !oc_equal(n->op_type, "Add"))
        return false;
    uint32_t other = n->in[1 - slot], p = other == OC_NONE ? OC_NONE : e->m->value[other].producer;
    const struct oc_op *op = p == OC_NONE ? NULL : e->a->op[p];
    return op && (op->op_class == OC_OP_GEMM || op->op_class == OC_OP_CONV);
}

static uint16_t use_of(const struct oc_engine *e, const struct oc_node *n, const struct oc_op *op,
                       uint32_t slot)
{
    uint16_t u = slot_use(oc_op_slot(op, slot));
    if (u & (U_DATA | U_EMBED) && takes_quantized(op, e->a->type[n->in[slot]].dtype))
        u |= U_QDATA;
    if (u & (U_DATA | U_EMBED))
        u |= oc_op_broadcasts(op) && !*op->domain ? U_SCALAR_OK : U_NOT_SCALAR;
    if (added_to_contraction(e, n, slot))
        u |= U_ADDED;
    return u;
}

/* Nearest of two nodes + 1, 0: none. */
static uint32_t earlier_node(uint32_t a, uint32_t b)
{
    return a && (!b || a < b) ? a : b;
}

/* Of a tensor without elements, as for a batch of 0: its values are known, but not those of a weight. */
static bool is_without_elements(const struct oc_engine *e, uint32_t value)
{
    uint64_t n;
    return oc_type_elements(&e->a->type[value], &n) && n == 0;
}

/* Whether the integers in the slot are dequantized: by the operator, or after it selected some of them, as a
 * Gather of rows before a DequantizeLinear. */
static bool is_quantized_data(const struct oc_engine *e, const struct oc_node *n, const struct oc_op *op,
                              uint32_t slot, const uint16_t *use)
{
    if (!op || !is_narrow_integer(e->a->type[n->in[slot]].dtype) ||
        !(slot_use(oc_op_slot(op, slot)) & (U_DATA | U_EMBED)))
        return false;
    bool selected = oc_op_selects(op) && n->n_out && n->out[0] != OC_NONE && use[n->out[0]] & U_QDATA;
    return selected || has_scales(op);
}

/* The nodes of its body read the constants, and determine how they are packed. */
static bool is_expanded(const struct oc_engine *e, const struct oc_node *n, const struct oc_op *op)
{
    return !op && n->kind == OC_NODE_CALL && n->body != OC_NONE && e->graph_use[n->body] == OC_G_RUN;
}

/* Uses propagate backwards through folded nodes: a transposed weight is a weight. Of values that are not
 * constant only U_QDATA is known. */
static void collect_node(const struct oc_engine *e, uint32_t node, uint16_t *use, uint32_t *user)
{
    const struct oc_node *n = &e->m->node[node];
    const struct oc_node_cost *k = &e->a->cost[node];
    const struct oc_op *op = e->a->op[node];
    bool through = (k->state == OC_NODE_FOLDED || k->state == OC_NODE_ABSORBED) && n->n_out &&
                   n->out[0] != OC_NONE && !is_without_elements(e, n->out[0]);
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint32_t v = n->in[i];
        if (v == OC_NONE || k->state == OC_NODE_NOT_TAKEN || is_expanded(e, n, op))
            continue;
        uint16_t quantized_data = is_quantized_data(e, n, op, i, use) ? U_QDATA : 0;
        if (!e->a->is_const[v]) {
            use[v] |= quantized_data;
            continue;
        }
        uint16_t u = op ? use_of(e, n, op, i) | quantized_data : U_DATA | U_NOT_SCALAR;
        uint32_t by = node + 1;
        if (through && (u & U_DATA)) {
            bool quantized = (u & U_QDATA) && k->state == OC_NODE_ABSORBED;
            u = (uint16_t)(use[n->out[0]] | (quantized ? U_QDATA : 0));
            by = user[n->out[0]] ? user[n->out[0]] : by;
        }
        use[v] |= u;
        user[v] = earlier_node(user[v], by);
    }
}

/* Outputs of the model are uses: of a learned number that the model only returns, as the log_std of a
 * policy. */
static void collect_uses(const struct oc_engine *e, uint16_t *use, uint32_t *user)
{
    const struct oc_graph *model = &e->m->graph[0];
    for (uint32_t i = 0; i < model->n_output; i++)
        if (model->output[i] != OC_NONE && e->a->is_const[model->output[i]])
            use[model->output[i]] |= U_DATA | U_NOT_SCALAR;
    for (uint32_t g = e->m->n_graph; g-- > 0;) {
        const struct oc_graph *graph = &e->m->graph[g];
        if (e->graph_use[g] == OC_G_RUN)
            for (uint32_t i = graph->n_node; i-- > 0;)
                collect_node(e, graph->node[i], use, user);
    }
}

static unsigned class_of_param(unsigned dtype, uint64_t elements, unsigned rank, uint16_t u)
{
    bool integer = is_integer(dtype);
    if (!u)
        return OC_PC_UNUSED;
    if (u == U_META)
        return OC_PC_META;
    if (u & U_QUANT)
        return OC_PC_QUANT;
    if (integer && !(u & U_QDATA) && !(u & (U_BIAS | U_NORM)))
        return OC_PC_CONST;
    if (!integer && elements == 1 && (u & U_SCALAR_OK) && !(u & (U_NOT_SCALAR | U_BIAS | U_NORM | U_STAT)))
        return OC_PC_CONST;
    if (u & U_TABLE)
        return OC_PC_TABLE;
    if (u & U_NORM) /* also if a statistic has the same tensor, as in fresh models of PyTorch */
        return OC_PC_NORM;
    if (u & U_STAT)
        return OC_PC_STAT;
    if (u & U_EMBED)
        return OC_PC_EMBED;
    if (u & U_BIAS || (u & U_ADDED && rank == 1))
        return OC_PC_BIAS;
    return u & U_META && !(u & ~(unsigned)U_META) ? OC_PC_META : OC_PC_WEIGHT;
}

static bool is_param(unsigned cls)
{
    return cls == OC_PC_WEIGHT || cls == OC_PC_BIAS || cls == OC_PC_NORM || cls == OC_PC_EMBED;
}

/* Properties of the constants, by value. */
struct constants {
    uint16_t *use;  /* enum use */
    uint32_t *user; /* first node that uses it, + 1; 0: none */
    uint32_t *same; /* the constant that represents it; NULL: no deduplication */
    bool *counted;  /* by constant that represents others */
};

static uint32_t same_as(const struct constants *k, uint32_t value)
{
    return k->same ? k->same[value] : value;
}

static uint64_t packed_product(const struct oc_node *n)
{
    int64_t rows = oc_node_int(n, "N", 0), columns = oc_node_int(n, "K", 0);
    uint64_t all;
    return rows > 0 && columns > 0 && oc_mul_u64((uint64_t)rows, (uint64_t)columns, &all) ? all : 0;
}

static uint64_t packed_bytes(const struct oc_model *m, uint32_t value, int64_t width)
{
    const struct oc_tensor *t = m->value[value].constant;
    uint64_t all;
    return t && t->dtype == OC_DT_UINT8 && width > 0 && width <= 8 && oc_mul_u64(t->elements, 8, &all)
               ? all / (uint64_t)width
               : 0;
}

uint64_t oc_packed_elements(const struct oc_model *m, const struct oc_node *n, uint32_t slot)
{
    if (n->in[slot] == OC_NONE)
        return 0;
    if (slot == 1 && oc_equal(n->op_type, "MatMulNBits"))
        return packed_product(n);
    if (slot == 0 && oc_equal(n->op_type, "GatherBlockQuantized"))
        return packed_bytes(m, n->in[slot], oc_node_int(n, "bits", 4));
    if ((slot == 2 || slot == 5 || slot == 8) && oc_equal(n->op_type, "QMoE"))
        return packed_bytes(m, n->in[slot], oc_node_int(n, "expert_weight_bits", 4));
    return 0;
}

/* Elements that a constant represents. */
static uint64_t logical_elements(const struct oc_engine *e, uint64_t elements, uint32_t value,
                                 const struct constants *k)
{
    if (!k->user[value])
        return elements;
    const struct oc_node *n = &e->m->node[k->user[value] - 1];
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint64_t unpacked = oc_packed_elements(e->m, n, i);
        if (unpacked && same_as(k, n->in[i]) == value)
            return unpacked;
    }
    return elements;
}

static void count_param(struct oc_engine *e, uint32_t value, unsigned dtype, uint64_t elements, unsigned rank,
                        uint64_t bytes, const struct constants *k)
{
    uint32_t one = same_as(k, value), user = k->user[one];
    unsigned cls = class_of_param(dtype, elements, rank, k->use[one]);
    if (!e->m->n_node && !is_integer(dtype)) /* weights without a graph (safetensors) */
        cls = OC_PC_WEIGHT;
    e->a->param_class[value] = (uint8_t)cls;
    if (e->o->dedup_content && k->counted[one])
        return;
    k->counted[one] = true;
    elements = logical_elements(e, elements, one, k);
    e->a->class_elems[cls] += elements;
    e->a->class_bytes[cls] += bytes;
    if (is_param(cls) && user)
        e->a->cost[user - 1].params += elements;
}

struct place { /* a Constant node and its position in the file */
    uint64_t where;
    uint32_t node;
};

OC_BY_TWO(params_by_place, struct place, where, node)

/* False: unknown. */
static bool elements_of(struct oc_engine *e, const struct oc_type *t, uint64_t *n)
{
    if (oc_type_elements(t, n)) /* the common case */
        return true;
    struct oc_dim size = oc_shape_count(e->a->exprs, &t->shape);
    *n = (uint64_t)size.v;
    return t->shape.ranked && oc_is_known(size);
}

/* Constant nodes. Those of a function count once however often it is called: identified by their position in
 * the file. */
static void count_constant_nodes(struct oc_engine *e, const struct constants *k)
{
    struct place *list = NULL;
    uint32_t n = 0, cap = 0;
    bool in_order = true; /* the fast path, without bodies and functions */
    for (uint32_t i = 0; i < e->m->n_node; i++) {
        const struct oc_node *node = &e->m->node[i];
        if (!oc_node_is_constant(node) || node->n_out == 0 || node->out[0] == OC_NONE ||
            e->graph_use[node->graph] == OC_G_NOT_RUN)
            continue;
        OC_GROW(list, n, cap);
        in_order = in_order && (n == 0 || list[n - 1].where < node->where);
        list[n++] = (struct place){.where = node->where, .node = i};
    }
    if (!in_order)
        qsort(list, n, sizeof(*list), params_by_place);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = e->m->node[list[i].node].out[0];
        const struct oc_type *t = &e->a->type[v];
        uint64_t elements, bytes = 0;
        bool first = i == 0 || list[i].where != list[i - 1].where;
        if (first && elements_of(e, t, &elements) && oc_bytes_of(t->dtype, elements, &bytes))
            count_param(e, v, t->dtype, elements, t->shape.rank, bytes, k);
    }
    free(list);
}

/* Uses of constants with equal bits are attributed to their representative. */
static void merge_same(struct oc_engine *e, struct constants *k)
{
    k->same = oc_xmalloc((size_t)e->m->n_value * sizeof(*k->same));
    find_same_constants(e, k->same);
    for (uint32_t v = 0; v < e->m->n_value; v++) {
        uint32_t one = k->same[v];
        k->use[one] |= k->use[v];
        k->user[one] = earlier_node(k->user[one], k->user[v]);
    }
}

/* Elements of the largest stored constant that each value follows from. */
static void find_sources(const struct oc_engine *e, uint64_t *source)
{
    for (uint32_t v = 0; v < e->m->n_value; v++)
        source[v] = e->m->value[v].constant ? e->m->value[v].constant->elements : 0;
    for (uint32_t g = 0; g < e->m->n_graph; g++)
        for (uint32_t i = 0; i < e->m->graph[g].n_node; i++) {
            const struct oc_node *n = &e->m->node[e->m->graph[g].node[i]];
            const struct oc_tensor *t = oc_node_constant(n);
            uint64_t most = t ? t->elements : 0;
            for (uint32_t k = 0; k < n->n_in; k++)
                if (n->in[k] != OC_NONE && source[n->in[k]] > most)
                    most = source[n->in[k]];
            for (uint32_t k = 0; k < n->n_out; k++)
                if (n->out[k] != OC_NONE)
                    source[n->out[k]] = most;
        }
}

static bool has_folded_nodes(const struct oc_analysis *a)
{
    bool any = false;
    for (uint32_t i = 0; i < a->model->n_node && !any; i++)
        any = a->cost[i].state == OC_NODE_FOLDED || a->cost[i].state == OC_NODE_ABSORBED;
    return any;
}

/* Weights that nodes read and that folded nodes make from smaller constants (Expand, ConstantOfShape). */
static void count_computed(struct oc_engine *e)
{
    if (!has_folded_nodes(e->a))
        return;
    uint64_t *source = oc_xcalloc((size_t)e->m->n_value + 1, sizeof(*source));
    bool *counted = oc_xcalloc((size_t)e->m->n_value + 1, sizeof(*counted));
    find_sources(e, source);
    for (uint32_t node = 0; node < e->m->n_node; node++) {
        const struct oc_node *n = &e->m->node[node];
        const struct oc_op *op = e->a->op[node];
        if (!op || e->a->cost[node].state != OC_NODE_NORMAL || e->graph_use[n->graph] != OC_G_RUN)
            continue;
        for (uint32_t i = 0; i < n->n_in; i++) {
            uint64_t elements, bytes;
            uint32_t v = n->in[i];
            if (v == OC_NONE || !e->a->is_const[v] || counted[v] ||
                !elements_of(e, &e->a->type[v], &elements) || elements <= source[v] ||
                !(use_of(e, n, op, i) & (U_QDATA | U_BIAS | U_NORM)))
                continue;
            counted[v] = true;
            e->a->total->params_computed += elements;
            e->a->total->const_bytes_computed +=
                oc_bytes_of(e->a->type[v].dtype, elements, &bytes) ? bytes : 0;
        }
    }
    free(source);
    free(counted);
}

void oc_count_params(struct oc_engine *e)
{
    size_t n = e->m->n_value;
    struct constants k = {.use = oc_xcalloc(n, sizeof(*k.use)),
                          .user = oc_xcalloc(n, sizeof(*k.user)),
                          .counted = oc_xcalloc(n, sizeof(*k.counted))};
    collect_uses(e, k.use, k.user);
    if (e->m->n_function)
        collect_uses(e, k.use, k.user); /* constants created in a body and used by the caller */
    if (e->o->dedup_content)
        merge_same(e, &k);
    for (uint32_t g = 0; g < e->m->n_graph; g++) {
        const struct oc_graph *graph = &e->m->graph[g];
        for (uint32_t i = 0; i < graph->n_init && e->graph_use[g] != OC_G_NOT_RUN; i++) {
            uint32_t v = graph->init[i];
            const struct oc_tensor *t = e->m->value[v].constant;
            count_param(e, v, t->dtype, t->elements, t->rank, t->size_bytes, &k);
        }
    }
    count_constant_nodes(e, &k);
    count_computed(e);
    free(k.use);
    free(k.user);
    free(k.same);
    free(k.counted);
}
