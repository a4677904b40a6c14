/* Helpers of the operators that rearrange data: lists of partly unknown integers, axes, and strided copies of
 * small values. */
#ifndef OC_MOVE_H
#define OC_MOVE_H

#include "ops/op.h"

/* A list of integers given as an attribute or an input: its elements may be OC_E_UNKNOWN. */
struct oc_list {
    const struct oc_elem *e;
    uint32_t n;
    bool present; /* the attribute or the input is present */
    bool sized;   /* n is known, e has n elements */
};

/* attr may be NULL: input only. The attribute takes precedence. */
struct oc_list oc_list_of(struct oc_op_ctx *c, const char *attr, unsigned slot);
bool oc_list_known(const struct oc_list *l); /* n is known, and every element is a known integer */

/* Axes of a known list normalised to [0, rank), at most OC_MAX_RANK of them, without duplicates. 0; or -1
 * through oc_op_fail. */
int oc_list_axes(struct oc_op_ctx *c, const struct oc_list *l, unsigned rank, unsigned *axis);

/* The axis attribute in [0, rank). 0, or -1 through oc_op_fail. */
int oc_attr_axis(struct oc_op_ctx *c, int64_t otherwise, unsigned rank, unsigned *axis);

/* The element as a dim: a known size or expression; otherwise a fresh unknown of that output axis. */
struct oc_dim oc_elem_to_dim(struct oc_op_ctx *c, const struct oc_elem *e, unsigned axis, int64_t max);
struct oc_dim oc_fresh_axis(struct oc_op_ctx *c, unsigned axis, int64_t max);
struct oc_shape oc_fresh_shape(struct oc_op_ctx *c, unsigned rank); /* sets only the rank */

/* The smaller of an upper bound and the size (-1: none). */
int64_t oc_bound(struct oc_op_ctx *c, struct oc_dim d);

/* Output index i of an axis reads ((start + i*step) mod wrap) * stride. */
struct oc_walk {
    unsigned rank;
    int64_t size[OC_MAX_RANK], start[OC_MAX_RANK], step[OC_MAX_RANK], wrap[OC_MAX_RANK], stride[OC_MAX_RANK];
};
/* A walk that copies a tensor of known shape unchanged; false if the shape is unknown or above OC_MAX_DATA.
 */
bool oc_walk_of(const struct oc_shape *s, struct oc_walk *w);
/* Sets the value of an output: the walk over `d`. Does nothing above OC_MAX_DATA or outside of d. */
void oc_walk_data(struct oc_op_ctx *c, unsigned out_slot, const struct oc_data *d, const struct oc_walk *w);

/* Bytes of `elements` of the input's type, for partial reads. */
uint64_t oc_c_part(struct oc_op_ctx *c, unsigned slot, uint64_t elements);

unsigned oc_clog2(uint64_t n); /* ceil of the binary logarithm; 0 for 0 and 1 */

/* Text of a shape or an input's shape, for messages. */
const char *oc_text_of(struct oc_op_ctx *c, const struct oc_shape *s);

#endif
