/* Commands about one model other than its report: explain, memory (and --fit), providers; its cost as a
 * function of sizes and options (--formula, --sweep, --training, --sparsity, --energy, ranges of --dim). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/bounds.h"
#include "onnxcost/energy.h"
#include "onnxcost/memory.h"
#include "onnxcost/providers.h"
#include "onnxcost/report.h"
#include "onnxcost/sparsity.h"
#include "onnxcost/sweep.h"
#include "onnxcost/training.h"

/* ---- explain ---------------------------------------------------------------------------------------- */

/* Two analyses that differ in their convention alone; one name given: ours is the first. */
struct convention_pair {
    const struct cli_opts *o;
    struct cli_shapes shapes;
    struct oc_model *model;
    struct oc_analysis *analysis[2];
};

static int explain_analyze(struct convention_pair *p)
{
    const struct cli_list *names = &p->o->convention;
    struct oc_err err;
    if (p->o->word.n != 1 || names->n < 1 || names->n > 2)
        return cli_fail(CLI_USAGE,
                        "'explain' needs a model and two conventions: onnxcost explain MODEL --convention A "
                        "--convention B");
    int rc = cli_shapes_parse(p->o, NULL, 0, &p->shapes);
    if (!rc)
        rc = cli_load_model(p->o->word.item[0], p->o, &p->model);
    if (rc)
        return rc;
    struct oc_analyze_opts opts = cli_analyze_opts(p->o, &p->shapes);
    for (int i = 0; i < 2; i++) {
        opts.convention = names->n == 2 ? names->item[i] : i ? names->item[0] : NULL;
        if (oc_analyze(p->model, &opts, &p->analysis[i], &err))
            return cli_fail_err(&err);
    }
    return 0;
}

static int write_explanation(const struct convention_pair *p)
{
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(p->o->output, &out);
    if (rc)
        return rc;
    return cli_output_finish(&out,
                             oc_explain_write(p->model, p->analysis[0], p->analysis[1], p->o->format,
                                              cli_width(&out, &p->o->width), out.f, &err),
                             &err);
}

int cmd_explain(const struct cli_opts *o)
{
    struct convention_pair p = {.o = o};
    int rc = explain_analyze(&p);
    if (!rc)
        rc = write_explanation(&p);
    cli_shapes_free(&p.shapes);
    oc_analysis_free(p.analysis[0]);
    oc_analysis_free(p.analysis[1]);
    oc_model_free(p.model);
    return rc;
}

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
    if (o->fit && !o->hw.n)
        return cli_fail(CLI_USAGE, "--fit needs --hw NAME; onnxcost hw list shows the names");
    if (o->hw_set.n && !o->hw.n)
        return cli_fail(CLI_USAGE, "--hw-set changes a device: name it with --hw");
    return 0;
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

/* ---- memory: --plan and --reorder ------------------------------------------------------------------- */

/* By the file name extension, else by --format; default JSON. */
static const char *plan_form_of(const struct cli_opts *o)
{
    const char *dot = strrchr(o->plan, '.'), *slash = strrchr(o->plan, '/');
    if (dot && (!slash || slash < dot) && (!strcmp(dot, ".csv") || !strcmp(dot, ".json")))
        return dot + 1;
    return o->format && !strcmp(o->format, "csv") ? "csv" : "json";
}

static int check_plan(const struct cli_opts *o)
{
    if (o->emit &&
        (o->plan || o->reorder || o->fit || o->allocator || (o->format && strcmp(o->format, "csv"))))
        return cli_fail(CLI_USAGE,
                        "--emit writes CSV: it does not go with --plan, --reorder, --fit, --allocator "
                        "and other formats");
    if (!o->plan && !o->reorder)
        return 0;
    if (o->allocator && !strcmp(o->allocator, "ort"))
        return cli_fail(CLI_USAGE, "--%s does not go with --allocator ort", o->plan ? "plan" : "reorder");
    if (o->plan && !*o->plan)
        return cli_fail(CLI_USAGE, "--plan needs the name of a file");
    if (o->plan && !strcmp(o->plan, o->output ? o->output : "-"))
        return cli_fail(CLI_USAGE,
                        "the report and --plan go to the same file: give --output or --plan another one");
    return 0;
}

/* The plan stays NULL when none is requested. A page draws the buffers at their offsets, where sizes allow a
 * plan; of ONNX Runtime's allocator it shows the sums alone. */
static int make_plan(struct memory_job *j)
{
    const struct cli_opts *o = j->o;
    const struct oc_plan_opts opts = {.reorder = o->reorder};
    struct oc_err err;
    bool asked = o->plan || o->reorder, ort = o->allocator && strcmp(o->allocator, "ort") == 0;
    if ((!asked && !j->made) || ort)
        return 0;
    return oc_memory_plan_make(j->side.analysis, &opts, &j->plan, &err) && asked ? cli_fail_err(&err) : 0;
}

/* Writes the file of --plan, if any. */
static int save_plan(struct memory_job *j)
{
    const struct cli_opts *o = j->o;
    struct cli_output out;
    struct oc_err err;
    if (!o->plan)
        return 0;
    int rc = cli_output_open(o->plan, &out);
    if (rc)
        return rc;
    return cli_output_finish(&out, oc_memory_plan_write(j->plan, plan_form_of(o), out.f, &err), &err);
}

/* ---- memory: the command ---------------------------------------------------------------------------- */

static int open_memory_side(struct memory_job *j)
{
    const struct cli_opts *o = j->o;
    if (o->word.n != 1)
        return cli_fail(CLI_USAGE, "'memory' needs one model: onnxcost memory MODEL [options]");
    j->side.model_path = o->word.item[0];
    j->side.profile_path = o->profile.n ? o->profile.item[o->profile.n - 1] : NULL;
    j->side.hw = cli_hw(o);
    j->side.any_device = true;
    return cli_side_open(o, &j->side);
}

static int make_memory(struct memory_job *j)
{
    const struct cli_opts *o = j->o;
    struct oc_err err;
    struct oc_memory_opts opts = {.as_onnxruntime = o->allocator && strcmp(o->allocator, "ort") == 0,
                                  .profile = j->side.profile,
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

/* The plan is printed below the tables. As CSV and JSON, --reorder prints the order instead of the report. */
static int write_memory_parts(const struct memory_job *j, const char *format, FILE *f)
{
    struct oc_err err;
    bool table = !format || strcmp(format, "table") == 0, page = j->made != NULL;
    if ((table || page || !j->o->reorder) && oc_memory_write(j->memory, format, f, &err))
        return cli_fail_err(&err);
    if (table && j->plan)
        fputc('\n', f);
    if (j->plan && (table || (j->o->reorder && !page)) && oc_memory_order_write(j->plan, format, f, &err))
        return cli_fail_err(&err);
    return 0;
}

static int write_memory(struct memory_job *j)
{
    struct cli_output out;
    const char *format = cli_format(j->o);
    int rc = cli_output_open(j->o->output, &out);
    if (rc)
        return rc;
    int failed = write_memory_parts(j, format, out.f);
    rc = cli_output_close(&out, !failed);
    return failed ? failed : rc ? rc : fit_result(j->memory);
}

static int write_node_stats(const struct memory_job *j)
{
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(j->o->output, &out);
    return rc ? rc : cli_output_finish(&out, oc_node_stats_write(j->side.analysis, out.f, &err), &err);
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
        rc = write_node_stats(&j);
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
static int write_provider_lists(const struct cli_opts *o)
{
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(o->output, &out);
    if (rc)
        return rc;
    return cli_output_finish(
        &out, oc_providers_write_lists(o->format, cli_width(&out, &o->width), out.f, &err), &err);
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
    j->side.model_path = o->word.item[0];
    j->side.profile_path = o->profile.n ? o->profile.item[o->profile.n - 1] : NULL;
    j->side.optimized_path = o->optimized_model;
    j->side.hw = cli_hw(o);
    j->side.any_device = true;
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

static int write_assignment(struct providers_job *j)
{
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(j->o->output, &out);
    if (rc)
        return rc;
    struct oc_providers_in in = {.providers = j->providers,
                                 .model = j->side.in.model,
                                 .analysis = j->side.in.analysis,
                                 .file = j->file,
                                 .profile = j->side.in.profile,
                                 .join = j->side.in.join,
                                 .device = j->side.in.device};
    return cli_output_finish(
        &out, oc_providers_write(&in, j->o->format, cli_width(&out, &j->o->width), out.f, &err), &err);
}

int cmd_providers(const struct cli_opts *o)
{
    struct providers_job j = {.o = o};
    if (!o->word.n && !o->providers)
        return write_provider_lists(o);
    int rc = providers_open(&j);
    if (!rc)
        rc = analyze_file(&j);
    if (!rc)
        rc = write_assignment(&j);
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
    return o->formula || o->sweep.n || o->training || o->sparsity || o->energy || cli_has_range(o);
}

int cli_check_function(const struct cli_opts *o, const char *model_path, const char *profile_path)
{
    const struct {
        bool set;
        const char *name;
    } foreign[] = {
        {o->optimized_model != NULL, "optimized-model"},
        {o->hw.n > 0, "hw"},
        {o->top.set && !o->training && !o->sparsity && !o->energy, "top"},
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
    } mine[] = {{o->formula, "formula"},           {o->sweep.n > 0, "sweep"},
                {o->training != NULL, "training"}, {o->sparsity, "sparsity"},
                {o->energy != NULL, "energy"},     {cli_has_range(o), "dim with a range"}};
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

/* ---- --sweep NAME=1,2,4  NAME=1..64*2  NAME=128..512+128
 * ---------------------------------------------------- */

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

/* ---- functions: the two reports --------------------------------------------------------------------- */

struct made_function {
    struct oc_closed_form *formula;
    struct oc_sweep *sweep;
};

static int make_sweep(const struct cli_opts *o, const struct oc_model *model,
                      const struct oc_analyze_opts *opts, struct made_function *made)
{
    struct oc_sweep_axis *axis = cli_xcalloc(o->sweep.n, sizeof(*axis));
    struct oc_err err;
    int rc = 0;
    for (size_t i = 0; i < o->sweep.n && !rc; i++)
        rc = parse_axis(o->sweep.item[i], &axis[i]);
    if (!rc && oc_sweep_make(model, opts, axis, o->sweep.n, &made->sweep, &err))
        rc = cli_fail_err(&err);
    for (size_t i = 0; i < o->sweep.n; i++) {
        free((char *)axis[i].symbol);
        free((int64_t *)axis[i].value);
    }
    free(axis);
    return rc;
}

static int make_formula(const struct oc_model *model, const struct oc_analyze_opts *opts,
                        struct made_function *made)
{
    struct oc_err err;
    return oc_closed_form_make(model, opts, &made->formula, &err) ? cli_fail_err(&err) : 0;
}

static int write_made_function(const struct cli_opts *o, const struct made_function *m)
{
    const char *format = cli_format(o);
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(o->output, &out);
    if (rc)
        return rc;
    unsigned width = cli_width(&out, &o->width);
    int failed = m->formula ? oc_closed_form_write(m->formula, format, width, out.f, &err)
                            : oc_sweep_write(m->sweep, format, width, out.f, &err);
    failed = failed ? cli_fail_err(&err) : 0;
    rc = cli_output_close(&out, !failed);
    return failed ? failed : rc;
}

static int formula_strict_result(const struct cli_opts *o, const struct made_function *m)
{
    size_t n = m->formula ? oc_closed_form_findings(m->formula) : oc_sweep_findings(m->sweep);
    if (!o->strict || !n)
        return 0;
    return m->formula
               ? cli_fail(CLI_FINDINGS, "strict: formulas that are missing, partial or not exact: %zu", n)
               : cli_fail(CLI_FINDINGS, "strict: rows without totals or with inexact ones: %zu", n);
}

/* ---- functions: --training, --sparsity and --energy: reports of one analysis ------------------------ */

static size_t rows_of(const struct cli_opts *o)
{
    return o->all ? 0 : !o->top.set ? ROWS : o->top.v > 0 ? (size_t)o->top.v : 0;
}

static int strict_findings(const struct cli_opts *o, uint64_t unknown, bool exact)
{
    if (!o->strict || exact)
        return 0;
    return cli_fail(CLI_FINDINGS, "strict: operators without a figure: %llu%s", (unsigned long long)unknown,
                    unknown ? "" : ", but some figures are not exact");
}

/* Returns 0 or -1 and sets *rc to the exit code of --strict. */
static int put_training(const struct cli_opts *o, const struct oc_analysis *a, const struct cli_output *out,
                        int *rc, struct oc_err *err)
{
    const struct oc_training_opts opts = {
        .optimizer = o->training, .top = rows_of(o), .width_chars = cli_width(out, &o->width)};
    struct oc_training *t;
    if (oc_training_make(a, &opts, &t, err))
        return -1;
    int failed = oc_training_write(t, cli_format(o), out->f, err);
    const struct oc_training_info *i = oc_training_info(t);
    *rc = strict_findings(o, i->unknown_nodes, i->quality == OC_EXACT && i->memory_quality == OC_EXACT);
    oc_training_free(t);
    return failed;
}

static int put_sparsity(const struct cli_opts *o, const struct oc_analysis *a, const struct cli_output *out,
                        int *rc, struct oc_err *err)
{
    struct oc_sparsity *s;
    if (oc_sparsity_make(a, &s, err))
        return -1;
    int failed = oc_sparsity_write(s, cli_format(o), rows_of(o), cli_width(out, &o->width), out->f, err);
    *rc = strict_findings(o, oc_sparsity_info(s)->unknown_operators, !oc_sparsity_info(s)->unknown_operators);
    oc_sparsity_free(s);
    return failed;
}

static int put_energy(const struct cli_opts *o, const struct oc_analysis *a, const struct cli_output *out,
                      int *rc, struct oc_err *err)
{
    struct oc_energy *e;
    if (oc_energy_make(a, o->energy, &e, err))
        return -1;
    int failed = oc_energy_write(e, cli_format(o), rows_of(o), cli_width(out, &o->width), out->f, err);
    const struct oc_energy_info *i = oc_energy_info(e);
    *rc = strict_findings(o, i->unknown_operators, !i->unknown_operators && i->quality == OC_EXACT);
    oc_energy_free(e);
    return failed;
}

static int write_analysed(const struct cli_opts *o, const struct oc_model *model,
                          const struct oc_analyze_opts *opts)
{
    struct oc_analysis *a;
    struct cli_output out;
    struct oc_err err;
    int strict = 0;
    if (oc_analyze(model, opts, &a, &err))
        return cli_fail_err(&err);
    int rc = cli_output_open(o->output, &out);
    if (!rc) {
        int failed = (o->training ? put_training
                      : o->energy ? put_energy
                                  : put_sparsity)(o, a, &out, &strict, &err);
        rc = cli_output_finish(&out, failed, &err);
    }
    oc_analysis_free(a);
    return rc ? rc : strict;
}

static int write_bounds(const struct cli_opts *o, const struct oc_model *model,
                        const struct oc_analyze_opts *opts)
{
    struct oc_bounds *b;
    struct cli_output out;
    struct oc_err err;
    if (oc_bounds_make(model, opts, opts->range, opts->n_range, &b, &err))
        return cli_fail_err(&err);
    bool proven = true;
    for (unsigned f = 0; f < OC_RANGE_COUNT; f++)
        proven &= oc_bounds_figure(b, (enum oc_range_figure)f)->proven;
    int rc = cli_output_open(o->output, &out);
    if (!rc)
        rc = cli_output_finish(
            &out, oc_bounds_write(b, cli_format(o), cli_width(&out, &o->width), out.f, &err), &err);
    oc_bounds_free(b);
    return rc ? rc : strict_findings(o, 0, proven);
}

int cli_write_function(const struct cli_opts *o, const struct oc_model *model,
                       const struct oc_analyze_opts *opts)
{
    if (opts->n_range)
        return write_bounds(o, model, opts);
    if (o->training || o->sparsity || o->energy)
        return write_analysed(o, model, opts);
    struct made_function made = {0};
    int rc = o->formula ? make_formula(model, opts, &made) : make_sweep(o, model, opts, &made);
    if (!rc)
        rc = write_made_function(o, &made);
    if (!rc)
        rc = formula_strict_result(o, &made);
    oc_closed_form_free(made.formula);
    oc_sweep_free(made.sweep);
    return rc;
}
