#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "onnxcost/report.h"

#define SHAPES  " dim shape value default-dim no-defaults"
#define DEVICES " hw-set no-tf32 cache"
#define COUNTS  " convention op-rules"
#define PROFILE " profile-format optimized-model warmup iterations"

/* Names are separated by blanks; '!' at the end: required. */
static const struct row {
    const char *name, *command, *title, *about;
    const char *files;   /* arguments without an option, in order */
    const char *options; /* of the command */
    const char *fixed;   /* arguments of every call */
    const char *top;     /* default of the option top, NULL: that of the command */
    const char *schema;  /* of oc_schema_write */
} rows[] = {
    {"analyze", "cost", "Cost of a model",
     "FLOPs, MACs, bytes, parameters and memory of an ONNX model (or config.json, safetensors, GGUF) and of "
     "each operator; with hw also roofline times. Figures are exact unless their quality says otherwise.",
     "model!", "hw" DEVICES SHAPES COUNTS " type opr-name order-by group-by as what-if roofline advise top",
     NULL, "20", "report"},
    {"why", "cost", "Why an operator costs what it costs",
     "The formula of an operator with its numbers and where they come from.", "model!", "why!" SHAPES COUNTS,
     "--top=1", NULL, "report"},
    {"profile", "cost", "A measured profile",
     "Times of a recorded profile (ONNX Runtime, PyTorch, TensorRT, Nsight and others), joined with the "
     "model "
     "if it is given: time, efficiency and gap to the roofline of each operator.",
     "model", "profile! hw" DEVICES PROFILE SHAPES " stat type opr-name order-by group-by advise force top",
     NULL, "20", "report"},
    {"compare", "compare", "Rank devices for a model",
     "Lower bound or estimate of the time of a model on devices, by batch; crossover batches, energy and "
     "whether it fits the memory.",
     "model!", "hw!" DEVICES SHAPES " batch sort as calibration top", NULL, NULL, NULL},
    {"memory", "memory", "Memory of a model",
     "Peak activation memory, what is live at the peak, live ranges and arena offsets; with hw whether it "
     "fits.",
     "model!", "hw hw-set" SHAPES " align keep-inputs allocator plan reorder fit top", NULL, NULL, NULL},
    {"estimate", "estimate", "Predicted latency of a model on a device",
     "Latency with its interval and basis, and the kernels that the runtime is expected to run.", "model!",
     "hw! hw-set no-tf32" SHAPES " as calibration fusion opt-level top", NULL, "20", NULL},
    {"check", "check", "Compare a model with limits",
     "Whether a model keeps limits or a baseline: which passed, failed, or are inconclusive.", "model!",
     "max-macs max-flops max-params max-weight-bytes max-peak-memory max-latency min-efficiency max-opset "
     "no-unknown forbid-op budget baseline tolerance profile hw calibration" SHAPES COUNTS,
     NULL, NULL, NULL},
    {"diff", "diff", "Compare two models",
     "Operators that were added, removed or changed between two models, and the totals of both.", "a! b!",
     "hw" SHAPES COUNTS " sort top", NULL, "20", NULL},
    {"llm", "llm", "Cost of a language model",
     "Prefill and decode step of a decoder with a KV cache: cost, cache bytes per token, lower bounds on "
     "devices.",
     "model!", "hw" DEVICES SHAPES " batch prompt generate as", NULL, NULL, NULL},
    {"devices", "hw", "Devices", "Names and figures of the devices that hw accepts.", "", "", "list", NULL,
     NULL},
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]), MAX_PARAMS = 40 };

/* ---- making them ------------------------------------------------------------------------------------ */

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

static const struct cli_option *option_named(const char *name, size_t n)
{
    for (size_t i = 0; i < cli_n_options; i++)
        if (strlen(cli_options[i].name) == n && !memcmp(cli_options[i].name, name, n))
            return &cli_options[i];
    return NULL;
}

static struct oc_mcp_param param_of_file(const char *name, size_t n, bool required)
{
    return (struct oc_mcp_param){
        .name = cli_xstrndup(name, n), .about = join("path of a model"), .required = required};
}

static struct oc_mcp_param param_of_option(const struct cli_option *o, const struct row *row, bool required)
{
    static const unsigned char kind[] = {
        [CLI_FLAG] = OC_MCP_FLAG, [CLI_TEXT] = OC_MCP_TEXT,  [CLI_CHOICE] = OC_MCP_TEXT,
        [CLI_LIST] = OC_MCP_LIST, [CLI_MAYBE] = OC_MCP_LIST, [CLI_INT] = OC_MCP_INT};
    bool arg = o->arg && o->kind != CLI_CHOICE && o->kind != CLI_INT;
    const char *top = row->top ? row->top : "all";
    const char *otherwise = strcmp(o->name, "top") ? o->otherwise : top;
    return (struct oc_mcp_param){.name = cli_xstrndup(o->name, strlen(o->name)),
                                 .about = join("%s%s%s%s%s%s", arg ? o->arg : "", arg ? ": " : "", o->help,
                                               otherwise ? " (default: " : "", otherwise ? otherwise : "",
                                               otherwise ? ")" : ""),
                                 .choices = o->kind == CLI_CHOICE ? o->arg : NULL,
                                 .kind = kind[o->kind],
                                 .required = required};
}

/* The names are files, or options if `option`. */
static void add_params(struct oc_mcp_tool *t, struct oc_mcp_param *to, const struct row *row,
                       const char *names, bool option)
{
    for (const char *p = names; *p && t->n_param < MAX_PARAMS;) {
        size_t n = strcspn(p, " !");
        bool required = p[n] == '!';
        const struct cli_option *o = option ? option_named(p, n) : NULL;
        if (o)
            to[t->n_param++] = param_of_option(o, row, required);
        else if (!option && n)
            to[t->n_param++] = param_of_file(p, n, required);
        p += n;
        p += strspn(p, " !");
    }
}

static char *schema_text(const char *name)
{
    char *text = NULL;
    size_t n = 0;
    struct oc_err err;
    FILE *f = name ? open_memstream(&text, &n) : NULL;
    if (!f)
        return NULL;
    oc_schema_write(name, f, &err);
    if (fclose(f))
        cli_out_of_memory(0);
    return text;
}

void cli_mcp_tools_make(struct cli_mcp_tools *out)
{
    *out = (struct cli_mcp_tools){cli_xcalloc(N_ROWS, sizeof(*out->tool)), N_ROWS};
    for (size_t i = 0; i < N_ROWS; i++) {
        struct oc_mcp_param *param = cli_xcalloc(MAX_PARAMS, sizeof(*param));
        out->tool[i] = (struct oc_mcp_tool){.name = rows[i].name,
                                            .title = rows[i].title,
                                            .about = rows[i].about,
                                            .param = param,
                                            .schema = schema_text(rows[i].schema)};
        add_params(&out->tool[i], param, &rows[i], rows[i].files, false);
        add_params(&out->tool[i], param, &rows[i], rows[i].options, true);
    }
}

void cli_mcp_tools_free(struct cli_mcp_tools *t)
{
    for (size_t i = 0; i < t->n; i++) {
        for (size_t k = 0; k < t->tool[i].n_param; k++) {
            free((char *)(uintptr_t)t->tool[i].param[k].name);
            free((char *)(uintptr_t)t->tool[i].param[k].about);
        }
        free((struct oc_mcp_param *)(uintptr_t)t->tool[i].param);
        free((char *)(uintptr_t)t->tool[i].schema);
    }
    free(t->tool);
}

/* ---- calls ------------------------------------------------------------------------------------------ */

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

/* Every value is one word with the name of its option, or follows "--": none can become another option. */
char **cli_mcp_argv(const struct cli_mcp_tools *t, size_t tool, const struct oc_mcp_value *value, size_t n,
                    const char *const *more, size_t n_more, int *argc)
{
    const struct row *row = &rows[tool];
    const struct oc_mcp_tool *is = &t->tool[tool];
    struct words w = {NULL, 0};
    size_t n_files = 0;
    for (const char *p = row->files; *p; p += strspn(p, " !"), n_files++)
        p += strcspn(p, " !");
    add_word(&w, join("onnxcost"));
    add_word(&w, join("%s", row->command));
    add_word(&w, join("--format=json"));
    if (row->fixed)
        add_word(&w, join("%s", row->fixed));
    if (row->top && !has_value(is, "top", value, n))
        add_word(&w, join("--top=%s", row->top));
    for (size_t i = 0; i < n_more; i++)
        add_word(&w, join("%s", more[i]));
    for (size_t i = 0; i < n; i++) {
        const struct oc_mcp_param *p = &is->param[value[i].param];
        if (value[i].param >= n_files)
            add_word(&w, p->kind == OC_MCP_FLAG ? join("--%s", p->name)
                                                : join("--%s=%s", p->name, value[i].text));
    }
    add_word(&w, join("--"));
    for (size_t k = 0; k < n_files; k++)
        for (size_t i = 0; i < n; i++)
            if (value[i].param == k)
                add_word(&w, join("%s", value[i].text));
    *argc = (int)w.n;
    return w.item;
}

void cli_mcp_argv_free(char **argv)
{
    for (char **p = argv; p && *p; p++)
        free(*p);
    free(argv);
}
