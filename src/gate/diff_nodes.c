/* The rows of a diff of models: sets of corresponding nodes, in the merged order of both sides. A set is closed under
 * the alignment and under fusion by a runtime, so that a record belongs to one row. */
#include <string.h>

#include "base/ck.h"
#include "gate/diff.h"
#include "join/join.h"

/* ---- sets of nodes: union-find over the nodes of both sides, those of b after those of a ------------ */

struct units {
    struct oc_diff *d;
    uint32_t first[2]; /* index of the side's node 0 */
    uint32_t n;
    uint32_t *up;
    uint32_t *row;     /* by root: its row, OC_NONE */
    uint32_t *size[2]; /* by root: nodes of each side */
    uint32_t *at_b;    /* by root: position of its first node of b in the order of b, OC_NONE */
    bool *covered;     /* by node index: a record covers it */
};

static void diff_unite_records(struct units *u, unsigned s, const struct oc_join *join)
{
    for (uint32_t i = 0; join && i < join->profile->n_rec; i++) {
        const struct oc_join_rec *r = &join->rec[i];
        for (uint32_t k = 0; k < r->n_node; k++) {
            u->covered[u->first[s] + r->node[k]] = true;
            oc_set_unite(u->up, u->first[s] + r->node[0], u->first[s] + r->node[k]);
        }
    }
}

static void make_units(struct units *u, struct oc_diff *d)
{
    uint32_t n_a = d->in[0].model->n_node, n_b = d->in[1].model->n_node;
    size_t n = (size_t)n_a + n_b + 1;
    *u = (struct units){.d = d, .first = {0, n_a}, .n = n_a + n_b};
    u->up = OC_NEW_ARRAY(&d->arena, n, uint32_t);
    u->row = OC_NEW_ARRAY(&d->arena, n, uint32_t);
    u->at_b = OC_NEW_ARRAY(&d->arena, n, uint32_t);
    u->covered = OC_NEW_ARRAY(&d->arena, n, bool);
    for (unsigned s = 0; s < 2; s++)
        u->size[s] = OC_NEW_ARRAY(&d->arena, n, uint32_t);
    for (uint32_t i = 0; i < u->n; i++) {
        u->up[i] = i;
        u->row[i] = u->at_b[i] = OC_NONE;
    }
    for (uint32_t i = 0; i < n_a; i++)
        if (d->align.b_of_a[i] != OC_NONE)
            oc_set_unite(u->up, i, n_a + d->align.b_of_a[i]);
    for (unsigned s = 0; s < 2; s++)
        for (size_t k = 0; k < d->n_of[s]; k++)
            diff_unite_records(u, s, d->of[s][k].in.join);
}

/* ---- rows ------------------------------------------------------------------------------------------- */

/* Nodes that are folded on both sides and have no record need no row. */
static void mark(struct units *u, bool *wanted)
{
    for (unsigned s = 0; s < 2; s++)
        for (uint32_t i = 0; i < u->d->in[s].model->n_node; i++) {
            uint32_t number = u->first[s] + i, root = oc_set_root(u->up, number);
            bool counts = oc_node_counts(u->d->in[s].analysis, i);
            u->size[s][root] += counts || u->covered[number];
            wanted[root] |=
                u->covered[number] || (counts && oc_node_has_work(&u->d->in[s].analysis->cost[i]));
        }
    for (uint32_t k = u->d->align.n[1]; k-- > 0;)
        u->at_b[oc_set_root(u->up, u->first[1] + u->d->align.order[1][k])] = k;
}

static void diff_add_row(struct units *u, uint32_t root, const bool *wanted)
{
    struct oc_diff *d = u->d;
    if (u->row[root] != OC_NONE || !wanted[root])
        return;
    struct oc_diff_row *r = &d->row[d->n_row];
    for (unsigned s = 0; s < 2; s++) {
        r->side[s].shapes = "";
        r->side[s].node = OC_NEW_ARRAY(&d->arena, (size_t)u->size[s][root] + 1, uint32_t);
    }
    u->row[root] = d->n_row++;
}

/* Merges both orders: a node of one side follows its predecessor there. */
static void order_rows(struct units *u, const bool *wanted)
{
    const struct oc_alignment *al = &u->d->align;
    uint32_t k = 0;
    for (uint32_t i = 0; i < al->n[0]; i++) {
        uint32_t root = oc_set_root(u->up, al->order[0][i]);
        if (u->row[root] != OC_NONE)
            continue;
        for (; u->at_b[root] != OC_NONE && k < u->at_b[root]; k++) {
            uint32_t other = oc_set_root(u->up, u->first[1] + al->order[1][k]);
            if (!u->size[0][other])
                diff_add_row(u, other, wanted);
        }
        diff_add_row(u, root, wanted);
    }
    for (; k < al->n[1]; k++) {
        uint32_t other = oc_set_root(u->up, u->first[1] + al->order[1][k]);
        if (!u->size[0][other])
            diff_add_row(u, other, wanted);
    }
    for (uint32_t i = 0; i < u->n; i++) /* nodes that are not compared but have a record */
        diff_add_row(u, oc_set_root(u->up, i), wanted);
}

/* ---- counts ----------------------------------------------------------------------------------------- */

static void diff_add_counts(struct oc_diff_cell *c, const struct oc_node_cost *k)
{
    const uint64_t count[OC_DIFF_COUNTS] = {[OC_DIFF_MACS] = k->macs,
                                            [OC_DIFF_FLOPS] = k->flops,
                                            [OC_DIFF_OPS] = k->ops,
                                            [OC_DIFF_BYTES] = k->rd_act + k->rd_wt + k->wr,
                                            [OC_DIFF_PARAMS] = k->params};
    for (unsigned m = 0; m < OC_DIFF_COUNTS; m++)
        c->count[m] += count[m];
    for (unsigned m = 0; m < OC_DIFF_PARAMS; m++)
        c->unknown[m] += k->quality == OC_UNKNOWN;
}

static void fill_nodes(struct units *u, unsigned s)
{
    struct oc_diff *d = u->d;
    for (uint32_t i = 0; i < d->in[s].model->n_node; i++) {
        uint32_t number = u->first[s] + i, row = u->row[oc_set_root(u->up, number)];
        bool counts = oc_node_counts(d->in[s].analysis, i);
        if (row == OC_NONE || (!counts && !u->covered[number]))
            continue;
        struct oc_diff_cell *c = &d->row[row].side[s];
        ((uint32_t *)(uintptr_t)c->node)[c->n_node++] = i;
        if (counts)
            diff_add_counts(c, &d->in[s].analysis->cost[i]);
    }
}

/* ---- the rows of the reports ------------------------------------------------------------------------ */

static uint32_t diff_row_of(struct units *u, unsigned s, const struct oc_join *j, const struct oc_row *row)
{
    uint32_t node = row->node;
    if (j)
        node = j->rec[row->record].n_node ? j->rec[row->record].node[0] : OC_NONE;
    return node == OC_NONE ? OC_NONE : u->row[oc_set_root(u->up, u->first[s] + node)];
}

static void find_rows(struct units *u, unsigned s, struct oc_diff_recording *of)
{
    const struct oc_rows *all = &of->figures.report.all;
    of->row_of = OC_NEW_ARRAY(&u->d->arena, (size_t)all->n + 1, uint32_t);
    for (uint32_t i = 0; i < all->n; i++)
        of->row_of[i] = diff_row_of(u, s, of->in.join, &all->row[i]);
}

void oc_diff_rows_of_nodes(struct oc_diff *d)
{
    struct units u;
    oc_align(d->in[0].analysis, d->in[1].analysis, &d->arena, &d->align);
    make_units(&u, d);
    bool *wanted = OC_NEW_ARRAY(&d->arena, (size_t)u.n + 1, bool);
    d->row = OC_NEW_ARRAY(&d->arena, (size_t)u.n + 1, struct oc_diff_row);
    mark(&u, wanted);
    order_rows(&u, wanted);
    for (unsigned s = 0; s < 2; s++) {
        fill_nodes(&u, s);
        for (size_t k = 0; k < d->n_of[s]; k++)
            find_rows(&u, s, &d->of[s][k]);
    }
    for (uint32_t i = 0; i < d->n_row; i++)
        oc_diff_describe(d, &d->row[i]);
}
