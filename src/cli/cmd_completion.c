/* onnxcost completion: a script for a shell. */
#include <string.h>

#include "cli/complete.h"
#include "cli/output.h"

static const struct {
    const char *name;
    void (*write)(FILE *f);
} shells[] = {{"bash", complete_bash}, {"zsh", complete_zsh}, {"fish", complete_fish}};

int cmd_completion(const struct cli_opts *o)
{
    void (*write)(FILE *) = NULL;
    for (size_t i = 0; o->word.n == 1 && i < sizeof(shells) / sizeof(shells[0]); i++)
        if (!strcmp(o->word.item[0], shells[i].name))
            write = shells[i].write;
    if (!write)
        return cli_fail(CLI_USAGE, "'completion' needs the name of a shell: bash, zsh or fish");
    struct cli_output out;
    int rc = cli_output_open(o->output, &out);
    if (rc)
        return rc;
    write(out.f);
    return cli_output_close(&out, true);
}
