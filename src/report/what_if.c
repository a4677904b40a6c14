/* What-if analysis of a report's rows. */
#include "report/report.h"

#include <math.h>
#include <string.h>

#include "base/ck.h"
#include "base/units.h"
#include "estimate/bound.h"
#include "join/join.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "report/select.h"

bool oc_what_if_asked(const struct oc_report_opts *o)
{
    return o->n_what_if || o->as;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

/* Nodes of a row of the report; the list belongs to the join, or is *one. */
static const uint32_t *what_if_nodes(const struct oc_report *r, uint32_t row, uint32_t *one, uint32_t *n)
{
    const struct oc_row *x = &r->all.row[row];
    if (r->in->join && x->record != OC_NONE) {
        *n = r->in->join->rec[x->record].n_node;
        return r->in->join->rec[x->record].node;
    }
    *one = x->node;
    *n = x->node != OC_NONE && r->in->analysis;
    return one;
}

/* Root of a row: itself, or the row that it was fused into. */
static uint32_t what_if_root(const struct oc_what_if *x, uint32_t row)
{
    while (x->row[row].into != row)
        row = x->row[row].into;
    return row;
}

/* Sets roof_s, overhead_s and missing from the work on the device. */
static void what_if_limit(struct oc_what_if *x, struct oc_what_if_row *row)
{
    struct oc_roof roof;
    row->roof_s = row->overhead_s = NAN;
    memcpy(row->missing, "limit", sizeof("limit"));
    if (!row->limited || !x->device)
        return;
    oc_roofline_of(x->device, &row->work, &x->roof, NAN, &roof);
    row->roof_s = roof.missing[0] ? NAN : roof.slow_s * x->r->m.runs;
    row->overhead_s = roof.overhead_s * x->r->m.runs;
    if (roof.missing[0])
        memcpy(row->missing, roof.missing, sizeof(row->missing));
}

static double overhead_of(const struct oc_what_if_row *row)
{
    return isnan(row->overhead_s) ? 0 : row->overhead_s;
}

static void start_row(struct oc_what_if *x, uint32_t i)
{
    const struct oc_row *from = &x->r->all.row[i];
    struct oc_what_if_row *row = &x->row[i];
    *row = (struct oc_what_if_row){.into = i, .time_s = from->time_s, .limited = from->work != NULL};
    if (from->work)
        row->work = *from->work;
    row->overhead = from->bound_by && !strcmp(from->bound_by, oc_bound_name(OC_BOUND_OVERHEAD));
    what_if_limit(x, row);
    if (!x->r->has_time)
        row->time_s = row->roof_s + overhead_of(row);
    row->counted = !isnan(row->time_s);
    x->now_s += row->counted ? row->time_s : 0;
    *(row->counted ? &x->rows : &x->left_out) += 1;
}

/* Scales an estimated time, of a row whose limits were `was`: except for its overhead, it scales with the
 * roofline. */
static double what_if_moved(double time_s, const struct oc_what_if_row *was, const struct oc_what_if_row *row)
{
    double kernel_s = time_s - overhead_of(was);
    return (was->roof_s > 0 ? kernel_s * (row->roof_s / was->roof_s) : row->roof_s) + overhead_of(row);
}

/* ---- fuse rows ---------------------------------------------------------------------------------------- */

/* The row of a node; OC_NONE. */
static uint32_t *rows_of_nodes(struct oc_report *r)
{
    uint32_t *of = OC_NEW_ARRAY(&r->arena, r->in->model->n_node, uint32_t);
    for (uint32_t i = 0; i < r->in->model->n_node; i++)
        of[i] = OC_NONE;
    for (uint32_t i = 0; i < r->all.n; i++) {
        uint32_t n, one;
        const uint32_t *node = what_if_nodes(r, i, &one, &n);
        for (uint32_t k = 0; k < n; k++)
            if (of[node[k]] == OC_NONE)
                of[node[k]] = i;
    }
    return of;
}

static bool is_elementwise(const struct oc_analysis *a, const uint32_t *node, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct oc_node_cost *k = &a->cost[node[i]];
        if (k->op_class != OC_OP_ELEMENTWISE || k->state != OC_NODE_NORMAL || k->quality == OC_UNKNOWN ||
            k->alias)
            return false;
    }
    return n > 0;
}

/* Nodes that another one can be fused to: those that compute or copy, executed as often as that one. */
static bool can_take(const struct oc_analysis *a, uint32_t node, uint64_t trips)
{
    const struct oc_node_cost *k = &a->cost[node];
    return k->state == OC_NODE_NORMAL && k->quality != OC_UNKNOWN && !k->alias && k->trips == trips &&
           k->op_class != OC_OP_CONTROL && k->op_class != OC_OP_OTHER;
}

struct link {      /* a tensor between two rows */
    uint32_t from; /* row that produces it */
    uint64_t bytes;
};

/* Adds to the number of reads of each value by these nodes. */
static void add_reads(const struct oc_model *m, const uint32_t *node, uint32_t n, uint32_t by,
                      uint32_t *reads)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < m->node[node[i]].n_in; k++)
            if (m->node[node[i]].in[k] != OC_NONE)
                reads[m->node[node[i]].in[k]] += by;
}

/* Follows views to the value that owns the memory. Stops where another node reads it. */
static uint32_t memory_of(const struct oc_analysis *a, uint32_t value)
{
    const struct oc_model *m = a->model;
    for (;;) {
        const struct oc_value *v = &m->value[value];
        if (v->producer == OC_NONE || !a->cost[v->producer].alias || m->node[v->producer].n_in == 0)
            return value;
        uint32_t before = m->node[v->producer].in[0];
        if (before == OC_NONE || m->value[before].n_use != 1 || m->value[before].graph_output)
            return value;
        value = before;
    }
}

/* The latest row that produces a value which these nodes only read, in the size that they write. */
static struct link link_of(const struct oc_what_if *x, const uint32_t *row_of, const uint32_t *reads,
                           uint32_t row, const uint32_t *node, uint32_t n)
{
    const struct oc_analysis *a = x->r->in->analysis;
    const struct oc_model *m = a->model;
    struct link best = {.from = OC_NONE};
    uint64_t written, bytes;
    const struct oc_node *last = &m->node[node[n - 1]];
    if (last->n_out != 1 || last->out[0] == OC_NONE || !oc_type_bytes(&a->type[last->out[0]], &written))
        return best;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < m->node[node[i]].n_in; k++) {
            uint32_t v = m->node[node[i]].in[k];
            if (v == OC_NONE || m->value[v].graph_output || reads[v] != m->value[v].n_use)
                continue;
            uint32_t producer = m->value[memory_of(a, v)].producer;
            if (producer == OC_NONE || row_of[producer] == OC_NONE ||
                !can_take(a, producer, a->cost[node[0]].trips))
                continue;
            uint32_t from = what_if_root(x, row_of[producer]);
            if (from == row || !x->row[from].limited || !oc_type_bytes(&a->type[v], &bytes) ||
                bytes != written)
                continue;
            if (best.from == OC_NONE || from > best.from)
                best = (struct link){from, bytes};
        }
    return best;
}

static bool add_work(struct oc_work *to, const struct oc_work *w)
{
    bool ok = oc_add_u64(to->bytes, w->bytes, &to->bytes) &&
              oc_add_u64(to->weight_bytes, w->weight_bytes, &to->weight_bytes) &&
              oc_add_u64(to->written, w->written, &to->written);
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        ok = ok && oc_add_u64(to->macs[c], w->macs[c], &to->macs[c]) &&
             oc_add_u64(to->flops[c], w->flops[c], &to->flops[c]) &&
             oc_add_u64(to->special[c], w->special[c], &to->special[c]) &&
             oc_add_u64(to->special_flops[c], w->special_flops[c], &to->special_flops[c]);
    return ok;
}

/* Both rows as one launch, without writing and reading the intermediate. */
static bool join_work(const struct oc_work *a, const struct oc_work *b, uint64_t between, struct oc_work *out)
{
    *out = *a;
    if (a->unknown || b->unknown || a->written < between ||
        b->bytes - b->weight_bytes - b->written < between || !add_work(out, b))
        return false;
    out->written -= between;
    out->bytes -= 2 * between;
    return true;
}

/* The producer's time scales with its roofline, and does not exceed the sum of both. */
static void join_time(struct oc_what_if *x, struct oc_what_if_row *to, struct oc_what_if_row *from,
                      const struct oc_work *work)
{
    struct oc_what_if_row was = *to;
    double both = to->time_s + from->time_s;
    to->work = *work;
    what_if_limit(x, to);
    double t = !x->r->has_time                   ? what_if_moved(to->time_s, &was, to)
               : was.roof_s > 0 && !to->overhead ? to->time_s * (to->roof_s / was.roof_s)
                                                 : to->time_s;
    to->time_s = isnan(to->roof_s) || isnan(both) ? NAN : fmin(t, both);
    from->time_s = 0;
}

/* Fuses element-wise rows into the rows that produce their input. Returns the number fused. */
static uint32_t fuse_rows(struct oc_what_if *x)
{
    struct oc_report *r = x->r;
    const struct oc_model *m = r->in->model;
    uint32_t *row_of = rows_of_nodes(r), *reads = OC_NEW_ARRAY(&r->arena, m->n_value + 1, uint32_t),
             fused = 0;
    for (uint32_t i = 0; i < r->all.n; i++) {
        uint32_t n, one;
        struct oc_work work;
        const uint32_t *node = what_if_nodes(r, i, &one, &n);
        if (!x->row[i].counted || !x->row[i].limited || x->row[i].into != i ||
            !is_elementwise(r->in->analysis, node, n))
            continue;
        add_reads(m, node, n, 1, reads);
        struct link l = link_of(x, row_of, reads, i, node, n);
        add_reads(m, node, n, UINT32_MAX, reads); /* zeros again */
        uint64_t between;
        if (l.from == OC_NONE || !x->row[l.from].counted ||
            !oc_mul_u64(l.bytes, r->in->analysis->cost[node[0]].trips, &between) ||
            !join_work(&x->row[l.from].work, &x->row[i].work, between, &work))
            continue;
        join_time(x, &x->row[l.from], &x->row[i], &work);
        x->row[i].into = l.from;
        fused++;
    }
    return fused;
}

/* ---- steps ------------------------------------------------------------------------------------------ */

static struct oc_what_if_step *what_if_begin(struct oc_what_if *x, const char *title, const char *note)
{
    struct oc_what_if_step *s = &x->step[x->n_step++];
    *s = (struct oc_what_if_step){.title = title, .note = note, .before_s = x->rest_s};
    for (uint32_t i = 0; i < x->r->all.n; i++)
        if (x->row[i].counted && !isnan(x->row[i].time_s))
            s->before_s += x->row[i].time_s;
    return s;
}

static void what_if_end(struct oc_what_if *x, struct oc_what_if_step *s)
{
    s->after_s = x->rest_s;
    for (uint32_t i = 0; i < x->r->all.n; i++)
        if (x->row[i].counted && !isnan(x->row[i].time_s))
            s->after_s += x->row[i].time_s;
}

static bool what_if_takes_part(const struct oc_what_if *x, uint32_t i)
{
    return x->row[i].counted && x->row[i].into == i && !isnan(x->row[i].time_s);
}

static void set_time(struct oc_what_if *x, struct oc_what_if_step *s, struct oc_what_if_row *row,
                     double time_s)
{
    s->rows++;
    if (isnan(time_s)) {
        s->unknown++;
        s->missing = s->missing ? s->missing : oc_strdup(&x->r->arena, row->missing);
    } else if (time_s == row->time_s && time_s > 0) {
        s->kept++;
    }
    row->time_s = time_s;
}

/* Scales the row's time when its limits changed from `was`. */
static void scale_row_time(struct oc_what_if *x, struct oc_what_if_step *s, struct oc_what_if_row *row,
                           const struct oc_what_if_row *was)
{
    double time_s = row->time_s;
    if (isnan(was->roof_s))
        memcpy(row->missing, was->missing, sizeof(row->missing));
    if (isnan(was->roof_s) || isnan(row->roof_s))
        time_s = NAN;
    else if (!x->r->has_time)
        time_s = what_if_moved(time_s, was, row);
    else if (row->overhead)
        time_s *= was->overhead_s > 0 && row->overhead_s >= 0 ? row->overhead_s / was->overhead_s : 1;
    else if (was->roof_s > 0)
        time_s *= row->roof_s / was->roof_s;
    set_time(x, s, row, time_s);
}

/* What "fuse=" says is fused; NULL: another wish. */
static const char *fuse_of(const char *wish)
{
    return strncmp(wish, "fuse=", 5) == 0 ? wish + 5 : NULL;
}

static int fuse(struct oc_what_if *x, const char *what, struct oc_err *err)
{
    if (strcmp(what, "elementwise") != 0)
        return oc_fail(err, OC_EARG, "--what-if fuse= takes elementwise, not '%.40s'", what);
    struct oc_what_if_step *s =
        what_if_begin(x, "element-wise operators fused",
                      "fused into the producer of their input if it has no other reader: the "
                      "intermediate moves no bytes, and there is one launch");
    s->rows = fuse_rows(x);
    what_if_end(x, s);
    return 0;
}

static const struct oc_recast *read_type(const char *name, struct oc_err *err)
{
    const struct oc_recast *to = oc_recast_by_name(name);
    if (!to)
        oc_recast_unknown(name, err);
    return to;
}

/* The work of every row in the other type. The constants of a run shrink with those of the rows. */
static void recast_rows(struct oc_what_if *x, const struct oc_recast *to)
{
    struct oc_recasting *sum = OC_NEW_ARRAY(&x->r->arena, x->r->all.n, struct oc_recasting);
    double before = 0, after = 0;
    for (uint32_t i = 0; i < x->r->all.n; i++) {
        uint32_t n, one;
        const uint32_t *node = what_if_nodes(x->r, i, &one, &n);
        oc_recast_add(to, x->r->in->analysis, node, n, &sum[what_if_root(x, i)]);
    }
    for (uint32_t i = 0; i < x->r->all.n; i++) {
        struct oc_what_if_row *row = &x->row[i];
        if (!row->limited || row->into != i)
            continue;
        before += (double)row->work.weight_bytes;
        oc_recast_finish(&sum[i], &row->work);
        after += (double)row->work.weight_bytes;
    }
    if (before > 0)
        x->roof.const_bytes = (uint64_t)((double)x->roof.const_bytes * (after / before));
}

static int recast(struct oc_what_if *x, struct oc_err *err)
{
    const struct oc_recast *to = read_type(x->r->o->as, err);
    if (!to)
        return -1;
    struct oc_what_if_row *was = OC_NEW_ARRAY(&x->r->arena, x->r->all.n, struct oc_what_if_row);
    for (uint32_t i = 0; i < x->r->all.n; i++)
        was[i] = x->row[i];
    recast_rows(x, to);
    struct oc_what_if_step *s =
        what_if_begin(x, oc_printf(&x->r->arena, "as %s", to->name),
                      oc_printf(&x->r->arena, "%s; each row keeps its ratio to the roofline", to->note));
    for (uint32_t i = 0; i < x->r->all.n; i++) {
        /* A copy is bit-identical. */
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c) */
        bool same = !memcmp(&was[i].work, &x->row[i].work, sizeof(was[i].work));
        what_if_limit(x, &x->row[i]);
        if (what_if_takes_part(x, i) && !(same && isnan(was[i].roof_s)))
            scale_row_time(x, s, &x->row[i], &was[i]);
    }
    what_if_end(x, s);
    return 0;
}

static void move_to(struct oc_what_if *x, const struct oc_device *device)
{
    x->device = device;
    struct oc_what_if_step *s =
        what_if_begin(x, oc_printf(&x->r->arena, "on %s", oc_device_info(device)->name),
                      "each row keeps its ratio to the roofline");
    for (uint32_t i = 0; i < x->r->all.n; i++) {
        struct oc_what_if_row was = x->row[i];
        what_if_limit(x, &x->row[i]);
        if (what_if_takes_part(x, i))
            scale_row_time(x, s, &x->row[i], &was);
    }
    what_if_end(x, s);
}

/* ---- KEY=VALUE -------------------------------------------------------------------------------------- */

/* The rows of a key: a prefix selects what it names; else the first of name, type, class and pattern that is
 * found. */
static int what_if_find_key(struct oc_report *r, const char *text, bool *hit, struct oc_err *err)
{
    static const struct {
        const char *text;
        enum oc_name_rule rule;
    } prefix[] = {{"type:", OC_NAME_TYPE}, {"class:", OC_NAME_CLASS}, {"name:", OC_NAME_OPERATOR}};
    if (!strcmp(text, "all")) {
        memset(hit, true, r->all.n);
        return 0;
    }
    enum oc_name_rule rule = OC_NAME_KEY;
    for (size_t i = 0; i < OC_COUNT(prefix) && rule == OC_NAME_KEY; i++)
        if (!strncmp(text, prefix[i].text, strlen(prefix[i].text))) {
            rule = prefix[i].rule;
            text += strlen(prefix[i].text);
        }
    return oc_report_find(r, rule, "--what-if", text, NULL, 0, hit, err);
}

static void at_efficiency(struct oc_what_if *x, const bool *hit, double efficiency, struct oc_what_if_step *s)
{
    for (uint32_t i = 0; i < x->r->all.n; i++) {
        struct oc_what_if_row *row = &x->row[i];
        if (!what_if_takes_part(x, i) || !hit[i])
            continue;
        double t = row->roof_s / efficiency;
        if (!x->r->has_time)
            t += overhead_of(row);
        else if (row->overhead || t > row->time_s)
            t = row->time_s;
        set_time(x, s, row, t);
    }
}

static void apply_factor(struct oc_what_if *x, const bool *hit, double times, struct oc_what_if_step *s)
{
    for (uint32_t i = 0; i < x->r->all.n; i++)
        if (what_if_takes_part(x, i) && hit[i])
            set_time(x, s, &x->row[i], x->row[i].time_s / times);
    for (uint32_t i = x->r->all.n; i < OC_ALL_ROWS(x->r); i++) {
        double *rest_s = &x->rest[i - x->r->all.n];
        double saved_s = hit[i] ? *rest_s * (1 - 1 / times) : 0;
        s->rows += hit[i];
        *rest_s -= saved_s;
        x->rest_s -= saved_s;
    }
}

static int what_if_bad_value(const char *text, struct oc_err *err)
{
    return oc_fail(err, OC_EARG,
                   "--what-if '%.80s': needs KEY=80%% (of the roofline), KEY=2x (faster) or hw=NAME", text);
}

static int one_wish(struct oc_what_if *x, const char *text, struct oc_err *err)
{
    const char *equals = strrchr(text, '=');
    size_t n = equals ? strlen(equals + 1) : 0;
    char unit = (char)(n ? equals[n] : 0);
    double v;
    if (n < 2 || equals == text || !oc_parse_double(equals + 1, n - 1, &v) || !(v > 0) || !isfinite(v) ||
        (unit != '%' && unit != 'x') || (unit == '%' && v > 100))
        return what_if_bad_value(text, err);
    if (unit == '%' && !x->device)
        return oc_fail(err, OC_EARG, "--what-if '%.80s' needs a roofline: name the hardware with --hw", text);
    char *name = oc_strndup(&x->r->arena, text, (size_t)(equals - text));
    bool *hit = OC_NEW_ARRAY(&x->r->arena, OC_ALL_ROWS(x->r), bool);
    int rc = what_if_find_key(x->r, name, hit, err);
    if (rc == 0 && unit == '%') {
        struct oc_what_if_step *s =
            what_if_begin(x, oc_printf(&x->r->arena, "%s at %g %% of the roofline", name, v),
                          x->r->has_time ? "rows that are faster or overhead-bound keep their time"
                                         : "including launch overhead");
        at_efficiency(x, hit, v / 100, s);
        what_if_end(x, s);
    } else if (rc == 0) {
        struct oc_what_if_step *s =
            what_if_begin(x, oc_printf(&x->r->arena, "%s %gx faster", name, v), "given");
        apply_factor(x, hit, v, s);
        what_if_end(x, s);
    }
    return rc;
}

/* ---- public functions ------------------------------------------------------------------------------- */

static int what_if_check(const struct oc_report *r, struct oc_err *err)
{
    const struct oc_report_opts *o = r->o;
    bool work = !r->in->analysis || !r->in->device; /* is missing */
    if (o->as && work)
        return oc_fail(err, OC_EARG, "--as needs a model and hardware (--hw)");
    for (size_t i = 0; i < o->n_what_if && work; i++)
        if (fuse_of(o->what_if[i]))
            return oc_fail(err, OC_EARG, "--what-if fuse= needs a model and hardware (--hw)");
    if (!r->in->device && !r->has_time)
        return oc_fail(
            err, OC_EARG,
            "--what-if needs times: measured ones with --profile FILE, or those of a device with --hw NAME");
    for (size_t i = 0; i < o->n_what_if; i++)
        if (!r->in->device && !strncmp(o->what_if[i], "hw=", 3))
            return oc_fail(err, OC_EARG, "--what-if hw= compares with a device: name it with --hw");
    return 0;
}

static int what_if_all_steps(struct oc_what_if *x, struct oc_err *err)
{
    const struct oc_report_opts *o = x->r->o;
    for (size_t i = 0; i < o->n_what_if; i++)
        if (fuse_of(o->what_if[i]) && fuse(x, fuse_of(o->what_if[i]), err) != 0)
            return -1;
    if (o->as && recast(x, err) != 0)
        return -1;
    for (size_t i = 0; i < o->n_what_if; i++) {
        if (fuse_of(o->what_if[i]))
            continue;
        const struct oc_device *d = o->what_if_device ? o->what_if_device[i] : NULL;
        if (d)
            move_to(x, d);
        else if (one_wish(x, o->what_if[i], err) != 0)
            return -1;
    }
    return 0;
}

/* Time of no operator stays, unless a step names it. */
static void start_rest(struct oc_what_if *x)
{
    x->rest = OC_NEW_ARRAY(&x->r->arena, (size_t)x->r->all.n_rest + 1, double);
    for (uint32_t i = 0; i < x->r->all.n_rest; i++)
        x->rest_s += x->rest[i] = x->r->all.row[x->r->all.n + i].time_s;
    x->now_s += x->rest_s;
}

int oc_what_if_make(struct oc_report *r, struct oc_err *err)
{
    if (!oc_what_if_asked(r->o))
        return 0;
    if (what_if_check(r, err) != 0)
        return -1;
    struct oc_what_if *x = OC_NEW_ARRAY(&r->arena, 1, struct oc_what_if);
    *x = (struct oc_what_if){.r = r, .device = r->in->device, .roof = r->roof};
    x->row = OC_NEW_ARRAY(&r->arena, r->all.n, struct oc_what_if_row);
    x->step = OC_NEW_ARRAY(&r->arena, r->o->n_what_if + 2, struct oc_what_if_step);
    for (uint32_t i = 0; i < r->all.n; i++)
        start_row(x, i);
    start_rest(x);
    if (what_if_all_steps(x, err) != 0)
        return -1;
    for (uint32_t i = 0; i < r->all.n; i++) {
        r->all.row[i].what_if_s = x->row[i].counted ? x->row[i].time_s : NAN;
        x->unknown += x->row[i].counted && isnan(x->row[i].time_s);
    }
    x->bound_s = NAN;
    if (x->device && !isnan(r->bound_s))
        x->bound_s = oc_bound_of(r->in->analysis, r->o->as ? oc_recast_by_name(r->o->as) : NULL, x->device,
                                 r->o->cache);
    r->what_if = x;
    return 0;
}
