/* The options that several commands take; the order of all options; parsing. What must hold: a value is stored only where
 * the command that is called has a place for it, and a wrong value is reported before an option of another command. */
#include "cli/options.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/profile.h"
#include "onnxcost/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT(field) offsetof(struct cli_opts, field)

static const char *profile_format(size_t i)
{
    const char *name, *title;
    return oc_profile_format(i, &name, &title) ? name : NULL;
}

static const struct cli_option shared[] = {
    {"profile", 'p', CLI_LIST, AT(profile), "FILE",
     .help = "measured profile to join with the model; diff: one for each side, or several with commas "
             "(repeatable)",
     .input = true, .group = "Input"},
    {"profile-format", 0, CLI_TEXT, AT(profile_format), "NAME",
     .help = "how to read the profile; FILE.xml: a description of its tables", .otherwise = "by content",
     .names = profile_format},
    {"optimized-model", 0, CLI_TEXT, AT(optimized_model), "FILE",
     .help = "the model as the runtime saved it after optimization: joins fused operators exactly",
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
     .help =
         "override a figure of the --hw devices: vector.f32=10TFLOP/s, matrix.f16=..., "
         "dram.bandwidth=400GB/s, L2.size=..., clock.boost=1.2GHz, overhead=2us, power.TDP=... (repeatable)"},
    {"no-tf32", 0, CLI_FLAG, AT(no_tf32),
     .help = "f32 products at the f32 peak, not at the TF32 peak of the device"},
    {"cache", 0, CLI_CHOICE, AT(cache), "on|off",
     .help = "rooflines: on: bytes are served by the nearest cache of the device file that can hold them; "
             "off: all bytes move to and from DRAM",
     .otherwise = "on"},
    {"op-rules", 0, CLI_TEXT, AT(op_rules), "FILE",
     .help = "XML file with shape and cost rules of custom operators", .set = CLI_SHAPED},
    {"limit", 0, CLI_LIST, AT(limit), "NAME=N",
     .help = "resource limit for untrusted input: nodes=8M, file-bytes=2GiB ...; onnxcost help limits lists "
             "them (repeatable)",
     .set = CLI_READS},
    {"external-data", 0, CLI_CHOICE, AT(external_data), "inside|anywhere",
     .help = "read weight files only inside the model's folder, or at any path that the model names",
     .otherwise = "inside", .set = CLI_READS},
    {"dim", 'd', CLI_LIST, AT(dim), "NAME=N",
     .help = "value of a symbolic dimension (repeatable); cost and check: a range such as batch=1..64, for "
             "proven bounds",
     .set = CLI_SHAPED, .group = "Shapes"},
    {"shape", 's', CLI_LIST, AT(shape), "INPUT=SHAPE",
     .help = "shape of an input: x=1x3x224x224, or x=scalar (repeatable)", .set = CLI_SHAPED},
    {"value", 0, CLI_LIST, AT(value), "INPUT=VALUE",
     .help = "value of an input that decides shapes: k=5, sizes=1,3,8, or sizes=@tensor.pb (repeatable)",
     .set = CLI_SHAPED},
    {"trip", 0, CLI_LIST, AT(trip), "NODE=N", .help = "trip count of a loop, by its name (repeatable)",
     .otherwise = "1", .set = CLI_SHAPED},
    {"default-dim", 0, CLI_INT, AT(default_dim), "N",
     .help = "value of every symbolic dimension without --dim", .range = "a number of at least 1", .least = 1,
     .set = CLI_SHAPED},
    {"no-defaults", 0, CLI_FLAG, AT(analyze.no_defaults),
     .help = "no default sizes: symbolic dimensions stay unknown", .set = CLI_SHAPED},
    {"force", 0, CLI_FLAG, AT(analyze.force_shapes),
     .help = "let --shape override dimensions that the model declares; report a profile of another model",
     .set = CLI_SHAPED},
    {"top", 't', CLI_INT, AT(top), "N", .help = "number of rows; 0: all; -N: all but the last N",
     .unit = "rows", .otherwise = "20; 3 for MegEngine files; all in CSV and JSON",
     .group = "Filtering and sorting"},
    {"all", 'a', CLI_FLAG, AT(all),
     .help = "table of all operators, same as --top 0; bisect: measure every version; help: all options"},
    {"format", 'f', CLI_CHOICE, AT(format),
     "table|csv|json|ndjson|parquet|markdown|md|trace|model-explorer|netron|xlsx|html|junit|sarif|github",
     .help = "output format; ndjson (one object per line): scan; parquet: scan, summary; markdown (md): "
             "costs, diff, check; html: costs, diff, memory, summary, scan, estimate, llm; trace, "
             "model-explorer, netron, xlsx (spreadsheet; needs --output): costs; junit, sarif: check; github "
             "(annotations of GitHub Actions): check, diff",
     .otherwise = "table", .set = CLI_MODEL, .group = "Output"},
    {"embed", 0, CLI_FLAG, AT(embed),
     .help = "with --format html: a fragment for another page, such as a notebook or a dashboard: one "
             "element with its own style, no scripts, tables of at most 100 rows"},
    {"as", 0, CLI_CHOICE, AT(as), "fp16|bf16|fp8|int8|int4|fp16-weights|int8-weights|int4-weights",
     .help = "predicted time of the model in this data type; also f16, f8, i8, i4, as tables write them"},
    {"output", 'o', CLI_TEXT, AT(output), "FILE",
     .help = "output file, written atomically; record: folder or prefix of its files",
     .otherwise = "standard output", .set = CLI_ALL},
    {"width", 'w', CLI_INT, AT(width), "N", .help = "table width; 0: no limit", .unit = "columns",
     .otherwise = "COLUMNS, else the terminal's", .set = CLI_ALL},
    {"color", 0, CLI_CHOICE, AT(color), "auto|always|never", .help = "colour; NO_COLOR is respected",
     .otherwise = "auto", .set = CLI_ALL},
    {"taps", 0, CLI_CHOICE, AT(analyze.taps_valid), "all|valid", .second = true,
     .help = "convolution: count multiplications with padding, or only those with data", .otherwise = "all",
     .set = CLI_MODEL, .group = "Counting"},
    {"weights", 0, CLI_TEXT, AT(analyze.weights), "unit|hw|mac|FILE",
     .help = "FLOPs of a primitive operation: 1 each, about what hardware takes, only multiply-adds, or a "
             "file with lines KEY VALUE",
     .otherwise = "unit", .set = CLI_MODEL},
    {"qdq", 0, CLI_CHOICE, AT(analyze.keep_qdq), "fold|keep", .second = true,
     .help = "dequantization of constants", .otherwise = "fold", .set = CLI_MODEL},
    {"bytes", 0, CLI_CHOICE, AT(bytes), "dram|naive|graph",
     .help = "minimum traffic; every input and output of every node; or, in the totals, only inputs and "
             "outputs of the model",
     .otherwise = "dram", .set = CLI_MODEL},
    {"alias", 0, CLI_CHOICE, AT(analyze.alias_off), "on|off", .second = true,
     .help = "views such as Reshape move no bytes", .otherwise = "on", .set = CLI_MODEL},
    {"if", 0, CLI_CHOICE, AT(if_mode), "max|then|else|avg",
     .help = "branch of an If with an unknown condition; avg: the mean of both", .otherwise = "max",
     .set = CLI_SHAPED},
    {"ceil-mode", 0, CLI_CHOICE, AT(analyze.literal_ceil_mode), "spec|literal", .second = true,
     .help = "pooling with ceil_mode: as runtimes do, or as the old text says", .otherwise = "spec",
     .set = CLI_MODEL},
    {"attention", 0, CLI_CHOICE, AT(analyze.attention_full), "visible|full", .second = true,
     .help = "attention operators: count only unmasked positions, or all", .otherwise = "visible",
     .set = CLI_MODEL},
    {"kv-share", 0, CLI_CHOICE, AT(kv_share), "on|off|auto",
     .help = "attention operators: past and present share a buffer, or as the operator declares",
     .otherwise = "auto", .set = CLI_SHAPED},
    {"einsum", 0, CLI_CHOICE, AT(analyze.einsum_optimal), "left|optimal", .second = true,
     .help =
         "Einsum of three to six operands: from left to right, or in the order with the fewest multiply-adds",
     .otherwise = "left", .set = CLI_MODEL},
    {"trees", 0, CLI_CHOICE, AT(analyze.trees_max), "mean|max", .second = true,
     .help = "tree ensembles: depth of leaves", .otherwise = "mean", .set = CLI_MODEL},
    {"moe-active", 0, CLI_CHOICE, AT(analyze.moe_expected), "max|expected", .second = true,
     .help = "mixtures of experts: weights read of as many experts as can be active (lower bounds: of one "
             "token's), or of those a uniform choice hits",
     .otherwise = "max", .set = CLI_MODEL},
    {"dedup", 0, CLI_CHOICE, AT(analyze.dedup_content), "off|content", .second = true,
     .help = "content: constants with the same bits are counted once (reads the weights)", .otherwise = "off",
     .set = CLI_MODEL},
    {"convention", 0, CLI_LIST, AT(convention), "NAME",
     .help = "counting convention of another tool: mge, mge-stats, onnx-tool, fvcore, torch, calflops, "
             "deepspeed, timm, thop, ptflops, torchinfo, xla",
     .otherwise = "onnxcost", .names = oc_convention_name, .set = CLI_MODEL},
    {"strict-reduce", 0, CLI_FLAG, AT(analyze.strict_reduce), .help = "n - 1 operations for a reduction of n",
     .set = CLI_MODEL},
    {"no-fold", 0, CLI_FLAG, AT(analyze.no_fold), .help = "count nodes whose inputs are all constant",
     .set = CLI_MODEL},
    {"lut", 0, CLI_FLAG, AT(analyze.lut),
     .help = "quantized activations are table lookups without operations", .set = CLI_MODEL},
    {"inplace", 0, CLI_FLAG, AT(analyze.inplace),
     .help = "Scatter operators write into the buffer of their data; the peak of activations: element-wise "
             "ones too, where it dies",
     .set = CLI_MODEL},
    {"rnn-reload", 0, CLI_FLAG, AT(analyze.rnn_reload),
     .help = "recurrent weights are read again in every step", .set = CLI_MODEL},
    {"loop-cached", 0, CLI_FLAG, AT(analyze.loop_cached),
     .help = "read constants of a loop body once, not in every iteration", .set = CLI_MODEL},
    {"prefer-functions", 0, CLI_FLAG, AT(analyze.prefer_functions),
     .help = "functions of the model take precedence over operators of the same name", .set = CLI_SHAPED},
    {.group = "Cost as a function of the sizes"},
    {.group = "Training"},
    {.group = "Sparsity"},
    {"batch", 0, CLI_TEXT, AT(batch), "N",
     .help = "sequences per batch; estimate: batch sizes, a row for each, such as 1,8,64, 1..64*2, or "
             "NAME=1,8 for the dimension NAME",
     .unit = "sequences", .otherwise = "1", .group = "Language models and devices"},
    {"decoder", 0, CLI_TEXT, AT(decoder), "FILE",
     .help = "XML file with further families and fields of a config.json"},
    {"fit", 0, CLI_FLAG, AT(fit), .help = "exit code 1 if the model does not fit the memory of --hw",
     .group = "Memory"},
    {"align", 0, CLI_INT, AT(align), "N", .help = "alignment of activation buffers in bytes", .unit = "bytes",
     .otherwise = "1", .range = "a number of bytes of at least 1", .least = 1, .set = CLI_MODEL},
    {"keep-inputs", 0, CLI_FLAG, AT(analyze.keep_inputs), .help = "graph inputs stay in memory to the end",
     .set = CLI_MODEL},
    {.group = "Summaries of profiles"},
    {"sort", 0, CLI_TEXT, AT(sort), "KEY",
     .help = "order of operators: CPUTotal, CPUAvg, CPUMax, CPUMin, GPUTotal, GPUAvg, GPUMax or GPUMin, or "
             "time (as without --sort); of devices: time, throughput or energy; diff: macs, flops, ops, "
             "bytes, params, time, roofline or order",
     .otherwise = "CPUTotal; estimate: time; diff: what differs"},
    {.group = "Recordings"},
    {"runs", 0, CLI_INT, AT(runs), "N", .help = "runs to measure, after those of --warmup (1)",
     .unit = "runs", .otherwise = "12 and 3 s at least, until the median is known to 2 %",
     .set = CLI_RECORDS},
    {"repeat", 0, CLI_INT, AT(repeat), "K",
     .help = "recordings of each model, library, provider, level, number of threads or session entry, "
             "alternated; bisect and tune: most processes of each in a comparison",
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
     .help = "calibration file from calibrate; without it the estimate is an interval"},
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
enum { N_SHARED = sizeof(shared) / sizeof(shared[0]) };

/* ---- all options ------------------------------------------------------------------------------------- */

/* An option of one command with its group and owner, and the row of the shared ones that follows it. */
struct own_option {
    struct cli_option option;
    size_t place;
};

/* Before the option that `first` names, or at the end of its group; a group that the shared options do not have comes
 * before their last one. */
static size_t place_of(const struct cli_option *first)
{
    bool inside = false;
    size_t last = 0;
    for (size_t i = 0; i < N_SHARED; i++) {
        const struct cli_option *p = &shared[i];
        if (inside && p->group)
            return i;
        last = p->group ? i : last;
        inside = inside || (p->group && !strcmp(p->group, first->group));
        if (inside && p->name && cli_is(first->before, p->name))
            return i;
    }
    return inside ? N_SHARED : last;
}

static void list_own(struct own_option *own)
{
    for (size_t i = 0; i < cli_n_commands; i++) {
        const struct cli_command *c = cli_commands[i];
        for (size_t k = 0; k < c->own.n; k++, own++) {
            const struct cli_option *p = &c->own.option[k];
            *own = (struct own_option){*p, k && !p->group ? own[-1].place : place_of(p)};
            own->option.group = k && !p->group ? own[-1].option.group : p->group;
            own->option.owner = c;
        }
    }
}

/* Returns the options of all commands (heap), and in *n their number. */
static struct cli_option *join_tables(size_t *n)
{
    size_t n_own = 0;
    for (size_t i = 0; i < cli_n_commands; i++)
        n_own += cli_commands[i]->own.n;
    struct own_option *own = cli_xcalloc(n_own, sizeof(*own));
    struct cli_option *all = cli_xcalloc(N_SHARED + n_own, sizeof(*all));
    const char *group = NULL;
    list_own(own);
    for (size_t i = 0; i <= N_SHARED; i++) {
        for (size_t k = 0; k < n_own; k++)
            if (own[k].place == i)
                all[(*n)++] = own[k].option;
        if (i < N_SHARED && shared[i].group)
            group = shared[i].group;
        if (i < N_SHARED && shared[i].name) {
            all[*n] = shared[i];
            all[(*n)++].group = group;
        }
    }
    free(own);
    return all;
}

const struct cli_option *cli_option_nth(size_t i)
{
    static const struct cli_option *all; /* made of constants at the first call; stays until the end */
    static size_t n;
    if (!all)
        all = join_tables(&n);
    return i < n ? &all[i] : NULL;
}

/* Whether `name` is one of `names`, which are separated by blanks. */
bool cli_has_word(const char *names, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = names; p && *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (!strncmp(p, name, n) && (p[n] == ' ' || !p[n]))
            return true;
    return false;
}

bool cli_shows(const struct cli_command *c, const struct cli_option *p)
{
    if (p->owner)
        return p->owner == c;
    return (p->set && (p->set & (c->sets | CLI_ALL)) == p->set) || cli_has_word(c->options, p->name);
}

bool cli_takes(const struct cli_command *c, const struct cli_option *p)
{
    return cli_shows(c, p) || (c->also && cli_takes(c->also, p));
}

/* Options are never abbreviated: a new option must not change what an old command line means. */
const struct cli_option *cli_option_named(const char *name, size_t n, const struct cli_command *c)
{
    const struct cli_option *p, *other = NULL;
    for (size_t i = 0; (p = cli_option_nth(i)); i++) {
        if (strncmp(p->name, name, n) != 0 || p->name[n])
            continue;
        if (cli_takes(c, p))
            return p;
        other = p;
    }
    return other;
}

void *cli_option_value(const struct cli_opts *o, const struct cli_option *p)
{
    if (!cli_takes(o->command, p))
        return NULL;
    return (char *)(p->owner ? o->own : (void *)(uintptr_t)o) + p->offset;
}

/* ---- one argument ------------------------------------------------------------------------------------ */

static const struct cli_option *by_letter(char letter)
{
    const struct cli_option *p;
    for (size_t i = 0; (p = cli_option_nth(i)); i++)
        if (p->letter == letter)
            return p;
    return NULL;
}

bool cli_is_choice(const char *choices, const char *value)
{
    size_t n = value ? strlen(value) : 0;
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

void cli_list_add(struct cli_list *l, const char *text)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 8;
        l->item = cli_xrealloc(l->item, l->cap * sizeof(*l->item));
    }
    l->item[l->n++] = text;
}

/* One argument of argv seen as an option: which one, and its value (maybe the next argument). */
struct taken {
    const struct cli_option *p;
    const char *value;
    int used;                          /* arguments consumed */
    const struct cli_command *command; /* that is called */
};

/* `to`: where the value belongs, NULL if the option is one of another command. Returns -1 after a message in `why`. */
static int options_store(const struct taken *t, void *to, char *why, size_t cap)
{
    const struct cli_option *p = t->p;
    const char *value = p->kind == CLI_CHOICE ? type_of_class(p->name, t->value) : t->value;
    int64_t number = 0;
    if (p->kind == CLI_INT && !parse_int(value, &number)) {
        snprintf(why, cap, "--%s needs an integer, not '%s'", p->name, value);
        return -1;
    }
    if (p->kind == CLI_CHOICE && !cli_is_choice(p->arg, value)) {
        cli_say_choice(p->name, !strcmp(p->name, "format") ? cli_formats(t->command) : p->arg, value, why,
                       cap);
        return -1;
    }
    if (!to)
        return 0;
    if (p->kind == CLI_FLAG)
        *(bool *)to = true;
    else if (p->second)
        *(bool *)to = strchr(p->arg, '|') == p->arg + strlen(p->arg) - strlen(value) - 1;
    else if (p->kind == CLI_LIST || p->kind == CLI_MAYBE)
        cli_list_add(to, value ? value : "");
    else if (p->kind == CLI_INT)
        *(struct cli_int *)to = (struct cli_int){.set = true, .v = number};
    else
        *(const char **)to = value;
    return 0;
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
    t->p = cli_option_named(name, n, t->command);
    if (!t->p) {
        cli_say_unknown_option(argv[0], t->command, why, cap);
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
        cli_say_unknown_option(argv[0], t->command, why, cap);
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

/* ---- all arguments ----------------------------------------------------------------------------------- */

/* The first argument that is not an option names the command; without a name it is the first command. After an unknown
 * option an argument can be its value: only names of commands count then. */
static const struct cli_command *find_command(int argc, char **argv)
{
    char why[256];
    bool sure = true;
    for (int i = 1; i < argc;) {
        struct taken t = {.used = 1, .command = cli_commands[0]};
        bool last = !strcmp(argv[i], "--") && i + 1 < argc;
        const char *word = last ? argv[i + 1] : argv[i];
        if (last || word[0] != '-' || !word[1]) {
            const struct cli_command *c = cli_command_named(word);
            if (c || sure)
                return c ? c : cli_commands[0];
        } else if (options_take(argc - i, argv + i, &t, why, sizeof(why))) {
            sure = false;
        }
        i += t.used;
    }
    return cli_commands[0];
}

int cli_parse(struct cli_opts *o, char *why, size_t cap)
{
    bool only_words = false;
    o->command = find_command(o->argc, o->argv);
    o->own = cli_xcalloc(1, o->command->own.size_bytes);
    for (int i = 1; i < o->argc;) {
        struct taken t = {.used = 1, .command = o->command};
        char **argv = o->argv + i;
        if (only_words || argv[0][0] != '-' || !argv[0][1]) {
            cli_list_add(&o->word, argv[0]);
        } else if (!strcmp(argv[0], "--")) {
            only_words = true;
        } else if (options_take(o->argc - i, argv, &t, why, cap) ||
                   lacks_equals(o->argc - i, argv, &t, why, cap) ||
                   options_store(&t, cli_option_value(o, t.p), why, cap)) {
            return -1;
        }
        i += t.used;
    }
    return 0;
}

/* Finds the next option from *i on, and moves *i past it. Returns false when there is none. The arguments were parsed
 * before. */
static bool next_option(const struct cli_opts *o, int *i, struct taken *t)
{
    char why[256];
    while (*i < o->argc && strcmp(o->argv[*i], "--") != 0) {
        char **argv = o->argv + *i;
        *t = (struct taken){.used = 1, .command = o->command};
        bool option =
            argv[0][0] == '-' && argv[0][1] && !options_take(o->argc - *i, argv, t, why, sizeof(why));
        *i += t->used;
        if (option)
            return true;
    }
    return false;
}

const struct cli_option *cli_foreign_option(const struct cli_opts *o, const char **value)
{
    struct taken t;
    for (int i = 1; next_option(o, &i, &t);)
        if (!cli_takes(o->command, t.p)) {
            *value = t.value;
            return t.p;
        }
    return NULL;
}

void cli_option_values(const struct cli_opts *o, const char *name, struct cli_list *out)
{
    struct taken t;
    for (int i = 1; next_option(o, &i, &t);)
        if (!strcmp(t.p->name, name))
            cli_list_add(out, t.value);
}

static bool is_given(const struct cli_opts *o, const struct cli_option *p)
{
    const void *value = cli_option_value(o, p);
    if (!value)
        return false;
    switch (p->second ? CLI_FLAG : p->kind) {
    case CLI_FLAG:
        return *(const bool *)value;
    case CLI_INT:
        return ((const struct cli_int *)value)->set;
    case CLI_LIST:
    case CLI_MAYBE:
        return ((const struct cli_list *)value)->n > 0;
    default:
        return *(const char *const *)value != NULL;
    }
}

const char *cli_first_given(const struct cli_opts *o, const char *names)
{
    for (size_t n; *names; names += n, names += strspn(names, " ")) {
        n = strcspn(names, " ");
        const struct cli_option *p = cli_option_named(names, n, o->command);
        if (p && is_given(o, p))
            return p->name;
    }
    return NULL;
}

void cli_opts_free(struct cli_opts *o)
{
    const struct cli_option *p;
    free(o->word.item);
    for (size_t i = 0; o->own && (p = cli_option_nth(i)); i++) {
        struct cli_list *list = p->kind == CLI_LIST || p->kind == CLI_MAYBE ? cli_option_value(o, p) : NULL;
        if (list)
            free(list->item);
    }
    free(o->own);
    free(o->made);
}
