#include "report/pyfmt.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/buf.h"
#include "base/units.h"
#include "base/unicode.h"

/* ---- numbers to text -------------------------------------------------------------------------------- */

static bool pyfmt_not_finite(double v, char *buf)
{
    if (isfinite(v))
        return false;
    snprintf(buf, OC_PY_NUM, "%s", isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
    return true;
}

/* printf with the locale's decimal point replaced by '.'. */
static void pyfmt_print(char *buf, const char *format, int decimals, double v)
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
    if (pyfmt_not_finite(v, buf))
        return buf;
    pyfmt_print(buf, "%.*e", 2, v);
    long exponent = strtol(strchr(buf, 'e') + 1, NULL, 10);
    if (exponent < -4 || exponent >= 2) {
        trim_mantissa(buf);
        return buf;
    }
    pyfmt_print(buf, "%.*g", 3, v);
    if (!strchr(buf, '.'))
        memcpy(buf + strlen(buf), ".0", sizeof(".0"));
    return buf;
}

const char *oc_py_fixed(double v, unsigned decimals, char *buf)
{
    if (!pyfmt_not_finite(v, buf))
        pyfmt_print(buf, "%.*f", (int)decimals, v);
    return buf;
}

const char *oc_py_g(double v, char *buf)
{
    if (!pyfmt_not_finite(v, buf))
        pyfmt_print(buf, "%.*g", 6, v);
    return buf;
}

const char *oc_py_repr(double v, char *buf)
{
    if (!pyfmt_not_finite(v, buf))
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
