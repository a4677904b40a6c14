/* Cost of a record from the shapes in the profile, without a model. Sets only what those shapes determine:
 * ONNX Runtime does not record pre-packed weights and attributes, and counts that depend on them are
 * unknown, never guessed. The counts use the same rules as models. */
#ifndef OC_RECORD_COST_H
#define OC_RECORD_COST_H

#include "base/json_read.h"
#include "ops/op.h"
#include "profile/profile.h"

struct oc_record_cost {
    uint64_t macs, flops, ops; /* flops: float classes, 2 per MAC; ops: integer and boolean classes */
    uint64_t rd, wr;           /* bytes of the recorded inputs and outputs */
    bool bytes_known;          /* all inputs are recorded */
    uint8_t quality;           /* enum oc_quality; OC_UNKNOWN: the counts are not valid */
    const char *note;          /* reason; NULL when exact */
};

/* Cost of one call of the record. Scratch memory and texts are allocated in the arena; formulas: compiled in it for
 * earlier records, NULL: each record compiles its own. */
void oc_record_cost(const struct oc_profile *p, const struct oc_prof_rec *r, struct oc_arena *a,
                    struct oc_formula_cache *formulas, struct oc_record_cost *out);

/* Adds the counts of the operator's rule, with default attributes, for the types in the record; an unknown
 * count sets the quality. */
void oc_record_rule_cost(const struct oc_prof_rec *r, struct oc_arena *a, struct oc_record_cost *out);

/* ---- aten cost ---------------------------------------------------------------------------------------- */

/* Cost of PyTorch's operators (records "aten::mm") from the shapes, types and values that its profiler
 * records with record_shapes=True, without a model. */

/* Whether the record is an operator of PyTorch or of an extension: its type has a namespace ("aten::"). */
bool oc_aten_is(const struct oc_prof_rec *r);

/* As oc_record_cost. Work is counted at the record; operators that run inside it have no records. */
void oc_aten_cost(const struct oc_prof_rec *r, struct oc_arena *a, struct oc_record_cost *out);

/* ---- aten parts ---------------------------------------------------------------------------------------- */

/* Private to the cost of PyTorch's operators: aten_cost.c has the table of operators and those that move or
 * map elements, oc_aten_products.c matrix products, convolutions and attention. */

enum { ATEN_VALUES = 32, ATEN_POSITIONS = 7 };

struct aten_work;

/* Arguments are counted as in the operator's schema (native_functions.yaml), as in "Input Dims". */
struct aten_row {
    const char *name; /* without "aten::" and without the "_" of in-place variants */
    void (*count)(struct aten_work *w);
    int8_t at[ATEN_POSITIONS]; /* positions of arguments, by meaning (see the functions); -1: none */
    uint8_t n_at;              /* further ones: none */
    uint8_t flags;
    const char *onnx; /* operator whose rule counts one element-wise execution */
};

enum aten_flag {
    ATEN_TRANSPOSED = 1, /* B is N x K; a transposed convolution */
    ATEN_BACKWARD = 2,
    ATEN_HEADS_LAST =
        4, /* attention on [batch, sequence, heads, size] instead of [.., heads, sequence, size] */
    ATEN_ENDS_ALIGN = 8,  /* causal: the last query sees the last key; otherwise the first sees the first */
    ATEN_BOOL = 16,       /* the output is boolean */
    ATEN_OTHER_TYPE = 64, /* the type of the output is not that of the operands, and not recorded */
    ATEN_OPTIONAL = 32,   /* operands after the first may be absent; otherwise they are scalars */
};

struct aten_work {
    const struct oc_prof_rec *r;
    const struct aten_row *row;
    struct oc_arena *a;
    struct oc_record_cost *out;
    struct oc_str value[ATEN_VALUES]; /* recorded values; n == 0: a tensor or None */
    unsigned n_value;                 /* 0: not recorded */
    bool overflow;
};

/* The tensor at a position, NULL: it is none, or its shape is not recorded. */
const struct oc_type *oc_aten_tensor(const struct aten_work *w, int at);
/* Position of the argument with the i-th meaning, -1: none; the tensor there. */
int oc_aten_at(const struct aten_work *w, unsigned i);
const struct oc_type *oc_aten_arg(const struct aten_work *w, unsigned i);
/* A size counted from the front, or with a negative index from the back. */
uint64_t oc_aten_size(const struct oc_type *t, int dim);
/* Product of the sizes from..to. */
uint64_t oc_aten_span(struct aten_work *w, const struct oc_type *t, unsigned from, unsigned to);
uint64_t oc_aten_elements(struct aten_work *w, const struct oc_type *t);
uint64_t oc_aten_mul(struct aten_work *w, uint64_t a, uint64_t b);

/* A recorded list of integers ("[2, 2]", "1"), at most `max`. False: not recorded, or something else. */
bool oc_aten_ints(const struct aten_work *w, int at, int64_t *v, unsigned max, unsigned *n);
/* A recorded "True" or "False": 1 or 0; -1: not recorded. `item`: index in a list of them. */
int oc_aten_bool(const struct aten_work *w, int at, unsigned item);

void oc_aten_unknown(struct aten_work *w, const char *why);
/* Less than exact. */
void oc_aten_qualify(struct aten_work *w, enum oc_quality quality, const char *why);
void oc_aten_read(struct aten_work *w, const struct oc_type *t); /* NULL: nothing */
void oc_aten_write(struct aten_work *w, const struct oc_type *like,
                   uint64_t elements); /* of the type of `like` */
/* `type`: of the operands. */
void oc_aten_products(struct aten_work *w, const struct oc_type *type, uint64_t macs, uint64_t adds);

/* oc_aten_products.c */
void oc_aten_matmul(struct aten_work *w);        /* at: A, B, bias */
void oc_aten_conv(struct aten_work *w);          /* at: X, W, bias, stride, padding, dilation, transposed */
void oc_aten_conv_backward(struct aten_work *w); /* at: grad of Y, X, W, output mask, transposed */
void oc_aten_pool(struct aten_work *w); /* at: X, window, its rank, stride, padding, dilation, ceil_mode */
void oc_aten_attention(struct aten_work *w); /* at: Q, K, V, is_causal, cumulative lengths, longest key,
                                           * grad of the output */

#endif
