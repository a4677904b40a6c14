/* Element types: the codes of ONNX TensorProto.DataType, and the quantization types of GGUF, which store
 * blocks of elements with their scales. */
#ifndef OC_DTYPE_H
#define OC_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

const struct oc_dtype_info *oc_dtype_info(unsigned dtype); /* never NULL: "undefined" for unknown codes */
unsigned oc_dtype_by_name(const char *name, size_t n);     /* case-insensitive; OC_DT_UNDEFINED if unknown */
uint64_t oc_dtype_block(unsigned dtype);                   /* elements stored together; 1: each on its own */
const char *oc_class_name(unsigned cls);                   /* "f32" */
unsigned oc_class_by_name(const char *name);               /* OC_CLASS_NONE if unknown */
bool oc_class_is_int(unsigned cls);

#endif
