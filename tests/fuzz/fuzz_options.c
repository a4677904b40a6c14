/* Any lines as command-line arguments: accepted, or rejected with a reason. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { MAX_ARG = 64 };

/* Every name in a list of a command's row is an option, or a key of one, that the command takes. */
static void check_names(const struct cli_command *c, const char *names)
{
    for (const char *p = names; p && *p; p += strspn(p, " !")) {
        size_t n = strcspn(p, " !");
        const struct cli_option *o = cli_option_named(p, n, c);
        o = o ? o : cli_key_named(NULL, p, n, c);
        if (n && (!o || !cli_takes(c, o)))
            abort();
        p += n;
    }
}

static const struct cli_option *found_by_name(const struct cli_command *c, const struct cli_option *p)
{
    size_t n = strlen(p->name);
    return p->of ? cli_key_named(p->of, p->name, n, c) : cli_option_named(p->name, n, c);
}

/* The rows of the commands name options that exist, and each option has a group and one meaning for a command. */
static void check_rows(void)
{
    const struct cli_option *p;
    for (size_t i = 0; i < cli_n_commands; i++) {
        const struct cli_command *c = cli_commands[i];
        check_names(c, c->options);
        for (size_t k = 0; k < CLI_MOST_TOOLS; k++)
            check_names(c, c->tool[k].options);
        for (size_t k = 0; (p = cli_option_nth(k)); k++)
            if (!p->group || !p->help || (cli_takes(c, p) && found_by_name(c, p) != p))
                abort();
    }
}

/* A limit is set to a valid value, or rejected with a reason. */
static void take_limits(struct cli_opts *o)
{
    for (size_t i = 0; i < o->limit.n; i++) {
        struct oc_err err = {.code = OC_OK};
        struct oc_input_limit_info info;
        if (oc_input_limits_set(&o->limits, o->limit.item[i], &err) && (err.code != OC_EARG || !err.msg[0]))
            abort();
        for (size_t k = 0; k < OC_LIMIT_COUNT && oc_input_limit_info(k, &info); k++)
            if (o->limits.most[k] && (o->limits.most[k] < info.least || o->limits.most[k] > info.most))
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = malloc(n + 1), *argv[MAX_ARG + 1] = {(char[]){"onnxcost"}}, why[64];
    int argc = 1;
    if (!text)
        abort();
    static bool checked; /* the rows are constants */
    if (!checked)
        check_rows();
    checked = true;
    memcpy(text, data, n);
    text[n] = '\0';
    for (char *p = text; *p && argc < MAX_ARG; argc++) {
        argv[argc] = p;
        p += strcspn(p, "\n");
        if (*p)
            *p++ = '\0';
    }
    struct cli_opts o = {.argc = argc, .argv = argv};
    why[0] = '\0';
    if (cli_parse(&o, why, sizeof(why)) != 0) {
        if (!why[0])
            abort();
    } else {
        const char *value;
        const struct cli_option *foreign = cli_foreign_option(&o, &value);
        if (foreign && cli_option_value(&o, foreign))
            abort();
        take_limits(&o);
    }
    cli_opts_free(&o);
    free(text);
    return 0;
}
