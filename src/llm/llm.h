/* Decoders with a KV cache: identifies the cache inputs and outputs and the dimensions that count sequences,
 * new tokens and cached tokens, and computes the cost of prefill and decode steps. All costs come from
 * analyses of the graph with these sizes; sums over decode steps are exact. The public functions are in
 * onnxcost.h. */
#ifndef OC_LLM_H
#define OC_LLM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/analysis.h"
#include "analyze/fit.h"
#include "estimate/bound.h"
#include "estimate/roofline.h"
#include "onnxcost/llm.h"

/* ---- kv cache ------------------------------------------------------------------------------------ */

/* Names of KV cache inputs and outputs by exporter: a table of patterns, "%d" is the layer. */

enum oc_kv_part {
    OC_KV_KEY,
    OC_KV_VALUE,
    OC_KV_BOTH,  /* keys and values in one tensor */
    OC_KV_LATENT /* a tensor from which both are computed */
};

struct oc_kv_pattern {
    const char *past, *present; /* both contain one "%d" */
    uint8_t part;               /* enum oc_kv_part; OC_KV_KEY: or OC_KV_VALUE */
    bool cross;                 /* of the encoder's output: constant length */
    const char *writer;         /* exporter that uses these names */
};

#define OC_KV_MAX_LAYERS 65536

/* Whether `name` matches the pattern with a layer below OC_KV_MAX_LAYERS for "%d". */
bool oc_kv_match(const char *pattern, const char *name, uint32_t *layer);

/* ---- the cache (kv_cache.c) ---------------------------------------------------------------------- */

struct oc_kv_pair {
    const struct oc_kv_pattern *name;
    uint32_t past, present;  /* values; present OC_NONE: read-only, as in cross attention */
    uint32_t layer;          /* as named */
    uint8_t part;            /* enum oc_kv_part */
    uint32_t reader, writer; /* nodes: reads the past, writes the present; OC_NONE: none */
    uint32_t past_slot, present_slot;
    uint8_t batch_axis, head_axis, length_axis, size_axis; /* of the past; 255: none */
};

struct oc_kv_cache_info {
    struct oc_kv_pair *pair;
    uint32_t n_pair, n_self; /* n_self: growing caches, listed first */
    uint32_t layers;         /* distinct layers among these */
};

/* Finds the pairs by name and keeps those whose present is computed from their past. Rejected candidates
 * become warnings. OC_EUNSUPPORTED: there is none. */
int oc_kv_find(const struct oc_model *m, struct oc_arena *arena, struct oc_diags *diags,
               struct oc_kv_cache_info *out, struct oc_err *err);

/* ---- sizes (llm_facts.c) ---------------------------------------------------------------------------- */

enum oc_llm_role { OC_LLM_BATCH, OC_LLM_NEW, OC_LLM_PAST, OC_LLM_TOTAL, OC_LLM_ROLES };
extern const char *const oc_llm_role_name[OC_LLM_ROLES];

struct oc_llm_size { /* a dimension of an input that has a role */
    const char *symbol;
    uint8_t role;
};

struct oc_llm_sizes {
    struct oc_llm_size *size;
    uint32_t n_size;
    int64_t fixed[OC_LLM_ROLES]; /* sizes fixed by the model, -1: open */
    uint32_t tokens;             /* the input that holds the new tokens */
    struct oc_llm_size *scalar;  /* scalar inputs set by their role */
    uint32_t n_scalar;
    uint32_t mask;    /* an input whose last dimension must be given, OC_NONE */
    uint32_t *branch; /* If nodes whose condition is "use cache" */
    uint32_t n_branch;
};

int oc_llm_find_sizes(const struct oc_model *m, const struct oc_kv_cache_info *kv,
                      const struct oc_analyze_opts *opts, struct oc_arena *arena, struct oc_llm_sizes *out,
                      struct oc_err *err);

struct oc_llm_at {              /* one run of the graph */
    int64_t batch, fresh, past; /* sequences, new tokens and cached tokens per sequence */
};

struct oc_llm;
/* The last decode step of the answers to so many prompts, or the first one if there is none. */
struct oc_llm_at oc_llm_last(const struct oc_llm *l, int64_t batch);
/* The analysis at these sizes. */
int oc_llm_analyze(const struct oc_llm *l, struct oc_llm_at at, struct oc_analysis **out, struct oc_err *err);
/* Sources of laws (estimate/bound.h) at x = sequences, and tokens of the prompt or in the cache. llm: struct oc_llm */
int oc_llm_analyze_prefill(void *llm, const int64_t *x, struct oc_analysis **out);
int oc_llm_analyze_decode(void *llm, const int64_t *x, struct oc_analysis **out);

/* ---- cost of a run (llm_cost.c) --------------------------------------------------------------------- */

enum oc_llm_num {
    OC_LN_MACS,
    OC_LN_FLOPS,
    OC_LN_OPS,
    OC_LN_READ_ACT,
    OC_LN_READ_WEIGHT,
    OC_LN_WRITTEN,
    OC_LN_KV_READ,     /* part of the bytes read: the cache */
    OC_LN_KV_WRITTEN,  /* part of the bytes written: the cache */
    OC_LN_READ_EXPERT, /* part of the weights read: of routed experts */
    OC_LN_PEAK,
    OC_LN_LAUNCHES,
    OC_LN_CLASS_MACS, /* by enum oc_class */
    OC_LN_CLASS_REST = OC_LN_CLASS_MACS + OC_CLASS_COUNT,
    OC_LN_CLASS_SPECIAL = OC_LN_CLASS_REST + OC_CLASS_COUNT,
    OC_LN_COUNT = OC_LN_CLASS_SPECIAL + OC_CLASS_COUNT
};

struct oc_llm_cost {
    uint64_t v[OC_LN_COUNT];
    uint64_t unknown_nodes;
    uint8_t quality, peak_quality; /* enum oc_quality */
};

/* Runs, each analysed once. */
struct oc_llm_known {
    struct oc_llm_at at;
    bool counted;
    struct oc_llm_cost *cost;   /* NULL: it failed */
    struct oc_bound_load *load; /* NULL: not made yet */
    struct oc_llm_known *next;
};
/* NULL: the analysis failed, see l->run_err. */
const struct oc_llm_cost *oc_llm_cost_at(struct oc_llm *l, struct oc_llm_at at);
/* The lower bound of the run on any device. */
const struct oc_bound_load *oc_llm_load_at(struct oc_llm *l, struct oc_llm_at at);

/* ---- laws (llm_cost.c) ------------------------------------------------------------------------------ */

/* Costs as polynomials in two sizes: sequences and tokens. */
struct oc_llm_law {
    struct oc_rpoly poly[OC_LN_COUNT];
    bool found[OC_LN_COUNT];
    int64_t from, to; /* range of tokens in which they hold */
    uint32_t checked; /* further points that confirmed them */
    struct oc_llm_law *next;
};
enum oc_llm_phase { OC_LLM_PREFILL, OC_LLM_DECODE };
/* Prefill: in batch and new tokens, with an empty cache. Decode: in batch and cached tokens, one new token.
 */
void oc_llm_find_law(struct oc_llm *l, enum oc_llm_phase phase, int64_t from, int64_t to,
                     struct oc_llm_law *out);
void oc_llm_law_free(struct oc_llm_law *law);
bool oc_llm_law_at(const struct oc_llm_law *law, enum oc_llm_num n, int64_t batch, int64_t tokens,
                   uint64_t *out);

/* Sets l->steps and l->sum, which is exact. False: no laws were found for all steps, or a sum is too large. */
bool oc_llm_sum_steps(struct oc_llm *l);
bool oc_llm_step_at(const struct oc_llm *l, enum oc_llm_num n, int64_t past, uint64_t *out);

/* ---- devices (llm_device.c) ------------------------------------------------------------------------- */

struct oc_llm_limit {
    bool known;
    int64_t v;          /* the largest that fits, 0: none; or the first that is compute-bound */
    bool never, beyond; /* compute-bound: for no batch size; fits: beyond the search limit */
    const char *why;    /* unknown, or never */
};

struct oc_llm_roof {                  /* of one run, or of all decode steps */
    double bound_s;                   /* lower bound (estimate/bound.h) */
    double time_s, low80_s, high80_s; /* estimate with a calibration; NAN: none */
    double s, comp_s, mem_s;          /* without fusion, all bytes at DRAM */
    /* if activations stay on chip, weights and cache only: lower bound, its traffic and the time of that */
    double chip_s, chip_bytes, chip_mem_s;
    const char *bound;
    const char *missing; /* reason why it is unknown, NULL */
};

/* A number of sequences that are decoded together (llm.c). NAN: unknown */
struct oc_llm_serving_row {
    int64_t batch;
    double step_s, tokens_per_s;    /* a decode step; tokens of all sequences */
    double mixed_s, requests_per_s; /* a step that also reads the prompts of new sequences */
    double draft_tokens_per_s;      /* with a draft model */
    double need_bytes;              /* of one device */
    double link_bytes;              /* that one device receives for a decode step */
    const char *bound;
};

struct oc_llm_serving {
    const char *plan; /* "8", "tp4xpp2" */
    int64_t tensor, pipeline, expert;
    int64_t devices, largest;  /* largest batch that fits; -1: unknown */
    double link_bytes_per_s;   /* NAN: unknown */
    double prefill_s;          /* of one prompt */
    double prefill_per_decode; /* groups of devices that keep one group of decoders busy, with the last row;
                                  0: none */
    double moved_bytes;        /* cache of a prompt, from a prefill group to a decode group */
    struct oc_llm_serving_row *row;
    uint32_t n_row;
};

/* The bound of all decode steps is of so many ranges, each at the bound of its first step, which is the smallest. */
enum { OC_LLM_STEP_RANGES = 8 };

enum { OC_LLM_RUNS = OC_LLM_PART_LAST + 1, OC_LLM_PARTS = OC_LLM_PART_WHOLE + 1 };

struct oc_llm_device {
    const struct oc_device *device;
    double price_per_hour; /* NAN: not given */
    struct oc_llm_roof roof[OC_LLM_PARTS];
    double memory_bytes;                                       /* NAN: unknown */
    uint64_t need_bytes;                                       /* at the last decode step */
    struct oc_llm_limit batch, context, prompt, compute_bound; /* prefill: in one run */
    struct oc_llm_serving *serving;
    size_t n_serving;
    const char *left_out; /* work without a peak, not in the bounds, NULL */
};

/* ---- result ----------------------------------------------------------------------------------------- */

struct oc_llm_weights { /* constants with the same storage format */
    const char *label;  /* "float16", "4 bits in blocks of 32" */
    uint64_t elements, bytes;
};

/* What can be measured: tokens per second of decode and prefill, seconds until the first token. */
enum oc_llm_figure { OC_LLM_DECODE_RATE, OC_LLM_PREFILL_RATE, OC_LLM_FIRST_TOKEN, OC_LLM_FIGURES };

struct oc_llm {
    struct oc_arena arena;
    const struct oc_model *model;
    struct oc_llm_opts opts; /* with copies of its lists */
    struct oc_diags diags;
    struct oc_kv_cache_info kv;
    struct oc_llm_sizes sizes;
    struct oc_llm_facts facts;
    struct oc_llm_weights *weights;
    uint32_t n_weights;
    const struct oc_assumption *assumption; /* of the decode analysis */
    uint32_t n_assumption;
    struct oc_llm_known *known;
    uint32_t n_known;
    struct oc_err run_err; /* of the last run without costs */
    struct oc_llm_part_run {
        struct oc_llm_at at;
        const struct oc_llm_cost *cost;    /* NULL: the analysis failed */
        const struct oc_bound_load *bound; /* NULL: no device */
    } run[OC_LLM_RUNS];                    /* by enum oc_llm_part */
    const char *failure[2], *sum_failure;  /* by enum oc_llm_phase */
    int64_t steps_n;                       /* decode steps after the prefill: generate - 1 */
    struct oc_llm_law *steps;              /* of ranges of decode steps, the last one first */
    bool sums_known;
    uint64_t sum[OC_LN_COUNT]; /* of all decode steps */
    struct oc_llm_law prefill_law, decode_law;
    struct oc_llm_device *device;
    size_t n_device;
    double element_bytes; /* of the cache, and of what devices exchange */
    double acceptance;
    double measured[OC_LLM_FIGURES]; /* 0: not given */
    double reach;                    /* tokens per second; 0: not given */
    struct oc_llm *draft;            /* NULL: none */
    struct {
        uint64_t bytes; /* of all routed experts */
        int64_t layers, n, active;
    } experts;
    const struct oc_recast *as; /* NULL: the model's types */
    uint64_t weight_bytes;      /* in memory, in these types */
    uint64_t *weight_bytes_as;  /* by type of oc_recast_name: each constant as its first reader has it */
};

/* llm_facts.c: needs kv, sizes; sets facts, weights, assumption. */
int oc_llm_find_facts(struct oc_llm *l, struct oc_err *err);
/* llm_device.c: needs all costs and the bounds. */
void oc_llm_hold_against(struct oc_llm *l, struct oc_llm_device *d);
/* The roofline of one run. */
struct oc_llm_roof oc_llm_roof_at(struct oc_llm *l, struct oc_llm_device *d, const uint64_t v[OC_LN_COUNT],
                                  struct oc_llm_at at);
/* The largest size from 1 to `most` that fits into memory; the bytes it needs grow with it, and are not finite where
 * there is no such run. */
struct oc_llm_limit oc_llm_largest(double (*need)(void *of, int64_t x), void *of, double memory,
                                   int64_t most);
/* Bytes of the model's constants, and total memory of a run. */
uint64_t oc_llm_need(const struct oc_llm *l, const struct oc_llm_cost *c);

#endif
