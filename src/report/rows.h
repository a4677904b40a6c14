/* The rows of every output: an operator, measured or not, with its costs. Filled from a static analysis, a
 * join, or a profile with its own figures (MegEngine); select.c filters, aggregates, sorts and truncates
 * them; the writers print them. NAN marks an unknown figure: it prints as N/A (or null), never 0. A nan
 * reported by a source is distinguished by its sign (oc_num_measured) and prints as nan.
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

/* The roofline of a row with its inputs; NAN: unknown. */
struct oc_row_limits {
    double comp_s, mem_s;
    double unit_s[OC_ROW_UNITS];                               /* enum oc_hw_unit */
    double level_s[OC_ROW_LEVELS], level_bytes[OC_ROW_LEVELS]; /* memory levels, nearest first */
};

struct oc_work;

enum oc_row_rates {
    OC_RATES_TIMED,   /* work over time; unknown where the clock counted no time */
    OC_RATES_UNKNOWN, /* the work is that of one run, the time that of an unknown number of runs */
    OC_RATES_LAUNCH,  /* the work was done on a device, the time is that of its launch on the host */
    OC_RATES_NATIVE   /* as MegEngine's tool: infinite where the clock counted no time */
};

struct oc_row {
    const char *const *info; /* values of the "operator info" cell: name, type, id (or type, count, id) */
    uint32_t n_info;
    const char *name, *type, *id; /* id as text */
    const char *source_type;      /* the profile's own type if it is another one; NULL otherwise */
    double id_number;             /* for --order-by opr_id, NAN if none */
    const char *const *in_dtype;  /* for --input-dtype */
    uint32_t n_in_dtype;
    double time_s, host_time_s;           /* device (or the source's own) and host; NAN: not recorded */
    double kern_time_s, host_kern_time_s; /* wait time until the kernel, NAN if unknown */
    double computation, memory;           /* FLOPs and bytes, NAN unknown */
    double int_ops;                       /* part of computation: operations on integers */
    uint8_t quality;                      /* enum oc_quality of the first two */
    uint8_t rates;                        /* enum oc_row_rates */
    uint8_t in_state, out_state;          /* enum oc_row_shapes_state */
    const struct oc_row_shape *in, *out;
    uint32_t n_in, n_out;
    uint64_t count; /* members, 1 unless aggregated */
    /* columns beyond those of MegEngine's tool; NAN or NULL when unknown */
    double macs, params, intensity, roofline_s, efficiency, calls, min_s, max_s, self_s;
    double energy_j;        /* measured, of the time; NAN: not measured */
    double share;           /* part of all samples, where the profile counts other events than time */
    double wasted_s;        /* time minus roofline time; negative: faster than the roofline */
    const char *above_roof; /* likely reason why it took less than its roofline time; NULL: it did not */
    bool roof_partial; /* the device file lacks a figure: roofline_s is only a lower bound of its roofline */
    const struct oc_row_limits *limits; /* never NULL: oc_no_limits when unknown */
    const struct oc_work *work;         /* work used for the roofline; NULL: no hardware, or a group */
    double overhead_s;                  /* of its launches */
    double what_if_s;                   /* estimate after all steps of what_if.h */
    const char *group;                  /* key of its group, NULL: no groups */
    const char *bound_by, *rule, *scope, *provider, *provenance; /* join rule */
    uint32_t node, record; /* index into the analysis' nodes and the profile's records, OC_NONE */
};

struct oc_rows {
    struct oc_arena *arena;
    struct oc_row *row;
    uint32_t n;
    const char *const *info_key; /* column names of `info`: "name", "type", "id" */
    uint32_t n_unordered;        /* of the rows before the cut: those without a value of --order-by */
};

extern const struct oc_row_limits oc_no_limits;

/* A row with all figures unknown. */
struct oc_row oc_row_blank(void);

static inline bool oc_num_known(double v)
{
    return !isnan(v) || signbit(v);
}
static inline double oc_num_measured(double v)
{
    return isnan(v) ? copysign(v, -1.0) : v;
}

/* A quotient of known numbers is known, even if it is nan or infinite. */
static inline double oc_num_ratio(double a, double b)
{
    return oc_num_known(a) && oc_num_known(b) ? oc_num_measured(a / b) : (double)NAN;
}
/* "At least 0" says nothing: the work is unknown. */
static inline void oc_row_drop_empty_bounds(struct oc_row *r)
{
    if (r->quality != OC_LOWER)
        return;
    r->computation = r->computation > 0 ? r->computation : (double)NAN;
    r->memory = r->memory > 0 ? r->memory : (double)NAN;
    r->intensity = r->computation > 0 && r->memory > 0 ? r->intensity : (double)NAN;
}
/* The quality of FLOPs per byte: where both are bounds, their quotient is none. */
static inline unsigned oc_row_ratio_quality(const struct oc_row *r)
{
    return r->quality == OC_LOWER || r->quality == OC_UPPER ? OC_EST : r->quality;
}
/* The time that work is compared with, for rates and efficiency. NAN: not known. */
static inline double oc_row_rate_time_s(const struct oc_row *r)
{
    return r->rates == OC_RATES_UNKNOWN || r->rates == OC_RATES_LAUNCH ? (double)NAN : r->time_s;
}

/* Every rate and efficiency of a row, in every output: an amount per second of oc_row_rate_time_s(). */
static inline double oc_row_rate(const struct oc_row *r, double amount)
{
    double s = oc_row_rate_time_s(r);
    return r->rates == OC_RATES_NATIVE || s > 0 ? oc_num_ratio(amount, s) : (double)NAN;
}
static inline double oc_row_flops(const struct oc_row *r)
{
    return oc_row_rate(r, r->computation);
}
/* FLOPs and integer operations per joule, both of the row's time */
static inline double oc_row_flop_per_j(const struct oc_row *r)
{
    return r->energy_j > 0 && r->rates != OC_RATES_UNKNOWN ? oc_num_ratio(r->computation, r->energy_j)
                                                           : (double)NAN;
}
static inline double oc_row_bandwidth(const struct oc_row *r)
{
    return oc_row_rate(r, r->memory);
}

#endif
