/* onnxcost mcp: tools for agents. The tools are made of the rows of the commands (struct cli_tool): their descriptions, and
 * the arguments of a call. mcp_server.c runs them. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/mcp_tools.h"
#include "cli/output.h"

struct mcp_opts {
    const char *root;
};

#define AT(field) offsetof(struct mcp_opts, field)
static const struct cli_option own_options[] = {
    {"root", 0, CLI_TEXT, AT(root), "DIR",
     .help = "read files inside this folder only; paths of the client are relative to it", .group = "Input"},
};

#define RANGES "; cost and check: " /* in the help of dim: what only some tools take */

enum { MAX_PARAMS = 40 };

/* ---- descriptions ---------------------------------------------------------------------------- */

static char *join(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static char *join(const char *fmt, ...)
{
    va_list ap;
    char *text = NULL;
    va_start(ap, fmt);
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    if (n < 0)
        cli_out_of_memory(0);
    return text;
}

static struct oc_mcp_param param_of_file(const char *name, size_t n, bool required)
{
    bool device = n == strlen("name") && !strncmp(name, "name", n);
    return (struct oc_mcp_param){.name = cli_xstrndup(name, n),
                                 .about =
                                     join(device ? "a name that devices lists" : "path of a file or folder"),
                                 .required = required};
}

/* "; macs=N, flops=N ...": the keys of an option, "" of one without; heap. */
static char *keys_of(const struct cli_option *o, const struct cli_command *c)
{
    const struct cli_option *key;
    char *all = cli_xcalloc(1, 1);
    for (size_t i = 0; o->kind == CLI_KEYS && (key = cli_option_nth(i)); i++) {
        if (!key->of || strcmp(key->of, o->name) != 0 || !cli_takes(c, key))
            continue;
        char *more = join("%s%s%s%s%s", all, *all ? ", " : "; ", key->name, key->arg ? "=" : "",
                          key->arg ? key->arg : "");
        free(all);
        all = more;
    }
    return all;
}

static struct oc_mcp_param param_of_option(const struct cli_option *o, const struct cli_tool *row,
                                           const struct cli_command *c, bool required, bool rare)
{
    static const unsigned char kind[] = {
        [CLI_FLAG] = OC_MCP_FLAG, [CLI_TEXT] = OC_MCP_TEXT,  [CLI_CHOICE] = OC_MCP_TEXT,
        [CLI_LIST] = OC_MCP_LIST, [CLI_MAYBE] = OC_MCP_LIST, [CLI_INT] = OC_MCP_INT,
        [CLI_KEYS] = OC_MCP_LIST};
    const char *top = row->top ? row->top : "all";
    const char *otherwise = strcmp(o->name, "top") ? o->otherwise : top;
    struct oc_mcp_param p = {.name = cli_xstrndup(o->name, strlen(o->name)),
                             .kind = OC_MCP_FLAG,
                             .required = required,
                             .rare = rare};
    if (o->answer) {
        p.about = join("%s", o->answer);
        return p;
    }
    bool arg = o->arg && o->kind != CLI_CHOICE && o->kind != CLI_INT;
    const char *ranges = strstr(o->help, RANGES);
    int n = ranges ? (int)(ranges - o->help) : (int)strlen(o->help);
    const char *more = !ranges ? "" : row->ranges ? ranges + strlen(RANGES) : "ranges: tool bounds";
    char *keys = keys_of(o, c);
    p.about =
        join("%s%s%.*s%s%s%s%s%s%s", arg ? o->arg : "", arg ? ": " : "", n, o->help, keys, *more ? "; " : "",
             more, otherwise ? " (default: " : "", otherwise ? otherwise : "", otherwise ? ")" : "");
    free(keys);
    p.form = arg ? o->arg : NULL;
    p.choices = o->kind == CLI_CHOICE ? o->arg : NULL;
    p.kind = kind[o->kind];
    return p;
}

/* The names are options of the command, or (c is NULL) files. */
static void add_params(struct oc_mcp_tool *t, struct oc_mcp_param *to, const struct cli_tool *row,
                       const char *names, const struct cli_command *c)
{
    for (const char *p = names; p && *p && t->n_param < MAX_PARAMS;) {
        size_t n = strcspn(p, " !");
        bool required = p[n] == '!';
        const struct cli_option *o = c && n ? cli_option_named(p, n, c) : NULL;
        if (o)
            to[t->n_param++] = param_of_option(o, row, c, required, names == row->more);
        else if (!c && n)
            to[t->n_param++] = param_of_file(p, n, required);
        p += n;
        p += strspn(p, " !");
    }
}

/* The tools of all commands, by their places. */
static void list_rows(struct mcp_tools *out)
{
    out->row = cli_xcalloc(cli_n_commands * CLI_MOST_TOOLS, sizeof(*out->row));
    for (size_t i = 0; i < cli_n_commands; i++)
        for (size_t k = 0; k < CLI_MOST_TOOLS && cli_commands[i]->tool[k].name; k++) {
            const struct mcp_row row = {&cli_commands[i]->tool[k], cli_commands[i]};
            size_t at = out->n++;
            for (; at && row.tool->place < out->row[at - 1].tool->place; at--)
                out->row[at] = out->row[at - 1];
            out->row[at] = row;
        }
}

void mcp_tools_make(struct mcp_tools *out)
{
    *out = (struct mcp_tools){.n = 0};
    list_rows(out);
    out->tool = cli_xcalloc(out->n, sizeof(*out->tool));
    for (size_t i = 0; i < out->n; i++) {
        const struct cli_tool *row = out->row[i].tool;
        struct oc_mcp_param *param = cli_xcalloc(MAX_PARAMS, sizeof(*param));
        out->tool[i] =
            (struct oc_mcp_tool){.name = row->name, .about = row->about, .param = param, .brief = row->brief};
        add_params(&out->tool[i], param, row, row->files, NULL);
        add_params(&out->tool[i], param, row, row->options, out->row[i].command);
        add_params(&out->tool[i], param, row, row->more, out->row[i].command);
    }
}

void mcp_tools_free(struct mcp_tools *t)
{
    for (size_t i = 0; i < t->n; i++) {
        for (size_t k = 0; k < t->tool[i].n_param; k++) {
            free((char *)(uintptr_t)t->tool[i].param[k].name);
            free((char *)(uintptr_t)t->tool[i].param[k].about);
        }
        free((struct oc_mcp_param *)(uintptr_t)t->tool[i].param);
    }
    free(t->tool);
    free(t->row);
}

/* ---- arguments of a call ---------------------------------------------------------------------------- */

struct words {
    char **item;
    size_t n;
};

static void add_word(struct words *w, char *word)
{
    w->item = cli_xrealloc(w->item, (w->n + 2) * sizeof(*w->item));
    w->item[w->n++] = word;
    w->item[w->n] = NULL;
}

static bool has_value(const struct oc_mcp_tool *tool, const char *name, const struct oc_mcp_value *value,
                      size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(tool->param[value[i].param].name, name))
            return true;
    return false;
}

char **mcp_argv(const struct mcp_tools *t, size_t tool, const struct oc_mcp_value *value, size_t n,
                const char *const *more, size_t n_more, int *argc)
{
    const struct cli_tool *row = t->row[tool].tool;
    const struct oc_mcp_tool *is = &t->tool[tool];
    struct words w = {NULL, 0};
    size_t n_files = 0;
    for (const char *p = row->files; *p; p += strspn(p, " !"), n_files++)
        p += strcspn(p, " !");
    add_word(&w, join("onnxcost"));
    add_word(&w, join("%s", t->row[tool].command->name));
    add_word(&w, join("--format=json"));
    if (row->fixed)
        add_word(&w, join("%s", row->fixed));
    if (row->top && !has_value(is, "top", value, n))
        add_word(&w, join("--top=%s", row->top));
    for (size_t i = 0; i < n_more; i++)
        add_word(&w, join("%s", more[i]));
    for (size_t i = 0; i < n; i++) {
        const struct oc_mcp_param *p = &is->param[value[i].param];
        if (value[i].param < n_files)
            continue;
        const struct cli_option *o = cli_option_named(p->name, strlen(p->name), t->row[tool].command);
        add_word(&w, join("--%s%s%s", p->name, p->kind == OC_MCP_FLAG ? "" : "=",
                          o->answer ? "=-" : value[i].text));
    }
    add_word(&w, join("--"));
    for (size_t k = 0; k < n_files; k++)
        for (size_t i = 0; i < n; i++)
            if (value[i].param == k)
                add_word(&w, join("%s", value[i].text));
    *argc = (int)w.n;
    return w.item;
}

void mcp_argv_free(char **argv)
{
    for (char **p = argv; p && *p; p++)
        free(*p);
    free(argv);
}

/* ---- the command ------------------------------------------------------------------------------------ */

static int run_mcp(const struct cli_opts *o)
{
    const struct mcp_opts *own = o->own;
    return o->word.n ? cli_fail(CLI_USAGE, "'mcp' takes no files: the client names them in its calls")
                     : mcp_serve(o, own->root);
}

const struct cli_command cmd_mcp = {
    .name = "mcp",
    .phrase = "tools for agents (Model Context Protocol)",
    .use = {{"onnxcost mcp [--root DIR]",
             "a server of the Model Context Protocol on standard input and output: tools for agents"}},
    .run = run_mcp,
    .options = "limit",
    .own = CLI_OWN(own_options, struct mcp_opts),
    .example = {{"onnxcost mcp --root models", "files of one folder only"},
                {"onnxcost mcp --limit nodes=100k", "smaller limits for the models of a client"}},
};
