#include "measure/cpu_kernels.h"

static const struct oc_kernel_list *const lists[] = {&oc_kernels_x86, &oc_kernels_arm, &oc_kernels_plain};

const struct oc_peak_kernel *oc_peak_kernel(size_t index)
{
    for (size_t i = 0; i < OC_COUNT(lists); i++) {
        if (index < lists[i]->n_peak)
            return &lists[i]->peak[index];
        index -= lists[i]->n_peak;
    }
    return NULL;
}

const struct oc_stream_kernel *oc_stream_kernel(size_t index)
{
    for (size_t i = 0; i < OC_COUNT(lists); i++) {
        if (index < lists[i]->n_stream)
            return &lists[i]->stream[index];
        index -= lists[i]->n_stream;
    }
    return NULL;
}

static const struct {
    const char *name;
    unsigned arrays;
} modes[OC_STREAM_MODES] = {
    [OC_STREAM_READ] = {"read", 1},
    [OC_STREAM_WRITE] = {"write", 1},
    [OC_STREAM_COPY] = {"copy", 2},
    [OC_STREAM_TRIAD] = {"triad", 3},
};

const char *oc_stream_mode_name(unsigned mode)
{
    return mode < OC_STREAM_MODES ? modes[mode].name : "unknown";
}

unsigned oc_stream_arrays(unsigned mode)
{
    return mode < OC_STREAM_MODES ? modes[mode].arrays : 0;
}
