#include "ops/op.h"
#include "support/op_case.h"
#include "lang/expr.h"
#include "base/wire.h"
#include "base/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/build_count.h"

/* ---- parsing the texts ---- */

struct text {
    struct op_case *t;
    const char *s;
};

static void text_error(const struct text *x, const char *what)
{
    fail_msg("op_case: %s at '%s'", what, x->s);
}

static bool eat(struct text *x, const char *s)
{
    size_t n = strlen(s);
    if (strncmp(x->s, s, n) != 0)
        return false;
    x->s += n;
    return true;
}

static void expect(struct text *x, const char *s)
{
    if (!eat(x, s))
        text_error(x, s);
}

/* Text up to one of `end` (or to the end of the text). */
static char *word(struct text *x, const char *end)
{
    size_t n = strcspn(x->s, end);
    char *w = oc_strndup(&x->t->arena, x->s, n);
    x->s += n;
    return w;
}

static bool is_int(const char *s, int64_t *v)
{
    return oc_parse_i64(s, strlen(s), v);
}

static struct oc_dim dim_of(struct text *x, const char *w)
{
    int64_t v;
    if (is_int(w, &v))
        return oc_known(v);
    return strcmp(w, "?") == 0 ? oc_dim_fresh(x->t->exprs, "?", -1) : oc_dim_symbol(x->t->exprs, w, -1);
}

static struct oc_type *read_type(struct text *x);

/* The common type of the elements of a list (all of one rank). */
static void join_items(struct text *x, struct oc_type *t, uint32_t n)
{
    struct oc_type *elem = OC_NEW(&x->t->arena, struct oc_type);
    struct oc_dim dim[OC_MAX_RANK];
    *elem = t->item[0];
    for (unsigned a = 0; a < elem->shape.rank; a++) {
        dim[a] = elem->shape.dim[a];
        for (uint32_t i = 1; i < n; i++)
            if (!oc_same_dim(dim[a], t->item[i].shape.dim[a]))
                dim[a] = oc_dim_fresh(x->t->exprs, "?", -1);
    }
    elem->shape = oc_shape_of(&x->t->arena, elem->shape.rank, dim);
    t->elem = elem;
    t->shape = oc_shape_1d(&x->t->arena, oc_known(n));
}

static void read_container(struct text *x, struct oc_type *t)
{
    struct oc_type *item = OC_NEW_ARRAY(&x->t->arena, OP_CASE_MAX, struct oc_type);
    uint32_t n = 0;
    t->kind = x->s[-4] == 's' ? OC_T_SEQUENCE : OC_T_OPTIONAL;
    do {
        assert_true(n < OP_CASE_MAX);
        item[n++] = *read_type(x);
    } while (eat(x, ";"));
    expect(x, ")");
    t->elem = item;
    if (n > 1) {
        t->item = item;
        join_items(x, t, n);
    }
    if (eat(x, "*"))
        t->shape = oc_shape_1d(&x->t->arena, dim_of(x, word(x, " !{~)")));
}

static struct oc_type *read_type(struct text *x)
{
    struct oc_type *t = OC_NEW(&x->t->arena, struct oc_type);
    if (eat(x, "?"))
        return t;
    if (eat(x, "seq(") || eat(x, "opt(")) {
        read_container(x, t);
        return t;
    }
    if (eat(x, "map(")) {
        const char *key = word(x, ",");
        expect(x, ",");
        t->kind = OC_T_MAP;
        t->dtype = (uint8_t)oc_dtype_by_name(key, strlen(key));
        t->elem = read_type(x);
        expect(x, ")");
        return t;
    }
    const char *name = word(x, "[ !{~@);");
    struct oc_dim dim[OC_MAX_RANK];
    unsigned rank = 0;
    t->kind = OC_T_TENSOR;
    t->dtype = (uint8_t)oc_dtype_by_name(name, strlen(name));
    if (t->dtype == OC_DT_UNDEFINED)
        text_error(x, name);
    if (!eat(x, "["))
        return t;
    while (!eat(x, "]")) {
        if (rank)
            expect(x, ",");
        dim[rank++] = dim_of(x, word(x, ",]"));
    }
    t->shape = oc_shape_of(&x->t->arena, rank, dim);
    return t;
}

static struct oc_elem read_elem(struct text *x, char close)
{
    char end[] = {',', close, '\0'};
    char *w = word(x, end);
    int64_t i;
    double d;
    if (w[0] == '"')
        return (struct oc_elem){.kind = OC_E_STRING, .str = oc_strndup(&x->t->arena, w + 1, strlen(w) - 2)};
    if (strcmp(w, "?") == 0)
        return (struct oc_elem){.kind = OC_E_UNKNOWN};
    if (strcmp(w, "true") == 0 || strcmp(w, "false") == 0)
        return oc_elem_int(w[0] == 't');
    if (is_int(w, &i))
        return oc_elem_int(i);
    if (oc_parse_double(w, strlen(w), &d))
        return oc_elem_real(d);
    char *star = strchr(w, '*');
    if (star) {
        *star = '\0';
        if (!is_int(w, &i))
            text_error(x, w);
        return oc_elem_dim(oc_dim_mul(x->t->exprs, oc_known(i), oc_dim_symbol(x->t->exprs, star + 1, -1)));
    }
    return oc_elem_dim(oc_dim_symbol(x->t->exprs, w, -1));
}

/* Elements up to `close`; integers of a float type become reals. */
static struct oc_data *read_data(struct text *x, char close, unsigned dtype)
{
    struct oc_data *d = OC_NEW(&x->t->arena, struct oc_data);
    struct oc_elem *e = OC_NEW_ARRAY(&x->t->arena, OC_MAX_DATA, struct oc_elem);
    char end[] = {close, '\0'};
    d->e = e;
    while (!eat(x, end)) {
        if (d->n)
            expect(x, ",");
        struct oc_elem v = read_elem(x, close);
        bool real = oc_dtype_info(dtype)->kind == OC_KIND_FLOAT;
        if (real && v.kind == OC_E_INT && oc_is_known(v.i))
            v = oc_elem_real((double)v.i.v);
        else if (real && v.kind == OC_E_INT)
            v = (struct oc_elem){.kind = OC_E_RATIO, .i = v.i, .r = 1};
        e[d->n++] = v;
    }
    return d;
}

static void read_inputs(struct op_case *t, const char *in)
{
    struct text x = {.t = t, .s = in};
    uint32_t n = 0;
    for (; *x.s; n++) {
        if (n && !eat(&x, " "))
            text_error(&x, "a blank is missing");
        assert_true(n < OP_CASE_MAX);
        t->in_id[n] = n;
        if (eat(&x, "-")) {
            t->in_id[n] = OC_NONE;
            continue;
        }
        if (eat(&x, "@")) {
            unsigned same = (unsigned)(*x.s++ - '0');
            assert_true(same < n);
            t->in[n] = t->in[same];
            t->in_data[n] = t->in_data[same];
            t->in_const[n] = t->in_const[same];
            t->in_id[n] = same;
            continue;
        }
        struct oc_type *type = read_type(&x);
        t->in[n] = type;
        t->in_const[n] = eat(&x, "!");
        bool varies = eat(&x, "~");
        if (eat(&x, "{")) {
            t->in_data[n] = read_data(&x, '}', type->dtype);
            t->in_const[n] = !varies;
        }
    }
    t->node.n_in = t->ctx.n_in = n;
}

static void tensor_bytes(struct oc_tensor *k, const struct oc_data *d, uint8_t *p, size_t width)
{
    for (uint32_t i = 0; i < d->n; i++) {
        uint64_t v = (uint64_t)d->e[i].i.v;
        if (k->dtype == OC_DT_FLOAT) {
            float f = (float)d->e[i].r;
            uint32_t bits;
            memcpy(&bits, &f, sizeof(bits));
            v = bits;
        } else if (k->dtype == OC_DT_DOUBLE) {
            memcpy(&v, &d->e[i].r, sizeof(v));
        }
        oc_store_le(p + i * width, v, width);
    }
}

/* int64[2]{1,2} */
static const struct oc_tensor *read_tensor(struct text *x)
{
    struct oc_type *type = read_type(x);
    struct oc_tensor *k = OC_NEW(&x->t->arena, struct oc_tensor);
    int64_t *dim = OC_NEW_ARRAY(&x->t->arena, type->shape.rank + 1U, int64_t);
    size_t width = oc_dtype_info(type->dtype)->bits / 8;
    expect(x, "{");
    struct oc_data *d = read_data(x, '}', type->dtype);
    for (unsigned i = 0; i < type->shape.rank; i++)
        dim[i] = type->shape.dim[i].v;
    uint8_t *p = oc_alloc(&x->t->arena, d->n * width + 1);
    *k = (struct oc_tensor){.name = "",
                            .dtype = type->dtype,
                            .storage = OC_STORE_RAW,
                            .rank = type->shape.rank,
                            .dim = dim,
                            .elements = d->n,
                            .data = p,
                            .size_bytes = d->n * width};
    tensor_bytes(k, d, p, width);
    return k;
}

static void list_attr(struct text *x, struct oc_attr *a)
{
    struct oc_data *d = read_data(x, ']', OC_DT_UNDEFINED);
    int64_t *ints = OC_NEW_ARRAY(&x->t->arena, d->n + 1U, int64_t);
    float *floats = OC_NEW_ARRAY(&x->t->arena, d->n + 1U, float);
    struct oc_bytes *strings = OC_NEW_ARRAY(&x->t->arena, d->n + 1U, struct oc_bytes);
    a->type = OC_ATTR_INTS;
    a->n = d->n;
    for (uint32_t i = 0; i < d->n; i++) {
        const struct oc_elem *e = &d->e[i];
        a->type = e->kind == OC_E_STRING ? OC_ATTR_STRINGS : e->kind == OC_E_REAL ? OC_ATTR_FLOATS : a->type;
        ints[i] = e->i.v;
        floats[i] = (float)(e->kind == OC_E_REAL ? e->r : (double)e->i.v);
        strings[i].s = e->str;
        strings[i].n = e->str ? strlen(e->str) : 0;
    }
    a->ints = ints;
    a->floats = floats;
    a->strings = strings;
}

static void scalar_attr(struct text *x, struct oc_attr *a)
{
    double d;
    char *w = word(x, " ");
    a->type = OC_ATTR_STRING;
    a->s.s = w;
    a->s.n = strlen(w);
    if (is_int(w, &a->i)) {
        a->type = OC_ATTR_INT;
    } else if (strpbrk(w, "0123456789") == w + (w[0] == '-') && oc_parse_double(w, strlen(w), &d)) {
        a->type = OC_ATTR_FLOAT;
        a->f = (float)d;
    }
}

static bool starts_tensor(const char *s)
{
    size_t n = strcspn(s, "[ ");
    return s[n] == '[' && oc_dtype_by_name(s, n) != OC_DT_UNDEFINED;
}

static void read_attrs(struct op_case *t, const char *attrs)
{
    struct text x = {.t = t, .s = attrs ? attrs : ""};
    struct oc_attr *a = OC_NEW_ARRAY(&t->arena, OP_CASE_MAX, struct oc_attr);
    uint32_t n = 0;
    while (*x.s) {
        if (n && !eat(&x, " "))
            text_error(&x, "a blank is missing");
        assert_true(n < OP_CASE_MAX);
        a[n].name = word(&x, "=");
        a[n].n = 1;
        expect(&x, "=");
        if (starts_tensor(x.s)) {
            a[n].type = OC_ATTR_TENSOR;
            a[n].tensors_or_null = read_tensor(&x);
        } else if (eat(&x, "[")) {
            list_attr(&x, &a[n]);
        } else {
            scalar_attr(&x, &a[n]);
        }
        n++;
    }
    t->node.attr = a;
    t->node.n_attr = n;
}

static void read_outputs(struct op_case *t, const char *out)
{
    uint32_t n = 0;
    for (; out[n]; n++) {
        assert_true(n < OP_CASE_MAX);
        t->out_id[n] = out[n] == '-' ? OC_NONE : 1000 + n;
        t->out_used[n] = out[n] == 'y';
    }
    t->node.n_out = t->ctx.n_out = n;
}

void op_case_init_row(struct op_case *t, const struct oc_op *row, int opset, const char *attrs,
                      const char *in, const char *out)
{
    *t = (struct op_case){0};
    t->exprs = oc_exprs_new(&t->arena);
    t->node.op_type = row->name;
    t->node.domain = row->domain;
    t->node.name = "node";
    t->node.overload = "";
    t->node.opset = opset;
    t->node.in = t->in_id;
    t->node.out = t->out_id;
    t->ctx = (struct oc_op_ctx){.node = &t->node,
                                .op = row,
                                .opset = opset,
                                .arena = &t->arena,
                                .exprs = t->exprs,
                                .in = t->in,
                                .in_data = t->in_data,
                                .in_const = t->in_const,
                                .out = t->out,
                                .out_data = t->out_data,
                                .out_used = t->out_used,
                                .err = &t->err};
    read_attrs(t, attrs);
    read_inputs(t, in);
    read_outputs(t, out);
}

void op_case_init(struct op_case *t, const char *op, int opset, const char *attrs, const char *in,
                  const char *out)
{
    char domain[64];
    const char *colon = strchr(op, ':');
    snprintf(domain, sizeof(domain), "%.*s", colon ? (int)(colon - op) : 0, op);
    const struct oc_op *row = oc_op_find(domain, colon ? colon + 1 : op, opset);
    if (!row)
        fail_msg("op_case: no row for %s at version %d", op, opset);
    op_case_init_row(t, row, opset, attrs, in, out);
}

void op_case_free(struct op_case *t)
{
    oc_exprs_free(t->exprs);
    oc_arena_free(&t->arena);
}

/* ---- running ---- */

int op_case_shape(struct op_case *t)
{
    oc_count_op("case", t->node.domain, t->node.op_type);
    t->rc = oc_op_infer(&t->ctx);
    if (t->rc == 0 && t->ctx.op->fold)
        assert_int_equal(t->ctx.op->fold(&t->ctx), 0);
    return t->rc;
}

/* The kind of slot i in the text of the row; the last character repeats. */
static char slot_kind(const struct oc_op *op, unsigned i)
{
    size_t n = op->slots ? strlen(op->slots) : 0;
    return n == 0 ? '.' : op->slots[i < n ? i : n - 1];
}

static bool seen_before(const struct op_case *t, unsigned i)
{
    for (unsigned j = 0; j < i; j++)
        if (t->in_id[j] == t->in_id[i] && slot_kind(t->ctx.op, j) != 'm')
            return true;
    return false;
}

static uint64_t bytes_of(struct op_case *t, const struct oc_type *type)
{
    bool counts = type && type->kind == OC_T_TENSOR && type->dtype != OC_DT_STRING;
    return counts ? oc_c_bytes(&t->ctx, type->dtype, oc_c_elems(&t->ctx, type)) : 0;
}

static unsigned rest_class(const struct op_case *t)
{
    for (unsigned i = 0; i < t->ctx.n_in; i++) {
        char kind = slot_kind(t->ctx.op, i);
        const struct oc_dtype_info *d = oc_dtype_info(oc_in_dtype(&t->ctx, i));
        if (kind != 'm' && d->kind == OC_KIND_FLOAT)
            return d->cls;
    }
    return oc_dtype_info(t->out[0].dtype)->cls;
}

static void prefill(struct op_case *t)
{
    t->cost = (struct oc_cost){.rd = t->rd, .wr = t->wr_slot, .n_in = t->ctx.n_in, .n_out = t->ctx.n_out};
    t->cost.mac_class = oc_dtype_info(oc_in_dtype(&t->ctx, 0))->cls;
    t->cost.rest_class = (uint8_t)rest_class(t);
    for (unsigned i = 0; i < t->ctx.n_in; i++) {
        bool counts = t->in[i] && slot_kind(t->ctx.op, i) != 'm' && !seen_before(t, i);
        t->rd[i] = counts ? bytes_of(t, t->in[i]) : 0;
    }
    for (unsigned i = 0; i < t->ctx.n_out; i++)
        t->wr_slot[i] = oc_out_wanted(&t->ctx, i) ? bytes_of(t, oc_out(&t->ctx, i)) : 0;
    t->cost.alias = (t->ctx.op->flags & OC_F_VIEW) != 0;
}

static void sum_counts(struct op_case *t)
{
    static const uint8_t hw[OC_PRIM_COUNT] = {
        [OC_MAC] = 2,  [OC_ADD] = 1,   [OC_MUL] = 1,  [OC_CMP] = 1,  [OC_DIV] = 8,
        [OC_RND] = 1,  [OC_SQRT] = 8,  [OC_EXP] = 16, [OC_LOG] = 20, [OC_SIN] = 20,
        [OC_TAN] = 28, [OC_TANH] = 26, [OC_SIG] = 26, [OC_ERF] = 24, [OC_POW] = 37,
        [OC_RNG] = 10, [OC_BIT] = 1,   [OC_CVT] = 1,  [OC_DEQ] = 2};
    for (unsigned p = 0; p < OC_PRIM_COUNT; p++) {
        uint64_t unit = p == OC_MAC ? 2 : p == OC_CVT || p == OC_DEQ ? 0 : 1;
        t->flops += unit * t->cost.hist_f[p];
        t->ops += unit * t->cost.hist_i[p];
        t->hw += hw[p] * (t->cost.hist_f[p] + t->cost.hist_i[p]);
    }
    t->macs = op_case_prim(t, OC_MAC);
    t->total = t->flops + t->ops;
    for (unsigned i = 0; i < t->ctx.n_in && !t->cost.alias; i++)
        *(t->in_const[i] ? &t->rd_const : &t->rd_act) += t->rd[i];
    for (unsigned i = 0; i < t->ctx.n_out && !t->cost.alias; i++)
        t->wr += t->wr_slot[i];
}

/* ---- mutations of the text of a cost ---- */

/* What a text counts, and what its explanation says. */
struct both {
    uint64_t counted[OC_PRIM_COUNT], explained[OC_PRIM_COUNT];
    struct oc_formula f;
};

/* Runs the rule of the row with this text. False: it has no number, as where a mutated size does not fit. */
static bool run_text(struct op_case *t, const char *text, struct both *out)
{
    struct oc_formula_values values = {.n = 0};
    struct oc_op op = *t->ctx.op;
    struct oc_op_ctx saved = t->ctx;
    op.formula = text;
    t->ctx.op = &op;
    t->ctx.values = &values;
    prefill(t);
    bool known = op.cost(&t->ctx, &t->cost) == 0 && !t->ctx.unknown && !t->ctx.overflow;
    memset(out->explained, 0, sizeof(out->explained));
    if (known && oc_formula_read(&t->ctx, &out->f))
        fail_msg("%s: malformed: %s", op.name, text);
    for (uint32_t i = 0; known && i < out->f.n_term; i++) {
        if (!out->f.term[i].known)
            fail_msg("%s: %s has no value (%s)", op.name, out->f.term[i].expr, out->f.term[i].numbers);
        out->explained[out->f.term[i].prim] += out->f.term[i].value;
    }
    for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
        out->counted[p] = t->cost.hist_f[p] + t->cost.hist_i[p];
    t->ctx = saved;
    return known;
}

static bool has_term(const struct both *b, const char *expr)
{
    for (uint32_t i = 0; i < b->f.n_term; i++)
        if (strstr(b->f.term[i].expr, expr))
            return true;
    return false;
}

/* Adds 1 to the right side of each statement of the text in turn: the count and the explanation change, and both by the
 * same. (A name that the row reports has no use for its definition, and "functions" none for its expression.) */
static void check_mutations(struct op_case *t)
{
    static struct both before, after;
    const char *text = oc_formula_text(t->ctx.op), *at = text;
    struct oc_expr_statement s;
    if (!text || !run_text(t, text, &before))
        return;
    while (oc_expr_statement(&at, &s)) {
        const char *end = s.right.s + s.right.n;
        char *wrong = oc_printf(&t->arena, "%.*s(%.*s) + 1%s", (int)(s.right.s - text), text, (int)s.right.n,
                                s.right.s, end);
        if (!run_text(t, wrong, &after))
            continue;
        bool changed = memcmp(before.counted, after.counted, sizeof(before.counted)) != 0;
        char *expr = oc_printf(&t->arena, "(%.*s) + 1", (int)s.right.n, s.right.s);
        for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
            if (after.counted[p] != after.explained[p])
                fail_msg("%s: %s counts %s %llu, the explanation says %llu", t->ctx.op->name, wrong,
                         oc_prim_name(p), (unsigned long long)after.counted[p],
                         (unsigned long long)after.explained[p]);
        if (!s.defines && !oc_str_eq(s.left, "functions") && changed != has_term(&after, expr))
            fail_msg("%s: %s changes %s", t->ctx.op->name, wrong, changed ? "the count alone" : "nothing");
    }
}

int op_case_cost(struct op_case *t)
{
    oc_count_op("cost", t->node.domain, t->node.op_type);
    if (t->ctx.op->cost == oc_cost_text) {
        struct oc_err err = t->err;
        check_mutations(t);
        t->err = err;
    }
    prefill(t);
    t->rc = t->ctx.op->cost ? t->ctx.op->cost(&t->ctx, &t->cost) : 0;
    sum_counts(t);
    return t->rc;
}

void op_case_run(struct op_case *t, const char *op, int opset, const char *attrs, const char *in,
                 const char *out)
{
    op_case_init(t, op, opset, attrs, in, out);
    if (op_case_shape(t) == 0)
        op_case_cost(t);
}

/* ---- results ---- */

const char *op_case_types(struct op_case *t)
{
    const char *s = "";
    for (unsigned i = 0; i < t->ctx.n_out; i++) {
        const struct oc_type *type = oc_out(&t->ctx, i);
        s = oc_printf(&t->arena, "%s%s%s", s, i ? " " : "",
                      !type                     ? "-"
                      : type->kind == OC_T_NONE ? "?"
                                                : oc_type_text(&t->arena, t->exprs, type));
    }
    return s;
}

static const char *elem_text(struct op_case *t, const struct oc_elem *e)
{
    char real[32];
    switch (e->kind) {
    case OC_E_INT:
        return oc_dim_text(t->exprs, e->i);
    case OC_E_REAL:
        oc_format_repr(e->r, real, sizeof(real));
        return oc_strdup(&t->arena, real);
    case OC_E_RATIO:
        oc_format_repr(e->r, real, sizeof(real));
        return oc_printf(&t->arena, "(%s)*%s%+g", oc_dim_text(t->exprs, e->i), real, e->add);
    case OC_E_STRING:
        return e->str;
    default:
        return "?";
    }
}

const char *op_case_value(struct op_case *t, unsigned slot)
{
    const struct oc_data *d = slot < OP_CASE_MAX ? t->out_data[slot] : NULL;
    const char *s = d ? "" : "none";
    for (uint32_t i = 0; d && i < d->n; i++)
        s = oc_printf(&t->arena, "%s%s%s", s, i ? "," : "", elem_text(t, &d->e[i]));
    return s;
}

uint64_t op_case_prim(const struct op_case *t, enum oc_prim p)
{
    return t->cost.hist_f[p] + t->cost.hist_i[p];
}

static char result[4096];

const char *op_shapes(const char *op, int opset, const char *attrs, const char *in, const char *out)
{
    struct op_case t;
    op_case_init(&t, op, opset, attrs, in, out);
    if (op_case_shape(&t))
        snprintf(result, sizeof(result), "error: %s", t.err.msg);
    else
        snprintf(result, sizeof(result), "%s", op_case_types(&t));
    op_case_free(&t);
    return result;
}

const char *op_fold(const char *op, int opset, const char *attrs, const char *in)
{
    struct op_case t;
    op_case_init(&t, op, opset, attrs, in, "y");
    if (op_case_shape(&t))
        snprintf(result, sizeof(result), "error: %s", t.err.msg);
    else
        snprintf(result, sizeof(result), "%s", op_case_value(&t, 0));
    op_case_free(&t);
    return result;
}

const char *op_hist(const char *op, int opset, const char *attrs, const char *in, const char *out)
{
    struct op_case t;
    size_t n = 0;
    op_case_run(&t, op, opset, attrs, in, out);
    if (t.rc) {
        snprintf(result, sizeof(result), "error: %s", t.err.msg);
    } else {
        n += (size_t)snprintf(
            result, sizeof(result), "%s",
            t.macs || t.total || op_case_prim(&t, OC_DEQ) || op_case_prim(&t, OC_CVT) ? "" : "nothing");
        for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
            if (op_case_prim(&t, p))
                n += (size_t)snprintf(result + n, sizeof(result) - n, "%s%s %llu", n ? ", " : "",
                                      oc_prim_name(p), (unsigned long long)op_case_prim(&t, p));
        snprintf(result + n, sizeof(result) - n, "%s%s%s%s", t.cost.alias ? ", alias" : "",
                 t.ctx.upper ? ", upper" : "", t.ctx.unknown ? ", unknown" : "",
                 t.ctx.assumption ? ", est" : "");
    }
    op_case_free(&t);
    return result;
}
