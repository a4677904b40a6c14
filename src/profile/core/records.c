/* Records under construction. */
#include "profile/core/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/units.h"
#include "onnxcost/profile.h"
#include "profile/core/kernel_names.h"
#include "profile/core/places.h"
#include "profile/core/timeline.h"
#include "profile/csv_rows.h"

struct oc_prof_rec *oc_rec_add(struct oc_rec_list *l)
{
    struct oc_prof_rec *rec = &OC_PUSH(l->rec, l->n, l->cap);
    *rec = oc_prof_rec_new("");
    return rec;
}

struct oc_prof_rec *oc_rec_add_named(struct oc_rec_list *l, const char *bucket, const char *name)
{
    struct oc_prof_rec *rec = oc_rec_add(l);
    rec->bucket = bucket;
    rec->name = name;
    return rec;
}

void oc_rec_time(struct oc_prof_rec *rec, double ns)
{
    rec->time_ns = rec->self_ns = rec->min_ns = rec->max_ns = rec->median_ns = ns;
}

static int by_start(const void *a, const void *b)
{
    const struct oc_first_call *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

static int by_run_and_start(const void *a, const void *b)
{
    const struct oc_first_call *x = a, *y = b;
    return x->run != y->run ? (x->run < y->run ? -1 : 1) : by_start(a, b);
}

void oc_sort_first_calls(struct oc_first_call *c, size_t n, bool by_run)
{
    if (n)
        qsort(c, n, sizeof(*c), by_run ? by_run_and_start : by_start);
}

void oc_rec_list_end(struct oc_rec_list *l, struct oc_profile *p)
{
    p->rec = OC_COPY_ARRAY(&p->arena, l->rec, l->n);
    p->n_rec = (uint32_t)l->n;
    free(l->rec);
    *l = (struct oc_rec_list){0};
}

double oc_prof_divide(struct oc_profile *p, uint64_t runs, enum oc_stat wanted)
{
    bool sum = !runs || wanted == OC_STAT_SUM;
    p->runs_total = runs < UINT32_MAX ? (uint32_t)runs : UINT32_MAX;
    p->runs_used = runs ? p->runs_total : 1;
    p->runs_from = runs ? OC_RUNS_MARKED : OC_RUNS_UNKNOWN;
    p->stat = sum ? OC_STAT_SUM : OC_STAT_MEAN;
    return sum ? 1 : (double)runs;
}

const char *oc_prof_text(struct oc_profile *p, struct oc_str s)
{
    return oc_intern(&p->names, s.n ? s.s : "", s.n);
}

void oc_prof_cut(struct oc_profile *p, const struct oc_csv *c)
{
    p->truncated = true;
    oc_diag_add(&p->diags, OC_WARNING, "W-truncated", "",
                "the file is truncated in line %u (offset %llu): the lines before it are used",
                oc_csv_line_number(c), (unsigned long long)oc_csv_offset(c));
}

void oc_prof_cut_json(struct oc_profile *p, const struct oc_json *j)
{
    uint64_t offset = oc_json_offset(j);
    const char *why = oc_json_error(j, &offset);
    if (!why && !oc_json_truncated(j))
        return;
    p->truncated = true;
    oc_diag_add(&p->diags, OC_WARNING, "W-truncated", "",
                "the file is truncated or damaged: %s (offset %llu)", why ? why : "it ends early",
                (unsigned long long)offset);
}

uint32_t oc_prof_lane(struct oc_profile *p, struct oc_lane lane)
{
    struct oc_lane *all = OC_NEW_ARRAY(&p->arena, (size_t)p->n_lane + 1, struct oc_lane);
    if (p->n_lane)
        memcpy(all, p->lane, p->n_lane * sizeof(*all));
    all[p->n_lane] = lane;
    p->lane = all;
    return p->n_lane++;
}

/* ---- columns of tables ------------------------------------------------------------------------------ */

unsigned oc_columns_find(struct oc_columns *t, const struct oc_str *field, size_t n_field, double unit_ns)
{
    unsigned bad = t->n;
    for (unsigned k = 0; k < t->n; k++) {
        struct oc_str unit;
        t->at[k] = t->title[k] ? oc_csv_column(field, n_field, t->title[k]) : OC_CSV_NONE;
        t->unit_ns[k] = unit_ns;
        if (t->at[k] == OC_CSV_NONE || k < t->first_time || k > t->last_time)
            continue;
        (void)oc_csv_split_unit(field[t->at[k]], &unit);
        if (!oc_csv_time_unit(unit, &t->unit_ns[k]) && (unit.n || !(unit_ns > 0)) && bad == t->n)
            bad = k;
    }
    return bad;
}

int oc_columns_time(const struct oc_columns *t, const struct oc_str *field, size_t n_field, unsigned k,
                    double *ns, struct oc_err *err)
{
    *ns = NAN;
    return t->at[k] == OC_CSV_NONE
               ? 0
               : oc_csv_cell_time(t->c, t->title[k], oc_columns_cell(t, field, n_field, k), t->unit_ns[k], ns,
                                  err);
}

/* ---- rows of operators ------------------------------------------------------------------------------ */

void oc_op_rows_init(struct oc_op_rows *t, struct oc_profile *p, const struct oc_profile_opts *opts)
{
    *t = (struct oc_op_rows){.p = p, .opts = opts, .run_ns = NAN};
    t->of.arena = &t->scratch;
    p->imported_ns = p->imported_kernel_ns = 0;
}

void oc_op_rows_free(struct oc_op_rows *t)
{
    free(t->list.rec);
    free(t->kind);
    oc_buf_free(&t->key);
    oc_map_free(&t->of);
    oc_arena_free(&t->scratch);
}

static const char *place_of_row(struct oc_op_rows *t, struct oc_str device)
{
    if (!device.n)
        return NULL;
    const char *text = oc_printf(&t->scratch, "%s%.*s", oc_is_digit(device.s[0]) ? "device " : "",
                                 (int)(device.n < 200 ? device.n : 200), device.s);
    return oc_prof_text(t->p, oc_str(text, strlen(text)));
}

static void describe_record(struct oc_op_rows *t, const struct oc_op_row *row, struct oc_prof_rec *rec)
{
    struct oc_op_row typed = *row;
    if (row->types)
        row->types(&t->p->arena, row->ctx, &typed);
    rec->name = oc_prof_text(t->p, row->name);
    rec->op_type = oc_prof_text(t->p, row->type);
    rec->provider = oc_prof_text(t->p, row->provider);
    rec->place = place_of_row(t, row->device_name);
    rec->overhead = row->overhead;
    rec->where = row->where;
    rec->in = typed.in;
    rec->out = typed.out;
    rec->n_in = typed.n_in;
    rec->n_out = typed.n_out;
    rec->has_in = typed.in != NULL;
    rec->has_out = typed.out != NULL;
    if (row->kind == OC_EV_MEMCPY || row->kind == OC_EV_MEMSET)
        rec->bucket = "copies";
    rec->min_ns = row->min_ns;
    rec->max_ns = row->max_ns;
    rec->total_ns = 0;
    rec->total_kernel_ns = row->device ? 0 : (double)NAN;
}

static uint32_t record_of(struct oc_op_rows *t, const struct oc_op_row *row)
{
    const struct oc_str part[] = {row->name, row->type, row->shapes, row->device_name};
    oc_buf_clear(&t->key);
    oc_buf_printf(&t->key, "%d%d", row->device, row->kind);
    for (size_t i = 0; i < OC_COUNT(part); i++) {
        oc_buf_char(&t->key, '\x1f');
        if (part[i].n)
            oc_buf_add(&t->key, part[i].s, part[i].n);
    }
    uint32_t id = (uint32_t)t->list.n;
    if (!oc_map_add(&t->of, t->key.data, t->key.n, &id, NULL))
        return id;
    OC_GROW(t->kind, t->list.n, t->kind_cap);
    t->kind[t->list.n] = row->kind;
    describe_record(t, row, oc_rec_add(&t->list));
    return id;
}

void oc_op_rows_add(struct oc_op_rows *t, const struct oc_op_row *row)
{
    uint32_t id = record_of(t, row); /* may move the list */
    struct oc_prof_rec *rec = &t->list.rec[id];
    rec->calls += row->calls;
    rec->min_ns = fmin(rec->min_ns, row->min_ns);
    rec->max_ns = fmax(rec->max_ns, row->max_ns);
    rec->total_ns += row->total_ns;
    if (row->has_flop) {
        rec->flop = isnan(rec->flop) ? row->flop : rec->flop + row->flop;
        rec->quality = OC_EST;
    }
    t->p->imported_ns += row->device ? 0 : row->total_ns;
    if (!row->device)
        return;
    rec->total_kernel_ns += row->total_ns;
    t->p->imported_kernel_ns += row->total_ns;
    t->device = true;
}

/* Its precision, unit and library follow from its name (oc_profile_name_kernels). */
static void name_kernel(struct oc_op_rows *t, struct oc_prof_rec *rec, double runs)
{
    struct oc_profile *p = t->p;
    size_t i = (size_t)(rec - t->list.rec);
    struct oc_kernel_facts facts;
    oc_kernel_facts(t->opts->kernel_names, rec->name, &facts);
    if (!*rec->op_type)
        rec->op_type = facts.op_class;
    struct oc_prof_kernel *k = &p->kernel[p->n_kernel++];
    *k = oc_prof_kernel_new(rec->name, t->kind[i]);
    k->rec = (uint32_t)i;
    k->time_ns = rec->total_kernel_ns / runs;
    k->min_ns = rec->min_ns;
    k->max_ns = rec->max_ns;
    k->total_ns = rec->total_kernel_ns;
    k->calls = rec->calls;
}

static void make_times(struct oc_op_rows *t, double runs)
{
    t->p->kernel = OC_NEW_ARRAY(&t->p->arena, t->list.n + 1, struct oc_prof_kernel);
    for (size_t i = 0; i < t->list.n; i++) {
        struct oc_prof_rec *rec = &t->list.rec[i];
        bool device = !isnan(rec->total_kernel_ns);
        rec->time_ns = rec->self_ns = rec->median_ns = rec->total_ns / runs;
        rec->kernel_ns = rec->total_kernel_ns / runs;
        if (device)
            rec->total_ns = NAN;
        else
            rec->host_ns = rec->time_ns;
        rec->runs = t->p->runs_used;
        rec->calls_per_run = rec->calls ? (double)rec->calls / runs : (double)NAN;
        if (t->kind[i] != OC_EV_OPERATOR)
            name_kernel(t, rec, runs);
        rec->min_ns = rec->max_ns = rec->median_ns = NAN; /* the rows have those of calls, not of runs */
    }
}

static void scale_times(struct oc_op_rows *t)
{
    double runs = (double)t->runs;
    t->p->imported_ns *= runs;
    t->p->imported_kernel_ns *= runs;
    for (size_t i = 0; i < t->list.n; i++) {
        t->list.rec[i].total_ns *= runs;
        t->list.rec[i].total_kernel_ns *= runs;
        t->list.rec[i].calls *= t->runs;
    }
}

static void make_shares(struct oc_op_rows *t)
{
    struct oc_profile *p = t->p;
    double all = 0;
    for (size_t i = 0; i < t->list.n; i++)
        all += t->list.rec[i].total_ns;
    for (size_t i = 0; i < t->list.n; i++) {
        struct oc_prof_rec *rec = &t->list.rec[i];
        rec->share = all > 0 ? rec->total_ns / all : (double)NAN;
        rec->total_ns = rec->total_kernel_ns = rec->min_ns = rec->max_ns = NAN;
        rec->runs = 1;
    }
    p->event = t->event;
    p->time_kind = oc_printf(&p->arena, "shares of %s", t->event);
    p->stat = OC_STAT_SUM;
    p->imported_ns = p->imported_kernel_ns = NAN;
    oc_rec_list_end(&t->list, p);
    oc_places_report(p);
}

void oc_op_rows_finish(struct oc_op_rows *t)
{
    struct oc_profile *p = t->p;
    if (t->event) {
        make_shares(t);
        return;
    }
    if (t->means && t->runs > 1)
        scale_times(t);
    else if (t->means)
        t->runs = 1; /* a mean run */
    double runs = oc_prof_divide(p, t->runs, t->opts->stat);
    bool both = t->device && p->imported_ns > 0;
    p->time_kind = both ? "host or device time" : t->device ? "device time" : "host time";
    p->run_ns = t->runs ? t->run_ns * (p->stat == OC_STAT_SUM ? (double)t->runs : 1) : (double)NAN;
    make_times(t, runs);
    if (!t->device)
        p->imported_kernel_ns = NAN;
    else if (!both)
        p->imported_ns = NAN;
    oc_rec_list_end(&t->list, p);
    oc_places_report(p);
}

/* ---- names of devices' tools ------------------------------------------------------------------------ */

uint8_t oc_ascend_kind(struct oc_str task)
{
    static const struct {
        const char *part;
        uint8_t kind;
    } kind[] = {
        {"wait", OC_EV_COUNT},         {"record", OC_EV_COUNT},  {"reset", OC_EV_COUNT},
        {"profiling", OC_EV_COUNT},    {"capture", OC_EV_COUNT}, {"model_execute", OC_EV_COUNT},
        {"place_holder", OC_EV_COUNT}, {"memcpy", OC_EV_MEMCPY}, {"memset", OC_EV_MEMSET},
        {"dma", OC_EV_MEMCPY},
    };
    char text[48];
    snprintf(text, sizeof(text), "%.*s", (int)(task.n < sizeof(text) ? task.n : 0), task.n ? task.s : "");
    for (size_t i = 0; i < OC_COUNT(kind); i++)
        if (strcasestr(text, kind[i].part))
            return kind[i].kind;
    return OC_EV_KERNEL;
}

uint8_t oc_cuda_kind(struct oc_str name)
{
    return oc_str_starts(name, "[CUDA memcpy")   ? OC_EV_MEMCPY
           : oc_str_starts(name, "[CUDA memset") ? OC_EV_MEMSET
                                                 : OC_EV_KERNEL;
}

/* ---- sum rows --------------------------------------------------------------------------------------- */

struct making {
    const struct oc_sum_rows *rows;
    struct oc_profile *out;
    double runs, divisor; /* divisor: of times */
    struct oc_map of;     /* texts to records */
    struct oc_arena scratch;
};

static struct oc_prof_rec *add_rec(struct oc_profile *p, const char *name)
{
    struct oc_prof_rec *rec = &p->rec[p->n_rec++];
    *rec = oc_prof_rec_new(name);
    return rec;
}

static uint32_t rec_of(struct making *m, const struct oc_sum_row *x)
{
    struct oc_profile *p = m->out;
    const char *name = x->label.name ? x->label.name : x->name ? x->name : "";
    const char *key = oc_printf(&m->scratch, "%d\x1f%s\x1f%s\x1f%lld\x1f%s", x->label.name != NULL, name,
                                x->label.name ? x->label.op_type : "", (long long)x->label.index,
                                x->variant ? x->variant : "");
    uint32_t id = p->n_rec;
    if (!oc_map_add(&m->of, key, strlen(key), &id, NULL))
        return id;
    struct oc_prof_rec *rec = add_rec(p, name);
    rec->where = x->where;
    rec->total_kernel_ns = 0;
    rec->bucket = !x->label.name && x->kind != OC_EV_KERNEL ? "copies" : NULL;
    if (x->label.name)
        oc_label_describe(&x->label, rec);
    return id;
}

static void add_kernel(struct making *m, const struct oc_sum_row *x, uint32_t rec)
{
    struct oc_prof_kernel *k = &m->out->kernel[m->out->n_kernel++];
    *k = oc_prof_kernel_new(x->name, x->kind);
    k->rec = rec;
    k->time_ns = x->total_ns / m->divisor;
    k->min_ns = x->min_ns;
    k->max_ns = x->max_ns;
    k->total_ns = x->total_ns;
    k->calls = x->calls;
}

static void finish_rec(const struct making *m, struct oc_prof_rec *r)
{
    r->time_ns = r->self_ns = r->kernel_ns = r->total_kernel_ns / m->divisor;
    r->min_ns = r->max_ns = r->median_ns = m->runs == 1 ? r->time_ns : (double)NAN;
    r->runs = m->out->runs_used;
    r->calls_per_run = (double)r->calls / m->runs;
    if (!m->rows->host)
        return;
    r->total_ns = r->total_kernel_ns;
    r->kernel_ns = r->total_kernel_ns = (double)NAN;
}

/* The counts of kernels do not show the runs: a kernel may run once or often in each layer. */
static void choose_runs(struct making *m, const struct oc_profile_opts *opts)
{
    struct oc_profile *p = m->out;
    uint64_t runs = m->rows->runs;
    m->divisor = oc_prof_divide(p, runs, opts->stat);
    m->runs = runs ? (double)runs : 1;
    if (!runs)
        oc_diag_add(
            &p->diags, OC_WARNING, "W-no-run", "",
            "the file has sums over an unknown number of runs: times are those of the whole recording");
    if (p->stat != opts->stat && runs > 1)
        oc_diag_add(&p->diags, OC_INFO, "I-mean-only", "",
                    "the file has sums over %llu runs: times are means and include the first runs",
                    (unsigned long long)runs);
    if (opts->warmup > 0)
        oc_diag_add(&p->diags, OC_WARNING, "W-warmup", "",
                    "the file has sums only: warm-up runs cannot be excluded");
}

void oc_sum_rows_finish(const struct oc_sum_rows *rows, struct oc_profile *out,
                        const struct oc_profile_opts *opts)
{
    struct making m = {.rows = rows, .out = out};
    m.of.arena = &m.scratch;
    choose_runs(&m, opts);
    out->time_kind = rows->host ? "host time" : "device time";
    out->rec = OC_NEW_ARRAY(&out->arena, rows->n + 1, struct oc_prof_rec);
    out->kernel = OC_NEW_ARRAY(&out->arena, rows->n + 1, struct oc_prof_kernel);
    double sum_ns = 0;
    for (size_t i = 0; i < rows->n; i++) {
        const struct oc_sum_row *x = &rows->row[i];
        uint32_t rec = rec_of(&m, x);
        sum_ns += x->total_ns;
        out->rec[rec].total_kernel_ns += x->total_ns;
        out->rec[rec].calls += x->calls;
        if (x->name && !rows->host)
            add_kernel(&m, x, rec);
    }
    for (uint32_t i = 0; i < out->n_rec; i++)
        finish_rec(&m, &out->rec[i]);
    if (rows->unlabelled_ns > 0) {
        struct oc_prof_rec *rec = add_rec(out, "(kernels without operator)");
        rec->bucket = "kernels without operator";
        rec->total_kernel_ns = rows->unlabelled_ns;
        rec->time_ns = rec->self_ns = rec->kernel_ns = rows->unlabelled_ns / m.divisor;
        sum_ns += rows->unlabelled_ns;
    }
    *(rows->host ? &out->imported_ns : &out->imported_kernel_ns) = sum_ns;
    oc_map_free(&m.of);
    oc_arena_free(&m.scratch);
}

/* ---- types as profilers write them ------------------------------------------------------------------ */

bool oc_recorded_shape(struct oc_arena *a, struct oc_str text, unsigned dtype, struct oc_type *out)
{
    struct oc_dim dim[OC_MAX_RANK];
    unsigned rank = 0;
    for (size_t i = 0; i < text.n;) {
        size_t from = i;
        int64_t v;
        while (i < text.n && oc_is_digit(text.s[i]))
            i++;
        if (i == from || rank == OC_MAX_RANK || !oc_parse_i64(text.s + from, i - from, &v))
            return false;
        dim[rank++] = oc_known(v);
        if (i < text.n)
            i++; /* a separator, and a blank after it */
        while (i < text.n && text.s[i] == ' ')
            i++;
    }
    *out = oc_tensor_type(dtype, oc_shape_of(a, rank, dim));
    return true;
}

unsigned oc_recorded_dtype(struct oc_str name)
{
    static const struct {
        const char *name;
        uint8_t dtype;
    } known[] = {{"f32", OC_DT_FLOAT},         {"float32", OC_DT_FLOAT},
                 {"f16", OC_DT_FLOAT16},       {"bf16", OC_DT_BFLOAT16},
                 {"f64", OC_DT_DOUBLE},        {"s8", OC_DT_INT8},
                 {"u8", OC_DT_UINT8},          {"s32", OC_DT_INT32},
                 {"DT_BF16", OC_DT_BFLOAT16},  {"f8_e4m3", OC_DT_FLOAT8E4M3FN},
                 {"f8_e5m2", OC_DT_FLOAT8E5M2}};
    static const char *const prefix[] = {"DT_", "NUMBER_TYPE_"};
    for (size_t i = 0; i < OC_COUNT(known); i++)
        if (oc_csv_same(name, known[i].name))
            return known[i].dtype;
    for (size_t i = 0; i < OC_COUNT(prefix); i++) {
        size_t n = strlen(prefix[i]);
        if (name.n > n && oc_ncasecmp(name.s, prefix[i], n) == 0)
            name = oc_str_skip(name, n);
    }
    return oc_dtype_by_name(name.s, name.n);
}

bool oc_recorded_dims(struct oc_json *j, struct oc_arena *a, struct oc_shape *out)
{
    struct oc_dim dim[OC_MAX_RANK];
    unsigned rank = 0;
    bool known = true;
    *out = oc_shape_unranked();
    if (!oc_json_enter(j))
        return false;
    while (oc_json_item(j)) {
        int64_t v;
        if (!oc_json_i64(j, &v) || v < 0 || rank == OC_MAX_RANK)
            known = false;
        else
            dim[rank++] = oc_known(v);
    }
    if (known)
        *out = oc_shape_of(a, rank, dim);
    return true;
}

const struct oc_type *oc_recorded_sizes(struct oc_arena *a, struct oc_str text, uint32_t *n)
{
    enum { MAX_TYPES = 64 };
    struct oc_type type[MAX_TYPES];
    *n = 0;
    if (!oc_str_starts(text, "["))
        return NULL;
    for (text = oc_str_skip(text, 1); oc_str_starts(text, "[");) {
        const char *close = oc_str_chr(text, ']');
        if (!close || *n == MAX_TYPES ||
            !oc_recorded_shape(a, oc_str_skip(oc_str_before(text, close), 1), OC_DT_UNDEFINED, &type[*n]))
            break;
        ++*n;
        text = oc_str_from(text, close + 1);
        while (text.n && (text.s[0] == ',' || text.s[0] == ' '))
            text = oc_str_skip(text, 1);
    }
    bool whole = oc_str_starts(text, "]");
    *n = whole ? *n : 0;
    return whole ? OC_COPY_ARRAY(a, type, *n) : NULL;
}
