/* What the program says about itself: help, lists for its manual pages, --version, ops, schema. */
#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build_info.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/hardware.h"
#include "onnxcost/profile.h"
#include "onnxcost/record.h"
#include "onnxcost/report.h"
#include "onnxcost/scan.h"

/* The options that most users need. */
static const struct {
    const char *option, *text;
} common[] = {
    {"-p, --profile FILE", "a measured profile of the model"},
    {"    --hw NAME|FILE", "a device: adds roofline time and efficiency"},
    {"-d, --dim NAME=N", "number for a symbolic dimension: batch=8"},
    {"-s, --shape INPUT=SHAPE", "shape of an input: x=1x3x224x224"},
    {"-a, --all", "the table of all operators (-t N: of the N largest)"},
    {"-v, --verbose", "the whole summary: time accounting, assumptions"},
    {"-f, --format FORMAT", "table, csv, json, markdown, html, trace"},
    {"-o, --output FILE", "write to a file"},
};

enum { TEXT_AT = 27, WIDTH = 80 };

/* Words of `text` from column `at` on; `column` is the current column of the line. */
static void wrapped(FILE *f, const char *text, int column, int at)
{
    if (column >= at) {
        fputc('\n', f);
        column = 0;
    }
    fprintf(f, "%*s", at - column, "");
    column = at;
    while (*text) {
        int n = (int)strcspn(text, " ");
        if (n > WIDTH - at) /* choices: continued after a bar */
            n = (int)strcspn(text + 30, "| ") + 31;
        if (column > at && column + 1 + n > WIDTH) {
            fprintf(f, "\n%*s", at, "");
            column = at;
        } else if (column > at) {
            fputc(' ', f);
            column++;
        }
        fprintf(f, "%.*s", n, text);
        column += n;
        text += n + (text[n] == ' ');
    }
    fputc('\n', f);
}

/* Choices that are too long for the line come in front of the text. A key is below its option. */
static void option_line(FILE *f, const struct cli_option *p)
{
    char text[768];
    int column = p->letter ? fprintf(f, "  -%c, --%s", p->letter, p->name)
                 : p->of   ? fprintf(f, "          %s", p->name)
                           : fprintf(f, "      --%s", p->name);
    bool choices = p->arg && p->kind == CLI_CHOICE && (size_t)column + strlen(p->arg) >= WIDTH;
    if (p->arg)
        column += fprintf(f, "%s%s",
                          p->of                  ? "="
                          : p->kind == CLI_MAYBE ? ""
                                                 : " ",
                          choices ? "FORM" : p->arg);
    snprintf(text, sizeof(text), "%s%s%s%s%s%s%s%s%s", choices ? p->arg : "", choices ? ": " : "", p->help,
             p->unit || p->otherwise ? " (" : "", p->unit ? p->unit : "", p->unit && p->otherwise ? "; " : "",
             p->otherwise ? "default: " : "", p->otherwise ? p->otherwise : "",
             p->unit || p->otherwise ? ")" : "");
    wrapped(f, text, column, TEXT_AT);
}

static void example_lines(FILE *f, const struct cli_command *c)
{
    for (size_t i = 0; i < CLI_MOST_EXAMPLES && c->example[i].line; i++)
        wrapped(f, c->example[i].text, fprintf(f, "  %s", c->example[i].line), 6);
}

/* The options that `has` says of a command, or (NULL) all, under the headings of their groups. */
static void each_option(FILE *f, const struct cli_command *c, const char *heading,
                        bool (*has)(const struct cli_command *c, const struct cli_option *p),
                        void (*put)(FILE *f, const struct cli_option *p))
{
    const char *group = "";
    const struct cli_option *p;
    for (size_t i = 0; (p = cli_option_nth(i)); i++) {
        if (c && !has(c, p))
            continue;
        if (strcmp(p->group, group) != 0)
            fprintf(f, heading, p->group);
        group = p->group;
        put(f, p);
    }
}

static void usage_lines(FILE *f, const struct cli_command *c, const char *before)
{
    for (size_t i = 0; i < CLI_MOST_USES && c->use[i].usage; i++) {
        wrapped(f, c->use[i].usage, fprintf(f, "%s", before), 7);
        wrapped(f, c->use[i].title, 0, 11);
        before = "";
    }
}

/* Of --format only the formats of this command. */
static void usual_options(FILE *f, const struct cli_command *c)
{
    const struct cli_option *p;
    size_t n = 0;
    fprintf(f, "\nOptions\n");
    for (size_t i = 0; (p = cli_option_nth(i)); i++) {
        struct cli_option own = *p;
        n += cli_takes(c, p) && !p->of;
        if (!cli_has_word(c->usual, p->of ? p->of : p->name) || !cli_takes(c, p))
            continue;
        if (!strcmp(p->name, "format")) {
            own.arg = cli_formats(c);
            own.help = "output format";
        }
        option_line(f, &own);
    }
    fprintf(f, "\nAll %zu options: onnxcost help %s --all\n", n, c->name);
}

static void print_command(FILE *f, const struct cli_command *c, bool all)
{
    fprintf(f, "Examples\n");
    example_lines(f, c);
    fputc('\n', f);
    usage_lines(f, c, "usage:");
    if (c->usual && !all)
        usual_options(f, c);
    else
        each_option(f, c, "\n%s\n", cli_takes, option_line);
}

/* Everything that can be written on a command line. */
static void print_options(FILE *f)
{
    for (size_t i = 0; i < cli_n_commands; i++)
        usage_lines(f, cli_commands[i], i ? "" : "usage:");
    each_option(f, NULL, "\n%s\n", NULL, option_line);
    fprintf(f, "\nProfile formats\n");
    const char *name, *title;
    for (size_t i = 0; oc_profile_format(i, &name, &title); i++)
        wrapped(f, title, fprintf(f, "  %s", name), TEXT_AT);
}

static void print_help(FILE *f)
{
    fprintf(f, "onnxcost %s: where the time and memory of a neural network go\n", ONNXCOST_VERSION);
    fprintf(f, "usage: onnxcost [COMMAND] MODEL|PROFILE... [options]\n\nCommands\n");
    for (size_t i = 0; i < cli_n_commands; i++)
        fprintf(f, "  %-11s %s\n", i ? cli_commands[i]->name : "(none)", cli_commands[i]->phrase);
    fprintf(f, "\nMost used options\n");
    for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
        fprintf(f, "  %-24s %s\n", common[i].option, common[i].text);
    fprintf(f, "\nMore: onnxcost help COMMAND (examples, usual options; --all: all options),\n"
               "help options, or metrics | profiles | hwdb | rules | budget | limits | json\n");
}

/* ---- lists for manual pages ------------------------------------------------------------------------- */

/* Lists of the manual pages in macros of man(7), from the tables that parsing and help use.
 * src/man/make_pages.sh puts them into the pages: `onnxcost help man LIST`. */

/* Text for roff: a backslash and a leading period are literal, '-' is a minus that can be copied. */
static void help_put(FILE *f, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", f);
    for (; *text; text++)
        if (*text == '\\')
            fputs("\\e", f);
        else if (*text == '-')
            fputs("\\-", f);
        else
            fputc(*text, f);
}

/* A sentence: upper-case first letter, a period at the end. */
static void put_sentence(FILE *f, const char *text)
{
    size_t n = strlen(text);
    if (islower((unsigned char)*text) && (isalpha((unsigned char)text[1]) || !strncmp(text, "a ", 2))) {
        fputc(toupper((unsigned char)*text), f);
        text++;
    }
    help_put(f, text);
    fputs(n && text[strlen(text) - 1] != '.' ? ".\n" : "\n", f);
}

static void put_option(FILE *f, const struct cli_option *p)
{
    char name[64];
    fputs(".TP\n", f);
    if (p->letter)
        fprintf(f, "\\fB\\-%c\\fR, ", p->letter);
    fputs("\\fB", f);
    help_put(f, "--");
    help_put(f, cli_option_words(p, name, sizeof(name)));
    fputs(p->of && p->arg ? "=\\fR" : "\\fR", f);
    if (p->arg) {
        fputs(p->kind == CLI_MAYBE || p->of ? "\\fI" : " \\fI", f);
        help_put(f, p->arg);
        fputs("\\fR", f);
    }
    fputc('\n', f);
    put_sentence(f, p->help);
    if (p->unit) {
        fputs("Unit: ", f);
        help_put(f, p->unit);
        fputs(".\n", f);
    }
    if (p->otherwise) {
        fputs("Default: ", f);
        help_put(f, p->otherwise);
        fputs(".\n", f);
    }
}

static bool put_options(FILE *f, const char *command)
{
    const struct cli_command *c = cli_command_named(command);
    if (c)
        each_option(f, c, ".SS %s\n", cli_shows, put_option);
    return c != NULL;
}

static void put_command(FILE *f, const struct cli_command *c)
{
    for (size_t i = 0; i < CLI_MOST_USES && c->use[i].usage; i++) {
        fputs(".PP\n\\fB", f);
        help_put(f, c->use[i].usage);
        fputs("\\fR\n.RS\n", f);
        put_sentence(f, c->use[i].title);
        fputs(".RE\n", f);
    }
}

static void put_usage(FILE *f, const struct cli_command *c)
{
    for (size_t i = 0; c && i < CLI_MOST_USES && c->use[i].usage; i++) {
        fputs(i ? ".br\n" : "", f);
        help_put(f, c->use[i].usage);
        fputc('\n', f);
    }
}

static void put_profiles(FILE *f)
{
    const char *name, *title, *seen, *lost;
    for (size_t i = 0; oc_profile_format(i, &name, &title) && oc_profile_format_facts(i, &seen, &lost); i++) {
        fprintf(f, ".TP\n\\fB%s\\fR\n", name);
        put_sentence(f, title);
        fputs("Versions seen in real files: ", f);
        put_sentence(f, seen);
        fputs("Lost: ", f);
        put_sentence(f, lost);
    }
}

/* For the README. */
static void put_profile_table(FILE *f)
{
    const char *name, *title, *seen, *lost;
    fputs("| `--profile-format` | what | versions seen in real files | lost |\n|---|---|---|---|\n", f);
    for (size_t i = 0; oc_profile_format(i, &name, &title) && oc_profile_format_facts(i, &seen, &lost); i++)
        fprintf(f, "| `%s` | %s | %s | %s |\n", name, title, seen, lost);
}

/* The default of a limit: "64 MiB", "600 s", "4000000"; bytes in the largest unit that they are a multiple
 * of. Returns `buf`. */
static const char *limit_amount(const struct oc_input_limit_info *c, char *buf, size_t cap)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    uint64_t v = c->otherwise;
    size_t i = 0;
    if (strcmp(c->unit, "B") != 0) {
        snprintf(buf, cap, "%" PRIu64 "%s%s", v, c->unit[0] ? " " : "", c->unit);
        return buf;
    }
    for (; v % 1024 == 0 && i + 1 < sizeof(unit) / sizeof(unit[0]); i++)
        v /= 1024;
    snprintf(buf, cap, "%" PRIu64 " %s", v, unit[i]);
    return buf;
}

static void help_put_limits(FILE *f)
{
    struct oc_input_limit_info c;
    char text[40];
    for (size_t i = 0; oc_input_limit_info(i, &c); i++) {
        if (i == OC_LIMIT_COUNT)
            fputs(".SS Fixed limits\n", f);
        fputs(".TP\n\\fB", f);
        help_put(f, c.name);
        fprintf(f, "\\fR (%s)\n", limit_amount(&c, text, sizeof(text)));
        put_sentence(f, c.text);
    }
}

static bool put_columns(FILE *f, const char *rows)
{
    struct oc_row_column c;
    size_t i = 0;
    for (; oc_row_column(rows, i, &c); i++) {
        fprintf(f, ".TP\n\\fB%s\\fR %s%s%s%s\n", c.name, c.type, *c.unit ? ", " : "", c.unit,
                c.required ? ", never null" : "");
        put_sentence(f, c.what);
    }
    return i > 0;
}

/* `onnxcost help man LIST [COMMAND]`: a list in macros of man(7). Returns the exit code. */
static int help_man(const struct cli_opts *o, FILE *f)
{
    const char *list = o->word.n > 1 ? o->word.item[1] : "", *of = o->word.n > 2 ? o->word.item[2] : "";
    if (!strcmp(list, "options") && put_options(f, of))
        return CLI_OK;
    if (!strcmp(list, "columns") && put_columns(f, of))
        return CLI_OK;
    if (!strcmp(list, "commands"))
        for (size_t i = 0; i < cli_n_commands; i++)
            put_command(f, cli_commands[i]);
    else if (!strcmp(list, "usage"))
        put_usage(f, cli_command_named(of));
    else if (!strcmp(list, "profiles"))
        put_profiles(f);
    else if (!strcmp(list, "profile-table"))
        put_profile_table(f);
    else if (!strcmp(list, "limits"))
        help_put_limits(f);
    else
        return cli_fail(
            CLI_USAGE,
            "no list is called '%s%s%s'; lists: commands, limits, profiles, profile-table, options COMMAND, "
            "usage COMMAND, columns ROWS",
            list, *of ? " " : "", of);
    return CLI_OK;
}

/* ---- manual pages ----------------------------------------------------------------------------------- */

const char *const cli_topics[] = {"metrics", "profiles", "hwdb", "rules", "budget", "limits", "json", "rows"};
const size_t cli_n_topics = sizeof(cli_topics) / sizeof(cli_topics[0]);

/* Whether `word` names a page: a topic, or the name of a page such as onnxcost-record. */
static bool is_page(const char *word)
{
    if (!strncmp(word, "onnxcost", 8))
        return true;
    for (size_t i = 0; i < cli_n_topics; i++)
        if (!strcmp(cli_topics[i], word))
            return true;
    return false;
}

struct page {
    char name[64];       /* onnxcost-metrics */
    char text[PATH_MAX]; /* its text */
    char roff[PATH_MAX]; /* its source in the same folder; else `name`, for man to find */
};

static bool is_page_at(struct page *p, const char *dir)
{
    static const char section[] = "157";
    snprintf(p->text, sizeof(p->text), "%s/%s.txt", dir, p->name);
    if (access(p->text, R_OK))
        return false;
    for (const char *s = section; *s; s++) {
        snprintf(p->roff, sizeof(p->roff), "%s/%s.%c", dir, p->name, *s);
        if (access(p->roff, R_OK) == 0)
            return true;
    }
    snprintf(p->roff, sizeof(p->roff), "%s", p->name);
    return true;
}

/* The pages of a build are in the folder of the program, installed ones next to the hardware files. */
static bool find_page(struct page *p)
{
    char dir[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - sizeof("/man"));
    char *slash = n > 0 ? (dir[n] = '\0', strrchr(dir, '/')) : NULL;
    if (slash) {
        memcpy(slash, "/man", sizeof("/man"));
        if (is_page_at(p, dir))
            return true;
    }
    struct oc_hwdb *db;
    struct oc_err err;
    const char *folder;
    bool found = false;
    if (oc_hwdb_open(NULL, &db, &err))
        return false;
    for (size_t i = 0; !found && (folder = oc_hwdb_folder(db, i)); i++)
        found = (size_t)snprintf(dir, sizeof(dir), "%s/../man", folder) < sizeof(dir) && is_page_at(p, dir);
    oc_hwdb_free(db);
    return found;
}

/* False: there is no man, or it does not find the page; nothing was shown. */
static bool show_with_man(const struct page *p)
{
    fflush(stdout);
    void (*interrupt)(int) = signal(SIGINT, SIG_IGN); /* belongs to the pager */
    pid_t pid = fork();
    if (pid == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        signal(SIGPIPE, SIG_DFL);
        signal(SIGINT, SIG_DFL);
        dup2(nowhere, STDERR_FILENO);
        execlp("man", "man", p->roff, (char *)NULL);
        _exit(CLI_ENVIRONMENT);
    }
    int status = -1;
    bool shown = pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status);
    signal(SIGINT, interrupt);
    return shown;
}

static int help_print_text(const struct page *p, const char *output)
{
    char buf[8192];
    size_t n;
    struct cli_output out;
    FILE *in = fopen(p->text, "r");
    if (!in)
        return cli_fail(CLI_ENVIRONMENT, "cannot read '%s'", p->text);
    int rc = cli_output_open(output, &out);
    while (!rc && (n = fread(buf, 1, sizeof(buf), in)) > 0)
        fwrite(buf, 1, n, out.f);
    fclose(in);
    return rc ? rc : cli_output_close(&out, true);
}

/* Opens the page of `word` with man when standard output is a terminal, else prints its text. Returns the
 * exit code, after a message unless it is 0. */
static int help_page(const struct cli_opts *o, const char *word)
{
    struct page p;
    snprintf(p.name, sizeof(p.name), "%s%s", strncmp(word, "onnxcost", 8) ? "onnxcost-" : "", word);
    if (strchr(word, '/') || !find_page(&p))
        return cli_fail(
            CLI_ENVIRONMENT,
            "manual page '%s': not found in the folders of the program and of the hardware files; "
            "build with make, or run make install",
            p.name);
    if (!o->output && isatty(STDOUT_FILENO) && show_with_man(&p))
        return CLI_OK;
    return help_print_text(&p, o->output);
}

/* ---- the command ------------------------------------------------------------------------------------ */

/* help COMMAND, COMMAND --help; anything else before --help is the argument of a command that is not named.
 */
static int run_help(const struct cli_opts *o)
{
    const char *word = o->word.n ? o->word.item[0] : "";
    const struct cli_command *about = cli_command_named(word);
    bool page = !o->help && !about && is_page(word), lists = !o->help && !strcmp(word, "man");
    bool options = !o->help && !strcmp(word, "options");
    if (o->word.n && !about && !o->help && !page && !lists && !options)
        return cli_fail_topic(word);
    if (page)
        return help_page(o, word);
    struct cli_output out;
    int rc = cli_output_open(o->output, &out);
    if (rc)
        return rc;
    if (lists)
        rc = help_man(o, out.f);
    else if (options)
        print_options(out.f);
    else if (about)
        print_command(out.f, about, o->all);
    else
        print_help(out.f);
    int closed = cli_output_close(&out, rc == 0);
    return rc ? rc : closed;
}

/* ---- version ---------------------------------------------------------------------------------------- */

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

static void write_libraries(FILE *f)
{
    struct oc_library_info l;
    for (size_t i = 0; oc_library(i, &l); i++) {
        fprintf(f, "%-12s %s", l.name, l.found ? l.version : "not found");
        if (l.file[0])
            fprintf(f, "  (%s)", l.file);
        fprintf(f, "  for %s\n", l.use);
    }
}

static void version_write_data(FILE *f)
{
    struct oc_hwdb *db;
    struct oc_err err;
    const char *dir, *name, *title;
    if (oc_hwdb_open(NULL, &db, &err)) {
        fprintf(f, "devices      %s\n", err.msg);
    } else {
        const struct oc_device *const *device;
        size_t n;
        if (oc_hwdb_list(db, &device, &n, &err))
            fprintf(f, "devices      %s\n", err.msg);
        else
            fprintf(f, "devices      %zu\n", n);
        for (size_t i = 0; (dir = oc_hwdb_folder(db, i)); i++)
            fprintf(f, "data         %s\n", dir);
        oc_hwdb_free(db);
    }
    size_t formats = 0, conventions = 0;
    while (oc_profile_format(formats, &name, &title))
        formats++;
    while (oc_convention_name(conventions))
        conventions++;
    fprintf(f, "operators    %zu rules\nprofiles     %zu formats\nconventions  %zu\n", oc_op_count(), formats,
            conventions);
}

static int put_version(const void *opts, const struct cli_output *out, struct oc_err *err)
{
    (void)err;
    fprintf(out->f, "onnxcost %s\n", ONNXCOST_VERSION);
    if (((const struct cli_opts *)opts)->verbose) {
        fprintf(out->f, "commit       %s\n", *ONNXCOST_COMMIT ? ONNXCOST_COMMIT : "unknown");
        fprintf(out->f, "compiler     %s, %zu bits\n", COMPILER, 8 * sizeof(void *));
        write_libraries(out->f);
        version_write_data(out->f);
    }
    return 0;
}

int cli_version(const struct cli_opts *o)
{
    return cli_output_write(o->output, put_version, o);
}

const struct cli_command cmd_help = {
    .name = "help",
    .phrase = "help on a command or topic",
    .use = {{"onnxcost help [COMMAND [--all] | options | TOPIC]",
             "examples and usual options of a command, all options, or a topic"}},
    .run = run_help,
    .options = "all",
    .example = {{"onnxcost help memory --all", "examples and all options of a command"},
                {"onnxcost help options", "all options of all commands"},
                {"onnxcost help limits", "resource limits for untrusted input"}},
};
