/* Bounds of the figures of a model for all sizes of ranges (--dim NAME=A..B). */
#include "analyze/handles.h"

#include <math.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/closed_form.h"
#include "base/c_locale.h"
#include "onnxcost.h"

/* An analysis costs about as much as ANALYSIS_NODES nodes in addition to its own. A search that has found no size with exact
 * figures in the first VAIN_BOXES boxes (over 200 sizes), or within VAIN_NODES, ends: a second on a slow machine. */
enum {
    MAX_RANGES = 8,
    MAX_BOXES = 20000,
    MAX_NODES = 4000000,
    ANALYSIS_NODES = 60,
    VAIN_BOXES = 128,
    VAIN_NODES = 100000
};

static const char *const bound_keys[OC_RANGE_COUNT] = {
    [OC_RANGE_MACS] = "macs",
    [OC_RANGE_FLOPS] = "flops",
    [OC_RANGE_OPS] = "ops",
    [OC_RANGE_BYTES] = "bytes",
    [OC_RANGE_PEAK] = "peak_activation_bytes",
    [OC_RANGE_MEMORY] = "memory_bytes",
    [OC_RANGE_PARAMS] = "params",
};

/* Sizes from..to of each range, and bounds of the figures for all of them. */
struct bound_box {
    int64_t from[MAX_RANGES], to[MAX_RANGES];
    uint64_t low[OC_RANGE_COUNT], high[OC_RANGE_COUNT];
    bool open; /* the analysis of intervals gave no bounds */
};

struct bound_search {
    struct oc_bounds *b;
    struct oc_analyze_opts opts;
    struct oc_bind *bind;        /* the user's, then the ranges */
    struct oc_range_bind *range; /* of the box */
    struct bound_box *box;       /* heap */
    uint32_t n_box, cap_box;
    uint64_t nodes;                /* analysed */
    bool any;                      /* a size has figures */
    bool vain;                     /* none has so far, and not all were tried */
    bool inexact;                  /* at some size the figures are not exact */
    bool stopped;                  /* at some size the analysis ended at a limit */
    bool violated[OC_RANGE_COUNT]; /* an evaluated size is outside of its bounds */
    struct oc_err failure;         /* of the first size without figures */
};

/* ---- figures of an analysis ------------------------------------------------------------------------- */

static void bound_figures(const struct oc_analysis *a, uint64_t *v)
{
    const struct oc_totals *t = a->total;
    v[OC_RANGE_MACS] = t->macs;
    v[OC_RANGE_FLOPS] = t->flops;
    v[OC_RANGE_OPS] = t->ops;
    v[OC_RANGE_BYTES] = t->bytes_read_act + t->bytes_read_weight + t->bytes_written;
    v[OC_RANGE_PEAK] = a->peak.bytes;
    v[OC_RANGE_MEMORY] = a->peak.bytes + t->const_bytes;
    v[OC_RANGE_PARAMS] = t->params;
}

static bool only_of(const struct oc_analysis *a, unsigned allowed)
{
    struct oc_trust t = oc_trust_of(a);
    return !t.unknown_nodes && !(t.quality & ~allowed) && allowed >> t.peak & 1;
}

/* The order of the nodes in a control-flow body, and how often it runs, may change with the sizes. */
static bool has_control_flow(const struct oc_analysis *a)
{
    for (uint32_t i = 0; i < a->model->n_node; i++)
        if (oc_op_is(a->op[i], OC_F_CONTROL))
            return true;
    return false;
}

/* ---- one size --------------------------------------------------------------------------------------- */

static void note_point(struct bound_search *s, const int64_t *at, const uint64_t *v)
{
    for (unsigned f = 0; f < OC_RANGE_COUNT; f++) {
        struct oc_range_bound *x = &s->b->bound[f];
        int64_t *copy = NULL;
        if (!x->at_most || v[f] > x->most || v[f] < x->least) {
            copy = OC_NEW_ARRAY(&s->b->arena, s->b->n_range, int64_t);
            memcpy(copy, at, s->b->n_range * sizeof(*copy));
        }
        if (!x->at_most || v[f] > x->most) {
            x->most = v[f];
            x->at_most = copy;
        }
        if (!x->at_least || v[f] < x->least) {
            x->least = v[f];
            x->at_least = copy;
        }
    }
    s->any = true;
}

static bool bound_analyze(struct bound_search *s, struct oc_analysis **a)
{
    struct oc_err err;
    s->b->analyses++;
    s->nodes += s->b->model->n_node + ANALYSIS_NODES;
    if (oc_analyze(s->b->model, &s->opts, a, &err) == 0) {
        uint64_t looked = (*a)->looked; /* more than once where sizes were tried */
        s->nodes += looked > s->b->model->n_node ? looked - s->b->model->n_node : 0;
        return true;
    }
    s->stopped |= err.code != OC_EFORMAT && err.code != OC_EARG;
    if (!s->failure.msg[0])
        s->failure = err;
    return false;
}

/* False: the model does not allow the sizes, or the figures are not exact. */
static bool evaluate_point(struct bound_search *s, const int64_t *at, uint64_t *v)
{
    struct oc_analysis *a;
    size_t own = s->opts.n_bind;
    for (size_t i = 0; i < s->b->n_range; i++)
        s->bind[own + i] = (struct oc_bind){s->b->range[i].symbol, at[i]};
    s->opts.n_bind = own + s->b->n_range;
    s->opts.range = NULL;
    s->opts.n_range = 0;
    s->opts.least = false;
    bool ok = bound_analyze(s, &a);
    s->opts.n_bind = own;
    if (!ok) {
        s->b->without_figures++;
        return false;
    }
    bool exact = only_of(a, 1u << OC_EXACT);
    s->inexact |= !exact;
    bound_figures(a, v);
    oc_analysis_free(a);
    if (exact)
        note_point(s, at, v);
    return exact;
}

/* ---- one box ---------------------------------------------------------------------------------------- */

static bool is_single(const struct bound_search *s, const struct bound_box *x)
{
    return memcmp(x->from, x->to, s->b->n_range * sizeof(*x->from)) == 0;
}

static bool bound_side(struct bound_search *s, const struct bound_box *x, bool least, uint64_t *v)
{
    struct oc_analysis *a;
    for (size_t i = 0; i < s->b->n_range; i++)
        s->range[i] = (struct oc_range_bind){s->b->range[i].symbol, x->from[i], x->to[i]};
    s->opts.range = s->range;
    s->opts.n_range = s->b->n_range;
    s->opts.least = least;
    if (!bound_analyze(s, &a))
        return false;
    bool ok = only_of(a, 1u << OC_EXACT | 1u << OC_UPPER) && !has_control_flow(a);
    bound_figures(a, v);
    oc_analysis_free(a);
    return ok;
}

/* Where a size is 1, data need not move and buffers are shared: intervals give no lower bounds of bytes. */
static bool has_low(unsigned figure)
{
    return figure != OC_RANGE_BYTES && figure != OC_RANGE_PEAK && figure != OC_RANGE_MEMORY;
}

static void check_corner(struct bound_search *s, const struct bound_box *x, const int64_t *at)
{
    uint64_t v[OC_RANGE_COUNT];
    if (!evaluate_point(s, at, v))
        return;
    for (unsigned f = 0; f < OC_RANGE_COUNT; f++)
        s->violated[f] |= v[f] < x->low[f] || v[f] > x->high[f];
}

static void bound_box_of(struct bound_search *s, struct bound_box *x)
{
    x->open = false;
    if (is_single(s, x)) {
        bool value = evaluate_point(s, x->from, x->high);
        for (unsigned f = 0; f < OC_RANGE_COUNT; f++) {
            x->low[f] = value ? x->high[f] : UINT64_MAX;
            x->high[f] = value ? x->high[f] : 0;
        }
        return;
    }
    x->open = !bound_side(s, x, false, x->high) || !bound_side(s, x, true, x->low);
    for (unsigned f = 0; f < OC_RANGE_COUNT; f++) {
        x->low[f] = x->open || !has_low(f) ? 0 : x->low[f];
        x->high[f] = x->open ? UINT64_MAX : x->high[f];
    }
    check_corner(s, x, x->from);
    check_corner(s, x, x->to);
}

/* ---- the search ------------------------------------------------------------------------------------- */

static void add_box(struct bound_search *s, const struct bound_box *x)
{
    OC_GROW(s->box, s->n_box, s->cap_box);
    s->box[s->n_box] = *x;
    bound_box_of(s, &s->box[s->n_box++]);
}

/* Whether some figure of the box may be beyond those of the evaluated sizes. */
static bool has_gap(const struct bound_search *s, const struct bound_box *x)
{
    for (unsigned f = 0; f < OC_RANGE_COUNT; f++)
        if (x->high[f] > s->b->bound[f].most || (has_low(f) && x->low[f] < s->b->bound[f].least))
            return true;
    return false;
}

static double box_volume(const struct bound_search *s, const struct bound_box *x)
{
    double v = 1;
    for (size_t i = 0; i < s->b->n_range; i++)
        v *= (double)(x->to[i] - x->from[i] + 1);
    return v;
}

static struct bound_box *next_box(struct bound_search *s)
{
    struct bound_box *best = NULL;
    double most = 0;
    for (uint32_t i = 0; i < s->n_box; i++) {
        double v = is_single(s, &s->box[i]) || !has_gap(s, &s->box[i]) ? 0 : box_volume(s, &s->box[i]);
        if (v > most) {
            most = v;
            best = &s->box[i];
        }
    }
    return best;
}

/* Halves the range that is longest on a logarithmic scale. */
static void split_box(struct bound_search *s, struct bound_box *x)
{
    size_t longest = 0;
    double most = 0;
    for (size_t i = 0; i < s->b->n_range; i++) {
        double ratio = ((double)x->to[i] + 1) / ((double)x->from[i] + 1);
        longest = ratio > most ? i : longest;
        most = ratio > most ? ratio : most;
    }
    struct bound_box low = *x, high = *x;
    int64_t from = x->from[longest], to = x->to[longest];
    low.to[longest] = from + (to - from) / 2;
    high.from[longest] = low.to[longest] + 1;
    *x = low;
    bound_box_of(s, x);
    add_box(s, &high);
}

static void search_bounds(struct bound_search *s)
{
    struct bound_box all = {.open = false}, *x;
    for (size_t i = 0; i < s->b->n_range; i++) {
        all.from[i] = s->b->range[i].from;
        all.to[i] = s->b->range[i].to;
    }
    add_box(s, &all);
    while (s->n_box < MAX_BOXES && s->nodes < MAX_NODES &&
           (s->any || (s->n_box < VAIN_BOXES && s->nodes < VAIN_NODES)) && (x = next_box(s)))
        split_box(s, x);
    s->vain = !s->any && next_box(s);
}

static void conclude(struct bound_search *s)
{
    bool open = false, every_size = true;
    for (uint32_t i = 0; i < s->n_box; i++) {
        open |= s->box[i].open;
        every_size &= is_single(s, &s->box[i]);
    }
    for (unsigned f = 0; f < OC_RANGE_COUNT; f++) {
        struct oc_range_bound *x = &s->b->bound[f];
        x->key = bound_keys[f];
        x->low = UINT64_MAX;
        x->high = 0;
        for (uint32_t i = 0; i < s->n_box; i++) {
            x->low = s->box[i].low[f] < x->low ? s->box[i].low[f] : x->low;
            x->high = s->box[i].high[f] > x->high ? s->box[i].high[f] : x->high;
        }
        x->has_low = has_low(f) || every_size;
        x->why = s->inexact       ? "at some sizes the figures are not exact"
                 : s->stopped     ? "at some sizes the analysis ended at a limit"
                 : s->violated[f] ? "a bound does not hold at a size that was evaluated"
                 : open           ? "some sizes have neither bounds nor an evaluation"
                                  : NULL;
        x->proven = !x->why;
    }
    s->b->boxes = s->n_box;
}

/* ---- public ----------------------------------------------------------------------------------------- */

static int take_ranges(struct oc_bounds *b, const struct oc_analyze_opts *o,
                       const struct oc_range_bind *range, size_t n, struct oc_err *err)
{
    if (!n || n > MAX_RANGES)
        return oc_fail(err, OC_EARG, "1 to %d dimensions can have ranges", MAX_RANGES);
    struct oc_range_bind *copy = OC_NEW_ARRAY(&b->arena, n, struct oc_range_bind);
    for (size_t i = 0; i < n; i++) {
        copy[i] = (struct oc_range_bind){oc_strdup(&b->arena, range[i].symbol), range[i].from, range[i].to};
        if (copy[i].from < 0 || copy[i].to < copy[i].from)
            return oc_fail(err, OC_EARG, "the range of '%s' is empty", copy[i].symbol);
        for (size_t k = 0; k < i + o->n_bind; k++)
            if (strcmp(copy[i].symbol, k < i ? copy[k].symbol : o->bind[k - i].symbol) == 0)
                return oc_fail(err, OC_EARG, "dimension '%s' is given twice", copy[i].symbol);
    }
    b->range = copy;
    b->n_range = n;
    return 0;
}

int oc_bounds_make(const struct oc_model *model, const struct oc_analyze_opts *given,
                   const struct oc_range_bind *range, size_t n_range, struct oc_bounds **out,
                   struct oc_err *err)
{
    OC_ENTRY(err);
    struct bound_search s = {0};
    *out = NULL;
    if (OC_OPTIONS(&s.opts, given, err))
        return -1;
    struct oc_bounds *b = oc_xmalloc(sizeof(*b));
    *b = (struct oc_bounds){.model = model};
    if (take_ranges(b, &s.opts, range, n_range, err)) {
        oc_bounds_free(b);
        return -1;
    }
    s.b = b;
    s.bind = OC_NEW_ARRAY(&b->arena, s.opts.n_bind + n_range, struct oc_bind);
    s.range = OC_NEW_ARRAY(&b->arena, n_range, struct oc_range_bind);
    if (s.opts.n_bind)
        memcpy(s.bind, s.opts.bind, s.opts.n_bind * sizeof(*s.bind));
    s.opts.bind = s.bind;
    search_bounds(&s);
    conclude(&s);
    free(s.box);
    if (!s.any) {
        oc_bounds_free(b);
        if (!s.failure.msg[0] && s.vain)
            return oc_fail(err, OC_EARG,
                           "the figures are exact at no size that was tried, in %" PRIu32
                           " parts of the ranges: give smaller ranges",
                           s.n_box);
        if (!s.failure.msg[0])
            return oc_fail(err, OC_EARG, "at no size in the ranges are the figures exact");
        if (err)
            *err = s.failure;
        return -1;
    }
    *out = b;
    return 0;
}

const char *oc_bounds_assumption(void)
{
    return "the counts of an operator grow with its sizes";
}

void oc_bounds_free(struct oc_bounds *b)
{
    if (!b)
        return;
    oc_arena_free(&b->arena);
    free(b);
}

const struct oc_range_bound *oc_bounds_figure(const struct oc_bounds *b, enum oc_range_figure f)
{
    return &b->bound[f];
}

const char *oc_bounds_sizes(const struct oc_bounds *b, const int64_t *at)
{
    struct oc_arena *arena = (struct oc_arena *)&b->arena;
    const char *text = "";
    for (size_t i = 0; at && i < b->n_range; i++)
        text = oc_printf(arena, "%s%s%s = %lld", text, i ? ", " : "", b->range[i].symbol, (long long)at[i]);
    return text;
}
