/* --limit and --external-data. */
#ifndef OC_CLI_LIMIT_ARG_H
#define OC_CLI_LIMIT_ARG_H

#include "cli/options.h"

/* Fills o->caps. Returns 0, or an exit code after a message. */
int cli_take_limits(struct cli_opts *o);

/* The default of a limit: "64 MiB", "600 s", "4000000"; bytes in the largest unit that they are a multiple
 * of. Returns `buf`. */
const char *cli_limit_amount(const struct oc_cap_info *c, char *buf, size_t cap);

#endif
