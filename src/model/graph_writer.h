/* Writes an ONNX graph: nodes named after the module that they are in, weights that have a type and a shape
 * but no data, for models that are described elsewhere (config.json, safetensors, GGUF), and tensors with data. */
#ifndef OC_GRAPH_WRITER_H
#define OC_GRAPH_WRITER_H

#include "base/arena.h"
#include "base/map.h"
#include "onnx_header.pb-c.h"

struct oc_messages { /* packed, on the heap */
    ProtobufCBinaryData *item;
    size_t n, cap;
};

struct oc_graph_writer { /* zero before use, but for names.arena */
    struct oc_arena arena;
    struct oc_messages node, weight, input, output;
    struct oc_messages attribute; /* of the next node */
    struct oc_map names;          /* of nodes, to make them unique */
    char scope[96];               /* module of the next nodes: "model.layers.0.mlp" */
    int opset;                    /* 0: 20 */
};

/* Attributes of the next node. */
void oc_gw_attr_i(struct oc_graph_writer *g, const char *name, int64_t v);
void oc_gw_attr_f(struct oc_graph_writer *g, const char *name, float v);
void oc_gw_attr_s(struct oc_graph_writer *g, const char *name, const char *v);
void oc_gw_attr_ints(struct oc_graph_writer *g, const char *name, const int64_t *v, size_t n);

/* The next nodes are in this module, until the place is left. */
struct oc_gw_place {
    size_t n;
};
struct oc_gw_place oc_gw_enter(struct oc_graph_writer *g, const char *module);
void oc_gw_leave(struct oc_graph_writer *g, struct oc_gw_place p);

/* A node; `in` ends with NULL, and so does `output`; "" is absent. output NULL: one output with a name of its own.
 * Returns the first output. */
const char *oc_gw_node(struct oc_graph_writer *g, const char *domain, const char *type, const char *const *in,
                       const char *const *output);
const char *oc_gw_constant(struct oc_graph_writer *g, int64_t v);
const char *oc_gw_cast(struct oc_graph_writer *g, const char *x, int dtype);

/* "<module>.<name>", or the name alone in no module */
const char *oc_gw_path(struct oc_graph_writer *g, const char *name);
void oc_gw_weight(struct oc_graph_writer *g, const char *name, unsigned dtype, size_t rank,
                  const int64_t *dim);
/* A weight with its elements, little-endian. */
void oc_gw_tensor(struct oc_graph_writer *g, const char *name, unsigned dtype, size_t rank,
                  const int64_t *dim, const struct oc_buf *elements);

/* An input or output of the graph. dim: symbols, or numbers; ends with NULL */
void oc_gw_value_info(struct oc_graph_writer *g, struct oc_messages *list, const char *name, int dtype,
                      const char *const *dim);

void oc_gw_move(struct oc_messages *to, struct oc_messages *from); /* to its end */

void oc_gw_write(struct oc_graph_writer *g, const char *producer, struct oc_buf *out); /* appends the model */
void oc_gw_free(struct oc_graph_writer *g);

#endif
