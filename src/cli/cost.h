/* The options of the report, and its cost as a function of sizes (cost_function.c). */
#ifndef OC_CLI_COST_H
#define OC_CLI_COST_H

#include "cli/options.h"

struct cost_opts {
    struct cli_list opr_name, type, input_dtype, what_if, why, explain_match, sweep;
    const char *order_by, *group_by, *aggregate, *aggregate_by, *min_time, *max_time, *top_end_key, *style,
        *fuse, *print_only, *annotate, *training;
    bool roofline, advise, show_host, copy_time, confluence, dump_only_opr, strict, formula, sparsity;
};

/* --formula and --sweep: the cost of a model as a function of its open dimensions; --training: a training
 * step.
 */
bool cli_wants_function(const struct cli_opts *o);
/* Whether the options and files go together. Returns 0 or the exit code after a message. */
int cli_check_function(const struct cli_opts *o, const char *model_path, const char *profile_path);
/* Writes it. Returns the exit code after a message. */
struct cli_side;
int cli_write_function(const struct cli_opts *o, const struct cli_side *side);

#endif
