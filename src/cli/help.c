#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/help_pages.h"
#include "cli/output.h"

/* Each is run by tests/check_examples.sh. */
static const struct {
    const char *command, *line, *text;
    bool front; /* in the help of the whole */
} examples[] = {
    {"cost", "onnxcost resnet50.onnx", "what every operator computes and moves", true},
    {"cost", "onnxcost bert.onnx -d batch=8 -d sequence=384", "the same for other sizes", true},
    {"cost", "onnxcost resnet50.onnx -p ort_profile.json", "beside the measured time", true},
    {"cost", "onnxcost resnet50.onnx -p ort_profile.json --hw a100", "and the limits of the hardware", true},
    {"cost", "onnxcost profile.json --aggregate-by type --aggregate sum", "a profile alone, by operator type",
     true},
    {"cost", "onnxcost bert.onnx --type MatMul --order-by flops -t 5", "the five largest matrix products",
     true},
    {"cost", "onnxcost bert.onnx --formula", "MACs, FLOPs, bytes as polynomials in the open sizes", false},
    {"cost", "onnxcost bert.onnx --sweep batch=1..64*2 --sweep sequence=128,512",
     "a line for each of the sizes", false},
    {"cost", "onnxcost resnet50.onnx --why /conv1/Conv", "how the counts of an operator came about", false},
    {"cost", "onnxcost resnet50.onnx -p ort_profile.json --advise",
     "what could be faster, and what proves it", true},
    {"cost", "onnxcost resnet50.onnx -p a.json -p b.json", "two profiles side by side", false},
    {"explain", "onnxcost explain resnet50.onnx --convention onnxcost --convention fvcore",
     "why two tools print different totals", false},
    {"compare", "onnxcost compare resnet50.onnx --hw t4 --hw l4 --hw a10",
     "which device is the fastest for a model", true},
    {"compare", "onnxcost compare resnet50.onnx --hw kind=gpu --batch 1,8,64 --sort throughput",
     "all GPUs, for three batches", false},
    {"llm", "onnxcost llm decoder.onnx --prompt 2000 --hw rtx-4090",
     "a language model: prompt and tokens on a device", true},
    {"scan", "onnxcost scan models -f ndjson -o models.ndjson", "a folder of models, a row for each", true},
    {"memory", "onnxcost memory bert.onnx", "what is in use at once, where, and what no order could go below",
     false},
    {"memory", "onnxcost memory bert.onnx -d batch=32 --hw t4 --fit", "does it fit, and up to which batch",
     false},
    {"memory", "onnxcost memory bert.onnx --plan plan.json", "a place in one block for every buffer", false},
    {"summary", "onnxcost summary trace.json.gz", "where the time of a profile goes", false},
    {"summary", "onnxcost summary ort_profile.json --view operator --sort CPUMax -t 5",
     "the operators with the longest calls", false},
    {"record", "onnxcost record resnet50.onnx --threads 1 --report", "run it and show where the time went",
     false},
    {"calibrate", "onnxcost calibrate *.profile.json --hw here.xml -o here.cal.xml",
     "what this machine makes of kernels, learnt from recordings", false},
    {"estimate", "onnxcost estimate new.onnx --hw here.xml --calibration here.cal.xml",
     "how long another model will take there", false},
    {"estimate", "onnxcost estimate new.onnx --hw a100", "a band, from the hardware alone", false},
    {"validate", "onnxcost validate *.profile.json --hw here.xml", "how good such estimates are", false},
    {"hw", "onnxcost hw list", "the devices that --hw knows", false},
    {"hw", "onnxcost hw show a100", "the figures of one, and where they are from", false},
    {"hw", "onnxcost hw diff a100 rtx-4090", "two of them side by side", false},
    {"hw", "onnxcost hw measure -o here.xml", "this machine's peaks and bandwidths, for --hw here.xml", true},
    {"diff", "onnxcost diff old.onnx new.onnx", "what was added, removed and changed", false},
    {"check", "onnxcost check resnet50.onnx --max-macs 5G", "exit code 1 when it has more", false},
    {"ops", "onnxcost ops", "the operators, with the formulas of their costs", false},
    {"completion", "onnxcost completion bash", "for ~/.bashrc: source <(onnxcost completion bash)", false},
    {"schema", "onnxcost schema", "to check reports with, or to make readers of them", false},
    {"help", "onnxcost help limits", "how much a file may ask for, and the options that raise it", false},
    {"help", "onnxcost help memory", "a command with its examples and options", false},
    {"cost", "onnxcost bert.onnx -f csv -o bert.csv", "everything for a spreadsheet", true},
    {"cost", "onnxcost bert.onnx -f markdown -t 10", "tables for a pull request", true},
};

enum { TEXT_AT = 31, WIDTH = 100 };

/* Words of `text` from column TEXT_AT on; `column` is where the line stands. */
static void wrapped(FILE *f, const char *text, int column)
{
    if (column >= TEXT_AT) {
        fputc('\n', f);
        column = 0;
    }
    fprintf(f, "%*s", TEXT_AT - column, "");
    column = TEXT_AT;
    while (*text) {
        int n = (int)strcspn(text, " ");
        if (column > TEXT_AT && column + 1 + n > WIDTH) {
            fprintf(f, "\n%*s", TEXT_AT, "");
            column = TEXT_AT;
        } else if (column > TEXT_AT) {
            fputc(' ', f);
            column++;
        }
        fprintf(f, "%.*s", n, text);
        column += n;
        text += n + (text[n] == ' ');
    }
    fputc('\n', f);
}

static void option_line(FILE *f, const struct cli_option *p)
{
    char text[512];
    int column =
        p->letter ? fprintf(f, "  -%c, --%s", p->letter, p->name) : fprintf(f, "      --%s", p->name);
    if (p->arg)
        column += fprintf(f, "%s%s", p->kind == CLI_MAYBE ? "" : " ", p->arg);
    snprintf(text, sizeof(text), "%s%s%s%s%s%s%s", p->help, p->unit || p->otherwise ? " (" : "",
             p->unit ? p->unit : "", p->unit && p->otherwise ? "; " : "", p->otherwise ? "default: " : "",
             p->otherwise ? p->otherwise : "", p->unit || p->otherwise ? ")" : "");
    wrapped(f, text, column);
}

/* Lines that are short enough have their text beside them. */
static void example(FILE *f, size_t i)
{
    int used = fprintf(f, "  %-58s", examples[i].line);
    fprintf(f, used > 60 ? "\n%61s%s\n" : "%s%s\n", " ", examples[i].text);
}

/* Of all options, or of those that a command takes. */
static void option_lines(FILE *f, unsigned mask)
{
    const char *group = NULL;
    for (size_t i = 0; i < cli_n_options; i++) {
        group = cli_options[i].group ? cli_options[i].group : group;
        if (!(cli_options[i].mask & mask))
            continue;
        if (group)
            fprintf(f, "\n%s\n", group);
        group = NULL;
        option_line(f, &cli_options[i]);
    }
}

static void usage_lines(FILE *f, const char *command)
{
    const char *before = "usage: ";
    for (size_t i = 0; i < cli_n_commands; i++) {
        if (command && strcmp(cli_commands[i].name, command) != 0)
            continue;
        wrapped(f, cli_commands[i].title, fprintf(f, "%s%s", before, cli_commands[i].usage));
        before = "       ";
    }
}

static void print_command(FILE *f, const struct cli_command *c)
{
    usage_lines(f, c->name);
    fprintf(f, "\nExamples\n");
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
        if (!strcmp(examples[i].command, c->name))
            example(f, i);
    option_lines(f, c->mask);
}

static void print_help(FILE *f)
{
    fprintf(f, "onnxcost %s: where the time and memory of a neural network go\n\n", ONNXCOST_VERSION);
    usage_lines(f, NULL);
    fprintf(f, "\nExamples (onnxcost help COMMAND has more)\n");
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
        if (examples[i].front)
            example(f, i);
    option_lines(f, CLI_ALL);
    fprintf(f, "\nProfile formats\n");
    const char *name, *title;
    for (size_t i = 0; oc_profile_format(i, &name, &title); i++)
        wrapped(f, title, fprintf(f, "  %s", name));
    fprintf(f, "\nExit codes: 0 done, 1 findings with --strict, no fit with --fit or error rows of scan, 2 "
               "usage, 3 input, 4 environment\n");
}

/* help COMMAND, COMMAND --help; anything else before --help is the argument of a command that is not named.
 */
int cmd_help(const struct cli_opts *o)
{
    const struct cli_command *about = NULL;
    for (size_t i = 0; o->word.n && i < cli_n_commands; i++)
        if (!strcmp(cli_commands[i].name, o->word.item[0]))
            about = &cli_commands[i];
    const char *word = o->word.n ? o->word.item[0] : "";
    bool page = !o->help && !about && cli_is_page(word), lists = !o->help && !strcmp(word, "man");
    if (o->word.n && !about && !o->help && !page && !lists)
        return cli_fail(CLI_USAGE, "no command or topic is called '%s'; try onnxcost help", word);
    if (page)
        return cli_help_page(o, word);
    if (about && !strcmp(about->name, "help"))
        about = NULL;
    struct cli_output out;
    int rc = cli_output_open(o->output, &out);
    if (rc)
        return rc;
    if (lists)
        rc = cli_help_man(o, out.f);
    else if (about)
        print_command(out.f, about);
    else
        print_help(out.f);
    int closed = cli_output_close(&out, rc == 0);
    return rc ? rc : closed;
}
