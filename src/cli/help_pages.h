/* The manual pages inside the program: topics, where their text is, and the lists that the build puts into
 * them. */
#ifndef OC_CLI_HELP_PAGES_H
#define OC_CLI_HELP_PAGES_H

#include "cli/cli.h"

/* Topics of `onnxcost help TOPIC`: the page onnxcost-TOPIC. */
extern const char *const cli_topics[];
extern const size_t cli_n_topics;

/* Whether `word` names a page: a topic, or the name of a page such as onnxcost-record. */
bool cli_is_page(const char *word);

/* Opens the page of `word` with man when standard output is a terminal, else prints its text. Returns the
 * exit code, after a message unless it is 0. */
int cli_help_page(const struct cli_opts *o, const char *word);

/* `onnxcost help man LIST [COMMAND]`: a list in macros of man(7). Returns the exit code. */
int cli_help_man(const struct cli_opts *o, FILE *f);

#endif
