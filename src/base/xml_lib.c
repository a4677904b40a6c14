#include "base/xml_lib.h"

#include "base/diag.h"
#include "base/load_library.h"
#include "base/xml_read.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

static const struct oc_symbol symbols[] = {
    {"xmlReaderForMemory", offsetof(struct oc_xml_lib, reader_for_memory)},
    {"xmlFreeTextReader", offsetof(struct oc_xml_lib, reader_free)},
    {"xmlTextReaderSetStructuredErrorHandler", offsetof(struct oc_xml_lib, reader_on_error)},
    {"xmlTextReaderRead", offsetof(struct oc_xml_lib, reader_read)},
    {"xmlTextReaderNodeType", offsetof(struct oc_xml_lib, reader_node_type)},
    {"xmlTextReaderIsEmptyElement", offsetof(struct oc_xml_lib, reader_is_empty)},
    {"xmlTextReaderConstName", offsetof(struct oc_xml_lib, reader_name)},
    {"xmlTextReaderConstValue", offsetof(struct oc_xml_lib, reader_value)},
    {"xmlTextReaderMoveToNextAttribute", offsetof(struct oc_xml_lib, reader_next_attribute)},
    {"xmlTextReaderMoveToElement", offsetof(struct oc_xml_lib, reader_to_element)},
    {"xmlTextReaderCurrentNode", offsetof(struct oc_xml_lib, reader_node)},
    {"xmlGetLineNo", offsetof(struct oc_xml_lib, line_of)},
};

/* Version 2.14 changed the soname; the functions used here are in both. */
static const char *const sonames[] = {"libxml2.so.2", "libxml2.so.16"};

static void *xml_lib_load(void)
{
    void *handle = NULL;
    for (size_t i = 0; i < OC_COUNT(sonames) && !handle; i++)
        handle = oc_load_library(sonames[i]);
    return handle;
}

/* libxml2 initialises itself with its first reader, which must not happen in several threads at once. */
static void set_up(void)
{
    void *handle = xml_lib_load();
    __typeof__(xmlInitParser) *init;
    void *found = handle ? dlsym(handle, "xmlInitParser") : NULL;
    memcpy(&init, &found, sizeof(found));
    errno = 0;
    if (init)
        init();
    oc_check_memory(errno);
    if (handle)
        dlclose(handle);
}

static pthread_once_t xml_once = PTHREAD_ONCE_INIT;

int oc_xml_lib_open(struct oc_xml_lib *lib, struct oc_err *err)
{
    memset(lib, 0, sizeof(*lib));
    pthread_once(&xml_once, set_up);
    lib->handle = xml_lib_load();
    if (!lib->handle)
        return oc_fail(err, OC_ELIBRARY,
                       "XML files need libxml2, which could not be loaded (package libxml2)");
    const char *missing = oc_load_symbols(lib->handle, symbols, OC_COUNT(symbols), lib);
    if (!missing)
        return 0;
    oc_xml_lib_close(lib);
    return oc_fail(err, OC_ELIBRARY, "the installed libxml2 has no function '%s'", missing);
}

/* "20914" or "20914-GITv2.9.14": two digits per part. */
static void version_text(const char *number, char *out, size_t cap)
{
    unsigned n = 0;
    for (; *number >= '0' && *number <= '9' && n < 10000000; number++)
        n = n * 10 + (unsigned)(*number - '0');
    if (n)
        snprintf(out, cap, "%u.%u.%u", n / 10000, n / 100 % 100, n % 100);
}

int oc_xml_version(char *version, size_t version_cap, char *file, size_t file_cap, struct oc_err *err)
{
    struct oc_xml_lib lib;
    if (oc_xml_lib_open(&lib, err))
        return -1;
    void *found = dlsym(lib.handle, "xmlParserVersion");
    Dl_info where;
    version[0] = file[0] = '\0';
    if (found)
        version_text(*(const char *const *)found, version, version_cap);
    if (found && dladdr(found, &where) && where.dli_fname)
        snprintf(file, file_cap, "%s", where.dli_fname);
    oc_xml_lib_close(&lib);
    return 0;
}

void oc_xml_lib_close(struct oc_xml_lib *lib)
{
    if (lib->handle)
        dlclose(lib->handle);
    lib->handle = NULL;
}
