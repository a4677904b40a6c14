/* What a device can do for a language model, in sentences: rates at most, what was measured against them, memory, and the
 * smallest device that is enough. Every output of `llm` takes them from here. */
#include <math.h>

#include "base/units.h"
#include "llm/llm.h"
#include "onnxcost/hardware.h"
#include "write/commands/page_views.h"

static bool is_by_compute(const struct oc_llm_roof *r)
{
    enum { MOSTLY = 9 }; /* tenths of the bound that arithmetic alone takes */
    return 10 * r->comp_s >= MOSTLY * r->bound_s;
}

/* "decode at most 277 tokens/s (memory)" */
static const char *rate_text(struct oc_arena *a, double tokens, const struct oc_llm_roof *r, const char *what)
{
    if (!(r->bound_s > 0))
        return oc_printf(a, "%s unknown%s%s", what, r->missing ? ": " : "", r->missing ? r->missing : "");
    return oc_printf(a, "%s at most %s tokens/s (%s)", what, oc_number_text(a, tokens / r->bound_s, 4),
                     is_by_compute(r) ? "compute" : "memory");
}

static const char *fit_text(const struct oc_llm *l, const struct oc_llm_device *d, struct oc_arena *a)
{
    const struct oc_llm_limit *c = &d->context;
    if (!c->known)
        return "memory unknown";
    if (!c->v)
        return oc_printf(a, "does not fit: %s of %s", oc_bytes_text(a, (double)d->need_bytes),
                         oc_bytes_text(a, d->memory_bytes));
    return oc_printf(a, "fits with %s%s tokens of context%s", c->beyond ? "more than " : "",
                     oc_count_text(a, (uint64_t)c->v), l->opts.batch > 1 ? " for each sequence" : "");
}

/* Decode: of all steps, which is that of their mean length; of one step, of that. */
double oc_llm_decode_rate(const struct oc_llm *l, const struct oc_llm_device *d)
{
    const struct oc_llm_roof *r = &d->roof[l->steps_n > 0 ? OC_LLM_PART_STEPS : OC_LLM_PART_FIRST];
    return (double)l->opts.batch * (double)(l->steps_n > 0 ? l->steps_n : 1) / r->bound_s;
}

double oc_llm_measured_share(const struct oc_llm *l, const struct oc_llm_device *d, enum oc_llm_figure of)
{
    double v = l->measured[of], prompt = (double)l->opts.batch * (double)l->opts.prompt;
    double share = of == OC_LLM_DECODE_RATE    ? v / oc_llm_decode_rate(l, d)
                   : of == OC_LLM_PREFILL_RATE ? v * d->roof[OC_LLM_PART_PREFILL].bound_s / prompt
                                               : d->roof[OC_LLM_PART_PREFILL].bound_s / v;
    return share > 0 && isfinite(share) ? share : (double)NAN;
}

double oc_llm_price(const struct oc_llm_device *d, double tokens_per_s)
{
    double price = d->price_per_hour / 3600 * 1e6 / tokens_per_s;
    return price > 0 && isfinite(price) ? price : (double)NAN;
}

/* "a million generated tokens cost at least 0.431, at the measured rate 0.662"; "": the price is not given. */
static const char *llm_price_text(const struct oc_llm *l, const struct oc_llm_device *d, const char *before,
                                  struct oc_arena *a)
{
    double least = oc_llm_price(d, oc_llm_decode_rate(l, d));
    double mine = oc_llm_price(d, l->measured[OC_LLM_DECODE_RATE]);
    if (isnan(d->price_per_hour))
        return "";
    return oc_printf(a, "%sa million generated tokens cost at least %s%s%s", before, oc_price_text(a, least),
                     isnan(mine) ? "" : ", at the measured rate ", isnan(mine) ? "" : oc_price_text(a, mine));
}

static const char *mine_text(const struct oc_llm *l, const struct oc_llm_device *d, enum oc_llm_figure of,
                             struct oc_arena *a)
{
    double v = l->measured[of], share = oc_llm_measured_share(l, d, of);
    if (isnan(share))
        return "";
    int digits = share < 0.1;
    return of == OC_LLM_FIRST_TOKEN
               ? oc_printf(a, "; first token after %s, at least %s: %.*f %%", oc_seconds_text(a, v, "-"),
                           oc_seconds_text(a, d->roof[OC_LLM_PART_PREFILL].bound_s, "-"), digits, 100 * share)
               : oc_printf(a, "; the measured %s tokens/s are %.*f %% of it", oc_number_text(a, v, 4), digits,
                           100 * share);
}

/* What would lift the measured rate of decode: fewer bytes where it is near the bound of the memory. */
static const char *lift_text(const struct oc_llm *l, const struct oc_llm_device *d, struct oc_arena *a)
{
    double share = oc_llm_measured_share(l, d, OC_LLM_DECODE_RATE);
    const struct oc_llm_cost *c = l->run[OC_LLM_PART_FIRST].cost;
    if (isnan(share) || !c)
        return "";
    if (share > 1)
        return "; more than the bound: batch, context, types or the device of the measurement differ";
    if (share < 0.5)
        return oc_printf(a, "; the device allows %.1f x: record a step to see where its time goes",
                         1 / share);
    double weights = (double)c->v[OC_LN_READ_WEIGHT], cache = (double)c->v[OC_LN_KV_READ];
    return is_by_compute(&d->roof[OC_LLM_PART_FIRST]) ? "; a narrower type of arithmetic would lift it"
           : weights >= cache ? "; narrower weights or more sequences at once would lift it"
                              : "; a narrower cache or a shorter context would lift it";
}

const char *oc_llm_needs(const struct oc_llm *l, struct oc_arena *a)
{
    struct oc_llm_line line[OC_LLM_LINES];
    struct oc_llm_counts c;
    size_t n = oc_llm_lines(l, a, line), i = 0;
    while (i < n && !(line[i].fresh == 1 && line[i].past > 0))
        i++;
    if (i == n || !oc_llm_run(l, line[i].part, &c) || c.quality == OC_UNKNOWN)
        return NULL;
    const char *mark = oc_sum_mark(c.quality);
    return oc_printf(
        a,
        "a decode step after %s token%s reads %s%s of weights and %s%s of KV cache, and computes "
        "%s%s",
        oc_count_text(a, (uint64_t)line[i].past), line[i].past == 1 ? "" : "s", mark,
        oc_bytes_text(a, (double)c.bytes_read_weight), mark, oc_bytes_text(a, (double)c.kv_read), mark,
        oc_si_text(a, (double)c.flops, "FLOP"));
}

static const char *decode_text(const struct oc_llm *l, const struct oc_llm_device *d, struct oc_arena *a)
{
    const struct oc_llm_roof *first = &d->roof[OC_LLM_PART_FIRST];
    return rate_text(a, oc_llm_decode_rate(l, d) * first->bound_s, first, "decode");
}

const char *oc_llm_verdict(const struct oc_llm *l, const struct oc_llm_device *d, struct oc_arena *a)
{
    const struct oc_llm_opts *o = &l->opts;
    return oc_printf(
        a, "%s%s%s%s; %s%s%s; %s", decode_text(l, d, a), mine_text(l, d, OC_LLM_DECODE_RATE, a),
        lift_text(l, d, a), llm_price_text(l, d, "; ", a),
        rate_text(a, (double)o->batch * (double)o->prompt, &d->roof[OC_LLM_PART_PREFILL], "prefill"),
        mine_text(l, d, OC_LLM_PREFILL_RATE, a), mine_text(l, d, OC_LLM_FIRST_TOKEN, a), fit_text(l, d, a));
}

static bool holds_context(const struct oc_llm *l, const struct oc_llm_device *d)
{
    return d->context.known && d->context.v >= l->opts.prompt + l->opts.generate;
}

const struct oc_llm_device *oc_llm_smallest(const struct oc_llm *l)
{
    const struct oc_llm_device *best = NULL;
    for (size_t i = 0; i < l->n_device; i++) {
        const struct oc_llm_device *d = &l->device[i];
        bool reaches = !(l->reach > 0) || oc_llm_decode_rate(l, d) >= l->reach;
        if (holds_context(l, d) && reaches &&
            (!best || d->memory_bytes < best->memory_bytes ||
             (d->memory_bytes == best->memory_bytes &&
              oc_llm_decode_rate(l, d) < oc_llm_decode_rate(l, best))))
            best = d;
    }
    return best;
}

/* NULL: no device holds the context, or no rate is known. */
static const struct oc_llm_device *fastest_device(const struct oc_llm *l)
{
    const struct oc_llm_device *best = NULL;
    for (size_t i = 0; i < l->n_device; i++) {
        const struct oc_llm_device *d = &l->device[i];
        double rate = oc_llm_decode_rate(l, d);
        if (holds_context(l, d) && rate > 0 && (!best || rate > oc_llm_decode_rate(l, best)))
            best = d;
    }
    return best;
}

/* "; the memory of 1 device is unknown"; "": all are known. */
static const char *unknown_memory(const struct oc_llm *l, size_t n, struct oc_arena *a)
{
    return !n ? "" : oc_printf(a, "; the memory of %zu of %zu devices is unknown", n, l->n_device);
}

/* "; the cheapest at its bound: l4, a million generated tokens cost at least 0.431"; "": no price is known. */
static const char *cheapest_text(const struct oc_llm *l, struct oc_arena *a)
{
    const struct oc_llm_device *best = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < l->n_device; i++) {
        const struct oc_llm_device *d = &l->device[i];
        double price = oc_llm_price(d, oc_llm_decode_rate(l, d));
        if (holds_context(l, d) && price < least) {
            best = d;
            least = price;
        }
    }
    return !best ? ""
                 : oc_printf(a, "; the cheapest at its bound: %s, %s", oc_device_info(best->device)->id,
                             llm_price_text(l, best, "", a));
}

const char *oc_llm_choice(const struct oc_llm *l, struct oc_arena *a)
{
    if (l->n_device < 2)
        return NULL;
    const struct oc_llm_device *fastest = fastest_device(l), *smallest = oc_llm_smallest(l);
    size_t unknown = 0;
    for (size_t i = 0; i < l->n_device; i++)
        unknown += !l->device[i].context.known;
    const char *rest = unknown_memory(l, unknown, a);
    if (!fastest && smallest)
        return oc_printf(a, "%s: the smallest of those that hold the context; no rate is known%s",
                         oc_device_info(smallest->device)->id, rest);
    if (!fastest)
        return oc_printf(a, "%s %s tokens of context: %s are needed%s",
                         unknown ? "no device is known to hold"
                                 : oc_printf(a, "none of the %zu devices holds", l->n_device),
                         oc_count_text(a, (uint64_t)(l->opts.prompt + l->opts.generate)),
                         l->run[OC_LLM_PART_LAST].cost ? oc_bytes_text(a, (double)l->device[0].need_bytes)
                                                       : "unknown bytes",
                         rest);
    const char *name = oc_device_info(fastest->device)->id;
    return oc_printf(a, "%s: the fastest of those that hold the context%s; %s%s%s%s%s", name,
                     fastest == smallest ? ", and the smallest" : "", decode_text(l, fastest, a),
                     smallest && fastest != smallest ? "; the smallest: " : "",
                     smallest && fastest != smallest ? oc_device_info(smallest->device)->id : "",
                     cheapest_text(l, a), rest);
}
