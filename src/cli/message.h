/* Memory that is there, or the end of the program: exit code 4, nothing half written left. Freed with free().
 */
#ifndef OC_MESSAGE_H
#define OC_MESSAGE_H

#include <stddef.h>

#include "cli/options.h"

void *cli_xcalloc(size_t n, size_t size_bytes);
void *cli_xrealloc(void *old, size_t size_bytes);
char *cli_xstrndup(const char *s, size_t n);

/* The handler of oc_set_oom_handler. 0 bytes: unknown size. */
_Noreturn void cli_out_of_memory(size_t size_bytes);

/* ---- fault ------------------------------------------------------------------------------------------ */

/* Handlers of signals that end the program: temporary files are removed, and a mapped file that was truncated
 * while it was read is named in a message. */

/* Once, at the start, before other threads. Commands may install handlers of their own for SIGINT and SIGTERM
 * afterwards. */
void cli_fault_install(void);

/* A file that goes when the program is ended; `path` must stay until cli_fault_forget. At most 8, more are
 * left. */
void cli_fault_remove(const char *path);
void cli_fault_forget(const char *path);

/* Until cli_fault_stop_over the first SIGINT sets the returned flag instead of ending the program; the second
 * one ends it. Also if SIGINT was ignored before. */
const volatile int *cli_fault_stop_begin(void);
void cli_fault_stop_over(void);

/* ---- unknown ------------------------------------------------------------------------------------------- */

/* Messages about options and commands that do not exist, or not here. */

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
