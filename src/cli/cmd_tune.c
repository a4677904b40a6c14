/* tune: searches for settings of ONNX Runtime that make a model faster. */
#include <stdio.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/trial.h"

struct tune_job {
    const struct cli_opts *o;
    struct cli_side side;
    struct oc_tune *tune;
};

static int run_tune(struct tune_job *j)
{
    struct oc_err err;
    struct oc_record_opts record;
    struct oc_tune_opts opts = {.size = sizeof(opts), .record = &record};
    int rc = cli_record_rounds(j->o, &opts.most);
    rc = rc ? rc : cli_record_options(j->o, &j->side, &record);
    if (rc)
        return rc;
    cli_record_begin(&j->side);
    rc = oc_tune_make(j->side.model, j->side.analysis, &opts, &j->tune, &err);
    return cli_record_end(&j->side, rc, &err);
}

static int put_tune(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct tune_job *j = job;
    return oc_tune_write(j->tune, j->o->format, cli_width(out, &j->o->width), out->f, err);
}

int cmd_tune(const struct cli_opts *o)
{
    struct tune_job j = {.o = o};
    if (o->word.n != 1)
        return cli_fail(CLI_USAGE, "tune needs a model: onnxcost tune MODEL");
    j.side.model_path = o->word.item[0];
    int rc = cli_side_open(o, &j.side);
    rc = rc ? rc : run_tune(&j);
    rc = rc ? rc : cli_output_write(o->output, put_tune, &j);
    oc_tune_free(j.tune);
    cli_side_close(&j.side);
    return rc;
}
