/* Metrics of Nsight Compute by name, with units, and the work of one kernel launch derived from them. */
#ifndef OC_NCU_METRICS_H
#define OC_NCU_METRICS_H

#include "profile/csv_rows.h"
#include "profile/profile.h"

enum oc_ncu_value { /* as collected; NAN: not collected */
                    OC_NCU_TIME_NS,
                    OC_NCU_DRAM_READ,
                    OC_NCU_DRAM_WRITE,
                    OC_NCU_DRAM,
                    OC_NCU_DRAM_RATE, /* bytes/s */
                    OC_NCU_L2,
                    OC_NCU_HADD,
                    OC_NCU_HMUL,
                    OC_NCU_HFMA,
                    OC_NCU_FADD,
                    OC_NCU_FMUL,
                    OC_NCU_FFMA,
                    OC_NCU_DADD,
                    OC_NCU_DMUL,
                    OC_NCU_DFMA,
                    OC_NCU_TENSOR_OPS,  /* sum over operand types */
                    OC_NCU_TENSOR_INST, /* instructions of the tensor pipe */
                    OC_NCU_TENSOR_ACTIVE,
                    OC_NCU_SM_ACTIVE,
                    OC_NCU_DRAM_ACTIVE,
                    OC_NCU_VALUES
};

struct oc_ncu_launch {
    double v[OC_NCU_VALUES];
    double tensor_ops[2]; /* counted at both sm__ and smsp__, which are equal */
    double capability;    /* "8.0"; 0: unknown */
};
void oc_ncu_clear(struct oc_ncu_launch *launch);

/* Stores a metric if it is in the table; section: "" where metrics have unique names. Converts units; a
 * metric with an unknown unit is skipped. */
void oc_ncu_metric(struct oc_ncu_launch *launch, struct oc_str section, struct oc_str name,
                   struct oc_str unit, struct oc_str value);

/* FLOPs of the CUDA cores (half and single precision are required, double is added if collected) and of
 * the tensor cores together, NAN if a part was not collected; DRAM bytes; counters. *rate: the bytes are
 * throughput times duration. */
void oc_ncu_finish(const struct oc_ncu_launch *launch, double *flop, double *bytes, bool *rate,
                   struct oc_prof_counters *counters);

#endif
