/* Memory of a run: live bytes, peak, fit into a device; arena offsets.
 * Conventions: onnxcost.h. */
#ifndef ONNXCOST_MEMORY_H
#define ONNXCOST_MEMORY_H

#include "onnxcost_types.h"

OC_API_BEGIN

struct oc_memory;
struct oc_memory_plan;

struct oc_memory_opts {
    size_t size; /* sizeof(struct oc_memory_opts) */
    /* Simulates the first run by ONNX Runtime's CPU provider without optimizations: its node order, no
     * constant folding, including shapes, without graph inputs (owned by the caller); in addition
     * to the peak, the most that its arena has in use, with its reuse of dead tensors. Otherwise file order
     * and the rules of the analysis' options (inplace, keep_inputs, align_bytes). */
    bool as_onnxruntime;
    const struct oc_profile *profile; /* a profile with memory statistics, for comparison; NULL: none */
    const struct oc_device *device;   /* device whose memory it should fit; NULL: not requested */
    /* Options of the analysis, to search for the largest batch that fits and to analyze the graph that the runtime
     * runs for a model with quantization; NULL: no search, and that graph is an estimate. */
    const struct oc_analyze_opts *analyze;
    size_t top;           /* rows of each table for people; 0: all; or OC_TOP_SCREEN */
    unsigned width_chars; /* of these tables; 0: no limit */
    const struct oc_memory_plan
        *plan;        /* of the same analysis, for text (its size) and HTML (offsets); may be NULL */
    const char *made; /* of HTML: how and when it was made, such as its command line; may be NULL */
};

enum oc_fits { OC_FITS_NOT_ASKED, OC_FITS_YES, OC_FITS_NO, OC_FITS_UNKNOWN };

struct oc_memory_info {
    uint64_t const_bytes;
    uint64_t peak_bytes, lower_bytes; /* activations: peak, and lower bound for any order of the nodes */
    const char *peak_node;            /* NULL: unnamed, or no nodes */
    uint64_t footprint_bytes;         /* constants and activations; without workspace of kernels */
    enum oc_quality quality;          /* quality of peak, lower bound and footprint */
    enum oc_fits fits;
    uint64_t capacity_bytes; /* memory of the device, 0: not requested */
    const char *batch;       /* dimension whose largest size was searched, NULL: none */
    int64_t largest_batch;   /* 0: not even 1 fits */
    bool batch_bounded;      /* largest_batch is the end of the search: larger ones may fit */
};

/* Fails (OC_ENOTFOUND) if the device file has no memory size. The analysis, profile and device must outlive
 * the result. */
int oc_memory_make(const struct oc_analysis *analysis, const struct oc_memory_opts *opts,
                   struct oc_memory **out, struct oc_err *err);
void oc_memory_free(struct oc_memory *m);
const struct oc_memory_info *oc_memory_info(const struct oc_memory *m);
/* "table" (NULL), "csv" (one row per step), "json" (everything), "html" (a page), "fragment" (a part of one).
 */
int oc_memory_write(const struct oc_memory *m, const char *format, FILE *out, struct oc_err *err);
/* Only the result for the device, as a short text. */
void oc_memory_write_fit(const struct oc_memory *m, FILE *out);

/* The memory of every node as the CSV that ONNX Runtime's capacity-aware partitioner reads (session option
 * session.resource_cuda_partitioning_settings): name and hash of the node's tensors, bytes of inputs, of
 * initializers, of outputs allocated in the run, of workspace (0: not modelled). Every tensor counts once, at
 * the node that allocates it, else at its first reader. OC_EARG: a size is unknown, or a name has a comma. */
int oc_node_stats_write(const struct oc_analysis *analysis, FILE *out, struct oc_err *err);

/* ---- memory plans: arena offsets -------------------------------------------------------------------- */

struct oc_plan_opts {
    size_t size;         /* sizeof(struct oc_plan_opts) */
    bool without_inputs; /* graph inputs are in the caller's memory */
    bool all;            /* folded nodes, scalars and shapes have buffers too */
};

struct oc_plan_info {
    uint64_t size; /* bytes of the block */
    uint64_t live; /* peak live bytes of the order in the file: no plan of it needs less */
    size_t buffers;
    bool optimal;            /* proven: no plan for this order is smaller */
    const char *method;      /* strategy that found the plan */
    enum oc_quality quality; /* OC_UPPER: some sizes are upper bounds */
};

/* Arena offsets of every buffer of a run, in one block. Options for sizes, alignment and in-place updates are
 * those of the analysis, which must outlive the plan. Fails with the name of the value when a size is
 * unknown. The plan is verified: no two buffers that are live in the same step share a byte. */
int oc_memory_plan_make(const struct oc_analysis *a, const struct oc_plan_opts *opts,
                        struct oc_memory_plan **out, struct oc_err *err);
void oc_memory_plan_free(struct oc_memory_plan *p);
void oc_memory_plan_info(const struct oc_memory_plan *p, struct oc_plan_info *out);
/* Every buffer with its offset: "json" (NULL) or "csv". */
int oc_memory_plan_write(const struct oc_memory_plan *p, const char *format, FILE *out, struct oc_err *err);

OC_API_END

#endif
