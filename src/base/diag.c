/* Errors and warnings: their texts, suggestions for unknown names, options of callers of another version. */
#include "base/diag.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/c_locale.h"

/* ---- errors and warnings ----------------------------------------------------------------------------- */

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

/* ---- unknown names ------------------------------------------------------------------------------------ */

enum {
    MAX_NAME = 64,       /* longer names are compared by their first part */
    MAX_SUGGESTIONS = 3, /* in a message */
    MAX_LIST = 320,      /* characters of valid names in a message */
    PART_SCORE = 3       /* of a name that is part of the other one */
};

char oc_fold_char(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c + 32);
    return (char)(c == '_' || c == ' ' ? '-' : c);
}

static size_t fold(const char *name, char *out)
{
    size_t n = strnlen(name, MAX_NAME);
    for (size_t i = 0; i < n; i++)
        out[i] = oc_fold_char(name[i]);
    out[n] = '\0';
    return n;
}

static size_t min2(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: Levenshtein distance where two swapped neighbours count once. */
static size_t suggest_distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t rows[3][MAX_NAME + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++)
        last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t d = min2(min2(last[j], row[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d = min2(d, before[j - 2] + 1);
            row[j] = d;
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[m];
}

/* Does `text` hold `part` from the start of a word on? */
static bool suggest_has_word(const char *text, const char *part)
{
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        if (at == text || strchr("-./: ", at[-1]))
            return true;
    return false;
}

/* 0 is nearest; SIZE_MAX: not near. */
static size_t suggest_score(const char *given, size_t n, const char *other)
{
    char name[MAX_NAME + 1];
    size_t m = fold(other, name), d = suggest_distance(given, n, name, m);
    size_t most = n < 4 ? 1 : n < 8 ? 2 : n / 3;
    if (d <= most)
        return d;
    bool part = (n >= 2 && suggest_has_word(name, given)) || (m >= 4 && suggest_has_word(given, name));
    return part ? PART_SCORE : SIZE_MAX;
}

size_t oc_suggest(const char *given, const char *const *name, size_t n, size_t *near, size_t max)
{
    char folded[MAX_NAME + 1];
    size_t length = fold(given, folded), found = 0, at[MAX_SUGGESTIONS + 2] = {0};
    if (max > OC_COUNT(at))
        max = OC_COUNT(at);
    for (size_t i = 0; i < n && length; i++) {
        size_t s = suggest_score(folded, length, name[i]), k = found;
        if (s == SIZE_MAX)
            continue;
        for (; k > 0 && at[k - 1] > s; k--)
            if (k < max) {
                at[k] = at[k - 1];
                near[k] = near[k - 1];
            }
        if (k == max)
            continue;
        at[k] = s;
        near[k] = i;
        found += found < max;
    }
    size_t kept = 0; /* next to a close match the others are noise */
    while (kept < found && at[kept] <= at[0] + (at[0] > 1))
        kept++;
    return kept;
}

const char *oc_nearest_name(const char *given, const char *const *valid, size_t n)
{
    size_t near;
    return oc_suggest(given, valid, n, &near, 1) ? valid[near] : NULL;
}

static void add_suggestions(struct oc_buf *text, const struct oc_unknown *u, const char *given)
{
    size_t near[MAX_SUGGESTIONS], n = oc_suggest(given, u->valid, u->n, near, MAX_SUGGESTIONS);
    for (size_t i = 0; i < n; i++)
        oc_buf_printf(text, "%s'%.60s'",
                      i == 0      ? "; did you mean "
                      : i + 1 < n ? ", "
                                  : " or ",
                      u->valid[near[i]]);
    oc_buf_str(text, n ? "?" : ";");
}

static void suggest_add_list(struct oc_buf *text, const struct oc_unknown *u)
{
    const char *valid = text->data[text->n - 1] == '?' ? " Valid: " : " valid: ";
    struct oc_buf list = {.max = MAX_LIST};
    for (size_t i = 0; i < u->n; i++)
        oc_buf_printf(&list, "%s%s", i ? ", " : "", u->valid[i]);
    bool all = u->n && !list.overflowed;
    if (all)
        oc_buf_printf(text, "%s%s", valid, list.data);
    if (u->more)
        oc_buf_printf(text, "%s%s", all ? ", " : " ", u->more);
    if (text->data[text->n - 1] == ';')
        text->data[--text->n] = '\0';
    oc_buf_free(&list);
}

int oc_fail_unknown(struct oc_err *err, enum oc_code code, const struct oc_unknown *u)
{
    struct oc_buf text = {0};
    char given[MAX_NAME + 1];
    size_t n = u->given_n ? u->given_n : strlen(u->given);
    n = min2(n, MAX_NAME);
    memcpy(given, u->given, n);
    given[n] = '\0';
    oc_buf_printf(&text, "unknown %s '%s'%s%s", u->what, given, u->where ? " " : "",
                  u->where ? u->where : "");
    add_suggestions(&text, u, given);
    suggest_add_list(&text, u);
    oc_fail(err, code, "%s", text.data);
    oc_buf_free(&text);
    return -1;
}

/* ---- options of callers ------------------------------------------------------------------------------- */

#define MOST_BYTES 65536 /* above any struct of options: the size was not set */

int oc_options_read(void *full, size_t bytes, const void *given, struct oc_err *err)
{
    const unsigned char *from = given;
    size_t size = 0;
    memset(full, 0, bytes);
    if (from)
        memcpy(&size, from, sizeof(size));
    if (size && (size < sizeof(size) || size > MOST_BYTES))
        return oc_fail(err, OC_EARG,
                       "size %zu of options is not possible; set it to sizeof, or the options to zero", size);
    if (from)
        memcpy(full, from, size && size < bytes ? size : bytes);
    memcpy(full, &bytes, sizeof(bytes));
    for (size_t i = bytes; i < size; i++)
        if (from[i])
            return oc_fail(
                err, OC_EARG,
                "options of a newer version are set, which this library (%zu of %zu bytes) does not have",
                bytes, size);
    return 0;
}
