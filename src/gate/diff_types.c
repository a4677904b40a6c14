/* The differences by operator type. Counts are those of the nodes, times those of the records, by what the
 * runtime calls them: each column adds up to the total. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gate/diff.h"
#include "join/join.h"

struct typing {
    struct oc_diff *d;
    struct oc_map names;
    struct oc_diff_type *type; /* heap */
    uint32_t n, cap;
};

static struct oc_diff_type *type_of(struct typing *x, const char *name, bool bucket)
{
    uint32_t at = x->n;
    const char *key = oc_printf(&x->d->arena, "%c%s", bucket ? 'b' : 't', name);
    if (oc_map_add(&x->names, key, strlen(key), &at, NULL)) {
        OC_GROW(x->type, x->n, x->cap);
        struct oc_diff_type *t = &x->type[x->n++];
        *t = (struct oc_diff_type){.name = name, .bucket = bucket};
        for (unsigned s = 0; s < 2; s++) {
            t->time_ns[s] = x->d->side[s].report.has_time ? 0 : NAN;
            t->roof_ns[s] = x->d->in[s].device ? 0 : NAN;
        }
    }
    return &x->type[at];
}

static const char *full_name(struct oc_diff *d, const char *domain, const char *op_type)
{
    return *domain ? oc_printf(&d->arena, "%s:%s", domain, op_type) : op_type;
}

static void add_nodes(struct typing *x, unsigned s)
{
    const struct oc_analysis *a = x->d->in[s].analysis;
    for (uint32_t i = 0; i < a->n_by_type; i++) {
        const struct oc_type_total *from = &a->by_type[i];
        struct oc_diff_type *t = type_of(x, full_name(x->d, from->domain, from->op_type), false);
        const uint64_t count[OC_DIFF_COUNTS] = {[OC_DIFF_MACS] = from->macs,
                                                [OC_DIFF_FLOPS] = from->flops,
                                                [OC_DIFF_OPS] = from->ops,
                                                [OC_DIFF_BYTES] = from->bytes,
                                                [OC_DIFF_PARAMS] = from->params};
        t->nodes[s] = from->nodes;
        memcpy(t->count[s], count, sizeof(count));
    }
    for (uint32_t i = 0; i < a->model->n_node; i++)
        if (oc_node_counts(a, i) && a->cost[i].quality == OC_UNKNOWN)
            type_of(x, full_name(x->d, a->model->node[i].domain, a->model->node[i].op_type), false)
                ->n_unknown[s]++;
}

/* Records count under the runtime's type, which has no domain; under the node's own if the names agree. */
static struct oc_diff_type *type_of_row(struct typing *x, unsigned s, const struct oc_row *row)
{
    const struct oc_join *j = x->d->in[s].join;
    uint32_t node = row->node;
    if (j && !j->rec[row->record].n_node)
        return type_of(x, j->rec[row->record].bucket ? j->rec[row->record].bucket : "unmatched", true);
    for (uint32_t i = 0; j && i < j->rec[row->record].n_node; i++) {
        const struct oc_node *n = &x->d->in[s].model->node[j->rec[row->record].node[i]];
        if (!node || node == OC_NONE || (row->type && strcmp(n->op_type, row->type) == 0))
            node = j->rec[row->record].node[i];
    }
    const struct oc_node *n = node == OC_NONE ? NULL : &x->d->in[s].model->node[node];
    if (n && (!row->type || !*row->type || strcmp(n->op_type, row->type) == 0))
        return type_of(x, full_name(x->d, n->domain, n->op_type), false);
    return type_of(x, row->type ? row->type : "", false);
}

static void add_times(struct typing *x, unsigned s)
{
    const struct oc_report *r = &x->d->side[s].report;
    for (uint32_t i = 0; i < r->all.n; i++) {
        struct oc_diff_type *t = type_of_row(x, s, &r->all.row[i]);
        t->time_ns[s] += r->has_time ? oc_ns_of(r->all.row[i].time_s / r->runs) : 0;
        t->roof_ns[s] += r->in->device ? oc_ns_of(r->all.row[i].roofline_s / r->runs) : 0;
    }
}

/* Parts of a run that belong to no operator record: framework, constants of no operator. */
static void add_buckets(struct typing *x)
{
    for (uint32_t i = x->d->n_operator; i < x->d->n_row; i++) {
        const struct oc_diff_row *r = &x->d->row[i];
        struct oc_diff_type *t = type_of(x, r->name, true);
        for (unsigned s = 0; s < 2; s++) {
            t->time_ns[s] = r->side[s].time_ns; /* the whole bucket, including its operator records */
            t->roof_ns[s] = r->side[s].roof_ns;
            t->count[s][OC_DIFF_PARAMS] = r->side[s].count[OC_DIFF_PARAMS];
        }
    }
}

static double size_of(double a, double b)
{
    return isnan(a) || isnan(b) ? 0 : fabs(b - a);
}

static double count_size(const struct oc_diff_type *t, unsigned m)
{
    uint64_t a = t->count[0][m], b = t->count[1][m];
    return (double)(a > b ? a - b : b - a);
}

static int largest_first(const void *pa, const void *pb)
{
    const struct oc_diff_type *a = pa, *b = pb;
    double x[] = {size_of(a->time_ns[0], a->time_ns[1]), size_of(a->roof_ns[0], a->roof_ns[1]),
                  count_size(a, OC_DIFF_MACS),           count_size(a, OC_DIFF_FLOPS),
                  count_size(a, OC_DIFF_BYTES),          count_size(a, OC_DIFF_PARAMS)},
           y[] = {size_of(b->time_ns[0], b->time_ns[1]), size_of(b->roof_ns[0], b->roof_ns[1]),
                  count_size(b, OC_DIFF_MACS),           count_size(b, OC_DIFF_FLOPS),
                  count_size(b, OC_DIFF_BYTES),          count_size(b, OC_DIFF_PARAMS)};
    for (size_t i = 0; i < OC_COUNT(x); i++)
        if (x[i] != y[i])
            return x[i] > y[i] ? -1 : 1;
    return a->bucket != b->bucket ? a->bucket - b->bucket : strcmp(a->name, b->name);
}

void oc_diff_types(struct oc_diff *d)
{
    struct typing x = {.d = d, .names = {.arena = &d->arena}};
    for (unsigned s = 0; s < 2; s++) {
        add_nodes(&x, s);
        add_times(&x, s);
    }
    add_buckets(&x);
    d->type = OC_NEW_ARRAY(&d->arena, (size_t)x.n + 1, struct oc_diff_type);
    d->n_type = x.n;
    if (x.n) {
        qsort(x.type, x.n, sizeof(*x.type), largest_first);
        memcpy(d->type, x.type, x.n * sizeof(*x.type));
    }
    free(x.type);
    oc_map_free(&x.names);
}
