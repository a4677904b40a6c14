/* A memory plan and its node order as CSV, JSON or text. Steps are positions in that order (in a subgraph:
 * its own order); node numbers are the same in all reports. */
#include <inttypes.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "base/units.h"
#include "memory/memory_plan.h"
#include "write/json_keys.h"
#include "write/plain_table.h"

enum { VERSION = 1 };

static const char *plan_number(struct oc_arena *a, uint64_t v)
{
    return oc_printf(a, "%" PRIu64, v);
}

static const char *plan_label(struct oc_arena *a, const struct oc_model *m, uint32_t node)
{
    char buf[256];
    return node == OC_NONE ? "" : oc_strdup(a, oc_node_label(m, &m->node[node], buf, sizeof(buf)));
}

static const char *node_number(struct oc_arena *a, uint32_t node)
{
    return node == OC_NONE ? "" : plan_number(a, node);
}

/* ---- the plan --------------------------------------------------------------------------------------- */

static void plan_csv(const struct oc_memory_plan *p, FILE *f)
{
    struct oc_arena arena = {0};
    struct oc_plain_table t = {0};
    const struct oc_model *m = p->a->model;
    OC_ROW(&t, "value", "kind", "graph", "bytes", "offset", "first_step", "last_step", "first_node",
           "last_node", "first_name", "last_name", "input", "output", "quality");
    for (uint32_t i = 0; i < p->n_buffer; i++) {
        const struct oc_planned *b = &p->buffer[i];
        OC_ROW(&t, b->value == OC_NONE ? "" : m->value[b->value].name,
               b->value == OC_NONE ? "bodies" : "tensor", m->graph[b->graph].scope,
               plan_number(&arena, b->bytes), plan_number(&arena, b->offset), plan_number(&arena, b->first),
               plan_number(&arena, b->last), node_number(&arena, b->first_node),
               node_number(&arena, b->last_node), plan_label(&arena, m, b->first_node),
               plan_label(&arena, m, b->last_node), b->input ? "1" : "0", b->output ? "1" : "0",
               oc_quality_name(b->quality));
    }
    oc_plain_csv(&t, "1", f);
    oc_arena_free(&arena);
}

static void plan_key_bool(struct oc_json_out *w, const char *key, bool v)
{
    oc_key_bool(w, key, v);
}

static void key_node(struct oc_json_out *w, const char *key, const struct oc_model *m, uint32_t node)
{
    char buf[256];
    if (node == OC_NONE) {
        oc_key_null(w, key);
        return;
    }
    oc_key_object(w, key);
    oc_key_u64(w, "index", node);
    oc_key_text(w, "name", oc_node_label(m, &m->node[node], buf, sizeof(buf)));
    oc_jw_end_object(w);
}

static void json_buffer(struct oc_json_out *w, const struct oc_model *m, const struct oc_planned *b)
{
    oc_jw_begin_object(w);
    oc_key_text(w, "value", b->value == OC_NONE ? NULL : m->value[b->value].name);
    oc_key_text(w, "kind", b->value == OC_NONE ? "bodies" : "tensor");
    oc_key_text(w, "graph", m->graph[b->graph].scope);
    oc_key_u64(w, "bytes", b->bytes);
    oc_key_u64(w, "offset", b->offset);
    oc_key_u64(w, "first_step", b->first);
    oc_key_u64(w, "last_step", b->last);
    key_node(w, "first_node", m, b->first_node);
    key_node(w, "last_node", m, b->last_node);
    plan_key_bool(w, "input", b->input);
    plan_key_bool(w, "output", b->output);
    oc_key_quality(w, b->quality);
    oc_jw_end_object(w);
}

static void key_order(struct oc_json_out *w, const struct oc_memory_plan *p)
{
    oc_key_array(w, "order");
    for (uint32_t i = 0; i < p->lives->n_step; i++)
        oc_jw_u64(w, p->lives->step[p->order[i]]);
    oc_jw_end_array(w);
}

static double plan_ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 1;
}

static void plan_json(const struct oc_memory_plan *p, FILE *f)
{
    struct oc_json_out w;
    oc_json_begin(&w, f, "onnxcost.plan", VERSION, p->a->model->path);
    oc_key_u64(&w, "size_bytes", p->size);
    oc_key_u64(&w, "live_bytes", p->lower);
    oc_key_double(&w, "ratio", plan_ratio(p->size, p->lower));
    plan_key_bool(&w, "optimal", p->optimal);
    oc_key_text(&w, "method", p->method);
    oc_key_u64(&w, "align_bytes", p->align > 1 ? p->align : 1);
    oc_key_quality(&w, p->quality);
    plan_key_bool(&w, "reordered", p->reorder.changed);
    oc_key_array(&w, "buffers");
    for (uint32_t i = 0; i < p->n_buffer; i++)
        json_buffer(&w, p->a->model, &p->buffer[i]);
    oc_jw_end_array(&w);
    key_order(&w, p);
    oc_json_end(&w);
}

/* ---- the order -------------------------------------------------------------------------------------- */

static void order_csv(const struct oc_memory_plan *p, FILE *f)
{
    struct oc_arena arena = {0};
    struct oc_plain_table t = {0};
    const struct oc_model *m = p->a->model;
    OC_ROW(&t, "position", "file_position", "node", "name", "op_type", "live_bytes");
    for (uint32_t i = 0; i < p->lives->n_step; i++) {
        uint32_t node = p->lives->step[p->order[i]];
        OC_ROW(&t, plan_number(&arena, i), plan_number(&arena, p->order[i]), plan_number(&arena, node),
               plan_label(&arena, m, node), m->node[node].op_type, plan_number(&arena, p->live[i]));
    }
    oc_plain_csv(&t, "1", f);
    oc_arena_free(&arena);
}

static void order_json(const struct oc_memory_plan *p, FILE *f)
{
    struct oc_json_out w;
    oc_json_begin(&w, f, "onnxcost.order", VERSION, p->a->model->path);
    oc_key_u64(&w, "file_order_bytes", p->reorder.before);
    oc_key_u64(&w, "bytes", p->reorder.after);
    oc_key_u64(&w, "lower_bytes", p->reorder.lower);
    plan_key_bool(&w, "optimal", p->reorder.lower == p->reorder.after);
    plan_key_bool(&w, "changed", p->reorder.changed);
    oc_key_quality(&w, p->quality);
    key_order(&w, p);
    oc_key_array(&w, "live_bytes");
    for (uint32_t i = 0; i < p->lives->n_step; i++)
        oc_jw_u64(&w, p->live[i]);
    oc_jw_end_array(&w);
    oc_json_end(&w);
}

static void order_lines(struct oc_arena *arena, const struct oc_memory_plan *p, const char *mark, FILE *f)
{
    const struct oc_reorder *r = &p->reorder;
    if (r->changed)
        fprintf(f, "order       peak activation memory %s%s instead of %s, %.1f %% less\n", mark,
                oc_bytes_text(arena, (double)r->after), oc_bytes_text(arena, (double)r->before),
                100 * (1 - (double)r->after / (double)r->before));
    else
        fprintf(f, "order       file order: peak activation memory %s%s\n", mark,
                oc_bytes_text(arena, (double)r->before));
    if (r->lower == r->after)
        fprintf(f, "            optimal: equal to the lower bound\n");
    else
        fprintf(f, "            heuristic; lower bound %s\n", oc_bytes_text(arena, (double)r->lower));
}

static void order_table(const struct oc_memory_plan *p, FILE *f)
{
    struct oc_arena arena = {0};
    const char *mark = oc_quality_word(p->quality);
    if (p->reordered)
        order_lines(&arena, p, mark, f);
    fprintf(f, "plan        arena of %s%s for %" PRIu32 " buffers, %.3f times the peak activation memory\n",
            mark, oc_bytes_text(&arena, (double)p->size), p->n_buffer, plan_ratio(p->size, p->lower));
    fprintf(f, "            %s (%s)\n",
            p->optimal ? "optimal for this order" : "heuristic, may not be optimal", p->method);
    oc_arena_free(&arena);
}

static int plan_choose(const struct oc_memory_plan *p, const char *format, const char *const *name,
                       void (*const *write)(const struct oc_memory_plan *, FILE *), size_t n, FILE *f,
                       struct oc_err *err)
{
    for (size_t i = 0; i < n; i++)
        if (!format || !strcmp(format, name[i])) {
            write[i](p, f);
            return 0;
        }
    return oc_fail(err, OC_EARG, "the plan has no format '%s'; valid: csv, json", format);
}

int oc_memory_plan_write(const struct oc_memory_plan *p, const char *format, FILE *f, struct oc_err *err)
{
    static const char *const name[] = {"json", "csv"};
    static void (*const write[])(const struct oc_memory_plan *, FILE *) = {plan_json, plan_csv};
    return plan_choose(p, format, name, write, OC_COUNT(name), f, err);
}

int oc_memory_order_write(const struct oc_memory_plan *p, const char *format, FILE *f, struct oc_err *err)
{
    OC_C_LOCALE;
    static const char *const name[] = {"table", "csv", "json"};
    static void (*const write[])(const struct oc_memory_plan *, FILE *) = {order_table, order_csv,
                                                                           order_json};
    return plan_choose(p, format, name, write, OC_COUNT(name), f, err);
}
