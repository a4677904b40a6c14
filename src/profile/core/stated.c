/* What a printed table says about itself, compared with its rows: one place for every reader of printed text. */
#include "profile/core/stated.h"

#include <math.h>

#define ROUNDING 0.05 /* of a share that is printed with one digit, in percent */

double oc_stated_sum(const struct oc_stated_row *row, size_t n)
{
    double ns = 0;
    for (size_t i = 0; i < n; i++)
        ns += isnan(row[i].ns) ? 0 : row[i].ns;
    return ns;
}

const char *oc_stated_total(struct oc_arena *a, double have_ns, double want_ns, double within)
{
    if (!(want_ns > 0) || !(have_ns > 0) || fabs(have_ns - want_ns) <= within / 100 * want_ns)
        return NULL;
    return oc_printf(a, "the rows add up to %.7g ms, and the file says %.7g ms", have_ns / 1e6,
                     want_ns / 1e6);
}

/* NAN: a row has no share. */
static double shares_of(const struct oc_stated_row *row, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += row[i].share;
    return n ? sum : (double)NAN;
}

const char *oc_stated_hundred(struct oc_arena *a, const struct oc_stated_row *row, size_t n, double hundred,
                              double within, bool *less)
{
    double percent = 100 * shares_of(row, n) / hundred;
    *less = percent < 100;
    if (!(percent > 0) || fabs(percent - 100) <= within + ROUNDING * (double)n)
        return NULL;
    return oc_printf(a, "the shares of the rows add up to %.1f %%", percent);
}

const char *oc_stated_agree(struct oc_arena *a, const struct oc_stated_row *row, size_t n, double within,
                            uint32_t *line)
{
    double all = oc_stated_sum(row, n), shares = shares_of(row, n);
    for (size_t i = 0; i < n && all > 0 && shares > 0; i++) {
        double share = 100 * row[i].ns / all;
        if (isnan(share) || fabs(100 * row[i].share / shares - share) <= within)
            continue;
        *line = row[i].line;
        return oc_printf(a,
                         "the share of '%.40s' is %.1f %%, but its time is %.1f %% of the rows: they differ",
                         row[i].name, row[i].share, share);
    }
    return NULL;
}

void oc_stated_warn(struct oc_profile *p, const char *text, bool less, const char *known)
{
    oc_diag_add(&p->diags, OC_WARNING, less ? "W-rows" : "W-total", "", "%s%s%s%s", text,
                less ? ": rows are missing" : "", known ? ": " : "", known ? known : "");
}
