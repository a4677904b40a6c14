#include "base/load_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"

static void *load(const char *soname)
{
    errno = 0;
    void *handle = dlopen(soname, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    const char *why = handle ? NULL : dlerror();
    if (why &&
        strstr(why, "memory")) /* the dynamic linker's messages: "out of memory", "Cannot allocate memory" */
        oc_out_of_memory(0);
    if (!handle)
        oc_check_memory(errno);
    return handle;
}

int oc_library_open(const struct oc_library_table *table, void *library, struct oc_err *err)
{
    void *handle = NULL;
    for (size_t i = 0; i < OC_COUNT(table->soname) && table->soname[i] && !handle; i++)
        handle = load(table->soname[i]);
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

void oc_library_close(void *library)
{
    void *handle, *none = NULL;
    memcpy(&handle, library, sizeof(handle));
    if (handle)
        dlclose(handle);
    memcpy(library, &none, sizeof(none));
}

void *oc_library_symbol(const void *library, const char *name)
{
    void *handle;
    memcpy(&handle, library, sizeof(handle));
    return dlsym(handle, name);
}

void oc_library_file(const void *symbol, char *file, size_t cap)
{
    Dl_info where;
    file[0] = '\0';
    if (dladdr(symbol, &where) && where.dli_fname)
        snprintf(file, cap, "%s", where.dli_fname);
}
