/* Rows of a diff: groups corresponding nodes, orders the rows, and sums the values of each side. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gate/diff.h"
#include "join/join.h"

/* ---- sets of nodes: union-find over the nodes of both sides, those of b after those of a --------------- */

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

static uint32_t root_of(struct units *u, uint32_t i)
{
    while (u->up[i] != i)
        i = u->up[i] = u->up[u->up[i]];
    return i;
}

static void unite(struct units *u, uint32_t i, uint32_t j)
{
    i = root_of(u, i);
    j = root_of(u, j);
    if (i < j)
        u->up[j] = i;
    else
        u->up[i] = j;
}

static void unite_records(struct units *u, unsigned s)
{
    const struct oc_join *join = u->d->in[s].join;
    for (uint32_t i = 0; join && i < join->profile->n_rec; i++) {
        const struct oc_join_rec *r = &join->rec[i];
        for (uint32_t k = 0; k < r->n_node; k++) {
            u->covered[u->first[s] + r->node[k]] = true;
            unite(u, u->first[s] + r->node[0], u->first[s] + r->node[k]);
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
            unite(u, i, n_a + d->align.b_of_a[i]);
    unite_records(u, 0);
    unite_records(u, 1);
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

/* Nodes that are folded on both sides and have no record need no row. */
static void mark(struct units *u, bool *wanted)
{
    for (unsigned s = 0; s < 2; s++)
        for (uint32_t i = 0; i < u->d->in[s].model->n_node; i++) {
            uint32_t number = u->first[s] + i, root = root_of(u, number);
            bool counts = oc_node_counts(u->d->in[s].analysis, i);
            u->size[s][root] += counts || u->covered[number];
            wanted[root] |=
                u->covered[number] || (counts && oc_node_has_work(&u->d->in[s].analysis->cost[i]));
        }
    for (uint32_t k = u->d->align.n[1]; k-- > 0;)
        u->at_b[root_of(u, u->first[1] + u->d->align.order[1][k])] = k;
}

static void add_row(struct units *u, uint32_t root, const bool *wanted)
{
    struct oc_diff *d = u->d;
    if (u->row[root] != OC_NONE || !wanted[root])
        return;
    struct oc_diff_row *r = &d->row[d->n_row];
    for (unsigned s = 0; s < 2; s++)
        r->side[s].node = OC_NEW_ARRAY(&d->arena, (size_t)u->size[s][root] + 1, uint32_t);
    u->row[root] = d->n_row++;
}

/* Merges both orders: a node of one side follows its predecessor there. */
static void order_rows(struct units *u, const bool *wanted)
{
    const struct oc_alignment *al = &u->d->align;
    uint32_t k = 0;
    for (uint32_t i = 0; i < al->n[0]; i++) {
        uint32_t root = root_of(u, al->order[0][i]);
        if (u->row[root] != OC_NONE)
            continue;
        for (; u->at_b[root] != OC_NONE && k < u->at_b[root]; k++) {
            uint32_t other = root_of(u, u->first[1] + al->order[1][k]);
            if (!u->size[0][other])
                add_row(u, other, wanted);
        }
        add_row(u, root, wanted);
    }
    for (; k < al->n[1]; k++) {
        uint32_t other = root_of(u, u->first[1] + al->order[1][k]);
        if (!u->size[0][other])
            add_row(u, other, wanted);
    }
    for (uint32_t i = 0; i < u->n; i++) /* nodes that are not compared but have a record */
        add_row(u, root_of(u, i), wanted);
}

/* ---- counts -------------------------------------------------------------------------------------------- */

static void add_counts(struct oc_diff_cell *c, const struct oc_node_cost *k)
{
    const uint64_t count[OC_DIFF_COUNTS] = {[OC_DIFF_MACS] = k->macs,
                                            [OC_DIFF_FLOPS] = k->flops,
                                            [OC_DIFF_OPS] = k->ops,
                                            [OC_DIFF_BYTES] = k->rd_act + k->rd_wt + k->wr,
                                            [OC_DIFF_PARAMS] = k->params};
    for (unsigned m = 0; m < OC_DIFF_COUNTS; m++)
        c->count[m] += count[m];
    c->n_unknown += k->quality == OC_UNKNOWN;
}

static void fill_nodes(struct units *u, unsigned s)
{
    struct oc_diff *d = u->d;
    for (uint32_t i = 0; i < d->in[s].model->n_node; i++) {
        uint32_t number = u->first[s] + i, row = u->row[root_of(u, number)];
        bool counts = oc_node_counts(d->in[s].analysis, i);
        if (row == OC_NONE || (!counts && !u->covered[number]))
            continue;
        struct oc_diff_cell *c = &d->row[row].side[s];
        ((uint32_t *)(uintptr_t)c->node)[c->n_node++] = i;
        if (counts)
            add_counts(c, &d->in[s].analysis->cost[i]);
    }
}

/* ---- times --------------------------------------------------------------------------------------------- */

/* Rows by the name of a bucket, after those of operators. */
struct buckets {
    struct oc_diff *d;
    struct oc_map names;
    struct oc_diff_row *row; /* heap */
    uint32_t n, cap;
};

static double start(bool known)
{
    return known ? 0 : (double)NAN;
}

static struct oc_diff_row *bucket_row(struct buckets *b, const char *name)
{
    uint32_t at = b->n;
    if (oc_map_add(&b->names, name, strlen(name), &at, NULL)) {
        OC_GROW(b->row, b->n, b->cap);
        b->row[b->n] = (struct oc_diff_row){
            .status = OC_DIFF_BUCKET, .name = name, .name_b = name, .type = "", .type_b = "", .what = ""};
        for (unsigned s = 0; s < 2; s++) {
            b->row[b->n].side[s].time_ns = start(b->d->side[s].report.has_time);
            b->row[b->n].side[s].roof_ns = start(b->d->in[s].device != NULL);
        }
        b->n++;
    }
    return &b->row[at];
}

/* A record without a time makes that of its row unknown. */
static void add_times(struct oc_diff_cell *c, const struct oc_report *r, const struct oc_row *row)
{
    c->records += row->record != OC_NONE;
    if (r->has_time)
        c->time_ns += oc_ns_of(row->time_s / r->runs);
    if (r->in->device)
        c->roof_ns += oc_ns_of(row->roofline_s / r->runs);
}

static uint32_t row_of(struct units *u, unsigned s, const struct oc_row *row)
{
    const struct oc_join *j = u->d->in[s].join;
    uint32_t node = row->node;
    if (j)
        node = j->rec[row->record].n_node ? j->rec[row->record].node[0] : OC_NONE;
    return node == OC_NONE ? OC_NONE : u->row[root_of(u, u->first[s] + node)];
}

static void fill_times(struct units *u, unsigned s, struct buckets *b)
{
    struct oc_diff *d = u->d;
    const struct oc_report *r = &d->side[s].report;
    for (uint32_t i = 0; i < r->all.n; i++) {
        const struct oc_row *row = &r->all.row[i];
        uint32_t at = row_of(u, s, row);
        if (at == OC_NONE && !d->in[s].join)
            continue; /* folded, or in a body that does not run */
        const char *name = at == OC_NONE ? d->in[s].join->rec[row->record].bucket : NULL;
        add_times(at != OC_NONE ? &d->row[at].side[s] : &bucket_row(b, name ? name : "unmatched")->side[s], r,
                  row);
    }
}

/* Loading and excluded runs are not part of the run. */
bool oc_diff_in_run(const struct oc_diff *d, unsigned side, const struct oc_prof_rec *rec)
{
    const struct oc_profile *p = d->in[side].profile;
    bool in_run = d->side[side].report.has_time && rec->bucket && !isnan(rec->self_ns) &&
                  (strcmp(rec->bucket, "framework") == 0 || strcmp(rec->bucket, "no-op") == 0);
    for (uint32_t i = 0; i < p->n_rec && in_run; i++)
        in_run = isnan(p->rec[i].kernel_ns);
    return in_run;
}

static void fill_profile_buckets(struct oc_diff *d, unsigned s, struct buckets *in_run,
                                 struct buckets *beside)
{
    const struct oc_profile *p = d->in[s].profile;
    for (uint32_t i = 0; p && i < p->n_rec; i++) {
        const struct oc_prof_rec *rec = &p->rec[i];
        if (!rec->bucket || isnan(rec->self_ns))
            continue;
        bool of_run = oc_diff_in_run(d, s, rec);
        struct oc_diff_cell *c = &bucket_row(of_run ? in_run : beside, rec->bucket)->side[s];
        if (isnan(c->time_ns))
            c->time_ns = 0;
        c->time_ns += rec->self_ns / (of_run ? d->side[s].report.runs : 1);
        c->records++;
    }
}

static struct oc_diff_row *keep(struct oc_diff *d, struct buckets *b)
{
    struct oc_diff_row *row = OC_NEW_ARRAY(&d->arena, (size_t)b->n + 1, struct oc_diff_row);
    if (b->n)
        memcpy(row, b->row, b->n * sizeof(*row));
    free(b->row);
    oc_map_free(&b->names);
    return row;
}

/* ---- parameters of no node ----------------------------------------------------------------------------- */

static void add_rest(struct oc_diff *d, struct buckets *b)
{
    for (unsigned s = 0; s < 2; s++) {
        uint64_t on_nodes = 0, all = d->in[s].analysis->total.params;
        for (uint32_t i = 0; i < d->n_row; i++)
            on_nodes += d->row[i].side[s].count[OC_DIFF_PARAMS];
        if (on_nodes < all)
            bucket_row(b, "constants of no operator")->side[s].count[OC_DIFF_PARAMS] = all - on_nodes;
    }
}

void oc_diff_rows(struct oc_diff *d)
{
    struct units u;
    make_units(&u, d);
    bool *wanted = OC_NEW_ARRAY(&d->arena, (size_t)u.n + 1, bool);
    d->row = OC_NEW_ARRAY(&d->arena, (size_t)u.n + 1, struct oc_diff_row);
    mark(&u, wanted);
    order_rows(&u, wanted);
    for (uint32_t i = 0; i < d->n_row; i++)
        for (unsigned s = 0; s < 2; s++) {
            d->row[i].side[s].time_ns = start(d->side[s].report.has_time);
            d->row[i].side[s].roof_ns = start(d->in[s].device != NULL);
        }
    struct buckets in_run = {.d = d, .names = {.arena = &d->arena}}, beside = in_run;
    for (unsigned s = 0; s < 2; s++) {
        fill_nodes(&u, s);
        fill_times(&u, s, &in_run);
        fill_profile_buckets(d, s, &in_run, &beside);
    }
    add_rest(d, &in_run);
    d->n_operator = d->n_row;
    struct oc_diff_row *all = OC_NEW_ARRAY(&d->arena, (size_t)d->n_row + in_run.n + 1, struct oc_diff_row);
    memcpy(all, d->row, d->n_row * sizeof(*all));
    uint32_t n = in_run.n;
    memcpy(all + d->n_row, keep(d, &in_run), n * sizeof(*all));
    d->row = all;
    d->n_row += n;
    d->n_beside = beside.n;
    d->beside = keep(d, &beside);
}
