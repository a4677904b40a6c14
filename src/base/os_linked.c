/* Platforms where libraries are linked into the program: none is loaded on demand. */
#include "base/os.h"

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
