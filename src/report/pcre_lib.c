#include "report/pcre_lib.h"

#include <dlfcn.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/load_library.h"

/* The names in the library: the header's are macros. */
#define SYMBOL(name, member)                                                                                 \
    {                                                                                                        \
        name "_8", offsetof(struct oc_pcre_lib, member)                                                      \
    }

static const struct oc_symbol symbols[] = {
    SYMBOL("pcre2_compile_context_create", context_create),
    SYMBOL("pcre2_compile_context_free", context_free),
    SYMBOL("pcre2_set_newline", set_newline),
    SYMBOL("pcre2_compile", compile),
    SYMBOL("pcre2_code_free", code_free),
    SYMBOL("pcre2_match_data_create_from_pattern", match_create),
    SYMBOL("pcre2_match_data_free", match_free),
    SYMBOL("pcre2_match", match),
    SYMBOL("pcre2_get_error_message", message),
    SYMBOL("pcre2_config", config),
};

int oc_pcre_lib_open(struct oc_pcre_lib *lib, struct oc_err *err)
{
    memset(lib, 0, sizeof(*lib));
    lib->handle = oc_load_library("libpcre2-8.so.0");
    if (!lib->handle)
        return oc_fail(err, OC_ELIBRARY,
                       "patterns need PCRE2, which could not be loaded (package libpcre2-8-0)");
    const char *missing = oc_load_symbols(lib->handle, symbols, OC_COUNT(symbols), lib);
    if (!missing)
        return 0;
    oc_pcre_lib_close(lib);
    return oc_fail(err, OC_ELIBRARY, "the installed PCRE2 has no function '%s'", missing);
}

void oc_pcre_lib_close(struct oc_pcre_lib *lib)
{
    if (lib->handle)
        dlclose(lib->handle);
    lib->handle = NULL;
}
