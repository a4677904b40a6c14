/* What the names of its kernels tell of a record: the precision and unit that did most of its work. */
#include <stdlib.h>
#include <string.h>

#include "profile/kernel_names.h"

struct share {
    uint32_t rec;
    const char *precision, *unit;
    double ns;
};

static int by_record(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    if (x->rec != y->rec)
        return x->rec < y->rec ? -1 : 1;
    int order = strcmp(x->precision, y->precision);
    return order ? order : strcmp(x->unit, y->unit);
}

/* One record's shares: what has more than half of the time. */
static void tell_record(struct oc_prof_rec *rec, const struct share *share, size_t n)
{
    double whole = 0, same = 0;
    for (size_t i = 0; i < n; i++)
        whole += share[i].ns;
    for (size_t i = 0; i < n; i++) {
        same = i && by_record(&share[i - 1], &share[i]) == 0 ? same + share[i].ns : share[i].ns;
        if (2 * same > whole) {
            rec->precision = share[i].precision;
            rec->unit = share[i].unit;
            return;
        }
    }
}

static bool is_empty(const char *s)
{
    return !s || !*s;
}

static void tell_kernel(struct oc_prof_kernel *k, const struct oc_kernel_names *own)
{
    struct oc_kernel_facts f;
    oc_kernel_facts(own, k->name, &f);
    if (is_empty(k->precision) && is_empty(k->unit)) {
        k->precision = f.precision;
        k->unit = f.unit;
    }
    if (is_empty(k->library))
        k->library = f.library;
}

void oc_profile_tell_kernels(struct oc_profile *p, const struct oc_kernel_names *own)
{
    struct share *share = oc_xmalloc((p->n_kernel + (size_t)1) * sizeof(*share));
    size_t n = 0;
    for (uint32_t i = 0; i < p->n_kernel; i++) {
        struct oc_prof_kernel *k = &p->kernel[i];
        tell_kernel(k, own);
        if (k->rec < p->n_rec && k->total_ns > 0)
            share[n++] = (struct share){k->rec, k->precision, k->unit, k->total_ns};
    }
    if (n)
        qsort(share, n, sizeof(*share), by_record);
    for (size_t i = 0, end; i < n; i = end) {
        struct oc_prof_rec *rec = &p->rec[share[i].rec];
        for (end = i + 1; end < n && share[end].rec == share[i].rec;)
            end++;
        if (is_empty(rec->precision) && is_empty(rec->unit))
            tell_record(rec, share + i, end - i);
    }
    free(share);
}
