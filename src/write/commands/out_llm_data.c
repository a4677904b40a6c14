/* The report of a language model as JSON and CSV, with exact numbers (unknown values are null or empty),
 * and as a page: phases, lower bounds by device, serving. */
#include <math.h>

#include "base/units.h"
#include "onnxcost.h"
#include "write/commands/page_views.h"
#include "write/tables/html_page.h"
#include "write/tables/json_keys.h"

/* ---- JSON ------------------------------------------------------------------------------------------- */

static void llm_data_key_i64(struct oc_json_out *w, const char *key, int64_t v)
{
    oc_key_u64_if(w, key, v >= 0, (uint64_t)v);
}

static void llm_data_put_weights(struct oc_json_out *w, const struct oc_llm *l)
{
    oc_key_array(w, "weights");
    for (uint32_t i = 0; i < l->n_weights; i++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "stored_as", l->weights[i].label);
        oc_key_u64(w, "elements", l->weights[i].elements);
        oc_key_u64(w, "bytes", l->weights[i].bytes);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void put_dimensions(struct oc_json_out *w, const struct oc_llm *l)
{
    oc_key_array(w, "dimensions");
    for (uint32_t i = 0; i < l->sizes.n_size; i++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "name", l->sizes.size[i].symbol);
        oc_key_text(w, "counts", oc_llm_role_name[l->sizes.size[i].role]);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    oc_key_array(w, "assumptions");
    for (uint32_t i = 0; i < l->n_assumption; i++) {
        oc_json_assumption(w, &l->assumption[i]);
    }
    for (size_t i = 0; i < l->n_device; i++)
        oc_hw_set_json(w, oc_device_info(l->device[i].device));
    oc_jw_end_array(w);
}

/* What was assumed of the model, not understood or not counted. */
static void put_warnings(struct oc_json_out *w, const struct oc_llm *l)
{
    oc_key_array(w, "warnings");
    for (size_t i = 0; i < l->diags.n; i++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "code", l->diags.item[i].code);
        oc_key_text(w, "where", l->diags.item[i].where);
        oc_key_text(w, "text", l->diags.item[i].text);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void put_facts(struct oc_json_out *w, const struct oc_llm *l)
{
    const struct oc_llm_facts *f = &l->facts;
    oc_key_u64(w, "layers", f->layers);
    oc_key_u64(w, "kv_pairs", f->kv_pairs);
    oc_key_u64(w, "cross_pairs", f->cross_pairs);
    llm_data_key_i64(w, "heads", f->heads);
    llm_data_key_i64(w, "kv_heads", f->kv_heads);
    llm_data_key_i64(w, "head_size", f->head_size);
    oc_key_bool(w, "layers_differ", f->uneven);
    llm_data_key_i64(w, "window", f->window);
    oc_key_u64(w, "windowed_operators", f->windowed_layers);
    llm_data_key_i64(w, "vocabulary", f->vocabulary);
    oc_key_text(w, "kv_dtype", f->kv_dtype);
    oc_key_text(w, "naming", f->naming);
    oc_key_u64_if(w, "kv_bytes_per_token", f->kv_bytes_known, f->kv_bytes_per_token);
    oc_key_u64_if(w, "cross_bytes_per_token", f->kv_bytes_known, f->cross_bytes_per_token);
    oc_key_u64(w, "params", f->params);
    oc_key_u64(w, "const_bytes", f->const_bytes);
    llm_data_put_weights(w, l);
    const struct oc_file_sum *files = &l->model->files;
    oc_key_u64_if(w, "file_tensors", files->tensors > 0, files->tensors);
    oc_key_u64_if(w, "file_bytes", files->tensors > 0, files->bytes);
    oc_key_u64_if(w, "file_bytes_of_language_model", files->tensors > 0, files->part[OC_FILE_LANGUAGE]);
    put_dimensions(w, l);
    put_warnings(w, l);
}

/* ---- runs, in both formats -------------------------------------------------------------------------- */

static void token_fields(struct oc_fields *o, const struct oc_llm_line *line)
{
    oc_field_u64_if(o, "new_tokens", line->fresh >= 0, (uint64_t)line->fresh);
    oc_field_u64_if(o, "cached_tokens", line->past >= 0, (uint64_t)line->past);
}

static void count_fields(struct oc_fields *o, const struct oc_llm *l, const struct oc_llm_line *line)
{
    struct oc_llm_counts c = {.quality = OC_UNKNOWN, .peak_quality = OC_UNKNOWN};
    bool known = oc_llm_run(l, line->part, &c);
    oc_field_u64_if(o, "macs", known, c.macs);
    oc_field_u64_if(o, "flops", known, c.flops);
    oc_field_u64_if(o, "ops", known, c.ops);
    oc_field_u64_if(o, "bytes_read_weight", known, c.bytes_read_weight);
    oc_field_u64_if(o, "bytes_read_act", known, c.bytes_read_act);
    oc_field_u64_if(o, "bytes_written", known, c.bytes_written);
    oc_field_u64_if(o, "kv_read", known, c.kv_read);
    oc_field_u64_if(o, "kv_written", known, c.kv_written);
    oc_field_u64_if(o, "peak_bytes", known && line->fresh >= 0 && c.peak_quality != OC_UNKNOWN, c.peak);
    if (o->json)
        oc_field_u64_if(o, "unknown_nodes", known, c.unknown_nodes);
    oc_field_text(o, "quality", oc_quality_name(c.quality));
    if (o->json)
        oc_field_text(o, "failure", known ? NULL : oc_llm_failure(l, line->part));
}

static void roof_fields(struct oc_fields *o, const struct oc_llm_line *line, const struct oc_llm_roof *r)
{
    oc_field_double(o, "least_s", r->bound_s);
    oc_field_double(o, "most_tokens_per_s", r->bound_s > 0 ? line->tokens / r->bound_s : NAN);
    oc_field_double(o, "unfused_s", r->s);
    oc_field_double(o, "arithmetic_s", r->comp_s);
    oc_field_double(o, "memory_s", r->mem_s);
    oc_field_double(o, "weights_and_cache_s", r->chip_s);
    oc_field_double(o, "estimate_s", r->time_s > 0 ? r->time_s : NAN);
    oc_field_double(o, "estimate_low80_s", r->time_s > 0 ? r->low80_s : NAN);
    oc_field_double(o, "estimate_high80_s", r->time_s > 0 ? r->high80_s : NAN);
    oc_field_text(o, "bound_by", r->bound);
    if (o->json)
        oc_field_text(o, "missing", r->missing);
}

/* Lines of a model, on a device or without one. */
struct llm_lines {
    const struct oc_llm *l;
    const struct oc_llm_device *d; /* NULL: none, or of CSV all in turn */
    struct oc_llm_line line[OC_LLM_LINES];
    size_t n;
};

/* A member of "runs". */
static void llm_run_fields(struct oc_fields *o, const void *of, size_t i)
{
    const struct llm_lines *x = of;
    const struct oc_llm_line *line = &x->line[i];
    if (!o->json)
        oc_field_text(o, "phase", line->name);
    oc_field_text(o, "run", line->key);
    token_fields(o, line);
    count_fields(o, x->l, line);
}

/* A member of "roofs". */
static void llm_roof_fields(struct oc_fields *o, const void *of, size_t i)
{
    const struct llm_lines *x = of;
    const struct oc_llm_line *line = &x->line[i];
    if (!o->json)
        oc_field_text(o, "phase", line->name);
    oc_field_text(o, "run", line->key);
    roof_fields(o, line, &x->d->roof[line->part]);
}

/* A member of "batches". */
static void serving_fields(struct oc_fields *o, const void *of, size_t i)
{
    const struct oc_llm_serving_row *r = &((const struct oc_llm_serving *)of)->row[i];
    oc_field_u64(o, "batch", (uint64_t)r->batch);
    oc_field_double(o, "least_s_per_token", r->step_s);
    oc_field_double(o, "most_tokens_per_s", r->tokens_per_s);
    oc_field_double(o, "least_s_with_prefill", r->mixed_s);
    oc_field_double(o, "most_requests_per_s", r->requests_per_s);
    oc_field_double(o, "most_tokens_per_s_with_draft", r->draft_tokens_per_s);
    oc_field_double(o, "needed_bytes_per_device", r->need_bytes);
    oc_field_double(o, "received_bytes_per_device", r->link_bytes);
    oc_field_text(o, "bound_by", r->bound);
}

/* A line of CSV: a run on each device, or without one. */
static void llm_line_fields(struct oc_fields *o, const void *of, size_t i)
{
    static const struct oc_llm_roof none = {
        .bound_s = NAN, .s = NAN, .comp_s = NAN, .mem_s = NAN, .chip_s = NAN, .bound = ""};
    const struct llm_lines *x = of;
    const struct oc_llm_line *line = &x->line[i % x->n];
    const struct oc_llm_device *d = x->l->n_device ? &x->l->device[i / x->n] : NULL;
    oc_field_text(o, "device", d ? oc_device_info(d->device)->id : NULL);
    oc_field_text(o, "run", line->key);
    oc_field_u64(o, "batch", (uint64_t)x->l->opts.batch);
    token_fields(o, line);
    count_fields(o, x->l, line);
    roof_fields(o, line, d ? &d->roof[line->part] : &none);
}

static void llm_data_put_forms(struct oc_json_out *w, const struct oc_llm *l, enum oc_llm_phase phase,
                               struct oc_arena *a)
{
    const struct oc_llm_law *law = phase == OC_LLM_PREFILL ? &l->prefill_law : &l->decode_law;
    struct oc_llm_form form;
    oc_key_object(w, phase == OC_LLM_PREFILL ? "prompt" : "decode");
    llm_data_key_i64(w, "from", law->from);
    llm_data_key_i64(w, "to", law->to);
    for (size_t i = 0; oc_llm_form(i, &form); i++)
        oc_key_text(w, form.key, oc_llm_form_text(l, phase, form.num, a));
    oc_jw_end_object(w);
}

static void put_limit(struct oc_json_out *w, const char *key, const struct oc_llm_limit *l)
{
    oc_key_object(w, key);
    oc_key_u64_if(w, "value", l->known && !l->never, (uint64_t)l->v);
    oc_key_bool(w, "never", l->never);
    oc_key_bool(w, "or_more", l->beyond);
    oc_key_text(w, "why", l->known && !l->never ? NULL : l->why);
    oc_jw_end_object(w);
}

static void put_serving(struct oc_json_out *w, const struct oc_llm_serving *s)
{
    oc_jw_begin_object(w);
    oc_key_u64(w, "devices", (uint64_t)s->devices);
    oc_key_u64(w, "tensor_parallel", (uint64_t)s->tensor);
    oc_key_u64(w, "pipeline_stages", (uint64_t)s->pipeline);
    oc_key_u64(w, "expert_groups", (uint64_t)s->expert);
    oc_key_double(w, "link_bytes_per_s", s->link_bytes_per_s);
    oc_key_u64_if(w, "largest_batch", s->largest >= 0, (uint64_t)s->largest);
    oc_key_double(w, "least_prefill_s", s->prefill_s);
    oc_key_double(w, "prefill_groups_per_decode_group",
                  s->prefill_per_decode > 0 ? s->prefill_per_decode : NAN);
    oc_key_double(w, "kv_bytes_per_prompt", s->moved_bytes);
    oc_row_list_json(&OC_ROWS(s->n_row, s, serving_fields), "batches", w);
    oc_jw_end_object(w);
}

static void put_device(struct oc_json_out *w, struct llm_lines *x, const struct oc_llm_device *d)
{
    x->d = d;
    oc_jw_begin_object(w);
    oc_key_text(w, "device", oc_device_info(d->device)->id);
    oc_row_list_json(&OC_ROWS(x->n, x, llm_roof_fields), "roofs", w);
    oc_key_double(w, "memory_bytes", d->memory_bytes);
    struct oc_arena text = {0};
    oc_key_u64_if(w, "needed_bytes", x->l->run[OC_LLM_PART_LAST].cost != NULL, d->need_bytes);
    oc_key_text(w, "verdict", oc_llm_verdict(x->l, d, &text));
    oc_key_object(w, "measured_share");
    oc_key_double(w, "decode", oc_llm_measured_share(x->l, d, OC_LLM_DECODE_RATE));
    oc_key_double(w, "prefill", oc_llm_measured_share(x->l, d, OC_LLM_PREFILL_RATE));
    oc_key_double(w, "ttft", oc_llm_measured_share(x->l, d, OC_LLM_FIRST_TOKEN));
    oc_jw_end_object(w);
    oc_key_double(w, "price_per_hour", d->price_per_hour);
    oc_key_double(w, "least_price_per_million_tokens", oc_llm_price(d, oc_llm_decode_rate(x->l, d)));
    oc_key_double(w, "measured_price_per_million_tokens",
                  oc_llm_price(d, x->l->measured[OC_LLM_DECODE_RATE]));
    oc_arena_free(&text);
    put_limit(w, "largest_batch", &d->batch);
    put_limit(w, "longest_context", &d->context);
    put_limit(w, "longest_prompt_at_once", &d->prompt);
    put_limit(w, "arithmetic_bound_from_batch", &d->compute_bound);
    oc_key_text(w, "left_out", d->left_out);
    oc_key_array(w, "serving");
    for (size_t i = 0; i < d->n_serving; i++)
        put_serving(w, &d->serving[i]);
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}

static void llm_members(void *of, struct oc_json_out *w)
{
    struct llm_lines *x = of;
    const struct oc_llm *l = x->l;
    struct oc_arena a = {0};
    llm_data_key_i64(w, "batch", l->opts.batch);
    llm_data_key_i64(w, "prompt", l->opts.prompt);
    llm_data_key_i64(w, "generate", l->opts.generate);
    put_facts(w, l);
    oc_row_list_json(&OC_ROWS(x->n, x, llm_run_fields), "runs", w);
    oc_key_object(w, "closed_forms");
    llm_data_put_forms(w, l, OC_LLM_PREFILL, &a);
    llm_data_put_forms(w, l, OC_LLM_DECODE, &a);
    oc_jw_end_object(w);
    oc_key_array(w, "devices");
    for (size_t i = 0; i < l->n_device; i++)
        put_device(w, x, &l->device[i]);
    oc_jw_end_array(w);
    oc_arena_free(&a);
}

/* ---- page ------------------------------------------------------------------------------------------- */

static const struct oc_html_column run_columns[] = {
    {.field = "phase", .title = "Phase"},
    {.field = "new_tokens", .title = "New tokens", .kind = OC_HTML_COUNT},
    {.field = "cached_tokens", .title = "Cached tokens", .kind = OC_HTML_COUNT},
    {.field = "macs", .title = "MACs", .kind = OC_HTML_SI, .bar = true, .quality = "quality"},
    {.field = "flops", .title = "FLOPs", .kind = OC_HTML_SI, .quality = "quality"},
    {.field = "bytes_read_weight", .title = "Weights read", .kind = OC_HTML_TRAFFIC, .bar = true},
    {.field = "kv_read", .title = "Cache read", .kind = OC_HTML_TRAFFIC, .bar = true},
    {.field = "kv_written", .title = "Cache written", .kind = OC_HTML_TRAFFIC},
    {.field = "bytes_read_act", .title = "Activations and cache read", .kind = OC_HTML_TRAFFIC},
    {.field = "bytes_written", .title = "Written", .kind = OC_HTML_TRAFFIC},
    {.field = "peak_bytes", .title = "Peak activation memory", .kind = OC_HTML_BYTES},
};

static const struct oc_html_column roof_columns[] = {
    {.field = "phase", .title = "Phase"},
    {.field = "least_s", .title = "Time at least", .kind = OC_HTML_SECONDS, .bar = true},
    {.field = "most_tokens_per_s", .title = "Tokens/s at most", .kind = OC_HTML_SI, .bar = true},
    {.field = "estimate_s", .title = "Estimate", .kind = OC_HTML_SECONDS},
    {.field = "estimate_low80_s",
     .title = "80 % interval",
     .kind = OC_HTML_SECONDS,
     .high = "estimate_high80_s"},
    {.field = "unfused_s", .title = "Unfused", .kind = OC_HTML_SECONDS},
    {.field = "arithmetic_s", .title = "Compute", .kind = OC_HTML_SECONDS},
    {.field = "memory_s", .title = "Memory", .kind = OC_HTML_SECONDS},
    {.field = "bound_by", .title = "Bound by"},
};

static const struct oc_html_column serving_columns[] = {
    {.field = "batch", .title = "Batch", .kind = OC_HTML_COUNT},
    {.field = "least_s_per_token", .title = "Time per token at least", .kind = OC_HTML_SECONDS},
    {.field = "most_tokens_per_s", .title = "Tokens/s at most", .kind = OC_HTML_SI, .bar = true},
    {.field = "least_s_with_prefill", .title = "With prefill at least", .kind = OC_HTML_SECONDS},
    {.field = "most_requests_per_s", .title = "Requests/s at most", .kind = OC_HTML_NUMBER},
    {.field = "most_tokens_per_s_with_draft", .title = "Drafted tokens/s at most", .kind = OC_HTML_SI},
    {.field = "needed_bytes_per_device", .title = "Memory per device", .kind = OC_HTML_BYTES, .bar = true},
    {.field = "received_bytes_per_device", .title = "Received per device and step", .kind = OC_HTML_TRAFFIC},
    {.field = "bound_by", .title = "Bound by"},
};

static void llm_facts(struct oc_html *h, const struct oc_llm *l)
{
    const struct oc_llm_facts *f = &l->facts;
    oc_html_facts_begin(h);
    oc_html_fact_u64(h, "Layers", "layers", OC_HTML_COUNT, f->layers, NULL, NULL);
    oc_html_fact_u64(h, "Parameters", "params", OC_HTML_SI, f->params, NULL, NULL);
    oc_html_fact_u64(h, "Weights", "const_bytes", OC_HTML_BYTES, f->const_bytes, NULL, NULL);
    if (f->kv_bytes_known)
        oc_html_fact_u64(h, "KV cache per token", "kv_bytes_per_token", OC_HTML_BYTES, f->kv_bytes_per_token,
                         NULL, "per sequence");
    oc_html_fact_u64(h, "Batch", "batch", OC_HTML_COUNT, (uint64_t)l->opts.batch, NULL, NULL);
    oc_html_fact_u64(h, "Prompt", "prompt", OC_HTML_COUNT, (uint64_t)l->opts.prompt, NULL, "tokens");
    oc_html_fact_u64(h, "Generated", "generate", OC_HTML_COUNT, (uint64_t)l->opts.generate, NULL, "tokens");
    oc_html_facts_end(h);
}

static void llm_table(struct oc_html *h, const char *id, const char *title, const char *json,
                      const struct oc_html_column *column, size_t n_column, struct oc_row_list rows)
{
    const struct oc_html_table t = {
        .id = id, .title = title, .json = json, .column = column, .n_column = n_column};
    oc_html_list(h, &t, &rows);
}

static void llm_device(struct oc_html *h, struct llm_lines *x, size_t i)
{
    const struct oc_llm_device *d = x->d = &x->l->device[i];
    const char *name = oc_device_info(d->device)->name;
    llm_table(h, oc_printf(&h->arena, "device-%zu", i + 1), oc_printf(&h->arena, "Lower bounds on %s", name),
              oc_printf(&h->arena, "devices.%zu.%s", i, "roofs"), roof_columns, OC_COUNT(roof_columns),
              OC_ROWS(x->n, x, llm_roof_fields));
    for (size_t k = 0; k < d->n_serving; k++)
        llm_table(h, oc_printf(&h->arena, "serving-%zu-%zu", i + 1, k + 1),
                  oc_printf(&h->arena, "Serving on %s x %s", d->serving[k].plan, name),
                  oc_printf(&h->arena, "devices.%zu.serving.%zu.batches", i, k), serving_columns,
                  OC_COUNT(serving_columns), OC_ROWS(d->serving[k].n_row, &d->serving[k], serving_fields));
}

static void llm_page(void *of, bool fragment, FILE *f)
{
    struct llm_lines *x = of;
    void *l = (void *)(uintptr_t)x->l;
    struct oc_html h = {.fragment = fragment};
    const char *choice = oc_llm_choice(x->l, &h.arena);
    if (choice)
        oc_html_sentence(&h, oc_printf(&h.arena, "%s.", choice));
    for (size_t i = 0; i < x->l->n_device; i++)
        oc_html_sentence(&h, oc_printf(&h.arena, "%s: %s.", oc_device_info(x->l->device[i].device)->name,
                                       oc_llm_verdict(x->l, &x->l->device[i], &h.arena)));
    llm_facts(&h, x->l);
    oc_html_text_of(&h, oc_llm_write_head, l);
    llm_table(&h, "runs", "Phases", "runs", run_columns, OC_COUNT(run_columns),
              OC_ROWS(x->n, x, llm_run_fields));
    for (size_t i = 0; i < x->l->n_device; i++)
        llm_device(&h, x, i);
    oc_html_text_of(&h, oc_llm_write_notes, l);
    oc_html_write(&h, x->l->model->path, "language model", x->l->opts.made, f);
}

/* ---- formats ---------------------------------------------------------------------------------------- */

static void llm_text(void *of, FILE *f)
{
    oc_llm_write_text(((const struct llm_lines *)of)->l, f);
}

int oc_llm_write(const struct oc_llm *l, const char *format, FILE *f, struct oc_err *err)
{
    struct oc_arena a = {0};
    struct llm_lines x = {.l = l};
    x.n = oc_llm_lines(l, &a, x.line);
    const struct oc_output out = {.what = "llm",
                                  .of = &x,
                                  .text = llm_text,
                                  .rows = OC_ROWS(x.n * (l->n_device ? l->n_device : 1), &x, llm_line_fields),
                                  .schema = "onnxcost.llm",
                                  .model = l->model->path,
                                  .members = llm_members,
                                  .page = llm_page};
    int rc = oc_output_write(&out, format, f, err);
    oc_arena_free(&a);
    return rc;
}
