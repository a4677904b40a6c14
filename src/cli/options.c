/* The order of all options; parsing. What must hold: a value is stored only where the command that is called has a place for
 * it, and a wrong value is reported before an option of another command. */
#include "cli/options.h"
#include "cli/cli.h"
#include "cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- all options ------------------------------------------------------------------------------------- */

/* An option of one command with its group and owner, and the row of the shared ones that follows it. */
struct own_option {
    struct cli_option option;
    size_t place;
};

/* Before the option that `first` names, or at the end of its group; a group that the shared options do not have comes
 * before their last one. */
static size_t place_of(const struct cli_option *first)
{
    bool inside = false;
    size_t last = 0;
    for (size_t i = 0; i < cli_n_shared_options; i++) {
        const struct cli_option *p = &cli_shared_options[i];
        if (inside && p->group)
            return i;
        last = p->group ? i : last;
        inside = inside || (p->group && !strcmp(p->group, first->group));
        if (inside && p->name && cli_is(first->before, p->name))
            return i;
    }
    return inside ? cli_n_shared_options : last;
}

static void list_own(struct own_option *own)
{
    for (size_t i = 0; i < cli_n_commands; i++) {
        const struct cli_command *c = cli_commands[i];
        for (size_t k = 0; k < c->own.n; k++, own++) {
            const struct cli_option *p = &c->own.option[k];
            *own = (struct own_option){*p, k && !p->group ? own[-1].place : place_of(p)};
            own->option.group = k && !p->group ? own[-1].option.group : p->group;
            own->option.owner = c;
        }
    }
}

/* Returns the options of all commands (heap), and in *n their number. */
static struct cli_option *join_tables(size_t *n)
{
    size_t n_own = 0;
    for (size_t i = 0; i < cli_n_commands; i++)
        n_own += cli_commands[i]->own.n;
    struct own_option *own = cli_xcalloc(n_own, sizeof(*own));
    struct cli_option *all = cli_xcalloc(cli_n_shared_options + n_own, sizeof(*all));
    const char *group = NULL;
    list_own(own);
    for (size_t i = 0; i <= cli_n_shared_options; i++) {
        for (size_t k = 0; k < n_own; k++)
            if (own[k].place == i)
                all[(*n)++] = own[k].option;
        if (i < cli_n_shared_options && cli_shared_options[i].group)
            group = cli_shared_options[i].group;
        if (i < cli_n_shared_options && cli_shared_options[i].name) {
            all[*n] = cli_shared_options[i];
            all[(*n)++].group = group;
        }
    }
    free(own);
    return all;
}

const struct cli_option *cli_option_nth(size_t i)
{
    static const struct cli_option *all; /* made of constants at the first call; stays until the end */
    static size_t n;
    if (!all)
        all = join_tables(&n);
    return i < n ? &all[i] : NULL;
}

/* Whether `name` is one of `names`, which are separated by blanks. */
bool cli_has_word(const char *names, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = names; p && *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (!strncmp(p, name, n) && (p[n] == ' ' || !p[n]))
            return true;
    return false;
}

const char *cli_option_words(const struct cli_option *p, char *buf, size_t cap)
{
    snprintf(buf, cap, "%s%s%s", p->of ? p->of : "", p->of ? " " : "", p->name);
    return buf;
}

bool cli_shows(const struct cli_command *c, const struct cli_option *p)
{
    if (p->owner)
        return p->owner == c;
    return (p->set && (p->set & (c->sets | CLI_ALL)) == p->set) || cli_has_word(c->options, p->name);
}

bool cli_takes(const struct cli_command *c, const struct cli_option *p)
{
    return cli_shows(c, p) || (c->also && cli_takes(c->also, p));
}

/* A row by its name: an option, or a key (of this option; of "": of any). Those that the command takes come first. */
static const struct cli_option *find_row(const char *of, const char *name, size_t n,
                                         const struct cli_command *c)
{
    const struct cli_option *p, *other = NULL;
    for (size_t i = 0; (p = cli_option_nth(i)); i++) {
        if (strncmp(p->name, name, n) != 0 || p->name[n])
            continue;
        if (of ? !p->of || (*of && strcmp(p->of, of) != 0) : p->of != NULL)
            continue;
        if (cli_takes(c, p))
            return p;
        other = p;
    }
    return other;
}

/* Options are never abbreviated: a new option must not change what an old command line means. */
const struct cli_option *cli_option_named(const char *name, size_t n, const struct cli_command *c)
{
    return find_row(NULL, name, n, c);
}

const struct cli_option *cli_key_named(const char *of, const char *name, size_t n,
                                       const struct cli_command *c)
{
    return find_row(of ? of : "", name, n, c);
}

void *cli_option_value(const struct cli_opts *o, const struct cli_option *p)
{
    if (!cli_takes(o->command, p))
        return NULL;
    return (char *)(p->owner ? o->own : (void *)(uintptr_t)o) + p->offset;
}

/* ---- one argument ------------------------------------------------------------------------------------ */

static const struct cli_option *by_letter(char letter)
{
    const struct cli_option *p;
    for (size_t i = 0; (p = cli_option_nth(i)); i++)
        if (p->letter == letter)
            return p;
    return NULL;
}

bool cli_is_choice(const char *choices, const char *value)
{
    size_t n = value ? strlen(value) : 0;
    for (const char *p = choices; p; p = strchr(p, '|'), p = p ? p + 1 : NULL)
        if (n && !strncmp(p, value, n) && (p[n] == '|' || !p[n]))
            return true;
    return false;
}

/* Types as they are written in tables, JSON and hardware files. */
static const char *type_of_class(const char *option, const char *value)
{
    static const char *const names[][2] = {{"f16", "fp16"},
                                           {"f8", "fp8"},
                                           {"i8", "int8"},
                                           {"i4", "int4"},
                                           {"f16-weights", "fp16-weights"},
                                           {"i8-weights", "int8-weights"},
                                           {"i4-weights", "int4-weights"}};
    for (size_t i = 0; !strcmp(option, "as") && i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(value, names[i][0]))
            return names[i][1];
    return value;
}

static bool parse_int(const char *s, int64_t *out)
{
    if (!*s || !strchr("+-0123456789", *s))
        return false;
    char *end;
    errno = 0;
    long long v = strtoll(s, &end, 10);
    if (errno || *end || end == s)
        return false;
    *out = v;
    return true;
}

void cli_list_add(struct cli_list *l, const char *text)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 8;
        l->item = cli_xrealloc(l->item, l->cap * sizeof(*l->item));
    }
    l->item[l->n++] = text;
}

/* One argument of argv seen as an option: which one, and its value (maybe the next argument). */
struct taken {
    const struct cli_option *p;
    const char *value;
    int used;                          /* arguments consumed */
    const struct cli_command *command; /* that is called */
};

/* Whether the value is one that the option can have. Returns -1 after a message in `why`. */
static int check_value(const struct taken *t, const char *value, int64_t *number, char *why, size_t cap)
{
    const struct cli_option *p = t->p;
    char buf[64];
    const char *name = cli_option_words(p, buf, sizeof(buf));
    if (p->kind == CLI_INT && !parse_int(value, number)) {
        snprintf(why, cap, "--%s needs an integer, not '%s'", name, value);
        return -1;
    }
    if (p->kind == CLI_CHOICE && !cli_is_choice(p->arg, value)) {
        cli_say_choice(name, !strcmp(p->name, "format") ? cli_formats(t->command) : p->arg, value, why, cap);
        return -1;
    }
    return 0;
}

/* `to`: where the value belongs, NULL if the option is one of another command. Returns -1 after a message in `why`. */
static int store_value(const struct taken *t, void *to, char *why, size_t cap)
{
    const struct cli_option *p = t->p;
    const char *value = p->kind == CLI_CHOICE ? type_of_class(p->name, t->value) : t->value;
    int64_t number = 0;
    if (check_value(t, value, &number, why, cap))
        return -1;
    if (!to)
        return 0;
    if (p->kind == CLI_FLAG)
        *(bool *)to = true;
    else if (p->second)
        *(bool *)to = strchr(p->arg, '|') == p->arg + strlen(p->arg) - strlen(value) - 1;
    else if (p->kind == CLI_LIST || p->kind == CLI_MAYBE)
        cli_list_add(to, value ? value : "");
    else if (p->kind == CLI_INT)
        *(struct cli_int *)to = (struct cli_int){.set = true, .v = number};
    else
        *(const char **)to = value;
    return 0;
}

/* One "KEY=VALUE" of the option of *t; the text stays as long as *o. Returns -1 after a message in `why`. */
static int store_key(struct cli_opts *o, const struct taken *t, const char *text, char *why, size_t cap)
{
    size_t n = strcspn(text, "=");
    struct taken key = {.p = cli_key_named(t->p->name, text, n, o->command), .command = o->command};
    if (!key.p || !cli_takes(o->command, key.p)) {
        cli_say_unknown_key(t->p, text, o->command, why, cap);
        return -1;
    }
    key.value = text[n] ? text + n + 1 : NULL;
    if (key.p->kind == CLI_FLAG && key.value) {
        snprintf(why, cap, "--%s %s takes no value: '%s' has one", t->p->name, key.p->name, text);
        return -1;
    }
    if (key.p->kind != CLI_FLAG && (!key.value || !*key.value)) {
        snprintf(why, cap, "--%s %s needs a value: --%s %s=%s", t->p->name, key.p->name, t->p->name,
                 key.p->name, key.p->arg);
        return -1;
    }
    return store_value(&key, cli_option_value(o, key.p), why, cap);
}

/* The same for all that a value has. */
static int store_keys(struct cli_opts *o, const struct taken *t, char *why, size_t cap)
{
    bool several = strchr(t->p->arg, ',');
    for (const char *text = t->value; text;) {
        size_t n = several ? strcspn(text, ",") : strlen(text);
        char *copy = cli_xstrndup(text, n);
        cli_list_add(&o->copy, copy);
        if (store_key(o, t, copy, why, cap))
            return -1;
        text = text[n] ? text + n + 1 : NULL;
    }
    return 0;
}

static int options_store(struct cli_opts *o, const struct taken *t, char *why, size_t cap)
{
    if (t->p->kind != CLI_KEYS)
        return store_value(t, cli_option_value(o, t->p), why, cap);
    return cli_takes(o->command, t->p) ? store_keys(o, t, why, cap) : 0;
}

static int fail_no_value(const char *argument, const struct cli_option *p, char *why, size_t cap)
{
    snprintf(why, cap, "%s needs a value: --%s %s", argument, p->name, p->arg);
    return -1;
}

/* "--as --hw t4": a value that begins with two dashes is written --as=--VALUE. */
static bool lacks_value(int left, char **argv)
{
    return left < 2 || !strncmp(argv[1], "--", 2);
}

static int take_long(int left, char **argv, struct taken *t, char *why, size_t cap)
{
    const char *name = argv[0] + 2;
    size_t n = strcspn(name, "=");
    t->p = cli_option_named(name, n, t->command);
    if (!t->p) {
        cli_say_unknown_option(argv[0], t->command, why, cap);
        return -1;
    }
    t->used = 1;
    t->value = name[n] ? name + n + 1 : NULL;
    if (t->p->kind == CLI_FLAG && t->value)
        snprintf(why, cap, "--%s takes no value: '%s' has one", t->p->name, argv[0]);
    if (t->p->kind == CLI_FLAG)
        return t->value ? -1 : 0;
    if (!t->value && t->p->kind == CLI_MAYBE)
        return 0;
    if (!t->value && lacks_value(left, argv))
        return fail_no_value(argv[0], t->p, why, cap);
    if (!t->value) {
        t->value = argv[1];
        t->used = 2;
    }
    return 0;
}

/* -t 3, -t3; combined flags (-hV) are not supported: one letter per argument. */
static int take_short(int left, char **argv, struct taken *t, char *why, size_t cap)
{
    t->p = by_letter(argv[0][1]);
    if (!t->p || (t->p->kind == CLI_FLAG && argv[0][2])) {
        cli_say_unknown_option(argv[0], t->command, why, cap);
        return -1;
    }
    t->used = 1;
    t->value = argv[0][2] ? argv[0] + 2 : NULL;
    if (t->p->kind == CLI_FLAG || t->value)
        return 0;
    if (lacks_value(left, argv))
        return fail_no_value(argv[0], t->p, why, cap);
    t->value = argv[1];
    t->used = 2;
    return 0;
}

static int options_take(int left, char **argv, struct taken *t, char *why, size_t cap)
{
    return argv[0][1] == '-' ? take_long(left, argv, t, why, cap) : take_short(left, argv, t, why, cap);
}

/* "--dim batch 8": the value has no '=', and a number that is not a file follows. */
static bool lacks_equals(int left, char **argv, const struct taken *t, char *why, size_t cap)
{
    const char *next = left > t->used ? argv[t->used] : "";
    if (!t->p || t->p->kind != CLI_LIST || !strstr(t->p->arg, "=") || strchr(t->p->arg, '|') ||
        strchr(t->value, '=') || !strchr("0123456789", *next) || !*next || access(next, F_OK) == 0)
        return false;
    snprintf(why, cap, "--%s needs %s: write --%s %s=%s", t->p->name, t->p->arg, t->p->name, t->value, next);
    return true;
}

/* ---- all arguments ----------------------------------------------------------------------------------- */

/* The first argument that is not an option names the command; without a name it is the first command. After an unknown
 * option an argument can be its value: only names of commands count then. */
static const struct cli_command *find_command(int argc, char **argv)
{
    char why[256];
    bool sure = true;
    for (int i = 1; i < argc;) {
        struct taken t = {.used = 1, .command = cli_commands[0]};
        bool last = !strcmp(argv[i], "--") && i + 1 < argc;
        const char *word = last ? argv[i + 1] : argv[i];
        if (last || word[0] != '-' || !word[1]) {
            const struct cli_command *c = cli_command_named(word);
            if (c || sure)
                return c ? c : cli_commands[0];
        } else if (options_take(argc - i, argv + i, &t, why, sizeof(why))) {
            sure = false;
        }
        i += t.used;
    }
    return cli_commands[0];
}

int cli_parse(struct cli_opts *o, char *why, size_t cap)
{
    bool only_words = false;
    o->command = find_command(o->argc, o->argv);
    o->own = cli_xcalloc(1, o->command->own.size_bytes);
    for (int i = 1; i < o->argc;) {
        struct taken t = {.used = 1, .command = o->command};
        char **argv = o->argv + i;
        if (only_words || argv[0][0] != '-' || !argv[0][1]) {
            cli_list_add(&o->word, argv[0]);
        } else if (!strcmp(argv[0], "--")) {
            only_words = true;
        } else if (options_take(o->argc - i, argv, &t, why, cap) ||
                   lacks_equals(o->argc - i, argv, &t, why, cap) || options_store(o, &t, why, cap)) {
            return -1;
        }
        i += t.used;
    }
    return 0;
}

/* Finds the next option from *i on, and moves *i past it. Returns false when there is none. The arguments were parsed
 * before. */
static bool next_option(const struct cli_opts *o, int *i, struct taken *t)
{
    char why[256];
    while (*i < o->argc && strcmp(o->argv[*i], "--") != 0) {
        char **argv = o->argv + *i;
        *t = (struct taken){.used = 1, .command = o->command};
        bool option =
            argv[0][0] == '-' && argv[0][1] && !options_take(o->argc - *i, argv, t, why, sizeof(why));
        *i += t->used;
        if (option)
            return true;
    }
    return false;
}

const struct cli_option *cli_foreign_option(const struct cli_opts *o, const char **value)
{
    struct taken t;
    for (int i = 1; next_option(o, &i, &t);)
        if (!cli_takes(o->command, t.p)) {
            *value = t.value;
            return t.p;
        }
    return NULL;
}

void cli_option_values(const struct cli_opts *o, const char *name, struct cli_list *out)
{
    struct taken t;
    for (int i = 1; next_option(o, &i, &t);)
        if (!strcmp(t.p->name, name))
            cli_list_add(out, t.value);
}

static bool is_given(const struct cli_opts *o, const struct cli_option *p)
{
    const void *value = cli_option_value(o, p);
    if (!value)
        return false;
    switch (p->second ? CLI_FLAG : p->kind) {
    case CLI_FLAG:
        return *(const bool *)value;
    case CLI_INT:
        return ((const struct cli_int *)value)->set;
    case CLI_LIST:
    case CLI_MAYBE:
        return ((const struct cli_list *)value)->n > 0;
    case CLI_KEYS:
        return false;
    default:
        return *(const char *const *)value != NULL;
    }
}

const char *cli_first_given(const struct cli_opts *o, const char *names)
{
    for (size_t n; *names; names += n, names += strspn(names, " ")) {
        n = strcspn(names, " ");
        const struct cli_option *p = cli_option_named(names, n, o->command);
        p = p ? p : cli_key_named(NULL, names, n, o->command);
        if (p && is_given(o, p))
            return p->name;
    }
    return NULL;
}

void cli_opts_free(struct cli_opts *o)
{
    const struct cli_option *p;
    free(o->word.item);
    for (size_t i = 0; i < o->copy.n; i++)
        free((char *)(uintptr_t)o->copy.item[i]);
    free(o->copy.item);
    for (size_t i = 0; o->own && (p = cli_option_nth(i)); i++) {
        struct cli_list *list = p->kind == CLI_LIST || p->kind == CLI_MAYBE ? cli_option_value(o, p) : NULL;
        if (list)
            free(list->item);
    }
    free(o->own);
    free(o->made);
}
