/* lang/: The formula language: texts of arithmetic over the sizes, attributes and small values of a node. Costs of
 * operators, rules of users and names of dimensions are written in it. There is one parser (expr_parse.c;
 * expr_names.c: texts of several statements), one printer (expr_print.c), and two evaluators of the same tree: checked
 * 64-bit integers (expr_count.c), in which costs are counted, and dimensions that may be symbolic (expr_dim.c). The
 * folder does not depend on nodes: a size, an attribute or a value is a leaf, which the caller evaluates. Trees are
 * immutable. What is unknown never becomes 0.
 *
 * Numbers    + - * /   / rounds down; a divisor of 0 or less has no quotient
 *            == != < <= > >=   1 or 0
 *   17, NAME                     NAME: defined by the caller (struct oc_expr_name)
 *   in0[1] in0[-1]  or in0.1     a size of input 0; of output 0: out0[1]
 *   in0[2:] in0[:-1]             a product of sizes
 *   N(in0) rank(in0) bytes(in0)  elements, axes, bytes; absent: N and bytes are 0
 *   has(in1)  [in1]              1 if the input is there, else 0
 *   value(in1, 2) value(in1)     element 2, or the only one, of a small integer input
 *   attr.k  attr.k|1             integer attribute, with the value it has when absent
 *   attr.pads[0] len(attr.pads)  of a list
 *   attr.mode|'a' == 'b'         1 if a text attribute is that text (also !=)
 *   [alpha:1 != 1]               1 if the comparison holds for the attribute (default after the colon): == or !=, with
 *                                a whole number or a word
 *   [strict]  inputs             1 if reductions count n - 1; the number of inputs
 *   min(a, b) max(a, b) mod(a, b) clog2(a) floor(a/b) ceil(a/b) ceil(a, b)   ceil: a/b rounded up
 *   if(c, a, b)                  a where c is not 0, else b; only one of them is looked at
 * Shapes     parts joined with +
 *   [a, b, ...]  []              these sizes
 *   in0  in0[1:]  in0[:-1]       all, or some sizes of a tensor
 *   value(in1)                   what a one-dimensional integer input says
 *   broadcast(in0, in1, ...)     the tensors broadcast together; absent ones are left out
 * Types      in0 (that of input 0), a name of TensorProto in lower case, attr.to or attr.to|float
 *
 * Costs of operators say x, w and o for in0, in1 and out0, and B for the input that is the bias. */
#ifndef OC_EXPR_H
#define OC_EXPR_H

#include "base/arena.h"
#include "base/str.h"
#include "onnxcost_types.h"
#include "shape/type.h"

/* ---- trees -------------------------------------------------------------------------------------------- */

enum oc_expr_kind {
    OC_X_NUMBER, /* number */
    OC_X_NAME,   /* number: its index; text: the name */
    /* leaves: of a tensor */
    OC_X_SIZE,    /* a: the axis */
    OC_X_PRODUCT, /* a: the first axis, b: one past the last; NULL: from the first, to the last */
    OC_X_ELEMENTS,
    OC_X_RANK,
    OC_X_BYTES,
    OC_X_HAS,
    OC_X_VALUE, /* a: the index, or NULL */
    /* leaves: of the attribute named text */
    OC_X_ATTR,      /* b: the default, or NULL */
    OC_X_ATTR_ITEM, /* a: the index; b as above */
    OC_X_ATTR_LEN,
    OC_X_ATTR_IS, /* word: the text it is compared with; otherwise: the default text, or NULL; number: 1 for != */
    OC_X_ATTR_TEST, /* the same for [alpha:1 != 1]: an attribute of any type; item_number: word is `value` */
    /* leaves: of the node */
    OC_X_STRICT,
    OC_X_INPUTS,
    /* of a */
    OC_X_NEG,
    OC_X_CLOG2,
    /* of a and b */
    OC_X_ADD,
    OC_X_SUB,
    OC_X_MUL,
    OC_X_DIV,
    OC_X_CEIL,
    OC_X_MOD,
    OC_X_MIN,
    OC_X_MAX,
    OC_X_EQ,
    OC_X_NE,
    OC_X_LT,
    OC_X_LE,
    OC_X_GT,
    OC_X_GE,
    OC_X_IF, /* a: the condition; b, c */
    /* shapes; item: the parts */
    OC_X_LIST,
    OC_X_AXES, /* a, b as in OC_X_PRODUCT */
    OC_X_VALUES,
    OC_X_BROADCAST,
    OC_X_JOIN,
    /* types */
    OC_X_DTYPE_OF,   /* of a tensor */
    OC_X_DTYPE,      /* number */
    OC_X_DTYPE_ATTR, /* text: the attribute; number: default, or -1 */
};

struct oc_expr {
    uint8_t kind;       /* enum oc_expr_kind */
    bool is_out;        /* tensor: out<slot>, else in<slot> */
    bool word_is_whole; /* OC_X_ATTR_TEST: word is the whole number `value` */
    uint16_t slot;
    uint16_t n_item;
    int64_t number, value;
    const char *text, *word, *otherwise;
    const struct oc_expr *a, *b, *c;
    const struct oc_expr *const *item;
};

/* ---- parser ------------------------------------------------------------------------------------------- */

enum {
    OC_EXPR_NAMES = 32,
    OC_EXPR_DEPTH = 1000 /* of a tree, with the names that it uses: evaluation recurses */
};

struct oc_expr_name {
    const char *name, *text;    /* text: the definition as written; NULL: none */
    const struct oc_expr *expr; /* NULL: not defined */
    unsigned outputs;           /* outputs that must be known before: the highest slot used + 1 */
    unsigned depth;             /* depth of the tree, including the names it uses */
};

/* What is written: the three differ in names alone. */
enum oc_expr_use {
    OC_EXPR_RULE, /* of a user: every name is defined before */
    OC_EXPR_COST, /* of an operator: x, w, o and B are tensors; names may be defined later */
    OC_EXPR_SIZE  /* a name of a dimension ("floor(s0/2)"): words are names, and there are no tensors */
};

struct oc_expr_scope {
    struct oc_arena *arena;
    uint8_t use;               /* enum oc_expr_use */
    const char *slots;         /* kinds of the input slots, for B; NULL: there is no bias */
    struct oc_expr_name *name; /* OC_EXPR_RULE: read; else new names are added, at most OC_EXPR_NAMES */
    unsigned n_name;
    unsigned outputs;  /* out<k> is allowed for k below this */
    char why[200];     /* the error, after a failure */
    unsigned used_out; /* after a success: the values for oc_expr_name.outputs and depth */
    unsigned depth;
};

/* NULL: the text is invalid, and scope->why has the reason. */
const struct oc_expr *oc_expr_parse_number(struct oc_expr_scope *scope, const char *text);
const struct oc_expr *oc_expr_parse_shape(struct oc_expr_scope *scope, const char *text);
const struct oc_expr *oc_expr_parse_dtype(struct oc_expr_scope *scope, const char *text);

/* The next statement "left = right" or "left := right" of a text in which ';' separates them; false at the end. */
struct oc_expr_statement {
    struct oc_str left, right;
    bool defines; /* := */
};
bool oc_expr_statement(const char **text, struct oc_expr_statement *out);

/* Reads the definitions (NAME := expr) of all names of the scope from the text. False: one is malformed, or defines
 * itself. A name without a definition is one that the caller gives. */
bool oc_expr_define(struct oc_expr_scope *scope, const char *text);

/* ---- evaluation of symbolic dimensions ---------------------------------------------------------------- */

/* One node at one stage: each name is evaluated once. */
struct oc_dim_env {
    struct oc_exprs *exprs;
    struct oc_err *err;
    const struct oc_expr_name *name;
    void *of; /* of the caller, for the two functions */
    /* The value of a leaf. 0, or -1 with *err filled. NULL: there are no leaves. */
    int (*leaf)(struct oc_dim_env *, const struct oc_expr *, struct oc_dim *out);
    /* A new unknown number with this text (NULL: oc_dim_fresh); max: its upper bound, or -1. */
    struct oc_dim (*fresh)(struct oc_dim_env *, const char *text, int64_t max);
    bool done[OC_EXPR_NAMES];
    struct oc_dim value[OC_EXPR_NAMES];
};

/* 0, or -1 with *err filled. What the sizes do not decide is a new unknown. */
int oc_expr_dim(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out);
/* A new unknown, printed as the expression. */
struct oc_dim oc_expr_fresh(struct oc_dim_env *env, const struct oc_expr *e, int64_t max);

/* ---- evaluation in checked integers ------------------------------------------------------------------- */

/* One formula for one node: each name is evaluated once. `unknown` and `overflow` are set, never reset. */
struct oc_count_env {
    const struct oc_expr_name *name;
    void *of;
    /* The number of a leaf; sets env->unknown where it has none. */
    uint64_t (*leaf)(struct oc_count_env *, const struct oc_expr *);
    /* True: the caller has a number for the name, which takes precedence over its definition. */
    bool (*given)(const struct oc_count_env *, const char *name, uint64_t *out);
    bool unknown, overflow;
    uint8_t state[OC_EXPR_NAMES]; /* enum oc_count_state */
    uint64_t value[OC_EXPR_NAMES];
};
enum oc_count_state { OC_COUNT_OPEN, OC_COUNT_GIVEN, OC_COUNT_DEFINED, OC_COUNT_UNKNOWN };

/* The number; unknown or overflow: it is of no use. A negative difference and a quotient by 0 are unknown. What is
 * multiplied by 0 is not looked at: it may be unknown. */
uint64_t oc_expr_count(struct oc_count_env *env, const struct oc_expr *e);

/* ceil of the binary logarithm; 0 for 0 and 1 */
unsigned oc_clog2(uint64_t n);

/* ---- printer ------------------------------------------------------------------------------------------ */

/* Prints the expression as written, except for blanks and brackets. */
void oc_expr_print(const struct oc_expr *e, struct oc_buf *out);
/* The same with numbers for names and leaves, which the function prints. */
void oc_expr_print_numbers(const struct oc_expr *e,
                           void (*value)(void *, const struct oc_expr *, struct oc_buf *), void *of,
                           struct oc_buf *out);

#endif
