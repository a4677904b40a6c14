/* RECORDINGS... on the command line, with --hw and related options: reads the measured kernels. */
#ifndef OC_CLI_RECORDINGS_ARG_H
#define OC_CLI_RECORDINGS_ARG_H

#include "cli/cli.h"

struct cli_measured {
    struct oc_hwdb *hwdb;
    const struct oc_device *device; /* NULL: without --hw */
    struct oc_samples *samples;
};

/* Returns 0, or an exit code after a message. What is wrong with single recordings goes to stderr. */
int cli_measured_read(const struct cli_opts *o, const char *command, struct cli_measured *out);
void cli_measured_free(struct cli_measured *m);

#endif
