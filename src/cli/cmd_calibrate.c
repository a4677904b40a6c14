#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/arguments.h"
#include "onnxcost/estimate.h"

static int dump(const struct cli_opts *o, const struct oc_samples *samples)
{
    const char *format = o->format && !strcmp(o->format, "json") ? "json" : "csv";
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(o->output, &out);
    if (rc)
        return rc;
    return cli_output_finish(&out, oc_samples_write(samples, format, out.f, &err), &err);
}

static int save(const struct cli_opts *o, const struct oc_calibration *cal)
{
    struct cli_output out;
    int rc = o->output ? cli_output_open(o->output, &out) : 0;
    if (rc || !o->output)
        return rc;
    oc_calibration_write(cal, out.f);
    return cli_output_close(&out, true);
}

/* The table goes to standard output, unless the file does. */
static int print_result(const struct cli_opts *o, const struct oc_calibration *cal,
                        const struct oc_samples *samples)
{
    struct cli_output out;
    struct oc_err err;
    if (o->output && !strcmp(o->output, "-"))
        return 0;
    int rc = cli_output_open(NULL, &out);
    if (rc)
        return rc;
    return cli_output_finish(&out, oc_calibration_report(cal, samples, cli_format(o), out.f, &err), &err);
}

static void today(char *buf, size_t cap)
{
    time_t now = time(NULL);
    struct tm t;
    if (!gmtime_r(&now, &t) || !strftime(buf, cap, "%Y-%m-%d", &t))
        buf[0] = '\0';
}

static int calibrate(const struct cli_opts *o, const struct oc_samples *samples)
{
    char date[16];
    struct oc_calibration *cal;
    struct oc_err err;
    today(date, sizeof(date));
    const struct oc_calibration_opts opts = {.no_forest = o->curves_only, .created = date};
    if (oc_calibration_make(samples, &opts, &cal, &err))
        return cli_fail_err(&err);
    int rc = save(o, cal);
    rc = rc ? rc : print_result(o, cal, samples);
    oc_calibration_free(cal);
    return rc;
}

int cmd_calibrate(const struct cli_opts *o)
{
    struct cli_measured m = {0};
    int rc = !o->hw.n && !o->dump_samples
                 ? cli_fail(CLI_USAGE, "calibrate needs the device that was measured: --hw NAME")
                 : cli_measured_read(o, "calibrate", &m);
    if (!rc)
        rc = o->dump_samples ? dump(o, m.samples) : calibrate(o, m.samples);
    cli_measured_free(&m);
    return rc;
}

/* ---- validate --------------------------------------------------------------------------------------- */

static int write_result(const struct cli_opts *o, const struct oc_validation_result *v)
{
    const char *format = cli_format(o);
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(o->output, &out);
    if (rc)
        return rc;
    return cli_output_finish(&out, oc_validation_write(v, format, out.f, &err), &err);
}

int cmd_validate(const struct cli_opts *o)
{
    struct cli_measured m = {0};
    struct oc_validation_result *v = NULL;
    struct oc_err err;
    const struct oc_validation_opts opts = {.no_forest = o->curves_only};
    int rc = !o->hw.n ? cli_fail(CLI_USAGE, "validate needs the device that was measured: --hw NAME")
                      : cli_measured_read(o, "validate", &m);
    if (!rc && oc_validation_make(m.samples, &opts, &v, &err))
        rc = cli_fail_err(&err);
    rc = rc ? rc : write_result(o, v);
    oc_validation_result_free(v);
    cli_measured_free(&m);
    return rc;
}
