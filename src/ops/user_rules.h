/* User rules for operators (--op-rules): reads and checks the file, finds a rule by operator, and runs it
 * like a row of the tables. The XML schema is hwdb/op-rules/op-rules.rng, the expressions are below;
 * the public functions are in onnxcost.h.
 *
 *   op-rules version="1"
 *     op domain name since [until] [class] [slots] [override] [fold] [upper] [estimate]
 *         override="yes": takes precedence over built-in rules
 *         fold="no": runs although all inputs are constant
 *         upper="yes": the amounts are bounds
 *         estimate: the reason why they are estimates
 *       let name value                  a number for the expressions that follow
 *       output [index] [dtype] [shape]  type of an output; without a shape: as declared by the model
 *       count prim n                    an amount of a primitive (cost-semantics section 2)
 *       read index bytes                bytes read of an input, instead of all of it
 *       write index bytes               bytes written of an output */
#ifndef OC_USER_RULES_H
#define OC_USER_RULES_H

#include "base/arena.h"
#include "base/map.h"
#include "onnxcost_types.h"
#include "ops/op.h"

/* ---- expressions -------------------------------------------------------------------------------------- */

/* The expressions of user rules (--op-rules): integers and shapes computed from the sizes, attributes and
 * small values of a node. Unknown sizes stay expressions (shape/dim.h); nothing unknown ever becomes 0.
 *
 * Numbers    + - * /   / rounds down; a divisor of 0 or less is an error of the node
 *            == != < <= > >=   1 or 0
 *   17, NAME                     NAME: an earlier <let>
 *   in0[1] in0[-1]  or in0.1     a size of input 0; of output 0: out0[1]
 *   in0[2:] in0[:-1]             a product of sizes
 *   N(in0) rank(in0) bytes(in0)  elements, axes, bytes; absent: N and bytes are 0
 *   has(in1)                     1 if the input is there, else 0
 *   value(in1, 2) value(in1)     element 2, or the only one, of a small integer input
 *   attr.k  attr.k|1             integer attribute, with the value it has when absent
 *   attr.pads[0] len(attr.pads)  of a list
 *   attr.mode|'a' == 'b'         1 if a text attribute is that text (also !=)
 *   min(a, b) max(a, b) mod(a, b) clog2(a) floor(a/b) ceil(a/b) ceil(a, b)   ceil: a/b rounded up
 *   if(c, a, b)                  a where c is not 0, else b; only one of them is looked at
 * Shapes     parts joined with +
 *   [a, b, ...]  []              these sizes
 *   in0  in0[1:]  in0[:-1]       all, or some sizes of a tensor
 *   value(in1)                   what a one-dimensional integer input says
 *   broadcast(in0, in1, ...)     the tensors broadcast together; absent ones are left out
 * Types      in0 (that of input 0), a name of TensorProto in lower case, attr.to or attr.to|float */

#define OC_RULE_LETS 32

struct oc_rule_expr; /* immutable; in the arena */

struct oc_rule_let {
    const char *name;
    const struct oc_rule_expr *expr;
    unsigned outputs; /* outputs that must be known before: the highest slot used + 1 */
    unsigned depth;   /* depth of the tree, including the lets it uses */
};

/* Names available to an expression. */
struct oc_rule_scope {
    struct oc_arena *arena;
    const struct oc_rule_let *let;
    unsigned n_let;
    unsigned outputs;  /* out<k> is allowed for k below this */
    char why[200];     /* the error, after a failure */
    unsigned used_out; /* after a success: the values for oc_rule_let.outputs and depth */
    unsigned depth;
};

/* NULL: the text is invalid, and scope->why has the reason. */
const struct oc_rule_expr *oc_rule_parse_number(struct oc_rule_scope *scope, const char *text);
const struct oc_rule_expr *oc_rule_parse_shape(struct oc_rule_scope *scope, const char *text);
const struct oc_rule_expr *oc_rule_parse_dtype(struct oc_rule_scope *scope, const char *text);

/* One node at one stage: each <let> is evaluated once. */
struct oc_rule_env {
    struct oc_op_ctx *c;
    const struct oc_rule_let *let;
    unsigned n_let;
    bool done[OC_RULE_LETS];
    struct oc_dim value[OC_RULE_LETS];
};

/* 0, or -1 through oc_op_fail. */
int oc_rule_number(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out);
int oc_rule_shape(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_shape *out);
int oc_rule_dtype(struct oc_rule_env *env, const struct oc_rule_expr *e, unsigned *out);

/* The expression with numbers substituted for names, "?" for unknown ones. */
void oc_rule_print_numbers(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_buf *out);

/* ---- trees -------------------------------------------------------------------------------------------- */

/* Shared by rule_parse.c and rule_eval.c. */

enum rule_kind {
    R_NUMBER, /* number */
    R_LET,    /* number: its index; text: its name */
    /* of a tensor */
    R_SIZE,    /* a: the axis */
    R_PRODUCT, /* a: the first axis, b: one past the last; NULL: from the first, to the last */
    R_ELEMENTS,
    R_RANK,
    R_BYTES,
    R_HAS,
    R_VALUE, /* a: the index, or NULL */
    /* of the attribute named text */
    R_ATTR,      /* b: the default, or NULL */
    R_ATTR_ITEM, /* a: the index; b as above */
    R_ATTR_LEN,
    R_ATTR_IS, /* word: the text it is compared with; otherwise: the default text, or NULL; number: 1 for !=
                */
    /* of a */
    R_NEG,
    R_CLOG2,
    /* of a and b */
    R_ADD,
    R_SUB,
    R_MUL,
    R_DIV,
    R_CEIL,
    R_MOD,
    R_MIN,
    R_MAX,
    R_EQ,
    R_NE,
    R_LT,
    R_LE,
    R_GT,
    R_GE,
    R_IF, /* a: the condition; b, c */
    /* shapes; item: the parts */
    R_LIST,
    R_AXES, /* a, b as in R_PRODUCT */
    R_VALUES,
    R_BROADCAST,
    R_JOIN,
    /* types */
    R_DTYPE_OF,   /* of a tensor */
    R_DTYPE,      /* number */
    R_DTYPE_ATTR, /* text: the attribute; number: default, or -1 */
};

struct oc_rule_expr {
    uint8_t kind; /* enum rule_kind */
    bool is_out;  /* tensor: out<slot>, else in<slot> */
    uint16_t slot;
    uint16_t n_item;
    int64_t number;
    const char *text, *word, *otherwise;
    const struct oc_rule_expr *a, *b, *c;
    const struct oc_rule_expr *const *item;
};

/* Prints the expression as written, except for blanks and brackets. */
void oc_rule_print_names(const struct oc_rule_expr *e, struct oc_buf *out);

/* ---- rules -------------------------------------------------------------------------------------------- */

#define OC_RULES_MAX_FILE_BYTES (4u << 20)

struct oc_user_rule; /* param of the row */

struct oc_user_rule_info {
    const struct oc_op *op;
    bool overrides; /* takes precedence over a row of the tables and a function of the model */
    uint32_t index; /* in its file, below oc_op_rules_count */
};

/* Parses the text of a file; name: for messages. 0, or -1 with *err filled. */
int oc_op_rules_read_mem(const char *name, const void *data, size_t n, struct oc_op_rules **out,
                         struct oc_err *err);

uint32_t oc_op_rules_count(const struct oc_op_rules *rules);

/* The rule for the operator at an imported opset version (0: newest); false if there is none. */
bool oc_op_rules_find(const struct oc_op_rules *rules, const char *domain, const char *name, int32_t opset,
                      struct oc_user_rule_info *out);

/* A row of a user's file. */
bool oc_is_user_op(const struct oc_op *op);
const char *oc_user_op_place(const struct oc_op *op); /* "x.xml:12" of such a row */

/* The formula of c->op, a row of a user's file, with its values. See oc_formula_read. */
int oc_user_formula_read(struct oc_op_ctx *c, struct oc_formula *out);

/* ---- parsed files ------------------------------------------------------------------------------------- */

/* The parsed form of a file of user rules. */

#define OC_RULE_KEY_BYTES 256

struct oc_rule_output {
    uint16_t index;
    uint32_t line;
    const struct oc_rule_expr *dtype, *shape; /* shape NULL: as declared by the model */
};

enum oc_rule_amount_kind { OC_RULE_COUNT, OC_RULE_READ, OC_RULE_WRITE };

struct oc_rule_amount {
    uint8_t kind;  /* enum oc_rule_amount_kind */
    uint16_t what; /* enum oc_prim, or the slot */
    uint32_t line;
    const char *text;
    const struct oc_rule_expr *n;
};

struct oc_user_rule {
    struct oc_op op;          /* op.param points here */
    const char *file, *place; /* file and line */
    uint32_t line, next;      /* next: rule of the same operator, or OC_NONE */
    bool overrides, upper;    /* upper: the amounts are upper bounds */
    const char *estimate;     /* reason for the quality "estimate"; NULL: exact */
    struct oc_rule_let let[OC_RULE_LETS];
    const char *let_text[OC_RULE_LETS];
    unsigned n_let;
    const struct oc_rule_output *output;
    const struct oc_rule_amount *amount;
    uint32_t n_output, n_amount;
};

struct oc_op_rules {
    struct oc_arena arena;
    struct oc_map by_name;      /* from the key to the first rule */
    struct oc_user_rule **rule; /* heap list of arena objects */
    uint32_t n, cap;
};

#endif
