/* A training step of a model: forward pass, gradients, optimizer, and the memory for them.
 * Conventions: onnxcost.h. */
#ifndef ONNXCOST_TRAINING_H
#define ONNXCOST_TRAINING_H

#include "onnxcost_types.h"

OC_API_BEGIN

struct oc_training;

struct oc_training_opts {
    size_t size;           /* sizeof(struct oc_training_opts) */
    const char *optimizer; /* "sgd", "momentum" or "adam" (NULL) */
    size_t top;            /* rows of the table for people; 0: all */
    unsigned width_chars;  /* of that table; 0: no limit */
};

/* All numbers are for one step. FLOPs are weighted as those of the analysis. The loss is not included. */
struct oc_training_info {
    const char *optimizer;
    uint64_t nodes;                         /* executed nodes of the forward pass */
    uint64_t gradient_nodes, unknown_nodes; /* with a gradient; of these without a rule */
    uint64_t forward_macs, backward_macs;   /* backward: of the nodes with a rule */
    uint64_t forward_flops, backward_flops, optimizer_flops;
    uint64_t forward_bytes, backward_bytes, optimizer_bytes; /* moved */
    uint64_t params, param_bytes; /* trainable: float constants that reach an output of the model */
    uint64_t frozen_bytes;        /* other constants */
    uint64_t gradient_bytes, state_bytes;
    uint64_t master_bytes; /* f32 copies of parameters in half precision */
    uint64_t saved_bytes;  /* activations, masks and statistics that the gradients read */
    uint64_t peak_bytes;   /* largest sum of live activations and their gradients in the step */
    uint64_t total_bytes;  /* constants, gradients, state, copies and peak_bytes */
    struct { /* with activations stored at the cuts between segments alone, and segments computed again */
        uint64_t segments;         /* 1: recomputation does not lower the peak */
        uint64_t checkpoint_bytes; /* stored */
        uint64_t segment_bytes;    /* saved by the largest segment */
        uint64_t saved_bytes;      /* their sum */
        uint64_t flops;            /* of the second forward pass */
        uint64_t peak_bytes;       /* as peak_bytes */
        uint64_t total_bytes;      /* as total_bytes */
    } recompute;
    enum oc_quality quality, memory_quality; /* of FLOPs and bytes; of the sizes of activations */
};

struct oc_training_node {
    size_t node;             /* for oc_analysis_node */
    bool gradient;           /* a gradient passes through it */
    enum oc_quality quality; /* OC_UNKNOWN: the backward figures are invalid */
    const char *note;        /* reason of the quality; NULL */
    uint64_t forward_flops;
    uint64_t backward_macs, backward_flops;
    uint64_t bytes_read, bytes_written; /* by the backward pass */
    uint64_t saved_bytes;               /* of its outputs, and masks, statistics ... */
};

/* Fails with OC_EARG for an unknown optimizer, or an analysis that counts by another tool's convention. The
 * analysis must outlive the result. */
int oc_training_make(const struct oc_analysis *a, const struct oc_training_opts *opts,
                     struct oc_training **out, struct oc_err *err);
void oc_training_free(struct oc_training *t);
const struct oc_training_info *oc_training_info(const struct oc_training *t);
size_t oc_training_nodes(const struct oc_training *t, const struct oc_training_node **out); /* in order */
/* format: "table" (NULL), "csv" (one row per node), "json" (everything) */
int oc_training_write(const struct oc_training *t, const char *format, FILE *f, struct oc_err *err);

OC_API_END

#endif
