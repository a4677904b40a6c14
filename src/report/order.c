/* The columns of --order-by that are quantities of MegEngine's tool or of this one. */
#include "report/order.h"

#include <math.h>
#include <string.h>

static int compare_dims(const struct oc_row_shape *a, const struct oc_row_shape *b)
{
    for (uint32_t i = 0; i < a->rank && i < b->rank; i++)
        if (a->dim[i] != b->dim[i])
            return a->dim[i] < b->dim[i] ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Lexicographic comparison of lists of lists of numbers. */
static int compare_shapes(const struct oc_row_shape *a, uint32_t na, const struct oc_row_shape *b,
                          uint32_t nb)
{
    for (uint32_t i = 0; i < na && i < nb; i++) {
        int c = compare_dims(&a[i], &b[i]);
        if (c)
            return c;
    }
    return (na > nb) - (na < nb);
}

static int compare_in(const struct oc_row *a, const struct oc_row *b)
{
    return compare_shapes(a->in, a->n_in, b->in, b->n_in);
}

static int compare_out(const struct oc_row *a, const struct oc_row *b)
{
    return compare_shapes(a->out, a->n_out, b->out, b->n_out);
}

static bool sortable(const struct oc_row_shape *s, uint32_t n, uint8_t state)
{
    for (uint32_t i = 0; i < n; i++)
        if (s[i].rank && !s[i].dim)
            return false;
    return state == OC_SHAPES_KNOWN;
}

static bool in_known(const struct oc_row *r)
{
    return sortable(r->in, r->n_in, r->in_state);
}

static bool out_known(const struct oc_row *r)
{
    return sortable(r->out, r->n_out, r->out_state);
}

static int compare_type(const struct oc_row *a, const struct oc_row *b)
{
    return strcmp(a->type, b->type);
}

static int compare_name(const struct oc_row *a, const struct oc_row *b)
{
    return strcmp(a->name, b->name);
}

static bool type_known(const struct oc_row *r)
{
    return r->type != NULL;
}

static bool name_known(const struct oc_row *r)
{
    return r->name != NULL;
}

static double count_of(const struct oc_row *r)
{
    return (double)r->count;
}

/* Time of one call, the "avg" of other tools' tables. */
static double mean_of(const struct oc_row *r)
{
    return r->calls > 0 ? r->time_s / r->calls : (double)NAN;
}

#define FIELD(title, member)                                                                                 \
    {                                                                                                        \
        .name = (title), .offset = offsetof(struct oc_row, member)                                           \
    }
const struct oc_order_column oc_order_columns[OC_N_ORDER_COLUMNS] = {
    FIELD("time", time_s),
    FIELD("computation", computation),
    FIELD("memory", memory),
    {.name = "flops", .number = oc_row_flops},
    {.name = "bandwidth", .number = oc_row_bandwidth},
    FIELD("opr_id", id_number),
    {.name = "in_shapes", .compare = compare_in, .known = in_known},
    {.name = "out_shapes", .compare = compare_out, .known = out_known},
    FIELD("macs", macs),
    FIELD("params", params),
    FIELD("intensity", intensity),
    FIELD("roofline", roofline_s),
    FIELD("efficiency", efficiency),
    FIELD("calls", calls),
    {.name = "count", .number = count_of},
    {.name = "mean", .number = mean_of},
    {.name = "avg", .number = mean_of},
    FIELD("min", min_s),
    FIELD("max", max_s),
    FIELD("self", self_s),
    FIELD("share", share),
    FIELD("energy", energy_j),
    FIELD("gap", wasted_s),
    FIELD("wasted", wasted_s), /* its older name */
    {.name = "name", .compare = compare_name, .known = name_known},
    {.name = "type", .compare = compare_type, .known = type_known},
};

double oc_order_key(const struct oc_order_column *c, const struct oc_row *row)
{
    if (c->number)
        return c->number(row);
    double v;
    memcpy(&v, (const char *)row + c->offset, sizeof(v));
    return v;
}

bool oc_order_known(const struct oc_order_column *c, const struct oc_row *row)
{
    return c->known ? c->known(row) : oc_num_known(oc_order_key(c, row));
}
