/* Numbers with units, from text and to text. */
#include "base/units.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/str.h"
#include "onnxcost_types.h"

char *oc_put_digits(char *end, uint64_t v)
{
    do
        *--end = (char)('0' + v % 10);
    while (v /= 10);
    return end;
}

bool oc_parse_u64(const char *s, size_t n, uint64_t *out)
{
    uint64_t v = 0;
    if (!n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!oc_is_digit(s[i]) || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v))
            return false;
    *out = v;
    return true;
}

bool oc_parse_i64(const char *s, size_t n, int64_t *out)
{
    bool minus = n && s[0] == '-', sign = minus || (n && s[0] == '+');
    uint64_t v, limit = (uint64_t)INT64_MAX + minus;
    if (!oc_parse_u64(s + sign, n - sign, &v) || v > limit)
        return false;
    *out = minus ? (v == limit ? INT64_MIN : -(int64_t)v) : (int64_t)v;
    return true;
}

/* A parsed decimal number: the first 19 digits, whether more follow, and the power of ten. */
struct decimal {
    bool minus, inexact;
    uint64_t digits;
    unsigned n_digit;
    int64_t exp10;
};

static bool take_digits(const char *s, size_t n, size_t *at, struct decimal *d, bool fraction)
{
    size_t i = *at;
    for (; i < n && oc_is_digit(s[i]); i++) {
        if (d->n_digit == 0 && s[i] == '0') {
            d->exp10 -= fraction;
        } else if (d->n_digit < 19) {
            d->digits = d->digits * 10 + (uint64_t)(s[i] - '0');
            d->n_digit++;
            d->exp10 -= fraction;
        } else {
            d->inexact |= s[i] != '0';
            d->exp10 += !fraction;
        }
    }
    bool any = i > *at;
    *at = i;
    return any;
}

static bool take_apart(const char *s, size_t n, struct decimal *d)
{
    *d = (struct decimal){0};
    size_t i = 0;
    if (i < n && (s[i] == '-' || s[i] == '+'))
        d->minus = s[i++] == '-';
    bool any = take_digits(s, n, &i, d, false);
    if (i < n && s[i] == '.') {
        i++;
        any |= take_digits(s, n, &i, d, true);
    }
    if (!any)
        return false;
    if (i < n && (s[i] | 32) == 'e') {
        i++;
        bool minus = i < n && s[i] == '-';
        i += i < n && (s[i] == '-' || s[i] == '+');
        int64_t e = 0;
        size_t from = i;
        for (; i < n && oc_is_digit(s[i]); i++)
            e = e < 100000000 ? e * 10 + (s[i] - '0') : e;
        if (i == from)
            return false;
        d->exp10 += minus ? -e : e;
    }
    return i == n;
}

/* strtod in the "C" locale: correctly rounded. */
static double by_strtod(const char *s, size_t n)
{
    char small[128], *text = n < sizeof(small) ? small : oc_xmalloc(n + 1);
    memcpy(text, s, n);
    text[n] = '\0';
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double v = c ? strtod_l(text, NULL, c) : strtod(text, NULL);
    if (c)
        freelocale(c);
    if (text != small)
        free(text);
    return v;
}

static bool special(const char *s, size_t n, double *out)
{
    static const struct {
        const char *text;
        double value;
    } word[] = {{"nan", (double)NAN}, {"inf", (double)INFINITY}, {"infinity", (double)INFINITY}};
    bool minus = n && s[0] == '-', sign = minus || (n && s[0] == '+');
    for (size_t i = 0; i < OC_COUNT(word); i++)
        if (strlen(word[i].text) == n - sign && oc_ncasecmp(s + sign, word[i].text, n - sign) == 0) {
            *out = minus ? -word[i].value : word[i].value;
            return true;
        }
    return false;
}

bool oc_parse_double(const char *s, size_t n, double *out)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    struct decimal d;
    if (!take_apart(s, n, &d))
        return special(s, n, out);
    /* Both operands are exact, so there is one rounding: the result is the nearest double. */
    if (!d.inexact && d.digits < (uint64_t)1 << 53 && d.exp10 >= -22 && d.exp10 <= 22) {
        double v = d.exp10 < 0 ? (double)d.digits / power[-d.exp10] : (double)d.digits * power[d.exp10];
        *out = d.minus ? -v : v;
        return true;
    }
    *out = by_strtod(s, n);
    return true;
}

static bool units_scale_of(const char *p, size_t n, bool small_ones, double *scale)
{
    static const char big[] = "kMGTPE", small[] = "munp";
    if (n == 0) {
        *scale = 1;
        return true;
    }
    const char *hit = strchr(big, p[0] == 'K' ? 'k' : p[0]);
    if (hit && n <= 2 && (n == 1 || p[1] == 'i')) {
        *scale = pow(n == 2 ? 1024 : 1000, (double)(hit - big + 1));
        return true;
    }
    hit = n == 1 && small_ones ? strchr(small, p[0]) : NULL;
    if (hit)
        *scale = 1 / pow(1000, (double)(hit - small + 1));
    return hit;
}

bool oc_parse_positive(const char *text, const char *unit, double *out)
{
    size_t n = strlen(text), n_unit = strlen(unit);
    return n > n_unit && !strcmp(text + n - n_unit, unit) && oc_parse_double(text, n - n_unit, out) &&
           *out > 0 && isfinite(*out);
}

bool oc_parse_scaled(const char *s, const char *unit, double *out)
{
    size_t n = strlen(s), digits = 0, unit_n = unit ? strlen(unit) : 0;
    while (digits < n && (oc_is_digit(s[digits]) || strchr("+-.", s[digits]) ||
                          ((s[digits] | 32) == 'e' && digits + 1 < n && digits > 0 &&
                           (oc_is_digit(s[digits + 1]) || s[digits + 1] == '-' || s[digits + 1] == '+'))))
        digits++;
    size_t at = digits, end = n;
    while (at < n && s[at] == ' ')
        at++;
    if (unit_n && end - at >= unit_n && memcmp(s + end - unit_n, unit, unit_n) == 0)
        end -= unit_n;
    double v, scale;
    if (!oc_parse_double(s, digits, &v) ||
        !units_scale_of(s + at, end - at, unit && strcmp(unit, "s") == 0, &scale))
        return false;
    *out = scale < 1 ? v / round(1 / scale) : v * scale; /* exactly 12 / 1e6 for 12us */
    return isfinite(*out);
}

/* ---- integers with units ---------------------------------------------------------------------------- */

typedef unsigned __int128 wide;

/* digits * 10^exp10 * 2^shift, rounded down. */
static bool scale_integer(uint64_t digits, int64_t exp10, unsigned shift, uint64_t *out)
{
    wide v = (wide)digits << shift; /* below 2^124 */
    for (; exp10 > 0 && v; exp10--) {
        if (v > UINT64_MAX / 10)
            return false;
        v *= 10;
    }
    for (; exp10 < 0 && v; exp10++)
        v /= 10;
    *out = (uint64_t)v;
    return v <= UINT64_MAX;
}

bool oc_parse_count(const char *s, const char *unit, uint64_t *out)
{
    static const char big[] = "kMGTPE";
    size_t n = strlen(s), digits = strspn(s, "+.0123456789"), unit_n = unit ? strlen(unit) : 0, end = n;
    size_t at = digits + strspn(s + digits, " ");
    struct decimal d;
    if (unit_n && end - at >= unit_n && memcmp(s + end - unit_n, unit, unit_n) == 0)
        end -= unit_n;
    while (end > at && s[end - 1] == ' ')
        end--;
    if (end == at && oc_parse_u64(s, digits, out))
        return true; /* up to 20 digits */
    if (!take_apart(s, digits, &d) || d.inexact || end - at > 2)
        return false;
    if (end == at)
        return scale_integer(d.digits, d.exp10, 0, out);
    const char *hit = strchr(big, s[at] == 'K' ? 'k' : s[at]);
    if (!hit || (end - at == 2 && s[at + 1] != 'i'))
        return false;
    unsigned step = (unsigned)(hit - big) + 1;
    return end - at == 2 ? scale_integer(d.digits, d.exp10, 10 * step, out)
                         : scale_integer(d.digits, d.exp10 + 3 * (int64_t)step, 0, out);
}

/* ---- printing --------------------------------------------------------------------------------------- */

/* The significant digits of |v| rounded to `precision`, and its exponent, for any decimal point of the
 * locale. */
static int digits_of(double v, int precision, char digit[24])
{
    char text[64];
    int n = 0, at = 0;
    digit[1] = '\0';
    snprintf(text, sizeof(text), "%.*e", precision - 1, fabs(v));
    for (; text[at] && text[at] != 'e'; at++)
        if (oc_is_digit(text[at]) && n < 23)
            digit[n++] = text[at];
    digit[n] = '\0';
    return (int)strtol(text + at + 1, NULL, 10);
}

static bool reads_back(double v, const char *digit, int exp10)
{
    char text[64];
    double back;
    int n = snprintf(text, sizeof(text), "%c.%se%d", digit[0], digit[1] ? digit + 1 : "0", exp10);
    return n > 0 && oc_parse_double(text, (size_t)n, &back) && back == fabs(v);
}

/* Doubles are denser below a power of two: a neighbouring 16-digit number may round-trip where the nearest
 * does not. */
static bool one_up(char *digit)
{
    size_t i = strlen(digit);
    while (i > 0 && digit[i - 1] == '9')
        digit[--i] = '0';
    if (i)
        digit[i - 1]++;
    return i > 0;
}

static int shortest(double v, char digit[24])
{
    int exp10;
    if (fabs(v) < 0x1p-1022) /* few bits: fewer digits may be enough */
        for (int p = 1; p < 15; p++) {
            exp10 = digits_of(v, p, digit);
            if (reads_back(v, digit, exp10))
                return exp10;
        }
    for (int p = 15; p < 17; p++) {
        exp10 = digits_of(v, p, digit);
        if (reads_back(v, digit, exp10) || (p == 16 && one_up(digit) && reads_back(v, digit, exp10)))
            return exp10;
    }
    return digits_of(v, 17, digit);
}

size_t oc_format_repr(double v, char *buf, size_t cap)
{
    char digit[24];
    if (!isfinite(v) || v == 0) {
        const char *word = isnan(v) ? "nan" : isinf(v) ? "inf" : "0.0";
        return (size_t)snprintf(buf, cap, "%s%s", signbit(v) && !isnan(v) ? "-" : "", word);
    }
    int exp10 = shortest(v, digit), n = (int)strlen(digit);
    while (n > 1 && digit[n - 1] == '0')
        digit[--n] = '\0';
    const char *minus = v < 0 ? "-" : "";
    int len;
    if (exp10 < -4 || exp10 >= 16)
        len = snprintf(buf, cap, "%s%c%s%se%c%02d", minus, digit[0], n > 1 ? "." : "", digit + 1,
                       exp10 < 0 ? '-' : '+', abs(exp10));
    else if (exp10 < 0)
        len = snprintf(buf, cap, "%s0.%.*s%s", minus, -exp10 - 1, "0000", digit);
    else if (n <= exp10 + 1)
        len = snprintf(buf, cap, "%s%s%.*s.0", minus, digit, exp10 + 1 - n, "0000000000000000");
    else
        len = snprintf(buf, cap, "%s%.*s.%s", minus, exp10 + 1, digit, digit + exp10 + 1);
    return (size_t)len;
}

/* Fixed-point notation with '.', then the suffix. */
/* The digits of "%.*f", which takes printf a thousand instructions. False: too close to a rounding boundary,
 * or too large. */
static bool short_decimal(double v, int decimals, char *buf, size_t cap)
{
    static const double scale[] = {1, 10, 100, 1000};
    double a = decimals < (int)OC_COUNT(scale) ? fabs(v) * scale[decimals] : INFINITY;
    if (!(a < 1e12)) /* the error of the product is below 1e-4 */
        return false;
    uint64_t n = (uint64_t)a;
    double rest = a - (double)n;
    if (fabs(rest - 0.5) < 1e-3)
        return false;
    n += rest > 0.5;
    char text[24], *end = text + sizeof(text), *p = end;
    for (int i = 0; i <= decimals || n; i++, n /= 10) {
        if (i == decimals && i)
            *--p = '.';
        *--p = (char)('0' + n % 10);
    }
    if (signbit(v))
        *--p = '-';
    size_t used = (size_t)(end - p);
    if (used >= cap)
        return false;
    memcpy(buf, p, used);
    buf[used] = '\0';
    return true;
}

static void long_decimal(double v, int decimals, char *buf, size_t cap)
{
    int n = snprintf(buf, cap, "%.*f", decimals, v);
    if (decimals > 0 && n > decimals &&
        (size_t)n < cap) { /* the locale's decimal point may be several bytes */
        char frac[16];
        snprintf(frac, sizeof(frac), "%s", buf + n - decimals);
        size_t whole = strspn(buf, "-0123456789");
        snprintf(buf + whole, cap - whole, ".%s", frac);
    }
}

static const char *units_fixed(double v, int decimals, const char *prefix, const char *unit, char *buf,
                               size_t cap)
{
    if (!short_decimal(v, decimals, buf, cap))
        long_decimal(v, decimals, buf, cap);
    size_t used = strlen(buf), k = strlen(prefix), n = strlen(unit);
    if (k + n && used + k + n + 2 <= cap) {
        buf[used] = ' ';
        memcpy(buf + used + 1, prefix, k);
        memcpy(buf + used + 1 + k, unit, n);
        buf[used + 1 + k + n] = '\0';
    } else if (k + n)
        snprintf(buf + used, cap - used, " %s%s", prefix, unit);
    return buf;
}

static bool units_not_finite(double v, char *buf, size_t cap)
{
    if (isfinite(v))
        return false;
    snprintf(buf, cap, "%s", isnan(v) ? "N/A" : v < 0 ? "-inf" : "inf");
    return true;
}

static const char *prefixed(double v, double base, const char *const *prefix, size_t n, const char *unit,
                            char *buf, size_t cap)
{
    size_t i = 0;
    if (units_not_finite(v, buf, cap))
        return buf;
    while (i + 1 < n && fabs(v) >= base - (v == floor(v) ? 0 : 0.005)) { /* would print as 1000.00 */
        v /= base;
        i++;
    }
    return units_fixed(v, i == 0 && v == floor(v) ? 0 : 2, prefix[i], unit, buf, cap);
}

const char *oc_format_si(double v, const char *unit, char *buf, size_t cap)
{
    static const char *const prefix[] = {"", "k", "M", "G", "T", "P", "E"};
    return prefixed(v, 1000, prefix, OC_COUNT(prefix), unit, buf, cap);
}

const char *oc_format_bytes(double v, char *buf, size_t cap)
{
    static const char *const prefix[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    return prefixed(v, 1024, prefix, OC_COUNT(prefix), "B", buf, cap);
}

const char *oc_format_time_ns(double ns, char *buf, size_t cap)
{
    static const char *const unit[] = {"ns", "us", "ms", "s"};
    size_t i = 0;
    if (units_not_finite(ns, buf, cap))
        return buf;
    while (i + 1 < OC_COUNT(unit) && fabs(ns) >= 999.5) {
        ns /= 1000;
        i++;
    }
    double a = fabs(ns);
    int decimals = a >= 99.95 || (i == 0 && ns == floor(ns)) ? 0 : a >= 9.995 ? 1 : 2;
    return units_fixed(ns, decimals, "", unit[i], buf, cap);
}

const char *oc_format_count(uint64_t v, char *buf, size_t cap)
{
    char digit[24];
    int n = snprintf(digit, sizeof(digit), "%llu", (unsigned long long)v);
    size_t at = 0;
    for (int i = 0; i < n && at + 2 < cap; i++) {
        if (i && (n - i) % 3 == 0)
            buf[at++] = ',';
        buf[at++] = digit[i];
    }
    buf[at] = '\0';
    return buf;
}

/* ---- texts in an arena ------------------------------------------------------------------------------ */

const char *oc_u64_text(struct oc_arena *a, uint64_t v)
{
    return oc_printf(a, "%llu", (unsigned long long)v);
}

const char *oc_count_text(struct oc_arena *a, uint64_t v)
{
    char buf[40];
    return oc_strdup(a, oc_format_count(v, buf, sizeof(buf)));
}

const char *oc_number_text(struct oc_arena *a, double v, int digits)
{
    bool whole = v >= pow(10, digits) - 0.5 && v < 0x1p63;
    return whole ? oc_count_text(a, (uint64_t)(v + 0.5)) : oc_printf(a, "%.*g", digits, v);
}

const char *oc_price_text(struct oc_arena *a, double price)
{
    int digits = price > 0 && price < 100 ? 2 - (int)floor(log10(price)) : 0;
    return isfinite(price) ? oc_printf(a, "%.*f", digits < 12 ? digits : 12, price) : "unknown";
}

const char *oc_si_text(struct oc_arena *a, double v, const char *unit)
{
    char buf[48];
    return isfinite(v) ? oc_strdup(a, oc_format_si(v, unit, buf, sizeof(buf))) : "unknown";
}

const char *oc_bytes_text(struct oc_arena *a, double v)
{
    char buf[48];
    return isfinite(v) ? oc_strdup(a, oc_format_bytes(v, buf, sizeof(buf))) : "unknown";
}

const char *oc_joule_text(struct oc_arena *a, double joule)
{
    static const struct {
        double least, scale;
        const char *unit;
    } units[] = {{1e3, 1e-3, "kJ"}, {1, 1, "J"}, {1e-3, 1e3, "mJ"}, {1e-6, 1e6, "uJ"}, {0, 1e9, "nJ"}};
    size_t i = 0;
    while (joule < units[i].least)
        i++;
    return oc_printf(a, "%.3g %s", joule * units[i].scale, units[i].unit);
}

const char *oc_time_text(struct oc_arena *a, double ns, const char *unknown)
{
    char buf[48];
    return isfinite(ns) ? oc_strdup(a, oc_format_time_ns(ns, buf, sizeof(buf))) : unknown;
}

const char *oc_seconds_text(struct oc_arena *a, double s, const char *unknown)
{
    return oc_time_text(a, s * 1e9, unknown);
}

/* ---- quality ---------------------------------------------------------------------------------------- */

const char *oc_quality_name(unsigned quality)
{
    static const char *const name[] = {[OC_EXACT] = "exact",
                                       [OC_UPPER] = "upper",
                                       [OC_LOWER] = "lower",
                                       [OC_EST] = "est",
                                       [OC_UNKNOWN] = "unknown"};
    return name[quality <= OC_UNKNOWN ? quality : OC_UNKNOWN];
}

const char *oc_quality_mark(unsigned quality)
{
    static const char *const mark[] = {
        [OC_EXACT] = "", [OC_UPPER] = "<=", [OC_LOWER] = ">=", [OC_EST] = "~", [OC_UNKNOWN] = ""};
    return mark[quality <= OC_UNKNOWN ? quality : OC_UNKNOWN];
}

unsigned oc_quality_add(unsigned sum, unsigned part)
{
    part = part == OC_UNKNOWN ? OC_LOWER : part;
    sum = sum == OC_UNKNOWN ? OC_LOWER : sum;
    return sum == OC_EXACT ? part : part == OC_EXACT || part == sum ? sum : OC_EST;
}

const char *oc_sum_mark(unsigned quality)
{
    return oc_quality_mark(quality == OC_UNKNOWN ? OC_LOWER : quality);
}

/* ---- time that passes --------------------------------------------------------------------------------- */

double oc_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

char *oc_left_text(double part, double from_s, char *buf, size_t cap)
{
    enum { SECONDS = 100 }; /* more are printed as minutes */
    double s = part > 0 && part < 1 ? (oc_now_s() - from_s) / part * (1 - part) : 0;
    *buf = 0;
    if (s > 0)
        snprintf(buf, cap, s < SECONDS ? ", about %.0f s left" : ", about %.0f min left",
                 s < SECONDS ? s : s / 60);
    return buf;
}

char *oc_part_text(const char *part, size_t done, size_t all, double from_s, char *buf, size_t cap)
{
    char left[48];
    snprintf(buf, cap, "%s %zu of %zu%s", part, done < all ? done + 1 : all, all,
             oc_left_text((double)done / (double)all, from_s, left, sizeof(left)));
    return buf;
}
