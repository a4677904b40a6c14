/* The rows of a diff of recordings without a model. A row of one side is what its recordings call by one name, with
 * one set of shapes, on one device. Rows of both sides are matched by name and shapes, then by a name whose rows all
 * changed by one factor, at last by work: the same type with the same shapes or counts, in order. A row whose match is
 * not certain is on one side only. Shapes are compared where both sides have recorded some. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gate/diff.h"

struct entry {                /* a row of one side */
    const struct oc_row *row; /* the first of its rows in the reports */
    const char *place, *type, *name;
    const char *in, *out, *dtypes; /* "" where they are not compared */
    double sum[OC_DIFF_COUNTS];    /* over the recordings */
    uint32_t unknown[OC_DIFF_COUNTS];
    uint32_t partner;   /* entry of the other side, OC_NONE */
    uint32_t namesakes; /* entries of its side with its place, type and name */
    uint32_t next;      /* in a bucket, OC_NONE */
    uint32_t at;        /* row of the diff */
    uint8_t rule;       /* enum oc_align_rule */
};

struct side {
    struct entry *entry; /* heap */
    uint32_t n, cap;
    struct oc_map keys;
};

struct matching {
    struct oc_diff *d;
    struct side side[2];
    bool has_in, has_out; /* both sides have recorded shapes */
};

/* ---- entries ---------------------------------------------------------------------------------------- */

double oc_diff_recorded_count(const struct oc_row *row, unsigned metric)
{
    static const double largest = 9e18;
    double n = metric == OC_DIFF_MACS    ? row->macs
               : metric == OC_DIFF_FLOPS ? row->computation - row->int_ops
               : metric == OC_DIFF_OPS   ? isnan(row->computation) ? (double)NAN : row->int_ops
               : metric == OC_DIFF_BYTES ? row->memory
                                         : (double)NAN;
    return n >= 0 && n < largest ? n : (double)NAN;
}

/* Whether some row of the side has recorded shapes of its inputs, of its outputs. */
static void find_shapes(const struct oc_diff *d, unsigned s, bool has[2])
{
    has[0] = has[1] = false;
    for (size_t k = 0; k < d->n_of[s]; k++) {
        const struct oc_rows *all = &d->of[s][k].figures.report.all;
        for (uint32_t i = 0; i < all->n; i++) {
            has[0] |= all->row[i].n_in > 0;
            has[1] |= all->row[i].n_out > 0;
        }
    }
}

static const char *shapes_text(struct matching *m, const struct oc_row_shape *shape, uint32_t n)
{
    struct oc_buf b = {0};
    for (uint32_t i = 0; i < n; i++)
        oc_buf_printf(&b, "%s%s", i ? " " : "", shape[i].text);
    const char *text = b.n ? oc_strndup(&m->d->arena, b.data, b.n) : "";
    oc_buf_free(&b);
    return text;
}

static const char *dtypes_text(struct matching *m, const struct oc_row *row)
{
    struct oc_buf b = {0};
    for (uint32_t i = 0; i < row->n_in_dtype; i++)
        oc_buf_printf(&b, "%s%s", i ? " " : "", row->in_dtype[i]);
    const char *text = b.n ? oc_strndup(&m->d->arena, b.data, b.n) : "";
    oc_buf_free(&b);
    return text;
}

static struct entry make_entry(struct matching *m, const struct oc_row *row)
{
    return (struct entry){.row = row,
                          .place = row->place ? row->place : "",
                          .type = row->type ? row->type : "",
                          .name = row->name,
                          .in = m->has_in ? shapes_text(m, row->in, row->n_in) : "",
                          .out = m->has_out ? shapes_text(m, row->out, row->n_out) : "",
                          .dtypes = m->has_in ? dtypes_text(m, row) : "",
                          .partner = OC_NONE,
                          .at = OC_NONE};
}

static const char *full_key(struct matching *m, const struct entry *e)
{
    return oc_printf(&m->d->arena, "%s\n%s\n%s\n%s\n%s\n%s", e->place, e->type, e->name, e->in, e->out,
                     e->dtypes);
}

/* The entry of a row of a report, with its counts added. */
static uint32_t add_entry(struct matching *m, unsigned s, const struct oc_row *row)
{
    struct side *side = &m->side[s];
    struct entry made = make_entry(m, row);
    const char *key = full_key(m, &made);
    uint32_t at = side->n;
    if (oc_map_add_kept(&side->keys, key, strlen(key), &at)) {
        OC_GROW(side->entry, side->n, side->cap);
        side->entry[side->n++] = made;
    }
    struct entry *e = &side->entry[at];
    for (unsigned c = 0; c < OC_DIFF_COUNTS; c++) {
        double n = oc_diff_recorded_count(row, c);
        e->sum[c] += isnan(n) ? 0 : n;
        e->unknown[c] += isnan(n) ? 1 : 0;
    }
    return at;
}

static void add_entries(struct matching *m, unsigned s)
{
    struct oc_diff *d = m->d;
    m->side[s].keys.arena = &d->arena;
    for (size_t k = 0; k < d->n_of[s]; k++) {
        const struct oc_rows *all = &d->of[s][k].figures.report.all;
        d->of[s][k].row_of = OC_NEW_ARRAY(&d->arena, (size_t)all->n + 1, uint32_t);
        for (uint32_t i = 0; i < all->n; i++)
            d->of[s][k].row_of[i] =
                add_entry(m, s, &all->row[i]); /* of the side; of the diff in set_rows() */
    }
}

/* ---- matching ---------------------------------------------------------------------------------------- */

/* Entries of both sides with one key, in their order. */
struct bucket {
    uint32_t first[2], last[2], n[2];
};

/* A rule of matching: the key of an entry, NULL where the rule does not hold for it, and whether the entries of a
 * key, as many on both sides, are certainly the same in their order. */
struct rule {
    const char *(*key)(struct matching *m, const struct entry *e);
    bool (*is_sure)(struct matching *m, const struct bucket *b);
    uint8_t of; /* enum oc_align_rule */
};

static void add_to_bucket(struct matching *m, struct bucket *b, unsigned s, uint32_t at)
{
    m->side[s].entry[at].next = OC_NONE;
    if (b->n[s]++)
        m->side[s].entry[b->last[s]].next = at;
    else
        b->first[s] = at;
    b->last[s] = at;
}

static void pair_bucket(struct matching *m, const struct bucket *b, uint8_t rule)
{
    uint32_t j = b->first[1];
    for (uint32_t i = b->first[0], n = 0; n < b->n[0]; n++) {
        struct entry *p = &m->side[0].entry[i], *q = &m->side[1].entry[j];
        p->partner = j;
        q->partner = i;
        p->rule = q->rule = rule;
        i = p->next;
        j = q->next;
    }
}

static void match_by(struct matching *m, const struct rule *r)
{
    struct oc_arena arena = {0};
    struct oc_map keys = {.arena = &arena};
    struct bucket *bucket = NULL;
    uint32_t n = 0, cap = 0;
    for (unsigned s = 0; s < 2; s++)
        for (uint32_t i = 0; i < m->side[s].n; i++) {
            const struct entry *e = &m->side[s].entry[i];
            const char *key = e->partner == OC_NONE ? r->key(m, e) : NULL;
            uint32_t at = n;
            if (!key)
                continue;
            if (oc_map_add(&keys, key, strlen(key), &at, NULL)) {
                OC_GROW(bucket, n, cap);
                bucket[n] = (struct bucket){.n = {0, 0}};
                n++;
            }
            add_to_bucket(m, &bucket[at], s, i);
        }
    for (uint32_t i = 0; i < n; i++)
        if (bucket[i].n[0] && bucket[i].n[0] == bucket[i].n[1] && r->is_sure(m, &bucket[i]))
            pair_bucket(m, &bucket[i], r->of);
    free(bucket);
    oc_map_free(&keys);
    oc_arena_free(&arena);
}

static const char *name_and_shapes(struct matching *m, const struct entry *e)
{
    return oc_printf(&m->d->arena, "%s\n%s\n%s\n%s", e->place, e->name, e->in, e->out);
}

static const char *name_and_type(struct matching *m, const struct entry *e)
{
    return oc_printf(&m->d->arena, "%s\n%s\n%s", e->place, e->type, e->name);
}

static const char *type_and_shapes(struct matching *m, const struct entry *e)
{
    if (!*e->type || (!*e->in && !*e->out))
        return NULL;
    return oc_printf(&m->d->arena, "%s\n%s\n%s\n%s\n%s", e->place, e->type, e->in, e->out, e->dtypes);
}

/* Fused operators keep the type, the first shapes and the MACs of the main one. */
static const char *type_and_macs(struct matching *m, const struct entry *e)
{
    double macs = oc_diff_recorded_count(e->row, OC_DIFF_MACS);
    if (!*e->type || !*e->in || !(macs > 0))
        return NULL;
    const char *out = *e->out ? e->row->out[0].text : "";
    return oc_printf(&m->d->arena, "%s\n%s\n%s\n%s\n%.17g", e->place, e->type, e->row->in[0].text, out, macs);
}

static const char *type_and_counts(struct matching *m, const struct entry *e)
{
    double flops = oc_diff_recorded_count(e->row, OC_DIFF_FLOPS),
           bytes = oc_diff_recorded_count(e->row, OC_DIFF_BYTES);
    if (!*e->type || *e->in || *e->out || !(flops > 0) || !(bytes > 0))
        return NULL;
    return oc_printf(&m->d->arena, "%s\n%s\n%.17g\n%.17g", e->place, e->type, flops, bytes);
}

static bool always(struct matching *m, const struct bucket *b)
{
    (void)m;
    (void)b;
    return true;
}

static bool is_single(struct matching *m, const struct bucket *b)
{
    (void)m;
    return b->n[0] == 1;
}

static bool same_ranks(const struct entry *p, const struct entry *q)
{
    bool same = p->row->n_in == q->row->n_in && p->row->n_out == q->row->n_out;
    for (uint32_t i = 0; same && i < p->row->n_in; i++)
        same = p->row->in[i].rank == q->row->in[i].rank;
    for (uint32_t i = 0; same && i < p->row->n_out; i++)
        same = p->row->out[i].rank == q->row->out[i].rank;
    return same;
}

static double work_ratio(const struct entry *p, const struct entry *q)
{
    const double flops[] = {p->row->computation, q->row->computation},
                 bytes[] = {p->row->memory, q->row->memory};
    return oc_work_ratio(flops, bytes);
}

/* All rows of a name have other shapes now: another batch. They are certainly the same, in their order, if the name has
 * one row, or if the work of all has changed by one factor. */
static bool scales(struct matching *m, const struct bucket *b)
{
    static const double rounding = 1e-3;
    const struct entry *p = &m->side[0].entry[b->first[0]], *q = &m->side[1].entry[b->first[1]];
    double factor = work_ratio(p, q);
    bool sure = p->namesakes == b->n[0] && q->namesakes == b->n[1];
    if (b->n[0] == 1)
        return sure;
    for (uint32_t i = b->first[0], j = b->first[1]; sure && i != OC_NONE; i = p->next, j = q->next) {
        p = &m->side[0].entry[i];
        q = &m->side[1].entry[j];
        sure = same_ranks(p, q) && fabs(work_ratio(p, q) / factor - 1) < rounding;
    }
    return sure;
}

static void count_namesakes(struct matching *m, unsigned s)
{
    struct side *side = &m->side[s];
    struct oc_map names = {.arena = &m->d->arena};
    uint32_t *first = OC_NEW_ARRAY(&m->d->arena, (size_t)side->n + 1, uint32_t);
    for (uint32_t i = 0; i < side->n; i++) {
        const char *key = name_and_type(m, &side->entry[i]);
        first[i] = i;
        oc_map_add_kept(&names, key, strlen(key), &first[i]);
        side->entry[first[i]].namesakes++;
    }
    for (uint32_t i = 0; i < side->n; i++)
        side->entry[i].namesakes = side->entry[first[i]].namesakes;
    oc_map_free(&names);
}

static void match_entries(struct matching *m)
{
    static const struct rule rules[] = {
        {full_key, always, OC_ALIGN_NAME},      {name_and_shapes, is_single, OC_ALIGN_NAME},
        {name_and_type, scales, OC_ALIGN_NAME}, {type_and_shapes, always, OC_ALIGN_WORK},
        {type_and_macs, always, OC_ALIGN_WORK}, {type_and_counts, always, OC_ALIGN_WORK}};
    for (unsigned s = 0; s < 2; s++)
        count_namesakes(m, s);
    for (size_t i = 0; i < OC_COUNT(rules); i++)
        match_by(m, &rules[i]);
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static const char *side_shapes(struct matching *m, const struct entry *e)
{
    const char *arrow = *e->in && *e->out ? " -> " : "";
    return oc_printf(&m->d->arena, "%s%s%s", e->in, arrow, e->out);
}

static void fill_cell(struct matching *m, unsigned s, struct entry *e, struct oc_diff_row *r)
{
    struct oc_diff_cell *c = &r->side[s];
    c->shapes = side_shapes(m, e);
    for (unsigned i = 0; i < OC_DIFF_COUNTS; i++) {
        c->count[i] = (uint64_t)llround(e->sum[i] / (double)m->d->n_of[s]);
        c->unknown[i] = e->unknown[i];
    }
    *(s ? &r->name_b : &r->name) = e->name;
    *(s ? &r->type_b : &r->type) = e->type;
    r->rule = e->rule;
    r->has_namesakes |= e->namesakes > 1;
    e->at = (uint32_t)(r - m->d->row);
}

static void describe_change(struct oc_diff *d, struct oc_diff_row *r, unsigned bit, const char *a,
                            const char *b)
{
    if (strcmp(a, b) == 0)
        return;
    r->change |= (uint16_t)bit;
    r->what =
        oc_printf(&d->arena, "%s%s%s -> %s", r->what, *r->what ? "; " : "", *a ? a : "none", *b ? b : "none");
}

/* What the recorded rows say; kernels follow in oc_diff_add_kernels(). */
static void describe_entries(struct oc_diff *d, struct oc_diff_row *r, const struct entry *p,
                             const struct entry *q)
{
    const struct oc_diff_cell *a = &r->side[0], *b = &r->side[1];
    describe_change(d, r, OC_DIFF_TYPE, p->type, q->type);
    describe_change(d, r, OC_DIFF_SHAPES, a->shapes, b->shapes);
    if (p->row->n_in != q->row->n_in && *p->in && *q->in)
        r->change |= OC_DIFF_INPUTS;
    describe_change(d, r, OC_DIFF_DTYPES, p->dtypes, q->dtypes);
    if (memcmp(a->count, b->count, sizeof(a->count)) != 0)
        r->change |= OC_DIFF_COSTS;
    r->status = r->change ? OC_DIFF_CHANGED : strcmp(p->name, q->name) != 0 ? OC_DIFF_RENAMED : OC_DIFF_SAME;
    if (strcmp(p->name, q->name) != 0)
        r->change |= OC_DIFF_NAME;
}

static void make_row(struct matching *m, unsigned s, struct entry *e)
{
    struct oc_diff_row *r = &m->d->row[m->d->n_row++];
    *r = (struct oc_diff_row){.name = "", .name_b = "", .type = "", .type_b = "", .what = ""};
    r->side[0].shapes = r->side[1].shapes = "";
    r->side[1 - s].unknown[OC_DIFF_PARAMS] = 1;
    fill_cell(m, s, e, r);
    r->status = s ? OC_DIFF_ADDED : OC_DIFF_REMOVED;
    if (e->partner == OC_NONE)
        return;
    struct entry *other = &m->side[1 - s].entry[e->partner];
    fill_cell(m, 1 - s, other, r);
    describe_entries(m->d, r, e, other); /* e is of A */
}

/* Merges both orders: a row of B alone follows its predecessor there. */
static void order_entries(struct matching *m)
{
    struct side *a = &m->side[0], *b = &m->side[1];
    uint32_t k = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t partner = a->entry[i].partner;
        for (; partner != OC_NONE && k < partner; k++)
            if (b->entry[k].partner == OC_NONE)
                make_row(m, 1, &b->entry[k]);
        make_row(m, 0, &a->entry[i]);
    }
    for (; k < b->n; k++)
        if (b->entry[k].partner == OC_NONE)
            make_row(m, 1, &b->entry[k]);
}

static void set_rows(struct matching *m, unsigned s)
{
    for (size_t k = 0; k < m->d->n_of[s]; k++) {
        struct oc_diff_recording *of = &m->d->of[s][k];
        for (uint32_t i = 0; i < of->figures.report.all.n; i++)
            of->row_of[i] = m->side[s].entry[of->row_of[i]].at;
    }
}

void oc_diff_rows_by_name(struct oc_diff *d)
{
    struct matching m = {.d = d};
    bool has[2][2];
    for (unsigned s = 0; s < 2; s++)
        find_shapes(d, s, has[s]);
    m.has_in = has[0][0] && has[1][0];
    m.has_out = has[0][1] && has[1][1];
    for (unsigned s = 0; s < 2; s++)
        add_entries(&m, s);
    match_entries(&m);
    d->row = OC_NEW_ARRAY(&d->arena, (size_t)m.side[0].n + m.side[1].n + 1, struct oc_diff_row);
    order_entries(&m);
    for (unsigned s = 0; s < 2; s++) {
        set_rows(&m, s);
        oc_map_free(&m.side[s].keys);
        free(m.side[s].entry);
    }
}
