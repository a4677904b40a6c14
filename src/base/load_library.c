#include "base/load_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "base/arena.h"

void *oc_load_library(const char *soname)
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

const char *oc_load_symbols(void *handle, const struct oc_symbol *list, size_t n, void *table)
{
    for (size_t i = 0; i < n; i++) {
        void *found = dlsym(handle, list[i].name);
        if (!found)
            return list[i].name;
        memcpy((char *)table + list[i].offset_bytes, &found, sizeof(found));
    }
    return NULL;
}
