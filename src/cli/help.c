#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"

static const char *const examples[][2] = {
    {"onnxcost resnet50.onnx", "what every operator computes and moves"},
    {"onnxcost bert.onnx -d batch=8 -d sequence=384", "the same for other sizes"},
    {"onnxcost resnet50.onnx -p ort_profile.json", "beside the measured time"},
    {"onnxcost resnet50.onnx -p ort_profile.json --hw a100", "and the limits of the hardware"},
    {"onnxcost profile.json --aggregate-by type --aggregate sum", "a profile alone, by operator type"},
    {"onnxcost bert.onnx --type MatMul --order-by flops -t 5", "the five largest matrix products"},
    {"onnxcost compare resnet50.onnx --hw t4 --hw l4 --hw a10", "which device is the fastest for a model"},
    {"onnxcost llm model.onnx --prompt 2000 --hw rtx-4090",
     "a language model: prompt and tokens on a device"},
    {"onnxcost scan models -f ndjson -o models.ndjson", "a folder of models, a row for each"},
    {"onnxcost hw measure -o here.xml", "this machine's peaks and bandwidths, for --hw here.xml"},
    {"onnxcost bert.onnx -f csv -o bert.csv", "everything for a spreadsheet"},
    {"onnxcost bert.onnx -f markdown -t 10", "tables for a pull request"},
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

static void print_help(FILE *f)
{
    fprintf(f, "onnxcost %s: where the time and memory of a neural network go\n\n", ONNXCOST_VERSION);
    for (size_t i = 0; i < cli_n_commands; i++)
        wrapped(f, cli_commands[i].title,
                fprintf(f, "%s%s", i ? "       " : "usage: ", cli_commands[i].usage));
    fprintf(f, "\nExamples\n");
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
        fprintf(f, "  %-58s %s\n", examples[i][0], examples[i][1]);
    for (size_t i = 0; i < cli_n_options; i++) {
        if (cli_options[i].group)
            fprintf(f, "\n%s\n", cli_options[i].group);
        option_line(f, &cli_options[i]);
    }
    fprintf(f, "\nProfile formats\n");
    const char *name, *title;
    for (size_t i = 0; oc_profile_format(i, &name, &title); i++)
        wrapped(f, title, fprintf(f, "  %s", name));
    fprintf(f, "\nExit codes: 0 done, 1 findings with --strict, no fit with --fit or error rows of scan, 2 "
               "usage, 3 input, 4 environment\n");
}

int cmd_help(const struct cli_opts *o)
{
    struct cli_output out;
    int rc = cli_output_open(o->output, &out);
    if (rc)
        return rc;
    print_help(out.f);
    return cli_output_close(&out, true);
}
