#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/arguments.h"
#include "cli/message.h"
#include "onnxcost/sweep.h"

bool cli_wants_function(const struct cli_opts *o)
{
    return o->formula || o->sweep.n;
}

int cli_check_function(const struct cli_opts *o, const char *model_path, const char *profile_path)
{
    const struct {
        bool set;
        const char *name;
    } foreign[] = {
        {o->optimized_model != NULL, "optimized-model"},
        {o->hw.n > 0, "hw"},
        {o->top.set, "top"},
        {o->opr_name.n > 0, "opr-name"},
        {o->type.n > 0, "type"},
        {o->input_dtype.n > 0, "input-dtype"},
        {o->order_by != NULL, "order-by"},
        {o->aggregate != NULL, "aggregate"},
        {o->group_by != NULL, "group-by"},
        {o->print_only != NULL, "print-only"},
    };
    const char *mine = o->formula ? "formula" : "sweep";
    if (!cli_wants_function(o))
        return 0;
    if (o->formula && o->sweep.n)
        return cli_fail(CLI_USAGE, "--formula and --sweep are two reports: one at a time");
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

int cli_write_function(const struct cli_opts *o, const struct oc_model *model,
                       const struct oc_analyze_opts *opts)
{
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
