/* Limits on the values of a model, as written on the command line, in budget files and in baselines:
 * metric, selection of operators, bound. Independent of models. */
#ifndef OC_LIMITS_H
#define OC_LIMITS_H

#include "base/arena.h"
#include "onnxcost/gate.h"
#include "onnxcost/report.h"
#include "report/report.h"
#include "report/comparison.h"

enum oc_gate_metric {
    OC_GATE_MACS,
    OC_GATE_FLOPS,
    OC_GATE_OPS,
    OC_GATE_PARAMS,
    OC_GATE_WEIGHT_BYTES, /* bytes of all constants */
    OC_GATE_BYTES,        /* bytes read and written */
    OC_GATE_PEAK,         /* peak activation memory */
    OC_GATE_MEMORY,       /* peak activation memory plus constants */
    OC_GATE_NODES,        /* executed nodes */
    OC_GATE_UNKNOWN,      /* executed nodes without a cost */
    OC_GATE_PRESENT,      /* nodes of a type in any graph; always with a type */
    OC_GATE_OPSET,        /* version of the operator set "" */
    OC_GATE_LATENCY,
    OC_GATE_EFFICIENCY, /* roofline time / measured time */
    OC_GATE_METRICS
};

enum oc_gate_kind {
    OC_GATE_COUNT,
    OC_GATE_SIZE /* bytes */,
    OC_GATE_TIME /* ns */,
    OC_GATE_SHARE /* 1 is 100 % */
};

struct oc_gate_info {
    const char *name;      /* "peak-memory" */
    const char *unit;      /* unit that may follow the number, NULL: none */
    uint8_t kind;          /* enum oc_gate_kind */
    bool parts;            /* can be limited per type or module */
    bool least;            /* larger is better: limits are minima */
    bool baseline;         /* part of baselines */
    const char *tolerance; /* default tolerance of baselines: "10%" */
};
extern const struct oc_gate_info oc_gate_info[OC_GATE_METRICS];

/* OC_GATE_METRICS: unknown name. */
enum oc_gate_metric oc_gate_metric_of(const char *name, size_t n);

/* Integers are stored exactly in n, times (ns) and shares in v. */
struct oc_gate_number {
    uint64_t n;
    double v;
};
static inline bool oc_gate_is_whole(enum oc_gate_metric m)
{
    return oc_gate_info[m].kind == OC_GATE_COUNT || oc_gate_info[m].kind == OC_GATE_SIZE;
}
/* "4.1G", "80 MiB", "12 ms", "30%". False: no valid number. */
bool oc_gate_parse(enum oc_gate_metric m, const char *text, struct oc_gate_number *out);
/* "4,100,000,000", "83,886,080 B (80.00 MiB)", "12.0 ms", "30 %" */
const char *oc_gate_text(struct oc_arena *a, enum oc_gate_metric m, struct oc_gate_number n);

/* Allowed change from a baseline: a share ("5%"), or an amount ("2 ms", "1000"). */
struct oc_tolerance {
    bool share;
    uint64_t ppb; /* share in units of 1e-9: exact for up to seven digits of a percentage */
    struct oc_gate_number amount;
    const char *text; /* not owned */
};
bool oc_tolerance_parse(enum oc_gate_metric m, const char *text, struct oc_tolerance *out);
/* The limit derived from a baseline value: a maximum, or a minimum if larger is better. */
struct oc_gate_number oc_tolerance_limit(enum oc_gate_metric m, struct oc_gate_number base,
                                         const struct oc_tolerance *t);

struct oc_limit {
    uint8_t metric; /* enum oc_gate_metric */
    const char
        *type; /* operator type with '*' as wildcard, optionally with its domain before ':'; NULL: all */
    const char *module; /* name prefix, up to a '/' or '.'; NULL: all */
    struct oc_gate_number at;
    const char *text; /* line of the limit in its file */
    const char *file; /* NULL: the command line */
    uint32_t line;
    const struct oc_tolerance *tolerance; /* of a baseline, otherwise NULL; `base` is the baseline value */
    struct oc_gate_number base;
    struct oc_recorded recorded; /* of a baseline's latency that was measured; latency_ns 0: none */
};

struct oc_budget {
    struct oc_arena arena;
    struct oc_limit *limit; /* on the heap */
    size_t n, cap;
};

/* Files of limits and baselines; hwdb/budget/ has the schema. The name is used in messages. On failure
 * nothing is added. See oc_budget_read and oc_baseline_read in onnxcost/gate.h. */
int oc_budget_read_mem(struct oc_budget *b, const char *name, const void *data, size_t n, struct oc_err *err);
int oc_baseline_read_mem(struct oc_budget *b, const char *name, const void *data, size_t n,
                         const char *const *tolerance, size_t n_tolerance, struct oc_err *err);

/* "macs", "macs of type Conv in layer1", "type Loop" */
const char *oc_limit_title(struct oc_arena *a, const struct oc_limit *l);

/* Whether the pattern of a limit ("Conv", "com.microsoft:*") matches the operator. */
bool oc_type_matches(const char *pattern, const char *domain, const char *op_type);
/* "layer1" and "/layer1/" contain "/layer1/conv" and "layer1.conv", but not "layer10". */
bool oc_module_has(const char *module, const char *name);

/* ---- figures ------------------------------------------------------------------------------------- */

/* The values of a report that limits are compared with. A value is an interval: a lower bound, and an
 * upper bound if known. Both are equal for exact values. */

struct oc_bounds;
struct oc_estimate;

struct oc_figure_span {
    struct oc_gate_number lo, hi;
    bool bounded;                /* hi is valid; otherwise there is no upper bound */
    bool exact;                  /* lo == hi */
    const char *from;            /* "measured", "estimated, 80 % interval" ...; NULL: counted */
    struct oc_recorded recorded; /* of a measured latency; latency_ns 0: none */
    const char *why;             /* reason if not exact; NULL */
    uint32_t *node;              /* nodes to report: the largest one, or every violation; on the heap */
    uint32_t n_node, cap_node;
    uint32_t all_node; /* number of nodes: at most OC_FIGURE_NODES are listed */
    const char *at;    /* over ranges: the sizes with the largest figure; NULL */
    const char *name;  /* name of the first node, or of a profile record; NULL */
};
#define OC_FIGURE_NODES 1000

struct oc_figures {
    const struct oc_report_in *in;
    const struct oc_estimate *estimate; /* NULL: none */
    const struct oc_bounds *bounds;     /* over ranges of dimensions; NULL: single sizes */
    struct oc_report report;            /* rows of the report, for times */
    struct oc_report_opts opts;
};

/* in: with an analysis, and a join if there is a profile. All must outlive the figures, which must stay at
 * one address. cache: rooflines as in struct oc_report_opts. */
void oc_figures_make(struct oc_figures *f, const struct oc_report_in *in, const struct oc_estimate *estimate,
                     bool cache);
void oc_figures_free(struct oc_figures *f);

/* Computes one value over the operators selected by type and module name (NULL: all). Texts are allocated
 * in the report's arena; the caller frees out->node. */
void oc_figure(struct oc_figures *f, enum oc_gate_metric m, const char *type, const char *module,
               struct oc_figure_span *out);
/* Whether an operator of the model or a row of the profile has the type and module (NULL: any). */
bool oc_figures_has(const struct oc_figures *f, const char *type, const char *module);

/* Whether the node counts in totals: its graph runs and its branch is taken. */
bool oc_node_counts(const struct oc_analysis *a, uint32_t node);

/* Whether the node is executed, has a cost, may have a cost; undefined for folded nodes. */
bool oc_node_has_work(const struct oc_node_cost *k);

/* ---- check --------------------------------------------------------------------------------------- */

/* The check of a report: the value and verdict of every limit, with a one-line reason. */

struct oc_limit_verdict {
    const struct oc_limit *limit;
    struct oc_figure_span span;
    enum oc_check_result result;
    struct oc_gate_number excess;    /* OC_CHECK_FAILED: excess over the limit */
    struct oc_comparison comparison; /* of a measured latency with the baseline's; n 0: none */
    const char *title;               /* "macs of type Conv" */
    const char *value, *bound;       /* of the value; "at most 4.1G" */
    const char *reason;              /* one line, set for every result */
};

struct oc_check {
    struct oc_arena arena;
    struct oc_figures figures;
    const struct oc_report_in *in; /* copy of the caller's */
    struct oc_limit_verdict *verdict;
    size_t n;
    struct oc_check_counts counts;
};

/* oc_check_make, oc_check_free: see onnxcost/gate.h. */

#endif
