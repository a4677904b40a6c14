/* Tables that programs print of CPU functions. The description profile/printed/functions.xml finds their rows; here they
 * become functions, with what the file says of all of them. Shares of perf are times only if perf counted a clock. */
#include "profile/formats/function_tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "profile/printed/finish.h"

#define PERF_SHARE 1e-4 /* perf prints percent with two decimals */

static const struct oc_printed_format *description(void)
{
    return oc_printed_named("functions");
}

bool oc_function_table_found(const char *data, size_t n)
{
    const char *report;
    return oc_printed_find(description(), data, n, &report);
}

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
static int take_event(const struct oc_printed_reading *r, struct oc_function_facts *facts, struct oc_err *err)
{
    const char *event = fact_named(r, "event")->text;
    double count = fact_value(r, "event-count");
    bool clock = event && (strncmp(event, "cpu-clock", 9) == 0 || strncmp(event, "task-clock", 10) == 0);
    if (!event || (clock && isnan(count)))
        return oc_fail(
            err, OC_EFORMAT,
            "the line '# %s' before the table is missing; write the table with perf report --stdio",
            event ? "Event count (approx.):" : "Samples: ... of event");
    facts->listed = 0;
    facts->all = 1;
    if (clock) {
        facts->all_ns = count;
        facts->resolution_ns = count * PERF_SHARE;
    } else {
        snprintf(facts->event, sizeof(facts->event), "%.60s", event);
    }
    return 0;
}

static int take_facts(const struct oc_printed_reading *r, struct oc_function_facts *facts, struct oc_err *err)
{
    *facts = (struct oc_function_facts){.tool = oc_printed_report(r),
                                        .listed = NAN,
                                        .all = NAN,
                                        .all_ns = NAN,
                                        .tables = r->recordings,
                                        .resolution_ns = 1e6};
    if (strcmp(facts->tool, "perf") == 0) {
        facts->resolution_ns = NAN;
        return take_event(r, facts, err);
    }
    if (strcmp(facts->tool, "gprof") == 0)
        facts->resolution_ns = fact_value(r, "resolution") * 1e9;
    if (r->n && r->row[0].t->cells == OC_CELLS_CSV)
        facts->resolution_ns = NAN;
    facts->all_ns = fact_value(r, "all-time");
    if (fact_named(r, "reduced")->text && facts->all_ns > 0) {
        facts->all = 1;
        facts->listed = 0;
    }
    return 0;
}

static int take_row(const struct oc_printed_reading *r, const struct oc_printed_row *row,
                    struct oc_function_facts *facts, oc_function_sink *sink, void *ctx, struct oc_err *err)
{
    const char *name = oc_printed_chars(row, OC_ROLE_NAME),
               *library = oc_printed_chars(row, OC_ROLE_PROVIDER);
    double share = oc_printed_value(r, row, OC_ROLE_SHARE) / 100,
           calls = oc_printed_value(r, row, OC_ROLE_CALLS),
           ns = isnan(share) ? oc_printed_value(r, row, OC_ROLE_TOTAL) : share * facts->all_ns;
    if (!*name || ns < 0 || share < 0 || share > 1)
        return 0;
    facts->listed += isnan(share) ? ns / facts->all_ns : share;
    return sink(ctx,
                &(struct oc_function_row){.name = oc_str(name, strlen(name)),
                                          .library = oc_str(library, strlen(library)),
                                          .self_ns = ns,
                                          .share = share,
                                          .calls = calls > 0 ? (uint64_t)calls : 0,
                                          .where = row->where},
                err);
}

int oc_function_table_read(struct oc_csv *c, oc_function_sink *sink, void *ctx,
                           struct oc_function_facts *facts, struct oc_err *err)
{
    struct oc_arena a = {0};
    struct oc_printed_reading *r = oc_xcalloc(1, sizeof(*r));
    int rc = oc_printed_read(r, description(), c, &a, oc_csv_max_rows(c), err);
    if (rc == 0)
        rc = r->begun ? take_facts(r, facts, err)
                      : oc_fail(err, OC_EFORMAT, "no table of functions: name the columns with --map");
    for (size_t i = 0; i < r->n && rc == 0; i++)
        rc = take_row(r, &r->row[i], facts, sink, ctx, err);
    if (rc == 0)
        facts->cut = r->cut;
    oc_printed_read_free(r);
    free(r);
    oc_arena_free(&a);
    return rc;
}
