/* The report of a language model as a page: phases, lower bounds by device, serving. */
#include "base/c_locale.h"
#include "onnxcost.h"
#include "write/commands/page_views.h"
#include "write/tables/html_page.h"

static const struct oc_html_column run_columns[] = {
    {.field = "phase", .title = "Phase"},
    {.field = "new_tokens", .title = "New tokens", .kind = OC_HTML_COUNT},
    {.field = "cached_tokens", .title = "Cached tokens", .kind = OC_HTML_COUNT},
    {.field = "macs", .title = "MACs", .kind = OC_HTML_SI, .bar = true, .quality = "quality"},
    {.field = "flops", .title = "FLOPs", .kind = OC_HTML_SI, .quality = "quality"},
    {.field = "bytes_read_weight", .title = "Weights read", .kind = OC_HTML_BYTES, .bar = true},
    {.field = "kv_read", .title = "Cache read", .kind = OC_HTML_BYTES, .bar = true},
    {.field = "kv_written", .title = "Cache written", .kind = OC_HTML_BYTES},
    {.field = "bytes_read_act", .title = "Activations and cache read", .kind = OC_HTML_BYTES},
    {.field = "bytes_written", .title = "Written", .kind = OC_HTML_BYTES},
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

static void lines_of(struct oc_html *h, const struct oc_llm *l, void (*write)(const struct oc_llm *, FILE *))
{
    struct oc_buf b = {0};
    FILE *f = oc_buf_stream(&b);
    write(l, f);
    fclose(f);
    if (b.n)
        oc_html_lines(h, &b);
    oc_buf_free(&b);
}

static void llm_table(struct oc_html *h, const char *id, const char *title, const char *json,
                      const struct oc_html_column *column, size_t n_column, struct oc_fields *o)
{
    oc_html_table(h,
                  &(struct oc_html_table){
                      .id = id, .title = title, .json = json, .column = column, .n_column = n_column},
                  o);
    oc_fields_free(o);
}

static void llm_device(struct oc_html *h, const struct oc_llm *l, size_t i, const struct oc_llm_line *line,
                       size_t n)
{
    const struct oc_llm_device *d = &l->device[i];
    struct oc_fields bounds = {0};
    for (size_t k = 0; k < n; k++)
        oc_llm_roof_fields(&bounds, &line[k], oc_llm_roof_of(d, line[k].part));
    llm_table(h, oc_printf(&h->arena, "device-%zu", i + 1),
              oc_printf(&h->arena, "Lower bounds on %s", oc_device_info(d->device)->name),
              oc_printf(&h->arena, "devices.%zu.%s", i, "roofs"), roof_columns, OC_COUNT(roof_columns),
              &bounds);
    for (size_t k = 0; k < d->n_serving; k++) {
        struct oc_fields rows = {0};
        for (uint32_t r = 0; r < d->serving[k].n_row; r++)
            oc_llm_serving_fields(&rows, &d->serving[k].row[r]);
        llm_table(h, oc_printf(&h->arena, "serving-%zu-%zu", i + 1, k + 1),
                  oc_printf(&h->arena, "Serving on %lld x %s", (long long)d->serving[k].devices,
                            oc_device_info(d->device)->name),
                  oc_printf(&h->arena, "devices.%zu.serving.%zu.batches", i, k), serving_columns,
                  OC_COUNT(serving_columns), &rows);
    }
}

void oc_llm_page(const struct oc_llm *l, bool fragment, FILE *f)
{
    OC_C_LOCALE;
    struct oc_html h = {.fragment = fragment};
    struct oc_llm_line line[OC_LLM_LINES];
    struct oc_fields runs = {0};
    size_t n = oc_llm_lines(l, &h.arena, line);
    llm_facts(&h, l);
    lines_of(&h, l, oc_llm_write_head);
    for (size_t i = 0; i < n; i++)
        oc_llm_run_fields(&runs, l, &line[i]);
    llm_table(&h, "runs", "Phases", "runs", run_columns, OC_COUNT(run_columns), &runs);
    for (size_t i = 0; i < l->n_device; i++)
        llm_device(&h, l, i, line, n);
    lines_of(&h, l, oc_llm_write_notes);
    oc_html_write(&h, l->model->path, "language model", l->opts.made, f);
}
