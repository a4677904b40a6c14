/* The tables of `nsys stats`: which report a header is of, where its columns are and in what units. Both the
 * CSV form and the columns of the terminal (--stats=true) have the same headers. */
#ifndef OC_NSYS_TABLES_H
#define OC_NSYS_TABLES_H

#include "profile/csv_rows.h"

enum oc_nsys_table {
    OC_NSYS_NONE,
    OC_NSYS_GPU_TRACE,  /* cuda_gpu_trace: a launch a row */
    OC_NSYS_EXEC_TRACE, /* cuda_kern_exec_trace */
    OC_NSYS_NVTX_KERN,  /* nvtx_kern_sum: a range and a kernel a row */
    OC_NSYS_PROJ_TRACE, /* nvtx_gpu_proj_trace: an instance of a range a row */
    OC_NSYS_PROJ_SUM,   /* nvtx_gpu_proj_sum */
    OC_NSYS_KERN_SUM,   /* cuda_gpu_kern_sum, cuda_gpu_kern_gb_sum */
    OC_NSYS_GPU_SUM,    /* cuda_gpu_sum: kernels and copies */
    OC_NSYS_MEM_SUM,    /* cuda_gpu_mem_time_sum */
    OC_NSYS_PUSHPOP,    /* nvtx_pushpop_trace: the host's time */
    OC_NSYS_NVTX_SUM,   /* nvtx_sum, nvtx_pushpop_sum: the host's time */
    OC_NSYS_TABLES
};

enum oc_nsys_column { /* what columns mean, whatever they are called */
                      OC_NSYS_START,
                      OC_NSYS_DUR,
                      OC_NSYS_NAME,
                      OC_NSYS_RANGE,
                      OC_NSYS_TOTAL,
                      OC_NSYS_CALLS,
                      OC_NSYS_MIN,
                      OC_NSYS_MAX,
                      OC_NSYS_INSTANCES, /* of the range */
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
    size_t at[OC_NSYS_COLUMNS]; /* OC_CSV_NONE: not there */
    double ns;                  /* a unit of time of the table */
    double bytes;               /* a unit of size; 0: unknown */
};

/* title_ns: unit said outside the header, 0: none. OC_NSYS_NONE: not one of these tables. */
void oc_nsys_header(const struct oc_str *field, size_t n, double title_ns, struct oc_nsys_header *out);

/* A number of the row; false: none there. */
bool oc_nsys_number(const struct oc_nsys_header *h, const struct oc_str *field, size_t n,
                    enum oc_nsys_column column, double *out);
struct oc_str oc_nsys_text(const struct oc_nsys_header *h, const struct oc_str *field, size_t n,
                           enum oc_nsys_column column);

#endif
