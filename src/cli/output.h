/* Where a report goes: standard output, or a file that is complete or not there at all. */
#ifndef OC_OUTPUT_H
#define OC_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "onnxcost.h"

struct cli_output {
    FILE *f;
    const char *path; /* NULL: standard output */
    bool terminal;
    struct cli_sink *sink; /* owner of f */
    bool unsaid;           /* a write has failed, and the message is to come from cli_output_close */
    char *target;          /* what the temporary becomes; NULL: written directly (a device, a pipe) */
    char *temporary;       /* next to the target */
};

/* path NULL or "-": standard output. Returns 0, or the exit code after a message. A file that the command reads is
 * refused (CLI_USAGE), here or, if it is read later, by cli_output_close. */
int cli_output_open(const char *path, struct cli_output *out);

/* From now on files are refused (CLI_USAGE): the tools of a server write nothing. */
void cli_output_no_files(void);

/* Reports why the library could not write into f. If the output itself failed, cli_output_close reports that
 * instead. Returns the exit code. */
int cli_output_fail(struct cli_output *out, const struct oc_err *err);

/* Flushes, checks every write and puts the file into its place (keep), or removes the temporary.
 * Returns 0 or the exit code; a closed pipe gives CLI_ENVIRONMENT without a message. */
int cli_output_close(struct cli_output *out, bool keep);

/* All of these: opens, lets `put` write, closes. `put` returns 0, or -1 with *err filled. Returns 0 or the exit
 * code. */
typedef int (*cli_put)(const void *job, const struct cli_output *out, struct oc_err *err);
int cli_output_write(const char *path, cli_put put, const void *job);

/* Of a page (--format html): version, time, and the command line as a shell reads it. Heap; NULL for other formats. */
char *cli_page_made(const struct cli_opts *o);
/* "2026-11-30"; "" where it is not known. */
void cli_today(char *buf, size_t cap);

/* Columns to fit: `asked` if set, else COLUMNS, else of the terminal; 0: no limit (output is not a terminal).
 */
unsigned cli_width(const struct cli_output *out, const struct cli_int *asked);
/* The same before --output is open. */
unsigned cli_width_of(const struct cli_opts *o);
/* when: "auto" (NULL), "always", "never" */
bool cli_color(const struct cli_output *out, const char *when);

/* ---- progress --------------------------------------------------------------------------------------- */

/* A line on the terminal that says what takes long. It appears after one second, never when standard error is
 * not a terminal, and is wiped off at the end. */

struct cli_progress;
struct cli_progress *cli_progress_start(void); /* NULL: nothing will be shown */
void cli_progress_say(struct cli_progress *p, const char *what, const char *path); /* texts are copied */
/* Where a reader notes how far it is: the line then has the part read and the time left. NULL of NULL. */
struct oc_reading *cli_progress_reading(struct cli_progress *p);
void cli_progress_stop(struct cli_progress *p);

/* ---- step summary ----------------------------------------------------------------------------------- */

/* The step summary of GitHub Actions: Markdown on the page of a workflow run. */

/* With --format github, and where $GITHUB_STEP_SUMMARY names a file, appends what `write` writes to it.
 * Returns 0, or the exit code after a message. */
int cli_step_summary(const struct cli_opts *o, int (*write)(const void *subject, FILE *f, struct oc_err *err),
                     const void *subject);

/* ---- message ------------------------------------------------------------------------------------------ */

/* Memory that is there, or the end of the program: exit code 4, nothing half written left. Freed with free().
 */

void *cli_xcalloc(size_t n, size_t size_bytes);
void *cli_xrealloc(void *old, size_t size_bytes);
char *cli_xstrndup(const char *s, size_t n);

/* The handler of oc_set_oom_handler. 0 bytes: unknown size. */
_Noreturn void cli_out_of_memory(size_t size_bytes);

/* ---- inputs ------------------------------------------------------------------------------------------- */

/* From now on the files that the library reads are remembered (inputs.c). */
void cli_inputs_install(void);
/* A file that the command reads without the library, or has written: no other output replaces it. */
void cli_input_note(const char *path);
/* A file that the command reads only to update it. */
void cli_input_forget(const char *path);
struct stat;
/* Whether the file was read, also by a worker process that began after cli_target_watch. */
void cli_target_watch(const struct stat *st);
bool cli_is_input(const char *path);

/* ---- fault ------------------------------------------------------------------------------------------ */

/* Handlers of signals that end the program: temporary files are removed, and a mapped file that was truncated
 * while it was read is named in a message. */

/* Once, at the start, before other threads. Commands may install handlers of their own for SIGINT and SIGTERM
 * afterwards. */
void cli_fault_install(void);

/* A handler of a command for the signals that end the program, with flags of sigaction; an ignored SIGHUP stays
 * ignored. */
void cli_fault_handle(void (*handler)(int), int flags);

/* A file that goes when the program is ended; `path` must stay until cli_fault_forget. At most 8, more are
 * left. */
void cli_fault_remove(const char *path);
void cli_fault_forget(const char *path);

/* Until cli_fault_stop_over the first SIGINT sets the returned flag instead of ending the program; the second
 * one ends it. Also if SIGINT was ignored before. */
const volatile int *cli_fault_stop_begin(void);
void cli_fault_stop_over(void);

#endif
