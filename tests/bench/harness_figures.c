#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *v, uint32_t n)
{
    if (!n)
        return NAN;
    qsort(v, n, sizeof(*v), by_value);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* of all its items */
static double ms(const struct command *c)
{
    double *v = oc_xcalloc(c->n_item + 1, sizeof(*v));
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_item; i++)
        if (c->item[i].n)
            v[n++] = c->item[i].median_ms;
    double median = bench_median(v, n);
    free(v);
    return median;
}

static double rate(const struct command *c)
{
    return c->size / ms(c);
}

double bench_growth(const struct command *of, const struct command *smaller)
{
    return log(ms(of) / ms(smaller)) / log(of->size / smaller->size);
}

static double no_value(const struct target *t)
{
    (void)t;
    return NAN;
}

static double time_of(const struct target *t)
{
    return ms(t->of);
}

static double above(const struct target *t)
{
    return ms(t->of) - ms(t->against);
}

static double gigabytes(const struct target *t)
{
    return rate(t->of) * 1e-6; /* bytes/ms */
}

static double per_second(const struct target *t)
{
    return rate(t->of) * 1e3;
}

static double resident(const struct target *t)
{
    return t->of->item->n ? t->of->item->rss_mb : NAN;
}

static double anonymous(const struct target *t)
{
    return t->of->item->n ? t->of->item->private_mb : NAN;
}

static double faster(const struct target *t)
{
    return ms(t->against) / ms(t->of);
}

static double speed(const struct target *t)
{
    return rate(t->of) / rate(t->against);
}

static double longer(const struct target *t)
{
    return above(t) / ms(t->against);
}

static double growth(const struct target *t)
{
    return bench_growth(t->of, t->against);
}

static double of_limit(const struct target *t)
{
    return anonymous(t) / (t->figure_wanted.value + t->figure_wanted.each * t->of->count * 1e-6);
}

/* ratios of the items that both commands completed; the item of the minimum goes to *item */
static double of_items(const struct target *t, bool median, const char **item)
{
    double *v = oc_xcalloc(t->of->n_item + 1, sizeof(*v)), least = NAN;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->of->n_item && i < t->against->n_item; i++) {
        const struct item *a = &t->of->item[i], *b = &t->against->item[i];
        if (!a->n || !b->n)
            continue;
        v[n] = b->median_ms / a->median_ms;
        if (!(v[n] >= least)) {
            least = v[n];
            *item = a->name;
        }
        n++;
    }
    if (median) {
        least = bench_median(v, n);
        *item = NULL;
    }
    free(v);
    return least;
}

struct kind {
    const char *name, *unit;
    double (*value)(const struct target *t);
    bool of_machine; /* differs between machines */
    bool needs_against;
};

static const struct kind figures[] = {
    {"ms", "ms", time_of, true, false},       {"above", "ms", above, true, true},
    {"GB/s", "GB/s", gigabytes, true, false}, {"per second", "/s", per_second, true, false},
    {"RSS", "MB", resident, false, false},    {"private", "MB", anonymous, false, false},
    {"exponent", "", growth, false, true},    {"-", "", no_value, true, false},
};

static const struct kind ratios[] = {
    {"speedup", "x", faster, false, true},           {"relative speed", "", speed, false, true},
    {"relative overhead", "x", longer, false, true}, {"of the limit", "", of_limit, false, false},
    {"exponent", "", growth, false, true},           {"-", "", no_value, false, false},
};

static const struct kind *kind_of(const struct kind *k, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(k[i].name, name) == 0)
            return &k[i];
    return NULL;
}

static enum verdict judge(double v, double limit, enum relation r)
{
    if (isnan(v))
        return MISSED;
    return (r == BELOW ? v < limit : r == AT_MOST ? v <= limit : v >= limit) ? MET : MISSED;
}

static bool skipped(const struct target *t, bool with_against)
{
    return t->of->missing || (with_against && t->against && t->against->missing);
}

static void conclude(const struct target *t, const struct wanted *w, bool skip, struct figure *f)
{
    f->limit = NAN;
    if (skip)
        f->value = NAN;
    if (w->relation == ANY)
        return;
    f->limit = w->value + (w->each > 0 ? w->each * t->of->count * 1e-6 : 0);
    f->verdict = skip ? SKIPPED : judge(f->value, f->limit, w->relation);
}

struct figure bench_figure(const struct target *t)
{
    struct figure f = {.value = NAN, .unit = ""};
    const struct kind *k = kind_of(figures, OC_COUNT(figures), t->figure);
    if (!k || (k->needs_against && !t->against)) {
        f.verdict = MISSED;
        f.limit = NAN;
        return f;
    }
    f.value = k->value(t);
    f.unit = k->unit;
    conclude(t, &t->figure_wanted, skipped(t, k->needs_against), &f);
    return f;
}

struct figure bench_ratio(const struct target *t)
{
    struct figure f = {.value = NAN, .unit = "x"};
    bool median = strcmp(t->ratio, "median speedup") == 0, least = strcmp(t->ratio, "min speedup") == 0;
    const struct kind *k = kind_of(ratios, OC_COUNT(ratios), t->ratio);
    if ((median || least) && t->against) {
        f.value = of_items(t, median, &f.item);
    } else if (!k || (k->needs_against && !t->against)) {
        f.verdict = MISSED;
        f.limit = NAN;
        return f;
    } else {
        f.value = k->value(t);
        f.unit = k->unit;
    }
    conclude(t, &t->ratio_wanted, skipped(t, true), &f);
    return f;
}

enum verdict bench_machine_verdict(const struct target *t)
{
    if (t->ratio_wanted.relation != ANY)
        return bench_ratio(t).verdict;
    const struct kind *k = kind_of(figures, OC_COUNT(figures), t->figure);
    return k && !k->of_machine ? bench_figure(t).verdict : NO_VERDICT;
}

const char *bench_verdict_name(enum verdict v)
{
    static const char *const name[] = {"", "met", "missed", "skipped"};
    return name[v];
}

const char *bench_relation_sign(enum relation r)
{
    static const char *const sign[] = {"", "<", "<=", ">="};
    return sign[r];
}
