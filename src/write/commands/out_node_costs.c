/* Figures of single nodes beyond those of the report: a training step, measured zeros of weights; as text, CSV (one row per node) and JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/handles.h"
#include "base/unicode.h"
#include "base/units.h"
#include "onnxcost.h"
#include "write/tables/json_keys.h"
#include "write/tables/table.h"

enum { LABEL = 12, WIDTH = 118 };

/* Of both reports; one of the pointers is set. */
struct costs_out {
    const struct oc_training *t;
    const struct oc_sparsity *s;
    const struct oc_model *model;
    size_t top, width_chars;
    struct oc_arena arena;
    FILE *f;
};

#define say(o, label, ...)                                                                                   \
    oc_plain_say_format((label), LABEL, (o)->width_chars ? (o)->width_chars : WIDTH, (o)->f, __VA_ARGS__)

static struct costs_out *begin_text(void *of, FILE *f)
{
    struct costs_out *o = of;
    o->f = f;
    if (o->model->path[0])
        say(o, "model", "%s", o->model->path);
    return o;
}

static const char *node_label(struct costs_out *o, size_t node)
{
    char label[256];
    return oc_strdup(&o->arena, oc_node_label(o->model, &o->model->node[node], label, sizeof(label)));
}

/* How many of n operators are printed. */
static size_t costs_shown(const struct costs_out *o, size_t n)
{
    return o->top && n > o->top ? o->top : n;
}

static void print_nodes(struct costs_out *o, struct oc_table *t, size_t n)
{
    fputc('\n', o->f);
    t->width_chars = o->width_chars;
    oc_table_print(t, o->f);
    if (n > costs_shown(o, n))
        fprintf(o->f, "(%zu more operators; --top 0 prints all)\n", n - costs_shown(o, n));
}

/* ---- training --------------------------------------------------------------------------------------- */

/* ---- training: rows --------------------------------------------------------------------------------- */

static void training_fields(struct oc_fields *o, const void *of, size_t i)
{
    static const struct oc_training_node none;
    const struct oc_training *t = of;
    const struct oc_training_node *x = i < t->liveness->n_step ? &t->node[i] : &none;
    bool known = x->quality != OC_UNKNOWN;
    oc_field_node(o, t->a->model, x->node);
    oc_field_bool(o, "gradient", x->gradient);
    oc_field_u64_if(o, "forward_flops", t->a->cost[x->node].quality != OC_UNKNOWN, x->forward_flops);
    oc_field_u64_if(o, "backward_macs", known, x->backward_macs);
    oc_field_u64_if(o, "backward_flops", known, x->backward_flops);
    oc_field_u64_if(o, "backward_bytes_read", known, x->bytes_read);
    oc_field_u64_if(o, "backward_bytes_written", known, x->bytes_written);
    oc_field_u64(o, "saved_bytes", x->saved_bytes);
    oc_field_text(o, "quality", oc_quality_name(x->quality));
    oc_field_text(o, "note", x->note);
}

/* ---- training: JSON --------------------------------------------------------------------------------- */

struct training_figure {
    const char *key;
    size_t offset; /* in struct oc_training_info */
};
#define FIGURE(key, field)                                                                                   \
    {                                                                                                        \
        (key), offsetof(struct oc_training_info, field)                                                      \
    }

static void training_keys(struct oc_json_out *w, const struct oc_training_info *i,
                          const struct training_figure *list, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        uint64_t v;
        memcpy(&v, (const char *)i + list[k].offset, sizeof(v));
        oc_key_u64(w, list[k].key, v);
    }
}

static void training_members(void *of, struct oc_json_out *w)
{
    static const struct training_figure work[] = {
        FIGURE("nodes", nodes),
        FIGURE("gradient_nodes", gradient_nodes),
        FIGURE("unknown_nodes", unknown_nodes),
        FIGURE("forward_macs", forward_macs),
        FIGURE("backward_macs", backward_macs),
        FIGURE("forward_flops", forward_flops),
        FIGURE("backward_flops", backward_flops),
        FIGURE("optimizer_flops", optimizer_flops),
        FIGURE("forward_bytes", forward_bytes),
        FIGURE("backward_bytes", backward_bytes),
        FIGURE("optimizer_bytes", optimizer_bytes),
    };
    static const struct training_figure memory[] = {
        FIGURE("trainable_params", params),     FIGURE("trainable_bytes", param_bytes),
        FIGURE("frozen_bytes", frozen_bytes),   FIGURE("gradient_bytes", gradient_bytes),
        FIGURE("optimizer_bytes", state_bytes), FIGURE("master_bytes", master_bytes),
        FIGURE("saved_bytes", saved_bytes),     FIGURE("peak_activation_bytes", peak_bytes),
        FIGURE("total_bytes", total_bytes),
    };
    static const struct training_figure again[] = {
        FIGURE("segments", recompute.segments),
        FIGURE("checkpoint_bytes", recompute.checkpoint_bytes),
        FIGURE("segment_bytes", recompute.segment_bytes),
        FIGURE("saved_bytes", recompute.saved_bytes),
        FIGURE("flops", recompute.flops),
        FIGURE("peak_activation_bytes", recompute.peak_bytes),
        FIGURE("total_bytes", recompute.total_bytes),
    };
    const struct oc_training_info *i = &((const struct costs_out *)of)->t->info;
    oc_key_text(w, "optimizer", i->optimizer);
    training_keys(w, i, work, OC_COUNT(work));
    oc_key_quality(w, i->quality);
    oc_key_object(w, "memory");
    training_keys(w, i, memory, OC_COUNT(memory));
    oc_key_quality(w, i->memory_quality);
    oc_jw_end_object(w);
    oc_key_object(w, "recompute");
    training_keys(w, i, again, OC_COUNT(again));
    oc_jw_end_object(w);
}

/* ---- training: text --------------------------------------------------------------------------------- */

static const char *training_bytes_text(struct costs_out *o, uint64_t v)
{
    return oc_bytes_text(&o->arena, (double)v);
}

static const char *training_traffic(struct costs_out *o, uint64_t v)
{
    return oc_si_text(&o->arena, (double)v, "B");
}

static const char *training_si(struct costs_out *o, uint64_t v)
{
    return oc_si_text(&o->arena, (double)v, "");
}

static const char *training_flop(struct costs_out *o, uint64_t v)
{
    return oc_si_text(&o->arena, (double)v, "FLOP");
}

static void print_work(struct costs_out *o)
{
    const struct oc_training_info *i = &o->t->info;
    const char *mark = oc_sum_mark(i->quality);
    uint64_t all = i->forward_flops + i->backward_flops + i->optimizer_flops;
    say(o, "step", "%s%s: forward %s, backward %s, optimizer (%s) %s; the loss is not included", mark,
        training_flop(o, all), training_flop(o, i->forward_flops), training_flop(o, i->backward_flops),
        i->optimizer, training_flop(o, i->optimizer_flops));
    say(o, "", "MACs: forward %s, backward %s", oc_count_text(&o->arena, i->forward_macs),
        oc_count_text(&o->arena, i->backward_macs));
    say(o, "moved", "%s%s: forward %s, backward %s, optimizer %s", mark,
        training_traffic(o, i->forward_bytes + i->backward_bytes + i->optimizer_bytes),
        training_traffic(o, i->forward_bytes), training_traffic(o, i->backward_bytes),
        training_traffic(o, i->optimizer_bytes));
    if (o->t->a->total->unknown_nodes)
        say(o, "unknown",
            "the forward pass of %" PRIu64 " of %" PRIu64 " operators is unknown and not included",
            o->t->a->total->unknown_nodes, o->t->a->total->nodes);
    if (i->unknown_nodes)
        say(o, "unknown",
            "the gradients of %" PRIu64 " of %" PRIu64 " operators are unknown and not included",
            i->unknown_nodes, i->gradient_nodes);
}

static void print_memory(struct costs_out *o)
{
    const struct oc_training_info *i = &o->t->info;
    const char *mark = oc_sum_mark(i->memory_quality);
    say(o, "parameters", "%s trainable, %s%s", oc_count_text(&o->arena, i->params),
        training_bytes_text(o, i->param_bytes),
        i->frozen_bytes
            ? oc_printf(&o->arena, "; other constants %s", training_bytes_text(o, i->frozen_bytes))
            : "");
    say(o, "memory", "%s%s: constants %s, gradients %s, optimizer state %s%s, activations %s", mark,
        training_bytes_text(o, i->total_bytes), training_bytes_text(o, i->param_bytes + i->frozen_bytes),
        training_bytes_text(o, i->gradient_bytes), training_bytes_text(o, i->state_bytes),
        i->master_bytes
            ? oc_printf(&o->arena, ", f32 copies of parameters %s", training_bytes_text(o, i->master_bytes))
            : "",
        training_bytes_text(o, i->peak_bytes));
    say(o, "", "saved for the backward pass: %s%s", mark, training_bytes_text(o, i->saved_bytes));
    if (i->recompute.segments > 1)
        say(o, "recompute",
            "memory %s%s, activations %s: %" PRIu64
            " segments, %s stored between them, %s saved by the largest; %s more",
            mark, training_bytes_text(o, i->recompute.total_bytes),
            training_bytes_text(o, i->recompute.peak_bytes), i->recompute.segments,
            training_bytes_text(o, i->recompute.checkpoint_bytes),
            training_bytes_text(o, i->recompute.segment_bytes), training_flop(o, i->recompute.flops));
}

/* Unknown ones first, then by work. */
static int by_work(const void *a, const void *b)
{
    const struct oc_training_node *x = *(const struct oc_training_node *const *)a,
                                  *y = *(const struct oc_training_node *const *)b;
    bool p = x->quality == OC_UNKNOWN, q = y->quality == OC_UNKNOWN;
    uint64_t m = x->forward_flops + x->backward_flops, n = y->forward_flops + y->backward_flops;
    if (p != q)
        return p ? -1 : 1;
    return m != n ? (m < n ? 1 : -1) : (x->node > y->node) - (x->node < y->node);
}

static void training_text(void *of, FILE *f)
{
    struct costs_out *o = begin_text(of, f);
    const struct oc_training *t = o->t;
    size_t n = t->liveness->n_step;
    const struct oc_training_node **row = OC_NEW_ARRAY(&o->arena, n, const struct oc_training_node *);
    struct oc_table table = {.kinds = "ttnnnt"};
    print_work(o);
    print_memory(o);
    for (size_t i = 0; i < n; i++)
        row[i] = &t->node[i];
    if (n)
        qsort(row, n, sizeof(struct oc_training_node *), by_work);
    OC_ROW(&table, "operator", "type", "forward", "backward", "saved", "note");
    for (size_t i = 0; i < costs_shown(o, n); i++) {
        const struct oc_training_node *x = row[i];
        bool known = x->quality != OC_UNKNOWN;
        OC_ROW(&table, node_label(o, x->node), o->model->node[x->node].op_type,
               t->a->cost[x->node].quality == OC_UNKNOWN ? "-" : training_si(o, x->forward_flops),
               !known        ? "-"
               : x->gradient ? training_si(o, x->backward_flops)
                             : "none",
               training_bytes_text(o, x->saved_bytes), x->note ? x->note : "");
    }
    print_nodes(o, &table, n);
}

int oc_training_write(const struct oc_training *t, const char *format, FILE *f, struct oc_err *err)
{
    struct costs_out o = {.t = t, .model = t->a->model, .top = t->top, .width_chars = t->width_chars};
    struct oc_output out = {.what = "--training",
                            .of = &o,
                            .text = training_text,
                            .rows = OC_ROWS(t->liveness->n_step, t, training_fields),
                            .key = "rows",
                            .schema = "onnxcost.training",
                            .model = o.model->path,
                            .members = training_members};
    out.rows.headed = o.model->n_node > 0;
    int rc = oc_output_write(&out, format, f, err);
    oc_arena_free(&o.arena);
    return rc;
}

/* ---- sparsity --------------------------------------------------------------------------------------- */

static double zero_part(uint64_t zeros, uint64_t elements)
{
    return elements ? (double)zeros / (double)elements : 0;
}

/* ---- sparsity: rows --------------------------------------------------------------------------------- */

static void sparsity_fields(struct oc_fields *o, const void *of, size_t i)
{
    static const char *const pattern[] = {NULL, "none", "2:4"};
    const struct oc_sparsity *s = of;
    const struct oc_sparsity_row none = {.node = SIZE_MAX}, *r = i < s->n_row ? &s->row[i] : &none;
    oc_field_node(o, s->a->model, r->node);
    oc_field_text(o, "weight", r->weight);
    oc_field_u64(o, "elements", r->elements);
    oc_field_u64_if(o, "zeros", r->known, r->zeros);
    oc_field_bool(o, "stored_sparse", r->sparse);
    oc_field_u64(o, "stored_bytes", r->stored_bytes);
    oc_field_text(o, "pattern", pattern[r->pattern]);
    oc_field_u64(o, "macs", r->macs);
    oc_field_u64_if(o, "nonzero_macs", r->counted, r->nonzero_macs);
    oc_field_text(o, "note", r->note);
}

static void sparsity_members(void *of, struct oc_json_out *w)
{
    const struct oc_sparsity_info *i = &((const struct costs_out *)of)->s->info;
    oc_key_u64(w, "weights", i->weights);
    oc_key_u64(w, "unread_weights", i->unread);
    oc_key_u64(w, "elements", i->elements);
    oc_key_u64(w, "zeros", i->zeros);
    oc_key_u64(w, "stored_bytes", i->stored_bytes);
    oc_key_u64(w, "stored_sparse", i->sparse_stored);
    oc_key_u64(w, "pattern_2_4", i->pattern);
    oc_key_u64(w, "operators", i->operators);
    oc_key_u64(w, "unknown_operators", i->unknown_operators);
    oc_key_u64(w, "macs", i->macs);
    oc_key_u64(w, "nonzero_macs", i->nonzero_macs);
}

/* ---- sparsity: text --------------------------------------------------------------------------------- */

static void print_sparsity_totals(struct costs_out *o)
{
    const struct oc_sparsity_info *i = &o->s->info;
    const char *mark = i->unread ? "of what could be read, " : "";
    say(o, "weights", "%s%s of %s elements are zero (%.1f %%), in %" PRIu64 " tensor%s, %s stored", mark,
        oc_count_text(&o->arena, i->zeros), oc_count_text(&o->arena, i->elements),
        100 * zero_part(i->zeros, i->elements), i->weights - i->unread, oc_plural(i->weights - i->unread),
        oc_bytes_text(&o->arena, (double)i->stored_bytes));
    say(o, "", "2:4 pattern in %" PRIu64 " tensor%s; stored sparse: %" PRIu64 "; not read: %" PRIu64,
        i->pattern, oc_plural(i->pattern), i->sparse_stored, i->unread);
    say(o, "MACs", "%s, of these %s with a weight that is not zero", oc_count_text(&o->arena, i->macs),
        oc_count_text(&o->arena, i->nonzero_macs));
    if (i->unknown_operators)
        say(o, "unknown", "MACs without zeros of %" PRIu64 " of %" PRIu64 " operator%s", i->unknown_operators,
            i->operators, oc_plural(i->operators));
}

/* Unknown ones first, then the largest number of MACs with zeros. */
static int by_zero_macs(const void *a, const void *b)
{
    const struct oc_sparsity_row *x = *(const struct oc_sparsity_row *const *)a,
                                 *y = *(const struct oc_sparsity_row *const *)b;
    uint64_t m = x->macs - x->nonzero_macs, n = y->macs - y->nonzero_macs;
    if (x->counted != y->counted)
        return x->counted ? 1 : -1;
    return m != n ? (m < n ? 1 : -1) : (x->node > y->node) - (x->node < y->node);
}

static void sparsity_text(void *of, FILE *f)
{
    static const char *const pattern[] = {"?", "-", "2:4"};
    struct costs_out *o = begin_text(of, f);
    const struct oc_sparsity *s = o->s;
    const struct oc_sparsity_row **row = OC_NEW_ARRAY(&o->arena, s->n_row, const struct oc_sparsity_row *);
    struct oc_table table = {.kinds = "ttnnnnnt"};
    print_sparsity_totals(o);
    for (uint32_t i = 0; i < s->n_row; i++)
        row[i] = &s->row[i];
    if (s->n_row)
        qsort(row, s->n_row, sizeof(struct oc_sparsity_row *), by_zero_macs);
    OC_ROW(&table, "operator", "type", "elements", "zeros %", "pattern", "MACs", "without zeros", "note");
    for (size_t i = 0; i < costs_shown(o, s->n_row); i++) {
        const struct oc_sparsity_row *r = row[i];
        OC_ROW(&table, node_label(o, r->node), o->model->node[r->node].op_type,
               oc_si_text(&o->arena, (double)r->elements, ""),
               r->known ? oc_printf(&o->arena, "%.1f", 100 * zero_part(r->zeros, r->elements)) : "-",
               pattern[r->pattern], oc_si_text(&o->arena, (double)r->macs, ""),
               r->counted ? oc_si_text(&o->arena, (double)r->nonzero_macs, "") : "-", r->note ? r->note : "");
    }
    print_nodes(o, &table, s->n_row);
}

int oc_sparsity_write(const struct oc_sparsity *s, const char *format, size_t top, unsigned width_chars,
                      FILE *f, struct oc_err *err)
{
    struct costs_out o = {.s = s, .model = s->a->model, .top = top, .width_chars = width_chars};
    const struct oc_output out = {.what = "--sparsity",
                                  .of = &o,
                                  .text = sparsity_text,
                                  .rows = OC_HEADED_ROWS(s->n_row, s, sparsity_fields),
                                  .key = "rows",
                                  .schema = "onnxcost.sparsity",
                                  .model = o.model->path,
                                  .members = sparsity_members};
    int rc = oc_output_write(&out, format, f, err);
    oc_arena_free(&o.arena);
    return rc;
}
