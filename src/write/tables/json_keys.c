/* Members of JSON, and one list of fields for JSON, CSV and pages. */
#include "write/tables/json_keys.h"

#include <inttypes.h>
#include <math.h>

#include "analyze/receipt.h"
#include "base/c_locale.h"
#include "base/ck.h"
#include "base/units.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"
#include "onnxcost/report.h"
#include "report/headline.h"

void oc_fields_begin(struct oc_fields *f)
{
    f->n = 0;
    if (f->json)
        oc_jw_begin_object(f->json);
}

void oc_fields_end(struct oc_fields *f)
{
    if (f->json) {
        oc_jw_end_object(f->json);
        return;
    }
    if (f->parquet) {
        oc_parquet_row(f->parquet, f->value);
        oc_arena_free(&f->arena);
        return;
    }
    if (!f->table.n_row && !f->no_head)
        oc_table_cells(&f->table, f->name, f->n);
    if (!f->head_only)
        oc_table_cells(&f->table, f->cell, f->n);
}

static void json_keys_put(struct oc_fields *f, const char *name, const char *cell)
{
    if (f->n == OC_MAX_FIELDS)
        return;
    f->name[f->n] = name;
    f->cell[f->n++] = cell;
}

static void put_value(struct oc_fields *f, struct oc_datum cell)
{
    if (f->n < OC_MAX_FIELDS)
        f->value[f->n++] = cell;
}

void oc_field_text(struct oc_fields *f, const char *name, const char *s)
{
    if (f->json)
        oc_key_text(f->json, name, s);
    else if (f->parquet)
        put_value(f, oc_datum_text(s && *s ? s : NULL));
    else
        json_keys_put(f, name, s ? s : "");
}

void oc_field_u64(struct oc_fields *f, const char *name, uint64_t v)
{
    if (f->json)
        oc_key_u64(f->json, name, v);
    else if (f->parquet)
        put_value(f, oc_datum_u64(v));
    else
        json_keys_put(f, name, oc_u64_text(&f->arena, v));
}

void oc_field_i64(struct oc_fields *f, const char *name, int64_t v)
{
    if (f->json)
        oc_key_i64(f->json, name, v);
    else if (f->parquet)
        put_value(f, oc_datum_i64(v));
    else
        json_keys_put(f, name, oc_printf(&f->arena, "%" PRId64, v));
}

void oc_field_u64_if(struct oc_fields *f, const char *name, bool known, uint64_t v)
{
    if (known)
        oc_field_u64(f, name, v);
    else
        oc_field_text(f, name, NULL);
}

void oc_field_bool(struct oc_fields *f, const char *name, bool v)
{
    if (f->json)
        oc_key_bool(f->json, name, v);
    else if (f->parquet)
        put_value(f, oc_datum_u64(v));
    else
        json_keys_put(f, name, v ? "1" : "0");
}

void oc_field_double(struct oc_fields *f, const char *name, double v)
{
    char buf[40] = "";
    if (f->json) {
        oc_key_double(f->json, name, v);
        return;
    }
    if (f->parquet) {
        put_value(f, oc_datum_number(v));
        return;
    }
    if (isfinite(v))
        oc_format_repr(v, buf, sizeof(buf));
    json_keys_put(f, name, oc_strdup(&f->arena, buf));
}

void oc_field_time(struct oc_fields *f, const char *name, double ns)
{
    oc_field_double(f, name, oc_rounded_ns(ns));
}

void oc_field_size(struct oc_fields *f, const char *name, double v)
{
    if (v >= 1 && v < 0x1p63 && v == floor(v))
        oc_field_u64(f, name, (uint64_t)v);
    else
        oc_field_double(f, name, v > 0 ? v : (double)NAN);
}

void oc_field_node(struct oc_fields *f, const struct oc_model *m, size_t node)
{
    const struct oc_node *n = node < m->n_node ? &m->node[node] : NULL;
    char label[256];
    oc_field_u64(f, "node", node);
    oc_field_text(f, "name", n ? oc_strdup(&f->arena, oc_node_label(m, n, label, sizeof(label))) : NULL);
    oc_field_text(f, "op_type", n ? n->op_type : NULL);
}

void oc_field_cells(struct oc_fields *f, const struct oc_cell_table *t, const struct oc_datum *cell)
{
    for (size_t i = 0; i < t->n; i++) {
        const char *name = t->column[i].name;
        unsigned kind = cell[i].known ? t->column[i].kind : OC_DATUM_TEXT;
        if (kind == OC_DATUM_U64)
            oc_field_u64(f, name, cell[i].as.u64);
        else if (kind == OC_DATUM_I64)
            oc_field_i64(f, name, cell[i].as.i64);
        else if (kind == OC_DATUM_DOUBLE)
            oc_field_double(f, name, cell[i].as.number);
        else
            oc_field_text(f, name,
                          !cell[i].known ? NULL
                          : f->json      ? cell[i].as.text
                                         : oc_strdup(&f->arena, cell[i].as.text));
    }
}

void oc_fields_free(struct oc_fields *f)
{
    oc_table_free(&f->table);
    oc_arena_free(&f->arena);
}

/* ---- output of a command ---------------------------------------------------------------------------- */

static void list_row(const struct oc_row_list *l, size_t i, struct oc_fields *o)
{
    oc_fields_begin(o);
    l->fields(o, l->of, i);
    oc_fields_end(o);
}

void oc_row_list_fill(const struct oc_row_list *l, struct oc_fields *o)
{
    for (size_t i = 0; i < l->n; i++)
        list_row(l, i, o);
}

void oc_row_list_json(const struct oc_row_list *l, const char *key, struct oc_json_out *w)
{
    struct oc_fields o = {.json = w};
    oc_key_array(w, key);
    oc_row_list_fill(l, &o);
    oc_jw_end_array(w);
    oc_fields_free(&o);
}

void oc_row_list_csv(const struct oc_row_list *l, FILE *f)
{
    struct oc_fields o = {.head_only = l->headed && !l->n};
    oc_row_list_fill(l, &o);
    if (o.head_only)
        list_row(l, 0, &o);
    oc_table_csv(&o.table, "1", f);
    oc_fields_free(&o);
}

static void output_json(const struct oc_output *c, FILE *f)
{
    struct oc_json_out w;
    oc_json_begin(&w, f, c->schema, 1, c->model);
    if (c->members)
        c->members(c->of, &w);
    if (c->key)
        oc_row_list_json(&c->rows, c->key, &w);
    oc_json_end(&w);
}

int oc_output_write(const struct oc_output *c, const char *format, FILE *f, struct oc_err *err)
{
    OC_ENTRY(err);
    const char *valid = c->page ? "table, csv, json, html, fragment" : "table, csv, json";
    int form = oc_format_of(c->what, format, valid, err);
    if (form == 0)
        c->text(c->of, f);
    else if (form == 1)
        oc_row_list_csv(&c->rows, f);
    else if (form == 2)
        output_json(c, f);
    else if (form > 2 && c->page)
        c->page(c->of, form == 4, f);
    return form < 0 ? -1 : 0;
}

/* ---- kernel fields ---------------------------------------------------------------------------------- */

/* 16 hexadecimal digits; NULL: none */
static const char *signature_text(struct oc_arena *a, uint64_t signature)
{
    return signature ? oc_printf(a, "%016" PRIx64, signature) : NULL;
}

static uint64_t json_keys_sum(const uint64_t *v)
{
    uint64_t n = 0;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        if (!oc_add_u64(n, v[c], &n))
            return UINT64_MAX;
    return n;
}

void oc_kernel_fields(struct oc_fields *f, const struct oc_kernel *k)
{
    const struct oc_work *w = &k->work;
    oc_field_text(f, "class", oc_kernel_class_name(k->cls));
    oc_field_text(f, "dtype", oc_class_name(k->dtype));
    oc_field_text(f, "signature", signature_text(&f->arena, k->signature));
    oc_field_u64(f, "nodes", k->members);
    oc_field_u64(f, "macs", json_keys_sum(w->macs));
    oc_field_u64(f, "other_flops", json_keys_sum(w->flops));
    oc_field_u64(f, "special", json_keys_sum(w->special));
    oc_field_u64(f, "bytes_read_act", k->rd_act);
    oc_field_u64(f, "bytes_read_weight", k->rd_wt);
    oc_field_u64(f, "bytes_written", k->wr);
    oc_field_size(f, "m", k->m);
    oc_field_size(f, "n", k->n);
    oc_field_size(f, "k", k->k);
    oc_field_size(f, "batch", k->batch);
    oc_field_size(f, "kernel_h", k->kernel_h);
    oc_field_size(f, "kernel_w", k->kernel_w);
    oc_field_size(f, "stride", k->stride);
    oc_field_size(f, "dilation", k->dilation);
    oc_field_size(f, "groups", k->groups);
    oc_field_size(f, "channels_in", k->channels_in);
}

/* ---- json keys -------------------------------------------------------------------------------------- */

void oc_key_text(struct oc_json_out *w, const char *key, const char *s)
{
    oc_jw_key(w, key);
    oc_jw_string(w, s);
}

void oc_key_u64(struct oc_json_out *w, const char *key, uint64_t v)
{
    oc_jw_key(w, key);
    oc_jw_u64(w, v);
}

void oc_key_i64(struct oc_json_out *w, const char *key, int64_t v)
{
    oc_jw_key(w, key);
    oc_jw_i64(w, v);
}

void oc_key_u64_if(struct oc_json_out *w, const char *key, bool known, uint64_t v)
{
    if (known)
        oc_key_u64(w, key, v);
    else
        oc_key_null(w, key);
}

void oc_key_bool(struct oc_json_out *w, const char *key, bool v)
{
    oc_jw_key(w, key);
    oc_jw_bool(w, v);
}

void oc_key_double(struct oc_json_out *w, const char *key, double v)
{
    oc_jw_key(w, key);
    oc_jw_double(w, v);
}

void oc_key_object(struct oc_json_out *w, const char *key)
{
    oc_jw_key(w, key);
    oc_jw_begin_object(w);
}

void oc_key_array(struct oc_json_out *w, const char *key)
{
    oc_jw_key(w, key);
    oc_jw_begin_array(w);
}

void oc_key_time(struct oc_json_out *w, const char *key, double ns)
{
    oc_key_double(w, key, oc_rounded_ns(ns));
}

void oc_key_count(struct oc_json_out *w, const char *key, double v)
{
    bool whole = v >= 0 && v < 9e15 && v == floor(v);
    if (whole)
        oc_key_u64(w, key, (uint64_t)v);
    else
        oc_key_double(w, key, v);
}

void oc_key_null(struct oc_json_out *w, const char *key)
{
    oc_jw_key(w, key);
    oc_jw_null(w);
}

void oc_key_quality_of(struct oc_json_out *w, const char *key, unsigned quality)
{
    oc_key_text(w, key, oc_quality_name(quality));
}

void oc_key_quality(struct oc_json_out *w, unsigned quality)
{
    oc_key_quality_of(w, "quality", quality);
}

const char *oc_version(void)
{
    return ONNXCOST_VERSION;
}

void oc_json_head(struct oc_json_out *w, const char *schema, unsigned version, const char *model)
{
    oc_key_text(w, "schema", schema);
    oc_key_u64(w, "version", version);
    oc_key_object(w, "tool");
    oc_key_text(w, "name", "onnxcost");
    oc_key_text(w, "version", ONNXCOST_VERSION);
    oc_jw_end_object(w);
    if (model)
        oc_key_text(w, "model", model[0] ? model : NULL);
}

void oc_json_begin(struct oc_json_out *w, FILE *f, const char *schema, unsigned version, const char *model)
{
    *w = (struct oc_json_out){.f = f, .pretty = true};
    oc_jw_begin_object(w);
    oc_json_head(w, schema, version, model);
}

void oc_json_end(struct oc_json_out *w)
{
    oc_jw_end_object(w);
    fputc('\n', w->f);
}

void oc_json_assumption(struct oc_json_out *w, const struct oc_assumption *a)
{
    oc_jw_begin_object(w);
    oc_key_text(w, "what", a->what);
    oc_key_text(w, "name", a->name);
    oc_key_text(w, "value", a->value);
    oc_key_text(w, "reason", a->reason);
    oc_jw_end_object(w);
}

bool oc_json_narrowed(const struct oc_report *r)
{
    const struct oc_report_opts *o = r->o;
    bool ordered = o->has_top || o->order_by; /* with --aggregate they apply to the groups */
    return (ordered && !oc_report_grouped(o)) || o->n_name_pattern || o->n_type || o->n_input_dtype ||
           o->min_time || o->max_time;
}

void oc_json_run_times(struct oc_json_out *w, const struct oc_run_spread *s)
{
    if (!oc_key_object_if(w, "run_times", s->n))
        return;
    oc_key_u64(w, "runs", s->n);
    oc_key_time(w, "min_ns", s->min_ns);
    oc_key_time(w, "p25_ns", s->p25_ns);
    oc_key_time(w, "median_ns", s->median_ns);
    oc_key_time(w, "p75_ns", s->p75_ns);
    oc_key_time(w, "max_ns", s->max_ns);
    oc_key_time(w, "median_low_ns", s->low_ns);
    oc_key_time(w, "median_high_ns", s->high_ns);
    oc_key_u64(w, "outliers", s->outliers);
    oc_key_double(w, "spread", oc_run_spread_share(s));
    oc_key_bool(w, "noisy", oc_run_spread_noisy(s));
    oc_jw_end_object(w);
}

void oc_hw_set_json(struct oc_json_out *w, const struct oc_device_info *device)
{
    for (size_t i = 0; device && i < device->n_set; i++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "what", "hw");
        oc_key_text(w, "name", device->set[i].key);
        oc_key_text(w, "value", device->set[i].value);
        oc_key_text(w, "reason", "set by --hw-set");
        oc_key_text(w, "before", device->set[i].before);
        oc_jw_end_object(w);
    }
}

/* ---- cost breakdown --------------------------------------------------------------------------------- */

static void json_keys_dimensions(struct oc_json_out *w, const struct oc_analysis *a, struct oc_arena *arena,
                                 uint32_t value)
{
    const struct oc_shape *s = &a->type[value].shape;
    if (!oc_key_array_if(w, "dims", s->ranked))
        return;
    for (unsigned i = 0; i < s->rank; i++) {
        oc_jw_begin_object(w);
        if (oc_is_known(s->dim[i])) {
            oc_key_i64(w, "value", s->dim[i].v);
        } else {
            oc_key_null(w, "value");
            oc_key_text(w, "origin", oc_dim_text(a->exprs, s->dim[i]));
        }
        oc_key_text(w, "from", oc_dim_source(a, arena, value, i));
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void json_keys_operand(struct oc_json_out *w, const struct oc_report_in *in, struct oc_arena *arena,
                              uint32_t value, const struct oc_slot_bytes *b)
{
    const struct oc_analysis *a = in->analysis;
    if (value == OC_NONE) {
        oc_jw_null(w);
        return;
    }
    oc_jw_begin_object(w);
    oc_key_text(w, "name", in->model->value[value].name);
    oc_key_text(w, "type", oc_type_text(arena, a->exprs, &a->type[value]));
    oc_key_text(w, "source", oc_value_source(a, arena, value));
    oc_key_bool(w, "constant", a->is_const[value]);
    json_keys_dimensions(w, a, arena, value);
    oc_key_u64_if(w, "bytes_moved", b != NULL, b ? b->moved : 0);
    oc_key_u64_if(w, "bytes_whole", b != NULL, b ? b->whole : 0);
    oc_key_text(w, "why", b ? b->why : NULL);
    oc_jw_end_object(w);
}

static void json_keys_operands(struct oc_json_out *w, const struct oc_report_in *in, struct oc_arena *arena,
                               const char *key, const uint32_t *id, uint32_t n, const struct oc_slot_bytes *b)
{
    oc_key_array(w, key);
    for (uint32_t i = 0; i < n; i++)
        json_keys_operand(w, in, arena, id[i], b ? &b[i] : NULL);
    oc_jw_end_array(w);
}

static void json_keys_formula(struct oc_json_out *w, const struct oc_receipt *r)
{
    oc_key_array(w, "terms");
    for (uint32_t i = 0; i < r->formula.n_term; i++) {
        const struct oc_formula_term *t = &r->formula.term[i];
        oc_jw_begin_object(w);
        oc_key_text(w, "primitive", oc_prim_name(t->prim));
        oc_key_text(w, "formula", t->expr);
        oc_key_text(w, "numbers", t->numbers);
        oc_key_u64_if(w, "value", t->known, t->value);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    oc_key_array(w, "where");
    for (uint32_t i = 0; i < r->formula.n_name; i++) {
        const struct oc_formula_name *x = &r->formula.name[i];
        oc_jw_begin_object(w);
        oc_key_text(w, "name", x->name);
        oc_key_text(w, "formula", x->expr);
        oc_key_u64_if(w, "value", x->known, x->value);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void json_keys_histogram(struct oc_json_out *w, const struct oc_receipt *r)
{
    oc_key_array(w, "primitives");
    for (unsigned i = 0; i < 2 * OC_PRIM_COUNT; i++) {
        unsigned p = i / 2;
        uint64_t n = i % 2 ? r->cost.hist_i[p] : r->cost.hist_f[p];
        if (!n)
            continue;
        oc_jw_begin_object(w);
        oc_key_text(w, "primitive", oc_prim_name(p));
        oc_key_text(w, "kind", i % 2 ? "integer" : "float");
        oc_key_u64(w, "count", n);
        oc_key_u64(w, "weight", r->weight[p]);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void one(struct oc_json_out *w, const struct oc_report_in *in, struct oc_recount *recount,
                struct oc_arena *arena, uint32_t node)
{
    const struct oc_node *n = &in->model->node[node];
    const struct oc_node_cost *k = &in->analysis->cost[node];
    const struct oc_op *op = in->analysis->op[node];
    struct oc_receipt r;
    bool counted = oc_recount_node(recount, node, true, &r);
    oc_jw_begin_object(w);
    oc_key_u64(w, "index", node);
    oc_key_text(w, "name", n->name[0] ? n->name : NULL);
    oc_key_text(w, "op_type", n->op_type);
    oc_key_text(w, "domain", n->domain);
    oc_key_i64(w, "opset", n->opset);
    oc_key_u64_if(w, "rule_since", op != NULL, op ? (uint64_t)op->since : 0);
    oc_key_text(w, "family", op ? oc_op_family_name(op) : NULL);
    oc_key_text(w, "rule", op ? oc_formula_text(op) : NULL);
    oc_key_object(w, "attributes");
    for (uint32_t i = 0; i < n->n_attr; i++)
        oc_key_text(w, n->attr[i].name, oc_attr_text(arena, &n->attr[i]));
    oc_jw_end_object(w);
    json_keys_operands(w, in, arena, "inputs", n->in, n->n_in, counted ? r.in : NULL);
    json_keys_operands(w, in, arena, "outputs", n->out, n->n_out, counted ? r.out : NULL);
    if (counted) {
        json_keys_formula(w, &r);
        json_keys_histogram(w, &r);
    }
    oc_key_u64_if(w, "flops_per_execution", counted, counted ? r.flops : 0);
    oc_key_u64(w, "trips", k->trips);
    oc_key_u64(w, "params", k->params);
    oc_key_quality(w, k->quality);
    oc_key_text(w, "reason", k->note ? k->note : oc_node_reason(k));
    oc_jw_end_object(w);
}

void oc_receipts_json(const struct oc_report_in *in, const uint32_t *node, size_t n, struct oc_arena *arena,
                      struct oc_json_out *w)
{
    struct oc_recount *recount = oc_recount_new(in->analysis);
    oc_jw_begin_array(w);
    for (size_t i = 0; i < n; i++)
        one(w, in, recount, arena, node[i]);
    oc_jw_end_array(w);
    oc_recount_free(recount);
}
