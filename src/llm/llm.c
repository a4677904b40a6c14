#include "llm/llm.h"

#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/ck.h"
#include "base/map.h"
#include "estimate/calibrate.h"
#include "onnxcost.h"

enum { MAX_TOKENS = 1000000, MAX_DEVICES = 64 };
#define MAX_BATCH INT64_C(1000000000)

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
    return take_type(l, err);
}

/* Sizes fixed by the model must equal the requested ones. */
static int check_fixed(struct oc_llm *l, struct oc_err *err)
{
    const int64_t *fixed = l->sizes.fixed;
    if (fixed[OC_LLM_BATCH] >= 0 && fixed[OC_LLM_BATCH] != l->opts.batch)
        return oc_fail(err, OC_EARG, "the model has a fixed batch of %lld, not %lld",
                       (long long)fixed[OC_LLM_BATCH], (long long)l->opts.batch);
    if (fixed[OC_LLM_NEW] >= 0 && fixed[OC_LLM_NEW] != l->opts.prompt)
        l->prefill_failure = oc_printf(&l->arena, "the model processes %lld new token%s per run, not %lld",
                                       (long long)fixed[OC_LLM_NEW], fixed[OC_LLM_NEW] == 1 ? "" : "s",
                                       (long long)l->opts.prompt);
    if (fixed[OC_LLM_NEW] >= 0 && fixed[OC_LLM_NEW] != 1)
        l->decode_failure = oc_printf(&l->arena, "the model processes %lld new tokens per run, not 1",
                                      (long long)fixed[OC_LLM_NEW]);
    return 0;
}

static const struct oc_llm_cost *llm_run(struct oc_llm *l, struct oc_llm_at at, const char **failure)
{
    if (*failure)
        return NULL;
    const struct oc_llm_cost *c = oc_llm_cost_at(&l->meter, at);
    if (!c)
        *failure = oc_strdup(&l->arena, l->meter.err.msg);
    return c;
}

static void llm_find_runs(struct oc_llm *l)
{
    const struct oc_llm_opts *o = &l->opts;
    l->steps_n = o->generate - 1; /* the prefill produces the first token */
    int64_t last = l->steps_n > 0 ? o->prompt + l->steps_n - 1 : o->prompt;
    l->prefill = llm_run(l, (struct oc_llm_at){o->batch, o->prompt, 0}, &l->prefill_failure);
    l->first = llm_run(l, (struct oc_llm_at){o->batch, 1, o->prompt}, &l->decode_failure);
    l->last = llm_run(l, (struct oc_llm_at){o->batch, 1, last}, &l->decode_failure);
    if (!l->last)
        return;
    l->sums_known = oc_llm_find_steps(&l->meter, o->batch, o->prompt, last, &l->steps) == 0;
    if (!l->steps_n) {
        oc_llm_steps_free(&l->steps);
        return;
    }
    for (unsigned k = 0; k < OC_LN_COUNT && l->sums_known; k++)
        if (k != OC_LN_PEAK && !oc_llm_steps_sum(&l->steps, (enum oc_llm_num)k, &l->sum[k]))
            l->sums_known = false;
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
    oc_llm_find_law(&l->meter, phase, first, wide, law);
    if (is_found(law))
        return;
    if (window > 8 && window < wide) {
        oc_llm_law_free(law);
        oc_llm_find_law(&l->meter, phase, at < window ? first : window, at < window ? window - 1 : wide, law);
    }
    const struct oc_llm_piece *p = l->steps.n_piece ? &l->steps.piece[l->steps.n_piece - 1] : NULL;
    if (is_found(law) || phase == OC_LLM_PREFILL || !p)
        return;
    oc_llm_law_free(law);
    oc_llm_find_law(&l->meter, phase, p->from, p->to, law);
}

static void find_laws(struct oc_llm *l)
{
    const int64_t prompt = l->opts.prompt, last = prompt + (l->steps_n > 0 ? l->steps_n - 1 : 0);
    if (l->prefill)
        find_law(l, OC_LLM_PREFILL, prompt, prompt > 4096 ? prompt : 4096);
    if (l->last && l->sizes.fixed[OC_LLM_PAST] < 0)
        find_law(l, OC_LLM_DECODE, last, last > 32768 ? last : 32768);
}

static int llm_make(struct oc_llm *l, struct oc_err *err)
{
    if (oc_kv_find(l->model, &l->arena, &l->diags, &l->kv, err) ||
        oc_llm_find_sizes(l->model, &l->kv, l->opts.analyze, &l->arena, &l->sizes, err) ||
        check_fixed(l, err) || oc_llm_find_facts(l, err))
        return -1;
    llm_find_runs(l);
    if (!l->prefill && !l->last)
        return oc_fail(err, OC_EUNSUPPORTED, "neither prefill nor decode can be analysed: %s",
                       l->decode_failure);
    find_laws(l);
    l->n_device = l->opts.n_device;
    if (l->n_device)
        oc_llm_find_bounds(l);
    l->device = OC_NEW_ARRAY(&l->arena, l->n_device, struct oc_llm_device);
    for (size_t i = 0; i < l->n_device; i++) {
        l->device[i].device = l->opts.device[i];
        oc_llm_hold_against(l, &l->device[i]);
    }
    return oc_llm_serve(l, err);
}

int oc_llm_make(const struct oc_model *model, const struct oc_llm_opts *given, struct oc_llm **out,
                struct oc_err *err)
{
    OC_C_LOCALE;
    struct oc_llm *l = oc_xmalloc(sizeof(*l));
    *l = (struct oc_llm){.model = model};
    *out = NULL;
    l->diags.arena = &l->arena;
    l->meter.llm = l;
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
    oc_llm_steps_free(&l->steps);
    oc_llm_law_free(&l->prefill_law);
    oc_llm_law_free(&l->decode_law);
    oc_llm_meter_free(&l->meter);
    oc_diags_free(&l->diags);
    oc_arena_free(&l->arena);
    free(l);
}

/* ---- accessors -------------------------------------------------------------------------------------- */

const struct oc_llm_facts *oc_llm_facts(const struct oc_llm *l)
{
    return &l->facts;
}

static bool llm_counts_of(const struct oc_llm_cost *c, const uint64_t *v, struct oc_llm_counts *out)
{
    if (!c || !v)
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
        .quality = (enum oc_quality)c->quality,
        .peak_quality = (enum oc_quality)c->peak_quality,
    };
    return true;
}

static const struct oc_llm_cost *cost_of(const struct oc_llm *l, enum oc_llm_part part)
{
    return part == OC_LLM_PART_PREFILL ? l->prefill : part == OC_LLM_PART_FIRST ? l->first : l->last;
}

bool oc_llm_run(const struct oc_llm *l, enum oc_llm_part part, struct oc_llm_counts *out)
{
    const struct oc_llm_cost *c = cost_of(l, part);
    if (part == OC_LLM_PART_STEPS)
        return llm_counts_of(c, l->sums_known ? l->sum : NULL, out);
    if (part != OC_LLM_PART_WHOLE)
        return llm_counts_of(c, c ? c->v : NULL, out);
    uint64_t v[OC_LN_COUNT];
    for (unsigned k = 0; k < OC_LN_COUNT; k++)
        if (!l->prefill || !l->sums_known || !oc_add_u64(l->prefill->v[k], l->sum[k], &v[k]))
            return false;
    llm_counts_of(c, v, out);
    out->quality = l->prefill->quality > out->quality ? (enum oc_quality)l->prefill->quality : out->quality;
    return c != NULL;
}

size_t oc_llm_diags(const struct oc_llm *l, const struct oc_diag **out)
{
    *out = l->diags.item;
    return l->diags.n;
}
