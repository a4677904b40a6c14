/* "-" as an input file: standard input. */
#ifndef OC_CLI_STDIN_FILE_H
#define OC_CLI_STDIN_FILE_H

#include "cli/options.h"

/* If an input file is "-": makes standard input a regular file in memory when it is a pipe (the library reads
 * "-" more than once), within the limit file-bytes. Returns 0, or an exit code after a message. */
int cli_take_stdin(const struct cli_opts *o);

#endif
