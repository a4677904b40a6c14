/* Language models with a KV cache: prefill, decode steps, end-to-end.
 * Conventions: onnxcost.h. */
#ifndef ONNXCOST_LLM_H
#define ONNXCOST_LLM_H

#include "onnxcost_types.h"

OC_API_BEGIN

struct oc_llm_opts {
    size_t size;                           /* sizeof(struct oc_llm_opts) */
    const struct oc_analyze_opts *analyze; /* how to count, and sizes that the cache has no say in; NULL: the
                                              defaults */
    int64_t batch, prompt, generate;       /* sequences; tokens of each prompt, of each answer; 0: 1, 512,
                                              128 */
    const struct oc_device *const *device; /* to compare it with */
    size_t n_device;
    unsigned width_chars; /* of the text for people; 0: no limit */
    bool verbose;         /* in the text also heads, closed forms, bounds of each phase, notes */
    /* Serving: several devices, batches up to the largest that fits, continuous batching. */
    const char
        *parallel; /* numbers of devices: "1,8,tp4xpp2" (tp: tensor parallel, as a number alone; pp: stages of
                             layers; ep: groups that share the experts); NULL: no serving */
    const struct oc_model *draft; /* of speculative decoding; NULL: none. Must outlive the result */
    const char *acceptance;       /* probability that a token of the draft is accepted, "0.7" */
    int64_t draft_tokens;         /* per run of the model; 0: 4 */
    const char *as; /* assumed type of the work: "fp16", "int8-weights" ...; NULL: the model's own */
    bool cache; /* lower bounds: bytes count at the nearest memory level that can contain them, not at DRAM */
    const struct oc_calibration
        *calibration; /* of one of the devices, which then has estimates; NULL: none */
    const char *made; /* of HTML: how and when it was made; must outlive the result; may be NULL */
    /* What was measured, to be compared with the bounds: "decode=37tok/s,prefill=2100tok/s,ttft=180ms" (ttft: time to
     * the first token), "37" is the rate of decode; tokens of all sequences. NULL: nothing. */
    const char *measured;
    double reach; /* tokens per second of decode, to be reached by the smallest of the devices; 0: none */
    const double *price_per_hour; /* of each device, in one currency; 0: unknown. NULL: no prices */
};

struct oc_llm_facts {          /* -1: unknown */
    uint32_t layers, kv_pairs; /* number of growing caches: inputs with their outputs */
    uint32_t cross_pairs;      /* inputs with keys or values of an encoder */
    int64_t heads, kv_heads, head_size, vocabulary, width; /* width: elements of a token's vector */
    int64_t window; /* smallest of the attention operators; -1: none has one */
    uint32_t windowed_layers;
    bool uneven; /* layers differ in heads or sizes: the first layer is reported */
    bool kv_bytes_known;
    uint64_t kv_bytes_per_token, cross_bytes_per_token; /* per sequence */
    uint64_t params, const_bytes;
    const char *kv_dtype; /* "float16" */
    const char *naming;   /* exporter with these names */
};

/* A run of the graph, or the sum of the decode steps. Bytes of the cache are included in those read and
 * written. */
struct oc_llm_counts {
    uint64_t macs, flops, ops, bytes_read_act, bytes_read_weight, bytes_written, kv_read, kv_written;
    uint64_t peak; /* peak activation memory in bytes; of the last step */
    uint64_t unknown_nodes;
    enum oc_quality quality, peak_quality;
};
enum oc_llm_part {
    OC_LLM_PART_PREFILL, /* prefill: the whole prompt; produces the first token */
    OC_LLM_PART_FIRST,   /* one decode step after the prompt */
    OC_LLM_PART_LAST,    /* the last decode step */
    OC_LLM_PART_STEPS,   /* all decode steps: generate - 1 */
    OC_LLM_PART_WHOLE    /* end to end: prefill and decode */
};

/* Identifies the cache among the inputs and outputs and analyses the graph with the sizes of the prefill and
 * of each decode step. OC_EUNSUPPORTED: no cache, or the roles of the dimensions are ambiguous. The devices,
 * the lists in `analyze` and the model must outlive the result. */
struct oc_llm;
int oc_llm_make(const struct oc_model *model, const struct oc_llm_opts *opts, struct oc_llm **out,
                struct oc_err *err);
void oc_llm_free(struct oc_llm *l);
const struct oc_llm_facts *oc_llm_facts(const struct oc_llm *l);
bool oc_llm_run(const struct oc_llm *l, enum oc_llm_part part, struct oc_llm_counts *out); /* false: none */
size_t oc_llm_diags(const struct oc_llm *l, const struct oc_diag **out);
/* format: "table" (NULL), "csv", "json", "html" or "fragment" (of a page). */
int oc_llm_write(const struct oc_llm *l, const char *format, FILE *out, struct oc_err *err);

/* The lower bound of a run as closed forms of two sizes (onnxcost/bounds.h): sequences from 1 to most_batch, and tokens
 * of the prompt (OC_LLM_PART_PREFILL) or in the cache (OC_LLM_PART_FIRST) from 1 to most_tokens, for the options of
 * `l`, whose device it is the index of. `l` must outlive it. */
struct oc_time_bound;
struct oc_llm_time_bound_opts {
    size_t size;           /* sizeof(struct oc_llm_time_bound_opts) */
    enum oc_llm_part part; /* OC_LLM_PART_PREFILL or OC_LLM_PART_FIRST */
    size_t device;
    int64_t most_batch, most_tokens; /* 0: 512, 131072 */
    const char *module;              /* as of struct oc_time_bound_opts */
};
int oc_llm_time_bound(const struct oc_llm *l, const struct oc_llm_time_bound_opts *opts,
                      struct oc_time_bound **out, struct oc_err *err);

OC_API_END

#endif
