/* hw: lists, shows, checks and measures devices. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/estimate.h"
#include "onnxcost/hardware.h"
#include "onnxcost/record.h"

struct hw_opts {
    bool quick, probe;
};

#define AT(field) offsetof(struct hw_opts, field)
static const struct cli_option own_options[] = {
    {"quick", 0, CLI_FLAG, AT(quick), .help = "hw measure: a trial of under a second, its figures are rough",
     .group = "Measuring this machine"},
    {"probe", 0, CLI_FLAG, AT(probe),
     .help = "hw measure: also records small networks with ONNX Runtime and writes FILE.cal.xml, a "
             "calibration for "
             "this machine; takes about 15 s more"},
};

struct hw_job {
    const struct cli_opts *o;
    const struct hw_opts *own;
    struct oc_hwdb *db;
    struct cli_output out;
    struct oc_calibration *base; /* of --probe: the shipped one, or that of --calibration */
    char *calibration_path;      /* heap: where its calibration goes; NULL: no --probe */
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

/* ---- probe ------------------------------------------------------------------------------------------ */

/* The calibration that --probe moves to this machine: of --calibration, else of the folders of hardware files. */
static int load_base(struct hw_job *j)
{
    static const char shipped[] = "calibrations/xeon-2-threads.onnxruntime.xml";
    char path[4096];
    const char *file = j->o->calibration, *folder;
    struct oc_err err;
    for (size_t i = 0; !file && (folder = oc_hwdb_folder(j->db, i)); i++)
        if (snprintf(path, sizeof(path), "%s/%s", folder, shipped) < (int)sizeof(path) && !access(path, R_OK))
            file = path;
    if (!file)
        return cli_fail(CLI_ENVIRONMENT,
                        "--probe: no %s in the folders of hardware files; give --calibration FILE or set "
                        "ONNXCOST_HWDB to their folder",
                        shipped);
    return oc_calibration_load(file, &j->base, &err) ? cli_fail_err(&err) : 0;
}

/* "here.cal.xml" for "here.xml". */
static char *calibration_path(const char *output)
{
    static const char end[] = ".xml";
    size_t n = strlen(output), size = n + sizeof(".cal.xml");
    char *path = cli_xcalloc(size, 1);
    if (n > strlen(end) && !strcmp(output + n - strlen(end), end))
        n -= strlen(end);
    snprintf(path, size, "%.*s.cal.xml", (int)n, output);
    return path;
}

/* What the probe needs is looked for before the machine is measured, which takes longer. */
static int prepare_probe(struct hw_job *j)
{
    struct oc_library_info library;
    struct oc_err err;
    const struct cli_opts *o = j->o;
    if (!j->own->probe)
        return 0;
    if (!o->output || cli_is(o->output, "-") || o->format)
        return cli_fail(CLI_USAGE, "--probe writes two files: give --output FILE.xml, and no --format");
    if (oc_onnxruntime_find(o->ort_lib, &library, &err))
        return cli_fail_err(&err);
    j->calibration_path = calibration_path(o->output);
    return load_base(j);
}

static int put_moved(const void *cal, const struct cli_output *out, struct oc_err *err)
{
    (void)err;
    oc_calibration_write(cal, out->f);
    return 0;
}

/* Moves the calibration of another machine to this one. */
static int write_moved(const struct hw_job *j, const struct oc_samples *samples)
{
    char date[16];
    struct oc_calibration *cal;
    struct oc_err err;
    cli_today(date, sizeof(date));
    const struct oc_calibration_opts opts = {.created = date};
    if (oc_calibration_move(j->base, samples, &opts, &cal, &err))
        return cli_fail_err(&err);
    int rc = cli_output_write(j->calibration_path, put_moved, cal);
    oc_calibration_free(cal);
    return rc;
}

/* One warning for all recordings that were disturbed. */
static void warn_of_samples(const struct oc_samples *samples)
{
    const struct oc_diag *d;
    size_t n = oc_samples_diags(samples, &d), disturbed = 0;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(d[i].code, "W-disturbed"))
            disturbed++;
        else
            cli_warn_diag(&d[i], false);
    if (disturbed)
        cli_warn("--probe: other processes used the processors during %zu recordings: their times may be too "
                 "long; "
                 "run it again on an idle machine",
                 disturbed);
}

static int run_probe(const struct hw_job *j, const struct oc_device *device)
{
    struct cli_side side = {.model_path = "probe"};
    struct oc_record_opts opts;
    struct oc_samples *samples = NULL;
    struct oc_err err;
    int rc = cli_record_options(j->o, &side, &opts);
    if (rc)
        return rc;
    cli_record_begin(&side);
    rc = oc_samples_record(device, &opts, &samples, &err);
    rc = cli_record_end(&side, rc, &err);
    if (!rc)
        warn_of_samples(samples);
    rc = rc ? rc : write_moved(j, samples);
    oc_samples_free(samples);
    return rc;
}

/* ---- measure ---------------------------------------------------------------------------------------- */

/* With --output it is a device file, else a table. */
static int hw_measure(struct hw_job *j)
{
    struct oc_hw_measurement *m;
    struct oc_err err;
    const struct cli_opts *o = j->o;
    if (o->threads.set && (o->threads.v < 1 || o->threads.v > UINT32_MAX))
        return cli_fail(CLI_USAGE, "--threads must be at least 1");
    int rc = prepare_probe(j);
    if (rc)
        return rc;
    struct cli_progress *progress = cli_progress_start();
    const struct oc_hw_measure_opts opts = {.threads = (uint32_t)o->threads.v,
                                            .quick = j->own->quick,
                                            .progress = print_progress,
                                            .user = progress};
    rc = oc_hw_measure(&opts, &m, &err) ? CLI_ENVIRONMENT : CLI_OK;
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
    if (!rc && j->own->probe)
        rc = run_probe(j, oc_hw_measurement_device(m));
    oc_hw_measurement_free(m);
    return rc;
}

/* After both files are in place. */
static int put_probe_hint(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct hw_job *j = job;
    (void)err;
    fprintf(
        out->f,
        "device       %s\ncalibration  %s\nestimate     onnxcost estimate MODEL --hw %s --calibration %s\n",
        j->o->output, j->calibration_path, j->o->output, j->calibration_path);
    return 0;
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
    const struct hw_opts *own = o->own;
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
    if (own->probe && part->run != hw_measure)
        return cli_fail(CLI_USAGE, "--probe is for hw measure");
    if ((o->calibration || o->ort_lib) && !own->probe)
        return cli_fail(CLI_USAGE, "--%s is for hw measure --probe", o->ort_lib ? "ort-lib" : "calibration");
    if (oc_hwdb_open(NULL, &j.db, &err))
        return cli_fail_err(&err);
    int rc = cli_output_open(o->output, &j.out);
    if (!rc) {
        int done = part->run(&j);
        rc = cli_output_close(&j.out, done == CLI_OK || done == CLI_FINDINGS);
        rc = rc ? rc : done;
    }
    if (!rc && j.calibration_path)
        rc = cli_output_write(NULL, put_probe_hint, &j);
    free(j.calibration_path);
    oc_calibration_free(j.base);
    oc_hwdb_free(j.db);
    return rc;
}

const struct cli_command cmd_hw = {
    .name = "hw",
    .phrase = "devices: list, show, diff, lint, measure",
    .use = {{"onnxcost hw list | show NAME | diff NAME NAME | lint [FILE...]",
             "the devices that --hw accepts: list, figures, comparison, check of hardware files"},
            {"onnxcost hw measure [-o FILE.xml] [--threads N] [--probe]",
             "measures this machine and makes a hardware file of it, with --probe also a calibration"}},
    .run = run_hw,
    .options = "hw-set format threads ort-lib calibration",
    .own = CLI_OWN(own_options, struct hw_opts),
    .names_devices = true,
    .example = {{"onnxcost hw list", "the devices that --hw accepts"},
                {"onnxcost hw show a100", "the figures of a device and their sources"},
                {"onnxcost hw measure --probe -o here.xml",
                 "this machine for --hw here.xml, and here.cal.xml for estimate --calibration"}},
    .tool = {{"devices", "Devices that hw accepts.", "", "", .fixed = "list",
              .brief = "rows:id,f16_flop_per_s,memory_bytes,memory_bytes_per_s", .place = 13},
             {"device", "Figures of a device, with their sources.", "name!", "", .fixed = "show",
              .brief = "rows:group,what,value,unit,basis,source", .place = 14}},
};
