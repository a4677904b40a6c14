#include "cli/xmem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/fault.h"

void cli_out_of_memory(size_t size_bytes)
{
    cli_fault_clean_up();
    if (size_bytes)
        cli_fail(CLI_ENVIRONMENT, "out of memory (%zu bytes)", size_bytes);
    else
        cli_fail(CLI_ENVIRONMENT, "out of memory");
    _exit(CLI_ENVIRONMENT); /* standard output may be in the middle of anything */
}

void *cli_xcalloc(size_t n, size_t size_bytes)
{
    void *p = calloc(n ? n : 1, size_bytes);
    if (!p)
        cli_out_of_memory(n * size_bytes);
    return p;
}

void *cli_xrealloc(void *old, size_t size_bytes)
{
    void *p = realloc(old, size_bytes);
    if (!p)
        cli_out_of_memory(size_bytes);
    return p;
}

char *cli_xstrndup(const char *s, size_t n)
{
    char *p = strndup(s, n);
    if (!p)
        cli_out_of_memory(n + 1);
    return p;
}
