/* --plan and --reorder of the command memory. */
#ifndef OC_CLI_CMD_PLAN_H
#define OC_CLI_CMD_PLAN_H

#include "cli/options.h"
#include "onnxcost.h"

/* Whether the options go together. Returns 0 or the exit code after a message. */
int cli_check_plan(const struct cli_opts *o);

/* *out stays NULL when no plan is requested. Returns 0 or the exit code after a message. */
int cli_make_plan(const struct cli_opts *o, const struct oc_analysis *a, struct oc_memory_plan **out);

/* Writes the file of --plan, if any. Returns 0 or the exit code after a message. */
int cli_save_plan(const struct cli_opts *o, const struct oc_memory_plan *p);

#endif
