/* Compares several profiles of one model: the smallest sets of nodes that no profile splits, and their times. */
#include "join/join.h"

#include <math.h>
#include <string.h>

#include "base/ck.h"
#include "onnxcost/report.h"

static void unite_records(const struct oc_compare *c, uint32_t *up, bool *covered)
{
    for (uint32_t s = 0; s < c->n_source; s++) {
        const struct oc_join *j = c->source[s].join;
        for (uint32_t i = 0; i < j->profile->n_rec; i++)
            for (uint32_t k = 0; k < j->rec[i].n_node; k++) {
                covered[j->rec[i].node[k]] = true;
                oc_set_unite(up, j->rec[i].node[0], j->rec[i].node[k]);
            }
    }
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static void make_rows(struct oc_compare *c, const struct oc_model *m, uint32_t *up, const bool *covered,
                      uint32_t *row_of)
{
    uint32_t *size = OC_NEW_ARRAY(&c->arena, (size_t)m->n_node + 1, uint32_t);
    for (uint32_t i = 0; i < m->n_node; i++) {
        row_of[i] = OC_NONE;
        size[oc_set_root(up, i)] += covered[i];
        c->n += covered[i] && oc_set_root(up, i) == i;
    }
    c->row = OC_NEW_ARRAY(&c->arena, (size_t)c->n + 1, struct oc_compare_row);
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_node; i++) {
        uint32_t root = oc_set_root(up, i);
        if (!covered[i])
            continue;
        if (root == i) {
            row_of[i] = n++;
            struct oc_compare_row *row = &c->row[row_of[i]];
            row->cost =
                (struct oc_join_rec){.node = OC_NEW_ARRAY(&c->arena, size[i], uint32_t), .part_of = OC_NONE};
            row->cell = OC_NEW_ARRAY(&c->arena, c->n_source, struct oc_compare_cell);
            row->chosen = OC_NONE;
            for (uint32_t s = 0; s < c->n_source; s++)
                row->cell[s] = (struct oc_compare_cell){
                    .time_ns = NAN, .host_ns = NAN, .first = OC_NONE, .flop = NAN, .bytes = NAN};
        }
        row_of[i] = row_of[root];
        struct oc_join_rec *cost = &c->row[row_of[i]].cost;
        ((uint32_t *)(uintptr_t)cost->node)[cost->n_node++] = i;
    }
}

static void add(double *sum, double v)
{
    if (!isnan(v))
        *sum = isnan(*sum) ? v : *sum + v;
}

/* Device and host times are not additive: if a record of the set has device time, only device time counts. */
static void add_record(struct oc_compare_cell *cell, const struct oc_prof_rec *p, uint32_t i, bool counters)
{
    bool device = !isnan(p->kernel_ns);
    if (device && !cell->device)
        cell->time_ns = NAN;
    cell->device |= device;
    cell->is_launch = (cell->is_launch || p->is_launch) && !cell->device;
    if (device == cell->device)
        add(&cell->time_ns, device ? p->kernel_ns : p->self_ns);
    add(&cell->host_ns, device ? p->host_ns : p->self_ns);
    if (counters) {
        add(&cell->flop, p->flop);
        add(&cell->bytes, p->bytes);
    }
    cell->first = cell->records++ ? cell->first : i;
}

unsigned oc_compare_rank(const struct oc_profile *p, bool device)
{
    if (strncmp(p->format, "ncu", 3) == 0)
        return 0;
    if (strncmp(p->format, "nsys", 4) == 0)
        return 4;
    if (strcmp(p->format, "tensorrt") == 0)
        return 3;
    return device ? 2 : 1;
}

static void fill_cells(struct oc_compare *c, const uint32_t *row_of)
{
    for (uint32_t s = 0; s < c->n_source; s++) {
        const struct oc_join *j = c->source[s].join;
        bool counters = oc_compare_rank(j->profile, true) == 0;
        for (uint32_t i = 0; i < j->profile->n_rec; i++)
            if (j->rec[i].n_node)
                add_record(&c->row[row_of[j->rec[i].node[0]]].cell[s], &j->profile->rec[i], i, counters);
        c->beside_ns[s] = j->overhead_ns + j->unmatched_ns;
        for (uint32_t r = 0; r < c->n; r++)
            if (!isnan(c->row[r].cell[s].time_ns))
                c->total_ns[s] += c->row[r].cell[s].time_ns;
    }
}

static void choose_source(struct oc_compare *c)
{
    for (uint32_t r = 0; r < c->n; r++) {
        unsigned best = 0;
        for (uint32_t s = 0; s < c->n_source; s++) {
            const struct oc_compare_cell *cell = &c->row[r].cell[s];
            unsigned rank = isnan(cell->time_ns) || cell->is_launch
                                ? 0
                                : oc_compare_rank(c->source[s].profile, cell->device);
            if (rank <= best)
                continue;
            best = rank;
            c->row[r].chosen = s;
        }
    }
}

static bool reads_input(const struct oc_model *m, const struct oc_node *n)
{
    for (uint32_t k = 0; k < n->n_in; k++) {
        const struct oc_value *v = n->in[k] == OC_NONE ? NULL : &m->value[n->in[k]];
        if (v && !v->constant && v->producer == OC_NONE && v->graph == 0)
            return true;
    }
    return false;
}

/* The runs of a profile have inputs of different sizes: the nodes have the work of one of them. */
static bool sizes_vary(const struct oc_model *m, const struct oc_compare_source *s, struct oc_arena *a)
{
    const struct oc_type **seen = OC_NEW_ARRAY(a, (size_t)m->n_node + 1, const struct oc_type *);
    for (uint32_t i = 0; i < s->profile->n_rec && s->profile->spread.shapes > 1; i++) {
        const struct oc_join_rec *r = &s->join->rec[i];
        const struct oc_type *in = oc_match_main_input(&s->profile->rec[i]);
        if (!in || !r->n_node || !reads_input(m, &m->node[r->node[0]]))
            continue;
        const struct oc_type **first = &seen[r->node[0]];
        if (*first && !oc_shape_equal(&(*first)->shape, &in->shape))
            return true;
        *first = in;
    }
    return false;
}

void oc_compare_make(const struct oc_model *m, const struct oc_analysis *a,
                     const struct oc_compare_source *source, uint32_t n, struct oc_compare *out)
{
    *out = (struct oc_compare){.source = source, .n_source = n};
    struct oc_arena *arena = &out->arena;
    uint32_t *up = OC_NEW_ARRAY(arena, (size_t)m->n_node + 1, uint32_t),
             *row_of = OC_NEW_ARRAY(arena, (size_t)m->n_node + 1, uint32_t);
    bool *covered = OC_NEW_ARRAY(arena, (size_t)m->n_node + 1, bool);
    out->total_ns = OC_NEW_ARRAY(arena, (size_t)n + 1, double);
    out->beside_ns = OC_NEW_ARRAY(arena, (size_t)n + 1, double);
    for (uint32_t i = 0; i < m->n_node; i++)
        up[i] = i;
    unite_records(out, up, covered);
    make_rows(out, m, up, covered, row_of);
    fill_cells(out, row_of);
    choose_source(out);
    struct oc_graph_index x;
    struct oc_group_costs costs;
    oc_index_make(&x, m, arena);
    oc_group_costs_init(&costs, m, a, &x, arena);
    bool vary = false;
    for (uint32_t i = 0; i < n && !vary; i++)
        vary = sizes_vary(m, &source[i], arena);
    for (uint32_t r = 0; r < out->n; r++) {
        oc_group_cost(&costs, &out->row[r].cost);
        if (vary)
            oc_join_set_other_shapes(&out->row[r].cost);
    }
    oc_index_free(&x);
}

void oc_compare_free(struct oc_compare *c)
{
    oc_arena_free(&c->arena);
}
