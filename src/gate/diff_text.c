/* Names of the rows of a diff, and the description of what changed. */
#include <stdarg.h>
#include <string.h>

#include "base/units.h"
#include "gate/diff.h"

enum { SHOWN = 4, LONGEST = 40 };

/* ---- names --------------------------------------------------------------------------------------------- */

/* The node with the most work, the first of several. */
static uint32_t main_node(const struct oc_analysis *a, const struct oc_diff_cell *c)
{
    uint32_t best = OC_NONE;
    uint64_t most = 0;
    for (uint32_t i = 0; i < c->n_node; i++) {
        const struct oc_node_cost *k = &a->cost[c->node[i]];
        uint64_t work = k->quality == OC_UNKNOWN ? 0 : k->flops + k->ops;
        if (best == OC_NONE || work > most) {
            best = c->node[i];
            most = work;
        }
    }
    return best;
}

static const char *label_of(struct oc_diff *d, unsigned s, uint32_t node)
{
    char label[512];
    const struct oc_model *m = d->in[s].model;
    return node == OC_NONE ? ""
                           : oc_strdup(&d->arena, oc_node_label(m, &m->node[node], label, sizeof(label)));
}

/* "Conv+BatchNormalization+Relu" */
static const char *types_of(struct oc_diff *d, unsigned s, const struct oc_diff_cell *c)
{
    const char *text = "";
    for (uint32_t i = 0; i < c->n_node && i < SHOWN; i++)
        text = oc_printf(&d->arena, "%s%s%s", text, i ? "+" : "", d->in[s].model->node[c->node[i]].op_type);
    return c->n_node > SHOWN ? oc_printf(&d->arena, "%s+%u", text, c->n_node - SHOWN) : text;
}

/* ---- attributes ---------------------------------------------------------------------------------------- */

static const char *number_text(struct oc_arena *a, double v)
{
    char buf[40];
    oc_format_repr(v, buf, sizeof(buf));
    return oc_strdup(a, buf);
}

static const char *attr_text(struct oc_arena *a, const struct oc_attr *t)
{
    const char *text = "";
    if (!t)
        return "none";
    switch (t->type) {
    case OC_ATTR_INT:
        return oc_printf(a, "%lld", (long long)t->i);
    case OC_ATTR_FLOAT:
        return number_text(a, (double)t->f);
    case OC_ATTR_STRING:
        return oc_printf(a, "%.*s", t->s.n < LONGEST ? (int)t->s.n : LONGEST, t->s.s);
    case OC_ATTR_INTS:
        for (uint32_t i = 0; i < t->n && i < 8; i++)
            text = oc_printf(a, "%s%s%lld", text, i ? "," : "", (long long)t->ints[i]);
        return t->n > 8 ? oc_printf(a, "%s,...", text) : text;
    case OC_ATTR_FLOATS:
        for (uint32_t i = 0; i < t->n && i < SHOWN; i++)
            text = oc_printf(a, "%s%s%s", text, i ? "," : "", number_text(a, (double)t->floats[i]));
        return t->n > SHOWN ? oc_printf(a, "%s,...", text) : text;
    default:
        return "(other)";
    }
}

/* ---- two nodes ----------------------------------------------------------------------------------------- */

struct comparing {
    struct oc_diff *d;
    const struct oc_node *node[2];
    uint8_t change;
    struct oc_buf text;
    bool describe; /* add the text of this pair */
};

__attribute__((format(printf, 3, 4))) static void found(struct comparing *x, unsigned bit, const char *fmt,
                                                        ...)
{
    char part[320];
    x->change |= (uint8_t)bit;
    if (!x->describe || x->text.n > 400)
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(part, sizeof(part), fmt, ap);
    va_end(ap);
    oc_buf_printf(&x->text, "%s%s", x->text.n ? "; " : "", part);
}

static void compare_attrs(struct comparing *x)
{
    struct oc_arena *a = &x->d->arena;
    const struct oc_node *p = x->node[0], *q = x->node[1];
    for (uint32_t i = 0; i < p->n_attr; i++) {
        if (oc_node_attr(p, p->attr[i].name) != &p->attr[i])
            continue; /* a repeated name: rules read the first */
        const struct oc_attr *other = oc_node_attr(q, p->attr[i].name);
        if (!other || !oc_attr_same(&p->attr[i], other))
            found(x, OC_DIFF_ATTRS, "%.60s %s -> %s", p->attr[i].name,
                  x->describe ? attr_text(a, &p->attr[i]) : "", x->describe ? attr_text(a, other) : "");
    }
    for (uint32_t i = 0; i < q->n_attr; i++)
        if (!oc_node_attr(p, q->attr[i].name))
            found(x, OC_DIFF_ATTRS, "%.60s none -> %s", q->attr[i].name,
                  x->describe ? attr_text(a, &q->attr[i]) : "");
}

static const struct oc_type *type_of(const struct comparing *x, unsigned s, uint32_t value)
{
    return value == OC_NONE ? NULL : &x->d->in[s].analysis->type[value];
}

static bool same_shape(const struct oc_shape *p, const struct oc_shape *q)
{
    if (p->ranked != q->ranked || (p->ranked && p->rank != q->rank))
        return false;
    for (unsigned i = 0; p->ranked && i < p->rank; i++)
        if (oc_is_known(p->dim[i]) != oc_is_known(q->dim[i]) ||
            (oc_is_known(p->dim[i]) && p->dim[i].v != q->dim[i].v))
            return false;
    return true;
}

static const char *shape_text(struct comparing *x, unsigned s, const struct oc_type *t)
{
    const char *text = oc_shape_text(&x->d->arena, x->d->in[s].analysis->exprs, &t->shape, "x");
    return *text ? text : "scalar";
}

static void compare_value(struct comparing *x, const char *side, uint32_t slot, uint32_t a, uint32_t b)
{
    const struct oc_type *p = type_of(x, 0, a), *q = type_of(x, 1, b);
    if (!p != !q)
        found(x, OC_DIFF_INPUTS, "%s%u %s", side, slot, p ? "removed" : "added");
    if (!p || !q)
        return;
    if (p->dtype != q->dtype || p->kind != q->kind)
        found(x, OC_DIFF_DTYPES, "%s%u %s -> %s", side, slot, oc_dtype_info(p->dtype)->name,
              oc_dtype_info(q->dtype)->name);
    if (p->kind == OC_T_TENSOR && q->kind == OC_T_TENSOR && !same_shape(&p->shape, &q->shape))
        found(x, OC_DIFF_SHAPES, "%s%u %.100s -> %.100s", side, slot, x->describe ? shape_text(x, 0, p) : "",
              x->describe ? shape_text(x, 1, q) : "");
}

static void compare_nodes(struct comparing *x)
{
    const struct oc_node *p = x->node[0], *q = x->node[1];
    if (strcmp(p->op_type, q->op_type) || strcmp(p->domain, q->domain))
        found(x, OC_DIFF_TYPE, "%s%s%.60s -> %s%s%.60s", p->domain, *p->domain ? ":" : "", p->op_type,
              q->domain, *q->domain ? ":" : "", q->op_type);
    if (strcmp(p->name, q->name))
        x->change |= OC_DIFF_NAME;
    compare_attrs(x);
    if (p->n_in != q->n_in)
        found(x, OC_DIFF_INPUTS, "%u -> %u inputs", p->n_in, q->n_in);
    if (p->n_out != q->n_out)
        found(x, OC_DIFF_INPUTS, "%u -> %u outputs", p->n_out, q->n_out);
    for (uint32_t i = 0; i < p->n_out && i < q->n_out; i++)
        compare_value(x, "out", i, p->out[i], q->out[i]);
    for (uint32_t i = 0; i < p->n_in && i < q->n_in; i++)
        compare_value(x, "in", i, p->in[i], q->in[i]);
}

/* ---- a row --------------------------------------------------------------------------------------------- */

static void compare_pairs(struct comparing *x, struct oc_diff_row *r, uint32_t largest)
{
    const struct oc_alignment *al = &x->d->align;
    uint32_t paired = 0;
    for (uint32_t i = 0; i < r->side[0].n_node; i++) {
        uint32_t a = r->side[0].node[i], b = al->b_of_a[a];
        if (b == OC_NONE)
            continue;
        paired++;
        x->node[0] = &x->d->in[0].model->node[a];
        x->node[1] = &x->d->in[1].model->node[b];
        x->describe = a == largest || !x->text.n;
        if (!r->rule || a == largest)
            r->rule = al->rule[a];
        compare_nodes(x);
    }
    if (paired < r->side[0].n_node || paired < r->side[1].n_node) {
        x->describe = true;
        found(x, OC_DIFF_FUSION, "%u -> %u nodes", r->side[0].n_node, r->side[1].n_node);
    }
}

static bool same_costs(const struct oc_diff_row *r)
{
    return memcmp(r->side[0].count, r->side[1].count, sizeof(r->side[0].count)) == 0 &&
           r->side[0].n_unknown == r->side[1].n_unknown;
}

void oc_diff_describe(struct oc_diff *d, struct oc_diff_row *r)
{
    uint32_t main_a = main_node(d->in[0].analysis, &r->side[0]),
             main_b = main_node(d->in[1].analysis, &r->side[1]);
    struct comparing x = {.d = d};
    r->name = label_of(d, 0, main_a);
    r->name_b = label_of(d, 1, main_b);
    r->type = types_of(d, 0, &r->side[0]);
    r->type_b = types_of(d, 1, &r->side[1]);
    r->what = "";
    if (!r->side[0].n_node || !r->side[1].n_node) {
        r->status = r->side[0].n_node ? OC_DIFF_REMOVED : OC_DIFF_ADDED;
        return;
    }
    compare_pairs(&x, r, main_a);
    if (!same_costs(r))
        x.change |= OC_DIFF_COSTS;
    r->change = x.change;
    r->status = x.change & ~(unsigned)OC_DIFF_NAME ? OC_DIFF_CHANGED
                : x.change                         ? OC_DIFF_RENAMED
                                                   : OC_DIFF_SAME;
    if (x.text.n)
        r->what = oc_strndup(&d->arena, x.text.data, x.text.n);
    oc_buf_free(&x.text);
}
