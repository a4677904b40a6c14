/* estimate: the latency of a model on a device, or several devices and batches ranked. */
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/estimate.h"
#include "onnxcost/hardware.h"

struct estimate_opts {
    const char *simd;
    struct cli_list price;
};

#define AT(field) offsetof(struct estimate_opts, field)
static const struct cli_option own_options[] = {
    {"simd", 0, CLI_CHOICE, AT(simd), "avx512|avx2|neon",
     .help = "instruction set of the fusion plan of ONNX Runtime: blocks of 16 channels, of 8, none",
     .otherwise = "that of the device file", .group = "Recordings", .before = "session-config"},
    {"price", 0, CLI_LIST, AT(price), "DEVICE=PRICE/h",
     .help = "price of an hour of a device in any currency, 2.5/h; repeatable", .complete = CLI_DEVICES,
     .group = "Hardware", .before = "calibration"},
};

struct estimate_job {
    const struct cli_opts *o;
    struct cli_side side;
    struct oc_calibration *cal;
    struct oc_estimate *estimate;
};

/* The runtime's own model, without a profile, is the model: its nodes are the kernels. */
static bool has_own_kernels(const struct cli_opts *o)
{
    return o->optimized_model && !o->profile.n;
}

static int check_estimate_options(const struct cli_opts *o)
{
    if (o->word.n != 1)
        return cli_fail(CLI_USAGE, "estimate needs one model: onnxcost estimate MODEL --hw NAME");
    if (!o->hw.n)
        return cli_fail(CLI_USAGE, "estimate needs the device: --hw NAME");
    if (o->profile.n > 1)
        return cli_fail(CLI_USAGE, "estimate takes one profile");
    if (has_own_kernels(o) && o->fusion && strcmp(o->fusion, "none") != 0)
        return cli_fail(CLI_USAGE, "the optimized model has its kernels: there is nothing to fuse");
    if (o->opt_level && o->fusion && strcmp(o->fusion, "onnxruntime") != 0)
        return cli_fail(CLI_USAGE, "--opt-level is of the fusion rules of ONNX Runtime, not of '%s'",
                        o->fusion);
    return 0;
}

/* Fusion rules: those of --fusion; of ONNX Runtime at --opt-level. */
static const char *fusion_of(const struct cli_opts *o)
{
    static const char *const level[][2] = {{"disabled", "none"},
                                           {"basic", "onnxruntime-basic"},
                                           {"extended", "onnxruntime-extended"},
                                           {"all", "onnxruntime"}};
    if (has_own_kernels(o))
        return "none";
    for (size_t i = 0; i < sizeof(level) / sizeof(level[0]) && o->opt_level; i++)
        if (!strcmp(level[i][0], o->opt_level))
            return level[i][1];
    return o->fusion;
}

static int open_estimate_side(struct estimate_job *j)
{
    const struct cli_opts *o = j->o;
    int rc = cli_load_calibration(o, &j->cal);
    if (rc)
        return rc;
    cli_side_of(o, &j->side);
    if (has_own_kernels(o)) {
        j->side.model_path = o->optimized_model;
        j->side.optimized_path = NULL;
    }
    return cli_side_open(o, &j->side);
}

static int make_estimate(struct estimate_job *j)
{
    const struct estimate_opts *own = j->o->own;
    struct oc_err err;
    const struct oc_estimate_opts opts = {.calibration = j->cal,
                                          .join = j->side.in.join,
                                          .fusion = fusion_of(j->o),
                                          .simd = own->simd,
                                          .width_chars = cli_width_of(j->o),
                                          .as = j->o->as,
                                          .made = j->o->made};
    return oc_estimate_make(j->side.analysis, j->side.in.device, &opts, &j->estimate, &err)
               ? cli_fail_err(&err)
               : 0;
}

static int put_estimate(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct estimate_job *j = job;
    return oc_estimate_write(j->estimate, j->o->format, cli_rows(j->o, OC_TOP_SCREEN), out->f, err);
}

static int write_estimate(struct estimate_job *j)
{
    return cli_output_write(j->o->output, put_estimate, j);
}

/* ---- estimate of several devices or batches ---------------------------------------------------------- */

struct ranking {
    const struct cli_opts *o;
    struct cli_side side;
    struct cli_devices devices;
    struct cli_sizes batches;
    char *dimension; /* of the batch, NULL: not named */
    struct oc_calibration *calibration;
    struct oc_rank *rank;
};

static bool is_ranking(const struct cli_opts *o)
{
    const char *first = o->hw.n ? o->hw.item[0] : "";
    const struct estimate_opts *own = o->own;
    return o->batch || o->sort || own->price.n || o->hw.n > 1 || strchr(first, ',') ||
           oc_hwdb_is_filter(first);
}

/* --batch [NAME=]LIST */
static int take_batches(struct ranking *c)
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

/* --price DEVICE=PRICE/h of each device that has one. */
static int take_prices(struct ranking *c)
{
    const struct estimate_opts *own = c->o->own;
    if (!own->price.n && cli_is(c->o->sort, "price"))
        return cli_fail(CLI_USAGE, "--order-by price needs prices: --price DEVICE=2.5/h");
    return cli_devices_prices(c->o, &own->price, &c->devices);
}

static int rank_devices(struct ranking *c)
{
    const struct cli_opts *o = c->o;
    const struct estimate_opts *own = o->own;
    struct oc_err err;
    if (o->profile.n || o->optimized_model)
        return cli_fail(CLI_USAGE,
                        "recorded kernels are of one device and one batch: give one --hw, without --batch");
    c->side.model_path = o->word.item[0];
    int rc = cli_devices_open(o, true, &c->devices);
    rc = rc ? rc : take_prices(c);
    rc = rc ? rc : take_batches(c);
    rc = rc ? rc : cli_load_calibration(o, &c->calibration);
    rc = rc ? rc : cli_side_read(o, &c->side);
    if (rc)
        return rc;
    struct oc_analyze_opts analyze = cli_analyze_opts(o, &c->side.shapes);
    const struct oc_rank_opts opts = {.analyze = &analyze,
                                      .device = c->devices.item,
                                      .n_device = c->devices.n,
                                      .batch_dim = c->dimension,
                                      .batch = c->batches.v,
                                      .n_batch = c->batches.n,
                                      .sort = o->sort,
                                      .as = o->as,
                                      .fusion = fusion_of(o),
                                      .simd = own->simd,
                                      .calibration = c->calibration,
                                      .price_per_hour = c->devices.price_per_hour};
    return oc_rank_make(c->side.model, &opts, &c->rank, &err) ? cli_fail_err(&err) : 0;
}

static int put_rank(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct ranking *c = job;
    const struct cli_opts *o = c->o;
    const struct oc_rank_write_opts opts = {.format = o->format,
                                            .width_chars = cli_width(out, &o->width),
                                            .color = cli_color(out, o->color),
                                            .top = cli_rows(o, OC_TOP_SCREEN),
                                            .made = o->made};
    return oc_rank_write(c->rank, &opts, out->f, err);
}

static int estimate_several(const struct cli_opts *o)
{
    struct ranking c = {.o = o};
    int rc = rank_devices(&c);
    if (!rc)
        rc = cli_output_write(o->output, put_rank, &c);
    oc_rank_free(c.rank);
    oc_calibration_free(c.calibration);
    cli_devices_close(&c.devices);
    free(c.batches.v);
    free(c.dimension);
    cli_side_close(&c.side);
    return rc;
}

static int run_estimate(const struct cli_opts *o)
{
    static int (*const steps[])(struct estimate_job *) = {open_estimate_side, make_estimate, write_estimate};
    struct estimate_job j = {.o = o};
    int rc = check_estimate_options(o);
    if (rc || is_ranking(o))
        return rc ? rc : estimate_several(o);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc; i++)
        rc = steps[i](&j);
    oc_estimate_free(j.estimate);
    cli_side_close(&j.side);
    oc_calibration_free(j.cal);
    return rc;
}

const struct cli_command cmd_estimate = {
    .name = "estimate",
    .phrase = "predict the latency of a model, rank devices",
    .use = {{"onnxcost estimate MODEL --hw NAME [--calibration FILE.xml]",
             "predicted latency of a model, its interval and its basis"},
            {"onnxcost estimate MODEL --hw NAME --hw NAME... [--batch LIST] [--order-by KEY]",
             "the same for several devices and batches, ranked by time, throughput, energy or price"}},
    .run = run_estimate,
    .usual = "hw batch order-by price dim shape as calibration profile top format output",
    .sets = CLI_SHAPED,
    .options = "profile profile-format optimized-model warmup iterations hw hw-set top format "
               "as batch decoder order-by opt-level calibration fusion",
    .own = CLI_OWN(own_options, struct estimate_opts),
    .formats = "table|csv|json|html|fragment",
    .names_devices = true,
    .example = {{"onnxcost estimate new.onnx --hw a100", "from published latencies of other GPUs"},
                {"onnxcost estimate new.onnx --hw here.xml --calibration here.cal.xml",
                 "latency on a calibrated device"},
                {"onnxcost estimate resnet50.onnx --hw kind=gpu --batch 1,8,64 --order-by throughput",
                 "all GPUs at three batch sizes"}},
    .tool =
        {{"estimate", "Predicted latency on hw with its interval; several hw or batches (1,8) are ranked.",
          "model!", "hw! batch dim",
          .more = "hw-set" CLI_TOOL_SHAPES " order-by price as calibration fusion opt-level top",
          .brief =
              "verdict total:time_s,low80_s,high80_s,bound_s,unknown_kernels,compute_s,memory_s,launches_s "
              "devices:place,device,batch,time_s,low_s,high_s,price_per_1000_inferences,fits,needed_bytes,"
              "bound_by,basis,missing "
              "assumptions",
          .place = 6}},
};
