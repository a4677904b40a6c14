/* Names of rows: the one name that every output prints, and the rows that a text selects wherever an option takes
 * a name. Every name that an output prints selects exactly the rows that print it. What selects nothing, or could be
 * several names, is an error with the nearest names: never an empty answer. */
#ifndef OC_NAMES_H
#define OC_NAMES_H

#include "report/report.h"

/* Sets name and runtime_name of a row of a profile's record, whose type is set. The name is that of its nodes.
 * Rows that cover no node keep the runtime's name, or without one their type. */
void oc_row_set_name(struct oc_report *r, struct oc_row *row);

/* The row's type; without one, that of the same operator of the model, else "(unknown)". */
const char *oc_row_type(const struct oc_report *r, const struct oc_row *row);

/* "Conv /conv1/Conv, Relu /relu/Relu; runtime name: Conv_fused_1": the nodes of the row, where they are
 * several or the runtime calls the row otherwise; else NULL. Arena text. */
const char *oc_row_members(struct oc_report *r, const struct oc_row *row);

/* What a text may be. The first that selects a row decides, so that a printed name is never taken for more. */
enum oc_name_rule {
    OC_NAME_OPERATOR, /* name, #N, expression, member or runtime name, expression over these, type, part of a name */
    OC_NAME_KEY,           /* the same with types and classes before expressions */
    OC_NAME_LITERAL,       /* without expressions */
    OC_NAME_CLASS,         /* class of operators */
    OC_NAME_TYPE,          /* type, the source's own type, #N, name, member, part of a type */
    OC_NAME_MEGENGINE,     /* as MegEngine's tool: expression; else name, #N */
    OC_NAME_MEGENGINE_TYPE /* type */
};

struct oc_names {
    struct oc_report *report; /* has members and types; NULL: rows without a report */
    const struct oc_row *const *row;
    uint32_t n;       /* the rows of the table, and after them ... */
    uint32_t n_table; /* ... rows made only to be found: records without a row, nodes */
    const struct oc_row *const
        *table;         /* for #N: the rows in the order of the printed table; NULL: not sorted */
    const char *option; /* "--opr-name", for messages */
};

/* Whether a text is a position: "#12". */
bool oc_name_is_position(const char *text);

/* Adds the rows that the text selects to hit[n]. Expressions are Python's, matched from the start of a name; a part
 * must be that of one name only. Returns 1, with a message, if a rule of MegEngine finds
 * nothing: the original prints an empty table. Errors: OC_EARG (no such name, several), OC_ELIMIT (an expression backtracks too
 * much), OC_ELIBRARY (no PCRE2). */
int oc_names_find(const struct oc_names *names, enum oc_name_rule rule, const char *text, bool *hit,
                  struct oc_err *err);

#endif
