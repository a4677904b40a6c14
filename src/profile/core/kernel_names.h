/* Derives facts from the name of a kernel or CPU function: computation precision, execution unit, operator
 * class, library and algorithm. Uses a table of patterns (kernel_names.c, based on the naming of cuBLAS,
 * cuDNN, CUTLASS, TensorRT, rocBLAS, MIOpen, MLAS, oneDNN ...). For each fact the first matching row that
 * sets it wins. A fact that no row sets stays unknown: f32 is never guessed.
 *
 * Patterns: alternatives separated by '|'; one must occur in the name, ignoring case. In an alternative
 * '*' matches any text, '#' a digit, '^' the beginning of a word.
 *
 * Rows of a user's file (--kernel-names, hwdb/kernel-names/kernel-names.rng) take precedence. */
#ifndef OC_KERNEL_NAMES_H
#define OC_KERNEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json_read.h"
#include "onnxcost_types.h"
#include "profile/profile.h"

struct oc_kernel_facts {   /* "": unknown */
    const char *precision; /* name of a compute class: "f16", "tf32" ... */
    const char *unit;      /* "tensor core", "matrix core", "tile unit", "CUDA core", "vector" */
    const char *op_class;  /* "conv", "gemm", "pool" ... */
    const char *library, *algorithm;
};

struct oc_kernel_row {
    const char *match, *with, *without; /* patterns; with: must also match, without: must not match; NULL:
                                         * none */
    struct oc_kernel_facts says;        /* NULL: row does not set it; "": cannot be determined */
};

/* own: rows of a file, or NULL. The texts stay valid as long as `own`. */
void oc_kernel_facts(const struct oc_kernel_names *own, const char *name, struct oc_kernel_facts *out);

/* Sets precision, unit and library of the profile's kernels where the source does not report them, and of
 * each record the values shared by kernels with more than half of its device time. */
void oc_profile_name_kernels(struct oc_profile *p, const struct oc_kernel_names *own);

bool oc_kernel_match(const char *pattern, const char *name);

enum oc_kernel_unit { OC_UNIT_UNKNOWN, OC_UNIT_VECTOR, OC_UNIT_MATRIX };
enum oc_kernel_unit oc_kernel_unit(const char *unit);

/* Compute class of a precision as runtimes write it: f16, FP16, Half, INT8 ... OC_CLASS_NONE: none. */
unsigned oc_precision_class(const char *precision);

/* The operator classes that rows may name, in order; NULL after the last. */
const char *oc_kernel_class(size_t index);

#define OC_KERNEL_NAMES_MAX_FILE_BYTES (1u << 20)
int oc_kernel_names_read_mem(const char *name, const void *data, size_t n, struct oc_kernel_names **out,
                             struct oc_err *err);
const struct oc_kernel_row *oc_kernel_names_rows(const struct oc_kernel_names *own, size_t *n);

/* ---- layer type --------------------------------------------------------------------------------------- */

/* Operator types from the names of layers and nodes, for sources that do not record types, or types of their
 * own (TensorRT: CaskConvolution). Exporters put the type into the name: Conv_12, /layer1/conv1/Conv,
 * node_conv2d_3, resnet50/conv1/Conv2D__6. */

/* ONNX type in the name of one node. False: none. */
bool oc_type_in_name(const char *name, size_t n, struct oc_str *type);

/* "scope/conv/Conv2D:Conv2D", name and type of TensorFlow's operator that launched a kernel; also after other
 * annotations and "::". False: another annotation, or XLA's "XlaModule:". */
bool oc_tensorflow_operator(struct oc_str s, struct oc_str *name, struct oc_str *type);
/* Of a backward pass. */
static inline bool oc_is_tensorflow_gradient(struct oc_str name)
{
    return oc_str_starts(name, "gradient_tape/") || oc_str_starts(name, "gradients/");
}

/* Length without the version of CANN's and TensorFlow's types: MatMulV3, GatherV2. n: none. */
size_t oc_type_without_version(const char *s, size_t n);

/* The type of a layer of TensorRT: the ONNX type of its main node (a convolution or product, then pools,
 * norms and reductions, then elementwise operators, then data movement; of equals the first), otherwise
 * TensorRT's own (kgen, Shuffle, NoOp). Empty: unknown. The text is a constant, or part of `l`. */
struct trt_typed {
    const char *name;
    const char *type, *param_type, *pooling; /* of the layer information, "" when unknown */
    const char *const *marker;               /* names of the nodes that it lists */
    uint32_t n_marker;
};
struct oc_str oc_trt_layer_type(const struct trt_typed *l);

/* ---- trt name ----------------------------------------------------------------------------------------- */

/* The grammar of TensorRT's layer names (profile-formats 3.4): which layers the builder inserted, and the
 * parts of a fused layer. Independent of the model: the caller passes `known` to decide which texts are
 * names, because names may contain the separators " + ", " || ", ", ". Views point into the given text. */

enum trt_kind {
    TRT_NODE,      /* a node, tensor or initializer */
    TRT_TENSOR,    /* "node_of_X": the unnamed node that produces X */
    TRT_ADDED,     /* "reshape_after_X" ...: inserted by the parser for node X */
    TRT_UNNAMED,   /* "(Unnamed Layer* 360) [Shuffle]": inserted by the parser */
    TRT_RANGE,     /* "{ForeignNode[X...last]}" */
    TRT_GENERATED, /* "__myl_MulSum": a kernel of a fused region */
    TRT_KIND_COUNT
};

struct trt_part {
    enum trt_kind kind;
    const char *s; /* X */
    size_t n;
    const char *last; /* last name of a range */
    size_t n_last;
};

struct trt_known {
    bool (*is_name)(const void *ctx, const char *s, size_t n);
    const void *ctx;
};

/* Bucket of a layer that the builder inserted: "reformat", "copies", "DLA transfers", "inserted",
 * "framework"; NULL: none. */
const char *oc_trt_overhead(const char *s, size_t n);

/* Length without a trailing " [profile N]" and "_myl<region>_<k>". */
size_t oc_trt_stem(const char *s, size_t n);

/* Splits into parts, stores at most `max`; `known` may be NULL. Returns the number of parts, which may
 * exceed max. */
size_t oc_trt_split(const char *s, size_t n, const struct trt_known *known, struct trt_part *out, size_t max);

#endif
