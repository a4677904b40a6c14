/* Tables of NVIDIA's Nsight tools: metrics of one launch in a report of Nsight Compute, columns of the reports of
 * Nsight Systems. */
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

/* ---- tables of nsys stats --------------------------------------------------------------------------- */

/* The tables of `nsys stats`: detects the report from its header, the positions of its columns and their
 * units. The CSV form and the terminal form (--stats=true) have the same headers. */

enum oc_nsys_table {
    OC_NSYS_NONE,
    OC_NSYS_GPU_TRACE,  /* cuda_gpu_trace: one launch per row */
    OC_NSYS_EXEC_TRACE, /* cuda_kern_exec_trace */
    OC_NSYS_NVTX_KERN,  /* nvtx_kern_sum: one range and kernel per row */
    OC_NSYS_PROJ_TRACE, /* nvtx_gpu_proj_trace: one range instance per row */
    OC_NSYS_PROJ_SUM,   /* nvtx_gpu_proj_sum */
    OC_NSYS_KERN_SUM,   /* cuda_gpu_kern_sum, cuda_gpu_kern_gb_sum */
    OC_NSYS_GPU_SUM,    /* cuda_gpu_sum: kernels and copies */
    OC_NSYS_MEM_SUM,    /* cuda_gpu_mem_time_sum */
    OC_NSYS_PUSHPOP,    /* nvtx_pushpop_trace: host time */
    OC_NSYS_NVTX_SUM,   /* nvtx_sum, nvtx_pushpop_sum: host time */
    OC_NSYS_TABLES
};

enum oc_nsys_column { /* meaning of a column, independent of its name */
                      OC_NSYS_START,
                      OC_NSYS_DUR,
                      OC_NSYS_NAME,
                      OC_NSYS_RANGE,
                      OC_NSYS_TOTAL,
                      OC_NSYS_CALLS,
                      OC_NSYS_MIN,
                      OC_NSYS_MAX,
                      OC_NSYS_INSTANCES, /* name of the range */
                      OC_NSYS_CHILDREN,
                      OC_NSYS_ID,
                      OC_NSYS_PARENT,
                      OC_NSYS_STREAM,
                      OC_NSYS_DEVICE,
                      OC_NSYS_BYTES,
                      OC_NSYS_PROCESS,
                      OC_NSYS_SHARE,
                      OC_NSYS_COLUMNS
};

struct oc_nsys_header {
    enum oc_nsys_table table;
    size_t at[OC_NSYS_COLUMNS]; /* OC_CSV_NONE: absent */
    double ns;                  /* ns per unit of time in the table */
    double bytes;               /* bytes per unit of size; 0: unknown */
};

/* title_ns: the unit from the title above the header, 0: none. OC_NSYS_NONE: another table. */
void oc_nsys_header(const struct oc_str *field, size_t n, double title_ns, struct oc_nsys_header *out);

/* A number of the row, in the locale of the user. False: the field is empty or not a number. */
bool oc_nsys_number(const struct oc_nsys_header *h, const struct oc_str *field, size_t n,
                    enum oc_nsys_column column, double *out);
/* 0: unknown. */
uint64_t oc_nsys_count(const struct oc_nsys_header *h, const struct oc_str *field, size_t n,
                       enum oc_nsys_column column);
struct oc_str oc_nsys_text(const struct oc_nsys_header *h, const struct oc_str *field, size_t n,
                           enum oc_nsys_column column);

#endif
