/* Piecewise closed forms: boxes of sizes in each of which an output is one rational polynomial. */
#include "analyze/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

enum {
    DEGREE = 2,      /* of one variable */
    TOTAL = 3,       /* of all; more if that does not fit */
    CONFIRMED = 5,   /* points of a range that is more than the points of its fit */
    MAX_PIECES = 12, /* of one variable */
    MAX_BOXES = 64,
    MAX_FACTOR = 64, /* of a step */
    HALVINGS = 3,
    CHECKS = 8, /* random points in each box, in addition to its corners */
    MAX_SPLITS = 8
};

__extension__ typedef __int128 wide;

struct maker {
    const struct oc_boxes_in *in;
    struct oc_boxes *out;
    struct oc_box_var var[OC_RPOLY_VARS]; /* with the chosen steps */
    struct oc_arena arena;                /* of one attempt */
    struct oc_map seen;                   /* points: indices in `row` */
    uint64_t **row;                       /* heap; by class; NULL: no value */
    uint32_t n_row, cap_row;
    uint64_t *scratch;  /* by output */
    uint32_t *class_of; /* by output, over all groups */
    uint32_t *member;   /* by class: its first output */
    uint32_t n_class;
    struct oc_box_group *group; /* the current one */
    int64_t probe[24][OC_RPOLY_VARS];
    unsigned n_probe;
    int64_t centre[OC_RPOLY_VARS];
    bool split; /* outputs of one class differ at a point, which is now a probe */
    struct oc_map polys;
};

/* ---- values ----------------------------------------------------------------------------------------- */

static bool boxes_classes_hold(const struct maker *k)
{
    for (size_t i = 0; i < k->in->n_out; i++)
        if (k->scratch[i] != k->scratch[k->member[k->class_of[i]]])
            return false;
    return true;
}

static void note_split(struct maker *k, const int64_t *x)
{
    k->split = true;
    if (k->n_probe < OC_COUNT(k->probe))
        memcpy(k->probe[k->n_probe++], x, k->in->n_var * sizeof(*x));
}

/* The values by class; NULL: none, or the attempt is over. */
static const uint64_t *boxes_row(struct maker *k, const int64_t *x)
{
    const char *key = (const char *)x;
    size_t n = k->in->n_var * sizeof(*x);
    uint32_t id = oc_map_get(&k->seen, key, n);
    if (id != OC_NONE)
        return k->row[id];
    if (k->split || k->out->evals >= k->in->max_evals)
        return NULL;
    k->out->evals++;
    uint64_t *row = NULL;
    if (k->in->eval(k->in->ctx, x, k->scratch)) {
        if (!boxes_classes_hold(k)) {
            note_split(k, x);
            return NULL;
        }
        row = OC_NEW_ARRAY(&k->arena, k->n_class, uint64_t);
        for (uint32_t c = 0; c < k->n_class; c++)
            row[c] = k->scratch[k->member[c]];
    }
    OC_GROW(k->row, k->n_row, k->cap_row);
    k->row[k->n_row++] = row;
    oc_map_set(&k->seen, key, n, k->n_row - 1);
    return row;
}

/* ---- classes of equal outputs ----------------------------------------------------------------------- */

/* Numbers the classes of each group. */
static void split_groups(struct maker *k, const uint64_t *column, unsigned n_used)
{
    uint32_t *local = OC_NEW_ARRAY(&k->arena, (size_t)k->n_class + 1, uint32_t);
    size_t i = 0;
    for (unsigned g = 0; g < k->in->n_group; g++) {
        struct oc_box_group *group = &k->out->group[g];
        group->class_id = OC_NEW_ARRAY(&k->arena, (size_t)k->n_class + 1, uint32_t);
        group->n_class = 0;
        group->zero = OC_NONE;
        memset(local, 0xff, ((size_t)k->n_class + 1) * sizeof(*local));
        for (; i < k->in->group_end[g]; i++) {
            uint32_t *of = &local[k->class_of[i]];
            bool zero = true;
            for (unsigned p = 0; p < n_used; p++)
                zero = zero && !column[i * k->n_probe + p];
            if (*of == OC_NONE) {
                group->class_id[group->n_class] = k->class_of[i];
                *of = group->n_class++;
            }
            group->zero = zero ? *of : group->zero;
            k->out->class_of[i] = *of;
        }
    }
}

/* Outputs that are equal at all probes. */
static bool find_classes(struct maker *k)
{
    size_t n = k->in->n_out;
    uint64_t *column = OC_NEW_ARRAY(&k->arena, n * k->n_probe + 1, uint64_t), *one = k->scratch;
    unsigned n_used = 0;
    for (unsigned p = 0; p < k->n_probe; p++) {
        k->out->evals++;
        if (!k->in->eval(k->in->ctx, k->probe[p], one)) {
            if (!p)
                return false;
            continue;
        }
        for (size_t i = 0; i < n; i++)
            column[i * k->n_probe + n_used] = one[i];
        n_used++;
    }
    struct oc_map map = {.arena = &k->arena};
    k->n_class = 0;
    for (size_t i = 0; i < n; i++) {
        k->class_of[i] = k->n_class;
        if (oc_map_add(&map, (const char *)&column[i * k->n_probe], n_used * sizeof(*column), &k->class_of[i],
                       NULL))
            k->member[k->n_class++] = (uint32_t)i;
    }
    oc_map_free(&map);
    split_groups(k, column, n_used);
    return true;
}

static void boxes_probe(struct maker *k, unsigned var, int64_t steps)
{
    int64_t *x = k->probe[k->n_probe++];
    memcpy(x, k->centre, sizeof(k->centre));
    x[var] += steps * k->var[var].step;
}

/* Sizes of 1 are special cases of many operators: others are better centres. */
static int64_t centre_of(const struct oc_box_var *v)
{
    return v->start < 2 && v->start + v->step <= v->to ? v->start + v->step : v->start;
}

static void find_probes(struct maker *k)
{
    for (unsigned v = 0; v < k->in->n_var; v++) {
        k->probe[0][v] = k->var[v].start;
        k->centre[v] = centre_of(&k->var[v]);
    }
    memcpy(k->probe[1], k->centre, sizeof(k->centre));
    k->n_probe = k->in->n_var ? 2 : 1;
    for (unsigned v = 0; v < k->in->n_var && v < 4; v++) {
        boxes_probe(k, v, 1);
        boxes_probe(k, v, 3 + (int64_t)v);
    }
}

/* ---- one variable ----------------------------------------------------------------------------------- */

struct piece {
    int64_t from, to;
};
struct pieces {
    struct piece piece[MAX_PIECES];
    unsigned n;
};

static const uint64_t *row_along(struct maker *k, unsigned var, int64_t x)
{
    int64_t at[OC_RPOLY_VARS];
    memcpy(at, k->centre, sizeof(at));
    at[var] = x;
    return boxes_row(k, at);
}

/* Values of all classes at p0, p0 + 1, 2 and i steps. */
struct four {
    const uint64_t *p[4];
};

static bool four_along(struct maker *k, unsigned var, int64_t from, int64_t i, struct four *out)
{
    for (int j = 0; j < 4; j++) {
        out->p[j] = row_along(k, var, from + (j < 3 ? j : i) * k->var[var].step);
        if (!out->p[j])
            return false;
    }
    return true;
}

static bool is_parabola(const struct four *f, uint32_t c, int64_t i)
{
    wide a = (wide)f->p[0][c], d = (wide)f->p[1][c] - a, e = (wide)f->p[2][c] - 2 * (wide)f->p[1][c] + a;
    return a + d * i + e * ((wide)i * (i - 1) / 2) == (wide)f->p[3][c];
}

/* Whether all outputs at p0 + i steps are on the parabolas through the first three points. */
static bool on_parabola(struct maker *k, const struct oc_box_group *group, unsigned var, int64_t from,
                        int64_t i)
{
    struct four f;
    if (!four_along(k, var, from, i, &f))
        return false;
    for (uint32_t c = 0; c < group->n_class; c++)
        if (!is_parabola(&f, group->class_id[c], i))
            return false;
    return true;
}

static bool step_fits(struct maker *k, unsigned var)
{
    static const int64_t steps[] = {3, 4, 7};
    for (unsigned g = 0; g < k->in->step_groups && g < k->in->n_group; g++)
        for (size_t j = 0; j < OC_COUNT(steps); j++)
            if (!on_parabola(k, &k->out->group[g], var, k->centre[var], steps[j]))
                return false;
    return true;
}

/* Sizes are rounded up by strides and patches, each in another place: along multiples of all of them there
 * are few pieces. */
static void choose_step(struct maker *k, unsigned var)
{
    const struct oc_box_var given = k->in->var[var];
    for (int64_t factor = 1; factor <= MAX_FACTOR; factor *= 2) {
        struct oc_box_var *v = &k->var[var];
        v->step = given.step * factor;
        v->from = v->start - (v->start - given.from) / v->step * v->step;
        v->to = v->start + (given.to - v->start) / v->step * v->step;
        k->centre[var] = centre_of(v);
        if (v->to - k->centre[var] >= 7 * v->step && step_fits(k, var))
            return;
    }
    k->var[var] = given;
    k->centre[var] = centre_of(&given);
}

/* Number of steps from `from` on for which one fit holds. */
static int64_t piece_steps(struct maker *k, unsigned var, int64_t from)
{
    int64_t most = (k->var[var].to - from) / k->var[var].step, good = 2, i = 3;
    while (i <= most && on_parabola(k, k->group, var, from, i)) {
        good = i;
        i = i == most ? most + 1 : 2 * i > most ? most : 2 * i;
    }
    for (int64_t bad = i; bad <= most && bad - good > 1;) {
        int64_t middle = good + (bad - good) / 2;
        if (on_parabola(k, k->group, var, from, middle))
            good = middle;
        else
            bad = middle;
    }
    return good;
}

static void find_pieces(struct maker *k, unsigned var, struct pieces *out)
{
    const struct oc_box_var *v = &k->var[var];
    int64_t x = v->from;
    *out = (struct pieces){.n = 0};
    if (!row_along(k, var, x))
        x = k->centre[var];
    while (out->n < MAX_PIECES && x <= v->to && row_along(k, var, x)) {
        int64_t good = piece_steps(k, var, x), to = x + (good + 1 >= CONFIRMED ? good : 0) * v->step;
        out->piece[out->n++] = (struct piece){x, to > v->to ? x : to};
        x = out->piece[out->n - 1].to + v->step;
    }
}

/* ---- boxes ------------------------------------------------------------------------------------------ */

/* One or two polynomials for each class of a box. */
struct fitted {
    struct oc_rpoly *poly, *other; /* heap, by class */
    uint8_t *forms;                /* by class: bits 1 << enum oc_box_form that hold so far */
    bool two;
};

static bool form_value(const struct oc_rpoly *poly, const struct oc_rpoly *other, unsigned form,
                       const int64_t *x, uint64_t *out)
{
    uint64_t v;
    if (!oc_rpoly_eval(poly, x, out))
        return false;
    if (form == OC_BOX_POLY)
        return true;
    if (!oc_rpoly_eval(other, x, &v))
        return false;
    *out = (form == OC_BOX_MIN) == (v < *out) ? v : *out;
    return true;
}

/* Drops the forms that have another value. False: none is left. */
static bool forms_hold(struct fitted *f, uint32_t c, const int64_t *x, uint64_t value)
{
    for (unsigned form = 0; form < OC_BOX_FORMS; form++) {
        uint64_t v;
        if (f->forms[c] >> form & 1 && !(form_value(&f->poly[c], &f->other[c], form, x, &v) && v == value))
            f->forms[c] &= (uint8_t) ~(1u << form);
    }
    return f->forms[c];
}

/* Corners first, then random points. */
static void check_point(const struct maker *k, const struct oc_box *b, unsigned i, uint64_t *state,
                        int64_t *x)
{
    unsigned corners = 1u << k->in->n_var;
    for (unsigned v = 0; v < k->in->n_var; v++) {
        uint64_t n = (uint64_t)((b->to[v] - b->from[v]) / k->var[v].step) + 1, r = oc_random(state);
        uint64_t at = i < corners ? (i >> v & 1 ? n - 1 : 0) : (r >> 1) % (r & 1 && n > 16 ? 16 : n);
        x[v] = b->from[v] + (int64_t)at * k->var[v].step;
    }
}

static bool box_holds(struct maker *k, const struct oc_box *b, struct fitted *f)
{
    uint64_t state = 1;
    for (uint32_t c = 0; c < k->group->n_class; c++)
        f->forms[c] = f->two ? (1u << OC_BOX_FORMS) - 1 : 1u << OC_BOX_POLY;
    for (unsigned i = 0; i < (1u << k->in->n_var) + (f->two ? 3u : 1u) * CHECKS; i++) {
        int64_t x[OC_RPOLY_VARS];
        check_point(k, b, i, &state, x);
        const uint64_t *row = boxes_row(k, x);
        for (uint32_t c = 0; c < k->group->n_class; c++)
            if (!row || !forms_hold(f, c, x, row[k->group->class_id[c]]))
                return false;
    }
    return true;
}

static bool fit_rows(struct maker *k, const struct oc_rpoly_axis *axis, unsigned total, struct oc_rpoly *poly)
{
    struct oc_pow *point = oc_xmalloc(OC_RPOLY_TERMS * sizeof(*point));
    size_t n = oc_rpoly_points(axis, k->in->n_var, total, point);
    const uint64_t **row = oc_xmalloc((n + 1) * sizeof(*row));
    uint64_t *value = oc_xmalloc((n + 1) * sizeof(*value));
    bool ok = n > 0;
    for (size_t i = 0; i < n && ok; i++) {
        int64_t x[OC_RPOLY_VARS];
        for (unsigned v = 0; v < k->in->n_var; v++)
            x[v] = axis[v].start + axis[v].step * point[i].of[v];
        row[i] = boxes_row(k, x);
        ok = row[i] != NULL;
    }
    for (uint32_t c = 0; c < k->group->n_class && ok; c++) {
        for (size_t i = 0; i < n; i++)
            value[i] = row[i][k->group->class_id[c]];
        oc_rpoly_free(&poly[c]);
        ok = oc_rpoly_fit(axis, k->in->n_var, point, value, n, &poly[c]);
    }
    free(value);
    free(row);
    free(point);
    return ok;
}

static uint32_t intern_poly(struct maker *k, struct oc_rpoly *p)
{
    struct oc_buf key = {0};
    uint32_t id = k->out->n_poly;
    oc_buf_add(&key, &p->den, sizeof(p->den));
    for (uint32_t t = 0; t < p->n_term; t++) {
        oc_buf_add(&key, &p->term[t].num, sizeof(p->term[t].num));
        oc_buf_add(&key, p->term[t].pow.of, sizeof(p->term[t].pow.of));
    }
    if (oc_map_add(&k->polys, key.data, key.n, &id, NULL)) {
        OC_GROW(k->out->poly, k->out->n_poly, k->out->cap_poly);
        k->out->poly[k->out->n_poly++] = *p;
        *p = (struct oc_rpoly){0};
    }
    oc_buf_free(&key);
    return id;
}

static void keep_box(struct maker *k, struct oc_box *b, struct fitted *f)
{
    struct oc_box_group *group = k->group;
    size_t n = (size_t)group->n_class + 1;
    b->poly = OC_NEW_ARRAY(&k->out->arena, n, uint32_t);
    b->other = OC_NEW_ARRAY(&k->out->arena, n, uint32_t);
    b->form = OC_NEW_ARRAY(&k->out->arena, n, uint8_t);
    for (uint32_t c = 0; c < group->n_class; c++) {
        b->form[c] = f->forms[c] & 1u << OC_BOX_POLY  ? OC_BOX_POLY
                     : f->forms[c] & 1u << OC_BOX_MIN ? OC_BOX_MIN
                                                      : OC_BOX_MAX;
        b->poly[c] = intern_poly(k, &f->poly[c]);
        b->other[c] = b->form[c] == OC_BOX_POLY ? OC_NONE : intern_poly(k, &f->other[c]);
    }
    OC_GROW(group->box, group->n_box, group->cap_box);
    group->box[group->n_box++] = *b;
}

/* Axes of a fit at the lower or the upper corner. Returns the sum of the degrees. */
static unsigned box_axes(const struct maker *k, const struct oc_box *b, bool upper,
                         struct oc_rpoly_axis *axis)
{
    unsigned sum = 0;
    for (unsigned v = 0; v < k->in->n_var; v++) {
        int64_t step = k->var[v].step, steps = (b->to[v] - b->from[v]) / step;
        unsigned degree = (unsigned)(steps < DEGREE ? steps : DEGREE);
        axis[v] =
            (struct oc_rpoly_axis){upper ? b->to[v] - (int64_t)degree * step : b->from[v], step, degree};
        sum += degree;
    }
    return sum;
}

static bool add_box(struct maker *k, struct oc_box *b)
{
    uint32_t n = k->group->n_class;
    struct fitted f = {.poly = oc_xmalloc((n + 1) * sizeof(*f.poly)),
                       .other = oc_xmalloc((n + 1) * sizeof(*f.other)),
                       .forms = oc_xmalloc(n + 1)};
    struct oc_rpoly_axis axis[OC_RPOLY_VARS] = {{0}}, far[OC_RPOLY_VARS] = {{0}};
    unsigned most = box_axes(k, b, false, axis), total = most < TOTAL ? most : TOTAL;
    memset(f.poly, 0, (n + 1) * sizeof(*f.poly));
    memset(f.other, 0, (n + 1) * sizeof(*f.other));
    box_axes(k, b, true, far);
    bool ok = fit_rows(k, axis, total, f.poly) && box_holds(k, b, &f);
    if (!ok && total < most)
        ok = fit_rows(k, axis, most, f.poly) && box_holds(k, b, &f);
    if (!ok && k->in->n_var > 1) {
        f.two = true;
        ok = fit_rows(k, axis, total, f.poly) && fit_rows(k, far, total, f.other) && box_holds(k, b, &f);
    }
    ok = ok && k->group->n_box < MAX_BOXES;
    if (ok)
        keep_box(k, b, &f);
    for (uint32_t c = 0; c < n; c++) {
        oc_rpoly_free(&f.poly[c]);
        oc_rpoly_free(&f.other[c]);
    }
    free(f.poly);
    free(f.other);
    free(f.forms);
    return ok;
}

/* Where the border between two polynomials is not parallel to the axes, halves of a box (on a logarithmic
 * scale) may have one each. */
static void cover_box(struct maker *k, struct oc_box *b, unsigned depth)
{
    unsigned longest = 0;
    double most = 0;
    if (add_box(k, b) || !depth || k->in->n_var < 2 || k->split)
        return;
    for (unsigned v = 0; v < k->in->n_var; v++) {
        double ratio = ((double)b->to[v] + 1) / ((double)b->from[v] + 1);
        longest = ratio > most ? v : longest;
        most = ratio > most ? ratio : most;
    }
    const struct oc_box_var *var = &k->var[longest];
    int64_t from = b->from[longest], to = b->to[longest];
    int64_t steps = ((int64_t)sqrt((double)from * (double)to) - from) / var->step;
    if (from + steps * var->step >= to || to - from < 4 * var->step)
        return;
    struct oc_box low = *b, high = *b;
    low.to[longest] = from + steps * var->step;
    high.from[longest] = low.to[longest] + var->step;
    cover_box(k, &low, depth - 1);
    cover_box(k, &high, depth - 1);
}

/* All products of pieces. */
static void add_boxes(struct maker *k)
{
    struct pieces p[OC_RPOLY_VARS];
    uint64_t all = 1;
    for (unsigned v = 0; v < k->in->n_var; v++) {
        find_pieces(k, v, &p[v]);
        all *= p[v].n;
    }
    for (uint64_t i = 0; i < all && i < MAX_BOXES && !k->split; i++) {
        struct oc_box b = {.poly = NULL};
        uint64_t rest = i;
        for (unsigned v = 0; v < k->in->n_var; v++) {
            const struct piece *one = &p[v].piece[rest % p[v].n];
            b.from[v] = one->from;
            b.to[v] = one->to;
            rest /= p[v].n;
        }
        cover_box(k, &b, HALVINGS);
    }
}

/* ---- public functions ------------------------------------------------------------------------------- */

static void drop_attempt(struct maker *k)
{
    oc_map_free(&k->seen);
    oc_map_free(&k->polys);
    oc_arena_free(&k->arena);
    k->arena = (struct oc_arena){0};
    k->seen = k->polys = (struct oc_map){.arena = &k->arena};
    k->n_row = 0;
}

static void drop_boxes(struct oc_boxes *b)
{
    for (uint32_t i = 0; i < b->n_poly; i++)
        oc_rpoly_free(&b->poly[i]);
    b->n_poly = 0;
    for (unsigned g = 0; g < b->n_group; g++)
        b->group[g].n_box = 0;
}

static void boxes_attempt(struct maker *k)
{
    for (unsigned v = 0; v < k->in->n_var && k->in->step_groups; v++)
        choose_step(k, v);
    for (unsigned v = 0; v < k->in->n_var; v++)
        k->out->step[v] = k->var[v].step;
    for (unsigned g = 0; g < k->in->n_group && !k->split; g++) {
        k->group = &k->out->group[g];
        add_boxes(k);
    }
}

bool oc_boxes_make(const struct oc_boxes_in *in, struct oc_boxes *out)
{
    struct maker k = {.in = in, .out = out};
    *out = (struct oc_boxes){.n_var = in->n_var, .n_group = in->n_group};
    out->class_of = OC_NEW_ARRAY(&out->arena, in->n_out + 1, uint32_t);
    k.scratch = oc_xmalloc((in->n_out + 1) * sizeof(*k.scratch));
    k.member = oc_xmalloc((in->n_out + 1) * sizeof(*k.member));
    k.class_of = oc_xmalloc((in->n_out + 1) * sizeof(*k.class_of));
    for (unsigned v = 0; v < in->n_var; v++) {
        k.var[v] = in->var[v];
        out->first[v] = in->var[v].start;
    }
    find_probes(&k);
    bool ok = true;
    for (unsigned turn = 0; turn < MAX_SPLITS && ok && (!turn || k.split); turn++) {
        drop_boxes(out);
        drop_attempt(&k);
        k.split = false;
        ok = find_classes(&k);
        if (ok)
            boxes_attempt(&k);
    }
    if (k.split)
        drop_boxes(out);
    drop_attempt(&k);
    free(k.row);
    free(k.scratch);
    free(k.member);
    free(k.class_of);
    return ok;
}

void oc_boxes_free(struct oc_boxes *b)
{
    drop_boxes(b);
    for (unsigned g = 0; g < b->n_group; g++)
        free(b->group[g].box);
    free(b->poly);
    oc_arena_free(&b->arena);
    *b = (struct oc_boxes){0};
}

static bool box_covers(const struct oc_boxes *b, const struct oc_box *box, const int64_t *x)
{
    for (unsigned v = 0; v < b->n_var; v++)
        if (x[v] < box->from[v] || x[v] > box->to[v] || (x[v] - b->first[v]) % b->step[v])
            return false;
    return true;
}

bool oc_boxes_at(const struct oc_boxes *b, unsigned group, size_t output, const int64_t *x, uint64_t *out)
{
    const struct oc_box_group *g = &b->group[group];
    uint32_t c = b->class_of[output];
    for (uint32_t i = 0; i < g->n_box; i++) {
        const struct oc_box *box = &g->box[i];
        if (box_covers(b, box, x))
            return form_value(&b->poly[box->poly[c]],
                              box->other[c] == OC_NONE ? NULL : &b->poly[box->other[c]], box->form[c], x,
                              out);
    }
    return false;
}
