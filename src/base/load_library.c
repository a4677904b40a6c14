/* Shared libraries that are loaded on demand, or linked (OC_LINKED_LIBRARIES). */
#include "base/os.h"

#include <string.h>

#include "base/diag.h"

#ifdef OC_LINKED_LIBRARIES
/* Platforms where libraries are linked into the program: none is loaded on demand. */

void *oc_os_library_open(const char *soname)
{
    (void)soname;
    return NULL;
}

void oc_os_library_close(void *handle)
{
    (void)handle;
}

void *oc_os_library_symbol(void *handle, const char *name)
{
    (void)handle;
    (void)name;
    return NULL;
}

void oc_os_library_file(const void *symbol, char *file, size_t cap)
{
    (void)symbol;
    if (cap)
        file[0] = '\0';
}

int oc_library_open(const struct oc_library_table *table, void *library, struct oc_err *err)
{
    (void)err;
    memset(library, 0, sizeof(void *));
    for (size_t i = 0; i < table->n_symbol; i++)
        memcpy((char *)library + table->symbol[i].offset_bytes, &table->symbol[i].address, sizeof(void *));
    return 0;
}
#else

int oc_library_open(const struct oc_library_table *table, void *library, struct oc_err *err)
{
    void *handle = NULL;
    for (size_t i = 0; i < OC_COUNT(table->soname) && table->soname[i] && !handle; i++)
        handle = oc_os_library_open(table->soname[i]);
    memcpy(library, &handle, sizeof(handle));
    if (!handle)
        return oc_fail(err, OC_ELIBRARY, "%s need %s, which cannot be loaded: install the package %s",
                       table->use, table->name, table->package);
    for (size_t i = 0; i < table->n_symbol; i++) {
        void *found = oc_library_symbol(library, table->symbol[i].name);
        memcpy((char *)library + table->symbol[i].offset_bytes, &found, sizeof(found));
        if (found)
            continue;
        oc_library_close(library);
        return oc_fail(err, OC_ELIBRARY, "the installed %s has no function '%s': install a newer one",
                       table->name, table->symbol[i].name);
    }
    return 0;
}
#endif

void oc_library_close(void *library)
{
    void *handle, *none = NULL;
    memcpy(&handle, library, sizeof(handle));
    if (handle)
        oc_os_library_close(handle);
    memcpy(library, &none, sizeof(none));
}

void *oc_library_symbol(const void *library, const char *name)
{
    void *handle;
    memcpy(&handle, library, sizeof(handle));
    return oc_os_library_symbol(handle, name);
}

void oc_library_file(const void *symbol, char *file, size_t cap)
{
    oc_os_library_file(symbol, file, cap);
}
