#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"

static void print_device(FILE *f, const struct oc_device *device)
{
    struct oc_device_info d = oc_device_info(device);
    fprintf(f, "%-28s %-5s %-10s %s", d.id, d.kind, d.vendor, d.name);
    for (size_t i = 0; i < d.n_alias; i++)
        fprintf(f, "%s%s", i ? ", " : "  (also: ", d.alias[i]);
    fprintf(f, "%s\n", d.n_alias ? ")" : "");
}

static int list(struct oc_hwdb *db, FILE *f)
{
    const struct oc_device *const *device;
    size_t n;
    struct oc_err err;
    if (oc_hwdb_list(db, &device, &n, &err))
        return cli_fail_err(&err);
    fprintf(f, "%-28s %-5s %-10s %s\n", "id", "kind", "vendor", "name");
    for (size_t i = 0; i < n; i++)
        print_device(f, device[i]);
    return 0;
}

static int show(struct oc_hwdb *db, const char *name, FILE *f)
{
    const struct oc_device *device;
    struct oc_err err;
    if (oc_hwdb_get(db, name, &device, &err) || oc_device_describe(device, f, &err))
        return cli_fail_err(&err);
    return 0;
}

int cmd_hw(const struct cli_opts *o)
{
    const char *what = o->word.n ? o->word.item[0] : "list";
    bool one = !strcmp(what, "show");
    if ((!one && strcmp(what, "list")) || o->word.n > (one ? 2u : 1u) || (one && o->word.n < 2))
        return cli_fail(CLI_USAGE, "usage: onnxcost hw list, or onnxcost hw show NAME");
    struct oc_err err;
    struct oc_hwdb *db;
    if (oc_hwdb_open(NULL, &db, &err))
        return cli_fail_err(&err);
    struct cli_output out;
    int rc = cli_output_open(o->output, &out);
    if (!rc) {
        int done = one ? show(db, o->word.item[1], out.f) : list(db, out.f);
        rc = cli_output_close(&out, done == 0);
        rc = done ? done : rc;
    }
    oc_hwdb_free(db);
    return rc;
}
