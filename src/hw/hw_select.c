/* Selects devices by kind and vendor. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"
#include "hw/hwdb.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"

static bool same(const char *text, size_t n, const char *name)
{
    if (!name || strlen(name) != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (oc_fold_char(text[i]) != oc_fold_char(name[i]))
            return false;
    return true;
}

struct condition {
    bool vendor; /* or the kind */
    const char *value;
    size_t n;
};

/* Parses one condition at *p and advances *p past it and a '+'. */
static bool hw_select_take(const char **p, struct condition *out)
{
    static const char *const keys[] = {"kind=", "vendor="};
    for (size_t i = 0; i < OC_COUNT(keys); i++) {
        size_t n = strlen(keys[i]);
        if (strncmp(*p, keys[i], n) != 0)
            continue;
        *out = (struct condition){.vendor = i == 1, .value = *p + n, .n = strcspn(*p + n, "+")};
        *p = out->value + out->n;
        bool more = **p == '+';
        *p += more;
        return out->n && !(more && !**p);
    }
    return false;
}

static bool passes(const struct oc_device *d, const char *filter)
{
    struct condition c;
    while (*filter && hw_select_take(&filter, &c))
        if (!same(c.value, c.n, c.vendor ? d->info->vendor : d->info->kind))
            return false;
    return true;
}

static bool is_valid(const char *filter)
{
    struct condition c;
    do {
        if (!hw_select_take(&filter, &c))
            return false;
    } while (*filter);
    return true;
}

/* Of every device, each once. */
static size_t hw_select_values_of(const struct oc_device *const *list, size_t n, bool vendor,
                                  const char **out)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const char *value = vendor ? list[i]->info->vendor : list[i]->info->kind;
        size_t k = 0;
        while (value && k < found && !same(value, strlen(value), out[k]))
            k++;
        if (value && k == found)
            out[found++] = value;
    }
    return found;
}

static bool has_value(const char *const *value, size_t n, const struct condition *c)
{
    for (size_t i = 0; i < n; i++)
        if (same(c->value, c->n, value[i]))
            return true;
    return false;
}

static int fail_no_device(const struct oc_device *const *list, size_t n_all, const char *filter,
                          struct oc_err *err)
{
    const char **value = oc_xmalloc((n_all + 1) * sizeof(*value));
    struct condition c;
    bool told = false;
    for (const char *at = filter; *at && !told && hw_select_take(&at, &c);) {
        size_t n = hw_select_values_of(list, n_all, c.vendor, value);
        told = !has_value(value, n, &c);
        if (told)
            oc_fail_unknown(err, OC_ENOTFOUND,
                            &(struct oc_unknown){.what = c.vendor ? "vendor" : "kind",
                                                 .where = "of devices",
                                                 .given = c.value,
                                                 .given_n = c.n,
                                                 .valid = value,
                                                 .n = n});
    }
    free(value);
    return told ? -1
                : oc_fail(
                      err, OC_ENOTFOUND,
                      "no device in the hardware files matches '%.60s'; onnxcost hw list shows their kinds "
                      "and vendors",
                      filter);
}

bool oc_hwdb_is_filter(const char *name)
{
    return strcmp(name, "all") == 0 || strncmp(name, "kind=", 5) == 0 || strncmp(name, "vendor=", 7) == 0;
}

int oc_hwdb_select(struct oc_hwdb *db, const char *filter, const struct oc_device *const **out, size_t *n,
                   struct oc_err *err)
{
    bool all = strcmp(filter, "all") == 0;
    size_t n_all;
    *n = 0;
    if (!all && !is_valid(filter))
        return oc_fail(err, OC_EARG,
                       "select devices with all, kind=KIND, vendor=NAME, or both joined by '+', not '%.60s'",
                       filter);
    if (oc_hwdb_list(db, out, &n_all, err))
        return -1;
    const struct oc_device **list = (const struct oc_device **)*out; /* a private database for this call */
    for (size_t i = 0; i < n_all; i++)
        if (all || passes(list[i], filter))
            list[(*n)++] = list[i];
    return *n ? 0 : fail_no_device(list, n_all, filter, err);
}
