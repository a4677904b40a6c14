/* Templates: "{name} [{type^]}] run {calls:i} average cost {mean:ms} ms". Text stands for itself, blanks match one
 * or more, {field} the shortest text that lets the rest match, {field^,} text without these characters,
 * {field:kind} a word (w), whole number (i), number (n), number with unit (t), letters (a) or a number in a unit
 * (ns us ms s cycles). {*} matches without a field, [[...]] is optional. */
#ifndef OC_PRINTED_TEMPLATE_H
#define OC_PRINTED_TEMPLATE_H

#include "base/arena.h"
#include "base/str.h"

enum { OC_TEMPLATE_ITEMS = 96, OC_TEMPLATE_CYCLES = -1 };

struct oc_template_item {
    uint8_t kind;
    uint16_t next;      /* of an optional part: the item after it */
    int16_t field;      /* -1: none */
    struct oc_str text; /* literal; characters that a field may not have */
    double unit_ns;     /* of a number in a unit; 0: none; OC_TEMPLATE_CYCLES */
};

struct oc_template {
    struct oc_template_item *item;
    unsigned n;
    struct oc_str literal; /* the longest text that every match has: it is looked for first */
    size_t fixed;          /* characters that stand for themselves */
};

/* Number of the field with that name, -1: there are too many. */
typedef int oc_template_field(void *ctx, struct oc_str name);

/* NULL, or what is wrong with the text, which must outlive the template. */
const char *oc_template_make(struct oc_template *out, const char *text, struct oc_arena *a,
                             oc_template_field *field, void *ctx);

/* Whether the whole text matches, blanks at both ends ignored. got[i]: the text of item i, .s NULL: it took no part. Time:
 * at most items times characters, whatever the text. */
bool oc_template_match(const struct oc_template *t, struct oc_str text, struct oc_str got[OC_TEMPLATE_ITEMS]);

#endif
