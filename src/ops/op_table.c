/* Finds the row of an operator; names of classes and primitives; what rows say by class and flags. Rows of
 * operators without rules of their own: control flow, and work that a model does not define. */
#include <pthread.h>
#include <string.h>

#include "base/map.h"
#include "onnxcost/report.h"
#include "ops/op.h"
#include "ops/user_rules.h"

/* ---- rows --------------------------------------------------------------------------------------------- */

/* Number of tests per name, generated from tests/data/op_tests.tsv. */
static const struct op_tests {
    const char *domain, *name;
    unsigned cases, costs, models, node_tests;
} tests[] = {
#include "op_tests.h"
};

/* Sorted by bytes. */
static const struct op_tests *op_table_tests_of(const struct oc_op *op)
{
    static const struct op_tests none = {.name = ""};
    size_t from = 0, to = OC_COUNT(tests);
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        int order = strcmp(op->domain, tests[mid].domain);
        if (order == 0)
            order = strcmp(op->name, tests[mid].name);
        if (order == 0)
            return &tests[mid];
        *(order < 0 ? &to : &from) = order < 0 ? mid : mid + 1;
    }
    return &none;
}

size_t oc_op_count(void)
{
    size_t n_families, n = 0;
    const struct oc_op_family *const *family = oc_op_families(&n_families);
    for (size_t i = 0; i < n_families; i++)
        n += family[i]->n;
    return n;
}

const char *oc_op_family_name(const struct oc_op *op)
{
    size_t n;
    const struct oc_op_family *const *family = oc_op_families(&n);
    if (oc_is_user_op(op))
        return oc_user_op_place(op);
    for (size_t i = 0; i < n; i++)
        if (op >= family[i]->op && op < family[i]->op + family[i]->n)
            return family[i]->name;
    return "";
}

void oc_op_get(size_t index, struct oc_op_info *out)
{
    size_t n_families;
    const struct oc_op_family *const *family = oc_op_families(&n_families);
    *out = (struct oc_op_info){.domain = "", .name = "", .family = "", .op_class = ""};
    for (size_t i = 0; i < n_families; index -= family[i]->n, i++) {
        if (index >= family[i]->n)
            continue;
        const struct oc_op *op = &family[i]->op[index];
        const struct op_tests *n = op_table_tests_of(op);
        *out = (struct oc_op_info){.domain = op->domain,
                                   .name = op->name,
                                   .family = family[i]->name,
                                   .op_class = oc_op_class_name(op->op_class),
                                   .since = op->since,
                                   .until = op->until,
                                   .formula = oc_formula_text(op),
                                   .cases = n->cases,
                                   .costs = n->costs,
                                   .models = n->models,
                                   .node_tests = n->node_tests};
        return;
    }
}

/* ---- families ----------------------------------------------------------------------------------------- */

/* Lists every family once, by name. Inside a family the rows are sorted by name, domain, first version
 * (checked by a test). */
#define FAMILIES(F)                                                                                          \
    F(attention)                                                                                             \
    F(binary)                                                                                                \
    F(cached_attention)                                                                                      \
    F(collective)                                                                                            \
    F(contrib)                                                                                               \
    F(contrib_gemm)                                                                                          \
    F(contrib_misc)                                                                                          \
    F(contrib_norm)                                                                                          \
    F(control)                                                                                               \
    F(conv)                                                                                                  \
    F(einsum)                                                                                                \
    F(gather)                                                                                                \
    F(generate)                                                                                              \
    F(gqa)                                                                                                   \
    F(hashing)                                                                                               \
    F(image)                                                                                                 \
    F(layout)                                                                                                \
    F(matmul)                                                                                                \
    F(ml)                                                                                                    \
    F(ml_models)                                                                                             \
    F(ml_trees)                                                                                              \
    F(moe)                                                                                                   \
    F(ms_attention)                                                                                          \
    F(nchwc)                                                                                                 \
    F(nhwc)                                                                                                  \
    F(norm)                                                                                                  \
    F(opaque)                                                                                                \
    F(packed_state)                                                                                          \
    F(paged_attention)                                                                                       \
    F(pool)                                                                                                  \
    F(qonnx)                                                                                                 \
    F(quant_order)                                                                                           \
    F(quantize)                                                                                              \
    F(reduce)                                                                                                \
    F(reshape)                                                                                               \
    F(rnn)                                                                                                   \
    F(roi)                                                                                                   \
    F(rotary)                                                                                                \
    F(scatter)                                                                                               \
    F(search)                                                                                                \
    F(select)                                                                                                \
    F(sequence)                                                                                              \
    F(signal)                                                                                                \
    F(slice)                                                                                                 \
    F(softmax)                                                                                               \
    F(sparse_attention)                                                                                      \
    F(stateful)                                                                                              \
    F(strings)                                                                                               \
    F(tensorrt)                                                                                              \
    F(tokenizers)                                                                                            \
    F(train)                                                                                                 \
    F(train_grad)                                                                                            \
    F(unary)                                                                                                 \
    F(word_conv)

#define DECLARE(name) extern const struct oc_op_family oc_ops_##name;
#define POINT(name)   &oc_ops_##name,
FAMILIES(DECLARE)
static const struct oc_op_family *const families[] = {FAMILIES(POINT)};

static const char *const prim_names[] = {
    [OC_MAC] = "MAC", [OC_ADD] = "ADD",   [OC_MUL] = "MUL", [OC_CMP] = "CMP", [OC_DIV] = "DIV",
    [OC_RND] = "RND", [OC_SQRT] = "SQRT", [OC_EXP] = "EXP", [OC_LOG] = "LOG", [OC_SIN] = "SIN",
    [OC_TAN] = "TAN", [OC_TANH] = "TANH", [OC_SIG] = "SIG", [OC_ERF] = "ERF", [OC_POW] = "POW",
    [OC_RNG] = "RNG", [OC_BIT] = "BIT",   [OC_CVT] = "CVT", [OC_DEQ] = "DEQ",
};
_Static_assert(OC_COUNT(prim_names) == OC_PRIM_COUNT, "every primitive needs a name");

static const char *const class_names[] = {
    [OC_OP_NONE] = "none",
    [OC_OP_OTHER] = "other",
    [OC_OP_VIEW] = "view",
    [OC_OP_COPY] = "copy",
    [OC_OP_ELEMENTWISE] = "elementwise",
    [OC_OP_REDUCE] = "reduce",
    [OC_OP_GEMM] = "gemm",
    [OC_OP_CONV] = "conv",
    [OC_OP_POOL] = "pool",
    [OC_OP_NORM] = "norm",
    [OC_OP_SOFTMAX] = "softmax",
    [OC_OP_ATTENTION] = "attention",
    [OC_OP_RNN] = "rnn",
    [OC_OP_GATHER] = "gather",
    [OC_OP_RESIZE] = "resize",
    [OC_OP_QUANTIZE] = "quantize",
    [OC_OP_GENERATE] = "generate",
    [OC_OP_SORT] = "sort",
    [OC_OP_CONTROL] = "control",
    [OC_OP_LAYOUT] = "layout",
};
_Static_assert(OC_COUNT(class_names) == OC_OP_CLASS_COUNT, "every class needs a name");

char oc_op_slot(const struct oc_op *op, uint32_t slot)
{
    const char *kind = op ? op->slots : NULL;
    if (!kind || !*kind)
        return '.';
    for (; slot && kind[1]; slot--)
        kind++;
    return *kind;
}

uint32_t oc_op_weight_slot(const struct oc_op *op)
{
    for (uint32_t i = 1; op && op->slots && op->slots[i]; i++)
        if (op->slots[i] == '.')
            return i;
    return 1;
}

bool oc_op_is(const struct oc_op *op, unsigned flag)
{
    return op && (op->flags & flag);
}

static bool is_of_class(const struct oc_op *op, const uint8_t *list)
{
    while (op && *list && *list != op->op_class)
        list++;
    return op && *list;
}

bool oc_op_keeps_shape(const struct oc_op *op)
{
    return op &&
           (op->flags & OC_F_KEEPS_SHAPE || op->shape == oc_shape_same || op->shape == oc_shape_same_bool);
}

bool oc_op_selects(const struct oc_op *op)
{
    static const uint8_t moves[] = {OC_OP_VIEW, OC_OP_COPY, OC_OP_LAYOUT, OC_OP_GATHER, 0};
    return op && (op->flags & OC_F_SELECTS || (is_of_class(op, moves) && !(op->flags & OC_F_TYPE_ONLY)));
}

bool oc_op_has_channels(const struct oc_op *op)
{
    static const uint8_t spatial[] = {OC_OP_CONV, OC_OP_POOL, OC_OP_RESIZE, 0};
    return oc_op_is(op, OC_F_CHANNELS) || is_of_class(op, spatial);
}

bool oc_op_broadcasts(const struct oc_op *op)
{
    return op && (op->flags & OC_F_BROADCASTS || op->shape == oc_shape_broadcast ||
                  op->shape == oc_shape_broadcast_bool);
}

uint32_t oc_op_required(const struct oc_op *op)
{
    return op && op->n_required ? op->n_required : oc_op_broadcasts(op) ? 2 : 1;
}

const char *oc_prim_name(unsigned prim)
{
    return prim < OC_PRIM_COUNT ? prim_names[prim] : "?";
}

const char *oc_op_class_name(unsigned op_class)
{
    return op_class < OC_OP_CLASS_COUNT ? class_names[op_class] : "?";
}

const struct oc_op_family *const *oc_op_families(size_t *n)
{
    *n = OC_COUNT(families);
    return families;
}

/* The rows of one (domain, name), one per range of versions: they follow each other in their family. */
struct op_versions {
    uint16_t row; /* the first */
    uint8_t family, n;
};

/* A hash table with linear probing, filled at the first search; more than half of it is free. It is small:
 * each page of it is a page fault at every start. */
static struct op_versions op_index[2048];
static pthread_once_t op_index_once = PTHREAD_ONCE_INIT;

static const struct oc_op *first_row(const struct op_versions *v)
{
    return &families[v->family]->op[v->row];
}

static struct op_versions *op_index_find(const char *domain, const char *name)
{
    static const struct oc_hash_secret open = {{1, 0x9e3779b97f4a7c15u}}; /* the keys are ours */
    for (uint32_t h = oc_hash(&open, name, strlen(name));; h++) {
        struct op_versions *v = &op_index[h % OC_COUNT(op_index)];
        if (!v->n || (strcmp(first_row(v)->name, name) == 0 && strcmp(first_row(v)->domain, domain) == 0))
            return v;
    }
}

static void fill_op_index(void)
{
    for (size_t i = 0; i < OC_COUNT(families); i++)
        for (uint32_t k = 0; k < families[i]->n; k++) {
            const struct oc_op *op = &families[i]->op[k];
            struct op_versions *v = op_index_find(op->domain, op->name);
            if (!v->n++)
                *v = (struct op_versions){.row = (uint16_t)k, .family = (uint8_t)i, .n = 1};
        }
}

/* The row of (domain, name) that covers the version; version 0: the current one. */
static const struct oc_op *op_table_find(const char *domain, const char *name, int32_t opset)
{
    const struct op_versions *v = op_index_find(domain, name);
    const struct oc_op *found = NULL;
    for (uint32_t i = 0; i < v->n; i++) {
        const struct oc_op *op = first_row(v) + i;
        if (opset <= 0 ? op->until == 0 : op->since <= opset && (op->until == 0 || opset <= op->until))
            found = op;
    }
    return found;
}

/* Other names of domains; TensorRT's parser finds its plug-ins by name in the default domain too. */
static const char *const domain_alias[][2] = {{"ai.onnx", ""},
                                              {"TRT", "trt"},
                                              {"trt.plugins", "trt"},
                                              {"onnx.brevitas", "qonnx.custom_op.general"},
                                              {"finn.custom_op.general", "qonnx.custom_op.general"}};

const struct oc_op *oc_op_find(const char *domain, const char *name, int32_t opset)
{
    pthread_once(&op_index_once, fill_op_index);
    for (size_t i = 0; i < OC_COUNT(domain_alias); i++)
        if (strcmp(domain, domain_alias[i][0]) == 0) {
            domain = domain_alias[i][1];
            break;
        }
    const struct oc_op *op = op_table_find(domain, name, opset);
    return op || domain[0] ? op : op_table_find("trt", name, 0);
}

const struct oc_op *oc_op_find_cached(struct oc_op_cache *cache, const char *domain, const char *name,
                                      int32_t opset)
{
    uintptr_t h = ((uintptr_t)name >> 3) * 31 + ((uintptr_t)domain >> 3) * 7 + (uintptr_t)(uint32_t)opset;
    struct oc_op_cache_slot *s = &cache->slot[h % OC_COUNT(cache->slot)];
    if (s->name != name || s->domain != domain || s->opset != opset) {
        *s = (struct oc_op_cache_slot){.domain = domain, .name = name, .opset = opset};
        s->op = oc_op_find(domain, name, opset);
    }
    return s->op;
}

/* ---- control flow ------------------------------------------------------------------------------------- */

/* analyze/control.c infers through the bodies; the rows here make the operators known. */

/* Without their bodies the outputs are unknown. */
static int shape_unknown(struct oc_op_ctx *c)
{
    for (uint32_t i = 0; i < c->n_out; i++)
        oc_set_out_type(c, i, NULL);
    return 0;
}

#define CONTROL(d, n, v, fl, b, sl)                                                                          \
    {                                                                                                        \
        .domain = (d), .name = (n), .since = (v), .op_class = OC_OP_CONTROL, .flags = OC_F_CONTROL | (fl),   \
        .body = OC_BODY_##b, .slots = (sl), .shape = shape_unknown                                           \
    }

static const struct oc_op control_rows[] = {
    CONTROL("com.microsoft", "BeamSearch", 1, 0, GENERATION, ".m"),
    CONTROL("com.microsoft", "GreedySearch", 1, 0, GENERATION, ".m"),
    CONTROL("", "If", 1, 0, IF, "m"),
    CONTROL("", "Loop", 1, 0, LOOP, "mm."),
    CONTROL("com.microsoft", "Sampling", 1, 0, GENERATION, ".m"),
    CONTROL("", "Scan", 8, 0, SCAN, NULL),
    CONTROL("", "SequenceMap", 17, OC_F_FUNCTION, MAP, NULL),
    CONTROL("com.microsoft", "WhisperBeamSearch", 1, 0, GENERATION, ".m"),
};
OC_FAMILY(control, control_rows);

/* ---- work that a model does not define ---------------------------------------------------------------- */

/* Operators whose work is not defined in the model (cost-semantics 4.17), and copies between devices. Their
 * output types are those declared in the file. */

static int shape_declared(struct oc_op_ctx *c)
{
    (void)c; /* outputs without a type get the declared one */
    return 0;
}

static int opaque_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    c->assumption = "the model does not define what the operator computes";
    return oc_cost_unknown(c);
}
static const char opaque_formula[] = "";

/* tokens, suffix_match_idx */
static int shape_bifurcation(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_1d(c->arena, oc_op_fresh_dim(c, "tokens", -1)));
    oc_set_out(c, 1, oc_in_dtype(c, 0), oc_shape_scalar());
    return 0;
}

#define OPAQUE(d, n, sh)                                                                                     \
    {                                                                                                        \
        .domain = (d), .name = (n), .since = 1, .op_class = OC_OP_OTHER,                                     \
        .flags = OC_F_NO_FOLD | OC_F_LOW_CONFIDENCE, .shape = (sh), OC_COST(opaque)                          \
    }
#define MEMCPY(n)                                                                                            \
    {                                                                                                        \
        .domain = "com.microsoft", .name = (n), .since = 1, .op_class = OC_OP_COPY, .shape = oc_shape_same,  \
        .fold = oc_fold_same                                                                                 \
    }

static const struct oc_op opaque_rows[] = {
    OPAQUE("", "ATen", shape_declared),
    OPAQUE("com.microsoft", "BifurcationDetector", shape_bifurcation),
    OPAQUE("com.microsoft", "EPContext", shape_declared),
    OPAQUE("", "GRUUnit", shape_declared),
    MEMCPY("MemcpyFromHost"),
    MEMCPY("MemcpyToHost"),
    OPAQUE("com.microsoft", "SampleOp", oc_shape_same),
    OPAQUE("com.microsoft", "Snpe", shape_declared),
};
OC_FAMILY(opaque, opaque_rows);
