/* hw: lists, shows, checks and measures devices. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/hardware.h"

#define AT(field) offsetof(struct oc_hw_measure_opts, field)
static const struct cli_option own_options[] = {
    {"quick", 0, CLI_FLAG, AT(quick), .help = "hw measure: a trial of under a second, its figures are rough",
     .group = "Measuring this machine"},
};

struct hw_job {
    const struct cli_opts *o;
    const struct oc_hw_measure_opts *own;
    struct oc_hwdb *db;
    struct cli_output out;
};

static int hw_list(struct hw_job *j)
{
    struct oc_err err;
    return oc_hwdb_write_list(j->db, j->o->format, cli_width(&j->out, &j->o->width), j->out.f, &err)
               ? cli_output_fail(&j->out, &err)
               : 0;
}

static int show(struct hw_job *j)
{
    const struct oc_device *d;
    struct oc_err err;
    int rc = cli_find_device(j->o, j->o->word.item[1], &j->db, &d);
    if (!rc && oc_device_write(d, j->o->format, cli_width(&j->out, &j->o->width), j->out.f, &err))
        rc = cli_output_fail(&j->out, &err);
    return rc;
}

static int diff(struct hw_job *j)
{
    const struct oc_device *d[2];
    struct oc_err err;
    for (size_t i = 0; i < 2; i++) {
        int rc = cli_find_device(j->o, j->o->word.item[1 + i], &j->db, &d[i]);
        if (rc)
            return rc;
    }
    return oc_device_write_diff(d[0], d[1], j->o->format, cli_width(&j->out, &j->o->width), j->out.f, &err)
               ? cli_output_fail(&j->out, &err)
               : 0;
}

static int lint(struct hw_job *j)
{
    struct oc_hw_lint *l;
    struct oc_err err;
    const struct oc_hw_finding *finding;
    for (size_t i = 1; i < j->o->word.n; i++)
        if (access(j->o->word.item[i], R_OK) != 0)
            return cli_fail(CLI_INPUT, "cannot read '%s': %s: give a hardware file (XML)", j->o->word.item[i],
                            strerror(errno));
    if (oc_hwdb_lint(j->db, j->o->word.item + 1, j->o->word.n - 1, &l, &err))
        return cli_fail_err(&err);
    int rc = oc_hw_lint_write(l, j->o->format, j->out.f, &err) ? cli_output_fail(&j->out, &err)
             : oc_hw_lint_findings(l, &finding)                ? CLI_FINDINGS
                                                               : CLI_OK;
    oc_hw_lint_free(l);
    return rc;
}

static void print_progress(void *user, const char *what)
{
    cli_progress_say(user, "measuring", what);
}

/* With --output it is a device file, else a table. */
static int hw_measure(struct hw_job *j)
{
    struct oc_hw_measurement *m;
    struct oc_err err;
    const struct cli_opts *o = j->o;
    if (o->threads.set && (o->threads.v < 1 || o->threads.v > UINT32_MAX))
        return cli_fail(CLI_USAGE, "--threads must be at least 1");
    struct cli_progress *progress = cli_progress_start();
    struct oc_hw_measure_opts opts = *j->own;
    opts.threads = (uint32_t)o->threads.v;
    opts.progress = print_progress;
    opts.user = progress;
    int rc = oc_hw_measure(&opts, &m, &err) ? CLI_ENVIRONMENT : CLI_OK;
    cli_progress_stop(progress);
    if (rc)
        return err.code == OC_EARG ? cli_fail(CLI_USAGE, "--threads: %s", err.msg)
                                   : cli_fail(rc, "%s", err.msg);
    const struct oc_diag *diag;
    size_t n = oc_hw_measurement_diags(m, &diag);
    for (size_t i = 0; i < n; i++)
        cli_warn_diag(&diag[i], false);
    if (oc_hw_measurement_write(m, o->output && !o->format ? "xml" : o->format, cli_width(&j->out, &o->width),
                                j->out.f, &err))
        rc = cli_output_fail(&j->out, &err);
    oc_hw_measurement_free(m);
    return rc;
}

static const struct hw_part {
    const char *name;
    size_t min, max; /* number of words after it */
    int (*run)(struct hw_job *j);
} parts[] = {
    {"list", 0, 0, hw_list},         {"show", 1, 1, show},          {"diff", 2, 2, diff},
    {"lint", 0, SIZE_MAX - 1, lint}, {"measure", 0, 0, hw_measure},
};

static const struct hw_part *find_part(const struct cli_opts *o)
{
    const char *name = o->word.n ? o->word.item[0] : "list";
    size_t n = o->word.n ? o->word.n - 1 : 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (!strcmp(parts[i].name, name))
            return n >= parts[i].min && n <= parts[i].max ? &parts[i] : NULL;
    return NULL;
}

static int run_hw(const struct cli_opts *o)
{
    const struct oc_hw_measure_opts *own = o->own;
    const struct hw_part *part = find_part(o);
    struct hw_job j = {.o = o, .own = o->own};
    struct oc_err err;
    if (!part)
        return cli_fail(CLI_USAGE,
                        "usage: onnxcost hw list, hw show NAME, hw diff NAME NAME, hw lint [FILE...], or hw "
                        "measure");
    if (o->hw_set.n && part->run != show && part->run != diff)
        return cli_fail(CLI_USAGE, "--hw-set changes a device: 'hw %s' has none", part->name);
    if ((o->threads.set || own->quick) && part->run != hw_measure)
        return cli_fail(CLI_USAGE, "--%s is for hw measure", own->quick ? "quick" : "threads");
    if (oc_hwdb_open(NULL, &j.db, &err))
        return cli_fail_err(&err);
    int rc = cli_output_open(o->output, &j.out);
    if (!rc) {
        int done = part->run(&j);
        rc = cli_output_close(&j.out, done == CLI_OK || done == CLI_FINDINGS);
        rc = rc ? rc : done;
    }
    oc_hwdb_free(j.db);
    return rc;
}

const struct cli_command cmd_hw = {
    .name = "hw",
    .phrase = "devices: list, show, diff, lint, measure",
    .use = {{"onnxcost hw list | show NAME | diff NAME NAME | lint [FILE...]",
             "the devices that --hw accepts: list, figures, comparison, check of hardware files"},
            {"onnxcost hw measure [-o FILE.xml] [--threads N]",
             "measures this machine and makes a hardware file of it"}},
    .run = run_hw,
    .options = "hw-set format threads",
    .own = CLI_OWN(own_options, struct oc_hw_measure_opts),
    .names_devices = true,
    .example = {{"onnxcost hw list", "the devices that --hw accepts"},
                {"onnxcost hw show a100", "the figures of a device and their sources"},
                {"onnxcost hw measure -o here.xml",
                 "peaks and bandwidths of this machine, for --hw here.xml"}},
    .tool = {{"devices", "Devices that hw accepts.", "", "", .fixed = "list",
              .brief = "rows:id,f16_flop_per_s,memory_bytes,memory_bytes_per_s", .place = 13},
             {"device", "Figures of a device, with their sources.", "name!", "", .fixed = "show",
              .brief = "rows:group,what,value,unit,basis,source", .place = 14}},
};
