/* Shapes, types and small values for shape inference. Plain data; arrays are owned by the caller's arena. */
#ifndef OC_TYPE_H
#define OC_TYPE_H

#include "shape/dim.h"
#include "shape/dtype.h"

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
bool oc_type_elements(const struct oc_type *t, uint64_t *n);
bool oc_type_bytes(const struct oc_type *t, uint64_t *bytes);

#endif
