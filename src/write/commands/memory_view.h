/* Rows and texts of the memory report and of plans, shared by JSON, CSV, text and HTML. */
#ifndef OC_MEMORY_VIEW_H
#define OC_MEMORY_VIEW_H

#include "memory/memory_report.h"
#include "write/tables/json_keys.h"

/* A member of "buffers" and "live_at_peak". */
void oc_memory_buffer_fields(struct oc_fields *o, const struct oc_memory *m, const struct oc_liveness *l,
                             const struct oc_life *x);
/* A member of "steps"; a step beyond the last one has no value. */
void oc_memory_step_fields(struct oc_fields *o, const struct oc_memory *m, uint32_t step);
/* A member of "buffers" of a plan. */
void oc_plan_buffer_fields(struct oc_fields *o, const struct oc_analysis *a,
                           const struct oc_planned_buffer *b);

/* "fits: needs 107 MiB, NVIDIA A100 has 40 GiB (0.26 %), 39.9 GiB free" */
const char *oc_memory_fit_text(const struct oc_memory *m, struct oc_arena *arena);

/* The page: -f html. */
void oc_memory_page(const struct oc_memory *m, bool fragment, FILE *f);

#endif
