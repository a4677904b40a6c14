/* The difference of two reports. A row is a set of matched nodes of each side: a pair of the alignment,
 * with all nodes that a runtime fused with either. Counts are those of the nodes, times those of the
 * records, so that both add up: over the rows, the sum of b less a is the difference of the totals. Time
 * that is attributed to no node has rows under the name of its bucket. */
#ifndef OC_DIFF_H
#define OC_DIFF_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/analysis.h"
#include "gate/limits.h"
#include "onnxcost.h"
#include "onnxcost/gate.h"
#include "report/comparison.h"

/* ---- align --------------------------------------------------------------------------------------- */

/* Alignment of two models: matches nodes by name where names were given by people, else by structure. */

enum oc_align_rule {
    OC_ALIGN_NONE,
    OC_ALIGN_SAME,      /* one model on both sides */
    OC_ALIGN_NAME,      /* the same name and type */
    OC_ALIGN_PLAIN,     /* the same but for punctuation and letter case */
    OC_ALIGN_OUTPUT,    /* the same name of the first output */
    OC_ALIGN_WEIGHT,    /* reads the constant of the same name */
    OC_ALIGN_STRUCTURE, /* type, attributes and shapes, in their order */
    OC_ALIGN_NEIGHBOUR, /* a neighbour of a matched node */
    OC_ALIGN_TYPE,      /* the type alone, in order, between two matched nodes */
    OC_ALIGN_KIN,       /* likewise, for variants of one type: Conv and FusedConv */
    OC_ALIGN_RULES
};
const char *oc_align_rule_name(unsigned rule); /* "name", "structure" ... */

struct oc_alignment {
    uint32_t *b_of_a, *a_of_b; /* by node: its partner, OC_NONE */
    uint8_t *rule;             /* by node of a: enum oc_align_rule */
    uint32_t *order[2];        /* the compared nodes in order: those with oc_node_counts, without
                                * Constants; with Constants if they are damaged */
    uint32_t n[2];
};

/* Runs in O(n log n) for n nodes. Result allocated in the arena. */
void oc_align(const struct oc_analysis *a, const struct oc_analysis *b, struct oc_arena *arena,
              struct oc_alignment *out);

/* A generated name of type and number ("Conv_12", "p2o.Conv.3", "", "17"): it carries no information,
 * because all later numbers change when a node is inserted. */
bool oc_name_is_made_up(const char *name, const char *op_type);

/* Whether two attributes are equal, except for the contents of tensors. */
bool oc_attr_same(const struct oc_attr *a, const struct oc_attr *b);

/* Whether the attribute of the node says what its absence says (diff_text.c). */
bool oc_attr_is_default(const struct oc_analysis *a, const struct oc_node *n, const struct oc_attr *t);

/* ---- lcs ----------------------------------------------------------------------------------------- */

/* Longest common subsequence of two sequences: near-linear time for similar sequences, never quadratic for
 * long ones. Exact for short sequences; for long ones the result is a common subsequence that may be
 * shorter than the longest. */

/* Called for every pair of positions with a[i] == b[j], each position at most once. The pairs are
 * order-preserving as a set, but calls may come in any order. */
typedef void (*oc_lcs_fn)(void *user, uint32_t i, uint32_t j);

void oc_lcs(const uint64_t *a, uint32_t n, const uint64_t *b, uint32_t m, oc_lcs_fn report, void *user);

/* Longest ascending subsequence: marks its members in `keep` (n bytes of 0 or 1). The values are distinct. */
void oc_ascending(const uint32_t *value, uint32_t n, uint8_t *keep);

/* ---- diff ---------------------------------------------------------------------------------------- */

enum oc_diff_status {
    OC_DIFF_SAME,
    OC_DIFF_RENAMED, /* equal except for the name */
    OC_DIFF_CHANGED,
    OC_DIFF_ADDED,
    OC_DIFF_REMOVED,
    OC_DIFF_BUCKET, /* time attributed to no node */
    OC_DIFF_STATUSES
};
const char *oc_diff_status_name(unsigned status);

enum oc_diff_change { /* what changed, as bits */
                      OC_DIFF_NAME = 1,
                      OC_DIFF_TYPE = 2,
                      OC_DIFF_ATTRS = 4,
                      OC_DIFF_INPUTS = 8, /* number of inputs and outputs */
                      OC_DIFF_SHAPES = 16,
                      OC_DIFF_DTYPES = 32,
                      OC_DIFF_COSTS = 64,
                      OC_DIFF_FUSION = 128 /* some nodes of the row have a partner, others have none */
};

enum { OC_DIFF_COUNTS = OC_DIFF_PARAMS + 1 };

/* One side of a row. A side without nodes has known counts of 0. */
struct oc_diff_cell {
    const uint32_t *node;
    uint32_t n_node;
    uint64_t count[OC_DIFF_COUNTS]; /* of the nodes with known costs */
    uint32_t n_unknown;             /* number of nodes without a cost: the counts except params are unknown */
    double time_ns, roof_ns;        /* mean over the recordings; NAN: unknown */
    uint32_t records;
    double *each_ns, *error_ns; /* by recording: time and its standard error; NULL: rows have no verdicts */
};

struct oc_diff_row {
    uint8_t status;                            /* enum oc_diff_status */
    uint8_t change;                            /* bits of enum oc_diff_change */
    uint8_t rule;                              /* enum oc_align_rule of the first pair */
    const char *name, *name_b, *type, *type_b; /* of the first (largest) node of a side; "" without one */
    const char *what;                          /* "strides 1,1 -> 2,2; out 1x64x56x56 -> 1x64x28x28", "" */
    struct oc_diff_cell side[2];
    double ratio;    /* B / A with a verdict */
    uint8_t verdict; /* enum oc_verdict_of_comparison; OC_COMPARED_INCONCLUSIVE: none */
};

struct oc_diff_type { /* an operator type, or a bucket */
    const char *name;
    bool bucket;
    uint64_t nodes[2], count[2][OC_DIFF_COUNTS];
    uint32_t n_unknown[2];
    double time_ns[2], roof_ns[2];
};

struct oc_diff_recording {
    struct oc_report_in in;
    struct oc_figures figures;
};

struct oc_diff {
    struct oc_arena arena;
    struct oc_report_in in[2];       /* of the first recording of each side */
    struct oc_diff_recording *of[2]; /* the recordings; one without a profile where there is none */
    size_t n_of[2];
    struct oc_alignment align;
    struct oc_diff_row *row;    /* position in the merged order of both sides */
    uint32_t n_row, n_operator; /* number of rows, and of rows before the buckets */
    struct oc_diff_row *beside; /* time outside the runs: excluded from the totals */
    uint32_t n_beside;
    struct oc_diff_type *type; /* largest difference first */
    uint32_t n_type;
    struct oc_diff_total total[OC_DIFF_METRICS];
    struct oc_comparison latency; /* of the recordings; ratio NAN: a side has none */
    const char *verdict, *note;   /* of `latency`; NULL: a side has none */
    bool has_verdicts;            /* rows have verdicts */
    struct oc_diff_info info;
};

/* Whether the metric is known on this side of the row. */
bool oc_diff_known(const struct oc_diff_row *r, unsigned side, unsigned metric);
/* Compares |b - a|, larger first, by the metrics in the order of enum oc_diff_metric. */
double oc_diff_delta(const struct oc_diff_row *r, unsigned metric); /* rounded; NAN: unknown */

/* private to diff*.c */
void oc_diff_describe(struct oc_diff *d, struct oc_diff_row *r);
void oc_diff_types(struct oc_diff *d);

/* oc_diff_make, oc_diff_free ...: see onnxcost/gate.h. */

#endif
