/* Work in a process of its own: code that is not ours may crash there, print, or end the process, and the
 * program gets an error that says what was being done. The worker sees all memory as it was at the start;
 * results are returned as messages. */
#ifndef OC_CHILD_H
#define OC_CHILD_H

#include "base/arena.h"

struct oc_child;

struct oc_child_listener { /* called in the caller's process, in the order of the messages; each may be NULL
                            */
    void (*stage)(void *arg, const char *text);
    void (*number)(void *arg, unsigned what, double value);
    void (*text)(void *arg, unsigned what, const char *text);
    void *arg;
    const volatile int *stop; /* not 0 after a signal: the work is interrupted; NULL: never */
};

/* Runs work(arg) in a process made by fork() and waits for it. Its standard output and standard error are
 * kept away from the caller's. Returns 0 when work returned 0; else -1 with work's error, or with one that
 * begins with `who` and describes the crash, the stage and the last line of output. */
int oc_child_run(const char *who, int (*work)(void *arg, struct oc_child *c, struct oc_err *err), void *arg,
                 const struct oc_child_listener *listener, struct oc_err *err);

/* For the worker. Long texts are truncated. */
void oc_child_stage(struct oc_child *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void oc_child_number(struct oc_child *c, unsigned what, double value);
void oc_child_text(struct oc_child *c, unsigned what, const char *text);

#endif
