/* What `record` prints of a recording: the runtime, the inputs, the times with their spread, the session, and what else
 * the machine did meanwhile. */
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/str.h"
#include "base/unicode.h"
#include "base/units.h"
#include "onnxcost/record.h"
#include "profile/core/run_spread.h"
#include "profile/profile.h"
#include "run/record_files.h"

static void write_input(const struct oc_record_input *in, FILE *f)
{
    struct oc_buf b = {0};
    oc_buf_printf(&b, "input       %s  %s[", in->name, in->dtype);
    for (uint32_t i = 0; i < in->rank; i++)
        oc_buf_printf(&b, "%s%lld", i ? "," : "", (long long)in->dim[i]);
    oc_print_line(f, "%s]  %s", b.data, in->content);
    oc_buf_free(&b);
    if (in->assumed)
        oc_print_line(f, "assumed     %s: %s", in->name, in->assumed);
}

static void record_say(const char *label, const char *text, FILE *f)
{
    oc_plain_say(label, 12, 80, text, f);
}

/* "22.1 ms  (trimmed mean of 66 of 132 runs, +-0.3 % within this process; 22.1 ms to 25.0 ms, spread 1.2 %,
 * outliers 3)" */
static void record_write_time(const char *label, const struct oc_record_time *t, const char *more, FILE *f)
{
    struct oc_buf b = {0};
    char typical[32], min[32], max[32];
    oc_format_time_ns(t->typical_ns, typical, sizeof(typical));
    oc_format_time_ns(t->min_ns, min, sizeof(min));
    oc_format_time_ns(t->max_ns, max, sizeof(max));
    oc_buf_printf(&b, "%s  (%s", typical, more);
    if (t->runs < 2)
        oc_buf_str(&b, "1 run");
    else
        oc_buf_printf(
            &b, "trimmed mean of %u of %u runs, +-%.1f %% within this process; %s%s to %s, spread %.1f %%%s",
            t->runs - 2 * (t->runs / 4), t->runs, 100 * t->error, t->noisy ? "NOISY: " : "", min, max,
            100 * t->spread, t->runs < OC_LEAST_FOR_SPREAD ? " assumed" : "");
    oc_buf_printf(&b, t->outliers ? ", outliers %u)" : ")", t->outliers);
    record_say(label, b.data, f);
    oc_buf_free(&b);
}

static void write_warnings(const struct oc_record_info *i, FILE *f)
{
    char text[160];
    snprintf(text, sizeof(text),
             "the time budget ended the measurement after %u and %u runs; --time-budget TIME allows more",
             i->plain.runs, i->profiled.runs);
    if (i->plain.over_budget || i->profiled.over_budget)
        record_say("warning", text, f);
    if (i->plain.noisy || i->profiled.noisy)
        record_say(
            "warning",
            "noisy measurement: the central half of the runs spreads over more than 8 % of the median; "
            "measure again on an idle machine",
            f);
}

/* The overhead of profiling is known if both times are. */
static void record_write_times(const struct oc_record_info *i, FILE *f)
{
    char overhead[64] = "";
    if (!i->plain.noisy && !i->profiled.noisy && i->plain.typical_ns > 0)
        snprintf(overhead, sizeof(overhead), "profiling overhead %.2fx; ",
                 i->profiled.typical_ns / i->plain.typical_ns);
    record_write_time("time", &i->plain, "", f);
    record_write_time("profiled", &i->profiled, overhead, f);
    write_warnings(i, f);
}

/* "20.1 ms to create, first run 24.3 ms, at most 120 MiB resident" of the session without profiling. */
static void write_session(const struct oc_record_time *t, FILE *f)
{
    char create[32], first[32], peak[32];
    fprintf(f, "session     %s to create, first run %s",
            oc_format_time_ns(t->session_ns, create, sizeof(create)),
            oc_format_time_ns(t->first_run_ns, first, sizeof(first)));
    if (t->peak_bytes)
        fprintf(f, ", at most %s resident", oc_format_bytes((double)t->peak_bytes, peak, sizeof(peak)));
    fputc('\n', f);
}

enum { SHOWN_PER_MILLE = 5 }; /* processors: less is printed as 0.00 */

/* ", 0.10 of them other machines of this host (steal time); throttled 3 times because of heat; governor powersave": what is
 * known and not nothing. */
static void put_limits(const struct oc_prof_machine *m, struct oc_buf *b)
{
    if (m->stolen * 1000 >= SHOWN_PER_MILLE)
        oc_buf_printf(b, ", %.2f of them other machines of this host (steal time)", m->stolen);
    if (oc_is_slowed(m->probe_ns, m->probe_fastest_ns))
        oc_buf_printf(b, "; vector units at %.0f %% of their fastest rate",
                      100 * m->probe_fastest_ns / m->probe_ns);
    if (m->throttled > 0)
        oc_buf_printf(b, "; throttled %.0f times because of heat", m->throttled);
    if (*m->limits)
        oc_buf_printf(b, "; %s", m->limits);
}

/* What the machine did meanwhile apart from the recording; nothing where it was idle and not limited. */
static void write_machine(const struct oc_prof_machine *m, FILE *f)
{
    struct oc_buf b = {0};
    oc_buf_printf(&b, "other processes used %.2f of %.0f processors", m->others, m->processors);
    put_limits(m, &b);
    if (m->others * 1000 >= SHOWN_PER_MILLE || m->throttled > 0 || *m->limits ||
        oc_is_slowed(m->probe_ns, m->probe_fastest_ns))
        record_say("machine", b.data, f);
    oc_buf_free(&b);
}

void oc_recording_write(const struct oc_recording *r, FILE *f)
{
    const struct oc_record_info *i = &r->info;
    oc_print_line(f, "runtime     ONNX Runtime %s  (%s)", i->version, i->library);
    fprintf(f, "settings    optimization %s; threads %s%.0u; warm-up runs %u\n", r->level,
            r->threads ? "" : "by the runtime", r->threads, r->warmup);
    oc_recording_write_providers(r, "providers", f);
    for (size_t k = 0; k < i->n_input; k++)
        write_input(&i->input[k], f);
    record_write_times(i, f);
    write_session(&i->plain, f);
    write_machine(&r->machine, f);
    oc_print_line(f, "profile     %s", i->profile);
    if (i->optimized)
        oc_print_line(f, "optimized   %s", i->optimized);
}

void oc_recording_write_providers(const struct oc_recording *r, const char *label, FILE *f)
{
    const struct oc_record_info *i = &r->info;
    struct oc_buf b = {0};
    if (!i->provider)
        return;
    oc_buf_printf(&b, "%s: %s", i->provider, i->placement ? i->placement : "the profile names no provider");
    record_say(label, b.data, f);
    oc_buf_free(&b);
}

void oc_recording_write_line(const struct oc_recording *r, const char *label, FILE *f)
{
    const struct oc_record_info *i = &r->info;
    struct oc_buf limits = {0};
    char time[32];
    oc_format_time_ns(i->profiled.typical_ns, time, sizeof(time));
    put_limits(&r->machine, &limits);
    fprintf(f,
            "%-12s%s  (trimmed mean of %u of %u runs, spread %.1f %%; other processes: %.2f of %.0f "
            "processors%s%s)\n",
            label, time, i->profiled.runs - 2 * (i->profiled.runs / 4), i->profiled.runs,
            100 * i->profiled.spread, r->machine.others, r->machine.processors, limits.n ? limits.data : "",
            i->loaded && i->turns_id <= 0 ? ", disturbed" : "");
    oc_buf_free(&limits);
}
