#include "hw/figure.h"

#include "base/arena.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct unit {
    const char *name;
    double scale;
};

static const struct unit flop_units[] = {{"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}, {0}};
static const struct unit op_units[] = {{"GOP/s", 1e9}, {"TOP/s", 1e12}, {"POP/s", 1e15}, {0}};
static const struct unit byte_units[] = {
    {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {0},
};
static const struct unit rate_units[] = {{"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}, {0}};
static const struct unit hz_units[] = {{"MHz", 1e6}, {"GHz", 1e9}, {0}};
static const struct unit watt_units[] = {{"W", 1.0}, {0}};
static const struct unit time_units[] = {{"ns", 1e-9}, {"PFLOP/s", 1e15}, {"POP/s", 1e15},
                                         {"us", 1e-6}, {"ms", 1e-3},      {0}};

static const struct {
    const char *base, *choices;
    const struct unit *unit;
} quantities[OC_Q_QUANTITIES] = {
    [OC_Q_COUNT] = {"", "no unit", NULL},
    [OC_Q_FLOP_PER_S] = {"FLOP/s", "GFLOP/s, TFLOP/s or PFLOP/s", flop_units},
    [OC_Q_OP_PER_S] = {"OP/s", "GOP/s, TOP/s or POP/s", op_units},
    [OC_Q_BYTES] = {"B", "KiB, MiB, GiB, kB, MB or GB", byte_units},
    [OC_Q_BYTES_PER_S] = {"B/s", "MB/s, GB/s or TB/s", rate_units},
    [OC_Q_HZ] = {"Hz", "MHz or GHz", hz_units},
    [OC_Q_SECONDS] = {"s", "ns, us or ms", time_units},
    [OC_Q_WATTS] = {"W", "W", watt_units},
};

static const struct unit formula_words[] = {
    {"kHz", 1e3},          {"MHz", 1e6},     {"GHz", 1e9},      {"MT/s", 1e6},   {"GT/s", 1e9},
    {"Mbit/s", 1e6},       {"Gbit/s", 1e9},  {"MB/s", 1e6},     {"GB/s", 1e9},   {"TB/s", 1e12},
    {"kB", 1e3},           {"MB", 1e6},      {"GB", 1e9},       {"KiB", 1024.0}, {"MiB", 1048576.0},
    {"GiB", 1073741824.0}, {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"GOP/s", 1e9},  {"TOP/s", 1e12},
    {"PFLOP/s", 1e15},     {"POP/s", 1e15},  {"us", 1e-6},
};

const char *oc_quantity_unit(enum oc_quantity q)
{
    return quantities[q].base;
}

const char *oc_quantity_choices(enum oc_quantity q)
{
    return quantities[q].choices;
}

static size_t number_length(const char *s)
{
    return strspn(s, "0123456789.");
}

/* Digits with at most one point; no sign, exponent, nan, inf or hexadecimal. */
static bool plain_number(const char *s, size_t n, double *out)
{
    return n > 0 && n <= 32 && s[0] != '.' && s[n - 1] != '.' && oc_parse_double(s, n, out) &&
           isfinite(*out) && *out > 0;
}

bool oc_figure_value(const char *number, double *out)
{
    size_t n = strlen(number);
    return n == number_length(number) && plain_number(number, n, out);
}

bool oc_figure_scale(enum oc_quantity q, const char *unit, double *scale)
{
    if (q == OC_Q_COUNT) {
        *scale = 1;
        return unit[0] == '\0';
    }
    for (const struct unit *u = quantities[q].unit; u->name; u++)
        if (strcmp(u->name, unit) == 0) {
            *scale = u->scale;
            return true;
        }
    return false;
}

static double word_scale(const char *s, size_t n)
{
    for (size_t i = 0; i < OC_COUNT(formula_words); i++)
        if (strlen(formula_words[i].name) == n && memcmp(formula_words[i].name, s, n) == 0)
            return formula_words[i].scale;
    return 1;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Parses one factor at *s: a number and the words after it, up to an operator or the end. */
static bool read_factor(const char **s, double *out)
{
    const char *p = *s + strspn(*s, " ");
    size_t n = number_length(p);
    *s = p;
    if (!plain_number(p, n, out))
        return false;
    p += n;
    while (*p == ' ' && is_letter(p[1])) {
        size_t len = strcspn(++p, " ");
        *out *= word_scale(p, len);
        p += len;
    }
    *s = p + strspn(p, " ");
    return true;
}

/* Terms of factors; '*' and '/' have higher precedence than '+'. */
bool oc_formula_value(const char *formula, double *out, const char **bad)
{
    const char *s = formula;
    double sum = 0, product = 1, factor;
    char op = '*';
    while (read_factor(&s, &factor)) {
        product = op == '/' ? product / factor : product * factor;
        op = *s;
        if (op == '\0' || op == '+') {
            sum += product;
            product = 1;
        }
        if (op == '\0') {
            *out = sum;
            return isfinite(sum);
        }
        if (op != '*' && op != '/' && op != '+')
            break;
        s++;
    }
    *bad = s;
    return false;
}

size_t oc_formula_words(const char *formula, struct oc_formula_word *out, size_t n)
{
    size_t count = 0;
    const char *s = formula;
    while (count < n && *s) {
        s += strspn(s, " */+");
        size_t len = number_length(s);
        if (!plain_number(s, len, &out[count].number))
            break;
        s += len;
        size_t word = *s == ' ' && is_letter(s[1]) ? strcspn(s + 1, " ") : 0;
        snprintf(out[count++].word, sizeof(out->word), "%.*s", (int)word, s + 1);
        s += strcspn(s, "*/+");
        while (*s == '/' && s[1] != ' ') /* part of a unit: FLOP/cycle */
            s += 1 + strcspn(s + 1, "*/+");
    }
    return count;
}
