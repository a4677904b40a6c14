/* A decoder from its options to its report: runs of the graph, closed forms, devices, serving. */
#include "llm/llm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/ck.h"
#include "base/map.h"
#include "base/units.h"
#include "estimate/calibrate.h"
#include "estimate/rank_devices.h"
#include "onnxcost/hardware.h"
#include "onnxcost.h"

enum { MAX_TOKENS = 1000000, MAX_DEVICES = 64 };
#define MAX_BATCH INT64_C(1000000000)

/* ---- options ------------------------------------------------------------------------------------- */

/* A calibration is of one of the devices, and of the model's types. */
static int take_type(struct oc_llm *l, struct oc_err *err)
{
    const struct oc_llm_opts *o = &l->opts;
    bool found = !o->calibration;
    l->as = o->as ? oc_recast_by_name(o->as) : NULL;
    if (o->as && !l->as)
        return oc_recast_unknown(o->as, err);
    if (l->as && o->calibration)
        return oc_fail(err, OC_EARG, "a calibration does not apply to the model as %s", o->as);
    for (size_t i = 0; i < o->n_device && !found; i++)
        found = !strcmp(oc_device_info(o->device[i])->id, o->calibration->device);
    return found ? 0
                 : oc_fail(err, OC_EARG, "the calibration is of '%s', which is not among the devices",
                           o->calibration->device);
}

/* "decode=37tok/s,prefill=2100,ttft=180ms"; "37" is the rate of decode. */
static int take_measured(struct oc_llm *l, struct oc_err *err)
{
    const struct {
        const char *name, *unit[3];
    } figure[] = {[OC_LLM_DECODE_RATE] = {"decode", {"tok/s", "tokens/s", "t/s"}},
                  [OC_LLM_PREFILL_RATE] = {"prefill", {"tok/s", "tokens/s", "t/s"}},
                  [OC_LLM_FIRST_TOKEN] = {"ttft", {"s"}}};
    const char *p = l->opts.measured;
    while (p && *p) {
        size_t n = strcspn(p, ","), i = 0;
        const char *item = oc_strndup(&l->arena, p, n), *equals = strchr(item, '=');
        size_t n_name = equals ? (size_t)(equals - item) : 0;
        while (i < OC_COUNT(figure) && equals &&
               (strlen(figure[i].name) != n_name || memcmp(item, figure[i].name, n_name) != 0))
            i++;
        bool read = false;
        double v = 0;
        for (size_t u = 0; u < 3 && i < OC_COUNT(figure) && figure[i].unit[u] && !read; u++)
            read = oc_parse_scaled(equals ? equals + 1 : item, figure[i].unit[u], &v);
        if (!read || !(v > 0) || !isfinite(v))
            return oc_fail(
                err, OC_EARG,
                "what was measured must be like decode=37tok/s,prefill=2100tok/s,ttft=180ms, not '%.60s'",
                item);
        l->measured[i] = v;
        p += n + (p[n] == ',');
    }
    return 0;
}

static int llm_take_opts(struct oc_llm *l, const struct oc_llm_opts *given, struct oc_err *err)
{
    struct oc_llm_opts *o = &l->opts;
    struct oc_analyze_opts *analyze = OC_NEW(&l->arena, struct oc_analyze_opts);
    if (OC_OPTIONS(o, given, err) || OC_OPTIONS(analyze, o->analyze, err))
        return -1;
    o->analyze = analyze;
    const struct {
        const char *name;
        int64_t *v, otherwise, most;
    } number[] = {{"batch", &o->batch, 1, MAX_BATCH},
                  {"prompt", &o->prompt, 512, MAX_TOKENS},
                  {"generate", &o->generate, 128, MAX_TOKENS},
                  {"draft tokens", &o->draft_tokens, 4, MAX_TOKENS}};
    for (size_t i = 0; i < OC_COUNT(number); i++) {
        *number[i].v = *number[i].v ? *number[i].v : number[i].otherwise;
        if (*number[i].v < 1 || *number[i].v > number[i].most)
            return oc_fail(err, OC_EARG, "%s must be from 1 to %lld, not %lld", number[i].name,
                           (long long)number[i].most, (long long)*number[i].v);
    }
    if (o->n_device > MAX_DEVICES)
        return oc_fail(err, OC_EARG, "more than %d devices", MAX_DEVICES);
    l->reach = o->reach;
    if (!(o->reach >= 0))
        return oc_fail(err, OC_EARG, "tokens per second must not be negative");
    return take_measured(l, err) ? -1 : take_type(l, err);
}

/* Sizes fixed by the model must equal the requested ones. */
static int check_fixed(struct oc_llm *l, struct oc_err *err)
{
    const int64_t *fixed = l->sizes.fixed;
    if (fixed[OC_LLM_BATCH] >= 0 && fixed[OC_LLM_BATCH] != l->opts.batch)
        return oc_fail(err, OC_EARG, "the model has a fixed batch of %lld, not %lld",
                       (long long)fixed[OC_LLM_BATCH], (long long)l->opts.batch);
    if (fixed[OC_LLM_NEW] >= 0 && fixed[OC_LLM_NEW] != l->opts.prompt)
        l->failure[OC_LLM_PREFILL] = oc_printf(
            &l->arena, "the model processes %lld new token%s per run, not %lld", (long long)fixed[OC_LLM_NEW],
            fixed[OC_LLM_NEW] == 1 ? "" : "s", (long long)l->opts.prompt);
    if (fixed[OC_LLM_NEW] >= 0 && fixed[OC_LLM_NEW] != 1)
        l->failure[OC_LLM_DECODE] = oc_printf(&l->arena, "the model processes %lld new tokens per run, not 1",
                                              (long long)fixed[OC_LLM_NEW]);
    return 0;
}

/* ---- runs and closed forms ----------------------------------------------------------------------- */

static void llm_find_runs(struct oc_llm *l)
{
    const struct oc_llm_opts *o = &l->opts;
    l->steps_n = o->generate - 1; /* the prefill produces the first token */
    l->run[OC_LLM_PART_PREFILL].at = (struct oc_llm_at){o->batch, o->prompt, 0};
    l->run[OC_LLM_PART_FIRST].at = (struct oc_llm_at){o->batch, 1, o->prompt};
    l->run[OC_LLM_PART_LAST].at = oc_llm_last(l, o->batch);
    for (unsigned i = 0; i < OC_LLM_RUNS; i++) {
        const char **failure = &l->failure[i == OC_LLM_PART_PREFILL ? OC_LLM_PREFILL : OC_LLM_DECODE];
        l->run[i].cost = *failure ? NULL : oc_llm_cost_at(l, l->run[i].at);
        if (!*failure && !l->run[i].cost)
            *failure = oc_strdup(&l->arena, l->run_err.msg);
    }
    l->sums_known = l->run[OC_LLM_PART_LAST].cost && oc_llm_sum_steps(l);
}

static bool is_found(const struct oc_llm_law *law)
{
    return law->found[OC_LN_MACS] && law->found[OC_LN_READ_ACT];
}

/* Fits closed forms over the full context. If a window splits the range, uses the forms of the side with the
 * decode steps, else those of the last steps only. */
static void find_law(struct oc_llm *l, enum oc_llm_phase phase, int64_t at, int64_t wide)
{
    struct oc_llm_law *law = phase == OC_LLM_PREFILL ? &l->prefill_law : &l->decode_law;
    int64_t first = phase == OC_LLM_PREFILL ? 2 : 1, window = l->facts.window;
    oc_llm_find_law(l, phase, first, wide, law);
    if (is_found(law))
        return;
    if (window > 8 && window < wide) {
        oc_llm_law_free(law);
        oc_llm_find_law(l, phase, at < window ? first : window, at < window ? window - 1 : wide, law);
    }
    if (is_found(law) || phase == OC_LLM_PREFILL || !l->steps)
        return;
    oc_llm_law_free(law);
    oc_llm_find_law(l, phase, l->steps->from, l->steps->to, law);
}

static void find_laws(struct oc_llm *l)
{
    const int64_t prompt = l->opts.prompt, last = oc_llm_last(l, 1).past;
    if (l->run[OC_LLM_PART_PREFILL].cost)
        find_law(l, OC_LLM_PREFILL, prompt, prompt > 4096 ? prompt : 4096);
    if (l->run[OC_LLM_PART_LAST].cost && l->sizes.fixed[OC_LLM_PAST] < 0)
        find_law(l, OC_LLM_DECODE, last, last > 32768 ? last : 32768);
}

/* ---- serving ------------------------------------------------------------------------------------- */

/* A server with many sequences on t * p * e devices: t in tensor parallel, p stages of layers, e groups that share the
 * routed experts and have all other weights. All times are lower bounds, all rates upper bounds: work and weights are
 * divided evenly, everything overlaps, intermediates stay on chip.
 *
 * Of one run of the graph with h key heads, cut into at most g = min(p, tokens) parts that are in the stages at once:
 *   arithmetic   that of one device / (t * e * g)
 *   memory       (weights / t + experts / (t * e) + cache / (min(t, h) * e * g)) / bandwidth: a stage reads its weights
 *                for each part, and each device keeps whole key heads
 *   link         of tokens * width elements a device receives, in each layer of its stage, 2 * (t - 1) / t for the
 *                all-reduces, also where the switch adds (Patarasuk and Yuan 2009 without: twice that); before its
 *                stage, 1; and in each layer of experts 2 from and to each other group with an expert of the token,
 *                with a uniform routing
 * The time is the largest of the three.
 *
 * Continuous batching (Yu et al. 2022, chunked prefill: Agrawal et al. 2024): each step decodes a token of
 * every sequence; of `batch` sequences with `generate` - 1 steps each, batch / (generate - 1) end in a step,
 * and as many prompts are read in their place, in the same run, so that weights are read once. */

enum { MOST_ROWS = 16, MOST_DEVICES = 1024, MOST_LIST = 16, MOST_DRAFT = 64, MOST_GROUP = 1 << 16 };

/* Work of one run against one device. */
struct run_work {
    double comp_s, bandwidth, weights, experts,
        cache; /* bandwidth in bytes per second; weights without experts */
    double tokens;
};

struct server {
    struct oc_llm *l;
    struct oc_llm_device *device;
    double t, p, e, link; /* link in bytes per second */
};

/* Arithmetic of the lower bound; 0: no peak for it. */
static double arithmetic_s(const struct oc_bound_load *load, const struct oc_device *device)
{
    struct oc_device bare = *device;
    bare.n_level = 0;
    bare.overhead = NULL;
    double s = oc_bound_time(load, &bare, false);
    return isfinite(s) ? s : 0;
}

static bool work_at(struct oc_llm *l, struct oc_llm_device *d, struct oc_llm_at at, struct run_work *out)
{
    const struct oc_llm_cost *c = oc_llm_cost_at(l, at);
    if (!c || c->quality == OC_UNKNOWN)
        return false;
    const struct oc_llm_roof r = oc_llm_roof_at(l, d, c->v, at);
    const struct oc_bound_load *load = oc_llm_load_at(l, at);
    double weights = (double)c->v[OC_LN_READ_WEIGHT], dense = weights - (double)c->v[OC_LN_READ_EXPERT];
    double read = fmin(fmin(weights, (double)load->const_bytes), r.chip_bytes);
    *out = (struct run_work){.comp_s = arithmetic_s(load, d->device),
                             .bandwidth = r.chip_bytes / r.chip_mem_s,
                             .weights = fmin(read, dense),
                             .experts = fmax(read - dense, 0),
                             .cache = fmax(r.chip_bytes - weights, 0),
                             .tokens = (double)at.batch * (double)at.fresh};
    return isfinite(r.chip_mem_s) && r.chip_mem_s > 0;
}

static double cache_parts(const struct server *s)
{
    int64_t heads = s->l->facts.kv_heads;
    return heads > 0 && (double)heads < s->t ? (double)heads : s->t;
}

/* Other groups with an expert of a token, which are drawn without replacement. */
static double groups_of_token(const struct server *s)
{
    double n = (double)s->l->experts.n, none = 1;
    for (int64_t i = 0; i < s->l->experts.active; i++)
        none *= fmax(n - n / s->e - (double)i, 0) / (n - (double)i);
    return (s->e - 1) * (1 - none);
}

/* Bytes that a device receives. */
static double link_bytes(const struct server *s, double tokens)
{
    const struct oc_llm_facts *f = &s->l->facts;
    double vectors = 2.0 * f->layers * (s->t - 1) / s->t / s->p + (s->p > 1 ? 1 : 0);
    if (s->e > 1)
        vectors += 2 * (double)s->l->experts.layers / s->p * groups_of_token(s) / s->t;
    return f->width < 0 ? 0 : vectors * tokens / s->e * (double)f->width * s->l->element_bytes;
}

static double time_of(const struct server *s, const struct run_work *w, const char **bound)
{
    double parts = fmin(s->p, w->tokens), groups = fmin(s->e, w->tokens);
    double comp = w->comp_s / (s->t * s->e * parts),
           bytes =
               w->weights / s->t + w->experts / (s->t * s->e) + w->cache / (cache_parts(s) * groups * parts),
           mem = bytes / w->bandwidth,
           link = s->link > 0 ? link_bytes(s, w->tokens) / s->link : 0, /* unknown: still a lower bound */
        most = fmax(comp, fmax(mem, link));
    if (bound)
        *bound = most > mem && most > comp ? "link" : mem >= comp ? "DRAM" : "compute";
    return most;
}

/* Weights on one device, and its share of the cache and the activations of `batch` sequences. */
static double weights_kept(const struct server *s)
{
    double all = (double)s->l->weight_bytes,
           experts = s->l->facts.const_bytes
                         ? all * (double)s->l->experts.bytes / (double)s->l->facts.const_bytes
                         : 0;
    return (all - experts + experts / s->e) / (s->t * s->p);
}

/* Weights and cache of the draft model on one device. */
static double needed_by_draft(const struct server *s, double tokens)
{
    struct server small = *s;
    small.l = s->l->draft;
    return small.l ? weights_kept(&small) +
                         (double)small.l->facts.kv_bytes_per_token * tokens / (cache_parts(&small) * s->p)
                   : 0;
}

/* Bytes of one device when the last step of `batch` sequences runs. */
static double needed(void *server, int64_t batch)
{
    const struct server *s = server;
    struct oc_llm *l = s->l;
    struct oc_llm_at at = oc_llm_last(l, batch);
    const struct oc_llm_cost *c = oc_llm_cost_at(l, at);
    if (!c || c->peak_quality == OC_UNKNOWN || !l->facts.kv_bytes_known)
        return NAN;
    double tokens = (double)batch * (double)(at.past + 1), groups = fmin(s->e, (double)batch);
    double cache = (double)l->facts.kv_bytes_per_token * tokens;
    double rest = fmax((double)c->v[OC_LN_PEAK] - cache, 0) / (s->t * s->p);
    return weights_kept(s) + (rest + cache * s->t / cache_parts(s) / (s->t * s->p)) / groups +
           needed_by_draft(s, tokens / groups);
}

/* With the tokens of a draft model: it runs `draft_tokens` steps, then the model checks them in one run. Of
 * k tokens that are each accepted with probability a, (1 - a^(k + 1)) / (1 - a) are kept on average
 * (Leviathan et al. 2023, equation 1). */
static double with_draft(const struct server *s, int64_t batch, int64_t past)
{
    const struct oc_llm_opts *o = &s->l->opts;
    struct run_work draft, check;
    struct server small = *s;
    struct oc_llm_device own = *s->device; /* what is left out of a draft is not noted */
    small.l = s->l->draft;
    if (!small.l || !work_at(small.l, &own, (struct oc_llm_at){batch, 1, past}, &draft) ||
        !work_at(s->l, s->device, (struct oc_llm_at){batch, o->draft_tokens + 1, past}, &check))
        return NAN;
    double k = (double)o->draft_tokens, a = s->l->acceptance;
    double kept = a < 1 ? (1 - pow(a, k + 1)) / (1 - a) : k + 1;
    return (double)batch * kept / (k * time_of(&small, &draft, NULL) + time_of(s, &check, NULL));
}

static bool row_at(struct server *s, int64_t batch, struct oc_llm_serving_row *row)
{
    struct oc_llm *l = s->l;
    int64_t steps = l->steps_n, past = l->opts.prompt + (steps > 0 ? (steps - 1) / 2 : 0);
    struct run_work decode, prompt, mixed;
    if (!work_at(l, s->device, (struct oc_llm_at){batch, 1, past}, &decode) ||
        !work_at(l, s->device, (struct oc_llm_at){1, l->opts.prompt, 0}, &prompt))
        return false;
    *row = (struct oc_llm_serving_row){.batch = batch, .need_bytes = needed(s, batch)};
    row->step_s = time_of(s, &decode, &row->bound);
    row->link_bytes = link_bytes(s, decode.tokens);
    row->tokens_per_s = (double)batch / row->step_s;
    double ended = steps > 0 ? (double)batch / (double)steps : (double)batch;
    mixed = decode;
    mixed.comp_s += ended * prompt.comp_s;
    mixed.cache += ended * prompt.cache;
    mixed.tokens += ended * prompt.tokens;
    row->mixed_s = fmax(time_of(s, &mixed, NULL), row->step_s);
    row->requests_per_s = ended / row->mixed_s;
    row->draft_tokens_per_s = with_draft(s, batch, past);
    return true;
}

static void serve(struct oc_llm *l, struct oc_llm_device *d, struct oc_llm_serving *out)
{
    struct server s = {
        l, d, (double)out->tensor, (double)out->pipeline, (double)out->expert, out->link_bytes_per_s};
    struct run_work prompt;
    out->prefill_s = NAN;
    const struct oc_llm_limit fits =
        oc_llm_largest(needed, &s, d->memory_bytes, out->expert * (MOST_GROUP + 1));
    out->largest = !fits.known || isnan(d->memory_bytes) ? -1 : fits.v;
    out->row = OC_NEW_ARRAY(&l->arena, MOST_ROWS, struct oc_llm_serving_row);
    if (work_at(l, d, (struct oc_llm_at){1, l->opts.prompt, 0}, &prompt))
        out->prefill_s = time_of(&s, &prompt, NULL);
    int64_t most = out->largest < 0 ? 256 : out->largest, batch = 1;
    while (batch <= most && out->n_row < MOST_ROWS && row_at(&s, batch, &out->row[out->n_row])) {
        out->n_row++;
        if (batch == most)
            break;
        batch = out->n_row == MOST_ROWS - 1 || batch > most / 2 ? most : batch * 2;
    }
    if (!out->n_row)
        return;
    const struct oc_llm_serving_row *last = &out->row[out->n_row - 1];
    if (l->steps_n > 0)
        out->prefill_per_decode = (double)last->batch / (last->step_s * (double)l->steps_n) * out->prefill_s;
    out->moved_bytes = (double)l->facts.kv_bytes_per_token * (double)l->opts.prompt;
}

/* "8", "tp4xpp2", "ep8": the numbers of a plan. */
static bool read_plan(const char *text, size_t n, struct oc_llm_serving *out)
{
    static const char *const names[] = {"tp", "pp", "ep"};
    int64_t *const of[] = {&out->tensor, &out->pipeline, &out->expert};
    *out = (struct oc_llm_serving){.devices = 1, .tensor = 1, .pipeline = 1, .expert = 1};
    for (size_t at = 0; at <= n;) {
        size_t end = at, k = 0;
        while (end < n && text[end] != 'x')
            end++;
        while (k < OC_COUNT(names) && !(end - at > 2 && !memcmp(text + at, names[k], 2)))
            k++;
        at += k < OC_COUNT(names) ? 2 : 0;
        int64_t *v = of[k < OC_COUNT(names) ? k : 0];
        if (*v != 1 || !oc_parse_i64(text + at, end - at, v) || *v < 1 || *v > MOST_DEVICES)
            return false;
        out->devices *= *v;
        at = end + 1;
    }
    return out->devices <= MOST_DEVICES;
}

/* The plans of a list; returns their number, or 0 and an error. */
static size_t read_parallel(struct oc_llm *l, const char *text, struct oc_llm_serving list[MOST_LIST],
                            struct oc_err *err)
{
    size_t n = 0;
    for (const char *p = text;; n++) {
        size_t length = strcspn(p, ",");
        if (n == MOST_LIST || !read_plan(p, length, &list[n])) {
            oc_fail(err, OC_EARG,
                    "parallel devices must be up to %d numbers such as 8 or tp4xpp2xep2, of up to %d "
                    "devices, not "
                    "'%.40s'",
                    MOST_LIST, MOST_DEVICES, text);
            return 0;
        }
        list[n].plan = oc_strndup(&l->arena, p, length);
        if (list[n].pipeline > (int64_t)l->facts.layers ||
            list[n].expert > (l->experts.n > 1 ? l->experts.n : 1)) {
            oc_fail(err, OC_EARG, "'%.40s' divides %u layers and %lld experts", list[n].plan, l->facts.layers,
                    (long long)l->experts.n);
            return 0;
        }
        if (!p[length])
            return n + 1;
        p += length + 1;
    }
}

static int load_draft(struct oc_llm *l, struct oc_err *err)
{
    const struct oc_llm_opts *o = &l->opts;
    struct oc_llm_opts small = {.size = sizeof(small),
                                .analyze = o->analyze,
                                .batch = o->batch,
                                .prompt = o->prompt,
                                .generate = o->generate};
    if (!o->draft)
        return 0;
    if (!o->acceptance || !oc_parse_double(o->acceptance, strlen(o->acceptance), &l->acceptance) ||
        !(l->acceptance > 0) || l->acceptance > 1)
        return oc_fail(err, OC_EARG, "the acceptance of a draft must be above 0 and at most 1, not '%.40s'",
                       o->acceptance ? o->acceptance : "");
    if (o->draft_tokens < 1 || o->draft_tokens > MOST_DRAFT)
        return oc_fail(err, OC_EARG, "a draft has from 1 to %d tokens, not %lld", MOST_DRAFT,
                       (long long)o->draft_tokens);
    if (oc_llm_make(o->draft, &small, &l->draft, err))
        return oc_err_prefix(err, "draft model");
    return 0;
}

/* Fills the tables of serving of the devices; does nothing without opts.parallel. */
static int find_serving(struct oc_llm *l, struct oc_err *err)
{
    const struct oc_llm_opts *o = &l->opts;
    struct oc_llm_serving list[MOST_LIST];
    if (!o->parallel)
        return 0;
    size_t n = read_parallel(l, o->parallel, list, err);
    if (!n)
        return -1;
    if (load_draft(l, err))
        return -1;
    for (size_t i = 0; i < l->n_device; i++) {
        struct oc_llm_device *d = &l->device[i];
        const struct oc_hw_figure *link = d->device->link;
        d->serving = OC_COPY_ARRAY(&l->arena, list, n);
        d->n_serving = n;
        for (size_t k = 0; k < n; k++) {
            d->serving[k].link_bytes_per_s = link ? link->value : NAN;
            serve(l, d, &d->serving[k]);
        }
    }
    return 0;
}

/* ---- all together -------------------------------------------------------------------------------- */

/* What the reader of the model found: a quantization that is not modelled changes every figure. Values of
 * weights change none. */
static void add_warnings_of_model(struct oc_llm *l)
{
    const struct oc_diag *d;
    size_t n = oc_model_diags(l->model, &d);
    for (size_t i = 0; i < n; i++)
        if (d[i].severity != OC_INFO && strcmp(d[i].code, "W-external-missing") != 0)
            oc_diag_add(&l->diags, d[i].severity, d[i].code, d[i].where, "%s", d[i].text);
}

static int llm_make(struct oc_llm *l, struct oc_err *err)
{
    if (oc_kv_find(l->model, &l->arena, &l->diags, &l->kv, err))
        return -1;
    add_warnings_of_model(l);
    if (oc_llm_find_sizes(l->model, &l->kv, l->opts.analyze, &l->arena, &l->sizes, err) ||
        check_fixed(l, err) || oc_llm_find_facts(l, err))
        return -1;
    llm_find_runs(l);
    if (!l->run[OC_LLM_PART_PREFILL].cost && !l->run[OC_LLM_PART_LAST].cost)
        return oc_fail(err, OC_EUNSUPPORTED, "neither prefill nor decode can be analysed: %s",
                       l->failure[OC_LLM_DECODE]);
    find_laws(l);
    l->n_device = l->opts.n_device;
    l->device = OC_NEW_ARRAY(&l->arena, l->n_device, struct oc_llm_device);
    for (size_t i = 0; i < l->n_device; i++) {
        double price = l->opts.price_per_hour ? l->opts.price_per_hour[i] : 0;
        if (oc_check_price(l->opts.device[i], price, err))
            return -1;
        l->device[i].device = l->opts.device[i];
        l->device[i].price_per_hour = price > 0 ? price : (double)NAN;
        oc_llm_hold_against(l, &l->device[i]);
    }
    return find_serving(l, err);
}

int oc_llm_make(const struct oc_model *model, const struct oc_llm_opts *given, struct oc_llm **out,
                struct oc_err *err)
{
    OC_ENTRY(err);
    struct oc_llm *l = oc_xmalloc(sizeof(*l));
    *l = (struct oc_llm){.model = model};
    *out = NULL;
    l->diags.arena = &l->arena;
    l->sum_failure = "no closed form fits the costs of the decode steps";
    if (llm_take_opts(l, given, err) || llm_make(l, err)) {
        oc_llm_free(l);
        return -1;
    }
    *out = l;
    return 0;
}

void oc_llm_free(struct oc_llm *l)
{
    if (!l)
        return;
    oc_llm_free(l->draft);
    free(l->weights);
    for (struct oc_llm_law *s = l->steps; s; s = s->next)
        oc_llm_law_free(s);
    oc_llm_law_free(&l->prefill_law);
    oc_llm_law_free(&l->decode_law);
    oc_diags_free(&l->diags);
    oc_arena_free(&l->arena);
    free(l);
}

/* ---- accessors -------------------------------------------------------------------------------------- */

const struct oc_llm_facts *oc_llm_facts(const struct oc_llm *l)
{
    return &l->facts;
}

bool oc_llm_run(const struct oc_llm *l, enum oc_llm_part part, struct oc_llm_counts *out)
{
    bool whole = part == OC_LLM_PART_WHOLE, sum = whole || part == OC_LLM_PART_STEPS;
    const struct oc_llm_cost *c = l->run[sum ? OC_LLM_PART_LAST : part].cost,
                             *prefill = l->run[OC_LLM_PART_PREFILL].cost;
    uint64_t v[OC_LN_COUNT];
    if (!c || (sum && !l->sums_known) || (whole && !prefill))
        return false;
    for (unsigned k = 0; k < OC_LN_COUNT; k++)
        if (!oc_add_u64(sum ? l->sum[k] : c->v[k], whole ? prefill->v[k] : 0, &v[k]))
            return false;
    *out = (struct oc_llm_counts){
        .macs = v[OC_LN_MACS],
        .flops = v[OC_LN_FLOPS],
        .ops = v[OC_LN_OPS],
        .bytes_read_act = v[OC_LN_READ_ACT],
        .bytes_read_weight = v[OC_LN_READ_WEIGHT],
        .bytes_written = v[OC_LN_WRITTEN],
        .kv_read = v[OC_LN_KV_READ],
        .kv_written = v[OC_LN_KV_WRITTEN],
        .peak = c->v[OC_LN_PEAK],
        .unknown_nodes = c->unknown_nodes,
        .quality = (enum oc_quality)(whole && prefill->quality > c->quality ? prefill->quality : c->quality),
        .peak_quality = (enum oc_quality)c->peak_quality,
    };
    return true;
}

size_t oc_llm_diags(const struct oc_llm *l, const struct oc_diag **out)
{
    *out = l->diags.item;
    return l->diags.n;
}
