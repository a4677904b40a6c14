/* Zeros in the weights of a model: measured, so the weights are read. Conventions: onnxcost.h. */
#ifndef ONNXCOST_SPARSITY_H
#define ONNXCOST_SPARSITY_H

#include "onnxcost_types.h"

OC_API_BEGIN

struct oc_sparsity;

struct oc_sparsity_info {
    uint64_t weights;         /* tensors that products (convolutions, matrix products) read, each once */
    uint64_t unread;          /* of these: data missing, or of a type that is not read */
    uint64_t elements, zeros; /* of the others */
    uint64_t stored_bytes;    /* of the others; sparse tensors: values and indices */
    uint64_t sparse_stored, pattern; /* tensors that are stored sparse; that have the 2:4 pattern */
    uint64_t macs, nonzero_macs;     /* of the operators with a count; without products by a zero weight */
    uint64_t operators, unknown_operators; /* that read these weights; without a count */
};

enum oc_pattern { OC_PATTERN_UNKNOWN, OC_PATTERN_NONE, OC_PATTERN_2_4 };

struct oc_sparsity_row {
    size_t node;             /* for oc_analysis_node */
    const char *weight;      /* name of the stored tensor */
    bool known;              /* zeros, stored_bytes */
    bool counted;            /* nonzero_macs */
    bool sparse;             /* stored as a sparse tensor */
    enum oc_pattern pattern; /* at most 2 nonzero in each 4 consecutive inputs of an output (channels of a
                                convolution), as sparse tensor cores need it */
    uint64_t elements, zeros, stored_bytes, macs, nonzero_macs;
    const char *note; /* why something is unknown; NULL */
};

/* A quantized weight is zero where it equals its zero point. The analysis must outlive the result. */
int oc_sparsity_make(const struct oc_analysis *a, struct oc_sparsity **out, struct oc_err *err);
void oc_sparsity_free(struct oc_sparsity *s);
const struct oc_sparsity_info *oc_sparsity_info(const struct oc_sparsity *s);
size_t oc_sparsity_rows(const struct oc_sparsity *s, const struct oc_sparsity_row **out);
/* format: "table" (NULL), "csv" or "json"; top: rows of the table, 0: all; width_chars: of the table, 0: no
 * limit */
int oc_sparsity_write(const struct oc_sparsity *s, const char *format, size_t top, unsigned width_chars,
                      FILE *f, struct oc_err *err);

OC_API_END

#endif
