/* The manual pages inside the program: topics, where their text is, and the lists that the build puts into
 * them. */
#ifndef OC_HELP_H
#define OC_HELP_H

#include "cli/cli.h"

/* Topics of `onnxcost help TOPIC`: the page onnxcost-TOPIC. */
extern const char *const cli_topics[];
extern const size_t cli_n_topics;

#endif
