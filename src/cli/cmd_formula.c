#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/arguments.h"
#include "cli/message.h"
#include "onnxcost/sweep.h"
#include "onnxcost/training.h"

enum { TRAINING_ROWS = 20 };

bool cli_wants_function(const struct cli_opts *o)
{
    return o->formula || o->sweep.n || o->training;
}

int cli_check_function(const struct cli_opts *o, const char *model_path, const char *profile_path)
{
    const struct {
        bool set;
        const char *name;
    } foreign[] = {
        {o->optimized_model != NULL, "optimized-model"},
        {o->hw.n > 0, "hw"},
        {o->top.set && !o->training, "top"},
        {o->opr_name.n > 0, "opr-name"},
        {o->type.n > 0, "type"},
        {o->input_dtype.n > 0, "input-dtype"},
        {o->order_by != NULL, "order-by"},
        {o->aggregate != NULL, "aggregate"},
        {o->group_by != NULL, "group-by"},
        {o->print_only != NULL, "print-only"},
    };
    const char *mine = o->formula ? "formula" : o->sweep.n ? "sweep" : "training";
    if (!cli_wants_function(o))
        return 0;
    if (o->formula && o->sweep.n)
        return cli_fail(CLI_USAGE, "--formula and --sweep are two reports: one at a time");
    if (o->training && (o->formula || o->sweep.n))
        return cli_fail(CLI_USAGE, "--training and --%s are two reports: one at a time", mine);
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
        if (foreign[i].set)
            return cli_fail(CLI_USAGE, "--%s does not go with --%s", foreign[i].name, mine);
    if (!model_path || profile_path)
        return cli_fail(CLI_USAGE, "--%s is about a model without a profile", mine);
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

/* ---- --training ------------------------------------------------------------------------------------- */

static int training_strict_result(const struct cli_opts *o, const struct oc_training_info *i)
{
    if (!o->strict || (i->quality == OC_EXACT && i->memory_quality == OC_EXACT))
        return 0;
    return cli_fail(CLI_FINDINGS, "strict: gradients without a rule: %llu; some figures are not exact",
                    (unsigned long long)i->unknown_nodes);
}

static int write_training(const struct cli_opts *o, const struct oc_analysis *a)
{
    struct oc_training *t;
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(o->output, &out);
    if (rc)
        return rc;
    const struct oc_training_opts opts = {.optimizer = o->training,
                                          .top = o->all         ? 0
                                                 : !o->top.set  ? TRAINING_ROWS
                                                 : o->top.v > 0 ? (size_t)o->top.v
                                                                : 0,
                                          .width_chars = cli_width(&out, &o->width)};
    int failed = oc_training_make(a, &opts, &t, &err);
    if (!failed) {
        failed = oc_training_write(t, cli_format(o), out.f, &err);
        rc = training_strict_result(o, oc_training_info(t));
        oc_training_free(t);
    }
    int written = cli_output_finish(&out, failed, &err);
    return written ? written : rc;
}

static int make_training(const struct cli_opts *o, const struct oc_model *model,
                         const struct oc_analyze_opts *opts)
{
    struct oc_analysis *a;
    struct oc_err err;
    if (oc_analyze(model, opts, &a, &err))
        return cli_fail_err(&err);
    int rc = write_training(o, a);
    oc_analysis_free(a);
    return rc;
}

int cli_write_function(const struct cli_opts *o, const struct oc_model *model,
                       const struct oc_analyze_opts *opts)
{
    if (o->training)
        return make_training(o, model, opts);
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
