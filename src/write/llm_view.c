#include "write/llm_view.h"

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

const struct oc_llm_roof *oc_llm_roof_of(const struct oc_llm_device *d, enum oc_llm_part part)
{
    switch (part) {
    case OC_LLM_PART_PREFILL:
        return &d->prefill;
    case OC_LLM_PART_FIRST:
        return &d->first;
    case OC_LLM_PART_LAST:
        return &d->last;
    case OC_LLM_PART_STEPS:
        return &d->all;
    default:
        return &d->whole;
    }
}

const char *oc_llm_failure(const struct oc_llm *l, enum oc_llm_part part)
{
    bool prompt = part == OC_LLM_PART_PREFILL || (part == OC_LLM_PART_WHOLE && l->prefill_failure);
    return prompt ? l->prefill_failure : l->decode_failure ? l->decode_failure : l->sum_failure;
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
