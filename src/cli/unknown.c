#include "cli/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

/* What to use instead of an option, by its name here or in other tools. The first row that fits. */
static const struct instead {
    const char *name;
    unsigned mask; /* commands for which the advice holds */
    const char *use;
    const char *before_value; /* the value is appended to this; NULL: `use` has no value */
} insteads[] = {
    {"batch", CLI_SHAPED, "--dim batch=N", "--dim batch="},
    {"batch-size", CLI_LLM | CLI_COMPARE, "--batch N", "--batch "},
    {"batch-size", CLI_SHAPED, "--dim batch=N", "--dim batch="},
    {"bs", CLI_SHAPED, "--dim batch=N", "--dim batch="},
    {"seq-len", CLI_SHAPED, "--dim NAME=N with the name of the model's dimension", NULL},
    {"sequence-length", CLI_SHAPED, "--dim NAME=N with the name of the model's dimension", NULL},
    {"sort", CLI_COST, "--order-by COLUMN", "--order-by "},
    {"sort-by", CLI_COST, "--order-by COLUMN", "--order-by "},
    {"sort-by", CLI_SUMMARY | CLI_COMPARE | CLI_DIFF, "--sort KEY", "--sort "},
    {"order-by", CLI_SUMMARY | CLI_COMPARE | CLI_DIFF, "--sort KEY", "--sort "},
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
    {"filter", CLI_ALL, "--type TYPE or --opr-name REGEX", NULL},
    {"op-type", CLI_ALL, "--type TYPE", "--type "},
    {"name", CLI_ALL, "--opr-name REGEX", "--opr-name "},
    {"limit-rows", CLI_ALL, "--top N", "--top "},
    {"n", CLI_ALL, "--top N", "--top "},
    {"rows", CLI_ALL, "--top N", "--top "},
    {"head", CLI_ALL, "--top N", "--top "},
    {"no-color", CLI_ALL, "--color never", NULL},
    {"no-colour", CLI_ALL, "--color never", NULL},
    {"colour", CLI_ALL, "--color WHEN", "--color "},
    {"iterations", CLI_RECORD, "--runs N of onnxcost record", NULL},
    {"repeat", CLI_ALL, "--runs N of onnxcost record", NULL},
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

/* "llm and compare"; `sorted` by the table of commands, each name once. format: only those that have it;
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

int cli_fail_foreign_option(const char *name, const char *value, unsigned mask)
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

static int fail_command(const char *word)
{
    const char *near = near_command(word);
    if (near)
        return cli_fail(CLI_USAGE, "unknown command '%s'; did you mean '%s'?", word, near);
    return cli_fail(CLI_USAGE, "unknown command '%s'; onnxcost help lists the commands", word);
}

int cli_check_command(const char *word)
{
    if (!*word || strpbrk(word, "./:-") || access(word, F_OK) == 0)
        return 0;
    if (near_command(word))
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
    {CLI_RECORD, "table|compact|csv|json|markdown|md|html|trace|model-explorer|netron"},
    {CLI_COST, "table|compact|csv|json|markdown|md|html|trace|model-explorer|netron|xlsx"},
    {CLI_DIFF, "table|csv|json|markdown|md|html|github"},
    {CLI_CHECK, "table|csv|json|markdown|md|junit|sarif|github"},
    {CLI_SCAN, "table|csv|ndjson|json|html|parquet"},
    {CLI_SUMMARY, "table|csv|json|html|parquet"},
    {CLI_EXPLAIN, "table|json"},
    {CLI_PROVIDERS, "table|csv|json"},
    {CLI_MEMORY | CLI_COMPARE | CLI_ESTIMATE | CLI_LLM, "table|csv|json|html"},
    {CLI_ALL, "table|csv|json"},
};

const char *cli_formats(unsigned mask)
{
    size_t i = 0;
    while (!(formats_of[i].mask & mask))
        i++;
    return formats_of[i].formats;
}

int cli_check_format(const char *format, unsigned mask)
{
    char owners[200], why[500];
    unsigned others = 0;
    const char *own = cli_formats(mask);
    if (!format || !strcmp(format, "compact") || cli_is_choice(own, format))
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
