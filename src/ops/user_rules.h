/* User rules for operators (--op-rules): reads and checks the file, finds a rule by operator, and runs it
 * like a row of the tables. The XML schema is hwdb/op-rules/op-rules.rng, the expressions are in lang/expr.h;
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
#include "lang/expr.h"
#include "onnxcost_types.h"
#include "ops/op.h"

/* ---- expressions -------------------------------------------------------------------------------------- */

/* The evaluation of expressions for the node of c: sizes, attributes and small values (lang/expr.h). */
struct oc_dim_env oc_rule_env(struct oc_op_ctx *c, const struct oc_expr_name *name);
int oc_rule_leaf(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out);

/* 0, or -1 through oc_op_fail. */
int oc_rule_shape(struct oc_dim_env *env, const struct oc_expr *e, struct oc_shape *out);
int oc_rule_dtype(struct oc_dim_env *env, const struct oc_expr *e, unsigned *out);

/* The expression with numbers substituted for names, "?" for unknown ones. */
void oc_rule_print_numbers(struct oc_dim_env *env, const struct oc_expr *e, struct oc_buf *out);

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
    const struct oc_expr *dtype, *shape; /* shape NULL: as declared by the model */
};

enum oc_rule_amount_kind { OC_RULE_COUNT, OC_RULE_READ, OC_RULE_WRITE };

struct oc_rule_amount {
    uint8_t kind;  /* enum oc_rule_amount_kind */
    uint16_t what; /* enum oc_prim, or the slot */
    uint32_t line;
    const char *text;
    const struct oc_expr *n;
};

struct oc_user_rule {
    struct oc_op op;          /* op.param points here */
    const char *file, *place; /* file and line */
    uint32_t line, next;      /* next: rule of the same operator, or OC_NONE */
    bool overrides, upper;    /* upper: the amounts are upper bounds */
    const char *estimate;     /* reason for the quality "estimate"; NULL: exact */
    struct oc_expr_name let[OC_EXPR_NAMES];
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
