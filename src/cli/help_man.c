/* Lists of the manual pages in macros of man(7), from the tables that parsing and help use.
 * src/man/make_pages.sh puts them into the pages: `onnxcost help man LIST`. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "cli/help_pages.h"
#include "cli/limit_arg.h"

/* Text for roff: a backslash and a leading period are literal, '-' is a minus that can be copied. */
static void put(FILE *f, const char *text)
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
    put(f, text);
    fputs(n && text[strlen(text) - 1] != '.' ? ".\n" : "\n", f);
}

static void put_option(FILE *f, const struct cli_option *p)
{
    fputs(".TP\n", f);
    if (p->letter)
        fprintf(f, "\\fB\\-%c\\fR, ", p->letter);
    fputs("\\fB", f);
    put(f, "--");
    put(f, p->name);
    fputs("\\fR", f);
    if (p->arg) {
        fputs(p->kind == CLI_MAYBE ? "\\fI" : " \\fI", f);
        put(f, p->arg);
        fputs("\\fR", f);
    }
    fputc('\n', f);
    put_sentence(f, p->help);
    if (p->unit) {
        fputs("Unit: ", f);
        put(f, p->unit);
        fputs(".\n", f);
    }
    if (p->otherwise) {
        fputs("Default: ", f);
        put(f, p->otherwise);
        fputs(".\n", f);
    }
}

/* The options of a command; record also takes those of cost, which are on its page. */
static bool put_options(FILE *f, const char *command)
{
    const struct cli_command *c = NULL;
    const char *group = NULL;
    for (size_t i = 0; i < cli_n_commands && !c; i++)
        if (!strcmp(cli_commands[i].name, command))
            c = &cli_commands[i];
    unsigned own = c ? c->mask & ~(unsigned)CLI_COST : 0, mask = own ? own : CLI_COST;
    for (size_t i = 0; c && i < cli_n_options; i++) {
        group = cli_options[i].group ? cli_options[i].group : group;
        if (!(cli_options[i].mask & mask))
            continue;
        if (group)
            fprintf(f, ".SS %s\n", group);
        group = NULL;
        put_option(f, &cli_options[i]);
    }
    return c != NULL;
}

static void put_commands(FILE *f)
{
    for (size_t i = 0; i < cli_n_commands; i++) {
        fputs(".PP\n\\fB", f);
        put(f, cli_commands[i].usage);
        fputs("\\fR\n.RS\n", f);
        put_sentence(f, cli_commands[i].title);
        fputs(".RE\n", f);
    }
}

static void put_usage(FILE *f, const char *command)
{
    const char *before = "";
    for (size_t i = 0; i < cli_n_commands; i++)
        if (!strcmp(cli_commands[i].name, command)) {
            fputs(before, f);
            put(f, cli_commands[i].usage);
            fputc('\n', f);
            before = ".br\n";
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

static void put_limits(FILE *f)
{
    struct oc_cap_info c;
    char text[40];
    for (size_t i = 0; oc_cap_info(i, &c); i++) {
        if (i == OC_CAP_COUNT)
            fputs(".SS Fixed limits\n", f);
        fputs(".TP\n\\fB", f);
        put(f, c.name);
        fprintf(f, "\\fR (%s)\n", cli_limit_amount(&c, text, sizeof(text)));
        put_sentence(f, c.text);
    }
}

int cli_help_man(const struct cli_opts *o, FILE *f)
{
    const char *list = o->word.n > 1 ? o->word.item[1] : "", *of = o->word.n > 2 ? o->word.item[2] : "";
    if (!strcmp(list, "options") && put_options(f, of))
        return CLI_OK;
    if (!strcmp(list, "commands"))
        put_commands(f);
    else if (!strcmp(list, "usage"))
        put_usage(f, of);
    else if (!strcmp(list, "profiles"))
        put_profiles(f);
    else if (!strcmp(list, "profile-table"))
        put_profile_table(f);
    else if (!strcmp(list, "limits"))
        put_limits(f);
    else
        return cli_fail(
            CLI_USAGE,
            "no list is called '%s%s%s'; lists: commands, limits, profiles, profile-table, options COMMAND, "
            "usage COMMAND",
            list, *of ? " " : "", of);
    return CLI_OK;
}
