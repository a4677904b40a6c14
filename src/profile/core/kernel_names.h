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

#endif
