/* Tables of expected results of operators, each row one op_case (see op_case.h for the texts). */
#ifndef OP_ROWS_H
#define OP_ROWS_H

#include "support/op_case.h"

struct op_shape_row {
    const char *op;
    int opset;
    const char *attrs, *in, *out;
    const char *types; /* of op_case_types, or "error: ..." in full or up to a trailing "*" */
};

struct op_fold_row {
    const char *op;
    int opset;
    const char *attrs, *in;
    const char *value; /* of op_case_value of output 0 */
};

struct op_cost_row {
    const char *op;
    int opset;
    const char *attrs, *in, *out;
    uint64_t macs, total, rd_act, rd_const, wr;
};

struct op_hist_row {
    const char *op;
    int opset;
    const char *attrs, *in, *out;
    const char *hist; /* of op_hist, in full or up to a trailing "*" */
};

void op_check_shapes(const struct op_shape_row *row, size_t n);
void op_check_folds(const struct op_fold_row *row, size_t n);
void op_check_costs(const struct op_cost_row *row, size_t n);
void op_check_hists(const struct op_hist_row *row, size_t n);

#endif
