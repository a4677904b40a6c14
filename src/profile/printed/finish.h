/* From the rows of a file to a profile: what the numbers of a row mean together, which rows count, what the file says about
 * itself. */
#ifndef OC_PRINTED_FINISH_H
#define OC_PRINTED_FINISH_H

#include "profile/core/records.h"
#include "profile/printed/read.h"

/* A row whose time is known. */
struct oc_printed_value {
    const struct oc_printed_row *row;
    const char *name;
    double calls, total_ns, device_ns; /* of all calls, on the host and on the device; NAN: not in the file */
    double share;                      /* as printed; NAN: none */
};

struct oc_printed_values {
    struct oc_printed_reading *r;
    struct oc_profile *p;
    const struct oc_profile_opts *opts;
    struct oc_printed_value *v; /* heap: rows that count, in the order of the file */
    size_t n;
    struct oc_printed_value *all; /* heap: those of other levels too; NULL: there are none */
    size_t n_all;
    double run_self_ns, run_self_share; /* of rows of runs, outside of what they called */
    double runs, run_ns;                /* 0, NAN: unknown. run_ns: of one run */
    bool means;                         /* the rows are means of a run */
    bool cycles;                        /* the times are cycles: only their shares are known */
};

/* Computes the values of all rows, nesting, levels and runs. */
void oc_printed_evaluate(struct oc_printed_values *x);
/* Makes the profile of the reports of Nsight Systems. */
int oc_printed_nsys(struct oc_printed_values *x, struct oc_err *err);

/* Makes the profile of rows with host and device time. */
void oc_printed_both(struct oc_printed_values *x);

/* Rows of the tables that count which are damaged. */
size_t oc_printed_damaged(const struct oc_printed_values *x);
void oc_printed_values_free(struct oc_printed_values *x);

/* Compares what the file says about its rows with the rows. 0, or -1 with *err: a difference that its tool cannot make. */
int oc_printed_check(struct oc_printed_values *x, struct oc_err *err);

#endif
