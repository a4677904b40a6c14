/* A model in which one suggestion is carried out: what its rewrites share. A rewrite replaces messages of the main graph (nodes,
 * inputs) by others; all other bytes are copied. Private to annotate/. */
#ifndef OC_APPLY_H
#define OC_APPLY_H

#include "advice/advice.h"
#include "analyze/analysis.h"
#include "base/map.h"
#include "base/wire.h"
#include "report/report.h"

enum { OC_NODE_IN = 1, OC_NODE_OUT = 2, OC_NODE_NAME = 3, OC_NODE_TYPE = 4, OC_NODE_ATTR = 5 };

struct oc_replaced { /* a message of the graph, by its place in the file */
    uint64_t where;
    struct oc_buf by; /* whole fields of the graph */
};

struct oc_apply {
    struct oc_report r;
    const struct oc_model *m;
    const struct oc_analysis *a;
    struct oc_replaced *replaced;
    uint32_t n_replaced, cap_replaced;
    struct oc_map dropped; /* names of values whose recorded types no longer hold */
    struct oc_map names;   /* of all values and nodes */
    struct oc_applied *out;
    bool cut;         /* the file was truncated after it was mapped */
    const char *what; /* more about what was changed; NULL: nothing */
    const char *why;  /* of the last node that was left as it is */
    struct oc_err *err;
};

/* The rewrites of all operators of a suggestion; they count them in x->out and set x->why. */
void oc_apply_axis(struct oc_apply *x, const struct oc_advice_item *s);
void oc_apply_sizes(struct oc_apply *x, const struct oc_advice_item *s);

/* A name that nothing in the model has. */
const char *oc_apply_new_name(struct oc_apply *x, const char *base, const char *suffix);
/* Attributes of a node. */
void oc_apply_ints(struct oc_buf *node, const char *name, const int64_t *v, uint32_t n);
void oc_apply_int(struct oc_buf *node, const char *name, int64_t v);
/* The fields of a new node; in NULL: it has no input. */
void oc_apply_begin(struct oc_buf *b, const char *in, const char *out, const char *name, const char *type);
/* Appends the node to the fields of the graph and frees it. */
void oc_apply_end(struct oc_buf *graph, struct oc_buf *b);
/* Where to put the fields that replace a message; valid until the next call. */
struct oc_buf *oc_apply_replace(struct oc_apply *x, uint64_t where);
const uint8_t *oc_apply_file(const struct oc_apply *x, size_t *n);
/* The message of the main graph; false: there is none. */
bool oc_apply_graph(const struct oc_apply *x, struct oc_wire_field *graph);

#endif
