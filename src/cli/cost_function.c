/* The cost of a model as a function of sizes and options: --formula, --training, --sparsity, lists and ranges of --dim. */
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/cost.h"
#include "cli/output.h"
#include "onnxcost/bounds.h"
#include "onnxcost/report.h"
#include "onnxcost/sparsity.h"
#include "onnxcost/sweep.h"
#include "onnxcost/training.h"

enum { ROWS = 20 };

/* The first report but `after` that the options name; NULL: none. */
static const char *wanted_function(const struct cli_opts *o, const char *after)
{
    const char *const name[] = {cli_first_given(o, "formula"),
                                cli_has_size_list(o) ? "dim with a list" : NULL,
                                cli_first_given(o, "training"), cli_first_given(o, "sparsity"),
                                cli_has_range(o) ? "dim with a range" : NULL};
    for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
        if (name[i] && (!after || strcmp(name[i], after) != 0))
            return name[i];
    return NULL;
}

bool cli_wants_function(const struct cli_opts *o)
{
    return wanted_function(o, NULL) != NULL;
}

int cli_check_function(const struct cli_opts *o, const char *model_path, const char *profile_path)
{
    const struct cost_opts *own = o->own;
    const char *first = wanted_function(o, NULL), *second = first ? wanted_function(o, first) : NULL;
    if (second)
        return cli_fail(CLI_USAGE, "--%s and --%s are two reports: one at a time", first, second);
    if (!first)
        return 0;
    const char *foreign = cli_first_given(o, "optimized-model hw");
    if (!foreign && !own->training && !own->sparsity)
        foreign = cli_first_given(o, "top");
    if (!foreign)
        foreign = cli_first_given(o, "opr-name type input-dtype order-by aggregate group-by print-only");
    if (foreign)
        return cli_fail(CLI_USAGE, "--%s does not go with --%s", foreign, first);
    if (!model_path || profile_path)
        return cli_fail(CLI_USAGE, "--%s is about a model without a profile", first);
    return 0;
}

/* ---- --dim NAME=1,2,4  NAME=1..64*2  NAME=128..512+128 --------------------------------------------- */

static int parse_axis(const char *text, struct oc_sweep_axis *out)
{
    const char *eq = strrchr(text, '=');
    struct cli_sizes s = {0};
    if (!eq || eq == text || !cli_sizes_parse(eq + 1, &s)) {
        free(s.v);
        return cli_fail(CLI_USAGE, "--dim needs NAME=1,2,4 or NAME=1..64*2 or NAME=128..512+128, not '%s'",
                        text);
    }
    out->symbol = cli_xstrndup(text, (size_t)(eq - text));
    out->value = s.v;
    out->n = s.n;
    return 0;
}

/* *n: how many were made, also of those that fail. */
static int parse_axes(const struct cli_list *dim, struct oc_sweep_axis *axis, size_t *n)
{
    int rc = 0;
    for (size_t i = 0; i < dim->n && !rc; i++)
        if (cli_is_size_list(dim->item[i]))
            rc = parse_axis(dim->item[i], &axis[(*n)++]);
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

/* ---- one report each ------------------------------------------------------------------------------- */

struct function_job {
    const struct cli_opts *o;
    const struct cost_opts *own;
    const struct cli_side *side;
    struct oc_sweep_axis *axis; /* heap, one for each --dim with a list */
    size_t n_axis;
    int *strict; /* exit code of --strict, after a message */
};

static size_t rows_of(const struct cli_opts *o)
{
    return o->all ? 0 : cli_rows(o, ROWS);
}

static void strict_figures(const struct function_job *j, uint64_t unknown, bool exact)
{
    if (j->own->strict && !exact)
        *j->strict = cli_fail(CLI_FINDINGS, "strict: operators without a figure: %llu%s",
                              (unsigned long long)unknown, unknown ? "" : ", but some figures are not exact");
}

static void strict_rows(const struct function_job *j, const char *what, size_t n)
{
    if (j->own->strict && n)
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
    if (oc_sweep_make(j->side->model, &j->side->opts, j->axis, j->n_axis, &sweep, err))
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
        .optimizer = j->own->training, .top = rows_of(j->o), .width_chars = cli_width(out, &j->o->width)};
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
    const struct cost_opts *own = o->own;
    int strict = 0;
    struct function_job j = {.o = o,
                             .own = o->own,
                             .side = side,
                             .axis = cli_xcalloc(o->dim.n, sizeof(*j.axis)),
                             .strict = &strict};
    int rc = parse_axes(&o->dim, j.axis, &j.n_axis);
    cli_put put = side->opts.n_range ? put_bounds
                  : own->formula     ? put_formula
                  : j.n_axis         ? put_sweep
                  : own->training    ? put_training
                                     : put_sparsity;
    rc = rc ? rc : cli_output_write(o->output, put, &j);
    axes_free(j.axis, j.n_axis);
    return rc ? rc : strict;
}
