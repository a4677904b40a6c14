/* Fills struct oc_err, and collects warnings (struct oc_diag). */
#ifndef OC_DIAG_H
#define OC_DIAG_H

#include "base/arena.h"

/* Fills *err (which may be NULL) and returns -1, so that callers can write `return oc_fail(...)`. Messages:
 * lower case, what failed first, no full stop. Called once, where the error is detected. */
int oc_fail(struct oc_err *err, enum oc_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Prepends "prefix: " to the message. Returns -1. */
int oc_err_prefix(struct oc_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Records the file and the place (0: none) for messages built by oc_err_text. Returns -1. */
int oc_err_at(struct oc_err *err, const char *file, uint32_t line, uint64_t offset_bytes);

struct oc_diags {
    struct oc_arena *arena; /* owns the texts */
    struct oc_diag *item;   /* heap; freed by oc_diags_free */
    size_t n, cap;
    size_t dropped; /* number of warnings beyond OC_MAX_DIAGS */
};
#define OC_MAX_DIAGS 10000

void oc_diag_add(struct oc_diags *d, enum oc_severity severity, const char *code, const char *where,
                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void oc_diags_free(struct oc_diags *d);

#endif
