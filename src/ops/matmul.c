/* Products of tensors: MatMul, Gemm, their integer forms, Det, Einsum. cost-semantics 4.2, 4.11,
 * shape-inference 4.3. */
#include <string.h>

#include "base/ck.h"
#include "base/diag.h"
#include "base/str.h"
#include "ops/op.h"
#include "ops/shared_rules.h"

/* ---- shapes ------------------------------------------------------------------------------------------- */

int oc_unify(struct oc_op_ctx *c, struct oc_dim a, struct oc_dim b, const char *what, struct oc_dim *out)
{
    *out = oc_is_known(a) ? a : b;
    if (oc_is_known(a) && oc_is_known(b) && a.v != b.v)
        return oc_op_fail(c, "%s: %lld and %lld", what, (long long)a.v, (long long)b.v);
    return 0;
}

int oc_matmul_shape(struct oc_op_ctx *c, const struct oc_shape *a, const struct oc_shape *b,
                    struct oc_shape *out, struct oc_dim *depth)
{
    *out = oc_shape_unranked();
    *depth = oc_known(0);
    if (!a->ranked || !b->ranked)
        return 0;
    if (a->rank == 0 || b->rank == 0)
        return oc_op_fail(c, "an operand is a scalar");
    struct oc_dim ka = a->dim[a->rank - 1], kb = b->dim[b->rank == 1 ? 0 : b->rank - 2];
    if (oc_unify(c, ka, kb, "inner dimensions differ", depth))
        return -1;
    struct oc_shape batch_a = {
        .dim = a->dim, .rank = (uint8_t)(a->rank > 2 ? a->rank - 2 : 0), .ranked = true};
    struct oc_shape batch_b = {
        .dim = b->dim, .rank = (uint8_t)(b->rank > 2 ? b->rank - 2 : 0), .ranked = true};
    struct oc_shape batch;
    bool assumed = false;
    if (oc_broadcast(c->arena, c->exprs, &batch_a, &batch_b, &batch, &assumed))
        return oc_op_fail(c, "batch dimensions {%s} and {%s} do not broadcast",
                          oc_shape_text(c->arena, c->exprs, &batch_a, ","),
                          oc_shape_text(c->arena, c->exprs, &batch_b, ","));
    struct oc_dim dim[OC_MAX_RANK + 2];
    unsigned n = batch.rank;
    if (n)
        memcpy(dim, batch.dim, n * sizeof(dim[0]));
    if (a->rank > 1)
        dim[n++] = a->dim[a->rank - 2];
    if (b->rank > 1)
        dim[n++] = b->dim[b->rank - 1];
    *out = oc_shape_of(c->arena, n, dim);
    return 0;
}

static int shape_matmul_at(struct oc_op_ctx *c, unsigned a, unsigned b, unsigned dtype)
{
    struct oc_shape out;
    struct oc_dim depth;
    if (oc_matmul_shape(c, oc_in_shape(c, a), oc_in_shape(c, b), &out, &depth))
        return -1;
    oc_set_out(c, 0, dtype, out);
    return 0;
}

static int shape_matmul(struct oc_op_ctx *c)
{
    return shape_matmul_at(c, 0, 1, oc_in_dtype(c, 0));
}

static int shape_matmul_integer(struct oc_op_ctx *c)
{
    return shape_matmul_at(c, 0, 1, OC_DT_INT32);
}

static int shape_qlinear_matmul(struct oc_op_ctx *c)
{
    return shape_matmul_at(c, 0, 3, oc_in(c, 7) ? oc_in_dtype(c, 7) : oc_in_dtype(c, 0));
}

static int shape_gemm(struct oc_op_ctx *c)
{
    const struct oc_shape *a = oc_in_shape(c, 0), *b = oc_in_shape(c, 1);
    bool ta = oc_attr_i(c, "transA", 0) != 0, tb = oc_attr_i(c, "transB", 0) != 0;
    if ((a->ranked && a->rank != 2) || (b->ranked && b->rank != 2))
        return oc_op_fail(c, "operands must be matrices, got rank %u and %u", a->rank, b->rank);
    struct oc_dim k;
    if (a->ranked && b->ranked &&
        oc_unify(c, a->dim[ta ? 0 : 1], b->dim[tb ? 1 : 0], "inner dimensions differ", &k))
        return -1;
    struct oc_dim dim[2];
    dim[0] = a->ranked ? a->dim[ta ? 1 : 0] : oc_op_fresh_dim(c, "0", -1);
    dim[1] = b->ranked ? b->dim[tb ? 0 : 1] : oc_op_fresh_dim(c, "1", -1);
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, 2, dim));
    return 0;
}

static int shape_det(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    if (x->ranked && x->rank < 2)
        return oc_op_fail(c, "needs matrices, got rank %u", x->rank);
    struct oc_shape s = *x;
    s.rank = (uint8_t)(x->ranked ? x->rank - 2 : 0);
    oc_set_out(c, 0, oc_in_dtype(c, 0), s);
    return 0;
}

/* ---- cost --------------------------------------------------------------------------------------------- */

/* Subtracts the zero points: of A always, of B only if it is not prepacked. */
static void report_zero_points(struct oc_op_ctx *c, unsigned a, unsigned a_zp, unsigned b, unsigned b_zp)
{
    if (oc_zero_point_counts(c, a_zp))
        oc_add_formula_value(c, "zp", oc_c_in(c, a));
    if (oc_zero_point_counts(c, b_zp) && !oc_in_is_const(c, b))
        oc_add_formula_value(c, "zp", oc_c_in(c, b));
}

static const char matmul_formula[] = "MAC = N(o)*K; K := x[-1]";

static int matmul_integer_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    report_zero_points(c, 0, 2, 1, 3);
    return 0;
}
static const char matmul_integer_formula[] = "MAC = N(o)*K; ADD:int = zp; K := x[-1]; zp := 0";

static int qlinear_matmul_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    report_zero_points(c, 0, 2, 3, 5);
    return 0;
}
static const char qlinear_matmul_formula[] =
    "MAC = N(o)*K; ADD:int = zp; requantize = N(o); K := x[-1]; zp := 0";

/* A is M x K, transposed by an attribute. */
static int gemm_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *a = oc_in_shape(c, 0);
    bool known = a->ranked && a->rank == 2;
    (void)k;
    c->unknown |= !known;
    oc_add_formula_value(c, "K", known ? oc_c_dim(c, a->dim[oc_attr_i(c, "transA", 0) ? 0 : 1]) : 0);
    return 0;
}
static const char gemm_formula[] =
    "MAC = M*N*K; ADD = c*N(o); MUL = [alpha:1 != 1]*N(o) + c*[beta:1 != 1]*N(in2); activation = N(o); "
    "M := o[0]; N := o[1]; c := [in2]*[beta:1 != 0]";

/* MatMulInteger, a float scale, bias; QGemm requantizes when y_scale is there. */
static int qgemm_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    report_zero_points(c, 0, 2, 3, 5);
    return gemm_values(c, k);
}
static const char qgemm_formula[] =
    "MAC = M*N*K; ADD:int = zp + [in6]*N(o); MUL = (1 - [in7])*N(o); requantize = [in7]*N(o); "
    "M := o[0]; N := o[1]; zp := 0";

static int shape_qgemm(struct oc_op_ctx *c)
{
    const struct oc_shape *a = oc_in_shape(c, 0), *b = oc_in_shape(c, 3);
    bool ta = oc_attr_i(c, "transA", 0) != 0, tb = oc_attr_i(c, "transB", 0) != 0;
    unsigned dtype = oc_in(c, 8) ? oc_in_dtype(c, 8) : oc_in(c, 7) ? oc_in_dtype(c, 0) : OC_DT_FLOAT;
    if ((a->ranked && a->rank != 2) || (b->ranked && b->rank != 2))
        return oc_op_fail(c, "operands must be matrices, got rank %u and %u", a->rank, b->rank);
    struct oc_dim dim[2];
    dim[0] = a->ranked ? a->dim[ta ? 1 : 0] : oc_op_fresh_dim(c, "0", -1);
    dim[1] = b->ranked ? b->dim[tb ? 0 : 1] : oc_op_fresh_dim(c, "1", -1);
    oc_set_out(c, 0, dtype, oc_shape_of(c->arena, 2, dim));
    return 0;
}

static const char det_formula[] =
    "ADD = N(o)*(work/2); MUL = N(o)*(work - work/2); work := 2*m*m*m/3; m := x[-1]";

static const struct oc_op matmul_rows[] = {
    {OC_OP_ROW("", "Det", 11, OTHER, NULL, shape_det), OC_COST_TEXT(det_formula), .flags = OC_F_FUNCTION},
    {OC_OP_ROW("com.microsoft", "FusedGemm", 1, GEMM, "..b.", shape_gemm), OC_COST(gemm)},
    {OC_OP_ROW("", "Gemm", 1, GEMM, "..b.", shape_gemm), OC_COST(gemm)},
    {OC_OP_ROW("", "MatMul", 1, GEMM, NULL, shape_matmul), OC_COST_TEXT(matmul_formula)},
    {OC_OP_ROW("", "MatMulInteger", 10, GEMM, "..q", shape_matmul_integer), OC_COST(matmul_integer)},
    {OC_OP_ROW("com.microsoft", "MatMulInteger16", 1, GEMM, NULL, shape_matmul_integer),
     OC_COST_TEXT(matmul_formula)},
    {OC_OP_ROW("com.microsoft", "QGemm", 1, GEMM, ".qq.qqbqq", shape_qgemm), OC_COST(qgemm)},
    {OC_OP_ROW("", "QLinearMatMul", 10, GEMM, ".qq.qqqq", shape_qlinear_matmul), OC_COST(qlinear_matmul)},
};
OC_FAMILY(matmul, matmul_rows);

/* ---- Einsum ------------------------------------------------------------------------------------------- */

/* Parses the equation, infers the shape and the cost. */

/* Axis ids: 0..51 letters in ASCII order; from 52 the axes of the ellipsis, counted from its right end. */
#define N_LETTER 52
#define N_LABEL  (N_LETTER + OC_MAX_RANK)

struct set {
    uint64_t w[2];
};

struct term {
    uint8_t label[N_LABEL];
    unsigned n;
    struct set set;
};

struct equation {
    struct term *term; /* operands */
    struct term out;
    unsigned n_term;
    unsigned n_ellipsis; /* axes of "..." */
    struct oc_dim dim[N_LABEL];
    unsigned uses[N_LABEL];
};

static bool einsum_has(const struct set *s, unsigned label)
{
    return (s->w[label / 64] >> (label % 64) & 1) != 0;
}

static void einsum_put(struct term *t, unsigned label)
{
    t->label[t->n++] = (uint8_t)label;
    t->set.w[label / 64] |= UINT64_C(1) << (label % 64);
}

static struct set einsum_unite(struct set a, struct set b)
{
    return (struct set){{a.w[0] | b.w[0], a.w[1] | b.w[1]}};
}

static struct set common(struct set a, struct set b)
{
    return (struct set){{a.w[0] & b.w[0], a.w[1] & b.w[1]}};
}

static bool same_set(struct set a, struct set b)
{
    return a.w[0] == b.w[0] && a.w[1] == b.w[1];
}

static unsigned letter_id(char ch)
{
    return ch <= 'Z' ? (unsigned)(ch - 'A') : (unsigned)(ch - 'a') + 26;
}

/* Parses one term from *s up to ',' or "->" or the end. "..." stands for `n_dots` axes. -1: malformed. */
static int read_term(const char **s, struct term *t, unsigned n_dots, unsigned *n_letters)
{
    bool dots = false;
    *n_letters = 0;
    for (; **s && **s != ',' && strncmp(*s, "->", 2) != 0; ++*s) {
        if (**s == ' ')
            continue;
        if (strncmp(*s, "...", 3) == 0 && !dots && t->n + n_dots <= OC_MAX_RANK) {
            dots = true;
            *s += 2;
            for (unsigned i = n_dots; i-- > 0;)
                einsum_put(t, N_LETTER + i);
        } else if (((**s >= 'a' && **s <= 'z') || (**s >= 'A' && **s <= 'Z')) && t->n < OC_MAX_RANK) {
            einsum_put(t, letter_id(**s));
            ++*n_letters;
        } else {
            return -1;
        }
    }
    return dots ? 1 : 0;
}

/* Letters of the term at s, and whether it has "...". */
static unsigned count_letters(const char *s, bool *dots)
{
    unsigned n = 0;
    *dots = false;
    for (; *s && *s != ',' && strncmp(s, "->", 2) != 0; s++) {
        n += oc_is_alpha((unsigned char)*s) != 0;
        *dots = *dots || *s == '.';
    }
    return n;
}

static int einsum_merge_dim(struct oc_op_ctx *c, struct equation *e, unsigned label, struct oc_dim d)
{
    struct oc_dim *have = &e->dim[label];
    if (e->uses[label]++ == 0 || oc_is(*have, 1)) {
        *have = d;
    } else if (oc_is_known(d) && d.v != 1) {
        if (oc_is_known(*have) && have->v != d.v)
            return oc_op_fail(c, "a label has sizes %lld and %lld", (long long)have->v, (long long)d.v);
        *have = d;
    }
    return 0;
}

static int read_operand(struct oc_op_ctx *c, struct equation *e, const char **s, unsigned i)
{
    const struct oc_shape *shape = oc_in_shape(c, i);
    struct term *t = &e->term[i];
    bool dots;
    unsigned letters = count_letters(*s, &dots);
    if (letters > shape->rank || (!dots && letters != shape->rank))
        return oc_op_fail(c, "operand %u has rank %u but its term has %u labels", i, shape->rank, letters);
    unsigned n_dots = dots ? shape->rank - letters : 0;
    if (read_term(s, t, n_dots, &letters) < 0 || t->n != shape->rank)
        return oc_op_fail(c, "malformed equation '%s'", oc_attr_s(c, "equation", ""));
    if (n_dots > e->n_ellipsis)
        e->n_ellipsis = n_dots;
    for (unsigned k = 0; k < t->n; k++)
        if (einsum_merge_dim(c, e, t->label[k], shape->dim[k]))
            return -1;
    return 0;
}

/* Labels that occur once, sorted, the ellipsis first. */
static void implicit_output(struct equation *e)
{
    for (unsigned i = e->n_ellipsis; i-- > 0;)
        einsum_put(&e->out, N_LETTER + i);
    for (unsigned l = 0; l < N_LETTER; l++)
        if (e->uses[l] == 1)
            einsum_put(&e->out, l);
}

/* Returns 1 when everything is known, 0 when an operand's rank is not, -1 on an error. */
static int read_equation(struct oc_op_ctx *c, struct equation **out)
{
    const char *s = oc_attr_s(c, "equation", NULL), *all = s;
    unsigned letters;
    if (!s)
        return oc_op_fail(c, "attribute 'equation' is missing");
    const struct oc_input_limits *limits = c->model ? &c->model->limits : NULL;
    if (c->n_in > oc_input_limit(limits, OC_LIMIT_EINSUM_OPERANDS))
        return oc_input_limit_fail(limits, OC_LIMIT_EINSUM_OPERANDS, c->n_in, c->err);
    for (unsigned i = 0; i < c->n_in; i++)
        if (!oc_in_shape(c, i)->ranked)
            return 0;
    struct equation *e = OC_NEW(c->arena, struct equation);
    e->term = OC_NEW_ARRAY(c->arena, c->n_in ? c->n_in : 1, struct term);
    e->n_term = c->n_in;
    for (unsigned i = 0; i < c->n_in; i++) {
        if (i && *s++ != ',')
            return oc_op_fail(c, "equation '%s' does not have one term for each of %u operands", all,
                              c->n_in);
        if (read_operand(c, e, &s, i))
            return -1;
    }
    if (*s == '\0') {
        implicit_output(e);
    } else if (strncmp(s, "->", 2) != 0) {
        return oc_op_fail(c, "equation '%s' does not have one term for each of %u operands", all, c->n_in);
    } else {
        s += 2;
        if (read_term(&s, &e->out, e->n_ellipsis, &letters) < 0 || *s)
            return oc_op_fail(c, "malformed equation '%s'", all);
    }
    if (e->out.n > OC_MAX_RANK)
        return oc_op_fail(c, "the result of equation '%s' has rank %u", all, e->out.n);
    for (unsigned i = 0; i < e->out.n; i++)
        if (e->uses[e->out.label[i]] == 0)
            return oc_op_fail(c, "equation '%s': a label of the result is in no operand", all);
    *out = e;
    return 1;
}

static int shape_einsum(struct oc_op_ctx *c)
{
    struct equation *e;
    int known = read_equation(c, &e);
    if (known < 0)
        return -1;
    struct oc_shape out = oc_shape_unranked();
    if (known) {
        struct oc_dim dim[N_LABEL];
        for (unsigned i = 0; i < e->out.n; i++)
            dim[i] = e->dim[e->out.label[i]];
        out = oc_shape_of(c->arena, e->out.n, dim);
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), out);
    return 0;
}

static uint64_t volume(struct oc_op_ctx *c, const struct equation *e, struct set s)
{
    uint64_t n = 1;
    for (unsigned l = 0; l < N_LABEL; l++)
        if (einsum_has(&s, l))
            n = oc_c_mul(c, n, oc_c_dim(c, e->dim[l]));
    return n;
}

/* Contracts two operands with these labels: MAC over all labels if one is summed, else a product. */
static void einsum_report_step(struct oc_op_ctx *c, const struct equation *e, struct set all, struct set kept)
{
    bool product = same_set(all, kept);
    oc_add_formula_value(c, product ? "multiplied" : "contracted", volume(c, e, product ? kept : all));
}

/* Contracts from left to right; a label is summed once no later operand needs it. */
static void contract_left(struct oc_op_ctx *c, const struct equation *e)
{
    struct set have = e->term[0].set;
    struct set *later = OC_NEW_ARRAY(c->arena, e->n_term, struct set); /* labels needed after operand i */
    later[e->n_term - 1] = e->out.set;
    for (unsigned i = e->n_term - 1; i > 0; i--)
        later[i - 1] = einsum_unite(later[i], e->term[i].set);
    for (unsigned i = 1; i < e->n_term; i++) {
        struct set all = einsum_unite(have, e->term[i].set);
        have = common(all, later[i]);
        einsum_report_step(c, e, all, have);
    }
}

/* ---- the best order of pairs -------------------------------------------------------------------------- */

#define MAX_SEARCH 6 /* operands */

struct part {          /* the contraction of a subset of the operands (bit mask) */
    struct set set;    /* remaining labels */
    uint64_t mac, mul; /* cost of its best order; UINT64_MAX: beyond 64 bits */
    unsigned left;     /* the best split: this subset and its complement; 0: a single operand */
};

static uint64_t sum_or_max(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return oc_add_u64(a, b, &sum) ? sum : UINT64_MAX;
}

/* Saturating: a rejected order must not overflow the count. */
static uint64_t volume_or_max(const uint64_t *size, struct set s)
{
    uint64_t n = 1;
    bool fits = true;
    for (unsigned l = 0; l < N_LABEL; l++) {
        if (einsum_has(&s, l) && size[l] == 0)
            return 0;
        fits = fits && (!einsum_has(&s, l) || oc_mul_u64(n, size[l], &n));
    }
    return fits ? n : UINT64_MAX;
}

/* Labels that are needed by operands outside of the subset, or by the result. */
static struct set needed_outside(const struct equation *e, unsigned subset)
{
    struct set s = e->out.set;
    for (unsigned i = 0; i < e->n_term; i++)
        if (!(subset >> i & 1))
            s = einsum_unite(s, e->term[i].set);
    return s;
}

/* Best split of the subset in two: fewest MACs, then fewest products, then the first one found. */
static void best_pair(const struct equation *e, const uint64_t *size, struct part *part, unsigned subset)
{
    struct part *best = &part[subset];
    struct set needed = needed_outside(e, subset);
    best->left = 0;
    for (unsigned left = (subset - 1) & subset; left; left = (left - 1) & subset) {
        const struct part *a = &part[left], *b = &part[subset & ~left];
        struct set all = einsum_unite(a->set, b->set), kept = common(all, needed);
        uint64_t n = volume_or_max(size, all), mac = sum_or_max(a->mac, b->mac),
                 mul = sum_or_max(a->mul, b->mul);
        bool product = same_set(all, kept);
        mac = product ? mac : sum_or_max(mac, n);
        mul = product ? sum_or_max(mul, n) : mul;
        if (!best->left || mac < best->mac || (mac == best->mac && mul < best->mul))
            *best = (struct part){.set = kept, .mac = mac, .mul = mul, .left = left};
    }
}

static void einsum_report_part(struct oc_op_ctx *c, const struct equation *e, const struct part *part,
                               unsigned subset)
{
    unsigned left = part[subset].left;
    if (!left)
        return;
    einsum_report_part(c, e, part, left);
    einsum_report_part(c, e, part, subset & ~left);
    einsum_report_step(c, e, einsum_unite(part[left].set, part[subset & ~left].set), part[subset].set);
}

static void contract_optimal(struct oc_op_ctx *c, const struct equation *e)
{
    struct part part[1U << MAX_SEARCH] = {{.left = 0}};
    uint64_t size[N_LABEL] = {0};
    unsigned whole = (1U << e->n_term) - 1;
    for (unsigned l = 0; l < N_LABEL; l++)
        size[l] = e->uses[l] ? oc_c_dim(c, e->dim[l]) : 0;
    for (unsigned subset = 1; subset <= whole; subset++) {
        if (subset & (subset - 1))
            best_pair(e, size, part, subset);
        for (unsigned i = 0; i < e->n_term; i++)
            if (subset == 1U << i)
                part[subset].set = e->term[i].set;
    }
    einsum_report_part(c, e, part, whole);
}

static int einsum_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    struct equation *e = NULL;
    int known = read_equation(c, &e);
    (void)k;
    if (known <= 0 || !e || e->n_term == 0)
        return known < 0 ? -1 : oc_cost_unknown(c);
    if (e->n_term == 1 && !same_set(e->term[0].set, e->out.set))
        oc_add_formula_value(c, "summed", volume(c, e, e->term[0].set));
    if (c->opt.einsum_optimal && e->n_term > 2 && e->n_term <= MAX_SEARCH) {
        contract_optimal(c, e);
        return 0;
    }
    if (c->opt.einsum_optimal && e->n_term > MAX_SEARCH)
        c->assumption = "the optimal order is searched for up to six operands: contracted from left to right";
    contract_left(c, e);
    return 0;
}
static const char einsum_formula[] =
    "MAC = contracted; MUL = multiplied; ADD = summed; contracted := 0; multiplied := 0; summed := 0";

static const struct oc_op einsum_rows[] = {
    {OC_OP_ROW("", "Einsum", 12, GEMM, NULL, shape_einsum), OC_COST(einsum)},
};
OC_FAMILY(einsum, einsum_rows);
