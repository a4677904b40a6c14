#include "shape/dtype.h"

#include <string.h>

static const struct oc_dtype_info info[OC_DT_COUNT] = {
    [OC_DT_UNDEFINED] = {"undefined", 0, OC_KIND_NONE, OC_CLASS_NONE},
    [OC_DT_FLOAT] = {"float", 32, OC_KIND_FLOAT, OC_CLASS_F32},
    [OC_DT_UINT8] = {"uint8", 8, OC_KIND_INT, OC_CLASS_I8},
    [OC_DT_INT8] = {"int8", 8, OC_KIND_INT, OC_CLASS_I8},
    [OC_DT_UINT16] = {"uint16", 16, OC_KIND_INT, OC_CLASS_I16},
    [OC_DT_INT16] = {"int16", 16, OC_KIND_INT, OC_CLASS_I16},
    [OC_DT_INT32] = {"int32", 32, OC_KIND_INT, OC_CLASS_I32},
    [OC_DT_INT64] = {"int64", 64, OC_KIND_INT, OC_CLASS_I64},
    [OC_DT_STRING] = {"string", 0, OC_KIND_STRING, OC_CLASS_NONE},
    [OC_DT_BOOL] = {"bool", 8, OC_KIND_BOOL, OC_CLASS_B1},
    [OC_DT_FLOAT16] = {"float16", 16, OC_KIND_FLOAT, OC_CLASS_F16},
    [OC_DT_DOUBLE] = {"double", 64, OC_KIND_FLOAT, OC_CLASS_F64},
    [OC_DT_UINT32] = {"uint32", 32, OC_KIND_INT, OC_CLASS_I32},
    [OC_DT_UINT64] = {"uint64", 64, OC_KIND_INT, OC_CLASS_I64},
    [OC_DT_COMPLEX64] = {"complex64", 64, OC_KIND_COMPLEX, OC_CLASS_F32},
    [OC_DT_COMPLEX128] = {"complex128", 128, OC_KIND_COMPLEX, OC_CLASS_F64},
    [OC_DT_BFLOAT16] = {"bfloat16", 16, OC_KIND_FLOAT, OC_CLASS_BF16},
    [OC_DT_FLOAT8E4M3FN] = {"float8e4m3fn", 8, OC_KIND_FLOAT, OC_CLASS_F8},
    [OC_DT_FLOAT8E4M3FNUZ] = {"float8e4m3fnuz", 8, OC_KIND_FLOAT, OC_CLASS_F8},
    [OC_DT_FLOAT8E5M2] = {"float8e5m2", 8, OC_KIND_FLOAT, OC_CLASS_F8},
    [OC_DT_FLOAT8E5M2FNUZ] = {"float8e5m2fnuz", 8, OC_KIND_FLOAT, OC_CLASS_F8},
    [OC_DT_UINT4] = {"uint4", 4, OC_KIND_INT, OC_CLASS_I4},
    [OC_DT_INT4] = {"int4", 4, OC_KIND_INT, OC_CLASS_I4},
    [OC_DT_FLOAT4E2M1] = {"float4e2m1", 4, OC_KIND_FLOAT, OC_CLASS_F4},
    [OC_DT_FLOAT8E8M0] = {"float8e8m0", 8, OC_KIND_FLOAT, OC_CLASS_F8},
    [OC_DT_UINT2] = {"uint2", 2, OC_KIND_INT, OC_CLASS_I2},
    [OC_DT_INT2] = {"int2", 2, OC_KIND_INT, OC_CLASS_I2},
};
_Static_assert(OC_DT_COUNT == 27, "a new element type needs a row above");

static const char *const class_name[] = {
    [OC_CLASS_NONE] = "none", [OC_CLASS_F64] = "f64",   [OC_CLASS_F32] = "f32", [OC_CLASS_TF32] = "tf32",
    [OC_CLASS_F16] = "f16",   [OC_CLASS_BF16] = "bf16", [OC_CLASS_F8] = "f8",   [OC_CLASS_F4] = "f4",
    [OC_CLASS_I64] = "i64",   [OC_CLASS_I32] = "i32",   [OC_CLASS_I16] = "i16", [OC_CLASS_I8] = "i8",
    [OC_CLASS_I4] = "i4",     [OC_CLASS_I2] = "i2",     [OC_CLASS_B1] = "b1",
};
_Static_assert(sizeof(class_name) / sizeof(*class_name) == OC_CLASS_COUNT, "a new class needs a name");

static bool same_letters(const char *a, const char *b, size_t n)
{
    if (strlen(a) != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        char c = (char)(b[i] >= 'A' && b[i] <= 'Z' ? b[i] - 'A' + 'a' : b[i]);
        if (c != a[i])
            return false;
    }
    return true;
}

const struct oc_dtype_info *oc_dtype_info(unsigned dtype)
{
    return &info[dtype < OC_DT_COUNT ? dtype : OC_DT_UNDEFINED];
}

unsigned oc_dtype_by_name(const char *name, size_t n)
{
    for (unsigned i = 1; i < OC_DT_COUNT; i++)
        if (same_letters(info[i].name, name, n))
            return i;
    if (same_letters("float32", name, n))
        return OC_DT_FLOAT;
    return same_letters("float64", name, n) ? OC_DT_DOUBLE : OC_DT_UNDEFINED;
}

const char *oc_class_name(unsigned cls)
{
    return class_name[cls < OC_CLASS_COUNT ? cls : OC_CLASS_NONE];
}

unsigned oc_class_by_name(const char *name)
{
    for (unsigned i = 1; i < OC_CLASS_COUNT; i++)
        if (strcmp(class_name[i], name) == 0)
            return i;
    return OC_CLASS_NONE;
}

bool oc_class_is_int(unsigned cls)
{
    return cls >= OC_CLASS_I64 && cls <= OC_CLASS_B1;
}
