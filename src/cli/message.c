#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

/* File names and texts from files may hold anything: the message stays one printable line. */
static void print_line(const char *prefix, const char *fmt, va_list ap)
{
    char text[2048];
    vsnprintf(text, sizeof(text), fmt, ap);
    const char *wipe = isatty(STDERR_FILENO) ? "\r\033[K" : ""; /* a progress line may be there */
    fprintf(stderr, "%sonnxcost: %s%s\n", wipe, prefix, oc_make_visible(text));
}

int cli_fail(int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    print_line("", fmt, ap);
    va_end(ap);
    return code;
}

void cli_warn(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    print_line("warning: ", fmt, ap);
    va_end(ap);
}

static const unsigned char exit_of[] = {
    [OC_OK] = CLI_INPUT,        [OC_EIO] = CLI_INPUT,           [OC_EFORMAT] = CLI_INPUT,
    [OC_ELIMIT] = CLI_INPUT,    [OC_EUNSUPPORTED] = CLI_INPUT,  [OC_EARG] = CLI_USAGE,
    [OC_ENOTFOUND] = CLI_USAGE, [OC_EOUTPUT] = CLI_ENVIRONMENT, [OC_ELIBRARY] = CLI_ENVIRONMENT,
    [OC_ESTOPPED] = CLI_INPUT,
};

int cli_fail_err(const struct oc_err *err)
{
    char place[96] = "";
    if (err->line && err->offset_bytes)
        snprintf(place, sizeof(place), " (line %u, offset %llu)", (unsigned)err->line,
                 (unsigned long long)err->offset_bytes);
    else if (err->line)
        snprintf(place, sizeof(place), " (line %u)", (unsigned)err->line);
    else if (err->offset_bytes)
        snprintf(place, sizeof(place), " (offset %llu)", (unsigned long long)err->offset_bytes);
    int code = (size_t)err->code < sizeof(exit_of) ? exit_of[err->code] : CLI_INPUT;
    bool whole = !strncmp(err->msg, "cannot read '",
                          13); /* the reader's message has the file, lines, and some offsets */
    if (whole)
        return cli_fail(code == CLI_USAGE && err->code == OC_ENOTFOUND ? CLI_INPUT : code, "%s%s", err->msg,
                        err->line || strstr(err->msg, place) ? "" : place);
    if (err->file[0] && !strstr(err->msg, err->file))
        return cli_fail(code, "cannot read '%s': %s%s", err->file, err->msg, place);
    return cli_fail(code, "%s%s", err->msg, place);
}

int cli_load_model(const char *path, const struct cli_opts *o, struct oc_model **model)
{
    struct oc_err err;
    if (!oc_model_load(path, &o->caps, model, &err))
        return 0;
    const char *format = err.code == OC_EFORMAT ? oc_profile_recognize(path) : NULL;
    if (format)
        return cli_fail(
            CLI_INPUT,
            "cannot read '%s': this is a profile (format %s), not an ONNX model: give the model, and the "
            "profile with --profile where the command takes one",
            path, format);
    return cli_fail_err(&err);
}

bool cli_is_headline(const struct oc_diag *d)
{
    return !strcmp(d->code, OC_DIAG_WRONG_MODEL) || !strcmp(d->code, OC_DIAG_OTHER_MODEL) ||
           !strcmp(d->code, OC_DIAG_OTHER_DEVICE);
}

int cli_check_pair(const struct cli_opts *o, const struct oc_report_in *in)
{
    struct oc_diag d[4];
    size_t n = oc_headlines(in, d, sizeof(d) / sizeof(d[0]));
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(d[i].code, OC_DIAG_WRONG_MODEL) && !o->force)
            return cli_fail(CLI_INPUT, "%s --force reports it all the same [%s]", d[i].text, d[i].code);
        cli_warn("%s%s%s [%s]", d[i].where, *d[i].where ? ": " : "", d[i].text, d[i].code);
    }
    return 0;
}
