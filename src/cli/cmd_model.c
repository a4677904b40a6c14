/* Commands about one model other than its report: memory (and --fit), providers; its cost as a
 * function of sizes and options (--formula, --sweep, --training, --sparsity, ranges of --dim). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/bounds.h"
#include "onnxcost/memory.h"
#include "onnxcost/providers.h"
#include "onnxcost/report.h"
#include "onnxcost/sparsity.h"
#include "onnxcost/sweep.h"
#include "onnxcost/training.h"

/* ---- memory ----------------------------------------------------------------------------------------- */

enum { TOP = 10 };

struct memory_job {
    const struct cli_opts *o;
    struct cli_side side;
    struct oc_memory *memory;
    struct oc_memory_plan *plan; /* NULL: not requested */
    char *made;                  /* NULL: no page */
};

int cli_check_memory(const struct cli_opts *o)
{
    return o->fit && !o->hw.n ? cli_fail(CLI_USAGE, "--fit needs --hw NAME; onnxcost hw list shows the names")
                              : 0;
}

static int fit_result(const struct oc_memory *m)
{
    enum oc_fits fits = oc_memory_info(m)->fits;
    return fits == OC_FITS_NO || fits == OC_FITS_UNKNOWN ? CLI_FINDINGS : CLI_OK;
}

int cli_write_fit(const struct oc_analysis *analysis, const struct oc_analyze_opts *opts,
                  const struct oc_device *device, FILE *out)
{
    struct oc_memory_opts o = {.device = device, .analyze = opts};
    struct oc_memory *m;
    struct oc_err err;
    if (oc_memory_make(analysis, &o, &m, &err))
        return cli_fail_err(&err);
    oc_memory_write_fit(m, out);
    int rc = fit_result(m);
    oc_memory_free(m);
    return rc;
}

/* ---- memory: --plan --------------------------------------------------------------------------------- */

/* By the file name extension, else by --format; default JSON. */
static const char *plan_form_of(const struct cli_opts *o)
{
    const char *dot = strrchr(o->plan, '.'), *slash = strrchr(o->plan, '/');
    if (dot && (!slash || slash < dot) && (!strcmp(dot, ".csv") || !strcmp(dot, ".json")))
        return dot + 1;
    return cli_is(o->format, "csv") ? "csv" : "json";
}

/* Whether the plan goes to standard output as a document, in place of the report. */
static bool plan_is_answer(const struct cli_opts *o)
{
    bool document = cli_is(o->format, "json") || cli_is(o->format, "csv");
    return o->plan && !strcmp(o->plan, "-") && !o->output && document;
}

static int check_plan(const struct cli_opts *o)
{
    if (o->emit && (o->plan || o->fit || o->allocator || (o->format && strcmp(o->format, "csv"))))
        return cli_fail(
            CLI_USAGE, "--emit writes CSV: it does not go with --plan, --fit, --allocator and other formats");
    if (!o->plan)
        return 0;
    if (cli_is(o->allocator, "ort"))
        return cli_fail(CLI_USAGE, "--plan does not go with --allocator ort");
    if (!*o->plan)
        return cli_fail(CLI_USAGE, "--plan needs the name of a file");
    if (!plan_is_answer(o) && !strcmp(o->plan, o->output ? o->output : "-"))
        return cli_fail(CLI_USAGE,
                        "the report and --plan go to the same file: give --output or --plan another one");
    return 0;
}

/* The plan stays NULL when none is requested. A page draws the buffers at their offsets, where sizes allow a
 * plan; of ONNX Runtime's allocator it shows the sums alone. */
static int make_plan(struct memory_job *j)
{
    const struct cli_opts *o = j->o;
    struct oc_err err;
    if ((!o->plan && !j->made) || cli_is(o->allocator, "ort"))
        return 0;
    return oc_memory_plan_make(j->side.analysis, NULL, &j->plan, &err) && o->plan ? cli_fail_err(&err) : 0;
}

static int put_plan(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct memory_job *j = job;
    return oc_memory_plan_write(j->plan, plan_form_of(j->o), out->f, err);
}

/* Writes the file of --plan, if any. */
static int save_plan(struct memory_job *j)
{
    return j->o->plan ? cli_output_write(j->o->plan, put_plan, j) : 0;
}

/* ---- memory: the command ---------------------------------------------------------------------------- */

static int open_memory_side(struct memory_job *j)
{
    const struct cli_opts *o = j->o;
    if (o->word.n != 1)
        return cli_fail(CLI_USAGE, "'memory' needs one model: onnxcost memory MODEL [options]");
    cli_side_of(o, &j->side);
    return cli_side_open(o, &j->side);
}

static int make_memory(struct memory_job *j)
{
    const struct cli_opts *o = j->o;
    struct oc_err err;
    struct oc_memory_opts opts = {.as_onnxruntime = cli_is(o->allocator, "ort"),
                                  .profile = j->side.in.profile,
                                  .device = o->fit ? j->side.in.device : NULL,
                                  .analyze = &j->side.opts,
                                  .width_chars = cli_width_of(o),
                                  .plan = j->plan,
                                  .made = j->made,
                                  .top = !o->top.set    ? TOP
                                         : o->top.v > 0 ? (size_t)o->top.v
                                                        : 0};
    return oc_memory_make(j->side.analysis, &opts, &j->memory, &err) ? cli_fail_err(&err) : 0;
}

static int put_memory(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct memory_job *j = job;
    return oc_memory_write(j->memory, j->o->format, out->f, err);
}

static int write_memory(struct memory_job *j)
{
    int rc = plan_is_answer(j->o) ? 0 : cli_output_write(j->o->output, put_memory, j);
    return rc ? rc : fit_result(j->memory);
}

static int put_node_stats(const void *job, const struct cli_output *out, struct oc_err *err)
{
    return oc_node_stats_write(((const struct memory_job *)job)->side.analysis, out->f, err);
}

int cmd_memory(const struct cli_opts *o)
{
    struct cli_opts own = *o;
    own.no_fold = o->no_fold || o->emit; /* ONNX Runtime runs what the analysis would fold */
    struct memory_job j = {.o = &own, .made = cli_page_made(o)};
    int rc = cli_check_memory(o);
    rc = rc ? rc : check_plan(o);
    static int (*const steps[])(struct memory_job *) = {open_memory_side, make_plan, make_memory, save_plan,
                                                        write_memory};
    if (!rc && o->emit && (rc = open_memory_side(&j)) == 0)
        rc = cli_output_write(o->output, put_node_stats, &j);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc && !o->emit; i++)
        rc = steps[i](&j);
    oc_memory_free(j.memory);
    oc_memory_plan_free(j.plan);
    free(j.made);
    cli_side_close(&j.side);
    return rc;
}

/* ---- providers -------------------------------------------------------------------------------------- */

struct providers_job {
    const struct cli_opts *o;
    struct cli_side side;
    char *names; /* of --providers, separated by NULs */
    const char **name;
    size_t n;
    struct oc_providers *providers;
    struct oc_analysis *file; /* with the sizes of the model's file alone */
};

/* Without --providers: the lists that there are. */
static int put_provider_lists(const void *opts, const struct cli_output *out, struct oc_err *err)
{
    const struct cli_opts *o = opts;
    return oc_providers_write_lists(o->format, cli_width(out, &o->width), out->f, err);
}

/* "cuda,cpu" */
static void split_providers(struct providers_job *j)
{
    size_t length = strlen(j->o->providers);
    j->names = cli_xcalloc(length + 1, 1);
    j->name = cli_xcalloc(length + 1, sizeof(*j->name));
    memcpy(j->names, j->o->providers, length);
    char *rest = NULL;
    for (char *word = strtok_r(j->names, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        j->name[j->n++] = word;
}

static int providers_open(struct providers_job *j)
{
    const struct cli_opts *o = j->o;
    struct oc_err err;
    if (o->word.n != 1 || !o->providers)
        return cli_fail(CLI_USAGE, "'providers' needs a model and their order: onnxcost providers MODEL "
                                   "--providers cuda,cpu; alone, it lists them");
    split_providers(j);
    if (!j->n)
        return cli_fail(CLI_USAGE, "--providers needs names: --providers cuda,cpu");
    if (oc_providers_open(j->name, j->n, &j->providers, &err))
        return cli_fail_err(&err);
    cli_side_of(o, &j->side);
    return cli_side_open(o, &j->side);
}

/* A runtime folds what is constant in the file, whatever sizes the options give. */
static int analyze_file(struct providers_job *j)
{
    struct oc_err err;
    struct oc_analyze_opts opts = j->side.opts;
    opts.n_bind = opts.n_shape = opts.n_value = opts.n_trip = opts.n_control = 0;
    opts.default_dim = 0;
    opts.no_defaults = true;
    opts.no_fold = false;
    return oc_analyze(j->side.in.model, &opts, &j->file, &err) ? cli_fail_err(&err) : 0;
}

static int put_assignment(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct providers_job *j = job;
    struct oc_providers_in in = {.providers = j->providers,
                                 .model = j->side.in.model,
                                 .analysis = j->side.in.analysis,
                                 .file = j->file,
                                 .profile = j->side.in.profile,
                                 .join = j->side.in.join,
                                 .device = j->side.in.device};
    return oc_providers_write(&in, j->o->format, cli_width(out, &j->o->width), out->f, err);
}

int cmd_providers(const struct cli_opts *o)
{
    struct providers_job j = {.o = o};
    if (!o->word.n && !o->providers)
        return cli_output_write(o->output, put_provider_lists, o);
    int rc = providers_open(&j);
    if (!rc)
        rc = analyze_file(&j);
    if (!rc)
        rc = cli_output_write(o->output, put_assignment, &j);
    oc_analysis_free(j.file);
    cli_side_close(&j.side);
    oc_providers_free(j.providers);
    free(j.names);
    free(j.name);
    return rc;
}

/* ---- functions -------------------------------------------------------------------------------------- */

enum { ROWS = 20 };

bool cli_wants_function(const struct cli_opts *o)
{
    return o->formula || o->sweep.n || o->training || o->sparsity || cli_has_range(o);
}

int cli_check_function(const struct cli_opts *o, const char *model_path, const char *profile_path)
{
    const struct {
        bool set;
        const char *name;
    } foreign[] = {
        {o->optimized_model != NULL, "optimized-model"},
        {o->hw.n > 0, "hw"},
        {o->top.set && !o->training && !o->sparsity, "top"},
        {o->opr_name.n > 0, "opr-name"},
        {o->type.n > 0, "type"},
        {o->input_dtype.n > 0, "input-dtype"},
        {o->order_by != NULL, "order-by"},
        {o->aggregate != NULL, "aggregate"},
        {o->group_by != NULL, "group-by"},
        {o->print_only != NULL, "print-only"},
    };
    const struct {
        bool set;
        const char *name;
    } mine[] = {{o->formula, "formula"},
                {o->sweep.n > 0, "sweep"},
                {o->training != NULL, "training"},
                {o->sparsity, "sparsity"},
                {cli_has_range(o), "dim with a range"}};
    const char *first = NULL;
    for (size_t i = 0; i < sizeof(mine) / sizeof(mine[0]); i++) {
        if (mine[i].set && first)
            return cli_fail(CLI_USAGE, "--%s and --%s are two reports: one at a time", first, mine[i].name);
        first = mine[i].set ? mine[i].name : first;
    }
    if (!first)
        return 0;
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
        if (foreign[i].set)
            return cli_fail(CLI_USAGE, "--%s does not go with --%s", foreign[i].name, first);
    if (!model_path || profile_path)
        return cli_fail(CLI_USAGE, "--%s is about a model without a profile", first);
    return 0;
}

/* ---- functions: --sweep NAME=1,2,4  NAME=1..64*2  NAME=128..512+128 --------------------------------- */

static int parse_axis(const char *text, struct oc_sweep_axis *out)
{
    const char *eq = strrchr(text, '=');
    struct cli_sizes s = {0};
    if (!eq || eq == text || !cli_sizes_parse(eq + 1, &s)) {
        free(s.v);
        return cli_fail(CLI_USAGE, "--sweep needs NAME=1,2,4 or NAME=1..64*2 or NAME=128..512+128, not '%s'",
                        text);
    }
    out->symbol = cli_xstrndup(text, (size_t)(eq - text));
    out->value = s.v;
    out->n = s.n;
    return 0;
}

static int parse_axes(const struct cli_list *list, struct oc_sweep_axis *axis)
{
    int rc = 0;
    for (size_t i = 0; i < list->n && !rc; i++)
        rc = parse_axis(list->item[i], &axis[i]);
    return rc;
}

static void axes_free(struct oc_sweep_axis *axis, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free((char *)axis[i].symbol);
        free((int64_t *)axis[i].value);
    }
    free(axis);
}

/* ---- functions: one report each --------------------------------------------------------------------- */

struct function_job {
    const struct cli_opts *o;
    const struct cli_side *side;
    struct oc_sweep_axis *axis; /* heap, one for each --sweep */
    int *strict;                /* exit code of --strict, after a message */
};

static size_t rows_of(const struct cli_opts *o)
{
    return o->all ? 0 : !o->top.set ? ROWS : o->top.v > 0 ? (size_t)o->top.v : 0;
}

static void strict_figures(const struct function_job *j, uint64_t unknown, bool exact)
{
    if (j->o->strict && !exact)
        *j->strict = cli_fail(CLI_FINDINGS, "strict: operators without a figure: %llu%s",
                              (unsigned long long)unknown, unknown ? "" : ", but some figures are not exact");
}

static void strict_rows(const struct function_job *j, const char *what, size_t n)
{
    if (j->o->strict && n)
        *j->strict = cli_fail(CLI_FINDINGS, "strict: %s: %zu", what, n);
}

static int put_bounds(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct function_job *j = job;
    const struct oc_analyze_opts *opts = &j->side->opts;
    struct oc_bounds *b;
    bool proven = true;
    if (oc_bounds_make(j->side->model, opts, opts->range, opts->n_range, &b, err))
        return -1;
    int failed = oc_bounds_write(b, j->o->format, cli_width(out, &j->o->width), out->f, err);
    for (unsigned f = 0; f < OC_RANGE_COUNT; f++)
        proven &= oc_bounds_figure(b, (enum oc_range_figure)f)->proven;
    strict_figures(j, 0, proven);
    oc_bounds_free(b);
    return failed;
}

static int put_formula(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct function_job *j = job;
    struct oc_closed_form *formula;
    if (oc_closed_form_make(j->side->model, &j->side->opts, &formula, err))
        return -1;
    int failed = oc_closed_form_write(formula, j->o->format, cli_width(out, &j->o->width), out->f, err);
    strict_rows(j, "formulas that are missing, partial or not exact", oc_closed_form_findings(formula));
    oc_closed_form_free(formula);
    return failed;
}

static int put_sweep(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct function_job *j = job;
    struct oc_sweep *sweep;
    if (oc_sweep_make(j->side->model, &j->side->opts, j->axis, j->o->sweep.n, &sweep, err))
        return -1;
    int failed = oc_sweep_write(sweep, j->o->format, cli_width(out, &j->o->width), out->f, err);
    strict_rows(j, "rows without totals or with inexact ones", oc_sweep_findings(sweep));
    oc_sweep_free(sweep);
    return failed;
}

static int put_training(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct function_job *j = job;
    const struct oc_training_opts opts = {
        .optimizer = j->o->training, .top = rows_of(j->o), .width_chars = cli_width(out, &j->o->width)};
    struct oc_training *t;
    if (oc_training_make(j->side->analysis, &opts, &t, err))
        return -1;
    int failed = oc_training_write(t, j->o->format, out->f, err);
    const struct oc_training_info *i = oc_training_info(t);
    strict_figures(j, i->unknown_nodes, i->quality == OC_EXACT && i->memory_quality == OC_EXACT);
    oc_training_free(t);
    return failed;
}

static int put_sparsity(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct function_job *j = job;
    struct oc_sparsity *s;
    if (oc_sparsity_make(j->side->analysis, &s, err))
        return -1;
    int failed = oc_sparsity_write(s, j->o->format, rows_of(j->o), cli_width(out, &j->o->width), out->f, err);
    uint64_t unknown = oc_sparsity_info(s)->unknown_operators;
    strict_figures(j, unknown, !unknown);
    oc_sparsity_free(s);
    return failed;
}

int cli_write_function(const struct cli_opts *o, const struct cli_side *side)
{
    int strict = 0;
    struct function_job j = {
        .o = o, .side = side, .axis = cli_xcalloc(o->sweep.n, sizeof(*j.axis)), .strict = &strict};
    cli_put put = side->opts.n_range ? put_bounds
                  : o->formula       ? put_formula
                  : o->sweep.n       ? put_sweep
                  : o->training      ? put_training
                                     : put_sparsity;
    int rc = parse_axes(&o->sweep, j.axis);
    rc = rc ? rc : cli_output_write(o->output, put, &j);
    axes_free(j.axis, o->sweep.n);
    return rc ? rc : strict;
}
