/* onnxcost completion: a script for a shell, made of the tables of commands and options. One writer a shell.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/profile.h"
#include "onnxcost/report.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Candidates at a position: some of these words, or what enum cli_value names. */
struct complete_value {
    unsigned what;
    char words[900]; /* with blanks between them; "": none */
};

enum { COMPLETE_MAX_WORDS = 16 };
struct complete_word {
    char word[24];
    unsigned what;
};

static void add_word(char *words, size_t cap, const char *word, size_t n)
{
    size_t used = strlen(words);
    if (used + n + 2 < cap)
        snprintf(words + used, cap - used, "%s%.*s", used ? " " : "", (int)n, word);
}

/* A choice is written as it is typed; names of what is to be typed are in capitals. */
static bool is_literal(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!islower((unsigned char)s[i]) && !isdigit((unsigned char)s[i]) && s[i] != '-')
            return false;
    return n > 0;
}

/* What is typed of a key: with each of its values, up to them, or (a flag) alone. */
static void add_key(char *words, size_t cap, const struct cli_option *key)
{
    char text[64];
    for (const char *s = key->arg ? key->arg : ""; s; s = strchr(s, '|'), s = s ? s + 1 : NULL) {
        size_t n = strcspn(s, "|");
        bool literal = is_literal(s, n);
        snprintf(text, sizeof(text), "%s%s%.*s", key->name, key->arg ? "=" : "", literal ? (int)n : 0, s);
        if (literal || s == key->arg || !key->arg)
            add_word(words, cap, text, strlen(text));
    }
}

/* The value of an option; empty for one that takes none, or any text. */
static void complete_option(const struct cli_option *p, struct complete_value *out)
{
    *out = (struct complete_value){0};
    if (p->kind == CLI_FLAG || p->kind == CLI_MAYBE || !p->arg)
        return;
    for (const char *s = p->arg; *s; s += *s == '|') {
        size_t n = strcspn(s, "|");
        if (is_literal(s, n))
            add_word(out->words, sizeof(out->words), s, n);
        s += n;
    }
    if (strstr(p->arg, "FILE"))
        out->what |= CLI_FILES;
    out->what |= p->complete;
    const struct cli_option *key;
    for (size_t i = 0; p->kind == CLI_KEYS && (key = cli_option_nth(i)); i++)
        if (key->of && !strcmp(key->of, p->name))
            add_key(out->words, sizeof(out->words), key);
    const char *word;
    for (size_t i = 0; p->names && (word = p->names(i)); i++)
        add_word(out->words, sizeof(out->words), word, strlen(word));
}

/* ---- commands --------------------------------------------------------------------------------------- */

/* What a part of a usage, up to its options, wants: "MODEL", "show NAME", "lint [FILE...]". */
static unsigned wanted(const char *s, size_t n)
{
    static const struct {
        const char *word;
        unsigned what;
    } known[] = {
        {"NAME", CLI_DEVICES | CLI_FILES},
        {"FILE", CLI_FILES},
        {"MODEL", CLI_FILES},
        {"PROFILE", CLI_FILES},
        {"RECORDING", CLI_FILES},
        {"REPORT", CLI_FILES},
        {"FOLDER", CLI_FILES},
    };
    unsigned what = 0;
    for (size_t i = 0; i < n && s[i] != '-'; i++)
        for (size_t k = 0; k < COUNT(known); k++)
            if (!strncmp(s + i, known[k].word, strlen(known[k].word)))
                what |= known[k].what;
    return what;
}

static void complete_add_part(const char *s, size_t n, struct complete_word *out, size_t *n_out)
{
    struct complete_word w = {.what = wanted(s, n)};
    size_t word = strcspn(s, " |");
    if (word < sizeof(w.word) && is_literal(s, word) && *s != '-')
        memcpy(w.word, s, word);
    if (*n_out < COMPLETE_MAX_WORDS)
        out[(*n_out)++] = w;
}

/* Arguments of a command: the words in its usage, each with its own arguments, or, for a command without such
 * words, names. Returns their number; word "": the command itself. */
static size_t complete_command(const struct cli_command *c, struct complete_word out[COMPLETE_MAX_WORDS])
{
    size_t n = 0;
    for (size_t i = 0; i < CLI_MOST_USES && c->use[i].usage; i++) {
        const char *s = c->use[i].usage + strlen("onnxcost");
        s += strspn(s, " ");
        if (!strncmp(s, c->name, strlen(c->name)))
            s += strlen(c->name);
        while (*(s += strspn(s, " |"))) {
            size_t part = strcspn(s, "|");
            complete_add_part(s, part, out, &n);
            s += part;
        }
    }
    return n;
}

/* An option's help up to the first pause, without what a shell would take for its own: a line of `cap`. */
static void complete_title(const char *help, char *out, size_t cap)
{
    size_t n = strcspn(help, ";:(");
    while (n && help[n - 1] == ' ')
        n--;
    size_t k = 0;
    for (size_t i = 0; i < n && k + 1 < cap; i++)
        if (!strchr("'[]\\\"`$", help[i]))
            out[k++] = help[i];
    out[k] = '\0';
}

/* ---- complete bash ---------------------------------------------------------------------------------- */

static const char bash_head[] = "# bash completion for onnxcost, made by: onnxcost completion bash\n"
                                "\n"
                                "# Those of the lines of $3 that begin with $2, with $1 before them.\n"
                                "_onnxcost_add()\n"
                                "{\n"
                                "    local line\n"
                                "    while IFS= read -r line; do\n"
                                "        [[ -n $line && $line == \"$2\"* ]] && COMPREPLY+=(\"$1$line\")\n"
                                "    done <<<\"$3\"\n"
                                "}\n"
                                "\n"
                                "_onnxcost_words() # words\n"
                                "{\n"
                                "    _onnxcost_add \"$head\" \"$cur\" \"${1// /$'\\n'}\"\n"
                                "}\n"
                                "\n"
                                "_onnxcost_files()\n"
                                "{\n"
                                "    compopt -o filenames 2>/dev/null\n"
                                "    _onnxcost_add \"$head\" '' \"$(compgen -f -- \"$cur\")\"\n"
                                "}\n"
                                "\n"
                                "_onnxcost_devices() # one, or several with commas\n"
                                "{\n"
                                "    local before=\n"
                                "    [[ $cur == *,* ]] && before=${cur%,*},\n"
                                "    _onnxcost_add \"$head$before\" \"${cur##*,}\" \"$(\"$program\" hw list "
                                "--format csv 2>/dev/null | sed '1d; s/,.*//')\"\n"
                                "}\n"
                                "\n"
                                "_onnxcost_operators()\n"
                                "{\n"
                                "    _onnxcost_add \"$head\" \"$cur\" \"$(\"$program\" ops --format csv "
                                "2>/dev/null | sed '1d; s/^[^,]*,//; s/,.*//' | sort -u)\"\n"
                                "}\n"
                                "\n";

static const char bash_tail[] =
    "_onnxcost()\n"
    "{\n"
    "    local program=$1 cur=${COMP_WORDS[COMP_CWORD]} prev= head= command= sub= i word\n"
    "    COMPREPLY=()\n"
    "    # --hw=a100 is one word or, when \"=\" parts words, three\n"
    "    if [[ $cur == --*=* ]]; then\n"
    "        prev=${cur%%=*} head=$prev= cur=${cur#*=}\n"
    "    elif [[ $cur == = ]]; then\n"
    "        prev=${COMP_WORDS[COMP_CWORD - 1]} cur=\n"
    "    elif ((COMP_CWORD > 2)) && [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then\n"
    "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    else\n"
    "        prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    fi\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        if [[ $word == -* ]]; then\n"
    "            [[ ${COMP_WORDS[i + 1]} == = ]] && ((i += 2)) && continue\n"
    "            [[ \" $_onnxcost_valued \" == *\" $word \"* ]] && ((i++))\n"
    "        elif [[ -z $command ]]; then\n"
    "            command=cost\n"
    "            [[ \" $_onnxcost_commands \" == *\" $word \"* ]] && command=$word\n"
    "        elif [[ -z $sub ]]; then\n"
    "            sub=$word\n"
    "        fi\n"
    "    done\n"
    "    if [[ \" $_onnxcost_valued \" == *\" $prev \"* ]]; then\n"
    "        _onnxcost_value\n"
    "    elif [[ $cur == -* ]]; then\n"
    "        _onnxcost_options\n"
    "    else\n"
    "        _onnxcost_place\n"
    "    fi\n"
    "}\n"
    "complete -F _onnxcost onnxcost\n";

static const struct {
    unsigned what;
    const char *call;
} calls[] = {
    {CLI_DEVICES, "_onnxcost_devices"},
    {CLI_OPERATORS, "_onnxcost_operators"},
    {CLI_FILES, "_onnxcost_files"},
};

static void call_all(FILE *f, unsigned what, const char *words)
{
    const char *between = " ";
    if (*words) {
        fprintf(f, " _onnxcost_words '%s'", words);
        between = "; ";
    }
    for (size_t i = 0; i < COUNT(calls); i++)
        if (what & calls[i].what) {
            fprintf(f, "%s%s", between, calls[i].call);
            between = "; ";
        }
    fputs(" ;;\n", f);
}

static void write_lists(FILE *f)
{
    const struct cli_option *p;
    fputs("_onnxcost_commands='", f);
    for (size_t i = 0; i < cli_n_commands; i++)
        fprintf(f, "%s%s", i ? " " : "", cli_commands[i]->name);
    fputs("'\n_onnxcost_valued='", f);
    const char *between = "";
    for (size_t i = 0; (p = cli_option_nth(i)); i++) {
        if (p->kind == CLI_FLAG || p->kind == CLI_MAYBE || p->of)
            continue;
        fprintf(f, "%s--%s", between, p->name);
        between = " ";
        if (p->letter)
            fprintf(f, " -%c", p->letter);
    }
    fputs("'\n\n", f);
}

static void write_values(FILE *f)
{
    const struct cli_option *p;
    fputs("_onnxcost_value()\n{\n    case $prev in\n", f);
    for (size_t i = 0; (p = cli_option_nth(i)); i++) {
        struct complete_value v;
        complete_option(p, &v);
        if ((!v.what && !*v.words) || p->of)
            continue;
        fprintf(f, "    --%s", p->name);
        if (p->letter)
            fprintf(f, " | -%c", p->letter);
        fputc(')', f);
        call_all(f, v.what, v.words);
    }
    fputs("    esac\n}\n\n", f);
}

static void bash_options(FILE *f, const struct cli_command *c)
{
    const char *between = "";
    const struct cli_option *p;
    fprintf(f, "    %s) _onnxcost_words '", c->name);
    for (size_t i = 0; (p = cli_option_nth(i)); i++)
        if (cli_takes(c, p) && !p->of) {
            fprintf(f, "%s--%s", between, p->name);
            between = " ";
        }
    fputs("' ;;\n", f);
}

static void write_place(FILE *f, const struct cli_command *c)
{
    struct complete_word word[COMPLETE_MAX_WORDS];
    size_t n = complete_command(c, word), subs = 0;
    unsigned plain = 0;
    for (size_t k = 0; k < n; k++) {
        plain |= word[k].word[0] ? 0 : word[k].what;
        if (word[k].word[0] && !subs++)
            fprintf(f, "    %s:) _onnxcost_words '%s", c->name, word[k].word);
        else if (word[k].word[0])
            fprintf(f, " %s", word[k].word);
    }
    if (subs)
        fputs("' ;;\n", f);
    for (size_t k = 0; k < n; k++)
        if (word[k].word[0] && word[k].what) {
            fprintf(f, "    %s:%s)", c->name, word[k].word);
            call_all(f, word[k].what, "");
        }
    if (plain) {
        fprintf(f, "    %s:*)", c->name);
        call_all(f, plain, "");
    }
}

static void complete_bash(FILE *f)
{
    fputs(bash_head, f);
    write_lists(f);
    write_values(f);
    fputs("_onnxcost_options()\n{\n    case ${command:-cost} in\n", f);
    for (size_t i = 0; i < cli_n_commands; i++)
        bash_options(f, cli_commands[i]);
    fputs("    esac\n}\n\n_onnxcost_place()\n{\n    case $command:$sub in\n"
          "    :) _onnxcost_words \"$_onnxcost_commands\"; _onnxcost_files ;;\n",
          f);
    for (size_t i = 0; i < cli_n_commands; i++)
        write_place(f, cli_commands[i]);
    fputs("    esac\n}\n\n", f);
    fputs(bash_tail, f);
}

/* ---- complete fish ---------------------------------------------------------------------------------- */

static const char fish_head[] =
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
static void complete_condition(FILE *f, const struct cli_option *p)
{
    if (p->set == CLI_ALL)
        return;
    fputs(" -n '__onnxcost_is", f);
    for (size_t i = 0; i < cli_n_commands; i++)
        if (cli_takes(cli_commands[i], p))
            fprintf(f, " %s", cli_commands[i]->name);
    fputc('\'', f);
}

static void complete_write_value(FILE *f, const struct complete_value *v)
{
    fputs(v->what & CLI_FILES ? " -r -F" : " -x", f);
    if (!*v->words && !(v->what & (CLI_DEVICES | CLI_OPERATORS)))
        return;
    fprintf(f, " -a '%s%s%s'", v->words, v->what & CLI_DEVICES ? "(__onnxcost_devices)" : "",
            v->what & CLI_OPERATORS ? "(__onnxcost_operators)" : "");
}

static void write_option(FILE *f, const struct cli_option *p)
{
    char title[80];
    complete_title(p->help, title, sizeof(title));
    fputs("complete -c onnxcost", f);
    complete_condition(f, p);
    if (p->letter)
        fprintf(f, " -s %c", p->letter);
    fprintf(f, " -l %s", p->name);
    if (p->kind != CLI_FLAG && p->kind != CLI_MAYBE) {
        struct complete_value v;
        complete_option(p, &v);
        complete_write_value(f, &v);
    }
    fprintf(f, " -d '%s'\n", title);
}

static void write_words(FILE *f, const struct cli_command *c)
{
    struct complete_word word[COMPLETE_MAX_WORDS];
    size_t n = complete_command(c, word);
    unsigned what = 0;
    for (size_t k = 0; k < n; k++) {
        what |= word[k].what;
        if (word[k].word[0])
            fprintf(f, "complete -c onnxcost -n '__onnxcost_is %s; and __onnxcost_at 2' -f -a %s\n", c->name,
                    word[k].word);
        if (word[k].word[0] && (word[k].what & CLI_DEVICES))
            fprintf(f,
                    "complete -c onnxcost -n '__onnxcost_is %s; and contains %s (commandline -opc)' "
                    "-a '(__onnxcost_devices)'\n",
                    c->name, word[k].word);
    }
    if (!what)
        fprintf(f, "complete -c onnxcost -n '__onnxcost_is %s' -f\n", c->name);
}

static void complete_fish(FILE *f)
{
    const struct cli_option *p;
    fputs(fish_head, f);
    fputs("set -g __onnxcost_commands", f);
    for (size_t i = 0; i < cli_n_commands; i++)
        fprintf(f, " %s", cli_commands[i]->name);
    fputs("\n\n", f);
    for (size_t i = 0; i < cli_n_commands; i++) {
        const struct cli_command *c = cli_commands[i];
        char title[80];
        complete_title(c->use[0].title, title, sizeof(title));
        fprintf(f, "complete -c onnxcost -n '__onnxcost_at 1' -a %s -d '%s'\n", c->name, title);
        write_words(f, c);
    }
    for (size_t i = 0; (p = cli_option_nth(i)); i++)
        if (!p->of)
            write_option(f, p);
}

/* ---- complete zsh ----------------------------------------------------------------------------------- */

static const char zsh_head[] =
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

static const char zsh_tail[] =
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
        fprintf(f, v->what & CLI_FILES ? " _onnxcost_either %s" : "(%s)", v->words);
    else if (v->what & CLI_DEVICES)
        fputs("_onnxcost_devices", f);
    else if (v->what & CLI_OPERATORS)
        fputs("_onnxcost_operators", f);
    else if (v->what & CLI_FILES)
        fputs("_files", f);
}

static void zsh_option(FILE *f, const struct cli_option *p, bool letter)
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

static void zsh_words(FILE *f, const struct cli_command *c)
{
    struct complete_word word[COMPLETE_MAX_WORDS];
    size_t n = complete_command(c, word), subs = 0;
    unsigned what = 0;
    for (size_t k = 0; k < n; k++) {
        what |= word[k].what;
        if (word[k].word[0])
            fprintf(f, "%s%s", subs++ ? " " : " '1:what:(", word[k].word);
    }
    if (subs)
        fputs(")'", f);
    if (what)
        fprintf(f, " '*:name:%s'", what & CLI_DEVICES ? "_onnxcost_devices" : "_files");
}

static void zsh_options(FILE *f, const struct cli_command *c, bool first)
{
    const struct cli_option *p;
    fprintf(f, "    %s) options=(", first ? "''" : c->name);
    for (size_t k = 0; (p = cli_option_nth(k)); k++) {
        if (!cli_takes(c, p) || p->of)
            continue;
        zsh_option(f, p, false);
        if (p->letter)
            zsh_option(f, p, true);
    }
    if (first)
        fputs(" '1: :_onnxcost_first'", f);
    zsh_words(f, c);
    fputs(") ;;\n", f);
}

static void complete_zsh(FILE *f)
{
    fputs(zsh_head, f);
    fputs("typeset -ga _onnxcost_commands=(\n", f);
    for (size_t i = 0; i < cli_n_commands; i++) {
        const struct cli_command *c = cli_commands[i];
        char title[80];
        complete_title(c->use[0].title, title, sizeof(title));
        fprintf(f, "    '%s:%s'\n", c->name, title);
    }
    fputs(")\n\n_onnxcost_first() # a command, or a file\n{\n    _describe command _onnxcost_commands\n    "
          "_files\n}\n\n"
          "_onnxcost_options()\n{\n    case $command in\n",
          f);
    zsh_options(f, cli_commands[0], true);
    for (size_t i = 0; i < cli_n_commands; i++)
        zsh_options(f, cli_commands[i], false);
    fputs("    esac\n}\n\n", f);
    fputs(zsh_tail, f);
}

/* ---- the command ------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    void (*write)(FILE *f);
} shells[] = {{"bash", complete_bash}, {"zsh", complete_zsh}, {"fish", complete_fish}};

static int put_completion(const void *shell, const struct cli_output *out, struct oc_err *err)
{
    (void)err;
    shells[*(const size_t *)shell].write(out->f);
    return 0;
}

static int run_completion(const struct cli_opts *o)
{
    size_t i = 0;
    while (i < COUNT(shells) && (o->word.n != 1 || strcmp(o->word.item[0], shells[i].name) != 0))
        i++;
    return i < COUNT(shells)
               ? cli_output_write(o->output, put_completion, &i)
               : cli_fail(CLI_USAGE, "'completion' needs the name of a shell: bash, zsh or fish");
}

const struct cli_command cmd_completion = {
    .name = "completion",
    .phrase = "shell completion for bash, zsh and fish",
    .use = {{"onnxcost completion bash | zsh | fish",
             "a script with which a shell completes commands, options, devices and files"}},
    .run = run_completion,
    .example = {{"onnxcost completion bash", "for ~/.bashrc: source <(onnxcost completion bash)"},
                {"onnxcost completion zsh", "for zsh"},
                {"onnxcost completion fish", "for fish"}},
};
