#include "base/diag.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *oc_code_text(enum oc_code code)
{
    static const char *const text[] = {[OC_OK] = NULL,
                                       [OC_EIO] = "io",
                                       [OC_EFORMAT] = "format",
                                       [OC_ELIMIT] = "limit",
                                       [OC_EUNSUPPORTED] = "unsupported",
                                       [OC_EARG] = "argument",
                                       [OC_ENOTFOUND] = "notfound",
                                       [OC_EOUTPUT] = "output",
                                       [OC_ELIBRARY] = "library",
                                       [OC_ESTOPPED] = "stopped"};
    return (unsigned)code < sizeof(text) / sizeof(*text) ? text[code] : NULL;
}

int oc_fail(struct oc_err *err, enum oc_code code, const char *fmt, ...)
{
    if (!err)
        return -1;
    *err = (struct oc_err){.code = code};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
    va_end(ap);
    return -1;
}

int oc_err_prefix(struct oc_err *err, const char *fmt, ...)
{
    if (!err)
        return -1;
    char text[sizeof(err->msg)];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    size_t used = n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1;
    const char *part[] = {": ", err->msg};
    for (size_t i = 0; i < 2; i++) {
        size_t len = strnlen(part[i], sizeof(text) - 1 - used);
        memcpy(text + used, part[i], len);
        used += len;
    }
    text[used] = '\0';
    memcpy(err->msg, text, sizeof(text));
    return -1;
}

int oc_err_at(struct oc_err *err, const char *file, uint32_t line, uint64_t offset_bytes)
{
    if (!err)
        return -1;
    if (file)
        snprintf(err->file, sizeof(err->file), "%s", file);
    err->line = line;
    err->offset_bytes = offset_bytes;
    return -1;
}

void oc_diag_add(struct oc_diags *d, enum oc_severity severity, const char *code, const char *where,
                 const char *fmt, ...)
{
    if (d->n >= OC_MAX_DIAGS) {
        d->dropped++;
        return;
    }
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    OC_GROW(d->item, d->n, d->cap);
    d->item[d->n++] = (struct oc_diag){.severity = severity,
                                       .code = code,
                                       .where = oc_strdup(d->arena, where ? where : ""),
                                       .text = oc_strdup(d->arena, text)};
}

void oc_diags_free(struct oc_diags *d)
{
    free(d->item);
    *d = (struct oc_diags){0};
}
