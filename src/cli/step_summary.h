/* The step summary of GitHub Actions: Markdown on the page of a workflow run. */
#ifndef OC_CLI_STEP_SUMMARY_H
#define OC_CLI_STEP_SUMMARY_H

#include "cli/cli.h"

/* With --format github, and where $GITHUB_STEP_SUMMARY names a file, appends what `write` writes to it.
 * Returns 0, or the exit code after a message. */
int cli_step_summary(const struct cli_opts *o, int (*write)(const void *subject, FILE *f, struct oc_err *err),
                     const void *subject);

#endif
