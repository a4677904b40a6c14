/* Options that choose or order rows, and would leave nothing without a word. */
#ifndef OC_CLI_FILTERS_H
#define OC_CLI_FILTERS_H

#include "cli/options.h"

/* Warns about --type and --opr-name that no operator of the model (NULL: there is none) or of the profiles
 * has, with what is near. */
void cli_check_filters(const struct cli_opts *o, const struct oc_analysis *a,
                       struct oc_profile *const *profile, size_t n_profile);

/* 0, or CLI_USAGE after a message: a column of --order-by (NULL: none) has no values without a profile or a
 * device. */
int cli_check_order(const char *order_by, bool profile, bool device);

#endif
