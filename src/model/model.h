/* An ONNX file as an immutable graph. Built by load.c, never changed afterwards: one model serves many
 * analyses. Nodes and values are numbered through the whole model (main graph first in file order, then
 * bodies and expanded functions), so that analyses can use plain arrays. */
#ifndef OC_MODEL_H
#define OC_MODEL_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "shape/type.h"

/* ---- constants: views of mapped bytes, typed protobuf fields, external data ----------------------------- */

/* Weights are read only when elements are requested. */
enum oc_storage {
    OC_STORE_NONE,     /* no data in the file (allowed: weights may be stripped) */
    OC_STORE_RAW,      /* raw_data: little-endian, packed */
    OC_STORE_FIELDS,   /* float_data, int32_data, ...: `data` is the whole TensorProto message */
    OC_STORE_EXTERNAL, /* in an external file */
    OC_STORE_SPARSE    /* values and indices */
};

struct oc_tensor {
    const char *name; /* interned, "" if none */
    uint8_t dtype, storage;
    uint8_t rank;
    bool missing;              /* EXTERNAL: the file was missing when the model was loaded */
    const int64_t *dim;        /* >= 0 */
    uint64_t elements;         /* product of dim (checked at load) */
    const uint8_t *data;       /* RAW: the bytes; FIELDS: the whole TensorProto message */
    uint64_t message_bytes;    /* FIELDS: length of that message */
    uint64_t size_bytes;       /* stored size: of the data, of the external range, or elements x width */
    const char *external_path; /* as written, relative to the model's folder; NULL unless external */
    uint64_t external_offset_bytes;
    const struct oc_tensor *values, *indices; /* sparse */
    uint64_t where;                           /* offset of the message in the model file */
};

struct oc_model;

/* The first `n` elements as small values (integers, booleans, floats, strings); out has room for n. False
 * when the data is absent or cannot be read (missing external file: warns once). */
bool oc_tensor_elems(const struct oc_model *m, const struct oc_tensor *t, uint32_t n, struct oc_elem *out,
                     struct oc_arena *a);

/* All elements as bytes: little-endian, packed, as in raw_data. */
struct oc_tensor_bytes {
    const uint8_t *data;
    uint64_t size_bytes;
    struct oc_file file; /* owner of the memory */
    void *heap;
};
/* False when they are absent, cannot be read, or are not plain numbers (strings, sparse). Close `out` only
 * after true. More than OC_WIRE_READY_BYTES: call oc_os_need for what is accessed. */
bool oc_tensor_bytes_open(const struct oc_model *m, const struct oc_tensor *t, struct oc_tensor_bytes *out);
void oc_tensor_bytes_close(struct oc_tensor_bytes *b);

/* Weights in external files. A file must be inside the model's folder unless the model's limits permit
 * otherwise. */
enum oc_external_state { OC_EXTERNAL_FOUND, OC_EXTERNAL_MISSING, OC_EXTERNAL_OUTSIDE };
/* Looks for the file at this location, as written in the model. Opens nothing. */
enum oc_external_state oc_external_look(const struct oc_model *m, const char *location);
/* Maps a file in the folder of the model's. */
bool oc_beside_map(const struct oc_model *m, const char *location, struct oc_file *out);

/* ---- the graph ---------------------------------------------------------------------------------------- */

enum oc_attr_type {
    OC_ATTR_NONE,
    OC_ATTR_FLOAT = 1,
    OC_ATTR_INT = 2,
    OC_ATTR_STRING = 3,
    OC_ATTR_TENSOR = 4,
    OC_ATTR_GRAPH = 5,
    OC_ATTR_FLOATS = 6,
    OC_ATTR_INTS = 7,
    OC_ATTR_STRINGS = 8,
    OC_ATTR_TENSORS = 9,
    OC_ATTR_GRAPHS = 10,
    OC_ATTR_SPARSE_TENSOR = 11,
    OC_ATTR_SPARSE_TENSORS = 12,
    OC_ATTR_TYPE_PROTO = 13,
    OC_ATTR_TYPE_PROTOS = 14
};

struct oc_bytes { /* text in any encoding; NUL-terminated for convenience, n without it */
    const char *s;
    size_t n;
};

struct oc_attr {
    const char *name;
    uint8_t type; /* enum oc_attr_type */
    uint32_t n;   /* length of the list forms, else 1 */
    int64_t i;
    float f;
    struct oc_bytes s;
    const int64_t *ints;
    const float *floats;
    const struct oc_bytes *strings;
    const struct oc_tensor *tensors_or_null; /* dense or sparse, n of them; see oc_attr_tensor_at */
    const uint32_t *graph;                   /* graph(s): n graph indices; NULL for other types */
};

enum oc_node_kind { OC_NODE_OP, OC_NODE_CALL /* of a model-local function: body = graph[body] */ };

struct oc_node {
    const char *name; /* as written; "" if unnamed. Inside expanded functions: "<call node>/<name>" */
    const char *op_type, *domain; /* domain "ai.onnx" is stored as "" */
    const char *overload;
    const uint32_t *in, *out; /* value ids, OC_NONE: absent (empty name) */
    const struct oc_attr *attr;
    uint32_t n_in, n_out, n_attr;
    uint32_t graph;      /* index of the graph that contains it */
    uint32_t body;       /* OC_NODE_CALL: graph index of the expanded body, else OC_NONE */
    int32_t opset;       /* imported version of its domain, 0: domain not imported */
    uint8_t kind;        /* enum oc_node_kind */
    uint32_t file_index; /* position in its node list in the file */
    uint64_t where;      /* offset of the message in the file, 0: none */
    uint32_t n_bytes;    /* its length */
};

struct oc_value {
    const char *name;
    const struct oc_type *declared;   /* kind OC_T_NONE: not declared. A dim is known (v >= 0), unspecified
                                         (v == -1), or symbol[expr - 1] of the model */
    const struct oc_tensor *constant; /* initializer, or NULL. Outputs of Constant nodes have none */
    uint32_t producer;                /* node id, OC_NONE: graph input, initializer or outer value */
    uint32_t graph;                   /* defining graph */
    uint32_t n_use;                   /* node inputs that read it, including those in bodies */
    bool graph_input, graph_output;
};

struct oc_graph {
    const char *name;
    const uint32_t *node; /* node ids in a topological order (file order where it is one) */
    uint32_t n_node;
    const uint32_t *input, *output, *init; /* value ids; inputs as listed (initializers may be among them) */
    uint32_t n_input, n_output, n_init;
    bool unsure_order;    /* while loading: a node may come before its producers */
    uint32_t parent_node; /* control-flow or call node, OC_NONE for the main graph */
    const char *scope;    /* "" for main; path of control-flow nodes and functions, "If_3/then_branch" */
};

struct oc_capture { /* the bodies of this node read a value of the node's own graph */
    uint32_t node, value;
};

struct oc_opset {
    const char *domain;
    int64_t version;
};

/* Tensors of weight files, by what they belong to. */
enum oc_file_part { OC_FILE_LANGUAGE, OC_FILE_VISION, OC_FILE_AUDIO, OC_FILE_MTP, OC_FILE_PARTS };
struct oc_file_sum {
    uint32_t tensors;                    /* 0: no headers were read */
    uint64_t bytes, part[OC_FILE_PARTS]; /* bytes */
};

struct oc_model {
    struct oc_arena arena;
    struct oc_map names; /* interner for every string of the model */
    const char *path;    /* "" when loaded from memory */
    struct oc_file file;
    struct oc_buf
        built; /* the graph made from a config.json (decoder.h), which has no weights; n 0: a file of ONNX */
    struct oc_file_sum files;
    struct oc_input_limits
        limits; /* the limits it was loaded with; they also apply to its weights and analyses */
    int64_t ir_version;
    const char *producer_name, *producer_version;
    const struct oc_opset *opset;
    uint32_t n_opset;
    struct oc_graph *graph; /* graph[0] is the main graph */
    struct oc_node *node;
    struct oc_value *value;
    uint32_t n_graph, n_node, n_value;
    uint32_t most_in, most_out; /* upper bound for one node */
    uint32_t n_function;        /* local functions defined */
    const char **symbol;        /* names of symbolic dims (dim_param), each once */
    uint32_t n_symbol;
    struct oc_diags diags;            /* warnings of the load */
    uint64_t init_bytes;              /* stored bytes of all initializers */
    const struct oc_capture *capture; /* outer values read by bodies, sorted by node */
    uint32_t n_capture;
    bool unknown_weights; /* their types are: a quantization that is not modelled */
    bool has_origins;     /* some node has metadata that name its module */
};

/* Loads a file that contains one TensorProto. *holder owns the memory of *out: free it with oc_model_free. */
int oc_tensor_load(const char *path, struct oc_model **holder, struct oc_tensor *out, struct oc_err *err);

/* Position of the first capture of a node >= `node` in a list sorted by node; n if there is none. */
uint32_t oc_first_capture(const struct oc_capture *list, uint32_t n, uint32_t node);

/* Attribute by name, or NULL. */
const struct oc_attr *oc_node_attr(const struct oc_node *n, const char *name);
/* An INT attribute; number i of an INTS attribute. `otherwise`: there is none of the type, or fewer numbers. */
int64_t oc_node_int(const struct oc_node *n, const char *name, int64_t otherwise);
int64_t oc_node_int_at(const struct oc_node *n, const char *name, uint32_t i, int64_t otherwise);
/* Tensor `i` of an attribute. NULL: no attribute, another type, or fewer tensors (a file may declare a tensor
 * attribute without a tensor). */
const struct oc_tensor *oc_attr_tensor_at(const struct oc_attr *a, uint32_t i);
bool oc_node_is_constant(const struct oc_node *n); /* of the operator Constant */
/* The dense tensor of a Constant node; NULL: another node, or another kind of value. */
const struct oc_tensor *oc_node_constant(const struct oc_node *n);
/* The constant that a value is, or whose shape it has: after Identity, Cast, QuantizeLinear, DequantizeLinear.
 * NULL: none. */
const struct oc_tensor *oc_value_constant(const struct oc_model *m, uint32_t value);

/* Where a node of PyTorch's exporter comes from: module and call of the program. NULL: not recorded. */
struct oc_origin {
    const char *module;       /* "encoder.layers.0.fc1", "" for the whole model */
    const char *module_class; /* "torch.nn.modules.linear.Linear" */
    const char *source;       /* "model.py:96": innermost line outside of PyTorch */
};
/* Read from the node's message; texts are in the arena. */
void oc_node_origin(const struct oc_model *m, uint32_t node, struct oc_arena *a, struct oc_origin *out);
/* Whether the key of a metadata entry is one that oc_node_origin reads. */
bool oc_is_origin_key(const char *key, size_t n);

const char *oc_protobuf_version(void); /* of protobuf-c */

/* Display name: the node's name, or "<op_type>_<file index>" in `buf` for an unnamed one. */
const char *oc_node_label(const struct oc_model *m, const struct oc_node *n, char *buf, size_t cap);

#endif
