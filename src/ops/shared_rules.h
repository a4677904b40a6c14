/* Rules that families share, and arithmetic of fold rules; those of all operators are in op.h. */
#ifndef OC_SHARED_RULES_H
#define OC_SHARED_RULES_H

#include "lang/expr.h"
#include "ops/op.h"
#include "shape/type.h"

/* ---- rearranged data ---------------------------------------------------------------------------------- */

/* Helpers of the operators that rearrange data: lists of partly unknown integers, axes, and strided copies of
 * small values. */

/* A list of integers given as an attribute or an input: its elements may be OC_E_UNKNOWN. */
struct oc_list {
    const struct oc_elem *e;
    uint32_t n;
    bool present; /* the attribute or the input is present */
    bool sized;   /* n is known, e has n elements */
};

/* attr may be NULL: input only. The attribute takes precedence. */
struct oc_list oc_list_of(struct oc_op_ctx *c, const char *attr, unsigned slot);
bool oc_list_known(const struct oc_list *l); /* n is known, and every element is a known integer */

/* Axes of a known list normalised to [0, rank), at most OC_MAX_RANK of them, without duplicates. 0; or -1
 * through oc_op_fail. */
int oc_list_axes(struct oc_op_ctx *c, const struct oc_list *l, unsigned rank, unsigned *axis);

/* The axis attribute in [0, rank). 0, or -1 through oc_op_fail. */
int oc_attr_axis(struct oc_op_ctx *c, int64_t otherwise, unsigned rank, unsigned *axis);

/* The element as a dim: a known size or expression; otherwise a fresh unknown of that output axis. */
struct oc_dim oc_elem_to_dim(struct oc_op_ctx *c, const struct oc_elem *e, unsigned axis, int64_t max);
struct oc_dim oc_fresh_axis(struct oc_op_ctx *c, unsigned axis, int64_t max);
struct oc_shape oc_fresh_shape(struct oc_op_ctx *c, unsigned rank); /* sets only the rank */

/* The smaller of an upper bound and the size (-1: none). */
int64_t oc_bound(struct oc_op_ctx *c, struct oc_dim d);

/* Output index i of an axis reads ((start + i*step) mod wrap) * stride. */
struct oc_walk {
    unsigned rank;
    int64_t size[OC_MAX_RANK], start[OC_MAX_RANK], step[OC_MAX_RANK], wrap[OC_MAX_RANK], stride[OC_MAX_RANK];
};
/* A walk that copies a tensor of known shape unchanged; false if the shape is unknown or above OC_MAX_DATA.
 */
bool oc_walk_of(const struct oc_shape *s, struct oc_walk *w);
/* Sets the value of an output: the walk over `d`. Does nothing above OC_MAX_DATA or outside of d. */
void oc_walk_data(struct oc_op_ctx *c, unsigned out_slot, const struct oc_data *d, const struct oc_walk *w);

/* Bytes of `elements` of the input's type, for partial reads. */
uint64_t oc_c_part(struct oc_op_ctx *c, unsigned slot, uint64_t elements);

/* Text of a shape or an input's shape, for messages. */
const char *oc_text_of(struct oc_op_ctx *c, const struct oc_shape *s);

/* ---- windows ------------------------------------------------------------------------------------------ */

/* Window attributes of convolutions and pools: kernel_shape, strides, pads, dilations, auto_pad, ceil_mode;
 * one struct oc_window per axis. */

struct oc_windows {
    unsigned n; /* spatial axes */
    struct oc_window axis[OC_MAX_RANK];
};

/* Reads the attributes for n axes. `kernel`: the kernel sizes to use when the attribute is absent, NULL: the
 * attribute is required. Returns 0, or -1 after an error. */
int oc_windows_read(struct oc_op_ctx *c, unsigned n, const struct oc_dim *kernel, struct oc_windows *w);

/* Output size along axis i (index among the spatial axes); -1 after an error when the window does not fit. */
int oc_windows_out(struct oc_op_ctx *c, const struct oc_windows *w, unsigned i, struct oc_dim in,
                   struct oc_dim *out);

/* Taps of all windows: product over the axes of out * kernel, or with `taps_valid` of those inside the input.
 * in, out: the first spatial dims. */
uint64_t oc_windows_taps(struct oc_op_ctx *c, const struct oc_windows *w, const struct oc_dim *in,
                         const struct oc_dim *out);

/* ---- matrix products ---------------------------------------------------------------------------------- */

/* Matrix products: shared by MatMul, Gemm, and their quantized and fused forms. */

/* Result shape of numpy's matmul for two shapes, and the length of the contracted axis. Returns 0, or -1
 * after an error. An operand of unknown rank gives an unranked result. */
int oc_matmul_shape(struct oc_op_ctx *c, const struct oc_shape *a, const struct oc_shape *b,
                    struct oc_shape *out, struct oc_dim *depth);

/* Merges dims that must be equal: returns the known one. Returns 0, or -1 when both are known and differ. */
int oc_unify(struct oc_op_ctx *c, struct oc_dim a, struct oc_dim b, const char *what, struct oc_dim *out);

/* ---- normalisations ----------------------------------------------------------------------------------- */

/* Histograms of normalisations (cost-semantics 4.3, 4.4), for the standard and the fused operators.
 * n: elements, rows: groups that are normalised separately. */

/* n: elements, R: rows, b: 1 with a bias; oc_report_norm reports them. */
#define OC_LAYER_NORM_FORMULA "ADD = (3 + b)*n + R; MUL = 3*n; DIV = 3*R; SQRT = R"
#define OC_RMS_NORM_FORMULA   "MUL = 3*n; ADD = n + R; DIV = 2*R; SQRT = R"
void oc_report_norm(struct oc_op_ctx *c, uint64_t n, uint64_t rows, bool bias);

/* Shape with the axes from `axis` on set to 1. */
struct oc_shape oc_row_shape(struct oc_op_ctx *c, const struct oc_shape *x, unsigned axis);

/* ---- ml ----------------------------------------------------------------------------------------------- */

/* Shared by the models of ai.onnx.ml. */

/* Rows and features of X: [N,F], or [F] for one row. Unknown without a rank; fails for other ranks. */
int oc_ml_rows(struct oc_op_ctx *c, struct oc_dim *rows, struct oc_dim *features);

/* Number of class labels, and their type. */
uint32_t oc_ml_labels(struct oc_op_ctx *c, unsigned *dtype);

uint32_t oc_ml_count(const struct oc_op_ctx *c,
                     const char *attr); /* elements of a list attribute or tensor */

/* The work is floating point, whatever the type of X. */
void oc_ml_float(struct oc_op_ctx *c, struct oc_cost *k);

/* A transformation of n scores: "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT" (sqrt(2) * erfinv(2x - 1), the
 * inverse by one logarithm and two roots). oc_ml_post_transform reports the numbers of the formula. */
#define OC_ML_POST_FORMULA                                                                                   \
    "CMP = soft + probit; ADD = 2*soft + 6*probit; EXP = soft; DIV = soft; SIG = logistic; MUL = 7*probit; " \
    "LOG = probit; SQRT = 2*probit; soft := 0; logistic := 0; probit := 0"
void oc_ml_post_transform(struct oc_op_ctx *c, const char *name, uint64_t n);

/* ---- attention ---------------------------------------------------------------------------------------- */

/* Cost of attention (cost-semantics 4.12): visible pairs and their work. */

struct oc_attention {
    uint64_t batch, heads;  /* sequences, query heads */
    uint64_t queries, keys; /* per sequence; keys include those of the cache */
    uint64_t dk, dv;        /* per head */
    int64_t offset;         /* keys before the first query */
    int64_t left, right;    /* window, -1: none */
    bool causal, masked, softcap, sink;
};

/* Sizes of an attention as dimensions. hq, hkv: heads of the queries, of keys and values; 0: unknown. */
struct oc_heads {
    struct oc_dim batch, sq;        /* sequences, queries of each */
    struct oc_dim skv, past, total; /* new keys, keys of the cache, all */
    struct oc_dim dk, dv;           /* per head */
    int64_t hq, hkv;
};
/* The attention of these sizes, without mask and window. */
struct oc_attention oc_attention_of(struct oc_op_ctx *c, const struct oc_heads *d);
/* Tokens of a cache [.., tokens, size] of this rank; 0 without one. */
struct oc_dim oc_past_tokens(struct oc_op_ctx *c, unsigned slot, unsigned rank);

/* Sum over the queries i of the keys within [p - left, p + right], p = i + offset, causal: right = 0. Closed
 * form, in constant time. */
uint64_t oc_visible_pairs(struct oc_op_ctx *c, uint64_t queries, uint64_t keys, int64_t offset, int64_t left,
                          int64_t right, bool causal);

/* Work of the pairs: MAC, scale, mask, softcap and softmax; rotation. V: visible pairs of all heads. The functions below
 * report the numbers. */
#define OC_ATTENTION_FORMULA "MAC = V*(dk + dv); " OC_SCORES_FORMULA
#define OC_SCORES_FORMULA                                                                                    \
    "MUL = V + softcap*V; ADD = masked*V + 2*V + sinks; CMP = V; EXP = V + sinks; "                          \
    "DIV = V + softcap*V; TANH = softcap*V; sinks := 0"
#define OC_ROPE_FORMULA "MUL = 2*rotated; ADD = rotated; rotated := 0"

void oc_report_attention(struct oc_op_ctx *c, const struct oc_attention *a);

/* The same for pairs counted by the caller (per head, over all sequences). */
void oc_report_pairs(struct oc_op_ctx *c, const struct oc_attention *a, uint64_t pairs);

/* Rotation of n elements. */
void oc_report_rope(struct oc_op_ctx *c, uint64_t n);

/* Keys of the cache that are visible to any query through the window. */
uint64_t oc_window_keys(uint64_t past, int64_t offset, int64_t left);

/* Whether past and present share one buffer: --count kv-share, else the operator's default. */
bool oc_kv_shared(const struct oc_op_ctx *c, bool by_itself);

/* Bytes of one cache (cost-semantics 5.6). Slots of the past among the inputs and of the present among the
 * outputs; sizes in elements: per token, over all sequences and heads; tokens in the past, visible tokens,
 * and new ones. A separate buffer for the present is written in full, for which the past is read once more.
 */
struct oc_kv_cache {
    unsigned past_slot, present_slot;
    uint64_t token, past, seen, fresh;
    bool shared;
};
void oc_count_kv_cache(struct oc_op_ctx *c, struct oc_cost *k, const struct oc_kv_cache *v);

/* Exact total / parts: false when known and not divisible, or parts < 1. */
bool oc_split_dim(struct oc_op_ctx *c, struct oc_dim total, int64_t parts, struct oc_dim *out);

/* Lowers (never raises) the bytes read from a slot. */
void oc_limit_read(struct oc_op_ctx *c, struct oc_cost *k, unsigned slot, uint64_t elements);

/* ---- arithmetic on small values ----------------------------------------------------------------------- */

/* Arithmetic on single elements of small values: known integers and reals, integer expressions, and real
 * multiples of them (OC_E_RATIO). Results that cannot be represented exactly are OC_E_UNKNOWN. Pure
 * functions, used by fold rules. */

enum oc_elem_op {
    OC_EL_ADD,
    OC_EL_SUB,
    OC_EL_MUL,
    OC_EL_DIV, /* truncating for integers */
    OC_EL_MOD, /* has the sign of the divisor */
    OC_EL_FMOD,
    OC_EL_POW,
    OC_EL_MIN,
    OC_EL_MAX,
    OC_EL_EQ,
    OC_EL_LT,
    OC_EL_LE,
    OC_EL_GT,
    OC_EL_GE,
    OC_EL_AND,
    OC_EL_OR,
    OC_EL_XOR
};

enum oc_elem_fn {
    OC_EL_NEG,
    OC_EL_ABS,
    OC_EL_FLOOR,
    OC_EL_CEIL,
    OC_EL_ROUND,
    OC_EL_SQRT,
    OC_EL_RECIPROCAL,
    OC_EL_EXP,
    OC_EL_LOG,
    OC_EL_NOT
};

/* dtype: of the result (reals are rounded to it); for comparisons of the operands. */
struct oc_elem oc_elem_op(struct oc_exprs *x, unsigned op, unsigned dtype, const struct oc_elem *a,
                          const struct oc_elem *b);
struct oc_elem oc_elem_fn(struct oc_exprs *x, unsigned fn, unsigned dtype, const struct oc_elem *a);

bool oc_elem_same(const struct oc_elem *a, const struct oc_elem *b); /* provably the same value */

/* ---- fold rules --------------------------------------------------------------------------------------- */

/* Helpers of fold rules: element-wise operations on small values. */

/* Number of elements if the shape is known and not above OC_MAX_DATA. */
bool oc_fold_count(const struct oc_shape *s, uint32_t *n);

/* Computes one element of the result from one element of each input (n of them). */
typedef struct oc_elem oc_fold_fn(struct oc_op_ctx *c, const struct oc_elem *const *in, unsigned n);

/* Sets out 0 to fn over all inputs, broadcast to the shape of out 0. An input without a value gives
 * OC_E_UNKNOWN elements; does nothing when no input has a value. */
void oc_fold_broadcast(struct oc_op_ctx *c, oc_fold_fn *fn);

#endif
