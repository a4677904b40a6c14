/* Cost of records without a model. */
#include "join/record_cost.h"

#include <math.h>
#include <string.h>

#include "base/ck.h"
#include "join/expansion.h"
#include "join/join.h"

/* A BatchNormalization that runs as a convolution has MACs. */
static bool is_blocked(const struct oc_prof_rec *r)
{
    size_t n = strlen(r->name), stem;
    return n > 6 && !oc_match_as_product(r->name, &stem) && strcmp(r->name + n - 6, "_nchwc") == 0;
}

/* Executed MACs per run, over all its calls. False: the recorded shapes do not determine them. */
static bool recorded_macs(const struct oc_profile *p, const struct oc_prof_rec *r, struct oc_arena *a,
                          struct oc_formula_cache *formulas, uint64_t *macs)
{
    struct oc_record_cost k;
    double calls = r->calls_per_run;
    if (!r->has_in && !r->has_out)
        return false;
    oc_record_cost(p, r, a, formulas, &k);
    return k.quality != OC_UNKNOWN && calls >= 1 && calls == floor(calls) && calls < 1e15 &&
           oc_mul_u64(k.macs, (uint64_t)calls, macs);
}

void oc_join_executed(struct oc_join *j)
{
    const struct oc_profile *p = j->profile;
    struct oc_join_executed *e = &j->executed;
    struct oc_arena scratch = {0};
    struct oc_formula_cache *formulas = OC_NEW(&scratch, struct oc_formula_cache);
    bool fits = true;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        struct oc_join_rec *r = &j->rec[i];
        if (p->rec[i].bucket || !r->n_node)
            continue;
        r->executed_known = recorded_macs(p, &p->rec[i], &scratch, formulas, &r->executed_macs);
        e->recorded += r->executed_known;
        bool counted = r->quality != OC_UNKNOWN;
        if (!r->executed_known && counted && r->macs) { /* assumed equal to the model */
            e->from_model++;
            fits &= oc_add_u64(e->macs, r->macs, &e->macs);
        } else if (r->executed_known) {
            fits &= oc_add_u64(e->macs, r->executed_macs, &e->macs);
        }
        if (!r->executed_known || !counted || r->executed_macs <= r->macs)
            continue;
        bool padded = is_blocked(&p->rec[i]);
        *(padded ? &e->padded : &e->more) += 1;
        fits &= !padded || oc_add_u64(e->padding_macs, r->executed_macs - r->macs, &e->padding_macs);
        r->note =
            padded ? "executed MACs include padded channels" : "more MACs were executed than the model has";
    }
    e->known = fits && e->recorded;
    oc_arena_free(&scratch);
}

#define MAX_SLOTS 64
_Static_assert(MAX_SLOTS >= OC_RULE_SLOTS, "cost rules write these slots");

/* How the recorded inputs determine the count. */
enum how {
    BY_RULE,     /* the operator's rule on the recorded types; attributes do not change the count */
    BY_DEFAULTS, /* the same, but an attribute or a value that is not recorded may change it: an estimate */
    BY_CONV,     /* inputs X, W[, B]; the rule, if X and W are consistent */
    BY_FILTER,   /* quantized convolutions: N(o) times the size of a filter */
    BY_SCATTER,  /* transposed convolutions: N(x) times the size of W[1:] */
    BY_MATMUL,   /* N(o) times the depth of A */
    BY_PACKED, /* the same; what the operator does in addition (dequantization, activation) is not counted */
    BY_GEMM,   /* N(o) times N(A) / M; bias if it can be distinguished from B */
    NO_WORK    /* no arithmetic; attributes determine the bytes moved */
};

/* Products, whose weights the runtime may pack in advance without recording a shape, and operators that move
 * data. Others need no row: flags of their operator say whether attributes change the count. */
static const struct recorded {
    const char *type;
    uint8_t how, inputs; /* minimum number of recorded inputs for a complete list */
} rows[] = {
    {"Concat", NO_WORK, 1},
    {"Conv", BY_CONV, 2},
    {"ConvInteger", BY_FILTER, 2},
    {"DynamicQuantizeMatMul", BY_PACKED, 1},
    {"FusedConv", BY_CONV, 2},
    {"FusedGemm", BY_GEMM, 1},
    {"FusedMatMul", BY_PACKED, 1},
    {"Gather", NO_WORK, 1},
    {"Gemm", BY_GEMM, 1},
    {"MatMul", BY_MATMUL, 1},
    {"MatMulInteger", BY_PACKED, 1},
    {"MatMulIntegerToFloat", BY_PACKED, 1},
    {"MatMulNBits", BY_PACKED, 1},
    {"Pad", NO_WORK, 1},
    {"QLinearConv", BY_FILTER, 4},
    {"QLinearMatMul", BY_PACKED, 1},
    {"Slice", NO_WORK, 1},
    {"Split", NO_WORK, 1},
    {"Transpose", NO_WORK, 1},
    {"TransposeMatMul", BY_PACKED, 1},
};

static bool is_product(unsigned how)
{
    return how == BY_MATMUL || how == BY_PACKED || how == BY_GEMM || how == BY_FILTER;
}

/* Operators of these kinds have weights that a runtime may pack: a short list of inputs proves nothing. */
static bool may_pack(const struct oc_op *op)
{
    return op->op_class == OC_OP_GEMM || op->op_class == OC_OP_CONV || op->op_class == OC_OP_RNN ||
           op->op_class == OC_OP_ATTENTION;
}

struct work {
    const struct oc_profile *p;
    const struct oc_prof_rec *r;
    struct oc_formula_cache *formulas;
    struct oc_record_cost *out;
    bool reads_more; /* the rule read an attribute or a value, which are not recorded */
};

static void unknown(struct oc_record_cost *out, const char *why)
{
    out->macs = out->flops = out->ops = 0;
    out->quality = OC_UNKNOWN;
    out->note = why;
}

static bool sum_bytes(const struct oc_type *t, uint32_t n, uint64_t *sum)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t count, bytes;
        if (t[i].dtype == OC_DT_UNDEFINED || !oc_shape_elements(&t[i].shape, &count) ||
            !oc_bytes_of(t[i].dtype, count, &bytes) || !oc_add_u64(*sum, bytes, sum))
            return false;
    }
    return true;
}

/* ---- the operator's own rule ------------------------------------------------------------------------ */

static const struct oc_op *find_op(const char *type)
{
    const struct oc_op *op = oc_op_find("", type, 0);
    return op ? op : oc_op_find("com.microsoft", type, 0);
}

/* A multiply-add counts as two operations, every other basic operation as one. */
static bool count_operations(const uint64_t *hist, uint64_t *sum, uint64_t *macs)
{
    for (unsigned i = 0; i < OC_PRIM_COUNT; i++)
        if (!oc_add_u64(*sum, hist[i], sum) ||
            (i == OC_MAC && (!oc_add_u64(*sum, hist[i], sum) || !oc_add_u64(*macs, hist[i], macs))))
            return false;
    return true;
}

/* Cost rules read dimensions of outputs that the shape rule made: those of a record need as many. They may
 * have more, because inputs that the runtime does not record are missing here. */
static bool has_inferred_ranks(const struct oc_op_ctx *c)
{
    struct oc_type inferred[MAX_SLOTS] = {0};
    const struct oc_data *values[MAX_SLOTS] = {0};
    struct oc_op_ctx x = *c;
    x.out = inferred;
    x.out_data = values;
    x.reads_more = NULL;
    if (!x.op->shape)
        return true;
    if (oc_op_infer(&x))
        return false;
    for (uint32_t i = 0; i < c->n_out; i++)
        if (inferred[i].kind == OC_T_TENSOR && inferred[i].shape.ranked &&
            inferred[i].shape.rank > c->out[i].shape.rank)
            return false;
    return true;
}

/* `checked`: the caller has compared the shapes. */
static void run_rule(struct work *w, const struct oc_op *op, struct oc_arena *a, bool checked)
{
    const struct oc_prof_rec *r = w->r;
    uint32_t n_in = r->n_in < MAX_SLOTS ? r->n_in : MAX_SLOTS,
             n_out = r->n_out < MAX_SLOTS ? r->n_out : MAX_SLOTS;
    const struct oc_type *in[MAX_SLOTS] = {0};
    const struct oc_data *data[MAX_SLOTS] = {0};
    bool is_const[MAX_SLOTS] = {0}, used[MAX_SLOTS] = {0};
    struct oc_type out[MAX_SLOTS];
    uint64_t rd[MAX_SLOTS] = {0}, wr[MAX_SLOTS] = {0};
    uint32_t id[MAX_SLOTS]; /* types of values without a model */
    for (uint32_t i = 0; i < MAX_SLOTS; i++)
        id[i] = i;
    struct oc_node node = {.in = id,
                           .out = id,
                           .name = "",
                           .op_type = r->op_type,
                           .domain = op->domain,
                           .overload = "",
                           .n_in = n_in,
                           .n_out = n_out};
    struct oc_err err;
    struct oc_exprs *exprs = oc_exprs_new(a);
    for (uint32_t i = 0; i < n_in; i++)
        in[i] = &r->in[i];
    for (uint32_t i = 0; i < n_out; i++) {
        out[i] = r->out[i];
        used[i] = true;
    }
    struct oc_op_ctx c = {.node = &node,
                          .op = op,
                          .opset = op->since,
                          .arena = a,
                          .exprs = exprs,
                          .in = in,
                          .in_data = data,
                          .in_const = is_const,
                          .n_in = n_in,
                          .n_out = n_out,
                          .out = out,
                          .out_used = used,
                          .formulas = w->formulas,
                          .err = &err,
                          .reads_more = &w->reads_more};
    struct oc_cost k = {.rd = rd, .wr = wr, .n_in = n_in, .n_out = n_out};
    k.mac_class = n_in ? oc_dtype_info(in[0]->dtype)->cls : OC_CLASS_NONE;
    k.rest_class = n_out ? oc_dtype_info(out[0].dtype)->cls : OC_CLASS_NONE;
    for (uint32_t i = n_in; i-- > 0;)
        if (oc_dtype_is_float(in[i]->dtype))
            k.rest_class = oc_dtype_info(in[i]->dtype)->cls;
    if (!(checked || has_inferred_ranks(&c)) || op->cost(&c, &k) || c.unknown || c.overflow ||
        !count_operations(k.hist_f, &w->out->flops, &w->out->macs) ||
        !count_operations(k.hist_i, &w->out->ops, &w->out->macs))
        unknown(w->out, "the recorded shapes do not match the operator");
    oc_exprs_free(exprs);
}

/* ---- products --------------------------------------------------------------------------------------- */

static void count_macs(struct work *w, uint64_t n, uint64_t depth, uint64_t adds)
{
    uint64_t macs, twice, *sum = oc_dtype_is_float(w->r->in[0].dtype) ? &w->out->flops : &w->out->ops;
    if (!oc_mul_u64(n, depth, &macs) || !oc_mul_u64(macs, 2, &twice) || !oc_add_u64(twice, adds, sum))
        unknown(w->out, "the count overflows 64 bits");
    else
        w->out->macs = macs;
}

/* Of a count that is known, but not exact. */
static void count_is(struct work *w, enum oc_quality quality, const char *note)
{
    if (w->out->quality == OC_UNKNOWN)
        return;
    w->out->quality = quality;
    w->out->note = note;
}

/* A is [..., M, K] or, transposed by an attribute, [..., K, M]; Y is [..., M, N]. */
static bool matmul_depth(const struct oc_shape *a, const struct oc_shape *y, uint64_t *depth)
{
    if (!oc_shape_known(a) || !oc_shape_known(y) || !a->rank)
        return false;
    bool plain = a->rank < 2 || y->rank < 2 || a->dim[a->rank - 2].v == y->dim[y->rank - 2].v;
    bool turned = a->rank > 1 && y->rank > 1 && a->dim[a->rank - 1].v == y->dim[y->rank - 2].v;
    *depth = (uint64_t)a->dim[a->rank - (plain || !turned ? 1U : 2U)].v;
    return true;
}

/* Whether that depth K fits B, the second input: a matrix is K x N or N x K and A has K values for each row of
 * Y; with batches or blocks B has K x N values or more. */
static bool is_depth_of(const struct oc_prof_rec *r, uint64_t n_out, uint64_t depth)
{
    const struct oc_shape *b = &r->in[1].shape, *y = &r->out[0].shape;
    uint64_t na, nb, kn, width = y->rank ? (uint64_t)y->dim[y->rank - 1].v : 0;
    if (b->rank < 2 || y->rank < 2 || !width)
        return true; /* a vector, or nothing is computed */
    if (!oc_shape_elements(&r->in[0].shape, &na) || !oc_shape_elements(&r->in[1].shape, &nb) ||
        !oc_mul_u64(depth, width, &kn))
        return false;
    return b->rank > 2 ? nb >= kn : nb == kn && na == n_out / width * depth;
}

/* `whole`: the second input is B, not a scale. */
static void count_matmul(struct work *w, bool packed, bool whole)
{
    uint64_t n, depth;
    if (!w->r->n_out || !oc_shape_elements(&w->r->out[0].shape, &n) ||
        !matmul_depth(&w->r->in[0].shape, &w->r->out[0].shape, &depth)) {
        unknown(w->out, "the shape of A is not recorded");
        return;
    }
    if (whole && w->r->n_in > 1 && !is_depth_of(w->r, n, depth)) {
        unknown(w->out, "the recorded shapes are not those of a product");
        w->out->bytes_known = false;
        return;
    }
    count_macs(w, n, depth, 0);
    if (packed)
        count_is(w, OC_LOWER, "counts the product only");
}

/* Among X, W, scales and zero points, the filter [M, C / group, ...] is the second input of X's rank. */
static void count_filter(struct work *w)
{
    const struct oc_prof_rec *r = w->r;
    const struct oc_shape *x = &r->in[0].shape, *y = &r->out[0].shape, *k = NULL;
    uint64_t n, filter = 0;
    for (uint32_t i = 1; i < r->n_in && !k; i++)
        k = oc_shape_known(x) && r->in[i].shape.rank == x->rank ? &r->in[i].shape : NULL;
    if (!k || x->rank < 3 || !r->n_out || !oc_shape_elements(&r->out[0].shape, &n) || y->rank != x->rank ||
        !oc_shape_known(k) || !k->dim[0].v ||
        (k->dim[0].v != y->dim[1].v && k->dim[0].v != y->dim[y->rank - 1].v) ||
        !oc_shape_elements(k, &filter)) {
        unknown(w->out, "the filter is not recorded");
        w->out->bytes_known = false;
        return;
    }
    count_macs(w, n, filter / (uint64_t)k->dim[0].v, 0);
    count_is(w, OC_LOWER, "counts the product only");
}

/* W is [C, M / group, ...]. What padding cuts off is not known. */
static void count_scatter(struct work *w)
{
    const struct oc_shape *x = &w->r->in[0].shape, *k = &w->r->in[1].shape;
    uint64_t n, filter = 0;
    if (!oc_shape_elements(x, &n) || !oc_shape_elements(k, &filter) || x->rank < 3 || k->rank != x->rank ||
        !k->dim[0].v || k->dim[0].v != x->dim[1].v) {
        unknown(w->out, "the filter is not recorded");
        return;
    }
    count_macs(w, n, filter / (uint64_t)k->dim[0].v, 0);
    count_is(w, OC_EST, "counts the product only, without padding");
}

/* A is M x K or K x M: N(A) / M is K in both cases. The second recorded input is B or, if B is packed, C. */
static void count_gemm(struct work *w)
{
    const struct oc_prof_rec *r = w->r;
    uint64_t n, na, second = 0;
    if (!r->n_out || r->out[0].shape.rank != 2 || !oc_shape_elements(&r->out[0].shape, &n) ||
        r->in[0].shape.rank != 2 || !oc_shape_elements(&r->in[0].shape, &na) ||
        (r->n_in > 1 && !oc_shape_elements(&r->in[1].shape, &second))) {
        unknown(w->out, "the shapes of A and Y are not recorded");
        return;
    }
    uint64_t m = (uint64_t)r->out[0].shape.dim[0].v, width = (uint64_t)r->out[0].shape.dim[1].v;
    const struct oc_dim *a = r->in[0].shape.dim;
    if (!m || !width || ((uint64_t)a[0].v != m && (uint64_t)a[1].v != m)) {
        unknown(w->out, "the recorded input is not A");
        return;
    }
    uint64_t depth = na / m, b;
    bool may_be_b = r->n_in > 1 && r->in[1].shape.rank == 2 && oc_mul_u64(depth, width, &b) && second == b;
    bool may_be_c = r->n_in == 2 && (second == 1 || second == m || second == width || second == n);
    if (may_be_b && may_be_c) {
        unknown(w->out, "the second recorded input may be B or C");
        return;
    }
    bool bias = r->n_in > 2 || (r->n_in == 2 && !may_be_b);
    if (!may_be_b)
        w->out->bytes_known = false; /* B is packed */
    count_macs(w, n, depth, bias ? n : 0);
    count_is(w, OC_EST, "assumes alpha = beta = 1");
}

static void count_conv(struct work *w, const struct oc_op *op, struct oc_arena *a)
{
    const struct oc_prof_rec *r = w->r;
    const struct oc_shape *x = &r->in[0].shape, *k = &r->in[1].shape;
    size_t len = strlen(r->name);
    bool blocked = len > 6 && strcmp(r->name + len - 6, "_nchwc") == 0;
    if (!r->n_out || !oc_shape_known(x) || !oc_shape_known(k) || x->rank < 3 || x->rank != k->rank ||
        r->out[0].shape.rank != x->rank || !oc_shape_known(&r->out[0].shape) ||
        k->dim[0].v != r->out[0].shape.dim[1].v || k->dim[1].v < 1 || x->dim[1].v % k->dim[1].v) {
        unknown(w->out, "the recorded inputs are not X and W");
        return;
    }
    run_rule(w, op, a, true);
    bool fused = strcmp(r->op_type, "FusedConv") == 0;
    if (blocked)
        count_is(w, fused ? OC_EST : OC_UPPER, "channels are padded to blocks");
    else if (fused)
        count_is(w, OC_LOWER, "the activation is not recorded");
}

void oc_record_rule_cost(const struct oc_prof_rec *r, struct oc_arena *a, struct oc_record_cost *out)
{
    struct work w = {.r = r, .out = out};
    const struct oc_op *op = find_op(r->op_type);
    if (op && op->cost)
        run_rule(&w, op, a, false);
    else
        unknown(out, "no rule for this operator");
}

/* ---- public ----------------------------------------------------------------------------------------- */

static void count_by_rule(struct work *w, const struct oc_op *op, struct oc_arena *a, bool listed,
                          unsigned how)
{
    run_rule(w, op, a, false);
    if (w->out->quality == OC_UNKNOWN || !w->reads_more || (listed && how == BY_RULE))
        return;
    if (listed)
        count_is(w, OC_EST, "assumes the defaults of attributes that are not recorded");
    else
        unknown(w->out, "the count depends on attributes, which are not recorded");
}

static void count(struct work *w, const struct oc_op *op, struct oc_arena *a, bool listed, unsigned how)
{
    if (!listed && may_pack(op))
        unknown(w->out, "the count depends on attributes or packed weights");
    else if (!listed || how == BY_RULE || how == BY_DEFAULTS)
        count_by_rule(w, op, a, listed, how);
    else if (how == BY_CONV)
        count_conv(w, op, a);
    else if (how == BY_FILTER)
        count_filter(w);
    else if (how == BY_SCATTER)
        count_scatter(w);
    else if (how == BY_GEMM)
        count_gemm(w);
    else
        count_matmul(w, how == BY_PACKED, !op || how == BY_MATMUL);
}

/* False: no row and no flag describes the type; its rule counts unless it reads attributes. */
static bool is_described(const char *type, const struct oc_op *op, struct recorded *out)
{
    *out = (struct recorded){.how = BY_RULE, .inputs = (uint8_t)oc_op_required(op)};
    for (size_t i = 0; i < OC_COUNT(rows); i++)
        if (strcmp(rows[i].type, type) == 0) {
            *out = rows[i];
            return true;
        }
    if (oc_op_is(op, OC_F_COUNT_BY_DEFAULTS))
        out->how = BY_DEFAULTS;
    return oc_op_is(op, OC_F_COUNT_BY_TYPES | OC_F_COUNT_BY_DEFAULTS);
}

/* Products by the names that other frameworks give them. Blocked layouts have more
 * dimensions; the depth is split into two of them. */
static bool is_foreign_product(const struct oc_prof_rec *r, struct oc_arena *a, struct recorded *out)
{
    struct oc_source_type t;
    if (!oc_source_type(r->op_type, r->name, a, &t) || !oc_type_set_has_product(t.core))
        return false;
    *out = (struct recorded){.inputs = 2,
                             .how = oc_type_set_has(t.core, "ConvTranspose") ? BY_SCATTER
                                    : oc_type_set_has(t.core, "Conv")        ? BY_FILTER
                                                                             : BY_PACKED};
    return out->how != BY_PACKED ||
           (r->n_in && r->n_out && r->in[0].shape.rank <= 3 && r->out[0].shape.rank <= 3);
}

void oc_record_cost(const struct oc_profile *p, const struct oc_prof_rec *r, struct oc_arena *a,
                    struct oc_formula_cache *formulas, struct oc_record_cost *out)
{
    if (oc_aten_is(r) && r->is_launch) {
        *out = (struct oc_record_cost){0};
        unknown(out, "the file has no device times, which show the operators that did the work");
        return;
    }
    if (oc_aten_is(r)) {
        oc_aten_cost(r, a, out);
        return;
    }
    struct work w = {.p = p, .r = r, .formulas = formulas, .out = out};
    const struct oc_op *op = find_op(r->op_type);
    struct recorded row;
    bool listed = is_described(r->op_type, op, &row), foreign = !op && is_foreign_product(r, a, &row);
    unsigned how = row.how;
    uint32_t least = row.inputs;
    *out = (struct oc_record_cost){.quality = OC_EXACT};
    bool hidden = r->n_in < least || (is_product(how) && r->n_in < 2);
    bool whole = foreign || (op && !(op->flags & OC_F_CONTROL) && (listed || !op->cost || !may_pack(op)));
    out->bytes_known = r->has_in && r->has_out && !hidden && whole && how != NO_WORK &&
                       sum_bytes(r->in, r->n_in, &out->rd) && sum_bytes(r->out, r->n_out, &out->wr);
    if (!r->has_in || !r->has_out || !r->n_in)
        unknown(out, "no shapes are recorded");
    else if (!op && !foreign)
        unknown(out, "no rule for this operator");
    else if (op && op->flags & OC_F_CONTROL)
        unknown(out, "its work is in the records of its bodies");
    else if (op && op->flags & OC_F_VIEW)
        out->rd = out->wr = 0; /* a view of the same memory */
    else if (op && (!op->cost || how == NO_WORK))
        return; /* moves data */
    else if (r->n_in < least)
        unknown(out, "not all inputs are recorded");
    else
        count(&w, op, a, listed || foreign, how);
}
