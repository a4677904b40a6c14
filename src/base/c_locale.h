/* Switches numbers and messages to the "C" locale, whatever the calling program has set. */
#ifndef OC_C_LOCALE_H
#define OC_C_LOCALE_H

#include <locale.h>

struct oc_c_locale {
    locale_t c, before; /* (locale_t)0: unchanged */
};
struct oc_c_locale oc_c_locale_begin(void);
void oc_c_locale_end(struct oc_c_locale *l);

/* First statement of a public function: sets the "C" locale for the calling thread until the function
 * returns. Almost free when the decimal point already is '.'. */
#define OC_C_LOCALE                                                                                          \
    struct oc_c_locale oc_c_locale __attribute__((cleanup(oc_c_locale_end), unused)) = oc_c_locale_begin()

#endif
