#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/devices.h"
#include "cli/output.h"
#include "onnxcost/estimate.h"

struct comparison {
    const struct cli_opts *o;
    struct cli_shapes shapes;
    struct cli_devices devices;
    struct cli_sizes batches;
    char *dimension; /* of the batch, NULL: not named */
    struct oc_calibration *calibration;
    struct oc_model *model;
    struct oc_rank *rank;
};

/* --batch [NAME=]LIST */
static int take_batches(struct comparison *c)
{
    const char *text = c->o->batch, *eq = text ? strrchr(text, '=') : NULL;
    if (!text)
        return 0;
    if (eq == text || !cli_sizes_parse(eq ? eq + 1 : text, &c->batches))
        return cli_fail(CLI_USAGE, "--batch needs 1,8,64 or 1..64*2 or NAME=1,8,64, not '%s'", text);
    if (eq)
        c->dimension = cli_xstrndup(text, (size_t)(eq - text));
    return 0;
}

static int compare_make(struct comparison *c)
{
    const struct cli_opts *o = c->o;
    struct oc_err err;
    if (o->word.n != 1)
        return cli_fail(CLI_USAGE, "'compare' needs one model: onnxcost compare MODEL --hw NAME --hw NAME");
    if (!o->hw.n)
        return cli_fail(CLI_USAGE,
                        "'compare' needs devices: --hw NAME --hw NAME (onnxcost hw list shows them)");
    int rc = cli_shapes_parse(o, NULL, 0, &c->shapes);
    if (!rc)
        rc = cli_find_devices(o, true, &c->devices);
    if (!rc)
        rc = take_batches(c);
    if (rc)
        return rc;
    if (o->calibration && oc_calibration_load(o->calibration, &c->calibration, &err))
        return cli_fail_err(&err);
    if ((rc = cli_load_model(o->word.item[0], o, &c->model)) != 0)
        return rc;
    struct oc_analyze_opts analyze = cli_analyze_opts(o, &c->shapes);
    struct oc_rank_opts opts = {.analyze = &analyze,
                                .device = c->devices.item,
                                .n_device = c->devices.n,
                                .batch_dim = c->dimension,
                                .batch = c->batches.v,
                                .n_batch = c->batches.n,
                                .sort = o->sort,
                                .as = o->as,
                                .calibration = c->calibration,
                                .cache = !o->cache || strcmp(o->cache, "off")};
    return oc_rank_make(c->model, &opts, &c->rank, &err) ? cli_fail_err(&err) : 0;
}

static int write_rank(const struct comparison *c)
{
    const struct cli_opts *o = c->o;
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(o->output, &out);
    if (rc)
        return rc;
    char *made = cli_page_made(o);
    struct oc_rank_write_opts opts = {.format = cli_format(o),
                                      .width_chars = cli_width(&out, &o->width),
                                      .color = cli_color(&out, o->color),
                                      .has_top = o->top.set,
                                      .top = o->top.v,
                                      .made = made};
    int failed = oc_rank_write(c->rank, &opts, out.f, &err);
    free(made);
    return cli_output_finish(&out, failed, &err);
}

int cmd_compare(const struct cli_opts *o)
{
    struct comparison c = {.o = o};
    int rc = compare_make(&c);
    if (!rc)
        rc = write_rank(&c);
    oc_rank_free(c.rank);
    oc_calibration_free(c.calibration);
    cli_shapes_free(&c.shapes);
    cli_devices_free(&c.devices);
    free(c.batches.v);
    free(c.dimension);
    oc_model_free(c.model);
    return rc;
}
