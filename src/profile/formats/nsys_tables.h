/* The tables of `nsys stats`: detects the report from its header, the positions of its columns and their
 * units. The CSV form and the terminal form (--stats=true) have the same headers. */
#ifndef OC_NSYS_TABLES_H
#define OC_NSYS_TABLES_H

#include "profile/csv_rows.h"

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

/* A number of the row. False: the field is empty or not a number. */
bool oc_nsys_number(const struct oc_nsys_header *h, const struct oc_str *field, size_t n,
                    enum oc_nsys_column column, double *out);
struct oc_str oc_nsys_text(const struct oc_nsys_header *h, const struct oc_str *field, size_t n,
                           enum oc_nsys_column column);

#endif
