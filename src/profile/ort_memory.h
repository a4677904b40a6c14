/* What the importer "onnxruntime_memory" has beside its records (param_bytes: initializers, act_bytes:
 * inputs, out_bytes: allocated for outputs whose sizes show only at run time): oc_profile.native. */
#ifndef OC_ORT_MEMORY_H
#define OC_ORT_MEMORY_H

#include "profile/profile.h"

struct oc_ort_memory {
    const uint64_t *temp_bytes; /* scratch of the kernel, by record */
    uint32_t n;
};

#endif
