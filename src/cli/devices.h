/* The devices of --hw. */
#ifndef OC_CLI_DEVICES_H
#define OC_CLI_DEVICES_H

#include "cli/options.h"
#include "onnxcost.h"

struct cli_devices {
    struct oc_hwdb *db; /* NULL until one is requested */
    const struct oc_device **item;
    size_t n, cap;
};

/* All of them, in the order given, with what --hw-set changes. `filters`: "all" and "kind=gpu" stand for
 * many, each of which is taken once. Returns 0, or the exit code after a message. */
int cli_find_devices(const struct cli_opts *o, bool filters, struct cli_devices *out);
void cli_devices_free(struct cli_devices *d);

/* For commands that take one: the last --hw, NULL without one. */
const char *cli_hw(const struct cli_opts *o);

#endif
