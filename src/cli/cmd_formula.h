/* --formula and --sweep: the cost of a model as a function of its open dimensions. */
#ifndef OC_CLI_CMD_FORMULA_H
#define OC_CLI_CMD_FORMULA_H

#include "cli/options.h"
#include "onnxcost.h"

bool cli_wants_function(const struct cli_opts *o);
/* Whether the options and files go together. Returns 0 or the exit code after a message. */
int cli_check_function(const struct cli_opts *o, const char *model_path, const char *profile_path);
/* Writes it. Returns the exit code after a message. */
int cli_write_function(const struct cli_opts *o, const struct oc_model *model,
                       const struct oc_analyze_opts *opts);

#endif
