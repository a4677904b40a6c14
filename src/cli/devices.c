#include "cli/devices.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/hardware.h"

static int devices_change(const struct cli_opts *o, struct oc_hwdb *db, const struct oc_device **device)
{
    static const char *const no_tf32 = "matrix.tf32=none";
    struct oc_err err;
    if ((o->hw_set.n && oc_device_override(db, *device, o->hw_set.item, o->hw_set.n, device, &err)) ||
        (o->no_tf32 && oc_device_override(db, *device, &no_tf32, 1, device, &err)))
        return cli_fail_err(&err);
    return 0;
}

int cli_find_device(const struct cli_opts *o, const char *name, struct oc_hwdb **db,
                    const struct oc_device **device)
{
    struct oc_err err;
    if (!strcmp(name, "auto"))
        return cli_fail(CLI_USAGE,
                        "--hw auto is the device that a profile names: give a profile, or the device's name");
    if ((!*db && oc_hwdb_open(NULL, db, &err)) || oc_hwdb_get(*db, name, device, &err))
        return cli_fail_err(&err);
    return devices_change(o, *db, device);
}

int cli_find_recorded_device(const struct cli_opts *o, const char *name, const struct oc_profile *p,
                             struct oc_hwdb **db, const struct oc_device **device)
{
    struct oc_err err;
    if (strcmp(name, "auto") != 0 || !p)
        return cli_find_device(o, name, db, device);
    if (!oc_profile_device(p))
        return cli_fail(CLI_USAGE,
                        "--hw auto: the profile does not name its device; give the name (onnxcost hw list)");
    if ((!*db && oc_hwdb_open(NULL, db, &err)) || oc_hwdb_find(*db, oc_profile_device(p), device, &err))
        return cli_fail_err(&err);
    return devices_change(o, *db, device);
}

const struct oc_device *cli_recorded_device(const struct oc_profile *p, struct oc_hwdb **db)
{
    const struct oc_device *device = NULL;
    struct oc_err err;
    if (p && oc_profile_device(p) && (*db || !oc_hwdb_open(NULL, db, &err)) &&
        oc_hwdb_find(*db, oc_profile_device(p), &device, &err))
        device = NULL;
    return device;
}

const char *cli_hw(const struct cli_opts *o)
{
    return o->hw.n ? o->hw.item[o->hw.n - 1] : NULL;
}

static void devices_add(struct cli_devices *d, const struct oc_device *device)
{
    if (d->n == d->cap) {
        d->cap = d->cap ? d->cap * 2 : 16;
        d->item = cli_xrealloc(d->item, d->cap * sizeof(*d->item));
    }
    d->item[d->n++] = device;
}

/* The same device, maybe with other figures. */
static bool devices_has(const struct cli_devices *d, const struct oc_device *device)
{
    const struct oc_device_info *a = oc_device_info(device);
    for (size_t i = 0; i < d->n; i++) {
        const struct oc_device_info *b = oc_device_info(d->item[i]);
        if (!strcmp(a->id, b->id) && !strcmp(a->file, b->file))
            return true;
    }
    return false;
}

static int add_filtered(const struct cli_opts *o, const char *filter, struct cli_devices *d)
{
    const struct oc_device *const *list;
    size_t n;
    struct oc_err err;
    if (!d->db && oc_hwdb_open(NULL, &d->db, &err))
        return cli_fail_err(&err);
    if (oc_hwdb_select(d->db, filter, &list, &n, &err))
        return cli_fail_err(&err);
    for (size_t i = 0; i < n; i++) {
        const struct oc_device *device = list[i];
        if (devices_has(d, device))
            continue;
        int rc = devices_change(o, d->db, &device);
        if (rc)
            return rc;
        devices_add(d, device);
    }
    return 0;
}

static int add_name(const struct cli_opts *o, bool filters, const char *name, struct cli_devices *d)
{
    const struct oc_device *device = NULL;
    if (filters && oc_hwdb_is_filter(name))
        return add_filtered(o, name, d);
    int rc = cli_find_device(o, name, &d->db, &device);
    if (!rc)
        devices_add(d, device);
    return rc;
}

/* One --hw may have several, separated by commas. */
static int add_names(const struct cli_opts *o, bool filters, const char *names, struct cli_devices *d)
{
    for (const char *p = names; p;) {
        size_t n = strcspn(p, ",");
        char *name = cli_xstrndup(p, n);
        int rc = add_name(o, filters, name, d);
        free(name);
        if (rc)
            return rc;
        p = p[n] ? p + n + 1 : NULL;
    }
    return 0;
}

int cli_find_devices(const struct cli_opts *o, bool filters, struct cli_devices *out)
{
    *out = (struct cli_devices){0};
    if (!o->hw.n && o->hw_set.n)
        return cli_fail(CLI_USAGE, "--hw-set changes a device: name it with --hw");
    for (size_t i = 0; i < o->hw.n; i++) {
        int rc = add_names(o, filters, o->hw.item[i], out);
        if (rc)
            return rc;
    }
    return 0;
}

void cli_devices_free(struct cli_devices *d)
{
    free(d->item);
    oc_hwdb_free(d->db);
}

int cli_what_if_devices(const struct cli_opts *o, struct oc_hwdb **db, const struct oc_device ***device)
{
    struct oc_err err;
    *device = cli_xcalloc(o->what_if.n + 1, sizeof(**device));
    for (size_t i = 0; i < o->what_if.n; i++)
        if (!strncmp(o->what_if.item[i], "hw=", 3) &&
            ((!*db && oc_hwdb_open(NULL, db, &err)) ||
             oc_hwdb_get(*db, o->what_if.item[i] + 3, &(*device)[i], &err)))
            return cli_fail_err(&err);
    return 0;
}
