#include "cli/complete.h"

#include <ctype.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- names that the library has ----------------------------------------------------------------------- */

static const char *profile_format(size_t i)
{
    const char *name, *title;
    return oc_profile_format(i, &name, &title) ? name : NULL;
}

static const char *summary_view(size_t i)
{
    const char *name, *title;
    return oc_summary_view(i, &name, &title) ? name : NULL;
}

/* Options whose argument does not say by itself what it can be. */
static const struct {
    const char *option;
    const char *(*nth)(size_t i);
    unsigned what;
} named[] = {
    {"profile-format", profile_format, 0}, {"view", summary_view, 0},
    {"convention", oc_convention_name, 0}, {"hw", NULL, COMPLETE_DEVICES | COMPLETE_FILES},
    {"type", NULL, COMPLETE_OPERATORS},
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

void complete_option(const struct cli_option *p, struct complete_value *out)
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
        out->what |= COMPLETE_FILES;
    for (size_t i = 0; i < COUNT(named); i++) {
        if (strcmp(named[i].option, p->name) != 0)
            continue;
        out->what |= named[i].what;
        const char *word;
        for (size_t k = 0; named[i].nth && (word = named[i].nth(k)); k++)
            add_word(out->words, sizeof(out->words), word, strlen(word));
    }
}

/* ---- commands ------------------------------------------------------------------------------------------ */

const struct cli_command *complete_nth(size_t i)
{
    for (size_t k = 0; k < cli_n_commands; k++) {
        bool again = k && !strcmp(cli_commands[k].name, cli_commands[k - 1].name);
        if (!again && i-- == 0)
            return &cli_commands[k];
    }
    return NULL;
}

/* What a part of a usage, up to its options, wants: "MODEL", "show NAME", "lint [FILE...]". */
static unsigned wanted(const char *s, size_t n)
{
    static const struct {
        const char *word;
        unsigned what;
    } known[] = {
        {"NAME", COMPLETE_DEVICES | COMPLETE_FILES},
        {"FILE", COMPLETE_FILES},
        {"MODEL", COMPLETE_FILES},
        {"PROFILE", COMPLETE_FILES},
        {"RECORDING", COMPLETE_FILES},
        {"REPORT", COMPLETE_FILES},
        {"FOLDER", COMPLETE_FILES},
    };
    unsigned what = 0;
    for (size_t i = 0; i < n && s[i] != '-'; i++)
        for (size_t k = 0; k < COUNT(known); k++)
            if (!strncmp(s + i, known[k].word, strlen(known[k].word)))
                what |= known[k].what;
    return what;
}

static void add_part(const char *s, size_t n, struct complete_word *out, size_t *n_out)
{
    struct complete_word w = {.what = wanted(s, n)};
    size_t word = strcspn(s, " |");
    if (word < sizeof(w.word) && is_literal(s, word) && *s != '-')
        memcpy(w.word, s, word);
    if (*n_out < COMPLETE_MAX_WORDS)
        out[(*n_out)++] = w;
}

size_t complete_command(const char *name, struct complete_word out[COMPLETE_MAX_WORDS])
{
    size_t n = 0;
    for (size_t i = 0; i < cli_n_commands; i++) {
        if (strcmp(cli_commands[i].name, name) != 0)
            continue;
        const char *s = cli_commands[i].usage + strlen("onnxcost");
        s += strspn(s, " ");
        if (!strncmp(s, name, strlen(name)))
            s += strlen(name);
        while (*(s += strspn(s, " |"))) {
            size_t part = strcspn(s, "|");
            add_part(s, part, out, &n);
            s += part;
        }
    }
    return n;
}

void complete_title(const char *help, char *out, size_t cap)
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
