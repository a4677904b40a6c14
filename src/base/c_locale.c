#include "base/c_locale.h"

#include <langinfo.h>

#include "base/arena.h"

struct oc_c_locale oc_c_locale_begin(void)
{
    struct oc_c_locale l = {0};
    const char *point = nl_langinfo(RADIXCHAR);
    if (point[0] == '.' && !point[1])
        return l;
    l.c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!l.c)
        oc_out_of_memory(0);
    l.before = uselocale(l.c);
    return l;
}

void oc_c_locale_end(struct oc_c_locale *l)
{
    if (!l->c)
        return;
    uselocale(l->before);
    freelocale(l->c);
}
