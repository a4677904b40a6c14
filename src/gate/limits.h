/* Limits for figures of a model, as they are written on the command line, in budget files and in baselines:
 * what is limited, for which operators, and how far it may go. Knows nothing of models. */
#ifndef OC_LIMITS_H
#define OC_LIMITS_H

#include "base/arena.h"

enum oc_gate_metric {
    OC_GATE_MACS,
    OC_GATE_FLOPS,
    OC_GATE_OPS,
    OC_GATE_PARAMS,
    OC_GATE_WEIGHT_BYTES, /* of all constants */
    OC_GATE_BYTES,        /* read and written */
    OC_GATE_PEAK,         /* activations in use at once */
    OC_GATE_MEMORY,       /* these and the constants */
    OC_GATE_NODES,        /* that are executed */
    OC_GATE_UNKNOWN,      /* of these: without a cost */
    OC_GATE_PRESENT,      /* nodes of a type, wherever they stand; always with a type */
    OC_GATE_OPSET,        /* version of the operator set "" */
    OC_GATE_LATENCY,
    OC_GATE_EFFICIENCY, /* time by the roofline / measured time */
    OC_GATE_METRICS
};

enum oc_gate_kind {
    OC_GATE_COUNT,
    OC_GATE_SIZE /* bytes */,
    OC_GATE_TIME /* ns */,
    OC_GATE_SHARE /* 1 is all */
};

struct oc_gate_info {
    const char *name;      /* "peak-memory" */
    const char *unit;      /* that may follow the number, NULL: none */
    uint8_t kind;          /* enum oc_gate_kind */
    bool parts;            /* can be asked of a type or module */
    bool least;            /* more is better: its limits are minima */
    bool baseline;         /* stands in baselines */
    const char *tolerance; /* of baselines, unless said otherwise: "10%" */
};
extern const struct oc_gate_info oc_gate_info[OC_GATE_METRICS];

/* OC_GATE_METRICS: there is none of that name. */
enum oc_gate_metric oc_gate_metric_of(const char *name, size_t n);
/* Fails with the valid names: of baselines, or of limits. Returns -1. */
int oc_gate_metric_fail(struct oc_err *err, const char *name, size_t n, bool of_baselines);

/* Whole numbers are kept exactly in n, times (ns) and shares in v. */
struct oc_gate_number {
    uint64_t n;
    double v;
};
static inline bool oc_gate_is_whole(enum oc_gate_metric m)
{
    return oc_gate_info[m].kind == OC_GATE_COUNT || oc_gate_info[m].kind == OC_GATE_SIZE;
}
/* "4.1G", "80 MiB", "12 ms", "30%". False: no such number. */
bool oc_gate_parse(enum oc_gate_metric m, const char *text, struct oc_gate_number *out);
const char *oc_gate_example(enum oc_gate_metric m); /* "4.1G" */
/* "4,100,000,000", "83,886,080 B (80.00 MiB)", "12.0 ms", "30 %" */
const char *oc_gate_text(struct oc_arena *a, enum oc_gate_metric m, struct oc_gate_number n);

/* How far a figure may move from a baseline's: a share ("5%"), or an amount ("2 ms", "1000"). */
struct oc_tolerance {
    bool share;
    uint64_t ppb; /* share, in billionths: exact for up to seven digits of a per cent */
    struct oc_gate_number amount;
    const char *text; /* borrowed */
};
bool oc_tolerance_parse(enum oc_gate_metric m, const char *text, struct oc_tolerance *out);
/* The limit for a figure that was `base`: more than that, or less where more is better. */
struct oc_gate_number oc_tolerance_limit(enum oc_gate_metric m, struct oc_gate_number base,
                                         const struct oc_tolerance *t);

struct oc_limit {
    uint8_t metric; /* enum oc_gate_metric */
    const char
        *type; /* operator type, '*' stands for anything, maybe with its domain before ':'; NULL: all */
    const char *module; /* beginning of names, up to a '/' or '.'; NULL: all */
    struct oc_gate_number at;
    const char *text; /* of the limit as it was written */
    const char *file; /* NULL: the command line */
    uint32_t line;
    const struct oc_tolerance *tolerance; /* of a baseline, else NULL; `base` is what that says */
    struct oc_gate_number base;
};

struct oc_budget {
    struct oc_arena arena;
    struct oc_limit *limit; /* heap */
    size_t n, cap;
};

/* Adds one; texts must live in the budget's arena. */
void oc_budget_add(struct oc_budget *b, const struct oc_limit *limit);

/* Files of limits and baselines; their layouts are in hwdb/budget/. The name is for messages. On failure
 * nothing is added. See oc_budget_read and oc_baseline_read in onnxcost.h. */
int oc_budget_read_mem(struct oc_budget *b, const char *name, const void *data, size_t n, struct oc_err *err);
int oc_baseline_read_mem(struct oc_budget *b, const char *name, const void *data, size_t n,
                         const char *const *tolerance, size_t n_tolerance, struct oc_err *err);

/* "macs", "macs of type Conv in layer1", "type Loop" */
const char *oc_limit_title(struct oc_arena *a, const struct oc_limit *l);

/* Does the pattern of a limit ("Conv", "com.microsoft:*") name the operator? */
bool oc_type_matches(const char *pattern, const char *domain, const char *op_type);
/* "layer1" and "/layer1/" have "/layer1/conv" and "layer1.conv" in them, and not "layer10". */
bool oc_module_has(const char *module, const char *name);

#endif
