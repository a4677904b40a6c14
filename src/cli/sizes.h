/* Lists of sizes in options: "1,2,4", "1..64*2", "128..512+128", or several of these with commas. */
#ifndef OC_CLI_SIZES_H
#define OC_CLI_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_sizes {
    int64_t *v; /* heap */
    size_t n, cap;
};

/* False: not a list, or too long. `out` is initially empty; the caller frees its memory in any case. */
bool cli_sizes_parse(const char *text, struct cli_sizes *out);

#endif
