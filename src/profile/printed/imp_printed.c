/* Importers of printed formats: probe and read by a description. */
#include "profile/printed/printed.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "onnxcost/profile.h"
#include "profile/core/records.h"
#include "profile/core/timeline.h"
#include "profile/printed/cells.h"
#include "profile/printed/finish.h"
#include "profile/printed/shapes.h"

/* ---- rows of a profile ------------------------------------------------------------------------------ */

static uint8_t event_kind(unsigned kind)
{
    return kind == OC_ROW_KERNEL ? OC_EV_KERNEL
           : kind == OC_ROW_COPY ? OC_EV_MEMCPY
           : kind == OC_ROW_SET  ? OC_EV_MEMSET
                                 : OC_EV_OPERATOR;
}

struct taking {
    struct oc_printed_values x;
    struct oc_op_rows rows;
    struct oc_timeline *launches;
};

/* 4 of "4", "Agent 4" and "GeForce GTX 950 (4)". */
static int64_t device_number(struct oc_str s)
{
    int64_t id;
    while (s.n && !oc_is_digit(s.s[s.n - 1]))
        s.n--;
    size_t from = s.n;
    while (from && oc_is_digit(s.s[from - 1]))
        from--;
    return from < s.n && oc_parse_i64(s.s + from, s.n - from, &id) ? id : OC_NO_ID;
}

static int add_launch(struct taking *t, const struct oc_printed_value *v, double start_ns, double dur_ns,
                      struct oc_err *err)
{
    struct oc_launch launch = {.start_ns = start_ns,
                               .dur_ns = dur_ns,
                               .name = oc_prof_text(t->x.p, oc_str(v->name, strlen(v->name))),
                               .label = OC_NONE,
                               .run = OC_NONE,
                               .kind = event_kind(v->row->kind),
                               .bytes = (double)NAN,
                               .flop = (double)NAN,
                               .where = v->row->where};
    if (!t->launches)
        t->launches = oc_timeline_new(t->x.p);
    launch.lane =
        oc_timeline_stream(t->launches, OC_NO_ID, device_number(oc_printed_text(v->row, OC_ROLE_PLACE)),
                           device_number(oc_printed_text(v->row, OC_ROLE_STREAM)));
    return oc_timeline_launch(t->launches, &launch) ? 0 : oc_csv_too_many(t->x.r->c, err);
}

static int add_row(struct taking *t, const struct oc_printed_value *v, struct oc_err *err)
{
    const struct oc_printed_row *row = v->row;
    struct oc_printed_reading *r = t->x.r;
    double ns = row->device ? v->device_ns : v->total_ns, start = oc_printed_value(r, row, OC_ROLE_START),
           rate = oc_printed_value(r, row, OC_ROLE_RATE);
    struct oc_printed_shapes shapes = {.format = r->f, .row = row};
    if (!(ns >= 0))
        return 0;
    if (row->t->trace && !isnan(start))
        return add_launch(t, v, start, ns, err);
    struct oc_op_row out = {.name = oc_str(v->name, strlen(v->name)),
                            .type = oc_printed_text(row, OC_ROLE_TYPE),
                            .provider = oc_printed_text(row, OC_ROLE_PROVIDER),
                            .device_name = oc_printed_text(row, OC_ROLE_PLACE),
                            .shapes = oc_printed_shape_key(row, r->f->shapes),
                            .kind = event_kind(row->kind),
                            .device = row->device,
                            .overhead = oc_printed_has(row, OC_ROLE_OVERHEAD)
                                            ? oc_prof_text(t->x.p, oc_printed_text(row, OC_ROLE_OVERHEAD))
                                            : NULL,
                            .total_ns = ns,
                            .min_ns = row->t->each ? ns : oc_printed_value(r, row, OC_ROLE_MIN),
                            .max_ns = row->t->each ? ns : oc_printed_value(r, row, OC_ROLE_MAX),
                            .calls = v->calls > 0 && v->calls < 1e18 ? (uint64_t)v->calls : 0,
                            .has_flop = !isnan(rate),
                            .flop = rate * ns,
                            .where = row->where,
                            .types = r->f->shapes ? oc_printed_types : NULL,
                            .ctx = &shapes};
    oc_op_rows_add(&t->rows, &out);
    return 0;
}

/* ---- what the reading says -------------------------------------------------------------------------- */

static void warn(const struct oc_printed_values *x)
{
    const struct oc_printed_reading *r = x->r;
    struct oc_profile *p = x->p;
    oc_recordings_warn(&r->recordings, "recordings", p);
    if (r->cut)
        oc_prof_cut(p, r->c);
    size_t bad = oc_printed_damaged(x);
    if (bad > r->cut)
        oc_diag_add(&p->diags, OC_WARNING, "W-row", "",
                    "%zu lines are damaged, for example by other output between them: their time is missing",
                    bad - r->cut);
    if (r->unread)
        oc_diag_add(&p->diags, OC_WARNING, "W-table", "", "another table of the text is not read: it %s",
                    r->unread);
    if (r->gap)
        oc_diag_add(&p->diags, OC_WARNING, "W-rows", "",
                    "the text leaves out rows of the table with '...': their time is missing");
}

/* "oneDNN 3.4.0" */
static void name_producer(const struct oc_printed_values *x)
{
    const struct oc_printed_format *f = x->r->f;
    const struct oc_printed_fact *version = &x->r->fact[OC_ROLE_VERSION],
                                 *device = &x->r->fact[OC_ROLE_DEVICE];
    x->p->producer = version->text && version->text[0]
                         ? oc_printf(&x->p->arena, "%s %.20s", f->producer, version->text)
                         : oc_printf(&x->p->arena, "%s", f->producer);
    x->p->device = device->text ? oc_prof_text(x->p, oc_str(device->text, strlen(device->text)))
                                : oc_printf(&x->p->arena, "%s", f->device);
}

static void set_runs(struct taking *t)
{
    struct oc_printed_values *x = &t->x;
    t->rows.runs = x->runs > 0 && x->runs < 1e9 ? (uint64_t)x->runs : 0;
    t->rows.run_ns = x->run_ns;
    t->rows.means = x->means;
    if (x->cycles)
        t->rows.event = "cycles";
}

static int make_other(struct oc_printed_values *x, struct oc_err *err)
{
    int rc = 0;
    if (x->r->f->both)
        oc_printed_both(x);
    else
        rc = oc_printed_nsys(x, err);
    rc = rc ? rc : oc_printed_check(x, err);
    if (rc == 0)
        warn(x);
    return rc;
}

static int make_profile(struct taking *t, const struct oc_profile_opts *opts, struct oc_err *err)
{
    struct oc_printed_values *x = &t->x;
    struct oc_profile *p = x->p;
    int rc = 0;
    oc_printed_evaluate(x);
    name_producer(x);
    p->training = x->r->training;
    const char *hint = x->r->no_rows ? x->r->no_rows : x->r->f->hint;
    if (!x->n && hint)
        return oc_fail(err, OC_EFORMAT, "%s", hint);
    if (x->r->f->both || x->r->f->via)
        return make_other(x, err);
    for (size_t i = 0; i < x->n && rc == 0; i++)
        rc = add_row(t, &x->v[i], err);
    if (rc == 0)
        rc = oc_printed_check(x, err);
    if (rc)
        return rc;
    warn(x);
    if (t->launches) {
        p->imported_ns = NAN;
        oc_timeline_launches_end(t->launches, opts, 0, true);
        return 0;
    }
    set_runs(t);
    oc_op_rows_finish(&t->rows);
    if (t->rows.device && !isnan(p->imported_ns))
        p->device = "";
    return 0;
}

/* JSON is not a printed table, but for arrays of rows. */
static bool is_json(const char *data, size_t n)
{
    size_t i = n && data[0] == '[';
    while (i && i < n && oc_is_space((unsigned char)data[i]))
        i++;
    return i < n && (data[i] == '{' || (i && data[i] == '['));
}

/* The rows of a text that begins as an array of objects; *out is empty for other texts. */
static struct oc_stream *rows_of_json(const struct oc_printed_format *f, struct oc_stream *s,
                                      struct oc_buf *out)
{
    const char *data;
    size_t n;
    uint64_t offset;
    if (!f->json.n || !oc_stream_fill(s, 0, &data, &n, &offset) || !is_json(data, n))
        return NULL;
    oc_printed_json_rows(s, out);
    return out->n ? oc_stream_mem(out->data, out->n) : NULL;
}

int oc_printed_read_profile(const struct oc_printed_format *f, const struct oc_source *src,
                            const struct oc_profile_opts *opts, struct oc_profile *out, struct oc_err *err)
{
    struct oc_buf rows = {0};
    struct oc_stream *json = rows_of_json(f, src->file[0].s, &rows);
    struct oc_csv *c = oc_csv_open(json ? json : src->file[0].s);
    struct oc_arena a = {0};
    struct oc_printed_reading *r = oc_xcalloc(1, sizeof(*r));
    struct taking t = {.x = {.r = r, .p = out, .opts = opts}};
    oc_op_rows_init(&t.rows, out, opts);
    int rc = oc_printed_read(r, f, c, &a, oc_csv_max_rows(c), err);
    if (rc == 0)
        rc = make_profile(&t, opts, err);
    oc_timeline_free(t.launches);
    oc_printed_values_free(&t.x);
    oc_op_rows_free(&t.rows);
    oc_printed_read_free(r);
    oc_arena_free(&a);
    oc_csv_close(c);
    oc_stream_close(json);
    oc_buf_free(&rows);
    free(r);
    return rc;
}

/* ---- probing ---------------------------------------------------------------------------------------- */

void oc_printed_probe(const struct oc_printed_format *f, const struct oc_peek *peek, struct oc_bid *bid)
{
    bool see = !f->see.n;
    for (size_t i = 0; i < f->see.n && !see; i++)
        see = oc_find(peek->data, peek->n, f->see.word[i].s, f->see.word[i].n);
    bool json = is_json(peek->data, peek->n), rows = false;
    for (size_t i = 0; i < f->json.n && json && !rows; i++)
        rows = oc_find(peek->data, peek->n, f->json.word[i].s, f->json.word[i].n);
    if (!see || (json && !rows) || !oc_is_text(peek->data, peek->n))
        return;
    struct oc_buf text = {0};
    struct oc_stream *s = oc_stream_mem(peek->data, peek->n),
                     *table = json ? rows_of_json(f, s, &text) : NULL;
    struct oc_printed_look look;
    oc_printed_look(f, table ? table : s, &look);
    if (look.score || look.hint)
        *bid = (struct oc_bid){
            .score = look.rows ? 86 : OC_BID_NO_ROWS, .fine = (unsigned)look.score, .reason = f->title};
    oc_stream_close(table);
    oc_stream_close(s);
    oc_buf_free(&text);
}

void oc_printed_bid(const char *format, const struct oc_peek *peek, int score, struct oc_bid *bid)
{
    const struct oc_printed_format *f = oc_printed_named(format);
    struct oc_printed_look look = {.header = false};
    struct oc_stream *s = oc_stream_mem(peek->data, peek->n);
    if (oc_is_text(peek->data, peek->n))
        oc_printed_look(f, s, &look);
    if (look.header)
        *bid = (struct oc_bid){.score = score, .reason = f->title};
    oc_stream_close(s);
}

/* ---- lists of importers ----------------------------------------------------------------------------- */

static struct oc_importer *importers_of(const struct oc_printed_format *f, struct oc_arena *a, size_t *n)
{
    size_t most = 0;
    for (const struct oc_printed_format *g = f; g; g = g->next)
        most++;
    struct oc_importer *list = OC_NEW_ARRAY(a, most + 1, struct oc_importer);
    for (*n = 0; f; f = f->next)
        if (!f->reader)
            list[(*n)++] = (struct oc_importer){.name = f->name,
                                                .title = f->title,
                                                .seen = f->seen,
                                                .lost = f->lost,
                                                .printed = f,
                                                .in_output = true};
    return list;
}

static struct oc_arena memory;
static const struct oc_importer *built_in;
static size_t n_built_in;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_built_in(void)
{
    built_in = importers_of(oc_printed_formats(), &memory, &n_built_in);
}

const struct oc_importer *oc_printed_importers(size_t *n)
{
    pthread_once(&once, make_built_in);
    *n = n_built_in;
    return built_in;
}

int oc_printed_importers_of(const char *path, const struct oc_importer **out, size_t *n, struct oc_err *err)
{
    static struct oc_arena of_user;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const struct oc_printed_format *f;
    if (oc_printed_load(path, &f, err) != 0)
        return -1;
    pthread_mutex_lock(&lock);
    *out = importers_of(f, &of_user, n);
    pthread_mutex_unlock(&lock);
    return 0;
}
