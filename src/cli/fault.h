/* Signals that end the program: what is half written is removed, and a mapped file that was cut while it was
 * read is named instead of a sudden death. Knows nothing of what the files hold. */
#ifndef OC_CLI_FAULT_H
#define OC_CLI_FAULT_H

/* Once, at the start, before other threads. Commands may install handlers of their own for SIGINT and SIGTERM
 * afterwards. */
void cli_fault_install(void);

/* A file that goes when the program is ended; `path` must stay until cli_fault_forget. At most 8, more are
 * left. */
void cli_fault_remove(const char *path);
void cli_fault_forget(const char *path);

/* From here to cli_fault_stop_over the first SIGINT does not end the program but sets the flag that is
 * returned; the second one ends it. Also where SIGINT had been ignored: somebody asks for it. */
const volatile int *cli_fault_stop_begin(void);
void cli_fault_stop_over(void);

/* Removes them, for those who end the program at once. Safe in handlers of signals. */
void cli_fault_clean_up(void);

#endif
