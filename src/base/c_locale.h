/* Numbers and messages are those of the locale "C", whatever the program around the library has set. */
#ifndef OC_C_LOCALE_H
#define OC_C_LOCALE_H

#include <locale.h>

struct oc_c_locale {
    locale_t c, before; /* (locale_t)0: nothing was changed */
};
struct oc_c_locale oc_c_locale_begin(void);
void oc_c_locale_end(struct oc_c_locale *l);

/* First line of a public function: the calling thread, and no other, has that locale until the function
 * returns. Costs nothing to speak of where the decimal point is one already. */
#define OC_C_LOCALE                                                                                          \
    struct oc_c_locale oc_c_locale __attribute__((cleanup(oc_c_locale_end), unused)) = oc_c_locale_begin()

#endif
