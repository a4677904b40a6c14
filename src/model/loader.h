/* Private to the loader's files (load*.c, function.c, order.c): the state of one load. */
#ifndef OC_LOADER_H
#define OC_LOADER_H

#include "base/caps.h"
#include "model/model.h"
#include "base/wire.h"

#define OC_ABSENT (OC_NONE - 1) /* in a scope's names: a function input that the call omits */

struct oc_view {
    const uint8_t *data;
    size_t n;
};

struct oc_opset_list {
    const struct oc_opset *item;
    uint32_t n;
};

/* A local function as found in the file; its nodes are parsed again for each call. */
struct oc_function {
    const char *domain, *name, *overload;
    struct oc_view view;
    struct oc_opset_list opsets;
};

/* The call that a function body is expanded for. */
struct oc_call {
    const struct oc_call *up; /* enclosing call, to detect recursion */
    const struct oc_function *fn;
    uint32_t node;      /* the call node */
    const char *prefix; /* prefix of node names */
};

enum { OC_NEAR = 4 };

struct oc_scope {
    const struct oc_scope *up; /* enclosing graph; NULL for the main graph and for function bodies */
    struct oc_map names;       /* value name to value id */
    uint32_t near[OC_NEAR];    /* per node input: index of the last match */
    uint32_t graph;
    uint32_t owner; /* node of the enclosing graph that has this body */
    const struct oc_call *call;
    const struct oc_opset_list *opsets;
    unsigned depth;
};

struct oc_later { /* an input whose name is not yet defined in its graph */
    struct oc_view name;
    uint32_t node, slot;
};

struct oc_node_lists { /* of the node being read */
    uint32_t *in, *out;
    struct oc_attr *attr;
    uint32_t n_in, n_out, n_attr, cap_in, cap_out, cap_attr;
};

struct oc_body { /* a graph attribute, parsed after the graph that contains it */
    struct oc_view view;
    uint32_t graph, owner;
};

struct oc_recent_text { /* an interned text */
    const char *text;
    size_t n; /* 0: none */
};

struct oc_loader {
    struct oc_model *m;
    struct oc_err *err;
    const struct oc_caps *caps;
    const uint8_t *long_text; /* the first string above its limit, NULL: none */
    uint64_t long_bytes;
    const uint8_t *base;
    uint32_t cap_node, cap_value, cap_graph, cap_symbol;
    uint32_t n_expanded;
    struct oc_map symbols, functions;
    char *names_room; /* contiguous storage of names */
    size_t names_left;
    struct oc_recent_text recent[64]; /* cache: names of operators and attributes repeat */
    struct oc_map externals;          /* cache: path to its resolution */
    const char *last_path;            /* the last path and its result */
    uint32_t last_state;
    struct oc_function *fn;
    uint32_t n_fn;
    struct oc_opset_list opsets;
    struct oc_body *body; /* stack of unparsed bodies */
    uint32_t n_body, cap_body;
    struct oc_later *later; /* of the graph whose nodes are being read */
    uint32_t n_later, cap_later;
    struct oc_node_lists lists;
    struct oc_capture *capture;
    uint32_t n_capture, cap_capture;
};

/* load_util.c */
uint64_t oc_load_offset(const struct oc_loader *l, const uint8_t *at);
/* Fails with the offset. `what` names the part: "node 'conv1'". Returns -1. */
int oc_load_fail(struct oc_loader *l, enum oc_code code, const uint8_t *at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for a limit; found 0: not counted. */
int oc_load_over(struct oc_loader *l, enum oc_cap which, uint64_t found, const uint8_t *at);
/* 0 if parsing succeeded, else the error of the damaged field or of a string above its limit. */
int oc_load_end(struct oc_loader *l, const struct oc_wire *w, const char *what);

/* The string of a field, empty if absent or too long (oc_load_end then fails): a view into the file, a
 * private copy, or the interned copy. */
struct oc_view oc_load_string(struct oc_loader *l, const struct oc_field *f);
const char *oc_load_name(struct oc_loader *l, const struct oc_field *f);
const char *oc_load_text(struct oc_loader *l, const struct oc_field *f);
/* Copies a name with a NUL, valid as long as the model; and releases the last one, of n bytes. */
const char *oc_load_keep(struct oc_loader *l, const void *text, size_t n);
void oc_load_drop(struct oc_loader *l, size_t n);

int oc_load_shown(struct oc_view s); /* maximum bytes of it shown in a message */
uint32_t oc_load_new_graph(struct oc_loader *l);
void oc_load_reserve_values(struct oc_loader *l, uint32_t n); /* reserves room for n more */
uint32_t oc_load_new_value(struct oc_loader *l, const char *name, uint32_t graph);

/* load_tensor.c */
int oc_load_tensor(struct oc_loader *l, struct oc_view v, struct oc_tensor *out);
int oc_load_sparse(struct oc_loader *l, struct oc_view v, struct oc_tensor *out);

/* load_type.c */
int oc_load_value_info(struct oc_loader *l, struct oc_view v, struct oc_view *name, struct oc_type *type);

/* load_attr.c: scope and owner are needed for graph attributes and for ref_attr_name */
int oc_load_attr(struct oc_loader *l, const struct oc_scope *sc, uint32_t owner, struct oc_view v,
                 struct oc_attr *out, bool *dropped);

/* load_graph.c */
int oc_load_graph(struct oc_loader *l, struct oc_scope *sc, struct oc_view v);
/* Parses the nodes of a message already counted (n fields of that number) into sc->graph, in any order. */
int oc_load_nodes(struct oc_loader *l, struct oc_scope *sc, struct oc_view v, uint32_t field, uint32_t n);

/* function.c */
int oc_load_functions(struct oc_loader *l, const struct oc_view *view, uint32_t n);
int oc_load_opset(struct oc_loader *l, struct oc_view v, struct oc_opset *out);
const struct oc_function *oc_function_of(const struct oc_loader *l, const struct oc_node *n);
int oc_expand_call(struct oc_loader *l, const struct oc_scope *sc, uint32_t node);

/* order.c: sorts the node lists of all graphs topologically; a cycle is an error. */
int oc_order_graphs(struct oc_loader *l);

#endif
