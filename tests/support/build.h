/* Builds ONNX models in code, so that a test reads as a graph:
 *
 *     struct oc_builder *b = oc_b_new(17);
 *     oc_b_input(b, "x", "float[N,3,224,224]");
 *     oc_b_init(b, "w", "float[64,3,7,7]");                  weights absent: no data in the file
 *     oc_b_init(b, "shape", "int64[2]{0,-1}");               a constant with data
 *     oc_b_node(b, "Conv", "conv1", "x,w", "y", "strides=2,2 pads=3,3,3,3 group=1");
 *     oc_b_node(b, "Reshape", "flat", "y,shape", "z", "");
 *     oc_b_output(b, "z", "float[N,?]");
 *     size_t n;
 *     uint8_t *bytes = oc_b_pack(b, &n);                     free(bytes)
 *     oc_b_free(b);
 *
 * A builder owns everything; messages it returns live as long as it does. A text that cannot be read is a bug
 * in the caller: it is printed and the program aborts. Nothing is checked against ONNX itself, on purpose:
 * broken models can be built too, and any field that has no function here can be set in the returned
 * messages.
 *
 * Types     float[N,3,?] (numbers, symbols, ? unknown)   float[] scalar   float rank unknown
 *           seq(T)  optional(T)  map(int64,T)  sparse(float[3,4])  opaque(domain,name)
 *           with the element types of TensorProto in any letter case
 * Tensors   int64[2,2]{1,2,3,4}   bool[]{1}   string[2]{'a','b'}   float[3]{*0.5} (every element)
 *           complex64[1]{1,2} (real, imaginary)   float8*, float4*: the bit patterns as integers
 * Attributes, separated by blanks:
 *           axis=1   alpha=0.5 (with . e inf or nan: float)   mode='linear'   pads=1,1,1,1   axes=[1]
 *           modes='a','b'   alpha:float=1   axes:ints=[]   scales:floats=[1,2]   value=float[2]{1,2}
 *           type:type=seq(float[N])   alpha:float=@a (refers to attribute "a" of the enclosing function)
 * Name lists  "x,w,,b": comma separated, blanks around names are dropped, empty means left out
 */
#ifndef OC_BUILD_H
#define OC_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include "onnx.pb-c.h"

struct oc_arena;
struct oc_builder;

/* An empty model: graph "g", the given version of the ONNX operator set and the IR version that came with it.
 */
struct oc_builder *oc_b_new(int opset);
void oc_b_free(struct oc_builder *b);

/* Imports an operator set: into the open function, otherwise into the model. Replaces an older import. */
void oc_b_opset(struct oc_builder *b, const char *domain, int64_t version);

/* Values of the current graph: the main graph, or the body opened last. With type NULL the type is
 * undeclared. */
Onnx__ValueInfoProto *oc_b_input(struct oc_builder *b, const char *name, const char *type);
Onnx__ValueInfoProto *oc_b_output(struct oc_builder *b, const char *name, const char *type);
Onnx__ValueInfoProto *oc_b_value(struct oc_builder *b, const char *name, const char *type);

/* Initializers of the current graph. oc_b_init: as raw_data (strings: string_data), or without data if the
 * text has no braces. oc_b_init_fields: in float_data, int32_data and so on. oc_b_init_raw: the given bytes.
 */
Onnx__TensorProto *oc_b_init(struct oc_builder *b, const char *name, const char *tensor);
Onnx__TensorProto *oc_b_init_fields(struct oc_builder *b, const char *name, const char *tensor);
Onnx__TensorProto *oc_b_init_raw(struct oc_builder *b, const char *name, const char *type, const void *data,
                                 size_t n);
Onnx__TensorProto *oc_b_init_external(struct oc_builder *b, const char *name, const char *type,
                                      const char *file, uint64_t offset_bytes, uint64_t length_bytes);
/* Turns an initializer without data into a reference to another file. */
void oc_b_make_external(struct oc_builder *b, Onnx__TensorProto *t, const char *file, uint64_t offset_bytes,
                        uint64_t length_bytes);
/* values, indices: tensor texts; dims: "3,4" */
Onnx__SparseTensorProto *oc_b_init_sparse(struct oc_builder *b, const char *name, const char *values,
                                          const char *indices, const char *dims);

/* Appends a node to the current graph or open function. "com.microsoft::FusedMatMul" names another domain.
 * `name` may be NULL. */
Onnx__NodeProto *oc_b_node(struct oc_builder *b, const char *op_type, const char *name, const char *inputs,
                           const char *outputs, const char *attributes);
/* Adds attributes to a node, for texts that are easier to print in parts. */
void oc_b_attr(struct oc_builder *b, Onnx__NodeProto *node, const char *attributes);
/* The same from numbers. */
void oc_b_attr_ints(struct oc_builder *b, Onnx__NodeProto *node, const char *key, const int64_t *v, size_t n);
/* Adds an entry of metadata_props. */
void oc_b_metadata(struct oc_builder *b, Onnx__NodeProto *node, const char *key, const char *value);

/* Opens a body graph as an attribute of the last node, e.g. "then_branch"; further nodes are added to it
 * until oc_b_close. Bodies nest. */
void oc_b_open(struct oc_builder *b, const char *attribute);
/* Opens a model-local function. attributes: "alpha beta=0.5": names without and with a default value. Its
 * operator-set imports start empty: call oc_b_opset. */
Onnx__FunctionProto *oc_b_function(struct oc_builder *b, const char *domain, const char *name,
                                   const char *inputs, const char *outputs, const char *attributes);
void oc_b_close(struct oc_builder *b);

/* The message under construction and its arena, for fields without a function here. */
Onnx__ModelProto *oc_b_model(struct oc_builder *b);
struct oc_arena *oc_b_arena(struct oc_builder *b);

/* The serialized model, to be freed with free(). Every body and function must be closed. */
uint8_t *oc_b_pack(struct oc_builder *b, size_t *n);
/* The same into a file. Returns 0, or -1 with errno set. */
int oc_b_save(struct oc_builder *b, const char *path);

#endif
