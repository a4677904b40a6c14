#include <stdio.h>

#include "cli/cli.h"
#include "cli/output.h"

static void print_op(FILE *f, const struct oc_op_info *op)
{
    char until[16] = "";
    if (op->until)
        snprintf(until, sizeof(until), "%d", op->until);
    fprintf(f, "%-14s %-34s %2d-%-3s %-12s %s\n", op->domain[0] ? op->domain : "ai.onnx", op->name, op->since,
            until, op->op_class, op->family);
}

int cmd_ops(const struct cli_opts *o)
{
    struct cli_output out;
    int rc = o->word.n ? cli_fail(CLI_USAGE, "'ops' takes no argument, not '%s'", o->word.item[0]) : 0;
    if (rc || (rc = cli_output_open(o->output, &out)))
        return rc;
    fprintf(out.f, "%-14s %-34s %-6s %-12s %s\n", "domain", "operator", "opset", "class", "family");
    for (size_t i = 0; i < oc_op_count(); i++) {
        struct oc_op_info op;
        oc_op_get(i, &op);
        print_op(out.f, &op);
    }
    return cli_output_close(&out, true);
}
