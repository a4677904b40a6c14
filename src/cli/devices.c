#include "cli/cli.h"

int cli_find_device(const struct cli_opts *o, const char *name, struct oc_hwdb **db,
                    const struct oc_device **device)
{
    struct oc_err err;
    if ((!*db && oc_hwdb_open(NULL, db, &err)) || oc_hwdb_get(*db, name, device, &err))
        return cli_fail_err(&err);
    if (o->hw_set.n && oc_device_override(*db, *device, o->hw_set.item, o->hw_set.n, device, &err))
        return cli_fail_err(&err);
    return 0;
}
