/* calibrate: cost curves of kernels from recordings. */
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/estimate.h"
#include "onnxcost/hardware.h"

struct calibrate_opts {
    bool check;
};

#define AT(field) offsetof(struct calibrate_opts, field)
static const struct cli_option own_options[] = {
    {"check", 0, CLI_FLAG, AT(check),
     .help = "print how wrong predictions of networks are that were left out, by group", .group = "Estimates",
     .before = "calibration"},
};

/* ---- recordings ------------------------------------------------------------------------------------- */

/* RECORDINGS... on the command line, with --hw and related options. */
struct measured {
    const struct cli_opts *o;
    struct oc_hwdb *hwdb;
    const struct oc_device *device; /* NULL: without --hw */
    struct oc_samples *samples;
    struct oc_calibration *calibration; /* that is fitted to them */
};

struct calibrate_progress {
    struct cli_progress *shown;
    double from_s;
};

static void on_recording(void *arg, const char *name, size_t done, size_t all)
{
    const struct calibrate_progress *p = arg;
    char part[100];
    cli_progress_say(p->shown, oc_part_text("reading", done, all, p->from_s, part, sizeof(part)), name);
}

static int read_samples(const struct cli_opts *o, struct measured *m)
{
    struct oc_err err;
    struct calibrate_progress p = {.shown = cli_progress_start(), .from_s = oc_now_s()};
    const struct oc_samples_opts opts = {.device = m->device,
                                         .profile_format = o->profile_format,
                                         .threads = o->threads.set ? (uint32_t)o->threads.v : 0,
                                         .warmup = cli_warmup(o, 0),
                                         .progress = on_recording,
                                         .progress_arg = &p,
                                         .limits = &o->limits};
    int rc = oc_samples_read(o->word.item, o->word.n, &opts, &m->samples, &err);
    cli_progress_stop(p.shown);
    return rc ? cli_fail_err(&err) : 0;
}

static void print_sample_warnings(const struct oc_samples *samples)
{
    const struct oc_diag *d;
    size_t n = oc_samples_diags(samples, &d);
    for (size_t i = 0; i < n; i++)
        cli_warn_diag(&d[i], false);
}

/* Reads the measured kernels. What is wrong with single recordings goes to stderr. */
static int measured_read(const struct cli_opts *o, struct measured *out)
{
    const int64_t most = 1000000;
    if (!o->word.n)
        return cli_fail(CLI_USAGE,
                        "calibrate needs recordings: profiles next to their models, or lists of them");
    if (o->threads.set && (o->threads.v < 1 || o->threads.v > most))
        return cli_fail(CLI_USAGE, "--threads needs a number of at least 1, not %lld",
                        (long long)o->threads.v);
    if (o->warmup.set && (o->warmup.v < 0 || o->warmup.v > most))
        return cli_fail(CLI_USAGE, "--warmup needs a number from 0 to %lld, not %lld", (long long)most,
                        (long long)o->warmup.v);
    int rc = o->hw.n ? cli_find_device(o, cli_hw(o), &out->hwdb, &out->device) : 0;
    rc = rc ? rc : read_samples(o, out);
    if (!rc)
        print_sample_warnings(out->samples);
    return rc;
}

static void measured_free(struct measured *m)
{
    oc_calibration_free(m->calibration);
    oc_samples_free(m->samples);
    oc_hwdb_free(m->hwdb);
}

/* ---- calibrate -------------------------------------------------------------------------------------- */

static int put_check(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct measured *m = job;
    return oc_calibration_check(m->samples, m->o->format, out->f, err);
}

static int put_calibration(const void *cal, const struct cli_output *out, struct oc_err *err)
{
    (void)err;
    oc_calibration_write(cal, out->f);
    return 0;
}

static int put_calibration_report(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct measured *m = job;
    return oc_calibration_report(m->calibration, m->samples, m->o->format, out->f, err);
}

/* The table goes to standard output, unless the file does. */
static int make_calibration(struct measured *m)
{
    char date[16];
    const struct cli_opts *o = m->o;
    struct oc_err err;
    cli_today(date, sizeof(date));
    const struct oc_calibration_opts opts = {.created = date};
    struct oc_calibration *base = NULL;
    int made = !o->calibration ? oc_calibration_make(m->samples, &opts, &m->calibration, &err)
               : oc_calibration_load(o->calibration, &base, &err)
                   ? -1
                   : oc_calibration_move(base, m->samples, &opts, &m->calibration, &err);
    oc_calibration_free(base);
    if (made)
        return cli_fail_err(&err);
    int rc = o->output ? cli_output_write(o->output, put_calibration, m->calibration) : 0;
    if (rc || cli_is(o->output, "-"))
        return rc;
    return cli_output_write(NULL, put_calibration_report, m);
}

static int run_calibrate(const struct cli_opts *o)
{
    const struct calibrate_opts *own = o->own;
    struct measured m = {.o = o};
    int rc = !o->hw.n ? cli_fail(CLI_USAGE, "calibrate needs the device that was measured: --hw NAME")
             : own->check && o->calibration
                 ? cli_fail(CLI_USAGE, "--check fits calibrations of its own: it takes no --calibration")
                 : measured_read(o, &m);
    if (!rc)
        rc = own->check ? cli_output_write(o->output, put_check, &m) : make_calibration(&m);
    measured_free(&m);
    return rc;
}

const struct cli_command cmd_calibrate = {
    .name = "calibrate",
    .phrase = "fit per-kernel cost curves from recorded profiles",
    .use = {{"onnxcost calibrate RECORDING... --hw NAME [-o FILE.xml | --check]",
             "per-kernel cost curves fitted from recorded profiles; --check: their errors"}},
    .run = run_calibrate,
    .usual = "hw check calibration threads profile-format format output",
    .sets = CLI_READS,
    .options = "profile-format warmup hw hw-set format threads calibration",
    .own = CLI_OWN(own_options, struct calibrate_opts),
    .example =
        {{"onnxcost calibrate *.profile.json --hw here.xml -o here.cal.xml",
          "per-kernel cost curves from recorded profiles"},
         {"onnxcost calibrate *.profile.json --hw here.xml --check",
          "errors of estimates of networks that were left out"},
         {"onnxcost calibrate *.profile.json --hw here.xml --calibration there.cal.xml -o here.cal.xml",
          "another machine's curves, moved here by a few recordings"}},
};
