/* An operator is one row with a shape rule, a fold rule and a cost rule. Rules are pure functions over a rule
 * context; they see types, small values and attributes, never the graph. A family of rows is one array,
 * listed in op_table.c; related families share a file.
 *
 * Shape rule (required): sets type of every output that exists. Returns 0, or -1 through oc_op_fail.
 * Fold rule (optional): sets the small value of outputs when the needed small inputs are known; may leave
 *   single elements OC_E_UNKNOWN. Always returns 0, also when nothing is known.
 * Cost (NULL: no arithmetic): a text (section "formulas"), with a function where it needs numbers that are not sizes,
 *   or where bytes or classes are not the default ones. All arithmetic through oc_c_*: an overflow or an unknown size is
 *   recorded in the context and handled by the engine. */
#ifndef OC_OP_H
#define OC_OP_H

#include "model/model.h"
#include "onnxcost_types.h"

/* Primitives of the histogram (cost-semantics section 2). */
enum oc_prim {
    OC_MAC,
    OC_ADD,
    OC_MUL,
    OC_CMP,
    OC_DIV,
    OC_RND,
    OC_SQRT,
    OC_EXP,
    OC_LOG,
    OC_SIN,
    OC_TAN,
    OC_TANH,
    OC_SIG,
    OC_ERF,
    OC_POW,
    OC_RNG,
    OC_BIT,
    OC_CVT,
    OC_DEQ,
    OC_PRIM_COUNT
};
const char *oc_prim_name(unsigned prim);

/* Kind of work of an operator, for grouping and for estimates. */
enum oc_op_class {
    OC_OP_NONE, /* of no row: a row names its class */
    OC_OP_OTHER,
    OC_OP_VIEW,
    OC_OP_COPY,
    OC_OP_ELEMENTWISE,
    OC_OP_REDUCE,
    OC_OP_GEMM,
    OC_OP_CONV,
    OC_OP_POOL,
    OC_OP_NORM,
    OC_OP_SOFTMAX,
    OC_OP_ATTENTION,
    OC_OP_RNN,
    OC_OP_GATHER,
    OC_OP_RESIZE,
    OC_OP_QUANTIZE,
    OC_OP_GENERATE,
    OC_OP_SORT,
    OC_OP_CONTROL,
    OC_OP_LAYOUT,
    OC_OP_CLASS_COUNT
};
const char *oc_op_class_name(unsigned op_class);

/* Class of the kernels that compute an operator: classes with their own cost curves. estimate/kernel_class.c
 * has names, groups, and the kernel class of each operator class. */
enum oc_kernel_class {
    OC_KC_GEMM,
    OC_KC_GEMV, /* min(M, N) <= 4 */
    OC_KC_BATCHED_GEMM,
    OC_KC_CONV_1X1,
    OC_KC_CONV_KXK,
    OC_KC_CONV_DEPTHWISE,
    OC_KC_CONV_GROUPED,
    OC_KC_CONV_PLAIN,
    OC_KC_CONV_TRANSPOSED,
    OC_KC_ATTENTION_PREFILL,
    OC_KC_ATTENTION_DECODE,
    OC_KC_RNN,
    OC_KC_ELEMENTWISE, /* arithmetic, comparisons, quantization, casts */
    OC_KC_ACTIVATION,  /* with a transcendental function */
    OC_KC_SOFTMAX,
    OC_KC_NORM,
    OC_KC_REDUCE,
    OC_KC_POOL,
    OC_KC_RESIZE,
    OC_KC_TRANSPOSE,
    OC_KC_COPY,
    OC_KC_GATHER, /* and scatter */
    OC_KC_SORT,   /* TopK, NonMaxSuppression */
    OC_KC_CONTROL,
    OC_KC_REORDER, /* layout changes inserted by the runtime */
    OC_KC_OTHER,
    OC_KC_COUNT
};

struct oc_op_ctx;
struct oc_cost;

enum oc_op_flag {
    OC_F_VIEW = 1 << 0,           /* always a view: 0 bytes, the output shares the input's memory */
    OC_F_NO_FOLD = 1 << 1,        /* never folded, even if all inputs are constant (random, dequantization) */
    OC_F_CONTROL = 1 << 2,        /* has bodies, inferred by the engine */
    OC_F_LOW_CONFIDENCE = 1 << 3, /* a declared type overrides the rule's */
    OC_F_TYPE_ONLY = 1 << 4,      /* reads the type of its input, not the data (Shape) */
    OC_F_NO_EFFECT = 1 << 5,      /* returns its first input in inference (Identity) */
    OC_F_KEEPS_SHAPE = 1 << 6,    /* output 0 has the shape of input 0 (also without it: oc_op_keeps_shape) */
    OC_F_SELECTS = 1 << 7,        /* elements of the output are elements of the inputs; classes that move
                                     data need no flag (oc_op_selects) */
    OC_F_UPDATES = 1 << 8,        /* output 0 is input 0 with some elements replaced (scatter) */
    OC_F_CHANNELS = 1 << 9,  /* attributes or other inputs belong to the channel axis; convolutions, pools
                                and resizing need no flag (oc_op_has_channels) */
    OC_F_FUNCTION = 1 << 10, /* the standard, or ONNX Runtime, defines it by a body of operators */
    OC_F_COUNT_BY_TYPES = 1 << 11,    /* attributes that the cost rule reads do not change the count */
    OC_F_COUNT_BY_DEFAULTS = 1 << 12, /* they seldom change it */
    OC_F_BROADCASTS = 1 << 13,        /* operands broadcast (also without it: oc_op_broadcasts) */
    OC_F_RECTIFIES = 1 << 14, /* zero, or of another scale, where x is negative or outside of bounds */
    OC_F_EXPERTS = 1 << 15 /* reads the weights of chosen experts; input 2 has all in its first dimension */
};

/* Bodies of an operator with OC_F_CONTROL. */
enum oc_op_body { OC_BODY_NONE, OC_BODY_IF, OC_BODY_LOOP, OC_BODY_SCAN, OC_BODY_MAP, OC_BODY_GENERATION };

/* Sharing of the buffers of a cache, unless the user decides (enum oc_kv_share). */
enum oc_op_kv_shared {
    OC_KV_SHARED_NEVER,
    OC_KV_SHARED_IF_ASKED, /* by an attribute, or the input with the length of the past */
    OC_KV_SHARED_ALWAYS,
    OC_KV_SHARED_IN_PLACE /* whatever the user decides */
};

/* An operator with a cache: outputs that are inputs after an update. */
struct oc_op_kv {
    struct {
        uint8_t in, out;
    } pair[2];      /* an operator with one cache has it twice */
    uint8_t shared; /* enum oc_op_kv_shared */
    uint8_t length; /* slot of the length of the past; 0: none */
};

/* Input slots as bits, for oc_op.in_place. */
enum { OC_SLOT_0 = 1 << 0, OC_SLOT_3 = 1 << 3 };

struct oc_op {
    const char *domain, *name;
    int16_t since, until; /* opset versions that this row covers; until 0: open */
    uint8_t op_class;     /* enum oc_op_class */
    uint8_t kernel;       /* enum oc_kernel_class, where it is not that of the class; 0: that of the class */
    uint16_t flags;       /* enum oc_op_flag */
    uint8_t prim;         /* for shared rules: the primitive per element ... */
    uint8_t n_prim;       /* ... and their number (0 means 1 where prim is used) */
    uint8_t in_place;     /* slots whose buffer ONNX Runtime's CPU kernel may overwrite with output 0 */
    uint8_t n_required;   /* inputs that it cannot be without; 0: as oc_op_required */
    uint8_t body;         /* enum oc_op_body */
    const struct oc_op_kv *kv; /* NULL: no cache */
    /* Kind of each input slot, one character per slot, the last one repeats:
     *  '.' data or weight   'm' metadata, read on the host: 0 bytes   'q' scale or zero point
     *  'b' bias   'n' scale/bias of a normalisation   's' running statistic   'e' embedding table
     *  't' table (cos/sin cache)
     * NULL: all data. */
    const char *slots;
    int (*shape)(struct oc_op_ctx *);
    int (*fold)(struct oc_op_ctx *);
    int (*cost)(struct oc_op_ctx *, struct oc_cost *);
    /* Of oc_cost_text: reports numbers that are not plain sizes (oc_add_formula_value), corrects bytes and classes;
     * NULL: there are none. */
    int (*values)(struct oc_op_ctx *, struct oc_cost *);
    const void *param; /* for rules shared inside a family (for example a per-element histogram) */
    /* The cost, in the notation of the section "formulas"; NULL: no arithmetic. See OC_COST. */
    const char *formula;
    const char *assumption; /* what oc_cost_text supposes: the count is an estimate; NULL: nothing */
};

/* Kind of the slot (see oc_op.slots); '.' for a missing row. */
char oc_op_slot(const struct oc_op *op, uint32_t slot);
/* Slot of the weight of a product: the second one with data. */
uint32_t oc_op_weight_slot(const struct oc_op *op);

/* What rows say by their flags, class or rules. NULL, an operator without a row: false. */
bool oc_op_is(const struct oc_op *op, unsigned flag);
bool oc_op_keeps_shape(const struct oc_op *op);
bool oc_op_selects(const struct oc_op *op);
bool oc_op_has_channels(const struct oc_op *op);
bool oc_op_broadcasts(const struct oc_op *op);   /* an element-wise operator of two operands */
uint32_t oc_op_required(const struct oc_op *op); /* smallest number of inputs */

/* A row: {OC_OP_ROW("", "Relu", 1, ELEMENTWISE, NULL, oc_shape_same), OC_COST(cost_relu), .in_place = ...} */
#define OC_OP_ROW(d, n, v, class, sl, sh)                                                                    \
    .domain = (d), .name = (n), .since = (v), .op_class = OC_OP_##class, .slots = (sl), .shape = (sh)

/* In a row: the formula is the rule. OC_COST_TEXT_WITH: some of its numbers come from the function. */
#define OC_COST_TEXT(text)              .cost = oc_cost_text, .formula = (text)
#define OC_COST_TEXT_WITH(text, report) .cost = oc_cost_text, .formula = (text), .values = (report)

/* The same, as an estimate that supposes something. */
#define OC_COST_ASSUMED(text, why) OC_COST_TEXT(text), .assumption = (why)

/* In a row: the row's primitives, or the function of its name, per element of the output. */
#define OC_COST_THIS OC_COST_TEXT("this = N(o)")

/* In a row: the text name_formula, with numbers that name_values reports. */
#define OC_COST(name) OC_COST_TEXT_WITH(name##_formula, name##_values)

struct oc_op_family {
    const char *name;
    const struct oc_op *op;
    uint32_t n;
};
/* Ends a family: what op_table.c lists, by name. */
#define OC_FAMILY(title, rows)                                                                               \
    extern const struct oc_op_family oc_ops_##title;                                                         \
    const struct oc_op_family oc_ops_##title = {.name = #title, .op = (rows), .n = OC_COUNT(rows)}

/* The row for an operator at an imported opset version (0: newest), or NULL. */
const struct oc_op *oc_op_find(const char *domain, const char *name, int32_t opset);
const struct oc_op_family *const *oc_op_families(size_t *n);
const char *oc_op_family_name(const struct oc_op *op); /* of a row of the table; of a user rule: its index */

/* The same through a cache owned by the caller (initially zeroed): names are compared by address, so the
 * strings must be interned, or stay valid and unchanged as long as the cache is used. */
struct oc_op_cache_slot {
    const char *domain, *name;
    const struct oc_op *op;
    int32_t opset;
};
struct oc_op_cache {
    struct oc_op_cache_slot slot[251];
};
const struct oc_op *oc_op_find_cached(struct oc_op_cache *cache, const char *domain, const char *name,
                                      int32_t opset);

/* ---- the rule context ------------------------------------------------------------------------------- */

/* How a cost rule reports its values, for formulas whose quantities are not plain sizes. */
struct oc_formula_values {
    struct {
        const char *name;
        uint64_t v;
    } item[32];
    unsigned n;
};

/* Compiled formulas of rows, in the arena of the contexts that use them: a hash table with linear probing, initially zeroed.
 * Rows beyond its places are compiled at each use. */
struct oc_formula_code;
struct oc_formula_cache {
    const struct oc_op *op[512];
    const struct oc_formula_code *code[512];
};

/* Counting options that rules use; all zero: the defaults of cost-semantics. */
struct oc_counting {
    bool taps_valid, strict_reduce, literal_ceil_mode;
    bool attention_full; /* masks given by attributes hide nothing */
    bool einsum_optimal; /* three to six operands: the contraction order with the fewest MACs */
    bool trees_max;      /* trees: the deepest leaf instead of the mean */
    bool moe_expected;   /* weights read: those of the experts that a uniform selection touches on average */
    bool lut;            /* quantized activations are table look-ups */
    bool inplace;        /* scatter operators update their data in place */
    bool rnn_reload;     /* recurrent weights are read in every step */
    uint8_t kv_share;    /* enum oc_kv_share: past and present share one buffer */
};

struct oc_op_ctx {
    const struct oc_node *node;
    const struct oc_op *op;
    int32_t opset;          /* effective version (newest known if the import is newer) */
    struct oc_arena *arena; /* results are allocated here */
    struct oc_exprs *exprs;
    const struct oc_model *model;
    /* set by the engine before a rule runs, indexed by slot */
    const struct oc_type *const *in;      /* NULL: absent; kind OC_T_NONE: type unknown */
    const struct oc_data *const *in_data; /* NULL: value unknown, or not read yet (see load_data) */
    /* reads the small value of a constant input on demand; may be NULL. Other weights stay untouched */
    const struct oc_data *(*load_data)(const struct oc_op_ctx *c, unsigned slot);
    const bool *in_const; /* initializer, Constant output or folded */
    uint32_t n_in, n_out;
    struct oc_type *out;             /* set by shape rules through oc_set_out */
    const struct oc_data **out_data; /* set by fold rules through oc_set_data */
    const bool *out_used;            /* present, and read or a graph output */
    struct oc_err *err;
    void *engine; /* private to the engine */
    /* OC_MAX_DATA elements without a value, made at the first use; may be NULL */
    const struct oc_elem **unknown_elems;
    struct oc_counting opt;
    /* marks of the cost stage, never reset */
    bool overflow, unknown, upper;
    const char *assumption;            /* if set: quality est, with this reason */
    struct oc_formula_values *values;  /* values for the formula; NULL: not requested */
    struct oc_formula_cache *formulas; /* compiled formulas; NULL: compiled at each use */
    bool *reads_more; /* set when a rule reads an attribute or a value; NULL: not requested */
};

/* Attributes, with defaults. Lists: *n is 0 when absent. */
bool oc_has_attr(const struct oc_op_ctx *c, const char *name);
int64_t oc_attr_i(const struct oc_op_ctx *c, const char *name, int64_t otherwise);
float oc_attr_f(const struct oc_op_ctx *c, const char *name, float otherwise);
const char *oc_attr_s(const struct oc_op_ctx *c, const char *name, const char *otherwise);
const int64_t *oc_attr_ints(const struct oc_op_ctx *c, const char *name, uint32_t *n);
const float *oc_attr_floats(const struct oc_op_ctx *c, const char *name, uint32_t *n);
const struct oc_tensor *oc_attr_tensor(const struct oc_op_ctx *c, const char *name);

/* Inputs. An input past the end is absent. */
const struct oc_type *oc_in(const struct oc_op_ctx *c, unsigned slot); /* NULL: absent */
const struct oc_shape *oc_in_shape(const struct oc_op_ctx *c,
                                   unsigned slot);              /* unranked if absent or unknown */
unsigned oc_in_dtype(const struct oc_op_ctx *c, unsigned slot); /* OC_DT_UNDEFINED */
const struct oc_data *oc_in_value(const struct oc_op_ctx *c, unsigned slot); /* NULL: unknown */
bool oc_in_is_const(const struct oc_op_ctx *c, unsigned slot);
/* The value as known integers (every element known); NULL otherwise. Arena memory. */
const int64_t *oc_in_ints(const struct oc_op_ctx *c, unsigned slot, uint32_t *n);
bool oc_in_int(const struct oc_op_ctx *c, unsigned slot, int64_t *v); /* a single known integer */
/* A list of integers that is an attribute in old opsets and an input in new ones. Returns 1 found, 0 absent,
 * -1 present but unknown. */
int oc_attr_or_input_ints(const struct oc_op_ctx *c, const char *attr, unsigned slot, const int64_t **v,
                          uint32_t *n);

/* Outputs. */
void oc_set_out(struct oc_op_ctx *c, unsigned slot, unsigned dtype, struct oc_shape shape);
void oc_set_out_type(struct oc_op_ctx *c, unsigned slot, const struct oc_type *t);
/* Output 0 has this type and an unknown rank, the end of a rule that needs a rank. Returns 0. */
int oc_out_unranked(struct oc_op_ctx *c, unsigned dtype);
/* The shape, of a known rank, with another size of one axis. */
struct oc_shape oc_shape_with(struct oc_op_ctx *c, const struct oc_shape *s, unsigned axis, struct oc_dim d);
const struct oc_type *oc_out(const struct oc_op_ctx *c, unsigned slot); /* NULL: absent (cost stage too) */
bool oc_out_wanted(const struct oc_op_ctx *c, unsigned slot);
struct oc_elem *oc_new_elems(struct oc_op_ctx *c, uint32_t n);
void oc_set_data(struct oc_op_ctx *c, unsigned slot, const struct oc_elem *e, uint32_t n);

struct oc_elem oc_elem_int(int64_t v);
struct oc_elem oc_elem_dim(struct oc_dim d);
struct oc_elem oc_elem_real(double v);
bool oc_elem_known_int(const struct oc_elem *e, int64_t *v);
bool oc_elem_known_real(const struct oc_elem *e, double *v); /* also integers */

/* "shapes {1,2} and {3} do not broadcast": the engine adds the node. Returns -1. */
int oc_op_fail(struct oc_op_ctx *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#ifdef __clang_analyzer__ /* for static analysis of single files: states the return value */
#define oc_op_fail(...) (oc_op_fail(__VA_ARGS__), -1)
#endif

/* A new unknown dim of this node: origin "<node or output>.<axis>", or the given text. */
struct oc_dim oc_op_fresh_dim(struct oc_op_ctx *c, const char *what, int64_t max);

/* Runs the shape rule and validates its result: no negative size. Returns 0, or -1 after an error. */
int oc_op_infer(struct oc_op_ctx *c);

/* ---- cost ------------------------------------------------------------------------------------------- */

enum { OC_RULE_SLOTS = 32 };

struct oc_cost {
    uint64_t hist_f[OC_PRIM_COUNT]; /* float work */
    uint64_t hist_i[OC_PRIM_COUNT]; /* integer and boolean work; MACs are in one of the two, by mac_class */
    uint8_t mac_class, rest_class;  /* enum oc_class */
    bool alias;                     /* moves 0 bytes (set by the rule, or by OC_F_VIEW) */
    bool view;    /* output 0 shares the input's memory, but others are written; with alias: implied */
    uint64_t *rd; /* bytes read by input slot; prefilled with the full size, 0 for repeats and
                             metadata slots; a rule may lower or raise it. At least OC_RULE_SLOTS elements: rules
                             name slots that the node may lack; those have no effect */
    uint64_t *wr; /* bytes written by output slot, likewise */
    uint64_t attr_params; /* set by a rule: bytes of weights that are attributes (tree ensembles) */
    uint32_t n_in, n_out;
};

/* Checked arithmetic on counts; an overflow sets c->overflow and returns 0. */
uint64_t oc_c_mul(struct oc_op_ctx *c, uint64_t a, uint64_t b);
uint64_t oc_c_add(struct oc_op_ctx *c, uint64_t a, uint64_t b);
/* A dim as a number: its bound, with c->upper set, if only bounded; 0, with c->unknown set, if unbounded. */
uint64_t oc_c_dim(struct oc_op_ctx *c, struct oc_dim d);
uint64_t oc_c_elems(struct oc_op_ctx *c, const struct oc_type *t); /* elements; NULL gives 0 */
uint64_t oc_c_range(struct oc_op_ctx *c, const struct oc_shape *s, unsigned from, unsigned to); /* product */
uint64_t oc_c_in(struct oc_op_ctx *c, unsigned slot);  /* elements of an input, absent 0 */
uint64_t oc_c_out(struct oc_op_ctx *c, unsigned slot); /* elements of an output, absent 0 */
uint64_t oc_c_bytes(struct oc_op_ctx *c, unsigned dtype, uint64_t elements);

/* A shape that the rule needs is not known: neither is the count. Returns 0. */
static inline int oc_cost_unknown(struct oc_op_ctx *c)
{
    c->unknown = true;
    return 0;
}

/* Reports a value of the formula by its name (static text) when values are requested; a name reported twice
 * is summed. */
void oc_add_formula_value(struct oc_op_ctx *c, const char *name, uint64_t v);

/* Adds n of a primitive. oc_add counts on the float or the integer side by cost->rest_class; MAC by
 * mac_class. */
void oc_add(struct oc_op_ctx *c, struct oc_cost *k, enum oc_prim p, uint64_t n);
void oc_add_float(struct oc_op_ctx *c, struct oc_cost *k, enum oc_prim p, uint64_t n);
void oc_add_int(struct oc_op_ctx *c, struct oc_cost *k, enum oc_prim p, uint64_t n);

/* A per-element histogram as data: { {OC_MUL, 3}, {OC_ERF, 1} } ended by n = 0. */
struct oc_prims {
    uint8_t prim, n;
};
void oc_add_prims(struct oc_op_ctx *c, struct oc_cost *k, const struct oc_prims *list, uint64_t elements);

/* Reports the same for a formula that uses "functions". */
void oc_add_functions(struct oc_op_ctx *c, const struct oc_prims *list, uint64_t elements);

/* Per-element histogram of an activation by its name ("Relu", "Clip", "Gelu", "HardSigmoid",
 * case-insensitive) as in fused operators and RNNs; NULL: unknown name. */
const struct oc_prims *oc_activation_prims(const char *name);

/* Histograms of quantized work, per element (cost-semantics 4.10). */
extern const struct oc_prims oc_prims_requantize[], oc_prims_dequantize[], oc_prims_dynamic_quantize[];

/* Adds the activation named by a string attribute, for each of n elements; absent: nothing. An unknown name
 * becomes an assumption. */
void oc_add_activation(struct oc_op_ctx *c, struct oc_cost *k, const char *attr, uint64_t n);

/* True when a zero point may be non-zero: present, and not known to be all zero. */
bool oc_zero_point_counts(const struct oc_op_ctx *c, unsigned slot);

/* Rules shared between families (op_ctx.c). */
int oc_shape_same(struct oc_op_ctx *c);      /* out 0 = type of in 0 */
int oc_shape_same_bool(struct oc_op_ctx *c); /* shape of in 0, bool */
int oc_shape_broadcast(struct oc_op_ctx *c); /* all inputs, dtype of in 0; opsets 1-6: shape of in 0 */
int oc_shape_broadcast_bool(struct oc_op_ctx *c);
int oc_fold_same(struct oc_op_ctx *c);                    /* out 0 = value of in 0 */
int oc_cost_text(struct oc_op_ctx *c, struct oc_cost *k); /* counts the text of the row */

/* ---- formulas ----------------------------------------------------------------------------------------- */

/* The cost of an operator is one line of text in its row, which is counted (oc_cost_text) and explained
 * (oc_formula_read):
 *
 *   MAC = N*M*taps*Cg; ADD = [B]*N(o); N := o[0]; M := w[0]; Cg := w[1]; taps := o[2:]*w[2:]
 *
 * Statements are separated by ';'. PRIM = expr is an amount of a primitive, PRIM:int = expr of integer work,
 * PRIM:float = expr of float work, PRIM:x = expr of work of the type of input 0, whatever the class of the row; several for one primitive are added. NAME := expr defines a name; a value of that name reported
 * by the row's function (oc_add_formula_value) takes precedence. The left side may also be a histogram per element, for
 * expr elements:
 *   prim            the row's own primitive
 *   this            the row's list (param), its primitives (prim, n_prim), or the function of its name
 *   activation      the function named by the attribute
 *   Gelu, Silu ...  a function of the library
 *   requantize, dequantize, dynamic_quantize
 *   function        of a quantized row: the one that param names, or prim
 *   functions       amounts reported by the row's function (oc_add_functions), whatever expr is
 *
 * Expressions are those of lang/expr.h. */

struct oc_formula_term {
    uint8_t prim;        /* enum oc_prim */
    const char *expr;    /* "N*M*taps*Cg" */
    const char *numbers; /* "1*64*614656*3" */
    uint64_t value;
    bool known; /* false: a name has no value, or the result is none */
};

struct oc_formula_name { /* a name used in the terms */
    const char *name;
    const char *expr; /* NULL: reported by the rule */
    uint64_t value;
    bool known;
};

enum { OC_FORMULA_TERMS = 40, OC_FORMULA_NAMES = 16 };

struct oc_formula {
    struct oc_formula_term term[OC_FORMULA_TERMS];
    struct oc_formula_name name[OC_FORMULA_NAMES];
    uint32_t n_term, n_name;
};

/* The formula of a row; NULL: no cost rule. */
const char *oc_formula_text(const struct oc_op *op);

/* Evaluates the formula of c->op with the sizes of c and the values in `values`, after the cost rule ran.
 * Texts are in c->arena. Returns 0, or -1 if the formula is malformed: a bug in the row. */
int oc_formula_read(struct oc_op_ctx *c, struct oc_formula *out);

/* ---- gradients ---------------------------------------------------------------------------------------- */

/* Gradients of operators: the work of the backward pass and what of the forward pass it needs, from the
 * derivative of each operator. Independent of graphs: the caller says for which inputs a gradient is wanted.
 */

struct oc_gradient {
    uint64_t hist[OC_PRIM_COUNT];    /* of the backward pass; float work */
    uint64_t forward[OC_PRIM_COUNT]; /* that training adds to the forward pass: statistics of the batch */
    uint32_t save_in, save_out;      /* slots whose values the gradient reads, as bits */
    uint64_t extra_bytes;            /* saved in addition: masks, indices, statistics, gates */
    const char *assumption;          /* NULL: exact */
};

/* Whether a gradient can pass from the outputs of the node to the input: it has real numbers that decide the
 * output. True for operators without a rule. */
bool oc_gradient_passes(const struct oc_op *op, unsigned slot, const struct oc_type *in,
                        const struct oc_type *out);

/* The gradient with respect to the inputs with wants[slot]; `forward` is the cost of the node. False: the
 * operator has no rule. Overflow and unknown sizes are marked in the context. */
bool oc_gradient_of(struct oc_op_ctx *c, const struct oc_cost *forward, const bool *wants,
                    struct oc_gradient *out);

/* Work of one step of an optimizer ("sgd", "momentum", "adam") for one parameter, and the numbers that it
 * keeps for each. NULL: unknown name. */
const struct oc_prims *oc_optimizer_step(const char *name, unsigned *n_state);

#endif
