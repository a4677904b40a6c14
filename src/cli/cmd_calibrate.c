#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/recordings_arg.h"

static int dump(const struct cli_opts *o, const struct oc_samples *samples)
{
    const char *format = o->format && !strcmp(o->format, "json") ? "json" : "csv";
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(o->output, &out);
    if (rc)
        return rc;
    int failed = oc_samples_write(samples, format, out.f, &err) ? cli_fail_err(&err) : 0;
    rc = cli_output_close(&out, !failed);
    return failed ? failed : rc;
}

int cmd_calibrate(const struct cli_opts *o)
{
    struct cli_measured m;
    int rc = cli_measured_read(o, "calibrate", &m);
    if (!rc)
        rc = dump(o, m.samples);
    cli_measured_free(&m);
    return rc;
}
