/* Operator types from the names of layers and nodes, for sources that do not record types, or types of their
 * own (TensorRT: CaskConvolution). Exporters put the type into the name: Conv_12, /layer1/conv1/Conv,
 * node_conv2d_3, resnet50/conv1/Conv2D__6. */
#ifndef OC_LAYER_TYPE_H
#define OC_LAYER_TYPE_H

#include "base/json_read.h"

/* ONNX type in the name of one node. False: none. */
bool oc_type_in_name(const char *name, size_t n, struct oc_str *type);

/* The type of a layer of TensorRT: the ONNX type of its main node (a convolution or product, then pools,
 * norms and reductions, then elementwise operators, then data movement; of equals the first), otherwise
 * TensorRT's own (kgen, Shuffle, NoOp). Empty: unknown. The text is a constant, or part of `l`. */
struct trt_typed {
    const char *name;
    const char *type, *param_type, *pooling; /* of the layer information, "" when unknown */
    const char *const *marker;               /* names of the nodes that it lists */
    uint32_t n_marker;
};
struct oc_str trt_layer_type(const struct trt_typed *l);

#endif
