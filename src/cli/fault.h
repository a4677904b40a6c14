/* Handlers of signals that end the program: temporary files are removed, and a mapped file that was truncated
 * while it was read is named in a message. */
#ifndef OC_CLI_FAULT_H
#define OC_CLI_FAULT_H

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

/* Removes them, for those who end the program at once. Safe in handlers of signals. */
void cli_fault_clean_up(void);

#endif
