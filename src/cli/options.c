/* The table of options. */
#include "cli/options.h"
#include "cli/cli.h"
#include "cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT(field) offsetof(struct cli_opts, field)

const struct cli_option cli_options[] = {
    {"profile", 'p', CLI_LIST, CLI_COST | CLI_MEMORY | CLI_ESTIMATE | CLI_DIFF | CLI_CHECK | CLI_PROVIDERS,
     "FILE", NULL, NULL,
     "measured profile to join with the model; diff: one for each side, or several with commas (repeatable)",
     "Input", AT(profile)},
    {"profile-format", 0, CLI_TEXT,
     CLI_COST | CLI_MEMORY | CLI_SUMMARY | CLI_CALIBRATE | CLI_ESTIMATE | CLI_DIFF | CLI_CHECK |
         CLI_PROVIDERS,
     "NAME", NULL, "by content", "how to read the profile; FILE.xml: a description of its tables", NULL,
     AT(profile_format)},
    {"optimized-model", 0, CLI_TEXT, CLI_COST | CLI_ESTIMATE | CLI_DIFF | CLI_CHECK | CLI_PROVIDERS, "FILE",
     NULL, NULL, "the model as the runtime saved it after optimization: joins fused operators exactly", NULL,
     AT(optimized_model)},
    {"map", 0, CLI_TEXT, CLI_COST | CLI_SUMMARY, "KEY=COLUMN,...", NULL, "by the header",
     "columns of a table of times: name, type, provider, time, mean, calls, min, max, median, kernel, "
     "energy; time='CPU Time':ms gives a unit",
     NULL, AT(map)},
    {"kernel-names", 0, CLI_TEXT, CLI_COST | CLI_SUMMARY, "FILE", NULL, NULL,
     "XML file with rules for kernel names: precision, unit, class, library", NULL, AT(kernel_names)},
    {"warmup", 0, CLI_INT, CLI_COST | CLI_SUMMARY | CLI_CALIBRATE | CLI_ESTIMATE | CLI_DIFF | CLI_CHECK, "N",
     "runs", "the first of two or more; none in summaries", "warm-up runs of the profile, which are excluded",
     NULL, AT(warmup)},
    {"iterations", 0, CLI_INT, CLI_COST | CLI_SUMMARY | CLI_ESTIMATE | CLI_DIFF | CLI_CHECK, "N", "runs",
     "by repetition of the same work, else unknown", "runs in a profile that does not mark them", NULL,
     AT(iterations)},
    {"partial", 0, CLI_FLAG, CLI_COST | CLI_SUMMARY, NULL, NULL, NULL,
     "after Ctrl-C, report what was read of the profile so far", NULL, AT(partial)},
    {"stat", 0, CLI_CHOICE, CLI_COST | CLI_DIFF | CLI_CHECK, "typical|mean|median|min|max|sum", NULL,
     "typical: the central half of the runs", "runs that times are means of; sum adds them up", NULL,
     AT(stat)},
    {"hw", 0, CLI_LIST,
     CLI_COST | CLI_LLM | CLI_MEMORY | CLI_CALIBRATE | CLI_ESTIMATE | CLI_DIFF | CLI_CHECK | CLI_PROVIDERS |
         CLI_SCAN,
     "NAME|FILE|auto", NULL, NULL,
     "hardware for the roofline (see: onnxcost hw list); auto: the device that the profile names; llm and "
     "estimate: several, by commas or with the option repeated; estimate also takes all, kind=gpu, "
     "vendor=NAME, vendor=NAME+kind=cpu",
     NULL, AT(hw)},
    {"hw-set", 0, CLI_LIST,
     CLI_COST | CLI_LLM | CLI_MEMORY | CLI_HW | CLI_CALIBRATE | CLI_ESTIMATE | CLI_DIFF | CLI_CHECK,
     "KEY=VALUE", NULL, NULL,
     "override a figure of the --hw devices: vector.f32=10TFLOP/s, matrix.f16=..., dram.bandwidth=400GB/s, "
     "L2.size=..., clock.boost=1.2GHz, overhead=2us, power.TDP=... (repeatable)",
     NULL, AT(hw_set)},
    {"no-tf32", 0, CLI_FLAG, CLI_COST | CLI_LLM | CLI_CALIBRATE | CLI_ESTIMATE | CLI_DIFF | CLI_CHECK, NULL,
     NULL, NULL, "f32 products at the f32 peak, not at the TF32 peak of the device", NULL, AT(no_tf32)},
    {"cache", 0, CLI_CHOICE, CLI_COST | CLI_LLM | CLI_DIFF, "on|off", NULL, "on",
     "rooflines: on: bytes are served by the nearest cache of the device file that can hold them; off: all "
     "bytes move to and from DRAM",
     NULL, AT(cache)},
    {"providers", 0, CLI_TEXT, CLI_PROVIDERS, "NAME,...", NULL, NULL,
     "execution providers in order of priority: ids of the command providers, names of ONNX Runtime, or "
     "files",
     NULL, AT(providers)},
    {"op-rules", 0, CLI_TEXT, CLI_SHAPED, "FILE", NULL, NULL,
     "XML file with shape and cost rules of custom operators", NULL, AT(op_rules)},
    {"limit", 0, CLI_LIST, CLI_READS | CLI_MCP, "NAME=N", NULL, NULL,
     "resource limit for untrusted input: nodes=8M, file-bytes=2GiB ...; onnxcost help limits lists them "
     "(repeatable)",
     NULL, AT(limit)},
    {"external-data", 0, CLI_CHOICE, CLI_READS | CLI_MCP, "inside|anywhere", NULL, "inside",
     "read weight files only inside the model's folder, or at any path that the model names", NULL,
     AT(external_data)},
    {"root", 0, CLI_TEXT, CLI_MCP, "DIR", NULL, NULL,
     "read files inside this folder only; paths of the client are relative to it", NULL, AT(root)},
    {"dim", 'd', CLI_LIST, CLI_SHAPED, "NAME=N", NULL, NULL,
     "value of a symbolic dimension (repeatable); cost and check: a range such as batch=1..64, for proven "
     "bounds",
     "Shapes", AT(dim)},
    {"shape", 's', CLI_LIST, CLI_SHAPED, "INPUT=SHAPE", NULL, NULL,
     "shape of an input: x=1x3x224x224, or x=scalar (repeatable)", NULL, AT(shape)},
    {"value", 0, CLI_LIST, CLI_SHAPED, "INPUT=VALUE", NULL, NULL,
     "value of an input that decides shapes: k=5, sizes=1,3,8, or sizes=@tensor.pb (repeatable)", NULL,
     AT(value)},
    {"trip", 0, CLI_LIST, CLI_SHAPED, "NODE=N", NULL, "1", "trip count of a loop, by its name (repeatable)",
     NULL, AT(trip)},
    {"default-dim", 0, CLI_INT, CLI_SHAPED, "N", NULL, NULL,
     "value of every symbolic dimension without --dim", NULL, AT(default_dim)},
    {"no-defaults", 0, CLI_FLAG, CLI_SHAPED, NULL, NULL, NULL,
     "no default sizes: symbolic dimensions stay unknown", NULL, AT(no_defaults)},
    {"force", 0, CLI_FLAG, CLI_SHAPED, NULL, NULL, NULL,
     "let --shape override dimensions that the model declares; report a profile of another model", NULL,
     AT(force)},
    {"top", 't', CLI_INT, CLI_COST | CLI_MEMORY | CLI_SUMMARY | CLI_ESTIMATE | CLI_DIFF, "N", "rows",
     "20; 3 for MegEngine files; all in CSV and JSON", "number of rows; 0: all; -N: all but the last N",
     "Filtering and sorting", AT(top)},
    {"all", 'a', CLI_FLAG, CLI_COST | CLI_BISECT, NULL, NULL, NULL,
     "table of all operators, same as --top 0; bisect: measure every version", NULL, AT(all)},
    {"opr-name", 0, CLI_LIST, CLI_COST, "NAME", NULL, NULL,
     "only these operators: a printed name, #N for row N of the table, a regular expression from the start "
     "of names, a "
     "fused operator, or a unique part of a name (repeatable)",
     NULL, AT(opr_name)},
    {"type", 0, CLI_LIST, CLI_COST, "TYPE", NULL, NULL, "only operators of this type (repeatable)", NULL,
     AT(type)},
    {"input-dtype", 0, CLI_LIST, CLI_COST, "DTYPE", NULL, NULL,
     "only operators with an input of this element type (repeatable)", NULL, AT(input_dtype)},
    {"order-by", 0, CLI_TEXT, CLI_COST, "[+]COLUMN,...", NULL, "time",
     "sort in descending order (+COLUMN: ascending), then by the next column: time, computation, memory, "
     "flops, "
     "bandwidth, "
     "opr_id, in_shapes, out_shapes, macs, params, intensity, roofline, efficiency, wasted, calls, count, "
     "min, max, "
     "self, name, type, or any column of the CSV",
     NULL, AT(order_by)},
    {"group-by", 0, CLI_TEXT, CLI_COST, "KEY,...", NULL, NULL,
     "one row per type, module (recorded by torch.onnx, else path in the name; module:2: its first two "
     "parts), class or source (of the module: its class, the line that calls the operator), "
     "signature (type and shapes), provider, precision, kernel, bound, rule, or a combination",
     NULL, AT(group_by)},
    {"aggregate", 0, CLI_TEXT, CLI_COST, "max|min|sum|mean|median|count|pN", NULL, "sum with --group-by",
     "statistic over the operators of a group; pN: N-th percentile", NULL, AT(aggregate)},
    {"aggregate-by", 0, CLI_TEXT, CLI_COST, "KEY,...", NULL, "all together",
     "as --group-by; needs --aggregate", NULL, AT(aggregate_by)},
    {"min-time", 0, CLI_TEXT, CLI_COST, "TIME", "s", NULL, "only operators that take at least this time",
     NULL, AT(min_time)},
    {"max-time", 0, CLI_TEXT, CLI_COST, "TIME", "s", NULL, "only operators that take at most this time", NULL,
     AT(max_time)},
    {"top-end-key", 0, CLI_CHOICE, CLI_COST, "end|kern", NULL, "end",
     "MegEngine files: time until the end, or until the kernel starts", NULL, AT(top_end_key)},

    {"format", 'f', CLI_CHOICE,
     CLI_MODEL | CLI_OPS | CLI_SUMMARY | CLI_HW | CLI_CALIBRATE | CLI_ESTIMATE | CLI_TRIAL,
     "table|csv|json|ndjson|parquet|markdown|md|trace|model-explorer|netron|xlsx|html|junit|sarif|"
     "github",
     NULL, "table",
     "output format; ndjson (one object per line): scan; parquet: scan, summary; markdown (md): costs, diff, "
     "check; html: costs, "
     "diff, memory, summary, scan, estimate, llm; "
     "trace, model-explorer, netron, xlsx (spreadsheet; needs --output): costs; junit, sarif: check; github "
     "(annotations of GitHub Actions): "
     "check, diff",
     "Output", AT(format)},
    {"embed", 0, CLI_FLAG, CLI_COST | CLI_MEMORY | CLI_SUMMARY | CLI_ESTIMATE | CLI_LLM | CLI_DIFF | CLI_SCAN,
     NULL, NULL, NULL,
     "with --format html: a fragment for another page, such as a notebook or a dashboard: one element with "
     "its own style, no scripts, tables of at most 100 rows",
     NULL, AT(embed)},
    {"style", 0, CLI_CHOICE, CLI_COST, "grid|compact", NULL, "grid for MegEngine files, else compact",
     "table style; grid: as MegEngine draws tables", NULL, AT(style)},
    {"roofline", 0, CLI_FLAG, CLI_COST, NULL, NULL, NULL,
     "with --hw: add the roofline time of each compute unit and memory level", NULL, AT(roofline)},
    {"advise", 0, CLI_FLAG, CLI_COST, NULL, NULL, NULL,
     "optimization suggestions with their evidence, estimated saving, and what to do", NULL, AT(advise)},
    {"what-if", 0, CLI_LIST, CLI_COST, "KEY=80%|KEY=2x|hw=NAME", NULL, NULL,
     "predicted latency if the operators of KEY (name as of --opr-name, type, class, or all) ran at 80 % of "
     "their "
     "roofline, were 2x faster, or ran on other hardware; applied in sequence (repeatable)",
     NULL, AT(what_if)},
    {"as", 0, CLI_CHOICE, CLI_COST | CLI_LLM | CLI_ESTIMATE,
     "fp16|bf16|fp8|int8|int4|fp16-weights|int8-weights|int4-weights", NULL, NULL,
     "predicted time of the model in this data type; also f16, f8, i8, i4, as tables write them", NULL,
     AT(as)},
    {"fuse", 0, CLI_CHOICE, CLI_COST, "elementwise", NULL, NULL,
     "predicted time with element-wise operators fused into their producers", NULL, AT(fuse)},
    {"why", 0, CLI_LIST, CLI_COST, "NODE", NULL, NULL,
     "cost breakdown of this operator: name as of --opr-name, TYPE_INDEX or index (repeatable)", NULL,
     AT(why)},
    {"explain-match", 0, CLI_MAYBE, CLI_COST, "[=NAME]", NULL, NULL,
     "the rule that joined each record of the profile, or the named one, with nodes, or why none did "
     "(repeatable)",
     NULL, AT(explain_match)},
    {"print-only", 0, CLI_CHOICE, CLI_COST, "summary|device|host", NULL, NULL, "only this part of the report",
     NULL, AT(print_only)},
    {"show-host", 0, CLI_FLAG, CLI_COST, NULL, NULL, NULL,
     "MegEngine files: also print the table of host times", NULL, AT(show_host)},
    {"copy-time", 0, CLI_FLAG, CLI_COST, NULL, NULL, NULL, "MegEngine files: time of copies in the summary",
     NULL, AT(copy_time)},
    {"confluence", 0, CLI_FLAG, CLI_COST, NULL, NULL, NULL, "table as wiki markup", NULL, AT(confluence)},
    {"wiki", 0, CLI_FLAG, CLI_COST, NULL, NULL, NULL, "same as --confluence", NULL, AT(confluence)},
    {"dump-only-opr", 0, CLI_FLAG, CLI_COST, NULL, NULL, NULL, "only the operators, one per line", NULL,
     AT(dump_only_opr)},
    {"annotate", 0, CLI_TEXT, CLI_COST, "FILE", NULL, NULL,
     "write a copy of the model with costs and times in metadata_props", NULL, AT(annotate)},
    {"output", 'o', CLI_TEXT, CLI_ALL, "FILE", NULL, "standard output",
     "output file, written atomically; record: folder or prefix of its files", NULL, AT(output)},
    {"width", 'w', CLI_INT, CLI_ALL, "N", "columns", "COLUMNS, else the terminal's",
     "table width; 0: no limit", NULL, AT(width)},
    {"color", 0, CLI_CHOICE, CLI_ALL, "auto|always|never", NULL, "auto", "colour; NO_COLOR is respected",
     NULL, AT(color)},
    {"strict", 0, CLI_FLAG, CLI_COST, NULL, NULL, NULL,
     "exit code 1 if anything is assumed, conflicting or unknown", NULL, AT(strict)},

    {"taps", 0, CLI_CHOICE, CLI_MODEL, "all|valid", NULL, "all",
     "convolution: count multiplications with padding, or only those with data", "Counting", AT(taps)},
    {"weights", 0, CLI_TEXT, CLI_MODEL, "unit|hw|mac|FILE", NULL, "unit",
     "FLOPs of a primitive operation: 1 each, about what hardware takes, only multiply-adds, or a file with "
     "lines KEY VALUE",
     NULL, AT(weights)},
    {"qdq", 0, CLI_CHOICE, CLI_MODEL, "fold|keep", NULL, "fold", "dequantization of constants", NULL,
     AT(qdq)},
    {"bytes", 0, CLI_CHOICE, CLI_MODEL, "dram|naive|graph", NULL, "dram",
     "minimum traffic; every input and output of every node; or, in the totals, only inputs and outputs of "
     "the "
     "model",
     NULL, AT(bytes)},
    {"alias", 0, CLI_CHOICE, CLI_MODEL, "on|off", NULL, "on", "views such as Reshape move no bytes", NULL,
     AT(alias)},
    {"if", 0, CLI_CHOICE, CLI_SHAPED, "max|then|else|avg", NULL, "max",
     "branch of an If with an unknown condition; avg: the mean of both", NULL, AT(if_mode)},
    {"ceil-mode", 0, CLI_CHOICE, CLI_MODEL, "spec|literal", NULL, "spec",
     "pooling with ceil_mode: as runtimes do, or as the old text says", NULL, AT(ceil_mode)},
    {"attention", 0, CLI_CHOICE, CLI_MODEL, "visible|full", NULL, "visible",
     "attention operators: count only unmasked positions, or all", NULL, AT(attention)},
    {"kv-share", 0, CLI_CHOICE, CLI_SHAPED, "on|off|auto", NULL, "auto",
     "attention operators: past and present share a buffer, or as the operator declares", NULL, AT(kv_share)},
    {"einsum", 0, CLI_CHOICE, CLI_MODEL, "left|optimal", NULL, "left",
     "Einsum of three to six operands: from left to right, or in the order with the fewest multiply-adds",
     NULL, AT(einsum)},
    {"trees", 0, CLI_CHOICE, CLI_MODEL, "mean|max", NULL, "mean", "tree ensembles: depth of leaves", NULL,
     AT(trees)},
    {"moe-active", 0, CLI_CHOICE, CLI_MODEL, "max|expected", NULL, "max",
     "mixtures of experts: weights read of as many experts as can be active (lower bounds: of one token's), "
     "or of those a uniform choice hits",
     NULL, AT(moe_active)},
    {"dedup", 0, CLI_CHOICE, CLI_MODEL, "off|content", NULL, "off",
     "content: constants with the same bits are counted once (reads the weights)", NULL, AT(dedup)},
    {"convention", 0, CLI_LIST, CLI_MODEL, "NAME", NULL, "onnxcost",
     "counting convention of another tool: mge, mge-stats, onnx-tool, fvcore, torch, calflops, deepspeed, "
     "timm, thop, ptflops, torchinfo, xla",
     NULL, AT(convention)},
    {"strict-reduce", 0, CLI_FLAG, CLI_MODEL, NULL, NULL, NULL, "n - 1 operations for a reduction of n", NULL,
     AT(strict_reduce)},
    {"no-fold", 0, CLI_FLAG, CLI_MODEL, NULL, NULL, NULL, "count nodes whose inputs are all constant", NULL,
     AT(no_fold)},
    {"lut", 0, CLI_FLAG, CLI_MODEL, NULL, NULL, NULL,
     "quantized activations are table lookups without operations", NULL, AT(lut)},
    {"inplace", 0, CLI_FLAG, CLI_MODEL, NULL, NULL, NULL,
     "Scatter operators write into the buffer of their data; the peak of activations: element-wise ones "
     "too, where it dies",
     NULL, AT(inplace)},
    {"rnn-reload", 0, CLI_FLAG, CLI_MODEL, NULL, NULL, NULL, "recurrent weights are read again in every step",
     NULL, AT(rnn_reload)},
    {"loop-cached", 0, CLI_FLAG, CLI_MODEL, NULL, NULL, NULL,
     "read constants of a loop body once, not in every iteration", NULL, AT(loop_cached)},
    {"prefer-functions", 0, CLI_FLAG, CLI_SHAPED, NULL, NULL, NULL,
     "functions of the model take precedence over operators of the same name", NULL, AT(prefer_functions)},

    {"formula", 0, CLI_FLAG, CLI_COST, NULL, NULL, NULL, "totals as formulas in the symbolic dimensions",
     "Cost as a function of the sizes", AT(formula)},
    {"sweep", 0, CLI_LIST, CLI_COST, "NAME=SIZES", NULL, NULL,
     "totals for a list of sizes: batch=1,2,4, batch=1..64*2, or seq=128..512+128 (repeatable)", NULL,
     AT(sweep)},

    {"training", 0, CLI_CHOICE, CLI_COST, "adam|momentum|sgd", NULL, NULL,
     "a training step: forward, backward and optimizer FLOPs, saved activations, memory with and without "
     "recomputation",
     "Training", AT(training)},

    {"sparsity", 0, CLI_FLAG, CLI_COST, NULL, NULL, NULL,
     "zeros in the weights of convolutions and matrix products, MACs without them, 2:4 pattern (reads the "
     "weights)",
     "Sparsity", AT(sparsity)},

    {"batch", 0, CLI_TEXT, CLI_LLM | CLI_ESTIMATE, "N", "sequences", "1",
     "sequences per batch; estimate: batch sizes, a row for each, such as 1,8,64, 1..64*2, or NAME=1,8 "
     "for "
     "the dimension NAME",
     "Language models and devices", AT(batch)},
    {"prompt", 0, CLI_INT, CLI_LLM, "N", "tokens", "512", "length of each prompt", NULL, AT(prompt)},
    {"generate", 0, CLI_INT, CLI_LLM, "N", "tokens", "128", "length of each answer", NULL, AT(generate)},
    {"parallel", 0, CLI_TEXT, CLI_LLM, "N,N", NULL, NULL,
     "serving on N devices in tensor parallel: time per token, tokens and requests per second over the batch",
     NULL, AT(parallel)},
    {"link", 0, CLI_TEXT, CLI_LLM, "RATE", NULL, "unknown",
     "bandwidth of a device to the others in one direction: 450GB/s", NULL, AT(link)},
    {"draft", 0, CLI_TEXT, CLI_LLM, "MODEL", NULL, NULL,
     "draft model of speculative decoding, with --parallel and --acceptance", NULL, AT(draft)},
    {"acceptance", 0, CLI_TEXT, CLI_LLM, "P", NULL, NULL, "probability that a token of the draft is accepted",
     NULL, AT(acceptance)},
    {"draft-tokens", 0, CLI_INT, CLI_LLM, "N", "tokens", "4", "length of a draft", NULL, AT(draft_tokens)},
    {"measured", 0, CLI_TEXT, CLI_LLM, "RATE", NULL, NULL, "measured tokens/s of decode", NULL, AT(measured)},
    {"reach", 0, CLI_TEXT, CLI_LLM, "RATE", NULL, NULL, "tokens/s for the smallest --hw", NULL, AT(reach)},
    {"decoder", 0, CLI_TEXT, CLI_COST | CLI_LLM | CLI_MEMORY | CLI_ESTIMATE, "FILE", NULL, NULL,
     "XML file with further families and fields of a config.json", NULL, AT(decoder)},
    {"fit", 0, CLI_FLAG, CLI_COST | CLI_MEMORY, NULL, NULL, NULL,
     "exit code 1 if the model does not fit the memory of --hw", "Memory", AT(fit)},
    {"align", 0, CLI_INT, CLI_MODEL, "N", "bytes", "1", "alignment of activation buffers in bytes", NULL,
     AT(align)},
    {"keep-inputs", 0, CLI_FLAG, CLI_MODEL, NULL, NULL, NULL, "graph inputs stay in memory to the end", NULL,
     AT(keep_inputs)},
    {"allocator", 0, CLI_CHOICE, CLI_MEMORY, "plain|ort", NULL, "plain",
     "ort: as the CPU provider of ONNX Runtime runs the model without optimizations: its order, nothing "
     "folded, its reuse of dead tensors, its arena",
     NULL, AT(allocator)},
    {"emit", 0, CLI_CHOICE, CLI_MEMORY, "ort-node-stats", NULL, NULL,
     "memory of every node as the CSV that ONNX Runtime's partitioner for CUDA reads", NULL, AT(emit)},
    {"plan", 0, CLI_TEXT, CLI_MEMORY, "FILE", NULL, NULL,
     "write the arena offset of every buffer to FILE.json or FILE.csv", NULL, AT(plan)},

    {"view", 0, CLI_LIST, CLI_SUMMARY, "NAME", NULL, "all that there is data for",
     "device, overview, runs, model, distribution, type, operator, event, kernel, memory, copies, "
     "user, lanes or benchmark (repeatable)",
     "Summaries of profiles", AT(view)},
    {"sort", 0, CLI_TEXT, CLI_SUMMARY | CLI_ESTIMATE | CLI_DIFF, "KEY", NULL,
     "CPUTotal; estimate: time; diff: what differs",
     "order of operators: CPUTotal, CPUAvg, CPUMax, CPUMin, GPUTotal, GPUAvg, GPUMax or GPUMin, or "
     "time (as without --sort); of devices: time, throughput or energy; diff: macs, flops, ops, bytes, "
     "params, time, roofline or order",
     NULL, AT(sort)},
    {"search", 0, CLI_TEXT, CLI_SUMMARY, "TEXT", NULL, NULL,
     "only rows whose name or type contains this text", NULL, AT(search)},
    {"time-unit", 0, CLI_CHOICE, CLI_SUMMARY, "s|ms|us|ns", NULL, "ms", "unit of times", NULL, AT(time_unit)},
    {"op-detail", 0, CLI_FLAG, CLI_SUMMARY, NULL, NULL, NULL, "parts and kernels below each operator", NULL,
     AT(op_detail)},
    {"per-thread", 0, CLI_FLAG, CLI_SUMMARY, NULL, NULL, NULL, "operators of each thread apart", NULL,
     AT(per_thread)},
    {"samples-per-step", 0, CLI_INT, CLI_SUMMARY, "N", "samples", NULL, "batch size, for samples/s", NULL,
     AT(samples_per_step)},

    {"report", 0, CLI_FLAG, CLI_RECORD, NULL, NULL, NULL,
     "print the table of the recording; table options apply", "Recordings", AT(report)},
    {"runs", 0, CLI_INT, CLI_RECORD | CLI_TRIAL, "N", "runs",
     "12 and 3 s at least, until the median is known to 2 %", "runs to measure, after those of --warmup (1)",
     NULL, AT(runs)},
    {"repeat", 0, CLI_INT, CLI_RECORD | CLI_TRIAL, "K", "recordings",
     "1; 5 when several are compared; bisect, tune: 8",
     "recordings of each model, library, provider, level, number of threads or session entry, alternated; "
     "bisect and "
     "tune: most processes of each in a comparison",
     NULL, AT(repeat)},
    {"time-budget", 0, CLI_TEXT, CLI_RECORD | CLI_TRIAL, "TIME", "s", "60s; none with --runs",
     "time budget: no run starts after it; at least one run is measured", NULL, AT(time_budget)},
    {"threads", 0, CLI_INT, CLI_RECORD | CLI_TRIAL | CLI_CALIBRATE | CLI_HW, "N", "threads",
     "ONNX Runtime's choice; hw measure: all",
     "threads of an operator; record: several values are compared; of recordings: what they were made with; "
     "hw measure: processors to measure",
     NULL, AT(threads)},
    {"opt-level", 0, CLI_CHOICE, CLI_RECORD | CLI_TRIAL | CLI_ESTIMATE, "disabled|basic|extended|all", NULL,
     "all", "graph optimization level of ONNX Runtime; record: several values are compared", NULL,
     AT(opt_level)},
    {"simd", 0, CLI_CHOICE, CLI_ESTIMATE, "avx512|avx2|neon", NULL, "that of the device file",
     "instruction set of the fusion plan of ONNX Runtime: blocks of 16 channels, of 8, none", NULL, AT(simd)},
    {"session-config", 0, CLI_LIST, CLI_RECORD | CLI_TRIAL, "KEY=VALUE", NULL, NULL,
     "configuration entry of ONNX Runtime's session: session.set_denormal_as_zero=1 ...; several "
     "of one key are compared (repeatable)",
     NULL, AT(session_config)},
    {"provider", 0, CLI_TEXT, CLI_RECORD | CLI_TRIAL, "NAME[:KEY=VALUE,...]", NULL, "cpu",
     "execution providers in order of priority: cuda:device_id=1, tensorrt+cuda ...; several are compared",
     NULL, AT(provider)},
    {"seed", 0, CLI_INT, CLI_RECORD | CLI_TRIAL, "N", NULL, "1", "of the random inputs", NULL, AT(seed)},
    {"ort-lib", 0, CLI_TEXT, CLI_RECORD | CLI_TRIAL, "FILE", NULL, "ONNXRUNTIME_LIB, else the usual places",
     "ONNX Runtime's library, libonnxruntime.so.1; several are compared; bisect: also folders of them", NULL,
     AT(ort_lib)},
    {"figure", 0, CLI_CHOICE, CLI_BISECT, "latency|session|first-run", NULL, "latency",
     "what is compared: the latency, the creation of the session, or its first run", NULL, AT(figure)},

    {"check", 0, CLI_FLAG, CLI_CALIBRATE, NULL, NULL, NULL,
     "print how wrong predictions of networks are that were left out, by group", "Estimates", AT(check)},
    {"calibration", 0, CLI_TEXT, CLI_LLM | CLI_ESTIMATE | CLI_CHECK, "FILE", NULL, NULL,
     "calibration file from calibrate; without it the estimate is an interval", NULL, AT(calibration)},
    {"fusion", 0, CLI_CHOICE, CLI_ESTIMATE | CLI_CHECK, "onnxruntime|generic|none", NULL,
     "as fits calibration and device", "assumed fusion rules of the runtime, if no profile is given", NULL,
     AT(fusion)},
    {"runtime-version", 0, CLI_TEXT, CLI_CALIBRATE, "TEXT", NULL, NULL,
     "runtime version of the recordings, written to the file", NULL, AT(runtime_version)},

    {"b-dim", 0, CLI_LIST, CLI_DIFF, "NAME=N", NULL, NULL,
     "number for a dimension of the second side (repeatable)", "Differences", AT(b_dim)},
    {"b-shape", 0, CLI_LIST, CLI_DIFF, "INPUT=SHAPE", NULL, NULL,
     "shape of an input of the second side (repeatable)", NULL, AT(b_shape)},
    {"b-value", 0, CLI_LIST, CLI_DIFF, "INPUT=VALUE", NULL, NULL,
     "value of an input of the second side (repeatable)", NULL, AT(b_value)},
    {"b-optimized-model", 0, CLI_TEXT, CLI_DIFF, "FILE", NULL, NULL,
     "as --optimized-model, for the second profile", NULL, AT(b_optimized_model)},
    {"exit-code", 0, CLI_FLAG, CLI_DIFF, NULL, NULL, NULL, "exit code 1 when the two are different", NULL,
     AT(exit_code)},

    {"budget", 0, CLI_LIST, CLI_CHECK, "FILE", NULL, NULL,
     "XML file with limits, also of operator types and modules (repeatable)", "Limits", AT(budget)},
    {"max-macs", 0, CLI_TEXT, CLI_CHECK, "N", NULL, NULL, "most multiply-adds: 4.1G", NULL, AT(max_macs)},
    {"max-flops", 0, CLI_TEXT, CLI_CHECK, "N", NULL, NULL, "most floating-point operations", NULL,
     AT(max_flops)},
    {"max-params", 0, CLI_TEXT, CLI_CHECK, "N", NULL, NULL, "most parameters", NULL, AT(max_params)},
    {"max-weight-bytes", 0, CLI_TEXT, CLI_CHECK, "SIZE", NULL, NULL, "most bytes of constants: 80MiB", NULL,
     AT(max_weight_bytes)},
    {"max-peak-memory", 0, CLI_TEXT, CLI_CHECK, "SIZE", NULL, NULL, "highest peak activation memory: 10MiB",
     NULL, AT(max_peak_memory)},
    {"max-latency", 0, CLI_TEXT, CLI_CHECK, "TIME", NULL, NULL,
     "maximum latency: 12ms; measured (--profile) or else estimated (--hw)", NULL, AT(max_latency)},
    {"min-efficiency", 0, CLI_TEXT, CLI_CHECK, "SHARE", NULL, NULL,
     "lowest efficiency (roofline time / measured time): 30%; needs a profile and a device", NULL,
     AT(min_efficiency)},
    {"max-opset", 0, CLI_TEXT, CLI_CHECK, "N", NULL, NULL, "newest operator set", NULL, AT(max_opset)},
    {"no-unknown", 0, CLI_FLAG, CLI_CHECK, NULL, NULL, NULL, "every operator has a cost", NULL,
     AT(no_unknown)},
    {"forbid-op", 0, CLI_LIST, CLI_CHECK, "TYPE", NULL, NULL,
     "no operator of this type: Loop, Sequence*, com.microsoft:* (repeatable)", NULL, AT(forbid_op)},
    {"baseline", 0, CLI_TEXT, CLI_CHECK, "FILE", NULL, NULL,
     "no figure may be worse than in this file (see --save-baseline)", NULL, AT(baseline)},
    {"tolerance", 0, CLI_LIST, CLI_CHECK, "LIST", NULL,
     "that of the baseline, else 0 for counts, 10% for latency and efficiency",
     "how much worse than the baseline a figure may be: 2% for all, or macs=1000,latency=5% (repeatable)",
     NULL, AT(tolerance)},
    {"save-baseline", 0, CLI_TEXT, CLI_CHECK, "FILE", NULL, NULL,
     "write the present figures there; of an existing baseline tolerances, limits and comments stay", NULL,
     AT(save_baseline)},

    {"jobs", 'j', CLI_INT, CLI_SCAN, "N", "processes", "one for each processor",
     "models that are analysed at the same time", "Many models", AT(jobs)},
    {"files-from", 0, CLI_TEXT, CLI_SCAN, "FILE", NULL, NULL,
     "scan what this file names too, a file or folder a line; -: standard input", NULL, AT(files_from)},
    {"null", '0', CLI_FLAG, CLI_SCAN, NULL, NULL, NULL,
     "names in --files-from end with a null character, as find -print0 writes them", NULL, AT(null)},
    {"hash", 0, CLI_CHOICE, CLI_SCAN, "size|all|off", NULL, "size",
     "files whose content is hashed, to find duplicates: those that share their size with another one, all, "
     "none",
     NULL, AT(hash)},
    {"rows", 0, CLI_TEXT, CLI_SCAN, "models|profiles|nodes", NULL, "one for each file",
     "what a row is: a model, a profile, or a node of a model or an operator of a profile", NULL, AT(rows)},
    {"profiles", 0, CLI_FLAG, CLI_SCAN, NULL, NULL, NULL,
     "the files are profiles; in folders: *.json, *.csv, *.tsv, *.txt, *.log, *.sqlite, *.db, *.xplane.pb "
     "and "
     "these with .gz",
     NULL, AT(profiles)},
    {"join", 0, CLI_LIST, CLI_SCAN, "DIR", NULL, NULL,
     "with --profiles: folder of models to join; a.b.json.gz belongs to the first of a.b.json.onnx, a.b.onnx "
     "and "
     "a.onnx in its own folder or there (repeatable)",
     NULL, AT(join)},

    {"quick", 0, CLI_FLAG, CLI_HW, NULL, NULL, NULL,
     "hw measure: a trial of under a second, its figures are rough", "Measuring this machine", AT(quick)},

    {"help", 'h', CLI_FLAG, CLI_ALL, NULL, NULL, NULL, "this text", "Other", AT(help)},
    {"version", 'V', CLI_FLAG, CLI_ALL, NULL, NULL, NULL, "name and version", NULL, AT(version)},
    {"verbose", 'v', CLI_FLAG, CLI_ALL, NULL, NULL, NULL,
     "all lines of the summary: time accounting, attribution, assumptions with reasons; with --version: how "
     "it was built, libraries and data that it finds",
     NULL, AT(verbose)},
};
const size_t cli_n_options = sizeof(cli_options) / sizeof(cli_options[0]);

/* Options are never abbreviated: a new option must not change what an old command line means. */
static const struct cli_option *options_by_name(const char *name, size_t n)
{
    for (size_t i = 0; i < cli_n_options; i++)
        if (!strncmp(cli_options[i].name, name, n) && !cli_options[i].name[n])
            return &cli_options[i];
    return NULL;
}

static const struct cli_option *by_letter(char letter)
{
    for (size_t i = 0; i < cli_n_options; i++)
        if (cli_options[i].letter == letter)
            return &cli_options[i];
    return NULL;
}

bool cli_is_choice(const char *choices, const char *value)
{
    size_t n = strlen(value);
    for (const char *p = choices; p; p = strchr(p, '|'), p = p ? p + 1 : NULL)
        if (n && !strncmp(p, value, n) && (p[n] == '|' || !p[n]))
            return true;
    return false;
}

/* Types as they are written in tables, JSON and hardware files. */
static const char *type_of_class(const char *option, const char *value)
{
    static const char *const names[][2] = {{"f16", "fp16"},
                                           {"f8", "fp8"},
                                           {"i8", "int8"},
                                           {"i4", "int4"},
                                           {"f16-weights", "fp16-weights"},
                                           {"i8-weights", "int8-weights"},
                                           {"i4-weights", "int4-weights"}};
    for (size_t i = 0; !strcmp(option, "as") && i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(value, names[i][0]))
            return names[i][1];
    return value;
}

static bool parse_int(const char *s, int64_t *out)
{
    if (!*s || !strchr("+-0123456789", *s))
        return false;
    char *end;
    errno = 0;
    long long v = strtoll(s, &end, 10);
    if (errno || *end || end == s)
        return false;
    *out = v;
    return true;
}

static void list_add(struct cli_list *l, const char *text)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 8;
        l->item = cli_xrealloc(l->item, l->cap * sizeof(*l->item));
    }
    l->item[l->n++] = text;
}

/* One argument of argv seen as options: which one, and its value (maybe the next argument). */
struct taken {
    const struct cli_option *p;
    const char *value;
    int used;      /* arguments consumed */
    unsigned mask; /* of the command, for suggestions */
};

static int options_store(const struct taken *t, struct cli_opts *o, char *why, size_t cap)
{
    const struct cli_option *p = t->p;
    const char *value = t->value;
    void *field = (char *)o + p->offset;
    switch (p->kind) {
    case CLI_FLAG:
        *(bool *)field = true;
        return 0;
    case CLI_LIST:
    case CLI_MAYBE:
        list_add(field, value ? value : "");
        return 0;
    case CLI_INT:
        if (!parse_int(value, &((struct cli_int *)field)->v)) {
            snprintf(why, cap, "--%s needs an integer, not '%s'", p->name, value);
            return -1;
        }
        ((struct cli_int *)field)->set = true;
        return 0;
    case CLI_CHOICE:
        value = type_of_class(p->name, value);
        if (!cli_is_choice(p->arg, value)) {
            cli_say_choice(p->name, !strcmp(p->name, "format") ? cli_formats(t->mask) : p->arg, value, why,
                           cap);
            return -1;
        }
        *(const char **)field = value;
        return 0;
    default:
        *(const char **)field = value;
        return 0;
    }
}

static int fail_no_value(const char *argument, const struct cli_option *p, char *why, size_t cap)
{
    snprintf(why, cap, "%s needs a value: --%s %s", argument, p->name, p->arg);
    return -1;
}

/* "--sort --hw t4": a value that begins with two dashes is written --sort=--VALUE. */
static bool lacks_value(int left, char **argv)
{
    return left < 2 || !strncmp(argv[1], "--", 2);
}

static int take_long(int left, char **argv, struct taken *t, char *why, size_t cap)
{
    const char *name = argv[0] + 2;
    size_t n = strcspn(name, "=");
    t->p = options_by_name(name, n);
    if (!t->p) {
        cli_say_unknown_option(argv[0], t->mask, why, cap);
        return -1;
    }
    t->used = 1;
    t->value = name[n] ? name + n + 1 : NULL;
    if (t->p->kind == CLI_FLAG && t->value)
        snprintf(why, cap, "--%s takes no value: '%s' has one", t->p->name, argv[0]);
    if (t->p->kind == CLI_FLAG)
        return t->value ? -1 : 0;
    if (!t->value && t->p->kind == CLI_MAYBE)
        return 0;
    if (!t->value && lacks_value(left, argv))
        return fail_no_value(argv[0], t->p, why, cap);
    if (!t->value) {
        t->value = argv[1];
        t->used = 2;
    }
    return 0;
}

/* -t 3, -t3; combined flags (-hV) are not supported: one letter per argument. */
static int take_short(int left, char **argv, struct taken *t, char *why, size_t cap)
{
    t->p = by_letter(argv[0][1]);
    if (!t->p || (t->p->kind == CLI_FLAG && argv[0][2])) {
        cli_say_unknown_option(argv[0], t->mask, why, cap);
        return -1;
    }
    t->used = 1;
    t->value = argv[0][2] ? argv[0] + 2 : NULL;
    if (t->p->kind == CLI_FLAG || t->value)
        return 0;
    if (lacks_value(left, argv))
        return fail_no_value(argv[0], t->p, why, cap);
    t->value = argv[1];
    t->used = 2;
    return 0;
}

static int options_take(int left, char **argv, struct taken *t, char *why, size_t cap)
{
    return argv[0][1] == '-' ? take_long(left, argv, t, why, cap) : take_short(left, argv, t, why, cap);
}

/* "--dim batch 8": the value has no '=', and a number that is not a file follows. */
static bool lacks_equals(int left, char **argv, const struct taken *t, char *why, size_t cap)
{
    const char *next = left > t->used ? argv[t->used] : "";
    if (!t->p || t->p->kind != CLI_LIST || !strstr(t->p->arg, "=") || strchr(t->p->arg, '|') ||
        strchr(t->value, '=') || !strchr("0123456789", *next) || !*next || access(next, F_OK) == 0)
        return false;
    snprintf(why, cap, "--%s needs %s: write --%s %s=%s", t->p->name, t->p->arg, t->p->name, t->value, next);
    return true;
}

/* Of the first argument that is the name of a command; else of the command without a name. */
static unsigned find_mask(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        for (size_t k = 0; k < cli_n_commands; k++)
            if (!strcmp(argv[i], cli_commands[k].name))
                return cli_commands[k].mask;
    return CLI_COST;
}

int cli_parse(int argc, char **argv, struct cli_opts *o, char *why, size_t why_cap)
{
    bool only_words = false;
    unsigned mask = find_mask(argc, argv);
    for (int i = 1; i < argc;) {
        struct taken t = {.used = 1, .mask = mask};
        if (only_words || argv[i][0] != '-' || !argv[i][1]) {
            list_add(&o->word, argv[i]);
        } else if (!strcmp(argv[i], "--")) {
            only_words = true;
        } else if (options_take(argc - i, argv + i, &t, why, why_cap) ||
                   lacks_equals(argc - i, argv + i, &t, why, why_cap) || options_store(&t, o, why, why_cap)) {
            return -1;
        }
        i += t.used;
    }
    return 0;
}

const char *cli_foreign_option(int argc, char **argv, unsigned mask, const char **value)
{
    char why[256];
    for (int i = 1; i < argc;) {
        struct taken t = {.used = 1, .mask = mask};
        if (!strcmp(argv[i], "--"))
            return NULL;
        *value = NULL;
        if (argv[i][0] == '-' && argv[i][1] && !options_take(argc - i, argv + i, &t, why, sizeof(why)) &&
            !(t.p->mask & mask)) {
            *value = t.value;
            return t.p->name;
        }
        i += t.used;
    }
    return NULL;
}

void cli_option_values(const struct cli_opts *o, const char *name, struct cli_list *out)
{
    char why[256];
    for (int i = 1; i < o->argc && strcmp(o->argv[i], "--") != 0;) {
        struct taken t = {.used = 1, .mask = CLI_ALL};
        if (o->argv[i][0] == '-' && o->argv[i][1] &&
            !options_take(o->argc - i, o->argv + i, &t, why, sizeof(why)) && !strcmp(t.p->name, name))
            list_add(out, t.value);
        i += t.used;
    }
}

void cli_opts_free(struct cli_opts *o)
{
    free(o->word.item);
    for (size_t i = 0; i < cli_n_options; i++)
        if (cli_options[i].kind == CLI_LIST || cli_options[i].kind == CLI_MAYBE)
            free(((struct cli_list *)((char *)o + cli_options[i].offset))->item);
}
