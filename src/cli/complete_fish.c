#include "cli/complete.h"

static const char head[] =
    "# fish completion for onnxcost, made by: onnxcost completion fish\n"
    "\n"
    "function __onnxcost_command\n"
    "    set -l words (commandline -opc)\n"
    "    if set -q words[2]; and contains -- $words[2] $__onnxcost_commands\n"
    "        echo $words[2]\n"
    "    else\n"
    "        echo cost\n"
    "    end\n"
    "end\n"
    "\n"
    "function __onnxcost_is\n"
    "    contains -- (__onnxcost_command) $argv\n"
    "end\n"
    "\n"
    "function __onnxcost_at # number of words so far, and what the last one is\n"
    "    set -l words (commandline -opc)\n"
    "    test (count $words) -eq $argv[1]; or return 1\n"
    "    not set -q argv[2]; or contains -- $words[-1] $argv[2..]\n"
    "end\n"
    "\n"
    "function __onnxcost_devices # one, or several with commas\n"
    "    set -l before (string match -r '.*,' -- (commandline -ct | string replace -r '^--[^=]*=' ''))\n"
    "    set -l program (commandline -opc)[1]\n"
    "    for device in ($program hw list --format csv 2>/dev/null | tail -n +2 | string replace -r ',.*' "
    "'')\n"
    "        echo \"$before$device\"\n"
    "    end\n"
    "end\n"
    "\n"
    "function __onnxcost_operators\n"
    "    set -l program (commandline -opc)[1]\n"
    "    $program ops --format csv 2>/dev/null | tail -n +2 | string replace -r '^[^,]*,([^,]*),.*' '$1' | "
    "sort -u\n"
    "end\n"
    "\n";

/* The commands that take the option. */
static void condition(FILE *f, unsigned mask)
{
    const struct cli_command *c;
    if (mask == CLI_ALL)
        return;
    fputs(" -n '__onnxcost_is", f);
    for (size_t i = 0; (c = complete_nth(i)); i++)
        if (c->mask & mask)
            fprintf(f, " %s", c->name);
    fputc('\'', f);
}

static void write_value(FILE *f, const struct complete_value *v)
{
    fputs(v->what & COMPLETE_FILES ? " -r -F" : " -x", f);
    if (!*v->words && !(v->what & (COMPLETE_DEVICES | COMPLETE_OPERATORS)))
        return;
    fprintf(f, " -a '%s%s%s'", v->words, v->what & COMPLETE_DEVICES ? "(__onnxcost_devices)" : "",
            v->what & COMPLETE_OPERATORS ? "(__onnxcost_operators)" : "");
}

static void write_option(FILE *f, const struct cli_option *p)
{
    char title[80];
    complete_title(p->help, title, sizeof(title));
    fputs("complete -c onnxcost", f);
    condition(f, p->mask);
    if (p->letter)
        fprintf(f, " -s %c", p->letter);
    fprintf(f, " -l %s", p->name);
    if (p->kind != CLI_FLAG && p->kind != CLI_MAYBE) {
        struct complete_value v;
        complete_option(p, &v);
        write_value(f, &v);
    }
    fprintf(f, " -d '%s'\n", title);
}

static void write_words(FILE *f, const char *command)
{
    struct complete_word word[COMPLETE_MAX_WORDS];
    size_t n = complete_command(command, word);
    unsigned what = 0;
    for (size_t k = 0; k < n; k++) {
        what |= word[k].what;
        if (word[k].word[0])
            fprintf(f, "complete -c onnxcost -n '__onnxcost_is %s; and __onnxcost_at 2' -f -a %s\n", command,
                    word[k].word);
        if (word[k].word[0] && (word[k].what & COMPLETE_DEVICES))
            fprintf(f,
                    "complete -c onnxcost -n '__onnxcost_is %s; and contains %s (commandline -opc)' "
                    "-a '(__onnxcost_devices)'\n",
                    command, word[k].word);
    }
    if (!what)
        fprintf(f, "complete -c onnxcost -n '__onnxcost_is %s' -f\n", command);
}

void complete_fish(FILE *f)
{
    const struct cli_command *c;
    fputs(head, f);
    fputs("set -g __onnxcost_commands", f);
    for (size_t i = 0; (c = complete_nth(i)); i++)
        fprintf(f, " %s", c->name);
    fputs("\n\n", f);
    for (size_t i = 0; (c = complete_nth(i)); i++) {
        char title[80];
        complete_title(c->title, title, sizeof(title));
        fprintf(f, "complete -c onnxcost -n '__onnxcost_at 1' -a %s -d '%s'\n", c->name, title);
        write_words(f, c->name);
    }
    for (size_t i = 0; i < cli_n_options; i++)
        write_option(f, &cli_options[i]);
}
