/* Ranges that programs marked with NVTX, and what they mean: runs (the outer ranges of TensorRT, ONNX
 * Runtime, steps of a profiler, or any outer range that comes again), and labels of the device work launched
 * inside. Times are nanoseconds of the host. Knows nothing of file formats.
 *
 * The label of work is the innermost range around its launch that names a layer of TensorRT (domain
 * "TensorRT") or a node of ONNX Runtime ("Conv.12(conv1)"), else the outermost "aten::" range of PyTorch
 * (emit_nvtx), else the innermost range; never the range of the run. */
#ifndef OC_NVTX_RANGES_H
#define OC_NVTX_RANGES_H

#include "profile/launches.h"

struct oc_ranges;

struct oc_ranges *oc_ranges_new(struct oc_profile *out, struct oc_launches *launches);
void oc_ranges_free(struct oc_ranges *r);

void oc_ranges_domain(struct oc_ranges *r, int64_t process, int64_t domain, const char *name);

/* A push/pop range of a thread; text: interned. end_ns INT64_MAX: never closed. false: too many. */
bool oc_ranges_add(struct oc_ranges *r, int64_t process, int64_t thread, int64_t domain, const char *text,
                   int64_t start_ns, int64_t end_ns);

/* Nests the ranges and finds the runs. */
void oc_ranges_finish(struct oc_ranges *r);

/* Tells the launches the host's times under their labels; 16 bytes a range. */
void oc_ranges_host_times(struct oc_ranges *r);

/* After oc_ranges_finish. The innermost range of the thread around the time, OC_NONE: none. Fast for calls in
 * order of time. */
uint32_t oc_ranges_find(struct oc_ranges *r, int64_t thread, int64_t start_ns, int64_t end_ns);
uint32_t oc_ranges_label(struct oc_ranges *r, uint32_t range); /* OC_NONE: none */
uint32_t oc_ranges_run(const struct oc_ranges *r, uint32_t range);
int64_t oc_ranges_start(const struct oc_ranges *r, uint32_t range);
/* The run that began last at the time, OC_NONE: none did. */
uint32_t oc_ranges_run_before(const struct oc_ranges *r, int64_t time_ns);

/* Adds the ranges as events: runs as steps, layers and nodes as operators, others as annotations. The device
 * works behind the host, so a step goes on until the next one of its thread begins, the last one until
 * end_ns. */
struct oc_timeline;
void oc_ranges_events(const struct oc_ranges *r, struct oc_timeline *t, int64_t end_ns);

size_t oc_ranges_count(const struct oc_ranges *r);
uint32_t oc_ranges_runs(const struct oc_ranges *r);

#endif
