/* The report of MegEngine's profile_analyze, and its table of operators, which other reports have too
 * (--megengine style=grid). */
#include "write/report_write.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "onnxcost/report.h"
#include "report/python.h"
#include "report/select.h"
#include "write/tables/table.h"

#define INFO_WIDTH 30
#define BAR_LENGTH 15
#define MAX_BAR    65536 /* ratio for negative times: unbounded */

/* ---- table: cells ----------------------------------------------------------------------------------- */

/* Moves the buffer's contents into an arena text and empties the buffer. */
static const char *take_text(struct oc_arena *a, struct oc_buf *b)
{
    const char *s = oc_strndup(a, b->data ? b->data : "", b->n);
    oc_buf_clear(b);
    return s;
}

static const char *na_or_fixed(double v, unsigned decimals, char *buf)
{
    return oc_num_known(v) ? oc_py_fixed(v, decimals, buf) : "N/A";
}

/* "3.13\nMiB" */
static const char *scaled_cell(struct oc_arena *a, double v, double base, const char *plain_unit,
                               const char *unit)
{
    char buf[OC_PY_NUM];
    const char *prefix;
    v = oc_py_scaled(v, base, &prefix);
    return oc_printf(a, "%s\n%s%s", na_or_fixed(v, 2, buf), prefix, prefix[0] ? unit : plain_unit);
}

static const char *percent_text(double part, double whole, char *buf)
{
    return oc_py_fixed(part / whole * 100, 1, buf);
}

static const char *first_cell(struct oc_arena *a, const struct oc_details *d, uint32_t index, double time_s)
{
    char t[OC_PY_NUM], p[OC_PY_NUM];
    if (!d->time_title)
        return oc_printf(a, "#%u", index);
    return oc_printf(a, "#%u\n%s\n%s%%", index, oc_py_general3(time_s, t),
                     percent_text(time_s, d->total_s, p));
}

static const char *cumulative_cell(struct oc_arena *a, const struct oc_details *d, double time_s)
{
    char t[OC_PY_NUM], p[OC_PY_NUM];
    return oc_printf(a, "%s\n%s%%", oc_py_general3(time_s, t), percent_text(time_s, d->total_s, p));
}

static const char *info_cell(struct oc_arena *a, const struct oc_row *row, struct oc_buf *b)
{
    for (uint32_t i = 0; i < row->n_info; i++) {
        if (i)
            oc_buf_char(b, '\n');
        oc_wrap(row->info[i], INFO_WIDTH, "\n-  ", b);
    }
    return take_text(a, b);
}

static const char *shapes_cell(struct oc_arena *a, const struct oc_details *d, const struct oc_row_shape *s,
                               uint32_t n, uint8_t state, const char *joint, struct oc_buf *b)
{
    uint32_t shown = d->max_shapes && n > d->max_shapes ? d->max_shapes : n;
    if (state != OC_SHAPES_KNOWN)
        return state == OC_SHAPES_NONE ? "None" : "N/A";
    for (uint32_t i = 0; i < shown; i++) {
        oc_buf_str(b, i ? joint : "");
        oc_buf_str(b, s[i].text);
        if (s[i].strides) {
            oc_buf_str(b, "\n ");
            oc_buf_str(b, s[i].strides);
        }
    }
    if (shown < n)
        oc_buf_printf(b, "%s... (%u shapes)", joint, n);
    return take_text(a, b);
}

/* ---- table: grid ------------------------------------------------------------------------------------ */

#define MAX_COLUMNS 64

static uint32_t grid_header(const struct oc_details *d, const char **h)
{
    static const char *const fixed[] = {"operator info", "computation", "FLOPS",     "memory",
                                        "bandwidth",     "in_shapes",   "out_shapes"};
    uint32_t n = 0;
    h[n++] = d->time_title ? d->time_title : "#";
    if (d->time_title)
        h[n++] = "cumulative";
    for (uint32_t i = 0; i < OC_COUNT(fixed); i++)
        h[n++] = fixed[i];
    for (uint32_t i = 0; i < d->n_extra && n < MAX_COLUMNS; i++)
        h[n++] = d->extra[i].header;
    return n;
}

void oc_details_grid(const struct oc_rows *rows, const struct oc_details *d, struct oc_buf *out)
{
    struct oc_arena *a = rows->arena;
    struct oc_buf b = {0};
    struct oc_grid g;
    const char *cell[MAX_COLUMNS], *header[MAX_COLUMNS];
    oc_grid_init(&g, a, grid_header(d, header), header);
    double cumulative_s = 0;
    for (uint32_t i = 0; i < rows->n; i++) {
        const struct oc_row *r = &rows->row[i];
        uint32_t n = 0;
        cumulative_s += r->time_s;
        cell[n++] = first_cell(a, d, i, r->time_s);
        if (d->time_title)
            cell[n++] = cumulative_cell(a, d, cumulative_s);
        cell[n++] = info_cell(a, r, &b);
        cell[n++] = scaled_cell(a, r->computation, 1000, "FLO", "FLO");
        cell[n++] = scaled_cell(a, oc_row_flops(r), 1000, "FLOPS", "FLOPS");
        cell[n++] = scaled_cell(a, r->memory, 1024, "byte", "iB");
        cell[n++] = scaled_cell(a, oc_row_bandwidth(r), 1024, "byte/s", "iB/s");
        cell[n++] = shapes_cell(a, d, r->in, r->n_in, r->in_state, "\n", &b);
        cell[n++] = shapes_cell(a, d, r->out, r->n_out, r->out_state, "\n", &b);
        for (uint32_t k = 0; k < d->n_extra && n < MAX_COLUMNS; k++)
            cell[n++] = d->extra[k].cell(a, r);
        oc_grid_record(&g, cell);
    }
    oc_buf_free(&b);
    oc_grid_print(&g, OC_GRID_FANCY, out);
}

/* ---- table: wiki ------------------------------------------------------------------------------------ */

struct wiki {
    const struct oc_details *d;
    struct oc_arena *a;
    struct oc_buf b;                             /* scratch */
    double max_time_s, max_flops, max_bandwidth; /* NAN: unknown */
    uint32_t n;                                  /* number of cells */
    struct oc_cell cell[MAX_COLUMNS];
    const char *header[MAX_COLUMNS];
};

/* Python's max(): a later value replaces the maximum only if it is larger. */
static double larger_of(double best, double v, bool first)
{
    return first || v > best ? v : best;
}

static void find_maxima(struct wiki *w, const struct oc_rows *rows)
{
    bool any[3] = {false};
    w->max_time_s = w->max_flops = w->max_bandwidth = NAN;
    for (uint32_t i = 0; i < rows->n; i++) {
        const double v[] = {rows->row[i].time_s, oc_row_flops(&rows->row[i]),
                            oc_row_bandwidth(&rows->row[i])};
        double *const max[] = {&w->max_time_s, &w->max_flops, &w->max_bandwidth};
        for (size_t k = 0; k < OC_COUNT(v); k++)
            if (oc_num_known(v[k])) {
                *max[k] = larger_of(*max[k], v[k], !any[k]);
                any[k] = true;
            }
    }
}

static void put_text(struct wiki *w, const char *header, const char *text)
{
    if (w->n == MAX_COLUMNS)
        return;
    w->header[w->n] = header;
    w->cell[w->n++] = (struct oc_cell){.text = text};
}

static void put_float(struct wiki *w, const char *header, double v)
{
    char buf[OC_PY_NUM];
    put_text(w, header, oc_strdup(w->a, oc_py_repr(v, buf)));
    w->cell[w->n - 1].kind = OC_GRID_FLOAT;
    w->cell[w->n - 1].number = v;
}

static void put_fixed1(struct wiki *w, const char *header, double v)
{
    char buf[OC_PY_NUM];
    put_text(w, header, oc_strdup(w->a, na_or_fixed(v, 1, buf)));
}

static void put_bar(struct wiki *w, const char *header, double v, double max)
{
    double length = oc_num_known(v) ? v / max * BAR_LENGTH : 0;
    if (isfinite(length) && length >= 1)
        oc_buf_pad(&w->b, '#', (size_t)fmin(length, MAX_BAR));
    put_text(w, header, take_text(w->a, &w->b));
}

static void put_times(struct wiki *w, const struct oc_row *r, double cumulative_s)
{
    char buf[OC_PY_NUM];
    if (!w->d->time_title)
        return;
    put_text(w, "time", oc_strdup(w->a, oc_py_general3(r->time_s, buf)));
    put_text(w, "ratio", oc_printf(w->a, "%s%%", percent_text(r->time_s, w->d->total_s, buf)));
    put_bar(w, "time bar", r->time_s, w->max_time_s);
    put_float(w, "cum-time", cumulative_s);
    put_float(w, "cum-time ratio", cumulative_s / w->d->total_s);
}

static void put_costs(struct wiki *w, const struct oc_row *r)
{
    double flops = oc_row_flops(r), bandwidth = oc_row_bandwidth(r);
    put_fixed1(w, "computation (MFLO)", r->computation / 1e6);
    put_fixed1(w, "MFLOPS", flops / 1e6);
    put_bar(w, "MFLOPS-bar", flops, w->max_flops);
    put_fixed1(w, "memory (MB)", r->memory / 1048576);
    put_fixed1(w, "bandwidth (MiB/s)", bandwidth / 1048576);
    put_bar(w, "bandwidth bar", bandwidth, w->max_bandwidth);
}

static void put_record(struct wiki *w, const struct oc_rows *rows, uint32_t i, double cumulative_s)
{
    const struct oc_row *r = &rows->row[i];
    w->n = 0;
    put_text(w, "#", oc_printf(w->a, "%u", i));
    put_times(w, r, cumulative_s);
    for (uint32_t k = 0; k < r->n_info; k++)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): rows with info come with its keys */
        put_text(w, oc_printf(w->a, "opr %s", rows->info_key[k]), r->info[k]);
    put_costs(w, r);
    put_text(w, "in_shapes", shapes_cell(w->a, w->d, r->in, r->n_in, r->in_state, ", ", &w->b));
    put_text(w, "out_shapes", shapes_cell(w->a, w->d, r->out, r->n_out, r->out_state, ", ", &w->b));
    for (uint32_t k = 0; k < w->d->n_extra; k++)
        put_text(w, w->d->extra[k].header, w->d->extra[k].cell(w->a, r));
}

void oc_details_wiki(const struct oc_rows *rows, const struct oc_details *d, struct oc_buf *out)
{
    struct wiki w = {.d = d, .a = rows->arena};
    struct oc_row none = oc_row_blank();
    const struct oc_rows empty = {.arena = rows->arena, .row = &none, .n = 1, .info_key = rows->info_key};
    const char *blank[] = {"", "", ""};
    none.info = blank;
    none.n_info = rows->info_key ? OC_COUNT(blank) : 0;
    struct oc_grid g;
    find_maxima(&w, rows);
    put_record(&w, rows->n ? rows : &empty, 0, 0); /* for the headers, which are equal for all rows */
    oc_grid_init(&g, w.a, w.n, w.header);
    double cumulative_s = 0;
    for (uint32_t i = 0; i < rows->n; i++) {
        cumulative_s += rows->row[i].time_s;
        put_record(&w, rows, i, cumulative_s);
        oc_grid_row(&g, w.cell);
    }
    oc_grid_print(&g, OC_GRID_ORG, out);
    oc_buf_free(&w.b);
}

void oc_details_names(const struct oc_rows *rows, struct oc_buf *out)
{
    for (uint32_t i = 0; i < rows->n; i++) {
        for (uint32_t k = 0; k < rows->row[i].n_info; k++) {
            oc_buf_str(out, k ? " " : "");
            oc_buf_str(out, rows->row[i].info[k]);
        }
        oc_buf_char(out, '\n');
    }
    if (!rows->n)
        oc_buf_char(out, '\n');
}

#define MAX_OUTPUT_BYTES ((size_t)256 << 20)
#define DEFAULT_TOP      3

struct total {
    double s;
    bool known, integer;
};

struct report {
    const struct oc_mge *m;
    const struct oc_report_opts *o;
    struct oc_select select;
    struct oc_arena arena;
    struct oc_rows all;
    struct total total[OC_MGE_SIDES];
    struct oc_buf out;
};

/* ---- report: rows ----------------------------------------------------------------------------------- */

static const char *list_text(struct oc_arena *a, const char *open, const int64_t *v, uint32_t n,
                             const char *close)
{
    struct oc_buf b = {0};
    oc_buf_str(&b, open);
    for (uint32_t i = 0; i < n; i++)
        oc_buf_printf(&b, "%s%lld", i ? "," : "", (long long)v[i]);
    oc_buf_str(&b, close);
    const char *s = oc_strdup(a, b.data);
    oc_buf_free(&b);
    return s;
}

static const struct oc_row_shape *mge_report_shapes_of(struct oc_arena *a, const struct oc_mge_shapes *s)
{
    struct oc_row_shape *out = OC_NEW_ARRAY(a, s->n, struct oc_row_shape);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct oc_mge_shape *in = &s->item[i];
        out[i].text = list_text(a, "{", in->dim, in->rank, "}");
        out[i].strides = in->n_stride ? list_text(a, "-[", in->stride, in->n_stride, "]") : NULL;
        out[i].dim = in->dim;
        out[i].rank = in->rank;
    }
    return out;
}

static uint8_t state_of(const struct oc_mge_shapes *s)
{
    return s->state == OC_MGE_GIVEN  ? OC_SHAPES_KNOWN
           : s->state == OC_MGE_NULL ? OC_SHAPES_NONE
                                     : OC_SHAPES_NA;
}

static double mge_report_seconds(struct oc_mge_time t)
{
    return t.known ? oc_num_measured(t.s) : NAN;
}

static double mge_report_number_of(const char *id)
{
    double v = NAN;
    if (oc_py_is_int(id, strlen(id)))
        oc_py_float(id, strlen(id), &v);
    return v;
}

static struct oc_row mge_report_row_of(struct oc_arena *a, const struct oc_mge_opr *o)
{
    struct oc_row row = oc_row_blank();
    const char **info = OC_NEW_ARRAY(a, 3, const char *);
    row.name = info[0] = o->name;
    row.type = info[1] = o->type;
    row.id = info[2] = o->id;
    row.info = info;
    row.n_info = 3;
    row.id_number = mge_report_number_of(o->id);
    row.in_dtype = o->in_dtype;
    row.n_in_dtype = o->n_in_dtype;
    row.time_s = mge_report_seconds(o->time[OC_MGE_DEVICE][OC_MGE_END]);
    row.kern_time_s = mge_report_seconds(o->time[OC_MGE_DEVICE][OC_MGE_KERN]);
    row.host_time_s = mge_report_seconds(o->time[OC_MGE_HOST][OC_MGE_END]);
    row.host_kern_time_s = mge_report_seconds(o->time[OC_MGE_HOST][OC_MGE_KERN]);
    row.rates = OC_RATES_NATIVE;
    row.computation = o->computation;
    row.memory = o->memory;
    row.in_state = state_of(&o->in);
    row.in = mge_report_shapes_of(a, &o->in);
    row.n_in = o->in.n;
    row.out_state = state_of(&o->out);
    row.out = mge_report_shapes_of(a, &o->out);
    row.n_out = o->out.n;
    return row;
}

/* The operators of the dump as rows, in file order. The rows' texts are allocated in `a`. */
static void mge_rows(const struct oc_mge *m, struct oc_arena *a, struct oc_rows *out)
{
    static const char *const keys[] = {"name", "type", "id"};
    *out = (struct oc_rows){
        .arena = a, .row = OC_NEW_ARRAY(a, m->n, struct oc_row), .n = m->n, .info_key = keys};
    for (uint32_t i = 0; i < m->n; i++)
        out->row[i] = mge_report_row_of(a, &m->opr[i]);
}

/* ---- report: summary -------------------------------------------------------------------------------- */

/* Over all operators, independent of the selection. */
static struct total mge_report_total_of(const struct oc_mge *m, enum oc_mge_side side)
{
    double *v = oc_xmalloc(((size_t)m->n + 1) * sizeof(*v));
    struct total t = {.integer = true};
    size_t n = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        const struct oc_mge_time *time = &m->opr[i].time[side][OC_MGE_END];
        if (!time->known)
            continue;
        v[n++] = time->s;
        t.integer = t.integer && time->integer;
    }
    t.known = n > 0;
    t.s = oc_np_sum(v, n);
    free(v);
    return t;
}

static void add_total(struct report *r, struct oc_grid *g, const char *title, enum oc_mge_side side)
{
    char buf[OC_PY_NUM];
    const struct total *t = &r->total[side];
    struct oc_cell cell[2] = {{.text = title}, {.text = "N/A"}};
    if (t->known)
        cell[1] = (struct oc_cell){
            .kind = OC_GRID_FLOAT,
            .number = t->s,
            .text = oc_strdup(&r->arena, t->integer ? oc_py_fixed(t->s, 0, buf) : oc_py_repr(t->s, buf))};
    oc_grid_row(g, cell);
}

/* Over the selected Copy operators; `kern`: only the wait time. */
static int add_copy_time(struct report *r, struct oc_grid *g, const char *title, bool kern,
                         struct oc_err *err)
{
    struct oc_rows rows = {.arena = &r->arena};
    if (oc_select_filter(&r->select, &r->all, &rows, err) != 0)
        return -1;
    double *v = OC_NEW_ARRAY(&r->arena, rows.n, double);
    size_t n = 0;
    for (uint32_t i = 0; i < rows.n; i++) {
        double t = kern ? rows.row[i].kern_time_s : rows.row[i].time_s;
        if (strcmp(rows.row[i].type, "Copy") == 0 && oc_num_known(t))
            v[n++] = t;
    }
    char tot[OC_PY_NUM], avg[OC_PY_NUM];
    struct oc_cell cell[2] = {{.text = title}, {.text = "N/A"}};
    if (n)
        cell[1].text = oc_printf(&r->arena, "tot=%s avg=%s", oc_py_fixed(oc_np_sum(v, n), 4, tot),
                                 oc_py_fixed(oc_np_mean(v, n), 4, avg));
    oc_grid_row(g, cell);
    return 0;
}

static int put_summary(struct report *r, struct oc_err *err)
{
    static const char *const header[] = {"name", "value"};
    struct oc_grid g;
    oc_grid_init(&g, &r->arena, 2, r->o->confluence ? header : NULL);
    add_total(r, &g, "total device time", OC_MGE_DEVICE);
    add_total(r, &g, "total host time", OC_MGE_HOST);
    int rc = 0;
    if (r->o->copy_time && (add_copy_time(r, &g, "copy time", false, err) != 0 ||
                            add_copy_time(r, &g, "copy wait time", true, err) != 0))
        rc = -1;
    oc_grid_print(&g, r->o->confluence ? OC_GRID_ORG : OC_GRID_SIMPLE, &r->out);
    return rc;
}

/* ---- report: details -------------------------------------------------------------------------------- */

static int put_details(struct report *r, enum oc_mge_side side, struct oc_err *err)
{
    struct oc_rows rows = {.arena = &r->arena};
    enum oc_time_of time = side == OC_MGE_HOST ? OC_TIME_HOST : OC_TIME_DEVICE;
    if (oc_select_rows(&r->select, &r->all, time, &rows, err) != 0)
        return -1;
    struct oc_details d = {.time_title = side == OC_MGE_HOST ? "host self time" : "device self time",
                           .total_s = r->total[side].s};
    if (r->o->dump_only_opr)
        oc_details_names(&rows, &r->out);
    else if (r->o->confluence)
        oc_details_wiki(&rows, &d, &r->out);
    else
        oc_details_grid(&rows, &d, &r->out);
    return 0;
}

static int put_all(struct report *r, struct oc_err *err)
{
    /* Without the member the original fails; this report prints the host table of the file. */
    enum oc_mge_side first = r->m->has_device ? OC_MGE_DEVICE : OC_MGE_HOST;
    if (put_summary(r, err) != 0)
        return -1;
    oc_buf_char(&r->out, '\n');
    if (put_details(r, first, err) != 0)
        return -1;
    if (!r->o->show_host || first == OC_MGE_HOST)
        return 0;
    oc_buf_char(&r->out, '\n');
    return put_details(r, OC_MGE_HOST, err);
}

static int put_chosen(struct report *r, struct oc_err *err)
{
    const char *only = r->o->print_only;
    if (!only)
        return put_all(r, err);
    if (strcmp(only, "summary") == 0)
        return put_summary(r, err);
    if (strcmp(only, "device") == 0)
        return put_details(r, OC_MGE_DEVICE, err);
    if (strcmp(only, "host") == 0)
        return put_details(r, OC_MGE_HOST, err);
    return oc_fail(err, OC_EARG, "invalid value '%.80s' for --print-only: choose from summary, device, host",
                   only);
}

static int flush(const struct report *r, FILE *f, struct oc_err *err)
{
    if (r->out.overflowed)
        return oc_fail(err, OC_ELIMIT, "the table is larger than %zu MiB", MAX_OUTPUT_BYTES >> 20);
    if (r->out.n && fwrite(r->out.data, 1, r->out.n, f) != r->out.n)
        return oc_fail(err, OC_EOUTPUT, "cannot write the report: %s", strerror(errno));
    return 0;
}

int oc_mge_report(const struct oc_mge *m, const struct oc_report_opts *o, FILE *f, struct oc_err *err)
{
    struct report r = {.m = m, .o = o, .out = {.max = MAX_OUTPUT_BYTES}};
    int rc = oc_select_init(&r.select, o, NULL, DEFAULT_TOP, "time", err);
    r.select.megengine = true;
    if (rc == 0) {
        mge_rows(m, &r.arena, &r.all);
        for (unsigned side = 0; side < OC_MGE_SIDES; side++)
            r.total[side] = mge_report_total_of(m, side);
        rc = put_chosen(&r, err);
    }
    if (rc == 0)
        rc = flush(&r, f, err);
    oc_arena_free(&r.arena);
    oc_buf_free(&r.out);
    return rc;
}
