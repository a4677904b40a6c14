#include "harness.h"

#include <math.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define BUSY 0.1 /* processors */

/* Four digits for any magnitude: 0.4213, 12.34, 1.235 G */
static const char *digits(double v, char *out, size_t n)
{
    static const char prefix[] = " kMGT";
    unsigned k = 0;
    double a = fabs(v);
    for (; a >= 9999.5 && k < 4; k++, v /= 1e3)
        a /= 1e3;
    int decimals = a >= 999.5 ? 0 : a >= 99.95 ? 1 : a >= 9.995 ? 2 : 3;
    if (isnan(v))
        snprintf(out, n, "-");
    else
        snprintf(out, n, "%.*f%s%.1s", decimals, v, k ? " " : "", k ? &prefix[k] : "");
    return out;
}

static const char *with_unit(double v, const char *unit, char *out, size_t n)
{
    char number[32];
    if (isnan(v))
        snprintf(out, n, "-");
    else if (v >= 9999.5 && *unit != '/') /* ms above 9999, never kms */
        snprintf(out, n, "%.0f %s", v, unit);
    else
        snprintf(out, n, "%s%s%s", digits(v, number, sizeof(number)), *unit && *unit != '/' ? " " : "", unit);
    return out;
}

static const char *limit_text(const struct wanted *w, const struct figure *f, char *out, size_t n)
{
    if (w->relation == ANY || isnan(f->limit))
        *out = 0;
    else if (w->each > 0)
        snprintf(out, n, "%s %.4g", bench_relation_sign(w->relation), f->limit);
    else
        snprintf(out, n, "%s %g", bench_relation_sign(w->relation), f->limit);
    return out;
}

#define ROW "%-43s %11s %9s %-7s  %-31s %10s %8s %-13s %8s %s\n"

static void print_target(const struct target *t, bool repeated)
{
    char a[32], b[32], c[32], d[32], e[32], beside[64] = "";
    struct figure f = bench_figure(t), r = bench_ratio(t);
    bool has_ratio = strcmp(t->ratio, "-") != 0;
    double other = NAN;
    if (t->against && t->against->n_item == 1 && t->against->item->n)
        other = t->against->item->median_ms;
    if (t->against)
        snprintf(beside, sizeof(beside), "%s", t->against->missing ? t->against->missing : t->against->title);
    printf(ROW, repeated ? "" : t->title, with_unit(f.value, f.unit, a, sizeof(a)),
           limit_text(&t->figure_wanted, &f, b, sizeof(b)), bench_verdict_name(f.verdict), beside,
           t->against ? with_unit(other, "ms", c, sizeof(c)) : "",
           has_ratio ? digits(r.value, d, sizeof(d)) : "", has_ratio ? t->ratio : "",
           limit_text(&t->ratio_wanted, &r, e, sizeof(e)), bench_verdict_name(r.verdict));
    if (r.item)
        printf("    %s\n", r.item);
}

static void print_targets(const struct tables *t)
{
    unsigned wanted = 0, missed = 0, absolute = 0, absolute_missed = 0, skipped = 0;
    printf("\n" ROW, "target", "value", "limit", "", "compared with", "", "ratio", "", "limit", "");
    for (uint32_t i = 0; i < t->n_target; i++) {
        const struct target *x = &t->target[i];
        enum verdict machine = bench_machine_verdict(x), here = bench_figure(x).verdict;
        print_target(x, i > 0 && strcmp(x->title, x[-1].title) == 0);
        wanted += machine != NO_VERDICT;
        missed += machine == MISSED;
        absolute += here != NO_VERDICT;
        absolute_missed += here == MISSED;
        skipped += machine == SKIPPED;
    }
    printf("\nindependent of the machine: %u of %u missed, %u skipped; on this machine: %u of %u "
           "missed\n",
           missed, wanted, skipped, absolute_missed, absolute);
}

static void print_sweeps(const struct tables *t)
{
    char a[32], b[32], c[32];
    printf("\n%-45s %10s %12s %12s %9s %9s %11s\n", "scaling", "size", "median ms", "per second", "exponent",
           "RSS MB", "private MB");
    for (uint32_t i = 0; i < t->n_command; i++) {
        const struct command *x = &t->command[i];
        if (strncmp(x->group, "sweep", 5) != 0 || x->missing || !x->item->n)
            continue;
        bool first = i == 0 || strcmp(x->group, x[-1].group) != 0 || isnan(x[-1].size);
        printf("%-45s %10s %12.2f %12s %9s %9.1f %11.1f\n", x->title, digits(x->size, a, sizeof(a)),
               x->item->median_ms, digits(x->size / x->item->median_ms * 1e3, b, sizeof(b)),
               first ? "" : digits(bench_growth(x, x - 1), c, sizeof(c)), x->item->rss_mb,
               x->item->private_mb);
    }
}

static void print_command(const struct command *c)
{
    char count[32] = "";
    const struct item *x = c->item;
    if (c->missing) {
        printf("%-45s SKIPPED: %s\n", c->title, c->missing);
    } else if (c->n_item > 1) {
        printf("%-45s %5u, each of %u\n", c->title, c->runs, c->n_item);
    } else if (x->code) {
        printf("%-45s FAILED: exit code %d\n", c->title, x->code);
    } else {
        if (!isnan(c->count))
            snprintf(count, sizeof(count), "%.0f", c->count);
        printf("%-45s %5u %12.3f %12.3f %13.1f %9.1f %11.1f %9s\n", c->title, x->n, x->median_ms, x->least_ms,
               x->least_cpu_ms, x->rss_mb, x->private_mb, count);
    }
}

static void print_commands(const struct tables *t)
{
    printf("\n%-45s %5s %12s %12s %13s %9s %11s %9s\n", "all measurements", "runs", "median ms", "min ms",
           "min CPU ms", "RSS MB", "private MB", "events");
    for (uint32_t i = 0; i < t->n_command; i++)
        print_command(&t->command[i]);
    for (uint32_t i = 0; i < t->n_command; i++)
        for (uint32_t k = 0; t->command[i].n_item > 1 && k < t->command[i].n_item; k++)
            if (t->command[i].item[k].code)
                printf("FAILED: exit code %d: %s on %s\n", t->command[i].item[k].code, t->command[i].title,
                       t->command[i].item[k].name);
}

static void print_machine(FILE *out, double others)
{
    struct utsname u;
    fprintf(out, "%s, %ld processors, %.0f GB of memory", uname(&u) == 0 ? u.machine : "?",
            sysconf(_SC_NPROCESSORS_ONLN),
            (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) * 1e-9);
    fprintf(out,
            others > BUSY ? "; other processes used %.2f processors: TIMES ARE UNRELIABLE\n"
                          : "; other processes used %.2f processors\n",
            others);
}

void bench_tell(const struct tables *t, double others)
{
    print_machine(stdout, others);
    print_targets(t);
    print_sweeps(t);
    print_commands(t);
}

/* "ResNet, 2.1 ms" */
static const char *compared_text(const struct command *c, char *out, size_t n)
{
    char ms[32];
    if (!c)
        *out = 0;
    else if (c->missing || c->n_item > 1 || !c->item->n)
        snprintf(out, n, "%s", c->missing ? c->missing : c->title);
    else
        snprintf(out, n, "%s, %s", c->title, with_unit(c->item->median_ms, "ms", ms, sizeof(ms)));
    return out;
}

static void write_target(FILE *f, const struct target *t)
{
    char a[32], b[32], c[128], d[32], e[32];
    struct figure x = bench_figure(t), r = bench_ratio(t);
    const char *file = r.item ? strrchr(r.item, '/') : NULL;
    fprintf(f, "| %s | %s | %s | %s | %s |", t->title, with_unit(x.value, x.unit, a, sizeof(a)),
            limit_text(&t->figure_wanted, &x, b, sizeof(b)), bench_verdict_name(x.verdict),
            compared_text(t->against, c, sizeof(c)));
    if (strcmp(t->ratio, "-") != 0)
        fprintf(f, " %s %s%s%s", digits(r.value, d, sizeof(d)), t->ratio, r.item ? ": " : "",
                file     ? file + 1
                : r.item ? r.item
                         : "");
    fprintf(f, " | %s | %s |\n", limit_text(&t->ratio_wanted, &r, e, sizeof(e)),
            bench_verdict_name(r.verdict));
}

int bench_write_markdown(const struct tables *t, const char *path, double others, struct oc_err *err)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return oc_fail(err, OC_EOUTPUT, "cannot write '%s'", path);
    print_machine(f, others);
    fprintf(f, "\n| target | value | limit | | compared with | ratio | limit | "
               "|\n|---|---|---|---|---|---|---|---|\n");
    for (uint32_t i = 0; i < t->n_target; i++)
        write_target(f, &t->target[i]);
    return fclose(f) ? oc_fail(err, OC_EOUTPUT, "cannot write '%s'", path) : 0;
}
