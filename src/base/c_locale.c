/* What public functions begin with: the "C" locale, and the place where they fail when memory runs out. */
#include "base/c_locale.h"

#include <langinfo.h>
#include <locale.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"

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
    (void)uselocale(l->before);
    freelocale(l->c);
}

/* ---- out of memory ------------------------------------------------------------------------------------ */

static _Thread_local struct oc_entry *entry; /* of the outermost public function; NULL: none is running */

void oc_entry_begin(struct oc_entry *e, struct oc_err *err)
{
    e->outermost = !entry;
    e->lock = NULL;
    e->err = err;
    e->locale = (struct oc_c_locale){0};
    if (e->outermost)
        entry = e;
}

void oc_entry_set_locale(struct oc_entry *e)
{
    e->locale = oc_c_locale_begin();
}

void oc_entry_end(struct oc_entry *e)
{
    oc_c_locale_end(&e->locale);
    if (e->outermost)
        entry = NULL;
}

int oc_entry_fail(struct oc_entry *e)
{
    if (e->lock)
        pthread_mutex_unlock(e->lock);
    e->lock = NULL;
    return oc_fail(e->err, OC_EMEMORY, "out of memory");
}

void oc_entry_lock(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    if (entry)
        entry->lock = lock;
}

void oc_entry_unlock(pthread_mutex_t *lock)
{
    if (entry)
        entry->lock = NULL;
    pthread_mutex_unlock(lock);
}

void oc_entry_forget(void)
{
    entry = NULL;
}

void oc_entry_leave(void)
{
    if (entry)
        longjmp(entry->env, 1);
}
