/* Nsight Compute: `ncu --csv` with the details page or --metrics (one metric per row), with the raw page
 * (one launch per row, a row of units under the header), and the details page as printed. Program output
 * and lines of ncu ("==PROF== ..") may precede and interleave the tables.
 *
 *   "ID","Process ID",..,"Kernel Name",..,"CC","Section Name","Metric Name","Metric Unit","Metric Value"
 *   "0","4711",..,"f",..,"8.0","GPU Speed Of Light Throughput","Duration","us","111.62"
 *
 *     void f<1, 2>(int) (784, 1, 1)x(128, 1, 1), Context 1, Stream 7, Device 0, CC 8.0
 *       NVTX Push/Pop Stack for Thread 1:
 *         <default domain>
 *           <0,layer1>
 *       Section: GPU Speed Of Light Throughput
 *       ----------------- ----------- ------------
 *       Duration              usecond       111.62
 *
 * With --nvtx two columns hold the ranges: "0:<default domain>:layer1:none:none". ncu serialises kernels,
 * replays them and locks the clocks: its times are longer than in the application. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "profile/core/nvtx.h"
#include "profile/core/records.h"
#include "profile/core/timeline.h"
#include "profile/csv_rows.h"
#include "profile/formats/nsight_tables.h"

#define MAX_RAW_COLUMNS 4096
#define MAX_INVOCATIONS 1000000
#define MAX_NS          4503599627370496.0 /* 2^52 */

struct columns {
    size_t id, process, kernel, stream, device, cc, section, metric, unit, value, push_pop, start_stop;
    unsigned push_pop_tail, start_stop_tail; /* number of fields after the name of a range */
};

struct reading {
    struct oc_csv *csv;
    struct oc_profile *out;
    struct oc_timeline *launches;
    struct columns at;
    struct oc_ncu_metrics metrics; /* state of the launch being read */
    struct oc_launch launch;
    struct oc_buf id; /* "": no launch is being read */
    double now_ns;    /* launches are sequential on this clock */
    size_t n, untimed, rated, tensor_only;
    bool labels;
    uint64_t invocations; /* --print-summary: launches that the metrics are means of; 0: one launch */
    size_t summaries;
    /* text form */
    struct oc_buf section, domain, above; /* above: the line before */
    size_t apart;                         /* durations outside of sections */
    bool in_nvtx;
    struct oc_recording_count recordings;
    bool next; /* the next launch is of another recording */
};

/* ---- launches --------------------------------------------------------------------------------------- */

static void end_launch(struct reading *r)
{
    struct oc_prof_counters counters;
    bool rate;
    if (!r->launch.name)
        return;
    struct oc_launch *x = &r->launch;
    if (r->recordings.n > 1) {
        x->name = NULL;
        return;
    }
    oc_ncu_sum(&r->metrics, &x->flop, &x->bytes, &rate, &counters);
    x->dur_ns = r->metrics.v[NCU_TIME_NS];
    x->counters = &counters;
    r->n++;
    if (!(x->dur_ns <= MAX_NS)) {
        r->untimed++;
    } else {
        x->start_ns = r->now_ns;
        r->now_ns += x->dur_ns;
        r->rated += rate;
        r->tensor_only += isnan(counters.v[OC_CTR_FLOP_TENSOR]) && !isnan(counters.v[OC_CTR_FLOP_F32]);
        if (r->invocations > oc_csv_max_rows(r->csv) - r->launches->n_event)
            oc_prof_over(r->out, OC_LIMIT_TABLE_ROWS);
        for (uint64_t i = 0; i < (r->invocations ? r->invocations : 1) && !r->out->over; i++)
            oc_timeline_launch(r->launches, x);
        r->summaries += r->invocations > 0;
    }
    x->name = NULL;
    r->invocations = 0;
    x->counters = NULL;
}

static void begin_launch(struct reading *r, struct oc_str name)
{
    end_launch(r);
    if (!r->recordings.n || r->next)
        oc_recording_begins(&r->recordings, r->csv);
    r->next = false;
    oc_ncu_clear(&r->metrics);
    r->launch = (struct oc_launch){.name = oc_prof_text(r->out, name),
                                   .label = OC_NONE,
                                   .kind = OC_EV_KERNEL,
                                   .where = oc_csv_offset(r->csv)};
}

/* Label of an operator, from the innermost range. */
static void set_label(struct reading *r, struct oc_str domain, struct oc_str text)
{
    struct oc_label label;
    char name[64] = "";
    if (domain.n < sizeof(name) && !oc_csv_same(domain, "<default domain>"))
        memcpy(name, domain.s, domain.n);
    const char *kept = oc_prof_text(r->out, text);
    if (!text.n || oc_nvtx_kind(name, kept) == OC_NVTX_RUN)
        return;
    const char *variant = oc_nvtx_label(r->out, name, kept, &label);
    r->launch.label = oc_timeline_label(r->launches, &label, variant);
    r->labels = true;
}

/* ---- csv -------------------------------------------------------------------------------------------- */

static bool ncu_is_header(void *ctx, const struct oc_str *field, size_t n)
{
    (void)ctx;
    return n > 4 && oc_csv_same(field[0], "ID") && oc_csv_column(field, n, "Process ID") != OC_CSV_NONE &&
           oc_csv_column(field, n, "Kernel Name") != OC_CSV_NONE;
}

static size_t find_range_column(const struct oc_str *field, size_t n, const char *what, unsigned *tail)
{
    for (size_t i = 0; i < n; i++) {
        const char *found = oc_find(field[i].s, field[i].n, what, strlen(what));
        if (!found)
            continue;
        *tail = 0;
        for (const char *s = found; s < field[i].s + field[i].n; s++)
            *tail += *s == ':';
        return i;
    }
    return OC_CSV_NONE;
}

static void ncu_find_columns(struct reading *r, const struct oc_str *field, size_t n)
{
    struct columns *c = &r->at;
    const struct {
        size_t *at;
        const char *title;
    } named[] = {{&c->id, "ID"},
                 {&c->process, "Process ID"},
                 {&c->kernel, "Kernel Name"},
                 {&c->stream, "Stream"},
                 {&c->device, "Device"},
                 {&c->cc, "CC"},
                 {&c->section, "Section Name"},
                 {&c->metric, "Metric Name"},
                 {&c->unit, "Metric Unit"},
                 {&c->value, "Metric Value"}};
    for (size_t i = 0; i < OC_COUNT(named); i++)
        *named[i].at = oc_csv_column(field, n, named[i].title);
    c->push_pop = find_range_column(field, n, "Push/Pop_Range", &c->push_pop_tail);
    c->start_stop = find_range_column(field, n, "Start/Stop_Range", &c->start_stop_tail);
}

/* Parses ' "0:<default domain>:linear:none:none" ': id or thread, domain, name, and `tail` more fields;
 * the last range is the innermost. */
static bool ncu_take_range(struct reading *r, struct oc_str cell, unsigned tail)
{
    const char *end = cell.s + cell.n, *from = cell.s;
    while (end > from && (end[-1] == '"' || end[-1] == ' '))
        end--;
    for (const char *s = end; s > cell.s; s--)
        if (s[-1] == '"') {
            from = s;
            break;
        }
    while (from < end && *from == ' ')
        from++;
    const char *domain = memchr(from, ':', (size_t)(end - from));
    bool id = domain && strspn(from, "0123456789") == (size_t)(domain - from);
    domain = id ? domain + 1 : from;
    const char *name = memchr(domain, ':', (size_t)(end - domain)), *stop = end;
    if (!name)
        return false;
    for (; tail && stop > name; stop--)
        tail -= stop[-1] == ':';
    if (stop <= name + 1)
        return false;
    set_label(r, (struct oc_str){domain, (size_t)(name - domain)},
              (struct oc_str){name + 1, (size_t)(stop - name - 1)});
    return true;
}

static int64_t number_or_none(struct oc_str s)
{
    uint64_t v;
    return oc_csv_u64(s, &v) && v <= INT64_MAX ? (int64_t)v : OC_NO_ID;
}

static void describe_launch(struct reading *r, const struct oc_str *field, size_t n)
{
    struct oc_str cc = oc_csv_at(field, n, r->at.cc);
    double capability;
    begin_launch(r, oc_csv_at(field, n, r->at.kernel));
    r->launch.lane = oc_timeline_stream(r->launches, number_or_none(oc_csv_at(field, n, r->at.process)),
                                        number_or_none(oc_csv_at(field, n, r->at.device)),
                                        number_or_none(oc_csv_at(field, n, r->at.stream)));
    if (oc_csv_number(cc, &capability, NULL))
        r->metrics.capability = capability;
    if (!ncu_take_range(r, oc_csv_at(field, n, r->at.push_pop), r->at.push_pop_tail))
        ncu_take_range(r, oc_csv_at(field, n, r->at.start_stop), r->at.start_stop_tail);
}

static bool is_id(struct oc_str s)
{
    uint64_t v;
    return oc_csv_u64(s, &v);
}

/* The header of another recording ends the table. */
static bool next_row(struct reading *r, const struct oc_str **field, size_t *n)
{
    if (!oc_csv_row(r->csv, field, n))
        return false;
    if (!ncu_is_header(NULL, *field, *n))
        return true;
    oc_csv_unread(r->csv);
    return false;
}

/* Rows without an id are not launches, for example messages of ncu. */
static void read_details(struct reading *r)
{
    const struct oc_str *field;
    size_t n;
    while (next_row(r, &field, &n)) {
        struct oc_str id = oc_csv_at(field, n, r->at.id);
        if (!is_id(id) || n <= r->at.value)
            continue;
        if (!r->launch.name || r->id.n != id.n || memcmp(r->id.data, id.s, id.n) != 0) {
            describe_launch(r, field, n);
            oc_buf_clear(&r->id);
            oc_buf_add(&r->id, id.s, id.n);
        }
        oc_ncu_take(&r->metrics, oc_csv_at(field, n, r->at.section), field[r->at.metric],
                    oc_csv_at(field, n, r->at.unit), field[r->at.value]);
    }
}

static void read_raw(struct reading *r, const struct oc_str *header, size_t n_header)
{
    struct oc_arena a = {0};
    size_t first = r->at.kernel + 1, n;
    const struct oc_str *field;
    if (n_header > MAX_RAW_COLUMNS)
        n_header = MAX_RAW_COLUMNS;
    struct oc_str *name = OC_NEW_ARRAY(&a, n_header + 1, struct oc_str),
                  *unit = OC_NEW_ARRAY(&a, n_header + 1, struct oc_str);
    for (size_t i = 0; i < n_header; i++) {
        name[i] = (struct oc_str){oc_strndup(&a, header[i].s, header[i].n), header[i].n};
        unit[i] = (struct oc_str){"", 0};
    }
    for (bool units = true; next_row(r, &field, &n); units = false) {
        bool row = is_id(oc_csv_at(field, n, r->at.id)) && n > r->at.kernel;
        for (size_t i = first; i < n_header && i < n && units && !row; i++)
            unit[i] = (struct oc_str){oc_strndup(&a, field[i].s, field[i].n), field[i].n};
        if (!row)
            continue;
        describe_launch(r, field, n);
        for (size_t i = first; i < n_header && i < n; i++)
            oc_ncu_take(&r->metrics, (struct oc_str){"", 0}, name[i], unit[i], field[i]);
    }
    oc_arena_free(&a);
}

/* ---- text ------------------------------------------------------------------------------------------- */

/* Parses "void f(int), 2024-Jul-13 20:38:34, Context 1, Stream 7" or "  f (8, 1, 1)x(32, 1, 1), Context 1,
 * Stream 7, Device 0, CC 8.0" */
static bool take_kernel_line(struct reading *r, struct oc_str line)
{
    const char *context = oc_find(line.s, line.n, ", Context ", 10),
               *cc = oc_find(line.s, line.n, ", CC ", 5);
    if (!context || line.n < 3 || line.s[0] != ' ' ||
        !oc_find(context, line.n - (size_t)(context - line.s), ", Stream ", 9))
        return false;
    struct oc_str name = oc_csv_trim(oc_str_before(line, context));
    size_t n = name.n;
    if (n > 22 && name.s[n - 22] == ',' && name.s[n - 16] == '-' &&
        name.s[n - 3] == ':') { /* ", 2024-Jul-13 20:38:34" */
        n -= 22;
    } else if (n && name.s[n - 1] == ')') { /* "(8, 1, 1)x(32, 1, 1)" */
        size_t k = n;
        while (k > 1 && !(name.s[k - 1] == 'x' && name.s[k - 2] == ')'))
            k--;
        while (k && name.s[k - 1] != '(')
            k--;
        n = k ? k - 1 : n;
    }
    if (n || !r->above.n)
        begin_launch(r, n ? oc_csv_trim((struct oc_str){name.s, n}) : name);
    else
        begin_launch(r, oc_str(r->above.data, r->above.n));
    r->launch.lane = oc_timeline_stream(r->launches, OC_NO_ID, OC_NO_ID, OC_NO_ID);
    if (cc) {
        struct oc_str text = oc_csv_trim((struct oc_str){cc + 5, line.n - (size_t)(cc + 5 - line.s)});
        oc_csv_number(text, &r->metrics.capability, NULL);
    }
    oc_buf_clear(&r->section);
    r->in_nvtx = false;
    return true;
}

/* Parses the lines of --print-summary: "  f(int) (8, 1, 1)x(32, 1, 1), Device 0, CC 8.0, Invocations 14", and
 * of 2020 to 2021 "  f(int), Block Size 32, Grid Size 8, Device 0, 14 invocations". */
static bool take_summary_line(struct reading *r, struct oc_str line)
{
    const char *end = line.s + line.n, *count = oc_find(line.s, line.n, ", Invocations ", 14);
    const char *old = count || line.n < 12 ? NULL : oc_find(line.s, line.n, " invocations", 12);
    const char *device = oc_find(line.s, line.n, ", Device ", 9), *cc = oc_find(line.s, line.n, ", CC ", 5);
    uint64_t n;
    if ((!count && !old) || !device || line.s[0] != ' ')
        return false;
    const char *from = count ? count + 14 : old;
    while (old && from > line.s && oc_is_digit(from[-1]))
        from--;
    if (!oc_csv_u64((struct oc_str){from, (size_t)((old ? old : end) - from)}, &n) || !n ||
        n > MAX_INVOCATIONS)
        return false;
    const char *block = oc_find(line.s, line.n, ", Block Size ", 13),
               *stop = block && block < device ? block : device;
    const char *grid = stop;
    while (grid > line.s &&
           !(grid[-1] == ' ' && *grid == '(' && oc_find(grid, (size_t)(stop - grid), ")x(", 3)))
        grid--;
    begin_launch(r, oc_csv_trim((struct oc_str){line.s, (size_t)((grid > line.s ? grid : stop) - line.s)}));
    r->invocations = n;
    r->launch.lane = oc_timeline_stream(r->launches, OC_NO_ID, OC_NO_ID, OC_NO_ID);
    const char *comma = cc ? memchr(cc + 5, ',', (size_t)(end - cc - 5)) : NULL;
    if (cc)
        oc_csv_number((struct oc_str){cc + 5, (size_t)((comma ? comma : end) - cc - 5)},
                      &r->metrics.capability, NULL);
    oc_buf_clear(&r->section);
    r->in_nvtx = false;
    return true;
}

/* Parses "<default domain>", then "<0,name>", outer ranges first. */
static void take_nvtx_line(struct reading *r, struct oc_str s)
{
    const char *comma = s.n > 2 && s.s[0] == '<' && s.s[s.n - 1] == '>' ? memchr(s.s, ',', s.n) : NULL;
    bool range = comma && strspn(s.s + 1, "0123456789") == (size_t)(comma - s.s - 1);
    if (range) {
        set_label(r, (struct oc_str){r->domain.n ? r->domain.data : "", r->domain.n},
                  (struct oc_str){comma + 1, s.n - (size_t)(comma + 1 - s.s) - 1});
    } else {
        oc_buf_clear(&r->domain);
        oc_buf_add(&r->domain, s.s, s.n);
    }
}

static void take_text_line(struct reading *r, struct oc_str line, const struct oc_text_column *span,
                           size_t n_span)
{
    struct oc_str s = oc_csv_trim(line), field[OC_TEXT_COLUMNS];
    if (take_kernel_line(r, line) || take_summary_line(r, line) || !r->launch.name || !s.n)
        return;
    if (oc_str_starts(s, "NVTX Push/Pop Stack") || oc_str_starts(s, "NVTX Start/End Ranges")) {
        r->in_nvtx = oc_str_starts(s, "NVTX Push/Pop") || r->launch.label == OC_NONE;
    } else if (oc_str_starts(s, "Section: ")) {
        r->in_nvtx = false;
        oc_buf_clear(&r->section);
        oc_buf_add(&r->section, s.s + 9, s.n - 9);
    } else if (r->in_nvtx) {
        take_nvtx_line(r, s);
    } else if (n_span == 3 ||
               (n_span == 5 && r->invocations)) { /* 5: name, unit, minimum, maximum, average */
        oc_text_cut(line, span, n_span, field);
        r->apart += !r->section.n && oc_str_eq(field[0], "Duration");
        if (n_span == 5)
            field[2] = field[4];
        oc_ncu_take(&r->metrics, (struct oc_str){r->section.n ? r->section.data : "", r->section.n}, field[0],
                    field[1], field[2]);
    }
}

/* The line read last may be the header of the CSV form. */
static bool ncu_read_csv(struct reading *r, struct oc_str line)
{
    const struct oc_str *field;
    size_t n;
    if (!oc_str_starts(line, "\"ID\",") && !oc_str_starts(line, "ID,"))
        return false;
    oc_csv_unread(r->csv);
    oc_csv_delimiter(r->csv, ',');
    if (oc_csv_row(r->csv, &field, &n) && ncu_is_header(NULL, field, n)) {
        end_launch(r);
        r->next = true;
        ncu_find_columns(r, field, n);
        if (r->at.metric != OC_CSV_NONE && r->at.value != OC_CSV_NONE)
            read_details(r);
        else
            read_raw(r, field, n);
    }
    oc_csv_delimiter(r->csv, '\0');
    return true;
}

static void ncu_read_lines(struct reading *r)
{
    struct oc_text_column span[OC_TEXT_COLUMNS], found[OC_TEXT_COLUMNS];
    struct oc_str line;
    size_t n_span = 0;
    while (oc_csv_line(r->csv, &line)) {
        size_t n = oc_text_rule(line, found);
        if (n) {
            memcpy(span, found, n * sizeof(*span));
            n_span = n;
        } else if (oc_str_starts(line, "==")) {
            r->next |= oc_str_starts(line, "==PROF== Connected to process");
        } else if (!ncu_read_csv(r, line)) {
            take_text_line(r, line, span, n_span);
            struct oc_str above = oc_csv_trim(line);
            oc_buf_clear(&r->above);
            oc_buf_add(&r->above, above.s, above.n);
        }
    }
    end_launch(r);
}

/* ---- file ------------------------------------------------------------------------------------------- */

static bool is_text_page(const char *data, size_t n)
{
    const char *context = oc_find(data, n, ", Context ", 10);
    if (!context)
        context = oc_find(data, n, ", Invocations ", 14);
    if (!context)
        context = oc_find(data, n, " invocations\n", 13);
    return context && oc_find(context, n - (size_t)(context - data), "Section: ", 9);
}

static void ncu_probe(const struct oc_peek *p, struct oc_bid *bid)
{
    if (oc_csv_peek_header(p->data, p->n, ncu_is_header, NULL))
        *bid = (struct oc_bid){.score = 95, .reason = "header of Nsight Compute's CSV"};
    else if (is_text_page(p->data, p->n))
        *bid = (struct oc_bid){.score = 80, .reason = "details page of Nsight Compute"};
    else if (oc_peek_has(p, "==PROF== ") && !oc_peek_has(p, "==PROF== Note that these metrics")) /* a list */
        *bid = (struct oc_bid){.score = 40, .reason = "output of Nsight Compute"};
}

static void ncu_add_warnings(const struct reading *r)
{
    struct oc_diags *d = &r->out->diags;
    oc_recordings_warn(&r->recordings, "recordings", r->out);
    oc_diag_add(
        d, OC_INFO, "I-serialised", "",
        "Nsight Compute serialises kernels and locks the clocks: counters are valid, times are longer than "
        "in the application");
    if (r->untimed)
        oc_diag_add(d, OC_WARNING, "W-no-time", "", "%zu of %zu launches have no duration and were skipped",
                    r->untimed, r->n);
    if (r->summaries)
        oc_diag_add(d, OC_INFO, "I-summary", "",
                    "the metrics of %zu kernels are means over their launches (ncu --print-summary)",
                    r->summaries);
    if (r->rated)
        oc_diag_add(d, OC_INFO, "I-bytes-by-rate", "",
                    "the bytes of %zu launches are throughput times duration (for counts collect "
                    "dram__bytes_read.sum and "
                    "dram__bytes_write.sum)",
                    r->rated);
    if (r->tensor_only)
        oc_diag_add(d, OC_INFO, "I-tensor-flop", "",
                    "the tensor core operations of %zu launches were not collected, so their FLOPs are "
                    "unknown (collect "
                    "sm__ops_path_tensor_*)",
                    r->tensor_only);
}

static int ncu_finish(struct reading *r, const struct oc_profile_opts *opts, struct oc_err *err)
{
    if (!r->n)
        return oc_fail(
            err, OC_EFORMAT,
            "contains no kernel (export with: ncu --csv --page raw, or from a report: ncu -i FILE --csv "
            "--page raw)");
    if (!r->launches->n_event && r->apart)
        return oc_fail(
            err, OC_EFORMAT,
            "lines were left out: %zu durations belong to none of the %zu launches; save the whole "
            "output of ncu",
            r->apart, r->n);
    if (!r->launches->n_event)
        return oc_fail(
            err, OC_EFORMAT,
            "none of the %zu launches has a duration: collect gpu__time_duration.sum, or the section "
            "SpeedOfLight",
            r->n);
    ncu_add_warnings(r);
    oc_timeline_launches_end(r->launches, opts, 1, !r->labels);
    r->out->runs_from = OC_RUNS_UNKNOWN; /* launches may be selected by number, and of any number of runs */
    r->out->runs_total = 0;
    r->out->stat = OC_STAT_SUM;
    r->out->run_ns = (double)NAN;
    return 0;
}

static int ncu_read_file(const struct oc_source *src, const struct oc_profile_opts *opts,
                         struct oc_profile *out, struct oc_err *err)
{
    struct reading r = {.csv = oc_csv_open(src->file[0].s), .out = out, .launches = oc_timeline_new(out)};
    ncu_read_lines(&r);
    out->producer = "Nsight Compute";
    int rc = oc_csv_failed(r.csv) ? oc_csv_error(r.csv, err) : ncu_finish(&r, opts, err);
    oc_csv_close(r.csv);
    oc_timeline_free(r.launches);
    oc_buf_free(&r.id);
    oc_buf_free(&r.section);
    oc_buf_free(&r.above);
    oc_buf_free(&r.domain);
    return rc;
}

const struct oc_importer oc_importer_ncu = {
    .name = "ncu",
    .title = "Nsight Compute: CSV (details, raw), printed details",
    .seen = "2021 to 2024",
    .lost = "metrics other than time, bytes and FLOPs",
    .probe = ncu_probe,
    .in_output = true,
    .read = ncu_read_file,
};
