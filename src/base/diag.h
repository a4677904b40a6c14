/* Errors (struct oc_err), warnings (struct oc_diag), suggestions for names, limits on untrusted input. */
#ifndef OC_DIAG_H
#define OC_DIAG_H

#include "base/arena.h"
#include "onnxcost_types.h"

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
/* Removes those with one of these codes (each between blanks) from the `from`-th on. */
void oc_diags_drop(struct oc_diags *d, size_t from, const char *codes);
void oc_diags_free(struct oc_diags *d);

/* ---- unknown names ---------------------------------------------------------------------------------- */

/* Suggestions for misspelled names, and the one form of "unknown name" messages (oc_fail_unknown). */

/* Normalises a character of a name: ignores case, and treats '-', '_' and blank as equal. */
char oc_fold_char(char c);

/* Indices of the names that `given` is probably a misspelling of, nearest first; returns how many, at most
 * `max`. A name is near within an edit distance (optimal string alignment) of a third of the given name, at
 * least 1, or when one is in the other from the start of a word on. O(n) in the names. */
size_t oc_suggest(const char *given, const char *const *name, size_t n, size_t *near, size_t max);

/* ---- input limits ------------------------------------------------------------------------------------- */

/* Resource limits for untrusted input: one table of names, defaults and ranges. Readers decide where each
 * limit applies; every failure has the same form, with the name of the limit and the option that raises it.
 * (gate/limits.h has the limits of a budget: those apply to a report.) */

/* The value in force; limits may be NULL. */
uint64_t oc_input_limit(const struct oc_input_limits *limits, enum oc_input_limit which);

/* Formats "1000001 nodes: more than 1000000 (--limit nodes=N)"; with found 0 (counting stopped early) "more
 * than 1000000 nodes (--limit nodes=N)". Returns buf. */
enum { OC_INPUT_LIMIT_TEXT = 192 };
const char *oc_input_limit_text(const struct oc_input_limits *limits, enum oc_input_limit which,
                                uint64_t found, char buf[OC_INPUT_LIMIT_TEXT]);

/* Fails with OC_ELIMIT and that text. Returns -1. */
int oc_input_limit_fail(const struct oc_input_limits *limits, enum oc_input_limit which, uint64_t found,
                        struct oc_err *err);

#endif
