/* Messages about options and commands that do not exist, or not here. */
#ifndef OC_CLI_UNKNOWN_H
#define OC_CLI_UNKNOWN_H

#include "cli/options.h"

/* "unknown option '--profle'; did you mean '--profile'?", with what to use where other tools have the option.
 * `mask`: of the command that is called. */
void cli_say_unknown_option(const char *argument, unsigned mask, char *why, size_t cap);

/* "--batch is an option of llm and compare; here use --dim batch=8". `value` may be NULL. Returns CLI_USAGE.
 */
int cli_fail_foreign_option(const char *name, const char *value, unsigned mask);

/* The argument of help: "unknown command or topic 'metrcs'; did you mean 'metrics'?" Returns CLI_USAGE. */
int cli_fail_topic(const char *word);

/* 0, or an exit code after a message: the first word is neither a command nor a file. */
int cli_check_command(const char *word);

/* What is wrong with the value of an option that has choices (separated by '|'). */
void cli_say_choice(const char *name, const char *choices, const char *value, char *why, size_t cap);

/* The formats of the command of this mask, separated by '|'. */
const char *cli_formats(unsigned mask);

/* 0, or CLI_USAGE after a message: the command of this mask has no such --format. */
int cli_check_format(const char *format, unsigned mask);

#endif
