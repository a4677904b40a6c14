/* Switches numbers and messages to the "C" locale, whatever the calling program has set. */
#ifndef OC_C_LOCALE_H
#define OC_C_LOCALE_H

#include <locale.h>

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

/* ---- api options -------------------------------------------------------------------------------------- */

/* Options of callers that were compiled with an older or a newer version of the public headers. */

/* Fills `full`, a struct of options as this version has it, with those of the caller, whose first member is
 * `size_t size`: NULL is all zero; size 0 is the size of version 1.0, which is sizeof(*full) as long as the
 * struct has not grown. Members after a smaller size are zero. OC_EARG: bytes after the members of this
 * version are not zero, or the size is not possible. */
int oc_options_read(void *full, size_t bytes, const void *given, struct oc_err *err);
#define OC_OPTIONS(full, given, err) oc_options_read((full), sizeof(*(full)), (given), (err))

#endif
