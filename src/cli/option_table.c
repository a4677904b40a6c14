/* The options that several commands take, one row each, with the headings of all groups in the order of the help. What must
 * hold: an option of one command is in the file of that command, and a key follows the option that it is a key of. */
#include "cli/options.h"
#include "onnxcost/profile.h"
#include "onnxcost/report.h"

#define AT(field) offsetof(struct cli_opts, field)

static const char *profile_format(size_t i)
{
    const char *name, *title;
    return oc_profile_format(i, &name, &title) ? name : NULL;
}

const struct cli_option cli_shared_options[] = {
    {"profile", 'p', CLI_LIST, AT(profile), "FILE",
     .help = "measured profile to join with the model; diff: one for each side, or several with commas "
             "(repeatable)",
     .input = true, .group = "Input"},
    {"profile-format", 0, CLI_TEXT, AT(profile_format), "NAME",
     .help = "how to read the profile; FILE.xml: a description of its tables", .otherwise = "by content",
     .names = profile_format},
    {"optimized-model", 0, CLI_TEXT, AT(optimized_model), "FILE",
     .help =
         "the model as the runtime saved it after optimization: joins fused operators exactly; diff: one for "
         "both sides, or one for each, or none",
     .input = true},
    {"map", 0, CLI_TEXT, AT(map), "KEY=COLUMN,...",
     .help = "columns of a table of times: name, type, provider, time, mean, calls, min, max, median, "
             "kernel, energy; time='CPU Time':ms gives a unit",
     .otherwise = "by the header"},
    {"kernel-names", 0, CLI_TEXT, AT(kernel_names), "FILE",
     .help = "XML file with rules for kernel names: precision, unit, class, library"},
    {"warmup", 0, CLI_INT, AT(warmup), "N", .help = "warm-up runs of the profile, which are excluded",
     .unit = "runs", .otherwise = "the first of two or more; none in summaries", .range = "a number of runs",
     .most = INT32_MAX},
    {"iterations", 0, CLI_INT, AT(iterations), "N", .help = "runs in a profile that does not mark them",
     .unit = "runs", .otherwise = "by repetition of the same work, else unknown",
     .range = "a number of runs of at least 1", .least = 1, .most = INT32_MAX},
    {"partial", 0, CLI_FLAG, AT(partial), .help = "after Ctrl-C, report what was read of the profile so far"},
    {"stat", 0, CLI_CHOICE, AT(stat), "typical|mean|median|min|max|sum",
     .help = "runs that times are means of; sum adds them up",
     .otherwise = "typical: the central half of the runs"},
    {"hw", 0, CLI_LIST, AT(hw), "NAME|FILE|auto",
     .help = "hardware for the roofline (see: onnxcost hw list); auto: the device that the profile names; "
             "llm and estimate: several, by commas or with the option repeated; estimate also takes all, "
             "kind=gpu, vendor=NAME, vendor=NAME+kind=cpu",
     .complete = CLI_DEVICES | CLI_FILES},
    {"hw-set", 0, CLI_LIST, AT(hw_set), "KEY=VALUE",
     .help = "override a figure of the --hw devices: vector.f32=10TFLOP/s, matrix.f16=..., "
             "dram.bandwidth=400GB/s, L2.size=..., link.bandwidth=450GB/s, clock.boost=1.2GHz, overhead=2us, "
             "power.TDP=..., matrix.tf32=none for f32 products at the f32 peak (repeatable)"},
    {"op-rules", 0, CLI_TEXT, AT(op_rules), "FILE",
     .help = "XML file with shape and cost rules of custom operators", .set = CLI_SHAPED},
    {"limit", 0, CLI_LIST, AT(limit), "NAME=N",
     .help = "resource limit for untrusted input: nodes=8M, file-bytes=2GiB ...; onnxcost help limits lists "
             "them; external-data=anywhere reads weight files at any path that the model names (repeatable)",
     .set = CLI_READS},
    {"dim", 'd', CLI_LIST, AT(dim), "NAME=N",
     .help =
         "value of a symbolic dimension (repeatable); diff: twice, one for each side; cost: a list such as "
         "batch=1,2,4, batch=1..64*2 or seq=128..512+128 gives the totals at each size; cost and check: a "
         "range such as batch=1..64, for proven bounds",
     .set = CLI_SHAPED, .group = "Shapes"},
    {"shape", 's', CLI_LIST, AT(shape), "INPUT=SHAPE",
     .help = "shape of an input: x=1x3x224x224, or x=scalar (repeatable)", .set = CLI_SHAPED},
    {"value", 0, CLI_LIST, AT(value), "INPUT=VALUE",
     .help = "value of an input that decides shapes: k=5, sizes=1,3,8, or sizes=@tensor.pb (repeatable)",
     .set = CLI_SHAPED},
    {"trip", 0, CLI_LIST, AT(trip), "NODE=N", .help = "trip count of a loop, by its name (repeatable)",
     .otherwise = "1", .set = CLI_SHAPED},
    {"default-dim", 0, CLI_TEXT, AT(default_dim), "N|none",
     .help = "value of every symbolic dimension without --dim; none: they stay unknown", .set = CLI_SHAPED},
    {"force", 0, CLI_FLAG, AT(analyze.force_shapes),
     .help = "let --shape override dimensions that the model declares; report a profile of another model",
     .set = CLI_SHAPED},
    {"top", 't', CLI_INT, AT(top), "N", .help = "number of rows; 0: all; -N: all but the last N",
     .unit = "rows",
     .otherwise = "what fits 25 lines; 20 with other options of tables; 3 for MegEngine files; all in CSV "
                  "and JSON",
     .group = "Filtering and sorting"},
    {"all", 'a', CLI_FLAG, AT(all),
     .help = "table of all operators, same as --top 0; bisect: measure every version; help: all options"},
    {"format", 'f', CLI_CHOICE, AT(format),
     "table|csv|json|ndjson|parquet|markdown|md|trace|model-explorer|netron|xlsx|html|fragment|junit|sarif|"
     "github|paddle|ort-node-stats",
     .help = "output format; ndjson (one object per line): scan; parquet: scan, summary; markdown (md): "
             "costs, diff, check; html, and fragment, a part of it without scripts for a notebook or another "
             "page: costs, diff, memory, summary, scan, estimate, llm; trace, model-explorer, netron, xlsx "
             "(spreadsheet; needs --output): costs; junit, sarif: check; github (annotations of GitHub "
             "Actions): check, diff; paddle (the words of Paddle's Profiler.summary()): summary; "
             "ort-node-stats (CSV for ONNX Runtime's partitioner for CUDA): memory",
     .otherwise = "table", .set = CLI_MODEL, .group = "Output"},
    {"as", 0, CLI_CHOICE, AT(as), "fp16|bf16|fp8|int8|int4|fp16-weights|int8-weights|int4-weights",
     .help = "predicted time of the model in this data type; also f16, f8, i8, i4, as tables write them"},
    {"output", 'o', CLI_TEXT, AT(output), "FILE",
     .help = "output file, written atomically; record: folder or prefix of its files",
     .otherwise = "standard output", .set = CLI_ALL},
    {"width", 'w', CLI_INT, AT(width), "N", .help = "table width; 0: no limit", .unit = "columns",
     .otherwise = "COLUMNS, else the terminal's", .set = CLI_ALL},
    {"color", 0, CLI_CHOICE, AT(color), "auto|always|never", .help = "colour; NO_COLOR is respected",
     .otherwise = "auto", .set = CLI_ALL},
    {"convention", 0, CLI_LIST, AT(convention), "NAME",
     .help = "counting convention of another tool: mge, mge-stats, onnx-tool, fvcore, torch, calflops, "
             "deepspeed, timm, thop, ptflops, torchinfo, xla",
     .otherwise = "onnxcost", .names = oc_convention_name, .set = CLI_MODEL, .group = "Counting"},
    {"count", 0, CLI_KEYS, 0, "KEY=VALUE,...",
     .help = "what is counted, and how; several keys: with commas, or repeated", .set = CLI_SHAPED},
    {"taps", 0, CLI_CHOICE, AT(analyze.taps_valid), "all|valid", .second = true,
     .help = "convolution: count multiplications with padding, or only those with data", .otherwise = "all",
     .set = CLI_MODEL, .of = "count"},
    {"weights", 0, CLI_TEXT, AT(analyze.weights), "unit|hw|mac|FILE",
     .help = "FLOPs of a primitive operation: 1 each, about what hardware takes, only multiply-adds, or a "
             "file with lines KEY VALUE",
     .otherwise = "unit", .set = CLI_MODEL, .of = "count"},
    {"qdq", 0, CLI_CHOICE, AT(analyze.keep_qdq), "fold|keep", .second = true,
     .help = "dequantization of constants", .otherwise = "fold", .set = CLI_MODEL, .of = "count"},
    {"bytes", 0, CLI_CHOICE, AT(bytes), "dram|naive|graph",
     .help = "minimum traffic; every input and output of every node; or, in the totals, only inputs and "
             "outputs of the model",
     .otherwise = "dram", .set = CLI_MODEL, .of = "count"},
    {"alias", 0, CLI_CHOICE, AT(analyze.alias_off), "on|off", .second = true,
     .help = "views such as Reshape move no bytes", .otherwise = "on", .set = CLI_MODEL, .of = "count"},
    {"if", 0, CLI_CHOICE, AT(if_mode), "max|then|else|avg",
     .help = "branch of an If with an unknown condition; avg: the mean of both", .otherwise = "max",
     .set = CLI_SHAPED, .of = "count"},
    {"ceil-mode", 0, CLI_CHOICE, AT(analyze.literal_ceil_mode), "spec|literal", .second = true,
     .help = "pooling with ceil_mode: as runtimes do, or as the old text says", .otherwise = "spec",
     .set = CLI_MODEL, .of = "count"},
    {"attention", 0, CLI_CHOICE, AT(analyze.attention_full), "visible|full", .second = true,
     .help = "attention operators: count only unmasked positions, or all", .otherwise = "visible",
     .set = CLI_MODEL, .of = "count"},
    {"kv-share", 0, CLI_CHOICE, AT(kv_share), "on|off|auto",
     .help = "attention operators: past and present share a buffer, or as the operator declares",
     .otherwise = "auto", .set = CLI_SHAPED, .of = "count"},
    {"einsum", 0, CLI_CHOICE, AT(analyze.einsum_optimal), "left|optimal", .second = true,
     .help =
         "Einsum of three to six operands: from left to right, or in the order with the fewest multiply-adds",
     .otherwise = "left", .set = CLI_MODEL, .of = "count"},
    {"trees", 0, CLI_CHOICE, AT(analyze.trees_max), "mean|max", .second = true,
     .help = "tree ensembles: depth of leaves", .otherwise = "mean", .set = CLI_MODEL, .of = "count"},
    {"moe-active", 0, CLI_CHOICE, AT(analyze.moe_expected), "max|expected", .second = true,
     .help = "mixtures of experts: weights read of as many experts as can be active (lower bounds: of one "
             "token's), or of those a uniform choice hits",
     .otherwise = "max", .set = CLI_MODEL, .of = "count"},
    {"dedup", 0, CLI_CHOICE, AT(analyze.dedup_content), "off|content", .second = true,
     .help = "content: constants with the same bits are counted once (reads the weights)", .otherwise = "off",
     .set = CLI_MODEL, .of = "count"},
    {"strict-reduce", 0, CLI_FLAG, AT(analyze.strict_reduce), .help = "n - 1 operations for a reduction of n",
     .set = CLI_MODEL, .of = "count"},
    {"no-fold", 0, CLI_FLAG, AT(analyze.no_fold), .help = "count nodes whose inputs are all constant",
     .set = CLI_MODEL, .of = "count"},
    {"lut", 0, CLI_FLAG, AT(analyze.lut),
     .help = "quantized activations are table lookups without operations", .set = CLI_MODEL, .of = "count"},
    {"inplace", 0, CLI_FLAG, AT(analyze.inplace),
     .help = "Scatter operators write into the buffer of their data; the peak of activations: element-wise "
             "ones too, where it dies",
     .set = CLI_MODEL, .of = "count"},
    {"rnn-reload", 0, CLI_FLAG, AT(analyze.rnn_reload),
     .help = "recurrent weights are read again in every step", .set = CLI_MODEL, .of = "count"},
    {"loop-cached", 0, CLI_FLAG, AT(analyze.loop_cached),
     .help = "read constants of a loop body once, not in every iteration", .set = CLI_MODEL, .of = "count"},
    {"prefer-functions", 0, CLI_FLAG, AT(analyze.prefer_functions),
     .help = "functions of the model take precedence over operators of the same name", .set = CLI_SHAPED,
     .of = "count"},
    {"align", 0, CLI_INT, AT(align), "N", .help = "alignment of activation buffers in bytes", .unit = "bytes",
     .otherwise = "1", .range = "a number of bytes of at least 1", .least = 1, .set = CLI_MODEL,
     .of = "count"},
    {"keep-inputs", 0, CLI_FLAG, AT(analyze.keep_inputs), .help = "graph inputs stay in memory to the end",
     .set = CLI_MODEL, .of = "count"},
    {"cache", 0, CLI_CHOICE, AT(cache), "on|off",
     .help = "rooflines: on: bytes are served by the nearest cache of the device file that can hold them; "
             "off: all bytes move to and from DRAM",
     .otherwise = "on", .of = "count"},
    {.group = "Cost as a function of the sizes"},
    {.group = "Training"},
    {.group = "Sparsity"},
    {"batch", 0, CLI_TEXT, AT(batch), "N",
     .help = "sequences per batch; estimate: batch sizes, a row for each, such as 1,8,64, 1..64*2, or "
             "NAME=1,8 for the dimension NAME; summary: samples per step, for samples/s",
     .unit = "sequences", .otherwise = "1", .group = "Language models and devices"},
    {"decoder", 0, CLI_TEXT, AT(decoder), "FILE",
     .help = "XML file with further families and fields of a config.json"},
    {"fit", 0, CLI_FLAG, AT(fit), .help = "exit code 1 if the model does not fit the memory of --hw",
     .group = "Memory"},
    {.group = "Summaries of profiles"},
    {"order-by", 0, CLI_TEXT, AT(sort), "KEY",
     .help =
         "order of operators: CPUTotal, CPUAvg, CPUMax, CPUMin, GPUTotal, GPUAvg, GPUMax or GPUMin, or "
         "time; of devices: time, throughput, energy or price; diff: macs, flops, ops, bytes, params, time, "
         "roofline or order",
     .otherwise = "CPUTotal; estimate: time; diff: what differs"},
    {.group = "Recordings"},
    {"runs", 0, CLI_INT, AT(runs), "N", .help = "runs to measure, after those of --warmup (1)",
     .unit = "runs", .otherwise = "12 and 3 s at least, until the median is known to 2 %",
     .set = CLI_RECORDS},
    {"repeat", 0, CLI_INT, AT(repeat), "K",
     .help = "recordings of each model, library, provider, level, number of threads or session entry, "
             "in turns; bisect and tune: most processes of each in a comparison",
     .unit = "recordings", .otherwise = "1; 5 when several are compared; bisect, tune: 8",
     .set = CLI_RECORDS},
    {"time-budget", 0, CLI_TEXT, AT(time_budget), "TIME",
     .help = "time budget: no run starts after it; at least one run is measured", .unit = "s",
     .otherwise = "60s; none with --runs", .set = CLI_RECORDS},
    {"threads", 0, CLI_INT, AT(threads), "N",
     .help = "threads of an operator; record: several values are compared; of recordings: what they were "
             "made with; hw measure: processors to measure",
     .unit = "threads", .otherwise = "ONNX Runtime's choice; hw measure: all", .set = CLI_RECORDS},
    {"opt-level", 0, CLI_CHOICE, AT(opt_level), "disabled|basic|extended|all",
     .help = "graph optimization level of ONNX Runtime; record: several values are compared",
     .otherwise = "all", .set = CLI_RECORDS},
    {"session-config", 0, CLI_LIST, AT(session_config), "KEY=VALUE",
     .help = "configuration entry of ONNX Runtime's session: session.set_denormal_as_zero=1 ...; several of "
             "one key are compared (repeatable)",
     .set = CLI_RECORDS},
    {"provider", 0, CLI_TEXT, AT(provider), "NAME[:KEY=VALUE,...]",
     .help = "execution providers in order of priority: cuda:device_id=1, tensorrt+cuda ...; several are "
             "compared",
     .otherwise = "cpu", .set = CLI_RECORDS},
    {"seed", 0, CLI_INT, AT(seed), "N", .help = "of the random inputs", .otherwise = "1", .set = CLI_RECORDS},
    {"ort-lib", 0, CLI_TEXT, AT(ort_lib), "FILE",
     .help =
         "ONNX Runtime's library, libonnxruntime.so.1; several are compared; bisect: also folders of them",
     .otherwise = "ONNXRUNTIME_LIB, else the usual places", .set = CLI_RECORDS},
    {.group = "Estimates"},
    {"calibration", 0, CLI_TEXT, AT(calibration), "FILE",
     .help = "calibration file from calibrate; without it the estimate is an interval; calibrate and hw "
             "measure --probe: one of another machine or number of threads, to move here",
     .otherwise = "hw measure --probe: the one that comes with onnxcost"},
    {"fusion", 0, CLI_CHOICE, AT(fusion), "onnxruntime|generic|none",
     .help = "assumed fusion rules of the runtime, if no profile is given",
     .otherwise = "as fits calibration and device"},
    {.group = "Differences"},
    {.group = "Limits"},
    {.group = "Many models"},
    {.group = "Measuring this machine"},
    {"help", 'h', CLI_FLAG, AT(help), .help = "this text", .set = CLI_ALL, .group = "Other"},
    {"version", 'V', CLI_FLAG, AT(version), .help = "name and version", .set = CLI_ALL},
    {"verbose", 'v', CLI_FLAG, AT(verbose),
     .help = "all lines of the summary: time accounting, attribution, assumptions with reasons; with "
             "--version: how it was built, libraries and data that it finds",
     .set = CLI_ALL},
};
const size_t cli_n_shared_options = sizeof(cli_shared_options) / sizeof(cli_shared_options[0]);
