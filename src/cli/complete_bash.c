#include "cli/complete.h"

static const char head[] = "# bash completion for onnxcost, made by: onnxcost completion bash\n"
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

static const char tail[] =
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
    {COMPLETE_DEVICES, "_onnxcost_devices"},
    {COMPLETE_OPERATORS, "_onnxcost_operators"},
    {COMPLETE_FILES, "_onnxcost_files"},
};

static void call_all(FILE *f, unsigned what, const char *words)
{
    const char *between = " ";
    if (*words) {
        fprintf(f, " _onnxcost_words '%s'", words);
        between = "; ";
    }
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (what & calls[i].what) {
            fprintf(f, "%s%s", between, calls[i].call);
            between = "; ";
        }
    fputs(" ;;\n", f);
}

static void write_lists(FILE *f)
{
    const struct cli_command *c;
    fputs("_onnxcost_commands='", f);
    for (size_t i = 0; (c = complete_nth(i)); i++)
        fprintf(f, "%s%s", i ? " " : "", c->name);
    fputs("'\n_onnxcost_valued='", f);
    const char *between = "";
    for (size_t i = 0; i < cli_n_options; i++) {
        const struct cli_option *p = &cli_options[i];
        if (p->kind == CLI_FLAG || p->kind == CLI_MAYBE)
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
    fputs("_onnxcost_value()\n{\n    case $prev in\n", f);
    for (size_t i = 0; i < cli_n_options; i++) {
        const struct cli_option *p = &cli_options[i];
        struct complete_value v;
        complete_option(p, &v);
        if (!v.what && !*v.words)
            continue;
        fprintf(f, "    --%s", p->name);
        if (p->letter)
            fprintf(f, " | -%c", p->letter);
        fputc(')', f);
        call_all(f, v.what, v.words);
    }
    fputs("    esac\n}\n\n", f);
}

static void write_options(FILE *f)
{
    const struct cli_command *c;
    fputs("_onnxcost_options()\n{\n    case ${command:-cost} in\n", f);
    for (size_t i = 0; (c = complete_nth(i)); i++) {
        fprintf(f, "    %s) _onnxcost_words '", c->name);
        const char *between = "";
        for (size_t k = 0; k < cli_n_options; k++)
            if (cli_options[k].mask & c->mask) {
                fprintf(f, "%s--%s", between, cli_options[k].name);
                between = " ";
            }
        fputs("' ;;\n", f);
    }
    fputs("    esac\n}\n\n", f);
}

static void write_place(FILE *f, const char *command)
{
    struct complete_word word[COMPLETE_MAX_WORDS];
    size_t n = complete_command(command, word), subs = 0;
    unsigned plain = 0;
    for (size_t k = 0; k < n; k++) {
        plain |= word[k].word[0] ? 0 : word[k].what;
        if (word[k].word[0] && !subs++)
            fprintf(f, "    %s:) _onnxcost_words '%s", command, word[k].word);
        else if (word[k].word[0])
            fprintf(f, " %s", word[k].word);
    }
    if (subs)
        fputs("' ;;\n", f);
    for (size_t k = 0; k < n; k++)
        if (word[k].word[0] && word[k].what) {
            fprintf(f, "    %s:%s)", command, word[k].word);
            call_all(f, word[k].what, "");
        }
    if (plain) {
        fprintf(f, "    %s:*)", command);
        call_all(f, plain, "");
    }
}

static void write_places(FILE *f)
{
    const struct cli_command *c;
    fputs("_onnxcost_place()\n{\n    case $command:$sub in\n"
          "    :) _onnxcost_words \"$_onnxcost_commands\"; _onnxcost_files ;;\n",
          f);
    for (size_t i = 0; (c = complete_nth(i)); i++)
        write_place(f, c->name);
    fputs("    esac\n}\n\n", f);
}

void complete_bash(FILE *f)
{
    fputs(head, f);
    write_lists(f);
    write_values(f);
    write_options(f);
    write_places(f);
    fputs(tail, f);
}
