/* Nsight Systems, tables of `nsys stats`: CSV and TSV files, tables with frames (--format table), and what
 * `nsys profile --stats=true` prints on the terminal. A file may contain several reports in sequence, with
 * notices and program output between them:
 *
 *   Processing [x.sqlite] with [cuda_gpu_kern_sum.py]...
 *   Time (%),Total Time (ns),Instances,Avg (ns),...,Name
 *   41.9,336115,3,112038.3,...,"void f<1, 2>(int)"
 *
 *   CUDA Kernel Statistics (nanoseconds)                 (2020: the unit is in the title)
 *   Time(%)      Total Time   Instances  ...  Name
 *   -------  --------------  ----------  ---  -----      a column ends where its dashes end
 *      18.3           58366           6  ...  void f<1, 2>(int)
 *
 * Several reports contain the same work: the importer uses the one with the most detail about layers. A
 * report that comes again is of another recording.
 * Range names are <domain>:<text>. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "profile/core/nvtx.h"
#include "profile/core/records.h"
#include "profile/core/timeline.h"
#include "profile/csv_rows.h"
#include "profile/formats/nsight_tables.h"

#define MAX_NS 4503599627370496.0 /* 2^52 */

struct range { /* a range instance from a trace of ranges */
    int64_t id, parent;
    double start_ns, dur_ns, self_ns;
    const char *domain, *text;
    uint32_t outer; /* index of its parent, OC_NONE */
};

struct reading {
    struct oc_csv *csv;
    struct oc_profile *out;
    const struct oc_profile_opts *opts;
    struct oc_arena scratch;
    struct oc_nsys_header header;
    double title_ns;
    struct oc_sum_rows sums[OC_NSYS_TABLES];
    uint64_t run_instances[OC_NSYS_TABLES]; /* number of ranges that are runs */
    double run_ns[OC_NSYS_TABLES];
    struct oc_timeline *launches[OC_NSYS_TABLES];
    struct range *range[OC_NSYS_TABLES];
    size_t n_range[OC_NSYS_TABLES], range_cap[OC_NSYS_TABLES];
    size_t rows[OC_NSYS_TABLES], max_rows, bad;
    bool console;
    struct oc_recording_count recordings;
    bool seen[OC_NSYS_TABLES], next; /* tables of this recording; the next table is of another one */
    char *input;                     /* file of "Processing [file] with [report]" */
};

/* ---- probe ------------------------------------------------------------------------------------------ */

static bool nsys_csv_is_header(void *ctx, const struct oc_str *field, size_t n)
{
    struct oc_nsys_header h;
    oc_nsys_header(field, n, 0, &h);
    *(enum oc_nsys_table *)ctx = h.table;
    return h.table != OC_NSYS_NONE;
}

static bool console_table(const char *data, size_t n)
{
    struct oc_str text = oc_str(data, n), last = {"", 0}, line, field[OC_TEXT_COLUMNS];
    while (oc_str_line(&text, &line)) {
        struct oc_text_column span[OC_TEXT_COLUMNS];
        enum oc_nsys_table table;
        size_t k = oc_text_rule(line, span);
        if (k) {
            oc_text_cut(last, span, k, field);
            if (nsys_csv_is_header(&table, field, k))
                return true;
        }
        last = line;
    }
    return false;
}

static void nsys_csv_probe(const struct oc_peek *p, struct oc_bid *bid)
{
    enum oc_nsys_table table;
    if (oc_csv_peek_header(p->data, p->n, nsys_csv_is_header, &table))
        *bid = (struct oc_bid){.score = 90, .reason = "header of a report of nsys stats"};
    else if (console_table(p->data, p->n))
        *bid = (struct oc_bid){.score = 85, .reason = "table of nsys profile --stats=true"};
    else if (oc_peek_has(p, "nsys profile --stats=true") || oc_peek_has(p, "cuda_gpu_kern_sum"))
        *bid = (struct oc_bid){.score = 60, .reason = "output of nsys profile --stats=true"};
}

/* ---- rows ------------------------------------------------------------------------------------------- */

/* Parses "TensorRT:Conv_0 + Relu_1", ":text" (default domain), and "aten::add" of versions without
 * domains. */
static const char *split_domain(struct reading *r, struct oc_str s, const char **domain)
{
    const char *colon = memchr(s.s, ':', s.n);
    size_t n = colon ? (size_t)(colon - s.s) : 0;
    *domain = "";
    if (!colon || (n && n + 1 < s.n && colon[1] == ':'))
        return oc_prof_text(r->out, s);
    *domain = oc_strndup(&r->scratch, s.s, n);
    return oc_prof_text(r->out, (struct oc_str){colon + 1, s.n - n - 1});
}

static bool nsys_csv_time_of(struct reading *r, const struct oc_str *field, size_t n,
                             enum oc_nsys_column column, double *ns)
{
    if (!oc_nsys_number(&r->header, field, n, column, ns))
        return false;
    *ns *= r->header.ns;
    return *ns >= -MAX_NS && *ns <= MAX_NS;
}

static bool take_sum(struct reading *r, const struct oc_str *field, size_t n)
{
    const struct oc_nsys_header *h = &r->header;
    struct oc_sum_rows *rows = &r->sums[h->table];
    bool by_range = h->at[OC_NSYS_RANGE] != OC_CSV_NONE && h->table != OC_NSYS_GPU_SUM;
    struct oc_sum_row x = {.min_ns = NAN, .max_ns = NAN, .where = oc_csv_offset(r->csv)};
    struct oc_str name = oc_nsys_text(h, field, n, OC_NSYS_NAME);
    if (!nsys_csv_time_of(r, field, n, OC_NSYS_TOTAL, &x.total_ns) || x.total_ns < 0)
        return false;
    nsys_csv_time_of(r, field, n, OC_NSYS_MIN, &x.min_ns);
    nsys_csv_time_of(r, field, n, OC_NSYS_MAX, &x.max_ns);
    x.calls = oc_nsys_count(h, field, n, OC_NSYS_CALLS);
    x.instances = oc_nsys_count(h, field, n, OC_NSYS_INSTANCES);
    x.kind = oc_cuda_kind(name);
    x.name = name.n ? oc_prof_text(r->out, name) : NULL;
    if (by_range) {
        const char *domain, *text = split_domain(r, oc_nsys_text(h, field, n, OC_NSYS_RANGE), &domain);
        double children;
        if (oc_nvtx_kind(domain, text) == OC_NVTX_RUN) { /* encloses the layers */
            r->run_instances[h->table] = x.instances;
            r->run_ns[h->table] += x.total_ns;
            return true;
        }
        if (oc_nsys_number(h, field, n, OC_NSYS_CHILDREN, &children) && children > 0)
            return true;
        x.variant = oc_nvtx_label(r->out, domain, text, &x.label);
        x.calls = x.calls ? x.calls : x.instances;
    } else if (!x.name) {
        return false;
    }
    OC_PUSH(rows->row, rows->n, rows->cap) = x;
    return true;
}

static const char *nsys_csv_device_of(struct reading *r, struct oc_str text, int64_t *id)
{
    size_t n = text.n;
    *id = OC_NO_ID;
    if (n && text.s[n - 1] == ')') { /* "NVIDIA A100 (0)" */
        while (n && text.s[n - 1] != '(')
            n--;
        uint64_t v;
        if (n && oc_csv_u64((struct oc_str){text.s + n, text.n - n - 1}, &v))
            *id = (int64_t)(v & INT32_MAX);
        n -= n > 0;
    }
    return oc_prof_text(r->out, oc_csv_trim((struct oc_str){text.s, n}));
}

static bool nsys_csv_take_launch(struct reading *r, const struct oc_str *field, size_t n)
{
    const struct oc_nsys_header *h = &r->header;
    struct oc_str name = oc_nsys_text(h, field, n, OC_NSYS_NAME);
    struct oc_launch x = {
        .label = OC_NONE, .run = OC_NONE, .flop = NAN, .bytes = NAN, .kind = oc_cuda_kind(name)};
    double bytes;
    uint64_t stream = oc_nsys_count(h, field, n, OC_NSYS_STREAM),
             process = oc_nsys_count(h, field, n, OC_NSYS_PROCESS);
    int64_t device;
    if (!name.n || !nsys_csv_time_of(r, field, n, OC_NSYS_START, &x.start_ns) ||
        !nsys_csv_time_of(r, field, n, OC_NSYS_DUR, &x.dur_ns) || x.dur_ns < 0)
        return false;
    if (!r->launches[h->table])
        r->launches[h->table] = oc_timeline_new(r->out);
    const char *device_name = nsys_csv_device_of(r, oc_nsys_text(h, field, n, OC_NSYS_DEVICE), &device);
    if (h->table == OC_NSYS_GPU_TRACE && device_name[0] && !r->out->device[0])
        r->out->device = device_name;
    if (h->bytes > 0 && x.kind != OC_EV_KERNEL && oc_nsys_number(h, field, n, OC_NSYS_BYTES, &bytes) &&
        bytes > 0)
        x.bytes = bytes * h->bytes;
    x.name = oc_prof_text(r->out, name);
    x.where = oc_csv_offset(r->csv);
    x.lane = oc_timeline_stream(r->launches[h->table], process ? (int64_t)process : OC_NO_ID, device,
                                (int64_t)stream);
    return oc_timeline_launch(r->launches[h->table], &x);
}

static bool nsys_csv_take_range(struct reading *r, const struct oc_str *field, size_t n)
{
    enum oc_nsys_table t = r->header.table;
    struct range x = {.outer = OC_NONE};
    if (!nsys_csv_time_of(r, field, n, OC_NSYS_START, &x.start_ns) ||
        !nsys_csv_time_of(r, field, n, OC_NSYS_DUR, &x.dur_ns) || x.dur_ns < 0)
        return false;
    x.text = split_domain(r, oc_nsys_text(&r->header, field, n, OC_NSYS_RANGE), &x.domain);
    x.id = (int64_t)oc_nsys_count(&r->header, field, n, OC_NSYS_ID);
    x.parent = (int64_t)oc_nsys_count(&r->header, field, n, OC_NSYS_PARENT);
    x.self_ns = x.dur_ns;
    OC_PUSH(r->range[t], r->n_range[t], r->range_cap[t]) = x;
    return true;
}

/* False: not a row of the table. */
static bool nsys_csv_take_row(struct reading *r, const struct oc_str *field, size_t n)
{
    static bool (*const take[OC_NSYS_TABLES])(struct reading *, const struct oc_str *,
                                              size_t) = {[OC_NSYS_GPU_TRACE] = nsys_csv_take_launch,
                                                         [OC_NSYS_EXEC_TRACE] = nsys_csv_take_launch,
                                                         [OC_NSYS_NVTX_KERN] = take_sum,
                                                         [OC_NSYS_PROJ_TRACE] = nsys_csv_take_range,
                                                         [OC_NSYS_PROJ_SUM] = take_sum,
                                                         [OC_NSYS_KERN_SUM] = take_sum,
                                                         [OC_NSYS_GPU_SUM] = take_sum,
                                                         [OC_NSYS_MEM_SUM] = take_sum,
                                                         [OC_NSYS_PUSHPOP] = nsys_csv_take_range,
                                                         [OC_NSYS_NVTX_SUM] = take_sum};
    enum oc_nsys_table t = r->header.table;
    if (r->rows[t] == r->max_rows) {
        oc_prof_over(r->out, OC_LIMIT_EVENTS);
        return false;
    }
    bool good = take[t](r, field, n);
    r->rows[t] += good;
    return good;
}

/* ---- file ------------------------------------------------------------------------------------------- */

/* Reads rows up to the first one that does not fit, which is read again. */
static void read_csv_table(struct reading *r)
{
    const struct oc_str *field;
    size_t n;
    while (oc_csv_row(r->csv, &field, &n))
        if (!nsys_csv_take_row(r, field, n)) {
            oc_csv_unread(r->csv);
            break;
        }
    oc_csv_delimiter(r->csv, '\0');
}

/* A field over the end of its column: the row was edited, as on pages. Every field but the last is then a
 * word. */
static void cut_row(struct oc_str line, const struct oc_text_column *span, size_t n, struct oc_str *field)
{
    bool crosses = false;
    oc_text_cut(line, span, n, field);
    for (size_t i = 0; i + 1 < n; i++)
        crosses |= field[i].n && field[i + 1].n && field[i].s + field[i].n == field[i + 1].s;
    for (size_t i = 0; i < n && crosses; i++)
        field[i] = i + 1 < n ? oc_csv_word(&line) : oc_csv_trim(line);
}

static void read_console_table(struct reading *r, const struct oc_text_column *span, size_t n)
{
    struct oc_str line, field[OC_TEXT_COLUMNS];
    r->console = true;
    while (oc_csv_line(r->csv, &line)) {
        cut_row(line, span, n, field);
        if (!nsys_csv_take_row(r, field, n)) {
            oc_csv_unread(r->csv);
            return;
        }
    }
}

/* Whether the table with the header read last is of the first recording. */
static bool is_first(struct reading *r)
{
    enum oc_nsys_table t = r->header.table;
    if (t == OC_NSYS_NONE)
        return false;
    if (!r->recordings.n || r->next || r->seen[t]) {
        oc_recording_begins(&r->recordings, r->csv);
        memset(r->seen, 0, sizeof(r->seen));
        r->next = false;
    }
    r->seen[t] = true;
    return r->recordings.n == 1;
}

/* "+-----+----+": the columns of a table with a frame (--format table), 0: not a frame. A column ends at its
 * second '+'. */
static size_t frame_rule(struct oc_str line, struct oc_text_column *out)
{
    size_t n = 0, from = 0;
    struct oc_str s = oc_csv_trim(line);
    if (s.n < 3 || s.s[0] != '+' || s.s[s.n - 1] != '+')
        return 0;
    for (size_t i = 1; i < s.n; i++) {
        if (s.s[i] == '-')
            continue;
        if (s.s[i] != '+' || n == OC_TEXT_COLUMNS)
            return 0;
        out[n++] = (struct oc_text_column){from, i};
        from = i;
    }
    return n;
}

/* "| 30.0 | 11,294,113 | void f<a, b>(int) |": a bar ends a cell below the end of its column, which counts
 * characters. False: not a row of the table. */
static bool frame_row(struct oc_str line, const struct oc_text_column *span, size_t n, struct oc_str *field)
{
    struct oc_str s = oc_csv_trim(line);
    size_t column = 0, from = 1, at = 0;
    if (s.n < 2 || s.s[0] != '|')
        return false;
    for (size_t i = 1; i < s.n && column < n; i++) {
        at += ((unsigned char)s.s[i] & 0xc0) != 0x80;
        if (at != span[column].to || ((unsigned char)s.s[i] & 0xc0) == 0x80)
            continue;
        if (s.s[i] != '|')
            return false;
        field[column++] = oc_csv_trim((struct oc_str){s.s + from, i - from});
        from = i + 1;
    }
    return column == n;
}

/* The table below the frame read last; the frame that closes it is read again. */
static void read_framed_table(struct reading *r, const struct oc_text_column *span, size_t n)
{
    struct oc_text_column rule[OC_TEXT_COLUMNS];
    struct oc_str line, field[OC_TEXT_COLUMNS];
    bool more = oc_csv_line(r->csv, &line), header = more && frame_row(line, span, n, field);
    if (header)
        oc_nsys_header(field, n, r->title_ns, &r->header);
    if (header && is_first(r) && oc_csv_line(r->csv, &line) && frame_rule(line, rule) == n) {
        r->console = true;
        do
            more = oc_csv_line(r->csv, &line);
        while (more && frame_row(line, span, n, field) && nsys_csv_take_row(r, field, n));
    }
    if (more)
        oc_csv_unread(r->csv);
}

/* "CUDA Kernel Statistics (nanoseconds)" */
static void nsys_csv_read_title(struct reading *r, struct oc_str line)
{
    struct oc_str unit;
    double ns;
    oc_csv_split_unit(oc_csv_trim(line), &unit);
    if (unit.n && oc_csv_time_unit(unit, &ns))
        r->title_ns = ns;
}

static void read_input(struct reading *r, struct oc_str line)
{
    const char *with = oc_str_starts(line, "Processing [") ? oc_find(line.s, line.n, "] with [", 8) : NULL;
    if (!with)
        return;
    char *input = oc_strndup(&r->scratch, line.s, (size_t)(with - line.s));
    r->next |= r->input && strcmp(r->input, input) != 0;
    r->input = input;
}

/* Of a line that may be the header of a table; 0: it is not. */
static char delimiter_of(struct oc_str line)
{
    if (!line.n || (!oc_find(line.s, line.n, "Time", 4) && !oc_find(line.s, line.n, "Dur", 3)))
        return '\0';
    if (memchr(line.s, ',', line.n))
        return ',';
    return memchr(line.s, '\t', line.n) ? '\t' : '\0';
}

static void nsys_csv_read_tables(struct reading *r)
{
    struct oc_str line, field[OC_TEXT_COLUMNS];
    struct oc_text_column span[OC_TEXT_COLUMNS];
    struct oc_buf last = {.max = (size_t)1 << 20};
    while (oc_csv_line(r->csv, &line)) {
        size_t n = oc_text_rule(line, span);
        if (n) {
            oc_text_cut((struct oc_str){last.n ? last.data : "", last.n}, span, n, field);
            oc_nsys_header(field, n, r->title_ns, &r->header);
            if (is_first(r))
                read_console_table(r, span, n);
            continue;
        }
        n = frame_rule(line, span);
        if (n) {
            read_framed_table(r, span, n);
            continue;
        }
        nsys_csv_read_title(r, line);
        read_input(r, line);
        oc_buf_clear(&last);
        oc_buf_add(&last, line.s, line.n);
        char delimiter = delimiter_of(line);
        if (!delimiter)
            continue;
        oc_csv_unread(r->csv);
        oc_csv_delimiter(r->csv, delimiter);
        const struct oc_str *header;
        size_t n_header;
        if (!oc_csv_row(r->csv, &header, &n_header))
            break;
        oc_nsys_header(header, n_header, 0, &r->header);
        if (is_first(r))
            read_csv_table(r);
        oc_csv_delimiter(r->csv, '\0');
    }
    oc_buf_free(&last);
}

/* ---- traces of ranges ------------------------------------------------------------------------------- */

/* Self times: the duration of a range minus its direct children. */
static void nest_ranges(struct reading *r, enum oc_nsys_table t)
{
    struct oc_map ids = {.arena = &r->scratch};
    for (size_t i = 0; i < r->n_range[t]; i++) {
        struct range *x = &r->range[t][i];
        if (x->id)
            oc_map_set(&ids, (const char *)&x->id, sizeof(x->id), (uint32_t)i);
    }
    for (size_t i = 0; i < r->n_range[t]; i++) {
        struct range *x = &r->range[t][i];
        x->outer = x->parent && x->parent != x->id
                       ? oc_map_get(&ids, (const char *)&x->parent, sizeof(x->parent))
                       : OC_NONE;
        if (x->outer != OC_NONE)
            r->range[t][x->outer].self_ns -= x->dur_ns;
    }
    oc_map_free(&ids);
}

static int nsys_csv_by_start(const void *a, const void *b)
{
    const struct range *const *x = a, *const *y = b;
    if ((*x)->start_ns != (*y)->start_ns)
        return (*x)->start_ns < (*y)->start_ns ? -1 : 1;
    return (*x > *y) - (*x < *y);
}

/* Numbers the ranges that are runs by start time; returns their count. run: per range, OC_NONE. */
static uint32_t number_runs(struct reading *r, enum oc_nsys_table t, uint32_t *run)
{
    const struct range **order = oc_xmalloc((r->n_range[t] + 1) * sizeof(const struct range *));
    uint32_t n = 0;
    for (size_t i = 0; i < r->n_range[t]; i++) {
        run[i] = OC_NONE;
        if (oc_nvtx_kind(r->range[t][i].domain, r->range[t][i].text) == OC_NVTX_RUN)
            order[n++] = &r->range[t][i];
    }
    if (n)
        qsort(order, n, sizeof(*order), nsys_csv_by_start);
    for (uint32_t i = 0; i < n; i++)
        run[order[i] - r->range[t]] = i;
    free(order);
    return n;
}

static void launch_range(struct reading *r, struct oc_timeline *l, enum oc_nsys_table t, size_t i,
                         uint32_t run)
{
    const struct range *x = &r->range[t][i];
    struct oc_label label;
    bool is_run = oc_nvtx_kind(x->domain, x->text) == OC_NVTX_RUN;
    const char *variant = is_run ? NULL : oc_nvtx_label(r->out, x->domain, x->text, &label);
    double self_ns = x->self_ns > 0 ? x->self_ns : 0; /* child ranges may overlap */
    if (is_run && self_ns <= 0)
        return;
    oc_timeline_launch(l,
                       &(struct oc_launch){.name = x->text,
                                           .start_ns = x->start_ns,
                                           .dur_ns = self_ns,
                                           .label = is_run ? OC_NONE : oc_timeline_label(l, &label, variant),
                                           .run = run,
                                           .kind = OC_EV_KERNEL,
                                           .bytes = NAN,
                                           .flop = NAN});
}

/* Marks the times as host times: moves the values from device time. */
static void make_host_times(struct oc_profile *p)
{
    p->time_kind = "host time";
    p->imported_ns = p->imported_kernel_ns;
    p->imported_kernel_ns = NAN;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        struct oc_prof_rec *rec = &p->rec[i];
        rec->total_ns = rec->total_kernel_ns;
        rec->kernel_ns = rec->total_kernel_ns = NAN;
        if (rec->rest) {
            rec->bucket = "framework";
            rec->name = "(framework)";
            rec->op_type = "";
            rec->rest = NULL;
        }
    }
}

static void finish_ranges(struct reading *r, enum oc_nsys_table t)
{
    struct oc_profile *p = r->out;
    struct oc_timeline *l = oc_timeline_new(p);
    uint32_t *run = oc_xmalloc((r->n_range[t] + 1) * sizeof(*run));
    nest_ranges(r, t);
    uint32_t n_run = number_runs(r, t, run);
    for (size_t i = 0; i < r->n_range[t]; i++) {
        uint32_t found = OC_NONE, outer = (uint32_t)i;
        for (unsigned depth = 0; outer != OC_NONE && found == OC_NONE && depth < 256; depth++) {
            found = run[outer];
            outer = r->range[t][outer].outer;
        }
        launch_range(r, l, t, i, found);
    }
    oc_timeline_launches_end(l, r->opts, n_run, false);
    p->n_kernel = 0; /* ranges, not kernels */
    if (t == OC_NSYS_PUSHPOP)
        make_host_times(p);
    oc_timeline_free(l);
    free(run);
}

/* ---- choice of the report --------------------------------------------------------------------------- */

static void nsys_csv_add_rows(struct oc_sum_rows *to, const struct oc_sum_rows *from)
{
    for (size_t i = 0; i < from->n; i++) {
        OC_PUSH(to->row, to->n, to->cap) = from->row[i];
    }
}

static double nsys_csv_total_of(const struct oc_sum_rows *rows)
{
    double ns = 0;
    for (size_t i = 0; i < rows->n; i++)
        ns += rows->row[i].kind == OC_EV_KERNEL ? rows->row[i].total_ns : 0;
    return ns;
}

static void finish_sums(struct reading *r, enum oc_nsys_table t)
{
    struct oc_sum_rows *rows = &r->sums[t];
    double layers_ns = nsys_csv_total_of(rows);
    rows->runs = r->run_instances[t];
    rows->host = t == OC_NSYS_NVTX_SUM;
    if (t == OC_NSYS_NVTX_KERN || t == OC_NSYS_PROJ_SUM) {
        double all_ns =
            r->sums[OC_NSYS_KERN_SUM].n ? nsys_csv_total_of(&r->sums[OC_NSYS_KERN_SUM]) : r->run_ns[t];
        rows->unlabelled_ns = all_ns > layers_ns ? all_ns - layers_ns : 0;
    }
    if (t == OC_NSYS_NVTX_SUM)
        oc_diag_add(&r->out->diags, OC_WARNING, "W-nested-ranges", "",
                    "the report does not show which ranges are nested: their time counts in both "
                    "(nvtx_kern_sum reports "
                    "kernel times by range)");
    if (t != OC_NSYS_NVTX_SUM && t != OC_NSYS_GPU_SUM && t != OC_NSYS_PROJ_SUM && t != OC_NSYS_MEM_SUM)
        nsys_csv_add_rows(rows, &r->sums[OC_NSYS_MEM_SUM]);
    oc_sum_rows_finish(rows, r->out, r->opts);
}

static enum oc_nsys_table best_table(const struct reading *r)
{
    static const enum oc_nsys_table order[] = {
        OC_NSYS_NVTX_KERN, OC_NSYS_PROJ_TRACE, OC_NSYS_GPU_TRACE, OC_NSYS_EXEC_TRACE, OC_NSYS_PROJ_SUM,
        OC_NSYS_KERN_SUM,  OC_NSYS_GPU_SUM,    OC_NSYS_PUSHPOP,   OC_NSYS_NVTX_SUM,   OC_NSYS_MEM_SUM};
    for (size_t i = 0; i < OC_COUNT(order); i++)
        if (r->rows[order[i]])
            return order[i];
    return OC_NSYS_NONE;
}

static int nsys_csv_finish(struct reading *r, struct oc_err *err)
{
    static const char *const report[OC_NSYS_TABLES] = {
        [OC_NSYS_GPU_TRACE] = "cuda_gpu_trace",   [OC_NSYS_EXEC_TRACE] = "cuda_kern_exec_trace",
        [OC_NSYS_NVTX_KERN] = "nvtx_kern_sum",    [OC_NSYS_PROJ_TRACE] = "nvtx_gpu_proj_trace",
        [OC_NSYS_PROJ_SUM] = "nvtx_gpu_proj_sum", [OC_NSYS_KERN_SUM] = "cuda_gpu_kern_sum",
        [OC_NSYS_GPU_SUM] = "cuda_gpu_sum",       [OC_NSYS_MEM_SUM] = "cuda_gpu_mem_time_sum",
        [OC_NSYS_PUSHPOP] = "nvtx_pushpop_trace", [OC_NSYS_NVTX_SUM] = "nvtx_sum"};
    enum oc_nsys_table t = best_table(r);
    if (t == OC_NSYS_NONE)
        return oc_fail(err, OC_EFORMAT, "no row of an nsys stats report about kernels or NVTX ranges");
    oc_recordings_warn(&r->recordings, "tables of the same kind", r->out);
    r->out->producer =
        oc_printf(&r->out->arena, "Nsight Systems, report %s%s", report[t], r->console ? " as printed" : "");
    if (t == OC_NSYS_GPU_TRACE || t == OC_NSYS_EXEC_TRACE) {
        oc_timeline_launches_end(r->launches[t], r->opts, 0, true);
    } else if (t == OC_NSYS_PROJ_TRACE || t == OC_NSYS_PUSHPOP) {
        finish_ranges(r, t);
    } else {
        finish_sums(r, t);
    }
    if (t == OC_NSYS_KERN_SUM || t == OC_NSYS_GPU_TRACE || t == OC_NSYS_EXEC_TRACE || t == OC_NSYS_GPU_SUM)
        oc_diag_add(&r->out->diags, OC_INFO, "I-kernels-only", "",
                    "this report has kernels only: for times of layers export nvtx_kern_sum, or SQLite");
    return 0;
}

static int nsys_csv_read_file(const struct oc_source *src, const struct oc_profile_opts *opts,
                              struct oc_profile *out, struct oc_err *err)
{
    struct reading *r = oc_xmalloc(sizeof(*r));
    memset(r, 0, sizeof(*r));
    r->out = out;
    r->opts = opts;
    r->max_rows = (size_t)oc_input_limit(&out->limits, OC_LIMIT_EVENTS);
    r->csv = oc_csv_open(src->file[0].s);
    nsys_csv_read_tables(r);
    int rc = oc_csv_failed(r->csv) ? oc_csv_error(r->csv, err) : nsys_csv_finish(r, err);
    for (size_t i = 0; i < OC_NSYS_TABLES; i++) {
        free(r->sums[i].row);
        free(r->range[i]);
        oc_timeline_free(r->launches[i]);
    }
    oc_csv_close(r->csv);
    oc_arena_free(&r->scratch);
    free(r);
    return rc;
}

const struct oc_importer oc_importer_nsys_csv = {
    .name = "nsys_csv",
    .title = "Nsight Systems reports: nsys stats CSV, --stats=true",
    .seen = "2020 to 2024",
    .lost = "runs of tables of sums",
    .probe = nsys_csv_probe,
    .in_output = true,
    .read = nsys_csv_read_file,
};
