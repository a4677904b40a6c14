/* From the arguments to a command: the list of commands, names that do not exist or not here, ranges of numbers, standard
 * input. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/output.h"

#define ROW(name) &cmd_##name,
const struct cli_command *const cli_commands[] = {CLI_COMMANDS(ROW)};
const size_t cli_n_commands = sizeof(cli_commands) / sizeof(cli_commands[0]);

const struct cli_command *cli_command_named(const char *name)
{
    for (size_t i = 0; i < cli_n_commands; i++)
        if (!strcmp(cli_commands[i]->name, name))
            return cli_commands[i];
    return NULL;
}

const char *cli_formats(const struct cli_command *c)
{
    return c->formats ? c->formats : "table|csv|json";
}

/* ---- unknown names ---------------------------------------------------------------------------------- */

/* What to use instead of an option, by its name here or in other tools. The first row that fits. */
static const struct instead {
    const char *names; /* separated by '|' */
    const char *of;    /* an option: the advice is for commands that take it; NULL: for all */
    const char *use;
    const char *before_value; /* the value is appended to this; NULL: `use` has no value */
} insteads[] = {
    {"batch-size", "batch", "--batch N", "--batch "},
    {"batch|batch-size|bs", "dim", "--dim batch=N", "--dim batch="},
    {"seq-len|sequence-length", "dim", "--dim NAME=N with the name of the model's dimension", NULL},
    {"sort|sort-by", "order-by", "--order-by KEY", "--order-by "},
    {"threads", "jobs", "--jobs N", "--jobs "},
    {"device|hardware", NULL, "--hw NAME (onnxcost hw list lists the devices)", "--hw "},
    {"gpu", NULL, "--hw NAME (onnxcost hw list lists the devices)", NULL},
    {"json", NULL, "--format json", NULL},
    {"csv", NULL, "--format csv", NULL},
    {"html", NULL, "--format html", NULL},
    {"markdown", NULL, "--format markdown", NULL},
    {"sarif", NULL, "onnxcost check MODEL ... --format sarif", NULL},
    {"junit", NULL, "onnxcost check MODEL ... --format junit", NULL},
    {"out|output-file|save|save-profile", NULL, "--output FILE", "--output "},
    {"input-shape|dynamic-input", "shape", "--shape INPUT=1x3x224x224", "--shape "},
    {"input", "shape", "the model as an argument without an option, and --shape INPUT=SHAPE", NULL},
    {"model|onnx", NULL, "the model as an argument without an option: onnxcost MODEL", NULL},
    {"trace", NULL, "--profile FILE", "--profile "},
    {"dtype|precision", NULL, "--as TYPE for what the model would take in it", "--as "},
    {"fp16", NULL, "--as fp16", NULL},
    {"int8", NULL, "--as int8", NULL},
    {"list-devices", NULL, "onnxcost hw list", NULL},
    {"filter", NULL, "--type TYPE or --opr-name NAME", NULL},
    {"op-type", NULL, "--type TYPE", "--type "},
    {"name", NULL, "--opr-name NAME", "--opr-name "},
    {"limit-rows|n|rows|head", NULL, "--top N", "--top "},
    {"no-color|no-colour", NULL, "--color never", NULL},
    {"colour", NULL, "--color WHEN", "--color "},
    {"repeat", NULL, "--runs N or --repeat K of onnxcost record", NULL},
    {"fail-on", NULL, "onnxcost check MODEL --max macs=N ... (exit code 1 above a limit)", NULL},
    {"max-memory", NULL, "--max peak-memory=SIZE of onnxcost check", NULL},
};

static const struct instead *find_instead(const char *name, const struct cli_command *c)
{
    for (size_t i = 0; i < sizeof(insteads) / sizeof(insteads[0]); i++) {
        const struct instead *use = &insteads[i];
        const struct cli_option *of = use->of ? cli_option_named(use->of, strlen(use->of), c) : NULL;
        if (cli_is_choice(use->names, name) && (!use->of || (of && cli_takes(c, of))))
            return use;
    }
    return NULL;
}

/* Whether a command takes this option or another one of its name. */
static bool takes_name(const struct cli_option *p, const struct cli_command *c)
{
    size_t n = strlen(p->name);
    const struct cli_option *own =
        p->of ? cli_key_named(p->of, p->name, n, c) : cli_option_named(p->name, n, c);
    return cli_takes(c, own);
}

/* "llm and estimate": the commands that take an option, or (p NULL) have a format. The one without a word has no name. */
static void list_owners(const struct cli_option *p, const char *format, char *out, size_t cap)
{
    const char *names[64];
    size_t n = 0, used = 0;
    for (size_t i = 0; i < cli_n_commands && n < sizeof(names) / sizeof(names[0]); i++) {
        const struct cli_command *c = cli_commands[i];
        if (p ? takes_name(p, c) : cli_is_choice(cli_formats(c), format))
            names[n++] = i ? c->name : "onnxcost MODEL";
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

/* "unknown option '--taps'; use --count taps=all|valid": a key of an option that the command takes. False: there is none. */
static bool report_key(const char *given, const char *name, const struct cli_command *c, char *why,
                       size_t cap)
{
    const struct cli_option *p = cli_key_named(NULL, name, strlen(name), c);
    if (!p || !cli_takes(c, p))
        return false;
    snprintf(why, cap, "unknown option '%s'; use --%s %s%s%s", given, p->of, p->name, p->arg ? "=" : "",
             p->arg ? p->arg : "");
    return true;
}

void cli_say_unknown_key(const struct cli_option *of, const char *text, const struct cli_command *c,
                         char *why, size_t cap)
{
    char where[60], owners[300], given[80];
    const char *list[64];
    size_t n = 0, length = strcspn(text, "=");
    const struct cli_option *p = cli_key_named(of->name, text, length, c);
    snprintf(given, sizeof(given), "%.*s", (int)(length < 70 ? length : 70), text);
    snprintf(where, sizeof(where), "for --%s", of->name);
    if (p) {
        list_owners(p, NULL, owners, sizeof(owners));
        snprintf(why, cap, "--%s %s is for %s, not for this command", of->name, given, owners);
        return;
    }
    for (size_t i = 0; n < sizeof(list) / sizeof(list[0]) && (p = cli_option_nth(i)); i++)
        if (p->of && !strcmp(p->of, of->name) && cli_takes(c, p))
            list[n++] = p->name;
    unknown_say(&(struct oc_unknown){.what = "key", .where = where, .given = given, .valid = list, .n = n},
                NULL, why, cap);
}

void cli_say_unknown_option(const char *argument, const struct cli_command *c, char *why, size_t cap)
{
    char given[80];
    const struct cli_option *p;
    size_t n = strcspn(argument, "="), n_name = 0, most = 0;
    snprintf(given, sizeof(given), "%.*s", (int)(n < 70 ? n : 70), argument);
    const char *name = given + strspn(given, "-");
    const struct instead *use = find_instead(name, c);
    if (!use && report_key(given, name, c, why, cap))
        return;
    while (cli_option_nth(most))
        most++;
    char(*names)[40] = cli_xcalloc(most, sizeof(*names));
    const char **list = cli_xcalloc(most, sizeof(*list));
    for (size_t i = 0; (p = cli_option_nth(i)); i++)
        if (cli_takes(c, p) && !p->of) {
            snprintf(names[n_name], sizeof(names[n_name]), "--%s", p->name);
            list[n_name] = names[n_name];
            n_name++;
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
static int fail_foreign_option(const struct cli_option *p, const char *value, const struct cli_command *c)
{
    char owners[300];
    const char *name = p->name;
    list_owners(p, NULL, owners, sizeof(owners));
    const struct instead *use = find_instead(name, c);
    if (!use)
        return cli_fail(CLI_USAGE, "--%s is an option of %s, not of this command", name, owners);
    if (use->before_value && value)
        return cli_fail(CLI_USAGE, "--%s is an option of %s; here use %s%s", name, owners, use->before_value,
                        value);
    return cli_fail(CLI_USAGE, "--%s is an option of %s; here use %s", name, owners, use->use);
}

/* The names of commands, but for the one that needs none. Returns how many. */
static size_t list_commands(const char **names, size_t most)
{
    size_t n = 0;
    for (size_t i = 1; i < cli_n_commands && n < most; i++)
        names[n++] = cli_commands[i]->name;
    return n;
}

/* The name of a command that `word` may be meant for, NULL: none is near. */
static const char *near_command(const char *word)
{
    const char *names[64];
    return oc_nearest_name(word, names, list_commands(names, sizeof(names) / sizeof(names[0])));
}

/* Commands first: a name that is both is a command. */
int cli_fail_topic(const char *word)
{
    const char *names[96];
    size_t most = sizeof(names) / sizeof(names[0]), n = list_commands(names, most);
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
        const char *words, *use;
    } row[] = {
        {"analyze|flops|info|macs|params", "onnxcost MODEL"},
        {"bench|benchmark|run", "onnxcost record MODEL --report"},
        {"compare", "onnxcost estimate MODEL --hw A --hw B"},
        {"explain", "onnxcost diff MODEL --convention A --convention B"},
        {"inspect", "onnxcost MODEL -a"},
        {"profile", "onnxcost record MODEL --report, or onnxcost MODEL -p FILE for a recorded profile"},
        {"roofline", "onnxcost MODEL --hw NAME -f html"},
        {"trace", "onnxcost MODEL -p FILE -f trace"},
        {"validate", "onnxcost calibrate RECORDING... --check"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        if (cli_is_choice(row[i].words, word))
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

/* 0, or CLI_USAGE after a message: the command has no such --format. */
static int check_output_format(const char *format, const struct cli_command *c)
{
    char owners[200], why[500];
    const char *own = cli_formats(c);
    if (!format || cli_is_choice(own, format))
        return 0;
    list_owners(NULL, format, owners, sizeof(owners));
    cli_say_choice("format", own, format, why, sizeof(why));
    return cli_fail(CLI_USAGE, "--format %s is a format of %s, not of this command%s", format, owners,
                    strpbrk(why, ";"));
}

/* ---- values of options ------------------------------------------------------------------------------ */

/* Checks the ranges of options that are numbers. Returns 0, or CLI_USAGE after a message. */
static int check_numbers(const struct cli_opts *o)
{
    const struct cli_option *p;
    char name[64];
    for (size_t i = 0; (p = cli_option_nth(i)); i++) {
        const struct cli_int *n = p->range ? cli_option_value(o, p) : NULL;
        if (n && n->set && (n->v < p->least || (p->most && n->v > p->most)))
            return cli_fail(CLI_USAGE, "--%s needs %s, not %lld", cli_option_words(p, name, sizeof(name)),
                            p->range, (long long)n->v);
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

/* Fills o->limits. Returns 0, or an exit code after a message. */
static int take_input_limits(struct cli_opts *o)
{
    struct oc_err err;
    for (size_t i = 0; i < o->limit.n; i++)
        if (oc_input_limits_set(&o->limits, o->limit.item[i], &err))
            return cli_fail_err(&err);
    return 0;
}

/* --default-dim as options of the analysis. Returns 0, or CLI_USAGE after a message. */
static int take_default_dim(struct cli_opts *o)
{
    char *end;
    if (!o->default_dim)
        return 0;
    o->analyze.no_defaults = !strcmp(o->default_dim, "none");
    if (o->analyze.no_defaults)
        return 0;
    errno = 0;
    o->analyze.default_dim = strtoll(o->default_dim, &end, 10);
    if (errno || *end || o->analyze.default_dim < 1)
        return cli_fail(CLI_USAGE, "--default-dim needs a number of at least 1, or none, not '%s'",
                        o->default_dim);
    return 0;
}

/* ---- standard input --------------------------------------------------------------------------------- */

static size_t dashes_in(const char *const *text, size_t n)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += text[i] && !strcmp(text[i], "-");
    return found;
}

static size_t count_dashes(const struct cli_opts *o)
{
    const struct cli_option *p;
    size_t n = dashes_in(o->word.item, o->word.n);
    for (size_t i = 0; (p = cli_option_nth(i)); i++) {
        const void *value = p->input ? cli_option_value(o, p) : NULL;
        const struct cli_list *list = p->kind == CLI_LIST ? value : NULL;
        if (value)
            n += list ? dashes_in(list->item, list->n) : dashes_in(value, 1);
    }
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

/* The first word is the command, or the file of the default command. */
static void drop_command(struct cli_opts *o)
{
    if (!o->word.n || strcmp(o->word.item[0], o->command->name) != 0)
        return;
    o->word.n--;
    memmove(o->word.item, o->word.item + 1, o->word.n * sizeof(*o->word.item));
}

static int run_command(struct cli_opts *o)
{
    char why[512];
    if (cli_parse(o, why, sizeof(why)))
        return cli_fail(CLI_USAGE, "%s", why);
    if (o->version)
        return cli_version(o);
    if (o->help)
        return cmd_help.run(o);
    if (!o->word.n && !o->profile.n)
        return cli_fail(CLI_USAGE, "no file is given; try: onnxcost model.onnx, or onnxcost --help");
    const struct cli_command *c = o->command;
    drop_command(o);
    const char *value;
    const struct cli_option *foreign = cli_foreign_option(o, &value);
    int rc = c == cli_commands[0] && o->word.n ? check_command(o->word.item[0]) : 0;
    if (!rc && foreign)
        rc = fail_foreign_option(foreign, value, c);
    rc = rc ? rc : check_output_format(o->format, c);
    rc = rc ? rc : check_terminal(o);
    rc = rc ? rc : check_numbers(o);
    if (!rc && o->hw_set.n && !o->hw.n && !c->names_devices)
        rc = cli_fail(CLI_USAGE, "--hw-set changes a device: name it with --hw");
    rc = rc ? rc : take_input_limits(o);
    rc = rc ? rc : take_default_dim(o);
    rc = rc ? rc : take_stdin(o);
    o->made = cli_page_made(o);
    return rc ? rc : c->run(o);
}

int cli_run(int argc, char **argv)
{
    struct cli_opts o = {.argc = argc, .argv = argv};
    int rc = run_command(&o);
    cli_opts_free(&o);
    return rc;
}
