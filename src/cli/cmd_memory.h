/* --fit: whether a model fits the memory of a device. */
#ifndef OC_CLI_CMD_MEMORY_H
#define OC_CLI_CMD_MEMORY_H

#include "cli/options.h"
#include "onnxcost.h"

/* Whether the options go together. Returns 0 or the exit code after a message. */
int cli_check_memory(const struct cli_opts *o);

/* Writes the answer. Returns CLI_OK if the model fits, CLI_FINDINGS if not or not known, or the exit code
 * after a message. */
int cli_write_fit(const struct oc_analysis *analysis, const struct oc_analyze_opts *opts,
                  const struct oc_device *device, FILE *out);

#endif
