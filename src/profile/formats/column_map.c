#include "profile/formats/column_map.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"

static const char *const key_name[OC_MAP_KEYS] = {
    [OC_MAP_NAME] = "name",     [OC_MAP_TYPE] = "type",     [OC_MAP_PROVIDER] = "provider",
    [OC_MAP_TIME] = "time",     [OC_MAP_MEAN] = "mean",     [OC_MAP_CALLS] = "calls",
    [OC_MAP_MIN] = "min",       [OC_MAP_MAX] = "max",       [OC_MAP_MEDIAN] = "median",
    [OC_MAP_KERNEL] = "kernel", [OC_MAP_ENERGY] = "energy",
};

const char *oc_map_key_name(unsigned key)
{
    return key < OC_MAP_KEYS ? key_name[key] : "?";
}

static bool energy_unit(struct oc_str s, double *joule)
{
    static const struct {
        const char *name;
        double joule;
    } units[] = {{"kJ", 1e3},       {"J", 1},          {"mJ", 1e-3}, {"uJ", 1e-6},
                 {"\u00b5J", 1e-6}, {"\u03bcJ", 1e-6}, {"nJ", 1e-9}, {"pJ", 1e-12}};
    for (size_t i = 0; i < OC_COUNT(units); i++)
        if (oc_str_eq(s, units[i].name)) {
            *joule = units[i].joule;
            return true;
        }
    return false;
}

bool oc_map_unit(unsigned key, struct oc_str text, double *unit)
{
    return key == OC_MAP_ENERGY                        ? energy_unit(text, unit)
           : key >= OC_MAP_TIME && key != OC_MAP_CALLS ? oc_csv_time_unit(text, unit)
                                                       : false;
}

static unsigned column_map_key_of(struct oc_str s)
{
    unsigned k = 0;
    while (k < OC_MAP_KEYS && !oc_csv_same(s, key_name[k]))
        k++;
    return k;
}

/* "'CPU Time':ms": splits the column without quotes from the unit. */
static bool take_column(struct oc_str s, struct oc_arena *a, unsigned key, struct oc_column_map *out)
{
    const char *colon = s.n ? memrchr(s.s, ':', s.n) : NULL;
    out->unit[key] = NAN;
    if (colon && oc_map_unit(key, oc_csv_trim(oc_str_from(s, colon + 1)), &out->unit[key]))
        s = oc_csv_trim(oc_str_before(s, colon));
    if (s.n >= 2 && (s.s[0] == '\'' || s.s[0] == '"') && s.s[s.n - 1] == s.s[0])
        s = (struct oc_str){s.s + 1, s.n - 2};
    out->column[key] = oc_strndup(a, s.s, s.n);
    return s.n > 0;
}

/* Text up to the next comma outside quotes. */
static size_t part_length(const char *s)
{
    char quote = '\0';
    size_t i = 0;
    for (; s[i] && (quote || s[i] != ','); i++) {
        if (quote ? s[i] == quote : (s[i] == '\'' || s[i] == '"') && i && s[i - 1] == '=')
            quote = (char)(quote ? 0 : s[i]);
    }
    return i;
}

int oc_column_map_parse(const char *text, struct oc_arena *a, struct oc_column_map *out, struct oc_err *err)
{
    *out = (struct oc_column_map){0};
    while (*text) {
        size_t n = part_length(text);
        struct oc_str part = oc_csv_trim((struct oc_str){text, n});
        const char *equals = oc_str_chr(part, '=');
        size_t k = equals ? (size_t)(equals - part.s) : 0;
        unsigned key = column_map_key_of(oc_csv_trim((struct oc_str){part.s, k}));
        if (!equals || key == OC_MAP_KEYS)
            return oc_fail(err, OC_EARG,
                           "--map: '%.*s' is not KEY=COLUMN; the keys are name, type, provider, time, "
                           "mean, calls, min, max, median, kernel, energy",
                           (int)(part.n < 80 ? part.n : 80), part.s);
        if (out->column[key])
            return oc_fail(err, OC_EARG, "--map: '%s' is given twice; give each key once", key_name[key]);
        if (!take_column(oc_csv_trim((struct oc_str){equals + 1, part.n - k - 1}), a, key, out))
            return oc_fail(err, OC_EARG, "--map: '%s' has no column; write %s=COLUMN", key_name[key],
                           key_name[key]);
        text += n + (text[n] == ',');
    }
    if (!out->column[OC_MAP_NAME] || !(out->column[OC_MAP_TIME] || out->column[OC_MAP_MEAN]))
        return oc_fail(err, OC_EARG, "--map needs name=COLUMN and time=COLUMN (or mean=COLUMN)");
    return 0;
}

bool oc_column_map_find(struct oc_column_map *m, const struct oc_str *field, size_t n, const char **missing)
{
    for (unsigned k = 0; k < OC_MAP_KEYS; k++) {
        struct oc_str unit;
        double own;
        m->at[k] = OC_CSV_NONE;
        if (!m->column[k])
            continue;
        m->at[k] = oc_csv_column(field, n, m->column[k]);
        if (m->at[k] == OC_CSV_NONE) {
            if (missing)
                *missing = m->column[k];
            return false;
        }
        (void)oc_csv_split_unit(field[m->at[k]], &unit);
        if (isnan(m->unit[k]) && oc_map_unit(k, unit, &own))
            m->unit[k] = own;
    }
    return true;
}
