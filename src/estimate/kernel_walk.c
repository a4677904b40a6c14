#include "estimate/kernel_walk.h"

#include <math.h>
#include <string.h>

#include "estimate/kernel_view.h"

/* Elements of the dimensions from `from` on. */
static double from_axis(const struct oc_shape *s, unsigned from)
{
    return oc_view_product(s, from, s->rank);
}

static unsigned axis_of(const struct oc_kernel_view *v, const struct oc_shape *s, int64_t otherwise)
{
    const struct oc_attr *at = oc_node_attr(v->node, "axis");
    int64_t axis = at && at->type == OC_ATTR_INT ? at->i : otherwise;
    axis += axis < 0 ? s->rank : 0;
    return axis < 0 ? 0 : axis > s->rank ? s->rank : (unsigned)axis;
}

/* Trailing dimensions that keep their position are contiguous. */
static double transpose(const struct oc_kernel_view *v)
{
    const struct oc_shape *x = oc_view_input(v, 0);
    const struct oc_attr *perm = oc_node_attr(v->node, "perm");
    if (!x || !x->rank)
        return 0;
    if (!perm || perm->type != OC_ATTR_INTS || perm->n != x->rank)
        return 1;
    unsigned kept = x->rank;
    while (kept > 0 && perm->ints[kept - 1] == kept - 1)
        kept--;
    return from_axis(x, kept);
}

/* Concat, Split: the dimensions from the axis on. */
static double joined(const struct oc_kernel_view *v)
{
    const struct oc_shape *in = oc_view_input(v, 0), *out = oc_view_output(v);
    const struct oc_shape *s =
        in && out && in->rank == out->rank ? (from_axis(in, 0) < from_axis(out, 0) ? in : out) : NULL;
    return s && s->rank ? from_axis(s, axis_of(v, s, 0)) : 0;
}

/* Gather: the dimensions after the axis. */
static double gathered_run(const struct oc_kernel_view *v)
{
    const struct oc_shape *x = oc_view_input(v, 0);
    unsigned axis = x ? axis_of(v, x, 0) : 0;
    return x && axis < x->rank ? from_axis(x, axis + 1) : 0;
}

/* A row of the last axis is contiguous; other axes are not. */
static double row(const struct oc_kernel_view *v)
{
    const struct oc_shape *x = oc_view_input(v, 0);
    if (!x || !x->rank)
        return 0;
    unsigned axis = axis_of(v, x, -1);
    return axis + 1 >= x->rank ? (double)x->dim[x->rank - 1].v : 1;
}

/* Reductions: rows of the last axes; of other axes, the elements after them are processed together. */
static double reduced(const struct oc_kernel_view *v)
{
    const struct oc_shape *x = oc_view_input(v, 0), *o = oc_view_output(v);
    if (!x || !o || !x->rank)
        return 0;
    double out = from_axis(o, 0);
    return out > 0 ? from_axis(x, 0) / out : 0;
}

/* The longest tail over which each operand has either all elements or one. */
static double broadcast(const struct oc_kernel_view *v)
{
    const struct oc_shape *o = oc_view_output(v);
    double least = 0;
    if (!o)
        return 0;
    for (uint32_t i = 0; i < v->node->n_in; i++) {
        const struct oc_shape *x = oc_view_input(v, i);
        if (!x || x->rank > o->rank || from_axis(x, 0) == 1 || from_axis(x, 0) == from_axis(o, 0))
            continue;
        unsigned pad = o->rank - x->rank, at = o->rank, kind = 0; /* 1: all elements, 2: one element */
        double n = 1;
        for (; at > 0; at--) {
            int64_t whole = o->dim[at - 1].v, has = at > pad ? x->dim[at - 1 - pad].v : 1;
            unsigned is = whole == 1 ? kind : has == whole ? 1 : 2;
            if (kind && is != kind)
                break;
            kind = is;
            n *= (double)whole;
        }
        least = least > 0 ? fmin(least, n) : n;
    }
    return least;
}

static const struct {
    uint8_t cls;
    double (*run)(const struct oc_kernel_view *v);
} walks[] = {
    {OC_KC_TRANSPOSE, transpose},  {OC_KC_COPY, joined},    {OC_KC_GATHER, gathered_run},
    {OC_KC_SOFTMAX, row},          {OC_KC_REDUCE, reduced}, {OC_KC_ELEMENTWISE, broadcast},
    {OC_KC_ACTIVATION, broadcast}, {OC_KC_SORT, row},
};

static uint8_t main_function(const struct oc_node_cost *c)
{
    uint64_t most = 0;
    uint8_t found = 0;
    if (c->quality == OC_UNKNOWN)
        return 0;
    for (unsigned i = 0; i < c->n_hist; i++) {
        unsigned p = c->hist[i].prim;
        bool counts = p == OC_DIV || (p >= OC_SQRT && p <= OC_POW);
        if (counts && !c->hist[i].is_int && c->hist[i].n > most) {
            most = c->hist[i].n;
            found = (uint8_t)p;
        }
    }
    return found;
}

void oc_kernel_walk(const struct oc_model *m, const struct oc_analysis *a, uint32_t node, struct oc_kernel *k)
{
    struct oc_kernel_view v = {.node = &m->node[node], .a = a};
    k->function = main_function(&a->cost[node]);
    for (size_t i = 0; i < OC_COUNT(walks); i++)
        if (walks[i].cls == k->cls) {
            k->run = walks[i].run(&v);
            break;
        }
}
