/* A validation with its samples, for reports. */
#ifndef OC_VALIDATION_H
#define OC_VALIDATION_H

#include "estimate/samples_read.h"
#include "estimate/validate.h"

struct oc_validation_result {
    const struct oc_samples *samples;
    struct oc_validation *v;
};

#endif
