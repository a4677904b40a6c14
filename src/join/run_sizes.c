/* Runs of different sizes: analysis and join for each set of sizes, and sums over the runs. */
#include "join/join.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "base/arena.h"
#include "base/c_locale.h"
#include "base/ck.h"
#include "base/units.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

/* ---- the runs with one set of shapes as a profile --------------------------------------------------- */

struct view {
    struct oc_profile p;
    uint32_t *of; /* by record of the view: the record of the profile */
};

static struct oc_prof_rec view_rec(const struct oc_profile *p, const struct oc_prof_part *part, uint32_t runs)
{
    static const struct oc_prof_types unknown = {0};
    struct oc_prof_rec r = p->rec[part->rec];
    oc_prof_set_types(&r, part->types == OC_NONE ? &unknown : &p->types[part->types]);
    r.calls = part->calls;
    r.runs = part->runs;
    r.calls_per_run = (double)part->calls / part->runs;
    r.total_ns = part->total_ns;
    r.time_ns = r.self_ns = r.median_ns = r.min_ns = r.max_ns = part->total_ns / runs;
    r.kernel_ns = r.host_ns = r.total_kernel_ns = NAN;
    return r;
}

static void make_view(const struct oc_profile *p, const struct oc_prof_shapes *s, struct oc_arena *a,
                      struct view *v)
{
    uint32_t *place = OC_NEW_ARRAY(a, p->n_rec, uint32_t);
    v->p = *p;
    v->p.diags = (struct oc_diags){.arena = a};
    v->p.rec = OC_NEW_ARRAY(a, s->n_part, struct oc_prof_rec);
    v->p.n_rec = s->n_part;
    v->p.n_kernel = v->p.n_shapes = 0;
    v->p.imported_ns = v->p.imported_kernel_ns = v->p.run_ns = v->p.busy_ns = v->p.device_busy_ns = NAN;
    v->p.runs_used = v->p.runs_total = s->n_run;
    v->of = OC_NEW_ARRAY(a, s->n_part, uint32_t);
    for (uint32_t i = 0; i < s->n_part; i++) {
        const struct oc_prof_part *part = &s->part[i];
        v->p.rec[i] = view_rec(p, part, s->n_run);
        v->of[i] = part->rec;
        place[part->rec] = i + 1;
    }
    for (uint32_t i = 0; i < s->n_part; i++) {
        uint32_t parent = v->p.rec[i].parent;
        v->p.rec[i].parent = parent == OC_NONE || !place[parent] ? OC_NONE : place[parent] - 1;
    }
}

/* ---- which sets of shapes have the same sizes ------------------------------------------------------- */

/* Sets of shapes for which the options of the analysis are the same. */
struct unit {
    struct oc_shape_bind *shape; /* of the profile */
    size_t n_shape;
    struct oc_control_bind *control;
    size_t n_control;
    uint32_t first; /* set of shapes, then sizing.next */
};

struct sizing {
    struct oc_analysis *a;
    struct oc_join *j;
    const struct oc_profile *p;
    const struct oc_analyze_opts *opts;
    const struct oc_model *optimized;
    struct oc_err *err;
    struct oc_arena scratch;
    struct unit *unit;
    uint32_t n_unit, cap, *next; /* next: by set of shapes, of the same unit */
    struct oc_cost_sums *sums;
    struct oc_sizes *out;
    struct oc_map set_of; /* values to set */
    uint32_t set_cap;
    uint32_t *size_of; /* by set of shapes: the set of sizes */
    struct work {      /* by record, one for each set of shapes it occurs in */
        double work;
        uint32_t runs, next;
    } * work;
    uint32_t n_work, work_cap, *last_work;
    uint32_t *runs;             /* by record: in which it is counted */
    uint64_t executed, padding; /* MACs of all runs */
    struct oc_join_work kept;   /* of all runs */
};

static void add_key(struct oc_buf *b, const void *data, size_t n)
{
    oc_buf_add(b, data, n);
    oc_buf_char(b, '\x1f');
}

static uint32_t find_unit(struct sizing *z, const struct view *v, struct oc_map *units)
{
    const struct oc_model *m = z->j->model;
    struct unit u = {.first = OC_NONE};
    struct oc_buf key = {0};
    u.n_shape = oc_profile_input_shapes(m, &v->p, &u.shape);
    u.n_control = oc_profile_control(m, &v->p, &u.control);
    for (size_t i = 0; i < u.n_shape; i++) {
        add_key(&key, &u.shape[i].input, sizeof(u.shape[i].input));
        add_key(&key, u.shape[i].dim, u.shape[i].rank * sizeof(*u.shape[i].dim));
    }
    for (size_t i = 0; i < u.n_control; i++) {
        const struct oc_control_bind *c = &u.control[i];
        const uint64_t id[] = {c->node, (uint64_t)c->value, c->calls, c->body[0], c->body[1], c->mean};
        add_key(&key, id, sizeof(id));
    }
    uint32_t id = z->n_unit;
    if (oc_map_add(units, key.data ? key.data : "", key.n, &id, NULL)) {
        OC_GROW(z->unit, z->n_unit, z->cap);
        z->unit[z->n_unit++] = u;
    } else {
        oc_profile_input_shapes_free(u.shape, u.n_shape);
        free(u.control);
    }
    oc_buf_free(&key);
    return id;
}

static void find_units(struct sizing *z)
{
    struct oc_map units = {.arena = &z->scratch};
    z->next = OC_NEW_ARRAY(&z->scratch, z->p->n_shapes, uint32_t);
    for (uint32_t i = z->p->n_shapes; i-- > 0;) {
        struct oc_arena a = {0};
        struct view v;
        make_view(z->p, &z->p->shapes[i], &a, &v);
        uint32_t id = find_unit(z, &v, &units);
        z->next[i] = z->unit[id].first;
        z->unit[id].first = i;
        oc_diags_free(&v.p.diags);
        oc_arena_free(&a);
    }
    oc_map_free(&units);
}

/* ---- values of the open dimensions ------------------------------------------------------------------ */

static bool is_open(const struct oc_value *v, unsigned axis)
{
    struct oc_dim d = v->declared->shape.dim[axis];
    return !v->constant && (!oc_is_known(d) || d.v < 0);
}

static const char *dim_name(struct sizing *z, uint32_t value, unsigned axis)
{
    const struct oc_model *m = z->j->model;
    uint32_t symbol = m->value[value].declared->shape.dim[axis].expr;
    return symbol && symbol <= m->n_symbol ? m->symbol[symbol - 1]
                                           : oc_printf(&z->j->arena, "%s.%u", m->value[value].name, axis);
}

static void find_names(struct sizing *z)
{
    const struct oc_model *m = z->j->model;
    const struct oc_graph *g = &m->graph[0];
    struct oc_sizes *s = z->out;
    struct oc_map names = {.arena = &z->scratch};
    size_t most = 0;
    for (uint32_t i = 0; i < g->n_input; i++)
        most += m->value[g->input[i]].declared->shape.rank;
    s->dim = OC_NEW_ARRAY(&z->j->arena, most, struct oc_open_dim);
    s->name = OC_NEW_ARRAY(&z->j->arena, most, const char *);
    s->varies = OC_NEW_ARRAY(&z->j->arena, most, bool);
    for (uint32_t i = 0; i < g->n_input; i++) {
        const struct oc_value *v = &m->value[g->input[i]];
        for (unsigned k = 0; v->declared->shape.ranked && k < v->declared->shape.rank; k++) {
            uint32_t at = s->n_name;
            if (!is_open(v, k))
                continue;
            const char *name = dim_name(z, g->input[i], k);
            s->n_name += oc_map_add(&names, name, strlen(name), &at, NULL);
            s->name[at] = name;
            s->dim[s->n_dim++] = (struct oc_open_dim){g->input[i], k, at};
        }
    }
    oc_map_free(&names);
}

/* The set with the sizes of the analysis; a new one if there is none. */
static uint32_t find_set(struct sizing *z, const struct oc_analysis *a)
{
    struct oc_sizes *s = z->out;
    int64_t *value = OC_NEW_ARRAY(&z->j->arena, s->n_name + 1, int64_t);
    uint32_t at = s->n_set;
    for (uint32_t i = 0; i < s->n_name; i++)
        value[i] = -1;
    for (uint32_t i = 0; i < s->n_dim; i++) {
        const struct oc_shape *shape = &a->type[s->dim[i].input].shape;
        unsigned axis = s->dim[i].axis;
        if (shape->ranked && axis < shape->rank && oc_is_known(shape->dim[axis]))
            value[s->dim[i].name] = shape->dim[axis].v;
    }
    if (oc_map_add(&z->set_of, (const char *)value, s->n_name * sizeof(*value), &at, NULL)) {
        OC_GROW(s->set, s->n_set, z->set_cap);
        struct oc_totals *total = OC_NEW(&z->j->arena, struct oc_totals);
        *total = *a->total;
        s->set[s->n_set++] =
            (struct oc_size_set){.value = value, .total = total, .flops = NAN, .ops = NAN, .bytes = NAN};
        for (uint32_t i = 0; i < s->n_name; i++)
            s->varies[i] |= value[i] != s->set[0].value[i];
    }
    return at;
}

/* ---- sums over the runs ----------------------------------------------------------------------------- */

static void add_work(struct sizing *z, uint32_t rec, double work, uint32_t runs)
{
    OC_GROW(z->work, z->n_work, z->work_cap);
    z->work[z->n_work] = (struct work){work, runs, z->last_work[rec]};
    z->last_work[rec] = z->n_work++;
}

/* Adds the work of a record in its runs with one set of shapes. */
static void add_record(struct sizing *z, const struct oc_join_rec *from, uint32_t rec, uint32_t runs)
{
    struct oc_size_rec *s = &z->out->rec[rec];
    struct oc_join_rec *to = &z->j->rec[rec];
    bool fits = oc_add_times(&s->macs, from->macs, runs) && oc_add_times(&s->flops, from->flops, runs) &&
                oc_add_times(&s->ops, from->ops, runs);
    bool bytes = oc_add_times(&s->rd_act, from->rd_act, runs) && oc_add_times(&s->rd_wt, from->rd_wt, runs) &&
                 oc_add_times(&s->wr, from->wr, runs);
    bool first = !z->runs[rec];
    z->runs[rec] += runs;
    if (!fits || from->quality == OC_UNKNOWN)
        to->quality = OC_UNKNOWN;
    else
        to->quality = first ? from->quality : oc_worse_quality(to->quality, from->quality);
    to->bytes_known = (first || to->bytes_known) && from->bytes_known && bytes;
    to->executed_known = (first || to->executed_known) && from->executed_known &&
                         oc_add_times(&s->executed_macs, from->executed_macs, runs);
    to->other_shapes = (!first && to->other_shapes) || from->other_shapes;
    to->from_profile = (!first && to->from_profile) || from->from_profile;
    if (first || !to->note)
        to->note = from->note ? oc_strdup(&z->j->arena, from->note) : NULL;
    if (from->quality != OC_UNKNOWN)
        add_work(z, rec, (double)from->flops + (double)from->ops, runs);
}

static void widen_types(struct oc_arena *a, const struct oc_type *t, uint32_t n, bool first,
                        const struct oc_type **low, const struct oc_type **high)
{
    const struct oc_type *const *old[2] = {low, high};
    for (int side = 0; side < 2; side++) {
        struct oc_type *to = OC_NEW_ARRAY(a, n + 1, struct oc_type);
        for (uint32_t i = 0; i < n; i++) {
            struct oc_dim dim[OC_MAX_RANK];
            const struct oc_shape *was = first ? &t[i].shape : &(*old[side])[i].shape;
            bool same = was->ranked && t[i].shape.ranked && was->rank == t[i].shape.rank;
            for (unsigned k = 0; same && k < was->rank; k++) {
                int64_t x = was->dim[k].v, y = t[i].shape.dim[k].v;
                dim[k] = oc_known((x < y) == (side == 0) ? x : y);
            }
            to[i] = t[i];
            to[i].shape = same ? oc_shape_of(a, was->rank, dim) : oc_shape_unranked();
        }
        *(side ? high : low) = to;
    }
}

/* Extends the range of recorded sizes. Nothing is recorded where the number of tensors differs. */
static void widen(struct sizing *z, uint32_t rec, uint32_t types)
{
    struct oc_size_rec *s = &z->out->rec[rec];
    struct oc_prof_types none = {0}, t = types == OC_NONE ? none : z->p->types[types];
    bool first = !z->runs[rec];
    t.has_in &= first || (s->low.has_in && s->low.n_in == t.n_in);
    t.has_out &= first || (s->low.has_out && s->low.n_out == t.n_out);
    s->low.has_in = s->high.has_in = t.has_in;
    s->low.has_out = s->high.has_out = t.has_out;
    s->low.n_in = s->high.n_in = t.has_in ? t.n_in : 0;
    s->low.n_out = s->high.n_out = t.has_out ? t.n_out : 0;
    widen_types(&z->j->arena, t.in, s->low.n_in, first, &s->low.in, &s->high.in);
    widen_types(&z->j->arena, t.out, s->low.n_out, first, &s->low.out, &s->high.out);
}

/* Work of the operators with a time, as in report/headline.c. */
static void add_to_set(struct oc_size_set *set, const struct oc_join_rec *r, uint32_t runs)
{
    bool known = r->quality != OC_UNKNOWN;
    set->flops_quality = (uint8_t)oc_quality_add(set->flops_quality, r->quality);
    set->bytes_quality = (uint8_t)oc_quality_add(set->bytes_quality, !r->bytes_known ? OC_UNKNOWN
                                                                     : known         ? r->quality
                                                                                     : OC_EXACT);
    if (known) {
        set->flops = (isnan(set->flops) ? 0 : set->flops) + (double)r->flops * runs;
        set->ops = (isnan(set->ops) ? 0 : set->ops) + (double)r->ops * runs;
    }
    if (r->bytes_known)
        set->bytes = (isnan(set->bytes) ? 0 : set->bytes) +
                     ((double)r->rd_act + (double)r->rd_wt + (double)r->wr) * runs;
}

/* Recorded shapes that contradict the analysis at these sizes: the first warning of each kind. */
static void copy_contradictions(struct sizing *z, const struct oc_join *from, const struct oc_size_set *set)
{
    bool differs = false;
    for (uint32_t i = 0; i < from->profile->n_rec; i++)
        differs |= from->rec[i].other_shapes;
    for (size_t i = 0; i < from->diags.n && differs; i++) {
        const struct oc_diag *d = &from->diags.item[i];
        const char *sizes = oc_size_text(z->out, set, &z->j->arena);
        bool known = strcmp(d->code, "W-coverage") == 0 || strcmp(d->code, "W-work") == 0;
        for (size_t k = 0; k < z->j->diags.n && !known; k++)
            known = strcmp(z->j->diags.item[k].code, d->code) == 0;
        if (!known)
            oc_diag_add(&z->j->diags, d->severity, d->code, d->where, "%s%s%s", sizes, *sizes ? ": " : "",
                        d->text);
    }
}

static int add_shapes(struct sizing *z, const struct oc_analysis *a, uint32_t shapes, uint32_t set)
{
    const struct oc_prof_shapes *s = &z->p->shapes[shapes];
    struct oc_arena scratch = {0};
    struct oc_join *j;
    struct view v;
    make_view(z->p, s, &scratch, &v);
    int rc = oc_join_make(z->j->model, a, &v.p, z->optimized, &j, z->err);
    for (uint32_t i = 0; i < s->n_part && !rc; i++) {
        if (v.p.rec[i].bucket)
            continue;
        widen(z, v.of[i], s->part[i].types);
        add_record(z, &j->rec[i], v.of[i], s->part[i].runs);
        if (j->rec[i].part_of == OC_NONE)
            add_to_set(&z->out->set[set], &j->rec[i], s->part[i].runs);
    }
    if (!rc) {
        copy_contradictions(z, j, &z->out->set[set]);
        z->j->executed.known &= j->executed.known && oc_add_times(&z->executed, j->executed.macs, s->n_run) &&
                                oc_add_times(&z->padding, j->executed.padding_macs, s->n_run);
        z->kept.known &= j->work.known && oc_add_times(&z->kept.model_macs, j->work.model_macs, s->n_run) &&
                         oc_add_times(&z->kept.row_macs, j->work.row_macs, s->n_run) &&
                         oc_add_times(&z->kept.eliminated_macs, j->work.eliminated_macs, s->n_run) &&
                         oc_add_times(&z->kept.lost_macs, j->work.lost_macs, s->n_run);
    }
    z->out->set[set].runs += s->n_run;
    z->size_of[shapes] = set;
    if (!rc)
        oc_join_free(j);
    oc_diags_free(&v.p.diags);
    oc_arena_free(&scratch);
    return rc;
}

/* The given shapes and those of the profile. */
static struct oc_shape_bind *all_shapes(const struct sizing *z, const struct unit *u, size_t *n)
{
    struct oc_shape_bind *all = oc_xmalloc((z->opts->n_shape + u->n_shape + 1) * sizeof(*all));
    *n = 0;
    for (size_t i = 0; i < z->opts->n_shape; i++)
        if (!z->opts->shape[i].from_profile)
            all[(*n)++] = z->opts->shape[i];
    for (size_t i = 0; i < u->n_shape; i++)
        all[(*n)++] = u->shape[i];
    return all;
}

static int add_unit(struct sizing *z, const struct unit *u)
{
    struct oc_analyze_opts opts = *z->opts;
    struct oc_analysis *a;
    struct oc_shape_bind *shape = all_shapes(z, u, &opts.n_shape);
    opts.shape = shape;
    opts.control = u->control;
    opts.n_control = u->n_control;
    int rc = oc_analyze(z->j->model, &opts, &a, z->err);
    free(shape);
    if (rc)
        return rc;
    uint32_t set = find_set(z, a);
    for (uint32_t i = u->first; i != OC_NONE && !rc; i = z->next[i]) {
        rc = add_shapes(z, a, i, set);
        oc_cost_sums_add(z->sums, a, z->p->shapes[i].n_run);
    }
    oc_analysis_free(a);
    return rc;
}

/* ---- results ---------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b, void *n_name)
{
    const struct oc_size_set *x = a, *y = b;
    for (uint32_t i = 0; i < *(const uint32_t *)n_name; i++)
        if (x->value[i] != y->value[i])
            return x->value[i] < y->value[i] ? -1 : 1;
    return 0;
}

static void set_times(struct sizing *z)
{
    struct oc_sizes *s = z->out;
    double *ns = oc_xmalloc((s->runs + 1) * sizeof(*ns));
    for (uint32_t i = 0; i < s->n_set; i++) {
        struct oc_size_set *set = &s->set[i];
        uint32_t n = 0;
        for (uint32_t k = 0; k < z->p->n_shapes; k++)
            for (uint32_t r = 0; z->size_of[k] == i && r < z->p->shapes[k].n_run; r++)
                ns[n++] = z->p->shapes[k].run_ns[r];
        set->mean_ns = oc_stat_of(OC_STAT_MEAN, ns, n);
        set->median_ns = oc_stat_of(OC_STAT_MEDIAN, ns, n); /* sorts */
        set->min_ns = ns[0];
        set->max_ns = ns[n - 1];
    }
    free(ns);
    qsort_r(s->set, s->n_set, sizeof(*s->set), by_value, &s->n_name);
}

OC_BY(by_work, struct work, work)

/* The minimum, median and maximum of the work of a run. */
static void set_range(const struct sizing *z, uint32_t rec, struct work *sorted)
{
    struct oc_size_rec *s = &z->out->rec[rec];
    uint32_t n = 0;
    uint64_t runs = 0, before = 0;
    s->work_min = s->work_median = s->work_max = NAN;
    for (uint32_t i = z->last_work[rec]; i != OC_NONE; i = z->work[i].next) {
        sorted[n++] = z->work[i];
        runs += z->work[i].runs;
    }
    if (!n || z->j->rec[rec].quality == OC_UNKNOWN)
        return;
    qsort(sorted, n, sizeof(*sorted), by_work);
    s->work_min = sorted[0].work;
    s->work_max = sorted[n - 1].work;
    uint32_t low = 0, high;
    while (2 * (before + sorted[low].runs) < runs)
        before += sorted[low++].runs;
    high = low + (2 * (before + sorted[low].runs) == runs);
    s->work_median = (sorted[low].work + sorted[high].work) / 2;
}

static void set_records(struct sizing *z)
{
    struct work *sorted = oc_xmalloc((z->n_work + 1) * sizeof(*sorted));
    uint64_t runs = z->out->runs;
    for (uint32_t i = 0; i < z->p->n_rec; i++) {
        const struct oc_size_rec *s = &z->out->rec[i];
        struct oc_join_rec *r = &z->j->rec[i];
        if (r->part_of != OC_NONE || z->p->rec[i].bucket)
            continue;
        if (!z->runs[i]) { /* an operator inside of a node of a provider */
            r->quality = OC_UNKNOWN;
            r->bytes_known = r->executed_known = false;
            r->note = "its work at each size is not recorded";
            continue;
        }
        r->macs = oc_mean_count(s->macs, runs);
        r->flops = oc_mean_count(s->flops, runs);
        r->ops = oc_mean_count(s->ops, runs);
        r->rd_act = oc_mean_count(s->rd_act, runs);
        r->rd_wt = oc_mean_count(s->rd_wt, runs);
        r->wr = oc_mean_count(s->wr, runs);
        r->executed_macs = oc_mean_count(s->executed_macs, runs);
        set_range(z, i, sorted);
    }
    free(sorted);
}

const char *oc_size_text(const struct oc_sizes *s, const struct oc_size_set *set, struct oc_arena *a)
{
    const char *text = "";
    for (uint32_t i = 0; i < s->n_name; i++)
        if (s->varies[i])
            text = set->value[i] < 0 ? oc_printf(a, "%s%s%s unknown", text, *text ? ", " : "", s->name[i])
                                     : oc_printf(a, "%s%s%s = %lld", text, *text ? ", " : "", s->name[i],
                                                 (long long)set->value[i]);
    return text;
}

static void free_sizing(struct sizing *z)
{
    for (uint32_t i = 0; i < z->n_unit; i++) {
        oc_profile_input_shapes_free(z->unit[i].shape, z->unit[i].n_shape);
        free(z->unit[i].control);
    }
    oc_cost_sums_free(z->sums);
    oc_map_free(&z->set_of);
    free(z->unit);
    free(z->work);
    free(z->last_work);
    free(z->runs);
    oc_arena_free(&z->scratch);
}

/* The shapes of the profile among the assumptions are those of the runs with the main shapes. */
static void name_assumptions(struct oc_analysis *a, uint32_t n_set)
{
    struct oc_assumption *all = OC_NEW_ARRAY(&a->arena, a->n_assumption + 1, struct oc_assumption);
    for (uint32_t i = 0; i < a->n_assumption; i++) {
        all[i] = a->assumption[i];
        if (n_set > 1 && strcmp(all[i].what, "shape") == 0 && strcmp(all[i].reason, "from the profile") == 0)
            all[i].reason = oc_printf(&a->arena, "from the profile, one of %u sizes", n_set);
    }
    a->assumption = all;
}

static void take_results(struct sizing *z)
{
    struct oc_sizes *s = z->out;
    z->j->executed.macs = oc_mean_count(z->executed, s->runs);
    z->j->executed.padding_macs = oc_mean_count(z->padding, s->runs);
    z->j->work = (struct oc_join_work){.known = z->kept.known,
                                       .model_macs = oc_mean_count(z->kept.model_macs, s->runs),
                                       .row_macs = oc_mean_count(z->kept.row_macs, s->runs),
                                       .eliminated_macs = oc_mean_count(z->kept.eliminated_macs, s->runs),
                                       .lost_macs = oc_mean_count(z->kept.lost_macs, s->runs),
                                       .lost = OC_NONE};
    name_assumptions(z->a, s->n_set);
    set_times(z);
    struct oc_size_set *kept = OC_NEW_ARRAY(&z->j->arena, s->n_set, struct oc_size_set);
    memcpy(kept, s->set, s->n_set * sizeof(*kept));
    free(s->set);
    s->set = kept;
    set_records(z);
    oc_cost_sums_apply(z->sums, z->a);
    z->j->sizes = s;
}

int oc_join_sizes(struct oc_analysis *analysis, const struct oc_analyze_opts *given,
                  const struct oc_model *optimized, struct oc_join *join, struct oc_err *err)
{
    OC_ENTRY(err);
    struct oc_analyze_opts full, *const opts = &full;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    const struct oc_profile *p = join->profile;
    struct sizing z = {.a = analysis,
                       .j = join,
                       .p = p,
                       .opts = opts,
                       .optimized = optimized,
                       .err = err,
                       .kept.known = true};
    int rc = 0;
    if (p->n_shapes < 2 || !analysis)
        return 0;
    z.out = OC_NEW(&join->arena, struct oc_sizes);
    z.out->rec = OC_NEW_ARRAY(&join->arena, (size_t)p->n_rec + 1, struct oc_size_rec);
    z.out->runs = p->runs_used;
    z.out->n_shapes = p->n_shapes;
    z.set_of.arena = &z.scratch;
    z.sums = oc_cost_sums_new(join->model);
    z.size_of = OC_NEW_ARRAY(&z.scratch, p->n_shapes, uint32_t);
    z.runs = oc_xcalloc((size_t)p->n_rec + 1, sizeof(*z.runs));
    z.last_work = oc_xmalloc(((size_t)p->n_rec + 1) * sizeof(*z.last_work));
    memset(z.last_work, 0xff, ((size_t)p->n_rec + 1) * sizeof(*z.last_work));
    find_names(&z);
    find_units(&z);
    for (uint32_t i = 0; i < z.n_unit && !rc; i++)
        rc = add_unit(&z, &z.unit[i]);
    if (!rc)
        take_results(&z);
    else
        free(z.out->set);
    free_sizing(&z);
    return rc;
}
