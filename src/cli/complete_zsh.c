#include "cli/complete.h"

static const char head[] =
    "#compdef onnxcost\n"
    "# zsh completion for onnxcost, made by: onnxcost completion zsh\n"
    "\n"
    "_onnxcost_devices() # one, or several with commas; or a file\n"
    "{\n"
    "    local -a devices\n"
    "    devices=(${${${(f)\"$($program hw list --format csv 2>/dev/null)\"}[2,-1]}%%,*})\n"
    "    compset -P '*,'\n"
    "    compadd -a devices\n"
    "    _files\n"
    "}\n"
    "\n"
    "_onnxcost_operators()\n"
    "{\n"
    "    local -aU operators\n"
    "    operators=(${${${${(f)\"$($program ops --format csv 2>/dev/null)\"}[2,-1]}#*,}%%,*})\n"
    "    compadd -a operators\n"
    "}\n"
    "\n"
    "_onnxcost_either() # words, or a file\n"
    "{\n"
    "    compadd -- $@\n"
    "    _files\n"
    "}\n"
    "\n";

static const char tail[] =
    "_onnxcost()\n"
    "{\n"
    "    local program=$words[1] command= curcontext=$curcontext\n"
    "    local -a options\n"
    "    if ((CURRENT > 2)) && [[ -n $words[2] && -n ${(M)_onnxcost_commands:#$words[2]:*} ]]; then\n"
    "        command=$words[2]\n"
    "        shift words\n"
    "        ((CURRENT--))\n"
    "    fi\n"
    "    _onnxcost_options\n"
    "    _arguments -S $options\n"
    "}\n"
    "\n"
    "if [[ $funcstack[1] == _onnxcost ]]; then\n"
    "    _onnxcost \"$@\"\n"
    "else\n"
    "    compdef _onnxcost onnxcost\n"
    "fi\n";

/* What follows ":name:" in a specification of _arguments. */
static void action(FILE *f, const struct complete_value *v)
{
    if (*v->words)
        fprintf(f, v->what & COMPLETE_FILES ? " _onnxcost_either %s" : "(%s)", v->words);
    else if (v->what & COMPLETE_DEVICES)
        fputs("_onnxcost_devices", f);
    else if (v->what & COMPLETE_OPERATORS)
        fputs("_onnxcost_operators", f);
    else if (v->what & COMPLETE_FILES)
        fputs("_files", f);
}

static void write_option(FILE *f, const struct cli_option *p, bool letter)
{
    char title[80];
    complete_title(p->help, title, sizeof(title));
    bool flag = p->kind == CLI_FLAG || p->kind == CLI_MAYBE;
    fputs(p->kind == CLI_LIST || p->kind == CLI_MAYBE ? " '*" : " '", f);
    if (letter)
        fprintf(f, "-%c%s", p->letter, flag ? "" : "+");
    else
        fprintf(f, "--%s%s", p->name, flag ? "" : "=");
    fprintf(f, "[%s]", title);
    if (!flag) {
        struct complete_value v;
        complete_option(p, &v);
        fprintf(f, ":%s:", p->name);
        action(f, &v);
    }
    fputc('\'', f);
}

static void write_words(FILE *f, const char *command)
{
    struct complete_word word[COMPLETE_MAX_WORDS];
    size_t n = complete_command(command, word), subs = 0;
    unsigned what = 0;
    for (size_t k = 0; k < n; k++) {
        what |= word[k].what;
        if (word[k].word[0])
            fprintf(f, "%s%s", subs++ ? " " : " '1:what:(", word[k].word);
    }
    if (subs)
        fputs(")'", f);
    if (what)
        fprintf(f, " '*:name:%s'", what & COMPLETE_DEVICES ? "_onnxcost_devices" : "_files");
}

static void write_options(FILE *f, const struct cli_command *c, bool first)
{
    fprintf(f, "    %s) options=(", first ? "''" : c->name);
    for (size_t k = 0; k < cli_n_options; k++) {
        if (!(cli_options[k].mask & c->mask))
            continue;
        write_option(f, &cli_options[k], false);
        if (cli_options[k].letter)
            write_option(f, &cli_options[k], true);
    }
    if (first)
        fputs(" '1: :_onnxcost_first'", f);
    write_words(f, c->name);
    fputs(") ;;\n", f);
}

void complete_zsh(FILE *f)
{
    const struct cli_command *c;
    fputs(head, f);
    fputs("typeset -ga _onnxcost_commands=(\n", f);
    for (size_t i = 0; (c = complete_nth(i)); i++) {
        char title[80];
        complete_title(c->title, title, sizeof(title));
        fprintf(f, "    '%s:%s'\n", c->name, title);
    }
    fputs(")\n\n_onnxcost_first() # a command, or a file\n{\n    _describe command _onnxcost_commands\n    "
          "_files\n}\n\n"
          "_onnxcost_options()\n{\n    case $command in\n",
          f);
    write_options(f, &cli_commands[0], true);
    for (size_t i = 0; (c = complete_nth(i)); i++)
        write_options(f, c, false);
    fputs("    esac\n}\n\n", f);
    fputs(tail, f);
}
