/* Any lines as command-line arguments: accepted, or rejected with a reason. */
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { MAX_ARG = 64 };

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
