#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static bool matches(const char *got, const char *want)
{
    size_t n = strlen(want);
    return n && want[n - 1] == '*' ? strncmp(got, want, n - 1) == 0 : strcmp(got, want) == 0;
}

void op_check_shapes(const struct op_shape_row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *got = op_shapes(row[i].op, row[i].opset, row[i].attrs, row[i].in, row[i].out);
        if (!matches(got, row[i].types))
            fail_msg("%s-%d [%s] (%s): %s instead of %s", row[i].op, row[i].opset, row[i].attrs, row[i].in,
                     got, row[i].types);
    }
}

void op_check_folds(const struct op_fold_row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *got = op_fold(row[i].op, row[i].opset, row[i].attrs, row[i].in);
        if (strcmp(got, row[i].value) != 0)
            fail_msg("%s-%d [%s] (%s): value %s instead of %s", row[i].op, row[i].opset, row[i].attrs,
                     row[i].in, got, row[i].value);
    }
}

static void check_number(const struct op_cost_row *r, const char *what, uint64_t got, uint64_t want)
{
    if (got != want)
        fail_msg("%s-%d [%s] (%s): %s %llu instead of %llu", r->op, r->opset, r->attrs, r->in, what,
                 (unsigned long long)got, (unsigned long long)want);
}

void op_check_costs(const struct op_cost_row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct op_cost_row *r = &row[i];
        struct op_case t;
        op_case_run(&t, r->op, r->opset, r->attrs, r->in, r->out);
        if (t.rc || t.ctx.unknown || t.ctx.overflow)
            fail_msg("%s-%d [%s] (%s): no cost: %s", r->op, r->opset, r->attrs, r->in, t.err.msg);
        check_number(r, "macs", t.macs, r->macs);
        check_number(r, "operations", t.total, r->total);
        check_number(r, "bytes read", t.rd_act, r->rd_act);
        check_number(r, "constant bytes read", t.rd_const, r->rd_const);
        check_number(r, "bytes written", t.wr, r->wr);
        op_case_free(&t);
    }
}

void op_check_hists(const struct op_hist_row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct op_hist_row *r = &row[i];
        const char *got = op_hist(r->op, r->opset, r->attrs, r->in, r->out);
        if (!matches(got, r->hist))
            fail_msg("%s-%d [%s] (%s): %s instead of %s", r->op, r->opset, r->attrs, r->in, got, r->hist);
    }
}
