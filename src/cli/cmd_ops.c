/* ops: the operators and their formulas. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/report.h"

static int put_ops(const void *opts, const struct cli_output *out, struct oc_err *err)
{
    const struct cli_opts *o = opts;
    return oc_ops_write(o->format, cli_width(out, &o->width), out->f, err);
}

/* The texts of an operator in all domains and versions; f NULL: counts them only. Returns their number. */
static size_t put_rules_of(const char *name, FILE *f)
{
    size_t n = 0;
    for (size_t i = 0; i < oc_op_count(); i++) {
        struct oc_op_info op;
        oc_op_get(i, &op);
        if (strcmp(op.name, name) != 0)
            continue;
        n++;
        if (f)
            fprintf(f, "%s:%s since %d: %s\n", op.domain[0] ? op.domain : "ai.onnx", op.name, op.since,
                    op.formula && *op.formula ? op.formula : "no arithmetic");
    }
    return n;
}

static int put_rules(const void *opts, const struct cli_output *out, struct oc_err *err)
{
    const struct cli_opts *o = opts;
    (void)err;
    for (size_t i = 0; i < o->word.n; i++)
        put_rules_of(o->word.item[i], out->f);
    return 0;
}

static int run_ops(const struct cli_opts *o)
{
    for (size_t i = 0; i < o->word.n; i++)
        if (!put_rules_of(o->word.item[i], NULL))
            return cli_fail(CLI_USAGE, "no operator '%s'; onnxcost ops lists all", o->word.item[i]);
    return cli_output_write(o->output, o->word.n ? put_rules : put_ops, o);
}

const struct cli_command cmd_ops = {
    .name = "ops",
    .phrase = "supported operators and their cost formulas",
    .use = {{"onnxcost ops [NAME...]",
             "supported operators and their cost formulas; NAME: the whole text of the cost of an operator"}},
    .run = run_ops,
    .options = "format",
    .example = {{"onnxcost ops", "the operators, with the formulas of their costs"},
                {"onnxcost ops Gemm", "the text that is counted for an operator"},
                {"onnxcost ops -f json -o ops.json", "all as JSON"}},
};
