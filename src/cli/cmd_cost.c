/* The report, which needs no command: a model, profiles, a device, and how to show them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/profile.h"
#include "onnxcost/report.h"

/* Everything that one report needs, in the order in which it is made. */
struct job {
    const struct cli_opts *o;
    const char *model_path, *profile_path; /* profile_path: the first one, NULL: none */
    struct cli_list profiles;              /* paths, in the order given */
    struct oc_shape_bind *profile_shape;   /* shapes of inputs that the profile recorded */
    size_t n_profile_shape;
    struct oc_control_bind *control; /* branches and trips that the profile shows */
    size_t n_control;
    struct cli_progress *progress;
    struct cli_shapes shapes;
    struct oc_model *model, *optimized;
    struct oc_profile **list; /* heap; the files may be parts of fewer measurements */
    size_t n_list;
    struct oc_profile *profile; /* the first of the list */
    struct oc_kernel_names *kernel_names;
    struct oc_analysis *analysis;
    struct oc_join **joins; /* one for each profile */
    struct oc_join *join;   /* the first */
    struct oc_hwdb *hwdb;
    const struct oc_device *device, **what_if_device; /* the second: heap */
};

static bool cost_is(const char *value, const char *wanted)
{
    return value && !strcmp(value, wanted);
}

/* ---- input ------------------------------------------------------------------------------------------ */

static void cost_add_profile(struct job *j, const char *path)
{
    struct cli_list *l = &j->profiles;
    l->item = cli_xrealloc(l->item, (l->n + 1) * sizeof(*l->item));
    l->item[l->n++] = path;
    j->profile_path = l->item[0];
}

/* A model and profiles in any order. */
static int find_files(struct job *j)
{
    const struct cli_list *w = &j->o->word;
    for (size_t i = 0; i < j->o->profile.n; i++)
        cost_add_profile(j, j->o->profile.item[i]);
    for (size_t i = 0; i < w->n; i++) {
        enum oc_file_kind kind;
        struct oc_err err;
        if (oc_file_kind(w->item[i], &kind, &err))
            return cli_fail_err(&err);
        if (kind == OC_FILE_PROFILE && j->o->profile_format == NULL && j->o->profile.n && !j->model_path &&
            w->n == 1)
            return cli_load_model(w->item[i], j->o, &j->model); /* which says what is wrong with it */
        if (kind == OC_FILE_PROFILE) {
            cost_add_profile(j, w->item[i]);
            continue;
        }
        if (j->model_path)
            return cli_fail(
                CLI_USAGE,
                "one model at a time, not '%s' and '%s': compare two with onnxcost diff A B, or give many to "
                "onnxcost scan",
                j->model_path, w->item[i]);
        j->model_path = w->item[i];
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
                      {"combine", o->combine},
                      {"partial", o->partial}};
    for (size_t i = 0; i < sizeof(of_profile) / sizeof(of_profile[0]) && !j->profile_path; i++)
        if (of_profile[i].given)
            return cli_fail(CLI_USAGE, "--%s needs a profile: give it with --profile FILE",
                            of_profile[i].name);
    return cli_check_order(o->order_by, j->profile_path != NULL, o->hw.n > 0);
}

static int cost_check_options(struct job *j)
{
    const struct cli_opts *o = j->o;
    struct oc_err err;
    const struct {
        const char *name;
        bool given;
    } of_model[] = {{"dim", o->dim.n},
                    {"shape", o->shape.n},
                    {"value", o->value.n},
                    {"trip", o->trip.n},
                    {"optimized-model", o->optimized_model != NULL}};
    for (size_t i = 0; i < sizeof(of_model) / sizeof(of_model[0]) && !j->model_path; i++)
        if (of_model[i].given)
            return cli_fail(CLI_USAGE, "--%s needs a model%s: onnxcost MODEL --profile FILE",
                            of_model[i].name, o->optimized_model ? " and its profile" : "");
    if (o->annotate && (!j->model_path || cli_wants_function(o)))
        return cli_fail(CLI_USAGE, "--annotate needs a model, without --formula and --sweep");
    if (o->annotate && (cost_is(o->annotate, "-") || cost_is(o->output, o->annotate)))
        return cli_fail(CLI_USAGE, "--annotate needs a file of its own");
    if (o->fit && (!j->model_path || cli_wants_function(o)))
        return cli_fail(CLI_USAGE, "--fit needs a model, without --formula and --sweep");
    if (cost_is(o->format, "xlsx") && (!o->output || cost_is(o->output, "-")))
        return cli_fail(CLI_USAGE, "--format xlsx is binary: give --output FILE");
    int memory = cli_check_memory(o);
    if (memory)
        return memory;
    if (o->optimized_model && !j->profile_path)
        return cli_fail(CLI_USAGE,
                        "--optimized-model needs a model and its profile: onnxcost MODEL --profile FILE");
    if (o->profile_format && oc_profile_format_check(o->profile_format, &err))
        return cli_fail_err(&err);
    return check_profile_options(j);
}

static int check_function(struct job *j)
{
    return cli_check_function(j->o, j->model_path, j->profile_path);
}

static int load_model(struct job *j)
{
    if (!j->model_path)
        return 0;
    cli_progress_say(j->progress, "loading", j->model_path);
    return cli_load_model(j->model_path, j->o, &j->model);
}

static int load_profile(struct job *j)
{
    struct oc_err err;
    if (!j->profile_path)
        return 0;
    if (j->o->kernel_names && oc_kernel_names_load(j->o->kernel_names, &j->kernel_names, &err))
        return cli_fail_err(&err);
    struct oc_profile_opts opts = {.kernel_names = j->kernel_names,
                                   .map = j->o->map,
                                   .stop = j->o->partial ? cli_fault_stop_begin() : NULL,
                                   .limits = &j->o->limits,
                                   .format = j->o->profile_format,
                                   .warmup = cli_warmup(j->o, 0),
                                   .iterations = (uint32_t)j->o->iterations.v,
                                   .stat = cli_stat(j->o->stat),
                                   .by_node = j->model && j->profiles.n == 1,
                                   .keep_events = j->o->advise || cost_is(j->o->format, "trace") ||
                                                  cost_is(j->o->format, "html")};
    struct oc_operator_names *operators = j->model ? oc_operator_names_make(j->model) : NULL;
    opts.operators = operators;
    cli_progress_say(j->progress, "reading", j->profile_path);
    int rc = oc_profile_open_all(j->profiles.item, j->profiles.n, &opts, &j->list, &j->n_list, &err);
    oc_operator_names_free(operators);
    cli_fault_stop_over();
    if (rc)
        return cli_fail_err(&err);
    j->profile = j->list[0];
    if (j->n_list > 1 && !j->model)
        return cli_fail(
            CLI_USAGE, "several profiles need their model: onnxcost MODEL -p A -p B; alone, one profile at a "
                       "time");
    if (j->n_list > 1 && j->o->advise)
        return cli_fail(CLI_USAGE, "--advise goes with one profile");
    if (j->n_list > 1 && j->o->optimized_model)
        return cli_fail(CLI_USAGE, "--optimized-model goes with one profile");
    return 0;
}

static int find_device(struct job *j)
{
    int rc = cli_what_if_devices(j->o, &j->hwdb, &j->what_if_device);
    if (rc)
        return rc;
    if (!j->o->hw.n && (j->o->roofline || cost_is(j->o->cache, "on")))
        return cli_fail(CLI_USAGE, "%s is about a device: name it with --hw",
                        j->o->roofline ? "--roofline" : "--cache on");
    if (!j->o->hw.n)
        return j->o->hw_set.n ? cli_fail(CLI_USAGE, "--hw-set changes a device: name it with --hw") : 0;
    if (j->o->hw.n > 1)
        return cli_fail(
            CLI_USAGE,
            "--hw: a report has one device, not %zu; several: onnxcost compare MODEL --hw A --hw B",
            j->o->hw.n);
    return cli_find_recorded_device(j->o, cli_hw(j->o), j->profile, &j->hwdb, &j->device);
}

/* ---- analysis --------------------------------------------------------------------------------------- */

static struct oc_analyze_opts analyze_opts(const struct job *j)
{
    struct oc_analyze_opts opts = cli_analyze_opts(j->o, &j->shapes);
    opts.control = j->control;
    opts.n_control = j->n_control;
    return opts;
}

static int cost_analyze(struct job *j)
{
    struct oc_err err;
    if (!j->model)
        return 0;
    if (j->profile) {
        j->n_profile_shape = oc_profile_input_shapes(j->model, j->profile, &j->profile_shape);
        j->n_control = oc_profile_control(j->model, j->profile, &j->control);
    }
    int rc = cli_shapes_parse(j->o, j->profile_shape, j->n_profile_shape, &j->shapes);
    if (rc)
        return rc;
    struct oc_analyze_opts opts = analyze_opts(j);
    cli_progress_say(j->progress, "analysing", j->model_path);
    return oc_analyze(j->model, &opts, &j->analysis, &err) ? cli_fail_err(&err) : 0;
}

/* ---- join ------------------------------------------------------------------------------------------- */

static int cost_join(struct job *j)
{
    struct oc_err err;
    if (!j->model || !j->profile)
        return 0;
    int rc = j->o->optimized_model ? cli_load_model(j->o->optimized_model, j->o, &j->optimized) : 0;
    if (rc)
        return rc;
    j->joins = cli_xcalloc(j->n_list, sizeof(struct oc_join *));
    for (size_t i = 0; i < j->n_list; i++)
        if (oc_join_make(j->model, j->analysis, j->list[i], j->optimized, &j->joins[i], &err))
            return cli_fail_err(&err);
    j->join = j->joins[0];
    struct oc_analyze_opts opts = analyze_opts(j);
    if (j->n_list == 1 && oc_join_sizes(j->analysis, &opts, j->optimized, j->joins[0], &err))
        return cli_fail_err(&err);
    return 0;
}

/* ---- output ----------------------------------------------------------------------------------------- */

static struct oc_report_opts report_opts(const struct cli_opts *o, const struct cli_output *out)
{
    bool compact = cost_is(o->format, "compact");
    return (struct oc_report_opts){
        .format = compact ? "table" : o->format,
        .style = compact ? "compact" : o->style,
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
        .cache = !cost_is(o->cache, "off"),
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
    bool table = !j->o->format || cost_is(j->o->format, "table") || cost_is(j->o->format, "compact");
    struct oc_analyze_opts opts = analyze_opts(j);
    if (table)
        fputc('\n', f);
    return cli_write_fit(j->analysis, &opts, j->device, table ? f : stderr);
}

static int cost_compare(struct job *j, const struct oc_report_opts *opts, FILE *f, struct oc_err *err)
{
    struct oc_compare_source *source = cli_xcalloc(j->n_list + 1, sizeof(*source));
    for (size_t i = 0; i < j->n_list; i++)
        source[i] = (struct oc_compare_source){.profile = j->list[i], .join = j->joins ? j->joins[i] : NULL};
    int rc =
        oc_compare_write(j->model, j->analysis, j->device, source, j->n_list, j->o->combine, opts, f, err);
    free(source);
    return rc;
}

/* Before anything is written. */
static int check_pairs(struct job *j)
{
    int rc = 0;
    cli_check_filters(j->o, j->analysis, j->list, j->n_list);
    for (size_t i = 0; i < j->n_list && !rc; i++)
        rc = cli_check_pair(j->o, &(struct oc_report_in){.model = j->model,
                                                         .analysis = j->analysis,
                                                         .profile = j->list[i],
                                                         .join = j->joins ? j->joins[i] : NULL,
                                                         .device = j->device});
    return rc;
}

/* Writes the annotated model to its own file. */
static int annotate(struct job *j)
{
    const char *path = j->o->annotate;
    struct cli_output out;
    struct oc_err err;
    if (!path)
        return 0;
    if (j->n_list > 1)
        return cli_fail(CLI_USAGE, "--annotate goes with one profile");
    struct oc_report_in in = {.model = j->model,
                              .analysis = j->analysis,
                              .profile = j->profile,
                              .join = j->join,
                              .device = j->device};
    struct oc_report_opts opts = report_opts(j->o, NULL);
    int rc = cli_output_open(path, &out);
    if (rc)
        return rc;
    cli_progress_say(j->progress, "writing", path);
    return cli_output_finish(&out, oc_annotate_write(&in, &opts, path, out.f, &err), &err);
}

static int cost_write_report(struct job *j)
{
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(j->o->output, &out);
    if (rc)
        return rc;
    struct oc_report_in in = {.model = j->model,
                              .analysis = j->analysis,
                              .profile = j->profile,
                              .join = j->join,
                              .device = j->device};
    struct oc_report_opts opts = report_opts(j->o, &out);
    struct oc_report_outcome outcome = {0};
    opts.what_if_device = j->what_if_device;
    opts.outcome = &outcome;
    const struct oc_device *recorded = j->device ? NULL : cli_recorded_device(j->profile, &j->hwdb);
    opts.recorded_hw = recorded ? oc_device_info(recorded)->name : NULL;
    char *made = cli_page_made(j->o);
    bool live = cost_is(j->o->format, "html");
    opts.made = made;
    struct oc_analyze_opts analyze = analyze_opts(j);
    if (live && !j->hwdb && oc_hwdb_open(NULL, &j->hwdb, &err))
        j->hwdb = NULL; /* the page then has the report's device only */
    opts.analyze = live ? &analyze : NULL;
    opts.hwdb = j->hwdb;
    int failed = (j->n_list > 1 || j->o->combine ? cost_compare(j, &opts, out.f, &err)
                                                 : oc_report_write(&in, &opts, out.f, &err))
                     ? cli_fail_err(&err)
                     : 0;
    free(made);
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
    const struct oc_diag *d;
    size_t n = 0, count;
    if (j->model && (count = oc_model_diags(j->model, &d)))
        n += warn_about(d, count, n, print);
    if (j->analysis && (count = oc_analysis_diags(j->analysis, &d)))
        n += warn_about(d, count, n, print);
    for (size_t i = 0; i < j->n_list; i++)
        if ((count = oc_profile_diags(j->list[i], &d)))
            n += warn_about(d, count, n, print);
    for (size_t i = 0; j->join && i < j->n_list; i++)
        if ((count = oc_join_diags(j->joins[i], &d)))
            n += warn_about(d, count, n, print);
    if (print && n > MAX_WARNINGS)
        cli_warn("and %zu more; --format json has all", n - MAX_WARNINGS);
    return n;
}

static bool report_prints_findings(const struct job *j)
{
    const struct cli_opts *o = j->o;
    if (j->n_list > 1 || o->combine || cost_is(o->format, "csv") || cost_is(o->format, "trace") ||
        cost_is(o->format, "model-explorer") || cost_is(o->format, "netron") || o->confluence ||
        o->dump_only_opr || ((o->why.n || o->explain_match.n) && !cost_is(o->format, "json")) ||
        (o->print_only && !cost_is(o->print_only, "summary")))
        return false;
    return cost_is(o->format, "json") || cost_is(o->format, "markdown") || cost_is(o->format, "md") ||
           cost_is(o->format, "html") || o->embed || j->model ||
           !cost_is(oc_profile_importer(j->profile), "megengine");
}

static int cost_strict_result(const struct job *j, size_t n_findings)
{
    size_t unknown = 0, estimated = 0, assumed = 0;
    if (j->analysis) {
        struct oc_totals t;
        oc_analysis_total(j->analysis, &t);
        unknown = t.unknown_nodes;
        estimated = t.estimated_nodes;
        assumed = oc_analysis_assumptions(j->analysis);
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
    size_t n = j->profile && !j->model && !j->o->show_host && !j->o->print_only
                   ? oc_profile_diags(j->profile, &d)
                   : 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(d[i].code, "W-host-times-only"))
            continue;
        struct oc_report_in in = {.profile = j->profile};
        struct oc_report_opts opts = report_opts(j->o, NULL);
        opts.print_only = "host";
        oc_report_write(&in, &opts, stderr, &err);
    }
}

/* ---- the command ------------------------------------------------------------------------------------ */

static int cost_run(struct job *j)
{
    static int (*const steps[])(struct job *) = {
        find_files,  cost_check_options, check_function, load_model,  load_profile,
        find_device, cost_analyze,       cost_join,      check_pairs, annotate};
    int rc = 0;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc; i++)
        rc = steps[i](j);
    cli_progress_stop(j->progress); /* its line must be gone before the report comes */
    j->progress = NULL;
    if (rc || !cli_wants_function(j->o))
        return rc ? rc : cost_write_report(j);
    struct oc_analyze_opts opts = analyze_opts(j);
    return cli_write_function(j->o, j->model, &opts);
}

int cmd_cost(const struct cli_opts *o)
{
    struct job j = {.o = o, .progress = cli_progress_start()};
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
    cli_shapes_free(&j.shapes);
    for (size_t i = 0; j.joins && i < j.n_list; i++)
        oc_join_free(j.joins[i]);
    free(j.joins);
    oc_profile_input_shapes_free(j.profile_shape, j.n_profile_shape);
    free(j.control);
    oc_model_free(j.optimized);
    oc_analysis_free(j.analysis);
    for (size_t i = 0; i < j.n_list; i++)
        oc_profile_close(j.list[i]);
    free(j.list);
    free(j.profiles.item);
    oc_kernel_names_free(j.kernel_names);
    oc_model_free(j.model);
    free(j.what_if_device);
    oc_hwdb_free(j.hwdb);
    return rc;
}
