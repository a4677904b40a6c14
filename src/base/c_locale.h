/* What a public function begins with: the "C" locale for numbers and messages, whatever the calling program has
 * set, and the place where it fails when memory runs out. */
#ifndef OC_C_LOCALE_H
#define OC_C_LOCALE_H

#include <locale.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>

#include "onnxcost_types.h"

struct oc_c_locale {
    locale_t c, before; /* (locale_t)0: unchanged */
};
struct oc_c_locale oc_c_locale_begin(void);
void oc_c_locale_end(struct oc_c_locale *l);

/* First statement of a public function: sets the "C" locale for the calling thread until the function
 * returns. Almost free when the decimal point already is '.'. */
#define OC_C_LOCALE                                                                                          \
    struct oc_c_locale oc_c_locale __attribute__((cleanup(oc_c_locale_end), unused)) = oc_c_locale_begin()

/* ---- out of memory ------------------------------------------------------------------------------------ */

/* Where the thread's outermost public function continues when memory runs out and the program has no handler. */
struct oc_entry {
    jmp_buf env;
    struct oc_c_locale locale;
    struct oc_err *err;
    pthread_mutex_t *lock; /* held by the library, NULL: none */
    bool outermost;
};
void oc_entry_begin(struct oc_entry *e, struct oc_err *err);
void oc_entry_set_locale(struct oc_entry *e);
void oc_entry_end(struct oc_entry *e);
int oc_entry_fail(struct oc_entry *e);

/* First statement of a public function that returns an int with *err: OC_C_LOCALE, and when memory runs out the
 * function fails with OC_EMEMORY. What was allocated until then is lost, and the handles that were being made or
 * changed are not usable; the process goes on. */
#ifdef __EMSCRIPTEN__ /* one process for each command */
#define OC_ENTRY(err) OC_C_LOCALE
#else
#define OC_ENTRY(err)                                                                                        \
    struct oc_entry oc_entry __attribute__((cleanup(oc_entry_end)));                                         \
    oc_entry_begin(&oc_entry, err);                                                                          \
    if (setjmp(oc_entry.env))                                                                                \
        return oc_entry_fail(&oc_entry);                                                                     \
    oc_entry_set_locale(&oc_entry)
#endif

/* Where memory may run out in between: a lock that a failing function gives back. */
void oc_entry_lock(pthread_mutex_t *lock);
void oc_entry_unlock(pthread_mutex_t *lock);

/* In a forked process, whose stack is not to be returned to: it ends instead. */
void oc_entry_forget(void);

/* Continues there, if there is such a place. */
void oc_entry_leave(void);

/* ---- api options -------------------------------------------------------------------------------------- */

/* Options of callers that were compiled with an older or a newer version of the public headers. */

/* Fills `full`, a struct of options as this version has it, with those of the caller, whose first member is
 * `size_t size`: NULL is all zero; size 0 is the size of version 1.0, which is sizeof(*full) as long as the
 * struct has not grown. Members after a smaller size are zero. OC_EARG: bytes after the members of this
 * version are not zero, or the size is not possible. */
int oc_options_read(void *full, size_t bytes, const void *given, struct oc_err *err);
#define OC_OPTIONS(full, given, err) oc_options_read((full), sizeof(*(full)), (given), (err))

/* A number among options, and what it may be. OC_EARG names the first one that is outside. */
struct oc_option_range {
    const char *name;
    int64_t value, least, most;
};
int oc_options_check(const struct oc_option_range *range, size_t n, struct oc_err *err);

#endif
