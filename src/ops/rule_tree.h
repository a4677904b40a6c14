/* The tree of a user rule expression; shared by rule_parse.c, rule_eval.c and rule_print.c. */
#ifndef OC_RULE_TREE_H
#define OC_RULE_TREE_H

#include "ops/rule_expr.h"

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

#endif
