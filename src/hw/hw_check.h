/* Checks of hw_lint.c that compare several figures, by subject: hw_lint.c compares the peaks of a
 * device, hw_lint.c its memories. Private to the hw folder. */
#ifndef OC_HW_CHECK_H
#define OC_HW_CHECK_H

#include "hw/hwdb.h"

#define OC_HW_TOLERANCE 0.02

struct oc_hw_check {
    struct oc_arena *arena;
    struct oc_hw_findings *findings;
    const struct oc_device *d;
};

void oc_hw_check_note(const struct oc_hw_check *c, uint32_t line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
