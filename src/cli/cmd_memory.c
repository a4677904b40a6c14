#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/devices.h"
#include "cli/output.h"
#include "onnxcost/memory.h"

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

/* ---- --plan and --reorder --------------------------------------------------------------------------- */

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

/* ---- the command ------------------------------------------------------------------------------------ */

static int open_side(struct memory_job *j)
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

static int make(struct memory_job *j)
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
static int write_parts(const struct memory_job *j, const char *format, FILE *f)
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

static int write_report(struct memory_job *j)
{
    struct cli_output out;
    const char *format = cli_format(j->o);
    int rc = cli_output_open(j->o->output, &out);
    if (rc)
        return rc;
    int failed = write_parts(j, format, out.f);
    rc = cli_output_close(&out, !failed);
    return failed ? failed : rc ? rc : fit_result(j->memory);
}

static int write_stats(const struct memory_job *j)
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
    static int (*const steps[])(struct memory_job *) = {open_side, make_plan, make, save_plan, write_report};
    if (!rc && o->emit && (rc = open_side(&j)) == 0)
        rc = write_stats(&j);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc && !o->emit; i++)
        rc = steps[i](&j);
    oc_memory_free(j.memory);
    oc_memory_plan_free(j.plan);
    free(j.made);
    cli_side_close(&j.side);
    return rc;
}
