/* onnxcost: where the time and memory of a neural network go.
 *
 * The whole public interface. Conventions:
 *  - Functions that can fail return 0 on success and -1 on failure with *err filled (err is caller-owned and
 *    needs no clean-up). Nothing is printed by the library.
 *  - Handles are freed by the matching _free function (NULL is fine). What accessors return is borrowed and
 *    lives as long as the handle. Inputs must outlive results (a model outlives its analyses).
 *  - Counts are exact uint64_t. Time is double nanoseconds. Sizes are bytes.
 *  - Running out of memory calls the handler of oc_set_oom_handler, by default abort().
 */
#ifndef ONNXCOST_H
#define ONNXCOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ONNXCOST_VERSION "0.1.0"

/* ---- errors and findings --------------------------------------------------------------------------- */

enum oc_code { OC_OK, OC_EIO, OC_EFORMAT, OC_ELIMIT, OC_EUNSUPPORTED, OC_EARG, OC_ENOTFOUND, OC_EOUTPUT };

/* A failure with its place. `line` and `offset_bytes` are 0 when they do not apply. */
struct oc_err {
    enum oc_code code;
    uint32_t line;
    uint64_t offset_bytes;
    char file[256];
    char msg[768];
};

enum oc_severity { OC_INFO, OC_WARNING, OC_ERROR };

/* A finding that did not stop the work. `code` is a short stable tag such as "W-shape-conflict". */
struct oc_diag {
    enum oc_severity severity;
    const char *code, *where, *text;
};

void oc_set_oom_handler(void (*handler)(size_t bytes)); /* must not return */

/* How far a number can be trusted. Sums take the worst; an upper and a lower bound together are an estimate. */
enum oc_quality { OC_EXACT, OC_UPPER, OC_LOWER, OC_EST, OC_UNKNOWN };

/* ---- model ------------------------------------------------------------------------------------------ */

struct oc_model;
struct oc_analysis;

struct oc_limits {
    uint64_t max_file_bytes; /* 0: no limit */
    uint32_t max_depth;      /* nesting of messages and subgraphs; 0: 64 */
    uint32_t max_nodes;      /* after function expansion; 0: 4,000,000 */
};

int oc_model_load(const char *path, const struct oc_limits *limits, struct oc_model **out, struct oc_err *err);
int oc_model_load_mem(const void *data, size_t size_bytes, const struct oc_limits *limits,
                      struct oc_model **out, struct oc_err *err); /* data must outlive the model */
void oc_model_free(struct oc_model *model);

#ifdef __cplusplus
}
#endif
#endif
