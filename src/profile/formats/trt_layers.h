/* Layer information of a TensorRT engine (trtexec --exportLayerInfo, IEngineInspector): type, tensors and
 * cost of each layer. Layers are objects with --profilingVerbosity=detailed, otherwise only names. Written
 * by TensorRT 8.2 to 11; up to 10 with "Bindings" (names), from 11 on with "I/O Tensors" (objects).
 * Dimensions are logical: they exclude the padding of vectorised formats. */
#ifndef OC_TRT_LAYERS_H
#define OC_TRT_LAYERS_H

#include "base/json_read.h"
#include "profile/profile.h"

#define TRT_MAX_AXES 8

struct trt_ints {
    int64_t v[TRT_MAX_AXES];
    uint8_t n; /* TRT_MAX_AXES + 1: too many */
};

/* Parameters of a fused layer (ConvActPool) have the prefixes Conv and Pooling. */
struct trt_layer {
    const char *name, *type, *param_type, *origin, *tactic, *activation, *pooling; /* "" when absent */
    const char *weights_type, *bias_type;
    const char *const *marker; /* ONNX nodes that Metadata lists */
    uint32_t n_marker;
    struct trt_ints kernel, stride, pre_pad, post_pad, dilation, window;
    int64_t out_maps, groups, weights, bias; /* -1: absent */
    int64_t stream;                          /* on auxiliary streams layers run concurrently */
    const struct oc_type *in, *out;
    const char *const *in_name, *const *out_name; /* tensors */
    uint32_t n_in, n_out;
    bool detailed; /* an object: inputs and outputs are known */
};

struct trt_engine {
    struct trt_layer *layer; /* on the heap */
    size_t n, cap;
    struct oc_prof_input *io; /* inputs and outputs of the engine, up to TensorRT 10 without types; heap */
    size_t n_io, cap_io;
    bool found; /* the member "Layers" is present */
};

/* Reads the value of a member of the object if it belongs to the layer information. False: it does not,
 * and the value is not consumed. Texts and types are allocated in the profile's arena; truncated layers
 * are dropped. */
bool trt_read_engine(struct oc_json *j, struct oc_str key, struct oc_profile *p, struct trt_engine *out);

/* Cost of one execution of a layer. */
struct trt_cost {
    bool known;           /* macs and flop */
    uint64_t macs;        /* multiply-adds of convolutions and matrix products */
    double flop;          /* 2 per MAC, plus what the parameters specify: bias, sum, activation, window */
    double bytes;         /* inputs, outputs, weights; NAN if unknown */
    uint64_t param_bytes; /* of weights and bias, UINT64_MAX if unknown */
    uint8_t quality;      /* enum oc_quality of flop */
};
void trt_cost_of(const struct trt_layer *l, struct trt_cost *out);

#endif
