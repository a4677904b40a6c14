/* What the name of a kernel or CPU function tells: the precision it computes in, the unit that does it, the
 * class of operator, library and algorithm. A table of patterns (kernel_names.c, after the naming of cuBLAS,
 * cuDNN, CUTLASS, TensorRT, rocBLAS, MIOpen, MLAS, oneDNN ...); for each fact the first row that matches and
 * says something decides. What no row tells stays unknown: f32 is never guessed.
 *
 * Patterns: parts parted by '|', one of which must be found in the name, in any letter case. In a part '*'
 * stands for any text, '#' for a digit, '^' for the beginning of a word.
 *
 * Rows of a user's file (--kernel-names, hwdb/kernel-names/kernel-names.rng) are asked first. */
#ifndef OC_KERNEL_NAMES_H
#define OC_KERNEL_NAMES_H

#include "profile/profile.h"

struct oc_kernel_facts {   /* "": not known */
    const char *precision; /* name of an arithmetic class: "f16", "tf32" ... */
    const char *unit;      /* "tensor core", "matrix core", "tile unit", "CUDA core", "vector" */
    const char *op_class;  /* "conv", "gemm", "pool" ... */
    const char *library, *algorithm;
};

struct oc_kernel_row {
    const char *match, *with, *without; /* patterns; with: must be found too, without: must not; NULL: none */
    struct oc_kernel_facts says;        /* NULL: nothing; "": that it cannot be known */
};

/* own: rows of a file, or NULL. Texts live as long as `own`. */
void oc_kernel_facts(const struct oc_kernel_names *own, const char *name, struct oc_kernel_facts *out);

/* Fills precision, unit and library of the profile's kernels where the source does not tell them, and of
 * records what kernels with more than half of their device time share. */
void oc_profile_tell_kernels(struct oc_profile *p, const struct oc_kernel_names *own);

bool oc_kernel_match(const char *pattern, const char *name);

enum oc_kernel_unit { OC_UNIT_UNKNOWN, OC_UNIT_VECTOR, OC_UNIT_MATRIX };
enum oc_kernel_unit oc_kernel_unit(const char *unit);

/* Arithmetic class of a precision as runtimes write it: f16, FP16, Half, INT8 ... OC_CLASS_NONE: none. */
unsigned oc_precision_class(const char *precision);

/* The classes of operators that rows may name, in order; NULL past the end. */
const char *oc_kernel_class(size_t index);

#define OC_KERNEL_NAMES_MAX_FILE_BYTES (1u << 20)
int oc_kernel_names_read_mem(const char *name, const void *data, size_t n, struct oc_kernel_names **out,
                             struct oc_err *err);
const struct oc_kernel_row *oc_kernel_names_rows(const struct oc_kernel_names *own, size_t *n);

#endif
