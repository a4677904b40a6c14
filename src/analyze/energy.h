/* Energy of arithmetic and DRAM traffic. */
#ifndef OC_ENERGY_H
#define OC_ENERGY_H

#include "analyze/analysis.h"
#include "onnxcost/energy.h"

struct oc_energy {
    struct oc_arena arena;
    const struct oc_analysis *a;
    struct oc_energy_info info;
    struct oc_energy_row *row; /* heap */
    uint32_t n_row, cap_row;
};

#endif
