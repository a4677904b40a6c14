/* The model zoo: well-known architectures as ONNX graphs, made by code. Shape, node names and the little
 * Shape, Gather and Concat chains follow what PyTorch's exporter writes; batch and sequence length stay
 * symbols.
 *
 * A struct zoo is a graph under construction with a module path, as in PyTorch: nodes are named
 * "/layer1/layer1.0/conv1/Conv", their outputs "/layer1/layer1.0/conv1/Conv_output_0", parameters
 * "layer1.0.conv1.weight". Functions that append nodes return the name of the (first) output; names live as
 * long as the zoo. Parameters have no data until zoo_write decides about it. */
#ifndef OC_ZOO_H
#define OC_ZOO_H

#include "base/diag.h"
#include "base/map.h"
#include "support/build.h"

/* How a parameter is filled with random data. */
enum zoo_fill {
    ZOO_WEIGHT, /* uniform with variance 1 / fan_in */
    ZOO_SMALL,  /* around 0: biases, means */
    ZOO_ONE,    /* around 1: scales, variances; always positive */
    ZOO_TRIL    /* bool, lower triangle of the last two dimensions */
};

struct zoo_param {
    Onnx__TensorProto *tensor;
    uint64_t elements, size_bytes;
    int64_t fan_in;
    uint8_t fill; /* enum zoo_fill */
};

struct zoo {
    struct oc_builder *b;
    const struct zoo_net *net; /* of networks that can be quantized; set before building */
    struct oc_map counts;      /* node base name -> how often used */
    struct zoo_param *param;   /* heap */
    size_t n_param, cap_param;
    char scope[256], prefix[256]; /* "/layer1/layer1.0", "layer1.0." */
    unsigned next_id;             /* of folded constants: onnx::MatMul_<id> */
    bool symbolic_hw;             /* image height and width are symbols; set before building */
    const char *norm_attributes;  /* of batch_norm: epsilon and momentum; a model may set its own */
};

void zoo_init(struct zoo *z, int opset);
void zoo_free(struct zoo *z);

/* ---- module path --------------------------------------------------------------------------------------- */

struct zoo_place {
    size_t scope, prefix;
};
struct zoo_place zoo_enter(struct zoo *z, const char *module); /* "conv1": /conv1, conv1. */
struct zoo_place zoo_child(struct zoo *z, int index);          /* of a Sequential: /layer1.0, 0. */
void zoo_leave(struct zoo *z, struct zoo_place place);

/* ---- pieces -------------------------------------------------------------------------------------------- */

char *zoo_text(struct zoo *z, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* One node with one output. zoo_op_to names the output, or outputs, instead. inputs: a name list. */
const char *zoo_op(struct zoo *z, const char *op_type, const char *inputs, const char *attributes);
const char *zoo_op_to(struct zoo *z, const char *op_type, const char *inputs, const char *outputs,
                      const char *attributes);
const char *zoo_op2(struct zoo *z, const char *op_type, const char *x, const char *y, const char *attributes);
const char *zoo_const(struct zoo *z, const char *tensor); /* a Constant node */
/* "<scope>/<op_type>" and a unique number: for nodes made with oc_b_node */
const char *zoo_node_name(struct zoo *z, const char *op_type);

/* A parameter of the current module ("<prefix><name>"), or with its own name. type: "float[64,3,7,7]". */
const char *zoo_param(struct zoo *z, const char *name, const char *type, enum zoo_fill fill, int64_t fan_in);
const char *zoo_param_named(struct zoo *z, const char *name, const char *type, enum zoo_fill fill,
                            int64_t fan_in);

/* ---- layers (of the current module) -------------------------------------------------------------------- */

struct zoo_conv {
    int in, out, kernel, stride, pad, group;
    bool bias;
};
/* The graph input "input", float[batch,3,height,width], with 224 for symbols unless symbolic_hw. */
void zoo_image_input(struct zoo *z);
const char *zoo_conv(struct zoo *z, const char *x, const struct zoo_conv *c);
const char *zoo_conv_attributes(struct zoo *z, const struct zoo_conv *c);
const char *zoo_batch_norm(struct zoo *z, const char *x, int channels);
const char *zoo_layer_norm(struct zoo *z, const char *x, int width, const char *epsilon);
const char *zoo_linear(struct zoo *z, const char *x, int in, int out); /* rank 3: MatMul, Add */
/* rank 2: Gemm with the weight as [out, in] */
const char *zoo_gemm(struct zoo *z, const char *x, const char *out_name, int in, int out);
const char *zoo_gelu_erf(struct zoo *z, const char *x);

/* ---- layers of text and speech (zoo_sequence.c) -------------------------------------------------------- */

const char *zoo_linear_in(struct zoo *z, const char *module, const char *x, int in, int out);
/* without bias; fan_in: more than `in` makes the weights smaller */
const char *zoo_linear_bare(struct zoo *z, const char *module, const char *x, int in, int out,
                            int64_t fan_in);
/* Gather of rows of the module's table */
const char *zoo_embedding(struct zoo *z, const char *module, int rows, int width, const char *ids);

/* A window along 1 or 2 sides with separate sizes. */
struct zoo_window {
    int rank, kernel[2], stride[2], before[2], after[2]; /* before, after: padding */
};
/* with bias, of one group */
const char *zoo_conv_window(struct zoo *z, const char *x, int in, int out, const struct zoo_window *w);

struct zoo_rnn {
    bool lstm; /* or GRU, with PyTorch's equations */
    bool both_ways;
    int in, hidden;
};
/* x {steps, batch, in} to {steps, batch, hidden}, twice as wide if bidirectional. The initial state is zero.
 */
const char *zoo_rnn(struct zoo *z, const char *x, const struct zoo_rnn *r);

/* ---- layers in their own module (zoo_layers.c) ---- */

enum zoo_act { ZOO_LINEAR, ZOO_RELU, ZOO_SILU, ZOO_SIGMOID, ZOO_HARD_SWISH, ZOO_HARD_SIGMOID, ZOO_GELU };
const char *zoo_act(struct zoo *z, const char *x, enum zoo_act act);

const char *zoo_op_in(struct zoo *z, const char *module, const char *op_type, const char *x,
                      const char *attributes);
const char *zoo_act_in(struct zoo *z, const char *module, const char *x, enum zoo_act act);
const char *zoo_conv_in(struct zoo *z, const char *module, const char *x, const struct zoo_conv *c);
const char *zoo_norm_in(struct zoo *z, const char *module, const char *x, int channels);

/* Children of a Sequential. zoo_conv_norm_act: three children, the last one only with an activation. */
const char *zoo_act_at(struct zoo *z, int index, const char *x, enum zoo_act act);
const char *zoo_conv_at(struct zoo *z, int index, const char *x, const struct zoo_conv *c);
const char *zoo_norm_at(struct zoo *z, int index, const char *x, int channels);
const char *zoo_conv_norm_act(struct zoo *z, int first, const char *x, const struct zoo_conv *c,
                              enum zoo_act act);

/* The mean of each channel through two 1x1 convolutions, multiplied with x. */
const char *zoo_squeeze_excite(struct zoo *z, const char *x, int channels, int squeezed, enum zoo_act act,
                               enum zoo_act gate);
/* Transposition from [N,C,H,W] to [N,H,W,C], the norm and the transposition back. */
const char *zoo_layer_norm_2d(struct zoo *z, const char *x, int channels, const char *epsilon);

/* ---- layers in floating point or quantized (zoo_quant.c) ----------------------------------------------- */

/* A tensor and, where it is quantized, its scale and zero point. */
struct zoo_value {
    const char *name, *scale, *zero;
    double step;  /* the scale as a number */
    bool clipped; /* not negative */
};

/* Value range of a layer's output with random weights; of generated input data. */
enum zoo_range {
    ZOO_RANGE_INPUT,
    ZOO_RANGE_LINEAR,
    ZOO_RANGE_RELU,
    ZOO_RANGE_RELU6,
    ZOO_RANGE_SUM,
    ZOO_RANGE_SUM_RELU,
    ZOO_RANGE_MEAN
};

/* `range` is the range after batch norm and activation. */
struct zoo_net {
    struct zoo_value (*input)(struct zoo *z, const char *x);
    struct zoo_value (*conv)(struct zoo *z, struct zoo_value x, const struct zoo_conv *c,
                             enum zoo_range range);
    struct zoo_value (*norm)(struct zoo *z, struct zoo_value x, int channels);
    struct zoo_value (*relu)(struct zoo *z, struct zoo_value x);
    struct zoo_value (*relu6)(struct zoo *z, struct zoo_value x);
    struct zoo_value (*add)(struct zoo *z, struct zoo_value x, struct zoo_value y, enum zoo_range range);
    /* MaxPool, Flatten: values are unchanged */
    struct zoo_value (*moved)(struct zoo *z, const char *op_type, struct zoo_value x, const char *attributes);
    struct zoo_value (*mean)(struct zoo *z, struct zoo_value x); /* GlobalAveragePool */
    void (*gemm)(struct zoo *z, struct zoo_value x, const char *output, int in, int out);
};
extern const struct zoo_net zoo_float_net, zoo_qdq_net, zoo_qoperator_net, zoo_dynamic_net;

/* ---- shapes computed in the graph ---------------------------------------------------------------------- */

const char *zoo_size(struct zoo *z, const char *x, int axis); /* Shape, Constant, Gather: a scalar */
const char *zoo_unsqueeze(struct zoo *z, const char *x, int axis);

struct zoo_dim {
    const char *scalar; /* a value, or NULL: the number */
    int number;
};
/* Unsqueezes and concatenates the sizes and reshapes. */
const char *zoo_view(struct zoo *z, const char *x, const struct zoo_dim *dims, size_t n);
#define ZOO_VIEW(z, x, ...)                                                                                  \
    zoo_view((z), (x), (const struct zoo_dim[]){__VA_ARGS__},                                                \
             sizeof((const struct zoo_dim[]){__VA_ARGS__}) / sizeof(struct zoo_dim))
const char *zoo_transpose(struct zoo *z, const char *x, const char *perm);
/* starts, ends: one-element values */
const char *zoo_slice(struct zoo *z, const char *x, const char *starts, const char *ends, int axis);

/* ---- models -------------------------------------------------------------------------------------------- */

struct zoo_model {
    const char *name, *title;
    const char *bind; /* the sizes for which `macs` is given */
    uint64_t macs;    /* multiply-accumulates of convolutions, products and recurrent layers, without bias */
    void (*build)(struct zoo *);
    bool any_size; /* heights and widths may be symbols */
};
extern const struct zoo_model zoo_models[];
extern const size_t zoo_model_count;
const struct zoo_model *zoo_find(const char *name); /* NULL if none */

void zoo_resnet18(struct zoo *z);
void zoo_resnet50(struct zoo *z);
void zoo_mobilenetv2(struct zoo *z);
void zoo_vgg16(struct zoo *z);
void zoo_vit_b_16(struct zoo *z);
void zoo_bert_base(struct zoo *z);
void zoo_gpt2(struct zoo *z);

/* text, speech, recurrent layers */
void zoo_distilbert(struct zoo *z);
void zoo_whisper_encoder(struct zoo *z);
void zoo_crnn(struct zoo *z);
void zoo_deepspeech_lstm(struct zoo *z);
void zoo_deepspeech_gru(struct zoo *z);
void zoo_keyword(struct zoo *z);
void zoo_t5_encoder(struct zoo *z);
void zoo_resnet18_qdq(struct zoo *z);
void zoo_resnet50_qdq(struct zoo *z);
void zoo_resnet18_dynamic(struct zoo *z);
void zoo_mobilenetv2_qoperator(struct zoo *z);
void zoo_mobilenetv2_dynamic(struct zoo *z);
void zoo_t5_decoder(struct zoo *z);

/* images */
void zoo_squeezenet1_1(struct zoo *z);
void zoo_shufflenetv2(struct zoo *z);
void zoo_densenet121(struct zoo *z);
void zoo_efficientnet_b0(struct zoo *z);
void zoo_mobilenetv3(struct zoo *z);
void zoo_convnext_tiny(struct zoo *z);
void zoo_mixer_b_16(struct zoo *z);
void zoo_yolov8n(struct zoo *z);
void zoo_unet(struct zoo *z);
void zoo_espcn(struct zoo *z);
void zoo_edsr(struct zoo *z);

/* ---- a randomly wired network: different for every seed ---- */

void zoo_randwire(struct zoo *z, uint64_t seed);

/* ---- networks of single operators, for calibration ---- */

bool zoo_micro(struct zoo *z, const char *kind, uint64_t seed); /* false: no such kind */

/* ---- language models with a KV cache ---- */

struct zoo_llama_size {
    const char *name, *title;
    int width, layers, heads, kv_heads, head, mlp, vocabulary, positions;
};
extern const struct zoo_llama_size zoo_llama_sizes[];
extern const size_t zoo_llama_size_count;

/* The exporter: attention as MatMul, Softmax, MatMul on a cache extended by Concat (optimum; models for
 * transformers.js are the same), or GroupQueryAttention and SkipSimplifiedLayerNormalization
 * (onnxruntime-genai). */
enum zoo_llama_layout { ZOO_LLAMA_OPTIMUM, ZOO_LLAMA_GENAI };

/* A decoder of the Llama family, float16 or (bits 4) with MatMulNBits in blocks of 32, untied head, logits of
 * every position. Needs opset 17 or later; size: a name of the list. */
int zoo_llama(struct zoo *z, const char *size, enum zoo_llama_layout layout, int bits);

/* ---- graphs for benchmarks and robustness tests ---- */

void zoo_chain(struct zoo *z, uint64_t nodes); /* exactly that many nodes: MatMul, Add, Relu repeated */
void zoo_bigfile(struct zoo *z,
                 uint64_t bytes); /* MatMuls with that many bytes of weights, rounded down to 16 KiB */

void zoo_hostile(struct zoo *z); /* a small model whose names contain control characters and markup */

/* A file of `depth` If nodes, each in a branch of the previous one. Written without recursion. */
int zoo_write_nest(uint64_t depth, FILE *f, struct oc_err *err);

/* ---- output -------------------------------------------------------------------------------------------- */

uint64_t zoo_param_elements(const struct zoo *z);

/* Parameters remain references into the file `external` (which is not written), or, if that is NULL, get
 * seeded random data, streamed into f. The same seed gives the same file. */
int zoo_write(struct zoo *z, const char *external, uint64_t seed, FILE *f, struct oc_err *err);

/* Copies the model file `path` into f with every larger initializer replaced by a reference into the file
 * `external`. */
int zoo_strip(const char *path, const char *external, FILE *f, struct oc_err *err);

#endif
