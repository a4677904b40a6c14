/* Numbers in any locale: a mark separates thousands or is the decimal sign, which one number alone may not show. */
#include "profile/printed/number.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "profile/csv_rows.h"

#define LONGEST 64

/* The bytes of a separator of thousands at the start of the text other than the decimal sign: blanks, apostrophe; 0: none. */
static size_t separator(struct oc_str s)
{
    static const char *const known[] = {"\u00a0", "\u2009", "\u202f", "\u2019"};
    unsigned char c = s.n ? (unsigned char)s.s[0] : '0';
    if (c == ' ' || c == '\'')
        return 1;
    for (size_t i = 0; i < OC_COUNT(known) && c >= 0x80; i++)
        if (oc_str_starts(s, known[i]))
            return strlen(known[i]);
    return 0;
}

static bool digit_at(struct oc_str s, size_t i)
{
    return i < s.n && oc_is_digit(s.s[i]);
}

static bool group_at(struct oc_str s, size_t i)
{
    return digit_at(s, i) && digit_at(s, i + 1) && digit_at(s, i + 2) && !digit_at(s, i + 3);
}

/* Length of the number with its marks; blanks belong to it before groups of three. */
static size_t number_length(struct oc_str s)
{
    size_t i = s.n && (s.s[0] == '-' || s.s[0] == '+'), from = i;
    bool digits = false;
    while (i < s.n) {
        size_t blank = digits ? separator(oc_str_skip(s, i)) : 0;
        bool mark = (s.s[i] == '.' || s.s[i] == ',') && (digits || digit_at(s, i + 1));
        if (blank ? !group_at(s, i + blank) : !oc_is_digit(s.s[i]) && !mark)
            break;
        digits |= oc_is_digit(s.s[i]);
        i += blank ? blank : 1;
    }
    while (i > from && !oc_is_digit(s.s[i - 1]) && i > from + 1)
        i--;
    return digits ? i : 0;
}

/* "e-05" */
static size_t exponent_length(struct oc_str s)
{
    size_t i = s.n && (s.s[0] == 'e' || s.s[0] == 'E');
    if (!i)
        return 0;
    i += i < s.n && (s.s[i] == '-' || s.s[i] == '+');
    size_t first = i;
    while (digit_at(s, i))
        i++;
    return i > first && i < 8 ? i : 0;
}

/* The value if `point` is the decimal sign; NAN: it cannot be. '\0': there is none. */
static double value_of(struct oc_str s, struct oc_str exponent, char point)
{
    char text[LONGEST + 8];
    size_t n = 0;
    bool fraction = false, grouped = false;
    double v;
    for (size_t i = 0; i < s.n && n < LONGEST; i++) {
        size_t blank = separator(oc_str_skip(s, i));
        bool sign = point && s.s[i] == point;
        if (oc_is_digit(s.s[i]) || (i == 0 && !blank && (s.s[i] == '-' || s.s[i] == '+'))) {
            text[n++] = s.s[i];
        } else if (sign && !fraction) {
            fraction = true;
            text[n++] = '.';
        } else if (fraction || sign ||
                   (point ? !group_at(s, i + (blank ? blank : 1))
                          : !digit_at(s, i + (blank ? blank : 1) + 1))) {
            return NAN;
        } else {
            size_t digits = n - (n && !oc_is_digit(text[0]));
            if (point && !grouped && digits > 3)
                return NAN; /* "1234.567" */
            grouped = true;
            i += blank ? blank - 1 : 0;
        }
    }
    memcpy(text + n, exponent.s, exponent.n);
    return n < LONGEST && oc_parse_double(text, n + exponent.n, &v) ? v : NAN;
}

static void cut(struct oc_str s, struct oc_str *number, struct oc_str *exponent, struct oc_str *rest)
{
    s = oc_csv_trim(s);
    *number = (struct oc_str){s.s, number_length(s)};
    *rest = oc_str_skip(s, number->n);
    *exponent = (struct oc_str){rest->s, number->n ? exponent_length(*rest) : 0};
    *rest = oc_csv_trim(oc_str_skip(*rest, exponent->n));
}

bool oc_printed_number(struct oc_str s, bool whole, struct oc_printed_number *out, struct oc_str *rest)
{
    struct oc_str number, exponent;
    cut(s.n ? s : oc_str("", 0), &number, &exponent, rest);
    if (!number.n)
        return false;
    out->v[OC_POINT] = value_of(number, exponent, whole ? '\0' : '.');
    out->v[OC_COMMA] = whole ? out->v[OC_POINT] : value_of(number, exponent, ',');
    return !isnan(out->v[OC_POINT]) || !isnan(out->v[OC_COMMA]);
}

enum oc_decimal oc_printed_evidence(struct oc_str s, bool whole)
{
    struct oc_str number, exponent, rest;
    size_t n[OC_DECIMALS] = {0}, at[OC_DECIMALS] = {0};
    cut(s.n ? s : oc_str("", 0), &number, &exponent, &rest);
    for (size_t i = 0; i < number.n; i++)
        for (unsigned k = 0; k < OC_DECIMALS; k++)
            if (number.s[i] == ".,"[k]) {
                n[k]++;
                at[k] = i;
            }
    if (n[0] && n[1])
        return whole ? OC_DECIMALS : at[0] > at[1] ? OC_POINT : OC_COMMA;
    if (!n[0] && !n[1])
        return OC_DECIMALS;
    unsigned mark = n[0] ? OC_POINT : OC_COMMA;
    if (n[mark] > 1 || whole) /* it separates thousands */
        return mark == OC_POINT ? OC_COMMA : OC_POINT;
    struct oc_str head = oc_str_before(number, number.s + at[mark]);
    while (head.n && !oc_is_digit(head.s[0]))
        head = oc_str_skip(head, 1);
    bool fraction = number.n - at[mark] - 1 != 3 || head.n > 3 || !head.n || oc_str_eq(head, "0");
    return fraction ? (enum oc_decimal)mark : OC_DECIMALS;
}

bool oc_printed_plain(struct oc_str s, double *out, struct oc_str *rest)
{
    return oc_csv_number(s, out, rest) && (isfinite(*out) || s.n);
}

bool oc_printed_clock(struct oc_str s, double *ns)
{
    double part[3];
    struct oc_str rest = oc_csv_trim(s);
    for (unsigned i = 0; i < 3; i++) {
        if (i < 2 && !oc_str_chr(rest, ':'))
            return false;
        struct oc_str field = i < 2 ? oc_str_take(&rest, ':') : rest;
        if (!digit_at(field, 0) || (i && !digit_at(field, 1)) || !oc_parse_double(field.s, field.n, &part[i]))
            return false;
    }
    *ns = ((part[0] * 60 + part[1]) * 60 + part[2]) * 1e9;
    return *ns < 1e19;
}

bool oc_printed_size(struct oc_str s, double *bytes)
{
    static const struct {
        const char *name;
        double bytes;
    } known[] = {{"B", 1},        {"KB", 1e3},        {"MB", 1e6},          {"GB", 1e9},
                 {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}};
    for (size_t i = 0; i < OC_COUNT(known); i++)
        if (oc_csv_same(s, known[i].name)) {
            *bytes = known[i].bytes;
            return true;
        }
    return false;
}

bool oc_printed_unit(struct oc_str s, double *ns)
{
    double many = 1;
    s = oc_csv_trim(s);
    if (s.n && s.s[s.n - 1] == '.')
        s.n--;
    const char *blank = s.n && oc_is_digit(s.s[0]) ? oc_str_chr(s, ' ') : NULL;
    if (blank && oc_parse_double(s.s, (size_t)(blank - s.s), &many))
        s = oc_csv_trim(oc_str_from(s, blank));
    if (!s.n || !oc_csv_time_unit(s, ns))
        return false;
    *ns *= many;
    return true;
}
