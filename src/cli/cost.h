/* The options of the report, and its cost as a function of sizes (cost_function.c). */
#ifndef OC_CLI_COST_H
#define OC_CLI_COST_H

#include "cli/options.h"
#include "onnxcost/report.h"

struct cost_opts {
    struct oc_report_opts
        report; /* but for its lists, which are the next ones, and what other commands have too */
    struct cli_list opr_name, type, input_dtype, what_if, why, explain_match;
    const char *annotate, *extract, *apply, *training; /* optimizer */
    bool strict, formula, sparsity;
};

/* --formula and lists of sizes: the cost of a model as a function of its open dimensions; --training: a training
 * step.
 */
bool cli_wants_function(const struct cli_opts *o);
/* Whether the options and files go together. Returns 0 or the exit code after a message. */
int cli_check_function(const struct cli_opts *o, const char *model_path, const char *profile_path);
/* Writes it. Returns the exit code after a message. */
struct cli_side;
int cli_write_function(const struct cli_opts *o, const struct cli_side *side);

#endif
