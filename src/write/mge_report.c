#include "write/report_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/diag.h"
#include "onnxcost/report.h"
#include "report/pyfmt.h"
#include "report/select.h"
#include "write/tables/grid.h"

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

/* ---- rows ------------------------------------------------------------------------------------------- */

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

/* ---- summary ---------------------------------------------------------------------------------------- */

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
            .kind = OC_CELL_FLOAT,
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

/* ---- details ---------------------------------------------------------------------------------------- */

static int put_details(struct report *r, enum oc_mge_side side, struct oc_err *err)
{
    struct oc_rows rows = {.arena = &r->arena};
    enum oc_time_of time = side == OC_MGE_HOST ? OC_TIME_HOST : OC_TIME_DEVICE;
    if (oc_select_rows(&r->select, &r->all, time, &rows, err) != 0)
        return -1;
    struct oc_details d = {.time_title = side == OC_MGE_HOST ? "host self time" : "device self time",
                           .total_s = r->total[side].s,
                           .ascii = r->o->style && !strcmp(r->o->style, "ascii")};
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
    if (rc == 0) {
        mge_rows(m, &r.arena, &r.all);
        for (unsigned side = 0; side < OC_MGE_SIDES; side++)
            r.total[side] = mge_report_total_of(m, side);
        rc = put_chosen(&r, err);
    }
    if (rc == 0)
        rc = flush(&r, f, err);
    oc_select_free(&r.select);
    oc_arena_free(&r.arena);
    oc_buf_free(&r.out);
    return rc;
}
