/* The difference of two reports. With models, a row is a set of matched nodes of each side: a pair of the
 * alignment, with all nodes that a runtime fused with either (diff_nodes.c); without a model, it is a row of each
 * recording, matched by name and shapes, or by work (diff_names.c). Counts are those of the nodes or of the recorded
 * shapes, times those of the records, so that both add up: over the rows, the sum of b less a is the difference of
 * the totals. Time that is attributed to no operator has rows under the name of its bucket. decompose.c says what the
 * change of the time consists of. */
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
    OC_ALIGN_WORK,      /* recorded rows with other names: the same type, and shapes or counts, in order */
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
                      OC_DIFF_FUSION = 128, /* some nodes of the row have a partner, others have none */
                      OC_DIFF_KERNELS = 256 /* the runtime ran other kernels or operators for the row */
};

/* What the time of a row is. */
enum oc_diff_kind {
    OC_DIFF_OPERATOR,
    OC_DIFF_INSERTED, /* by the runtime: layout, casts, reformat, no-op */
    OC_DIFF_HOST,     /* outside of operators, gaps */
    OC_DIFF_COPIES,
    OC_DIFF_COMMUNICATION,
    OC_DIFF_KIND_UNKNOWN /* no record has shown it yet */
};

enum { OC_DIFF_COUNTS = OC_DIFF_PARAMS + 1 };

/* One side of a row. A side without nodes has known counts of 0. */
struct oc_diff_cell {
    const uint32_t *node;
    uint32_t n_node;
    const char *shapes;               /* without a model: as recorded; "" otherwise */
    uint64_t count[OC_DIFF_COUNTS];   /* of the nodes with known costs */
    uint32_t unknown[OC_DIFF_COUNTS]; /* number of nodes, or of recorded rows, without the count */
    double time_ns, roof_ns;          /* mean over the recordings; NAN: unknown */
    uint32_t records;
    uint64_t operators, kernels; /* hashes of the sets of runtime operators and kernels; 0: none */
    const char *kernel;          /* the first of its kernels; NULL: none */
    uint32_t n_kernel;           /* how many */
    double *each_ns, *error_ns;  /* by recording: time and its standard error; NULL: rows have no verdicts */
};

struct oc_diff_row {
    uint8_t status;                            /* enum oc_diff_status */
    uint16_t change;                           /* bits of enum oc_diff_change */
    uint8_t rule;                              /* enum oc_align_rule of the first pair */
    uint8_t kind;                              /* enum oc_diff_kind */
    bool has_namesakes;                        /* other rows have its name, and other shapes */
    const char *name, *name_b, *type, *type_b; /* of the first (largest) node of a side; "" without one */
    const char *what;                          /* "strides 1,1 -> 2,2; out 1x64x56x56 -> 1x64x28x28", "" */
    const char
        *place; /* process or device, or "several devices", where the recordings have several; NULL: none */
    struct oc_diff_cell side[2];
    double ratio;    /* B / A with a verdict */
    uint8_t verdict; /* enum oc_verdict_of_comparison; OC_COMPARED_INCONCLUSIVE: none */
};

struct oc_diff_type { /* an operator type, or a bucket */
    const char *name;
    bool bucket;
    uint64_t nodes[2], count[2][OC_DIFF_COUNTS]; /* without a model: recorded rows */
    uint32_t unknown[2][OC_DIFF_COUNTS];
    double time_ns[2], roof_ns[2];
};

/* What a process does once before its runs; recordings of `record` have it. */
enum { OC_DIFF_SESSION, OC_DIFF_FIRST_RUN, OC_DIFF_STARTS };
struct oc_diff_start {
    double ns[2];           /* mean of a side, as in the ratio: of logarithms */
    struct oc_comparison c; /* ratio NAN: a recording has none */
    const char *text;       /* see oc_diff_start; NULL: a recording has none */
};

struct oc_diff_recording {
    struct oc_report_in in;
    struct oc_figures figures;
    uint32_t *row_of; /* by operator row of its report: row of the diff, OC_NONE: none */
};

/* ---- decomposition ------------------------------------------------------------------------------- */

enum oc_diff_cause {
    OC_CAUSE_ADDED,   /* work of rows that B alone has, or that has grown */
    OC_CAUSE_REMOVED, /* work of rows that A alone has, or that has shrunk */
    OC_CAUSE_SPEED,   /* same work at another speed */
    OC_CAUSE_KERNELS, /* other kernels for the same work */
    OC_CAUSE_HOST,    /* gaps and host */
    OC_CAUSE_COPIES,
    OC_CAUSE_COMMUNICATION,
    OC_CAUSE_OVERLAP, /* rows that ran side by side: they add up to more than the latency */
    OC_CAUSE_UNKNOWN, /* rows without a time on a side */
    OC_CAUSES
};
const char *oc_diff_cause_name(unsigned cause); /* "work added" */

struct oc_diff_part {
    uint8_t cause;     /* enum oc_diff_cause */
    const char *place; /* where the recordings have several: that of its rows; NULL: none */
    double delta_ns;
    uint32_t rows; /* rows with a share in it */
};

/* The parts add up to delta_ns, the change of the latency or, where the recordings have none, of the time. */
struct oc_decomposition {
    const char *missing; /* why there is none, as a sentence; NULL: there is one */
    uint8_t of;          /* OC_DIFF_LATENCY or OC_DIFF_TIME */
    double delta_ns;
    struct oc_diff_part *part; /* by cause, then in order of the rows; none of them is 0 */
    uint32_t n;
};

struct oc_diff {
    struct oc_arena arena;
    struct oc_report_in in[2];       /* of the first recording of each side */
    struct oc_diff_recording *of[2]; /* the recordings; one without a profile where there is none */
    size_t n_of[2];
    bool by_name;    /* no side has a model */
    bool has_places; /* rows name their process or device */
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
    struct oc_diff_start start[OC_DIFF_STARTS];
    struct oc_decomposition parts;
    struct oc_diff_info info;
};

/* Whether the metric is known on this side of the row. */
bool oc_diff_known(const struct oc_diff_row *r, unsigned side, unsigned metric);
/* Compares |b - a|, larger first, by the metrics in the order of enum oc_diff_metric. */
double oc_diff_delta(const struct oc_diff_row *r, unsigned metric); /* rounded; NAN: unknown */

/* Private to diff*.c and decompose.c. A builder fills d->row, d->n_row, the counts, what changed, and row_of of each
 * recording. */
void oc_diff_rows_of_nodes(struct oc_diff *d);
void oc_diff_rows_by_name(struct oc_diff *d);
double oc_diff_recorded_count(const struct oc_row *row, unsigned metric); /* NAN: unknown */
/* Names, status and changes of a row of nodes. */
void oc_diff_describe(struct oc_diff *d, struct oc_diff_row *r);
void oc_diff_types(struct oc_diff *d);
/* What the runtime ran for the rows: sets of names. */
struct oc_diff_ran {
    struct oc_diff *d;
    struct oc_map seen, names;
};
/* Adds a row of recording k to r, which is d->row[at]; at OC_NONE: a bucket. Sets its kind, operators and place. */
void oc_diff_add_ran(struct oc_diff_ran *x, unsigned s, size_t k, struct oc_diff_row *r, uint32_t at,
                     const struct oc_row *from);
/* Adds the kernels of all recordings, after their rows, and marks the rows that ran others. */
void oc_diff_add_kernels(struct oc_diff_ran *x);
/* Work of B for that of A: by FLOPs where both have some, else by bytes. NAN: not known. */
double oc_work_ratio(const double flops[2], const double bytes[2]);
/* Makes d->parts. OC_EFORMAT: the parts do not add up. */
int oc_diff_decompose(struct oc_diff *d, struct oc_err *err);

/* oc_diff_make, oc_diff_free ...: see onnxcost/gate.h. */

#endif
