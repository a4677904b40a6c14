/* Tables that programs print of CPU functions. The description profile/printed/functions.xml finds their rows; here they
 * become functions, with what the file says of all of them. Shares of perf are times only if perf counted a clock. */
#include "profile/formats/function_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "onnxcost/profile.h"
#include "profile/core/kernel_names.h"
#include "profile/printed/read.h"

#define PERF_SHARE 1e-4 /* perf prints percent with two decimals */

struct functions {
    const struct oc_printed_reading *r;
    const struct oc_profile_opts *opts;
    struct oc_profile *p;
    struct oc_rec_list *list;
    double all_ns; /* of all functions; NAN: unknown, or not time */
    double listed; /* the part of the rows; NAN: every function is listed */
};

void oc_function_classify(struct oc_profile *p, const struct oc_profile_opts *opts, struct oc_str library,
                          struct oc_prof_rec *rec)
{
    struct oc_kernel_facts facts;
    oc_kernel_facts(opts->kernel_names, rec->name, &facts);
    rec->op_type = facts.op_class;
    rec->precision = facts.precision;
    rec->unit = facts.unit;
    rec->provider = library.n ? oc_prof_text(p, library) : facts.library;
}

/* ---- what the file says ----------------------------------------------------------------------------- */

static const struct oc_printed_fact *fact_named(const struct oc_printed_reading *r, const char *name)
{
    unsigned i = 0;
    while (!oc_str_eq(r->f->field[i], name))
        i++;
    return &r->fact[i];
}

static double fact_value(const struct oc_printed_reading *r, const char *name)
{
    const struct oc_printed_fact *f = fact_named(r, name);
    return f->text ? f->value : (double)NAN;
}

/* cpu-clock and task-clock count nanoseconds; shares of any other event are not shares of time. */
static int take_event(struct functions *x, struct oc_err *err)
{
    const char *event = fact_named(x->r, "event")->text;
    double count = fact_value(x->r, "event-count");
    bool clock = event && (strncmp(event, "cpu-clock", 9) == 0 || strncmp(event, "task-clock", 10) == 0);
    if (!event || (clock && isnan(count)))
        return oc_fail(
            err, OC_EFORMAT,
            "the line '# %s' before the table is missing; write the table with perf report --stdio",
            event ? "Event count (approx.):" : "Samples: ... of event");
    x->listed = 0;
    x->all_ns = clock ? count : (double)NAN;
    if (!clock)
        x->p->event = oc_printf(&x->p->arena, "%.60s", event);
    return 0;
}

static int take_facts(struct functions *x, struct oc_err *err)
{
    x->p->producer = oc_strdup(&x->p->arena, oc_printed_report(x->r));
    if (strcmp(x->p->producer, "perf") == 0)
        return take_event(x, err);
    x->all_ns = fact_value(x->r, "all-time");
    x->listed = fact_named(x->r, "reduced")->text && x->all_ns > 0 ? 0 : NAN;
    return 0;
}

/* One sample, or one unit in the last printed digit; NAN: unknown. */
static double resolution_ns(const struct functions *x)
{
    return strcmp(x->p->producer, "perf") == 0                ? x->all_ns * PERF_SHARE
           : strcmp(x->p->producer, "gprof") == 0             ? fact_value(x->r, "resolution") * 1e9
           : x->r->n && x->r->row[0].t->cells == OC_CELLS_CSV ? NAN
                                                              : 1e6;
}

static void report_facts(const struct functions *x)
{
    struct oc_profile *p = x->p;
    double ns = resolution_ns(x);
    oc_recordings_warn(&x->r->recordings, "tables", p);
    if (x->r->cut)
        oc_prof_cut(p, x->r->c);
    if (p->event)
        oc_diag_add(&p->diags, OC_INFO, "I-event", "",
                    "perf counted '%s': shares are not shares of time (perf record -e cpu-clock counts time)",
                    p->event);
    if (!isnan(ns))
        oc_diag_add(&p->diags, OC_INFO, "I-resolution", "", "times have a resolution of %g ms", ns / 1e6);
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static void take_row(struct functions *x, const struct oc_printed_row *row)
{
    double share = oc_printed_value(x->r, row, OC_ROLE_SHARE) / 100,
           calls = oc_printed_value(x->r, row, OC_ROLE_CALLS),
           ns = isnan(share) ? oc_printed_value(x->r, row, OC_ROLE_TOTAL) : share * x->all_ns;
    if (!oc_printed_has(row, OC_ROLE_NAME) || ns < 0 || share < 0 || share > 1)
        return;
    struct oc_prof_rec *rec = oc_rec_add(x->list);
    rec->name = oc_prof_text(x->p, oc_printed_text(row, OC_ROLE_NAME));
    oc_function_classify(x->p, x->opts, oc_printed_text(row, OC_ROLE_PROVIDER), rec);
    oc_rec_time(rec, ns);
    rec->host_ns = rec->total_ns = ns;
    rec->share = share;
    rec->calls = calls > 0 ? (uint64_t)calls : 0;
    rec->calls_per_run = calls > 0 ? calls : (double)NAN;
    rec->runs = 1;
    rec->where = row->where;
    x->p->imported_ns += ns;
    x->listed += isnan(share) ? ns / x->all_ns : share;
}

/* Time that is not listed: rows below the limit of perf or pstats, or a truncated file. Shares are rounded to
 * 0.01 %. */
static void add_rest(struct functions *x)
{
    double rest = 1 - x->listed;
    if (!(rest > PERF_SHARE / 2 * (double)(x->list->n + 1)))
        return;
    struct oc_prof_rec *rec = oc_rec_add(x->list);
    rec->name = "(functions not listed)";
    rec->bucket = "functions not listed";
    oc_rec_time(rec, rest * x->all_ns);
    rec->total_ns = rec->time_ns;
    rec->share = rest;
    rec->runs = 1;
    x->p->imported_ns += rec->total_ns;
}

int oc_functions_read(struct oc_csv *c, const struct oc_profile_opts *opts, struct oc_profile *p,
                      struct oc_rec_list *list, struct oc_err *err)
{
    struct oc_arena a = {0};
    struct oc_printed_reading *r = oc_xcalloc(1, sizeof(*r));
    struct functions x = {.r = r, .opts = opts, .p = p, .list = list};
    int rc = oc_printed_read(r, oc_printed_named("functions"), c, &a, oc_csv_max_rows(c), err);
    if (rc == 0)
        rc = r->begun ? take_facts(&x, err)
                      : oc_fail(err, OC_EFORMAT, "no table of functions: name the columns with --map");
    for (size_t i = 0; i < r->n && rc == 0; i++)
        take_row(&x, &r->row[i]);
    if (rc == 0) {
        add_rest(&x);
        report_facts(&x);
    }
    if (p->event)
        p->imported_ns = NAN;
    p->functions = true;
    oc_printed_read_free(r);
    free(r);
    oc_arena_free(&a);
    return rc;
}
