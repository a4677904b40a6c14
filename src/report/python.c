/* Python's numbers and regular expressions, for the tables of MegEngine's tool. */
#include "report/python.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/str.h"
#include "base/unicode.h"
#include "base/units.h"
#include "onnxcost/report.h"

/* ---- numbers to text -------------------------------------------------------------------------------- */

static bool python_not_finite(double v, char *buf)
{
    if (isfinite(v))
        return false;
    snprintf(buf, OC_PY_NUM, "%s", isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
    return true;
}

/* printf with the locale's decimal point replaced by '.'. */
static void python_print(char *buf, const char *format, int decimals, double v)
{
    const char *point = localeconv()->decimal_point;
    snprintf(buf, OC_PY_NUM, format, decimals, v);
    char *at = strcmp(point, ".") != 0 ? strstr(buf, point) : NULL;
    if (at) {
        *at = '.';
        memmove(at + 1, at + strlen(point), strlen(at + strlen(point)) + 1);
    }
}

/* Removes trailing zeros (and a trailing point) from the mantissa of "d.dde+XX". */
static void trim_mantissa(char *text)
{
    char *e = strchr(text, 'e'), *end = e;
    while (end > text && end[-1] == '0')
        end--;
    if (end > text && end[-1] == '.')
        end--;
    memmove(end, e, strlen(e) + 1);
}

const char *oc_py_general3(double v, char *buf)
{
    if (python_not_finite(v, buf))
        return buf;
    python_print(buf, "%.*e", 2, v);
    long exponent = strtol(strchr(buf, 'e') + 1, NULL, 10);
    if (exponent < -4 || exponent >= 2) {
        trim_mantissa(buf);
        return buf;
    }
    python_print(buf, "%.*g", 3, v);
    if (!strchr(buf, '.'))
        memcpy(buf + strlen(buf), ".0", sizeof(".0"));
    return buf;
}

const char *oc_py_fixed(double v, unsigned decimals, char *buf)
{
    if (!python_not_finite(v, buf))
        python_print(buf, "%.*f", (int)decimals, v);
    return buf;
}

const char *oc_py_g(double v, char *buf)
{
    if (!python_not_finite(v, buf))
        python_print(buf, "%.*g", 6, v);
    return buf;
}

const char *oc_py_repr(double v, char *buf)
{
    if (!python_not_finite(v, buf))
        oc_format_repr(v, buf, OC_PY_NUM);
    return buf;
}

double oc_py_scaled(double v, double base, const char **prefix)
{
    static const char *const prefixes[] = {"", "K", "M", "G", "T", "P"};
    size_t k = 0;
    while (isfinite(v) && v >= base && k + 1 < sizeof(prefixes) / sizeof(prefixes[0])) {
        v /= base;
        k++;
    }
    *prefix = prefixes[k];
    return v;
}

/* ---- text to numbers -------------------------------------------------------------------------------- */

static bool ascii_space(char c)
{
    return c == ' ' || (c >= 9 && c <= 13);
}

/* Maps digits of any script to 0-9 and blanks beyond ASCII to ' ', as int() and float() do; false: not a
 * number. */
static bool to_ascii(const char *s, size_t n, struct oc_buf *out)
{
    for (const char *end = s + n; s < end;) {
        uint32_t cp = oc_utf8_next(&s, end);
        int digit = cp < 0x80 ? -1 : oc_uni_digit(cp);
        if (cp >= 0x80 && digit < 0 && !oc_uni_is_space(cp))
            return false;
        if (digit >= 0)
            oc_buf_char(out, (char)('0' + digit));
        else
            oc_buf_char(out, (char)(cp < 0x80 ? cp : ' '));
    }
    return out->n > 0;
}

/* Strips blanks and removes underscores between two digits. False: a misplaced underscore. */
static bool normalise(struct oc_buf *b)
{
    size_t from = 0, to = b->n, k = 0;
    while (from < to && ascii_space(b->data[from]))
        from++;
    while (to > from && ascii_space(b->data[to - 1]))
        to--;
    for (size_t i = from; i < to; i++) {
        const char *c = &b->data[i];
        if (*c == '_') {
            if (i == from || i + 1 == to || oc_uni_digit((unsigned char)c[-1]) < 0 ||
                oc_uni_digit((unsigned char)c[1]) < 0)
                return false;
            continue;
        }
        b->data[k++] = *c;
    }
    b->n = k;
    if (b->data)
        b->data[k] = '\0';
    return k > 0 && strlen(b->data) == k;
}

static const char *skip_digits(const char *p)
{
    while (*p >= '0' && *p <= '9')
        p++;
    return p;
}

static const char *skip_sign(const char *p)
{
    return p + (*p == '+' || *p == '-');
}

#define MAX_INT_DIGITS 4300 /* sys.int_info.default_max_str_digits */

static bool int_syntax(const char *text)
{
    const char *digits = skip_sign(text), *end = skip_digits(digits);
    return end > digits && !*end && end - digits <= MAX_INT_DIGITS;
}

static bool decimal_syntax(const char *text)
{
    const char *whole = skip_sign(text), *p = skip_digits(whole);
    bool some = p > whole;
    if (*p == '.') {
        const char *fraction = p + 1;
        p = skip_digits(fraction);
        some = some || p > fraction;
    }
    if (some && (*p == 'e' || *p == 'E')) {
        const char *exponent = skip_sign(p + 1);
        p = skip_digits(exponent);
        some = p > exponent;
    }
    return some && !*p;
}

static bool special_value(const char *text, double *out)
{
    const char *word = skip_sign(text);
    if (oc_casecmp(word, "inf") == 0 || oc_casecmp(word, "infinity") == 0)
        *out = *text == '-' ? -INFINITY : INFINITY;
    else if (oc_casecmp(word, "nan") == 0)
        *out = NAN;
    else
        return false;
    return true;
}

bool oc_py_float(const char *s, size_t n, double *out)
{
    struct oc_buf b = {0};
    bool ok = to_ascii(s, n, &b) && normalise(&b);
    if (ok && !special_value(b.data, out))
        ok = decimal_syntax(b.data) && oc_parse_double(b.data, b.n, out);
    oc_buf_free(&b);
    return ok;
}

bool oc_py_is_int(const char *s, size_t n)
{
    struct oc_buf b = {0};
    bool ok = to_ascii(s, n, &b) && normalise(&b) && int_syntax(b.data);
    oc_buf_free(&b);
    return ok;
}

bool oc_py_is_number(const char *s, size_t n)
{
    double v;
    if (!oc_py_float(s, n, &v))
        return false;
    if (isfinite(v))
        return true;
    return (n == 3 && (oc_ncasecmp(s, "inf", 3) == 0 || oc_ncasecmp(s, "nan", 3) == 0)) ||
           (n == 4 && oc_ncasecmp(s, "-inf", 4) == 0);
}

/* ---- sums ------------------------------------------------------------------------------------------- */

/* Pairwise summation as in numpy, in blocks of 128 with eight accumulators. */
static double pairwise(const double *v, size_t n)
{
    if (n < 8) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += v[i];
        return sum;
    }
    if (n > 128) {
        size_t half = n / 2;
        half -= half % 8;
        return pairwise(v, half) + pairwise(v + half, n - half);
    }
    double r[8];
    memcpy(r, v, sizeof(r));
    size_t i = 8;
    for (; i + 8 <= n; i += 8)
        for (size_t k = 0; k < 8; k++)
            r[k] += v[i + k];
    double sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (; i < n; i++)
        sum += v[i];
    return sum;
}

double oc_np_sum(const double *v, size_t n)
{
    return 0.0 + pairwise(v, n);
}

double oc_np_mean(const double *v, size_t n)
{
    return oc_np_sum(v, n) / (double)n;
}

double oc_np_max(const double *v, size_t n)
{
    double best = v[0];
    for (size_t i = 1; i < n; i++)
        best = isnan(best) || best > v[i] ? best : v[i];
    return best;
}

double oc_np_min(const double *v, size_t n)
{
    double best = v[0];
    for (size_t i = 1; i < n; i++)
        best = isnan(best) || best < v[i] ? best : v[i];
    return best;
}

/* ---- regular expressions ------------------------------------------------------------------------------ */

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

OC_LIBRARY(pcre2, FUNCTIONS, .name = "PCRE2", .use = "patterns", .package = "libpcre2-8-0",
           .soname = {"libpcre2-8.so.0"});

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
