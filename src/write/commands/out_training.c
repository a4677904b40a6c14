/* A training step as text, CSV (one row per node) and JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/training.h"
#include "base/c_locale.h"
#include "base/units.h"
#include "base/unicode.h"
#include "onnxcost.h"
#include "write/tables/json_keys.h"
#include "write/tables/plain_table.h"

enum { VERSION = 1, LABEL = 12, WIDTH = 118 };

struct training_out {
    const struct oc_training *t;
    struct oc_arena arena;
    FILE *f;
};

/* ---- rows ------------------------------------------------------------------------------------------- */

static void training_fields(struct oc_fields *o, const struct oc_training *t,
                            const struct oc_training_node *x)
{
    bool known = x->quality != OC_UNKNOWN;
    oc_fields_begin(o);
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
    oc_fields_end(o);
}

static void training_rows(struct oc_fields *o, const struct oc_training *t)
{
    static const struct oc_training_node none;
    for (uint32_t s = 0; s < t->liveness->n_step; s++)
        training_fields(o, t, &t->node[s]);
    if (o->head_only)
        training_fields(o, t, &none);
}

static void training_csv(struct training_out *o)
{
    struct oc_fields fields = {.head_only = !o->t->liveness->n_step && o->t->a->model->n_node};
    training_rows(&fields, o->t);
    oc_fields_csv(&fields, "1", o->f);
    oc_fields_free(&fields);
}

/* ---- JSON ------------------------------------------------------------------------------------------- */

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

static void training_json(struct training_out *o)
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
    const struct oc_training_info *i = &o->t->info;
    struct oc_json_out w;
    struct oc_fields rows = {.json = &w};
    oc_json_begin(&w, o->f, "onnxcost.training", VERSION, o->t->a->model->path);
    oc_key_text(&w, "optimizer", i->optimizer);
    training_keys(&w, i, work, OC_COUNT(work));
    oc_key_quality(&w, i->quality);
    oc_key_object(&w, "memory");
    training_keys(&w, i, memory, OC_COUNT(memory));
    oc_key_quality(&w, i->memory_quality);
    oc_jw_end_object(&w);
    oc_key_object(&w, "recompute");
    training_keys(&w, i, again, OC_COUNT(again));
    oc_jw_end_object(&w);
    oc_key_array(&w, "rows");
    training_rows(&rows, o->t);
    oc_jw_end_array(&w);
    oc_json_end(&w);
    oc_fields_free(&rows);
}

/* ---- for people ------------------------------------------------------------------------------------- */

static const char *training_bytes_text(struct training_out *o, uint64_t v)
{
    return oc_bytes_text(&o->arena, (double)v);
}

static const char *training_si(struct training_out *o, uint64_t v)
{
    return oc_si_text(&o->arena, (double)v, "");
}

static const char *training_flop(struct training_out *o, uint64_t v)
{
    return oc_si_text(&o->arena, (double)v, "FLOP");
}

#define say(o, label, ...)                                                                                   \
    oc_plain_say_format((label), LABEL, (o)->t->width_chars ? (o)->t->width_chars : WIDTH, (o)->f,           \
                        __VA_ARGS__)

static void print_work(struct training_out *o)
{
    const struct oc_training_info *i = &o->t->info;
    const char *mark = oc_sum_mark(i->quality);
    uint64_t all = i->forward_flops + i->backward_flops + i->optimizer_flops;
    if (o->t->a->model->path[0])
        say(o, "model", "%s", o->t->a->model->path);
    say(o, "step", "%s%s: forward %s, backward %s, optimizer (%s) %s; the loss is not included", mark,
        training_flop(o, all), training_flop(o, i->forward_flops), training_flop(o, i->backward_flops),
        i->optimizer, training_flop(o, i->optimizer_flops));
    say(o, "", "MACs: forward %s, backward %s", oc_count_text(&o->arena, i->forward_macs),
        oc_count_text(&o->arena, i->backward_macs));
    say(o, "moved", "%s%s: forward %s, backward %s, optimizer %s", mark,
        training_bytes_text(o, i->forward_bytes + i->backward_bytes + i->optimizer_bytes),
        training_bytes_text(o, i->forward_bytes), training_bytes_text(o, i->backward_bytes),
        training_bytes_text(o, i->optimizer_bytes));
    if (o->t->a->total->unknown_nodes)
        say(o, "unknown",
            "the forward pass of %" PRIu64 " of %" PRIu64 " operators is unknown and not included",
            o->t->a->total->unknown_nodes, o->t->a->total->nodes);
    if (i->unknown_nodes)
        say(o, "unknown",
            "the gradients of %" PRIu64 " of %" PRIu64 " operators are unknown and not included",
            i->unknown_nodes, i->gradient_nodes);
}

static void print_memory(struct training_out *o)
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

static void training_table(struct training_out *o)
{
    const struct oc_training *t = o->t;
    const struct oc_model *m = t->a->model;
    const struct oc_training_node **row =
        OC_NEW_ARRAY(&o->arena, t->liveness->n_step, const struct oc_training_node *);
    struct oc_plain_table table = {.width_chars = t->width_chars};
    size_t n = 0;
    char label[256];
    print_work(o);
    print_memory(o);
    for (uint32_t s = 0; s < t->liveness->n_step; s++)
        row[n++] = &t->node[s];
    if (n)
        qsort(row, n, sizeof(struct oc_training_node *), by_work);
    OC_ROW(&table, "operator", "type", "forward", "backward", "saved", "note");
    for (size_t i = 0; i < n && (!t->top || i < t->top); i++) {
        const struct oc_training_node *x = row[i];
        const struct oc_node *node = &m->node[x->node];
        bool known = x->quality != OC_UNKNOWN;
        OC_ROW(&table, oc_strdup(&o->arena, oc_node_label(m, node, label, sizeof(label))), node->op_type,
               t->a->cost[x->node].quality == OC_UNKNOWN ? "-" : training_si(o, x->forward_flops),
               !known        ? "-"
               : x->gradient ? training_si(o, x->backward_flops)
                             : "none",
               training_bytes_text(o, x->saved_bytes), x->note ? x->note : "");
    }
    fputc('\n', o->f);
    oc_plain_left(&table, 2, &o->arena);
    oc_plain_print(&table, 1, o->f);
    if (t->top && n > t->top)
        fprintf(o->f, "(%zu more operators; --top 0 prints all)\n", n - t->top);
}

int oc_training_write(const struct oc_training *t, const char *format, FILE *f, struct oc_err *err)
{
    OC_C_LOCALE;
    static void (*const write[])(struct training_out *) = {training_table, training_csv, training_json};
    struct training_out o = {.t = t, .f = f};
    int form = oc_format_of("--training", format, "table, csv, json", err);
    if (form < 0)
        return -1;
    write[form](&o);
    oc_arena_free(&o.arena);
    return 0;
}
