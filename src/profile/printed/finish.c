/* Values of rows: totals, nesting, levels, runs. */
#include "profile/printed/finish.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/core/stated.h"

static double fact_of(const struct oc_printed_reading *r, int fact)
{
    return fact >= 0 && r->fact[fact].text ? r->fact[fact].value : (double)NAN;
}

/* The time of all calls on the lane of the row, and on the device next to it. */
static void times_of(const struct oc_printed_reading *r, const struct oc_printed_row *row,
                     struct oc_printed_value *v)
{
    double mean = oc_printed_value(r, row, OC_ROLE_MEAN);
    v->total_ns = oc_printed_value(r, row, OC_ROLE_TOTAL);
    v->device_ns = oc_printed_value(r, row, OC_ROLE_DEVICE);
    v->share = oc_printed_value(r, row, OC_ROLE_SHARE);
    if (isnan(v->total_ns))
        v->total_ns = isnan(mean) ? oc_printed_value(r, row, OC_ROLE_DURATION) : mean * v->calls;
    if (isnan(v->total_ns) && r->f->share_of >= 0)
        v->total_ns = v->share / 100 * fact_of(r, r->f->share_of);
    if (row->device && isnan(v->device_ns)) {
        v->device_ns = v->total_ns;
        v->total_ns = NAN;
    }
}

static void value_of(const struct oc_printed_values *x, const struct oc_printed_row *row,
                     struct oc_printed_value *v)
{
    double calls = oc_printed_value(x->r, row, OC_ROLE_CALLS), runs = fact_of(x->r, OC_ROLE_RUNS);
    *v = (struct oc_printed_value){.row = row, .name = oc_printed_chars(row, OC_ROLE_NAME)};
    if (!v->name[0])
        v->name = oc_printed_chars(row, oc_printed_has(row, OC_ROLE_TYPE) ? OC_ROLE_TYPE : OC_ROLE_PROVIDER);
    v->calls = !isnan(calls) ? calls : row->t->calls_runs && runs > 0 ? runs : 1;
    times_of(x->r, row, v);
}

static double time_of(const struct oc_printed_value *v)
{
    return !isnan(v->total_ns) ? v->total_ns : !isnan(v->device_ns) ? v->device_ns : 0;
}

/* A row that is indented more than one above it is a part of that: it goes, or its time is taken from it. */
static void nest(struct oc_printed_values *x)
{
    size_t stack[64], depth = 0, kept = 0;
    for (size_t i = 0; i < x->n; i++) {
        struct oc_printed_value *v = &x->v[i];
        bool inner = false;
        if (v->row->t->nest) {
            while (depth && x->v[stack[depth - 1]].row->indent >= v->row->indent)
                depth--;
            inner = depth > 0;
        } else {
            depth = 0;
        }
        if (inner && v->row->t->inner_drop)
            continue;
        if (inner && !v->row->t->inner_drop) {
            x->v[stack[depth - 1]].total_ns -= v->total_ns;
            x->v[stack[depth - 1]].device_ns -= v->device_ns;
        }
        x->v[kept] = *v;
        if (v->row->t->nest && depth < OC_COUNT(stack))
            stack[depth++] = kept;
        kept++;
    }
    x->n = kept;
}

static unsigned lowest_level(const struct oc_printed_values *x)
{
    unsigned low = UINT32_MAX;
    for (size_t i = 0; i < x->n; i++)
        if (x->v[i].row->use == OC_USE_NONE)
            low = x->v[i].row->t->level < low ? x->v[i].row->t->level : low;
    return low;
}

/* Tables of the lowest level with rows; work of the device instead of the calls that run next to it. */
static void choose_rows(struct oc_printed_values *x)
{
    unsigned low = lowest_level(x);
    bool device = false, others = false;
    size_t kept = 0;
    for (size_t i = 0; i < x->n; i++)
        others |= x->v[i].row->t->level != low;
    x->n_all = others ? x->n : 0;
    x->all = others ? memcpy(oc_xcalloc(x->n + 1, sizeof(*x->all)), x->v, x->n * sizeof(*x->v)) : NULL;
    for (size_t i = 0; i < x->n; i++)
        device |= x->v[i].row->t->level == low && x->v[i].row->device && x->v[i].device_ns > 0;
    for (size_t i = 0; i < x->n; i++)
        if (x->v[i].row->t->level == low && !(x->r->f->prefer_device && device && !x->v[i].row->device))
            x->v[kept++] = x->v[i];
    x->n = kept;
}

/* Cycles of rows are times where the file states both for all of them; else only their shares are known. */
static void scale_cycles(struct oc_printed_values *x)
{
    double from = fact_of(x->r, x->r->f->scale_from), to = fact_of(x->r, x->r->f->scale_to);
    bool known = from > 0 && to > 0;
    for (size_t i = 0; i < x->n; i++) {
        struct oc_printed_value *v = &x->v[i];
        x->cycles |= v->row->cycles && !known;
        if (!v->row->cycles || !known)
            continue;
        v->total_ns *= to / from;
        v->device_ns *= to / from;
    }
}

/* The steps that rows are in are the runs, if all rows are in one. A step lasts from its first to its last work. */
static void runs_of_steps(struct oc_printed_values *x)
{
    struct step {
        double start, end;
    } *step = NULL;
    size_t n = 0, cap = 0, in = 0;
    struct oc_map of = {.arena = x->r->arena};
    for (size_t i = 0; i < x->n; i++) {
        const struct oc_printed_value *v = &x->v[i];
        const char *id = oc_printed_chars(v->row, OC_ROLE_STEP);
        double start = oc_printed_value(x->r, v->row, OC_ROLE_START), end = start + time_of(v);
        uint32_t k = (uint32_t)n;
        if (!*id || strcmp(id, "N/A") == 0 || isnan(start))
            continue;
        if (oc_map_add(&of, id, strlen(id), &k, NULL))
            OC_PUSH(step, n, cap) = (struct step){start, end};
        step[k].start = fmin(step[k].start, start);
        step[k].end = fmax(step[k].end, end);
        in++;
    }
    if (n && in == x->n) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += step[i].end - step[i].start;
        x->runs = (double)n;
        x->run_ns = sum > 0 ? sum / (double)n : (double)NAN;
    }
    oc_map_free(&of);
    free(step);
}

/* Rows that are runs, and rows that state a fact, are not work. */
static void take_runs(struct oc_printed_values *x)
{
    double sum = 0, runs = fact_of(x->r, OC_ROLE_RUNS);
    size_t kept = 0;
    unsigned low = lowest_level(x);
    const struct oc_printed_table *of = NULL; /* several tables may have the same runs */
    for (size_t i = 0; i < x->n; i++) {
        struct oc_printed_value *v = &x->v[i];
        struct oc_printed_fact *fact = v->row->use == OC_USE_FACT ? &x->r->fact[v->row->use_fact] : NULL;
        if (v->row->use == OC_USE_TABLE_RUN && v->row->t->level != low)
            continue;
        if (v->row->use == OC_USE_RUN || v->row->use == OC_USE_TABLE_RUN) {
            of = of ? of : v->row->t;
            if (of != v->row->t)
                continue;
            double whole = oc_printed_value(x->r, v->row, OC_ROLE_DURATION); /* with what it called */
            x->runs += v->calls;
            sum += isnan(whole) ? time_of(v) : whole;
            x->run_self_ns += isnan(whole) ? 0 : time_of(v);
            x->run_self_share += isnan(whole) ? 0 : v->share;
        } else if (fact && fact->text &&
                   (v->row->use_fact == x->r->f->scale_from || v->row->use_fact == x->r->f->scale_to)) {
            fact->value += time_of(v);
        } else if (fact && !fact->text) {
            *fact = (struct oc_printed_fact){v->name, time_of(v), v->row->line};
        } else if (!fact) {
            x->v[kept++] = *v;
        }
    }
    x->n = kept;
    if (x->runs > 0)
        x->run_ns = sum / x->runs;
    else
        x->runs = runs > 0 ? runs : (double)x->r->marks;
    double stated = fact_of(x->r, OC_ROLE_RUN_TIME);
    x->run_ns = stated > 0 ? stated : x->run_ns;
}

/* The mean of a row with 0 calls, which ran in a part of the runs; NAN: another row. */
static double rare_mean(const struct oc_printed_values *x, const struct oc_printed_value *v)
{
    return v->row->t->means && v->calls == 0 ? oc_printed_value(x->r, v->row, OC_ROLE_MEAN) : (double)NAN;
}

/* The part of a rare row in the mean run, and at least one call in all of them. all: every row is rare, so the operators were
 * recorded in a part of the runs, and the means are of these. False: the file does not show in how many it ran. */
static bool spread_rare(const struct oc_printed_values *x, struct oc_printed_value *v, bool all)
{
    double mean = rare_mean(x, v), ns = all ? mean : fmax(mean / x->runs, v->share / 100 * x->run_ns);
    if (isnan(mean))
        return true;
    if (!(x->runs > 0) || isnan(v->share) || isnan(x->run_ns))
        return false;
    *(v->row->device ? &v->device_ns : &v->total_ns) = ns;
    return true;
}

static void take_rare(struct oc_printed_values *x)
{
    size_t kept = 0;
    bool all = true;
    for (size_t i = 0; i < x->n; i++)
        all &= !isnan(rare_mean(x, &x->v[i]));
    for (size_t i = 0; i < x->n; i++) {
        if (spread_rare(x, &x->v[i], all))
            x->v[kept++] = x->v[i];
    }
    if (kept < x->n)
        oc_diag_add(&x->p->diags, OC_WARNING, "W-row", "",
                    "%zu rows ran in a part of the runs, and the file does not show in how many: their time "
                    "is missing",
                    x->n - kept);
    x->n = kept;
}

/* The latency of the runs after a warm-up that the rows include. */
static void take_latency(struct oc_printed_values *x)
{
    double latency = fact_of(x->r, OC_ROLE_LATENCY), runs = fact_of(x->r, OC_ROLE_LATENCY_RUNS);
    if (!(latency > 0) || !(x->runs > 0))
        return;
    x->run_ns = latency;
    if (!(runs > 0) || runs >= x->runs)
        return;
    oc_diag_add(&x->p->diags, OC_INFO, "I-warm-up", "",
                "the rows are means of %.0f runs, with those of the warm-up; the latency is the mean of %.0f "
                "runs after it",
                x->runs, runs);
    x->runs = runs;
}

void oc_printed_evaluate(struct oc_printed_values *x)
{
    struct oc_printed_reading *r = x->r;
    x->v = oc_xcalloc(r->n + 1, sizeof(*x->v));
    x->run_ns = NAN;
    for (size_t i = 0; i < r->n; i++) {
        value_of(x, &r->row[i], &x->v[x->n]);
        x->n += !isnan(x->v[x->n].total_ns) || !isnan(x->v[x->n].device_ns);
    }
    take_runs(x);
    nest(x);
    scale_cycles(x);
    choose_rows(x);
    take_rare(x);
    take_latency(x);
    for (size_t i = 0; i < x->n; i++)
        x->means |= x->v[i].row->t->means;
    if (!(x->runs > 0))
        runs_of_steps(x);
}

void oc_printed_values_free(struct oc_printed_values *x)
{
    free(x->v);
    free(x->all);
}

size_t oc_printed_damaged(const struct oc_printed_values *x)
{
    return x->r->bad[x->n ? x->v[0].row->t->level : 1];
}

/* ---- checks ----------------------------------------------------------------------------------------- */

static bool is_main(const struct oc_printed_value *v)
{
    return v->row->kind == OC_ROW_OPERATOR || v->row->kind == OC_ROW_FUNCTION;
}

/* The rows of one side that a check compares: operators, or all if there are none; what runs take in addition. */
static struct oc_stated_row *stated_rows(const struct oc_printed_values *x, const struct oc_printed_check *c,
                                         size_t *n)
{
    struct oc_stated_row *row = OC_NEW_ARRAY(&x->p->arena, x->n + 2, struct oc_stated_row);
    bool any = false;
    *n = 0;
    for (size_t i = 0; i < x->n; i++)
        any |= is_main(&x->v[i]);
    for (size_t i = 0; i < x->n; i++) {
        const struct oc_printed_value *v = &x->v[i];
        double of_device = oc_printed_value(x->r, v->row, OC_ROLE_DEVICE_SHARE);
        bool device = c->device || (c->both && isnan(v->total_ns));
        if ((!any || is_main(v)) && !(c->device && isnan(v->device_ns)))
            row[(*n)++] = (struct oc_stated_row){.name = v->name,
                                                 .line = v->row->line,
                                                 .ns = device ? v->device_ns : fmax(v->total_ns, 0),
                                                 .share = device && !isnan(of_device) ? of_device : v->share};
    }
    if (!c->device && x->run_self_ns > 0)
        row[(*n)++] = (struct oc_stated_row){.name = "", .ns = x->run_self_ns, .share = x->run_self_share};
    return row;
}

/* A warning where the tool is known to differ with itself, or where rows are missing; else an error. */
static int differ(struct oc_printed_values *x, const struct oc_printed_check *c, bool less, uint32_t line,
                  const char *text, struct oc_err *err)
{
    if (less && x->r->gap) /* rows that are left out are reported */
        return 0;
    if (!c->known && !less)
        return oc_fail(err, OC_EFORMAT, line ? "line %u: %s" : "%.0u%s", line, text);
    oc_stated_warn(x->p, text, less, c->known);
    return 0;
}

static int check_sum(struct oc_printed_values *x, const struct oc_printed_check *c, struct oc_err *err)
{
    const struct oc_printed_fact *fact = &x->r->fact[c->is];
    size_t n;
    const struct oc_stated_row *row = stated_rows(x, c, &n);
    double have = oc_stated_sum(row, n), want = fact->text ? fact->value : (double)NAN,
           plus = fact_of(x->r, c->plus);
    have += isnan(plus) ? 0 : plus;
    have /= c->per_run && x->runs > 0 && !x->means ? x->runs : 1;
    const char *text = oc_stated_total(&x->p->arena, have, want, c->within);
    return text ? differ(x, c, have < want, fact->line, text, err) : 0;
}

static int check_hundred(struct oc_printed_values *x, const struct oc_printed_check *c, struct oc_err *err)
{
    bool less;
    size_t n;
    const struct oc_stated_row *row = stated_rows(x, c, &n);
    const char *text = oc_stated_hundred(&x->p->arena, row, n, c->hundred, c->within, &less);
    return text ? differ(x, c, less, 0, text, err) : 0;
}

static int check_agree(struct oc_printed_values *x, const struct oc_printed_check *c, struct oc_err *err)
{
    uint32_t line;
    size_t n;
    const struct oc_stated_row *row = stated_rows(x, c, &n);
    const char *text = oc_stated_agree(&x->p->arena, row, n, c->within, &line);
    return text ? differ(x, c, false, line, text, err) : 0;
}

/* The number of rows that the file states. */
static int check_rows(struct oc_printed_values *x, const struct oc_printed_check *c, struct oc_err *err)
{
    const struct oc_printed_fact *fact = &x->r->fact[c->is];
    if (!fact->text || !(fact->value > 0) || (double)x->n == fact->value)
        return 0;
    return differ(
        x, c, (double)x->n < fact->value, fact->line,
        oc_printf(&x->p->arena, "the table has %zu rows, and the file says %.0f", x->n, fact->value), err);
}

/* Rows by type against the table of types, which has the next level. */
static int check_by(struct oc_printed_values *x, const struct oc_printed_check *c, struct oc_err *err)
{
    unsigned low = x->n ? x->v[0].row->t->level : 0;
    for (size_t i = 0; i < x->n_all && low == 1; i++) {
        const struct oc_printed_value *sum = &x->all[i];
        double have = 0, want = time_of(sum);
        if (sum->row->t->level != 2)
            continue;
        for (size_t k = 0; k < x->n; k++)
            have += strcmp(oc_printed_chars(x->v[k].row, OC_ROLE_TYPE),
                           oc_printed_chars(sum->row, OC_ROLE_TYPE)) == 0
                        ? time_of(&x->v[k])
                        : 0;
        if (fabs(have - want) > c->within / 100 * fmax(have, want))
            return differ(
                x, c, have < want, sum->row->line,
                oc_printf(&x->p->arena,
                          "the rows of type '%.40s' add up to %.7g ms, and the table of types says %.7g ms",
                          oc_printed_chars(sum->row, OC_ROLE_TYPE), have / 1e6, want / 1e6),
                err);
    }
    return 0;
}

int oc_printed_check(struct oc_printed_values *x, struct oc_err *err)
{
    static int (*const check[])(struct oc_printed_values *, const struct oc_printed_check *,
                                struct oc_err *) = {[OC_CHECK_SUM] = check_sum,
                                                    [OC_CHECK_HUNDRED] = check_hundred,
                                                    [OC_CHECK_AGREE] = check_agree,
                                                    [OC_CHECK_BY] = check_by,
                                                    [OC_CHECK_ROWS] = check_rows};
    int rc = 0;
    bool whole = !x->r->cut && !oc_printed_damaged(x); /* what is missing then is reported already */
    bool said[2] = {false};                            /* of host and device one difference is enough */
    for (const struct oc_printed_check *c = x->r->f->check; c && rc == 0 && whole; c = c->next) {
        size_t had = x->p->diags.n;
        if (!said[c->device])
            rc = check[c->what](x, c, err);
        said[c->device] |= x->p->diags.n > had;
    }
    return rc;
}
