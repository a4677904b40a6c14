#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/bounds.h"
#include "onnxcost/energy.h"
#include "onnxcost/sparsity.h"
#include "onnxcost/sweep.h"
#include "onnxcost/training.h"

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

/* ---- the two reports -------------------------------------------------------------------------------- */

struct made {
    struct oc_closed_form *formula;
    struct oc_sweep *sweep;
};

static int make_sweep(const struct cli_opts *o, const struct oc_model *model,
                      const struct oc_analyze_opts *opts, struct made *made)
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

static int make_formula(const struct oc_model *model, const struct oc_analyze_opts *opts, struct made *made)
{
    struct oc_err err;
    return oc_closed_form_make(model, opts, &made->formula, &err) ? cli_fail_err(&err) : 0;
}

static int write_made(const struct cli_opts *o, const struct made *m)
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

static int formula_strict_result(const struct cli_opts *o, const struct made *m)
{
    size_t n = m->formula ? oc_closed_form_findings(m->formula) : oc_sweep_findings(m->sweep);
    if (!o->strict || !n)
        return 0;
    return m->formula
               ? cli_fail(CLI_FINDINGS, "strict: formulas that are missing, partial or not exact: %zu", n)
               : cli_fail(CLI_FINDINGS, "strict: rows without totals or with inexact ones: %zu", n);
}

/* ---- --training, --sparsity and --energy: reports of one analysis ------------------------------------------ */

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
    struct made made = {0};
    int rc = o->formula ? make_formula(model, opts, &made) : make_sweep(o, model, opts, &made);
    if (!rc)
        rc = write_made(o, &made);
    if (!rc)
        rc = formula_strict_result(o, &made);
    oc_closed_form_free(made.formula);
    oc_sweep_free(made.sweep);
    return rc;
}
