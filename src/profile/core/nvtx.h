/* NVTX ranges and their meaning: runs (the outer ranges of TensorRT and ONNX Runtime, profiler steps, or
 * any outer range that repeats), and labels of the device work launched inside them. Times are host
 * nanoseconds. Independent of file formats.
 *
 * The label of work is the innermost range around its launch that names a TensorRT layer (domain
 * "TensorRT") or an ONNX Runtime node ("Conv.12(conv1)"), otherwise the outermost "aten::" range of
 * PyTorch (emit_nvtx), otherwise the innermost range; never the range of the run. */
#ifndef OC_NVTX_H
#define OC_NVTX_H

#include "profile/core/timeline.h"

struct oc_ranges;

struct oc_ranges *oc_ranges_new(struct oc_profile *out, struct oc_timeline *launches);
void oc_ranges_free(struct oc_ranges *r);

void oc_ranges_domain(struct oc_ranges *r, int64_t process, int64_t domain, const char *name);

/* Adds a push/pop range of a thread; text: interned. end_ns INT64_MAX: never closed. False: too many
 * ranges. */
bool oc_ranges_add(struct oc_ranges *r, int64_t process, int64_t thread, int64_t domain, const char *text,
                   int64_t start_ns, int64_t end_ns);

/* Nests the ranges and detects the runs. */
void oc_ranges_finish(struct oc_ranges *r);

/* Passes the host times per label to the launches; 16 bytes per range. */
void oc_ranges_host_times(struct oc_ranges *r);

/* Call after oc_ranges_finish. The innermost range of the thread that contains the time, OC_NONE: none.
 * Amortised O(1) for calls in time order. */
uint32_t oc_ranges_find(struct oc_ranges *r, int64_t thread, int64_t start_ns, int64_t end_ns);
uint32_t oc_ranges_label(struct oc_ranges *r, uint32_t range); /* OC_NONE: none */
uint32_t oc_ranges_run(const struct oc_ranges *r, uint32_t range);
int64_t oc_ranges_start(const struct oc_ranges *r, uint32_t range);
/* The run that started last before the time, OC_NONE: none. */
uint32_t oc_ranges_run_before(const struct oc_ranges *r, int64_t time_ns);

/* Adds the ranges as events: runs as steps, layers and nodes as operators, others as annotations. The
 * device is asynchronous, so a step extends to the start of the next one on its thread, and the last
 * one to end_ns. */
struct oc_timeline;
void oc_ranges_events(const struct oc_ranges *r, struct oc_timeline *t, int64_t end_ns);

size_t oc_ranges_count(const struct oc_ranges *r);
uint32_t oc_ranges_runs(const struct oc_ranges *r);

/* ---- nvtx names ------------------------------------------------------------------------------------- */

/* Parses the names of NVTX ranges: each runtime that marks its work uses its own syntax. */

enum oc_nvtx_kind {
    OC_NVTX_OTHER,
    OC_NVTX_RUN,   /* "ExecutionContext::enqueueV3", "Batch-x Forward", "ProfilerStep#3" */
    OC_NVTX_NODE,  /* ONNX Runtime: "Conv.12(conv1)" */
    OC_NVTX_LAYER, /* any other range in the domain "TensorRT" */
    OC_NVTX_ATEN   /* PyTorch: "aten::conv2d, seq = 3, sizes = [[1, 3, 224, 224], [64, 3, 7, 7], []]" */
};
enum oc_nvtx_kind oc_nvtx_kind(const char *domain, const char *text);

/* The label for work in a range; text: interned. Returns a text that separates labels of equal name
 * (recorded shapes), or NULL. Texts and types stay valid as long as the profile. */
const char *oc_nvtx_label(struct oc_profile *p, const char *domain, const char *text, struct oc_label *out);

#endif
