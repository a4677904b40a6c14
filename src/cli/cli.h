/* Shared by the parts of the program: exit codes, messages, commands. The program uses only the public
 * headers. */
#ifndef OC_CLI_H
#define OC_CLI_H

#include "cli/command.h"
#include "cli/options.h"
#include "onnxcost.h"

enum cli_exit {
    CLI_OK = 0,
    CLI_FINDINGS = 1, /* --strict and something was assumed, conflicting or unknown; --fit and it does not; a
                         limit of `check` is not kept; a scan has error rows */
    CLI_USAGE = 2,
    CLI_INPUT = 3,
    CLI_ENVIRONMENT = 4
};

/* "onnxcost: message" on stderr, one line whatever the message holds. Returns `code`. */
int cli_fail(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cli_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void cli_warn_diag(const struct oc_diag *d, bool code); /* "where: text", and " [code]" */

/* Prints the library's error with its place and returns the exit code that fits it. */
int cli_fail_err(const struct oc_err *err);

/* The program after the set-up of its process: parses the arguments, runs the command. Returns the exit code.
 */
int cli_run(int argc, char **argv);

int cli_version(const struct cli_opts *o);

/* ---- parts of commands ------------------------------------------------------------------------------ */

/* --fit: whether a model fits the memory of a device. */
/* Whether the options go together. Returns 0 or the exit code after a message. */
int cli_check_memory(const struct cli_opts *o);

/* Writes the answer. Returns CLI_OK if the model fits, CLI_FINDINGS if not or not known, or the exit code
 * after a message. */
int cli_write_fit(const struct oc_analysis *analysis, const struct oc_analyze_opts *opts,
                  const struct oc_device *device, FILE *out);

/* diff: writes it with the options of `o`, which are not those of diff alone, and these optimized models (NULL: none).
 * With a label: prints only what the recordings show, after the label. Returns the exit code after a message. */
int cli_diff_recordings(const struct cli_opts *o, const char *a_optimized, const char *b_optimized,
                        const char *label);

/* Runs of ONNX Runtime (cmd_record.c). The options of a recording, except for its files; `side` has the model.
 * Returns 0 or the exit code after a message. */
struct cli_side;
struct oc_record_opts;
int cli_record_options(const struct cli_opts *o, struct cli_side *side, struct oc_record_opts *out);
/* --repeat of bisect and tune; 0: not given. */
int cli_record_rounds(const struct cli_opts *o, uint32_t *out);
/* Around a call that runs it: a signal that ends the program is obeyed when no partial file is left, and progress is
 * shown. cli_record_end returns 0 or the exit code after the message of *err. */
void cli_record_begin(struct cli_side *side);
int cli_record_end(struct cli_side *side, int rc, const struct oc_err *err);
/* Recordings of the model with each of these libraries, alternated, and their comparison with the first. */
int cli_record_libraries(const struct cli_opts *o, const char *const *library, size_t n);

/* Topics of `onnxcost help TOPIC`: the page onnxcost-TOPIC. */
extern const char *const cli_topics[];
extern const size_t cli_n_topics;

/* ---- unknown names ---------------------------------------------------------------------------------- */

/* Messages about options and commands that do not exist, or not here. */

/* "unknown option '--profle'; did you mean '--profile'?", with what to use where other tools have the option. */
void cli_say_unknown_option(const char *argument, const struct cli_command *c, char *why, size_t cap);
/* "unknown key 'tap' for --count; did you mean 'taps'?", or for which commands the key is. */
void cli_say_unknown_key(const struct cli_option *of, const char *text, const struct cli_command *c,
                         char *why, size_t cap);

/* The argument of help: "unknown command or topic 'metrcs'; did you mean 'metrics'?" Returns CLI_USAGE. */
int cli_fail_topic(const char *word);

/* What is wrong with the value of an option that has choices (separated by '|'). */
void cli_say_choice(const char *name, const char *choices, const char *value, char *why, size_t cap);

#endif
