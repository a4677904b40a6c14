#include "harness.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LINE = 4096, WORDS = 64 };

/* Splits the text at tabs; the fields point into it. False: another number of fields. */
static bool split_fields(char *line, char **field, int want)
{
    int n = 0;
    for (char *p = line; p; n++) {
        char *tab = strchr(p, '\t');
        if (tab)
            *tab = 0;
        if (n < want)
            field[n] = p;
        p = tab ? tab + 1 : NULL;
    }
    return n == want;
}

static bool variable_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* the reason for a missing variable: the value of WHY_NAME */
static const char *missing_reason(struct tables *t, const char *name)
{
    char why[80];
    snprintf(why, sizeof(why), "WHY_%s", name);
    const char *text = getenv(why);
    return oc_strdup(&t->arena, text ? text : name);
}

/* `text` with environment variables expanded; `each` for $each. The first one without a value becomes
 * *missing. */
static char *expand(struct tables *t, const char *text, const char *each, const char **missing)
{
    char out[LINE], name[64];
    size_t n = 0;
    while (*text && n < sizeof(out) - 1) {
        if (*text != '$') {
            out[n++] = *text++;
            continue;
        }
        size_t k = 0;
        for (text++; variable_char(*text) && k < sizeof(name) - 1; text++)
            name[k++] = *text;
        name[k] = 0;
        const char *value = strcmp(name, "each") == 0 ? each : getenv(name);
        if ((!value || !*value) && missing && !*missing && strcmp(name, "each") != 0)
            *missing = missing_reason(t, name);
        for (; value && *value && n < sizeof(out) - 1; value++)
            out[n++] = *value;
    }
    out[n] = 0;
    return oc_strdup(&t->arena, out);
}

/* A number, a dash for none, or bytes:FILE. */
static double amount(struct tables *t, const char *text)
{
    const char *missing = NULL, *word = expand(t, text, NULL, &missing);
    struct stat st;
    if (strncmp(word, "bytes:", 6) == 0)
        return stat(word + 6, &st) == 0 ? (double)st.st_size : NAN;
    char *end;
    double v = strtod(word, &end);
    return end > word && !*end ? v : NAN;
}

static void add_items(struct tables *t, struct command *c)
{
    char name[128], line[LINE];
    uint32_t cap = 0;
    if (!strstr(c->text, "$each")) {
        c->n_item = 1;
        c->item = oc_xcalloc(1, sizeof(*c->item));
        return;
    }
    snprintf(name, sizeof(name), "LIST_%s", c->group);
    const char *path = getenv(name);
    FILE *f = path ? fopen(path, "r") : NULL;
    while (f && fgets(line, sizeof(line), f)) {
        line[strcspn(line, "\n")] = 0;
        OC_GROW(c->item, c->n_item, cap);
        c->item[c->n_item++] = (struct item){.name = oc_strdup(&t->arena, line)};
    }
    if (f)
        fclose(f);
    if (!c->n_item)
        c->missing = oc_strdup(&t->arena, name);
}

static bool add_command(struct tables *t, char *line, bool quick)
{
    char *f[8];
    if (!split_fields(line, f, 8))
        return false;
    OC_GROW(t->command, t->n_command, t->cap_command);
    struct command *c = &t->command[t->n_command++];
    *c = (struct command){.group = oc_strdup(&t->arena, f[0]),
                          .id = oc_strdup(&t->arena, f[1]),
                          .size = amount(t, f[4]),
                          .count = amount(t, f[5]),
                          .text = oc_strdup(&t->arena, f[7])};
    c->title = expand(t, f[6], NULL, NULL);
    c->runs = (uint32_t)fmax(amount(t, f[quick ? 3 : 2]), 0);
    expand(t, c->text, NULL, &c->missing);
    if (!c->runs)
        c->missing = "not in this run";
    add_items(t, c);
    return true;
}

static const struct command *find(const struct tables *t, const char *id)
{
    for (uint32_t i = 0; i < t->n_command; i++)
        if (strcmp(t->command[i].id, id) == 0)
            return &t->command[i];
    return NULL;
}

/* "< 3", ">= 0.5", "<= 32 + 48 each", "-" */
static bool read_wanted(const char *s, struct wanted *w)
{
    char *end;
    *w = (struct wanted){0};
    if (strcmp(s, "-") == 0)
        return true;
    w->relation = strncmp(s, "< ", 2) == 0    ? BELOW
                  : strncmp(s, "<= ", 3) == 0 ? AT_MOST
                  : strncmp(s, ">= ", 3) == 0 ? AT_LEAST
                                              : ANY;
    if (w->relation == ANY)
        return false;
    w->value = strtod(strchr(s, ' '), &end);
    if (strncmp(end, " + ", 3) == 0) {
        w->each = strtod(end + 3, &end);
        return strcmp(end, " each") == 0;
    }
    return !*end;
}

static bool add_target(struct tables *t, char *line, bool quick)
{
    char *f[7];
    (void)quick;
    if (!split_fields(line, f, 7))
        return false;
    OC_GROW(t->target, t->n_target, t->cap_target);
    struct target *x = &t->target[t->n_target++];
    *x = (struct target){.title = expand(t, f[0], NULL, NULL),
                         .of = find(t, f[1]),
                         .figure = oc_strdup(&t->arena, f[2]),
                         .against = find(t, f[4]),
                         .ratio = oc_strdup(&t->arena, f[5])};
    return x->of && (x->against || strcmp(f[4], "-") == 0) && read_wanted(f[3], &x->figure_wanted) &&
           read_wanted(f[6], &x->ratio_wanted);
}

static int read_table(struct tables *t, const char *path, bool (*add)(struct tables *, char *, bool),
                      bool quick, struct oc_err *err)
{
    char line[LINE];
    FILE *f = fopen(path, "r");
    if (!f)
        return oc_fail(err, OC_EIO, "cannot read '%s'", path);
    int rc = 0;
    for (unsigned n = 1; rc == 0 && fgets(line, sizeof(line), f); n++) {
        line[strcspn(line, "\n")] = 0;
        if (*line && *line != '#' && !add(t, line, quick))
            rc = oc_fail(err, OC_EFORMAT, "cannot read '%s': line %u is not a row of this table", path, n);
    }
    fclose(f);
    return rc;
}

int bench_read_tables(struct tables *t, const char *commands, const char *targets, bool quick,
                      struct oc_err *err)
{
    if (read_table(t, commands, add_command, quick, err))
        return -1;
    return read_table(t, targets, add_target, quick, err);
}

char **bench_words(struct tables *t, const struct command *c, const struct item *item)
{
    char **word = OC_NEW_ARRAY(&t->arena, WORDS, char *);
    char *text = oc_strdup(&t->arena, c->text), *rest = NULL;
    int n = 0;
    for (char *w = strtok_r(text, " ", &rest); w && n < WORDS - 1; w = strtok_r(NULL, " ", &rest))
        word[n++] = expand(t, w, item->name, NULL);
    word[n] = NULL;
    return word;
}
