/* annotate/: Copies a model with metadata added, every other byte as it is, which tests compare (annotate.c), and
 * writes one row of a report as a model (extract.c). No protobuf library: fields that are not known here must be
 * kept too.
 * Private to the folder: annotate.h. */

/* Copies the file, and writes the results of a report into the copy: metadata_props of its nodes and of the
 * model itself. */
#include "annotate/annotate.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/analysis.h"
#include "base/c_locale.h"
#include "base/ck.h"
#include "base/diag.h"
#include "base/str.h"
#include "base/unicode.h"
#include "base/units.h"
#include "base/wire.h"
#include "hw/hwdb.h"
#include "join/join.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "report/report.h"

/* ---- copy of the file ---------------------------------------------------------------------------- */

enum { MODEL_PROPS = 14, NODE_PROPS = 9, MAX_DEPTH = 1000 };
#define MAX_MESSAGE ((uint64_t)INT32_MAX)

enum kind { NONE, MODEL, GRAPH, NODE, ATTRIBUTE, FUNCTION, KINDS };

/* Fields whose messages are rewritten, by the kind of the enclosing message; the field of its metadata_props,
 * 0: copied unchanged. */
static const struct {
    struct {
        uint32_t field;
        enum kind kind;
    } child[2];
    uint32_t props;
} layout[KINDS] = {
    [MODEL] = {{{7, GRAPH}, {25, FUNCTION}}, MODEL_PROPS},
    [GRAPH] = {{{1, NODE}}, 0},
    [NODE] = {{{5, ATTRIBUTE}}, NODE_PROPS},
    [ATTRIBUTE] = {{{6, GRAPH}, {11, GRAPH}}, 0},
    [FUNCTION] = {{{7, NODE}}, 0},
};

/* Two identical walks: the first computes `size`, the second writes. */
struct walk {
    const struct oc_file *file;
    const struct oc_rewrite *how;
    struct oc_buf entries;
    uint64_t *size; /* sizes of the messages in order of their start; heap */
    size_t n, cap;
    size_t next; /* position in the second walk */
    FILE *f;     /* NULL: the first walk */
    bool cut;    /* the file was truncated after it was mapped */
    struct oc_err *err;
};

/* ---- protobuf --------------------------------------------------------------------------------------- */

static void entry(struct oc_buf *out, uint32_t field, const char *key, const char *value)
{
    struct oc_buf b = {0};
    oc_wire_add_text(&b, 1, key);
    oc_wire_add_text(&b, 2, value);
    oc_wire_add_bytes(out, field, b.data, b.n);
    oc_buf_free(&b);
}

void oc_rewrite_model_entry(struct oc_buf *out, const char *key, const char *value)
{
    entry(out, MODEL_PROPS, key, value);
}

void oc_rewrite_node_entry(struct oc_buf *out, const char *key, const char *value)
{
    entry(out, NODE_PROPS, key, value);
}

/* Whether a StringStringEntryProto has a key with the prefix. */
static bool is_ours(const struct walk *w, const struct oc_wire_field *props)
{
    struct oc_wire in = oc_wire_of(props->data, props->n);
    struct oc_wire_field f;
    size_t n = strlen(w->how->prefix);
    while (oc_wire_next(&in, &f))
        if (f.num == 1 && f.type == OC_WIRE_LEN)
            return f.n >= n && memcmp(f.data, w->how->prefix, n) == 0;
    return false;
}

/* ---- bytes ------------------------------------------------------------------------------------------ */

/* Releases pages that were written. */
bool oc_copy_mapped(const struct oc_file *file, const uint8_t *from, size_t n, FILE *f)
{
    enum { PIECE = 8 << 20, LARGE = 1 << 20 };
    bool cut = false;
    while (n && !cut) {
        size_t piece = n < PIECE ? n : PIECE;
        oc_os_need(from, piece);
        cut = fwrite(from, 1, piece, f) < piece && errno == EFAULT; /* straight from the mapping */
        if (file && piece >= LARGE)
            oc_file_forget(file, (uint64_t)(from - file->data), piece);
        from += piece;
        n -= piece;
    }
    return !cut;
}

int oc_fail_cut(struct oc_err *err)
{
    return oc_fail(err, OC_EIO, "the model file was truncated while it was copied");
}

static uint64_t copy_bytes(struct walk *w, const uint8_t *from, const uint8_t *end)
{
    w->cut = w->cut || (w->f && !oc_copy_mapped(w->file, from, (size_t)(end - from), w->f));
    return (uint64_t)(end - from);
}

static uint64_t add_entries(struct walk *w, enum kind kind, const uint8_t *data)
{
    oc_buf_clear(&w->entries);
    if (kind == MODEL)
        w->how->model(w->how->ctx, &w->entries);
    else if (kind == NODE)
        w->how->node(w->how->ctx, (uint64_t)(data - w->file->data), &w->entries);
    if (w->f && w->entries.n)
        fwrite(w->entries.data, 1, w->entries.n, w->f);
    return w->entries.n;
}

/* ---- messages --------------------------------------------------------------------------------------- */

static int report_damage(const struct walk *w, const uint8_t *at, const char *why)
{
    return oc_fail(w->err, OC_EFORMAT, "%s (offset %" PRIu64 ")", why, (uint64_t)(at - w->file->data));
}

static enum kind child_of(enum kind kind, const struct oc_wire_field *f)
{
    for (size_t i = 0; i < 2 && f->type == OC_WIRE_LEN; i++)
        if (layout[kind].child[i].field == f->num)
            return layout[kind].child[i].kind;
    return NONE;
}

static int message(struct walk *w, enum kind kind, const uint8_t *data, size_t n, unsigned depth,
                   uint64_t *size);

static int child(struct walk *w, enum kind kind, const struct oc_wire_field *f, unsigned depth,
                 uint64_t *size)
{
    uint8_t head[20];
    uint64_t inner;
    if (w->f && w->next >= w->n) /* differs from the first walk */
        return report_damage(w, f->data, "the model file changed while it was copied");
    if (w->f) {
        size_t n = oc_wire_put_head(head, f->num, w->size[w->next]);
        fwrite(head, 1, n, w->f);
    }
    if (message(w, kind, f->data, f->n, depth + 1, &inner) != 0)
        return -1;
    *size = oc_wire_put_head(head, f->num, inner) + inner;
    return 0;
}

/* Index of the size of the message that begins here. */
static size_t place_of_size(struct walk *w)
{
    if (w->f)
        return w->next++;
    if (w->n == w->cap) {
        w->cap = w->cap ? w->cap * 2 : 1024;
        w->size = oc_xrealloc(w->size, w->cap * sizeof(*w->size));
    }
    return w->n++;
}

static int message(struct walk *w, enum kind kind, const uint8_t *data, size_t n, unsigned depth,
                   uint64_t *size)
{
    size_t place = place_of_size(w);
    struct oc_wire in = oc_wire_of(data, n);
    struct oc_wire_field f;
    const uint8_t *kept = data; /* start of the bytes not yet copied */
    *size = 0;
    if (depth > MAX_DEPTH)
        return report_damage(w, data, "nested too deeply");
    for (const uint8_t *at = in.p; oc_wire_next(&in, &f); at = in.p) {
        enum kind inner = child_of(kind, &f);
        bool dropped = layout[kind].props == f.num && f.type == OC_WIRE_LEN && is_ours(w, &f);
        uint64_t more = 0;
        if (inner == NONE && !dropped)
            continue;
        *size += copy_bytes(w, kept, at);
        if (inner != NONE && child(w, inner, &f, depth, &more) != 0)
            return -1;
        *size += more;
        kept = in.p;
    }
    if (in.bad)
        return report_damage(w, in.bad, in.why);
    if (n)
        *size += copy_bytes(w, kept, data + n);
    *size += add_entries(w, kind, data);
    if (!w->f)
        w->size[place] = *size;
    return 0;
}

int oc_rewrite_model(const struct oc_file *file, const struct oc_rewrite *how, FILE *f, struct oc_err *err)
{
    struct walk w = {.file = file, .how = how, .err = err};
    uint64_t size;
    int rc = message(&w, MODEL, file->data, file->size_bytes, 0, &size);
    if (rc == 0 && size > MAX_MESSAGE)
        rc = oc_fail(err, OC_ELIMIT,
                     "the annotated file would have %" PRIu64 " bytes, more than protobuf reads (%" PRIu64
                     "): keep the weights in a file of their own",
                     size, MAX_MESSAGE);
    w.f = f;
    if (rc == 0)
        rc = message(&w, MODEL, file->data, file->size_bytes, 0, &size);
    if (rc == 0 && w.cut)
        rc = oc_fail_cut(err);
    free(w.size);
    oc_buf_free(&w.entries);
    return rc;
}

/* ---- annotations --------------------------------------------------------------------------------- */

#define PREFIX "onnxcost."

struct at { /* a node and the offset of its message in the file; functions called several times have several
               nodes per message */
    uint64_t where;
    uint32_t node;
};

struct annotating {
    struct oc_report r;
    struct at *at; /* by offset, then by node */
    uint32_t n_at;
    const struct oc_row **row; /* by node: the row with its time, NULL */
    struct oc_arena scratch;   /* of one message */
};

/* ---- annotations: entries ------------------------------------------------------------------------ */

typedef void put_entry(struct oc_buf *out, const char *key, const char *value);

struct entries {
    struct annotating *a;
    struct oc_buf *out;
    put_entry *put;
};

/* Protobuf strings are UTF-8; names in profiles may be any bytes. */
static void annotate_text(const struct entries *e, const char *key, const char *value)
{
    char *copy = oc_strdup(&e->a->scratch, value);
    const char *end = copy + strlen(copy);
    for (const char *p = copy; p < end;) {
        char *from = copy + (p - copy);
        if (oc_utf8_next(&p, end) >= OC_BAD_BYTE)
            *from = '?';
    }
    e->put(e->out, oc_printf(&e->a->scratch, PREFIX "%s", key), copy);
}

static void annotate_count(const struct entries *e, const char *key, uint64_t v)
{
    annotate_text(e, key, oc_printf(&e->a->scratch, "%" PRIu64, v));
}

static void annotate_number(const struct entries *e, const char *key, double v)
{
    char buf[40];
    if (!isfinite(v))
        return;
    oc_format_repr(v, buf, sizeof(buf));
    annotate_text(e, key,
                  v == floor(v) && fabs(v) < 9e15 ? oc_printf(&e->a->scratch, "%" PRId64, (int64_t)v) : buf);
}

static void quality(const struct entries *e, unsigned q)
{
    annotate_text(e, "quality", oc_quality_name(q));
}

/* ---- annotations: nodes -------------------------------------------------------------------------- */

/* All calls of a function together. */
static bool annotate_add_cost(struct oc_node_cost *sum, const struct oc_node_cost *k)
{
    sum->quality = oc_worse_quality(sum->quality, k->quality);
    return oc_add_u64(sum->macs, k->macs, &sum->macs) && oc_add_u64(sum->flops, k->flops, &sum->flops) &&
           oc_add_u64(sum->ops, k->ops, &sum->ops) && oc_add_u64(sum->params, k->params, &sum->params) &&
           oc_add_u64(sum->rd_act, k->rd_act, &sum->rd_act) &&
           oc_add_u64(sum->rd_wt, k->rd_wt, &sum->rd_wt) && oc_add_u64(sum->wr, k->wr, &sum->wr) &&
           oc_add_u64(sum->trips, k->trips, &sum->trips);
}

static void costs(const struct entries *e, const struct at *at, uint32_t n)
{
    static const char *const state[] = {
        [OC_NODE_FOLDED] = "folded",          [OC_NODE_ABSORBED] = "absorbed",
        [OC_NODE_NOT_TAKEN] = "not executed", [OC_NODE_UNKNOWN_OP] = "no rule",
        [OC_NODE_NO_SHAPE] = "no shape",      [OC_NODE_CONTAINER] = "its body"};
    const struct oc_analysis *a = e->a->r.in->analysis;
    struct oc_node_cost sum = {.quality = OC_EXACT};
    bool fits = true;
    for (uint32_t i = 0; i < n; i++)
        fits = annotate_add_cost(&sum, &a->cost[at[i].node]) && fits;
    const struct oc_node_cost *first = &a->cost[at[0].node];
    quality(e, fits ? sum.quality : OC_UNKNOWN);
    if (first->state != OC_NODE_NORMAL && first->state < OC_COUNT(state))
        annotate_text(e, "state", state[first->state]); /* reason why it has no cost, or what is unknown */
    if (!fits || sum.quality == OC_UNKNOWN || first->state == OC_NODE_CONTAINER)
        return;
    annotate_count(e, "macs", sum.macs);
    annotate_count(e, "flops", sum.flops);
    annotate_count(e, "ops", sum.ops);
    annotate_count(e, "params", sum.params);
    annotate_count(e, "bytes_read_act", sum.rd_act);
    annotate_count(e, "bytes_read_weight", sum.rd_wt);
    annotate_count(e, "bytes_written", sum.wr);
    if (sum.trips > 1)
        annotate_count(e, "executions", sum.trips);
}

/* Time and limits of one run. A row of fused nodes has one time for all of them; each entry gets that time.
 */
static void annotate_times(const struct entries *e, uint32_t node)
{
    const struct oc_report *r = &e->a->r;
    const struct oc_row *row = e->a->row[node];
    if (!row)
        return;
    const struct oc_join *j = r->in->join;
    uint32_t n = j && row->record != OC_NONE ? j->rec[row->record].n_node : 1;
    const char *group = n > 1 ? "group_" : "";
    if (n > 1) {
        annotate_text(e, "group", row->name);
        annotate_count(e, "group_nodes", n);
    }
    struct oc_arena *s = &e->a->scratch;
    annotate_number(e, oc_printf(s, "%stime_ns", group), oc_ns_of(row->time_s));
    annotate_number(e, oc_printf(s, "%sroofline_ns", group), oc_ns_of(row->roofline_s));
    annotate_number(e, oc_printf(s, "%sroofline_efficiency", group), row->efficiency);
    if (row->bound_by)
        annotate_text(e, oc_printf(s, "%sbound_by", group), row->bound_by);
}

static int by_where(const void *pa, const void *pb)
{
    const struct at *a = pa, *b = pb;
    if (a->where != b->where)
        return a->where < b->where ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

static void node_entries(void *ctx, uint64_t where, struct oc_buf *out)
{
    struct annotating *a = ctx;
    const struct entries e = {a, out, oc_rewrite_node_entry};
    uint32_t lo = 0, hi = a->n_at, n = 0;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (a->at[mid].where < where)
            lo = mid + 1;
        else
            hi = mid;
    }
    while (lo + n < a->n_at && a->at[lo + n].where == where)
        n++;
    if (!n)
        return;
    costs(&e, a->at + lo, n);
    if (n == 1)
        annotate_times(&e, a->at[lo].node);
    oc_arena_free(&a->scratch);
}

/* ---- annotations: the model ---------------------------------------------------------------------- */

static void annotate_assumptions(const struct entries *e)
{
    const struct oc_analysis *a = e->a->r.in->analysis;
    struct oc_buf b = {0};
    for (uint32_t i = 0; i < a->n_assumption; i++)
        oc_buf_printf(&b, "%s%s %s = %s", i ? "; " : "", a->assumption[i].what, a->assumption[i].name,
                      a->assumption[i].value);
    if (b.n)
        annotate_text(e, "assumed", b.data);
    oc_buf_free(&b);
}

static double annotate_rooflines(const struct oc_report *r)
{
    double s = 0;
    for (uint32_t i = 0; i < r->all.n; i++)
        s += isnan(r->all.row[i].roofline_s) ? 0 : r->all.row[i].roofline_s;
    return oc_ns_of(s);
}

static void annotate_sum(const struct entries *e, const char *name, const struct oc_totals *t, uint64_t sum,
                         bool exact)
{
    if (oc_sum_known(t, sum, exact))
        annotate_count(e, name, sum);
}

static void model_entries(void *ctx, struct oc_buf *out)
{
    struct annotating *a = ctx;
    const struct entries e = {a, out, oc_rewrite_model_entry};
    const struct oc_report_in *in = a->r.in;
    const struct oc_totals *t = in->analysis->total;
    const struct oc_peak *peak = &in->analysis->peak;
    annotate_text(&e, "version", ONNXCOST_VERSION);
    quality(&e, t->quality);
    annotate_count(&e, "nodes", t->nodes);
    annotate_count(&e, "unknown_nodes", t->unknown_nodes);
    annotate_sum(&e, "macs", t, t->macs, t->macs_exact);
    annotate_sum(&e, "flops", t, t->flops, t->work_exact);
    annotate_sum(&e, "ops", t, t->ops, t->work_exact);
    annotate_count(&e, "params", t->params);
    annotate_count(&e, "const_bytes", t->const_bytes);
    annotate_sum(&e, "bytes_read_act", t, t->bytes_read_act, false);
    annotate_sum(&e, "bytes_read_weight", t, t->bytes_read_weight, false);
    annotate_sum(&e, "bytes_written", t, t->bytes_written, false);
    if (peak->quality != OC_UNKNOWN && peak->node != OC_NONE)
        annotate_count(&e, "peak_activation_bytes", peak->bytes);
    annotate_assumptions(&e);
    if (in->profile) {
        annotate_text(&e, "profile", oc_base_name(in->profile->path));
        annotate_text(&e, "statistic", oc_stat_name(in->profile->stat));
        annotate_number(&e, "time_ns", a->r.m.total_ns);
    }
    if (in->device) {
        annotate_text(&e, "hardware", oc_device_info(in->device)->name);
        annotate_number(&e, "roofline_ns", annotate_rooflines(&a->r));
    }
    oc_arena_free(&a->scratch);
}

/* ---- output path ------------------------------------------------------------------------------------ */

static bool annotate_same_file(const char *a, const char *b)
{
    struct stat sa, sb;
    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* "dir/" of a path, "./" without one. */
static const char *folder(struct oc_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? oc_strndup(arena, path, (size_t)(slash - path) + 1) : "./";
}

int oc_check_external_place(const struct oc_model *m, const struct oc_tensor *t, const char *out,
                            struct oc_arena *arena, struct oc_err *err)
{
    if (!t || !t->external_path)
        return 0;
    const char *here = folder(arena, m->path), *there = folder(arena, out);
    if (annotate_same_file(oc_printf(arena, "%s%s", here, t->external_path), out))
        return oc_fail(err, OC_EARG, "cannot write '%s': this file contains the weights of the model", out);
    if (annotate_same_file(here, there))
        return 0;
    return oc_fail(
        err, OC_EARG,
        "cannot write '%s': the weights in '%s' must be next to the model; write the model into '%s'", out,
        t->external_path, here);
}

static int annotate_check_place(struct annotating *a, const char *out, struct oc_err *err)
{
    const struct oc_model *m = a->r.in->model;
    const struct oc_tensor *t;
    int rc = 0;
    if (annotate_same_file(m->path, out))
        return oc_fail(err, OC_EARG, "cannot write '%s': it is the input model", out);
    for (uint32_t i = 0; i < m->n_value && !rc; i++)
        rc = oc_check_external_place(m, m->value[i].constant, out, &a->r.arena, err);
    for (uint32_t i = 0; i < m->n_node && !rc; i++)
        for (uint32_t k = 0; k < m->node[i].n_attr && !rc; k++)
            for (uint32_t x = 0; !rc && (t = oc_attr_tensor_at(&m->node[i].attr[k], x)); x++)
                rc = oc_check_external_place(m, t, out, &a->r.arena, err);
    return rc;
}

/* ---- public functions ------------------------------------------------------------------------------- */

static void index_nodes(struct annotating *a)
{
    const struct oc_model *m = a->r.in->model;
    a->at = OC_NEW_ARRAY(&a->r.arena, (size_t)m->n_node + 1, struct at);
    for (uint32_t i = 0; i < m->n_node; i++)
        if (m->node[i].where)
            a->at[a->n_at++] = (struct at){m->node[i].where, i};
    if (a->n_at)
        qsort(a->at, a->n_at, sizeof(*a->at), by_where);
}

static void annotate_index_rows(struct annotating *a)
{
    const struct oc_join *j = a->r.in->join;
    a->row = OC_NEW_ARRAY(&a->r.arena, (size_t)a->r.in->model->n_node + 1, const struct oc_row *);
    for (uint32_t i = 0; i < a->r.all.n; i++) {
        const struct oc_row *row = &a->r.all.row[i];
        const struct oc_join_rec *rec = j && row->record != OC_NONE ? &j->rec[row->record] : NULL;
        if (!rec && row->node != OC_NONE)
            a->row[row->node] = row;
        for (uint32_t k = 0; rec && k < rec->n_node; k++)
            if (j->node_rec[rec->node[k]] == row->record)
                a->row[rec->node[k]] = row;
    }
}

int oc_annotate_write(const struct oc_report_in *in, const struct oc_report_opts *given, const char *path,
                      FILE *f, struct oc_err *err)
{
    struct oc_report_opts full, *const opts = &full;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    if (!in->model || !in->analysis)
        return oc_fail(err, OC_EARG, "--annotate needs a model");
    if (in->model->file.remote)
        return oc_fail(err, OC_EARG,
                       "--annotate copies the whole file, which is not fetched: download it first");
    struct annotating a = {.r = {.in = in, .o = opts}};
    int rc = path ? annotate_check_place(&a, path, err) : 0;
    if (rc == 0) {
        oc_report_rows(&a.r);
        oc_report_roofs(&a.r);
        index_nodes(&a);
        annotate_index_rows(&a);
        const struct oc_rewrite how = {PREFIX, model_entries, node_entries, &a};
        rc = oc_rewrite_model(&in->model->file, &how, f, err);
        if (rc && path)
            oc_err_prefix(err, "cannot write '%s'", path);
    }
    oc_arena_free(&a.scratch);
    oc_arena_free(&a.r.arena);
    return rc;
}
