/* The one set of rows behind every output: an operator, measured or not, with its costs. Filled from a static
 * analysis, a join, or a profile that carries its own figures (MegEngine); select.c filters, aggregates,
 * sorts and cuts it; the writers print it. NAN marks a number that is not known: it prints as N/A (or null),
 * never 0. A nan that a source really reports is kept apart by its sign (oc_num_measured) and prints as nan.
 */
#ifndef OC_ROWS_H
#define OC_ROWS_H

#include <math.h>

#include "base/arena.h"

struct oc_row_shape {
    const char *text;    /* "{1,3,224,224}" */
    const char *strides; /* "-[3,2,1]" or NULL */
    const int64_t *dim;  /* for --order-by in_shapes; NULL: not sortable */
    uint32_t rank;
};

enum oc_row_shapes_state { OC_SHAPES_NA, OC_SHAPES_NONE /* aggregated */, OC_SHAPES_KNOWN };

enum { OC_ROW_UNITS = 3, OC_ROW_LEVELS = 6 };

/* What the hardware allows, with all that goes into it; NAN: not known. */
struct oc_row_limits {
    double comp_s, mem_s;
    double unit_s[OC_ROW_UNITS];                               /* enum oc_hw_unit */
    double level_s[OC_ROW_LEVELS], level_bytes[OC_ROW_LEVELS]; /* memory levels, nearest first */
};

struct oc_work;

struct oc_row {
    const char *const *info; /* values of the "operator info" cell: name, type, id (or type, count, id) */
    uint32_t n_info;
    const char *name, *type, *id; /* id as text */
    double id_number;             /* for --order-by opr_id, NAN if none */
    const char *const *in_dtype;  /* for --input-dtype */
    uint32_t n_in_dtype;
    double time_s, host_time_s;           /* device (or the source's own) and host; NAN: no such time */
    double kern_time_s, host_kern_time_s; /* wait time until the kernel, NAN if unknown */
    double computation, memory;           /* FLO and bytes, NAN unknown */
    uint8_t quality;                      /* enum oc_quality of the two */
    uint8_t in_state, out_state;          /* enum oc_row_shapes_state */
    const struct oc_row_shape *in, *out;
    uint32_t n_in, n_out;
    uint64_t count; /* members, 1 unless aggregated */
    /* the columns that MegEngine's tool does not have; NAN or NULL when not known */
    double macs, params, intensity, roofline_s, efficiency, calls, min_s, max_s, self_s;
    double wasted_s;        /* time less the time of the roofline; less than 0: faster than that */
    const char *above_roof; /* likely reason why it took less than its roofline; NULL: it did not */
    const struct oc_row_limits *limits; /* never NULL: oc_no_limits when nothing is known */
    const struct oc_work *work;         /* what it was held against; NULL: no hardware, or a group */
    double overhead_s;                  /* of its launches */
    double what_if_s;                   /* estimate after all steps of what_if.h */
    const char *group;                  /* key of its group, NULL: groups are not wanted */
    const char *bound_by, *rule, *scope, *provider, *provenance; /* rule: how it was joined */
    uint32_t node, record; /* index into the analysis' nodes and the profile's records, OC_NONE */
};

struct oc_rows {
    struct oc_arena *arena;
    struct oc_row *row;
    uint32_t n;
    const char *const *info_key; /* what the values of `info` are: "name", "type", "id" */
};

extern const struct oc_row_limits oc_no_limits;

/* A row of which nothing is known. */
struct oc_row oc_row_blank(void);

static inline bool oc_num_known(double v)
{
    return !isnan(v) || signbit(v);
}
static inline double oc_num_measured(double v)
{
    return isnan(v) ? copysign(v, -1.0) : v;
}

/* A quotient of known numbers is known, even where it is nan or infinite. */
static inline double oc_num_ratio(double a, double b)
{
    return oc_num_known(a) && oc_num_known(b) ? oc_num_measured(a / b) : (double)NAN;
}
static inline double oc_row_flops(const struct oc_row *r)
{
    return oc_num_ratio(r->computation, r->time_s);
}
static inline double oc_row_bandwidth(const struct oc_row *r)
{
    return oc_num_ratio(r->memory, r->time_s);
}

#endif
