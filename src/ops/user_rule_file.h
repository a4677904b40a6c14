/* The parsed form of a file of user rules; shared by user_rule_file.c, which reads it, and user_rules.c,
 * which runs it. */
#ifndef OC_USER_RULE_FILE_H
#define OC_USER_RULE_FILE_H

#include "base/map.h"
#include "ops/rule_expr.h"
#include "ops/user_rules.h"

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

/* The key of an operator in by_name; 0: too long. */
size_t oc_rule_key(const char *domain, const char *name, char key[OC_RULE_KEY_BYTES]);

/* The rules shared by all rows of a user's file. */
int oc_user_shape(struct oc_op_ctx *c);
int oc_user_cost(struct oc_op_ctx *c, struct oc_cost *k);

#endif
