/* The report of a language model as text, and the lines that all its formats have. */
#include <inttypes.h>
#include <math.h>

#include "base/units.h"
#include "hw/hwdb.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"
#include "write/commands/page_views.h"
#include "write/tables/html_page.h"
#include "write/tables/table.h"

/* ---- lines and closed forms of all formats ---------------------------------------------------------- */

size_t oc_llm_lines(const struct oc_llm *l, struct oc_arena *a, struct oc_llm_line line[OC_LLM_LINES])
{
    const struct oc_llm_opts *o = &l->opts;
    double batch = (double)o->batch;
    line[0] = (struct oc_llm_line){"prefill", "prompt", OC_LLM_PART_PREFILL,
                                   o->prompt, 0,        batch * (double)o->prompt};
    line[1] = (struct oc_llm_line){"first decode step", "next_token", OC_LLM_PART_FIRST, 1, o->prompt, batch};
    if (l->steps_n < 1)
        return 2;
    line[2] = (struct oc_llm_line){"last decode step",         "last_token", OC_LLM_PART_LAST, 1,
                                   o->prompt + l->steps_n - 1, batch};
    line[3] = (struct oc_llm_line){oc_printf(a, "%lld decode steps", (long long)l->steps_n),
                                   "decode",
                                   OC_LLM_PART_STEPS,
                                   -1,
                                   -1,
                                   batch * (double)l->steps_n};
    line[4] =
        (struct oc_llm_line){"end-to-end", "answer", OC_LLM_PART_WHOLE, -1, -1, batch * (double)o->generate};
    return 5;
}

const char *oc_llm_failure(const struct oc_llm *l, enum oc_llm_part part)
{
    const char *prompt = l->failure[OC_LLM_PREFILL], *decode = l->failure[OC_LLM_DECODE];
    bool first = part == OC_LLM_PART_PREFILL || (part == OC_LLM_PART_WHOLE && prompt);
    return first ? prompt : decode ? decode : l->sum_failure;
}

bool oc_llm_form(size_t i, struct oc_llm_form *out)
{
    static const struct oc_llm_form forms[] = {
        {"MACs", "macs", OC_LN_MACS},
        {"FLOPs", "flops", OC_LN_FLOPS},
        {"weights read", "bytes_read_weight", OC_LN_READ_WEIGHT},
        {"KV cache read", "kv_read", OC_LN_KV_READ},
        {"KV cache written", "kv_written", OC_LN_KV_WRITTEN},
        {"activations and KV read", "bytes_read_act", OC_LN_READ_ACT},
        {"written", "bytes_written", OC_LN_WRITTEN},
        {"peak activation memory", "peak_bytes", OC_LN_PEAK},
    };
    if (i >= OC_COUNT(forms))
        return false;
    *out = forms[i];
    return true;
}

const char *oc_llm_form_text(const struct oc_llm *l, enum oc_llm_phase phase, enum oc_llm_num n,
                             struct oc_arena *a)
{
    const struct oc_llm_law *law = phase == OC_LLM_PREFILL ? &l->prefill_law : &l->decode_law;
    const char *const name[] = {"batch", phase == OC_LLM_PREFILL ? "prompt" : "past"};
    struct oc_buf b = {0};
    if (!law->found[n])
        return NULL;
    oc_rpoly_text(&law->poly[n], name, &b);
    const char *text = oc_strdup(a, b.data ? b.data : "0");
    oc_buf_free(&b);
    return text;
}

/* ---- text ------------------------------------------------------------------------------------------- */

struct view {
    const struct oc_llm *l;
    struct oc_arena arena;
    FILE *f;
};

enum { LABEL = 12, WIDTH = 118 };

static size_t width(const struct view *v)
{
    unsigned asked = v->l->opts.width_chars;
    return asked && asked < WIDTH ? asked : WIDTH;
}

#define say(v, label, ...) oc_plain_say_format((label), LABEL, width(v), (v)->f, __VA_ARGS__)

/* A paragraph above a table. */
static void put_note(struct view *v, const char *text)
{
    fputc('\n', v->f);
    oc_plain_wrap(0, width(v), text, v->f);
}

/* "32", or "unknown" */
static const char *llm_number(struct view *v, int64_t n)
{
    return n < 0 ? "unknown" : oc_count_text(&v->arena, (uint64_t)n);
}

static struct oc_table llm_new_table(const struct view *v, const char *kinds)
{
    return (struct oc_table){.kinds = kinds, .width_chars = v->l->opts.width_chars};
}

/* ---- the model -------------------------------------------------------------------------------------- */

static const char *llm_value_name(const struct oc_llm *l, uint32_t value)
{
    return value == OC_NONE ? "nothing" : l->model->value[value].name;
}

static void put_cache_of_token(struct view *v)
{
    const struct oc_kv_pair *p = &v->l->kv.pair[0];
    const struct oc_llm_facts *f = &v->l->facts;
    if (!v->l->kv.n_pair) {
        say(v, "KV cache", "none: states of a fixed size");
        return;
    }
    if (!f->kv_bytes_known) {
        say(v, "per token", "KV cache bytes unknown: a dimension is unknown");
        return;
    }
    const char *made = oc_printf(&v->arena, "%s B = %u tensors x %s heads x %s elements of %s",
                                 oc_count_text(&v->arena, f->kv_bytes_per_token), f->kv_pairs,
                                 llm_number(v, f->kv_heads), llm_number(v, f->head_size), f->kv_dtype);
    const char *part = p->part == OC_KV_BOTH     ? ", keys and values in one tensor"
                       : p->part == OC_KV_LATENT ? ", from which keys and values are computed"
                                                 : "";
    say(v, "per token", "%s KV cache per sequence: %s%s",
        oc_bytes_text(&v->arena, (double)f->kv_bytes_per_token), f->uneven ? "layers differ, sum " : "",
        f->uneven
            ? oc_printf(&v->arena, "%s B of %s", oc_count_text(&v->arena, f->kv_bytes_per_token), f->kv_dtype)
            : oc_printf(&v->arena, "%s%s", made, part));
}

static void put_pairs(struct view *v)
{
    const struct oc_kv_pair *p = &v->l->kv.pair[0];
    const struct oc_llm_facts *f = &v->l->facts;
    if (!v->l->kv.n_pair)
        return;
    const char *by = p->reader == OC_NONE ? "passed through" : v->l->model->node[p->reader].op_type;
    say(v, "KV cache", "%u layers, %u pairs such as %s to %s, by %s (%s%s)", f->layers, f->kv_pairs,
        llm_value_name(v->l, p->past), llm_value_name(v->l, p->present), by,
        *p->name->past ? "names of " : "", f->naming);
    if (f->cross_pairs)
        say(v, "", "%u inputs with keys and values of an encoder: %s per encoder position", f->cross_pairs,
            f->kv_bytes_known ? oc_bytes_text(&v->arena, (double)f->cross_bytes_per_token) : "unknown size");
}

static void put_heads(struct view *v)
{
    const struct oc_llm_facts *f = &v->l->facts;
    const char *ratio = "";
    if (f->heads > 0 && f->kv_heads > 0 && f->heads % f->kv_heads == 0)
        ratio = oc_printf(&v->arena, ", %" PRId64 " to 1", f->heads / f->kv_heads);
    const char *window = f->window < 0
                             ? "no attention window"
                             : oc_printf(&v->arena, "window of %" PRId64 " in %u attention operators",
                                         f->window, f->windowed_layers);
    say(v, "heads", "%s for queries, %s for keys and values%s; %s elements each; %s", llm_number(v, f->heads),
        llm_number(v, f->kv_heads), ratio, llm_number(v, f->head_size), window);
}

/* What the headers of weight files say. */
static void put_files(struct view *v)
{
    static const char *const part[OC_FILE_PARTS] = {"language model", "vision", "audio",
                                                    "prediction of further tokens"};
    const struct oc_file_sum *f = &v->l->model->files;
    struct oc_buf b = {0};
    for (size_t i = 0; i < OC_FILE_PARTS; i++)
        if (f->part[i])
            oc_buf_printf(&b, "%s%s %s", b.n ? ", " : "", part[i],
                          oc_bytes_text(&v->arena, (double)f->part[i]));
    if (f->tensors)
        say(v, "files", "%s tensors, %s B: %s", oc_count_text(&v->arena, f->tensors),
            oc_count_text(&v->arena, f->bytes), b.data ? b.data : "none");
    oc_buf_free(&b);
}

static void put_weights_sum(struct view *v)
{
    const struct oc_llm *l = v->l;
    struct oc_buf b = {0};
    uint64_t all = 0;
    for (uint32_t i = 0; i < l->n_weights; i++)
        all += l->weights[i].bytes;
    for (uint32_t i = 0; i < l->n_weights && i < 6; i++)
        oc_buf_printf(&b, "%s%s %.1f %%", i ? ", " : "", l->weights[i].label,
                      all ? 100.0 * (double)l->weights[i].bytes / (double)all : 0.0);
    say(v, "weights", "%s parameters in %s: %s", oc_count_text(&v->arena, l->facts.params),
        oc_bytes_text(&v->arena, (double)l->facts.const_bytes), b.data ? b.data : "none");
    oc_buf_free(&b);
}

static void llm_put_weights(struct view *v)
{
    const struct oc_llm *l = v->l;
    put_weights_sum(v);
    put_files(v);
    say(v, "vocabulary", "%s", llm_number(v, l->facts.vocabulary));
}

static void put_sizes(struct view *v)
{
    const struct oc_llm_sizes *s = &v->l->sizes;
    struct oc_buf b = {0};
    for (unsigned role = 0; role < OC_LLM_ROLES; role++) {
        for (uint32_t i = 0; i < s->n_size; i++)
            if (s->size[i].role == role)
                oc_buf_printf(&b, "%s%s: %s", b.n ? "; " : "", s->size[i].symbol, oc_llm_role_name[role]);
        for (uint32_t i = 0; i < s->n_scalar; i++)
            if (s->scalar[i].role == role)
                oc_buf_printf(&b, "%svalue of %s: %s", b.n ? "; " : "", s->scalar[i].symbol,
                              oc_llm_role_name[role]);
        if (s->fixed[role] >= 0)
            oc_buf_printf(&b, "%s%s fixed at %" PRId64, b.n ? "; " : "", oc_llm_role_name[role],
                          s->fixed[role]);
    }
    say(v, "dimensions", "%s", b.data ? b.data : "all fixed");
    oc_buf_free(&b);
}

static void put_assumptions(struct view *v)
{
    const struct oc_llm_sizes *s = &v->l->sizes;
    for (uint32_t i = 0; i < v->l->n_assumption; i++)
        say(v, i ? "" : "assumed", "%s %s = %s: %s", v->l->assumption[i].what, v->l->assumption[i].name,
            v->l->assumption[i].value, v->l->assumption[i].reason);
    for (size_t i = 0; i < v->l->n_device; i++) {
        const struct oc_device_info *d = oc_device_info(v->l->device[i].device);
        for (size_t k = 0; k < d->n_set; k++)
            say(v, "assumed", "%s", oc_hw_set_text(&v->arena, d->id, &d->set[k]));
    }
    if (s->n_branch)
        say(v, "assumed", "prefill takes the branch without the cache, decode steps the branch with it");
    for (size_t i = 0; i < v->l->diags.n; i++)
        say(v, i ? "" : "warnings", "%s: %s [%s]", v->l->diags.item[i].where, v->l->diags.item[i].text,
            v->l->diags.item[i].code);
}

/* ---- runs ------------------------------------------------------------------------------------------- */

static const char *marked(struct view *v, enum oc_quality q, const char *text)
{
    return oc_printf(&v->arena, "%s%s", oc_sum_mark(q), text);
}

/* A cell of a column that only -v prints: columns without text are left out. */
static const char *if_verbose(const struct view *v, const char *text)
{
    return v->l->opts.verbose ? text : "";
}

static void put_run(struct view *v, struct oc_table *t, const struct oc_llm_line *line)
{
    struct oc_llm_counts c;
    const char *failure = oc_llm_failure(v->l, line->part);
    if (!oc_llm_run(v->l, line->part, &c)) {
        OC_ROW(t, line->name, "", "", "", "", "", "", "", "", "", "", failure ? failure : "unknown");
        return;
    }
    double moved = (double)c.bytes_read_act + (double)c.bytes_read_weight + (double)c.bytes_written;
    double other = moved - (double)c.bytes_read_weight - (double)c.kv_read - (double)c.kv_written;
    OC_ROW(t, line->name, line->fresh < 0 ? "" : oc_count_text(&v->arena, (uint64_t)line->fresh),
           line->past < 0 ? "" : oc_count_text(&v->arena, (uint64_t)line->past),
           marked(v, c.quality, oc_si_text(&v->arena, (double)c.macs, "")),
           marked(v, c.quality, oc_si_text(&v->arena, (double)c.flops, "")),
           if_verbose(v, moved > 0 ? oc_number_text(&v->arena, (double)c.flops / moved, 4) : ""),
           oc_bytes_text(&v->arena, (double)c.bytes_read_weight), oc_bytes_text(&v->arena, (double)c.kv_read),
           if_verbose(v, oc_bytes_text(&v->arena, (double)c.kv_written)),
           if_verbose(v, oc_bytes_text(&v->arena, other)),
           line->fresh < 0 || c.peak_quality == OC_UNKNOWN
               ? ""
               : if_verbose(v, oc_bytes_text(&v->arena, (double)c.peak)),
           c.unknown_nodes ? oc_printf(&v->arena, "%" PRIu64 " operators of unknown cost", c.unknown_nodes)
                           : "");
}

static void put_cache_end(struct view *v)
{
    const struct oc_llm_opts *o = &v->l->opts;
    int64_t length = o->prompt + v->l->steps_n;
    double tokens = (double)o->batch * (double)length;
    if (v->l->facts.kv_bytes_known)
        fprintf(v->f, "%sKV cache at the end: %s, %s sequence%s of %s token%s\n", o->verbose ? "\n" : "",
                oc_bytes_text(&v->arena, tokens * (double)v->l->facts.kv_bytes_per_token),
                oc_count_text(&v->arena, (uint64_t)o->batch), o->batch == 1 ? "" : "s",
                oc_count_text(&v->arena, (uint64_t)length), length == 1 ? "" : "s");
}

static void llm_put_runs(struct view *v)
{
    struct oc_table t = llm_new_table(v, "tnnnnnnnnnnt");
    t.min_text = sizeof("first decode step") - 1;
    struct oc_llm_line line[OC_LLM_LINES];
    size_t n = oc_llm_lines(v->l, &v->arena, line);
    fputc('\n', v->f);
    OC_ROW(&t, "phase", "new", "cached", "MACs", "FLOPs", if_verbose(v, "FLOP/B"), "weights read",
           "cache read", if_verbose(v, "cache written"), if_verbose(v, "other moved"), if_verbose(v, "peak"),
           "");
    for (size_t i = 0; i < n; i++)
        put_run(v, &t, &line[i]);
    oc_table_print(&t, v->f);
    put_cache_end(v);
}

/* ---- closed forms ----------------------------------------------------------------------------------- */

static void put_forms_of(struct view *v, enum oc_llm_phase phase, const char *title)
{
    const struct oc_llm_law *law = phase == OC_LLM_PREFILL ? &v->l->prefill_law : &v->l->decode_law;
    struct oc_llm_form form;
    bool any = false;
    for (size_t i = 0; oc_llm_form(i, &form); i++) {
        const char *text = oc_llm_form_text(v->l, phase, form.num, &v->arena);
        if (!text)
            continue;
        if (!any)
            put_note(v, oc_printf(&v->arena,
                                  "%s from %" PRId64 " to %" PRId64
                                  ", verified against the analysis at %u further points",
                                  title, law->from, law->to, law->checked));
        any = true;
        fprintf(v->f, "  %-26s = %s\n", form.title, text);
    }
    const char *between = any ? "  no closed form             : " : NULL;
    for (size_t i = 0; between && oc_llm_form(i, &form); i++)
        if (!law->found[form.num]) {
            fprintf(v->f, "%s%s", between, form.title);
            between = ", ";
            any = false;
        }
    fputs(between && !any ? "\n" : "", v->f);
}

static void llm_put_forms(struct view *v)
{
    put_forms_of(v, OC_LLM_PREFILL, "prefill, prompt");
    put_forms_of(v, OC_LLM_DECODE, "decode step, past");
}

/* ---- verdict ---------------------------------------------------------------------------------------- */

static void put_verdicts(struct view *v)
{
    const struct oc_llm *l = v->l;
    const char *needs = l->n_device ? oc_llm_choice(l, &v->arena) : oc_llm_needs(l, &v->arena);
    bool short_of = needs && l->n_device && !l->opts.verbose;
    if (needs)
        say(v, "verdict", "%s", needs);
    for (size_t i = 0; i < l->n_device && !short_of; i++)
        say(v, i || needs ? "" : "verdict", "%s: %s", oc_device_info(l->device[i].device)->name,
            oc_llm_verdict(l, &l->device[i], &v->arena));
    if (!(l->reach > 0) || !l->n_device)
        return;
    const struct oc_llm_device *d = oc_llm_smallest(l);
    say(v, "smallest",
        d ? "%s: the smallest memory of the devices that hold %lld tokens of context and may reach %s "
            "tokens/s"
          : "%snone of the devices holds %lld tokens of context and may reach %s tokens/s",
        d ? oc_device_info(d->device)->name : "", (long long)(l->opts.prompt + l->opts.generate),
        oc_number_text(&v->arena, l->reach, 4));
}

/* ---- devices ---------------------------------------------------------------------------------------- */

static void put_roof(struct view *v, struct oc_table *t, const struct oc_llm_device *d,
                     const struct oc_llm_line *line, bool first)
{
    const struct oc_llm_roof *r = &d->roof[line->part];
    OC_ROW(t, first ? oc_device_info(d->device)->name : "", line->name,
           oc_seconds_text(&v->arena, r->bound_s, "unknown"),
           r->bound_s > 0 ? oc_number_text(&v->arena, line->tokens / r->bound_s, 5) : "unknown",
           oc_seconds_text(&v->arena, r->s, "unknown"), oc_seconds_text(&v->arena, r->comp_s, "unknown"),
           oc_seconds_text(&v->arena, r->mem_s, "unknown"),
           r->missing       ? r->missing
           : isfinite(r->s) ? r->bound
                            : "unknown");
}

static void put_estimates(struct view *v, const struct oc_llm_line *line, size_t n)
{
    struct oc_table t = llm_new_table(v, "ttnnt");
    bool any = false;
    OC_ROW(&t, "device", "phase", "estimate", "80 % interval", "tokens/s");
    for (size_t i = 0; i < v->l->n_device; i++)
        for (size_t k = 0; k < n; k++) {
            const struct oc_llm_roof *r = &v->l->device[i].roof[line[k].part];
            if (!(r->time_s > 0))
                continue;
            OC_ROW(&t, any ? "" : oc_device_info(v->l->device[i].device)->name, line[k].name,
                   oc_seconds_text(&v->arena, r->time_s, "unknown"),
                   oc_printf(&v->arena, "%s - %s", oc_seconds_text(&v->arena, r->low80_s, "unknown"),
                             oc_seconds_text(&v->arena, r->high80_s, "unknown")),
                   oc_number_text(&v->arena, line[k].tokens / r->time_s, 5));
            any = true;
        }
    if (any) {
        fputc('\n', v->f);
        oc_table_print(&t, v->f);
    }
    oc_table_free(&t);
}

static void put_roofs(struct view *v)
{
    struct oc_table t = llm_new_table(v, "ttnnnnnt");
    struct oc_llm_line line[OC_LLM_LINES];
    size_t n = oc_llm_lines(v->l, &v->arena, line);
    put_note(
        v, "lower bounds at the dense peak rates and the bandwidths of the device file, for perfect "
           "fusion; unfused: each operator alone, in sequence, with all it reads and writes in DRAM, and the "
           "sums of "
           "its compute and memory times: what a runtime without fusion needs at least, so above the bound");
    if (v->l->as)
        put_note(v, oc_printf(&v->arena,
                              "as %s: %s; memory: weights in that type, KV cache and activations unchanged",
                              v->l->as->name, v->l->as->note));
    OC_ROW(&t, "device", "phase", "time >=", "tokens/s <=", "unfused", "compute", "memory", "bound by");
    for (size_t i = 0; i < v->l->n_device; i++)
        for (size_t k = 0; k < n; k++)
            put_roof(v, &t, &v->l->device[i], &line[k], k == 0);
    oc_table_print(&t, v->f);
    put_estimates(v, line, n);
}

static const char *llm_limit_text(struct view *v, const struct oc_llm_limit *l)
{
    if (l->known && !l->never && !l->v)
        return "does not fit";
    if (!l->known)
        return "unknown";
    if (l->never)
        return "never";
    return oc_printf(&v->arena, "%s%s", l->beyond ? "> " : "", oc_count_text(&v->arena, (uint64_t)l->v));
}

static const char *llm_rate_text(struct view *v, double rate, bool shown)
{
    return !shown ? "" : rate > 0 && isfinite(rate) ? oc_number_text(&v->arena, rate, 4) : "unknown";
}

/* With several devices the rates are in the table: their verdicts are not on the screen. */
static void llm_put_limits(struct view *v)
{
    const struct oc_llm *l = v->l;
    struct oc_table t = llm_new_table(v, "tnnnnnnnnnt");
    bool priced = l->opts.price_per_hour != NULL, several = l->n_device > 1,
         measured = several && l->measured[OC_LLM_DECODE_RATE] > 0;
    fputc('\n', v->f);
    OC_ROW(&t, "device", several ? "decode/s <=" : "", measured ? "measured" : "",
           several ? "prefill/s <=" : "", several && priced ? "price/million >=" : "", "memory", "needed",
           "max context", "max batch", "max prompt", "compute-bound from batch");
    for (size_t i = 0; i < l->n_device; i++) {
        const struct oc_llm_device *d = &l->device[i];
        const struct oc_device_info *info = oc_device_info(d->device);
        double prompt = (double)l->opts.batch * (double)l->opts.prompt;
        OC_ROW(&t, several ? info->id : info->name, llm_rate_text(v, oc_llm_decode_rate(l, d), several),
               measured
                   ? oc_printf(&v->arena, "%.1f %%", 100 * oc_llm_measured_share(l, d, OC_LLM_DECODE_RATE))
                   : "",
               llm_rate_text(v, prompt / d->roof[OC_LLM_PART_PREFILL].bound_s, several),
               several && priced ? oc_price_text(&v->arena, oc_llm_price(d, oc_llm_decode_rate(l, d))) : "",
               oc_bytes_text(&v->arena, d->memory_bytes),
               l->run[OC_LLM_PART_LAST].cost ? oc_bytes_text(&v->arena, (double)d->need_bytes) : "unknown",
               llm_limit_text(v, &d->context), llm_limit_text(v, &d->batch), llm_limit_text(v, &d->prompt),
               llm_limit_text(v, &d->compute_bound));
    }
    oc_table_print(&t, v->f);
}

static void put_serving_rows(struct view *v, struct oc_table *t, const struct oc_llm_serving *s)
{
    for (uint32_t i = 0; i < s->n_row; i++) {
        const struct oc_llm_serving_row *r = &s->row[i];
        OC_ROW(t, i ? "" : s->plan, oc_printf(&v->arena, "%" PRId64, r->batch),
               oc_seconds_text(&v->arena, r->step_s, "unknown"),
               oc_number_text(&v->arena, r->tokens_per_s, 5),
               oc_seconds_text(&v->arena, r->mixed_s, "unknown"),
               oc_number_text(&v->arena, r->requests_per_s, 4),
               isnan(r->draft_tokens_per_s) ? "" : oc_number_text(&v->arena, r->draft_tokens_per_s, 5),
               isnan(r->need_bytes) ? "unknown" : oc_bytes_text(&v->arena, r->need_bytes), r->bound,
               oc_bytes_text(&v->arena, r->link_bytes));
    }
}

static void put_disaggregated(struct view *v, const struct oc_llm_serving *s)
{
    const struct oc_llm_serving_row *last = &s->row[s->n_row - 1];
    double link = s->link_bytes_per_s;
    if (s->prefill_per_decode > 0)
        say(v, "separate",
            "%" PRId64 " device%s: %s or more for a prefill; %.3g prefill groups for each "
            "decode group at batch %" PRId64 "; the cache of a prompt, %s, moves in %s",
            s->devices, s->devices == 1 ? "" : "s", oc_seconds_text(&v->arena, s->prefill_s, "unknown"),
            s->prefill_per_decode, last->batch, oc_bytes_text(&v->arena, s->moved_bytes),
            oc_seconds_text(&v->arena, s->moved_bytes / (link * (double)s->devices),
                            "an unknown time (--hw-set link.bandwidth)"));
}

static void put_serving(struct view *v, const struct oc_llm_device *d)
{
    struct oc_table t = llm_new_table(v, "nnnnnnnntn");
    put_note(
        v,
        oc_printf(&v->arena,
                  "serving on %s: lower bounds of times and upper bounds of rates; work and weights divided "
                  "evenly, everything overlaps",
                  oc_device_info(d->device)->name));
    OC_ROW(&t, "devices", "batch", "time/token >=", "tokens/s <=", "with prefill >=", "requests/s <=",
           v->l->draft ? "drafted/s <=" : "", "memory", "bound by", "exchange");
    for (size_t i = 0; i < d->n_serving; i++)
        put_serving_rows(v, &t, &d->serving[i]);
    oc_table_print(&t, v->f);
    for (size_t i = 0; i < d->n_serving; i++) {
        const struct oc_llm_serving *s = &d->serving[i];
        if (s->largest == 0)
            say(v, "memory", "%" PRId64 " device%s: the model does not fit", s->devices,
                s->devices == 1 ? "" : "s");
        else if (s->n_row)
            put_disaggregated(v, s);
    }
}

static void put_unknown(struct view *v, const struct oc_llm_device *d, const char *what,
                        const struct oc_llm_limit *l)
{
    if (!l->known)
        say(v, "unknown", "%s, %s: %s", d->device->info->name, what, l->why ? l->why : "no analysis");
}

/* What makes a bound lower than the counts. */
static void put_bound_notes(struct view *v)
{
    bool experts = false, narrow = false;
    for (size_t i = 0; i < OC_LLM_RUNS && v->l->n_device; i++) {
        const struct oc_bound_load *load = v->l->run[i].bound;
        experts |= load->fewest_experts;
        for (uint32_t p = 0; p < load->n_part; p++)
            narrow |= load->part[p].also & OC_ALSO_F8;
    }
    if (experts)
        say(v, "experts",
            "bounds read those of one token in each layer, the fewest of any routing; those of a uniform "
            "one: "
            "--count moe-active=expected");
    if (narrow)
        say(v, "types",
            "bounds take products with quantized weights at the peak of their 8-bit types too, where that is "
            "faster; compute: in the type of the activations");
}

static void put_notes(struct view *v)
{
    const struct oc_llm_opts *o = &v->l->opts;
    int64_t last = o->prompt + (v->l->steps_n > 0 ? v->l->steps_n - 1 : 0);
    fputc('\n', v->f);
    say(v, "fits",
        "weights, KV cache and activations of one run: max batch and compute-bound batch for a decode step "
        "with %" PRId64 " cached token%s; max context and max prompt for %" PRId64 " sequence%s",
        last, last == 1 ? "" : "s", o->batch, o->batch == 1 ? "" : "s");
    put_bound_notes(v);
    for (size_t i = 0; i < v->l->n_device; i++) {
        const struct oc_llm_device *d = &v->l->device[i];
        put_unknown(v, d, "max batch", &d->batch);
        put_unknown(v, d, "max context", &d->context);
        put_unknown(v, d, "max prompt", &d->prompt);
        put_unknown(v, d, "compute-bound batch", &d->compute_bound);
        if (d->compute_bound.never && d->compute_bound.why && *d->compute_bound.why)
            say(v, "never", "%s: %s", d->device->info->name, d->compute_bound.why);
        if (d->left_out)
            say(v, "excluded", "%s: elementwise work in %s (no peak rate in the device file)",
                d->device->info->name, d->left_out);
    }
}

/* ---- text: all ---------------------------------------------------------------------------------------- */

static void put_model(struct view *v)
{
    if (v->l->model->path[0])
        say(v, "model", "%s", v->l->model->path);
    put_pairs(v);
    put_cache_of_token(v);
    put_heads(v);
    llm_put_weights(v);
    put_sizes(v);
    put_assumptions(v);
}

void oc_llm_write_head(void *llm, FILE *f)
{
    struct view v = {.l = llm, .f = f};
    put_model(&v);
    oc_arena_free(&v.arena);
}

void oc_llm_write_notes(void *llm, FILE *f)
{
    struct view v = {.l = llm, .f = f};
    llm_put_forms(&v);
    if (v.l->n_device) {
        llm_put_limits(&v);
        put_notes(&v);
    }
    oc_arena_free(&v.arena);
}

/* The default screen: the verdict has the bounds of a device. */
static void put_screen(struct view *v)
{
    struct oc_llm_line line[OC_LLM_LINES];
    size_t n = oc_llm_lines(v->l, &v->arena, line);
    if (v->l->model->path[0])
        say(v, "model", "%s", v->l->model->path);
    put_cache_of_token(v);
    put_weights_sum(v);
    put_assumptions(v);
    llm_put_runs(v);
    if (v->l->n_device) {
        put_estimates(v, line, n);
        llm_put_limits(v);
    }
    oc_plain_say("", 0, width(v),
                 "(-v: FLOP/B, other bytes, peak, heads, sizes, closed forms, bounds of each phase, notes)",
                 v->f);
}

static void put_all(struct view *v)
{
    put_model(v);
    llm_put_runs(v);
    llm_put_forms(v);
    if (v->l->n_device) {
        put_roofs(v);
        llm_put_limits(v);
        put_notes(v);
    }
}

void oc_llm_write_text(const struct oc_llm *l, FILE *f)
{
    struct view v = {.l = l, .f = f};
    put_verdicts(&v);
    (l->opts.verbose ? put_all : put_screen)(&v);
    for (size_t i = 0; i < l->n_device; i++)
        if (l->device[i].n_serving)
            put_serving(&v, &l->device[i]);
    oc_arena_free(&v.arena);
}
