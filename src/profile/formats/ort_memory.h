/* Data of the importer "onnxruntime_memory" in addition to its records (param_bytes: initializers,
 * act_bytes: inputs, out_bytes: allocated for outputs whose sizes are known only at run time):
 * oc_profile.native. */
#ifndef OC_ORT_MEMORY_H
#define OC_ORT_MEMORY_H

#include "profile/profile.h"

struct oc_ort_memory {
    const uint64_t *temp_bytes; /* scratch memory of the kernel, per record */
    uint32_t n;
};

#endif
