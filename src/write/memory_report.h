/* What the memory report says: lives of buffers, the live set at the peak, what the runtime would take and
 * what it took, whether it fits. Made by memory_report.c, written by out_memory.c and out_memory_json.c. */
#ifndef OC_MEMORY_REPORT_H
#define OC_MEMORY_REPORT_H

#include "analyze/lives.h"
#include "hw/hwdb.h"
#include "memory/ort_run.h"
#include "profile/profile.h"

struct oc_memory_row {            /* a buffer that is live at the peak */
    const struct oc_lives *lives; /* of the main graph, or of a body that runs then */
    const struct oc_life *life;
};

struct oc_memory_measured { /* a profile's first run against the runtime's way of running it */
    const struct oc_prof_memory *seen;
    struct oc_ort_run ours;
    uint8_t quality;
    bool other_graph; /* the runtime ran nodes that the model does not have: it was optimized first */
};

struct oc_memory_fit {
    const struct oc_device *device; /* NULL: not asked */
    const struct oc_hw_figure *size;
    uint64_t capacity;
    enum oc_fits fits;
    const char *batch; /* NULL: no dimension to look at */
    int64_t now, largest;
    bool bounded;           /* nothing larger was tried */
    uint64_t largest_needs; /* footprint there */
    unsigned analyses;
};

struct oc_memory {
    struct oc_arena arena;
    const struct oc_analysis *a;
    struct oc_memory_opts o;
    struct oc_lives *lives; /* of the main graph */
    struct oc_lives **body; /* heap: of the bodies inside each other that run at the peak */
    uint32_t n_body, cap_body;
    const struct oc_memory_row *row; /* live at the peak, largest first */
    uint32_t n_row;
    const uint32_t *step;               /* of the main graph, the fullest first */
    struct oc_ort_run run;              /* as_onnxruntime */
    struct oc_memory_measured measured; /* seen NULL: no profile with memory statistics */
    struct oc_memory_fit fit;
    uint64_t footprint;
    uint8_t quality;
};

/* memory_fit.c. Needs lives, footprint and quality. */
int oc_memory_find_fit(struct oc_memory *m, struct oc_err *err);

/* Who makes the buffer and who uses it last: "37 Erf" (steps count from 1), "start", "end". Arena or static.
 */
const char *oc_memory_born(const struct oc_memory_row *r, struct oc_arena *arena);
const char *oc_memory_dies(const struct oc_memory_row *r, struct oc_arena *arena);

void oc_out_memory_json(const struct oc_memory *m, FILE *f);

#endif
