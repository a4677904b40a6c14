/* From the arguments to a command: names that do not exist or not here, ranges of numbers, standard
 * input, the table of commands. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/output.h"

/* ---- unknown names ---------------------------------------------------------------------------------- */

/* What to use instead of an option, by its name here or in other tools. The first row that fits. */
static const struct instead {
    const char *name;
    unsigned mask; /* commands for which the advice holds */
    const char *use;
    const char *before_value; /* the value is appended to this; NULL: `use` has no value */
} insteads[] = {
    {"batch", CLI_SHAPED, "--dim batch=N", "--dim batch="},
    {"batch-size", CLI_LLM | CLI_ESTIMATE, "--batch N", "--batch "},
    {"batch-size", CLI_SHAPED, "--dim batch=N", "--dim batch="},
    {"bs", CLI_SHAPED, "--dim batch=N", "--dim batch="},
    {"seq-len", CLI_SHAPED, "--dim NAME=N with the name of the model's dimension", NULL},
    {"sequence-length", CLI_SHAPED, "--dim NAME=N with the name of the model's dimension", NULL},
    {"sort", CLI_COST, "--order-by COLUMN", "--order-by "},
    {"sort-by", CLI_COST, "--order-by COLUMN", "--order-by "},
    {"sort-by", CLI_SUMMARY | CLI_ESTIMATE | CLI_DIFF, "--sort KEY", "--sort "},
    {"order-by", CLI_SUMMARY | CLI_ESTIMATE | CLI_DIFF, "--sort KEY", "--sort "},
    {"threads", CLI_SCAN, "--jobs N", "--jobs "},
    {"device", CLI_ALL, "--hw NAME (onnxcost hw list lists the devices)", "--hw "},
    {"gpu", CLI_ALL, "--hw NAME (onnxcost hw list lists the devices)", NULL},
    {"hardware", CLI_ALL, "--hw NAME (onnxcost hw list lists the devices)", "--hw "},
    {"json", CLI_ALL, "--format json", NULL},
    {"csv", CLI_ALL, "--format csv", NULL},
    {"html", CLI_ALL, "--format html", NULL},
    {"markdown", CLI_ALL, "--format markdown", NULL},
    {"sarif", CLI_ALL, "onnxcost check MODEL ... --format sarif", NULL},
    {"junit", CLI_ALL, "onnxcost check MODEL ... --format junit", NULL},
    {"out", CLI_ALL, "--output FILE", "--output "},
    {"output-file", CLI_ALL, "--output FILE", "--output "},
    {"save", CLI_ALL, "--output FILE", "--output "},
    {"save-profile", CLI_ALL, "--output FILE", "--output "},
    {"input-shape", CLI_SHAPED, "--shape INPUT=1x3x224x224", "--shape "},
    {"input", CLI_SHAPED, "the model as an argument without an option, and --shape INPUT=SHAPE", NULL},
    {"dynamic-input", CLI_SHAPED, "--shape INPUT=1x3x224x224", "--shape "},
    {"model", CLI_ALL, "the model as an argument without an option: onnxcost MODEL", NULL},
    {"onnx", CLI_ALL, "the model as an argument without an option: onnxcost MODEL", NULL},
    {"trace", CLI_ALL, "--profile FILE", "--profile "},
    {"dtype", CLI_ALL, "--as TYPE for what the model would take in it", "--as "},
    {"precision", CLI_ALL, "--as TYPE for what the model would take in it", "--as "},
    {"fp16", CLI_ALL, "--as fp16", NULL},
    {"int8", CLI_ALL, "--as int8", NULL},
    {"list-devices", CLI_ALL, "onnxcost hw list", NULL},
    {"filter", CLI_ALL, "--type TYPE or --opr-name NAME", NULL},
    {"op-type", CLI_ALL, "--type TYPE", "--type "},
    {"name", CLI_ALL, "--opr-name NAME", "--opr-name "},
    {"limit-rows", CLI_ALL, "--top N", "--top "},
    {"n", CLI_ALL, "--top N", "--top "},
    {"rows", CLI_ALL, "--top N", "--top "},
    {"head", CLI_ALL, "--top N", "--top "},
    {"no-color", CLI_ALL, "--color never", NULL},
    {"no-colour", CLI_ALL, "--color never", NULL},
    {"colour", CLI_ALL, "--color WHEN", "--color "},
    {"iterations", CLI_RECORD, "--runs N of onnxcost record", NULL},
    {"repeat", CLI_ALL & ~CLI_RECORD, "--runs N or --repeat K of onnxcost record", NULL},
    {"fail-on", CLI_ALL, "onnxcost check MODEL --max-macs N ... (exit code 1 above a limit)", NULL},
    {"max-memory", CLI_ALL, "--max-peak-memory SIZE of onnxcost check", NULL},
};

static const struct instead *find_instead(const char *name, size_t n, unsigned mask)
{
    for (size_t i = 0; i < sizeof(insteads) / sizeof(insteads[0]); i++)
        if (strlen(insteads[i].name) == n && !memcmp(insteads[i].name, name, n) && (insteads[i].mask & mask))
            return &insteads[i];
    return NULL;
}

/* The command's name in messages: the one without a word has none. */
static const char *command_name(const struct cli_command *c)
{
    return c->mask == CLI_COST ? "onnxcost MODEL" : c->name;
}

/* "llm and estimate"; `sorted` by the table of commands, each name once. format: only those that have it;
 * NULL: all. */
static void add_commands(unsigned mask, const char *format, char *out, size_t cap)
{
    const char *names[64];
    size_t n = 0, used = 0;
    for (size_t i = 0; i < cli_n_commands && n < sizeof(names) / sizeof(names[0]); i++) {
        const char *name = command_name(&cli_commands[i]);
        bool has = !format || cli_is_choice(cli_formats(cli_commands[i].mask), format);
        if ((cli_commands[i].mask & mask) && cli_commands[i].mask != CLI_ALL && has &&
            (!n || strcmp(names[n - 1], name)))
            names[n++] = name;
    }
    out[0] = '\0';
    for (size_t i = 0; i < n && used < cap; i++)
        used += (size_t)snprintf(out + used, cap - used, "%s%s",
                                 i == 0      ? ""
                                 : i + 1 < n ? ", "
                                             : " and ",
                                 names[i]);
}

static void unknown_say(const struct oc_unknown *u, const char *instead, char *why, size_t cap)
{
    struct oc_err err;
    if (instead)
        snprintf(why, cap, "unknown %s '%s'; use %s", u->what, u->given, instead);
    else if (oc_fail_unknown(&err, OC_EARG, u))
        snprintf(why, cap, "%s", err.msg);
}

void cli_say_unknown_option(const char *argument, unsigned mask, char *why, size_t cap)
{
    char given[80];
    size_t n = strcspn(argument, "="), n_name = 0;
    snprintf(given, sizeof(given), "%.*s", (int)(n < 70 ? n : 70), argument);
    const char *name = given + strspn(given, "-");
    const struct instead *use = find_instead(name, strlen(name), mask);
    char(*names)[40] = cli_xcalloc(cli_n_options, sizeof(*names));
    const char **list = cli_xcalloc(cli_n_options, sizeof(*list));
    for (size_t i = 0; i < cli_n_options; i++) {
        snprintf(names[n_name], sizeof(names[n_name]), "--%s", cli_options[i].name);
        if (cli_options[i].mask & mask) {
            list[n_name] = names[n_name];
            n_name++;
        }
    }
    char with_value[120];
    if (use && use->before_value && argument[n]) {
        snprintf(with_value, sizeof(with_value), "%s%.60s", use->before_value, argument + n + 1);
        unknown_say(&(struct oc_unknown){.what = "option", .given = given}, with_value, why, cap);
    } else {
        unknown_say(&(struct oc_unknown){.what = "option",
                                         .given = given,
                                         .valid = list,
                                         .n = n_name,
                                         .more = "onnxcost --help lists the options"},
                    use ? use->use : NULL, why, cap);
    }
    free(list);
    free(names);
}

/* "--batch is an option of llm and estimate; here use --dim batch=8". `value` may be NULL. Returns CLI_USAGE.
 */
static int fail_foreign_option(const char *name, const char *value, unsigned mask)
{
    char owners[300];
    unsigned all = 0;
    for (size_t i = 0; i < cli_n_options; i++)
        if (!strcmp(cli_options[i].name, name))
            all |= cli_options[i].mask;
    add_commands(all, NULL, owners, sizeof(owners));
    const struct instead *use = find_instead(name, strlen(name), mask);
    if (!use)
        return cli_fail(CLI_USAGE, "--%s is an option of %s, not of this command", name, owners);
    if (use->before_value && value)
        return cli_fail(CLI_USAGE, "--%s is an option of %s; here use %s%s", name, owners, use->before_value,
                        value);
    return cli_fail(CLI_USAGE, "--%s is an option of %s; here use %s", name, owners, use->use);
}

/* The name of a command that `word` may be meant for, NULL: none is near. */
static const char *near_command(const char *word)
{
    const char *names[64];
    size_t n = 0;
    for (size_t i = 0; i < cli_n_commands && n < sizeof(names) / sizeof(names[0]); i++)
        if (cli_commands[i].mask != CLI_COST)
            names[n++] = cli_commands[i].name;
    return oc_nearest_name(word, names, n);
}

/* Commands first: a name that is both is a command. */
int cli_fail_topic(const char *word)
{
    const char *names[96];
    size_t n = 0, most = sizeof(names) / sizeof(names[0]);
    for (size_t i = 0; i < cli_n_commands && n < most; i++)
        if (cli_commands[i].mask != CLI_COST)
            names[n++] = cli_commands[i].name;
    for (size_t i = 0; i < cli_n_topics && n < most; i++)
        names[n++] = cli_topics[i];
    if (n < most)
        names[n++] = "options";
    const char *near = oc_nearest_name(word, names, n);
    if (near)
        return cli_fail(CLI_USAGE, "unknown command or topic '%s'; did you mean '%s'?", word, near);
    return cli_fail(CLI_USAGE, "unknown command or topic '%s'; onnxcost help lists the commands and topics",
                    word);
}

/* Words that people try, and what does it here. */
static const char *command_instead(const char *word)
{
    static const struct {
        const char *word, *use;
    } row[] = {
        {"analyze", "onnxcost MODEL"},
        {"bench", "onnxcost record MODEL --report"},
        {"benchmark", "onnxcost record MODEL --report"},
        {"compare", "onnxcost estimate MODEL --hw A --hw B"},
        {"explain", "onnxcost diff MODEL --convention A --convention B"},
        {"flops", "onnxcost MODEL"},
        {"info", "onnxcost MODEL"},
        {"inspect", "onnxcost MODEL -a"},
        {"macs", "onnxcost MODEL"},
        {"params", "onnxcost MODEL"},
        {"profile", "onnxcost record MODEL --report, or onnxcost MODEL -p FILE for a recorded profile"},
        {"roofline", "onnxcost MODEL --hw NAME -f html"},
        {"run", "onnxcost record MODEL --report"},
        {"trace", "onnxcost MODEL -p FILE -f trace"},
        {"validate", "onnxcost calibrate RECORDING... --check"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        if (!strcmp(row[i].word, word))
            return row[i].use;
    return NULL;
}

static int fail_command(const char *word)
{
    const char *use = command_instead(word);
    if (use)
        return cli_fail(CLI_USAGE, "unknown command '%s'; use %s", word, use);
    const char *near = near_command(word);
    if (near)
        return cli_fail(CLI_USAGE, "unknown command '%s'; did you mean '%s'?", word, near);
    return cli_fail(CLI_USAGE, "unknown command '%s'; onnxcost help lists the commands", word);
}

/* 0, or an exit code after a message: the first word is neither a command nor a file. */
static int check_command(const char *word)
{
    if (!*word || strpbrk(word, "./:-") || access(word, F_OK) == 0)
        return 0;
    if (command_instead(word) || near_command(word))
        return fail_command(word);
    return cli_fail(CLI_INPUT,
                    "cannot read '%s': no such file, and no command has this name; onnxcost help lists the "
                    "commands",
                    word);
}

void cli_say_choice(const char *name, const char *choices, const char *value, char *why, size_t cap)
{
    char where[60], *copy = cli_xstrndup(choices, strlen(choices)), *rest = copy;
    const char *list[64];
    size_t n = 0;
    snprintf(where, sizeof(where), "for --%s", name);
    for (char *p; n < sizeof(list) / sizeof(list[0]) && (p = strsep(&rest, "|"));)
        list[n++] = p;
    unknown_say(&(struct oc_unknown){.what = "value", .where = where, .given = value, .valid = list, .n = n},
                NULL, why, cap);
    free(copy);
}

static const struct {
    unsigned mask;
    const char *formats;
} formats_of[] = {
    {CLI_RECORD, "table|csv|json|markdown|md|html|trace|model-explorer|netron"},
    {CLI_COST, "table|csv|json|markdown|md|html|trace|model-explorer|netron|xlsx"},
    {CLI_DIFF, "table|csv|json|markdown|md|html|github"},
    {CLI_CHECK, "table|csv|json|markdown|md|junit|sarif|github"},
    {CLI_SCAN, "table|csv|ndjson|json|html|parquet"},
    {CLI_SUMMARY, "table|csv|json|html|parquet"},
    {CLI_PROVIDERS, "table|csv|json"},
    {CLI_MEMORY | CLI_ESTIMATE | CLI_LLM, "table|csv|json|html"},
    {CLI_ALL, "table|csv|json"},
};

const char *cli_formats(unsigned mask)
{
    size_t i = 0;
    while (!(formats_of[i].mask & mask))
        i++;
    return formats_of[i].formats;
}

/* 0, or CLI_USAGE after a message: the command of this mask has no such --format. */
static int check_output_format(const char *format, unsigned mask)
{
    char owners[200], why[500];
    unsigned others = 0;
    const char *own = cli_formats(mask);
    if (!format || cli_is_choice(own, format))
        return 0;
    for (size_t i = 0; i + 1 < sizeof(formats_of) / sizeof(formats_of[0]); i++)
        others |= cli_is_choice(formats_of[i].formats, format) ? formats_of[i].mask : 0;
    add_commands(others, format, owners, sizeof(owners));
    cli_say_choice("format", own, format, why, sizeof(why));
    if (others)
        return cli_fail(CLI_USAGE, "--format %s is a format of %s, not of this command%s", format, owners,
                        strpbrk(why, ";"));
    return cli_fail(CLI_USAGE, "%s", why);
}

/* ---- values of options ------------------------------------------------------------------------------ */

/* Checks the ranges of options that are numbers. Returns 0, or CLI_USAGE after a message. */
static int check_numbers(const struct cli_opts *o)
{
    const struct {
        const char *name, *range;
        const struct cli_int *given;
        int64_t least, most;
    } number[] = {
        {"default-dim", "a number of at least 1", &o->default_dim, 1, INT64_MAX},
        {"align", "a number of bytes of at least 1", &o->align, 1, INT64_MAX},
        {"warmup", "a number of runs", &o->warmup, 0, INT32_MAX},
        {"prompt", "a number of tokens of at least 1", &o->prompt, 1, INT64_MAX},
        {"generate", "a number of tokens of at least 1", &o->generate, 1, INT64_MAX},
        {"iterations", "a number of runs of at least 1", &o->iterations, 1, INT32_MAX},
        {"samples-per-step", "a number of at least 1", &o->samples_per_step, 1, INT64_MAX},
        {"jobs", "a number from 1 to 1024", &o->jobs, 1, 1024},
    };
    for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++) {
        const struct cli_int *n = number[i].given;
        if (n->set && (n->v < number[i].least || n->v > number[i].most))
            return cli_fail(CLI_USAGE, "--%s needs %s, not %lld", number[i].name, number[i].range,
                            (long long)n->v);
    }
    return 0;
}

/* Binary formats do not go to a terminal. Returns 0, or CLI_USAGE after a message. */
static int check_terminal(const struct cli_opts *o)
{
    bool binary = cli_is(o->format, "parquet") || cli_is(o->format, "xlsx");
    bool standard = !o->output || !strcmp(o->output, "-");
    if (!binary || !standard || !isatty(STDOUT_FILENO))
        return 0;
    return cli_fail(CLI_USAGE, "--format %s is binary: give --output FILE", o->format);
}

/* --embed: the format "html" becomes "fragment". Returns 0, or CLI_USAGE after a message. */
static int take_embed(struct cli_opts *o)
{
    if (!o->embed)
        return 0;
    if (!cli_is(o->format, "html"))
        return cli_fail(CLI_USAGE, "--embed writes a part of an HTML page: add --format html");
    o->format = "fragment";
    return 0;
}

/* Fills o->limits. Returns 0, or an exit code after a message. */
static int take_input_limits(struct cli_opts *o)
{
    struct oc_err err;
    for (size_t i = 0; i < o->limit.n; i++)
        if (oc_input_limits_set(&o->limits, o->limit.item[i], &err))
            return cli_fail_err(&err);
    o->limits.external_anywhere = cli_is(o->external_data, "anywhere");
    return 0;
}

/* ---- standard input --------------------------------------------------------------------------------- */

static size_t count_dashes(const struct cli_opts *o)
{
    const struct cli_list *const lists[] = {&o->word, &o->profile};
    const char *const files[] = {o->optimized_model, o->b_optimized_model};
    size_t n = 0;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        for (size_t k = 0; k < lists[i]->n; k++)
            n += !strcmp(lists[i]->item[k], "-");
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        n += files[i] && !strcmp(files[i], "-");
    return n;
}

static uint64_t most_bytes(const struct cli_opts *o)
{
    struct oc_input_limit_info info;
    oc_input_limit_info(OC_LIMIT_FILE_BYTES, &info);
    uint64_t set = o->limits.most[OC_LIMIT_FILE_BYTES];
    return set ? set : info.otherwise;
}

static bool side_write_all(int fd, const char *data, size_t n)
{
    while (n) {
        ssize_t done = write(fd, data, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        data += done;
        n -= (size_t)done;
    }
    return true;
}

/* All of standard input into `fd`. */
static int side_copy(int fd, uint64_t most)
{
    static char piece[1 << 16];
    uint64_t bytes = 0;
    for (;;) {
        ssize_t n = read(STDIN_FILENO, piece, sizeof(piece));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cli_fail(CLI_INPUT, "cannot read '-': %s", strerror(errno));
        if (!n)
            return 0;
        bytes += (uint64_t)n;
        if (bytes > most)
            return cli_fail(CLI_INPUT,
                            "cannot read '-': more than %llu bytes on standard input: raise the limit with "
                            "--limit file-bytes=N",
                            (unsigned long long)most);
        if (!side_write_all(fd, piece, (size_t)n))
            return cli_fail(CLI_ENVIRONMENT, "cannot keep standard input in memory: %s", strerror(errno));
    }
}

/* If an input file is "-": makes standard input a regular file in memory when it is a pipe (the library reads
 * "-" more than once), within the limit file-bytes. Returns 0, or an exit code after a message. */
static int take_stdin(const struct cli_opts *o)
{
    struct stat st;
    size_t n = count_dashes(o);
    if (!n)
        return 0;
    if (n > 1)
        return cli_fail(CLI_USAGE, "'-' is given %zu times: standard input is one file, name the others", n);
    if (isatty(STDIN_FILENO))
        return cli_fail(CLI_USAGE, "cannot read '-': standard input is a terminal: redirect a file into it");
    if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode))
        return 0;
    int fd = memfd_create("standard input", MFD_CLOEXEC);
    if (fd < 0)
        return cli_fail(CLI_ENVIRONMENT, "cannot keep standard input in memory: %s", strerror(errno));
    int rc = side_copy(fd, most_bytes(o));
    if (!rc && dup2(fd, STDIN_FILENO) < 0)
        rc = cli_fail(CLI_ENVIRONMENT, "cannot keep standard input in memory: %s", strerror(errno));
    close(fd);
    return rc;
}

/* ---- run -------------------------------------------------------------------------------------------- */

static const struct cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < cli_n_commands; i++)
        if (!strcmp(cli_commands[i].name, name))
            return &cli_commands[i];
    return NULL;
}

/* The first word is a command, or the file of the default command. */
static const struct cli_command *take_command(struct cli_opts *o)
{
    const struct cli_command *c = o->word.n ? find_command(o->word.item[0]) : NULL;
    if (!c)
        return &cli_commands[0];
    o->word.n--;
    memmove(o->word.item, o->word.item + 1, o->word.n * sizeof(*o->word.item));
    return c;
}

static int run_command(int argc, char **argv, struct cli_opts *o)
{
    char why[512];
    if (cli_parse(argc, argv, o, why, sizeof(why)))
        return cli_fail(CLI_USAGE, "%s", why);
    if (o->version)
        return cli_version(o);
    if (o->help)
        return cmd_help(o);
    if (!o->word.n && !o->profile.n)
        return cli_fail(CLI_USAGE, "no file is given; try: onnxcost model.onnx, or onnxcost --help");
    const struct cli_command *c = take_command(o);
    const char *value, *foreign = cli_foreign_option(argc, argv, c->mask, &value);
    int rc = c == &cli_commands[0] && o->word.n ? check_command(o->word.item[0]) : 0;
    if (!rc && foreign)
        rc = fail_foreign_option(foreign, value, c->mask);
    if (!rc)
        rc = check_output_format(o->format, c->mask);
    if (!rc)
        rc = check_terminal(o);
    if (!rc)
        rc = take_embed(o);
    if (!rc)
        rc = check_numbers(o);
    bool own = c->mask & (CLI_HW | CLI_ESTIMATE); /* names devices, or says that it needs one */
    if (!rc && o->hw_set.n && !o->hw.n && !own)
        rc = cli_fail(CLI_USAGE, "--hw-set changes a device: name it with --hw");
    if (!rc)
        rc = take_input_limits(o);
    if (!rc)
        rc = take_stdin(o);
    o->ranges = c->run == cmd_cost || c->run == cmd_check;
    return rc ? rc : c->run(o);
}

int cli_run(int argc, char **argv)
{
    struct cli_opts o = {.argc = argc, .argv = argv};
    int rc = run_command(argc, argv, &o);
    cli_opts_free(&o);
    return rc;
}

/* ---- commands --------------------------------------------------------------------------------------- */

/* The commands in the order of the help: add a command here, its function in a file cmd_*.c. */

const struct cli_command cli_commands[] = {
    {"cost", "onnxcost MODEL [options]", "costs of every operator of an ONNX model, with --profile its times",
     CLI_COST, cmd_cost, "FLOPs, bytes, memory and time of every operator"},
    {"cost", "onnxcost PROFILE [options]", "a measured profile alone", CLI_COST, cmd_cost, NULL},
    {"llm", "onnxcost llm MODEL [--batch N] [--prompt N] [--generate N] [--hw NAME,NAME]",
     "a decoder with a KV cache: cost of prefill and of a decode step, lower bounds on devices", CLI_LLM,
     cmd_llm, "decoders with a KV cache: prefill, decode, devices"},
    {"scan", "onnxcost scan DIR|FILE... [-j N] [-f ndjson] [-o FILE]",
     "many models, one row per model; a model that cannot be read is a row too", CLI_SCAN, cmd_scan,
     "many models, one row per model"},
    {"memory", "onnxcost memory MODEL [options]",
     "peak activation memory, liveness and arena offsets, and whether the model fits a device", CLI_MEMORY,
     cmd_memory, "peak activation memory, liveness, arena offsets, fit"},
    {"providers", "onnxcost providers [MODEL --providers NAME,NAME]",
     "which execution provider takes which node by its published operator list, and what falls back",
     CLI_PROVIDERS, cmd_providers, "what falls back on CUDA, TensorRT, QNN, CoreML, WebNN"},
    {"summary", "onnxcost summary PROFILE...",
     "where the time of a profile goes: devices, runs, operators, kernels", CLI_SUMMARY, cmd_summary,
     "summary tables of a profile"},
    {"record", "onnxcost record MODEL... [--runs N] [--threads N]... [--repeat K] [--report]",
     "runs a model on ONNX Runtime and writes its profile", CLI_RECORD | CLI_COST, cmd_record,
     "run a model on ONNX Runtime and write its profile"},
    {"bisect", "onnxcost bisect MODEL --ort-lib FOLDER | --ort-lib FILE --ort-lib FILE...",
     "which version of ONNX Runtime made a model slower or faster, and in which operators", CLI_BISECT,
     cmd_bisect, "find the runtime version that changed the time"},
    {"tune", "onnxcost tune MODEL [--threads N] [--repeat K]",
     "which settings of ONNX Runtime are shown to make a model faster, with the code that sets them",
     CLI_TUNE, cmd_tune, "find faster settings of ONNX Runtime"},
    {"calibrate", "onnxcost calibrate RECORDING... --hw NAME [-o FILE.xml | --check]",
     "per-kernel cost curves fitted from recorded profiles; --check: their errors", CLI_CALIBRATE,
     cmd_calibrate, "fit per-kernel cost curves from recorded profiles"},
    {"estimate", "onnxcost estimate MODEL --hw NAME [--calibration FILE.xml]",
     "predicted latency of a model, its interval and its basis", CLI_ESTIMATE, cmd_estimate,
     "predict the latency of a model, rank devices"},
    {"estimate", "onnxcost estimate MODEL --hw NAME --hw NAME... [--batch LIST] [--sort KEY]",
     "the same for several devices and batches, ranked by time, throughput or energy", CLI_ESTIMATE,
     cmd_estimate, NULL},
    {"hw", "onnxcost hw list | show NAME | diff NAME NAME | lint [FILE...]",
     "the devices that --hw accepts: list, figures, comparison, check of hardware files", CLI_HW, cmd_hw,
     "devices: list, show, diff, lint, measure"},
    {"hw", "onnxcost hw measure [-o FILE.xml] [--threads N]",
     "measures this machine and makes a hardware file of it", CLI_HW, cmd_hw, NULL},
    {"diff", "onnxcost diff A.onnx B.onnx | [MODEL] -p A.json -p B.json | MODEL --hw A --hw B",
     "two models, or one with two profiles, devices or shapes, or two profiles without a model: what was "
     "added, removed and changed",
     CLI_DIFF, cmd_diff, "compare two models, profiles, devices or shapes"},
    {"diff", "onnxcost diff MODEL --convention A --convention B",
     "the difference between two ways of counting, term by term", CLI_DIFF, cmd_diff, NULL},
    {"check", "onnxcost check MODEL --budget FILE | --max-macs N | --baseline FILE | ...",
     "compares a model with limits: exit code 1 and the reasons when one fails", CLI_CHECK, cmd_check,
     "compare a model with limits or a baseline, for CI"},
    {"ops", "onnxcost ops", "supported operators and their cost formulas", CLI_OPS, cmd_ops,
     "supported operators and their cost formulas"},
    {"mcp", "onnxcost mcp [--root DIR]",
     "a server of the Model Context Protocol on standard input and output: tools for agents", CLI_MCP,
     cmd_mcp, "tools for agents (Model Context Protocol)"},
    {"completion", "onnxcost completion bash | zsh | fish",
     "a script with which a shell completes commands, options, devices and files", CLI_COMPLETION,
     cmd_completion, "shell completion for bash, zsh and fish"},
    {"schema", "onnxcost schema", "the JSON Schema of --format json of the report", CLI_SCHEMA, cmd_schema,
     "JSON Schema of --format json"},
    {"help", "onnxcost help [COMMAND | options | TOPIC]",
     "examples and options of a command, all options, or a topic", CLI_HELP, cmd_help,
     "help on a command or topic"},
};
const size_t cli_n_commands = sizeof(cli_commands) / sizeof(cli_commands[0]);
