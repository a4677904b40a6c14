#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/devices.h"
#include "cli/output.h"
#include "cli/arguments.h"
#include "onnxcost/estimate.h"
#include "onnxcost/llm.h"

enum { MAX_DEVICES = 64 };

struct view {
    const struct cli_opts *o;
    struct cli_shapes shapes;
    struct oc_model *model, *draft;
    struct cli_devices devices;
    struct oc_calibration *calibration;
    struct oc_llm *llm;
    char *made; /* NULL: no page */
};

static int find_devices(struct view *v)
{
    int rc = cli_find_devices(v->o, false, &v->devices);
    if (!rc && v->devices.n > MAX_DEVICES)
        rc = cli_fail(CLI_USAGE, "--hw: more than %d devices", MAX_DEVICES);
    return rc;
}

/* Of --batch, which has other forms elsewhere. */
static int take_batch(const struct view *v, int64_t *batch)
{
    const char *text = v->o->batch;
    char *end;
    *batch = 1;
    if (!text)
        return 0;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    *batch = n;
    if (end == text || *end || errno)
        return cli_fail(CLI_USAGE, "--batch needs an integer, not '%s'", text);
    return n < 1 ? cli_fail(CLI_USAGE, "--batch needs a number of at least 1, not %lld", n) : 0;
}

static int llm_make(struct view *v)
{
    struct oc_err err;
    int64_t batch;
    if (v->o->word.n != 1)
        return cli_fail(CLI_USAGE, "'llm' needs one model: onnxcost llm MODEL");
    if ((v->o->link || v->o->draft) && !v->o->parallel)
        return cli_fail(CLI_USAGE, "--link and --draft need --parallel N");
    if (v->o->parallel && !v->o->hw.n)
        return cli_fail(CLI_USAGE, "--parallel needs devices: give them with --hw NAME");
    if ((v->o->draft != NULL) != (v->o->acceptance != NULL))
        return cli_fail(CLI_USAGE, "--draft and --acceptance go together");
    int rc = cli_shapes_parse(v->o, NULL, 0, &v->shapes);
    if (!rc)
        rc = find_devices(v);
    if (!rc)
        rc = take_batch(v, &batch);
    if (rc)
        return rc;
    if ((rc = cli_load_model(v->o->word.item[0], v->o, &v->model)) != 0)
        return rc;
    if (v->o->draft && (rc = cli_load_model(v->o->draft, v->o, &v->draft)) != 0)
        return rc;
    if (!v->o->hw.n && (v->o->as || v->o->calibration || v->o->cache))
        return cli_fail(CLI_USAGE, "--as, --cache and --calibration need a device: name it with --hw");
    if (v->o->calibration && oc_calibration_load(v->o->calibration, &v->calibration, &err))
        return cli_fail_err(&err);
    struct oc_analyze_opts analyze = cli_analyze_opts(v->o, &v->shapes);
    struct oc_llm_opts opts = {.analyze = &analyze,
                               .batch = batch,
                               .prompt = v->o->prompt.v,
                               .generate = v->o->generate.v,
                               .device = v->devices.item,
                               .n_device = v->devices.n,
                               .width_chars = cli_width_of(v->o),
                               .parallel = v->o->parallel,
                               .link = v->o->link,
                               .draft = v->draft,
                               .acceptance = v->o->acceptance,
                               .draft_tokens = v->o->draft_tokens.v,
                               .as = v->o->as,
                               .cache = !v->o->cache || strcmp(v->o->cache, "off") != 0,
                               .calibration = v->calibration,
                               .made = v->made};
    return oc_llm_make(v->model, &opts, &v->llm, &err) ? cli_fail_err(&err) : 0;
}

static int write_view(const struct view *v)
{
    const char *format = cli_format(v->o);
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(v->o->output, &out);
    if (rc)
        return rc;
    return cli_output_finish(&out, oc_llm_write(v->llm, format, out.f, &err), &err);
}

int cmd_llm(const struct cli_opts *o)
{
    struct view v = {.o = o, .made = cli_page_made(o)};
    int rc = llm_make(&v);
    if (!rc)
        rc = write_view(&v);
    oc_llm_free(v.llm);
    free(v.made);
    cli_shapes_free(&v.shapes);
    oc_model_free(v.model);
    oc_model_free(v.draft);
    oc_calibration_free(v.calibration);
    cli_devices_free(&v.devices);
    return rc;
}
