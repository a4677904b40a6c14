/* Verifies a memory plan, independently of the planner: a sweep over the steps keeps the live boxes sorted by
 * offset. */
#ifndef OC_PLAN_CHECK_H
#define OC_PLAN_CHECK_H

#include "memory/offset_plan.h"

/* 0: every box is inside [0, size), at a multiple of align (0 and 1: any), and no two that share a step share
 * a byte. Otherwise -1 and *err names the boxes by index. */
int oc_plan_check(const struct oc_box *box, const uint64_t *offset, uint32_t n, uint64_t align, uint64_t size,
                  struct oc_err *err);

#endif
