/* Shapes, types and small values for shape inference. Plain data; arrays are owned by the caller's arena. */
#ifndef OC_TYPE_H
#define OC_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shape/dim.h"

/* ---- dtype -------------------------------------------------------------------------------------------- */

/* Element types: the codes of ONNX TensorProto.DataType, and the quantization types of GGUF, which store
 * blocks of elements with their scales. */

enum oc_dtype {
    OC_DT_UNDEFINED = 0,
    OC_DT_FLOAT = 1,
    OC_DT_UINT8 = 2,
    OC_DT_INT8 = 3,
    OC_DT_UINT16 = 4,
    OC_DT_INT16 = 5,
    OC_DT_INT32 = 6,
    OC_DT_INT64 = 7,
    OC_DT_STRING = 8,
    OC_DT_BOOL = 9,
    OC_DT_FLOAT16 = 10,
    OC_DT_DOUBLE = 11,
    OC_DT_UINT32 = 12,
    OC_DT_UINT64 = 13,
    OC_DT_COMPLEX64 = 14,
    OC_DT_COMPLEX128 = 15,
    OC_DT_BFLOAT16 = 16,
    OC_DT_FLOAT8E4M3FN = 17,
    OC_DT_FLOAT8E4M3FNUZ = 18,
    OC_DT_FLOAT8E5M2 = 19,
    OC_DT_FLOAT8E5M2FNUZ = 20,
    OC_DT_UINT4 = 21,
    OC_DT_INT4 = 22,
    OC_DT_FLOAT4E2M1 = 23,
    OC_DT_FLOAT8E8M0 = 24,
    OC_DT_UINT2 = 25,
    OC_DT_INT2 = 26,
    OC_DT_COUNT, /* codes from here on are not of ONNX */
    OC_DT_Q4_0 = OC_DT_COUNT,
    OC_DT_Q4_1,
    OC_DT_Q5_0,
    OC_DT_Q5_1,
    OC_DT_Q8_0,
    OC_DT_Q8_1,
    OC_DT_Q2_K,
    OC_DT_Q3_K,
    OC_DT_Q4_K,
    OC_DT_Q5_K,
    OC_DT_Q6_K,
    OC_DT_Q8_K,
    OC_DT_IQ2_XXS,
    OC_DT_IQ2_XS,
    OC_DT_IQ3_XXS,
    OC_DT_IQ1_S,
    OC_DT_IQ4_NL,
    OC_DT_IQ3_S,
    OC_DT_IQ2_S,
    OC_DT_IQ4_XS,
    OC_DT_IQ1_M,
    OC_DT_TQ1_0,
    OC_DT_TQ2_0,
    OC_DT_MXFP4,
    OC_DT_NVFP4,
    OC_DT_Q1_0,
    OC_DT_ALL
};

enum oc_dtype_kind {
    OC_KIND_NONE,
    OC_KIND_FLOAT,
    OC_KIND_INT,
    OC_KIND_BOOL,
    OC_KIND_STRING,
    OC_KIND_COMPLEX
};

/* Arithmetic classes: they select the hardware peak that an operation is compared with. */
enum oc_class {
    OC_CLASS_NONE,
    OC_CLASS_F64,
    OC_CLASS_F32,
    OC_CLASS_TF32,
    OC_CLASS_F16,
    OC_CLASS_BF16,
    OC_CLASS_F8,
    OC_CLASS_F4,
    OC_CLASS_I64,
    OC_CLASS_I32,
    OC_CLASS_I16,
    OC_CLASS_I8,
    OC_CLASS_I4,
    OC_CLASS_I2,
    OC_CLASS_B1,
    OC_CLASS_COUNT
};

struct oc_dtype_info {
    const char *name; /* TensorProto name in lower case: "float", "float16", "int4" */
    uint8_t bits;     /* 0: no fixed size (string); of a quantization type: with its scales, rounded up */
    uint8_t kind;     /* enum oc_dtype_kind */
    uint8_t cls;      /* enum oc_class */
};

bool oc_dtype_is_float(unsigned dtype);                    /* of real or complex numbers */
const struct oc_dtype_info *oc_dtype_info(unsigned dtype); /* never NULL: "undefined" for unknown codes */
unsigned oc_dtype_by_name(const char *name, size_t n);     /* case-insensitive; OC_DT_UNDEFINED if unknown */
uint64_t oc_dtype_block(unsigned dtype);                   /* elements stored together; 1: each on its own */
const char *oc_class_name(unsigned cls);                   /* "f32" */
unsigned oc_class_by_name(const char *name);               /* OC_CLASS_NONE if unknown */
bool oc_class_is_int(unsigned cls);

/* ---- type --------------------------------------------------------------------------------------------- */

#define OC_MAX_RANK 64
#define OC_MAX_DATA 4096 /* size limit of a value that is propagated through the graph */

struct oc_shape {
    const struct oc_dim *dim;
    uint8_t rank;
    bool ranked; /* false: even the rank is unknown */
};

enum oc_type_kind { OC_T_NONE, OC_T_TENSOR, OC_T_SPARSE, OC_T_SEQUENCE, OC_T_OPTIONAL, OC_T_MAP };

struct oc_type {
    uint8_t kind;          /* enum oc_type_kind; OC_T_NONE: nothing known */
    uint8_t dtype;         /* enum oc_dtype; of a map: the key type */
    struct oc_shape shape; /* tensors; sequence and optional: [number of elements], unranked if unknown */
    const struct oc_type
        *elem; /* element type of a sequence (the common part of all elements), optional or map */
    const struct oc_type
        *item; /* sequence: the type of each element if they differ and all are known, else NULL */
};

enum oc_elem_kind { OC_E_UNKNOWN, OC_E_INT, OC_E_REAL, OC_E_RATIO, OC_E_STRING };

/* One element of a small value. */
struct oc_elem {
    uint8_t kind;    /* enum oc_elem_kind; booleans are OC_E_INT 0 or 1 */
    struct oc_dim i; /* OC_E_INT: known or an expression, may be negative.
                        OC_E_RATIO: the integer expression of a real number i * r + add */
    double r, add;   /* OC_E_REAL: r is the value */
    const char *str; /* OC_E_STRING */
};

/* A small value: the elements in row-major order; its shape is that of the type. */
struct oc_data {
    uint32_t n;
    const struct oc_elem *e;
};

struct oc_shape oc_shape_of(struct oc_arena *a, unsigned rank, const struct oc_dim *dims); /* copies dims */
struct oc_shape oc_shape_unranked(void);
struct oc_shape oc_shape_scalar(void);
struct oc_shape oc_shape_1d(struct oc_arena *a, struct oc_dim d);
struct oc_type oc_tensor_type(unsigned dtype, struct oc_shape shape); /* an unknown dtype becomes undefined */

bool oc_shape_known(const struct oc_shape *s); /* all dims known */
bool oc_shape_equal(const struct oc_shape *a, const struct oc_shape *b);
struct oc_dim oc_shape_count(struct oc_exprs *x, const struct oc_shape *s); /* number of elements */
struct oc_dim oc_shape_count_range(struct oc_exprs *x, const struct oc_shape *s, unsigned from, unsigned to);

/* "float[1,3,224,224]", "1x3x224x224", "float[N,3,?]" ... in the arena */
const char *oc_shape_text(struct oc_arena *a, struct oc_exprs *x, const struct oc_shape *s, const char *sep);
/* "{1,3,224,224}", "{}", "?" */
const char *oc_shape_braced_text(struct oc_arena *a, struct oc_exprs *x, const struct oc_shape *s);
const char *oc_type_text(struct oc_arena *a, struct oc_exprs *x, const struct oc_type *t);

/* Converts an axis in [-rank, rank) to [0, rank); false if out of range. */
bool oc_axis(int64_t axis, unsigned rank, unsigned *out);

/* Multidirectional broadcast of two shapes; *out may share the dims of one of them. Returns 0, or -1 when
 * known sizes differ and neither is 1. *assumed (may be NULL) is set when two unknown sizes are assumed to be
 * compatible. */
int oc_broadcast(struct oc_arena *a, struct oc_exprs *x, const struct oc_shape *s, const struct oc_shape *t,
                 struct oc_shape *out, bool *assumed);

/* ceil(elements * bits / 8). False on overflow. Strings give 0. */
bool oc_bytes_of(unsigned dtype, uint64_t elements, uint64_t *bytes);
/* Elements and bytes of a tensor with known sizes; false: a size is unknown, or the product overflows. */
bool oc_shape_elements(const struct oc_shape *s, uint64_t *n);
bool oc_type_elements(const struct oc_type *t, uint64_t *n);
bool oc_type_bytes(const struct oc_type *t, uint64_t *bytes);

/* ---- window ------------------------------------------------------------------------------------------- */

/* Output sizes of convolution and pooling windows along one axis. */

enum oc_auto_pad { OC_PAD_NOTSET, OC_PAD_VALID, OC_PAD_SAME_UPPER, OC_PAD_SAME_LOWER };

struct oc_window {
    struct oc_dim kernel;
    int64_t stride, dilation; /* >= 1 */
    int64_t pad_begin, pad_end;
    enum oc_auto_pad auto_pad;
    bool ceil_mode;
    bool literal_ceil; /* keep windows that start in the end padding (specification before opset 22) */
};

/* floor((in + pads - ((k - 1)*d + 1))/s) + 1, SAME: ceil(in/s), VALID: pads 0; in ceil mode windows that
 * would start in the end padding are dropped. A negative known size is returned unchanged. */
struct oc_dim oc_window_out(struct oc_exprs *x, struct oc_dim in, const struct oc_window *w);

/* Transposed: s*(in-1) + output_padding + (k-1)*d + 1 - pads; SAME: in*s (less if the window and the output
 * padding together do not fill a stride). */
struct oc_dim oc_window_out_transposed(struct oc_exprs *x, struct oc_dim in, const struct oc_window *w,
                                       int64_t output_padding);

/* The begin padding that the window really uses (auto_pad resolved), all sizes known. */
int64_t oc_window_pad_begin(int64_t in, int64_t out, const struct oc_window *w);

#endif
