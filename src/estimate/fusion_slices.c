/* Gathers of single indices and Slices that together are the whole of an axis: one Split, with a Squeeze for
 * each scalar index. */
#include <stdlib.h>

#include "estimate/fusion_plan.h"

enum { MAX_PARTS = 16 };

struct part {
    uint32_t node;
    int64_t axis, from, to;
};

static bool constant_int(const struct oc_fuse *f, uint32_t node, uint32_t slot, int64_t *v)
{
    uint32_t i = oc_fuse_input(f, node, slot);
    const struct oc_data *d = i == OC_NONE ? NULL : f->a->data[i];
    return d && oc_fuse_const(f, i) && f->a->type[i].dtype == OC_DT_INT64 && d->n == 1 &&
           oc_elem_known_int(&d->e[0], v);
}

/* The runtime has the size: that of an input is declared. */
static bool size_is_known(const struct oc_fuse *f, uint32_t value, unsigned axis)
{
    uint32_t root = oc_fuse_size_root(f, value, axis);
    const struct oc_type *t = f->m->value[root].declared;
    return f->static_shapes || f->m->value[root].producer != OC_NONE || !t || !t->shape.ranked ||
           axis >= t->shape.rank || t->shape.dim[axis].v >= 0;
}

static int64_t within(int64_t v, int64_t size)
{
    v = v < 0 ? v + size : v;
    return v < 0 ? 0 : v > size ? size : v;
}

/* What the node takes of the tensor with this shape. */
static bool part_of(const struct oc_fuse *f, uint32_t node, const struct oc_shape *s, struct part *p)
{
    const struct oc_attr *at = oc_node_attr(&f->m->node[node], "axis");
    int64_t step = 1;
    bool slice = oc_fuse_is(f, node, " Slice ");
    *p = (struct part){.node = node, .axis = at ? at->i : 0};
    if (slice ? !constant_int(f, node, 1, &p->from) || !constant_int(f, node, 2, &p->to) ||
                    !constant_int(f, node, 3, &p->axis)
              : !constant_int(f, node, 1, &p->from))
        return false;
    p->axis += p->axis < 0 ? s->rank : 0;
    if (p->axis < 0 || p->axis >= s->rank ||
        (slice && f->m->node[node].n_in > 4 && !constant_int(f, node, 4, &step)))
        return false;
    int64_t size = s->dim[p->axis].v;
    p->from = within(p->from, size);
    p->to = slice ? within(p->to, size) : p->from + 1;
    return step == 1 && size_is_known(f, oc_fuse_input(f, node, 0), (unsigned)p->axis);
}

static int by_start(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

void oc_fuse_split(struct oc_fuse *f, uint32_t node)
{
    const struct oc_graph_index *x = &f->maker.x;
    uint32_t from = oc_fuse_input(f, node, 0), n = 0;
    const struct oc_shape *s = oc_fuse_shape(f, from);
    const char *types = f->rules == OC_FUSE_GENERIC ? " Gather " : " Gather Slice ";
    struct part first, part[MAX_PARTS];
    if (!s || !oc_fuse_has_few_readers(f, from) || f->group[f->owner[node]].rule ||
        !part_of(f, node, s, &first))
        return;
    for (uint32_t u = x->use_first[from]; u < x->use_first[from + 1] && n < MAX_PARTS; u++)
        n += f->owner[x->use[u]] != OC_NONE && oc_fuse_is(f, x->use[u], types) &&
             oc_fuse_input(f, x->use[u], 0) == from && part_of(f, x->use[u], s, &part[n]) &&
             part[n].axis == first.axis;
    qsort(part, n, sizeof(*part), by_start);
    for (uint32_t k = 0; k < n; k++)
        if (part[k].from != (k ? part[k - 1].to : 0) || part[k].to <= part[k].from)
            return;
    if (n < 2 || part[n - 1].to != s->dim[first.axis].v)
        return;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = part[k].node, index = oc_fuse_input(f, i, 1);
        oc_fuse_merge(f, f->owner[part[0].node], f->owner[i], OC_NONE, "slices", "Split");
        if (oc_fuse_is(f, i, " Gather ") && !f->a->type[index].shape.rank)
            oc_fuse_insert(f, "Squeeze", f->m->node[i].out[0], 0, 0, f->inserted);
    }
}
