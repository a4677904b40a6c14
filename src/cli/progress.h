/* A line on the terminal that says what takes long. It appears after one second, never when standard error is
 * not a terminal, and is wiped off at the end. */
#ifndef OC_CLI_PROGRESS_H
#define OC_CLI_PROGRESS_H

struct cli_progress;
struct cli_progress *cli_progress_start(void); /* NULL: nothing will be shown */
void cli_progress_say(struct cli_progress *p, const char *what, const char *path); /* texts are copied */
void cli_progress_stop(struct cli_progress *p);

#endif
