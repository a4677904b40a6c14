/* Field values of csv_rows.h: numbers, units, column names. */
#include <string.h>

#include "base/str.h"
#include "base/arena.h"
#include "base/units.h"
#include "profile/csv_rows.h"

static bool csv_fields_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool csv_fields_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

struct oc_str oc_csv_trim(struct oc_str s)
{
    while (s.n && csv_fields_is_blank(s.s[s.n - 1]))
        s.n--;
    while (s.n && csv_fields_is_blank(s.s[0])) {
        s.s++;
        s.n--;
    }
    return s;
}

struct oc_str oc_csv_word(struct oc_str *s)
{
    *s = oc_csv_trim(*s);
    size_t n = 0;
    while (n < s->n && s->s[n] != ' ' && s->s[n] != '\t')
        n++;
    struct oc_str w = {s->s, n};
    *s = oc_csv_trim(oc_str_skip(*s, n));
    return w;
}

bool oc_csv_same(struct oc_str s, const char *text)
{
    return s.n == strlen(text) && oc_ncasecmp(s.s, text, s.n) == 0;
}

struct oc_str oc_csv_split_unit(struct oc_str header, struct oc_str *unit)
{
    struct oc_str h = oc_csv_trim(header);
    *unit = (struct oc_str){"", 0};
    if (h.n < 2 || h.s[h.n - 1] != ')')
        return h;
    const char *open = memrchr(h.s, '(', h.n);
    if (!open)
        return h;
    *unit = oc_csv_trim((struct oc_str){open + 1, (size_t)(h.s + h.n - 1 - (open + 1))});
    return oc_csv_trim(oc_str_before(h, open));
}

size_t oc_csv_column(const struct oc_str *field, size_t n, const char *name)
{
    struct oc_str unit;
    for (size_t i = 0; i < n; i++)
        if (oc_csv_same(oc_csv_trim(field[i]), name))
            return i;
    for (size_t i = 0; i < n; i++)
        if (oc_csv_same(oc_csv_split_unit(field[i], &unit), name))
            return i;
    return OC_CSV_NONE;
}

/* Copies the number at the start of `s` without its thousands separators. Returns its length in `s`, 0: no
 * number, or too long. */
static size_t bare_number(struct oc_str s, char *out, size_t cap, size_t *n)
{
    size_t i = 0, digits = 0, k = 0;
    bool grouped = false;
    if (i < s.n && (s.s[i] == '-' || s.s[i] == '+'))
        out[k++] = s.s[i++];
    for (; i < s.n && k + 1 < cap; i++) {
        bool group = s.s[i] == ',' && digits && digits <= 3 && i + 3 < s.n &&
                     csv_fields_is_digit(s.s[i + 1]) && csv_fields_is_digit(s.s[i + 2]) &&
                     csv_fields_is_digit(s.s[i + 3]) && !(i + 4 < s.n && csv_fields_is_digit(s.s[i + 4]));
        if (group && (!grouped || digits == 3)) {
            grouped = true;
            digits = 0;
            continue;
        }
        if (!csv_fields_is_digit(s.s[i]))
            break;
        out[k++] = s.s[i];
        digits++;
    }
    size_t whole = i;
    if (i < s.n && s.s[i] == '.') {
        out[k++] = '.';
        for (i++; i < s.n && csv_fields_is_digit(s.s[i]) && k + 1 < cap; i++)
            out[k++] = s.s[i];
    }
    if (!digits && i <= whole + 1)
        return 0;
    size_t e = i;
    if (e < s.n && (s.s[e] == 'e' || s.s[e] == 'E') && k + 8 < cap) {
        char exponent[8];
        size_t m = 0;
        exponent[m++] = s.s[e++];
        if (e < s.n && (s.s[e] == '-' || s.s[e] == '+'))
            exponent[m++] = s.s[e++];
        size_t first = e;
        while (e < s.n && csv_fields_is_digit(s.s[e]) && m < sizeof(exponent))
            exponent[m++] = s.s[e++];
        if (e > first) {
            memcpy(out + k, exponent, m);
            k += m;
            i = e;
        }
    }
    *n = k;
    return k + 1 < cap ? i : 0;
}

bool oc_csv_number(struct oc_str s, double *out, struct oc_str *unit)
{
    char text[400];
    size_t n;
    s = oc_csv_trim(s);
    size_t used = bare_number(s, text, sizeof(text), &n);
    if (!used) {
        if (unit)
            *unit = (struct oc_str){"", 0};
        return oc_parse_double(s.s, s.n, out); /* inf, nan */
    }
    struct oc_str rest = oc_csv_trim(oc_str_skip(s, used));
    if (rest.n && (!unit || csv_fields_is_digit(rest.s[0]) || rest.s[0] == ',' || rest.s[0] == '.'))
        return false;
    if (unit)
        *unit = rest;
    return oc_parse_double(text, n, out);
}

bool oc_csv_u64(struct oc_str s, uint64_t *out)
{
    char text[40];
    size_t n;
    s = oc_csv_trim(s);
    size_t used = bare_number(s, text, sizeof(text), &n);
    return used && used == s.n && oc_parse_u64(text, n, out);
}

bool oc_csv_time_unit(struct oc_str unit, double *ns)
{
    static const struct {
        const char *name;
        double ns;
    } known[] = {
        {"ns", 1},          {"nsec", 1},           {"nsecond", 1},
        {"nanosecond", 1},  {"us", 1e3},           {"usec", 1e3},
        {"usecond", 1e3},   {"microsecond", 1e3},  {"\xc2\xb5s", 1e3},
        {"\xce\xbcs", 1e3}, {"ms", 1e6},           {"msec", 1e6},
        {"msecond", 1e6},   {"millisecond", 1e6},  {"s", 1e9},
        {"sec", 1e9},       {"second", 1e9},       {"nsecs", 1},
        {"nseconds", 1},    {"nanoseconds", 1},    {"usecs", 1e3},
        {"useconds", 1e3},  {"microseconds", 1e3}, {"msecs", 1e6},
        {"mseconds", 1e6},  {"milliseconds", 1e6}, {"secs", 1e9},
        {"seconds", 1e9},
    };
    for (size_t i = 0; i < OC_COUNT(known); i++) {
        if (oc_csv_same(unit, known[i].name)) {
            *ns = known[i].ns;
            return true;
        }
    }
    return false;
}

bool oc_csv_time(struct oc_str s, double *ns)
{
    struct oc_str unit;
    double scale;
    if (!oc_csv_number(s, ns, &unit) || !(*ns >= 0 && *ns < 1e15) || !oc_csv_time_unit(unit, &scale))
        return false;
    *ns *= scale;
    return true;
}

static int fail_cell(const struct oc_csv *c, const char *column, struct oc_str cell, const char *what,
                     struct oc_err *err)
{
    return oc_csv_fail(c, err, "column '%s': '%.*s' is not a %s", column, (int)(cell.n < 80 ? cell.n : 80),
                       cell.s, what);
}

int oc_csv_cell_time(const struct oc_csv *c, const char *column, struct oc_str cell, double unit_ns,
                     double *ns, struct oc_err *err)
{
    if (!oc_csv_number(cell, ns, NULL) || !(*ns >= 0 && *ns < 1e19))
        return fail_cell(c, column, cell, "time", err);
    *ns *= unit_ns;
    return 0;
}

int oc_csv_cell_count(const struct oc_csv *c, const char *column, struct oc_str cell, uint64_t *n,
                      struct oc_err *err)
{
    return oc_csv_u64(cell, n) ? 0 : fail_cell(c, column, cell, "count", err);
}
