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

static int search(struct tune_job *j)
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

static int run_tune(const struct cli_opts *o)
{
    struct tune_job j = {.o = o};
    if (o->word.n != 1)
        return cli_fail(CLI_USAGE, "tune needs a model: onnxcost tune MODEL");
    j.side.model_path = o->word.item[0];
    int rc = cli_side_open(o, &j.side);
    rc = rc ? rc : search(&j);
    rc = rc ? rc : cli_output_write(o->output, put_tune, &j);
    oc_tune_free(j.tune);
    cli_side_close(&j.side);
    return rc;
}

const struct cli_command cmd_tune = {
    .name = "tune",
    .phrase = "find faster settings of ONNX Runtime",
    .use =
        {{"onnxcost tune MODEL [--threads N] [--repeat K]",
          "which settings of ONNX Runtime are shown to make a model faster, with the code that sets them"}},
    .run = run_tune,
    .usual = "ort-lib runs repeat time-budget threads provider dim shape value format output",
    .sets = CLI_SHAPED | CLI_RECORDS,
    .options = "format",
    .example = {{"onnxcost tune resnet50.onnx", "settings that are shown to be faster, with the code"},
                {"onnxcost tune bert.onnx -d sequence=128 --threads 2",
                 "two threads, everything else is tried"}},
};
