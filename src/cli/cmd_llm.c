/* llm: a decoder with a KV cache on devices. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/estimate.h"
#include "onnxcost/llm.h"

struct llm_opts {
    struct cli_int prompt, generate, draft_tokens;
    const char *parallel, *draft, *acceptance, *measured, *reach;
    struct cli_list price;
};

#define AT(field) offsetof(struct llm_opts, field)
static const struct cli_option own_options[] = {
    {"prompt", 0, CLI_INT, AT(prompt), "N", .help = "length of each prompt", .unit = "tokens",
     .otherwise = "512", .range = "a number of tokens of at least 1", .least = 1,
     .group = "Language models and devices", .before = "decoder"},
    {"generate", 0, CLI_INT, AT(generate), "N", .help = "length of each answer", .unit = "tokens",
     .otherwise = "128", .range = "a number of tokens of at least 1", .least = 1},
    {"parallel", 0, CLI_TEXT, AT(parallel), "N,N",
     .help =
         "serving on N devices: time per token, rates over the batch; tp4xpp2xep2: tensor parallel, stages, "
         "groups"},
    {"draft", 0, CLI_KEYS, 0, "KEY=VALUE,...", .help = "speculative decoding, with --parallel"},
    {"model", 0, CLI_TEXT, AT(draft), "FILE", .help = "draft model", .of = "draft"},
    {"acceptance", 0, CLI_TEXT, AT(acceptance), "P",
     .help = "probability that a token of the draft is accepted", .of = "draft"},
    {"tokens", 0, CLI_INT, AT(draft_tokens), "N", .help = "length of a draft", .unit = "tokens",
     .otherwise = "4", .of = "draft"},
    {"measured", 0, CLI_TEXT, AT(measured), "decode=RATE",
     .help = "what was measured: decode=37tok/s,prefill=2100tok/s,ttft=180ms"},
    {"price", 0, CLI_LIST, AT(price), "DEVICE=PRICE/h",
     .help = "price of an hour of a device in any currency, 2.5/h; repeatable", .complete = CLI_DEVICES},
    {"reach", 0, CLI_TEXT, AT(reach), "RATE", .help = "tokens/s for the smallest --hw"},
};

enum { MAX_DEVICES = 64 };

struct llm_job {
    const struct cli_opts *o;
    const struct llm_opts *own;
    struct cli_side side;
    struct oc_model *draft;
    struct cli_devices devices;
    struct oc_calibration *calibration;
    struct oc_llm *llm;
};

static int find_llm_devices(struct llm_job *v)
{
    int rc = cli_devices_open(v->o, false, &v->devices);
    if (!rc && v->devices.n > MAX_DEVICES)
        rc = cli_fail(CLI_USAGE, "--hw: more than %d devices", MAX_DEVICES);
    return rc ? rc : cli_devices_prices(v->o, &v->own->price, &v->devices);
}

/* "180", tokens per second. */
static int take_rate(const char *option, const char *text, double *out)
{
    *out = 0;
    return text && !oc_parse_positive(text, "", out)
               ? cli_fail(CLI_USAGE, "%s needs tokens per second such as 180, not '%s'", option, text)
               : 0;
}

static int llm_make(struct llm_job *v)
{
    struct oc_err err;
    int64_t batch;
    double reach;
    if (v->o->word.n != 1)
        return cli_fail(CLI_USAGE, "'llm' needs one model: onnxcost llm MODEL");
    if (v->own->draft && !v->own->parallel)
        return cli_fail(CLI_USAGE, "--draft needs --parallel N");
    if (v->own->parallel && !v->o->hw.n)
        return cli_fail(CLI_USAGE, "--parallel needs devices: give them with --hw NAME");
    if ((v->own->draft != NULL) != (v->own->acceptance != NULL))
        return cli_fail(CLI_USAGE,
                        "--draft needs a model and an acceptance: --draft model=FILE,acceptance=0.8");
    if (!v->o->hw.n && cli_first_given(v->o, "as calibration cache measured reach price"))
        return cli_fail(CLI_USAGE, "--as, --count cache, --calibration, --measured, --reach and --price need "
                                   "a device: name it with --hw");
    v->side.model_path = v->o->word.item[0];
    int rc = find_llm_devices(v);
    rc = rc ? rc : cli_batch(v->o, &batch);
    rc = rc ? rc : take_rate("--reach", v->own->reach, &reach);
    rc = rc ? rc : cli_side_read(v->o, &v->side);
    rc = rc || !v->own->draft ? rc : cli_load_model(v->own->draft, v->o, &v->draft);
    rc = rc ? rc : cli_load_calibration(v->o, &v->calibration);
    if (rc)
        return rc;
    struct oc_analyze_opts analyze = cli_analyze_opts(v->o, &v->side.shapes);
    struct oc_llm_opts opts = {.analyze = &analyze,
                               .batch = batch ? batch : 1,
                               .prompt = v->own->prompt.v,
                               .generate = v->own->generate.v,
                               .device = v->devices.item,
                               .n_device = v->devices.n,
                               .width_chars = cli_width_of(v->o),
                               .verbose = v->o->verbose,
                               .parallel = v->own->parallel,
                               .draft = v->draft,
                               .acceptance = v->own->acceptance,
                               .draft_tokens = v->own->draft_tokens.v,
                               .as = v->o->as,
                               .cache = !cli_is(v->o->cache, "off"),
                               .calibration = v->calibration,
                               .made = v->o->made,
                               .measured = v->own->measured,
                               .reach = reach,
                               .price_per_hour = v->devices.price_per_hour};
    return oc_llm_make(v->side.model, &opts, &v->llm, &err) ? cli_fail_err(&err) : 0;
}

static int put_llm(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct llm_job *v = job;
    return oc_llm_write(v->llm, v->o->format, out->f, err);
}

static int run_llm(const struct cli_opts *o)
{
    struct llm_job v = {.o = o, .own = o->own};
    int rc = llm_make(&v);
    if (!rc)
        rc = cli_output_write(o->output, put_llm, &v);
    oc_llm_free(v.llm);
    cli_side_close(&v.side);
    oc_model_free(v.draft);
    oc_calibration_free(v.calibration);
    cli_devices_close(&v.devices);
    return rc;
}

const struct cli_command cmd_llm = {
    .name = "llm",
    .phrase = "decoders with a KV cache: prefill, decode, devices",
    .use = {{"onnxcost llm MODEL [--batch N] [--prompt N] [--generate N] [--hw NAME,NAME]",
             "a decoder with a KV cache: cost of prefill and of a decode step, lower bounds on devices"}},
    .run = run_llm,
    .usual = "hw batch prompt generate dim as parallel measured reach format output",
    .sets = CLI_MODEL,
    .options = "hw hw-set cache as batch decoder calibration",
    .own = CLI_OWN(own_options, struct llm_opts),
    .formats = "table|csv|json|html|fragment",
    .example = {{"onnxcost llm decoder.onnx --prompt 2000 --hw rtx-4090", "prefill and decode on a device"},
                {"onnxcost llm decoder.onnx --batch 8 --hw a100,rtx-4090", "two devices, eight sequences"},
                {"onnxcost llm config.json --hw h100-sxm", "a model of Hugging Face, without its weights"}},
    .tool = {{"llm", "Language model: prefill, decode, KV cache; with hw upper bounds of tokens/s.", "model!",
              "hw batch prompt generate", .more = "dim as count price" CLI_TOOL_DEVICES CLI_TOOL_SHAPES,
              .brief =
                  "devices:device,verdict,needed_bytes,memory_bytes batch prompt generate params const_bytes "
                  "kv_bytes_per_token kv_dtype runs:run,new_tokens,cached_tokens,flops,bytes_read_weight,"
                  "kv_read,peak_bytes assumptions warnings",
              .place = 9}},
};
