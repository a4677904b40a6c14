/* Lower bounds of times as closed forms. A device makes the time of a part (bound.h) a maximum of sums of counts, each
 * times a constant, and a law (bound_law.c) has the counts as polynomials of the sizes. What the constants are is not
 * stated here: the roofline of one operation, or of one byte, says it. Parts that are equal everywhere are evaluated
 * once. */
#include "estimate/time_bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/ck.h"
#include "onnxcost.h"

enum {
    MAX_TERMS = 512, /* of a region: monomials and choices of two forms; with more its sizes are analysed */
    PROBE = 1 << 30  /* operations: enough for exact constants */
};

struct use {
    uint32_t term;
    double by;
};

struct form { /* sum of coefficients times terms */
    const struct use *use;
    uint32_t n;
};

/* Where a count is not a polynomial: the smaller or larger of two forms, or what is left of multiplications (bound.h). Terms after
 * the monomials; each may use those before it. */
enum choice_kind { SMALLER = OC_BOX_MIN, LARGER = OC_BOX_MAX, LEFT };

struct choice {
    enum choice_kind kind;
    struct form a, b;
    double by;            /* LEFT */
    uint32_t poly, other; /* what it was made of; LEFT: a class of outputs */
};

struct equal_parts { /* products, or the second bound */
    uint32_t part;   /* one of them */
    double count;
    bool products_elsewhere; /* the second bound: in which class its products run is open */
    unsigned n_way;
    uint8_t way[OC_BOUND_WAYS];
};

struct work_form {
    struct form unit[OC_BOUND_WAYS][OC_HW_UNIT_COUNT]; /* seconds, of the units that have work */
    unsigned n_unit[OC_BOUND_WAYS];
    struct form bytes, weights, written, launches;
};

struct region {
    int64_t from[OC_RPOLY_VARS], to[OC_RPOLY_VARS];
    struct oc_pow *term;
    uint32_t n_term;
    struct choice *choice;
    uint32_t n_choice;
    struct work_form *work; /* by equal parts */
    struct form stored, before, after;
};

struct oc_time_bound {
    struct oc_arena arena;
    struct oc_time_bound_in in;
    void (*free_ctx)(void *ctx);
    struct oc_device device; /* without the overhead, which is not in the bound */
    double slowest_bandwidth;
    unsigned n_var;
    int64_t first[OC_RPOLY_VARS], step[OC_RPOLY_VARS];
    struct equal_parts *equal;
    uint32_t n_equal;
    bool *in_module; /* by part */
    struct region *region;
    uint32_t n_region;
};

/* ---- products of a module --------------------------------------------------------------------------- */

/* "/model/layers.3" has "/model/layers.3/mlp/MatMul", not "/model/layers.30/...". */
static bool is_inside(const char *name, const char *module)
{
    size_t n = strlen(module);
    return name && !strncmp(name, module, n) && (!name[n] || name[n] == '/' || name[n] == '.');
}

static bool *parts_inside(const struct oc_bound_load *load, const struct oc_analysis *a, const char *module,
                          struct oc_arena *arena, bool *any)
{
    bool *in = OC_NEW_ARRAY(arena, (size_t)load->n_part + 1, bool);
    *any = !module;
    for (uint32_t p = 0; p <= load->n_part; p++)
        in[p] = !module;
    for (uint32_t i = 0; module && i < a->model->n_node; i++)
        if (load->part_of_root[i] != OC_NONE && is_inside(a->model->node[i].name, module))
            *any = in[load->part_of_root[i]] = true;
    return in;
}

/* ---- what runs where -------------------------------------------------------------------------------- */

/* Adds the outputs that a part depends on: equal keys, equal work. */
static void write_key(const struct oc_bound_law *law, uint32_t part, struct oc_buf *key)
{
    size_t end = oc_bound_law_field(law, 0, part + 1, 0);
    for (size_t i = oc_bound_law_field(law, 0, part, 0); i < end; i++)
        oc_buf_add(key, &law->boxes.class_of[i], sizeof(uint32_t));
    oc_buf_add(key, &law->also[part], 1);
    for (uint32_t i = 0; i < law->n_fewer[0]; i++) {
        const struct oc_bound_fewer *f = &law->fewer[0][i];
        if (f->part != part)
            continue;
        oc_buf_add(key, &law->boxes.class_of[oc_bound_law_fewer(law, 0, i)], sizeof(uint32_t));
        oc_buf_add(key, &f->cls, 1);
        oc_buf_add(key, &f->by, sizeof(f->by));
    }
}

static void find_equal_parts(struct oc_time_bound *b, const struct oc_bound_law *law)
{
    struct oc_buf key = {0};
    struct oc_map at = {.arena = &b->arena};
    bool open = false;
    b->equal = OC_NEW_ARRAY(&b->arena, (size_t)law->n_part + 1, struct equal_parts);
    for (uint32_t p = 0; p < law->n_part; p++) {
        open |= law->also[p] != 0;
        if (!b->in_module[p])
            continue;
        oc_buf_clear(&key);
        write_key(law, p, &key);
        uint32_t i = oc_map_get(&at, key.data, key.n);
        if (i == OC_NONE) {
            i = b->n_equal++;
            b->equal[i].part = p;
            b->equal[i].n_way = oc_bound_ways(&b->device, law->also[p], b->equal[i].way);
            oc_map_set(&at, oc_strndup(&b->arena, key.data, key.n), key.n, i);
        }
        b->equal[i].count++;
    }
    if (!b->in.module)
        b->equal[b->n_equal++] = (struct equal_parts){
            .part = law->n_part, .count = 1, .products_elsewhere = open, .n_way = 1, .way = {OC_CLASS_NONE}};
    oc_map_free(&at);
    oc_buf_free(&key);
}

/* ---- forms ------------------------------------------------------------------------------------------ */

struct compiler { /* of one region */
    struct oc_time_bound *b;
    const struct oc_bound_law *law;
    const struct oc_box *box;
    struct region *r;
    struct oc_pow term[MAX_TERMS];
    struct choice choice[MAX_TERMS];
    uint32_t n_term, n_choice;
    double sum[MAX_TERMS + MAX_TERMS]; /* of the form that is being made; choices after MAX_TERMS */
    bool too_many;
};

static void add_poly(struct compiler *k, uint32_t poly, double by)
{
    const struct oc_rpoly *p = &k->law->boxes.poly[poly];
    for (uint32_t t = 0; t < p->n_term && !k->too_many; t++) {
        uint32_t i = 0;
        while (i < k->n_term && memcmp(&k->term[i], &p->term[t].pow, sizeof(k->term[i])))
            i++;
        if (i == k->n_term && i == MAX_TERMS) {
            k->too_many = true;
            return;
        }
        k->n_term += i == k->n_term;
        k->term[i] = p->term[t].pow;
        k->sum[i] += by * ((double)p->term[t].num / (double)p->den);
    }
}

static struct form take_form(struct compiler *k)
{
    uint32_t n = 0, end = MAX_TERMS + k->n_choice;
    for (uint32_t i = 0; i < end; i++)
        n += k->sum[i] < 0 || k->sum[i] > 0;
    struct use *use = OC_NEW_ARRAY(&k->b->arena, n, struct use);
    struct form f = {.use = use, .n = n};
    for (uint32_t i = 0, at = 0; i < end; i++) {
        if (k->sum[i] < 0 || k->sum[i] > 0)
            use[at++] = (struct use){i, k->sum[i]};
        k->sum[i] = 0;
    }
    return f;
}

static uint32_t choice_at(const struct compiler *k, const struct choice *wanted)
{
    uint32_t i = 0;
    while (i < k->n_choice &&
           (k->choice[i].kind != wanted->kind || k->choice[i].poly != wanted->poly ||
            k->choice[i].other != wanted->other || islessgreater(k->choice[i].by, wanted->by)))
        i++;
    return i;
}

static struct choice choice_of_class(const struct compiler *k, uint32_t c)
{
    return (struct choice){
        .kind = (enum choice_kind)k->box->form[c], .poly = k->box->poly[c], .other = k->box->other[c]};
}

static void add_choice(struct compiler *k, const struct choice *c, double by)
{
    uint32_t i = choice_at(k, c);
    if (i < k->n_choice)
        k->sum[MAX_TERMS + i] += by;
}

static void add_class(struct compiler *k, uint32_t c, double by)
{
    if (c == k->law->boxes.group[1].zero || !(by > 0))
        return;
    const struct choice choice = choice_of_class(k, c);
    if (k->box->form[c] == OC_BOX_POLY)
        add_poly(k, k->box->poly[c], by);
    else
        add_choice(k, &choice, by);
}

static void add_output(struct compiler *k, size_t output, double by)
{
    add_class(k, k->law->boxes.class_of[output], by);
}

/* Choices are made before the forms that use them. */
static void make_choice(struct compiler *k, struct choice made)
{
    if (k->too_many || choice_at(k, &made) < k->n_choice)
        return;
    k->too_many = k->n_choice == MAX_TERMS;
    if (k->too_many)
        return;
    if (made.kind == LEFT) {
        add_class(k, made.poly, 1);
        made.a = take_form(k);
    } else {
        add_poly(k, made.poly, 1);
        made.a = take_form(k);
        add_poly(k, made.other, 1);
        made.b = take_form(k);
    }
    k->choice[k->n_choice++] = made;
}

static struct choice left_of(const struct oc_bound_law *law, uint32_t i)
{
    return (struct choice){
        .kind = LEFT, .poly = law->boxes.class_of[oc_bound_law_fewer(law, 0, i)], .by = law->fewer[0][i].by};
}

static void make_choices(struct compiler *k)
{
    for (uint32_t c = 0; c < k->law->boxes.group[1].n_class; c++)
        if (k->box->form[c] != OC_BOX_POLY)
            make_choice(k, choice_of_class(k, c));
    for (uint32_t i = 0; i < k->law->n_fewer[0]; i++)
        make_choice(k, left_of(k->law, i));
}

static struct form form_of(struct compiler *k, size_t output)
{
    add_output(k, output, 1);
    return take_form(k);
}

/* Seconds on the unit for one operation of the kind and class. */
static double cost_of_one(const struct oc_device *d, unsigned kind, unsigned cls, unsigned way, unsigned unit)
{
    struct oc_work w = {0};
    uint64_t *const count[OC_LAW_KINDS] = {[OC_LAW_CLASS_MACS] = w.macs,
                                           [OC_LAW_CLASS_FLOPS] = w.flops,
                                           [OC_LAW_SPECIAL] = w.special,
                                           [OC_LAW_SPECIAL_FLOPS] = w.special_flops};
    struct oc_roof r;
    count[kind][cls] = PROBE;
    oc_roof_take_known_types(d, &w);
    oc_bound_run_in(&w, way);
    oc_roofline(d, &w, NAN, &r);
    return isfinite(r.unit_s[unit]) ? r.unit_s[unit] / PROBE : 0;
}

static struct form unit_form(struct compiler *k, const struct equal_parts *e, unsigned way, unsigned unit)
{
    const struct oc_bound_law *law = k->law;
    for (unsigned kind = 0; kind < OC_LAW_KINDS; kind++)
        for (unsigned c = 0; c < law->n_cls; c++)
            if (kind != OC_LAW_CLASS_MACS || !e->products_elsewhere)
                add_output(k, oc_bound_law_ops(law, 0, e->part, kind, c),
                           cost_of_one(&k->b->device, kind, law->cls[c], way, unit));
    for (uint32_t i = 0; i < law->n_fewer[0] && !e->products_elsewhere; i++) {
        const struct oc_bound_fewer *f = &law->fewer[0][i];
        const struct choice left = left_of(law, i);
        if (f->part == e->part || e->part == law->n_part)
            add_choice(k, &left, cost_of_one(&k->b->device, OC_LAW_CLASS_MACS, f->cls, way, unit));
    }
    return take_form(k);
}

static void make_work(struct compiler *k, const struct equal_parts *e, struct work_form *w)
{
    const struct oc_bound_law *law = k->law;
    bool keeps = k->b->in.cache && e->part < law->n_part && oc_bound_keeps_tensors(&k->b->device);
    for (unsigned i = 0; i < e->n_way; i++)
        for (unsigned u = 0; u < OC_HW_UNIT_COUNT; u++) {
            struct form *f = &w->unit[i][w->n_unit[i]];
            *f = unit_form(k, e, e->way[i], u);
            w->n_unit[i] += f->n > 0;
        }
    w->weights = form_of(k, oc_bound_law_field(law, 0, e->part, OC_LAW_WEIGHT_BYTES));
    w->bytes = keeps ? w->weights : form_of(k, oc_bound_law_field(law, 0, e->part, OC_LAW_BYTES));
    w->launches = form_of(k, oc_bound_law_field(law, 0, e->part, OC_LAW_LAUNCHES));
    if (!keeps)
        w->written = form_of(k, oc_bound_law_field(law, 0, e->part, OC_LAW_BYTES_WRITTEN));
}

/* False: the region has too many terms. */
static bool make_region(struct compiler *k)
{
    struct oc_arena *arena = &k->b->arena;
    struct region *r = k->r;
    memcpy(r->from, k->box->from, sizeof(r->from));
    memcpy(r->to, k->box->to, sizeof(r->to));
    make_choices(k);
    r->work = OC_NEW_ARRAY(arena, k->b->n_equal, struct work_form);
    for (uint32_t i = 0; i < k->b->n_equal; i++)
        make_work(k, &k->b->equal[i], &r->work[i]);
    r->stored = form_of(k, oc_bound_law_constant(k->law, 0, OC_LAW_STORED));
    r->before = form_of(k, oc_bound_law_constant(k->law, 0, OC_LAW_BEFORE));
    r->after = form_of(k, oc_bound_law_constant(k->law, 0, OC_LAW_AFTER));
    r->n_term = k->n_term;
    r->n_choice = k->n_choice;
    r->term = OC_NEW_ARRAY(arena, k->n_term, struct oc_pow);
    r->choice = OC_NEW_ARRAY(arena, k->n_choice, struct choice);
    memcpy(r->term, k->term, k->n_term * sizeof(*r->term));
    memcpy(r->choice, k->choice, k->n_choice * sizeof(*r->choice));
    return !k->too_many;
}

static void make_regions(struct oc_time_bound *b, const struct oc_bound_law *law)
{
    const struct oc_box_group *g = &law->boxes.group[1];
    struct compiler *k = oc_xmalloc(sizeof(*k));
    memcpy(b->first, law->boxes.first, sizeof(b->first));
    memcpy(b->step, law->boxes.step, sizeof(b->step));
    b->region = OC_NEW_ARRAY(&b->arena, g->n_box, struct region);
    for (uint32_t i = 0; i < g->n_box; i++) {
        memset(k, 0, sizeof(*k));
        k->b = b;
        k->law = law;
        k->box = &g->box[i];
        k->r = &b->region[b->n_region];
        b->n_region += make_region(k);
    }
    free(k);
}

/* ---- at one size ------------------------------------------------------------------------------------ */

static double form_at(const struct form *f, const double *term)
{
    double sum = 0;
    for (uint32_t i = 0; i < f->n; i++)
        sum += f->use[i].by * term[f->use[i].term];
    return sum;
}

static uint64_t count_at(const struct form *f, const double *term)
{
    double v = form_at(f, term);
    return v < 0.5 ? 0 : v < 0x1p63 ? (uint64_t)(v + 0.5) : UINT64_MAX;
}

static double choice_value(const struct choice *c, const double *term)
{
    if (c->kind == LEFT)
        return (double)oc_bound_fewer_macs(count_at(&c->a, term), c->by);
    double x = form_at(&c->a, term), y = form_at(&c->b, term);
    return c->kind == LARGER ? fmax(x, y) : fmin(x, y);
}

static void fill_terms(const struct oc_time_bound *b, const struct region *r, const int64_t *size,
                       double *term)
{
    double power[OC_RPOLY_VARS][OC_RPOLY_DEGREE + 1];
    for (unsigned v = 0; v < b->n_var; v++) {
        power[v][0] = 1;
        for (unsigned d = 1; d <= OC_RPOLY_DEGREE; d++)
            power[v][d] = power[v][d - 1] * (double)size[v];
    }
    for (uint32_t i = 0; i < r->n_term; i++) {
        term[i] = 1;
        for (unsigned v = 0; v < b->n_var; v++)
            term[i] *= power[v][r->term[i].of[v]];
    }
    for (uint32_t i = 0; i < r->n_choice; i++)
        term[MAX_TERMS + i] = choice_value(&r->choice[i], term);
}

static double arithmetic_at(const struct equal_parts *e, const struct work_form *w, const double *term)
{
    double least = INFINITY;
    for (unsigned i = 0; i < e->n_way; i++) {
        double longest = 0;
        for (unsigned u = 0; u < w->n_unit[i]; u++) {
            double s = form_at(&w->unit[i][u], term);
            longest = s > longest ? s : longest;
        }
        least = longest < least ? longest : least;
    }
    return least;
}

/* The larger of the arithmetic's time and that of the memory, whose levels count only where it can be longer. */
static double part_time(const struct oc_time_bound *b, const struct equal_parts *e, const struct work_form *w,
                        uint64_t constants, const struct oc_roof_opts *opts, const double *term)
{
    double s = arithmetic_at(e, w, term);
    struct oc_roof_traffic t = {.bytes = count_at(&w->bytes, term) + constants};
    if ((double)t.bytes <= s * b->slowest_bandwidth)
        return s;
    t.weight_bytes = count_at(&w->weights, term) + constants;
    t.written = count_at(&w->written, term);
    t.launches = count_at(&w->launches, term);
    struct oc_roof_placed memory;
    oc_roof_place(&b->device, &t, opts, &memory);
    return memory.slowest_s > s ? memory.slowest_s : s;
}

static double region_time(const struct oc_time_bound *b, const struct region *r, const int64_t *size)
{
    double term[MAX_TERMS + MAX_TERMS], sum = 0, all = 0;
    fill_terms(b, r, size, term);
    uint64_t constants =
        oc_bound_weights(count_at(&r->stored, term), count_at(&r->before, term), count_at(&r->after, term));
    const struct oc_roof_opts opts = {.cache = b->in.cache, .const_bytes = constants};
    for (uint32_t i = 0; i < b->n_equal; i++) {
        const struct equal_parts *e = &b->equal[i];
        bool second = !b->in.module && i + 1 == b->n_equal;
        double s = part_time(b, e, &r->work[i], second ? constants : 0, &opts, term);
        if (second)
            all = s;
        else
            sum += e->count * s;
    }
    return fmax(sum, all);
}

static double analysed_time(const struct oc_time_bound *b, const int64_t *size)
{
    struct oc_analysis *a;
    struct oc_arena arena = {0};
    struct oc_bound_load load;
    bool any;
    if (b->in.source.analyze(b->in.source.ctx, size, &a))
        return NAN;
    oc_bound_load_make(a, b->in.source.as, &arena, &load);
    const bool *in = parts_inside(&load, a, b->in.module, &arena, &any);
    double s = b->in.module ? oc_bound_parts_time(&load, in, &b->device, b->in.cache)
                            : oc_bound_time(&load, &b->device, b->in.cache);
    oc_arena_free(&arena);
    oc_analysis_free(a);
    return s;
}

static bool region_covers(const struct oc_time_bound *b, const struct region *r, const int64_t *size)
{
    for (unsigned v = 0; v < b->n_var; v++)
        if (size[v] < r->from[v] || size[v] > r->to[v] ||
            (b->step[v] > 1 && (size[v] - b->first[v]) % b->step[v]))
            return false;
    return true;
}

static const struct region *find_region(const struct oc_time_bound *b, const int64_t *size)
{
    uint32_t i = 0;
    while (i < b->n_region && !region_covers(b, &b->region[i], size))
        i++;
    return i < b->n_region ? &b->region[i] : NULL;
}

bool oc_time_bound_is_closed(const struct oc_time_bound *b, const int64_t *size)
{
    return find_region(b, size) != NULL;
}

double oc_time_bound_at(const struct oc_time_bound *b, const int64_t *size)
{
    const struct region *r = find_region(b, size);
    double s = r ? region_time(b, r, size) : analysed_time(b, size);
    return s > 0 ? s * 1e9 : NAN;
}

void oc_time_bound_all(const struct oc_time_bound *b, const int64_t *size, size_t n, double *out_ns)
{
    for (size_t i = 0; i < n; i++)
        out_ns[i] = oc_time_bound_at(b, size + i * b->n_var);
}

/* ---- making one ------------------------------------------------------------------------------------- */

/* Which parts are in the module: the products of a model are the same at all sizes of a law. */
static int find_module(struct oc_time_bound *b, struct oc_err *err)
{
    const struct oc_law_source *s = &b->in.source;
    int64_t x[OC_RPOLY_VARS] = {0};
    struct oc_analysis *a;
    struct oc_arena arena = {0};
    struct oc_bound_load load;
    bool any;
    for (unsigned v = 0; v < s->n_var; v++)
        x[v] = s->var[v].start;
    if (s->analyze(s->ctx, x, &a))
        return oc_fail(err, OC_EARG, "the model has no figures at the smallest sizes");
    oc_bound_load_make(a, s->as, &arena, &load);
    b->in_module = parts_inside(&load, a, b->in.module, &b->arena, &any);
    oc_arena_free(&arena);
    oc_analysis_free(a);
    return any ? 0 : oc_fail(err, OC_EARG, "no matrix product or convolution in '%.100s'", b->in.module);
}

int oc_time_bound_of(const struct oc_time_bound_in *in, void (*free_ctx)(void *ctx),
                     struct oc_time_bound **out, struct oc_err *err)
{
    struct oc_bound_law law;
    struct oc_time_bound *b = oc_xmalloc(sizeof(*b));
    *b = (struct oc_time_bound){
        .in = *in, .free_ctx = free_ctx, .device = *in->device, .n_var = in->source.n_var};
    b->slowest_bandwidth = oc_roof_slowest_bandwidth(in->device);
    b->device.overhead = NULL;
    if (in->module)
        b->in.module = oc_strdup(&b->arena, in->module);
    if (find_module(b, err)) {
        oc_time_bound_free(b);
        return -1;
    }
    b->in.source.own_type = true;
    if (oc_bound_law_make(&b->in.source, &law)) {
        find_equal_parts(b, &law);
        make_regions(b, &law);
        oc_bound_law_free(&law);
    }
    b->in.source.var = NULL; /* the caller's */
    *out = b;
    return 0;
}

void oc_time_bound_free(struct oc_time_bound *b)
{
    if (!b)
        return;
    if (b->free_ctx)
        b->free_ctx(b->in.source.ctx);
    oc_arena_free(&b->arena);
    free(b);
}

/* ---- of a model ------------------------------------------------------------------------------------- */

struct sized_model {
    struct oc_arena arena;
    const struct oc_model *model;
    struct oc_analyze_opts opts; /* without the open sizes */
    struct oc_bind *bind;        /* those of the options, then the open ones */
    size_t n_open;
    struct oc_box_var *var;
};

static int analyze_sized(void *ctx, const int64_t *x, struct oc_analysis **out)
{
    const struct sized_model *m = ctx;
    struct oc_analyze_opts opts = m->opts;
    struct oc_err unused;
    size_t n = opts.n_bind;
    struct oc_bind *bind = oc_xmalloc((n + m->n_open) * sizeof(*bind));
    memcpy(bind, m->bind, (n + m->n_open) * sizeof(*bind));
    for (size_t i = 0; i < m->n_open; i++)
        bind[n + i].value = x[i];
    opts.bind = bind;
    opts.n_bind = n + m->n_open;
    int rc = oc_analyze(m->model, &opts, out, &unused);
    free(bind);
    return rc;
}

static void free_sized(void *ctx)
{
    struct sized_model *m = ctx;
    oc_arena_free(&m->arena);
    free(m);
}

static bool has_symbol(const struct oc_model *m, const char *name)
{
    for (uint32_t i = 0; i < m->n_symbol; i++)
        if (!strcmp(m->symbol[i], name))
            return true;
    return false;
}

static int open_sizes(struct sized_model *m, const struct oc_time_bound_opts *o, struct oc_err *err)
{
    if (o->n_range > OC_RPOLY_VARS || !o->n_range)
        return oc_fail(err, OC_EARG, "1 to %d dimensions can have ranges", OC_RPOLY_VARS);
    m->n_open = o->n_range;
    m->bind = OC_NEW_ARRAY(&m->arena, m->opts.n_bind + o->n_range, struct oc_bind);
    m->var = OC_NEW_ARRAY(&m->arena, o->n_range, struct oc_box_var);
    for (size_t i = 0; i < m->opts.n_bind; i++)
        m->bind[i] = (struct oc_bind){oc_strdup(&m->arena, m->opts.bind[i].symbol), m->opts.bind[i].value};
    for (size_t i = 0; i < o->n_range; i++) {
        const struct oc_range_bind *r = &o->range[i];
        if (!has_symbol(m->model, r->symbol))
            return oc_fail(err, OC_EARG, "the model has no dimension '%.60s'", r->symbol);
        if (r->from < 0 || r->to < r->from)
            return oc_fail(err, OC_EARG, "the range of '%.60s' is empty", r->symbol);
        m->bind[m->opts.n_bind + i] = (struct oc_bind){oc_strdup(&m->arena, r->symbol), r->from};
        m->var[i] = (struct oc_box_var){.start = r->from, .from = r->from, .to = r->to, .step = 1};
    }
    return 0;
}

int oc_time_bound_make(const struct oc_model *model, const struct oc_device *device,
                       const struct oc_time_bound_opts *given, struct oc_time_bound **out, struct oc_err *err)
{
    OC_ENTRY(err);
    struct oc_time_bound_opts opts;
    *out = NULL;
    struct sized_model *m = oc_xmalloc(sizeof(*m));
    *m = (struct sized_model){.model = model};
    if (OC_OPTIONS(&opts, given, err) || OC_OPTIONS(&m->opts, opts.analyze, err) ||
        open_sizes(m, &opts, err)) {
        free_sized(m);
        return -1;
    }
    const struct oc_recast *as = opts.as ? oc_recast_by_name(opts.as) : NULL;
    if (opts.as && !as) {
        free_sized(m);
        return oc_recast_unknown(opts.as, err);
    }
    const struct oc_time_bound_in in = {.device = device,
                                        .cache = opts.cache,
                                        .module = opts.module,
                                        .source = {.analyze = analyze_sized,
                                                   .ctx = m,
                                                   .n_var = (unsigned)m->n_open,
                                                   .var = m->var,
                                                   .as = as,
                                                   .max_evals = oc_law_evals(model)}};
    return oc_time_bound_of(&in, free_sized, out, err);
}
