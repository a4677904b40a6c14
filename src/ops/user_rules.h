/* User rules for operators (--op-rules): reads and checks the file, finds a rule by operator, and runs it
 * like a row of the tables. The XML schema is hwdb/op-rules/op-rules.rng, the expressions are in rule_expr.h;
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

#include "ops/formula.h"
#include "ops/op.h"
#include "onnxcost.h"

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

#endif
