/* Operators that ONNX Runtime moves or adds to change shapes. A Transpose goes after operators whose result has
 * fewer dimensions, Gathers of one index and reductions: there it has less work, or none. */
#include "estimate/fusion_plan.h"

/* The dimensions of its input that the node removes, as bits; 0: it keeps all of them. */
static uint32_t removed_axes(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_node *n = &f->m->node[node];
    const struct oc_attr *axis = oc_node_attr(n, "axis"), *axes = oc_node_attr(n, "axes"),
                         *keep = oc_node_attr(n, "keepdims");
    const struct oc_shape *s = oc_fuse_shape(f, n->in[0]);
    uint32_t index = oc_fuse_input(f, node, 1), bits = 0;
    if (!s || s->rank > OC_FUSE_RANK)
        return 0;
    if (oc_fuse_is(f, node, " Gather ") && index != OC_NONE && !f->a->type[index].shape.rank)
        return 1u << ((axis ? axis->i : 0) + (axis && axis->i < 0 ? s->rank : 0));
    if (!oc_fuse_is(f, node, " ReduceMean ReduceMax ReduceMin ReduceSum ") || !keep || keep->i)
        return 0;
    const struct oc_data *d = index == OC_NONE ? NULL : f->a->data[index];
    for (uint32_t i = 0; i < (axes ? axes->n : d ? d->n : 0); i++) {
        int64_t at = axes ? axes->ints[i] : 0;
        if (!axes && !oc_elem_known_int(&d->e[i], &at))
            return 0;
        bits |= 1u << (at + (at < 0 ? s->rank : 0));
    }
    return bits;
}

static bool fusion_moves_is_moved(const struct oc_fuse *f, uint32_t transpose)
{
    const struct oc_graph_index *x = &f->maker.x;
    uint32_t v = f->m->node[transpose].out[0];
    if (!oc_fuse_is(f, transpose, " Transpose ") || f->owner[transpose] == OC_NONE ||
        f->rules == OC_FUSE_GENERIC || f->m->value[v].graph_output ||
        !oc_node_attr(&f->m->node[transpose], "perm"))
        return false;
    for (uint32_t i = x->use_first[v]; i < x->use_first[v + 1]; i++)
        if (f->owner[x->use[i]] == OC_NONE || f->m->node[x->use[i]].in[0] != v || !removed_axes(f, x->use[i]))
            return false;
    return x->use_first[v] < x->use_first[v + 1];
}

void oc_fuse_moved(const struct oc_fuse *f, uint32_t value, int64_t *perm, unsigned *n)
{
    uint32_t node = value == OC_NONE ? OC_NONE : f->m->value[value].producer, removed = 0;
    uint32_t in = node == OC_NONE || !f->m->node[node].n_in ? OC_NONE : oc_fuse_input(f, node, 0);
    uint32_t turn = in == OC_NONE ? OC_NONE : f->m->value[in].producer;
    int64_t all[OC_FUSE_RANK];
    unsigned rank = 0;
    *n = 0;
    if (turn == OC_NONE || !fusion_moves_is_moved(f, turn) || !oc_fuse_permute(f, turn, all, &rank) ||
        !(removed = removed_axes(f, node)))
        return;
    for (unsigned i = 0; i < rank; i++) {
        int64_t at = 0;
        for (unsigned k = 0; k < rank; k++) /* its place among the dimensions that stay */
            at += !(removed >> k & 1) && all[k] < all[i];
        if (!(removed >> i & 1))
            perm[(*n)++] = at;
    }
}

static bool is_turned(const int64_t *perm, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (perm[i] != (int64_t)i)
            return true;
    return false;
}

/* The Transpose of each reader, unless the next one includes it. The node itself is found in the readers. */
static void insert_transposes(struct oc_fuse *f, uint32_t transpose)
{
    const struct oc_graph_index *x = &f->maker.x;
    uint32_t v = f->m->node[transpose].out[0];
    for (uint32_t i = x->use_first[v]; i < x->use_first[v + 1]; i++) {
        uint32_t out = f->m->node[x->use[i]].out[0], next = oc_fuse_user(f, out);
        int64_t perm[OC_FUSE_RANK];
        unsigned n;
        double bytes = oc_fuse_elements(f, out) * oc_dtype_info(f->a->type[out].dtype)->bits / 8;
        struct oc_fuse_group *g = &f->group[f->owner[x->use[i]]];
        if (g->node[g->n_node - 1] != transpose)
            oc_fuse_add_node(f, g, transpose);
        oc_fuse_moved(f, out, perm, &n);
        if (is_turned(perm, n) && (next == OC_NONE || !oc_fuse_is(f, next, " Transpose ")))
            oc_fuse_insert(f, "Transpose", out, bytes, bytes, f->inserted);
    }
}

void oc_fuse_move(struct oc_fuse *f)
{
    for (uint32_t i = 0; i < f->m->n_node; i++) {
        struct oc_fuse_group *g = f->owner[i] == OC_NONE ? NULL : &f->group[f->owner[i]];
        if (!g || g->gone || g->n_node != 1 || !fusion_moves_is_moved(f, i))
            continue;
        g->gone = true;
        g->n_node = 0;
        insert_transposes(f, i);
    }
}

/* ---- Reshapes -------------------------------------------------------------------------------------------- */

bool oc_fuse_takes_zeros(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_attr *a = oc_node_attr(&f->m->node[node], "allowzero");
    return a && a->i;
}

void oc_fuse_insert_views(struct oc_fuse *f, const struct oc_fuse_group *g)
{
    uint32_t x = oc_fuse_input(f, g->core, 0), from = f->m->value[x].producer, next = oc_fuse_user(f, g->out);
    uint32_t owner = from == OC_NONE || oc_fuse_user(f, x) == OC_NONE ? OC_NONE : f->owner[from];
    bool views = owner != OC_NONE && f->group[owner].views;
    bool before = owner != OC_NONE && oc_fuse_is(f, from, " Reshape ") && !oc_fuse_takes_zeros(f, from);
    if (!views && !before)
        oc_fuse_insert(f, "Reshape", x, 0, 0, f->inserted);
    if (next == OC_NONE || !oc_fuse_is(f, next, " Reshape ") || oc_fuse_takes_zeros(f, next))
        oc_fuse_insert(f, "Reshape", g->out, 0, 0, f->inserted);
}
