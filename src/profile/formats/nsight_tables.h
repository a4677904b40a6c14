/* Metrics of one launch in a report of Nsight Compute. */
#ifndef OC_NSIGHT_TABLES_H
#define OC_NSIGHT_TABLES_H

#include "profile/csv_rows.h"
#include "profile/profile.h"

enum oc_ncu_value { /* as collected; NAN: not collected */
                    NCU_TIME_NS,
                    NCU_DRAM_READ,
                    NCU_DRAM_WRITE,
                    NCU_DRAM,
                    NCU_DRAM_RATE, /* bytes/s */
                    NCU_L2,
                    NCU_HADD,
                    NCU_HMUL,
                    NCU_HFMA,
                    NCU_FADD,
                    NCU_FMUL,
                    NCU_FFMA,
                    NCU_DADD,
                    NCU_DMUL,
                    NCU_DFMA,
                    NCU_TENSOR_OPS,  /* sum over operand types */
                    NCU_TENSOR_INST, /* instructions of the tensor pipe */
                    NCU_TENSOR_ACTIVE,
                    NCU_SM_ACTIVE,
                    NCU_DRAM_ACTIVE,
                    NCU_VALUES
};

struct oc_ncu_metrics {
    double v[NCU_VALUES];
    double tensor_ops[2]; /* counted at both sm__ and smsp__, which are equal */
    double capability;    /* "8.0"; 0: unknown */
};

void oc_ncu_clear(struct oc_ncu_metrics *launch);

/* Stores a metric if it is in the table; section: "" where metrics have unique names. Converts units; a
 * metric with an unknown unit is skipped. */
void oc_ncu_take(struct oc_ncu_metrics *launch, struct oc_str section, struct oc_str name, struct oc_str unit,
                 struct oc_str text);

/* FLOPs of the CUDA cores (half and single precision are required, double is added if collected) and of
 * the tensor cores together, NAN if a part was not collected; DRAM bytes; counters. *rate: the bytes are
 * throughput times duration. */
void oc_ncu_sum(const struct oc_ncu_metrics *launch, double *flop, double *bytes, bool *rate,
                struct oc_prof_counters *counters);

#endif
