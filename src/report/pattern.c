#include "report/select.h"

#include <ctype.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/os.h"
#include "onnxcost/report.h"

#define FUNCTIONS(X)                                                                                         \
    X(context_create, pcre2_compile_context_create)                                                          \
    X(context_free, pcre2_compile_context_free)                                                              \
    X(set_newline, pcre2_set_newline)                                                                        \
    X(compile, pcre2_compile)                                                                                \
    X(code_free, pcre2_code_free)                                                                            \
    X(match_create, pcre2_match_data_create_from_pattern)                                                    \
    X(match_free, pcre2_match_data_free)                                                                     \
    X(match, pcre2_match)                                                                                    \
    X(message, pcre2_get_error_message)                                                                      \
    X(config, pcre2_config)
struct library {
    void *handle;
    FUNCTIONS(OC_LIBRARY_MEMBER)
};
static const struct oc_library_symbol symbols[] = {FUNCTIONS(OC_LIBRARY_SYMBOL)};

static const struct oc_library_table pcre2 = {
    .name = "PCRE2",
    .use = "patterns",
    .package = "libpcre2-8-0",
    .soname = {"libpcre2-8.so.0"},
    .symbol = symbols,
    .n_symbol = OC_COUNT(symbols),
};

struct oc_name_pattern {
    struct library lib;
    pcre2_code *code;
    pcre2_match_data *match;
};

/* ---- from Python's syntax to PCRE2's ---------------------------------------------------------------- */

static size_t hex_digits(const char *s, size_t want)
{
    size_t n = 0;
    while (n < want && isxdigit((unsigned char)s[n]))
        n++;
    return n;
}

/* An escape at s ("\..."): \Z is the end of the text, \uXXXX and \UXXXXXXXX are characters. Returns its
 * length. */
static size_t put_escape(const char *s, struct oc_buf *out)
{
    size_t digits = s[1] == 'u' ? 4 : s[1] == 'U' ? 8 : 0;
    if (digits && hex_digits(s + 2, digits) == digits) {
        oc_buf_printf(out, "\\x{%.*s}", (int)digits, s + 2);
        return 2 + digits;
    }
    if (s[1] == 'Z') {
        oc_buf_str(out, "\\z");
        return 2;
    }
    size_t n = s[1] ? 2 : 1;
    oc_buf_add(out, s, n);
    return n;
}

/* "{,n}" counts from 0. Returns the length consumed. */
static size_t put_open_brace(const char *s, struct oc_buf *out)
{
    size_t digits = s[1] == ',' ? strspn(s + 2, "0123456789") : 0;
    oc_buf_str(out, "{");
    if (s[1] == ',' && s[2 + digits] == '}')
        oc_buf_str(out, "0");
    return 1;
}

static void translate(const char *s, struct oc_buf *out)
{
    bool in_class = false;
    size_t class_start = 0;
    for (size_t i = 0; s[i];) {
        if (s[i] == '\\') {
            i += put_escape(s + i, out);
        } else if (s[i] == '{' && !in_class) {
            i += put_open_brace(s + i, out);
        } else if (s[i] == '[' && in_class) { /* "[:" and "[." mean nothing special in Python */
            oc_buf_str(out, "\\[");
            i++;
        } else {
            if (s[i] == '[') {
                in_class = true;
                class_start = s[i + 1] == '^' ? i + 2 : i + 1;
            } else if (s[i] == ']' && in_class && i != class_start) {
                in_class = false;
            }
            oc_buf_char(out, s[i++]);
        }
    }
}

/* ---- matching --------------------------------------------------------------------------------------- */

static int fail_compile(const struct library *lib, const char *expression, int code, size_t offset,
                        struct oc_err *err)
{
    PCRE2_UCHAR text[160];
    if (lib->message(code, text, sizeof(text)) < 0)
        text[0] = '\0';
    return oc_fail(
        err, OC_EARG,
        "invalid pattern '%.200s': %s (at character %zu); a backslash before a character such as ( "
        "makes it literal",
        expression, (const char *)text, offset);
}

static int compile(struct oc_name_pattern *p, const char *expression, struct oc_err *err)
{
    struct oc_buf b = {0};
    pcre2_compile_context *context = p->lib.context_create(NULL);
    if (!context)
        oc_out_of_memory(sizeof(void *));
    p->lib.set_newline(context, PCRE2_NEWLINE_LF);
    translate(expression, &b);
    int code = 0;
    size_t offset = 0;
    p->code = p->lib.compile((PCRE2_SPTR)(b.data ? b.data : ""), b.n,
                             PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED | PCRE2_MATCH_INVALID_UTF, &code, &offset,
                             context);
    p->lib.context_free(context);
    oc_buf_free(&b);
    if (!p->code && code == PCRE2_ERROR_HEAP_FAILED)
        oc_out_of_memory(0);
    if (!p->code)
        return fail_compile(&p->lib, expression, code, offset, err);
    p->match = p->lib.match_create(p->code, NULL);
    if (!p->match)
        oc_out_of_memory(sizeof(void *));
    return 0;
}

int oc_pattern_compile(const char *expression, struct oc_name_pattern **out, struct oc_err *err)
{
    struct oc_name_pattern *p = oc_xcalloc(1, sizeof(*p));
    if (oc_library_open(&pcre2, &p->lib, err) || compile(p, expression, err)) {
        oc_pattern_free(p);
        return -1;
    }
    *out = p;
    return 0;
}

void oc_pattern_free(struct oc_name_pattern *p)
{
    if (!p)
        return;
    if (p->code) {
        p->lib.match_free(p->match);
        p->lib.code_free(p->code);
    }
    oc_library_close(&p->lib);
    free(p);
}

int oc_pattern_match(const struct oc_name_pattern *p, const char *text, struct oc_err *err)
{
    int rc = p->lib.match(p->code, (PCRE2_SPTR)text, strlen(text), 0, 0, p->match, NULL);
    if (rc >= 0)
        return 1;
    if (rc == PCRE2_ERROR_NOMATCH)
        return 0;
    if (rc == PCRE2_ERROR_NOMEMORY)
        oc_out_of_memory(0);
    PCRE2_UCHAR why[160];
    if (p->lib.message(rc, why, sizeof(why)) < 0)
        why[0] = '\0';
    return oc_fail(err, OC_ELIMIT, "cannot match the pattern against '%.120s': %s", text, (const char *)why);
}

int oc_pattern_count(const char *expression, bool anywhere, bool any_case, const char *const *name, size_t n,
                     size_t *count, struct oc_err *err)
{
    struct oc_buf b = {0};
    struct oc_name_pattern *p = NULL;
    int hit = 0;
    *count = 0;
    if (anywhere || any_case) /* a group of its own: the expression may contain '|' */
        oc_buf_printf(&b, "%s%s(?:%s)", any_case ? "(?i)" : "", anywhere ? "(?s:.*)" : "", expression);
    int rc = oc_pattern_compile(b.n ? b.data : expression, &p, err);
    oc_buf_free(&b);
    for (size_t i = 0; rc == 0 && i < n && hit >= 0; i++) {
        hit = oc_pattern_match(p, name[i], err);
        *count += hit > 0;
    }
    oc_pattern_free(p);
    return hit < 0 ? -1 : rc;
}

int oc_pattern_version(char *version, size_t version_cap, char *file, size_t file_cap, struct oc_err *err)
{
    struct library lib;
    if (oc_library_open(&pcre2, &lib, err))
        return -1;
    char text[64] = "";
    if (lib.config(PCRE2_CONFIG_VERSION, NULL) <= (int)sizeof(text))
        lib.config(PCRE2_CONFIG_VERSION, text);
    snprintf(version, version_cap, "%.*s", (int)strcspn(text, " "), text); /* followed by a date */
    oc_library_file((void *)(uintptr_t)lib.config, file, file_cap);
    oc_library_close(&lib);
    return 0;
}
