/* Private to the loader's files (load*.c) and the readers of single messages: the state of one load. */
#ifndef OC_LOADER_H
#define OC_LOADER_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"
#include "base/wire.h"
#include "model/model.h"
#include "onnx_header.pb-c.h"

#define OC_ABSENT (OC_NONE - 1) /* in a scope's names: a function input that the call omits */

struct oc_opset_list {
    const struct oc_opset *item;
    uint32_t n;
};

/* The NodeProtos of a message: fields of the file, which are not listed. A model may have millions. */
struct oc_node_list {
    struct oc_wire at; /* after those that were read */
    uint32_t num, n;   /* number of the field, and how many there are */
};
enum { OC_GRAPH_NODES = 1, OC_FUNCTION_NODES = 7 }; /* num */

/* A local function as found in the file; its nodes are unpacked again for each call. */
struct oc_function {
    const char *domain, *name, *overload;
    ProtobufCBinaryData view;
    const Oc__Function *header;
    struct oc_node_list nodes;
    struct oc_opset_list opsets;
};

/* The call that a function body is expanded for. */
struct oc_call {
    const struct oc_call *up; /* enclosing call, to detect recursion */
    const struct oc_function *fn;
    uint32_t node;      /* the call node */
    const char *prefix; /* prefix of node names */
};

enum { OC_HINTS = 4 };

struct oc_scope {
    const struct oc_scope *up; /* enclosing graph; NULL for the main graph and for function bodies */
    struct oc_map names;       /* value name to value id */
    uint32_t hint[OC_HINTS];   /* per node input: index of the last match */
    uint32_t graph;
    uint32_t owner; /* node of the enclosing graph that has this body */
    const struct oc_call *call;
    const struct oc_opset_list *opsets;
    unsigned depth;
};

struct oc_pending { /* an input whose name is not yet defined in its graph */
    const char *name;
    uint32_t node, slot;
};

struct oc_text_list {
    struct oc_str *item;
    size_t n, cap;
};
struct oc_part_list {
    ProtobufCBinaryData *item;
    size_t n, cap;
};
/* A NodeProto; its lists are parts of those of the loader, from these indices on. */
struct oc_node_header {
    struct oc_str name, op_type, domain, overload;
    size_t in, out, attribute, metadata;
    size_t n_in, n_out, n_attribute, n_metadata;
};

struct oc_body { /* a graph attribute, parsed after the graph that contains it */
    ProtobufCBinaryData view;
    uint32_t graph, owner;
};

struct oc_recent_text { /* an interned text */
    const char *text;
    size_t n; /* 0: none */
};

struct oc_recent_attr { /* an attribute that depends on nothing but its message */
    uint8_t message[48];
    size_t n; /* bytes of the message, 0: none */
    struct oc_attr attr;
};

struct oc_loader {
    struct oc_model *m;
    struct oc_err *err;
    const struct oc_input_limits *limits;
    const uint8_t *base;
    struct oc_header_block *headers; /* stack of unpacked messages */
    struct oc_buf copy, views;       /* of the message that is being unpacked: without, and its `bytes` */
    struct oc_text_list in, out;     /* of the nodes that are being read */
    struct oc_part_list attributes, metadata; /* likewise */
    uint32_t cap_node, cap_value, cap_graph, cap_symbol;
    uint32_t n_expanded;
    struct oc_map symbols, functions;
    char *names_room; /* contiguous storage of names */
    size_t names_left;
    struct oc_recent_text recent[64];      /* cache: names of operators and attributes repeat */
    struct oc_recent_attr recent_attr[64]; /* cache: so do strides, kernel shapes, axes */
    struct oc_map externals;               /* cache: path to its resolution */
    const char *last_path;                 /* the last path and its result */
    uint32_t last_state;
    struct oc_function *fn;
    uint32_t n_fn;
    struct oc_opset_list opsets;
    struct oc_body *body; /* stack of unparsed bodies */
    uint32_t n_body, cap_body;
    struct oc_pending *pending; /* of the graph whose nodes are being read */
    uint32_t n_pending, cap_pending;
    struct oc_capture *capture;
    uint32_t n_capture, cap_capture;
};

/* load.c */
uint64_t oc_load_offset(const struct oc_loader *l, const uint8_t *at);
/* Fails with the offset. `what` names the part: "node 'conv1'". Returns -1. */
int oc_load_fail(struct oc_loader *l, enum oc_code code, const uint8_t *at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for a limit; found 0: not counted. */
int oc_load_over(struct oc_loader *l, enum oc_input_limit which, uint64_t found, const uint8_t *at);
/* The interned copy of a text. */
const char *oc_load_text(struct oc_loader *l, const char *text, size_t n);
/* Copies a name with a NUL, valid as long as the model; and releases the last one, of n bytes. */
const char *oc_load_keep(struct oc_loader *l, const void *text, size_t n);
void oc_load_drop(struct oc_loader *l, size_t n);

uint32_t oc_load_new_graph(struct oc_loader *l);
void oc_load_reserve_values(struct oc_loader *l, uint32_t n); /* reserves room for n more */
uint32_t oc_load_new_value(struct oc_loader *l, const char *name, uint32_t graph);

/* source.c: the bytes of the model, those of the file or of the graph that it describes (config.json,
 * safetensors, GGUF), which m->built owns. */
int oc_source_read(struct oc_model *m, ProtobufCBinaryData *out, struct oc_err *err);

/* load_message.c: unpacks a message of proto/onnx_header.proto; NULL on error. Valid until the stack of
 * messages is released to a mark that was set before. */
void *oc_header_read(struct oc_loader *l, const ProtobufCMessageDescriptor *d, ProtobufCBinaryData v);
/* Nodes of a message whose other fields oc_header_read has checked. */
struct oc_node_list oc_node_list_of(ProtobufCBinaryData v, uint32_t num);
ProtobufCBinaryData oc_node_list_next(struct oc_node_list *list); /* n times */
/* Reads a NodeProto where it is, without protobuf-c's message. Appends its lists to those of the loader. */
int oc_node_header_read(struct oc_loader *l, ProtobufCBinaryData v, struct oc_node_header *out);
struct oc_header_mark {
    struct oc_header_block *block;
    size_t used;
};
struct oc_header_mark oc_header_mark(const struct oc_loader *l);
void oc_header_release(struct oc_loader *l, struct oc_header_mark mark);
void oc_headers_free(struct oc_loader *l);

int oc_load_tensor(struct oc_loader *l, ProtobufCBinaryData v, struct oc_tensor *out);
int oc_load_sparse(struct oc_loader *l, ProtobufCBinaryData v, struct oc_tensor *out);

/* load.c: scope and owner are needed for graph attributes and for ref_attr_name */
int oc_load_attr(struct oc_loader *l, const struct oc_scope *sc, uint32_t owner, ProtobufCBinaryData v,
                 struct oc_attr *out, bool *dropped);

/* load_opsets.c: *n imports become the number of domains */
struct oc_opset *oc_load_opsets(struct oc_loader *l, Oc__Opset *const *opset, size_t *n, const uint8_t *at);

/* load_types.c: the name and the type that a ValueInfoProto declares. The name is valid as oc_header_read's messages. */
int oc_load_info(struct oc_loader *l, ProtobufCBinaryData v, struct oc_str *name, struct oc_type *type);

/* load_graph.c */
int oc_load_graph(struct oc_loader *l, struct oc_scope *sc, ProtobufCBinaryData v);

int oc_load_functions(struct oc_loader *l, const Oc__Model *model);

#endif
