/* Operator lists of execution providers (hwdb/providers/), what a provider takes of a model by its list, and
 * the assignment of nodes to providers in order of priority. The public interface is onnxcost/providers.h. */
#ifndef OC_PROVIDER_H
#define OC_PROVIDER_H

#include "analyze/analysis.h"
#include "base/map.h"
#include "join/join.h"
#include "onnxcost/providers.h"

#define OC_PROVIDER_MAX_FILE_BYTES (4u << 20)
#define OC_PROVIDER_MAX            32 /* lists that are open at once */
#define OC_PROVIDER_MAX_IO         32

/* A set of types: bit of enum oc_dtype for tensors, bit + 32 for sequences of tensors. */
typedef uint64_t oc_type_set;
#define OC_ANY_TYPE   UINT64_MAX
#define OC_OTHER_TYPE ((oc_type_set)1 << 63) /* optional values, maps: not distinguished */

/* One condition of a row: members that are set must all hold. */
struct oc_provider_need {
    const char *attr;           /* the attribute that value, not, absent and symmetric are about */
    const char *fallback;       /* its value where the node does not give one; NULL: the condition holds */
    const char *value, *except; /* words: every value is one of them, none is */
    const char *rank;           /* numbers: the rank of the input is one of them */
    const char *unknown;        /* where the condition does not hold, this decides, which is not known */
    oc_type_set types;          /* of the input; 0: any */
    int32_t input;              /* -1: none */
    uint32_t outputs;           /* the node uses at most so many; 0: any number */
    bool constant, absent;      /* of the input if it is present */
    bool symmetric;             /* first and second half of the list are equal */
    bool has_min, has_max, has_without, has_only; /* of the elements of a constant input */
    int64_t min, max, without, only;
};

struct oc_provider_row {
    const char *domain, *name;
    int32_t since, until;                                        /* opsets of a model; until 0: open */
    oc_type_set in[OC_PROVIDER_MAX_IO], out[OC_PROVIDER_MAX_IO]; /* the last one repeats */
    uint32_t n_in, n_out;
    uint32_t host_in, host_out; /* bits of inputs and outputs in host memory */
    struct oc_provider_need *need;
    uint32_t n_need;
    uint32_t next; /* another row of this operator, OC_NONE */
};

struct oc_provider {
    struct oc_provider_info info;
    int32_t since, until;  /* opsets that the list covers; until 0: open */
    const char *memory;    /* where its tensors are; providers with the same word share it */
    const char *quantized; /* reason why operators without quantization are not decided; NULL: they are */
    oc_type_set maybe;     /* types of which the list says that they are supported in part */
    unsigned cast_from, cast_to; /* types: a node of the first runs in the second one; 0: none */
    bool groups;                 /* compiles groups of nodes, otherwise has a kernel for each */
    bool bodies;                 /* takes nodes in bodies of control flow */
    bool fixed_shapes;           /* needs shapes without open sizes */
    bool host;                   /* leaves computations on host memory to the CPU */
    struct oc_provider_row *row; /* heap */
    uint32_t n_row, cap_row;
    struct oc_map by_name; /* "domain:name" to the first row */
};

struct oc_providers {
    struct oc_arena arena;
    struct oc_provider *list[OC_PROVIDER_MAX];
    size_t n;
};

/* Parses the text of a list; name: for messages. 0, or -1 with *err filled. */
int oc_provider_read_mem(const char *name, const void *data, size_t n, struct oc_arena *arena,
                         struct oc_provider **out, struct oc_err *err);
void oc_provider_free(struct oc_provider *p); /* what is on the heap */

/* Every list of the folder, sorted by id. */
int oc_providers_open_all(struct oc_providers **out, struct oc_err *err);

/* ---- decision --------------------------------------------------------------------------------------- */

enum oc_takes { OC_TAKES_NO, OC_TAKES_MAYBE, OC_TAKES_YES };

struct oc_provider_verdict {
    uint8_t takes;      /* enum oc_takes */
    bool casts;         /* the node runs in another type, between casts */
    const char *reason; /* why not, or what is not decided; arena or static. NULL: it is taken */
    const struct oc_provider_row *row; /* of the node's opset; NULL: none */
};

/* Whether the provider takes the node by its list. file: the model with the sizes that the file has. */
struct oc_provider_verdict oc_provider_takes(const struct oc_provider *p, const struct oc_analysis *a,
                                             const struct oc_analysis *file, uint32_t node,
                                             struct oc_arena *arena);

/* ---- assignment ------------------------------------------------------------------------------------- */

enum { OC_NO_PROVIDER = 255 };

struct oc_assigned {
    /* Index of the provider if every undecided condition holds, and if none does; OC_NO_PROVIDER: none takes
     * the node. */
    uint8_t best, worst;
    bool runs;     /* not constant, in a branch that is taken, no call of a function */
    bool casts;    /* of `best` */
    uint8_t first; /* first provider in order that is not sure to take it, OC_NO_PROVIDER: all before do */
    const char *reason; /* of `first` */
    uint32_t group;     /* of `best`: number of its partition */
};

struct oc_transfer { /* tensors that cross from the memory of one provider to that of another */
    uint8_t from, to;
    uint32_t tensors;
    uint64_t bytes;
    uint32_t unknown; /* tensors of unknown size */
};

struct oc_assignment_side {              /* figures of the best, of the worst case */
    uint32_t nodes[OC_PROVIDER_MAX + 1]; /* by provider, the last: none */
    uint32_t partitions[OC_PROVIDER_MAX];
    uint64_t macs[OC_PROVIDER_MAX + 1];
    uint32_t unknown[OC_PROVIDER_MAX + 1]; /* nodes whose MACs are unknown */
    struct oc_transfer transfer[OC_PROVIDER_MAX * OC_PROVIDER_MAX];
    uint32_t n_transfer;
};

struct oc_assignment {
    struct oc_arena arena;
    const struct oc_providers *providers;
    const struct oc_analysis *analysis, *file;
    struct oc_assigned *node; /* by node of the model */
    uint32_t n_runs, n_constant;
    struct oc_assignment_side best, worst;
};

/* file: an analysis without given or assumed sizes: what is constant in it is constant when the runtime loads
 * the model. NULL: `a`. */
void oc_assign(const struct oc_providers *providers, const struct oc_analysis *a,
               const struct oc_analysis *file, struct oc_assignment *out);
void oc_assignment_free(struct oc_assignment *x);

/* ---- fallbacks -------------------------------------------------------------------------------------- */

/* What falls back, by operator and reason, and how far a profile that names providers agrees. */

struct oc_fallback {     /* nodes of one operator type with one reason */
    uint8_t from;        /* the provider that does not take them, or is not sure to */
    uint8_t best, worst; /* where they run instead */
    const char *domain, *op_type, *reason;
    uint32_t nodes, unknown; /* unknown: nodes whose MACs are unknown */
    uint64_t macs;
};

enum oc_agreement { OC_AGREE_NOT_MEASURED, OC_AGREES, OC_AGREES_IF, OC_DIFFERS, OC_AGREE_COUNT };
const char *oc_agreement_name(unsigned agreement); /* "agrees" */

struct oc_fallbacks {
    struct oc_fallback *item; /* heap; most nodes first */
    uint32_t n, cap;
    const char **measured; /* by node: name of the provider in the profile, NULL: none */
    uint8_t *agrees;       /* by node: enum oc_agreement */
    uint32_t count[OC_AGREE_COUNT];
};

/* join NULL: no profile. The assignment must outlive the result. */
void oc_fallbacks_make(struct oc_assignment *x, const struct oc_join *join, struct oc_fallbacks *out);
void oc_fallbacks_free(struct oc_fallbacks *f);

#endif
