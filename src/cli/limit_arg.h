/* --limit and --external-data, and the list of limits that `onnxcost help limits` prints. */
#ifndef OC_CLI_LIMIT_ARG_H
#define OC_CLI_LIMIT_ARG_H

#include <stdio.h>

#include "cli/options.h"

/* Fills o->caps. Returns 0, or an exit code after a message. */
int cli_take_limits(struct cli_opts *o);
void cli_print_limits(FILE *f);

#endif
