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

/* As cli_find_device; "auto" is the device that the profile names. p: NULL without a profile. */
int cli_find_recorded_device(const struct cli_opts *o, const char *name, const struct oc_profile *p,
                             struct oc_hwdb **db, const struct oc_device **device);

/* The device that the profile names, for a proposal; NULL: none in the hardware files. */
const struct oc_device *cli_recorded_device(const struct oc_profile *p, struct oc_hwdb **db);

/* All of them, in the order given, with what --hw-set changes. `filters`: "all" and "kind=gpu" stand for
 * many, each of which is taken once. Returns 0, or the exit code after a message. */
int cli_find_devices(const struct cli_opts *o, bool filters, struct cli_devices *out);
void cli_devices_free(struct cli_devices *d);

/* For commands that take one: the last --hw, NULL without one. */
const char *cli_hw(const struct cli_opts *o);

#endif
