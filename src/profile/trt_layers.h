/* Layer information of a TensorRT engine (trtexec --exportLayerInfo, IEngineInspector): what each layer is,
 * what it reads and writes, and what that costs. Layers are objects with --profilingVerbosity=detailed, else
 * only names. Written by TensorRT 8.2 to 11; up to 10 with "Bindings" (names), from 11 on with "I/O Tensors"
 * (objects). Dimensions are logical: padding of vectorised formats is not in them. */
#ifndef OC_TRT_LAYERS_H
#define OC_TRT_LAYERS_H

#include "base/json_read.h"
#include "profile/profile.h"

#define TRT_MAX_AXES 8

struct trt_ints {
    int64_t v[TRT_MAX_AXES];
    uint8_t n; /* TRT_MAX_AXES + 1: more than fit */
};

/* Parameters of a fused layer (ConvActPool) stand with the prefixes Conv and Pooling. */
struct trt_layer {
    const char *name, *type, *param_type, *origin, *tactic, *activation, *pooling; /* "" when absent */
    const char *weights_type, *bias_type;
    const char *const *marker; /* ONNX nodes that Metadata lists */
    uint32_t n_marker;
    struct trt_ints kernel, stride, pre_pad, post_pad, dilation, window;
    int64_t out_maps, groups, weights, bias; /* -1: not given */
    int64_t stream;                          /* on auxiliary streams layers run side by side */
    const struct oc_type *in, *out;
    const char *const *in_name, *const *out_name; /* tensors */
    uint32_t n_in, n_out;
    bool detailed; /* an object: inputs and outputs are known */
};

struct trt_engine {
    struct trt_layer *layer; /* heap */
    size_t n, cap;
    const char **io; /* names of the engine's inputs and outputs; heap */
    size_t n_io, cap_io;
    bool found; /* "Layers" was there */
};

/* Reads the value of a member of the object if it is one of the layer information; false: it is not, and the
 * value is still there. Texts and types go to the profile's arena; layers that are cut off are dropped. */
bool trt_read_engine(struct oc_json *j, struct oc_str key, struct oc_profile *p, struct trt_engine *out);
void trt_free_engine(struct trt_engine *e);

/* One execution of a layer. */
struct trt_cost {
    bool known;           /* macs and flop */
    uint64_t macs;        /* multiply-adds of convolutions and products */
    double flop;          /* 2 a MAC, and what the parameters tell: bias, sum, activation, window */
    double bytes;         /* inputs, outputs, weights; NAN when not known */
    uint64_t param_bytes; /* of weights and bias, UINT64_MAX when not known */
    uint8_t quality;      /* enum oc_quality of flop */
};
void trt_cost_of(const struct trt_layer *l, struct trt_cost *out);

#endif
