/* The report, which needs no command: a model, profiles, a device, and how to show them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/cost.h"
#include "cli/output.h"
#include "onnxcost/profile.h"
#include "onnxcost/report.h"

#define AT(field) offsetof(struct cost_opts, field)
static const struct cli_option own_options[] = {
    {"opr-name", 0, CLI_LIST, AT(opr_name), "NAME",
     .help = "only these operators: a printed name, #N for row N of the table, a regular expression from the "
             "start of names, a fused operator, or a unique part of a name (repeatable)",
     .group = "Filtering and sorting"},
    {"type", 0, CLI_LIST, AT(type), "TYPE", .help = "only operators of this type (repeatable)",
     .complete = CLI_OPERATORS},
    {"input-dtype", 0, CLI_LIST, AT(input_dtype), "DTYPE",
     .help = "only operators with an input of this element type (repeatable)"},
    {"order-by", 0, CLI_TEXT, AT(report.order_by), "[+]COLUMN,...",
     .help = "sort in descending order (+COLUMN: ascending), then by the next column: time, computation, "
             "memory, flops, bandwidth, opr_id, in_shapes, out_shapes, macs, params, intensity, roofline, "
             "efficiency, wasted, calls, count, min, max, self, name, type, or any column of the CSV",
     .otherwise = "time"},
    {"group-by", 0, CLI_TEXT, AT(report.group_by), "KEY,...",
     .help = "one row per type, module (recorded by torch.onnx, else path in the name; module:2: its first "
             "two parts), class or source (of the module: its class, the line that calls the operator), "
             "signature (type and shapes), provider, precision, kernel, bound, rule, or a combination"},
    {"aggregate", 0, CLI_TEXT, AT(report.aggregate), "max|min|sum|mean|median|count|pN",
     .help = "statistic over the operators of a group; pN: N-th percentile",
     .otherwise = "sum with --group-by"},
    {"min-time", 0, CLI_TEXT, AT(report.min_time), "TIME",
     .help = "only operators that take at least this time", .unit = "s"},
    {"max-time", 0, CLI_TEXT, AT(report.max_time), "TIME",
     .help = "only operators that take at most this time", .unit = "s"},
    {"roofline", 0, CLI_FLAG, AT(report.roofline),
     .help = "with --hw: add the roofline time of each compute unit and memory level", .group = "Output",
     .before = "as"},
    {"advise", 0, CLI_FLAG, AT(report.advise),
     .help = "optimization suggestions with their evidence, estimated saving, and what to do"},
    {"what-if", 0, CLI_LIST, AT(what_if), "KEY=80%|KEY=2x|hw=NAME|fuse=elementwise",
     .help =
         "predicted latency if the operators of KEY (name as of --opr-name, type, class, or all) ran at 80 % "
         "of their roofline, were 2x faster, or ran on other hardware, or if element-wise operators were "
         "fused into their producers (first); applied in sequence (repeatable)"},
    {"why", 0, CLI_LIST, AT(why), "NODE", .group = "Output", .before = "output",
     .help = "cost breakdown of this operator: name as of --opr-name, TYPE_INDEX or index (repeatable)"},
    {"explain-match", 0, CLI_MAYBE, AT(explain_match), "[=NAME]",
     .help = "the rule that joined each record of the profile, or the named one, with nodes, or why none did "
             "(repeatable)"},
    {"print-only", 0, CLI_CHOICE, AT(report.print_only), "summary|device|host",
     .help = "only this part of the report"},
    {"annotate", 0, CLI_TEXT, AT(annotate), "FILE",
     .help = "write a copy of the model with costs and times in metadata_props"},
    {"extract", 0, CLI_TEXT, AT(extract), "ROW",
     .help =
         "write this row (a name as of --opr-name, or #N) to --output as an ONNX file that runs alone, with "
         "its shapes, types and weights"},
    {"apply", 0, CLI_TEXT, AT(apply), "ADVICE",
     .help = "write the model to --output with this suggestion of --advise carried out; its name is in the "
             "brackets after its title"},
    {"strict", 0, CLI_FLAG, AT(strict), .help = "exit code 1 if anything is assumed, conflicting or unknown",
     .group = "Output"},
    {"formula", 0, CLI_FLAG, AT(formula), .help = "totals as formulas in the symbolic dimensions",
     .group = "Cost as a function of the sizes"},
    {"training", 0, CLI_CHOICE, AT(training), "adam|momentum|sgd",
     .help = "a training step: forward, backward and optimizer FLOPs, saved activations, memory with and "
             "without recomputation",
     .group = "Training"},
    {"sparsity", 0, CLI_FLAG, AT(sparsity),
     .help = "zeros in the weights of convolutions and matrix products, MACs without them, 2:4 pattern "
             "(reads the weights)",
     .group = "Sparsity"},
    {"megengine", 0, CLI_KEYS, 0, "KEY=VALUE,...",
     .help = "what profile_analyze of MegEngine has and other reports have not; several keys: with commas",
     .group = "MegEngine"},
    {"style", 0, CLI_CHOICE, AT(report.style), "grid|compact",
     .help = "table style; grid: as MegEngine draws tables",
     .otherwise = "grid for MegEngine files, else compact", .of = "megengine"},
    {"top-end-key", 0, CLI_CHOICE, AT(report.top_end_key), "end|kern",
     .help = "MegEngine files: time until the end, or until the kernel starts", .otherwise = "end",
     .of = "megengine"},
    {"show-host", 0, CLI_FLAG, AT(report.show_host),
     .help = "MegEngine files: also print the table of host times", .of = "megengine"},
    {"copy-time", 0, CLI_FLAG, AT(report.copy_time), .help = "MegEngine files: time of copies in the summary",
     .of = "megengine"},
    {"confluence", 0, CLI_FLAG, AT(report.confluence), .help = "table as wiki markup", .of = "megengine"},
    {"dump-only-opr", 0, CLI_FLAG, AT(report.dump_only_opr), .help = "only the operators, one per line",
     .of = "megengine"},
};

struct job {
    struct oc_extracted *extracted; /* of --extract */
    struct oc_applied *applied;     /* of --apply */
    const struct cli_opts *o;
    const struct cost_opts *own;
    struct cli_list profiles; /* paths, in the order given */
    struct cli_side side;
    const struct oc_device **what_if_device; /* heap */
};

/* ---- input ------------------------------------------------------------------------------------------ */

/* A model and profiles in any order. */
static int find_files(struct job *j)
{
    const struct cli_opts *o = j->o;
    const struct cli_list *w = &o->word;
    for (size_t i = 0; i < o->profile.n; i++)
        cli_list_add(&j->profiles, o->profile.item[i]);
    for (size_t i = 0; i < w->n; i++) {
        enum oc_file_kind kind;
        struct oc_err err;
        if (oc_file_kind(w->item[i], &kind, &err))
            return cli_fail_err(&err);
        bool no_model =
            w->n == 1 && o->profile.n && !o->profile_format; /* reading it says what is wrong with it */
        if (kind == OC_FILE_PROFILE && !no_model) {
            cli_list_add(&j->profiles, w->item[i]);
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
    j->side.strict = j->own->strict;
    j->side.keep_events = j->own->report.advise || cli_is(o->format, "trace") || cli_is(o->format, "html");
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
    struct oc_err err;
    if (o->profile_format && oc_profile_format_check(o->profile_format, &err))
        return cli_fail_err(&err);
    const char *given = cli_first_given(
        o, "map min-time max-time profile-format kernel-names stat warmup iterations partial");
    if (given && !j->profiles.n)
        return cli_fail(CLI_USAGE, "--%s needs a profile: give it with --profile FILE", given);
    return check_order(j->own->report.order_by, j->profiles.n > 0, o->hw.n > 0);
}

static int check_device_options(const struct cli_opts *o)
{
    const struct cost_opts *own = o->own;
    if (!o->hw.n && (own->report.roofline || cli_is(o->cache, "on")))
        return cli_fail(CLI_USAGE, "%s is about a device: name it with --hw",
                        own->report.roofline ? "--roofline" : "--count cache=on");
    if (o->hw.n > 1)
        return cli_fail(
            CLI_USAGE,
            "--hw: a report has one device, not %zu; several: onnxcost estimate MODEL --hw A --hw B",
            o->hw.n);
    return cli_check_memory(o);
}

/* Options that write a model instead of a report. */
static int check_extract(const struct job *j)
{
    const struct cli_opts *o = j->o;
    const char *name = j->own->extract ? "--extract" : "--apply";
    if (!j->own->extract && !j->own->apply)
        return 0;
    if (j->own->extract && j->own->apply)
        return cli_fail(CLI_USAGE, "--extract and --apply write different files: give one of them");
    if (!j->side.model_path || cli_wants_function(o))
        return cli_fail(CLI_USAGE, "%s needs a model, without --formula and lists of sizes", name);
    if (!o->output || cli_is(o->output, "-"))
        return cli_fail(CLI_USAGE, "%s writes an ONNX file: give --output FILE.onnx", name);
    const char *given = cli_first_given(o, "format annotate advise why explain-match fit");
    return given ? cli_fail(CLI_USAGE, "%s writes an ONNX file instead of a report: leave out --%s", name,
                            given)
                 : 0;
}

static int cost_check_options(struct job *j)
{
    const struct cli_opts *o = j->o;
    const char *model = j->side.model_path;
    const char *given = cli_first_given(o, "dim shape value trip optimized-model");
    if (given && !model)
        return cli_fail(CLI_USAGE, "--%s needs a model%s: onnxcost MODEL --profile FILE", given,
                        o->optimized_model ? " and its profile" : "");
    if (j->own->annotate && (!model || cli_wants_function(o)))
        return cli_fail(CLI_USAGE, "--annotate needs a model, without --formula and lists of sizes");
    if (j->own->annotate && (cli_is(j->own->annotate, "-") || cli_is(o->output, j->own->annotate)))
        return cli_fail(CLI_USAGE, "--annotate needs a file of its own");
    if (o->fit && (!model || cli_wants_function(o)))
        return cli_fail(CLI_USAGE, "--fit needs a model, without --formula and lists of sizes");
    if (cli_is(o->format, "xlsx") && (!o->output || cli_is(o->output, "-")))
        return cli_fail(CLI_USAGE, "--format xlsx is binary: give --output FILE");
    int rc = check_extract(j);
    rc = rc ? rc : check_device_options(o);
    rc = rc ? rc : check_profile_options(j);
    return rc ? rc : cli_check_function(o, model, j->profiles.n ? j->profiles.item[0] : NULL);
}

/* The devices of --what-if hw=NAME, one for each --what-if, NULL for the others; freed with free(). */
static int what_if_devices(const struct cli_opts *o, struct oc_hwdb **db, const struct oc_device ***device)
{
    const struct cost_opts *own = o->own;
    struct oc_err err;
    *device = cli_xcalloc(own->what_if.n + 1, sizeof(**device));
    for (size_t i = 0; i < own->what_if.n; i++)
        if (!strncmp(own->what_if.item[i], "hw=", 3) &&
            ((!*db && oc_hwdb_open(NULL, db, &err)) ||
             oc_hwdb_get(*db, own->what_if.item[i] + 3, &(*device)[i], &err)))
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
    const struct cost_opts *own = o->own;
    struct oc_report_opts r = own->report;
    r.format = o->format;
    r.width_chars = out ? cli_width(out, &o->width) : 0;
    r.color = out && cli_color(out, o->color);
    r.verbose = o->verbose;
    r.has_top = o->top.set || o->all;
    r.top = o->all ? 0 : o->top.v;
    r.cache = !cli_is(o->cache, "off");
    r.as = o->as;
    r.name_pattern = own->opr_name.item;
    r.n_name_pattern = own->opr_name.n;
    r.type = own->type.item;
    r.n_type = own->type.n;
    r.input_dtype = own->input_dtype.item;
    r.n_input_dtype = own->input_dtype.n;
    r.why = own->why.item;
    r.n_why = own->why.n;
    r.what_if = own->what_if.item;
    r.n_what_if = own->what_if.n;
    r.explain_match = own->explain_match.item;
    r.n_explain_match = own->explain_match.n;
    return r;
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
    cli_progress_say(j->side.progress, "writing", j->own->annotate);
    return oc_annotate_write(&j->side.in, &opts, j->own->annotate, out->f, err);
}

/* Writes the annotated model to its own file. */
static int annotate(struct job *j)
{
    return j->own->annotate ? cli_output_write(j->own->annotate, put_annotated, j) : 0;
}

static int put_extracted(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct job *j = job;
    struct oc_report_opts opts = report_opts(j->o, NULL);
    return oc_extract_write(&j->side.in, &opts, j->own->extract, j->o->output, out->f, j->extracted, err);
}

static int print_extracted(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct job *j = job;
    (void)err;
    fprintf(out->f, "%s%-8sonnxcost record %s\n", j->extracted->text, "next", j->o->output);
    return 0;
}

static int put_applied(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct job *j = job;
    struct oc_report_opts opts = report_opts(j->o, NULL);
    return oc_apply_write(&j->side.in, &opts, j->own->apply, j->o->output, out->f, j->applied, err);
}

static int print_applied(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct job *j = job;
    (void)err;
    fprintf(out->f, "%s%-9sonnxcost record %s %s\n", j->applied->text, "next", j->side.model_path,
            j->o->output);
    return 0;
}

/* Writes a model instead of a report, and says what is in it. */
static int write_model(struct job *j)
{
    struct oc_extracted extracted;
    struct oc_applied applied;
    bool row = j->own->extract != NULL;
    j->extracted = &extracted;
    j->applied = &applied;
    int rc = cli_output_write(j->o->output, row ? put_extracted : put_applied, j);
    rc = rc ? rc : cli_output_write(NULL, row ? print_extracted : print_applied, j);
    j->extracted = NULL;
    j->applied = NULL;
    return rc;
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
    bool live = cli_is(j->o->format, "html");
    opts.made = j->o->made;
    if (live && !s->hwdb && oc_hwdb_open(NULL, &s->hwdb, &err))
        s->hwdb = NULL; /* the page then has the report's device only */
    opts.analyze = live ? &s->opts : NULL;
    opts.hwdb = s->hwdb;
    int failed = oc_report_write(&s->in, &opts, out.f, &err) ? cli_fail_err(&err) : 0;
    if (outcome.missing[0])
        cli_warn("%s", outcome.missing);
    if (outcome.unordered)
        cli_warn("%zu %s no value of --order-by %s and %s last", outcome.unordered,
                 outcome.unordered == 1 ? "row has" : "rows have", j->own->report.order_by,
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
        cli_is(o->format, "netron") || j->own->report.confluence || j->own->report.dump_only_opr ||
        ((j->own->why.n || j->own->explain_match.n) && !cli_is(o->format, "json")) ||
        (j->own->report.print_only && !cli_is(j->own->report.print_only, "summary")))
        return false;
    return cli_is(o->format, "json") || cli_is(o->format, "markdown") || cli_is(o->format, "md") ||
           cli_is(o->format, "html") || cli_is(o->format, "fragment") || j->side.model ||
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
    if (!j->own->strict || !(n_findings + unknown + estimated + assumed))
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
    size_t n = s->in.profile && !s->model && !j->own->report.show_host && !j->own->report.print_only
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
    if (!rc && (j->own->extract || j->own->apply))
        return write_model(j);
    if (rc || !cli_wants_function(j->o))
        return rc ? rc : cost_write_report(j);
    return cli_write_function(j->o, &j->side);
}

static int run_cost(const struct cli_opts *o)
{
    struct job j = {.o = o, .own = o->own, .side.progress = cli_progress_start()};
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

/* Members of the brief answers of several tools. */
#define BRIEF_TOTALS                                                                                         \
    "totals:nodes,unknown_nodes,macs,flops,params,const_bytes,peak_activation_bytes,quality,time_ns"         \
    " assumptions:what,name,value,reason"
#define ADVICE_ROWS  "advice.findings"
#define BRIEF_ADVICE "advice=" ADVICE_ROWS ":id,severity,found,todo,share=saving.share"

const struct cli_command cmd_cost = {
    .name = "cost",
    .phrase = "FLOPs, bytes, memory and time of every operator",
    .use = {{"onnxcost MODEL [options]",
             "costs of every operator of an ONNX model, with --profile its times"},
            {"onnxcost PROFILE [options]", "a measured profile alone"}},
    .run = run_cost,
    .usual = "profile hw dim shape top all group-by advise why what-if format output",
    .sets = CLI_MODEL,
    .options = "profile profile-format optimized-model map kernel-names warmup iterations partial stat hw "
               "hw-set cache top all as decoder fit",
    .own = CLI_OWN(own_options, struct cost_opts),
    .formats = "table|csv|json|markdown|md|html|fragment|trace|model-explorer|netron|xlsx",
    .ranges = true,
    .lists = true,
    .example = {{"onnxcost resnet50.onnx", "FLOPs, bytes and memory of every operator"},
                {"onnxcost resnet50.onnx -p ort_profile.json --hw a100",
                 "measured time against the roofline"},
                {"onnxcost resnet50.onnx -p ort_profile.json --advise",
                 "what could be faster, with evidence"}},
    .tool = {{"analyze",
              "FLOPs, bytes, parameters, memory of a model (ONNX, config.json, safetensors, GGUF) and its "
              "largest "
              "operators; with hw roofline times.",
              "model!", "hw dim group-by top",
              .more = CLI_TOOL_DEVICES CLI_TOOL_SHAPES CLI_TOOL_COUNTS
              " type opr-name order-by as what-if roofline advise",
              .brief =
                  "verdict=verdict.text " BRIEF_TOTALS
                  " roofline=hardware.roofline:roofline_time_ns,bound_time_ns groups:group,count,macs,"
                  "operations,bytes nodes:name,op_type,flops,bytes_read_act,bytes_read_weight,bytes_written,"
                  "roofline_time_ns,bound_by " BRIEF_ADVICE,
              .top = "10", .place = 1},
             {"why", "The formula of an operator's cost with its numbers and where they come from.", "model!",
              "why! dim", .more = CLI_TOOL_SHAPES CLI_TOOL_COUNTS, .fixed = "--top=1", .brief = "receipts",
              .place = 2},
             {"profile",
              "Why is it slow: times of a recorded profile (ONNX Runtime, PyTorch, TensorRT, Nsight ...); "
              "with model "
              "and hw the gap to the roofline; advise: what to do.",
              "model", "profile! hw dim group-by advise top",
              .more = CLI_TOOL_DEVICES CLI_TOOL_SHAPES
              " profile-format optimized-model warmup iterations stat type opr-name order-by force",
              .brief = "verdict=verdict.text latency=measurement:latency_ns,statistic,runs_used,spread "
                       "matched=join.time_matched_fraction groups:group,count,time_ns,roofline_efficiency "
                       "rows:name,op_type,time_ns,share,roofline_efficiency,bound_by " BRIEF_ADVICE,
              .top = "10", .place = 3},
             {"bounds", "Proven bounds of the figures for all sizes of a range: dim batch=1..64.", "model!",
              "dim!", .more = CLI_TOOL_SHAPES CLI_TOOL_COUNTS,
              .brief = "ranges assumption figures:figure,least,least_at,most,most_at,why", .ranges = true,
              .place = 4}},
};
