/* The report, which needs no command: a model, profiles, a device, and how to show them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/profile.h"
#include "onnxcost/report.h"

struct job {
    const struct cli_opts *o;
    struct cli_list profiles; /* paths, in the order given */
    struct cli_side side;
    const struct oc_device **what_if_device; /* heap */
};

/* ---- input ------------------------------------------------------------------------------------------ */

static void cost_add_profile(struct job *j, const char *path)
{
    struct cli_list *l = &j->profiles;
    l->item = cli_xrealloc(l->item, (l->n + 1) * sizeof(*l->item));
    l->item[l->n++] = path;
}

/* A model and profiles in any order. */
static int find_files(struct job *j)
{
    const struct cli_opts *o = j->o;
    const struct cli_list *w = &o->word;
    for (size_t i = 0; i < o->profile.n; i++)
        cost_add_profile(j, o->profile.item[i]);
    for (size_t i = 0; i < w->n; i++) {
        enum oc_file_kind kind;
        struct oc_err err;
        if (oc_file_kind(w->item[i], &kind, &err))
            return cli_fail_err(&err);
        bool no_model =
            w->n == 1 && o->profile.n && !o->profile_format; /* reading it says what is wrong with it */
        if (kind == OC_FILE_PROFILE && !no_model) {
            cost_add_profile(j, w->item[i]);
            continue;
        }
        if (j->side.model_path)
            return cli_fail(
                CLI_USAGE,
                "one model at a time, not '%s' and '%s': compare two with onnxcost diff A B, or give many to "
                "onnxcost scan",
                j->side.model_path, w->item[i]);
        j->side.model_path = w->item[i];
    }
    j->side.profile_path = j->profiles.item;
    j->side.n_profile_path = j->profiles.n;
    j->side.optimized_path = o->optimized_model;
    j->side.hw = cli_hw(o);
    j->side.keep_events = o->advise || cli_is(o->format, "trace") || cli_is(o->format, "html");
    return 0;
}

/* 0, or CLI_USAGE after a message: a column of --order-by (NULL: none) has no values without a profile or a
 * device. */
static int check_order(const char *order_by, bool profile, bool device)
{
    static const struct {
        const char *name;
        bool profile, device;
    } needs[] = {{"time", true, false},  {"min", true, false},       {"max", true, false},
                 {"mean", true, false},  {"avg", true, false},       {"self", true, false},
                 {"flops", true, false}, {"bandwidth", true, false}, {"efficiency", true, true},
                 {"wasted", true, true}, {"roofline", false, true}};
    for (const char *at = order_by; at; at = *at ? at + 1 : NULL) {
        at += *at == '+';
        size_t n = strcspn(at, ",");
        for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
            if (strlen(needs[i].name) != n || memcmp(needs[i].name, at, n) != 0)
                continue;
            if (needs[i].profile && !profile)
                return cli_fail(CLI_USAGE,
                                "--order-by %s needs measured times: give a profile with --profile FILE",
                                needs[i].name);
            if (needs[i].device && !device)
                return cli_fail(CLI_USAGE, "--order-by %s needs a device: name it with --hw", needs[i].name);
        }
        at += n;
    }
    return 0;
}

/* Options that do nothing without a profile. */
static int check_profile_options(const struct job *j)
{
    const struct cli_opts *o = j->o;
    const struct {
        const char *name;
        bool given;
    } of_profile[] = {{"map", o->map != NULL},
                      {"min-time", o->min_time != NULL},
                      {"max-time", o->max_time != NULL},
                      {"profile-format", o->profile_format != NULL},
                      {"kernel-names", o->kernel_names != NULL},
                      {"stat", o->stat != NULL},
                      {"warmup", o->warmup.set},
                      {"iterations", o->iterations.set},
                      {"partial", o->partial}};
    struct oc_err err;
    if (o->profile_format && oc_profile_format_check(o->profile_format, &err))
        return cli_fail_err(&err);
    for (size_t i = 0; i < sizeof(of_profile) / sizeof(of_profile[0]) && !j->profiles.n; i++)
        if (of_profile[i].given)
            return cli_fail(CLI_USAGE, "--%s needs a profile: give it with --profile FILE",
                            of_profile[i].name);
    return check_order(o->order_by, j->profiles.n > 0, o->hw.n > 0);
}

static int check_device_options(const struct cli_opts *o)
{
    if (!o->hw.n && (o->roofline || cli_is(o->cache, "on")))
        return cli_fail(CLI_USAGE, "%s is about a device: name it with --hw",
                        o->roofline ? "--roofline" : "--cache on");
    if (o->hw.n > 1)
        return cli_fail(
            CLI_USAGE,
            "--hw: a report has one device, not %zu; several: onnxcost estimate MODEL --hw A --hw B",
            o->hw.n);
    return cli_check_memory(o);
}

static int cost_check_options(struct job *j)
{
    const struct cli_opts *o = j->o;
    const char *model = j->side.model_path;
    const struct {
        const char *name;
        bool given;
    } of_model[] = {{"dim", o->dim.n},
                    {"shape", o->shape.n},
                    {"value", o->value.n},
                    {"trip", o->trip.n},
                    {"optimized-model", o->optimized_model != NULL}};
    for (size_t i = 0; i < sizeof(of_model) / sizeof(of_model[0]) && !model; i++)
        if (of_model[i].given)
            return cli_fail(CLI_USAGE, "--%s needs a model%s: onnxcost MODEL --profile FILE",
                            of_model[i].name, o->optimized_model ? " and its profile" : "");
    if (o->annotate && (!model || cli_wants_function(o)))
        return cli_fail(CLI_USAGE, "--annotate needs a model, without --formula and --sweep");
    if (o->annotate && (cli_is(o->annotate, "-") || cli_is(o->output, o->annotate)))
        return cli_fail(CLI_USAGE, "--annotate needs a file of its own");
    if (o->fit && (!model || cli_wants_function(o)))
        return cli_fail(CLI_USAGE, "--fit needs a model, without --formula and --sweep");
    if (cli_is(o->format, "xlsx") && (!o->output || cli_is(o->output, "-")))
        return cli_fail(CLI_USAGE, "--format xlsx is binary: give --output FILE");
    int rc = check_device_options(o);
    rc = rc ? rc : check_profile_options(j);
    return rc ? rc : cli_check_function(o, model, j->profiles.n ? j->profiles.item[0] : NULL);
}

/* The devices of --what-if hw=NAME, one for each --what-if, NULL for the others; freed with free(). */
static int what_if_devices(const struct cli_opts *o, struct oc_hwdb **db, const struct oc_device ***device)
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

static int cost_read(struct job *j)
{
    const struct cli_opts *o = j->o;
    struct cli_side *s = &j->side;
    int rc = what_if_devices(o, &s->hwdb, &j->what_if_device);
    rc = rc ? rc : cli_side_read(o, s);
    if (rc || s->profiles.n < 2)
        return rc;
    return cli_fail(
        CLI_USAGE,
        "one profile at a time, not %zu: onnxcost diff MODEL -p A -p B compares profiles of a model",
        s->profiles.n);
}

static int cost_analyze(struct job *j)
{
    return cli_side_analyze(j->o, &j->side);
}

/* ---- output ----------------------------------------------------------------------------------------- */

static struct oc_report_opts report_opts(const struct cli_opts *o, const struct cli_output *out)
{
    return (struct oc_report_opts){
        .format = o->format,
        .style = o->style,
        .width_chars = out ? cli_width(out, &o->width) : 0,
        .color = out && cli_color(out, o->color),
        .verbose = o->verbose,
        .has_top = o->top.set || o->all,
        .top = o->all ? 0 : o->top.v,
        .name_pattern = o->opr_name.item,
        .n_name_pattern = o->opr_name.n,
        .type = o->type.item,
        .n_type = o->type.n,
        .input_dtype = o->input_dtype.item,
        .n_input_dtype = o->input_dtype.n,
        .order_by = o->order_by,
        .aggregate = o->aggregate,
        .aggregate_by = o->aggregate_by,
        .group_by = o->group_by,
        .top_end_key = o->top_end_key,
        .min_time = o->min_time,
        .max_time = o->max_time,
        .print_only = o->print_only,
        .show_host = o->show_host,
        .copy_time = o->copy_time,
        .confluence = o->confluence,
        .dump_only_opr = o->dump_only_opr,
        .why = o->why.item,
        .n_why = o->why.n,
        .cache = !cli_is(o->cache, "off"),
        .roofline = o->roofline,
        .advise = o->advise,
        .fuse = o->fuse,
        .as = o->as,
        .what_if = o->what_if.item,
        .n_what_if = o->what_if.n,
        .explain_match = o->explain_match.item,
        .n_explain_match = o->explain_match.n,
    };
}

/* Below the table; for CSV and JSON on standard error. */
static int cost_fit(struct job *j, FILE *f)
{
    bool table = !j->o->format || cli_is(j->o->format, "table");
    if (table)
        fputc('\n', f);
    return cli_write_fit(j->side.analysis, &j->side.opts, j->side.in.device, table ? f : stderr);
}

static int put_annotated(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct job *j = job;
    struct oc_report_opts opts = report_opts(j->o, NULL);
    cli_progress_say(j->side.progress, "writing", j->o->annotate);
    return oc_annotate_write(&j->side.in, &opts, j->o->annotate, out->f, err);
}

/* Writes the annotated model to its own file. */
static int annotate(struct job *j)
{
    return j->o->annotate ? cli_output_write(j->o->annotate, put_annotated, j) : 0;
}

/* The device that the profile names, for a proposal; NULL: none in the hardware files. */
static const struct oc_device *recorded_device(const struct oc_profile *p, struct oc_hwdb **db)
{
    const struct oc_device *device = NULL;
    struct oc_err err;
    if (p && oc_profile_device(p) && (*db || !oc_hwdb_open(NULL, db, &err)) &&
        oc_hwdb_find(*db, oc_profile_device(p), &device, NULL))
        device = NULL;
    return device;
}

static int cost_write_report(struct job *j)
{
    struct cli_output out;
    struct oc_err err;
    struct cli_side *s = &j->side;
    int rc = cli_output_open(j->o->output, &out);
    if (rc)
        return rc;
    struct oc_report_opts opts = report_opts(j->o, &out);
    struct oc_report_outcome outcome = {0};
    opts.what_if_device = j->what_if_device;
    opts.outcome = &outcome;
    const struct oc_device *recorded = s->in.device ? NULL : recorded_device(s->in.profile, &s->hwdb);
    opts.recorded_hw = recorded ? oc_device_info(recorded)->name : NULL;
    char *made = cli_page_made(j->o);
    bool live = cli_is(j->o->format, "html");
    opts.made = made;
    if (live && !s->hwdb && oc_hwdb_open(NULL, &s->hwdb, &err))
        s->hwdb = NULL; /* the page then has the report's device only */
    opts.analyze = live ? &s->opts : NULL;
    opts.hwdb = s->hwdb;
    int failed = oc_report_write(&s->in, &opts, out.f, &err) ? cli_fail_err(&err) : 0;
    free(made);
    if (outcome.missing[0])
        cli_warn("%s", outcome.missing);
    if (outcome.unordered)
        cli_warn("%zu %s no value of --order-by %s and %s last", outcome.unordered,
                 outcome.unordered == 1 ? "row has" : "rows have", j->o->order_by,
                 outcome.unordered == 1 ? "is" : "are");
    if (!failed && j->o->fit)
        failed = cost_fit(j, out.f);
    rc = cli_output_close(&out, !failed || failed == CLI_FINDINGS);
    return rc ? rc : failed;
}

/* ---- warnings --------------------------------------------------------------------------------------- */

enum { MAX_WARNINGS = 5 };

static size_t warn_about(const struct oc_diag *d, size_t n, size_t before, bool print)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        if (d[i].severity == OC_INFO)
            continue;
        if (print && before + found < MAX_WARNINGS && !cli_is_headline(&d[i]))
            cli_warn_diag(&d[i], true);
        found++;
    }
    return found;
}

/* How many there are; printed when the report has no place for them. */
static size_t cost_findings(const struct job *j, bool print)
{
    const struct cli_side *s = &j->side;
    const struct oc_diag *d;
    size_t n = 0, count;
    if (s->model && (count = oc_model_diags(s->model, &d)))
        n += warn_about(d, count, n, print);
    if (s->analysis && (count = oc_analysis_diags(s->analysis, &d)))
        n += warn_about(d, count, n, print);
    for (size_t i = 0; i < s->profiles.n; i++)
        if ((count = oc_profile_diags(s->profiles.item[i], &d)))
            n += warn_about(d, count, n, print);
    for (size_t i = 0; s->join && i < s->profiles.n; i++)
        if ((count = oc_join_diags(s->join[i], &d)))
            n += warn_about(d, count, n, print);
    if (print && n > MAX_WARNINGS)
        cli_warn("and %zu more; --format json has all", n - MAX_WARNINGS);
    return n;
}

static bool report_prints_findings(const struct job *j)
{
    const struct cli_opts *o = j->o;
    if (cli_is(o->format, "csv") || cli_is(o->format, "trace") || cli_is(o->format, "model-explorer") ||
        cli_is(o->format, "netron") || o->confluence || o->dump_only_opr ||
        ((o->why.n || o->explain_match.n) && !cli_is(o->format, "json")) ||
        (o->print_only && !cli_is(o->print_only, "summary")))
        return false;
    return cli_is(o->format, "json") || cli_is(o->format, "markdown") || cli_is(o->format, "md") ||
           cli_is(o->format, "html") || o->embed || j->side.model ||
           !cli_is(oc_profile_importer(j->side.in.profile), "megengine");
}

static int cost_strict_result(const struct job *j, size_t n_findings)
{
    size_t unknown = 0, estimated = 0, assumed = 0;
    if (j->side.analysis) {
        struct oc_totals t;
        oc_analysis_total(j->side.analysis, &t);
        unknown = t.unknown_nodes;
        estimated = t.estimated_nodes;
        assumed = oc_analysis_assumptions(j->side.analysis);
    }
    if (!j->o->strict || !(n_findings + unknown + estimated + assumed))
        return 0;
    return cli_fail(
        CLI_FINDINGS,
        "strict: warnings: %zu, nodes without a cost: %zu, estimated nodes: %zu, assumptions: %zu",
        n_findings, unknown, estimated, assumed);
}

/* A MegEngine file without device times: its table on standard output is empty, as the original's is. What it
 * has is shown on standard error. */
static void show_host_times(const struct job *j)
{
    const struct oc_diag *d;
    struct oc_err err;
    const struct cli_side *s = &j->side;
    size_t n = s->in.profile && !s->model && !j->o->show_host && !j->o->print_only
                   ? oc_profile_diags(s->in.profile, &d)
                   : 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(d[i].code, "W-host-times-only"))
            continue;
        struct oc_report_in in = {.profile = s->in.profile};
        struct oc_report_opts opts = report_opts(j->o, NULL);
        opts.print_only = "host";
        oc_report_write(&in, &opts, stderr, &err);
    }
}

/* ---- the command ------------------------------------------------------------------------------------ */

static int cost_run(struct job *j)
{
    static int (*const steps[])(struct job *) = {find_files, cost_check_options, cost_read, cost_analyze,
                                                 annotate};
    int rc = 0;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc; i++)
        rc = steps[i](j);
    cli_progress_stop(j->side.progress); /* its line must be gone before the report comes */
    j->side.progress = NULL;
    if (rc || !cli_wants_function(j->o))
        return rc ? rc : cost_write_report(j);
    return cli_write_function(j->o, &j->side);
}

int cmd_cost(const struct cli_opts *o)
{
    struct job j = {.o = o, .side.progress = cli_progress_start()};
    int rc = cost_run(&j);
    if (!rc && cli_wants_function(o)) {
        cost_findings(&j, true);
    } else if (!rc || rc == CLI_FINDINGS) {
        bool tell = !report_prints_findings(&j);
        int strict = cost_strict_result(&j, cost_findings(&j, tell));
        rc = rc ? rc : strict;
        if (tell)
            show_host_times(&j);
    }
    cli_side_close(&j.side);
    free(j.profiles.item);
    free(j.what_if_device);
    return rc;
}
