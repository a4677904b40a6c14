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

/* Removes them, for those who end the program at once. Safe in handlers of signals. */
void cli_fault_clean_up(void);

#endif
