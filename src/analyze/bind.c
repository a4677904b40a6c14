/* Numbers for the symbols of graph inputs before the pass starts: from --shape, from a profile, from --dim,
 * else a documented default (shape-inference section 2), each default noted as an assumption. */
#include <stdlib.h>
#include <string.h>

#include "analyze/engine.h"
#include "base/str.h"
#include "base/units.h"
#include "lang/expr.h"
#include "onnxcost.h"

/* ---- arithmetic in names ------------------------------------------------------------------------------ */

/* Value of "2*height + 1"; false: it is not arithmetic, or a name in it is not a bound symbol. Exporters write
 * arithmetic into dim_param ("past_sequence_length + sequence_length", "floor(s0/2)"). Anything else stays an opaque
 * name. */
static bool eval_dim_name(struct oc_engine *e, const char *text, struct oc_dim *out)
{
    struct oc_expr_name name[OC_EXPR_NAMES];
    struct oc_expr_scope scope = {.arena = &e->a->arena, .use = OC_EXPR_SIZE, .name = name};
    struct oc_err unused = {0};
    struct oc_dim_env env = {.exprs = e->a->exprs, .err = &unused, .name = name};
    const struct oc_expr *expr = oc_expr_parse_number(&scope, text);
    if (!expr || (expr->kind == OC_X_NAME && strcmp(expr->text, text) == 0))
        return false;
    for (unsigned i = 0; i < scope.n_name; i++) {
        uint32_t id = oc_map_get(&e->symbol_ids, name[i].name, strlen(name[i].name));
        if (id == OC_NONE || !e->symbol[id].bound)
            return false;
        env.value[i] = e->symbol[id].value;
        env.done[i] = true;
    }
    return oc_expr_dim(&env, expr, out) == 0 && (!oc_is_known(*out) || out->v >= 0);
}

/* ---- symbols ------------------------------------------------------------------------------------------ */

static const char fits_reason[] = "first tried size that fits the model";

static void assume_dim(struct oc_engine *e, const char *name, int64_t v, const char *why)
{
    oc_assume(e, "dim", name, oc_printf(&e->a->arena, "%lld", (long long)v), why);
}

static int64_t bind_length_of(struct oc_engine *e, int64_t otherwise, const char *its_reason,
                              const char **why)
{
    e->used_length_default = true;
    *why = e->length_default ? fits_reason : its_reason;
    return e->length_default ? e->length_default : otherwise;
}

/* The default of a symbol: what weights require, else by its name, else by its place. */
static int64_t default_of(struct oc_engine *e, const struct oc_value *v, const char *name, unsigned axis,
                          const char **why)
{
    unsigned rank = v->declared->shape.rank;
    const char *by;
    bool least;
    if (e->o->default_dim > 0) {
        *why = "--default-dim";
        return e->o->default_dim;
    }
    if (axis && !e->readers.first)
        oc_first_readers_make(&e->readers, e->m, &e->a->arena);
    int64_t size =
        axis ? oc_implied_size(e->m, &e->readers, (uint32_t)(v - e->m->value), axis, &by, &least) : 0;
    if (size) {
        *why =
            oc_printf(&e->a->arena,
                      least ? "the smallest size that a %s accepts" : "required by the weights of a %s", by);
        return size;
    }
    if (oc_has_nocase(name, "past") || oc_has_nocase(name, "cache")) {
        *why = "default for a past length";
        return 0;
    }
    if (oc_has_nocase(name, "batch") || strcmp(name, "N") == 0 || strcmp(name, "B") == 0 ||
        strcmp(name, "bs") == 0) {
        *why = "default for a batch";
        return 1;
    }
    if (oc_has_nocase(name, "seq") || oc_has_nocase(name, "token") || oc_has_nocase(name, "length")) {
        return bind_length_of(e, 128, "default for a sequence length", why);
    }
    if (axis == 0 && rank > 1) {
        *why = "default for a leading dimension";
        return 1;
    }
    if (axis == 0)
        return bind_length_of(e, 1, "default for a leading dimension", why);
    if (rank >= 4 && axis >= 2) {
        e->used_spatial_default = true;
        *why = "default for a height or width";
        return e->spatial_default;
    }
    const struct oc_dim *dim = v->declared->shape.dim;
    if (axis == 1 && rank == 3 && dim[0].expr == 0 && dim[0].v > 0) { /* a state: layers, batch, elements */
        *why = "default for the batch of a state";
        return 1;
    }
    return bind_length_of(e, 1, "default for any other dimension", why);
}

static bool is_bound_to_other(const struct oc_engine *e, uint32_t id, int64_t v)
{
    const struct oc_symbol *s = &e->symbol[id];
    return s->bound && s->value.v != v && oc_is_known(s->value);
}

/* The default of a dimension, unless another size was found to fit. */
static int64_t assume_size(struct oc_engine *e, const struct oc_value *v, const char *name, unsigned axis,
                           const char **why)
{
    int64_t n = default_of(e, v, v->declared->shape.dim[axis].expr ? name : "", axis, why);
    for (size_t i = 0; i < e->n_fitted; i++)
        if (e->fitted[i].value != n && !strcmp(e->fitted[i].symbol, name)) {
            n = e->fitted[i].value;
            *why = fits_reason;
        }
    assume_dim(e, name, n, *why);
    return n;
}

static const struct oc_range_bind *range_for(const struct oc_engine *e, const char *name)
{
    for (size_t i = 0; i < e->o->n_range; i++)
        if (strcmp(e->o->range[i].symbol, name) == 0)
            return &e->o->range[i];
    return NULL;
}

/* from + an unknown of 0 to to - from. */
static struct oc_dim range_dim(struct oc_engine *e, const struct oc_range_bind *r)
{
    if (r->from == r->to)
        return oc_known(r->from);
    return oc_dim_add(e->a->exprs, oc_known(r->from), oc_dim_symbol(e->a->exprs, r->symbol, r->to - r->from));
}

static int bind_symbol(struct oc_engine *e, uint32_t id, int64_t v, const char *origin)
{
    struct oc_symbol *s = &e->symbol[id];
    if (is_bound_to_other(e, id, v))
        return oc_fail(e->err, OC_EARG, "dimension '%s' cannot be %lld (%s): it is already %lld",
                       e->m->symbol[id], (long long)v, origin, (long long)s->value.v);
    if (s->bound && oc_is(s->value, v))
        return 0; /* the first origin stays */
    *s = (struct oc_symbol){.value = oc_known(v), .bound = true};
    e->a->symbol_from[id] = origin;
    return 0;
}

static const char *bind_from_text(const struct oc_shape_bind *b)
{
    return !b->from_profile ? "--shape" : b->from ? b->from : "from the profile";
}

/* Two given shapes contradict the name that they share: runtimes do not compare them, and each input has its own. */
static bool has_two_sizes(struct oc_engine *e, uint32_t id, const struct oc_value *v, int64_t n)
{
    if (!is_bound_to_other(e, id, n) || oc_equal(e->a->symbol_from[id], "--dim"))
        return false;
    oc_diag_add(&e->a->diags, OC_WARNING, "W-two-sizes", v->name,
                "dimension '%s' is %lld here and %lld in another input", e->m->symbol[id], (long long)n,
                (long long)e->symbol[id].value.v);
    return true;
}

/* Matches a given shape with the declared one and binds its symbols. 1: mismatch (only when lenient). */
static int apply_shape(struct oc_engine *e, const struct oc_value *v, const struct oc_shape_bind *b)
{
    const struct oc_shape *d = &v->declared->shape;
    if (!d->ranked)
        return 0;
    if (d->rank != b->rank)
        return b->from_profile ? 1
                               : oc_fail(e->err, OC_EARG, "input '%s' has %u dimensions, not %u", v->name,
                                         d->rank, b->rank);
    for (unsigned i = 0; i < d->rank; i++)
        if (d->dim[i].expr == 0 && d->dim[i].v >= 0 && d->dim[i].v != b->dim[i] && b->dim[i] >= 0 &&
            !e->o->force_shapes)
            return b->from_profile
                       ? 1
                       : oc_fail(
                             e->err, OC_EARG,
                             "input '%s': dimension %u is %lld in the model, not %lld (--force overrides)",
                             v->name, i, (long long)d->dim[i].v, (long long)b->dim[i]);
    for (unsigned i = 0; i < d->rank && b->from_profile; i++)
        if (d->dim[i].expr && b->dim[i] >= 0 && is_bound_to_other(e, d->dim[i].expr - 1, b->dim[i]) &&
            oc_equal(e->a->symbol_from[d->dim[i].expr - 1], "--dim"))
            return 1;
    for (unsigned i = 0; i < d->rank; i++) {
        struct oc_dim given;
        if (!d->dim[i].expr || b->dim[i] < 0)
            continue;
        if (eval_dim_name(e, e->m->symbol[d->dim[i].expr - 1], &given))
            continue; /* arithmetic over bound symbols: checked when the type is built */
        if (has_two_sizes(e, d->dim[i].expr - 1, v, b->dim[i]))
            continue;
        if (bind_symbol(e, d->dim[i].expr - 1, b->dim[i], bind_from_text(b)))
            return -1;
    }
    return 0;
}

static const struct oc_shape_bind *shape_for(struct oc_engine *e, const char *name, bool from_profile)
{
    for (size_t i = e->o->n_shape; i-- > 0;)
        if (e->o->shape[i].from_profile == from_profile && strcmp(e->o->shape[i].input, name) == 0) {
            e->shape_used[i] = true;
            return &e->o->shape[i];
        }
    return NULL;
}

uint32_t oc_find_input(const struct oc_engine *e, const char *name)
{
    const struct oc_graph *g = &e->m->graph[0];
    for (uint32_t i = 0; i < g->n_input; i++)
        if (strcmp(e->m->value[g->input[i]].name, name) == 0)
            return g->input[i];
    return OC_NONE;
}

static const struct oc_bind *bind_for(struct oc_engine *e, const char *name)
{
    for (size_t i = e->o->n_bind; i-- > 0;)
        if (strcmp(e->o->bind[i].symbol, name) == 0) {
            e->bind_used[i] = true;
            return &e->o->bind[i];
        }
    return NULL;
}

/* A size given by --dim wins over the one of the profile; the join then reports that they differ. */
static const struct oc_shape_bind *with_given_dims(struct oc_engine *e, const struct oc_value *v,
                                                   const struct oc_shape_bind *b)
{
    const struct oc_shape *d = &v->declared->shape;
    if (!b || !d->ranked || d->rank != b->rank)
        return b;
    int64_t *dim = OC_NEW_ARRAY(&e->a->arena, b->rank, int64_t);
    for (unsigned i = 0; i < b->rank; i++) {
        uint32_t symbol = d->dim[i].expr;
        const char *name = symbol ? e->m->symbol[symbol - 1] : oc_printf(&e->a->arena, "%s.%u", v->name, i);
        const struct oc_bind *given = symbol || d->dim[i].v < 0 ? bind_for(e, name) : NULL;
        dim[i] = given ? given->value : b->dim[i];
    }
    struct oc_shape_bind *copy = OC_NEW(&e->a->arena, struct oc_shape_bind);
    *copy = *b;
    copy->dim = dim;
    return copy;
}

static const char *bind_shape_text(struct oc_engine *e, const struct oc_shape_bind *b)
{
    struct oc_dim dim[OC_MAX_RANK];
    for (unsigned i = 0; i < b->rank; i++)
        dim[i] = b->dim[i] < 0 ? oc_dim_symbol(e->a->exprs, "?", -1) : oc_known(b->dim[i]);
    struct oc_shape s = {.dim = dim, .rank = (uint8_t)b->rank, .ranked = true};
    return b->rank ? oc_shape_text(&e->a->arena, e->a->exprs, &s, "x") : "scalar";
}

/* Chooses the given shape of each input, before any default. */
static int given_shapes(struct oc_engine *e, const struct oc_shape_bind **chosen)
{
    const struct oc_graph *g = &e->m->graph[0];
    for (uint32_t i = 0; i < g->n_input; i++) {
        const struct oc_value *v = &e->m->value[g->input[i]];
        const struct oc_shape_bind *b = shape_for(e, v->name, false);
        if (!b && !v->constant)
            b = with_given_dims(e, v, shape_for(e, v->name, true));
        int rc = b ? apply_shape(e, v, b) : 0;
        if (rc < 0)
            return -1;
        chosen[i] = rc ? NULL : b;
        if (chosen[i])
            e->a->given_input[e->a->n_given_input++] =
                (struct oc_given_input){g->input[i], bind_from_text(b)};
        if (chosen[i] && b->from_profile)
            oc_assume(e, "shape", v->name, bind_shape_text(e, b), bind_from_text(b));
    }
    for (size_t i = 0; i < e->o->n_shape && !e->o->skip_unused; i++)
        if (!e->shape_used[i] && !e->o->shape[i].from_profile) {
            if (oc_find_input(e, e->o->shape[i].input) != OC_NONE)
                return oc_fail(e->err, OC_EARG, "the shape of input '%.60s' is given more than once",
                               e->o->shape[i].input);
            oc_fail(e->err, OC_EARG, "no graph input is named '%s'; inputs:", e->o->shape[i].input);
            for (uint32_t k = 0; k < g->n_input && k < 20; k++) {
                size_t n = strlen(e->err->msg);
                snprintf(e->err->msg + n, sizeof(e->err->msg) - n, " '%s'", e->m->value[g->input[k]].name);
            }
            return -1;
        }
    return 0;
}

/* Binds one dimension of an input that has no given shape. */
static struct oc_dim input_dim(struct oc_engine *e, const struct oc_value *v, unsigned axis)
{
    const struct oc_dim d = v->declared->shape.dim[axis];
    const char *why;
    if (d.expr == 0 && d.v >= 0)
        return d;
    if (d.expr == 0) { /* neither a number nor a name */
        const char *name = oc_printf(&e->a->arena, "%s.%u", v->name, axis);
        const struct oc_bind *b = bind_for(e, name);
        const struct oc_range_bind *r = range_for(e, name);
        if (b || r)
            return b ? oc_known(b->value) : range_dim(e, r);
        if (e->o->no_defaults)
            return oc_dim_symbol(e->a->exprs, name, -1);
        return oc_known(assume_size(e, v, name, axis, &why));
    }
    struct oc_symbol *s = &e->symbol[d.expr - 1];
    const char *name = e->m->symbol[d.expr - 1];
    if (!s->bound && !eval_dim_name(e, name, &s->value)) {
        if (e->o->no_defaults) {
            s->value = oc_dim_symbol(e->a->exprs, name, -1);
        } else {
            s->value = oc_known(assume_size(e, v, name, axis, &why));
            e->a->symbol_from[d.expr - 1] = why;
        }
    }
    s->bound = true;
    return s->value;
}

/* Arithmetic names must be evaluated after the plain names they refer to. */
bool oc_is_arithmetic(const char *name)
{
    return strpbrk(name, "+*/()") || (strchr(name, '-') && strchr(name, ' '));
}

/* Element types of sequences, optionals and maps have no default: an unbound symbol becomes an unknown of
 * that name. */
static const struct oc_type *bind_element(struct oc_engine *e, const struct oc_type *declared)
{
    if (!declared)
        return NULL;
    struct oc_type *t = OC_NEW(&e->a->arena, struct oc_type);
    *t = oc_bind_type(e, declared);
    struct oc_dim dim[OC_MAX_RANK];
    for (unsigned i = 0; t->shape.ranked && i < t->shape.rank; i++) {
        uint32_t symbol = declared->shape.dim[i].expr;
        dim[i] = t->shape.dim[i];
        if (oc_is_known(dim[i]) && dim[i].v < 0)
            dim[i] = symbol ? oc_dim_symbol(e->a->exprs, e->m->symbol[symbol - 1], -1)
                            : oc_dim_fresh(e->a->exprs, "?", -1);
    }
    if (t->shape.ranked)
        t->shape = oc_shape_of(&e->a->arena, t->shape.rank, dim);
    return t;
}

static void type_of_input(struct oc_engine *e, uint32_t value, const struct oc_shape_bind *b)
{
    const struct oc_value *v = &e->m->value[value];
    struct oc_type t = *v->declared;
    struct oc_dim dim[OC_MAX_RANK];
    t.elem = bind_element(e, t.elem);
    if (b) {
        for (unsigned i = 0; i < b->rank; i++)
            dim[i] = b->dim[i] >= 0 ? oc_known(b->dim[i]) : input_dim(e, v, i);
        t.kind = t.kind == OC_T_NONE ? OC_T_TENSOR : t.kind;
        t.shape = oc_shape_of(&e->a->arena, b->rank, dim);
    } else if (t.shape.ranked) {
        for (unsigned i = 0; i < t.shape.rank; i++)
            dim[i] = input_dim(e, v, i);
        t.shape = oc_shape_of(&e->a->arena, t.shape.rank, dim);
    }
    oc_set_value(e, value, &t);
    if (t.kind == OC_T_TENSOR && oc_dtype_info(t.dtype)->kind == OC_KIND_INT && t.shape.ranked &&
        t.shape.rank == 1 && oc_is(t.shape.dim[0], 0)) { /* a list without elements, for example no axes */
        e->a->data[value] = OC_NEW(&e->a->arena, struct oc_data);
        e->tried[value] = true;
    }
}

void oc_bind_input(struct oc_engine *e, uint32_t value)
{
    type_of_input(e, value, NULL);
}

/* " 'batch' 'x.2'": the open dimensions of the inputs, without duplicates. */
static void list_open_dims(struct oc_engine *e, struct oc_err *err)
{
    const struct oc_graph *g = &e->m->graph[0];
    bool *told = OC_NEW_ARRAY(&e->a->arena, (size_t)e->m->n_symbol + 1, bool);
    for (uint32_t k = 0; k < g->n_input; k++) {
        const struct oc_value *v = &e->m->value[g->input[k]];
        for (unsigned ax = 0; v->declared->shape.ranked && ax < v->declared->shape.rank; ax++) {
            struct oc_dim d = v->declared->shape.dim[ax];
            size_t n = strlen(err->msg);
            if (d.expr && !told[d.expr - 1])
                snprintf(err->msg + n, sizeof(err->msg) - n, " '%s'", e->m->symbol[d.expr - 1]);
            else if (!d.expr && d.v < 0)
                snprintf(err->msg + n, sizeof(err->msg) - n, " '%s.%u'", v->name, ax);
            if (d.expr)
                told[d.expr - 1] = true;
        }
    }
}

bool oc_bind_repeated(const struct oc_bind *b, size_t n, size_t i)
{
    unsigned same = 0;
    for (size_t k = 0; k < n; k++)
        same += strcmp(b[k].symbol, b[i].symbol) == 0;
    return same > 1;
}

static int unused_binds(struct oc_engine *e)
{
    for (size_t i = 0; i < e->o->n_bind && !e->o->skip_unused; i++) {
        if (e->bind_used[i])
            continue;
        if (oc_bind_repeated(e->o->bind, e->o->n_bind, i))
            return oc_fail(e->err, OC_EARG, "dimension '%.60s' is given more than once",
                           e->o->bind[i].symbol);
        struct oc_err open = {.msg = ""};
        list_open_dims(e, &open);
        return *open.msg ? oc_fail(e->err, OC_EARG, "no dimension is named '%.60s'; open dimensions:%s",
                                   e->o->bind[i].symbol, open.msg)
                         : oc_fail(e->err, OC_EARG,
                                   "no dimension is named '%.60s': all dimensions of the inputs are numbers",
                                   e->o->bind[i].symbol);
    }
    return 0;
}

int oc_bind_inputs(struct oc_engine *e)
{
    const struct oc_graph *g = &e->m->graph[0];
    const struct oc_shape_bind **chosen =
        OC_NEW_ARRAY(&e->a->arena, g->n_input, const struct oc_shape_bind *);
    for (size_t i = 0; i < e->o->n_bind; i++)
        if (e->o->bind[i].value < 0)
            return oc_fail(e->err, OC_EARG, "dimension '%.60s' cannot be %lld", e->o->bind[i].symbol,
                           (long long)e->o->bind[i].value);
    for (uint32_t i = 0; i < e->m->n_symbol; i++) {
        const struct oc_bind *b = bind_for(e, e->m->symbol[i]);
        if (b && bind_symbol(e, i, b->value, "--dim"))
            return -1;
        const struct oc_range_bind *r = range_for(e, e->m->symbol[i]);
        if (r)
            e->symbol[i] = (struct oc_symbol){.value = range_dim(e, r), .bound = true};
    }
    if (given_shapes(e, chosen))
        return -1;
    for (int arithmetic = 0; arithmetic < 2; arithmetic++)
        for (uint32_t i = 0; i < g->n_input; i++) {
            const struct oc_value *v = &e->m->value[g->input[i]];
            for (unsigned ax = 0; v->declared->shape.ranked && ax < v->declared->shape.rank; ax++) {
                struct oc_dim d = v->declared->shape.dim[ax];
                if ((!chosen[i] || chosen[i]->dim[ax] < 0) && d.expr &&
                    oc_is_arithmetic(e->m->symbol[d.expr - 1]) == (bool)arithmetic && !v->constant)
                    input_dim(e, v, ax);
            }
        }
    for (uint32_t i = 0; i < g->n_input; i++)
        if (!e->m->value[g->input[i]].constant || chosen[i])
            type_of_input(e, g->input[i], chosen[i]);
    return unused_binds(e);
}

struct oc_type oc_bind_type(struct oc_engine *e, const struct oc_type *declared)
{
    struct oc_type t = *declared;
    t.elem = bind_element(e, declared->elem);
    if (!t.shape.ranked || t.shape.rank == 0)
        return t;
    struct oc_dim dim[OC_MAX_RANK];
    for (unsigned i = 0; i < t.shape.rank; i++) {
        dim[i] = t.shape.dim[i];
        if (!dim[i].expr)
            continue;
        struct oc_symbol *s = &e->symbol[dim[i].expr - 1];
        struct oc_dim v;
        if (s->bound)
            dim[i] = s->value;
        else if (eval_dim_name(e, e->m->symbol[dim[i].expr - 1], &v))
            dim[i] = v;
        else
            dim[i] = oc_known(-1);
    }
    t.shape = oc_shape_of(&e->a->arena, t.shape.rank, dim);
    return t;
}

static void learn(struct oc_engine *e, uint32_t symbol, struct oc_dim d)
{
    e->symbol[symbol] = (struct oc_symbol){.value = d, .bound = true};
    e->a->symbol_from[symbol] = "computed";
}

void oc_bind_learn(struct oc_engine *e, const struct oc_type *declared, const struct oc_type *computed)
{
    const struct oc_shape *d = &declared->shape, *c = &computed->shape;
    if (!d->ranked || !c->ranked || d->rank != c->rank)
        return;
    for (unsigned i = 0; i < d->rank; i++)
        if (d->dim[i].expr && !e->symbol[d->dim[i].expr - 1].bound && oc_is_known(c->dim[i]))
            learn(e, d->dim[i].expr - 1, c->dim[i]);
}
